/* SPDX-License-Identifier: BSD-3-Clause */
/* The small sinks: the caller's buffer, a counter, a callback. */
#include "sink_internal.h"

/* ---- a buffer ---- */

static evalue_status buffer_begin(evalue_sink *sink, uint64_t nbytes, uint32_t alignment) {
  evalue_buffer_sink *s = (evalue_buffer_sink *)(void *)sink;
  (void)alignment;
  s->position = (size_t)sink->used;
  return nbytes <= s->capacity - s->position ? EVALUE_OK : EVALUE_NO_SPACE;
}

static evalue_status buffer_write(evalue_sink *sink, const evalue_slice *slices, size_t n) {
  evalue_buffer_sink *s = (evalue_buffer_sink *)(void *)sink;
  for (size_t i = 0; i < n; i++) {
    if (slices[i].size == 0) continue;
    memcpy(s->data + s->position, slices[i].data, slices[i].size);
    s->position += slices[i].size;
  }
  return EVALUE_OK;
}

static evalue_status nothing_to_undo(evalue_sink *sink) {
  (void)sink;
  return EVALUE_OK;
}

evalue_status evalue_buffer_sink_init(evalue_buffer_sink *s, void *data, size_t capacity,
                                      const evalue_sink_options *options) {
  static const evalue_sink_functions functions = {
      .begin = buffer_begin, .write = buffer_write, .undo = nothing_to_undo};
  if (s == NULL) return EVALUE_MISUSE;
  bool is_good = data != NULL || capacity == 0;
  s->data = (uint8_t *)data;
  s->capacity = capacity;
  s->position = 0;
  return evalue_sink_init_options(&s->sink, is_good ? &functions : NULL, options, EVALUE_BUFFER_SINK_ALIGNMENT);
}

/* ---- a counter ---- */

static evalue_status counting_write(evalue_sink *sink, const evalue_slice *slices, size_t n) {
  (void)sink;
  (void)slices;
  (void)n;
  return EVALUE_OK;
}

static void counting_end(evalue_sink *sink) {
  ((evalue_counting_sink *)(void *)sink)->records++;
}

evalue_status evalue_counting_sink_init(evalue_counting_sink *s, const evalue_sink_options *options) {
  static const evalue_sink_functions functions = {
      .write = counting_write, .end = counting_end, .undo = nothing_to_undo};
  if (s == NULL) return EVALUE_MISUSE;
  s->records = 0;
  return evalue_sink_init_options(&s->sink, &functions, options, 1);
}

/* ---- a callback ---- */

static evalue_status callback_begin(evalue_sink *sink, uint64_t nbytes, uint32_t alignment) {
  (void)nbytes;
  (void)alignment;
  ((evalue_callback_sink *)(void *)sink)->taken = 0;
  return EVALUE_OK;
}

static evalue_status callback_write(evalue_sink *sink, const evalue_slice *slices, size_t n) {
  evalue_callback_sink *s = (evalue_callback_sink *)(void *)sink;
  for (size_t i = 0; i < n; i++) {
    const uint8_t *data = (const uint8_t *)slices[i].data;
    for (size_t left = slices[i].size; left > 0;) {
      int64_t taken = s->callback(s->context, data, left);
      if (taken > 0 && (uint64_t)taken > left) s->taken = UINT64_MAX; /* nobody knows what it has */
      if (taken <= 0 || (uint64_t)taken > left) return EVALUE_IO;
      data += (size_t)taken;
      left -= (size_t)taken;
      s->taken += (uint64_t)taken;
    }
  }
  return EVALUE_OK;
}

/* What the callback has taken is gone. */
static evalue_status callback_undo(evalue_sink *sink) {
  return ((evalue_callback_sink *)(void *)sink)->taken == 0 ? EVALUE_OK : EVALUE_IO;
}

evalue_status evalue_callback_sink_init(evalue_callback_sink *s, evalue_sink_callback callback, void *context,
                                        const evalue_sink_options *options) {
  static const evalue_sink_functions functions = {
      .begin = callback_begin, .write = callback_write, .undo = callback_undo};
  if (s == NULL) return EVALUE_MISUSE;
  s->callback = callback;
  s->context = context;
  s->taken = 0;
  return evalue_sink_init_options(&s->sink, callback != NULL ? &functions : NULL, options, 1);
}
