/* SPDX-License-Identifier: BSD-3-Clause */
/* A stage that changes the order: it keeps some examples, and hands out any of them. */
#include <stdlib.h>

#include "dataset_files.h"

struct evalue_shuffler {
  evalue_held_example **held; /* `buffer` of them; the first count wait, the next one was handed out last */
  evalue_held_example *memory;
  evalue_names names;
  uint64_t buffer, count, max_bytes;
  uint64_t bytes; /* of those that wait */
  uint64_t seed, epoch, random;
  bool has_same_order;
  bool looks_ahead; /* the number after the next one is known, and what random will be then */
  uint32_t ahead;
  uint64_t ahead_random;
  struct evalue_files *files;  /* the input, when it is one that lends; NULL otherwise */
  evalue_held_example aligned; /* a copy of what is handed out, where it lies in a block */
};

static struct evalue_shuffler *shuffler_of(evalue_dataset *dataset) {
  return ((evalue_shuffle_dataset *)(void *)dataset)->shuffler;
}

/* ---- random numbers: PCG32, as the header says ---- */

static inline void step(struct evalue_shuffler *s) {
  uint64_t stream = s->has_same_order ? 0 : s->epoch;
  s->random = s->random * UINT64_C(6364136223846793005) + (2 * stream + 1);
}

static void start_random(struct evalue_shuffler *s) {
  s->looks_ahead = false;
  s->random = 0;
  step(s);
  s->random += s->seed;
  step(s);
}

static inline uint32_t draw(struct evalue_shuffler *s) {
  uint64_t state = s->random;
  step(s);
  uint32_t x = (uint32_t)((state >> 18 ^ state) >> 27);
  uint32_t turn = (uint32_t)(state >> 59);
  return x >> turn | x << ((32 - turn) & 31);
}

/* A number below n, each with the same probability. */
static inline uint32_t draw_below(struct evalue_shuffler *s, uint32_t n) {
  uint64_t product = (uint64_t)draw(s) * n;
  if ((uint32_t)product < n) { /* only then can it be one of those that would come too often */
    uint32_t surplus = (0 - n) % n;
    while ((uint32_t)product < surplus) product = (uint64_t)draw(s) * n;
  }
  return (uint32_t)(product >> 32);
}

/* ---- the stage ---- */

/* Reads an example, and holds it, if possible without a copy. */
static inline evalue_status read_one(evalue_dataset *dataset, struct evalue_shuffler *s, evalue_held_example *held) {
  evalue_example example;
  evalue_status status = s->files != NULL ? evalue_dataset_next_by(dataset->input, evalue_files_lend, &example)
                                          : evalue_dataset_next(dataset->input, &example);
  if (status != EVALUE_OK) return status;
  if (s->files != NULL && s->files->is_place) {
    evalue_held_place(held, &example, &s->files->place);
    return EVALUE_OK;
  }
  if (s->files == NULL || s->files->lent == NULL) return evalue_held_keep(held, &example, dataset);
  if (evalue_block_hold(s->files->lent, held, &example)) return EVALUE_OK;
  return evalue_dataset_fail_memory(dataset);
}

/* Shows what is handed out, aligned unless nobody minds. EVALUE_END: it is corrupt, and left out. */
static inline evalue_status show(evalue_dataset *dataset, struct evalue_shuffler *s, const evalue_held_example *chosen,
                                 evalue_example *example) {
  if (chosen->is_place) return evalue_files_fetch(dataset->input, chosen, example, dataset);
  evalue_held_show(chosen, example);
  if (chosen->block == NULL || dataset->may_misalign != 0) return EVALUE_OK;
  evalue_status status = evalue_held_keep(&s->aligned, example, dataset);
  if (status == EVALUE_OK) evalue_held_show(&s->aligned, example);
  return status;
}

/* Reads until the buffer is full, or the input ends. */
static evalue_status fill(evalue_dataset *dataset, struct evalue_shuffler *s) {
  while (s->count < s->buffer && s->bytes < s->max_bytes) {
    evalue_status status = read_one(dataset, s, s->held[s->count]);
    if (status == EVALUE_END) return EVALUE_OK;
    if (status != EVALUE_OK) return status;
    s->bytes += s->held[s->count++]->size;
  }
  return EVALUE_OK;
}

/*
 * What is handed out next was put there long ago, and is in no cache. With a full buffer its number can be known, so
 * its first bytes are asked for now, and of the one after it the place where those are found.
 */
static void look_ahead(struct evalue_shuffler *s) {
  enum { CACHE = 256 << 10 };
  /* It will be when the next one has been read. A small one is in the cache. */
  bool is_full = s->count + 1 == s->buffer && s->bytes > CACHE;
  uint64_t random = s->random;
  if (!is_full) {
    s->looks_ahead = false;
    return;
  }
  if (s->looks_ahead) s->random = s->ahead_random;
  uint32_t next = s->looks_ahead ? s->ahead : draw_below(s, (uint32_t)s->buffer);
  s->ahead = draw_below(s, (uint32_t)s->buffer);
  s->ahead_random = s->random;
  s->looks_ahead = true;
  s->random = random;
#if defined(__GNUC__)
  const uint8_t *data = s->held[next]->data;
  __builtin_prefetch(s->held[s->ahead]);
  if (data == NULL || s->held[next]->size < 4 * 64) return;
  for (size_t i = 0; i < 4; i++) __builtin_prefetch(data + i * 64);
#endif
}

static evalue_status shuffle_next(evalue_dataset *dataset, evalue_example *example) {
  struct evalue_shuffler *s = shuffler_of(dataset);
  for (;;) {
    evalue_status status = fill(dataset, s);
    if (status != EVALUE_OK) return status;
    if (s->count == 0) return EVALUE_END;
    uint32_t number = draw_below(s, (uint32_t)s->count);
    evalue_held_example *chosen = s->held[number];
    s->count--;
    s->held[number] = s->held[s->count];
    s->held[s->count] = chosen; /* where it stays until the next one is read */
    s->bytes -= chosen->size;
    status = show(dataset, s, chosen, example);
    look_ahead(s);
    if (status != EVALUE_END) return status;
  }
}

static evalue_status shuffle_rewind(evalue_dataset *dataset) {
  struct evalue_shuffler *s = shuffler_of(dataset);
  s->count = 0;
  s->bytes = 0;
  s->epoch++;
  start_random(s);
  return EVALUE_OK;
}

static evalue_status shuffle_state(evalue_dataset *dataset, evalue_dataset_state *state) {
  struct evalue_shuffler *s = shuffler_of(dataset);
  uint64_t count = s->count;
  evalue_state_same(state, "buffer", s->buffer);
  evalue_state_same(state, "seed", s->seed);
  evalue_state_same(state, "max_bytes", s->max_bytes);
  evalue_state_same(state, "same_order", s->has_same_order);
  evalue_state_u64(state, "epoch", &s->epoch);
  evalue_state_u64(state, "random", &s->random);
  evalue_status status = evalue_state_u64(state, "examples that wait", &count);
  if (status == EVALUE_OK && count > s->buffer) {
    return evalue_state_fail(state, "examples that wait", "no more than the buffer has", count);
  }
  if (evalue_state_is_restoring(state)) {
    s->bytes = 0;
    s->looks_ahead = false;
  }
  for (uint64_t i = 0; i < count && status == EVALUE_OK; i++) {
    status = evalue_held_state(s->held[i], &s->names, state);
    if (status == EVALUE_OK && s->held[i]->is_place && s->files == NULL) {
      status = evalue_state_fail(state, "kind of example", "one for a source that is no file", i);
    }
    if (evalue_state_is_restoring(state)) s->bytes += s->held[i]->size;
  }
  if (status == EVALUE_OK) s->count = count;
  return status;
}

static void shuffle_close(evalue_dataset *dataset) {
  struct evalue_shuffler *s = shuffler_of(dataset);
  if (s == NULL) return;
  for (uint64_t i = 0; s->memory != NULL && i < s->buffer; i++) evalue_held_free(&s->memory[i]);
  evalue_held_free(&s->aligned);
  evalue_names_free(&s->names);
  free(s->memory);
  free(s->held);
  free(s);
}

/* Makes the buffer; false without memory. */
static bool make_buffer(struct evalue_shuffler *s, uint64_t buffer) {
  s->memory = (evalue_held_example *)evalue_dataset_allocate_array(buffer, sizeof *s->memory);
  s->held = evalue_held_allocate_list(buffer);
  if (s->memory == NULL || s->held == NULL) return false;
  for (uint64_t i = 0; i < buffer; i++) s->held[i] = &s->memory[i];
  return true;
}

evalue_status evalue_shuffle_dataset_init(evalue_shuffle_dataset *d, evalue_dataset *input, uint64_t buffer,
                                          uint64_t seed, const evalue_shuffle_options *options) {
  static const evalue_shuffle_options defaults;
  static const evalue_dataset_functions functions = {.name = "shuffle",
                                                     .next = shuffle_next,
                                                     .rewind = shuffle_rewind,
                                                     .state = shuffle_state,
                                                     .close = shuffle_close};
  if (d == NULL) return EVALUE_MISUSE;
  memset(d, 0, sizeof *d);
  evalue_status status = evalue_dataset_start(&d->dataset, &functions, input);
  if (status != EVALUE_OK) return status;
  if (options == NULL) options = &defaults;
  bool is_good = evalue_dataset_size_is_known(options->size, sizeof *options) && options->same_order <= 1;
  if (!is_good) return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its options are none");
  if (buffer == 0 || buffer > UINT32_MAX) {
    return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its buffer is not from 1 to 2^32 - 1");
  }
  struct evalue_shuffler *s = (struct evalue_shuffler *)calloc(1, sizeof *s);
  d->shuffler = s;
  if (s == NULL || !make_buffer(s, buffer)) return evalue_dataset_break_memory(&d->dataset);
  s->files = evalue_files_of(input);
  s->buffer = buffer;
  s->max_bytes = options->max_bytes != 0 ? options->max_bytes : UINT64_MAX;
  s->seed = seed;
  s->has_same_order = options->same_order != 0;
  start_random(s);
  return EVALUE_OK;
}
