/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines that are off, for test_log.py to count the instructions of: cost KIND TIMES. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalue/log.h"

void probe(long times, int *evaluated);
void probe_is_on(long times, int *evaluated);
void probe_copied(long times, int *evaluated);

static evalue_log_component mine = {.name = "mine"};

__attribute__((noinline)) void probe(long times, int *evaluated) {
  for (long i = 0; i < times; i++) EVALUE_LOG(&mine, EVALUE_LOG_INFO, "%d %ld", ++*evaluated, i);
}

__attribute__((noinline)) void probe_is_on(long times, int *evaluated) {
  for (long i = 0; i < times; i++) *evaluated += evalue_log_is_on(&evalue_log_reader, EVALUE_LOG_INFO);
}

__attribute__((noinline)) void probe_copied(long times, int *evaluated) {
  for (long i = 0; i < times; i++) EVALUE_LOG_COPIED(&evalue_log_reader, (uint64_t)++ * evaluated, "nobody asks");
}

int main(int argc, char **argv) {
  int evaluated = 0;
  if (argc != 3) return 2;
  long times = strtol(argv[2], NULL, 10);
  if (strcmp(argv[1], "registered") == 0 && evalue_log_register(&mine) != EVALUE_OK) return 2;
  if (strcmp(argv[1], "registered") == 0) probe(times, &evaluated);
  else if (strcmp(argv[1], "is_on") == 0) probe_is_on(times, &evaluated);
  else probe_copied(times, &evaluated);
  printf("%d\n", evaluated);
  return 0;
}
