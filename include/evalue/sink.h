/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Sinks: where bytes go. Memory, files, a callback, several places at once; what is written through them comes back
 * with the offset that it was written at.
 *
 *     evalue_buffer_sink s;
 *     uint64_t offset;
 *     evalue_buffer_sink_init(&s, storage, sizeof storage, NULL);
 *     if (evalue_sink_write_value(&s.sink, &v, &offset) != EVALUE_OK)
 *       printf("%s; %u bytes would do\n", evalue_status_message(s.sink.status), (unsigned)s.sink.needed);
 *     evalue_sink_close(&s.sink);
 *
 * One call writes one *record*, whole or not at all. After a failed call the destination is as it was before, and the
 * next record goes where the failed one would have gone; where a sink cannot take back what it has written, it is
 * *poisoned*: every later write and flush returns EVALUE_POISONED, and evalue_sink_used is the last good boundary.
 *
 * A sink is a struct of the caller's that begins with an evalue_sink, and it must stay where it was initialised: a
 * copy, or one that was moved, is refused with EVALUE_MISUSE, so no descriptor is closed twice. One thread at a time
 * may use a sink. src/sink/README.md shows how to write one.
 */
#ifndef EVALUE_SINK_H
#define EVALUE_SINK_H

#include "evalue/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evalue_sink evalue_sink;

/* ---- a sink ------------------------------------------------------------------------------------------------- */

/**
 * What a sink can do. All but write may be NULL. The functions are called in a fixed order: begin, write once or more
 * often, and then either end or undo; flush and close stand between records. None is called after close.
 */
typedef struct evalue_sink_functions {
  /**
   * A record of nbytes bytes will follow: EVALUE_OK, or why it cannot (EVALUE_NO_SPACE), with nothing changed.
   * alignment is the record's, 0 for any place; the zeros that it needs are part of nbytes, unless the sink does not
   * place records itself.
   */
  evalue_status (*begin)(evalue_sink *sink, uint64_t nbytes, uint32_t alignment);
  /** Appends n slices, all of them. On a failure it may have appended a part. */
  evalue_status (*write)(evalue_sink *sink, const evalue_slice *slices, size_t n);
  /** The record is complete. */
  void (*end)(evalue_sink *sink);
  /** Takes the record back, as far as it was written. EVALUE_OK, or a failure, which poisons the sink. */
  evalue_status (*undo)(evalue_sink *sink);
  /** Hands on what the sink holds back. */
  evalue_status (*flush)(evalue_sink *sink);
  /** Frees what the sink holds, whatever happens; is_good is false when it was poisoned, or its last flush has failed.
   */
  evalue_status (*close)(evalue_sink *sink, bool is_good);
} evalue_sink_functions;

/** What every sink begins with. Its members are private, but used, needed, status and system_error may be read. */
struct evalue_sink {
  const evalue_sink_functions *functions;
  const evalue_sink *self; /* where it was initialised; NULL once it is closed */
  uint64_t used;           /* bytes: the end of the last record, and the least offset of the next */
  uint64_t needed;         /* of a buffer sink, after EVALUE_NO_SPACE: what `used` would have become */
  uint64_t pending;        /* what `used` will be when the record that is being written is complete */
  uint64_t left;           /* bytes of it that are still to come */
  uint32_t alignment;      /* offsets of records are multiples of it, with zeros before them; 0: see evalue_sink_init */
  int32_t status;          /* of the last call that failed; EVALUE_OK before */
  int32_t system_error;    /* the errno that belongs to EVALUE_IO; 0 for none. A sink's functions may set it. */
  uint8_t is_poisoned, is_writing, reserved[2];
};

/**
 * Starts a sink of the caller's own: its functions, the offset of the first record, and the alignment of records, a
 * power of two from 1 to 4096, or 0 for a sink that does not place records itself but hands them on to others, which
 * do. Returns EVALUE_OK, or EVALUE_MISUSE.
 */
EVALUE_API evalue_status evalue_sink_init(evalue_sink *sink, const evalue_sink_functions *functions, uint64_t used,
                                          uint32_t alignment);

/** Returns the number of bytes up to the end of the last record. 0 for NULL. */
static inline uint64_t evalue_sink_used(const evalue_sink *sink) {
  return sink != NULL ? sink->used : 0;
}

/**
 * Hands on what the sink holds back (a buffer, deferred records). Returns EVALUE_OK; EVALUE_IO, or, where it is handed
 * on to another sink, what that returns: what was held back still is; EVALUE_POISONED; EVALUE_MISUSE for NULL, or a
 * sink that is closed, copied or moved, or from inside its own functions.
 */
EVALUE_API evalue_status evalue_sink_flush(evalue_sink *sink);

/**
 * Flushes and closes, and frees whatever the sink holds, also when it fails. Returns EVALUE_OK; the failure of the
 * flush or of the closing, once; EVALUE_POISONED for a sink that was; EVALUE_MISUSE as above. After it only
 * initialising is allowed.
 */
EVALUE_API evalue_status evalue_sink_close(evalue_sink *sink);

/* ---- writing ------------------------------------------------------------------------------------------------ */

/**
 * Writes nbytes bytes as one record. *offset, if not NULL, is where they begin. Returns EVALUE_OK; EVALUE_NO_SPACE (of
 * a buffer sink sink->needed says what would do); EVALUE_IO (sink->system_error says why); EVALUE_POISONED;
 * EVALUE_LIMIT for 2^62 bytes or more in all; EVALUE_MISUSE for NULL data with a size, or as above. *offset changes
 * only on EVALUE_OK. So it is with the calls below.
 */
EVALUE_API evalue_status evalue_sink_write(evalue_sink *sink, const void *data, size_t nbytes, uint64_t *offset);

/** The same for n slices, one after the other. */
EVALUE_API evalue_status evalue_sink_write_slices(evalue_sink *sink, const evalue_slice *slices, size_t n,
                                                  uint64_t *offset);

/**
 * Writes a tensor's data alone, as a blob: nbytes bytes in the order of the wire. What evalue_tensor_check says of a
 * bad tensor.
 */
EVALUE_API evalue_status evalue_sink_write_tensor(evalue_sink *sink, const evalue_tensor *tensor, uint64_t *offset);

/** Writes a value as one bare element (spec, section 5), which says itself what it is. */
EVALUE_API evalue_status evalue_sink_write_value(evalue_sink *sink, const evalue *value, uint64_t *offset);

/**
 * Writes n values as a message (spec, section 6). alignment is the message's, as for evalue_message_encode; where the
 * sink's is smaller, the record is aligned to the message's. offsets, if not NULL, has n entries: where in the sink
 * each tensor's data, string's bytes, or other payload begins; on a failure they mean nothing. Needs constant
 * memory, and gives the bytes that evalue_message_encode gives. Also returns what evalue_message_size returns.
 */
EVALUE_API evalue_status evalue_message_write(evalue_sink *sink, const evalue *values, size_t n, uint32_t alignment,
                                              uint64_t *offset, uint64_t *offsets);

/* ---- options ------------------------------------------------------------------------------------------------ */

/** What sinks can be told. All zero, or NULL in its place, is the default. */
typedef struct evalue_sink_options {
  uint32_t size;      /* sizeof(evalue_sink_options), or 0 for the layout of version 0.3; EVALUE_MISUSE for others */
  uint32_t alignment; /* of records: a power of two from 1 to 4096; 0: the sink's default */
  uint32_t sync;      /* files: EVALUE_SYNC_NEVER, ... */
  uint32_t append;    /* files by path: 1: go on at the end of the file; otherwise it begins anew */
  uint32_t publish;   /* files by path: 1: the file appears, whole, when the sink is closed, and not before */
  uint32_t reserved;
  void *buffer; /* files: memory that collects small records; NULL: each record is written at once */
  size_t buffer_size;
} evalue_sink_options;

/** When a file sink waits until its bytes are on the disk (options.sync). */
enum { EVALUE_SYNC_NEVER = 0, EVALUE_SYNC_FLUSH = 1, EVALUE_SYNC_CLOSE = 2 };

/* ---- memory ------------------------------------------------------------------------------------------------- */

/** The alignment of a buffer sink whose caller did not ask for one, as ExecuTorch's. */
#define EVALUE_BUFFER_SINK_ALIGNMENT 64

/** A sink into the caller's memory. */
typedef struct evalue_buffer_sink {
  evalue_sink sink;
  uint8_t *data;
  size_t capacity, position; /* position: where the record that is being written goes on */
} evalue_buffer_sink;

/**
 * Starts a sink into capacity bytes at data, which must outlive it. Offsets, and their alignment (64 by default), are
 * relative to data, which need not be aligned itself. A record that does not fit is EVALUE_NO_SPACE, and not a byte has
 * changed. Returns EVALUE_OK; EVALUE_MISUSE for NULL data with a capacity, or bad options.
 */
EVALUE_API evalue_status evalue_buffer_sink_init(evalue_buffer_sink *sink, void *data, size_t capacity,
                                                 const evalue_sink_options *options);

/** A sink that counts, and keeps nothing: for sizes. */
typedef struct evalue_counting_sink {
  evalue_sink sink;
  uint64_t records; /* that were complete */
} evalue_counting_sink;

/** Starts a sink that counts bytes and records. EVALUE_OK, or EVALUE_MISUSE for bad options. Alignment 1 by default. */
EVALUE_API evalue_status evalue_counting_sink_init(evalue_counting_sink *sink, const evalue_sink_options *options);

/* ---- files -------------------------------------------------------------------------------------------------- */

/** A sink into a file descriptor. */
typedef struct evalue_file_sink {
  evalue_sink sink;
  uint8_t *buffer;                    /* buffered bytes are whole records, and then the one that is being written */
  size_t buffer_size, buffered, mark; /* mark: buffered, before the record that is being written */
  uint64_t in_file;                   /* where in the sink the bytes end that are in the file */
  uint64_t taken;                     /* bytes of the record that is being written that are in the file already */
  int64_t base;                       /* where in the file offset 0 is, when it can be cut back; -1 otherwise */
  uint32_t sync;
  int32_t fd, directory; /* directory: publishing: of the target; -1 otherwise */
  uint8_t owns_fd, is_direct, reserved[2];
  const char *name;   /* publishing: the target's, in directory */
  char temporary[32]; /* publishing: the file's until then */
} evalue_file_sink;

/**
 * Starts a sink into an open descriptor: a file, a pipe, a socket. It stays the caller's, and open. Offsets count from
 * where it stands, and are right as long as nobody else writes there. Where it stands at the end of a regular file, a
 * failed record is cut off again, unless somebody else has written behind it; elsewhere it poisons the sink. Short
 * writes go on, signals do not matter (but a closed pipe raises SIGPIPE, and a file that may not grow SIGXFSZ, unless
 * the program ignores them), and a non-blocking descriptor is waited for. A full disk is EVALUE_IO, with ENOSPC.
 * Returns EVALUE_OK; EVALUE_IO when fd is none; EVALUE_MISUSE when it cannot be written, for bad options, and for
 * append and publish, which are for paths.
 */
EVALUE_API evalue_status evalue_file_sink_init(evalue_file_sink *sink, int fd, const evalue_sink_options *options);

/**
 * Starts a sink into a file by its path, creating it if need be, with the mode 0666 less the umask. Offsets are
 * positions in the file. With options->publish, path must stay valid until the sink is closed: then the file, which is
 * on the disk whatever options->sync says, replaces what was there by a rename (a symbolic link itself), and its
 * directory is synchronised; a sink that was poisoned, or whose last flush fails, or that is discarded, leaves what was
 * there. A program that is killed leaves a file that begins with .evalue- beside it. When only the directory cannot be
 * synchronised, closing returns EVALUE_IO, but the file is there. Returns EVALUE_OK; EVALUE_IO when it cannot be opened
 * or created, or when something that is no file is in its place; EVALUE_MISUSE for NULL, an empty path, or bad options.
 */
EVALUE_API evalue_status evalue_file_sink_open(evalue_file_sink *sink, const char *path,
                                               const evalue_sink_options *options);

/** Closes a file sink without publishing, and without what is buffered. EVALUE_OK, or EVALUE_MISUSE. */
EVALUE_API evalue_status evalue_file_sink_discard(evalue_file_sink *sink);

/* ---- callbacks ---------------------------------------------------------------------------------------------- */

/**
 * Takes up to nbytes bytes, and returns how many; it is called again with what is left. 0 or less is a failure, which
 * poisons the sink when a part of the record was taken before.
 */
typedef int64_t (*evalue_sink_callback)(void *context, const void *data, size_t nbytes);

/** A sink into a function. */
typedef struct evalue_callback_sink {
  evalue_sink sink;
  evalue_sink_callback callback;
  void *context;
  uint64_t taken; /* of the record that is being written */
} evalue_callback_sink;

/** Starts a sink into a callback. EVALUE_OK; EVALUE_MISUSE for NULL or bad options. Alignment 1 by default. */
EVALUE_API evalue_status evalue_callback_sink_init(evalue_callback_sink *sink, evalue_sink_callback callback,
                                                   void *context, const evalue_sink_options *options);

/* ---- several ------------------------------------------------------------------------------------------------ */

/** A sink into several others. */
typedef struct evalue_tee_sink {
  evalue_sink sink;
  evalue_sink *const *sinks;
  size_t count;
  int32_t is_over; /* the record that is being written has failed: 1: and left no trace; 2: and has */
} evalue_tee_sink;

/**
 * Starts a sink that writes each record to count others, which stay the caller's, as does the array; both must outlive
 * it. A record is written to all of them or, if one fails, to none: a sink that cannot take it back is poisoned, and
 * the tee with it. Each other sink aligns by itself; offsets of the tee are its own. Flushing flushes all; closing
 * flushes and closes none. (A record that was taken back can have changed bytes behind the end of a buffer sink, and
 * have pushed older ones out of a ring.) Returns EVALUE_OK; EVALUE_MISUSE for NULL, the tee itself, or a sink twice.
 */
EVALUE_API evalue_status evalue_tee_sink_init(evalue_tee_sink *sink, evalue_sink *const *sinks, size_t count);

/* ---- records that wait -------------------------------------------------------------------------------------- */

/** Records in the caller's memory, first in, first out: what a ring and a deferred sink keep. Private. */
typedef struct evalue_record_queue {
  uint8_t *data;
  size_t capacity;
  size_t filled, mark; /* mark: filled, before the record that is being written */
  struct {
    size_t head; /* where the oldest record is; before each stands a word: sink_queue.c says what it holds */
    uint64_t records;
  } states[2];
  uint32_t state; /* which of them counts: a signal handler that looks at any time sees one that is complete */
} evalue_record_queue;

/** The bytes of memory that a record takes in a ring or a deferred sink beside its own. */
#define EVALUE_RECORD_OVERHEAD 8

/** A sink that keeps the last records, for a crash dump. */
typedef struct evalue_ring_sink {
  evalue_sink sink;
  evalue_record_queue queue;
} evalue_ring_sink;

/**
 * Starts a sink that keeps the last whole records that fit into capacity bytes at data, each with
 * EVALUE_RECORD_OVERHEAD; older ones make room. A record that could never fit is EVALUE_NO_SPACE, and none is lost for
 * it. Offsets count all bytes ever written; nothing is aligned, for a ring's bytes have no place. Returns EVALUE_OK;
 * EVALUE_MISUSE for NULL.
 */
EVALUE_API evalue_status evalue_ring_sink_init(evalue_ring_sink *sink, void *data, size_t capacity);

/**
 * Fills parts with the k-th record that is kept, 0 the oldest, in order: two slices, of which the second is empty
 * unless the record goes round the end of the memory. Safe in a signal handler; takes time in proportion to k. Returns
 * EVALUE_OK; EVALUE_END when there are no more; EVALUE_MISUSE for NULL.
 */
EVALUE_API evalue_status evalue_ring_sink_record(const evalue_ring_sink *sink, uint64_t k, evalue_slice parts[2]);

/**
 * Writes all records that are kept to another sink, oldest first, each as a record; also a closed ring's, and while one
 * is being written, but not in a signal handler. Returns its first failure; EVALUE_MISUSE for NULL, or when that sink
 * leads back to the ring.
 */
EVALUE_API evalue_status evalue_ring_sink_dump(evalue_ring_sink *sink, evalue_sink *to);

/** A sink that collects records, and hands them on when it is told to. */
typedef struct evalue_deferred_sink {
  evalue_sink sink;
  evalue_record_queue queue;
  evalue_sink *target;
} evalue_deferred_sink;

/**
 * Starts a sink that collects records in capacity bytes at data, each with EVALUE_RECORD_OVERHEAD, and writes them to
 * target at evalue_sink_flush, which makes room again. When one cannot be written, it and those after it wait on; what
 * waits still when it is closed is lost. Offsets are its own: the target's are where it puts them. Closing flushes; it
 * leaves target open. Returns EVALUE_OK; EVALUE_MISUSE for NULL, or when target is the sink itself.
 */
EVALUE_API evalue_status evalue_deferred_sink_init(evalue_deferred_sink *sink, void *data, size_t capacity,
                                                   evalue_sink *target);

#ifdef __cplusplus
}
#endif

#endif
