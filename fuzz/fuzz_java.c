/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ExecuTorch's Android bytes: all ways to read them agree, with a second, plain reader too; what is accepted is written
 * as the same bytes, and what is written is read as the same elements.
 *
 * The first byte of an input: the lower four bits the release, modulo 9, bit 4 a bare tensor, bits 5 to 7 waive
 * trailing, bool and utf8. The second: bits 0 and 1 the scratch memory (enough, one byte less, none, more), bit 2
 * options with their size, bit 3 NULL for options that are all zero, the upper four bits the address modulo 16. The
 * rest is what is read, and again decisions of which values.h makes values to be written.
 */
#include "values.h"

static const uint64_t most = 0x7fffffff;                        /* bytes of a Java array */
static const uint64_t untouched = UINT64_C(0xa5a5a5a5a5a5a5a5); /* a number that is no size */
static const evalue_error fine;

/* ---- a second reader, as plain as the spec ------------------------------------------------------------------- */

typedef struct plain {
  const uint8_t *data;
  size_t size;
  evalue_java_options options;
  evalue_error error;
  evalue value;
  uint64_t head, whole; /* how long they are, once it is known */
  fuzz_bytes elements;
} plain;

#define FAULT(status, fault, field, position, expected, found)                                                         \
  ((evalue_error){EVALUE_##status, EVALUE_FAULT_##fault, EVALUE_FIELD_##field, position, 0, expected, found, 0})

/* The input should go on to an end. */
static evalue_error ends_early(const plain *p, uint16_t field, size_t position, uint64_t end) {
  return (evalue_error){EVALUE_TRUNCATED, EVALUE_FAULT_FIELD_SHORT, field, position, 0, end, p->size, end};
}

static uint64_t number_at(const plain *p, size_t position, size_t nbytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < nbytes; i++) number = number * 256 + p->data[position + i];
  return number;
}

static evalue_error plain_sizes(plain *p, size_t position, size_t ndim, uint64_t extent, int32_t *sizes) {
  const uint64_t limit = UINT64_C(1) << 62, two_32 = UINT64_C(1) << 32;
  bool is_empty = false;
  p->head = position + 4 * ndim;
  for (size_t d = 0; d < ndim; d++, position += 4) {
    if (p->size < position + 4) return ends_early(p, EVALUE_FIELD_SIZE, position, p->head);
    uint64_t size = number_at(p, position, 4);
    if (size > INT32_MAX) return FAULT(MALFORMED, NEGATIVE_SIZE, SIZE, position, 0, size - two_32);
    if (size == 0) is_empty = true;
    else if (extent > (limit - 1) / size) return FAULT(MALFORMED, EXTENT_TOO_LARGE, SIZE, position, 0, size);
    else extent *= size;
    sizes[d] = (int32_t)size;
  }
  p->whole = p->head + (is_empty ? 0 : extent);
  return p->whole > most ? FAULT(LIMIT, JAVA_TOO_LONG, DATA, p->head, most, p->whole) : fine;
}

static bool is_before(uint32_t release, uint32_t other) {
  return release != EVALUE_JAVA_ANY && release < other;
}

/* So far each dtype code is the scalar type's own number. */
static bool has_dtype(uint32_t dtype, uint32_t release) {
  return dtype <= 7 && dtype != 2 && !(dtype == 5 && is_before(release, EVALUE_JAVA_1_1));
}

static evalue_error plain_tensor(plain *p, size_t at) {
  static const uint8_t widths[] = {1, 1, 0, 4, 8, 2, 4, 8};
  int32_t sizes[EVALUE_MAX_NDIM];
  uint32_t release = p->options.release;
  if (p->size < at + 1) return ends_early(p, EVALUE_FIELD_SCALAR_TYPE, at, at + 1);
  uint8_t dtype = p->data[at];
  if (!has_dtype(dtype, release)) return FAULT(UNSUPPORTED, UNKNOWN_DTYPE, SCALAR_TYPE, at, release, dtype);
  if (p->size < at + 2) return ends_early(p, EVALUE_FIELD_NDIM, at + 1, at + 2);
  size_t ndim = p->data[at + 1], width = widths[dtype];
  if (ndim > 16) return FAULT(MALFORMED, NDIM_TOO_LARGE, NDIM, at + 1, 16, ndim);
  evalue_error error = plain_sizes(p, at + 2, ndim, width, sizes);
  if (error.status != EVALUE_OK) return error;
  if (p->size < p->whole) return ends_early(p, EVALUE_FIELD_DATA, (size_t)p->head, p->whole);
  size_t nbytes = (size_t)(p->whole - p->head);
  p->elements = fuzz_new(nbytes, 0);
  for (size_t i = 0; i < nbytes; i++)
    p->elements.data[i] = p->data[p->head + i / width * width + (width - 1 - i % width)];
  p->value.tag = EVALUE_TAG_TENSOR;
  FUZZ_CHECK(evalue_tensor_init(&p->value.tensor, dtype, ndim, sizes, p->elements.data, nbytes) == EVALUE_OK);
  return fine;
}

/* How many bytes come before the first that begins no character. */
static size_t good_text(const void *bytes, size_t nbytes) {
  uint32_t code;
  size_t n, at = 0;
  while (at < nbytes && (n = fuzz_character((const uint8_t *)bytes + at, nbytes - at, &code)) != 0) at += n;
  return at;
}

static evalue_error plain_string(plain *p) {
  uint32_t release = p->options.release;
  if (is_before(release, EVALUE_JAVA_1_2)) return FAULT(UNSUPPORTED, STRING_BEFORE_1_2, TAG, 0, release, 2);
  if (p->size < 5) return ends_early(p, EVALUE_FIELD_LENGTH, 1, 5);
  const uint8_t *bytes = p->data + 1, *text = p->data + 5;
  bool is_old = (p->size >= 8 && memcmp(bytes, "EValue@", 7) == 0) ||
                (p->size >= 31 && memcmp(bytes, "org.pytorch.executorch.EValue@", 30) == 0);
  uint64_t length = number_at(p, 1, 4);
  if (length > INT32_MAX) return FAULT(MALFORMED, NEGATIVE_LENGTH, LENGTH, 1, 0, length - (UINT64_C(1) << 32));
  if (5 + length > most) return FAULT(LIMIT, JAVA_TOO_LONG, LENGTH, 1, most, 5 + length);
  p->head = 5;
  p->whole = 5 + length;
  if (p->size < p->whole && is_old) return FAULT(UNSUPPORTED, STRING_BEFORE_1_2, LENGTH, 1, release, length);
  if (p->size < p->whole) return ends_early(p, EVALUE_FIELD_STRING, 5, p->whole);
  size_t good = p->options.allow_any_text != 0 ? (size_t)length : good_text(text, (size_t)length);
  if (good < length) return FAULT(MALFORMED, BAD_UTF8, STRING, 5 + good, 0, text[good]);
  p->value = evalue_from_string((const char *)text, (size_t)length);
  return fine;
}

static evalue_error plain_value(plain *p) {
  static const uint16_t fields[] = {0, 0, 0, EVALUE_FIELD_DOUBLE, EVALUE_FIELD_INT, EVALUE_FIELD_BOOL};
  if (p->options.bare_tensor != 0) return plain_tensor(p, 0);
  if (p->size == 0) return (evalue_error){EVALUE_TRUNCATED, EVALUE_FAULT_NO_VALUE, EVALUE_FIELD_TAG, 0, 0, 0, 0, 1};
  uint8_t tag = p->data[0];
  if (tag > 5) return FAULT(UNSUPPORTED, UNKNOWN_JAVA_TAG, TAG, 0, 5, tag);
  if (tag == 1) return plain_tensor(p, 1);
  if (tag == 2) return plain_string(p);
  size_t nbytes = tag == 0 ? 0 : tag == 5 ? 1 : 8;
  p->head = 1;
  p->whole = 1 + nbytes;
  if (p->size < p->whole) return ends_early(p, fields[tag], 1, p->whole);
  uint64_t bits = number_at(p, 1, nbytes);
  if (tag == 5 && bits > 1 && p->options.allow_any_bool == 0) return FAULT(MALFORMED, BAD_BOOL, BOOL, 1, 1, bits);
  p->value.tag = tag;
  if (tag == 5) p->value.bool_value = bits != 0;
  else memcpy(&p->value.int_value, &bits, sizeof bits); /* not through a double, which may quiet a NaN */
  return fine;
}

static plain read_plainly(const uint8_t *data, size_t size, const evalue_java_options *options) {
  plain p = {.data = data, .size = size};
  if (options != NULL) p.options = *options;
  p.error = plain_value(&p);
  if (p.error.status == EVALUE_OK && p.whole != size && p.options.allow_trailing == 0) {
    p.error = FAULT(MALFORMED, TRAILING_BYTES, TRAILING, p.whole, p.whole, size);
    p.error.value_index = 1;
  }
  return p;
}

/* ---- one reading --------------------------------------------------------------------------------------------- */

/* An input, and what the library makes of it with just enough memory. */
typedef struct reading {
  const uint8_t *data;
  size_t size;
  const evalue_java_options *options;
  evalue_error error, of_head;  /* what evalue_java_decode and evalue_java_measure say */
  uint64_t used, whole, wanted; /* and their sizes: of the value, twice, and of scratch memory */
  evalue value;
  fuzz_bytes scratch;
} reading;

static bool same_error(const evalue_error *a, const evalue_error *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

/* Decodes into scratch memory, or in place, which is memory that holds the input. On failure nothing was touched. */
static evalue_error decode(const reading *r, const fuzz_bytes *memory, bool in_place, evalue *value, uint64_t *used) {
  evalue_error error;
  evalue_status status;
  fuzz_bytes result = {.data = (uint8_t *)value, .size = sizeof *value};
  fuzz_fill(&result);
  *used = untouched;
  if (in_place) {
    status = evalue_java_decode_in_place(memory->data, memory->size, r->options, value, used, &error);
  } else {
    uint8_t *scratch = memory->size != 0 ? memory->data : NULL;
    fuzz_fill(memory);
    status = evalue_java_decode(r->data, r->size, r->options, scratch, memory->size, value, used, &error);
  }
  FUZZ_CHECK((int32_t)status == error.status);
  if (status == EVALUE_OK) return error;
  FUZZ_CHECK(fuzz_is_filled(&result, 0) && *used == untouched);
  FUZZ_CHECK(in_place || fuzz_is_filled(memory, 0));
  return error;
}

static reading read_java(const uint8_t *data, size_t size, const evalue_java_options *options, size_t offset) {
  reading r = {.data = data, .size = size, .options = options, .whole = untouched, .wanted = untouched};
  evalue_status status = evalue_java_measure(data, size, options, &r.whole, &r.wanted, &r.of_head);
  FUZZ_CHECK((int32_t)status == r.of_head.status);
  FUZZ_CHECK(status == EVALUE_OK || (r.whole == untouched && r.wanted == untouched));
  r.scratch = fuzz_new(status == EVALUE_OK && r.whole <= size && r.wanted <= size ? (size_t)r.wanted : 0, offset);
  r.error = decode(&r, &r.scratch, false, &r.value, &r.used);
  FUZZ_CHECK(r.error.status != EVALUE_NO_SPACE);
  return r;
}

/* What is said of the input when it is cut to a size, or continued with zeros, and only judged. */
static evalue_error judge_at(const reading *r, size_t size) {
  evalue_error error;
  uint64_t used = untouched;
  fuzz_bytes other = fuzz_new(size, 0);
  memset(other.data, 0, size);
  memcpy(other.data, r->data, size < r->size ? size : r->size);
  evalue_status status = evalue_java_decode(other.data, size, r->options, NULL, 0, NULL, &used, &error);
  FUZZ_CHECK((int32_t)status == error.status && (used == r->used || size != r->size));
  fuzz_free(&other);
  return error;
}

/* ---- all ways to read ---------------------------------------------------------------------------------------- */

/* Measuring a beginning that has the head says the same as measuring all. */
static void check_measured(const reading *r, const plain *p) {
  const evalue *v = &r->value;
  bool has_head = r->of_head.status == EVALUE_OK;
  size_t sizes[] = {r->size < EVALUE_JAVA_MAX_HEAD_SIZE ? r->size : EVALUE_JAVA_MAX_HEAD_SIZE, (size_t)p->head};
  for (size_t i = 0; i < (has_head ? 2 : 1); i++) {
    uint64_t whole = untouched, wanted = untouched;
    evalue_error error;
    fuzz_bytes beginning = fuzz_copy(r->data, sizes[i], 0);
    evalue_java_measure(beginning.data, sizes[i], r->options, &whole, &wanted, &error);
    FUZZ_CHECK(same_error(&error, &r->of_head) && whole == r->whole && wanted == r->wanted);
    fuzz_free(&beginning);
  }
  FUZZ_CHECK(has_head ? r->whole == p->whole : same_error(&r->of_head, &r->error));
  if (r->error.status != EVALUE_OK) return;
  FUZZ_CHECK(r->used == r->whole);
  bool is_wide = v->tag == EVALUE_TAG_TENSOR && evalue_element_size(v->tensor.scalar_type) > 1;
  FUZZ_CHECK(r->wanted == (is_wide ? v->tensor.nbytes : 0));
}

/* Where bytes must be: in the input, or, if they were swapped, in the memory for that. */
static void check_place(const reading *r, const evalue *v, const uint8_t *input, const uint8_t *swapped) {
  bool is_string = v->tag == EVALUE_TAG_STRING;
  if (!is_string && v->tag != EVALUE_TAG_TENSOR) return;
  const void *data = is_string ? (const void *)v->string.data : v->tensor.data;
  size_t nbytes = is_string ? v->string.nbytes : v->tensor.nbytes;
  FUZZ_CHECK(data == (r->wanted != 0 ? swapped : input + (r->used - nbytes)));
}

/* With another capacity it is the same, or not enough; of more memory no more is used. */
static void check_capacity(const reading *r, size_t choice, size_t offset) {
  size_t wanted = r->scratch.size;
  size_t capacity = choice == 0 ? wanted : choice == 1 ? wanted - (wanted != 0) : choice == 2 ? 0 : wanted + 5;
  fuzz_bytes scratch = fuzz_new(capacity, offset);
  evalue value;
  uint64_t used;
  evalue_error error = decode(r, &scratch, false, &value, &used);
  if (r->error.status != EVALUE_OK) {
    FUZZ_CHECK(same_error(&error, &r->error));
  } else if (capacity < wanted) {
    evalue_error expected = FAULT(NO_SPACE, MEMORY_SHORT, NONE, 0, wanted, capacity);
    expected.value_index = EVALUE_NO_INDEX;
    FUZZ_CHECK(same_error(&error, &expected));
  } else {
    FUZZ_CHECK(error.status == EVALUE_OK && used == r->used && evalue_equal(&value, &r->value));
    FUZZ_CHECK(fuzz_is_filled(&scratch, wanted));
    check_place(r, &value, r->data, scratch.data);
  }
  fuzz_free(&scratch);
}

/* In a copy that the caller owns, where nothing changes but the elements. */
static void check_in_place(const reading *r, size_t offset) {
  evalue value;
  uint64_t used;
  fuzz_bytes own = fuzz_copy(r->data, r->size, offset);
  evalue_error error = decode(r, &own, true, &value, &used);
  FUZZ_CHECK(same_error(&error, &r->error) && used == r->used);
  if (error.status == EVALUE_OK) {
    size_t at = (size_t)(used - r->wanted);
    FUZZ_CHECK(evalue_equal(&value, &r->value));
    check_place(r, &value, own.data, own.data + at);
    memcpy(own.data + at, r->data + at, (size_t)r->wanted);
  }
  FUZZ_CHECK(memcmp(own.data, r->data, r->size) == 0);
  fuzz_free(&own);
}

/* The fault lies in the input. With as many bytes as are needed it is gone, with one less nothing is good. */
static void check_fault(const reading *r, const plain *p) {
  const evalue_error *e = &r->error;
  evalue_error judged = judge_at(r, r->size);
  FUZZ_CHECK(same_error(&judged, e));
  FUZZ_CHECK(e->position <= r->size);
  FUZZ_CHECK(e->value_index == (e->fault == EVALUE_FAULT_TRAILING_BYTES ? 1 : 0));
  FUZZ_CHECK(e->status == EVALUE_TRUNCATED ? e->needed > r->size : e->needed == 0);
  if (e->status == EVALUE_TRUNCATED && e->needed - r->size <= 1 << 14) {
    evalue_error mended = judge_at(r, (size_t)e->needed);
    FUZZ_CHECK(mended.fault != e->fault || mended.position != e->position);
    FUZZ_CHECK(mended.status == EVALUE_OK || mended.position >= e->position);
    FUZZ_CHECK(mended.status != EVALUE_TRUNCATED || mended.needed > e->needed);
    FUZZ_CHECK(judge_at(r, (size_t)e->needed - 1).status != EVALUE_OK);
  }
  FUZZ_CHECK(same_error(e, &p->error));
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

/* What the spec has against a valid value. */
static evalue_error fault_of(const evalue *v, const evalue_java_options *o) {
  const evalue_tensor *t = &v->tensor;
  const evalue_string *s = &v->string;
  uint32_t at = o->bare_tensor != 0 ? 0 : 1, release = o->release;
  if (v->tag == EVALUE_TAG_TENSOR) {
    uint64_t head = at + 2 + 4 * (uint64_t)t->ndim, type = t->scalar_type;
    if (!has_dtype(t->scalar_type, release)) return FAULT(UNSUPPORTED, UNKNOWN_DTYPE, SCALAR_TYPE, at, release, type);
    return head + t->nbytes > most ? FAULT(LIMIT, JAVA_TOO_LONG, DATA, head, most, head + t->nbytes) : fine;
  }
  if (at == 0) return (evalue_error){EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, 0, 0, EVALUE_NO_INDEX, 0, 0, 0};
  if (v->tag != EVALUE_TAG_STRING) return fine;
  if (is_before(release, EVALUE_JAVA_1_2)) return FAULT(UNSUPPORTED, STRING_BEFORE_1_2, TAG, 0, release, 2);
  if (s->nbytes > most - 5) return FAULT(LIMIT, JAVA_TOO_LONG, LENGTH, 1, most, s->nbytes + 5);
  size_t good = good_text(s->data, s->nbytes);
  return good < s->nbytes ? FAULT(UNSUPPORTED, BAD_UTF8, STRING, 5 + good, 0, (uint8_t)s->data[good]) : fine;
}

/* Writes a value into memory of its size, and not into a byte less; or it is refused, as expected. */
static fuzz_bytes encode(const evalue *v, const evalue_java_options *options, const evalue_error *expected) {
  uint64_t size = untouched, written = untouched;
  evalue_error error;
  evalue_status status = evalue_java_size(v, options, &size, &error);
  FUZZ_CHECK((int32_t)status == error.status && same_error(&error, expected));
  FUZZ_CHECK(size <= 1 << 20 && (size == 0) == (status != EVALUE_OK));
  fuzz_bytes buffer = fuzz_new((size_t)size, 3), small = fuzz_new(size != 0 ? (size_t)size - 1 : 100, 0);
  fuzz_fill(&small);
  status = evalue_java_encode(v, options, small.data, small.size, &written, &error);
  FUZZ_CHECK((int32_t)status == error.status && written == size);
  FUZZ_CHECK(fuzz_is_filled(&small, 0));
  if (size != 0) {
    FUZZ_CHECK(error.fault == EVALUE_FAULT_MEMORY_SHORT && error.expected == size && error.found == size - 1);
    status = evalue_java_encode(v, options, buffer.data, buffer.size, &written, &error);
    FUZZ_CHECK((int32_t)status == error.status && written == size);
  }
  FUZZ_CHECK(same_error(&error, expected));
  fuzz_free(&small);
  return buffer;
}

/* Other options, and perhaps other bytes, give the same value. */
static void check_same(const reading *r, const uint8_t *data, size_t size, const evalue_java_options *options) {
  reading other = read_java(data, size, options, 1);
  FUZZ_CHECK(other.error.status == EVALUE_OK && other.used == r->used && evalue_equal(&other.value, &r->value));
  fuzz_free(&other.scratch);
}

/* The value gives the bytes back, but for a Bool that was waived. A beginning of them is truncated. */
static void check_accepted(const reading *r, const plain *p) {
  evalue_java_options any = p->options, strict = {.release = any.release, .bare_tensor = any.bare_tensor};
  any.release = EVALUE_JAVA_ANY;
  FUZZ_CHECK(evalue_check(&r->value) == EVALUE_OK && evalue_equal(&r->value, &p->value));
  FUZZ_CHECK(r->used == r->size || any.allow_trailing != 0);
  check_place(r, &r->value, r->data, r->scratch.data);
  size_t used = (size_t)r->used;
  evalue_error cut = judge_at(r, used - 1 - (r->data[used - 1] * 251U + r->data[used / 2]) % used);
  FUZZ_CHECK(cut.status == EVALUE_TRUNCATED && cut.needed <= r->used);
  check_same(r, r->data, r->size, &any);
  evalue back; /* through the wire format, whose heads are hardly longer */
  uint64_t n = 0;
  fuzz_bytes wire = fuzz_new(used + 32, 5);
  FUZZ_CHECK(evalue_sequence_encode(&r->value, 1, wire.data, wire.size, &n) == EVALUE_OK);
  FUZZ_CHECK(evalue_sequence_decode(wire.data, (size_t)n, NULL, &back, 1, &n, NULL) == EVALUE_OK && n == 1);
  FUZZ_CHECK(evalue_equal(&back, &r->value));
  fuzz_free(&wire);
  evalue_error judged, fault = fault_of(&r->value, &p->options);
  fuzz_bytes bytes = encode(&r->value, r->options, &fault), expected = fuzz_copy(r->data, used, 0);
  if (r->value.tag == EVALUE_TAG_BOOL) expected.data[1] = r->value.bool_value;
  evalue_java_decode(expected.data, expected.size, &strict, NULL, 0, NULL, NULL, &judged);
  FUZZ_CHECK(judged.fault == fault.fault && judged.position == fault.position && judged.found == fault.found);
  if (fault.status == EVALUE_OK) {
    FUZZ_CHECK(bytes.size == expected.size && memcmp(bytes.data, expected.data, bytes.size) == 0);
    check_same(r, bytes.data, bytes.size, &strict);
  }
  fuzz_free(&bytes);
  fuzz_free(&expected);
}

/* The second is row-major, and has at each index the first one's element. */
static void check_elements(const evalue_tensor *from, const evalue_tensor *to) {
  size_t width = evalue_element_size(from->scalar_type);
  int64_t strides[EVALUE_MAX_NDIM];
  FUZZ_CHECK(to->scalar_type == from->scalar_type && to->ndim == from->ndim && to->nbytes == from->nbytes);
  for (size_t d = 0; d < to->ndim; d++) FUZZ_CHECK(to->sizes[d] == from->sizes[d] && to->dim_order[d] == d);
  evalue_tensor_strides(from, strides);
  for (size_t k = 0; k < to->nbytes; k += width) {
    int64_t rest = (int64_t)(k / width), at = 0;
    for (size_t d = to->ndim; d-- > 0; rest /= to->sizes[d]) at += rest % to->sizes[d] * strides[d];
    FUZZ_CHECK(memcmp((const uint8_t *)to->data + k, (const uint8_t *)from->data + (size_t)at * width, width) == 0);
  }
}

/* Bytes from anyone, or those that a value was written as. */
static void check_bytes(const fuzz_bytes *bytes, const evalue_java_options *options, uint8_t choice, const evalue *v) {
  plain p = read_plainly(bytes->data, bytes->size, options);
  reading r = read_java(bytes->data, bytes->size, options, choice >> 4);
  check_fault(&r, &p);
  check_measured(&r, &p);
  check_capacity(&r, choice & 3, (choice >> 4) * 7U % 16);
  check_in_place(&r, choice >> 4);
  if (r.error.status == EVALUE_OK) check_accepted(&r, &p);
  if (v != NULL) FUZZ_CHECK(r.error.status == EVALUE_OK && r.value.tag == v->tag);
  if (v != NULL && v->tag == EVALUE_TAG_TENSOR) check_elements(&v->tensor, &r.value.tensor);
  else if (v != NULL) FUZZ_CHECK(evalue_equal(v, &r.value));
  fuzz_free(&r.scratch);
  fuzz_free(&p.elements);
}

static void check_written(const evalue *v, const evalue_java_options *options, uint8_t choice) {
  evalue_error fault = fault_of(v, options);
  fuzz_bytes bytes = encode(v, options, &fault);
  evalue_java_options strict = {.release = options->release, .bare_tensor = options->bare_tensor};
  if (fault.status == EVALUE_OK) check_bytes(&bytes, &strict, choice, v);
  fuzz_free(&bytes);
}

/* About as large as can be; there are no such bytes, and nobody looks for them. */
static void check_large(const evalue_java_options *options, uint8_t choice) {
  int32_t sizes[] = {INT32_MAX - choice % 16};
  evalue v = evalue_from_string("", (size_t)most - 4 + choice);
  check_written(&v, options, choice);
  v.tag = EVALUE_TAG_TENSOR;
  FUZZ_CHECK(evalue_tensor_init(&v.tensor, EVALUE_UINT8, 1, sizes, "", (size_t)sizes[0]) == EVALUE_OK);
  uint64_t size = untouched, whole = (options->bare_tensor != 0 ? 6 : 7) + (uint64_t)sizes[0];
  evalue_error error, fault = fault_of(&v, options);
  evalue_java_size(&v, options, &size, &error);
  FUZZ_CHECK(same_error(&error, &fault) && size == (fault.status != EVALUE_OK ? 0 : whole));
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  if (size < 2) return 0;
  uint32_t bits = input[0];
  evalue_java_options options = {0, bits % 16 % 9, bits >> 4 & 1, bits >> 5 & 1, bits >> 6 & 1, bits >> 7};
  if ((input[1] & 4) != 0) options.size = sizeof options;
  const evalue_java_options *of_reader = (input[1] & 8) != 0 && bits == 0 ? NULL : &options;
  fuzz_bytes bytes = fuzz_copy(input + 2, size - 2, input[1] >> 4);
  check_bytes(&bytes, of_reader, input[1], NULL);
  fuzz_source source = {.data = bytes.data, .size = bytes.size};
  fuzz_values values;
  fuzz_take_values(&source, &values);
  for (size_t i = 0; i < values.n; i++) check_written(&values.values[i], &options, input[1]);
  evalue text = evalue_from_string((const char *)bytes.data, bytes.size);
  check_written(&text, &options, input[1]);
  check_large(&options, input[1]);
  fuzz_free_values(&values);
  fuzz_free(&bytes);
  return 0;
}
