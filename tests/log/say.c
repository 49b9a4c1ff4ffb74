/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does what its arguments say, one after the other, so that test_log.py can look at a process from outside: what it
 * writes, and what the environment does. What it finds out goes to stdout.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalue/evalue.h"
#include "evalue/log.h"

enum { MINE = 8 };

static evalue_log_component *const library[] = {
#define EVALUE_X(name) &evalue_log_##name,
    EVALUE_LOG_COMPONENT_TABLE(EVALUE_X) EVALUE_LOG_DIAGNOSTIC_TABLE(EVALUE_X)
#undef EVALUE_X
};
static evalue_log_component mine[MINE];

static evalue_log_component *component_of(const char *name) {
  for (size_t i = 0; i < sizeof library / sizeof library[0]; i++) {
    if (strcmp(library[i]->name, name) == 0) return library[i];
  }
  size_t i = 0;
  while (i < MINE - 1 && mine[i].name != NULL && strcmp(mine[i].name, name) != 0) i++;
  mine[i].name = name;
  return &mine[i];
}

static void say_levels(void) {
  for (size_t i = 0; i < sizeof library / sizeof library[0] + MINE; i++) {
    const size_t n = sizeof library / sizeof library[0];
    const evalue_log_component *c = i < n ? library[i] : &mine[i - n];
    int32_t level = EVALUE_LOG_DEBUG;
    if (c->name == NULL) break;
    while (level < EVALUE_LOG_NONE && !evalue_log_is_on(c, level)) level++;
    putchar("DIWEN"[level - 1]);
  }
  putchar('\n');
}

static size_t from_hex(const char *hex, char *bytes, size_t capacity) {
  size_t n = 0;
  for (; n + 1 < capacity && hex[2 * n] != '\0'; n++) {
    unsigned byte = 0;
    sscanf(hex + 2 * n, "%2x", &byte);
    bytes[n] = (char)(unsigned char)byte;
  }
  bytes[n] = '\0';
  return n;
}

/* ---- threads ---- */

static int lines;
static bool is_staggered; /* the first thread alone, the others a while later */
static pthread_barrier_t together;

static void *log_lines(void *number) {
  static const char filler[] = "0123456789012345678901234567890123456789012345678901234567890123456789";
  pthread_barrier_wait(&together);
  if (is_staggered && *(int *)number != 0) usleep(100000);
  for (int i = 0; i < lines; i++) {
    EVALUE_LOG(&evalue_log_ipc, EVALUE_LOG_INFO, "process %ld thread %d line %d %.*s end", (long)getpid(),
               *(int *)number, i, i % 70, filler);
  }
  return NULL;
}

static void log_from_threads(int threads, int of_each) {
  pthread_t ids[16];
  int numbers[16];
  lines = of_each;
  pthread_barrier_init(&together, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++) {
    numbers[i] = i;
    if (pthread_create(&ids[i], NULL, log_lines, &numbers[i]) != 0) abort();
  }
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
}

/* ---- a handler ---- */

static void print_record(void *prefix, const evalue_log_record *r) {
  printf("%s|%s|%s|%s|%d|%d|%s\n", (const char *)prefix, r->component, r->diagnostic != NULL ? r->diagnostic : "",
         r->file, (int)r->level, (int)r->status, r->message);
}

static char prefix[] = "handler";
static const evalue_log_handler handler = {print_record, prefix};

/* Logs from inside a handler. */
static void log_again(void *context, const evalue_log_record *record) {
  EVALUE_LOG(&evalue_log_reader, EVALUE_LOG_ERROR, "again: %s", record->message);
  (void)context;
}

static const evalue_log_handler logging_handler = {log_again, NULL};

/* Closes all descriptors from one on, or opens a file on each of them up to 120. */
static bool do_descriptors(const char *verb, const char *rest) {
  enum { MOST = 120, FIRST = 3 };
  if (strcmp(verb, "close") == 0) {
    for (int fd = (int)strtol(rest, NULL, 10); fd <= MOST; fd++) close(fd);
    return true;
  }
  if (strcmp(verb, "open") != 0) return false;
  int fd = open(rest, O_WRONLY | O_CREAT | O_APPEND, 0666);
  for (int other = FIRST; other <= MOST; other++) {
    if (other != fd && dup2(fd, other) < 0) abort();
  }
  return true;
}

/* ---- one argument ---- */

static void do_one(char *argument) {
  char *verb = argument, *rest = strchr(argument, '=');
  char text[1200] = "", bytes[4000];
  if (rest != NULL) *rest++ = '\0';
  else rest = argument + strlen(argument);
  if (do_descriptors(verb, rest)) return;
  if (strcmp(verb, "configure") == 0 || strcmp(verb, "override") == 0) {
    evalue_status (*call)(const char *, char *, size_t) = verb[0] == 'c' ? evalue_log_configure : evalue_log_override;
    evalue_status status = call(rest, text, sizeof text);
    printf("%s|%s\n", evalue_status_name((int32_t)status), text);
  } else if (strcmp(verb, "register") == 0) {
    printf("%s\n", evalue_status_name((int32_t)evalue_log_register(component_of(rest))));
  } else if (strcmp(verb, "levels") == 0) {
    say_levels();
  } else if (strcmp(verb, "handler") == 0) {
    const evalue_log_handler *other = strcmp(rest, "logging") == 0 ? &logging_handler : NULL;
    evalue_log_set_handler(rest[0] != '\0' ? other : &handler);
  } else if (strcmp(verb, "threads") == 0 || strcmp(verb, "staggered") == 0) {
    is_staggered = verb[0] == 's';
    int threads = 0, of_each = 0;
    sscanf(rest, "%dx%d", &threads, &of_each);
    log_from_threads(threads, of_each);
  } else if (strcmp(verb, "rejected") == 0) { /* bytes in hex */
    evalue_error error;
    uint64_t n;
    evalue decoded[8];
    size_t size = from_hex(rest, bytes, sizeof bytes);
    if (evalue_message_decode(bytes, size, NULL, decoded, 8, &n, &error) == EVALUE_OK) abort();
    EVALUE_LOG_REJECTED(&evalue_log_reader, &error, bytes, size);
  } else if (strcmp(verb, "copied") == 0) {
    EVALUE_LOG_COPIED(&evalue_log_sink, 4096, rest);
  } else if (strcmp(verb, "status") == 0) { /* a number: of whom there is no name, too */
    evalue_log_write_status(&evalue_log_reader, EVALUE_LOG_ERROR, (int32_t)strtol(rest, NULL, 10),
                            18446744073709551614U, "dir/say.c", INT32_MAX, "m");
  } else if (strcmp(verb, "file") == 0) { /* a file's name in hex */
    from_hex(rest, bytes, sizeof bytes);
    evalue_log_write(&evalue_log_reader, EVALUE_LOG_ERROR, bytes, 7, "m");
  } else if (strcmp(verb, "write") == 0) { /* whatever the level in force */
    evalue_log_write(&evalue_log_reader, EVALUE_LOG_DEBUG, __FILE__, __LINE__, "%s", rest);
  } else if (strcmp(verb, "first") == 0) { /* off: not evaluated, even before anything was decided */
    int evaluated = 0;
    EVALUE_LOG(&evalue_log_reader, EVALUE_LOG_DEBUG, "%d", ++evaluated);
    printf("%d\n", evaluated);
  } else { /* component:level=message in hex */
    static const char *const levels[] = {"", "debug", "info", "warning", "error"};
    char *level = strchr(verb, ':');
    int32_t number = 0;
    if (level == NULL) abort();
    *level++ = '\0';
    while (strcmp(levels[number], level) != 0) number++;
    from_hex(rest, bytes, sizeof bytes);
    errno = ENOTTY;
    EVALUE_LOG(component_of(verb), number, "%s", bytes);
    if (errno != ENOTTY) printf("errno has become %d\n", errno);
  }
  fflush(stdout);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) do_one(argv[i]);
  return 0;
}
