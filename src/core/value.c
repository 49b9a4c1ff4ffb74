/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for values of every kind. */
#include "internal.h"

evalue_status evalue_check(const evalue *value) {
  if (value == NULL || value->tag > EVALUE_TAG_BOOL) return EVALUE_MISUSE;
  if (value->tag == EVALUE_TAG_TENSOR) return evalue_tensor_check(&value->tensor);
  if (value->tag == EVALUE_TAG_BOOL) return value->bool_value <= 1 ? EVALUE_OK : EVALUE_MISUSE;
  if (value->tag == EVALUE_TAG_STRING) {
    if (value->string.data == NULL && value->string.nbytes != 0) return EVALUE_MISUSE;
    if ((uint64_t)value->string.nbytes >= EVALUE_SIZE_LIMIT) return EVALUE_LIMIT;
  }
  return EVALUE_OK;
}

static bool bytes_are_equal(const void *a, const void *b, size_t nbytes) {
  return nbytes == 0 || memcmp(a, b, nbytes) == 0;
}

static bool tensors_are_equal(const evalue_tensor *a, const evalue_tensor *b) {
  return a->scalar_type == b->scalar_type && a->ndim == b->ndim && a->nbytes == b->nbytes &&
         memcmp(a->sizes, b->sizes, a->ndim * sizeof a->sizes[0]) == 0 &&
         memcmp(a->dim_order, b->dim_order, a->ndim) == 0 && bytes_are_equal(a->data, b->data, a->nbytes);
}

bool evalue_equal(const evalue *a, const evalue *b) {
  if (evalue_check(a) != EVALUE_OK || evalue_check(b) != EVALUE_OK || a->tag != b->tag) return false;
  switch (a->tag) {
    case EVALUE_TAG_NONE: return true;
    case EVALUE_TAG_TENSOR: return tensors_are_equal(&a->tensor, &b->tensor);
    case EVALUE_TAG_STRING:
      return a->string.nbytes == b->string.nbytes &&
             bytes_are_equal(a->string.data, b->string.data, a->string.nbytes);
    case EVALUE_TAG_BOOL: return a->bool_value == b->bool_value;
    default: return memcmp(&a->int_value, &b->int_value, sizeof a->int_value) == 0; /* Int; a Double shares its place */
  }
}
