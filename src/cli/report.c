/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on stderr. Names and inputs come from anyone, so nothing goes to the terminal that could steer it. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../text/shared.h"
#include "cli.h"

static const char *command; /* the subcommand, for messages */

void cli_set_command(const char *name) {
  command = name;
}

void cli_put_escaped(FILE *stream, const char *text, size_t size) {
  const uint8_t *p = (const uint8_t *)text;
  while (size > 0) {
    uint32_t code = 0;
    size_t length = evalue_utf8_decode(p, size, &code);
    bool raw = length != 0 && !evalue_is_control(code);
    if (length == 0) length = 1;
    if (raw) {
      fwrite(p, 1, length, stream);
    } else {
      for (size_t i = 0; i < length; i++) fprintf(stream, "\\x%02x", p[i]);
    }
    p += length;
    size -= length;
  }
}

static void put_line(const char *prefix, const char *text) {
  cli_progress_hide();
  fputs(prefix, stderr);
  cli_put_escaped(stderr, text, strlen(text));
  putc('\n', stderr);
  fflush(stderr);
}

/* More than a path may have. */
enum { MESSAGE_SIZE = 8192 };

/* Prints to text. What is longer loses its middle, where a name is: a reason stands at the end. */
static void print(char text[MESSAGE_SIZE], const char *format, va_list list) {
  static const char dots[] = "...";
  enum { HEAD = MESSAGE_SIZE / 2 - sizeof dots, TAIL = MESSAGE_SIZE / 2 };
  char *whole;
  text[0] = '\0';
  int length = vasprintf(&whole, format, list);
  if (length < 0) return;
  if (length < MESSAGE_SIZE) memcpy(text, whole, (size_t)length + 1);
  else snprintf(text, MESSAGE_SIZE, "%.*s%s%s", (int)HEAD, whole, dots, whole + length - TAIL);
  free(whole);
}

void cli_message(const char *format, ...) {
  char text[MESSAGE_SIZE];
  va_list list;
  va_start(list, format);
  print(text, format, list);
  va_end(list);
  cli_progress_hide();
  fputs("evalue", stderr);
  if (command != NULL) fprintf(stderr, " %s", command);
  put_line(": ", text);
}

int cli_usage_error(const char *format, ...) {
  char text[MESSAGE_SIZE];
  va_list list;
  va_start(list, format);
  print(text, format, list);
  va_end(list);
  cli_message("%s", text);
  if (command != NULL) fprintf(stderr, "try 'evalue %s --help'\n", command);
  else fputs("try 'evalue --help'\n", stderr);
  return CLI_FAILURE;
}

/* A name that could be opened is no longer than a path may be. */
void cli_report(const char *name, const char *format, ...) {
  char text[MESSAGE_SIZE];
  va_list list;
  int length = snprintf(text, sizeof text, "%s: ", cli_input_name(name));
  size_t used = length < (int)sizeof text ? (size_t)length : sizeof text - 1;
  va_start(list, format);
  vsnprintf(text + used, sizeof text - used, format, list);
  va_end(list);
  put_line("", text);
}

const char *cli_byte(uint8_t byte, char text[CLI_BYTE_SIZE]) {
  snprintf(text, CLI_BYTE_SIZE, "%s", "\\x00");
  if (byte != 0) snprintf(text, CLI_BYTE_SIZE, "%c", byte);
  return text;
}

void cli_report_fault(const cli_input *input, cli_form form, const evalue_error *error) {
  char fault[1024], guess[CLI_GUESS_SIZE] = "";
  bool is_guessed = false;
  EVALUE_LOG_REJECTED(form == CLI_JAVA ? &evalue_log_executorch_java : &evalue_log_reader, error, input->data,
                      input->size);
  evalue_print_error_of(error, input->size, fault, sizeof fault);
  if (form == CLI_JAVA) {
    is_guessed = cli_guess(input, CLI_EXPECTED_JAVA, guess);
  } else if (error->fault == EVALUE_FAULT_BAD_MAGIC || error->fault == EVALUE_FAULT_HEADER_SHORT) {
    is_guessed = cli_guess(input, CLI_EXPECTED_MESSAGE, guess);
  } else if (error->value_index == 0 && error->position < EVALUE_HEADER_SIZE) { /* wrong from the start */
    is_guessed = cli_guess(input, CLI_EXPECTED_SEQUENCE, guess);
  }
  /* The last number is of the bytes that there are, and they are counted only in files. */
  bool is_count = error->fault == EVALUE_FAULT_TRAILING_BYTES || error->fault == EVALUE_FAULT_BODY_SHORT ||
                  error->fault == EVALUE_FAULT_LENGTH_PAST_END || error->fault == EVALUE_FAULT_FIELD_SHORT;
  const char *more = input->has_more && is_count ? " or more" : "";
  cli_report(input->name, "%s%s%s%s", fault, more, is_guessed ? "; it looks like " : "", guess);
}

const char *cli_input_name(const char *name) {
  return strcmp(name, "-") == 0 ? "stdin" : name;
}

const char *cli_output_name(const char *name) {
  return strcmp(name, "-") == 0 ? "stdout" : name;
}

void cli_report_channel(const evalue_ipc_channel *channel, const char *path, const char *what) {
  char text[300];
  const evalue_error *error = evalue_ipc_error(channel);
  evalue_print_error(error, text, sizeof text);
  if (error->status == EVALUE_IO) cli_message("%s: %s: %s", path, what, strerror(channel->system_error));
  else cli_message("%s: %s: %s", path, what, text);
}
