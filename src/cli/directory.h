/* SPDX-License-Identifier: BSD-3-Clause */
/* A directory of value files that appears whole or not at all. */
#ifndef EVALUE_CLI_DIRECTORY_H
#define EVALUE_CLI_DIRECTORY_H

#include "cli.h"

typedef struct cli_directory {
  const char *name;                   /* as given */
  char *target;                       /* its place */
  int parent;                         /* the directory that target lies in */
  const char *target_name;            /* its name there */
  char temporary[CLI_TEMPORARY_SIZE]; /* where the files are made, in parent or target_fd; empty when it is not there */
  int fd;                             /* of temporary */
  int target_fd;                      /* of a target that exists already; -1 otherwise */
  mode_t mode;                        /* of a target that does not */
  volatile uint64_t count;            /* value files up to this number may exist */
} cli_directory;

/* Opens a directory that is empty or does not exist. All return false, or -1, with a message, on failure; then only
 * cli_directory_discard is left to do. */
bool cli_directory_open(cli_directory *d, const char *name);

/* Creates a file: one of cli_value_file_name, of a number below d->count, or CLI_VALUES_FILE_NAME. */
int cli_directory_create(const cli_directory *d, const char *name);

/* Puts the files, which are all on the disk, in their place. */
bool cli_directory_publish(cli_directory *d);

/* Removes what was not published, and frees; also after a failure of cli_directory_open. */
void cli_directory_discard(cli_directory *d);

#endif
