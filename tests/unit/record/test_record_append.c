/* SPDX-License-Identifier: BSD-3-Clause */
/* Going on with a file: torn at each byte, with zeros behind it, corrupt, locked; and repairing one. */
#include "record_files.h"

static small_file small;

static evalue_status append_one(const char *name, uint64_t *cut, uint64_t *offset, int32_t *system_error) {
  const evalue_record_writer_options options = {.append = 1};
  evalue_record_writer w;
  evalue_status status = evalue_record_writer_open(&w, path_of(name), &options);
  *cut = w.cut;
  *system_error = w.system_error;
  if (status != EVALUE_OK) {
    assert_int_equal(evalue_record_writer_close(&w), EVALUE_MISUSE);
    return status;
  }
  assert_int_equal(evalue_record_writer_put_bytes(&w, "appended", 8, offset), EVALUE_OK);
  return evalue_record_writer_close(&w);
}

/* The file is the first `kept` bytes of the small one, and the record that was appended. */
static void check_appended(size_t kept) {
  uint8_t expected[SMALL_MOST];
  memcpy(expected, small.bytes, kept);
  size_t size = kept + make_record(expected + kept, (const uint8_t *)"appended", 8);
  check_file("f", expected, size);
}

static void test_every_torn_end(void **state) {
  (void)state;
  for (size_t cut = 0; cut <= small.size; cut++) {
    uint64_t lost, offset;
    int32_t error;
    size_t end = cut == small.size ? cut : small.starts[record_of(&small, cut)];
    put_file("f", small.bytes, cut);
    assert_int_equal(append_one("f", &lost, &offset, &error), EVALUE_OK);
    assert_int_equal(lost, cut - end);
    assert_int_equal(offset, end);
    check_appended(end);
  }
}

static void test_zeros_at_the_end(void **state) {
  (void)state;
  static const size_t zeros[] = {1, 12, 16, 100, 5000, 100000};
  uint8_t *bytes = calloc(1, SMALL_MOST + 100000);
  assert_non_null(bytes);
  for (size_t i = 0; i < COUNT_OF(zeros); i++) {
    uint64_t lost, offset;
    int32_t error;
    memcpy(bytes, small.bytes, small.size);
    memset(bytes + small.size, 0, zeros[i]);
    put_file("f", bytes, small.size + zeros[i]);
    assert_int_equal(append_one("f", &lost, &offset, &error), EVALUE_OK);
    assert_int_equal(lost, zeros[i]);
    check_appended(small.size);
    if (zeros[i] < 12) continue;          /* a torn head */
    bytes[small.size + zeros[i] - 1] = 1; /* somebody's bytes */
    put_file("f", bytes, small.size + zeros[i]);
    assert_int_equal(append_one("f", &lost, &offset, &error), EVALUE_CORRUPT);
    check_file("f", bytes, small.size + zeros[i]);
  }
  free(bytes);
}

/* A bad length before the end is no torn end: nothing is cut. Bad data are whole records. */
static void test_corrupt_files(void **state) {
  (void)state;
  for (size_t byte = 0; byte < small.size; byte++) {
    uint64_t lost, offset;
    int32_t error;
    small_file changed = small;
    changed.bytes[byte] ^= 0x04;
    put_file("f", changed.bytes, changed.size);
    bool is_head = byte < small.starts[record_of(&small, byte)] + 12;
    assert_int_equal(append_one("f", &lost, &offset, &error), is_head ? EVALUE_CORRUPT : EVALUE_OK);
    assert_int_equal(lost, 0);
    if (is_head) check_file("f", changed.bytes, changed.size);
    else assert_int_equal(offset, small.size);
  }
}

static void test_new_and_strange_files(void **state) {
  (void)state;
  uint64_t lost, offset;
  int32_t error;
  unlink(path_of("f"));
  assert_int_equal(append_one("f", &lost, &offset, &error), EVALUE_OK);
  assert_int_equal(offset, 0);
  check_appended(0);
  assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
  assert_int_equal(append_one("pipe", &lost, &offset, &error), EVALUE_IO);
  assert_int_equal(error, ESPIPE);
}

/* While one writer has the file, a second one would take a half-written record for a torn one. */
static void test_second_writer(void **state) {
  (void)state;
  evalue_record_writer w;
  uint64_t lost, offset;
  int32_t error;
  evalue_record_report report;
  for (uint32_t append = 0; append <= 1; append++) {
    const evalue_record_writer_options options = {.append = append};
    put_file("f", small.bytes, small.size - 1);
    assert_int_equal(evalue_record_writer_open(&w, path_of("f"), &options), EVALUE_OK);
    assert_int_equal(evalue_record_writer_put_bytes(&w, "first", 5, NULL), EVALUE_OK);
    assert_int_equal(append_one("f", &lost, &offset, &error), EVALUE_IO);
    assert_int_equal(error, EWOULDBLOCK);
    evalue_record_writer other;
    assert_int_equal(evalue_record_writer_open(&other, path_of("f"), NULL), EVALUE_IO);
    assert_int_equal(evalue_record_repair(path_of("f"), &report), EVALUE_IO);
    assert_int_equal(report.system_error, EWOULDBLOCK);
    assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
    assert_int_equal(evalue_record_examine(path_of("f"), &report), EVALUE_OK);
    assert_int_equal(report.records, append == 0 ? 1 : SMALL_COUNT);
    assert_int_equal(append_one("f", &lost, &offset, &error), EVALUE_OK); /* the lock is over */
  }
}

static void test_side_file(void **state) {
  (void)state;
  char index_path[100];
  snprintf(index_path, sizeof index_path, "%s", path_of("f.idx"));
  const evalue_record_writer_options options = {.append = 1, .index_path = index_path};
  for (size_t cut = 0; cut <= small.size; cut += 7) {
    evalue_record_writer w;
    evalue_record_reader r;
    evalue_record_index index = {0}, built = {0};
    put_file("f", small.bytes, cut);
    assert_int_equal(evalue_record_writer_open(&w, path_of("f"), &options), EVALUE_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(evalue_record_writer_put_bytes(&w, "x", 1, NULL), EVALUE_OK);
    assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
    assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
    assert_int_equal(evalue_record_index_build(&built, &r), EVALUE_OK);
    assert_int_equal(evalue_record_index_read(&index, index_path, r.file_size), EVALUE_OK);
    assert_int_equal(index.count, built.count);
    assert_memory_equal(index.entries, built.entries, index.count * sizeof *index.entries);
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    evalue_record_index_free(&index);
    evalue_record_index_free(&built);
  }
}

/* ---- repair ---- */

static void test_repair_of_every_cut(void **state) {
  (void)state;
  for (size_t cut = 0; cut <= small.size; cut++) {
    evalue_record_report report, repaired;
    size_t k = cut == small.size ? SMALL_COUNT : record_of(&small, cut);
    put_file("f", small.bytes, cut);
    bool is_good = cut == small.starts[k];
    assert_int_equal(evalue_record_examine(path_of("f"), &report), is_good ? EVALUE_OK : EVALUE_TRUNCATED);
    assert_int_equal(report.records, k);
    assert_int_equal(report.empty, k > 2);
    assert_int_equal(report.corrupt, 0);
    assert_int_equal(report.good_end, small.starts[k]);
    assert_int_equal(report.file_size, cut);
    if (!is_good) assert_int_equal(report.error.position, small.starts[k]);
    check_file("f", small.bytes, cut);
    assert_int_equal(evalue_record_repair(path_of("f"), &repaired), EVALUE_OK);
    assert_memory_equal(&report, &repaired, sizeof report);
    check_file("f", small.bytes, small.starts[k]);
  }
}

static void test_repair_of_every_byte(void **state) {
  (void)state;
  for (size_t byte = 0; byte < small.size; byte++) {
    evalue_record_report report;
    small_file changed = small;
    size_t k = record_of(&small, byte);
    bool is_head = byte < small.starts[k] + 12, is_last = k == SMALL_COUNT - 1;
    changed.bytes[byte] ^= 0x20;
    put_file("f", changed.bytes, changed.size);
    assert_int_equal(evalue_record_examine(path_of("f"), &report), EVALUE_CORRUPT);
    assert_int_equal(report.error.fault, is_head ? EVALUE_FAULT_RECORD_LENGTH_CRC : EVALUE_FAULT_RECORD_DATA_CRC);
    assert_int_equal(report.error.position, small.starts[k] + (is_head ? 0 : 12));
    assert_int_equal(report.records, is_head ? k : SMALL_COUNT - 1);
    assert_int_equal(report.corrupt, is_head || is_last ? 0 : 1);
    size_t end = is_head || is_last ? small.starts[k] : small.size;
    assert_int_equal(report.good_end, end);
    assert_int_equal(evalue_record_repair(path_of("f"), &report), EVALUE_OK);
    check_file("f", changed.bytes, end);
  }
}

/* Records that are checked piece by piece. */
static void test_large_records(void **state) {
  (void)state;
  enum { LARGE = 2500000 };
  uint8_t *data = malloc(LARGE);
  evalue_record_report report;
  evalue_record_writer w;
  assert_non_null(data);
  for (size_t i = 0; i < LARGE; i++) data[i] = (uint8_t)(i * 3 + (i >> 10));
  assert_int_equal(evalue_record_writer_open(&w, path_of("f"), NULL), EVALUE_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(evalue_record_writer_put_bytes(&w, data, LARGE, NULL), EVALUE_OK);
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  assert_int_equal(evalue_record_examine(path_of("f"), &report), EVALUE_OK);
  assert_int_equal(report.records, 3);
  assert_int_equal(report.good_end, w.end);
  int fd = open(path_of("f"), O_WRONLY | O_CLOEXEC);
  assert_int_equal(pwrite(fd, "\xff", 1, LARGE + 16 + 12 + 2000000), 1);
  assert_int_equal(evalue_record_examine(path_of("f"), &report), EVALUE_CORRUPT);
  assert_int_equal(report.records, 2);
  assert_int_equal(report.corrupt, 1);
  assert_int_equal(report.error.position, LARGE + 16 + 12);
  assert_int_equal(report.good_end, w.end);
  assert_int_equal(pwrite(fd, "\xff", 1, 2 * (LARGE + 16) + 12 + 1500000), 1);
  close(fd);
  assert_int_equal(evalue_record_examine(path_of("f"), &report), EVALUE_CORRUPT);
  assert_int_equal(report.error.position, LARGE + 16 + 12);                 /* the first fault */
  assert_int_equal(evalue_record_repair(path_of("f"), &report), EVALUE_OK); /* both go: none behind them is good */
  assert_int_equal(report.records, 1);
  assert_int_equal(report.corrupt, 0);
  assert_int_equal(evalue_record_examine(path_of("f"), &report), EVALUE_OK);
  assert_int_equal(report.file_size, LARGE + 16);
  free(data);
}

static void test_misuse(void **state) {
  (void)state;
  evalue_record_report report;
  assert_int_equal(evalue_record_examine(path_of("f"), NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_repair(path_of("f"), NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_examine(NULL, &report), EVALUE_MISUSE);
  assert_int_equal(evalue_record_repair("", &report), EVALUE_MISUSE);
  assert_int_equal(evalue_record_examine(path_of("none"), &report), EVALUE_IO);
  assert_int_equal(report.system_error, ENOENT);
  assert_int_equal(evalue_record_repair(path_of("none"), &report), EVALUE_IO);
  assert_int_equal(report.system_error, ENOENT);
  assert_int_equal(evalue_record_repair(record_folder, &report), EVALUE_IO);
  assert_int_equal(report.system_error, EISDIR);
}

static int make_all(void **state) {
  make_small(&small);
  return make_folder(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_torn_end),      cmocka_unit_test(test_zeros_at_the_end),
      cmocka_unit_test(test_corrupt_files),       cmocka_unit_test(test_new_and_strange_files),
      cmocka_unit_test(test_second_writer),       cmocka_unit_test(test_side_file),
      cmocka_unit_test(test_repair_of_every_cut), cmocka_unit_test(test_repair_of_every_byte),
      cmocka_unit_test(test_large_records),       cmocka_unit_test(test_misuse),
  };
  return cmocka_run_group_tests(tests, make_all, remove_folder);
}
