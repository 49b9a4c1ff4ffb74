/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Reading: bytes to values, zero-copy, from anyone.
 *
 *     evalue values[8];
 *     uint64_t n;
 *     if (evalue_message_decode(data, size, NULL, values, 8, &n, NULL) == EVALUE_OK)
 *       use(values, n);                                   // tensors and strings point into data
 *
 * Readers accept input at any address, allocate nothing, and read each structural byte once (spec, section 13), so the
 * input may be memory that its sender can still write. Values are provisional until the end has been reached without a
 * fault.
 */
#ifndef EVALUE_READER_H
#define EVALUE_READER_H

#include "evalue/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The size of a message's header. */
#define EVALUE_HEADER_SIZE 24

/**
 * What a reader is asked for. All zero, or a NULL pointer in its place, is the default: no limits, no trailing bytes.
 */
typedef struct evalue_read_options {
  uint32_t size; /* sizeof(evalue_read_options), or 0 for the layout of version 0.1; EVALUE_MISUSE for others */
  uint32_t allow_trailing; /* 1: bytes may follow a message; evalue_reader_position says where it ended */
  uint64_t max_values;     /* EVALUE_LIMIT for more values; 0: no limit */
  uint64_t max_bytes;      /* EVALUE_LIMIT for a message or a sequence of more bytes; 0: no limit */
} evalue_read_options;

/* ---- whole messages ----------------------------------------------------------------------------------------- */

/**
 * Decodes a message of size bytes into the caller's array of capacity values, in one pass (spec, section 6). *n is the
 * number of values.
 *
 * Tensors and strings point into data, which must outlive them. options and error may be NULL. On any failure *error
 * says what, where, expected and found (spec, section 12), and values and *n are not to be used. But for one case:
 * EVALUE_NO_SPACE when the header's count is above capacity; then *n is that count, and no value was touched.
 * Also returns EVALUE_TRUNCATED (error->needed: how many bytes of input), EVALUE_MALFORMED, EVALUE_UNSUPPORTED,
 * EVALUE_LIMIT; EVALUE_MISUSE for NULL data with a size, NULL values with a capacity, NULL n, or unknown options.
 */
EVALUE_API evalue_status evalue_message_decode(const void *data, size_t size, const evalue_read_options *options,
                                               evalue *values, size_t capacity, uint64_t *n, evalue_error *error);

/**
 * The same for a sequence (spec, section 5). On EVALUE_NO_SPACE *n is the number of values in the whole input, which
 * has no other fault, and the first capacity values are decoded.
 */
EVALUE_API evalue_status evalue_sequence_decode(const void *data, size_t size, const evalue_read_options *options,
                                                evalue *values, size_t capacity, uint64_t *n, evalue_error *error);

/**
 * Decodes one bare value, the first of a sequence (spec, section 5). Nothing may follow it, no ancillary element
 * either, unless options->allow_trailing is set. *used is the number of bytes that it took, ancillary elements before
 * it included. An input without a value is EVALUE_TRUNCATED; options->max_bytes is a limit on size. Other statuses as
 * for evalue_message_decode.
 */
EVALUE_API evalue_status evalue_value_decode(const void *data, size_t size, const evalue_read_options *options,
                                             evalue *value, uint64_t *used, evalue_error *error);

/* ---- one at a time ------------------------------------------------------------------------------------------ */

/**
 * A reader's state. Caller-allocated; its members are private and may be copied as a whole, to come back to a place.
 */
typedef struct evalue_reader {
  const uint8_t *data;
  size_t size;     /* of the input */
  size_t end;      /* of the body */
  size_t position; /* of the next element */
  size_t max_values;
  size_t count; /* what the header says */
  size_t index; /* values completed */
  evalue_error error;
  uint16_t alignment;
  uint16_t pad_size; /* of the Pad that ends at position: all of it; 0 for none */
  uint8_t allow_trailing;
  uint8_t is_sequence;
  uint16_t reserved;
} evalue_reader;

/** One element as it lies in the input. */
typedef struct evalue_element {
  evalue_slice raw; /* all of it: tag, length and payload */
  evalue_slice payload;
  uint64_t position; /* of the tag, in bytes from the start of the input */
  uint32_t tag;
} evalue_element;

/**
 * Starts reading a message of size bytes, which must outlive what is read (spec, section 6). Returns EVALUE_OK, or the
 * fault of its header, which then stays: EVALUE_TRUNCATED, EVALUE_MALFORMED, EVALUE_UNSUPPORTED, EVALUE_LIMIT;
 * EVALUE_MISUSE for a NULL reader, NULL data with a size, or unknown options. options may be NULL.
 */
EVALUE_API evalue_status evalue_reader_init(evalue_reader *reader, const void *data, size_t size,
                                            const evalue_read_options *options);

/**
 * Starts reading a sequence of size bytes, which must outlive what is read (spec, section 5). Returns EVALUE_OK, or,
 * and then it stays, EVALUE_LIMIT, or EVALUE_MISUSE as evalue_reader_init.
 */
EVALUE_API evalue_status evalue_reader_init_sequence(evalue_reader *reader, const void *data, size_t size,
                                                     const evalue_read_options *options);

/**
 * Reads the next value. Returns EVALUE_OK and fills *value; EVALUE_END after the last one, when the whole input is
 * good; or a fault (spec, section 12): EVALUE_TRUNCATED in a sequence, EVALUE_MALFORMED, EVALUE_UNSUPPORTED,
 * EVALUE_LIMIT. EVALUE_END and faults stay: every later call returns the same. value may be NULL, to skip one (it is
 * checked all the same). On anything but EVALUE_OK, *value is not to be used. EVALUE_MISUSE for a NULL reader.
 */
EVALUE_API evalue_status evalue_reader_next(evalue_reader *reader, evalue *value);

/**
 * Reads the next element, of any kind: a value, a Pad, an ancillary element (spec, section 8). Fills *element; and
 * *value too when element->tag is a value's (EVALUE_TAG_NONE to EVALUE_TAG_BOOL). Either may be NULL. A Pad is judged
 * with the tensor after it. Statuses as for evalue_reader_next.
 */
EVALUE_API evalue_status evalue_reader_next_element(evalue_reader *reader, evalue_element *element, evalue *value);

/**
 * Returns the fault that stopped the reader; its status is EVALUE_OK while there is none, and at the end of a good
 * input. Valid as long as the reader; NULL for NULL.
 */
static inline const evalue_error *evalue_reader_error(const evalue_reader *reader) {
  return reader != NULL ? &reader->error : NULL;
}

/** Returns the position of the next element: after EVALUE_END, where the message or sequence ended. 0 for NULL. */
static inline uint64_t evalue_reader_position(const evalue_reader *reader) {
  return reader != NULL ? reader->position : 0;
}

/**
 * Returns the number of values that the header of a message announces; in a sequence, the number of values read so
 * far. 0 for NULL.
 */
static inline uint64_t evalue_reader_count(const evalue_reader *reader) {
  if (reader == NULL) return 0;
  return reader->is_sequence ? reader->index : reader->count;
}

/** Returns the alignment of the message in bytes, 1 to 4096; 1 in a sequence. 0 for NULL. */
static inline uint32_t evalue_reader_alignment(const evalue_reader *reader) {
  return reader != NULL ? reader->alignment : 0;
}

#ifdef __cplusplus
}
#endif

#endif
