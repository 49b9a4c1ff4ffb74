/* SPDX-License-Identifier: BSD-3-Clause */
/* What all sinks have in common, with a sink of the test's own that fails where it is told to. */
#include "sink_support.h"

static faulty_sink faulty;
static model expected;

static void start(bool can_undo, uint32_t alignment) {
  faulty_init(&faulty, can_undo, alignment);
  memset(&expected, 0, sizeof expected);
}

static void check_holds(const model *m) {
  assert_int_equal(evalue_sink_used(&faulty.sink), m->used);
  assert_int_equal(faulty.size, m->used);
  assert_memory_equal(faulty.bytes, m->bytes, m->used);
}

/* ---- failures at every byte ---- */

static size_t bytes_of_all_steps(uint32_t alignment) {
  start(true, alignment);
  for (int i = 0; i < STEPS; i++) {
    uint64_t offset = 0;
    assert_int_equal(put_step(&faulty.sink, i, &offset), EVALUE_OK);
    assert_int_equal(offset, model_step(&expected, i, alignment));
    check_holds(&expected);
  }
  return expected.used;
}

static void test_h1_every_byte_once(void **state) {
  (void)state;
  for (uint32_t alignment = 1; alignment <= 256; alignment *= 4) {
    size_t all = bytes_of_all_steps(alignment);
    for (size_t k = 0; k < all; k++) {
      start(true, alignment);
      faulty.budget = (int64_t)k;
      int failures = 0;
      for (int i = 0; i < STEPS; i++) {
        uint64_t offset = 77;
        evalue_status status = put_step(&faulty.sink, i, &offset);
        if (status != EVALUE_OK) {
          assert_int_equal(status, EVALUE_IO);
          assert_int_equal(faulty.sink.status, EVALUE_IO);
          assert_int_equal(offset, 77);
          check_holds(&expected);
          failures++;
          assert_int_equal(put_step(&faulty.sink, i, &offset), EVALUE_OK); /* where the failed one would have gone */
        }
        assert_int_equal(offset, model_step(&expected, i, alignment));
        check_holds(&expected);
      }
      assert_int_equal(failures, 1);
      assert_int_equal(evalue_sink_close(&faulty.sink), EVALUE_OK);
      assert_true(faulty.was_good);
    }
  }
}

static void test_h1_every_byte_for_ever(void **state) {
  (void)state;
  size_t all = bytes_of_all_steps(16);
  for (size_t k = 0; k < all; k++) {
    start(true, 16);
    faulty.budget = (int64_t)k;
    faulty.for_ever = true;
    int i = 0;
    for (; put_step(&faulty.sink, i, NULL) == EVALUE_OK; i++) model_step(&expected, i, 16);
    for (; i < STEPS; i++) {
      if (i != 3) assert_int_equal(put_step(&faulty.sink, i, NULL), EVALUE_IO); /* 3 may need no byte */
      if (i != 3) check_holds(&expected);
    }
    assert_int_equal(evalue_sink_flush(&faulty.sink), EVALUE_OK);
    assert_int_equal(evalue_sink_close(&faulty.sink), EVALUE_OK);
  }
}

static void test_h4_every_byte_without_undo(void **state) {
  (void)state;
  size_t all = bytes_of_all_steps(16);
  for (int can_undo = 0; can_undo <= 1; can_undo++) {
    for (size_t k = 0; k < all; k++) {
      start(can_undo != 0, 16);
      faulty.budget = (int64_t)k;
      faulty.fails[UNDO] = EVALUE_IO;
      int i = 0;
      for (; put_step(&faulty.sink, i, NULL) == EVALUE_OK; i++) model_step(&expected, i, 16);
      assert_int_equal(faulty.sink.status, EVALUE_IO);
      assert_int_equal(evalue_sink_used(&faulty.sink), expected.used);
      assert_memory_equal(faulty.bytes, expected.bytes, expected.used);
      size_t calls = faulty.calls[BEGIN] + faulty.calls[WRITE] + faulty.calls[FLUSH], undone = faulty.calls[UNDO];
      check_refused(&faulty.sink, EVALUE_POISONED);
      assert_int_equal(faulty.sink.status, EVALUE_POISONED);
      assert_int_equal(faulty.calls[BEGIN] + faulty.calls[WRITE] + faulty.calls[FLUSH], calls);
      assert_int_equal(faulty.calls[UNDO], undone);
      assert_int_equal(undone, can_undo);
      assert_int_equal(evalue_sink_close(&faulty.sink), EVALUE_POISONED);
      assert_int_equal(faulty.calls[CLOSE], 1);
      assert_false(faulty.was_good);
    }
  }
}

/* ---- failures of each function ---- */

static void test_begin_fails(void **state) {
  (void)state;
  static const evalue_status statuses[] = {EVALUE_NO_SPACE, EVALUE_IO, EVALUE_LIMIT};
  for (size_t i = 0; i < COUNT_OF(statuses); i++) {
    start(true, 8);
    assert_int_equal(put_step(&faulty.sink, 0, NULL), EVALUE_OK);
    model_step(&expected, 0, 8);
    for (int k = 0; k < STEPS; k++) {
      faulty.fails[BEGIN] = statuses[i];
      faulty.sink.needed = 0;
      assert_int_equal(put_step(&faulty.sink, k, NULL), statuses[i]);
      assert_int_equal(faulty.sink.status, statuses[i]);
      check_holds(&expected);
      model then = expected;
      model_step(&then, k, 8);
      assert_int_equal(faulty.sink.needed, statuses[i] == EVALUE_NO_SPACE ? then.used : 0);
    }
    assert_int_equal(faulty.calls[WRITE], 1);
    assert_int_equal(faulty.calls[UNDO], 0);
    assert_int_equal(put_step(&faulty.sink, 1, NULL), EVALUE_OK);
    model_step(&expected, 1, 8);
    check_holds(&expected);
  }
}

static void test_write_fails_at_each_call(void **state) {
  (void)state;
  start(true, 16);
  assert_int_equal(evalue_sink_write(&faulty.sink, "a", 1, NULL), EVALUE_OK);
  for (int nth = 0; nth < 2; nth++) { /* the zeros, and the bytes */
    faulty.order[0] = '\0';
    memset(faulty.order, 0, sizeof faulty.order);
    faulty.budget = nth == 0 ? 0 : 15;
    assert_int_equal(evalue_sink_write(&faulty.sink, "b", 1, NULL), EVALUE_IO);
    assert_string_equal(faulty.order, nth == 0 ? "bwu" : "bwwu");
    assert_int_equal(evalue_sink_used(&faulty.sink), 1);
  }
}

static void test_flush_fails(void **state) {
  (void)state;
  start(true, 1);
  faulty.fails[FLUSH] = EVALUE_IO;
  assert_int_equal(evalue_sink_flush(&faulty.sink), EVALUE_IO);
  assert_int_equal(faulty.sink.status, EVALUE_IO);
  assert_int_equal(evalue_sink_flush(&faulty.sink), EVALUE_OK);
  assert_int_equal(put_step(&faulty.sink, 0, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&faulty.sink), EVALUE_OK);
  assert_string_equal(faulty.order, "ffbwefc");
}

static void test_close_reports_each_failure_once(void **state) {
  (void)state;
  for (int which = 0; which < 8; which++) {
    start(true, 1);
    evalue_status expected_status = EVALUE_OK;
    if ((which & 1) != 0) faulty.fails[CLOSE] = expected_status = EVALUE_IO;
    if ((which & 2) != 0) faulty.fails[FLUSH] = expected_status = EVALUE_NO_SPACE;
    if ((which & 4) != 0) {
      faulty.budget = 0;
      faulty.fails[UNDO] = EVALUE_IO;
      expected_status = EVALUE_POISONED;
      assert_int_equal(put_step(&faulty.sink, 0, NULL), EVALUE_IO);
    }
    assert_int_equal(evalue_sink_close(&faulty.sink), expected_status);
    assert_int_equal(faulty.was_good, expected_status == EVALUE_OK || expected_status == EVALUE_IO);
    assert_int_equal(faulty.calls[CLOSE], 1);
    if (expected_status != EVALUE_OK) assert_int_equal(faulty.sink.status, expected_status);
    assert_int_equal(evalue_sink_close(&faulty.sink), EVALUE_MISUSE);
    assert_int_equal(faulty.calls[CLOSE], 1);
  }
}

static void test_only_write_is_needed(void **state) {
  (void)state;
  static const evalue_sink_functions functions = {.write = faulty_write};
  start(true, 1);
  faulty.is_in_record = true;
  faulty.announced = STORE;
  assert_int_equal(evalue_sink_init(&faulty.sink, &functions, 100, 16), EVALUE_OK);
  uint64_t offset = 0;
  assert_int_equal(evalue_sink_write(&faulty.sink, "ab", 2, &offset), EVALUE_OK);
  assert_int_equal(offset, 112);
  assert_int_equal(faulty.size, 14);
  assert_int_equal(evalue_sink_flush(&faulty.sink), EVALUE_OK);
  faulty.budget = 0;
  assert_int_equal(evalue_sink_write(&faulty.sink, "ab", 2, &offset), EVALUE_IO);
  assert_int_equal(evalue_sink_used(&faulty.sink), 114);
  assert_int_equal(evalue_sink_close(&faulty.sink), EVALUE_POISONED);
}

static void test_the_order_of_calls(void **state) {
  (void)state;
  start(true, 1);
  for (int i = 0; i < STEPS; i++) assert_int_equal(put_step(&faulty.sink, i, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_flush(&faulty.sink), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&faulty.sink), EVALUE_OK);
  assert_string_equal(faulty.order, "bwebwebwebebwebweffc");
}

/* ---- where a sink is ---- */

static void test_h3_copied_and_moved(void **state) {
  (void)state;
  static faulty_sink copy;
  start(true, 1);
  assert_int_equal(put_step(&faulty.sink, 0, NULL), EVALUE_OK);
  copy = faulty;
  size_t calls = faulty.calls[BEGIN];
  check_refused(&copy.sink, EVALUE_MISUSE);
  assert_int_equal(evalue_sink_close(&copy.sink), EVALUE_MISUSE);
  memset(&faulty, 0, sizeof faulty); /* moved */
  check_refused(&copy.sink, EVALUE_MISUSE);
  check_refused(&faulty.sink, EVALUE_MISUSE);
  assert_int_equal(evalue_sink_close(&faulty.sink), EVALUE_MISUSE);
  faulty = copy; /* and back */
  assert_int_equal(faulty.calls[BEGIN], calls);
  assert_int_equal(put_step(&faulty.sink, 1, NULL), EVALUE_OK);
  copy = faulty;
  assert_int_equal(evalue_sink_close(&faulty.sink), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&copy.sink), EVALUE_MISUSE);
  assert_int_equal(copy.calls[CLOSE], 0);
}

static void test_l4_use_after_close(void **state) {
  (void)state;
  start(true, 1);
  assert_int_equal(put_step(&faulty.sink, 0, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&faulty.sink), EVALUE_OK);
  check_refused(&faulty.sink, EVALUE_MISUSE);
  assert_int_equal(evalue_sink_close(&faulty.sink), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_used(&faulty.sink), 5);
}

static void test_null(void **state) {
  (void)state;
  const evalue_slice bad = {NULL, 1};
  check_refused(NULL, EVALUE_MISUSE);
  assert_int_equal(evalue_sink_close(NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_used(NULL), 0);
  start(true, 1);
  uint64_t offset = 77;
  assert_int_equal(evalue_sink_write(&faulty.sink, NULL, 1, &offset), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_write_slices(&faulty.sink, NULL, 1, &offset), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_write_slices(&faulty.sink, &bad, 1, &offset), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_write_value(&faulty.sink, NULL, &offset), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_write_tensor(&faulty.sink, NULL, &offset), EVALUE_MISUSE);
  assert_int_equal(evalue_message_write(&faulty.sink, NULL, 1, 0, &offset, NULL), EVALUE_MISUSE);
  assert_int_equal(offset, 77);
  assert_string_equal(faulty.order, "");
  assert_int_equal(evalue_sink_write_slices(&faulty.sink, NULL, 0, &offset), EVALUE_OK);
  assert_int_equal(offset, 0);
}

static void test_g6_initialising(void **state) {
  (void)state;
  static const evalue_sink_functions functions = {.write = faulty_write}, none = {.begin = faulty_begin};
  static const uint32_t bad[] = {3, 5, 24, 4095, 4097, 8192, UINT32_C(1) << 31, UINT32_MAX};
  evalue_sink s;
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    memset(&s, UNTOUCHED, sizeof s);
    assert_int_equal(evalue_sink_init(&s, &functions, 0, bad[i]), EVALUE_MISUSE);
    assert_int_equal(s.status, EVALUE_MISUSE);
    check_refused(&s, EVALUE_MISUSE);
    assert_int_equal(evalue_sink_close(&s), EVALUE_MISUSE);
  }
  for (uint32_t alignment = 1; alignment <= 4096; alignment *= 2) {
    assert_int_equal(evalue_sink_init(&s, &functions, 5, alignment), EVALUE_OK);
    assert_int_equal(evalue_sink_used(&s), 5);
    assert_int_equal(s.status, EVALUE_OK);
    assert_int_equal(evalue_sink_close(&s), EVALUE_OK);
  }
  assert_int_equal(evalue_sink_init(NULL, &functions, 0, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_init(&s, NULL, 0, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_init(&s, &none, 0, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_init(&s, &functions, EVALUE_SIZE_LIMIT, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_init(&s, &functions, UINT64_MAX, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_init(&s, &functions, 0, 0), EVALUE_OK);
}

/* 2^62 bytes are never reached, and sums do not wrap. */
static void test_h2_limits(void **state) {
  (void)state;
  const evalue_slice halves[] = {{"x", (size_t)EVALUE_SIZE_LIMIT / 2}, {"x", (size_t)EVALUE_SIZE_LIMIT / 2}};
  static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 3, SIZE_MAX - 4095, SIZE_MAX / 2 + 1};
  for (uint32_t alignment = 1; alignment <= 4096; alignment *= 64) {
    start(true, alignment);
    assert_int_equal(evalue_sink_write(&faulty.sink, "abc", 3, NULL), EVALUE_OK);
    for (size_t i = 0; i < COUNT_OF(sizes) && SIZE_MAX > UINT32_MAX; i++) {
      uint64_t offset = 77;
      assert_int_equal(evalue_sink_write(&faulty.sink, "x", sizes[i], &offset), EVALUE_LIMIT);
      assert_int_equal(offset, 77);
    }
    if (SIZE_MAX > UINT32_MAX) assert_int_equal(evalue_sink_write_slices(&faulty.sink, halves, 2, NULL), EVALUE_LIMIT);
    if (SIZE_MAX > UINT32_MAX) {
      const size_t most = (size_t)EVALUE_SIZE_LIMIT - 1; /* four of them, and 7: 3 in 64 bits */
      const evalue_slice round[] = {{"x", most}, {"x", most}, {"x", most}, {"x", most}, {"abcdefg", 7}};
      assert_int_equal(evalue_sink_write_slices(&faulty.sink, round, 5, NULL), EVALUE_LIMIT);
    }
    faulty.sink.used = EVALUE_SIZE_LIMIT - 1; /* as if */
    assert_int_equal(evalue_sink_write(&faulty.sink, "x", 1, NULL), EVALUE_LIMIT);
    faulty.sink.used = EVALUE_SIZE_LIMIT - 4096;
    assert_int_equal(evalue_sink_write(&faulty.sink, "x", 4096, NULL), EVALUE_LIMIT);
    assert_int_equal(faulty.calls[BEGIN], 1);
    assert_int_equal(evalue_sink_write(&faulty.sink, "x", 1, NULL), EVALUE_OK);
    assert_int_equal(evalue_sink_used(&faulty.sink), EVALUE_SIZE_LIMIT - 4095);
  }
}

/* ---- from inside ---- */

static evalue_status write_itself(evalue_sink *sink, const evalue_slice *slices, size_t n) {
  (void)slices;
  (void)n;
  check_refused(sink, EVALUE_MISUSE);
  return EVALUE_OK;
}

static void test_from_inside_its_own_function(void **state) {
  (void)state;
  static const evalue_sink_functions functions = {.write = write_itself};
  evalue_sink s;
  assert_int_equal(evalue_sink_init(&s, &functions, 0, 1), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s, "ab", 2, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_used(&s), 2);
}

static void count_line(void *context, const evalue_log_record *record) {
  if (strcmp(record->component, "sink") == 0 && record->level == EVALUE_LOG_WARNING) ++*(int *)context;
}

static void test_poisoning_is_logged_once(void **state) {
  (void)state;
  int lines = 0;
  const evalue_log_handler handler = {count_line, &lines};
  if (evalue_log_configure("sink", NULL, 0) != EVALUE_OK || !evalue_log_is_on(&evalue_log_sink, EVALUE_LOG_WARNING)) {
    skip();
  }
  evalue_log_set_handler(&handler);
  start(false, 1);
  faulty.budget = 0;
  assert_int_equal(put_step(&faulty.sink, 0, NULL), EVALUE_IO);
  assert_int_equal(put_step(&faulty.sink, 0, NULL), EVALUE_POISONED);
  assert_int_equal(evalue_sink_close(&faulty.sink), EVALUE_POISONED);
  evalue_log_set_handler(NULL);
  be_quiet(NULL);
  assert_int_equal(lines, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_h1_every_byte_once),
      cmocka_unit_test(test_h1_every_byte_for_ever),
      cmocka_unit_test(test_h4_every_byte_without_undo),
      cmocka_unit_test(test_begin_fails),
      cmocka_unit_test(test_write_fails_at_each_call),
      cmocka_unit_test(test_flush_fails),
      cmocka_unit_test(test_close_reports_each_failure_once),
      cmocka_unit_test(test_only_write_is_needed),
      cmocka_unit_test(test_the_order_of_calls),
      cmocka_unit_test(test_h3_copied_and_moved),
      cmocka_unit_test(test_l4_use_after_close),
      cmocka_unit_test(test_null),
      cmocka_unit_test(test_g6_initialising),
      cmocka_unit_test(test_h2_limits),
      cmocka_unit_test(test_from_inside_its_own_function),
      cmocka_unit_test(test_poisoning_is_logged_once),
  };
  return cmocka_run_group_tests_name("sink", tests, be_quiet, NULL);
}
