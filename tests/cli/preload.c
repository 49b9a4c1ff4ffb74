/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For LD_PRELOAD, in test_disk.py: writes down what is synced and renamed, and lets it fail. EVALUE_TEST_LOG is the
 * file for the notes; EVALUE_TEST_FAIL is what such a note has in it when the call has to fail, with EVALUE_TEST_ERRNO.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes a note; true when the call has to fail. */
static int note(const char *call, const char *what) {
  char line[5000];
  const char *log = getenv("EVALUE_TEST_LOG"), *fail = getenv("EVALUE_TEST_FAIL"),
             *number = getenv("EVALUE_TEST_ERRNO");
  snprintf(line, sizeof line, "%s %s", call, what);
  FILE *stream = log != NULL ? fopen(log, "a") : NULL;
  if (stream != NULL) {
    fprintf(stream, "%s\n", line);
    fclose(stream);
  }
  if (fail == NULL || strstr(line, fail) == NULL) return 0;
  errno = number != NULL ? atoi(number) : EIO;
  return 1;
}

int fsync(int fd) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, sizeof path - 1);
  path[size < 0 ? 0 : size] = '\0';
  return note("fsync", path) ? -1 : next(fd);
}

int rename(const char *from, const char *to) {
  int (*next)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  return note("rename", to) ? -1 : next(from, to);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
  int (*next)(int, const char *, int, const char *) =
      (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
  return note("renameat", to) ? -1 : next(from_fd, from, to_fd, to);
}
