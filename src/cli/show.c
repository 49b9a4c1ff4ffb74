/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue show`: what an input holds, as a table, as JSON Lines, or byte by byte. */
#include <string.h>

#include "display.h"

static const char help[] =
    "usage: evalue show [--form F] [--json | --layout] [--color WHEN] FILE\n"
    "\n"
    "Shows the values of FILE: as a table, or as\n"
    "  --json          JSON Lines, one value a line; `evalue pack --json` reads them\n"
    "  --layout        the bytes: offset, hex, field and meaning\n"
    "\n"
    "  --form F        what FILE is: message (default) or sequence\n"
    "  --color WHEN    colours in the layout: auto (default: on a terminal, unless NO_COLOR is set),\n"
    "                  always, never\n"
    "  --help          this text\n"
    "\n"
    "FILE may be - for standard input. Of bad input the values before the fault are shown, then the fault.\n"
    "Exit codes: 0 good, 1 bad data, 2 usage or I/O.\n";

typedef struct show_options {
  const char *file;
  cli_form form;
  cli_when colour;
  bool json, layout;
} show_options;

static bool parse_when(const char *text, cli_when *when) {
  static const char *const names[] = {[CLI_AUTO] = "auto", [CLI_ALWAYS] = "always", [CLI_NEVER] = "never"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    *when = (cli_when)i;
    return true;
  }
  cli_message("unknown colour setting '%s': expected auto, always or never", text);
  return false;
}

/* True when there is something to show; otherwise *code is the exit code. */
static bool parse(char **argv, show_options *options, int *code) {
  cli_args args;
  *code = CLI_FAILURE;
  cli_args_start(&args, argv, help);
  while (cli_args_next(&args)) {
    if (cli_args_is(&args, "--json")) {
      options->json = true;
    } else if (cli_args_is(&args, "--layout")) {
      options->layout = true;
    } else if (cli_args_is(&args, "--form")) {
      const char *text = cli_args_value(&args);
      if (text == NULL || !cli_parse_form(text, &options->form)) return false;
    } else if (cli_args_is(&args, "--color") || cli_args_is(&args, "--colour")) {
      const char *text = cli_args_value(&args);
      if (text == NULL || !parse_when(text, &options->colour)) return false;
    } else if (args.is_operand && options->file == NULL) {
      options->file = args.name;
    } else {
      *code = cli_args_unknown(&args);
      return false;
    }
  }
  if (args.stop) {
    *code = args.exit_code;
  } else if (options->file == NULL) {
    *code = cli_usage_error(args.command, "expected a file");
  } else if (options->json && options->layout) {
    *code = cli_usage_error(args.command, "--json and --layout do not go together");
  } else {
    return true;
  }
  return false;
}

static int show_json(FILE *stream, const cli_input *input, cli_form form) {
  evalue_reader reader;
  evalue value;
  cli_reader_init(&reader, input, form);
  while (!ferror(stream) && evalue_reader_next(&reader, &value) == EVALUE_OK) {
    if (cli_json_write(stream, &value)) continue;
    if (!ferror(stream)) cli_message("show: out of memory");
    return CLI_FAILURE;
  }
  if (evalue_reader_error(&reader)->status == EVALUE_OK) return CLI_OK;
  fflush(stream);
  cli_report_fault(input, evalue_reader_error(&reader));
  return CLI_BAD_DATA;
}

static int show(const show_options *options, const cli_input *input) {
  if (options->json) return show_json(stdout, input, options->form);
  if (!options->layout) return cli_show_table(stdout, input, options->form);
  return cli_show_layout(stdout, input, options->form, cli_wants_colour(options->colour, stdout));
}

int cli_show(int argc, char **argv) {
  show_options options = {.form = CLI_MESSAGE, .colour = CLI_AUTO};
  cli_input input;
  int code;
  (void)argc;
  if (!parse(argv, &options, &code)) return code;
  if (!cli_input_open(&input, options.file)) return CLI_FAILURE;
  code = show(&options, &input); /* whether stdout took it all, main sees at the end */
  if (!cli_input_ok(&input)) code = CLI_FAILURE;
  cli_input_close(&input);
  return code;
}
