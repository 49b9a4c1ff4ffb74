/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers: opening, going elsewhere, closing. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "record_internal.h"

enum { LEAST_BLOCK = 4096, MOST_BLOCK = 1 << 30 };

static bool options_are_good(const evalue_record_reader_options *options) {
  if (options == NULL) return true;
  bool is_known = options->size == 0 || options->size == sizeof *options;
  return is_known && options->skip <= 1 && options->ignore_crc <= 1 && options->owns_fd <= 1 &&
         options->buffer_size <= MOST_BLOCK;
}

/* Finds out what the descriptor is, and where it stands. 0, or an errno; -1 when it is only written. */
static int find_place(evalue_record_reader *r) {
  int error, flags = fcntl(r->fd, F_GETFL);
  if (flags < 0) return errno;
  if ((flags & O_ACCMODE) == O_WRONLY) return -1;
  bool is_file = evalue_record_file_size(r->fd, &r->file_size, &error);
  if (error != 0) return error;
  off_t at = is_file ? lseek(r->fd, 0, SEEK_CUR) : 0;
  if (at < 0) return errno;
  if (!is_file) r->file_size = UINT64_MAX;
  r->is_stream = is_file ? 0 : 1;
  r->is_advised = r->is_stream;
  r->position = r->read_at = (uint64_t)at;
  return 0;
}

static evalue_status start(evalue_record_reader *r, int fd, const evalue_record_reader_options *options) {
  static const evalue_record_reader_options defaults = {0};
  if (options == NULL) options = &defaults;
  memset(r, 0, sizeof *r);
  r->fd = fd;
  r->begin = r->end = RECORD_PLACE;
  r->block = options->buffer_size != 0 ? options->buffer_size : RECORD_BLOCK;
  if (r->block < LEAST_BLOCK) r->block = LEAST_BLOCK;
  r->max_record = options->max_record != 0 ? options->max_record : UINT64_MAX;
  r->skip = (uint8_t)options->skip;
  r->ignore_crc = (uint8_t)options->ignore_crc;
  int error = find_place(r);
  if (error < 0) return EVALUE_MISUSE;
  if (error > 0) return evalue_record_reader_fail(r, error);
  evalue_status status = evalue_record_reader_reserve(r, r->block);
  if (status == EVALUE_OK) r->self = r;
  return status;
}

evalue_status evalue_record_reader_init(evalue_record_reader *r, int fd, const evalue_record_reader_options *options) {
  if (r == NULL) return EVALUE_MISUSE;
  memset(r, 0, sizeof *r);
  if (!options_are_good(options)) return EVALUE_MISUSE;
  evalue_status status = start(r, fd, options);
  if (status == EVALUE_OK && options != NULL) r->owns_fd = (uint8_t)options->owns_fd;
  return status;
}

evalue_status evalue_record_reader_open(evalue_record_reader *r, const char *path,
                                        const evalue_record_reader_options *options) {
  if (r == NULL) return EVALUE_MISUSE;
  memset(r, 0, sizeof *r);
  if (path == NULL || path[0] == '\0' || !options_are_good(options)) return EVALUE_MISUSE;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return evalue_record_reader_fail(r, errno);
  evalue_status status = start(r, fd, options);
  if (status == EVALUE_OK) r->owns_fd = 1;
  else close(fd);
  return status;
}

evalue_status evalue_record_reader_seek(evalue_record_reader *r, uint64_t offset, uint64_t index) {
  if (!evalue_record_reader_is_usable(r) || offset >= EVALUE_SIZE_LIMIT) return EVALUE_MISUSE;
  if (r->is_stream != 0) return EVALUE_UNSUPPORTED;
  uint64_t buffered = r->read_at - (r->end - r->begin); /* what begin is of the file */
  if (offset >= buffered && offset <= r->read_at) {
    r->begin += (size_t)(offset - buffered);
  } else {
    r->begin = r->end = RECORD_PLACE;
    r->read_at = offset;
  }
  r->position = offset;
  r->index = index;
  r->is_waiting = r->is_refused = 0;
  r->stays = EVALUE_OK;
  r->error = (evalue_error){.status = EVALUE_OK};
  return EVALUE_OK;
}

evalue_status evalue_record_reader_close(evalue_record_reader *r) {
  if (!evalue_record_reader_is_usable(r)) return EVALUE_MISUSE;
  if (r->owns_fd != 0) close(r->fd);
  free(r->buffer);
  r->buffer = NULL;
  r->fd = -1;
  r->self = NULL;
  return EVALUE_OK;
}
