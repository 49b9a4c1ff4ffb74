/* SPDX-License-Identifier: BSD-3-Clause */
/* A value to bytes (spec/executorch-java.md, section 4): a head, and after it a String's bytes or a tensor's data. */
#include "../text/utf8.h"
#include "java.h"

typedef struct writing {
  const evalue *value;
  evalue_java_options options;
  evalue_error error;
  uint64_t rest; /* bytes after the head */
  uint32_t head_size;
  uint8_t head[EVALUE_JAVA_MAX_HEAD_SIZE];
} writing;

static evalue_status fail(writing *w, evalue_fault fault, evalue_field field, uint64_t position, uint64_t found) {
  evalue_status status = evalue_java_fail(&w->error, fault, field, position);
  w->error.found = found;
  return status;
}

static evalue_status fail_expecting(writing *w, evalue_fault fault, evalue_field field, uint64_t position,
                                    uint64_t expected, uint64_t found) {
  evalue_status status = fail(w, fault, field, position, found);
  w->error.expected = expected;
  return status;
}

/* Judges the length of the whole, which the field at a position decides. */
static evalue_status judge_length(writing *w, evalue_field field, uint64_t position) {
  if (w->rest <= EVALUE_JAVA_LIMIT - w->head_size) return EVALUE_OK;
  uint64_t size = w->rest <= UINT64_MAX - w->head_size ? w->head_size + w->rest : UINT64_MAX;
  return fail_expecting(w, EVALUE_FAULT_JAVA_TOO_LONG, field, position, EVALUE_JAVA_LIMIT, size);
}

static void put_u8(writing *w, uint32_t byte) {
  w->head[w->head_size++] = (uint8_t)byte;
}

static void put_u32(writing *w, uint32_t number) {
  evalue_store_be_u32(w->head + w->head_size, number);
  w->head_size += 4;
}

static evalue_status begin_tensor(writing *w) {
  const evalue_tensor *t = &w->value->tensor;
  int dtype = evalue_java_dtype(t->scalar_type, w->options.release);
  if (dtype < 0) {
    return fail_expecting(w, EVALUE_FAULT_UNKNOWN_DTYPE, EVALUE_FIELD_SCALAR_TYPE, w->head_size, w->options.release,
                          t->scalar_type);
  }
  uint64_t extent = evalue_element_size(t->scalar_type);
  put_u8(w, (uint32_t)dtype);
  put_u8(w, t->ndim);
  for (uint32_t i = 0; i < t->ndim; i++) {
    uint32_t size = (uint32_t)t->sizes[i];
    if (size != 0 && !evalue_multiply(&extent, size)) {
      fail(w, EVALUE_FAULT_EXTENT_TOO_LARGE, EVALUE_FIELD_SIZE, w->head_size, size);
      w->error.status = EVALUE_LIMIT; /* as evalue_check says */
      return EVALUE_LIMIT;
    }
    put_u32(w, size);
  }
  w->rest = t->nbytes;
  return judge_length(w, EVALUE_FIELD_DATA, w->head_size);
}

static evalue_status begin_string(writing *w) {
  const evalue_string *s = &w->value->string;
  const uint8_t *bytes = (const uint8_t *)s->data;
  if (!evalue_java_has_strings(w->options.release)) {
    return fail_expecting(w, EVALUE_FAULT_STRING_BEFORE_1_2, EVALUE_FIELD_TAG, EVALUE_JAVA_AT_TAG, w->options.release,
                          EVALUE_TAG_STRING);
  }
  put_u32(w, (uint32_t)s->nbytes); /* if it is cut here, it is too long */
  w->rest = s->nbytes;
  evalue_status status = judge_length(w, EVALUE_FIELD_LENGTH, EVALUE_JAVA_AT_PAYLOAD);
  if (status != EVALUE_OK) return status;
  size_t good = evalue_utf8_prefix(bytes, s->nbytes);
  if (good == s->nbytes) return EVALUE_OK;
  fail(w, EVALUE_FAULT_BAD_UTF8, EVALUE_FIELD_STRING, EVALUE_JAVA_AT_STRING + (uint64_t)good, bytes[good]);
  w->error.status = EVALUE_UNSUPPORTED; /* there is nothing wrong with it, but this format cannot say it */
  return EVALUE_UNSUPPORTED;
}

/* Judges the value and makes the head. */
static evalue_status begin(writing *w, const evalue *value, const evalue_java_options *options) {
  memset(&w->error, 0, sizeof w->error);
  w->value = value;
  w->rest = 0;
  w->head_size = 0;
  bool is_good = evalue_java_take_options(&w->options, options) && value != NULL &&
                 (w->options.bare_tensor == 0 || value->tag == EVALUE_TAG_TENSOR);
  /* What is over a limit is left to those who know at which field. */
  if (!is_good || evalue_check(value) == EVALUE_MISUSE) return fail(w, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0, 0);
  if (w->options.bare_tensor == 0) put_u8(w, value->tag);
  switch (value->tag) {
    case EVALUE_TAG_TENSOR: return begin_tensor(w);
    case EVALUE_TAG_STRING: return begin_string(w);
    case EVALUE_TAG_BOOL: put_u8(w, value->bool_value); return EVALUE_OK;
    case EVALUE_TAG_DOUBLE:
    case EVALUE_TAG_INT: {
      uint64_t bits;
      EVALUE_COPY(&bits, &value->int_value, sizeof bits); /* the double shares its place */
      put_u32(w, (uint32_t)(bits >> 32));
      put_u32(w, (uint32_t)bits);
      return EVALUE_OK;
    }
    default: return EVALUE_OK; /* None */
  }
}

static evalue_status conclude(const writing *w, uint64_t size_value, uint64_t *size, evalue_error *error) {
  if (size != NULL) *size = size_value;
  if (error != NULL) *error = w->error;
  return (evalue_status)w->error.status;
}

/* A call with wrong arguments. */
static evalue_status refuse(writing *w, uint64_t *size, evalue_error *error) {
  fail(w, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0, 0);
  return conclude(w, 0, size, error);
}

evalue_status evalue_java_size(const evalue *value, const evalue_java_options *options, uint64_t *size,
                               evalue_error *error) {
  writing w;
  evalue_status status = begin(&w, value, options);
  if (size == NULL) return refuse(&w, size, error);
  return conclude(&w, status == EVALUE_OK ? w.head_size + w.rest : 0, size, error);
}

static void put_all(const writing *w, uint8_t *buffer) {
  memcpy(buffer, w->head, w->head_size);
  buffer += w->head_size;
  if (w->value->tag == EVALUE_TAG_STRING) {
    evalue_copy_bytes(buffer, w->value->string.data, w->value->string.nbytes);
  } else if (w->value->tag == EVALUE_TAG_TENSOR && w->rest != 0) {
    evalue_tensor_copy(&w->value->tensor, NULL, EVALUE_BIG_ENDIAN, buffer, (size_t)w->rest); /* it was checked */
  }
}

evalue_status evalue_java_encode(const evalue *value, const evalue_java_options *options, void *buffer, size_t capacity,
                                 uint64_t *size, evalue_error *error) {
  writing w;
  evalue_status status = begin(&w, value, options);
  if (size == NULL || (buffer == NULL && capacity != 0)) return refuse(&w, size, error);
  if (status != EVALUE_OK) return conclude(&w, 0, size, error);
  uint64_t needed = w.head_size + w.rest;
  if (needed <= capacity && buffer != NULL) put_all(&w, (uint8_t *)buffer);
  else fail_expecting(&w, EVALUE_FAULT_MEMORY_SHORT, EVALUE_FIELD_NONE, 0, needed, capacity);
  return conclude(&w, needed, size, error);
}
