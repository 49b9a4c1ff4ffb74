/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the tf.Example conversion, and the sentences for them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "evalue/text.h"
#include "tfexample_internal.h"

evalue_tfexample_error evalue_tfexample_error_of(uint32_t fault) {
  static const uint8_t statuses[] = {
#define EVALUE_X(name, status, meaning) EVALUE_##status,
      EVALUE_TFEXAMPLE_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  const evalue_tfexample_error error = {
      statuses[fault], fault, EVALUE_NO_INDEX, EVALUE_NO_INDEX, EVALUE_NO_INDEX, 0, 0};
  return error;
}

evalue_status evalue_tfexample_fail_expecting(evalue_tfexample_work *w, uint32_t fault, uint64_t position,
                                              uint64_t expected, uint64_t found) {
  uint64_t element = w->error.element;
  w->error = evalue_tfexample_error_of(fault);
  w->error.position = position;
  w->error.feature = w->feature;
  w->error.element = element;
  w->error.expected = expected;
  w->error.found = found;
  return (evalue_status)w->error.status;
}

evalue_status evalue_tfexample_fail(evalue_tfexample_work *w, uint32_t fault, uint64_t position) {
  return evalue_tfexample_fail_expecting(w, fault, position, 0, 0);
}

/* ---- sentences ---- */

/* Text that grows at its end, and is cut where the memory ends. */
typedef struct sentence {
  char *text;
  size_t capacity, size; /* size: as if it had not been cut */
} sentence;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
put(sentence *s, const char *format, ...) {
  va_list arguments;
  bool has_room = s->size < s->capacity;
  va_start(arguments, format);
  int n = vsnprintf(has_room ? s->text + s->size : NULL, has_room ? s->capacity - s->size : 0, format, arguments);
  va_end(arguments);
  if (n > 0) s->size += (size_t)n;
}

static void put_quoted(sentence *s, const void *bytes, size_t size) {
  bool has_room = s->size < s->capacity;
  s->size +=
      evalue_print_string(bytes, size, has_room ? s->text + s->size : NULL, has_room ? s->capacity - s->size : 0);
}

static void put_double(sentence *s, uint64_t bits) {
  double number;
  bool has_room = s->size < s->capacity;
  memcpy(&number, &bits, sizeof number);
  s->size += evalue_print_double(number, has_room ? s->text + s->size : NULL, has_room ? s->capacity - s->size : 0);
}

static const char *list_name(uint64_t list) {
  static const char *const names[] = {"no list", "a BytesList", "a FloatList", "an Int64List"};
  return names[list & 3];
}

static void put_range(sentence *s, const evalue_tfexample_error *error, const evalue_tfexample_feature *f) {
  uint32_t type = f != NULL ? evalue_tfexample_scalar_type(f) : EVALUE_INT64;
  int64_t least, largest;
  bool is_raw = f != NULL && evalue_tfexample_list_of(f) == EVALUE_TFEXAMPLE_BYTES_LIST;
  if (f != NULL && !is_raw && evalue_tfexample_list_of(f) == EVALUE_TFEXAMPLE_FLOAT_LIST) {
    put(s, ": expected one that %s can hold, found ",
        type == EVALUE_FLOAT64 ? "float32" : evalue_scalar_type_name(type));
    put_double(s, error->found);
    return;
  }
  evalue_tfexample_int_range(type, &least, &largest);
  put(s, ": expected %" PRId64 " to %" PRId64 ", found ", least, largest);
  if (type == EVALUE_UINT64 && error->position == EVALUE_NO_INDEX) put(s, "%" PRIu64, error->found);
  else put(s, "%" PRId64, (int64_t)error->found);
}

static bool has_open_size(const evalue_tfexample_feature *f) {
  for (size_t i = 0; f != NULL && i < f->ndim; i++) {
    if (f->sizes[i] < 0) return true;
  }
  return false;
}

/* What a number of entries, or of bytes, should be. */
static void put_total(sentence *s, const evalue_tfexample_error *error, const evalue_tfexample_feature *f,
                      const char *unit) {
  bool is_open = has_open_size(f) && (error->fault == EVALUE_TFEXAMPLE_FAULT_NBYTES ||
                                      evalue_tfexample_list_of(f) != EVALUE_TFEXAMPLE_BYTES_LIST);
  put(s, ": expected %s%" PRIu64 "%s, found %" PRIu64, is_open ? "a multiple of " : "", error->expected, unit,
      error->found);
}

static const char *value_kind(uint64_t tag, const evalue_tfexample_feature *f) {
  if (f != NULL && f->is_optional != 0 && tag == EVALUE_TAG_NONE) return "None";
  const char *name = tag <= UINT8_MAX ? evalue_tag_name((uint32_t)tag) : NULL;
  return name != NULL ? name : "?";
}

static const char *type_name(uint64_t type) {
  const char *name = type <= UINT8_MAX ? evalue_scalar_type_name((uint32_t)type) : NULL;
  return name != NULL ? name : "?";
}

static void put_comparison(sentence *s, const evalue_tfexample_error *error, const evalue_tfexample_feature *f) {
  switch (error->fault) {
    case EVALUE_TFEXAMPLE_FAULT_MEMORY:
      if (error->expected != 0) put(s, ": %" PRIu64 " bytes are needed", error->expected);
      break;
    case EVALUE_TFEXAMPLE_FAULT_TOO_LARGE:
      put(s, ": expected at most %" PRIu64 " bytes, found %" PRIu64, error->expected, error->found);
      break;
    case EVALUE_TFEXAMPLE_FAULT_FIELD_SHORT:
      if (error->found != 0)
        put(s, ": it needs %" PRIu64 " bytes, %" PRIu64 " are left", error->found, error->expected);
      break;
    case EVALUE_TFEXAMPLE_FAULT_FLOAT_LENGTH: put(s, ": found %" PRIu64, error->found); break;
    case EVALUE_TFEXAMPLE_FAULT_MISSING:
    case EVALUE_TFEXAMPLE_FAULT_LIST:
      put(s, ": expected %s, found %s", list_name(error->expected), list_name(error->found));
      break;
    case EVALUE_TFEXAMPLE_FAULT_COUNT: put_total(s, error, f, ""); break;
    case EVALUE_TFEXAMPLE_FAULT_NBYTES: put_total(s, error, f, " bytes"); break;
    case EVALUE_TFEXAMPLE_FAULT_RANGE: put_range(s, error, f); break;
    case EVALUE_TFEXAMPLE_FAULT_INEXACT:
      put(s, ": found ");
      put_double(s, error->found);
      break;
    case EVALUE_TFEXAMPLE_FAULT_UTF8:
      if (error->position != EVALUE_NO_INDEX) put(s, ": found the byte 0x%02x", (unsigned)error->found);
      break;
    case EVALUE_TFEXAMPLE_FAULT_VALUE_KIND:
      put(s, ": expected %s, found %s", value_kind(error->expected, f), value_kind(error->found, f));
      break;
    case EVALUE_TFEXAMPLE_FAULT_SCALAR_TYPE:
      put(s, ": expected %s, found %s", type_name(error->expected), type_name(error->found));
      break;
    case EVALUE_TFEXAMPLE_FAULT_NDIM:
    case EVALUE_TFEXAMPLE_FAULT_SIZE:
      put(s, ": expected %" PRIu64 ", found %" PRIu64, error->expected, error->found);
      break;
    default: break;
  }
}

static const char *message_of(uint32_t fault) {
  static const char *const messages[] = {
#define EVALUE_X(name, status, meaning) meaning,
      EVALUE_TFEXAMPLE_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  return fault < sizeof messages / sizeof messages[0] ? messages[fault] : "?";
}

size_t evalue_tfexample_print_error(const evalue_tfexample_error *error, const evalue_tfexample_feature *features,
                                    size_t count, char *text, size_t capacity) {
  static const evalue_tfexample_error misuse = {
      EVALUE_MISUSE, EVALUE_TFEXAMPLE_FAULT_ARGUMENT, EVALUE_NO_INDEX, EVALUE_NO_INDEX, EVALUE_NO_INDEX, 0, 0};
  sentence s = {text, text != NULL ? capacity : 0, 0};
  if (error == NULL) error = &misuse;
  const evalue_tfexample_feature *f = features != NULL && error->feature < count ? &features[error->feature] : NULL;
  if (s.capacity != 0) text[0] = '\0';
  if (error->position != EVALUE_NO_INDEX) put(&s, "offset %" PRIu64 ": ", error->position);
  if (f != NULL) {
    put(&s, "feature ");
    put_quoted(&s, f->name, f->name_size);
    put(&s, ": ");
  }
  if (error->element != EVALUE_NO_INDEX) {
    put(&s, "%s %" PRIu64 ": ", error->fault == EVALUE_TFEXAMPLE_FAULT_SIZE ? "dimension" : "element", error->element);
  }
  put(&s, "%s: %s", evalue_status_name(error->status), message_of(error->fault));
  put_comparison(&s, error, f);
  return s.size;
}
