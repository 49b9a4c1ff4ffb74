/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors as text: those that a reader gives, and made-up ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <string.h>

#include "evalue/reader.h"
#include "evalue/text.h"

static void expect(const evalue_error *error, const char *expected) {
  char text[300];
  size_t length = evalue_print_error(error, text, sizeof text);
  assert_string_equal(text, expected);
  assert_int_equal(length, strlen(expected));
}

/* What the reader says about a sequence or a message. */
static void expect_fault(bool is_message, const void *data, size_t size, const char *expected) {
  evalue_reader r;
  if (is_message) evalue_reader_init(&r, data, size, NULL);
  else evalue_reader_init_sequence(&r, data, size, NULL);
  while (evalue_reader_next(&r, NULL) == EVALUE_OK) {
  }
  expect(evalue_reader_error(&r), expected);
}

#define SEQUENCE(bytes, expected) expect_fault(false, bytes, sizeof(bytes) - 1, expected)
#define MESSAGE(bytes, expected)  expect_fault(true, bytes, sizeof(bytes) - 1, expected)

static void test_sequences(void **state) {
  (void)state;
  SEQUENCE("\4\11\0\0\0\0\0\0\0",
           "offset 1: value 0: malformed: length: the length is not the one that the tag has: expected 8, found 9");
  SEQUENCE("\0\0\0\0\0\0\0\0\0\5\1\0\0\0\0\0\0\0\2",
           "offset 18: value 1: malformed: bool: the Bool is neither 0 nor 1: expected 0 or 1, found 2");
  SEQUENCE("\2\5\0\0\0\0\0\0\0hel",
           "offset 1: value 0: truncated: length: the element goes past the end: needs at least 14 bytes "
           "of input, has 12");
  SEQUENCE("\4\10\0", "offset 1: value 0: truncated: length: too few bytes are left for the length: needs at least 9 "
                      "bytes of input, has 3");
  SEQUENCE("\x45", "offset 0: value 0: unsupported: tag: the tag is not known: expected 0 (None) to 5 (Bool), or 128 "
                   "(Pad) or more, found 69");
  SEQUENCE("\1\2\0\0\0\0\0\0\0\x1e\0", "offset 9: value 0: unsupported: scalar_type: the scalar type is not known: "
                                       "expected at most 29 (uint64), found 30");
  SEQUENCE("\1\7\0\0\0\0\0\0\0\0\1\xfe\xff\xff\xff\0",
           "offset 11: value 0: malformed: size: the size is negative: expected at least 0, found -2");
  SEQUENCE("\1\14\0\0\0\0\0\0\0\0\2\1\0\0\0\1\0\0\0\0\0",
           "offset 20: value 0: malformed: dim_order: the dim_order names a dimension twice: expected each dimension "
           "once, found 0 again");
  SEQUENCE("\1\14\0\0\0\0\0\0\0\0\2\1\0\0\0\1\0\0\0\0\2",
           "offset 20: value 0: malformed: dim_order: the dim_order names a dimension that the tensor lacks: expected "
           "at most 1, found 2");
  SEQUENCE("\1\26\0\0\0\0\0\0\0\0\4\xff\xff\xff\x7f\xff\xff\xff\x7f\4\0\0\0\1\0\0\0\0\1\2\3",
           "offset 19: value 0: malformed: size: up to this size the tensor's extent is 2^62 bytes or more: expected "
           "an extent below 2^62, found the size 4");
}

static void test_messages(void **state) {
  (void)state;
  MESSAGE("\x89PNG\r\n",
          "offset 0: malformed: magic: this is no EValue message: expected \"EVAL\", found \"\\x89PNG\"");
  MESSAGE("EX", "offset 0: malformed: magic: this is no EValue message: expected \"EVAL\", found \"EX\\x00\\x00\"");
  MESSAGE("\0\0\0\0\0", "offset 0: malformed: magic: this is no EValue message: expected \"EVAL\", found "
                        "\"\\x00\\x00\\x00\\x00\"");
  MESSAGE("\4\b\n\"", "offset 0: malformed: magic: this is no EValue message: expected \"EVAL\", found "
                      "\"\\x04\\x08\\x0a\\x22\"");
  MESSAGE("", "offset 0: truncated: magic: the input ends inside the message's header: needs at least 24 bytes of "
              "input, has 0");
  MESSAGE("EVAL\1\0\4\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
          "offset 8: truncated: body_length: the input ends before the body does: needs at least 25 bytes of input, "
          "has 24");
  MESSAGE("EVAL\1\0\4\0\11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
          "offset 16: malformed: count: the count is not the number of values in the body: the header says 0, the body "
          "holds 1");
  MESSAGE(
      "EVAL\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0x",
      "offset 24: value 0: malformed: trailing: the input goes on after its end: the end is at 24, the input has 25 "
      "bytes");
  MESSAGE("EVAL\1\0\4\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0",
          "offset 25: value 0: malformed: length: too few bytes are left for the length: needs 8 bytes, the body has 2 "
          "left");
  MESSAGE("EVAL\1\0\4\0\12\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\2\0\0\0\0\0\0\0x",
          "offset 25: value 0: malformed: length: the element goes past the end: needs 2 bytes, the body has 1 left");
}

static void test_pads(void **state) {
  (void)state;
  MESSAGE("EVAL\1\0\4\0\x12\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
          "offset 24: value 0: malformed: tag: the Pad does not stand directly before a Tensor: expected a Tensor "
          "after it, found None");
  MESSAGE("EVAL\1\0\4\0\11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\0",
          "offset 24: value 0: malformed: tag: the Pad does not stand directly before a Tensor: expected a Tensor "
          "after it, found the end");
  MESSAGE("EVAL\1\0\4\0\22\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\0\x82\0\0\0\0\0\0\0\0",
          "offset 24: value 0: malformed: tag: the Pad does not stand directly before a Tensor: expected a Tensor "
          "after it, found tag 130");
  MESSAGE("EVAL\1\0\4\0\22\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\0",
          "offset 24: value 0: malformed: tag: the Pad does not stand directly before a Tensor: expected a Tensor "
          "after it, found Pad");
  /* a tensor of one byte, whose data would be at 40; spec, section 7 */
  MESSAGE("EVAL\1\0\4\0\21\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\10\0\0\0\0\0\0\0\0\1\1\0\0\0\0\7",
          "offset 24: value 0: malformed: tag: the tensor's data is misaligned, and there is no Pad before it: "
          "expected a Pad of length 15, found data at 40");
  MESSAGE("EVAL\1\0\3\0\32\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\0\1\10\0\0\0\0\0\0\0\0\1\1\0\0\0\0\7",
          "offset 24: value 0: malformed: tag: the tensor needs no Pad: expected none, found one of length 0");
}

static void test_without_fault(void **state) {
  (void)state;
  evalue_error error;
  memset(&error, 0, sizeof error);
  expect(&error, "ok");
  error.status = EVALUE_IO;
  expect(&error, "io");
  error.fault = EVALUE_FAULT_ARGUMENT;
  error.status = EVALUE_MISUSE;
  expect(&error, "misuse: an argument of the call is wrong");
  expect(NULL, "misuse: an argument of the call is wrong");
}

/* An error may come from anywhere, also from a later version. */
static void test_unknown_codes(void **state) {
  (void)state;
  evalue_error error = {99, 999, 999, 1, 2, 3, 4, 5};
  expect(&error, "offset 1: value 2: ?: ?: ?");
  error.field = EVALUE_FIELD_MAGIC;
  error.found = UINT64_MAX;
  error.fault = EVALUE_FAULT_BAD_MAGIC;
  error.expected = 0;
  expect(&error, "offset 1: value 2: ?: magic: this is no EValue message: expected \"\\x00\\x00\\x00\\x00\", found "
                 "\"\\xff\\xff\\xff\\xff\"");
}

static void test_limits(void **state) {
  (void)state;
  evalue_error error = {EVALUE_LIMIT, EVALUE_FAULT_LIMIT_VALUES, EVALUE_FIELD_TAG, 9, 1, 1, 2, 0};
  expect(&error,
         "offset 9: value 1: limit: tag: there are more values than the caller allows: expected at most 1, found 2");
}

static void test_no_value(void **state) {
  (void)state;
  evalue value;
  evalue_error error;
  uint64_t used;
  assert_int_equal(evalue_value_decode("", 0, NULL, &value, &used, &error), EVALUE_TRUNCATED);
  expect(&error, "offset 0: value 0: truncated: tag: one value was asked for, and the input has none: expected a "
                 "value, found the end");
}

/* Says whether each text stands behind the one before it. */
static bool has_both(const char *text, const char *first, const char *second) {
  const char *place = strstr(text, first);
  return place != NULL && strstr(place, second) != NULL;
}

/* Whatever numbers come with it, a fault says what was expected and what was found. */
static void test_every_fault_says_expected_and_found(void **state) {
  (void)state;
  static const struct {
    evalue_status status;
    evalue_field field;
    uint32_t fault;
  } faults[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning)                                               \
  {EVALUE_##status, EVALUE_FIELD_##field, EVALUE_FAULT_##name},
      EVALUE_ALL_FAULTS_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  static const uint64_t numbers[] = {0, 1, 69, 128, 255, 256, UINT64_MAX};
  for (size_t fault = 0; fault < sizeof faults / sizeof faults[0]; fault++) {
    bool is_of_no_input = faults[fault].fault == EVALUE_FAULT_NONE || faults[fault].fault == EVALUE_FAULT_ARGUMENT ||
                          faults[fault].fault == EVALUE_FAULT_SYSTEM_CALL;
    if (is_of_no_input) continue;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
      char text[300];
      evalue_error error = {(int32_t)faults[fault].status,
                            (uint16_t)faults[fault].fault,
                            (uint16_t)faults[fault].field,
                            24,
                            0,
                            numbers[i],
                            numbers[i],
                            33};
      size_t length = evalue_print_error(&error, text, sizeof text);
      assert_true(length < sizeof text);
      bool says_both = has_both(text, ": expected ", ", found ") || has_both(text, ": needs ", ", has ") ||
                       has_both(text, ": needs ", ", the body has ") ||
                       has_both(text, "the header says ", "the body holds ") ||
                       has_both(text, "the end is at ", "the input has ");
      if (!says_both) fail_msg("%s", text);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sequences),     cmocka_unit_test(test_messages),
      cmocka_unit_test(test_pads),          cmocka_unit_test(test_without_fault),
      cmocka_unit_test(test_unknown_codes), cmocka_unit_test(test_limits),
      cmocka_unit_test(test_no_value),      cmocka_unit_test(test_every_fault_says_expected_and_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
