/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the shims share: they stand between the library and libc, by LD_PRELOAD. SHIM_FAULTS is a list, with commas, of
 * CALL:N:ERRNO: the N-th call of that name fails; with N+ it and all later ones. ERRNO 0 means that the program is
 * killed there; CALL "any" counts all of them. SHIM_LOG gets a line for each call, and at the end one for each
 * descriptor that is still open.
 */
#ifndef EVALUE_TESTS_FAULTS_SHIM_H
#define EVALUE_TESTS_FAULTS_SHIM_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_FDS = 256, NAMES = 32 };

static bool is_open[MOST_FDS];

static void put_line(const char *line) {
  static int log_fd = -1;
  const char *path = getenv("SHIM_LOG");
  if (path == NULL) return;
  if (log_fd < 0) log_fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log_fd >= 0 && syscall(SYS_write, log_fd, line, strlen(line)) < 0) abort();
}

/* Before the program counts its descriptors. */
__attribute__((constructor)) static void open_log(void) {
  put_line("");
}

static long count_of(const char *name) {
  static struct {
    const char *name;
    long count;
  } counts[NAMES];
  int i = 0;
  while (counts[i].name != NULL && strcmp(counts[i].name, name) != 0) i++;
  if (i == NAMES - 1) abort();
  counts[i].name = name;
  return ++counts[i].count;
}

/* Notes a call; true, with errno set, when it has to fail. */
static bool fails(const char *name, int fd) {
  char line[64];
  long mine = count_of(name), all = count_of("any");
  snprintf(line, sizeof line, "%s %d\n", name, fd);
  const char *faults = getenv("SHIM_FAULTS");
  for (const char *p = faults; p != NULL && *p != '\0';) {
    char call[32], plus[2] = "";
    long n;
    int number;
    if (sscanf(p, "%31[^:]:%ld%1[+]:%d", call, &n, plus, &number) != 4) {
      plus[0] = '\0';
      if (sscanf(p, "%31[^:]:%ld:%d", call, &n, &number) != 3) abort();
    }
    bool is_any = strcmp(call, "any") == 0;
    long count = is_any ? all : mine;
    if ((is_any || strcmp(call, name) == 0) && (count == n || (plus[0] != '\0' && count > n))) {
      if (number == 0) kill(getpid(), SIGKILL);
      put_line("failing ");
      put_line(line);
      errno = number;
      return true;
    }
    p = strchr(p, ',');
    p += p != NULL ? 1 : 0;
  }
  put_line(line);
  return false;
}

/* Notes a descriptor that the system has made. */
static int opened(int fd) {
  if (fd >= 0 && fd < MOST_FDS) is_open[fd] = true;
  return fd;
}

/* It is closed even when it fails, as on Linux. */
int close(int fd) {
  bool is_bad = fails("close", fd);
  int error = errno;
  if (fd >= 0 && fd < MOST_FDS) {
    if (!is_open[fd]) put_line("closed what was not open\n");
    is_open[fd] = false;
  }
  int result = (int)syscall(SYS_close, fd);
  if (is_bad) errno = error;
  return is_bad ? -1 : result;
}

__attribute__((destructor)) static void say_what_is_open(void) {
  for (int fd = 0; fd < MOST_FDS; fd++) {
    if (is_open[fd]) put_line("left open\n");
  }
}

#endif
