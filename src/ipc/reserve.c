/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are made where they will be read: their structure is written into a slot, payloads are left out. */
#include "ipc_internal.h"

enum { HEADS_SIZE = EVALUE_MAX_HEAD_SIZE + EVALUE_HEADER_SIZE, SLICES = 3 };

/* Where a value's payload lies, for kinds that have one of their own. */
static const void *payload_of(const evalue *value, size_t *nbytes) {
  bool is_tensor = value->tag == EVALUE_TAG_TENSOR, is_string = value->tag == EVALUE_TAG_STRING;
  *nbytes = is_tensor ? value->tensor.nbytes : is_string ? value->string.nbytes : 0;
  return is_tensor ? value->tensor.data : is_string ? value->string.data : NULL;
}

/* The value with a payload, if only somewhere: the writer wants one, and looks at none of it. */
static evalue complete(const evalue *value, const void *somewhere) {
  evalue v = *value;
  size_t nbytes;
  if (payload_of(value, &nbytes) != NULL || nbytes == 0) return v;
  if (v.tag == EVALUE_TAG_TENSOR) v.tensor.data = somewhere;
  else v.string.data = (const char *)somewhere;
  return v;
}

static evalue_status measure(const evalue *values, size_t n, uint32_t alignment, uint64_t *nbytes) {
  evalue_writer w;
  evalue_status status = evalue_writer_init(&w, NULL, 0, alignment);
  if (status == EVALUE_MISUSE) return status;
  for (size_t i = 0; i < n; i++) {
    evalue v = complete(&values[i], &w);
    status = evalue_writer_put(&w, &v);
    if (status != EVALUE_NO_SPACE) return status;
  }
  status = evalue_writer_finish(&w, nbytes); /* without a buffer there is never room */
  return status == EVALUE_NO_SPACE ? EVALUE_OK : status;
}

/* Copies what the writer has gathered to the slot; the place of a payload that is not there yet is handed out. */
static void lay_out(const evalue_writer *w, const evalue *value, uint8_t *slot, void **place) {
  size_t nbytes;
  const void *payload = payload_of(value, &nbytes);
  uint64_t at = w->position;
  *place = NULL;
  for (uint64_t i = 0; i < w->slice_count; i++) at -= w->slices[i].size;
  for (uint64_t i = 0; i < w->slice_count; i++) {
    const evalue_slice *slice = &w->slices[i];
    bool is_payload = nbytes != 0 && i == w->slice_count - 1;
    if (is_payload && payload == NULL) *place = slot + at;
    else memcpy(slot + at, slice->data, slice->size);
    at += slice->size;
  }
}

static evalue_status write_structure(const evalue *values, size_t n, uint32_t alignment, uint8_t *slot, void **places) {
  uint8_t heads[HEADS_SIZE], header[EVALUE_HEADER_SIZE];
  evalue_slice slices[SLICES];
  evalue_writer w;
  evalue_status status = evalue_writer_init(&w, heads, sizeof heads, alignment);
  if (status == EVALUE_OK) status = evalue_writer_gather(&w, slices, SLICES);
  for (size_t i = 0; i < n && status == EVALUE_OK; i++) {
    evalue v = complete(&values[i], slot);
    status = evalue_writer_put(&w, &v);
    if (status != EVALUE_OK) break;
    lay_out(&w, &values[i], slot, &places[i]);
    status = evalue_writer_drain(&w);
  }
  if (status == EVALUE_OK) status = evalue_writer_header(&w, header);
  if (status == EVALUE_OK) memcpy(slot, header, sizeof header);
  return status;
}

static evalue_status reserve(evalue_ipc_channel *c, const evalue *values, size_t n, void **places,
                             evalue_ipc_slot *slot) {
  uint64_t nbytes = 0;
  uint32_t alignment = c->options.alignment;
  evalue_status status = measure(values, n, alignment, &nbytes);
  if (status == EVALUE_OK) status = evalue_ipc_pool_take(c, nbytes, &slot->number);
  if (status != EVALUE_OK) return status;
  status = write_structure(values, n, alignment, evalue_ipc_pool_slot(&c->sending, slot->number), places);
  if (status != EVALUE_OK) evalue_ipc_pool_put_back(&c->sending, slot->number);
  slot->nbytes = nbytes;
  return status;
}

evalue_status evalue_ipc_reserve(evalue_ipc_channel *c, const evalue *values, size_t n, void **places,
                                 evalue_ipc_slot *slot) {
  evalue_status status = evalue_ipc_sending_begin(c);
  if (status != EVALUE_OK) return status;
  bool is_good = slot != NULL && (n == 0 || (values != NULL && places != NULL));
  status = is_good ? reserve(c, values, n, places, slot) : EVALUE_MISUSE;
  return status == EVALUE_OK ? status : evalue_ipc_sending_failed(c, status);
}

evalue_status evalue_ipc_cancel_slot(evalue_ipc_channel *c, evalue_ipc_slot *slot) {
  if (!evalue_ipc_is_open(c) || slot == NULL || !evalue_ipc_pool_is_reserved(&c->sending, slot->number)) {
    return EVALUE_MISUSE;
  }
  evalue_ipc_pool_put_back(&c->sending, slot->number);
  return EVALUE_OK;
}
