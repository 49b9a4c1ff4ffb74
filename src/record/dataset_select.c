/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages that pass some of the examples on: take, skip, shard. */
#include "dataset_internal.h"

static evalue_select_dataset *select_of(evalue_dataset *dataset) {
  return (evalue_select_dataset *)(void *)dataset;
}

static evalue_status select_next(evalue_dataset *dataset, evalue_example *example) {
  evalue_select_dataset *d = select_of(dataset);
  if (d->passed == d->most) return EVALUE_END; /* without reading further */
  for (;;) {
    evalue_status status = evalue_dataset_next(dataset->input, example);
    if (status != EVALUE_OK) return status;
    uint64_t number = d->seen++;
    if (number < d->first || (number - d->first) % d->step != 0) continue;
    d->passed++;
    return EVALUE_OK;
  }
}

static evalue_status select_rewind(evalue_dataset *dataset) {
  evalue_select_dataset *d = select_of(dataset);
  d->seen = 0;
  d->passed = 0;
  return EVALUE_OK;
}

static evalue_status select_state(evalue_dataset *dataset, evalue_dataset_state *state) {
  evalue_select_dataset *d = select_of(dataset);
  evalue_state_same(state, "first", d->first);
  evalue_state_same(state, "step", d->step);
  evalue_state_same(state, "most", d->most);
  evalue_state_u64(state, "seen", &d->seen);
  return evalue_state_u64(state, "passed", &d->passed);
}

/* Starts a stage that passes number first, first + step, ... on, `most` of them. */
static evalue_status start(evalue_select_dataset *d, const evalue_dataset_functions *functions, evalue_dataset *input,
                           uint64_t first, uint64_t step, uint64_t most) {
  if (d == NULL) return EVALUE_MISUSE;
  memset(d, 0, sizeof *d);
  d->first = first;
  d->step = step;
  d->most = most;
  return evalue_dataset_start(&d->dataset, functions, input);
}

evalue_status evalue_take_dataset_init(evalue_select_dataset *d, evalue_dataset *input, uint64_t n) {
  static const evalue_dataset_functions functions = {
      .name = "take", .next = select_next, .rewind = select_rewind, .state = select_state};
  return start(d, &functions, input, 0, 1, n);
}

evalue_status evalue_skip_dataset_init(evalue_select_dataset *d, evalue_dataset *input, uint64_t n) {
  static const evalue_dataset_functions functions = {
      .name = "skip", .next = select_next, .rewind = select_rewind, .state = select_state};
  return start(d, &functions, input, n, 1, UINT64_MAX);
}

evalue_status evalue_shard_dataset_init(evalue_select_dataset *d, evalue_dataset *input, uint64_t worker, uint64_t of) {
  static const evalue_dataset_functions functions = {
      .name = "shard", .next = select_next, .rewind = select_rewind, .state = select_state};
  evalue_status status = start(d, &functions, input, worker, of, UINT64_MAX);
  if (status != EVALUE_OK || worker < of) return status;
  return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "the worker's number is not below the number of workers");
}
