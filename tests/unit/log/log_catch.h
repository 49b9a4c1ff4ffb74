/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the log share: a handler that keeps the last line, and a short way to write the levels of all. */
#ifndef TESTS_LOG_CATCH_H
#define TESTS_LOG_CATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/log.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The last line, with its strings copied: a record is valid during the call only. */
typedef struct caught {
  evalue_log_record record;
  char component[64], diagnostic[64], message[2000], file[64];
  size_t count;
} caught;

static inline void keep_string(char *to, size_t capacity, const char *from) {
  size_t size = strlen(from);
  assert_true(size < capacity);
  memcpy(to, from, size + 1);
}

static inline void keep_line(void *context, const evalue_log_record *record) {
  caught *c = (caught *)context;
  c->record = *record;
  keep_string(c->component, sizeof c->component, record->component);
  keep_string(c->diagnostic, sizeof c->diagnostic, record->diagnostic != NULL ? record->diagnostic : "");
  keep_string(c->message, sizeof c->message, record->message);
  keep_string(c->file, sizeof c->file, record->file);
  c->count++;
}

static inline char level_letter(const evalue_log_component *component) {
  static const char letters[] = "DIWE";
  for (int32_t level = EVALUE_LOG_DEBUG; level <= EVALUE_LOG_ERROR; level++) {
    if (evalue_log_is_on(component, level)) return letters[level - 1];
  }
  return 'N';
}

/* Asserts each one's level, in the order of the tables: D, I, W, E, or N. A level is on when all above it are. */
static inline void expect_levels(const char *letters) {
  static const evalue_log_component *const components[] = {
#define EVALUE_X(name) &evalue_log_##name,
      EVALUE_LOG_COMPONENT_TABLE(EVALUE_X) EVALUE_LOG_DIAGNOSTIC_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  char found[COUNT_OF(components) + 1] = {0};
  for (size_t i = 0; i < COUNT_OF(components); i++) {
    found[i] = level_letter(components[i]);
    for (int32_t level = EVALUE_LOG_DEBUG; level < EVALUE_LOG_ERROR; level++) {
      if (evalue_log_is_on(components[i], level)) assert_true(evalue_log_is_on(components[i], level + 1));
    }
  }
  assert_string_equal(found, letters);
}

/* Each test begins without an environment of the log's; call it before anything is asked or said. */
static inline void forget_environment(void) {
  unsetenv("EVALUE_LOGS");
  unsetenv("EVALUE_LOGS_OUT");
  unsetenv("EVALUE_LOGS_FORMAT");
}

#endif
