/* SPDX-License-Identifier: BSD-3-Clause */
/* A source of record files, each opened when its turn comes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataset_files.h"

static evalue_files_dataset *files_of(evalue_dataset *dataset) {
  return (evalue_files_dataset *)(void *)dataset;
}

struct evalue_files *evalue_files_of(const evalue_dataset *dataset) {
  bool is_one = dataset->functions->next == evalue_files_next && dataset->is_broken == 0;
  return is_one ? ((const evalue_files_dataset *)(const void *)dataset)->files : NULL;
}

/* ---- one file ---- */

static uint64_t skipped_of(const evalue_record_reader *reader) {
  return reader->counts.corrupt + reader->counts.too_large;
}

static void close_file(struct evalue_files *f) {
  if (f->is_open) evalue_record_reader_close(&f->reader);
  f->is_open = false;
}

/* Tells of a failure of the reader's. */
static evalue_status fail(evalue_dataset *dataset, struct evalue_files *f, evalue_status status) {
  const evalue_error *error = evalue_record_reader_error(&f->reader);
  evalue_example example = {.source = f->paths[f->current], .index = f->reader.fault_index};
  if (status != EVALUE_IO && error->status == (int32_t)status) {
    return evalue_dataset_fail_fault(dataset, &example, error);
  }
  int number = f->reader.system_error;
  errno = number;
  return evalue_dataset_fail(dataset, status, f->is_open ? &example : NULL, EVALUE_NO_INDEX, "%s: %s",
                             f->paths[f->current],
                             number != 0 ? strerror(number) : evalue_status_message((int32_t)status));
}

evalue_status evalue_files_open(evalue_dataset *dataset, struct evalue_files *f) {
  if (f->is_open) return EVALUE_OK;
  evalue_status status = evalue_record_reader_open(&f->reader, f->paths[f->current], &f->options);
  if (status != EVALUE_OK) return fail(dataset, f, status);
  f->is_open = true;
  if (f->offset == 0) return EVALUE_OK;
  status = evalue_record_reader_seek(&f->reader, f->offset, f->index);
  return status == EVALUE_OK ? status : fail(dataset, f, status);
}

static void go_on(struct evalue_files *f) {
  f->skipped += skipped_of(&f->reader);
  close_file(f);
  f->current = f->count - f->current > f->step ? f->current + f->step : f->count;
  f->index = 0;
  f->offset = 0;
}

void evalue_files_stop_lending(struct evalue_files *f) {
  if (f->block != NULL) evalue_block_leave(f->block);
  f->block = NULL;
  f->begin = f->end = 0;
  f->lent = NULL;
  f->is_place = false;
  f->is_lending = false;
  f->has_large_records = false;
}

/* ---- the source ---- */

evalue_status evalue_files_next(evalue_dataset *dataset, evalue_example *example) {
  struct evalue_files *f = files_of(dataset)->files;
  evalue_record record;
  if (f->is_lending) {
    evalue_files_stop_lending(f);
    evalue_status status = evalue_record_reader_seek(&f->reader, f->offset, f->index);
    if (status != EVALUE_OK) return fail(dataset, f, status);
  }
  for (;;) {
    if (f->current >= f->count) return EVALUE_END;
    evalue_status status = evalue_files_open(dataset, f);
    if (status != EVALUE_OK) return status;
    status = evalue_record_reader_next(&f->reader, &record);
    files_of(dataset)->skipped = f->skipped + skipped_of(&f->reader);
    if (status == EVALUE_OK) break;
    if (status != EVALUE_END) return fail(dataset, f, status);
    go_on(f);
  }
  example->bytes.data = record.data;
  example->bytes.size = record.size;
  example->values = NULL;
  example->count = 0;
  example->source = f->paths[f->current];
  example->index = record.index;
  return EVALUE_OK;
}

/* Goes to a place; the file there is opened when it is read. */
static void go_to(evalue_dataset *dataset, uint64_t current, uint64_t offset, uint64_t index, uint64_t skipped) {
  struct evalue_files *f = files_of(dataset)->files;
  evalue_files_stop_lending(f);
  close_file(f);
  f->current = current;
  f->offset = offset;
  f->index = index;
  f->skipped = skipped;
  files_of(dataset)->skipped = skipped;
}

static evalue_status files_rewind(evalue_dataset *dataset) {
  go_to(dataset, files_of(dataset)->files->first, 0, 0, 0);
  return EVALUE_OK;
}

/* The name of a file without its directories, which may be others where the state is restored. */
static evalue_slice name_of(const struct evalue_files *f, uint64_t number) {
  evalue_slice name = {"", 0};
  if (number >= f->count) return name;
  const char *path = f->paths[number], *slash = strrchr(path, '/');
  name.data = slash != NULL ? slash + 1 : path;
  name.size = strlen((const char *)name.data);
  return name;
}

/* Judges a restored place. */
static evalue_status check_place(evalue_dataset_state *state, const struct evalue_files *f, uint64_t current,
                                 uint64_t offset, evalue_slice name) {
  bool is_file = current >= f->count || current % f->step == f->first % f->step;
  if (!is_file) return evalue_state_fail(state, "current file", "one of this source's", current);
  if (offset >= EVALUE_SIZE_LIMIT) return evalue_state_fail(state, "offset", "less than 2^62", offset);
  evalue_slice expected = name_of(f, current);
  bool is_same = expected.size == name.size && memcmp(expected.data, name.data, name.size) == 0;
  if (is_same) return EVALUE_OK;
  char text[200];
  snprintf(text, sizeof text, "\"%.150s\", found \"%.*s\" as file", (const char *)expected.data,
           (int)(name.size < 150 ? name.size : 150), (const char *)name.data);
  return evalue_state_fail(state, "name of the file", text, current);
}

static evalue_status files_state(evalue_dataset *dataset, evalue_dataset_state *state) {
  struct evalue_files *f = files_of(dataset)->files;
  uint64_t current = f->current < f->count ? f->current : f->count;
  bool does_reader_know = f->is_open && !f->is_lending;
  uint64_t offset = does_reader_know ? evalue_record_reader_offset(&f->reader) : f->offset;
  uint64_t index = does_reader_know ? evalue_record_reader_index(&f->reader) : f->index;
  uint64_t skipped = files_of(dataset)->skipped;
  evalue_slice name = name_of(f, current);
  evalue_state_same(state, "number of files", f->count);
  evalue_state_same(state, "first file", f->first);
  evalue_state_same(state, "step", f->step);
  evalue_state_u64(state, "current file", &current);
  evalue_state_u64(state, "offset", &offset);
  evalue_state_u64(state, "index", &index);
  evalue_state_u64(state, "skipped", &skipped);
  evalue_status status = evalue_state_bytes(state, "name of the file", &name);
  if (status != EVALUE_OK || !evalue_state_is_restoring(state)) return status;
  status = check_place(state, f, current, offset, name);
  if (status == EVALUE_OK) go_to(dataset, current, offset, index, skipped);
  return status;
}

static void files_close(evalue_dataset *dataset) {
  struct evalue_files *f = files_of(dataset)->files;
  if (f == NULL) return;
  evalue_files_stop_lending(f);
  evalue_files_close_lent(f);
  close_file(f);
  for (uint64_t i = 0; f->paths != NULL && i < f->count; i++) free(f->paths[i]);
  free(f->paths);
  free(f);
}

/* ---- starting ---- */

static bool options_are_good(const evalue_files_options *options) {
  return evalue_dataset_size_is_known(options->size, sizeof *options) && options->reserved == 0 &&
         evalue_dataset_size_is_known(options->reader.size, sizeof options->reader) && options->reader.owns_fd == 0 &&
         options->reader.skip <= 1 && options->reader.ignore_crc <= 1;
}

/* Starts a source without files. */
static evalue_status start(evalue_files_dataset *d, const evalue_files_options *options) {
  static const evalue_files_options defaults;
  static const evalue_dataset_functions functions = {
      .name = "files", .next = evalue_files_next, .rewind = files_rewind, .state = files_state, .close = files_close};
  memset(d, 0, sizeof *d);
  evalue_status status = evalue_dataset_init(&d->dataset, &functions, NULL, 0);
  if (status != EVALUE_OK) return status;
  if (options == NULL) options = &defaults;
  if (!options_are_good(options)) return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its options are none");
  struct evalue_files *f = (struct evalue_files *)calloc(1, sizeof *f);
  d->files = f;
  if (f == NULL) return evalue_dataset_break_memory(&d->dataset);
  f->first = options->first;
  f->current = options->first;
  f->step = options->step != 0 ? options->step : 1;
  f->options = options->reader;
  f->blocks.size = options->reader.buffer_size != 0 ? options->reader.buffer_size : EVALUE_FILES_BLOCK;
  for (size_t i = 0; i < EVALUE_FILES_FETCHERS; i++) f->fetchers[i].file = UINT64_MAX;
  return EVALUE_OK;
}

evalue_status evalue_files_dataset_init(evalue_files_dataset *d, const char *const *paths, size_t n,
                                        const evalue_files_options *options) {
  if (d == NULL) return EVALUE_MISUSE;
  evalue_status status = start(d, options);
  if (status != EVALUE_OK) return status;
  struct evalue_files *f = d->files;
  if (paths == NULL && n != 0) return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its paths are missing");
  f->paths = (char **)evalue_dataset_allocate_array(n, sizeof *f->paths);
  if (f->paths == NULL) return evalue_dataset_break_memory(&d->dataset);
  f->count = n;
  for (size_t i = 0; i < n; i++) {
    bool is_path = paths[i] != NULL && paths[i][0] != '\0';
    if (!is_path) return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "one of its paths is missing or empty");
    f->paths[i] = strdup(paths[i]);
    if (f->paths[i] == NULL) return evalue_dataset_break_memory(&d->dataset);
  }
  return EVALUE_OK;
}

/* Starts the source with what was found. */
static evalue_status init_found(evalue_files_dataset *d, const char *pattern, char *const *paths, size_t n,
                                const evalue_files_options *options) {
  char missing[256];
  if (!evalue_shards_are_missing(paths, n, missing, sizeof missing)) {
    return evalue_files_dataset_init(d, (const char *const *)paths, n, options);
  }
  evalue_status status = start(d, options);
  if (status != EVALUE_OK) return status;
  evalue_dataset_fail(&d->dataset, EVALUE_MALFORMED, NULL, EVALUE_NO_INDEX, "%s: expected %s, found no such file",
                      pattern, missing);
  return evalue_dataset_break(&d->dataset, EVALUE_MALFORMED, "");
}

evalue_status evalue_files_dataset_glob(evalue_files_dataset *d, const char *pattern,
                                        const evalue_files_options *options) {
  if (d == NULL) return EVALUE_MISUSE;
  if (pattern == NULL) {
    evalue_status status = start(d, options);
    return status != EVALUE_OK ? status : evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its pattern is missing");
  }
  evalue_path_list list = {.paths = NULL};
  int number = evalue_path_list_find(&list, pattern);
  evalue_status status = number == 0 ? init_found(d, pattern, list.paths, list.count, options) : start(d, options);
  evalue_path_list_free(&list);
  if (number == 0 || status != EVALUE_OK) return status;
  errno = number;
  evalue_dataset_fail(&d->dataset, EVALUE_IO, NULL, EVALUE_NO_INDEX, "%s: %s", pattern, strerror(number));
  return evalue_dataset_break(&d->dataset, EVALUE_IO, "");
}
