/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocations that fail: each in its turn, once and for ever. All memory of record files comes from posix_memalign,
 * which this program replaces. What is not for the asking of a hostile length is counted here, too.
 */
#include "record_files.h"

static long calls, failing; /* failing: 0: none; n: the n-th; -n: the n-th and all later ones */

static bool has_to_fail(void) {
  calls++;
  return failing > 0 ? calls == failing : failing < 0 && calls >= -failing;
}

int posix_memalign(void **memory, size_t alignment, size_t nbytes) {
  if (has_to_fail()) return ENOMEM;
  *memory = aligned_alloc(alignment, (nbytes + alignment - 1) / alignment * alignment);
  return *memory == NULL ? ENOMEM : 0;
}

enum { LARGE = 700000 };
static uint8_t large[LARGE];

/* A way of using record files: 0, or the errno of a failure, which must be EVALUE_IO. */
typedef int way(void);

static int error_of(evalue_status status, const int32_t *system_error) {
  if (status == EVALUE_OK) return 0;
  assert_int_equal(status, EVALUE_IO);
  return *system_error;
}

/* A failure may be tried again: what the writer has written before is as it was. */
static int write_all(void) {
  const evalue_record_writer_options options = {.append = 1, .index_path = path_of("idx")};
  evalue values[40];
  evalue_record_writer w;
  for (size_t i = 0; i < COUNT_OF(values); i++) values[i] = evalue_from_string("abc", 3);
  put_file("f", "torn", 4);
  int error = error_of(evalue_record_writer_open(&w, path_of("f"), &options), &w.system_error);
  if (error != 0) return error;
  for (size_t n = 1; n <= COUNT_OF(values); n += 13) {
    int put = error_of(evalue_record_writer_put(&w, values, n, NULL), &w.system_error);
    if (put == 0) continue;
    error = put;
    if (failing > 0) assert_int_equal(evalue_record_writer_put(&w, values, n, NULL), EVALUE_OK);
  }
  uint64_t records = w.records;
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  long then = failing, before = calls;
  evalue_record_report report;
  failing = 0;
  assert_int_equal(evalue_record_examine(path_of("f"), &report), EVALUE_OK);
  assert_int_equal(report.records, records);
  failing = then;
  calls = before;
  return error;
}

static int read_all(void) {
  const evalue_record_reader_options options = {.buffer_size = 4096};
  evalue_record_reader r;
  evalue_record record = {.size = 0};
  int error = error_of(evalue_record_reader_open(&r, path_of("large"), &options), &r.system_error);
  if (error != 0) return error;
  for (int i = 0; i < 4;) {
    int next = error_of(evalue_record_reader_next(&r, &record), &r.system_error);
    if (next == 0) {
      assert_int_equal(record.index, i);
      assert_int_equal(record.size, LARGE >> (3 - i));
      assert_true(memcmp(record.data, large, record.size) == 0);
      i++;
    } else {
      error = next;
      if (failing < 0) break;
    }
  }
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  return error;
}

static int read_stream(void) {
  const evalue_record_reader_options options = {.owns_fd = 1};
  evalue_record_reader r;
  evalue_record record;
  int error = 0;
  char command[200];
  snprintf(command, sizeof command, "cat %s", path_of("large"));
  FILE *f = popen(command, "r");
  assert_non_null(f);
  int fd = dup(fileno(f));
  evalue_status status = evalue_record_reader_init(&r, fd, &options);
  if (status != EVALUE_OK) {
    close(fd); /* still the caller's */
    error = error_of(status, &r.system_error);
  } else {
    for (int i = 0; i < 4;) {
      int next = error_of(evalue_record_reader_next(&r, &record), &r.system_error);
      if (next != 0) error = next;
      if (next != 0 && failing < 0) break;
      if (next != 0) continue;
      assert_true(record.size == (size_t)LARGE >> (3 - i) && memcmp(record.data, large, record.size) == 0);
      i++;
    }
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  }
  pclose(f);
  return error;
}

static int read_by_place(void) {
  evalue_record_reader r;
  evalue_record record;
  evalue_record_index index = {0};
  int error = error_of(evalue_record_reader_open(&r, path_of("large"), NULL), &r.system_error);
  if (error != 0) return error;
  error = error_of(evalue_record_index_build(&index, &r), &index.system_error);
  for (size_t i = index.count; i-- > 0;) {
    int at = error_of(evalue_record_reader_at(&r, &index.entries[i], &record), &r.system_error);
    if (at != 0) error = at;
    else assert_true(memcmp(record.data, large, record.size) == 0);
  }
  evalue_record_index_free(&index);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  return error;
}

static int read_index(void) {
  enum { LINES = 300 };
  char text[LINES * 16];
  size_t size = 0;
  evalue_record_index index = {0};
  for (int i = 0; i < LINES; i++) size += (size_t)sprintf(text + size, "%d 16\n", 16 * i);
  put_file("idx", text, size);
  int error = error_of(evalue_record_index_read(&index, path_of("idx"), 16 * LINES), &index.system_error);
  if (error == 0) assert_int_equal(index.count, LINES);
  evalue_record_index_free(&index);
  return error;
}

static int examine(void) {
  evalue_record_report report;
  return error_of(evalue_record_examine(path_of("large"), &report), &report.system_error);
}

static void test_each_allocation(void **state) {
  (void)state;
  static way *const ways[] = {write_all, read_all, read_stream, read_by_place, read_index, examine};
  for (size_t i = 0; i < COUNT_OF(ways); i++) {
    calls = failing = 0;
    assert_int_equal(ways[i](), 0);
    long count = calls;
    assert_true(count > 0);
    for (long n = 1; n <= count; n++) {
      for (int sign = -1; sign <= 1; sign += 2) {
        calls = 0;
        failing = sign * n;
        assert_int_equal(ways[i](), ENOMEM);
      }
    }
    failing = 0;
  }
}

/* A length that the file has not is no reason to take memory; neither is one that is over the limit. */
static void test_nothing_for_a_length(void **state) {
  (void)state;
  uint8_t head[12];
  make_head(head, UINT64_C(1) << 40);
  put_file("f", head, sizeof head);
  for (uint64_t limit = 0; limit <= 1000; limit += 1000) {
    const evalue_record_reader_options options = {.max_record = limit, .buffer_size = 4096};
    evalue_record_reader r;
    evalue_record record;
    evalue_record_report report;
    const evalue_record_entry entry = {0, (UINT64_C(1) << 40) + 16};
    assert_int_equal(evalue_record_reader_open(&r, path_of("f"), &options), EVALUE_OK);
    long before = calls;
    assert_int_equal(evalue_record_reader_next(&r, &record), limit == 0 ? EVALUE_TRUNCATED : EVALUE_LIMIT);
    assert_int_equal(evalue_record_reader_at(&r, &entry, &record), EVALUE_MALFORMED);
    assert_int_equal(calls, before);
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    assert_int_equal(evalue_record_examine(path_of("f"), &report), EVALUE_TRUNCATED);
  }
}

/* As many allocations for a file of many small records as for one of few. */
static void test_nothing_for_a_record(void **state) {
  (void)state;
  long counts[2];
  for (int i = 0; i < 2; i++) {
    evalue_record_writer w;
    evalue_record_reader r;
    evalue_record record;
    evalue values[3] = {evalue_from_int(1), evalue_from_string("abc", 3), evalue_from_none()};
    calls = 0;
    assert_int_equal(evalue_record_writer_open(&w, path_of("f"), NULL), EVALUE_OK);
    for (int k = 0; k < (i == 0 ? 10 : 20000); k++) {
      assert_int_equal(evalue_record_writer_put(&w, values, 3, NULL), EVALUE_OK);
    }
    assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
    assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
    while (evalue_record_reader_next(&r, &record) == EVALUE_OK) {
    }
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    counts[i] = calls;
  }
  assert_int_equal(counts[0], counts[1]);
}

/* The entries of an index double their memory. */
static void test_few_for_an_index(void **state) {
  (void)state;
  evalue_record_writer w;
  evalue_record_reader r;
  evalue_record_index index = {0};
  assert_int_equal(evalue_record_writer_open(&w, path_of("f"), NULL), EVALUE_OK);
  for (int i = 0; i < 5000; i++) assert_int_equal(evalue_record_writer_put_bytes(&w, "x", 1, NULL), EVALUE_OK);
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
  calls = 0;
  assert_int_equal(evalue_record_index_build(&index, &r), EVALUE_OK);
  assert_int_equal(index.count, 5000);
  assert_true(calls < 20);
  calls = 0;
  assert_int_equal(evalue_record_index_build(&index, &r), EVALUE_OK); /* in the memory that it has */
  assert_int_equal(calls, 0);
  evalue_record_index_free(&index);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

static int make_all(void **state) {
  evalue_record_writer w;
  if (make_folder(state) != 0) return -1;
  for (size_t i = 0; i < LARGE; i++) large[i] = (uint8_t)(i * 11 + (i >> 12));
  if (evalue_record_writer_open(&w, path_of("large"), NULL) != EVALUE_OK) return -1;
  for (int i = 0; i < 4; i++) {
    if (evalue_record_writer_put_bytes(&w, large, LARGE >> (3 - i), NULL) != EVALUE_OK) return -1;
  }
  return evalue_record_writer_close(&w) == EVALUE_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_allocation), cmocka_unit_test(test_nothing_for_a_length),
      cmocka_unit_test(test_nothing_for_a_record), cmocka_unit_test(test_few_for_an_index)};
  return cmocka_run_group_tests(tests, make_all, remove_folder);
}
