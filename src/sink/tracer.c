/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as values in a sequence: name, debug id, count, and the values. */
#include "evalue/tracer.h"

#include "sink_internal.h"

enum { HEAD_COUNT = 3, BATCH = 64 };

evalue_status evalue_tracer_set_sink(evalue_tracer *t, evalue_sink *sink) {
  if (t == NULL) return EVALUE_MISUSE;
  t->sink = sink;
  return EVALUE_OK;
}

evalue_status evalue_tracer_init(evalue_tracer *t, evalue_sink *sink, evalue_trace_event *events, size_t capacity) {
  if (t == NULL || (events == NULL && capacity != 0)) return EVALUE_MISUSE;
  t->sink = NULL;
  t->events = events;
  t->capacity = capacity;
  t->count = 0;
  return evalue_tracer_set_sink(t, sink);
}

/* Writes head and values as one record, of which event has the size, and takes its offset. */
static evalue_status write_event(evalue_sink *sink, evalue_trace_event *event, const evalue *head, const evalue *values,
                                 size_t n) {
  uint8_t heads[2 * EVALUE_MAX_HEAD_SIZE];
  evalue_slice slices[BATCH];
  evalue_writer w;
  evalue_status status = evalue_writer_init_sequence(&w, heads, sizeof heads);
  if (status == EVALUE_OK) status = evalue_writer_gather(&w, slices, BATCH);
  if (status == EVALUE_OK) status = evalue_sink_begin(sink, event->nbytes, 0, &event->offset);
  if (status == EVALUE_OK) status = evalue_sink_append_values(sink, &w, head, HEAD_COUNT, 0, NULL);
  if (status == EVALUE_OK) status = evalue_sink_append_values(sink, &w, values, n, 0, NULL);
  return status == EVALUE_OK ? evalue_sink_end(sink) : status;
}

evalue_status evalue_tracer_log(evalue_tracer *t, const char *name, int64_t debug_id, const evalue *values, size_t n) {
  uint64_t head_size = 0, values_size = 0;
  if (t == NULL || name == NULL) return EVALUE_MISUSE;
  if (t->sink == NULL) return EVALUE_OK;
  evalue head[HEAD_COUNT] = {evalue_from_string(name, strlen(name)), evalue_from_int(debug_id),
                             evalue_from_int((int64_t)n)};
  evalue_status status = evalue_sequence_size(head, HEAD_COUNT, &head_size);
  if (status == EVALUE_OK) status = evalue_sequence_size(values, n, &values_size);
  if (status != EVALUE_OK) return status;
  evalue_trace_event event = {0, head_size + values_size, debug_id, n};
  status = write_event(t->sink, &event, head, values, n);
  if (status != EVALUE_OK) return status;
  if (t->count < t->capacity) t->events[t->count] = event;
  t->count++;
  return EVALUE_OK;
}

evalue_status evalue_trace_next(evalue_reader *reader, evalue_trace_event *event, evalue_string *name) {
  evalue head[HEAD_COUNT];
  if (reader == NULL || event == NULL || name == NULL) return EVALUE_MISUSE;
  uint64_t offset = evalue_reader_position(reader);
  for (int i = 0; i < HEAD_COUNT; i++) {
    evalue_status status = evalue_reader_next(reader, &head[i]);
    if (status == EVALUE_END && i > 0) return EVALUE_UNSUPPORTED; /* the sequence ends inside a head */
    if (status != EVALUE_OK) return status;
    if (head[i].tag != (i == 0 ? EVALUE_TAG_STRING : EVALUE_TAG_INT)) return EVALUE_UNSUPPORTED;
  }
  if (head[2].int_value < 0) return EVALUE_UNSUPPORTED;
  *event = (evalue_trace_event){offset, 0, head[1].int_value, (uint64_t)head[2].int_value};
  *name = head[0].string;
  return EVALUE_OK;
}
