/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this module share; nobody else includes it. */
#ifndef EVALUE_EXECUTORCH_INTERNAL_H
#define EVALUE_EXECUTORCH_INTERNAL_H

#include "evalue/executorch_java.h"
#include "evalue/inline.h"

/* No Java array has more bytes. */
#define EVALUE_JAVA_LIMIT UINT64_C(0x7fffffff)

/* Where fields stand in a whole value; in a bare tensor each is one less. */
enum {
  EVALUE_JAVA_AT_TAG = 0,
  EVALUE_JAVA_AT_PAYLOAD = 1,
  EVALUE_JAVA_AT_STRING = 5,
};

/* ---- java_release.c ---- */

/* The scalar type that a dtype code on the wire means to a release, or -1. */
int evalue_java_scalar_type(uint32_t dtype, uint32_t release);

/* The dtype code that a release has for a scalar type, or -1. */
int evalue_java_dtype(uint32_t scalar_type, uint32_t release);

/* Says whether a release can read Strings. */
bool evalue_java_has_strings(uint32_t release);

/* Copies the caller's options, or the defaults for NULL; false when they make no sense. */
bool evalue_java_take_options(evalue_java_options *taken, const evalue_java_options *options);

/* Fills in *error: the fault, in a field at a position. Returns its status. */
evalue_status evalue_java_fail(evalue_error *error, evalue_fault fault, evalue_field field, uint64_t position);

#endif
