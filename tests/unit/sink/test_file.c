/* SPDX-License-Identifier: BSD-3-Clause */
/* File sinks by descriptor and by path: the same file with every buffer, places, descriptors, and what is refused. */
#include <signal.h>
#include <sys/resource.h>

#include "sink_files.h"

static model expected;

/* ---- the same file, however it is written ---- */

static void test_every_buffer_gives_the_same_file(void **state) {
  (void)state;
  static uint8_t buffer[600];
  for (uint32_t alignment = 1; alignment <= 64; alignment *= 8) {
    memset(&expected, 0, sizeof expected);
    for (int i = 0; i < 3 * STEPS; i++) model_step(&expected, i % STEPS, alignment);
    for (size_t size = 0; size <= sizeof buffer; size += size < 150 ? 1 : 37) {
      for (int flushes = 0; flushes <= 2; flushes++) {
        const evalue_sink_options options = {.alignment = alignment, .buffer = buffer, .buffer_size = size};
        evalue_file_sink s;
        model then = {.used = 0};
        assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &options), EVALUE_OK);
        for (int i = 0; i < 3 * STEPS; i++) {
          uint64_t offset = 77;
          assert_int_equal(put_step(&s.sink, i % STEPS, &offset), EVALUE_OK);
          assert_int_equal(offset, model_step(&then, i % STEPS, alignment));
          assert_int_equal(evalue_sink_used(&s.sink), then.used);
          if (flushes == 2 || (flushes == 1 && i % 5 == 0)) {
            assert_int_equal(evalue_sink_flush(&s.sink), EVALUE_OK);
            check_file("f", then.bytes, then.used);
          }
        }
        assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
        check_file("f", expected.bytes, expected.used);
      }
    }
  }
}

/* What is in the file between two records ends at a record's end. */
static void test_the_file_ends_at_a_record(void **state) {
  (void)state;
  uint8_t buffer[100], bytes[60];
  const evalue_sink_options options = {.buffer = buffer, .buffer_size = sizeof buffer};
  evalue_file_sink s;
  size_t ends[41] = {0};
  fill_bytes(bytes, sizeof bytes, 1);
  assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &options), EVALUE_OK);
  for (size_t i = 0; i < 40; i++) {
    assert_int_equal(evalue_sink_write(&s.sink, bytes, i * 13 % 60, NULL), EVALUE_OK);
    ends[i + 1] = (size_t)evalue_sink_used(&s.sink);
    size_t there = get_file("f"), k = 0;
    while (k <= i + 1 && ends[k] != there) k++;
    assert_true(k <= i + 1);
    assert_true(ends[i + 1] - there <= sizeof buffer);
  }
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
}

static void test_records_larger_than_the_buffer(void **state) {
  (void)state;
  static uint8_t large[300000];
  uint8_t buffer[100];
  const evalue_sink_options options = {.buffer = buffer, .buffer_size = sizeof buffer};
  evalue_file_sink s;
  fill_bytes(large, sizeof large, 5);
  assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &options), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, large, 7, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, large + 7, sizeof large - 14, NULL), EVALUE_OK);
  assert_int_equal(get_file("f"), sizeof large - 7); /* in order, at once */
  assert_int_equal(evalue_sink_write(&s.sink, large + sizeof large - 7, 7, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
  check_file("f", large, sizeof large);
}

/* ---- places ---- */

static void test_append(void **state) {
  (void)state;
  for (uint32_t alignment = 1; alignment <= 64; alignment *= 8) {
    const evalue_sink_options options = {.alignment = alignment, .append = 1};
    memset(&expected, 0, sizeof expected);
    unlink(path_of("f"));
    for (int i = 0; i < 3 * STEPS; i++) { /* a sink for each: offsets are places in the file */
      evalue_file_sink s;
      uint64_t offset = 77;
      assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &options), EVALUE_OK);
      assert_int_equal(evalue_sink_used(&s.sink), expected.used);
      assert_int_equal(put_step(&s.sink, i % STEPS, &offset), EVALUE_OK);
      assert_int_equal(offset, model_step(&expected, i % STEPS, alignment));
      assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
      check_file("f", expected.bytes, expected.used);
    }
  }
  evalue_file_sink s; /* and without it the file begins anew */
  assert_int_equal(evalue_file_sink_open(&s, path_of("f"), NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
  check_file("f", "", 0);
}

static void test_descriptors_where_they_stand(void **state) {
  (void)state;
  for (int how = 0; how < 4; how++) {
    put_file("f", "0123456789", 10);
    int fd = open(path_of("f"), O_RDWR | (how == 3 ? O_APPEND : 0));
    assert_true(fd >= 0);
    off_t at = how == 0 ? 0 : how == 1 ? 5 : how == 2 ? 10 : 2;
    assert_int_equal(lseek(fd, at, SEEK_SET), at);
    evalue_file_sink s;
    uint64_t offset = 77;
    assert_int_equal(evalue_file_sink_init(&s, fd, NULL), EVALUE_OK);
    assert_int_equal(evalue_sink_write(&s.sink, "ab", 2, &offset), EVALUE_OK);
    assert_int_equal(offset, 0);
    assert_int_equal(evalue_sink_write(&s.sink, "c", 1, &offset), EVALUE_OK);
    assert_int_equal(offset, 2);
    assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
    static const char *const results[] = {"abc3456789", "01234abc89", "0123456789abc", "0123456789abc"};
    check_file("f", results[how], strlen(results[how]));
    assert_true(fcntl(fd, F_GETFD) >= 0); /* it stays open */
    close(fd);
  }
}

/* 2^62 bytes in all are too many, also when they were there before. */
static void test_h2_a_file_that_is_too_large(void **state) {
  (void)state;
  static const char path[] = "/dev/shm/evalue-sink-test";
  const evalue_sink_options options = {.append = 1};
  int fd = sizeof(off_t) < 8 ? -1 : open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (fd < 0) skip();
  static const int more[] = {-2, -1, 0, 5, 4096};
  for (size_t i = 0; i < COUNT_OF(more); i++) {
    evalue_file_sink s;
    if (ftruncate(fd, (off_t)EVALUE_SIZE_LIMIT + more[i]) != 0) break;
    evalue_status status = evalue_file_sink_open(&s, path, &options);
    if (status == EVALUE_OK) {
      status = evalue_sink_write(&s.sink, "abc", 3, NULL);
      evalue_sink_close(&s.sink);
    }
    if (status != EVALUE_LIMIT) unlink(path);
    assert_int_equal(status, EVALUE_LIMIT);
  }
  close(fd);
  unlink(path);
}

/* ---- descriptors ---- */

static void test_h3_each_descriptor_is_closed_once(void **state) {
  (void)state;
  int before = open_descriptors();
  for (int publish = 0; publish <= 1; publish++) {
    const evalue_sink_options options = {.publish = (uint32_t)publish};
    evalue_file_sink s, copy;
    assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &options), EVALUE_OK);
    assert_int_equal(open_descriptors(), before + 1 + publish);
    copy = s;
    check_refused(&copy.sink, EVALUE_MISUSE);
    assert_int_equal(evalue_sink_close(&copy.sink), EVALUE_MISUSE);
    assert_int_equal(evalue_file_sink_discard(&copy), EVALUE_MISUSE);
    assert_int_equal(open_descriptors(), before + 1 + publish);
    assert_int_equal(evalue_sink_write(&s.sink, "ab", 2, NULL), EVALUE_OK);
    int fd = s.fd;
    assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
    assert_int_equal(open_descriptors(), before);
    int other = open(path_of("f"), O_RDONLY), mine = dup2(other, fd); /* somebody else's now */
    assert_int_equal(evalue_sink_close(&s.sink), EVALUE_MISUSE);
    assert_int_equal(evalue_sink_close(&copy.sink), EVALUE_MISUSE);
    assert_int_equal(evalue_file_sink_discard(&s), EVALUE_MISUSE);
    assert_true(mine >= 0 && fcntl(mine, F_GETFD) >= 0);
    close(other);
    close(mine);
    check_refused(&s.sink, EVALUE_MISUSE);
    check_file("f", "ab", 2);
  }
}

static void test_what_cannot_be_opened(void **state) {
  (void)state;
  int before = open_descriptors();
  evalue_file_sink s;
  static const char *const names[] = {"nowhere/f", "f/f", ".", "sub/"};
  put_file("f", "", 0);
  for (uint32_t publish = 0; publish <= 1; publish++) {
    const evalue_sink_options options = {.publish = publish};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
      memset(&s, UNTOUCHED, sizeof s);
      assert_int_equal(evalue_file_sink_open(&s, path_of(names[i]), &options), EVALUE_IO);
      assert_int_equal(s.sink.status, EVALUE_IO);
      assert_true(s.sink.system_error == ENOENT || s.sink.system_error == ENOTDIR || s.sink.system_error == EISDIR);
      check_refused(&s.sink, EVALUE_MISUSE);
      assert_int_equal(evalue_sink_close(&s.sink), EVALUE_MISUSE);
      assert_int_equal(evalue_file_sink_discard(&s), EVALUE_MISUSE);
    }
    assert_int_equal(evalue_file_sink_open(&s, NULL, &options), EVALUE_MISUSE);
    assert_int_equal(evalue_file_sink_open(&s, "", &options), EVALUE_MISUSE);
    assert_int_equal(evalue_file_sink_open(NULL, path_of("f"), &options), EVALUE_MISUSE);
  }
  assert_int_equal(evalue_file_sink_init(&s, -1, NULL), EVALUE_IO);
  assert_int_equal(s.sink.system_error, EBADF);
  check_refused(&s.sink, EVALUE_MISUSE);
  assert_int_equal(evalue_file_sink_init(&s, 255, NULL), EVALUE_IO);
  assert_int_equal(evalue_file_sink_init(NULL, 1, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_file_sink_discard(NULL), EVALUE_MISUSE);
  assert_int_equal(open_descriptors(), before);
  assert_int_equal(files_in_folder(".evalue"), 0);
}

/* A call that is refused changes nothing: not even a file that would have begun anew. */
static void test_g6_bad_options_change_nothing(void **state) {
  (void)state;
  uint8_t buffer[8];
  const evalue_sink_options bad[] = {{.alignment = 3},
                                     {.alignment = 8192},
                                     {.size = 3},
                                     {.sync = 3},
                                     {.buffer_size = 1},
                                     {.append = 1, .publish = 1},
                                     {.alignment = 5, .append = 1},
                                     {.alignment = 5, .publish = 1},
                                     {.sync = 9, .buffer = buffer, .buffer_size = 8}};
  int before = open_descriptors();
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    evalue_file_sink s;
    put_file("f", "precious", 8);
    assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &bad[i]), EVALUE_MISUSE);
    check_refused(&s.sink, EVALUE_MISUSE);
    check_file("f", "precious", 8);
    assert_int_equal(evalue_file_sink_open(&s, path_of("new"), &bad[i]), EVALUE_MISUSE);
    assert_int_equal(files_in_folder("new"), 0);
    assert_int_equal(files_in_folder(".evalue"), 0);
    assert_int_equal(open_descriptors(), before);
  }
}

/* ---- failures ---- */

/* The sizes of files are limited: part of a record gets in, and is cut off again. */
static void test_h4_a_limit_of_the_file(void **state) {
  (void)state;
  uint8_t buffer[50], bytes[70];
  struct rlimit old, limit;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  fill_bytes(bytes, sizeof bytes, 2);
  for (size_t buffer_size = 0; buffer_size <= 50; buffer_size += 25) {
    for (size_t most = 0; most <= 200; most += 3) {
      const evalue_sink_options options = {.buffer = buffer, .buffer_size = buffer_size};
      evalue_file_sink s;
      size_t flushed = 0, failures = 0;
      memset(&expected, 0, sizeof expected);
      assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &options), EVALUE_OK);
      limit = old;
      limit.rlim_cur = most;
      setrlimit(RLIMIT_FSIZE, &limit);
      for (size_t i = 0; i < 10; i++) {
        size_t size = 7 + i * 9 % 60;
        evalue_status status = evalue_sink_write(&s.sink, bytes, size, NULL);
        if (status == EVALUE_OK) model_put(&expected, bytes, size, 1);
        else failures++;
        if (status != EVALUE_OK) assert_int_equal(s.sink.system_error, EFBIG);
        assert_int_equal(evalue_sink_used(&s.sink), expected.used);
      }
      assert_true(failures > 0);
      evalue_status status = evalue_sink_flush(&s.sink);
      flushed = get_file("f");
      assert_true(flushed <= most);
      assert_memory_equal(file_bytes, expected.bytes, flushed); /* whole records; the rest still waits */
      assert_int_equal(status, flushed == expected.used ? EVALUE_OK : EVALUE_IO);
      setrlimit(RLIMIT_FSIZE, &old);
      assert_int_equal(evalue_sink_write(&s.sink, bytes, 70, NULL), EVALUE_OK); /* now there is room */
      model_put(&expected, bytes, 70, 1);
      assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
      check_file("f", expected.bytes, expected.used);
    }
  }
}

/* In the middle of a file nothing can be cut off. */
static void test_h4_in_the_middle_of_a_file(void **state) {
  (void)state;
  struct rlimit old, limit;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  put_file("f", "0123456789", 10);
  int fd = open(path_of("f"), O_RDWR);
  evalue_file_sink s;
  assert_int_equal(lseek(fd, 2, SEEK_SET), 2);
  assert_int_equal(evalue_file_sink_init(&s, fd, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, "ab", 2, NULL), EVALUE_OK);
  limit = old;
  limit.rlim_cur = 6;
  setrlimit(RLIMIT_FSIZE, &limit);
  evalue_status status = evalue_sink_write(&s.sink, "cdefg", 5, NULL);
  setrlimit(RLIMIT_FSIZE, &old);
  assert_int_equal(status, EVALUE_IO);
  assert_int_equal(evalue_sink_used(&s.sink), 2);
  check_refused(&s.sink, EVALUE_POISONED);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_POISONED);
  check_file("f", "01abcd6789", 10); /* no byte of the file is lost that was not written over */
  close(fd);
}

static void test_no_space_on_the_device(void **state) {
  (void)state;
  uint8_t buffer[64];
  for (size_t buffer_size = 0; buffer_size <= 64; buffer_size += 64) {
    const evalue_sink_options options = {.buffer = buffer, .buffer_size = buffer_size};
    evalue_file_sink s;
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0) skip();
    assert_int_equal(evalue_file_sink_init(&s, fd, &options), EVALUE_OK);
    evalue_status status = evalue_sink_write(&s.sink, "abc", 3, NULL);
    if (buffer_size != 0) status = evalue_sink_flush(&s.sink);
    assert_int_equal(status, EVALUE_IO);
    assert_int_equal(s.sink.system_error, ENOSPC);
    assert_int_equal(evalue_sink_used(&s.sink), buffer_size == 0 ? 0 : 3); /* what was held back still is */
    assert_int_equal(evalue_sink_close(&s.sink), buffer_size == 0 ? EVALUE_OK : EVALUE_IO);
    close(fd);
  }
}

static void test_a_descriptor_that_cannot_be_written(void **state) {
  (void)state;
  put_file("f", "abc", 3);
  int fd = open(path_of("f"), O_RDONLY);
  evalue_file_sink s;
  assert_int_equal(evalue_file_sink_init(&s, fd, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_write(&s.sink, "x", 1, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_MISUSE);
  check_file("f", "abc", 3);
  close(fd);
}

/* A record without a byte, from a ring, into a file without a buffer. */
static void test_e5_nothing(void **state) {
  (void)state;
  uint8_t memory[64];
  evalue_ring_sink ring;
  evalue_file_sink s;
  assert_int_equal(evalue_ring_sink_init(&ring, memory, sizeof memory), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&ring.sink, NULL, 0, NULL), EVALUE_OK);
  assert_int_equal(evalue_file_sink_open(&s, path_of("f"), NULL), EVALUE_OK);
  assert_int_equal(evalue_ring_sink_dump(&ring, &s.sink), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
  check_file("f", "", 0);
}

/* Another sink of a tee fails: the record is taken out of the buffer, or out of the file. */
static void test_h1_another_sink_fails(void **state) {
  (void)state;
  static faulty_sink other;
  uint8_t buffer[100];
  for (size_t buffer_size = 0; buffer_size <= sizeof buffer; buffer_size += 20) {
    for (int64_t k = 0; k < 300; k++) {
      const evalue_sink_options options = {.buffer = buffer, .buffer_size = buffer_size};
      evalue_file_sink s;
      evalue_tee_sink tee;
      evalue_sink *list[] = {&s.sink, &other.sink};
      memset(&expected, 0, sizeof expected);
      faulty_init(&other, true, 1);
      other.budget = k;
      assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &options), EVALUE_OK);
      assert_int_equal(evalue_tee_sink_init(&tee, list, 2), EVALUE_OK);
      for (int i = 0; i < STEPS; i++) {
        if (put_step(&tee.sink, i, NULL) == EVALUE_OK) model_step(&expected, i, 1);
        assert_int_equal(evalue_sink_used(&s.sink), expected.used);
      }
      assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
      check_file("f", expected.bytes, expected.used);
    }
  }
}

static void test_discarding(void **state) {
  (void)state;
  uint8_t buffer[8];
  const evalue_sink_options options = {.buffer = buffer, .buffer_size = 8};
  evalue_file_sink s;
  int before = open_descriptors();
  assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &options), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, "abcdef", 6, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, "ghi", 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_file_sink_discard(&s), EVALUE_OK);
  check_file("f", "abcdef", 6); /* without what was buffered */
  assert_int_equal(evalue_file_sink_discard(&s), EVALUE_MISUSE);
  assert_int_equal(open_descriptors(), before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_buffer_gives_the_same_file),
      cmocka_unit_test(test_the_file_ends_at_a_record),
      cmocka_unit_test(test_records_larger_than_the_buffer),
      cmocka_unit_test(test_append),
      cmocka_unit_test(test_descriptors_where_they_stand),
      cmocka_unit_test(test_h2_a_file_that_is_too_large),
      cmocka_unit_test(test_h3_each_descriptor_is_closed_once),
      cmocka_unit_test(test_what_cannot_be_opened),
      cmocka_unit_test(test_g6_bad_options_change_nothing),
      cmocka_unit_test(test_h4_a_limit_of_the_file),
      cmocka_unit_test(test_h4_in_the_middle_of_a_file),
      cmocka_unit_test(test_no_space_on_the_device),
      cmocka_unit_test(test_a_descriptor_that_cannot_be_written),
      cmocka_unit_test(test_e5_nothing),
      cmocka_unit_test(test_h1_another_sink_fails),
      cmocka_unit_test(test_discarding),
  };
  return cmocka_run_group_tests_name("file", tests, make_folder, remove_folder);
}
