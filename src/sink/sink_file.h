/* SPDX-License-Identifier: BSD-3-Clause */
/* What sink_file.c and sink_path.c share. */
#ifndef EVALUE_SINK_FILE_H
#define EVALUE_SINK_FILE_H

#include "sink_internal.h"

/* Records the errno of a failure, and returns the status for it. */
evalue_status evalue_file_fail(evalue_file_sink *sink, int error);

/* Waits until a file or a directory is on the disk; pipes and the like are on none. Returns 0, or what errno says. */
int evalue_file_sync(int fd);

/* Starts a sink into a descriptor. */
evalue_status evalue_file_start(evalue_file_sink *sink, int fd, const evalue_sink_options *options);

/* Puts the file, which is closed, in the target's place; or removes it. Closes the directory. */
evalue_status evalue_file_publish(evalue_file_sink *sink, bool is_good);

#endif
