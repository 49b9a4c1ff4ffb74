/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of sinks share: bytes, values, what a sink should hold, and a sink that fails where it is told to. */
#ifndef TESTS_SINK_SUPPORT_H
#define TESTS_SINK_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/evalue.h"
#include "guard.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { UNTOUCHED = 0xA5, STORE = 16 * 1024, VALUES = 8 };

/* A poisoned sink logs a warning, and here many are poisoned. */
static inline int be_quiet(void **state) {
  (void)state;
  return evalue_log_configure("none", NULL, 0) == EVALUE_OK ? 0 : -1;
}

/* Bytes that are never zero, so that padding stands out. */
static inline void fill_bytes(uint8_t *p, size_t n, size_t seed) {
  for (size_t i = 0; i < n; i++) p[i] = (uint8_t)(1 + (seed * 31 + i * 7) % 250);
}

static inline evalue tensor_of(uint32_t scalar_type, size_t ndim, const int32_t *sizes, const void *data, size_t n) {
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, scalar_type, ndim, sizes, data, n), EVALUE_OK);
  return evalue_from_tensor(&t);
}

/* One of everything, also what has no payload. */
static inline void make_values(evalue *values) {
  static const uint8_t data[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0xff};
  static const int32_t sizes[] = {2, 3, 0};
  values[0] = evalue_from_none();
  values[1] = evalue_from_bool(true);
  values[2] = tensor_of(EVALUE_FLOAT32, 2, sizes, data, 24);
  values[3] = evalue_from_int(INT64_MIN);
  values[4] = evalue_from_string("h\xc3\xa9\0!", 5);
  values[5] = tensor_of(EVALUE_COMPLEX128, 0, NULL, data, 16);
  values[6] = evalue_from_string(NULL, 0);
  values[7] = evalue_from_double(-0.0);
}

/* ---- what a sink should hold ---- */

typedef struct model {
  uint8_t bytes[STORE];
  size_t used;
} model;

/* Appends a record to a model as the header says that sinks do; returns its offset. */
static inline uint64_t model_put(model *m, const void *data, size_t n, uint32_t alignment) {
  while (alignment > 1 && m->used % alignment != 0) m->bytes[m->used++] = 0;
  assert_true(n <= STORE - m->used);
  if (n != 0) memcpy(m->bytes + m->used, data, n);
  m->used += n;
  return m->used - n;
}

/* ---- a sink that fails where it is told to, and checks that it is called as the header says ---- */

typedef enum call { BEGIN, WRITE, END, UNDO, FLUSH, CLOSE, CALLS } call;

typedef struct faulty_sink {
  evalue_sink sink;
  uint8_t bytes[STORE];
  size_t size, mark, announced;
  int64_t budget;             /* bytes until a write fails; negative: never */
  evalue_status fails[CALLS]; /* what the call returns that fails; EVALUE_OK: it does not */
  bool for_ever;              /* it fails again and again */
  bool is_in_record, is_closed, was_good;
  uint32_t alignment; /* of the last record */
  size_t calls[CALLS];
  char order[64]; /* the last calls: b w e u f c */
} faulty_sink;

enum { FAULTY_ERROR = 28 }; /* what such a sink says about why */

static inline faulty_sink *faulty_of(evalue_sink *sink) {
  return (faulty_sink *)(void *)sink;
}

static inline evalue_status faulty_call(faulty_sink *s, call what) {
  size_t length = strlen(s->order);
  assert_false(s->is_closed);
  assert_ptr_equal(s->sink.self, &s->sink);
  assert_int_equal(s->is_in_record, what == WRITE || what == END || what == UNDO);
  s->calls[what]++;
  if (length + 1 < sizeof s->order) s->order[length] = "bweufc"[what];
  evalue_status status = s->fails[what];
  if (!s->for_ever) s->fails[what] = EVALUE_OK;
  if (status != EVALUE_OK) s->sink.system_error = FAULTY_ERROR;
  return status;
}

static inline evalue_status faulty_begin(evalue_sink *sink, uint64_t nbytes, uint32_t alignment) {
  faulty_sink *s = faulty_of(sink);
  evalue_status status = faulty_call(s, BEGIN);
  if (status != EVALUE_OK) return status;
  s->is_in_record = true;
  s->mark = s->size;
  s->announced = (size_t)nbytes;
  s->alignment = alignment;
  return EVALUE_OK;
}

static inline evalue_status faulty_write(evalue_sink *sink, const evalue_slice *slices, size_t n) {
  faulty_sink *s = faulty_of(sink);
  evalue_status status = faulty_call(s, WRITE);
  if (status != EVALUE_OK) return status;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < slices[i].size; k++) {
      if (s->budget == 0) {
        if (!s->for_ever) s->budget = -1;
        return EVALUE_IO;
      }
      s->budget -= s->budget > 0 ? 1 : 0;
      assert_true(s->size < STORE && s->size - s->mark < s->announced);
      s->bytes[s->size++] = ((const uint8_t *)slices[i].data)[k];
    }
  }
  return EVALUE_OK;
}

static inline void faulty_end(evalue_sink *sink) {
  faulty_sink *s = faulty_of(sink);
  faulty_call(s, END);
  assert_int_equal(s->size - s->mark, s->announced);
  s->is_in_record = false;
}

static inline evalue_status faulty_undo(evalue_sink *sink) {
  faulty_sink *s = faulty_of(sink);
  evalue_status status = faulty_call(s, UNDO);
  s->is_in_record = false;
  if (status == EVALUE_OK) s->size = s->mark;
  return status;
}

static inline evalue_status faulty_flush(evalue_sink *sink) {
  return faulty_call(faulty_of(sink), FLUSH);
}

static inline evalue_status faulty_close(evalue_sink *sink, bool is_good) {
  faulty_sink *s = faulty_of(sink);
  s->is_in_record = false; /* one that could not be undone */
  evalue_status status = faulty_call(s, CLOSE);
  s->is_closed = true;
  s->was_good = is_good;
  return status;
}

static inline void faulty_init(faulty_sink *s, bool can_undo, uint32_t alignment) {
  static const evalue_sink_functions whole = {.begin = faulty_begin,
                                              .write = faulty_write,
                                              .end = faulty_end,
                                              .undo = faulty_undo,
                                              .flush = faulty_flush,
                                              .close = faulty_close};
  static const evalue_sink_functions forward = {
      .begin = faulty_begin, .write = faulty_write, .end = faulty_end, .flush = faulty_flush, .close = faulty_close};
  memset(s, 0, sizeof *s);
  s->budget = -1;
  assert_int_equal(evalue_sink_init(&s->sink, can_undo ? &whole : &forward, 0, alignment), EVALUE_OK);
}

/* Every call there is on a sink returns the same failure, changes no offset, and leaves `used` alone. */
static inline void check_refused(evalue_sink *sink, evalue_status expected) {
  const evalue value = evalue_from_int(7);
  const evalue_slice slices[] = {{"ab", 2}, {"c", 1}};
  const evalue tensor = tensor_of(EVALUE_UINT8, 0, NULL, "x", 1);
  uint64_t offset = 77, offsets[1], used = evalue_sink_used(sink);
  assert_int_equal(evalue_sink_write(sink, "x", 1, &offset), expected);
  assert_int_equal(evalue_sink_write(sink, NULL, 0, &offset), expected);
  assert_int_equal(evalue_sink_write_slices(sink, slices, 2, &offset), expected);
  assert_int_equal(evalue_sink_write_slices(sink, NULL, 0, &offset), expected);
  assert_int_equal(evalue_sink_write_tensor(sink, &tensor.tensor, &offset), expected);
  assert_int_equal(evalue_sink_write_value(sink, &value, &offset), expected);
  assert_int_equal(evalue_message_write(sink, &value, 1, 0, &offset, offsets), expected);
  assert_int_equal(evalue_sink_flush(sink), expected);
  assert_int_equal(offset, 77);
  assert_int_equal(evalue_sink_used(sink), used);
}

/* ---- the same records for every sink ---- */

enum { STEPS = 6, MESSAGE_ALIGNMENT = 32 };

/* Writes the i-th of a few different records. */
static inline evalue_status put_step(evalue_sink *sink, int i, uint64_t *offset) {
  static const char text[] = "abcdefghijklmnopqrstuvwxyz";
  const evalue_slice slices[] = {{text, 3}, {NULL, 0}, {text + 3, 10}, {text, 1}};
  evalue values[VALUES];
  make_values(values);
  switch (i) {
    case 0: return evalue_sink_write(sink, text, 5, offset);
    case 1: return evalue_sink_write_slices(sink, slices, 4, offset);
    case 2: return evalue_sink_write_value(sink, &values[2], offset);
    case 3: return evalue_sink_write(sink, NULL, 0, offset);
    case 4: return evalue_message_write(sink, values, VALUES, MESSAGE_ALIGNMENT, offset, NULL);
    default: return evalue_sink_write_tensor(sink, &values[2].tensor, offset);
  }
}

/* What that record should be in a sink that places records at multiples of alignment. */
static inline uint64_t model_step(model *m, int i, uint32_t alignment) {
  static const char text[] = "abcdefghijklmnopqrstuvwxyz";
  uint8_t bytes[1024];
  evalue values[VALUES];
  uint64_t size;
  make_values(values);
  switch (i) {
    case 0: return model_put(m, text, 5, alignment);
    case 1: return model_put(m, "abcdefghijklma", 14, alignment);
    case 2:
      assert_int_equal(evalue_sequence_encode(&values[2], 1, bytes, sizeof bytes, &size), EVALUE_OK);
      return model_put(m, bytes, (size_t)size, alignment);
    case 3: return model_put(m, NULL, 0, alignment);
    case 4:
      assert_int_equal(evalue_message_encode(values, VALUES, MESSAGE_ALIGNMENT, bytes, sizeof bytes, &size), EVALUE_OK);
      return model_put(m, bytes, (size_t)size, alignment > MESSAGE_ALIGNMENT ? alignment : MESSAGE_ALIGNMENT);
    default: return model_put(m, values[2].tensor.data, values[2].tensor.nbytes, alignment);
  }
}

#endif
