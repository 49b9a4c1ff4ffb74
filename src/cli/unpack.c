/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `evalue unpack`: tensors as .npy files, and all values as JSON Lines, in a directory that appears whole or not at
 * all: it is made beside its place and then renamed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "npy.h"

static const char help[] =
    "usage: evalue unpack [--form F] -d DIR FILE\n"
    "\n"
    "Writes the values of a file into a new directory:\n"
    "\n"
    "  DIR/0000.npy ...   the tensors; the number is the value's index\n"
    "  DIR/values.jsonl   all values, tensors too: 'evalue pack --json DIR/values.jsonl' restores them exactly\n"
    "\n"
    "  --form F           message (default) or sequence\n"
    "  -d DIR             a directory that is empty, or does not exist yet\n"
    "  FILE               '-' is stdin\n"
    "\n"
    "Scalar types that NumPy lacks become opaque bytes, such as |V2 for bfloat16. A dim_order that is neither C nor "
    "Fortran\n"
    "order is copied to C order in the .npy file; values.jsonl keeps it.\n"
    "\n"
    "example: evalue unpack -d values values.evalue\n";

enum { PART_SIZE = 1 << 22 };

/* ---- the directory ---- */

typedef struct directory {
  const char *name; /* as given */
  char *target;     /* its place */
  char *temporary;  /* where it is made; NULL when it is not there */
  int fd;
  mode_t mode;
  volatile uint64_t count; /* value files up to this number may exist */
} directory;

static bool fail(const char *name, const char *what, int error) {
  cli_message("%s: %s: %s", name, what, strerror(error));
  return false;
}

static bool is_empty(const char *name) {
  DIR *stream = opendir(name);
  if (stream == NULL) return fail(name, "cannot open", errno);
  bool empty = true;
  for (struct dirent *entry; empty && (entry = readdir(stream)) != NULL;) {
    empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
  }
  closedir(stream);
  return empty || fail(name, "cannot replace the directory", ENOTEMPTY);
}

/* Finds the directory's place, and the permissions that it will have. */
static bool find_target(directory *d) {
  struct stat status;
  if (stat(d->name, &status) == 0) {
    if (!S_ISDIR(status.st_mode)) return fail(d->name, "cannot create", ENOTDIR);
    if (!is_empty(d->name)) return false;
    d->mode = status.st_mode & 0777;
    d->target = realpath(d->name, NULL);
  } else if (errno == ENOENT && d->name[0] != '\0') {
    d->mode = cli_new_mode(0777);
    d->target = strdup(d->name);
  }
  if (d->target == NULL) return fail(d->name, "cannot create", errno);
  for (size_t n = strlen(d->target); n > 1 && d->target[n - 1] == '/'; n--) d->target[n - 1] = '\0';
  return true;
}

/* Makes the temporary directory, and registers it for removal, as one step. */
static bool make_temporary(directory *d, char *path) {
  cli_cleanup_block();
  int error = mkdtemp(path) != NULL ? 0 : errno;
  if (error == 0) {
    d->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d->fd < 0) {
      error = errno;
      rmdir(path);
    } else {
      d->temporary = path;
      cli_cleanup_directory(path, d->fd, &d->count);
    }
  }
  cli_cleanup_unblock();
  return error == 0 || fail(d->name, "cannot create", error);
}

static void discard(directory *d) {
  if (d->temporary != NULL) cli_cleanup_now();
  if (d->fd >= 0) close(d->fd);
  free(d->temporary);
  free(d->target);
}

static bool open_directory(directory *d, const char *name) {
  char *path;
  memset(d, 0, sizeof *d);
  d->name = name;
  d->fd = -1;
  if (!find_target(d)) return false;
  const char *slash = strrchr(d->target, '/');
  int length = slash == NULL ? 0 : (int)(slash - d->target + 1);
  if (asprintf(&path, "%.*s.evalue-XXXXXX", length, d->target) < 0) {
    free(d->target);
    return fail(name, "cannot create", ENOMEM);
  }
  if (make_temporary(d, path)) return true;
  free(path);
  free(d->target);
  return false;
}

static bool publish(directory *d) {
  int error = fchmod(d->fd, d->mode) == 0 ? 0 : errno;
  cli_cleanup_block();
  if (error == 0 && rename(d->temporary, d->target) != 0) error = errno;
  if (error == 0) {
    cli_cleanup_forget();
    free(d->temporary);
    d->temporary = NULL;
  }
  cli_cleanup_unblock();
  return error == 0 || fail(d->name, "cannot create", error);
}

/* Creates a file in the directory; -1, with a message, on failure. */
static int create(const directory *d, const char *name) {
  int fd = openat(d->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) fail(name, "cannot create", errno);
  return fd;
}

/* ---- tensors ---- */

typedef struct job {
  const cli_input *input;
  directory *out;
  FILE *json;
  cli_progress progress;
} job;

/* Two or more dimensions from innermost to outermost. */
static bool is_fortran(const evalue_tensor *tensor) {
  for (uint32_t i = 0; i < tensor->ndim; i++) {
    if (tensor->dim_order[i] != tensor->ndim - 1U - i) return false;
  }
  return tensor->ndim >= 2;
}

static bool write_data(job *j, int fd, const char *name, const uint8_t *data, size_t size) {
  bool from_input = data >= j->input->data && data < j->input->data + j->input->size;
  for (size_t part; size > 0; data += part, size -= part) {
    part = size < PART_SIZE ? size : PART_SIZE;
    if (!cli_write_all(fd, name, data, part)) return false;
    if (from_input) cli_progress_at(&j->progress, (uint64_t)(data - j->input->data));
  }
  return true;
}

/* Writes a tensor whose dim_order .npy cannot express, in C order. */
static bool write_copy(job *j, int fd, const char *name, const evalue_tensor *tensor) {
  uint8_t *copy = malloc(tensor->nbytes);
  if (copy == NULL) return fail(name, "cannot copy the tensor to C order", ENOMEM);
  evalue_status status = evalue_tensor_copy(tensor, NULL, EVALUE_LITTLE_ENDIAN, copy, tensor->nbytes);
  bool good = status == EVALUE_OK && write_data(j, fd, name, copy, tensor->nbytes);
  if (status != EVALUE_OK)
    cli_message("%s: cannot copy the tensor to C order: %s", name, evalue_status_message((int32_t)status));
  free(copy);
  return good;
}

static bool write_npy(job *j, uint64_t index, const evalue_tensor *tensor) {
  char name[CLI_VALUE_FILE_NAME_SIZE], header[CLI_NPY_HEADER_SIZE];
  bool fortran = is_fortran(tensor);
  cli_value_file_name(index, name);
  j->out->count = index + 1;
  int fd = create(j->out, name);
  if (fd < 0) return false;
  bool good = cli_write_all(fd, name, header, cli_npy_header(tensor, fortran, header));
  if (good && (fortran || evalue_tensor_is_contiguous(tensor))) {
    good = write_data(j, fd, name, tensor->data, tensor->nbytes);
  } else if (good) {
    good = write_copy(j, fd, name, tensor);
  }
  if (close(fd) != 0 && good) good = fail(name, "cannot write", errno);
  return good;
}

/* ---- all values ---- */

static int write_values(job *j, cli_form form) {
  evalue_reader reader;
  evalue value;
  evalue_status status;
  cli_reader_init(&reader, j->input, form);
  for (uint64_t index = 0; (status = evalue_reader_next(&reader, &value)) == EVALUE_OK; index++) {
    if (value.tag == EVALUE_TAG_TENSOR && !write_npy(j, index, &value.tensor)) return CLI_FAILURE;
    errno = 0;
    if (!cli_json_write(j->json, &value)) {
      fail(CLI_VALUES_FILE_NAME, "cannot write", errno != 0 ? errno : ENOMEM);
      return CLI_FAILURE;
    }
    cli_progress_at(&j->progress, evalue_reader_position(&reader));
  }
  if (!cli_input_ok(j->input)) return CLI_FAILURE;
  if (status == EVALUE_END) return CLI_OK;
  cli_report_fault(j->input, evalue_reader_error(&reader));
  return CLI_BAD_DATA;
}

static int unpack(const cli_input *input, cli_form form, directory *out) {
  job j = {.input = input, .out = out};
  int fd = create(out, CLI_VALUES_FILE_NAME);
  if (fd < 0) return CLI_FAILURE;
  j.json = fdopen(fd, "w");
  if (j.json == NULL) {
    fail(CLI_VALUES_FILE_NAME, "cannot open", errno);
    close(fd);
    return CLI_FAILURE;
  }
  cli_progress_start(&j.progress, cli_input_name(input->name), input->size);
  int result = write_values(&j, form);
  cli_progress_end(&j.progress);
  if (fclose(j.json) != 0 && result == CLI_OK) {
    fail(CLI_VALUES_FILE_NAME, "cannot write", errno);
    result = CLI_FAILURE;
  }
  return result == CLI_OK && !publish(out) ? CLI_FAILURE : result;
}

static bool parse(cli_args *args, cli_form *form, const char **directory_name, const char **file) {
  while (cli_args_next(args)) {
    if (cli_args_is(args, "--form")) {
      const char *text = cli_args_value(args);
      if (text == NULL || !cli_parse_form(text, form)) return false;
    } else if (cli_args_is(args, "-d")) {
      *directory_name = cli_args_value(args);
      if (*directory_name == NULL) return false;
    } else if (args->is_operand && *file == NULL) {
      *file = args->name;
    } else {
      cli_args_unknown(args);
      return false;
    }
  }
  return true;
}

int cli_unpack(int argc, char **argv) {
  cli_args args;
  cli_form form = CLI_MESSAGE;
  cli_input input;
  directory out;
  const char *name = NULL, *file = NULL;
  (void)argc;
  cli_args_start(&args, argv, help);
  if (!parse(&args, &form, &name, &file)) return CLI_FAILURE;
  if (args.stop) return args.exit_code;
  if (name == NULL) return cli_usage_error("unpack", "expected -d DIR");
  if (file == NULL) return cli_usage_error("unpack", "expected a file");
  if (!cli_input_open(&input, file)) return CLI_FAILURE;
  int result = CLI_FAILURE;
  if (open_directory(&out, name)) {
    result = unpack(&input, form, &out);
    discard(&out);
  }
  cli_input_close(&input);
  return result;
}
