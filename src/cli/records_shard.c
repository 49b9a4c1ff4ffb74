/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue records shard` and `merge`: records from file to file, byte for byte. Their data are not looked at, but for
 * their checksums. */
#include <stdlib.h>
#include <string.h>

#include "records.h"

static const char shard_help[] =
    "usage: evalue records shard --shards N [--skip-bad] [--index] -o NAME.tfrecord IN...\n"
    "\n"
    "Deals the records of all IN out to N files, NAME-00000-of-0000N.tfrecord and so on, in turn: record i goes to "
    "file\n"
    "i mod N. So a file that is sorted gives shards that are alike. Records stay as they are, byte for byte; their\n"
    "checksums are checked. 'evalue records merge --interleave' is the way back.\n"
    "\n"
    "  --shards N       how many files, from 1 to 99999\n"
    "  -o NAME.tfrecord what they are called; the number goes before the extension\n" RECORDS_HELP_INDEX
        RECORDS_HELP_SKIP RECORDS_HELP_END "\n"
    "IN may be -, stdin. All files are complete before the first one appears.\n"
    "\n" RECORDS_EXIT_STATUS "\n"
    "example: evalue records shard --shards 8 -o train.tfrecord all.tfrecord\n";

static const char merge_help[] =
    "usage: evalue records merge [--interleave] [--skip-bad] [--index] -o OUT IN...\n"
    "\n"
    "Writes the records of all IN to one file. Records stay as they are, byte for byte; their checksums are checked.\n"
    "\n"
    "  -o OUT           the file to make\n"
    "  --interleave     take one record from each IN in turn, as 'evalue records shard' has dealt them; otherwise one\n"
    "                   file comes after the other\n" RECORDS_HELP_INDEX RECORDS_HELP_SKIP RECORDS_HELP_END "\n"
    "IN may be -, stdin; OUT may be -, stdout, without --index, and one of IN. OUT appears whole or not at all.\n"
    "\n" RECORDS_EXIT_STATUS "\n"
    "example: evalue records merge -o all.tfrecord train-*-of-00008.tfrecord\n";

enum { MOST_SHARDS = 99999 };

typedef struct job {
  const char *out, *shards_text;
  uint64_t shards;
  records_output_options options;
  records_policy policy;
  bool interleaves;
  records_operands in;
} job;

/* ---- the work ---- */

/* Copies one record: CLI_OK, RECORDS_END, or a failure. */
static int copy_one(records_file *file, records_output *output, cli_progress *progress, uint64_t *done) {
  evalue_record record;
  int result = records_next(file, &record);
  if (result == CLI_OK) result = records_output_put_bytes(output, (evalue_slice){record.data, record.size});
  *done += records_progress(file);
  cli_progress_at(progress, *done);
  return result;
}

static int copy_file(const job *j, const char *name, records_output *output, cli_progress *progress, uint64_t *done) {
  records_file file = {.texts = NULL};
  if (!records_open(&file, name, j->policy, NULL)) return file.result;
  progress->what = cli_input_name(name);
  int result;
  do {
    result = copy_one(&file, output, progress, done);
  } while (result == CLI_OK);
  int closed = records_close(&file);
  return result == RECORDS_END ? closed : result;
}

static int copy_files(const job *j, records_output *output, cli_progress *progress) {
  uint64_t done = 0;
  int result = CLI_OK;
  for (size_t i = 0; i < j->in.count && result == CLI_OK; i++) {
    result = copy_file(j, j->in.names[i], output, progress, &done);
  }
  return result;
}

/* A file whose turn comes. */
typedef struct turn {
  records_file file;
  bool is_over;
} turn;

/* Takes one record from each file that has one, until none has. */
static int deal(turn *turns, size_t count, records_output *output, cli_progress *progress) {
  uint64_t done = 0;
  size_t left = count;
  for (size_t i = 0; left > 0; i = (i + 1) % count) {
    if (turns[i].is_over) continue;
    int result = copy_one(&turns[i].file, output, progress, &done);
    if (result > CLI_OK) return result;
    turns[i].is_over = result == RECORDS_END;
    if (turns[i].is_over) left--;
  }
  return CLI_OK;
}

static int interleave(const job *j, records_output *output, cli_progress *progress) {
  turn *turns = calloc(j->in.count, sizeof *turns);
  size_t opened = 0;
  int result = CLI_OK;
  if (turns == NULL) return records_out_of_memory();
  while (result == CLI_OK && opened < j->in.count) {
    records_file *file = &turns[opened].file;
    if (!records_open(file, j->in.names[opened], j->policy, NULL)) result = file->result;
    else opened++;
  }
  progress->what = cli_output_name(j->out);
  if (result == CLI_OK) result = deal(turns, opened, output, progress);
  for (size_t i = 0; i < opened; i++) {
    int closed = records_close(&turns[i].file);
    if (closed > result) result = closed;
  }
  free(turns);
  return result;
}

static int copy(const job *j) {
  cli_progress progress;
  records_output *output = records_output_open(j->out, &j->options);
  if (output == NULL) return CLI_FAILURE;
  cli_progress_start(&progress, cli_output_name(j->out), records_total(j->in.names));
  int result = j->interleaves ? interleave(j, output, &progress) : copy_files(j, output, &progress);
  cli_progress_end(&progress);
  return records_output_finish(output, result);
}

/* ---- the command line ---- */

static bool take_argument(job *j, cli_args *args, bool is_merge) {
  if (args->is_operand) return records_add_operand(&j->in, args);
  if (cli_args_is(args, "-o")) return cli_args_once(args, &j->out);
  if (!is_merge && cli_args_is(args, "--shards")) {
    return records_take_number(args, &j->shards_text, 1, MOST_SHARDS, &j->shards);
  }
  if (is_merge && cli_args_is(args, "--interleave")) j->interleaves = true;
  else if (cli_args_is(args, "--skip-bad")) j->policy = RECORDS_SKIP;
  else if (cli_args_is(args, "--index")) j->options.has_index = true;
  else cli_args_unknown(args);
  return cli_args_is(args, "--interleave") ? is_merge : cli_args_is(args, "--skip-bad") || cli_args_is(args, "--index");
}

static int run(char **argv, bool is_merge) {
  cli_args args;
  job j = {.policy = RECORDS_STOP, .in.names = argv};
  cli_args_start(&args, argv, is_merge ? merge_help : shard_help);
  while (cli_args_next(&args)) {
    if (!take_argument(&j, &args, is_merge)) return CLI_FAILURE;
  }
  if (args.stop) return args.exit_code;
  j.in.names[j.in.count] = NULL;
  j.options.shards = (size_t)j.shards;
  bool is_stdout = j.out != NULL && strcmp(j.out, "-") == 0;
  if (!is_merge && j.shards == 0) return cli_usage_error("expected --shards N");
  if (j.out == NULL) return cli_usage_error("expected -o %s", is_merge ? "OUT" : "NAME.tfrecord");
  if (j.in.count == 0) return cli_usage_error("expected an IN");
  if (is_stdout && !is_merge) return cli_usage_error("--shards needs the name of a file: -o NAME.tfrecord");
  if (is_stdout && j.options.has_index) return cli_usage_error("--index needs the name of a file: -o OUT");
  return copy(&j);
}

int records_shard(int argc, char **argv) {
  (void)argc;
  return run(argv, false);
}

int records_merge(int argc, char **argv) {
  (void)argc;
  return run(argv, true);
}
