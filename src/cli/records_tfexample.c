/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue records from-tfexample` and `to-tfexample`: one record after the other, in constant memory. */
#include <stdlib.h>
#include <string.h>

#include "../tfexample/tfexample.h"
#include "display.h"
#include "records.h"

#define FEATURES_HELP                                                                                                  \
  "  --feature NAME:TYPE\n"                                                                                            \
  "                   a feature; may be repeated. TYPE is int or bool (an Int64List of one), double (a FloatList of\n" \
  "                   one), string or bytes (a BytesList of one; a string is UTF-8), or a tensor's scalar type and\n"  \
  "                   sizes, such as float32[3,32,32] or int64[?]; one size may be ?. A tensor may be a list of\n"     \
  "                   numbers, or one entry of a BytesList, its bytes; with :raw behind it, only that. A ? at the\n"   \
  "                   end means that the feature may be missing, and the value is None then.\n"

static const char from_help[] =
    "usage: evalue records from-tfexample [--skip-bad] [--align N] [--index] --feature NAME:TYPE... IN OUT\n"
    "\n"
    "Turns tf.Examples into records of values: one value for each --feature, in that order. Other features are "
    "ignored.\n"
    "An example that does not have them as they are said is bad.\n"
    "\n" FEATURES_HELP RECORDS_HELP_SKIP "  --align N        alignment of tensor data in a message, a power of two "
    "from 1 to 4096 (default 16)\n" RECORDS_HELP_INDEX RECORDS_HELP_END "\n"
    "IN may be -, stdin; OUT may be -, stdout, without --index. OUT appears whole or not at all.\n"
    "\n" RECORDS_EXIT_STATUS "\n"
    "example: evalue records from-tfexample --feature image:float32[3,32,32] --feature label:int in.tfrecord "
    "out.tfrecord\n";

static const char to_help[] =
    "usage: evalue records to-tfexample [--skip-bad] [--round] [--index] --feature NAME:TYPE... IN OUT\n"
    "\n"
    "Turns records of values into tf.Examples: one feature for each value, in that order.\n"
    "\n" FEATURES_HELP RECORDS_HELP_SKIP "  --round          round Doubles and float64 elements to the float32 that a "
    "FloatList has; otherwise one that this\n"
    "                   would change is bad\n" RECORDS_HELP_INDEX RECORDS_HELP_END "\n"
    "IN may be -, stdin; OUT may be -, stdout, without --index. OUT appears whole or not at all.\n"
    "\n" RECORDS_EXIT_STATUS "\n"
    "example: evalue records to-tfexample --feature image:float32[3,32,32] --feature label:int in.tfrecord "
    "out.tfrecord\n";

typedef struct job {
  bool is_back; /* to tf.Examples */
  const char *in, *out, *alignment_text;
  records_output_options options;
  records_policy policy;
  uint32_t rounds;
  evalue_tfexample_feature *features;
  evalue *values;
  size_t count;
  evalue_tfexample converter;
} job;

/* ---- one record ---- */

/* Says what a conversion's failure is. */
static int reject(const job *j, records_file *file, const evalue_record *record, const evalue_tfexample_error *error) {
  char text[1000];
  evalue_tfexample_print_error(error, j->features, j->count, text, sizeof text);
  if (error->status == EVALUE_IO) {
    cli_message("%s: record %llu: %s", cli_input_name(file->name), (unsigned long long)record->index, text);
    return CLI_FAILURE;
  }
  return records_reject(file, record, "%s%s", j->is_back ? "" : "example: ", text);
}

static int from_example(job *j, records_file *file, const evalue_record *record, records_output *output) {
  evalue_tfexample_error error;
  evalue_status status = evalue_tfexample_decode(&j->converter, record->data, record->size, j->values, &error);
  if (status != EVALUE_OK) return reject(j, file, record, &error);
  return records_output_put(output, j->values, j->count);
}

static int to_example(job *j, records_file *file, const evalue_record *record, records_output *output) {
  evalue_tfexample_error error;
  evalue_slice example;
  uint64_t n = 0;
  int result = records_check_message(file, record);
  if (result != CLI_OK) return result;
  evalue_status status = evalue_message_decode(record->data, record->size, NULL, j->values, j->count, &n, NULL);
  if (status != EVALUE_OK || n != j->count) {
    return records_reject(file, record, "unsupported: expected %zu value%s, one for each feature, found %llu", j->count,
                          cli_plural(j->count), (unsigned long long)n);
  }
  status = evalue_tfexample_encode(&j->converter, j->values, &example, &error);
  if (status != EVALUE_OK) return reject(j, file, record, &error);
  return records_output_put_bytes(output, example);
}

/* ---- all ---- */

static int convert_records(job *j, records_file *file, records_output *output) {
  cli_progress progress;
  evalue_record record;
  int result;
  cli_progress_start(&progress, cli_input_name(file->name), file->size);
  do {
    result = records_next(file, &record);
    if (result != CLI_OK) break;
    result = j->is_back ? to_example(j, file, &record, output) : from_example(j, file, &record, output);
    cli_progress_at(&progress, record.offset + record.size);
  } while (result == CLI_OK || result == RECORDS_BAD);
  cli_progress_end(&progress);
  return result == RECORDS_END ? CLI_OK : result;
}

static int convert(job *j) {
  records_file file = {.texts = NULL};
  if (!records_open(&file, j->in, j->policy, NULL)) return file.result;
  records_output *output = records_output_open(j->out, &j->options);
  int result = output == NULL ? CLI_FAILURE : convert_records(j, &file, output);
  int closed = records_close(&file);
  if (result == CLI_OK) result = closed;
  return output == NULL ? result : records_output_finish(output, result);
}

static int start(job *j) {
  const evalue_tfexample_options options = {.round = j->rounds};
  evalue_tfexample_error error;
  evalue_status status = evalue_tfexample_init(&j->converter, j->features, j->count, &options, &error);
  if (status != EVALUE_OK) {
    char text[1000];
    evalue_tfexample_print_error(&error, j->features, j->count, text, sizeof text);
    return status == EVALUE_IO ? records_out_of_memory() : cli_usage_error("--feature: %s", text);
  }
  int result = convert(j);
  evalue_tfexample_close(&j->converter);
  return result;
}

/* ---- the command line ---- */

static bool add_feature(job *j, cli_args *args) {
  evalue_tfexample_text_fault fault;
  const char *text = cli_args_value(args);
  if (text == NULL) return false;
  if (evalue_tfexample_feature_parse(&j->features[j->count], text, &fault) != EVALUE_OK) {
    cli_usage_error("--feature '%s': at %zu: %s", text, fault.position, fault.message);
    return false;
  }
  j->count++;
  return true;
}

static bool take_argument(job *j, cli_args *args) {
  if (cli_args_is(args, "--feature")) return add_feature(j, args);
  if (!j->is_back && cli_args_is(args, "--align")) return cli_args_once(args, &j->alignment_text);
  if (cli_args_is(args, "--skip-bad")) {
    j->policy = RECORDS_SKIP;
    return true;
  }
  if (cli_args_is(args, "--index")) {
    j->options.has_index = true;
    return true;
  }
  if (j->is_back && cli_args_is(args, "--round")) {
    j->rounds = 1;
    return true;
  }
  bool is_file = args->is_operand && j->out == NULL;
  if (is_file) *(j->in == NULL ? &j->in : &j->out) = args->name;
  else cli_args_unknown(args);
  return is_file;
}

static int run(job *j, char **argv) {
  cli_args args;
  cli_args_start(&args, argv, j->is_back ? to_help : from_help);
  while (cli_args_next(&args)) {
    if (!take_argument(j, &args)) return CLI_FAILURE;
  }
  if (args.stop) return args.exit_code;
  if (!cli_parse_alignment(j->alignment_text, &j->options.alignment)) return CLI_FAILURE;
  if (j->count == 0) return cli_usage_error("expected a --feature NAME:TYPE");
  if (j->out == NULL) return cli_usage_error("expected IN and OUT");
  if (j->options.has_index && strcmp(j->out, "-") == 0)
    return cli_usage_error("--index needs the name of a file as OUT");
  return start(j);
}

static int run_with_memory(int argc, char **argv, bool is_back) {
  job j = {.is_back = is_back, .policy = RECORDS_STOP};
  j.features = calloc((size_t)argc, sizeof *j.features);
  j.values = calloc((size_t)argc, sizeof *j.values);
  int result = j.features != NULL && j.values != NULL ? run(&j, argv) : records_out_of_memory();
  free(j.features);
  free(j.values);
  return result;
}

int records_from_tfexample(int argc, char **argv) {
  return run_with_memory(argc, argv, false);
}

int records_to_tfexample(int argc, char **argv) {
  return run_with_memory(argc, argv, true);
}
