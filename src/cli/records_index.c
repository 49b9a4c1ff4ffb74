/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue records index`: makes a file's index, or says whether it is right. Only the heads of records are read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "display.h"
#include "records.h"

static const char help[] =
    "usage: evalue records index [-o OUT | --check] FILE\n"
    "\n"
    "Makes an index of a record file: a line \"OFFSET SIZE\" for each record, SIZE with its framing, as DALI's\n"
    "tfrecord2idx writes them. Only lengths are read, not data.\n"
    "\n"
    "  -o OUT           the index (default FILE.index)\n"
    "  --check          compare the index that is there with FILE, and write nothing: says nothing when they "
    "agree\n" RECORDS_HELP_END "\n"
    "FILE may be -, stdin, with -o OUT; OUT may be -, stdout. OUT appears whole or not at all.\n"
    "\n" RECORDS_EXIT_STATUS "\n"
    "example: evalue records index train.tfrecord\n";

enum { LINE_SIZE = 48 };

/* Where lines go, or come from. */
typedef struct lines {
  const char *name;
  cli_output *output; /* NULL: they are compared with: */
  FILE *stream;
  char *text; /* the line that was read last */
  size_t capacity;
  uint64_t number; /* of that line, from 1 */
} lines;

/* ---- one line ---- */

static int report_difference(const lines *l, const char *expected, ssize_t length) {
  int shown = length > 0 && l->text[length - 1] == '\n' ? (int)length - 1 : (int)length;
  if (ferror(l->stream)) {
    cli_message("%s: cannot read: %s", l->name, strerror(errno));
    return CLI_FAILURE;
  }
  if (length <= 0)
    cli_report(l->name, "line %llu: expected \"%s\", found the end", (unsigned long long)l->number, expected);
  else {
    cli_report(l->name, "line %llu: expected %s%s%s, found \"%.*s\"%s", (unsigned long long)l->number,
               expected[0] == '\0' ? "the end" : "\"", expected, expected[0] == '\0' ? "" : "\"",
               shown < 80 ? shown : 80, l->text, shown == (int)length ? " without a newline" : "");
  }
  return CLI_BAD_DATA;
}

/* Compares the next line with what it should be; empty: the end. */
static int compare_line(lines *l, const char *expected) {
  size_t size = strlen(expected);
  l->number++;
  errno = 0;
  ssize_t length = getline(&l->text, &l->capacity, l->stream);
  if (size == 0 && length < 0 && !ferror(l->stream)) return CLI_OK;
  bool is_same =
      size != 0 && length == (ssize_t)size + 1 && memcmp(l->text, expected, size) == 0 && l->text[size] == '\n';
  return is_same ? CLI_OK : report_difference(l, expected, length);
}

static int take_entry(lines *l, const evalue_record_entry *entry) {
  char line[LINE_SIZE];
  int size =
      snprintf(line, sizeof line, "%llu %llu", (unsigned long long)entry->offset, (unsigned long long)entry->size);
  if (l->output == NULL) return compare_line(l, line);
  line[size] = '\n';
  return cli_output_write(l->output, line, (size_t)size + 1) ? CLI_OK : CLI_FAILURE;
}

/* ---- the file ---- */

/* Goes from head to head; then file->reader says what ended it. */
static int go_through(records_file *file, lines *l) {
  cli_progress progress;
  evalue_record_entry entry;
  int result = CLI_OK;
  cli_progress_start(&progress, cli_input_name(file->name), file->size);
  for (;;) {
    evalue_status status = records_pass(&file->reader, &entry);
    if (status == EVALUE_OK) result = take_entry(l, &entry);
    if (status != EVALUE_OK || result != CLI_OK) break;
    cli_progress_at(&progress, entry.offset + entry.size);
  }
  cli_progress_end(&progress);
  if (result != CLI_OK) return result;
  evalue_record unused;
  result = records_next(file, &unused); /* the end, or what stays: with a message */
  return result == RECORDS_END ? CLI_OK : result;
}

static int run_on(const char *name, lines *l) {
  records_file file = {.texts = NULL};
  if (!records_open(&file, name, RECORDS_STOP, &records_heads_only)) return file.result;
  int result = go_through(&file, l);
  records_close(&file);
  return result;
}

static int make(const char *records, const char *out) {
  lines l = {.name = out, .output = cli_output_open(out)};
  if (l.output == NULL) return CLI_FAILURE;
  int result = run_on(records, &l);
  if (result == CLI_OK) return cli_output_commit(l.output) ? CLI_OK : CLI_FAILURE;
  cli_output_discard(l.output);
  return result;
}

static int check(const char *records, const char *index) {
  lines l = {.name = index, .stream = fopen(index, "re")};
  if (l.stream == NULL) {
    cli_message("%s: cannot open: %s", index, strerror(errno));
    return CLI_FAILURE;
  }
  int result = run_on(records, &l);
  if (result == CLI_OK) result = compare_line(&l, "");
  fclose(l.stream);
  free(l.text);
  return result;
}

int records_index(int argc, char **argv) {
  cli_args args;
  const char *file = NULL, *out = NULL;
  bool checks = false;
  (void)argc;
  cli_args_start(&args, argv, help);
  while (cli_args_next(&args)) {
    if (cli_args_is(&args, "-o")) {
      if (!cli_args_once(&args, &out)) return CLI_FAILURE;
    } else if (cli_args_is(&args, "--check")) {
      checks = true;
    } else if (args.is_operand && file == NULL) {
      file = args.name;
    } else {
      return cli_args_unknown(&args);
    }
  }
  if (args.stop) return args.exit_code;
  if (file == NULL) return cli_usage_error("expected a FILE");
  if (out == NULL && strcmp(file, "-") == 0) return cli_usage_error("the index of stdin needs a name: -o OUT");
  if (checks && out != NULL && strcmp(out, "-") == 0) return cli_usage_error("--check needs the name of a file");
  char *index = out == NULL ? records_index_name(file) : strdup(out);
  if (index == NULL) return CLI_FAILURE;
  int result = checks ? check(file, index) : make(file, index);
  free(index);
  return result;
}
