/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing valid values: every way to write gives the bytes that the spec asks for, and reading gives the values back.
 *
 * The first byte of an input picks the form and the alignment; the rest becomes values (values.h).
 */
#include "values.h"

/* What is written, and how. */
typedef struct job {
  const evalue *values;
  size_t n;
  bool is_sequence;
  uint32_t alignment;
} job;

/* ---- a second encoder, as plain as the spec ------------------------------------------------------------------ */

/* Memory for the largest message that can be made here. */
enum { MOST_MESSAGE = EVALUE_HEADER_SIZE + FUZZ_MOST_VALUES * (EVALUE_MAX_HEAD_SIZE + 5000) };

static size_t put_number(uint8_t *p, uint64_t number, int nbytes) {
  for (int i = 0; i < nbytes; i++) p[i] = (uint8_t)(number >> 8 * i);
  return (size_t)nbytes;
}

/* Tries all Pads, from none on. */
static size_t put_pad(uint8_t *p, size_t position, size_t ndim, uint32_t alignment) {
  size_t data = position + 9 + 2 + 5 * ndim, length = 0;
  if (data % alignment == 0) return 0;
  while ((data + 9 + length) % alignment != 0) length++;
  FUZZ_CHECK(length < alignment);
  p[0] = 128;
  put_number(p + 1, length, 8);
  memset(p + 9, 0, length);
  return 9 + length;
}

static size_t put_tensor(uint8_t *p, const evalue_tensor *t) {
  size_t at = 0;
  at += put_number(p + at, 2 + 5 * (size_t)t->ndim + t->nbytes, 8);
  at += put_number(p + at, t->scalar_type, 1);
  at += put_number(p + at, t->ndim, 1);
  for (size_t d = 0; d < t->ndim; d++) at += put_number(p + at, (uint32_t)t->sizes[d], 4);
  for (size_t d = 0; d < t->ndim; d++) at += put_number(p + at, t->dim_order[d], 1);
  if (t->nbytes != 0) memcpy(p + at, t->data, t->nbytes);
  return at + t->nbytes;
}

static size_t put_value(uint8_t *bytes, size_t position, const evalue *v, uint32_t alignment) {
  uint64_t bits;
  size_t at = position;
  memcpy(&bits, &v->int_value, sizeof bits);
  if (v->tag == 1 && v->tensor.nbytes != 0) at += put_pad(bytes + at, at, v->tensor.ndim, alignment);
  at += put_number(bytes + at, v->tag, 1);
  switch (v->tag) {
    case 1: return at + put_tensor(bytes + at, &v->tensor);
    case 2:
      at += put_number(bytes + at, v->string.nbytes, 8);
      if (v->string.nbytes != 0) memcpy(bytes + at, v->string.data, v->string.nbytes);
      return at + v->string.nbytes;
    case 3:
    case 4: at += put_number(bytes + at, 8, 8); return at + put_number(bytes + at, bits, 8);
    case 5: at += put_number(bytes + at, 1, 8); return at + put_number(bytes + at, v->bool_value, 1);
    default: return at + put_number(bytes + at, 0, 8);
  }
}

static fuzz_bytes encode_plainly(const job *j) {
  static uint8_t bytes[MOST_MESSAGE];
  size_t at = j->is_sequence ? 0 : EVALUE_HEADER_SIZE;
  uint8_t logarithm = 0;
  for (size_t i = 0; i < j->n; i++) at = put_value(bytes, at, &j->values[i], j->alignment);
  while (1U << logarithm < j->alignment) logarithm++;
  if (!j->is_sequence) {
    memcpy(bytes, "EVAL\1\0", 6);
    bytes[6] = logarithm;
    bytes[7] = 0;
    put_number(bytes + 8, at - EVALUE_HEADER_SIZE, 8);
    put_number(bytes + 16, j->n, 8);
  }
  return fuzz_copy(bytes, at, 0);
}

/* ---- encoding ------------------------------------------------------------------------------------------------ */

static evalue_status encode(const job *j, const fuzz_bytes *buffer, uint64_t *size) {
  if (j->is_sequence) return evalue_sequence_encode(j->values, j->n, buffer->data, buffer->size, size);
  return evalue_message_encode(j->values, j->n, j->alignment, buffer->data, buffer->size, size);
}

static evalue_status write_singly(const job *j, const fuzz_bytes *buffer, uint64_t *size) {
  evalue_writer w;
  evalue_status status = j->is_sequence ? evalue_writer_init_sequence(&w, buffer->data, buffer->size)
                                        : evalue_writer_init(&w, buffer->data, buffer->size, j->alignment);
  FUZZ_CHECK(status == EVALUE_OK);
  for (size_t i = 0; i < j->n; i++) evalue_writer_put(&w, &j->values[i]);
  return evalue_writer_finish(&w, size);
}

/* A capacity is enough or not, to the byte; too little of it leaves the buffer as it was. */
static void check_capacity(const job *j, const fuzz_bytes *expected, size_t capacity) {
  uint64_t size = 0;
  fuzz_bytes buffer = fuzz_new(capacity, capacity % 16);
  bool fits = capacity >= expected->size;
  fuzz_fill(&buffer);
  FUZZ_CHECK(encode(j, &buffer, &size) == (fits ? EVALUE_OK : EVALUE_NO_SPACE));
  FUZZ_CHECK(size == expected->size && fuzz_is_filled(&buffer, fits ? expected->size : 0));
  if (fits) FUZZ_CHECK(memcmp(buffer.data, expected->data, expected->size) == 0);
  fuzz_fill(&buffer);
  FUZZ_CHECK(write_singly(j, &buffer, &size) == (fits ? EVALUE_OK : EVALUE_NO_SPACE));
  FUZZ_CHECK(size == expected->size && (!fits || fuzz_is_filled(&buffer, expected->size)));
  if (fits) FUZZ_CHECK(memcmp(buffer.data, expected->data, expected->size) == 0);
  fuzz_free(&buffer);
}

static void check_capacities(const job *j, const fuzz_bytes *expected, fuzz_source *source) {
  uint64_t size = 0;
  evalue_status status = j->is_sequence ? evalue_sequence_size(j->values, j->n, &size)
                                        : evalue_message_size(j->values, j->n, j->alignment, &size);
  FUZZ_CHECK(status == EVALUE_OK && size == expected->size);
  for (size_t more = 0; more <= 3; more++) check_capacity(j, expected, expected->size + more);
  for (size_t less = 1; less <= 3 && less <= expected->size; less++) check_capacity(j, expected, expected->size - less);
  check_capacity(j, expected, 0);
  check_capacity(j, expected, (size_t)fuzz_take_number(source, 2) % (expected->size + 1));
}

static evalue_status gather(const job *j, evalue_gather *g) {
  if (j->is_sequence) return evalue_sequence_gather(j->values, j->n, g);
  return evalue_message_gather(j->values, j->n, j->alignment, g);
}

static void check_joined(const evalue_gather *g, const fuzz_bytes *expected) {
  size_t at = 0;
  for (uint64_t i = 0; i < g->slice_count; i++) {
    FUZZ_CHECK(g->slices[i].size != 0 && g->slices[i].size <= expected->size - at);
    FUZZ_CHECK(memcmp(expected->data + at, g->slices[i].data, g->slices[i].size) == 0);
    at += g->slices[i].size;
  }
  FUZZ_CHECK(at == expected->size);
}

/* Gathers with what is needed but for some bytes and slices. */
static void check_gather(const job *j, const fuzz_bytes *expected, const evalue_gather *needed, size_t less_bytes,
                         size_t less_slices) {
  evalue_gather g = {0};
  if (less_bytes > needed->scratch_size || less_slices > needed->slice_count) return;
  fuzz_bytes scratch = fuzz_new((size_t)needed->scratch_size - less_bytes, 0);
  fuzz_bytes slices = fuzz_new(((size_t)needed->slice_count - less_slices) * sizeof(evalue_slice), 0);
  g.scratch = scratch.data;
  g.scratch_capacity = scratch.size;
  g.slices = (evalue_slice *)(void *)slices.data;
  g.slice_capacity = (size_t)needed->slice_count - less_slices;
  evalue_status status = gather(j, &g);
  FUZZ_CHECK(status == (less_bytes + less_slices == 0 ? EVALUE_OK : EVALUE_NO_SPACE));
  FUZZ_CHECK(g.size == expected->size && g.scratch_size == needed->scratch_size);
  FUZZ_CHECK(g.slice_count == needed->slice_count);
  if (status == EVALUE_OK) check_joined(&g, expected);
  fuzz_free(&scratch);
  fuzz_free(&slices);
}

static void check_gathers(const job *j, const fuzz_bytes *expected, fuzz_source *source) {
  evalue_gather needed = {0};
  FUZZ_CHECK(gather(j, &needed) == (expected->size == 0 ? EVALUE_OK : EVALUE_NO_SPACE));
  check_gather(j, expected, &needed, 0, 0);
  check_gather(j, expected, &needed, 1, 0);
  check_gather(j, expected, &needed, 0, 1);
  check_gather(j, expected, &needed, fuzz_take(source), fuzz_take(source) % 4);
}

/* ---- decoding ------------------------------------------------------------------------------------------------ */

static void check_decoded(const job *j, const fuzz_bytes *bytes) {
  evalue values[FUZZ_MOST_VALUES];
  evalue_error error;
  uint64_t n = 0;
  fuzz_bytes input = fuzz_copy(bytes->data, bytes->size, bytes->size % 16);
  evalue_status status = j->is_sequence ? evalue_sequence_decode(input.data, input.size, NULL, values, j->n, &n, &error)
                                        : evalue_message_decode(input.data, input.size, NULL, values, j->n, &n, &error);
  FUZZ_CHECK(status == EVALUE_OK && error.status == EVALUE_OK && n == j->n);
  for (size_t i = 0; i < j->n; i++) {
    FUZZ_CHECK(evalue_equal(&values[i], &j->values[i]));
    if (values[i].tag != EVALUE_TAG_TENSOR || values[i].tensor.nbytes == 0) continue;
    FUZZ_CHECK((size_t)((const uint8_t *)values[i].tensor.data - input.data) % j->alignment == 0);
  }
  fuzz_free(&input);
}

/* A value that is not valid is refused, and nothing is written. */
static void check_refused(const job *j, size_t enough, fuzz_source *source) {
  evalue bad[FUZZ_MOST_VALUES];
  if (j->n == 0) return;
  memcpy(bad, j->values, j->n * sizeof bad[0]);
  evalue *v = &bad[fuzz_take(source) % j->n];
  evalue_tensor *t = &v->tensor;
  uint8_t choice = fuzz_take(source);
  if (v->tag == EVALUE_TAG_BOOL) v->bool_value = 2;
  else if (v->tag != EVALUE_TAG_TENSOR) v->tag = EVALUE_TAG_BOOL + 1;
  else if (choice % 5 == 0) t->nbytes++;
  else if (choice % 5 == 1) t->scalar_type = 30;
  else if (choice % 5 == 2 && t->ndim > 1) t->dim_order[0] = t->dim_order[t->ndim - 1];
  else if (choice % 5 == 3 && t->ndim > 0) t->sizes[choice % t->ndim] = -1;
  else t->ndim = 17;
  job with_bad = *j;
  with_bad.values = bad;
  uint64_t size = 1;
  fuzz_bytes buffer = fuzz_new(enough, 0);
  fuzz_fill(&buffer);
  FUZZ_CHECK(evalue_check(v) == EVALUE_MISUSE && !evalue_equal(v, v));
  FUZZ_CHECK(encode(&with_bad, &buffer, &size) == EVALUE_MISUSE && size == 0 && fuzz_is_filled(&buffer, 0));
  FUZZ_CHECK(write_singly(&with_bad, &buffer, &size) == EVALUE_MISUSE && size == 0);
  fuzz_free(&buffer);
}

/* A value is not equal to one that differs in one place. */
static void check_unequal(const evalue *v, fuzz_source *source) {
  evalue other = *v;
  bool is_tensor = v->tag == EVALUE_TAG_TENSOR;
  size_t place = (size_t)fuzz_take_number(source, 2), nbytes = is_tensor ? v->tensor.nbytes : v->string.nbytes;
  uint8_t bit = (uint8_t)(1 << fuzz_take(source) % 8);
  if (v->tag == EVALUE_TAG_NONE || (v->tag == EVALUE_TAG_STRING && nbytes == 0)) return;
  if (v->tag == EVALUE_TAG_BOOL) {
    other.bool_value ^= 1;
  } else if (v->tag == EVALUE_TAG_INT || v->tag == EVALUE_TAG_DOUBLE) {
    uint8_t bytes[8];
    memcpy(bytes, &other.int_value, 8);
    bytes[place % 8] ^= bit;
    memcpy(&other.int_value, bytes, 8);
  } else if (is_tensor && v->tensor.ndim > 1 && (nbytes == 0 || bit > 16)) {
    size_t d = place % (v->tensor.ndim - 1U);
    other.tensor.dim_order[d] = v->tensor.dim_order[d + 1];
    other.tensor.dim_order[d + 1] = v->tensor.dim_order[d];
  } else if (nbytes != 0) {
    fuzz_bytes changed = fuzz_copy(is_tensor ? v->tensor.data : v->string.data, nbytes, 0);
    changed.data[place % nbytes] ^= bit;
    if (is_tensor) other.tensor.data = changed.data;
    else other.string.data = (const char *)changed.data;
    FUZZ_CHECK(!evalue_equal(v, &other));
    fuzz_free(&changed);
    return;
  } else {
    other.tag = EVALUE_TAG_NONE;
  }
  FUZZ_CHECK(evalue_check(&other) == EVALUE_OK && !evalue_equal(v, &other) && evalue_equal(v, v));
}

/* ---- tensors: strides ---------------------------------------------------------------------------------------- */

/* The formula of spec, section 4.2. */
static void find_strides(size_t ndim, const int32_t *sizes, const uint8_t *dim_order, int64_t *strides) {
  int64_t stride = 1;
  for (size_t k = ndim; k-- > 0;) {
    strides[dim_order[k]] = stride;
    if (sizes[dim_order[k]] > 1) stride *= sizes[dim_order[k]];
  }
}

/* Looks for the dimension whose stride is 1, then for the one outside it, and so on. */
static bool is_dense(size_t ndim, const int32_t *sizes, const int64_t *strides) {
  uint32_t left = 0;
  int64_t wanted = 1;
  for (size_t d = 0; d < ndim; d++) {
    if (sizes[d] == 0) return true; /* without elements any strides are fine */
    if (sizes[d] > 1) left |= 1U << d;
  }
  while (left != 0) {
    size_t d = 0;
    while (d < ndim && ((left >> d & 1) == 0 || strides[d] != wanted)) d++;
    if (d == ndim) return false;
    left &= ~(1U << d);
    wanted *= sizes[d];
  }
  return true;
}

/* Says whether dim_order sorts the dimensions by descending stride, ties by ascending index. */
static bool is_sorted(size_t ndim, const int64_t *strides, const uint8_t *dim_order) {
  for (size_t k = 1; k < ndim; k++) {
    uint8_t a = dim_order[k - 1], b = dim_order[k];
    if (strides[a] < strides[b] || (strides[a] == strides[b] && a >= b)) return false;
  }
  return true;
}

/* Any strides: exactly those that some dim_order expresses are accepted. */
static void check_dim_order(const evalue_tensor *t, const int64_t *strides) {
  uint8_t dim_order[EVALUE_MAX_NDIM];
  int64_t again[EVALUE_MAX_NDIM] = {0};
  evalue_tensor made;
  memset(dim_order, FUZZ_FILL, sizeof dim_order);
  bool expected = is_dense(t->ndim, t->sizes, strides);
  evalue_status status = evalue_dim_order_from_strides(t->ndim, t->sizes, strides, dim_order);
  FUZZ_CHECK(status == (expected ? EVALUE_OK : EVALUE_UNSUPPORTED));
  FUZZ_CHECK(evalue_tensor_init_strides(&made, t->scalar_type, t->ndim, t->sizes, strides, t->data, t->nbytes) ==
             status);
  if (!expected) {
    for (size_t d = 0; d < t->ndim; d++) FUZZ_CHECK(dim_order[d] == FUZZ_FILL);
    return;
  }
  FUZZ_CHECK(is_sorted(t->ndim, strides, dim_order));
  FUZZ_CHECK(memcmp(made.dim_order, dim_order, t->ndim) == 0 && evalue_tensor_check(&made) == EVALUE_OK);
  find_strides(t->ndim, t->sizes, dim_order, again);
  for (size_t d = 0; d < t->ndim && t->nbytes != 0; d++) FUZZ_CHECK(t->sizes[d] == 1 || again[d] == strides[d]);
}

static void check_strides(const evalue_tensor *t, fuzz_source *source) {
  int64_t expected[EVALUE_MAX_NDIM] = {0}, strides[EVALUE_MAX_NDIM] = {0}, row_major[EVALUE_MAX_NDIM] = {0};
  int32_t narrow[EVALUE_MAX_NDIM] = {0};
  uint8_t in_order[EVALUE_MAX_NDIM];
  bool is_wide = false, is_contiguous = true;
  for (size_t d = 0; d < t->ndim; d++) in_order[d] = (uint8_t)d;
  find_strides(t->ndim, t->sizes, t->dim_order, expected);
  find_strides(t->ndim, t->sizes, in_order, row_major);
  FUZZ_CHECK(evalue_tensor_strides(t, strides) == EVALUE_OK && memcmp(strides, expected, sizeof strides) == 0);
  for (size_t d = 0; d < t->ndim; d++) {
    if (strides[d] > INT32_MAX) is_wide = true;
    if (t->sizes[d] != 1 && strides[d] != row_major[d] && t->nbytes != 0) is_contiguous = false;
  }
  FUZZ_CHECK(evalue_tensor_strides_int32(t, narrow) == (is_wide ? EVALUE_UNSUPPORTED : EVALUE_OK));
  for (size_t d = 0; d < t->ndim; d++) FUZZ_CHECK(narrow[d] == (is_wide ? 0 : strides[d]));
  FUZZ_CHECK(evalue_tensor_is_contiguous(t) == is_contiguous);
  check_dim_order(t, strides);
  if (t->ndim == 0) return;
  for (size_t d = 0; d < t->ndim; d++) { /* where there is only one index, no stride counts */
    if (t->sizes[d] == 1 && fuzz_take(source) % 2 != 0) strides[d] = (int8_t)fuzz_take(source);
  }
  check_dim_order(t, strides);
  size_t d = fuzz_take(source) % t->ndim, other = fuzz_take(source) % t->ndim;
  strides[d] = fuzz_take(source) % 2 != 0 ? strides[other] : (int8_t)fuzz_take(source);
  check_dim_order(t, strides);
}

/* ---- tensors: copies ----------------------------------------------------------------------------------------- */

/* Steps to the next index in logical order; false after the last. */
static bool step(const evalue_tensor *t, int32_t *index) {
  for (size_t d = t->ndim; d-- > 0;) {
    if (++index[d] < t->sizes[d]) return true;
    index[d] = 0;
  }
  return false;
}

static size_t place_of(size_t ndim, const int32_t *index, const int64_t *strides) {
  int64_t place = 0;
  for (size_t d = 0; d < ndim; d++) place += index[d] * strides[d];
  return (size_t)place;
}

/* Each element is where its index says, with its components in the byte order that was asked for. */
static void check_elements(const evalue_tensor *t, const uint8_t *dim_order, bool is_reversed, const uint8_t *copy) {
  int64_t from[EVALUE_MAX_NDIM], to[EVALUE_MAX_NDIM];
  int32_t index[EVALUE_MAX_NDIM] = {0};
  size_t size = evalue_element_size(t->scalar_type), width = evalue_component_size(t->scalar_type);
  if (t->nbytes == 0) return;
  find_strides(t->ndim, t->sizes, t->dim_order, from);
  find_strides(t->ndim, t->sizes, dim_order, to);
  do {
    const uint8_t *a = (const uint8_t *)t->data + size * place_of(t->ndim, index, from);
    const uint8_t *b = copy + size * place_of(t->ndim, index, to);
    for (size_t i = 0; i < size; i++) FUZZ_CHECK(a[i] == b[is_reversed ? i - i % width + width - 1 - i % width : i]);
  } while (step(t, index));
}

static void check_copy(const evalue_tensor *t, fuzz_source *source) {
  uint8_t dim_order[EVALUE_MAX_NDIM];
  evalue_tensor view;
  fuzz_bytes copy = fuzz_new(t->nbytes, fuzz_take(source) % 16), back = fuzz_new(t->nbytes, fuzz_take(source) % 16);
  fuzz_take_dim_order(source, t->ndim, dim_order);
  if (t->nbytes != 0) {
    fuzz_fill(&copy);
    FUZZ_CHECK(evalue_tensor_copy(t, dim_order, EVALUE_LITTLE_ENDIAN, copy.data, t->nbytes - 1) == EVALUE_NO_SPACE);
    FUZZ_CHECK(fuzz_is_filled(&copy, 0));
  }
  FUZZ_CHECK(evalue_tensor_copy(t, dim_order, EVALUE_BIG_ENDIAN, copy.data, copy.size) == EVALUE_OK);
  check_elements(t, dim_order, true, copy.data);
  FUZZ_CHECK(evalue_tensor_copy(t, dim_order, EVALUE_LITTLE_ENDIAN, copy.data, copy.size) == EVALUE_OK);
  check_elements(t, dim_order, false, copy.data);
  FUZZ_CHECK(evalue_tensor_init_dim_order(&view, t->scalar_type, t->ndim, t->sizes, dim_order, copy.data, copy.size) ==
             EVALUE_OK);
  FUZZ_CHECK(evalue_tensor_copy(&view, t->dim_order, EVALUE_LITTLE_ENDIAN, back.data, back.size) == EVALUE_OK);
  view = *t;
  view.data = back.data;
  evalue a = evalue_from_tensor(t), b = evalue_from_tensor(&view);
  FUZZ_CHECK(evalue_equal(&a, &b));
  fuzz_free(&copy);
  fuzz_free(&back);
}

/* Looking at data: typed access where it is possible, the deep check, the way to the wire. */
static void check_data(const evalue_tensor *t) {
  uint64_t index = 0;
  uint32_t width = evalue_component_size(t->scalar_type);
  bool is_usable = t->nbytes != 0 && (uintptr_t)t->data % width == 0 && (EVALUE_HOST_IS_LITTLE_ENDIAN || width == 1);
  FUZZ_CHECK(evalue_tensor_typed_data(t, t->scalar_type) == (is_usable ? t->data : NULL));
  FUZZ_CHECK(evalue_tensor_typed_data(t, t->scalar_type + 1U) == NULL);
  const uint8_t *p = (const uint8_t *)t->data;
  size_t i = 0;
  while (i < t->nbytes && t->scalar_type == EVALUE_BOOL && p[i] <= 1) i++;
  bool is_good = t->scalar_type != EVALUE_BOOL || i == t->nbytes;
  FUZZ_CHECK(evalue_tensor_check_data(t, &index) == (is_good ? EVALUE_OK : EVALUE_MALFORMED));
  if (!is_good) FUZZ_CHECK(index == i);
  fuzz_bytes host = fuzz_new(t->nbytes, 0), wire = fuzz_new(t->nbytes, 1);
  FUZZ_CHECK(evalue_tensor_copy(t, t->dim_order, EVALUE_HOST_ENDIAN, host.data, host.size) == EVALUE_OK);
  FUZZ_CHECK(evalue_tensor_data_to_wire(t->scalar_type, host.data, wire.data, wire.size) == EVALUE_OK);
  FUZZ_CHECK(t->nbytes == 0 || memcmp(wire.data, t->data, wire.size) == 0);
  fuzz_free(&host);
  fuzz_free(&wire);
}

/* ---- the target ---------------------------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  fuzz_source source = {input, size, 0};
  fuzz_values v;
  uint8_t choice = fuzz_take(&source);
  fuzz_take_values(&source, &v);
  job j = {v.values, v.n, choice % 14 == 13, choice % 14 == 13 ? 1 : 1U << choice % 14};
  source.at = size / 2; /* decisions about the checks: bytes that were taken before will do */
  fuzz_bytes expected = encode_plainly(&j);
  check_capacities(&j, &expected, &source);
  check_gathers(&j, &expected, &source);
  check_decoded(&j, &expected);
  check_refused(&j, expected.size, &source);
  for (size_t i = 0; i < v.n; i++) {
    const evalue_tensor *t = &v.values[i].tensor;
    check_unequal(&v.values[i], &source);
    if (v.values[i].tag != EVALUE_TAG_TENSOR) continue;
    FUZZ_CHECK(evalue_tensor_numel(t) == (int64_t)(t->nbytes / evalue_element_size(t->scalar_type)));
    check_strides(t, &source);
    check_copy(t, &source);
    check_data(t);
  }
  fuzz_free(&expected);
  fuzz_free_values(&v);
  return 0;
}
