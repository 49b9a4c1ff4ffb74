/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes to a value (spec/executorch-java.md, section 3, whose order the checks have). A value has a head, which says
 * how long the rest is, and the rest: a scalar, a String's bytes, a tensor's data. Each byte of the head is loaded
 * once.
 */
#include "../text/utf8.h"
#include "java.h"

typedef struct reading {
  const uint8_t *data;
  size_t size;
  size_t position; /* of the next field; after the head, of the rest */
  uint64_t rest;   /* bytes after the head */
  evalue_java_options options;
  evalue_error error;
  evalue value; /* complete but for what the rest holds */
} reading;

/* ---- faults ---- */

static evalue_status fail(reading *r, evalue_fault fault, evalue_field field, uint64_t found) {
  evalue_status status = evalue_java_fail(&r->error, fault, field, r->position);
  r->error.found = found;
  return status;
}

static evalue_status fail_expecting(reading *r, evalue_fault fault, evalue_field field, uint64_t expected,
                                    uint64_t found) {
  evalue_status status = fail(r, fault, field, found);
  r->error.expected = expected;
  return status;
}

/* The input ends inside the field at r->position; with `needed` bytes it would go on behind it. */
static evalue_status fail_short(reading *r, evalue_field field, uint64_t needed) {
  fail_expecting(r, EVALUE_FAULT_FIELD_SHORT, field, needed, r->size);
  r->error.needed = needed;
  return EVALUE_TRUNCATED;
}

/* The value, all of it, is longer than a Java array. */
static evalue_status fail_too_long(reading *r, evalue_field field, uint64_t size) {
  return fail_expecting(r, EVALUE_FAULT_JAVA_TOO_LONG, field, EVALUE_JAVA_LIMIT, size);
}

/* ---- the head ---- */

/* Says whether so many bytes are there from r->position on. */
static bool has(const reading *r, uint64_t nbytes) {
  return nbytes <= r->size - r->position;
}

static evalue_status read_length(reading *r) {
  if (!has(r, 4)) return fail_short(r, EVALUE_FIELD_LENGTH, EVALUE_JAVA_AT_STRING);
  uint32_t length = evalue_load_be_u32(r->data + r->position);
  if (length > INT32_MAX) {
    return fail(r, EVALUE_FAULT_NEGATIVE_LENGTH, EVALUE_FIELD_LENGTH, (uint64_t)(int64_t)(int32_t)length);
  }
  uint64_t total = EVALUE_JAVA_AT_STRING + (uint64_t)length;
  if (total > EVALUE_JAVA_LIMIT) return fail_too_long(r, EVALUE_FIELD_LENGTH, total);
  r->position = EVALUE_JAVA_AT_STRING;
  r->rest = length;
  return EVALUE_OK;
}

/* Reads the sizes, judging each before the next; extent is that of the tensor so far. */
static evalue_status read_sizes(reading *r, evalue_tensor *t, uint64_t extent) {
  uint64_t end = r->position + 4 * (uint64_t)t->ndim;
  bool is_empty = false;
  for (uint32_t i = 0; i < t->ndim; i++, r->position += 4) {
    if (!has(r, 4)) return fail_short(r, EVALUE_FIELD_SIZE, end);
    int32_t size = (int32_t)evalue_load_be_u32(r->data + r->position);
    uint64_t found = (uint64_t)(int64_t)size;
    if (size < 0) return fail(r, EVALUE_FAULT_NEGATIVE_SIZE, EVALUE_FIELD_SIZE, found);
    if (size == 0) is_empty = true; /* counts as one in the extent */
    else if (!evalue_multiply(&extent, (uint32_t)size)) {
      return fail(r, EVALUE_FAULT_EXTENT_TOO_LARGE, EVALUE_FIELD_SIZE, found);
    }
    t->sizes[i] = size;
    t->dim_order[i] = (uint8_t)i;
  }
  r->rest = is_empty ? 0 : extent;
  if (r->position + r->rest > EVALUE_JAVA_LIMIT) {
    return fail_too_long(r, EVALUE_FIELD_DATA, r->position + r->rest);
  }
  return EVALUE_OK;
}

static evalue_status read_tensor(reading *r) {
  evalue_tensor *t = &r->value.tensor;
  if (!has(r, 1)) return fail_short(r, EVALUE_FIELD_SCALAR_TYPE, r->position + 1);
  uint32_t dtype = evalue_load_u8(r->data + r->position);
  int scalar_type = evalue_java_scalar_type(dtype, r->options.release);
  if (scalar_type < 0) {
    return fail_expecting(r, EVALUE_FAULT_UNKNOWN_DTYPE, EVALUE_FIELD_SCALAR_TYPE, r->options.release, dtype);
  }
  r->position++;
  if (!has(r, 1)) return fail_short(r, EVALUE_FIELD_NDIM, r->position + 1);
  uint32_t ndim = evalue_load_u8(r->data + r->position);
  if (ndim > EVALUE_MAX_NDIM) {
    return fail_expecting(r, EVALUE_FAULT_NDIM_TOO_LARGE, EVALUE_FIELD_NDIM, EVALUE_MAX_NDIM, ndim);
  }
  r->position++;
  t->scalar_type = (uint8_t)scalar_type;
  t->ndim = (uint8_t)ndim;
  return read_sizes(r, t, evalue_element_size(t->scalar_type));
}

/* Reads the tag, where there is one, and with it all that says how long the rest is. */
static evalue_status read_head(reading *r) {
  r->value.tag = EVALUE_TAG_TENSOR;
  if (r->options.bare_tensor != 0) return read_tensor(r);
  if (r->size == 0) {
    fail(r, EVALUE_FAULT_NO_VALUE, EVALUE_FIELD_TAG, 0);
    r->error.needed = 1;
    return EVALUE_TRUNCATED;
  }
  uint32_t tag = evalue_load_u8(r->data);
  if (tag > EVALUE_TAG_BOOL) return fail(r, EVALUE_FAULT_UNKNOWN_JAVA_TAG, EVALUE_FIELD_TAG, tag);
  if (tag == EVALUE_TAG_STRING && !evalue_java_has_strings(r->options.release)) {
    return fail_expecting(r, EVALUE_FAULT_STRING_BEFORE_1_2, EVALUE_FIELD_TAG, r->options.release, tag);
  }
  r->value.tag = (uint8_t)tag;
  r->position = EVALUE_JAVA_AT_PAYLOAD;
  switch (tag) {
    case EVALUE_TAG_TENSOR: return read_tensor(r);
    case EVALUE_TAG_STRING: return read_length(r);
    case EVALUE_TAG_DOUBLE:
    case EVALUE_TAG_INT: r->rest = 8; return EVALUE_OK;
    case EVALUE_TAG_BOOL: r->rest = 1; return EVALUE_OK;
    default: return EVALUE_OK; /* None */
  }
}

/* ---- the rest ---- */

static bool continues(const reading *r, const char *text, size_t nbytes) {
  return has(r, nbytes) && memcmp(r->data + r->position, text, nbytes) == 0;
}

/*
 * Says whether a String that is too short is one of a release before 1.2, which wrote what Java makes of any object,
 * and no length: so the length that was read is its first four characters.
 */
static bool is_before_1_2(const reading *r) {
  static const char after_org[] = "pytorch.executorch.EValue@", after_eval[] = "ue@";
  enum { ORG = 0x6f72672e /* "org." */, EVAL = 0x4556616c /* "EVal" */ };
  if (r->rest == ORG) return continues(r, after_org, sizeof after_org - 1);
  return r->rest == EVAL && continues(r, after_eval, sizeof after_eval - 1);
}

/* The rest is not all there. */
static evalue_status fail_rest(reading *r) {
  static const uint8_t fields[] = {[EVALUE_TAG_TENSOR] = EVALUE_FIELD_DATA,
                                   [EVALUE_TAG_STRING] = EVALUE_FIELD_STRING,
                                   [EVALUE_TAG_DOUBLE] = EVALUE_FIELD_DOUBLE,
                                   [EVALUE_TAG_INT] = EVALUE_FIELD_INT,
                                   [EVALUE_TAG_BOOL] = EVALUE_FIELD_BOOL};
  if (r->value.tag == EVALUE_TAG_STRING && is_before_1_2(r)) {
    r->position = EVALUE_JAVA_AT_PAYLOAD;
    return fail_expecting(r, EVALUE_FAULT_STRING_BEFORE_1_2, EVALUE_FIELD_LENGTH, r->options.release, r->rest);
  }
  return fail_short(r, (evalue_field)fields[r->value.tag], r->position + r->rest);
}

static evalue_status read_bool(reading *r, const uint8_t *rest) {
  uint32_t byte = evalue_load_u8(rest);
  if (byte > 1 && r->options.allow_any_bool == 0) return fail(r, EVALUE_FAULT_BAD_BOOL, EVALUE_FIELD_BOOL, byte);
  r->value.bool_value = byte != 0;
  return EVALUE_OK;
}

static evalue_status read_string(reading *r, const uint8_t *rest, size_t nbytes) {
  size_t good = r->options.allow_any_text != 0 ? nbytes : evalue_utf8_prefix(rest, nbytes);
  if (good != nbytes) {
    r->position += good;
    return fail(r, EVALUE_FAULT_BAD_UTF8, EVALUE_FIELD_STRING, evalue_load_u8(rest + good));
  }
  r->value.string.data = (const char *)rest;
  r->value.string.nbytes = nbytes;
  return EVALUE_OK;
}

/* Reads the rest. A tensor views its data where they lie, and not yet swapped. */
static evalue_status read_rest(reading *r) {
  if (!has(r, r->rest)) return fail_rest(r);
  const uint8_t *rest = r->data + r->position;
  size_t nbytes = (size_t)r->rest;
  evalue_status status = EVALUE_OK;
  switch (r->value.tag) {
    case EVALUE_TAG_TENSOR:
      r->value.tensor.data = rest;
      r->value.tensor.nbytes = nbytes;
      break;
    case EVALUE_TAG_STRING: status = read_string(r, rest, nbytes); break;
    case EVALUE_TAG_BOOL: status = read_bool(r, rest); break;
    case EVALUE_TAG_DOUBLE:
    case EVALUE_TAG_INT: {
      uint64_t bits = evalue_load_be_u64(rest);
      EVALUE_COPY(&r->value.int_value, &bits, sizeof bits); /* the double shares its place */
      break;
    }
    default: r->value.int_value = 0; break; /* None */
  }
  if (status != EVALUE_OK) return status;
  r->position += nbytes;
  if (r->position == r->size || r->options.allow_trailing != 0) return EVALUE_OK;
  fail_expecting(r, EVALUE_FAULT_TRAILING_BYTES, EVALUE_FIELD_TRAILING, r->position, r->size);
  r->error.value_index = 1;
  return EVALUE_MALFORMED;
}

/* ---- the calls ---- */

static evalue_status start(reading *r, const void *data, size_t size, const evalue_java_options *options) {
  r->data = (const uint8_t *)data;
  r->size = size;
  r->position = 0;
  r->rest = 0;
  memset(&r->error, 0, sizeof r->error);
  bool is_good = evalue_java_take_options(&r->options, options) && (data != NULL || size == 0);
  return is_good ? EVALUE_OK : fail(r, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
}

static evalue_status conclude(const reading *r, evalue_error *error) {
  if (error != NULL) *error = r->error;
  return (evalue_status)r->error.status;
}

/* A call with wrong arguments. */
static evalue_status refuse(reading *r, evalue_error *error) {
  fail(r, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
  return conclude(r, error);
}

/* The bytes whose order has to be turned round: of a tensor with elements wider than a byte. */
static uint64_t swapped_size(const reading *r) {
  bool is_wide = r->value.tag == EVALUE_TAG_TENSOR && evalue_element_size(r->value.tensor.scalar_type) > 1;
  return is_wide ? r->rest : 0;
}

evalue_status evalue_java_measure(const void *data, size_t size, const evalue_java_options *options,
                                  uint64_t *value_size, uint64_t *scratch_size, evalue_error *error) {
  reading r;
  evalue_status status = start(&r, data, size, options);
  if (value_size == NULL || scratch_size == NULL) return refuse(&r, error);
  if (status == EVALUE_OK) status = read_head(&r);
  if (status == EVALUE_OK) {
    *value_size = r.position + r.rest;
    *scratch_size = swapped_size(&r);
  }
  return conclude(&r, error);
}

/* Reads and judges everything. */
static evalue_status read_all(reading *r, const void *data, size_t size, const evalue_java_options *options) {
  evalue_status status = start(r, data, size, options);
  if (status == EVALUE_OK) status = read_head(r);
  return status == EVALUE_OK ? read_rest(r) : status;
}

/* Hands a good value out, its elements swapped into memory. */
static void hand_out(reading *r, void *memory, evalue *value, uint64_t *used) {
  evalue_tensor *t = &r->value.tensor;
  if (swapped_size(r) != 0) {
    evalue_copy_reversed(memory, t->data, t->nbytes, evalue_element_size(t->scalar_type));
    t->data = memory;
  }
  *value = r->value;
  if (used != NULL) *used = r->position;
}

evalue_status evalue_java_decode(const void *data, size_t size, const evalue_java_options *options, void *scratch,
                                 size_t capacity, evalue *value, uint64_t *used, evalue_error *error) {
  reading r;
  evalue_status status = read_all(&r, data, size, options);
  if (scratch == NULL && capacity != 0) return refuse(&r, error);
  if (status != EVALUE_OK) return conclude(&r, error);
  if (value == NULL) {
    if (used != NULL) *used = r.position;
  } else if (capacity < swapped_size(&r)) {
    fail_expecting(&r, EVALUE_FAULT_MEMORY_SHORT, EVALUE_FIELD_NONE, swapped_size(&r), capacity);
  } else {
    hand_out(&r, scratch, value, used);
  }
  return conclude(&r, error);
}

evalue_status evalue_java_decode_in_place(void *data, size_t size, const evalue_java_options *options, evalue *value,
                                          uint64_t *used, evalue_error *error) {
  reading r;
  evalue_status status = read_all(&r, data, size, options);
  if (value == NULL) return refuse(&r, error);
  if (status == EVALUE_OK) hand_out(&r, (uint8_t *)data + (r.position - r.rest), value, used);
  return conclude(&r, error);
}
