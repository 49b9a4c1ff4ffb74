/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines of `evalue records`: numbers, operands, and names that are made of others. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "records.h"

/* ---- numbers ---- */

static bool parse_decimal(const char *text, uint64_t *number) {
  *number = 0;
  for (const char *p = text; *p != '\0'; p++) {
    if (*p < '0' || *p > '9') return false;
    uint64_t digit = (uint64_t)(*p - '0');
    if (*number > (UINT64_MAX - digit) / 10) return false;
    *number = *number * 10 + digit;
  }
  return text[0] != '\0';
}

bool records_parse_number(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *number) {
  uint64_t parsed;
  if (text == NULL) return true;
  if (parse_decimal(text, &parsed) && parsed >= least && parsed <= most) {
    *number = parsed;
    return true;
  }
  cli_usage_error("%s: expected a number from %llu to %llu, found '%s'", option, (unsigned long long)least,
                  (unsigned long long)most, text);
  return false;
}

bool records_take_number(cli_args *args, const char **text, uint64_t least, uint64_t most, uint64_t *number) {
  char option[32];
  snprintf(option, sizeof option, "%.*s", (int)args->name_size, args->name);
  return cli_args_once(args, text) && records_parse_number(option, *text, least, most, number);
}

/* ---- operands ---- */

bool records_add_operand(records_operands *operands, const cli_args *args) {
  bool is_stdin = strcmp(args->name, "-") == 0;
  if (is_stdin && operands->has_stdin) {
    cli_usage_error("stdin can be read once");
    return false;
  }
  operands->has_stdin = operands->has_stdin || is_stdin;
  operands->names[operands->count++] = args->argv[-1];
  return true;
}

uint64_t records_total(char *const *names) {
  uint64_t total = 0;
  struct stat status;
  for (; *names != NULL; names++) {
    if (stat(*names, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    total += (uint64_t)status.st_size;
  }
  return total;
}

/* ---- names ---- */

int records_out_of_memory(void) {
  cli_message("out of memory");
  return CLI_FAILURE;
}

/* Where the extension of a path begins; its end, when it has none. */
static size_t before_extension(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1, *dot = strrchr(name, '.');
  return dot == NULL || dot == name ? strlen(path) : (size_t)(dot - path);
}

char *records_shard_name(const char *name, size_t index, size_t count) {
  char *text;
  size_t size = before_extension(name);
  if (asprintf(&text, "%.*s-%05zu-of-%05zu%s", (int)size, name, index, count, name + size) >= 0) return text;
  records_out_of_memory();
  return NULL;
}

char *records_index_name(const char *name) {
  char *text;
  if (asprintf(&text, "%s.index", name) >= 0) return text;
  records_out_of_memory();
  return NULL;
}
