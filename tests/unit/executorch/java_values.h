/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of ExecuTorch's Android bytes share: inputs put together by hand, so that nothing depends on the
 * writer, the dtypes as spec/executorch-java.md, section 2, has them, and a judge of what is refused.
 */
#ifndef TESTS_JAVA_VALUES_H
#define TESTS_JAVA_VALUES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/evalue.h"
#include "guard.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { UNTOUCHED = 0xA5, ADDRESSES = 16, MOST = 1024, LAST_RELEASE = EVALUE_JAVA_1_4 };

/* ---- inputs ---- */

typedef struct input {
  uint8_t bytes[MOST];
  size_t size;
} input;

static inline void add_number(input *in, uint64_t x, size_t width) {
  assert_true(in->size + width <= sizeof in->bytes);
  for (size_t i = 0; i < width; i++) in->bytes[in->size + i] = (uint8_t)(x >> 8 * (width - 1 - i));
  in->size += width;
}

static inline void add_text(input *in, const char *text) {
  for (; *text != 0; text++) add_number(in, (uint8_t)*text, 1);
}

static inline uint32_t hex_digit(char c) {
  return (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Adds the bytes that hex digits say; spaces stand where they help a reader. */
static inline void add_hex(input *in, const char *hex) {
  while (*hex != 0) {
    if (*hex == ' ') {
      hex++;
    } else {
      add_number(in, hex_digit(hex[0]) << 4 | hex_digit(hex[1]), 1);
      hex += 2;
    }
  }
}

static inline input input_of(const char *hex) {
  input in = {.size = 0};
  add_hex(&in, hex);
  return in;
}

/* ---- dtypes ---- */

typedef struct java_dtype {
  uint8_t scalar_type, code, width, since;
} java_dtype;

static const java_dtype java_dtypes[] = {
    {EVALUE_UINT8, 0, 1, EVALUE_JAVA_0_5},   {EVALUE_INT8, 1, 1, EVALUE_JAVA_0_5},
    {EVALUE_INT32, 3, 4, EVALUE_JAVA_0_5},   {EVALUE_INT64, 4, 8, EVALUE_JAVA_0_5},
    {EVALUE_FLOAT16, 5, 2, EVALUE_JAVA_1_1}, {EVALUE_FLOAT32, 6, 4, EVALUE_JAVA_0_5},
    {EVALUE_FLOAT64, 7, 8, EVALUE_JAVA_0_5},
};

static inline bool release_has(uint32_t release, uint32_t since) {
  return release == EVALUE_JAVA_ANY || release >= since;
}

/* The data of the tensors here: byte i, counted as in memory of the order of the wire format. */
static inline uint8_t data_byte(size_t i) {
  return (uint8_t)(1 + i * 7);
}

/* Adds a tensor without its tag, and the data for numel elements of it, whatever the sizes say. */
static inline void add_tensor(input *in, const java_dtype *d, uint32_t ndim, const int32_t *sizes, size_t numel) {
  add_number(in, d->code, 1);
  add_number(in, ndim, 1);
  for (uint32_t i = 0; i < ndim; i++) add_number(in, (uint32_t)sizes[i], 4);
  for (size_t i = 0; i < numel; i++) {
    for (size_t k = d->width; k-- > 0;) add_number(in, data_byte(i * d->width + k), 1);
  }
}

static inline void check_data(const void *data, size_t nbytes) {
  const uint8_t *bytes = (const uint8_t *)data;
  for (size_t i = 0; i < nbytes; i++) assert_int_equal(bytes[i], data_byte(i));
}

static inline void check_row_major(const evalue *v, const java_dtype *d, uint32_t ndim, const int32_t *sizes,
                                   size_t numel) {
  assert_int_equal(v->tag, EVALUE_TAG_TENSOR);
  assert_int_equal(v->tensor.scalar_type, d->scalar_type);
  assert_int_equal(v->tensor.ndim, ndim);
  for (uint32_t i = 0; i < ndim; i++) {
    assert_int_equal(v->tensor.sizes[i], sizes[i]);
    assert_int_equal(v->tensor.dim_order[i], i);
  }
  assert_int_equal(v->tensor.nbytes, numel * d->width);
  check_data(v->tensor.data, v->tensor.nbytes);
  assert_int_equal(evalue_check(v), EVALUE_OK);
}

static uint8_t tensor_data[MOST];

/* A tensor of that data. */
static inline evalue tensor_of(uint32_t scalar_type, uint32_t ndim, const int32_t *sizes, const uint8_t *order) {
  evalue_tensor t;
  uint64_t nbytes = 0;
  uint8_t row_major[EVALUE_MAX_NDIM];
  for (uint32_t i = 0; i < EVALUE_MAX_NDIM; i++) row_major[i] = (uint8_t)i;
  for (size_t i = 0; i < sizeof tensor_data; i++) tensor_data[i] = data_byte(i);
  assert_int_equal(evalue_tensor_nbytes(scalar_type, ndim, sizes, &nbytes), EVALUE_OK);
  assert_true(nbytes <= sizeof tensor_data);
  assert_int_equal(evalue_tensor_init_dim_order(&t, scalar_type, ndim, sizes, order != NULL ? order : row_major,
                                                nbytes == 0 ? NULL : tensor_data, (size_t)nbytes),
                   EVALUE_OK);
  return evalue_from_tensor(&t);
}

/* ---- what must stay as it was ---- */

static inline void check_untouched(const void *memory, size_t size) {
  const uint8_t *bytes = (const uint8_t *)memory;
  for (size_t i = 0; i < size; i++) assert_int_equal(bytes[i], UNTOUCHED);
}

/* Every way of decoding an input that is refused, from memory that ends at a page that nobody may touch: all say the
 * same, and change nothing. */
static inline evalue_error refusal_of(const input *in, const evalue_java_options *options) {
  guard_buffer guard = guard_put(in->bytes, in->size);
  evalue_error error, other;
  evalue value;
  uint8_t scratch[MOST];
  uint64_t used;
  memset(scratch, UNTOUCHED, sizeof scratch);
  memset(&value, UNTOUCHED, sizeof value);
  memset(&used, UNTOUCHED, sizeof used);
  memset(&error, UNTOUCHED, sizeof error);
  memset(&other, UNTOUCHED, sizeof other);
  const evalue_status status =
      evalue_java_decode(guard.data, in->size, options, scratch, sizeof scratch, &value, &used, &error);
  assert_int_equal(error.status, status);
  assert_int_not_equal(status, EVALUE_OK);
  assert_int_equal(evalue_java_decode(guard.data, in->size, options, NULL, 0, NULL, &used, &other), status);
  assert_memory_equal(&other, &error, sizeof error);
  memset(&other, UNTOUCHED, sizeof other);
  assert_int_equal(evalue_java_decode_in_place(guard.data, in->size, options, &value, &used, &other), status);
  assert_memory_equal(&other, &error, sizeof error);
  assert_int_equal(evalue_java_decode(guard.data, in->size, options, scratch, 0, &value, NULL, NULL), status);
  assert_int_equal(evalue_java_decode_in_place(guard.data, in->size, options, &value, NULL, NULL), status);
  check_untouched(scratch, sizeof scratch);
  check_untouched(&value, sizeof value);
  check_untouched(&used, sizeof used);
  if (in->size != 0) assert_memory_equal(guard.data, in->bytes, in->size);
  guard_free(&guard);
  return error;
}

static inline void check_error(const evalue_error *error, evalue_status status, evalue_fault fault, evalue_field field,
                               uint64_t position) {
  if (error->fault != fault) fail_msg("%s, not %s", evalue_fault_name(error->fault), evalue_fault_name(fault));
  assert_int_equal(error->status, status);
  assert_int_equal(error->field, field);
  if (status == EVALUE_MISUSE ||
      status == EVALUE_NO_SPACE) { /* such a fault is in no byte, and position says nothing */
    assert_true(error->value_index == EVALUE_NO_INDEX);
  } else {
    assert_int_equal(error->position, position);
    assert_true(error->value_index == (fault == EVALUE_FAULT_TRAILING_BYTES ? 1 : 0));
  }
  if (status != EVALUE_TRUNCATED) assert_int_equal(error->needed, 0);
}

static inline void check_refused(const input *in, const evalue_java_options *options, evalue_status status,
                                 evalue_fault fault, evalue_field field, uint64_t position) {
  evalue_error error = refusal_of(in, options);
  check_error(&error, status, fault, field, position);
}

/* ---- what a writer refuses ---- */

/* All statuses but NO_SPACE, with memory enough and without any: the size is 0, and nothing is written. */
static inline evalue_error unwritable(const evalue *v, const evalue_java_options *options) {
  uint8_t memory[64];
  uint64_t size = 7;
  evalue_error error, other;
  memset(memory, UNTOUCHED, sizeof memory);
  memset(&error, UNTOUCHED, sizeof error);
  memset(&other, UNTOUCHED, sizeof other);
  const evalue_status status = evalue_java_size(v, options, &size, &error);
  assert_int_not_equal(status, EVALUE_OK);
  assert_int_equal(error.status, status);
  assert_int_equal(size, 0);
  for (size_t capacity = 0; capacity <= sizeof memory; capacity += sizeof memory / 2) {
    size = 7;
    assert_int_equal(evalue_java_encode(v, options, memory, capacity, &size, &other), status);
    assert_memory_equal(&other, &error, sizeof error);
    assert_int_equal(size, 0);
    assert_int_equal(evalue_java_encode(v, options, memory, capacity, &size, NULL), status);
  }
  check_untouched(memory, sizeof memory);
  return error;
}

static inline void check_unwritable(const evalue *v, const evalue_java_options *options, evalue_status status,
                                    evalue_fault fault, evalue_field field, uint64_t position) {
  evalue_error error = unwritable(v, options);
  check_error(&error, status, fault, field, position);
}

#endif
