/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelines of many shapes over the same examples, for tests that try all of them. */
#ifndef TESTS_DATASET_PIPELINES_H
#define TESTS_DATASET_PIPELINES_H

#include "dataset_support.h"

enum { EXAMPLES = 14, KINDS = 10, SHARDS = 3 };

static const char *const shard_names[SHARDS] = {"x-00000-of-00003.tfrecord", "x-00001-of-00003.tfrecord",
                                                "x-00002-of-00003.tfrecord"};

/* What a callback gives examples from. */
typedef struct giver {
  const examples *e;
  size_t at;
} giver;

static inline evalue_status give_next(void *context, evalue_slice *message) {
  giver *g = (giver *)context;
  if (g->at == g->e->count) return EVALUE_END;
  *message = g->e->slices[g->at++];
  return EVALUE_OK;
}

static inline evalue_status give_from(void *context, uint64_t index) {
  ((giver *)context)->at = (size_t)index;
  return EVALUE_OK;
}

static inline void tell_nobody(void *context, uint64_t n, uint64_t nbytes, bool is_over) {
  (void)context;
  (void)n;
  (void)nbytes;
  (void)is_over;
}

/* All that a pipeline may need. */
typedef struct pipeline {
  evalue_memory_dataset memory;
  evalue_callback_dataset callback;
  evalue_files_dataset files[SHARDS];
  evalue_select_dataset select;
  evalue_repeat_dataset repeat;
  evalue_interleave_dataset interleave;
  evalue_shuffle_dataset shuffle;
  evalue_decode_dataset decode;
  evalue_batch_dataset batch;
  evalue_prefetch_dataset prefetch;
  evalue_progress_dataset progress;
  evalue_dataset *inputs[SHARDS];
  giver giver;
  evalue_dataset *last;
} pipeline;

/* Three shards of 5, 1 and 8 examples. */
static inline folder write_shards(const examples *e) {
  folder f = new_folder();
  char path[128];
  write_records(path_in(&f, shard_names[0], path), e, 0, 5);
  write_records(path_in(&f, shard_names[1], path), e, 5, 1);
  write_records(path_in(&f, shard_names[2], path), e, 6, 8);
  return f;
}

static inline evalue_dataset *add_files(pipeline *p, const folder *f, uint32_t first, uint32_t step) {
  char pattern[128];
  const evalue_files_options options = {.first = first, .step = step};
  evalue_files_dataset_glob(&p->files[first], path_in(f, "x-*", pattern), &options);
  return &p->files[first].dataset;
}

static inline evalue_dataset *add_memory(pipeline *p, const examples *e) {
  evalue_memory_dataset_init(&p->memory, e->slices, e->count);
  return &p->memory.dataset;
}

static inline evalue_dataset *add_callback(pipeline *p, const examples *e, evalue_example_seek seek) {
  p->giver = (giver){e, 0};
  evalue_callback_dataset_init(&p->callback, give_next, seek, &p->giver);
  return &p->callback.dataset;
}

static inline evalue_dataset *add_shuffle(pipeline *p, evalue_dataset *input, uint64_t buffer) {
  evalue_shuffle_dataset_init(&p->shuffle, input, buffer, 42, NULL);
  return &p->shuffle.dataset;
}

static inline evalue_dataset *add_decode(pipeline *p, evalue_dataset *input) {
  evalue_decode_dataset_init(&p->decode, input, NULL, 0, NULL);
  return &p->decode.dataset;
}

static inline evalue_dataset *add_batch(pipeline *p, evalue_dataset *input, uint64_t n, uint32_t pad) {
  const evalue_batch_options options = {.pad = pad, .with_sizes = pad};
  evalue_batch_dataset_init(&p->batch, input, n, &options);
  return &p->batch.dataset;
}

static inline evalue_dataset *add_prefetch(pipeline *p, evalue_dataset *input, uint32_t n) {
  const evalue_prefetch_options options = {.examples = n};
  evalue_prefetch_dataset_init(&p->prefetch, input, &options);
  return &p->prefetch.dataset;
}

static inline evalue_dataset *add_interleaved_files(pipeline *p, const folder *f) {
  for (uint32_t i = 0; i < SHARDS; i++) p->inputs[i] = add_files(p, f, i, SHARDS);
  evalue_interleave_dataset_init(&p->interleave, p->inputs, SHARDS, 2);
  evalue_take_dataset_init(&p->select, &p->interleave.dataset, 11);
  evalue_repeat_dataset_init(&p->repeat, &p->select.dataset, 2);
  return &p->repeat.dataset;
}

static inline evalue_dataset *add_progress(pipeline *p, evalue_dataset *input) {
  evalue_progress_dataset_init(&p->progress, input, 1, tell_nobody, NULL);
  return &p->progress.dataset;
}

static inline evalue_dataset *add_repeat(pipeline *p, evalue_dataset *input, uint64_t times) {
  evalue_repeat_dataset_init(&p->repeat, input, times);
  return &p->repeat.dataset;
}

/* Makes the pipeline of a kind, whether all goes well or not; returns its last stage. */
static inline evalue_dataset *make_pipeline(pipeline *p, int kind, const examples *e, const folder *f) {
  switch (kind) {
    case 0: p->last = add_shuffle(p, add_memory(p, e), 4); break;
    case 1: p->last = add_batch(p, add_decode(p, add_shuffle(p, add_files(p, f, 0, 0), 5)), 3, 0); break;
    case 2: p->last = add_prefetch(p, add_files(p, f, 0, 0), 3); break;
    case 3:
      p->last = add_prefetch(p, add_batch(p, add_decode(p, add_shuffle(p, add_files(p, f, 0, 0), 8)), 3, 0), 2);
      break;
    case 4: p->last = add_shuffle(p, add_interleaved_files(p, f), 6); break;
    case 5:
      evalue_shard_dataset_init(&p->select, add_callback(p, e, NULL), 1, 2);
      p->last = add_progress(p, add_shuffle(p, add_decode(p, &p->select.dataset), 3));
      break;
    case 6:
      evalue_skip_dataset_init(&p->select, add_callback(p, e, give_from), 3);
      p->last = add_batch(p, add_decode(p, add_repeat(p, &p->select.dataset, 2)), 4, 1);
      break;
    case 7: p->last = add_shuffle(p, add_batch(p, add_decode(p, add_memory(p, e)), 2, 0), 3); break;
    case 8: p->last = add_prefetch(p, add_repeat(p, add_shuffle(p, add_memory(p, e), 30), 3), 5); break;
    default: p->last = add_decode(p, add_memory(p, e)); break;
  }
  return p->last;
}

/* Says whether a pipeline reads ahead, so that its state depends on how far a thread has come. */
static inline bool has_thread(int kind) {
  return kind == 2 || kind == 3 || kind == 8;
}

#endif
