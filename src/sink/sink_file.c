/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes into a file descriptor. Records are buffered whole; the buffer is written out only between records, so what is
 * in the file ends at a record's end but for the record that is being written, and that is cut off again when it fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evalue/log.h"
#include "sink_file.h"
#include "slices.h"

_Static_assert(sizeof(off_t) >= 8, "files may be larger than 2 GiB: compile with -D_FILE_OFFSET_BITS=64");

enum { MOST_SLICES = 64 }; /* of one call: less than any system's limit */

static evalue_file_sink *file_of(evalue_sink *sink) {
  return (evalue_file_sink *)(void *)sink;
}

evalue_status evalue_file_fail(evalue_file_sink *s, int error) {
  s->sink.system_error = error;
  return EVALUE_IO;
}

/* ---- writing ---- */

/* writev, but it goes on after a signal and waits where the descriptor does not. 0 for an error: errno says which. */
static size_t write_some(int fd, const struct iovec *list, int count) {
  for (;;) {
    ssize_t taken = writev(fd, list, count);
    if (taken > 0) return (size_t)taken;
    if (taken == 0) errno = EIO; /* never of a file with room */
    if (taken == 0 || (errno != EINTR && errno != EAGAIN)) return 0;
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    if (errno == EAGAIN) poll(&wait, 1, -1);
  }
}

/* Writes all slices; *taken counts the bytes, also of a failure. */
static evalue_status write_all(evalue_file_sink *s, const evalue_slice *slices, size_t n, uint64_t *taken) {
  struct iovec list[MOST_SLICES];
  evalue_slice_place place = {0, 0};
  for (;;) {
    int count = evalue_slices_fill(list, MOST_SLICES, slices, n, place);
    if (count == 0) return EVALUE_OK;
    size_t some = write_some(s->fd, list, count);
    if (some == 0) return evalue_file_fail(s, errno);
    *taken += some;
    evalue_slices_advance(slices, n, &place, some);
  }
}

/* ---- cutting back ---- */

/* ftruncate, but it goes on after a signal. */
static bool truncate_to(int fd, off_t size) {
  int result;
  do {
    result = ftruncate(fd, size);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/*
 * Cuts the file back to what was in it before the last `taken` bytes. Without a base that is only possible when there
 * are none, and neither is it when somebody else has written behind them.
 */
static evalue_status cut_back(evalue_file_sink *s, uint64_t taken) {
  struct stat status;
  if (taken == 0) return EVALUE_OK;
  if (s->base < 0 || fstat(s->fd, &status) != 0) return EVALUE_IO;
  off_t end = (off_t)(s->base + (int64_t)s->in_file);
  bool is_last = (uint64_t)status.st_size == (uint64_t)end + taken;
  if (!is_last || !truncate_to(s->fd, end) || lseek(s->fd, end, SEEK_SET) != end) return EVALUE_IO;
  EVALUE_LOG(&evalue_log_sink, EVALUE_LOG_INFO, "a write failed after %llu bytes, which were cut off again",
             (unsigned long long)taken);
  return EVALUE_OK;
}

/* After this, what is in the file is not known beyond s->in_file. */
static void poison(evalue_file_sink *s) {
  s->sink.used = s->in_file;
  evalue_sink_poison(&s->sink);
}

/* Writes the buffer out. When that fails, its records are still in it. */
static evalue_status write_buffer(evalue_file_sink *s) {
  evalue_slice slice = {s->buffer, s->buffered};
  uint64_t taken = 0;
  evalue_status status = write_all(s, &slice, 1, &taken);
  if (status == EVALUE_OK) {
    s->in_file += s->buffered;
    s->buffered = 0;
  } else if (cut_back(s, taken) != EVALUE_OK) {
    poison(s);
  }
  return status;
}

/* ---- the sink's functions ---- */

static evalue_status file_begin(evalue_sink *sink, uint64_t nbytes, uint32_t alignment) {
  evalue_file_sink *s = file_of(sink);
  (void)alignment;
  evalue_status status = EVALUE_OK;
  if (nbytes > s->buffer_size - s->buffered) status = write_buffer(s);
  s->is_direct = nbytes > s->buffer_size;
  s->mark = s->buffered;
  s->taken = 0;
  return status;
}

static evalue_status file_write(evalue_sink *sink, const evalue_slice *slices, size_t n) {
  evalue_file_sink *s = file_of(sink);
  if (s->is_direct != 0) return write_all(s, slices, n, &s->taken);
  for (size_t i = 0; i < n; i++) {
    if (slices[i].size == 0) continue;
    memcpy(s->buffer + s->buffered, slices[i].data, slices[i].size);
    s->buffered += slices[i].size;
  }
  return EVALUE_OK;
}

static void file_end(evalue_sink *sink) {
  evalue_file_sink *s = file_of(sink);
  if (s->is_direct != 0) s->in_file += s->taken;
}

static evalue_status file_undo(evalue_sink *sink) {
  evalue_file_sink *s = file_of(sink);
  s->buffered = s->mark;
  return s->is_direct != 0 ? cut_back(s, s->taken) : EVALUE_OK;
}

int evalue_file_sync(int fd) {
  int result;
  do {
    result = fsync(fd);
  } while (result != 0 && errno == EINTR);
  bool cannot = result != 0 && (errno == EINVAL || errno == EROFS || errno == ENOTSUP);
  return result == 0 || cannot ? 0 : errno;
}

/* Waits until the file is on the disk. After a failure nobody knows what is there. */
static evalue_status synchronise(evalue_file_sink *s) {
  int error = evalue_file_sync(s->fd);
  if (error == 0) return EVALUE_OK;
  poison(s);
  return evalue_file_fail(s, error);
}

static evalue_status file_flush(evalue_sink *sink) {
  evalue_file_sink *s = file_of(sink);
  evalue_status status = write_buffer(s);
  return status == EVALUE_OK && s->sync == EVALUE_SYNC_FLUSH ? synchronise(s) : status;
}

static evalue_status file_close(evalue_sink *sink, bool is_good) {
  evalue_file_sink *s = file_of(sink);
  evalue_status status = EVALUE_OK;
  if (s->buffered != 0) s->sink.used = s->in_file; /* the rest is lost */
  bool is_published = s->directory >= 0;           /* and has to be on the disk by then */
  bool wants_sync = s->sync == EVALUE_SYNC_CLOSE || (is_published && s->sync == EVALUE_SYNC_NEVER);
  if (is_good && wants_sync) status = synchronise(s);
  if (s->owns_fd != 0 && close(s->fd) != 0 && status == EVALUE_OK && errno != EINTR) {
    status = evalue_file_fail(s, errno);
  }
  s->fd = -1;
  if (!is_published) return status;
  evalue_status published = evalue_file_publish(s, is_good && status == EVALUE_OK);
  return status == EVALUE_OK ? published : status;
}

/* ---- starting ---- */

static const evalue_sink_functions functions = {.begin = file_begin,
                                                .write = file_write,
                                                .end = file_end,
                                                .undo = file_undo,
                                                .flush = file_flush,
                                                .close = file_close};

/* Finds out where the descriptor stands, and whether what is written there can be cut off again. */
static evalue_status find_base(evalue_file_sink *s) {
  struct stat status;
  int flags = fcntl(s->fd, F_GETFL);
  if (flags < 0 || fstat(s->fd, &status) != 0) return evalue_file_fail(s, errno);
  if ((flags & O_ACCMODE) == O_RDONLY) return EVALUE_MISUSE;
  off_t at = (flags & O_APPEND) != 0 ? status.st_size : lseek(s->fd, 0, SEEK_CUR);
  s->base = S_ISREG(status.st_mode) && at == status.st_size ? at : -1;
  return EVALUE_OK;
}

evalue_status evalue_file_start(evalue_file_sink *s, int fd, const evalue_sink_options *options) {
  memset(s, 0, sizeof *s);
  s->fd = fd;
  s->directory = -1;
  evalue_status status = evalue_sink_init_options(&s->sink, &functions, options, 1);
  if (status != EVALUE_OK) return status;
  if (options != NULL) {
    s->buffer = (uint8_t *)options->buffer;
    s->buffer_size = options->buffer_size;
    s->sync = options->sync;
  }
  status = find_base(s);
  if (status == EVALUE_OK) return EVALUE_OK;
  s->sink.self = NULL;
  s->sink.status = (int32_t)status;
  return status;
}

evalue_status evalue_file_sink_init(evalue_file_sink *s, int fd, const evalue_sink_options *options) {
  bool is_of_path = options != NULL && (options->append != 0 || options->publish != 0);
  if (s == NULL) return EVALUE_MISUSE;
  if (!is_of_path) return evalue_file_start(s, fd, options);
  memset(s, 0, sizeof *s);
  return evalue_sink_init(&s->sink, NULL, 0, 0);
}

evalue_status evalue_file_sink_discard(evalue_file_sink *s) {
  if (s == NULL || s->sink.self != &s->sink || s->sink.is_writing != 0) return EVALUE_MISUSE;
  s->sink.self = NULL;
  file_close(&s->sink, false);
  return EVALUE_OK;
}
