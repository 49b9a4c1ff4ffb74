/* SPDX-License-Identifier: BSD-3-Clause */
/* The 24 bytes that announce a message or a pool (spec/evalue-ipc.md, section 2). */
#include "ipc_internal.h"

enum { VERSION = 1 };

static const uint8_t magic[4] = {'E', 'V', 'I', 'P'};

void evalue_ipc_frame_write(uint8_t bytes[FRAME_SIZE], const ipc_frame *frame) {
  memcpy(bytes, magic, sizeof magic);
  bytes[AT_VERSION] = VERSION;
  bytes[AT_KIND] = (uint8_t)frame->kind;
  bytes[AT_FLAGS] = 0;
  bytes[AT_FLAGS + 1] = 0;
  evalue_store_u64(bytes + AT_NBYTES, frame->nbytes);
  evalue_store_u64(bytes + AT_PLACE, frame->place);
}

evalue_status evalue_ipc_frame_read(const uint8_t bytes[FRAME_SIZE], ipc_frame *frame, evalue_error *error) {
  uint32_t flags = (uint32_t)bytes[AT_FLAGS] | (uint32_t)bytes[AT_FLAGS + 1] << 8;
  frame->kind = bytes[AT_KIND];
  frame->nbytes = evalue_load_u64(bytes + AT_NBYTES);
  frame->place = evalue_load_u64(bytes + AT_PLACE);
  if (memcmp(bytes, magic, sizeof magic) != 0) {
    return evalue_ipc_fault(error, EVALUE_FAULT_BAD_FRAME_MAGIC, AT_MAGIC, evalue_load_u32(magic),
                            evalue_load_u32(bytes));
  }
  if (bytes[AT_VERSION] != VERSION) {
    return evalue_ipc_fault(error, EVALUE_FAULT_FRAME_VERSION, AT_VERSION, VERSION, bytes[AT_VERSION]);
  }
  if (frame->kind < KIND_INLINE || frame->kind > KIND_POOL) {
    return evalue_ipc_fault(error, EVALUE_FAULT_UNKNOWN_CARRIER, AT_KIND, KIND_POOL, frame->kind);
  }
  if (flags != 0) return evalue_ipc_fault(error, EVALUE_FAULT_FRAME_FLAGS, AT_FLAGS, 0, flags);
  bool has_place = frame->kind == KIND_SLOT || frame->kind == KIND_POOL;
  if (!has_place && frame->place != 0) {
    return evalue_ipc_fault(error, EVALUE_FAULT_FRAME_PLACE, AT_PLACE, 0, frame->place);
  }
  return EVALUE_OK;
}
