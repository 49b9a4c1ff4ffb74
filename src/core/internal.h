/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the core share; nobody else includes it. */
#ifndef EVALUE_CORE_INTERNAL_H
#define EVALUE_CORE_INTERNAL_H

#include "evalue/inline.h"
#include "evalue/reader.h"
#include "evalue/tensor.h"
#include "evalue/writer.h"

/* The dim_order of every row-major tensor: its first ndim entries. */
extern const uint8_t evalue_row_major[EVALUE_MAX_NDIM];

/*
 * Judges sizes in order (spec, section 12.2): OK is EVALUE_FAULT_NONE, and *nbytes the size of the data; otherwise *at
 * is the first size that is wrong. ndim is at most EVALUE_MAX_NDIM.
 */
evalue_fault evalue_judge_sizes(uint32_t element_size, uint32_t ndim, const int32_t *sizes, uint64_t *nbytes,
                                uint32_t *at);

/* Judges the entries of a dim_order in order; *at is the first that is wrong. */
evalue_fault evalue_judge_dim_order(uint32_t ndim, const uint8_t *dim_order, uint32_t *at);

/*
 * The size of the Pad element that a tensor with data at data_position needs, 0 for none (spec, section 7). alignment
 * is a power of two, so the low bits of a position are enough.
 */
uint32_t evalue_pad_size(uint32_t data_position, uint32_t alignment);

/* One element before it is placed: a Pad, then the head, then the data. */
typedef struct evalue_frame {
  const void *data; /* tensor data, string bytes, an ancillary payload; not part of the head */
  size_t nbytes;    /* of data */
  uint32_t pad_size;
  uint32_t head_size;
  uint8_t head[EVALUE_ELEMENT_HEADER_SIZE + EVALUE_TENSOR_META_SIZE(EVALUE_MAX_NDIM)];
} evalue_frame;

/*
 * Frames a value that evalue_check accepts, for an element at position (its low bits) in a message of that alignment.
 */
void evalue_frame_value(evalue_frame *f, const evalue *v, uint32_t position, uint32_t alignment);

/* Frames an element whose payload is nbytes bytes at data. */
void evalue_frame_bytes(evalue_frame *f, uint32_t tag, const void *data, size_t nbytes);

#endif
