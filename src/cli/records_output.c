/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Record files that appear whole or not at all. One file without an index is an output as every other (output.c). More
 * files are made in a temporary directory beside their places, and moved there when all are on the disk; there they
 * have the names by which the handler of signals finds them (cleanup.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records.h"

enum { LARGEST_BUFFER = 1 << 20, ALL_BUFFERS = 64 << 20, LEAST_BUFFER = 1 << 14 };

/* One file and its index. */
typedef struct part {
  char *path, *index_path; /* index_path: NULL without an index */
  mode_t mode, index_mode;
  int fd;
  uint8_t *buffer;
  FILE *index;
  evalue_file_sink sink;
  evalue_record_writer writer;
} part;

/* A sink into an output. */
typedef struct output_sink {
  evalue_sink sink;
  cli_output *output;
} output_sink;

struct records_output {
  cli_output *plain; /* one file without an index, through: */
  output_sink plain_sink;
  evalue_record_writer plain_writer;
  part *parts; /* NULL: plain */
  size_t count, next;
  int parent, directory;
  char temporary[CLI_TEMPORARY_SIZE];
  volatile uint64_t files; /* that may be in the directory */
};

/* ---- one file ---- */

/* The output has said already why it failed. */
static evalue_status write_plain(evalue_sink *sink, const evalue_slice *slices, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!cli_output_write(((output_sink *)sink)->output, slices[i].data, slices[i].size)) return EVALUE_IO;
  }
  return EVALUE_OK;
}

/* An output that has failed is never published, so nothing has to be taken back. */
static evalue_status undo_plain(evalue_sink *sink) {
  (void)sink;
  return EVALUE_OK;
}

static bool open_plain(records_output *output, const char *name, const evalue_record_writer_options *options) {
  static const evalue_sink_functions functions = {.write = write_plain, .undo = undo_plain};
  output->plain = cli_output_open(name);
  if (output->plain == NULL) return false;
  output->plain_sink.output = output->plain;
  evalue_status status = evalue_sink_init(&output->plain_sink.sink, &functions, 0, 1);
  if (status == EVALUE_OK) {
    status = evalue_record_writer_init(&output->plain_writer, &output->plain_sink.sink, options);
  }
  if (status != EVALUE_OK) cli_message("cannot write: %s", evalue_status_message((int32_t)status));
  return status == EVALUE_OK;
}

/* ---- several ---- */

static bool fail(const char *path, const char *what, int error) {
  cli_message("%s: %s: %s", path, what, strerror(error));
  return false;
}

/* Many files are open at once: as many as may be. */
static void raise_limit(size_t files) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files + 64) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

static bool open_directory(records_output *output, const char *path) {
  const char *name;
  output->parent = cli_open_parent(path, &name);
  int error = output->parent < 0 ? errno : 0;
  cli_cleanup_block();
  if (error == 0) output->directory = cli_create_temporary(output->parent, true, output->temporary);
  if (error == 0 && output->directory < 0) error = errno;
  if (output->directory >= 0) {
    cli_cleanup_directory(output->parent, output->temporary, output->directory, &output->files);
  }
  cli_cleanup_unblock();
  return error == 0 || fail(path, "cannot create", error);
}

/* Creates the next file of the directory; *mode is that of what it will replace. -1, with a message, on failure. */
static int create(records_output *output, const char *path, mode_t *mode) {
  char name[CLI_VALUE_FILE_NAME_SIZE];
  struct stat status;
  *mode = cli_new_mode(0666);
  if (stat(path, &status) == 0) {
    *mode = status.st_mode & 0777;
    if (!S_ISREG(status.st_mode)) {
      cli_message("%s: cannot write: it is no regular file", path);
      return -1;
    }
  }
  cli_value_file_name(output->files++, name);
  int fd = openat(output->directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) fail(path, "cannot create", errno);
  return fd;
}

static bool open_index(records_output *output, part *p) {
  p->index_path = records_index_name(p->path);
  if (p->index_path == NULL) return false;
  int fd = create(output, p->index_path, &p->index_mode);
  if (fd < 0) return false;
  p->index = fdopen(fd, "w");
  if (p->index == NULL) close(fd);
  return p->index != NULL || records_out_of_memory() == CLI_OK;
}

static bool open_part(records_output *output, part *p, const char *name, const records_output_options *options,
                      const evalue_record_writer_options *writer_options) {
  size_t buffer_size = ALL_BUFFERS / output->count;
  if (buffer_size > LARGEST_BUFFER) buffer_size = LARGEST_BUFFER;
  if (buffer_size < LEAST_BUFFER) buffer_size = LEAST_BUFFER;
  p->path = options->shards != 0 ? records_shard_name(name, (size_t)(p - output->parts), output->count) : strdup(name);
  if (p->path == NULL) return options->shards == 0 && records_out_of_memory() == CLI_OK;
  p->fd = create(output, p->path, &p->mode);
  if (p->fd < 0) return false;
  p->buffer = malloc(buffer_size);
  const evalue_sink_options sink_options = {.buffer = p->buffer, .buffer_size = buffer_size};
  if (p->buffer == NULL) return records_out_of_memory() == CLI_OK;
  evalue_status status = evalue_file_sink_init(&p->sink, p->fd, &sink_options);
  if (status == EVALUE_OK) status = evalue_record_writer_init(&p->writer, &p->sink.sink, writer_options);
  if (status != EVALUE_OK) return fail(p->path, "cannot write", EIO);
  return !options->has_index || open_index(output, p);
}

static bool open_parts(records_output *output, const char *name, const records_output_options *options,
                       const evalue_record_writer_options *writer_options) {
  output->count = options->shards != 0 ? options->shards : 1;
  raise_limit(output->count * (options->has_index ? 2 : 1));
  output->parts = calloc(output->count, sizeof *output->parts);
  if (output->parts == NULL) return records_out_of_memory() == CLI_OK;
  for (size_t i = 0; i < output->count; i++) output->parts[i].fd = -1;
  if (!open_directory(output, name)) return false;
  for (size_t i = 0; i < output->count; i++) {
    if (!open_part(output, &output->parts[i], name, options, writer_options)) return false;
  }
  return true;
}

records_output *records_output_open(const char *name, const records_output_options *options) {
  const evalue_record_writer_options writer_options = {.alignment = options->alignment,
                                                       .max_record = options->max_record};
  records_output *output = calloc(1, sizeof *output);
  if (output == NULL) {
    records_out_of_memory();
    return NULL;
  }
  output->parent = output->directory = -1;
  bool is_plain = options->shards == 0 && !options->has_index;
  if (is_plain ? open_plain(output, name, &writer_options) : open_parts(output, name, options, &writer_options)) {
    return output;
  }
  records_output_finish(output, CLI_FAILURE);
  return NULL;
}

/* ---- writing ---- */

/* What a status of a writer means; p is NULL for one file, of which the output has said already why it failed. */
static int judge(evalue_status status, const part *p) {
  if (status == EVALUE_OK) return CLI_OK;
  if (status == EVALUE_LIMIT) return CLI_BAD_DATA;
  int error = p != NULL ? p->writer.system_error : 0;
  if (p != NULL) fail(p->path, "cannot write", error != 0 ? error : EIO);
  return CLI_FAILURE;
}

/* Puts values, or bytes if there are no values. */
static int put(records_output *output, const evalue *values, size_t n, const evalue_slice *data) {
  part *p = output->parts != NULL ? &output->parts[output->next] : NULL;
  evalue_record_writer *writer = p != NULL ? &p->writer : &output->plain_writer;
  uint64_t offset = 0;
  evalue_status status = data != NULL ? evalue_record_writer_put_bytes(writer, data->data, data->size, &offset)
                                      : evalue_record_writer_put(writer, values, n, &offset);
  if (status == EVALUE_OK && p != NULL) {
    output->next = (output->next + 1) % output->count;
    if (p->index != NULL) {
      fprintf(p->index, "%llu %llu\n", (unsigned long long)offset, (unsigned long long)(writer->end - offset));
    }
  }
  return judge(status, p);
}

int records_output_put(records_output *output, const evalue *values, size_t n) {
  return put(output, values, n, NULL);
}

int records_output_put_bytes(records_output *output, evalue_slice data) {
  return put(output, NULL, 0, &data);
}

/* ---- publishing ---- */

/* Puts a file on the disk, with the mode that it shall have. */
static bool settle(int fd, const char *path, mode_t mode) {
  int error = fchmod(fd, mode) == 0 ? cli_sync(fd) : errno;
  return error == 0 || fail(path, "cannot write", error);
}

static bool settle_part(part *p) {
  if (judge(evalue_record_writer_flush(&p->writer), p) != CLI_OK) return false;
  if (!settle(p->fd, p->path, p->mode)) return false;
  if (p->index == NULL) return true;
  if (fflush(p->index) != 0 || ferror(p->index)) return fail(p->index_path, "cannot write", errno);
  return settle(fileno(p->index), p->index_path, p->index_mode);
}

/* Moves the file with that number to its place. */
static bool move(const records_output *output, uint64_t number, const char *path) {
  char name[CLI_VALUE_FILE_NAME_SIZE];
  const char *slash = strrchr(path, '/');
  cli_value_file_name(number, name);
  if (renameat(output->directory, name, output->parent, slash == NULL ? path : slash + 1) == 0) return true;
  return fail(path, "cannot write", errno);
}

static bool publish(records_output *output) {
  bool good = true;
  uint64_t number = 0;
  for (size_t i = 0; i < output->count && good; i++) good = settle_part(&output->parts[i]);
  cli_cleanup_block(); /* a signal comes before the first or after the last */
  for (size_t i = 0; i < output->count && good; i++) {
    const part *p = &output->parts[i];
    good = move(output, number++, p->path);
    if (good && p->index != NULL) good = move(output, number++, p->index_path);
  }
  cli_cleanup_unblock();
  int error = good ? cli_sync(output->parent) : 0;
  return error == 0 ? good : fail(output->parts[0].path, "cannot write", error);
}

static void close_part(part *p) {
  evalue_record_writer_close(&p->writer);
  evalue_sink_close(&p->sink.sink);
  if (p->fd >= 0) close(p->fd);
  if (p->index != NULL) fclose(p->index);
  free(p->buffer);
  free(p->path);
  free(p->index_path);
}

static void close_parts(records_output *output) {
  for (size_t i = 0; i < output->count; i++) close_part(&output->parts[i]);
  if (output->directory >= 0) {
    cli_cleanup_now();
    close(output->directory);
  }
  if (output->parent >= 0) close(output->parent);
  free(output->parts);
}

int records_output_finish(records_output *output, int result) {
  bool good = result == CLI_OK;
  if (output->parts != NULL) {
    if (good) good = publish(output);
    close_parts(output);
  } else {
    if (good) good = evalue_record_writer_flush(&output->plain_writer) == EVALUE_OK;
    evalue_record_writer_close(&output->plain_writer);
    evalue_sink_close(&output->plain_sink.sink);
    if (good) good = cli_output_commit(output->plain);
    else cli_output_discard(output->plain);
  }
  free(output);
  return result != CLI_OK || good ? result : CLI_FAILURE;
}
