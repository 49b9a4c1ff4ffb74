/* SPDX-License-Identifier: BSD-3-Clause */
/* What a feature of an example has: which list, where, and how many entries. */
#include "tfexample_internal.h"

/* Every varint ends with the only one of its bytes that has no high bit. */
static evalue_status count_varints(evalue_tfexample_work *w, evalue_tfexample_range run, uint64_t *count) {
  const uint8_t *p = w->data + run.start;
  const uint64_t high_bits = UINT64_C(0x8080808080808080), ones = UINT64_C(0x0101010101010101);
  size_t i = 0;
  if (run.size != 0 && p[run.size - 1] > 0x7f) {
    size_t last = run.size - 1;
    while (last > 0 && p[last - 1] > 0x7f) last--;
    return evalue_tfexample_fail(w, EVALUE_TFEXAMPLE_FAULT_BAD_VARINT, run.start + last);
  }
  for (; run.size - i >= 8; i += 8) { /* the top byte of the product is the sum of the eight */
    *count += (((~evalue_load_u64(p + i) & high_bits) >> 7) * ones) >> 56;
  }
  for (; i < run.size; i++) *count += p[i] < 0x80;
  return EVALUE_OK;
}

static evalue_status count_entry(evalue_tfexample_work *w, evalue_tfexample_place *place,
                                 const evalue_tfexample_field *f) {
  bool is_run = f->type == PB_WT_STRING;
  switch (place->list) {
    case EVALUE_TFEXAMPLE_BYTES_LIST:
      if (!is_run) return EVALUE_OK; /* a field that only looks like it: unknown, and skipped as such */
      place->count++;
      break;
    case EVALUE_TFEXAMPLE_FLOAT_LIST:
      if (!is_run && f->type != PB_WT_32BIT) return EVALUE_OK;
      if (f->payload.size % EVALUE_TFEXAMPLE_FLOAT != 0) {
        return evalue_tfexample_fail_expecting(w, EVALUE_TFEXAMPLE_FAULT_FLOAT_LENGTH, f->position, 0, f->payload.size);
      }
      if (f->payload.size == 0) return EVALUE_OK;
      place->count += f->payload.size / EVALUE_TFEXAMPLE_FLOAT;
      break;
    default:
      if (!is_run && f->type != PB_WT_VARINT) return EVALUE_OK;
      return count_varints(w, f->payload, &place->count);
  }
  place->pieces++;
  place->piece = f->payload;
  return EVALUE_OK;
}

/* Of lists of several kinds the last one's counts, and of what came before those of its kind without another between.
 */
static evalue_status count_list(evalue_tfexample_work *w, void *state, const evalue_tfexample_field *list,
                                size_t index) {
  evalue_tfexample_place *place = state;
  if (place->list != list->number) {
    place->list = list->number;
    place->first = index;
    place->position = list->position;
    place->count = 0;
    place->pieces = 0;
  }
  evalue_tfexample_cursor c = evalue_tfexample_enter(w, list->payload);
  evalue_tfexample_field f;
  evalue_status status;
  while ((status = evalue_tfexample_next(w, &c, &f)) == EVALUE_OK) {
    if (f.number != EVALUE_TFEXAMPLE_ENTRIES) continue;
    status = count_entry(w, place, &f);
    if (status != EVALUE_OK) return status;
  }
  return status == EVALUE_END ? EVALUE_OK : status;
}

evalue_status evalue_tfexample_count(evalue_tfexample_work *w, evalue_tfexample_place *place) {
  place->list = EVALUE_TFEXAMPLE_NO_LIST;
  place->pieces = 0;
  return place->is_there ? evalue_tfexample_walk(w, place->entry, count_list, place) : EVALUE_OK;
}
