/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens when somebody else is there, too: another writer of the file, another sink behind this one, a dump. */
#include <signal.h>

#include "sink_files.h"

/* ---- files ---- */

/* Two append to one file. The one whose record fails must not cut off what the other has written. */
static void test_two_appenders(void **state) {
  (void)state;
  static const evalue_sink_options append = {.append = 1};
  evalue_file_sink x, y;
  uint8_t expected[200];
  put_file("f", "", 0);
  assert_int_equal(evalue_file_sink_open(&x, path_of("f"), &append), EVALUE_OK);
  assert_int_equal(evalue_file_sink_open(&y, path_of("f"), &append), EVALUE_OK);
  memset(expected, 'x', 100);
  memset(expected + 100, 'y', 100);
  assert_int_equal(evalue_sink_write(&x.sink, expected, 100, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&y.sink, expected + 100, 100, NULL), EVALUE_OK);
  int good = x.fd;
  uint64_t in_file = x.in_file;
  evalue_slice slices[2] = {{expected, 50}, {expected, 50}};
  x.in_file -= 1; /* as if a byte of another had come in between */
  assert_int_equal(x.sink.functions->begin(&x.sink, 100, 1), EVALUE_OK);
  assert_int_equal(x.sink.functions->write(&x.sink, slices, 1), EVALUE_OK);
  assert_int_equal(x.sink.functions->undo(&x.sink), EVALUE_IO); /* nothing is cut off */
  x.in_file = in_file;
  assert_int_equal(x.fd, good);
  assert_int_equal(get_file("f"), 250);
  assert_memory_equal(file_bytes, expected, 200);
  assert_int_equal(evalue_sink_close(&x.sink), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&y.sink), EVALUE_OK);
}

/* What was buffered and could not be written is not counted after closing. */
static void test_used_after_a_close_that_failed(void **state) {
  (void)state;
  static uint8_t buffer[64];
  static const evalue_sink_options options = {.buffer = buffer, .buffer_size = sizeof buffer};
  evalue_file_sink s;
  int pipes[2];
  assert_int_equal(pipe(pipes), 0);
  void (*before)(int) = signal(SIGPIPE, SIG_IGN);
  assert_int_equal(evalue_file_sink_init(&s, pipes[1], &options), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, "abc", 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_used(&s.sink), 3);
  close(pipes[0]);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_IO);
  assert_int_equal(s.sink.system_error, EPIPE);
  assert_int_equal(evalue_sink_used(&s.sink), 0);
  close(pipes[1]);
  signal(SIGPIPE, before);
  assert_int_equal(evalue_file_sink_open(&s, path_of("g"), &options), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, "abc", 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_file_sink_discard(&s), EVALUE_OK);
  assert_int_equal(evalue_sink_used(&s.sink), 0);
}

static void test_descriptors_and_options_that_do_not_go_together(void **state) {
  (void)state;
  static const evalue_sink_options append = {.append = 1}, publish = {.publish = 1}, both = {.append = 1, .publish = 1},
                                   two = {.append = 2}, reserved = {.reserved = 1};
  evalue_file_sink s;
  put_file("h", "x", 1);
  int fd = open(path_of("h"), O_RDONLY), writable = open(path_of("h"), O_WRONLY);
  assert_int_equal(evalue_file_sink_init(&s, fd, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_write(&s.sink, "y", 1, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_file_sink_init(&s, writable, &append), EVALUE_MISUSE);
  assert_int_equal(evalue_file_sink_init(&s, writable, &publish), EVALUE_MISUSE);
  assert_int_equal(evalue_file_sink_open(&s, path_of("h"), &both), EVALUE_MISUSE);
  assert_int_equal(evalue_file_sink_open(&s, path_of("h"), &two), EVALUE_MISUSE);
  assert_int_equal(evalue_file_sink_open(&s, path_of("h"), &reserved), EVALUE_MISUSE);
  check_file("h", "x", 1);
  close(fd);
  close(writable);
}

/* ---- sinks behind sinks ---- */

/* Events of a trace stand right behind one another, whatever the sink behind a tee or a queue does with other records.
 */
static void test_a_trace_through_others_into_an_aligned_sink(void **state) {
  (void)state;
  static uint8_t bytes[4][1024], queue[2048];
  evalue_buffer_sink direct, behind_tee, behind_deferred;
  evalue_tee_sink tee;
  evalue_deferred_sink deferred;
  evalue_sink *list[] = {&behind_tee.sink};
  assert_int_equal(evalue_buffer_sink_init(&direct, bytes[0], sizeof bytes[0], NULL), EVALUE_OK);
  assert_int_equal(evalue_buffer_sink_init(&behind_tee, bytes[1], sizeof bytes[1], NULL), EVALUE_OK);
  assert_int_equal(evalue_buffer_sink_init(&behind_deferred, bytes[2], sizeof bytes[2], NULL), EVALUE_OK);
  assert_int_equal(evalue_tee_sink_init(&tee, list, 1), EVALUE_OK);
  assert_int_equal(evalue_deferred_sink_init(&deferred, queue, sizeof queue, &behind_deferred.sink), EVALUE_OK);
  evalue_sink *sinks[] = {&direct.sink, &tee.sink, &deferred.sink};
  evalue v = evalue_from_int(7);
  for (size_t i = 0; i < 3; i++) {
    evalue_tracer tracer;
    assert_int_equal(evalue_tracer_init(&tracer, sinks[i], NULL, 0), EVALUE_OK);
    for (int k = 0; k < 5; k++) assert_int_equal(evalue_tracer_log(&tracer, "event", k, &v, 1), EVALUE_OK);
    assert_int_equal(evalue_sink_flush(sinks[i]), EVALUE_OK);
    evalue_reader reader;
    assert_int_equal(evalue_reader_init_sequence(&reader, bytes[i], (size_t)evalue_sink_used(sinks[i]), NULL),
                     EVALUE_OK);
    for (int k = 0; k < 5; k++) {
      evalue_trace_event event;
      evalue_string name;
      assert_int_equal(evalue_trace_next(&reader, &event, &name), EVALUE_OK);
      assert_int_equal(event.debug_id, k);
      assert_int_equal(evalue_reader_next(&reader, NULL), EVALUE_OK);
    }
    assert_int_equal(evalue_reader_next(&reader, NULL), EVALUE_END);
  }
}

/* The same sink twice would be a record inside a record. */
static void test_twice_in_a_tee(void **state) {
  (void)state;
  evalue_counting_sink a, b;
  evalue_tee_sink tee;
  evalue_sink *list[] = {&a.sink, &b.sink, &a.sink};
  assert_int_equal(evalue_counting_sink_init(&a, NULL), EVALUE_OK);
  assert_int_equal(evalue_counting_sink_init(&b, NULL), EVALUE_OK);
  assert_int_equal(evalue_tee_sink_init(&tee, list, 3), EVALUE_MISUSE);
  assert_int_equal(evalue_tee_sink_init(&tee, list, 2), EVALUE_OK);
}

/* ---- a dump ---- */

static evalue_ring_sink ring;
static uint8_t dumped[256];
static uint64_t dumped_size;

/* Dumps the ring in the middle of a record. */
static evalue_status dump_write(evalue_sink *sink, const evalue_slice *slices, size_t n) {
  static const evalue_sink_options packed = {.alignment = 1};
  evalue_buffer_sink to;
  (void)sink, (void)slices, (void)n;
  assert_int_equal(evalue_buffer_sink_init(&to, dumped, sizeof dumped, &packed), EVALUE_OK);
  assert_int_equal(evalue_ring_sink_dump(&ring, &to.sink), EVALUE_OK);
  dumped_size = evalue_sink_used(&to.sink);
  return EVALUE_OK;
}

static void test_a_dump_in_the_middle_of_a_record(void **state) {
  (void)state;
  static uint8_t memory[256];
  static const evalue_sink_functions functions = {.write = dump_write};
  evalue_sink dumper;
  evalue_tee_sink tee;
  evalue_sink *list[] = {&ring.sink, &dumper};
  assert_int_equal(evalue_ring_sink_init(&ring, memory, sizeof memory), EVALUE_OK);
  assert_int_equal(evalue_sink_init(&dumper, &functions, 0, 1), EVALUE_OK);
  assert_int_equal(evalue_tee_sink_init(&tee, list, 2), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&ring.sink, "one", 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&ring.sink, "two", 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&tee.sink, "three", 5, NULL), EVALUE_OK);
  assert_int_equal(dumped_size, 6);
  assert_memory_equal(dumped, "onetwo", 6);
  assert_int_equal(evalue_ring_sink_dump(&ring, &ring.sink), EVALUE_MISUSE);
  evalue_tee_sink back;
  assert_int_equal(evalue_tee_sink_init(&back, list, 1), EVALUE_OK);
  assert_int_equal(evalue_ring_sink_dump(&ring, &back.sink), EVALUE_MISUSE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_appenders),
      cmocka_unit_test(test_used_after_a_close_that_failed),
      cmocka_unit_test(test_descriptors_and_options_that_do_not_go_together),
      cmocka_unit_test(test_a_trace_through_others_into_an_aligned_sink),
      cmocka_unit_test(test_twice_in_a_tee),
      cmocka_unit_test(test_a_dump_in_the_middle_of_a_record),
  };
  return cmocka_run_group_tests_name("others", tests, make_folder, remove_folder);
}
