/* SPDX-License-Identifier: BSD-3-Clause */
/* Onto the disk: a file that is renamed before its bytes are there can be empty after a crash. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli.h"

int cli_sync(int fd) {
  int result;
  do {
    result = fsync(fd);
  } while (result != 0 && errno == EINTR);
  /* These say that there is nothing to wait for: not every file system can, and special files have no bytes to keep. */
  if (result == 0 || errno == EINVAL || errno == EROFS) return 0;
  if (errno == EBADF && (fcntl(fd, F_GETFL) & O_PATH) != 0) return 0; /* a directory that may not be read */
  return errno;
}
