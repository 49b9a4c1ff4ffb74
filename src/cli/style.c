/* SPDX-License-Identifier: BSD-3-Clause */
/* Colours, and small texts that several drawings need. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "display.h"

bool cli_wants_colour(cli_when when, FILE *stream) {
  if (when != CLI_AUTO) return when == CLI_ALWAYS;
  const char *no_color = getenv("NO_COLOR"); /* counts when it is not empty: https://no-color.org */
  const char *term = getenv("TERM");
  if (no_color != NULL && no_color[0] != '\0') return false;
  if (term == NULL || term[0] == '\0' || strcmp(term, "dumb") == 0) return false;
  return isatty(stream == stdout ? STDOUT_FILENO : fileno(stream)) == 1;
}

const char *cli_colour_begin(bool colour, cli_role role) {
  static const char *const begins[] = {
      [CLI_HEADING] = "\x1b[1m",  [CLI_TAG] = "\x1b[1;35m", [CLI_LENGTH] = "\x1b[36m",  [CLI_METADATA] = "\x1b[33m",
      [CLI_PAYLOAD] = "\x1b[32m", [CLI_PAD] = "\x1b[2m",    [CLI_FAULT] = "\x1b[1;31m",
  };
  return colour ? begins[role] : "";
}

const char *cli_colour_end(bool colour) {
  return colour ? "\x1b[0m" : "";
}

const char *cli_grouped(uint64_t number, char text[CLI_GROUPED_SIZE]) {
  char digits[24];
  int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
  char *p = text;
  for (int i = 0; i < count; i++) {
    if (i != 0 && (count - i) % 3 == 0) *p++ = ',';
    *p++ = digits[i];
  }
  *p = '\0';
  return text;
}

const char *cli_plural(uint64_t number) {
  return number == 1 ? "" : "s";
}

size_t cli_whole_characters(const void *data, size_t size, size_t most) {
  const uint8_t *p = data;
  if (size <= most) return size;
  for (size_t back = 0; back < 4 && back < most; back++) {
    if ((p[most - back] & 0xc0) != 0x80) return most - back; /* here a character begins */
  }
  return most; /* it is no UTF-8 */
}

void cli_format_index(const evalue_tensor *t, uint64_t k, char text[CLI_INDEX_SIZE]) {
  uint64_t index[EVALUE_MAX_NDIM] = {0};
  size_t n = 0;
  for (size_t i = t->ndim; i-- > 0;) {
    uint32_t size = (uint32_t)t->sizes[t->dim_order[i]];
    index[t->dim_order[i]] = k % size;
    k /= size;
  }
  text[0] = '\0';
  for (size_t d = 0; d < t->ndim; d++) {
    n += (size_t)snprintf(text + n, CLI_INDEX_SIZE - n, "%s%llu%s", d == 0 ? "[" : ", ", (unsigned long long)index[d],
                          d + 1U == t->ndim ? "]" : "");
  }
}
