/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensor arithmetic: what is valid, sizes, strides and dim orders, typed access. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/tensor.h"
#include "guard.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define M               INT32_MAX

enum { UNTOUCHED = 0xA5, SOME = 256 };

static _Alignas(16) uint8_t data[SOME];

static evalue_tensor tensor_of(uint32_t scalar_type, size_t ndim, const int32_t *sizes, size_t nbytes) {
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, scalar_type, ndim, sizes, data, nbytes), EVALUE_OK);
  return t;
}

static evalue_tensor ordered(size_t ndim, const int32_t *sizes, const uint8_t *dim_order, size_t nbytes) {
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init_dim_order(&t, EVALUE_UINT8, ndim, sizes, dim_order, data, nbytes), EVALUE_OK);
  return t;
}

/* ---- making tensors ---- */

static void test_init(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 3, 4};
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_INT16, 3, sizes, data, 48), EVALUE_OK);
  assert_ptr_equal(t.data, data);
  assert_int_equal(t.nbytes, 48);
  assert_int_equal(t.ndim, 3);
  assert_int_equal(t.scalar_type, EVALUE_INT16);
  for (int i = 0; i < 3; i++) assert_true(t.sizes[i] == sizes[i] && t.dim_order[i] == i);
  assert_int_equal(evalue_tensor_check(&t), EVALUE_OK);
  static const uint8_t order[] = {2, 0, 1};
  assert_int_equal(evalue_tensor_init_dim_order(&t, EVALUE_INT16, 3, sizes, order, data + 1, 48), EVALUE_OK);
  assert_memory_equal(t.dim_order, order, 3);
  assert_ptr_equal(t.data, data + 1);
  static const int64_t strides[] = {4, 8, 1};
  assert_int_equal(evalue_tensor_init_strides(&t, EVALUE_UINT8, 3, sizes, strides, data, 24), EVALUE_OK);
  static const uint8_t want[] = {1, 0, 2};
  assert_memory_equal(t.dim_order, want, 3);
  assert_int_equal(evalue_tensor_init(&t, EVALUE_COMPLEX128, 0, NULL, data, 16), EVALUE_OK);
  assert_int_equal(evalue_tensor_init_dim_order(&t, EVALUE_COMPLEX128, 0, NULL, NULL, data, 16), EVALUE_OK);
  assert_int_equal(evalue_tensor_init_strides(&t, EVALUE_COMPLEX128, 0, NULL, NULL, data, 16), EVALUE_OK);
}

/* What init refuses it refuses before it writes. */
static void check_init(evalue_status want, uint32_t scalar_type, size_t ndim, const int32_t *sizes, const void *from,
                       size_t nbytes) {
  static const uint8_t order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  evalue_tensor t, before;
  memset(&t, UNTOUCHED, sizeof t);
  memset(&before, UNTOUCHED, sizeof before);
  assert_int_equal(evalue_tensor_init(&t, scalar_type, ndim, sizes, from, nbytes), want);
  assert_memory_equal(&t, &before, sizeof t);
  assert_int_equal(evalue_tensor_init_dim_order(&t, scalar_type, ndim, sizes, order, from, nbytes), want);
  assert_memory_equal(&t, &before, sizeof t);
}

static void test_init_refuses(void **state) {
  (void)state;
  static const int32_t sizes[17] = {2, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  static const int32_t negative[] = {2, -3}, least[] = {INT32_MIN, 1}, huge[] = {M, M};
  check_init(EVALUE_MISUSE, 30, 2, sizes, data, 6);
  check_init(EVALUE_MISUSE, 255, 2, sizes, data, 6);
  check_init(EVALUE_MISUSE, 256, 2, sizes, data, 6); /* no type is what is left of 256 in a byte */
  check_init(EVALUE_MISUSE, UINT32_MAX, 2, sizes, data, 6);
  check_init(EVALUE_MISUSE, EVALUE_UINT8, 17, sizes, data, 6);
  check_init(EVALUE_MISUSE, EVALUE_UINT8, 258, sizes, data, 6);
  check_init(EVALUE_MISUSE, EVALUE_UINT8, SIZE_MAX, sizes, data, 6);
  check_init(EVALUE_MISUSE, EVALUE_UINT8, SIZE_MAX / 4 + 3, sizes, data, 6);
  check_init(EVALUE_MISUSE, EVALUE_UINT8, 2, NULL, data, 6);
  check_init(EVALUE_MISUSE, EVALUE_UINT8, 2, negative, data, 6);
  check_init(EVALUE_MISUSE, EVALUE_UINT8, 2, least, data, 0);
  check_init(EVALUE_MISUSE, EVALUE_UINT8, 2, sizes, data, 5);
  check_init(EVALUE_MISUSE, EVALUE_UINT8, 2, sizes, data, 7);
  check_init(EVALUE_MISUSE, EVALUE_UINT8, 2, sizes, data, 0);
  check_init(EVALUE_MISUSE, EVALUE_FLOAT32, 2, sizes, data, 6);
  check_init(EVALUE_MISUSE, EVALUE_UINT8, 2, sizes, NULL, 6);
  check_init(EVALUE_LIMIT, EVALUE_INT16, 2, huge, data, 0);
  assert_int_equal(evalue_tensor_init(NULL, EVALUE_UINT8, 2, sizes, data, 6), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_check(NULL), EVALUE_MISUSE);
}

static void test_init_dim_order_refuses(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 3};
  static const uint8_t bad[][2] = {{0, 0}, {1, 1}, {0, 2}, {2, 0}, {255, 0}, {0, 32}, {1, 33}};
  evalue_tensor t, before;
  memset(&t, UNTOUCHED, sizeof t);
  memset(&before, UNTOUCHED, sizeof before);
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    assert_int_equal(evalue_tensor_init_dim_order(&t, EVALUE_UINT8, 2, sizes, bad[i], data, 6), EVALUE_MISUSE);
  }
  assert_int_equal(evalue_tensor_init_dim_order(&t, EVALUE_UINT8, 2, sizes, NULL, data, 6), EVALUE_MISUSE);
  assert_memory_equal(&t, &before, sizeof t);
}

static void test_init_strides_refuses(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 3}, negative[] = {2, -3}, huge[] = {M, M};
  static const int64_t good[] = {3, 1}, slice[] = {4, 1}, huge_strides[] = {M, 1};
  evalue_tensor t, before;
  memset(&t, UNTOUCHED, sizeof t);
  memset(&before, UNTOUCHED, sizeof before);
  assert_int_equal(evalue_tensor_init_strides(&t, EVALUE_UINT8, 2, sizes, slice, data, 6), EVALUE_UNSUPPORTED);
  assert_int_equal(evalue_tensor_init_strides(&t, EVALUE_UINT8, 2, sizes, NULL, data, 6), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_init_strides(&t, EVALUE_UINT8, 2, NULL, good, data, 6), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_init_strides(&t, EVALUE_UINT8, 17, sizes, good, data, 6), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_init_strides(&t, EVALUE_UINT8, 2, negative, good, data, 6), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_init_strides(&t, EVALUE_UINT8, 2, sizes, good, data, 5), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_init_strides(&t, 30, 2, sizes, good, data, 6), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_init_strides(&t, EVALUE_INT16, 2, huge, huge_strides, data, 0), EVALUE_LIMIT);
  assert_memory_equal(&t, &before, sizeof t);
  assert_int_equal(evalue_tensor_init_strides(NULL, EVALUE_UINT8, 2, sizes, good, data, 6), EVALUE_MISUSE);
}

static void test_b8_only_the_exact_size(void **state) {
  (void)state;
  static const int32_t sizes[] = {3, 1, 2};
  for (uint32_t type = 0; type < 30; type++) {
    for (size_t nbytes = 0; nbytes <= 6 * 16 + 1; nbytes++) {
      evalue_tensor t;
      evalue_status want = nbytes == 6 * evalue_element_size(type) ? EVALUE_OK : EVALUE_MISUSE;
      assert_int_equal(evalue_tensor_init(&t, type, 3, sizes, data, nbytes), want);
    }
  }
}

/* ---- sizes ---- */

static void test_extent_at_its_limit(void **state) {
  (void)state;
  static const struct {
    uint32_t type;
    int32_t sizes[4];
    evalue_status status; /* with nbytes of 0, which is right where a size is 0 */
  } cases[] = {
      {EVALUE_UINT8, {0, M, M, 1}, EVALUE_OK},
      {EVALUE_UINT8, {0, M, M, 2}, EVALUE_LIMIT},
      {EVALUE_UINT8, {0, M, M, M}, EVALUE_LIMIT},
      {EVALUE_UINT8, {M, M, M, 0}, EVALUE_LIMIT},
      {EVALUE_UINT8, {M, 0, M, M}, EVALUE_LIMIT},
      {EVALUE_UINT8, {M, M, 0, 1}, EVALUE_OK},
      {EVALUE_INT16, {0, M, M, 1}, EVALUE_LIMIT},
      {EVALUE_FLOAT32, {M, M, 0, 1}, EVALUE_LIMIT},
      {EVALUE_INT16, {0, M, 1 << 30, 1}, EVALUE_OK},
      {EVALUE_INT16, {0, 1 << 30, 1 << 30, 2}, EVALUE_LIMIT},
      {EVALUE_COMPLEX128, {0, 1 << 29, 1 << 29, 0}, EVALUE_LIMIT},
      {EVALUE_COMPLEX128, {0, 1 << 29, (1 << 29) - 1, 0}, EVALUE_OK},
      {EVALUE_UINT8, {65536, 65536, 65536, 65536}, EVALUE_LIMIT},
      {EVALUE_UINT8, {0, 0, 0, 0}, EVALUE_OK},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    evalue_tensor t;
    assert_int_equal(evalue_tensor_init(&t, cases[i].type, 4, cases[i].sizes, NULL, 0), cases[i].status);
    if (cases[i].status == EVALUE_OK) assert_int_equal(evalue_tensor_numel(&t), 0);
  }
}

/* The largest tensors there are; their data is nowhere. */
static void test_a2_largest_tensors(void **state) {
  (void)state;
#if SIZE_MAX > UINT32_MAX
  static const int32_t sizes[] = {M, M};
  const size_t numel = (size_t)M * (size_t)M;
  int64_t strides[2];
  evalue_tensor t = tensor_of(EVALUE_UINT8, 2, sizes, numel);
  assert_true(evalue_tensor_numel(&t) == (int64_t)numel);
  assert_int_equal(evalue_tensor_strides(&t, strides), EVALUE_OK);
  assert_true(strides[0] == M && strides[1] == 1);
  static const int32_t cube[] = {1 << 30, 1, M, 1};
  t = tensor_of(EVALUE_INT16, 4, cube, (size_t)M << 31);
  assert_true(evalue_tensor_numel(&t) == (int64_t)M << 30);
#else
  skip();
#endif
}

/* numel x element size can be right only as a number wider than size_t, never as what is left of it. */
static void test_a1_size_is_not_truncated(void **state) {
  (void)state;
  static const int32_t sizes[][3] = {{65536, 65536, 1}, {65536, 65537, 1}, {1 << 16, 1 << 16, 1 << 16}};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    uint64_t product = (uint64_t)sizes[i][0] * (uint64_t)sizes[i][1] * (uint64_t)sizes[i][2];
    evalue_tensor t;
    assert_int_equal(evalue_tensor_init(&t, EVALUE_UINT8, 3, sizes[i], data, (uint32_t)product), EVALUE_MISUSE);
    assert_int_equal(evalue_tensor_init(&t, EVALUE_UINT8, 3, sizes[i], data, 0), EVALUE_MISUSE);
  }
}

static void test_numel(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 3, 5, 0};
  static const int64_t want[] = {1, 2, 6, 30, 0};
  for (size_t ndim = 0; ndim <= 4; ndim++) {
    evalue_tensor t = tensor_of(EVALUE_INT32, ndim, sizes, 4 * (size_t)want[ndim]);
    assert_true(evalue_tensor_numel(&t) == want[ndim]);
    t.nbytes++;
    assert_true(evalue_tensor_numel(&t) == -1);
  }
  assert_true(evalue_tensor_numel(NULL) == -1);
}

/* ---- contiguity and strides ---- */

static void test_is_contiguous(void **state) {
  (void)state;
  static const struct {
    int32_t sizes[3];
    uint8_t order[3];
    bool is_contiguous;
  } cases[] = {
      {{2, 3, 4}, {0, 1, 2}, true},  {{2, 3, 4}, {0, 2, 1}, false}, {{2, 3, 4}, {2, 1, 0}, false},
      {{2, 1, 4}, {0, 2, 1}, true},  {{2, 1, 4}, {1, 0, 2}, true},  {{2, 1, 4}, {1, 2, 0}, false},
      {{2, 1, 4}, {2, 1, 0}, false}, {{1, 1, 4}, {2, 1, 0}, true},  {{1, 1, 1}, {2, 0, 1}, true},
      {{0, 3, 4}, {2, 1, 0}, true},  {{2, 3, 0}, {1, 0, 2}, true},  {{2, 3, 1}, {2, 1, 0}, false},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const int32_t *s = cases[i].sizes;
    evalue_tensor t = ordered(3, s, cases[i].order, (size_t)(s[0] * s[1] * s[2]));
    assert_int_equal(evalue_tensor_is_contiguous(&t), cases[i].is_contiguous);
    t.ndim = 17;
    assert_false(evalue_tensor_is_contiguous(&t));
  }
  evalue_tensor scalar = tensor_of(EVALUE_UINT8, 0, NULL, 1);
  assert_true(evalue_tensor_is_contiguous(&scalar));
  assert_false(evalue_tensor_is_contiguous(NULL));
}

static void test_strides(void **state) {
  (void)state;
  static const struct {
    int32_t sizes[4];
    uint8_t order[4];
    int64_t strides[4];
  } cases[] = {
      {{2, 3, 4, 5}, {0, 1, 2, 3}, {60, 20, 5, 1}},
      {{2, 3, 4, 5}, {0, 2, 3, 1}, {60, 1, 15, 3}}, /* channels-last */
      {{2, 3, 4, 5}, {3, 2, 1, 0}, {1, 2, 6, 24}},
      {{2, 0, 4, 5}, {0, 1, 2, 3}, {20, 20, 5, 1}}, /* a size of zero counts as one */
      {{2, 1, 4, 1}, {0, 1, 2, 3}, {4, 4, 1, 1}},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const int32_t *s = cases[i].sizes;
    evalue_tensor t = ordered(4, s, cases[i].order, (size_t)(s[0] * s[1] * s[2] * s[3]));
    int64_t strides[5];
    int32_t narrow[5];
    memset(strides, UNTOUCHED, sizeof strides);
    memset(narrow, UNTOUCHED, sizeof narrow);
    const int64_t canary = strides[4];
    assert_int_equal(evalue_tensor_strides(&t, strides), EVALUE_OK);
    assert_memory_equal(strides, cases[i].strides, sizeof cases[i].strides);
    assert_int_equal(evalue_tensor_strides_int32(&t, narrow), EVALUE_OK);
    for (int k = 0; k < 4; k++) assert_true(narrow[k] == cases[i].strides[k]);
    assert_true(strides[4] == canary && narrow[4] == (int32_t)canary);
  }
}

static void test_d7_strides_of_no_dimensions(void **state) {
  (void)state;
  const evalue_tensor t = tensor_of(EVALUE_FLOAT32, 0, NULL, 4);
  assert_int_equal(evalue_tensor_strides(&t, NULL), EVALUE_OK);
  assert_int_equal(evalue_tensor_strides_int32(&t, NULL), EVALUE_OK);
  assert_int_equal(evalue_dim_order_from_strides(0, NULL, NULL, NULL), EVALUE_OK);
}

/* 2^31 as a stride needs an empty tensor, since no host of 32 bits could hold another. */
static void test_strides_that_do_not_fit_int32(void **state) {
  (void)state;
  static const int32_t odd[] = {0, 2, M, 1}, power[] = {0, 2, 1 << 30, 2};
  int64_t wide[4];
  int32_t narrow[4], before[4];
  evalue_tensor t = tensor_of(EVALUE_UINT8, 4, odd, 0);
  assert_int_equal(evalue_tensor_strides(&t, wide), EVALUE_OK);
  assert_true(wide[0] == 2 * (int64_t)M && wide[1] == M && wide[2] == 1 && wide[3] == 1);
  memset(narrow, UNTOUCHED, sizeof narrow);
  memset(before, UNTOUCHED, sizeof before);
  assert_int_equal(evalue_tensor_strides_int32(&t, narrow), EVALUE_UNSUPPORTED);
  assert_memory_equal(narrow, before, sizeof narrow);
  assert_int_equal(evalue_tensor_strides_int32(&t, NULL), EVALUE_MISUSE);
  t = tensor_of(EVALUE_UINT8, 4, power, 0);
  assert_int_equal(evalue_tensor_strides_int32(&t, narrow), EVALUE_UNSUPPORTED);
  assert_memory_equal(narrow, before, sizeof narrow);
  static const int32_t largest[] = {0, 1, M};
  t = tensor_of(EVALUE_UINT8, 3, largest, 0);
  assert_int_equal(evalue_tensor_strides_int32(&t, narrow), EVALUE_OK);
  assert_true(narrow[0] == M && narrow[1] == M && narrow[2] == 1);
}

static void test_null_and_invalid_are_misuse(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 3};
  evalue_tensor t = tensor_of(EVALUE_BOOL, 2, sizes, 6);
  int64_t wide[2];
  int32_t narrow[2];
  uint64_t index;
  assert_int_equal(evalue_tensor_strides(NULL, wide), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_strides(&t, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_strides_int32(NULL, narrow), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_strides_int32(&t, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_check_data(NULL, &index), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_check_data(&t, NULL), EVALUE_MISUSE);
  assert_null(evalue_tensor_typed_data(NULL, EVALUE_BOOL));
  t.dim_order[0] = 9;
  assert_int_equal(evalue_tensor_check(&t), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_strides(&t, wide), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_strides_int32(&t, narrow), EVALUE_MISUSE);
  assert_int_equal(evalue_tensor_check_data(&t, &index), EVALUE_MISUSE);
  assert_null(evalue_tensor_typed_data(&t, EVALUE_BOOL));
}

/* Every function says of a bad tensor what evalue_tensor_check says of it: here that it is too large. */
static void test_too_large_a_tensor_is_a_limit(void **state) {
  (void)state;
  static const int32_t small[] = {0, 1, 1, 1};
  evalue_tensor t = tensor_of(EVALUE_BOOL, 4, small, 0);
  int64_t wide[4];
  int32_t narrow[4];
  uint64_t index;
  t.sizes[1] = t.sizes[2] = t.sizes[3] = M;
  assert_int_equal(evalue_tensor_check(&t), EVALUE_LIMIT);
  assert_true(evalue_tensor_numel(&t) == -1);
  assert_false(evalue_tensor_is_contiguous(&t));
  assert_int_equal(evalue_tensor_strides(&t, wide), EVALUE_LIMIT);
  assert_int_equal(evalue_tensor_strides_int32(&t, narrow), EVALUE_LIMIT);
  assert_int_equal(evalue_tensor_check_data(&t, &index), EVALUE_LIMIT);
  assert_int_equal(evalue_tensor_copy(&t, NULL, EVALUE_HOST_ENDIAN, data, sizeof data), EVALUE_LIMIT);
}

/* ---- dim order from strides ---- */

static void check_order(size_t ndim, const int32_t *sizes, const int64_t *strides, const uint8_t *want) {
  uint8_t order[EVALUE_MAX_NDIM + 1];
  memset(order, UNTOUCHED, sizeof order);
  assert_int_equal(evalue_dim_order_from_strides(ndim, sizes, strides, order), EVALUE_OK);
  assert_memory_equal(order, want, ndim);
  assert_int_equal(order[ndim], UNTOUCHED);
}

static void check_no_order(size_t ndim, const int32_t *sizes, const int64_t *strides, evalue_status status) {
  uint8_t order[EVALUE_MAX_NDIM + 1], before[EVALUE_MAX_NDIM + 1];
  memset(order, UNTOUCHED, sizeof order);
  memset(before, UNTOUCHED, sizeof before);
  assert_int_equal(evalue_dim_order_from_strides(ndim, sizes, strides, order), status);
  assert_memory_equal(order, before, sizeof order);
}

#define SIZES(...)   ((const int32_t[]){__VA_ARGS__})
#define STRIDES(...) ((const int64_t[]){__VA_ARGS__})
#define ORDER(...)   ((const uint8_t[]){__VA_ARGS__})

static void test_orders_that_strides_express(void **state) {
  (void)state;
  check_order(3, SIZES(2, 3, 4), STRIDES(12, 4, 1), ORDER(0, 1, 2));
  check_order(4, SIZES(2, 3, 4, 5), STRIDES(60, 1, 15, 3), ORDER(0, 2, 3, 1));
  check_order(1, SIZES(7), STRIDES(1), ORDER(0));
  /* ties break by ascending index */
  check_order(3, SIZES(1, 1, 1), STRIDES(1, 1, 1), ORDER(0, 1, 2));
  check_order(3, SIZES(4, 1, 1), STRIDES(1, 1, 1), ORDER(0, 1, 2));
  check_order(3, SIZES(1, 4, 1), STRIDES(4, 1, 4), ORDER(0, 2, 1));
  check_order(2, SIZES(1, 3), STRIDES(1, 1), ORDER(0, 1));
  check_order(2, SIZES(3, 1), STRIDES(1, 3), ORDER(1, 0));
  /* a size of 1 may have any stride, and stands where its stride puts it */
  check_order(3, SIZES(2, 1, 4), STRIDES(4, 0, 1), ORDER(0, 2, 1));
  check_order(3, SIZES(2, 1, 4), STRIDES(4, -7, 1), ORDER(0, 2, 1));
  check_order(3, SIZES(2, 1, 4), STRIDES(4, INT64_MAX, 1), ORDER(1, 0, 2));
  check_order(3, SIZES(2, 1, 4), STRIDES(4, 2, 1), ORDER(0, 1, 2));
  check_order(1, SIZES(1), STRIDES(INT64_MIN), ORDER(0));
  /* and a tensor without elements any strides */
  check_order(3, SIZES(0, 3, 4), STRIDES(12, 4, 1), ORDER(0, 1, 2));
  check_order(3, SIZES(2, 0, 4), STRIDES(-1, 0, 100), ORDER(2, 1, 0));
  check_order(3, SIZES(2, 3, 0), STRIDES(INT64_MIN, INT64_MAX, 0), ORDER(1, 2, 0));
  check_order(2, SIZES(0, 0), STRIDES(0, 0), ORDER(0, 1));
}

static void test_strides_that_no_order_expresses(void **state) {
  (void)state;
  check_no_order(2, SIZES(2, 3), STRIDES(4, 1), EVALUE_UNSUPPORTED); /* a slice of columns */
  check_no_order(2, SIZES(2, 3), STRIDES(6, 2), EVALUE_UNSUPPORTED); /* every second */
  check_no_order(1, SIZES(3), STRIDES(2), EVALUE_UNSUPPORTED);
  check_no_order(2, SIZES(2, 3), STRIDES(0, 1), EVALUE_UNSUPPORTED); /* a broadcast */
  check_no_order(2, SIZES(2, 3), STRIDES(1, 0), EVALUE_UNSUPPORTED);
  check_no_order(1, SIZES(3), STRIDES(0), EVALUE_UNSUPPORTED);
  check_no_order(1, SIZES(3), STRIDES(-1), EVALUE_UNSUPPORTED); /* backwards */
  check_no_order(2, SIZES(2, 3), STRIDES(3, -1), EVALUE_UNSUPPORTED);
  check_no_order(2, SIZES(2, 2), STRIDES(1, 1), EVALUE_UNSUPPORTED); /* elements on top of each other */
  check_no_order(2, SIZES(3, 3), STRIDES(2, 1), EVALUE_UNSUPPORTED);
  check_no_order(3, SIZES(2, 3, 4), STRIDES(12, 4, 4), EVALUE_UNSUPPORTED);
  check_no_order(2, SIZES(2, 3), STRIDES(INT64_MAX, 1), EVALUE_UNSUPPORTED);
  check_no_order(2, SIZES(2, 3), STRIDES(INT64_MIN, 1), EVALUE_UNSUPPORTED);
  check_no_order(2, SIZES(2, -3), STRIDES(3, 1), EVALUE_MISUSE);
  check_no_order(2, SIZES(0, -1), STRIDES(3, 1), EVALUE_MISUSE);
  check_no_order(3, SIZES(M, M, 4), STRIDES(1, 1, 1), EVALUE_LIMIT);
  check_no_order(4, SIZES(0, M, M, M), STRIDES(1, 1, 1, 1), EVALUE_LIMIT);
  check_no_order(17, NULL, NULL, EVALUE_MISUSE);
  check_no_order(SIZE_MAX, SIZES(1), STRIDES(1), EVALUE_MISUSE);
  check_no_order(1, NULL, STRIDES(1), EVALUE_MISUSE);
  check_no_order(1, SIZES(1), NULL, EVALUE_MISUSE);
  assert_int_equal(evalue_dim_order_from_strides(1, SIZES(1), STRIDES(1), NULL), EVALUE_MISUSE);
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

/* A dimension of size 1 may come back with another stride: ties break by index, wherever it stood. No element depends
 * on it. */
static void check_same_places(size_t ndim, const int32_t *sizes, const int64_t *a, const int64_t *b) {
  for (size_t i = 0; i < ndim; i++) assert_true(a[i] == b[i] || sizes[i] == 1);
}

/* Strides to dim_order and back, for every order; dim_order itself comes back where no two strides are alike. */
static void test_every_order_of_four_comes_back(void **state) {
  (void)state;
  static const int32_t shapes[][4] = {{2, 3, 4, 5}, {2, 2, 2, 2}, {1, 3, 1, 2}, {0, 3, 2, 4}, {1, 1, 1, 1}};
  for (size_t i = 0; i < COUNT_OF(shapes); i++) {
    const int32_t *sizes = shapes[i];
    const size_t numel = (size_t)(sizes[0] * sizes[1] * sizes[2] * sizes[3]);
    uint8_t order[] = {0, 1, 2, 3};
    int count = 0;
    do {
      evalue_tensor t = ordered(4, sizes, order, numel), again;
      int64_t strides[4], strides_again[4];
      assert_int_equal(evalue_tensor_strides(&t, strides), EVALUE_OK);
      assert_int_equal(evalue_tensor_init_strides(&again, EVALUE_UINT8, 4, sizes, strides, data, numel), EVALUE_OK);
      assert_int_equal(evalue_tensor_strides(&again, strides_again), EVALUE_OK);
      if (numel != 0) check_same_places(4, sizes, strides, strides_again);
      if (i < 2) assert_memory_equal(again.dim_order, order, 4);
      count++;
    } while (permute(order, 4));
    assert_int_equal(count, 24);
  }
}

static void test_c6_sixteen_dimensions(void **state) {
  (void)state;
  int32_t sizes[16];
  int64_t strides[16];
  uint8_t order[16], found[16];
  for (uint8_t i = 0; i < 16; i++) {
    sizes[i] = i % 2 == 0 ? 2 : 1;
    order[i] = (uint8_t)((7 * i + 3) % 16);
  }
  evalue_tensor t = ordered(16, sizes, order, 256);
  assert_true(evalue_tensor_numel(&t) == 256);
  assert_int_equal(evalue_tensor_strides(&t, strides), EVALUE_OK);
  assert_int_equal(evalue_dim_order_from_strides(16, sizes, strides, found), EVALUE_OK);
  evalue_tensor again = ordered(16, sizes, found, 256);
  int64_t strides_again[16];
  assert_int_equal(evalue_tensor_strides(&again, strides_again), EVALUE_OK);
  check_same_places(16, sizes, strides, strides_again);
}

/* ---- data ---- */

/* Where it lies it can be used by its own type, aligned, on a little-endian host, and not empty. */
static void test_typed_data(void **state) {
  (void)state;
  static const int32_t three = 3, none = 0;
  for (uint32_t type = 0; type < 30; type++) {
    const uint32_t component = evalue_component_size(type);
    for (size_t at = 0; at < 16; at++) {
      evalue_tensor t = tensor_of(type, 1, &three, 3 * evalue_element_size(type));
      t.data = data + at;
      bool is_usable = at % component == 0 && (component == 1 || EVALUE_HOST_ENDIAN == EVALUE_LITTLE_ENDIAN);
      assert_ptr_equal(evalue_tensor_typed_data(&t, type), is_usable ? data + at : NULL);
      for (uint32_t other = 0; other < 40; other++) {
        if (other != type) assert_null(evalue_tensor_typed_data(&t, other));
      }
      assert_null(evalue_tensor_typed_data(&t, type + 256));
      assert_null(evalue_tensor_typed_data(&t, UINT32_MAX));
    }
    evalue_tensor empty = tensor_of(type, 1, &none, 0);
    assert_null(evalue_tensor_typed_data(&empty, type));
    empty.nbytes = 1;
    assert_null(evalue_tensor_typed_data(&empty, type));
  }
}

static void test_d6_check_data(void **state) {
  (void)state;
  static const int32_t sizes[] = {5, 10};
  guard_buffer guard = guard_new(50);
  uint64_t index = 77;
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_BOOL, 2, sizes, guard.data, 50), EVALUE_OK);
  for (size_t i = 0; i < 50; i++) guard.data[i] = i % 3 == 0;
  assert_int_equal(evalue_tensor_check_data(&t, &index), EVALUE_OK);
  for (size_t i = 50; i-- > 0;) {
    guard.data[i] = (uint8_t)(i == 30 ? 2 : 255 - i);
    assert_int_equal(evalue_tensor_check_data(&t, &index), EVALUE_MALFORMED);
    assert_int_equal(index, i); /* the first */
  }
  t.scalar_type = EVALUE_UINT8; /* any byte is good in another type */
  assert_int_equal(evalue_tensor_check_data(&t, &index), EVALUE_OK);
  t.scalar_type = EVALUE_BITS8;
  assert_int_equal(evalue_tensor_check_data(&t, &index), EVALUE_OK);
  guard_free(&guard);
}

static void test_e5_check_data_of_nothing(void **state) {
  (void)state;
  static const int32_t sizes[] = {5, 0};
  evalue_tensor t;
  uint64_t index;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_BOOL, 2, sizes, NULL, 0), EVALUE_OK);
  assert_int_equal(evalue_tensor_check_data(&t, &index), EVALUE_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_init),
      cmocka_unit_test(test_init_refuses),
      cmocka_unit_test(test_init_dim_order_refuses),
      cmocka_unit_test(test_init_strides_refuses),
      cmocka_unit_test(test_b8_only_the_exact_size),
      cmocka_unit_test(test_extent_at_its_limit),
      cmocka_unit_test(test_a2_largest_tensors),
      cmocka_unit_test(test_a1_size_is_not_truncated),
      cmocka_unit_test(test_numel),
      cmocka_unit_test(test_is_contiguous),
      cmocka_unit_test(test_strides),
      cmocka_unit_test(test_d7_strides_of_no_dimensions),
      cmocka_unit_test(test_strides_that_do_not_fit_int32),
      cmocka_unit_test(test_null_and_invalid_are_misuse),
      cmocka_unit_test(test_too_large_a_tensor_is_a_limit),
      cmocka_unit_test(test_orders_that_strides_express),
      cmocka_unit_test(test_strides_that_no_order_expresses),
      cmocka_unit_test(test_every_order_of_four_comes_back),
      cmocka_unit_test(test_c6_sixteen_dimensions),
      cmocka_unit_test(test_typed_data),
      cmocka_unit_test(test_d6_check_data),
      cmocka_unit_test(test_e5_check_data_of_nothing),
  };
  return cmocka_run_group_tests_name("tensor", tests, NULL, NULL);
}
