/* SPDX-License-Identifier: BSD-3-Clause */
/* A converter: its features by name, and its memory. */
#include <stdlib.h>

#include "tfexample_internal.h"

enum { ALIGNMENT = 64, BEHIND = 128 /* kernels read a little past a tensor's end */ };

evalue_status evalue_tfexample_reserve(evalue_tfexample_work *w, evalue_tfexample_memory *memory, uint64_t needed) {
  if (needed <= memory->capacity) return EVALUE_OK;
  uint64_t capacity = needed + needed / 4; /* examples that grow slowly do not allocate each time */
  void *data = NULL;
  free(memory->data);
  memory->data = NULL;
  memory->capacity = 0;
  if (capacity > SIZE_MAX - BEHIND || posix_memalign(&data, ALIGNMENT, (size_t)capacity + BEHIND) != 0) {
    return evalue_tfexample_fail_expecting(w, EVALUE_TFEXAMPLE_FAULT_MEMORY, EVALUE_NO_INDEX, needed, 0);
  }
  memory->data = data;
  memory->capacity = (size_t)capacity;
  return EVALUE_OK;
}

static int compare_features(const void *a, const void *b) {
  const evalue_tfexample_feature *x = *(const evalue_tfexample_feature *const *)a;
  const evalue_tfexample_feature *y = *(const evalue_tfexample_feature *const *)b;
  if (x->name_size != y->name_size) return x->name_size < y->name_size ? -1 : 1;
  int order = memcmp(x->name, y->name, x->name_size);
  if (order != 0) return order;
  return (x > y) - (x < y); /* the second of two is the later one */
}

/* Sorts the features, and looks for a name that is there twice. */
static evalue_status sort(evalue_tfexample *c, evalue_tfexample_error *error) {
  for (size_t i = 0; i < c->count; i++) c->sorted[i] = &c->features[i];
  qsort(c->sorted, c->count, sizeof(const evalue_tfexample_feature *), compare_features);
  for (size_t i = 1; i < c->count; i++) {
    const evalue_tfexample_feature *one = c->sorted[i - 1], *other = c->sorted[i];
    if (one->name_size != other->name_size || memcmp(one->name, other->name, one->name_size) != 0) continue;
    *error = evalue_tfexample_error_of(EVALUE_TFEXAMPLE_FAULT_NAME_TWICE);
    error->feature = (uint64_t)(other - c->features);
    return EVALUE_MISUSE;
  }
  return EVALUE_OK;
}

static bool options_are_good(const evalue_tfexample_options *options) {
  if (options == NULL) return true;
  return (options->size == 0 || options->size == sizeof *options) && options->round <= 1;
}

static evalue_status refuse(uint32_t fault, evalue_tfexample_error *error) {
  *error = evalue_tfexample_error_of(fault);
  return (evalue_status)error->status;
}

evalue_status evalue_tfexample_init(evalue_tfexample *converter, const evalue_tfexample_feature *features, size_t count,
                                    const evalue_tfexample_options *options, evalue_tfexample_error *error) {
  evalue_tfexample_error unused;
  if (error == NULL) error = &unused;
  *error = evalue_tfexample_error_of(EVALUE_TFEXAMPLE_FAULT_NONE);
  bool is_good = converter != NULL && features != NULL && count != 0 && options_are_good(options);
  if (!is_good) return refuse(EVALUE_TFEXAMPLE_FAULT_ARGUMENT, error);
  memset(converter, 0, sizeof *converter);
  converter->features = features;
  converter->count = count;
  converter->round = options != NULL ? options->round : 0;
  converter->sorted = calloc(count, sizeof(const evalue_tfexample_feature *));
  converter->places = calloc(count, sizeof *converter->places);
  evalue_status status;
  if (converter->sorted == NULL || converter->places == NULL) status = refuse(EVALUE_TFEXAMPLE_FAULT_MEMORY, error);
  else status = sort(converter, error);
  if (status != EVALUE_OK) evalue_tfexample_close(converter);
  return status;
}

void evalue_tfexample_close(evalue_tfexample *converter) {
  if (converter == NULL) return;
  free(converter->sorted);
  free(converter->places);
  free(converter->values.data);
  free(converter->copies.data);
  memset(converter, 0, sizeof *converter);
}
