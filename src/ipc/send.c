/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages out: by which carrier, and how. */
#include <errno.h>

#include "ipc_internal.h"

enum { HEADS_SIZE = 4096 }; /* of structural bytes that are gathered on the stack */

/* ---- through the socket ---- */

/* Sends a message that lies in one piece. */
static evalue_status put_piece(evalue_ipc_channel *c, const void *data, uint64_t nbytes) {
  ipc_frame frame = {.kind = KIND_INLINE, .nbytes = nbytes};
  evalue_slice slices[2] = {[1] = {data, (size_t)nbytes}};
  return evalue_ipc_put(c, &frame, slices, 2, -1);
}

/* The same for values that have more strings and tensors than one packet takes slices. */
static evalue_status put_encoded(evalue_ipc_channel *c, const ipc_source *source) {
  uint64_t memory_nbytes;
  uint8_t *memory = evalue_ipc_take_buffer(c, source->nbytes, &memory_nbytes);
  if (memory == NULL) return (evalue_status)c->error.status;
  EVALUE_LOG_COPIED(&evalue_log_ipc, source->nbytes, "inline: more slices than one packet takes");
  evalue_status status = evalue_ipc_source_encode(source, memory);
  if (status == EVALUE_OK) status = put_piece(c, memory, source->nbytes);
  evalue_ipc_return_buffer(c, memory, memory_nbytes);
  return status;
}

static evalue_status put_gathered(evalue_ipc_channel *c, const ipc_source *source) {
  uint8_t heads[HEADS_SIZE];
  evalue_slice slices[IPC_MOST_SLICES];
  evalue_gather gather = {
      .scratch = heads, .scratch_capacity = sizeof heads, .slices = slices + 1, .slice_capacity = IPC_MOST_SLICES - 1};
  evalue_status status = evalue_message_gather(source->values, source->n, source->alignment, &gather);
  if (status == EVALUE_NO_SPACE) return put_encoded(c, source);
  if (status != EVALUE_OK) return status;
  ipc_frame frame = {.kind = KIND_INLINE, .nbytes = gather.size};
  return evalue_ipc_put(c, &frame, slices, (size_t)gather.slice_count + 1, -1);
}

static evalue_status send_inline(evalue_ipc_channel *c, const ipc_source *source) {
  EVALUE_LOG_COPIED(&evalue_log_ipc, source->nbytes, "inline: the socket takes a copy; inline_limit says of how much");
  evalue_status status = source->values != NULL ? put_gathered(c, source) : put_piece(c, source->bytes, source->nbytes);
  bool is_too_large = status == EVALUE_IO && c->system_error == EMSGSIZE;
  if (!is_too_large) return status;
  c->system_error = 0;
  return evalue_ipc_fault(&c->error, EVALUE_FAULT_PACKET_TOO_LARGE, AT_NBYTES, 0, source->nbytes);
}

/* ---- through a slot ---- */

static evalue_status put_slot(evalue_ipc_channel *c, uint32_t slot, uint64_t nbytes) {
  ipc_frame frame = {.kind = KIND_SLOT, .nbytes = nbytes, .place = slot};
  evalue_slice frame_only[1];
  evalue_status status = evalue_ipc_put(c, &frame, frame_only, 1, -1);
  if (status == EVALUE_OK) evalue_ipc_pool_hand_over(&c->sending, slot);
  return status;
}

static evalue_status send_in_slot(evalue_ipc_channel *c, const ipc_source *source) {
  uint32_t slot;
  evalue_status status = evalue_ipc_pool_take(c, source->nbytes, &slot);
  if (status != EVALUE_OK) return status;
  EVALUE_LOG_COPIED(&evalue_log_ipc, source->nbytes, "pool: encoded into a slot; evalue_ipc_reserve makes it there");
  status = evalue_ipc_source_encode(source, evalue_ipc_pool_slot(&c->sending, slot));
  if (status == EVALUE_OK) status = put_slot(c, slot, source->nbytes);
  if (status != EVALUE_OK) evalue_ipc_pool_put_back(&c->sending, slot);
  return status;
}

/* ---- in memory of its own ---- */

static evalue_status put_memory(evalue_ipc_channel *c, int fd, uint64_t nbytes) {
  ipc_frame frame = {.kind = KIND_SEALED, .nbytes = nbytes};
  evalue_slice frame_only[1];
  return evalue_ipc_put(c, &frame, frame_only, 1, fd);
}

static evalue_status send_in_memory(evalue_ipc_channel *c, const ipc_source *source) {
  evalue_ipc_sealed sealed;
  EVALUE_LOG_COPIED(&evalue_log_ipc, source->nbytes,
                    "sealed: written into new memory; evalue_ipc_seal does it once for many messages");
  evalue_status status = evalue_ipc_seal_source(&sealed, source);
  if (status == EVALUE_IO) return evalue_ipc_system_fault(c, sealed.system_error);
  if (status != EVALUE_OK) return status;
  status = put_memory(c, sealed.fd, sealed.nbytes);
  evalue_ipc_sealed_close(&sealed);
  return status;
}

/* ---- choosing ---- */

static uint32_t larger_carrier(const evalue_ipc_channel *c, uint64_t nbytes) {
  return nbytes <= c->options.slot_nbytes ? EVALUE_IPC_POOL : EVALUE_IPC_SEALED;
}

static uint32_t choose(const evalue_ipc_channel *c, uint64_t nbytes) {
  if (c->options.carrier != EVALUE_IPC_AUTO) return c->options.carrier;
  return nbytes <= c->options.inline_limit ? EVALUE_IPC_INLINE : larger_carrier(c, nbytes);
}

static evalue_status send_by(evalue_ipc_channel *c, const ipc_source *source, uint32_t carrier) {
  switch (carrier) {
    case EVALUE_IPC_INLINE: return send_inline(c, source);
    case EVALUE_IPC_POOL: return send_in_slot(c, source);
    default: return send_in_memory(c, source);
  }
}

static evalue_status send_source(evalue_ipc_channel *c, const ipc_source *source) {
  uint32_t carrier = choose(c, source->nbytes);
  bool is_free = c->options.carrier == EVALUE_IPC_AUTO;
  evalue_status status = send_by(c, source, carrier);
  if (is_free && status == EVALUE_LIMIT && c->error.fault == EVALUE_FAULT_PACKET_TOO_LARGE) {
    carrier = larger_carrier(c, source->nbytes);
    status = send_by(c, source, carrier);
  }
  if (status != EVALUE_OK) return evalue_ipc_sending_failed(c, status);
  EVALUE_LOG(&evalue_log_ipc, EVALUE_LOG_DEBUG, "sent a message of %llu bytes, %s%s",
             (unsigned long long)source->nbytes, evalue_ipc_carrier_name(carrier),
             is_free ? ", by its size" : ", as asked");
  return EVALUE_OK;
}

evalue_status evalue_ipc_send(evalue_ipc_channel *c, const evalue *values, size_t n) {
  static const evalue none;
  ipc_source source = {.values = n != 0 ? values : &none, .n = n};
  evalue_status status = evalue_ipc_sending_begin(c);
  if (status != EVALUE_OK) return status;
  source.alignment = c->options.alignment;
  status = evalue_message_size(values, n, source.alignment, &source.nbytes);
  return status == EVALUE_OK ? send_source(c, &source) : evalue_ipc_sending_failed(c, status);
}

evalue_status evalue_ipc_send_message(evalue_ipc_channel *c, const void *data, size_t nbytes) {
  ipc_source source = {.bytes = data, .nbytes = nbytes};
  evalue_status status = evalue_ipc_sending_begin(c);
  if (status != EVALUE_OK) return status;
  return data != NULL ? send_source(c, &source) : evalue_ipc_sending_failed(c, EVALUE_MISUSE);
}

evalue_status evalue_ipc_send_sealed(evalue_ipc_channel *c, const evalue_ipc_sealed *sealed) {
  evalue_status status = evalue_ipc_sending_begin(c);
  if (status != EVALUE_OK) return status;
  bool is_good = sealed != NULL && sealed->self == sealed;
  status = is_good ? put_memory(c, sealed->fd, sealed->nbytes) : EVALUE_MISUSE;
  if (status != EVALUE_OK) return evalue_ipc_sending_failed(c, status);
  EVALUE_LOG(&evalue_log_ipc, EVALUE_LOG_DEBUG, "sent a message of %llu bytes, sealed before",
             (unsigned long long)sealed->nbytes);
  return EVALUE_OK;
}

evalue_status evalue_ipc_send_slot(evalue_ipc_channel *c, evalue_ipc_slot *slot) {
  evalue_status status = evalue_ipc_sending_begin(c);
  if (status != EVALUE_OK) return status;
  bool is_good = slot != NULL && evalue_ipc_pool_is_reserved(&c->sending, slot->number);
  status = is_good ? put_slot(c, slot->number, slot->nbytes) : EVALUE_MISUSE;
  if (status != EVALUE_OK) return evalue_ipc_sending_failed(c, status);
  EVALUE_LOG(&evalue_log_ipc, EVALUE_LOG_DEBUG, "sent a message of %llu bytes, made in a slot of the pool",
             (unsigned long long)slot->nbytes);
  return EVALUE_OK;
}
