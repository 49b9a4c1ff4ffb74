/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Record files: training examples one after the other, each a message (spec/evalue-records-1.0.md). In
 * libevalue-record.
 *
 *     evalue_record_writer w;
 *     evalue_record_reader r;
 *     if (evalue_record_writer_open(&w, "train.tfrecord", NULL) == EVALUE_OK) {
 *       evalue_record_writer_put(&w, values, (size_t)n, NULL);
 *       evalue_record_writer_close(&w);
 *     }
 *     if (evalue_record_reader_open(&r, "train.tfrecord", NULL) == EVALUE_OK) {
 *       while (evalue_record_reader_next_values(&r, values, capacity, &n) == EVALUE_OK) use(values, n);
 *       evalue_record_reader_close(&r);
 *     }
 *
 * The framing is that of TFRecord: length (u64), masked CRC-32C of the length (u32), data, masked CRC-32C of the data
 * (u32), all little-endian. What carries TFRecord files carries these.
 *
 * Writers, readers and indices are structs of the caller's. They must stay where they were initialised: a copy, or one
 * that was moved, is refused with EVALUE_MISUSE. One thread at a time may use one. What is allocated is freed by the
 * closing call; where memory is lacking the call returns EVALUE_IO with ENOMEM in system_error, and changes nothing.
 *
 * Positions of errors: those of RECORD_ faults are in the file, those of INDEX_ faults in the side file (but for
 * evalue_record_reader_at: in the record file), and those of a message's own faults in the record's data.
 */
#ifndef EVALUE_RECORD_H
#define EVALUE_RECORD_H

#include "evalue/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- framing ------------------------------------------------------------------------------------------------ */

/** The bytes of a record before its data: the length and its CRC. */
#define EVALUE_RECORD_HEAD_SIZE 12

/** The bytes of a record beside its data: the head, and the CRC of the data. */
#define EVALUE_RECORD_FRAME_SIZE 16

/** The alignment in memory of the data that a reader hands out. */
#define EVALUE_RECORD_ALIGNMENT 64

/** The least number of bytes behind the data that a reader hands out that may be read as well. They mean nothing. */
#define EVALUE_RECORD_SLACK 128

/**
 * Returns the CRC-32C of nbytes bytes, going on from crc, the CRC-32C of the bytes before; 0 at the start. data may be
 * NULL when nbytes is 0.
 */
EVALUE_API uint32_t evalue_record_crc32c(uint32_t crc, const void *data, size_t nbytes);

/** Returns a CRC as it stands in a file: rotated right by 15 bits, plus a constant (records spec, section 2). */
static inline uint32_t evalue_record_mask(uint32_t crc) {
  return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

/**
 * Fills head with a record's first bytes: the length of its data, and the CRC of that. EVALUE_OK; EVALUE_LIMIT for 2^62
 * or more; EVALUE_MISUSE for NULL.
 */
EVALUE_API evalue_status evalue_record_head(uint64_t length, uint8_t head[EVALUE_RECORD_HEAD_SIZE]);

/** Where a record is in its file. */
typedef struct evalue_record_entry {
  uint64_t offset; /* of the record, not of its data */
  uint64_t size;   /* of the record: its data and EVALUE_RECORD_FRAME_SIZE */
} evalue_record_entry;

/* ---- writing ------------------------------------------------------------------------------------------------ */

/** What a writer can be told. All zero, or NULL in its place, is the default. */
typedef struct evalue_record_writer_options {
  uint32_t size;          /* sizeof(evalue_record_writer_options), or 0 for the layout of version 0.5 */
  uint32_t append;        /* by path: 1: go on behind the last whole record; otherwise the file begins anew */
  uint32_t sync;          /* by path: EVALUE_SYNC_NEVER, ..., as for file sinks */
  uint32_t alignment;     /* of messages: as for evalue_message_encode; 0: the default, 16 */
  uint64_t max_record;    /* the most bytes of data in a record; 0: no limit */
  size_t buffer_size;     /* by path: memory that collects records; 0: the default, 1 MiB */
  const char *index_path; /* a side file that is written along (evalue_record_index_write); NULL: none */
} evalue_record_writer_options;

/** A writer's state. Its members are private, but records, cut, status and system_error may be read. */
typedef struct evalue_record_writer {
  const struct evalue_record_writer *self; /* where it was initialised; NULL once it is closed */
  evalue_sink *sink;
  evalue_file_sink file, index;
  uint8_t *buffer;      /* of the file */
  uint8_t *scratch;     /* structural bytes of the message that is being written */
  evalue_slice *slices; /* of that message, between the frame's two */
  char *lines;          /* of the index, that are not written yet */
  size_t scratch_capacity, slice_capacity, lines_size;
  uint64_t base;       /* where in the file the sink's offset 0 is */
  uint64_t end;        /* in the file: of the last record */
  uint64_t max_record; /* UINT64_MAX: no limit */
  uint64_t records;    /* that were written by this writer */
  uint64_t cut;        /* bytes of a torn record that opening has cut off */
  uint32_t alignment;
  int32_t fd;           /* by path; -1 otherwise */
  int32_t status;       /* of the last call that failed; EVALUE_OK before */
  int32_t system_error; /* the errno that belongs to EVALUE_IO; 0 for none */
  uint64_t reserved[4];
} evalue_record_writer;

/**
 * Starts a writer into a sink, which stays the caller's, and open; it must outlive the writer, and nobody else may
 * write to it meanwhile. Each record is one record of the sink: whole or not there. The sink must not align its records
 * (options alignment 1), also where it hands them on, for then there would be zeros between them. options->append must
 * be 0. Returns EVALUE_OK; EVALUE_IO when the side file cannot be written; EVALUE_MISUSE for NULL, a sink that aligns
 * or is closed, or bad options.
 */
EVALUE_API evalue_status evalue_record_writer_init(evalue_record_writer *writer, evalue_sink *sink,
                                                   const evalue_record_writer_options *options);

/**
 * Starts a writer into a file by its path, creating it if need be, with the mode 0666 less the umask. The file is
 * locked (flock) until the writer is closed, so that a second writer does not take a record that is half written for a
 * torn one.
 *
 * With options->append the file is gone through, head by head, to its end, and a record that is torn there, by a crash
 * or a full disk, is cut off: writer->cut says how many bytes that were. So are zeros up to the end, which a power cut
 * can leave, and which are no record. Whole records are never cut off. The side file is written anew, for all records.
 *
 * Returns EVALUE_OK; EVALUE_IO when a file cannot be opened, read or cut, or has another writer (EWOULDBLOCK), or, with
 * options->append, is no regular file; EVALUE_CORRUPT or EVALUE_MALFORMED for a file to append to with a bad length
 * before its end (evalue_record_examine says where, evalue_record_repair cuts there), and then it is as it was;
 * EVALUE_MISUSE for NULL, an empty path, or bad options.
 */
EVALUE_API evalue_status evalue_record_writer_open(evalue_record_writer *writer, const char *path,
                                                   const evalue_record_writer_options *options);

/**
 * Writes n values as one record with one message. *offset, if not NULL, is where the record begins, in the file, or in
 * the sink; it changes only on EVALUE_OK. Tensors' and strings' bytes go out from where they lie, and must not change
 * during the call. Returns EVALUE_OK; EVALUE_LIMIT for a message larger than options->max_record, and then nothing was
 * written, or for what evalue_message_size finds too large; EVALUE_NO_SPACE, EVALUE_IO, EVALUE_POISONED as
 * evalue_sink_write; EVALUE_MISUSE for bad values, NULL with a number, or a writer that is closed, copied or moved.
 */
EVALUE_API evalue_status evalue_record_writer_put(evalue_record_writer *writer, const evalue *values, size_t n,
                                                  uint64_t *offset);

/** Writes a record whose data is nbytes bytes as they are; they are not looked at. As evalue_record_writer_put. */
EVALUE_API evalue_status evalue_record_writer_put_bytes(evalue_record_writer *writer, const void *data, size_t nbytes,
                                                        uint64_t *offset);

/**
 * Hands on what is held back: first the records (evalue_sink_flush), then the side file, so that the side file never
 * names a record that is not there. Returns EVALUE_OK; EVALUE_IO, EVALUE_POISONED as evalue_sink_flush; EVALUE_MISUSE.
 */
EVALUE_API evalue_status evalue_record_writer_flush(evalue_record_writer *writer);

/**
 * Flushes, closes what the writer has opened, and frees what it holds, also when it fails. Returns EVALUE_OK, or the
 * first failure; EVALUE_MISUSE for NULL, or a writer that is closed, copied or moved.
 */
EVALUE_API evalue_status evalue_record_writer_close(evalue_record_writer *writer);

/* ---- reading ------------------------------------------------------------------------------------------------ */

/** What a reader can be told. All zero, or NULL in its place, is the default. */
typedef struct evalue_record_reader_options {
  uint32_t size;       /* sizeof(evalue_record_reader_options), or 0 for the layout of version 0.5 */
  uint32_t skip;       /* 1: go past bad records whose length is good, and count them */
  uint32_t ignore_crc; /* 1: do not check the CRC of the data; that of the length always is */
  uint32_t owns_fd;    /* by descriptor: 1: closing the reader closes it */
  uint64_t max_record; /* EVALUE_LIMIT for records with more bytes of data; 0: no limit */
  size_t buffer_size;  /* of reads of small records; 0: the default, 256 KiB */
} evalue_record_reader_options;

/** A record that was read. data is valid until the next call with the reader. */
typedef struct evalue_record {
  const uint8_t *data; /* at a multiple of EVALUE_RECORD_ALIGNMENT, with EVALUE_RECORD_SLACK readable bytes behind it */
  size_t size;         /* of data */
  uint64_t offset;     /* of the record in the file; its data begin EVALUE_RECORD_HEAD_SIZE bytes later */
  uint64_t index;      /* records before it, bad ones included; evalue_record_reader_at: EVALUE_NO_INDEX */
} evalue_record;

/** How many records a reader has handed out, and how many it has gone past. */
typedef struct evalue_record_counts {
  uint64_t records;      /* handed out, with evalue_record_reader_at also */
  uint64_t corrupt;      /* skipped: the CRC of the data does not match */
  uint64_t too_large;    /* skipped: larger than max_record */
  uint64_t bad_messages; /* skipped by evalue_record_reader_next_values: no good message */
  uint64_t reserved[4];
} evalue_record_counts;

/** A reader's state. Its members are private, but counts, file_size, fault_offset, fault_index, system_error may be
 * read. */
typedef struct evalue_record_reader {
  const struct evalue_record_reader *self; /* where it was initialised; NULL once it is closed */
  uint8_t *buffer;
  size_t capacity;       /* bytes of buffer that are filled; the slack is behind them */
  size_t begin, end;     /* of what was read and not handed out yet */
  size_t block;          /* how much is read at once, of small records */
  uint64_t position;     /* in the file: of the next record, which is at begin */
  uint64_t read_at;      /* in the file: of what will be read next, and go to end */
  uint64_t index;        /* of the next record */
  uint64_t file_size;    /* as far as it was looked at; UINT64_MAX of what is no regular file */
  uint64_t max_record;   /* UINT64_MAX: no limit */
  uint64_t fault_offset; /* in the file: of the record that the error is in */
  uint64_t fault_index;  /* and its index */
  evalue_record_counts counts;
  evalue_record waiting; /* the record that evalue_record_reader_next_values had no space for */
  evalue_error error;
  int32_t fd;
  int32_t stays;        /* the status that every later call returns; EVALUE_OK: none */
  int32_t system_error; /* the errno that belongs to EVALUE_IO; 0 for none */
  uint8_t skip, ignore_crc, owns_fd, is_stream, is_waiting, is_advised, is_refused, reserved_byte;
  uint64_t reserved[4];
} evalue_record_reader;

/**
 * Starts reading a file by its path: a regular file, or anything that can be read from its start to its end. It is
 * never mapped, so one that shrinks meanwhile is EVALUE_TRUNCATED, and no signal. Returns EVALUE_OK; EVALUE_IO when it
 * cannot be opened, or memory is lacking; EVALUE_MISUSE for NULL, an empty path, or bad options.
 */
EVALUE_API evalue_status evalue_record_reader_open(evalue_record_reader *reader, const char *path,
                                                   const evalue_record_reader_options *options);

/**
 * The same for a descriptor, from where it stands: a file, a pipe, a socket. Offsets are positions in a file, and count
 * from the first byte elsewhere. Where a file's descriptor stands is left alone. It stays the caller's, and open,
 * unless options->owns_fd is set and EVALUE_OK comes back.
 */
EVALUE_API evalue_status evalue_record_reader_init(evalue_record_reader *reader, int fd,
                                                   const evalue_record_reader_options *options);

/**
 * Reads the next record. Returns EVALUE_OK and fills *record; EVALUE_END behind the last one; or a failure, of which
 * evalue_record_reader_error says where:
 *
 * - EVALUE_TRUNCATED: the file ends inside the record (records spec, section 4); error->needed: the least size that
 *   would do. Found before any memory is taken for it.
 * - EVALUE_CORRUPT: the CRC of the length or of the data does not match. EVALUE_MALFORMED: a length of 2^62 or more.
 * - EVALUE_LIMIT: more data than options->max_record, or than fits into memory on this host. A file that ends inside
 *   such a record is EVALUE_TRUNCATED by the next call, and with options->skip by this one.
 * - EVALUE_IO: reading failed, or memory is lacking.
 * - EVALUE_MISUSE: NULL, or a reader that is closed, copied or moved.
 *
 * After EVALUE_CORRUPT in the data, and EVALUE_LIMIT, the next call goes on behind that record; with options->skip the
 * same call does. Where memory is lacking the next call tries again. All others stay. A record without data is read as
 * one, though it is no message.
 */
EVALUE_API evalue_status evalue_record_reader_next(evalue_record_reader *reader, evalue_record *record);

/**
 * Reads the next record and decodes its message into the caller's array, as evalue_message_decode; tensors and strings
 * point into the record's data, and are valid until the next call with the reader. Also returns EVALUE_NO_SPACE, and
 * then *n is the number of values, and the record is still the next one; and what is wrong with the message, or
 * EVALUE_MALFORMED for a record without data: the next call goes on behind that record, and with options->skip the same
 * call does.
 */
EVALUE_API evalue_status evalue_record_reader_next_values(evalue_record_reader *reader, evalue *values, size_t capacity,
                                                          uint64_t *n);

/**
 * Reads the record at a place that an index names. What evalue_record_reader_next reads next does not change, and
 * neither does a failure that stays. Returns EVALUE_OK, and the statuses of evalue_record_reader_next, none of which
 * stays; EVALUE_MALFORMED when the entry lies outside of the file, before anything is read, or is not as large as the
 * record; EVALUE_UNSUPPORTED for what is no regular file. Skips nothing.
 */
EVALUE_API evalue_status evalue_record_reader_at(evalue_record_reader *reader, const evalue_record_entry *entry,
                                                 evalue_record *record);

/**
 * Goes to a record that begins at offset, and has that index: what evalue_record_reader_next reads next. A failure that
 * stayed is over. Returns EVALUE_OK; EVALUE_UNSUPPORTED for what is no regular file; EVALUE_MISUSE for an offset of
 * 2^62 or more, or as above. An offset behind the file's end shows when it is read.
 */
EVALUE_API evalue_status evalue_record_reader_seek(evalue_record_reader *reader, uint64_t offset, uint64_t index);

/** Returns where the next record begins, in the file. 0 for NULL. */
static inline uint64_t evalue_record_reader_offset(const evalue_record_reader *reader) {
  return reader != NULL ? reader->position : 0;
}

/** Returns the index of the next record: how many are before it. 0 for NULL. */
static inline uint64_t evalue_record_reader_index(const evalue_record_reader *reader) {
  return reader != NULL ? reader->index : 0;
}

/**
 * Returns what was wrong with the last record that was not good, in skip mode also with one that was gone past; its
 * status is EVALUE_OK when there was none. reader->fault_offset and reader->fault_index say which record. Valid as long
 * as the reader; NULL for NULL.
 */
static inline const evalue_error *evalue_record_reader_error(const evalue_record_reader *reader) {
  return reader != NULL ? &reader->error : NULL;
}

/**
 * Closes the descriptor, if it is the reader's, and frees what the reader holds. Returns EVALUE_OK; EVALUE_MISUSE for
 * NULL, or a reader that is closed, copied or moved.
 */
EVALUE_API evalue_status evalue_record_reader_close(evalue_record_reader *reader);

/* ---- an index ----------------------------------------------------------------------------------------------- */

/** Where the records of a file are. All zero at first; entries, count, error and system_error may be read. */
typedef struct evalue_record_index {
  evalue_record_entry *entries; /* count of them; the index's, until it is freed or filled again */
  size_t count, capacity;
  evalue_error error;   /* why the last call failed */
  int32_t system_error; /* the errno that belongs to EVALUE_IO; 0 for none */
  int32_t reserved;
} evalue_record_index;

/**
 * Fills an index, which must be all zero or have been filled before, with all records of a reader's file, from the
 * file's start, whatever the reader has read. Reads their heads alone. Returns EVALUE_OK; EVALUE_TRUNCATED,
 * EVALUE_CORRUPT, EVALUE_MALFORMED as evalue_record_reader_next, and then the index has the records before; EVALUE_IO;
 * EVALUE_UNSUPPORTED for what is no regular file; EVALUE_MISUSE for NULL, or a reader that is closed, copied or moved.
 */
EVALUE_API evalue_status evalue_record_index_build(evalue_record_index *index, evalue_record_reader *reader);

/**
 * Fills an index from a side file: a line "OFFSET SIZE" for each record, in decimal, as DALI's tfrecord2idx writes them
 * (records spec, section 5). file_size is that of the record file (reader.file_size); no entry may go past it. Returns
 * EVALUE_OK; EVALUE_MALFORMED for a line that is not such a one, or an entry outside of the file; EVALUE_IO;
 * EVALUE_MISUSE for NULL. On a failure the index has the entries before.
 */
EVALUE_API evalue_status evalue_record_index_read(evalue_record_index *index, const char *path, uint64_t file_size);

/** Writes an index as such lines to a sink, which must not align. As evalue_sink_write. */
EVALUE_API evalue_status evalue_record_index_write(const evalue_record_index *index, evalue_sink *sink);

/** Frees what an index holds, and makes it all zero. NULL is allowed. */
EVALUE_API void evalue_record_index_free(evalue_record_index *index);

/* ---- repair ------------------------------------------------------------------------------------------------- */

/** What is in a file. */
typedef struct evalue_record_report {
  uint64_t records;     /* that are good: their framing and CRCs; messages are not looked at */
  uint64_t corrupt;     /* before the last good one: the CRC of the data does not match */
  uint64_t empty;       /* of the good ones: without data, so no messages */
  uint64_t good_end;    /* in bytes: where the last good record ends */
  uint64_t file_size;   /* in bytes, as it was found */
  evalue_error error;   /* the first fault; its status is EVALUE_OK for a good file */
  int32_t system_error; /* the errno that belongs to EVALUE_IO; 0 for none */
  int32_t reserved;
} evalue_record_report;

/**
 * Reads a file from its start to its end, or to a length that is bad, and says what is in it. Memory is constant,
 * whatever the size of the records. Returns EVALUE_OK for a good file; EVALUE_TRUNCATED, EVALUE_CORRUPT,
 * EVALUE_MALFORMED for the first fault; EVALUE_IO; EVALUE_UNSUPPORTED for what is no regular file; EVALUE_MISUSE for
 * NULL.
 */
EVALUE_API evalue_status evalue_record_examine(const char *path, evalue_record_report *report);

/**
 * The same, and then cuts the file at report->good_end: what is behind it, a torn or corrupt record and all that a bad
 * length hides, is lost. Corrupt records before it stay. Returns EVALUE_OK when what is left has no torn end, and
 * report says what it was; EVALUE_IO, also when the file has a writer (EWOULDBLOCK); others as above.
 */
EVALUE_API evalue_status evalue_record_repair(const char *path, evalue_record_report *report);

#ifdef __cplusplus
}
#endif

#endif
