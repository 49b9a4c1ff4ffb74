/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes to values: what reader.h promises for each status, and the faults that readers of other formats had. Inputs are
 * put together by hand here, so nothing in this file depends on the writer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/evalue.h"
#include "guard.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define M               INT32_MAX

enum { UNTOUCHED = 0xA5, CAPACITY = 16 };

/* ---- putting inputs together ---- */

typedef struct input {
  uint8_t bytes[8192];
  size_t size;
} input;

static void set_number(uint8_t *p, uint64_t x, size_t width) {
  for (size_t i = 0; i < width; i++) p[i] = (uint8_t)(x >> 8 * i);
}

static void add_number(input *in, uint64_t x, size_t width) {
  assert_true(in->size + width <= sizeof in->bytes);
  set_number(in->bytes + in->size, x, width);
  in->size += width;
}

static void add_text(input *in, const char *text) {
  for (; *text != 0; text++) add_number(in, (uint8_t)*text, 1);
}

static void add_head(input *in, uint32_t tag, uint64_t length) {
  add_number(in, tag, 1);
  add_number(in, length, 8);
}

static void add_none(input *in) {
  add_head(in, EVALUE_TAG_NONE, 0);
}

static void add_bool(input *in, uint32_t byte) {
  add_head(in, EVALUE_TAG_BOOL, 1);
  add_number(in, byte, 1);
}

static void add_int(input *in, int64_t i) {
  add_head(in, EVALUE_TAG_INT, 8);
  add_number(in, (uint64_t)i, 8);
}

static void add_string(input *in, const char *text) {
  add_head(in, EVALUE_TAG_STRING, strlen(text));
  add_text(in, text);
}

static void add_pad(input *in, size_t length) {
  add_head(in, EVALUE_TAG_PAD, length);
  for (size_t i = 0; i < length; i++) add_number(in, 0, 1);
}

/* A row-major tensor with data_size bytes of data, whatever its sizes say; the length field says what is there. */
static void add_tensor(input *in, uint32_t scalar_type, uint32_t ndim, const int32_t *sizes, size_t data_size) {
  add_head(in, EVALUE_TAG_TENSOR, 2 + 5 * (uint64_t)ndim + data_size);
  add_number(in, scalar_type, 1);
  add_number(in, ndim, 1);
  for (uint32_t i = 0; i < ndim; i++) add_number(in, (uint32_t)sizes[i], 4);
  for (uint32_t i = 0; i < ndim; i++) add_number(in, i, 1);
  for (size_t i = 0; i < data_size; i++) add_number(in, 1 + i, 1);
}

static void start_message(input *in, uint32_t log2) {
  in->size = 0;
  add_text(in, "EVAL");
  add_number(in, 1, 1);
  add_number(in, 0, 1);
  add_number(in, log2, 1);
  add_number(in, 0, 1);
  add_number(in, 0, 8);
  add_number(in, 0, 8);
}

static void end_message(input *in, uint64_t count) {
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

static void make_sample(input *in) {
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
static void make_sequence(input *in) {
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
static evalue_error judge(const input *in, bool is_message) {
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

static void check_fault(const input *in, bool is_message, evalue_status status, evalue_fault fault, uint64_t position) {
  evalue_error error = judge(in, is_message);
  if (error.fault != fault) fail_msg("%s, not %s", evalue_fault_name(error.fault), evalue_fault_name(fault));
  assert_int_equal(error.status, status);
  assert_int_equal(error.position, position);
}

static void check_bytes_untouched(const void *memory, size_t size) {
  const uint8_t *bytes = (const uint8_t *)memory;
  for (size_t i = 0; i < size; i++) assert_int_equal(bytes[i], UNTOUCHED);
}

/* ---- one at a time ---- */

static void test_pull_gives_every_value(void **state) {
  (void)state;
  input in;
  evalue_reader r;
  evalue v[SAMPLE_VALUES];
  make_sample(&in);
  assert_int_equal(evalue_reader_init(&r, in.bytes, in.size, NULL), EVALUE_OK);
  assert_int_equal(evalue_reader_count(&r), SAMPLE_VALUES);
  assert_int_equal(evalue_reader_alignment(&r), 16);
  assert_int_equal(evalue_reader_position(&r), EVALUE_HEADER_SIZE);
  for (size_t i = 0; i < SAMPLE_VALUES; i++) assert_int_equal(evalue_reader_next(&r, &v[i]), EVALUE_OK);
  assert_int_equal(evalue_reader_next(&r, &v[0]), EVALUE_END);
  assert_int_equal(v[0].tag, EVALUE_TAG_NONE);
  assert_int_equal(v[1].tag, EVALUE_TAG_BOOL);
  assert_int_equal(v[1].bool_value, 1);
  assert_int_equal(v[2].tag, EVALUE_TAG_TENSOR);
  assert_int_equal(v[2].tensor.scalar_type, EVALUE_FLOAT32);
  assert_int_equal(v[2].tensor.ndim, 1);
  assert_int_equal(v[2].tensor.sizes[0], 2);
  assert_int_equal(v[2].tensor.dim_order[0], 0);
  assert_int_equal(v[2].tensor.nbytes, 8);
  assert_ptr_equal(v[2].tensor.data, in.bytes + 80);
  assert_int_equal(v[3].tag, EVALUE_TAG_INT);
  assert_true(v[3].int_value == -2);
  assert_ptr_equal(v[4].tensor.data, in.bytes + 144);
  assert_int_equal(v[4].tensor.nbytes, 3);
  assert_int_equal(v[5].tag, EVALUE_TAG_STRING);
  assert_ptr_equal(v[5].string.data, in.bytes + 156);
  assert_int_equal(v[5].string.nbytes, 2);
  assert_int_equal(v[6].tag, EVALUE_TAG_DOUBLE);
  assert_true(v[6].double_value == 1.5);
}

static void test_skip_checks_all_the_same(void **state) {
  (void)state;
  input in;
  evalue_reader r;
  evalue v;
  make_sample(&in);
  evalue_reader_init(&r, in.bytes, in.size, NULL);
  for (int i = 0; i < 3; i++) assert_int_equal(evalue_reader_next(&r, NULL), EVALUE_OK);
  assert_int_equal(evalue_reader_next(&r, &v), EVALUE_OK);
  assert_true(v.tag == EVALUE_TAG_INT && v.int_value == -2);
  for (int i = 4; i < SAMPLE_VALUES; i++) assert_int_equal(evalue_reader_next(&r, NULL), EVALUE_OK);
  assert_int_equal(evalue_reader_next(&r, NULL), EVALUE_END);
  in.bytes[42] = 2; /* the Bool's byte */
  evalue_reader_init(&r, in.bytes, in.size, NULL);
  assert_int_equal(evalue_reader_next(&r, NULL), EVALUE_OK);
  assert_int_equal(evalue_reader_next(&r, NULL), EVALUE_MALFORMED);
  assert_int_equal(evalue_reader_error(&r)->position, 42);
}

/* The spans of all elements, laid end to end, are the body. */
static void test_elements_of_every_kind(void **state) {
  (void)state;
  input in;
  evalue_reader r;
  make_sample(&in);
  evalue_reader_init(&r, in.bytes, in.size, NULL);
  for (size_t i = 0; i < COUNT_OF(sample_elements); i++) {
    evalue_element e;
    evalue v;
    memset(&v, UNTOUCHED, sizeof v);
    uint32_t position = sample_elements[i].position, payload_size = sample_elements[i].payload_size;
    assert_int_equal(evalue_reader_position(&r), position);
    assert_int_equal(evalue_reader_next_element(&r, &e, &v), EVALUE_OK);
    assert_int_equal(e.tag, sample_elements[i].tag);
    assert_int_equal(e.position, position);
    assert_ptr_equal(e.raw.data, in.bytes + position);
    assert_int_equal(e.raw.size, 9 + payload_size);
    assert_ptr_equal(e.payload.data, in.bytes + position + 9);
    assert_int_equal(e.payload.size, payload_size);
    assert_int_equal(evalue_reader_position(&r), position + 9 + payload_size);
    if (e.tag <= EVALUE_TAG_BOOL) assert_int_equal(v.tag, e.tag);
    else check_bytes_untouched(&v, sizeof v);
  }
  evalue_element e;
  assert_int_equal(evalue_reader_next_element(&r, &e, NULL), EVALUE_END);
  assert_int_equal(evalue_reader_position(&r), SAMPLE_SIZE);
}

static void test_elements_into_nothing(void **state) {
  (void)state;
  input in;
  evalue_reader r;
  make_sample(&in);
  evalue_reader_init(&r, in.bytes, in.size, NULL);
  for (size_t i = 0; i < COUNT_OF(sample_elements); i++) {
    assert_int_equal(evalue_reader_next_element(&r, NULL, NULL), EVALUE_OK);
  }
  assert_int_equal(evalue_reader_next_element(&r, NULL, NULL), EVALUE_END);
  assert_int_equal(evalue_reader_next_element(&r, NULL, NULL), EVALUE_END);
}

/* Elements and values can be asked for in turn: a Pad that was handed out still counts for the tensor after it. */
static void test_elements_and_values_in_turn(void **state) {
  (void)state;
  input in;
  evalue_reader r;
  evalue_element e;
  evalue v;
  make_sample(&in);
  evalue_reader_init(&r, in.bytes, in.size, NULL);
  for (int i = 0; i < 4; i++) assert_int_equal(evalue_reader_next_element(&r, &e, NULL), EVALUE_OK);
  assert_int_equal(e.tag, EVALUE_TAG_PAD);
  assert_int_equal(evalue_reader_next(&r, &v), EVALUE_OK);
  assert_int_equal(v.tag, EVALUE_TAG_TENSOR);
  assert_int_equal(evalue_reader_next_element(&r, &e, &v), EVALUE_OK);
  assert_true(v.tag == EVALUE_TAG_INT && v.int_value == -2);
}

/* A Pad is judged with the tensor after it, so the fault comes one element later and names the Pad. */
static void test_pad_is_judged_with_its_tensor(void **state) {
  (void)state;
  input in;
  evalue_reader r;
  start_message(&in, 4);
  add_pad(&in, 3);
  add_none(&in);
  end_message(&in, 1);
  evalue_reader_init(&r, in.bytes, in.size, NULL);
  assert_int_equal(evalue_reader_next_element(&r, NULL, NULL), EVALUE_OK);
  assert_int_equal(evalue_reader_next_element(&r, NULL, NULL), EVALUE_MALFORMED);
  assert_int_equal(evalue_reader_error(&r)->fault, EVALUE_FAULT_PAD_MISPLACED);
  assert_int_equal(evalue_reader_error(&r)->position, 24);
  start_message(&in, 4);
  add_pad(&in, 3);
  end_message(&in, 0);
  check_fault(&in, true, EVALUE_MALFORMED, EVALUE_FAULT_PAD_MISPLACED, 24);
}

static void test_copied_reader_comes_back(void **state) {
  (void)state;
  input in;
  evalue_reader r, places[SAMPLE_VALUES];
  evalue first[SAMPLE_VALUES], again;
  make_sample(&in);
  evalue_reader_init(&r, in.bytes, in.size, NULL);
  for (size_t i = 0; i < SAMPLE_VALUES; i++) {
    places[i] = r;
    assert_int_equal(evalue_reader_next(&r, &first[i]), EVALUE_OK);
  }
  assert_int_equal(evalue_reader_next(&r, NULL), EVALUE_END);
  for (size_t i = SAMPLE_VALUES; i-- > 0;) {
    r = places[i];
    for (size_t k = i; k < SAMPLE_VALUES; k++) {
      assert_int_equal(evalue_reader_next(&r, &again), EVALUE_OK);
      assert_true(evalue_equal(&again, &first[k]));
    }
    assert_int_equal(evalue_reader_next(&r, &again), EVALUE_END);
  }
}

/* Also from between a Pad and its tensor. */
static void test_copied_reader_comes_back_behind_a_pad(void **state) {
  (void)state;
  input in;
  evalue_reader r, place;
  make_sample(&in);
  evalue_reader_init(&r, in.bytes, in.size, NULL);
  for (int i = 0; i < 4; i++) evalue_reader_next_element(&r, NULL, NULL);
  place = r;
  while (evalue_reader_next_element(&r, NULL, NULL) == EVALUE_OK) {
  }
  int left = 0;
  while (evalue_reader_next(&place, NULL) == EVALUE_OK) left++;
  assert_int_equal(left, 5);
  assert_int_equal(evalue_reader_error(&place)->status, EVALUE_OK);
}

/* ---- what stays ---- */

static void check_stays(evalue_reader *r, evalue_status status) {
  evalue_error error = *evalue_reader_error(r);
  uint64_t position = evalue_reader_position(r);
  evalue_element e;
  evalue v;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(evalue_reader_next(r, &v), status);
    assert_int_equal(evalue_reader_next_element(r, &e, NULL), status);
    assert_memory_equal(evalue_reader_error(r), &error, sizeof error);
    assert_int_equal(evalue_reader_position(r), position);
  }
}

static void test_fault_stays(void **state) {
  (void)state;
  input in;
  evalue_reader r;
  make_sample(&in);
  in.bytes[42] = 2;
  evalue_reader_init(&r, in.bytes, in.size, NULL);
  while (evalue_reader_next(&r, NULL) == EVALUE_OK) {
  }
  in.bytes[42] = 1; /* a peer that mends its input changes nothing any more */
  assert_int_equal(evalue_reader_error(&r)->fault, EVALUE_FAULT_BAD_BOOL);
  assert_int_equal(evalue_reader_error(&r)->value_index, 1);
  check_stays(&r, EVALUE_MALFORMED);
}

static void test_fault_at_the_end_stays(void **state) {
  (void)state;
  input in;
  evalue_reader r;
  make_sample(&in);
  end_message(&in, SAMPLE_VALUES + 1);
  evalue_reader_init(&r, in.bytes, in.size, NULL);
  while (evalue_reader_next(&r, NULL) == EVALUE_OK) {
  }
  assert_int_equal(evalue_reader_error(&r)->fault, EVALUE_FAULT_COUNT_WRONG);
  assert_int_equal(evalue_reader_error(&r)->expected, SAMPLE_VALUES);
  assert_int_equal(evalue_reader_error(&r)->found, SAMPLE_VALUES + 1);
  check_stays(&r, EVALUE_MALFORMED);
}

static void test_fault_of_the_header_stays(void **state) {
  (void)state;
  static const uint8_t short_header[] = {'E', 'V', 'A', 'L', 1, 0};
  input in;
  evalue_reader r;
  assert_int_equal(evalue_reader_init(&r, short_header, sizeof short_header, NULL), EVALUE_TRUNCATED);
  check_stays(&r, EVALUE_TRUNCATED);
  make_sample(&in);
  in.bytes[7] = 1;
  assert_int_equal(evalue_reader_init(&r, in.bytes, in.size, NULL), EVALUE_UNSUPPORTED);
  check_stays(&r, EVALUE_UNSUPPORTED);
}

static void test_fault_of_starting_a_sequence_stays(void **state) {
  (void)state;
  input in;
  evalue_reader r;
  make_sequence(&in);
  evalue_read_options options = {0, 0, 0, in.size - 1};
  assert_int_equal(evalue_reader_init_sequence(&r, in.bytes, in.size, &options), EVALUE_LIMIT);
  check_stays(&r, EVALUE_LIMIT);
  assert_int_equal(evalue_reader_init_sequence(&r, NULL, 1, NULL), EVALUE_MISUSE);
  check_stays(&r, EVALUE_MISUSE);
}

static void test_end_stays(void **state) {
  (void)state;
  input in;
  evalue_reader r;
  make_sample(&in);
  evalue_reader_init(&r, in.bytes, in.size, NULL);
  while (evalue_reader_next(&r, NULL) == EVALUE_OK) {
  }
  assert_int_equal(evalue_reader_error(&r)->status, EVALUE_OK);
  check_stays(&r, EVALUE_END);
  assert_int_equal(evalue_reader_position(&r), in.size);
  make_sequence(&in);
  evalue_reader_init_sequence(&r, in.bytes, in.size, NULL);
  while (evalue_reader_next(&r, NULL) == EVALUE_OK) {
  }
  check_stays(&r, EVALUE_END);
}

static void test_sequence_counts_as_it_goes(void **state) {
  (void)state;
  input in;
  evalue_reader r;
  make_sequence(&in);
  assert_int_equal(evalue_reader_init_sequence(&r, in.bytes, in.size, NULL), EVALUE_OK);
  assert_int_equal(evalue_reader_alignment(&r), 1);
  for (uint64_t i = 0; i < 5; i++) {
    assert_int_equal(evalue_reader_count(&r), i);
    assert_int_equal(evalue_reader_next(&r, NULL), EVALUE_OK);
  }
  assert_int_equal(evalue_reader_next(&r, NULL), EVALUE_END);
  assert_int_equal(evalue_reader_count(&r), 5);
  assert_int_equal(evalue_reader_position(&r), in.size);
}

/* ---- options ---- */

static evalue_status start_with(const evalue_read_options *options) {
  input in;
  evalue_reader r, s;
  make_sample(&in);
  evalue_status status = evalue_reader_init(&r, in.bytes, in.size, options);
  assert_int_equal(evalue_reader_init_sequence(&s, in.bytes + 24, in.size - 24, options), status);
  uint64_t n;
  assert_int_equal(evalue_message_decode(in.bytes, in.size, options, decoded, CAPACITY, &n, NULL), status);
  return status;
}

/* Only the layouts that this version knows: a size that is none is refused before anything behind it is looked at. */
static void test_options_size(void **state) {
  (void)state;
  const uint32_t own_size = (uint32_t)sizeof(evalue_read_options);
  guard_buffer guard = guard_new(sizeof(evalue_read_options));
  evalue_read_options *options = (evalue_read_options *)(void *)guard.data;
  memset(options, 0, sizeof *options);
  assert_int_equal(start_with(options), EVALUE_OK);
  for (uint32_t size = 1; size < own_size + 64; size++) {
    options->size = size;
    assert_int_equal(start_with(options), size == own_size ? EVALUE_OK : EVALUE_MISUSE);
  }
  options->size = UINT32_MAX;
  assert_int_equal(start_with(options), EVALUE_MISUSE);
  guard_free(&guard);
}

static void test_limit_on_values(void **state) {
  (void)state;
  input in;
  uint64_t n;
  evalue_error e;
  make_sample(&in);
  evalue_read_options options = {0, 0, SAMPLE_VALUES, 0};
  assert_int_equal(evalue_message_decode(in.bytes, in.size, &options, decoded, CAPACITY, &n, &e), EVALUE_OK);
  options.max_values = SAMPLE_VALUES - 1;
  assert_int_equal(evalue_message_decode(in.bytes, in.size, &options, decoded, CAPACITY, &n, &e), EVALUE_LIMIT);
  assert_int_equal(e.field, EVALUE_FIELD_COUNT);
  assert_int_equal(e.position, 16);
  assert_int_equal(e.expected, SAMPLE_VALUES - 1);
  assert_int_equal(e.found, SAMPLE_VALUES);
  options.max_values = UINT64_MAX;
  assert_int_equal(evalue_message_decode(in.bytes, in.size, &options, decoded, CAPACITY, &n, &e), EVALUE_OK);
  make_sequence(&in);
  options.max_values = 5;
  assert_int_equal(evalue_sequence_decode(in.bytes, in.size, &options, decoded, CAPACITY, &n, &e), EVALUE_OK);
  options.max_values = 1;
  assert_int_equal(evalue_sequence_decode(in.bytes, in.size, &options, decoded, CAPACITY, &n, &e), EVALUE_LIMIT);
  assert_int_equal(e.field, EVALUE_FIELD_TAG);
  assert_int_equal(e.position, 9);
  assert_int_equal(e.value_index, 1);
  assert_int_equal(e.expected, 1);
  assert_int_equal(e.found, 2);
}

/* A message that holds more than it announces is caught by the limit where it passes it, not at its end. */
static void test_limit_on_values_that_were_not_announced(void **state) {
  (void)state;
  input in;
  uint64_t n;
  evalue_error e;
  start_message(&in, 0);
  for (int i = 0; i < 5; i++) add_none(&in);
  end_message(&in, 2);
  evalue_read_options options = {0, 0, 3, 0};
  assert_int_equal(evalue_message_decode(in.bytes, in.size, &options, decoded, CAPACITY, &n, &e), EVALUE_LIMIT);
  assert_int_equal(e.field, EVALUE_FIELD_TAG);
  assert_int_equal(e.position, 24 + 3 * 9);
  assert_int_equal(e.value_index, 3);
}

static void test_limit_on_bytes(void **state) {
  (void)state;
  input in;
  uint64_t n;
  evalue_error e;
  make_sample(&in);
  evalue_read_options options = {0, 1, 0, in.size};
  /* trailing bytes that are allowed do not count */
  assert_int_equal(evalue_message_decode(in.bytes, in.size + 5, &options, decoded, CAPACITY, &n, &e), EVALUE_OK);
  options.max_bytes = in.size - 1;
  assert_int_equal(evalue_message_decode(in.bytes, in.size, &options, decoded, CAPACITY, &n, &e), EVALUE_LIMIT);
  assert_int_equal(e.field, EVALUE_FIELD_BODY_LENGTH);
  assert_int_equal(e.expected, in.size - 1);
  assert_int_equal(e.found, in.size);
  /* the limit is judged before the rest of the input is asked for */
  assert_int_equal(evalue_message_decode(in.bytes, 16, &options, decoded, CAPACITY, &n, &e), EVALUE_LIMIT);
  make_sequence(&in);
  options.max_bytes = in.size;
  assert_int_equal(evalue_sequence_decode(in.bytes, in.size, &options, decoded, CAPACITY, &n, &e), EVALUE_OK);
  options.max_bytes = in.size - 1;
  assert_int_equal(evalue_sequence_decode(in.bytes, in.size, &options, decoded, CAPACITY, &n, &e), EVALUE_LIMIT);
  assert_int_equal(e.field, EVALUE_FIELD_TRAILING);
  assert_int_equal(e.position, in.size - 1);
  assert_true(e.value_index == EVALUE_NO_INDEX);
}

static void test_trailing_bytes(void **state) {
  (void)state;
  input in;
  uint64_t n;
  evalue_error e;
  evalue_reader r;
  evalue_read_options options = {0, 1, 0, 0};
  make_sample(&in);
  add_number(&in, 0xff, 1);
  assert_int_equal(evalue_message_decode(in.bytes, in.size, NULL, decoded, CAPACITY, &n, &e), EVALUE_MALFORMED);
  assert_int_equal(e.fault, EVALUE_FAULT_TRAILING_BYTES);
  assert_int_equal(e.field, EVALUE_FIELD_TRAILING);
  assert_int_equal(e.position, SAMPLE_SIZE);
  assert_int_equal(e.expected, SAMPLE_SIZE);
  assert_int_equal(e.found, SAMPLE_SIZE + 1);
  assert_int_equal(evalue_message_decode(in.bytes, in.size, &options, decoded, CAPACITY, &n, &e), EVALUE_OK);
  assert_int_equal(n, SAMPLE_VALUES);
  assert_int_equal(e.status, EVALUE_OK);
  evalue_reader_init(&r, in.bytes, in.size, &options);
  while (evalue_reader_next(&r, NULL) == EVALUE_OK) {
  }
  assert_int_equal(evalue_reader_next(&r, NULL), EVALUE_END);
  assert_int_equal(evalue_reader_position(&r), SAMPLE_SIZE);
}

/* ---- misuse ---- */

static void test_null_is_misuse(void **state) {
  (void)state;
  input in;
  uint64_t n = 0;
  evalue v;
  evalue_reader r;
  evalue_error e;
  make_sample(&in);
  assert_int_equal(evalue_reader_init(NULL, in.bytes, in.size, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_reader_init_sequence(NULL, in.bytes, in.size, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_reader_init(&r, NULL, 1, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_reader_error(&r)->fault, EVALUE_FAULT_ARGUMENT);
  assert_int_equal(evalue_reader_next(NULL, &v), EVALUE_MISUSE);
  assert_int_equal(evalue_reader_next_element(NULL, NULL, &v), EVALUE_MISUSE);
  assert_int_equal(evalue_message_decode(NULL, 1, NULL, &v, 1, &n, &e), EVALUE_MISUSE);
  assert_int_equal(e.status, EVALUE_MISUSE);
  assert_true(e.value_index == EVALUE_NO_INDEX);
  assert_int_equal(evalue_message_decode(in.bytes, in.size, NULL, NULL, 1, &n, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_message_decode(in.bytes, in.size, NULL, &v, 1, NULL, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_sequence_decode(NULL, 1, NULL, &v, 1, &n, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_sequence_decode(in.bytes, in.size, NULL, NULL, 1, &n, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_sequence_decode(in.bytes, in.size, NULL, &v, 1, NULL, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_value_decode(NULL, 1, NULL, &v, &n, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_value_decode(in.bytes, in.size, NULL, NULL, &n, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_value_decode(in.bytes, in.size, NULL, &v, NULL, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_value_decode(in.bytes, in.size, NULL, &v, NULL, NULL), EVALUE_MISUSE);
  assert_null(evalue_reader_error(NULL));
  assert_int_equal(evalue_reader_position(NULL), 0);
  assert_int_equal(evalue_reader_count(NULL), 0);
  assert_int_equal(evalue_reader_alignment(NULL), 0);
}

/* "needed: EVALUE_TRUNCATED ...; otherwise 0", also when the input of the wrong call was cut. */
static void test_misuse_needs_no_bytes(void **state) {
  (void)state;
  static const uint8_t short_header[] = {'E', 'V'};
  evalue v;
  evalue_error e;
  assert_int_equal(evalue_message_decode(short_header, 2, NULL, &v, 1, NULL, &e), EVALUE_MISUSE);
  assert_int_equal(e.status, EVALUE_MISUSE);
  assert_int_equal(e.fault, EVALUE_FAULT_ARGUMENT);
  assert_int_equal(e.needed, 0);
}

static void test_empty_input(void **state) {
  (void)state;
  uint64_t n = 1;
  evalue_error e;
  evalue_reader r;
  assert_int_equal(evalue_sequence_decode(NULL, 0, NULL, NULL, 0, &n, &e), EVALUE_OK);
  assert_int_equal(n, 0);
  assert_int_equal(e.status, EVALUE_OK);
  assert_int_equal(evalue_sequence_decode("", 0, NULL, decoded, CAPACITY, &n, NULL), EVALUE_OK);
  assert_int_equal(evalue_message_decode(NULL, 0, NULL, NULL, 0, &n, &e), EVALUE_TRUNCATED);
  assert_int_equal(e.field, EVALUE_FIELD_MAGIC);
  assert_int_equal(e.position, 0);
  assert_int_equal(e.needed, EVALUE_HEADER_SIZE);
  assert_int_equal(evalue_reader_init_sequence(&r, NULL, 0, NULL), EVALUE_OK);
  assert_int_equal(evalue_reader_next(&r, NULL), EVALUE_END);
  assert_int_equal(evalue_reader_position(&r), 0);
}

/* ---- the caller's array ---- */

static void test_message_does_not_fit_the_array(void **state) {
  (void)state;
  input in;
  evalue values[SAMPLE_VALUES];
  evalue_error e;
  make_sample(&in);
  for (size_t capacity = 0; capacity < SAMPLE_VALUES; capacity++) {
    uint64_t n = 0;
    memset(values, UNTOUCHED, sizeof values);
    evalue *array = capacity == 0 ? NULL : values;
    assert_int_equal(evalue_message_decode(in.bytes, in.size, NULL, array, capacity, &n, &e), EVALUE_NO_SPACE);
    assert_int_equal(n, SAMPLE_VALUES);
    check_bytes_untouched(values, sizeof values);
    assert_int_equal(e.status, EVALUE_NO_SPACE);
    assert_int_equal(e.fault, EVALUE_FAULT_CAPACITY);
    assert_int_equal(e.expected, capacity);
    assert_int_equal(e.found, SAMPLE_VALUES);
    assert_int_equal(e.needed, 0);
  }
  uint64_t n = 0;
  assert_int_equal(evalue_message_decode(in.bytes, in.size, NULL, values, SAMPLE_VALUES, &n, &e), EVALUE_OK);
  assert_int_equal(n, SAMPLE_VALUES);
}

static void test_sequence_does_not_fit_the_array(void **state) {
  (void)state;
  input in;
  evalue all[5], values[5];
  evalue_error e;
  uint64_t n = 0;
  make_sequence(&in);
  assert_int_equal(evalue_sequence_decode(in.bytes, in.size, NULL, all, 5, &n, &e), EVALUE_OK);
  for (size_t capacity = 0; capacity < 5; capacity++) {
    memset(values, UNTOUCHED, sizeof values);
    n = 0;
    assert_int_equal(evalue_sequence_decode(in.bytes, in.size, NULL, values, capacity, &n, &e), EVALUE_NO_SPACE);
    assert_int_equal(n, 5);
    for (size_t i = 0; i < capacity; i++) assert_true(evalue_equal(&values[i], &all[i]));
    check_bytes_untouched(values + capacity, sizeof values - capacity * sizeof values[0]);
    assert_int_equal(e.status, EVALUE_NO_SPACE);
    assert_int_equal(e.expected, capacity);
    assert_int_equal(e.found, 5);
  }
  /* a fault behind the array's end goes before the lack of space */
  in.bytes[in.size++] = 69;
  assert_int_equal(evalue_sequence_decode(in.bytes, in.size, NULL, values, 2, &n, &e), EVALUE_UNSUPPORTED);
  assert_int_equal(e.value_index, 5);
}

static void test_c5_lying_counts(void **state) {
  (void)state;
  static const uint64_t lies[] = {4,
                                  255,
                                  UINT32_MAX - 1,
                                  UINT32_MAX,
                                  UINT64_C(1) << 32,
                                  UINT64_C(0x5555555555555555),
                                  EVALUE_SIZE_LIMIT - 1,
                                  EVALUE_SIZE_LIMIT,
                                  UINT64_C(1) << 63,
                                  UINT64_MAX - 1,
                                  UINT64_MAX};
  input in;
  evalue values[4];
  start_message(&in, 4);
  for (int i = 0; i < 3; i++) add_none(&in);
  for (size_t i = 0; i < COUNT_OF(lies); i++) {
    for (size_t capacity = 0; capacity <= 4; capacity++) {
      uint64_t n = 0;
      evalue_error e;
      end_message(&in, lies[i]);
      memset(values, UNTOUCHED, sizeof values);
      evalue_status status = evalue_message_decode(in.bytes, in.size, NULL, values, capacity, &n, &e);
      assert_int_equal(status, EVALUE_MALFORMED);
      assert_int_equal(e.fault, EVALUE_FAULT_COUNT_TOO_LARGE);
      assert_int_equal(e.position, 16);
      assert_int_equal(e.expected, 3);
      assert_true(e.found == lies[i]);
      check_bytes_untouched(values, sizeof values);
    }
  }
}

/* The largest count that the body could hold, in a body that holds fewer. */
static void test_c5_count_above_what_is_there(void **state) {
  (void)state;
  input in;
  uint64_t n = 0;
  evalue_error e;
  start_message(&in, 4);
  add_string(&in, "0123456789");
  end_message(&in, 2);
  assert_int_equal(evalue_message_decode(in.bytes, in.size, NULL, decoded, 1, &n, &e), EVALUE_NO_SPACE);
  assert_int_equal(n, 2);
  assert_int_equal(evalue_message_decode(in.bytes, in.size, NULL, decoded, 2, &n, &e), EVALUE_MALFORMED);
  assert_int_equal(e.fault, EVALUE_FAULT_COUNT_WRONG);
}

/* More values than announced and than fit: they are judged, but never written. */
static void test_c5_count_below_what_is_there(void **state) {
  (void)state;
  input in;
  evalue values[4];
  evalue_error e;
  start_message(&in, 4);
  for (int i = 0; i < 5; i++) add_int(&in, i);
  for (size_t capacity = 0; capacity < 4; capacity++) {
    uint64_t n = 0;
    end_message(&in, capacity);
    memset(values, UNTOUCHED, sizeof values);
    assert_int_equal(evalue_message_decode(in.bytes, in.size, NULL, values, capacity, &n, &e), EVALUE_MALFORMED);
    assert_int_equal(e.fault, EVALUE_FAULT_COUNT_WRONG);
    assert_int_equal(e.expected, 5);
    assert_int_equal(e.found, capacity);
    assert_true(e.value_index == EVALUE_NO_INDEX);
    check_bytes_untouched(values + capacity, sizeof values - capacity * sizeof values[0]);
  }
}

/* ---- a bare value ---- */

static void test_value_decode(void **state) {
  (void)state;
  input in = {.size = 0};
  evalue v;
  uint64_t used = 0;
  evalue_error e;
  add_int(&in, 42);
  assert_int_equal(evalue_value_decode(in.bytes, in.size, NULL, &v, &used, &e), EVALUE_OK);
  assert_true(v.tag == EVALUE_TAG_INT && v.int_value == 42);
  assert_int_equal(used, 17);
  assert_int_equal(e.status, EVALUE_OK);
  in.size = 0;
  add_head(&in, 200, 3);
  add_text(&in, "abc");
  add_head(&in, 201, 0);
  add_bool(&in, 1);
  assert_int_equal(evalue_value_decode(in.bytes, in.size, NULL, &v, &used, NULL), EVALUE_OK);
  assert_true(v.tag == EVALUE_TAG_BOOL && v.bool_value == 1);
  assert_int_equal(used, 12 + 9 + 10);
}

static void test_value_decode_with_trailing_bytes(void **state) {
  (void)state;
  input in = {.size = 0};
  evalue v;
  uint64_t used = 0;
  evalue_error e;
  evalue_read_options options = {0, 1, 0, 0};
  add_bool(&in, 1);
  add_none(&in);
  assert_int_equal(evalue_value_decode(in.bytes, in.size, NULL, &v, &used, &e), EVALUE_MALFORMED);
  assert_int_equal(e.fault, EVALUE_FAULT_TRAILING_BYTES);
  assert_int_equal(e.position, 10);
  assert_int_equal(evalue_value_decode(in.bytes, in.size, &options, &v, &used, &e), EVALUE_OK);
  assert_true(v.tag == EVALUE_TAG_BOOL && v.bool_value == 1);
  assert_int_equal(used, 10);
  /* an ancillary element describes the value after it, so behind the value it is a byte too many as well */
  in.size = 10;
  add_head(&in, 200, 0);
  assert_int_equal(evalue_value_decode(in.bytes, in.size, NULL, &v, &used, &e), EVALUE_MALFORMED);
}

static void test_value_decode_without_a_value(void **state) {
  (void)state;
  input in = {.size = 0};
  evalue v;
  uint64_t used = 0;
  evalue_error e;
  assert_int_equal(evalue_value_decode(NULL, 0, NULL, &v, &used, &e), EVALUE_TRUNCATED);
  assert_int_equal(e.status, EVALUE_TRUNCATED);
  assert_int_equal(e.position, 0);
  assert_int_equal(e.needed, 9);
  assert_int_equal(e.fault, EVALUE_FAULT_NO_VALUE);
  assert_int_equal(e.field, EVALUE_FIELD_TAG);
  add_head(&in, 200, 3);
  add_text(&in, "abc");
  assert_int_equal(evalue_value_decode(in.bytes, in.size, NULL, &v, &used, &e), EVALUE_TRUNCATED);
  assert_int_equal(e.position, 12);
  assert_int_equal(e.needed, 21);
}

static void test_value_decode_faults(void **state) {
  (void)state;
  input in = {.size = 0};
  evalue v;
  uint64_t used = 0;
  evalue_error e;
  evalue_read_options options = {0, 0, 0, 9};
  add_bool(&in, 2);
  assert_int_equal(evalue_value_decode(in.bytes, in.size, NULL, &v, &used, &e), EVALUE_MALFORMED);
  assert_int_equal(e.position, 9);
  assert_int_equal(evalue_value_decode(in.bytes, in.size, &options, &v, &used, &e), EVALUE_LIMIT);
  in.bytes[0] = 6;
  assert_int_equal(evalue_value_decode(in.bytes, in.size, NULL, &v, &used, &e), EVALUE_UNSUPPORTED);
  assert_int_equal(evalue_value_decode(in.bytes, in.size, NULL, &v, &used, NULL), EVALUE_UNSUPPORTED);
}

/* ---- inputs that are cut ---- */

static void test_b9_every_prefix_of_a_message(void **state) {
  (void)state;
  input in;
  make_sample(&in);
  for (size_t size = 0; size < SAMPLE_SIZE; size++) {
    input prefix = in;
    prefix.size = size;
    evalue_error e = judge(&prefix, true);
    assert_int_equal(e.status, EVALUE_TRUNCATED);
    assert_int_equal(e.needed, size < EVALUE_HEADER_SIZE ? EVALUE_HEADER_SIZE : SAMPLE_SIZE);
    assert_true(e.position <= size);
    assert_true(e.value_index == EVALUE_NO_INDEX);
  }
  assert_int_equal(judge(&in, true).status, EVALUE_OK);
}

static void test_b9_every_prefix_of_a_sequence(void **state) {
  (void)state;
  input in;
  make_sequence(&in);
  size_t start = 0, end = 0; /* of the element that is cut */
  for (size_t size = 0; size <= in.size; size++) {
    input prefix = in;
    prefix.size = size;
    evalue_error e = judge(&prefix, false);
    if (size == end) {
      assert_int_equal(e.status, EVALUE_OK);
      start = end;
      if (start < in.size) end = start + 9 + in.bytes[start + 1]; /* all lengths here are below 256 */
      continue;
    }
    assert_int_equal(e.status, EVALUE_TRUNCATED);
    assert_int_equal(e.field, EVALUE_FIELD_LENGTH);
    assert_int_equal(e.position, start + 1);
    assert_int_equal(e.needed, size - start < 9 ? start + 9 : end);
  }
  assert_int_equal(end, in.size);
}

/* A reader of a pipe: asks for exactly what is needed, and each time gets further, until the whole is there. */
static void check_feeding(const input *in, bool is_message, int most_rounds) {
  size_t size = 0;
  for (int round = 0; round < most_rounds; round++) {
    input prefix = *in;
    prefix.size = size;
    evalue_error e = judge(&prefix, is_message);
    if (e.status == EVALUE_OK && size == in->size) return;
    uint64_t needed = e.status == EVALUE_OK ? size + 9 : e.needed; /* between two elements: the next header */
    assert_true(e.status == EVALUE_OK || e.status == EVALUE_TRUNCATED);
    assert_true(needed > size && needed <= in->size);
    size = (size_t)needed;
  }
  fail_msg("did not come to the end");
}

static void test_needed_is_exact(void **state) {
  (void)state;
  input in;
  make_sample(&in);
  check_feeding(&in, true, 3);
  make_sequence(&in);
  check_feeding(&in, false, 3 * 6 + 1);
}

/* ---- A, size arithmetic ---- */

/* The tensor's sizes stand at 11 in its element, and the fault is at the first size that is too large. */
static void check_extent(uint32_t scalar_type, uint32_t ndim, const int32_t *sizes, uint32_t at) {
  input in = {.size = 0};
  add_tensor(&in, scalar_type, ndim, sizes, 0);
  check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_EXTENT_TOO_LARGE, 11 + 4 * (uint64_t)at);
  start_message(&in, 0);
  add_tensor(&in, scalar_type, ndim, sizes, 0);
  end_message(&in, 1);
  check_fault(&in, true, EVALUE_MALFORMED, EVALUE_FAULT_EXTENT_TOO_LARGE, 24 + 11 + 4 * (uint64_t)at);
}

static void test_a1_product_wraps_to_zero(void **state) {
  (void)state;
  static const int32_t sizes[] = {65536, 65536, 65536, 65536};
  check_extent(EVALUE_UINT8, 4, sizes, 3);
}

static void test_a2_numel_fits_and_bytes_do_not(void **state) {
  (void)state;
  static const int32_t sizes[] = {M, M};
  check_extent(EVALUE_INT64, 2, sizes, 1);
}

static void test_a4_product_fits_unsigned_only(void **state) {
  (void)state;
  static const int32_t sizes[] = {M, M, 4};
  check_extent(EVALUE_UINT8, 3, sizes, 2);
}

static void test_a6_product_wraps_32_bits(void **state) {
  (void)state;
  static const int32_t sizes[] = {65536, 65536};
  input in = {.size = 0};
  add_tensor(&in, EVALUE_UINT8, 2, sizes, 0);
  check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_DATA_LENGTH, 1);
  evalue_error e = judge(&in, false);
  assert_int_equal(e.expected, 12 + (UINT64_C(1) << 32));
  assert_int_equal(e.found, 12);
}

static void test_e2_zero_counts_as_one_in_the_extent(void **state) {
  (void)state;
  static const int32_t zero_first[] = {0, M, M, M}, zero_last[] = {M, M, M, 0}, good[] = {0, M};
  check_extent(EVALUE_UINT8, 4, zero_first, 3);
  check_extent(EVALUE_UINT8, 4, zero_last, 2);
  check_extent(EVALUE_FLOAT32, 4, zero_first, 2);
  check_extent(EVALUE_FLOAT32, 4, zero_last, 1);
  input in = {.size = 0};
  add_tensor(&in, EVALUE_FLOAT32, 2, good, 0);
  assert_int_equal(judge(&in, false).status, EVALUE_OK);
  assert_int_equal(decoded[0].tensor.nbytes, 0);
}

/* ---- B, lengths against what is there ---- */

static void test_b1_string_length_sweep(void **state) {
  (void)state;
  static const evalue_read_options options = {0, 1, 0, 0};
  for (uint64_t length = 0; length <= 20; length++) {
    input in = {.size = 0};
    evalue v;
    uint64_t used = 0;
    evalue_error e;
    add_head(&in, EVALUE_TAG_STRING, length);
    add_text(&in, "wxyz");
    guard_buffer guard = guard_put(in.bytes, 13);
    evalue_status status = evalue_value_decode(guard.data, 13, &options, &v, &used, &e);
    if (length <= 4) {
      assert_int_equal(status, EVALUE_OK);
      assert_int_equal(v.string.nbytes, length);
      assert_int_equal(used, 9 + length);
    } else {
      assert_int_equal(status, EVALUE_TRUNCATED);
      assert_int_equal(e.needed, 9 + length);
      assert_int_equal(e.expected, 4);
      assert_int_equal(e.found, length);
    }
    guard_free(&guard);
    start_message(&in, 4);
    add_head(&in, EVALUE_TAG_STRING, length);
    add_text(&in, "wxyz");
    end_message(&in, 1);
    assert_int_equal(judge(&in, true).status, length == 4  ? EVALUE_OK
                                              : length < 4 ? EVALUE_UNSUPPORTED
                                                           : EVALUE_MALFORMED);
  }
}

static void test_b5_data_shorter_than_sizes(void **state) {
  (void)state;
  static const int32_t sizes[] = {1000, 1000};
  input in = {.size = 0};
  add_tensor(&in, EVALUE_FLOAT32, 2, sizes, 4);
  check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_DATA_LENGTH, 1);
  assert_int_equal(judge(&in, false).expected, 12 + 4000000);
}

static void test_b6_data_longer_than_sizes(void **state) {
  (void)state;
  static const int32_t sizes[] = {1};
  input in = {.size = 0};
  add_tensor(&in, EVALUE_FLOAT32, 1, sizes, 8);
  check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_DATA_LENGTH, 1);
}

/* The length of every type and some shapes, one less and one more; the bytes for each are there. */
static void test_b8_only_the_exact_length(void **state) {
  (void)state;
  static const int32_t shapes[][4] = {{1, 1, 1, 1}, {2, 3, 1, 5}, {0, 3, 2, 2}, {7, 1, 2, 1}};
  static const evalue_read_options options = {0, 1, 0, 0};
  for (uint32_t type = 0; type < 30; type++) {
    for (uint32_t k = 0; k < 5 * COUNT_OF(shapes); k++) {
      const int32_t *sizes = shapes[k / 5];
      size_t nbytes = evalue_element_size(type);
      for (uint32_t i = 0; i < k % 5; i++) nbytes *= (size_t)sizes[i];
      input in = {.size = 0};
      add_tensor(&in, type, k % 5, sizes, nbytes);
      add_number(&in, 0, 1);
      for (uint64_t length = 2 + 5 * (k % 5) + nbytes - 1, i = 0; i < 3; length++, i++) {
        evalue v;
        uint64_t used;
        set_number(in.bytes + 1, length, 8);
        evalue_status status = evalue_value_decode(in.bytes, in.size, &options, &v, &used, NULL);
        assert_int_equal(status, i == 1 ? EVALUE_OK : EVALUE_MALFORMED);
      }
    }
  }
}

static void test_b10_sizes_and_dim_order_cut(void **state) {
  (void)state;
  input in = {.size = 0};
  add_head(&in, EVALUE_TAG_TENSOR, 10);
  add_number(&in, EVALUE_UINT8, 1);
  add_number(&in, 200, 1);
  add_number(&in, 0, 8);
  check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_NDIM_TOO_LARGE, 10);
  for (uint64_t length = 2; length < 2 + 5 * 3; length++) { /* the sizes without the dim_order are at 14 */
    in.size = 0;
    add_head(&in, EVALUE_TAG_TENSOR, length);
    add_number(&in, EVALUE_UINT8, 1);
    add_number(&in, 3, 1);
    for (uint64_t i = 2; i < length; i++) add_number(&in, 0, 1);
    check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_TENSOR_SHORT, 1);
    evalue_error e = judge(&in, false);
    assert_int_equal(e.expected, 17);
    assert_int_equal(e.found, length);
  }
}

/* Memory as high as the system gives it, so that position + length wraps soonest. */
static guard_buffer high_memory(const input *in) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  guard_buffer g = {NULL, NULL, 2 * page};
  for (size_t below = 2; below < 64; below++) {
    void *hint = (void *)((uintptr_t)0 - below * page); // NOLINT: an address on purpose
    void *p = mmap(hint, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) continue;
    if (p == hint || below == 63) {
      g.pages = (uint8_t *)p;
      break;
    }
    munmap(p, g.mapped);
  }
  if (g.pages == NULL) return guard_put(in->bytes, in->size);
  assert_int_equal(mprotect(g.pages + page, page, PROT_NONE), 0);
  g.data = g.pages + page - in->size;
  memcpy(g.data, in->bytes, in->size);
  return g;
}

static void test_b13_huge_lengths(void **state) {
  (void)state;
  static const uint8_t tags[] = {EVALUE_TAG_TENSOR, EVALUE_TAG_STRING, 129, 255};
  input in = {.size = 0};
  add_none(&in);
  add_head(&in, EVALUE_TAG_STRING, 0);
  guard_buffer guard = high_memory(&in);
  uint8_t *end = guard.data + in.size;
  const uint64_t lengths[] = {UINT64_MAX,
                              UINT64_MAX - 8,
                              UINT64_MAX - 17,
                              UINT64_C(1) << 63,
                              EVALUE_SIZE_LIMIT,
                              EVALUE_SIZE_LIMIT - 1,
                              (uintptr_t)0 - (uintptr_t)end,
                              (uintptr_t)0 - (uintptr_t)end + 1,
                              UINT32_MAX,
                              UINT32_MAX - UINT64_C(17),
                              UINT64_C(1) << 32,
                              SIZE_MAX,
                              SIZE_MAX - 8,
                              1};
  for (size_t t = 0; t < COUNT_OF(tags); t++) {
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
      evalue_error e;
      uint64_t n;
      if (tags[t] == EVALUE_TAG_TENSOR && lengths[i] == 1) continue; /* wrong in another way */
      guard.data[9] = tags[t];
      set_number(guard.data + 10, lengths[i], 8);
      evalue_status status = evalue_sequence_decode(guard.data, in.size, NULL, decoded, CAPACITY, &n, &e);
      bool is_too_large = lengths[i] >= EVALUE_SIZE_LIMIT;
      assert_int_equal(status, is_too_large ? EVALUE_MALFORMED : EVALUE_TRUNCATED);
      assert_int_equal(e.fault, is_too_large ? EVALUE_FAULT_LENGTH_TOO_LARGE : EVALUE_FAULT_LENGTH_PAST_END);
      assert_int_equal(e.position, 10);
      assert_true(e.needed == (is_too_large ? 0 : 18 + lengths[i]));
    }
  }
  guard_free(&guard);
}

static void test_b13_huge_body_lengths(void **state) {
  (void)state;
  static const uint64_t lengths[] = {UINT64_MAX,
                                     UINT64_MAX - 23,
                                     UINT64_MAX - 24,
                                     EVALUE_SIZE_LIMIT,
                                     EVALUE_SIZE_LIMIT - 1,
                                     UINT32_MAX,
                                     UINT32_MAX - UINT64_C(23),
                                     UINT64_C(1) << 32,
                                     1};
  input in;
  start_message(&in, 4);
  for (size_t i = 0; i < COUNT_OF(lengths); i++) {
    set_number(in.bytes + 8, lengths[i], 8);
    bool is_too_large = lengths[i] >= EVALUE_SIZE_LIMIT;
    evalue_error e = judge(&in, true);
    assert_int_equal(e.status, is_too_large ? EVALUE_MALFORMED : EVALUE_TRUNCATED);
    assert_int_equal(e.fault, is_too_large ? EVALUE_FAULT_BODY_TOO_LARGE : EVALUE_FAULT_BODY_SHORT);
    assert_int_equal(e.position, 8);
    assert_true(e.needed == (is_too_large ? 0 : 24 + lengths[i]));
  }
}

/* ---- C, work and memory before judgement ---- */

static void test_c1_few_bytes_ask_for_much(void **state) {
  (void)state;
  input in = {.size = 0};
  add_head(&in, EVALUE_TAG_STRING, UINT64_C(1) << 40);
  check_fault(&in, false, EVALUE_TRUNCATED, EVALUE_FAULT_LENGTH_PAST_END, 1);
  assert_true(judge(&in, false).needed == (UINT64_C(1) << 40) + 9);
  start_message(&in, 4);
  add_head(&in, EVALUE_TAG_STRING, UINT64_C(1) << 40);
  end_message(&in, 1);
  check_fault(&in, true, EVALUE_MALFORMED, EVALUE_FAULT_LENGTH_PAST_END, 25);
}

/* A MiB of values without payload: each is judged once, and none needs memory. */
static void test_c4_many_empty_values(void **state) {
  (void)state;
  enum { MIB = 1 << 20, TENSOR = 21 };
  static uint8_t bytes[MIB];
  static const uint8_t tensor[TENSOR] = {1, 12, 0, 0, 0, 0, 0, 0, 0, 6, 2, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0, 1};
  uint64_t n = 0;
  assert_int_equal(evalue_sequence_decode(bytes, MIB / 9 * 9, NULL, decoded, CAPACITY, &n, NULL), EVALUE_NO_SPACE);
  assert_int_equal(n, MIB / 9);
  for (size_t i = 0; i < MIB / TENSOR; i++) memcpy(bytes + i * TENSOR, tensor, TENSOR);
  assert_int_equal(evalue_sequence_decode(bytes, MIB / TENSOR * TENSOR, NULL, NULL, 0, &n, NULL), EVALUE_NO_SPACE);
  assert_int_equal(n, MIB / TENSOR);
}

static void test_c6_every_ndim(void **state) {
  (void)state;
  static int32_t sizes[256];
  for (uint32_t i = 0; i < 256; i++) sizes[i] = 1;
  for (uint32_t ndim = 0; ndim < 256; ndim++) {
    input in = {.size = 0};
    add_tensor(&in, EVALUE_UINT8, ndim, sizes, 1);
    evalue_error e = judge(&in, false);
    if (ndim <= 16) {
      assert_int_equal(e.status, EVALUE_OK);
      assert_int_equal(decoded[0].tensor.ndim, ndim);
      for (uint32_t i = 0; i < ndim; i++) assert_int_equal(decoded[0].tensor.dim_order[i], i);
    } else {
      assert_int_equal(e.status, EVALUE_MALFORMED);
      assert_int_equal(e.fault, EVALUE_FAULT_NDIM_TOO_LARGE);
      assert_int_equal(e.position, 10);
      assert_int_equal(e.found, ndim);
    }
  }
}

/* ---- D and E, what a tensor says about itself ---- */

static void test_d1_negative_sizes(void **state) {
  (void)state;
  static const int32_t negative[] = {-1, -2, INT32_MIN};
  for (uint32_t at = 0; at < 16; at++) {
    for (size_t i = 0; i < COUNT_OF(negative); i++) {
      int32_t sizes[16] = {1, 0, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
      input in = {.size = 0};
      sizes[at] = negative[i];
      add_tensor(&in, EVALUE_INT16, 16, sizes, 0);
      check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_NEGATIVE_SIZE, 11 + 4 * (uint64_t)at);
      assert_true(judge(&in, false).found == (uint64_t)(int64_t)negative[i]);
    }
  }
}

static void test_d3_every_scalar_type(void **state) {
  (void)state;
  static const uint8_t element_sizes[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4,
                                          2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1,  1, 2, 4, 8};
  for (uint32_t type = 0; type < 256; type++) {
    bool is_known = type < COUNT_OF(element_sizes);
    input in = {.size = 0};
    add_tensor(&in, type, 0, NULL, is_known ? element_sizes[type] : 1);
    evalue_error e = judge(&in, false);
    assert_int_equal(e.status, is_known ? EVALUE_OK : EVALUE_UNSUPPORTED);
    if (is_known) {
      assert_int_equal(decoded[0].tensor.scalar_type, type);
    } else {
      assert_int_equal(e.fault, EVALUE_FAULT_UNKNOWN_SCALAR_TYPE);
      assert_int_equal(e.position, 9);
      assert_int_equal(e.found, type);
    }
  }
}

static void test_d5_every_bool(void **state) {
  (void)state;
  for (uint32_t byte = 0; byte < 256; byte++) {
    input in = {.size = 0};
    add_bool(&in, byte);
    evalue_error e = judge(&in, false);
    assert_int_equal(e.status, byte < 2 ? EVALUE_OK : EVALUE_MALFORMED);
    if (byte < 2) {
      assert_int_equal(decoded[0].bool_value, byte);
    } else {
      assert_int_equal(e.fault, EVALUE_FAULT_BAD_BOOL);
      assert_int_equal(e.position, 9);
      assert_int_equal(e.found, byte);
    }
  }
}

static void test_every_dim_order_of_three(void **state) {
  (void)state;
  static const int32_t sizes[] = {1, 1, 1};
  for (uint32_t code = 0; code < 64; code++) {
    const uint32_t order[] = {code % 4, code / 4 % 4, code / 16};
    input in = {.size = 0};
    uint32_t at = 0, seen = 0;
    add_tensor(&in, EVALUE_UINT8, 3, sizes, 1);
    for (uint32_t i = 0; i < 3; i++) in.bytes[23 + i] = (uint8_t)order[i];
    for (; at < 3 && order[at] < 3 && (seen & 1U << order[at]) == 0; at++) seen |= 1U << order[at];
    if (at == 3) {
      assert_int_equal(judge(&in, false).status, EVALUE_OK);
      for (uint32_t i = 0; i < 3; i++) assert_int_equal(decoded[0].tensor.dim_order[i], order[i]);
    } else {
      evalue_fault fault = order[at] < 3 ? EVALUE_FAULT_DIM_ORDER_REPEATED : EVALUE_FAULT_DIM_ORDER_RANGE;
      check_fault(&in, false, EVALUE_MALFORMED, fault, 23 + at);
    }
  }
}

static void test_e3_tensor_without_dimensions(void **state) {
  (void)state;
  input in = {.size = 0};
  add_tensor(&in, EVALUE_FLOAT32, 0, NULL, 4);
  assert_int_equal(judge(&in, false).status, EVALUE_OK);
  assert_int_equal(decoded[0].tensor.ndim, 0);
  assert_int_equal(decoded[0].tensor.nbytes, 4);
  in.size = 0;
  add_tensor(&in, EVALUE_FLOAT32, 0, NULL, 0);
  check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_DATA_LENGTH, 1);
}

/* ---- F and G, byte order and alignment ---- */

static void test_f1_numbers_on_any_host(void **state) {
  (void)state;
  static const uint8_t bytes[] = {4, 8, 0, 0, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3,    2,    0x81, 3,
                                  8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0xbf, 1,    9,
                                  0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1,    2};
  uint64_t n = 0;
  assert_int_equal(evalue_sequence_decode(bytes, sizeof bytes, NULL, decoded, CAPACITY, &n, NULL), EVALUE_OK);
  assert_int_equal(n, 3);
  assert_true((uint64_t)decoded[0].int_value == UINT64_C(0x8102030405060708));
  assert_true(decoded[1].double_value == -1.5);
  assert_int_equal(decoded[2].tensor.sizes[0], 2);
}

/* The data of the float tensor is at 26, so at no address that suits a float. */
static void test_g2_misaligned_tensor_data(void **state) {
  (void)state;
  static const int32_t two = 2;
  _Alignas(16) uint8_t memory[64];
  input in = {.size = 0};
  uint64_t n = 0;
  float floats[2];
  add_string(&in, "x");
  add_tensor(&in, EVALUE_FLOAT32, 1, &two, 8);
  set_number(in.bytes + 26, 0x3fc00000, 4);
  set_number(in.bytes + 30, 0xc0000000, 4);
  memcpy(memory, in.bytes, in.size);
  assert_int_equal(evalue_sequence_decode(memory, in.size, NULL, decoded, CAPACITY, &n, NULL), EVALUE_OK);
  assert_null(evalue_tensor_typed_data(&decoded[1].tensor, EVALUE_FLOAT32));
  assert_int_equal(evalue_tensor_copy(&decoded[1].tensor, NULL, EVALUE_HOST_ENDIAN, floats, sizeof floats), EVALUE_OK);
  assert_true(floats[0] == 1.5F && floats[1] == -2.0F);
}

static void test_g3_any_base_address(void **state) {
  (void)state;
  input in;
  uint8_t memory[SAMPLE_SIZE + 16];
  evalue first[SAMPLE_VALUES];
  uint64_t n = 0;
  make_sample(&in);
  assert_int_equal(evalue_message_decode(in.bytes, in.size, NULL, first, SAMPLE_VALUES, &n, NULL), EVALUE_OK);
  for (size_t base = 0; base < 16; base++) {
    memcpy(memory + base, in.bytes, in.size);
    assert_int_equal(evalue_message_decode(memory + base, in.size, NULL, decoded, CAPACITY, &n, NULL), EVALUE_OK);
    for (size_t i = 0; i < SAMPLE_VALUES; i++) assert_true(evalue_equal(&decoded[i], &first[i]));
    assert_ptr_equal(decoded[2].tensor.data, memory + base + 80);
  }
}

/* ---- the cost of a message is the cost of its structure ---- */

/* A tensor of 16 GiB of which only the first page can be read: no payload byte is needed to judge it. */
static void test_no_payload_byte_is_read(void **state) {
  (void)state;
#if UINTPTR_MAX > UINT32_MAX
  static const int32_t sizes[] = {4, 1 << 30, 1};
  const uint64_t nbytes = UINT64_C(16) << 30;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t mapped = (size_t)nbytes + page;
  input in;
  uint64_t n = 0;
  start_message(&in, 4);
  add_none(&in);
  add_pad(&in, 12); /* without it the data would be at 59, and 59 + 9 + 12 is a multiple of 16 */
  add_tensor(&in, EVALUE_FLOAT32, 3, sizes, 0);
  set_number(in.bytes + in.size - 17 - 8, 17 + nbytes, 8);
  end_message(&in, 2);
  set_number(in.bytes + 8, in.size - EVALUE_HEADER_SIZE + nbytes, 8);
  void *p = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) skip();
  assert_int_equal(mprotect(p, page, PROT_READ | PROT_WRITE), 0);
  memcpy(p, in.bytes, in.size);
  evalue values[2];
  assert_int_equal(evalue_message_decode(p, in.size + (size_t)nbytes, NULL, values, 2, &n, NULL), EVALUE_OK);
  assert_true(values[1].tag == EVALUE_TAG_TENSOR && values[1].tensor.nbytes == nbytes);
  assert_int_equal(evalue_tensor_numel(&values[1].tensor), UINT64_C(1) << 32);
  munmap(p, mapped);
#else
  skip();
#endif
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_pull_gives_every_value),
    cmocka_unit_test(test_skip_checks_all_the_same),
    cmocka_unit_test(test_elements_of_every_kind),
    cmocka_unit_test(test_elements_into_nothing),
    cmocka_unit_test(test_elements_and_values_in_turn),
    cmocka_unit_test(test_pad_is_judged_with_its_tensor),
    cmocka_unit_test(test_copied_reader_comes_back),
    cmocka_unit_test(test_copied_reader_comes_back_behind_a_pad),
    cmocka_unit_test(test_fault_stays),
    cmocka_unit_test(test_fault_at_the_end_stays),
    cmocka_unit_test(test_fault_of_the_header_stays),
    cmocka_unit_test(test_fault_of_starting_a_sequence_stays),
    cmocka_unit_test(test_end_stays),
    cmocka_unit_test(test_sequence_counts_as_it_goes),
    cmocka_unit_test(test_options_size),
    cmocka_unit_test(test_limit_on_values),
    cmocka_unit_test(test_limit_on_values_that_were_not_announced),
    cmocka_unit_test(test_limit_on_bytes),
    cmocka_unit_test(test_trailing_bytes),
    cmocka_unit_test(test_null_is_misuse),
    cmocka_unit_test(test_misuse_needs_no_bytes),
    cmocka_unit_test(test_empty_input),
    cmocka_unit_test(test_message_does_not_fit_the_array),
    cmocka_unit_test(test_sequence_does_not_fit_the_array),
    cmocka_unit_test(test_c5_lying_counts),
    cmocka_unit_test(test_c5_count_above_what_is_there),
    cmocka_unit_test(test_c5_count_below_what_is_there),
    cmocka_unit_test(test_value_decode),
    cmocka_unit_test(test_value_decode_with_trailing_bytes),
    cmocka_unit_test(test_value_decode_without_a_value),
    cmocka_unit_test(test_value_decode_faults),
    cmocka_unit_test(test_b9_every_prefix_of_a_message),
    cmocka_unit_test(test_b9_every_prefix_of_a_sequence),
    cmocka_unit_test(test_needed_is_exact),
    cmocka_unit_test(test_a1_product_wraps_to_zero),
    cmocka_unit_test(test_a2_numel_fits_and_bytes_do_not),
    cmocka_unit_test(test_a4_product_fits_unsigned_only),
    cmocka_unit_test(test_a6_product_wraps_32_bits),
    cmocka_unit_test(test_e2_zero_counts_as_one_in_the_extent),
    cmocka_unit_test(test_b1_string_length_sweep),
    cmocka_unit_test(test_b5_data_shorter_than_sizes),
    cmocka_unit_test(test_b6_data_longer_than_sizes),
    cmocka_unit_test(test_b8_only_the_exact_length),
    cmocka_unit_test(test_b10_sizes_and_dim_order_cut),
    cmocka_unit_test(test_b13_huge_lengths),
    cmocka_unit_test(test_b13_huge_body_lengths),
    cmocka_unit_test(test_c1_few_bytes_ask_for_much),
    cmocka_unit_test(test_c4_many_empty_values),
    cmocka_unit_test(test_c6_every_ndim),
    cmocka_unit_test(test_d1_negative_sizes),
    cmocka_unit_test(test_d3_every_scalar_type),
    cmocka_unit_test(test_d5_every_bool),
    cmocka_unit_test(test_every_dim_order_of_three),
    cmocka_unit_test(test_e3_tensor_without_dimensions),
    cmocka_unit_test(test_f1_numbers_on_any_host),
    cmocka_unit_test(test_g2_misaligned_tensor_data),
    cmocka_unit_test(test_g3_any_base_address),
    cmocka_unit_test(test_no_payload_byte_is_read),
};

int main(void) {
  return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
