/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * A tracer: the values that pass a point of a program, by name, into a sink.
 *
 *     evalue_counting_sink s;
 *     evalue_trace_event events[16];
 *     evalue_tracer tracer;
 *     evalue_counting_sink_init(&s, NULL);
 *     evalue_tracer_init(&tracer, &s.sink, events, 16);
 *     evalue_tracer_log(&tracer, "aten::relu.out", 42, values, n);
 *
 * A trace is a sequence (spec, section 5), so `evalue show --form sequence` reads it, and so does any reader: each
 * event is its name (String), its debug id (Int), how many values it has (Int), and then these values. An event is one
 * record of the sink: it is there whole, or not at all. One thread at a time may use a tracer.
 */
#ifndef EVALUE_TRACER_H
#define EVALUE_TRACER_H

#include "evalue/reader.h"
#include "evalue/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where an event is, and what it is. */
typedef struct evalue_trace_event {
  uint64_t offset;  /* in the sink, of the event's first byte */
  uint64_t nbytes;  /* of the event */
  int64_t debug_id; /* the caller's number, as of an instruction of the program */
  uint64_t count;   /* of values */
} evalue_trace_event;

/** A tracer's state. Private, but count and events may be read. */
typedef struct evalue_tracer {
  evalue_sink *sink;
  evalue_trace_event *events; /* the index: of the first `capacity` events */
  size_t capacity;
  uint64_t count; /* of all events, whether there was room in the index or not */
} evalue_tracer;

/**
 * Starts a tracer into a sink, which stays the caller's; NULL is off. events, of that capacity, is the index that it
 * fills. Events stand right behind one another, whatever the sink's alignment: in a sequence there is nothing between
 * two elements, so write nothing else to the sink meanwhile. Returns EVALUE_OK; EVALUE_MISUSE for NULL, or NULL events
 * with a capacity.
 */
EVALUE_API evalue_status evalue_tracer_init(evalue_tracer *tracer, evalue_sink *sink, evalue_trace_event *events,
                                            size_t capacity);

/** Sends the events that follow to another sink, or nowhere (NULL). The index goes on. As evalue_tracer_init. */
EVALUE_API evalue_status evalue_tracer_set_sink(evalue_tracer *tracer, evalue_sink *sink);

/**
 * Writes an event: n values under a name (terminated by NUL) and a debug id. Returns EVALUE_OK, also when the tracer is
 * off; what evalue_sink_write returns; EVALUE_MISUSE for NULL or a value that evalue_check refuses. Only on EVALUE_OK
 * is the event counted.
 */
EVALUE_API evalue_status evalue_tracer_log(evalue_tracer *tracer, const char *name, int64_t debug_id,
                                           const evalue *values, size_t n);

/**
 * Reads the head of the next event of a trace from a reader of the sequence (evalue_reader_init_sequence). Fills *event
 * (offsets count from the beginning of the reader's input; nbytes is not known yet, and 0) and *name, a view into the
 * input; event->count calls of evalue_reader_next give its values. Returns EVALUE_OK; EVALUE_END; a fault of the input,
 * which the reader describes; EVALUE_UNSUPPORTED when the values there are no event's head; EVALUE_MISUSE for NULL.
 */
EVALUE_API evalue_status evalue_trace_next(evalue_reader *reader, evalue_trace_event *event, evalue_string *name);

#ifdef __cplusplus
}
#endif

#endif
