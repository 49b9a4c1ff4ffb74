/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for tests that ends at a page that nobody may touch, so that reading one byte too far is a crash. */
#ifndef TESTS_GUARD_H
#define TESTS_GUARD_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct guard_buffer {
  uint8_t *data; /* size bytes; the byte after them is out of bounds */
  uint8_t *pages;
  size_t mapped;
} guard_buffer;

static inline guard_buffer guard_new(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  guard_buffer g;
  size_t used = (size + page - 1) / page * page;
  g.mapped = used + page;
  void *pages = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) abort();
  g.pages = (uint8_t *)pages;
  if (mprotect(g.pages + used, page, PROT_NONE) != 0) abort();
  g.data = g.pages + used - size;
  return g;
}

static inline guard_buffer guard_put(const uint8_t *bytes, size_t size) {
  guard_buffer g = guard_new(size);
  if (size != 0) memcpy(g.data, bytes, size);
  return g;
}

static inline void guard_free(guard_buffer *g) {
  munmap(g->pages, g->mapped);
}

#endif
