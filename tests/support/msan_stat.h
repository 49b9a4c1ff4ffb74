/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MemorySanitizer of clang 14 does not see that fstat and the like fill what they are given, since glibc 2.33 has them
 * as functions. With it a program that includes this header has its own, which do.
 */
#ifndef TESTS_MSAN_STAT_H
#define TESTS_MSAN_STAT_H

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int fstatat(int fd, const char *path, struct stat *status, int flags) {
  memset(status, 0, sizeof *status);
  return (int)syscall(SYS_newfstatat, fd, path, status, flags);
}

int fstat(int fd, struct stat *status) {
  return fstatat(fd, "", status, AT_EMPTY_PATH);
}

int stat(const char *path, struct stat *status) {
  return fstatat(AT_FDCWD, path, status, 0);
}

int lstat(const char *path, struct stat *status) {
  return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
#endif
#endif

#endif
