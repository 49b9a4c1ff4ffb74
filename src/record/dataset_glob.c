/* SPDX-License-Identifier: BSD-3-Clause */
/* Files by a pattern. Not with glob: its order is the locale's, and glibc's frees twice where memory is lacking. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "dataset_files.h"

/* Adds a path: `length` bytes of a directory with its slash, and a name. 0, or what errno says. */
static int add(evalue_path_list *list, const char *directory, size_t length, const char *name) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
    char **paths = (char **)realloc(list->paths, capacity * sizeof *paths);
    if (paths == NULL) return ENOMEM;
    list->paths = paths;
    list->capacity = capacity;
  }
  size_t rest = strlen(name) + 1;
  char *path = (char *)malloc(length + rest);
  if (path == NULL) return ENOMEM;
  evalue_copy_bytes(path, directory, length);
  memcpy(path + length, name, rest);
  list->paths[list->count++] = path;
  return 0;
}

/* Adds those of an open directory. */
static int add_matching(evalue_path_list *list, DIR *open, const char *pattern, size_t length) {
  for (;;) {
    errno = 0;
    const struct dirent *entry = readdir(open); /* NOLINT(concurrency-mt-unsafe): of a directory of our own */
    if (entry == NULL) return errno;
    int result = fnmatch(pattern + length, entry->d_name, FNM_PERIOD);
    if (result == FNM_NOMATCH) continue;
    int number = result != 0 ? ENOMEM : add(list, pattern, length, entry->d_name);
    if (number != 0) return number;
  }
}

static int compare(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Opens the directory that the first `length` bytes of a pattern name. */
static DIR *open_directory(const char *pattern, size_t length) {
  if (length == 0) return opendir(".");
  char *directory = (char *)malloc(length + 1);
  if (directory == NULL) return NULL;
  memcpy(directory, pattern, length);
  directory[length] = '\0';
  DIR *open = opendir(directory);
  int number = errno;
  free(directory);
  errno = number;
  return open;
}

int evalue_path_list_find(evalue_path_list *list, const char *pattern) {
  const char *slash = strrchr(pattern, '/');
  size_t length = slash != NULL ? (size_t)(slash + 1 - pattern) : 0;
  DIR *open = open_directory(pattern, length);
  if (open == NULL) return errno;
  int number = add_matching(list, open, pattern, length);
  closedir(open);
  if (number != 0) return number;
  if (list->count == 0) return ENOENT;
  qsort(list->paths, list->count, sizeof list->paths[0], compare);
  return 0;
}

void evalue_path_list_free(evalue_path_list *list) {
  for (size_t i = 0; i < list->count; i++) free(list->paths[i]);
  free(list->paths);
  memset(list, 0, sizeof *list);
}
