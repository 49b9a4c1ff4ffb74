/* SPDX-License-Identifier: BSD-3-Clause */
/* Values into messages of limited size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/evalue.h"
#include "guard.h"

enum { COUNT = 60, CAPACITY = 80 };

static const uint8_t bytes[400];
static evalue values[COUNT];

/* Values of every kind and of many sizes; the same for the same seed. */
static void make_values(uint32_t seed) {
  for (size_t i = 0; i < COUNT; i++) {
    seed = seed * 1664525 + 1013904223;
    int32_t size = (int32_t)(seed >> 16 & 63);
    evalue_tensor t;
    switch (seed >> 24 & 3) {
      case 0: values[i] = evalue_from_string((const char *)bytes, (size_t)size); break;
      case 1:
        assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT32, 1, &size, bytes, 4 * (size_t)size), EVALUE_OK);
        values[i] = evalue_from_tensor(&t);
        break;
      case 2: values[i] = evalue_from_int(size); break;
      default: values[i] = evalue_from_none(); break;
    }
  }
}

static uint64_t size_of(size_t first, size_t count, uint32_t alignment) {
  uint64_t size = 0;
  assert_int_equal(evalue_message_size(values + first, count, alignment, &size), EVALUE_OK);
  return size;
}

/* The parts hold all values in order, each fits, and none could have taken the value after it. */
static void check_split(uint32_t alignment, uint64_t most) {
  size_t counts[CAPACITY], parts = 0, first = 0;
  assert_int_equal(evalue_message_split(values, COUNT, alignment, most, counts, CAPACITY, &parts, NULL), EVALUE_OK);
  for (size_t i = 0; i < parts; i++) {
    assert_true(counts[i] > 0);
    assert_true(size_of(first, counts[i], alignment) <= most);
    first += counts[i];
    if (first < COUNT) assert_true(size_of(first - counts[i], counts[i] + 1, alignment) > most);
  }
  assert_int_equal(first, COUNT);
}

static uint64_t largest(uint32_t alignment) {
  uint64_t most = 0;
  for (size_t i = 0; i < COUNT; i++) {
    uint64_t size = size_of(i, 1, alignment);
    if (size > most) most = size;
  }
  return most;
}

static void test_fewest_in_order(void **state) {
  (void)state;
  static const uint32_t alignments[] = {0, 1, 2, 16, 64, 4096};
  for (uint32_t seed = 1; seed <= 20; seed++) {
    make_values(seed);
    for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++) {
      uint64_t least = largest(alignments[i]);
      for (uint64_t more = 0; more < 200; more += 7) check_split(alignments[i], least + more);
      check_split(alignments[i], 1 << 20);
    }
  }
}

/* K7: the parts decode on their own, and what they hold is the original. */
static void test_k7_parts_decode(void **state) {
  (void)state;
  static uint8_t buffer[8192];
  size_t counts[CAPACITY], parts = 0, first = 0;
  make_values(5);
  assert_int_equal(evalue_message_split(values, COUNT, 16, 700, counts, CAPACITY, &parts, NULL), EVALUE_OK);
  assert_true(parts > 3);
  for (size_t i = 0; i < parts; first += counts[i++]) {
    evalue decoded[COUNT];
    uint64_t size = 0, n = 0;
    assert_int_equal(evalue_message_encode(values + first, counts[i], 16, buffer, 700, &size), EVALUE_OK);
    assert_int_equal(evalue_message_decode(buffer, (size_t)size, NULL, decoded, COUNT, &n, NULL), EVALUE_OK);
    assert_int_equal(n, counts[i]);
    for (size_t k = 0; k < counts[i]; k++) assert_true(evalue_equal(&decoded[k], &values[first + k]));
  }
}

/* K7: a value that can never fit is named, to the byte. */
static void test_k7_a_value_that_is_too_large(void **state) {
  (void)state;
  for (size_t at = 0; at < 3; at++) {
    evalue three[3] = {evalue_from_int(1), evalue_from_int(2), evalue_from_int(3)};
    size_t counts[3], parts = 7, index = 7;
    three[at] = evalue_from_string((const char *)bytes, 100); /* 24 + 9 + 100 */
    assert_int_equal(evalue_message_split(three, 3, 0, 132, counts, 3, &parts, &index), EVALUE_LIMIT);
    assert_int_equal(index, at);
    assert_int_equal(parts, 0);
    assert_int_equal(evalue_message_split(three, 3, 0, 133, counts, 3, &parts, NULL), EVALUE_OK);
  }
  evalue large = evalue_from_string((const char *)bytes, SIZE_MAX / 8);
  size_t counts[1], parts, index = 7;
  assert_int_equal(evalue_message_split(&large, 1, 0, 0, counts, 1, &parts, &index), EVALUE_LIMIT);
  assert_int_equal(index, 0);
  assert_int_equal(evalue_message_split(&large, 1, 0, 23, counts, 1, &parts, NULL), EVALUE_LIMIT);
}

static void test_default_limit(void **state) {
  (void)state;
  static evalue many[8000];
  size_t counts[4] = {0}, parts = 0;
  for (size_t i = 0; i < 8000; i++) many[i] = evalue_from_none();
  assert_int_equal(evalue_message_split(many, 8000, 0, 0, counts, 4, &parts, NULL), EVALUE_OK);
  assert_int_equal(parts, 2);
  assert_int_equal(counts[0], (65536 - 24) / 9);
}

static void test_capacity(void **state) {
  (void)state;
  size_t all[CAPACITY], parts = 0;
  make_values(9);
  assert_int_equal(evalue_message_split(values, COUNT, 16, 700, all, CAPACITY, &parts, NULL), EVALUE_OK);
  for (size_t capacity = 0; capacity <= parts; capacity++) {
    guard_buffer guard = guard_new(capacity * sizeof(size_t));
    size_t *counts = capacity != 0 ? (size_t *)(void *)guard.data : NULL, needed = 0;
    evalue_status status = evalue_message_split(values, COUNT, 16, 700, counts, capacity, &needed, NULL);
    assert_int_equal(status, capacity < parts ? EVALUE_NO_SPACE : EVALUE_OK);
    assert_int_equal(needed, parts);
    assert_true(capacity == 0 || memcmp(counts, all, capacity * sizeof *counts) == 0);
    guard_free(&guard);
  }
}

static void test_nothing_and_misuse(void **state) {
  (void)state;
  size_t counts[2], parts = 7, index = 7;
  evalue bad[2] = {evalue_from_none(), evalue_from_bool(true)};
  assert_int_equal(evalue_message_split(NULL, 0, 0, 0, NULL, 0, &parts, NULL), EVALUE_OK);
  assert_int_equal(parts, 0);
  bad[1].bool_value = 2;
  assert_int_equal(evalue_message_split(bad, 2, 0, 0, counts, 2, &parts, &index), EVALUE_MISUSE);
  assert_int_equal(index, 1);
  assert_int_equal(evalue_message_split(bad, 1, 3, 0, counts, 2, &parts, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_message_split(bad, 1, 8192, 0, counts, 2, &parts, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_message_split(NULL, 1, 0, 0, counts, 2, &parts, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_message_split(bad, 1, 0, 0, NULL, 2, &parts, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_message_split(bad, 1, 0, 0, counts, 2, NULL, NULL), EVALUE_MISUSE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fewest_in_order),
      cmocka_unit_test(test_k7_parts_decode),
      cmocka_unit_test(test_k7_a_value_that_is_too_large),
      cmocka_unit_test(test_default_limit),
      cmocka_unit_test(test_capacity),
      cmocka_unit_test(test_nothing_and_misuse),
  };
  return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
