/* SPDX-License-Identifier: BSD-3-Clause */
/* File sinks by path: opened, appended to, or published whole by a rename. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "evalue/log.h"
#include "sink_file.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

enum { NEW_MODE = 0666 };

/* Refuses to start: the sink cannot be used, and says why. */
static evalue_status refuse(evalue_file_sink *s, int error) {
  memset(s, 0, sizeof *s);
  s->fd = s->directory = -1;
  evalue_status status = error == 0 ? EVALUE_MISUSE : evalue_file_fail(s, error);
  s->sink.status = (int32_t)status;
  return status;
}

/* Starts the sink on a descriptor that it will close; closes it when that fails. */
static evalue_status start(evalue_file_sink *s, int fd, const evalue_sink_options *options) {
  evalue_status status = evalue_file_start(s, fd, options);
  if (status == EVALUE_OK) s->owns_fd = 1;
  else close(fd);
  return status;
}

static evalue_status open_in_place(evalue_file_sink *s, const char *path, const evalue_sink_options *options) {
  bool is_append = options != NULL && options->append != 0;
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (is_append ? O_APPEND : O_TRUNC), NEW_MODE);
  if (fd < 0) return refuse(s, errno);
  evalue_status status = start(s, fd, options);
  if (status != EVALUE_OK || s->base < 0) return status;
  s->sink.used = s->in_file = (uint64_t)s->base; /* offsets are positions in the file */
  s->base = 0;
  return EVALUE_OK;
}

/* ---- publishing ---- */

/* Opens the directory that path lies in; *name is the end of path. -1, with errno set, on failure. */
static int open_directory(const char *path, const char **name) {
  char parent[PATH_MAX];
  const char *slash = strrchr(path, '/');
  *name = slash == NULL ? path : slash + 1;
  size_t size = (size_t)(*name - path);
  errno = **name == '\0' ? EISDIR : ENAMETOOLONG;
  if (**name == '\0' || size >= sizeof parent) return -1;
  memcpy(parent, path, size);
  parent[size] = '\0';
  return open(size == 0 ? "." : parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Creates a file that nobody else has; its name is in s->temporary. */
static int create_temporary(evalue_file_sink *s) {
  enum { TRIES = 100 };
  struct timespec now;
  for (int i = 0; i < TRIES; i++) {
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(s->temporary, sizeof s->temporary, ".evalue-%lx-%lx", (unsigned long)getpid() & 0xffffffUL,
             ((unsigned long)now.tv_nsec + (unsigned long)i) & 0xffffffffUL);
    int fd = openat(s->directory, s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, NEW_MODE);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

/* Gives the file the mode of what it will replace. */
static int take_mode(const evalue_file_sink *s) {
  struct stat target;
  if (fstatat(s->directory, s->name, &target, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : errno;
  if (S_ISDIR(target.st_mode)) return EISDIR;
  if (!S_ISREG(target.st_mode) && !S_ISLNK(target.st_mode)) return EINVAL; /* a device, a pipe: not to be replaced */
  return S_ISREG(target.st_mode) && fchmod(s->fd, target.st_mode & 0777) != 0 ? errno : 0;
}

static evalue_status open_to_publish(evalue_file_sink *s, const char *path, const evalue_sink_options *options) {
  const char *name;
  evalue_file_sink made = {.name = NULL};
  made.directory = open_directory(path, &name);
  if (made.directory < 0) return refuse(s, errno);
  made.name = name;
  made.fd = create_temporary(&made);
  int error = made.fd < 0 ? errno : take_mode(&made);
  evalue_status status = error == 0 ? start(s, made.fd, options) : refuse(s, error);
  if (status == EVALUE_OK) {
    s->directory = made.directory;
    s->name = name;
    memcpy(s->temporary, made.temporary, sizeof s->temporary);
    return EVALUE_OK;
  }
  if (error != 0 && made.fd >= 0) close(made.fd);
  if (made.fd >= 0) unlinkat(made.directory, made.temporary, 0);
  close(made.directory);
  return status;
}

evalue_status evalue_file_publish(evalue_file_sink *s, bool is_good) {
  evalue_status status = EVALUE_OK;
  if (is_good && renameat(s->directory, s->temporary, s->directory, s->name) != 0) {
    status = evalue_file_fail(s, errno);
    is_good = false;
  }
  if (!is_good) unlinkat(s->directory, s->temporary, 0);
  EVALUE_LOG(&evalue_log_sink, EVALUE_LOG_DEBUG, "%s: %s", s->name, is_good ? "published" : "not published");
  int error = is_good ? evalue_file_sync(s->directory) : 0;
  if (error != 0) status = evalue_file_fail(s, error);
  close(s->directory);
  s->directory = -1;
  return status;
}

evalue_status evalue_file_sink_open(evalue_file_sink *s, const char *path, const evalue_sink_options *options) {
  if (s == NULL) return EVALUE_MISUSE;
  if (path == NULL || path[0] == '\0' || !evalue_sink_options_are_good(options)) return refuse(s, 0);
  if (options == NULL || options->publish == 0) return open_in_place(s, path, options);
  return options->append == 0 ? open_to_publish(s, path, options) : refuse(s, 0);
}
