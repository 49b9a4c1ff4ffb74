/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the text module share; nobody else includes it. */
#ifndef EVALUE_TEXT_INTERNAL_H
#define EVALUE_TEXT_INTERNAL_H

#include "shared.h"

/* ---- text.c: a text that is being written ---- */

/* The caller's memory, and how much of it is written. After the first piece that does not fit, nothing more is. */
typedef struct evalue_text {
  char *bytes;
  size_t capacity;
  size_t written; /* without the NUL; less than capacity */
  size_t length;  /* of the whole text, whether it fits or not */
  bool cut;
} evalue_text;

/* Starts a text. With a capacity of 0, bytes may be NULL: the text is only measured. */
evalue_text evalue_text_start(char *bytes, size_t capacity);

/* Appends a piece that is written whole or not at all: a character, an escape. */
void evalue_text_piece(evalue_text *text, const char *piece, size_t nbytes);

/* Appends ASCII, which may be cut anywhere. */
void evalue_text_put(evalue_text *text, const char *ascii);

/* Appends a number in decimal. */
void evalue_text_put_u64(evalue_text *text, uint64_t number);

/* Appends a byte like \x1b. */
void evalue_text_put_hex_byte(evalue_text *text, uint8_t byte);

/* Appends bytes as they may be shown: well-formed UTF-8 as it is, the rest escaped. */
void evalue_text_put_escaped(evalue_text *text, const uint8_t *data, size_t nbytes);

/* Ends the text with a NUL and returns its length. */
size_t evalue_text_end(evalue_text *text);

/* ---- number.c ---- */

/* Appends one element of a tensor. */
void evalue_text_put_element(evalue_text *text, uint32_t scalar_type, const uint8_t *element);

/* Appends the shortest decimal that reads back as d. */
void evalue_text_put_double(evalue_text *text, double d);

/* ---- decimal.c ---- */

/* Says whether a decimal reads back as the number that is meant; `number` is what the search was started with. */
typedef bool evalue_reads_back(const evalue_decimal *decimal, const void *number);

/* Finds the shortest decimal of a positive finite value that reads back, trying `first` to `last` digits; with `last`
 * it must. */
evalue_decimal evalue_shortest(double value, int first, int last, evalue_reads_back *reads_back, const void *number);

/* Returns a decimal as a double or a float, correctly rounded. */
double evalue_decimal_to_double(const evalue_decimal *decimal);
float evalue_decimal_to_float(const evalue_decimal *decimal);

/* Appends a decimal: 0.00015 and 1234.5, but 1.5e-5 and 1e16. */
void evalue_text_put_decimal(evalue_text *text, const evalue_decimal *decimal);

#endif
