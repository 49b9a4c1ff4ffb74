/* SPDX-License-Identifier: BSD-3-Clause */
/* Onto the disk: a file that is renamed before its bytes are there can be empty after a crash. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

int cli_sync(int fd) {
  int result;
  do {
    result = fsync(fd);
  } while (result != 0 && errno == EINTR);
  /* These say that there is nothing to wait for: not every file system can, and special files have no bytes to keep. */
  if (result == 0 || errno == EINVAL || errno == EROFS) return 0;
  return errno;
}

int cli_sync_parent(const char *path) {
  char *parent = strdup(path);
  if (parent == NULL) return ENOMEM;
  char *slash = strrchr(parent, '/');
  if (slash != NULL) slash[slash == parent ? 1 : 0] = '\0'; /* of "/x" it is "/" */
  int fd = open(slash != NULL ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int error = fd < 0 ? errno : cli_sync(fd);
  if (fd >= 0) close(fd);
  free(parent);
  return error == EACCES ? 0 : error; /* a directory that may be written and not read cannot be waited for */
}
