/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records in a ring of memory: what the ring sink and the deferred sink keep. Before each record stands a word: its
 * size, u56, and above it, u8, one more than the logarithm of its alignment, or 0 when it has none. A record is seen by
 * readers only when it is complete.
 */
#include <stdatomic.h>

#include "evalue/log.h"
#include "sink_internal.h"

enum { SIZE_BITS = 56, MOST = 13 };

/* ---- the state ---- */

/* Where the oldest record is, and how many there are: in the copy that counts. */
static size_t head_of(const evalue_record_queue *q) {
  return q->states[q->state].head;
}

static uint64_t records_of(const evalue_record_queue *q) {
  return q->states[q->state].records;
}

/* Makes the other copy, and lets it count at once: a signal handler sees the one or the other. */
static void set_state(evalue_record_queue *q, size_t head, uint64_t records) {
  uint32_t other = 1 - q->state;
  q->states[other].head = head;
  q->states[other].records = records;
  atomic_signal_fence(memory_order_seq_cst);
  *(volatile uint32_t *)&q->state = other;
  atomic_signal_fence(memory_order_seq_cst);
}

/* ---- bytes round the end of the memory ---- */

/* The place of the byte that is `distance` behind another; distance is at most the capacity. */
static size_t place_of(const evalue_record_queue *q, size_t head, size_t distance) {
  size_t to_end = q->capacity - head;
  return distance < to_end ? head + distance : distance - to_end;
}

static void put(evalue_record_queue *q, const void *bytes, size_t nbytes) {
  if (nbytes == 0) return;
  size_t place = place_of(q, head_of(q), q->filled), first = q->capacity - place;
  if (first > nbytes) first = nbytes;
  memcpy(q->data + place, bytes, first);
  evalue_copy_bytes(q->data, (const uint8_t *)bytes + first, nbytes - first);
  q->filled += nbytes;
}

static uint64_t word_at(const evalue_record_queue *q, size_t head, size_t distance) {
  uint8_t bytes[EVALUE_RECORD_OVERHEAD];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = q->data[place_of(q, head, distance + i)];
  return evalue_load_u64(bytes);
}

static size_t size_of(uint64_t word) {
  return (size_t)(word & ((UINT64_C(1) << SIZE_BITS) - 1));
}

/* ---- records ---- */

void evalue_queue_init(evalue_record_queue *q, void *data, size_t capacity) {
  memset(q, 0, sizeof *q);
  q->data = (uint8_t *)data;
  q->capacity = capacity;
}

bool evalue_queue_could_hold(const evalue_record_queue *q, uint64_t nbytes) {
  return q->capacity >= EVALUE_RECORD_OVERHEAD && nbytes <= q->capacity - EVALUE_RECORD_OVERHEAD;
}

bool evalue_queue_begin(evalue_record_queue *q, uint64_t nbytes, uint32_t alignment) {
  uint8_t bytes[EVALUE_RECORD_OVERHEAD];
  uint64_t logarithm = 0;
  if (!evalue_queue_could_hold(q, nbytes) || nbytes + EVALUE_RECORD_OVERHEAD > q->capacity - q->filled) return false;
  while (logarithm <= MOST && UINT64_C(1) << logarithm < (uint64_t)alignment * 2) logarithm++;
  evalue_store_u64(bytes, nbytes | logarithm << SIZE_BITS);
  EVALUE_LOG_COPIED(&evalue_log_sink, nbytes, "the record outlives the caller's bytes");
  q->mark = q->filled;
  put(q, bytes, sizeof bytes);
  return true;
}

void evalue_queue_write(evalue_record_queue *q, const evalue_slice *slices, size_t n) {
  for (size_t i = 0; i < n; i++) put(q, slices[i].data, slices[i].size);
}

void evalue_queue_end(evalue_record_queue *q) {
  set_state(q, head_of(q), records_of(q) + 1);
}

void evalue_queue_undo(evalue_record_queue *q) {
  q->filled = q->mark;
}

void evalue_queue_drop(evalue_record_queue *q) {
  size_t head = head_of(q), whole = EVALUE_RECORD_OVERHEAD + size_of(word_at(q, head, 0));
  set_state(q, place_of(q, head, whole), records_of(q) - 1);
  q->filled -= whole;
}

/* Fills parts with the record that is `distance` behind the oldest, and moves distance behind it. */
static void get(const evalue_record_queue *q, size_t head, size_t *distance, evalue_slice parts[2],
                uint32_t *alignment) {
  uint64_t word = word_at(q, head, *distance);
  size_t nbytes = size_of(word), place = place_of(q, head, *distance + EVALUE_RECORD_OVERHEAD);
  size_t first = q->capacity - place;
  if (first > nbytes) first = nbytes;
  parts[0] = (evalue_slice){q->data + place, first};
  parts[1] = (evalue_slice){q->data, nbytes - first};
  *alignment = (UINT32_C(1) << (word >> SIZE_BITS)) >> 1;
  *distance += EVALUE_RECORD_OVERHEAD + nbytes;
}

/* Writes the record that is `distance` behind the oldest to a sink, and moves distance behind it. */
static evalue_status hand_on(const evalue_record_queue *q, size_t *distance, evalue_sink *to) {
  evalue_slice parts[2];
  uint32_t alignment;
  get(q, head_of(q), distance, parts, &alignment);
  uint64_t nbytes = (uint64_t)parts[0].size + parts[1].size;
  evalue_status status = evalue_sink_begin(to, nbytes, alignment, NULL);
  if (status == EVALUE_OK && nbytes != 0) status = evalue_sink_append(to, parts, 2);
  return status == EVALUE_OK ? evalue_sink_end(to) : status;
}

/* ---- the ring ---- */

static evalue_record_queue *ring_queue(evalue_sink *sink) {
  return &((evalue_ring_sink *)(void *)sink)->queue;
}

static evalue_status ring_begin(evalue_sink *sink, uint64_t nbytes, uint32_t alignment) {
  evalue_record_queue *q = ring_queue(sink);
  if (!evalue_queue_could_hold(q, nbytes)) return EVALUE_NO_SPACE;
  while (!evalue_queue_begin(q, nbytes, alignment)) evalue_queue_drop(q);
  return EVALUE_OK;
}

static evalue_status ring_write(evalue_sink *sink, const evalue_slice *slices, size_t n) {
  evalue_queue_write(ring_queue(sink), slices, n);
  return EVALUE_OK;
}

static void ring_end(evalue_sink *sink) {
  evalue_queue_end(ring_queue(sink));
}

static evalue_status ring_undo(evalue_sink *sink) {
  evalue_queue_undo(ring_queue(sink));
  return EVALUE_OK;
}

evalue_status evalue_ring_sink_init(evalue_ring_sink *s, void *data, size_t capacity) {
  static const evalue_sink_functions functions = {
      .begin = ring_begin, .write = ring_write, .end = ring_end, .undo = ring_undo};
  if (s == NULL) return EVALUE_MISUSE;
  evalue_queue_init(&s->queue, data, capacity);
  return evalue_sink_init(&s->sink, data != NULL ? &functions : NULL, 0, 0);
}

evalue_status evalue_ring_sink_record(const evalue_ring_sink *s, uint64_t k, evalue_slice parts[2]) {
  uint32_t alignment;
  size_t distance = 0;
  if (s == NULL || parts == NULL) return EVALUE_MISUSE;
  uint32_t state = s->queue.state; /* once: a signal handler may have interrupted who changes it */
  size_t head = s->queue.states[state].head;
  if (k >= s->queue.states[state].records) return EVALUE_END;
  for (; k > 0; k--) distance += EVALUE_RECORD_OVERHEAD + size_of(word_at(&s->queue, head, distance));
  get(&s->queue, head, &distance, parts, &alignment);
  return EVALUE_OK;
}

evalue_status evalue_ring_sink_dump(evalue_ring_sink *s, evalue_sink *to) {
  evalue_status status = EVALUE_OK;
  size_t distance = 0;
  if (s == NULL || to == NULL) return EVALUE_MISUSE;
  uint8_t before = s->sink.is_writing; /* also in the middle of a record: those before it are whole */
  s->sink.is_writing = 1;              /* so that nothing comes back */
  for (uint64_t k = records_of(&s->queue); k > 0 && status == EVALUE_OK; k--)
    status = hand_on(&s->queue, &distance, to);
  s->sink.is_writing = before;
  return status;
}

/* ---- records that wait for their time ---- */

static evalue_record_queue *deferred_queue(evalue_sink *sink) {
  return &((evalue_deferred_sink *)(void *)sink)->queue;
}

static evalue_status deferred_begin(evalue_sink *sink, uint64_t nbytes, uint32_t alignment) {
  return evalue_queue_begin(deferred_queue(sink), nbytes, alignment) ? EVALUE_OK : EVALUE_NO_SPACE;
}

static evalue_status deferred_write(evalue_sink *sink, const evalue_slice *slices, size_t n) {
  evalue_queue_write(deferred_queue(sink), slices, n);
  return EVALUE_OK;
}

static void deferred_end(evalue_sink *sink) {
  evalue_queue_end(deferred_queue(sink));
}

static evalue_status deferred_undo(evalue_sink *sink) {
  evalue_queue_undo(deferred_queue(sink));
  return EVALUE_OK;
}

static evalue_status deferred_flush(evalue_sink *sink) {
  evalue_deferred_sink *s = (evalue_deferred_sink *)(void *)sink;
  evalue_status status = EVALUE_OK;
  while (records_of(&s->queue) != 0 && status == EVALUE_OK) {
    size_t distance = 0;
    status = hand_on(&s->queue, &distance, s->target);
    if (status == EVALUE_OK) evalue_queue_drop(&s->queue);
  }
  if (status == EVALUE_OK) status = evalue_sink_flush(s->target);
  sink->system_error = s->target->system_error;
  return status;
}

evalue_status evalue_deferred_sink_init(evalue_deferred_sink *s, void *data, size_t capacity, evalue_sink *target) {
  static const evalue_sink_functions functions = {.begin = deferred_begin,
                                                  .write = deferred_write,
                                                  .end = deferred_end,
                                                  .undo = deferred_undo,
                                                  .flush = deferred_flush};
  if (s == NULL) return EVALUE_MISUSE;
  evalue_queue_init(&s->queue, data, capacity);
  s->target = target;
  bool is_good = data != NULL && target != NULL && target != &s->sink;
  return evalue_sink_init(&s->sink, is_good ? &functions : NULL, 0, 0);
}
