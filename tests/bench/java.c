/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What decoding and encoding ExecuTorch's Java bytes costs beside memcpy of the same bytes: a tensor of 16 MiB of each
 * width, interleaved rounds, medians of 9. Prints; asserts no time.
 */
#include <stdio.h>

#include "evalue/evalue.h"
#include "timing.h"

enum { NBYTES = 16 << 20, HEAD = 1 + 2 + 4, WAYS = 4 };

enum { COPY, DECODE, IN_PLACE, ENCODE };

typedef struct bench {
  uint8_t *input, *output; /* HEAD + NBYTES each */
  evalue_tensor tensor;    /* of the input's elements, decoded */
} bench;

static void check(evalue_status status) {
  if (status != EVALUE_OK) abort();
}

static void run(const bench *b, int way) {
  evalue v = evalue_from_none();
  uint64_t size = 0;
  switch (way) {
    case COPY: memcpy(b->output, b->input + HEAD, NBYTES); break;
    case DECODE: check(evalue_java_decode(b->input, HEAD + NBYTES, NULL, b->output, NBYTES, &v, NULL, NULL)); break;
    case IN_PLACE: check(evalue_java_decode_in_place(b->output, HEAD + NBYTES, NULL, &v, NULL, NULL)); break;
    default:
      v = evalue_from_tensor(&b->tensor);
      check(evalue_java_encode(&v, NULL, b->output, HEAD + NBYTES, &size, NULL));
      break;
  }
}

static double time_way(const bench *b, int way) {
  if (way == IN_PLACE) memcpy(b->output, b->input, HEAD + NBYTES);
  settle(b->input, b->output, HEAD + NBYTES);
  double start = now();
  run(b, way);
  double end = now();
  if (way == ENCODE && memcmp(b->output, b->input, HEAD + NBYTES) != 0) abort();
  return end - start;
}

static void bench_type(bench *b, uint32_t scalar_type) {
  static const char *const names[] = {"memcpy", "decode", "in place", "encode"};
  double times[WAYS][ROUNDS];
  int32_t sizes[] = {NBYTES / (int32_t)evalue_element_size(scalar_type)};
  uint8_t *decoded = malloc(NBYTES);
  if (decoded == NULL) abort();
  b->input[1] = (uint8_t)scalar_type; /* today the dtype codes are the same numbers */
  for (int i = 0; i < 4; i++) b->input[3 + i] = (uint8_t)(sizes[0] >> (24 - 8 * i));
  evalue v;
  check(evalue_java_decode(b->input, HEAD + NBYTES, NULL, decoded, NBYTES, &v, NULL, NULL));
  b->tensor = v.tensor;
  for (int round = -1; round < ROUNDS; round++) { /* the first one warms up */
    for (int k = 0; k < WAYS; k++) {
      int way = (k + round + 1) % WAYS;
      double t = time_way(b, way);
      if (round >= 0) times[way][round] = t;
    }
  }
  double copy = median(times[COPY]);
  printf("%s, 16 MiB\n", evalue_scalar_type_name(scalar_type));
  for (int way = 0; way < WAYS; way++) {
    double t = way == COPY ? copy : median(times[way]);
    printf("  %-8s  %7.3f ms   %.2f x memcpy's time\n", names[way], t * 1e3, t / copy);
  }
  free(decoded);
}

int main(void) {
  static const uint32_t types[] = {EVALUE_INT8, EVALUE_FLOAT16, EVALUE_FLOAT32, EVALUE_FLOAT64};
  bench b = {.input = malloc(HEAD + NBYTES), .output = malloc(HEAD + NBYTES)};
  if (b.input == NULL || b.output == NULL) return 2;
  for (size_t i = 0; i < HEAD + NBYTES; i++) b.input[i] = (uint8_t)(i * 7);
  memset(b.output, 1, HEAD + NBYTES);
  b.input[0] = EVALUE_TAG_TENSOR;
  b.input[2] = 1;
  printf("ExecuTorch's Java bytes, medians of %d interleaved rounds\n", ROUNDS);
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) bench_type(&b, types[i]);
  free(b.input);
  free(b.output);
  return 0;
}
