/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of a list as elements of a tensor, and back: ranges, roundings, and the order of the wire. */
#include "tfexample_internal.h"

uint32_t evalue_tfexample_scalar_type(const evalue_tfexample_feature *feature) {
  switch (feature->kind) {
    case EVALUE_TFEXAMPLE_INT: return EVALUE_INT64;
    case EVALUE_TFEXAMPLE_BOOL: return EVALUE_BOOL;
    case EVALUE_TFEXAMPLE_DOUBLE: return EVALUE_FLOAT64;
    case EVALUE_TFEXAMPLE_TENSOR: return feature->scalar_type;
    default: return EVALUE_UINT8;
  }
}

uint32_t evalue_tfexample_list_of(const evalue_tfexample_feature *feature) {
  bool is_text = feature->kind == EVALUE_TFEXAMPLE_STRING || feature->kind == EVALUE_TFEXAMPLE_BYTES;
  if (is_text || feature->is_raw != 0) return EVALUE_TFEXAMPLE_BYTES_LIST;
  switch (evalue_tfexample_scalar_type(feature)) {
    case EVALUE_UINT8:
    case EVALUE_INT8:
    case EVALUE_INT16:
    case EVALUE_INT32:
    case EVALUE_INT64:
    case EVALUE_UINT16:
    case EVALUE_UINT32:
    case EVALUE_UINT64:
    case EVALUE_BOOL: return EVALUE_TFEXAMPLE_INT64_LIST;
    case EVALUE_FLOAT16:
    case EVALUE_BFLOAT16:
    case EVALUE_FLOAT32:
    case EVALUE_FLOAT64: return EVALUE_TFEXAMPLE_FLOAT_LIST;
    default: return EVALUE_TFEXAMPLE_BYTES_LIST;
  }
}

/* ---- integers ---- */

void evalue_tfexample_int_range(uint32_t scalar_type, int64_t *least, int64_t *largest) {
  *least = 0;
  switch (scalar_type) {
    case EVALUE_BOOL: *largest = 1; break;
    case EVALUE_UINT8: *largest = UINT8_MAX; break;
    case EVALUE_UINT16: *largest = UINT16_MAX; break;
    case EVALUE_UINT32: *largest = UINT32_MAX; break;
    case EVALUE_INT8: *least = INT8_MIN, *largest = INT8_MAX; break;
    case EVALUE_INT16: *least = INT16_MIN, *largest = INT16_MAX; break;
    case EVALUE_INT32: *least = INT32_MIN, *largest = INT32_MAX; break;
    case EVALUE_INT64: *least = INT64_MIN, *largest = INT64_MAX; break;
    default: *largest = INT64_MAX; break; /* uint64 */
  }
}

static void store_u16(uint8_t *to, uint32_t x) {
  to[0] = (uint8_t)x;
  to[1] = (uint8_t)(x >> 8);
}

/* ---- floating point ---- */

enum { F32_FRACTION = 23, F16_FRACTION = 10, F16_INFINITY = 0x7c00, F16_QUIET = 0x200 };

static const uint32_t f32_infinity = 0x7f800000, f32_magnitude = 0x7fffffff, f32_quiet = 0x400000;
static const uint64_t f64_infinity = UINT64_C(0x7ff0000000000000), f64_magnitude = UINT64_C(0x7fffffffffffffff);

/* x without its last `n` bits (1 to 31), rounded to the nearest, ties to even. */
static uint32_t round_off(uint32_t x, uint32_t n) {
  uint32_t half = UINT32_C(1) << (n - 1), is_odd = x >> n & 1;
  return (uint32_t)(((uint64_t)x + half - 1 + is_odd) >> n);
}

/* A carry out of the fraction is right as it is: it makes the exponent one larger. */
static uint32_t half_of(uint32_t magnitude) {
  const uint32_t rebias = (UINT32_C(127) - 15) << F32_FRACTION, least_normal = (UINT32_C(127) - 14) << F32_FRACTION;
  if (magnitude > f32_infinity) {
    return F16_INFINITY | F16_QUIET | (magnitude >> (F32_FRACTION - F16_FRACTION) & 0x3ff);
  }
  if (magnitude == f32_infinity) return F16_INFINITY;
  if (magnitude >= least_normal) return round_off(magnitude - rebias, F32_FRACTION - F16_FRACTION);
  uint32_t exponent = magnitude >> F32_FRACTION; /* subnormal: in units of 2^-24 */
  uint32_t shift = 126 - exponent;
  if (shift > 25) return 0;
  return round_off((magnitude & 0x7fffff) | 0x800000, shift);
}

static uint32_t float_of_half(uint32_t half) {
  uint32_t sign = (half & 0x8000) << 16, exponent = half >> F16_FRACTION & 0x1f, fraction = half & 0x3ff;
  if (exponent == 0x1f) return sign | f32_infinity | fraction << (F32_FRACTION - F16_FRACTION);
  if (exponent == 0 && fraction == 0) return sign;
  if (exponent == 0) { /* subnormal: moved up until its first one stands before the fraction */
    exponent = 1;
    for (; (fraction & 0x400) == 0; fraction <<= 1) exponent--;
    fraction &= 0x3ff;
  }
  return sign | (exponent + 127 - 15) << F32_FRACTION | fraction << (F32_FRACTION - F16_FRACTION);
}

/* NaNs go bit by bit: a conversion could make them quiet. */
uint64_t evalue_tfexample_widen(uint32_t bits) {
  uint64_t sign = (uint64_t)(bits >> 31) << 63, wide = 0;
  float narrow;
  if ((bits & f32_magnitude) >= f32_infinity) return sign | f64_infinity | (uint64_t)(bits & 0x7fffff) << 29;
  memcpy(&narrow, &bits, sizeof narrow);
  double number = narrow;
  memcpy(&wide, &number, sizeof wide);
  return wide;
}

static bool store_half(uint8_t *to, uint32_t bits) {
  uint32_t magnitude = bits & f32_magnitude, result = half_of(magnitude);
  store_u16(to, (bits >> 31 << 15) | result);
  return result < F16_INFINITY || magnitude >= f32_infinity;
}

static bool store_bfloat(uint8_t *to, uint32_t bits) {
  uint32_t magnitude = bits & f32_magnitude;
  uint32_t result = magnitude > f32_infinity ? (magnitude | f32_quiet) >> 16 : round_off(magnitude, 16);
  store_u16(to, (bits >> 31 << 15) | result);
  return result < f32_infinity >> 16 || magnitude >= f32_infinity;
}

size_t evalue_tfexample_store_floats(uint32_t scalar_type, uint8_t *to, const uint8_t *from, size_t n) {
  size_t i = 0;
  switch (scalar_type) {
    case EVALUE_FLOAT64:
      for (; i < n; i++) evalue_store_u64(to + 8 * i, evalue_tfexample_widen(evalue_load_u32(from + 4 * i)));
      break;
    case EVALUE_FLOAT16:
      while (i < n && store_half(to + 2 * i, evalue_load_u32(from + 4 * i))) i++;
      break;
    case EVALUE_BFLOAT16:
      while (i < n && store_bfloat(to + 2 * i, evalue_load_u32(from + 4 * i))) i++;
      break;
    default: /* float32 */ evalue_copy_bytes(to, from, 4 * n); return n;
  }
  return i;
}

/* The bits of the nearest float32; false when it is not the same number. The conversion rounds as IEEE 754 says. */
static bool narrow(uint64_t wide, uint32_t *bits) {
  double number;
  if ((wide & f64_magnitude) > f64_infinity) { /* a NaN whose payload would be lost still is one */
    uint32_t fraction = (uint32_t)(wide >> 29) & 0x7fffff;
    *bits = (uint32_t)(wide >> 63) << 31 | f32_infinity | (fraction != 0 ? fraction : f32_quiet);
    return evalue_tfexample_widen(*bits) == wide;
  }
  memcpy(&number, &wide, sizeof number);
  float nearest = (float)number;
  memcpy(bits, &nearest, sizeof *bits);
  return evalue_tfexample_widen(*bits) == wide;
}

bool evalue_tfexample_is_beyond(uint64_t bits) {
  uint32_t nearest = 0;
  return !narrow(bits, &nearest) && (nearest & f32_magnitude) == f32_infinity;
}

static size_t load_doubles(const uint8_t *from, uint8_t *to, size_t n, bool round) {
  for (size_t i = 0; i < n; i++) {
    uint32_t bits = 0;
    bool is_exact = narrow(evalue_load_u64(from + 8 * i), &bits);
    if (!is_exact && (!round || (bits & f32_magnitude) == f32_infinity)) return i;
    evalue_store_u32(to + 4 * i, bits);
  }
  return n;
}

size_t evalue_tfexample_load_floats(uint32_t scalar_type, const uint8_t *from, uint8_t *to, size_t n, bool round) {
  switch (scalar_type) {
    case EVALUE_FLOAT64: return load_doubles(from, to, n, round);
    case EVALUE_FLOAT16:
      for (size_t i = 0; i < n; i++)
        evalue_store_u32(to + 4 * i, float_of_half(evalue_tfexample_load_u16(from + 2 * i)));
      return n;
    case EVALUE_BFLOAT16:
      for (size_t i = 0; i < n; i++) evalue_store_u32(to + 4 * i, evalue_tfexample_load_u16(from + 2 * i) << 16);
      return n;
    default: evalue_copy_bytes(to, from, 4 * n); return n;
  }
}
