/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading records one after the other. Small ones come in blocks; a large one is read for itself, together with the
 * head behind it, to where its data are aligned: one system call, and no copy. Of small ones, whose data lie anywhere
 * in the block, they are moved down to the next aligned place, over the head, which has done its work: cheaper than to
 * another place, for those bytes are in the cache already.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "record_internal.h"

enum { LARGE = 32 << 10 }; /* from here on the system call costs less than moving half of a record */

bool evalue_record_reader_is_usable(const evalue_record_reader *r) {
  return r != NULL && r->self == r;
}

/* ---- failures ---- */

evalue_status evalue_record_reader_fail(evalue_record_reader *r, int error) {
  r->system_error = error;
  r->error = (evalue_error){.status = EVALUE_IO, .position = r->position, .value_index = EVALUE_NO_INDEX};
  r->fault_offset = r->position;
  r->fault_index = r->index;
  return EVALUE_IO;
}

/* Makes a status the one of all later calls. */
static evalue_status stay(evalue_record_reader *r, evalue_status status) {
  r->stays = (int32_t)status;
  if (status == EVALUE_END) return status;
  r->fault_offset = r->position;
  r->fault_index = r->index;
  return status;
}

/* The input ends inside the next record, after `size` bytes, of at least `needed`. */
static evalue_status ends_inside(evalue_record_reader *r, evalue_fault fault, uint64_t needed, uint64_t size) {
  return stay(r, evalue_record_fail_short(&r->error, fault, r->position, needed, size));
}

/* The input ends, before a head or inside it. A file that has become shorter has no record's end where this one is. */
static evalue_status ends_before_length(evalue_record_reader *r) {
  uint64_t size = r->position + (r->end - r->begin), now = size;
  int error;
  if (r->end != r->begin) {
    return ends_inside(r, EVALUE_FAULT_RECORD_HEAD_SHORT, r->position + RECORD_HEAD, size);
  }
  if (r->is_stream == 0) evalue_record_file_size(r->fd, &now, &error);
  return now >= size ? stay(r, EVALUE_END)
                     : ends_inside(r, EVALUE_FAULT_RECORD_HEAD_SHORT, r->position + RECORD_HEAD, now);
}

/* ---- the buffer ---- */

evalue_status evalue_record_reader_reserve(evalue_record_reader *r, size_t nbytes) {
  size_t capacity = RECORD_PLACE + nbytes;
  if (capacity <= r->capacity) return EVALUE_OK;
  if (r->buffer != NULL && nbytes < SIZE_MAX / 4) capacity += nbytes / 8; /* for records that grow bit by bit */
  uint8_t *more = evalue_record_allocate(capacity + EVALUE_RECORD_SLACK);
  if (more == NULL) return evalue_record_reader_fail(r, errno);
  memset(more + capacity, 0, EVALUE_RECORD_SLACK);
  if (r->buffer != NULL) memcpy(more + RECORD_PLACE, r->buffer + r->begin, r->end - r->begin);
  r->end = RECORD_PLACE + (r->end - r->begin);
  r->begin = RECORD_PLACE;
  free(r->buffer);
  r->buffer = more;
  r->capacity = capacity;
  return EVALUE_OK;
}

bool evalue_record_reader_has(evalue_record_reader *r, uint64_t end) {
  int error;
  if (end > r->file_size) evalue_record_file_size(r->fd, &r->file_size, &error);
  return end <= r->file_size;
}

/* Reads once, no more than up to `limit` in the buffer: how many bytes, 0 at the end, -1 for a failure. */
static int64_t read_once(evalue_record_reader *r, size_t limit) {
  int64_t got =
      evalue_record_read_some(r->fd, r->buffer + r->end, limit - r->end, r->is_stream != 0 ? UINT64_MAX : r->read_at);
  if (got < 0) {
    stay(r, evalue_record_reader_fail(r, errno));
    return -1;
  }
  r->end += (size_t)got;
  r->read_at += (uint64_t)got;
  return got;
}

/*
 * Moves what is left in the buffer to its start, and reads until it has `needed` bytes: EVALUE_OK; EVALUE_END when the
 * file ends before that, which the caller judges; or a failure. The buffer of a stream, whose length nobody knows,
 * grows as the bytes come.
 */
static evalue_status fill(evalue_record_reader *r, size_t needed) {
  memmove(r->buffer + RECORD_PLACE, r->buffer + r->begin, r->end - r->begin);
  r->end = RECORD_PLACE + (r->end - r->begin);
  r->begin = RECORD_PLACE;
  if (r->is_advised == 0) posix_fadvise(r->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  r->is_advised = 1;
  size_t wanted = needed >= LARGE || needed > r->block ? needed + RECORD_HEAD : r->block;
  while (r->end - r->begin < needed) {
    size_t room = r->capacity - RECORD_PLACE;
    if (r->end == r->capacity && room < needed) {
      evalue_status status = evalue_record_reader_reserve(r, needed / 2 > room ? room * 2 : needed + RECORD_HEAD);
      if (status != EVALUE_OK) return status;
    }
    int64_t got = read_once(r, wanted < r->capacity - RECORD_PLACE ? RECORD_PLACE + wanted : r->capacity);
    if (got < 0) return EVALUE_IO;
    if (got == 0) return EVALUE_END;
  }
  return EVALUE_OK;
}

/* Goes behind `size` bytes, all of which are in the file, as far as that is known. */
static evalue_status pass(evalue_record_reader *r, uint64_t size) {
  uint64_t left = size;
  for (;;) {
    size_t have = r->end - r->begin;
    size_t some = have < left ? have : (size_t)left;
    r->begin += some;
    left -= some;
    if (left == 0) break;
    r->begin = r->end = RECORD_PLACE;
    if (r->is_stream == 0) {
      r->read_at += left;
      break;
    }
    int64_t got = read_once(r, r->capacity);
    if (got < 0) return EVALUE_IO;
    if (got > 0) continue;
    return ends_inside(r, EVALUE_FAULT_RECORD_SHORT, r->position + size, r->position + (size - left));
  }
  r->position += size;
  r->index++;
  return EVALUE_OK;
}

/* ---- a record ---- */

uint64_t evalue_record_reader_limit(const evalue_record_reader *r) {
  const uint64_t host_limit = SIZE_MAX / 2;
  return r->max_record < host_limit ? r->max_record : host_limit;
}

/* A record that has too much data: notes that, and goes past it. */
static EVALUE_COLD evalue_status refuse_large(evalue_record_reader *r, uint64_t length) {
  uint64_t limit = evalue_record_reader_limit(r);
  evalue_error error;
  uint64_t offset = r->position, index = r->index;
  evalue_status limit_status = evalue_record_fail(&error, EVALUE_FAULT_RECORD_TOO_LARGE, offset, limit, length);
  evalue_status status = pass(r, length + RECORD_FRAME);
  if (status != EVALUE_OK) return status;
  r->error = error;
  r->fault_offset = offset;
  r->fault_index = index;
  return limit_status;
}

/* A record that has too much data, and is cut: the limit is told first, the cut by the next call. */
static EVALUE_COLD evalue_status refuse_cut(evalue_record_reader *r, uint64_t length) {
  r->is_refused = 1;
  r->fault_offset = r->position;
  r->fault_index = r->index;
  return evalue_record_fail(&r->error, EVALUE_FAULT_RECORD_TOO_LARGE, r->position, evalue_record_reader_limit(r),
                            length);
}

/* Gets a record that is not whole in the buffer. */
static evalue_status fetch(evalue_record_reader *r, uint64_t length) {
  uint64_t needed = r->position + RECORD_FRAME + length;
  bool is_large = length > evalue_record_reader_limit(r);
  if (!evalue_record_reader_has(r, needed)) {
    bool tells_limit = length > r->max_record && r->skip == 0 && r->is_refused == 0;
    if (!tells_limit) return ends_inside(r, EVALUE_FAULT_RECORD_SHORT, needed, r->file_size);
    return refuse_cut(r, length);
  }
  r->is_refused = 0;
  if (is_large) return refuse_large(r, length);
  size_t size = (size_t)length + RECORD_FRAME;
  evalue_status status = r->is_stream != 0 ? EVALUE_OK : evalue_record_reader_reserve(r, size + RECORD_HEAD);
  if (status == EVALUE_OK) status = fill(r, size);
  if (status != EVALUE_END) return status;
  return ends_inside(r, EVALUE_FAULT_RECORD_SHORT, needed, r->position + (r->end - r->begin));
}

/* Hands out the record at r->begin, which is whole. */
static evalue_status hand_out(evalue_record_reader *r, size_t length, evalue_record *record) {
  size_t at = r->begin + RECORD_HEAD, place = at & ~((size_t)EVALUE_RECORD_ALIGNMENT - 1);
  const uint8_t *tail = r->buffer + at + length;
  if (at != place) memmove(r->buffer + place, r->buffer + at, length);
  *record = (evalue_record){r->buffer + place, length, r->position, r->index};
  r->begin = at + length + RECORD_TAIL;
  r->position += length + RECORD_FRAME;
  r->index++;
  if (r->ignore_crc != 0) return EVALUE_OK;
  uint32_t crc = evalue_record_crc32c(0, record->data, length);
  evalue_status status = evalue_record_judge_data(crc, tail, record->offset, &r->error);
  if (status == EVALUE_OK) return EVALUE_OK;
  r->fault_offset = record->offset;
  r->fault_index = record->index;
  return status;
}

static evalue_status read_record(evalue_record_reader *r, evalue_record *record) {
  uint64_t length;
  if (r->end - r->begin < RECORD_HEAD) {
    evalue_status status = fill(r, RECORD_HEAD);
    if (status == EVALUE_END) return ends_before_length(r);
    if (status != EVALUE_OK) return status;
  }
  evalue_status status = evalue_record_judge_head(r->buffer + r->begin, r->position, &length, &r->error);
  if (status != EVALUE_OK) return stay(r, status);
  bool is_whole = r->end - r->begin >= RECORD_FRAME && r->end - r->begin - RECORD_FRAME >= length;
  if (!is_whole) {
    status = fetch(r, length);
    if (status != EVALUE_OK) return status;
  } else if (length > r->max_record) {
    return refuse_large(r, length);
  }
  return hand_out(r, (size_t)length, record);
}

evalue_status evalue_record_reader_next(evalue_record_reader *r, evalue_record *record) {
  if (!evalue_record_reader_is_usable(r) || record == NULL) return EVALUE_MISUSE;
  if (r->is_waiting != 0) {
    *record = r->waiting;
    r->is_waiting = 0;
    r->position += record->size + RECORD_FRAME;
    r->index++;
    r->counts.records++;
    return EVALUE_OK;
  }
  if (r->stays != EVALUE_OK) return (evalue_status)r->stays;
  for (;;) {
    evalue_status status = read_record(r, record);
    if (status == EVALUE_OK) {
      r->counts.records++;
      return EVALUE_OK;
    }
    bool is_over = status == EVALUE_LIMIT || (status == EVALUE_CORRUPT && r->stays == EVALUE_OK);
    if (r->skip == 0 || !is_over) return status;
    if (status == EVALUE_LIMIT) r->counts.too_large++;
    else r->counts.corrupt++;
  }
}
