/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text for people out of anything: never more than there is room for, never a text that steers a terminal, and the same
 * length in any room.
 *
 * The first byte of an input picks what is printed, the next two the capacity; the rest is what is printed.
 */
#include <math.h>

#include "evalue/evalue.h"
#include "fuzz.h"

/* ---- one text ------------------------------------------------------------------------------------------------ */

typedef enum what { VALUE, ERROR_TEXT, ELEMENT, DOUBLE, STRING } what;

/* What is printed. */
typedef struct thing {
  what what;
  const void *data;
  size_t nbytes;        /* of a string */
  uint32_t scalar_type; /* of an element */
} thing;

static size_t print(const thing *t, char *text, size_t capacity) {
  switch (t->what) {
    case VALUE: return evalue_print((const evalue *)t->data, text, capacity);
    case ERROR_TEXT: return evalue_print_error((const evalue_error *)t->data, text, capacity);
    case ELEMENT: return evalue_print_element(t->scalar_type, t->data, text, capacity);
    case DOUBLE: return evalue_print_double(*(const double *)t->data, text, capacity);
    default: return evalue_print_string(t->data, t->nbytes, text, capacity);
  }
}

/* In memory of exactly the capacity, the text is a beginning of the whole. */
static void check_cut(const thing *t, const char *whole, size_t length, size_t capacity) {
  fuzz_bytes memory = fuzz_new(capacity, 0);
  char *text = (char *)memory.data;
  fuzz_fill(&memory);
  FUZZ_CHECK(print(t, text, capacity) == length);
  if (capacity != 0) {
    size_t written = strnlen(text, capacity);
    FUZZ_CHECK(written < capacity && written <= length);
    FUZZ_CHECK(memcmp(text, whole, written) == 0 && fuzz_is_text(text, written, false));
    FUZZ_CHECK(fuzz_is_filled(&memory, written + 1));
    if (capacity > length) FUZZ_CHECK(written == length);
    else FUZZ_CHECK(written + 4 >= capacity); /* room is lost only to a whole character, or an escape like \x1b */
  }
  fuzz_free(&memory);
}

/* Prints it in much room, checks that and other capacities; returns the text, which is the caller's. */
static char *check_text(const thing *t, size_t capacity) {
  size_t length = print(t, NULL, 0);
  fuzz_bytes memory = fuzz_new(length + 64, 0);
  char *text = (char *)memory.data;
  fuzz_fill(&memory);
  FUZZ_CHECK(print(t, text, memory.size) == length);
  FUZZ_CHECK(strnlen(text, memory.size) == length && length != 0);
  FUZZ_CHECK(fuzz_is_text(text, length, false));
  FUZZ_CHECK(fuzz_is_filled(&memory, length + 1));
  check_cut(t, text, length, capacity);
  check_cut(t, text, length, capacity % (length + 2));
  check_cut(t, text, length, length);
  check_cut(t, text, length, length + 1);
  check_cut(t, text, length, 0);
  return text;
}

static void check_only(const thing *t, size_t capacity) {
  free(check_text(t, capacity));
}

/* ---- what a reader finds ------------------------------------------------------------------------------------- */

static void print_read(const uint8_t *data, size_t size, bool is_sequence, size_t capacity) {
  evalue_reader reader;
  evalue value;
  fuzz_bytes input = fuzz_copy(data, size, 0);
  evalue_status status = is_sequence ? evalue_reader_init_sequence(&reader, input.data, size, NULL)
                                     : evalue_reader_init(&reader, input.data, size, NULL);
  while (status == EVALUE_OK && (status = evalue_reader_next(&reader, &value)) == EVALUE_OK) {
    check_only(&(thing){.what = VALUE, .data = &value}, capacity);
  }
  check_only(&(thing){.what = ERROR_TEXT, .data = evalue_reader_error(&reader)}, capacity);
  fuzz_free(&input);
}

/* ---- errors and values that no reader makes ------------------------------------------------------------------ */

static void print_error(const uint8_t *data, size_t size, size_t capacity) {
  evalue_error error;
  memset(&error, 0, sizeof error);
  memcpy(&error, data, size < sizeof error ? size : sizeof error);
  if (error.status % 2 == 0) { /* mostly codes that are some */
    error.status = (int32_t)((uint32_t)error.status % 10);
    error.fault = (uint16_t)(error.fault % 48);
    error.field = (uint16_t)(error.field % 18);
  }
  check_only(&(thing){.what = ERROR_TEXT, .data = size % 16 == 15 ? NULL : &error}, capacity);
}

/* A value of any bits, whose pointers point at what is there, if anywhere. */
static void print_value(const uint8_t *data, size_t size, size_t capacity) {
  evalue value;
  fuzz_bytes payload = fuzz_copy(data, size, 0);
  memset(&value, 0, sizeof value);
  memcpy(&value, data, size < sizeof value ? size : sizeof value);
  if (value.tag == EVALUE_TAG_TENSOR) {
    value.tensor.data = size % 8 == 7 ? NULL : payload.data;
    value.tensor.nbytes = size;
  } else if (value.tag == EVALUE_TAG_STRING) {
    value.string.data = size % 8 == 7 ? NULL : (const char *)payload.data;
    value.string.nbytes = size;
  }
  char *text = check_text(&(thing){.what = VALUE, .data = &value}, capacity);
  FUZZ_CHECK((strcmp(text, "invalid") == 0) == (evalue_check(&value) != EVALUE_OK));
  free(text);
  fuzz_free(&payload);
}

/* ---- numbers read back --------------------------------------------------------------------------------------- */

/* Digits from the first that is not zero up to the last that is not zero. */
static int significant_digits(const char *text) {
  int count = 0, zeros = 0;
  for (; *text != '\0' && *text != 'e'; text++) {
    if (*text < '0' || *text > '9' || (count == 0 && *text == '0')) continue;
    zeros = *text == '0' ? zeros + 1 : 0;
    count++;
  }
  return count - zeros;
}

/* The same number, and no shorter text would do. */
static void check_double(double d, const char *text) {
  char shorter[64], *end;
  double again = strtod(text, &end);
  FUZZ_CHECK(*end == '\0');
  FUZZ_CHECK(isnan(d) ? isnan(again) : memcmp(&again, &d, sizeof d) == 0);
  int digits = significant_digits(text);
  if (!isfinite(d) || digits < 2 || (fabs(d) < 1e16 && d == trunc(d))) return; /* whole numbers have all their digits */
  snprintf(shorter, sizeof shorter, "%.*e", digits - 2, d);
  FUZZ_CHECK(strtod(shorter, NULL) != d);
}

static void check_float(uint32_t bits, const char *text) {
  char *end;
  float f, again = strtof(text, &end);
  memcpy(&f, &bits, sizeof f);
  FUZZ_CHECK(*end == '\0');
  FUZZ_CHECK(isnan(f) ? isnan(again) : memcmp(&again, &f, sizeof f) == 0);
}

/* The same eight bytes as a double and as two float32. */
static void print_double(const uint8_t *data, size_t size, size_t capacity) {
  uint8_t bytes[8] = {0};
  double d;
  memcpy(bytes, data, size < sizeof bytes ? size : sizeof bytes);
  memcpy(&d, bytes, sizeof d);
  char *text = check_text(&(thing){.what = DOUBLE, .data = &d}, capacity);
  check_double(d, text);
  free(text);
  for (size_t at = 0; at < sizeof bytes; at += 4) {
    text = check_text(&(thing){.what = ELEMENT, .data = bytes + at, .scalar_type = EVALUE_FLOAT32}, capacity);
    check_float(evalue_load_u32(bytes + at), text);
    free(text);
  }
}

static double bfloat16(uint32_t bits) {
  float f;
  bits <<= 16;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

/* The text is nearer to this number than to those beside it. */
static void check_bfloat16(uint32_t bits, const char *text) {
  char *end;
  double d = bfloat16(bits), again = strtod(text, &end);
  FUZZ_CHECK(*end == '\0' && isnan(d) == isnan(again) && isinf(d) == isinf(again));
  FUZZ_CHECK(isnan(d) || (signbit(d) != 0) == (signbit(again) != 0));
  if (!isfinite(d)) return;
  if ((bits & 0x7fff) != 0) FUZZ_CHECK(fabs(again - d) <= fabs(again - bfloat16(bits - 1)));
  if ((bits & 0x7fff) == 0) FUZZ_CHECK(again == 0);
  FUZZ_CHECK(fabs(again - d) <= fabs(again - bfloat16(bits + 1)));
}

static void print_element(const uint8_t *data, size_t size, size_t capacity) {
  uint32_t scalar_type = size > 0 ? data[0] % 32U : 0, nbytes = evalue_element_size(scalar_type);
  fuzz_bytes element = fuzz_new(nbytes, capacity % 16);
  for (uint32_t i = 0; i < nbytes; i++) element.data[i] = i + 1 < size ? data[i + 1] : 0;
  char *text = check_text(&(thing){.what = ELEMENT, .data = element.data, .scalar_type = scalar_type}, capacity);
  FUZZ_CHECK((strcmp(text, "?") == 0) == (nbytes == 0));
  if (scalar_type == EVALUE_FLOAT32) check_float(evalue_load_u32(element.data), text);
  if (scalar_type == EVALUE_BFLOAT16) check_bfloat16(element.data[0] | (uint32_t)element.data[1] << 8, text);
  if (scalar_type == EVALUE_INT64) FUZZ_CHECK(strtoll(text, NULL, 10) == (int64_t)evalue_load_u64(element.data));
  if (scalar_type == EVALUE_UINT64) FUZZ_CHECK(strtoull(text, NULL, 10) == evalue_load_u64(element.data));
  free(text);
  fuzz_free(&element);
}

/* ---- strings ------------------------------------------------------------------------------------------------- */

/* Undoes the escapes. */
static size_t unescape(const char *text, uint8_t *bytes) {
  static const char letters[] = "abtnvfr\"\\", codes[] = "\a\b\t\n\v\f\r\"\\";
  size_t n = 0;
  for (const char *p = text; *p != '\0'; p++) {
    if (*p != '\\') {
      bytes[n++] = (uint8_t)*p;
    } else if (*++p == 'x') {
      char digits[3] = {p[1], p[1] != '\0' ? p[2] : '\0', '\0'};
      FUZZ_CHECK(strspn(digits, "0123456789abcdef") == 2);
      bytes[n++] = (uint8_t)strtoul(digits, NULL, 16);
      p += 2;
    } else {
      const char *letter = *p != '\0' ? strchr(letters, *p) : NULL;
      FUZZ_CHECK(letter != NULL);
      if (letter != NULL) bytes[n++] = (uint8_t)codes[letter - letters];
    }
  }
  return n;
}

/* What is escaped can be told from what is not: the bytes can be had back. */
static void print_string(const uint8_t *data, size_t size, size_t capacity) {
  fuzz_bytes string = fuzz_copy(data, size, 0);
  char *text = check_text(&(thing){.what = STRING, .data = string.data, .nbytes = size}, capacity);
  size_t length = strlen(text);
  FUZZ_CHECK(length >= 2 && text[0] == '"' && text[length - 1] == '"');
  text[length - 1] = '\0';
  fuzz_bytes again = fuzz_new(length, 0);
  FUZZ_CHECK(unescape(text + 1, again.data) == size && (size == 0 || memcmp(again.data, data, size) == 0));
  fuzz_free(&again);
  fuzz_free(&string);
  free(text);
}

/* ---- the target ---------------------------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  if (size < 3) return 0;
  const uint8_t *data = input + 3;
  size_t nbytes = size - 3, capacity = (input[1] | (size_t)input[2] << 8) % 2048;
  switch (input[0] % 8) {
    case 0: print_read(data, nbytes, false, capacity); break;
    case 1: print_read(data, nbytes, true, capacity); break;
    case 2: print_element(data, nbytes, capacity); break;
    case 3: print_string(data, nbytes, capacity); break;
    case 4: print_error(data, nbytes, capacity); break;
    case 5: print_double(data, nbytes, capacity); break;
    case 6: print_value(data, nbytes, capacity); break;
    default:
      check_only(&(thing){.what = (what)(nbytes % 5 == DOUBLE ? VALUE : nbytes % 5), .data = NULL}, capacity);
      break;
  }
  return 0;
}
