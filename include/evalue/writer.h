/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Writing: values to bytes. Every way on this page gives the same bytes (spec, section 9).
 *
 *     uint8_t buffer[4096];
 *     uint64_t size;
 *     if (evalue_message_encode(values, n, 0, buffer, sizeof buffer, &size) == EVALUE_OK)
 *       send(fd, buffer, (size_t)size, 0);
 *
 * An alignment is a power of two from 1 to 4096, or 0 for the default of 16.
 */
#ifndef EVALUE_WRITER_H
#define EVALUE_WRITER_H

#include "evalue/reader.h"
#include "evalue/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The alignment of a message whose writer did not ask for one (spec, section 7). */
#define EVALUE_DEFAULT_ALIGNMENT 16

/** The largest alignment. */
#define EVALUE_MAX_ALIGNMENT 4096

/** The most structural bytes that one value can take: a Pad, and a tensor's header. */
#define EVALUE_MAX_HEAD_SIZE (9 + EVALUE_MAX_ALIGNMENT - 1 + 9 + 2 + 5 * EVALUE_MAX_NDIM)

/* ---- whole messages ----------------------------------------------------------------------------------------- */

/**
 * Computes the size in bytes of the message with n values (spec, sections 6 and 7). Returns EVALUE_OK; EVALUE_MISUSE
 * for a bad alignment or value (evalue_check); EVALUE_LIMIT when it would be 2^62 bytes or more. Looks at no payload
 * byte. *size is 0 on failure.
 */
EVALUE_API evalue_status evalue_message_size(const evalue *values, size_t n, uint32_t alignment, uint64_t *size);

/**
 * Encodes n values as a message into buffer (spec, section 6). Returns EVALUE_OK, and *size is its size in bytes.
 *
 * EVALUE_NO_SPACE when capacity is less: *size is exactly what is needed, and the buffer is as it was. EVALUE_MISUSE,
 * EVALUE_LIMIT: as for evalue_message_size; the buffer is as it was and *size is 0. buffer must not overlap the values'
 * bytes; it may be NULL when capacity is 0.
 */
EVALUE_API evalue_status evalue_message_encode(const evalue *values, size_t n, uint32_t alignment, void *buffer,
                                               size_t capacity, uint64_t *size);

/** Computes the size in bytes of the sequence with n values (spec, section 5); as evalue_message_size. */
EVALUE_API evalue_status evalue_sequence_size(const evalue *values, size_t n, uint64_t *size);

/** Encodes n values as a sequence; as evalue_message_encode. With n of 1 it is one bare value. */
EVALUE_API evalue_status evalue_sequence_encode(const evalue *values, size_t n, void *buffer, size_t capacity,
                                                uint64_t *size);

/**
 * A message or sequence as a list of slices, for writev, sendmsg and the like: structural bytes in the caller's scratch
 * memory, tensor data and strings where they lie. The slices point into both, which must outlive them. No slice is
 * empty.
 */
typedef struct evalue_gather {
  void *scratch;           /* in: memory for structural bytes */
  size_t scratch_capacity; /* in: its size */
  evalue_slice *slices;    /* in: memory for slices */
  size_t slice_capacity;   /* in: how many fit */
  uint64_t scratch_size;   /* out: bytes of scratch used, or needed */
  uint64_t slice_count;    /* out: slices used, or needed */
  uint64_t size;           /* out: the sum of all slices: the size of the message */
} evalue_gather;

/**
 * Gathers n values as a message. Returns EVALUE_OK; EVALUE_NO_SPACE when scratch or slices are too few, and then the
 * three "out" members say exactly what is needed, and what the memory holds is undefined; EVALUE_MISUSE, EVALUE_LIMIT
 * as for evalue_message_size, with the "out" members 0. Reads and copies no payload byte of tensors and strings.
 */
EVALUE_API evalue_status evalue_message_gather(const evalue *values, size_t n, uint32_t alignment,
                                               evalue_gather *gather);

/** The same for a sequence. */
EVALUE_API evalue_status evalue_sequence_gather(const evalue *values, size_t n, evalue_gather *gather);

/* ---- one at a time ------------------------------------------------------------------------------------------ */

/** A writer's state. Caller-allocated; its members are private, but used, slice_count and count may be read. */
typedef struct evalue_writer {
  uint8_t *buffer; /* structural bytes; in memory also the payloads */
  evalue_slice *slices;
  size_t capacity; /* of buffer */
  size_t slice_capacity;
  uint64_t position;    /* bytes written, or that would have been: of the whole message */
  uint64_t used;        /* bytes of buffer used, or needed */
  uint64_t slice_count; /* used, or needed */
  uint64_t count;       /* values */
  int32_t status;       /* the first failure */
  uint16_t alignment;
  uint8_t is_sequence;
  uint8_t is_gather;    /* payloads go to slices by reference */
  uint8_t in_structure; /* the last slice is of buffer and can grow */
  uint8_t is_drained;   /* the header has gone from buffer */
  uint16_t reserved;
} evalue_writer;

/**
 * Starts a message in buffer. Returns EVALUE_OK; EVALUE_MISUSE for a bad alignment, or a NULL buffer with a capacity.
 *
 * The first failure of a writer stays: later calls return it. Only EVALUE_NO_SPACE gives way to EVALUE_MISUSE and
 * EVALUE_LIMIT, since what is wrong in itself has no size. After EVALUE_NO_SPACE the writer goes on counting, so that
 * evalue_writer_finish can say what is needed; with no buffer and no capacity it counts from the start, and every call
 * returns EVALUE_NO_SPACE.
 */
EVALUE_API evalue_status evalue_writer_init(evalue_writer *writer, void *buffer, size_t capacity, uint32_t alignment);

/** Starts a sequence in buffer; as evalue_writer_init. */
EVALUE_API evalue_status evalue_writer_init_sequence(evalue_writer *writer, void *buffer, size_t capacity);

/**
 * Turns a fresh writer into one that gathers: its buffer takes structural bytes only, slices takes the rest by
 * reference. Returns EVALUE_OK; EVALUE_MISUSE for NULL slices with a capacity, or when something was put already.
 */
EVALUE_API evalue_status evalue_writer_gather(evalue_writer *writer, evalue_slice *slices, size_t slice_capacity);

/**
 * Appends a value of any kind, and the Pad that it needs (spec, section 7). Returns EVALUE_OK; or a failure that stays:
 * EVALUE_NO_SPACE, EVALUE_MISUSE (evalue_check, or NULL), EVALUE_LIMIT (2^62 bytes in all). So do the calls below.
 */
EVALUE_API evalue_status evalue_writer_put(evalue_writer *writer, const evalue *value);

/** Appends None. */
static inline evalue_status evalue_writer_put_none(evalue_writer *writer) {
  evalue v = evalue_from_none();
  return evalue_writer_put(writer, &v);
}

/** Appends a Bool. */
static inline evalue_status evalue_writer_put_bool(evalue_writer *writer, bool b) {
  evalue v = evalue_from_bool(b);
  return evalue_writer_put(writer, &v);
}

/** Appends an Int. */
static inline evalue_status evalue_writer_put_int(evalue_writer *writer, int64_t i) {
  evalue v = evalue_from_int(i);
  return evalue_writer_put(writer, &v);
}

/** Appends a Double. */
static inline evalue_status evalue_writer_put_double(evalue_writer *writer, double d) {
  evalue v = evalue_from_double(d);
  return evalue_writer_put(writer, &v);
}

/** Appends a String of nbytes bytes. */
static inline evalue_status evalue_writer_put_string(evalue_writer *writer, const char *data, size_t nbytes) {
  evalue v = evalue_from_string(data, nbytes);
  return evalue_writer_put(writer, &v);
}

/** Appends a Tensor. */
static inline evalue_status evalue_writer_put_tensor(evalue_writer *writer, const evalue_tensor *tensor) {
  evalue v = evalue_from_tensor(tensor);
  return evalue_writer_put(writer, &v);
}

/**
 * Appends an ancillary element, which describes the next value (spec, section 8). tag is 129 to 255; below 192 only to
 * pass on what was read elsewhere. Returns EVALUE_OK, EVALUE_NO_SPACE, EVALUE_LIMIT, or EVALUE_MISUSE for another tag,
 * or NULL with a length.
 */
EVALUE_API evalue_status evalue_writer_put_ancillary(evalue_writer *writer, uint32_t tag, const void *data,
                                                     size_t nbytes);

/**
 * Ends a message: writes its header, unless that was drained. *size is the size of the message or sequence in bytes,
 * all of it, drained bytes included. Returns EVALUE_OK, or the first failure; after EVALUE_NO_SPACE *size is exactly
 * what is needed, after others 0. In a gathering writer, used and slice_count are what is used, or needed, since the
 * last drain.
 */
EVALUE_API evalue_status evalue_writer_finish(evalue_writer *writer, uint64_t *size);

/**
 * For streams, in a gathering writer: forgets the structural bytes and slices so far, which the caller has written out,
 * so that constant memory is enough for any message: EVALUE_MAX_HEAD_SIZE + EVALUE_HEADER_SIZE bytes and 3 slices. The
 * first drained bytes of a message hold 24 zero bytes in place of the header; once all is written, evalue_writer_header
 * gives the bytes that belong there. Returns EVALUE_OK, the first failure, or EVALUE_MISUSE when the writer does not
 * gather.
 */
EVALUE_API evalue_status evalue_writer_drain(evalue_writer *writer);

/**
 * Fills header with the header of the message as put so far. Returns EVALUE_OK, the first failure, or EVALUE_MISUSE
 * for a sequence.
 */
EVALUE_API evalue_status evalue_writer_header(const evalue_writer *writer, uint8_t header[EVALUE_HEADER_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
