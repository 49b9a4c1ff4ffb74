/* SPDX-License-Identifier: BSD-3-Clause */
/* What a caller gives a reader: options, limits, wrong arguments, and an array that is too small. */
#include "reader_input.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
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
  };
  return cmocka_run_group_tests_name("reader_options", tests, NULL, NULL);
}
