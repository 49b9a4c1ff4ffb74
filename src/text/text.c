/* SPDX-License-Identifier: BSD-3-Clause */
/* A text in the caller's memory that is never cut inside a character, and bytes as a terminal can bear them. */
#include <string.h>

#include "evalue/text.h"
#include "text_internal.h"

evalue_text evalue_text_start(char *bytes, size_t capacity) {
  evalue_text text = {.capacity = bytes != NULL ? capacity : 0};
  text.bytes = bytes;
  return text;
}

void evalue_text_piece(evalue_text *text, const char *piece, size_t nbytes) {
  size_t room = text->capacity - text->written; /* one byte of it is for the NUL */
  if (text->cut || nbytes >= room) {
    text->cut = true;
  } else {
    memcpy(text->bytes + text->written, piece, nbytes);
    text->written += nbytes;
  }
  /* Escaped, a string can be longer than the memory of a 32-bit host: the length stays at its largest. */
  text->length = nbytes > SIZE_MAX - text->length ? SIZE_MAX : text->length + nbytes;
}

void evalue_text_put(evalue_text *text, const char *ascii) {
  for (; *ascii != '\0'; ascii++) evalue_text_piece(text, ascii, 1);
}

void evalue_text_put_u64(evalue_text *text, uint64_t number) {
  char digits[24];
  size_t i = sizeof digits - 1;
  digits[i] = '\0';
  do {
    digits[--i] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  evalue_text_put(text, digits + i);
}

size_t evalue_text_end(evalue_text *text) {
  if (text->capacity != 0) text->bytes[text->written] = '\0';
  return text->length;
}

/* ---- bytes of anyone ---- */

void evalue_text_put_hex_byte(evalue_text *text, uint8_t byte) {
  static const char hex[] = "0123456789abcdef";
  char escape[4] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
  evalue_text_piece(text, escape, sizeof escape);
}

/* The few escapes that everybody knows; among other bytes, hex is easier to read than \b. */
static void put_escaped_byte(evalue_text *text, uint8_t byte) {
  switch (byte) {
    case '\t': evalue_text_piece(text, "\\t", 2); break;
    case '\n': evalue_text_piece(text, "\\n", 2); break;
    case '\r': evalue_text_piece(text, "\\r", 2); break;
    case '"': evalue_text_piece(text, "\\\"", 2); break;
    case '\\': evalue_text_piece(text, "\\\\", 2); break;
    default: evalue_text_put_hex_byte(text, byte); break;
  }
}

void evalue_text_put_escaped(evalue_text *text, const uint8_t *data, size_t nbytes) {
  size_t i = 0;
  while (i < nbytes) {
    char character[4];
    uint32_t code = 0;
    size_t size = evalue_utf8_decode(data + i, nbytes - i, &code);
    if (size == 0 || evalue_is_control(code) || code == '"' || code == '\\') {
      size = size == 0 ? 1 : size;
      for (size_t k = 0; k < size; k++) put_escaped_byte(text, data[i + k]);
    } else {
      memcpy(character, data + i, size);
      evalue_text_piece(text, character, size);
    }
    i += size;
  }
}

size_t evalue_print_string(const void *data, size_t nbytes, char *text, size_t capacity) {
  evalue_text out = evalue_text_start(text, capacity);
  evalue_text_put(&out, "\"");
  if (data != NULL) evalue_text_put_escaped(&out, data, nbytes);
  evalue_text_put(&out, "\"");
  return evalue_text_end(&out);
}
