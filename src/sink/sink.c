/* SPDX-License-Identifier: BSD-3-Clause */
/* What all sinks have in common: records, alignment, poison, and that a sink stays where it is. */
#include "evalue/log.h"
#include "sink_internal.h"

/* ---- state ---- */

static bool is_usable(const evalue_sink *s) {
  return s != NULL && s->self == s && s->functions != NULL;
}

evalue_status evalue_sink_fail(evalue_sink *s, evalue_status status) {
  if (is_usable(s)) s->status = (int32_t)status;
  return status;
}

/* Says whether a call may go on; otherwise its status is *status. */
static bool may_go_on(evalue_sink *s, evalue_status *status) {
  *status = EVALUE_MISUSE;
  if (!is_usable(s)) return false;
  *status = EVALUE_OK;
  if (s->is_writing == 0) s->system_error = 0;
  if (s->is_writing != 0) *status = EVALUE_MISUSE; /* from inside one of its own functions, or twice in a tee */
  else if (s->is_poisoned != 0) *status = evalue_sink_fail(s, EVALUE_POISONED);
  return *status == EVALUE_OK;
}

static bool is_alignment(uint32_t alignment) {
  return alignment <= EVALUE_MAX_ALIGNMENT && (alignment & (alignment - 1)) == 0;
}

evalue_status evalue_sink_init(evalue_sink *s, const evalue_sink_functions *functions, uint64_t used,
                               uint32_t alignment) {
  if (s == NULL) return EVALUE_MISUSE;
  memset(s, 0, sizeof *s);
  bool is_good = functions != NULL && functions->write != NULL && is_alignment(alignment) && used < EVALUE_SIZE_LIMIT;
  s->status = EVALUE_MISUSE; /* of a sink that cannot be used */
  if (!is_good) return EVALUE_MISUSE;
  s->status = EVALUE_OK;
  s->functions = functions;
  s->self = s;
  s->used = used;
  s->alignment = alignment;
  return EVALUE_OK;
}

bool evalue_sink_options_are_good(const evalue_sink_options *options) {
  if (options == NULL) return true;
  bool is_known = options->size == 0 || options->size == sizeof *options;
  return is_known && options->append <= 1 && options->publish <= 1 && options->reserved == 0 &&
         (options->buffer != NULL || options->buffer_size == 0) && options->sync <= EVALUE_SYNC_CLOSE &&
         is_alignment(options->alignment);
}

evalue_status evalue_sink_init_options(evalue_sink *s, const evalue_sink_functions *functions,
                                       const evalue_sink_options *options, uint32_t default_alignment) {
  if (!evalue_sink_options_are_good(options)) return evalue_sink_init(s, NULL, 0, 0);
  uint32_t alignment = options != NULL ? options->alignment : 0;
  return evalue_sink_init(s, functions, 0, alignment != 0 ? alignment : default_alignment);
}

/* ---- records ---- */

void evalue_sink_poison(evalue_sink *s) {
  s->is_poisoned = 1;
  EVALUE_LOG_STATUS(&evalue_log_sink, EVALUE_LOG_WARNING, EVALUE_POISONED, s->used,
                    "what failed could not be taken back: the sink is good up to %llu", (unsigned long long)s->used);
}

/* Takes the record back, or poisons the sink. */
static void take_back(evalue_sink *s) {
  bool is_undone = s->functions->undo != NULL && s->functions->undo(s) == EVALUE_OK;
  s->is_writing = 0;
  if (!is_undone) evalue_sink_poison(s);
}

/* The zeros before a record at a multiple of alignment, in a sink that places its records. */
static uint32_t padding_of(const evalue_sink *s, uint32_t alignment) {
  return s->alignment == 0 || alignment == 0 ? 0 : (uint32_t)((0 - s->used) & (alignment - 1));
}

evalue_status evalue_sink_begin(evalue_sink *s, uint64_t nbytes, uint32_t alignment, uint64_t *offset) {
  static const uint8_t zeros[EVALUE_MAX_ALIGNMENT];
  evalue_status status;
  if (!may_go_on(s, &status)) return status;
  if (alignment != 0 && alignment < s->alignment) alignment = s->alignment;
  uint32_t padding = padding_of(s, alignment);
  bool is_full = s->used >= EVALUE_SIZE_LIMIT || nbytes >= EVALUE_SIZE_LIMIT - padding;
  if (is_full || nbytes + padding >= EVALUE_SIZE_LIMIT - s->used) return evalue_sink_fail(s, EVALUE_LIMIT);
  s->is_writing = 1;
  s->left = padding + nbytes;
  s->pending = s->used + s->left;
  status = s->functions->begin != NULL ? s->functions->begin(s, s->left, alignment) : EVALUE_OK;
  if (status != EVALUE_OK) {
    if (status == EVALUE_NO_SPACE) s->needed = s->pending;
    s->is_writing = 0;
    return evalue_sink_fail(s, status);
  }
  evalue_slice before = {zeros, padding};
  if (padding != 0) status = evalue_sink_append(s, &before, 1);
  if (status == EVALUE_OK && offset != NULL) *offset = s->pending - nbytes;
  return status;
}

evalue_status evalue_sink_append(evalue_sink *s, const evalue_slice *slices, size_t n) {
  evalue_status status = EVALUE_OK;
  uint64_t left = s->left;
  for (size_t i = 0; i < n && status == EVALUE_OK; i++) {
    if (slices[i].size > left) status = EVALUE_MISUSE; /* somebody has changed the values meanwhile */
    else left -= slices[i].size;
  }
  if (status == EVALUE_OK) status = s->functions->write(s, slices, n);
  s->left = left;
  if (status == EVALUE_OK) return EVALUE_OK;
  take_back(s);
  return evalue_sink_fail(s, status);
}

evalue_status evalue_sink_end(evalue_sink *s) {
  if (s->left != 0) {
    take_back(s);
    return evalue_sink_fail(s, EVALUE_MISUSE);
  }
  if (s->functions->end != NULL) s->functions->end(s);
  s->used = s->pending;
  s->is_writing = 0;
  return EVALUE_OK;
}

void evalue_sink_cancel(evalue_sink *s) {
  take_back(s);
}

/* ---- the calls ---- */

evalue_status evalue_sink_write_slices(evalue_sink *s, const evalue_slice *slices, size_t n, uint64_t *offset) {
  uint64_t nbytes = 0, start = 0;
  if (!is_usable(s) || (slices == NULL && n != 0)) return EVALUE_MISUSE;
  for (size_t i = 0; i < n; i++) {
    if (slices[i].data == NULL && slices[i].size != 0) return evalue_sink_fail(s, EVALUE_MISUSE);
    if (slices[i].size >= EVALUE_SIZE_LIMIT - nbytes) return evalue_sink_fail(s, EVALUE_LIMIT);
    nbytes += slices[i].size;
  }
  evalue_status status = evalue_sink_begin(s, nbytes, 1, &start);
  if (status == EVALUE_OK && nbytes != 0) status = evalue_sink_append(s, slices, n);
  if (status == EVALUE_OK) status = evalue_sink_end(s);
  if (status != EVALUE_OK) return status;
  if (offset != NULL) *offset = start;
  return EVALUE_OK;
}

evalue_status evalue_sink_write(evalue_sink *s, const void *data, size_t nbytes, uint64_t *offset) {
  evalue_slice slice = {data, nbytes};
  return evalue_sink_write_slices(s, &slice, 1, offset);
}

evalue_status evalue_sink_flush(evalue_sink *s) {
  evalue_status status;
  if (!may_go_on(s, &status)) return status;
  s->is_writing = 1; /* nothing may come in between */
  if (s->functions->flush != NULL) status = s->functions->flush(s);
  s->is_writing = 0;
  return status == EVALUE_OK ? status : evalue_sink_fail(s, status);
}

evalue_status evalue_sink_close(evalue_sink *s) {
  if (!is_usable(s) || s->is_writing != 0) return EVALUE_MISUSE;
  evalue_status status = evalue_sink_flush(s);
  bool is_good = status == EVALUE_OK;
  s->is_writing = 1;
  evalue_status closed = s->functions->close != NULL ? s->functions->close(s, is_good) : EVALUE_OK;
  s->is_writing = 0;
  s->self = NULL;
  if (is_good) status = closed;
  if (status != EVALUE_OK) s->status = (int32_t)status;
  return status;
}
