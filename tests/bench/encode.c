/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What encoding a large tensor costs beside memcpy of the same bytes, and what gathering it costs: interleaved rounds,
 * medians of 9. Prints; asserts no time.
 */
#include <stdio.h>

#include "evalue/evalue.h"
#include "timing.h"

enum { NBYTES = 64 << 20 };

static double time_copy(uint8_t *to, const uint8_t *data) {
  settle(data, to + 64, NBYTES);
  double start = now();
  memcpy(to + 64, data, NBYTES);
  return now() - start;
}

static double time_encode(uint8_t *to, const evalue *v, const uint8_t *data) {
  uint64_t size = 0;
  settle(data, to + 64, NBYTES);
  double start = now();
  if (evalue_message_encode(v, 1, 64, to, NBYTES + 4096, &size) != EVALUE_OK) abort();
  double end = now();
  if (memcmp(to + size - NBYTES, data, NBYTES) != 0) abort();
  return end - start;
}

static double time_gather(const evalue *v) {
  enum { TIMES = 1000 };
  uint8_t scratch[4096];
  evalue_slice slices[4];
  double start = now();
  for (int i = 0; i < TIMES; i++) {
    evalue_gather g = {scratch, sizeof scratch, slices, 4, 0, 0, 0};
    if (evalue_message_gather(v, 1, 64, &g) != EVALUE_OK) abort();
  }
  return (now() - start) / TIMES;
}

int main(void) {
  static double copying[ROUNDS], encoding[ROUNDS], gathering[ROUNDS];
  int32_t sizes[] = {NBYTES / 4};
  evalue_tensor t;
  uint8_t *data = malloc(NBYTES), *to = malloc(NBYTES + 4096);
  if (data == NULL || to == NULL) return 2;
  memset(data, 7, NBYTES);
  memset(to, 1, NBYTES + 4096);
  if (evalue_tensor_init(&t, EVALUE_FLOAT32, 1, sizes, data, NBYTES) != EVALUE_OK) return 2;
  evalue v = evalue_from_tensor(&t);
  time_copy(to, data); /* to warm up */
  for (int i = 0; i < ROUNDS; i++) {
    if (i % 2 == 0) copying[i] = time_copy(to, data);
    encoding[i] = time_encode(to, &v, data);
    if (i % 2 != 0) copying[i] = time_copy(to, data);
    gathering[i] = time_gather(&v);
  }
  double copy = median(copying), encode = median(encoding), gather = median(gathering);
  printf("64 MiB tensor, medians of %d interleaved rounds\n", ROUNDS);
  printf("  memcpy  %8.3f ms\n  encode  %8.3f ms   %.2f of memcpy's speed\n  gather  %8.6f ms\n", copy * 1e3,
         encode * 1e3, copy / encode, gather * 1e3);
  free(data);
  free(to);
  return 0;
}
