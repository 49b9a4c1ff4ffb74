/* SPDX-License-Identifier: BSD-3-Clause */
/* Values to bytes: what writer.h promises for each status, the bytes themselves, and that a buffer stays as it was. */
#include "writer_values.h"

/* ---- space ---- */

static void check_every_capacity(uint32_t alignment) {
  evalue values[VALUES];
  uint64_t need = 0, size;
  make_values(values);
  assert_int_equal(measure(values, VALUES, alignment, &need), EVALUE_OK);
  assert_int_equal(encode(values, VALUES, alignment, expected, BUFFER, &size), EVALUE_OK);
  assert_int_equal(size, need);
  static uint8_t before[BUFFER];
  memset(before, UNTOUCHED, sizeof before);
  memset(buffer, UNTOUCHED, sizeof buffer);
  for (size_t capacity = 0; capacity < need; capacity++) {
    size = 0;
    void *to = capacity == 0 ? NULL : buffer;
    assert_int_equal(encode(values, VALUES, alignment, to, capacity, &size), EVALUE_NO_SPACE);
    assert_int_equal(size, need);
    assert_memory_equal(buffer, before, (size_t)need + 16);
  }
  guard_buffer guard = guard_new((size_t)need);
  assert_int_equal(encode(values, VALUES, alignment, guard.data, (size_t)need, &size), EVALUE_OK);
  assert_int_equal(size, need);
  assert_memory_equal(guard.data, expected, (size_t)need);
  guard_free(&guard);
}

static void test_h8_every_capacity_for_a_message(void **state) {
  (void)state;
  check_every_capacity(1);
  check_every_capacity(16);
  check_every_capacity(512);
}

static void test_h8_every_capacity_for_a_sequence(void **state) {
  (void)state;
  check_every_capacity(0);
}

/* One value at a time, into memory that ends at a page that nobody may touch: what is needed is counted, and the status
 * stays. */
static void check_writer_capacities(uint32_t alignment) {
  evalue values[VALUES];
  uint64_t need = 0, size;
  make_values(values);
  measure(values, VALUES, alignment, &need);
  encode(values, VALUES, alignment, expected, BUFFER, &size);
  for (size_t capacity = 0; capacity <= need; capacity++) {
    guard_buffer guard = guard_new(capacity);
    evalue_writer w;
    evalue_status status = EVALUE_OK;
    start(&w, alignment, guard.data, capacity);
    for (size_t i = 0; i < VALUES; i++) {
      evalue_status now = evalue_writer_put(&w, &values[i]);
      assert_true(now == EVALUE_NO_SPACE || (now == EVALUE_OK && status == EVALUE_OK));
      status = now;
    }
    assert_int_equal(status, capacity < need ? EVALUE_NO_SPACE : EVALUE_OK);
    assert_int_equal(evalue_writer_finish(&w, &size), status);
    assert_int_equal(size, need);
    if (status == EVALUE_OK) assert_memory_equal(guard.data, expected, (size_t)need);
    guard_free(&guard);
  }
}

static void test_l2_writer_at_a_guard_page(void **state) {
  (void)state;
  check_writer_capacities(16);
  check_writer_capacities(0);
}

static void test_counting_writer(void **state) {
  (void)state;
  evalue values[VALUES];
  make_values(values);
  for (uint32_t alignment = 0; alignment <= 4096; alignment = alignment == 0 ? 1 : 2 * alignment) {
    evalue_writer w;
    uint64_t size = 0, need = 0;
    assert_int_equal(measure(values, VALUES, alignment, &need), EVALUE_OK);
    start(&w, alignment, NULL, 0);
    for (size_t i = 0; i < VALUES; i++) assert_int_equal(evalue_writer_put(&w, &values[i]), EVALUE_NO_SPACE);
    assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_NO_SPACE);
    assert_int_equal(size, need);
  }
}

static void test_no_values(void **state) {
  (void)state;
  static const uint8_t header[] = {'E', 'V', 'A', 'L', 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  uint64_t size = 9;
  assert_int_equal(evalue_sequence_encode(NULL, 0, NULL, 0, &size), EVALUE_OK);
  assert_int_equal(size, 0);
  assert_int_equal(evalue_message_encode(NULL, 0, 0, NULL, 0, &size), EVALUE_NO_SPACE);
  assert_int_equal(size, EVALUE_HEADER_SIZE);
  assert_int_equal(evalue_message_encode(NULL, 0, 0, buffer, EVALUE_HEADER_SIZE, &size), EVALUE_OK);
  assert_memory_equal(buffer, header, sizeof header);
  assert_int_equal(evalue_message_size(NULL, 0, 0, &size), EVALUE_OK);
  assert_int_equal(size, EVALUE_HEADER_SIZE);
}

/* ---- the bytes ---- */

/* All of a message, byte for byte: the same on every host. The notes are positions. */
static const uint8_t golden[] = {
    'E',  'V', 'A', 'L', 1, 0, 4, 0, 0x66, 0,   0,   0, 0, 0, 0, 0,    5,    0, 0, 0, 0, 0, 0, 0, /* header */
    4,    8,   0,   0,   0, 0, 0, 0, 0,    8,   7,   6, 5, 4, 3, 2,    0x81,                      /* 24 Int */
    0x80, 9,   0,   0,   0, 0, 0, 0, 0,    0,   0,   0, 0, 0, 0, 0,    0,    0,                   /* 41 Pad */
    1,    20,  0,   0,   0, 0, 0, 0, 0,    2,   2,   2, 0, 0, 0, 2,    0,    0, 0, 1, 0,          /* 59 Tensor */
    1,    2,   3,   4,   5, 6, 7, 8,                                                              /* 80 its data */
    3,    8,   0,   0,   0, 0, 0, 0, 0,    0,   0,   0, 0, 0, 0, 0xf8, 0xbf,                      /* 88 Double */
    2,    2,   0,   0,   0, 0, 0, 0, 0,    'h', 'i',                                              /* 105 String */
    5,    1,   0,   0,   0, 0, 0, 0, 0,    1                                                      /* 116 Bool */
};

static void test_b12_golden_bytes(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 2};
  static const uint8_t order[] = {1, 0};
  evalue_tensor t;
  evalue_writer w;
  uint64_t size = 0;
  assert_int_equal(evalue_tensor_init_dim_order(&t, EVALUE_INT16, 2, sizes, order, tensor_data, 8), EVALUE_OK);
  const int64_t number = -INT64_C(0x7efdfcfbfaf9f8f8);
  const evalue values[] = {evalue_from_int(number), evalue_from_tensor(&t), evalue_from_double(-1.5),
                           evalue_from_string("hi", 2), evalue_from_bool(true)};
  assert_int_equal(evalue_message_encode(values, 5, 0, buffer, BUFFER, &size), EVALUE_OK);
  assert_int_equal(size, sizeof golden);
  assert_memory_equal(buffer, golden, sizeof golden);
  memset(buffer, UNTOUCHED, sizeof buffer);
  start(&w, 16, buffer, BUFFER);
  assert_int_equal(evalue_writer_put_int(&w, number), EVALUE_OK);
  assert_int_equal(evalue_writer_put_tensor(&w, &t), EVALUE_OK);
  assert_int_equal(evalue_writer_put_double(&w, -1.5), EVALUE_OK);
  assert_int_equal(evalue_writer_put_string(&w, "hi", 2), EVALUE_OK);
  assert_int_equal(evalue_writer_put_bool(&w, true), EVALUE_OK);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_OK);
  assert_int_equal(size, sizeof golden);
  assert_memory_equal(buffer, golden, sizeof golden);
}

/* Finishing is no end: more values can follow, and the header is written again. */
static void test_finish_again(void **state) {
  (void)state;
  const evalue values[] = {evalue_from_none(), evalue_from_bool(false)};
  evalue_writer w;
  uint64_t size = 0, want = 0;
  start(&w, 16, buffer, BUFFER);
  assert_int_equal(evalue_writer_put_none(&w), EVALUE_OK);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_OK);
  assert_int_equal(size, 33);
  assert_int_equal(evalue_writer_put_bool(&w, false), EVALUE_OK);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_OK);
  evalue_message_encode(values, 2, 16, expected, BUFFER, &want);
  assert_int_equal(size, want);
  assert_memory_equal(buffer, expected, (size_t)want);
}

/* The bytes that one value takes for the reader are those that it took for the writer. */
static void test_k8_used_is_written(void **state) {
  (void)state;
  evalue values[VALUES], v;
  make_values(values);
  for (size_t i = 0; i < VALUES; i++) {
    uint64_t size = 0, used = 0, n = 0;
    assert_int_equal(evalue_sequence_encode(&values[i], 1, buffer, BUFFER, &size), EVALUE_OK);
    assert_int_equal(evalue_value_decode(buffer, (size_t)size, NULL, &v, &used, NULL), EVALUE_OK);
    assert_int_equal(used, size);
    assert_true(evalue_equal(&v, &values[i]));
    for (uint32_t alignment = 1; alignment <= 4096; alignment *= 2) {
      evalue_reader r;
      assert_int_equal(evalue_message_encode(&values[i], 1, alignment, buffer, BUFFER, &size), EVALUE_OK);
      assert_int_equal(evalue_message_decode(buffer, (size_t)size, NULL, &v, 1, &n, NULL), EVALUE_OK);
      assert_true(n == 1 && evalue_equal(&v, &values[i]));
      assert_int_equal(evalue_reader_init(&r, buffer, (size_t)size, NULL), EVALUE_OK);
      while (evalue_reader_next(&r, NULL) == EVALUE_OK) {
      }
      assert_int_equal(evalue_reader_position(&r), size);
      assert_int_equal(evalue_reader_alignment(&r), alignment);
    }
  }
}

/* ---- alignment ---- */

static void test_g1_data_is_aligned_after_any_string(void **state) {
  (void)state;
  static const int32_t sizes[] = {3, 1};
  evalue values[] = {evalue_from_none(), tensor_of(EVALUE_FLOAT32, 2, sizes, 12), tensor_of(EVALUE_UINT8, 1, sizes, 3)};
  for (uint32_t alignment = 1; alignment <= 4096; alignment *= 2) {
    for (size_t length = 0; length <= 40; length++) {
      evalue_reader r;
      evalue v;
      uint64_t size = 0;
      values[0] = evalue_from_string("0123456789012345678901234567890123456789", length);
      assert_int_equal(evalue_message_encode(values, 3, alignment, buffer, BUFFER, &size), EVALUE_OK);
      assert_int_equal(evalue_reader_init(&r, buffer, (size_t)size, NULL), EVALUE_OK);
      assert_int_equal(evalue_reader_next(&r, &v), EVALUE_OK);
      assert_int_equal(v.string.nbytes, length);
      for (int i = 0; i < 2; i++) {
        assert_int_equal(evalue_reader_next(&r, &v), EVALUE_OK);
        uint64_t position = (uint64_t)((const uint8_t *)v.tensor.data - buffer);
        assert_int_equal(position % alignment, 0);
      }
      assert_int_equal(evalue_reader_next(&r, &v), EVALUE_END);
    }
  }
}

/* Alignment is a matter of positions: where the buffer lies changes no byte. */
static void test_g5_any_base_address(void **state) {
  (void)state;
  evalue values[VALUES];
  make_values(values);
  for (uint32_t alignment = 1; alignment <= 4096; alignment *= 4) {
    uint64_t size = 0, again = 0;
    assert_int_equal(evalue_message_encode(values, VALUES, alignment, expected, BUFFER, &size), EVALUE_OK);
    for (size_t base = 0; base < 64; base++) {
      assert_int_equal(evalue_message_encode(values, VALUES, alignment, buffer + base, (size_t)size, &again),
                       EVALUE_OK);
      assert_int_equal(again, size);
      assert_memory_equal(buffer + base, expected, (size_t)size);
    }
  }
}

static void test_default_alignment_is_16(void **state) {
  (void)state;
  evalue values[VALUES];
  uint64_t size = 0, again = 0;
  make_values(values);
  assert_int_equal(evalue_message_encode(values, VALUES, 0, expected, BUFFER, &size), EVALUE_OK);
  assert_int_equal(evalue_message_encode(values, VALUES, EVALUE_DEFAULT_ALIGNMENT, buffer, BUFFER, &again), EVALUE_OK);
  assert_int_equal(size, again);
  assert_memory_equal(buffer, expected, (size_t)size);
  assert_int_equal(buffer[6], 4);
}

static void test_g6_bad_alignment(void **state) {
  (void)state;
  static const uint32_t bad[] = {3, 5, 6, 12, 4095, 4097, 8192, 0x10000, 0x40000000, 0x80000000, UINT32_MAX};
  const evalue none = evalue_from_none();
  touch_nothing();
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    uint64_t size = 1;
    evalue_writer w;
    evalue_gather g = {buffer, BUFFER, NULL, 0, 1, 1, 1};
    assert_int_equal(evalue_message_size(&none, 1, bad[i], &size), EVALUE_MISUSE);
    assert_int_equal(size, 0);
    size = 1;
    assert_int_equal(evalue_message_encode(&none, 1, bad[i], buffer, BUFFER, &size), EVALUE_MISUSE);
    assert_int_equal(size, 0);
    assert_int_equal(evalue_message_gather(&none, 1, bad[i], &g), EVALUE_MISUSE);
    assert_true(g.size == 0 && g.scratch_size == 0 && g.slice_count == 0);
    assert_int_equal(evalue_writer_init(&w, buffer, BUFFER, bad[i]), EVALUE_MISUSE);
    assert_int_equal(evalue_writer_put(&w, &none), EVALUE_MISUSE);
    assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_MISUSE);
    assert_int_equal(size, 0);
  }
  check_buffer_untouched();
}

/* ---- ancillary elements ---- */

static void test_ancillary_tags(void **state) {
  (void)state;
  for (uint32_t tag = 0; tag <= 300; tag++) {
    evalue_writer w;
    uint64_t size = 1;
    bool is_ancillary = tag >= 129 && tag <= 255;
    memset(buffer, UNTOUCHED, sizeof buffer);
    start(&w, 0, buffer, BUFFER);
    evalue_status status = is_ancillary ? EVALUE_OK : EVALUE_MISUSE;
    assert_int_equal(evalue_writer_put_ancillary(&w, tag, "abc", 3), status);
    assert_int_equal(evalue_writer_finish(&w, &size), status);
    assert_int_equal(size, is_ancillary ? 12 : 0);
    static const uint8_t rest[] = {3, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'};
    if (is_ancillary) {
      assert_int_equal(buffer[0], tag);
      assert_memory_equal(buffer + 1, rest, sizeof rest);
    } else {
      assert_int_equal(buffer[0], UNTOUCHED);
    }
  }
  evalue_writer w;
  start(&w, 0, buffer, BUFFER);
  assert_int_equal(evalue_writer_put_ancillary(&w, UINT32_MAX, NULL, 0), EVALUE_MISUSE);
  start(&w, 0, buffer, BUFFER);
  assert_int_equal(evalue_writer_put_ancillary(&w, 256 + 200, NULL, 0), EVALUE_MISUSE);
  start(&w, 0, buffer, BUFFER);
  assert_int_equal(evalue_writer_put_ancillary(&w, 200, NULL, 1), EVALUE_MISUSE);
}

/* It is no value, and stands before the Pad of the tensor that it describes. */
static void test_ancillary_before_a_tensor(void **state) {
  (void)state;
  static const int32_t three = 3;
  static const uint32_t tags[] = {200, EVALUE_TAG_PAD, EVALUE_TAG_TENSOR};
  const evalue tensor = tensor_of(EVALUE_UINT8, 1, &three, 3);
  evalue_writer w;
  evalue_reader r;
  evalue_element e;
  uint64_t size = 0;
  start(&w, 64, buffer, BUFFER);
  assert_int_equal(evalue_writer_put_ancillary(&w, 200, "abcd", 4), EVALUE_OK);
  assert_int_equal(evalue_writer_put(&w, &tensor), EVALUE_OK);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_OK);
  assert_int_equal(evalue_reader_init(&r, buffer, (size_t)size, NULL), EVALUE_OK);
  assert_int_equal(evalue_reader_count(&r), 1);
  for (size_t i = 0; i < COUNT_OF(tags); i++) {
    assert_int_equal(evalue_reader_next_element(&r, &e, NULL), EVALUE_OK);
    assert_int_equal(e.tag, tags[i]);
  }
  assert_int_equal(evalue_reader_next_element(&r, &e, NULL), EVALUE_END);
}

/* ---- the header alone ---- */

static void test_header_of_what_was_put(void **state) {
  (void)state;
  evalue_writer w;
  uint8_t header[EVALUE_HEADER_SIZE];
  uint64_t size = 0;
  start(&w, 4096, buffer, BUFFER);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(evalue_writer_header(&w, header), EVALUE_OK);
    assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_OK);
    assert_memory_equal(header, buffer, sizeof header);
    assert_int_equal(header[6], 12);
    assert_int_equal(header[8], 17 * i);
    assert_int_equal(header[16], i);
    assert_int_equal(evalue_writer_put_int(&w, i), EVALUE_OK);
  }
  memset(header, UNTOUCHED, sizeof header);
  start(&w, 16, buffer, 30);
  assert_int_equal(evalue_writer_put_int(&w, 1), EVALUE_NO_SPACE);
  assert_int_equal(evalue_writer_header(&w, header), EVALUE_NO_SPACE);
  start(&w, 0, buffer, BUFFER);
  assert_int_equal(evalue_writer_header(&w, header), EVALUE_MISUSE);
  assert_int_equal(header[0], UNTOUCHED);
}

static void test_drain_is_for_gathering(void **state) {
  (void)state;
  evalue_writer w;
  start(&w, 16, buffer, BUFFER);
  assert_int_equal(evalue_writer_drain(&w), EVALUE_MISUSE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_h8_every_capacity_for_a_message),
      cmocka_unit_test(test_h8_every_capacity_for_a_sequence),
      cmocka_unit_test(test_l2_writer_at_a_guard_page),
      cmocka_unit_test(test_counting_writer),
      cmocka_unit_test(test_no_values),
      cmocka_unit_test(test_b12_golden_bytes),
      cmocka_unit_test(test_finish_again),
      cmocka_unit_test(test_k8_used_is_written),
      cmocka_unit_test(test_g1_data_is_aligned_after_any_string),
      cmocka_unit_test(test_g5_any_base_address),
      cmocka_unit_test(test_default_alignment_is_16),
      cmocka_unit_test(test_g6_bad_alignment),
      cmocka_unit_test(test_ancillary_tags),
      cmocka_unit_test(test_ancillary_before_a_tensor),
      cmocka_unit_test(test_header_of_what_was_put),
      cmocka_unit_test(test_drain_is_for_gathering),
  };
  return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
