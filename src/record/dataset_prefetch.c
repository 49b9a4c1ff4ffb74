/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stage that reads ahead in a thread. The input belongs to the thread while is_reading is set, and to the callers
 * otherwise; the lock guards all else that both know. Who wants the input sets is_paused and waits for the thread to
 * finish its example; the next call that reads lets it go on.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "dataset_internal.h"

struct evalue_prefetcher {
  pthread_mutex_t lock;
  pthread_cond_t news; /* for the callers: there is an example, or a failure, or the thread rests */
  pthread_cond_t room; /* for the thread */
  pthread_t thread;
  evalue_dataset *input;
  evalue_dataset keeper;       /* the thread's: for failures of copying */
  evalue_held_example *memory; /* depth + 1 of them: those that wait, and the one that was handed out last */
  evalue_held_example **queue; /* a ring of depth: those that wait, the oldest at `first` */
  evalue_held_example **spare; /* a stack, so that no more of them get memory than are needed at once */
  evalue_held_example *handed; /* the one that was handed out last, or NULL */
  evalue_names names;
  uint64_t depth, first, count, spares;
  uint64_t bytes, max_bytes; /* bytes: of those that wait */
  int32_t status;            /* what comes after those that wait; EVALUE_OK: more */
  bool has_thread, is_reading, is_paused, is_closing;
};

static struct evalue_prefetcher *prefetcher_of(evalue_dataset *dataset) {
  return ((evalue_prefetch_dataset *)(void *)dataset)->prefetcher;
}

/* ---- the queue ---- */

static void push(struct evalue_prefetcher *p, evalue_held_example *held) {
  p->queue[(p->first + p->count) % p->depth] = held;
  p->count++;
  p->bytes += held->size;
}

static evalue_held_example *pop(struct evalue_prefetcher *p) {
  evalue_held_example *held = p->queue[p->first];
  p->first = (p->first + 1) % p->depth;
  p->count--;
  p->bytes -= held->size;
  return held;
}

/* ---- the thread ---- */

/* Reads one example. Without the lock: input, keeper and *held are the thread's now. */
static evalue_status read_one(struct evalue_prefetcher *p, evalue_held_example *held) {
  evalue_example example;
  memset(&p->keeper.error, 0, sizeof p->keeper.error);
  evalue_status status = evalue_dataset_next(p->input, &example);
  return status == EVALUE_OK ? evalue_held_keep(held, &example, &p->keeper) : status;
}

static bool may_read(const struct evalue_prefetcher *p) {
  return !p->is_paused && p->status == EVALUE_OK && p->count < p->depth && p->bytes < p->max_bytes;
}

static void *run(void *argument) {
  struct evalue_prefetcher *p = (struct evalue_prefetcher *)argument;
  pthread_mutex_lock(&p->lock);
  while (!p->is_closing) {
    if (!may_read(p)) {
      pthread_cond_wait(&p->room, &p->lock);
      continue;
    }
    evalue_held_example *held = p->spare[--p->spares];
    p->is_reading = true;
    pthread_mutex_unlock(&p->lock);
    evalue_status status = read_one(p, held);
    pthread_mutex_lock(&p->lock);
    p->is_reading = false;
    p->status = (int32_t)status;
    if (status == EVALUE_OK) push(p, held);
    else p->spare[p->spares++] = held;
    pthread_cond_signal(&p->news);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* Makes the thread rest, so that the input can be used; with the lock. */
static void pause_thread(struct evalue_prefetcher *p) {
  p->is_paused = true;
  while (p->is_reading) pthread_cond_wait(&p->news, &p->lock);
}

/* ---- the stage ---- */

static evalue_status start_thread(evalue_dataset *dataset, struct evalue_prefetcher *p) {
  int number = pthread_create(&p->thread, NULL, run, p);
  p->has_thread = number == 0;
  if (p->has_thread) return EVALUE_OK;
  errno = number;
  return evalue_dataset_fail(dataset, EVALUE_IO, NULL, EVALUE_NO_INDEX, "there is no thread: %s", strerror(number));
}

/* Waits for an example; with the lock. */
static evalue_status take(evalue_dataset *dataset, struct evalue_prefetcher *p, evalue_example *example) {
  if (p->handed != NULL) p->spare[p->spares++] = p->handed;
  p->handed = NULL;
  if (p->is_paused) {
    p->is_paused = false;
    pthread_cond_signal(&p->room);
  }
  while (p->count == 0 && p->status == EVALUE_OK) pthread_cond_wait(&p->news, &p->lock);
  if (p->count == 0) {
    if (evalue_dataset_has_failed(p->keeper.error.status)) dataset->error = p->keeper.error;
    return (evalue_status)p->status;
  }
  p->handed = pop(p);
  /* Not for each: it costs less to wake the thread for several. */
  if (p->count <= p->depth / 2 && p->bytes <= p->max_bytes / 2) pthread_cond_signal(&p->room);
  evalue_held_show(p->handed, example);
  return EVALUE_OK;
}

static evalue_status prefetch_next(evalue_dataset *dataset, evalue_example *example) {
  struct evalue_prefetcher *p = prefetcher_of(dataset);
  if (!p->has_thread) {
    evalue_status status = start_thread(dataset, p);
    if (status != EVALUE_OK) return status;
  }
  pthread_mutex_lock(&p->lock);
  evalue_status status = take(dataset, p, example);
  pthread_mutex_unlock(&p->lock);
  return status;
}

/* Forgets what waits; with the lock, while the thread rests. */
static void forget(struct evalue_prefetcher *p) {
  while (p->count > 0) p->spare[p->spares++] = pop(p);
  p->status = EVALUE_OK;
  memset(&p->keeper.error, 0, sizeof p->keeper.error);
}

static evalue_status prefetch_rewind(evalue_dataset *dataset) {
  struct evalue_prefetcher *p = prefetcher_of(dataset);
  pthread_mutex_lock(&p->lock);
  pause_thread(p);
  forget(p);
  pthread_mutex_unlock(&p->lock);
  return EVALUE_OK;
}

/* Saves what waits; with the lock, while the thread rests. */
static evalue_status save_queue(struct evalue_prefetcher *p, evalue_dataset_state *state) {
  evalue_status status = evalue_state_u64(state, "examples that wait", &p->count);
  for (uint64_t i = 0; i < p->count && status == EVALUE_OK; i++) {
    status = evalue_held_state(p->queue[(p->first + i) % p->depth], &p->names, state);
  }
  return status;
}

static evalue_status restore_queue(struct evalue_prefetcher *p, evalue_dataset_state *state) {
  uint64_t count = 0;
  evalue_status status = evalue_state_u64(state, "examples that wait", &count);
  if (status == EVALUE_OK && count > p->depth) {
    return evalue_state_fail(state, "examples that wait", "no more than it may hold", count);
  }
  forget(p);
  if (p->handed != NULL) p->spare[p->spares++] = p->handed;
  p->handed = NULL;
  for (uint64_t i = 0; i < count && status == EVALUE_OK; i++) {
    evalue_held_example *held = p->spare[p->spares - 1];
    status = evalue_held_state(held, &p->names, state);
    if (status != EVALUE_OK) break;
    p->spares--;
    push(p, held);
  }
  return status;
}

static evalue_status prefetch_state(evalue_dataset *dataset, evalue_dataset_state *state) {
  struct evalue_prefetcher *p = prefetcher_of(dataset);
  evalue_state_same(state, "most examples", p->depth);
  evalue_state_same(state, "max_bytes", p->max_bytes);
  pthread_mutex_lock(&p->lock);
  pause_thread(p);
  evalue_status status = evalue_state_is_restoring(state) ? restore_queue(p, state) : save_queue(p, state);
  pthread_mutex_unlock(&p->lock);
  return status;
}

static void free_all(struct evalue_prefetcher *p) {
  for (uint64_t i = 0; p->memory != NULL && i <= p->depth; i++) evalue_held_free(&p->memory[i]);
  free(p->memory);
  free(p->queue);
  free(p->spare);
  evalue_names_free(&p->names);
  free(p);
}

static void prefetch_close(evalue_dataset *dataset) {
  struct evalue_prefetcher *p = prefetcher_of(dataset);
  if (p == NULL) return;
  if (p->has_thread) {
    pthread_mutex_lock(&p->lock);
    p->is_closing = true;
    pthread_cond_signal(&p->room);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
  }
  pthread_cond_destroy(&p->room);
  pthread_cond_destroy(&p->news);
  pthread_mutex_destroy(&p->lock);
  free_all(p);
}

/* Makes room for the examples; false without memory. */
static bool make_queue(struct evalue_prefetcher *p, uint64_t depth) {
  p->depth = depth;
  p->memory = (evalue_held_example *)evalue_dataset_allocate_array(depth + 1, sizeof *p->memory);
  p->queue = evalue_held_allocate_list(depth);
  p->spare = evalue_held_allocate_list(depth + 1);
  if (p->memory == NULL || p->queue == NULL || p->spare == NULL) return false;
  for (p->spares = 0; p->spares <= depth; p->spares++) p->spare[p->spares] = &p->memory[p->spares];
  return true;
}

static bool make_locks(struct evalue_prefetcher *p) {
  if (pthread_mutex_init(&p->lock, NULL) != 0) return false;
  if (pthread_cond_init(&p->news, NULL) == 0) {
    if (pthread_cond_init(&p->room, NULL) == 0) return true;
    pthread_cond_destroy(&p->news);
  }
  pthread_mutex_destroy(&p->lock);
  return false;
}

/* Makes what the stage holds; NULL without memory. */
static struct evalue_prefetcher *make(uint64_t depth) {
  struct evalue_prefetcher *p = (struct evalue_prefetcher *)calloc(1, sizeof *p);
  if (p == NULL) return NULL;
  if (make_queue(p, depth) && make_locks(p)) return p;
  free_all(p);
  return NULL;
}

evalue_status evalue_prefetch_dataset_init(evalue_prefetch_dataset *d, evalue_dataset *input,
                                           const evalue_prefetch_options *options) {
  static const evalue_prefetch_options defaults;
  static const evalue_dataset_functions functions = {.name = "prefetch",
                                                     .next = prefetch_next,
                                                     .rewind = prefetch_rewind,
                                                     .state = prefetch_state,
                                                     .close = prefetch_close};
  if (d == NULL) return EVALUE_MISUSE;
  memset(d, 0, sizeof *d);
  evalue_status status = evalue_dataset_start(&d->dataset, &functions, input);
  if (status != EVALUE_OK) return status;
  if (options == NULL) options = &defaults;
  if (!evalue_dataset_size_is_known(options->size, sizeof *options)) {
    return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its options are none");
  }
  uint64_t depth = options->examples != 0 ? options->examples : 16;
  d->prefetcher = make(depth);
  if (d->prefetcher == NULL) return evalue_dataset_break_memory(&d->dataset);
  d->prefetcher->input = input;
  d->prefetcher->keeper.functions = &functions;
  d->prefetcher->keeper.self = &d->prefetcher->keeper;
  d->prefetcher->max_bytes = options->max_bytes != 0 ? options->max_bytes : 16U << 20;
  return EVALUE_OK;
}
