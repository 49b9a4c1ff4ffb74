/* SPDX-License-Identifier: BSD-3-Clause */
/* One value for each record, out of a file: the rows of an array, or lines of JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalue/inline.h"
#include "json.h"
#include "npy.h"
#include "records.h"

struct records_field {
  records_field_kind kind;
  const char *name;
  cli_input input; /* of an array */
  cli_npy npy;
  uint64_t rows, next;
  size_t row_size;   /* bytes of a row */
  evalue_tensor row; /* of an array; its data are set for each */
  uint8_t *copy;     /* a row that cannot be used where it lies: it is big-endian, or scattered */
  bool is_scattered;
  cli_json_reader json;
};

/* ---- rows ---- */

/* Finds what the rows of the array are. */
static int start_rows(records_field *f) {
  const evalue_tensor *t = &f->npy.tensor;
  uint8_t dim_order[EVALUE_MAX_NDIM];
  if (t->ndim == 0 || (f->kind == RECORDS_SCALAR && t->ndim != 1)) {
    cli_report(f->name, "expected an array of %s dimension%s, found one of %u",
               f->kind == RECORDS_SCALAR ? "one" : "at least one", f->kind == RECORDS_SCALAR ? "" : ", rows",
               (unsigned)t->ndim);
    return CLI_BAD_DATA;
  }
  size_t ndim = t->ndim - 1U;
  bool is_fortran = ndim > 0 && t->dim_order[0] != 0;
  f->rows = (uint64_t)t->sizes[0];
  f->is_scattered = is_fortran;
  f->row_size = f->rows != 0 ? t->nbytes / (size_t)f->rows : 0;
  for (size_t d = 0; d < ndim; d++) dim_order[d] = (uint8_t)(is_fortran ? ndim - 1 - d : d);
  uint64_t nbytes = 0;
  evalue_status status = evalue_tensor_nbytes(t->scalar_type, ndim, t->sizes + 1, &nbytes);
  if (status == EVALUE_OK && f->rows != 0) {
    status = evalue_tensor_init_dim_order(&f->row, t->scalar_type, ndim, t->sizes + 1, dim_order, t->data, f->row_size);
  }
  if (status != EVALUE_OK) {
    cli_report(f->name, "cannot make rows: %s", evalue_status_message((int32_t)status));
    return CLI_BAD_DATA;
  }
  bool is_copied = is_fortran || f->npy.is_big_endian;
  f->copy = is_copied && f->row_size != 0 ? malloc(f->row_size) : NULL;
  return is_copied && f->row_size != 0 && f->copy == NULL ? records_out_of_memory() : CLI_OK;
}

/* In Fortran order the elements of a row are as far apart as there are rows. */
static void gather(const records_field *f, uint64_t row) {
  size_t size = evalue_element_size(f->row.scalar_type), step = (size_t)f->rows * size;
  const uint8_t *from = (const uint8_t *)f->npy.tensor.data + (size_t)row * size;
  for (size_t at = 0; at < f->row_size; at += size, from += step) memcpy(f->copy + at, from, size);
}

/* The bytes of the row, in the order of the wire. */
static const uint8_t *row_data(const records_field *f, uint64_t row) {
  const uint8_t *data = (const uint8_t *)f->npy.tensor.data + (f->is_scattered ? 0 : (size_t)row * f->row_size);
  if (f->copy == NULL) return data;
  if (f->is_scattered) gather(f, row);
  if (f->npy.is_big_endian) {
    evalue_copy_reversed(f->copy, f->is_scattered ? f->copy : data, f->row_size, f->npy.component_size);
  }
  return f->copy;
}

/* ---- scalars ---- */

static double half_to_double(uint32_t half) {
  int exponent = (int)(half >> 10 & 31);
  double fraction = (double)(half & 1023), magnitude;
  if (exponent == 31) magnitude = fraction != 0 ? (double)NAN : (double)INFINITY;
  else magnitude = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25);
  return half >> 15 != 0 ? -magnitude : magnitude;
}

static double float_to_double(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return (double)number;
}

static int64_t sign_extend(uint64_t number, uint32_t bits) {
  uint64_t sign = UINT64_C(1) << (bits - 1);
  uint64_t extended = (number ^ sign) - sign;
  int64_t result;
  memcpy(&result, &extended, sizeof result);
  return result;
}

static bool put_int(uint32_t type, uint64_t number, evalue *value) {
  switch (type) {
    case EVALUE_INT8:
    case EVALUE_INT16:
    case EVALUE_INT32:
    case EVALUE_INT64: *value = evalue_from_int(sign_extend(number, 8 * evalue_element_size(type))); return true;
    case EVALUE_UINT64:
      if (number > INT64_MAX) return false;
      break;
    default: break;
  }
  *value = evalue_from_int((int64_t)number);
  return true;
}

/* Turns an element into a value; NULL, or what was expected of it. */
static const char *make_scalar(uint32_t type, const uint8_t *data, evalue *value) {
  uint64_t number = 0;
  double d;
  for (uint32_t i = 0, size = evalue_element_size(type); i < size && i < 8; i++) number |= (uint64_t)data[i] << 8 * i;
  switch (type) {
    case EVALUE_BOOL: *value = evalue_from_bool(number == 1); return number > 1 ? "0 or 1" : NULL;
    case EVALUE_FLOAT16: *value = evalue_from_double(half_to_double((uint32_t)number)); return NULL;
    case EVALUE_BFLOAT16: *value = evalue_from_double(float_to_double((uint32_t)number << 16)); return NULL;
    case EVALUE_FLOAT32: *value = evalue_from_double(float_to_double((uint32_t)number)); return NULL;
    case EVALUE_FLOAT64:
      memcpy(&d, &number, sizeof d);
      *value = evalue_from_double(d);
      return NULL;
    default: return put_int(type, number, value) ? NULL : "a number that an Int can hold, at most 2^63 - 1";
  }
}

static bool is_scalar_type(uint32_t type) {
  switch (type) {
    case EVALUE_UINT8:
    case EVALUE_INT8:
    case EVALUE_INT16:
    case EVALUE_INT32:
    case EVALUE_INT64:
    case EVALUE_UINT16:
    case EVALUE_UINT32:
    case EVALUE_UINT64:
    case EVALUE_FLOAT16:
    case EVALUE_FLOAT32:
    case EVALUE_FLOAT64:
    case EVALUE_BFLOAT16:
    case EVALUE_BOOL: return true;
    default: return false;
  }
}

/* ---- opening and closing ---- */

static int open_array(records_field *f, int as) {
  if (!cli_input_open(&f->input, f->name, cli_npy_needed, NULL)) return CLI_FAILURE;
  int result = cli_npy_read_as(&f->input, as, &f->npy);
  if (result == CLI_OK) result = start_rows(f);
  uint32_t type = f->npy.tensor.scalar_type;
  if (result == CLI_OK && f->kind == RECORDS_SCALAR && !is_scalar_type(type)) {
    cli_report(f->name, "expected integers, floating-point numbers or bools, found %s", evalue_scalar_type_name(type));
    result = CLI_BAD_DATA;
  }
  if (result != CLI_OK && !cli_input_ok(&f->input)) result = CLI_FAILURE;
  if (result != CLI_OK) cli_input_close(&f->input);
  return result;
}

records_field *records_field_open(records_field_kind kind, const char *name, int as, int *result) {
  records_field *f = calloc(1, sizeof *f);
  *result = f == NULL ? records_out_of_memory() : CLI_OK;
  if (f == NULL) return NULL;
  f->kind = kind;
  f->name = name;
  f->rows = UINT64_MAX;
  if (kind != RECORDS_JSON) *result = open_array(f, as);
  else if (!cli_json_open(&f->json, name)) *result = CLI_FAILURE;
  if (*result == CLI_OK) return f;
  free(f->copy);
  free(f);
  return NULL;
}

void records_field_close(records_field *f) {
  if (f == NULL) return;
  if (f->kind == RECORDS_JSON) cli_json_close(&f->json);
  else cli_input_close(&f->input);
  free(f->copy);
  free(f);
}

/* ---- reading ---- */

uint64_t records_field_rows(const records_field *f) {
  return f->rows;
}

const char *records_field_name(const records_field *f) {
  return cli_input_name(f->name);
}

uint64_t records_field_bytes(const records_field *f) {
  return f->kind == RECORDS_JSON ? f->json.total : f->npy.tensor.nbytes;
}

uint64_t records_field_done(const records_field *f) {
  return f->kind == RECORDS_JSON ? f->json.done : f->next * f->row_size;
}

bool records_field_ok(const records_field *f) {
  return f->kind == RECORDS_JSON || cli_input_ok(&f->input);
}

int records_field_next(records_field *f, evalue *value) {
  if (f->kind == RECORDS_JSON) {
    int result = cli_json_next(&f->json, value);
    return result == CLI_JSON_END ? RECORDS_END : result;
  }
  if (f->next == f->rows) return RECORDS_END;
  const uint8_t *data = row_data(f, f->next++);
  if (f->kind == RECORDS_TENSOR) {
    f->row.data = data;
    *value = evalue_from_tensor(&f->row);
    return CLI_OK;
  }
  const char *expected = make_scalar(f->row.scalar_type, data, value);
  if (expected == NULL) return CLI_OK;
  char found[64];
  evalue_print_element(f->row.scalar_type, data, found, sizeof found);
  cli_report(f->name, "row %llu: expected %s, found %s", (unsigned long long)(f->next - 1), expected, found);
  return CLI_BAD_DATA;
}
