/* SPDX-License-Identifier: BSD-3-Clause */
/* Values and strings as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <string.h>

#include "evalue/tensor.h"
#include "evalue/text.h"

static void expect(const evalue *value, const char *expected) {
  char text[400];
  assert_int_equal(evalue_print(value, text, sizeof text), strlen(expected));
  assert_string_equal(text, expected);
}

static void check_string(const void *data, size_t nbytes, const char *expected) {
  char text[400];
  assert_int_equal(evalue_print_string(data, nbytes, text, sizeof text), strlen(expected));
  assert_string_equal(text, expected);
}

static void test_scalars(void **state) {
  (void)state;
  evalue v = evalue_from_none();
  expect(&v, "None");
  v = evalue_from_bool(true);
  expect(&v, "Bool true");
  v = evalue_from_bool(false);
  expect(&v, "Bool false");
  v = evalue_from_int(INT64_MIN);
  expect(&v, "Int -9223372036854775808");
  v = evalue_from_int(7);
  expect(&v, "Int 7");
  v = evalue_from_double(-0.5);
  expect(&v, "Double -0.5");
  v = evalue_from_string("hé\n", 4);
  expect(&v, "String \"hé\\n\"");
  v = evalue_from_string(NULL, 0);
  expect(&v, "String \"\"");
}

static void test_invalid(void **state) {
  (void)state;
  evalue v = evalue_from_none();
  v.tag = 77;
  expect(&v, "invalid");
  v.tag = EVALUE_TAG_BOOL;
  v.bool_value = 2;
  expect(&v, "invalid");
  expect(NULL, "invalid");
}

static void test_long_string(void **state) {
  (void)state;
  char data[70];
  memset(data, 'x', sizeof data);
  memcpy(data + 63, "é", 2); /* over the place where it is cut */
  evalue v = evalue_from_string(data, sizeof data);
  expect(&v, "String \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"... (70 bytes)");
  memset(data, 0x80, sizeof data); /* no characters at all */
  v = evalue_from_string(data, sizeof data);
  assert_true(evalue_print(&v, NULL, 0) > 0);
}

static evalue make_tensor(uint32_t scalar_type, size_t ndim, const int32_t *sizes, const uint8_t *dim_order,
                          const void *data, size_t nbytes) {
  evalue_tensor t;
  evalue_status status = dim_order != NULL
                             ? evalue_tensor_init_dim_order(&t, scalar_type, ndim, sizes, dim_order, data, nbytes)
                             : evalue_tensor_init(&t, scalar_type, ndim, sizes, data, nbytes);
  assert_int_equal(status, EVALUE_OK);
  return evalue_from_tensor(&t);
}

static void test_tensors(void **state) {
  (void)state;
  static const uint8_t bytes[] = {0, 1, 2, 3, 4, 5};
  static const uint8_t column_major[] = {1, 0}, channels_last[] = {0, 2, 3, 1};
  static const int32_t matrix[] = {2, 3}, cube[] = {3, 1, 2}, image[] = {1, 3, 2, 1}, empty[] = {2, 0};
  evalue v = make_tensor(EVALUE_UINT8, 2, matrix, NULL, bytes, 6);
  expect(&v, "Tensor uint8 [2, 3] [[0, 1, 2], [3, 4, 5]]");
  v = make_tensor(EVALUE_UINT8, 2, matrix, column_major, bytes, 6);
  expect(&v, "Tensor uint8 [2, 3] dim_order [1, 0] [[0, 2, 4], [1, 3, 5]]");
  v = make_tensor(EVALUE_UINT8, 3, cube, NULL, bytes, 6);
  expect(&v, "Tensor uint8 [3, 1, 2] [[[0, 1]], [[2, 3]], [[4, 5]]]");
  v = make_tensor(EVALUE_UINT8, 4, image, channels_last, bytes, 6);
  expect(&v, "Tensor uint8 [1, 3, 2, 1] dim_order [0, 2, 3, 1] [[[[0], [3]], [[1], [4]], [[2], [5]]]]");
  v = make_tensor(EVALUE_BOOL, 0, NULL, NULL, bytes + 1, 1);
  expect(&v, "Tensor bool [] true");
  v = make_tensor(EVALUE_FLOAT32, 2, empty, NULL, NULL, 0);
  expect(&v, "Tensor float32 [2, 0] []");
}

static void test_large_tensors(void **state) {
  (void)state;
  uint8_t bytes[40];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)i;
  static const int32_t sixteen[] = {16}, forty[] = {40}, rows[] = {10, 4}, deep[] = {2, 2, 5, 2};
  evalue v = make_tensor(EVALUE_UINT8, 1, sixteen, NULL, bytes, 16);
  expect(&v, "Tensor uint8 [16] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]");
  v = make_tensor(EVALUE_UINT8, 1, forty, NULL, bytes, 40);
  expect(&v, "Tensor uint8 [40] [0, 1, 2, 3, 4, 5, 6, 7, ...]");
  v = make_tensor(EVALUE_UINT8, 2, rows, NULL, bytes, 40);
  expect(&v, "Tensor uint8 [10, 4] [[0, 1, 2, 3], [4, 5, 6, 7], ...]");
  v = make_tensor(EVALUE_UINT8, 4, deep, NULL, bytes, 40);
  expect(&v, "Tensor uint8 [2, 2, 5, 2] [[[[0, 1], [2, 3], [4, 5], [6, 7], ...]]]");
}

static void test_strings(void **state) {
  (void)state;
  check_string("", 0, "\"\"");
  check_string(NULL, 0, "\"\"");
  check_string("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
  check_string("\0\a\b\t\n\v\f\r\x1b\x7f", 10, "\"\\x00\\x07\\x08\\t\\n\\x0b\\x0c\\r\\x1b\\x7f\"");
  check_string("h\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80", 12, "\"hé 日 😀\"");
}

/* Ill-formed UTF-8 is escaped byte by byte; so are characters that steer a terminal or reorder text. */
static void test_bad_strings(void **state) {
  (void)state;
  check_string("\xff\xc3", 2, "\"\\xff\\xc3\"");
  check_string("\xc0\xaf\xc1\xbf", 4, "\"\\xc0\\xaf\\xc1\\xbf\""); /* overlong */
  check_string("\xe0\x9f\xbf", 3, "\"\\xe0\\x9f\\xbf\"");          /* overlong */
  check_string("\xf0\x8f\xbf\xbf", 4, "\"\\xf0\\x8f\\xbf\\xbf\""); /* overlong */
  check_string("\xed\xa0\x80", 3, "\"\\xed\\xa0\\x80\"");          /* a surrogate */
  check_string("\xf4\x90\x80\x80", 4, "\"\\xf4\\x90\\x80\\x80\""); /* above U+10FFFF */
  check_string("\xe6\x97"
               "a",
               3, "\"\\xe6\\x97a\""); /* cut short */
  check_string("\xc2\x9b"
               "31m",
               5, "\"\\xc2\\x9b31m\""); /* CSI, a C1 control */
  check_string("\xe2\x80\xae\xe2\x80\xa8", 6, "\"\\xe2\\x80\\xae\\xe2\\x80\\xa8\"");
}

/* At every capacity: terminated, a beginning of the whole, and cut between characters and between escapes. */
static void test_capacity(void **state) {
  (void)state;
  static const char data[] = "h\xc3\xa9\xe6\x97\xa5\x1b!";
  static const char whole[] = "\"h\xc3\xa9\xe6\x97\xa5\\x1b!\"";
  static const size_t ends[] = {0, 1, 2, 4, 7, 11, 12, 13};
  for (size_t capacity = 1; capacity < sizeof whole + 2; capacity++) {
    char text[40];
    memset(text, '#', sizeof text);
    assert_int_equal(evalue_print_string(data, sizeof data - 1, text, capacity), strlen(whole));
    size_t end = 0;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
      if (ends[i] < capacity) end = ends[i];
    }
    assert_int_equal(strlen(text), end);
    assert_memory_equal(text, whole, end);
    assert_int_equal(text[end + 1], '#');
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scalars),     cmocka_unit_test(test_invalid),       cmocka_unit_test(test_long_string),
      cmocka_unit_test(test_tensors),     cmocka_unit_test(test_large_tensors), cmocka_unit_test(test_strings),
      cmocka_unit_test(test_bad_strings), cmocka_unit_test(test_capacity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
