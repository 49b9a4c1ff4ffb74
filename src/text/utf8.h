/* SPDX-License-Identifier: BSD-3-Clause */
/* Characters in bytes. Depends on the core alone; the text module, src/executorch and the command use it. */
#ifndef EVALUE_TEXT_UTF8_H
#define EVALUE_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the well-formed character at p; returns its size in bytes, or 0 when there is none. left is at least 1. */
size_t evalue_utf8_decode(const uint8_t *p, size_t left, uint32_t *code);

/* Returns how many of the bytes, from the first on, are well-formed characters: nbytes when all are. */
size_t evalue_utf8_prefix(const uint8_t *bytes, size_t nbytes);

/* Controls, line separators, and the marks that reorder text: what makes a terminal show something else than what is
 * there. */
bool evalue_is_control(uint32_t code);

#endif
