/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads, stores, reversed components and checked arithmetic: the same on every host, at every address. */
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

/* Writes x with its highest byte first, by arithmetic alone. */
static void put_be(uint8_t *p, uint64_t x, size_t width) {
  for (size_t i = 0; i < width; i++) p[i] = (uint8_t)(x >> 8 * (width - 1 - i));
}

static void test_g3_big_endian_loads_at_any_address(void **state) {
  (void)state;
  _Alignas(16) uint8_t memory[OFFSETS + 8];
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    for (size_t at = 0; at < OFFSETS; at++) {
      memset(memory, UNTOUCHED, sizeof memory);
      put_be(memory + at, numbers[i], 8);
      assert_true(evalue_load_be_u64(memory + at) == numbers[i]);
      assert_true(evalue_load_be_u32(memory + at) == (uint32_t)(numbers[i] >> 32));
      assert_true(evalue_load_be_u32(memory + at + 4) == (uint32_t)numbers[i]);
    }
  }
}

static void test_g3_big_endian_stores_at_any_address(void **state) {
  (void)state;
  _Alignas(16) uint8_t memory[OFFSETS + 9], want[OFFSETS + 9];
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    for (size_t at = 0; at < OFFSETS; at++) {
      memset(memory, UNTOUCHED, sizeof memory);
      memset(want, UNTOUCHED, sizeof want);
      put_be(want + at, numbers[i], 8);
      evalue_store_be_u64(memory + at, numbers[i]);
      assert_memory_equal(memory, want, sizeof want);
      memset(memory, UNTOUCHED, sizeof memory);
      memset(want, UNTOUCHED, sizeof want);
      put_be(want + at, (uint32_t)numbers[i], 4);
      evalue_store_be_u32(memory + at, (uint32_t)numbers[i]);
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
  evalue_store_be_u64(guard.data + 8, 3);
  assert_true(evalue_load_be_u64(guard.data + 8) == 3);
  evalue_store_be_u32(guard.data + 12, 4);
  assert_true(evalue_load_be_u32(guard.data + 12) == 4);
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

/* ---- reversed components ---- */

enum { ELEMENTS = 40, REVERSED = ELEMENTS * 8 };

static const size_t widths[] = {1, 2, 4, 8};

static uint8_t pattern(size_t i) {
  return (uint8_t)(i * 5 + 3);
}

/* The byte that stands at i when the components of pattern are reversed. */
static uint8_t reversed_pattern(size_t i, size_t width) {
  return pattern(i / width * width + (width - 1 - i % width));
}

/* As bytes of memory, and so the same on every host. */
static void test_swap_components(void **state) {
  (void)state;
  for (size_t w = 1; w < COUNT_OF(widths); w++) {
    uint8_t bytes[8], back[8];
    uint64_t x;
    for (size_t i = 0; i < 8; i++) bytes[i] = pattern(i);
    memcpy(&x, bytes, sizeof x);
    uint64_t swapped = evalue_swap_components(x, widths[w]);
    memcpy(bytes, &swapped, sizeof bytes);
    for (size_t i = 0; i < 8; i++) assert_int_equal(bytes[i], reversed_pattern(i, widths[w]));
    uint64_t again = evalue_swap_components(swapped, widths[w]);
    memcpy(back, &again, sizeof back);
    for (size_t i = 0; i < 8; i++) assert_int_equal(back[i], pattern(i));
  }
}

/* Whole words only: what is left of the last one stays as it was. */
static void test_copy_swapped_words(void **state) {
  (void)state;
  uint8_t from[OFFSETS + 64], to[OFFSETS + 64];
  for (size_t w = 1; w < COUNT_OF(widths); w++) {
    for (size_t nbytes = 0; nbytes <= 64; nbytes++) {
      for (size_t at = 0; at < OFFSETS; at++) {
        const size_t words = nbytes / 8 * 8;
        for (size_t i = 0; i < nbytes; i++) from[at + i] = pattern(i);
        memset(to, UNTOUCHED, sizeof to);
        uint8_t *target = to + OFFSETS - at;
        assert_int_equal(evalue_copy_swapped_words(target, from + at, nbytes, widths[w]), words);
        for (size_t i = 0; i < words; i++) assert_int_equal(target[i], reversed_pattern(i, widths[w]));
        for (size_t i = words; i < at + 64; i++) assert_int_equal(target[i], UNTOUCHED);
        for (size_t i = 0; i < OFFSETS - at; i++) assert_int_equal(to[i], UNTOUCHED);
      }
    }
  }
}

/* Every length, both ends at every address. */
static void test_g3_copy_reversed(void **state) {
  (void)state;
  static uint8_t from[OFFSETS + REVERSED], before[OFFSETS + REVERSED];
  static uint8_t to[OFFSETS + REVERSED], want[OFFSETS + REVERSED];
  for (size_t round = 0; round < COUNT_OF(widths) * OFFSETS * OFFSETS; round++) {
    const size_t width = widths[round / (OFFSETS * OFFSETS)], a = round / OFFSETS % OFFSETS, b = round % OFFSETS;
    for (size_t i = 0; i < REVERSED; i++) from[a + i] = pattern(i);
    for (size_t i = 0; i < a; i++) from[i] = UNTOUCHED;
    for (size_t i = a + REVERSED; i < sizeof from; i++) from[i] = UNTOUCHED;
    memcpy(before, from, sizeof from);
    for (size_t nbytes = 0; nbytes <= ELEMENTS * width; nbytes += width) {
      memset(to, UNTOUCHED, sizeof to);
      memset(want, UNTOUCHED, sizeof want);
      for (size_t i = 0; i < nbytes; i++) want[b + i] = reversed_pattern(i, width);
      evalue_copy_reversed(to + b, from + a, nbytes, width);
      assert_int_equal(memcmp(to, want, sizeof to), 0);
    }
    assert_memory_equal(from, before, sizeof from);
  }
}

static void test_g3_copy_reversed_in_place(void **state) {
  (void)state;
  static uint8_t memory[OFFSETS + REVERSED], want[OFFSETS + REVERSED];
  for (size_t round = 0; round < COUNT_OF(widths) * OFFSETS; round++) {
    const size_t width = widths[round / OFFSETS], at = round % OFFSETS;
    for (size_t nbytes = 0; nbytes <= ELEMENTS * width; nbytes += width) {
      memset(memory, UNTOUCHED, sizeof memory);
      memset(want, UNTOUCHED, sizeof want);
      for (size_t i = 0; i < nbytes; i++) {
        memory[at + i] = pattern(i);
        want[at + i] = reversed_pattern(i, width);
      }
      evalue_copy_reversed(memory + at, memory + at, nbytes, width);
      assert_memory_equal(memory, want, sizeof want);
    }
  }
}

/* Both ends at pages that nobody may touch. */
static void test_b9_copy_reversed(void **state) {
  (void)state;
  for (size_t w = 0; w < COUNT_OF(widths); w++) {
    const size_t width = widths[w];
    for (size_t nbytes = 0; nbytes <= ELEMENTS * width; nbytes += width) {
      guard_buffer from = guard_new(nbytes), to = guard_new(nbytes);
      for (size_t i = 0; i < nbytes; i++) from.data[i] = pattern(i);
      evalue_copy_reversed(to.data, from.data, nbytes, width);
      evalue_copy_reversed(from.data, from.data, nbytes, width);
      for (size_t i = 0; i < nbytes; i++) {
        assert_int_equal(to.data[i], reversed_pattern(i, width));
        assert_int_equal(from.data[i], to.data[i]);
      }
      guard_free(&from);
      guard_free(&to);
    }
  }
}

static void test_e5_copy_reversed_of_nothing(void **state) {
  (void)state;
  uint8_t byte = 7;
  for (size_t w = 0; w < COUNT_OF(widths); w++) {
    evalue_copy_reversed(NULL, NULL, 0, widths[w]);
    evalue_copy_reversed(&byte, NULL, 0, widths[w]);
    evalue_copy_reversed(NULL, &byte, 0, widths[w]);
  }
  assert_int_equal(byte, 7);
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
      cmocka_unit_test(test_g3_loads_at_any_address),
      cmocka_unit_test(test_g3_stores_at_any_address),
      cmocka_unit_test(test_g3_big_endian_loads_at_any_address),
      cmocka_unit_test(test_g3_big_endian_stores_at_any_address),
      cmocka_unit_test(test_b9_no_byte_beyond),
      cmocka_unit_test(test_copy_bytes),
      cmocka_unit_test(test_e5_copy_of_nothing),
      cmocka_unit_test(test_swaps),
      cmocka_unit_test(test_host_byte_order),
      cmocka_unit_test(test_swap_components),
      cmocka_unit_test(test_copy_swapped_words),
      cmocka_unit_test(test_g3_copy_reversed),
      cmocka_unit_test(test_g3_copy_reversed_in_place),
      cmocka_unit_test(test_b9_copy_reversed),
      cmocka_unit_test(test_e5_copy_reversed_of_nothing),
      cmocka_unit_test(test_a1_multiply_at_its_boundaries),
      cmocka_unit_test(test_a4_multiply_by_chance),
  };
  return cmocka_run_group_tests_name("inline", tests, NULL, NULL);
}
