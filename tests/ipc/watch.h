/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process has open and mapped. Makes its own system calls, so that a shim does not see them. */
#ifndef EVALUE_TESTS_IPC_WATCH_H
#define EVALUE_TESTS_IPC_WATCH_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_FDS = 320, MAPS_SIZE = 1 << 18 };

static inline unsigned count_descriptors(void) {
  unsigned n = 0;
  for (int fd = 0; fd < MOST_FDS; fd++) n += syscall(SYS_fcntl, fd, F_GETFD) >= 0;
  return n;
}

/* Counts mappings of shared memory, and all mapped kilobytes but those of the stack, which grows. */
static inline void count_mappings(unsigned *shared, unsigned long *kilobytes) {
  static char text[MAPS_SIZE];
  size_t size = 0;
  long n, fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
  *shared = 0;
  *kilobytes = 0;
  if (fd < 0) return; /* there may be no descriptor left */
  while ((n = syscall(SYS_read, fd, text + size, sizeof text - 1 - size)) > 0) size += (size_t)n;
  syscall(SYS_close, fd);
  text[size] = '\0';
  for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    unsigned long from, to;
    *end = '\0';
    if (sscanf(line, "%lx-%lx", &from, &to) != 2 || strstr(line, "[stack]") != NULL) continue;
    *kilobytes += (to - from) / 1024;
    *shared += strstr(line, "/memfd:") != NULL;
  }
}

#endif
