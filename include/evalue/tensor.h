/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Tensor arithmetic: sizes, strides, dim order, typed access, and copies into another layout.
 *
 *     const float *f = evalue_tensor_typed_data(&v.tensor, EVALUE_FLOAT32);
 *     if (f == NULL)                                 // another type, misaligned, empty, or a big-endian host
 *       evalue_tensor_copy(&v.tensor, NULL, EVALUE_HOST_ENDIAN, buffer, sizeof buffer);
 *
 * Every function that takes a tensor checks it first and returns what evalue_tensor_check says of a bad one, never
 * undefined behaviour. None of them writes outside what its comment says.
 */
#ifndef EVALUE_TENSOR_H
#define EVALUE_TENSOR_H

#include "evalue/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Byte orders of components. Tensor data in a view is always EVALUE_LITTLE_ENDIAN: the order of the wire. */
enum {
  EVALUE_LITTLE_ENDIAN = 0,
  EVALUE_BIG_ENDIAN = 1,
  EVALUE_HOST_ENDIAN = EVALUE_HOST_IS_LITTLE_ENDIAN ? EVALUE_LITTLE_ENDIAN : EVALUE_BIG_ENDIAN
};

/* ---- scalar types ------------------------------------------------------------------------------------------- */

/** Returns the size of an element in bytes: 1, 2, 4, 8 or 16; 0 for a code that is no scalar type. */
EVALUE_API uint32_t evalue_element_size(uint32_t scalar_type);

/**
 * Returns the size of a component in bytes: half the element for complex types, else the element; 0 for a code that is
 * no scalar type.
 */
EVALUE_API uint32_t evalue_component_size(uint32_t scalar_type);

/** Returns the name of a scalar type, like "bfloat16"; NULL for a code that is none. The string is static. */
EVALUE_API const char *evalue_scalar_type_name(uint32_t scalar_type);

/* ---- making tensors ----------------------------------------------------------------------------------------- */

/**
 * Makes a row-major tensor: *tensor views nbytes bytes at data. sizes has ndim entries and is copied.
 *
 * data is in the order of the wire: on a little-endian host, what the program has anyway; see
 * evalue_tensor_data_to_wire for others. It need not be aligned, and may be NULL when nbytes is 0. Returns EVALUE_OK;
 * EVALUE_MISUSE for an unknown scalar_type, an ndim above 16, a negative size, an nbytes that is not numel x element
 * size, or NULL; EVALUE_LIMIT for an extent of 2^62 bytes or more (spec, section 4.1). *tensor changes only on
 * EVALUE_OK.
 */
EVALUE_API evalue_status evalue_tensor_init(evalue_tensor *tensor, uint32_t scalar_type, size_t ndim,
                                            const int32_t *sizes, const void *data, size_t nbytes);

/**
 * Like evalue_tensor_init, with a dim_order of ndim entries, copied; EVALUE_MISUSE if it is no permutation of 0 ..
 * ndim-1.
 */
EVALUE_API evalue_status evalue_tensor_init_dim_order(evalue_tensor *tensor, uint32_t scalar_type, size_t ndim,
                                                      const int32_t *sizes, const uint8_t *dim_order, const void *data,
                                                      size_t nbytes);

/**
 * Says whether a tensor is valid: EVALUE_OK, EVALUE_MISUSE or EVALUE_LIMIT, as for evalue_tensor_init. Looks at no
 * data.
 */
EVALUE_API evalue_status evalue_tensor_check(const evalue_tensor *tensor);

/* ---- arithmetic --------------------------------------------------------------------------------------------- */

/**
 * Computes the size of the data of a tensor with these sizes: numel x element size, in bytes (spec, section 4.1). sizes
 * has ndim entries. Returns EVALUE_OK, EVALUE_MISUSE or EVALUE_LIMIT, as for evalue_tensor_init; *nbytes changes only
 * on EVALUE_OK.
 */
EVALUE_API evalue_status evalue_tensor_nbytes(uint32_t scalar_type, size_t ndim, const int32_t *sizes,
                                              uint64_t *nbytes);

/**
 * Returns the number of elements (spec, section 4.1): 1 for no dimensions, 0 when any size is 0; -1 for a tensor that
 * is not valid.
 */
EVALUE_API int64_t evalue_tensor_numel(const evalue_tensor *tensor);

/**
 * Says whether the elements lie in row-major order; dimensions of size 1 do not matter, and an empty tensor always
 * does. False when not valid.
 */
EVALUE_API bool evalue_tensor_is_contiguous(const evalue_tensor *tensor);

/**
 * Writes ndim strides, in elements (spec, section 4.2: a size of zero counts as one). Returns EVALUE_OK, or what
 * evalue_tensor_check says; EVALUE_MISUSE for NULL.
 */
EVALUE_API evalue_status evalue_tensor_strides(const evalue_tensor *tensor, int64_t *strides);

/**
 * The same in ExecuTorch's own type: EVALUE_UNSUPPORTED when a stride does not fit int32_t. strides changes only on
 * EVALUE_OK.
 */
static inline evalue_status evalue_tensor_strides_int32(const evalue_tensor *tensor, int32_t *strides) {
  int64_t wide[EVALUE_MAX_NDIM];
  evalue_status status = evalue_tensor_strides(tensor, wide);
  if (status != EVALUE_OK || tensor->ndim == 0) return status;
  if (strides == NULL) return EVALUE_MISUSE;
  if (wide[tensor->dim_order[0]] > INT32_MAX) return EVALUE_UNSUPPORTED; /* the outermost is the largest */
  for (uint32_t i = 0; i < tensor->ndim; i++) strides[i] = (int32_t)wide[i];
  return EVALUE_OK;
}

/**
 * Finds the dim_order that strides (in elements) express: by descending stride, ties by ascending index (spec,
 * section 4.2). All three arrays have ndim entries. Returns EVALUE_OK; EVALUE_UNSUPPORTED when no dim_order expresses
 * them (a slice, a broadcast, a negative stride), and then dim_order is unchanged; EVALUE_MISUSE for an ndim above 16,
 * a negative size or NULL; EVALUE_LIMIT for 2^62 elements or more, each size of zero counted as one.
 */
EVALUE_API evalue_status evalue_dim_order_from_strides(size_t ndim, const int32_t *sizes, const int64_t *strides,
                                                       uint8_t *dim_order);

/**
 * Like evalue_tensor_init, with strides in elements, of ndim entries. Statuses of evalue_dim_order_from_strides and of
 * evalue_tensor_init_dim_order.
 */
static inline evalue_status evalue_tensor_init_strides(evalue_tensor *tensor, uint32_t scalar_type, size_t ndim,
                                                       const int32_t *sizes, const int64_t *strides, const void *data,
                                                       size_t nbytes) {
  uint8_t dim_order[EVALUE_MAX_NDIM];
  evalue_status status = evalue_dim_order_from_strides(ndim, sizes, strides, dim_order);
  if (status != EVALUE_OK) return status;
  return evalue_tensor_init_dim_order(tensor, scalar_type, ndim, sizes, dim_order, data, nbytes);
}

/* ---- data --------------------------------------------------------------------------------------------------- */

/**
 * Returns the data if it can be used where it lies as elements of the given scalar type, in the order of dim_order (see
 * evalue_tensor_is_contiguous); otherwise NULL: the tensor is of another type or not valid, has no elements, its
 * address is not aligned for the type's components, or the host is big-endian and the components are wider than a byte.
 * evalue_tensor_copy always works.
 */
EVALUE_API const void *evalue_tensor_typed_data(const evalue_tensor *tensor, uint32_t scalar_type);

/**
 * Copies all elements to dst in another layout: the given dim_order (ndim entries; NULL for row-major; spec, section
 * 4.2) and the given byte order (EVALUE_HOST_ENDIAN, ...).
 *
 * dst needs no alignment and must not overlap the data. Returns EVALUE_OK; EVALUE_NO_SPACE when size is less than
 * tensor->nbytes; EVALUE_MISUSE for a dim_order that is no permutation, a byte order that is none, or a NULL dst with a
 * size. dst changes only on EVALUE_OK, and then exactly tensor->nbytes of it.
 */
EVALUE_API evalue_status evalue_tensor_copy(const evalue_tensor *tensor, const uint8_t *dim_order, uint32_t byte_order,
                                            void *dst, size_t size);

/**
 * The deep check: looks at the data of a bool tensor for a byte other than 0 and 1 (spec, section 4.3). Returns
 * EVALUE_OK, also for every other scalar type; EVALUE_MALFORMED, and then *index is the byte's index in data; or
 * EVALUE_MISUSE. In memory that a peer can write it proves nothing.
 */
EVALUE_API evalue_status evalue_tensor_check_data(const evalue_tensor *tensor, uint64_t *index);

#ifdef __cplusplus
}
#endif

#endif
