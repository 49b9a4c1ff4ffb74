/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An example to values. Each feature's entries are counted, and must be as many as the feature says; then memory is
 * made for all of them, and its list is gone through once more to convert them, unless its bytes can stay where they
 * are.
 */
#include "../text/utf8.h"
#include "tfexample_internal.h"

enum { ALIGNMENT = 64 };

static const evalue_tfexample_feature *feature_of(const evalue_tfexample_work *w) {
  return &w->converter->features[w->feature];
}

/* ---- shapes ---- */

/* Fills in the tensor's sizes for `total` elements, or bytes of `unit` each; a wrong total is a fault of that name. */
static evalue_status fit(evalue_tfexample_work *w, uint64_t total, uint32_t unit, uint32_t fault, size_t position,
                         evalue_tensor *t) {
  const evalue_tfexample_feature *f = feature_of(w);
  uint64_t known = unit;
  size_t open = EVALUE_MAX_NDIM;
  t->ndim = f->ndim;
  for (size_t i = 0; i < f->ndim; i++) {
    t->sizes[i] = f->sizes[i];
    t->dim_order[i] = (uint8_t)i;
    if (f->sizes[i] < 0) open = i;
    else known *= (uint32_t)f->sizes[i]; /* below 2^62: judged when the feature was parsed */
  }
  bool is_good = open == EVALUE_MAX_NDIM ? total == known : total % known == 0;
  if (!is_good) return evalue_tfexample_fail_expecting(w, fault, position, known, total);
  if (open < EVALUE_MAX_NDIM) t->sizes[open] = (int32_t)(total / known); /* no example has 2^31 */
  return EVALUE_OK;
}

/* A BytesList with one entry, whose bytes are the elements. */
static evalue_status fit_raw(evalue_tfexample_work *w, const evalue_tfexample_place *place, evalue_tensor *t) {
  if (place->count != 1) {
    return evalue_tfexample_fail_expecting(w, EVALUE_TFEXAMPLE_FAULT_COUNT, place->position, 1, place->count);
  }
  size_t size = place->piece.size, start = place->piece.start;
  uint32_t unit = evalue_element_size(feature_of(w)->scalar_type);
  evalue_status status = fit(w, size, unit, EVALUE_TFEXAMPLE_FAULT_NBYTES, start, t);
  t->data = w->data + start;
  t->nbytes = size;
  if (status != EVALUE_OK || feature_of(w)->scalar_type != EVALUE_BOOL) return status;
  for (size_t i = 0; i < size; i++) {
    if (w->data[start + i] <= 1) continue;
    w->error.element = i;
    return evalue_tfexample_fail_expecting(w, EVALUE_TFEXAMPLE_FAULT_RANGE, start + i, 0, w->data[start + i]);
  }
  return EVALUE_OK;
}

static evalue_status fit_tensor(evalue_tfexample_work *w, const evalue_tfexample_place *place, evalue_tensor *t) {
  t->scalar_type = feature_of(w)->scalar_type;
  if (place->list == EVALUE_TFEXAMPLE_BYTES_LIST) return fit_raw(w, place, t);
  return fit(w, place->count, 1, EVALUE_TFEXAMPLE_FAULT_COUNT, place->position, t);
}

static evalue_status fit_scalar(evalue_tfexample_work *w, const evalue_tfexample_place *place, evalue *value) {
  uint32_t kind = feature_of(w)->kind;
  if (place->count != 1) {
    return evalue_tfexample_fail_expecting(w, EVALUE_TFEXAMPLE_FAULT_COUNT, place->position, 1, place->count);
  }
  if (kind != EVALUE_TFEXAMPLE_STRING && kind != EVALUE_TFEXAMPLE_BYTES) return EVALUE_OK; /* when it is converted */
  const uint8_t *bytes = w->data + place->piece.start;
  size_t good = kind == EVALUE_TFEXAMPLE_STRING ? evalue_utf8_prefix(bytes, place->piece.size) : place->piece.size;
  if (good != place->piece.size) {
    return evalue_tfexample_fail_expecting(w, EVALUE_TFEXAMPLE_FAULT_UTF8, place->piece.start + good, 0, bytes[good]);
  }
  *value = evalue_from_string((const char *)bytes, place->piece.size);
  return EVALUE_OK;
}

/* Says whether the list can become the feature's value. */
static bool is_welcome(const evalue_tfexample_feature *f, uint32_t list) {
  return list == evalue_tfexample_list_of(f) ||
         (list == EVALUE_TFEXAMPLE_BYTES_LIST && f->kind == EVALUE_TFEXAMPLE_TENSOR);
}

/* Finds out what a feature has, and makes of it what needs no conversion. */
static evalue_status measure(evalue_tfexample_work *w, evalue_tfexample_place *place, evalue *value) {
  const evalue_tfexample_feature *f = feature_of(w);
  evalue_status status = evalue_tfexample_count(w, place);
  if (status != EVALUE_OK) return status;
  if (place->list == EVALUE_TFEXAMPLE_NO_LIST) {
    *value = evalue_from_none();
    if (f->is_optional != 0) return EVALUE_OK;
    return evalue_tfexample_fail_expecting(w, EVALUE_TFEXAMPLE_FAULT_MISSING,
                                           place->is_there ? place->entry.start : EVALUE_NO_INDEX,
                                           evalue_tfexample_list_of(f), EVALUE_TFEXAMPLE_NO_LIST);
  }
  if (!is_welcome(f, place->list)) {
    return evalue_tfexample_fail_expecting(w, EVALUE_TFEXAMPLE_FAULT_LIST, place->position, evalue_tfexample_list_of(f),
                                           place->list);
  }
  if (f->kind != EVALUE_TFEXAMPLE_TENSOR) return fit_scalar(w, place, value);
  value->tag = EVALUE_TAG_TENSOR;
  memset(&value->tensor, 0, sizeof value->tensor);
  return fit_tensor(w, place, &value->tensor);
}

/* ---- converting ---- */

/* Where a feature's elements go. */
typedef struct output {
  const evalue_tfexample_place *place;
  uint8_t *to;
  uint64_t left, index; /* elements */
  uint32_t scalar_type;
} output;

static evalue_status fail_range(evalue_tfexample_work *w, const output *out, size_t position, uint64_t found) {
  if (feature_of(w)->kind == EVALUE_TFEXAMPLE_TENSOR) w->error.element = out->index;
  return evalue_tfexample_fail_expecting(w, EVALUE_TFEXAMPLE_FAULT_RANGE, position, 0, found);
}

static evalue_status put_floats(evalue_tfexample_work *w, output *out, evalue_tfexample_range run) {
  const uint8_t *p = w->data + run.start;
  size_t n = run.size / EVALUE_TFEXAMPLE_FLOAT, width = evalue_element_size(out->scalar_type);
  if (n > out->left) return evalue_tfexample_fail(w, EVALUE_TFEXAMPLE_FAULT_ARGUMENT, run.start); /* data has changed */
  size_t done = evalue_tfexample_store_floats(out->scalar_type, out->to, p, n);
  out->to += done * width;
  out->left -= done;
  out->index += done;
  if (done == n) return EVALUE_OK;
  p += done * EVALUE_TFEXAMPLE_FLOAT;
  return fail_range(w, out, (size_t)(p - w->data), evalue_tfexample_widen(evalue_load_u32(p)));
}

static void store_int(uint8_t *to, uint64_t bits, size_t width) {
  switch (width) {
    case 1: *to = (uint8_t)bits; break;
    case 2:
      to[0] = (uint8_t)bits;
      to[1] = (uint8_t)(bits >> 8);
      break;
    case 4: evalue_store_u32(to, (uint32_t)bits); break;
    default: evalue_store_u64(to, bits); break;
  }
}

static evalue_status put_ints(evalue_tfexample_work *w, output *out, evalue_tfexample_range run) {
  const uint8_t *p = w->data + run.start;
  uint8_t *to = out->to;
  size_t width = evalue_element_size(out->scalar_type), i = 0, step;
  uint64_t n = 0;
  int64_t least, largest;
  evalue_tfexample_int_range(out->scalar_type, &least, &largest);
  for (; i < run.size; i += step, n++, to += width) {
    uint64_t bits = 0;
    step = evalue_tfexample_load_varint(p + i, run.size - i, &bits);
    if (step == 0 || n == out->left) {
      return evalue_tfexample_fail(w, EVALUE_TFEXAMPLE_FAULT_BAD_VARINT, run.start + i);
    }
    int64_t number = (int64_t)bits;
    if (number < least || number > largest) {
      out->index += n;
      return fail_range(w, out, run.start + i, bits);
    }
    store_int(to, bits, width);
  }
  out->to = to;
  out->left -= n;
  out->index += n;
  return EVALUE_OK;
}

static evalue_status put_list(evalue_tfexample_work *w, void *state, const evalue_tfexample_field *list, size_t index) {
  output *out = state;
  if (index < out->place->first) return EVALUE_OK;
  bool is_float = list->number == EVALUE_TFEXAMPLE_FLOAT_LIST;
  pb_wire_type_t single = is_float ? PB_WT_32BIT : PB_WT_VARINT;
  evalue_tfexample_cursor c = evalue_tfexample_enter(w, list->payload);
  evalue_tfexample_field f;
  evalue_status status;
  while ((status = evalue_tfexample_next(w, &c, &f)) == EVALUE_OK) {
    if (f.number != EVALUE_TFEXAMPLE_ENTRIES || (f.type != PB_WT_STRING && f.type != single)) continue;
    status = is_float ? put_floats(w, out, f.payload) : put_ints(w, out, f.payload);
    if (status != EVALUE_OK) return status;
  }
  return status == EVALUE_END ? EVALUE_OK : status;
}

static evalue_status put(evalue_tfexample_work *w, const evalue_tfexample_place *place, uint8_t *to) {
  output out;
  out.place = place;
  out.to = to;
  out.left = place->count;
  out.index = 0;
  out.scalar_type = evalue_tfexample_scalar_type(feature_of(w));
  return evalue_tfexample_walk(w, place->entry, put_list, &out);
}

static evalue_status put_scalar(evalue_tfexample_work *w, const evalue_tfexample_place *place, evalue *value) {
  uint8_t bytes[8] = {0};
  evalue_status status = put(w, place, bytes);
  uint64_t bits = evalue_load_u64(bytes);
  switch (feature_of(w)->kind) {
    case EVALUE_TFEXAMPLE_INT: *value = evalue_from_int((int64_t)bits); break;
    case EVALUE_TFEXAMPLE_BOOL: *value = evalue_from_bool(bits != 0); break;
    default:
      value->tag = EVALUE_TAG_DOUBLE;
      memcpy(&value->double_value, &bits, sizeof bits); /* not as an argument, which could make a NaN quiet */
      break;
  }
  return status;
}

/* ---- all features ---- */

/* Says whether the entries can stay where they are: raw bytes, or a run of float32. */
static bool is_in_place(const evalue_tfexample_feature *f, const evalue_tfexample_place *place) {
  if (place->list == EVALUE_TFEXAMPLE_BYTES_LIST || place->list == EVALUE_TFEXAMPLE_NO_LIST) return true;
  return f->kind == EVALUE_TFEXAMPLE_TENSOR && f->scalar_type == EVALUE_FLOAT32 && place->pieces <= 1;
}

static evalue_status measure_all(evalue_tfexample_work *w, evalue *values, uint64_t *needed) {
  for (w->feature = 0; w->feature < w->converter->count; w->feature++) {
    const evalue_tfexample_feature *f = feature_of(w);
    evalue_tfexample_place *place = &w->converter->places[w->feature];
    evalue *value = &values[w->feature];
    evalue_status status = measure(w, place, value);
    if (status != EVALUE_OK) return status;
    if (f->kind != EVALUE_TFEXAMPLE_TENSOR || place->list <= EVALUE_TFEXAMPLE_BYTES_LIST) continue;
    uint64_t nbytes = place->count * evalue_element_size(f->scalar_type);
    if (*needed + nbytes > SIZE_MAX / 2) {
      return evalue_tfexample_fail_expecting(w, EVALUE_TFEXAMPLE_FAULT_MEMORY, EVALUE_NO_INDEX, nbytes, 0);
    }
    value->tensor.nbytes = (size_t)nbytes;
    if (is_in_place(f, place)) {
      value->tensor.data = w->data + (place->pieces != 0 ? place->piece.start : place->position);
    } else {
      place->offset = (size_t)*needed;
      *needed += (nbytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
  }
  return EVALUE_OK;
}

static evalue_status convert_all(evalue_tfexample_work *w, evalue *values) {
  for (w->feature = 0; w->feature < w->converter->count; w->feature++) {
    const evalue_tfexample_place *place = &w->converter->places[w->feature];
    evalue *value = &values[w->feature];
    if (is_in_place(feature_of(w), place)) continue;
    uint8_t *to = w->converter->values.data + place->offset;
    bool is_tensor = feature_of(w)->kind == EVALUE_TFEXAMPLE_TENSOR;
    evalue_status status = is_tensor ? put(w, place, to) : put_scalar(w, place, value);
    if (status != EVALUE_OK) return status;
    if (is_tensor) value->tensor.data = to;
  }
  return EVALUE_OK;
}

static evalue_status decode(evalue_tfexample_work *w, evalue *values) {
  uint64_t needed = 0;
  if (w->size > EVALUE_TFEXAMPLE_LIMIT) {
    return evalue_tfexample_fail_expecting(w, EVALUE_TFEXAMPLE_FAULT_TOO_LARGE, EVALUE_NO_INDEX, EVALUE_TFEXAMPLE_LIMIT,
                                           w->size);
  }
  evalue_status status = evalue_tfexample_find(w);
  if (status == EVALUE_OK) status = measure_all(w, values, &needed);
  w->feature = EVALUE_NO_INDEX; /* memory is nobody's in particular */
  if (status == EVALUE_OK) status = evalue_tfexample_reserve(w, &w->converter->values, needed + 1);
  return status == EVALUE_OK ? convert_all(w, values) : status;
}

evalue_status evalue_tfexample_decode(evalue_tfexample *converter, const void *data, size_t size, evalue *values,
                                      evalue_tfexample_error *error) {
  static const uint8_t nothing;
  evalue_tfexample_work w = {converter, data != NULL ? data : &nothing, size, EVALUE_NO_INDEX,
                             evalue_tfexample_error_of(EVALUE_TFEXAMPLE_FAULT_NONE)};
  bool is_good = converter != NULL && (data != NULL || size == 0) && values != NULL && converter->places != NULL;
  if (!is_good) evalue_tfexample_fail(&w, EVALUE_TFEXAMPLE_FAULT_ARGUMENT, EVALUE_NO_INDEX);
  else decode(&w, values);
  if (error != NULL) *error = w.error;
  return (evalue_status)w.error.status;
}
