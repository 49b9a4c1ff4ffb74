/* SPDX-License-Identifier: BSD-3-Clause */
/* What a writer of ExecuTorch's Android bytes makes of a value, against bytes put together by hand and, for tensors in
 * other orders, element by element. */
#include "java_values.h"

/* ---- judging what is written ---- */

/* Into memory that ends at a page that nobody may touch, of every size up to the one that is needed. The bytes are
 * the wanted ones; with less memory nothing is written, and the size that is needed is told: H8. */
static void check_written(const evalue *v, const evalue_java_options *options, const input *want) {
  uint64_t size = 0;
  evalue_error error;
  memset(&error, UNTOUCHED, sizeof error);
  assert_int_equal(evalue_java_size(v, options, &size, &error), EVALUE_OK);
  assert_int_equal(size, want->size);
  assert_int_equal(error.status, EVALUE_OK);
  assert_int_equal(error.fault, EVALUE_FAULT_NONE);
  guard_buffer guard = guard_new(want->size);
  memset(guard.data, UNTOUCHED, want->size);
  for (size_t capacity = 0; capacity < want->size; capacity++) {
    size = 0;
    uint8_t *memory = guard.data + want->size - capacity;
    assert_int_equal(evalue_java_encode(v, options, capacity == 0 ? NULL : memory, capacity, &size, &error),
                     EVALUE_NO_SPACE);
    assert_int_equal(size, want->size);
    check_error(&error, EVALUE_NO_SPACE, EVALUE_FAULT_MEMORY_SHORT, EVALUE_FIELD_NONE, 0);
    assert_int_equal(error.expected, want->size);
    assert_int_equal(error.found, capacity);
  }
  check_untouched(guard.data, want->size);
  size = 0;
  assert_int_equal(evalue_java_encode(v, options, guard.data, want->size, &size, &error), EVALUE_OK);
  assert_int_equal(size, want->size);
  assert_int_equal(error.status, EVALUE_OK);
  assert_memory_equal(guard.data, want->bytes, want->size);
  guard_free(&guard);
  uint8_t more[MOST + 1];
  memset(more, UNTOUCHED, sizeof more);
  assert_int_equal(evalue_java_encode(v, options, more, sizeof more, &size, NULL), EVALUE_OK);
  assert_memory_equal(more, want->bytes, want->size);
  check_untouched(more + want->size, sizeof more - want->size);
}

/* Reads back what was written: just as many bytes, the same value, and the same bytes again (K8). */
static void check_read_back(const evalue *v, const evalue_java_options *options) {
  uint8_t bytes[MOST], again[MOST], scratch[MOST];
  uint64_t size = 0, used = 0, size_again = 0;
  evalue back;
  assert_int_equal(evalue_java_encode(v, options, bytes, sizeof bytes, &size, NULL), EVALUE_OK);
  assert_int_equal(evalue_java_decode(bytes, (size_t)size, options, scratch, sizeof scratch, &back, &used, NULL),
                   EVALUE_OK);
  assert_int_equal(used, size);
  assert_true(evalue_equal(&back, v));
  assert_int_equal(evalue_java_encode(&back, options, again, sizeof again, &size_again, NULL), EVALUE_OK);
  assert_int_equal(size_again, size);
  assert_memory_equal(again, bytes, (size_t)size);
}

/* ---- scalars and strings ---- */

static evalue double_of(uint64_t bits) {
  evalue v = evalue_from_int(0);
  v.tag = EVALUE_TAG_DOUBLE;
  memcpy(&v.double_value, &bits, sizeof bits);
  return v;
}

static void test_k8_scalars(void **state) {
  (void)state;
  const struct {
    evalue v;
    const char *hex;
  } scalars[] = {
      {evalue_from_none(), "00"},
      {evalue_from_bool(false), "05 00"},
      {evalue_from_bool(true), "05 01"},
      {evalue_from_int(1), "04 0000000000000001"},
      {evalue_from_int(-2), "04 fffffffffffffffe"},
      {evalue_from_int(INT64_MIN), "04 8000000000000000"},
      {evalue_from_int(INT64_C(0x0102030405060708)), "04 0102030405060708"},
      {evalue_from_double(1.5), "03 3ff8000000000000"},
      {double_of(UINT64_C(0x8000000000000000)), "03 8000000000000000"},
      {double_of(UINT64_C(0x7ff0000000000001)), "03 7ff0000000000001"},
      {double_of(UINT64_C(0xfff8dead0000beef)), "03 fff8dead0000beef"},
  };
  for (size_t i = 0; i < COUNT_OF(scalars); i++) {
    const input want = input_of(scalars[i].hex);
    for (uint32_t release = 0; release <= LAST_RELEASE; release++) {
      const evalue_java_options options = {.release = release};
      check_written(&scalars[i].v, &options, &want);
      check_read_back(&scalars[i].v, &options);
    }
  }
}

static void test_k1_strings(void **state) {
  (void)state;
  static const struct {
    const char *text, *hex;
    size_t nbytes;
  } strings[] = {{"", "02 00000000", 0},
                 {NULL, "02 00000000", 0},
                 {"\0", "02 00000001 00", 1},
                 {"\xc3\xa9", "02 00000002 c3a9", 2},
                 {"\xf0\x9f\x98\x80", "02 00000004 f09f9880", 4},
                 {"0123456789\xef\xbf\xbf", "02 0000000d 30313233343536373839 efbfbf", 13}};
  for (size_t i = 0; i < COUNT_OF(strings); i++) {
    const evalue v = evalue_from_string(strings[i].text, strings[i].nbytes);
    const input want = input_of(strings[i].hex);
    for (uint32_t release = 0; release <= LAST_RELEASE; release++) {
      const evalue_java_options options = {.release = release};
      if (release_has(release, EVALUE_JAVA_1_2)) {
        check_written(&v, &options, &want);
        check_read_back(&v, &options);
      } else {
        check_unwritable(&v, &options, EVALUE_UNSUPPORTED, EVALUE_FAULT_STRING_BEFORE_1_2, EVALUE_FIELD_TAG, 0);
      }
    }
  }
}

/* ---- tensors ---- */

static void test_d8_dtypes_by_release(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 3};
  for (uint32_t release = 0; release <= LAST_RELEASE; release++) {
    for (uint32_t type = 0; type < 30; type++) {
      const evalue v = tensor_of(type, 2, sizes, NULL);
      for (uint32_t is_bare = 0; is_bare <= 1; is_bare++) {
        const evalue_java_options options = {.release = release, .bare_tensor = is_bare};
        const java_dtype *d = NULL;
        for (size_t i = 0; i < COUNT_OF(java_dtypes); i++) {
          if (java_dtypes[i].scalar_type == type && release_has(release, java_dtypes[i].since)) d = &java_dtypes[i];
        }
        if (d != NULL) {
          input want = input_of(is_bare ? "" : "01");
          add_tensor(&want, d, 2, sizes, 6);
          check_written(&v, &options, &want);
          check_read_back(&v, &options);
        } else {
          const evalue_error e = unwritable(&v, &options);
          check_error(&e, EVALUE_UNSUPPORTED, EVALUE_FAULT_UNKNOWN_DTYPE, EVALUE_FIELD_SCALAR_TYPE, 1 - is_bare);
          assert_int_equal(e.found, type);
          assert_int_equal(e.expected, release);
        }
      }
    }
  }
}

static void test_f5_elements_by_hand(void **state) {
  (void)state;
  static const uint8_t floats[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}, one[] = {1, 0, 0, 0, 0, 0, 0, 0};
  static const int32_t sizes[] = {1, 2};
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT32, 2, sizes, floats, 8), EVALUE_OK);
  evalue v = evalue_from_tensor(&t);
  input want = input_of("01 06 02 00000001 00000002 3f800000 40000000");
  check_written(&v, NULL, &want);
  assert_int_equal(evalue_tensor_init(&t, EVALUE_INT64, 0, NULL, one, 8), EVALUE_OK);
  v = evalue_from_tensor(&t);
  want = input_of("01 04 00 0000000000000001");
  check_written(&v, NULL, &want);
}

/* The bytes of a tensor by the spec: for each index, row-major, the element that dim_order says, its bytes reversed. */
static input by_index(const evalue_tensor *t, const java_dtype *d) {
  input want = input_of("01");
  int32_t index[EVALUE_MAX_NDIM] = {0};
  uint32_t i = t->ndim;
  const uint8_t *bytes = (const uint8_t *)t->data;
  add_tensor(&want, d, t->ndim, t->sizes, 0);
  if (t->nbytes == 0) return want;
  do {
    size_t position = 0;
    for (i = 0; i < t->ndim; i++) {
      position = position * (size_t)t->sizes[t->dim_order[i]] + (size_t)index[t->dim_order[i]];
    }
    for (size_t k = d->width; k-- > 0;) add_number(&want, bytes[position * d->width + k], 1);
    for (i = t->ndim; i > 0; i--) {
      if (++index[i - 1] < t->sizes[i - 1]) break;
      index[i - 1] = 0;
    }
  } while (i > 0);
  assert_int_equal(want.size, 3 + 4 * (size_t)t->ndim + t->nbytes);
  return want;
}

static void check_by_index(const evalue *v, const java_dtype *d) {
  const input want = by_index(&v->tensor, d);
  check_written(v, NULL, &want);
  evalue back;
  uint8_t scratch[MOST], row_major[MOST];
  assert_int_equal(evalue_java_decode(want.bytes, want.size, NULL, scratch, MOST, &back, NULL, NULL), EVALUE_OK);
  assert_int_equal(evalue_tensor_copy(&v->tensor, NULL, EVALUE_LITTLE_ENDIAN, row_major, MOST), EVALUE_OK);
  if (back.tensor.nbytes != 0) assert_memory_equal(back.tensor.data, row_major, back.tensor.nbytes);
  check_read_back(&back, NULL);
}

/* Row-major; channels last; and two more. Among the sizes are those of 1 and 0. */
static void test_dim_orders(void **state) {
  (void)state;
  static const uint8_t orders[][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {3, 2, 1, 0}, {1, 3, 0, 2}};
  static const int32_t shapes[][4] = {{2, 3, 2, 3}, {1, 3, 4, 2}, {2, 1, 3, 1},
                                      {1, 1, 1, 1}, {2, 0, 3, 1}, {0, 0, 0, 0}};
  for (size_t i = 0; i < COUNT_OF(java_dtypes); i++) {
    for (size_t k = 0; k < COUNT_OF(orders) * COUNT_OF(shapes); k++) {
      const evalue v = tensor_of(java_dtypes[i].scalar_type, 4, shapes[k / 4], orders[k % 4]);
      check_by_index(&v, &java_dtypes[i]);
    }
  }
}

static void test_channels_last_by_hand(void **state) {
  (void)state;
  static const int32_t sizes[] = {1, 2, 1, 2};
  static const uint8_t order[] = {0, 2, 3, 1}, bytes[] = {1, 0, 2, 0, 3, 0, 4, 0};
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init_dim_order(&t, EVALUE_FLOAT16, 4, sizes, order, bytes, 8), EVALUE_OK);
  const evalue v = evalue_from_tensor(&t);
  const input want = input_of("01 05 04 00000001 00000002 00000001 00000002 0001 0003 0002 0004");
  check_written(&v, NULL, &want);
}

static void test_e3_no_dimensions_and_sixteen(void **state) {
  (void)state;
  static const int32_t sizes[16] = {2, 1, 2, 1, 1, 3, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2};
  uint8_t order[16];
  for (uint32_t i = 0; i < 16; i++) order[i] = (uint8_t)((5 * i + 3) % 16);
  for (size_t i = 0; i < COUNT_OF(java_dtypes); i++) {
    evalue v = tensor_of(java_dtypes[i].scalar_type, 0, NULL, NULL);
    check_by_index(&v, &java_dtypes[i]);
    v = tensor_of(java_dtypes[i].scalar_type, 16, sizes, NULL);
    check_by_index(&v, &java_dtypes[i]);
    v = tensor_of(java_dtypes[i].scalar_type, 16, sizes, order);
    check_by_index(&v, &java_dtypes[i]);
  }
}

/* The data and the buffer at every address. */
static void test_g3_any_address(void **state) {
  (void)state;
  static const int32_t sizes[] = {3, 3};
  static const uint8_t orders[][2] = {{0, 1}, {1, 0}};
  for (size_t at = 0; at < ADDRESSES * ADDRESSES * COUNT_OF(java_dtypes) * 2; at++) {
    const java_dtype *d = &java_dtypes[at / (ADDRESSES * ADDRESSES) % COUNT_OF(java_dtypes)];
    const size_t from = at % ADDRESSES, to = at / ADDRESSES % ADDRESSES;
    evalue v = tensor_of(d->scalar_type, 2, sizes, orders[at % 2]);
    uint8_t memory[ADDRESSES + 3 + 8 + 9 * 8];
    uint64_t size = 0;
    v.tensor.data = tensor_data + from;
    const input want = by_index(&v.tensor, d);
    memset(memory, UNTOUCHED, sizeof memory);
    assert_int_equal(evalue_java_encode(&v, NULL, memory + to, want.size, &size, NULL), EVALUE_OK);
    assert_memory_equal(memory + to, want.bytes, want.size);
    check_untouched(memory, to);
    check_untouched(memory + to + want.size, sizeof memory - to - want.size);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_k8_scalars),
      cmocka_unit_test(test_k1_strings),
      cmocka_unit_test(test_d8_dtypes_by_release),
      cmocka_unit_test(test_f5_elements_by_hand),
      cmocka_unit_test(test_dim_orders),
      cmocka_unit_test(test_channels_last_by_hand),
      cmocka_unit_test(test_e3_no_dimensions_and_sixteen),
      cmocka_unit_test(test_g3_any_address),
  };
  return cmocka_run_group_tests_name("java_write", tests, NULL, NULL);
}
