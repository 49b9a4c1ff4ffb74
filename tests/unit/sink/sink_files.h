/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of file sinks share: a folder of their own, files as bytes, and how many descriptors are open. */
#ifndef TESTS_SINK_FILES_H
#define TESTS_SINK_FILES_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "msan_stat.h"
#include "sink_support.h"

static char folder[256];
static uint8_t file_bytes[1 << 20];

static inline const char *path_of(const char *name) {
  static char paths[16][1024];
  static int next;
  char *path = paths[next++ % 16];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static inline int make_folder(void **state) {
  const char *parent = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/evalue-sink-XXXXXX", parent != NULL ? parent : "/tmp");
  umask(022);
  return be_quiet(state) != 0 || mkdtemp(folder) == NULL ? -1 : 0;
}

/* The number of files in the folder; those that begin with `prefix` only. */
static inline int files_in_folder(const char *prefix) {
  int count = 0;
  DIR *d = opendir(folder);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    bool is_self = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    count += !is_self && strncmp(e->d_name, prefix, strlen(prefix)) == 0;
  }
  closedir(d);
  return count;
}

static inline void empty_folder(void) {
  DIR *d = opendir(folder);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    if (unlinkat(dirfd(d), e->d_name, 0) != 0) unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
  }
  closedir(d);
}

static inline int remove_folder(void **state) {
  (void)state;
  empty_folder();
  return rmdir(folder);
}

static inline void put_file(const char *name, const void *bytes, size_t size) {
  FILE *f = fopen(path_of(name), "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, size, f), size);
  fclose(f);
}

/* The bytes are in file_bytes. */
static inline size_t get_file(const char *name) {
  FILE *f = fopen(path_of(name), "rb");
  assert_non_null(f);
  size_t size = fread(file_bytes, 1, sizeof file_bytes, f);
  fclose(f);
  return size;
}

static inline void check_file(const char *name, const void *bytes, size_t size) {
  assert_int_equal(get_file(name), size);
  if (size != 0) assert_memory_equal(file_bytes, bytes, size);
}

static inline int open_descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

#endif
