/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of writers share: values, a buffer, and a look at whether it was touched. */
#ifndef TESTS_WRITER_VALUES_H
#define TESTS_WRITER_VALUES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/evalue.h"
#include "guard.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { UNTOUCHED = 0xA5, VALUES = 8, BUFFER = 64 * 1024 };

static uint8_t buffer[BUFFER], expected[BUFFER];
static const uint8_t tensor_data[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0xff};

/* ---- values to write ---- */

static inline evalue tensor_of(uint32_t scalar_type, size_t ndim, const int32_t *sizes, size_t nbytes) {
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, scalar_type, ndim, sizes, tensor_data, nbytes), EVALUE_OK);
  return evalue_from_tensor(&t);
}

/* One of everything, also what has no payload. */
static inline void make_values(evalue *values) {
  static const int32_t sizes[] = {2, 3, 0};
  values[0] = evalue_from_none();
  values[1] = evalue_from_bool(true);
  values[2] = tensor_of(EVALUE_FLOAT32, 2, sizes, 24);
  values[3] = evalue_from_int(INT64_MIN);
  values[4] = evalue_from_string("h\xc3\xa9\0!", 5);
  values[5] = tensor_of(EVALUE_COMPLEX128, 0, NULL, 16);
  values[6] = tensor_of(EVALUE_INT64, 3, sizes, 0);
  values[7] = evalue_from_double(-0.0);
}

/* The alignment 0 stands for a sequence where a test treats both alike. */
static inline evalue_status encode(const evalue *values, size_t n, uint32_t alignment, void *to, size_t capacity,
                                   uint64_t *size) {
  if (alignment == 0) return evalue_sequence_encode(values, n, to, capacity, size);
  return evalue_message_encode(values, n, alignment, to, capacity, size);
}

static inline evalue_status measure(const evalue *values, size_t n, uint32_t alignment, uint64_t *size) {
  if (alignment == 0) return evalue_sequence_size(values, n, size);
  return evalue_message_size(values, n, alignment, size);
}

static inline void start(evalue_writer *w, uint32_t alignment, void *to, size_t capacity) {
  if (alignment == 0) assert_int_equal(evalue_writer_init_sequence(w, to, capacity), EVALUE_OK);
  else assert_int_equal(evalue_writer_init(w, to, capacity, alignment), EVALUE_OK);
}

static inline void touch_nothing(void) {
  memset(buffer, UNTOUCHED, sizeof buffer);
  memset(expected, UNTOUCHED, sizeof expected);
}

static inline void check_buffer_untouched(void) {
  assert_memory_equal(buffer, expected, sizeof buffer);
}

#endif
