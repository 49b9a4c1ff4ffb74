/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The bytes of ExecuTorch's Android class EValue: what its toByteArray() writes and its fromByteArray() reads.
 *
 *     evalue_java_options options = {.release = EVALUE_JAVA_1_2};
 *     evalue v = evalue_from_int(7);
 *     uint64_t used;
 *     if (evalue_java_encode(&v, &options, storage, sizeof storage, &used, NULL) == EVALUE_OK &&
 *         evalue_java_decode(storage, (size_t)used, &options, buffer, sizeof buffer, &v, NULL, NULL) == EVALUE_OK)
 *       printf("%lld\n", (long long)v.int_value);
 *
 * They hold one value, big-endian, and nothing says how long the whole of it is. The layout, its releases and the
 * faults of the upstream reader are in spec/executorch-java.md, which "spec" means on this page. Nothing is allocated.
 */
#ifndef EVALUE_EXECUTORCH_JAVA_H
#define EVALUE_EXECUTORCH_JAVA_H

#include "evalue/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- releases ----------------------------------------------------------------------------------------------- */

/* clang-format off */

/** Releases of ExecuTorch, in order (spec, section 2): X(NAME, code, "name"). Codes are only ever appended. */
#define EVALUE_JAVA_RELEASE_TABLE(X) \
  X(ANY, 0, "any")                   \
  X(0_5, 1, "0.5")                   \
  X(0_6, 2, "0.6")                   \
  X(0_7, 3, "0.7")                   \
  X(1_0, 4, "1.0")                   \
  X(1_1, 5, "1.1")                   \
  X(1_2, 6, "1.2")                   \
  X(1_3, 7, "1.3")                   \
  X(1_4, 8, "1.4")

/** Dtypes (spec, section 2): X(scalar type, dtype code on the wire, the release that brought it). */
#define EVALUE_JAVA_DTYPE_TABLE(X) \
  X(UINT8,   0, 0_5)               \
  X(INT8,    1, 0_5)               \
  X(INT32,   3, 0_5)               \
  X(INT64,   4, 0_5)               \
  X(FLOAT16, 5, 1_1)               \
  X(FLOAT32, 6, 0_5)               \
  X(FLOAT64, 7, 0_5)

/* clang-format on */

/** EVALUE_JAVA_ANY, which is the union of all, EVALUE_JAVA_0_5, ... */
enum {
#define EVALUE_X(name, code, text) EVALUE_JAVA_##name = code,
  EVALUE_JAVA_RELEASE_TABLE(EVALUE_X)
#undef EVALUE_X
};

/** Returns a release's name, like "1.2" or "any"; NULL for a code that is none. The string is static. */
EVALUE_API const char *evalue_java_release_name(uint32_t release);

/* ---- options ------------------------------------------------------------------------------------------------ */

/**
 * What a reader or writer is told. All zero, or a NULL pointer in its place, is the default: a whole value, of any
 * release, and nothing waived.
 */
typedef struct evalue_java_options {
  uint32_t size;        /* sizeof(evalue_java_options), or 0 for the layout of version 0.2; EVALUE_MISUSE for others */
  uint32_t release;     /* EVALUE_JAVA_ANY, ...: whose table of dtypes; EVALUE_MISUSE for a code that is none */
  uint32_t bare_tensor; /* 1: the bytes of Tensor.toByteArray(), which have no tag (spec, section 1) */
  uint32_t allow_trailing; /* 1: bytes may follow the value (this, and the next two: spec, section 3) */
  uint32_t allow_any_bool; /* 1: a Bool that is not 0 is true */
  uint32_t allow_any_text; /* 1: a String may be ill-formed UTF-8, and is kept as it is */
} evalue_java_options;

/* ---- reading ------------------------------------------------------------------------------------------------ */

/**
 * Finds out from the head of a value (all before a String's bytes or a tensor's data) how many bytes the whole of it
 * has, and how much scratch memory decoding it needs: the size of the data of a tensor whose elements are wider than a
 * byte, otherwise 0. data need not hold more than the head: EVALUE_JAVA_MAX_HEAD_SIZE bytes are always enough, and
 * *value_size may be more than size. Nothing after the head is judged: not whether it is there, nor what follows it; a
 * String of a release before 1.2 is taken for a very long one. So compare the sizes with what there is before you
 * allocate.
 *
 * Returns EVALUE_OK; EVALUE_TRUNCATED when data ends inside the head (error->needed: at least so many bytes);
 * EVALUE_MALFORMED, EVALUE_UNSUPPORTED, EVALUE_LIMIT as evalue_java_decode says of the head; EVALUE_MISUSE for NULL
 * data with a size, NULL value_size or scratch_size, or bad options. options and error may be NULL; the sizes change
 * only on EVALUE_OK.
 */
EVALUE_API evalue_status evalue_java_measure(const void *data, size_t size, const evalue_java_options *options,
                                             uint64_t *value_size, uint64_t *scratch_size, evalue_error *error);

/** The size of the longest head: tag, scalar type, ndim and 16 sizes. */
#define EVALUE_JAVA_MAX_HEAD_SIZE 67

/**
 * Decodes the value that size bytes hold (spec, section 3).
 *
 * Strings, and tensors with elements of one byte, point into data; the elements of other tensors are swapped into
 * scratch, of which they take the first value->tensor.nbytes bytes. Both must outlive *value, and must not overlap.
 * scratch needs no alignment, but elements can be used in place only where it has theirs. *used is the number of bytes
 * that the value took. value may be NULL, to judge the bytes only: then scratch is not needed. used and error may be
 * NULL.
 *
 * Returns EVALUE_OK; a fault of the input, which *error describes (spec, section 5): EVALUE_TRUNCATED (error->needed:
 * how many bytes of input), EVALUE_MALFORMED, EVALUE_UNSUPPORTED, EVALUE_LIMIT; EVALUE_NO_SPACE when capacity is less
 * than a good input's elements need (error->expected: how many bytes); EVALUE_MISUSE for NULL data with a size, NULL
 * scratch with a capacity, or bad options. Except on EVALUE_OK, *value, *used and scratch are as they were.
 */
EVALUE_API evalue_status evalue_java_decode(const void *data, size_t size, const evalue_java_options *options,
                                            void *scratch, size_t capacity, evalue *value, uint64_t *used,
                                            evalue_error *error);

/**
 * The same without scratch, for an input that the caller owns: a tensor's elements are swapped where they lie, and data
 * does not hold the input any more (but for inputs where there was nothing to swap). They begin behind the head, at an
 * odd offset (3 + 4 ndim; 2 + 4 ndim in a bare tensor): place data so that this address suits the element type, or read
 * them with evalue_tensor_copy. Returns EVALUE_OK; EVALUE_TRUNCATED, EVALUE_MALFORMED, EVALUE_UNSUPPORTED, EVALUE_LIMIT
 * for a fault of the input; EVALUE_MISUSE for NULL data with a size, NULL value, or bad options. Except on EVALUE_OK,
 * data, *value and *used are as they were.
 */
EVALUE_API evalue_status evalue_java_decode_in_place(void *data, size_t size, const evalue_java_options *options,
                                                     evalue *value, uint64_t *used, evalue_error *error);

/* ---- writing ------------------------------------------------------------------------------------------------ */

/**
 * Computes the size in bytes of a value's encoding, and says whether it has one. Looks at a String's bytes, at no
 * tensor data. Statuses as for evalue_java_encode, without EVALUE_NO_SPACE. *size is 0 on failure.
 */
EVALUE_API evalue_status evalue_java_size(const evalue *value, const evalue_java_options *options, uint64_t *size,
                                          evalue_error *error);

/**
 * Encodes a value (spec, section 4). *size is the size of the encoding in bytes. A tensor of any dim_order is written
 * row-major, straight from where it lies; its dim_order is lost. The options' allowances do not matter here.
 *
 * Returns EVALUE_OK; EVALUE_UNSUPPORTED for what the release could not read: a scalar type that it lacks, a String
 * before 1.2, a String that is no UTF-8; EVALUE_LIMIT for a value of more than 2^31 - 1 bytes, or an extent of 2^62
 * bytes or more; EVALUE_MISUSE for a value that evalue_check refuses, another value than a Tensor with bare_tensor, bad
 * options, or NULL; EVALUE_NO_SPACE when capacity is less than *size. error, which may be NULL, says more; its position
 * is where the field, or the byte that is no UTF-8, would stand in the encoding. *size is 0 on every failure but
 * EVALUE_NO_SPACE; buffer changes only on EVALUE_OK. It must not overlap the value's bytes, and may be NULL when
 * capacity is 0.
 */
EVALUE_API evalue_status evalue_java_encode(const evalue *value, const evalue_java_options *options, void *buffer,
                                            size_t capacity, uint64_t *size, evalue_error *error);

#ifdef __cplusplus
}
#endif

#endif
