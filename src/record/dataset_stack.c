/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacking: rows of the same type, one after the other in row-major order, with padding where they are smaller. */
#include "dataset_batch.h"

/* ---- rows ---- */

static void make_tensor(evalue_tensor *made, uint8_t scalar_type, const void *data, size_t nbytes) {
  memset(made, 0, sizeof *made);
  made->scalar_type = scalar_type;
  made->data = data;
  made->nbytes = nbytes;
}

const evalue_tensor *evalue_row_of(const evalue *value, evalue_tensor *made, uint8_t bytes[8]) {
  uint64_t bits = 0;
  switch (value->tag) {
    case EVALUE_TAG_TENSOR: return &value->tensor;
    case EVALUE_TAG_STRING:
      make_tensor(made, EVALUE_UINT8, value->string.data, value->string.nbytes);
      made->ndim = 1;
      made->sizes[0] = (int32_t)value->string.nbytes;
      return made;
    case EVALUE_TAG_DOUBLE:
      EVALUE_COPY(&bits, &value->double_value, sizeof bits);
      make_tensor(made, EVALUE_FLOAT64, bytes, 8);
      break;
    case EVALUE_TAG_INT:
      bits = (uint64_t)value->int_value;
      make_tensor(made, EVALUE_INT64, bytes, 8);
      break;
    case EVALUE_TAG_BOOL:
      bits = value->bool_value;
      make_tensor(made, EVALUE_BOOL, bytes, 1);
      break;
    default: make_tensor(made, EVALUE_UINT8, bytes, 0); break;
  }
  evalue_store_u64(bytes, bits);
  return made;
}

static bool can_be_row(const evalue *value) {
  if (value->tag == EVALUE_TAG_STRING) return value->string.nbytes <= INT32_MAX;
  return value->tag != EVALUE_TAG_TENSOR || value->tensor.ndim < EVALUE_MAX_NDIM;
}

/* ---- columns ---- */

bool evalue_column_start(evalue_column *c, const evalue *value) {
  uint8_t bytes[8];
  memset(c, 0, sizeof *c);
  if (!can_be_row(value)) return false;
  evalue_tensor made;
  c->row = *evalue_row_of(value, &made, bytes);
  c->row.data = NULL;
  for (uint32_t i = 0; i < c->row.ndim; i++) c->row.dim_order[i] = (uint8_t)i;
  c->tag = value->tag;
  return true;
}

bool evalue_column_widen(evalue_column *c, const evalue *value) {
  uint8_t bytes[8];
  evalue_tensor made;
  if (value->tag != c->tag || !can_be_row(value)) return false;
  const evalue_tensor *t = evalue_row_of(value, &made, bytes);
  if (t->scalar_type != c->row.scalar_type || t->ndim != c->row.ndim) return false;
  for (uint32_t i = 0; i < t->ndim; i++) {
    if (t->sizes[i] != c->row.sizes[i]) c->is_padded = true;
    if (t->sizes[i] <= c->row.sizes[i]) continue;
    if (c->is_fixed[i]) return false;
    c->row.sizes[i] = t->sizes[i];
  }
  return true;
}

bool evalue_column_nbytes(const evalue_column *c, uint64_t n, uint64_t *nbytes) {
  uint64_t bytes = n;
  if (c->tag == EVALUE_TAG_NONE) bytes = 0;
  for (uint32_t i = 0; i < c->row.ndim; i++) {
    if (!evalue_multiply(&bytes, (uint32_t)c->row.sizes[i])) return false;
  }
  if (!evalue_multiply(&bytes, evalue_element_size(c->row.scalar_type))) return false;
  *nbytes = (bytes + EVALUE_DATASET_ALIGNMENT - 1) / EVALUE_DATASET_ALIGNMENT * EVALUE_DATASET_ALIGNMENT;
  return true;
}

/* ---- copying ---- */

/* Copies a row that is smaller than its place: line by line of its innermost dimension. */
static void put_box(const evalue_column *c, uint8_t *to, const evalue_tensor *row) {
  int64_t strides[EVALUE_MAX_NDIM];
  uint64_t places[EVALUE_MAX_NDIM]; /* strides of the place */
  int32_t at[EVALUE_MAX_NDIM] = {0};
  size_t size = evalue_element_size(row->scalar_type);
  uint32_t last = row->ndim - 1U; /* a row that is smaller has dimensions */
  evalue_tensor_strides(row, strides);
  places[last] = 1;
  for (uint32_t i = last; i > 0; i--) places[i - 1] = places[i] * (uint64_t)(uint32_t)c->row.sizes[i];
  size_t line = (size_t)row->sizes[last];
  for (;;) {
    uint64_t from = 0, place = 0;
    for (uint32_t i = 0; i < last; i++) {
      from += (uint64_t)at[i] * (uint64_t)strides[i];
      place += (uint64_t)at[i] * places[i];
    }
    const uint8_t *source = (const uint8_t *)row->data + from * size;
    if (strides[last] == 1) memcpy(to + place * size, source, line * size);
    for (size_t k = 0; strides[last] != 1 && k < line; k++) {
      memcpy(to + (place + k) * size, source + k * (size_t)strides[last] * size, size);
    }
    uint32_t i = last; /* the next line */
    while (i > 0 && ++at[i - 1] == row->sizes[i - 1]) at[--i] = 0;
    if (i == 0) return;
  }
}

static bool is_row_major(const evalue_tensor *t) {
  for (uint32_t i = 0; i < t->ndim; i++) {
    if (t->dim_order[i] != i) return false;
  }
  return true;
}

static void put_sizes(const evalue_column *c, uint64_t number, const evalue_tensor *row) {
  uint8_t *to = c->sizes + (size_t)number * row->ndim * 4;
  for (uint32_t i = 0; i < row->ndim; i++) evalue_store_u32(to + 4 * (size_t)i, (uint32_t)row->sizes[i]);
}

/* Says whether a tensor is like the column's row, and in row-major order. */
static bool is_alike(const evalue_column *c, const evalue_tensor *t) {
  return t->scalar_type == c->row.scalar_type && t->ndim == c->row.ndim &&
         memcmp(t->sizes, c->row.sizes, t->ndim * sizeof t->sizes[0]) == 0;
}

bool evalue_column_put_same(const evalue_column *c, uint64_t number, const evalue *value) {
  uint8_t *to = c->data + (size_t)number * c->row.nbytes;
  if (value->tag != c->tag) return false;
  switch (value->tag) { /* what is common goes the short way */
    case EVALUE_TAG_TENSOR:
      if (!is_alike(c, &value->tensor)) return false;
      if (c->sizes != NULL || !is_row_major(&value->tensor)) break;
      evalue_copy_bytes(to, value->tensor.data, c->row.nbytes);
      return true;
    case EVALUE_TAG_INT: evalue_store_u64(to, (uint64_t)value->int_value); return true;
    case EVALUE_TAG_STRING:
      if (value->string.nbytes != c->row.nbytes) return false;
      break;
    default: break;
  }
  evalue_column_put(c, number, value);
  return true;
}

void evalue_column_put(const evalue_column *c, uint64_t number, const evalue *value) {
  uint8_t bytes[8];
  evalue_tensor made;
  const evalue_tensor *row = evalue_row_of(value, &made, bytes);
  if (c->sizes != NULL) put_sizes(c, number, row);
  if (row->nbytes == 0) return;
  uint8_t *to = c->data + (size_t)number * c->row.nbytes;
  bool is_smaller = row->nbytes != c->row.nbytes;
  if (is_smaller) put_box(c, to, row);
  else if (is_row_major(row)) memcpy(to, row->data, row->nbytes);
  else evalue_tensor_copy(row, NULL, EVALUE_LITTLE_ENDIAN, to, row->nbytes);
}

void evalue_column_fill(const evalue_column *c, uint64_t n) {
  size_t nbytes = (size_t)n * c->row.nbytes, size = evalue_element_size(c->row.scalar_type);
  if (!c->is_padded || nbytes == 0) return;
  if (c->filler == NULL) {
    memset(c->data, 0, nbytes);
    return;
  }
  for (size_t i = 0; i < nbytes; i += size) memcpy(c->data + i, c->filler, size);
}

/* ---- showing ---- */

static void show(evalue *value, const evalue_tensor *row, uint64_t n, const void *data) {
  value->tag = EVALUE_TAG_TENSOR;
  evalue_tensor *t = &value->tensor;
  t->data = data;
  t->nbytes = (size_t)n * row->nbytes;
  t->scalar_type = row->scalar_type;
  t->ndim = (uint8_t)(row->ndim + 1);
  t->sizes[0] = (int32_t)n;
  t->dim_order[0] = 0;
  for (uint32_t i = 0; i < row->ndim; i++) {
    t->sizes[i + 1] = row->sizes[i];
    t->dim_order[i + 1] = (uint8_t)(i + 1);
  }
}

void evalue_column_show(const evalue_column *c, uint64_t n, evalue *value) {
  if (c->tag == EVALUE_TAG_NONE) *value = evalue_from_none();
  else show(value, &c->row, n, c->data);
}

void evalue_column_show_sizes(const evalue_column *c, uint64_t n, evalue *value) {
  evalue_tensor row = {
      .scalar_type = EVALUE_INT32, .ndim = 1, .sizes = {c->row.ndim}, .nbytes = 4 * (size_t)c->row.ndim};
  if (c->tag == EVALUE_TAG_NONE) *value = evalue_from_none();
  else show(value, &row, n, c->sizes);
}
