/* SPDX-License-Identifier: BSD-3-Clause */
/* Sinks that lead back to themselves: refused, and not a recursion or a loop without end. */
#include <unistd.h>

#include "sink_support.h"

static uint8_t memory_a[64], memory_b[64];

static void test_tees_in_a_circle(void **state) {
  (void)state;
  evalue_tee_sink a, b;
  evalue_sink *list_a[] = {&b.sink}, *list_b[] = {&a.sink};
  assert_int_equal(evalue_tee_sink_init(&a, list_a, 1), EVALUE_OK);
  assert_int_equal(evalue_tee_sink_init(&b, list_b, 1), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&a.sink, "x", 1, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_flush(&a.sink), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_used(&a.sink), 0);
  assert_int_equal(evalue_sink_used(&b.sink), 0);
}

static void test_deferred_sinks_in_a_circle(void **state) {
  (void)state;
  evalue_deferred_sink a, b;
  assert_int_equal(evalue_deferred_sink_init(&a, memory_a, sizeof memory_a, &b.sink), EVALUE_OK);
  assert_int_equal(evalue_deferred_sink_init(&b, memory_b, sizeof memory_b, &a.sink), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&a.sink, "x", 1, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_flush(&a.sink), EVALUE_MISUSE);
}

static void test_a_deferred_sink_into_itself_through_a_tee(void **state) {
  (void)state;
  evalue_deferred_sink a;
  evalue_tee_sink tee;
  evalue_sink *list[] = {&a.sink};
  assert_int_equal(evalue_deferred_sink_init(&a, memory_a, sizeof memory_a, &tee.sink), EVALUE_OK);
  assert_int_equal(evalue_tee_sink_init(&tee, list, 1), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&a.sink, "x", 1, NULL), EVALUE_OK);
  alarm(20); /* it must not go on for ever */
  assert_int_equal(evalue_sink_flush(&a.sink), EVALUE_MISUSE);
  alarm(0);
}

/* From inside its own function a sink is not closed either: end and undo would come after close. */
static evalue_status close_itself(evalue_sink *sink, const evalue_slice *slices, size_t n) {
  (void)slices;
  (void)n;
  assert_int_equal(evalue_sink_close(sink), EVALUE_MISUSE);
  return EVALUE_OK;
}

static void test_closing_from_inside(void **state) {
  (void)state;
  static const evalue_sink_functions functions = {.write = close_itself};
  evalue_sink s;
  assert_int_equal(evalue_sink_init(&s, &functions, 0, 1), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s, "x", 1, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s, "x", 1, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&s), EVALUE_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_closing_from_inside),
      cmocka_unit_test(test_tees_in_a_circle),
      cmocka_unit_test(test_deferred_sinks_in_a_circle),
      cmocka_unit_test(test_a_deferred_sink_into_itself_through_a_tee),
  };
  return cmocka_run_group_tests_name("cycles", tests, be_quiet, NULL);
}
