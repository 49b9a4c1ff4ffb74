/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue receive`: listens at a socket and takes one message. */
#include <string.h>
#include <time.h>

#include "cli.h"

static const char help[] =
    "usage: evalue receive [--timeout S] SOCKET -o OUT\n"
    "\n"
    "Listens at SOCKET, a path, until another process, such as 'evalue send', has sent one message, and writes it to\n"
    "OUT if it is valid. SOCKET is removed at the end.\n"
    "\n"
    "  -o OUT           where to write the message; - is stdout\n"
    "  --timeout S      wait up to S seconds for a message\n"
    "  --log SPEC       what to log on stderr; help lists the names\n"
    "  --help           this text\n"
    "\n"
    "Exit status: 0 good; 1 bad data; 2 usage or I/O.\n"
    "\n"
    "example: evalue receive /tmp/camera.socket -o frame.evalue\n";

typedef struct job {
  const char *timeout, *path, *out;
  evalue_ipc_options options;
  int64_t deadline; /* of all the waiting, in milliseconds; 0: none */
} job;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Whoever connects and goes away again does not begin the time anew. */
static const evalue_ipc_options *options_for_what_is_left(job *j) {
  int64_t left = j->deadline - now();
  if (j->deadline != 0) j->options.idle_ms = left > 1 ? (uint32_t)left : 1;
  return &j->options;
}

/* Says what is wrong with the bytes, if anything is; writes them. */
static int take(const job *j, cli_output *output, const evalue_ipc_message *message) {
  const cli_format format = {.form = CLI_MESSAGE};
  cli_input input;
  cli_reader reader;
  cli_input_of_bytes(&input, j->path, message->data, message->nbytes);
  cli_reader_init(&reader, &input, &format);
  while (cli_reader_next(&reader, NULL) == EVALUE_OK) {
  }
  int result = cli_reader_finish(&reader);
  return result == CLI_OK && !cli_output_write(output, message->data, message->nbytes) ? CLI_FAILURE : result;
}

/* Takes a message from one connection; *is_empty says that there was none. */
static int receive(const job *j, evalue_ipc_channel *channel, cli_output *output, bool *is_empty) {
  evalue_ipc_message message;
  evalue_status status = evalue_ipc_receive(channel, &message);
  *is_empty = status == EVALUE_END;
  if (*is_empty) return CLI_OK;
  if (status != EVALUE_OK) {
    bool is_bad = status == EVALUE_MALFORMED || status == EVALUE_UNSUPPORTED || status == EVALUE_TRUNCATED;
    cli_report_channel(channel, j->path, "cannot receive");
    return is_bad ? CLI_BAD_DATA : CLI_FAILURE;
  }
  int result = take(j, output, &message);
  evalue_ipc_release(&message);
  return result;
}

static int accept_message(job *j, evalue_ipc_listener *listener, cli_output *output) {
  for (;;) {
    evalue_ipc_channel channel;
    bool is_empty;
    evalue_status status = evalue_ipc_accept(listener, &channel, options_for_what_is_left(j));
    if (status == EVALUE_TIMEOUT) cli_message("%s: nobody has sent a message in time", j->path);
    else if (status != EVALUE_OK) cli_report_channel(&channel, j->path, "cannot accept a connection");
    if (status != EVALUE_OK) return CLI_FAILURE;
    int result = receive(j, &channel, output, &is_empty);
    evalue_ipc_close(&channel);
    if (!is_empty) return result;
  }
}

/* The socket is removed however the program ends. */
static int listen_once(job *j, cli_output *output) {
  evalue_ipc_listener listener;
  cli_cleanup_block();
  evalue_status status = evalue_ipc_listen(&listener, j->path, 0);
  if (status == EVALUE_OK) cli_cleanup_socket(&listener);
  cli_cleanup_unblock();
  if (status != EVALUE_OK) {
    cli_message("%s: cannot listen: %s", j->path,
                status == EVALUE_IO ? strerror(listener.system_error) : "the path is empty or too long");
    return CLI_FAILURE;
  }
  int result = accept_message(j, &listener, output);
  cli_cleanup_block();
  evalue_ipc_stop_listening(&listener);
  cli_cleanup_socket(NULL);
  cli_cleanup_unblock();
  return result;
}

static bool parse(cli_args *args, job *j) {
  while (cli_args_next(args)) {
    if (cli_args_is(args, "-o")) {
      if (!cli_args_once(args, &j->out)) return false;
    } else if (cli_args_is(args, "--timeout")) {
      if (!cli_args_once(args, &j->timeout)) return false;
    } else if (args->is_operand && j->path == NULL) {
      j->path = args->name;
    } else {
      cli_args_unknown(args);
      return false;
    }
  }
  return args->stop || cli_parse_timeout(j->timeout, &j->options.idle_ms);
}

int cli_receive(int argc, char **argv) {
  cli_args args;
  job j = {.options = {.snapshot = 1, .max_bytes = UINT64_MAX, .max_pool_bytes = UINT64_MAX}};
  (void)argc;
  cli_args_start(&args, argv, help);
  if (!parse(&args, &j)) return CLI_FAILURE;
  if (args.stop) return args.exit_code;
  if (j.path == NULL) return cli_usage_error("expected SOCKET");
  if (j.out == NULL) return cli_usage_error("expected -o OUT");
  cli_output *output = cli_output_open(j.out); /* before a message comes, so that none is lost for it */
  if (output == NULL) return CLI_FAILURE;
  if (j.options.idle_ms != 0) j.deadline = now() + j.options.idle_ms;
  int result = listen_once(&j, output);
  if (result != CLI_OK) cli_output_discard(output);
  else if (!cli_output_commit(output)) result = CLI_FAILURE;
  return result;
}
