/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stage that makes one example of several. Without padding each goes to its place as it comes; with padding they wait
 * until the largest is known.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dataset_batch.h"

struct evalue_batcher {
  uint64_t n;
  evalue_batch_options options;
  evalue_column *columns; /* count of them */
  evalue *values;         /* the batch's: twice as many, for sizes */
  size_t count, capacity;
  uint8_t *memory; /* its own */
  uint64_t memory_size;
  evalue_held_example *held; /* n of them, with padding */
};

static evalue_batch_dataset *batch_of(evalue_dataset *dataset) {
  return (evalue_batch_dataset *)(void *)dataset;
}

/* ---- failures ---- */

/* Tells that a value is not what the batch's others are. */
static evalue_status fail(evalue_batch_dataset *d, const evalue_example *example, size_t i) {
  const evalue_column *c = &d->batcher->columns[i];
  char expected[200] = "", found[200];
  evalue first = {.tag = c->tag};
  if (c->tag == EVALUE_TAG_TENSOR) first = evalue_from_tensor(&c->row);
  evalue_schema_print_value(&first, expected, sizeof expected);
  evalue_schema_print_value(&example->values[i], found, sizeof found);
  bool are_strings = c->tag == EVALUE_TAG_STRING && example->values[i].tag == EVALUE_TAG_STRING;
  if (are_strings) {
    return evalue_dataset_fail(&d->dataset, EVALUE_MALFORMED, example, i,
                               "batch: expected a String of %ld bytes, found one of %zu", (long)c->row.sizes[0],
                               example->values[i].string.nbytes);
  }
  return evalue_dataset_fail(&d->dataset, EVALUE_MALFORMED, example, i, "batch: expected %s, found %s", expected,
                             found);
}

/* Checks that there are values, as many as the batch's first example has. */
static evalue_status check_count(evalue_batch_dataset *d, const evalue_example *example, bool is_first) {
  if (example->values == NULL) {
    return evalue_dataset_fail(&d->dataset, EVALUE_MISUSE, example, EVALUE_NO_INDEX,
                               "batch: expected values, found a message that is not decoded");
  }
  if (is_first || example->count == d->batcher->count) return EVALUE_OK;
  return evalue_dataset_fail(&d->dataset, EVALUE_MALFORMED, example, EVALUE_NO_INDEX,
                             "batch: expected %zu values, found %zu", d->batcher->count, example->count);
}

/* ---- the layout ---- */

static bool make_columns(struct evalue_batcher *b, size_t count) {
  b->count = count;
  if (b->columns != NULL && count <= b->capacity) return true;
  free(b->columns);
  free(b->values);
  b->capacity = count;
  b->columns = (evalue_column *)evalue_dataset_allocate_array(count, sizeof *b->columns);
  b->values = (evalue *)evalue_dataset_allocate_array(count, 2 * sizeof *b->values);
  if (b->columns != NULL && b->values != NULL) return true;
  free(b->columns);
  b->columns = NULL;
  return false;
}

/* Applies what the options say of a column's padding. */
static evalue_status prepare_padding(evalue_batch_dataset *d, const evalue_example *example, size_t i) {
  const evalue_batch_options *o = &d->batcher->options;
  evalue_column *c = &d->batcher->columns[i];
  const evalue *filler = i < o->filler_count ? &o->filler[i] : NULL;
  if (filler != NULL && filler->tag == EVALUE_TAG_TENSOR) {
    if (filler->tensor.scalar_type != c->row.scalar_type) {
      return evalue_dataset_fail(
          &d->dataset, EVALUE_MISUSE, example, i, "batch: expected a filler of %s, found one of %s",
          evalue_scalar_type_name(c->row.scalar_type), evalue_scalar_type_name(filler->tensor.scalar_type));
    }
    c->filler = (const uint8_t *)filler->tensor.data;
  }
  const evalue_schema_value *to = i < o->pad_to_count ? &o->pad_to[i] : NULL;
  bool is_fixed = to != NULL && to->tag == EVALUE_TAG_TENSOR && to->ndim != EVALUE_ANY;
  if (!is_fixed) return EVALUE_OK;
  if (to->ndim != c->row.ndim) {
    return evalue_dataset_fail(&d->dataset, EVALUE_MALFORMED, example, i,
                               "batch: expected %u dimensions to pad to, found %u", to->ndim, c->row.ndim);
  }
  for (uint32_t k = 0; k < to->ndim; k++) {
    if (to->sizes[k] == EVALUE_ANY_SIZE) continue;
    c->row.sizes[k] = to->sizes[k];
    c->is_fixed[k] = true;
  }
  return EVALUE_OK;
}

/* Starts the columns of a batch with its first example. */
static evalue_status start_columns(evalue_batch_dataset *d, const evalue_example *example) {
  struct evalue_batcher *b = d->batcher;
  evalue_status status = check_count(d, example, true);
  if (status != EVALUE_OK) return status;
  if (!make_columns(b, example->count)) return evalue_dataset_fail_memory(&d->dataset);
  for (size_t i = 0; i < b->count && status == EVALUE_OK; i++) {
    if (!evalue_column_start(&b->columns[i], &example->values[i])) {
      return evalue_dataset_fail(&d->dataset, EVALUE_UNSUPPORTED, example, i,
                                 "batch: expected less than 16 dimensions, or 2^31 bytes, found more");
    }
    if (b->options.pad != 0) status = prepare_padding(d, example, i);
  }
  return status;
}

/* Finds out how much memory n rows take; false for 2^62 bytes or more. */
static bool measure(const struct evalue_batcher *b, uint64_t *needed) {
  *needed = 0;
  for (size_t i = 0; i < b->count; i++) {
    uint64_t nbytes = 0, sizes = 0;
    evalue_column *c = &b->columns[i];
    evalue_column numbers = {.row = {.scalar_type = EVALUE_INT32, .ndim = 1, .sizes = {c->row.ndim}}, .tag = c->tag};
    bool is_good = evalue_column_nbytes(c, b->n, &nbytes) && evalue_column_nbytes(&numbers, b->n, &sizes);
    if (!is_good) return false;
    *needed += nbytes + (b->options.with_sizes != 0 ? sizes : 0);
    if (*needed >= EVALUE_SIZE_LIMIT) return false;
  }
  return true;
}

/* Memory for a batch; NULL for none. */
static uint8_t *memory_for(struct evalue_batcher *b, uint64_t needed) {
  if (b->memory != NULL && b->memory_size >= needed) return b->memory;
  free(b->memory);
  b->memory = needed <= SIZE_MAX / 4 ? evalue_dataset_allocate((size_t)needed) : NULL;
  b->memory_size = b->memory != NULL ? needed : 0;
  return b->memory;
}

/* Gives each column its place. */
static void place_columns(struct evalue_batcher *b, uint8_t *at) {
  for (size_t i = 0; i < b->count; i++) {
    evalue_column *c = &b->columns[i];
    uint64_t nbytes = 0, row = 1;
    evalue_column_nbytes(c, b->n, &nbytes);
    for (uint32_t k = 0; k < c->row.ndim; k++) row *= (uint32_t)c->row.sizes[k];
    c->row.nbytes = c->tag == EVALUE_TAG_NONE ? 0 : (size_t)row * evalue_element_size(c->row.scalar_type);
    c->data = at;
    at += nbytes;
  }
  for (size_t i = 0; i < b->count && b->options.with_sizes != 0; i++) {
    evalue_column *c = &b->columns[i];
    uint64_t nbytes = c->tag == EVALUE_TAG_NONE ? 0 : b->n * 4 * c->row.ndim;
    c->sizes = at;
    at += (nbytes + EVALUE_DATASET_ALIGNMENT - 1) / EVALUE_DATASET_ALIGNMENT * EVALUE_DATASET_ALIGNMENT;
  }
}

static evalue_status place(evalue_batch_dataset *d, const evalue_example *example) {
  struct evalue_batcher *b = d->batcher;
  uint64_t needed = 0;
  if (!measure(b, &needed)) {
    return evalue_dataset_fail(&d->dataset, EVALUE_LIMIT, example, EVALUE_NO_INDEX,
                               "batch: expected less than 2^62 bytes, found more");
  }
  d->needed = needed;
  uint8_t *memory = (uint8_t *)b->options.memory;
  if (memory != NULL && needed > b->options.memory_size) {
    return evalue_dataset_fail(&d->dataset, EVALUE_NO_SPACE, example, EVALUE_NO_INDEX,
                               "batch: expected %llu bytes of memory, found %zu", (unsigned long long)needed,
                               b->options.memory_size);
  }
  if (memory == NULL) memory = memory_for(b, needed);
  if (memory == NULL) return evalue_dataset_fail_memory(&d->dataset);
  place_columns(b, memory);
  return EVALUE_OK;
}

/* ---- filling it ---- */

/* Copies examples to their places as they come. *first: where the batch's first one came from. */
static evalue_status stack(evalue_batch_dataset *d, uint64_t *rows, evalue_example *first) {
  struct evalue_batcher *b = d->batcher;
  evalue_example example;
  for (*rows = 0; *rows < b->n; ++*rows) {
    evalue_status status = evalue_dataset_next(d->dataset.input, &example);
    if (status != EVALUE_OK) return status;
    if (*rows == 0) {
      *first = example;
      status = start_columns(d, &example);
      if (status == EVALUE_OK) status = place(d, &example);
    } else {
      status = check_count(d, &example, false);
    }
    if (status != EVALUE_OK) return status;
    for (size_t i = 0; i < b->count; i++) {
      if (!evalue_column_put_same(&b->columns[i], *rows, &example.values[i])) return fail(d, &example, i);
    }
  }
  return EVALUE_OK;
}

/* Collects examples, finds the largest sizes, and copies them. */
static evalue_status stack_padded(evalue_batch_dataset *d, uint64_t *rows, evalue_example *first) {
  struct evalue_batcher *b = d->batcher;
  evalue_status ended = EVALUE_OK;
  for (*rows = 0; *rows < b->n; ++*rows) {
    evalue_example example;
    ended = evalue_dataset_next(d->dataset.input, &example);
    if (ended == EVALUE_END) break;
    if (ended != EVALUE_OK) return ended;
    evalue_status status = *rows == 0 ? start_columns(d, &example) : check_count(d, &example, false);
    for (size_t i = 0; status == EVALUE_OK && i < b->count; i++) {
      if (!evalue_column_widen(&b->columns[i], &example.values[i])) status = fail(d, &example, i);
    }
    if (status == EVALUE_OK) status = evalue_held_keep(&b->held[*rows], &example, &d->dataset);
    if (status != EVALUE_OK) return status;
  }
  if (*rows == 0) return ended;
  evalue_held_show(&b->held[0], first);
  evalue_status status = place(d, first);
  if (status != EVALUE_OK) return status;
  for (size_t i = 0; i < b->count; i++) evalue_column_fill(&b->columns[i], *rows);
  for (uint64_t row = 0; row < *rows; row++) {
    for (size_t i = 0; i < b->count; i++) evalue_column_put(&b->columns[i], row, &b->held[row].values[i]);
  }
  return ended;
}

static evalue_status batch_next(evalue_dataset *dataset, evalue_example *example) {
  evalue_batch_dataset *d = batch_of(dataset);
  struct evalue_batcher *b = d->batcher;
  uint64_t rows = 0;
  evalue_status status = b->options.pad != 0 ? stack_padded(d, &rows, example) : stack(d, &rows, example);
  if (status != EVALUE_OK && status != EVALUE_END) return status;
  bool is_over = rows == 0 || (rows < b->n && b->options.drop_last != 0);
  if (is_over) return EVALUE_END;
  size_t count = b->options.with_sizes != 0 ? 2 * b->count : b->count;
  for (size_t i = 0; i < b->count; i++) evalue_column_show(&b->columns[i], rows, &b->values[i]);
  for (size_t i = b->count; i < count; i++) {
    evalue_column_show_sizes(&b->columns[i - b->count], rows, &b->values[i]);
  }
  example->bytes.data = NULL;
  example->bytes.size = 0;
  example->values = b->values;
  example->count = count;
  return EVALUE_OK;
}

/* ---- the stage ---- */

static evalue_status batch_state(evalue_dataset *dataset, evalue_dataset_state *state) {
  const struct evalue_batcher *b = batch_of(dataset)->batcher;
  evalue_state_same(state, "examples in a batch", b->n);
  evalue_state_same(state, "drop_last", b->options.drop_last);
  evalue_state_same(state, "with_sizes", b->options.with_sizes);
  return evalue_state_same(state, "pad", b->options.pad);
}

static void batch_close(evalue_dataset *dataset) {
  struct evalue_batcher *b = batch_of(dataset)->batcher;
  if (b == NULL) return;
  for (uint64_t i = 0; b->held != NULL && i < b->n; i++) evalue_held_free(&b->held[i]);
  free(b->held);
  free(b->columns);
  free(b->values);
  free(b->memory);
  free(b);
}

static bool fillers_are_good(const evalue *fillers, size_t n) {
  for (size_t i = 0; i < n; i++) {
    bool is_none = fillers[i].tag == EVALUE_TAG_NONE;
    bool is_element = fillers[i].tag == EVALUE_TAG_TENSOR && fillers[i].tensor.ndim == 0;
    if (evalue_check(&fillers[i]) != EVALUE_OK || !(is_none || is_element)) return false;
  }
  return true;
}

static bool options_are_good(const evalue_batch_options *o) {
  bool are_flags = o->drop_last <= 1 && o->pad <= 1 && o->with_sizes <= 1;
  bool is_aligned = (uintptr_t)o->memory % EVALUE_DATASET_ALIGNMENT == 0 && (o->memory != NULL || o->memory_size == 0);
  bool have_arrays = (o->filler != NULL || o->filler_count == 0) && (o->pad_to != NULL || o->pad_to_count == 0);
  bool has_padding = o->pad != 0 || (o->filler_count == 0 && o->pad_to_count == 0);
  return evalue_dataset_size_is_known(o->size, sizeof *o) && are_flags && is_aligned && have_arrays && has_padding &&
         fillers_are_good(o->filler, o->filler_count) && evalue_schema_is_good(o->pad_to, o->pad_to_count);
}

evalue_status evalue_batch_dataset_init(evalue_batch_dataset *d, evalue_dataset *input, uint64_t n,
                                        const evalue_batch_options *options) {
  static const evalue_batch_options defaults;
  static const evalue_dataset_functions functions = {
      .name = "batch", .next = batch_next, .state = batch_state, .close = batch_close};
  if (d == NULL) return EVALUE_MISUSE;
  memset(d, 0, sizeof *d);
  evalue_status status = evalue_dataset_start(&d->dataset, &functions, input);
  if (status != EVALUE_OK) return status;
  if (options == NULL) options = &defaults;
  if (n == 0 || n > INT32_MAX) {
    return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its size is not from 1 to 2^31 - 1");
  }
  if (!options_are_good(options)) return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its options are none");
  struct evalue_batcher *b = (struct evalue_batcher *)calloc(1, sizeof *b);
  d->batcher = b;
  if (b == NULL) return evalue_dataset_break_memory(&d->dataset);
  b->n = n;
  b->options = *options;
  evalue_dataset_allow_misaligned(input);
  if (options->pad == 0) return EVALUE_OK;
  b->held = (evalue_held_example *)evalue_dataset_allocate_array(n, sizeof *b->held);
  return b->held != NULL ? EVALUE_OK : evalue_dataset_break_memory(&d->dataset);
}
