/* SPDX-License-Identifier: BSD-3-Clause */
/* A feature from its text: NAME:TYPE, NAME:TYPE[SIZES], with :raw and ? behind it. Read from its end. */
#include "evalue/tensor.h"
#include "tfexample.h"

#include <string.h>

typedef struct source {
  const char *start;
  size_t size; /* what is still to be read, up to here */
  evalue_tfexample_text_fault fault;
} source;

static bool fail(source *t, size_t position, const char *message) {
  t->fault.position = position;
  t->fault.message = message;
  return false;
}

/* Takes a suffix away, if it is there. */
static bool take(source *t, const char *suffix) {
  size_t n = strlen(suffix);
  if (t->size < n || memcmp(t->start + t->size - n, suffix, n) != 0) return false;
  t->size -= n;
  return true;
}

static bool is_word(const char *start, size_t size, const char *word) {
  return size == strlen(word) && memcmp(start, word, size) == 0;
}

/* Reads one size up to `end`. */
static bool read_size(source *t, size_t *position, size_t end, int32_t *size) {
  const char *p = t->start;
  size_t start = *position;
  int64_t number = 0;
  if (end - start >= 1 && p[start] == '?') {
    *size = -1;
    *position = start + 1;
    return true;
  }
  if (end - start >= 2 && memcmp(p + start, "-1", 2) == 0) {
    *size = -1;
    *position = start + 2;
    return true;
  }
  for (; *position < end && p[*position] >= '0' && p[*position] <= '9'; ++*position) {
    number = number * 10 + (p[*position] - '0');
    if (number > INT32_MAX) return fail(t, start, "a size is at most 2147483647");
  }
  if (*position == start) return fail(t, start, "a size is expected here: a whole number, or ? for one that is open");
  *size = (int32_t)number;
  return true;
}

/* Says whether the sizes make sense together, an open one left out. */
static bool check_sizes(source *t, const evalue_tfexample_feature *f, size_t position) {
  int32_t sizes[EVALUE_MAX_NDIM] = {0};
  uint64_t nbytes = 0;
  bool is_open = false, is_empty = false;
  for (size_t i = 0; i < f->ndim; i++) {
    if (f->sizes[i] < 0 && is_open) return fail(t, position, "only one size may be open");
    if (f->sizes[i] < 0) is_open = true;
    if (f->sizes[i] == 0) is_empty = true;
    sizes[i] = f->sizes[i] < 0 ? 1 : f->sizes[i];
  }
  if (is_open && is_empty) return fail(t, position, "beside a size of 0 none can be open");
  if (evalue_tensor_nbytes(f->scalar_type, f->ndim, sizes, &nbytes) == EVALUE_OK) return true;
  return fail(t, position, "these sizes are too large for a tensor");
}

/* Reads what stands between the brackets, from `position` to `end`. */
static bool read_sizes(source *t, evalue_tfexample_feature *f, size_t position, size_t end) {
  size_t start = position;
  while (position < end) {
    if (f->ndim == EVALUE_MAX_NDIM) return fail(t, position, "a tensor has at most 16 dimensions");
    if (!read_size(t, &position, end, &f->sizes[f->ndim])) return false;
    f->ndim++;
    if (position == end) break;
    if (t->start[position] != ',' || position + 1 == end)
      return fail(t, position, "a comma and a size, or ], is expected");
    position++;
  }
  return check_sizes(t, f, start);
}

static bool read_scalar_type(source *t, evalue_tfexample_feature *f, size_t start, size_t end) {
  for (uint32_t type = 0; evalue_scalar_type_name(type) != NULL; type++) {
    if (!is_word(t->start + start, end - start, evalue_scalar_type_name(type))) continue;
    f->kind = EVALUE_TFEXAMPLE_TENSOR;
    f->scalar_type = (uint8_t)type;
    return true;
  }
  return fail(t, start, "a tensor's type is expected here, like float32, int64 or bool");
}

static bool read_kind(source *t, evalue_tfexample_feature *f, size_t start) {
  static const char *const words[] = {"int", "bool", "double", "string", "bytes"}; /* as the kinds are numbered */
  for (uint32_t kind = 0; kind < sizeof words / sizeof words[0]; kind++) {
    if (!is_word(t->start + start, t->size - start, words[kind])) continue;
    f->kind = (uint8_t)kind;
    return f->is_raw == 0 || fail(t, t->size, "only tensors can be raw");
  }
  if (!read_scalar_type(t, f, start, t->size)) {
    return fail(t, start,
                "a type is expected here: int, bool, double, string, bytes, or a tensor's, like float32[3,32]");
  }
  return fail(t, t->size, "a tensor's sizes are expected here, like [3,32]; [] for one element");
}

static bool read_type(source *t, evalue_tfexample_feature *f, size_t start) {
  const char *bracket = memchr(t->start + start, '[', t->size - start);
  if (bracket == NULL) return read_kind(t, f, start);
  size_t open = (size_t)(bracket - t->start);
  if (t->start[t->size - 1] != ']') return fail(t, t->size, "] is expected here");
  return read_scalar_type(t, f, start, open) && read_sizes(t, f, open + 1, t->size - 1);
}

static bool read_feature(source *t, evalue_tfexample_feature *f) {
  memset(f, 0, sizeof *f);
  f->is_optional = take(t, "?") ? 1 : 0;
  f->is_raw = take(t, ":raw") ? 1 : 0;
  size_t colon = t->size;
  while (colon > 0 && t->start[colon - 1] != ':') colon--;
  if (colon == 0) return fail(t, t->size, "a colon and a type are expected here, as in NAME:int");
  if (colon == 1) return fail(t, 0, "a feature's name is expected here");
  f->name = t->start;
  f->name_size = colon - 1;
  return read_type(t, f, colon);
}

evalue_status evalue_tfexample_feature_parse(evalue_tfexample_feature *feature, const char *text,
                                             evalue_tfexample_text_fault *fault) {
  source t = {text, text != NULL ? strlen(text) : 0, {0, NULL}};
  bool is_good = false;
  if (feature == NULL || text == NULL) fail(&t, 0, "an argument of the call is wrong");
  else is_good = read_feature(&t, feature);
  if (fault != NULL) *fault = t.fault;
  return is_good ? EVALUE_OK : EVALUE_MISUSE;
}
