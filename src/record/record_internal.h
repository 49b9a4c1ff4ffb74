/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of record.h share; nobody else includes it. */
#ifndef EVALUE_RECORD_INTERNAL_H
#define EVALUE_RECORD_INTERNAL_H

#include "evalue/inline.h"
#include "evalue/record.h"

enum {
  RECORD_HEAD = EVALUE_RECORD_HEAD_SIZE,
  RECORD_TAIL = EVALUE_RECORD_FRAME_SIZE - EVALUE_RECORD_HEAD_SIZE, /* the CRC of the data */
  RECORD_FRAME = EVALUE_RECORD_FRAME_SIZE,
  RECORD_PLACE = EVALUE_RECORD_ALIGNMENT - EVALUE_RECORD_HEAD_SIZE, /* of a head whose data are aligned then */
  RECORD_BLOCK = 256 << 10 /* what is read at once, of small records, by default */
};

/* ---- record_crc.c ---- */

/* Returns the CRC-32C of the 8 bytes of a length. */
uint32_t evalue_record_crc_of_length(uint64_t length);

/* ---- record_frame.c: what a record's frame says ---- */

/* Fills *error with a fault of record files, without an index, and returns its status. */
evalue_status evalue_record_fail(evalue_error *error, evalue_fault fault, uint64_t position, uint64_t expected,
                                 uint64_t found);

/* The same where the input ends after `size` bytes, of at least `needed`. */
evalue_status evalue_record_fail_short(evalue_error *error, evalue_fault fault, uint64_t position, uint64_t needed,
                                       uint64_t size);

/* Reads the length from a whole head, which is at offset in the file. */
evalue_status evalue_record_judge_head(const uint8_t *head, uint64_t offset, uint64_t *length, evalue_error *error);

/* Compares the CRC of a record's data with the one in the file; offset is the record's. */
evalue_status evalue_record_judge_data(uint32_t crc, const uint8_t *tail, uint64_t offset, evalue_error *error);

/* ---- record_io.c: memory and system calls ---- */

/* Returns memory, aligned as records' data are; or NULL. free frees it. */
void *evalue_record_allocate(size_t nbytes);

/*
 * Makes room for `needed` entries of a size each, in memory of *capacity that holds `used` of them. False, and nothing
 * has changed, when there is none.
 */
bool evalue_record_grow(void **memory, size_t *capacity, size_t used, uint64_t needed, size_t size);

/*
 * Reads up to nbytes bytes, at a place in the file, or, for UINT64_MAX, where the descriptor stands; goes on after a
 * signal, and waits where the descriptor does not. Returns how many, 0 at the end; -1, and errno says why.
 */
int64_t evalue_record_read_some(int fd, void *to, size_t nbytes, uint64_t at);

/* The same, until there are nbytes bytes, or the file ends. */
int64_t evalue_record_read_full(int fd, void *to, size_t nbytes, uint64_t at);

/* Finds a regular file's size; false when it is none, and then *error is 0, or when it cannot be found: errno. */
bool evalue_record_file_size(int fd, uint64_t *size, int *error);

/* Locks a file against other writers; false, with errno set, when there is one. Where there are no locks it is true. */
bool evalue_record_lock(int fd);

/* ftruncate, but it goes on after a signal. */
bool evalue_record_cut(int fd, uint64_t size);

/* ---- record_scan.c ---- */

/* Going from head to head. */
typedef struct evalue_record_scan {
  int fd;
  int32_t system_error;
  uint64_t file_size;
  uint64_t end;     /* of the last whole record */
  uint64_t records; /* that are whole */
  evalue_error error;
} evalue_record_scan;

/* Finds all whole records of a regular file, and adds them to index, if it is not NULL. What ends them, if not END. */
evalue_status evalue_record_scan_heads(evalue_record_scan *scan, int fd, evalue_record_index *index);

/* ---- record_index.c ---- */

enum { RECORD_LINE = 48 }; /* more than any line of an index has */

/* Writes a line without a NUL; returns its length. */
size_t evalue_record_print_entry(const evalue_record_entry *entry, char line[RECORD_LINE]);

bool evalue_record_index_add(evalue_record_index *index, uint64_t offset, uint64_t size);

/* ---- record_read.c ---- */

bool evalue_record_reader_is_usable(const evalue_record_reader *reader);

/* Notes an errno, and returns the status for it. */
evalue_status evalue_record_reader_fail(evalue_record_reader *reader, int error);

/* Gives the buffer room for nbytes bytes from RECORD_PLACE on; keeps what is in it. */
evalue_status evalue_record_reader_reserve(evalue_record_reader *reader, size_t nbytes);

/* The most bytes of data in a record that the caller and the host allow. */
uint64_t evalue_record_reader_limit(const evalue_record_reader *reader);

/* Says whether a file is known to have `end` bytes; looks again when it has grown. True where there is no size. */
bool evalue_record_reader_has(evalue_record_reader *reader, uint64_t end);

/* ---- record_write.c ---- */

bool evalue_record_writer_options_are_good(const evalue_record_writer_options *options);

/* Starts a writer into a sink, with the side file open; base is where in the file the sink's offset 0 is. */
evalue_status evalue_record_writer_start(evalue_record_writer *writer, evalue_sink *sink,
                                         const evalue_record_writer_options *options);

/* Frees what a writer holds, and closes its descriptor; 0, or what errno says of that. */
int evalue_record_writer_free(evalue_record_writer *writer);

#endif
