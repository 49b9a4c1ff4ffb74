/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes, lengths and ends that lie: inputs that are cut, products that wrap, and the faults that readers of other
 * formats had. */
#include "reader_input.h"

#define M INT32_MAX

/* ---- inputs that are cut ---- */

static void test_b9_every_prefix_of_a_message(void **state) {
  (void)state;
  input in;
  make_sample(&in);
  for (size_t size = 0; size < SAMPLE_SIZE; size++) {
    input prefix = in;
    prefix.size = size;
    evalue_error e = judge(&prefix, true);
    assert_int_equal(e.status, EVALUE_TRUNCATED);
    assert_int_equal(e.needed, size < EVALUE_HEADER_SIZE ? EVALUE_HEADER_SIZE : SAMPLE_SIZE);
    assert_true(e.position <= size);
    assert_true(e.value_index == EVALUE_NO_INDEX);
  }
  assert_int_equal(judge(&in, true).status, EVALUE_OK);
}

static void test_b9_every_prefix_of_a_sequence(void **state) {
  (void)state;
  input in;
  make_sequence(&in);
  size_t start = 0, end = 0; /* of the element that is cut */
  for (size_t size = 0; size <= in.size; size++) {
    input prefix = in;
    prefix.size = size;
    evalue_error e = judge(&prefix, false);
    if (size == end) {
      assert_int_equal(e.status, EVALUE_OK);
      start = end;
      if (start < in.size) end = start + 9 + in.bytes[start + 1]; /* all lengths here are below 256 */
      continue;
    }
    assert_int_equal(e.status, EVALUE_TRUNCATED);
    assert_int_equal(e.field, EVALUE_FIELD_LENGTH);
    assert_int_equal(e.position, start + 1);
    assert_int_equal(e.needed, size - start < 9 ? start + 9 : end);
  }
  assert_int_equal(end, in.size);
}

/* A reader of a pipe: asks for exactly what is needed, and each time gets further, until the whole is there. */
static void check_feeding(const input *in, bool is_message, int most_rounds) {
  size_t size = 0;
  for (int round = 0; round < most_rounds; round++) {
    input prefix = *in;
    prefix.size = size;
    evalue_error e = judge(&prefix, is_message);
    if (e.status == EVALUE_OK && size == in->size) return;
    uint64_t needed = e.status == EVALUE_OK ? size + 9 : e.needed; /* between two elements: the next header */
    assert_true(e.status == EVALUE_OK || e.status == EVALUE_TRUNCATED);
    assert_true(needed > size && needed <= in->size);
    size = (size_t)needed;
  }
  fail_msg("did not come to the end");
}

static void test_needed_is_exact(void **state) {
  (void)state;
  input in;
  make_sample(&in);
  check_feeding(&in, true, 3);
  make_sequence(&in);
  check_feeding(&in, false, 3 * 6 + 1);
}

/* ---- A, size arithmetic ---- */

/* The tensor's sizes stand at 11 in its element, and the fault is at the first size that is too large. */
static void check_extent(uint32_t scalar_type, uint32_t ndim, const int32_t *sizes, uint32_t at) {
  input in = {.size = 0};
  add_tensor(&in, scalar_type, ndim, sizes, 0);
  check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_EXTENT_TOO_LARGE, 11 + 4 * (uint64_t)at);
  start_message(&in, 0);
  add_tensor(&in, scalar_type, ndim, sizes, 0);
  end_message(&in, 1);
  check_fault(&in, true, EVALUE_MALFORMED, EVALUE_FAULT_EXTENT_TOO_LARGE, 24 + 11 + 4 * (uint64_t)at);
}

static void test_a1_product_wraps_to_zero(void **state) {
  (void)state;
  static const int32_t sizes[] = {65536, 65536, 65536, 65536};
  check_extent(EVALUE_UINT8, 4, sizes, 3);
}

static void test_a2_numel_fits_and_bytes_do_not(void **state) {
  (void)state;
  static const int32_t sizes[] = {M, M};
  check_extent(EVALUE_INT64, 2, sizes, 1);
}

static void test_a4_product_fits_unsigned_only(void **state) {
  (void)state;
  static const int32_t sizes[] = {M, M, 4};
  check_extent(EVALUE_UINT8, 3, sizes, 2);
}

static void test_a6_product_wraps_32_bits(void **state) {
  (void)state;
  static const int32_t sizes[] = {65536, 65536};
  input in = {.size = 0};
  add_tensor(&in, EVALUE_UINT8, 2, sizes, 0);
  check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_DATA_LENGTH, 1);
  evalue_error e = judge(&in, false);
  assert_int_equal(e.expected, 12 + (UINT64_C(1) << 32));
  assert_int_equal(e.found, 12);
}

static void test_e2_zero_counts_as_one_in_the_extent(void **state) {
  (void)state;
  static const int32_t zero_first[] = {0, M, M, M}, zero_last[] = {M, M, M, 0}, good[] = {0, M};
  check_extent(EVALUE_UINT8, 4, zero_first, 3);
  check_extent(EVALUE_UINT8, 4, zero_last, 2);
  check_extent(EVALUE_FLOAT32, 4, zero_first, 2);
  check_extent(EVALUE_FLOAT32, 4, zero_last, 1);
  input in = {.size = 0};
  add_tensor(&in, EVALUE_FLOAT32, 2, good, 0);
  assert_int_equal(judge(&in, false).status, EVALUE_OK);
  assert_int_equal(decoded[0].tensor.nbytes, 0);
}

/* ---- B, lengths against what is there ---- */

static void test_b1_string_length_sweep(void **state) {
  (void)state;
  static const evalue_read_options options = {0, 1, 0, 0};
  for (uint64_t length = 0; length <= 20; length++) {
    input in = {.size = 0};
    evalue v;
    uint64_t used = 0;
    evalue_error e;
    add_head(&in, EVALUE_TAG_STRING, length);
    add_text(&in, "wxyz");
    guard_buffer guard = guard_put(in.bytes, 13);
    evalue_status status = evalue_value_decode(guard.data, 13, &options, &v, &used, &e);
    if (length <= 4) {
      assert_int_equal(status, EVALUE_OK);
      assert_int_equal(v.string.nbytes, length);
      assert_int_equal(used, 9 + length);
    } else {
      assert_int_equal(status, EVALUE_TRUNCATED);
      assert_int_equal(e.needed, 9 + length);
      assert_int_equal(e.expected, 4);
      assert_int_equal(e.found, length);
    }
    guard_free(&guard);
    start_message(&in, 4);
    add_head(&in, EVALUE_TAG_STRING, length);
    add_text(&in, "wxyz");
    end_message(&in, 1);
    assert_int_equal(judge(&in, true).status, length == 4  ? EVALUE_OK
                                              : length < 4 ? EVALUE_UNSUPPORTED
                                                           : EVALUE_MALFORMED);
  }
}

static void test_b5_data_shorter_than_sizes(void **state) {
  (void)state;
  static const int32_t sizes[] = {1000, 1000};
  input in = {.size = 0};
  add_tensor(&in, EVALUE_FLOAT32, 2, sizes, 4);
  check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_DATA_LENGTH, 1);
  assert_int_equal(judge(&in, false).expected, 12 + 4000000);
}

static void test_b6_data_longer_than_sizes(void **state) {
  (void)state;
  static const int32_t sizes[] = {1};
  input in = {.size = 0};
  add_tensor(&in, EVALUE_FLOAT32, 1, sizes, 8);
  check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_DATA_LENGTH, 1);
}

/* The length of every type and some shapes, one less and one more; the bytes for each are there. */
static void test_b8_only_the_exact_length(void **state) {
  (void)state;
  static const int32_t shapes[][4] = {{1, 1, 1, 1}, {2, 3, 1, 5}, {0, 3, 2, 2}, {7, 1, 2, 1}};
  static const evalue_read_options options = {0, 1, 0, 0};
  for (uint32_t type = 0; type < 30; type++) {
    for (uint32_t k = 0; k < 5 * COUNT_OF(shapes); k++) {
      const int32_t *sizes = shapes[k / 5];
      size_t nbytes = evalue_element_size(type);
      for (uint32_t i = 0; i < k % 5; i++) nbytes *= (size_t)sizes[i];
      input in = {.size = 0};
      add_tensor(&in, type, k % 5, sizes, nbytes);
      add_number(&in, 0, 1);
      for (uint64_t length = 2 + 5 * (k % 5) + nbytes - 1, i = 0; i < 3; length++, i++) {
        evalue v;
        uint64_t used;
        set_number(in.bytes + 1, length, 8);
        evalue_status status = evalue_value_decode(in.bytes, in.size, &options, &v, &used, NULL);
        assert_int_equal(status, i == 1 ? EVALUE_OK : EVALUE_MALFORMED);
      }
    }
  }
}

static void test_b10_sizes_and_dim_order_cut(void **state) {
  (void)state;
  input in = {.size = 0};
  add_head(&in, EVALUE_TAG_TENSOR, 10);
  add_number(&in, EVALUE_UINT8, 1);
  add_number(&in, 200, 1);
  add_number(&in, 0, 8);
  check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_NDIM_TOO_LARGE, 10);
  for (uint64_t length = 2; length < 2 + 5 * 3; length++) { /* the sizes without the dim_order are at 14 */
    in.size = 0;
    add_head(&in, EVALUE_TAG_TENSOR, length);
    add_number(&in, EVALUE_UINT8, 1);
    add_number(&in, 3, 1);
    for (uint64_t i = 2; i < length; i++) add_number(&in, 0, 1);
    check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_TENSOR_SHORT, 1);
    evalue_error e = judge(&in, false);
    assert_int_equal(e.expected, 17);
    assert_int_equal(e.found, length);
  }
}

/* Memory as high as the system gives it, so that position + length wraps soonest. */
static guard_buffer high_memory(const input *in) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  guard_buffer g = {NULL, NULL, 2 * page};
  for (size_t below = 2; below < 64; below++) {
    void *hint = (void *)((uintptr_t)0 - below * page); // NOLINT: an address on purpose
    void *p = mmap(hint, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) continue;
    if (p == hint || below == 63) {
      g.pages = (uint8_t *)p;
      break;
    }
    munmap(p, g.mapped);
  }
  if (g.pages == NULL) return guard_put(in->bytes, in->size);
  assert_int_equal(mprotect(g.pages + page, page, PROT_NONE), 0);
  g.data = g.pages + page - in->size;
  memcpy(g.data, in->bytes, in->size);
  return g;
}

static void test_b13_huge_lengths(void **state) {
  (void)state;
  static const uint8_t tags[] = {EVALUE_TAG_TENSOR, EVALUE_TAG_STRING, 129, 255};
  input in = {.size = 0};
  add_none(&in);
  add_head(&in, EVALUE_TAG_STRING, 0);
  guard_buffer guard = high_memory(&in);
  uint8_t *end = guard.data + in.size;
  const uint64_t lengths[] = {UINT64_MAX,
                              UINT64_MAX - 8,
                              UINT64_MAX - 17,
                              UINT64_C(1) << 63,
                              EVALUE_SIZE_LIMIT,
                              EVALUE_SIZE_LIMIT - 1,
                              (uintptr_t)0 - (uintptr_t)end,
                              (uintptr_t)0 - (uintptr_t)end + 1,
                              UINT32_MAX,
                              UINT32_MAX - UINT64_C(17),
                              UINT64_C(1) << 32,
                              SIZE_MAX,
                              SIZE_MAX - 8,
                              1};
  for (size_t t = 0; t < COUNT_OF(tags); t++) {
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
      evalue_error e;
      uint64_t n;
      if (tags[t] == EVALUE_TAG_TENSOR && lengths[i] == 1) continue; /* wrong in another way */
      guard.data[9] = tags[t];
      set_number(guard.data + 10, lengths[i], 8);
      evalue_status status = evalue_sequence_decode(guard.data, in.size, NULL, decoded, CAPACITY, &n, &e);
      bool is_too_large = lengths[i] >= EVALUE_SIZE_LIMIT;
      assert_int_equal(status, is_too_large ? EVALUE_MALFORMED : EVALUE_TRUNCATED);
      assert_int_equal(e.fault, is_too_large ? EVALUE_FAULT_LENGTH_TOO_LARGE : EVALUE_FAULT_LENGTH_PAST_END);
      assert_int_equal(e.position, 10);
      assert_true(e.needed == (is_too_large ? 0 : 18 + lengths[i]));
    }
  }
  guard_free(&guard);
}

static void test_b13_huge_body_lengths(void **state) {
  (void)state;
  static const uint64_t lengths[] = {UINT64_MAX,
                                     UINT64_MAX - 23,
                                     UINT64_MAX - 24,
                                     EVALUE_SIZE_LIMIT,
                                     EVALUE_SIZE_LIMIT - 1,
                                     UINT32_MAX,
                                     UINT32_MAX - UINT64_C(23),
                                     UINT64_C(1) << 32,
                                     1};
  input in;
  start_message(&in, 4);
  for (size_t i = 0; i < COUNT_OF(lengths); i++) {
    set_number(in.bytes + 8, lengths[i], 8);
    bool is_too_large = lengths[i] >= EVALUE_SIZE_LIMIT;
    evalue_error e = judge(&in, true);
    assert_int_equal(e.status, is_too_large ? EVALUE_MALFORMED : EVALUE_TRUNCATED);
    assert_int_equal(e.fault, is_too_large ? EVALUE_FAULT_BODY_TOO_LARGE : EVALUE_FAULT_BODY_SHORT);
    assert_int_equal(e.position, 8);
    assert_true(e.needed == (is_too_large ? 0 : 24 + lengths[i]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_b9_every_prefix_of_a_message),
      cmocka_unit_test(test_b9_every_prefix_of_a_sequence),
      cmocka_unit_test(test_needed_is_exact),
      cmocka_unit_test(test_a1_product_wraps_to_zero),
      cmocka_unit_test(test_a2_numel_fits_and_bytes_do_not),
      cmocka_unit_test(test_a4_product_fits_unsigned_only),
      cmocka_unit_test(test_a6_product_wraps_32_bits),
      cmocka_unit_test(test_e2_zero_counts_as_one_in_the_extent),
      cmocka_unit_test(test_b1_string_length_sweep),
      cmocka_unit_test(test_b5_data_shorter_than_sizes),
      cmocka_unit_test(test_b6_data_longer_than_sizes),
      cmocka_unit_test(test_b8_only_the_exact_length),
      cmocka_unit_test(test_b10_sizes_and_dim_order_cut),
      cmocka_unit_test(test_b13_huge_lengths),
      cmocka_unit_test(test_b13_huge_body_lengths),
  };
  return cmocka_run_group_tests_name("reader_lengths", tests, NULL, NULL);
}
