/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the tf.Example conversion share; nobody else includes it. */
#ifndef EVALUE_TFEXAMPLE_INTERNAL_H
#define EVALUE_TFEXAMPLE_INTERNAL_H

#include <pb_decode.h>

#include "evalue/inline.h"
#include "tfexample.h"

/* Field numbers, as in tfexample.proto. Those of a Feature are also how a list's kind is called here. */
enum {
  EVALUE_TFEXAMPLE_FEATURES = 1, /* of an Example */
  EVALUE_TFEXAMPLE_ENTRY = 1,    /* of the Features: the map */
  EVALUE_TFEXAMPLE_KEY = 1,      /* of an entry */
  EVALUE_TFEXAMPLE_VALUE = 2,
  EVALUE_TFEXAMPLE_NO_LIST = 0,
  EVALUE_TFEXAMPLE_BYTES_LIST = 1, /* of a Feature */
  EVALUE_TFEXAMPLE_FLOAT_LIST = 2,
  EVALUE_TFEXAMPLE_INT64_LIST = 3,
  EVALUE_TFEXAMPLE_ENTRIES = 1 /* of each list */
};

/* The bytes of a FloatList's entry. */
enum { EVALUE_TFEXAMPLE_FLOAT = 4 };

/* No message of protobuf has more bytes. */
#define EVALUE_TFEXAMPLE_LIMIT UINT64_C(0x7fffffff)

/* Bytes of the example. */
typedef struct evalue_tfexample_range {
  size_t start, size;
} evalue_tfexample_range;

/* Where a feature's entry is, and what was found there; encoding: how large it becomes. */
struct evalue_tfexample_place {
  evalue_tfexample_range entry; /* decoding: the last one's */
  bool is_there;
  uint32_t list;                /* the kind */
  size_t first;                 /* which of the Feature's lists is the first that counts */
  size_t position;              /* its tag's */
  uint64_t count;               /* its entries */
  size_t pieces;                /* of a FloatList or BytesList: runs of bytes that are its entries */
  evalue_tfexample_range piece; /* the last of them */
  size_t offset;                /* in the converter's memory */
  const uint8_t *data;          /* encoding: the elements, row-major, or the string's bytes */
  uint8_t scalar[8];            /* encoding: a scalar as such an element */
  uint64_t payload, list_size, feature_size, entry_size; /* encoding: bytes, from the inside to the outside */
};

/* An example that is being decoded, and a converter that decodes or encodes. */
typedef struct evalue_tfexample_work {
  evalue_tfexample *converter;
  const uint8_t *data; /* decoding */
  size_t size;
  uint64_t feature; /* the one at work */
  evalue_tfexample_error error;
} evalue_tfexample_work;

/* ---- tfexample_error.c ---- */

evalue_tfexample_error evalue_tfexample_error_of(uint32_t fault);

/* Records a fault of the feature at work, at a byte or EVALUE_NO_INDEX, and returns its status. */
evalue_status evalue_tfexample_fail(evalue_tfexample_work *w, uint32_t fault, uint64_t position);
evalue_status evalue_tfexample_fail_expecting(evalue_tfexample_work *w, uint32_t fault, uint64_t position,
                                              uint64_t expected, uint64_t found);

/* ---- tfexample_wire.c ---- */

/* A message of the example whose fields are read one after the other. */
typedef struct evalue_tfexample_cursor {
  pb_istream_t stream;
  size_t end;
} evalue_tfexample_cursor;

typedef struct evalue_tfexample_field {
  uint32_t number;
  pb_wire_type_t type;
  size_t position;                /* of its tag */
  evalue_tfexample_range payload; /* without the length */
} evalue_tfexample_field;

evalue_tfexample_cursor evalue_tfexample_enter(const evalue_tfexample_work *w, evalue_tfexample_range range);

/* Finds the next field, and goes past it: EVALUE_OK, EVALUE_END, or a fault. */
evalue_status evalue_tfexample_next(evalue_tfexample_work *w, evalue_tfexample_cursor *c, evalue_tfexample_field *f);

/* Is told of a Feature's lists, of which it is the `index`-th. */
typedef evalue_status (*evalue_tfexample_visit)(evalue_tfexample_work *w, void *state,
                                                const evalue_tfexample_field *list, size_t index);

/* Visits the lists of the Feature in an entry of the map. */
evalue_status evalue_tfexample_walk(evalue_tfexample_work *w, evalue_tfexample_range entry,
                                    evalue_tfexample_visit visit, void *state);

/* Finds the features' entries: the converter's places. */
evalue_status evalue_tfexample_find(evalue_tfexample_work *w);

/* ---- tfexample_count.c ---- */

/* Finds out what a feature has: list, first, position, count, pieces and piece of its place. */
evalue_status evalue_tfexample_count(evalue_tfexample_work *w, evalue_tfexample_place *place);

/* ---- tfexample_number.c ---- */

/* The list that a type has of its own. */
uint32_t evalue_tfexample_list_of(const evalue_tfexample_feature *feature);

/* The scalar type that the list's entries become: of the tensor's elements, or of the scalar. */
uint32_t evalue_tfexample_scalar_type(const evalue_tfexample_feature *feature);

/* The least and the largest integer of a type with an Int64List that an int64 can be. */
void evalue_tfexample_int_range(uint32_t scalar_type, int64_t *least, int64_t *largest);

static inline uint32_t evalue_tfexample_load_u16(const uint8_t *from) {
  return evalue_load_u8(from) | evalue_load_u8(from + 1) << 8;
}

/* Loads an element as an int64, and says whether that is large enough, and a bool 0 or 1. */
static inline bool evalue_tfexample_load_int(uint32_t scalar_type, const uint8_t *from, int64_t *number) {
  switch (scalar_type) {
    case EVALUE_INT8: *number = (int64_t)(evalue_load_u8(from) ^ 0x80) - 0x80; return true;
    case EVALUE_INT16: *number = (int16_t)evalue_tfexample_load_u16(from); return true;
    case EVALUE_INT32: *number = (int32_t)evalue_load_u32(from); return true;
    case EVALUE_UINT16: *number = evalue_tfexample_load_u16(from); return true;
    case EVALUE_UINT32: *number = evalue_load_u32(from); return true;
    case EVALUE_INT64: *number = (int64_t)evalue_load_u64(from); return true;
    case EVALUE_UINT64: *number = (int64_t)evalue_load_u64(from); return *number >= 0;
    case EVALUE_BOOL: *number = evalue_load_u8(from); return *number <= 1;
    default: *number = evalue_load_u8(from); return true; /* uint8 */
  }
}

/*
 * Stores n float32, which stand in the order of the wire at `from`, as elements of a floating type. Returns how many,
 * up to the first that is beyond the type's largest.
 */
size_t evalue_tfexample_store_floats(uint32_t scalar_type, uint8_t *to, const uint8_t *from, size_t n);

/*
 * Loads n elements of a floating type as float32 in the order of the wire. Returns how many, up to the first that is
 * none exactly; with `round` only up to the first that is beyond the largest.
 */
size_t evalue_tfexample_load_floats(uint32_t scalar_type, const uint8_t *from, uint8_t *to, size_t n, bool round);

/* Says whether a double, by its bits, is beyond the largest float32 even when it is rounded. */
bool evalue_tfexample_is_beyond(uint64_t bits);

/* The bits of the double that a float32 is. */
uint64_t evalue_tfexample_widen(uint32_t bits);

/*
 * Varints: the bytes that a number's has; storing one; loading one of at most `size` bytes, and saying how many it has,
 * 0 for none. nanopb's functions, which take each byte with a call, need several times as long for a list.
 */
enum { EVALUE_TFEXAMPLE_VARINT = 10 /* bytes of the longest */ };

static inline uint32_t evalue_tfexample_varint_size(uint64_t number) {
  uint32_t size = 1;
  for (; number > 0x7f; number >>= 7) size++;
  return size;
}

static inline size_t evalue_tfexample_store_varint(uint8_t *to, uint64_t number) {
  size_t size = 0;
  for (; number > 0x7f; number >>= 7) to[size++] = (uint8_t)(number | 0x80);
  to[size++] = (uint8_t)number;
  return size;
}

static inline size_t evalue_tfexample_load_varint(const uint8_t *p, size_t size, uint64_t *number) {
  uint64_t x = 0;
  for (size_t i = 0; i < size && i < EVALUE_TFEXAMPLE_VARINT; i++) {
    uint32_t byte = evalue_load_u8(p + i);
    x |= (uint64_t)(byte & 0x7f) << 7 * i;
    if (byte > 0x7f) continue;
    *number = x;
    return i + 1;
  }
  return 0;
}

/* ---- tfexample_converter.c ---- */

/* Makes room for so many bytes; what was there is lost. */
evalue_status evalue_tfexample_reserve(evalue_tfexample_work *w, evalue_tfexample_memory *memory, uint64_t needed);

#endif
