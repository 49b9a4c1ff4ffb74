/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For test_sinks.py: writes records into a file, and after each call looks at the file itself, whether what sink.h
 * promises is so. writer HOW PATH BUFFER_SIZE SYNC COUNT, where HOW is append, begin, fd or publish. Prints the bytes
 * that are safe (flushed, or not buffered) as it goes, and at the end "closed STATUS ERRNO". Exit status 1: a promise
 * was broken, and stderr says which. It makes its own system calls, so that the shim does not see them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "evalue/evalue.h"

enum { MOST = 64 * 1024, MOST_RECORDS = 256, TRIES = 3 };

static uint8_t expected[MOST], there[MOST], buffer[MOST];
static uint64_t boundaries[MOST_RECORDS];
static size_t size, boundary_count;
static const char *path;

#define PROMISE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "writer.c:%d: broken: %s\n", __LINE__, #condition);                                              \
      fflush(stderr);                                                                                                  \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
  } while (0)

static size_t look(void) {
  long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC), n, got = 0;
  if (fd < 0) return 0;
  while ((n = syscall(SYS_read, fd, there + got, (size_t)(MOST - got))) > 0) got += n;
  syscall(SYS_close, fd);
  return (size_t)got;
}

static bool is_boundary(uint64_t at) {
  for (size_t i = 0; i < boundary_count; i++) {
    if (boundaries[i] == at) return true;
  }
  return false;
}

static void say(const char *what, unsigned long number, int error) {
  char line[64];
  int n = snprintf(line, sizeof line, "%s %lu %d\n", what, number, error);
  if (syscall(SYS_write, 1, line, (size_t)n) < 0) _exit(3);
}

/* Looks at the file while it is written: `used` counts from `base`. */
static void check_file(const evalue_file_sink *s, size_t base, bool is_hidden, bool is_flushed) {
  size_t got = look();
  if (is_hidden) return;
  uint64_t used = base + evalue_sink_used(&s->sink);
  PROMISE(is_boundary(used));
  if (s->sink.is_poisoned != 0) {
    PROMISE(got >= used || s->buffer_size != 0);
    PROMISE(memcmp(there, expected, used < got ? used : got) == 0);
    return;
  }
  PROMISE(used == size);
  PROMISE(is_boundary(got));
  PROMISE(memcmp(there, expected, got) == 0);
  if (is_flushed) PROMISE(got == size);
  if (is_flushed) say("safe", got, 0);
}

static evalue_status start(evalue_file_sink *s, const char *how, size_t buffer_size, uint32_t sync) {
  evalue_sink_options o = {.sync = sync};
  if (buffer_size != 0) o.buffer = buffer;
  o.buffer_size = buffer_size;
  o.append = strcmp(how, "append") == 0;
  o.publish = strcmp(how, "publish") == 0;
  if (strcmp(how, "fd") != 0) return evalue_file_sink_open(s, path, &o);
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || syscall(SYS_lseek, fd, 0, SEEK_END) < 0) _exit(3);
  return evalue_file_sink_init(s, fd, &o);
}

static size_t make_record(uint8_t *to, size_t i) {
  size_t n = 1 + i * 29 % 60;
  for (size_t k = 0; k < n; k++) to[k] = (uint8_t)(1 + (i * 37 + k) % 250);
  return n;
}

/* One record, in three slices. */
static evalue_status write_record(evalue_sink *s, const uint8_t *record, size_t n) {
  const evalue_slice slices[] = {{record, n / 3}, {record + n / 3, n / 2 - n / 3}, {record + n / 2, n - n / 2}};
  return evalue_sink_write_slices(s, slices, 3, NULL);
}

static void check_poisoned(evalue_file_sink *s) {
  uint64_t used = evalue_sink_used(&s->sink);
  size_t before = look(), after;
  PROMISE(evalue_sink_write(&s->sink, "x", 1, NULL) == EVALUE_POISONED);
  PROMISE(evalue_sink_flush(&s->sink) == EVALUE_POISONED);
  PROMISE(evalue_sink_used(&s->sink) == used);
  after = look();
  PROMISE(before == after);
}

int main(int argc, char **argv) {
  if (argc != 6) return 3;
  evalue_log_configure("none", NULL, 0);
  path = argv[2];
  size_t buffer_size = (size_t)atol(argv[3]), count = (size_t)atol(argv[5]);
  bool is_hidden = strcmp(argv[1], "publish") == 0, begins_anew = is_hidden || strcmp(argv[1], "begin") == 0;
  evalue_file_sink s;
  size_t old = look();
  static uint8_t old_bytes[MOST];
  memcpy(old_bytes, there, old);
  if (!begins_anew) memcpy(expected, there, size = old);
  boundaries[boundary_count++] = size;
  size_t base = strcmp(argv[1], "fd") == 0 ? size : 0; /* where offset 0 is */
  evalue_status status = start(&s, argv[1], buffer_size, (uint32_t)atoi(argv[4]));
  if (status != EVALUE_OK) {
    if (strcmp(argv[1], "begin") != 0) PROMISE(look() == old && memcmp(there, old_bytes, old) == 0);
    say("not opened", status, s.sink.system_error);
    return 0;
  }
  for (size_t i = 0; i < count && s.sink.is_poisoned == 0; i++) {
    uint8_t record[64];
    size_t n = make_record(record, i);
    for (int try = 0; try < TRIES; try++) {
      uint64_t used = evalue_sink_used(&s.sink);
      status = write_record(&s.sink, record, n);
      if (status == EVALUE_OK) {
        memcpy(expected + size, record, n);
        size += n;
        boundaries[boundary_count++] = size;
      } else {
        PROMISE(evalue_sink_used(&s.sink) <= used);
        PROMISE(status == EVALUE_IO || status == EVALUE_NO_SPACE);
        PROMISE(s.sink.system_error != 0);
      }
      check_file(&s, base, is_hidden, buffer_size == 0);
      if (status == EVALUE_OK || s.sink.is_poisoned != 0) break;
    }
    if (i % 5 == 4 && s.sink.is_poisoned == 0) {
      status = evalue_sink_flush(&s.sink);
      check_file(&s, base, is_hidden, status == EVALUE_OK);
    }
  }
  if (s.sink.is_poisoned != 0) check_poisoned(&s);
  bool was_poisoned = s.sink.is_poisoned != 0;
  status = evalue_sink_close(&s.sink);
  PROMISE(!was_poisoned || status == EVALUE_POISONED);
  PROMISE(evalue_sink_close(&s.sink) == EVALUE_MISUSE);
  size_t got = look();
  if (status == EVALUE_OK) PROMISE(got == size && memcmp(there, expected, got) == 0);
  bool is_old = got == old && memcmp(there, old_bytes, old) == 0;
  bool is_new = got == size && memcmp(there, expected, got) == 0;
  if (is_hidden) PROMISE(is_old || is_new);
  say("closed", status, s.sink.system_error);
  return 0;
}
