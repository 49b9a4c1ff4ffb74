/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the records of a file are, in memory and as lines of text. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "record_internal.h"

enum { TEXT = 32 << 10 }; /* what is read or written at once */

/* ---- entries ---- */

bool evalue_record_index_add(evalue_record_index *index, uint64_t offset, uint64_t size) {
  enum { LEAST = 64 };
  void *entries = index->entries;
  size_t needed = index->capacity == 0 ? LEAST : index->count + 1;
  if (!evalue_record_grow(&entries, &index->capacity, index->count, needed, sizeof *index->entries)) return false;
  index->entries = (evalue_record_entry *)entries;
  index->entries[index->count++] = (evalue_record_entry){offset, size};
  return true;
}

void evalue_record_index_free(evalue_record_index *index) {
  if (index == NULL) return;
  free(index->entries);
  memset(index, 0, sizeof *index);
}

/* Forgets the entries, but not their memory. */
static void begin_anew(evalue_record_index *index) {
  index->count = 0;
  index->error = (evalue_error){.status = EVALUE_OK};
  index->system_error = 0;
}

static evalue_status fail(evalue_record_index *index, int error) {
  index->system_error = error;
  index->error = (evalue_error){.status = EVALUE_IO, .value_index = EVALUE_NO_INDEX};
  return EVALUE_IO;
}

evalue_status evalue_record_index_build(evalue_record_index *index, evalue_record_reader *reader) {
  evalue_record_scan scan;
  if (index == NULL || !evalue_record_reader_is_usable(reader)) return EVALUE_MISUSE;
  begin_anew(index);
  evalue_status status = evalue_record_scan_heads(&scan, reader->fd, index);
  if (status == EVALUE_END) return EVALUE_OK;
  index->error = scan.error;
  index->system_error = scan.system_error;
  return status;
}

/* ---- writing ---- */

/* Writes a number in decimal in front of `end`; returns where it begins. */
static char *put_decimal(char *end, uint64_t number) {
  do {
    *--end = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return end;
}

size_t evalue_record_print_entry(const evalue_record_entry *entry, char line[RECORD_LINE]) {
  char text[RECORD_LINE], *end = text + sizeof text, *start = end;
  *--start = '\n';
  start = put_decimal(start, entry->size);
  *--start = ' ';
  start = put_decimal(start, entry->offset);
  memcpy(line, start, (size_t)(end - start));
  return (size_t)(end - start);
}

evalue_status evalue_record_index_write(const evalue_record_index *index, evalue_sink *sink) {
  char lines[4096];
  size_t used = 0;
  if (index == NULL || sink == NULL || sink->alignment > 1) return EVALUE_MISUSE;
  for (size_t i = 0; i < index->count; i++) {
    if (sizeof lines - used < RECORD_LINE) {
      evalue_status status = evalue_sink_write(sink, lines, used, NULL);
      if (status != EVALUE_OK) return status;
      used = 0;
    }
    used += evalue_record_print_entry(&index->entries[i], lines + used);
  }
  return evalue_sink_write(sink, lines, used, NULL);
}

/* ---- reading ---- */

/* Where the text is, and what has been read of the line. */
typedef struct {
  evalue_record_index *index;
  uint64_t file_size;
  uint64_t line, at;   /* in the side file: of the line, and of the next byte */
  uint64_t numbers[2]; /* offset and size */
  unsigned digits, field;
  bool has_zero; /* the number begins with 0, so that no digit may follow */
} parser;

/* Adds the entry of a line that is complete. */
static evalue_status finish_line(parser *p) {
  uint64_t offset = p->numbers[0], size = p->numbers[1];
  evalue_error *error = &p->index->error;
  if (size < RECORD_FRAME) return evalue_record_fail(error, EVALUE_FAULT_INDEX_ENTRY, p->line, RECORD_FRAME, size);
  if (size > p->file_size || offset > p->file_size - size) {
    uint64_t end = offset + size < offset ? UINT64_MAX : offset + size;
    return evalue_record_fail(error, EVALUE_FAULT_INDEX_ENTRY, p->line, p->file_size, end);
  }
  if (!evalue_record_index_add(p->index, offset, size)) return fail(p->index, errno);
  p->field = p->digits = 0;
  p->line = p->at + 1;
  return EVALUE_OK;
}

/* Adds a digit to the number; false when that is none, or no number that an index may have. */
static bool put_digit(parser *p, uint32_t byte) {
  uint64_t *number = &p->numbers[p->field];
  uint32_t digit = byte - '0';
  if (digit > 9) return false;
  if (p->digits == 0) *number = 0;
  else if (p->has_zero || *number > (UINT64_MAX - digit) / 10) return false;
  p->has_zero = p->digits == 0 && digit == 0;
  *number = *number * 10 + digit;
  p->digits++;
  return true;
}

static evalue_status put_byte(parser *p, uint32_t byte) {
  evalue_status status = EVALUE_OK;
  if (byte == ' ' && p->digits != 0 && p->field == 0) {
    p->field = 1;
    p->digits = 0;
  } else if (byte == '\n' && p->digits != 0 && p->field == 1) {
    status = finish_line(p);
  } else if (!put_digit(p, byte)) {
    status = evalue_record_fail(&p->index->error, EVALUE_FAULT_INDEX_LINE, p->line, 0, byte);
  }
  p->at++;
  return status;
}

static evalue_status parse(parser *p, int fd) {
  enum { THE_END = 256 };
  uint8_t *text = evalue_record_allocate(TEXT);
  evalue_status status = text == NULL ? fail(p->index, errno) : EVALUE_OK;
  while (status == EVALUE_OK) {
    int64_t got = evalue_record_read_some(fd, text, TEXT, UINT64_MAX);
    if (got == 0) break;
    if (got < 0) status = fail(p->index, errno);
    for (int64_t i = 0; i < got && status == EVALUE_OK; i++) status = put_byte(p, text[i]);
  }
  free(text);
  bool is_cut = p->field != 0 || p->digits != 0;
  if (status != EVALUE_OK || !is_cut) return status;
  return evalue_record_fail(&p->index->error, EVALUE_FAULT_INDEX_LINE, p->line, 0, THE_END);
}

evalue_status evalue_record_index_read(evalue_record_index *index, const char *path, uint64_t file_size) {
  if (index == NULL || path == NULL || path[0] == '\0') return EVALUE_MISUSE;
  begin_anew(index);
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return fail(index, errno);
  parser p = {.index = index, .file_size = file_size};
  evalue_status status = parse(&p, fd);
  close(fd);
  return status;
}
