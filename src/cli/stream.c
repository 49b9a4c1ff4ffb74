/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of either form into an output. The writer gathers: structural bytes in a small buffer, payloads by reference;
 * both are written out and forgotten after each value, and a message's header is put in place at the end. So memory is
 * constant.
 */
#include <string.h>

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

bool cli_stream_start(cli_stream *stream, cli_output *output, cli_form form, uint32_t alignment) {
  memset(stream, 0, sizeof *stream);
  stream->output = output;
  stream->form = form;
  evalue_status status = form == CLI_MESSAGE
                             ? evalue_writer_init(&stream->writer, stream->heads, sizeof stream->heads, alignment)
                             : evalue_writer_init_sequence(&stream->writer, stream->heads, sizeof stream->heads);
  if (status == EVALUE_OK) status = evalue_writer_gather(&stream->writer, stream->slices, 3);
  if (status != EVALUE_OK) return fail(status);
  return drain(stream, NULL, 0);
}

bool cli_stream_put(cli_stream *stream, const evalue *value) {
  evalue_status status = evalue_writer_put(&stream->writer, value);
  if (status != EVALUE_OK) return fail(status);
  return drain(stream, NULL, 0);
}

bool cli_stream_put_big_endian(cli_stream *stream, const evalue_tensor *tensor, uint32_t component_size) {
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
  uint8_t header[EVALUE_HEADER_SIZE];
  if (stream->form == CLI_SEQUENCE) return true;
  evalue_status status = evalue_writer_header(&stream->writer, header);
  if (status != EVALUE_OK) return fail(status);
  header[CLI_MINOR_AT] = stream->minor;
  return cli_output_write_at(stream->output, 0, header, sizeof header);
}
