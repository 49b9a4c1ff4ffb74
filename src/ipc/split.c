/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values into messages of limited size. Values are taken in order as long as they fit: no other split in this order has
 * fewer messages. A writer without a buffer counts.
 */
#include "evalue/ipc.h"

typedef struct split {
  uint32_t alignment;
  uint64_t most;
  size_t *counts;
  size_t capacity;
  size_t parts;
  size_t count; /* of values in the last part; 0 when it has not begun */
  evalue_writer writer;
} split;

/* Counts a value in a copy of the last part. Returns its status: OK when it fits, NO_SPACE when it does not. */
static evalue_status try_value(split *s, const evalue *value) {
  evalue_writer with = s->writer;
  evalue_status status = evalue_writer_put(&with, value);
  if (status != EVALUE_NO_SPACE) return status; /* a writer without a buffer says that of everything that is good */
  if (with.position > s->most) return EVALUE_NO_SPACE;
  s->writer = with;
  s->count++;
  return EVALUE_OK;
}

/* Ends the last part. */
static void end_part(split *s) {
  if (s->count == 0) return;
  if (s->parts < s->capacity) s->counts[s->parts] = s->count;
  s->parts++;
  s->count = 0;
  evalue_writer_init(&s->writer, NULL, 0, s->alignment);
}

static evalue_status take(split *s, const evalue *value) {
  evalue_status status = try_value(s, value);
  if (status != EVALUE_NO_SPACE) return status;
  end_part(s);
  return try_value(s, value);
}

evalue_status evalue_message_split(const evalue *values, size_t n, uint32_t alignment, uint64_t most, size_t *counts,
                                   size_t capacity, size_t *parts, size_t *index) {
  split s = {.alignment = alignment, .most = most != 0 ? most : EVALUE_BINDER_LIMIT};
  if (parts == NULL) return EVALUE_MISUSE;
  *parts = 0;
  if ((values == NULL && n != 0) || (counts == NULL && capacity != 0)) return EVALUE_MISUSE;
  s.counts = counts;
  s.capacity = capacity;
  evalue_status status = evalue_writer_init(&s.writer, NULL, 0, alignment);
  if (status == EVALUE_MISUSE) return status;
  for (size_t i = 0; i < n; i++) {
    status = take(&s, values + i);
    if (status == EVALUE_OK) continue;
    if (index != NULL) *index = i;
    return status == EVALUE_NO_SPACE ? EVALUE_LIMIT : status;
  }
  end_part(&s);
  *parts = s.parts;
  return s.parts <= capacity ? EVALUE_OK : EVALUE_NO_SPACE;
}
