/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For test_reference.py: the library's writer and reader, for what spec/records_reference.py reads and writes.
 *
 *     records write PATH [append] [index=PATH] [buffer=N] [align=N] [flush=N]
 *     records read [messages] [skip] [ignore] [max=N] FILE...
 *     records at FILE INDEX [max=N]
 *
 * What is written comes from stdin: 'v' (a message, whose values are put) or 'b' (bytes that are put), the size (8
 * bytes, little-endian), the message or the bytes. flush: after every N records. Prints the offset of each, and the
 * bytes that were cut off.
 *
 * What was read is printed with a line "= OFFSET SIZE HEX" for each record; at the level of messages, for each message,
 * encoded anew with the default alignment. A fault is a line "! KEY=VALUE ...". The last line of a file is "~ RECORDS
 * SKIPPED", where it ended well, or "~ RECORDS SKIPPED KEY=VALUE ...".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "evalue/evalue.h"

enum { MOST_VALUES = 1000 };

static void check(bool is_good, const char *why) {
  if (is_good) return;
  fprintf(stderr, "records: %s\n", why);
  exit(2);
}

/* The number behind "NAME=", in *number, if that is how the argument begins. */
static bool is_number(const char *argument, const char *name, uint64_t *number) {
  size_t size = strlen(name);
  if (strncmp(argument, name, size) != 0 || argument[size] != '=') return false;
  *number = strtoull(argument + size + 1, NULL, 10);
  return true;
}

/* ---- writing ---- */

/* Reads what is put next; false at the end. */
static bool take(char *how, uint8_t **data, size_t *size) {
  uint8_t head[9];
  if (fread(head, 1, sizeof head, stdin) != sizeof head) return false;
  *how = (char)head[0];
  *size = (size_t)evalue_load_u64(head + 1);
  *data = malloc(*size + 1); /* just as large, so that a sanitizer sees more */
  check(*data != NULL && fread(*data, 1, *size, stdin) == *size, "stdin ends too early");
  return true;
}

static void put(evalue_record_writer *w, char how, const uint8_t *data, size_t size) {
  static evalue values[MOST_VALUES];
  uint64_t n, offset;
  evalue_status status;
  if (how == 'v') {
    check(evalue_message_decode(data, size, NULL, values, MOST_VALUES, &n, NULL) == EVALUE_OK, "no message");
    status = evalue_record_writer_put(w, values, (size_t)n, &offset);
  } else {
    status = evalue_record_writer_put_bytes(w, data, size, &offset);
  }
  check(status == EVALUE_OK, evalue_status_name((int32_t)status));
  printf("%" PRIu64 "\n", offset);
}

static void write_records(const char *path, int count, char **arguments) {
  evalue_record_writer_options options = {.size = sizeof options};
  evalue_record_writer w;
  uint64_t number = 0, flush = 0;
  uint8_t *data;
  size_t size;
  char how;
  for (int i = 0; i < count; i++) {
    if (strcmp(arguments[i], "append") == 0) options.append = 1;
    else if (strncmp(arguments[i], "index=", 6) == 0) options.index_path = arguments[i] + 6;
    else if (is_number(arguments[i], "buffer", &number)) options.buffer_size = (size_t)number;
    else if (is_number(arguments[i], "align", &number)) options.alignment = (uint32_t)number;
    else check(is_number(arguments[i], "flush", &flush), "usage");
  }
  evalue_status status = evalue_record_writer_open(&w, path, &options);
  check(status == EVALUE_OK, evalue_status_name((int32_t)status));
  for (uint64_t i = 1; take(&how, &data, &size); i++) {
    put(&w, how, data, size);
    free(data);
    if (flush != 0 && i % flush == 0) check(evalue_record_writer_flush(&w) == EVALUE_OK, "flushing");
  }
  printf("cut %" PRIu64 "\n", w.cut);
  check(evalue_record_writer_close(&w) == EVALUE_OK, "closing");
}

/* ---- reading ---- */

static void print_record(uint64_t offset, uint64_t size, const uint8_t *data, size_t nbytes) {
  static const char digits[] = "0123456789abcdef";
  printf("= %" PRIu64 " %" PRIu64 " ", offset, size);
  for (size_t i = 0; i < nbytes; i++) {
    putchar(digits[data[i] >> 4]);
    putchar(digits[data[i] & 15]);
  }
  putchar('\n');
}

static void print_fault(const evalue_error *e, uint64_t record, uint64_t offset) {
  printf(" status=%s fault=%s field=%s record=%" PRIu64 " offset=%" PRIu64 " position=%" PRIu64 " value=%" PRIu64
         " expected=%" PRIu64 " found=%" PRIu64 " needed=%" PRIu64,
         evalue_status_name(e->status), evalue_fault_name(e->fault), evalue_field_name(e->field), record, offset,
         e->position, e->value_index, e->expected, e->found, e->needed);
}

/* Reads the next record, and prints it. */
static evalue_status read_next(evalue_record_reader *r, bool as_messages) {
  static evalue values[MOST_VALUES];
  evalue_record record;
  uint64_t n, size, before = r->counts.records;
  if (!as_messages) {
    evalue_status status = evalue_record_reader_next(r, &record);
    if (status != EVALUE_OK) return status;
    check((uintptr_t)record.data % EVALUE_RECORD_ALIGNMENT == 0, "the data are not aligned");
    print_record(record.offset, record.size + EVALUE_RECORD_FRAME_SIZE, record.data, record.size);
    return status;
  }
  evalue_status status = evalue_record_reader_next_values(r, values, MOST_VALUES, &n);
  if (status != EVALUE_OK) return status;
  check(r->counts.records == before + 1, "the counts are wrong");
  check(evalue_message_size(values, (size_t)n, 0, &size) == EVALUE_OK, "the values are none");
  uint8_t *message = malloc((size_t)size);
  check(message != NULL, "no memory");
  check(evalue_message_encode(values, (size_t)n, 0, message, (size_t)size, &size) == EVALUE_OK, "the values are none");
  print_record(0, 0, message, (size_t)size);
  free(message);
  return status;
}

static void read_file(const char *path, bool as_messages, const evalue_record_reader_options *options) {
  evalue_record_reader r;
  check(evalue_record_reader_open(&r, path, options) == EVALUE_OK, path);
  evalue_status status;
  do status = read_next(&r, as_messages);
  while (status == EVALUE_OK);
  uint64_t skipped = r.counts.corrupt + r.counts.too_large + r.counts.bad_messages;
  printf("~ %" PRIu64 " %" PRIu64, r.counts.records, skipped);
  if (status != EVALUE_END) print_fault(evalue_record_reader_error(&r), r.fault_index, r.fault_offset);
  putchar('\n');
  check(status == EVALUE_END || evalue_record_reader_error(&r)->status == (int32_t)status, "the error is another");
  check(evalue_record_reader_close(&r) == EVALUE_OK, "closing");
}

static void read_files(int count, char **arguments) {
  evalue_record_reader_options options = {.size = sizeof options};
  bool as_messages = false;
  for (int i = 0; i < count; i++) {
    if (strcmp(arguments[i], "messages") == 0) as_messages = true;
    else if (strcmp(arguments[i], "skip") == 0) options.skip = 1;
    else if (strcmp(arguments[i], "ignore") == 0) options.ignore_crc = 1;
    else if (!is_number(arguments[i], "max", &options.max_record)) read_file(arguments[i], as_messages, &options);
  }
}

static void read_at(const char *path, const char *index_path, const evalue_record_reader_options *options) {
  evalue_record_reader r;
  evalue_record_index index = {0};
  evalue_record record;
  size_t k = 0;
  check(evalue_record_reader_open(&r, path, options) == EVALUE_OK, path);
  evalue_status status = evalue_record_index_read(&index, index_path, r.file_size);
  const evalue_error *error = &index.error;
  for (; k < index.count && status == EVALUE_OK; k++) {
    status = evalue_record_reader_at(&r, &index.entries[k], &record);
    if (status != EVALUE_OK) break;
    print_record(record.offset, record.size + EVALUE_RECORD_FRAME_SIZE, record.data, record.size);
  }
  if (index.error.status == EVALUE_OK) error = evalue_record_reader_error(&r);
  printf("~ %" PRIu64 " 0", r.counts.records);
  if (status != EVALUE_OK) print_fault(error, error == &index.error ? index.count : k, r.fault_offset);
  putchar('\n');
  evalue_record_index_free(&index);
  check(evalue_record_reader_close(&r) == EVALUE_OK, "closing");
}

int main(int count, char **arguments) {
  const char *what = count > 2 ? arguments[1] : "";
  evalue_record_reader_options options = {.size = sizeof options};
  if (strcmp(what, "write") == 0) write_records(arguments[2], count - 3, arguments + 3);
  else if (strcmp(what, "read") == 0) read_files(count - 2, arguments + 2);
  else if (strcmp(what, "at") == 0 && count == 4) read_at(arguments[2], arguments[3], &options);
  else if (strcmp(what, "at") == 0 && count == 5 && is_number(arguments[4], "max", &options.max_record))
    read_at(arguments[2], arguments[3], &options);
  else check(false, "usage: see records.c");
  return 0;
}
