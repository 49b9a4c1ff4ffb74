/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `evalue convert`: rewrites a file in another form, or with another alignment. Values and their order stay, so
 * ancillary elements stay too (spec, section 8), and with reserved ones the minor version that they came with; Pads
 * belong to a position, and the writer makes new ones.
 */
#include "cli.h"

static const char help[] =
    "usage: evalue convert [--from F] [--to F] [--executorch R] [--allow WHAT] [--align N] IN OUT\n"
    "\n"
    "Rewrites IN as OUT, in another form or with another alignment. The values stay the same, bit for bit, and\n"
    "ancillary elements stay where they are; with reserved ones (tags 129 to 191) the minor version of IN stays, too.\n"
    "\n"
    "Not so in executorch-java, the bytes of ExecuTorch's Android class EValue: it holds one value, no more and no\n"
    "fewer; ancillary elements are lost, and so is dim_order: tensors become row-major. What the release cannot\n"
    "read is refused, and so is a String that is not UTF-8. Apps read uint8 and int8 tensors wrong, whoever wrote\n"
    "them.\n"
    "\n"
    "  --from F         what IN is: message, sequence or executorch-java (default message)\n"
    "  --to F           what OUT will be: message, sequence or executorch-java (default message)\n" CLI_JAVA_HELP(
        "wrote it, or will read it") "  --align N        alignment of tensor data in a message, a power of two from 1 "
                                     "to 4096 (default that of IN\n"
                                     "                   if it is a message, else 16)\n"
                                     "  --log SPEC       what to log on stderr; help lists the names\n"
                                     "  --help           this text\n"
                                     "\n"
                                     "IN may be -, stdin; OUT may be -, stdout. They may be the same file. OUT appears "
                                     "whole or not at all; for stdout\n"
                                     "and pipes it is first made in TMPDIR (default /tmp).\n"
                                     "\n"
                                     "Exit status: 0 good; 1 bad data; 2 usage or I/O.\n"
                                     "\n"
                                     "example: evalue convert --to sequence values.evalue values.seq\n";

typedef struct job {
  cli_format from, to;
  cli_java_texts java;
  uint32_t alignment; /* 0: not given */
  const char *from_text, *to_text, *alignment_text;
  const char *in, *out;
} job;

/* minor is the version of the message that the element comes from. */
static bool put_element(cli_stream *stream, const evalue_element *element, const evalue *value, uint8_t minor) {
  bool is_lost = element->tag > EVALUE_TAG_BOOL && stream->format.form == CLI_JAVA;
  if (element->tag == EVALUE_TAG_PAD || is_lost) return true;
  if (element->tag < EVALUE_TAG_CRITICAL_END) return cli_stream_put(stream, value);
  if (element->tag < EVALUE_TAG_PRIVATE) stream->minor = minor;
  return cli_stream_put_ancillary(stream, element->tag, element->payload);
}

/* Puts an element. In executorch-java it is judged by what it holds: if that was really in the file. */
static int put_one(const cli_input *input, cli_stream *stream, const evalue_element *element, const evalue *value,
                   uint8_t minor) {
  if (stream->format.form == CLI_JAVA && !cli_input_ok(input)) return CLI_FAILURE;
  return put_element(stream, element, value, minor) ? CLI_OK : stream->failure;
}

static int copy_elements(cli_reader *reader, cli_stream *stream, uint8_t minor) {
  evalue_element element;
  evalue value;
  int result = CLI_OK;
  while (result == CLI_OK && cli_reader_next_element(reader, &element, &value) == EVALUE_OK) {
    result = put_one(reader->input, stream, &element, &value, minor);
  }
  if (result == CLI_OK) result = cli_reader_finish(reader);
  else cli_reader_close(reader);
  return result == CLI_OK && !cli_stream_finish(stream) ? stream->failure : result;
}

static int convert(const job *j, const cli_input *input, cli_output *output) {
  cli_reader reader;
  cli_stream stream;
  cli_progress progress;
  cli_reader_init(&reader, input, &j->from);
  uint32_t alignment = j->alignment;
  uint8_t minor = 0; /* of a sequence */
  if (j->from.form == CLI_MESSAGE && cli_reader_error(&reader)->status == EVALUE_OK) {
    if (alignment == 0) alignment = evalue_reader_alignment(&reader.reader);
    minor = (uint8_t)evalue_load_u8(input->data + CLI_MINOR_AT);
  }
  if (!cli_stream_start(&stream, output, &j->to, alignment)) return CLI_FAILURE;
  cli_progress_start(&progress, cli_input_name(input->name), input->size);
  stream.progress = &progress;
  stream.source = cli_input_name(input->name);
  int result = copy_elements(&reader, &stream, minor);
  cli_progress_end(&progress);
  return result;
}

static bool parse(cli_args *args, job *j) {
  while (cli_args_next(args)) {
    if (cli_args_is(args, "--from")) {
      if (!cli_args_once(args, &j->from_text)) return false;
    } else if (cli_args_is(args, "--to")) {
      if (!cli_args_once(args, &j->to_text)) return false;
    } else if (cli_is_java_option(args)) {
      if (!cli_take_java_option(args, &j->java)) return false;
    } else if (cli_args_is(args, "--align")) {
      if (!cli_args_once(args, &j->alignment_text)) return false;
    } else if (args->is_operand && j->out == NULL) {
      *(j->in == NULL ? &j->in : &j->out) = args->name;
    } else {
      cli_args_unknown(args);
      return false;
    }
  }
  if (args->stop) return true;
  j->from.java = j->to.java = j->java.java;
  return cli_parse_form(j->from_text, &j->from.form) && cli_parse_form(j->to_text, &j->to.form) &&
         cli_check_java_options(&j->java, j->from.form == CLI_JAVA, j->to.form == CLI_JAVA) &&
         cli_parse_alignment(j->alignment_text, &j->alignment) && cli_check_alignment(j->to.form, j->alignment);
}

int cli_convert(int argc, char **argv) {
  cli_args args;
  cli_input input;
  job j = {.from.form = CLI_MESSAGE, .to.form = CLI_MESSAGE};
  (void)argc;
  cli_args_start(&args, argv, help);
  if (!parse(&args, &j)) return CLI_FAILURE;
  if (args.stop) return args.exit_code;
  if (j.out == NULL) return cli_usage_error("expected IN and OUT");
  if (!cli_input_open(&input, j.in, cli_reader_needed, &j.from)) return CLI_FAILURE;
  input.form_option = "--from";
  cli_output *output = cli_output_open(j.out);
  int result = output == NULL ? CLI_FAILURE : convert(&j, &input, output);
  if (result == CLI_OK) {
    if (!cli_output_commit(output)) result = CLI_FAILURE;
  } else {
    cli_output_discard(output);
  }
  cli_input_close(&input);
  return result;
}
