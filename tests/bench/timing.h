/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmarks share: a clock, and medians of interleaved rounds. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9 };

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double median(double *times) {
  qsort(times, ROUNDS, sizeof *times, compare_times);
  return times[ROUNDS / 2];
}

/* Leaves the caches alike before each measurement: what is left in them by the one before would decide otherwise. */
static inline void settle(const uint8_t *data, const uint8_t *to, size_t nbytes) {
  if (memcmp(to, data, nbytes) == 1000) abort();
}

#endif
