/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensor arithmetic: from sizes and dim_order to everything that follows from them. */
#include "internal.h"

/* ---- validity ---- */

evalue_status evalue_tensor_nbytes(uint32_t scalar_type, size_t ndim, const int32_t *sizes, uint64_t *nbytes) {
  uint32_t at, element_size = evalue_element_size(scalar_type);
  if (element_size == 0 || ndim > EVALUE_MAX_NDIM || (sizes == NULL && ndim != 0) || nbytes == NULL) {
    return EVALUE_MISUSE;
  }
  evalue_fault fault = evalue_judge_sizes(element_size, (uint32_t)ndim, sizes, nbytes, &at);
  if (fault == EVALUE_FAULT_NONE) return EVALUE_OK;
  return fault == EVALUE_FAULT_EXTENT_TOO_LARGE ? EVALUE_LIMIT : EVALUE_MISUSE;
}

evalue_status evalue_tensor_check(const evalue_tensor *t) {
  uint32_t at;
  uint64_t nbytes;
  if (t == NULL) return EVALUE_MISUSE;
  evalue_status status = evalue_tensor_nbytes(t->scalar_type, t->ndim, t->sizes, &nbytes);
  if (status != EVALUE_OK) return status;
  if (evalue_judge_dim_order(t->ndim, t->dim_order, &at) != EVALUE_FAULT_NONE) return EVALUE_MISUSE;
  if (nbytes != t->nbytes || (t->data == NULL && nbytes != 0)) return EVALUE_MISUSE;
  return EVALUE_OK;
}

/* ---- making tensors ---- */

evalue_status evalue_tensor_init_dim_order(evalue_tensor *tensor, uint32_t scalar_type, size_t ndim,
                                           const int32_t *sizes, const uint8_t *dim_order, const void *data,
                                           size_t nbytes) {
  evalue_tensor t;
  if (tensor == NULL || ndim > EVALUE_MAX_NDIM || scalar_type > UINT8_MAX) return EVALUE_MISUSE;
  if (ndim != 0 && (sizes == NULL || dim_order == NULL)) return EVALUE_MISUSE;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.nbytes = nbytes;
  t.ndim = (uint8_t)ndim;
  t.scalar_type = (uint8_t)scalar_type;
  evalue_copy_bytes(t.sizes, sizes, ndim * sizeof t.sizes[0]);
  evalue_copy_bytes(t.dim_order, dim_order, ndim);
  evalue_status status = evalue_tensor_check(&t);
  if (status == EVALUE_OK) *tensor = t;
  return status;
}

evalue_status evalue_tensor_init(evalue_tensor *tensor, uint32_t scalar_type, size_t ndim, const int32_t *sizes,
                                 const void *data, size_t nbytes) {
  return evalue_tensor_init_dim_order(tensor, scalar_type, ndim, sizes, evalue_row_major, data, nbytes);
}

/* ---- arithmetic ---- */

int64_t evalue_tensor_numel(const evalue_tensor *t) {
  if (evalue_tensor_check(t) != EVALUE_OK) return -1;
  return (int64_t)(t->nbytes / evalue_element_size(t->scalar_type));
}

bool evalue_tensor_is_contiguous(const evalue_tensor *t) {
  if (evalue_tensor_check(t) != EVALUE_OK) return false;
  if (t->nbytes == 0) return true;
  uint32_t before = 0;
  for (uint32_t i = 0; i < t->ndim; i++) {
    uint32_t dim = t->dim_order[i];
    if (t->sizes[dim] == 1) continue;
    if (dim < before) return false;
    before = dim;
  }
  return true;
}

evalue_status evalue_tensor_strides(const evalue_tensor *t, int64_t *strides) {
  evalue_status status = evalue_tensor_check(t);
  if (status != EVALUE_OK) return status;
  if (strides == NULL && t->ndim != 0) return EVALUE_MISUSE;
  int64_t stride = 1;
  for (uint32_t i = t->ndim; i-- > 0;) {
    uint32_t dim = t->dim_order[i];
    strides[dim] = stride;
    if (t->sizes[dim] > 1) stride *= t->sizes[dim];
  }
  return EVALUE_OK;
}

/* Dimensions by descending stride; equal strides keep their order. Insertion sort: there are at most 16. */
static void sort_by_stride(uint32_t ndim, const int64_t *strides, uint8_t *order) {
  for (uint32_t i = 0; i < ndim; i++) {
    uint32_t j = i;
    for (; j > 0 && strides[order[j - 1]] < strides[i]; j--) order[j] = order[j - 1];
    order[j] = (uint8_t)i;
  }
}

/* Says whether elements in this order, densely packed, have these strides; a dimension of size 1 may have any. */
static bool is_dense(uint32_t ndim, const int32_t *sizes, const int64_t *strides, const uint8_t *order) {
  int64_t stride = 1;
  for (uint32_t i = ndim; i-- > 0;) {
    uint32_t dim = order[i];
    if (sizes[dim] == 1) continue;
    if (strides[dim] != stride) return false;
    stride *= sizes[dim];
  }
  return true;
}

evalue_status evalue_dim_order_from_strides(size_t ndim, const int32_t *sizes, const int64_t *strides,
                                            uint8_t *dim_order) {
  uint8_t order[EVALUE_MAX_NDIM];
  uint64_t numel;
  evalue_status status = evalue_tensor_nbytes(EVALUE_UINT8, ndim, sizes, &numel); /* elements of one byte */
  if (status != EVALUE_OK) return status;
  if (ndim != 0 && (strides == NULL || dim_order == NULL)) return EVALUE_MISUSE;
  sort_by_stride((uint32_t)ndim, strides, order);
  if (numel != 0 && !is_dense((uint32_t)ndim, sizes, strides, order)) return EVALUE_UNSUPPORTED;
  evalue_copy_bytes(dim_order, order, ndim);
  return EVALUE_OK;
}

/* ---- data ---- */

const void *evalue_tensor_typed_data(const evalue_tensor *t, uint32_t scalar_type) {
  if (evalue_tensor_check(t) != EVALUE_OK || t->scalar_type != scalar_type || t->nbytes == 0) return NULL;
  uint32_t component_size = evalue_component_size(scalar_type);
  bool is_aligned = ((uintptr_t)t->data & (component_size - 1)) == 0;
  bool is_in_host_order = EVALUE_HOST_IS_LITTLE_ENDIAN || component_size == 1;
  return is_aligned && is_in_host_order ? t->data : NULL;
}

evalue_status evalue_tensor_check_data(const evalue_tensor *t, uint64_t *index) {
  evalue_status status = evalue_tensor_check(t);
  if (status != EVALUE_OK) return status;
  if (index == NULL) return EVALUE_MISUSE;
  if (t->scalar_type != EVALUE_BOOL) return EVALUE_OK;
  const uint8_t *bytes = (const uint8_t *)t->data;
  for (size_t i = 0; i < t->nbytes; i++) {
    if (bytes[i] > 1) {
      *index = i;
      return EVALUE_MALFORMED;
    }
  }
  return EVALUE_OK;
}
