/* SPDX-License-Identifier: BSD-3-Clause */
/* What is no quiet file: pipes that come in pieces, files that shrink and grow while they are read. */
#include <signal.h>
#include <sys/wait.h>

#include "record_files.h"

static small_file small;

/* Starts a process that writes bytes to a pipe, `piece` at a time; returns the pipe's other end. */
static int start_writer(const uint8_t *bytes, size_t nbytes, size_t piece, pid_t *pid) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  *pid = fork();
  assert_true(*pid >= 0);
  if (*pid == 0) {
    close(ends[0]);
    signal(SIGPIPE, SIG_DFL);
    for (size_t at = 0; at < nbytes;) {
      size_t some = nbytes - at < piece ? nbytes - at : piece;
      ssize_t taken = write(ends[1], bytes + at, some);
      if (taken < 0) _exit(1);
      at += (size_t)taken;
    }
    _exit(0);
  }
  close(ends[1]);
  return ends[0];
}

static void end_writer(pid_t pid) {
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void test_pieces(void **state) {
  (void)state;
  static const size_t pieces[] = {1, 3, 11, 100, 10000};
  for (size_t i = 0; i < COUNT_OF(pieces); i++) {
    for (int is_waiting = 0; is_waiting <= 1; is_waiting++) {
      pid_t pid;
      evalue_record_reader r;
      evalue_record record;
      int fd = start_writer(small.bytes, small.size, pieces[i], &pid);
      if (is_waiting != 0) assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
      assert_int_equal(evalue_record_reader_init(&r, fd, NULL), EVALUE_OK);
      assert_true(r.file_size == UINT64_MAX);
      for (size_t k = 0; k < SMALL_COUNT; k++) {
        assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
        check_small(&small, k, &record);
      }
      assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_END);
      assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
      close(fd);
      end_writer(pid);
    }
  }
}

/* A large record through a pipe: the buffer grows with the bytes that come, not with what the length says. */
static void test_growing(void **state) {
  (void)state;
  enum { LARGE = 3000000 };
  uint8_t *data = malloc(LARGE), *bytes = malloc(2 * LARGE);
  assert_true(data != NULL && bytes != NULL);
  for (size_t i = 0; i < LARGE; i++) data[i] = (uint8_t)(i * 7 + (i >> 9));
  size_t size = make_record(bytes, data, LARGE);
  size += make_record(bytes + size, data, 1000);
  static const uint64_t limits[] = {0, 2000, LARGE};
  for (size_t i = 0; i < COUNT_OF(limits); i++) {
    const evalue_record_reader_options options = {.max_record = limits[i], .buffer_size = 5000};
    pid_t pid;
    evalue_record_reader r;
    evalue_record record;
    int fd = start_writer(bytes, size, 65536, &pid);
    assert_int_equal(evalue_record_reader_init(&r, fd, &options), EVALUE_OK);
    if (limits[i] == 2000) {
      assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_LIMIT);
      assert_true(r.capacity < 10000);
    } else {
      assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
      assert_int_equal(record.size, LARGE);
      assert_int_equal((uintptr_t)record.data % EVALUE_RECORD_ALIGNMENT, 0);
      assert_true(memcmp(record.data, data, LARGE) == 0);
      touch_slack(&record);
      assert_true(r.capacity < 2 * LARGE + 100);
    }
    assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
    assert_int_equal(record.size, 1000);
    assert_int_equal(record.offset, LARGE + 16);
    assert_int_equal(record.index, 1);
    assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_END);
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    close(fd);
    end_writer(pid);
  }
  free(data);
  free(bytes);
}

/* A large record that is skipped, of which the pipe has a part only. */
static void test_skipped_and_cut(void **state) {
  (void)state;
  enum { LARGE = 200000 };
  uint8_t *bytes = calloc(1, LARGE + 16);
  assert_non_null(bytes);
  make_head(bytes, LARGE);
  static const size_t cuts[] = {12, 100, 5000, LARGE, LARGE + 15};
  for (size_t i = 0; i < COUNT_OF(cuts); i++) {
    const evalue_record_reader_options options = {.skip = 1, .max_record = 10, .buffer_size = 4096};
    pid_t pid;
    evalue_record_reader r;
    evalue_record record;
    int fd = start_writer(bytes, cuts[i], 4096, &pid);
    assert_int_equal(evalue_record_reader_init(&r, fd, &options), EVALUE_OK);
    assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_TRUNCATED);
    assert_int_equal(r.error.fault, EVALUE_FAULT_RECORD_SHORT);
    assert_int_equal(r.error.needed, LARGE + 16);
    assert_int_equal(r.error.found, cuts[i]);
    assert_int_equal(r.counts.too_large, 0);
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    close(fd);
    end_writer(pid);
  }
  free(bytes);
}

static void test_what_streams_cannot(void **state) {
  (void)state;
  pid_t pid;
  evalue_record_reader r;
  evalue_record record;
  evalue values[3];
  uint64_t n;
  evalue_record_index index = {0};
  evalue_record_report report;
  const evalue_record_entry entry = {0, 16};
  int fd = start_writer(small.bytes, small.size, 10, &pid);
  assert_int_equal(evalue_record_reader_init(&r, fd, NULL), EVALUE_OK);
  assert_int_equal(evalue_record_reader_at(&r, &entry, &record), EVALUE_UNSUPPORTED);
  assert_int_equal(evalue_record_reader_seek(&r, 0, 0), EVALUE_UNSUPPORTED);
  assert_int_equal(evalue_record_index_build(&index, &r), EVALUE_UNSUPPORTED);
  assert_int_equal(evalue_record_examine("/dev/null", &report), EVALUE_UNSUPPORTED);
  assert_int_equal(evalue_record_repair("/dev/null", &report), EVALUE_UNSUPPORTED);
  assert_int_equal(evalue_record_reader_next_values(&r, values, 0, &n), EVALUE_NO_SPACE); /* but it waits */
  assert_int_equal(evalue_record_reader_next_values(&r, values, 3, &n), EVALUE_OK);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
  check_small(&small, 1, &record);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  close(fd);
  end_writer(pid);
  evalue_record_index_free(&index);
}

/* ---- files that change ---- */

enum { RECORDS = 100, SIZE = 50000 };

static void make_file(void) {
  static uint8_t data[SIZE];
  evalue_record_writer w;
  assert_int_equal(evalue_record_writer_open(&w, path_of("f"), NULL), EVALUE_OK);
  for (size_t i = 0; i < RECORDS; i++) {
    memset(data, (int)i, sizeof data);
    assert_int_equal(evalue_record_writer_put_bytes(&w, data, sizeof data, NULL), EVALUE_OK);
  }
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
}

/* After `before` records the file gets `size` bytes. What is handed out then is whole, or what was read before. */
static void check_shrunk(size_t before, uint64_t size, size_t block) {
  const evalue_record_reader_options options = {.buffer_size = block};
  evalue_record_reader r;
  evalue_record record;
  evalue_status status = EVALUE_OK;
  make_file();
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), &options), EVALUE_OK);
  for (size_t i = 0; i < RECORDS; i++) {
    if (i == before) assert_int_equal(truncate(path_of("f"), (off_t)size), 0);
    status = evalue_record_reader_next(&r, &record);
    if (status != EVALUE_OK) break;
    assert_int_equal(record.data[0], i);
    assert_int_equal(record.data[SIZE - 1], i);
  }
  bool is_whole = size % (SIZE + 16) == 0 && size >= evalue_record_reader_offset(&r);
  assert_int_equal(status, is_whole ? EVALUE_END : EVALUE_TRUNCATED);
  assert_int_equal(evalue_record_reader_next(&r, &record), status);
  if (!is_whole) assert_true(r.error.found < r.error.needed);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

static void test_shrinking(void **state) {
  (void)state;
  static const size_t blocks[] = {4096, 0, 1 << 20};
  const uint64_t record = SIZE + 16;
  for (size_t i = 0; i < COUNT_OF(blocks); i++) {
    check_shrunk(10, 0, blocks[i]);
    check_shrunk(10, 5 * record, blocks[i]);
    check_shrunk(10, 60 * record, blocks[i]);
    check_shrunk(10, 60 * record + 7, blocks[i]);
    check_shrunk(10, 60 * record + 12, blocks[i]);
    check_shrunk(10, 61 * record - 1, blocks[i]);
    check_shrunk(10, 10 * record + 100, blocks[i]);
  }
}

/* By place, too: first the entry is in the file as it was, then it is not any more. */
static void test_shrinking_by_index(void **state) {
  (void)state;
  evalue_record_reader r;
  evalue_record record;
  const evalue_record_entry entry = {50 * (SIZE + 16), SIZE + 16};
  make_file();
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
  assert_int_equal(evalue_record_reader_at(&r, &entry, &record), EVALUE_OK);
  assert_int_equal(record.data[7], 50);
  assert_int_equal(truncate(path_of("f"), 50 * (SIZE + 16) + 100), 0);
  assert_int_equal(evalue_record_reader_at(&r, &entry, &record), EVALUE_TRUNCATED);
  assert_int_equal(r.error.position, entry.offset);
  assert_int_equal(r.error.found, 100);
  assert_int_equal(r.error.needed, entry.offset + entry.size);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK); /* nothing of that stays */
  assert_int_equal(record.data[7], 0);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

/* A record that is there now, but was not when the file was opened. */
static void test_growing_by_a_large_record(void **state) {
  (void)state;
  evalue_record_reader r;
  evalue_record record;
  make_file();
  assert_int_equal(truncate(path_of("f"), SIZE + 16), 0);
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
  make_file();
  for (size_t i = 0; i < RECORDS; i++) {
    assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
    assert_int_equal(record.data[SIZE - 1], i);
  }
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_END);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

static void test_growing_file(void **state) {
  (void)state;
  evalue_record_reader r;
  evalue_record record;
  put_file("f", small.bytes, small.starts[2]);
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
  put_file("f", small.bytes, small.size); /* while it is open */
  for (size_t k = 0; k < SMALL_COUNT; k++) {
    assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
    check_small(&small, k, &record);
  }
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_END);
  int fd = open(path_of("f"), O_WRONLY | O_APPEND | O_CLOEXEC);
  assert_int_equal(write(fd, small.bytes, small.starts[1]), small.starts[1]);
  close(fd);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_END); /* it stays, until one goes there again */
  assert_int_equal(evalue_record_reader_seek(&r, small.size, SMALL_COUNT), EVALUE_OK);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
  assert_int_equal(record.size, small.starts[1] - 16);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

static int make_all(void **state) {
  make_small(&small);
  return make_folder(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pieces),          cmocka_unit_test(test_growing),
      cmocka_unit_test(test_skipped_and_cut), cmocka_unit_test(test_what_streams_cannot),
      cmocka_unit_test(test_shrinking),       cmocka_unit_test(test_shrinking_by_index),
      cmocka_unit_test(test_growing_file),    cmocka_unit_test(test_growing_by_a_large_record),
  };
  return cmocka_run_group_tests(tests, make_all, remove_folder);
}
