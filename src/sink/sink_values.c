/* SPDX-License-Identifier: BSD-3-Clause */
/* Values through a sink: tensors' data, bare values, messages. Memory is constant, whatever the number of values. */
#include "sink_internal.h"

enum { BATCH = 64, HEADS_SIZE = 2 * EVALUE_MAX_HEAD_SIZE }; /* what is collected before it is written */

/* The bytes at the end of a value's element that are not structure. */
static uint64_t payload_size(const evalue *value) {
  switch (value->tag) {
    case EVALUE_TAG_TENSOR: return value->tensor.nbytes;
    case EVALUE_TAG_STRING: return value->string.nbytes;
    case EVALUE_TAG_DOUBLE:
    case EVALUE_TAG_INT: return 8;
    case EVALUE_TAG_BOOL: return 1;
    default: return 0;
  }
}

/* Writes out what the writer has gathered. */
static evalue_status drain(evalue_sink *s, evalue_writer *w) {
  if (w->slice_count == 0) return EVALUE_OK;
  evalue_status status = evalue_sink_append(s, w->slices, (size_t)w->slice_count);
  return status == EVALUE_OK ? evalue_writer_drain(w) : status;
}

evalue_status evalue_sink_append_values(evalue_sink *s, evalue_writer *w, const evalue *values, size_t n,
                                        uint64_t start, uint64_t *offsets) {
  for (size_t i = 0; i < n; i++) {
    bool is_full = w->slice_capacity - w->slice_count < 3 || w->capacity - w->used < EVALUE_MAX_HEAD_SIZE;
    evalue_status status = is_full ? drain(s, w) : EVALUE_OK;
    if (status != EVALUE_OK) return status;
    status = evalue_writer_put(w, &values[i]);
    if (status != EVALUE_OK) { /* it was judged before: somebody has changed it */
      evalue_sink_cancel(s);
      return evalue_sink_fail(s, status);
    }
    if (offsets != NULL) offsets[i] = start + w->position - payload_size(&values[i]);
  }
  return drain(s, w);
}

evalue_status evalue_sink_write_tensor(evalue_sink *s, const evalue_tensor *tensor, uint64_t *offset) {
  evalue_status status = evalue_tensor_check(tensor);
  return status == EVALUE_OK ? evalue_sink_write(s, tensor->data, tensor->nbytes, offset) : evalue_sink_fail(s, status);
}

evalue_status evalue_sink_write_value(evalue_sink *s, const evalue *value, uint64_t *offset) {
  uint8_t heads[EVALUE_MAX_HEAD_SIZE];
  evalue_slice slices[3];
  evalue_writer w;
  uint64_t size;
  evalue_status status = evalue_writer_init_sequence(&w, heads, sizeof heads);
  if (status == EVALUE_OK) status = evalue_writer_gather(&w, slices, 3);
  if (status == EVALUE_OK) status = evalue_writer_put(&w, value);
  if (status == EVALUE_OK) status = evalue_writer_finish(&w, &size);
  if (status != EVALUE_OK) return evalue_sink_fail(s, status);
  return evalue_sink_write_slices(s, slices, (size_t)w.slice_count, offset);
}

/* Starts a gathering writer whose buffer begins with the header of the message of `size` bytes and n values. */
static evalue_status start_message(evalue_writer *w, uint8_t *heads, evalue_slice *slices, uint32_t alignment,
                                   uint64_t size, size_t n) {
  uint8_t header[EVALUE_HEADER_SIZE];
  uint64_t header_size;
  evalue_status status = evalue_message_encode(NULL, 0, alignment, header, sizeof header, &header_size);
  if (status == EVALUE_OK) status = evalue_writer_init(w, heads, HEADS_SIZE, alignment);
  if (status == EVALUE_OK) status = evalue_writer_gather(w, slices, BATCH);
  if (status != EVALUE_OK) return status;
  evalue_store_u64(header + 8, size - EVALUE_HEADER_SIZE);
  evalue_store_u64(header + 16, n);
  memcpy(heads, header, sizeof header); /* the writer has left room for it */
  return EVALUE_OK;
}

evalue_status evalue_message_write(evalue_sink *s, const evalue *values, size_t n, uint32_t alignment, uint64_t *offset,
                                   uint64_t *offsets) {
  uint8_t heads[HEADS_SIZE];
  evalue_slice slices[BATCH];
  evalue_writer w;
  uint64_t size = 0, start = 0;
  evalue_status status = evalue_message_size(values, n, alignment, &size);
  if (status == EVALUE_OK) status = start_message(&w, heads, slices, alignment, size, n);
  if (status != EVALUE_OK) return evalue_sink_fail(s, status);
  status = evalue_sink_begin(s, size, w.alignment, &start);
  if (status == EVALUE_OK) status = evalue_sink_append_values(s, &w, values, n, start, offsets);
  if (status == EVALUE_OK) status = evalue_sink_end(s);
  if (status != EVALUE_OK) return status;
  if (offset != NULL) *offset = start;
  return EVALUE_OK;
}
