/* SPDX-License-Identifier: BSD-3-Clause */
/* Forms on the command line: their names, and the options that only ExecuTorch's Java bytes have. */
#include <string.h>

#include "cli.h"

static const char *const form_names[] = {
    [CLI_MESSAGE] = "message", [CLI_SEQUENCE] = "sequence", [CLI_JAVA] = "executorch-java"};

const char *cli_form_name(cli_form form) {
  return form_names[form];
}

bool cli_parse_form(const char *text, cli_form *form) {
  if (text == NULL) return true;
  for (size_t i = 0; i < sizeof form_names / sizeof form_names[0]; i++) {
    if (strcmp(text, form_names[i]) != 0) continue;
    *form = (cli_form)i;
    return true;
  }
  cli_usage_error("unknown form '%s': expected message, sequence or executorch-java", text);
  return false;
}

/* ---- --executorch and --allow ---- */

bool cli_is_java_option(const cli_args *args) {
  return cli_args_is(args, "--executorch") || cli_args_is(args, "--allow");
}

static bool parse_release(const char *text, evalue_java_options *java) {
  for (uint32_t release = 0; evalue_java_release_name(release) != NULL; release++) {
    if (strcmp(text, evalue_java_release_name(release)) != 0) continue;
    java->release = release;
    return true;
  }
  static const char known[] = ""
#define EVALUE_X(name, code, text) " " text
      EVALUE_JAVA_RELEASE_TABLE(EVALUE_X)
#undef EVALUE_X
      ;
  cli_usage_error("unknown release '%s': expected one of%s", text, known);
  return false;
}

static bool parse_waiver(const char *text, evalue_java_options *java) {
  if (strcmp(text, "trailing") == 0) {
    java->allow_trailing = 1;
  } else if (strcmp(text, "bool") == 0) {
    java->allow_any_bool = 1;
  } else if (strcmp(text, "utf8") == 0) {
    java->allow_any_text = 1;
  } else {
    cli_usage_error("--allow: expected trailing, bool or utf8, found '%s'", text);
    return false;
  }
  return true;
}

bool cli_take_java_option(cli_args *args, cli_java_texts *texts) {
  if (cli_args_is(args, "--executorch")) {
    return cli_args_once(args, &texts->release) && parse_release(texts->release, &texts->java);
  }
  texts->waiver = cli_args_value(args);
  return texts->waiver != NULL && parse_waiver(texts->waiver, &texts->java);
}

bool cli_check_java_options(const cli_java_texts *texts, bool is_read, bool is_written) {
  if (texts->release != NULL && !is_read && !is_written) {
    cli_usage_error("--executorch is for the form executorch-java");
  } else if (texts->waiver != NULL && !is_read) {
    cli_usage_error("--allow is for reading the form executorch-java");
  } else {
    return true;
  }
  return false;
}

bool cli_check_alignment(cli_form form, uint32_t alignment) {
  if (form == CLI_MESSAGE || alignment <= 1) return true;
  cli_usage_error("%s has no alignment", form == CLI_JAVA ? "executorch-java" : "a sequence");
  return false;
}
