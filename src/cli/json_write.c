/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as JSON Lines. All is streamed: neither hex nor a string is ever held whole. */
#include <math.h>
#include <string.h>

#include "../text/shared.h"
#include "cli.h"

static void put_hex(FILE *stream, const uint8_t *data, size_t size) {
  static const char digits[] = "0123456789abcdef";
  char text[8192];
  while (size > 0) {
    size_t part = size < sizeof text / 2 ? size : sizeof text / 2;
    for (size_t i = 0; i < part; i++) {
      text[2 * i] = digits[data[i] >> 4];
      text[2 * i + 1] = digits[data[i] & 15];
    }
    fwrite(text, 1, 2 * part, stream);
    data += part;
    size -= part;
  }
}

/*
 * Writes a character of a JSON string. JSON lets DEL, the C1 controls and the marks that reorder text stand as they
 * are, but a terminal would obey them; all of them have four hex digits.
 */
static void put_character(FILE *stream, const uint8_t *p, size_t size, uint32_t code) {
  if (code == '"' || code == '\\') {
    putc('\\', stream);
    putc((int)code, stream);
  } else if (evalue_is_control(code)) {
    fprintf(stream, "\\u%04x", (unsigned)code);
  } else {
    fwrite(p, 1, size, stream);
  }
}

static bool is_utf8(const uint8_t *p, size_t size) {
  uint32_t code;
  for (size_t i = 0, n; i < size; i += n) {
    n = evalue_utf8_decode(p + i, size - i, &code);
    if (n == 0) return false;
  }
  return true;
}

static void put_string(FILE *stream, const evalue_string *string) {
  const uint8_t *p = (const uint8_t *)string->data;
  uint32_t code = 0;
  fputs("{\"kind\":\"string\",\"bytes_hex\":\"", stream);
  put_hex(stream, p, string->nbytes);
  putc('"', stream);
  if (is_utf8(p, string->nbytes)) {
    fputs(",\"string\":\"", stream);
    for (size_t i = 0, n; i < string->nbytes; i += n) {
      n = evalue_utf8_decode(p + i, string->nbytes - i, &code);
      if (n == 0) break; /* the input has changed since */
      put_character(stream, p + i, n, code);
    }
    putc('"', stream);
  }
  putc('}', stream);
}

/* With a point or an exponent, so that no program takes it for an integer, and -0.0 for 0. */
static void put_double(FILE *stream, double d) {
  uint64_t bits;
  char text[40];
  memcpy(&bits, &d, sizeof bits);
  fprintf(stream, "{\"kind\":\"double\",\"bits_hex\":\"%016llx\"", (unsigned long long)bits);
  if (isfinite(d)) {
    evalue_print_double(d, text, sizeof text);
    fprintf(stream, ",\"double\":%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
  }
  putc('}', stream);
}

static void put_tensor(FILE *stream, const evalue_tensor *tensor) {
  fprintf(stream, "{\"kind\":\"tensor\",\"scalar_type\":\"%s\",\"sizes\":[",
          evalue_scalar_type_name(tensor->scalar_type));
  for (uint32_t d = 0; d < tensor->ndim; d++) fprintf(stream, d == 0 ? "%d" : ",%d", (int)tensor->sizes[d]);
  fputs("],\"dim_order\":[", stream);
  for (uint32_t d = 0; d < tensor->ndim; d++) fprintf(stream, d == 0 ? "%d" : ",%d", tensor->dim_order[d]);
  fputs("],\"data_hex_le\":\"", stream);
  put_hex(stream, tensor->data, tensor->nbytes);
  fputs("\"}", stream);
}

bool cli_json_write(FILE *stream, const evalue *value) {
  switch (value->tag) {
    case EVALUE_TAG_BOOL:
      fprintf(stream, "{\"kind\":\"bool\",\"bool\":%s}", value->bool_value ? "true" : "false");
      break;
    case EVALUE_TAG_INT: fprintf(stream, "{\"kind\":\"int\",\"int\":\"%lld\"}", (long long)value->int_value); break;
    case EVALUE_TAG_DOUBLE: put_double(stream, value->double_value); break;
    case EVALUE_TAG_STRING: put_string(stream, &value->string); break;
    case EVALUE_TAG_TENSOR: put_tensor(stream, &value->tensor); break;
    default: fputs("{\"kind\":\"none\"}", stream); break;
  }
  putc('\n', stream);
  return !ferror(stream);
}
