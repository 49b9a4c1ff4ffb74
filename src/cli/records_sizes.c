/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes, and their median in constant memory. Each different size is counted; where there are too many different ones,
 * low bits are dropped until there are few enough again, and the median is then as good as the bits that are left.
 */
#include <stdlib.h>
#include <string.h>

#include "records.h"

enum { SLOTS = 1 << 17, MOST = SLOTS / 2 };

static struct records_size_count *find(struct records_size_count *table, uint64_t size) {
  size_t at = (size_t)((size * UINT64_C(0x9e3779b97f4a7c15)) >> 47);
  while (table[at].count != 0 && table[at].size != size) at = (at + 1) % SLOTS;
  return &table[at];
}

static void count(records_sizes *sizes, uint64_t size, uint64_t times) {
  struct records_size_count *slot = find(sizes->table, size >> sizes->shift << sizes->shift);
  if (slot->count == 0) sizes->used++;
  slot->size = size >> sizes->shift << sizes->shift;
  slot->count += times;
}

/* Drops one more bit. */
static bool coarsen(records_sizes *sizes) {
  struct records_size_count *old = sizes->table;
  struct records_size_count *table = calloc(SLOTS, sizeof *table);
  if (table == NULL) return false;
  sizes->table = table;
  sizes->used = 0;
  sizes->shift++;
  for (size_t i = 0; i < SLOTS; i++) {
    if (old[i].count != 0) count(sizes, old[i].size, old[i].count);
  }
  free(old);
  return true;
}

bool records_sizes_add(records_sizes *sizes, uint64_t size, uint64_t times) {
  if (sizes->table == NULL) sizes->table = calloc(SLOTS, sizeof *sizes->table);
  if (sizes->table == NULL) return false;
  if (sizes->count == 0 || size < sizes->least) sizes->least = size;
  if (size > sizes->largest) sizes->largest = size;
  sizes->count += times;
  sizes->sum += size * times;
  count(sizes, size, times);
  while (sizes->used > MOST) {
    if (!coarsen(sizes)) return false;
  }
  return true;
}

bool records_sizes_merge(records_sizes *sizes, const records_sizes *other) {
  if (other->table == NULL) return true;
  while (sizes->table != NULL && sizes->shift < other->shift) {
    if (!coarsen(sizes)) return false;
  }
  if (sizes->table == NULL) sizes->shift = other->shift;
  for (size_t i = 0; i < SLOTS; i++) {
    const struct records_size_count *slot = &other->table[i];
    if (slot->count != 0 && !records_sizes_add(sizes, slot->size, slot->count)) return false;
  }
  if (other->count == sizes->count || other->least < sizes->least) sizes->least = other->least;
  if (other->largest > sizes->largest) sizes->largest = other->largest;
  return true;
}

static int compare(const void *a, const void *b) {
  uint64_t x = ((const struct records_size_count *)a)->size, y = ((const struct records_size_count *)b)->size;
  return x < y ? -1 : x > y;
}

uint64_t records_sizes_median(const records_sizes *sizes) {
  uint64_t before = 0, median = 0;
  if (sizes->count == 0) return 0;
  struct records_size_count *sorted = malloc(SLOTS * sizeof *sorted);
  if (sorted == NULL) return 0;
  size_t n = 0;
  for (size_t i = 0; i < SLOTS; i++) {
    if (sizes->table[i].count != 0) sorted[n++] = sizes->table[i];
  }
  qsort(sorted, n, sizeof *sorted, compare);
  for (size_t i = 0; i < n && before <= (sizes->count - 1) / 2; i++) {
    median = sorted[i].size;
    before += sorted[i].count;
  }
  free(sorted);
  return median;
}

void records_sizes_free(records_sizes *sizes) {
  free(sizes->table);
  memset(sizes, 0, sizeof *sizes);
}
