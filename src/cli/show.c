/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue show`: what an input holds, as a table, as JSON Lines, or byte by byte. */
#include <string.h>

#include "display.h"

static const char help[] =
    "usage: evalue show [--form F] [--executorch R] [--allow WHAT] [--json | --layout] [--color WHEN] FILE\n"
    "\n"
    "Shows the values of FILE, as a table without an option. Of bad data it shows the values before the fault, then\n"
    "the fault. Elements of tensors are rounded to 8 decimals and long tensors are summarised; --json is exact.\n"
    "\n"
    "  --json           JSON Lines, one value a line; 'evalue pack --json' reads them\n"
    "  --layout         the bytes: offset, hex, field and meaning\n"
    "  --form F         what FILE is: message, sequence or executorch-java (default message)\n" CLI_JAVA_HELP(
        "wrote it") "  --color WHEN     colours in the layout: auto, always or never (default auto: on a terminal, "
                    "unless NO_COLOR is\n"
                    "                   set)\n"
                    "  --log SPEC       what to log on stderr; help lists the names\n"
                    "  --help           this text\n"
                    "\n"
                    "FILE may be -, stdin.\n"
                    "\n"
                    "Exit status: 0 good; 1 bad data; 2 usage or I/O.\n"
                    "\n"
                    "example: evalue show --layout values.evalue\n";

typedef struct show_options {
  const char *file, *form_text, *colour_text;
  cli_format format;
  cli_java_texts java;
  cli_when colour;
  bool json, layout;
} show_options;

static bool parse_when(const char *text, cli_when *when) {
  if (text == NULL) return true;
  static const char *const names[] = {[CLI_AUTO] = "auto", [CLI_ALWAYS] = "always", [CLI_NEVER] = "never"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    *when = (cli_when)i;
    return true;
  }
  cli_usage_error("unknown colour setting '%s': expected auto, always or never", text);
  return false;
}

/* False, with a message, for a command line that makes no sense. */
static bool parse(cli_args *args, show_options *options) {
  while (cli_args_next(args)) {
    if (cli_args_is(args, "--json")) {
      options->json = true;
    } else if (cli_args_is(args, "--layout")) {
      options->layout = true;
    } else if (cli_args_is(args, "--form")) {
      if (!cli_args_once(args, &options->form_text)) return false;
    } else if (cli_is_java_option(args)) {
      if (!cli_take_java_option(args, &options->java)) return false;
    } else if (cli_args_is(args, "--color") || cli_args_is(args, "--colour")) {
      if (!cli_args_once(args, &options->colour_text)) return false;
    } else if (args->is_operand && options->file == NULL) {
      options->file = args->name;
    } else {
      cli_args_unknown(args);
      return false;
    }
  }
  if (args->stop) return true;
  options->format.java = options->java.java;
  return cli_parse_form(options->form_text, &options->format.form) &&
         cli_check_java_options(&options->java, options->format.form == CLI_JAVA, false) &&
         parse_when(options->colour_text, &options->colour);
}

static int show_json(FILE *stream, const cli_input *input, const cli_format *format) {
  cli_reader reader;
  evalue value;
  cli_reader_init(&reader, input, format);
  while (!ferror(stream) && cli_reader_next(&reader, &value) == EVALUE_OK) {
    if (!cli_json_write(stream, &value)) break; /* main says so */
  }
  if (cli_reader_error(&reader)->status != EVALUE_OK) fflush(stream);
  return cli_reader_finish(&reader);
}

static int show(const show_options *options, const cli_input *input) {
  if (options->json) return show_json(stdout, input, &options->format);
  if (!options->layout) return cli_show_table(stdout, input, &options->format);
  return cli_show_layout(stdout, input, &options->format, cli_wants_colour(options->colour, stdout));
}

int cli_show(int argc, char **argv) {
  show_options options = {.format.form = CLI_MESSAGE, .colour = CLI_AUTO};
  cli_args args;
  cli_input input;
  (void)argc;
  cli_args_start(&args, argv, help);
  if (!parse(&args, &options)) return CLI_FAILURE;
  if (args.stop) return args.exit_code;
  if (options.file == NULL) return cli_usage_error("expected a FILE");
  if (options.json && options.layout) return cli_usage_error("--json and --layout do not go together");
  if (!cli_input_open(&input, options.file, cli_reader_needed, &options.format)) return CLI_FAILURE;
  int code = show(&options, &input); /* whether stdout took it all, main sees at the end */
  cli_input_close(&input);
  return code;
}
