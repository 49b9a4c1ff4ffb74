/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of tf.Examples share: examples put together by hand, field by field, so that nothing depends on the
 * encoder, and a converter that is told its features as text.
 */
#ifndef TESTS_TFEXAMPLE_BYTES_H
#define TESTS_TFEXAMPLE_BYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/tfexample/tfexample.h"
#include "evalue/evalue.h"
#include "guard.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { MOST_BYTES = 4096, MOST_FEATURES = 16 };

/* The lists, by their field numbers in a Feature. */
enum { BYTES = 1, FLOATS = 2, INTS = 3 };

typedef struct bytes {
  uint8_t data[MOST_BYTES];
  size_t size;
} bytes;

static inline void add(bytes *b, const void *data, size_t size) {
  assert_true(b->size + size <= sizeof b->data);
  if (size != 0) memcpy(b->data + b->size, data, size);
  b->size += size;
}

static inline void add_varint(bytes *b, uint64_t x) {
  for (; x > 0x7f; x >>= 7) add(b, &(uint8_t){(uint8_t)(x | 0x80)}, 1);
  add(b, &(uint8_t){(uint8_t)x}, 1);
}

static inline void add_field(bytes *b, uint32_t number, const void *data, size_t size) {
  add_varint(b, number << 3 | 2);
  add_varint(b, size);
  add(b, data, size);
}

static inline bytes field(uint32_t number, const bytes *payload) {
  bytes b = {.size = 0};
  add_field(&b, number, payload->data, payload->size);
  return b;
}

static inline void add_float(bytes *b, float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  for (int i = 0; i < 4; i++) add(b, &(uint8_t){(uint8_t)(bits >> 8 * i)}, 1);
}

/* A Feature with a list: of floats in one run, */
static inline bytes floats(const float *f, size_t n) {
  bytes run = {.size = 0};
  for (size_t i = 0; i < n; i++) add_float(&run, f[i]);
  bytes list = field(1, &run);
  if (n == 0) list.size = 0;
  return field(FLOATS, &list);
}

/* of integers in one run, */
static inline bytes ints(const int64_t *x, size_t n) {
  bytes run = {.size = 0};
  for (size_t i = 0; i < n; i++) add_varint(&run, (uint64_t)x[i]);
  bytes list = field(1, &run);
  if (n == 0) list.size = 0;
  return field(INTS, &list);
}

/* or of one string. */
static inline bytes text(const void *data, size_t size) {
  bytes list = {.size = 0};
  add_field(&list, 1, data, size);
  return field(BYTES, &list);
}

/* Appends an entry to the map. */
static inline void add_entry(bytes *features, const char *name, bytes feature) {
  bytes entry = {.size = 0};
  add_field(&entry, 1, name, strlen(name));
  add_field(&entry, 2, feature.data, feature.size);
  add_field(features, 1, entry.data, entry.size);
}

/* An example with one feature, "x". */
static inline bytes example_of(bytes feature) {
  bytes features = {.size = 0};
  add_entry(&features, "x", feature);
  return field(1, &features);
}

/* ---- converters ---- */

typedef struct set {
  evalue_tfexample_feature features[MOST_FEATURES];
  evalue_tfexample converter;
  evalue values[MOST_FEATURES];
  evalue_tfexample_error error;
  guard_buffer guard;
  size_t count;
} set;

/* Texts end with NULL. */
static inline set *set_of(const char *const *texts, const evalue_tfexample_options *options) {
  set *s = calloc(1, sizeof *s);
  assert_non_null(s);
  for (; texts[s->count] != NULL; s->count++) {
    assert_int_equal(evalue_tfexample_feature_parse(&s->features[s->count], texts[s->count], NULL), EVALUE_OK);
  }
  assert_int_equal(evalue_tfexample_init(&s->converter, s->features, s->count, options, &s->error), EVALUE_OK);
  s->guard = guard_new(0);
  return s;
}

static inline set *set_of_one(const char *text_of_feature) {
  return set_of((const char *[]){text_of_feature, NULL}, NULL);
}

static inline void set_free(set *s) {
  evalue_tfexample_close(&s->converter);
  guard_free(&s->guard);
  free(s);
}

/* Decodes bytes that end where nobody may read. They stay until the next call. */
static inline evalue_status decode(set *s, const bytes *b) {
  guard_free(&s->guard);
  s->guard = guard_put(b->data, b->size);
  return evalue_tfexample_decode(&s->converter, s->guard.data, b->size, s->values, &s->error);
}

static inline const char *sentence(const set *s) {
  static char line[300];
  size_t size = evalue_tfexample_print_error(&s->error, s->features, s->count, line, sizeof line);
  assert_int_equal(size, strlen(line));
  for (size_t capacity = 0; capacity <= size; capacity++) { /* cut anywhere, it says the same length */
    char cut[300];
    memset(cut, '#', sizeof cut);
    assert_int_equal(evalue_tfexample_print_error(&s->error, s->features, s->count, cut, capacity), size);
    assert_int_equal(cut[capacity], '#');
    if (capacity != 0) assert_true(strlen(cut) < capacity);
  }
  return line;
}

/* The elements in the order of the wire, in memory that is used again after some calls. */
static inline const void *wire(uint32_t scalar_type, const void *elements, size_t nbytes) {
  static uint8_t pool[1 << 15];
  static size_t used;
  assert_in_range(nbytes, 0, sizeof pool);
  if (nbytes > sizeof pool - used) used = 0;
  uint8_t *to = pool + used;
  used += nbytes;
  assert_int_equal(evalue_tensor_data_to_wire(scalar_type, elements, to, nbytes), EVALUE_OK);
  return to;
}

/* A tensor of elements in the host's order. */
static inline evalue tensor_of(uint32_t scalar_type, size_t ndim, const int32_t *sizes, const void *elements,
                               size_t n) {
  evalue_tensor t;
  const void *data = n != 0 ? wire(scalar_type, elements, n) : NULL;
  assert_int_equal(evalue_tensor_init(&t, scalar_type, ndim, sizes, data, n), EVALUE_OK);
  return evalue_from_tensor(&t);
}

#endif
