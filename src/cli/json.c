/* SPDX-License-Identifier: BSD-3-Clause */
/* Values from JSON Lines. Strict: whatever the notation does not know is an error, so that a typing error never becomes
 * another value. */
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- messages ---- */

static int fail(const cli_json_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(const cli_json_reader *r, const char *format, ...) {
  char text[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  cli_report(r->name, "line %" PRIu64 ": %s", r->line, text);
  return CLI_BAD_DATA;
}

static int fail_memory(const cli_json_reader *r) {
  cli_message("%s: line %" PRIu64 ": out of memory", cli_input_name(r->name), r->line);
  return CLI_FAILURE;
}

/* Jansson's integers have 64 bits; larger ones are parsed as doubles. */
#define TWO_TO_63 9223372036854775808.0

static const char *type_of_real(double d) {
  return d >= TWO_TO_63   ? "a number that is too large"
         : d < -TWO_TO_63 ? "a number that is too small"
                          : "a number with a fraction or an exponent";
}

static const char *type_name(const json_t *json) {
  switch (json_typeof(json)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return type_of_real(json_real_value(json));
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    default: return "null";
  }
}

static int fail_type(const cli_json_reader *r, const char *key, const char *expected, const json_t *found) {
  return fail(r, "\"%s\": expected %s, found %s", key, expected, found == NULL ? "no such key" : type_name(found));
}

/* ---- hex ---- */

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Decodes a string of hex digits to bytes. */
static int decode_hex(const cli_json_reader *r, const char *key, const json_t *json, uint8_t *bytes) {
  const char *text = json_string_value(json);
  size_t size = json_string_length(json);
  for (size_t i = 0; i < size; i++) {
    if (digit(text[i]) >= 0) continue;
    char found[CLI_BYTE_SIZE];
    cli_byte((uint8_t)text[i], found);
    return fail(r, "\"%s\": digit %zu: expected a hex digit, found '%s'", key, i, found);
  }
  if (size % 2 != 0) return fail(r, "\"%s\": expected an even number of hex digits, found %zu", key, size);
  for (size_t i = 0; i < size / 2; i++) bytes[i] = (uint8_t)(digit(text[2 * i]) * 16 + digit(text[2 * i + 1]));
  return CLI_OK;
}

/* The same, to memory that lives as long as the value. */
static int decode_payload(cli_json_reader *r, const char *key, const json_t *json) {
  r->bytes = malloc(json_string_length(json) / 2 + 1);
  return r->bytes == NULL ? fail_memory(r) : decode_hex(r, key, json, r->bytes);
}

/* ---- the kinds ---- */

static int read_none(cli_json_reader *r, evalue *value) {
  (void)r;
  *value = evalue_from_none();
  return CLI_OK;
}

static int read_bool(cli_json_reader *r, evalue *value) {
  const json_t *json = json_object_get(r->root, "bool");
  if (!json_is_boolean(json)) return fail_type(r, "bool", "true or false", json);
  *value = evalue_from_bool(json_is_true(json));
  return CLI_OK;
}

/* Each number has one notation: no plus sign, no leading zeros, no -0, no space. */
static bool is_plain_decimal(const char *text, size_t size) {
  const char *digits = text[0] == '-' ? text + 1 : text;
  size_t n = strspn(digits, "0123456789");
  if (n == 0 || digits + n != text + size) return false;
  return digits[0] != '0' || (n == 1 && digits == text);
}

static int read_int(cli_json_reader *r, evalue *value) {
  const json_t *json = json_object_get(r->root, "int");
  if (!json_is_string(json)) return fail_type(r, "int", "a string of decimal digits", json);
  const char *text = json_string_value(json);
  if (!is_plain_decimal(text, json_string_length(json))) {
    return fail(r, "\"int\": expected a decimal number without leading zeros, found \"%s\"", text);
  }
  errno = 0;
  long long number = strtoll(text, NULL, 10);
  if (errno == ERANGE)
    return fail(r, "\"int\": expected a number from %" PRId64 " to %" PRId64 ", found %s", INT64_MIN, INT64_MAX, text);
  *value = evalue_from_int(number);
  return CLI_OK;
}

static int read_bits(cli_json_reader *r, const json_t *json, uint64_t *bits) {
  uint8_t bytes[8];
  if (!json_is_string(json)) return fail_type(r, "bits_hex", "16 hex digits", json);
  if (json_string_length(json) != 16) {
    return fail(r, "\"bits_hex\": expected 16 hex digits, found %zu", json_string_length(json));
  }
  int result = decode_hex(r, "bits_hex", json, bytes);
  if (result != CLI_OK) return result;
  *bits = 0;
  for (int i = 0; i < 8; i++) *bits = *bits << 8 | bytes[i];
  return CLI_OK;
}

static int read_double(cli_json_reader *r, evalue *value) {
  const json_t *hex = json_object_get(r->root, "bits_hex");
  const json_t *number = json_object_get(r->root, "double");
  uint64_t bits = 0, number_bits = 0;
  if (hex == NULL && number == NULL) return fail(r, "expected the key \"bits_hex\" or \"double\", found neither");
  if (hex != NULL) {
    int result = read_bits(r, hex, &bits);
    if (result != CLI_OK) return result;
  }
  if (number != NULL) {
    if (!json_is_number(number)) return fail_type(r, "double", "a number", number);
    double d = json_number_value(number);
    memcpy(&number_bits, &d, sizeof number_bits);
    if (hex != NULL && bits != number_bits) {
      return fail(r, "\"double\" and \"bits_hex\" disagree: expected bits %016" PRIx64 ", found %016" PRIx64,
                  number_bits, bits);
    }
    bits = number_bits;
  }
  *value = evalue_from_double(0);
  memcpy(&value->double_value, &bits, sizeof bits); /* not through a double: every NaN is kept */
  return CLI_OK;
}

static int read_string(cli_json_reader *r, evalue *value) {
  const json_t *hex = json_object_get(r->root, "bytes_hex");
  const json_t *string = json_object_get(r->root, "string");
  if (hex == NULL && string == NULL) return fail(r, "expected the key \"bytes_hex\" or \"string\", found neither");
  if (hex != NULL && !json_is_string(hex)) return fail_type(r, "bytes_hex", "a string of hex digits", hex);
  if (string != NULL && !json_is_string(string)) return fail_type(r, "string", "a string", string);
  if (hex == NULL) {
    *value = evalue_from_string(json_string_value(string), json_string_length(string));
    return CLI_OK;
  }
  int result = decode_payload(r, "bytes_hex", hex);
  if (result != CLI_OK) return result;
  size_t size = json_string_length(hex) / 2;
  if (string != NULL &&
      (size != json_string_length(string) || memcmp(r->bytes, json_string_value(string), size) != 0)) {
    return fail(r, "\"string\" and \"bytes_hex\" disagree: expected %zu bytes as in \"string\", found %zu %sbytes",
                json_string_length(string), size, size == json_string_length(string) ? "other " : "");
  }
  *value = evalue_from_string((const char *)r->bytes, size);
  return CLI_OK;
}

static int read_scalar_type(cli_json_reader *r, uint32_t *scalar_type) {
  const json_t *json = json_object_get(r->root, "scalar_type");
  if (!json_is_string(json)) return fail_type(r, "scalar_type", "the name of a scalar type", json);
  const char *name = json_string_value(json);
  int found = strlen(name) == json_string_length(json) ? cli_scalar_type(name) : -1;
  *scalar_type = (uint32_t)found;
  if (found >= 0) return CLI_OK;
  return fail(r, "\"scalar_type\": expected the name of a scalar type, found \"%.100s\"", name);
}

static bool get_integer(const cli_json_reader *r, const json_t *json, json_int_t *number) {
  double real = json_real_value(json);
  *number = json_integer_value(json);
  if (json_is_integer(json) || !r->as_real || !json_is_real(json)) return json_is_integer(json);
  if (real >= TWO_TO_63 || real < -TWO_TO_63) return false;
  *number = (json_int_t)real;
  return (double)*number == real; /* 2.0 is no integer, but here it does not matter: another number is too large */
}

/* Reads the elements of an array of integers from 0 to most. */
static int read_numbers(const cli_json_reader *r, const char *key, const json_t *array, json_int_t most,
                        int32_t *numbers) {
  char range[48] = "0";
  if (most > 0) snprintf(range, sizeof range, "an integer from 0 to %lld", (long long)most);
  for (size_t i = 0; i < json_array_size(array); i++) {
    const json_t *json = json_array_get(array, i);
    json_int_t number = 0;
    if (!get_integer(r, json, &number)) {
      return fail(r, "\"%s\": entry %zu: expected %s, found %s", key, i, range, type_name(json));
    }
    if (number < 0 || number > most) {
      return fail(r, "\"%s\": entry %zu: expected %s, found %lld", key, i, range, (long long)number);
    }
    numbers[i] = (int32_t)number;
  }
  return CLI_OK;
}

static int read_sizes(cli_json_reader *r, size_t *ndim, int32_t *sizes) {
  const json_t *array = json_object_get(r->root, "sizes");
  if (!json_is_array(array)) return fail_type(r, "sizes", "an array of integers", array);
  *ndim = json_array_size(array);
  if (*ndim > EVALUE_MAX_NDIM)
    return fail(r, "\"sizes\": expected at most %d entries, found %zu", EVALUE_MAX_NDIM, *ndim);
  return read_numbers(r, "sizes", array, INT32_MAX, sizes);
}

/* Left out, it is row-major. Whether it names each dimension once is judged with the tensor. */
static int read_dim_order(cli_json_reader *r, size_t ndim, uint8_t *dim_order) {
  const json_t *array = json_object_get(r->root, "dim_order");
  int32_t dims[EVALUE_MAX_NDIM] = {0};
  for (size_t i = 0; i < ndim; i++) dim_order[i] = (uint8_t)i;
  if (array == NULL) return CLI_OK;
  if (!json_is_array(array)) return fail_type(r, "dim_order", "an array of integers", array);
  if (json_array_size(array) != ndim) {
    return fail(r, "\"dim_order\": expected %zu entries, as in \"sizes\", found %zu", ndim, json_array_size(array));
  }
  int result = read_numbers(r, "dim_order", array, (json_int_t)ndim - 1, dims);
  for (size_t i = 0; i < ndim; i++) dim_order[i] = (uint8_t)dims[i];
  return result;
}

static int read_tensor(cli_json_reader *r, evalue *value) {
  uint32_t scalar_type = 0;
  size_t ndim = 0;
  int32_t sizes[EVALUE_MAX_NDIM];
  uint8_t dim_order[EVALUE_MAX_NDIM];
  uint64_t nbytes = 0;
  int result = read_scalar_type(r, &scalar_type);
  if (result == CLI_OK) result = read_sizes(r, &ndim, sizes);
  if (result == CLI_OK) result = read_dim_order(r, ndim, dim_order);
  if (result != CLI_OK) return result;
  if (evalue_tensor_nbytes(scalar_type, ndim, sizes, &nbytes) != EVALUE_OK)
    return fail(r, "\"sizes\": expected a tensor of less than 2^62 bytes, found more");
  const json_t *hex = json_object_get(r->root, "data_hex_le");
  if (!json_is_string(hex)) return fail_type(r, "data_hex_le", "a string of hex digits", hex);
  if (json_string_length(hex) != 2 * nbytes) {
    return fail(r, "\"data_hex_le\": expected %" PRIu64 " hex digits for these sizes, found %zu", 2 * nbytes,
                json_string_length(hex));
  }
  result = decode_payload(r, "data_hex_le", hex);
  if (result != CLI_OK) return result;
  evalue_tensor tensor;
  evalue_status status =
      evalue_tensor_init_dim_order(&tensor, scalar_type, ndim, sizes, dim_order, r->bytes, (size_t)nbytes);
  if (status != EVALUE_OK) return fail(r, "\"dim_order\": expected each dimension once");
  *value = evalue_from_tensor(&tensor);
  return CLI_OK;
}

/* ---- a line ---- */

static const struct kind {
  const char *name;
  const char *keys[5]; /* all that it may have */
  int (*read)(cli_json_reader *r, evalue *value);
} kinds[] = {
    {"none", {"kind"}, read_none},
    {"bool", {"kind", "bool"}, read_bool},
    {"int", {"kind", "int"}, read_int},
    {"double", {"kind", "bits_hex", "double"}, read_double},
    {"string", {"kind", "bytes_hex", "string"}, read_string},
    {"tensor", {"kind", "scalar_type", "sizes", "dim_order", "data_hex_le"}, read_tensor},
};

static const struct kind *find_kind(const json_t *json) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    const char *name = kinds[i].name;
    if (strlen(name) == json_string_length(json) && strcmp(name, json_string_value(json)) == 0) return &kinds[i];
  }
  return NULL;
}

static bool has_key(const struct kind *kind, const char *key) {
  for (size_t i = 0; i < 5 && kind->keys[i] != NULL; i++) {
    if (strcmp(kind->keys[i], key) == 0) return true;
  }
  return false;
}

static int read_value(cli_json_reader *r, evalue *value) {
  const char *key;
  json_t *entry;
  if (!json_is_object(r->root)) return fail(r, "expected an object, found %s", type_name(r->root));
  const json_t *name = json_object_get(r->root, "kind");
  if (!json_is_string(name)) return fail_type(r, "kind", "the name of a kind", name);
  const struct kind *kind = find_kind(name);
  if (kind == NULL) {
    return fail(r, "\"kind\": expected none, bool, int, double, string or tensor, found \"%.100s\"",
                json_string_value(name));
  }
  json_object_foreach(r->root, key, entry) {
    if (!has_key(kind, key)) return fail(r, "expected only keys of the kind %s, found \"%.100s\"", kind->name, key);
  }
  return kind->read(r, value);
}

/*
 * Jansson 2.14 goes on when memory runs out inside a string or number, and loses characters: an Int could become
 * another one. So its allocations are watched, and no result counts after a failed one.
 */
static bool out_of_memory;

static void *watched_malloc(size_t size) {
  void *memory = malloc(size);
  if (memory == NULL) out_of_memory = true;
  return memory;
}

/*
 * A double may be written as an integer, also as one with many digits or as -0: those are parsed once more, as doubles.
 * Sizes are not parsed so, because 2.0 is none.
 */
static json_t *parse(const char *text, size_t size, bool *as_real, json_error_t *error) {
  const size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY;
  json_t *root = json_loadb(text, size, flags, error);
  bool again = root == NULL ? json_error_code(error) == json_error_numeric_overflow
                            : json_is_integer(json_object_get(root, "double"));
  *as_real = again;
  if (!again) return root;
  json_decref(root);
  return json_loadb(text, size, flags | JSON_DECODE_INT_AS_REAL, error);
}

static bool is_blank(const char *text, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (text[i] == '\0' || strchr(" \t\r\n", text[i]) == NULL) return false;
  }
  return true;
}

static void forget_value(cli_json_reader *r) {
  json_decref(r->root);
  free(r->bytes);
  r->root = NULL;
  r->bytes = NULL;
}

/* A file that is cut short while it is read must not pass for a shorter one. */
static bool has_shrunk(const cli_json_reader *r) {
  return cli_has_shrunk(r->fd, r->name, r->total);
}

/* Reads the next line that is not empty. */
static int read_line(cli_json_reader *r, size_t *size) {
  do {
    errno = 0;
    ssize_t n = getline(&r->text, &r->capacity, r->stream);
    if (n < 0 && feof(r->stream) && !ferror(r->stream)) return has_shrunk(r) ? CLI_FAILURE : CLI_JSON_END;
    if (n < 0) {
      cli_message("%s: cannot read: %s", cli_input_name(r->name), strerror(errno));
      return CLI_FAILURE;
    }
    *size = (size_t)n;
    r->line++;
    r->done += *size;
  } while (is_blank(r->text, *size));
  return CLI_OK;
}

/* Says what is no JSON and, of a first line, what it looks like instead. */
static int fail_parse(const cli_json_reader *r, size_t size, const json_error_t *error) {
  char guess[CLI_GUESS_SIZE] = "";
  cli_input line = {.name = r->name, .data = (const uint8_t *)r->text, .size = size, .has_more = true};
  bool is_guessed = r->line == 1 && cli_guess(&line, CLI_EXPECTED_JSON, guess);
  if (is_guessed) return fail(r, "expected a JSON object; it looks like %s", guess);
  return fail(r, "column %d: expected a JSON object, found an error: %s", error->column, error->text);
}

int cli_json_next(cli_json_reader *r, evalue *value) {
  size_t size = 0;
  json_error_t error;
  forget_value(r);
  int result = read_line(r, &size);
  if (result != CLI_OK) return result;
  out_of_memory = false;
  r->root = parse(r->text, size, &r->as_real, &error);
  if (out_of_memory) return fail_memory(r);
  if (r->root != NULL) return read_value(r, value);
  if (has_shrunk(r)) return CLI_FAILURE;
  return fail_parse(r, size, &error);
}

/* ---- the file ---- */

static ssize_t read_stream(void *cookie, char *data, size_t size) {
  return cli_read(*(const int *)cookie, data, size);
}

static int close_stream(void *cookie) {
  return close(*(const int *)cookie);
}

bool cli_json_open(cli_json_reader *r, const char *name) {
  enum { BUFFER_SIZE = 1 << 16 };
  const cookie_io_functions_t functions = {.read = read_stream, .close = close_stream};
  memset(r, 0, sizeof *r);
  r->name = name;
  json_set_alloc_funcs(watched_malloc, free);
  struct stat status;
  r->fd = cli_open_by_name(name);
  r->stream = r->fd < 0 ? NULL : fopencookie(&r->fd, "r", functions);
  if (r->stream == NULL) {
    cli_message("%s: cannot open: %s", cli_input_name(name), strerror(errno));
    if (r->fd >= 0) close(r->fd);
    return false;
  }
  setvbuf(r->stream, NULL, _IOFBF, BUFFER_SIZE);
  if (fstat(r->fd, &status) == 0 && S_ISREG(status.st_mode)) r->total = (uint64_t)status.st_size;
  return true;
}

void cli_json_close(cli_json_reader *r) {
  forget_value(r);
  if (r->stream != NULL) fclose(r->stream);
  free(r->text);
  memset(r, 0, sizeof *r);
}
