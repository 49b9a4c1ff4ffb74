/* SPDX-License-Identifier: BSD-3-Clause */
/* The `evalue` command: picks the subcommand. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const char help[] =
    "usage: evalue COMMAND [ARGUMENT...]\n"
    "\n"
    "Makes, shows and converts files of ExecuTorch values.\n"
    "\n"
    "  pack       make a file from values, .npy files and JSON Lines\n"
    "  show       show what a file holds\n"
    "  check      say whether files are valid\n"
    "  unpack     turn a file into .npy files and JSON Lines\n"
    "  convert    rewrite a file in another form, or with another alignment\n"
    "  send       send a message to another process\n"
    "  receive    wait for a message from another process\n"
    "  records    make, check and convert files of training examples\n"
    "  help       say more about a command: 'evalue help COMMAND'\n"
    "\n"
    "  --help     this text\n"
    "  --version  the version\n"
    "\n"
    "Each command takes --log SPEC: what to log on stderr. +reader,sink,-cli is debug for reader, info for sink and\n"
    "errors only for cli; why_rejected explains each refused input, why_copied what could not be used in place; help\n"
    "lists the names. The variable EVALUE_LOGS means the same.\n"
    "\n"
    "Exit status: 0 good; 1 bad data; 2 usage or I/O.\n"
    "\n"
    "example: evalue pack --tensor image.npy --int 7 -o values.evalue && evalue show values.evalue\n";

static const struct command {
  const char *name;
  int (*run)(int argc, char **argv);
} commands[] = {{"pack", cli_pack},       {"show", cli_show}, {"check", cli_check},     {"unpack", cli_unpack},
                {"convert", cli_convert}, {"send", cli_send}, {"receive", cli_receive}, {"records", cli_records}};

static const struct command *find_command(const char *name) {
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    if (strcmp(name, commands[i].name) == 0) return &commands[i];
  }
  return NULL;
}

/*
 * A caller may have closed stdin, stdout or stderr. Then the next file would get its number, and messages would end up
 * in it; so each place is taken here, by something that fails when it is used as intended.
 */
static void take_standard_places(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/* Less than all is a failure here, so a pipe that takes a part is asked again. */
static ssize_t write_stdout(void *cookie, const char *data, size_t size) {
  size_t done = 0;
  (void)cookie;
  while (done < size) {
    ssize_t n = cli_write(STDOUT_FILENO, data + done, size - done);
    if (n <= 0) break;
    done += (size_t)n;
  }
  return (ssize_t)done;
}

/* Somebody may have made stdout non-blocking, and it is theirs, too: so it is waited for, which stdio does not. */
static void make_stdout_wait(void) {
  enum { BUFFER_SIZE = 1 << 16 };
  FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_stdout});
  if (stream == NULL) return;
  setvbuf(stream, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFFER_SIZE);
  stdout = stream;
}

static bool is_help(const char *argument) {
  return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

/* `evalue help COMMAND` is `evalue COMMAND --help`; `records` has commands of its own. */
static int run_help(char **names) {
  static char option[] = "--help";
  const struct command *command = names[0] != NULL ? find_command(names[0]) : NULL;
  if (names[0] == NULL || is_help(names[0])) {
    fputs(help, stdout);
    return CLI_OK;
  }
  if (command == NULL) return cli_usage_error("unknown command '%s'", names[0]);
  bool has_two = names[1] != NULL && command->run == cli_records;
  const char *unexpected = has_two ? names[2] : names[1];
  if (unexpected != NULL) return cli_usage_error("unexpected argument '%s'", unexpected);
  char *arguments[] = {names[0], has_two ? names[1] : option, has_two ? option : NULL, NULL};
  return command->run(has_two ? 3 : 2, arguments);
}

/* Takes --log SPEC where a command's name is expected; NULL when the program ends here. */
static char **take_log(char **argv, int *exit_code) {
  static const char option[] = "--log";
  while (argv[1] != NULL && strncmp(argv[1], option, sizeof option - 1) == 0) {
    const char *end = argv[1] + sizeof option - 1;
    const char *spec = *end == '=' ? end + 1 : argv[2];
    if (*end != '\0' && *end != '=') break;
    if (spec == NULL) *exit_code = cli_usage_error("--log needs a value");
    if (spec == NULL || !cli_set_log(spec, exit_code)) return NULL;
    argv += *end == '=' ? 1 : 2;
  }
  return argv;
}

static int run(int argc, char **argv) {
  int exit_code = CLI_OK;
  (void)evalue_log_is_on(&evalue_log_cli, EVALUE_LOG_DEBUG); /* what the environment has got wrong is told at once */
  char **rest = take_log(argv, &exit_code);
  if (rest == NULL) return exit_code;
  argc -= (int)(rest - argv);
  argv = rest;
  if (argc < 2) {
    fputs(help, stderr);
    return CLI_FAILURE;
  }
  const struct command *command = find_command(argv[1]);
  if (command != NULL) {
    cli_set_command(command->name);
    return command->run(argc - 1, argv + 1);
  }
  if (strcmp(argv[1], "help") == 0) return run_help(argv + 2);
  if (is_help(argv[1])) {
    fputs(help, stdout);
    return CLI_OK;
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("evalue %s\n", evalue_version());
    return CLI_OK;
  }
  return cli_usage_error("unknown command '%s'", argv[1]);
}

/* Ends as a program does that is not told of closed pipes: what reads our text has seen enough of it. */
static int end_quietly(void) {
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
  return CLI_FAILURE;
}

int main(int argc, char **argv) {
  take_standard_places();
  signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error with a message where the output is binary, */
  signal(SIGXFSZ, SIG_IGN); /* and so is a file that may not grow further */
  setvbuf(stderr, NULL, _IOLBF, 4096);
  make_stdout_wait();
  errno = 0;
  int result = run(argc, argv);
  int reason = errno; /* if writing has failed before: commands stop then, so it is most likely still known */
  bool failed = ferror(stdout) != 0;
  if (fflush(stdout) != 0) {
    failed = true;
    reason = errno;
  }
  if (!failed) return result;
  if (reason == EPIPE) return end_quietly();
  cli_message("stdout: cannot write: %s", reason != 0 ? strerror(reason) : "an earlier attempt failed");
  return CLI_FAILURE;
}
