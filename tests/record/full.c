/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For test_full.py: a writer of records on a disk of this program's own, which has room for so many bytes. writev and
 * ftruncate are replaced: what does not fit is not taken, and then there is ENOSPC.
 *
 *     full PATH INDEX FROM TO KEY=NUMBER...
 *
 * Appends records FROM to TO - 1, with a side file; "-" for INDEX: without. Keys: room, how many bytes both files may
 * have together; buffer, that of the writer; flush, after every so many records; most, what a writev takes at most;
 * eintr=1, every second call is interrupted; torn=1, nothing can be cut off any more once the disk was full; retry=1,
 * after a failure there is room, and the call that has failed is made again. Prints each call's status and errno.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "evalue/evalue.h"

enum { MOST_SLICES = 64 };

static struct {
  uint64_t room, buffer, flush, most, eintr, torn, retry;
} set = {.room = UINT64_MAX, .most = UINT64_MAX};

static const char *names[2];
static uint64_t calls;
static bool was_full;

/* ---- the disk ---- */

static bool is_interrupted(void) {
  calls++;
  errno = EINTR;
  return set.eintr != 0 && calls % 2 == 0;
}

/* How many bytes more it takes. */
static uint64_t room_left(void) {
  uint64_t used = 0;
  for (int i = 0; i < 2; i++) {
    struct stat file;
    if (stat(names[i], &file) == 0) used += (uint64_t)file.st_size;
  }
  return used < set.room ? set.room - used : 0;
}

ssize_t writev(int fd, const struct iovec *list, int count) {
  struct iovec some[MOST_SLICES];
  uint64_t left = set.most, room = room_left();
  int n = 0;
  if (is_interrupted()) return -1;
  if (room < left) left = room;
  for (; n < count && n < MOST_SLICES && left != 0; n++) {
    some[n] = list[n];
    if (some[n].iov_len > left) some[n].iov_len = (size_t)left;
    left -= some[n].iov_len;
  }
  if (n != 0 || count == 0) return syscall(SYS_writev, fd, some, n);
  was_full = true;
  errno = ENOSPC;
  return -1;
}

int ftruncate(int fd, off_t size) {
  if (is_interrupted()) return -1;
  errno = EIO;
  return set.torn != 0 && was_full ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

/* ---- the writer ---- */

enum { MOST = 30 };

static size_t fill(uint8_t data[MOST], uint64_t i) {
  size_t size = (size_t)(i * 17 % MOST);
  for (size_t k = 0; k < size; k++) data[k] = (uint8_t)(i * 7 + k * 3);
  return size;
}

/* Prints what a call has returned; true when it is to be made again. */
static bool told(const char *what, const evalue_record_writer *w, evalue_status status) {
  printf("%s %s %d\n", what, evalue_status_name((int32_t)status), status == EVALUE_OK ? 0 : w->system_error);
  if (status == EVALUE_OK) return false;
  bool again = set.retry != 0 && set.room != UINT64_MAX;
  set.room = UINT64_MAX;
  return again;
}

static evalue_status put_all(evalue_record_writer *w, uint64_t from, uint64_t to) {
  uint8_t data[MOST];
  for (uint64_t i = from; i < to; i++) {
    evalue_status status;
    size_t size = fill(data, i);
    do status = evalue_record_writer_put_bytes(w, data, size, NULL);
    while (told("put", w, status));
    if (status != EVALUE_OK) return status;
    if (set.flush == 0 || (i - from + 1) % set.flush != 0) continue;
    do status = evalue_record_writer_flush(w);
    while (told("flush", w, status));
    if (status != EVALUE_OK) return status;
  }
  return EVALUE_OK;
}

static void take(const char *argument) {
  static const struct {
    const char *name;
    uint64_t *number;
  } keys[] = {{"room=", &set.room},   {"buffer=", &set.buffer}, {"flush=", &set.flush}, {"most=", &set.most},
              {"eintr=", &set.eintr}, {"torn=", &set.torn},     {"retry=", &set.retry}};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    size_t size = strlen(keys[i].name);
    if (strncmp(argument, keys[i].name, size) != 0) continue;
    *keys[i].number = strtoull(argument + size, NULL, 10);
    return;
  }
  fprintf(stderr, "full: unknown: %s\n", argument);
  exit(2);
}

int main(int count, char **arguments) {
  evalue_record_writer w;
  if (count < 5) return 2;
  names[0] = arguments[1];
  names[1] = arguments[2];
  for (int i = 5; i < count; i++) take(arguments[i]);
  const evalue_record_writer_options options = {
      .append = 1, .buffer_size = (size_t)set.buffer, .index_path = strcmp(names[1], "-") != 0 ? names[1] : NULL};
  evalue_status status;
  do status = evalue_record_writer_open(&w, names[0], &options);
  while (told("open", &w, status));
  if (status != EVALUE_OK) return 0;
  printf("cut %llu\n", (unsigned long long)w.cut);
  put_all(&w, strtoull(arguments[3], NULL, 10), strtoull(arguments[4], NULL, 10));
  told("close", &w, evalue_record_writer_close(&w));
  return 0;
}
