/* SPDX-License-Identifier: BSD-3-Clause */
/* What dataset_batch.c and dataset_stack.c share: a batch is a column of rows for each value. */
#ifndef EVALUE_DATASET_BATCH_H
#define EVALUE_DATASET_BATCH_H

#include "dataset_internal.h"

/* All of one value in a batch. */
typedef struct evalue_column {
  evalue_tensor row; /* what a row is like: type and sizes, padding included; its data are those of no row */
  uint8_t tag;       /* the value's kind; for None there are no data */
  bool is_padded;    /* a row is smaller */
  bool is_fixed[EVALUE_MAX_NDIM]; /* sizes that pad_to has decided */
  const uint8_t *filler;          /* an element; NULL: zeros */
  uint8_t *data;
  uint8_t *sizes; /* of each row, before padding, int32; NULL: not wanted */
} evalue_column;

/* What a row is as a tensor: the value's own one, or one that is made of it in *made, with its bytes in bytes. */
const evalue_tensor *evalue_row_of(const evalue *value, evalue_tensor *made, uint8_t bytes[8]);

/* Makes a column for rows like this one; false when it cannot be stacked. */
bool evalue_column_start(evalue_column *column, const evalue *value);

/* Makes the column larger, if need be, so that a value can be a row; false when that cannot be. */
bool evalue_column_widen(evalue_column *column, const evalue *value);

/* Bytes of memory that n rows take, a multiple of EVALUE_DATASET_ALIGNMENT; false for 2^62 or more. */
bool evalue_column_nbytes(const evalue_column *column, uint64_t n, uint64_t *nbytes);

/* Copies a value, which the column takes, to its place among the rows. */
void evalue_column_put(const evalue_column *column, uint64_t number, const evalue *value);

/* The same, if the value is just like the column's rows; otherwise it is false. */
bool evalue_column_put_same(const evalue_column *column, uint64_t number, const evalue *value);

/* Fills n rows with padding, if any will be needed. */
void evalue_column_fill(const evalue_column *column, uint64_t n);

/* Shows n rows as one value; and their sizes before padding as another. */
void evalue_column_show(const evalue_column *column, uint64_t n, evalue *value);
void evalue_column_show_sizes(const evalue_column *column, uint64_t n, evalue *value);

#endif
