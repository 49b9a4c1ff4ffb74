/* SPDX-License-Identifier: BSD-3-Clause */
/* What the text module shares with the `evalue` command, and with nobody else. */
#ifndef EVALUE_TEXT_SHARED_H
#define EVALUE_TEXT_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evalue/value.h"
#include "utf8.h"

/* ---- decimal.c, number.c: digits ---- */

/* A positive number in decimal: digits d1 d2 ... mean d1.d2... times 10^exponent. */
typedef struct evalue_decimal {
  char digits[20]; /* '0' to '9', the last not '0'; not terminated */
  int count;       /* 0: the number is zero */
  int exponent;
} evalue_decimal;

/* A component of a floating-point or complex type. */
typedef struct evalue_real {
  evalue_decimal shortest; /* the fewest digits that read back as the same bits, of its magnitude */
  evalue_decimal whole;    /* the same, but of a whole number below 10^16 all of its digits */
  bool is_negative;
  bool is_nan, is_inf; /* then there are no digits */
} evalue_real;

/* Says whether a scalar type's components are such. */
bool evalue_is_real_type(uint32_t scalar_type);

/* Finds the digits of the component at p, which is in the order of the wire. */
evalue_real evalue_real_of(uint32_t scalar_type, const uint8_t *p);

/* ---- error.c ---- */

/* evalue_print_error for one who knows the size of the input: of a wrong magic it prints the bytes that are there. */
size_t evalue_print_error_of(const evalue_error *error, uint64_t input_size, char *text, size_t capacity);

/* The end of that, behind place, status and field: what is wrong, expected and found. */
size_t evalue_print_explanation_of(const evalue_error *error, uint64_t input_size, char *text, size_t capacity);

/* ---- print.c ---- */

/* Says whether the dim_order is 0, 1, 2 and so on. (A tensor can be contiguous without it:
 * evalue_tensor_is_contiguous.)
 */
bool evalue_is_row_major(const evalue_tensor *tensor);

#endif
