/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of record files share: a folder, files, and records made byte by byte. */
#ifndef TESTS_RECORD_FILES_H
#define TESTS_RECORD_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "evalue/evalue.h"
#include "msan_stat.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A folder for one program. */
static char record_folder[] = "/tmp/evalue-record-XXXXXX";

static inline int make_folder(void **state) {
  (void)state;
  return mkdtemp(record_folder) == NULL;
}

static inline int remove_folder(void **state) {
  char command[80];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", record_folder);
  return system(command) != 0;
}

static inline const char *path_of(const char *name) {
  static char paths[4][100];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", record_folder, name);
  return path;
}

static inline void put_file(const char *name, const void *bytes, size_t nbytes) {
  int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  assert_true(fd >= 0);
  if (nbytes != 0) assert_int_equal(write(fd, bytes, nbytes), nbytes);
  assert_int_equal(close(fd), 0);
}

static inline size_t get_file(const char *name, uint8_t *bytes, size_t capacity) {
  int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  ssize_t got = read(fd, bytes, capacity);
  assert_true(got >= 0);
  close(fd);
  return (size_t)got;
}

/* Says whether a file holds these bytes, and no more. */
static inline void check_file(const char *name, const void *bytes, size_t nbytes) {
  uint8_t *there = malloc(nbytes + 1);
  assert_non_null(there);
  assert_int_equal(get_file(name, there, nbytes + 1), nbytes);
  if (nbytes != 0) assert_memory_equal(there, bytes, nbytes);
  free(there);
}

/* CRC-32C bit by bit, from its definition. */
static inline uint32_t slow_crc(const uint8_t *bytes, size_t nbytes) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < nbytes; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ ((crc & 1) != 0 ? UINT32_C(0x82f63b78) : 0);
  }
  return ~crc;
}

static inline void put_number(uint8_t *to, uint64_t number, int width) {
  for (int i = 0; i < width; i++) to[i] = (uint8_t)(number >> 8 * i);
}

static inline uint32_t slow_mask(uint32_t crc) {
  return (uint32_t)((crc >> 15 | crc << 17) + UINT32_C(0xa282ead8));
}

/* Writes a head with a good CRC, whatever the length. */
static inline size_t make_head(uint8_t *to, uint64_t length) {
  put_number(to, length, 8);
  put_number(to + 8, slow_mask(slow_crc(to, 8)), 4);
  return 12;
}

/* Writes a record; returns its size. */
static inline size_t make_record(uint8_t *to, const uint8_t *data, size_t nbytes) {
  make_head(to, nbytes);
  if (nbytes != 0) memcpy(to + 12, data, nbytes);
  put_number(to + 12 + nbytes, slow_mask(slow_crc(data, nbytes)), 4);
  return nbytes + 16;
}

/* ---- a small file ---- */

enum { SMALL_COUNT = 5, SMALL_MOST = 1000 };

/* Five records of different sizes: a message each, but the third is empty. */
typedef struct {
  uint8_t bytes[SMALL_MOST];
  size_t size;
  size_t starts[SMALL_COUNT + 1]; /* the last is the end */
} small_file;

/* The values of the k-th record. */
static inline size_t small_values(size_t k, evalue values[3]) {
  static const float numbers[6] = {1, 2, 3, 4, 5, 6};
  const int32_t sizes[1] = {(int32_t)k + 1};
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT32, 1, sizes, numbers, 4 * (k + 1)), EVALUE_OK);
  values[0] = evalue_from_int((int64_t)k);
  values[1] = evalue_from_tensor(&t);
  values[2] = evalue_from_string("four", k);
  return k == 2 ? 0 : 1 + k % 3;
}

static inline void make_small(small_file *f) {
  memset(f, 0, sizeof *f);
  for (size_t k = 0; k < SMALL_COUNT; k++) {
    evalue values[3];
    uint8_t message[300];
    uint64_t nbytes = 0;
    size_t n = small_values(k, values);
    if (k != 2) assert_int_equal(evalue_message_encode(values, n, 0, message, sizeof message, &nbytes), EVALUE_OK);
    f->starts[k] = f->size;
    f->size += make_record(f->bytes + f->size, message, (size_t)nbytes);
  }
  f->starts[SMALL_COUNT] = f->size;
}

/* The record that a byte is of. */
static inline size_t record_of(const small_file *f, size_t at) {
  size_t k = 0;
  while (f->starts[k + 1] <= at) k++;
  return k;
}

/* Says whether a record is the k-th of the small file, handed out as promised. */
static inline void check_small(const small_file *f, size_t k, const evalue_record *record) {
  assert_int_equal(record->size, f->starts[k + 1] - f->starts[k] - 16);
  assert_int_equal(record->offset, f->starts[k]);
  assert_int_equal((uintptr_t)record->data % EVALUE_RECORD_ALIGNMENT, 0);
  if (record->size != 0) assert_memory_equal(record->data, f->bytes + f->starts[k] + 12, record->size);
}

/* Touches the bytes behind a record that may be read. */
static inline unsigned touch_slack(const evalue_record *record) {
  unsigned sum = 0;
  for (size_t i = 0; i < EVALUE_RECORD_SLACK; i++) sum += ((const volatile uint8_t *)record->data)[record->size + i];
  return sum;
}

#endif
