/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue records show`: the values of records, as `evalue show` has them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "display.h"
#include "records.h"

static const char help[] =
    "usage: evalue records show [--record N | [--from N] [--count N]] [--json] FILE\n"
    "\n"
    "Shows the values of records, as 'evalue show' does. Without options it shows all records. Bad ones are told on\n"
    "stderr, and the next one follows.\n"
    "\n"
    "  --record N       record N alone; the first one is 0\n"
    "  --from N         from record N on\n"
    "  --count N        so many records\n"
    "  --json           JSON Lines, one record a line: its number, its offset, and its values\n" RECORDS_HELP_END "\n"
    "FILE may be -, stdin.\n"
    "\n" RECORDS_EXIT_STATUS "\n"
    "example: evalue records show --record 7 train.tfrecord\n";

typedef struct job {
  const char *file, *record_text, *from_text, *count_text;
  uint64_t record, from, count;
  bool json;
  uint64_t shown;
} job;

/* ---- one record ---- */

/* A stream that leaves out newlines, so that what is written as lines becomes one. */
static ssize_t write_without_newlines(void *cookie, const char *data, size_t size) {
  const char *p = data, *end = data + size;
  FILE *stream = (FILE *)cookie;
  while (p < end) {
    const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline != NULL ? newline : end;
    fwrite(p, 1, (size_t)(stop - p), stream);
    p = stop + 1;
  }
  return ferror(stream) ? 0 : (ssize_t)size;
}

static int put_json(const evalue_record *record) {
  evalue_reader reader;
  evalue value;
  FILE *line = fopencookie(stdout, "w", (cookie_io_functions_t){.write = write_without_newlines});
  if (line == NULL) return records_out_of_memory();
  fprintf(line, "{\"record\":%llu,\"offset\":%llu,\"values\":[", (unsigned long long)record->index,
          (unsigned long long)record->offset);
  evalue_reader_init(&reader, record->data, record->size, NULL);
  for (uint64_t i = 0; evalue_reader_next(&reader, &value) == EVALUE_OK; i++) {
    if (i != 0) putc(',', line);
    if (!cli_json_write(line, &value)) break; /* main says so */
  }
  fputs("]}", line);
  fclose(line);
  putchar('\n');
  return CLI_OK;
}

static int put_table(const job *j, const evalue_record *record) {
  static const cli_format format = {.form = CLI_MESSAGE};
  char number[2][CLI_GROUPED_SIZE];
  cli_input input;
  memset(&input, 0, sizeof input);
  input.name = j->file;
  input.data = record->data;
  input.size = record->size;
  input.fd = input.slot = -1;
  printf("%srecord %s, offset %s\n", j->shown != 0 ? "\n" : "", cli_grouped(record->index, number[0]),
         cli_grouped(record->offset, number[1]));
  return cli_show_table(stdout, &input, &format);
}

/* ---- the file ---- */

/* Goes to the first record that is wanted, from head to head, where that is possible; elsewhere it is read to. */
static int go_to(records_file *file, uint64_t from) {
  evalue_record_reader heads;
  evalue_record_entry entry;
  evalue_record record;
  if (from == 0 || file->size == 0) return CLI_OK;
  evalue_status status = evalue_record_reader_init(&heads, file->fd, &records_heads_only);
  if (status != EVALUE_OK) return records_out_of_memory();
  while (status == EVALUE_OK && evalue_record_reader_index(&heads) < from) status = records_pass(&heads, &entry);
  evalue_record_reader_seek(&file->reader, evalue_record_reader_offset(&heads), evalue_record_reader_index(&heads));
  evalue_record_reader_close(&heads);
  return status == EVALUE_OK ? CLI_OK : records_next(file, &record); /* what is wrong there */
}

/* Shows a record that is wanted. */
static int show_record(job *j, records_file *file, const evalue_record *record) {
  fflush(stdout);
  if (records_check_message(file, record) != CLI_OK) return RECORDS_BAD;
  int result = j->json ? put_json(record) : put_table(j, record);
  j->shown++;
  return result;
}

static int show_records(job *j, records_file *file) {
  evalue_record record;
  int result = j->count > 0 ? go_to(file, j->from) : RECORDS_END;
  while ((result == CLI_OK || result == RECORDS_BAD) && !ferror(stdout)) {
    uint64_t next = evalue_record_reader_index(&file->reader);
    if (next >= j->from && next - j->from >= j->count) break;
    result = records_next(file, &record);
    if (result == CLI_OK && next >= j->from) result = show_record(j, file, &record);
  }
  return result < CLI_OK ? CLI_OK : result;
}

static int show(job *j) {
  char number[2][CLI_GROUPED_SIZE];
  records_file file = {.most_faults = UINT64_MAX};
  if (!records_open(&file, j->file, RECORDS_GO_ON, NULL)) return file.result;
  int result = show_records(j, &file);
  uint64_t found = evalue_record_reader_index(&file.reader);
  int closed = records_close(&file);
  if (closed > result) result = closed;
  bool is_asked_for = j->record_text != NULL || j->from != 0;
  bool is_missing = is_asked_for && found <= j->from && j->shown == 0 && j->count != 0;
  if (result != CLI_OK || !is_missing) return result;
  cli_report(j->file, "there is no record %s: the file has %s", cli_grouped(j->from, number[0]),
             cli_grouped(found, number[1]));
  return CLI_BAD_DATA;
}

/* ---- the command line ---- */

static bool take_argument(job *j, cli_args *args) {
  if (cli_args_is(args, "--record"))
    return records_take_number(args, &j->record_text, 0, EVALUE_SIZE_LIMIT - 1, &j->record);
  if (cli_args_is(args, "--from")) return records_take_number(args, &j->from_text, 0, EVALUE_SIZE_LIMIT - 1, &j->from);
  if (cli_args_is(args, "--count")) return records_take_number(args, &j->count_text, 0, UINT64_MAX, &j->count);
  if (cli_args_is(args, "--json")) {
    j->json = true;
    return true;
  }
  bool is_file = args->is_operand && j->file == NULL;
  if (is_file) j->file = args->name;
  else cli_args_unknown(args);
  return is_file;
}

int records_show(int argc, char **argv) {
  cli_args args;
  job j = {.count = UINT64_MAX};
  (void)argc;
  cli_args_start(&args, argv, help);
  while (cli_args_next(&args)) {
    if (!take_argument(&j, &args)) return CLI_FAILURE;
  }
  if (args.stop) return args.exit_code;
  if (j.file == NULL) return cli_usage_error("expected a FILE");
  if (j.record_text != NULL && (j.from_text != NULL || j.count_text != NULL)) {
    return cli_usage_error("--record does not go together with --from and --count");
  }
  if (j.record_text != NULL) {
    j.from = j.record;
    j.count = 1;
  }
  return show(&j);
}
