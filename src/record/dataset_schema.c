/* SPDX-License-Identifier: BSD-3-Clause */
/* What values have to be, and what they are instead. */
#include <stdarg.h>
#include <stdio.h>

#include "dataset_internal.h"

/* ---- text ---- */

/* Text in a buffer, cut where it ends; length is that of all of it. */
typedef struct line {
  char *data;
  size_t capacity, length;
} line;

static line start(char *data, size_t capacity) {
  line t;
  t.data = data;
  t.capacity = capacity;
  t.length = 0;
  return t;
}

static void put(line *t, const char *format, ...) EVALUE_LOG_FORMAT(2, 3);

static void put(line *t, const char *format, ...) {
  va_list arguments;
  size_t at = t->length < t->capacity ? t->length : t->capacity;
  va_start(arguments, format);
  int n = vsnprintf(at < t->capacity ? t->data + at : NULL, t->capacity - at, format, arguments);
  va_end(arguments);
  if (n > 0) t->length += (size_t)n;
}

static void put_tensor(line *t, uint32_t scalar_type, uint32_t ndim, const int32_t *sizes) {
  const char *name = evalue_scalar_type_name(scalar_type);
  put(t, "Tensor");
  if (scalar_type != EVALUE_ANY) put(t, " %s", name != NULL ? name : "?");
  if (ndim == EVALUE_ANY) return;
  put(t, " [");
  for (uint32_t i = 0; i < ndim; i++) {
    if (i != 0) put(t, ", ");
    if (sizes[i] == EVALUE_ANY_SIZE) put(t, "?");
    else put(t, "%ld", (long)sizes[i]);
  }
  put(t, "]");
}

static void put_expected(line *t, const evalue_schema_value *schema) {
  if (schema->tag == EVALUE_TAG_TENSOR) put_tensor(t, schema->scalar_type, schema->ndim, schema->sizes);
  else put(t, "%s", evalue_tag_name(schema->tag));
  if (schema->may_be_none != 0) put(t, " or None");
}

static void put_found(line *t, const evalue *value) {
  const char *name = evalue_tag_name(value->tag);
  if (value->tag == EVALUE_TAG_TENSOR) {
    put_tensor(t, value->tensor.scalar_type, value->tensor.ndim, value->tensor.sizes);
  } else {
    put(t, "%s", name != NULL ? name : "?");
  }
}

size_t evalue_schema_print_value(const evalue *value, char *text, size_t capacity) {
  line t = start(text, capacity);
  put_found(&t, value);
  return t.length;
}

/* ---- checking ---- */

static bool value_is_good(const evalue_schema_value *s) {
  if (s->may_be_none > 1) return false;
  if (s->tag == EVALUE_ANY) return true;
  if (s->tag > EVALUE_TAG_BOOL) return false;
  if (s->tag != EVALUE_TAG_TENSOR) return true;
  if (s->scalar_type != EVALUE_ANY && evalue_element_size(s->scalar_type) == 0) return false;
  if (s->ndim == EVALUE_ANY) return true;
  if (s->ndim > EVALUE_MAX_NDIM) return false;
  for (uint32_t i = 0; i < s->ndim; i++) {
    if (s->sizes[i] < EVALUE_ANY_SIZE) return false;
  }
  return true;
}

bool evalue_schema_is_good(const evalue_schema_value *schema, size_t n) {
  if (schema == NULL) return n == 0;
  for (size_t i = 0; i < n; i++) {
    if (!value_is_good(&schema[i])) return false;
  }
  return true;
}

static bool fits(const evalue_schema_value *s, const evalue *value) {
  if (s->may_be_none != 0 && value->tag == EVALUE_TAG_NONE) return true;
  if (s->tag == EVALUE_ANY) return true;
  if (s->tag != value->tag) return false;
  if (s->tag != EVALUE_TAG_TENSOR) return true;
  const evalue_tensor *t = &value->tensor;
  if (s->scalar_type != EVALUE_ANY && s->scalar_type != t->scalar_type) return false;
  if (s->ndim == EVALUE_ANY) return true;
  if (s->ndim != t->ndim) return false;
  for (uint32_t i = 0; i < t->ndim; i++) {
    if (s->sizes[i] != EVALUE_ANY_SIZE && s->sizes[i] != t->sizes[i]) return false;
  }
  return true;
}

evalue_status evalue_schema_check(const evalue_schema_value *schema, size_t n, const evalue *values, size_t count,
                                  uint64_t *index, char *text, size_t capacity) {
  line t = start(text, capacity);
  bool has_values = values != NULL || count == 0, has_text = text != NULL || capacity == 0;
  if (!has_values || !has_text || !evalue_schema_is_good(schema, n)) return EVALUE_MISUSE;
  size_t both = n < count ? n : count, i = 0;
  while (i < both && fits(&schema[i], &values[i])) i++;
  if (i == n && i == count) return EVALUE_OK;
  if (index != NULL) *index = i;
  if (i == both) {
    put(&t, "expected %zu values, found %zu", n, count);
    return EVALUE_MALFORMED;
  }
  put(&t, "expected ");
  put_expected(&t, &schema[i]);
  put(&t, ", found ");
  put_found(&t, &values[i]);
  return EVALUE_MALFORMED;
}
