/* SPDX-License-Identifier: BSD-3-Clause */
/* The sink into a function: short takes, failures at every byte, and what a function may not return. */
#include "sink_support.h"

typedef struct taker {
  uint8_t bytes[STORE];
  size_t size, calls;
  size_t most;     /* bytes of one call */
  int64_t budget;  /* bytes until it fails; negative: never */
  int64_t failure; /* what it returns then */
  bool for_ever;
} taker;

static taker place;
static model expected;

static int64_t take(void *context, const void *data, size_t nbytes) {
  taker *t = (taker *)context;
  t->calls++;
  assert_true(nbytes > 0);
  if (t->budget == 0) {
    if (!t->for_ever) t->budget = -1;
    return t->failure;
  }
  size_t n = nbytes < t->most ? nbytes : t->most;
  if (t->budget > 0 && (int64_t)n > t->budget) n = (size_t)t->budget;
  t->budget -= t->budget > 0 ? (int64_t)n : 0;
  assert_true(n <= STORE - t->size);
  memcpy(t->bytes + t->size, data, n);
  t->size += n;
  return (int64_t)n;
}

static void start(evalue_callback_sink *s, size_t most, uint32_t alignment) {
  const evalue_sink_options options = {.alignment = alignment};
  memset(&expected, 0, sizeof expected);
  memset(&place, 0, sizeof place);
  place.most = most;
  place.budget = -1;
  assert_int_equal(evalue_callback_sink_init(s, take, &place, &options), EVALUE_OK);
}

static void test_short_takes(void **state) {
  (void)state;
  for (uint32_t alignment = 1; alignment <= 64; alignment *= 4) {
    for (size_t most = 1; most <= 300; most += most < 20 ? 1 : 70) {
      evalue_callback_sink s;
      start(&s, most, alignment);
      for (int i = 0; i < STEPS; i++) {
        uint64_t offset = 77;
        assert_int_equal(put_step(&s.sink, i, &offset), EVALUE_OK);
        assert_int_equal(offset, model_step(&expected, i, alignment));
      }
      assert_int_equal(evalue_sink_used(&s.sink), expected.used);
      assert_int_equal(place.size, expected.used);
      assert_memory_equal(place.bytes, expected.bytes, expected.used);
      assert_int_equal(evalue_sink_flush(&s.sink), EVALUE_OK);
      assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
    }
  }
}

/* Poisoned when a part was taken, and otherwise as good as before. */
static void test_h4_failures_at_every_byte(void **state) {
  (void)state;
  static const int64_t failures[] = {0, -1, INT64_MIN, -28};
  for (size_t f = 0; f < COUNT_OF(failures); f++) {
    for (int64_t k = 0; k < 420; k++) {
      evalue_callback_sink s;
      start(&s, 3, 8);
      place.budget = k;
      place.failure = failures[f];
      int count = 0;
      for (int i = 0; i < STEPS; i++) {
        uint64_t offset = 77;
        size_t before = place.size;
        evalue_status status = put_step(&s.sink, i, &offset);
        if (status == EVALUE_OK) {
          assert_int_equal(offset, model_step(&expected, i, 8));
          continue;
        }
        count++;
        assert_int_equal(status, EVALUE_IO);
        assert_int_equal(s.sink.status, EVALUE_IO);
        assert_int_equal(offset, 77);
        assert_int_equal(evalue_sink_used(&s.sink), expected.used);
        if (place.size == before) {
          assert_int_equal(put_step(&s.sink, i, &offset), EVALUE_OK);
          assert_int_equal(offset, model_step(&expected, i, 8));
          continue;
        }
        size_t calls = place.calls;
        check_refused(&s.sink, EVALUE_POISONED);
        assert_int_equal(place.calls, calls);
        assert_int_equal(evalue_sink_close(&s.sink), EVALUE_POISONED);
        break;
      }
      assert_int_equal(count, place.budget < 0); /* each time it said so */
      assert_memory_equal(place.bytes, expected.bytes, expected.used);
    }
  }
}

/* As the report has it: 3 of 10 bytes, and then no space. */
static void test_h4_three_of_ten(void **state) {
  (void)state;
  evalue_callback_sink s;
  start(&s, STORE, 1);
  assert_int_equal(evalue_sink_write(&s.sink, "0123456789", 10, NULL), EVALUE_OK);
  place.budget = 3;
  place.failure = -28;
  assert_int_equal(evalue_sink_write(&s.sink, "0123456789", 10, NULL), EVALUE_IO);
  assert_int_equal(place.size, 13);
  assert_int_equal(evalue_sink_used(&s.sink), 10);
  check_refused(&s.sink, EVALUE_POISONED);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_POISONED);
}

static int64_t take_too_many(void *context, const void *data, size_t nbytes) {
  (void)data;
  int64_t surplus = *(const int64_t *)context;
  return surplus == INT64_MAX ? INT64_MAX : (int64_t)nbytes + surplus;
}

static void test_too_many(void **state) {
  (void)state;
  static const int64_t surpluses[] = {1, 2, INT64_C(1) << 32, INT64_MAX};
  for (size_t i = 0; i < COUNT_OF(surpluses); i++) {
    evalue_callback_sink s;
    int64_t surplus = surpluses[i];
    assert_int_equal(evalue_callback_sink_init(&s, take_too_many, &surplus, NULL), EVALUE_OK);
    assert_int_equal(evalue_sink_write(&s.sink, "abc", 3, NULL), EVALUE_IO);
    assert_int_equal(evalue_sink_used(&s.sink), 0);
  }
}

static void test_nothing_is_no_call(void **state) {
  (void)state;
  evalue_callback_sink s;
  const evalue_slice slices[] = {{NULL, 0}, {"a", 1}, {NULL, 0}, {"", 0}};
  start(&s, 9, 1);
  assert_int_equal(evalue_sink_write(&s.sink, NULL, 0, NULL), EVALUE_OK);
  assert_int_equal(place.calls, 0);
  assert_int_equal(evalue_sink_write_slices(&s.sink, slices, 4, NULL), EVALUE_OK);
  assert_int_equal(place.calls, 1);
}

static void test_arguments(void **state) {
  (void)state;
  evalue_callback_sink s, copy;
  const evalue_sink_options bad = {.alignment = 12};
  assert_int_equal(evalue_callback_sink_init(NULL, take, NULL, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_callback_sink_init(&s, NULL, NULL, NULL), EVALUE_MISUSE);
  check_refused(&s.sink, EVALUE_MISUSE);
  assert_int_equal(evalue_callback_sink_init(&s, take, &place, &bad), EVALUE_MISUSE);
  check_refused(&s.sink, EVALUE_MISUSE);
  start(&s, 9, 0);
  copy = s;
  check_refused(&copy.sink, EVALUE_MISUSE);
  assert_int_equal(place.calls, 0);
  assert_int_equal(evalue_sink_write(&s.sink, "abc", 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, "abc", 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_used(&s.sink), 6); /* alignment 1 by default */
}

static evalue_callback_sink inner;

static int64_t write_again(void *context, const void *data, size_t nbytes) {
  (void)context;
  (void)data;
  check_refused(&inner.sink, EVALUE_MISUSE);
  return (int64_t)nbytes;
}

static void test_a_callback_that_writes_to_its_own_sink(void **state) {
  (void)state;
  assert_int_equal(evalue_callback_sink_init(&inner, write_again, NULL, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&inner.sink, "ab", 2, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_used(&inner.sink), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_short_takes),
      cmocka_unit_test(test_h4_failures_at_every_byte),
      cmocka_unit_test(test_h4_three_of_ten),
      cmocka_unit_test(test_too_many),
      cmocka_unit_test(test_nothing_is_no_call),
      cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_a_callback_that_writes_to_its_own_sink),
  };
  return cmocka_run_group_tests_name("callback", tests, be_quiet, NULL);
}
