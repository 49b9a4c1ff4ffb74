/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Values and errors as text for people. Needs libc's stdio; not part of the core.
 *
 *     char line[160];
 *     evalue_print(&v, line, sizeof line);      // Tensor float32 [2, 3] [[0, 1, 2], [3, 4, 5]]
 *
 * Every function writes at most capacity bytes with the terminating NUL, like snprintf, and returns the length that the whole text has, so a result of capacity or
 * more means that it was cut. The text is ASCII and UTF-8 without control characters, whatever the value holds, never cut inside a character, and the same in every locale.
 */
#ifndef EVALUE_TEXT_H
#define EVALUE_TEXT_H

#include "evalue/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Prints a value on one line: kind, and what it holds; a long string or tensor is summarised. A value that evalue_check refuses is printed as "invalid". */
EVALUE_API size_t evalue_print(const evalue *value, char *text, size_t capacity);

/** Prints an error: where, status, what, expected and found. An error without a fault is printed as its status. */
EVALUE_API size_t evalue_print_error(const evalue_error *error, char *text, size_t capacity);

/**
 * Prints one element of a tensor as a number, the shortest that reads back as the same bits in the element's type; element must point at evalue_element_size(scalar_type) bytes in the
 * order of the wire. bits and packed types are printed in hex. An unknown scalar type prints "?".
 */
EVALUE_API size_t evalue_print_element(uint32_t scalar_type, const void *element, char *text, size_t capacity);

/** Prints a double: the shortest decimal that reads back as the same number; "nan", "inf", "-inf", "-0". */
EVALUE_API size_t evalue_print_double(double d, char *text, size_t capacity);

/** Prints bytes as a quoted string: well-formed UTF-8 as it is; control characters, quotes, backslashes and all other bytes as \n, \", \\, \x1b. */
EVALUE_API size_t evalue_print_string(const void *data, size_t nbytes, char *text, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
