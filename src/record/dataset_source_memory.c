/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources of examples that are in memory, or that a function gives. */
#include "dataset_internal.h"

/* A message of no bytes is one too many, not a batch: it is judged when it is decoded. */
static evalue_slice message_of(evalue_slice bytes) {
  static const uint8_t nothing[1];
  if (bytes.data == NULL) bytes.data = nothing;
  return bytes;
}

static void show(evalue_example *example, evalue_slice bytes, const char *source, uint64_t index) {
  memset(example, 0, sizeof *example);
  example->bytes = message_of(bytes);
  example->source = source;
  example->index = index;
}

/* ---- memory ---- */

static evalue_memory_dataset *memory_of(evalue_dataset *dataset) {
  return (evalue_memory_dataset *)(void *)dataset;
}

static evalue_status memory_next(evalue_dataset *dataset, evalue_example *example) {
  evalue_memory_dataset *d = memory_of(dataset);
  if (d->position == d->count) return EVALUE_END;
  show(example, d->messages[d->position], "memory", d->position);
  if (d->messages[d->position].data == NULL && example->bytes.size != 0) {
    return evalue_dataset_fail(dataset, EVALUE_MISUSE, example, EVALUE_NO_INDEX, "its bytes are missing");
  }
  d->position++;
  return EVALUE_OK;
}

static evalue_status memory_rewind(evalue_dataset *dataset) {
  memory_of(dataset)->position = 0;
  return EVALUE_OK;
}

static evalue_status memory_state(evalue_dataset *dataset, evalue_dataset_state *state) {
  evalue_memory_dataset *d = memory_of(dataset);
  uint64_t position = d->position;
  evalue_state_same(state, "number of messages", d->count);
  evalue_status status = evalue_state_u64(state, "position", &position);
  if (status != EVALUE_OK) return status;
  if (position > d->count) return evalue_state_fail(state, "position", "no more than there are messages", position);
  d->position = position;
  return EVALUE_OK;
}

evalue_status evalue_memory_dataset_init(evalue_memory_dataset *d, const evalue_slice *messages, size_t n) {
  static const evalue_dataset_functions functions = {
      .name = "memory", .next = memory_next, .rewind = memory_rewind, .state = memory_state};
  if (d == NULL) return EVALUE_MISUSE;
  memset(d, 0, sizeof *d);
  evalue_status status = evalue_dataset_init(&d->dataset, &functions, NULL, 0);
  if (status != EVALUE_OK) return status;
  if (messages == NULL && n != 0) return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its messages are missing");
  d->messages = messages;
  d->count = n;
  return EVALUE_OK;
}

/* ---- a callback ---- */

static evalue_callback_dataset *callback_of(evalue_dataset *dataset) {
  return (evalue_callback_dataset *)(void *)dataset;
}

/* Notes what a callback has returned, which may be anything. */
static evalue_status fail(evalue_callback_dataset *d, evalue_status status, const char *name) {
  evalue_example example = {.source = "callback", .index = d->given};
  if (!evalue_dataset_has_failed((int32_t)status)) status = EVALUE_MISUSE;
  return evalue_dataset_fail(&d->dataset, status, &example, EVALUE_NO_INDEX, "%s failed: %s", name,
                             evalue_status_message((int32_t)status));
}

static evalue_status callback_next(evalue_dataset *dataset, evalue_example *example) {
  evalue_callback_dataset *d = callback_of(dataset);
  evalue_slice bytes = {NULL, 0};
  evalue_status status = d->callback(d->context, &bytes);
  if (status == EVALUE_END) return EVALUE_END;
  if (status == EVALUE_OK && bytes.data == NULL && bytes.size != 0) status = EVALUE_MISUSE;
  if (status != EVALUE_OK) return fail(d, status, "the callback");
  show(example, bytes, "callback", d->given++);
  return EVALUE_OK;
}

static evalue_status seek_to(evalue_callback_dataset *d, uint64_t index) {
  evalue_status status = d->seek(d->context, index);
  if (status != EVALUE_OK) return fail(d, status, "seeking");
  d->given = index;
  return EVALUE_OK;
}

static evalue_status callback_rewind(evalue_dataset *dataset) {
  evalue_callback_dataset *d = callback_of(dataset);
  if (d->seek != NULL) return seek_to(d, 0);
  if (d->given == 0 && dataset->status == EVALUE_OK) return EVALUE_OK; /* it stands at the beginning */
  return evalue_dataset_fail(dataset, EVALUE_UNSUPPORTED, NULL, EVALUE_NO_INDEX,
                             "a callback without a function that seeks cannot start over");
}

/* Asks for examples that were given before the state was saved, and drops them. */
static evalue_status drop(evalue_callback_dataset *d, uint64_t until) {
  while (d->given < until) {
    evalue_example dropped;
    evalue_status status = callback_next(&d->dataset, &dropped);
    if (status == EVALUE_END) {
      return evalue_dataset_fail(&d->dataset, EVALUE_MALFORMED, NULL, EVALUE_NO_INDEX,
                                 "state: expected %llu examples or more, found %llu", (unsigned long long)until,
                                 (unsigned long long)d->given);
    }
    if (status != EVALUE_OK) return status;
  }
  return EVALUE_OK;
}

static evalue_status callback_state(evalue_dataset *dataset, evalue_dataset_state *state) {
  evalue_callback_dataset *d = callback_of(dataset);
  uint64_t given = d->given;
  evalue_status status = evalue_state_u64(state, "examples given", &given);
  if (status != EVALUE_OK || !evalue_state_is_restoring(state)) return status;
  if (d->seek != NULL) return seek_to(d, given);
  if (d->given == 0) return drop(d, given);
  return evalue_dataset_fail(dataset, EVALUE_UNSUPPORTED, NULL, EVALUE_NO_INDEX,
                             "a callback without a function that seeks can be restored only before its first example");
}

evalue_status evalue_callback_dataset_init(evalue_callback_dataset *d, evalue_example_callback callback,
                                           evalue_example_seek seek, void *context) {
  static const evalue_dataset_functions functions = {
      .name = "callback", .next = callback_next, .rewind = callback_rewind, .state = callback_state};
  if (d == NULL) return EVALUE_MISUSE;
  memset(d, 0, sizeof *d);
  evalue_status status = evalue_dataset_init(&d->dataset, &functions, NULL, 0);
  if (status != EVALUE_OK) return status;
  if (callback == NULL) return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its callback is missing");
  d->callback = callback;
  d->seek = seek;
  d->context = context;
  return EVALUE_OK;
}
