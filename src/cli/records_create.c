/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue records create`: record files from stacked arrays. One record is in memory at a time. */
#include <stdlib.h>
#include <string.h>

#include "records.h"

static const char help[] =
    "usage: evalue records create [--shards N] [--align N] [--max-record BYTES] [--index] -o OUT FIELD...\n"
    "\n"
    "Makes a record file. Each FIELD gives one value of each record, in order: its row i becomes a value of record i.\n"
    "All must have the same number of rows. A FIELD is one of\n"
    "\n"
    "  --tensor X.npy   a NumPy array; its rows, along the first dimension, become Tensors of one dimension less\n"
    "  --scalar X.npy   a NumPy array of one dimension: integers become Ints, floating-point numbers Doubles, bools\n"
    "                   Bools\n"
    "  --json FILE      JSON Lines, as 'evalue show --json' writes them: line i is the value of record i\n"
    "  --as TYPE        before --tensor or --scalar: take its elements as a scalar type of the same size, such as\n"
    "                   bfloat16\n"
    "\n"
    "  -o OUT           the file to make\n"
    "  --shards N       make N files, OUT-00000-of-0000N with OUT's extension, and deal records out to them in turn:\n"
    "                   record i goes to file i mod N\n" RECORDS_HELP_INDEX
    "  --align N        alignment of tensor data in a message, a power of two from 1 to 4096 (default 16)\n"
    "  --max-record BYTES\n"
    "                   refuse a record with a message of more bytes\n" RECORDS_HELP_END "\n"
    "X.npy or FILE may be -, stdin; OUT may be -, stdout, without --shards and --index. Outputs appear whole or not "
    "at\n"
    "all.\n"
    "\n" RECORDS_EXIT_STATUS "\n"
    "example: evalue records create --tensor images.npy --scalar labels.npy --shards 8 -o train.tfrecord\n";

enum { MOST_SHARDS = 99999, AS_IT_IS = -1 };

typedef struct source {
  records_field_kind kind;
  const char *name;
  int as;
  records_field *field; /* once it is open */
} source;

typedef struct job {
  const char *out, *shards_text, *alignment_text, *limit_text;
  uint64_t shards;
  records_output_options options;
  source *sources;
  evalue *values;
  size_t count;
  int as;
  bool has_stdin;
} job;

/* ---- the command line ---- */

static bool add_source(job *j, cli_args *args, records_field_kind kind) {
  const char *name = cli_args_value(args);
  if (name == NULL) return false;
  bool is_stdin = strcmp(name, "-") == 0;
  if (is_stdin && j->has_stdin) cli_usage_error("stdin can be read once");
  else if (kind == RECORDS_JSON && j->as != AS_IT_IS) cli_usage_error("--as needs a --tensor or --scalar after it");
  else {
    j->has_stdin = j->has_stdin || is_stdin;
    j->sources[j->count++] = (source){kind, name, j->as, NULL};
    j->as = AS_IT_IS;
    return true;
  }
  return false;
}

static bool set_type(job *j, cli_args *args) {
  const char *name = cli_args_value(args);
  if (name == NULL) return false;
  if (j->as != AS_IT_IS) {
    cli_usage_error("--as given twice for one field");
    return false;
  }
  j->as = cli_scalar_type(name);
  if (j->as < 0) cli_usage_error("--as: expected the name of a scalar type, like bfloat16, found '%s'", name);
  return j->as >= 0;
}

static bool take_argument(job *j, cli_args *args) {
  if (cli_args_is(args, "--tensor")) return add_source(j, args, RECORDS_TENSOR);
  if (cli_args_is(args, "--scalar")) return add_source(j, args, RECORDS_SCALAR);
  if (cli_args_is(args, "--json")) return add_source(j, args, RECORDS_JSON);
  if (cli_args_is(args, "--as")) return set_type(j, args);
  if (cli_args_is(args, "-o")) return cli_args_once(args, &j->out);
  if (cli_args_is(args, "--align")) return cli_args_once(args, &j->alignment_text);
  if (cli_args_is(args, "--shards")) return records_take_number(args, &j->shards_text, 1, MOST_SHARDS, &j->shards);
  if (cli_args_is(args, "--max-record")) {
    return records_take_number(args, &j->limit_text, 1, EVALUE_SIZE_LIMIT - 1, &j->options.max_record);
  }
  if (cli_args_is(args, "--index")) j->options.has_index = true;
  else if (args->is_operand && strstr(args->name, ".npy") != NULL)
    cli_usage_error("unexpected argument '%s': did you mean '--tensor %s'?", args->name, args->name);
  else cli_args_unknown(args);
  return cli_args_is(args, "--index");
}

static bool check_job(job *j) {
  j->options.shards = (size_t)j->shards;
  bool is_stdout = j->out != NULL && strcmp(j->out, "-") == 0;
  if (!cli_parse_alignment(j->alignment_text, &j->options.alignment)) return false;
  if (j->as != AS_IT_IS) cli_usage_error("--as needs a --tensor or --scalar after it");
  else if (j->count == 0) cli_usage_error("expected a FIELD: --tensor, --scalar or --json");
  else if (j->out == NULL) cli_usage_error("expected -o OUT");
  else if (is_stdout && j->shards != 0) cli_usage_error("--shards needs the name of a file: -o OUT");
  else if (is_stdout && j->options.has_index) cli_usage_error("--index needs the name of a file: -o OUT");
  else return true;
  return false;
}

/* ---- the work ---- */

/* Opens all fields; *total is the bytes of all, 0 when that is not known. */
static int open_fields(job *j, uint64_t *total) {
  const records_field *first = NULL;
  bool is_known = true;
  *total = 0;
  for (size_t i = 0; i < j->count; i++) {
    int result;
    source *s = &j->sources[i];
    records_field *f = s->field = records_field_open(s->kind, s->name, s->as, &result);
    if (f == NULL) return result;
    *total += records_field_bytes(f);
    if (records_field_bytes(f) == 0 && records_field_rows(f) != 0) is_known = false;
    if (records_field_rows(f) == UINT64_MAX) continue;
    if (first == NULL) first = f;
    if (records_field_rows(f) == records_field_rows(first)) continue;
    cli_report(s->name, "expected %llu rows, as in %s, found %llu", (unsigned long long)records_field_rows(first),
               records_field_name(first), (unsigned long long)records_field_rows(f));
    return CLI_BAD_DATA;
  }
  if (!is_known) *total = 0;
  return CLI_OK;
}

/* A field has ended, or has one row more than the first. */
static int report_rows(const job *j, size_t field, uint64_t row, bool is_over) {
  cli_report(j->sources[field].name, "expected %s%llu rows, as in %s, found %s", is_over ? "more than " : "",
             (unsigned long long)row, records_field_name(j->sources[0].field), is_over ? "no more" : "more");
  return CLI_BAD_DATA;
}

/* Reads a row of each field: CLI_OK; RECORDS_END after the last one; or a failure, with a message. */
static int read_row(const job *j, uint64_t row) {
  bool is_over = false;
  for (size_t i = 0; i < j->count; i++) {
    int result = records_field_next(j->sources[i].field, &j->values[i]);
    if (result > CLI_OK) return result;
    if (i == 0) is_over = result == RECORDS_END;
    else if ((result == RECORDS_END) != is_over) return report_rows(j, i, row, !is_over);
  }
  return is_over ? RECORDS_END : CLI_OK;
}

static int report_large(const job *j, uint64_t row) {
  uint64_t size = 0;
  evalue_message_size(j->values, j->count, j->options.alignment, &size);
  cli_report(j->out, "record %llu: its message has too many bytes: expected at most %llu, found %llu",
             (unsigned long long)row, (unsigned long long)j->options.max_record, (unsigned long long)size);
  return CLI_BAD_DATA;
}

static int write_records(const job *j, records_output *output, uint64_t total) {
  cli_progress progress;
  uint64_t row = 0;
  int result;
  cli_progress_start(&progress, cli_output_name(j->out), total);
  while ((result = read_row(j, row)) == CLI_OK) {
    uint64_t done = 0;
    result = records_output_put(output, j->values, j->count);
    if (result == CLI_BAD_DATA) result = report_large(j, row);
    if (result != CLI_OK) break;
    row++;
    for (size_t i = 0; progress.enabled && i < j->count; i++) done += records_field_done(j->sources[i].field);
    cli_progress_at(&progress, done);
  }
  cli_progress_end(&progress);
  if (result == RECORDS_END) result = CLI_OK;
  for (size_t i = 0; i < j->count && result != CLI_FAILURE; i++) {
    if (!records_field_ok(j->sources[i].field)) result = CLI_FAILURE;
  }
  return result;
}

static int create(job *j) {
  uint64_t total;
  int result = open_fields(j, &total);
  records_output *output = result == CLI_OK ? records_output_open(j->out, &j->options) : NULL;
  if (output != NULL) result = records_output_finish(output, write_records(j, output, total));
  else if (result == CLI_OK) result = CLI_FAILURE;
  for (size_t i = 0; i < j->count; i++) records_field_close(j->sources[i].field);
  return result;
}

static int run(job *j, char **argv) {
  cli_args args;
  cli_args_start(&args, argv, help);
  while (cli_args_next(&args)) {
    if (!take_argument(j, &args)) return CLI_FAILURE;
  }
  if (args.stop) return args.exit_code;
  return check_job(j) ? create(j) : CLI_FAILURE;
}

int records_create(int argc, char **argv) {
  job j = {.as = AS_IT_IS};
  j.sources = calloc((size_t)argc, sizeof *j.sources);
  j.values = calloc((size_t)argc, sizeof *j.values);
  bool has_memory = j.sources != NULL && j.values != NULL;
  int result = has_memory ? run(&j, argv) : records_out_of_memory();
  free(j.sources);
  free(j.values);
  return result;
}
