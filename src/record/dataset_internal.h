/* SPDX-License-Identifier: BSD-3-Clause */
/* What the data sets' files share; nobody else includes it. */
#ifndef EVALUE_DATASET_INTERNAL_H
#define EVALUE_DATASET_INTERNAL_H

#include "evalue/dataset.h"
#include "evalue/inline.h"

/* ---- dataset_core.c ---- */

/* evalue_dataset_init for one input. */
evalue_status evalue_dataset_start(evalue_dataset *dataset, const evalue_dataset_functions *functions,
                                   evalue_dataset *input);

/* evalue_dataset_next, but with another function in place of the data set's own. */
evalue_status evalue_dataset_next_by(evalue_dataset *dataset,
                                     evalue_status (*next)(evalue_dataset *dataset, evalue_example *example),
                                     evalue_example *example);

/*
 * Says that whoever reads from a data set copies all bytes before the next call, so that their alignment does not
 * matter; and passes that on to where it may.
 */
void evalue_dataset_allow_misaligned(evalue_dataset *dataset);

/* Says whether a size of options is one that is known. */
static inline bool evalue_dataset_size_is_known(uint32_t size, size_t known) {
  return size == 0 || size == known;
}

/* Says whether a status is a failure. */
static inline bool evalue_dataset_has_failed(int32_t status) {
  return status != EVALUE_OK && status != EVALUE_END;
}

/* For init: from now on the data set is there only to say this; text is what is wrong. Returns status. */
evalue_status evalue_dataset_break(evalue_dataset *dataset, evalue_status status, const char *text);
evalue_status evalue_dataset_break_memory(evalue_dataset *dataset);

/* evalue_dataset_fail for memory that is lacking. */
evalue_status evalue_dataset_fail_memory(evalue_dataset *dataset);

/* evalue_dataset_fail for a fault of an example's message, or of its record. */
evalue_status evalue_dataset_fail_fault(evalue_dataset *dataset, const evalue_example *example,
                                        const evalue_error *fault);

/* ---- dataset_held.c: examples that wait ---- */

/* At a multiple of this memory for examples begins, and each tensor of a batch; so many bytes more may be read. */
enum { EVALUE_DATASET_ALIGNMENT = 64, EVALUE_DATASET_SLACK = 128 };

/* Memory for nbytes bytes, aligned, and the slack behind it; NULL when there is none. To be freed by free. */
uint8_t *evalue_dataset_allocate(size_t nbytes);

/* An array of n elements, all zero; NULL when there is no memory. */
void *evalue_dataset_allocate_array(uint64_t n, size_t element_size);

/* Where an example is in the files of a source. */
typedef struct evalue_place {
  uint64_t file, offset, size; /* offset and size are the record's */
} evalue_place;

/*
 * An example that waits: a copy of it, or one that lies in a block that was read, or just the place that it will be
 * read from. All zero: none yet, and no memory.
 */
typedef struct evalue_held_example {
  const uint8_t *data; /* its message: in memory, or in the block */
  size_t size;         /* of the message, also where it is not read yet */
  const char *source;
  uint64_t index;
  bool was_message, is_decoded; /* what it was that is held: bytes, values, or both */
  bool is_place;
  struct evalue_block *block; /* NULL: none. Up to here it fits into a line of the cache. */
  size_t member;              /* its number there */
  uint8_t *memory;
  size_t capacity; /* of memory */
  evalue *values;
  size_t value_capacity, count;
  evalue_place place;
} evalue_held_example;

/* Copies an example. What was held before is lost. EVALUE_OK, or a failure of the data set. */
evalue_status evalue_held_keep(evalue_held_example *held, const evalue_example *example, evalue_dataset *dataset);

/* Frees its memory, which may be that of a large example before. */
void evalue_held_forget_memory(evalue_held_example *held);

/* Holds the place of an example, which has no bytes yet. */
void evalue_held_place(evalue_held_example *held, const evalue_example *example, const evalue_place *place);

/* Leaves the block, if it lies in one; after that it holds nothing. In dataset_blocks.c. */
void evalue_held_let_go(evalue_held_example *held);

/* Shows what is held as an example; not of a place. */
void evalue_held_show(const evalue_held_example *held, evalue_example *example);

void evalue_held_free(evalue_held_example *held);

/* A list of n pointers to examples; NULL without memory. */
evalue_held_example **evalue_held_allocate_list(uint64_t n);

/* Names of sources that came out of a saved state, each once. All zero: none. */
typedef struct evalue_names {
  char **names;
  size_t count;
} evalue_names;

void evalue_names_free(evalue_names *names);

/* Saves or restores what is held. */
evalue_status evalue_held_state(evalue_held_example *held, evalue_names *names, evalue_dataset_state *state);

/* ---- dataset_state.c ---- */

struct evalue_dataset_state {
  evalue_dataset *dataset; /* whose values come now, and whose the failure is */
  evalue *values;
  size_t count, capacity; /* saving: values so far */
  size_t position, end;   /* restoring: the next value, and where the data set's values end */
  int32_t status;         /* the first failure */
  bool is_restoring;
};

/* Notes a failure of the data set whose values come now; text as in evalue_dataset_fail. Returns the first one. */
evalue_status evalue_state_fail(evalue_dataset_state *state, const char *name, const char *expected, uint64_t found);

/* ---- dataset_schema.c ---- */

/* Says whether a schema is one. */
bool evalue_schema_is_good(const evalue_schema_value *schema, size_t n);

/* Prints a value's kind, type and sizes, "Tensor float32 [3, 4]", as evalue_print does. */
size_t evalue_schema_print_value(const evalue *value, char *text, size_t capacity);

#endif
