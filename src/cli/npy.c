/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NumPy's .npy files: "\x93NUMPY", version, length of the header, the header (a Python dict literal, padded with
 * spaces), the data. The literal is parsed strictly, but with every freedom that NumPy's own writers have used: key
 * order, quotes, white space, a comma at the end, and the L of Python 2's long integers.
 */
#include "npy.h"

#include <stdarg.h>
#include <string.h>

#define CLI_NPY_MAGIC "\x93NUMPY"

enum { MAGIC_SIZE = 6, VERSION_AT = 6, LENGTH_AT = 8, HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

/* dtypes without their byte order. */
static const struct {
  const char *name;
  uint8_t scalar_type;
} dtypes[] = {
    {"b1", EVALUE_BOOL},      {"i1", EVALUE_INT8},        {"u1", EVALUE_UINT8},   {"i2", EVALUE_INT16},
    {"u2", EVALUE_UINT16},    {"i4", EVALUE_INT32},       {"u4", EVALUE_UINT32},  {"i8", EVALUE_INT64},
    {"u8", EVALUE_UINT64},    {"f2", EVALUE_FLOAT16},     {"f4", EVALUE_FLOAT32}, {"f8", EVALUE_FLOAT64},
    {"c8", EVALUE_COMPLEX64}, {"c16", EVALUE_COMPLEX128},
};

enum { DTYPE_COUNT = sizeof dtypes / sizeof dtypes[0] };

typedef struct parser {
  const cli_input *input;
  const uint8_t *at;
  const uint8_t *end; /* of the header */
  int has;            /* keys seen */
  int as;             /* the scalar type that was asked for; -1: the dtype says it */
  bool is_look_ahead; /* only the size matters: no messages, and opaque types stand for others */
  uint8_t scalar_type;
  uint8_t component_size; /* of what the dtype says: 1 for opaque bytes */
  size_t missing;         /* bytes, at least, that end before the header does */
  bool is_big_endian;
  bool is_fortran;
  size_t ndim; /* also of more sizes than there is room for */
  int32_t sizes[EVALUE_MAX_NDIM];
} parser;

/* ---- messages ---- */

static bool fail(const parser *p, const uint8_t *where, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool fail(const parser *p, const uint8_t *where, const char *format, ...) {
  char text[512];
  va_list list;
  if (p->is_look_ahead) return false;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  cli_report(p->input->name, "offset %zu: %s", (size_t)(where - p->input->data), text);
  return false;
}

/* The next character is not the expected one. */
static bool fail_here(const parser *p, const char *expected) {
  if (p->at == p->end) return fail(p, p->at, "expected %s, found the end of the header", expected);
  char found[CLI_BYTE_SIZE];
  return fail(p, p->at, "expected %s, found '%s'", expected, cli_byte(*p->at, found));
}

/* ---- the Python literal ---- */

static void skip_space(parser *p) {
  while (p->at < p->end && *p->at != '\0' && strchr(" \t\r\n\f", *p->at) != NULL) p->at++;
}

/* Takes one character after white space. */
static bool take(parser *p, char c) {
  skip_space(p);
  if (p->at == p->end || *p->at != (uint8_t)c) return false;
  p->at++;
  return true;
}

/* A string in either kind of quotes. No key and no dtype needs an escape. */
static bool parse_string(parser *p, const char *expected, evalue_slice *string) {
  skip_space(p);
  if (p->at == p->end || (*p->at != '\'' && *p->at != '"')) return fail_here(p, expected);
  const uint8_t *start = p->at + 1;
  uint8_t quote = *p->at;
  for (p->at = start; p->at < p->end && *p->at != quote; p->at++) {
    if (*p->at == '\\' || *p->at < ' ') return fail_here(p, "a string without escapes and control characters");
  }
  if (p->at == p->end) return fail_here(p, "the end of a string");
  string->data = start;
  string->size = (size_t)(p->at++ - start);
  return true;
}

static bool is_text(evalue_slice slice, const char *text) {
  return slice.size == strlen(text) && memcmp(slice.data, text, slice.size) == 0;
}

static bool take_word(parser *p, const char *word) {
  size_t size = strlen(word);
  if ((size_t)(p->end - p->at) < size || memcmp(p->at, word, size) != 0) return false;
  p->at += size;
  return true;
}

/* ---- the values of the three keys ---- */

/* The element size of an opaque dtype, as `unpack` writes it for types that NumPy lacks, and some scalar type of this
 * size; 0 for another dtype. */
static uint32_t opaque_size(evalue_slice kind, uint8_t *scalar_type) {
  static const struct {
    const char *name;
    uint8_t scalar_type;
  } opaque[] = {{"V1", EVALUE_UINT8},  {"V2", EVALUE_UINT16},      {"V4", EVALUE_UINT32},
                {"V8", EVALUE_UINT64}, {"V16", EVALUE_COMPLEX128}, {"f1", EVALUE_UINT8}};
  for (size_t i = 0; i < sizeof opaque / sizeof opaque[0]; i++) {
    if (!is_text(kind, opaque[i].name)) continue;
    *scalar_type = opaque[i].scalar_type;
    return evalue_element_size(*scalar_type);
  }
  return 0;
}

/* Takes the scalar type that a dtype has, or the one that was asked for; kind is the dtype without its byte order. */
static bool take_type(parser *p, const uint8_t *start, evalue_slice dtype, evalue_slice kind) {
  int length = dtype.size < 100 ? (int)dtype.size : 100;
  const char *text = dtype.data;
  uint32_t size = opaque_size(kind, &p->scalar_type), component_size = size != 0 ? 1 : 0;
  bool is_opaque = size != 0 && !p->is_look_ahead;
  for (size_t i = 0; i < DTYPE_COUNT; i++) {
    if (!is_text(kind, dtypes[i].name)) continue;
    p->scalar_type = dtypes[i].scalar_type;
    size = evalue_element_size(p->scalar_type);
    component_size = evalue_component_size(p->scalar_type);
  }
  if (size == 0 || (is_opaque && p->as < 0)) {
    return fail(p, start,
                "expected one of b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16, found dtype '%.*s': it has no "
                "scalar type%s",
                length, text,
                is_opaque ? "; --as TYPE names one, and values.jsonl beside what 'evalue unpack' wrote has it" : "");
  }
  p->component_size = (uint8_t)component_size;
  if (p->as < 0) return true;
  p->scalar_type = (uint8_t)p->as;
  if (evalue_element_size(p->scalar_type) == size) return true;
  return fail(p, start, "--as %s: expected elements of size %u, found dtype '%.*s' of size %u",
              evalue_scalar_type_name(p->scalar_type), (unsigned)evalue_element_size(p->scalar_type), length, text,
              (unsigned)size);
}

static bool parse_descr(parser *p) {
  evalue_slice name = {NULL, 0};
  skip_space(p);
  const uint8_t *start = p->at;
  if (p->at < p->end && (*p->at == '[' || *p->at == '(')) {
    return fail(p, start, "expected a dtype that has a scalar type, found a structured dtype: it has no scalar type");
  }
  if (!parse_string(p, "a dtype", &name)) return false;
  const char *text = name.data;
  evalue_slice kind = name;
  if (name.size > 0 && strchr("<>|=", text[0]) != NULL) {
    kind.data = text + 1;
    kind.size--;
  }
  p->is_big_endian =
      kind.size < name.size && text[0] != '|' && text[0] != '=' ? text[0] == '>' : !EVALUE_HOST_IS_LITTLE_ENDIAN;
  return take_type(p, start, name, kind);
}

static bool parse_order(parser *p) {
  skip_space(p);
  p->is_fortran = take_word(p, "True");
  return p->is_fortran || take_word(p, "False") || fail_here(p, "True or False");
}

static bool parse_size(parser *p) {
  skip_space(p);
  const uint8_t *start = p->at;
  uint64_t size = 0;
  for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
    if (size <= INT32_MAX) size = size * 10 + (uint64_t)(*p->at - '0');
  }
  if (p->at == start) return fail_here(p, "a size");
  int digits = p->at - start < 40 ? (int)(p->at - start) : 40;
  if (*start == '0' && digits > 1)
    return fail(p, start, "expected a size without leading zeros, found %.*s", digits, (const char *)start);
  if (size > INT32_MAX) {
    return fail(p, start, "the size is too large: expected at most %d, found %.*s", INT32_MAX, digits,
                (const char *)start);
  }
  if (p->at < p->end && *p->at == 'L') p->at++;
  if (p->ndim < EVALUE_MAX_NDIM) p->sizes[p->ndim] = (int32_t)size;
  p->ndim++;
  return true;
}

/* A tuple: (), (2,), (2, 3), (2, 3,). In Python, (2) is none. */
static bool parse_shape(parser *p) {
  bool comma = true;
  if (!take(p, '(')) return fail_here(p, "a tuple of sizes");
  const uint8_t *start = p->at - 1;
  while (!take(p, ')')) {
    if (!comma) return fail_here(p, "',' or ')'");
    if (!parse_size(p)) return false;
    const uint8_t *after = p->at;
    comma = take(p, ',');
    if (p->ndim == 1 && !comma) return fail(p, after, "expected ',' after the only size of a tuple, found none");
  }
  if (p->ndim > EVALUE_MAX_NDIM)
    return fail(p, start, "too many dimensions: expected at most %d, found %zu", EVALUE_MAX_NDIM, p->ndim);
  return true;
}

static bool parse_entry(parser *p) {
  static const struct {
    const char *name;
    int bit;
    bool (*parse)(parser *p);
  } keys[] = {
      {"descr", HAS_DESCR, parse_descr}, {"fortran_order", HAS_ORDER, parse_order}, {"shape", HAS_SHAPE, parse_shape}};
  evalue_slice key = {NULL, 0};
  skip_space(p);
  const uint8_t *start = p->at;
  if (!parse_string(p, "a key", &key)) return false;
  for (size_t i = 0; i < 3; i++) {
    if (!is_text(key, keys[i].name)) continue;
    if ((p->has & keys[i].bit) != 0) return fail(p, start, "expected each key once, found '%s' again", keys[i].name);
    p->has |= keys[i].bit;
    return take(p, ':') ? keys[i].parse(p) : fail_here(p, "':'");
  }
  return fail(p, start, "expected the key 'descr', 'fortran_order' or 'shape', found '%.*s'",
              key.size < 100 ? (int)key.size : 100, (const char *)key.data);
}

static bool parse_header(parser *p) {
  bool comma = true;
  if (!take(p, '{')) return fail_here(p, "'{'");
  const uint8_t *start = p->at - 1;
  while (!take(p, '}')) {
    if (!comma) return fail_here(p, "',' or '}'");
    if (!parse_entry(p)) return false;
    comma = take(p, ',');
  }
  if (p->has != HAS_ALL) {
    const char *missing = (p->has & HAS_DESCR) == 0 ? "descr" : (p->has & HAS_ORDER) == 0 ? "fortran_order" : "shape";
    return fail(p, start, "expected the keys 'descr', 'fortran_order' and 'shape', found no '%s'", missing);
  }
  skip_space(p);
  return p->at == p->end || fail_here(p, "nothing but white space up to the end of the header");
}

/* ---- the file ---- */

/* What stands before the header: sets at and end. */
static bool parse_prefix(parser *p) {
  const uint8_t *data = p->input->data;
  size_t size = p->input->size;
  p->at = data;
  if (size < MAGIC_SIZE || memcmp(data, CLI_NPY_MAGIC, MAGIC_SIZE) != 0) {
    char guess[CLI_GUESS_SIZE];
    if (cli_guess(p->input, CLI_EXPECTED_NPY, guess)) return fail(p, data, "this is no .npy file, but %s", guess);
    return fail(p, data, "this is no .npy file: expected \"\\x93NUMPY\", found %s",
                size == 0 ? "nothing" : "other bytes");
  }
  if (size < LENGTH_AT) {
    p->missing = LENGTH_AT - size;
    return fail(p, data + VERSION_AT, "the header is cut: expected a version of 2 bytes, found %zu", size - VERSION_AT);
  }
  int major = data[VERSION_AT], minor = data[VERSION_AT + 1];
  if (major < 1 || major > 3 || minor != 0) {
    return fail(p, data + VERSION_AT, "the version is not known: expected 1.0, 2.0 or 3.0, found %d.%d", major, minor);
  }
  size_t width = major == 1 ? 2 : 4;
  const uint8_t *at = data + LENGTH_AT;
  if (size - LENGTH_AT < width) {
    p->missing = LENGTH_AT + width - size;
    return fail(p, at, "the header is cut: expected its length in %zu bytes, found %zu", width, size - LENGTH_AT);
  }
  size_t length = width == 2 ? at[0] + 256U * at[1] : evalue_load_u32(at);
  size_t left = size - LENGTH_AT - width;
  if (length > left) {
    p->missing = length - left;
    return fail(p, at, "the header is cut: expected %zu bytes, found %zu", length, left);
  }
  p->at = at + width;
  p->end = p->at + length;
  return true;
}

static bool make_tensor(const parser *p, evalue_tensor *tensor) {
  uint64_t nbytes = 0;
  if (evalue_tensor_nbytes(p->scalar_type, p->ndim, p->sizes, &nbytes) != EVALUE_OK)
    return fail(p, p->end, "the shape is too large: expected less than 2^62 bytes, found more");
  uint64_t left = p->input->size - (size_t)(p->end - p->input->data);
  if (left != nbytes) {
    return fail(p, p->end, "the data is too %s: expected %llu bytes, found %llu%s", left < nbytes ? "short" : "long",
                (unsigned long long)nbytes, (unsigned long long)left, p->input->has_more ? " or more" : "");
  }
  uint8_t dim_order[EVALUE_MAX_NDIM];
  for (size_t d = 0; d < p->ndim; d++) dim_order[d] = (uint8_t)(p->is_fortran ? p->ndim - 1 - d : d);
  evalue_status status =
      evalue_tensor_init_dim_order(tensor, p->scalar_type, p->ndim, p->sizes, dim_order, p->end, (size_t)nbytes);
  return status == EVALUE_OK || fail(p, p->end, "cannot make a tensor: %s", evalue_status_message((int32_t)status));
}

int cli_npy_read_as(const cli_input *input, int scalar_type, cli_npy *npy) {
  parser p;
  memset(&p, 0, sizeof p);
  p.input = input;
  p.as = scalar_type;
  if (!parse_prefix(&p) || !parse_header(&p) || !make_tensor(&p, &npy->tensor)) return CLI_BAD_DATA;
  npy->component_size = p.component_size;
  npy->is_big_endian = p.is_big_endian && p.component_size > 1;
  return CLI_OK;
}

int cli_npy_read(const cli_input *input, cli_npy *npy) {
  return cli_npy_read_as(input, -1, npy);
}

uint64_t cli_npy_needed(const uint8_t *data, size_t size, const cli_format *format) {
  (void)format;
  const cli_input input = {.data = data, .size = size};
  parser p = {.input = &input, .as = -1, .is_look_ahead = true};
  uint64_t nbytes = 0;
  if (size < MAGIC_SIZE) return MAGIC_SIZE;
  if (!parse_prefix(&p)) return p.missing != 0 ? size + p.missing : size;
  if (!parse_header(&p)) return size;
  bool is_fixed = evalue_tensor_nbytes(p.scalar_type, p.ndim, p.sizes, &nbytes) == EVALUE_OK;
  return is_fixed && nbytes < CLI_INPUT_LIMIT ? (uint64_t)(p.end - data) + nbytes + 1 : size;
}

/* ---- writing ---- */

/* The dtype, for types that NumPy lacks an opaque one of the same size. */
static void put_dtype(uint32_t scalar_type, char *text, size_t capacity) {
  for (size_t i = 0; i < DTYPE_COUNT; i++) {
    if (dtypes[i].scalar_type != scalar_type) continue;
    snprintf(text, capacity, "%c%s", evalue_component_size(scalar_type) > 1 ? '<' : '|', dtypes[i].name);
    return;
  }
  snprintf(text, capacity, "|V%u", (unsigned)evalue_element_size(scalar_type));
}

size_t cli_npy_header(const evalue_tensor *tensor, bool is_fortran, char header[CLI_NPY_HEADER_SIZE]) {
  enum { PREFIX = 10, ALIGNMENT = 64, GROWTH_DIGITS = 21 };
  char dtype[16];
  memset(header, ' ', CLI_NPY_HEADER_SIZE);
  put_dtype(tensor->scalar_type, dtype, sizeof dtype);
  size_t at = PREFIX;
  size_t capacity = CLI_NPY_HEADER_SIZE;
  at += (size_t)snprintf(header + at, capacity - at, "{'descr': '%s', 'fortran_order': %s, 'shape': (", dtype,
                         is_fortran ? "True" : "False");
  for (uint32_t d = 0; d < tensor->ndim; d++) {
    at += (size_t)snprintf(header + at, capacity - at, d == 0 ? "%d" : ", %d", (int)tensor->sizes[d]);
  }
  at += (size_t)snprintf(header + at, capacity - at, tensor->ndim == 1 ? ",), }" : "), }");
  header[at] = ' ';
  if (tensor->ndim > 0) { /* like NumPy, room for the size along which the array can grow in place */
    at += GROWTH_DIGITS - (size_t)snprintf(NULL, 0, "%d", (int)tensor->sizes[is_fortran ? tensor->ndim - 1 : 0]);
  }
  size_t size = ((at + 1) / ALIGNMENT + 1) * ALIGNMENT; /* like NumPy, never without a space */
  header[size - 1] = '\n';
  memcpy(header, CLI_NPY_MAGIC "\x01", MAGIC_SIZE + 1);
  header[7] = 0;
  header[8] = (char)((size - PREFIX) % 256);
  header[9] = (char)((size - PREFIX) / 256);
  return size;
}
