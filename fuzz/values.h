/* SPDX-License-Identifier: BSD-3-Clause */
/* Valid values out of a fuzzer's bytes: every kind, every scalar type, every ndim; payloads in memory of exact size. */
#ifndef FUZZ_VALUES_H
#define FUZZ_VALUES_H

#include "evalue/evalue.h"
#include "fuzz.h"

enum { FUZZ_MOST_VALUES = 8, FUZZ_MOST_BYTES = 1024 /* of a tensor's data */ };

typedef struct fuzz_values {
  evalue values[FUZZ_MOST_VALUES];
  fuzz_bytes payloads[FUZZ_MOST_VALUES];
  size_t n;
} fuzz_values;

/* Bytes of the source, made different from one another, so that an element in the wrong place is seen when the source
 * has run out. */
static inline fuzz_bytes fuzz_take_payload(fuzz_source *source, size_t nbytes) {
  fuzz_bytes payload = fuzz_new(nbytes, fuzz_take(source) % 16);
  for (size_t i = 0; i < nbytes; i++) payload.data[i] = (uint8_t)(fuzz_take(source) ^ (i * 167) ^ (i >> 8));
  return payload;
}

static inline evalue fuzz_take_double(fuzz_source *source) {
  static const uint64_t special[] = {0,
                                     UINT64_C(1) << 63,
                                     1,
                                     UINT64_C(0x000fffffffffffff),
                                     UINT64_C(0x0010000000000000),
                                     UINT64_C(0x7fefffffffffffff),
                                     UINT64_C(0x7ff0000000000000),
                                     UINT64_C(0xfff0000000000000),
                                     UINT64_C(0x7ff0000000000001),
                                     UINT64_C(0x7ff8000000000000),
                                     UINT64_C(0xffffffffffffffff),
                                     UINT64_C(0x3fb999999999999a)};
  uint8_t choice = fuzz_take(source);
  uint64_t bits = choice < sizeof special / sizeof special[0] ? special[choice] : fuzz_take_number(source, 8);
  evalue v = evalue_from_double(0);
  memcpy(&v.double_value, &bits, sizeof bits); /* not through a double, which may quiet a NaN */
  return v;
}

/* Small sizes whose product stays small; a tensor without elements may have one size that is as large as can be. */
static inline size_t fuzz_take_sizes(fuzz_source *source, size_t element_size, size_t ndim, int32_t *sizes) {
  size_t extent = element_size, large = ndim;
  bool is_empty = false;
  for (size_t d = 0; d < ndim; d++) {
    uint8_t choice = fuzz_take(source);
    size_t size = choice < 128 ? 1 + choice % 4U : choice < 250 ? 1 + choice % 60U : choice % 2U;
    if (choice == 255) large = d;
    if (extent * size > FUZZ_MOST_BYTES) size = 1;
    if (size == 0) is_empty = true;
    else extent *= size;
    sizes[d] = (int32_t)size;
  }
  if (is_empty && large < ndim && sizes[large] != 0) sizes[large] = INT32_MAX;
  return is_empty ? 0 : extent;
}

static inline void fuzz_take_dim_order(fuzz_source *source, size_t ndim, uint8_t *dim_order) {
  for (size_t i = 0; i < ndim; i++) dim_order[i] = (uint8_t)i;
  for (size_t i = ndim; i > 1; i--) {
    size_t j = i - 1 - fuzz_take(source) % i; /* zeros leave it row-major */
    uint8_t other = dim_order[j];
    dim_order[j] = dim_order[i - 1];
    dim_order[i - 1] = other;
  }
}

static inline evalue fuzz_take_tensor(fuzz_source *source, fuzz_bytes *payload) {
  evalue_tensor t;
  int32_t sizes[EVALUE_MAX_NDIM];
  uint8_t dim_order[EVALUE_MAX_NDIM];
  uint32_t scalar_type = fuzz_take(source) % 30;
  size_t ndim = fuzz_take(source) % (EVALUE_MAX_NDIM + 1);
  size_t nbytes = fuzz_take_sizes(source, evalue_element_size(scalar_type), ndim, sizes);
  fuzz_take_dim_order(source, ndim, dim_order);
  *payload = fuzz_take_payload(source, nbytes);
  const void *data = nbytes == 0 && fuzz_take(source) % 2 != 0 ? NULL : payload->data;
  FUZZ_CHECK(evalue_tensor_init_dim_order(&t, scalar_type, ndim, sizes, dim_order, data, nbytes) == EVALUE_OK);
  return evalue_from_tensor(&t);
}

static inline evalue fuzz_take_string(fuzz_source *source, fuzz_bytes *payload) {
  size_t nbytes = fuzz_take(source);
  if (nbytes >= 250) nbytes = (size_t)fuzz_take_number(source, 2) % 5000;
  *payload = fuzz_take_payload(source, nbytes);
  return evalue_from_string((const char *)payload->data, nbytes);
}

static inline void fuzz_take_value(fuzz_source *source, fuzz_values *v) {
  fuzz_bytes *payload = &v->payloads[v->n];
  evalue *value = &v->values[v->n++];
  switch (fuzz_take(source) % 9) {
    case 0: *value = evalue_from_none(); break;
    case 1: *value = evalue_from_bool(fuzz_take(source) % 2 != 0); break;
    case 2: *value = evalue_from_int((int64_t)fuzz_take_number(source, 8)); break;
    case 3: *value = fuzz_take_double(source); break;
    case 4: *value = fuzz_take_string(source, payload); break;
    default: *value = fuzz_take_tensor(source, payload); break;
  }
}

/* Takes values until the source is at its end. */
static inline void fuzz_take_values(fuzz_source *source, fuzz_values *v) {
  memset(v, 0, sizeof *v);
  while (source->at < source->size && v->n < FUZZ_MOST_VALUES) fuzz_take_value(source, v);
}

static inline void fuzz_free_values(fuzz_values *v) {
  for (size_t i = 0; i < v->n; i++) fuzz_free(&v->payloads[i]);
}

#endif
