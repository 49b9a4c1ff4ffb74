/* SPDX-License-Identifier: BSD-3-Clause */
/* The sinks into the caller's memory and into nothing: byte for byte, at every base, alignment and capacity. */
#include "sink_support.h"

static uint8_t storage[STORE + 64];
static model expected;

/* ---- failed records leave no trace ---- */

static void test_h1_a_large_record_then_a_small_one(void **state) {
  (void)state;
  enum { CAPACITY = 4096, LARGE = 1024 * 1024 };
  uint8_t *large = (uint8_t *)malloc(LARGE), before[CAPACITY];
  evalue_buffer_sink s;
  uint64_t offset = 77;
  assert_non_null(large);
  fill_bytes(large, LARGE, 1);
  memset(storage, UNTOUCHED, sizeof storage);
  assert_int_equal(evalue_buffer_sink_init(&s, storage, CAPACITY, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, large, 10, NULL), EVALUE_OK);
  memcpy(before, storage, CAPACITY);
  assert_int_equal(evalue_sink_write(&s.sink, large, LARGE, &offset), EVALUE_NO_SPACE);
  assert_int_equal(offset, 77);
  assert_int_equal(s.sink.needed, 64 + LARGE);
  assert_memory_equal(storage, before, CAPACITY);
  assert_int_equal(evalue_sink_write(&s.sink, large, 1024, &offset), EVALUE_OK);
  assert_int_equal(offset, 64);
  assert_int_equal(evalue_sink_used(&s.sink), 64 + 1024);
  for (size_t i = 10; i < 64; i++) assert_int_equal(storage[i], 0);
  assert_memory_equal(storage + 64, large, 1024);
  for (size_t i = 64 + 1024; i < sizeof storage; i++) assert_int_equal(storage[i], UNTOUCHED);
  free(large);
}

/* At every capacity, in memory that ends where nobody may touch: each record whole, or not a byte of it. */
static void test_h1_every_capacity(void **state) {
  (void)state;
  static const uint32_t alignments[] = {1, 2, 64, 256};
  uint8_t data[64];
  fill_bytes(data, sizeof data, 3);
  for (size_t a = 0; a < COUNT_OF(alignments); a++) {
    const evalue_sink_options options = {.alignment = alignments[a]};
    for (size_t capacity = 0; capacity <= 600; capacity++) {
      guard_buffer g = guard_new(capacity);
      evalue_buffer_sink s;
      memset(g.data, UNTOUCHED, capacity);
      memset(&expected, 0, sizeof expected);
      assert_int_equal(evalue_buffer_sink_init(&s, g.data, capacity, &options), EVALUE_OK);
      for (size_t i = 0; i < 20; i++) {
        size_t size = i * 23 % 64;
        uint64_t offset = 77;
        model then = expected;
        uint64_t place = model_put(&then, data, size, alignments[a]);
        evalue_status status = evalue_sink_write(&s.sink, data, size, &offset);
        assert_int_equal(status, then.used <= capacity ? EVALUE_OK : EVALUE_NO_SPACE);
        if (status == EVALUE_OK) expected = then;
        else assert_int_equal(s.sink.needed, then.used);
        assert_int_equal(offset, status == EVALUE_OK ? place : 77);
        assert_int_equal(evalue_sink_used(&s.sink), expected.used);
      }
      assert_memory_equal(g.data, expected.bytes, expected.used);
      for (size_t i = expected.used; i < capacity; i++) assert_int_equal(g.data[i], UNTOUCHED);
      guard_free(&g);
    }
  }
}

static void test_h8_a_message_at_every_capacity(void **state) {
  (void)state;
  evalue values[VALUES];
  uint64_t size, offset = 77;
  uint8_t bytes[1024];
  make_values(values);
  assert_int_equal(evalue_message_encode(values, VALUES, 16, bytes, sizeof bytes, &size), EVALUE_OK);
  for (size_t lead = 0; lead <= 65; lead += 13) {
    size_t place = (lead + 63) / 64 * 64;
    for (size_t capacity = lead; capacity <= place + (size_t)size; capacity++) {
      bool fits = capacity == place + (size_t)size;
      guard_buffer g = guard_new(capacity);
      memset(g.data, UNTOUCHED, capacity);
      evalue_buffer_sink s;
      assert_int_equal(evalue_buffer_sink_init(&s, g.data, capacity, NULL), EVALUE_OK);
      assert_int_equal(evalue_sink_write(&s.sink, bytes, lead, NULL), EVALUE_OK);
      offset = 77;
      assert_int_equal(evalue_message_write(&s.sink, values, VALUES, 16, &offset, NULL),
                       fits ? EVALUE_OK : EVALUE_NO_SPACE);
      assert_int_equal(evalue_sink_used(&s.sink), fits ? place + size : lead);
      if (fits) {
        assert_int_equal(offset, place);
        assert_memory_equal(g.data + place, bytes, (size_t)size);
      } else {
        assert_int_equal(offset, 77);
        assert_int_equal(s.sink.needed, place + size);
        for (size_t i = lead; i < capacity; i++) assert_int_equal(g.data[i], UNTOUCHED);
      }
      guard_free(&g);
    }
  }
}

static void test_h6_a_bad_value_leaves_no_byte(void **state) {
  (void)state;
  evalue values[VALUES];
  evalue_buffer_sink s;
  make_values(values);
  values[2].tensor.dim_order[1] = 0; /* twice the same */
  memset(storage, UNTOUCHED, sizeof storage);
  assert_int_equal(evalue_buffer_sink_init(&s, storage, STORE, NULL), EVALUE_OK);
  assert_int_equal(evalue_message_write(&s.sink, values, VALUES, 0, NULL, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_write_value(&s.sink, &values[2], NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_write_tensor(&s.sink, &values[2].tensor, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_used(&s.sink), 0);
  for (size_t i = 0; i < sizeof storage; i++) assert_int_equal(storage[i], UNTOUCHED);
}

/* ---- places ---- */

static void test_g5_every_base_and_alignment(void **state) {
  (void)state;
  for (size_t base = 0; base < 64; base++) {
    for (uint32_t alignment = 1; alignment <= 4096; alignment *= 2) {
      const evalue_sink_options options = {.size = sizeof options, .alignment = alignment};
      evalue_buffer_sink s;
      memset(storage, UNTOUCHED, sizeof storage);
      memset(&expected, 0, sizeof expected);
      assert_int_equal(evalue_buffer_sink_init(&s, storage + base, STORE, &options), EVALUE_OK);
      for (int i = 0; i < 3; i++) {
        uint64_t offset = 77;
        assert_int_equal(put_step(&s.sink, 4 - 2 * i, &offset), EVALUE_OK);
        assert_int_equal(offset % alignment, 0);
        assert_int_equal(offset, model_step(&expected, 4 - 2 * i, alignment));
      }
      assert_int_equal(evalue_sink_used(&s.sink), expected.used);
      assert_memory_equal(storage + base, expected.bytes, expected.used);
      for (size_t i = base + expected.used; i < base + STORE; i++) assert_int_equal(storage[i], UNTOUCHED);
    }
  }
}

static void test_g1_padding(void **state) {
  (void)state;
  for (size_t size = 0; size <= 130; size++) {
    evalue_buffer_sink s;
    uint64_t offset = 77;
    memset(storage, UNTOUCHED, sizeof storage);
    assert_int_equal(evalue_buffer_sink_init(&s, storage, 512, NULL), EVALUE_OK);
    fill_bytes(expected.bytes, size, size);
    assert_int_equal(evalue_sink_write(&s.sink, expected.bytes, size, &offset), EVALUE_OK);
    assert_int_equal(offset, 0);
    assert_int_equal(evalue_sink_write(&s.sink, "\xff", 1, &offset), EVALUE_OK);
    assert_int_equal(offset, (size + 63) / 64 * 64);
    for (size_t i = size; i < offset; i++) assert_int_equal(storage[i], 0);
    assert_int_equal(storage[offset], 0xff);
  }
}

/* The message's own alignment where it is the larger one. */
static void test_g5_messages_are_aligned_as_they_ask(void **state) {
  (void)state;
  const evalue value = evalue_from_int(7);
  for (uint32_t sinks = 1; sinks <= 4096; sinks *= 8) {
    for (uint32_t messages = 1; messages <= 4096; messages *= 2) {
      const evalue_sink_options options = {.alignment = sinks};
      evalue_buffer_sink s;
      uint64_t offset = 77;
      assert_int_equal(evalue_buffer_sink_init(&s, storage, STORE, &options), EVALUE_OK);
      assert_int_equal(evalue_sink_write(&s.sink, "abc", 3, NULL), EVALUE_OK);
      assert_int_equal(evalue_message_write(&s.sink, &value, 1, messages, &offset, NULL), EVALUE_OK);
      uint32_t larger = sinks > messages ? sinks : messages;
      assert_int_equal(offset, larger < 3 ? (larger == 1 ? 3 : 4) : larger);
      assert_int_equal(evalue_sink_write(&s.sink, "abc", 3, &offset), EVALUE_OK);
      assert_int_equal(offset % sinks, 0); /* the sink's own again */
      assert_true(offset - (evalue_sink_used(&s.sink) - 3) < sinks);
    }
  }
}

/* ---- arguments ---- */

static void test_h2_sizes_near_the_end_of_memory(void **state) {
  (void)state;
  static const size_t lower[] = {0, 1, 3, 63, 64, 4095, 4096};
  for (size_t used = 0; used <= 128; used += 43) {
    evalue_buffer_sink s;
    memset(storage, UNTOUCHED, sizeof storage);
    assert_int_equal(evalue_buffer_sink_init(&s, storage, 128, NULL), EVALUE_OK);
    assert_int_equal(evalue_sink_write(&s.sink, expected.bytes, used, NULL), EVALUE_OK);
    for (size_t i = 0; i < COUNT_OF(lower); i++) {
      evalue_status status = evalue_sink_write(&s.sink, storage, SIZE_MAX - lower[i], NULL);
      assert_int_equal(status, SIZE_MAX > UINT32_MAX ? EVALUE_LIMIT : EVALUE_NO_SPACE);
      size_t most = (size_t)(EVALUE_SIZE_LIMIT - 1 < SIZE_MAX ? EVALUE_SIZE_LIMIT - 1 : SIZE_MAX) - 128 - lower[i];
      assert_int_equal(evalue_sink_write(&s.sink, storage, most, NULL), EVALUE_NO_SPACE);
    }
    assert_int_equal(evalue_sink_used(&s.sink), used);
    for (size_t i = used; i < sizeof storage; i++) assert_int_equal(storage[i], UNTOUCHED);
  }
}

static void test_g6_options(void **state) {
  (void)state;
  const evalue_sink_options bad[] = {{.alignment = 3},     {.alignment = 8192},    {.alignment = UINT32_C(1) << 31},
                                     {.size = 1},          {.size = UINT32_MAX},   {.size = sizeof *bad + 8},
                                     {.buffer_size = 100}, {.sync = UINT32_C(99)}, {.alignment = UINT32_MAX}};
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    evalue_buffer_sink s;
    evalue_counting_sink c;
    assert_int_equal(evalue_buffer_sink_init(&s, storage, 100, &bad[i]), EVALUE_MISUSE);
    check_refused(&s.sink, EVALUE_MISUSE);
    assert_int_equal(evalue_counting_sink_init(&c, &bad[i]), EVALUE_MISUSE);
    check_refused(&c.sink, EVALUE_MISUSE);
  }
  evalue_buffer_sink s;
  assert_int_equal(evalue_buffer_sink_init(NULL, storage, 100, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_buffer_sink_init(&s, NULL, 1, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_counting_sink_init(NULL, NULL), EVALUE_MISUSE);
}

static void test_e5_nothing_into_nothing(void **state) {
  (void)state;
  evalue_buffer_sink s;
  const evalue_slice nothing[] = {{NULL, 0}, {NULL, 0}}, almost[] = {{NULL, 0}, {"a", 1}, {NULL, 0}};
  uint64_t offset = 77;
  assert_int_equal(evalue_buffer_sink_init(&s, NULL, 0, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, NULL, 0, &offset), EVALUE_OK);
  assert_int_equal(offset, 0);
  assert_int_equal(evalue_sink_write_slices(&s.sink, nothing, 2, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, "a", 1, NULL), EVALUE_NO_SPACE);
  assert_int_equal(s.sink.needed, 1);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
  assert_int_equal(evalue_buffer_sink_init(&s, storage, 65, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write_slices(&s.sink, almost, 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, NULL, 0, &offset), EVALUE_OK);
  assert_int_equal(offset, 64);
  assert_int_equal(evalue_sink_used(&s.sink), 64);
}

static void test_h3_a_copied_buffer_sink(void **state) {
  (void)state;
  evalue_buffer_sink s, copy;
  assert_int_equal(evalue_buffer_sink_init(&s, storage, 100, NULL), EVALUE_OK);
  copy = s;
  check_refused(&copy.sink, EVALUE_MISUSE);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
  check_refused(&s.sink, EVALUE_MISUSE);
}

/* ---- counting ---- */

static void test_k7_counting_says_what_others_take(void **state) {
  (void)state;
  for (uint32_t alignment = 1; alignment <= 1024; alignment *= 4) {
    const evalue_sink_options options = {.alignment = alignment};
    evalue_counting_sink c;
    evalue_buffer_sink s;
    assert_int_equal(evalue_counting_sink_init(&c, &options), EVALUE_OK);
    assert_int_equal(evalue_buffer_sink_init(&s, storage, STORE, &options), EVALUE_OK);
    for (int i = 0; i < STEPS; i++) {
      uint64_t counted = 77, written = 78;
      assert_int_equal(put_step(&c.sink, i, &counted), EVALUE_OK);
      assert_int_equal(put_step(&s.sink, i, &written), EVALUE_OK);
      assert_int_equal(counted, written);
      assert_int_equal(evalue_sink_used(&c.sink), evalue_sink_used(&s.sink));
      assert_int_equal(c.records, i + 1);
    }
    assert_int_equal(evalue_sink_write(&c.sink, NULL, 1, NULL), EVALUE_MISUSE);
    assert_int_equal(c.records, STEPS);
    assert_int_equal(evalue_sink_close(&c.sink), EVALUE_OK);
  }
}

static void test_counting_reads_no_payload(void **state) {
  (void)state;
  evalue_counting_sink c;
  guard_buffer g = guard_new(1);
  const void *nowhere = g.data + 1;
  assert_int_equal(evalue_counting_sink_init(&c, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&c.sink, nowhere, 4096, NULL), EVALUE_OK);
  if (SIZE_MAX > UINT32_MAX) {
    assert_int_equal(evalue_sink_write(&c.sink, nowhere, (size_t)EVALUE_SIZE_LIMIT - 4097, NULL), EVALUE_OK);
    assert_int_equal(evalue_sink_write(&c.sink, nowhere, 1, NULL), EVALUE_LIMIT);
    assert_int_equal(evalue_sink_used(&c.sink), EVALUE_SIZE_LIMIT - 1);
    assert_int_equal(c.records, 2);
  }
  guard_free(&g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_h1_a_large_record_then_a_small_one),
      cmocka_unit_test(test_h1_every_capacity),
      cmocka_unit_test(test_h8_a_message_at_every_capacity),
      cmocka_unit_test(test_h6_a_bad_value_leaves_no_byte),
      cmocka_unit_test(test_g5_every_base_and_alignment),
      cmocka_unit_test(test_g1_padding),
      cmocka_unit_test(test_g5_messages_are_aligned_as_they_ask),
      cmocka_unit_test(test_h2_sizes_near_the_end_of_memory),
      cmocka_unit_test(test_g6_options),
      cmocka_unit_test(test_e5_nothing_into_nothing),
      cmocka_unit_test(test_h3_a_copied_buffer_sink),
      cmocka_unit_test(test_k7_counting_says_what_others_take),
      cmocka_unit_test(test_counting_reads_no_payload),
  };
  return cmocka_run_group_tests_name("buffer", tests, be_quiet, NULL);
}
