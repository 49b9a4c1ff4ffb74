/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue check`: says whether files are valid. All are looked at, whatever is wrong with one. */
#include <string.h>

#include "display.h"

static const char help[] =
    "usage: evalue check [--form F] [--executorch R] [--allow WHAT] [--deep] FILE...\n"
    "\n"
    "Says whether files are valid: nothing when they are, otherwise the first fault of each bad file on stderr, with\n"
    "its place in the file.\n"
    "\n"
    "  --form F         what each FILE is: message, sequence or executorch-java (default message)\n" CLI_JAVA_HELP(
        "wrote it") "  --deep           look at the data of bool tensors, too: each byte should be 0 or 1\n"
                    "  --log SPEC       what to log on stderr; help lists the names\n"
                    "  --help           this text\n"
                    "\n"
                    "FILE may be -, stdin.\n"
                    "\n"
                    "Exit status: 0 good; 1 bad data; 2 usage or I/O.\n"
                    "\n"
                    "example: evalue check --deep *.evalue\n";

/* Looks for a byte of a bool tensor that is neither 0 nor 1. */
static bool check_data(const cli_input *input, const evalue *value, uint64_t value_index) {
  uint64_t index = 0;
  if (value->tag != EVALUE_TAG_TENSOR || evalue_tensor_check_data(&value->tensor, &index) == EVALUE_OK) return true;
  const uint8_t *byte = (const uint8_t *)value->tensor.data + index;
  char place[CLI_INDEX_SIZE];
  cli_format_index(&value->tensor, index, place);
  if (place[0] == '\0') snprintf(place, sizeof place, "[]");
  cli_report(
      input->name,
      "offset %zu: value %llu: malformed: an element of the bool tensor is neither 0 nor 1: element %s: expected "
      "0 or 1, found %u",
      (size_t)(byte - input->data), (unsigned long long)value_index, place, (unsigned)*byte);
  return false;
}

static int check_input(const cli_input *input, const cli_format *format, bool deep) {
  cli_reader reader;
  evalue value;
  cli_progress progress;
  uint64_t index = 0;
  bool good = true, looks = deep && format->form != CLI_JAVA; /* which has no bool tensors */
  cli_progress_start(&progress, cli_input_name(input->name), input->size);
  cli_reader_init(&reader, input, format);
  while (good && cli_reader_next(&reader, looks ? &value : NULL) == EVALUE_OK) {
    if (looks) good = check_data(input, &value, index++);
    cli_progress_at(&progress, cli_reader_position(&reader));
  }
  cli_progress_end(&progress);
  int result = cli_reader_finish(&reader);
  return result == CLI_OK && !good ? CLI_BAD_DATA : result;
}

static int check_file(const char *name, const cli_format *format, bool deep) {
  cli_input input;
  if (!cli_input_open(&input, name, cli_reader_needed, format)) return CLI_FAILURE;
  int result = check_input(&input, format, deep);
  cli_input_close(&input);
  return result;
}

/* Reads the options, and gathers the operands at the beginning of argv. */
static bool parse(cli_args *args, cli_format *format, bool *deep, char **files) {
  cli_java_texts java = {0};
  const char *form_text = NULL;
  bool stdin_given = false;
  size_t n = 0;
  while (cli_args_next(args)) {
    if (cli_args_is(args, "--form")) {
      if (!cli_args_once(args, &form_text)) return false;
    } else if (cli_is_java_option(args)) {
      if (!cli_take_java_option(args, &java)) return false;
    } else if (cli_args_is(args, "--deep")) {
      *deep = true;
    } else if (args->is_operand) {
      bool is_stdin = strcmp(args->name, "-") == 0;
      if (is_stdin && stdin_given) {
        cli_usage_error("stdin can be read once");
        return false;
      }
      stdin_given = stdin_given || is_stdin;
      files[n++] = args->argv[-1];
    } else {
      cli_args_unknown(args);
      return false;
    }
  }
  files[n] = NULL;
  if (args->stop) return true;
  format->java = java.java;
  return cli_parse_form(form_text, &format->form) && cli_check_java_options(&java, format->form == CLI_JAVA, false);
}

int cli_check(int argc, char **argv) {
  cli_args args;
  cli_format format = {.form = CLI_MESSAGE};
  bool deep = false;
  (void)argc;
  cli_args_start(&args, argv, help);
  char **files = argv; /* argv[0] is no longer needed, so operands never overtake what is left to read */
  if (!parse(&args, &format, &deep, files)) return CLI_FAILURE;
  if (args.stop) return args.exit_code;
  if (files[0] == NULL) return cli_usage_error("expected a FILE");
  int worst = CLI_OK;
  for (; *files != NULL; files++) {
    int result = check_file(*files, &format, deep);
    if (result > worst) worst = result;
  }
  return worst;
}
