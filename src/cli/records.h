/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the subcommands of `evalue records` share. Files: records.c picks the subcommand; records_create.c records_ls.c
 * records_show.c records_check.c records_repair.c records_index.c records_shard.c records_tfexample.c are these;
 * records_args.c records_file.c records_output.c records_field.c records_seen.c records_sizes.c help them.
 */
#ifndef EVALUE_CLI_RECORDS_H
#define EVALUE_CLI_RECORDS_H

#include "cli.h"
#include "evalue/record.h"

/* The subcommands: as those of cli.h. */
int records_create(int argc, char **argv);
int records_ls(int argc, char **argv);
int records_show(int argc, char **argv);
int records_check(int argc, char **argv);
int records_repair(int argc, char **argv);
int records_index(int argc, char **argv);
int records_shard(int argc, char **argv);
int records_merge(int argc, char **argv);
int records_from_tfexample(int argc, char **argv);
int records_to_tfexample(int argc, char **argv);

/* What --help says at its end. */
#define RECORDS_HELP_END                                                                                               \
  "  --log SPEC       what to log on stderr; help lists the names\n"                                                   \
  "  --help           this text\n"
#define RECORDS_EXIT_STATUS "Exit status: 0 good; 1 bad data; 2 usage or I/O.\n"
#define RECORDS_HELP_SKIP   "  --skip-bad       leave out bad records, go on, and say on stderr how many they were\n"
#define RECORDS_HELP_INDEX                                                                                             \
  "  --index          make an index beside each output, OUT.index: a line \"OFFSET SIZE\" for each record\n"

/* ---- records_args.c: command lines ---- */

/* Parses a decimal number from least to most; false, with a message, for another text. NULL leaves *number as it is. */
bool records_parse_number(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *number);

/* The same for an option's value: takes it; *text is NULL until then. */
bool records_take_number(cli_args *args, const char **text, uint64_t least, uint64_t most, uint64_t *number);

/* Operands, gathered at the beginning of argv, where nothing is left to read. NULL ends them. */
typedef struct records_operands {
  char **names;
  size_t count;
  bool has_stdin;
} records_operands;

/* Adds the operand that args is at; false, with a message, when stdin is given twice. */
bool records_add_operand(records_operands *operands, const cli_args *args);

/* The bytes of all these files; 0 when not all are regular files, so that it cannot be known. */
uint64_t records_total(char *const *names);

/* The name of one of several files: NAME-00003-of-00008.tfrecord, where name is NAME.tfrecord. NULL, with a message,
 * without memory. free frees it. */
char *records_shard_name(const char *name, size_t index, size_t count);

/* The name of a file's index. As above. */
char *records_index_name(const char *name);

/* What is said when malloc fails. Returns CLI_FAILURE. */
int records_out_of_memory(void);

/* ---- records_file.c: a record file that is read ---- */

/* What a bad record means. */
typedef enum records_policy {
  RECORDS_STOP, /* it is said, and that is the end */
  RECORDS_SKIP, /* it is left out; closing says how many */
  RECORDS_GO_ON /* it is said, up to file->most_faults of them, and the next one is read */
} records_policy;

enum { RECORDS_END = -1, RECORDS_BAD = -2, RECORDS_TEXT_SIZE = 1400 };

typedef struct records_file {
  const char *name;
  records_policy policy;
  FILE *texts;            /* where messages wait (records_print_texts); NULL: they are printed at once */
  uint64_t most_faults;   /* that are said: 0 for none */
  uint64_t faults;        /* bad records, and a bad end */
  uint64_t size;          /* bytes, when it was opened; 0: not known */
  uint64_t last_progress; /* where it was when somebody asked last */
  int fd;
  int result; /* the worst so far, an exit code */
  char first[RECORDS_TEXT_SIZE];
  evalue_record_reader reader;
} records_file;

/* Opens a file, or stdin for "-". texts and most_faults are set by the caller, before. False, with a message, and the
 * result in file->result, on failure. */
bool records_open(records_file *file, const char *name, records_policy policy,
                  const evalue_record_reader_options *options);

/* Reads the next good record: CLI_OK; RECORDS_END; or CLI_BAD_DATA or CLI_FAILURE, with a message. With RECORDS_GO_ON
 * also RECORDS_BAD, for each bad one. */
int records_next(records_file *file, evalue_record *record);

/* Says that a record that was read is bad: RECORDS_BAD, go on with the next one; or CLI_BAD_DATA, the end. */
int records_reject(records_file *file, const evalue_record *record, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Says whether a record's data is a good message: CLI_OK; what records_reject returns otherwise. */
int records_check_message(records_file *file, const evalue_record *record);

/* Bytes read since it was asked last. */
uint64_t records_progress(records_file *file);

/* Closes it, and says what was left out. Returns file->result. */
int records_close(records_file *file);

/* Prints messages that have waited: size bytes of a file's texts. */
void records_print_texts(const char *name, const char *texts, size_t size);

/* Goes from head to head to the next record, without its data: a reader for that, from where it stands. Its status is
 * EVALUE_OK, EVALUE_END, or a failure that stays, as evalue_record_reader_next's. */
extern const evalue_record_reader_options records_heads_only;
evalue_status records_pass(evalue_record_reader *reader, evalue_record_entry *entry);

/* ---- records_output.c: record files that appear whole or not at all ---- */

typedef struct records_output_options {
  size_t shards; /* 0: one file, which may be "-" unless it has an index */
  bool has_index;
  uint32_t alignment;  /* of messages; 0: the default */
  uint64_t max_record; /* 0: none */
} records_output_options;

typedef struct records_output records_output;

/* NULL, with a message, on failure. */
records_output *records_output_open(const char *name, const records_output_options *options);

/* Writes a record, with several files to each in turn. CLI_OK; CLI_FAILURE with a message; CLI_BAD_DATA without one for
 * a message that is larger than allowed. */
int records_output_put(records_output *output, const evalue *values, size_t n);
int records_output_put_bytes(records_output *output, evalue_slice data);

/* Publishes all files, one after the other, when all are on the disk, if result is CLI_OK; frees, in any case. Returns
 * result, or CLI_FAILURE, with a message. */
int records_output_finish(records_output *output, int result);

/* ---- records_field.c: one value for each record, out of a file ---- */

typedef struct records_field records_field;

typedef enum records_field_kind { RECORDS_TENSOR, RECORDS_SCALAR, RECORDS_JSON } records_field_kind;

/* as: the scalar type that a tensor's elements are taken as; -1: their own. NULL, with a message and *result, on
 * failure. */
records_field *records_field_open(records_field_kind kind, const char *name, int as, int *result);

/* The number of rows; UINT64_MAX of JSON Lines, where it shows in the end. */
uint64_t records_field_rows(const records_field *field);
const char *records_field_name(const records_field *field);
uint64_t records_field_bytes(const records_field *field); /* of the file; 0: not known */
uint64_t records_field_done(const records_field *field);  /* of these, that were read */

/* The next row, valid until the next call. CLI_OK; RECORDS_END; CLI_BAD_DATA, CLI_FAILURE with a message. */
int records_field_next(records_field *field, evalue *value);

/* Says whether all that was read was really there; false, with a message, when not. */
bool records_field_ok(const records_field *field);

void records_field_close(records_field *field); /* NULL is fine */

/* ---- records_seen.c: which values records have ---- */

enum { RECORDS_MOST_SEEN = 32 };

/* What the values at one place have in common. */
typedef struct records_seen_value {
  uint8_t tag; /* UINT8_MAX: several */
  bool may_be_none;
  bool is_any_type, is_any_ndim;
  uint8_t scalar_type, ndim;
  int32_t sizes[EVALUE_MAX_NDIM]; /* -1: several */
} records_seen_value;

/* All zero at first. */
typedef struct records_seen {
  uint64_t messages;
  size_t count;  /* of values */
  bool has_more; /* in some messages, or more than are remembered */
  records_seen_value values[RECORDS_MOST_SEEN];
} records_seen;

/* Looks at a message, which is good. */
void records_seen_add(records_seen *seen, const evalue_record *record);
void records_seen_merge(records_seen *seen, const records_seen *other);

/* Prints it, like "float32[3,32,?], Int". */
void records_seen_print(const records_seen *seen, FILE *stream);

/* ---- records_sizes.c: the median in constant memory ---- */

typedef struct records_sizes {
  uint64_t count, least, largest, sum;
  struct records_size_count {
    uint64_t size, count;
  } * table; /* by hash; NULL: nothing was counted */
  size_t used;
  unsigned shift; /* 0: the median is exact; otherwise so many low bits of sizes are not known */
} records_sizes;

/* Counts one size, so many times; false without memory. All zero at first. */
bool records_sizes_add(records_sizes *sizes, uint64_t size, uint64_t times);
bool records_sizes_merge(records_sizes *sizes, const records_sizes *other);
uint64_t records_sizes_median(const records_sizes *sizes); /* the lower one of two; 0 of none */
void records_sizes_free(records_sizes *sizes);

#endif
