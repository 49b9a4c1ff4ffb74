/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on stderr. Names and inputs come from anyone, so nothing goes to the terminal that could steer it. */
#include <stdarg.h>
#include <string.h>

#include "cli.h"

static bool in_range(uint8_t byte, uint8_t low, uint8_t high) {
  return byte >= low && byte <= high;
}

/* The table of well-formed UTF-8 (Unicode, table 3-7). */
size_t cli_utf8_length(const void *text, size_t size) {
  const uint8_t *p = text;
  if (p[0] < 0x80) return 1;
  if (size < 2 || !in_range(p[0], 0xc2, 0xf4)) return 0;
  if (p[0] < 0xe0) return in_range(p[1], 0x80, 0xbf) ? 2 : 0;
  uint8_t low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
  uint8_t high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
  if (size < 3 || !in_range(p[1], low, high) || !in_range(p[2], 0x80, 0xbf)) return 0;
  if (p[0] < 0xf0) return 3;
  return size >= 4 && in_range(p[3], 0x80, 0xbf) ? 4 : 0;
}

/* C0, DEL, and the C1 controls that terminals obey in UTF-8, too. */
static bool is_control(const uint8_t *p, size_t length) {
  return (length == 1 && (p[0] < 0x20 || p[0] == 0x7f)) || (length == 2 && p[0] == 0xc2 && p[1] < 0xa0);
}

void cli_put_escaped(FILE *stream, const char *text, size_t size) {
  const uint8_t *p = (const uint8_t *)text;
  while (size > 0) {
    size_t length = cli_utf8_length(p, size);
    bool raw = length != 0 && !is_control(p, length);
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

void cli_message(const char *format, ...) {
  char text[8192]; /* more than a path may have; a longer message is cut */
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  put_line("evalue: ", text);
}

void cli_report_fault(const cli_input *input, const evalue_error *error) {
  char fault[1024], text[8192];
  evalue_print_error(error, fault, sizeof fault);
  const char *guess = NULL;
  if (error->fault == EVALUE_FAULT_BAD_MAGIC || error->fault == EVALUE_FAULT_HEADER_SHORT) {
    guess = cli_guess(input, true);
  } else if (error->value_index == 0 &&
             error->position < EVALUE_HEADER_SIZE) { /* a sequence that is wrong from the start */
    guess = cli_guess(input, false);
  }
  const char *name = cli_input_name(input->name);
  if (guess == NULL) {
    snprintf(text, sizeof text, "%s: %s", name, fault);
  } else {
    snprintf(text, sizeof text, "%s: %s; it looks like %s", name, fault, guess);
  }
  put_line("", text);
}

const char *cli_input_name(const char *name) {
  return strcmp(name, "-") == 0 ? "stdin" : name;
}

const char *cli_output_name(const char *name) {
  return strcmp(name, "-") == 0 ? "stdout" : name;
}
