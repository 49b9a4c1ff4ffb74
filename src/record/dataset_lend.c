/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Examples that wait without a copy. Small ones stay in the block that they were read with. Large ones, which would
 * fill the memory, and for which a system call costs little, are not read until they are asked for. All that is not
 * good, and the end, is left to the reader, which knows the law.
 */
#include <errno.h>
#include <stdlib.h>

#include "dataset_files.h"
#include "record_internal.h"

enum { LARGE = 32 << 10 };

/* ---- reading ahead ---- */

/* Reads a block from the next record on; false when that fails. */
static bool read_block(struct evalue_files *f) {
  if (f->block != NULL) evalue_block_leave(f->block);
  f->block = evalue_blocks_trim(&f->blocks) ? evalue_blocks_take(&f->blocks) : NULL;
  f->begin = 0;
  f->end = 0;
  if (f->block == NULL) return false;
  int64_t got = evalue_record_read_full(f->reader.fd, f->block->memory, f->blocks.size, f->offset);
  if (got > 0) f->end = (size_t)got;
  return got > 0;
}

/* Finds the length of the next record's data in a head that was read; false when the reader has to judge it. */
static inline bool judge(struct evalue_files *f, const uint8_t *head, uint64_t *length) {
  evalue_error error;
  bool is_good = evalue_record_judge_head(head, f->offset, length, &error) == EVALUE_OK;
  return is_good && *length <= f->reader.max_record && *length < SIZE_MAX / 2;
}

/* Goes past a record, of which the example is told where it comes from. */
static void pass(struct evalue_files *f, uint64_t length, evalue_example *example) {
  example->bytes.size = (size_t)length;
  example->values = NULL;
  example->count = 0;
  example->source = f->paths[f->current];
  example->index = f->index;
  f->offset += length + EVALUE_RECORD_FRAME_SIZE;
  f->index++;
}

/* Lends a large record's place, if all of it is in the file. */
static bool lend_place(struct evalue_files *f, uint64_t length, evalue_example *example) {
  uint64_t size = length + EVALUE_RECORD_FRAME_SIZE;
  if (!evalue_record_reader_has(&f->reader, f->offset + size)) return false;
  f->place = (evalue_place){f->current, f->offset, size};
  f->is_place = true;
  f->has_large_records = true;
  f->begin = f->end = 0; /* the block does not go so far */
  example->bytes.data = NULL;
  pass(f, length, example);
  return true;
}

/* After a large record: reads the next head alone, and lends its place if it is another large one. */
static bool lend_next_place(struct evalue_files *f, evalue_example *example) {
  uint8_t head[EVALUE_RECORD_HEAD_SIZE];
  uint64_t length = 0;
  int64_t got = evalue_record_read_full(f->reader.fd, head, sizeof head, f->offset);
  f->has_large_records = false;
  bool is_head = got == EVALUE_RECORD_HEAD_SIZE && judge(f, head, &length);
  return is_head && length >= LARGE && lend_place(f, length, example);
}

/*
 * Finds the next record in the block, or in a new one, or lends its place if it is large; *length is that of its data.
 * False when it is for the reader, or its place was lent.
 */
static EVALUE_COLD bool find(struct evalue_files *f, uint64_t *length, evalue_example *example) {
  size_t left = f->end - f->begin;
  bool has_head = f->block != NULL && left >= EVALUE_RECORD_FRAME_SIZE;
  if (has_head && !judge(f, f->block->memory + f->begin, length)) return false;
  if (has_head && *length >= LARGE && lend_place(f, *length, example)) return false;
  if (!read_block(f) || f->end < EVALUE_RECORD_FRAME_SIZE) return false;
  if (!judge(f, f->block->memory, length)) return false;
  if (f->end - EVALUE_RECORD_FRAME_SIZE >= *length) return true;
  if (*length >= LARGE) lend_place(f, *length, example);
  return false;
}

/* Says whether all of the next record is in the block, as most are. */
static inline bool is_in_block(struct evalue_files *f, uint64_t *length) {
  size_t left = f->end - f->begin;
  return left >= EVALUE_RECORD_FRAME_SIZE && judge(f, f->block->memory + f->begin, length) &&
         left - EVALUE_RECORD_FRAME_SIZE >= *length;
}

/* Lends the next record; false when it is for the reader. */
static bool lend(struct evalue_files *f, evalue_example *example) {
  uint64_t length = 0;
  if (f->has_large_records && lend_next_place(f, example)) return true;
  if (!is_in_block(f, &length) && !find(f, &length, example)) return f->is_place;
  const uint8_t *data = f->block->memory + f->begin + EVALUE_RECORD_HEAD_SIZE;
  if (f->reader.ignore_crc == 0) {
    evalue_error error;
    uint32_t crc = evalue_record_crc32c(0, data, (size_t)length);
    if (evalue_record_judge_data(crc, data + length, f->offset, &error) != EVALUE_OK) return false;
  }
  f->begin += (size_t)length + EVALUE_RECORD_FRAME_SIZE;
  f->lent = f->block;
  example->bytes.data = data;
  pass(f, length, example);
  return true;
}

evalue_status evalue_files_lend(evalue_dataset *dataset, evalue_example *example) {
  struct evalue_files *f = evalue_files_of(dataset);
  f->lent = NULL;
  f->is_place = false;
  if (f->current >= f->count) return EVALUE_END;
  evalue_status status = evalue_files_open(dataset, f);
  if (status != EVALUE_OK) return status;
  if (f->reader.is_stream == 0 && !f->is_lending) {
    f->offset = evalue_record_reader_offset(&f->reader);
    f->index = evalue_record_reader_index(&f->reader);
    f->is_lending = true;
  }
  if (f->is_lending && lend(f, example)) return EVALUE_OK;
  return evalue_files_next(dataset, example);
}

/* ---- places ---- */

static void close_fetcher(struct evalue_files *f, uint64_t number) {
  if (f->fetchers[number].file != UINT64_MAX) evalue_record_reader_close(&f->fetchers[number].reader);
  f->fetchers[number].file = UINT64_MAX;
}

/* The reader of a file, opened if need be; NULL, and then *status says why. */
static evalue_record_reader *fetcher_of(struct evalue_files *f, uint64_t file, evalue_status *status) {
  evalue_record_reader_options options = f->options;
  options.skip = 0;
  options.buffer_size = LARGE;
  for (uint64_t i = 0; i < EVALUE_FILES_FETCHERS; i++) {
    if (f->fetchers[i].file == file) return &f->fetchers[i].reader;
  }
  uint64_t number = f->next_fetcher++ % EVALUE_FILES_FETCHERS;
  close_fetcher(f, number);
  *status = evalue_record_reader_open(&f->fetchers[number].reader, f->paths[file], &options);
  errno = f->fetchers[number].reader.system_error;
  if (*status != EVALUE_OK) return NULL;
  f->fetchers[number].file = file;
  return &f->fetchers[number].reader;
}

evalue_status evalue_files_fetch(evalue_dataset *dataset, const evalue_held_example *held, evalue_example *example,
                                 evalue_dataset *teller) {
  struct evalue_files *f = evalue_files_of(dataset);
  const evalue_record_entry entry = {held->place.offset, held->place.size};
  evalue_status status = EVALUE_OK;
  evalue_record record = {.data = NULL};
  memset(example, 0, sizeof *example);
  if (held->place.file >= f->count) {
    return evalue_dataset_fail(teller, EVALUE_MALFORMED, NULL, EVALUE_NO_INDEX,
                               "state: file of an example: expected less than %llu, found %llu",
                               (unsigned long long)f->count, (unsigned long long)held->place.file);
  }
  example->source = f->paths[held->place.file];
  example->index = held->index;
  evalue_record_reader *reader = fetcher_of(f, held->place.file, &status);
  if (reader != NULL) status = evalue_record_reader_at(reader, &entry, &record);
  if (status == EVALUE_OK) {
    example->bytes.data = record.data;
    example->bytes.size = record.size;
    return EVALUE_OK;
  }
  if (status == EVALUE_CORRUPT && f->options.skip != 0) {
    f->skipped++;
    ((evalue_files_dataset *)(void *)dataset)->skipped++;
    return EVALUE_END;
  }
  const evalue_error *error = evalue_record_reader_error(reader);
  if (error != NULL && status != EVALUE_IO && error->status == (int32_t)status) {
    return evalue_dataset_fail_fault(teller, example, error);
  }
  if (reader != NULL) errno = reader->system_error;
  return evalue_dataset_fail(teller, status, example, EVALUE_NO_INDEX, "%s",
                             errno != 0 ? strerror(errno) : evalue_status_message((int32_t)status));
}

void evalue_files_close_lent(struct evalue_files *f) {
  for (uint64_t i = 0; i < EVALUE_FILES_FETCHERS; i++) close_fetcher(f, i);
  evalue_blocks_free(&f->blocks);
}
