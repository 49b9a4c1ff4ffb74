/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading from anyone: all ways to read agree, faults are where they can be, and what is accepted has one encoding.
 *
 * The first byte of an input: bit 0 a sequence, bit 1 allow trailing bytes, bits 2 and 3 limits, the upper four bits
 * the address of the first byte modulo 16. The rest is what is read.
 */
#include "evalue/evalue.h"
#include "fuzz.h"

/* ---- one reading --------------------------------------------------------------------------------------------- */

/* An input, and what evalue_reader_next makes of it: the others are compared with that. */
typedef struct reading {
  const uint8_t *data;
  size_t size;
  const evalue_read_options *options;
  bool is_sequence;
  bool has_header; /* the reader could begin */
  uint32_t alignment;
  evalue *values;
  size_t n, capacity;
  size_t first_end;   /* the position after the first value */
  size_t end;         /* the position when it was over */
  size_t announced;   /* evalue_reader_count at the start */
  evalue_error error; /* EVALUE_OK when the input was accepted */
} reading;

static evalue_status start(const reading *r, evalue_reader *reader) {
  if (r->is_sequence) return evalue_reader_init_sequence(reader, r->data, r->size, r->options);
  return evalue_reader_init(reader, r->data, r->size, r->options);
}

static bool same_error(const evalue_error *a, const evalue_error *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

/* A value's bytes must lie in the input. */
static void check_inside(const reading *r, const evalue *v) {
  bool is_tensor = v->tag == EVALUE_TAG_TENSOR;
  if (!is_tensor && v->tag != EVALUE_TAG_STRING) return;
  const uint8_t *data = is_tensor ? (const uint8_t *)v->tensor.data : (const uint8_t *)v->string.data;
  size_t nbytes = is_tensor ? v->tensor.nbytes : v->string.nbytes;
  FUZZ_CHECK(data >= r->data && data <= r->data + r->size);
  FUZZ_CHECK(nbytes <= (size_t)(r->data + r->size - data));
  if (is_tensor && nbytes != 0) FUZZ_CHECK((size_t)(data - r->data) % r->alignment == 0);
}

static reading read_by_value(const uint8_t *data, size_t size, const evalue_read_options *options, bool is_sequence) {
  reading r = {.data = data, .size = size, .options = options, .is_sequence = is_sequence, .capacity = size / 9 + 1};
  evalue_reader reader;
  evalue value;
  r.values = (evalue *)malloc(r.capacity * sizeof *r.values);
  if (r.values == NULL) abort();
  evalue_status status = start(&r, &reader);
  r.has_header = status == EVALUE_OK;
  r.alignment = evalue_reader_alignment(&reader);
  r.announced = (size_t)evalue_reader_count(&reader);
  while (status == EVALUE_OK && (status = evalue_reader_next(&reader, &value)) == EVALUE_OK) {
    FUZZ_CHECK(r.n < r.capacity);
    FUZZ_CHECK(evalue_check(&value) == EVALUE_OK);
    check_inside(&r, &value);
    if (r.n == 0) r.first_end = (size_t)evalue_reader_position(&reader);
    r.values[r.n++] = value;
  }
  r.error = *evalue_reader_error(&reader);
  r.end = (size_t)evalue_reader_position(&reader);
  FUZZ_CHECK((int32_t)status == (r.error.status != EVALUE_OK ? r.error.status : EVALUE_END));
  FUZZ_CHECK(evalue_reader_next(&reader, &value) == status); /* it stays */
  FUZZ_CHECK(same_error(&r.error, evalue_reader_error(&reader)));
  return r;
}

/* The first n values are the same. */
static void check_values(const reading *r, const evalue *values, size_t n) {
  for (size_t i = 0; i < n; i++) FUZZ_CHECK(evalue_equal(&r->values[i], &values[i]));
}

/* ---- whole decoding ------------------------------------------------------------------------------------------ */

static evalue_status decode(const reading *r, evalue *values, size_t capacity, uint64_t *n, evalue_error *error) {
  if (r->is_sequence) return evalue_sequence_decode(r->data, r->size, r->options, values, capacity, n, error);
  return evalue_message_decode(r->data, r->size, r->options, values, capacity, n, error);
}

/* With room for all values the whole decoder says what the reader says. */
static void check_decode(const reading *r) {
  uint64_t n = 0;
  evalue_error error;
  evalue *values = (evalue *)malloc(r->capacity * sizeof *values);
  if (values == NULL) abort();
  evalue_status status = decode(r, values, r->capacity, &n, &error);
  FUZZ_CHECK((int32_t)status == r->error.status);
  FUZZ_CHECK(same_error(&error, &r->error));
  if (status == EVALUE_OK) {
    FUZZ_CHECK(n == r->n);
    check_values(r, values, r->n);
  }
  FUZZ_CHECK(decode(r, values, r->capacity, &n, NULL) == status);
  free(values);
}

/* With room for one value less: a message is refused at its header, a sequence is read whole all the same. */
static void check_capacity(const reading *r) {
  size_t wanted = r->is_sequence ? r->n : r->announced;
  if (!r->has_header || wanted == 0) return;
  uint64_t n = 0;
  evalue_error error;
  size_t room = wanted - 1;
  fuzz_bytes memory = fuzz_new(room * sizeof(evalue), 0);
  evalue *values = (evalue *)(void *)memory.data;
  fuzz_fill(&memory);
  evalue_status status = decode(r, values, room, &n, &error);
  if (r->is_sequence && r->error.status != EVALUE_OK) {
    FUZZ_CHECK((int32_t)status == r->error.status && same_error(&error, &r->error));
  } else {
    FUZZ_CHECK(status == EVALUE_NO_SPACE && error.status == EVALUE_NO_SPACE);
    FUZZ_CHECK(n == wanted && error.fault == EVALUE_FAULT_CAPACITY);
    FUZZ_CHECK(error.expected == room && error.found == wanted && error.needed == 0);
    if (r->is_sequence) check_values(r, values, room);
    else FUZZ_CHECK(fuzz_is_filled(&memory, 0));
  }
  fuzz_free(&memory);
}

/* One bare value: the first of the sequence, and then nothing. */
static void check_bare(const reading *r) {
  if (!r->is_sequence) return;
  uint64_t used = 0;
  evalue value;
  evalue_error error;
  evalue_status status = evalue_value_decode(r->data, r->size, r->options, &value, &used, &error);
  FUZZ_CHECK((int32_t)status == error.status);
  if (r->n == 0 && r->error.status != EVALUE_OK) {
    FUZZ_CHECK(same_error(&error, &r->error));
  } else if (r->n == 0) {
    FUZZ_CHECK(status == EVALUE_TRUNCATED && error.position == r->size && error.needed == r->size + 9);
  } else if (r->first_end == r->size || (r->options != NULL && r->options->allow_trailing != 0)) {
    FUZZ_CHECK(status == EVALUE_OK && used == r->first_end && evalue_equal(&value, &r->values[0]));
  } else {
    FUZZ_CHECK(status == EVALUE_MALFORMED && error.fault == EVALUE_FAULT_TRAILING_BYTES);
    FUZZ_CHECK(error.position == r->first_end);
  }
}

/* ---- elements ------------------------------------------------------------------------------------------------ */

static void check_element(const reading *r, const evalue_element *e, size_t position) {
  FUZZ_CHECK(e->position == position);
  FUZZ_CHECK(e->raw.data == r->data + position);
  FUZZ_CHECK(e->raw.size <= r->size - position && e->raw.size == 9 + e->payload.size);
  FUZZ_CHECK(e->payload.data == r->data + position + 9);
  FUZZ_CHECK(e->tag == r->data[position] && evalue_load_u64(r->data + position + 1) == e->payload.size);
}

/* A copy of a reader goes on like the reader. */
static void check_copied(const reading *r, evalue_reader reader) {
  while (evalue_reader_next_element(&reader, NULL, NULL) == EVALUE_OK) {
  }
  FUZZ_CHECK(same_error(evalue_reader_error(&reader), &r->error));
}

/* The raw spans tile the input, and the values are those of evalue_reader_next. Returns the number of ancillary
 * elements. */
static size_t check_elements(const reading *r) {
  evalue_reader reader;
  evalue_element e;
  evalue value;
  evalue_status status = start(r, &reader);
  size_t position = r->is_sequence ? 0 : EVALUE_HEADER_SIZE, n = 0, ancillary = 0;
  while (status == EVALUE_OK && (status = evalue_reader_next_element(&reader, &e, &value)) == EVALUE_OK) {
    check_element(r, &e, position);
    position += e.raw.size;
    FUZZ_CHECK(evalue_reader_position(&reader) == position);
    if (e.tag >= EVALUE_TAG_ANCILLARY) ancillary++;
    if (e.tag > EVALUE_TAG_BOOL) continue;
    FUZZ_CHECK(n < r->n && value.tag == e.tag && evalue_equal(&value, &r->values[n]));
    if (n++ == r->n / 2) check_copied(r, reader);
  }
  FUZZ_CHECK(n == r->n && same_error(evalue_reader_error(&reader), &r->error));
  if (status == EVALUE_END) FUZZ_CHECK(position == r->end);
  return ancillary;
}

/* Skipping judges like reading. */
static void check_skipping(const reading *r) {
  evalue_reader reader;
  evalue_status status = start(r, &reader);
  while (status == EVALUE_OK) status = evalue_reader_next(&reader, NULL);
  FUZZ_CHECK(same_error(evalue_reader_error(&reader), &r->error));
  FUZZ_CHECK(evalue_reader_position(&reader) == r->end);
}

/* ---- faults -------------------------------------------------------------------------------------------------- */

static const struct {
  uint8_t status, field;
} faults[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning) {EVALUE_##status, EVALUE_FIELD_##field},
    EVALUE_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
};

/* Status and field fit the fault (spec, section 12.3). */
static void check_kind(const reading *r) {
  const evalue_error *e = &r->error;
  FUZZ_CHECK(e->fault > EVALUE_FAULT_NONE && e->fault < EVALUE_FAULT_CAPACITY);
  bool is_past_end = e->fault == EVALUE_FAULT_ELEMENT_SHORT || e->fault == EVALUE_FAULT_LENGTH_PAST_END;
  int32_t status = is_past_end && r->is_sequence ? EVALUE_TRUNCATED : faults[e->fault].status;
  FUZZ_CHECK(e->status == status);
  if (e->fault == EVALUE_FAULT_HEADER_SHORT) {
    FUZZ_CHECK(e->field >= EVALUE_FIELD_MAGIC && e->field <= EVALUE_FIELD_COUNT && e->needed == EVALUE_HEADER_SIZE);
  } else if (e->status == EVALUE_LIMIT) {
    bool is_bytes = e->fault == EVALUE_FAULT_LIMIT_BYTES;
    uint16_t in_message = is_bytes || e->value_index == EVALUE_NO_INDEX ? faults[e->fault].field : EVALUE_FIELD_TAG;
    uint16_t in_sequence = is_bytes ? EVALUE_FIELD_TRAILING : EVALUE_FIELD_TAG;
    FUZZ_CHECK(e->field == (r->is_sequence ? in_sequence : in_message));
    FUZZ_CHECK(r->options != NULL && e->expected == (is_bytes ? r->options->max_bytes : r->options->max_values));
    FUZZ_CHECK(e->found > e->expected);
  } else {
    FUZZ_CHECK(e->field == faults[e->fault].field);
  }
}

/* What the input has where the fault is: what was found there, or the tag that is meant. */
static void check_found(const reading *r) {
  const evalue_error *e = &r->error;
  const uint8_t *p = r->data + e->position;
  size_t left = r->size - (size_t)e->position;
  switch (e->fault) {
    case EVALUE_FAULT_BAD_MAJOR:
    case EVALUE_FAULT_BAD_ALIGNMENT:
    case EVALUE_FAULT_BAD_FLAGS:
    case EVALUE_FAULT_UNKNOWN_TAG:
    case EVALUE_FAULT_BAD_BOOL:
    case EVALUE_FAULT_UNKNOWN_SCALAR_TYPE:
    case EVALUE_FAULT_NDIM_TOO_LARGE:
    case EVALUE_FAULT_DIM_ORDER_RANGE:
    case EVALUE_FAULT_DIM_ORDER_REPEATED:
    case EVALUE_FAULT_PAD_NOT_ZERO: FUZZ_CHECK(left >= 1 && e->found == p[0]); break;
    case EVALUE_FAULT_NEGATIVE_SIZE:
    case EVALUE_FAULT_EXTENT_TOO_LARGE:
      FUZZ_CHECK(left >= 4 && (e->found & UINT32_MAX) == evalue_load_u32(p));
      FUZZ_CHECK((e->found >> 63 != 0) == (e->fault == EVALUE_FAULT_NEGATIVE_SIZE));
      break;
    case EVALUE_FAULT_BODY_TOO_LARGE:
    case EVALUE_FAULT_COUNT_TOO_LARGE:
    case EVALUE_FAULT_COUNT_WRONG:
    case EVALUE_FAULT_LENGTH_WRONG:
    case EVALUE_FAULT_LENGTH_TOO_LARGE:
    case EVALUE_FAULT_LENGTH_PAST_END:
    case EVALUE_FAULT_TENSOR_SHORT:
    case EVALUE_FAULT_DATA_LENGTH:
    case EVALUE_FAULT_PAD_TOO_LARGE:
    case EVALUE_FAULT_PAD_LENGTH_WRONG: FUZZ_CHECK(left >= 8 && e->found == evalue_load_u64(p)); break;
    case EVALUE_FAULT_PAD_MISPLACED:
    case EVALUE_FAULT_PAD_NOT_NEEDED: FUZZ_CHECK(left >= 9 && p[0] == EVALUE_TAG_PAD); break;
    case EVALUE_FAULT_PAD_MISSING: FUZZ_CHECK(left >= 11 && p[0] == EVALUE_TAG_TENSOR); break;
    case EVALUE_FAULT_TRAILING_BYTES: FUZZ_CHECK(left >= 1 && e->expected == e->position && e->found == r->size); break;
    case EVALUE_FAULT_ELEMENT_SHORT: FUZZ_CHECK(e->found < 8); break;
    default: break;
  }
}

/* The fault lies in the input, and belongs to the value that was being read. */
static void check_fault(const reading *r) {
  const evalue_error *e = &r->error;
  check_kind(r);
  FUZZ_CHECK(e->position <= r->size);
  check_found(r);
  FUZZ_CHECK((e->status == EVALUE_TRUNCATED) == (e->needed > r->size));
  if (e->status != EVALUE_TRUNCATED) FUZZ_CHECK(e->needed == 0);
  bool is_in_header = !r->is_sequence && e->field <= EVALUE_FIELD_COUNT;
  bool is_of_no_value = is_in_header || (r->is_sequence && e->fault == EVALUE_FAULT_LIMIT_BYTES);
  if (is_in_header) FUZZ_CHECK(e->position < EVALUE_HEADER_SIZE);
  else if (!r->is_sequence) FUZZ_CHECK(e->position >= EVALUE_HEADER_SIZE);
  FUZZ_CHECK(r->has_header || r->n == 0);
  FUZZ_CHECK(e->value_index == (is_of_no_value ? EVALUE_NO_INDEX : r->n));
}

/* With as many bytes as are needed, whatever they are, this fault is gone, and what was read before stays. */
static void check_mended(const reading *r) {
  const evalue_error *e = &r->error;
  if (e->status != EVALUE_TRUNCATED || e->needed - r->size > 1 << 16) return;
  fuzz_bytes longer = fuzz_new((size_t)e->needed, 0);
  memset(longer.data, 0, longer.size);
  if (r->size != 0) memcpy(longer.data, r->data, r->size);
  reading mended = read_by_value(longer.data, longer.size, r->options, r->is_sequence);
  if (mended.error.status == EVALUE_TRUNCATED) {
    FUZZ_CHECK(mended.error.needed > e->needed);
    FUZZ_CHECK(mended.error.fault != e->fault || mended.error.position != e->position);
    FUZZ_CHECK(r->is_sequence || r->size < EVALUE_HEADER_SIZE); /* after a header the number is exact */
  }
  if (mended.error.status != EVALUE_LIMIT) {
    FUZZ_CHECK(mended.n >= r->n);
    check_values(r, mended.values, r->n);
  }
  free(mended.values);
  fuzz_free(&longer);
}

/* A beginning of a good input is never worse than truncated. */
static void check_cut(const reading *r, size_t cut) {
  if (cut >= r->end) return;
  fuzz_bytes shorter = fuzz_copy(r->data, cut, 0);
  reading beginning = read_by_value(shorter.data, cut, r->options, r->is_sequence);
  const evalue_error *e = &beginning.error;
  if (r->is_sequence) {
    FUZZ_CHECK(e->status == EVALUE_OK || e->status == EVALUE_TRUNCATED);
    FUZZ_CHECK(e->needed <= r->size && beginning.n <= r->n);
    check_values(r, beginning.values, beginning.n);
  } else {
    FUZZ_CHECK(e->status == EVALUE_TRUNCATED);
    FUZZ_CHECK(e->needed == (cut < EVALUE_HEADER_SIZE ? EVALUE_HEADER_SIZE : r->end));
  }
  free(beginning.values);
  fuzz_free(&shorter);
}

/* ---- encoding what was accepted ------------------------------------------------------------------------------ */

static void start_writer(const reading *r, evalue_writer *writer, const fuzz_bytes *buffer) {
  evalue_status status = r->is_sequence ? evalue_writer_init_sequence(writer, buffer->data, buffer->size)
                                        : evalue_writer_init(writer, buffer->data, buffer->size, r->alignment);
  FUZZ_CHECK(status == EVALUE_OK);
}

/* Puts an element as it was read; Pads are the writer's own affair. */
static void put_element(evalue_writer *writer, const evalue_element *e, const evalue *value) {
  if (e->tag == EVALUE_TAG_PAD) return;
  evalue_status status = e->tag > EVALUE_TAG_PAD
                             ? evalue_writer_put_ancillary(writer, e->tag, e->payload.data, e->payload.size)
                             : evalue_writer_put(writer, value);
  FUZZ_CHECK(status == EVALUE_OK);
}

/* Writes all elements one at a time, ancillary ones too. */
static void check_rebuilt(const reading *r, const fuzz_bytes *expected) {
  evalue_reader reader;
  evalue_writer writer;
  evalue_element e;
  evalue value;
  uint64_t size = 0;
  fuzz_bytes buffer = fuzz_new(expected->size, 3);
  start_writer(r, &writer, &buffer);
  start(r, &reader);
  while (evalue_reader_next_element(&reader, &e, &value) == EVALUE_OK) put_element(&writer, &e, &value);
  FUZZ_CHECK(evalue_writer_finish(&writer, &size) == EVALUE_OK && size == expected->size);
  FUZZ_CHECK(memcmp(buffer.data, expected->data, expected->size) == 0);
  fuzz_free(&buffer);
}

static size_t join(const evalue_slice *slices, uint64_t n, const fuzz_bytes *whole, size_t at) {
  for (uint64_t i = 0; i < n; i++) {
    FUZZ_CHECK(slices[i].size != 0 && slices[i].size <= whole->size - at);
    memcpy(whole->data + at, slices[i].data, slices[i].size);
    at += slices[i].size;
  }
  return at;
}

/* The same with a writer that is drained after each element: constant memory, the header at the end. */
static void check_drained(const reading *r, const fuzz_bytes *expected) {
  evalue_reader reader;
  evalue_writer writer;
  evalue_element e;
  evalue value;
  evalue_slice slices[3];
  uint64_t size = 0;
  size_t at = 0;
  fuzz_bytes scratch = fuzz_new(EVALUE_MAX_HEAD_SIZE + EVALUE_HEADER_SIZE, 0);
  fuzz_bytes whole = fuzz_new(expected->size, 0);
  start_writer(r, &writer, &scratch);
  FUZZ_CHECK(evalue_writer_gather(&writer, slices, 3) == EVALUE_OK);
  start(r, &reader);
  while (evalue_reader_next_element(&reader, &e, &value) == EVALUE_OK) {
    put_element(&writer, &e, &value);
    at = join(slices, writer.slice_count, &whole, at);
    FUZZ_CHECK(evalue_writer_drain(&writer) == EVALUE_OK);
  }
  at = join(slices, writer.slice_count, &whole, at);
  FUZZ_CHECK(evalue_writer_finish(&writer, &size) == EVALUE_OK && size == at && at == expected->size);
  if (!r->is_sequence) FUZZ_CHECK(evalue_writer_header(&writer, whole.data) == EVALUE_OK);
  FUZZ_CHECK(memcmp(whole.data, expected->data, at) == 0);
  fuzz_free(&scratch);
  fuzz_free(&whole);
}

static void check_gathered(const reading *r, const fuzz_bytes *expected) {
  evalue_gather g = {0};
  evalue_status status = r->is_sequence ? evalue_sequence_gather(r->values, r->n, &g)
                                        : evalue_message_gather(r->values, r->n, r->alignment, &g);
  FUZZ_CHECK(status == (g.scratch_size != 0 ? EVALUE_NO_SPACE : EVALUE_OK) && g.size == expected->size);
  fuzz_bytes scratch = fuzz_new((size_t)g.scratch_size, 0), whole = fuzz_new(expected->size, 0);
  fuzz_bytes slices = fuzz_new((size_t)g.slice_count * sizeof(evalue_slice), 0);
  g.scratch = scratch.data;
  g.scratch_capacity = scratch.size;
  g.slices = (evalue_slice *)(void *)slices.data;
  g.slice_capacity = (size_t)g.slice_count;
  status = r->is_sequence ? evalue_sequence_gather(r->values, r->n, &g)
                          : evalue_message_gather(r->values, r->n, r->alignment, &g);
  FUZZ_CHECK(status == EVALUE_OK && g.scratch_size == scratch.size && g.slice_count == g.slice_capacity);
  FUZZ_CHECK(join(g.slices, g.slice_count, &whole, 0) == expected->size && g.size == expected->size);
  FUZZ_CHECK(memcmp(whole.data, expected->data, expected->size) == 0);
  fuzz_free(&scratch);
  fuzz_free(&slices);
  fuzz_free(&whole);
}

/* The values give the bytes back, and the bytes the values. */
static void check_encoded(const reading *r, const fuzz_bytes *expected) {
  uint64_t size = 0, written = 0;
  fuzz_bytes buffer = fuzz_new(expected->size, 7);
  evalue_status status = r->is_sequence ? evalue_sequence_size(r->values, r->n, &size)
                                        : evalue_message_size(r->values, r->n, r->alignment, &size);
  FUZZ_CHECK(status == EVALUE_OK && size == expected->size);
  status = r->is_sequence ? evalue_sequence_encode(r->values, r->n, buffer.data, buffer.size, &written)
                          : evalue_message_encode(r->values, r->n, r->alignment, buffer.data, buffer.size, &written);
  FUZZ_CHECK(status == EVALUE_OK && written == size);
  FUZZ_CHECK(memcmp(buffer.data, expected->data, expected->size) == 0);
  reading again = read_by_value(buffer.data, buffer.size, NULL, r->is_sequence);
  FUZZ_CHECK(again.error.status == EVALUE_OK && again.n == r->n);
  check_values(r, again.values, r->n);
  free(again.values);
  fuzz_free(&buffer);
  check_gathered(r, expected);
}

static void check_accepted(const reading *r, size_t ancillary) {
  const evalue_read_options *o = r->options;
  if (!r->is_sequence) FUZZ_CHECK(r->announced == r->n);
  FUZZ_CHECK(r->end == r->size || (!r->is_sequence && o != NULL && o->allow_trailing != 0));
  if (o != NULL && o->max_values != 0) FUZZ_CHECK(r->n <= o->max_values);
  if (o != NULL && o->max_bytes != 0) FUZZ_CHECK(r->end <= o->max_bytes);
  fuzz_bytes expected = fuzz_copy(r->data, r->end, 0); /* without what may follow */
  if (!r->is_sequence) expected.data[5] = 0;           /* and of the minor version that a writer writes */
  check_rebuilt(r, &expected);
  check_drained(r, &expected);
  if (ancillary == 0) check_encoded(r, &expected);
  fuzz_free(&expected);
  if (r->end == 0) return;
  check_cut(r, r->end - 1);
  check_cut(r, (r->data[r->end - 1] * 251U + r->data[r->end / 2]) % r->end);
}

/* ---- the target ---------------------------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  static const evalue_read_options limits[] = {
      {0}, {.max_values = 2}, {.max_bytes = 100}, {.size = sizeof limits[0], .max_values = 1, .max_bytes = 4096}};
  if (size == 0) return 0;
  uint8_t choice = input[0];
  evalue_read_options options = limits[choice >> 2 & 3];
  options.allow_trailing = choice >> 1 & 1;
  fuzz_bytes bytes = fuzz_copy(input + 1, size - 1, choice >> 4);
  reading r = read_by_value(bytes.data, bytes.size, (choice & 14) != 0 ? &options : NULL, (choice & 1) != 0);
  check_decode(&r);
  check_capacity(&r);
  check_bare(&r);
  check_skipping(&r);
  size_t ancillary = check_elements(&r);
  if (r.error.status == EVALUE_OK) {
    check_accepted(&r, ancillary);
  } else {
    check_fault(&r);
    check_mended(&r);
  }
  free(r.values);
  fuzz_free(&bytes);
  return 0;
}
