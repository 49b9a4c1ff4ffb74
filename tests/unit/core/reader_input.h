/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of readers share: inputs put together by hand, so that nothing depends on the writer, and a judge of
 * them.
 */
#ifndef TESTS_READER_INPUT_H
#define TESTS_READER_INPUT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/evalue.h"
#include "guard.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { UNTOUCHED = 0xA5, CAPACITY = 16 };

/* ---- putting inputs together ---- */

typedef struct input {
  uint8_t bytes[8192];
  size_t size;
} input;

static inline void set_number(uint8_t *p, uint64_t x, size_t width) {
  for (size_t i = 0; i < width; i++) p[i] = (uint8_t)(x >> 8 * i);
}

static inline void add_number(input *in, uint64_t x, size_t width) {
  assert_true(in->size + width <= sizeof in->bytes);
  set_number(in->bytes + in->size, x, width);
  in->size += width;
}

static inline void add_text(input *in, const char *text) {
  for (; *text != 0; text++) add_number(in, (uint8_t)*text, 1);
}

static inline void add_head(input *in, uint32_t tag, uint64_t length) {
  add_number(in, tag, 1);
  add_number(in, length, 8);
}

static inline void add_none(input *in) {
  add_head(in, EVALUE_TAG_NONE, 0);
}

static inline void add_bool(input *in, uint32_t byte) {
  add_head(in, EVALUE_TAG_BOOL, 1);
  add_number(in, byte, 1);
}

static inline void add_int(input *in, int64_t i) {
  add_head(in, EVALUE_TAG_INT, 8);
  add_number(in, (uint64_t)i, 8);
}

static inline void add_string(input *in, const char *text) {
  add_head(in, EVALUE_TAG_STRING, strlen(text));
  add_text(in, text);
}

static inline void add_pad(input *in, size_t length) {
  add_head(in, EVALUE_TAG_PAD, length);
  for (size_t i = 0; i < length; i++) add_number(in, 0, 1);
}

/* A row-major tensor with data_size bytes of data, whatever its sizes say; the length field says what is there. */
static inline void add_tensor(input *in, uint32_t scalar_type, uint32_t ndim, const int32_t *sizes, size_t data_size) {
  add_head(in, EVALUE_TAG_TENSOR, 2 + 5 * (uint64_t)ndim + data_size);
  add_number(in, scalar_type, 1);
  add_number(in, ndim, 1);
  for (uint32_t i = 0; i < ndim; i++) add_number(in, (uint32_t)sizes[i], 4);
  for (uint32_t i = 0; i < ndim; i++) add_number(in, i, 1);
  for (size_t i = 0; i < data_size; i++) add_number(in, 1 + i, 1);
}

static inline void start_message(input *in, uint32_t log2) {
  in->size = 0;
  add_text(in, "EVAL");
  add_number(in, 1, 1);
  add_number(in, 0, 1);
  add_number(in, log2, 1);
  add_number(in, 0, 1);
  add_number(in, 0, 8);
  add_number(in, 0, 8);
}

static inline void end_message(input *in, uint64_t count) {
  set_number(in->bytes + 8, in->size - EVALUE_HEADER_SIZE, 8);
  set_number(in->bytes + 16, count, 8);
}

/* One of everything, at alignment 16. The Pads' lengths follow from spec, section 7. */
enum { SAMPLE_SIZE = 184, SAMPLE_VALUES = 7 };

static const struct {
  uint32_t tag;
  uint32_t position;
  uint32_t payload_size;
} sample_elements[] = {{EVALUE_TAG_NONE, 24, 0},
                       {EVALUE_TAG_BOOL, 33, 1},
                       {200, 43, 3},
                       {EVALUE_TAG_PAD, 55, 0},
                       {EVALUE_TAG_TENSOR, 64, 15},
                       {EVALUE_TAG_INT, 88, 8},
                       {EVALUE_TAG_PAD, 105, 14},
                       {EVALUE_TAG_TENSOR, 128, 10},
                       {EVALUE_TAG_STRING, 147, 2},
                       {EVALUE_TAG_DOUBLE, 158, 8},
                       {129, 175, 0}};

static inline void make_sample(input *in) {
  const int32_t two = 2, three = 3;
  start_message(in, 4);
  add_none(in);
  add_bool(in, 1);
  add_head(in, 200, 3);
  add_text(in, "abc");
  add_pad(in, 0);
  add_tensor(in, EVALUE_FLOAT32, 1, &two, 8);
  add_int(in, -2);
  add_pad(in, 14);
  add_tensor(in, EVALUE_UINT8, 1, &three, 3);
  add_string(in, "hi");
  add_head(in, EVALUE_TAG_DOUBLE, 8);
  add_number(in, UINT64_C(0x3ff8000000000000), 8);
  add_head(in, 129, 0);
  end_message(in, SAMPLE_VALUES);
  assert_int_equal(in->size, SAMPLE_SIZE);
}

/* The same without what only a message has. */
static inline void make_sequence(input *in) {
  const int32_t two = 2;
  in->size = 0;
  add_none(in);
  add_bool(in, 0);
  add_string(in, "abc");
  add_tensor(in, EVALUE_FLOAT32, 1, &two, 8);
  add_head(in, 255, 5);
  add_text(in, "12345");
  add_int(in, 7);
}

/* ---- judging inputs ---- */

static evalue decoded[CAPACITY];

/* Decodes from memory that ends at a page that nobody may touch. */
static inline evalue_error judge(const input *in, bool is_message) {
  guard_buffer guard = guard_put(in->bytes, in->size);
  evalue_error error;
  uint64_t n = 0;
  memset(&error, UNTOUCHED, sizeof error);
  evalue_status status = is_message ? evalue_message_decode(guard.data, in->size, NULL, decoded, CAPACITY, &n, &error)
                                    : evalue_sequence_decode(guard.data, in->size, NULL, decoded, CAPACITY, &n, &error);
  assert_int_equal(status, error.status);
  guard_free(&guard);
  return error;
}

static inline void check_fault(const input *in, bool is_message, evalue_status status, evalue_fault fault,
                               uint64_t position) {
  evalue_error error = judge(in, is_message);
  if (error.fault != fault) fail_msg("%s, not %s", evalue_fault_name(error.fault), evalue_fault_name(fault));
  assert_int_equal(error.status, status);
  assert_int_equal(error.position, position);
}

static inline void check_bytes_untouched(const void *memory, size_t size) {
  const uint8_t *bytes = (const uint8_t *)memory;
  for (size_t i = 0; i < size; i++) assert_int_equal(bytes[i], UNTOUCHED);
}

#endif
