/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this module share; nobody else includes it. */
#ifndef EVALUE_SINK_INTERNAL_H
#define EVALUE_SINK_INTERNAL_H

#include "evalue/inline.h"
#include "evalue/sink.h"

/* ---- sink.c: one record, step by step ---- */

/*
 * Begins a record of nbytes bytes at a multiple of alignment and of the sink's own, or for an alignment of 0 right
 * behind the last; *offset, if not NULL, is where. After EVALUE_OK comes evalue_sink_append, as often as it takes, and
 * then evalue_sink_end or evalue_sink_cancel.
 */
evalue_status evalue_sink_begin(evalue_sink *sink, uint64_t nbytes, uint32_t alignment, uint64_t *offset);

/* Appends to the record, no more than was announced. On a failure the record is taken back, and over. */
evalue_status evalue_sink_append(evalue_sink *sink, const evalue_slice *slices, size_t n);

/* Ends the record, of which all has to be there. On a failure it is taken back. */
evalue_status evalue_sink_end(evalue_sink *sink);
void evalue_sink_cancel(evalue_sink *sink);

/* Records a failure in a sink that can be used, and returns it. */
evalue_status evalue_sink_fail(evalue_sink *sink, evalue_status status);

/* From now on, what the destination holds is known up to s->used only. */
void evalue_sink_poison(evalue_sink *sink);

/* Says whether options make sense. */
bool evalue_sink_options_are_good(const evalue_sink_options *options);

/* Initialises a sink with the caller's options and a default alignment. */
evalue_status evalue_sink_init_options(evalue_sink *sink, const evalue_sink_functions *functions,
                                       const evalue_sink_options *options, uint32_t default_alignment);

/* ---- sink_values.c ---- */

/*
 * Appends values to the record, through a gathering writer with a buffer of at least two heads, in pieces. offsets, if
 * not NULL, gets where each value's payload begins; `start` is where the record does.
 */
evalue_status evalue_sink_append_values(evalue_sink *sink, evalue_writer *writer, const evalue *values, size_t n,
                                        uint64_t start, uint64_t *offsets);

/* ---- sink_queue.c ---- */

/* Starts an empty queue. */
void evalue_queue_init(evalue_record_queue *queue, void *data, size_t capacity);

/* Begins a record; false when there is no room for it. */
bool evalue_queue_begin(evalue_record_queue *queue, uint64_t nbytes, uint32_t alignment);
void evalue_queue_write(evalue_record_queue *queue, const evalue_slice *slices, size_t n);
void evalue_queue_end(evalue_record_queue *queue);
void evalue_queue_undo(evalue_record_queue *queue);

/* Says whether a record of so many bytes would fit into an empty queue. */
bool evalue_queue_could_hold(const evalue_record_queue *queue, uint64_t nbytes);

/* Drops the oldest record. */
void evalue_queue_drop(evalue_record_queue *queue);

#endif
