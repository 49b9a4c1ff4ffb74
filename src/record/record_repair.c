/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in a file, and cutting off its bad end. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "record_internal.h"

enum { LARGE = 1 << 20 }; /* records with more data are checked piece by piece, not in the reader's buffer */

static evalue_status fail(evalue_record_report *report, int error) {
  report->system_error = error;
  report->error = (evalue_error){.status = EVALUE_IO, .position = report->good_end, .value_index = EVALUE_NO_INDEX};
  return EVALUE_IO;
}

/* Checks the data of a record that is in the file, as far as that is known, without holding it. */
static evalue_status check_large(int fd, uint64_t offset, uint64_t length, evalue_error *error) {
  uint8_t tail[RECORD_TAIL], *piece = evalue_record_allocate(LARGE);
  uint64_t at = offset + RECORD_HEAD, end = at + length;
  uint32_t crc = 0;
  int64_t got = piece != NULL ? 1 : -1;
  while (got > 0 && at < end) {
    got = evalue_record_read_some(fd, piece, end - at < LARGE ? (size_t)(end - at) : LARGE, at);
    if (got > 0) crc = evalue_record_crc32c(crc, piece, (size_t)got);
    if (got > 0) at += (uint64_t)got;
  }
  int system_error = got < 0 ? errno : 0;
  free(piece);
  if (got > 0) got = evalue_record_read_full(fd, tail, sizeof tail, end);
  else errno = system_error;
  if (got < 0) return EVALUE_IO;
  if (at == end && got == RECORD_TAIL) return evalue_record_judge_data(crc, tail, offset, error);
  return evalue_record_fail_short(error, EVALUE_FAULT_RECORD_SHORT, offset, end + RECORD_TAIL, at + (uint64_t)got);
}

/* Counts one record: *pending are the corrupt ones since the last good one. */
static void count(evalue_record_report *report, evalue_status status, const evalue_error *error, uint64_t end,
                  uint64_t *pending) {
  if (status == EVALUE_OK) {
    report->records++;
    report->corrupt += *pending;
    report->good_end = end;
    *pending = 0;
    return;
  }
  ++*pending;
  if (report->error.status == EVALUE_OK) report->error = *error;
}

/* Goes through the file until it ends, or cannot be gone on with. */
static evalue_status go_through(evalue_record_reader *r, evalue_record_report *report) {
  evalue_record record = {.size = 1};
  uint64_t pending = 0;
  for (;;) {
    evalue_error error = {.status = EVALUE_OK};
    evalue_status status = evalue_record_reader_next(r, &record);
    bool is_large = status == EVALUE_LIMIT;
    if (status != EVALUE_OK && status != EVALUE_END) error = r->error;
    if (is_large) status = check_large(r->fd, r->fault_offset, r->error.found, &error);
    if (status == EVALUE_END) return EVALUE_OK;
    if (status == EVALUE_IO) return fail(report, is_large ? errno : r->system_error);
    bool goes_on = status == EVALUE_OK || error.fault == EVALUE_FAULT_RECORD_DATA_CRC;
    if (status == EVALUE_OK && !is_large && record.size == 0) report->empty++;
    count(report, status, &error, r->position, &pending);
    if (!goes_on) return EVALUE_OK;
  }
}

static evalue_status examine(int fd, evalue_record_report *report) {
  const evalue_record_reader_options options = {.max_record = LARGE};
  evalue_record_reader reader;
  int error;
  if (!evalue_record_file_size(fd, &report->file_size, &error)) {
    return error != 0 ? fail(report, error) : EVALUE_UNSUPPORTED;
  }
  evalue_status status = evalue_record_reader_init(&reader, fd, &options);
  if (status == EVALUE_IO) return fail(report, reader.system_error);
  if (status != EVALUE_OK) return status;
  status = go_through(&reader, report);
  evalue_record_reader_close(&reader);
  return status;
}

evalue_status evalue_record_examine(const char *path, evalue_record_report *report) {
  if (report == NULL) return EVALUE_MISUSE;
  memset(report, 0, sizeof *report);
  if (path == NULL || path[0] == '\0') return EVALUE_MISUSE;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return fail(report, errno);
  evalue_status status = examine(fd, report);
  close(fd);
  return status == EVALUE_OK ? (evalue_status)report->error.status : status;
}

evalue_status evalue_record_repair(const char *path, evalue_record_report *report) {
  if (report == NULL) return EVALUE_MISUSE;
  memset(report, 0, sizeof *report);
  if (path == NULL || path[0] == '\0') return EVALUE_MISUSE;
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return fail(report, errno);
  evalue_status status = evalue_record_lock(fd) ? examine(fd, report) : fail(report, errno);
  bool is_bad = status == EVALUE_OK && report->good_end < report->file_size;
  if (is_bad && (!evalue_record_cut(fd, report->good_end) || fsync(fd) != 0)) status = fail(report, errno);
  close(fd);
  return status;
}
