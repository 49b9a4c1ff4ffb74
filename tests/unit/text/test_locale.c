/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text is the same in every locale. The locale that this needs may not be installed, so libc's number functions are
 * replaced by ones that behave as in a locale whose decimal point is a comma, of two bytes at that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int foreign_snprintf(char *text, size_t capacity, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int foreign_snprintf(char *text, size_t capacity, const char *format, ...) {
  char plain[200];
  va_list list;
  va_start(list, format);
  int length = vsnprintf(plain, sizeof plain, format, list);
  va_end(list);
  size_t n = 0;
  for (const char *p = plain; *p != '\0'; p++) {
    bool is_point = *p == '.';
    for (int i = 0; i < (is_point ? 2 : 1); i++) {
      if (n + 1 < capacity) text[n++] = is_point ? ',' : *p;
    }
  }
  if (capacity != 0) text[n] = '\0';
  return length;
}

/* Stops at a point, as strtod does where that is no decimal point. */
static double foreign_strtod(const char *text, char **end) {
  char plain[200];
  size_t n = strcspn(text, ".");
  assert_true(n < sizeof plain);
  memcpy(plain, text, n);
  plain[n] = '\0';
  assert_null(end);
  return strtod(plain, NULL);
}

static float foreign_strtof(const char *text, char **end) {
  char plain[200];
  size_t n = strcspn(text, ".");
  assert_true(n < sizeof plain);
  memcpy(plain, text, n);
  plain[n] = '\0';
  assert_null(end);
  return strtof(plain, NULL);
}

#define snprintf foreign_snprintf
#define strtod   foreign_strtod
#define strtof   foreign_strtof
#include "../../../src/text/decimal.c"
#include "../../../src/text/number.c"
#include "../../../src/text/utf8.c"
#undef snprintf
#undef strtod
#undef strtof

static void expect(double d, const char *expected) {
  char text[64];
  evalue_print_double(d, text, sizeof text);
  assert_string_equal(text, expected);
}

static void check_numbers(void) {
  static const uint8_t third[4] = {0xab, 0xaa, 0xaa, 0x3e}, half_tenth[2] = {0x66, 0x2e};
  char text[64];
  expect(0.1, "0.1");
  expect(1234.5, "1234.5");
  expect(1.0 / 3, "0.3333333333333333");
  expect(1.7976931348623157e308, "1.7976931348623157e308");
  expect(5e-324, "5e-324");
  expect(1000000, "1000000");
  evalue_print_element(EVALUE_FLOAT32, third, text, sizeof text);
  assert_string_equal(text, "0.33333334");
  evalue_print_element(EVALUE_FLOAT16, half_tenth, text, sizeof text);
  assert_string_equal(text, "0.1");
}

static void test_a_foreign_point(void **state) {
  (void)state;
  char text[16];
  foreign_snprintf(text, sizeof text, "%.1f", 1.5);
  assert_string_equal(text, "1,,5");
  check_numbers();
}

/* Skipped where none of these is installed: a locale with a point shows nothing. */
static void test_real_locales(void **state) {
  (void)state;
  int with_a_comma = 0;
  static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "hi_IN.UTF-8", "fa_IR.UTF-8", "ps_AF.UTF-8"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (setlocale(LC_ALL, names[i]) == NULL) continue;
    if (strcmp(localeconv()->decimal_point, ".") != 0) with_a_comma++;
    check_numbers();
  }
  setlocale(LC_ALL, "C");
  if (with_a_comma == 0) skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_foreign_point), cmocka_unit_test(test_real_locales)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
