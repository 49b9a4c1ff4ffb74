/* SPDX-License-Identifier: BSD-3-Clause */
/* Records as values, and records at places that an index names. */
#include <errno.h>

#include "record_internal.h"

/* ---- values ---- */

/* Makes a record that was read the next one again. */
static void put_back(evalue_record_reader *r, const evalue_record *record) {
  r->waiting = *record;
  r->is_waiting = 1;
  r->position = record->offset;
  r->index = record->index;
  r->counts.records--;
}

static evalue_status decode(evalue_record_reader *r, const evalue_record *record, evalue *values, size_t capacity,
                            uint64_t *n) {
  evalue_error error;
  evalue_status status;
  if (record->size == 0)
    status = evalue_record_fail(&error, EVALUE_FAULT_RECORD_EMPTY, record->offset, EVALUE_HEADER_SIZE, 0);
  else status = evalue_message_decode(record->data, record->size, NULL, values, capacity, n, &error);
  if (status == EVALUE_OK) return EVALUE_OK;
  r->error = error;
  r->fault_offset = record->offset;
  r->fault_index = record->index;
  return status;
}

evalue_status evalue_record_reader_next_values(evalue_record_reader *r, evalue *values, size_t capacity, uint64_t *n) {
  evalue_record record;
  if (n == NULL || (values == NULL && capacity != 0)) return EVALUE_MISUSE;
  for (;;) {
    evalue_status status = evalue_record_reader_next(r, &record);
    if (status != EVALUE_OK) return status;
    status = decode(r, &record, values, capacity, n);
    if (status == EVALUE_NO_SPACE) put_back(r, &record);
    else if (status != EVALUE_OK) r->counts.records--;
    if (status == EVALUE_OK || status == EVALUE_NO_SPACE || r->skip == 0) return status;
    r->counts.bad_messages++;
  }
}

/* ---- by index ---- */

/* Judges an entry before anything is read. */
static evalue_status judge_entry(evalue_record_reader *r, const evalue_record_entry *entry) {
  uint64_t end = entry->offset + entry->size;
  if (end < entry->offset) end = UINT64_MAX;
  if (end == UINT64_MAX || !evalue_record_reader_has(r, end)) {
    return evalue_record_fail(&r->error, EVALUE_FAULT_INDEX_ENTRY, entry->offset, r->file_size, end);
  }
  if (entry->size >= RECORD_FRAME) return EVALUE_OK;
  return evalue_record_fail(&r->error, EVALUE_FAULT_INDEX_ENTRY, entry->offset, RECORD_FRAME, entry->size);
}

/* Reads size bytes at `at` of an entry, to where its data are aligned. */
static evalue_status read_part(evalue_record_reader *r, const evalue_record_entry *entry, size_t at, size_t size) {
  int64_t got = evalue_record_read_full(r->fd, r->buffer + RECORD_PLACE + at, size, entry->offset + at);
  if (got < 0) return evalue_record_reader_fail(r, errno);
  if ((uint64_t)got == size) return EVALUE_OK;
  return evalue_record_fail_short(&r->error, EVALUE_FAULT_RECORD_SHORT, entry->offset, entry->offset + entry->size,
                                  entry->offset + at + (uint64_t)got);
}

/* Reads the head of an entry's record, and judges it and the entry by it, before memory is taken for the data. */
static evalue_status read_head(evalue_record_reader *r, const evalue_record_entry *entry) {
  uint64_t length;
  uint64_t limit = evalue_record_reader_limit(r);
  evalue_status status = evalue_record_reader_reserve(r, RECORD_HEAD);
  if (status == EVALUE_OK) status = read_part(r, entry, 0, RECORD_HEAD);
  if (status != EVALUE_OK) return status;
  status = evalue_record_judge_head(r->buffer + RECORD_PLACE, entry->offset, &length, &r->error);
  if (status != EVALUE_OK) return status;
  if (length > limit) {
    return evalue_record_fail(&r->error, EVALUE_FAULT_RECORD_TOO_LARGE, entry->offset, limit, length);
  }
  if (length == entry->size - RECORD_FRAME) return EVALUE_OK;
  return evalue_record_fail(&r->error, EVALUE_FAULT_INDEX_ENTRY, entry->offset, length + RECORD_FRAME, entry->size);
}

/* Reads the rest of a record, and judges its data. */
static evalue_status read_rest(evalue_record_reader *r, const evalue_record_entry *entry) {
  size_t length = (size_t)entry->size - RECORD_FRAME;
  evalue_status status = evalue_record_reader_reserve(r, (size_t)entry->size);
  if (status == EVALUE_OK) status = read_part(r, entry, RECORD_HEAD, (size_t)entry->size - RECORD_HEAD);
  if (status != EVALUE_OK || r->ignore_crc != 0) return status;
  const uint8_t *data = r->buffer + RECORD_PLACE + RECORD_HEAD;
  return evalue_record_judge_data(evalue_record_crc32c(0, data, length), data + length, entry->offset, &r->error);
}

evalue_status evalue_record_reader_at(evalue_record_reader *r, const evalue_record_entry *entry,
                                      evalue_record *record) {
  if (!evalue_record_reader_is_usable(r) || entry == NULL || record == NULL) return EVALUE_MISUSE;
  if (r->is_stream != 0) return EVALUE_UNSUPPORTED;
  evalue_status status = judge_entry(r, entry);
  if (status == EVALUE_OK) {
    r->begin = r->end = RECORD_PLACE; /* nothing of the records in order is left in the buffer */
    r->read_at = r->position;
    r->is_waiting = 0;
    status = read_head(r, entry);
  }
  if (status == EVALUE_OK) status = read_rest(r, entry);
  if (status != EVALUE_OK) {
    r->fault_offset = entry->offset;
    r->fault_index = EVALUE_NO_INDEX;
    return status;
  }
  *record = (evalue_record){r->buffer + RECORD_PLACE + RECORD_HEAD, (size_t)entry->size - RECORD_FRAME, entry->offset,
                            EVALUE_NO_INDEX};
  r->counts.records++;
  return EVALUE_OK;
}
