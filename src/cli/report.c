/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on stderr. Names and inputs come from anyone, so nothing goes to the terminal that could steer it. */
#include <stdarg.h>
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

/* More than a path may have; a longer message is cut. */
enum { MESSAGE_SIZE = 8192 };

void cli_message(const char *format, ...) {
  char text[MESSAGE_SIZE];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
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
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  cli_message("%s", text);
  if (command != NULL) fprintf(stderr, "try 'evalue %s --help'\n", command);
  else fputs("try 'evalue --help'\n", stderr);
  return CLI_FAILURE;
}

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

void cli_report_fault(const cli_input *input, const evalue_error *error) {
  char fault[1024], guess[CLI_GUESS_SIZE] = "";
  bool is_guessed = false;
  evalue_print_error_of(error, input->size, fault, sizeof fault);
  if (error->fault == EVALUE_FAULT_BAD_MAGIC || error->fault == EVALUE_FAULT_HEADER_SHORT) {
    is_guessed = cli_guess(input, CLI_EXPECTED_MESSAGE, guess);
  } else if (error->value_index == 0 && error->position < EVALUE_HEADER_SIZE) { /* wrong from the start */
    is_guessed = cli_guess(input, CLI_EXPECTED_SEQUENCE, guess);
  }
  /* The bytes after a message are counted only in files. */
  const char *more = input->has_more && error->fault == EVALUE_FAULT_TRAILING_BYTES ? " or more" : "";
  cli_report(input->name, "%s%s%s%s", fault, more, is_guessed ? "; it looks like " : "", guess);
}

const char *cli_input_name(const char *name) {
  return strcmp(name, "-") == 0 ? "stdin" : name;
}

const char *cli_output_name(const char *name) {
  return strcmp(name, "-") == 0 ? "stdout" : name;
}
