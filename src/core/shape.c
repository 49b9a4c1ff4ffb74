/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules about sizes, dim orders and Pads that reading, writing and tensor arithmetic share. */
#include "internal.h"

const uint8_t evalue_row_major[EVALUE_MAX_NDIM] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

uint32_t evalue_element_size(uint32_t scalar_type) {
  static const uint8_t element_sizes[] = {
#define EVALUE_X(name, code, text, element_size, component_size) [code] = element_size,
      EVALUE_SCALAR_TYPE_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  return scalar_type < sizeof element_sizes ? element_sizes[scalar_type] : 0;
}

uint32_t evalue_component_size(uint32_t scalar_type) {
  bool is_complex = scalar_type >= EVALUE_COMPLEX32 && scalar_type <= EVALUE_COMPLEX128;
  return evalue_element_size(scalar_type) >> is_complex;
}

evalue_fault evalue_judge_sizes(uint32_t element_size, uint32_t ndim, const int32_t *sizes, uint64_t *nbytes,
                                uint32_t *at) {
  uint64_t extent = element_size;
  bool is_empty = false;
  for (uint32_t i = 0; i < ndim; i++) {
    *at = i;
    if (sizes[i] < 0) return EVALUE_FAULT_NEGATIVE_SIZE;
    if (sizes[i] == 0) is_empty = true; /* counts as one in the extent */
    else if (!evalue_multiply(&extent, (uint32_t)sizes[i])) return EVALUE_FAULT_EXTENT_TOO_LARGE;
  }
  *nbytes = is_empty ? 0 : extent;
  return EVALUE_FAULT_NONE;
}

evalue_fault evalue_judge_dim_order(uint32_t ndim, const uint8_t *dim_order, uint32_t *at) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i < ndim; i++) {
    *at = i;
    if (dim_order[i] >= ndim) return EVALUE_FAULT_DIM_ORDER_RANGE;
    uint32_t bit = UINT32_C(1) << dim_order[i];
    if (seen & bit) return EVALUE_FAULT_DIM_ORDER_REPEATED;
    seen |= bit;
  }
  return EVALUE_FAULT_NONE;
}

uint32_t evalue_pad_size(uint32_t data_position, uint32_t alignment) {
  uint32_t mask = alignment - 1;
  if ((data_position & mask) == 0) return 0;
  return EVALUE_ELEMENT_HEADER_SIZE + (~(data_position + EVALUE_ELEMENT_HEADER_SIZE - 1) & mask); /* ~(x - 1) is -x */
}
