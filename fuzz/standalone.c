/* SPDX-License-Identifier: BSD-3-Clause */
/* A main for fuzz targets where there is no libFuzzer: runs the target on every file that is named, or lies in a
 * directory that is. */
#define _FILE_OFFSET_BITS 64 /* inodes are wide on some hosts of 32-bit emulation */

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "fuzz.h"

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

static const char *target;
static unsigned long inputs;

static bool complain(const char *path, const char *what) {
  fprintf(stderr, "%s: %s: cannot %s: %s\n", target, path, what, strerror(errno));
  return false;
}

static bool run_file(const char *path, size_t size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return complain(path, "open");
  fuzz_bytes bytes = fuzz_new(size, 0);
  bool good = fread(bytes.data, 1, size, file) == size;
  if (good) {
    LLVMFuzzerTestOneInput(bytes.data, size);
    inputs++;
  } else {
    complain(path, "read");
  }
  fclose(file);
  fuzz_free(&bytes);
  return good;
}

static bool run_path(const char *path);

/* Readdir's order differs from machine to machine; a failure should not. */
static bool run_directory(const char *path) {
  struct dirent **entries;
  bool good = true;
  int n = scandir(path, &entries, NULL, alphasort);
  if (n < 0) return complain(path, "list");
  for (int i = 0; i < n; i++) {
    const char *name = entries[i]->d_name;
    size_t size = strlen(path) + strlen(name) + 2;
    char *whole = (char *)malloc(size);
    if (whole == NULL) abort();
    snprintf(whole, size, "%s/%s", path, name);
    if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !run_path(whole)) good = false;
    free(whole);
    free(entries[i]);
  }
  free(entries);
  return good;
}

static bool run_path(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0) return complain(path, "open");
  return S_ISDIR(status.st_mode) ? run_directory(path) : run_file(path, (size_t)status.st_size);
}

int main(int argc, char **argv) {
  bool good = true;
  const char *slash = strrchr(argv[0], '/');
  target = slash != NULL ? slash + 1 : argv[0];
  if (LLVMFuzzerInitialize != NULL) LLVMFuzzerInitialize(&argc, &argv);
  for (int i = 1; i < argc; i++) {
    if (!run_path(argv[i])) good = false;
  }
  printf("%s: %lu inputs\n", target, inputs);
  return good && inputs != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
