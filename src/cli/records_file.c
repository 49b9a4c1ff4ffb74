/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A record file that is read, and what is said of bad records in it: at once, at the end, or, in a thread, later.
 * Positions of a file's faults are in the file; those of a message's own are in the message, behind "message".
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../text/shared.h"
#include "display.h"
#include "records.h"

/* ---- messages ---- */

enum { OF_DATA = 'd', OF_COMMAND = 'c' }; /* whether a message begins with the file's name or the command's */

static void print_text(const char *name, char kind, const char *text) {
  if (kind == OF_DATA) cli_report(name, "%s", text);
  else cli_message("%s: %s", cli_input_name(name), text);
}

static void say(records_file *file, char kind, int result, const char *text) {
  if (result > file->result) file->result = result;
  if (file->texts == NULL) {
    print_text(file->name, kind, text);
    return;
  }
  putc(kind, file->texts);
  fwrite(text, 1, strlen(text) + 1, file->texts);
}

void records_print_texts(const char *name, const char *texts, size_t size) {
  for (const char *p = texts; p < texts + size; p += strlen(p) + 1) print_text(name, p[0], p + 1);
}

static int fail(records_file *file, const char *what, int error) {
  char text[RECORDS_TEXT_SIZE];
  if (error == ENOMEM) snprintf(text, sizeof text, "out of memory");
  else snprintf(text, sizeof text, "%s: %s", what, strerror(error));
  say(file, OF_COMMAND, CLI_FAILURE, text);
  return CLI_FAILURE;
}

/* ---- opening and closing ---- */

bool records_open(records_file *file, const char *name, records_policy policy,
                  const evalue_record_reader_options *options) {
  struct stat status;
  file->name = name;
  file->policy = policy;
  file->faults = file->size = file->last_progress = 0;
  file->result = CLI_OK;
  file->first[0] = '\0';
  file->fd = cli_open_by_name(name);
  if (file->fd < 0 || fstat(file->fd, &status) != 0) {
    fail(file, "cannot open", errno);
    if (file->fd >= 0) close(file->fd);
    return false;
  }
  if (S_ISREG(status.st_mode)) file->size = (uint64_t)status.st_size;
  evalue_status result = evalue_record_reader_init(&file->reader, file->fd, options);
  if (result == EVALUE_OK) {
    file->last_progress = evalue_record_reader_offset(&file->reader);
    EVALUE_LOG(&evalue_log_cli, EVALUE_LOG_DEBUG, "%s: %llu bytes, read as records", cli_input_name(name),
               (unsigned long long)file->size);
    return true;
  }
  fail(file, "cannot read", result == EVALUE_MISUSE ? EBADF : file->reader.system_error);
  close(file->fd);
  return false;
}

static void say_what_is_left_out(records_file *file) {
  char text[RECORDS_TEXT_SIZE + 64], number[CLI_GROUPED_SIZE];
  if (file->policy == RECORDS_SKIP && file->faults != 0) {
    snprintf(text, sizeof text, "left out %s bad record%s; the first one: %s", cli_grouped(file->faults, number),
             cli_plural(file->faults), file->first);
    say(file, OF_DATA, CLI_OK, text);
  }
  if (file->policy == RECORDS_GO_ON && file->faults > file->most_faults && file->most_faults != 0) {
    uint64_t more = file->faults - file->most_faults;
    snprintf(text, sizeof text, "%s more bad record%s", cli_grouped(more, number), cli_plural(more));
    say(file, OF_DATA, CLI_BAD_DATA, text);
  }
}

int records_close(records_file *file) {
  say_what_is_left_out(file);
  evalue_record_reader_close(&file->reader);
  close(file->fd);
  return file->result;
}

uint64_t records_progress(records_file *file) {
  uint64_t now = evalue_record_reader_offset(&file->reader), last = file->last_progress;
  file->last_progress = now;
  return now > last ? now - last : 0;
}

/* ---- bad records ---- */

/* Takes what is wrong with a record, by the file's policy. */
static int take_fault(records_file *file, const char *text) {
  file->faults++;
  if (file->policy == RECORDS_SKIP) {
    if (file->faults == 1) snprintf(file->first, sizeof file->first, "%s", text);
    return RECORDS_BAD;
  }
  if (file->policy == RECORDS_STOP || file->faults <= file->most_faults) say(file, OF_DATA, CLI_BAD_DATA, text);
  file->result = file->result < CLI_BAD_DATA ? CLI_BAD_DATA : file->result;
  return file->policy == RECORDS_STOP ? CLI_BAD_DATA : RECORDS_BAD;
}

int records_reject(records_file *file, const evalue_record *record, const char *format, ...) {
  char text[RECORDS_TEXT_SIZE];
  va_list list;
  int length = snprintf(text, sizeof text, "record %llu: offset %llu: ", (unsigned long long)record->index,
                        (unsigned long long)record->offset);
  va_start(list, format);
  vsnprintf(text + length, sizeof text - (size_t)length, format, list);
  va_end(list);
  return take_fault(file, text);
}

/* A length that cannot be believed hides all that follows. */
static void say_what_is_lost(records_file *file, const char *text) {
  char whole[RECORDS_TEXT_SIZE + 100], number[CLI_GROUPED_SIZE];
  uint64_t from = file->reader.fault_offset;
  if (file->size > from) {
    snprintf(whole, sizeof whole, "%s; left out the %s bytes from there on, which cannot be read", text,
             cli_grouped(file->size - from, number));
  } else {
    snprintf(whole, sizeof whole, "%s; left out what follows, which cannot be read", text);
  }
  say(file, OF_DATA, CLI_OK, whole);
}

/* What the reader says of the next record, or of the file's end. RECORDS_BAD: there may be more records. */
static int take_failure(records_file *file, evalue_status status) {
  const evalue_error *error = evalue_record_reader_error(&file->reader);
  char fault[1024], text[RECORDS_TEXT_SIZE];
  struct stat now;
  if (status == EVALUE_IO) return fail(file, "cannot read", file->reader.system_error);
  if (status == EVALUE_TRUNCATED && file->size != 0 && fstat(file->fd, &now) == 0 &&
      (uint64_t)now.st_size < file->size) {
    say(file, OF_COMMAND, CLI_FAILURE, "the file shrank while it was read");
    return CLI_FAILURE;
  }
  bool goes_on = error->fault == EVALUE_FAULT_RECORD_DATA_CRC || status == EVALUE_LIMIT;
  evalue_print_error_of(error, file->size, fault, sizeof fault);
  snprintf(text, sizeof text, "record %llu: %s", (unsigned long long)file->reader.fault_index, fault);
  if (file->policy == RECORDS_SKIP && !goes_on && status != EVALUE_TRUNCATED) {
    say_what_is_lost(file, text);
    return RECORDS_END;
  }
  int result = take_fault(file, text);
  return result == RECORDS_BAD && !goes_on ? RECORDS_END : result;
}

int records_next(records_file *file, evalue_record *record) {
  int result = RECORDS_BAD;
  while (result == RECORDS_BAD) {
    evalue_status status = evalue_record_reader_next(&file->reader, record);
    if (status == EVALUE_OK) return CLI_OK;
    if (status == EVALUE_END) return RECORDS_END;
    result = take_failure(file, status);
    if (file->policy == RECORDS_GO_ON) return result;
  }
  return result;
}

/* ---- messages in records ---- */

/* A tf.Example is one field, the first, which takes all its bytes. */
static bool looks_like_example(const evalue_record *record) {
  uint64_t length = 0;
  size_t at = 1;
  if (record->size < 2 || record->data[0] != 0x0a) return false;
  for (unsigned shift = 0; at < record->size && shift < 35; shift += 7) {
    uint8_t byte = record->data[at++];
    length |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return length == record->size - at;
  }
  return false;
}

int records_check_message(records_file *file, const evalue_record *record) {
  evalue_reader reader;
  char fault[1024];
  if (record->size == 0) {
    return records_reject(file, record, "malformed: %s: expected a message, found no byte",
                          evalue_fault_message(EVALUE_FAULT_RECORD_EMPTY));
  }
  evalue_status status = evalue_reader_init(&reader, record->data, record->size, NULL);
  while (status == EVALUE_OK) status = evalue_reader_next(&reader, NULL);
  if (status == EVALUE_END) return CLI_OK;
  const evalue_error *error = evalue_reader_error(&reader);
  EVALUE_LOG_REJECTED(&evalue_log_reader, error, record->data, record->size);
  evalue_print_error_of(error, record->size, fault, sizeof fault);
  bool is_example = error->position < EVALUE_HEADER_SIZE && looks_like_example(record);
  return records_reject(file, record, "message: %s%s", fault,
                        is_example ? "; it looks like a tf.Example: 'evalue records from-tfexample' reads them" : "");
}

/* ---- heads ---- */

/* Records with more data than that are refused, and so gone past, unread: all but those that cost nothing. */
const evalue_record_reader_options records_heads_only = {.max_record = 1, .ignore_crc = 1, .buffer_size = 4096};

evalue_status records_pass(evalue_record_reader *reader, evalue_record_entry *entry) {
  evalue_record record;
  entry->offset = evalue_record_reader_offset(reader);
  evalue_status status = evalue_record_reader_next(reader, &record);
  bool is_cut = status == EVALUE_LIMIT && evalue_record_reader_offset(reader) == entry->offset;
  if (is_cut) status = evalue_record_reader_next(reader, &record); /* says so */
  else if (status == EVALUE_LIMIT) status = EVALUE_OK;
  entry->size = evalue_record_reader_offset(reader) - entry->offset;
  return status;
}
