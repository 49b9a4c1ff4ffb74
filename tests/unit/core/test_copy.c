/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies into another layout, against a reference that is slow and obvious: index arithmetic for each element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/inline.h"
#include "evalue/tensor.h"
#include "guard.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { UNTOUCHED = 0xA5, MOST = 16 * 1024 };

static _Alignas(16) uint8_t source[MOST];
static uint8_t wanted[MOST];

static void fill_source(void) {
  uint32_t x = 12345;
  for (size_t i = 0; i < sizeof source; i++) {
    x = x * 1664525U + 1013904223U;
    source[i] = (uint8_t)(x >> 24);
  }
}

/* ---- the reference ---- */

/* The position of the element at index among elements packed in this order: Horner's scheme. */
static size_t position_of(uint32_t ndim, const int32_t *sizes, const uint8_t *order, const int32_t *index) {
  size_t position = 0;
  for (uint32_t i = 0; i < ndim; i++) position = position * (size_t)sizes[order[i]] + (size_t)index[order[i]];
  return position;
}

/* Counts index up by one, the last dimension first; false after the last element. */
static bool next_index(uint32_t ndim, const int32_t *sizes, int32_t *index) {
  for (uint32_t i = ndim; i-- > 0;) {
    if (++index[i] < sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}

static void copy_by_index(const evalue_tensor *t, const uint8_t *order, uint32_t byte_order, uint8_t *to) {
  const size_t element = evalue_element_size(t->scalar_type), component = evalue_component_size(t->scalar_type);
  const uint8_t *from = (const uint8_t *)t->data;
  int32_t index[EVALUE_MAX_NDIM] = {0};
  if (t->nbytes == 0) return;
  do {
    const uint8_t *a = from + element * position_of(t->ndim, t->sizes, t->dim_order, index);
    uint8_t *b = to + element * position_of(t->ndim, t->sizes, order, index);
    for (size_t i = 0; i < element; i++) {
      size_t in_component = i % component;
      b[i] = a[byte_order == EVALUE_LITTLE_ENDIAN ? i : i - in_component + component - 1 - in_component];
    }
  } while (next_index(t->ndim, t->sizes, index));
}

/* The copy goes to memory that ends at a page that nobody may touch, so its address is seldom aligned. */
static void check_copy(const evalue_tensor *t, const uint8_t *order, guard_buffer *guard) {
  for (uint32_t byte_order = EVALUE_LITTLE_ENDIAN; byte_order <= EVALUE_BIG_ENDIAN; byte_order++) {
    copy_by_index(t, order, byte_order, wanted);
    memset(guard->data, UNTOUCHED, t->nbytes);
    assert_int_equal(evalue_tensor_copy(t, order, byte_order, guard->data, t->nbytes), EVALUE_OK);
    if (t->nbytes != 0 && memcmp(guard->data, wanted, t->nbytes) != 0) fail_msg("type %d differs", t->scalar_type);
  }
}

/* The next permutation in ascending order; false after the last. */
static bool permute(uint8_t *order, size_t n) {
  size_t i = n - 1, k = n - 1;
  while (i > 0 && order[i - 1] >= order[i]) i--;
  if (i == 0) return false;
  while (order[k] <= order[i - 1]) k--;
  uint8_t swap = order[i - 1];
  order[i - 1] = order[k];
  order[k] = swap;
  for (k = n - 1; i < k; i++, k--) {
    swap = order[i];
    order[i] = order[k];
    order[k] = swap;
  }
  return true;
}

/* ---- all orders of four dimensions ---- */

/* One type for each pair of element size and component size. */
static const uint8_t types[] = {EVALUE_UINT8,     EVALUE_FLOAT16,   EVALUE_FLOAT32,   EVALUE_INT64,
                                EVALUE_COMPLEX32, EVALUE_COMPLEX64, EVALUE_COMPLEX128};

static void check_every_pair_of_orders(const int32_t *sizes) {
  const size_t numel = (size_t)(sizes[0] * sizes[1] * sizes[2] * sizes[3]);
  for (size_t i = 0; i < COUNT_OF(types); i++) {
    const size_t nbytes = numel * evalue_element_size(types[i]);
    guard_buffer guard = guard_new(nbytes);
    uint8_t from[] = {0, 1, 2, 3};
    do {
      uint8_t to[] = {0, 1, 2, 3};
      evalue_tensor t;
      assert_int_equal(evalue_tensor_init_dim_order(&t, types[i], 4, sizes, from, source, nbytes), EVALUE_OK);
      do check_copy(&t, to, &guard);
      while (permute(to, 4));
    } while (permute(from, 4));
    guard_free(&guard);
  }
}

static void test_every_pair_of_orders(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 3, 4, 5};
  check_every_pair_of_orders(sizes);
}

static void test_every_pair_of_orders_with_sizes_of_one(void **state) {
  (void)state;
  static const int32_t shapes[][4] = {{1, 3, 1, 2}, {3, 1, 1, 2}, {1, 1, 1, 5},
                                      {4, 1, 1, 1}, {1, 1, 1, 1}, {2, 1, 3, 2}};
  for (size_t i = 0; i < COUNT_OF(shapes); i++) check_every_pair_of_orders(shapes[i]);
}

static void test_every_pair_of_orders_with_equal_sizes(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 2, 2, 2};
  check_every_pair_of_orders(sizes);
}

static void test_every_pair_of_orders_of_nothing(void **state) {
  (void)state;
  static const int32_t shapes[][4] = {{0, 3, 2, 2}, {2, 0, 1, 3}, {2, 3, 2, 0}, {0, 0, 0, 0}};
  for (size_t i = 0; i < COUNT_OF(shapes); i++) check_every_pair_of_orders(shapes[i]);
}

/* Runs that are long enough for every way of copying them: one element, a few, more than a cache line. */
static void test_matrices(void **state) {
  (void)state;
  static const int32_t shapes[][2] = {{1, 200}, {200, 1}, {2, 100}, {100, 2}, {17, 13}, {64, 15}};
  static const uint8_t orders[][2] = {{0, 1}, {1, 0}};
  for (size_t i = 0; i < COUNT_OF(shapes); i++) {
    for (uint32_t type = 0; type < 30; type++) {
      const size_t nbytes = (size_t)(shapes[i][0] * shapes[i][1]) * evalue_element_size(type);
      guard_buffer guard = guard_new(nbytes);
      for (size_t k = 0; k < 4; k++) {
        evalue_tensor t;
        assert_int_equal(evalue_tensor_init_dim_order(&t, type, 2, shapes[i], orders[k / 2], source, nbytes),
                         EVALUE_OK);
        check_copy(&t, orders[k % 2], &guard);
      }
      guard_free(&guard);
    }
  }
}

/* ---- other numbers of dimensions ---- */

static void test_c6_sixteen_dimensions(void **state) {
  (void)state;
  static const int32_t sizes[16] = {2, 1, 2, 1, 1, 3, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2};
  for (size_t i = 0; i < COUNT_OF(types); i++) {
    const size_t nbytes = 96 * evalue_element_size(types[i]);
    guard_buffer guard = guard_new(nbytes);
    for (uint32_t step = 1; step < 32; step += 2) { /* odd, so each order names every dimension */
      uint8_t from[16], to[16];
      evalue_tensor t;
      for (uint32_t k = 0; k < 16; k++) {
        from[k] = (uint8_t)((step * k + 5) % 16);
        to[k] = (uint8_t)((15 - k + step) % 16);
      }
      assert_int_equal(evalue_tensor_init_dim_order(&t, types[i], 16, sizes, from, source, nbytes), EVALUE_OK);
      check_copy(&t, to, &guard);
    }
    guard_free(&guard);
  }
}

static void test_no_dimensions(void **state) {
  (void)state;
  for (uint32_t type = 0; type < 30; type++) {
    guard_buffer guard = guard_new(evalue_element_size(type));
    evalue_tensor t;
    assert_int_equal(evalue_tensor_init(&t, type, 0, NULL, source, evalue_element_size(type)), EVALUE_OK);
    check_copy(&t, NULL, &guard);
    guard_free(&guard);
  }
}

static void test_null_order_is_row_major(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 3, 4};
  static const uint8_t from[] = {2, 0, 1}, row_major[] = {0, 1, 2};
  uint8_t a[48], b[48];
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init_dim_order(&t, EVALUE_INT16, 3, sizes, from, source, 48), EVALUE_OK);
  assert_int_equal(evalue_tensor_copy(&t, NULL, EVALUE_BIG_ENDIAN, a, sizeof a), EVALUE_OK);
  assert_int_equal(evalue_tensor_copy(&t, row_major, EVALUE_BIG_ENDIAN, b, sizeof b), EVALUE_OK);
  assert_memory_equal(a, b, sizeof a);
}

/* Neither the data nor dst has to be aligned. */
static void test_g2_any_address(void **state) {
  (void)state;
  static const int32_t sizes[] = {3, 5};
  static const uint8_t from[] = {1, 0}, to[] = {0, 1};
  uint8_t dst[15 * 16 + 32];
  for (uint32_t type = 0; type < 30; type++) {
    const size_t nbytes = 15 * evalue_element_size(type);
    for (size_t at = 0; at < 256; at++) {
      const size_t a = at / 16, b = at % 16;
      evalue_tensor t;
      assert_int_equal(evalue_tensor_init_dim_order(&t, type, 2, sizes, from, source + a, nbytes), EVALUE_OK);
      copy_by_index(&t, to, EVALUE_BIG_ENDIAN, wanted);
      memset(dst, UNTOUCHED, sizeof dst);
      assert_int_equal(evalue_tensor_copy(&t, to, EVALUE_BIG_ENDIAN, dst + b, sizeof dst - b), EVALUE_OK);
      assert_memory_equal(dst + b, wanted, nbytes);
      for (size_t i = 0; i < b; i++) assert_int_equal(dst[i], UNTOUCHED);
      for (size_t i = b + nbytes; i < sizeof dst; i++) assert_int_equal(dst[i], UNTOUCHED); /* exactly nbytes */
    }
  }
}

static void test_f1_host_order_gives_numbers(void **state) {
  (void)state;
  static const uint8_t wire[] = {0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0};
  static const int32_t two = 2;
  float floats[2];
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT32, 1, &two, wire, sizeof wire), EVALUE_OK);
  assert_int_equal(evalue_tensor_copy(&t, NULL, EVALUE_HOST_ENDIAN, floats, sizeof floats), EVALUE_OK);
  assert_true(floats[0] == 1.5F && floats[1] == -2.0F);
}

/* ---- big-endian ---- */

static void test_f5_big_endian_by_hand(void **state) {
  (void)state;
  static const uint8_t wire[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  static const struct {
    uint32_t type;
    int32_t numel;
    uint8_t want[16];
  } copies[] = {
      {EVALUE_UINT8, 16, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
      {EVALUE_FLOAT16, 8, {2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15}},
      {EVALUE_INT32, 4, {4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9, 16, 15, 14, 13}},
      {EVALUE_FLOAT64, 2, {8, 7, 6, 5, 4, 3, 2, 1, 16, 15, 14, 13, 12, 11, 10, 9}},
      {EVALUE_COMPLEX64, 2, {4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9, 16, 15, 14, 13}},
  };
  for (size_t i = 0; i < COUNT_OF(copies); i++) {
    uint8_t dst[16];
    evalue_tensor t;
    assert_int_equal(evalue_tensor_init(&t, copies[i].type, 1, &copies[i].numel, wire, sizeof wire), EVALUE_OK);
    assert_int_equal(evalue_tensor_copy(&t, NULL, EVALUE_BIG_ENDIAN, dst, sizeof dst), EVALUE_OK);
    assert_memory_equal(dst, copies[i].want, sizeof dst);
  }
}

/* Every number of elements, so every remainder of a word, from data that ends at a page that nobody may touch. */
static void test_f5_big_endian_of_any_length(void **state) {
  (void)state;
  static const uint8_t orders[][2] = {{0, 1}, {1, 0}};
  for (int32_t n = 0; n <= 40; n++) {
    for (uint32_t rows = 1; rows <= 3; rows += 2) {
      const int32_t sizes[] = {(int32_t)rows, n};
      for (uint32_t type = 0; type < 30; type++) {
        const size_t nbytes = rows * (size_t)n * evalue_element_size(type);
        guard_buffer from = guard_put(source, nbytes), to = guard_new(nbytes);
        for (size_t k = 0; k < 4; k++) {
          evalue_tensor t;
          assert_int_equal(evalue_tensor_init_dim_order(&t, type, 2, sizes, orders[k / 2], from.data, nbytes),
                           EVALUE_OK);
          check_copy(&t, orders[k % 2], &to);
        }
        guard_free(&from);
        guard_free(&to);
      }
    }
  }
}

/* ---- what is refused ---- */

static void check_refused(const evalue_tensor *t, const uint8_t *order, uint32_t byte_order, size_t size,
                          evalue_status status) {
  uint8_t dst[64];
  memset(dst, UNTOUCHED, sizeof dst);
  assert_int_equal(evalue_tensor_copy(t, order, byte_order, dst, size), status);
  for (size_t i = 0; i < sizeof dst; i++) assert_int_equal(dst[i], UNTOUCHED);
}

static void test_dst_stays_as_it_was(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 3};
  static const uint8_t bad[][2] = {{0, 0}, {1, 1}, {0, 2}, {2, 1}, {255, 0}, {0, 33}};
  static const uint8_t good[] = {1, 0};
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_INT32, 2, sizes, source, 24), EVALUE_OK);
  for (size_t size = 0; size < 24; size++) {
    check_refused(&t, NULL, EVALUE_LITTLE_ENDIAN, size, EVALUE_NO_SPACE);
    check_refused(&t, good, EVALUE_BIG_ENDIAN, size, EVALUE_NO_SPACE);
  }
  for (size_t i = 0; i < COUNT_OF(bad); i++) check_refused(&t, bad[i], EVALUE_LITTLE_ENDIAN, 64, EVALUE_MISUSE);
  check_refused(&t, good, 2, 64, EVALUE_MISUSE);
  check_refused(&t, good, UINT32_MAX, 64, EVALUE_MISUSE);
  check_refused(NULL, good, EVALUE_LITTLE_ENDIAN, 64, EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_copy(&t, good, EVALUE_LITTLE_ENDIAN, NULL, 24), EVALUE_MISUSE);
  t.nbytes = 20;
  check_refused(&t, good, EVALUE_LITTLE_ENDIAN, 64, EVALUE_MISUSE);
}

static void test_e5_copy_of_nothing(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 0};
  static const uint8_t bad[] = {1, 1};
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT64, 2, sizes, NULL, 0), EVALUE_OK);
  assert_int_equal(evalue_tensor_copy(&t, NULL, EVALUE_BIG_ENDIAN, NULL, 0), EVALUE_OK);
  check_refused(&t, NULL, EVALUE_BIG_ENDIAN, 64, EVALUE_OK);
  check_refused(&t, bad, EVALUE_BIG_ENDIAN, 64, EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_data_to_wire(EVALUE_FLOAT64, NULL, NULL, 0), EVALUE_OK);
}

/* ---- to the wire ---- */

/* What the host has, in its own order, read back by the copy that goes the other way. */
static void test_data_to_wire(void **state) {
  (void)state;
  static const int32_t seven = 7;
  for (uint32_t type = 0; type < 30; type++) {
    const size_t element = evalue_element_size(type), component = evalue_component_size(type);
    uint8_t host[7 * 16], back[7 * 16];
    guard_buffer wire = guard_new(7 * element);
    for (size_t i = 0; i < 7 * element; i++) {
      size_t in_component = i % component;
      size_t from = EVALUE_HOST_ENDIAN == EVALUE_LITTLE_ENDIAN ? i : i - in_component + component - 1 - in_component;
      host[i] = source[from];
    }
    assert_int_equal(evalue_tensor_data_to_wire(type, host, wire.data, 7 * element), EVALUE_OK);
    assert_memory_equal(wire.data, source, 7 * element);
    evalue_tensor t;
    assert_int_equal(evalue_tensor_init(&t, type, 1, &seven, wire.data, 7 * element), EVALUE_OK);
    assert_int_equal(evalue_tensor_copy(&t, NULL, EVALUE_HOST_ENDIAN, back, sizeof back), EVALUE_OK);
    assert_memory_equal(back, host, 7 * element);
    guard_free(&wire);
  }
}

static void test_f1_numbers_to_wire(void **state) {
  (void)state;
  static const uint8_t wire[] = {0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0};
  static const float floats[] = {1.5F, -2.0F};
  uint8_t bytes[8];
  assert_int_equal(evalue_tensor_data_to_wire(EVALUE_FLOAT32, floats, bytes, sizeof bytes), EVALUE_OK);
  assert_memory_equal(bytes, wire, sizeof wire);
  assert_int_equal(evalue_tensor_data_to_wire(EVALUE_COMPLEX64, floats, bytes, sizeof bytes), EVALUE_OK);
  assert_memory_equal(bytes, wire, sizeof wire);
}

static void test_data_to_wire_refuses(void **state) {
  (void)state;
  uint8_t wire[64];
  memset(wire, UNTOUCHED, sizeof wire);
  for (uint32_t type = 0; type < 30; type++) {
    const uint32_t component = evalue_component_size(type);
    for (size_t nbytes = 0; nbytes <= 32; nbytes++) {
      if (nbytes % component == 0) continue;
      assert_int_equal(evalue_tensor_data_to_wire(type, source, wire, nbytes), EVALUE_MISUSE);
    }
    assert_int_equal(evalue_tensor_data_to_wire(type, NULL, wire, 16), EVALUE_MISUSE);
    assert_int_equal(evalue_tensor_data_to_wire(type, source, NULL, 16), EVALUE_MISUSE);
  }
  assert_int_equal(evalue_tensor_data_to_wire(30, source, wire, 16), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_data_to_wire(256, source, wire, 16), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_data_to_wire(UINT32_MAX, source, wire, 0), EVALUE_MISUSE);
  for (size_t i = 0; i < sizeof wire; i++) assert_int_equal(wire[i], UNTOUCHED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_pair_of_orders),
      cmocka_unit_test(test_every_pair_of_orders_with_sizes_of_one),
      cmocka_unit_test(test_every_pair_of_orders_with_equal_sizes),
      cmocka_unit_test(test_every_pair_of_orders_of_nothing),
      cmocka_unit_test(test_matrices),
      cmocka_unit_test(test_c6_sixteen_dimensions),
      cmocka_unit_test(test_no_dimensions),
      cmocka_unit_test(test_null_order_is_row_major),
      cmocka_unit_test(test_g2_any_address),
      cmocka_unit_test(test_f1_host_order_gives_numbers),
      cmocka_unit_test(test_f5_big_endian_by_hand),
      cmocka_unit_test(test_f5_big_endian_of_any_length),
      cmocka_unit_test(test_dst_stays_as_it_was),
      cmocka_unit_test(test_e5_copy_of_nothing),
      cmocka_unit_test(test_data_to_wire),
      cmocka_unit_test(test_f1_numbers_to_wire),
      cmocka_unit_test(test_data_to_wire_refuses),
  };
  fill_source();
  return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}
