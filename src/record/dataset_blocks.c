/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of a file in memory, in which examples wait. */
#include <stdlib.h>

#include "dataset_blocks.h"

enum {
  SPARES = 2, /* free blocks that are kept */
  FACTOR = 2  /* how much memory blocks may take, of that of what waits */
};

static void free_block(evalue_block *block) {
  if (block == NULL) return;
  free(block->memory);
  free(block->members);
  free(block);
}

static evalue_block *make_block(evalue_blocks *pool) {
  evalue_block *block = (evalue_block *)calloc(1, sizeof *block);
  if (block == NULL) return NULL;
  block->pool = pool;
  block->memory = evalue_dataset_allocate(pool->size);
  if (block->memory != NULL) return block;
  free(block);
  return NULL;
}

evalue_block *evalue_blocks_take(evalue_blocks *pool) {
  evalue_block *block = pool->spare;
  if (block != NULL) {
    pool->spare = block->next;
    pool->spares--;
  } else {
    block = make_block(pool);
    if (block == NULL) return NULL;
  }
  block->count = 0;
  block->users = 1;
  block->next = NULL;
  block->last = pool->newest;
  if (pool->newest != NULL) pool->newest->next = block;
  else pool->oldest = block;
  pool->newest = block;
  pool->live++;
  return block;
}

/* Nobody needs it any more. */
static EVALUE_COLD void put_back(evalue_block *block) {
  evalue_blocks *pool = block->pool;
  if (block->last != NULL) block->last->next = block->next;
  else pool->oldest = block->next;
  if (block->next != NULL) block->next->last = block->last;
  else pool->newest = block->last;
  pool->live--;
  if (pool->spares == SPARES) {
    free_block(block);
    return;
  }
  block->next = pool->spare;
  pool->spare = block;
  pool->spares++;
}

void evalue_block_leave(evalue_block *block) {
  if (--block->users == 0) put_back(block);
}

/* Room for more members; false without memory. */
static EVALUE_COLD bool grow(evalue_block *block) {
  size_t capacity = block->capacity == 0 ? 64 : 2 * block->capacity;
  evalue_held_example **members = evalue_held_allocate_list(capacity);
  if (members == NULL) return false;
  evalue_copy_bytes(members, block->members, block->count * sizeof(void *));
  free(block->members);
  block->members = members;
  block->capacity = capacity;
  return true;
}

/* Makes an example one that waits in a block; false without memory. */
static inline bool join(evalue_block *block, evalue_held_example *held) {
  if (block->count == block->capacity && !grow(block)) return false;
  held->block = block;
  held->member = block->count;
  block->members[block->count++] = held;
  block->users++;
  block->pool->waiting += held->size;
  return true;
}

bool evalue_block_hold(evalue_block *block, evalue_held_example *held, const evalue_example *example) {
  evalue_held_let_go(held);
  if (held->memory != NULL) evalue_held_forget_memory(held);
  held->was_message = true;
  held->is_decoded = false;
  held->data = (const uint8_t *)example->bytes.data;
  held->size = example->bytes.size;
  held->count = 0;
  held->source = example->source;
  held->index = example->index;
  return join(block, held);
}

void evalue_held_let_go(evalue_held_example *held) {
  evalue_block *block = held->block;
  held->is_place = false;
  if (block == NULL) return;
  block->members[held->member] = NULL;
  block->pool->waiting -= held->size;
  held->block = NULL;
  evalue_block_leave(block);
}

/* Copies an example to the block of those that were copied before, or to a new one. */
static bool move(evalue_blocks *pool, evalue_held_example *held) {
  if (pool->copies == NULL || pool->size - pool->copied < held->size) {
    evalue_block *block = evalue_blocks_take(pool);
    if (block == NULL) return false;
    if (pool->copies != NULL) evalue_block_leave(pool->copies);
    pool->copies = block;
    pool->copied = 0;
  }
  uint8_t *place = pool->copies->memory + pool->copied;
  evalue_copy_bytes(place, held->data, held->size);
  evalue_held_let_go(held);
  held->data = place;
  pool->copied += held->size;
  return join(pool->copies, held);
}

/* Copies what waits in the oldest block. */
static bool empty_oldest(evalue_blocks *pool) {
  evalue_block *block = pool->oldest;
  bool is_good = true;
  if (block == pool->copies) { /* nothing else is that old */
    pool->copies = NULL;
    evalue_block_leave(block);
    return true;
  }
  /* No older one stands before it, so what was freed is not the oldest any more. */
  block->users++; /* NOLINT(clang-analyzer-unix.Malloc): until all have gone */
  for (size_t i = 0; i < block->count && is_good; i++) {
    if (block->members[i] != NULL) is_good = move(pool, block->members[i]);
  }
  evalue_block_leave(block);
  return is_good;
}

bool evalue_blocks_trim(evalue_blocks *pool) {
  while (pool->live > 2 && (pool->live - 2) * pool->size > FACTOR * pool->waiting) {
    if (!empty_oldest(pool)) return false;
  }
  return true;
}

void evalue_blocks_free(evalue_blocks *pool) {
  while (pool->oldest != NULL) {
    evalue_block *next = pool->oldest->next;
    free_block(pool->oldest);
    pool->oldest = next;
  }
  while (pool->spare != NULL) {
    evalue_block *next = pool->spare->next;
    free_block(pool->spare);
    pool->spare = next;
  }
}
