/* SPDX-License-Identifier: BSD-3-Clause */
/* Values: making them, checking them, and when two are the same. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/tensor.h"
#include "evalue/value.h"
#include "guard.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define M               INT32_MAX

enum { UNTOUCHED = 0xA5 };

static const uint8_t data[32] = {0, 1, 0, 1, 1, 1, 0, 0, 1};
static const int32_t shape[] = {2, 3, 1};

static evalue tensor_of(uint32_t scalar_type, size_t ndim, const int32_t *sizes, const uint8_t *order, const void *from,
                        size_t nbytes) {
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init_dim_order(&t, scalar_type, ndim, sizes, order, from, nbytes), EVALUE_OK);
  return evalue_from_tensor(&t);
}

/* A double by its bits; passing it as a double could quieten a signalling NaN on some hosts. */
static evalue double_of(uint64_t bits) {
  evalue v = evalue_from_double(0);
  memcpy(&v.double_value, &bits, sizeof bits);
  return v;
}

static uint64_t bits_of(const evalue *v) {
  uint64_t bits;
  memcpy(&bits, &v->double_value, sizeof bits);
  return bits;
}

/* ---- making values ---- */

static void test_made_values(void **state) {
  (void)state;
  static const char text[] = "text";
  evalue v = evalue_from_none();
  assert_int_equal(v.tag, EVALUE_TAG_NONE);
  v = evalue_from_int(INT64_MIN);
  assert_true(v.tag == EVALUE_TAG_INT && v.int_value == INT64_MIN);
  v = evalue_from_bool(true);
  assert_true(v.tag == EVALUE_TAG_BOOL && v.bool_value == 1);
  v = evalue_from_bool(false);
  assert_true(v.tag == EVALUE_TAG_BOOL && v.bool_value == 0);
  v = evalue_from_bool(2);
  assert_int_equal(v.bool_value, 1);
  v = evalue_from_double(-2.5);
  assert_true(v.tag == EVALUE_TAG_DOUBLE && v.double_value == -2.5);
  v = evalue_from_string(text, 4);
  assert_true(v.tag == EVALUE_TAG_STRING && v.string.data == text && v.string.nbytes == 4);
  v = evalue_from_string(NULL, 0);
  assert_true(v.string.data == NULL && v.string.nbytes == 0);
  v = tensor_of(EVALUE_INT16, 2, shape, data, data, 12);
  assert_true(v.tag == EVALUE_TAG_TENSOR && v.tensor.data == data && v.tensor.nbytes == 12 && v.tensor.sizes[1] == 3);
  v = evalue_from_tensor(NULL);
  assert_int_equal(evalue_check(&v), EVALUE_MISUSE);
}

static const uint64_t double_bits[] = {0,
                                       UINT64_C(0x8000000000000000), /* -0.0 */
                                       UINT64_C(0x3ff0000000000000),
                                       UINT64_C(0x0000000000000001), /* the smallest */
                                       UINT64_C(0x7ff0000000000000), /* infinity */
                                       UINT64_C(0xfff0000000000000),
                                       UINT64_C(0x7ff8000000000000), /* NaNs with several payloads */
                                       UINT64_C(0xfff8000000000000),
                                       UINT64_C(0x7ff8000000000001),
                                       UINT64_C(0x7fffffffffffffff)};

/* "Every bit pattern is kept." */
static void check_kept(uint64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  evalue v = evalue_from_double(d);
  assert_true(bits_of(&v) == bits);
}

static void test_double_bits_are_kept(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(double_bits); i++) check_kept(double_bits[i]);
}

static void test_signalling_nan_is_kept(void **state) {
  (void)state;
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 2
  skip(); /* where doubles travel through x87 registers, passing one to any function can quieten it */
#endif
  check_kept(UINT64_C(0x7ff0000000000001));
  check_kept(UINT64_C(0xfff4000000000abc));
}

/* ---- checking them ---- */

static void test_check(void **state) {
  (void)state;
  const evalue good[] = {
      evalue_from_none(),          evalue_from_int(-1),         evalue_from_double(0.5),
      evalue_from_bool(true),      evalue_from_bool(false),     evalue_from_string("", 0),
      evalue_from_string(NULL, 0), evalue_from_string("ab", 2), tensor_of(EVALUE_BOOL, 2, shape, data, data, 6)};
  for (size_t i = 0; i < COUNT_OF(good); i++) assert_int_equal(evalue_check(&good[i]), EVALUE_OK);
  assert_int_equal(evalue_check(NULL), EVALUE_MISUSE);
  for (uint32_t tag = 6; tag < 256; tag++) {
    evalue v = evalue_from_bool(false);
    v.tag = (uint8_t)tag;
    assert_int_equal(evalue_check(&v), EVALUE_MISUSE);
  }
  for (uint32_t byte = 0; byte < 256; byte++) {
    evalue v = evalue_from_bool(false);
    v.bool_value = (uint8_t)byte;
    assert_int_equal(evalue_check(&v), byte < 2 ? EVALUE_OK : EVALUE_MISUSE);
  }
}

static void test_check_of_strings(void **state) {
  (void)state;
  evalue v = evalue_from_string(NULL, 1);
  assert_int_equal(evalue_check(&v), EVALUE_MISUSE);
#if SIZE_MAX > UINT32_MAX
  v = evalue_from_string("x", (size_t)EVALUE_SIZE_LIMIT - 1);
  assert_int_equal(evalue_check(&v), EVALUE_OK);
  v = evalue_from_string("x", (size_t)EVALUE_SIZE_LIMIT);
  assert_int_equal(evalue_check(&v), EVALUE_LIMIT);
  v = evalue_from_string("x", SIZE_MAX);
  assert_int_equal(evalue_check(&v), EVALUE_LIMIT);
#else
  v = evalue_from_string("x", SIZE_MAX);
  assert_int_equal(evalue_check(&v), EVALUE_OK);
#endif
}

static void test_check_of_tensors(void **state) {
  (void)state;
  static const uint8_t order[] = {0, 1};
  const evalue good = tensor_of(EVALUE_INT16, 2, shape, order, data, 12);
  evalue v = good;
  v.tensor.dim_order[0] = 1;
  assert_int_equal(evalue_check(&v), EVALUE_MISUSE);
  v = good;
  v.tensor.data = NULL;
  assert_int_equal(evalue_check(&v), EVALUE_MISUSE);
  v = good;
  v.tensor.sizes[0] = v.tensor.sizes[1] = M;
  assert_int_equal(evalue_check(&v), EVALUE_LIMIT);
}

/* Payloads may lie where nobody can read them. */
static void test_check_reads_no_payload(void **state) {
  (void)state;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const int32_t sizes[] = {(int32_t)page};
  static const uint8_t order[] = {0};
  void *p = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(p != MAP_FAILED);
  evalue v = tensor_of(EVALUE_BOOL, 1, sizes, order, p, page);
  assert_int_equal(evalue_check(&v), EVALUE_OK);
  assert_true(evalue_tensor_numel(&v.tensor) == (int64_t)page);
  v = evalue_from_string((const char *)p, page);
  assert_int_equal(evalue_check(&v), EVALUE_OK);
  munmap(p, page);
}

/* ---- when two are the same ---- */

/* No two of these are the same value, though many are alike in some way. */
static size_t make_different(evalue *v) {
  static const uint8_t other_data[12] = {0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 0, 1};
  static const int32_t turned[] = {3, 2, 1}, flat[] = {6}, empty[] = {0, 3, 1}, empty_too[] = {2, 0, 1};
  static const uint8_t order[] = {0, 1, 2}, swapped[] = {1, 0, 2}, last[] = {0, 2, 1};
  size_t n = 0;
  v[n++] = evalue_from_none();
  v[n++] = evalue_from_bool(false);
  v[n++] = evalue_from_bool(true);
  v[n++] = evalue_from_int(0);
  v[n++] = evalue_from_int(1);
  v[n++] = evalue_from_int(-1);
  v[n++] = evalue_from_int(INT64_C(1) << 32);
  for (size_t i = 0; i < COUNT_OF(double_bits); i++) v[n++] = double_of(double_bits[i]);
  v[n++] = double_of(UINT64_C(0x7ff0000000000001)); /* signalling */
  v[n++] = evalue_from_string(NULL, 0);
  v[n++] = evalue_from_string("a", 1);
  v[n++] = evalue_from_string("b", 1);
  v[n++] = evalue_from_string("a\0", 2);
  v[n++] = evalue_from_string("a\0b", 3);
  v[n++] = evalue_from_string("a\0c", 3);
  v[n++] = tensor_of(EVALUE_UINT8, 2, shape, order, data, 6);
  v[n++] = tensor_of(EVALUE_INT8, 2, shape, order, data, 6);
  v[n++] = tensor_of(EVALUE_UINT8, 2, shape, swapped, data, 6);
  v[n++] = tensor_of(EVALUE_UINT8, 2, turned, order, data, 6);
  v[n++] = tensor_of(EVALUE_UINT8, 1, flat, order, data, 6);
  v[n++] = tensor_of(EVALUE_UINT8, 3, shape, order, data, 6);
  v[n++] = tensor_of(EVALUE_UINT8, 3, shape, last, data, 6); /* alike in memory, and different all the same */
  v[n++] = tensor_of(EVALUE_UINT8, 2, shape, order, data + 1, 6);
  v[n++] = tensor_of(EVALUE_INT16, 2, shape, order, data, 12);
  v[n++] = tensor_of(EVALUE_INT16, 2, shape, order, other_data, 12);
  v[n++] = tensor_of(EVALUE_UINT8, 0, NULL, order, data, 1);
  v[n++] = tensor_of(EVALUE_UINT8, 2, empty, order, NULL, 0);
  v[n++] = tensor_of(EVALUE_UINT8, 2, empty_too, order, NULL, 0);
  v[n++] = tensor_of(EVALUE_UINT8, 2, empty, swapped, NULL, 0);
  return n;
}

static void test_equality_matrix(void **state) {
  (void)state;
  evalue v[64], copy[64];
  size_t n = make_different(v);
  assert_true(n <= COUNT_OF(v));
  memcpy(copy, v, n * sizeof v[0]);
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < n; k++) {
      if (evalue_equal(&v[i], &copy[k]) != (i == k)) fail_msg("values %d and %d", (int)i, (int)k);
    }
  }
}

/* The same value, elsewhere in memory, and with other bytes in the members that do not count. */
static void test_equal_elsewhere(void **state) {
  (void)state;
  uint8_t elsewhere[13] = {0};
  static const uint8_t order[] = {1, 0};
  memcpy(elsewhere + 1, data, 12);
  evalue a = tensor_of(EVALUE_INT16, 2, shape, order, data, 12), b;
  memset(&b, UNTOUCHED, sizeof b);
  b.tag = EVALUE_TAG_TENSOR;
  b.tensor.data = elsewhere + 1;
  b.tensor.nbytes = 12;
  b.tensor.ndim = 2;
  b.tensor.scalar_type = EVALUE_INT16;
  b.tensor.sizes[0] = 2, b.tensor.sizes[1] = 3;
  b.tensor.dim_order[0] = 1, b.tensor.dim_order[1] = 0;
  assert_true(evalue_equal(&a, &b));
  elsewhere[12] ^= 1;
  assert_false(evalue_equal(&a, &b));
  a = evalue_from_string("same", 4);
  b = evalue_from_string(&"the same"[4], 4);
  assert_true(evalue_equal(&a, &b));
  a = evalue_from_string(NULL, 0);
  b = evalue_from_string("", 0);
  assert_true(evalue_equal(&a, &b));
  memset(&b, UNTOUCHED, sizeof b);
  b.tag = EVALUE_TAG_NONE;
  a = evalue_from_none();
  assert_true(evalue_equal(&a, &b));
  b.tag = EVALUE_TAG_BOOL;
  b.bool_value = 1;
  a = evalue_from_bool(true);
  assert_true(evalue_equal(&a, &b));
}

static void test_invalid_is_equal_to_nothing(void **state) {
  (void)state;
  const evalue good = evalue_from_bool(true);
  evalue bad = good;
  bad.bool_value = 2;
  assert_false(evalue_equal(NULL, &good));
  assert_false(evalue_equal(&good, NULL));
  assert_false(evalue_equal(NULL, NULL));
  assert_false(evalue_equal(&bad, &bad));
  assert_false(evalue_equal(&good, &bad));
  bad = evalue_from_none();
  bad.tag = 6;
  assert_false(evalue_equal(&bad, &bad));
  bad = evalue_from_string(NULL, 4);
  assert_false(evalue_equal(&bad, &bad));
  bad = evalue_from_tensor(NULL);
  assert_false(evalue_equal(&bad, &bad));
}

/* Comparing reads up to the end of the bytes and not beyond. */
static void test_b9_equal_at_a_guard_page(void **state) {
  (void)state;
  static const uint8_t order[] = {0, 1};
  guard_buffer guard = guard_put(data, 12);
  evalue a = tensor_of(EVALUE_INT16, 2, shape, order, data, 12),
         b = tensor_of(EVALUE_INT16, 2, shape, order, guard.data, 12);
  assert_true(evalue_equal(&a, &b));
  a = evalue_from_string((const char *)data, 12);
  b = evalue_from_string((const char *)guard.data, 12);
  assert_true(evalue_equal(&a, &b));
  a.string.nbytes = 13;
  assert_false(evalue_equal(&a, &b));
  assert_false(evalue_equal(&b, &a));
  guard_free(&guard);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_made_values),
      cmocka_unit_test(test_double_bits_are_kept),
      cmocka_unit_test(test_signalling_nan_is_kept),
      cmocka_unit_test(test_check),
      cmocka_unit_test(test_check_of_strings),
      cmocka_unit_test(test_check_of_tensors),
      cmocka_unit_test(test_check_reads_no_payload),
      cmocka_unit_test(test_equality_matrix),
      cmocka_unit_test(test_equal_elsewhere),
      cmocka_unit_test(test_invalid_is_equal_to_nothing),
      cmocka_unit_test(test_b9_equal_at_a_guard_page),
  };
  return cmocka_run_group_tests_name("value", tests, NULL, NULL);
}
