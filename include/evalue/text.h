/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Values and errors as text for people. Needs libc's stdio; not part of the core.
 *
 *     char line[160];
 *     evalue_print(&v, line, sizeof line);      // Tensor float32 [2, 3] [[0, 1, 2], [3, 4, 5]]
 *
 * Every function writes at most capacity bytes with the terminating NUL, like snprintf, and returns the length that the
 * whole text has, so a result of capacity or more means that it was cut. The text is ASCII and UTF-8 without control
 * characters, whatever the value holds, never cut inside a character, and the same in every locale. With a capacity of
 * 0, text may be NULL. Nothing is allocated.
 */
#ifndef EVALUE_TEXT_H
#define EVALUE_TEXT_H

#include "evalue/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Prints a value on one line: kind, and what it holds; a long string or tensor is summarised. A value that
 * evalue_check refuses is printed as "invalid".
 */
EVALUE_API size_t evalue_print(const evalue *value, char *text, size_t capacity);

/**
 * Prints an error: "offset 42: value 3: malformed: length: the length is not the one that the tag has: expected 8,
 * found 9". Without "value 3" when it belongs to no value; an error without a fault is printed as its status. A wrong
 * magic is printed as four bytes; an input of fewer has zeros in their place.
 */
EVALUE_API size_t evalue_print_error(const evalue_error *error, char *text, size_t capacity);

/**
 * Prints one element of a tensor as a number that reads back as the same bits in the element's type, except that every
 * NaN reads back as some NaN. element must point at evalue_element_size(scalar_type) bytes in the order of the wire.
 *
 * Fractions have as few digits as possible, and whole numbers below 10^16 all of theirs: 0.1, 65504, 1.5e-5. Others:
 * "nan" for every NaN, "inf", "-inf", "-0"; complex numbers are like "1+2j"; a bool is "true", "false", or the number
 * that its byte holds; bits and packed types are in hex, like 0x0f. An unknown scalar type prints "?".
 */
EVALUE_API size_t evalue_print_element(uint32_t scalar_type, const void *element, char *text, size_t capacity);

/** Prints a double, as evalue_print_element does. */
EVALUE_API size_t evalue_print_double(double d, char *text, size_t capacity);

/**
 * Prints bytes as a quoted string: well-formed UTF-8 as it is; quotes, backslashes, and all other bytes as \", \\, \t,
 * \n, \r, \x1b. Controls are escaped, too: C0, C1, line separators, and the marks that reorder text.
 */
EVALUE_API size_t evalue_print_string(const void *data, size_t nbytes, char *text, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
