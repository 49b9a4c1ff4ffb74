/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values to bytes. Each value becomes a frame, and there is one way to append a frame, so memory, gather and counting
 * cannot differ.
 */
#include "internal.h"

/* Keeps the first failure; but what is wrong in itself goes before a lack of space, since such a value has no size. */
static evalue_status set_status(evalue_writer *w, evalue_status status) {
  if (w->status == EVALUE_OK || w->status == EVALUE_NO_SPACE) w->status = (int32_t)status;
  return (evalue_status)w->status;
}

/* After no space the writer goes on counting; after anything else it has stopped. */
static bool has_stopped(const evalue_writer *w) {
  return w->status != EVALUE_OK && w->status != EVALUE_NO_SPACE;
}

/* ---- placing bytes ---- */

/* Appends a slice, or counts it. */
static void add_slice(evalue_writer *w, const void *data, size_t nbytes) {
  if (w->slice_count >= w->slice_capacity) {
    set_status(w, EVALUE_NO_SPACE);
  } else {
    w->slices[w->slice_count].data = data;
    w->slices[w->slice_count].size = nbytes;
  }
  w->slice_count++;
}

/* Takes the next nbytes of buffer; NULL when they are not there. */
static uint8_t *take(evalue_writer *w, size_t nbytes) {
  uint8_t *place = NULL;
  if (w->used <= w->capacity && nbytes <= w->capacity - w->used) {
    if (w->status == EVALUE_OK) place = w->buffer + w->used;
  } else {
    set_status(w, EVALUE_NO_SPACE);
  }
  w->used += nbytes;
  w->position += nbytes;
  return place;
}

/* Appends structural bytes and returns where they belong, or NULL when they are only counted. nbytes is not 0. */
static uint8_t *place_structure(evalue_writer *w, size_t nbytes) {
  uint8_t *place = take(w, nbytes);
  if (!w->is_gather) return place;
  if (!w->in_structure) {
    add_slice(w, place, nbytes);
    w->in_structure = 1;
  } else if (w->slice_count <= w->slice_capacity) {
    w->slices[w->slice_count - 1].size += nbytes; // NOLINT(clang-analyzer-core.NullDereference): it has a capacity
  }
  return w->status == EVALUE_OK ? place : NULL;
}

static void place_payload(evalue_writer *w, const void *data, size_t nbytes) {
  if (nbytes == 0) return;
  if (w->is_gather) {
    add_slice(w, data, nbytes);
    w->in_structure = 0;
    w->position += nbytes;
  } else {
    uint8_t *place = take(w, nbytes);
    if (place != NULL) memcpy(place, data, nbytes);
  }
}

static void place_pad(evalue_writer *w, uint32_t pad_size) {
  if (pad_size == 0) return;
  uint8_t *place = place_structure(w, pad_size);
  if (place == NULL) return;
  memset(place, 0, pad_size);
  place[0] = EVALUE_TAG_PAD;
  evalue_store_u64(place + 1, pad_size - EVALUE_ELEMENT_HEADER_SIZE);
}

static evalue_status place_frame(evalue_writer *w, const evalue_frame *f) {
  uint64_t nbytes = f->nbytes; /* position is below 2^62, so a sum of the two cannot wrap once this is */
  if (nbytes >= EVALUE_SIZE_LIMIT || w->position + f->pad_size + f->head_size + nbytes >= EVALUE_SIZE_LIMIT) {
    return set_status(w, EVALUE_LIMIT);
  }
  place_pad(w, f->pad_size);
  uint8_t *place = place_structure(w, f->head_size);
  if (place != NULL) memcpy(place, f->head, f->head_size);
  place_payload(w, f->data, f->nbytes);
  return (evalue_status)w->status;
}

/* ---- one at a time ---- */

/* Leaves room for the header, which is written last. */
static void reserve_header(evalue_writer *w) {
  uint8_t *place = w->is_sequence ? NULL : place_structure(w, EVALUE_HEADER_SIZE);
  if (place != NULL) memset(place, 0, EVALUE_HEADER_SIZE);
}

static evalue_status start(evalue_writer *w, void *buffer, size_t capacity, uint32_t alignment, bool is_sequence) {
  if (w == NULL) return EVALUE_MISUSE;
  memset(w, 0, sizeof *w);
  if (alignment == 0) alignment = EVALUE_DEFAULT_ALIGNMENT;
  bool is_power = (alignment & (alignment - 1)) == 0;
  if (!is_power || alignment > EVALUE_MAX_ALIGNMENT || (buffer == NULL && capacity != 0)) {
    return set_status(w, EVALUE_MISUSE);
  }
  w->buffer = (uint8_t *)buffer;
  w->capacity = capacity;
  w->alignment = (uint16_t)alignment;
  w->is_sequence = is_sequence;
  reserve_header(w);
  return EVALUE_OK;
}

evalue_status evalue_writer_init(evalue_writer *w, void *buffer, size_t capacity, uint32_t alignment) {
  return start(w, buffer, capacity, alignment, false);
}

evalue_status evalue_writer_init_sequence(evalue_writer *w, void *buffer, size_t capacity) {
  return start(w, buffer, capacity, 1, true);
}

evalue_status evalue_writer_gather(evalue_writer *w, evalue_slice *slices, size_t slice_capacity) {
  if (w == NULL) return EVALUE_MISUSE;
  if (has_stopped(w)) return (evalue_status)w->status;
  bool is_fresh = !w->is_gather && w->position == (w->is_sequence ? 0 : EVALUE_HEADER_SIZE);
  if (!is_fresh || (slices == NULL && slice_capacity != 0)) {
    return set_status(w, EVALUE_MISUSE);
  }
  w->slices = slices;
  w->slice_capacity = slice_capacity;
  w->is_gather = 1;
  w->status = EVALUE_OK;
  w->position = 0;
  w->used = 0;
  reserve_header(w);
  return EVALUE_OK;
}

evalue_status evalue_writer_put(evalue_writer *w, const evalue *value) {
  evalue_frame f;
  if (w == NULL) return EVALUE_MISUSE;
  if (has_stopped(w)) return (evalue_status)w->status;
  evalue_status status = evalue_check(value);
  if (status != EVALUE_OK) return set_status(w, status);
  evalue_frame_value(&f, value, (uint32_t)w->position, w->alignment);
  status = place_frame(w, &f);
  if (!has_stopped(w)) w->count++;
  return status;
}

evalue_status evalue_writer_put_ancillary(evalue_writer *w, uint32_t tag, const void *data, size_t nbytes) {
  evalue_frame f;
  if (w == NULL) return EVALUE_MISUSE;
  if (has_stopped(w)) return (evalue_status)w->status;
  if (tag < EVALUE_TAG_ANCILLARY || tag > UINT8_MAX || (data == NULL && nbytes != 0)) {
    return set_status(w, EVALUE_MISUSE);
  }
  evalue_frame_bytes(&f, tag, data, nbytes);
  return place_frame(w, &f);
}

static void store_header(const evalue_writer *w, uint8_t *header) {
  uint32_t log2 = 0;
  while ((1U << log2) < w->alignment) log2++;
  memcpy(header, "EVAL", 4);
  header[4] = EVALUE_WIRE_MAJOR;
  header[5] = EVALUE_WIRE_MINOR;
  header[6] = (uint8_t)log2;
  header[7] = 0;
  evalue_store_u64(header + 8, w->position - EVALUE_HEADER_SIZE);
  evalue_store_u64(header + 16, w->count);
}

evalue_status evalue_writer_finish(evalue_writer *w, uint64_t *size) {
  if (w == NULL || size == NULL) return EVALUE_MISUSE;
  *size = has_stopped(w) ? 0 : w->position;
  if (w->status == EVALUE_OK && !w->is_sequence && !w->is_drained) store_header(w, w->buffer);
  return (evalue_status)w->status;
}

evalue_status evalue_writer_drain(evalue_writer *w) {
  if (w == NULL) return EVALUE_MISUSE;
  if (!w->is_gather) return set_status(w, EVALUE_MISUSE);
  if (w->status != EVALUE_OK) return (evalue_status)w->status;
  w->used = 0;
  w->slice_count = 0;
  w->in_structure = 0;
  w->is_drained = 1;
  return EVALUE_OK;
}

evalue_status evalue_writer_header(const evalue_writer *w, uint8_t header[EVALUE_HEADER_SIZE]) {
  if (w == NULL || header == NULL || w->is_sequence) return EVALUE_MISUSE;
  if (w->status == EVALUE_OK) store_header(w, header);
  return (evalue_status)w->status;
}

/* ---- whole messages ---- */

static evalue_status put_all(evalue_writer *w, const evalue *values, size_t n, uint64_t *size) {
  if (values == NULL && n != 0) set_status(w, EVALUE_MISUSE);
  for (size_t i = 0; i < n && !has_stopped(w); i++) evalue_writer_put(w, values + i);
  return evalue_writer_finish(w, size);
}

static evalue_status measure(const evalue *values, size_t n, uint32_t alignment, bool is_sequence, uint64_t *size) {
  evalue_writer w;
  start(&w, NULL, 0, alignment, is_sequence);
  evalue_status status = put_all(&w, values, n, size);
  return status == EVALUE_NO_SPACE ? EVALUE_OK : status; /* it only counts */
}

/* Measures first, so that the buffer stays as it was when it is too small or a value is wrong. */
static evalue_status encode(const evalue *values, size_t n, uint32_t alignment, bool is_sequence, void *buffer,
                            size_t capacity, uint64_t *size) {
  evalue_writer w;
  evalue_status status = measure(values, n, alignment, is_sequence, size);
  if (status != EVALUE_OK) return status;
  if (buffer == NULL && capacity != 0) {
    *size = 0;
    return EVALUE_MISUSE;
  }
  if (*size > capacity) return EVALUE_NO_SPACE;
  start(&w, buffer, capacity, alignment, is_sequence);
  return put_all(&w, values, n, size);
}

static evalue_status gather_all(const evalue *values, size_t n, uint32_t alignment, bool is_sequence,
                                evalue_gather *g) {
  evalue_writer w;
  if (g == NULL) return EVALUE_MISUSE;
  start(&w, g->scratch, g->scratch_capacity, alignment, is_sequence);
  evalue_writer_gather(&w, g->slices, g->slice_capacity);
  evalue_status status = put_all(&w, values, n, &g->size);
  g->scratch_size = has_stopped(&w) ? 0 : w.used;
  g->slice_count = has_stopped(&w) ? 0 : w.slice_count;
  return status;
}

evalue_status evalue_message_size(const evalue *values, size_t n, uint32_t alignment, uint64_t *size) {
  return measure(values, n, alignment, false, size);
}

evalue_status evalue_message_encode(const evalue *values, size_t n, uint32_t alignment, void *buffer, size_t capacity,
                                    uint64_t *size) {
  return encode(values, n, alignment, false, buffer, capacity, size);
}

evalue_status evalue_message_gather(const evalue *values, size_t n, uint32_t alignment, evalue_gather *gather) {
  return gather_all(values, n, alignment, false, gather);
}

evalue_status evalue_sequence_size(const evalue *values, size_t n, uint64_t *size) {
  return measure(values, n, 1, true, size);
}

evalue_status evalue_sequence_encode(const evalue *values, size_t n, void *buffer, size_t capacity, uint64_t *size) {
  return encode(values, n, 1, true, buffer, capacity, size);
}

evalue_status evalue_sequence_gather(const evalue *values, size_t n, evalue_gather *gather) {
  return gather_all(values, n, 1, true, gather);
}
