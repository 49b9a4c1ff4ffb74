/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue pack`: makes a file from values on the command line, .npy files and JSON Lines. One value is in memory at a
 * time. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "npy.h"

static const char help[] =
    "usage: evalue pack [--form F] [--executorch R] [--align N] [-o OUT] ITEM...\n"
    "\n"
    "Makes a file of values, one for each ITEM, in order. An ITEM is one of\n"
    "\n"
    "  --none             None\n"
    "  --bool B           true or false\n"
    "  --int I            decimal, or hex with 0x\n"
    "  --double D         decimal, hex with 0x, nan or inf\n"
    "  --string S         the bytes of the argument\n"
    "  --tensor X.npy     a NumPy array\n"
    "  --as TYPE          before --tensor: take its elements as a scalar type of the same size, such as bfloat16\n"
    "  --json FILE        all values of a file of JSON Lines, one value a line:\n"
    "                       {\"kind\":\"int\",\"int\":\"7\"}  {\"kind\":\"double\",\"double\":1.5}  "
    "{\"kind\":\"bool\",\"bool\":true}\n"
    "                       {\"kind\":\"none\"}  {\"kind\":\"string\",\"string\":\"café\"}\n"
    "                       {\"kind\":\"tensor\",\"scalar_type\":\"int8\",\"sizes\":[2],\"data_hex_le\":\"01ff\"}\n"
    "\n"
    "  --form F           what to make: message, sequence or executorch-java, which holds one value (default message)\n"
    "  --executorch R     of executorch-java: the release that has to read it, " CLI_JAVA_RELEASES "\n"
    "  --align N          alignment of tensor data in a message, a power of two from 1 to 4096 (default 16)\n"
    "  -o OUT             the file to make, whole or not at all (default -, stdout)\n"
    "  --log SPEC         what to log on stderr; help lists the names\n"
    "  --help             this text\n"
    "\n"
    "X.npy or FILE may be -, stdin. For stdout and pipes the output is first made in TMPDIR (default /tmp).\n"
    "\n"
    "Exit status: 0 good; 1 bad data; 2 usage or I/O.\n"
    "\n"
    "example: evalue pack --tensor image.npy --double 0.5 --string café -o values.evalue\n";

enum { AS_IT_IS = -1 };

typedef struct job {
  const char *form_text, *alignment_text, *out;
  cli_format format;
  cli_java_texts java;
  uint32_t alignment; /* 0: not given */
  int as;             /* the scalar type for the next tensor, or AS_IT_IS */
  size_t items;
  bool stdin_given;
} job;

/* ---- values on the command line ---- */

static bool parse_bool(const char *text, evalue *value) {
  bool is_true = strcmp(text, "true") == 0;
  *value = evalue_from_bool(is_true);
  if (is_true || strcmp(text, "false") == 0) return true;
  cli_usage_error("--bool: expected true or false, found '%s'", text);
  return false;
}

static bool parse_int(const char *text, evalue *value) {
  const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
  bool is_hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  if (is_hex) digits += 2;
  size_t n = strspn(digits, is_hex ? "0123456789abcdefABCDEF" : "0123456789");
  if (n == 0 || digits[n] != '\0') {
    cli_usage_error("--int: expected a decimal number, or a hex one with 0x, found '%s'", text);
    return false;
  }
  errno = 0;
  *value = evalue_from_int(strtoll(text, NULL, is_hex ? 16 : 10));
  if (errno != ERANGE) return true;
  cli_usage_error("--int: expected a number from -2^63 to 2^63 - 1, found '%s'", text);
  return false;
}

/* The program never leaves the locale "C", so strtod reads a point everywhere. */
static bool parse_double(const char *text, evalue *value) {
  char *end;
  errno = 0;
  double d = strtod(text, &end);
  bool is_space = text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r'); /* strtod would skip it */
  if (end == text || *end != '\0' || is_space) {
    cli_usage_error("--double: expected a number, nan or inf, found '%s'", text);
    return false;
  }
  *value = evalue_from_double(d);
  if (errno != ERANGE || !isinf(d)) return true; /* a number that is too small is rounded like any other */
  cli_usage_error("--double: expected a number that a double can hold, found '%s'", text);
  return false;
}

static bool parse_type(const char *text, int *scalar_type) {
  *scalar_type = cli_scalar_type(text);
  if (*scalar_type >= 0) return true;
  cli_usage_error("--as: expected the name of a scalar type, like bfloat16, found '%s'", text);
  return false;
}

typedef bool value_parser(const char *text, evalue *value);

/* The parser for an item that stands on the command line; NULL for another argument. */
static value_parser *find_parser(const cli_args *args) {
  if (cli_args_is(args, "--bool")) return parse_bool;
  if (cli_args_is(args, "--int")) return parse_int;
  if (cli_args_is(args, "--double")) return parse_double;
  return NULL;
}

/* ---- items ---- */

static int put(cli_stream *stream, const evalue *value) {
  return cli_stream_put(stream, value) ? CLI_OK : stream->failure;
}

/* Values from a file are called by its name in messages. */
static void set_source(cli_stream *stream, const char *name) {
  stream->source = name != NULL ? cli_input_name(name) : NULL;
}

static int put_npy(cli_stream *stream, const cli_input *input, const cli_npy *npy) {
  cli_progress progress;
  evalue value = evalue_from_tensor(&npy->tensor);
  cli_progress_start(&progress, cli_input_name(input->name), input->size);
  stream->progress = &progress;
  stream->done = 0;
  set_source(stream, input->name);
  bool good = npy->is_big_endian ? cli_stream_put_big_endian(stream, &npy->tensor, npy->component_size)
                                 : cli_stream_put(stream, &value);
  stream->progress = NULL;
  set_source(stream, NULL);
  cli_progress_end(&progress);
  if (!cli_input_ok(input)) return CLI_FAILURE;
  return good ? CLI_OK : stream->failure;
}

static int put_tensor(cli_stream *stream, const char *name, int as) {
  cli_input input;
  cli_npy npy;
  if (!cli_input_open(&input, name, cli_npy_needed, NULL)) return CLI_FAILURE;
  int result = cli_npy_read_as(&input, as, &npy);
  if (result == CLI_OK) {
    result = put_npy(stream, &input, &npy);
  } else if (!cli_input_ok(&input)) {
    result = CLI_FAILURE;
  }
  cli_input_close(&input);
  return result;
}

static int put_json(cli_stream *stream, const char *name) {
  cli_json_reader reader;
  cli_progress progress;
  evalue value;
  int result;
  if (!cli_json_open(&reader, name)) return CLI_FAILURE;
  cli_progress_start(&progress, cli_input_name(name), reader.total);
  set_source(stream, name);
  while ((result = cli_json_next(&reader, &value)) == CLI_OK) {
    if (!cli_stream_put(stream, &value)) {
      result = stream->failure;
      break;
    }
    cli_progress_at(&progress, reader.done);
  }
  cli_progress_end(&progress);
  set_source(stream, NULL);
  cli_json_close(&reader);
  return result == CLI_JSON_END ? CLI_OK : result;
}

/* Writes the item that args is at, if it is one; its text has been checked. */
static int put_item(cli_stream *stream, cli_args *args, job *j) {
  value_parser *parser = find_parser(args);
  evalue value = evalue_from_none();
  if (cli_args_is(args, "--none")) return put(stream, &value);
  const char *text = cli_args_value(args); /* every other argument has one */
  if (cli_args_is(args, "--as")) return parse_type(text, &j->as) ? CLI_OK : CLI_FAILURE;
  if (cli_args_is(args, "--json")) return put_json(stream, text);
  if (cli_args_is(args, "--tensor")) {
    int as = j->as;
    j->as = AS_IT_IS;
    return put_tensor(stream, text, as);
  }
  if (cli_args_is(args, "--string")) {
    value = evalue_from_string(text, strlen(text));
    return put(stream, &value);
  }
  if (parser == NULL) return CLI_OK;
  return parser(text, &value) ? put(stream, &value) : CLI_FAILURE;
}

/* ---- the command line ---- */

static bool ends_with(const char *text, const char *end) {
  size_t size = strlen(text), end_size = strlen(end);
  return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* An operand is most likely a file whose option was forgotten. */
static bool refuse_argument(const cli_args *args) {
  const char *option = !args->is_operand                                                   ? NULL
                       : ends_with(args->name, ".npy")                                     ? "--tensor"
                       : ends_with(args->name, ".jsonl") || ends_with(args->name, ".json") ? "--json"
                                                                                           : NULL;
  if (option == NULL) cli_args_unknown(args);
  else cli_usage_error("unexpected argument '%s': did you mean '%s %s'?", args->name, option, args->name);
  return false;
}

static bool check_file_name(const char *text, job *j) {
  bool is_stdin = strcmp(text, "-") == 0;
  if (is_stdin && j->stdin_given) {
    cli_usage_error("stdin can be read once");
    return false;
  }
  j->stdin_given = j->stdin_given || is_stdin;
  return true;
}

static bool check_type(const char *text, job *j) {
  if (j->as == AS_IT_IS) return parse_type(text, &j->as);
  cli_usage_error("--as given twice for one --tensor");
  return false;
}

/* Looks at an argument before anything is written. */
static bool check_argument(cli_args *args, job *j) {
  value_parser *parser = find_parser(args);
  evalue value;
  if (cli_args_is(args, "--form")) return cli_args_once(args, &j->form_text);
  if (cli_is_java_option(args)) return cli_take_java_option(args, &j->java);
  if (cli_args_is(args, "--align")) return cli_args_once(args, &j->alignment_text);
  if (cli_args_is(args, "-o")) return cli_args_once(args, &j->out);
  bool is_as = cli_args_is(args, "--as"), is_tensor = cli_args_is(args, "--tensor");
  bool is_file = is_tensor || cli_args_is(args, "--json"), is_none = cli_args_is(args, "--none");
  if (!is_as && !is_file && !is_none && parser == NULL && !cli_args_is(args, "--string")) return refuse_argument(args);
  if (!is_as) j->items++;
  if (is_none) return true;
  const char *text = cli_args_value(args);
  if (text == NULL) return false;
  if (is_as) return check_type(text, j);
  if (is_tensor) j->as = AS_IT_IS;
  if (is_file) return check_file_name(text, j);
  return parser == NULL || parser(text, &value);
}

/* Looks at what the arguments say together. */
static bool check_job(job *j) {
  j->format.java = j->java.java;
  if (!cli_parse_form(j->form_text, &j->format.form)) return false;
  if (!cli_check_java_options(&j->java, false, j->format.form == CLI_JAVA)) return false;
  if (!cli_parse_alignment(j->alignment_text, &j->alignment)) return false;
  if (!cli_check_alignment(j->format.form, j->alignment)) return false;
  if (j->as != AS_IT_IS) cli_usage_error("--as needs a --tensor after it");
  else if (j->items > 1 && j->format.form == CLI_JAVA)
    cli_usage_error("executorch-java holds one value: expected one ITEM, found %zu", j->items);
  else if (j->items == 0 && j->format.form == CLI_JAVA) cli_usage_error("nothing to pack: expected one ITEM");
  else if (j->items == 0) cli_usage_error("nothing to pack; 'evalue pack --json /dev/null' makes an empty message");
  else return true;
  return false;
}

static int write_items(job *j, char **argv, cli_output *output) {
  cli_args args;
  cli_stream stream;
  if (!cli_stream_start(&stream, output, &j->format, j->alignment)) return CLI_FAILURE;
  cli_args_start(&args, argv, help);
  while (cli_args_next(&args)) {
    int result = put_item(&stream, &args, j);
    if (result != CLI_OK) return result;
  }
  return cli_stream_finish(&stream) ? CLI_OK : stream.failure;
}

int cli_pack(int argc, char **argv) {
  cli_args args;
  job j = {.format.form = CLI_MESSAGE, .as = AS_IT_IS};
  (void)argc;
  cli_args_start(&args, argv, help);
  while (cli_args_next(&args)) {
    if (!check_argument(&args, &j)) return CLI_FAILURE;
  }
  if (args.stop) return args.exit_code;
  if (!check_job(&j)) return CLI_FAILURE;
  cli_output *output = cli_output_open(j.out != NULL ? j.out : "-");
  int result = output == NULL ? CLI_FAILURE : write_items(&j, argv, output);
  if (result == CLI_OK) return cli_output_commit(output) ? CLI_OK : CLI_FAILURE;
  cli_output_discard(output);
  return result;
}
