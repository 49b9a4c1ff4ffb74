/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading values from JSON Lines (spec, appendix B), one line at a time. */
#ifndef EVALUE_CLI_JSON_H
#define EVALUE_CLI_JSON_H

#include <jansson.h>

#include "cli.h"

typedef struct cli_json_reader {
  const char *name;
  FILE *stream;
  int fd;          /* what the stream reads */
  uint64_t line;   /* the number of the line that was read last, from 1 */
  uint64_t done;   /* bytes read */
  uint64_t total;  /* bytes of the file; 0: not known */
  char *text;      /* the line */
  size_t capacity; /* of text */
  json_t *root;    /* what it says */
  bool as_real;    /* its integers were parsed as doubles, because one is too large */
  uint8_t *bytes;  /* what its hex digits say */
} cli_json_reader;

enum { CLI_JSON_END = -1 };

/* Opens a file, or stdin for "-". False, with a message, on failure. */
bool cli_json_open(cli_json_reader *reader, const char *name);

/*
 * Reads the next value; it is valid until the next call. Returns CLI_OK; CLI_JSON_END after the last; or CLI_BAD_DATA
 * or CLI_FAILURE with a message that says the line, what was expected and what was found.
 */
int cli_json_next(cli_json_reader *reader, evalue *value);

void cli_json_close(cli_json_reader *reader);

#endif
