/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue send`: passes a message to a process that listens at a socket. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"

static const char help[] =
    "usage: evalue send [--carrier C] [--timeout S] SOCKET FILE\n"
    "\n"
    "Sends a message to the process that listens at SOCKET, such as 'evalue receive'. FILE is checked before.\n"
    "\n"
    "  --carrier C      how: inline (through the socket), pool or sealed (in shared memory); by default the\n"
    "                   message's size decides\n"
    "  --timeout S      wait up to S seconds for somebody to listen, and for it to take the message\n"
    "  --log SPEC       what to log on stderr; help lists the names\n"
    "  --help           this text\n"
    "\n"
    "FILE may be -, stdin.\n"
    "\n"
    "Exit status: 0 good; 1 bad data; 2 usage or I/O.\n"
    "\n"
    "example: evalue send /tmp/camera.socket frame.evalue\n";

enum { RETRY_MS = 20 };

typedef struct job {
  const char *carrier, *timeout, *path, *file;
  evalue_ipc_options options;
} job;

static bool parse_carrier(const char *text, uint32_t *carrier) {
  if (text == NULL) return true;
  for (*carrier = EVALUE_IPC_INLINE; *carrier <= EVALUE_IPC_SEALED; ++*carrier) {
    if (strcmp(text, evalue_ipc_carrier_name(*carrier)) == 0) return true;
  }
  cli_usage_error("unknown carrier '%s': expected inline, pool or sealed", text);
  return false;
}

/* Connects, and waits while nobody listens, if there is time for that. */
static bool connect_to(const job *j, evalue_ipc_channel *channel) {
  const struct timespec nap = {.tv_nsec = RETRY_MS * 1000000L};
  for (uint32_t waited = 0;; waited += RETRY_MS) {
    evalue_status status = evalue_ipc_connect(channel, j->path, &j->options);
    if (status == EVALUE_OK) return true;
    bool is_early = channel->system_error == ENOENT || channel->system_error == ECONNREFUSED;
    if (status == EVALUE_IO && is_early && j->timeout != NULL && waited < j->options.stall_ms) {
      nanosleep(&nap, NULL);
      continue;
    }
    cli_message("%s: cannot connect: %s", j->path,
                status == EVALUE_IO ? strerror(channel->system_error) : "the path is empty or too long");
    return false;
  }
}

static int send_bytes(job *j, const uint8_t *data, size_t size) {
  evalue_ipc_channel channel;
  j->options.slot_nbytes = size; /* one slot is enough for one message */
  j->options.slots = 1;
  if (!connect_to(j, &channel)) return CLI_FAILURE;
  evalue_status status = evalue_ipc_send_message(&channel, data, size);
  if (status != EVALUE_OK) cli_report_channel(&channel, j->path, "cannot send");
  evalue_ipc_close(&channel);
  return status == EVALUE_OK ? CLI_OK : CLI_FAILURE;
}

/* Sends a copy, so that what goes out is what was checked, even if the file changes, or is cut, meanwhile. */
static int send_input(job *j, const cli_input *input) {
  uint8_t *copy = malloc(input->size);
  cli_input checked;
  cli_reader reader;
  if (copy == NULL) {
    cli_message("%s: out of memory", cli_input_name(input->name));
    return CLI_FAILURE;
  }
  evalue_copy_bytes(copy, input->data, input->size);
  int result = cli_input_ok(input) ? CLI_OK : CLI_FAILURE;
  if (result == CLI_OK) {
    const cli_format format = {.form = CLI_MESSAGE};
    cli_input_of_bytes(&checked, input->name, copy, input->size);
    checked.has_more = input->has_more;
    cli_reader_init(&reader, &checked, &format);
    while (cli_reader_next(&reader, NULL) == EVALUE_OK) {
    }
    result = cli_reader_finish(&reader);
  }
  if (result == CLI_OK) result = send_bytes(j, copy, input->size);
  free(copy);
  return result;
}

static bool parse(cli_args *args, job *j) {
  while (cli_args_next(args)) {
    if (cli_args_is(args, "--carrier")) {
      if (!cli_args_once(args, &j->carrier)) return false;
    } else if (cli_args_is(args, "--timeout")) {
      if (!cli_args_once(args, &j->timeout)) return false;
    } else if (args->is_operand && j->file == NULL) {
      *(j->path == NULL ? &j->path : &j->file) = args->name;
    } else {
      cli_args_unknown(args);
      return false;
    }
  }
  return args->stop ||
         (parse_carrier(j->carrier, &j->options.carrier) && cli_parse_timeout(j->timeout, &j->options.stall_ms));
}

int cli_send(int argc, char **argv) {
  cli_args args;
  cli_input input;
  const cli_format format = {.form = CLI_MESSAGE};
  job j = {0};
  (void)argc;
  cli_args_start(&args, argv, help);
  if (!parse(&args, &j)) return CLI_FAILURE;
  if (args.stop) return args.exit_code;
  if (j.file == NULL) return cli_usage_error("expected SOCKET and FILE");
  if (!cli_input_open(&input, j.file, cli_reader_needed, &format)) return CLI_FAILURE;
  int result = send_input(&j, &input);
  cli_input_close(&input);
  return result;
}
