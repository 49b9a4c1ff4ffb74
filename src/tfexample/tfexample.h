/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One tf.Example to values, by a list of features, and back: for `evalue records from-tfexample` and `to-tfexample`.
 *
 *     evalue_tfexample_feature features[2];
 *     evalue_tfexample converter;
 *     evalue values[2];
 *     evalue_tfexample_feature_parse(&features[0], "image:float32[3,32,32]", &fault);
 *     evalue_tfexample_feature_parse(&features[1], "label:int", &fault);
 *     evalue_tfexample_init(&converter, features, 2, NULL, &error);
 *     while (...)
 *       if (evalue_tfexample_decode(&converter, data, size, values, &error) != EVALUE_OK) ...
 *     evalue_tfexample_close(&converter);
 *
 * What a feature takes, and gives back:
 *
 * | feature | list, and how many entries | value |
 * |---|---|---|
 * | NAME:int | Int64List, 1 | Int |
 * | NAME:bool | Int64List, 1, which is 0 or 1 | Bool |
 * | NAME:double | FloatList, 1 | Double |
 * | NAME:string | BytesList, 1, which is UTF-8 | String |
 * | NAME:bytes | BytesList, 1 | String |
 * | NAME:T[SIZES], T an intN, uintN or bool | Int64List, numel, each in T's range | Tensor, row-major |
 * | NAME:T[SIZES], T float16, bfloat16, float32, float64 | FloatList, numel | Tensor, row-major |
 * | NAME:T[SIZES], T any scalar type | BytesList, 1, whose nbytes bytes are the elements, little-endian | Tensor |
 * | NAME:T[SIZES]:raw | BytesList only, as above | Tensor |
 * | any of these and then ? | or none | or None |
 *
 * A name may hold colons: what follows the last one is the type. SIZES are decimal, with commas; one may be ? or -1,
 * and is computed. No sizes, as in int64[], make a tensor of one element. Narrow floats are rounded to the nearest,
 * ties to even; a finite number beyond their largest is out of range. A bool's byte is 0 or 1, in raw bytes as well.
 * On the way back a type with a list of its own goes there unless it is raw, all others into a BytesList. A Feature
 * without a list counts as missing; one with an empty list has no entries.
 */
#ifndef EVALUE_TFEXAMPLE_H
#define EVALUE_TFEXAMPLE_H

#include "evalue/value.h"

/* ---- features ---- */

/* What a feature makes: one of the scalars, or a tensor. */
enum {
  EVALUE_TFEXAMPLE_INT,
  EVALUE_TFEXAMPLE_BOOL,
  EVALUE_TFEXAMPLE_DOUBLE,
  EVALUE_TFEXAMPLE_STRING,
  EVALUE_TFEXAMPLE_BYTES,
  EVALUE_TFEXAMPLE_TENSOR
};

typedef struct evalue_tfexample_feature {
  const char *name; /* a view of the text, not terminated */
  size_t name_size;
  int32_t sizes[EVALUE_MAX_NDIM]; /* of a tensor; -1: open */
  uint8_t kind, ndim, scalar_type, is_raw, is_optional;
} evalue_tfexample_feature;

/* What is wrong with a feature's text, at which of its bytes. The message is static. */
typedef struct evalue_tfexample_text_fault {
  size_t position;
  const char *message;
} evalue_tfexample_text_fault;

/*
 * Reads a feature from its text, which must outlive it. Returns EVALUE_OK, or EVALUE_MISUSE with *fault filled in;
 * fault may be NULL.
 */
evalue_status evalue_tfexample_feature_parse(evalue_tfexample_feature *feature, const char *text,
                                             evalue_tfexample_text_fault *fault);

/* ---- errors ---- */

/* clang-format off */

/* Faults: X(NAME, STATUS, "explanation"). evalue_tfexample_print_error says what was expected and found. */
#define EVALUE_TFEXAMPLE_FAULT_TABLE(X)                                                                  \
  X(NONE,         OK,          "no fault")                                                               \
  X(ARGUMENT,     MISUSE,      "an argument of the call is wrong")                                       \
  X(NAME_TWICE,   MISUSE,      "two features have this name")                                            \
  X(NAME_UTF8,    MISUSE,      "the feature's name is not well-formed UTF-8, which protobuf asks for")   \
  X(MEMORY,       IO,          "there is no memory")                                                     \
  X(TOO_LARGE,    LIMIT,       "protobuf has no messages of 2 GiB or more")                              \
  X(BAD_TAG,      MALFORMED,   "there is no field's tag here")                                           \
  X(GROUP,        UNSUPPORTED, "this field is a group, which no tf.Example has")                         \
  X(FIELD_SHORT,  MALFORMED,   "the field does not end inside the message that it is in")                \
  X(BAD_VARINT,   MALFORMED,   "there is no varint here")                                                \
  X(FLOAT_LENGTH, MALFORMED,   "a packed FloatList's length is no multiple of 4")                        \
  X(MISSING,      UNSUPPORTED, "the example has no such feature")                                        \
  X(LIST,         UNSUPPORTED, "the feature has a list of another kind")                                 \
  X(COUNT,        UNSUPPORTED, "the feature's list has another number of entries")                       \
  X(NBYTES,       UNSUPPORTED, "the entry has another number of bytes than the tensor")                  \
  X(RANGE,        UNSUPPORTED, "the number does not fit the type")                                       \
  X(UTF8,         UNSUPPORTED, "the string is not well-formed UTF-8; the type bytes takes it")           \
  X(VALUE_KIND,   UNSUPPORTED, "the value is not of the feature's kind")                                 \
  X(SCALAR_TYPE,  UNSUPPORTED, "the tensor has not the feature's scalar type")                           \
  X(NDIM,         UNSUPPORTED, "the tensor has another number of dimensions than the feature")           \
  X(SIZE,         UNSUPPORTED, "the tensor has not the feature's sizes")                                 \
  X(INEXACT,      UNSUPPORTED, "the number is no float32, and a FloatList has no others")

/* clang-format on */

/* A fault, as EVALUE_TFEXAMPLE_FAULT_NONE and so on. */
enum {
#define EVALUE_X(name, status, meaning) EVALUE_TFEXAMPLE_FAULT_##name,
  EVALUE_TFEXAMPLE_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
};

/* Where a number says nothing, it is EVALUE_NO_INDEX. */
typedef struct evalue_tfexample_error {
  int32_t status; /* an evalue_status */
  uint32_t fault;
  uint64_t position;        /* decoding: the byte of the example */
  uint64_t feature;         /* its index in the list */
  uint64_t element;         /* its index in the tensor, or of the dimension that has another size */
  uint64_t expected, found; /* counts, sizes, kinds of lists, codes; an int64, or a double's bits, that does not fit */
} evalue_tfexample_error;

/* ---- conversion ---- */

typedef struct evalue_tfexample_place evalue_tfexample_place; /* private */

/* Memory that is used again and again. Private. */
typedef struct evalue_tfexample_memory {
  uint8_t *data;
  size_t capacity;
} evalue_tfexample_memory;

/* A list of features, and the memory that conversions share. */
typedef struct evalue_tfexample {
  const evalue_tfexample_feature *features;
  size_t count;
  const evalue_tfexample_feature **sorted; /* by name */
  evalue_tfexample_place *places;          /* count: where each feature's entry is */
  evalue_tfexample_memory values, copies;
  uint32_t round;
} evalue_tfexample;

/* All zero, or NULL in its place, is the default. */
typedef struct evalue_tfexample_options {
  uint32_t size;  /* sizeof(evalue_tfexample_options), or 0 for this layout */
  uint32_t round; /* 1: encoding rounds doubles to float32; otherwise one that this would change is INEXACT */
} evalue_tfexample_options;

/*
 * Starts a converter for count features, at least one, which stay the caller's and must outlive it, as their names
 * must. Returns EVALUE_OK; EVALUE_MISUSE for NULL, bad options, a name twice (error->feature: the second); EVALUE_IO
 * when there is no memory. Except on EVALUE_OK there is nothing to close. error may be NULL, here and below.
 */
evalue_status evalue_tfexample_init(evalue_tfexample *converter, const evalue_tfexample_feature *features, size_t count,
                                    const evalue_tfexample_options *options, evalue_tfexample_error *error);

/* Frees what the converter holds. NULL, and one that is closed, are left alone. */
void evalue_tfexample_close(evalue_tfexample *converter);

/*
 * Decodes the example in size bytes at data to one value for each feature, in their order. Strings, raw tensors, and
 * float32 tensors that lie in one piece, which they do in all but odd examples, view data; other tensors lie in the
 * converter's memory, each at a multiple of 64, and are valid until its next call. data must not change before that,
 * and may change after it.
 *
 * The converter's memory grows with the largest example: at most 10 bytes for each of its bytes, and some 200 for each
 * feature. The time is linear in size and in the logarithm of count. Features that were not asked for are skipped, and
 * not looked into. As protobuf says, of entries with the same name the last counts, and lists that come in several
 * parts are one list.
 *
 * Returns EVALUE_OK; EVALUE_MALFORMED for what is no protobuf message; EVALUE_UNSUPPORTED for an example that the
 * features do not fit, or that has groups; EVALUE_LIMIT for 2 GiB or more; EVALUE_IO when there is no memory;
 * EVALUE_MISUSE for NULL. values mean nothing except on EVALUE_OK.
 */
evalue_status evalue_tfexample_decode(evalue_tfexample *converter, const void *data, size_t size, evalue *values,
                                      evalue_tfexample_error *error);

/*
 * Encodes one value for each feature as an example: entries in the features' order, each with its name first, lists
 * packed. *example views the converter's memory until its next call. A tensor of any dim_order is written row-major; a
 * None of an optional feature is left out.
 *
 * Returns EVALUE_OK; EVALUE_UNSUPPORTED for a value that is not what the feature says, or that a list cannot hold (a
 * uint64 of 2^63 or more, a bool that is not 0 or 1, a double that is no float32, a string that is no UTF-8);
 * EVALUE_LIMIT for an example of 2 GiB or more; EVALUE_IO when there is no memory; EVALUE_MISUSE for NULL, a value that
 * evalue_check refuses, or a name that is no UTF-8. *example changes only on EVALUE_OK.
 */
evalue_status evalue_tfexample_encode(evalue_tfexample *converter, const evalue *values, evalue_slice *example,
                                      evalue_tfexample_error *error);

/*
 * Prints an error of this converter, or of its init, as a sentence: "offset 42: feature "label": unsupported: the
 * feature has a list of another kind: expected an Int64List, found a FloatList". As the functions of text.h.
 */
size_t evalue_tfexample_print_error(const evalue_tfexample_error *error, const evalue_tfexample_feature *features,
                                    size_t count, char *text, size_t capacity);

#endif
