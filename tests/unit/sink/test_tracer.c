/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: the index, read back, through sinks that change and fail. */
#include "evalue/tracer.h"

#include "sink_support.h"

enum { EVENTS = 40 };

static uint8_t trace[STORE], all_names[EVENTS][16];
static evalue values[200];

static void make_many(size_t n) {
  evalue all[VALUES];
  make_values(all);
  for (size_t i = 0; i < n; i++) values[i] = all[i % VALUES];
}

static const char *name_of(size_t i) {
  char *name = (char *)all_names[i];
  name[0] = '\0';
  for (size_t k = 0; k < i % 11; k++) name[k] = (char)('a' + i % 26), name[k + 1] = '\0';
  return name;
}

/* Reads the i-th event from a reader; its values are the first i % 9 of all. */
static void check_event(evalue_reader *reader, size_t i, uint64_t offset) {
  evalue_trace_event event;
  evalue_string name;
  evalue value;
  assert_int_equal(evalue_trace_next(reader, &event, &name), EVALUE_OK);
  assert_int_equal(name.nbytes, strlen(name_of(i)));
  if (name.nbytes != 0) assert_memory_equal(name.data, name_of(i), name.nbytes);
  assert_true(event.debug_id == -(int64_t)i && event.count == i % 9 && event.offset == offset && event.nbytes == 0);
  for (size_t k = 0; k < i % 9; k++) {
    assert_int_equal(evalue_reader_next(reader, &value), EVALUE_OK);
    assert_int_equal(value.tag, values[k].tag);
  }
}

static void test_index_and_back(void **state) {
  (void)state;
  make_many(9);
  for (size_t capacity = 0; capacity <= EVENTS; capacity += 13) {
    const evalue_sink_options options = {.alignment = 1};
    evalue_trace_event events[EVENTS];
    evalue_buffer_sink s;
    evalue_tracer tracer;
    evalue_reader reader;
    memset(events, UNTOUCHED, sizeof events);
    assert_int_equal(evalue_buffer_sink_init(&s, trace, sizeof trace, &options), EVALUE_OK);
    assert_int_equal(evalue_tracer_init(&tracer, &s.sink, events, capacity), EVALUE_OK);
    uint64_t offset[EVENTS + 1] = {0};
    for (size_t i = 0; i < EVENTS; i++) {
      assert_int_equal(evalue_tracer_log(&tracer, name_of(i), -(int64_t)i, values, i % 9), EVALUE_OK);
      offset[i + 1] = evalue_sink_used(&s.sink);
    }
    assert_int_equal(tracer.count, EVENTS);
    for (size_t i = 0; i < EVENTS; i++) {
      if (i < capacity) {
        assert_true(events[i].offset == offset[i] && events[i].nbytes == offset[i + 1] - offset[i]);
        assert_true(events[i].debug_id == -(int64_t)i && events[i].count == i % 9);
      } else {
        for (size_t b = 0; b < sizeof events[i]; b++) assert_int_equal(((uint8_t *)&events[i])[b], UNTOUCHED);
      }
    }
    assert_int_equal(evalue_reader_init_sequence(&reader, trace, (size_t)offset[EVENTS], NULL), EVALUE_OK);
    for (size_t i = 0; i < EVENTS; i++) check_event(&reader, i, offset[i]);
    evalue_trace_event event;
    evalue_string name;
    assert_int_equal(evalue_trace_next(&reader, &event, &name), EVALUE_END);
  }
}

static void test_events_of_many_values(void **state) {
  (void)state;
  static faulty_sink s;
  evalue_tracer tracer;
  evalue_trace_event event;
  uint64_t size = 0, head = 0;
  make_many(200);
  const evalue heads[] = {evalue_from_string("many", 4), evalue_from_int(1), evalue_from_int(200)};
  assert_int_equal(evalue_sequence_encode(heads, 3, trace, sizeof trace, &head), EVALUE_OK);
  assert_int_equal(evalue_sequence_encode(values, 200, trace + head, sizeof trace - (size_t)head, &size), EVALUE_OK);
  faulty_init(&s, true, 1);
  assert_int_equal(evalue_tracer_init(&tracer, &s.sink, &event, 1), EVALUE_OK);
  assert_int_equal(evalue_tracer_log(&tracer, "many", 1, values, 200), EVALUE_OK);
  assert_int_equal(event.nbytes, head + size);
  assert_int_equal(s.size, head + size);
  assert_memory_equal(s.bytes, trace, s.size);
  assert_int_equal(s.calls[BEGIN], 1); /* one record */
}

static void test_failures_are_not_counted(void **state) {
  (void)state;
  static faulty_sink s;
  make_many(20);
  for (int64_t k = 0; k < 200; k++) {
    evalue_trace_event events[4];
    evalue_tracer tracer;
    faulty_init(&s, true, 1);
    assert_int_equal(evalue_tracer_init(&tracer, &s.sink, events, 4), EVALUE_OK);
    assert_int_equal(evalue_tracer_log(&tracer, "first", 1, values, 1), EVALUE_OK);
    size_t size = s.size;
    s.budget = k;
    assert_int_equal(evalue_tracer_log(&tracer, "second", 2, values, 20), EVALUE_IO);
    assert_int_equal(tracer.count, 1);
    assert_int_equal(s.size, size);
    assert_int_equal(evalue_tracer_log(&tracer, "third", 3, values, 2), EVALUE_OK);
    assert_int_equal(tracer.count, 2);
    assert_true(events[1].debug_id == 3 && events[1].offset == size && events[1].nbytes == s.size - size);
  }
}

static void test_another_sink_at_run_time(void **state) {
  (void)state;
  evalue_trace_event events[8];
  evalue_tracer tracer;
  static faulty_sink first, second;
  faulty_init(&first, true, 1);
  faulty_init(&second, true, 1);
  assert_int_equal(evalue_tracer_init(&tracer, NULL, events, 8), EVALUE_OK);
  assert_int_equal(evalue_tracer_log(&tracer, "off", 0, NULL, 0), EVALUE_OK);
  assert_int_equal(tracer.count, 0);
  assert_int_equal(evalue_tracer_set_sink(&tracer, &first.sink), EVALUE_OK);
  assert_int_equal(evalue_tracer_log(&tracer, "a", 1, NULL, 0), EVALUE_OK);
  assert_int_equal(evalue_tracer_log(&tracer, "b", 2, NULL, 0), EVALUE_OK);
  assert_int_equal(evalue_tracer_set_sink(&tracer, &second.sink), EVALUE_OK);
  assert_int_equal(evalue_tracer_log(&tracer, "c", 3, NULL, 0), EVALUE_OK);
  assert_int_equal(evalue_tracer_set_sink(&tracer, NULL), EVALUE_OK);
  assert_int_equal(evalue_tracer_log(&tracer, "d", 4, NULL, 0), EVALUE_OK);
  assert_int_equal(tracer.count, 3);
  assert_int_equal(first.size, 2 * second.size);
  assert_true(events[0].offset == 0 && events[1].offset == second.size && events[2].offset == 0);
  assert_int_equal(events[2].debug_id, 3);
}

static void test_a_trace_of_something_else(void **state) {
  (void)state;
  const evalue s = evalue_from_string("a", 1), n = evalue_from_int(1), minus = evalue_from_int(-1),
               d = evalue_from_double(1);
  const struct {
    evalue values[3];
    size_t n;
  } cases[] = {{{n}, 1}, {{d, n, n}, 3}, {{s}, 1}, {{s, n}, 2}, {{s, s, n}, 3}, {{s, n, d}, 3}, {{s, n, minus}, 3}};
  evalue_trace_event event;
  evalue_string name;
  evalue_reader reader;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    uint64_t size = 0;
    assert_int_equal(evalue_sequence_encode(cases[i].values, cases[i].n, trace, sizeof trace, &size), EVALUE_OK);
    assert_int_equal(evalue_reader_init_sequence(&reader, trace, (size_t)size, NULL), EVALUE_OK);
    assert_int_equal(evalue_trace_next(&reader, &event, &name), EVALUE_UNSUPPORTED);
  }
  assert_int_equal(evalue_reader_init_sequence(&reader, "\2\1", 2, NULL), EVALUE_OK);
  assert_int_equal(evalue_trace_next(&reader, &event, &name), EVALUE_TRUNCATED);
  assert_int_equal(evalue_trace_next(NULL, &event, &name), EVALUE_MISUSE);
  assert_int_equal(evalue_trace_next(&reader, NULL, &name), EVALUE_MISUSE);
  assert_int_equal(evalue_trace_next(&reader, &event, NULL), EVALUE_MISUSE);
}

static void test_arguments(void **state) {
  (void)state;
  evalue_tracer tracer;
  evalue_trace_event event;
  static faulty_sink s;
  evalue bad = evalue_from_none();
  bad.tag = 99;
  faulty_init(&s, true, 1);
  assert_int_equal(evalue_tracer_init(NULL, &s.sink, &event, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_tracer_init(&tracer, &s.sink, NULL, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_tracer_set_sink(NULL, &s.sink), EVALUE_MISUSE);
  assert_int_equal(evalue_tracer_init(&tracer, &s.sink, &event, 1), EVALUE_OK);
  assert_int_equal(evalue_tracer_log(NULL, "a", 0, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_tracer_log(&tracer, NULL, 0, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_tracer_log(&tracer, "a", 0, NULL, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_tracer_log(&tracer, "a", 0, &bad, 1), EVALUE_MISUSE);
  assert_int_equal(tracer.count, 0);
  assert_int_equal(s.size, 0);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
  assert_int_equal(evalue_tracer_log(&tracer, "a", 0, NULL, 0), EVALUE_MISUSE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_index_and_back),
      cmocka_unit_test(test_events_of_many_values),
      cmocka_unit_test(test_failures_are_not_counted),
      cmocka_unit_test(test_another_sink_at_run_time),
      cmocka_unit_test(test_a_trace_of_something_else),
      cmocka_unit_test(test_arguments),
  };
  return cmocka_run_group_tests_name("tracer", tests, be_quiet, NULL);
}
