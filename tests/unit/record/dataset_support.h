/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of data sets share: examples, record files of them, and what a pipeline gives as bytes. */
#ifndef TESTS_DATASET_SUPPORT_H
#define TESTS_DATASET_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "evalue/dataset.h"
#include "evalue/evalue.h"
#include "msan_stat.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { MESSAGE = 640, MOST = 256 };

/* Examples in memory: number i is a tensor float32 [3] of i, i + 0.5, -i, and Int i. */
typedef struct examples {
  evalue_slice slices[MOST];
  uint8_t bytes[MOST][MESSAGE];
  size_t count;
} examples;

static inline void add_values(examples *e, const evalue *values, size_t n) {
  uint64_t size = 0;
  assert_true(e->count < MOST);
  uint8_t *to = e->bytes[e->count];
  assert_int_equal(evalue_message_encode(values, n, 0, to, MESSAGE, &size), EVALUE_OK);
  e->slices[e->count++] = (evalue_slice){to, (size_t)size};
}

static inline evalue floats_of(float *numbers, int32_t n) {
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT32, 1, &n, numbers, 4 * (size_t)n), EVALUE_OK);
  return evalue_from_tensor(&t);
}

static inline void add_number(examples *e, int64_t i) {
  float numbers[3] = {(float)i, (float)i + 0.5f, (float)-i};
  evalue_tensor_data_to_wire(EVALUE_FLOAT32, numbers, numbers, sizeof numbers);
  evalue values[2] = {floats_of(numbers, 3), evalue_from_int(i)};
  add_values(e, values, 2);
}

static inline examples *new_examples(size_t n) {
  examples *e = (examples *)calloc(1, sizeof *e);
  assert_non_null(e);
  for (size_t i = 0; i < n; i++) add_number(e, (int64_t)i);
  return e;
}

/* The Int of an example that is one of these; -1 for another. */
static inline int64_t number_of(const evalue_example *example) {
  evalue values[4];
  const evalue *v = example->values;
  uint64_t n = example->count;
  if (v == NULL) {
    evalue_status status = evalue_message_decode(example->bytes.data, example->bytes.size, NULL, values, 4, &n, NULL);
    if (status != EVALUE_OK) return -1;
    v = values;
  }
  return n == 2 && v[1].tag == EVALUE_TAG_INT ? v[1].int_value : -1;
}

/* Reads all that is left, and compares the numbers; then the data set has ended. */
static inline void check_numbers(evalue_dataset *dataset, const int64_t *numbers, size_t n) {
  evalue_example example;
  for (size_t i = 0; i < n; i++) {
    assert_int_equal(evalue_dataset_next(dataset, &example), EVALUE_OK);
    assert_int_equal(number_of(&example), numbers[i]);
  }
  for (int again = 0; again < 2; again++) {
    assert_int_equal(evalue_dataset_next(dataset, &example), EVALUE_END);
    assert_null(example.bytes.data);
    assert_null(example.values);
  }
  assert_int_equal(dataset->status, EVALUE_END);
}

/* ---- files ---- */

/* A directory of its own for a test. */
typedef struct folder {
  char path[64];
} folder;

static inline folder new_folder(void) {
  folder f = {"/tmp/evalue-dataset-XXXXXX"};
  assert_non_null(mkdtemp(f.path));
  return f;
}

static inline const char *path_in(const folder *f, const char *name, char path[128]) {
  assert_true(snprintf(path, 128, "%s/%s", f->path, name) < 128);
  return path;
}

static inline void free_folder(folder *f, const char *const *names, size_t n) {
  char path[128];
  for (size_t i = 0; i < n; i++) unlink(path_in(f, names[i], path));
  assert_int_equal(rmdir(f->path), 0);
}

/* Writes examples first, ..., first + n - 1 as a record file. */
static inline void write_records(const char *path, const examples *e, size_t first, size_t n) {
  evalue_record_writer w;
  assert_int_equal(evalue_record_writer_open(&w, path, NULL), EVALUE_OK);
  for (size_t i = first; i < first + n; i++) {
    assert_int_equal(evalue_record_writer_put_bytes(&w, e->slices[i].data, e->slices[i].size, NULL), EVALUE_OK);
  }
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
}

/* Flips a bit of a file. */
static inline void damage(const char *path, long offset) {
  FILE *f = fopen(path, "r+b");
  assert_non_null(f);
  assert_int_equal(fseek(f, offset, SEEK_SET), 0);
  int byte = fgetc(f);
  assert_int_equal(fseek(f, offset, SEEK_SET), 0);
  assert_int_not_equal(fputc(byte ^ 1, f), EOF);
  assert_int_equal(fclose(f), 0);
}

/* ---- what a pipeline gives, as bytes ---- */

/* Bytes that grow. */
typedef struct bytes {
  uint8_t *data;
  size_t size, capacity;
} bytes;

static inline void add_bytes(bytes *b, const void *data, size_t size) {
  if (b->capacity - b->size < size) {
    b->capacity = 2 * b->capacity + size;
    b->data = (uint8_t *)realloc(b->data, b->capacity);
    assert_non_null(b->data);
  }
  if (size != 0) memcpy(b->data + b->size, data, size);
  b->size += size;
}

/* All that an example is: source, index, message, and values. */
static inline void add_example(bytes *b, const evalue_example *example) {
  uint64_t size = 0;
  const char *slash = example->source != NULL ? strrchr(example->source, '/') : NULL;
  const char *source = slash != NULL ? slash + 1 : example->source; /* folders have random names */
  add_bytes(b, source, source != NULL ? strlen(source) : 0);
  add_bytes(b, &example->index, sizeof example->index);
  add_bytes(b, &example->bytes.size, sizeof example->bytes.size);
  add_bytes(b, example->bytes.data, example->bytes.size);
  if (example->values == NULL) return;
  assert_int_equal(evalue_message_size(example->values, example->count, 1, &size), EVALUE_OK);
  uint8_t *encoded = (uint8_t *)malloc((size_t)size);
  assert_non_null(encoded);
  assert_int_equal(evalue_message_encode(example->values, example->count, 1, encoded, (size_t)size, &size), EVALUE_OK);
  add_bytes(b, encoded, (size_t)size);
  free(encoded);
}

/* Reads on to the end, and no further than `most` examples. */
static inline void read_on(evalue_dataset *dataset, bytes *b, size_t most) {
  evalue_example example;
  evalue_status status = EVALUE_OK;
  for (size_t i = 0; i < most; i++) {
    status = evalue_dataset_next(dataset, &example);
    if (status != EVALUE_OK) break;
    add_example(b, &example);
  }
  if (status != EVALUE_OK && status != EVALUE_END) fail_msg("%s", dataset->error.text);
}

static inline void check_same(const bytes *a, const bytes *b) {
  assert_int_equal(a->size, b->size);
  if (a->size != 0) assert_memory_equal(a->data, b->data, a->size);
}

/* Saves a state as bytes. */
static inline bytes save_state(evalue_dataset *dataset) {
  bytes b = {malloc(1 << 20), 0, 1 << 20};
  evalue_buffer_sink sink;
  const evalue_sink_options plain = {.alignment = 1};
  assert_non_null(b.data);
  assert_int_equal(evalue_buffer_sink_init(&sink, b.data, b.capacity, &plain), EVALUE_OK);
  evalue_status status = evalue_dataset_save(dataset, &sink.sink);
  if (status != EVALUE_OK) fail_msg("%s", dataset->error.text);
  b.size = (size_t)evalue_sink_used(&sink.sink);
  assert_int_equal(evalue_sink_close(&sink.sink), EVALUE_OK);
  return b;
}

#endif
