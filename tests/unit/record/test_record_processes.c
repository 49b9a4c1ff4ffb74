/* SPDX-License-Identifier: BSD-3-Clause */
/* Writers that are killed at any moment, files that may not grow at any byte, and a record larger than 4 GiB. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "record_files.h"

/* The i-th record: its number, and then bytes that follow from it. */
enum { MOST = 3000 };

static size_t fill_record(uint8_t data[MOST], uint64_t i) {
  size_t size = 8 + (size_t)(i * 277 % 2900);
  put_number(data, i, 8);
  for (size_t k = 8; k < size; k++) data[k] = (uint8_t)(i + k * 3);
  return size;
}

/* Reads the file: it must be records 0, 1, 2, ..., whole, and then perhaps a torn one. Returns how many. */
static uint64_t check_records(const char *name, evalue_status expected_end, bool may_be_torn) {
  evalue_record_reader r;
  evalue_record record;
  evalue_status status;
  uint8_t data[MOST];
  uint64_t count = 0;
  assert_int_equal(evalue_record_reader_open(&r, path_of(name), NULL), EVALUE_OK);
  while ((status = evalue_record_reader_next(&r, &record)) == EVALUE_OK) {
    size_t size = fill_record(data, count);
    if (record.size != size || memcmp(record.data, data, size) != 0) fail();
    count++;
  }
  if (status != expected_end) assert_true(may_be_torn && status == EVALUE_TRUNCATED);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  return count;
}

/* ---- killed ---- */

/* Appends without end. After each flush it says through the pipe how many records are safe. */
static void write_for_ever(uint64_t i, int pipe_end, size_t buffer_size) {
  const evalue_record_writer_options options = {.append = 1, .buffer_size = buffer_size, .index_path = path_of("idx")};
  uint8_t data[MOST];
  evalue_record_writer w;
  if (evalue_record_writer_open(&w, path_of("f"), &options) != EVALUE_OK) _exit(1);
  for (;; i++) {
    if (evalue_record_writer_put_bytes(&w, data, fill_record(data, i), NULL) != EVALUE_OK) _exit(2);
    if (i % 10 != 9) continue;
    uint64_t safe = i + 1;
    if (evalue_record_writer_flush(&w) != EVALUE_OK) _exit(3);
    if (write(pipe_end, &safe, sizeof safe) != sizeof safe) _exit(4);
  }
}

/* Says how many records the process, which is dead, has called safe. */
static uint64_t last_safe(int pipe_end, uint64_t before) {
  uint64_t safe = before, next;
  while (read(pipe_end, &next, sizeof next) == sizeof next) safe = next;
  return safe;
}

static void test_killed_writers(void **state) {
  (void)state;
  enum { TIMES = 60 };
  static const size_t buffers[] = {1, 5000, 0};
  uint64_t count = 0;
  int torn = 0;
  unlink(path_of("f"));
  for (int i = 0; i < TIMES; i++) {
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      close(ends[0]);
      write_for_ever(count, ends[1], buffers[i % 3]);
    }
    close(ends[1]);
    const struct timespec wait = {0, 1000000 + i * 7919 % 100 * 50000};
    nanosleep(&wait, NULL);
    kill(pid, SIGKILL);
    uint64_t safe = last_safe(ends[0], count);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    close(ends[0]);
    uint64_t there = access(path_of("f"), R_OK) == 0 ? check_records("f", EVALUE_END, true) : 0;
    assert_true(there >= safe && there >= count);
    const evalue_record_writer_options options = {.append = 1};
    evalue_record_writer w;
    assert_int_equal(evalue_record_writer_open(&w, path_of("f"), &options), EVALUE_OK);
    torn += w.cut != 0 ? 1 : 0;
    assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
    count = check_records("f", EVALUE_END, false);
    assert_int_equal(count, there); /* cutting has lost no whole record */
  }
  assert_true(count > 100);
  print_message("%d of %d killed writers left a torn record\n", torn, TIMES);
}

/* ---- files that may not grow ---- */

static void set_limit(uint64_t size) {
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = size == UINT64_MAX ? limit.rlim_max : (rlim_t)size;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The file has no room from each of its bytes on: the record that does not fit is not there, and the rest follows once
 * there is room. */
static void test_no_room_at_every_byte(void **state) {
  (void)state;
  enum { COUNT = 4 };
  static const size_t buffers[] = {1, 100, 0};
  uint64_t ends[COUNT + 1] = {0};
  uint8_t data[MOST];
  for (size_t i = 0; i < COUNT; i++) ends[i + 1] = ends[i] + fill_record(data, i) + 16;
  signal(SIGXFSZ, SIG_IGN);
  for (uint64_t room = 0; room < ends[COUNT]; room++) {
    const evalue_record_writer_options options = {.append = 1, .buffer_size = buffers[room % 3]};
    evalue_record_writer w;
    evalue_status status = EVALUE_OK;
    size_t fitting = 0;
    struct stat file;
    while (ends[fitting + 1] <= room) fitting++;
    unlink(path_of("f"));
    assert_int_equal(evalue_record_writer_open(&w, path_of("f"), &options), EVALUE_OK);
    set_limit(room);
    for (size_t i = 0; i < COUNT && status == EVALUE_OK; i++) {
      status = evalue_record_writer_put_bytes(&w, data, fill_record(data, i), NULL);
      if (status == EVALUE_OK) status = evalue_record_writer_flush(&w);
    }
    assert_int_equal(status, EVALUE_IO);
    assert_int_equal(w.system_error, EFBIG);
    assert_int_equal(stat(path_of("f"), &file), 0);
    assert_int_equal(file.st_size, ends[fitting]);
    evalue_record_writer_close(&w); /* fails again where the record waits in the buffer */
    set_limit(UINT64_MAX);
    assert_int_equal(check_records("f", EVALUE_END, false), fitting);
    assert_int_equal(evalue_record_writer_open(&w, path_of("f"), &options), EVALUE_OK);
    assert_int_equal(w.cut, 0);
    for (size_t i = fitting; i < COUNT; i++) {
      assert_int_equal(evalue_record_writer_put_bytes(&w, data, fill_record(data, i), NULL), EVALUE_OK);
    }
    assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
    assert_int_equal(check_records("f", EVALUE_END, false), COUNT);
  }
}

/* ---- more than 4 GiB ---- */

static uint32_t crc_of_zeros(uint64_t nbytes) {
  static const uint8_t zeros[1 << 16];
  uint32_t crc = 0;
  for (uint64_t at = 0; at < nbytes; at += sizeof zeros) crc = evalue_record_crc32c(crc, zeros, sizeof zeros);
  return crc;
}

/* A hole of 5 GiB as a record, and a small one behind it: gone past, indexed and checked in little memory. */
static void test_a_sparse_record(void **state) {
  (void)state;
  const uint64_t size = UINT64_C(5) << 30;
  uint8_t head[12], tail[4 + 25];
  if (getenv("EVALUE_EMULATED") != NULL) skip();
  make_head(head, size);
  put_number(tail, slow_mask(crc_of_zeros(size)), 4);
  make_record(tail + 4, (const uint8_t *)"123456789", 9);
  char path[] = "/dev/shm/evalue-sparse-XXXXXX"; /* where reading a hole takes no memory */
  int fd = mkstemp(path);
  if (fd < 0) skip();
  assert_int_equal(pwrite(fd, head, sizeof head, 0), sizeof head);
  assert_int_equal(pwrite(fd, tail, sizeof tail, (off_t)(12 + size)), sizeof tail);

  const evalue_record_reader_options options = {.skip = 1, .max_record = 1000};
  evalue_record_reader r;
  evalue_record record;
  evalue_record_index index = {0};
  assert_int_equal(evalue_record_reader_init(&r, fd, &options), EVALUE_OK);
  assert_int_equal(evalue_record_index_build(&index, &r), EVALUE_OK);
  assert_int_equal(index.count, 2);
  assert_true(index.entries[0].size == size + 16 && index.entries[1].offset == size + 16);
  assert_int_equal(evalue_record_reader_at(&r, &index.entries[1], &record), EVALUE_OK);
  assert_memory_equal(record.data, "123456789", 9);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
  assert_true(record.offset == size + 16 && record.index == 1);
  assert_int_equal(r.counts.too_large, 1);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  evalue_record_index_free(&index);

  evalue_record_report report;
  assert_int_equal(evalue_record_examine(path, &report), EVALUE_OK);
  assert_int_equal(report.records, 2);
  unlink(path);
  close(fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_killed_writers),
                                     cmocka_unit_test(test_no_room_at_every_byte),
                                     cmocka_unit_test(test_a_sparse_record)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
