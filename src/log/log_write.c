/* SPDX-License-Identifier: BSD-3-Clause */
/* One line: formatted, cleaned, and handed to whoever handles it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../text/text_internal.h"
#include "evalue/tensor.h"
#include "evalue/text.h"
#include "log_internal.h"

static const evalue_log_handler *handler_in_force; /* NULL: the default; read and written atomically */

const evalue_log_handler *evalue_log_set_handler(const evalue_log_handler *handler) {
  return __atomic_exchange_n(&handler_in_force, handler, __ATOMIC_ACQ_REL);
}

const char *evalue_log_level_name(int32_t level) {
  static const char *const names[] = {"?", "debug", "info", "warning", "error", "none"};
  return level > 0 && level < (int32_t)(sizeof names / sizeof names[0]) ? names[level] : "?";
}

/* ---- cleaning ---- */

void evalue_log_put_clean(evalue_text *out, const char *raw, size_t size) {
  const uint8_t *p = (const uint8_t *)raw;
  for (size_t i = 0, length; i < size; i += length) {
    uint32_t code = 0;
    length = evalue_utf8_decode(p + i, size - i, &code);
    bool is_plain = length != 0 && !evalue_is_control(code);
    if (length == 0) length = 1;
    if (is_plain) evalue_text_piece(out, raw + i, length);
    else
      for (size_t k = 0; k < length; k++) evalue_text_put_hex_byte(out, p[i + k]);
  }
}

/* Cleans a text into so much of a message; returns how much that took, and *is_cut when it was too long. */
static size_t clean_into(char *message, size_t capacity, const char *raw, size_t size, bool *is_cut) {
  evalue_text cleaned = evalue_text_start(message, capacity);
  evalue_log_put_clean(&cleaned, raw, size);
  evalue_text_end(&cleaned);
  *is_cut = *is_cut || cleaned.cut;
  return cleaned.written;
}

/* Copies a message without anything that could break the line; what is too long ends with "...". */
static void clean(const char *raw, size_t size, bool is_cut, char message[EVALUE_LOG_MESSAGE_SIZE]) {
  static const char dots[] = "...";
  clean_into(message, EVALUE_LOG_MESSAGE_SIZE, raw, size, &is_cut);
  if (!is_cut) return;
  size_t used = clean_into(message, EVALUE_LOG_MESSAGE_SIZE - sizeof dots + 1, raw, size, &is_cut);
  memcpy(message + used, dots, sizeof dots);
}

/* ---- handing on ---- */

static const char *base_name(const char *file) {
  const char *slash = file != NULL ? strrchr(file, '/') : NULL;
  return file == NULL ? "?" : slash != NULL ? slash + 1 : file;
}

static void hand_on(evalue_log_record *record, const char *file) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  record->time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  record->file = base_name(file);
  static _Thread_local bool is_inside; /* a handler that logs would call itself for ever */
  const evalue_log_handler *handler = __atomic_load_n(&handler_in_force, __ATOMIC_ACQUIRE);
  if (handler != NULL && handler->handle != NULL && !is_inside) {
    is_inside = true;
    handler->handle(handler->context, record);
    is_inside = false;
  } else {
    evalue_log_start(); /* it has to know where to write */
    evalue_log_default_handle(record);
  }
}

static void write_list(evalue_log_record *record, const char *file, const char *format, va_list list)
    EVALUE_LOG_FORMAT(3, 0);

static void write_list(evalue_log_record *record, const char *file, const char *format, va_list list) {
  char raw[EVALUE_LOG_MESSAGE_SIZE], message[EVALUE_LOG_MESSAGE_SIZE];
  int before = errno; /* nobody expects it to change because of a log line */
  int length = vsnprintf(raw, sizeof raw, format, list);
  if (length < 0) length = 0;
  bool is_cut = (size_t)length >= sizeof raw;
  clean(raw, is_cut ? sizeof raw - 1 : (size_t)length, is_cut, message);
  record->message = message;
  hand_on(record, file);
  record->message = NULL;
  errno = before;
}

static evalue_log_record record_of(const evalue_log_component *component, int32_t level, int32_t line) {
  evalue_log_record record = {.level = level, .line = line, .position = EVALUE_NO_INDEX};
  record.component = component != NULL && component->name != NULL ? component->name : "?";
  return record;
}

void evalue_log_write(const evalue_log_component *component, int32_t level, const char *file, int32_t line,
                      const char *format, ...) {
  evalue_log_record record = record_of(component, level, line);
  va_list list;
  va_start(list, format);
  write_list(&record, file, format, list);
  va_end(list);
}

void evalue_log_write_status(const evalue_log_component *component, int32_t level, int32_t status, uint64_t position,
                             const char *file, int32_t line, const char *format, ...) {
  evalue_log_record record = record_of(component, level, line);
  va_list list;
  record.status = status;
  record.position = position;
  va_start(list, format);
  write_list(&record, file, format, list);
  va_end(list);
}

/* ---- diagnostics ---- */

static void diagnose(evalue_log_record *record, const evalue_log_component *diagnostic, const char *file,
                     const char *format, ...) EVALUE_LOG_FORMAT(4, 5);

static void diagnose(evalue_log_record *record, const evalue_log_component *diagnostic, const char *file,
                     const char *format, ...) {
  va_list list;
  record->diagnostic = diagnostic->name;
  va_start(list, format);
  write_list(record, file, format, list);
  va_end(list);
}

/* Writes the bytes around a position in hex, the one there in brackets. */
static void format_bytes(const uint8_t *data, size_t size, uint64_t position, char *text, size_t capacity) {
  enum { AROUND = 8 };
  size_t from = position > AROUND ? (size_t)(position - AROUND) : 0, n = 0;
  if (position > size || data == NULL) from = size;
  for (size_t i = from; i < size && i <= position + AROUND; i++) {
    n += (size_t)snprintf(text + n, capacity - n, i == position ? " [%02x]" : " %02x", data[i]);
  }
  if (position >= size) snprintf(text + n, capacity - n, " [the end]");
}

void evalue_log_rejected(const evalue_log_component *component, const evalue_error *error, const void *data,
                         size_t size, const char *file, int32_t line) {
  char what[400], bytes[160] = "";
  if (error == NULL) return;
  evalue_log_record record = record_of(component, EVALUE_LOG_INFO, line);
  record.status = error->status;
  evalue_print_error_of(error, size, what, sizeof what);
  bool has_place = error->field != EVALUE_FIELD_NONE; /* otherwise nothing in the input is wrong */
  if (has_place) record.position = error->position;
  if (!has_place || data == NULL) {
    diagnose(&record, &evalue_log_why_rejected, file, "%s", what);
    return;
  }
  format_bytes((const uint8_t *)data, size, error->position, bytes, sizeof bytes);
  diagnose(&record, &evalue_log_why_rejected, file, "%s; bytes around it:%s", what, bytes);
}

const char *evalue_log_copy_rule(const evalue_tensor *tensor, uint32_t scalar_type) {
  if (evalue_tensor_typed_data(tensor, scalar_type) != NULL) return NULL;
  if (evalue_tensor_check(tensor) != EVALUE_OK) return "the tensor is not valid";
  if (tensor->scalar_type != scalar_type) return "the elements are of another scalar type";
  if (tensor->nbytes == 0) return "there are no elements";
  if (EVALUE_HOST_ENDIAN == EVALUE_BIG_ENDIAN && evalue_component_size(scalar_type) > 1)
    return "the host is big-endian, and the elements are not";
  return "the address is not aligned for the elements";
}

void evalue_log_copied(const evalue_log_component *component, uint64_t nbytes, const char *rule, const char *file,
                       int32_t line) {
  evalue_log_record record = record_of(component, EVALUE_LOG_INFO, line);
  diagnose(&record, &evalue_log_why_copied, file, "%llu bytes copied: %s", (unsigned long long)nbytes,
           rule != NULL ? rule : "?");
}
