/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages that give their input again and again, and that tell how far it is. */
#include "dataset_internal.h"

/* ---- repeat ---- */

static evalue_repeat_dataset *repeat_of(evalue_dataset *dataset) {
  return (evalue_repeat_dataset *)(void *)dataset;
}

static evalue_status repeat_next(evalue_dataset *dataset, evalue_example *example) {
  evalue_repeat_dataset *d = repeat_of(dataset);
  for (;;) {
    evalue_status status = evalue_dataset_next(dataset->input, example);
    if (status == EVALUE_OK) d->given++;
    if (status != EVALUE_END) return status;
    bool is_last = d->times != 0 && d->epoch + 1 >= d->times;
    if (is_last || d->given == 0) return EVALUE_END; /* of nothing, not even for ever gives something */
    status = evalue_dataset_rewind(dataset->input);
    if (status != EVALUE_OK) return status;
    d->epoch++;
    d->given = 0;
  }
}

static evalue_status repeat_rewind(evalue_dataset *dataset) {
  evalue_repeat_dataset *d = repeat_of(dataset);
  d->epoch = 0;
  d->given = 0;
  return EVALUE_OK;
}

static evalue_status repeat_state(evalue_dataset *dataset, evalue_dataset_state *state) {
  evalue_repeat_dataset *d = repeat_of(dataset);
  evalue_state_same(state, "times", d->times);
  evalue_state_u64(state, "epoch", &d->epoch);
  return evalue_state_u64(state, "given", &d->given);
}

evalue_status evalue_repeat_dataset_init(evalue_repeat_dataset *d, evalue_dataset *input, uint64_t times) {
  static const evalue_dataset_functions functions = {
      .name = "repeat", .next = repeat_next, .rewind = repeat_rewind, .state = repeat_state};
  if (d == NULL) return EVALUE_MISUSE;
  memset(d, 0, sizeof *d);
  d->times = times;
  return evalue_dataset_start(&d->dataset, &functions, input);
}

/* ---- progress ---- */

static evalue_progress_dataset *progress_of(evalue_dataset *dataset) {
  return (evalue_progress_dataset *)(void *)dataset;
}

/* The bytes of an example: of its message, or of what its values hold. */
static uint64_t bytes_of(const evalue_example *example) {
  if (example->bytes.data != NULL) return example->bytes.size;
  uint64_t sum = 0;
  for (size_t i = 0; i < example->count; i++) {
    const evalue *value = &example->values[i];
    if (value->tag == EVALUE_TAG_TENSOR) sum += value->tensor.nbytes;
    else if (value->tag == EVALUE_TAG_STRING) sum += value->string.nbytes;
    else if (value->tag == EVALUE_TAG_INT || value->tag == EVALUE_TAG_DOUBLE) sum += 8;
    else if (value->tag == EVALUE_TAG_BOOL) sum += 1;
  }
  return sum;
}

static evalue_status progress_next(evalue_dataset *dataset, evalue_example *example) {
  evalue_progress_dataset *d = progress_of(dataset);
  evalue_status status = evalue_dataset_next(dataset->input, example);
  if (status == EVALUE_END) d->callback(d->context, d->examples, d->bytes, true);
  if (status != EVALUE_OK) return status;
  d->examples++;
  d->bytes += bytes_of(example);
  if (d->examples % d->every == 0) d->callback(d->context, d->examples, d->bytes, false);
  return EVALUE_OK;
}

static evalue_status progress_rewind(evalue_dataset *dataset) {
  evalue_progress_dataset *d = progress_of(dataset);
  d->examples = 0;
  d->bytes = 0;
  return EVALUE_OK;
}

static evalue_status progress_state(evalue_dataset *dataset, evalue_dataset_state *state) {
  evalue_progress_dataset *d = progress_of(dataset);
  evalue_state_u64(state, "examples", &d->examples);
  return evalue_state_u64(state, "bytes", &d->bytes);
}

evalue_status evalue_progress_dataset_init(evalue_progress_dataset *d, evalue_dataset *input, uint64_t every,
                                           evalue_progress_callback callback, void *context) {
  static const evalue_dataset_functions functions = {
      .name = "progress", .next = progress_next, .rewind = progress_rewind, .state = progress_state};
  if (d == NULL) return EVALUE_MISUSE;
  memset(d, 0, sizeof *d);
  d->every = every;
  d->callback = callback;
  d->context = context;
  evalue_status status = evalue_dataset_start(&d->dataset, &functions, input);
  bool is_good = every != 0 && callback != NULL;
  if (status != EVALUE_OK || is_good) return status;
  return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its callback is missing, or is never called");
}
