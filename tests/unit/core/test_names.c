/* SPDX-License-Identifier: BSD-3-Clause */
/* Codes to names: every code that there is, and those that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/evalue.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Copies of what the headers promise: a name is part of the interface, so changing one has to break a test. */
static const char *const statuses[] = {"ok",       "end", "truncated", "malformed", "unsupported", "limit",
                                       "no_space", "io",  "misuse",    "poisoned",  "timeout",     "corrupt"};
static const char *const fields[] = {
    "none",   "magic",  "major", "minor",       "alignment", "flags",      "body_length", "count", "trailing",
    "tag",    "length", "bool",  "scalar_type", "ndim",      "size",       "dim_order",   "pad",   "int",
    "double", "string", "data",  "carrier",     "slot",      "descriptor", "peer"};
static const char *const faults[] = {"none",
                                     "header_short",
                                     "bad_magic",
                                     "bad_major",
                                     "bad_alignment",
                                     "bad_flags",
                                     "body_too_large",
                                     "body_short",
                                     "count_too_large",
                                     "count_wrong",
                                     "trailing_bytes",
                                     "unknown_tag",
                                     "element_short",
                                     "length_wrong",
                                     "length_too_large",
                                     "length_past_end",
                                     "bad_bool",
                                     "unknown_scalar_type",
                                     "ndim_too_large",
                                     "tensor_short",
                                     "negative_size",
                                     "extent_too_large",
                                     "dim_order_range",
                                     "dim_order_repeated",
                                     "data_length",
                                     "pad_missing",
                                     "pad_too_large",
                                     "pad_not_zero",
                                     "pad_misplaced",
                                     "pad_not_needed",
                                     "pad_length_wrong",
                                     "limit_bytes",
                                     "limit_values",
                                     "no_value",
                                     "capacity",
                                     "argument"};
/* From 100 on: those of ExecuTorch's Java bytes. */
static const char *const java_faults[] = {"field_short",   "unknown_java_tag", "string_before_1_2", "negative_length",
                                          "java_too_long", "bad_utf8",         "unknown_dtype",     "memory_short"};
/* From 300 on: those of record files. */
static const char *const record_faults[] = {"record_head_short", "record_short",     "record_length_crc",
                                            "record_data_crc",   "record_too_large", "record_length_large",
                                            "record_empty",      "index_line",       "index_entry"};
static const char *const types[] = {"uint8",           "int8",
                                    "int16",           "int32",
                                    "int64",           "float16",
                                    "float32",         "float64",
                                    "complex32",       "complex64",
                                    "complex128",      "bool",
                                    "qint8",           "quint8",
                                    "qint32",          "bfloat16",
                                    "quint4x2",        "quint2x4",
                                    "bits1x8",         "bits2x4",
                                    "bits4x2",         "bits8",
                                    "bits16",          "float8_e5m2",
                                    "float8_e4m3fn",   "float8_e5m2fnuz",
                                    "float8_e4m3fnuz", "uint16",
                                    "uint32",          "uint64"};

static const uint32_t beyond[] = {600, UINT16_MAX, INT32_MAX, UINT32_C(0x80000000), UINT32_MAX - 1, UINT32_MAX};

/* A sentence for people: not empty, and without the full stop. */
static void check_sentence(const char *text) {
  assert_non_null(text);
  assert_true(strlen(text) > 5);
  assert_true(text[strlen(text) - 1] != '.');
}

static void test_statuses(void **state) {
  (void)state;
  for (int32_t i = 0; i < (int32_t)COUNT_OF(statuses); i++) {
    assert_string_equal(evalue_status_name(i), statuses[i]);
    check_sentence(i == EVALUE_OK ? "succeeded" : evalue_status_message(i));
  }
  assert_string_equal(evalue_status_message(EVALUE_OK), "success");
  static const int32_t none[] = {(int32_t)COUNT_OF(statuses), 100, 256, INT32_MAX, -1, -2, -9, INT32_MIN};
  for (size_t i = 0; i < COUNT_OF(none); i++) {
    assert_string_equal(evalue_status_name(none[i]), "?");
    assert_string_equal(evalue_status_message(none[i]), "?");
  }
}

static void test_fields(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(fields); i++) assert_string_equal(evalue_field_name(i), fields[i]);
  assert_string_equal(evalue_field_name(COUNT_OF(fields)), "?");
  for (size_t i = 0; i < COUNT_OF(beyond); i++) assert_string_equal(evalue_field_name(beyond[i]), "?");
}

static void test_faults(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(faults); i++) {
    assert_string_equal(evalue_fault_name(i), faults[i]);
    check_sentence(evalue_fault_message(i));
  }
  for (uint32_t i = 0; i < COUNT_OF(java_faults); i++) {
    assert_string_equal(evalue_fault_name(100 + i), java_faults[i]);
    check_sentence(evalue_fault_message(100 + i));
  }
  for (uint32_t i = 0; i < COUNT_OF(record_faults); i++) {
    assert_string_equal(evalue_fault_name(300 + i), record_faults[i]);
    check_sentence(evalue_fault_message(300 + i));
  }
  assert_string_equal(evalue_fault_name(299), "?");
  assert_string_equal(evalue_fault_name(300 + COUNT_OF(record_faults)), "?");
  assert_string_equal(evalue_fault_name(99), "?");
  assert_string_equal(evalue_fault_name(100 + COUNT_OF(java_faults)), "?");
  assert_string_equal(evalue_fault_name(COUNT_OF(faults)), "?");
  assert_string_equal(evalue_fault_message(COUNT_OF(faults)), "?");
  for (size_t i = 0; i < COUNT_OF(beyond); i++) {
    assert_string_equal(evalue_fault_name(beyond[i]), "?");
    assert_string_equal(evalue_fault_message(beyond[i]), "?");
  }
}

static void test_no_two_names_are_alike(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(faults); i++) {
    for (uint32_t k = 0; k < i; k++) {
      assert_string_not_equal(evalue_fault_name(i), evalue_fault_name(k));
      assert_string_not_equal(evalue_fault_message(i), evalue_fault_message(k));
    }
  }
}

static void test_tags(void **state) {
  (void)state;
  static const char *const names[] = {"None", "Tensor", "String", "Double", "Int", "Bool"};
  for (uint32_t tag = 0; tag < 512; tag++) {
    if (tag < COUNT_OF(names)) assert_string_equal(evalue_tag_name(tag), names[tag]);
    else if (tag == EVALUE_TAG_PAD) assert_string_equal(evalue_tag_name(tag), "Pad");
    else assert_null(evalue_tag_name(tag));
  }
  for (size_t i = 0; i < COUNT_OF(beyond); i++) assert_null(evalue_tag_name(beyond[i]));
}

static void test_scalar_types(void **state) {
  (void)state;
  static const uint8_t element_sizes[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4,
                                          2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1,  1, 2, 4, 8};
  for (uint32_t type = 0; type < COUNT_OF(types); type++) {
    bool is_complex = type >= EVALUE_COMPLEX32 && type <= EVALUE_COMPLEX128;
    assert_string_equal(evalue_scalar_type_name(type), types[type]);
    assert_int_equal(evalue_element_size(type), element_sizes[type]);
    assert_int_equal(evalue_component_size(type), element_sizes[type] / (is_complex ? 2 : 1));
  }
  for (uint32_t type = COUNT_OF(types); type < 600; type++) {
    assert_null(evalue_scalar_type_name(type));
    assert_int_equal(evalue_element_size(type), 0);
    assert_int_equal(evalue_component_size(type), 0);
  }
  for (size_t i = 0; i < COUNT_OF(beyond); i++) {
    assert_null(evalue_scalar_type_name(beyond[i]));
    assert_int_equal(evalue_element_size(beyond[i]), 0);
    assert_int_equal(evalue_component_size(beyond[i]), 0);
  }
}

static void test_version(void **state) {
  (void)state;
  assert_string_equal(evalue_version(), EVALUE_VERSION);
  assert_int_equal(EVALUE_WIRE_MAJOR, 1);
  assert_int_equal(EVALUE_WIRE_MINOR, 0);
}

/* The numbers are part of the interface too: "codes are only ever appended". */
static void test_codes_stay(void **state) {
  (void)state;
  assert_int_equal(EVALUE_OK, 0);
  assert_int_equal(EVALUE_MISUSE, 8);
  assert_int_equal(EVALUE_FIELD_PAD, 16);
  assert_int_equal(EVALUE_FAULT_LIMIT_VALUES, 32);
  assert_int_equal(EVALUE_FAULT_ARGUMENT, 35);
  assert_int_equal(EVALUE_TAG_PAD, 128);
  assert_int_equal(EVALUE_TAG_ANCILLARY, 129);
  assert_int_equal(EVALUE_TAG_PRIVATE, 192);
  assert_int_equal(EVALUE_UINT64, 29);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_statuses), cmocka_unit_test(test_fields),
      cmocka_unit_test(test_faults),   cmocka_unit_test(test_no_two_names_are_alike),
      cmocka_unit_test(test_tags),     cmocka_unit_test(test_scalar_types),
      cmocka_unit_test(test_version),  cmocka_unit_test(test_codes_stay),
  };
  return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
