/* SPDX-License-Identifier: BSD-3-Clause */
/* A stage that reads from several inputs in turn. */
#include "dataset_internal.h"

static evalue_interleave_dataset *interleave_of(evalue_dataset *dataset) {
  return (evalue_interleave_dataset *)(void *)dataset;
}

static void go_on(evalue_interleave_dataset *d) {
  d->in_block = 0;
  d->current = d->current + 1 < d->dataset.input_count ? d->current + 1 : 0;
}

static evalue_status interleave_next(evalue_dataset *dataset, evalue_example *example) {
  evalue_interleave_dataset *d = interleave_of(dataset);
  for (size_t ended = 0; ended < dataset->input_count; ended++) {
    evalue_status status = evalue_dataset_next(dataset->inputs[d->current], example);
    if (status == EVALUE_OK && ++d->in_block == d->block) go_on(d);
    if (status != EVALUE_END) return status;
    go_on(d);
  }
  return EVALUE_END;
}

static evalue_status interleave_rewind(evalue_dataset *dataset) {
  evalue_interleave_dataset *d = interleave_of(dataset);
  d->current = 0;
  d->in_block = 0;
  return EVALUE_OK;
}

static evalue_status interleave_state(evalue_dataset *dataset, evalue_dataset_state *state) {
  evalue_interleave_dataset *d = interleave_of(dataset);
  uint64_t current = d->current;
  evalue_state_same(state, "number of inputs", dataset->input_count);
  evalue_state_same(state, "block", d->block);
  evalue_state_u64(state, "in block", &d->in_block);
  evalue_status status = evalue_state_u64(state, "current input", &current);
  if (status != EVALUE_OK) return status;
  if (current >= dataset->input_count) {
    return evalue_state_fail(state, "current input", "less than there are inputs", current);
  }
  if (d->in_block >= d->block) return evalue_state_fail(state, "in block", "less than a block", d->in_block);
  d->current = current;
  return EVALUE_OK;
}

evalue_status evalue_interleave_dataset_init(evalue_interleave_dataset *d, evalue_dataset *const *inputs, size_t n,
                                             uint64_t block) {
  static const evalue_dataset_functions functions = {
      .name = "interleave", .next = interleave_next, .rewind = interleave_rewind, .state = interleave_state};
  if (d == NULL) return EVALUE_MISUSE;
  memset(d, 0, sizeof *d);
  d->block = block;
  evalue_status status = evalue_dataset_init(&d->dataset, &functions, inputs, n);
  bool is_good = n != 0 && block != 0;
  if (status != EVALUE_OK || is_good) return status;
  return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "there are no inputs, or blocks without examples");
}
