/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads, stores and checked arithmetic: the same on every host, at every address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/inline.h"
#include "guard.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { OFFSETS = 16, UNTOUCHED = 0xA5 };

static const uint64_t numbers[] = {0,
                                   1,
                                   0x80,
                                   0xff,
                                   0x7fffffff,
                                   0x80000000,
                                   UINT32_MAX,
                                   UINT64_C(0x0807060504030201),
                                   UINT64_C(0xf8f7f6f5f4f3f2f1),
                                   UINT64_C(1) << 63,
                                   INT64_MAX,
                                   UINT64_MAX};

/* Writes x as the wire has it, by arithmetic alone. */
static void put(uint8_t *p, uint64_t x, size_t width) {
  for (size_t i = 0; i < width; i++) p[i] = (uint8_t)(x >> 8 * i);
}

static void test_g3_loads_at_any_address(void **state) {
  (void)state;
  _Alignas(16) uint8_t memory[OFFSETS + 8];
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    for (size_t at = 0; at < OFFSETS; at++) {
      memset(memory, UNTOUCHED, sizeof memory);
      put(memory + at, numbers[i], 8);
      assert_true(evalue_load_u64(memory + at) == numbers[i]);
      assert_true(evalue_load_u32(memory + at) == (uint32_t)numbers[i]);
      assert_true(evalue_load_u8(memory + at) == (uint8_t)numbers[i]);
    }
  }
}

static void test_g3_stores_at_any_address(void **state) {
  (void)state;
  _Alignas(16) uint8_t memory[OFFSETS + 9], want[OFFSETS + 9];
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    for (size_t at = 0; at < OFFSETS; at++) {
      memset(memory, UNTOUCHED, sizeof memory);
      memset(want, UNTOUCHED, sizeof want);
      put(want + at, numbers[i], 8);
      evalue_store_u64(memory + at, numbers[i]);
      assert_memory_equal(memory, want, sizeof want);
      memset(memory, UNTOUCHED, sizeof memory);
      memset(want, UNTOUCHED, sizeof want);
      put(want + at, numbers[i], 4);
      evalue_store_u32(memory + at, (uint32_t)numbers[i]);
      assert_memory_equal(memory, want, sizeof want);
    }
  }
}

/* They end where they say: at a page that nobody may touch. */
static void test_b9_no_byte_beyond(void **state) {
  (void)state;
  guard_buffer guard = guard_new(16);
  put(guard.data + 8, UINT64_C(0x0807060504030201), 8);
  assert_true(evalue_load_u64(guard.data + 8) == UINT64_C(0x0807060504030201));
  assert_int_equal(evalue_load_u32(guard.data + 12), 0x08070605);
  assert_int_equal(evalue_load_u8(guard.data + 15), 8);
  evalue_store_u64(guard.data + 8, 1);
  evalue_store_u32(guard.data + 12, 2);
  assert_true(evalue_load_u64(guard.data + 8) == (UINT64_C(2) << 32 | 1));
  guard_free(&guard);
}

static void test_copy_bytes(void **state) {
  (void)state;
  uint8_t from[OFFSETS + 64], to[OFFSETS + 64], want[OFFSETS + 64];
  for (size_t i = 0; i < sizeof from; i++) from[i] = (uint8_t)(i + 1);
  for (size_t at = 0; at < OFFSETS; at++) {
    for (size_t nbytes = 0; nbytes <= 64; nbytes++) {
      memset(want, UNTOUCHED, sizeof want);
      memcpy(want + OFFSETS - at, from + at, nbytes);
      memset(to, UNTOUCHED, sizeof to);
      evalue_copy_bytes(to + OFFSETS - at, from + at, nbytes);
      assert_memory_equal(to, want, sizeof want);
    }
  }
}

static void test_e5_copy_of_nothing(void **state) {
  (void)state;
  uint8_t byte = 7;
  evalue_copy_bytes(NULL, NULL, 0);
  evalue_copy_bytes(&byte, NULL, 0);
  evalue_copy_bytes(NULL, &byte, 0);
  assert_int_equal(byte, 7);
}

static void test_swaps(void **state) {
  (void)state;
  assert_true(evalue_swap_u32(UINT32_C(0x01020384)) == UINT32_C(0x84030201));
  assert_true(evalue_swap_u64(UINT64_C(0x0102030405060788)) == UINT64_C(0x8807060504030201));
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    assert_true(evalue_swap_u64(evalue_swap_u64(numbers[i])) == numbers[i]);
    assert_true(evalue_swap_u32(evalue_swap_u32((uint32_t)numbers[i])) == (uint32_t)numbers[i]);
    for (unsigned bit = 0; bit < 64; bit += 8) {
      assert_int_equal(evalue_swap_u64(numbers[i]) >> bit & 0xff, numbers[i] >> (56 - bit) & 0xff);
    }
  }
}

static void test_host_byte_order(void **state) {
  (void)state;
  const uint32_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  assert_int_equal(EVALUE_HOST_IS_LITTLE_ENDIAN, first);
}

/* ---- multiplication ---- */

/* a * b < 2^62, without a wider type: by division, which is slow and obvious. */
static bool fits(uint64_t a, uint64_t b) {
  return a == 0 || b == 0 || a <= (EVALUE_SIZE_LIMIT - 1) / b;
}

static void check_multiply(uint64_t a, uint32_t b) {
  uint64_t product = a;
  bool is_good = evalue_multiply(&product, b);
#ifdef __SIZEOF_INT128__
  __extension__ typedef unsigned __int128 wide;
  assert_int_equal(is_good, (wide)a * b < EVALUE_SIZE_LIMIT);
#endif
  assert_int_equal(is_good, fits(a, b));
  assert_true(product == (is_good ? a * b : a));
}

static void test_a1_multiply_at_its_boundaries(void **state) {
  (void)state;
  static const uint32_t factors[] = {0,     1,     2,     3,          4,          5,          7,        255,
                                     65535, 65536, 65537, 0x3fffffff, 0x40000000, 0x7ffffffe, INT32_MAX};
  for (size_t k = 0; k < COUNT_OF(factors); k++) {
    uint32_t b = factors[k];
    for (unsigned bit = 0; bit < 62; bit++) {
      uint64_t power = UINT64_C(1) << bit;
      for (uint64_t a = power < 2 ? 0 : power - 2; a <= power + 2 && a < EVALUE_SIZE_LIMIT; a++) check_multiply(a, b);
    }
    check_multiply(EVALUE_SIZE_LIMIT - 1, b);
    uint64_t most = b == 0 ? 0 : (EVALUE_SIZE_LIMIT - 1) / b; /* the last that fits, and its neighbours */
    for (uint64_t a = most < 3 ? 0 : most - 3; a <= most + 3 && a < EVALUE_SIZE_LIMIT; a++) check_multiply(a, b);
  }
}

static void test_a4_multiply_by_chance(void **state) {
  (void)state;
  uint64_t x = 88172645463325252u;
  for (int i = 0; i < 100000; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    uint32_t b = (uint32_t)(x >> 33) >> (x & 31);
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    check_multiply((x >> 2) >> (x % 61), b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_g3_loads_at_any_address), cmocka_unit_test(test_g3_stores_at_any_address),
      cmocka_unit_test(test_b9_no_byte_beyond),       cmocka_unit_test(test_copy_bytes),
      cmocka_unit_test(test_e5_copy_of_nothing),      cmocka_unit_test(test_swaps),
      cmocka_unit_test(test_host_byte_order),         cmocka_unit_test(test_a1_multiply_at_its_boundaries),
      cmocka_unit_test(test_a4_multiply_by_chance),
  };
  return cmocka_run_group_tests_name("inline", tests, NULL, NULL);
}
