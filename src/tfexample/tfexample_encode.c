/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values to an example. A message has its length before it, so sizes are computed first, from the inside to the
 * outside, and every number is judged with them; then nanopb writes it all into memory that is exactly large enough.
 */
#include <pb_encode.h>

#include "../text/utf8.h"
#include "tfexample_internal.h"

enum { TAG_SIZE = 1, ALIGNMENT = 64 };

static const evalue_tfexample_feature *feature_of(const evalue_tfexample_work *w) {
  return &w->converter->features[w->feature];
}

static evalue_status fail(evalue_tfexample_work *w, uint32_t fault, uint64_t expected, uint64_t found) {
  return evalue_tfexample_fail_expecting(w, fault, EVALUE_NO_INDEX, expected, found);
}

static evalue_status fail_element(evalue_tfexample_work *w, uint32_t fault, uint64_t element, uint64_t found) {
  if (feature_of(w)->kind == EVALUE_TFEXAMPLE_TENSOR) w->error.element = element;
  return fail(w, fault, 0, found);
}

/* ---- what a value has to be ---- */

static evalue_status check_tensor(evalue_tfexample_work *w, const evalue_tensor *t) {
  const evalue_tfexample_feature *f = feature_of(w);
  if (t->scalar_type != f->scalar_type) {
    return fail(w, EVALUE_TFEXAMPLE_FAULT_SCALAR_TYPE, f->scalar_type, t->scalar_type);
  }
  if (t->ndim != f->ndim) return fail(w, EVALUE_TFEXAMPLE_FAULT_NDIM, f->ndim, t->ndim);
  for (size_t i = 0; i < f->ndim; i++) {
    if (f->sizes[i] < 0 || f->sizes[i] == t->sizes[i]) continue;
    w->error.element = i;
    return fail(w, EVALUE_TFEXAMPLE_FAULT_SIZE, (uint32_t)f->sizes[i], (uint32_t)t->sizes[i]);
  }
  return EVALUE_OK;
}

static evalue_status check(evalue_tfexample_work *w, const evalue *value) {
  static const uint8_t tags[] = {
      [EVALUE_TFEXAMPLE_INT] = EVALUE_TAG_INT,       [EVALUE_TFEXAMPLE_BOOL] = EVALUE_TAG_BOOL,
      [EVALUE_TFEXAMPLE_DOUBLE] = EVALUE_TAG_DOUBLE, [EVALUE_TFEXAMPLE_STRING] = EVALUE_TAG_STRING,
      [EVALUE_TFEXAMPLE_BYTES] = EVALUE_TAG_STRING,  [EVALUE_TFEXAMPLE_TENSOR] = EVALUE_TAG_TENSOR};
  const evalue_tfexample_feature *f = feature_of(w);
  evalue_status status = evalue_check(value);
  if (status == EVALUE_LIMIT)
    return fail(w, EVALUE_TFEXAMPLE_FAULT_TOO_LARGE, EVALUE_TFEXAMPLE_LIMIT, value->string.nbytes);
  if (status != EVALUE_OK) return fail(w, EVALUE_TFEXAMPLE_FAULT_ARGUMENT, 0, 0);
  if (evalue_utf8_prefix((const uint8_t *)f->name, f->name_size) != f->name_size) {
    return fail(w, EVALUE_TFEXAMPLE_FAULT_NAME_UTF8, 0, 0);
  }
  if (value->tag == EVALUE_TAG_NONE && f->is_optional != 0) return EVALUE_OK;
  if (value->tag != tags[f->kind]) return fail(w, EVALUE_TFEXAMPLE_FAULT_VALUE_KIND, tags[f->kind], value->tag);
  if (f->kind == EVALUE_TFEXAMPLE_TENSOR) return check_tensor(w, &value->tensor);
  if (f->kind != EVALUE_TFEXAMPLE_STRING) return EVALUE_OK;
  size_t good = evalue_utf8_prefix((const uint8_t *)value->string.data, value->string.nbytes);
  return good == value->string.nbytes ? EVALUE_OK : fail(w, EVALUE_TFEXAMPLE_FAULT_UTF8, 0, good);
}

/* ---- elements in row-major order ---- */

static bool needs_copy(const evalue *value) {
  return value->tag == EVALUE_TAG_TENSOR && !evalue_tensor_is_contiguous(&value->tensor);
}

/* Says where a value's elements or bytes are; those of a tensor in another order are copied to `copy`. */
static void place_elements(evalue_tfexample_place *place, const evalue *value, uint8_t *copy) {
  uint64_t bits = 0;
  place->count = 1;
  place->data = place->scalar;
  switch (value->tag) {
    case EVALUE_TAG_TENSOR:
      place->count = (uint64_t)evalue_tensor_numel(&value->tensor);
      place->piece.size = value->tensor.nbytes;
      place->data = needs_copy(value) ? copy : value->tensor.data;
      if (needs_copy(value)) evalue_tensor_copy(&value->tensor, NULL, EVALUE_LITTLE_ENDIAN, copy, place->piece.size);
      break;
    case EVALUE_TAG_STRING:
      place->data = (const uint8_t *)value->string.data;
      place->piece.size = value->string.nbytes;
      break;
    case EVALUE_TAG_BOOL: place->scalar[0] = value->bool_value; break;
    default: /* Int and Double; the double shares its place */
      memcpy(&bits, &value->int_value, sizeof bits);
      evalue_store_u64(place->scalar, bits);
      break;
  }
}

static evalue_status place_all(evalue_tfexample_work *w, const evalue *values) {
  evalue_tfexample *c = w->converter;
  uint64_t needed = 0;
  size_t used = 0;
  for (size_t i = 0; i < c->count; i++) {
    if (!needs_copy(&values[i])) continue;
    if (values[i].tensor.nbytes > SIZE_MAX / 2 - needed) return fail(w, EVALUE_TFEXAMPLE_FAULT_MEMORY, needed, 0);
    needed += values[i].tensor.nbytes;
  }
  evalue_status status = evalue_tfexample_reserve(w, &c->copies, needed);
  if (status != EVALUE_OK) return status;
  for (size_t i = 0; i < c->count; i++) {
    place_elements(&c->places[i], &values[i], needed != 0 ? c->copies.data + used : NULL);
    if (needs_copy(&values[i])) used += values[i].tensor.nbytes;
  }
  return EVALUE_OK;
}

/* ---- sizes ---- */

/* The bytes of a field with so many behind its length. */
static uint64_t field_size(uint64_t nbytes) {
  return TAG_SIZE + evalue_tfexample_varint_size(nbytes) + nbytes;
}

static evalue_status measure_ints(evalue_tfexample_work *w, evalue_tfexample_place *place, uint32_t type) {
  size_t width = evalue_element_size(type);
  place->payload = 0;
  for (uint64_t i = 0; i < place->count; i++) {
    int64_t number = 0;
    if (!evalue_tfexample_load_int(type, place->data + i * width, &number)) {
      return fail_element(w, EVALUE_TFEXAMPLE_FAULT_RANGE, i, (uint64_t)number);
    }
    place->payload += evalue_tfexample_varint_size((uint64_t)number);
  }
  return EVALUE_OK;
}

/* Raw bytes of a bool are looked at, as they are when they come back. */
static evalue_status measure_bytes(evalue_tfexample_work *w, evalue_tfexample_place *place, uint32_t type) {
  place->payload = place->piece.size;
  for (size_t i = 0; type == EVALUE_BOOL && i < place->piece.size; i++) {
    if (place->data[i] > 1) return fail_element(w, EVALUE_TFEXAMPLE_FAULT_RANGE, i, place->data[i]);
  }
  return EVALUE_OK;
}

static evalue_status measure(evalue_tfexample_work *w, evalue_tfexample_place *place) {
  const evalue_tfexample_feature *f = feature_of(w);
  uint32_t type = evalue_tfexample_scalar_type(f);
  evalue_status status = EVALUE_OK;
  place->list = evalue_tfexample_list_of(f);
  if (place->list == EVALUE_TFEXAMPLE_BYTES_LIST) status = measure_bytes(w, place, type);
  else if (place->list == EVALUE_TFEXAMPLE_INT64_LIST) status = measure_ints(w, place, type);
  else place->payload = place->count * EVALUE_TFEXAMPLE_FLOAT;
  bool is_empty = place->list != EVALUE_TFEXAMPLE_BYTES_LIST && place->count == 0; /* then there is no run at all */
  place->list_size = is_empty ? 0 : field_size(place->payload);
  place->feature_size = field_size(place->list_size);
  place->entry_size = field_size(f->name_size) + field_size(place->feature_size);
  return status;
}

static evalue_status measure_all(evalue_tfexample_work *w, const evalue *values, uint64_t *features_size) {
  *features_size = 0;
  for (w->feature = 0; w->feature < w->converter->count; w->feature++) {
    evalue_tfexample_place *place = &w->converter->places[w->feature];
    place->is_there = values[w->feature].tag != EVALUE_TAG_NONE;
    if (!place->is_there) continue;
    evalue_status status = measure(w, place);
    if (status != EVALUE_OK) return status;
    *features_size += field_size(place->entry_size);
    if (field_size(*features_size) <= EVALUE_TFEXAMPLE_LIMIT) continue;
    return fail(w, EVALUE_TFEXAMPLE_FAULT_TOO_LARGE, EVALUE_TFEXAMPLE_LIMIT, field_size(*features_size));
  }
  return EVALUE_OK;
}

/* ---- bytes ---- */

/* The sizes were right before: who changes the values meanwhile is refused, and nothing is overwritten. */
static evalue_status fail_changed(evalue_tfexample_work *w) {
  return fail(w, EVALUE_TFEXAMPLE_FAULT_ARGUMENT, 0, 0);
}

static bool put_head(pb_ostream_t *out, uint32_t number, uint64_t nbytes) {
  return pb_encode_tag(out, PB_WT_STRING, number) && pb_encode_varint(out, nbytes);
}

/* Numbers are gathered here, since nanopb takes each run of bytes with several calls. */
enum { CHUNK = 1024 };

static bool put_ints(pb_ostream_t *out, const evalue_tfexample_place *place, uint32_t type) {
  uint8_t chunk[CHUNK];
  size_t width = evalue_element_size(type), used = 0;
  for (uint64_t i = 0; i < place->count; i++) {
    int64_t number = 0;
    evalue_tfexample_load_int(type, place->data + i * width, &number);
    used += evalue_tfexample_store_varint(chunk + used, (uint64_t)number);
    if (used <= CHUNK - EVALUE_TFEXAMPLE_VARINT) continue;
    if (!pb_write(out, chunk, used)) return false;
    used = 0;
  }
  return pb_write(out, chunk, used);
}

static evalue_status fail_float(evalue_tfexample_work *w, uint64_t element, uint64_t bits) {
  bool is_beyond = evalue_tfexample_is_beyond(bits);
  return fail_element(w, is_beyond ? EVALUE_TFEXAMPLE_FAULT_RANGE : EVALUE_TFEXAMPLE_FAULT_INEXACT, element, bits);
}

static evalue_status put_floats(evalue_tfexample_work *w, pb_ostream_t *out, const evalue_tfexample_place *place,
                                uint32_t type) {
  uint8_t chunk[CHUNK];
  size_t width = evalue_element_size(type);
  bool round = w->converter->round != 0;
  for (uint64_t i = 0; i < place->count;) {
    const uint8_t *from = place->data + i * width;
    uint64_t left = place->count - i;
    size_t n = left < CHUNK / EVALUE_TFEXAMPLE_FLOAT ? (size_t)left : CHUNK / EVALUE_TFEXAMPLE_FLOAT;
    size_t done = evalue_tfexample_load_floats(type, from, chunk, n, round);
    if (done != n) return fail_float(w, i + done, evalue_load_u64(from + done * width)); /* only doubles can fail */
    if (!pb_write(out, chunk, n * EVALUE_TFEXAMPLE_FLOAT)) return fail_changed(w);
    i += n;
  }
  return EVALUE_OK;
}

static evalue_status put_payload(evalue_tfexample_work *w, pb_ostream_t *out, const evalue_tfexample_place *place) {
  uint32_t type = evalue_tfexample_scalar_type(feature_of(w));
  bool is_float = place->list == EVALUE_TFEXAMPLE_FLOAT_LIST, is_good;
  if (is_float && type != EVALUE_FLOAT32) return put_floats(w, out, place, type);
  if (place->list == EVALUE_TFEXAMPLE_INT64_LIST) is_good = put_ints(out, place, type);
  else is_good = place->payload == 0 || pb_write(out, place->data, (size_t)place->payload);
  return is_good ? EVALUE_OK : fail_changed(w);
}

static evalue_status put_entry(evalue_tfexample_work *w, pb_ostream_t *out, const evalue_tfexample_place *place) {
  const evalue_tfexample_feature *f = feature_of(w);
  bool is_good =
      put_head(out, EVALUE_TFEXAMPLE_ENTRY, place->entry_size) && put_head(out, EVALUE_TFEXAMPLE_KEY, f->name_size) &&
      pb_write(out, (const pb_byte_t *)f->name, f->name_size) &&
      put_head(out, EVALUE_TFEXAMPLE_VALUE, place->feature_size) && put_head(out, place->list, place->list_size);
  if (is_good && place->list_size == 0) return EVALUE_OK;
  is_good = is_good && put_head(out, EVALUE_TFEXAMPLE_ENTRIES, place->payload);
  return is_good ? put_payload(w, out, place) : fail_changed(w);
}

static evalue_status put_all(evalue_tfexample_work *w, uint64_t features_size, evalue_slice *example) {
  evalue_tfexample *c = w->converter;
  size_t size = (size_t)field_size(features_size);
  w->feature = EVALUE_NO_INDEX;
  evalue_status status = evalue_tfexample_reserve(w, &c->values, size);
  if (status != EVALUE_OK) return status;
  pb_ostream_t out = pb_ostream_from_buffer(c->values.data, size);
  if (!put_head(&out, EVALUE_TFEXAMPLE_FEATURES, features_size)) return fail_changed(w);
  for (w->feature = 0; w->feature < c->count; w->feature++) {
    const evalue_tfexample_place *place = &c->places[w->feature];
    status = place->is_there ? put_entry(w, &out, place) : EVALUE_OK;
    if (status != EVALUE_OK) return status;
  }
  if (out.bytes_written != size) return fail_changed(w);
  example->data = c->values.data;
  example->size = size;
  return EVALUE_OK;
}

static evalue_status encode(evalue_tfexample_work *w, const evalue *values, evalue_slice *example) {
  uint64_t features_size = 0;
  evalue_status status = EVALUE_OK;
  for (w->feature = 0; w->feature < w->converter->count && status == EVALUE_OK; w->feature++) {
    status = check(w, &values[w->feature]);
  }
  w->feature = EVALUE_NO_INDEX;
  if (status == EVALUE_OK) status = place_all(w, values);
  if (status == EVALUE_OK) status = measure_all(w, values, &features_size);
  return status == EVALUE_OK ? put_all(w, features_size, example) : status;
}

evalue_status evalue_tfexample_encode(evalue_tfexample *converter, const evalue *values, evalue_slice *example,
                                      evalue_tfexample_error *error) {
  evalue_tfexample_work w = {converter, NULL, 0, EVALUE_NO_INDEX,
                             evalue_tfexample_error_of(EVALUE_TFEXAMPLE_FAULT_NONE)};
  bool is_good = converter != NULL && converter->places != NULL && values != NULL && example != NULL;
  if (!is_good) evalue_tfexample_fail(&w, EVALUE_TFEXAMPLE_FAULT_ARGUMENT, EVALUE_NO_INDEX);
  else encode(&w, values, example);
  if (error != NULL) *error = w.error;
  return (evalue_status)w.error.status;
}
