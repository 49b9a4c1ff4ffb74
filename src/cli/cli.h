/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the subcommands of `evalue` share. Files: main.c picks the subcommand; one file a subcommand (pack.c show.c
 * check.c unpack.c convert.c send.c receive.c, and records.h for records); args.c format.c input.c reader.c output.c
 * stream.c parent.c sync.c directory.c cleanup.c report.c guess.c progress.c help them; npy.c, json.c and json_write.c
 * know the two foreign formats; layout.c and table.c draw for `show`.
 */
#ifndef EVALUE_CLI_H
#define EVALUE_CLI_H

#include <stdio.h>
#include <sys/types.h>

#include "evalue/evalue.h"

/* Exit codes of the command. */
enum { CLI_OK = 0, CLI_BAD_DATA = 1, CLI_FAILURE = 2 /* usage or I/O */ };

/* ---- forms ---- */

typedef enum cli_form { CLI_MESSAGE, CLI_SEQUENCE, CLI_JAVA } cli_form;

/* A form, and what only ExecuTorch's Java bytes ask for. */
typedef struct cli_format {
  cli_form form;
  evalue_java_options java;
} cli_format;

/* Where a String's bytes and a tensor's sizes stand in ExecuTorch's Java bytes. */
enum { CLI_JAVA_STRING_AT = 5, CLI_JAVA_SIZES_AT = 3 };

/* What --help says of the options that only ExecuTorch's Java bytes have. */
#define CLI_JAVA_RELEASES "0.5 to 1.4, or any (default any)"
#define CLI_JAVA_HELP(who)                                                                                             \
  "  --executorch R   of executorch-java: the release that " who ", " CLI_JAVA_RELEASES "\n"                           \
  "  --allow WHAT     of executorch-java: accept what ExecuTorch does, too: trailing (bytes after the value), bool\n"  \
  "                   (other bytes than 0 and 1 are true) or utf8 (a String of any bytes); may be repeated\n"

enum { CLI_MINOR_AT = 5 }; /* where the minor version stands in a message's header */

/* ---- args.c: command lines ---- */

/*
 * Walks along a command line: options in any order, `--opt value` and `--opt=value`, `-o value` and `-ovalue`; "--"
 * ends the options.
 *
 *     cli_args args;
 *     cli_args_start(&args, argv, help);
 *     while (cli_args_next(&args)) {
 *       if (cli_args_is(&args, "-o")) {
 *         if (!cli_args_once(&args, &out)) return CLI_FAILURE;   // with a message: no value, or given twice
 *       } else if (cli_args_is(&args, "--json")) {
 *         json = true;
 *       } else if (args.is_operand) {
 *         file = args.name;
 *       } else {
 *         return cli_args_unknown(&args);                     // message and hint; CLI_FAILURE
 *       }
 *     }
 *     if (args.stop) return args.exit_code;                   // --help was printed; or an error such as --json=x
 */
typedef struct cli_args {
  char **argv;          /* what is left to look at; NULL at its end */
  const char *help;     /* what --help prints */
  const char *name;     /* the option, or the operand */
  size_t name_size;     /* of an option, without its value */
  const char *attached; /* the value in the same argument, until it is asked for; NULL if there is none */
  bool is_operand;
  bool operands_only; /* "--" was seen */
  bool stop;
  int exit_code; /* for stop */
} cli_args;

void cli_args_start(cli_args *args, char **argv, const char *help);
bool cli_args_next(cli_args *args);
bool cli_args_is(const cli_args *args, const char *option);
int cli_args_unknown(const cli_args *args);

/* What --log says, which every command has, also before its name: false when the program ends here,
 * with *exit_code, for a list was asked for, or there is something wrong, and it has been said. */
bool cli_set_log(const char *spec, int *exit_code);

/* Takes the option's value; NULL, with a message, when it has none. */
const char *cli_args_value(cli_args *args);

/* The same for an option that may be given once: *value is NULL until then. */
bool cli_args_once(cli_args *args, const char **value);

/* A subcommand's main: argv[0] is its name. Returns an exit code. Main reports it when stdout (as a FILE) has failed.
 */
int cli_pack(int argc, char **argv);
int cli_show(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_unpack(int argc, char **argv);
int cli_convert(int argc, char **argv);
int cli_send(int argc, char **argv);
int cli_receive(int argc, char **argv);
int cli_records(int argc, char **argv);

/* Parses an alignment: a power of two from 1 to 4096; as cli_parse_form. */
bool cli_parse_alignment(const char *text, uint32_t *alignment);

/* Returns the scalar type with this name; -1 when there is none. */
int cli_scalar_type(const char *name);

/* Parses a time in seconds, like 2 or 0.5, as milliseconds, 1 or more; 0 for NULL. False, with a message. */
bool cli_parse_timeout(const char *text, uint32_t *ms);

/* ---- format.c: forms on the command line ---- */

const char *cli_form_name(cli_form form);

/* Parses the name of a form; false, with a message, when it is none. NULL leaves *form as it is: the option was not
 * given. */
bool cli_parse_form(const char *text, cli_form *form);

/* What was given of the options that only ExecuTorch's Java bytes have: --executorch RELEASE, --allow WHAT. */
typedef struct cli_java_texts {
  const char *release, *waiver; /* NULL: not given */
  evalue_java_options java;     /* what they say */
} cli_java_texts;

/* Says whether the argument is such an option; takes it, false with a message when its value is none. */
bool cli_is_java_option(const cli_args *args);
bool cli_take_java_option(cli_args *args, cli_java_texts *texts);

/* Says, when all options are known, whether these were for something; false, with a message, when they were not. */
bool cli_check_java_options(const cli_java_texts *texts, bool is_read, bool is_written);

/* False, with a message, for an alignment of more than 1 where the form has none. */
bool cli_check_alignment(cli_form form, uint32_t alignment);

/* ---- input.c: a whole file, or stdin, as bytes ---- */

typedef struct cli_input {
  const char *name;        /* as given; "-" is stdin */
  const char *form_option; /* the option that says which form it has, for hints; NULL: --form */
  const uint8_t *data;     /* size bytes, mapped or read once; never NULL */
  size_t size;
  int fd;        /* of a mapped file; -1 otherwise */
  int slot;      /* of a mapped file: where the handler of SIGBUS finds it */
  void *memory;  /* what was read into memory; NULL for a mapped file */
  bool has_more; /* it was not read to its end, because nothing after these bytes matters */
} cli_input;

/* Says how many bytes of an input are needed to judge it, when its first size bytes are these; size or less when no
 * more are. */
typedef uint64_t cli_needed(const uint8_t *data, size_t size, const cli_format *format);

/* No input has so many bytes: what says that it needs more is cut, and nobody has to wait for its end to know. */
#define CLI_INPUT_LIMIT ((uint64_t)1 << 47)

/*
 * Opens a file, or stdin for "-". Prints what went wrong and returns false. A file that shrinks while it is mapped
 * never raises a signal: see cli_input_ok. Pipes and devices are read as far as `needed` asks.
 */
bool cli_input_open(cli_input *input, const char *name, cli_needed *needed, const cli_format *format);

/* Makes an input of bytes in memory, which stays the caller's: one that has to be a message. */
void cli_input_of_bytes(cli_input *input, const char *name, const uint8_t *data, size_t size);

/*
 * Says whether all bytes that were looked at were really there; if not, prints an I/O error and returns false. Ask
 * before you publish anything made from the input.
 */
bool cli_input_ok(const cli_input *input);

void cli_input_close(cli_input *input);

/* Opens a file for reading; "-" is stdin. Returns a descriptor; -1, with errno set, on failure. */
int cli_open_by_name(const char *name);

/* read() and write(), but they go on after a signal, and wait where the descriptor does not. */
ssize_t cli_read(int fd, void *data, size_t size);
ssize_t cli_write(int fd, const void *data, size_t size);

/* Says, with a message, whether a file of once `size` bytes is shorter now; never when size is 0, not known. */
bool cli_has_shrunk(int fd, const char *name, uint64_t size);

/* What to call an input or output in messages: its name, or "stdin", "stdout" for "-". */
const char *cli_input_name(const char *name);
const char *cli_output_name(const char *name);

/* ---- output.c: a file that appears whole or not at all ---- */

/* Writes to a temporary file beside the target (for "-": an unnamed one), then renames (or copies to stdout). */
typedef struct cli_output cli_output;

/* Returns NULL, with a message, on failure; it is one when "-" is a terminal. */
cli_output *cli_output_open(const char *name);

/* All return false, with a message once, on failure; then only cli_output_discard is left to do. */
bool cli_output_write(cli_output *output, const void *data, size_t size);
bool cli_output_write_at(cli_output *output, uint64_t position, const void *data, size_t size);
bool cli_output_commit(cli_output *output);  /* publishes and frees, also on failure */
void cli_output_discard(cli_output *output); /* frees; NULL is fine */

/*
 * Writes all bytes to a file descriptor; name is for the message on failure. data may lie in a mapped input that has
 * shrunk: see cli_input_ok.
 */
bool cli_write_all(int fd, const char *name, const void *data, size_t size);

/* ---- sync.c: onto the disk ---- */

/* Waits until what was written to a file or directory is on the disk. Returns 0, or what errno says. */
int cli_sync(int fd);

/* The mode that a new file with these permission bits gets. */
mode_t cli_new_mode(mode_t wanted);

/* ---- parent.c: the directory that a new file appears in ---- */

enum { CLI_TEMPORARY_SIZE = sizeof ".evalue-XXXXXX" };

/* Opens the directory that path lies in; *name is the name there, the end of path. -1, with errno set, on failure. */
int cli_open_parent(const char *path, const char **name);

/* Creates a file or a directory there and opens it. Returns a descriptor; -1, with errno set and an empty name, on
 * failure. */
int cli_create_temporary(int parent, bool is_directory, char name[CLI_TEMPORARY_SIZE]);

/* ---- cleanup.c: what signals that end the program remove ---- */

/* Registers a temporary file in a directory; its name must stay valid until cli_cleanup_forget. One at a time. */
void cli_cleanup_file(int parent, const char *name);

/*
 * Registers a temporary directory that holds value files (cli_value_file_name) and values.jsonl. count is how many may
 * exist; it may grow later.
 */
void cli_cleanup_directory(int parent, const char *name, int fd, volatile uint64_t *count);

/* Registers the socket of a listener, which must stay where it is; NULL forgets it. */
void cli_cleanup_socket(const evalue_ipc_listener *listener);

/* Removes what is registered. */
void cli_cleanup_now(void);

/* Leaves what was registered where it is. */
void cli_cleanup_forget(void);

/* Blocks the signals, so that a file and its registration are one step; cli_cleanup_unblock ends it. */
void cli_cleanup_block(void);
void cli_cleanup_unblock(void);

enum { CLI_VALUE_FILE_NAME_SIZE = 32 };
#define CLI_VALUES_FILE_NAME "values.jsonl"

/* Writes the name of a tensor's file, like "0007.npy". Safe in a signal handler. */
void cli_value_file_name(uint64_t index, char name[CLI_VALUE_FILE_NAME_SIZE]);

/* ---- stream.c: values in any form into an output ---- */

typedef struct cli_stream {
  cli_output *output;
  struct cli_progress *progress; /* NULL: none */
  const char *source;            /* for messages: where the values come from; NULL: nowhere in particular */
  uint64_t done;                 /* bytes written, for progress */
  cli_format format;
  uint64_t count; /* of values */
  int failure;    /* what to exit with when a call below returned false */
  uint8_t minor;  /* the version that cli_stream_finish puts into the header: 0, but for elements that are passed on */
  evalue_writer writer;
  evalue_slice slices[3];
  uint8_t heads[EVALUE_MAX_HEAD_SIZE + EVALUE_HEADER_SIZE];
} cli_stream;

/*
 * All return false, with a message, on failure; stream->failure is then the exit code. An alignment of 0 is the
 * default. Memory is constant, but for ExecuTorch's Java bytes, which are made in memory.
 */
bool cli_stream_start(cli_stream *stream, cli_output *output, const cli_format *format, uint32_t alignment);
bool cli_stream_put(cli_stream *stream, const evalue *value);
/* A tensor whose data are big-endian components of component_size bytes. */
bool cli_stream_put_big_endian(cli_stream *stream, const evalue_tensor *tensor, uint32_t component_size);
bool cli_stream_put_ancillary(cli_stream *stream, uint32_t tag, evalue_slice payload);
bool cli_stream_finish(cli_stream *stream); /* the output is then complete, not committed */

/* ---- report.c: messages on stderr; nothing from an input or a file name reaches the terminal raw ---- */

/* Sets the subcommand whose name messages begin with. The string must stay valid. */
void cli_set_command(const char *name);

/* What went wrong with the command line, or in reading or writing: prints "evalue COMMAND: " and a message. */
void cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and where to find help. Returns CLI_FAILURE. */
int cli_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What is wrong with data: prints "NAME: " and a message. */
void cli_report(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "PATH: WHAT: ...": what made the channel's last call fail. */
void cli_report_channel(const evalue_ipc_channel *channel, const char *path, const char *what);

/*
 * Reports "offset N: value I: STATUS: explanation", and for a bad magic what the input looks like instead, if that
 * can be told.
 */
void cli_report_fault(const cli_input *input, cli_form form, const evalue_error *error);

/* A byte as messages show it: itself, or \x00, which would end them. Other control characters are escaped later. */
enum { CLI_BYTE_SIZE = 5 };
const char *cli_byte(uint8_t byte, char text[CLI_BYTE_SIZE]);

/* Writes text to a stream, escaping control characters, marks that reorder text and ill-formed UTF-8 like \x1b. */
void cli_put_escaped(FILE *stream, const char *text, size_t size);

/* ---- guess.c ---- */

/* What an input should have been. */
typedef enum cli_expected {
  CLI_EXPECTED_MESSAGE,
  CLI_EXPECTED_SEQUENCE,
  CLI_EXPECTED_JAVA,
  CLI_EXPECTED_NPY,
  CLI_EXPECTED_JSON
} cli_expected;

enum { CLI_GUESS_SIZE = 120 };

/* Says what bytes that are not as expected look like instead; false when that cannot be told. */
bool cli_guess(const cli_input *input, cli_expected expected, char text[CLI_GUESS_SIZE]);

/* ---- progress.c: a bar on stderr while long work runs; nothing when stderr is no terminal ---- */

typedef struct cli_progress {
  const char *what; /* for people: a file's name; is escaped */
  uint64_t total;   /* bytes; 0: not known */
  int64_t started;  /* in milliseconds */
  int64_t drawn;    /* when it was drawn last */
  bool enabled;
  bool shown;
} cli_progress;

void cli_progress_start(cli_progress *progress, const char *what, uint64_t total);
void cli_progress_at(cli_progress *progress, uint64_t done); /* cheap: draws a few times a second */
void cli_progress_end(cli_progress *progress);
void cli_progress_hide(void); /* makes room for a message */

/* ---- reader.c: values out of an input of any form ---- */

/* A reader's state; private. */
typedef struct cli_reader {
  const cli_input *input;
  cli_format format;
  evalue_reader reader;    /* of a message or sequence */
  evalue_error java_error; /* these of ExecuTorch's Java bytes: */
  uint64_t java_end;       /* where the value ended, once it was read */
  void *memory;            /* for the value's elements, swapped */
} cli_reader;

/* Starts a reader on an input; the status is in the reader. The calls that follow do what those of evalue_reader do. */
void cli_reader_init(cli_reader *reader, const cli_input *input, const cli_format *format);
evalue_status cli_reader_next(cli_reader *reader, evalue *value);
evalue_status cli_reader_next_element(cli_reader *reader, evalue_element *element, evalue *value);
const evalue_error *cli_reader_error(const cli_reader *reader);
uint64_t cli_reader_position(const cli_reader *reader);
uint64_t cli_reader_count(const cli_reader *reader);

/* Frees what values may have pointed to. */
void cli_reader_close(cli_reader *reader);

/* Closes it, and says what was wrong with the input, if anything was. Returns an exit code. */
int cli_reader_finish(cli_reader *reader);

/* What a reader of that format needs: of a message and of ExecuTorch's Java bytes what their heads say and one byte
 * more, to see whether it goes on; of a sequence all up to a fault. */
uint64_t cli_reader_needed(const uint8_t *data, size_t size, const cli_format *format);

/* ---- json_write.c: values as JSON Lines (spec, appendix B); json.h has the reader ---- */

/* Writes one value as a line. False when the stream failed. */
bool cli_json_write(FILE *stream, const evalue *value);

/* ---- table.c and layout.c: `show` ---- */

/* Draws the values that the input has, then says what is wrong with it on stderr. Return an exit code. */
int cli_show_table(FILE *stream, const cli_input *input, const cli_format *format);
int cli_show_layout(FILE *stream, const cli_input *input, const cli_format *format, bool colour);

#endif
