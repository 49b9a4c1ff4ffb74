/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A directory of value files that appears whole or not at all. A new one is made beside its place and then renamed. One
 * that exists stays, because it can be where a shell is, or where a file system is mounted: the files are made in a
 * directory inside it and then moved up.
 */
#include "directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const char *name, const char *what, int error) {
  cli_message("%s: %s: %s", name, what, strerror(error));
  return false;
}

/* ---- opening ---- */

static bool is_empty(const char *name) {
  DIR *stream = opendir(name);
  if (stream == NULL) return fail(name, "cannot open", errno);
  bool empty = true;
  for (struct dirent *entry; empty && (entry = readdir(stream)) != NULL;) {
    empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
  }
  closedir(stream);
  if (!empty) cli_message("%s: the directory is not empty", name);
  return empty;
}

static bool open_target(cli_directory *d, const struct stat *status) {
  if (!S_ISDIR(status->st_mode)) return fail(d->name, "cannot create", ENOTDIR);
  if (!is_empty(d->name)) return false;
  d->target_fd = open(d->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return d->target_fd >= 0 || fail(d->name, "cannot open", errno);
}

/* Finds out where the directory goes, and the path of the temporary one. */
static bool find_places(cli_directory *d, char **path) {
  struct stat status;
  int length = -1;
  *path = NULL;
  if (stat(d->name, &status) == 0) {
    if (!open_target(d, &status)) return false;
    length = asprintf(path, "%s/.evalue-XXXXXX", d->name);
  } else if (errno != ENOENT || d->name[0] == '\0') {
    return fail(d->name, "cannot create", errno);
  } else if ((d->target = strdup(d->name)) != NULL) {
    for (size_t n = strlen(d->target); n > 1 && d->target[n - 1] == '/'; n--) d->target[n - 1] = '\0';
    const char *slash = strrchr(d->target, '/');
    length = asprintf(path, "%.*s.evalue-XXXXXX", slash == NULL ? 0 : (int)(slash - d->target + 1), d->target);
    d->mode = cli_new_mode(0777);
  }
  if (length >= 0) return true;
  *path = NULL;
  return fail(d->name, "cannot create", ENOMEM);
}

/* Makes the temporary directory, and registers it for removal, as one step. */
static bool make_temporary(cli_directory *d, char *path) {
  cli_cleanup_block();
  int error = mkdtemp(path) != NULL ? 0 : errno;
  if (error == 0) {
    d->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d->fd < 0) {
      error = errno;
      rmdir(path);
    } else {
      d->temporary = path;
      cli_cleanup_directory(path, d->fd, &d->count);
    }
  }
  cli_cleanup_unblock();
  return error == 0 || fail(d->name, "cannot create", error);
}

bool cli_directory_open(cli_directory *d, const char *name) {
  char *path;
  memset(d, 0, sizeof *d);
  d->name = name;
  d->fd = d->target_fd = -1;
  if (!find_places(d, &path)) return false;
  if (make_temporary(d, path)) return true;
  free(path);
  return false;
}

int cli_directory_create(const cli_directory *d, const char *name) {
  int fd = openat(d->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) fail(name, "cannot create", errno);
  return fd;
}

/* ---- publishing ---- */

/* The i-th name that a file may have; the last is that of all values, so that it appears when the others are there. */
static void name_of(const cli_directory *d, uint64_t i, char name[CLI_VALUE_FILE_NAME_SIZE]) {
  if (i < d->count) cli_value_file_name(i, name);
  else memcpy(name, CLI_VALUES_FILE_NAME, sizeof CLI_VALUES_FILE_NAME);
}

/* Moves the files up; if that fails, none is left there. Returns 0, or what errno says. */
static int move_files(cli_directory *d) {
  char name[CLI_VALUE_FILE_NAME_SIZE];
  int error = 0;
  uint64_t i = 0;
  for (; i <= d->count && error == 0; i++) {
    name_of(d, i, name);
    if (renameat(d->fd, name, d->target_fd, name) != 0 && errno != ENOENT) error = errno;
  }
  if (error == 0 && rmdir(d->temporary) != 0) error = errno;
  if (error == 0) error = cli_sync(d->target_fd);
  while (error != 0 && i-- > 0) {
    struct stat status; /* what is still in the temporary directory was not moved */
    name_of(d, i, name);
    if (fstatat(d->fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0) unlinkat(d->target_fd, name, 0);
  }
  return error;
}

static int rename_directory(cli_directory *d) {
  int error = fchmod(d->fd, d->mode) == 0 ? 0 : errno;
  if (error == 0) error = cli_sync(d->fd);
  if (error == 0 && rename(d->temporary, d->target) != 0) error = errno;
  return error;
}

bool cli_directory_publish(cli_directory *d) {
  cli_cleanup_block();
  int error = d->target_fd >= 0 ? move_files(d) : rename_directory(d);
  if (error == 0) {
    cli_cleanup_forget();
    free(d->temporary);
    d->temporary = NULL;
  }
  cli_cleanup_unblock();
  if (error == 0 && d->target_fd < 0) error = cli_sync_parent(d->target);
  return error == 0 || fail(d->name, "cannot create", error);
}

void cli_directory_discard(cli_directory *d) {
  if (d->temporary != NULL) cli_cleanup_now();
  if (d->fd >= 0) close(d->fd);
  if (d->target_fd >= 0) close(d->target_fd);
  free(d->temporary);
  free(d->target);
}
