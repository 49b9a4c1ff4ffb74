/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Record files: the library against spec/evalue-records-1.0.md. Its vectors through a file, and through a pipe a byte
 * at a time, with and without skip mode; and its table of faults against that of the headers. The vectors stand in a C
 * table that generate_records.py makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "evalue/evalue.h"
#include "msan_stat.h"

struct good_record {
  uint64_t offset, size;
  const uint8_t *data;
  size_t data_size;
};

struct number {
  uint64_t is;
  int is_given;
};

struct bad_record {
  const char *status, *fault, *field; /* NULL status: there is none */
  struct number record, offset, position, expected, found, needed, value;
};

struct record_vector {
  const char *name;
  int form;
  const uint8_t *bytes;
  size_t size;
  const uint8_t *index;
  size_t index_size;
  uint64_t max_record;
  int checks_data_crc;
  const struct good_record *records;
  size_t record_count;
  struct bad_record fault;
  int has_skip;
  const struct good_record *kept;
  size_t kept_count;
  uint64_t skipped;
  struct bad_record end;
};

struct spec_fault {
  const char *fault, *status;
};

enum { RECORDS, MESSAGES, INDEX };

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "record_vectors.inc"
#pragma GCC diagnostic pop

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { MOST_VALUES = 4096 };

static evalue values[MOST_VALUES];

/* ---- inputs ---- */

/* A file without a name that has the bytes. */
static FILE *file_of(const uint8_t *bytes, size_t size) {
  FILE *file = tmpfile();
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fflush(file), 0);
  assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
  return file;
}

/* A pipe that another process writes the bytes to, one by one; returns the end to read. */
static int pipe_of(const struct record_vector *v, pid_t *child) {
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  *child = fork();
  assert_true(*child >= 0);
  if (*child == 0) {
    close(fds[0]);
    for (size_t i = 0; i < v->size; i++) {
      if (write(fds[1], v->bytes + i, 1) != 1) _exit(1);
    }
    _exit(0);
  }
  close(fds[1]);
  return fds[0];
}

/* ---- comparing ---- */

static void check_number(const struct record_vector *v, const char *what, const struct number *expected, uint64_t is) {
  if (!expected->is_given || expected->is == is) return;
  fail_msg("%s: %s: expected %llu, found %llu", v->name, what, (unsigned long long)expected->is,
           (unsigned long long)is);
}

static void check_fault(const struct record_vector *v, const struct bad_record *b, const evalue_error *e) {
  const char *status = evalue_status_name(e->status), *fault = evalue_fault_name(e->fault);
  if (strcmp(b->status, status) != 0 || strcmp(b->fault, fault) != 0) {
    fail_msg("%s: expected %s %s, found %s %s", v->name, b->status, b->fault, status, fault);
  }
  if (b->field[0] != '\0') assert_string_equal(evalue_field_name(e->field), b->field);
  check_number(v, "position", &b->position, e->position);
  check_number(v, "expected", &b->expected, e->expected);
  check_number(v, "found", &b->found, e->found);
  check_number(v, "needed", &b->needed, e->needed);
  check_number(v, "value", &b->value, e->value_index);
}

static void check_reader_fault(const struct record_vector *v, const struct bad_record *b,
                               const evalue_record_reader *r) {
  check_fault(v, b, evalue_record_reader_error(r));
  check_number(v, "offset", &b->offset, r->fault_offset);
  check_number(v, "record", &b->record, r->fault_index);
}

static void check_record(const struct record_vector *v, const struct good_record *g, const evalue_record *r) {
  if (r->offset != g->offset || r->size + EVALUE_RECORD_FRAME_SIZE != g->size || r->size != g->data_size) {
    fail_msg("%s: another record: at %llu, %zu bytes", v->name, (unsigned long long)r->offset, r->size);
  }
  if (r->size != 0) assert_memory_equal(r->data, g->data, r->size);
}

/* ---- reading in order ---- */

/* Reads the next record at the level of the vector; at that of messages its place tells which one it was. */
static evalue_status next(const struct record_vector *v, evalue_record_reader *r, const struct good_record *g) {
  evalue_record record;
  uint64_t n;
  if (v->form == RECORDS) {
    evalue_status status = evalue_record_reader_next(r, &record);
    if (status == EVALUE_OK && g != NULL) check_record(v, g, &record);
    return status;
  }
  evalue_status status = evalue_record_reader_next_values(r, values, MOST_VALUES, &n);
  if (status != EVALUE_OK || g == NULL) return status;
  uint64_t expected;
  evalue *copies = (evalue *)calloc(MOST_VALUES, sizeof *copies);
  assert_non_null(copies);
  assert_int_equal(evalue_message_decode(g->data, g->data_size, NULL, copies, MOST_VALUES, &expected, NULL), EVALUE_OK);
  assert_int_equal(n, expected);
  for (uint64_t i = 0; i < n; i++) assert_true(evalue_equal(&values[i], &copies[i]));
  assert_int_equal(evalue_record_reader_offset(r), g->offset + g->size);
  free(copies);
  return status;
}

static void read_in_order(const struct record_vector *v, int fd, bool skips) {
  evalue_record_reader r;
  const struct good_record *good = skips && v->has_skip ? v->kept : v->records;
  size_t count = skips && v->has_skip ? v->kept_count : v->record_count;
  const struct bad_record *bad = skips && v->has_skip ? &v->end : &v->fault;
  const evalue_record_reader_options options = {
      .skip = skips ? 1 : 0, .ignore_crc = v->checks_data_crc ? 0 : 1, .max_record = v->max_record};
  assert_int_equal(evalue_record_reader_init(&r, fd, &options), EVALUE_OK);
  for (size_t i = 0; i < count; i++) {
    evalue_status status = next(v, &r, &good[i]);
    if (status != EVALUE_OK) fail_msg("%s: record %zu: %s", v->name, i, evalue_status_name((int32_t)status));
  }
  evalue_status status = next(v, &r, NULL);
  if (bad->status == NULL && status != EVALUE_END) {
    fail_msg("%s: found %s at the end", v->name, evalue_status_name((int32_t)status));
  }
  if (bad->status != NULL) check_reader_fault(v, bad, &r);
  uint64_t skipped = r.counts.corrupt + r.counts.too_large + r.counts.bad_messages;
  if (skips && v->has_skip) assert_int_equal(skipped, v->skipped);
  if (!skips || !v->has_skip) assert_int_equal(skips ? skipped : 0, 0);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

static void test_files(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(record_vectors); i++) {
    const struct record_vector *v = &record_vectors[i];
    if (v->form == INDEX) continue;
    for (int skips = 0; skips < 2; skips++) {
      FILE *file = file_of(v->bytes, v->size);
      read_in_order(v, fileno(file), skips != 0);
      fclose(file);
    }
  }
}

/* Where a file's size is not known, what is missing shows when it is read. */
static void test_pipes(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(record_vectors); i += 3) {
    const struct record_vector *v = &record_vectors[i];
    if (v->form == INDEX) continue;
    pid_t child;
    int fd = pipe_of(v, &child);
    read_in_order(v, fd, i % 2 != 0);
    close(fd);
    assert_int_equal(waitpid(child, NULL, 0), child);
  }
}

/* ---- reading by an index ---- */

static void check_by_index(const struct record_vector *v, evalue_record_reader *r, const evalue_record_index *index) {
  evalue_record record;
  size_t good = 0;
  for (size_t k = 0; k < index->count; k++) {
    evalue_status status = evalue_record_reader_at(r, &index->entries[k], &record);
    if (status == EVALUE_OK) {
      assert_true(good < v->record_count);
      check_record(v, &v->records[good++], &record);
      continue;
    }
    if (v->fault.status == NULL) fail_msg("%s: entry %zu: %s", v->name, k, evalue_status_name((int32_t)status));
    assert_int_equal(good, v->record_count);
    check_fault(v, &v->fault, evalue_record_reader_error(r));
    check_number(v, "record", &v->fault.record, k);
    check_number(v, "offset", &v->fault.offset, index->entries[k].offset);
    return;
  }
  assert_int_equal(good, v->record_count);
  assert_null(v->fault.status);
}

static void test_index(void **state) {
  (void)state;
  size_t seen = 0;
  for (size_t i = 0; i < COUNT_OF(record_vectors); i++) {
    const struct record_vector *v = &record_vectors[i];
    evalue_record_index index = {0};
    evalue_record_reader r;
    if (v->form != INDEX) continue;
    seen++;
    char path[] = "/tmp/evalue-index-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, v->index, v->index_size), v->index_size);
    close(fd);
    FILE *file = file_of(v->bytes, v->size);
    const evalue_record_reader_options options = {.max_record = v->max_record,
                                                  .ignore_crc = v->checks_data_crc ? 0 : 1};
    assert_int_equal(evalue_record_reader_init(&r, fileno(file), &options), EVALUE_OK);
    evalue_status status = evalue_record_index_read(&index, path, v->size);
    if (status == EVALUE_OK) {
      check_by_index(v, &r, &index);
    } else {
      if (v->fault.status == NULL) fail_msg("%s: %s", v->name, evalue_status_name((int32_t)status));
      check_fault(v, &v->fault, &index.error);
      check_number(v, "record", &v->fault.record, index.count);
    }
    evalue_record_index_free(&index);
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    fclose(file);
    unlink(path);
  }
  assert_true(seen > 10);
}

/* ---- tables ---- */

/* The document lists the faults of the headers, with their statuses, and each has a rejected vector. */
static void test_faults(void **state) {
  (void)state;
  static const struct spec_fault ours[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning) {text, #status},
      EVALUE_RECORD_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  assert_int_equal(COUNT_OF(ours), COUNT_OF(spec_faults));
  for (size_t i = 0; i < COUNT_OF(spec_faults); i++) {
    size_t at = 0, vectors = 0;
    while (at < COUNT_OF(ours) && strcmp(ours[at].fault, spec_faults[i].fault) != 0) at++;
    if (at == COUNT_OF(ours)) fail_msg("%s is in the document alone", spec_faults[i].fault);
    assert_int_equal(strcasecmp(ours[at].status, spec_faults[i].status), 0);
    for (size_t k = 0; k < COUNT_OF(record_vectors); k++) {
      const struct bad_record *b = &record_vectors[k].fault;
      vectors += b->status != NULL && strcmp(b->fault, spec_faults[i].fault) == 0;
    }
    if (vectors == 0) fail_msg("%s has no vector", spec_faults[i].fault);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_pipes),
      cmocka_unit_test(test_index),
      cmocka_unit_test(test_faults),
  };
  printf("%zu vectors of record files\n", COUNT_OF(record_vectors));
  return cmocka_run_group_tests_name("record conformance", tests, NULL, NULL);
}
