/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What record files cost beside stdio with ISA-L's CRCs: writing, and reading with both CRCs checked, of small and of
 * large records, the file in the page cache. Interleaved rounds, medians of 9. Prints; asserts no time.
 */
#include <isa-l/crc.h>
#include <stdio.h>
#include <unistd.h>

#include "evalue/evalue.h"
#include "timing.h"

typedef struct {
  const char *name;
  size_t count, size;
} workload;

static char path[64];
static uint8_t *data;   /* of a record: it differs from place to place, so that no two records are alike */
static uint8_t *copied; /* by fread */

static void check(bool is_good) {
  if (is_good) return;
  perror(path);
  unlink(path);
  exit(2);
}

/* ---- with stdio ---- */

static uint32_t crc_of(uint8_t *bytes, size_t nbytes) {
  return evalue_record_mask(~crc32_iscsi(bytes, (int)nbytes, UINT32_MAX));
}

static double write_with_stdio(const workload *w) {
  double start = now();
  FILE *f = fopen(path, "wb");
  check(f != NULL);
  for (size_t i = 0; i < w->count; i++) {
    uint8_t head[12], tail[4];
    evalue_store_u64(head, w->size);
    evalue_store_u32(head + 8, crc_of(head, 8));
    evalue_store_u32(tail, crc_of(data + i % 64, w->size));
    check(fwrite(head, sizeof head, 1, f) == 1 && fwrite(data + i % 64, w->size, 1, f) == 1 &&
          fwrite(tail, sizeof tail, 1, f) == 1);
  }
  check(fclose(f) == 0);
  return now() - start;
}

static double read_with_stdio(const workload *w) {
  double start = now();
  size_t count = 0;
  uint8_t head[12], tail[4];
  FILE *f = fopen(path, "rb");
  check(f != NULL);
  for (; fread(head, sizeof head, 1, f) == 1; count++) {
    uint64_t size = evalue_load_u64(head);
    check(evalue_load_u32(head + 8) == crc_of(head, 8) && size == w->size);
    check(fread(copied, (size_t)size, 1, f) == 1 && fread(tail, sizeof tail, 1, f) == 1);
    check(evalue_load_u32(tail) == crc_of(copied, (size_t)size));
  }
  fclose(f);
  check(count == w->count);
  return now() - start;
}

/* ---- with this library ---- */

static double write_records(const workload *w) {
  evalue_record_writer writer;
  double start = now();
  check(evalue_record_writer_open(&writer, path, NULL) == EVALUE_OK);
  for (size_t i = 0; i < w->count; i++) {
    check(evalue_record_writer_put_bytes(&writer, data + i % 64, w->size, NULL) == EVALUE_OK);
  }
  check(evalue_record_writer_close(&writer) == EVALUE_OK);
  return now() - start;
}

static double read_records(const workload *w) {
  evalue_record_reader reader;
  evalue_record record;
  evalue_status status;
  size_t count = 0;
  double start = now();
  check(evalue_record_reader_open(&reader, path, NULL) == EVALUE_OK);
  while ((status = evalue_record_reader_next(&reader, &record)) == EVALUE_OK) {
    check(record.size == w->size);
    count++;
  }
  check(status == EVALUE_END && count == w->count);
  evalue_record_reader_close(&reader);
  return now() - start;
}

/* ---- rounds ---- */

static void report(const char *what, double *stdio, double *records, const workload *w) {
  double bytes = (double)(w->count * (w->size + EVALUE_RECORD_FRAME_SIZE));
  double theirs = median(stdio), ours = median(records);
  printf("  %-8s stdio and ISA-L %8.2f ms, %6.2f GB/s   records %8.2f ms, %6.2f GB/s   %.2f as fast\n", what,
         theirs * 1e3, bytes / theirs * 1e-9, ours * 1e3, bytes / ours * 1e-9, theirs / ours);
}

static void run(const workload *w) {
  double writing[2][ROUNDS], reading[2][ROUNDS];
  write_with_stdio(w); /* to warm up */
  read_with_stdio(w);
  read_records(w);
  for (int i = 0; i < ROUNDS; i++) {
    for (int k = 0; k < 2; k++) { /* either of them first in its turn; a file is written where there was none */
      int which = (i + k) % 2;
      unlink(path);
      writing[which][i] = which == 0 ? write_with_stdio(w) : write_records(w);
    }
    for (int k = 0; k < 2; k++) {
      int which = (i + k) % 2;
      reading[which][i] = which == 0 ? read_with_stdio(w) : read_records(w);
    }
  }
  printf("%s, medians of %d interleaved rounds\n", w->name, ROUNDS);
  report("writing", writing[0], writing[1], w);
  report("reading", reading[0], reading[1], w);
}

int main(void) {
  static const workload workloads[] = {{"100000 records of 1 KiB", 100000, 1024},
                                       {"2000 records of 150 KiB", 2000, 150 << 10}};
  char folder[] = "/tmp/evalue-bench-XXXXXX";
  if (mkdtemp(folder) == NULL) return 2;
  snprintf(path, sizeof path, "%s/records", folder);
  data = malloc((150 << 10) + 64);
  copied = malloc(150 << 10);
  if (data == NULL || copied == NULL) return 2;
  for (size_t i = 0; i < (150 << 10) + 64; i++) data[i] = (uint8_t)(i * i >> 3);
  for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) run(&workloads[i]);
  unlink(path);
  rmdir(folder);
  free(data);
  free(copied);
  return 0;
}
