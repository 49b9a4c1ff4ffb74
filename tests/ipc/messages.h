/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages by number: both ends make message k by themselves, and so does peer.py, to compare. */
#ifndef EVALUE_TESTS_IPC_MESSAGES_H
#define EVALUE_TESTS_IPC_MESSAGES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalue/evalue.h"
#include "evalue/inline.h"
#include "evalue/ipc.h"

enum { MOST_VALUES = 7, MOST_DATA = 200000, PERIOD = 256 };

static uint8_t pattern[MOST_DATA + PERIOD];

static inline void fill_pattern(void) {
  for (size_t m = 0; m < sizeof pattern; m++) pattern[m] = (uint8_t)(m * 7);
}

static inline size_t data_size(uint32_t k) {
  static const uint32_t sizes[16] = {0, 1, 17, 300, 1000, 2000, 4000, 5000, 9000, 20000, 100, 40000, 3, 700, 64, 4096};
  return k % 32 == 31 ? MOST_DATA : sizes[k % 16];
}

/* Fills values, of MOST_VALUES; returns how many. Every 13th message has none. */
static inline size_t make_values(uint32_t k, evalue *values) {
  const uint8_t *data = pattern + k % PERIOD;
  int32_t one[1] = {(int32_t)data_size(k)}, two[2] = {3, (int32_t)(k % 5)};
  const uint8_t dim_order[2] = {1, 0};
  evalue_tensor a, b;
  if (k % 13 == 0) return 0;
  if (evalue_tensor_init(&a, EVALUE_UINT8, 1, one, data, data_size(k)) != EVALUE_OK) abort();
  if (evalue_tensor_init_dim_order(&b, EVALUE_INT16, 2, two, dim_order, data, 6 * (k % 5)) != EVALUE_OK) abort();
  values[0] = evalue_from_int(k);
  values[1] = evalue_from_string((const char *)data, k * 7 % 50);
  values[2] = evalue_from_tensor(&a);
  values[3] = evalue_from_tensor(&b);
  values[4] = evalue_from_bool(k % 2 != 0);
  values[5] = evalue_from_double(k / 2.0);
  values[6] = evalue_from_none();
  return MOST_VALUES;
}

static inline const char *name_of(evalue_status status) {
  return evalue_status_name((int32_t)status);
}

static inline void say(const char *line) {
  if (write(1, line, strlen(line)) < 0) _exit(3);
}

#define SAY(...)                                                                                                       \
  do {                                                                                                                 \
    char say_line[256];                                                                                                \
    snprintf(say_line, sizeof say_line, __VA_ARGS__);                                                                  \
    say(say_line);                                                                                                     \
  } while (0)

/* What must be so; otherwise the program ends at once. */
#define PROMISE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                                          \
      fflush(stderr);                                                                                                  \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
  } while (0)

#endif
