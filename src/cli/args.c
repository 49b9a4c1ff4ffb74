/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines. An option's value is whatever follows it, also when that begins with "-": `--int -5`, `--string --`.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

void cli_args_start(cli_args *args, char **argv, const char *help) {
  memset(args, 0, sizeof *args);
  args->argv = argv + 1;
  args->help = help;
}

static bool stop(cli_args *args, int exit_code) {
  args->stop = true;
  args->exit_code = exit_code;
  return false;
}

/* Splits an argument that begins with "-" into the option and the value in the same argument. */
static void split(cli_args *args) {
  args->name_size = strlen(args->name);
  if (args->name[1] == '-') {
    const char *equals = strchr(args->name, '=');
    if (equals == NULL) return;
    args->name_size = (size_t)(equals - args->name);
    args->attached = equals + 1;
  } else if (args->name[2] != '\0') {
    args->name_size = 2;
    args->attached = args->name + 2;
  }
}

bool cli_set_log(const char *spec, int *exit_code) {
  char text[1000];
  evalue_status status = evalue_log_override(spec, text, sizeof text);
  *exit_code = CLI_OK;
  if (status != EVALUE_OK) {
    *exit_code = cli_usage_error("--log: %s", text);
  } else if (text[0] != '\0') {
    puts(text); /* the list that was asked for */
  }
  return status == EVALUE_OK && text[0] == '\0';
}

/* Takes the option that every command has. */
static bool take_log(cli_args *args) {
  const char *spec = cli_args_value(args);
  if (spec == NULL) return stop(args, CLI_FAILURE);
  return cli_set_log(spec, &args->exit_code) ? cli_args_next(args) : stop(args, args->exit_code);
}

bool cli_args_next(cli_args *args) {
  if (args->stop) return false;
  if (args->attached != NULL) {
    cli_usage_error("%.*s takes no value", (int)args->name_size, args->name);
    return stop(args, CLI_FAILURE);
  }
  if (*args->argv == NULL) return false;
  args->name = *args->argv++;
  args->is_operand = args->operands_only || args->name[0] != '-' || args->name[1] == '\0';
  if (args->is_operand) return true;
  if (strcmp(args->name, "--") == 0) {
    args->operands_only = true;
    return cli_args_next(args);
  }
  split(args);
  if (cli_args_is(args, "--log")) return take_log(args);
  if (args->attached == NULL && (cli_args_is(args, "--help") || cli_args_is(args, "-h"))) {
    fputs(args->help, stdout);
    return stop(args, CLI_OK);
  }
  return true;
}

bool cli_args_is(const cli_args *args, const char *option) {
  return !args->is_operand && strlen(option) == args->name_size && memcmp(option, args->name, args->name_size) == 0;
}

const char *cli_args_value(cli_args *args) {
  const char *value = args->attached;
  args->attached = NULL;
  if (value != NULL) return value;
  if (*args->argv != NULL) return *args->argv++;
  cli_usage_error("%.*s needs a value", (int)args->name_size, args->name);
  return NULL;
}

bool cli_args_once(cli_args *args, const char **value) {
  if (*value != NULL) {
    cli_usage_error("%.*s given twice", (int)args->name_size, args->name);
    return false;
  }
  *value = cli_args_value(args);
  return *value != NULL;
}

int cli_args_unknown(const cli_args *args) {
  if (args->is_operand) return cli_usage_error("unexpected argument '%s'", args->name);
  return cli_usage_error("unknown option '%.*s'", (int)args->name_size, args->name);
}

bool cli_parse_alignment(const char *text, uint32_t *alignment) {
  if (text == NULL) return true;
  for (uint32_t power = 1; power <= EVALUE_MAX_ALIGNMENT; power *= 2) {
    char name[16];
    snprintf(name, sizeof name, "%u", (unsigned)power);
    if (strcmp(text, name) == 0) {
      *alignment = power;
      return true;
    }
  }
  cli_usage_error("bad alignment '%s': expected a power of two from 1 to %d", text, EVALUE_MAX_ALIGNMENT);
  return false;
}

bool cli_parse_timeout(const char *text, uint32_t *ms) {
  char *end;
  *ms = 0;
  if (text == NULL) return true;
  double seconds = strtod(text, &end);
  bool is_good = end != text && *end == '\0' && seconds >= 0.001 && seconds <= 1e6;
  if (!is_good) cli_usage_error("bad timeout '%s': expected seconds, from 0.001 to 1000000", text);
  else *ms = (uint32_t)(seconds * 1000);
  return is_good;
}

int cli_scalar_type(const char *name) {
  for (uint32_t code = 0; code <= UINT8_MAX; code++) {
    const char *known = evalue_scalar_type_name(code);
    if (known != NULL && strcmp(known, name) == 0) return (int)code;
  }
  return -1;
}
