/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text: known ones; then, for all or many bit patterns, that they read back and that nothing shorter does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalue/inline.h"
#include "evalue/text.h"

enum { SIZE = 64 };

static void print_bits(uint32_t scalar_type, uint64_t bits, char text[SIZE]) {
  uint8_t element[16] = {0};
  evalue_store_u64(element, bits);
  size_t length = evalue_print_element(scalar_type, element, text, SIZE);
  assert_int_equal(length, strlen(text));
}

static void expect_bits(uint32_t scalar_type, uint64_t bits, const char *expected) {
  char text[SIZE];
  print_bits(scalar_type, bits, text);
  assert_string_equal(text, expected);
}

static void expect_double(double d, const char *expected) {
  char text[SIZE];
  assert_int_equal(evalue_print_double(d, text, sizeof text), strlen(expected));
  assert_string_equal(text, expected);
}

/* ---- known numbers ---- */

static void test_doubles(void **state) {
  (void)state;
  expect_double(0.0, "0");
  expect_double(-0.0, "-0");
  expect_double(1.0, "1");
  expect_double(-2.5, "-2.5");
  expect_double(0.1, "0.1");
  expect_double(1.0 / 3, "0.3333333333333333");
  expect_double(0.30000000000000004, "0.30000000000000004"); /* not 0.1 + 0.2, which has excess precision on x87 */
  expect_double(100.0, "100");
  expect_double(123456.789, "123456.789");
  expect_double(0.0001, "0.0001");
  expect_double(0.00015, "0.00015");
  expect_double(0.00001, "1e-5");
  expect_double(9007199254740993.0, "9007199254740992");
  expect_double(9999999999999998.0, "9999999999999998");
  expect_double(1e16, "1e16");
  expect_double(1.25e300, "1.25e300");
  expect_double(1.7976931348623157e308, "1.7976931348623157e308");
  expect_double(2.2250738585072014e-308, "2.2250738585072014e-308");
  expect_double(5e-324, "5e-324");
  expect_double(5e-323, "5e-323");
  expect_double(HUGE_VAL, "inf");
  expect_double(-HUGE_VAL, "-inf");
  expect_double((double)NAN, "nan");
}

/* Over a power of two the shortest decimal can be one that is not the nearest of its length. */
static void test_powers_of_two(void **state) {
  (void)state;
  expect_double(ldexp(1, -44), "5.684341886080802e-14");
  expect_double(ldexp(1, -1017), "7.120236347223045e-307");
  expect_bits(EVALUE_FLOAT32, 0x0f800000, "1.2621775e-29"); /* 2^-96 */
  expect_bits(EVALUE_FLOAT32, 0x6b000000, "1.5474251e26");  /* 2^87 */
}

static void test_float32(void **state) {
  (void)state;
  expect_bits(EVALUE_FLOAT32, 0x3dcccccd, "0.1");
  expect_bits(EVALUE_FLOAT32, 0x3eaaaaab, "0.33333334");
  expect_bits(EVALUE_FLOAT32, 0x4b800000, "16777216");
  expect_bits(EVALUE_FLOAT32, 0x7f7fffff, "3.4028235e38");
  expect_bits(EVALUE_FLOAT32, 0x00000001, "1e-45");
  expect_bits(EVALUE_FLOAT32, 0x00800000, "1.1754944e-38");
  expect_bits(EVALUE_FLOAT32, 0x80000000, "-0");
  expect_bits(EVALUE_FLOAT32, 0xff800000, "-inf");
  expect_bits(EVALUE_FLOAT32, 0xffc12345, "nan");
}

static void test_narrow(void **state) {
  (void)state;
  expect_bits(EVALUE_FLOAT16, 0x3c00, "1");
  expect_bits(EVALUE_FLOAT16, 0x2e66, "0.1");
  expect_bits(EVALUE_FLOAT16, 0x7bff, "65504");
  expect_bits(EVALUE_FLOAT16, 0x0001, "6e-8");
  expect_bits(EVALUE_FLOAT16, 0xfc00, "-inf");
  expect_bits(EVALUE_FLOAT16, 0x7c01, "nan");
  expect_bits(EVALUE_BFLOAT16, 0x3f80, "1");
  expect_bits(EVALUE_BFLOAT16, 0x4049, "3.14");
  expect_bits(EVALUE_BFLOAT16, 0x7f7f, "3.39e38");
  expect_bits(EVALUE_BFLOAT16, 0x7f80, "inf");
  expect_bits(EVALUE_FLOAT8_E5M2, 0x7b, "57344");
  expect_bits(EVALUE_FLOAT8_E5M2, 0x7c, "inf");
  expect_bits(EVALUE_FLOAT8_E5M2, 0xfd, "nan");
  expect_bits(EVALUE_FLOAT8_E5M2, 0x80, "-0");
  expect_bits(EVALUE_FLOAT8_E4M3FN, 0x7e, "448");
  expect_bits(EVALUE_FLOAT8_E4M3FN, 0x7f, "nan");
  expect_bits(EVALUE_FLOAT8_E4M3FN, 0xff, "nan");
  expect_bits(EVALUE_FLOAT8_E4M3FN, 0x01, "0.002");
  expect_bits(EVALUE_FLOAT8_E5M2FNUZ, 0x7f, "57344");
  expect_bits(EVALUE_FLOAT8_E5M2FNUZ, 0x80, "nan");
  expect_bits(EVALUE_FLOAT8_E4M3FNUZ, 0x7f, "240");
  expect_bits(EVALUE_FLOAT8_E4M3FNUZ, 0xff, "-240");
  expect_bits(EVALUE_FLOAT8_E4M3FNUZ, 0x80, "nan");
}

static void test_integers(void **state) {
  (void)state;
  expect_bits(EVALUE_UINT8, 255, "255");
  expect_bits(EVALUE_INT8, 0x80, "-128");
  expect_bits(EVALUE_INT16, 0xffff, "-1");
  expect_bits(EVALUE_INT32, 0x80000000, "-2147483648");
  expect_bits(EVALUE_INT64, UINT64_C(0x8000000000000000), "-9223372036854775808");
  expect_bits(EVALUE_INT64, UINT64_C(0x7fffffffffffffff), "9223372036854775807");
  expect_bits(EVALUE_UINT16, 0xffff, "65535");
  expect_bits(EVALUE_UINT32, 0xffffffff, "4294967295");
  expect_bits(EVALUE_UINT64, UINT64_MAX, "18446744073709551615");
  expect_bits(EVALUE_QINT8, 0xff, "-1");
  expect_bits(EVALUE_QUINT8, 0xff, "255");
  expect_bits(EVALUE_QINT32, 0xfffffffe, "-2");
}

static void test_other_types(void **state) {
  (void)state;
  static const uint8_t complex64[8] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}, half[4] = {0, 0x3c, 0, 0x7e};
  char text[SIZE];
  expect_bits(EVALUE_BOOL, 0, "false");
  expect_bits(EVALUE_BOOL, 1, "true");
  expect_bits(EVALUE_BOOL, 2, "2");
  expect_bits(EVALUE_BITS8, 0x0f, "0x0f");
  expect_bits(EVALUE_BITS16, 0x0abc, "0x0abc");
  expect_bits(EVALUE_QUINT4X2, 0xf0, "0xf0");
  expect_bits(EVALUE_BITS1X8, 0, "0x00");
  expect_bits(30, 0, "?");
  expect_bits(255, 0, "?");
  evalue_print_element(EVALUE_COMPLEX64, complex64, text, sizeof text);
  assert_string_equal(text, "1-2j");
  evalue_print_element(EVALUE_COMPLEX32, half, text, sizeof text);
  assert_string_equal(text, "1+nanj");
  uint8_t complex128[16] = {0};
  complex128[15] = 0x80;
  evalue_print_element(EVALUE_COMPLEX128, complex128, text, sizeof text);
  assert_string_equal(text, "0-0j");
}

/* Every capacity gives a beginning of the text, terminated, and nothing after it. */
static void test_capacity(void **state) {
  (void)state;
  static const char whole[] = "-1.25e-7";
  for (size_t capacity = 0; capacity < sizeof whole + 2; capacity++) {
    char text[SIZE];
    memset(text, '#', sizeof text);
    assert_int_equal(evalue_print_double(-1.25e-7, capacity != 0 ? text : NULL, capacity), strlen(whole));
    size_t written = capacity == 0 ? 0 : capacity <= strlen(whole) ? capacity - 1 : strlen(whole);
    assert_memory_equal(text, whole, written);
    if (capacity != 0) assert_int_equal(text[written], 0);
    assert_int_equal(text[capacity != 0 ? written + 1 : 0], '#');
  }
}

/* ---- reading back ---- */

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Significant digits of a number's text, zeros at the end not counted. */
static int digits_of(const char *text) {
  int count = 0, zeros = 0;
  for (; *text != '\0' && *text != 'e'; text++) {
    if (*text < '0' || *text > '9' || (count == 0 && *text == '0')) continue;
    zeros = *text == '0' ? zeros + 1 : 0;
    count++;
  }
  return count - zeros;
}

static void test_doubles_read_back(void **state) {
  (void)state;
  uint64_t random = 1;
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = i % 4 == 0 ? (uint64_t)(i % 2047) << 52 : next_random(&random) >> (i % 4 == 1 ? 12 + i % 50 : 0);
    char text[SIZE], shorter[SIZE];
    double d, back;
    memcpy(&d, &bits, sizeof d);
    if (!isfinite(d)) continue;
    print_bits(EVALUE_FLOAT64, bits, text);
    back = strtod(text, NULL);
    assert_memory_equal(&back, &d, sizeof d);
    int digits = digits_of(text);
    if (fabs(d) < 1e16 && d == floor(d)) continue;
    assert_in_range(digits, 1, 17);
    if (digits == 1) continue;
    snprintf(shorter, sizeof shorter, "%.*e", digits - 2, d);
    assert_true(strtod(shorter, NULL) != d);
  }
}

static void test_floats_read_back(void **state) {
  (void)state;
  uint64_t random = 2;
  for (int i = 0; i < 20000; i++) {
    uint32_t bits =
        i % 4 == 0 ? (uint32_t)(i % 255) << 23 : (uint32_t)next_random(&random) >> (i % 4 == 1 ? 9 + i % 22 : 0);
    char text[SIZE], shorter[SIZE];
    float f, back;
    memcpy(&f, &bits, sizeof f);
    if (!isfinite(f)) continue;
    print_bits(EVALUE_FLOAT32, bits, text);
    back = strtof(text, NULL);
    assert_memory_equal(&back, &f, sizeof f);
    int digits = digits_of(text);
    if (fabsf(f) < 1e16f && f == floorf(f)) continue;
    assert_in_range(digits, 1, 9);
    if (digits == 1) continue;
    snprintf(shorter, sizeof shorter, "%.*e", digits - 2, (double)f);
    assert_true(strtof(shorter, NULL) != f);
  }
}

/* A narrow type, decoded in another way than the library does. */
typedef struct narrow {
  uint32_t scalar_type;
  int exponent_bits, mantissa_bits, bias;
  bool has_inf, has_negative_zero;
} narrow;

static double narrow_value(const narrow *n, uint32_t bits) {
  uint32_t sign = 1U << (n->exponent_bits + n->mantissa_bits), magnitude = bits & (sign - 1);
  int exponent = (int)(magnitude >> n->mantissa_bits);
  double fraction = ldexp((double)(magnitude % (1U << n->mantissa_bits)), -n->mantissa_bits);
  double value = exponent == 0 ? ldexp(fraction, 1 - n->bias) : ldexp(1 + fraction, exponent - n->bias);
  if (n->has_inf && exponent == (1 << n->exponent_bits) - 1) value = fraction > 0 ? (double)NAN : HUGE_VAL;
  if (!n->has_inf && n->has_negative_zero && magnitude == sign - 1) value = (double)NAN;
  if (!n->has_negative_zero && bits == sign) value = (double)NAN;
  return bits & sign ? -value : value;
}

/* Says whether a decimal is rounded to these positive bits; the number after the largest is where it would be if there
 * were one. */
static bool narrow_reads_back(const narrow *n, uint32_t bits, double decimal) {
  double value = narrow_value(n, bits), below = bits == 0 ? value : narrow_value(n, bits - 1),
         above = narrow_value(n, bits + 1);
  if (!isfinite(above) || above < value) above = 2 * value - below;
  double down = value - (value - below) / 2, up = value + (above - value) / 2;
  return bits % 2 == 0 ? decimal >= down && decimal <= up : decimal > down && decimal < up;
}

static void check_narrow(const narrow *n, uint32_t bits) {
  char text[SIZE], shorter[SIZE];
  double value = narrow_value(n, bits);
  print_bits(n->scalar_type, bits, text);
  if (isnan(value)) {
    assert_string_equal(text, "nan");
    return;
  }
  assert_int_equal(text[0] == '-', signbit(value) != 0);
  if (isinf(value)) {
    assert_string_equal(text, value < 0 ? "-inf" : "inf");
    return;
  }
  uint32_t magnitude = bits & ((1U << (n->exponent_bits + n->mantissa_bits)) - 1);
  double back = fabs(strtod(text, NULL));
  assert_true(narrow_reads_back(n, magnitude, back));
  int digits = digits_of(text);
  if (value == floor(value) && fabs(value) < 1e16) {
    assert_true(back == fabs(value));
  } else if (digits > 1) {
    snprintf(shorter, sizeof shorter, "%.*e", digits - 2, fabs(value));
    assert_false(narrow_reads_back(n, magnitude, strtod(shorter, NULL)));
  }
}

static void test_narrow_read_back(void **state) {
  (void)state;
  static const narrow types[] = {
      {EVALUE_FLOAT16, 5, 10, 15, true, true},          {EVALUE_BFLOAT16, 8, 7, 127, true, true},
      {EVALUE_FLOAT8_E5M2, 5, 2, 15, true, true},       {EVALUE_FLOAT8_E4M3FN, 4, 3, 7, false, true},
      {EVALUE_FLOAT8_E5M2FNUZ, 5, 2, 16, false, false}, {EVALUE_FLOAT8_E4M3FNUZ, 4, 3, 8, false, false},
  };
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    uint32_t count = 2U << (types[i].exponent_bits + types[i].mantissa_bits);
    for (uint32_t bits = 0; bits < count; bits++) check_narrow(&types[i], bits);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_doubles),          cmocka_unit_test(test_powers_of_two),
      cmocka_unit_test(test_float32),          cmocka_unit_test(test_narrow),
      cmocka_unit_test(test_integers),         cmocka_unit_test(test_other_types),
      cmocka_unit_test(test_capacity),         cmocka_unit_test(test_doubles_read_back),
      cmocka_unit_test(test_floats_read_back), cmocka_unit_test(test_narrow_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
