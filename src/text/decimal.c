/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binary to decimal and back, in every locale the same. libc converts; its decimal point, which is the locale's, is
 * never looked at: digits are picked out of what snprintf gives, and strtod is given digits and an exponent only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_internal.h"

/* Rounds value to `count` digits, the last of which may be '0'. */
static void round_to(evalue_decimal *decimal, double value, int count) {
  char text[48];
  snprintf(text, sizeof text, "%.*e", count - 1, value);
  const char *exponent = strchr(text, 'e');
  decimal->count = 0;
  for (const char *p = text; p < exponent; p++) {
    if (*p >= '0' && *p <= '9') decimal->digits[decimal->count++] = *p;
  }
  decimal->exponent = (int)strtol(exponent + 1, NULL, 10);
}

static void strip_zeros(evalue_decimal *decimal) {
  while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0') decimal->count--;
}

/* Adds one to the last digit. */
static void step_up(evalue_decimal *decimal) {
  int i = decimal->count - 1;
  while (i >= 0 && decimal->digits[i] == '9') decimal->digits[i--] = '0';
  if (i >= 0) {
    decimal->digits[i]++;
  } else {
    decimal->digits[0] = '1'; /* 999 has become 000 */
    decimal->exponent++;
  }
}

/* Writes a decimal so that no locale matters: an integer and an exponent. */
static void to_text(const evalue_decimal *decimal, char text[48]) {
  snprintf(text, 48, "%.*se%d", decimal->count, decimal->digits, decimal->exponent - (decimal->count - 1));
}

double evalue_decimal_to_double(const evalue_decimal *decimal) {
  char text[48];
  to_text(decimal, text);
  return strtod(text, NULL);
}

float evalue_decimal_to_float(const evalue_decimal *decimal) {
  char text[48];
  to_text(decimal, text);
  return strtof(text, NULL);
}

/*
 * With each number of digits the nearest decimal is tried, then the one above: over a power of two the numbers lie
 * twice as far apart as under it, so it can be that only the farther one, above, reads back.
 */
evalue_decimal evalue_shortest(double value, int first, int last, evalue_reads_back *reads_back, const void *number) {
  evalue_decimal decimal;
  for (int count = first;; count++) {
    round_to(&decimal, value, count);
    if (count >= last || reads_back(&decimal, number)) break;
    step_up(&decimal);
    if (reads_back(&decimal, number)) break;
  }
  strip_zeros(&decimal);
  return decimal;
}

static void put_digits(evalue_text *text, const evalue_decimal *decimal, int from, int to) {
  for (int i = from; i < to; i++) evalue_text_piece(text, i < decimal->count ? &decimal->digits[i] : "0", 1);
}

void evalue_text_put_decimal(evalue_text *text, const evalue_decimal *decimal) {
  int whole = decimal->exponent + 1; /* digits before the point */
  bool scientific = decimal->exponent < -4 || decimal->exponent >= 16;
  if (scientific) whole = 1;
  if (whole > 0) {
    put_digits(text, decimal, 0, whole);
  } else {
    evalue_text_put(text, "0");
  }
  if (decimal->count > whole) {
    evalue_text_put(text, ".");
    for (int i = whole; i < 0; i++) evalue_text_put(text, "0");
    put_digits(text, decimal, whole > 0 ? whole : 0, decimal->count);
  }
  if (scientific) {
    char exponent[16];
    snprintf(exponent, sizeof exponent, "e%d", decimal->exponent);
    evalue_text_put(text, exponent);
  }
}
