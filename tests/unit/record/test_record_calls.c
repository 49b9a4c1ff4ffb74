/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls that give less than they were asked for, are interrupted, or fail: this program has its own read and
 * pread. A file must come out the same when it comes byte by byte, and each call that fails must be said, once.
 */
#include <sys/uio.h>

#include "record_files.h"

/* MemorySanitizer does not see that these calls fill memory. */
#define SAY_FILLED(to, nbytes) ((void)0)
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#undef SAY_FILLED
#define SAY_FILLED(to, nbytes) __msan_unpoison(to, nbytes)
#endif
#endif

static small_file small;

/* What the calls do: give at most `most` bytes; every second one is interrupted; the failing-th fails. */
static size_t most = SIZE_MAX;
static bool is_interrupted;
static long calls, failing;

static bool has_to_fail(void) {
  calls++;
  errno = is_interrupted && calls % 2 == 0 ? EINTR : EIO;
  return calls == failing || (is_interrupted && calls % 2 == 0);
}

/* Reads with another call than the one that is replaced; at < 0: where the descriptor stands. */
static ssize_t get(int fd, void *to, size_t nbytes, off_t at) {
  if (has_to_fail()) return -1;
  struct iovec list = {to, nbytes < most ? nbytes : most};
  ssize_t got = at < 0 ? readv(fd, &list, 1) : preadv(fd, &list, 1, at);
  if (got > 0) SAY_FILLED(to, (size_t)got);
  return got;
}

ssize_t read(int fd, void *to, size_t nbytes) {
  return get(fd, to, nbytes, -1);
}

ssize_t pread(int fd, void *to, size_t nbytes, off_t offset) {
  return get(fd, to, nbytes, offset);
}

static void be_well(void) {
  most = SIZE_MAX;
  is_interrupted = false;
  calls = failing = 0;
}

/* A way of reading the small file: the first failure, or EVALUE_OK when all of it was as it should be. */
typedef evalue_status way(void);

static evalue_status read_in_order(void) {
  evalue_record_reader r;
  evalue_record record;
  evalue_status status = evalue_record_reader_open(&r, path_of("f"), NULL);
  size_t k = 0;
  for (; status == EVALUE_OK; k++) {
    status = evalue_record_reader_next(&r, &record);
    if (status == EVALUE_OK) check_small(&small, k, &record);
  }
  if (status == EVALUE_END) assert_int_equal(k, SMALL_COUNT + 1);
  if (status == EVALUE_IO) assert_int_equal(r.system_error, EIO);
  if (status == EVALUE_IO) assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_IO); /* it stays */
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  return status == EVALUE_END ? EVALUE_OK : status;
}

static evalue_status read_a_pipe(void) {
  int ends[2];
  evalue_record_reader r;
  evalue_record record;
  evalue_status status;
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], small.bytes, small.size), small.size);
  close(ends[1]);
  assert_int_equal(evalue_record_reader_init(&r, ends[0], NULL), EVALUE_OK);
  for (size_t k = 0; (status = evalue_record_reader_next(&r, &record)) == EVALUE_OK; k++)
    check_small(&small, k, &record);
  if (status == EVALUE_IO) assert_int_equal(r.system_error, EIO);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  close(ends[0]);
  return status == EVALUE_END ? EVALUE_OK : status;
}

static evalue_status read_by_place(void) {
  evalue_record_reader r;
  evalue_record record;
  evalue_record_index index = {0};
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
  evalue_status status = evalue_record_index_build(&index, &r);
  if (status == EVALUE_IO) assert_int_equal(index.system_error, EIO);
  for (size_t k = 0; k < index.count && status == EVALUE_OK; k++) {
    status = evalue_record_reader_at(&r, &index.entries[k], &record);
    if (status == EVALUE_OK) check_small(&small, k, &record);
    else assert_int_equal(r.system_error, EIO);
  }
  evalue_record_index_free(&index);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  return status;
}

static evalue_status read_side_file(void) {
  static const char text[] = "0 16\n16 100\n";
  evalue_record_index index = {0};
  put_file("idx", text, sizeof text - 1);
  evalue_status status = evalue_record_index_read(&index, path_of("idx"), 1000);
  if (status == EVALUE_OK) assert_int_equal(index.count, 2);
  else assert_int_equal(index.system_error, EIO);
  evalue_record_index_free(&index);
  return status;
}

static evalue_status examine(void) {
  evalue_record_report report;
  evalue_status status = evalue_record_examine(path_of("large"), &report);
  if (status == EVALUE_OK) assert_int_equal(report.records, 2);
  else assert_int_equal(report.system_error, EIO);
  return status;
}

/* A failure cuts nothing. */
static evalue_status repair(void) {
  evalue_record_report report;
  put_file("torn", small.bytes, small.size - 3);
  evalue_status status = evalue_record_repair(path_of("torn"), &report);
  struct stat torn;
  assert_int_equal(stat(path_of("torn"), &torn), 0);
  assert_int_equal(torn.st_size, status == EVALUE_OK ? small.starts[SMALL_COUNT - 1] : small.size - 3);
  return status;
}

static evalue_status append(void) {
  const evalue_record_writer_options options = {.append = 1};
  evalue_record_writer w;
  struct stat torn;
  put_file("torn", small.bytes, small.size - 3);
  evalue_status status = evalue_record_writer_open(&w, path_of("torn"), &options);
  if (status == EVALUE_OK) assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  else assert_int_equal(w.system_error, EIO);
  assert_int_equal(stat(path_of("torn"), &torn), 0);
  assert_int_equal(torn.st_size, status == EVALUE_OK ? small.starts[SMALL_COUNT - 1] : small.size - 3);
  return status;
}

static way *const ways[] = {read_in_order, read_a_pipe, read_by_place, read_side_file, repair, append, examine};

static void test_short_and_interrupted(void **state) {
  (void)state;
  static const size_t sizes[] = {1, 5, 16, SIZE_MAX};
  for (size_t w = 0; w < COUNT_OF(ways); w++) {
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
      for (int interrupted = 0; interrupted <= 1; interrupted++) {
        be_well();
        most = ways[w] == examine && sizes[i] < 1000 ? sizes[i] * 997 : sizes[i];
        is_interrupted = interrupted != 0;
        assert_int_equal(ways[w](), EVALUE_OK);
      }
    }
  }
  be_well();
}

static void test_each_call_that_fails(void **state) {
  (void)state;
  for (size_t w = 0; w < COUNT_OF(ways); w++) {
    be_well();
    most = ways[w] == examine ? 100000 : 7;
    assert_int_equal(ways[w](), EVALUE_OK);
    long count = calls;
    assert_true(count > 1);
    for (long n = 1; n <= count; n++) {
      calls = 0;
      failing = n;
      assert_int_equal(ways[w](), EVALUE_IO);
    }
  }
  be_well();
}

static int make_all(void **state) {
  enum { LARGE = 1500000 };
  static uint8_t data[LARGE];
  evalue_record_writer w;
  make_small(&small);
  if (make_folder(state) != 0) return -1;
  put_file("f", small.bytes, small.size);
  if (evalue_record_writer_open(&w, path_of("large"), NULL) != EVALUE_OK) return -1;
  for (size_t i = 0; i < LARGE; i++) data[i] = (uint8_t)(i * 5 + (i >> 11));
  for (int i = 0; i < 2; i++) {
    if (evalue_record_writer_put_bytes(&w, data, LARGE >> i, NULL) != EVALUE_OK) return -1;
  }
  return evalue_record_writer_close(&w) == EVALUE_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_short_and_interrupted),
                                     cmocka_unit_test(test_each_call_that_fails)};
  return cmocka_run_group_tests(tests, make_all, remove_folder);
}
