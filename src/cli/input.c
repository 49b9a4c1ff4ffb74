/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole file as bytes: regular files are mapped, everything else is read into memory once.
 *
 * A mapped file that another process cuts short raises SIGBUS where its pages are missing. The handler here puts zero
 * pages there and remembers it; whoever publishes something made from the file asks cli_input_ok first.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* ---- mapped files, as the handler sees them ---- */

enum { SLOT_COUNT = 8, NO_SLOT = -1 };

static struct {
  volatile uintptr_t start;
  volatile size_t size; /* 0: not used */
  volatile sig_atomic_t damaged;
} slots[SLOT_COUNT];

static uintptr_t page_size;

static void on_sigbus(int number, siginfo_t *info, void *context) {
  int saved = errno;
  (void)context;
  uintptr_t address = (uintptr_t)info->si_addr;
  for (int i = 0; i < SLOT_COUNT; i++) {
    if (address - slots[i].start >= slots[i].size) continue;
    uintptr_t offset = (address - slots[i].start) & ~(page_size - 1);
    void *page = (void *)(slots[i].start + offset);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    if (mmap(page, slots[i].size - offset, PROT_READ, flags, -1, 0) == MAP_FAILED) break;
    slots[i].damaged = 1;
    errno = saved;
    return;
  }
  signal(number, SIG_DFL); /* a real fault: it comes again at once, and ends the program */
  errno = saved;
}

static bool install_handler(void) {
  if (page_size != 0) return true;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_sigbus;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGBUS, &action, NULL) != 0) return false;
  page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
  return true;
}

/* Maps a regular file. False, without a message, when that is not possible: then it can still be read. */
static bool map(cli_input *input, int fd, size_t size) {
  int slot = 0;
  while (slot < SLOT_COUNT && slots[slot].size != 0) slot++;
  if (slot == SLOT_COUNT || !install_handler()) return false;
  void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return false;
  slots[slot].damaged = 0;
  slots[slot].start = (uintptr_t)data;
  slots[slot].size = size;
  input->data = data;
  input->size = size;
  input->fd = fd;
  input->slot = slot;
  return true;
}

/* ---- opening ---- */

/* Reads on until the end. */
static bool read_all(cli_input *input, int fd) {
  size_t capacity = 1 << 16;
  uint8_t *memory = malloc(capacity);
  size_t size = 0;
  while (memory != NULL) {
    ssize_t n = read(fd, memory + size, capacity - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      cli_message("%s: cannot read: %s", cli_input_name(input->name), strerror(errno));
      free(memory);
      return false;
    }
    if (n == 0) {
      input->memory = memory;
      input->data = memory;
      input->size = size;
      return true;
    }
    size += (size_t)n;
    if (size < capacity) continue;
    uint8_t *larger = capacity <= SIZE_MAX / 2 ? realloc(memory, capacity * 2) : NULL;
    if (larger == NULL) free(memory);
    memory = larger;
    capacity *= 2;
  }
  cli_message("%s: out of memory", cli_input_name(input->name));
  return false;
}

static int open_by_name(const char *name) {
  if (strcmp(name, "-") == 0) return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  return open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

bool cli_input_open(cli_input *input, const char *name) {
  memset(input, 0, sizeof *input);
  input->name = name;
  input->fd = -1;
  input->slot = NO_SLOT;
  int fd = open_by_name(name);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) {
    cli_message("%s: cannot open: %s", cli_input_name(name), strerror(errno));
    if (fd >= 0) close(fd);
    return false;
  }
  /* Files that do not know their size, as in /proc, say 0; and a shell may have read the beginning of stdin already. */
  bool whole = S_ISREG(status.st_mode) && status.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0;
  if (whole && (uintmax_t)status.st_size <= SIZE_MAX && map(input, fd, (size_t)status.st_size)) return true;
  bool good = read_all(input, fd);
  close(fd);
  return good;
}

bool cli_input_ok(const cli_input *input) {
  if (input->slot == NO_SLOT) return true;
  struct stat status;
  bool shrank = fstat(input->fd, &status) != 0 || (uintmax_t)status.st_size < input->size;
  if (!shrank && !slots[input->slot].damaged) return true;
  /* Pages can also be missing because the disk failed. */
  cli_message("%s: %s while it was read", cli_input_name(input->name),
              shrank ? "the file shrank" : "the file changed, or could not be read,");
  return false;
}

void cli_input_close(cli_input *input) {
  if (input->slot != NO_SLOT) {
    munmap((void *)slots[input->slot].start, input->size);
    slots[input->slot].size = 0;
    close(input->fd);
  }
  free(input->memory);
  memset(input, 0, sizeof *input);
  input->fd = -1;
  input->slot = NO_SLOT;
}

/* ---- reading ---- */

void cli_reader_init(evalue_reader *reader, const cli_input *input, cli_form form) {
  if (form == CLI_MESSAGE) {
    evalue_reader_init(reader, input->data, input->size, NULL);
  } else {
    evalue_reader_init_sequence(reader, input->data, input->size, NULL);
  }
}
