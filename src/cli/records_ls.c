/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue records ls`: what is in record files, one line a file. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "display.h"
#include "records.h"

static const char help[] =
    "usage: evalue records ls [--json] FILE...\n"
    "\n"
    "Lists record files: how many records and bytes they have, the least, the median and the largest number of bytes "
    "of\n"
    "data in a record, and which values are in them, with ? for what varies. All of a file is read and checked. What "
    "is\n"
    "bad is told on stderr, and counted in a column of its own.\n"
    "\n"
    "  --json           JSON Lines, one object a file\n" RECORDS_HELP_END "\n"
    "FILE may be -, stdin. With more than 65,536 different sizes the median is rounded, which a ~ says.\n"
    "\n" RECORDS_EXIT_STATUS "\n"
    "example: evalue records ls train-*.tfrecord\n";

enum { FILE_NAME, RECORDS, BAD, BYTES, LEAST, MEDIAN, LARGEST, VALUES, COLUMN_COUNT };

typedef struct entry {
  const char *name;
  uint64_t records, bad, bytes;
  uint64_t least, median, largest;
  bool is_rounded; /* the median */
  records_seen seen;
} entry;

/* ---- reading ---- */

static int read_records(records_file *file, entry *e, records_sizes *sizes, cli_progress *progress, uint64_t *done) {
  evalue_record record;
  int result;
  while ((result = records_next(file, &record)) == CLI_OK || result == RECORDS_BAD) {
    *done += records_progress(file);
    cli_progress_at(progress, *done);
    if (result == RECORDS_BAD) continue;
    if (!records_sizes_add(sizes, record.size, 1)) return records_out_of_memory();
    if (records_check_message(file, &record) == CLI_OK) records_seen_add(&e->seen, &record);
  }
  return result == RECORDS_END ? CLI_OK : result;
}

static int read_file(const char *name, entry *e, records_sizes *sizes, cli_progress *progress, uint64_t *done) {
  records_file file = {.most_faults = 1};
  e->name = name;
  if (!records_open(&file, name, RECORDS_GO_ON, NULL)) return file.result;
  progress->what = cli_input_name(name);
  int result = read_records(&file, e, sizes, progress, done);
  e->records = evalue_record_reader_index(&file.reader);
  e->bytes = file.size != 0 ? file.size : evalue_record_reader_offset(&file.reader);
  e->bad = file.faults;
  int closed = records_close(&file);
  return closed > result ? closed : result;
}

static void take_sizes(entry *e, const records_sizes *sizes) {
  e->least = sizes->least;
  e->median = records_sizes_median(sizes);
  e->largest = sizes->largest;
  e->is_rounded = sizes->shift != 0;
}

/* Fills an entry, and adds to the last one, the total. */
static int list_file(const char *name, entry *e, entry *total, records_sizes *all, cli_progress *progress,
                     uint64_t *done) {
  records_sizes sizes = {.count = 0};
  int result = read_file(name, e, &sizes, progress, done);
  take_sizes(e, &sizes);
  if (!records_sizes_merge(all, &sizes)) result = records_out_of_memory();
  records_sizes_free(&sizes);
  total->records += e->records;
  total->bad += e->bad;
  total->bytes += e->bytes;
  records_seen_merge(&total->seen, &e->seen);
  return result;
}

/* ---- the table ---- */

static char *print_values(const records_seen *seen) {
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (stream == NULL) return NULL;
  records_seen_print(seen, stream);
  fclose(stream);
  return text;
}

static char *print_name(const char *name) {
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (stream == NULL) return NULL;
  cli_put_escaped(stream, name, strlen(name));
  fclose(stream);
  return text;
}

/* The texts of a line; the two that are NULL without memory are left out. */
static void fill(const entry *e, char *texts[COLUMN_COUNT]) {
  const uint64_t numbers[COLUMN_COUNT] = {[RECORDS] = e->records, [BAD] = e->bad,       [BYTES] = e->bytes,
                                          [LEAST] = e->least,     [MEDIAN] = e->median, [LARGEST] = e->largest};
  char grouped[CLI_GROUPED_SIZE], number[CLI_GROUPED_SIZE + 1];
  for (int c = 0; c < COLUMN_COUNT; c++) {
    bool is_none = c >= LEAST && e->records == 0;
    snprintf(number, sizeof number, "%s%s", c == MEDIAN && e->is_rounded ? "~" : "",
             is_none ? "-" : cli_grouped(numbers[c], grouped));
    texts[c] = c == FILE_NAME ? print_name(e->name) : c == VALUES ? print_values(&e->seen) : strdup(number);
  }
}

static void put_table(entry *entries, size_t count) {
  static const char *const heads[] = {"file", "records", "bad", "bytes", "min", "median", "max", "values"};
  int widths[COLUMN_COUNT];
  char *texts[COLUMN_COUNT];
  bool has_bad = false;
  for (int c = 0; c < COLUMN_COUNT; c++) widths[c] = (int)strlen(heads[c]);
  for (size_t i = 0; i < count; i++) {
    fill(&entries[i], texts);
    for (int c = 0; c < COLUMN_COUNT; c++) {
      int width = texts[c] != NULL ? (int)strlen(texts[c]) : 0;
      if (width > widths[c]) widths[c] = width;
      free(texts[c]);
    }
    has_bad = has_bad || entries[i].bad != 0;
  }
  for (size_t i = 0; i <= count && !ferror(stdout); i++) {
    if (i > 0) fill(&entries[i - 1], texts);
    for (int c = 0; c < COLUMN_COUNT; c++) {
      const char *text = i == 0 ? heads[c] : texts[c] != NULL ? texts[c] : "?";
      if (c == BAD && !has_bad) continue;
      if (c == FILE_NAME) printf("%-*s", widths[c], text);
      else if (c != VALUES) printf("  %*s", widths[c], text);
      else if (text[0] != '\0') printf("  %s", text);
    }
    putchar('\n');
    for (int c = 0; i > 0 && c < COLUMN_COUNT; c++) free(texts[c]);
  }
}

/* ---- JSON ---- */

static json_t *json_of_sizes(const records_seen_value *v) {
  json_t *sizes = json_array();
  for (int d = 0; d < v->ndim; d++) {
    json_array_append_new(sizes, v->sizes[d] < 0 ? json_null() : json_integer(v->sizes[d]));
  }
  return sizes;
}

/* What varies is null. */
static json_t *json_of_value(const records_seen_value *v) {
  static const char *const kinds[] = {"none", "tensor", "string", "double", "int", "bool"};
  json_t *object = json_object();
  json_object_set_new(object, "kind", v->tag > EVALUE_TAG_BOOL ? json_null() : json_string(kinds[v->tag]));
  if (v->may_be_none) json_object_set_new(object, "may_be_none", json_true());
  if (v->tag != EVALUE_TAG_TENSOR) return object;
  json_object_set_new(object, "scalar_type",
                      v->is_any_type ? json_null() : json_string(evalue_scalar_type_name(v->scalar_type)));
  json_object_set_new(object, "sizes", v->is_any_ndim ? json_null() : json_of_sizes(v));
  return object;
}

static json_t *json_of_number(const entry *e, uint64_t number) {
  return e->records == 0 ? json_null() : json_integer((json_int_t)number);
}

static void put_json(const entry *e) {
  json_t *object = json_object(), *values = json_array();
  char *name = print_name(e->name);
  json_object_set_new(object, "file", json_string(name != NULL ? name : "?"));
  json_object_set_new(object, "records", json_integer((json_int_t)e->records));
  json_object_set_new(object, "bad", json_integer((json_int_t)e->bad));
  json_object_set_new(object, "bytes", json_integer((json_int_t)e->bytes));
  json_object_set_new(object, "min", json_of_number(e, e->least));
  json_object_set_new(object, "median", json_of_number(e, e->median));
  json_object_set_new(object, "median_is_exact", json_boolean(!e->is_rounded));
  json_object_set_new(object, "max", json_of_number(e, e->largest));
  for (size_t i = 0; i < e->seen.count; i++) json_array_append_new(values, json_of_value(&e->seen.values[i]));
  json_object_set_new(object, "values", values);
  json_object_set_new(object, "more_values", json_boolean(e->seen.has_more));
  json_dumpf(object, stdout, JSON_COMPACT);
  putchar('\n');
  json_decref(object);
  free(name);
}

/* ---- the command ---- */

static int list(char **names, size_t count, bool json) {
  cli_progress progress;
  records_sizes all = {.count = 0};
  uint64_t done = 0;
  int worst = CLI_OK;
  size_t listed = 0;
  entry *entries = calloc(count + 1, sizeof *entries), total = {.name = "total"};
  if (entries == NULL) return records_out_of_memory();
  cli_progress_start(&progress, names[0], records_total(names));
  for (size_t i = 0; i < count; i++) {
    int result = list_file(names[i], &entries[listed], &total, &all, &progress, &done);
    if (result > worst) worst = result;
    if (result < CLI_FAILURE) listed++;
    else memset(&entries[listed], 0, sizeof entries[listed]);
  }
  cli_progress_end(&progress);
  take_sizes(&total, &all);
  records_sizes_free(&all);
  if (json) {
    for (size_t i = 0; i < listed; i++) put_json(&entries[i]);
  } else if (listed > 0) {
    if (count > 1) entries[listed++] = total;
    put_table(entries, listed);
  }
  free(entries);
  return worst;
}

int records_ls(int argc, char **argv) {
  cli_args args;
  records_operands in = {.names = argv};
  bool json = false;
  (void)argc;
  cli_args_start(&args, argv, help);
  while (cli_args_next(&args)) {
    if (cli_args_is(&args, "--json")) json = true;
    else if (!args.is_operand) return cli_args_unknown(&args);
    else if (!records_add_operand(&in, &args)) return CLI_FAILURE;
  }
  if (args.stop) return args.exit_code;
  if (in.count == 0) return cli_usage_error("expected a FILE");
  in.names[in.count] = NULL;
  return list(in.names, in.count, json);
}
