/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that appears whole or not at all. Regular targets: a temporary file in the same directory, renamed over the
 * target. Stdout (under any name), pipes and devices cannot be replaced: an unnamed temporary file, copied when it is
 * complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

_Static_assert(sizeof(off_t) >= 8, "files may be larger than 2 GiB: compile with -D_FILE_OFFSET_BITS=64");

enum { BUFFER_SIZE = 1 << 16, WRITE_SIZE = 1 << 20, PAGE = 4096 };

struct cli_output {
  const char *name;
  char *target;                       /* what to replace; NULL: the bytes are copied to name */
  int parent;                         /* the directory that target lies in; -1 when there is no target */
  const char *target_name;            /* its name there */
  char temporary[CLI_TEMPORARY_SIZE]; /* the name of fd's file there; empty when it has none */
  int stream;                         /* the standard descriptor that name is; -1: none */
  mode_t mode;
  bool is_old; /* the target is there already, and has an owner: */
  uid_t user;
  gid_t group;
  int fd;
  bool failed;
  size_t buffered;
  uint8_t buffer[BUFFER_SIZE]; /* values are small, system calls are not */
};

mode_t cli_new_mode(mode_t wanted) {
  mode_t mask = umask(0);
  umask(mask);
  return wanted & ~mask;
}

/* ---- writing ---- */

/*
 * Where a mapped input has lost its pages, write() fails instead of raising SIGBUS. Reading the bytes ourselves raises
 * it, and the handler in input.c puts zero pages there.
 */
static void touch(const uint8_t *data, size_t size) {
  const volatile uint8_t *bytes = data;
  for (size_t i = 0; i < size; i += PAGE) (void)bytes[i];
  (void)bytes[size - 1];
}

ssize_t cli_write(int fd, const void *data, size_t size) {
  for (;;) {
    ssize_t n = write(fd, data, size);
    if (n >= 0 || (errno != EINTR && errno != EAGAIN)) return n;
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    if (errno == EAGAIN) poll(&poll_fd, 1, -1);
  }
}

bool cli_write_all(int fd, const char *name, const void *data, size_t size) {
  const uint8_t *p = data;
  bool touched = false;
  while (size > 0) {
    size_t part = size < WRITE_SIZE ? size : WRITE_SIZE;
    ssize_t n = cli_write(fd, p, part);
    if (n > 0) {
      p += n;
      size -= (size_t)n;
      touched = false;
    } else if (n < 0 && errno == EFAULT && !touched) {
      touch(p, part);
      touched = true;
    } else {
      cli_message("%s: cannot write: %s", name, n == 0 ? "no bytes were taken" : strerror(errno));
      return false;
    }
  }
  return true;
}

static const char *place(const cli_output *output) {
  return output->target != NULL ? output->name : "temporary file in TMPDIR";
}

static bool flush(cli_output *output) {
  size_t size = output->buffered;
  output->buffered = 0;
  if (!output->failed && !cli_write_all(output->fd, place(output), output->buffer, size)) output->failed = true;
  return !output->failed;
}

bool cli_output_write(cli_output *output, const void *data, size_t size) {
  if (size > BUFFER_SIZE - output->buffered && !flush(output)) return false;
  if (output->failed) return false;
  if (size < BUFFER_SIZE) {
    evalue_copy_bytes(output->buffer + output->buffered, data, size);
    output->buffered += size;
  } else if (!cli_write_all(output->fd, place(output), data, size)) {
    output->failed = true;
  }
  return !output->failed;
}

static bool seek(cli_output *output, off_t position, int whence) {
  if (lseek(output->fd, position, whence) >= 0) return true;
  cli_message("%s: cannot write: %s", place(output), strerror(errno));
  output->failed = true;
  return false;
}

bool cli_output_write_at(cli_output *output, uint64_t position, const void *data, size_t size) {
  if (!flush(output) || !seek(output, (off_t)position, SEEK_SET)) return false;
  if (!cli_write_all(output->fd, place(output), data, size)) {
    output->failed = true;
    return false;
  }
  return seek(output, 0, SEEK_END);
}

/* ---- opening ---- */

static void fail(const char *name, const char *what, int error) {
  cli_message("%s: %s: %s", cli_output_name(name), what, strerror(error));
}

/* An unnamed file. */
static bool open_spool(cli_output *output) {
  const char *directory = getenv("TMPDIR");
  if (directory == NULL || directory[0] == '\0') directory = "/tmp";
  output->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (output->fd >= 0) return true;
  char *path; /* not every file system has O_TMPFILE */
  if (asprintf(&path, "%s/evalue-XXXXXX", directory) < 0) {
    fail(directory, "cannot create a temporary file", ENOMEM);
    return false;
  }
  output->fd = mkostemp(path, O_CLOEXEC);
  if (output->fd >= 0) {
    unlink(path);
  } else {
    fail(directory, "cannot create a temporary file", errno);
  }
  free(path);
  return output->fd >= 0;
}

/* A file beside the target. */
static bool open_beside(cli_output *output) {
  output->parent = cli_open_parent(output->target, &output->target_name);
  int error = output->parent < 0 ? errno : 0;
  cli_cleanup_block();
  if (error == 0) output->fd = cli_create_temporary(output->parent, false, output->temporary);
  if (error == 0 && output->fd < 0) error = errno;
  if (output->fd >= 0) cli_cleanup_file(output->parent, output->temporary);
  cli_cleanup_unblock();
  if (error != 0) fail(output->name, "cannot create", error);
  return error == 0;
}

/* The standard descriptor that can write to what status is of; -1: none. It has a place in the file that others may
 * count on, so the file stays. */
static int find_stream(const struct stat *status) {
  struct stat other;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &other) != 0) continue;
    if (other.st_dev == status->st_dev && other.st_ino == status->st_ino) return fd;
  }
  return -1;
}

/* Says, as far as that can be known before, whether the bytes can be copied there when they are complete. */
static bool can_be_copied(const cli_output *output, const struct stat *status) {
  const char *name = cli_output_name(output->name);
  int fd = output->stream, error = 0;
  if (fd >= 0) error = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY ? EBADF : 0;
  else if (S_ISSOCK(status->st_mode)) error = ENXIO;
  else if (S_ISCHR(status->st_mode)) fd = open(output->name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (error == 0 && fd < 0 && S_ISCHR(status->st_mode)) error = errno;
  bool is_terminal = error == 0 && fd >= 0 && isatty(fd);
  if (fd >= 0 && fd != output->stream) close(fd);
  if (is_terminal) cli_message("%s is a terminal, and the output is binary", name);
  else if (error != 0) fail(output->name, "cannot write", error);
  return error == 0 && !is_terminal;
}

/* Something that is there already. */
static bool open_old(cli_output *output, const struct stat *status) {
  if (S_ISDIR(status->st_mode) || (S_ISREG(status->st_mode) && access(output->name, W_OK) != 0)) {
    fail(output->name, "cannot write", S_ISDIR(status->st_mode) ? EISDIR : errno);
    return false;
  }
  output->stream = find_stream(status);
  if (!S_ISREG(status->st_mode) || output->stream >= 0) return can_be_copied(output, status) && open_spool(output);
  output->mode = status->st_mode & 0777;
  output->is_old = true;
  output->user = status->st_uid;
  output->group = status->st_gid;
  output->target = realpath(output->name, NULL); /* a link stays; what it points to is replaced */
  if (output->target != NULL) return open_beside(output);
  fail(output->name, "cannot write", errno);
  return false;
}

/* What a link points to, as a path from here; NULL, with errno set, when path is no link. */
static char *follow(const char *path) {
  char text[PATH_MAX], *target;
  ssize_t size = readlink(path, text, sizeof text - 1);
  if (size < 0) return NULL;
  text[size] = '\0';
  const char *slash = text[0] == '/' ? NULL : strrchr(path, '/');
  if (asprintf(&target, "%.*s%s", slash == NULL ? 0 : (int)(slash - path + 1), path, text) >= 0) return target;
  errno = ENOMEM;
  return NULL;
}

/* Something new: name or, where that is a link to nothing, what it points to. */
static bool open_new(cli_output *output) {
  enum { MOST_LINKS = 40 };
  output->mode = cli_new_mode(0666);
  output->target = strdup(output->name);
  int error = output->target == NULL ? ENOMEM : 0;
  for (int links = 0; error == 0; links++) {
    char *next = follow(output->target);
    if (next == NULL && (errno == EINVAL || errno == ENOENT)) return open_beside(output);
    error = next == NULL ? errno : links == MOST_LINKS ? ELOOP : 0;
    free(output->target);
    output->target = next;
  }
  fail(output->name, "cannot create", error);
  return false;
}

/* Finds out what name is, and opens the temporary file that suits it. */
static bool open_for(cli_output *output) {
  struct stat status = {0};
  if (strcmp(output->name, "-") == 0) {
    output->stream = STDOUT_FILENO;
    if (!isatty(STDOUT_FILENO)) return can_be_copied(output, &status) && open_spool(output);
    cli_message("stdout is a terminal, and the output is binary: use -o FILE, or a pipe");
    return false;
  }
  if (stat(output->name, &status) == 0) return open_old(output, &status);
  if (errno == ENOENT && output->name[0] != '\0') return open_new(output);
  fail(output->name, "cannot create", errno);
  return false;
}

cli_output *cli_output_open(const char *name) {
  cli_output *output = calloc(1, sizeof *output);
  if (output == NULL) {
    fail(name, "cannot create", ENOMEM);
    return NULL;
  }
  output->name = name;
  output->fd = output->parent = output->stream = -1;
  if (open_for(output)) return output;
  cli_output_discard(output);
  return NULL;
}

/* ---- publishing ---- */

/* Gives the file the owner and the mode of what it replaces. Only root can give files away: others keep them. Returns
 * 0, or what errno says. */
static int take_over(const cli_output *output) {
  bool is_given = !output->is_old || fchown(output->fd, output->user, output->group) == 0;
  if (!is_given && errno != EPERM && errno != EINVAL) return errno;
  if (!is_given) (void)!fchown(output->fd, (uid_t)-1, output->group);
  return fchmod(output->fd, output->mode) == 0 ? 0 : errno;
}

static bool rename_to_target(cli_output *output) {
  int error = take_over(output);
  if (error == 0) error = cli_sync(output->fd);
  if (close(output->fd) != 0 && error == 0) error = errno;
  output->fd = -1;
  cli_cleanup_block();
  if (error == 0 && renameat(output->parent, output->temporary, output->parent, output->target_name) != 0)
    error = errno;
  if (error == 0) {
    cli_cleanup_forget();
    output->temporary[0] = '\0';
  }
  cli_cleanup_unblock();
  if (error == 0) error = cli_sync(output->parent);
  if (error != 0) fail(output->name, "cannot write", error);
  return error == 0;
}

static bool copy_to(cli_output *output, int fd) {
  const char *name = cli_output_name(output->name);
  if (lseek(output->fd, 0, SEEK_SET) < 0) {
    fail(output->name, "cannot rewind the temporary file", errno);
    return false;
  }
  for (;;) {
    ssize_t n = read(output->fd, output->buffer, sizeof output->buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      fail(output->name, "cannot read the temporary file", errno);
      return false;
    }
    if (n == 0) return true;
    if (!cli_write_all(fd, name, output->buffer, (size_t)n)) return false;
  }
}

static bool copy_to_name(cli_output *output) {
  int fd = output->stream >= 0 ? fcntl(output->stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                               : open(output->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) {
    fail(output->name, "cannot open", errno);
    return false;
  }
  bool good = !isatty(fd);
  if (!good) cli_message("%s is a terminal, and the output is binary", cli_output_name(output->name));
  good = good && copy_to(output, fd);
  int error = good && output->stream < 0 ? cli_sync(fd) : 0;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error != 0 && good) fail(output->name, "cannot write", error);
  return good && error == 0;
}

bool cli_output_commit(cli_output *output) {
  bool good = flush(output) && (output->target != NULL ? rename_to_target(output) : copy_to_name(output));
  cli_output_discard(output);
  return good;
}

void cli_output_discard(cli_output *output) {
  if (output == NULL) return;
  if (output->fd >= 0) close(output->fd);
  if (output->temporary[0] != '\0') cli_cleanup_now();
  if (output->parent >= 0) close(output->parent);
  free(output->target);
  free(output);
}
