/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue unpack`: tensors as .npy files, and all values as JSON Lines, in a directory that appears whole or not at
 * all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "directory.h"
#include "npy.h"

static const char help[] =
    "usage: evalue unpack [--form F] [--executorch R] [--allow WHAT] [--no-json] -d DIR FILE\n"
    "\n"
    "Writes the tensors of FILE as DIR/0000.npy and so on (the number is the value's index), and all values,\n"
    "tensors too, as DIR/values.jsonl: JSON Lines, which 'evalue pack --json' turns into the same values again.\n"
    "\n"
    "  --form F         what FILE is: message, sequence or executorch-java (default message)\n" CLI_JAVA_HELP(
        "wrote it") "  --no-json        write the .npy files only\n"
                    "  -d DIR           a directory that is empty, or does not exist yet; it gets all files or none\n"
                    "  --log SPEC       what to log on stderr; help lists the names\n"
                    "  --help           this text\n"
                    "\n"
                    "FILE may be -, stdin. Ancillary elements and the alignment of FILE are not kept. Scalar types "
                    "that NumPy lacks\n"
                    "become opaque bytes, such as |V2 for bfloat16 ('evalue pack --as' takes them back); a dim_order "
                    "that is neither "
                    "C\n"
                    "nor Fortran order becomes C order in the .npy file, and is kept in values.jsonl.\n"
                    "\n"
                    "Exit status: 0 good; 1 bad data; 2 usage or I/O.\n"
                    "\n"
                    "example: evalue unpack -d values values.evalue\n";

enum { PART_SIZE = 1 << 22 };

static bool fail(const char *name, const char *what, int error) {
  cli_message("%s: %s: %s", name, what, strerror(error));
  return false;
}

/* ---- tensors ---- */

typedef struct job {
  const cli_input *input;
  cli_directory *out;
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
  EVALUE_LOG_COPIED(&evalue_log_cli, tensor->nbytes,
                    ".npy has C order and Fortran order, and the dim_order is neither");
  if (copy == NULL) return fail(name, "cannot copy the tensor to C order", ENOMEM);
  evalue_status status = evalue_tensor_copy(tensor, NULL, EVALUE_LITTLE_ENDIAN, copy, tensor->nbytes);
  bool good = status == EVALUE_OK && write_data(j, fd, name, copy, tensor->nbytes);
  if (status != EVALUE_OK)
    cli_message("%s: cannot copy the tensor to C order: %s", name, evalue_status_message((int32_t)status));
  free(copy);
  return good;
}

/* Closes a file that was written so far, once it is on the disk. */
static bool close_file(int fd, const char *name, bool good) {
  int error = good ? cli_sync(fd) : 0;
  if (close(fd) != 0 && error == 0) error = errno;
  return good && (error == 0 || fail(name, "cannot write", error));
}

static bool write_npy(job *j, uint64_t index, const evalue_tensor *tensor) {
  char name[CLI_VALUE_FILE_NAME_SIZE], header[CLI_NPY_HEADER_SIZE];
  bool fortran = is_fortran(tensor);
  cli_value_file_name(index, name);
  j->out->count = index + 1;
  int fd = cli_directory_create(j->out, name);
  if (fd < 0) return false;
  bool good = cli_write_all(fd, name, header, cli_npy_header(tensor, fortran, header));
  if (good && (fortran || evalue_tensor_is_contiguous(tensor))) {
    good = write_data(j, fd, name, tensor->data, tensor->nbytes);
  } else if (good) {
    good = write_copy(j, fd, name, tensor);
  }
  return close_file(fd, name, good);
}

/* ---- all values ---- */

static bool write_value(job *j, uint64_t index, const evalue *value) {
  if (value->tag == EVALUE_TAG_TENSOR && !write_npy(j, index, &value->tensor)) return false;
  if (j->json == NULL || cli_json_write(j->json, value)) return true;
  return fail(CLI_VALUES_FILE_NAME, "cannot write", errno);
}

static int write_values(job *j, const cli_format *format) {
  cli_reader reader;
  evalue value;
  cli_reader_init(&reader, j->input, format);
  for (uint64_t index = 0; cli_reader_next(&reader, &value) == EVALUE_OK; index++) {
    if (!write_value(j, index, &value)) {
      cli_reader_close(&reader);
      return CLI_FAILURE;
    }
    cli_progress_at(&j->progress, cli_reader_position(&reader));
  }
  return cli_reader_finish(&reader);
}

/* Opens the file of all values. */
static bool open_json(job *j) {
  int fd = cli_directory_create(j->out, CLI_VALUES_FILE_NAME);
  if (fd < 0) return false;
  j->json = fdopen(fd, "w");
  if (j->json != NULL) return true;
  fail(CLI_VALUES_FILE_NAME, "cannot open", errno);
  close(fd);
  return false;
}

/* The same as close_file. */
static bool close_json(FILE *json, bool good) {
  int error = good && fflush(json) != 0 ? errno : 0;
  if (good && error == 0) error = cli_sync(fileno(json));
  if (fclose(json) != 0 && error == 0) error = errno;
  return good && (error == 0 || fail(CLI_VALUES_FILE_NAME, "cannot write", error));
}

typedef struct options {
  const char *form_text, *directory, *file;
  cli_format format;
  cli_java_texts java;
  bool no_json;
} options;

static int unpack(const cli_input *input, const options *o, cli_directory *out) {
  job j = {.input = input, .out = out};
  if (!o->no_json && !open_json(&j)) return CLI_FAILURE;
  cli_progress_start(&j.progress, cli_input_name(input->name), input->size);
  int result = write_values(&j, &o->format);
  cli_progress_end(&j.progress);
  if (j.json != NULL && !close_json(j.json, result == CLI_OK) && result == CLI_OK) result = CLI_FAILURE;
  return result == CLI_OK && !cli_directory_publish(out) ? CLI_FAILURE : result;
}

static bool parse(cli_args *args, options *o) {
  while (cli_args_next(args)) {
    if (cli_args_is(args, "--form")) {
      if (!cli_args_once(args, &o->form_text)) return false;
    } else if (cli_is_java_option(args)) {
      if (!cli_take_java_option(args, &o->java)) return false;
    } else if (cli_args_is(args, "-d")) {
      if (!cli_args_once(args, &o->directory)) return false;
    } else if (cli_args_is(args, "--no-json")) {
      o->no_json = true;
    } else if (args->is_operand && o->file == NULL) {
      o->file = args->name;
    } else {
      cli_args_unknown(args);
      return false;
    }
  }
  if (args->stop) return true;
  o->format.java = o->java.java;
  return cli_parse_form(o->form_text, &o->format.form) &&
         cli_check_java_options(&o->java, o->format.form == CLI_JAVA, false);
}

int cli_unpack(int argc, char **argv) {
  cli_args args;
  cli_input input;
  cli_directory out;
  options o = {.format.form = CLI_MESSAGE};
  (void)argc;
  cli_args_start(&args, argv, help);
  if (!parse(&args, &o)) return CLI_FAILURE;
  if (args.stop) return args.exit_code;
  if (o.directory == NULL) return cli_usage_error("expected -d DIR");
  if (o.file == NULL) return cli_usage_error("expected a FILE");
  if (!cli_input_open(&input, o.file, cli_reader_needed, &o.format)) return CLI_FAILURE;
  int result = cli_directory_open(&out, o.directory) ? unpack(&input, &o, &out) : CLI_FAILURE;
  cli_directory_discard(&out);
  cli_input_close(&input);
  return result;
}
