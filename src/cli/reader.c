/* SPDX-License-Identifier: BSD-3-Clause */
/* Values out of an input of any form, one after the other, and how much of an input a form needs. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- ExecuTorch's Java bytes: one value ---- */

/* Decodes the value: with memory for its elements when they have to be swapped, and somebody wants to see them. */
static evalue_status read_java(cli_reader *r, evalue *value) {
  const cli_input *input = r->input;
  uint64_t used = 0;
  evalue_status status =
      evalue_java_decode(input->data, input->size, &r->format.java, NULL, 0, value, &used, &r->java_error);
  if (status == EVALUE_NO_SPACE) {
    size_t needed = (size_t)r->java_error.expected;
    EVALUE_LOG_COPIED(&evalue_log_executorch_java, needed, "the elements are wider than a byte, and big-endian");
    r->memory = malloc(needed);
    if (r->memory == NULL) return status;
    status =
        evalue_java_decode(input->data, input->size, &r->format.java, r->memory, needed, value, &used, &r->java_error);
  }
  if (status == EVALUE_OK) r->java_end = used;
  return status;
}

static evalue_status next_java(cli_reader *r, evalue_element *element, evalue *value) {
  if (r->java_error.status != EVALUE_OK) return (evalue_status)r->java_error.status;
  if (r->java_end != 0) return EVALUE_END;
  evalue_status status = read_java(r, value);
  if (status == EVALUE_OK && element != NULL) {
    memset(element, 0, sizeof *element);
    element->tag = evalue_load_u8(r->input->data);
    element->raw.data = r->input->data;
    element->raw.size = (size_t)r->java_end;
    element->payload.data = r->input->data + 1;
    element->payload.size = (size_t)r->java_end - 1;
  }
  return status;
}

/* ---- any form ---- */

void cli_reader_init(cli_reader *r, const cli_input *input, const cli_format *format) {
  memset(r, 0, sizeof *r);
  r->input = input;
  r->format = *format;
  if (format->form == CLI_MESSAGE) evalue_reader_init(&r->reader, input->data, input->size, NULL);
  if (format->form == CLI_SEQUENCE) evalue_reader_init_sequence(&r->reader, input->data, input->size, NULL);
}

evalue_status cli_reader_next_element(cli_reader *r, evalue_element *element, evalue *value) {
  if (r->format.form == CLI_JAVA) return next_java(r, element, value);
  return evalue_reader_next_element(&r->reader, element, value);
}

evalue_status cli_reader_next(cli_reader *r, evalue *value) {
  if (r->format.form == CLI_JAVA) return next_java(r, NULL, value);
  return evalue_reader_next(&r->reader, value);
}

const evalue_error *cli_reader_error(const cli_reader *r) {
  return r->format.form == CLI_JAVA ? &r->java_error : evalue_reader_error(&r->reader);
}

uint64_t cli_reader_position(const cli_reader *r) {
  return r->format.form == CLI_JAVA ? r->java_end : evalue_reader_position(&r->reader);
}

uint64_t cli_reader_count(const cli_reader *r) {
  return r->format.form == CLI_JAVA ? r->java_end != 0 : evalue_reader_count(&r->reader);
}

void cli_reader_close(cli_reader *r) {
  free(r->memory);
  r->memory = NULL;
}

int cli_reader_finish(cli_reader *r) {
  const evalue_error *error = cli_reader_error(r);
  cli_reader_close(r);
  if (!cli_input_ok(r->input)) return CLI_FAILURE; /* what was read from it says nothing about the file */
  if (error->status == EVALUE_OK) return CLI_OK;
  if (error->status == EVALUE_NO_SPACE) {
    cli_message("%s: out of memory: the elements take %llu bytes", cli_input_name(r->input->name),
                (unsigned long long)error->expected);
    return CLI_FAILURE;
  }
  cli_report_fault(r->input, r->format.form, error);
  return CLI_BAD_DATA;
}

/* ---- how much of an input is needed ---- */

/* A header that is wrong is never mended by what follows it. */
static uint64_t needed_by_message(const uint8_t *data, size_t size) {
  evalue_reader reader;
  evalue_status status = evalue_reader_init(&reader, data, size, NULL);
  const evalue_error *error = evalue_reader_error(&reader);
  bool is_short = status == EVALUE_TRUNCATED && error->fault == EVALUE_FAULT_HEADER_SHORT;
  if (is_short) return EVALUE_HEADER_SIZE;
  if (status == EVALUE_TRUNCATED) return error->needed < CLI_INPUT_LIMIT ? error->needed + 1 : size;
  return status == EVALUE_OK ? EVALUE_HEADER_SIZE + evalue_load_u64(data + 8) + 1 : size;
}

/* A sequence says nowhere how long it is, but its faults stay, too, unless they are about its end. */
static uint64_t needed_by_sequence(const uint8_t *data, size_t size) {
  evalue_reader reader;
  evalue_status status = evalue_reader_init_sequence(&reader, data, size, NULL);
  while (status == EVALUE_OK) status = evalue_reader_next(&reader, NULL);
  const evalue_error *error = evalue_reader_error(&reader);
  bool is_of_end = status == EVALUE_END || (status == EVALUE_TRUNCATED && error->needed < CLI_INPUT_LIMIT) ||
                   (error->fault == EVALUE_FAULT_PAD_MISPLACED && size - error->position <= EVALUE_ELEMENT_HEADER_SIZE);
  return is_of_end ? UINT64_MAX : size;
}

/* One value, whose head says how long it is. Once it is all there, what is wrong with it stays. */
static uint64_t needed_by_java(const uint8_t *data, size_t size, const evalue_java_options *options) {
  uint64_t value_size = 0, scratch_size = 0;
  evalue_error error;
  evalue_status status = evalue_java_measure(data, size, options, &value_size, &scratch_size, &error);
  if (status == EVALUE_TRUNCATED) return error.needed;
  if (status != EVALUE_OK) return size;
  if (size < value_size) return value_size;
  status = evalue_java_decode(data, (size_t)value_size, options, NULL, 0, NULL, NULL, NULL);
  return status == EVALUE_OK ? value_size + 1 : size;
}

uint64_t cli_reader_needed(const uint8_t *data, size_t size, const cli_format *format) {
  if (format->form == CLI_JAVA) return needed_by_java(data, size, &format->java);
  return format->form == CLI_MESSAGE ? needed_by_message(data, size) : needed_by_sequence(data, size);
}
