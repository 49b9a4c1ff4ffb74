/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this module share; nobody else includes it. */
#ifndef EVALUE_LOG_INTERNAL_H
#define EVALUE_LOG_INTERNAL_H

#include "../text/text_internal.h"
#include "evalue/log.h"

enum { EVALUE_LOG_SPEC_SIZE = 501, EVALUE_LOG_MESSAGE_SIZE = 801 };

/* ---- log_registry.c ---- */

/* The first of all components; the others follow by next. */
evalue_log_component *evalue_log_first(void);

/* Reads the environment, if nobody has yet. */
void evalue_log_start(void);

/* ---- log_spec.c ---- */

/* Where a specification comes from: a later one wins. */
typedef enum evalue_log_source {
  EVALUE_LOG_DEFAULT,
  EVALUE_LOG_API,
  EVALUE_LOG_ENVIRONMENT,
  EVALUE_LOG_OVERRIDE
} evalue_log_source;

/* The level that a specification gives a component. */
int32_t evalue_log_level_in(const char *spec, const evalue_log_component *component);

/* Says whether all names are known; if not, or if one of them is "help", writes about it. */
evalue_status evalue_log_judge(const char *spec, char *text, size_t capacity);

/* ---- log_write.c ---- */

/* Appends text without anything that could steer a terminal or break the line. */
void evalue_log_put_clean(evalue_text *out, const char *raw, size_t size);

/* ---- log_default.c ---- */

/* A variable of the environment; NULL when it is empty, or must not be believed. */
const char *evalue_log_variable(const char *name);

/* Reads where and how to write from the environment, once. */
void evalue_log_default_start(void);

/* The handler that is used when there is no other. */
void evalue_log_default_handle(const evalue_log_record *record);

/* Writes a line of the module's own to stderr: what is wrong with the environment, a list that was asked for. */
void evalue_log_complain(const char *what, const char *text);

#endif
