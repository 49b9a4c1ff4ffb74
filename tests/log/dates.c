/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs a line at each time that stdin names, in milliseconds since 1970: the clock is this program's. */
#include <stdio.h>
#include <time.h>

#include "evalue/log.h"

static long long milliseconds;

int clock_gettime(clockid_t clock, struct timespec *t) {
  (void)clock;
  t->tv_sec = (time_t)(milliseconds / 1000);
  t->tv_nsec = (long)(milliseconds % 1000) * 1000000 + 999999;
  return 0;
}

int main(void) {
  while (scanf("%lld", &milliseconds) == 1) EVALUE_LOG(&evalue_log_reader, EVALUE_LOG_ERROR, "%lld", milliseconds);
  return 0;
}
