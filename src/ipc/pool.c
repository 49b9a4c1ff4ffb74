/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool: memory in slots, which both sides map once (spec/evalue-ipc.md, section 4). A slot belongs to the sender
 * until its number goes over the socket, and to the receiver until it writes FREE into the slot's word. Neither side
 * believes the words: the sender looks at those of slots that it has sent, and nothing else; the receiver at none.
 */
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "ipc_internal.h"

enum {
  CONTROL_SIZE = 1 << 16, /* a multiple of every page size */
  FREED_AT = 0,           /* counts slots that were given back; the sender waits for it to change */
  WAITING_AT = 64,        /* not 0 while the sender waits */
  SLOTS_AT = 128,
  WORD_STRIDE = 64, /* a word a cache line */
  SLOT_ALIGNMENT = 4096,
  NAP_MS = 20 /* after which a sender that waits looks whether the peer is still there */
};

enum { FREE = 0, BUSY = 1 };

static _Atomic uint32_t *word_at(const evalue_ipc_pool *pool, uint32_t at) {
  return (_Atomic uint32_t *)(void *)(pool->control + at);
}

static _Atomic uint32_t *word_of(const evalue_ipc_pool *pool, uint32_t slot) {
  return word_at(pool, SLOTS_AT + slot * WORD_STRIDE);
}

static uint64_t bit(uint32_t slot) {
  return UINT64_C(1) << slot;
}

/* From one slot to the next. Slots have fewer than 2^49 bytes. */
static uint64_t stride_of(uint64_t slot_nbytes) {
  return (slot_nbytes + EVALUE_IPC_BYTES_BEHIND + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
}

static uint64_t size_of(uint64_t slot_nbytes, uint32_t slots) {
  return CONTROL_SIZE + slots * stride_of(slot_nbytes);
}

uint8_t *evalue_ipc_pool_slot(const evalue_ipc_pool *pool, uint32_t slot) {
  return pool->memory + CONTROL_SIZE + slot * stride_of(pool->slot_nbytes);
}

void evalue_ipc_pool_close(evalue_ipc_pool *pool) {
  if (pool->control != pool->memory) evalue_ipc_unmap(pool->control, CONTROL_SIZE);
  evalue_ipc_unmap(pool->memory, pool->nbytes);
  memset(pool, 0, sizeof *pool);
}

/* ---- the sender ---- */

/* Fills an empty pool; returns the descriptor of its memory, -1 with errno on failure. */
static int create(evalue_ipc_pool *pool, const evalue_ipc_options *options) {
  uint64_t nbytes = size_of(options->slot_nbytes, options->slots);
  int fd = evalue_ipc_memory_create("evalue-pool", nbytes, nbytes);
  if (fd < 0) return -1;
  uint8_t *memory = evalue_ipc_map(fd, nbytes, IPC_MAP_WRITE);
  if (memory != NULL && evalue_ipc_memory_seal(fd, false)) {
    *pool = (evalue_ipc_pool){.memory = memory,
                              .control = memory,
                              .nbytes = nbytes,
                              .slot_nbytes = options->slot_nbytes,
                              .slots = options->slots};
    return fd;
  }
  int error = errno;
  evalue_ipc_unmap(memory, nbytes);
  close(fd);
  errno = error;
  return -1;
}

/* Makes the pool, and tells the peer. */
static evalue_status offer(evalue_ipc_channel *c) {
  evalue_slice frame_only[1];
  int fd = create(&c->sending, &c->options);
  if (fd < 0) return evalue_ipc_system_fault(c, errno);
  ipc_frame frame = {.kind = KIND_POOL, .nbytes = c->sending.slot_nbytes, .place = c->sending.slots};
  evalue_status status = evalue_ipc_put(c, &frame, frame_only, 1, fd);
  close(fd);
  if (status != EVALUE_OK) evalue_ipc_pool_close(&c->sending);
  else
    EVALUE_LOG(&evalue_log_ipc, EVALUE_LOG_DEBUG, "offered a pool of %u slots of %llu bytes", (unsigned)frame.place,
               (unsigned long long)frame.nbytes);
  return status;
}

/* Takes a slot that is free; false when there is none. The first one: it may be in a cache still. */
static bool take_free(evalue_ipc_pool *pool, uint32_t *slot) {
  for (uint32_t i = 0; i < pool->slots; i++) {
    bool is_back = (pool->sent & bit(i)) != 0 && atomic_load_explicit(word_of(pool, i), memory_order_acquire) == FREE;
    if ((pool->taken & bit(i)) != 0 && !is_back) continue;
    pool->sent &= ~bit(i);
    pool->taken |= bit(i);
    atomic_store_explicit(word_of(pool, i), BUSY, memory_order_relaxed);
    *slot = i;
    return true;
  }
  return false;
}

static evalue_status wait_for_slot(evalue_ipc_channel *c, uint32_t *slot) {
  evalue_ipc_pool *pool = &c->sending;
  int64_t deadline = evalue_ipc_now() + c->options.stall_ms;
  evalue_status status = EVALUE_OK;
  EVALUE_LOG(&evalue_log_ipc, EVALUE_LOG_DEBUG, "waiting for one of %u slots", (unsigned)pool->slots);
  atomic_store(word_at(pool, WAITING_AT), 1);
  for (;;) {
    uint32_t freed = atomic_load(word_at(pool, FREED_AT));
    if (take_free(pool, slot)) break;
    int64_t left = deadline - evalue_ipc_now();
    if (evalue_ipc_peer_is_gone(c)) status = evalue_ipc_system_fault(c, EPIPE);
    else if (left <= 0) status = evalue_ipc_fault(&c->error, EVALUE_FAULT_SLOTS_TAKEN, 0, 0, 0);
    if (status != EVALUE_OK) break;
    evalue_ipc_word_wait(word_at(pool, FREED_AT), freed, left < NAP_MS ? (uint32_t)left : NAP_MS);
  }
  atomic_store(word_at(pool, WAITING_AT), 0);
  return status;
}

evalue_status evalue_ipc_pool_take(evalue_ipc_channel *c, uint64_t nbytes, uint32_t *slot) {
  if (nbytes > c->options.slot_nbytes) {
    return evalue_ipc_fault(&c->error, EVALUE_FAULT_SLOT_TOO_SMALL, AT_NBYTES, c->options.slot_nbytes, nbytes);
  }
  evalue_status status = c->sending.memory == NULL ? offer(c) : EVALUE_OK;
  if (status != EVALUE_OK) return status;
  return take_free(&c->sending, slot) ? EVALUE_OK : wait_for_slot(c, slot);
}

void evalue_ipc_pool_hand_over(evalue_ipc_pool *pool, uint32_t slot) {
  pool->sent |= bit(slot);
}

void evalue_ipc_pool_put_back(evalue_ipc_pool *pool, uint32_t slot) {
  pool->taken &= ~bit(slot);
}

bool evalue_ipc_pool_is_reserved(const evalue_ipc_pool *pool, uint32_t slot) {
  return slot < pool->slots && (pool->taken & ~pool->sent & bit(slot)) != 0;
}

/* ---- the receiver ---- */

/* Says what is wrong with the frame that offers a pool, or with its memory. */
static evalue_status judge(evalue_ipc_channel *c, const ipc_frame *frame, int fd) {
  ipc_memory memory;
  uint64_t most = c->options.max_pool_bytes;
  evalue_error *error = &c->error;
  if (c->receiving.memory != NULL) return evalue_ipc_fault(error, EVALUE_FAULT_POOL_AGAIN, AT_KIND, 0, 0);
  if (frame->place == 0 || frame->place > EVALUE_IPC_MAX_SLOTS) {
    return evalue_ipc_fault(error, EVALUE_FAULT_POOL_SHAPE, AT_PLACE, EVALUE_IPC_MAX_SLOTS, frame->place);
  }
  bool is_large = frame->nbytes > most || size_of(frame->nbytes, (uint32_t)frame->place) > most;
  if (is_large) return evalue_ipc_fault(error, EVALUE_FAULT_POOL_TOO_LARGE, AT_NBYTES, most, frame->nbytes);
  evalue_ipc_memory_look(fd, &memory);
  if (!memory.is_memory) return evalue_ipc_fault(error, EVALUE_FAULT_NOT_MEMORY, AT_NBYTES, 0, 0);
  if (!memory.is_steady) return evalue_ipc_fault(error, EVALUE_FAULT_NOT_SEALED, AT_NBYTES, 0, 0);
  uint64_t needed = size_of(frame->nbytes, (uint32_t)frame->place);
  if (memory.nbytes >= needed) return EVALUE_OK;
  return evalue_ipc_fault(error, EVALUE_FAULT_MEMORY_SIZE, AT_NBYTES, needed, memory.nbytes);
}

evalue_status evalue_ipc_pool_accept(evalue_ipc_channel *c, const ipc_frame *frame, int fd) {
  evalue_status status = judge(c, frame, fd);
  if (status != EVALUE_OK) return status;
  evalue_ipc_pool pool = {.slot_nbytes = frame->nbytes, .slots = (uint32_t)frame->place};
  pool.nbytes = size_of(pool.slot_nbytes, pool.slots);
  pool.memory = evalue_ipc_map(fd, pool.nbytes, IPC_MAP_READ);
  pool.control = pool.memory != NULL ? evalue_ipc_map(fd, CONTROL_SIZE, IPC_MAP_WRITE) : NULL;
  if (pool.control == NULL) {
    status = evalue_ipc_system_fault(c, errno);
    evalue_ipc_unmap(pool.memory, pool.nbytes);
    return status;
  }
  c->receiving = pool;
  EVALUE_LOG(&evalue_log_ipc, EVALUE_LOG_DEBUG, "mapped the peer's pool of %u slots of %llu bytes", pool.slots,
             (unsigned long long)pool.slot_nbytes);
  return EVALUE_OK;
}

evalue_status evalue_ipc_pool_hold(evalue_ipc_channel *c, const ipc_frame *frame) {
  evalue_ipc_pool *pool = &c->receiving;
  if (pool->memory == NULL) return evalue_ipc_fault(&c->error, EVALUE_FAULT_NO_POOL, AT_KIND, 0, 0);
  if (frame->place >= pool->slots) {
    return evalue_ipc_fault(&c->error, EVALUE_FAULT_SLOT_RANGE, AT_PLACE, pool->slots - 1, frame->place);
  }
  if (frame->nbytes > pool->slot_nbytes) {
    return evalue_ipc_fault(&c->error, EVALUE_FAULT_SLOT_LENGTH, AT_NBYTES, pool->slot_nbytes, frame->nbytes);
  }
  uint64_t mine = bit((uint32_t)frame->place);
  if ((pool->taken & mine) != 0) {
    return evalue_ipc_fault(&c->error, EVALUE_FAULT_SLOT_HELD, AT_PLACE, 0, frame->place);
  }
  pool->taken |= mine;
  return EVALUE_OK;
}

void evalue_ipc_pool_give_back(evalue_ipc_pool *pool, uint32_t slot) {
  pool->taken &= ~bit(slot);
  atomic_store_explicit(word_of(pool, slot), FREE, memory_order_release);
  atomic_fetch_add(word_at(pool, FREED_AT), 1);
  if (atomic_load(word_at(pool, WAITING_AT)) != 0) evalue_ipc_word_wake(word_at(pool, FREED_AT));
}
