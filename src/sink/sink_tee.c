/* SPDX-License-Identifier: BSD-3-Clause */
/* One record to several sinks: to all or, as far as they can take it back, to none. */
#include "sink_internal.h"

static evalue_tee_sink *tee_of(evalue_sink *sink) {
  return (evalue_tee_sink *)(void *)sink;
}

/* Cancels the record in the first `count` sinks but one. False when one of them could not take it back. */
static bool cancel(const evalue_tee_sink *t, size_t count, size_t but) {
  bool is_good = true;
  for (size_t i = 0; i < count; i++) {
    if (i != but) evalue_sink_cancel(t->sinks[i]);
    is_good = is_good && t->sinks[i]->is_poisoned == 0;
  }
  return is_good;
}

/* Hands on what a sink says of itself. */
static evalue_status adopt(evalue_sink *sink, const evalue_sink *from, evalue_status status) {
  sink->system_error = from->system_error;
  return status;
}

static evalue_status tee_begin(evalue_sink *sink, uint64_t nbytes, uint32_t alignment) {
  evalue_tee_sink *t = tee_of(sink);
  t->is_over = 0;
  for (size_t i = 0; i < t->count; i++) {
    evalue_status status = evalue_sink_begin(t->sinks[i], nbytes, alignment, NULL);
    if (status == EVALUE_OK) continue;
    bool is_good = cancel(t, i, i) && t->sinks[i]->is_poisoned == 0; /* the zeros before a record can fail, too */
    if (!is_good) evalue_sink_poison(sink);
    return adopt(sink, t->sinks[i], status);
  }
  return EVALUE_OK;
}

static evalue_status tee_write(evalue_sink *sink, const evalue_slice *slices, size_t n) {
  evalue_tee_sink *t = tee_of(sink);
  for (size_t i = 0; i < t->count; i++) {
    evalue_status status = evalue_sink_append(t->sinks[i], slices, n);
    if (status == EVALUE_OK) continue;
    t->is_over = cancel(t, t->count, i) ? 1 : 2; /* the one that failed has taken back what it could */
    return adopt(sink, t->sinks[i], status);
  }
  return EVALUE_OK;
}

static void tee_end(evalue_sink *sink) {
  evalue_tee_sink *t = tee_of(sink);
  for (size_t i = 0; i < t->count; i++) (void)evalue_sink_end(t->sinks[i]); /* each has got what the tee has */
}

static evalue_status tee_undo(evalue_sink *sink) {
  evalue_tee_sink *t = tee_of(sink);
  if (t->is_over != 0) return t->is_over == 1 ? EVALUE_OK : EVALUE_POISONED;
  return cancel(t, t->count, t->count) ? EVALUE_OK : EVALUE_POISONED;
}

/* Flushes all, whatever one of them says; returns the first failure. */
static evalue_status tee_flush(evalue_sink *sink) {
  evalue_tee_sink *t = tee_of(sink);
  evalue_status first = EVALUE_OK;
  for (size_t i = 0; i < t->count; i++) {
    evalue_status status = evalue_sink_flush(t->sinks[i]);
    if (status != EVALUE_OK && first == EVALUE_OK) first = adopt(sink, t->sinks[i], status);
  }
  return first;
}

evalue_status evalue_tee_sink_init(evalue_tee_sink *t, evalue_sink *const *sinks, size_t count) {
  static const evalue_sink_functions functions = {
      .begin = tee_begin, .write = tee_write, .end = tee_end, .undo = tee_undo, .flush = tee_flush};
  if (t == NULL) return EVALUE_MISUSE;
  bool is_good = sinks != NULL || count == 0;
  for (size_t i = 0; i < count && is_good; i++) {
    is_good = sinks[i] != NULL && sinks[i] != &t->sink;
    for (size_t k = 0; k < i && is_good; k++) is_good = sinks[k] != sinks[i]; /* twice would be a record in a record */
  }
  t->sinks = sinks;
  t->count = count;
  t->is_over = 0;
  return evalue_sink_init(&t->sink, is_good ? &functions : NULL, 0, 0);
}
