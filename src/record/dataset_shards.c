/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of shards: name-00000-of-00008.tfrecord. */
#include <stdio.h>

#include "dataset_files.h"

enum { DIGITS = 5, MARK = 4 }; /* at least so many digits; the length of "-of-" */

/* What a shard's name says. */
typedef struct shard {
  const char *path, *rest; /* rest: what follows the numbers */
  size_t before, digits;   /* before: bytes before the first number */
  uint64_t number, of;
} shard;

/* Counts the digits before `end`, but not before `start`. */
static size_t digits_before(const char *start, const char *end) {
  size_t n = 0;
  while (end - n > start && end[-1 - (ptrdiff_t)n] >= '0' && end[-1 - (ptrdiff_t)n] <= '9') n++;
  return n;
}

static uint64_t number_of(const char *digits, size_t n) {
  uint64_t number = 0;
  for (size_t i = 0; i < n; i++) number = number * 10 + (uint64_t)(digits[i] - '0');
  return number;
}

/* Reads what a name says; false when it is not a shard's. */
static bool parse(const char *path, shard *s) {
  const char *mark = NULL;
  for (const char *p = strstr(path, "-of-"); p != NULL; p = strstr(p + 1, "-of-")) mark = p; /* the last one */
  if (mark == NULL) return false;
  size_t digits = digits_before(path, mark);
  const char *total = mark + MARK;
  size_t width = strspn(total, "0123456789");
  bool is_shard = digits >= DIGITS && digits <= 9 && digits == width && mark - digits > path;
  if (!is_shard || mark[-1 - (ptrdiff_t)digits] != '-' || strchr(total, '/') != NULL) return false;
  s->path = path;
  s->before = (size_t)(mark - path) - digits;
  s->digits = digits;
  s->number = number_of(mark - digits, digits);
  s->of = number_of(total, width);
  s->rest = total + width;
  return true;
}

/* Says whether two are shards of the same. */
static bool are_together(const shard *a, const shard *b) {
  bool have_numbers = a->before == b->before && a->digits == b->digits && a->of == b->of;
  return have_numbers && memcmp(a->path, b->path, a->before) == 0 && strcmp(a->rest, b->rest) == 0;
}

static bool print_missing(const shard *s, uint64_t number, char *missing, size_t capacity) {
  snprintf(missing, capacity, "%.*s%0*llu-of-%0*llu%s", (int)(s->before > 4096 ? 4096 : s->before), s->path,
           (int)s->digits, (unsigned long long)number, (int)s->digits, (unsigned long long)s->of, s->rest);
  return true;
}

bool evalue_shards_are_missing(char *const *paths, size_t n, char *missing, size_t capacity) {
  shard last = {.path = NULL};
  uint64_t next = 0; /* the number that should come now, of those together with the last one */
  for (size_t i = 0; i < n; i++) {
    shard s = {.path = NULL};
    bool is_shard = parse(paths[i], &s);
    bool goes_on = is_shard && last.path != NULL && are_together(&last, &s);
    if (!goes_on) {
      if (last.path != NULL && next < last.of) return print_missing(&last, next, missing, capacity);
      next = 0;
    }
    last = s;
    if (is_shard && s.number > next) return print_missing(&s, next, missing, capacity);
    next++;
  }
  return last.path != NULL && next < last.of && print_missing(&last, next, missing, capacity);
}
