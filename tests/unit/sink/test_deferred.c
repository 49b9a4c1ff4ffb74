/* SPDX-License-Identifier: BSD-3-Clause */
/* Records that wait: in order, whole, through failures of the target, and room again. */
#include "sink_support.h"

static faulty_sink target;
static model expected;
static evalue_deferred_sink deferred;
static uint8_t memory[2048];

static void start(size_t capacity, uint32_t alignment) {
  faulty_init(&target, true, alignment);
  memset(&expected, 0, sizeof expected);
  assert_int_equal(evalue_deferred_sink_init(&deferred, memory, capacity, &target.sink), EVALUE_OK);
}

static void check_target(void) {
  assert_int_equal(target.size, expected.used);
  assert_int_equal(evalue_sink_used(&target.sink), expected.used);
  assert_memory_equal(target.bytes, expected.bytes, expected.used);
}

static void test_in_order_and_not_before(void **state) {
  (void)state;
  for (uint32_t alignment = 1; alignment <= 256; alignment *= 16) {
    start(sizeof memory, alignment);
    uint64_t used = 0;
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < STEPS; i++) {
        uint64_t offset = 77;
        assert_int_equal(put_step(&deferred.sink, i, &offset), EVALUE_OK);
        assert_int_equal(offset, used);
        used = evalue_sink_used(&deferred.sink);
        check_target();
      }
      assert_int_equal(evalue_sink_flush(&deferred.sink), EVALUE_OK);
      for (int i = 0; i < STEPS; i++) model_step(&expected, i, alignment);
      check_target();
      assert_int_equal(target.calls[FLUSH], round + 1);
      assert_int_equal(evalue_sink_flush(&deferred.sink), EVALUE_OK); /* nothing waits */
      check_target();
      target.calls[FLUSH]--;
    }
    assert_int_equal(evalue_sink_close(&deferred.sink), EVALUE_OK);
    assert_int_equal(target.calls[CLOSE], 0);
  }
}

static void test_the_target_fails_at_every_byte(void **state) {
  (void)state;
  for (int for_ever = 0; for_ever <= 1; for_ever++) {
    for (int64_t k = 0; k < 500; k++) {
      start(sizeof memory, 8);
      target.budget = k;
      target.for_ever = for_ever != 0;
      for (int i = 0; i < STEPS; i++) assert_int_equal(put_step(&deferred.sink, i, NULL), EVALUE_OK);
      evalue_status status = evalue_sink_flush(&deferred.sink);
      int done = 0;
      model then = expected;
      for (; done < STEPS; done++) { /* what fitted */
        model_step(&then, done, 8);
        if (then.used > (size_t)k) break;
        expected = then;
      }
      check_target();
      assert_int_equal(status, done < STEPS ? EVALUE_IO : EVALUE_OK);
      if (done < STEPS) assert_int_equal(deferred.sink.status, EVALUE_IO);
      if (for_ever != 0 && done < STEPS) {
        assert_int_equal(evalue_sink_flush(&deferred.sink), EVALUE_IO);
        check_target();
      }
      target.budget = -1;
      assert_int_equal(put_step(&deferred.sink, 0, NULL), EVALUE_OK); /* more may wait meanwhile */
      assert_int_equal(evalue_sink_flush(&deferred.sink), EVALUE_OK);
      for (; done < STEPS; done++) model_step(&expected, done, 8);
      model_step(&expected, 0, 8);
      check_target();
    }
  }
}

static void test_h1_full_and_room_again(void **state) {
  (void)state;
  for (size_t capacity = 1; capacity <= 100; capacity++) {
    size_t filled = 0, round = 0;
    start(capacity, 1);
    for (size_t i = 0; i < 200; i++) {
      uint8_t bytes[40];
      size_t size = i * 17 % 37;
      fill_bytes(bytes, size, i);
      uint64_t used = evalue_sink_used(&deferred.sink), offset = 77;
      evalue_status status = evalue_sink_write(&deferred.sink, bytes, size, &offset);
      if (filled + size + EVALUE_RECORD_OVERHEAD <= capacity) {
        assert_int_equal(status, EVALUE_OK);
        assert_int_equal(offset, used);
        model_put(&expected, bytes, size, 1);
        filled += size + EVALUE_RECORD_OVERHEAD;
        continue;
      }
      assert_int_equal(status, EVALUE_NO_SPACE);
      assert_int_equal(deferred.sink.needed, used + size);
      assert_int_equal(offset, 77);
      assert_int_equal(evalue_sink_used(&deferred.sink), used);
      if (round++ % 3 == 0) continue; /* what does not fit does not disturb what does */
      assert_int_equal(evalue_sink_flush(&deferred.sink), EVALUE_OK);
      check_target();
      filled = 0;
    }
    assert_int_equal(evalue_sink_close(&deferred.sink), EVALUE_OK);
    check_target();
  }
}

static void test_closing_flushes(void **state) {
  (void)state;
  start(sizeof memory, 1);
  assert_int_equal(put_step(&deferred.sink, 0, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&deferred.sink), EVALUE_OK);
  model_step(&expected, 0, 1);
  check_target();
  check_refused(&deferred.sink, EVALUE_MISUSE);
  start(sizeof memory, 1);
  assert_int_equal(put_step(&deferred.sink, 0, NULL), EVALUE_OK);
  target.budget = 2;
  assert_int_equal(evalue_sink_close(&deferred.sink), EVALUE_IO);
  check_target();
  assert_int_equal(evalue_sink_close(&deferred.sink), EVALUE_MISUSE);
}

static void test_the_target_is_poisoned_closed_or_cannot_flush(void **state) {
  (void)state;
  start(sizeof memory, 1);
  target.fails[FLUSH] = EVALUE_NO_SPACE;
  assert_int_equal(put_step(&deferred.sink, 0, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_flush(&deferred.sink), EVALUE_NO_SPACE);
  assert_int_equal(deferred.sink.system_error, FAULTY_ERROR);
  model_step(&expected, 0, 1);
  check_target(); /* the record has gone there, once */
  assert_int_equal(evalue_sink_flush(&deferred.sink), EVALUE_OK);
  check_target();
  assert_int_equal(put_step(&deferred.sink, 1, NULL), EVALUE_OK);
  target.budget = 1;
  target.fails[UNDO] = EVALUE_IO;
  assert_int_equal(evalue_sink_flush(&deferred.sink), EVALUE_IO);
  assert_int_equal(evalue_sink_flush(&deferred.sink), EVALUE_POISONED);
  assert_int_equal(put_step(&deferred.sink, 1, NULL), EVALUE_OK); /* it can still wait */
  assert_int_equal(evalue_sink_close(&target.sink), EVALUE_POISONED);
  assert_int_equal(evalue_sink_close(&deferred.sink), EVALUE_MISUSE);
}

static void test_arguments(void **state) {
  (void)state;
  evalue_deferred_sink copy;
  faulty_init(&target, true, 1);
  assert_int_equal(evalue_deferred_sink_init(NULL, memory, 64, &target.sink), EVALUE_MISUSE);
  assert_int_equal(evalue_deferred_sink_init(&deferred, NULL, 64, &target.sink), EVALUE_MISUSE);
  check_refused(&deferred.sink, EVALUE_MISUSE);
  assert_int_equal(evalue_deferred_sink_init(&deferred, memory, 64, NULL), EVALUE_MISUSE);
  check_refused(&deferred.sink, EVALUE_MISUSE);
  assert_int_equal(evalue_deferred_sink_init(&deferred, memory, 64, &deferred.sink), EVALUE_MISUSE);
  check_refused(&deferred.sink, EVALUE_MISUSE);
  start(64, 1);
  copy = deferred;
  check_refused(&copy.sink, EVALUE_MISUSE);
  assert_int_equal(evalue_sink_close(&copy.sink), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_close(&deferred.sink), EVALUE_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_in_order_and_not_before),
      cmocka_unit_test(test_the_target_fails_at_every_byte),
      cmocka_unit_test(test_h1_full_and_room_again),
      cmocka_unit_test(test_closing_flushes),
      cmocka_unit_test(test_the_target_is_poisoned_closed_or_cannot_flush),
      cmocka_unit_test(test_arguments),
  };
  return cmocka_run_group_tests_name("deferred", tests, be_quiet, NULL);
}
