/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * What can go wrong, and where it went wrong.
 *
 *     evalue_error error;
 *     if (evalue_message_decode(data, size, NULL, values, capacity, &n, &error) != EVALUE_OK)
 *       fprintf(stderr, "offset %llu: %s: %s\n", (unsigned long long)error.position,
 *               evalue_status_name(error.status), evalue_fault_message(error.fault));
 *
 * evalue_print_error (text.h) says all of it in a sentence.
 *
 * Everything on this page comes from tables: statuses, fields, and faults by format (spec, section 12). Codes are only
 * ever appended.
 */
#ifndef EVALUE_STATUS_H
#define EVALUE_STATUS_H

#include <stdint.h>

#include "evalue/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */

/** Statuses: X(NAME, "name", "what it means"). */
#define EVALUE_STATUS_TABLE(X)                                                              \
  X(OK,          "ok",          "success")                                                  \
  X(END,         "end",         "there are no more values")                                 \
  X(TRUNCATED,   "truncated",   "more bytes of input are needed")                           \
  X(MALFORMED,   "malformed",   "the input breaks a rule of the format")                    \
  X(UNSUPPORTED, "unsupported", "it is well-formed, but not known or not possible here")    \
  X(LIMIT,       "limit",       "a limit of the caller or of the format is exceeded")       \
  X(NO_SPACE,    "no_space",    "the caller's memory is too small")                         \
  X(IO,          "io",          "reading or writing failed")                                \
  X(MISUSE,      "misuse",      "an argument is not what the function asks for")          \
  X(POISONED,    "poisoned",    "an earlier failure has left a part of a record behind")    \
  X(TIMEOUT,     "timeout",     "the other side did not answer in time")                    \
  X(CORRUPT,     "corrupt",     "a checksum does not match")

/* clang-format on */

/** What a function returns; EVALUE_OK is 0. Stored in structs as int32_t. */
typedef enum evalue_status {
#define EVALUE_X(name, text, meaning) EVALUE_##name,
  EVALUE_STATUS_TABLE(EVALUE_X)
#undef EVALUE_X
} evalue_status;

/* clang-format off */

/** The fields of the format that a fault can be in: X(NAME, "name"). Those up to COUNT are of a message's header. */
#define EVALUE_FIELD_TABLE(X)       \
  X(NONE,        "none")            \
  X(MAGIC,       "magic")           \
  X(MAJOR,       "major")           \
  X(MINOR,       "minor")           \
  X(ALIGNMENT,   "alignment")       \
  X(FLAGS,       "flags")           \
  X(BODY_LENGTH, "body_length")     \
  X(COUNT,       "count")           \
  X(TRAILING,    "trailing")        \
  X(TAG,         "tag")             \
  X(LENGTH,      "length")          \
  X(BOOL,        "bool")            \
  X(SCALAR_TYPE, "scalar_type")     \
  X(NDIM,        "ndim")            \
  X(SIZE,        "size")            \
  X(DIM_ORDER,   "dim_order")       \
  X(PAD,         "pad")             \
  X(INT,         "int")             \
  X(DOUBLE,      "double")          \
  X(STRING,      "string")          \
  X(DATA,        "data")            \
  X(CARRIER,     "carrier")         \
  X(SLOT,        "slot")            \
  X(DESCRIPTOR,  "descriptor")      \
  X(PEER,        "peer")

/* clang-format on */

/** A field of the format. */
typedef enum evalue_field {
#define EVALUE_X(name, text) EVALUE_FIELD_##name,
  EVALUE_FIELD_TABLE(EVALUE_X)
#undef EVALUE_X
} evalue_field;

/* clang-format off */

/**
 * Faults: X(NAME, STATUS, FIELD, "name", RELATION, EXPECTED, "explanation"), as in the table of spec, section 12.3.
 *
 * STATUS and FIELD are those of a message. The faults that are noted "truncated" in a sequence, or that can lie in
 * another field, have their own in evalue_error. RELATION says how `expected` and `found` of evalue_error belong
 * together: EXACTLY (found should be expected), AT_MOST, AT_LEAST, or NOTHING (they are not to be compared; the text of
 * evalue_print_error says what they are). EXPECTED is what `expected` is when it is always the same.
 */
#define EVALUE_FAULT_TABLE(X)                                                                                                                                \
  X(NONE,                OK,          NONE,        "none",                NOTHING,  0,  "no fault")                                                          \
  X(HEADER_SHORT,        TRUNCATED,   MAGIC,       "header_short",        AT_LEAST, 24, "the input ends inside the message's header")                        \
  X(BAD_MAGIC,           MALFORMED,   MAGIC,       "bad_magic",           EXACTLY,  0,  "this is no EValue message")                                         \
  X(BAD_MAJOR,           UNSUPPORTED, MAJOR,       "bad_major",           EXACTLY,  1,  "the major version is not known")                                    \
  X(BAD_ALIGNMENT,       MALFORMED,   ALIGNMENT,   "bad_alignment",       AT_MOST,  12, "the alignment's logarithm is too large")                            \
  X(BAD_FLAGS,           UNSUPPORTED, FLAGS,       "bad_flags",           EXACTLY,  0,  "a flag is not known")                                               \
  X(BODY_TOO_LARGE,      MALFORMED,   BODY_LENGTH, "body_too_large",      AT_MOST,  0,  "the body length is 2^62 or more")                                   \
  X(BODY_SHORT,          TRUNCATED,   BODY_LENGTH, "body_short",          AT_LEAST, 0,  "the input ends before the body does")                               \
  X(COUNT_TOO_LARGE,     MALFORMED,   COUNT,       "count_too_large",     AT_MOST,  0,  "the body cannot hold so many values")                               \
  X(COUNT_WRONG,         MALFORMED,   COUNT,       "count_wrong",         EXACTLY,  0,  "the count is not the number of values in the body")                 \
  X(TRAILING_BYTES,      MALFORMED,   TRAILING,    "trailing_bytes",      EXACTLY,  0,  "the input goes on after its end")                                   \
  X(UNKNOWN_TAG,         UNSUPPORTED, TAG,         "unknown_tag",         NOTHING,  0,  "the tag is not known")                                              \
  X(ELEMENT_SHORT,       MALFORMED,   LENGTH,      "element_short",       AT_LEAST, 8,  "too few bytes are left for the length")                             \
  X(LENGTH_WRONG,        MALFORMED,   LENGTH,      "length_wrong",        EXACTLY,  0,  "the length is not the one that the tag has")                        \
  X(LENGTH_TOO_LARGE,    MALFORMED,   LENGTH,      "length_too_large",    AT_MOST,  0,  "the length is 2^62 or more")                                        \
  X(LENGTH_PAST_END,     MALFORMED,   LENGTH,      "length_past_end",     AT_MOST,  0,  "the element goes past the end")                                     \
  X(BAD_BOOL,            MALFORMED,   BOOL,        "bad_bool",            AT_MOST,  1,  "the Bool is neither 0 nor 1")                                       \
  X(UNKNOWN_SCALAR_TYPE, UNSUPPORTED, SCALAR_TYPE, "unknown_scalar_type", AT_MOST,  29, "the scalar type is not known")                                      \
  X(NDIM_TOO_LARGE,      MALFORMED,   NDIM,        "ndim_too_large",      AT_MOST,  16, "the tensor has too many dimensions")                                \
  X(TENSOR_SHORT,        MALFORMED,   LENGTH,      "tensor_short",        AT_LEAST, 0,  "the length is too short for a tensor's type, sizes and dim_order")  \
  X(NEGATIVE_SIZE,       MALFORMED,   SIZE,        "negative_size",       AT_LEAST, 0,  "the size is negative")                                              \
  X(EXTENT_TOO_LARGE,    MALFORMED,   SIZE,        "extent_too_large",    NOTHING,  0,  "up to this size the tensor's extent is 2^62 bytes or more")         \
  X(DIM_ORDER_RANGE,     MALFORMED,   DIM_ORDER,   "dim_order_range",     AT_MOST,  0,  "the dim_order names a dimension that the tensor lacks")             \
  X(DIM_ORDER_REPEATED,  MALFORMED,   DIM_ORDER,   "dim_order_repeated",  NOTHING,  0,  "the dim_order names a dimension twice")                             \
  X(DATA_LENGTH,         MALFORMED,   LENGTH,      "data_length",         EXACTLY,  0,  "the length does not fit the tensor's sizes")                        \
  X(PAD_MISSING,         MALFORMED,   TAG,         "pad_missing",         NOTHING,  0,  "the tensor's data is misaligned, and there is no Pad before it")    \
  X(PAD_TOO_LARGE,       MALFORMED,   LENGTH,      "pad_too_large",       AT_MOST,  0,  "the Pad is as long as the alignment or longer")                     \
  X(PAD_NOT_ZERO,        MALFORMED,   PAD,         "pad_not_zero",        EXACTLY,  0,  "the Pad has a byte that is not zero")                               \
  X(PAD_MISPLACED,       MALFORMED,   TAG,         "pad_misplaced",       NOTHING,  1,  "the Pad does not stand directly before a Tensor")                   \
  X(PAD_NOT_NEEDED,      MALFORMED,   TAG,         "pad_not_needed",      NOTHING,  0,  "the tensor needs no Pad")                                           \
  X(PAD_LENGTH_WRONG,    MALFORMED,   LENGTH,      "pad_length_wrong",    EXACTLY,  0,  "the Pad is not the smallest that aligns the tensor")                \
  X(LIMIT_BYTES,         LIMIT,       BODY_LENGTH, "limit_bytes",         AT_MOST,  0,  "the input is larger than the caller allows")                        \
  X(LIMIT_VALUES,        LIMIT,       COUNT,       "limit_values",        AT_MOST,  0,  "there are more values than the caller allows")                      \
  X(NO_VALUE,            TRUNCATED,   TAG,         "no_value",            NOTHING,  0,  "one value was asked for, and the input has none")                   \
  X(CAPACITY,            NO_SPACE,    NONE,        "capacity",            AT_MOST,  0,  "the caller's array has no room for so many values")                 \
  X(ARGUMENT,            MISUSE,      NONE,        "argument",            NOTHING,  0,  "an argument of the call is wrong")

/**
 * The faults that only ExecuTorch's Android bytes have (executorch_java.h; spec/executorch-java.md, section 5), in the
 * same columns. UNKNOWN_DTYPE and STRING_BEFORE_1_2 have the release, an EVALUE_JAVA_..., in `expected`; `found` of
 * UNKNOWN_DTYPE is the dtype that was read, or the scalar type that was to be written.
 */
#define EVALUE_JAVA_FAULT_TABLE(X)                                                                                                                           \
  X(FIELD_SHORT,         TRUNCATED,   DATA,        "field_short",         AT_LEAST, 0,  "the input ends inside the field")                                   \
  X(UNKNOWN_JAVA_TAG,    UNSUPPORTED, TAG,         "unknown_java_tag",    AT_MOST,  5,  "ExecuTorch's Java class has no such tag")                           \
  X(STRING_BEFORE_1_2,   UNSUPPORTED, TAG,         "string_before_1_2",   NOTHING,  0,  "no release before 1.2 has Strings that can be read back")             \
  X(NEGATIVE_LENGTH,     MALFORMED,   LENGTH,      "negative_length",     AT_LEAST, 0,  "the String's length is negative")                                   \
  X(JAVA_TOO_LONG,       LIMIT,       DATA,        "java_too_long",       AT_MOST,  0,  "the value has more bytes than a Java array can")                    \
  X(BAD_UTF8,            MALFORMED,   STRING,      "bad_utf8",            NOTHING,  0,  "the String is not well-formed UTF-8")                               \
  X(UNKNOWN_DTYPE,       UNSUPPORTED, SCALAR_TYPE, "unknown_dtype",       NOTHING,  0,  "the release has no tensors of this type")                             \
  X(MEMORY_SHORT,        NO_SPACE,    NONE,        "memory_short",        AT_LEAST, 0,  "the caller's memory is too small")

/**
 * The faults of passing messages between processes (ipc.h; spec/evalue-ipc.md, section 6), in the same columns.
 * `position` is a byte of the frame. After SYSTEM_CALL and PEER_GONE the channel's system_error says more.
 */
#define EVALUE_IPC_FAULT_TABLE(X)                                                                                                                            \
  X(FRAME_SHORT,         TRUNCATED,   PEER,        "frame_short",         AT_LEAST, 24, "the frame ends too early")                                          \
  X(MESSAGE_SHORT,       TRUNCATED,   LENGTH,      "message_short",       AT_LEAST, 0,  "the peer has closed inside a message")                              \
  X(BAD_FRAME_MAGIC,     MALFORMED,   MAGIC,       "bad_frame_magic",     EXACTLY,  0,  "this is no frame")                                                  \
  X(FRAME_VERSION,       UNSUPPORTED, MAJOR,       "frame_version",       EXACTLY,  1,  "the frame's version is not known")                                  \
  X(UNKNOWN_CARRIER,     UNSUPPORTED, CARRIER,     "unknown_carrier",     AT_MOST,  4,  "the carrier is not known")                                          \
  X(FRAME_FLAGS,         UNSUPPORTED, FLAGS,       "frame_flags",         EXACTLY,  0,  "a flag of the frame is not known")                                  \
  X(FRAME_PLACE,         MALFORMED,   SLOT,        "frame_place",         EXACTLY,  0,  "the carrier has no slots")                                          \
  X(PACKET_LENGTH,       MALFORMED,   LENGTH,      "packet_length",       EXACTLY,  0,  "the packet is not as long as its frame says")                       \
  X(MESSAGE_TOO_LARGE,   LIMIT,       LENGTH,      "message_too_large",   AT_MOST,  0,  "the message is larger than allowed")                                \
  X(POOL_SHAPE,          MALFORMED,   SLOT,        "pool_shape",          AT_MOST,  64, "the pool has no slots, or too many")                                \
  X(POOL_TOO_LARGE,      LIMIT,       LENGTH,      "pool_too_large",      AT_MOST,  0,  "the pool is larger than allowed")                                   \
  X(POOL_AGAIN,          MALFORMED,   CARRIER,     "pool_again",          NOTHING,  0,  "the connection has a pool already")                                 \
  X(NO_POOL,             MALFORMED,   CARRIER,     "no_pool",             NOTHING,  0,  "the connection has no pool")                                        \
  X(SLOT_RANGE,          MALFORMED,   SLOT,        "slot_range",          AT_MOST,  0,  "the pool has no such slot")                                         \
  X(SLOT_HELD,           MALFORMED,   SLOT,        "slot_held",           NOTHING,  0,  "the slot has not been given back")                                  \
  X(SLOT_LENGTH,         MALFORMED,   LENGTH,      "slot_length",         AT_MOST,  0,  "the message is larger than the slot")                               \
  X(NO_DESCRIPTOR,       MALFORMED,   DESCRIPTOR,  "no_descriptor",       NOTHING,  0,  "the frame came without the descriptor of its memory")               \
  X(STRAY_DESCRIPTOR,    MALFORMED,   DESCRIPTOR,  "stray_descriptor",    NOTHING,  0,  "the frame came with a descriptor too many")                         \
  X(NOT_MEMORY,          UNSUPPORTED, DESCRIPTOR,  "not_memory",          NOTHING,  0,  "the descriptor is of no memory that can be sealed")                 \
  X(NOT_SEALED,          MALFORMED,   DESCRIPTOR,  "not_sealed",          NOTHING,  0,  "the memory can still be changed")                                   \
  X(MEMORY_SIZE,         MALFORMED,   LENGTH,      "memory_size",         AT_LEAST, 0,  "the memory is smaller than its frame says")                         \
  X(SLOTS_TAKEN,         TIMEOUT,     SLOT,        "slots_taken",         NOTHING,  0,  "no slot was given back in time")                                    \
  X(SLOT_TOO_SMALL,      LIMIT,       SLOT,        "slot_too_small",      AT_MOST,  0,  "the message is larger than this side's slots")                      \
  X(PACKET_TOO_LARGE,    LIMIT,       PEER,        "packet_too_large",    NOTHING,  0,  "the message is larger than the socket takes at once")               \
  X(PEER_SLOW,           TIMEOUT,     PEER,        "peer_slow",           NOTHING,  0,  "the peer neither sent nor took anything in time")                   \
  X(PEER_GONE,           IO,          PEER,        "peer_gone",           NOTHING,  0,  "the peer is gone")                                                  \
  X(SYSTEM_CALL,         IO,          NONE,        "system_call",         NOTHING,  0,  "the system has refused something")

/**
 * The faults of record files and of their side files (record.h; spec/evalue-records-1.0.md, section 4), in the same
 * columns. Of a checksum, `expected` is what the bytes give, and `found` is what stands in the file, both masked.
 * `found` of INDEX_LINE is the byte that is wrong, 256 for the end of the text.
 */
#define EVALUE_RECORD_FAULT_TABLE(X)                                                                                                                         \
  X(RECORD_HEAD_SHORT,   TRUNCATED,   LENGTH,      "record_head_short",   AT_LEAST, 0,  "the file ends inside a record's length")                            \
  X(RECORD_SHORT,        TRUNCATED,   DATA,        "record_short",        AT_LEAST, 0,  "the file ends inside a record")                                     \
  X(RECORD_LENGTH_CRC,   CORRUPT,     LENGTH,      "record_length_crc",   EXACTLY,  0,  "the record's length does not match its checksum")                   \
  X(RECORD_DATA_CRC,     CORRUPT,     DATA,        "record_data_crc",     EXACTLY,  0,  "the record's data do not match their checksum")                     \
  X(RECORD_TOO_LARGE,    LIMIT,       LENGTH,      "record_too_large",    AT_MOST,  0,  "the record is larger than the caller or the host allows")           \
  X(RECORD_LENGTH_LARGE, MALFORMED,   LENGTH,      "record_length_large", AT_MOST,  0,  "the record's length is 2^62 or more")                               \
  X(RECORD_EMPTY,        MALFORMED,   DATA,        "record_empty",        NOTHING,  0,  "the record is empty, so it holds no message")                       \
  X(INDEX_LINE,          MALFORMED,   NONE,        "index_line",          NOTHING,  0,  "the line is no entry of an index")                                  \
  X(INDEX_ENTRY,         MALFORMED,   NONE,        "index_entry",         EXACTLY,  0,  "the entry does not fit the record file")

/** All faults. */
#define EVALUE_ALL_FAULTS_TABLE(X) \
  EVALUE_FAULT_TABLE(X)            \
  EVALUE_JAVA_FAULT_TABLE(X)       \
  EVALUE_IPC_FAULT_TABLE(X)        \
  EVALUE_RECORD_FAULT_TABLE(X)

/* clang-format on */

/** A rule that an input broke. Each table has numbers of its own, so that it can grow. */
typedef enum evalue_fault {
#define EVALUE_X(name, status, field, text, relation, expected, meaning) EVALUE_FAULT_##name,
  EVALUE_FAULT_TABLE(EVALUE_X) EVALUE_FAULT_JAVA_BASE = 99,
  EVALUE_JAVA_FAULT_TABLE(EVALUE_X) EVALUE_FAULT_IPC_BASE = 199,
  EVALUE_IPC_FAULT_TABLE(EVALUE_X) EVALUE_FAULT_RECORD_BASE = 299,
  EVALUE_RECORD_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
} evalue_fault;

/** `value_index` of a fault that belongs to no value: in a message's header, or in the input as a whole. */
#define EVALUE_NO_INDEX UINT64_MAX

/** The first fault of an input. All zero (EVALUE_OK) when there is none. */
typedef struct evalue_error {
  int32_t status;       /* an evalue_status */
  uint16_t fault;       /* an evalue_fault: the rule */
  uint16_t field;       /* an evalue_field: the place by name */
  uint64_t position;    /* the place in bytes from the start of the input */
  uint64_t value_index; /* values completed before the fault, or EVALUE_NO_INDEX */
  uint64_t expected;    /* see RELATION above; a size, a tag, a byte: what the field holds */
  uint64_t found;       /* what was there; a negative size is sign-extended */
  uint64_t needed;      /* EVALUE_TRUNCATED: the least number of input bytes that could be good; otherwise 0 */
} evalue_error;

/** Returns a status's name, like "malformed"; "?" for a code that is none. The string is static. */
EVALUE_API const char *evalue_status_name(int32_t status);

/** Returns a status's meaning in a few words; "?" for a code that is none. The string is static. */
EVALUE_API const char *evalue_status_message(int32_t status);

/** Returns a field's name, like "dim_order"; "?" for a code that is none. The string is static. */
EVALUE_API const char *evalue_field_name(uint32_t field);

/** Returns a fault's name, like "pad_missing"; "?" for a code that is none. The string is static. */
EVALUE_API const char *evalue_fault_name(uint32_t fault);

/** Returns a fault's explanation, a sentence without a full stop; "?" for a code that is none. The string is static. */
EVALUE_API const char *evalue_fault_message(uint32_t fault);

#ifdef __cplusplus
}
#endif

#endif
