/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of tensor data into another dim order and byte order. */
#include "internal.h"

/* Copies n units of nbytes that lie stride bytes apart. */
static void copy_run(uint8_t *to, const uint8_t *from, size_t n, size_t stride, size_t nbytes, uint32_t width) {
  for (size_t i = 0; i < n; i++, to += nbytes) {
    const uint8_t *unit = from + i * stride;
#ifndef __OPTIMIZE_SIZE__ /* a single load and store each: several times as fast as a call of memcpy */
    if (nbytes == 1) *to = *unit;
    else if (width == 1 && nbytes == 2) memcpy(to, unit, 2);
    else if (width == 1 && nbytes == 4) memcpy(to, unit, 4);
    else if (width == 1 && nbytes == 8) memcpy(to, unit, 8);
    else
#endif
      evalue_copy_reversed(to, unit, nbytes, width);
  }
}

/* Writes, for each dimension, the distance in bytes between neighbours along it. */
static void byte_strides(const evalue_tensor *t, size_t *strides) {
  size_t stride = evalue_element_size(t->scalar_type);
  for (uint32_t i = t->ndim; i-- > 0;) {
    strides[t->dim_order[i]] = stride;
    stride *= (size_t)t->sizes[t->dim_order[i]];
  }
}

/*
 * Walks over the elements in the target's order. What is contiguous in both orders travels as one unit; the innermost
 * dimension that is left is a run; those outside it are counted in index.
 */
static void copy_elements(const evalue_tensor *t, const uint8_t *dim_order, uint32_t width, uint8_t *to) {
  size_t strides[EVALUE_MAX_NDIM];
  int32_t index[EVALUE_MAX_NDIM] = {0};
  const uint8_t *from = (const uint8_t *)t->data;
  size_t nbytes = evalue_element_size(t->scalar_type), n = 1, stride = 0, at = 0;
  uint32_t ndim = t->ndim, i;
  byte_strides(t, strides);
  for (; ndim > 0; ndim--) {
    uint32_t dim = dim_order[ndim - 1];
    if (t->sizes[dim] != 1 && strides[dim] != nbytes) break;
    nbytes *= (size_t)t->sizes[dim];
  }
  if (ndim > 0) {
    uint32_t dim = dim_order[--ndim];
    n = (size_t)t->sizes[dim];
    stride = strides[dim];
  }
  do {
    copy_run(to, from + at, n, stride, nbytes, width);
    to += n * nbytes;
    for (i = ndim; i > 0; i--) { /* count up, innermost first */
      uint32_t dim = dim_order[i - 1];
      at += strides[dim];
      if (++index[dim] < t->sizes[dim]) break;
      at -= (size_t)t->sizes[dim] * strides[dim];
      index[dim] = 0;
    }
  } while (i > 0);
}

evalue_status evalue_tensor_copy(const evalue_tensor *t, const uint8_t *dim_order, uint32_t byte_order, void *dst,
                                 size_t size) {
  uint32_t at;
  evalue_status status = evalue_tensor_check(t);
  if (status != EVALUE_OK) return status;
  if (dim_order == NULL) dim_order = evalue_row_major;
  if (evalue_judge_dim_order(t->ndim, dim_order, &at) != EVALUE_FAULT_NONE) return EVALUE_MISUSE;
  if (byte_order > EVALUE_BIG_ENDIAN || (dst == NULL && size != 0)) return EVALUE_MISUSE;
  if (size < t->nbytes) return EVALUE_NO_SPACE;
  uint32_t width = byte_order == EVALUE_LITTLE_ENDIAN ? 1 : evalue_component_size(t->scalar_type);
  if (t->nbytes != 0) copy_elements(t, dim_order, width, (uint8_t *)dst);
  return EVALUE_OK;
}
