/* SPDX-License-Identifier: BSD-3-Clause */
/* What a writer refuses, and that it writes nothing then; sizes near the limit; what stays after a failure. */
#include "writer_values.h"

/* ---- misuse ---- */

/* A value that evalue_check refuses: every way of writing says so, and writes nothing. It stands behind a good one. */
static void check_refused(const evalue *value, evalue_status status) {
  evalue values[2] = {evalue_from_int(1), *value};
  uint64_t size = 1;
  evalue_writer w;
  touch_nothing();
  assert_int_equal(evalue_check(value), status);
  for (uint32_t alignment = 0; alignment <= 16; alignment += 16) {
    assert_int_equal(measure(values, 2, alignment, &size), status);
    assert_int_equal(size, 0);
    size = 1;
    assert_int_equal(encode(values, 2, alignment, buffer, BUFFER, &size), status);
    assert_int_equal(size, 0);
    size = 1;
    assert_int_equal(encode(values, 2, alignment, buffer, 10, &size), status); /* wrong goes before too small */
    assert_int_equal(size, 0);
  }
  check_buffer_untouched();
  start(&w, 16, expected, BUFFER);
  start(&w, 16, buffer, BUFFER);
  assert_int_equal(evalue_writer_put(&w, value), status);
  assert_int_equal(evalue_writer_put_none(&w), status);
  assert_int_equal(evalue_writer_finish(&w, &size), status);
  assert_int_equal(size, 0);
  check_buffer_untouched();
}

static void test_bad_tags_and_bools(void **state) {
  (void)state;
  for (uint32_t tag = 6; tag < 256; tag++) {
    evalue v = evalue_from_int(0);
    v.tag = (uint8_t)tag;
    check_refused(&v, EVALUE_MISUSE);
  }
  for (uint32_t byte = 2; byte < 256; byte += byte < 4 ? 1 : 50) {
    evalue v = evalue_from_bool(true);
    v.bool_value = (uint8_t)byte;
    check_refused(&v, EVALUE_MISUSE);
  }
}

static void test_bad_strings(void **state) {
  (void)state;
  evalue v = evalue_from_string(NULL, 1);
  check_refused(&v, EVALUE_MISUSE);
  v = evalue_from_string(NULL, SIZE_MAX);
  check_refused(&v, EVALUE_MISUSE);
}

/* Each member made wrong alone. An encoder that finds a fault late leaves no bytes behind. */
static void test_h6_bad_tensors(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 3};
  const evalue good = tensor_of(EVALUE_UINT8, 2, sizes, 6);
  evalue v = good;
  v.tensor.scalar_type = 30;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.scalar_type = UINT8_MAX;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.ndim = EVALUE_MAX_NDIM + 1;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.ndim = UINT8_MAX;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.ndim = 1;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.sizes[0] = -2;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.sizes[1] = 4;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.nbytes = 5;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.nbytes = 7;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.data = NULL;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.dim_order[1] = 2;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.dim_order[1] = 0;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.dim_order[0] = UINT8_MAX;
  check_refused(&v, EVALUE_MISUSE);
  v = good, v.tensor.sizes[0] = v.tensor.sizes[1] = INT32_MAX, v.tensor.scalar_type = EVALUE_INT16;
  check_refused(&v, EVALUE_LIMIT);
  v = evalue_from_tensor(NULL);
  check_refused(&v, EVALUE_MISUSE);
}

static void test_null_is_misuse(void **state) {
  (void)state;
  const evalue none = evalue_from_none();
  uint8_t header[EVALUE_HEADER_SIZE];
  uint64_t size = 1;
  evalue_writer w;
  touch_nothing();
  for (uint32_t alignment = 0; alignment <= 16; alignment += 16) {
    size = 1;
    assert_int_equal(measure(NULL, 1, alignment, &size), EVALUE_MISUSE);
    assert_int_equal(size, 0);
    assert_int_equal(measure(&none, 1, alignment, NULL), EVALUE_MISUSE);
    assert_int_equal(encode(NULL, 1, alignment, buffer, BUFFER, &size), EVALUE_MISUSE);
    assert_int_equal(encode(&none, 1, alignment, buffer, BUFFER, NULL), EVALUE_MISUSE);
    size = 1;
    assert_int_equal(encode(&none, 1, alignment, NULL, 100, &size), EVALUE_MISUSE);
    assert_int_equal(size, 0);
    size = 1;
    assert_int_equal(encode(&none, 1, alignment, NULL, 1, &size), EVALUE_MISUSE); /* before it is too small */
    assert_int_equal(size, 0);
  }
  assert_int_equal(evalue_writer_init(NULL, buffer, BUFFER, 16), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_init(&w, NULL, 1, 16), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_put_none(&w), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_init_sequence(NULL, buffer, BUFFER), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_init_sequence(&w, NULL, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_put(NULL, &none), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_put_ancillary(NULL, 200, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_gather(NULL, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_drain(NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_header(NULL, header), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_finish(NULL, &size), EVALUE_MISUSE);
  check_buffer_untouched();
  start(&w, 16, buffer, BUFFER);
  assert_int_equal(evalue_writer_header(&w, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_finish(&w, NULL), EVALUE_MISUSE);
  start(&w, 16, buffer, BUFFER);
  assert_int_equal(evalue_writer_put(&w, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_put_none(&w), EVALUE_MISUSE);
  start(&w, 16, buffer, BUFFER);
  assert_int_equal(evalue_writer_put_tensor(&w, NULL), EVALUE_MISUSE);
}

static void test_e5_null_of_no_bytes(void **state) {
  (void)state;
  static const int32_t sizes[] = {0, 5};
  evalue_tensor t;
  evalue decoded[2];
  evalue_writer w;
  uint64_t size = 0, n = 0;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT64, 2, sizes, NULL, 0), EVALUE_OK);
  start(&w, 4096, buffer, BUFFER);
  assert_int_equal(evalue_writer_put_string(&w, NULL, 0), EVALUE_OK);
  assert_int_equal(evalue_writer_put_ancillary(&w, 192, NULL, 0), EVALUE_OK);
  assert_int_equal(evalue_writer_put_tensor(&w, &t), EVALUE_OK);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_OK);
  assert_int_equal(size, 24 + 9 + 9 + 9 + 12);
  assert_int_equal(evalue_message_decode(buffer, (size_t)size, NULL, decoded, 2, &n, NULL), EVALUE_OK);
  assert_int_equal(n, 2);
  const evalue empty = evalue_from_string(NULL, 0), tensor = evalue_from_tensor(&t);
  assert_true(evalue_equal(&decoded[0], &empty));
  assert_true(evalue_equal(&decoded[1], &tensor));
}

/* ---- sizes near the limit ---- */

/* The bytes that the strings promise are not there: nothing may look at them. */
static void test_a8_strings_near_the_largest_size(void **state) {
  (void)state;
  static const char byte = 'x';
  for (size_t less = 0; less <= 64; less++) {
    const evalue v = evalue_from_string(&byte, SIZE_MAX - less);
    uint64_t size = 1;
    touch_nothing();
#if SIZE_MAX > UINT32_MAX
    check_refused(&v, EVALUE_LIMIT);
    assert_int_equal(evalue_message_size(&v, 1, 0, &size), EVALUE_LIMIT);
#else
    evalue_writer w;
    const uint64_t need = UINT64_C(24) + 9 + (SIZE_MAX - less);
    assert_int_equal(evalue_message_size(&v, 1, 0, &size), EVALUE_OK);
    assert_true(size == need);
    assert_int_equal(evalue_message_encode(&v, 1, 0, buffer, BUFFER, &size), EVALUE_NO_SPACE);
    assert_true(size == need);
    start(&w, 0, buffer, BUFFER); /* a header that fits and bytes that do not */
    assert_int_equal(evalue_writer_put(&w, &v), EVALUE_NO_SPACE);
    assert_int_equal(evalue_writer_put_none(&w), EVALUE_NO_SPACE);
    assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_NO_SPACE);
    assert_true(size == need - 24 + 9);
    memset(buffer, UNTOUCHED, 9);
#endif
    check_buffer_untouched();
  }
}

#if SIZE_MAX > UINT32_MAX
static void check_limit(size_t nbytes, evalue_status as_value, evalue_status as_message) {
  static const char byte = 'x';
  const evalue v = evalue_from_string(&byte, nbytes);
  uint64_t size = 1;
  evalue_writer w;
  assert_int_equal(evalue_check(&v), as_value);
  assert_int_equal(evalue_message_size(&v, 1, 0, &size), as_message);
  assert_true(size == (as_message == EVALUE_OK ? nbytes + 33 : 0));
  touch_nothing();
  evalue_status status = as_message == EVALUE_OK ? EVALUE_NO_SPACE : EVALUE_LIMIT;
  assert_int_equal(evalue_message_encode(&v, 1, 0, buffer, BUFFER, &size), status);
  assert_true(size == (as_message == EVALUE_OK ? nbytes + 33 : 0));
  check_buffer_untouched();
  start(&w, 16, NULL, 0);
  assert_int_equal(evalue_writer_put_ancillary(&w, 200, &byte, nbytes), status);
  assert_int_equal(evalue_writer_finish(&w, &size), status);
}
#endif

static void test_a8_strings_near_2_62(void **state) {
  (void)state;
#if SIZE_MAX > UINT32_MAX
  const size_t limit = (size_t)EVALUE_SIZE_LIMIT;
  check_limit(limit - 1 - 33, EVALUE_OK, EVALUE_OK); /* the largest message there is */
  for (size_t nbytes = limit - 33; nbytes < limit; nbytes++) check_limit(nbytes, EVALUE_OK, EVALUE_LIMIT);
  for (size_t more = 0; more < 40; more++) check_limit(limit + more, EVALUE_LIMIT, EVALUE_LIMIT);
  check_limit(limit * 2, EVALUE_LIMIT, EVALUE_LIMIT);
  check_limit(SIZE_MAX - 24, EVALUE_LIMIT, EVALUE_LIMIT);
  check_limit(SIZE_MAX - 33, EVALUE_LIMIT, EVALUE_LIMIT);
#else
  skip();
#endif
}

/* Many that are good alone and too much together. */
static void test_a8_the_sum_of_all(void **state) {
  (void)state;
  static const char byte = 'x';
#if SIZE_MAX > UINT32_MAX
  const size_t half = (size_t)(EVALUE_SIZE_LIMIT / 2);
  const evalue values[] = {evalue_from_string(&byte, half - 9), evalue_from_string(&byte, half - 10),
                           evalue_from_string(&byte, half)};
  uint64_t size = 1;
  assert_int_equal(evalue_sequence_size(values, 2, &size), EVALUE_OK);
  assert_true(size == EVALUE_SIZE_LIMIT - 1);
  assert_int_equal(evalue_sequence_size(values, 3, &size), EVALUE_LIMIT);
  assert_int_equal(size, 0);
  assert_int_equal(evalue_message_size(values, 2, 0, &size), EVALUE_LIMIT);
#else
  const evalue values[] = {evalue_from_string(&byte, SIZE_MAX), evalue_from_string(&byte, SIZE_MAX)};
  uint64_t size = 1;
  assert_int_equal(evalue_sequence_size(values, 2, &size), EVALUE_OK);
  assert_true(size == 2 * (UINT64_C(9) + SIZE_MAX));
#endif
}

/* ---- what stays ---- */

static void test_first_failure_stays(void **state) {
  (void)state;
  evalue bad = evalue_from_bool(true);
  evalue_writer w;
  uint8_t header[EVALUE_HEADER_SIZE];
  evalue_slice slices[3];
  uint64_t size = 1;
  memset(header, UNTOUCHED, sizeof header);
  bad.bool_value = 2;
  start(&w, 16, buffer, BUFFER);
  assert_int_equal(evalue_writer_put_int(&w, 1), EVALUE_OK);
  assert_int_equal(evalue_writer_put(&w, &bad), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_put_int(&w, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_put_ancillary(&w, 200, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_header(&w, header), EVALUE_MISUSE);
  assert_int_equal(header[0], UNTOUCHED);
  assert_int_equal(evalue_writer_gather(&w, slices, 3), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_drain(&w), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_MISUSE);
  assert_int_equal(size, 0);
  static const int32_t huge[] = {INT32_MAX, INT32_MAX, INT32_MAX};
  evalue too_large = tensor_of(EVALUE_UINT8, 0, NULL, 1);
  too_large.tensor.ndim = 3;
  memcpy(too_large.tensor.sizes, huge, sizeof huge);
  start(&w, 16, buffer, BUFFER);
  assert_int_equal(evalue_writer_put(&w, &too_large), EVALUE_LIMIT);
  assert_int_equal(evalue_writer_put(&w, &bad), EVALUE_LIMIT);
  assert_int_equal(evalue_writer_put_ancillary(&w, 5, NULL, 0), EVALUE_LIMIT);
  assert_int_equal(evalue_writer_drain(&w), EVALUE_LIMIT);
  assert_int_equal(evalue_writer_header(&w, header), EVALUE_LIMIT);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_LIMIT);
  assert_int_equal(size, 0);
}

/* A writer that only counts says of a bad value what an encoder says: such a value has no size. */
static void test_counting_writer_refuses_bad_values(void **state) {
  (void)state;
  evalue bad = evalue_from_bool(true);
  evalue_writer w;
  uint64_t size = 1;
  bad.bool_value = 2;
  start(&w, 16, NULL, 0);
  assert_int_equal(evalue_writer_put_int(&w, 1), EVALUE_NO_SPACE);
  assert_int_equal(evalue_writer_put(&w, &bad), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_MISUSE);
  assert_int_equal(size, 0);
}

/* A value that does not fit, then one that would: neither it nor the header reaches the buffer any more. */
static void test_l4_no_bytes_after_no_space(void **state) {
  (void)state;
  static const char text[1000] = {'x'};
  evalue_writer w;
  uint64_t size = 0;
  touch_nothing();
  start(&w, 16, buffer, 200);
  assert_int_equal(evalue_writer_put_int(&w, 1), EVALUE_OK);
  assert_int_equal(evalue_writer_put_string(&w, text, sizeof text), EVALUE_NO_SPACE);
  memcpy(expected, buffer, sizeof expected);
  assert_int_equal(evalue_writer_put_none(&w), EVALUE_NO_SPACE);
  assert_int_equal(evalue_writer_put_ancillary(&w, 200, "abc", 3), EVALUE_NO_SPACE);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_NO_SPACE);
  assert_int_equal(size, 24 + 17 + 9 + 1000 + 9 + 12);
  check_buffer_untouched();
  for (size_t i = 200; i < 1200; i++) assert_int_equal(buffer[i], UNTOUCHED);
}

static void test_l4_no_bytes_after_misuse(void **state) {
  (void)state;
  static const int32_t two = 2;
  const evalue tensor = tensor_of(EVALUE_INT16, 1, &two, 4);
  evalue_writer w;
  uint64_t size = 0;
  touch_nothing();
  start(&w, 16, buffer, BUFFER);
  assert_int_equal(evalue_writer_put_int(&w, 1), EVALUE_OK);
  assert_int_equal(evalue_writer_put(&w, NULL), EVALUE_MISUSE);
  memcpy(expected, buffer, sizeof expected);
  assert_int_equal(evalue_writer_put(&w, &tensor), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_put_string(&w, "abc", 3), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_put_ancillary(&w, 200, "abc", 3), EVALUE_MISUSE);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_MISUSE);
  check_buffer_untouched();
}

/* The first failure is no write-through for a new writer on the same memory. */
static void test_l4_a_fresh_start(void **state) {
  (void)state;
  evalue values[VALUES];
  evalue_writer w;
  uint64_t size = 0, want = 0;
  make_values(values);
  evalue_message_encode(values, VALUES, 16, expected, BUFFER, &want);
  start(&w, 16, buffer, 40);
  for (size_t i = 0; i < VALUES; i++) evalue_writer_put(&w, &values[i]);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_NO_SPACE);
  start(&w, 16, buffer, (size_t)size);
  for (size_t i = 0; i < VALUES; i++) assert_int_equal(evalue_writer_put(&w, &values[i]), EVALUE_OK);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_OK);
  assert_int_equal(size, want);
  assert_memory_equal(buffer, expected, (size_t)want);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bad_tags_and_bools),
      cmocka_unit_test(test_bad_strings),
      cmocka_unit_test(test_h6_bad_tensors),
      cmocka_unit_test(test_null_is_misuse),
      cmocka_unit_test(test_e5_null_of_no_bytes),
      cmocka_unit_test(test_a8_strings_near_the_largest_size),
      cmocka_unit_test(test_a8_strings_near_2_62),
      cmocka_unit_test(test_a8_the_sum_of_all),
      cmocka_unit_test(test_first_failure_stays),
      cmocka_unit_test(test_counting_writer_refuses_bad_values),
      cmocka_unit_test(test_l4_no_bytes_after_no_space),
      cmocka_unit_test(test_l4_no_bytes_after_misuse),
      cmocka_unit_test(test_l4_a_fresh_start),
  };
  return cmocka_run_group_tests_name("writer_refusals", tests, NULL, NULL);
}
