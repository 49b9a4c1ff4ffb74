/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of one tensor, written uniformly as NumPy does: the same number of decimals, or all with an exponent.
 * Works on the shortest decimals of evalue_print_element, so no locale and no second rounding of the binary number
 * matters.
 */
#include <stdlib.h>
#include <string.h>

#include "display.h"

enum {
  MOST_DIGITS = 8,        /* significant ones, of a number */
  LARGEST_EXPONENT = 7,   /* from 1e8 on: scientific */
  SMALLEST_EXPONENT = -4, /* below 1e-4, too */
  LARGEST_RANGE = 5       /* and when fractions span more powers of ten than this */
};

/* d1.d2... x 10^exponent; no digits: zero. */
typedef struct number {
  bool negative;
  const char *word; /* "nan", "inf", or NULL */
  char digits[24];
  int count;
  int exponent;
} number;

/* Rounds to count digits, half up, and drops zeros at the end. */
static void round_to(number *n, int count) {
  if (count < n->count) {
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
  }
  while (n->count > 0 && n->digits[n->count - 1] == '0') n->count--;
}

/* Parses size characters of what evalue_print_element wrote. */
static number parse(const char *text, size_t size) {
  number n = {.negative = size > 0 && text[0] == '-'};
  size_t i = size > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  bool point = false;
  int whole = 0;
  if (i < size && (text[i] == 'n' || text[i] == 'i')) n.word = text[i] == 'n' ? "nan" : "inf";
  for (; n.word == NULL && i < size && text[i] != 'e'; i++) {
    if (text[i] == '.') point = true;
    if (text[i] < '0' || text[i] > '9') continue;
    bool leading_zero = n.count == 0 && text[i] == '0';
    if (!leading_zero && n.count < (int)sizeof n.digits) n.digits[n.count++] = text[i];
    if (!point && !leading_zero) whole++;
    if (point && leading_zero) whole--;
  }
  n.exponent = whole - 1;
  if (n.word == NULL && i < size) n.exponent += (int)strtol(text + i + 1, NULL, 10);
  round_to(&n, MOST_DIGITS);
  return n;
}

/* The size of the real part of a complex number; of another, all of it. */
static size_t real_size(const char *text) {
  size_t size = strlen(text);
  if (size == 0 || text[size - 1] != 'j') return size;
  for (size_t i = size - 1; i > 0; i--) {
    if ((text[i] == '+' || text[i] == '-') && text[i - 1] != 'e') return i;
  }
  return size;
}

static void add(cli_number_style *style, const number *n) {
  if (n->word != NULL || n->count == 0) return;
  int decimals = n->count - 1 - n->exponent;
  if (!style->any || n->exponent > style->largest) style->largest = n->exponent;
  if (!style->any || n->exponent < style->smallest) style->smallest = n->exponent;
  if (decimals > style->decimals) style->decimals = decimals;
  if (n->count > style->digits) style->digits = n->count;
  if (decimals > 0) style->fractions = true;
  style->any = true;
}

void cli_number_style_add(cli_number_style *style, const char *text) {
  size_t size = strlen(text), real = real_size(text);
  number n = parse(text, real);
  add(style, &n);
  if (real == size) return;
  n = parse(text + real, size - 1 - real); /* without the j */
  add(style, &n);
}

void cli_number_style_end(cli_number_style *style) {
  if (!style->any) return;
  style->scientific = style->largest > LARGEST_EXPONENT || style->smallest < SMALLEST_EXPONENT ||
                      (style->fractions && style->largest - style->smallest > LARGEST_RANGE);
  int whole = style->largest > 0 ? style->largest + 1 : 1;
  int most = style->scientific ? style->digits - 1 : MOST_DIGITS - whole;
  if (style->scientific || style->decimals > most) style->decimals = most;
  if (style->decimals < 0) style->decimals = 0;
}

/* Appends digits from..to of a number, zeros where it has none. */
static char *put_digits(char *p, const number *n, int from, int to) {
  for (int i = from; i < to; i++) *p++ = (char)(i >= 0 && i < n->count ? n->digits[i] : '0');
  return p;
}

/* Appends a number. One that is too large for the style, because the input has changed since, has an exponent. */
static char *put_number(char *p, const cli_number_style *style, number n, bool with_plus) {
  bool scientific = style->scientific || n.exponent > LARGEST_EXPONENT;
  if (n.word == NULL) round_to(&n, style->decimals + 1 + (scientific ? 0 : n.exponent));
  if (n.negative && (n.word == NULL || n.word[0] == 'i')) *p++ = '-';
  else if (with_plus) *p++ = '+';
  if (n.word != NULL) {
    memcpy(p, n.word, 3);
    return p + 3;
  }
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

void cli_number_format(const cli_number_style *style, const char *text, char out[CLI_NUMBER_SIZE]) {
  size_t size = strlen(text), real = real_size(text);
  char *p = put_number(out, style, parse(text, real), false);
  if (real != size) {
    p = put_number(p, style, parse(text + real, size - 1 - real), true);
    *p++ = 'j';
  }
  *p = '\0';
}
