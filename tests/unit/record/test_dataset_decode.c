/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of messages, and what a schema says of them. */
#include "dataset_support.h"

static evalue tensor_of(uint32_t scalar_type, size_t ndim, const int32_t *sizes) {
  static uint8_t zeros[4096];
  evalue_tensor t;
  uint64_t nbytes = 0;
  assert_int_equal(evalue_tensor_nbytes(scalar_type, ndim, sizes, &nbytes), EVALUE_OK);
  assert_true(nbytes <= sizeof zeros);
  assert_int_equal(evalue_tensor_init(&t, scalar_type, ndim, sizes, zeros, (size_t)nbytes), EVALUE_OK);
  return evalue_from_tensor(&t);
}

static void check_schema(const evalue_schema_value *schema, size_t n, const evalue *values, size_t count,
                         uint64_t index, const char *text) {
  char found[200] = "none";
  uint64_t at = UINT64_MAX;
  evalue_status status = evalue_schema_check(schema, n, values, count, &at, found, sizeof found);
  assert_int_equal(status, text != NULL ? EVALUE_MALFORMED : EVALUE_OK);
  assert_string_equal(found, text != NULL ? text : "none");
  assert_int_equal(at, text != NULL ? index : UINT64_MAX);
}

static void test_schema(void **state) {
  (void)state;
  static const struct {
    evalue_schema_value schema;
    const char *texts[8]; /* for each value below; NULL: it fits */
  } cases[] = {
      {{.tag = EVALUE_ANY}, {NULL}},
      {{.tag = EVALUE_TAG_NONE},
       {NULL, "expected None, found Bool", "expected None, found Int", "expected None, found Double",
        "expected None, found String", "expected None, found Tensor float32 []",
        "expected None, found Tensor float32 [3, 2]", "expected None, found Tensor int64 [3, 2]"}},
      {{.tag = EVALUE_TAG_INT, .may_be_none = 1},
       {NULL, "expected Int or None, found Bool", NULL, "expected Int or None, found Double",
        "expected Int or None, found String", "expected Int or None, found Tensor float32 []",
        "expected Int or None, found Tensor float32 [3, 2]", "expected Int or None, found Tensor int64 [3, 2]"}},
      {{.tag = EVALUE_TAG_TENSOR, .scalar_type = EVALUE_ANY, .ndim = EVALUE_ANY},
       {"expected Tensor, found None", "expected Tensor, found Bool", "expected Tensor, found Int",
        "expected Tensor, found Double", "expected Tensor, found String", NULL, NULL, NULL}},
      {{.tag = EVALUE_TAG_TENSOR, .scalar_type = EVALUE_FLOAT32, .ndim = EVALUE_ANY, .may_be_none = 1},
       {NULL, "expected Tensor float32 or None, found Bool", "expected Tensor float32 or None, found Int",
        "expected Tensor float32 or None, found Double", "expected Tensor float32 or None, found String", NULL, NULL,
        "expected Tensor float32 or None, found Tensor int64 [3, 2]"}},
      {{.tag = EVALUE_TAG_TENSOR, .scalar_type = EVALUE_ANY, .ndim = 2, .sizes = {EVALUE_ANY_SIZE, 2}},
       {"expected Tensor [?, 2], found None", "expected Tensor [?, 2], found Bool", "expected Tensor [?, 2], found Int",
        "expected Tensor [?, 2], found Double", "expected Tensor [?, 2], found String",
        "expected Tensor [?, 2], found Tensor float32 []", NULL, NULL}},
      {{.tag = EVALUE_TAG_TENSOR, .scalar_type = EVALUE_FLOAT32, .ndim = 2, .sizes = {3, 4}},
       {"expected Tensor float32 [3, 4], found None", "expected Tensor float32 [3, 4], found Bool",
        "expected Tensor float32 [3, 4], found Int", "expected Tensor float32 [3, 4], found Double",
        "expected Tensor float32 [3, 4], found String", "expected Tensor float32 [3, 4], found Tensor float32 []",
        "expected Tensor float32 [3, 4], found Tensor float32 [3, 2]",
        "expected Tensor float32 [3, 4], found Tensor int64 [3, 2]"}},
  };
  const int32_t sizes[2] = {3, 2};
  const evalue values[8] = {evalue_from_none(),
                            evalue_from_bool(true),
                            evalue_from_int(1),
                            evalue_from_double(1),
                            evalue_from_string("x", 1),
                            tensor_of(EVALUE_FLOAT32, 0, NULL),
                            tensor_of(EVALUE_FLOAT32, 2, sizes),
                            tensor_of(EVALUE_INT64, 2, sizes)};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    for (size_t k = 0; k < 8; k++) check_schema(&cases[i].schema, 1, &values[k], 1, 0, cases[i].texts[k]);
  }
}

static void test_schema_of_several(void **state) {
  (void)state;
  const evalue_schema_value schema[3] = {{.tag = EVALUE_TAG_INT}, {.tag = EVALUE_TAG_BOOL}, {.tag = EVALUE_ANY}};
  evalue values[4] = {evalue_from_int(1), evalue_from_bool(true), evalue_from_int(1), evalue_from_int(1)};
  check_schema(schema, 3, values, 3, 0, NULL);
  check_schema(schema, 3, values, 2, 2, "expected 3 values, found 2");
  check_schema(schema, 3, values, 4, 3, "expected 3 values, found 4");
  check_schema(schema, 3, NULL, 0, 0, "expected 3 values, found 0");
  check_schema(NULL, 0, values, 1, 0, "expected 0 values, found 1");
  check_schema(NULL, 0, NULL, 0, 0, NULL);
  values[1] = evalue_from_none();
  check_schema(schema, 3, values, 4, 1, "expected Bool, found None");
}

static void test_schema_is_cut_and_refused(void **state) {
  (void)state;
  const evalue_schema_value schema = {.tag = EVALUE_TAG_INT}, bad = {.tag = 77};
  evalue value = evalue_from_none();
  char text[32];
  for (size_t capacity = 0; capacity <= sizeof text; capacity++) {
    memset(text, 'x', sizeof text);
    assert_int_equal(evalue_schema_check(&schema, 1, &value, 1, NULL, text, capacity), EVALUE_MALFORMED);
    size_t length = strlen("expected Int, found None");
    if (capacity > 0) assert_int_equal(strnlen(text, capacity), capacity > length ? length : capacity - 1);
    if (capacity < sizeof text) assert_int_equal(text[capacity], 'x');
  }
  assert_int_equal(evalue_schema_check(&schema, 1, &value, 1, NULL, NULL, 0), EVALUE_MALFORMED);
  assert_int_equal(evalue_schema_check(&schema, 1, &value, 1, NULL, NULL, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_schema_check(NULL, 1, &value, 1, NULL, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_schema_check(&schema, 1, NULL, 1, NULL, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_schema_check(&bad, 1, &value, 1, NULL, NULL, 0), EVALUE_MISUSE);
}

/* ---- the stage ---- */

static const evalue_schema_value schema[2] = {
    {.tag = EVALUE_TAG_TENSOR, .scalar_type = EVALUE_FLOAT32, .ndim = 1, .sizes = {3}}, {.tag = EVALUE_TAG_INT}};

static void test_decode(void **state) {
  (void)state;
  examples *e = new_examples(5);
  evalue_memory_dataset memory;
  evalue_decode_dataset d;
  evalue_example example;
  evalue_memory_dataset_init(&memory, e->slices, 5);
  assert_int_equal(evalue_decode_dataset_init(&d, &memory.dataset, schema, 2, NULL), EVALUE_OK);
  for (int epoch = 0; epoch < 2; epoch++) {
    for (uint64_t i = 0; i < 5; i++) {
      assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
      assert_int_equal(example.count, 2);
      assert_int_equal(example.values[1].int_value, i);
      const uint8_t *data = (const uint8_t *)example.values[0].tensor.data; /* in the message */
      assert_in_range(data - (const uint8_t *)example.bytes.data, 24, example.bytes.size);
      assert_int_equal(example.index, i);
    }
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_END);
    assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
  }
  evalue_dataset_close(&d.dataset);
  free(e);
}

/* Messages of different values after each other: what one was like does not colour the next. */
static void test_decode_of_anything(void **state) {
  (void)state;
  examples *e = new_examples(0);
  float numbers[4] = {1, 2, 3, 4};
  evalue many[30];
  for (size_t i = 0; i < 30; i++) many[i] = evalue_from_int((int64_t)i);
  const evalue kinds[] = {evalue_from_none(),           evalue_from_bool(false),      evalue_from_bool(true),
                          evalue_from_int(-1),          evalue_from_double(0.5),      evalue_from_string("", 0),
                          evalue_from_string("abc", 3), evalue_from_string("abd", 3), floats_of(numbers, 4),
                          floats_of(numbers, 3),        floats_of(numbers + 1, 3),    floats_of(numbers, 0)};
  add_values(e, NULL, 0);
  for (size_t i = 0; i < COUNT_OF(kinds); i++) {
    for (size_t k = 0; k < COUNT_OF(kinds); k++) add_values(e, (const evalue[]){kinds[i], kinds[k]}, 2);
  }
  add_values(e, many, 30); /* more than there is room for at first */
  add_values(e, many, 1);
  evalue_memory_dataset memory;
  evalue_decode_dataset d;
  evalue_example example;
  evalue_memory_dataset_init(&memory, e->slices, e->count);
  assert_int_equal(evalue_decode_dataset_init(&d, &memory.dataset, NULL, 0, NULL), EVALUE_OK);
  for (size_t i = 0; i < e->count; i++) {
    evalue expected[32];
    uint64_t n = 0;
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    assert_int_equal(evalue_message_decode(e->slices[i].data, e->slices[i].size, NULL, expected, 32, &n, NULL),
                     EVALUE_OK);
    assert_non_null(example.values);
    assert_int_equal(example.count, n);
    for (size_t k = 0; k < n; k++) {
      assert_true(evalue_equal(&example.values[k], &expected[k]));
      if (expected[k].tag == EVALUE_TAG_TENSOR) {
        assert_ptr_equal(example.values[k].tensor.data, expected[k].tensor.data);
      }
    }
  }
  evalue_dataset_close(&d.dataset);
  free(e);
}

/* Every bit of a message flipped, after good ones of the same size: the same status as decoding it alone. */
static void test_decode_after_good_ones(void **state) {
  (void)state;
  enum { GOOD = 3 };
  float numbers[3] = {1, 2, 3};
  examples *e = new_examples(0);
  const evalue values[] = {evalue_from_bool(true), floats_of(numbers, 3), evalue_from_string("ab", 2),
                           evalue_from_int(3), evalue_from_double(4)};
  for (int i = 0; i < GOOD + 1; i++) add_values(e, values, COUNT_OF(values));
  for (size_t bit = 0; bit < 8 * e->slices[GOOD].size; bit++) {
    evalue_memory_dataset memory;
    evalue_decode_dataset d;
    evalue_example example;
    evalue expected[8];
    evalue_error error;
    uint64_t n = 0;
    e->bytes[GOOD][bit / 8] ^= (uint8_t)(1 << bit % 8);
    evalue_status status = evalue_message_decode(e->bytes[GOOD], e->slices[GOOD].size, NULL, expected, 8, &n, &error);
    evalue_memory_dataset_init(&memory, e->slices, GOOD + 1);
    assert_int_equal(evalue_decode_dataset_init(&d, &memory.dataset, NULL, 0, NULL), EVALUE_OK);
    for (int i = 0; i < GOOD; i++) assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    if (status == EVALUE_NO_SPACE) status = EVALUE_MALFORMED; /* here there is room for any number */
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), status);
    if (status == EVALUE_OK) {
      assert_int_equal(example.count, n);
      for (size_t k = 0; k < n; k++) assert_true(evalue_equal(&example.values[k], &expected[k]));
    } else if (error.status == (int32_t)status) {
      assert_memory_equal(&d.dataset.error.fault, &error, sizeof error);
    }
    evalue_dataset_close(&d.dataset);
    e->bytes[GOOD][bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  free(e);
}

/* The same values of every kind, again and again with other contents: what changes is what is seen. */
static void test_decode_of_like_ones(void **state) {
  (void)state;
  examples *e = new_examples(0);
  for (int i = 0; i < 10; i++) {
    float numbers[3] = {(float)i, (float)-i, 0.5f};
    const char text[2] = {(char)('a' + i), 'z'};
    add_values(e,
               (const evalue[]){evalue_from_none(), evalue_from_bool(i % 2 == 0), evalue_from_int(-i),
                                evalue_from_double(i / 4.0), evalue_from_string(text, 2), floats_of(numbers, 3)},
               6);
  }
  evalue_memory_dataset memory;
  evalue_decode_dataset d;
  evalue_example example;
  evalue_memory_dataset_init(&memory, e->slices, e->count);
  assert_int_equal(evalue_decode_dataset_init(&d, &memory.dataset, NULL, 0, NULL), EVALUE_OK);
  for (size_t i = 0; i < e->count; i++) {
    evalue expected[6];
    uint64_t n = 0;
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    assert_int_equal(evalue_message_decode(e->slices[i].data, e->slices[i].size, NULL, expected, 6, &n, NULL),
                     EVALUE_OK);
    assert_int_equal(example.count, 6);
    for (size_t k = 0; k < 6; k++) assert_true(evalue_equal(&example.values[k], &expected[k]));
  }
  evalue_dataset_close(&d.dataset);
  free(e);
}

static void check_failure(const examples *e, const evalue_schema_value *wanted, size_t n, uint64_t value_index,
                          evalue_status expected, const char *text) {
  evalue_memory_dataset memory;
  evalue_decode_dataset d;
  evalue_example example;
  evalue_memory_dataset_init(&memory, e->slices, e->count);
  assert_int_equal(evalue_decode_dataset_init(&d, &memory.dataset, wanted, n, NULL), EVALUE_OK);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  for (int again = 0; again < 2; again++) {
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), expected);
    assert_string_equal(d.dataset.error.text, text);
    assert_int_equal(d.dataset.error.index, 1);
    assert_int_equal(d.dataset.error.value_index, value_index);
    assert_string_equal(d.dataset.error.source, "memory");
  }
  evalue_dataset_close(&d.dataset);
}

static void test_decode_that_fails(void **state) {
  (void)state;
  float numbers[4] = {1, 2, 3, 4};
  examples *e = new_examples(1);
  const evalue one_more[] = {floats_of(numbers, 4), evalue_from_int(1)};
  add_values(e, one_more, 2);
  check_failure(e, schema, 2, 0, EVALUE_MALFORMED,
                "memory: record 1: value 0: expected Tensor float32 [3], found Tensor float32 [4]");
  e->count = 1;
  add_values(e, one_more + 1, 1);
  check_failure(e, schema, 2, 0, EVALUE_MALFORMED, "memory: record 1: value 0: expected Tensor float32 [3], found Int");
  e->count = 1;
  add_number(e, 1);
  e->slices[1].size = 0;
  check_failure(e, schema, 2, EVALUE_NO_INDEX, EVALUE_MALFORMED,
                "memory: record 1: expected a message, found no bytes");
  e->slices[1].size = 30;
  check_failure(e, schema, 2, EVALUE_NO_INDEX, EVALUE_TRUNCATED,
                "memory: record 1: offset 8: truncated: body_length: the input ends before the body does: needs at "
                "least 93 bytes of input, has 30");
  e->count = 1;
  add_number(e, 1);
  e->bytes[1][48] = 99; /* the tensor's tag */
  evalue_error error;
  evalue values[2];
  uint64_t n;
  char text[300], whole[400];
  evalue_status status = evalue_message_decode(e->bytes[1], e->slices[1].size, NULL, values, 2, &n, &error);
  evalue_print_error(&error, text, sizeof text);
  assert_true(snprintf(whole, sizeof whole, "memory: record 1: %s", text) > 0);
  assert_int_equal(status, EVALUE_MALFORMED); /* there is a Pad before it */
  check_failure(e, schema, 2, 0, status, whole);
  free(e);
}

static void test_decode_that_skips(void **state) {
  (void)state;
  examples *e = new_examples(6);
  evalue value = evalue_from_none();
  const evalue_decode_options skip = {.skip = 1};
  e->slices[0].size = 0;
  e->slices[2].size = 30;
  e->bytes[3][0] = 'X';
  e->count = 4;
  add_values(e, &value, 1); /* in place of number 4 */
  add_number(e, 5);
  evalue_memory_dataset memory;
  evalue_decode_dataset d;
  evalue_memory_dataset_init(&memory, e->slices, e->count);
  assert_int_equal(evalue_decode_dataset_init(&d, &memory.dataset, schema, 2, &skip), EVALUE_OK);
  for (int epoch = 0; epoch < 2; epoch++) {
    check_numbers(&d.dataset, (const int64_t[]){1, 5}, 2);
    assert_int_equal(d.skipped, 4);
    assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
    assert_int_equal(d.skipped, 0);
  }
  evalue_dataset_close(&d.dataset);
  free(e);
}

/* Examples that have values already are checked, and passed on. */
static void test_decode_of_values(void **state) {
  (void)state;
  examples *e = new_examples(3);
  evalue_memory_dataset memory;
  evalue_decode_dataset one, two;
  const evalue_schema_value wrong = {.tag = EVALUE_TAG_INT};
  evalue_example example;
  evalue_memory_dataset_init(&memory, e->slices, e->count);
  evalue_decode_dataset_init(&one, &memory.dataset, NULL, 0, NULL);
  assert_int_equal(evalue_decode_dataset_init(&two, &one.dataset, schema, 2, NULL), EVALUE_OK);
  check_numbers(&two.dataset, (const int64_t[]){0, 1, 2}, 3);
  evalue_dataset_close(&two.dataset);
  evalue_memory_dataset_init(&memory, e->slices, e->count);
  evalue_decode_dataset_init(&one, &memory.dataset, NULL, 0, NULL);
  assert_int_equal(evalue_decode_dataset_init(&two, &one.dataset, &wrong, 1, NULL), EVALUE_OK);
  assert_int_equal(evalue_dataset_next(&two.dataset, &example), EVALUE_MALFORMED);
  evalue_dataset_close(&two.dataset);
  free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_schema),
      cmocka_unit_test(test_schema_of_several),
      cmocka_unit_test(test_schema_is_cut_and_refused),
      cmocka_unit_test(test_decode),
      cmocka_unit_test(test_decode_of_anything),
      cmocka_unit_test(test_decode_after_good_ones),
      cmocka_unit_test(test_decode_of_like_ones),
      cmocka_unit_test(test_decode_that_fails),
      cmocka_unit_test(test_decode_that_skips),
      cmocka_unit_test(test_decode_of_values),
  };
  return cmocka_run_group_tests_name("dataset decode", tests, NULL, NULL);
}
