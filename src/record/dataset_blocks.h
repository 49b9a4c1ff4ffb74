/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of a file in memory, in which examples wait where they were read. A block is free again when none waits in it
 * any more; of those that are old, the few that still wait are copied, so that blocks take no more memory than about
 * twice what waits in them.
 */
#ifndef EVALUE_DATASET_BLOCKS_H
#define EVALUE_DATASET_BLOCKS_H

#include "dataset_internal.h"

typedef struct evalue_block {
  struct evalue_blocks *pool;
  struct evalue_block *next; /* the next younger one; of spare ones any */
  struct evalue_block *last; /* the next older one */
  uint8_t *memory;
  evalue_held_example **members; /* those that wait in it; NULL in place of those that were let go */
  size_t count, capacity;        /* of members */
  size_t users;                  /* members, and the source as long as it reads from it */
} evalue_block;

/* All zero but for size: none. */
typedef struct evalue_blocks {
  evalue_block *oldest, *newest, *spare;
  evalue_block *copies;  /* of those that waited long; NULL: none. One of the live ones. */
  size_t copied;         /* bytes there */
  size_t size;           /* of each block's memory */
  uint64_t live, spares; /* blocks in use, and others */
  uint64_t waiting;      /* bytes of all members */
} evalue_blocks;

/* A block to read into, whose only user is the source; NULL without memory. */
evalue_block *evalue_blocks_take(evalue_blocks *pool);

/* The source reads from it no more. */
void evalue_block_leave(evalue_block *block);

/* Holds an example that lies in a block; false without memory. */
bool evalue_block_hold(evalue_block *block, evalue_held_example *held, const evalue_example *example);

/* Copies what waits in the oldest blocks while they take too much memory; false without memory. */
bool evalue_blocks_trim(evalue_blocks *pool);

/* Frees all; nothing waits any more. */
void evalue_blocks_free(evalue_blocks *pool);

#endif
