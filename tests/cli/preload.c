/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For LD_PRELOAD, in test_disk.py: writes down what is synced and renamed, and lets it fail. EVALUE_TEST_LOG is the
 * file for the notes; EVALUE_TEST_FAIL is what such a note has in it when the call has to fail, with EVALUE_TEST_ERRNO;
 * EVALUE_TEST_CREATE is a file that somebody else creates before the first of these calls.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
  const char *path = getenv("EVALUE_TEST_CREATE");
  stream = path != NULL ? fopen(path, "wx") : NULL;
  if (stream != NULL) {
    fputs("theirs", stream);
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

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
  int (*next)(int, const char *, int, const char *) =
      (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
  return note("renameat", to) ? -1 : next(from_fd, from, to_fd, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
  int (*next)(int, const char *, int, const char *, unsigned) =
      (int (*)(int, const char *, int, const char *, unsigned))dlsym(RTLD_NEXT, "renameat2");
  return note("renameat2", to) ? -1 : next(from_fd, from, to_fd, to, flags);
}

/* EVALUE_TEST_NO_MAP stands for a file system that cannot map files. */
void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset) {
  void *(*next)(void *, size_t, int, int, int, off64_t) =
      (void *(*)(void *, size_t, int, int, int, off64_t))dlsym(RTLD_NEXT, "mmap64");
  if (fd < 0 || getenv("EVALUE_TEST_NO_MAP") == NULL) return next(address, size, protection, flags, fd, offset);
  errno = ENODEV;
  return MAP_FAILED;
}

/* EVALUE_TEST_CUT is a file that is cut after its first 9000 bytes as soon as these are read. */
ssize_t read(int fd, void *data, size_t size) {
  enum { LEFT = 9000 };
  ssize_t (*next)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
  const char *path = getenv("EVALUE_TEST_CUT");
  struct stat status, other;
  bool is_cut = path != NULL && stat(path, &status) == 0 && fstat(fd, &other) == 0 && status.st_ino == other.st_ino;
  ssize_t n = next(fd, data, is_cut && size > LEFT ? LEFT : size);
  if (is_cut && truncate(path, LEFT) != 0) abort();
  return n;
}
