/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What loading costs beside plain reading: record files shuffled, decoded and put into batches of 32, against a record
 * reader that goes through the same file. Both check both CRCs; the file is in the page cache. Interleaved rounds,
 * medians of 9. Prints; asserts no time.
 */
#include <stdio.h>
#include <unistd.h>

#include "evalue/evalue.h"
#include "timing.h"

enum { BATCH = 32, LARGEST = 37500 };

typedef struct {
  const char *name;
  size_t count;
  int32_t numel; /* of float32 in each example, beside an Int */
} workload;

static char path[64];
static float numbers[LARGEST];
static volatile int64_t sink; /* what was loaded is looked at */

static void check(bool is_good, const char *why) {
  if (is_good) return;
  fprintf(stderr, "%s: %s\n", path, why);
  unlink(path);
  exit(2);
}

/* Returns the bytes of the file. */
static double write_file(const workload *w) {
  evalue_record_writer writer;
  evalue_tensor tensor;
  check(evalue_tensor_init(&tensor, EVALUE_FLOAT32, 1, &w->numel, numbers, (size_t)w->numel * 4) == EVALUE_OK,
        "tensor");
  check(evalue_record_writer_open(&writer, path, NULL) == EVALUE_OK, "opening");
  for (size_t i = 0; i < w->count; i++) {
    numbers[i % (size_t)w->numel] = (float)i;
    const evalue example[2] = {evalue_from_tensor(&tensor), evalue_from_int((int64_t)i)};
    check(evalue_record_writer_put(&writer, example, 2, NULL) == EVALUE_OK, "writing");
  }
  uint64_t nbytes = writer.end;
  check(evalue_record_writer_close(&writer) == EVALUE_OK, "closing");
  return (double)nbytes;
}

static double read_plainly(const workload *w) {
  evalue_record_reader reader;
  evalue_record record;
  evalue_status status;
  size_t count = 0;
  double start = now();
  check(evalue_record_reader_open(&reader, path, NULL) == EVALUE_OK, "opening");
  while ((status = evalue_record_reader_next(&reader, &record)) == EVALUE_OK) {
    sink += record.data[record.size - 1];
    count++;
  }
  check(status == EVALUE_END && count == w->count, "reading");
  evalue_record_reader_close(&reader);
  return now() - start;
}

static double load(const workload *w, uint64_t buffer) {
  evalue_files_dataset files;
  evalue_shuffle_dataset shuffle;
  evalue_decode_dataset decode;
  evalue_batch_dataset batch;
  evalue_example example;
  const char *const paths[1] = {path};
  const evalue_schema_value schema[2] = {
      {.tag = EVALUE_TAG_TENSOR, .scalar_type = EVALUE_FLOAT32, .ndim = 1, .sizes = {w->numel}},
      {.tag = EVALUE_TAG_INT}};
  size_t count = 0;
  double start = now();
  evalue_files_dataset_init(&files, paths, 1, NULL);
  evalue_shuffle_dataset_init(&shuffle, &files.dataset, buffer, 42, NULL);
  evalue_decode_dataset_init(&decode, &shuffle.dataset, schema, 2, NULL);
  evalue_batch_dataset_init(&batch, &decode.dataset, BATCH, NULL);
  while (evalue_dataset_next(&batch.dataset, &example) == EVALUE_OK) {
    sink += *(const int64_t *)example.values[1].tensor.data;
    count += (size_t)example.values[0].tensor.sizes[0];
  }
  check(batch.dataset.status == EVALUE_END && count == w->count, batch.dataset.error.text);
  evalue_dataset_close(&batch.dataset);
  return now() - start;
}

static void report(const char *what, double *times, double reading, double nbytes) {
  double middle = median(times);
  printf("  %-28s %8.2f ms, %6.2f GB/s   %.2f as fast\n", what, middle * 1e3, nbytes / middle * 1e-9, reading / middle);
}

static void run(const workload *w) {
  static const uint64_t buffers[2] = {100, 1000};
  double reading[ROUNDS], loading[2][ROUNDS];
  double nbytes = write_file(w);
  read_plainly(w); /* to warm up */
  for (size_t k = 0; k < 2; k++) load(w, buffers[k]);
  for (int i = 0; i < ROUNDS; i++) {
    for (int k = 0; k < 3; k++) { /* each of them first in its turn */
      int which = (i + k) % 3;
      if (which == 2) reading[i] = read_plainly(w);
      else loading[which][i] = load(w, buffers[which]);
    }
  }
  printf("%s, batches of %d, medians of %d interleaved rounds\n", w->name, BATCH, ROUNDS);
  double middle = median(reading);
  report("plain reading", reading, middle, nbytes);
  report("loader, shuffles among 100", loading[0], middle, nbytes);
  report("loader, shuffles among 1000", loading[1], middle, nbytes);
  unlink(path);
}

int main(void) {
  static const workload workloads[] = {{"100000 records of 1 KiB", 100000, 238},
                                       {"2000 records of 150 KB", 2000, LARGEST}};
  char folder[] = "/tmp/evalue-bench-XXXXXX";
  if (mkdtemp(folder) == NULL) return 2;
  snprintf(path, sizeof path, "%s/records", folder);
  for (size_t i = 0; i < LARGEST; i++) numbers[i] = (float)(i * i >> 3);
  for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) run(&workloads[i]);
  rmdir(folder);
  return 0;
}
