/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory that a new file appears in. It is held by a descriptor, so what is made there is found again when
 * somebody renames it or one above it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

int cli_open_parent(const char *path, const char **name) {
  const char *slash = strrchr(path, '/');
  char *parent = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
  if (parent == NULL) return -1;
  *name = slash == NULL ? path : slash + 1;
  int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == EACCES) fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC); /* it may be written, not read */
  int error = errno;
  free(parent);
  errno = error;
  return fd;
}

/* Fills in a name that nobody can guess. */
static bool choose_name(char name[CLI_TEMPORARY_SIZE]) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
  enum { CHOSEN = 6 };
  uint8_t random[CHOSEN];
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
  memcpy(name, ".evalue-", CLI_TEMPORARY_SIZE - CHOSEN - 1);
  for (size_t i = 0; i < CHOSEN; i++) name[CLI_TEMPORARY_SIZE - CHOSEN - 1 + i] = letters[random[i] % 32];
  name[CLI_TEMPORARY_SIZE - 1] = '\0';
  return true;
}

int cli_create_temporary(int parent, bool is_directory, char name[CLI_TEMPORARY_SIZE]) {
  enum { TRIES = 100 };
  for (int i = 0; i < TRIES && choose_name(name); i++) {
    bool is_made = is_directory && mkdirat(parent, name, S_IRWXU) == 0;
    int flags = is_directory ? O_RDONLY | O_DIRECTORY | O_CLOEXEC : O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    int fd = is_directory && !is_made ? -1 : openat(parent, name, flags, S_IRUSR | S_IWUSR);
    if (fd >= 0) return fd;
    int error = errno;
    if (is_made) unlinkat(parent, name, AT_REMOVEDIR);
    errno = error;
    if (errno != EEXIST) break;
  }
  name[0] = '\0';
  return -1;
}
