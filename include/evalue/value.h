/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Values: what ExecuTorch calls EValue, as plain structs that point at the caller's bytes.
 *
 *     float pixels[6] = {0, 1, 2, 3, 4, 5};
 *     int32_t sizes[2] = {2, 3};
 *     evalue_tensor t;
 *     evalue_tensor_init(&t, EVALUE_FLOAT32, 2, sizes, pixels, sizeof pixels);
 *     evalue values[2] = {evalue_from_tensor(&t), evalue_from_int(7)};
 *
 * Nothing here owns memory: a tensor or a string is a view, valid as long as the bytes that it points to.
 */
#ifndef EVALUE_VALUE_H
#define EVALUE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evalue/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether the host's byte order is that of the wire. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EVALUE_HOST_IS_LITTLE_ENDIAN 1
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define EVALUE_HOST_IS_LITTLE_ENDIAN 0
#elif defined(_MSC_VER)
#define EVALUE_HOST_IS_LITTLE_ENDIAN 1
#else
#error "EValue: this compiler does not say the host's byte order"
#endif

/** The largest number of dimensions (spec, section 4). */
#define EVALUE_MAX_NDIM 16

/** The size of an element's tag and length (spec, section 2). */
#define EVALUE_ELEMENT_HEADER_SIZE 9

/** The size of a tensor's payload before its data: scalar type, ndim, sizes and dim_order (spec, section 4). */
#define EVALUE_TENSOR_META_SIZE(ndim) (2 + 5 * (ndim))

/** Every length, count and extent is below this (spec, section 1). */
#define EVALUE_SIZE_LIMIT (UINT64_C(1) << 62)

/* clang-format off */

/** Tags of elements (spec, section 2): X(NAME, code, "name"). Values, then Pad. */
#define EVALUE_TAG_TABLE(X)   \
  X(NONE,     0, "None")      \
  X(TENSOR,   1, "Tensor")    \
  X(STRING,   2, "String")    \
  X(DOUBLE,   3, "Double")    \
  X(INT,      4, "Int")       \
  X(BOOL,     5, "Bool")      \
  X(PAD,    128, "Pad")

/* clang-format on */

/** EVALUE_TAG_NONE, ...: the tags of the table; and where the classes of tags begin (spec, section 2). */
enum {
#define EVALUE_X(name, code, text) EVALUE_TAG_##name = code,
  EVALUE_TAG_TABLE(EVALUE_X)
#undef EVALUE_X
      EVALUE_TAG_CRITICAL_END = 128, /* a tag below this that is not known is unsupported */
  EVALUE_TAG_ANCILLARY = 129,        /* from here on: skipped by who does not know it */
  EVALUE_TAG_PRIVATE = 192           /* from here on: the application's own */
};

/* clang-format off */

/** Scalar types (spec, section 4.3): X(NAME, code, "name", element size, component size). The codes are frozen. */
#define EVALUE_SCALAR_TYPE_TABLE(X)                     \
  X(UINT8,             0, "uint8",             1, 1)    \
  X(INT8,              1, "int8",              1, 1)    \
  X(INT16,             2, "int16",             2, 2)    \
  X(INT32,             3, "int32",             4, 4)    \
  X(INT64,             4, "int64",             8, 8)    \
  X(FLOAT16,           5, "float16",           2, 2)    \
  X(FLOAT32,           6, "float32",           4, 4)    \
  X(FLOAT64,           7, "float64",           8, 8)    \
  X(COMPLEX32,         8, "complex32",         4, 2)    \
  X(COMPLEX64,         9, "complex64",         8, 4)    \
  X(COMPLEX128,       10, "complex128",       16, 8)    \
  X(BOOL,             11, "bool",              1, 1)    \
  X(QINT8,            12, "qint8",             1, 1)    \
  X(QUINT8,           13, "quint8",            1, 1)    \
  X(QINT32,           14, "qint32",            4, 4)    \
  X(BFLOAT16,         15, "bfloat16",          2, 2)    \
  X(QUINT4X2,         16, "quint4x2",          1, 1)    \
  X(QUINT2X4,         17, "quint2x4",          1, 1)    \
  X(BITS1X8,          18, "bits1x8",           1, 1)    \
  X(BITS2X4,          19, "bits2x4",           1, 1)    \
  X(BITS4X2,          20, "bits4x2",           1, 1)    \
  X(BITS8,            21, "bits8",             1, 1)    \
  X(BITS16,           22, "bits16",            2, 2)    \
  X(FLOAT8_E5M2,      23, "float8_e5m2",       1, 1)    \
  X(FLOAT8_E4M3FN,    24, "float8_e4m3fn",     1, 1)    \
  X(FLOAT8_E5M2FNUZ,  25, "float8_e5m2fnuz",   1, 1)    \
  X(FLOAT8_E4M3FNUZ,  26, "float8_e4m3fnuz",   1, 1)    \
  X(UINT16,           27, "uint16",            2, 2)    \
  X(UINT32,           28, "uint32",            4, 4)    \
  X(UINT64,           29, "uint64",            8, 8)

/* clang-format on */

/** EVALUE_UINT8, ...: the scalar types of the table. */
enum {
#define EVALUE_X(name, code, text, element_size, component_size) EVALUE_##name = code,
  EVALUE_SCALAR_TYPE_TABLE(EVALUE_X)
#undef EVALUE_X
};

/** Bytes somewhere: a view. */
typedef struct evalue_slice {
  const void *data;
  size_t size;
} evalue_slice;

/** A tensor: a view. Fill it with evalue_tensor_init, or let a reader fill it. */
typedef struct evalue_tensor {
  const void *data;                   /* nbytes bytes, packed in the order of dim_order, components little-endian */
  size_t nbytes;                      /* numel x element size, exactly */
  int32_t sizes[EVALUE_MAX_NDIM];     /* the first ndim count: elements along each dimension, outermost first */
  uint8_t dim_order[EVALUE_MAX_NDIM]; /* the first ndim count: dimensions from outermost to innermost in memory */
  uint8_t ndim;                       /* 0 to EVALUE_MAX_NDIM */
  uint8_t scalar_type;                /* EVALUE_FLOAT32, ... */
} evalue_tensor;

/** A string: a view of nbytes bytes, not terminated; UTF-8 by convention, any bytes in fact. */
typedef struct evalue_string {
  const char *data;
  size_t nbytes;
} evalue_string;

/** One value. The tag says which member counts; None has none. */
typedef struct evalue {
  uint8_t tag; /* EVALUE_TAG_NONE to EVALUE_TAG_BOOL */
  union {
    evalue_tensor tensor;
    evalue_string string;
    double double_value;
    int64_t int_value;
    uint8_t bool_value; /* 0 or 1 */
  };
} evalue;

/* ---- making values ------------------------------------------------------------------------------------------ */

/** Returns None. */
static inline evalue evalue_from_none(void) {
  evalue v;
  v.tag = EVALUE_TAG_NONE;
  v.int_value = 0;
  return v;
}

/** Returns an Int. */
static inline evalue evalue_from_int(int64_t i) {
  evalue v;
  v.tag = EVALUE_TAG_INT;
  v.int_value = i;
  return v;
}

/** Returns a Double; every bit pattern is kept, but for signalling NaNs where doubles are passed in x87 registers. */
static inline evalue evalue_from_double(double d) {
  evalue v;
  v.tag = EVALUE_TAG_DOUBLE;
  v.double_value = d;
  return v;
}

/** Returns a Bool. */
static inline evalue evalue_from_bool(bool b) {
  evalue v;
  v.tag = EVALUE_TAG_BOOL;
  v.bool_value = b ? 1 : 0;
  return v;
}

/** Returns a String that views nbytes bytes at data. data may be NULL when nbytes is 0. */
static inline evalue evalue_from_string(const char *data, size_t nbytes) {
  evalue v;
  v.tag = EVALUE_TAG_STRING;
  v.string.data = data;
  v.string.nbytes = nbytes;
  return v;
}

/** Returns a Tensor: a copy of the view *tensor. For NULL, a value that evalue_check refuses. */
static inline evalue evalue_from_tensor(const evalue_tensor *tensor) {
  evalue v;
  v.tag = EVALUE_TAG_TENSOR;
  if (tensor != NULL) v.tensor = *tensor;
  else v.tensor.scalar_type = UINT8_MAX;
  return v;
}

/* ---- looking at values -------------------------------------------------------------------------------------- */

/**
 * Says whether a value could be written (spec, sections 2 to 4): a known tag, a Bool of 0 or 1, a tensor that
 * evalue_tensor_check accepts, bytes where bytes are promised. Returns EVALUE_OK, EVALUE_MISUSE (also for NULL), or
 * EVALUE_LIMIT for a string of 2^62 bytes or more. Looks at no payload byte.
 */
EVALUE_API evalue_status evalue_check(const evalue *value);

/**
 * Says whether two values are the same value: same kind and same bits, so a NaN equals itself and -0.0 does not equal
 * 0.0; for tensors the same scalar type, sizes, dim_order and data (spec, section 9). False when either is NULL or does
 * not pass evalue_check.
 */
EVALUE_API bool evalue_equal(const evalue *a, const evalue *b);

/** Returns the name of a tag, like "Tensor"; NULL for a tag without a name. The string is static. */
EVALUE_API const char *evalue_tag_name(uint32_t tag);

#ifdef __cplusplus
}
#endif

#endif
