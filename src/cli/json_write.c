/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as JSON Lines. Strings and numbers are jansson's; tensors are streamed, so their hex is never held whole. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
 * Passes JSON text on. JSON lets DEL and the C1 controls (U+0080 to U+009F) stand as they are, but a terminal would
 * obey them, so they are escaped here. Jansson never cuts a character in two.
 */
static int put_json_text(const char *text, size_t size, void *data) {
  FILE *stream = data;
  const uint8_t *p = (const uint8_t *)text;
  for (size_t i = 0; i < size; i++) {
    if (p[i] == 0x7f) {
      fputs("\\u007f", stream);
    } else if (p[i] == 0xc2 && i + 1 < size && p[i + 1] < 0xa0) {
      fprintf(stream, "\\u%04x", p[++i]);
    } else {
      putc(p[i], stream);
    }
  }
  return ferror(stream) ? -1 : 0;
}

/* Writes a JSON value and frees it; false when it is NULL: out of memory. */
static bool put_json(FILE *stream, json_t *json, size_t flags) {
  if (json == NULL) return false;
  int result = json_dump_callback(json, put_json_text, stream, flags | JSON_ENCODE_ANY | JSON_COMPACT);
  json_decref(json);
  return result == 0;
}

static bool is_utf8(const char *text, size_t size) {
  while (size > 0) {
    size_t length = cli_utf8_length(text, size);
    if (length == 0) return false;
    text += length;
    size -= length;
  }
  return true;
}

static bool put_string(FILE *stream, const evalue_string *string) {
  fputs("{\"kind\":\"string\",\"bytes_hex\":\"", stream);
  put_hex(stream, (const uint8_t *)string->data, string->nbytes);
  putc('"', stream);
  if (is_utf8(string->data, string->nbytes)) {
    fputs(",\"string\":", stream);
    if (!put_json(stream, json_stringn(string->nbytes == 0 ? "" : string->data, string->nbytes), 0)) return false;
  }
  putc('}', stream);
  return true;
}

/* The fewest decimal digits that read back as the same number. */
static size_t precision(double d) {
  char text[64];
  size_t digits = 0;
  do {
    digits++;
    snprintf(text, sizeof text, "%.*g", (int)digits, d);
  } while (digits < 17 && strtod(text, NULL) != d);
  return digits;
}

static bool put_double(FILE *stream, double d) {
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  fprintf(stream, "{\"kind\":\"double\",\"bits_hex\":\"%016llx\"", (unsigned long long)bits);
  if (isfinite(d)) {
    fputs(",\"double\":", stream);
    if (!put_json(stream, json_real(d), JSON_REAL_PRECISION(precision(d)))) return false;
  }
  putc('}', stream);
  return true;
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
  bool good = true;
  switch (value->tag) {
    case EVALUE_TAG_BOOL:
      fprintf(stream, "{\"kind\":\"bool\",\"bool\":%s}", value->bool_value ? "true" : "false");
      break;
    case EVALUE_TAG_INT: fprintf(stream, "{\"kind\":\"int\",\"int\":\"%lld\"}", (long long)value->int_value); break;
    case EVALUE_TAG_DOUBLE: good = put_double(stream, value->double_value); break;
    case EVALUE_TAG_STRING: good = put_string(stream, &value->string); break;
    case EVALUE_TAG_TENSOR: put_tensor(stream, &value->tensor); break;
    default: fputs("{\"kind\":\"none\"}", stream); break;
  }
  putc('\n', stream);
  return good && !ferror(stream);
}
