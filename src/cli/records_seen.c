/* SPDX-License-Identifier: BSD-3-Clause */
/* Which values records have: what is the same in all of them, and what varies. */
#include <string.h>

#include "records.h"

enum { SEVERAL = UINT8_MAX };

/* ---- looking ---- */

static records_seen_value see(const evalue *value) {
  records_seen_value v;
  memset(&v, 0, sizeof v);
  v.tag = value->tag;
  if (value->tag != EVALUE_TAG_TENSOR) return v;
  v.scalar_type = value->tensor.scalar_type;
  v.ndim = value->tensor.ndim;
  memcpy(v.sizes, value->tensor.sizes, value->tensor.ndim * sizeof v.sizes[0]);
  return v;
}

static void merge_tensors(records_seen_value *to, const records_seen_value *from) {
  if (from->is_any_type || to->scalar_type != from->scalar_type) to->is_any_type = true;
  if (from->is_any_ndim || to->ndim != from->ndim) to->is_any_ndim = true;
  for (int d = 0; d < EVALUE_MAX_NDIM; d++) {
    if (to->sizes[d] != from->sizes[d]) to->sizes[d] = -1;
  }
}

static void merge_value(records_seen_value *to, const records_seen_value *from) {
  bool may_be_none = to->may_be_none || from->may_be_none;
  if (to->tag != from->tag && to->tag == EVALUE_TAG_NONE) {
    *to = *from;
    may_be_none = true;
  } else if (to->tag != from->tag && from->tag == EVALUE_TAG_NONE) {
    may_be_none = true;
  } else if (to->tag != from->tag) {
    to->tag = SEVERAL;
  } else if (to->tag == EVALUE_TAG_TENSOR) {
    merge_tensors(to, from);
  }
  to->may_be_none = may_be_none;
}

void records_seen_merge(records_seen *seen, const records_seen *other) {
  if (other->messages == 0) return;
  if (seen->messages == 0) {
    *seen = *other;
    return;
  }
  if (other->count != seen->count || other->has_more) seen->has_more = true;
  if (other->count < seen->count) seen->count = other->count;
  for (size_t i = 0; i < seen->count; i++) merge_value(&seen->values[i], &other->values[i]);
  seen->messages += other->messages;
}

void records_seen_add(records_seen *seen, const evalue_record *record) {
  evalue_reader reader;
  evalue value;
  records_seen one = {.messages = 1};
  evalue_status status = evalue_reader_init(&reader, record->data, record->size, NULL);
  while (status == EVALUE_OK) {
    status = evalue_reader_next(&reader, &value);
    if (status != EVALUE_OK) break;
    one.has_more = one.count == RECORDS_MOST_SEEN;
    if (one.has_more) break;
    one.values[one.count++] = see(&value);
  }
  records_seen_merge(seen, &one);
}

/* ---- printing ---- */

static void print_tensor(const records_seen_value *v, FILE *stream) {
  fputs(v->is_any_type ? "?" : evalue_scalar_type_name(v->scalar_type), stream);
  putc('[', stream);
  if (v->is_any_ndim) fputs("...", stream);
  for (int d = 0; d < v->ndim && !v->is_any_ndim; d++) {
    if (d != 0) putc(',', stream);
    if (v->sizes[d] < 0) putc('?', stream);
    else fprintf(stream, "%d", (int)v->sizes[d]);
  }
  putc(']', stream);
}

void records_seen_print(const records_seen *seen, FILE *stream) {
  for (size_t i = 0; i < seen->count; i++) {
    const records_seen_value *v = &seen->values[i];
    if (i != 0) fputs(", ", stream);
    if (v->tag == EVALUE_TAG_TENSOR) print_tensor(v, stream);
    else fputs(v->tag == SEVERAL ? "?" : evalue_tag_name(v->tag), stream);
    if (v->may_be_none && v->tag != SEVERAL) fputs(" or None", stream);
  }
  if (seen->has_more) fputs(seen->count != 0 ? ", ..." : "...", stream);
  else if (seen->messages != 0 && seen->count == 0) fputs("no values", stream);
}
