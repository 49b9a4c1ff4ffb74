/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does one thing to one message, for cost.py to count instructions of: probe WHAT NUMBER.
 *
 *   decode N    a message with one uint8 tensor of N bytes, whose data are pages that nobody may touch
 *   gather N    such a message gathered
 *   none N      N None values decoded
 *   empty N     N tensors of sizes [0, 2147483647] decoded
 *   bare N      one bare value, a tensor of one byte and N dimensions, decoded
 *   java N      the same as ExecuTorch's Java bytes
 *   measure N   the same, only measured
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "evalue/evalue.h"

/* What is counted: cost.py names these functions. */
__attribute__((noinline)) evalue_status probe_decode(const void *data, size_t size, evalue *values, size_t capacity) {
  uint64_t n;
  return evalue_message_decode(data, size, NULL, values, capacity, &n, NULL);
}

__attribute__((noinline)) evalue_status probe_gather(const evalue *values, size_t n, evalue_gather *g) {
  return evalue_message_gather(values, n, 0, g);
}

__attribute__((noinline)) evalue_status probe_bare(const void *data, size_t size, evalue *value) {
  uint64_t used;
  return evalue_value_decode(data, size, NULL, value, &used, NULL);
}

__attribute__((noinline)) evalue_status probe_java(const void *data, size_t size, evalue *value) {
  uint64_t used;
  return evalue_java_decode(data, size, NULL, NULL, 0, value, &used, NULL);
}

__attribute__((noinline)) evalue_status probe_measure(const void *data, size_t size, evalue *value) {
  uint64_t value_size, scratch_size;
  (void)value;
  return evalue_java_measure(data, size, NULL, &value_size, &scratch_size, NULL);
}

/* A tensor of that many bytes: rows of 2^20 and one byte each, so that sizes fit. The data may not be touched. */
static evalue_tensor large_tensor(uint64_t nbytes, void *data) {
  evalue_tensor t;
  int32_t sizes[] = {nbytes >= 1 << 20 ? (int32_t)(nbytes >> 20) : 1, nbytes >= 1 << 20 ? 1 << 20 : (int32_t)nbytes};
  if (evalue_tensor_init(&t, EVALUE_UINT8, 2, sizes, data, (size_t)nbytes) != EVALUE_OK) abort();
  return t;
}

static int probe_large(uint64_t nbytes, bool is_gather) {
  size_t page = 4096;
  uint8_t *pages = mmap(NULL, (size_t)nbytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages, page, PROT_READ | PROT_WRITE) != 0) return 2;
  uint8_t scratch[8192];
  evalue_slice slices[4];
  evalue_tensor t = large_tensor(nbytes, pages + page);
  evalue v = evalue_from_tensor(&t);
  evalue_gather g = {scratch, sizeof scratch, slices, 4, 0, 0, 0};
  if (is_gather) return probe_gather(&v, 1, &g) == EVALUE_OK ? 0 : 1;
  if (evalue_message_gather(&v, 1, 4096, &g) != EVALUE_OK || slices[0].size != page) return 1;
  memcpy(pages, slices[0].data, page); /* at alignment 4096 the structure is the first page, and the data the rest */
  return probe_decode(pages, (size_t)g.size, &v, 1) == EVALUE_OK && v.tensor.data == pages + page ? 0 : 1;
}

static int probe_many(size_t n, const evalue *one) {
  evalue *values = malloc(n * sizeof *values);
  uint64_t size;
  if (values == NULL) return 2;
  for (size_t i = 0; i < n; i++) values[i] = *one;
  if (evalue_message_size(values, n, 0, &size) != EVALUE_OK) return 1;
  uint8_t *bytes = malloc((size_t)size);
  if (bytes == NULL || evalue_message_encode(values, n, 0, bytes, (size_t)size, &size) != EVALUE_OK) return 1;
  fprintf(stderr, "bytes %llu\n", (unsigned long long)size);
  return probe_decode(bytes, (size_t)size, values, n) == EVALUE_OK ? 0 : 1;
}

typedef evalue_status probe(const void *data, size_t size, evalue *value);

static int probe_header(size_t ndim, probe *one) {
  bool is_java = one != probe_bare;
  int32_t sizes[EVALUE_MAX_NDIM];
  uint8_t data = 7, bytes[200];
  uint64_t size;
  evalue_tensor t;
  for (size_t i = 0; i < ndim && i < EVALUE_MAX_NDIM; i++) sizes[i] = 1;
  if (evalue_tensor_init(&t, EVALUE_UINT8, ndim, sizes, &data, 1) != EVALUE_OK) return 2;
  evalue v = evalue_from_tensor(&t);
  evalue_status status = is_java ? evalue_java_encode(&v, NULL, bytes, sizeof bytes, &size, NULL)
                                 : evalue_sequence_encode(&v, 1, bytes, sizeof bytes, &size);
  if (status != EVALUE_OK) return 2;
  status = one(bytes, (size_t)size, &v);
  return status == EVALUE_OK && v.tensor.ndim == ndim ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  uint64_t number = strtoull(argv[2], NULL, 10);
  int32_t sizes[] = {0, INT32_MAX};
  evalue_tensor t;
  if (evalue_tensor_init(&t, EVALUE_UINT8, 2, sizes, NULL, 0) != EVALUE_OK) return 1;
  evalue none = evalue_from_none(), empty = evalue_from_tensor(&t);
  if (strcmp(argv[1], "decode") == 0) return probe_large(number, false);
  if (strcmp(argv[1], "gather") == 0) return probe_large(number, true);
  if (strcmp(argv[1], "none") == 0) return probe_many((size_t)number, &none);
  if (strcmp(argv[1], "empty") == 0) return probe_many((size_t)number, &empty);
  if (strcmp(argv[1], "bare") == 0) return probe_header((size_t)number, probe_bare);
  if (strcmp(argv[1], "java") == 0) return probe_header((size_t)number, probe_java);
  if (strcmp(argv[1], "measure") == 0) return probe_header((size_t)number, probe_measure);
  return 2;
}
