/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for values of every kind. */
#include "internal.h"

evalue_status evalue_check(const evalue *value) {
  if (value == NULL || value->tag > EVALUE_TAG_BOOL) return EVALUE_MISUSE;
  if (value->tag == EVALUE_TAG_TENSOR) return evalue_tensor_check(&value->tensor);
  if (value->tag == EVALUE_TAG_BOOL) return value->bool_value <= 1 ? EVALUE_OK : EVALUE_MISUSE;
  if (value->tag == EVALUE_TAG_STRING) {
    uint64_t nbytes = value->string.nbytes;
    if (value->string.data == NULL && nbytes != 0) return EVALUE_MISUSE;
    if (nbytes >= EVALUE_SIZE_LIMIT) return EVALUE_LIMIT;
  }
  return EVALUE_OK;
}
