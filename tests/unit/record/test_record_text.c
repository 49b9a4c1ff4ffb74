/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of each fault of a record file, in a sentence. */
#include "record_files.h"

static small_file small;

static void expect(const evalue_error *error, const char *sentence) {
  char text[300];
  evalue_print_error(error, text, sizeof text);
  assert_string_equal(text, sentence);
}

/* Reads the first record of a file, whose fault is then expected. */
static void expect_of_file(const void *bytes, size_t nbytes, const char *sentence) {
  const evalue_record_reader_options options = {.max_record = 100};
  evalue_record_reader r;
  evalue values[3];
  uint64_t n;
  put_file("f", bytes, nbytes);
  assert_int_equal(evalue_record_reader_open(&r, path_of("f"), &options), EVALUE_OK);
  assert_int_not_equal(evalue_record_reader_next_values(&r, values, 3, &n), EVALUE_OK);
  expect(evalue_record_reader_error(&r), sentence);
  assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
}

static void test_records(void **state) {
  (void)state;
  uint8_t bytes[300] = {0};
  expect_of_file(small.bytes, 5,
                 "offset 0: truncated: length: the file ends inside a record's length: needs at least 12 bytes of "
                 "input, has 5");
  expect_of_file(small.bytes, 12,
                 "offset 0: truncated: data: the file ends inside a record: needs at least 57 bytes of input, has 12");
  expect_of_file(bytes, 16,
                 "offset 0: corrupt: length: the record's length does not match its checksum: expected 07980329, found "
                 "00000000");
  make_record(bytes, (const uint8_t *)"123456789", 9);
  bytes[12] = '2';
  put_number(bytes + 21, 0x0f00abcd, 4);
  expect_of_file(bytes, 25,
                 "offset 12: corrupt: data: the record's data do not match their checksum: expected dfd8e02b, found "
                 "0f00abcd");
  make_record(bytes, bytes + 150, 101);
  expect_of_file(bytes, 117,
                 "offset 0: limit: length: the record is larger than the caller or the host allows: expected at most "
                 "100, found 101");
  make_head(bytes, UINT64_C(1) << 62);
  expect_of_file(bytes, 100,
                 "offset 0: malformed: length: the record's length is 2^62 or more: expected at most "
                 "4611686018427387903, found 4611686018427387904");
  make_record(bytes, NULL, 0);
  expect_of_file(bytes, 16,
                 "offset 0: malformed: data: the record is empty, so it holds no message: expected a message, found no "
                 "byte");
}

static void expect_of_index(const char *lines, const char *sentence) {
  evalue_record_index index = {0};
  put_file("idx", lines, strlen(lines));
  assert_int_equal(evalue_record_index_read(&index, path_of("idx"), 100), EVALUE_MALFORMED);
  expect(&index.error, sentence);
  evalue_record_index_free(&index);
}

static void test_indices(void **state) {
  (void)state;
  expect_of_index("0 16\n0x10 16\n",
                  "offset 5: malformed: the line is no entry of an index: expected \"OFFSET SIZE\" and "
                  "a newline, found the byte \\x78");
  expect_of_index("0 16",
                  "offset 0: malformed: the line is no entry of an index: expected \"OFFSET SIZE\" and a newline, "
                  "found the end");
  expect_of_index("0 16\n90 16\n",
                  "offset 5: malformed: the entry does not fit the record file: expected 100, found 106");
  expect_of_index("0 15\n", "offset 0: malformed: the entry does not fit the record file: expected 16, found 15");
}

static int make_all(void **state) {
  make_small(&small);
  return make_folder(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_records), cmocka_unit_test(test_indices)};
  return cmocka_run_group_tests(tests, make_all, remove_folder);
}
