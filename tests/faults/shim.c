/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For LD_PRELOAD, in test_sinks.py: the calls by which bytes go to files (shim.h). SHIM_SHORT is how many bytes a
 * writev takes at most.
 */
#include <stdarg.h>
#include <sys/uio.h>

#include "shim.h"

static void *next_of(const char *name) {
  void *next = dlsym(RTLD_NEXT, name);
  if (next == NULL) abort();
  return next;
}

ssize_t writev(int fd, const struct iovec *list, int count) {
  if (fails("writev", fd)) return -1;
  const char *most = getenv("SHIM_SHORT");
  size_t left = most != NULL ? (size_t)atol(most) : 0;
  if (left == 0) return syscall(SYS_writev, fd, list, count);
  struct iovec some[64];
  int used = 0;
  for (; used < count && used < 64 && left > 0; used++) {
    some[used] = list[used];
    if (some[used].iov_len > left) some[used].iov_len = left;
    left -= some[used].iov_len;
  }
  return syscall(SYS_writev, fd, some, used);
}

int fsync(int fd) {
  return fails("fsync", fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

static int cut(int fd, off_t size) {
  return fails("ftruncate", fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate(int fd, off_t size) {
  return cut(fd, size);
}

int ftruncate64(int fd, off64_t size) {
  return cut(fd, size);
}

off_t lseek(int fd, off_t offset, int whence) {
  return fails("lseek", fd) ? -1 : syscall(SYS_lseek, fd, offset, whence);
}

off64_t lseek64(int fd, off64_t offset, int whence) {
  return fails("lseek", fd) ? -1 : syscall(SYS_lseek, fd, offset, whence);
}

int fchmod(int fd, mode_t mode) {
  return fails("fchmod", fd) ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
  if (fails("renameat", from_fd)) return -1;
  int (*next)(int, const char *, int, const char *) =
      (int (*)(int, const char *, int, const char *))next_of("renameat");
  return next(from_fd, from, to_fd, to);
}

int unlinkat(int fd, const char *path, int flags) {
  return fails("unlinkat", fd) ? -1 : (int)syscall(SYS_unlinkat, fd, path, flags);
}

static int open_at(int directory, const char *path, int flags, mode_t mode) {
  if (fails("open", directory)) return -1;
  return opened((int)syscall(SYS_openat, directory, path, flags, mode));
}

#define OPEN(name, directory, ...)                                                                                     \
  int name(__VA_ARGS__, const char *path, int flags, ...) {                                                            \
    va_list list;                                                                                                      \
    va_start(list, flags);                                                                                             \
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;                                                   \
    va_end(list);                                                                                                      \
    return open_at(directory, path, flags, mode);                                                                      \
  }

OPEN(openat, directory, int directory)
OPEN(openat64, directory, int directory)

#undef OPEN
#define OPEN(name)                                                                                                     \
  int name(const char *path, int flags, ...) {                                                                         \
    va_list list;                                                                                                      \
    va_start(list, flags);                                                                                             \
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;                                                   \
    va_end(list);                                                                                                      \
    return open_at(AT_FDCWD, path, flags, mode);                                                                       \
  }

OPEN(open)
OPEN(open64)
