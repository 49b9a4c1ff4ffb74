/* SPDX-License-Identifier: BSD-3-Clause */
/* Examples that wait: copies of their messages, or, of what never was one, a message made of it. */
#include <stdlib.h>

#include "dataset_internal.h"

/* ---- memory ---- */

uint8_t *evalue_dataset_allocate(size_t nbytes) {
  void *memory = NULL;
  if (nbytes > SIZE_MAX / 2 - EVALUE_DATASET_SLACK) return NULL;
  if (posix_memalign(&memory, EVALUE_DATASET_ALIGNMENT, nbytes + EVALUE_DATASET_SLACK) != 0) return NULL;
  return (uint8_t *)memory;
}

void *evalue_dataset_allocate_array(uint64_t n, size_t element_size) {
  if (n > SIZE_MAX / 2 / element_size) return NULL;
  return calloc(n == 0 ? 1 : (size_t)n, element_size);
}

/* Room for nbytes bytes, and not for many more, so that what waits takes the memory that it needs. */
static bool make_room(evalue_held_example *held, uint64_t nbytes) {
  bool is_right = held->memory != NULL && held->capacity >= nbytes && held->capacity / 2 <= nbytes + 512;
  if (is_right) return true;
  free(held->memory);
  held->memory = nbytes <= SIZE_MAX / 4 ? evalue_dataset_allocate((size_t)nbytes) : NULL;
  held->capacity = held->memory != NULL ? (size_t)nbytes : 0;
  return held->memory != NULL;
}

/* Makes values of the message. */
static evalue_status decode(evalue_held_example *held, evalue_dataset *dataset) {
  evalue_error error;
  uint64_t n = 0;
  evalue_status status =
      evalue_message_decode(held->memory, held->size, NULL, held->values, held->value_capacity, &n, &error);
  if (status == EVALUE_NO_SPACE) {
    free(held->values);
    held->values = (evalue *)evalue_dataset_allocate_array(n, sizeof *held->values);
    held->value_capacity = held->values != NULL ? (size_t)n : 0;
    if (held->values == NULL) return evalue_dataset_fail_memory(dataset);
    status = evalue_message_decode(held->memory, held->size, NULL, held->values, held->value_capacity, &n, &error);
  }
  held->count = (size_t)n;
  evalue_example example = {.source = held->source, .index = held->index};
  return status == EVALUE_OK ? status : evalue_dataset_fail_fault(dataset, &example, &error);
}

/* Makes a message of values, with data aligned as in a batch. */
static evalue_status encode(evalue_held_example *held, const evalue_example *example, evalue_dataset *dataset) {
  uint64_t size = 0;
  evalue_status status = evalue_message_size(example->values, example->count, EVALUE_DATASET_ALIGNMENT, &size);
  if (status != EVALUE_OK) {
    return evalue_dataset_fail(dataset, status, example, EVALUE_NO_INDEX, "its values are no good message: %s",
                               evalue_status_message((int32_t)status));
  }
  if (!make_room(held, size)) return evalue_dataset_fail_memory(dataset);
  evalue_message_encode(example->values, example->count, EVALUE_DATASET_ALIGNMENT, held->memory, held->capacity, &size);
  held->size = (size_t)size;
  return EVALUE_OK;
}

/* ---- one example ---- */

evalue_status evalue_held_keep(evalue_held_example *held, const evalue_example *example, evalue_dataset *dataset) {
  evalue_held_let_go(held);
  held->was_message = example->bytes.data != NULL;
  held->is_decoded = example->values != NULL;
  held->source = example->source;
  held->index = example->index;
  held->count = 0;
  if (held->was_message) {
    if (!make_room(held, example->bytes.size)) return evalue_dataset_fail_memory(dataset);
    held->size = example->bytes.size;
    evalue_copy_bytes(held->memory, example->bytes.data, held->size);
  } else {
    evalue_status status = encode(held, example, dataset);
    if (status != EVALUE_OK) return status;
  }
  held->data = held->memory;
  return held->is_decoded ? decode(held, dataset) : EVALUE_OK;
}

void evalue_held_forget_memory(evalue_held_example *held) {
  free(held->memory);
  held->memory = NULL;
  held->capacity = 0;
}

void evalue_held_place(evalue_held_example *held, const evalue_example *example, const evalue_place *place) {
  evalue_held_let_go(held);
  evalue_held_forget_memory(held);
  held->was_message = true;
  held->is_decoded = false;
  held->is_place = true;
  held->place = *place;
  held->data = NULL;
  held->size = example->bytes.size;
  held->count = 0;
  held->source = example->source;
  held->index = example->index;
}

void evalue_held_show(const evalue_held_example *held, evalue_example *example) {
  static const evalue none[1]; /* not NULL: decoded, but there are no values */
  example->bytes.data = held->was_message ? held->data : NULL;
  example->bytes.size = held->was_message ? held->size : 0;
  example->values = NULL;
  if (held->is_decoded) example->values = held->count != 0 ? held->values : none;
  example->count = held->count;
  example->source = held->source;
  example->index = held->index;
}

void evalue_held_free(evalue_held_example *held) {
  evalue_held_let_go(held);
  free(held->memory);
  free(held->values);
  memset(held, 0, sizeof *held);
}

evalue_held_example **evalue_held_allocate_list(uint64_t n) {
  enum { ELEMENT = sizeof(evalue_held_example *) }; /* NOLINT(bugprone-sizeof-expression) */
  return (evalue_held_example **)evalue_dataset_allocate_array(n, ELEMENT);
}

/* ---- names ---- */

/* Returns a copy of a name that stays; NULL without memory. */
static const char *name_of(evalue_names *names, evalue_slice name) {
  for (size_t i = names->count; i > 0; i--) { /* the last one is the likeliest */
    const char *known = names->names[i - 1];
    if (strlen(known) == name.size && memcmp(known, name.data, name.size) == 0) return known;
  }
  char **list = realloc(names->names, (names->count + 1) * sizeof *list);
  if (list == NULL) return NULL;
  names->names = list;
  char *copy = (char *)malloc(name.size + 1);
  if (copy == NULL) return NULL;
  evalue_copy_bytes(copy, name.data, name.size);
  copy[name.size] = '\0';
  list[names->count++] = copy;
  return copy;
}

void evalue_names_free(evalue_names *names) {
  for (size_t i = 0; i < names->count; i++) free(names->names[i]);
  free(names->names);
  memset(names, 0, sizeof *names);
}

/* ---- states ---- */

enum { WAS_MESSAGE = 1, IS_DECODED = 2, HAS_SOURCE = 4, IS_PLACE = 8 };

/* Fills what is held from a state. */
static evalue_status restore(evalue_held_example *held, evalue_names *names, evalue_dataset_state *state,
                             uint64_t flags, evalue_slice source, evalue_slice message) {
  const char *name = (flags & HAS_SOURCE) != 0 ? name_of(names, source) : NULL;
  bool is_short = (flags & HAS_SOURCE) != 0 && name == NULL;
  if (is_short || !make_room(held, message.size)) {
    state->status = (int32_t)evalue_dataset_fail_memory(state->dataset);
    return EVALUE_IO;
  }
  held->source = name;
  held->was_message = (flags & WAS_MESSAGE) != 0;
  held->is_decoded = (flags & IS_DECODED) != 0;
  held->count = 0;
  held->data = held->memory;
  held->size = message.size;
  evalue_copy_bytes(held->memory, message.data, message.size);
  if (held->is_decoded) state->status = (int32_t)decode(held, state->dataset);
  return (evalue_status)state->status;
}

/* Saves or restores a place; whether there is such a file shows when it is read. */
static evalue_status move_place(evalue_held_example *held, evalue_dataset_state *state) {
  evalue_place place = held->place;
  evalue_state_u64(state, "file of an example", &place.file);
  evalue_state_u64(state, "offset of an example", &place.offset);
  evalue_status status = evalue_state_u64(state, "size of an example", &place.size);
  if (status != EVALUE_OK || !evalue_state_is_restoring(state)) return status;
  bool is_good = place.size >= EVALUE_RECORD_FRAME_SIZE && place.size < SIZE_MAX;
  if (!is_good) return evalue_state_fail(state, "size of an example", "that of a record", place.size);
  held->place = place;
  held->size = (size_t)place.size - EVALUE_RECORD_FRAME_SIZE;
  held->source = NULL;
  held->was_message = true;
  held->is_decoded = false;
  held->is_place = true;
  return EVALUE_OK;
}

evalue_status evalue_held_state(evalue_held_example *held, evalue_names *names, evalue_dataset_state *state) {
  if (evalue_state_is_restoring(state)) evalue_held_let_go(held);
  bool has_source = held->source != NULL;
  uint64_t flags =
      (held->was_message ? WAS_MESSAGE : 0U) | (held->is_decoded ? IS_DECODED : 0U) | (has_source ? HAS_SOURCE : 0U);
  if (held->is_place) flags = IS_PLACE;
  evalue_slice source = {held->source, has_source ? strlen(held->source) : 0};
  evalue_slice message = {held->data, held->size};
  evalue_state_u64(state, "kind of example", &flags);
  evalue_status status = evalue_state_u64(state, "index of an example", &held->index);
  if (status == EVALUE_OK && flags == IS_PLACE) return move_place(held, state);
  evalue_state_bytes(state, "source of an example", &source);
  status = evalue_state_bytes(state, "an example", &message);
  if (status != EVALUE_OK || !evalue_state_is_restoring(state)) return status;
  bool is_some = (flags & (WAS_MESSAGE | IS_DECODED)) != 0;
  if (flags > (WAS_MESSAGE | IS_DECODED | HAS_SOURCE) || !is_some) {
    return evalue_state_fail(state, "kind of example", "1 to 8", flags);
  }
  return restore(held, names, state, flags, source, message);
}
