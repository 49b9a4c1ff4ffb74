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

/* Finds out where the directory goes. */
static bool find_places(cli_directory *d) {
  struct stat status;
  if (stat(d->name, &status) == 0) return open_target(d, &status);
  if (errno != ENOENT || d->name[0] == '\0') return fail(d->name, "cannot create", errno);
  d->target = strdup(d->name);
  if (d->target == NULL) return fail(d->name, "cannot create", ENOMEM);
  for (size_t n = strlen(d->target); n > 1 && d->target[n - 1] == '/'; n--) d->target[n - 1] = '\0';
  d->mode = cli_new_mode(0777);
  d->parent = cli_open_parent(d->target, &d->target_name);
  return d->parent >= 0 || fail(d->name, "cannot create", errno);
}

/* Makes the temporary directory, and registers it for removal, as one step. */
static bool make_temporary(cli_directory *d) {
  int parent = d->target_fd >= 0 ? d->target_fd : d->parent;
  cli_cleanup_block();
  d->fd = cli_create_temporary(parent, true, d->temporary);
  int error = d->fd < 0 ? errno : 0;
  if (error == 0) cli_cleanup_directory(parent, d->temporary, d->fd, &d->count);
  cli_cleanup_unblock();
  return error == 0 || fail(d->name, "cannot create", error);
}

bool cli_directory_open(cli_directory *d, const char *name) {
  memset(d, 0, sizeof *d);
  d->name = name;
  d->fd = d->parent = d->target_fd = -1;
  return find_places(d) && make_temporary(d);
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

/* Moves a file up, never over one that somebody else has put there. Returns 0, or what errno says. */
static int move_file(const cli_directory *d, const char *name) {
  if (renameat2(d->fd, name, d->target_fd, name, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (linkat(d->fd, name, d->target_fd, name, 0) != 0) return errno; /* not every file system has the other */
  return unlinkat(d->fd, name, 0) == 0 ? 0 : errno;
}

/* Moves the files up, and notes in *moved, a bit for each, which. Returns 0, or what errno says. */
static int move_files(cli_directory *d, uint8_t *moved) {
  char name[CLI_VALUE_FILE_NAME_SIZE];
  for (uint64_t i = 0; i <= d->count; i++) {
    name_of(d, i, name);
    int error = move_file(d, name);
    if (error == 0) moved[i / 8] |= (uint8_t)(1 << i % 8);
    else if (error != ENOENT) return error;
  }
  if (unlinkat(d->target_fd, d->temporary, AT_REMOVEDIR) != 0) return errno;
  return cli_sync(d->target_fd);
}

/* Moves all files up or none. Returns 0, or what errno says. */
static int publish_files(cli_directory *d) {
  char name[CLI_VALUE_FILE_NAME_SIZE];
  uint8_t *moved = calloc((size_t)(d->count / 8) + 1, 1);
  if (moved == NULL) return ENOMEM;
  int error = move_files(d, moved);
  for (uint64_t i = 0; i <= d->count && error != 0; i++) {
    if ((moved[i / 8] >> i % 8 & 1) == 0) continue;
    name_of(d, i, name);
    unlinkat(d->target_fd, name, 0);
  }
  free(moved);
  return error;
}

static int rename_directory(cli_directory *d) {
  int error = fchmod(d->fd, d->mode) == 0 ? 0 : errno;
  if (error == 0) error = cli_sync(d->fd);
  if (error == 0 && renameat(d->parent, d->temporary, d->parent, d->target_name) != 0) error = errno;
  return error;
}

bool cli_directory_publish(cli_directory *d) {
  cli_cleanup_block();
  int error = d->target_fd >= 0 ? publish_files(d) : rename_directory(d);
  if (error == 0) {
    cli_cleanup_forget();
    d->temporary[0] = '\0';
  }
  cli_cleanup_unblock();
  if (error == 0 && d->target_fd < 0) error = cli_sync(d->parent);
  return error == 0 || fail(d->name, "cannot create", error);
}

void cli_directory_discard(cli_directory *d) {
  if (d->temporary[0] != '\0') cli_cleanup_now();
  if (d->parent >= 0) close(d->parent);
  if (d->fd >= 0) close(d->fd);
  if (d->target_fd >= 0) close(d->target_fd);
  free(d->target);
}
