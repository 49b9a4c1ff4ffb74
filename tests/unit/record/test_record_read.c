/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading: records of all sizes, aligned, by block and for themselves; limits; values; other places; misuse. */
#include "record_files.h"

static small_file small;

/* The data of the i-th record of a file of many: different bytes, and sizes around those that reading turns on. */
static size_t many_size(size_t i) {
  static const size_t around[] = {1, 60, 64, 4000, 20000, 32752, 32768, 65536, 262144, 300000};
  return i % 7 == 3 ? around[i / 7 % COUNT_OF(around)] + i % 5 : i * 37 % 3000;
}

static uint8_t many_byte(size_t i, size_t at) {
  return (uint8_t)(i * 131 + at * 7 + (at >> 8));
}

enum { MANY = 700, MOST = 300010 };
static uint8_t many_data[MOST];

static void fill_many(size_t i) {
  for (size_t at = 0; at < many_size(i); at++) many_data[at] = many_byte(i, at);
}

static uint64_t make_many(const char *name) {
  evalue_record_writer w;
  assert_int_equal(evalue_record_writer_open(&w, path_of(name), NULL), EVALUE_OK);
  for (size_t i = 0; i < MANY; i++) {
    fill_many(i);
    assert_int_equal(evalue_record_writer_put_bytes(&w, many_data, many_size(i), NULL), EVALUE_OK);
  }
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  return w.end;
}

static void check_many(const evalue_record *record, size_t i) {
  fill_many(i);
  assert_int_equal(record->size, many_size(i));
  assert_int_equal((uintptr_t)record->data % EVALUE_RECORD_ALIGNMENT, 0);
  assert_true(memcmp(record->data, many_data, many_size(i)) == 0);
  touch_slack(record);
}

static void test_all_sizes(void **state) {
  (void)state;
  static const size_t blocks[] = {0, 1, 4096, 5000, 40000, 1 << 20};
  uint64_t end = make_many("many");
  for (size_t b = 0; b < COUNT_OF(blocks); b++) {
    const evalue_record_reader_options options = {.buffer_size = blocks[b]};
    evalue_record_reader r;
    evalue_record record;
    uint64_t offset = 0;
    assert_int_equal(evalue_record_reader_open(&r, path_of("many"), &options), EVALUE_OK);
    assert_int_equal(r.file_size, end);
    for (size_t i = 0; i < MANY; i++) {
      assert_int_equal(evalue_record_reader_offset(&r), offset);
      assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
      assert_int_equal(record.index, i);
      assert_int_equal(record.offset, offset);
      check_many(&record, i);
      offset += record.size + 16;
    }
    assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_END);
    assert_int_equal(offset, end);
    assert_int_equal(r.counts.records, MANY);
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  }
}

static void test_empty_file(void **state) {
  (void)state;
  evalue_record_reader r;
  evalue_record record;
  put_file("empty", "", 0);
  assert_int_equal(evalue_record_reader_open(&r, path_of("empty"), NULL), EVALUE_OK);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_END);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_END);
  assert_int_equal(r.counts.records, 0);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

static void test_many_empty_records(void **state) {
  (void)state;
  enum { COUNT = 100000 };
  uint8_t *bytes = malloc(16 * COUNT);
  evalue_record record;
  evalue value;
  uint64_t n, count = 0;
  assert_non_null(bytes);
  for (size_t i = 0; i < COUNT; i++) make_record(bytes + 16 * i, NULL, 0);
  put_file("f", bytes, 16 * COUNT);
  free(bytes);
  for (uint32_t skip = 0; skip <= 1; skip++) {
    const evalue_record_reader_options options = {.skip = skip};
    evalue_record_reader r;
    evalue_status status;
    assert_int_equal(evalue_record_reader_open(&r, path_of("f"), &options), EVALUE_OK);
    for (count = 0; (status = evalue_record_reader_next(&r, &record)) == EVALUE_OK; count++) {
      if (record.size != 0 || record.offset != 16 * count || record.index != count) fail();
    }
    assert_int_equal(status, EVALUE_END);
    assert_int_equal(count, COUNT);
    assert_int_equal(evalue_record_reader_seek(&r, 0, 0), EVALUE_OK);
    for (count = 0; (status = evalue_record_reader_next_values(&r, &value, 1, &n)) == EVALUE_MALFORMED; count++) {
      if (r.error.fault != EVALUE_FAULT_RECORD_EMPTY || r.error.position != 16 * count) fail();
    }
    assert_int_equal(status, EVALUE_END);
    assert_int_equal(count, skip == 0 ? COUNT : 0);
    assert_int_equal(r.counts.bad_messages, skip == 0 ? 0 : COUNT);
    assert_int_equal(r.counts.records, COUNT);
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  }
}

/* ---- limits ---- */

static void test_max_record(void **state) {
  (void)state;
  make_many("many");
  for (uint64_t limit = 1; limit < 400000; limit = limit * 3 + 1) {
    for (uint32_t skip = 0; skip <= 1; skip++) {
      const evalue_record_reader_options options = {.skip = skip, .max_record = limit, .buffer_size = 50000};
      evalue_record_reader r;
      evalue_record record;
      uint64_t offset = 0, too_large = 0;
      assert_int_equal(evalue_record_reader_open(&r, path_of("many"), &options), EVALUE_OK);
      for (size_t i = 0; i < MANY; i++) {
        bool is_large = many_size(i) > limit;
        too_large += is_large ? 1 : 0;
        if (!is_large) {
          assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
          assert_int_equal(record.index, i);
          assert_int_equal(record.offset, offset);
          check_many(&record, i);
        } else if (skip == 0) {
          assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_LIMIT);
          assert_int_equal(r.error.fault, EVALUE_FAULT_RECORD_TOO_LARGE);
          assert_int_equal(r.error.position, offset);
          assert_int_equal(r.error.expected, limit);
          assert_int_equal(r.error.found, many_size(i));
          assert_int_equal(r.fault_offset, offset);
          assert_int_equal(r.fault_index, i);
        }
        offset += many_size(i) + 16;
      }
      assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_END);
      assert_int_equal(r.counts.too_large, skip == 0 ? 0 : too_large);
      assert_int_equal(r.counts.records, MANY - too_large);
      assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    }
  }
}

/* Both are told, one after the other, and neither for ever. */
static void test_max_record_that_is_cut(void **state) {
  (void)state;
  put_file("f", small.bytes, small.size - 1);
  for (uint32_t skip = 0; skip <= 1; skip++) {
    const evalue_record_reader_options options = {.skip = skip, .max_record = 1};
    const size_t last = SMALL_COUNT - 1;
    evalue_record_reader r;
    evalue_record record;
    assert_int_equal(evalue_record_reader_open(&r, path_of("f"), &options), EVALUE_OK);
    assert_int_equal(evalue_record_reader_seek(&r, small.starts[last], last), EVALUE_OK);
    if (skip == 0) {
      assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_LIMIT);
      assert_int_equal(r.fault_offset, small.starts[last]);
      assert_int_equal(r.fault_index, last);
    }
    for (int i = 0; i < 2; i++) {
      assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_TRUNCATED);
      assert_int_equal(r.error.fault, EVALUE_FAULT_RECORD_SHORT);
      assert_int_equal(r.error.needed, small.size);
      assert_int_equal(r.fault_offset, small.starts[last]);
    }
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  }
}

/* ---- values ---- */

static void test_values(void **state) {
  (void)state;
  evalue_record_reader r;
  put_file("f", small.bytes, small.size);
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
  for (size_t k = 0; k < SMALL_COUNT; k++) {
    evalue expected[3], values[3];
    uint64_t n = 77;
    size_t count = small_values(k, expected);
    if (k == 2) {
      assert_int_equal(evalue_record_reader_next_values(&r, values, 3, &n), EVALUE_MALFORMED);
      continue;
    }
    assert_int_equal(evalue_record_reader_next_values(&r, values, count - 1, &n), EVALUE_NO_SPACE);
    assert_int_equal(n, count);
    assert_int_equal(r.error.fault, EVALUE_FAULT_CAPACITY);
    assert_int_equal(evalue_record_reader_offset(&r), small.starts[k]);
    assert_int_equal(evalue_record_reader_index(&r), k);
    assert_int_equal(evalue_record_reader_next_values(&r, values, 3, &n), EVALUE_OK);
    assert_int_equal(n, count);
    for (size_t i = 0; i < count; i++) assert_true(evalue_equal(&values[i], &expected[i]));
    assert_int_equal(evalue_record_reader_offset(&r), small.starts[k + 1]);
  }
  evalue value;
  uint64_t n;
  assert_int_equal(evalue_record_reader_next_values(&r, &value, 1, &n), EVALUE_END);
  assert_int_equal(r.counts.records, SMALL_COUNT - 1);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

/* A record that there was no room for is still there after another was read by its place, and can be left by a seek. */
static void test_waiting(void **state) {
  (void)state;
  evalue_record_reader r;
  evalue_record record;
  evalue values[3];
  uint64_t n;
  const evalue_record_entry last = {small.starts[4], small.starts[5] - small.starts[4]};
  put_file("f", small.bytes, small.size);
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
  assert_int_equal(evalue_record_reader_next_values(&r, values, 0, &n), EVALUE_NO_SPACE);
  assert_int_equal(evalue_record_reader_at(&r, &last, &record), EVALUE_OK);
  check_small(&small, 4, &record);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
  check_small(&small, 0, &record);
  assert_int_equal(record.index, 0);
  assert_int_equal(evalue_record_reader_next_values(&r, values, 0, &n), EVALUE_NO_SPACE);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK); /* handed out as it is */
  check_small(&small, 1, &record);
  assert_int_equal(evalue_record_reader_seek(&r, small.starts[3], 3), EVALUE_OK);
  assert_int_equal(evalue_record_reader_next_values(&r, values, 0, &n), EVALUE_NO_SPACE);
  assert_int_equal(evalue_record_reader_seek(&r, small.starts[3], 3), EVALUE_OK);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
  check_small(&small, 3, &record);
  assert_int_equal(evalue_record_reader_next_values(&r, values, 0, &n), EVALUE_NO_SPACE);
  assert_int_equal(evalue_record_reader_seek(&r, small.starts[1], 1), EVALUE_OK);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
  check_small(&small, 1, &record);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

/* The fault of a message is counted in its data, and the record stands beside it. */
static void test_bad_messages(void **state) {
  (void)state;
  uint8_t message[200], bytes[1000];
  uint64_t nbytes, n;
  evalue values[3] = {evalue_from_int(1), evalue_from_bool(true), evalue_from_none()};
  assert_int_equal(evalue_message_encode(values, 3, 0, message, sizeof message, &nbytes), EVALUE_OK);
  size_t first = make_record(bytes, message, (size_t)nbytes);
  for (size_t at = 0; at < nbytes; at++) {
    evalue_error expected;
    message[at] ^= 0x80;
    evalue_status status = evalue_message_decode(message, (size_t)nbytes, NULL, values, 3, &n, &expected);
    size_t size = first + make_record(bytes + first, message, (size_t)nbytes);
    message[at] ^= 0x80;
    if (status == EVALUE_OK) continue; /* a bit of a number */
    size += make_record(bytes + size, message, (size_t)nbytes);
    put_file("f", bytes, size);
    for (uint32_t skip = 0; skip <= 1; skip++) {
      const evalue_record_reader_options options = {.skip = skip};
      evalue_record_reader r;
      assert_int_equal(evalue_record_reader_open(&r, path_of("f"), &options), EVALUE_OK);
      assert_int_equal(evalue_record_reader_next_values(&r, values, 3, &n), EVALUE_OK);
      if (status == EVALUE_NO_SPACE) {
        assert_int_equal(evalue_record_reader_next_values(&r, values, 3, &n), status);
      } else {
        if (skip == 0) assert_int_equal(evalue_record_reader_next_values(&r, values, 3, &n), status);
        assert_int_equal(evalue_record_reader_next_values(&r, values, 3, &n), EVALUE_OK);
        assert_int_equal(evalue_record_reader_next_values(&r, values, 3, &n), EVALUE_END);
        assert_int_equal(r.counts.bad_messages, skip);
        assert_int_equal(r.counts.records, 2);
      }
      assert_memory_equal(&r.error, &expected, sizeof expected);
      assert_int_equal(r.fault_offset, first);
      assert_int_equal(r.fault_index, 1);
      assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    }
  }
}

/* ---- other places ---- */

static void test_seek(void **state) {
  (void)state;
  evalue_record_reader r;
  evalue_record record;
  uint64_t starts[MANY + 1] = {0};
  for (size_t i = 0; i < MANY; i++) starts[i + 1] = starts[i] + many_size(i) + 16;
  make_many("many");
  const evalue_record_reader_options options = {.buffer_size = 20000};
  assert_int_equal(evalue_record_reader_open(&r, path_of("many"), &options), EVALUE_OK);
  for (size_t step = 0, i = 0; step < 2000; step++, i = (i + (step % 3 == 0 ? 419 : 1)) % (MANY + 1)) {
    assert_int_equal(evalue_record_reader_seek(&r, starts[i], i), EVALUE_OK);
    assert_int_equal(evalue_record_reader_offset(&r), starts[i]);
    assert_int_equal(evalue_record_reader_index(&r), i);
    evalue_status status = evalue_record_reader_next(&r, &record);
    assert_int_equal(status, i == MANY ? EVALUE_END : EVALUE_OK);
    if (i == MANY) continue;
    assert_int_equal(record.index, i);
    check_many(&record, i);
  }
  assert_int_equal(evalue_record_reader_seek(&r, 1, 0), EVALUE_OK); /* no record begins there */
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_CORRUPT);
  assert_int_equal(evalue_record_reader_seek(&r, starts[MANY] + 5, 0), EVALUE_OK);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_TRUNCATED);
  assert_int_equal(r.error.needed, starts[MANY] + 5 + 12);
  assert_int_equal(r.error.found, 0);
  assert_int_equal(evalue_record_reader_seek(&r, (UINT64_C(1) << 62) - 1, 0), EVALUE_OK);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_TRUNCATED);
  assert_int_equal(evalue_record_reader_seek(&r, UINT64_C(1) << 62, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_seek(&r, 0, 0), EVALUE_OK); /* what stayed is over */
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

static void test_a_descriptor(void **state) {
  (void)state;
  evalue_record_reader r;
  evalue_record record;
  put_file("f", small.bytes, small.size);
  for (size_t k = 0; k < SMALL_COUNT; k++) { /* from where it stands, and that does not change */
    int fd = open(path_of("f"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(lseek(fd, (off_t)small.starts[k], SEEK_SET), small.starts[k]);
    assert_int_equal(evalue_record_reader_init(&r, fd, NULL), EVALUE_OK);
    for (size_t i = k; i < SMALL_COUNT; i++) {
      assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
      check_small(&small, i, &record);
      assert_int_equal(record.index, i - k);
    }
    assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_END);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), small.starts[k]);
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    assert_int_equal(fcntl(fd, F_GETFD) >= 0, 1); /* it is the caller's */
    const evalue_record_reader_options options = {.owns_fd = 1};
    assert_int_equal(evalue_record_reader_init(&r, fd, &options), EVALUE_OK);
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
  }
}

/* ---- misuse ---- */

static void test_refused_opening(void **state) {
  (void)state;
  evalue_record_reader r;
  static const evalue_record_reader_options bad[] = {
      {.size = 1}, {.skip = 2}, {.ignore_crc = 2}, {.owns_fd = 2}, {.buffer_size = (1 << 30) + 1}};
  put_file("f", small.bytes, small.size);
  int fd = open(path_of("f"), O_WRONLY | O_CLOEXEC);
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    assert_int_equal(evalue_record_reader_open(&r, path_of("f"), &bad[i]), EVALUE_MISUSE);
    assert_int_equal(evalue_record_reader_init(&r, fd, &bad[i]), EVALUE_MISUSE);
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_MISUSE);
  }
  assert_int_equal(evalue_record_reader_init(&r, fd, NULL), EVALUE_MISUSE);
  close(fd);
  assert_int_equal(evalue_record_reader_init(&r, fd, NULL), EVALUE_IO);
  assert_int_equal(r.system_error, EBADF);
  assert_int_equal(evalue_record_reader_init(&r, -1, NULL), EVALUE_IO);
  assert_int_equal(evalue_record_reader_init(NULL, 0, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_open(NULL, "f", NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_open(&r, NULL, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_open(&r, "", NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_open(&r, path_of("none"), NULL), EVALUE_IO);
  assert_int_equal(r.system_error, ENOENT);
  assert_int_equal(r.error.status, EVALUE_IO);
  assert_int_equal(evalue_record_reader_open(&r, record_folder, NULL), EVALUE_OK); /* but it cannot be read */
  evalue_record record;
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_IO);
  assert_int_equal(r.system_error, EISDIR);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_IO);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

/* Each call, with a reader that is none: NULL, copied, closed. */
static void check_refused(evalue_record_reader *r) {
  evalue_record record;
  evalue value;
  uint64_t n;
  evalue_record_index index = {0};
  const evalue_record_entry entry = {0, 16};
  assert_int_equal(evalue_record_reader_next(r, &record), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_next_values(r, &value, 1, &n), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_at(r, &entry, &record), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_seek(r, 0, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_record_index_build(&index, r), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_close(r), EVALUE_MISUSE);
}

static void test_misuse(void **state) {
  (void)state;
  evalue_record_reader r, copy;
  evalue_record record;
  uint64_t n;
  const evalue_record_entry entry = {0, 16};
  put_file("f", small.bytes, small.size);
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
  copy = r;
  check_refused(&copy);
  check_refused(NULL);
  assert_int_equal(evalue_record_reader_next(&r, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_next_values(&r, NULL, 1, &n), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_next_values(&r, NULL, 0, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_at(&r, NULL, &record), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_at(&r, &entry, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK); /* nothing of that has changed it */
  check_small(&small, 0, &record);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  check_refused(&r);
  assert_null(evalue_record_reader_error(NULL));
  assert_int_equal(evalue_record_reader_offset(NULL), 0);
  assert_int_equal(evalue_record_reader_index(NULL), 0);
}

static int make_all(void **state) {
  make_small(&small);
  return make_folder(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_sizes),
      cmocka_unit_test(test_empty_file),
      cmocka_unit_test(test_many_empty_records),
      cmocka_unit_test(test_max_record),
      cmocka_unit_test(test_max_record_that_is_cut),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_waiting),
      cmocka_unit_test(test_bad_messages),
      cmocka_unit_test(test_seek),
      cmocka_unit_test(test_a_descriptor),
      cmocka_unit_test(test_refused_opening),
      cmocka_unit_test(test_misuse),
  };
  return cmocka_run_group_tests(tests, make_all, remove_folder);
}
