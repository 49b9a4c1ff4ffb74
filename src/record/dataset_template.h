/* SPDX-License-Identifier: BSD-3-Clause */
/* What dataset_template.c and dataset_decode.c share. */
#ifndef EVALUE_DATASET_TEMPLATE_H
#define EVALUE_DATASET_TEMPLATE_H

#include "dataset_internal.h"

/*
 * What a message was like that was decoded: the bytes that say what is where, and where the others are. A message of
 * the same size with the same bytes has the same values, but for what is in those others. The values of the one before
 * need a few numbers changed, and that takes a fraction of the time of decoding.
 */
enum {
  EVALUE_TEMPLATE_VALUES = 16,
  EVALUE_TEMPLATE_SPANS = 2 * EVALUE_TEMPLATE_VALUES + 1,
  EVALUE_TEMPLATE_BYTES = 1024
};

typedef struct evalue_template {
  size_t size; /* of the message; 0: there is no template */
  size_t spans, values;
  struct {
    size_t at, length; /* in the message */
  } span[EVALUE_TEMPLATE_SPANS];
  size_t payload[EVALUE_TEMPLATE_VALUES]; /* where each value's is: for a tensor its data */
  size_t byte_count;
  uint8_t bytes[EVALUE_TEMPLATE_BYTES]; /* of all spans, one after the other */
} evalue_template;

/* Makes a template of a message that is good; or none, when it is too long or has too many values. */
void evalue_template_make(evalue_template *t, const uint8_t *message, size_t size);

/* Says whether a message is like the template, and then brings the values of the one before it up to date. */
bool evalue_template_apply(const evalue_template *t, const uint8_t *message, size_t size, evalue *values);

#endif
