/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue records`: picks the subcommand. */
#include "records.h"

#include <string.h>

static const char help[] =
    "usage: evalue records COMMAND [ARGUMENT...]\n"
    "\n"
    "Works on record files: training examples, one EValue message each, in the framing of TFRecord.\n"
    "\n"
    "  create          make record files from stacked .npy files: row i of each becomes record i\n"
    "  ls              list files: records, bytes, sizes, and which values they hold\n"
    "  show            show the values of records\n"
    "  check           check all checksums and messages\n"
    "  repair          cut a torn end off, or copy what is good\n"
    "  index           make a file's index, or check it\n"
    "  shard           deal records out to several files\n"
    "  merge           gather the records of several files in one\n"
    "  from-tfexample  turn tf.Examples into records of values\n"
    "  to-tfexample    turn records of values into tf.Examples\n"
    "\n"
    "  --help          this text; 'evalue records COMMAND --help' says more about a command\n"
    "\n" RECORDS_EXIT_STATUS "\n"
    "example: evalue records create --tensor images.npy --scalar labels.npy -o train.tfrecord\n";

static const struct command {
  const char *name, *full_name;
  int (*run)(int argc, char **argv);
} commands[] = {
    {"create", "records create", records_create},
    {"ls", "records ls", records_ls},
    {"show", "records show", records_show},
    {"check", "records check", records_check},
    {"repair", "records repair", records_repair},
    {"index", "records index", records_index},
    {"shard", "records shard", records_shard},
    {"merge", "records merge", records_merge},
    {"from-tfexample", "records from-tfexample", records_from_tfexample},
    {"to-tfexample", "records to-tfexample", records_to_tfexample},
};

int cli_records(int argc, char **argv) {
  cli_args args;
  cli_args_start(&args, argv, help);
  if (!cli_args_next(&args)) {
    if (args.stop) return args.exit_code;
    fputs(help, stderr);
    return CLI_FAILURE;
  }
  if (!args.is_operand) return cli_args_unknown(&args);
  char **rest = args.argv - 1;
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    if (strcmp(args.name, commands[i].name) != 0) continue;
    cli_set_command(commands[i].full_name);
    return commands[i].run(argc - (int)(rest - argv), rest);
  }
  return cli_usage_error("unknown command '%s'", args.name);
}
