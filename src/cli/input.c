/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole file as bytes: regular files are mapped, everything else is read into memory once, as far as
 * it matters.
 *
 * A mapped file that another process cuts short raises SIGBUS where its pages are missing. The handler here puts zero
 * pages there and remembers it; whoever publishes something made from the file asks cli_input_ok first.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* ---- mapped files, as the handler sees them ---- */

enum { SLOT_COUNT = 8, NO_SLOT = -1, FIRST_SIZE = 1 << 16 };

static struct {
  uint8_t *volatile start;
  volatile size_t size; /* 0: not used */
  volatile sig_atomic_t damaged;
} slots[SLOT_COUNT];

static uintptr_t page_size;

static void on_sigbus(int number, siginfo_t *info, void *context) {
  int saved = errno;
  (void)context;
  uintptr_t address = (uintptr_t)info->si_addr;
  for (int i = 0; i < SLOT_COUNT; i++) {
    uintptr_t offset = address - (uintptr_t)slots[i].start;
    if (offset >= slots[i].size) continue;
    offset &= ~(page_size - 1);
    void *page = slots[i].start + offset;
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
  slots[slot].start = data;
  slots[slot].size = size;
  input->data = data;
  input->size = size;
  input->fd = fd;
  input->slot = slot;
  return true;
}

/* ---- opening ---- */

/* Doubles the memory, but to no more than what is needed. */
static bool grow(cli_input *input, size_t *capacity, uint64_t needed) {
  size_t larger = *capacity == 0 ? FIRST_SIZE : *capacity <= SIZE_MAX / 2 ? *capacity * 2 : SIZE_MAX;
  if (larger > needed) larger = (size_t)needed;
  uint8_t *memory = larger > *capacity ? realloc(input->memory, larger) : NULL;
  if (memory == NULL) {
    cli_message("%s: out of memory", cli_input_name(input->name));
    return false;
  }
  input->memory = memory;
  input->data = memory;
  *capacity = larger;
  return true;
}

ssize_t cli_read(int fd, void *data, size_t size) {
  for (;;) {
    ssize_t n = read(fd, data, size);
    if (n >= 0 || (errno != EINTR && errno != EAGAIN)) return n;
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    if (errno == EAGAIN) poll(&poll_fd, 1, -1);
  }
}

bool cli_has_shrunk(int fd, const char *name, uint64_t size) {
  struct stat status;
  if (size == 0 || fstat(fd, &status) != 0 || (uint64_t)status.st_size >= size) return false;
  cli_message("%s: the file shrank while it was read", cli_input_name(name));
  return true;
}

/*
 * Reads on, a piece at a time, until the end or until nothing that follows matters. That is judged when what was needed
 * is there, and before that whenever there is twice as much: so all that judging takes no longer than the last one.
 */
static bool read_pieces(cli_input *input, int fd, cli_needed *needed_by, const cli_format *format) {
  size_t capacity = 0;
  uint64_t needed = 0, judge_at = 0;
  for (;;) {
    if (input->size >= judge_at) {
      needed = needed_by(input->data, input->size, format);
      input->has_more = needed <= input->size;
      if (input->has_more) return true;
      judge_at = 2 * (uint64_t)input->size < needed ? 2 * (uint64_t)input->size : needed;
    }
    if (input->size == capacity && !grow(input, &capacity, needed)) return false;
    size_t room = capacity - input->size;
    if (room > needed - input->size) room = (size_t)(needed - input->size);
    ssize_t n = cli_read(fd, (uint8_t *)input->memory + input->size, room);
    if (n < 0) cli_message("%s: cannot read: %s", cli_input_name(input->name), strerror(errno));
    if (n <= 0) return n == 0;
    input->size += (size_t)n;
  }
}

int cli_open_by_name(const char *name) {
  if (strcmp(name, "-") == 0) return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  return open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

/* Fills the input from an open file, which it keeps when it maps it. */
static bool take(cli_input *input, int fd, const struct stat *status, cli_needed *needed, const cli_format *format) {
  /* Files that do not know their size, as in /proc, say 0; and a shell may have read the beginning of stdin already. */
  bool whole = S_ISREG(status->st_mode) && status->st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0;
  if (whole && (uintmax_t)status->st_size > SIZE_MAX) {
    cli_message("%s: cannot read: %ju bytes are more than this system can address", cli_input_name(input->name),
                (uintmax_t)status->st_size);
    close(fd);
    return false;
  }
  if (whole && map(input, fd, (size_t)status->st_size)) return true;
  bool good = read_pieces(input, fd, needed, format);
  if (good && S_ISREG(status->st_mode) && !input->has_more)
    good = !cli_has_shrunk(fd, input->name, (uint64_t)status->st_size);
  close(fd);
  if (!good) free(input->memory);
  return good;
}

/* Says what was opened: a file of values by the component of its form, another one by the command's own. */
static void log_opened(const cli_input *input, const cli_format *format) {
  const evalue_log_component *component = format == NULL             ? &evalue_log_cli
                                          : format->form == CLI_JAVA ? &evalue_log_executorch_java
                                                                     : &evalue_log_reader;
  EVALUE_LOG(component, EVALUE_LOG_DEBUG, "%s: %zu bytes%s%s", cli_input_name(input->name), input->size,
             format != NULL ? ", read as " : "", format != NULL ? cli_form_name(format->form) : "");
}

bool cli_input_open(cli_input *input, const char *name, cli_needed *needed, const cli_format *format) {
  static const uint8_t nothing[1];
  memset(input, 0, sizeof *input);
  input->name = name;
  input->data = nothing;
  input->fd = -1;
  input->slot = NO_SLOT;
  int fd = cli_open_by_name(name);
  struct stat status;
  if (fd >= 0 && fstat(fd, &status) == 0) {
    bool good = take(input, fd, &status, needed, format);
    if (good) log_opened(input, format);
    return good;
  }
  cli_message("%s: cannot open: %s", cli_input_name(name), strerror(errno));
  if (fd >= 0) close(fd);
  return false;
}

void cli_input_of_bytes(cli_input *input, const char *name, const uint8_t *data, size_t size) {
  *input = (cli_input){
      .name = name, .data = data, .size = size, .fd = -1, .slot = NO_SLOT, .form_option = "evalue convert --from"};
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
    munmap(slots[input->slot].start, input->size);
    slots[input->slot].size = 0;
    close(input->fd);
  }
  free(input->memory);
  memset(input, 0, sizeof *input);
  input->fd = -1;
  input->slot = NO_SLOT;
}
