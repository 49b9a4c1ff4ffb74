/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes to values. The order of the checks is that of spec, section 12.2; each byte is loaded once, by the loads of
 * inline.h.
 */
#include "internal.h"

enum {
  MAX_LOG2 = 12, /* of the alignment */
  NO_TAG = 256   /* what is found where an element should be and the end is */
};

static const uint32_t magic = UINT32_C(0x4c415645); /* "EVAL", little-endian */

/*
 * Where the fields stand: those of the header in the message, the others in their element (spec, sections 2, 4 and 6).
 */
enum {
  AT_MAGIC = 0,
  AT_MAJOR = 4,
  AT_MINOR = 5,
  AT_ALIGNMENT = 6,
  AT_FLAGS = 7,
  AT_BODY_LENGTH = 8,
  AT_COUNT = 16,
  AT_TAG = 0,
  AT_LENGTH = 1,
  AT_PAYLOAD = 9,
  AT_SCALAR_TYPE = 9,
  AT_NDIM = 10,
  AT_SIZES = 11
};

static const uint8_t offsets[] = {[EVALUE_FIELD_MAGIC] = AT_MAGIC,     [EVALUE_FIELD_MAJOR] = AT_MAJOR,
                                  [EVALUE_FIELD_MINOR] = AT_MINOR,     [EVALUE_FIELD_ALIGNMENT] = AT_ALIGNMENT,
                                  [EVALUE_FIELD_FLAGS] = AT_FLAGS,     [EVALUE_FIELD_BODY_LENGTH] = AT_BODY_LENGTH,
                                  [EVALUE_FIELD_COUNT] = AT_COUNT,     [EVALUE_FIELD_TRAILING] = 0,
                                  [EVALUE_FIELD_TAG] = AT_TAG,         [EVALUE_FIELD_LENGTH] = AT_LENGTH,
                                  [EVALUE_FIELD_BOOL] = AT_PAYLOAD,    [EVALUE_FIELD_SCALAR_TYPE] = AT_SCALAR_TYPE,
                                  [EVALUE_FIELD_NDIM] = AT_NDIM,       [EVALUE_FIELD_SIZE] = AT_SIZES,
                                  [EVALUE_FIELD_DIM_ORDER] = AT_SIZES, [EVALUE_FIELD_PAD] = AT_PAYLOAD};

/* ---- faults ---- */

/* Says which field the fault is in: of the header, and then of no value; or of the element at r->position. */
static void locate(evalue_reader *r, evalue_field field) {
  bool is_header = field <= EVALUE_FIELD_COUNT;
  r->error.field = (uint16_t)field;
  r->error.position = offsets[field] + (is_header ? 0 : r->position);
  r->error.value_index = is_header ? EVALUE_NO_INDEX : r->index;
}

/* Records the fault that ends the reading. */
EVALUE_COLD static evalue_status fail(evalue_reader *r, evalue_fault fault, size_t found) {
  static const struct {
    uint8_t status, field, expected;
  } faults[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning)                                               \
  {EVALUE_##status, EVALUE_FIELD_##field, expected},
      EVALUE_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  r->error.status = faults[fault].status;
  r->error.fault = (uint16_t)fault;
  r->error.expected = faults[fault].expected;
  r->error.found = found;
  r->error.needed = 0;
  locate(r, (evalue_field)faults[fault].field);
  return (evalue_status)r->error.status;
}

/* The same where what is expected is not always the same, or where numbers can be wide. */
EVALUE_COLD static evalue_status fail_expecting(evalue_reader *r, evalue_fault fault, uint64_t expected,
                                                uint64_t found) {
  evalue_status status = fail(r, fault, 0);
  r->error.expected = expected;
  r->error.found = found;
  return status;
}

/* A fault that more bytes of input would mend: needed in all. */
static evalue_status truncated(evalue_reader *r, uint64_t needed) {
  r->error.status = EVALUE_TRUNCATED;
  r->error.needed = needed;
  return EVALUE_TRUNCATED;
}

/* ---- starting ---- */

static evalue_status start(evalue_reader *r, const void *data, size_t size, const evalue_read_options *options) {
  if (r == NULL) return EVALUE_MISUSE;
  memset(r, 0, sizeof *r);
  r->max_values = SIZE_MAX; /* more than any input can hold */
  r->alignment = 1;
  if ((data == NULL && size != 0) || (options != NULL && options->size != 0 && options->size != sizeof *options)) {
    return fail(r, EVALUE_FAULT_ARGUMENT, 0);
  }
  r->data = (const uint8_t *)data;
  r->size = size;
  if (options != NULL) {
    r->allow_trailing = options->allow_trailing != 0;
    if (options->max_values != 0 && options->max_values < SIZE_MAX) r->max_values = (size_t)options->max_values;
  }
  return EVALUE_OK;
}

static uint64_t max_bytes_of(const evalue_read_options *options) {
  return options != NULL && options->max_bytes != 0 ? options->max_bytes : UINT64_MAX;
}

evalue_status evalue_reader_init_sequence(evalue_reader *r, const void *data, size_t size,
                                          const evalue_read_options *options) {
  evalue_status status = start(r, data, size, options);
  if (status != EVALUE_OK) return status;
  r->is_sequence = 1;
  r->end = size;
  uint64_t max_bytes = max_bytes_of(options);
  if (size > max_bytes) {
    fail_expecting(r, EVALUE_FAULT_LIMIT_BYTES, max_bytes, size);
    r->error.field = EVALUE_FIELD_TRAILING;
    r->error.position = max_bytes;
    return EVALUE_LIMIT;
  }
  return EVALUE_OK;
}

/* The input has less than 24 bytes: finds the field that it ends in. */
static evalue_status fail_header_short(evalue_reader *r) {
  uint32_t field = EVALUE_FIELD_COUNT;
  while (offsets[field] > r->size) field--;
  fail(r, EVALUE_FAULT_HEADER_SHORT, r->size);
  locate(r, (evalue_field)field);
  return truncated(r, EVALUE_HEADER_SIZE);
}

/* Judges the fields up to flags, as far as they are there; header holds size bytes. */
static evalue_status read_version(evalue_reader *r, const uint8_t *header, size_t size) {
  if (memcmp(header, "EVAL", size < AT_MAJOR ? size : AT_MAJOR) != 0) {
    return fail_expecting(r, EVALUE_FAULT_BAD_MAGIC, magic, evalue_load_u32(header));
  }
  if (size > AT_MAJOR && header[AT_MAJOR] != EVALUE_WIRE_MAJOR)
    return fail(r, EVALUE_FAULT_BAD_MAJOR, header[AT_MAJOR]);
  /* What is not there is zero here, and zero is good. */
  if (header[AT_ALIGNMENT] > MAX_LOG2) return fail(r, EVALUE_FAULT_BAD_ALIGNMENT, header[AT_ALIGNMENT]);
  if (header[AT_FLAGS] != 0) return fail(r, EVALUE_FAULT_BAD_FLAGS, header[AT_FLAGS]);
  return EVALUE_OK;
}

/* Judges the body length and, between its value and its fit to the input, that the header is complete. */
static evalue_status judge_body_length(evalue_reader *r, uint64_t body, uint64_t max_bytes) {
  uint64_t needed = EVALUE_HEADER_SIZE + body;
  if (body >= EVALUE_SIZE_LIMIT) return fail_expecting(r, EVALUE_FAULT_BODY_TOO_LARGE, EVALUE_SIZE_LIMIT - 1, body);
  if (needed > max_bytes) return fail_expecting(r, EVALUE_FAULT_LIMIT_BYTES, max_bytes, needed);
  if (r->size < EVALUE_HEADER_SIZE) return fail_header_short(r);
  if (needed > r->size) {
    fail_expecting(r, EVALUE_FAULT_BODY_SHORT, needed, r->size);
    return truncated(r, needed);
  }
  return EVALUE_OK;
}

evalue_status evalue_reader_init(evalue_reader *r, const void *data, size_t size, const evalue_read_options *options) {
  uint8_t header[EVALUE_HEADER_SIZE] = {0};
  evalue_status status = start(r, data, size, options);
  if (status != EVALUE_OK) return status;
  size_t there = size < sizeof header ? size : sizeof header;
  for (size_t i = 0; i < there; i++) header[i] = (uint8_t)evalue_load_u8(r->data + i);
  status = read_version(r, header, there);
  if (status != EVALUE_OK) return status;
  if (there < AT_COUNT) return fail_header_short(r);
  uint64_t body = evalue_load_u64(header + AT_BODY_LENGTH);
  status = judge_body_length(r, body, max_bytes_of(options));
  if (status != EVALUE_OK) return status;
  uint64_t count = evalue_load_u64(header + AT_COUNT);
  size_t most = (size_t)body / EVALUE_ELEMENT_HEADER_SIZE;
  if (count > most) return fail_expecting(r, EVALUE_FAULT_COUNT_TOO_LARGE, most, count);
  if (count > r->max_values) return fail_expecting(r, EVALUE_FAULT_LIMIT_VALUES, r->max_values, count);
  r->alignment = (uint16_t)(1U << header[AT_ALIGNMENT]);
  r->count = (size_t)count;
  r->position = EVALUE_HEADER_SIZE;
  r->end = EVALUE_HEADER_SIZE + (size_t)body;
  return EVALUE_OK;
}

/* ---- elements ---- */

/* The Pad before r->position does not stand where it should. */
static evalue_status fail_misplaced(evalue_reader *r, uint32_t next_tag) {
  r->position -= r->pad_size;
  return fail(r, EVALUE_FAULT_PAD_MISPLACED, next_tag);
}

/* Judges the tag of the element at r->position. */
static evalue_status judge_tag(evalue_reader *r, uint32_t tag) {
  if (r->pad_size != 0 && tag != EVALUE_TAG_TENSOR) return fail_misplaced(r, tag);
  if (tag >= EVALUE_TAG_CRITICAL_END) return EVALUE_OK;
  if (tag > EVALUE_TAG_BOOL) return fail(r, EVALUE_FAULT_UNKNOWN_TAG, tag);
  if (r->index >= r->max_values) {
    fail_expecting(r, EVALUE_FAULT_LIMIT_VALUES, r->max_values, r->index + 1);
    locate(r, EVALUE_FIELD_TAG);
    return EVALUE_LIMIT;
  }
  return EVALUE_OK;
}

/* Judges the length of the element at r->position; left is what the end leaves for the payload. */
static evalue_status judge_length(evalue_reader *r, uint32_t tag, uint64_t length, size_t left) {
  static const uint8_t fixed[] = {0, EVALUE_TENSOR_META_SIZE(0), 0, 8, 8, 1}; /* by tag; a Tensor's is its least */
  evalue_fault fault = EVALUE_FAULT_NONE;
  size_t expected = 0;
  if (tag <= EVALUE_TAG_BOOL) {
    expected = fixed[tag];
    bool is_wrong = tag == EVALUE_TAG_TENSOR ? length < expected : tag != EVALUE_TAG_STRING && length != expected;
    if (is_wrong) fault = tag == EVALUE_TAG_TENSOR ? EVALUE_FAULT_TENSOR_SHORT : EVALUE_FAULT_LENGTH_WRONG;
  } else if (tag == EVALUE_TAG_PAD && length >= r->alignment) {
    expected = r->alignment - 1U;
    fault = EVALUE_FAULT_PAD_TOO_LARGE;
  }
  if (fault != EVALUE_FAULT_NONE)
    return fail_expecting(r, fault, expected, length); /* the tag's own rule comes first */
  if (length >= EVALUE_SIZE_LIMIT)
    return fail_expecting(r, EVALUE_FAULT_LENGTH_TOO_LARGE, EVALUE_SIZE_LIMIT - 1, length);
  if (length <= left) return EVALUE_OK;
  fail_expecting(r, EVALUE_FAULT_LENGTH_PAST_END, left, length);
  return r->is_sequence ? truncated(r, r->position + AT_PAYLOAD + length) : EVALUE_MALFORMED;
}

/*
 * Takes a Pad in; whether it is needed is judged with the tensor after it. Eight bytes at a time: a message at a page's
 * alignment would otherwise cost four times as many instructions.
 */
static evalue_status read_pad(evalue_reader *r, const uint8_t *payload, size_t length) {
  for (size_t i = 0; i < length; i += 8) {
    uint64_t bytes = 0;
    if (length - i >= 8) {
      bytes = evalue_load_u64(payload + i);
    } else {
      for (size_t k = i; k < length; k++) bytes |= (uint64_t)evalue_load_u8(payload + k) << 8 * (k - i);
    }
    if (bytes == 0) continue;
    for (; (bytes & UINT8_MAX) == 0; bytes >>= 8) i++; /* the first byte that is not zero */
    fail(r, EVALUE_FAULT_PAD_NOT_ZERO, bytes & UINT8_MAX);
    r->error.position += i;
    return EVALUE_MALFORMED;
  }
  r->pad_size = (uint16_t)(EVALUE_ELEMENT_HEADER_SIZE + length);
  return EVALUE_OK;
}

/* Judges the Pad before a tensor, or its absence. meta is the size of the tensor's payload before its data. */
static evalue_status judge_pad(evalue_reader *r, size_t meta, bool has_data) {
  uint32_t found = r->pad_size;
  size_t start = r->position - found; /* where the tensor would start without a Pad, and its data */
  size_t data_position = start + AT_PAYLOAD + meta;
  uint32_t wanted = has_data ? evalue_pad_size((uint32_t)data_position, r->alignment) : 0;
  r->pad_size = 0;
  if (found == wanted) return EVALUE_OK;
  r->position = start;
  if (found == 0) return fail_expecting(r, EVALUE_FAULT_PAD_MISSING, wanted - AT_PAYLOAD, data_position);
  if (wanted == 0) return fail(r, EVALUE_FAULT_PAD_NOT_NEEDED, found - AT_PAYLOAD);
  return fail_expecting(r, EVALUE_FAULT_PAD_LENGTH_WRONG, wanted - AT_PAYLOAD, found - AT_PAYLOAD);
}

/* Copies sizes and dim_order into the view and judges them there; *nbytes is what they say about the data. */
static evalue_status read_shape(evalue_reader *r, const uint8_t *payload, evalue_tensor *t, uint64_t *nbytes) {
  uint32_t ndim = t->ndim, i = 0;
  const uint8_t *sizes = payload + 2, *dim_order = sizes + 4 * ndim;
  for (i = 0; i < ndim; i++) t->sizes[i] = (int32_t)evalue_load_u32(sizes + 4 * i);
  for (i = 0; i < ndim; i++) t->dim_order[i] = (uint8_t)evalue_load_u8(dim_order + i);
  evalue_fault fault = evalue_judge_sizes(evalue_element_size(t->scalar_type), ndim, t->sizes, nbytes, &i);
  if (fault != EVALUE_FAULT_NONE) {
    fail_expecting(r, fault, 0, (uint64_t)(int64_t)t->sizes[i]);
    r->error.position += 4 * i;
    return EVALUE_MALFORMED;
  }
  fault = evalue_judge_dim_order(ndim, t->dim_order, &i);
  if (fault != EVALUE_FAULT_NONE) {
    fail_expecting(r, fault, ndim - 1, t->dim_order[i]);
    r->error.position += 4 * ndim + i;
    return EVALUE_MALFORMED;
  }
  return EVALUE_OK;
}

static evalue_status read_tensor(evalue_reader *r, const uint8_t *payload, size_t length, evalue_tensor *t) {
  uint64_t nbytes;
  uint32_t scalar_type = evalue_load_u8(payload), ndim = evalue_load_u8(payload + 1);
  if (evalue_element_size(scalar_type) == 0) return fail(r, EVALUE_FAULT_UNKNOWN_SCALAR_TYPE, scalar_type);
  if (ndim > EVALUE_MAX_NDIM) return fail(r, EVALUE_FAULT_NDIM_TOO_LARGE, ndim);
  size_t meta = EVALUE_TENSOR_META_SIZE(ndim);
  if (length < meta) return fail_expecting(r, EVALUE_FAULT_TENSOR_SHORT, meta, length);
  t->scalar_type = (uint8_t)scalar_type;
  t->ndim = (uint8_t)ndim;
  evalue_status status = read_shape(r, payload, t, &nbytes);
  if (status != EVALUE_OK) return status;
  if (length - meta != nbytes) return fail_expecting(r, EVALUE_FAULT_DATA_LENGTH, meta + nbytes, length);
  t->data = payload + meta;
  t->nbytes = length - meta;
  return judge_pad(r, meta, nbytes != 0);
}

static evalue_status read_payload(evalue_reader *r, uint32_t tag, const uint8_t *payload, size_t length, evalue *v) {
  switch (tag) {
    case EVALUE_TAG_TENSOR: return read_tensor(r, payload, length, &v->tensor);
    case EVALUE_TAG_STRING:
      v->string.data = (const char *)payload;
      v->string.nbytes = length;
      return EVALUE_OK;
    case EVALUE_TAG_INT:
    case EVALUE_TAG_DOUBLE: {
      uint64_t bits = evalue_load_u64(payload);
      EVALUE_COPY(&v->int_value, &bits, sizeof bits); /* the double shares its place */
      return EVALUE_OK;
    }
    case EVALUE_TAG_BOOL: {
      uint32_t b = evalue_load_u8(payload);
      if (b > 1) return fail(r, EVALUE_FAULT_BAD_BOOL, b);
      v->bool_value = (uint8_t)b;
      return EVALUE_OK;
    }
    case EVALUE_TAG_PAD: return read_pad(r, payload, length);
    default: return EVALUE_OK; /* None; an ancillary element */
  }
}

/* At the end: a Pad without a tensor, the count, what lies behind. */
static evalue_status finish(evalue_reader *r) {
  if (r->pad_size != 0) return fail_misplaced(r, NO_TAG);
  if (r->is_sequence) return EVALUE_END;
  if (r->index != r->count) return fail_expecting(r, EVALUE_FAULT_COUNT_WRONG, r->index, r->count);
  if (r->end != r->size && !r->allow_trailing) return fail_expecting(r, EVALUE_FAULT_TRAILING_BYTES, r->end, r->size);
  return EVALUE_END;
}

evalue_status evalue_reader_next_element(evalue_reader *r, evalue_element *element, evalue *value) {
  evalue skipped;
  if (r == NULL) return EVALUE_MISUSE;
  if (r->error.status != EVALUE_OK) return (evalue_status)r->error.status;
  size_t left = r->end - r->position;
  if (left == 0) return finish(r);
  const uint8_t *p = r->data + r->position;
  uint32_t tag = evalue_load_u8(p);
  evalue_status status = judge_tag(r, tag);
  if (status != EVALUE_OK) return status;
  if (left < EVALUE_ELEMENT_HEADER_SIZE) {
    fail(r, EVALUE_FAULT_ELEMENT_SHORT, left - 1);
    return r->is_sequence ? truncated(r, r->position + AT_PAYLOAD) : EVALUE_MALFORMED;
  }
  uint64_t length = evalue_load_u64(p + 1);
  status = judge_length(r, tag, length, left - EVALUE_ELEMENT_HEADER_SIZE);
  if (status != EVALUE_OK) return status;
  const uint8_t *payload = p + EVALUE_ELEMENT_HEADER_SIZE;
  size_t nbytes = (size_t)length;
  if (value == NULL) value = &skipped;
  status = read_payload(r, tag, payload, nbytes, value);
  if (status != EVALUE_OK) return status;
  if (element != NULL) {
    element->raw.data = p;
    element->raw.size = AT_PAYLOAD + nbytes;
    element->payload.data = payload;
    element->payload.size = nbytes;
    element->position = r->position;
    element->tag = tag;
  }
  r->position += AT_PAYLOAD + nbytes;
  if (tag <= EVALUE_TAG_BOOL) {
    value->tag = (uint8_t)tag;
    r->index++;
  }
  return EVALUE_OK;
}

evalue_status evalue_reader_next(evalue_reader *r, evalue *value) {
  if (r == NULL) return EVALUE_MISUSE;
  uint64_t before = r->index;
  evalue_status status;
  do {
    status = evalue_reader_next_element(r, NULL, value);
  } while (status == EVALUE_OK && r->index == before);
  return status;
}

/* ---- whole messages ---- */

/* Hands out the result of a whole call: a number, and the error in full. */
static evalue_status conclude(const evalue_reader *r, uint64_t number, uint64_t *n, evalue_error *error) {
  if (n != NULL) *n = number;
  if (error != NULL) *error = r->error;
  return (evalue_status)r->error.status;
}

/*
 * Reads the rest into the array. Values beyond it are judged and dropped, but a message that announces too many is not
 * begun.
 */
static evalue_status decode_rest(evalue_reader *r, evalue *values, size_t capacity, uint64_t *n, evalue_error *error) {
  if (n == NULL || (values == NULL && capacity != 0)) {
    fail(r, EVALUE_FAULT_ARGUMENT, 0);
    capacity = 0;
  }
  size_t count = r->count; /* 0 in a sequence */
  if (count <= capacity) {
    while (evalue_reader_next(r, r->index < capacity ? values + r->index : NULL) == EVALUE_OK) {
    }
    count = r->index;
  }
  if (count > capacity && r->error.status == EVALUE_OK) fail_expecting(r, EVALUE_FAULT_CAPACITY, capacity, count);
  return conclude(r, count, n, error);
}

evalue_status evalue_message_decode(const void *data, size_t size, const evalue_read_options *options, evalue *values,
                                    size_t capacity, uint64_t *n, evalue_error *error) {
  evalue_reader r;
  evalue_reader_init(&r, data, size, options);
  return decode_rest(&r, values, capacity, n, error);
}

evalue_status evalue_sequence_decode(const void *data, size_t size, const evalue_read_options *options, evalue *values,
                                     size_t capacity, uint64_t *n, evalue_error *error) {
  evalue_reader r;
  evalue_reader_init_sequence(&r, data, size, options);
  return decode_rest(&r, values, capacity, n, error);
}

evalue_status evalue_value_decode(const void *data, size_t size, const evalue_read_options *options, evalue *value,
                                  uint64_t *used, evalue_error *error) {
  evalue_reader r;
  evalue_reader_init_sequence(&r, data, size, options);
  if (value == NULL || used == NULL) fail(&r, EVALUE_FAULT_ARGUMENT, 0);
  if (evalue_reader_next(&r, value) == EVALUE_END) {
    fail(&r, EVALUE_FAULT_NO_VALUE, 0);
    truncated(&r, r.position + AT_PAYLOAD);
  } else if (r.error.status == EVALUE_OK && r.position != size && !r.allow_trailing) {
    fail_expecting(&r, EVALUE_FAULT_TRAILING_BYTES, r.position, size);
  }
  return conclude(&r, r.position, used, error);
}
