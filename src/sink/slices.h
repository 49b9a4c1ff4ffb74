/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices as the lists that writev and sendmsg take. For this module and src/ipc. */
#ifndef EVALUE_SINK_SLICES_H
#define EVALUE_SINK_SLICES_H

#include <sys/uio.h>

#include "evalue/value.h"

/* A place in a list of slices: byte `at` of slice i. */
typedef struct evalue_slice_place {
  size_t i, at;
} evalue_slice_place;

/* Fills list, of `most` entries, with what follows the place; returns how many entries that takes, 0 at the end. */
int evalue_slices_fill(struct iovec *list, int most, const evalue_slice *slices, size_t n, evalue_slice_place place);

/* Moves the place forward by nbytes bytes, which are there. */
void evalue_slices_advance(const evalue_slice *slices, size_t n, evalue_slice_place *place, size_t nbytes);

#endif
