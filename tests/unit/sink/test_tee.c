/* SPDX-License-Identifier: BSD-3-Clause */
/* One record to several sinks: to all or to none, whichever of them fails, and wherever. */
#include "sink_support.h"

enum { CHILDREN = 3 };

static faulty_sink children[CHILDREN];
static model models[CHILDREN];
static evalue_sink *list[CHILDREN];
static evalue_tee_sink tee;

static uint32_t alignment_of(int child) {
  static const uint32_t alignments[CHILDREN] = {1, 64, 8};
  return alignments[child];
}

static void start(int without_undo) {
  for (int i = 0; i < CHILDREN; i++) {
    faulty_init(&children[i], i != without_undo, alignment_of(i));
    memset(&models[i], 0, sizeof models[i]);
    list[i] = &children[i].sink;
  }
  assert_int_equal(evalue_tee_sink_init(&tee, list, CHILDREN), EVALUE_OK);
}

static void expect_step(int step) {
  for (int i = 0; i < CHILDREN; i++) model_step(&models[i], step, alignment_of(i));
}

static void check_children(void) {
  for (int i = 0; i < CHILDREN; i++) {
    assert_int_equal(evalue_sink_used(list[i]), models[i].used);
    if (children[i].sink.is_poisoned == 0) assert_int_equal(children[i].size, models[i].used);
    assert_memory_equal(children[i].bytes, models[i].bytes, models[i].used);
  }
}

static void test_all_of_them(void **state) {
  (void)state;
  uint64_t tee_used = 0;
  start(-1);
  for (int step = 0; step < STEPS; step++) {
    uint64_t offset = 77;
    assert_int_equal(put_step(&tee.sink, step, &offset), EVALUE_OK);
    assert_int_equal(offset, tee_used); /* it places nothing itself */
    tee_used = evalue_sink_used(&tee.sink);
    expect_step(step);
    check_children();
  }
  assert_int_equal(evalue_sink_flush(&tee.sink), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&tee.sink), EVALUE_OK);
  for (int i = 0; i < CHILDREN; i++) { /* they stay the caller's */
    assert_int_equal(children[i].calls[FLUSH], 2);
    assert_int_equal(children[i].calls[CLOSE], 0);
    assert_int_equal(evalue_sink_close(list[i]), EVALUE_OK);
  }
}

static void test_h1_each_child_at_each_byte(void **state) {
  (void)state;
  for (int bad = 0; bad < CHILDREN; bad++) {
    for (int64_t k = 0; k < 600; k++) {
      start(-1);
      children[bad].budget = k;
      for (int step = 0; step < STEPS; step++) {
        evalue_status status = put_step(&tee.sink, step, NULL);
        if (status != EVALUE_OK) {
          assert_int_equal(status, EVALUE_IO);
          check_children();
          assert_int_equal(put_step(&tee.sink, step, NULL), EVALUE_OK);
        }
        expect_step(step);
        check_children();
      }
      assert_int_equal(evalue_sink_close(&tee.sink), EVALUE_OK);
    }
  }
}

/* When one cannot take back what another has refused: it is poisoned, and the tee; the others are as they were. */
static void test_h4_one_without_undo(void **state) {
  (void)state;
  for (int stubborn = 0; stubborn < CHILDREN; stubborn++) {
    for (int bad = 0; bad < CHILDREN; bad++) {
      for (int64_t k = 0; k < 400; k++) {
        start(stubborn);
        children[bad].budget = k;
        int step = 0;
        evalue_status status;
        while (step < STEPS && (status = put_step(&tee.sink, step, NULL)) == EVALUE_OK) expect_step(step++);
        if (step == STEPS) break;
        assert_int_equal(status, EVALUE_IO);
        check_children();
        bool is_begun = children[stubborn].sink.is_poisoned != 0;
        assert_true(is_begun || stubborn > bad); /* else it had no part in the record yet */
        for (int i = 0; i < CHILDREN; i++) assert_int_equal(children[i].sink.is_poisoned, i == stubborn && is_begun);
        if (is_begun) {
          check_refused(&tee.sink, EVALUE_POISONED);
          check_children();
          assert_int_equal(evalue_sink_close(&tee.sink), EVALUE_POISONED);
        } else {
          assert_int_equal(put_step(&tee.sink, step, NULL), EVALUE_OK);
          expect_step(step);
          check_children();
        }
      }
    }
  }
}

static void test_begin_of_each_child_fails(void **state) {
  (void)state;
  for (int bad = 0; bad < CHILDREN; bad++) {
    start(-1);
    for (int step = 0; step < STEPS; step++) {
      children[bad].fails[BEGIN] = EVALUE_NO_SPACE;
      assert_int_equal(put_step(&tee.sink, step, NULL), EVALUE_NO_SPACE);
      check_children();
      for (int i = 0; i < CHILDREN; i++) assert_false(children[i].is_in_record);
      assert_int_equal(put_step(&tee.sink, step, NULL), EVALUE_OK);
      expect_step(step);
      check_children();
    }
  }
}

/* One has begun and cannot take that back, another refuses to begin: the tee says so by itself from then on. */
static void test_begin_fails_and_one_is_without_undo(void **state) {
  (void)state;
  start(0);
  children[2].fails[BEGIN] = EVALUE_NO_SPACE;
  assert_int_equal(put_step(&tee.sink, 0, NULL), EVALUE_NO_SPACE);
  check_children();
  size_t begun = children[1].calls[BEGIN];
  check_refused(&tee.sink, EVALUE_POISONED);
  assert_int_equal(tee.sink.is_poisoned, 1);
  assert_int_equal(children[1].calls[BEGIN], begun);
  assert_int_equal(evalue_sink_close(&tee.sink), EVALUE_POISONED);
}

/* Its zeros fail, and so does taking them back: it is poisoned by its beginning. So is the tee, or the others would
   begin and lose a record for nothing each time (a ring: its oldest). */
static void test_a_child_is_poisoned_by_its_beginning(void **state) {
  (void)state;
  for (int bad = 1; bad < CHILDREN; bad++) {
    start(bad);
    assert_int_equal(put_step(&tee.sink, 0, NULL), EVALUE_OK);
    expect_step(0);
    children[bad].budget = 1;
    assert_int_equal(put_step(&tee.sink, 0, NULL), EVALUE_IO);
    check_children();
    assert_int_equal(list[bad]->is_poisoned, 1);
    size_t begun = children[0].calls[BEGIN];
    check_refused(&tee.sink, EVALUE_POISONED);
    assert_int_equal(children[0].calls[BEGIN], begun);
  }
}

static void test_undo_of_each_child_fails(void **state) {
  (void)state;
  for (int bad = 0; bad < CHILDREN; bad++) {
    for (int stubborn = 0; stubborn < CHILDREN; stubborn++) {
      start(-1);
      assert_int_equal(put_step(&tee.sink, 0, NULL), EVALUE_OK);
      expect_step(0);
      children[bad].budget = 62; /* beyond all padding */
      children[stubborn].fails[UNDO] = EVALUE_IO;
      assert_int_equal(put_step(&tee.sink, 4, NULL), EVALUE_IO);
      check_children();
      assert_int_equal(children[stubborn].sink.is_poisoned, 1);
      check_refused(&tee.sink, EVALUE_POISONED);
      for (int i = 0; i < CHILDREN; i++) {
        assert_int_equal(evalue_sink_close(list[i]), i == stubborn ? EVALUE_POISONED : EVALUE_OK);
      }
      assert_int_equal(evalue_sink_close(&tee.sink), EVALUE_POISONED);
    }
  }
}

static void test_flush_of_each_child_fails(void **state) {
  (void)state;
  for (int bad = 0; bad < CHILDREN; bad++) {
    start(-1);
    children[bad].fails[FLUSH] = EVALUE_NO_SPACE;
    if (bad + 1 < CHILDREN) children[bad + 1].fails[FLUSH] = EVALUE_IO;
    assert_int_equal(evalue_sink_flush(&tee.sink), EVALUE_NO_SPACE); /* the first */
    assert_int_equal(tee.sink.system_error, FAULTY_ERROR);
    for (int i = 0; i < CHILDREN; i++) assert_int_equal(children[i].calls[FLUSH], 1); /* all, even so */
    assert_int_equal(evalue_sink_flush(&tee.sink), EVALUE_OK);
  }
}

static void test_a_child_is_closed_or_poisoned(void **state) {
  (void)state;
  for (int bad = 0; bad < CHILDREN; bad++) {
    start(-1);
    assert_int_equal(put_step(&tee.sink, 0, NULL), EVALUE_OK);
    expect_step(0);
    children[bad].budget = 0;
    children[bad].fails[UNDO] = EVALUE_IO;
    assert_int_equal(put_step(list[bad], 0, NULL), EVALUE_IO); /* poisoned, and not through the tee */
    assert_int_equal(put_step(&tee.sink, 0, NULL), EVALUE_POISONED);
    check_children();
    assert_int_equal(evalue_sink_flush(&tee.sink), EVALUE_POISONED);
    start(-1);
    assert_int_equal(evalue_sink_close(list[bad]), EVALUE_OK);
    assert_int_equal(put_step(&tee.sink, 0, NULL), EVALUE_MISUSE);
    check_children();
    assert_int_equal(evalue_sink_used(&tee.sink), 0);
  }
}

static void test_the_same_child_twice(void **state) {
  (void)state;
  static const int orders[][CHILDREN] = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
  for (size_t k = 0; k < COUNT_OF(orders); k++) {
    start(-1);
    for (int i = 0; i < CHILDREN; i++) list[i] = &children[orders[k][i]].sink;
    if (evalue_tee_sink_init(&tee, list, CHILDREN) != EVALUE_OK) continue; /* as good */
    assert_int_equal(put_step(&tee.sink, 0, NULL), EVALUE_MISUSE);
    assert_int_equal(children[0].size, 0);
    assert_int_equal(children[1].size, 0);
    assert_int_equal(evalue_sink_used(&children[0].sink), 0);
    assert_int_equal(put_step(&children[0].sink, 0, NULL), EVALUE_OK); /* it is as good as new */
  }
}

static void test_itself_and_null(void **state) {
  (void)state;
  start(-1);
  for (int i = 0; i < CHILDREN; i++) {
    list[i] = &tee.sink;
    assert_int_equal(evalue_tee_sink_init(&tee, list, CHILDREN), EVALUE_MISUSE);
    check_refused(&tee.sink, EVALUE_MISUSE);
    list[i] = NULL;
    assert_int_equal(evalue_tee_sink_init(&tee, list, CHILDREN), EVALUE_MISUSE);
    check_refused(&tee.sink, EVALUE_MISUSE);
    list[i] = &children[i].sink;
  }
  assert_int_equal(evalue_tee_sink_init(&tee, NULL, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_tee_sink_init(NULL, list, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_tee_sink_init(&tee, NULL, 0), EVALUE_OK);
  assert_int_equal(put_step(&tee.sink, 0, NULL), EVALUE_OK); /* to nobody */
  assert_int_equal(evalue_sink_used(&tee.sink), 5);
}

static void test_a_tee_in_a_tee(void **state) {
  (void)state;
  for (int bad = 0; bad < CHILDREN; bad++) {
    for (int64_t k = 0; k < 300; k += 3) {
      evalue_tee_sink inner, outer;
      evalue_sink *outer_list[] = {&children[2].sink, &inner.sink};
      start(-1);
      assert_int_equal(evalue_tee_sink_init(&inner, list, 2), EVALUE_OK);
      assert_int_equal(evalue_tee_sink_init(&outer, outer_list, 2), EVALUE_OK);
      children[bad].budget = k;
      for (int step = 0; step < STEPS; step++) {
        if (put_step(&outer.sink, step, NULL) != EVALUE_OK) {
          check_children();
          assert_int_equal(put_step(&outer.sink, step, NULL), EVALUE_OK);
        }
        expect_step(step);
        check_children();
        assert_int_equal(evalue_sink_used(&inner.sink), evalue_sink_used(&outer.sink));
      }
    }
  }
}

/* A buffer that is full, a ring, and a callback that has taken nothing yet: nothing has happened. */
static void test_h1_a_full_buffer_among_others(void **state) {
  (void)state;
  uint8_t storage[100], before[100], ring_memory[100];
  evalue_buffer_sink buffer;
  evalue_ring_sink ring;
  evalue_counting_sink counter;
  evalue_sink *sinks[] = {&ring.sink, &counter.sink, &buffer.sink};
  evalue_slice parts[2];
  memset(storage, UNTOUCHED, sizeof storage);
  assert_int_equal(evalue_buffer_sink_init(&buffer, storage, sizeof storage, NULL), EVALUE_OK);
  assert_int_equal(evalue_ring_sink_init(&ring, ring_memory, sizeof ring_memory), EVALUE_OK);
  assert_int_equal(evalue_counting_sink_init(&counter, NULL), EVALUE_OK);
  assert_int_equal(evalue_tee_sink_init(&tee, sinks, 3), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&tee.sink, "abc", 3, NULL), EVALUE_OK);
  memcpy(before, storage, sizeof before);
  assert_int_equal(evalue_sink_write(&tee.sink, before, 37, NULL), EVALUE_NO_SPACE); /* at 64: one byte too many */
  assert_memory_equal(storage, before, sizeof before);
  assert_int_equal(counter.records, 1);
  assert_int_equal(evalue_sink_used(&counter.sink), 3);
  assert_int_equal(evalue_sink_used(&ring.sink), 3);
  assert_int_equal(evalue_ring_sink_record(&ring, 0, parts), EVALUE_OK);
  assert_int_equal(parts[0].size, 3);
  assert_int_equal(evalue_ring_sink_record(&ring, 1, parts), EVALUE_END);
  assert_int_equal(evalue_sink_write(&tee.sink, before, 36, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_used(&buffer.sink), 100);
}

static void test_h3_a_copied_tee(void **state) {
  (void)state;
  start(-1);
  evalue_tee_sink copy = tee;
  check_refused(&copy.sink, EVALUE_MISUSE);
  assert_int_equal(children[0].calls[BEGIN], 0);
  assert_int_equal(evalue_sink_close(&tee.sink), EVALUE_OK);
  check_refused(&tee.sink, EVALUE_MISUSE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_of_them),
      cmocka_unit_test(test_h1_each_child_at_each_byte),
      cmocka_unit_test(test_h4_one_without_undo),
      cmocka_unit_test(test_begin_of_each_child_fails),
      cmocka_unit_test(test_begin_fails_and_one_is_without_undo),
      cmocka_unit_test(test_a_child_is_poisoned_by_its_beginning),
      cmocka_unit_test(test_undo_of_each_child_fails),
      cmocka_unit_test(test_flush_of_each_child_fails),
      cmocka_unit_test(test_a_child_is_closed_or_poisoned),
      cmocka_unit_test(test_the_same_child_twice),
      cmocka_unit_test(test_itself_and_null),
      cmocka_unit_test(test_a_tee_in_a_tee),
      cmocka_unit_test(test_h1_a_full_buffer_among_others),
      cmocka_unit_test(test_h3_a_copied_tee),
  };
  return cmocka_run_group_tests_name("tee", tests, be_quiet, NULL);
}
