/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in. Whatever the peer sends ends as a message or a status. */
#include <errno.h>

#include "ipc_internal.h"

/* ---- by carrier ---- */

/* Gives the message memory of this process. */
static evalue_status take_memory(evalue_ipc_channel *c, evalue_ipc_message *m) {
  m->memory = evalue_ipc_take_buffer(c, m->nbytes, &m->memory_nbytes);
  m->data = m->memory;
  m->is_constant = 1;
  return m->memory != NULL ? EVALUE_OK : (evalue_status)c->error.status;
}

static evalue_status receive_inline(evalue_ipc_channel *c, evalue_ipc_message *m) {
  evalue_status status = take_memory(c, m);
  if (status != EVALUE_OK) return status;
  status = evalue_ipc_get_bytes(c, m->memory, m->nbytes);
  if (status != EVALUE_OK) evalue_ipc_return_buffer(c, m->memory, m->memory_nbytes);
  return status;
}

static evalue_status receive_in_slot(evalue_ipc_channel *c, const ipc_frame *frame, evalue_ipc_message *m) {
  evalue_status status = evalue_ipc_pool_hold(c, frame);
  if (status != EVALUE_OK) return status;
  m->slot = (uint32_t)frame->place;
  const uint8_t *slot = evalue_ipc_pool_slot(&c->receiving, m->slot);
  m->data = slot;
  if (c->options.snapshot == 0) return EVALUE_OK;
  status = take_memory(c, m);
  if (status == EVALUE_OK) memcpy(m->memory, slot, m->nbytes);
  EVALUE_LOG_COPIED(&evalue_log_ipc, m->nbytes, "pool: a snapshot, which the peer cannot change");
  evalue_ipc_pool_give_back(&c->receiving, m->slot);
  return status;
}

/* Reads memory that somebody could change while it is mapped, or cut off. */
static evalue_status copy_memory(evalue_ipc_channel *c, evalue_ipc_message *m, int fd) {
  evalue_status status = take_memory(c, m);
  if (status != EVALUE_OK) return status;
  EVALUE_LOG_COPIED(&evalue_log_ipc, m->nbytes, "sealed: a snapshot, as the memory is not sealed");
  if (evalue_ipc_memory_read(fd, m->memory, m->nbytes)) return EVALUE_OK;
  status = errno != 0 ? evalue_ipc_system_fault(c, errno)
                      : evalue_ipc_fault(&c->error, EVALUE_FAULT_MEMORY_SIZE, AT_NBYTES, m->nbytes, 0);
  evalue_ipc_return_buffer(c, m->memory, m->memory_nbytes);
  return status;
}

static evalue_status receive_memory(evalue_ipc_channel *c, evalue_ipc_message *m, int fd) {
  ipc_memory memory;
  uint64_t needed = (uint64_t)m->nbytes + EVALUE_IPC_BYTES_BEHIND;
  evalue_ipc_memory_look(fd, &memory);
  if (!memory.is_memory) return evalue_ipc_fault(&c->error, EVALUE_FAULT_NOT_MEMORY, AT_NBYTES, 0, 0);
  if (!memory.is_sealed && c->options.snapshot == 0) {
    return evalue_ipc_fault(&c->error, EVALUE_FAULT_NOT_SEALED, AT_NBYTES, 0, 0);
  }
  if (memory.nbytes < needed) {
    return evalue_ipc_fault(&c->error, EVALUE_FAULT_MEMORY_SIZE, AT_NBYTES, needed, memory.nbytes);
  }
  if (!memory.is_sealed) return copy_memory(c, m, fd);
  m->memory = evalue_ipc_map(fd, needed, IPC_MAP_CONSTANT);
  m->memory_nbytes = needed;
  m->data = m->memory;
  m->is_constant = 1;
  m->is_mapped = 1;
  return m->memory != NULL ? EVALUE_OK : evalue_ipc_system_fault(c, errno);
}

/* ---- frames ---- */

/* Says whether a frame and its descriptor belong together. */
static evalue_status judge(evalue_ipc_channel *c, const ipc_frame *frame, int fd) {
  bool wants_fd = frame->kind == KIND_POOL || frame->kind == KIND_SEALED;
  if (wants_fd && fd < 0) return evalue_ipc_fault(&c->error, EVALUE_FAULT_NO_DESCRIPTOR, AT_KIND, 0, 0);
  if (!wants_fd && fd >= 0) return evalue_ipc_fault(&c->error, EVALUE_FAULT_STRAY_DESCRIPTOR, AT_KIND, 0, 0);
  if (frame->kind == KIND_POOL || frame->nbytes <= c->options.max_bytes) return EVALUE_OK;
  return evalue_ipc_fault(&c->error, EVALUE_FAULT_MESSAGE_TOO_LARGE, AT_NBYTES, c->options.max_bytes, frame->nbytes);
}

static evalue_status take(evalue_ipc_channel *c, const ipc_frame *frame, int fd, evalue_ipc_message *m) {
  evalue_status status = judge(c, frame, fd);
  if (status != EVALUE_OK) return status;
  if (frame->kind == KIND_POOL) return evalue_ipc_pool_accept(c, frame, fd);
  if (frame->nbytes > SIZE_MAX - EVALUE_IPC_BYTES_BEHIND) return evalue_ipc_system_fault(c, ENOMEM);
  m->nbytes = (size_t)frame->nbytes;
  m->carrier = frame->kind;
  switch (frame->kind) {
    case KIND_INLINE: return receive_inline(c, m);
    case KIND_SLOT: return receive_in_slot(c, frame, m);
    default: return receive_memory(c, m, fd);
  }
}

/* Takes frames until one has brought a message. */
static evalue_status receive(evalue_ipc_channel *c, evalue_ipc_message *m) {
  ipc_frame frame;
  for (;;) {
    int fd;
    evalue_status status = evalue_ipc_get_frame(c, &frame, &fd);
    if (status == EVALUE_OK) status = take(c, &frame, fd, m);
    evalue_ipc_close_received(fd); /* what was mapped stays */
    if (status != EVALUE_OK || frame.kind != KIND_POOL) return status;
  }
}

static evalue_status failed(evalue_ipc_channel *c, evalue_ipc_message *m, evalue_status status) {
  memset(m, 0, sizeof *m);
  if (status == EVALUE_END) {
    memset(&c->error, 0, sizeof c->error);
    return status;
  }
  bool can_go_on = status == EVALUE_TIMEOUT && c->has_begun == 0;
  if (!can_go_on) {
    c->receive_error = c->error;
    c->receive_system_error = c->system_error;
  }
  EVALUE_LOG_STATUS(&evalue_log_ipc, can_go_on ? EVALUE_LOG_DEBUG : EVALUE_LOG_INFO, (int32_t)status, c->error.position,
                    "receiving failed: %s", evalue_fault_message(c->error.fault));
  EVALUE_LOG_REJECTED(&evalue_log_ipc, &c->error, NULL, 0);
  return status;
}

evalue_status evalue_ipc_receive(evalue_ipc_channel *c, evalue_ipc_message *m) {
  if (m == NULL) return EVALUE_MISUSE;
  memset(m, 0, sizeof *m);
  if (!evalue_ipc_is_open(c)) return EVALUE_MISUSE;
  c->error = c->receive_error; /* of a failure that ended receiving; otherwise none */
  c->system_error = c->receive_system_error;
  if (c->receive_error.status != EVALUE_OK) return (evalue_status)c->receive_error.status;
  evalue_status status = receive(c, m);
  if (status != EVALUE_OK) return failed(c, m, status);
  m->channel = c;
  c->held++;
  EVALUE_LOG(&evalue_log_ipc, EVALUE_LOG_DEBUG, "received a message of %llu bytes, %s", (unsigned long long)m->nbytes,
             evalue_ipc_carrier_name(m->carrier));
  return EVALUE_OK;
}

evalue_status evalue_ipc_release(evalue_ipc_message *m) {
  if (m == NULL) return EVALUE_MISUSE;
  evalue_ipc_channel *c = m->channel;
  if (c == NULL) return EVALUE_OK;
  if (!evalue_ipc_is_open(c) || c->held == 0) return EVALUE_MISUSE;
  if (m->is_mapped != 0) evalue_ipc_unmap(m->memory, m->memory_nbytes);
  else if (m->memory != NULL) evalue_ipc_return_buffer(c, m->memory, m->memory_nbytes);
  else evalue_ipc_pool_give_back(&c->receiving, m->slot);
  c->held--;
  memset(m, 0, sizeof *m);
  return EVALUE_OK;
}
