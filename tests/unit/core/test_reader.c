/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes to values, one at a time: what reader.h promises for each call, what stays, and bare values. */
#include "reader_input.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
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
      cmocka_unit_test(test_value_decode),
      cmocka_unit_test(test_value_decode_with_trailing_bytes),
      cmocka_unit_test(test_value_decode_without_a_value),
      cmocka_unit_test(test_value_decode_faults),
  };
  return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
