/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything at once, from several threads, from the first call on: for ThreadSanitizer. */
#include <pthread.h>
#include <stdio.h>

#include "evalue/evalue.h"
#include "evalue/log.h"

enum { THREADS = 6, ROUNDS = 60 };

static evalue_log_component components[THREADS];
static char names[THREADS][16];
static uint32_t handled;

static void count(void *context, const evalue_log_record *record) {
  if (record->message[0] != '\0') __atomic_add_fetch((uint32_t *)context, 1, __ATOMIC_RELAXED);
}

static const evalue_log_handler handler = {count, &handled};

static void *work(void *number) {
  size_t me = *(const size_t *)number;
  evalue_error error = {EVALUE_MALFORMED, EVALUE_FAULT_LENGTH_WRONG, EVALUE_FIELD_LENGTH, 4, 0, 8, 9, 0};
  char text[1200];
  for (int i = 0; i < ROUNDS; i++) {
    EVALUE_LOG(&evalue_log_reader, EVALUE_LOG_WARNING, "thread %d line %d", (int)me, i);
    if (me % 3 == 0) evalue_log_configure(i % 2 != 0 ? "+all,why_rejected" : "-all", text, sizeof text);
    if (me == 1) evalue_log_set_handler(i % 4 == 0 ? &handler : NULL);
    if (me % 2 == 0) evalue_log_register(&components[me]);
    if (me == 5 && i == ROUNDS / 2) evalue_log_override("why_copied", NULL, 0);
    EVALUE_LOG(&components[me], EVALUE_LOG_DEBUG, "mine %d", i);
    EVALUE_LOG_REJECTED(&components[me], &error, "0123456789", 10);
    EVALUE_LOG_COPIED(&evalue_log_sink, 10, "a rule");
  }
  return NULL;
}

/* The first line of a process, from two threads: one decides, the other only sees that it is decided. */
static void *log_one(void *unused) {
  for (int i = 0; i < 20; i++) EVALUE_LOG(&evalue_log_writer, EVALUE_LOG_WARNING, "line %d", i);
  return unused;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  size_t numbers[THREADS];
  (void)argv;
  for (size_t i = 0; i < THREADS; i++) {
    snprintf(names[i], sizeof names[i], "thread_%u", (unsigned)i);
    components[i].name = names[i];
    numbers[i] = i;
  }
  for (size_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, argc > 1 ? log_one : work, &numbers[i]);
  for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  return 0;
}
