/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of an example as fields, and which of them belong to which feature. nanopb reads tags, lengths and what is
 * skipped, from the example as it lies in memory; messages are not built, so that a place in one is a place in the
 * example, and a list of floats is a run of its bytes.
 */
#include <stdlib.h>

#include "tfexample_internal.h"

evalue_tfexample_cursor evalue_tfexample_enter(const evalue_tfexample_work *w, evalue_tfexample_range range) {
  evalue_tfexample_cursor c;
  c.stream = pb_istream_from_buffer(w->data + range.start, range.size);
  c.end = range.start + range.size;
  return c;
}

static size_t position_of(const evalue_tfexample_cursor *c) {
  return c->end - c->stream.bytes_left;
}

/* A payload with its length before it. */
static evalue_status skip_delimited(evalue_tfexample_work *w, evalue_tfexample_cursor *c, evalue_tfexample_field *f) {
  uint32_t size = 0;
  size_t position = position_of(c);
  if (!pb_decode_varint32(&c->stream, &size)) {
    return evalue_tfexample_fail(w, EVALUE_TFEXAMPLE_FAULT_BAD_VARINT, position);
  }
  if (size > c->stream.bytes_left) {
    return evalue_tfexample_fail_expecting(w, EVALUE_TFEXAMPLE_FAULT_FIELD_SHORT, position, c->stream.bytes_left, size);
  }
  f->payload.start = position_of(c);
  f->payload.size = size;
  pb_read(&c->stream, NULL, size);
  return EVALUE_OK;
}

evalue_status evalue_tfexample_next(evalue_tfexample_work *w, evalue_tfexample_cursor *c, evalue_tfexample_field *f) {
  bool is_end = false;
  if (c->stream.bytes_left == 0) return EVALUE_END;
  f->position = position_of(c);
  if (!pb_decode_tag(&c->stream, &f->type, &f->number, &is_end) || f->number == 0) {
    return evalue_tfexample_fail(w, EVALUE_TFEXAMPLE_FAULT_BAD_TAG, f->position);
  }
  if (f->type == PB_WT_STRING) return skip_delimited(w, c, f);
  enum { GROUP_START = 3, GROUP_END = 4 };
  if ((unsigned)f->type == GROUP_START || (unsigned)f->type == GROUP_END) {
    return evalue_tfexample_fail(w, EVALUE_TFEXAMPLE_FAULT_GROUP, f->position);
  }
  if (f->type != PB_WT_VARINT && f->type != PB_WT_32BIT && f->type != PB_WT_64BIT) {
    return evalue_tfexample_fail(w, EVALUE_TFEXAMPLE_FAULT_BAD_TAG, f->position);
  }
  f->payload.start = position_of(c);
  if (!pb_skip_field(&c->stream, f->type)) {
    return evalue_tfexample_fail(w, EVALUE_TFEXAMPLE_FAULT_FIELD_SHORT, f->position);
  }
  f->payload.size = position_of(c) - f->payload.start;
  return EVALUE_OK;
}

static bool is_message(const evalue_tfexample_field *f, uint32_t number) {
  return f->number == number && f->type == PB_WT_STRING;
}

/* ---- the lists of a Feature ---- */

static evalue_status visit_lists(evalue_tfexample_work *w, evalue_tfexample_range feature, evalue_tfexample_visit visit,
                                 void *state, size_t *index) {
  evalue_tfexample_cursor c = evalue_tfexample_enter(w, feature);
  evalue_tfexample_field f;
  evalue_status status;
  while ((status = evalue_tfexample_next(w, &c, &f)) == EVALUE_OK) {
    if (f.type != PB_WT_STRING || f.number > EVALUE_TFEXAMPLE_INT64_LIST) continue;
    status = visit(w, state, &f, *index);
    if (status != EVALUE_OK) return status;
    ++*index;
  }
  return status == EVALUE_END ? EVALUE_OK : status;
}

/* An entry whose value comes in several parts has them all. */
evalue_status evalue_tfexample_walk(evalue_tfexample_work *w, evalue_tfexample_range entry,
                                    evalue_tfexample_visit visit, void *state) {
  evalue_tfexample_cursor c = evalue_tfexample_enter(w, entry);
  evalue_tfexample_field f;
  evalue_status status;
  size_t index = 0;
  while ((status = evalue_tfexample_next(w, &c, &f)) == EVALUE_OK) {
    if (!is_message(&f, EVALUE_TFEXAMPLE_VALUE)) continue;
    status = visit_lists(w, f.payload, visit, state, &index);
    if (status != EVALUE_OK) return status;
  }
  return status == EVALUE_END ? EVALUE_OK : status;
}

/* ---- the entries of the map ---- */

static int compare_names(const void *a, size_t a_size, const void *b, size_t b_size) {
  if (a_size != b_size) return a_size < b_size ? -1 : 1;
  return memcmp(a, b, a_size);
}

/* A binary search, so that many features do not make many entries slow. */
static evalue_tfexample_place *place_of(const evalue_tfexample *c, const void *name, size_t size) {
  size_t low = 0, high = c->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const evalue_tfexample_feature *f = c->sorted[middle];
    int order = compare_names(name, size, f->name, f->name_size);
    if (order == 0) return &c->places[f - c->features];
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return NULL;
}

static evalue_status find_entry(evalue_tfexample_work *w, evalue_tfexample_range entry) {
  evalue_tfexample_cursor c = evalue_tfexample_enter(w, entry);
  evalue_tfexample_range key = {entry.start, 0}; /* without one it is the empty string */
  evalue_tfexample_field f;
  evalue_status status;
  while ((status = evalue_tfexample_next(w, &c, &f)) == EVALUE_OK) {
    if (is_message(&f, EVALUE_TFEXAMPLE_KEY)) key = f.payload;
  }
  if (status != EVALUE_END) return status;
  evalue_tfexample_place *place = place_of(w->converter, w->data + key.start, key.size);
  if (place != NULL) {
    place->is_there = true;
    place->entry = entry;
  }
  return EVALUE_OK;
}

static evalue_status find_entries(evalue_tfexample_work *w, evalue_tfexample_range features) {
  evalue_tfexample_cursor c = evalue_tfexample_enter(w, features);
  evalue_tfexample_field f;
  evalue_status status;
  while ((status = evalue_tfexample_next(w, &c, &f)) == EVALUE_OK) {
    if (!is_message(&f, EVALUE_TFEXAMPLE_ENTRY)) continue;
    status = find_entry(w, f.payload);
    if (status != EVALUE_OK) return status;
  }
  return status == EVALUE_END ? EVALUE_OK : status;
}

evalue_status evalue_tfexample_find(evalue_tfexample_work *w) {
  const evalue_tfexample_range whole = {0, w->size};
  evalue_tfexample_cursor c = evalue_tfexample_enter(w, whole);
  evalue_tfexample_field f;
  evalue_status status;
  for (size_t i = 0; i < w->converter->count; i++) w->converter->places[i].is_there = false;
  while ((status = evalue_tfexample_next(w, &c, &f)) == EVALUE_OK) {
    if (!is_message(&f, EVALUE_TFEXAMPLE_FEATURES)) continue;
    status = find_entries(w, f.payload);
    if (status != EVALUE_OK) return status;
  }
  return status == EVALUE_END ? EVALUE_OK : status;
}
