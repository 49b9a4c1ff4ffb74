/* SPDX-License-Identifier: BSD-3-Clause */
/* What a writer of ExecuTorch's Android bytes refuses, and that it writes nothing then; values as long as the limit. */
#include "java_values.h"

/* Never something in its place, whatever a reader is allowed. */
static void test_k6_ill_formed_text(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t position;
  } strings[] = {{"\xed\xa0\x80", 5}, {"\xff", 5}, {"abc\xc3", 8}, {"\xc3\xa9\xed\xbf\xbf", 7}, {"abcdefghi\x80", 14}};
  const evalue_java_options any = {.allow_any_text = 1, .allow_any_bool = 1, .allow_trailing = 1};
  for (size_t i = 0; i < COUNT_OF(strings); i++) {
    const evalue v = evalue_from_string(strings[i].text, strlen(strings[i].text));
    const uint64_t at = strings[i].position;
    check_unwritable(&v, NULL, EVALUE_UNSUPPORTED, EVALUE_FAULT_BAD_UTF8, EVALUE_FIELD_STRING, at);
    check_unwritable(&v, &any, EVALUE_UNSUPPORTED, EVALUE_FAULT_BAD_UTF8, EVALUE_FIELD_STRING, at);
    assert_int_equal(unwritable(&v, NULL).found, (uint8_t)strings[i].text[at - 5]);
  }
}

/* ---- limits ---- */

/* Memory that nobody may touch: a value as long as it likes can claim to lie there. */
static void test_the_longest_tensor(void **state) {
  (void)state;
  guard_buffer guard = guard_new(0);
  const evalue_java_options bare = {.bare_tensor = 1};
  static const struct {
    uint32_t type;
    int32_t numel; /* the most that there may be: with a head of 7 bytes */
  } tensors[] = {{EVALUE_UINT8, 0x7ffffff8}, {EVALUE_FLOAT16, 0x3ffffffc}, {EVALUE_FLOAT64, 0x0fffffff}};
  for (size_t i = 0; i < COUNT_OF(tensors); i++) {
    evalue_tensor t;
    const uint32_t width = evalue_element_size(tensors[i].type);
    int32_t numel = tensors[i].numel;
    uint64_t size = 0, nbytes = (uint64_t)numel * width;
    assert_int_equal(evalue_tensor_init(&t, tensors[i].type, 1, &numel, guard.data, (size_t)nbytes), EVALUE_OK);
    evalue v = evalue_from_tensor(&t);
    assert_int_equal(evalue_java_size(&v, NULL, &size, NULL), EVALUE_OK);
    assert_int_equal(size, 7 + nbytes);
    assert_int_equal(evalue_java_encode(&v, NULL, NULL, 0, &size, NULL), EVALUE_NO_SPACE);
    assert_int_equal(size, 7 + nbytes);
    numel++;
    nbytes += width;
    assert_int_equal(evalue_tensor_init(&t, tensors[i].type, 1, &numel, guard.data, (size_t)nbytes), EVALUE_OK);
    v = evalue_from_tensor(&t);
    const evalue_error e = unwritable(&v, NULL);
    check_error(&e, EVALUE_LIMIT, EVALUE_FAULT_JAVA_TOO_LONG, EVALUE_FIELD_DATA, 7);
    assert_int_equal(e.expected, INT32_MAX);
    assert_int_equal(e.found, 7 + nbytes);
    if (width == 1) { /* without the tag there is room for one more */
      assert_int_equal(evalue_java_size(&v, &bare, &size, NULL), EVALUE_OK);
      assert_int_equal(size, INT32_MAX);
    } else {
      check_unwritable(&v, &bare, EVALUE_LIMIT, EVALUE_FAULT_JAVA_TOO_LONG, EVALUE_FIELD_DATA, 6);
    }
  }
  guard_free(&guard);
}

/* The first byte is wrong, so that nobody looks at the others, which are not there. */
static void test_the_longest_string(void **state) {
  (void)state;
  guard_buffer guard = guard_new(8);
  memset(guard.data, 0xff, 8);
  evalue v = evalue_from_string((const char *)guard.data, 0x7ffffffa);
  check_unwritable(&v, NULL, EVALUE_UNSUPPORTED, EVALUE_FAULT_BAD_UTF8, EVALUE_FIELD_STRING, 5);
  static const size_t too_long[] = {0x7ffffffb, 0x7fffffff, UINT32_MAX};
  for (size_t i = 0; i < COUNT_OF(too_long); i++) {
    v = evalue_from_string((const char *)guard.data + 8, too_long[i]);
    const evalue_error e = unwritable(&v, NULL);
    check_error(&e, EVALUE_LIMIT, EVALUE_FAULT_JAVA_TOO_LONG, EVALUE_FIELD_LENGTH, 1);
    assert_int_equal(e.expected, INT32_MAX);
    assert_int_equal(e.found, (uint64_t)too_long[i] + 5);
  }
#if SIZE_MAX > UINT32_MAX
  v.string.nbytes = (size_t)1 << 32; /* its low half is a good length */
  check_unwritable(&v, NULL, EVALUE_LIMIT, EVALUE_FAULT_JAVA_TOO_LONG, EVALUE_FIELD_LENGTH, 1);
  static const size_t over[] = {(size_t)EVALUE_SIZE_LIMIT, SIZE_MAX - 5, SIZE_MAX - 4, SIZE_MAX};
  for (size_t i = 0; i < COUNT_OF(over); i++) { /* whatever the codec itself thinks of them */
    const evalue_java_options before_strings = {.release = EVALUE_JAVA_1_0};
    v.string.nbytes = over[i];
    check_unwritable(&v, NULL, EVALUE_LIMIT, EVALUE_FAULT_JAVA_TOO_LONG, EVALUE_FIELD_LENGTH, 1);
    check_unwritable(&v, &before_strings, EVALUE_UNSUPPORTED, EVALUE_FAULT_STRING_BEFORE_1_2, EVALUE_FIELD_TAG, 0);
  }
#endif
  guard_free(&guard);
}

/* ---- misuse ---- */

static void check_misuse(const evalue *v, const evalue_java_options *options) {
  check_unwritable(v, options, EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
}

static void test_values_that_are_none(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 3};
  for (uint32_t tag = 6; tag < 256; tag++) {
    evalue v = evalue_from_int(0);
    v.tag = (uint8_t)tag;
    check_misuse(&v, NULL);
  }
  for (uint32_t byte = 2; byte < 256; byte++) {
    const evalue_java_options any = {.allow_any_bool = 1};
    evalue v = evalue_from_bool(true);
    v.bool_value = (uint8_t)byte;
    check_misuse(&v, NULL);
    check_misuse(&v, &any);
  }
  evalue v = evalue_from_string(NULL, 1);
  check_misuse(&v, NULL);
  check_misuse(NULL, NULL);
  const evalue good = tensor_of(EVALUE_FLOAT32, 2, sizes, NULL);
  v = good, v.tensor.ndim = 17;
  check_misuse(&v, NULL);
  v = good, v.tensor.ndim = UINT8_MAX;
  check_misuse(&v, NULL);
  v = good, v.tensor.sizes[0] = -2;
  check_misuse(&v, NULL);
  v = good, v.tensor.nbytes--;
  check_misuse(&v, NULL);
  v = good, v.tensor.data = NULL;
  check_misuse(&v, NULL);
  v = good, v.tensor.dim_order[1] = 0;
  check_misuse(&v, NULL);
  v = good, v.tensor.scalar_type = 30;
  check_misuse(&v, NULL);
  const evalue_java_options bare = {.bare_tensor = 1};
  v = good, v.tensor.sizes[0] = v.tensor.sizes[1] = INT32_MAX;
  check_unwritable(&v, NULL, EVALUE_LIMIT, EVALUE_FAULT_EXTENT_TOO_LARGE, EVALUE_FIELD_SIZE, 7);
  check_unwritable(&v, &bare, EVALUE_LIMIT, EVALUE_FAULT_EXTENT_TOO_LARGE, EVALUE_FIELD_SIZE, 6);
}

static void test_options_that_make_no_sense(void **state) {
  (void)state;
  const evalue values[] = {evalue_from_none(), evalue_from_int(1), evalue_from_bool(true), evalue_from_double(1),
                           evalue_from_string("a", 1)};
  const evalue_java_options bad[] = {
      {.release = LAST_RELEASE + 1}, {.release = UINT32_MAX}, {.size = 1}, {.size = sizeof(evalue_java_options) - 1},
      {.size = UINT32_MAX},          {.bare_tensor = 1}};
  for (size_t i = 0; i < COUNT_OF(values) * COUNT_OF(bad); i++) check_misuse(&values[i % 5], &bad[i / 5]);
  const evalue v = tensor_of(EVALUE_UINT8, 0, NULL, NULL);
  for (size_t i = 0; i + 1 < COUNT_OF(bad); i++) check_misuse(&v, &bad[i]);
  const evalue_java_options good = {.size = sizeof good, .bare_tensor = 1};
  uint8_t memory[3];
  uint64_t size = 0;
  assert_int_equal(evalue_java_encode(&v, &good, memory, sizeof memory, &size, NULL), EVALUE_OK);
  assert_int_equal(size, 3);
}

static void test_null_is_misuse(void **state) {
  (void)state;
  const evalue v = evalue_from_int(1), bad = evalue_from_string("\xff", 1);
  uint8_t memory[16];
  uint64_t size = 7;
  evalue_error e;
  memset(memory, UNTOUCHED, sizeof memory);
  assert_int_equal(evalue_java_size(&v, NULL, NULL, &e), EVALUE_MISUSE);
  check_error(&e, EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
  assert_int_equal(evalue_java_size(NULL, NULL, NULL, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_java_encode(&v, NULL, memory, sizeof memory, NULL, &e), EVALUE_MISUSE);
  check_error(&e, EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
  assert_int_equal(evalue_java_encode(&v, NULL, NULL, 1, &size, &e), EVALUE_MISUSE);
  check_error(&e, EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
  assert_int_equal(size, 0);
  size = 7;
  assert_int_equal(evalue_java_encode(&v, NULL, NULL, 16, &size, NULL), EVALUE_MISUSE);
  assert_int_equal(size, 0);
  assert_int_equal(evalue_java_encode(&bad, NULL, NULL, 16, &size, NULL), EVALUE_MISUSE);
  check_untouched(memory, sizeof memory);
}

/* After every way to fail, the same memory and the same value do. */
static void test_l4_a_good_call_after_failed_ones(void **state) {
  (void)state;
  const evalue v = evalue_from_int(1), bad = evalue_from_string("\xff", 1);
  const input want = input_of("04 0000000000000001");
  uint8_t memory[9];
  uint64_t size = 0;
  evalue_error e;
  assert_int_equal(evalue_java_encode(&v, NULL, memory, 8, &size, &e), EVALUE_NO_SPACE);
  assert_int_equal(evalue_java_encode(&bad, NULL, memory, 9, &size, &e), EVALUE_UNSUPPORTED);
  assert_int_equal(evalue_java_encode(NULL, NULL, memory, 9, &size, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_java_encode(&v, NULL, memory, 9, &size, &e), EVALUE_OK);
  const evalue_error none = {0};
  assert_memory_equal(&e, &none, sizeof e);
  assert_int_equal(size, 9);
  assert_memory_equal(memory, want.bytes, 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_k6_ill_formed_text),
      cmocka_unit_test(test_the_longest_tensor),
      cmocka_unit_test(test_the_longest_string),
      cmocka_unit_test(test_values_that_are_none),
      cmocka_unit_test(test_options_that_make_no_sense),
      cmocka_unit_test(test_null_is_misuse),
      cmocka_unit_test(test_l4_a_good_call_after_failed_ones),
  };
  return cmocka_run_group_tests_name("java_write_refusals", tests, NULL, NULL);
}
