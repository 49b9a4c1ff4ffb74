/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values into an output. For the library's own forms the writer gathers: structural bytes in a small buffer, payloads
 * by reference; both are written out and forgotten after each value, and a message's header is put in place at the end.
 * So memory is constant. ExecuTorch's Java bytes are one value, and made in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "../text/shared.h"
#include "cli.h"

enum { PART_SIZE = 1 << 22, SWAP_SIZE = 1 << 15 };

/* Says why a value could not be written: with values that were checked, only because the output would be too large. */
static bool fail(evalue_status status) {
  cli_message("cannot write the value: %s", evalue_status_message((int32_t)status));
  return false;
}

/* Writes in parts, so that the bar moves. */
static bool write_slice(cli_stream *stream, evalue_slice slice) {
  const uint8_t *data = slice.data;
  while (slice.size > 0) {
    size_t part = slice.size < PART_SIZE ? slice.size : PART_SIZE;
    if (!cli_output_write(stream->output, data, part)) return false;
    data += part;
    slice.size -= part;
    stream->done += part;
    if (stream->progress != NULL) cli_progress_at(stream->progress, stream->done);
  }
  return true;
}

/* Writes big-endian components as little-endian ones. */
static bool write_swapped(cli_stream *stream, uint32_t component_size, evalue_slice slice) {
  uint8_t swapped[SWAP_SIZE];
  const uint8_t *data = slice.data;
  while (slice.size > 0) {
    size_t part = slice.size < SWAP_SIZE ? slice.size : SWAP_SIZE;
    evalue_copy_reversed(swapped, data, part, component_size);
    if (!write_slice(stream, (evalue_slice){swapped, part})) return false;
    data += part;
    slice.size -= part;
  }
  return true;
}

/* Writes out what the writer has gathered; the payload of *big_endian, if not NULL, is swapped. */
static bool drain(cli_stream *stream, const evalue_tensor *big_endian, uint32_t component_size) {
  for (uint64_t i = 0; i < stream->writer.slice_count; i++) {
    evalue_slice slice = stream->slices[i];
    bool is_payload = big_endian != NULL && slice.data == big_endian->data;
    if (is_payload ? !write_swapped(stream, component_size, slice) : !write_slice(stream, slice)) return false;
  }
  evalue_status status = evalue_writer_drain(&stream->writer);
  return status == EVALUE_OK || fail(status);
}

/* ---- ExecuTorch's Java bytes ---- */

static bool fail_for_memory(uint64_t nbytes) {
  cli_message("out of memory: the value takes %llu bytes", (unsigned long long)nbytes);
  return false;
}

static bool refuse(cli_stream *stream, const char *what, const char *why) {
  const char *source = stream->source;
  cli_message("%s%sexecutorch-java %s: %s", source != NULL ? source : "", source != NULL ? ": " : "", what, why);
  stream->failure = CLI_BAD_DATA;
  return false;
}

/* This form cannot say the value. The place in the bytes that are not written is of no interest, but for the one in a
 * String. */
static bool refuse_value(cli_stream *stream, const evalue_error *error) {
  char what[400], place[64] = "", why[560];
  evalue_print_explanation_of(error, UINT64_MAX, what, sizeof what);
  if (error->fault == EVALUE_FAULT_BAD_UTF8) {
    unsigned long long at = (unsigned long long)error->position - CLI_JAVA_STRING_AT;
    snprintf(place, sizeof place, " at %llu of the String", at);
  }
  snprintf(why, sizeof why, "%s: %s: %s%s", evalue_status_name(error->status), evalue_field_name(error->field), what,
           place);
  return refuse(stream, "cannot hold the value", why);
}

static bool refuse_count(cli_stream *stream, const char *found) {
  return refuse(stream, "holds one value", found);
}

static bool put_java(cli_stream *stream, const evalue *value) {
  uint64_t size = 0;
  evalue_error error;
  if (stream->count++ != 0) return refuse_count(stream, "expected one, found more");
  if (evalue_java_size(value, &stream->format.java, &size, &error) != EVALUE_OK) return refuse_value(stream, &error);
  uint8_t *bytes = malloc((size_t)size);
  if (bytes == NULL) return fail_for_memory(size);
  evalue_status status = evalue_java_encode(value, &stream->format.java, bytes, (size_t)size, &size, &error);
  bool good = status == EVALUE_OK ? write_slice(stream, (evalue_slice){bytes, (size_t)size})
                                  : refuse_value(stream, &error); /* the input has changed meanwhile */
  free(bytes);
  return good;
}

static bool put_java_big_endian(cli_stream *stream, const evalue_tensor *tensor, uint32_t component_size) {
  evalue value = evalue_from_tensor(tensor);
  uint8_t *bytes = tensor->nbytes != 0 ? malloc(tensor->nbytes) : NULL;
  if (bytes == NULL && tensor->nbytes != 0) return fail_for_memory(tensor->nbytes);
  evalue_copy_reversed(bytes, tensor->data, tensor->nbytes, component_size);
  value.tensor.data = bytes;
  bool good = put_java(stream, &value);
  free(bytes);
  return good;
}

/* ---- any form ---- */

bool cli_stream_start(cli_stream *stream, cli_output *output, const cli_format *format, uint32_t alignment) {
  memset(stream, 0, sizeof *stream);
  stream->output = output;
  stream->format = *format;
  stream->failure = CLI_FAILURE;
  if (format->form == CLI_JAVA) return true;
  evalue_status status = format->form == CLI_MESSAGE
                             ? evalue_writer_init(&stream->writer, stream->heads, sizeof stream->heads, alignment)
                             : evalue_writer_init_sequence(&stream->writer, stream->heads, sizeof stream->heads);
  if (status == EVALUE_OK) status = evalue_writer_gather(&stream->writer, stream->slices, 3);
  if (status != EVALUE_OK) return fail(status);
  return drain(stream, NULL, 0);
}

bool cli_stream_put(cli_stream *stream, const evalue *value) {
  if (stream->format.form == CLI_JAVA) return put_java(stream, value);
  evalue_status status = evalue_writer_put(&stream->writer, value);
  if (status != EVALUE_OK) return fail(status);
  return drain(stream, NULL, 0);
}

bool cli_stream_put_big_endian(cli_stream *stream, const evalue_tensor *tensor, uint32_t component_size) {
  if (stream->format.form == CLI_JAVA) return put_java_big_endian(stream, tensor, component_size);
  evalue_status status = evalue_writer_put_tensor(&stream->writer, tensor);
  if (status != EVALUE_OK) return fail(status);
  return drain(stream, tensor, component_size);
}

bool cli_stream_put_ancillary(cli_stream *stream, uint32_t tag, evalue_slice payload) {
  evalue_status status = evalue_writer_put_ancillary(&stream->writer, tag, payload.data, payload.size);
  if (status != EVALUE_OK) return fail(status);
  return drain(stream, NULL, 0);
}

bool cli_stream_finish(cli_stream *stream) {
  EVALUE_LOG(stream->format.form == CLI_JAVA ? &evalue_log_executorch_java : &evalue_log_writer, EVALUE_LOG_DEBUG,
             "%llu bytes written as %s", (unsigned long long)stream->done, cli_form_name(stream->format.form));
  uint8_t header[EVALUE_HEADER_SIZE];
  if (stream->format.form == CLI_JAVA) return stream->count == 1 || refuse_count(stream, "expected one, found none");
  if (stream->format.form == CLI_SEQUENCE) return true;
  evalue_status status = evalue_writer_header(&stream->writer, header);
  if (status != EVALUE_OK) return fail(status);
  header[CLI_MINOR_AT] = stream->minor;
  return cli_output_write_at(stream->output, 0, header, sizeof header);
}
