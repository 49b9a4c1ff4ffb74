/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For LD_PRELOAD, in test_sinks.py: stands between the library and libc where bytes go to files. SHIM_FAULTS is a list,
 * with commas, of CALL:N:ERRNO: the N-th call of that name fails; with N+ it and all later ones. ERRNO 0 means that the
 * program is killed there; CALL "any" counts all of them. SHIM_SHORT is how many bytes a writev takes at most. SHIM_LOG
 * gets a line for each call, and at the end one for each descriptor that is still open.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_FDS = 256, NAMES = 16 };

static bool is_open[MOST_FDS];

static void put_line(const char *line) {
  static int log_fd = -1;
  const char *path = getenv("SHIM_LOG");
  if (path == NULL) return;
  if (log_fd < 0) log_fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log_fd >= 0 && syscall(SYS_write, log_fd, line, strlen(line)) < 0) abort();
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

static int open_at(int directory, const char *path, int flags, mode_t mode) {
  if (fails("open", directory)) return -1;
  int fd = (int)syscall(SYS_openat, directory, path, flags, mode);
  if (fd >= 0 && fd < MOST_FDS) is_open[fd] = true;
  return fd;
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

__attribute__((destructor)) static void say_what_is_open(void) {
  for (int fd = 0; fd < MOST_FDS; fd++) {
    if (is_open[fd]) put_line("left open\n");
  }
}
