/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Byte loads and stores, and checked arithmetic: the one place that knows about endianness and overflow.
 *
 *     uint64_t length = evalue_load_u64(p);     // little-endian, any address, each byte read once
 *
 * A load gives a number that the compiler cannot read again from the input behind the program's back (spec, section
 * 13).
 */
#ifndef EVALUE_INLINE_H
#define EVALUE_INLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "evalue/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes a loaded number opaque, so that the compiler keeps it instead of loading it a second time. Costs no
 * instruction. Where there is no such means the bytes are read through volatile.
 */
#if defined(__GNUC__) && !defined(__FRAMAC__)
#define EVALUE_OPAQUE(x) __asm__("" : "+r"(x))
typedef const uint8_t evalue_input_byte; /**< how a byte of input is read */
#else
#define EVALUE_OPAQUE(x) ((void)0)
typedef const volatile uint8_t evalue_input_byte;
#endif

/** memcpy of a few bytes, which a compiler makes a load or a store of, also with -ffreestanding. */
#if defined(__GNUC__) && !defined(__FRAMAC__)
#define EVALUE_COPY(to, from, nbytes) __builtin_memcpy(to, from, nbytes)
#else
#define EVALUE_COPY(to, from, nbytes) memcpy(to, from, nbytes)
#endif

/** Marks a function that is called at most once in a good run: never inlined, which keeps the callers small. */
#if defined(__GNUC__)
#define EVALUE_COLD __attribute__((cold, noinline))
#else
#define EVALUE_COLD
#endif

/* ---- numbers in either byte order --------------------------------------------------------------------------- */

/** Returns x with its bytes reversed. */
static inline uint32_t evalue_swap_u32(uint32_t x) {
  return x >> 24 | (x >> 8 & 0xff00U) | (x << 8 & 0xff0000U) | x << 24;
}

/** Returns x with its bytes reversed. */
static inline uint64_t evalue_swap_u64(uint64_t x) {
  return (uint64_t)evalue_swap_u32((uint32_t)x) << 32 | evalue_swap_u32((uint32_t)(x >> 32));
}

/* ---- loads -------------------------------------------------------------------------------------------------- */

/** Loads one byte. */
static inline uint32_t evalue_load_u8(const uint8_t *p) {
  uint32_t x = *(evalue_input_byte *)p;
  EVALUE_OPAQUE(x);
  return x;
}

/** Loads a little-endian u32. */
static inline uint32_t evalue_load_u32(const uint8_t *p) {
#if defined(__GNUC__) && !defined(__FRAMAC__)
  uint32_t x;
  EVALUE_COPY(&x, p, sizeof x);
  EVALUE_OPAQUE(x);
  return EVALUE_HOST_IS_LITTLE_ENDIAN ? x : evalue_swap_u32(x);
#else
  return evalue_load_u8(p) | evalue_load_u8(p + 1) << 8 | evalue_load_u8(p + 2) << 16 | evalue_load_u8(p + 3) << 24;
#endif
}

/** Loads a little-endian u64. */
static inline uint64_t evalue_load_u64(const uint8_t *p) {
#if defined(__GNUC__) && !defined(__FRAMAC__) && UINTPTR_MAX > UINT32_MAX
  uint64_t x;
  EVALUE_COPY(&x, p, sizeof x);
  EVALUE_OPAQUE(x);
  return EVALUE_HOST_IS_LITTLE_ENDIAN ? x : evalue_swap_u64(x);
#else
  uint64_t low = evalue_load_u32(p);
  return low | (uint64_t)evalue_load_u32(p + 4) << 32;
#endif
}

/** Loads a big-endian u32. */
static inline uint32_t evalue_load_be_u32(const uint8_t *p) {
  return evalue_swap_u32(evalue_load_u32(p));
}

/** Loads a big-endian u64. */
static inline uint64_t evalue_load_be_u64(const uint8_t *p) {
  return evalue_swap_u64(evalue_load_u64(p));
}

/* ---- stores ------------------------------------------------------------------------------------------------- */

/** Stores a little-endian u32. */
static inline void evalue_store_u32(uint8_t *p, uint32_t x) {
  if (!EVALUE_HOST_IS_LITTLE_ENDIAN) x = evalue_swap_u32(x);
  EVALUE_COPY(p, &x, sizeof x);
}

/** Stores a little-endian u64. */
static inline void evalue_store_u64(uint8_t *p, uint64_t x) {
  if (!EVALUE_HOST_IS_LITTLE_ENDIAN) x = evalue_swap_u64(x);
  EVALUE_COPY(p, &x, sizeof x);
}

/** Stores a big-endian u32. */
static inline void evalue_store_be_u32(uint8_t *p, uint32_t x) {
  evalue_store_u32(p, evalue_swap_u32(x));
}

/** Stores a big-endian u64. */
static inline void evalue_store_be_u64(uint8_t *p, uint64_t x) {
  evalue_store_u64(p, evalue_swap_u64(x));
}

/** Copies nbytes bytes; either pointer may be NULL when nbytes is 0, which memcpy itself does not allow. */
static inline void evalue_copy_bytes(void *to, const void *from, size_t nbytes) {
  if (nbytes != 0) memcpy(to, from, nbytes);
}

/** Returns x, whose bytes hold components of width bytes (2, 4 or 8), with the bytes of each component reversed. */
static inline uint64_t evalue_swap_components(uint64_t x, size_t width) {
  const uint64_t every_other = UINT64_C(0x00ff00ff00ff00ff);
  if (width == 2) return (x >> 8 & every_other) | (x & every_other) << 8;
  x = evalue_swap_u64(x);
  return width == 4 ? x >> 32 | x << 32 : x;
}

/**
 * Copies as many whole words of 8 bytes as nbytes has, with the components of each reversed; returns how many bytes
 * that were. What evalue_copy_reversed does, but for its rest.
 */
static inline size_t evalue_copy_swapped_words(uint8_t *to, const uint8_t *from, size_t nbytes, size_t width) {
  size_t i = 0;
  for (; nbytes - i >= 8; i += 8) {
    uint64_t x;
    EVALUE_COPY(&x, from + i, sizeof x);
    x = evalue_swap_components(x, width);
    EVALUE_COPY(to + i, &x, sizeof x);
  }
  return i;
}

/**
 * Copies nbytes bytes, a multiple of width, with the bytes of each component of width reversed: 1 for none, 2, 4, 8.
 * The two may be the same memory, but must not overlap otherwise; either may be NULL when nbytes is 0.
 */
static inline void evalue_copy_reversed(void *to, const void *from, size_t nbytes, size_t width) {
  uint8_t *target = (uint8_t *)to;
  const uint8_t *source = (const uint8_t *)from;
  size_t i = 0;
  if (width == 1) {
    if (to != from) evalue_copy_bytes(to, from, nbytes);
    return;
  }
#ifndef __OPTIMIZE_SIZE__ /* a loop for each width: several times as fast as byte by byte */
  if (width == 2) i = evalue_copy_swapped_words(target, source, nbytes, 2);
  else if (width == 4) i = evalue_copy_swapped_words(target, source, nbytes, 4);
  else i = evalue_copy_swapped_words(target, source, nbytes, 8);
#endif
  for (; i < nbytes; i += width) {
    for (size_t k = 0; k < width / 2; k++) {
      uint8_t first = source[i + k];
      target[i + k] = source[i + width - 1 - k];
      target[i + width - 1 - k] = first;
    }
  }
}

/**
 * Copies nbytes bytes of elements in the host's byte order to wire, in the order of the wire, where a tensor can view
 * them. On a little-endian host this is memcpy. The two must not overlap. Returns EVALUE_OK, or EVALUE_MISUSE for an
 * unknown scalar type, an nbytes that is no multiple of its component size, or NULL.
 */
static inline evalue_status evalue_tensor_data_to_wire(uint32_t scalar_type, const void *host, void *wire,
                                                       size_t nbytes) {
  size_t width = evalue_component_size(scalar_type);
  if (width == 0 || nbytes % width != 0 || (nbytes != 0 && (host == NULL || wire == NULL))) return EVALUE_MISUSE;
  evalue_copy_reversed(wire, host, nbytes, EVALUE_HOST_IS_LITTLE_ENDIAN ? 1 : width);
  return EVALUE_OK;
}

/* ---- checked arithmetic ------------------------------------------------------------------------------------- */

/**
 * Multiplies *product, below 2^62, with a factor below 2^31; false, and *product as it was, when the result is not
 * below 2^62. Needs no division.
 */
static inline bool evalue_multiply(uint64_t *product, uint32_t factor) {
  uint64_t high = (*product >> 32) * factor;
  uint64_t low = (*product & UINT32_MAX) * factor;
  if (high >= EVALUE_SIZE_LIMIT >> 32) return false;
  uint64_t result = (high << 32) + low;
  if (result >= EVALUE_SIZE_LIMIT) return false;
  *product = result;
  return true;
}

#ifdef __cplusplus
}
#endif

#endif
