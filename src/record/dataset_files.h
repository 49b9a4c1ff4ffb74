/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the source of record files share, and what a shuffle asks of it. */
#ifndef EVALUE_DATASET_FILES_H
#define EVALUE_DATASET_FILES_H

#include "dataset_blocks.h"

/* ---- dataset_source_files.c ---- */

enum {
  EVALUE_FILES_BLOCK = 256 << 10, /* what is read at once, by default */
  EVALUE_FILES_FETCHERS = 4       /* files that are open to read places of them */
};

struct evalue_files {
  char **paths;
  uint64_t count, current; /* files, and which of them is read */
  uint64_t step, first;
  uint64_t index, offset; /* of the next record of the current file, unless the reader knows */
  uint64_t skipped;       /* in the files before */
  bool is_open;           /* the current file, by the reader */
  bool is_lending;        /* the reader does not know where the next record is */
  bool has_large_records; /* the last one that was lent was a place */
  evalue_record_reader reader;
  evalue_record_reader_options options;
  evalue_blocks blocks;
  evalue_block *block; /* what is read from, when lending; NULL: nothing yet */
  size_t begin, end;   /* of what is left there; the next record is at begin */
  evalue_block *lent;  /* of the example that was given last: the block it lies in, or NULL */
  bool is_place;       /* and whether it is a place */
  evalue_place place;
  struct {
    evalue_record_reader reader;
    uint64_t file; /* UINT64_MAX: none */
  } fetchers[EVALUE_FILES_FETCHERS];
  uint64_t next_fetcher;
};

/* The source that a data set is; NULL when it is another. */
struct evalue_files *evalue_files_of(const evalue_dataset *dataset);

/* Opens the current file, if it is not, and goes to the next record. */
evalue_status evalue_files_open(evalue_dataset *dataset, struct evalue_files *files);

/* The source's own next. */
evalue_status evalue_files_next(evalue_dataset *dataset, evalue_example *example);

/* Notes where the next record is, and stops lending, so that the file may be closed. */
void evalue_files_stop_lending(struct evalue_files *files);

/* ---- dataset_lend.c: examples that wait without a copy ---- */

/*
 * Gives the next example for somebody who will hold it: files->lent is the block that it lies in, files->is_place says
 * that it was not read, but is at files->place; with neither of them it is valid until the next call, as always. What
 * is not good is left to evalue_files_next. For evalue_dataset_next_by.
 */
evalue_status evalue_files_lend(evalue_dataset *dataset, evalue_example *example);

/*
 * Reads what is at a place. The example is valid until the next call. Failures are teller's; EVALUE_END: it is corrupt,
 * and was gone past, as the options ask for.
 */
evalue_status evalue_files_fetch(evalue_dataset *dataset, const evalue_held_example *held, evalue_example *example,
                                 evalue_dataset *teller);

/* Closes what was opened to fetch, and frees all blocks. */
void evalue_files_close_lent(struct evalue_files *files);

/* ---- dataset_shards.c, dataset_glob.c ---- */

/*
 * In a sorted list of paths, says whether a shard is missing of those named like name-00000-of-00008.tfrecord, and then
 * prints the name of the first one. False when all are there, or the names are others.
 */
bool evalue_shards_are_missing(char *const *paths, size_t n, char *missing, size_t capacity);

/* Paths that were found. All zero: none. */
typedef struct evalue_path_list {
  char **paths;
  size_t count, capacity;
} evalue_path_list;

/*
 * Finds the files of a pattern, whose last part may have wildcards, and sorts them by their bytes. Returns 0, or what
 * errno says: ENOENT when there are none. The list has to be freed in any case.
 */
int evalue_path_list_find(evalue_path_list *list, const char *pattern);

void evalue_path_list_free(evalue_path_list *list);

#endif
