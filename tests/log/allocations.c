/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what the log allocates, and so the C library for it: malloc is replaced by one that counts (glibc lets it). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalue/evalue.h"
#include "evalue/log.h"

static int count;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size) {
  count++;
  return __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
  count++;
  return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size) {
  count++;
  return __libc_realloc(p, size);
}

static evalue_log_component mine = {.name = "mine"}, stranger = {.name = "stranger"};

int main(void) {
  char text[1200];
  evalue_error error = {EVALUE_MALFORMED, EVALUE_FAULT_LENGTH_WRONG, EVALUE_FIELD_LENGTH, 4, 0, 8, 9, 0};
  count = 0;
  EVALUE_LOG(&evalue_log_reader, EVALUE_LOG_WARNING, "%s %d %llu", "the first", 1, 2ULL);
  evalue_log_register(&mine);
  evalue_log_configure("+all,why_rejected,why_copied", text, sizeof text);
  evalue_log_configure("help", text, sizeof text);
  evalue_log_configure("bad", text, sizeof text);
  EVALUE_LOG(&mine, EVALUE_LOG_DEBUG, "%s %d", "mine\n\xff", -5);
  EVALUE_LOG(&stranger, EVALUE_LOG_ERROR, "%p %zu %x", (void *)&mine, sizeof mine, 10u);
  EVALUE_LOG_REJECTED(&mine, &error, "0123456789", 10);
  EVALUE_LOG_COPIED(&mine, 10, "a rule");
  evalue_log_write_status(&mine, EVALUE_LOG_ERROR, EVALUE_IO, 5, "x.c", 1, "%700s", "a long line");
  evalue_log_override("none", text, sizeof text);
  int counted = count;
  void *volatile one = malloc(1); /* that it counts at all */
  free(one);
  printf("%d %d\n", counted, count - counted);
  return 0;
}
