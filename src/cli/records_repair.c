/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `evalue records repair`: cuts off a record that was not written to its end, which loses nothing; or copies what is
 * good. Everything else is lost only when --force says so.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../text/shared.h"
#include "display.h"
#include "records.h"

static const char help[] =
    "usage: evalue records repair [--dry-run] [--force] FILE\n"
    "       evalue records repair --skip-bad [--frames] [--index] -o OUT FILE\n"
    "\n"
    "Cuts off a torn record at the end of FILE, as a crash or a full disk leaves it, or zeros, as a power cut does; "
    "no\n"
    "whole record is lost. Says what it has done.\n"
    "\n"
    "  --dry-run        change nothing, and say what would be done; exit status 1 when there is something\n"
    "  --force          cut behind the last good record, whatever follows: corrupt records at the end, and all that "
    "is\n"
    "                   behind a length that is corrupt\n"
    "  --skip-bad       leave FILE as it is, and copy its good records to OUT\n"
    "  -o OUT           where to\n"
    "  --frames         copy records whose checksums are good, also when they are no messages: tf.Examples, for "
    "example\n" RECORDS_HELP_INDEX RECORDS_HELP_END "\n"
    "With --skip-bad FILE may be -, stdin, and OUT may be -, stdout. OUT appears whole or not at all.\n"
    "\n"
    "Exit status: 0 good now; 1 there is still something bad; 2 usage or I/O.\n"
    "\n"
    "example: evalue records repair train.tfrecord\n";

typedef struct job {
  const char *file, *out;
  bool dry_run, force, skips, frames_only, has_index;
} job;

/* ---- copying ---- */

static int copy_records(const job *j, records_file *file, records_output *output) {
  cli_progress progress;
  evalue_record record;
  int result;
  cli_progress_start(&progress, cli_input_name(file->name), file->size);
  while ((result = records_next(file, &record)) == CLI_OK) {
    cli_progress_at(&progress, record.offset);
    if (!j->frames_only && records_check_message(file, &record) != CLI_OK) continue;
    result = records_output_put_bytes(output, (evalue_slice){record.data, record.size});
    if (result != CLI_OK) break;
  }
  cli_progress_end(&progress);
  return result == RECORDS_END ? CLI_OK : result;
}

static int copy(const job *j) {
  const records_output_options options = {.has_index = j->has_index};
  records_file file = {.texts = NULL};
  if (!records_open(&file, j->file, RECORDS_SKIP, NULL)) return file.result;
  records_output *output = records_output_open(j->out, &options);
  int result = output == NULL ? CLI_FAILURE : copy_records(j, &file, output);
  int closed = records_close(&file);
  if (result == CLI_OK) result = closed;
  return output == NULL ? result : records_output_finish(output, result);
}

/* ---- cutting ---- */

/* What is behind the whole records, those with good lengths. */
typedef enum end_kind { END_GOOD, END_TORN, END_ZEROS, END_BAD } end_kind;

typedef struct end {
  end_kind kind;
  uint64_t records, offset; /* whole records, and where the last one ends */
  char text[RECORDS_TEXT_SIZE];
} end;

static bool is_zero_from(int fd, uint64_t offset) {
  uint8_t bytes[4096];
  ssize_t got;
  while ((got = pread(fd, bytes, sizeof bytes, (off_t)offset)) > 0) {
    for (ssize_t i = 0; i < got; i++) {
      if (bytes[i] != 0) return false;
    }
    offset += (uint64_t)got;
  }
  return got == 0;
}

/* Goes from head to head from the last good record on. False, with a message, when that is not possible. */
static bool find_end(const char *name, const evalue_record_report *report, end *e) {
  records_file file = {.texts = NULL};
  evalue_record_entry entry;
  char fault[1024];
  if (!records_open(&file, name, RECORDS_STOP, &records_heads_only)) return false;
  evalue_record_reader_seek(&file.reader, report->good_end, report->records + report->corrupt);
  evalue_status status;
  do {
    status = records_pass(&file.reader, &entry);
  } while (status == EVALUE_OK);
  const evalue_error *error = evalue_record_reader_error(&file.reader);
  e->kind = status == EVALUE_END ? END_GOOD : status == EVALUE_TRUNCATED ? END_TORN : END_BAD;
  e->offset = evalue_record_reader_offset(&file.reader);
  e->records = evalue_record_reader_index(&file.reader);
  if (e->kind == END_BAD && is_zero_from(file.fd, e->offset)) e->kind = END_ZEROS;
  evalue_print_error_of(error, report->file_size, fault, sizeof fault);
  snprintf(e->text, sizeof e->text, "record %llu: %s", (unsigned long long)e->records, fault);
  if (status == EVALUE_IO) cli_message("%s: cannot read: %s", name, strerror(file.reader.system_error));
  records_close(&file);
  return status != EVALUE_IO;
}

/* Says on stdout what was done, or would be. */
static void say_cut(const job *j, const evalue_record_report *report, uint64_t offset, uint64_t records,
                    const char *why) {
  char bytes[CLI_GROUPED_SIZE], left[CLI_GROUPED_SIZE];
  uint64_t cut = report->file_size - offset;
  cli_put_escaped(stdout, j->file, strlen(j->file));
  printf(": %s %s byte%s at offset %llu: %s; %s record%s %s\n", j->dry_run ? "would cut" : "cut",
         cli_grouped(cut, bytes), cli_plural(cut), (unsigned long long)offset, why, cli_grouped(records, left),
         cli_plural(records), records == 1 ? "is left" : "are left");
}

/* Cuts at the end of the last whole record, or of the last good one. */
static int cut(const job *j, bool is_forced) {
  evalue_record_report report;
  evalue_record_writer writer;
  const evalue_record_writer_options options = {.append = 1, .sync = EVALUE_SYNC_CLOSE};
  evalue_status status;
  int error;
  if (is_forced) {
    status = evalue_record_repair(j->file, &report);
    error = report.system_error;
  } else {
    status = evalue_record_writer_open(&writer, j->file, &options);
    error = writer.system_error;
    if (status == EVALUE_OK) status = evalue_record_writer_close(&writer);
    if (status != EVALUE_OK && error == 0) error = writer.system_error;
  }
  if (status == EVALUE_OK) return CLI_OK;
  cli_message("%s: cannot cut: %s", j->file,
              error == EWOULDBLOCK ? "another program is writing to it"
              : error != 0         ? strerror(error)
                                   : evalue_status_message((int32_t)status));
  return CLI_FAILURE;
}

/* Says what stays bad. */
static int say_corrupt(const job *j, const evalue_record_report *report, uint64_t corrupt) {
  char fault[1024], number[CLI_GROUPED_SIZE];
  if (corrupt == 0) return CLI_OK;
  evalue_print_error_of(&report->error, report->file_size, fault, sizeof fault);
  cli_report(j->file, "%s corrupt record%s left; the first one: %s; --skip-bad -o OUT copies the others",
             cli_grouped(corrupt, number), corrupt == 1 ? " is" : "s are", fault);
  return CLI_BAD_DATA;
}

static int repair_end(const job *j, const evalue_record_report *report, const end *e) {
  char number[CLI_GROUPED_SIZE];
  uint64_t corrupt_at_end = e->records - report->records - report->corrupt;
  bool is_torn = e->kind == END_TORN || e->kind == END_ZEROS;
  bool is_forced = j->force && (e->kind == END_BAD || corrupt_at_end != 0);
  if (e->kind == END_BAD && !j->force) {
    cli_report(
        j->file,
        "%s; the %s bytes from there on cannot be read: --force cuts them off, --skip-bad -o OUT copies what is before",
        e->text, cli_grouped(report->file_size - e->offset, number));
    return CLI_BAD_DATA;
  }
  int result = !j->dry_run && (is_torn || is_forced) ? cut(j, is_forced) : CLI_OK;
  if (result != CLI_OK) return result;
  if (is_forced)
    say_cut(j, report, report->good_end, report->records + report->corrupt,
            corrupt_at_end != 0 ? "corrupt records" : e->text);
  else if (is_torn) say_cut(j, report, e->offset, e->records, e->kind == END_ZEROS ? "zeros up to the end" : e->text);
  result = say_corrupt(j, report, report->corrupt + (is_forced ? 0 : corrupt_at_end));
  return j->dry_run && (is_forced || is_torn) ? CLI_BAD_DATA : result;
}

static int repair(const job *j) {
  evalue_record_report report;
  end e;
  char number[2][CLI_GROUPED_SIZE];
  evalue_status status = evalue_record_examine(j->file, &report);
  if (status == EVALUE_UNSUPPORTED || status == EVALUE_IO) {
    cli_message("%s: cannot read: %s", j->file,
                status == EVALUE_IO ? strerror(report.system_error) : "it is no regular file");
    return CLI_FAILURE;
  }
  if (status == EVALUE_MISUSE) {
    cli_message("%s: cannot open: %s", j->file, strerror(ENOENT));
    return CLI_FAILURE;
  }
  if (!find_end(j->file, &report, &e)) return CLI_FAILURE;
  if (status != EVALUE_OK) return repair_end(j, &report, &e);
  cli_put_escaped(stdout, j->file, strlen(j->file));
  printf(": nothing to repair: %s record%s, %s bytes\n", cli_grouped(report.records, number[0]),
         cli_plural(report.records), cli_grouped(report.file_size, number[1]));
  return CLI_OK;
}

/* ---- the command line ---- */

static bool take_argument(job *j, cli_args *args) {
  static const char *const names[] = {"--dry-run", "--force", "--skip-bad", "--frames", "--index"};
  bool *const flags[] = {&j->dry_run, &j->force, &j->skips, &j->frames_only, &j->has_index};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (!cli_args_is(args, names[i])) continue;
    *flags[i] = true;
    return true;
  }
  if (cli_args_is(args, "-o")) return cli_args_once(args, &j->out);
  bool is_file = args->is_operand && j->file == NULL;
  if (is_file) j->file = args->name;
  else cli_args_unknown(args);
  return is_file;
}

int records_repair(int argc, char **argv) {
  cli_args args;
  job j = {.file = NULL};
  (void)argc;
  cli_args_start(&args, argv, help);
  while (cli_args_next(&args)) {
    if (!take_argument(&j, &args)) return CLI_FAILURE;
  }
  if (args.stop) return args.exit_code;
  if (j.file == NULL) return cli_usage_error("expected a FILE");
  if (j.skips && j.out == NULL) return cli_usage_error("--skip-bad needs -o OUT");
  if (j.skips && (j.dry_run || j.force))
    return cli_usage_error("--skip-bad changes no FILE: it does not go together with --dry-run and --force");
  if (!j.skips && (j.out != NULL || j.frames_only || j.has_index))
    return cli_usage_error("-o, --frames and --index need --skip-bad");
  if (!j.skips && strcmp(j.file, "-") == 0)
    return cli_usage_error("stdin cannot be repaired; --skip-bad -o OUT copies what is good");
  if (j.has_index && strcmp(j.out, "-") == 0) return cli_usage_error("--index needs the name of a file: -o OUT");
  return j.skips ? copy(&j) : repair(&j);
}
