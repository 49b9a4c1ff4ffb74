/* SPDX-License-Identifier: BSD-3-Clause */
/* why_rejected and why_copied: off unless they are called for, and what they then say. */
#include <errno.h>
#include <stdio.h>

#include "evalue/evalue.h"
#include "guard.h"
#include "log_catch.h"

static caught line;
static const evalue_log_handler handler = {keep_line, &line};

static void configure(const char *spec) {
  assert_int_equal(evalue_log_configure(spec, NULL, 0), EVALUE_OK);
}

/* ---- what should be there ---- */

/* The bytes from 8 before the position to 8 after it, the one there in brackets. */
static void expect_bytes(const char *text, const uint8_t *data, size_t size, uint64_t position) {
  char expected[200] = "", *p = expected;
  for (size_t i = 0; i < size && position <= size; i++) {
    if (i + 8 < position || i > position + 8) continue;
    p += sprintf(p, i == position ? " [%02x]" : " %02x", data[i]);
  }
  if (position >= size) sprintf(p, " [the end]");
  assert_string_equal(text, expected);
}

/* Whether it is about a place in the input. */
static bool has_place(const evalue_error *error) {
  return error->field != EVALUE_FIELD_NONE;
}

static void expect_rejected(const evalue_error *error, const uint8_t *data, size_t size) {
  static const char around[] = "; bytes around it:";
  char sentence[600];
  size_t before = line.count;
  const int32_t here = __LINE__ + 1;
  EVALUE_LOG_REJECTED(&evalue_log_reader, error, data, size);
  assert_int_equal(line.count, before + 1);
  assert_string_equal(line.component, "reader");
  assert_string_equal(line.diagnostic, "why_rejected");
  assert_int_equal(line.record.level, EVALUE_LOG_INFO);
  assert_int_equal(line.record.status, error->status);
  assert_true(line.record.position == (error->field != EVALUE_FIELD_NONE ? error->position : EVALUE_NO_INDEX));
  assert_string_equal(line.file, "test_log_diagnostics.c");
  assert_int_equal(line.record.line, here);
  if (error->fault == EVALUE_FAULT_BAD_MAGIC && size < 4) return; /* how much of it is shown is left open */
  size_t length = evalue_print_error(error, sentence, sizeof sentence);
  assert_true(length < sizeof sentence);
  assert_memory_equal(line.message, sentence, length);
  if (data == NULL || !has_place(error)) return; /* there are none */
  assert_memory_equal(line.message + length, around, sizeof around - 1);
  expect_bytes(line.message + length + sizeof around - 1, data, size, error->position);
}

/* ---- tests ---- */

static const struct {
  uint16_t fault, field;
  int32_t status;
} faults[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning)                                               \
  {EVALUE_FAULT_##name, EVALUE_FIELD_##field, EVALUE_##status},
    EVALUE_ALL_FAULTS_TABLE(EVALUE_X)
#undef EVALUE_X
};

/* Every fault, at every kind of place, with inputs that end where nobody may read on. */
static void test_every_fault(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 2, 8, 9, 16, 17, 18, 100};
  configure("why_rejected");
  for (size_t s = 0; s < COUNT_OF(sizes); s++) {
    size_t size = sizes[s];
    guard_buffer input = guard_new(size);
    for (size_t i = 0; i < size; i++) input.data[i] = (uint8_t)(i * 37 + 200);
    for (size_t f = 1; f < COUNT_OF(faults); f++) {
      const uint64_t places[] = {0,         1,    7,        8,        9,        10,       size / 2,
                                 size - 1,  size, size + 1, size + 8, size + 9, SIZE_MAX, UINT64_MAX - 8,
                                 UINT64_MAX};
      for (size_t p = 0; p < COUNT_OF(places); p++) {
        evalue_error error = {faults[f].status, faults[f].fault, faults[f].field, places[p], 3, 5, 6, 7};
        if (!has_place(&error)) continue;
        expect_rejected(&error, input.data, size);
      }
    }
    guard_free(&input);
  }
}

/* What the reader itself says of a message that is cut, or has a byte changed. */
static void test_real_inputs(void **state) {
  (void)state;
  uint8_t bytes[200];
  float numbers[2] = {1, 2};
  int32_t sizes[1] = {2};
  evalue_tensor t;
  uint64_t size, n;
  evalue decoded[8];
  evalue_error error;
  size_t rejected = 0;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT32, 1, sizes, numbers, sizeof numbers), EVALUE_OK);
  evalue values[3] = {evalue_from_tensor(&t), evalue_from_bool(true), evalue_from_string("hi", 2)};
  assert_int_equal(evalue_message_encode(values, 3, 0, bytes, sizeof bytes, &size), EVALUE_OK);
  for (size_t cut = 0; cut < size; cut++) {
    guard_buffer input = guard_put(bytes, cut);
    assert_int_not_equal(evalue_message_decode(input.data, cut, NULL, decoded, 8, &n, &error), EVALUE_OK);
    expect_rejected(&error, input.data, cut);
    guard_free(&input);
  }
  for (size_t i = 0; i < size; i++) {
    guard_buffer input = guard_put(bytes, (size_t)size);
    input.data[i] = 0xee;
    if (evalue_message_decode(input.data, (size_t)size, NULL, decoded, 8, &n, &error) != EVALUE_OK) {
      expect_rejected(&error, input.data, (size_t)size);
      rejected++;
    }
    guard_free(&input);
  }
  assert_true(rejected > 40);
}

static void test_without_data(void **state) {
  (void)state;
  evalue_error error = {EVALUE_MALFORMED, EVALUE_FAULT_LENGTH_WRONG, EVALUE_FIELD_LENGTH, 4, 0, 8, 9, 0};
  expect_rejected(&error, NULL, 0);
  expect_rejected(&error, NULL, 100); /* the size is not believed */
  error.position = UINT64_MAX;
  expect_rejected(&error, NULL, SIZE_MAX);
  expect_rejected(&error, (const uint8_t *)"", 0);
}

/* An error that has no place has no position, and no bytes around it. */
static void test_without_a_place(void **state) {
  (void)state;
  static const struct {
    uint16_t fault;
    int32_t status;
  } cases[] = {{EVALUE_FAULT_ARGUMENT, EVALUE_MISUSE},
               {EVALUE_FAULT_MEMORY_SHORT, EVALUE_NO_SPACE},
               {EVALUE_FAULT_NONE, EVALUE_IO}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    evalue_error error = {cases[i].status, cases[i].fault, EVALUE_FIELD_NONE, 0, EVALUE_NO_INDEX, 8, 4, 0};
    size_t before = line.count;
    EVALUE_LOG_REJECTED(&evalue_log_reader, &error, "EVAL", 4);
    assert_int_equal(line.count, before + 1);
    assert_int_equal(line.record.status, cases[i].status);
    assert_true(line.record.position == EVALUE_NO_INDEX);
    assert_null(strstr(line.message, "45"));
  }
}

/* The whole line, once. */
static void test_text(void **state) {
  (void)state;
  static const char input[] = "EVAL\x01\0\xc8\0..................";
  evalue_error error = {
      EVALUE_MALFORMED, EVALUE_FAULT_BAD_ALIGNMENT, EVALUE_FIELD_ALIGNMENT, 6, EVALUE_NO_INDEX, 12, 200, 0};
  EVALUE_LOG_REJECTED(&evalue_log_ipc, &error, input, sizeof input - 1);
  assert_string_equal(line.component, "ipc");
  assert_string_equal(line.message,
                      "offset 6: malformed: alignment: the alignment's logarithm is too large: expected at most 12, "
                      "found 200; bytes around it: 45 56 41 4c 01 00 [c8] 00 2e 2e 2e 2e 2e 2e 2e");
}

static void test_copied(void **state) {
  (void)state;
  configure("why_copied");
  EVALUE_LOG_COPIED(&evalue_log_sink, UINT64_MAX, "the queue outlives the caller's bytes\n");
  assert_string_equal(line.component, "sink");
  assert_string_equal(line.diagnostic, "why_copied");
  assert_int_equal(line.record.level, EVALUE_LOG_INFO);
  assert_int_equal(line.record.status, EVALUE_OK);
  assert_true(line.record.position == EVALUE_NO_INDEX);
  assert_string_equal(line.message, "18446744073709551615 bytes copied: the queue outlives the caller's bytes\\x0a");
  EVALUE_LOG_COPIED(NULL, 0, NULL);
  assert_string_equal(line.component, "?");
  assert_string_equal(line.message, "0 bytes copied: ?");
  evalue_log_copied(&evalue_log_sink, 1, "x", "a/b.c", 77);
  assert_string_equal(line.file, "b.c");
  assert_int_equal(line.record.line, 77);
}

/* Each by its own name only, and the level of who asks has no say. */
static void test_off(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    size_t rejected, copied;
  } cases[] = {{"", 0, 0},
               {"+all", 0, 0},
               {"why_copied", 0, 1},
               {"why_rejected", 1, 0},
               {"why_rejected,why_copied", 1, 1},
               {"-all,why_rejected", 1, 0},
               {"none,why_rejected", 1, 0},
               {"why_rejected,none", 0, 0},
               {"+why_rejected", 1, 0},
               {"-why_rejected,-why_copied", 0, 0}};
  evalue_error error = {EVALUE_MALFORMED, EVALUE_FAULT_LENGTH_WRONG, EVALUE_FIELD_LENGTH, 4, 0, 8, 9, 0};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    configure(cases[i].spec);
    size_t before = line.count;
    EVALUE_LOG_REJECTED(&evalue_log_reader, &error, "12345", 5);
    assert_int_equal(line.count, before + cases[i].rejected);
    before = line.count;
    EVALUE_LOG_COPIED(&evalue_log_reader, 1, "x");
    assert_int_equal(line.count, before + cases[i].copied);
    before = line.count;
    EVALUE_LOG_REJECTED(&evalue_log_reader, NULL, "12345", 5);
    assert_int_equal(line.count, before);
  }
}

/* An off diagnostic does not evaluate what it would say. */
static void test_off_is_not_evaluated(void **state) {
  (void)state;
  int evaluated = 0;
  evalue_error error = {EVALUE_MALFORMED, EVALUE_FAULT_LENGTH_WRONG, EVALUE_FIELD_LENGTH, 4, 0, 8, 9, 0};
  configure("+all");
  EVALUE_LOG_REJECTED(&evalue_log_reader, (evaluated++, &error), "12345", 5);
  EVALUE_LOG_COPIED(&evalue_log_reader, (uint64_t)++evaluated, "x");
  assert_int_equal(evaluated, 0);
  configure("why_rejected,why_copied");
  EVALUE_LOG_REJECTED(&evalue_log_reader, (evaluated++, &error), "12345", 5);
  EVALUE_LOG_COPIED(&evalue_log_reader, (uint64_t)++evaluated, "x");
  assert_int_equal(evaluated, 2);
}

/* A rule is named exactly where evalue_tensor_typed_data gives nothing. */
static void expect_rule(const evalue_tensor *tensor, uint32_t scalar_type, const char *rule) {
  const char *found = evalue_log_copy_rule(tensor, scalar_type);
  assert_int_equal(found == NULL, evalue_tensor_typed_data(tensor, scalar_type) != NULL);
  if (rule == NULL) assert_null(found);
  else {
    assert_non_null(found);
    assert_string_equal(found, rule);
  }
}

static void test_copy_rule(void **state) {
  (void)state;
  static const char endian[] = "the host is big-endian, and the elements are not";
  static const char address[] = "the address is not aligned for the elements";
  static const char type[] = "the elements are of another scalar type";
  static const char invalid[] = "the tensor is not valid";
  const bool is_big = EVALUE_HOST_ENDIAN == EVALUE_BIG_ENDIAN;
  _Alignas(16) uint8_t bytes[40] = {0};
  const int32_t two = 2, none = 0;
  evalue_tensor t;
  expect_rule(NULL, EVALUE_FLOAT32, invalid);
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT32, 1, &two, bytes, 8), EVALUE_OK);
  expect_rule(&t, EVALUE_FLOAT32, is_big ? endian : NULL);
  expect_rule(&t, EVALUE_INT32, type);
  expect_rule(&t, UINT32_MAX, type);
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT32, 1, &two, bytes + 2, 8), EVALUE_OK);
  expect_rule(&t, EVALUE_FLOAT32, is_big ? endian : address);
  expect_rule(&t, EVALUE_UINT8, type);
  assert_int_equal(evalue_tensor_init(&t, EVALUE_COMPLEX64, 1, &two, bytes + 4, 16), EVALUE_OK);
  expect_rule(&t, EVALUE_COMPLEX64, is_big ? endian : NULL); /* the component's alignment counts */
  assert_int_equal(evalue_tensor_init(&t, EVALUE_UINT8, 1, &two, bytes + 1, 2), EVALUE_OK);
  expect_rule(&t, EVALUE_UINT8, NULL);
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT32, 1, &none, bytes, 0), EVALUE_OK);
  expect_rule(&t, EVALUE_FLOAT32, "there are no elements");
  t.nbytes = 1;
  expect_rule(&t, EVALUE_FLOAT32, invalid);
  t.scalar_type = 200;
  expect_rule(&t, 200, invalid);
}

static int set_up(void **state) {
  (void)state;
  forget_environment();
  return evalue_log_set_handler(&handler) != NULL;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_fault),  cmocka_unit_test(test_real_inputs),
      cmocka_unit_test(test_without_data), cmocka_unit_test(test_without_a_place),
      cmocka_unit_test(test_text),         cmocka_unit_test(test_copied),
      cmocka_unit_test(test_off),          cmocka_unit_test(test_off_is_not_evaluated),
      cmocka_unit_test(test_copy_rule),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
