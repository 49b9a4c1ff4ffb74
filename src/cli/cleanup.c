/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is removed when the program is interrupted: one temporary file, or one temporary directory with the files of
 * `unpack`; and one socket. The handler knows the files' names by their numbers, so it needs no memory and no directory
 * stream: everything here is safe in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* Whatever ends a program that does not look after it, but for faults of its own. */
static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGPIPE, SIGALRM,
                              SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2};
enum { SIGNAL_COUNT = sizeof signals / sizeof signals[0] };

static struct {
  const char *volatile name; /* NULL: nothing is registered */
  volatile int parent;       /* the directory that it lies in */
  volatile uint64_t *volatile count;
  volatile int fd; /* of the directory; -1: it is a file */
} registered = {NULL, -1, NULL, -1};

static const evalue_ipc_listener *volatile registered_socket; /* NULL: nothing is registered */

/* Others may have put another file in its place. */
static void remove_socket(void) {
  struct stat status;
  const evalue_ipc_listener *l = registered_socket;
  bool is_mine = l != NULL && lstat(l->path, &status) == 0 && (uint64_t)status.st_dev == l->device &&
                 (uint64_t)status.st_ino == l->inode;
  if (is_mine) unlink(l->path);
  registered_socket = NULL;
}

void cli_value_file_name(uint64_t index, char name[CLI_VALUE_FILE_NAME_SIZE]) {
  char digits[24];
  size_t n = 0;
  do {
    digits[n++] = (char)('0' + index % 10);
    index /= 10;
  } while (index != 0 || n < 4);
  for (size_t i = 0; i < n; i++) name[i] = digits[n - 1 - i];
  memcpy(name + n, ".npy", sizeof ".npy");
}

void cli_cleanup_now(void) {
  if (registered.name == NULL) return;
  if (registered.fd < 0) {
    unlinkat(registered.parent, registered.name, 0);
  } else {
    char name[CLI_VALUE_FILE_NAME_SIZE];
    for (uint64_t i = 0; i < *registered.count; i++) {
      cli_value_file_name(i, name);
      unlinkat(registered.fd, name, 0);
    }
    unlinkat(registered.fd, CLI_VALUES_FILE_NAME, 0);
    unlinkat(registered.parent, registered.name, AT_REMOVEDIR);
  }
  registered.name = NULL;
}

static void on_signal(int number) {
  cli_cleanup_now();
  remove_socket();
  signal(number, SIG_DFL);
  raise(number); /* takes effect when the handler returns: the parent sees how we ended */
}

static void install_handlers(void) {
  for (int i = 0; i < SIGNAL_COUNT; i++) {
    struct sigaction action;
    if (sigaction(signals[i], NULL, &action) != 0 || action.sa_handler != SIG_DFL)
      continue; /* nohup ignores SIGHUP: so do we */
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    sigaction(signals[i], &action, NULL);
  }
}

static sigset_t mask_before;

void cli_cleanup_block(void) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < SIGNAL_COUNT; i++) sigaddset(&set, signals[i]);
  sigprocmask(SIG_BLOCK, &set, &mask_before);
}

void cli_cleanup_unblock(void) {
  sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void cli_cleanup_file(int parent, const char *name) {
  registered.fd = -1;
  registered.parent = parent;
  registered.name = name;
  install_handlers();
}

void cli_cleanup_directory(int parent, const char *name, int fd, volatile uint64_t *count) {
  registered.fd = fd;
  registered.count = count;
  registered.parent = parent;
  registered.name = name;
  install_handlers();
}

void cli_cleanup_socket(const evalue_ipc_listener *listener) {
  registered_socket = listener;
  if (listener != NULL) install_handlers();
}

void cli_cleanup_forget(void) {
  registered.name = NULL;
}
