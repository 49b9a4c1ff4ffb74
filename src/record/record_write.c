/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing records into a sink: head, data and CRC as one record of the sink, the data from where they lie. Lines of the
 * side file wait until the records that they name have been handed on.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "record_internal.h"

enum { LINES = 64 << 10, MOST_BUFFER = 1 << 30 };

/* ---- state ---- */

static bool is_usable(const evalue_record_writer *w) {
  return w != NULL && w->self == w;
}

static evalue_status fail(evalue_record_writer *w, evalue_status status, int error) {
  w->status = (int32_t)status;
  w->system_error = error;
  return status;
}

bool evalue_record_writer_options_are_good(const evalue_record_writer_options *options) {
  if (options == NULL) return true;
  bool is_known = options->size == 0 || options->size == sizeof *options;
  bool is_aligned = options->alignment <= EVALUE_MAX_ALIGNMENT && (options->alignment & (options->alignment - 1)) == 0;
  return is_known && is_aligned && options->append <= 1 && options->sync <= EVALUE_SYNC_CLOSE &&
         options->buffer_size <= MOST_BUFFER && (options->index_path == NULL || options->index_path[0] != '\0');
}

int evalue_record_writer_free(evalue_record_writer *w) {
  int error = 0;
  if (w->lines != NULL) evalue_sink_close(&w->index.sink);
  if (w->fd >= 0 && close(w->fd) != 0 && errno != EINTR) error = errno;
  free(w->buffer);
  free(w->scratch);
  free(w->slices);
  free(w->lines);
  w->buffer = w->scratch = NULL;
  w->slices = NULL;
  w->lines = NULL;
  w->fd = -1;
  w->self = NULL;
  return error;
}

/* ---- the side file ---- */

static evalue_status open_index(evalue_record_writer *w, const evalue_record_writer_options *options) {
  const evalue_sink_options plain = {.sync = options->sync};
  char *lines = evalue_record_allocate(LINES);
  if (lines == NULL) return fail(w, EVALUE_IO, errno);
  evalue_status status = evalue_file_sink_open(&w->index, options->index_path, &plain);
  if (status == EVALUE_OK) w->lines = lines;
  else free(lines);
  return status == EVALUE_OK ? status : fail(w, status, w->index.sink.system_error);
}

/* Writes the lines that wait; the records that they name have been handed on. */
static evalue_status write_lines(evalue_record_writer *w) {
  if (w->lines == NULL || w->lines_size == 0) return EVALUE_OK;
  evalue_status status = evalue_sink_write(&w->index.sink, w->lines, w->lines_size, NULL);
  if (status != EVALUE_OK) return fail(w, status, w->index.sink.system_error);
  w->lines_size = 0;
  return EVALUE_OK;
}

/* Hands on what is held back, in the order that keeps the side file true. */
static evalue_status flush(evalue_record_writer *w) {
  evalue_status status = evalue_sink_flush(w->sink);
  if (status != EVALUE_OK) return fail(w, status, w->sink->system_error);
  status = write_lines(w);
  if (status != EVALUE_OK || w->lines == NULL) return status;
  status = evalue_sink_flush(&w->index.sink);
  return status == EVALUE_OK ? status : fail(w, status, w->index.sink.system_error);
}

/* ---- a record ---- */

/*
 * Writes a record whose data are those of slices 1 to n - 2, `length` bytes together; the first and the last are the
 * frame's.
 */
static evalue_status write_record(evalue_record_writer *w, evalue_slice *slices, size_t n, uint64_t length,
                                  uint64_t *offset) {
  uint8_t head[RECORD_HEAD], tail[RECORD_TAIL];
  uint64_t at = 0;
  uint32_t crc = 0;
  if (length > w->max_record || evalue_record_head(length, head) != EVALUE_OK) return fail(w, EVALUE_LIMIT, 0);
  if (w->lines != NULL && LINES - w->lines_size < RECORD_LINE) {
    evalue_status status = flush(w);
    if (status != EVALUE_OK) return status;
  }
  for (size_t i = 1; i < n - 1; i++) crc = evalue_record_crc32c(crc, slices[i].data, slices[i].size);
  evalue_store_u32(tail, evalue_record_mask(crc));
  slices[0] = (evalue_slice){head, sizeof head};
  slices[n - 1] = (evalue_slice){tail, sizeof tail};
  evalue_status status = evalue_sink_write_slices(w->sink, slices, n, &at);
  if (status != EVALUE_OK) return fail(w, status, w->sink->system_error);
  const evalue_record_entry entry = {w->base + at, length + RECORD_FRAME};
  if (w->lines != NULL) w->lines_size += evalue_record_print_entry(&entry, w->lines + w->lines_size);
  w->end = entry.offset + entry.size;
  w->records++;
  if (offset != NULL) *offset = entry.offset;
  return EVALUE_OK;
}

evalue_status evalue_record_writer_put_bytes(evalue_record_writer *w, const void *data, size_t nbytes,
                                             uint64_t *offset) {
  enum { COUNT = 3 };
  if (!is_usable(w)) return EVALUE_MISUSE;
  if (data == NULL && nbytes != 0) return fail(w, EVALUE_MISUSE, 0);
  evalue_slice slices[COUNT] = {{NULL, 0}, {data, nbytes}, {NULL, 0}};
  return write_record(w, slices, COUNT, nbytes, offset);
}

/* Makes room for what a message needs, as `gather` says: structural bytes, and slices with the frame's two. */
static bool make_room(evalue_record_writer *w, const evalue_gather *gather) {
  void *scratch = w->scratch, *slices = w->slices;
  bool is_good = evalue_record_grow(&scratch, &w->scratch_capacity, 0, gather->scratch_size, 1);
  w->scratch = (uint8_t *)scratch;
  is_good = is_good && evalue_record_grow(&slices, &w->slice_capacity, 0, gather->slice_count + 2, sizeof *w->slices);
  w->slices = (evalue_slice *)slices;
  return is_good;
}

/* Gathers a message into the writer's memory. */
static evalue_status gather_into(evalue_record_writer *w, const evalue *values, size_t n, evalue_gather *gather) {
  *gather = (evalue_gather){.scratch = w->scratch, .scratch_capacity = w->scratch_capacity};
  if (w->slice_capacity > 2) {
    gather->slices = w->slices + 1;
    gather->slice_capacity = w->slice_capacity - 2;
  }
  return evalue_message_gather(values, n, w->alignment, gather);
}

evalue_status evalue_record_writer_put(evalue_record_writer *w, const evalue *values, size_t n, uint64_t *offset) {
  evalue_gather gather;
  if (!is_usable(w)) return EVALUE_MISUSE;
  if (values == NULL && n != 0) return fail(w, EVALUE_MISUSE, 0);
  evalue_status status = gather_into(w, values, n, &gather);
  if (status == EVALUE_NO_SPACE) {
    if (!make_room(w, &gather)) return fail(w, EVALUE_IO, errno);
    status = gather_into(w, values, n, &gather);
  }
  if (status != EVALUE_OK) return fail(w, status, 0);
  return write_record(w, w->slices, (size_t)gather.slice_count + 2, gather.size, offset);
}

/* ---- the calls ---- */

evalue_status evalue_record_writer_start(evalue_record_writer *w, evalue_sink *sink,
                                         const evalue_record_writer_options *options) {
  w->sink = sink;
  w->alignment = options != NULL ? options->alignment : 0;
  w->max_record = options != NULL && options->max_record != 0 ? options->max_record : UINT64_MAX;
  w->end = w->base + evalue_sink_used(sink);
  if (options == NULL || options->index_path == NULL) return EVALUE_OK;
  return open_index(w, options);
}

evalue_status evalue_record_writer_init(evalue_record_writer *w, evalue_sink *sink,
                                        const evalue_record_writer_options *options) {
  if (w == NULL) return EVALUE_MISUSE;
  memset(w, 0, sizeof *w);
  w->fd = -1;
  bool is_good = sink != NULL && sink->self == sink && sink->alignment <= 1 &&
                 evalue_record_writer_options_are_good(options) && (options == NULL || options->append == 0);
  if (!is_good) return fail(w, EVALUE_MISUSE, 0);
  evalue_status status = evalue_record_writer_start(w, sink, options);
  if (status == EVALUE_OK) w->self = w;
  else evalue_record_writer_free(w);
  return status;
}

evalue_status evalue_record_writer_flush(evalue_record_writer *w) {
  return is_usable(w) ? flush(w) : EVALUE_MISUSE;
}

evalue_status evalue_record_writer_close(evalue_record_writer *w) {
  if (!is_usable(w)) return EVALUE_MISUSE;
  evalue_status first = flush(w), status = EVALUE_OK;
  bool owns_sink = w->fd >= 0;
  if (owns_sink) status = evalue_sink_close(w->sink);
  if (status != EVALUE_OK && first == EVALUE_OK) first = fail(w, status, w->sink->system_error);
  if (w->lines != NULL) status = evalue_sink_close(&w->index.sink);
  if (status != EVALUE_OK && first == EVALUE_OK) first = fail(w, status, w->index.sink.system_error);
  int error = evalue_record_writer_free(w);
  if (error != 0 && first == EVALUE_OK) first = fail(w, EVALUE_IO, error);
  return first;
}
