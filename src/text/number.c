/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of tensors as numbers: the shortest decimal that reads back as the same bits. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evalue/inline.h"
#include "evalue/tensor.h"
#include "evalue/text.h"
#include "text_internal.h"

/* ---- binary floating point of 8 and 16 bits ---- */

/* What the largest exponent and the negative zero of a narrow type mean. */
enum specials {
  IEEE,     /* the largest exponent: infinities and NaNs */
  ONLY_NAN, /* "fn": all ones is NaN; no infinities */
  UNSIGNED  /* "fnuz": the bits of negative zero are the only NaN; no infinities, no negative zero */
};

typedef struct narrow_type {
  int exponent_bits, mantissa_bits, bias;
  enum specials specials;
} narrow_type;

/* Returns the narrow type that a component of a scalar type has; NULL when it has none. */
static const narrow_type *narrow_type_of(uint32_t scalar_type) {
  static const narrow_type float16 = {5, 10, 15, IEEE}, bfloat16 = {8, 7, 127, IEEE};
  static const narrow_type e5m2 = {5, 2, 15, IEEE}, e4m3fn = {4, 3, 7, ONLY_NAN};
  static const narrow_type e5m2fnuz = {5, 2, 16, UNSIGNED}, e4m3fnuz = {4, 3, 8, UNSIGNED};
  switch (scalar_type) {
    case EVALUE_FLOAT16:
    case EVALUE_COMPLEX32: return &float16;
    case EVALUE_BFLOAT16: return &bfloat16;
    case EVALUE_FLOAT8_E5M2: return &e5m2;
    case EVALUE_FLOAT8_E4M3FN: return &e4m3fn;
    case EVALUE_FLOAT8_E5M2FNUZ: return &e5m2fnuz;
    case EVALUE_FLOAT8_E4M3FNUZ: return &e4m3fnuz;
    default: return NULL;
  }
}

/* Returns 2^exponent, for exponents of a normal double. */
static double power_of_two(int exponent) {
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

static uint32_t sign_bit_of(const narrow_type *type) {
  return UINT32_C(1) << (type->exponent_bits + type->mantissa_bits);
}

/* Decodes bits; every narrow number is a double exactly. */
static double decode_narrow(const narrow_type *type, uint32_t bits) {
  uint32_t sign = sign_bit_of(type), magnitude = bits & (sign - 1);
  uint32_t mantissa = magnitude & ((UINT32_C(1) << type->mantissa_bits) - 1);
  int exponent = (int)(magnitude >> type->mantissa_bits), largest = (1 << type->exponent_bits) - 1;
  bool negative = (bits & sign) != 0;
  if (type->specials == IEEE && exponent == largest)
    return mantissa != 0 ? (double)NAN : negative ? -HUGE_VAL : HUGE_VAL;
  if (type->specials == ONLY_NAN && magnitude == sign - 1) return (double)NAN;
  if (type->specials == UNSIGNED && bits == sign) return (double)NAN;
  if (exponent == 0) {
    exponent = 1; /* subnormal */
  } else {
    mantissa |= UINT32_C(1) << type->mantissa_bits;
  }
  double value = (double)mantissa * power_of_two(exponent - type->bias - type->mantissa_bits);
  return negative ? -value : value;
}

/* A narrow number, and the range of what is rounded to it. */
typedef struct narrow_range {
  double low, high;
  bool with_ends; /* ties go to the even mantissa */
} narrow_range;

static bool narrow_reads_back(const evalue_decimal *decimal, const void *number) {
  const narrow_range *range = number;
  double d = evalue_decimal_to_double(decimal);
  return range->with_ends ? d >= range->low && d <= range->high : d > range->low && d < range->high;
}

static evalue_decimal shortest_narrow(const narrow_type *type, uint32_t magnitude) {
  double value = decode_narrow(type, magnitude), below = decode_narrow(type, magnitude - 1);
  double above = magnitude + 1 < sign_bit_of(type) ? decode_narrow(type, magnitude + 1) : (double)NAN;
  if (!isfinite(above)) above = value + (value - below); /* the largest number rounds as if there were a next one */
  narrow_range range = {(below + value) / 2, (value + above) / 2, (magnitude & 1) == 0};
  return evalue_shortest(value, 1, DBL_DIG, narrow_reads_back, &range);
}

/* ---- float32 and float64 ---- */

static bool float_reads_back(const evalue_decimal *decimal, const void *number) {
  float f;
  memcpy(&f, number, sizeof f);
  return evalue_decimal_to_float(decimal) == f;
}

static bool double_reads_back(const evalue_decimal *decimal, const void *number) {
  double d;
  memcpy(&d, number, sizeof d);
  return evalue_decimal_to_double(decimal) == d;
}

/* A normal number has at most one decimal of FLT_DIG digits that reads back, so there is no need to look at shorter
 * ones: it ends in zeros. */
static evalue_decimal shortest_float(float f) {
  return evalue_shortest((double)f, f >= FLT_MIN ? FLT_DIG : 1, 9, float_reads_back, &f);
}

static evalue_decimal shortest_double(double d) {
  return evalue_shortest(d, d >= DBL_MIN ? DBL_DIG : 1, 17, double_reads_back, &d);
}

/* ---- components ---- */

/* Loads a component of 1, 2, 4 or 8 bytes. */
static uint64_t load(const uint8_t *p, uint32_t size) {
  switch (size) {
    case 1: return evalue_load_u8(p);
    case 2: return evalue_load_u8(p) | evalue_load_u8(p + 1) << 8;
    case 4: return evalue_load_u32(p);
    default: return evalue_load_u64(p);
  }
}

/* The digits of a whole number. */
static evalue_decimal decimal_of_whole(uint64_t number) {
  evalue_decimal decimal = {.count = 0};
  char text[24];
  int count = snprintf(text, sizeof text, "%llu", (unsigned long long)number);
  decimal.exponent = count - 1;
  while (count > 1 && text[count - 1] == '0') count--;
  memcpy(decimal.digits, text, (size_t)count);
  decimal.count = count;
  return decimal;
}

/* Fills in what value, not yet its digits, says; true when there are digits to be found. */
static bool start_real(evalue_real *real, double value) {
  memset(real, 0, sizeof *real);
  real->is_nan = isnan(value);
  real->is_inf = isinf(value) != 0;
  real->is_negative = signbit(value) != 0 && !real->is_nan;
  return !real->is_nan && !real->is_inf && value != 0;
}

/* Whole numbers have all their digits: 65504, though 65500 would be the same float16. */
static void finish_real(evalue_real *real, double magnitude) {
  bool is_whole = magnitude < 1e16 && magnitude == (double)(uint64_t)magnitude;
  real->whole = is_whole ? decimal_of_whole((uint64_t)magnitude) : real->shortest;
}

static evalue_real real_of_double(double d) {
  evalue_real real;
  if (!start_real(&real, d)) return real;
  real.shortest = shortest_double(fabs(d));
  finish_real(&real, fabs(d));
  return real;
}

static evalue_real real_of_float(float f) {
  evalue_real real;
  if (!start_real(&real, (double)f)) return real;
  real.shortest = shortest_float(fabsf(f));
  finish_real(&real, fabs((double)f));
  return real;
}

static evalue_real real_of_narrow(const narrow_type *type, uint32_t bits) {
  evalue_real real;
  double d = decode_narrow(type, bits);
  if (!start_real(&real, d)) return real;
  real.shortest = shortest_narrow(type, bits & (sign_bit_of(type) - 1));
  finish_real(&real, fabs(d));
  return real;
}

bool evalue_is_real_type(uint32_t scalar_type) {
  bool is_wide = scalar_type == EVALUE_FLOAT32 || scalar_type == EVALUE_FLOAT64 || scalar_type == EVALUE_COMPLEX64 ||
                 scalar_type == EVALUE_COMPLEX128;
  return is_wide || narrow_type_of(scalar_type) != NULL;
}

evalue_real evalue_real_of(uint32_t scalar_type, const uint8_t *p) {
  uint32_t size = evalue_component_size(scalar_type);
  uint64_t bits = load(p, size);
  if (size == 8) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return real_of_double(d);
  }
  if (size == 4) {
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return real_of_float(f);
  }
  return real_of_narrow(narrow_type_of(scalar_type), (uint32_t)bits);
}

static void put_real(evalue_text *text, const evalue_real *real) {
  if (real->is_negative) evalue_text_put(text, "-");
  if (real->is_nan) evalue_text_put(text, "nan");
  else if (real->is_inf) evalue_text_put(text, "inf");
  else if (real->whole.count == 0) evalue_text_put(text, "0");
  else evalue_text_put_decimal(text, &real->whole);
}

void evalue_text_put_double(evalue_text *text, double d) {
  evalue_real real = real_of_double(d);
  put_real(text, &real);
}

/* Appends one component of a floating-point or complex type. */
static void put_component(evalue_text *text, uint32_t scalar_type, const uint8_t *p) {
  evalue_real real = evalue_real_of(scalar_type, p);
  put_real(text, &real);
}

/* 1+2j, as NumPy and Python write it. */
static void put_complex(evalue_text *text, uint32_t scalar_type, const uint8_t *p, uint32_t size) {
  char imaginary[40];
  put_component(text, scalar_type, p);
  evalue_text inner = evalue_text_start(imaginary, sizeof imaginary);
  put_component(&inner, scalar_type, p + size);
  evalue_text_end(&inner);
  if (imaginary[0] != '-') evalue_text_put(text, "+");
  evalue_text_put(text, imaginary);
  evalue_text_put(text, "j");
}

/* Appends two's complement of size bytes. */
static void put_signed(evalue_text *text, uint64_t bits, uint32_t size) {
  uint64_t sign = UINT64_C(1) << (8 * size - 1);
  if (bits & sign) {
    evalue_text_put(text, "-");
    bits = (sign << 1) - bits; /* of 8 bytes: 0 - bits */
  }
  evalue_text_put_u64(text, bits);
}

static void put_hex(evalue_text *text, uint64_t bits, uint32_t size) {
  char hex[8];
  snprintf(hex, sizeof hex, "0x%0*x", (int)(2 * size), (unsigned)(bits & 0xffff));
  evalue_text_put(text, hex);
}

void evalue_text_put_element(evalue_text *text, uint32_t scalar_type, const uint8_t *element) {
  uint32_t size = evalue_component_size(scalar_type);
  if (size == 0) {
    evalue_text_put(text, "?");
    return;
  }
  uint64_t bits = load(element, size);
  switch (scalar_type) {
    case EVALUE_UINT8:
    case EVALUE_UINT16:
    case EVALUE_UINT32:
    case EVALUE_UINT64:
    case EVALUE_QUINT8: evalue_text_put_u64(text, bits); break;
    case EVALUE_INT8:
    case EVALUE_INT16:
    case EVALUE_INT32:
    case EVALUE_INT64:
    case EVALUE_QINT8:
    case EVALUE_QINT32: put_signed(text, bits, size); break;
    case EVALUE_BOOL:
      if (bits > 1) evalue_text_put_u64(text, bits);
      else evalue_text_put(text, bits == 1 ? "true" : "false");
      break;
    case EVALUE_COMPLEX32:
    case EVALUE_COMPLEX64:
    case EVALUE_COMPLEX128: put_complex(text, scalar_type, element, size); break;
    case EVALUE_QUINT4X2:
    case EVALUE_QUINT2X4:
    case EVALUE_BITS1X8:
    case EVALUE_BITS2X4:
    case EVALUE_BITS4X2:
    case EVALUE_BITS8:
    case EVALUE_BITS16: put_hex(text, bits, size); break;
    default: put_component(text, scalar_type, element); break;
  }
}

size_t evalue_print_element(uint32_t scalar_type, const void *element, char *text, size_t capacity) {
  evalue_text out = evalue_text_start(text, capacity);
  if (element != NULL) evalue_text_put_element(&out, scalar_type, element);
  else evalue_text_put(&out, "?");
  return evalue_text_end(&out);
}

size_t evalue_print_double(double d, char *text, size_t capacity) {
  evalue_text out = evalue_text_start(text, capacity);
  evalue_text_put_double(&out, d);
  return evalue_text_end(&out);
}
