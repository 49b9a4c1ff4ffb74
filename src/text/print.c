/* SPDX-License-Identifier: BSD-3-Clause */
/* A value on one line. */
#include "evalue/tensor.h"
#include "evalue/text.h"
#include "text_internal.h"

enum {
  STRING_BYTES = 64,   /* of a string, as many are shown */
  WHOLE_ELEMENTS = 16, /* a tensor of at most so many elements is shown whole */
  FIRST_ELEMENTS = 8   /* of a larger one, the first */
};

bool evalue_is_row_major(const evalue_tensor *t) {
  for (size_t i = 0; i < t->ndim; i++) {
    if (t->dim_order[i] != i) return false;
  }
  return true;
}

static void put_list(evalue_text *text, size_t n, const int32_t *sizes, const uint8_t *dim_order) {
  evalue_text_put(text, "[");
  for (size_t i = 0; i < n; i++) {
    if (i != 0) evalue_text_put(text, ", ");
    evalue_text_put_u64(text, sizes != NULL ? (uint64_t)sizes[i] : dim_order[i]);
  }
  evalue_text_put(text, "]");
}

/* Steps to the next element in logical order; returns how many dimensions, counted from the last, began anew. */
static uint32_t step(const evalue_tensor *t, const int64_t *strides, int32_t *index, int64_t *at) {
  uint32_t anew = 0;
  for (size_t d = t->ndim; d-- > 0; anew++) {
    *at += strides[d];
    if (++index[d] < t->sizes[d]) break;
    *at -= strides[d] * t->sizes[d];
    index[d] = 0;
  }
  return anew;
}

static void put_brackets(evalue_text *text, const char *bracket, uint32_t count) {
  while (count-- > 0) evalue_text_put(text, bracket);
}

/* Elements as nested lists; of many, only the first. */
static void put_elements(evalue_text *text, const evalue_tensor *t) {
  int64_t strides[EVALUE_MAX_NDIM] = {0}, at = 0, numel = evalue_tensor_numel(t);
  int32_t index[EVALUE_MAX_NDIM] = {0};
  if (numel == 0) {
    evalue_text_put(text, "[]");
    return;
  }
  evalue_tensor_strides(t, strides);
  int64_t shown = numel <= WHOLE_ELEMENTS ? numel : FIRST_ELEMENTS;
  size_t size = evalue_element_size(t->scalar_type);
  put_brackets(text, "[", t->ndim);
  for (int64_t i = 0; i < shown; i++) {
    evalue_text_put_element(text, t->scalar_type, (const uint8_t *)t->data + (size_t)at * size);
    uint32_t anew = step(t, strides, index, &at);
    put_brackets(text, "]", anew);
    if (i + 1 == numel) break;
    evalue_text_put(text, ", ");
    if (i + 1 < shown) {
      put_brackets(text, "[", anew);
    } else {
      evalue_text_put(text, "...");
      put_brackets(text, "]", t->ndim - anew);
    }
  }
}

static void put_tensor(evalue_text *text, const evalue_tensor *t) {
  evalue_text_put(text, "Tensor ");
  evalue_text_put(text, evalue_scalar_type_name(t->scalar_type));
  evalue_text_put(text, " ");
  put_list(text, t->ndim, t->sizes, NULL);
  if (!evalue_is_row_major(t)) {
    evalue_text_put(text, " dim_order ");
    put_list(text, t->ndim, NULL, t->dim_order);
  }
  evalue_text_put(text, " ");
  put_elements(text, t);
}

static void put_string(evalue_text *text, const evalue_string *s) {
  size_t shown = s->nbytes;
  if (shown > STRING_BYTES) {
    shown = STRING_BYTES; /* and back to where a character begins */
    while (shown > STRING_BYTES - 3 && ((uint8_t)s->data[shown] & 0xc0) == 0x80) shown--;
  }
  evalue_text_put(text, "String \"");
  if (shown != 0) evalue_text_put_escaped(text, (const uint8_t *)s->data, shown);
  evalue_text_put(text, "\"");
  if (shown == s->nbytes) return;
  evalue_text_put(text, "... (");
  evalue_text_put_u64(text, s->nbytes);
  evalue_text_put(text, " bytes)");
}

static void put_int(evalue_text *text, int64_t i) {
  evalue_text_put(text, i < 0 ? "Int -" : "Int ");
  evalue_text_put_u64(text, i < 0 ? 0 - (uint64_t)i : (uint64_t)i);
}

size_t evalue_print(const evalue *value, char *text, size_t capacity) {
  evalue_text out = evalue_text_start(text, capacity);
  if (value == NULL || evalue_check(value) != EVALUE_OK) {
    evalue_text_put(&out, "invalid");
    return evalue_text_end(&out);
  }
  switch (value->tag) {
    case EVALUE_TAG_NONE: evalue_text_put(&out, "None"); break;
    case EVALUE_TAG_TENSOR: put_tensor(&out, &value->tensor); break;
    case EVALUE_TAG_STRING: put_string(&out, &value->string); break;
    case EVALUE_TAG_DOUBLE:
      evalue_text_put(&out, "Double ");
      evalue_text_put_double(&out, value->double_value);
      break;
    case EVALUE_TAG_INT: put_int(&out, value->int_value); break;
    default: evalue_text_put(&out, value->bool_value != 0 ? "Bool true" : "Bool false"); break;
  }
  return evalue_text_end(&out);
}
