/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of pools share: a sender whose peer is played by hand. */
#ifndef TESTS_IPC_POOLS_H
#define TESTS_IPC_POOLS_H

#include <linux/futex.h>
#include <stdatomic.h>

#include "ipc_faults.h"

enum { SLOTS = 3, SLOT_NBYTES = 20000, MESSAGE = 300 };

static const evalue_ipc_options pooled = {
    .carrier = EVALUE_IPC_POOL, .slots = SLOTS, .slot_nbytes = SLOT_NBYTES, .stall_ms = 20};

static uint8_t payload[SLOT_NBYTES + 1];

static inline void send_bytes(evalue_ipc_channel *c, size_t seed) {
  fill_bytes(payload, MESSAGE, seed);
  assert_int_equal(evalue_ipc_send_message(c, payload, MESSAGE), EVALUE_OK);
}

/* A channel that sends, and what its pool is to the peer. */
static inline int make_sender(evalue_ipc_channel *c, int type, const evalue_ipc_options *options, raw_pool *pool) {
  int peer = make_peer(c, type, options);
  send_bytes(c, 0);
  int fd = get_frame(peer, POOL, options->slot_nbytes, options->slots);
  assert_true(fd >= 0);
  map_pool(pool, fd, options->slots, options->slot_nbytes);
  assert_int_equal(get_frame(peer, SLOT, MESSAGE, 0), -1);
  return peer;
}

/* Gives a slot back as spec, section 4, says. */
static inline void give_back(const raw_pool *pool, uint32_t slot) {
  atomic_store(word_of(pool->memory, WORDS + STRIDE * slot), 0);
  atomic_fetch_add(word_of(pool->memory, FREED), 1);
  if (atomic_load(word_of(pool->memory, WAITING)) == 0) return;
  syscall(SYS_futex, word_of(pool->memory, FREED), FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

#endif
