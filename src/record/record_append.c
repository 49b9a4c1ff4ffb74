/* SPDX-License-Identifier: BSD-3-Clause */
/* Writers by path: a file that begins anew, or goes on behind its last whole record. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record_internal.h"

enum { NEW_MODE = 0666, BUFFER = 1 << 20 };

static evalue_status fail(evalue_record_writer *w, evalue_status status, int error) {
  w->status = (int32_t)status;
  w->system_error = error;
  return status;
}

/* ---- the torn end ---- */

/* Says whether a file has only zeros from `at` on. */
static bool ends_with_zeros(int fd, uint64_t at) {
  static const uint8_t zeros[4096];
  uint8_t bytes[sizeof zeros];
  for (;;) {
    int64_t got = evalue_record_read_some(fd, bytes, sizeof bytes, at);
    if (got == 0) return true;
    if (got < 0 || memcmp(bytes, zeros, (size_t)got) != 0) return false;
    at += (uint64_t)got;
  }
}

/* Finds the end of the last whole record, and cuts off what is behind it, if that is a torn record. */
static evalue_status find_end(evalue_record_writer *w, evalue_record_index *index) {
  evalue_record_scan scan;
  evalue_status status = evalue_record_scan_heads(&scan, w->fd, index);
  bool is_torn = status == EVALUE_TRUNCATED || (status == EVALUE_CORRUPT && ends_with_zeros(w->fd, scan.end));
  if (status == EVALUE_UNSUPPORTED) return fail(w, EVALUE_IO, ESPIPE);
  if (status != EVALUE_END && !is_torn) return fail(w, status, scan.system_error);
  if (is_torn && !evalue_record_cut(w->fd, scan.end)) return fail(w, EVALUE_IO, errno);
  w->cut = is_torn ? scan.file_size - scan.end : 0;
  if (lseek(w->fd, (off_t)scan.end, SEEK_SET) < 0) return fail(w, EVALUE_IO, errno);
  w->base = scan.end;
  return EVALUE_OK;
}

/* ---- opening ---- */

/* Waits until a file that may be new is on the disk by its name, too: fsync of a file does not promise that. */
static void sync_directory(const char *path) {
  const char *slash = strrchr(path, '/');
  size_t size = slash == NULL ? 0 : (size_t)(slash - path) + 1;
  char *parent = evalue_record_allocate(size + 2);
  if (parent == NULL) return;
  memcpy(parent, size == 0 ? "." : path, size == 0 ? 1 : size);
  parent[size == 0 ? 1 : size] = '\0';
  int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    (void)fsync(fd);
    close(fd);
  }
  free(parent);
}

/* Opens and locks the file; one that begins anew is emptied, once no other writer can have it. */
static evalue_status open_file(evalue_record_writer *w, const char *path, const evalue_record_writer_options *options) {
  uint64_t size = 0;
  int error, access = options->append != 0 ? O_RDWR : O_WRONLY;
  w->fd = open(path, access | O_CREAT | O_CLOEXEC | O_NOCTTY, NEW_MODE);
  if (w->fd < 0) return fail(w, EVALUE_IO, errno);
  bool is_file = evalue_record_file_size(w->fd, &size, &error);
  if (error != 0) return fail(w, EVALUE_IO, error);
  if (is_file && !evalue_record_lock(w->fd)) return fail(w, EVALUE_IO, errno);
  if (is_file && options->append == 0 && size != 0 && !evalue_record_cut(w->fd, 0)) return fail(w, EVALUE_IO, errno);
  if (size == 0 && options->sync != EVALUE_SYNC_NEVER) sync_directory(path);
  return EVALUE_OK;
}

/* Starts the sink on the file, which is open, and stands where records go. */
static evalue_status start_sink(evalue_record_writer *w, const evalue_record_writer_options *options) {
  size_t buffer_size = options->buffer_size != 0 ? options->buffer_size : BUFFER;
  w->buffer = evalue_record_allocate(buffer_size);
  if (w->buffer == NULL) return fail(w, EVALUE_IO, errno);
  const evalue_sink_options sink_options = {.sync = options->sync, .buffer = w->buffer, .buffer_size = buffer_size};
  evalue_status status = evalue_file_sink_init(&w->file, w->fd, &sink_options);
  if (status != EVALUE_OK) return fail(w, status, w->file.sink.system_error);
  return evalue_record_writer_start(w, &w->file.sink, options);
}

evalue_status evalue_record_writer_open(evalue_record_writer *w, const char *path,
                                        const evalue_record_writer_options *options) {
  static const evalue_record_writer_options defaults = {0};
  evalue_record_index index = {0};
  if (w == NULL) return EVALUE_MISUSE;
  memset(w, 0, sizeof *w);
  w->fd = -1;
  if (path == NULL || path[0] == '\0' || !evalue_record_writer_options_are_good(options)) {
    return fail(w, EVALUE_MISUSE, 0);
  }
  if (options == NULL) options = &defaults;
  evalue_status status = open_file(w, path, options);
  if (status == EVALUE_OK && options->append != 0) status = find_end(w, options->index_path != NULL ? &index : NULL);
  if (status == EVALUE_OK) status = start_sink(w, options);
  if (status == EVALUE_OK && w->lines != NULL) {
    status = evalue_record_index_write(&index, &w->index.sink);
    if (status != EVALUE_OK) fail(w, status, w->index.sink.system_error);
  }
  evalue_record_index_free(&index);
  if (status == EVALUE_OK) w->self = w;
  else evalue_record_writer_free(w);
  return status;
}
