/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of one tensor, written uniformly as NumPy does: with the same number of decimals, or all with an
 * exponent. Each has the fewest digits that read back in the element's own type, and is rounded once: to 8 digits after
 * the point.
 */
#include <stdlib.h>

#include "display.h"

enum {
  MOST_DECIMALS = 8,      /* after the point */
  LARGEST_EXPONENT = 7,   /* from 1e8 on: scientific */
  SMALLEST_EXPONENT = -4, /* below 1e-4, too */
  LARGEST_RANGE = 5       /* and when fractions span more powers of ten than this */
};

/* How many components an element has. */
static int component_count(uint32_t scalar_type) {
  return evalue_component_size(scalar_type) == evalue_element_size(scalar_type) ? 1 : 2;
}

static int larger(int a, int b) {
  return a > b ? a : b;
}

/* Rounds to `count` digits, half up, which may leave none, and drops zeros at the end. */
static void round_to(evalue_decimal *n, int count) {
  if (count >= n->count) return;
  bool up = count >= 0 && n->digits[count] >= '5';
  n->count = count > 0 ? count : 0;
  while (up && n->count > 0) {
    up = n->digits[n->count - 1] == '9';
    if (up) n->count--;
    else n->digits[n->count - 1]++;
  }
  if (up) { /* 999 has become 1000 */
    n->digits[n->count++] = '1';
    n->exponent++;
  }
  while (n->count > 0 && n->digits[n->count - 1] == '0') n->count--;
}

static void add(cli_number_style *style, const evalue_real *real) {
  evalue_decimal fixed = real->whole, scientific = real->shortest;
  if (fixed.count == 0) return;
  if (!style->any || fixed.exponent > style->largest) style->largest = fixed.exponent;
  if (!style->any || fixed.exponent < style->smallest) style->smallest = fixed.exponent;
  round_to(&fixed, fixed.exponent + 1 + MOST_DECIMALS);
  round_to(&scientific, 1 + MOST_DECIMALS);
  style->decimals = larger(style->decimals, fixed.count - 1 - fixed.exponent);
  style->digits = larger(style->digits, scientific.count);
  style->any = true;
}

void cli_number_style_add(cli_number_style *style, uint32_t scalar_type, const uint8_t *element) {
  for (int i = 0; i < component_count(scalar_type); i++, element += evalue_component_size(scalar_type)) {
    evalue_real real = evalue_real_of(scalar_type, element);
    add(style, &real);
  }
}

void cli_number_style_end(cli_number_style *style) {
  if (!style->any) return;
  style->scientific = style->largest > LARGEST_EXPONENT || style->smallest < SMALLEST_EXPONENT ||
                      (style->decimals > 0 && style->largest - style->smallest > LARGEST_RANGE);
  if (style->scientific) style->decimals = style->digits - 1;
}

/* Appends digits from..to of a number, zeros where it has none. */
static char *put_digits(char *p, const evalue_decimal *n, int from, int to) {
  for (int i = from; i < to; i++) *p++ = (char)(i >= 0 && i < n->count ? n->digits[i] : '0');
  return p;
}

/* Appends a finite number without its sign. One that is too large for the style, because the input has changed since,
 * has an exponent. */
static char *put_finite(char *p, const cli_number_style *style, const evalue_real *real) {
  bool scientific = style->scientific || real->whole.exponent > LARGEST_EXPONENT;
  evalue_decimal n = scientific ? real->shortest : real->whole;
  round_to(&n, style->decimals + 1 + (scientific ? 0 : n.exponent));
  if (n.count == 0) n.exponent = 0;
  int whole = scientific ? 1 : n.exponent + 1;
  p = whole > 0 ? put_digits(p, &n, 0, whole) : put_digits(p, &n, -1, 0);
  if (style->decimals > 0) {
    *p++ = '.';
    p = put_digits(p, &n, whole, whole + style->decimals);
  }
  if (scientific) p += sprintf(p, "e%c%02d", n.exponent < 0 ? '-' : '+', abs(n.exponent));
  return p;
}

static char *put_real(char *p, const cli_number_style *style, const evalue_real *real, bool with_plus) {
  if (real->is_negative) *p++ = '-';
  else if (with_plus) *p++ = '+';
  if (!real->is_nan && !real->is_inf) return put_finite(p, style, real);
  for (const char *word = real->is_nan ? "nan" : "inf"; *word != '\0'; word++) *p++ = *word;
  return p;
}

void cli_number_format(const cli_number_style *style, uint32_t scalar_type, const uint8_t *element,
                       char out[CLI_NUMBER_SIZE]) {
  char *p = out;
  int count = component_count(scalar_type);
  for (int i = 0; i < count; i++, element += evalue_component_size(scalar_type)) {
    evalue_real real = evalue_real_of(scalar_type, element);
    p = put_real(p, style, &real, i > 0);
  }
  if (count > 1) *p++ = 'j';
  *p = '\0';
}
