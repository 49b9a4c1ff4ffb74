/* SPDX-License-Identifier: BSD-3-Clause */
/* A channel's beginning and end, its options, its errors, and its memory for what is copied. */
#include <errno.h>
#include <sys/socket.h>

#include "ipc_internal.h"

enum {
  DEFAULT_INLINE_LIMIT = 1 << 16,
  DEFAULT_SLOTS = 4,
  DEFAULT_SLOT_NBYTES = 1 << 24,
  DEFAULT_MAX_BYTES = 1 << 30,
  DEFAULT_STALL_MS = 10000,
  PAGE = 4096
};

const char *evalue_ipc_carrier_name(uint32_t carrier) {
  static const char *const names[] = {"auto", "inline", "pool", "sealed"};
  return carrier <= EVALUE_IPC_SEALED ? names[carrier] : "?";
}

/* ---- errors ---- */

evalue_status evalue_ipc_fault(evalue_error *error, evalue_fault fault, uint64_t position, uint64_t expected,
                               uint64_t found) {
  static const struct {
    uint8_t status, field;
  } rows[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning)                                               \
  [EVALUE_FAULT_##name - EVALUE_FAULT_IPC_BASE] = {EVALUE_##status, EVALUE_FIELD_##field},
      EVALUE_IPC_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  memset(error, 0, sizeof *error);
  error->status = rows[fault - EVALUE_FAULT_IPC_BASE].status;
  error->fault = (uint16_t)fault;
  error->field = rows[fault - EVALUE_FAULT_IPC_BASE].field;
  error->position = position;
  error->value_index = EVALUE_NO_INDEX;
  error->expected = expected;
  error->found = found;
  error->needed = error->status == EVALUE_TRUNCATED ? expected : 0;
  return (evalue_status)error->status;
}

evalue_status evalue_ipc_system_fault(evalue_ipc_channel *c, int error) {
  bool is_gone = error == EPIPE || error == ECONNRESET;
  c->system_error = error;
  return evalue_ipc_fault(&c->error, is_gone ? EVALUE_FAULT_PEER_GONE : EVALUE_FAULT_SYSTEM_CALL, 0, 0, 0);
}

bool evalue_ipc_is_open(const evalue_ipc_channel *c) {
  return c != NULL && c->self == c;
}

/* ---- options ---- */

evalue_status evalue_ipc_options_fill(evalue_ipc_options *options, const evalue_ipc_options *from) {
  memset(options, 0, sizeof *options);
  if (from != NULL) *options = *from;
  evalue_ipc_options *o = options;
  bool is_known = o->size == 0 || o->size == sizeof *o;
  bool is_aligned = o->alignment <= EVALUE_MAX_ALIGNMENT && (o->alignment & (o->alignment - 1)) == 0;
  if (!is_known || !is_aligned || o->carrier > EVALUE_IPC_SEALED || o->slots > EVALUE_IPC_MAX_SLOTS ||
      o->snapshot > 1 || o->slot_nbytes > IPC_MOST_NBYTES) {
    return EVALUE_MISUSE;
  }
  if (o->inline_limit == 0) o->inline_limit = DEFAULT_INLINE_LIMIT;
  if (o->slots == 0) o->slots = DEFAULT_SLOTS;
  if (o->slot_nbytes == 0) o->slot_nbytes = DEFAULT_SLOT_NBYTES;
  if (o->max_bytes == 0) o->max_bytes = DEFAULT_MAX_BYTES;
  if (o->max_bytes > IPC_MOST_NBYTES) o->max_bytes = IPC_MOST_NBYTES;
  if (o->max_pool_bytes == 0) o->max_pool_bytes = DEFAULT_MAX_BYTES;
  if (o->max_pool_bytes > IPC_MOST_NBYTES) o->max_pool_bytes = IPC_MOST_NBYTES;
  if (o->stall_ms == 0) o->stall_ms = DEFAULT_STALL_MS;
  return EVALUE_OK;
}

/* ---- buffers ---- */

/*
 * New memory costs a page fault for every page, which is more than copying into it does; so the buffer that was
 * returned last is kept for the next message.
 */
uint8_t *evalue_ipc_take_buffer(evalue_ipc_channel *c, uint64_t nbytes, uint64_t *memory_nbytes) {
  uint8_t *memory = NULL;
  uint64_t needed = (nbytes + EVALUE_IPC_BYTES_BEHIND + PAGE - 1) / PAGE * PAGE;
  if (c->spare_nbytes >= needed) {
    memory = c->spare;
    *memory_nbytes = c->spare_nbytes;
    c->spare = NULL;
    c->spare_nbytes = 0;
    return memory;
  }
  memory = evalue_ipc_map(-1, needed, IPC_MAP_OWN);
  *memory_nbytes = needed;
  if (memory == NULL) evalue_ipc_system_fault(c, errno);
  return memory;
}

void evalue_ipc_return_buffer(evalue_ipc_channel *c, uint8_t *memory, uint64_t memory_nbytes) {
  if (memory_nbytes <= c->spare_nbytes) {
    evalue_ipc_unmap(memory, memory_nbytes);
    return;
  }
  evalue_ipc_unmap(c->spare, c->spare_nbytes);
  c->spare = memory;
  c->spare_nbytes = memory_nbytes;
}

/* ---- beginning and end ---- */

static evalue_status start(evalue_ipc_channel *c, int fd, const evalue_ipc_options *options) {
  int type = 0, domain = 0;
  socklen_t size = sizeof type;
  evalue_status status = evalue_ipc_options_fill(&c->options, options);
  if (status != EVALUE_OK) return status;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return evalue_ipc_system_fault(c, errno);
  size = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return evalue_ipc_system_fault(c, errno);
  if (domain != AF_UNIX || (type != SOCK_STREAM && type != SOCK_SEQPACKET)) return EVALUE_MISUSE;
  c->is_packets = type == SOCK_SEQPACKET;
  c->fd = fd;
  c->self = c;
  return EVALUE_OK;
}

evalue_status evalue_ipc_init(evalue_ipc_channel *c, int fd, const evalue_ipc_options *options) {
  if (c == NULL) return EVALUE_MISUSE;
  memset(c, 0, sizeof *c);
  c->fd = -1;
  return start(c, fd, options);
}

evalue_status evalue_ipc_close(evalue_ipc_channel *c) {
  if (!evalue_ipc_is_open(c) || c->held != 0) return EVALUE_MISUSE;
  evalue_ipc_pool_close(&c->sending);
  evalue_ipc_pool_close(&c->receiving);
  evalue_ipc_unmap(c->spare, c->spare_nbytes);
  evalue_ipc_hang_up(c);
  c->spare = NULL;
  c->fd = -1;
  c->self = NULL;
  return EVALUE_OK;
}
