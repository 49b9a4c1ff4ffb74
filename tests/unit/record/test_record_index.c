/* SPDX-License-Identifier: BSD-3-Clause */
/* Indices: built from heads, written and read as text, entries that cannot be, and records by their places. */
#include "record_files.h"

static small_file small;

static evalue_status read_text(evalue_record_index *index, const char *text, size_t nbytes, uint64_t file_size) {
  put_file("idx", text, nbytes);
  return evalue_record_index_read(index, path_of("idx"), file_size);
}

/* ---- building ---- */

static void test_build_of_every_cut(void **state) {
  (void)state;
  evalue_record_index index = {0};
  for (size_t cut = 0; cut <= small.size; cut++) {
    evalue_record_reader r;
    evalue_record record;
    size_t k = cut == small.size ? SMALL_COUNT : record_of(&small, cut);
    bool is_good = cut == small.starts[k];
    put_file("f", small.bytes, cut);
    assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
    if (k > 1) assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
    assert_int_equal(evalue_record_index_build(&index, &r), is_good ? EVALUE_OK : EVALUE_TRUNCATED);
    assert_int_equal(index.error.status, is_good ? EVALUE_OK : EVALUE_TRUNCATED);
    if (!is_good) {
      bool has_head = cut - small.starts[k] >= 12;
      assert_int_equal(index.error.fault, has_head ? EVALUE_FAULT_RECORD_SHORT : EVALUE_FAULT_RECORD_HEAD_SHORT);
      assert_int_equal(index.error.position, small.starts[k]);
      assert_int_equal(index.error.needed, has_head ? small.starts[k + 1] : small.starts[k] + 12);
    }
    assert_int_equal(index.count, k);
    for (size_t i = 0; i < k; i++) {
      assert_int_equal(index.entries[i].offset, small.starts[i]);
      assert_int_equal(index.entries[i].size, small.starts[i + 1] - small.starts[i]);
    }
    if (k > 1) { /* the reader goes on where it was */
      assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
      check_small(&small, 1, &record);
    }
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  }
  evalue_record_index_free(&index);
}

/* Data do not matter, heads do. */
static void test_build_of_corrupt_files(void **state) {
  (void)state;
  evalue_record_index index = {0};
  for (size_t byte = 0; byte < small.size; byte++) {
    evalue_record_reader r;
    small_file changed = small;
    size_t k = record_of(&small, byte);
    bool is_head = byte < small.starts[k] + 12;
    changed.bytes[byte] ^= 1;
    put_file("f", changed.bytes, changed.size);
    assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
    assert_int_equal(evalue_record_index_build(&index, &r), is_head ? EVALUE_CORRUPT : EVALUE_OK);
    assert_int_equal(index.count, is_head ? k : SMALL_COUNT);
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  }
  evalue_record_index_free(&index);
}

/* ---- text ---- */

static void test_there_and_back(void **state) {
  (void)state;
  enum { COUNT = 3000 };
  const uint64_t size = (UINT64_C(1) << 62) - 1;
  evalue_record_index index = {0}, back = {0};
  evalue_file_sink sink;
  index.entries = malloc(COUNT * sizeof *index.entries);
  assert_non_null(index.entries);
  index.count = index.capacity = COUNT;
  for (size_t i = 0; i < COUNT; i++) {
    index.entries[i] = (evalue_record_entry){(UINT64_C(1) << i % 61) - 1, 16 + (UINT64_C(1) << i % 59)};
  }
  assert_int_equal(evalue_file_sink_open(&sink, path_of("idx"), NULL), EVALUE_OK);
  assert_int_equal(evalue_record_index_write(&index, &sink.sink), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&sink.sink), EVALUE_OK);
  assert_int_equal(evalue_record_index_read(&back, path_of("idx"), size), EVALUE_OK);
  assert_int_equal(back.count, COUNT);
  assert_memory_equal(back.entries, index.entries, COUNT * sizeof *index.entries);
  evalue_record_index_free(&index);
  evalue_record_index_free(&back);
  assert_null(index.entries);
  evalue_record_index_free(NULL);
}

static void test_lines(void **state) {
  (void)state;
  evalue_record_index index = {0};
  assert_int_equal(read_text(&index, "", 0, 100), EVALUE_OK);
  assert_int_equal(index.count, 0);
  assert_int_equal(read_text(&index, "0 16\n84 16\n16 68\n", 17, 100), EVALUE_OK);
  assert_int_equal(index.count, 3);
  assert_int_equal(index.entries[1].offset, 84);
  assert_int_equal(index.entries[2].size, 68);
  static const struct {
    const char *text;
    uint64_t found;
    size_t count;
  } bad[] = {
      {"\n", '\n', 0},
      {" ", ' ', 0},
      {"0\n", '\n', 0},
      {"0 \n", '\n', 0},
      {"0  16\n", ' ', 0},
      {"0 16", 256, 0},
      {"0", 256, 0},
      {"0 ", 256, 0},
      {"0 16 \n", ' ', 0},
      {"0 16\n\n", '\n', 1},
      {"0 16\r\n", '\r', 0},
      {"00 16\n", '0', 0},
      {"0 016\n", '1', 0},
      {"+0 16\n", '+', 0},
      {"-1 16\n", '-', 0},
      {"0x0 16\n", 'x', 0},
      {"0\t16\n", '\t', 0},
      {"0 16.0\n", '.', 0},
      {"0 16\n0 17", 256, 1},
      {"0 1e3\n", 'e', 0},
      {"0 16\n1 16 3\n", ' ', 1},
      {"18446744073709551616 16\n", '6', 0},
      {"0 99999999999999999999\n", '9', 0},
  };
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    assert_int_equal(read_text(&index, bad[i].text, strlen(bad[i].text), UINT64_MAX), EVALUE_MALFORMED);
    assert_int_equal(index.error.fault, EVALUE_FAULT_INDEX_LINE);
    assert_int_equal(index.error.position, bad[i].count * 5); /* of the line */
    assert_int_equal(index.error.found, bad[i].found);
    assert_int_equal(index.count, bad[i].count);
  }
  assert_int_equal(read_text(&index, "0 16\0\n", 6, 100), EVALUE_MALFORMED);
  assert_int_equal(index.error.found, 0);
  evalue_record_index_free(&index);
}

/* Entries that no file of that size has, and sums that wrap. */
static void test_entries_outside(void **state) {
  (void)state;
  static const struct {
    const char *text;
    evalue_fault fault;
    uint64_t found;
  } bad[] = {
      {"5 16\n0 15\n", EVALUE_FAULT_INDEX_ENTRY, 15},
      {"5 16\n0 0\n", EVALUE_FAULT_INDEX_ENTRY, 0},
      {"5 16\n85 16\n", EVALUE_FAULT_INDEX_ENTRY, 101},
      {"5 16\n0 101\n", EVALUE_FAULT_INDEX_ENTRY, 101},
      {"5 16\n18446744073709551608 16\n", EVALUE_FAULT_INDEX_ENTRY, UINT64_MAX},
      {"5 16\n18446744073709551600 16\n", EVALUE_FAULT_INDEX_ENTRY, UINT64_MAX},
      {"5 16\n16 18446744073709551615\n", EVALUE_FAULT_INDEX_ENTRY, UINT64_MAX},
  };
  evalue_record_index index = {0};
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    assert_int_equal(read_text(&index, bad[i].text, strlen(bad[i].text), 100), EVALUE_MALFORMED);
    assert_int_equal(index.error.fault, bad[i].fault);
    assert_int_equal(index.error.position, 5);
    if (bad[i].found != UINT64_MAX) assert_int_equal(index.error.found, bad[i].found);
    assert_int_equal(index.count, 1);
  }
  assert_int_equal(evalue_record_index_read(&index, path_of("none"), 100), EVALUE_IO);
  assert_int_equal(index.system_error, ENOENT);
  assert_int_equal(evalue_record_index_read(&index, record_folder, 100), EVALUE_IO);
  assert_int_equal(index.system_error, EISDIR);
  evalue_record_index_free(&index);
}

/* ---- by place ---- */

static void test_records_by_place(void **state) {
  (void)state;
  evalue_record_reader r;
  evalue_record record;
  evalue_record_index index = {0};
  put_file("f", small.bytes, small.size);
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
  assert_int_equal(evalue_record_index_build(&index, &r), EVALUE_OK);
  for (size_t step = 0; step < 50; step++) {
    size_t k = step * 3 % SMALL_COUNT;
    assert_int_equal(evalue_record_reader_at(&r, &index.entries[k], &record), EVALUE_OK);
    check_small(&small, k, &record);
    assert_true(record.index == EVALUE_NO_INDEX);
    touch_slack(&record);
    evalue_status status = evalue_record_reader_next(&r, &record); /* in order, in between */
    assert_int_equal(status, step < SMALL_COUNT ? EVALUE_OK : EVALUE_END);
    if (step < SMALL_COUNT) check_small(&small, step, &record);
  }
  evalue_record_index_free(&index);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

static void test_places_that_cannot_be(void **state) {
  (void)state;
  const uint64_t size = small.starts[1], end = small.size;
  const struct {
    evalue_record_entry entry;
    evalue_status status;
    evalue_fault fault;
  } bad[] = {
      {{0, 0}, EVALUE_MALFORMED, EVALUE_FAULT_INDEX_ENTRY},
      {{0, 15}, EVALUE_MALFORMED, EVALUE_FAULT_INDEX_ENTRY},
      {{0, size - 1}, EVALUE_MALFORMED, EVALUE_FAULT_INDEX_ENTRY},
      {{0, size + 1}, EVALUE_MALFORMED, EVALUE_FAULT_INDEX_ENTRY},
      {{1, size}, EVALUE_CORRUPT, EVALUE_FAULT_RECORD_LENGTH_CRC},
      {{end, 16}, EVALUE_MALFORMED, EVALUE_FAULT_INDEX_ENTRY},
      {{end - 15, 16}, EVALUE_MALFORMED, EVALUE_FAULT_INDEX_ENTRY},
      {{0, end + 1}, EVALUE_MALFORMED, EVALUE_FAULT_INDEX_ENTRY},
      {{UINT64_MAX - 7, 16}, EVALUE_MALFORMED, EVALUE_FAULT_INDEX_ENTRY},
      {{UINT64_MAX - 15, 16}, EVALUE_MALFORMED, EVALUE_FAULT_INDEX_ENTRY},
      {{16, UINT64_MAX}, EVALUE_MALFORMED, EVALUE_FAULT_INDEX_ENTRY},
      {{0, UINT64_MAX}, EVALUE_MALFORMED, EVALUE_FAULT_INDEX_ENTRY},
      {{0, UINT64_C(1) << 62}, EVALUE_MALFORMED, EVALUE_FAULT_INDEX_ENTRY},
  };
  evalue_record_reader r;
  evalue_record record;
  put_file("f", small.bytes, small.size);
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
  size_t capacity = r.capacity;
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    assert_int_equal(evalue_record_reader_at(&r, &bad[i].entry, &record), bad[i].status);
    assert_int_equal(r.error.fault, bad[i].fault);
    assert_true(r.error.position == bad[i].entry.offset);
    assert_true(r.fault_offset == bad[i].entry.offset);
    assert_true(r.fault_index == EVALUE_NO_INDEX);
    assert_int_equal(r.capacity, capacity);
  }
  assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
  check_small(&small, 0, &record);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  const evalue_record_reader_options limited = {.max_record = size - 17};
  const evalue_record_entry first = {0, size};
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), &limited), EVALUE_OK);
  assert_int_equal(evalue_record_reader_at(&r, &first, &record), EVALUE_LIMIT);
  assert_int_equal(r.error.fault, EVALUE_FAULT_RECORD_TOO_LARGE);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

static void test_corrupt_records_by_place(void **state) {
  (void)state;
  for (uint32_t ignore = 0; ignore <= 1; ignore++) {
    const evalue_record_reader_options options = {.ignore_crc = ignore};
    for (size_t byte = small.starts[1]; byte < small.starts[2]; byte++) {
      const evalue_record_entry entry = {small.starts[1], small.starts[2] - small.starts[1]};
      evalue_record_reader r;
      evalue_record record;
      small_file changed = small;
      bool is_head = byte < small.starts[1] + 12;
      changed.bytes[byte] ^= 2;
      put_file("f", changed.bytes, changed.size);
      assert_int_equal(evalue_record_reader_open(&r, path_of("f"), &options), EVALUE_OK);
      bool is_good = ignore != 0 && !is_head;
      assert_int_equal(evalue_record_reader_at(&r, &entry, &record), is_good ? EVALUE_OK : EVALUE_CORRUPT);
      if (is_good) check_small(&changed, 1, &record);
      else assert_int_equal(r.error.position, small.starts[1] + (is_head ? 0 : 12));
      assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    }
  }
}

static void test_misuse(void **state) {
  (void)state;
  evalue_record_index index = {0};
  evalue_buffer_sink sink;
  uint8_t bytes[10];
  assert_int_equal(evalue_record_index_build(NULL, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_index_read(NULL, "f", 0), EVALUE_MISUSE);
  assert_int_equal(evalue_record_index_read(&index, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_record_index_read(&index, "", 0), EVALUE_MISUSE);
  assert_int_equal(evalue_record_index_write(&index, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_buffer_sink_init(&sink, bytes, sizeof bytes, NULL), EVALUE_OK);
  assert_int_equal(evalue_record_index_write(&index, &sink.sink), EVALUE_MISUSE); /* it aligns */
  assert_int_equal(evalue_record_index_write(NULL, &sink.sink), EVALUE_MISUSE);
  const evalue_sink_options plain = {.alignment = 1};
  assert_int_equal(evalue_buffer_sink_init(&sink, bytes, sizeof bytes, &plain), EVALUE_OK);
  assert_int_equal(evalue_record_index_write(&index, &sink.sink), EVALUE_OK);
  assert_int_equal(evalue_sink_used(&sink.sink), 0);
  assert_int_equal(read_text(&index, "0 16\n16 16\n", 11, 100), EVALUE_OK);
  assert_int_equal(evalue_record_index_write(&index, &sink.sink), EVALUE_NO_SPACE);
  evalue_record_index_free(&index);
}

static int make_all(void **state) {
  make_small(&small);
  return make_folder(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_build_of_every_cut),
      cmocka_unit_test(test_build_of_corrupt_files),
      cmocka_unit_test(test_there_and_back),
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_entries_outside),
      cmocka_unit_test(test_records_by_place),
      cmocka_unit_test(test_places_that_cannot_be),
      cmocka_unit_test(test_corrupt_records_by_place),
      cmocka_unit_test(test_misuse),
  };
  return cmocka_run_group_tests(tests, make_all, remove_folder);
}
