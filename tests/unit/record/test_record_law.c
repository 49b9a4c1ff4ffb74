/* SPDX-License-Identifier: BSD-3-Clause */
/* The law of record files: what a reader says of a file that is cut anywhere, and of one with any bit changed. */
#include "record_files.h"

static small_file small;
static const size_t blocks[] = {0, 4096};

static void open_small(evalue_record_reader *r, const void *bytes, size_t nbytes, uint32_t skip, size_t block) {
  const evalue_record_reader_options options = {.size = sizeof options, .skip = skip, .buffer_size = block};
  put_file("f", bytes, nbytes);
  assert_int_equal(evalue_record_reader_open(r, path_of("f"), &options), EVALUE_OK);
}

static void check_fault(const evalue_record_reader *r, evalue_status status, evalue_fault fault, uint64_t position,
                        uint64_t offset, uint64_t index) {
  const evalue_error *error = evalue_record_reader_error(r);
  assert_int_equal(error->status, status);
  assert_int_equal(error->fault, fault);
  assert_int_equal(error->position, position);
  assert_true(error->value_index == EVALUE_NO_INDEX);
  assert_int_equal(r->fault_offset, offset);
  assert_int_equal(r->fault_index, index);
}

/* Reads the records before the k-th. */
static void read_until(evalue_record_reader *r, size_t k) {
  evalue_record record;
  for (size_t i = 0; i < k; i++) {
    assert_int_equal(evalue_record_reader_next(r, &record), EVALUE_OK);
    assert_int_equal(record.index, i);
    check_small(&small, i, &record);
  }
}

/* Also through a pipe, where nobody knows the size before it ends. */
static void start_cut(evalue_record_reader *r, size_t cut, int way) {
  int ends[2];
  const evalue_record_reader_options options = {.owns_fd = 1};
  if (way < 2) {
    open_small(r, small.bytes, cut, (uint32_t)way, 0);
    return;
  }
  assert_int_equal(pipe(ends), 0);
  if (cut != 0) assert_int_equal(write(ends[1], small.bytes, cut), cut);
  close(ends[1]);
  assert_int_equal(evalue_record_reader_init(r, ends[0], &options), EVALUE_OK);
}

static void test_every_cut(void **state) {
  (void)state;
  for (size_t cut = 0; cut <= small.size; cut++) {
    for (int way = 0; way < 3; way++) {
      evalue_record_reader r;
      evalue_record record;
      size_t k = cut == small.size ? SMALL_COUNT : record_of(&small, cut), start = small.starts[k];
      start_cut(&r, cut, way);
      read_until(&r, k);
      if (cut == start) {
        assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_END);
        assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_END);
        assert_int_equal(evalue_record_reader_error(&r)->status, EVALUE_OK);
      } else {
        bool has_head = cut - start >= 12;
        for (int again = 0; again < 2; again++) {
          assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_TRUNCATED);
          check_fault(&r, EVALUE_TRUNCATED, has_head ? EVALUE_FAULT_RECORD_SHORT : EVALUE_FAULT_RECORD_HEAD_SHORT,
                      start, start, k);
          assert_int_equal(r.error.needed, has_head ? small.starts[k + 1] : start + 12);
          assert_int_equal(r.error.found, cut - start);
        }
      }
      assert_int_equal(evalue_record_reader_offset(&r), start);
      assert_int_equal(evalue_record_reader_index(&r), k);
      assert_int_equal(r.counts.records, k);
      assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    }
  }
}

/* What comes after a bit of the k-th record's data was changed. */
static void check_after_data(evalue_record_reader *r, size_t k, uint32_t skip) {
  evalue_record record;
  size_t data = small.starts[k] + 12;
  if (skip == 0) {
    assert_int_equal(evalue_record_reader_next(r, &record), EVALUE_CORRUPT);
    check_fault(r, EVALUE_CORRUPT, EVALUE_FAULT_RECORD_DATA_CRC, data, data - 12, k);
  }
  for (size_t i = k + 1; i < SMALL_COUNT; i++) {
    assert_int_equal(evalue_record_reader_next(r, &record), EVALUE_OK);
    assert_int_equal(record.index, i);
    check_small(&small, i, &record);
  }
  assert_int_equal(evalue_record_reader_next(r, &record), EVALUE_END);
  check_fault(r, EVALUE_CORRUPT, EVALUE_FAULT_RECORD_DATA_CRC, data, data - 12, k);
  assert_int_equal(r->counts.corrupt, skip);
  assert_int_equal(r->counts.records, SMALL_COUNT - 1);
}

static void test_every_bit(void **state) {
  (void)state;
  for (size_t bit = 0; bit < 8 * small.size; bit++) {
    for (uint32_t skip = 0; skip <= 1; skip++) {
      evalue_record_reader r;
      evalue_record record;
      small_file changed = small;
      size_t k = record_of(&small, bit / 8);
      changed.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
      open_small(&r, changed.bytes, changed.size, skip, blocks[bit % 2]);
      read_until(&r, k);
      if (bit / 8 >= small.starts[k] + 12) {
        check_after_data(&r, k, skip);
      } else {
        for (int again = 0; again < 2; again++) {
          assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_CORRUPT);
          check_fault(&r, EVALUE_CORRUPT, EVALUE_FAULT_RECORD_LENGTH_CRC, small.starts[k], small.starts[k], k);
        }
        assert_int_equal(r.counts.corrupt, 0);
      }
      assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
    }
  }
}

/* Without the CRC of the data, their bits are what they are; those of the length still count. */
static void test_ignored_crcs(void **state) {
  (void)state;
  const evalue_record_reader_options options = {.ignore_crc = 1};
  for (size_t byte = 0; byte < small.size; byte++) {
    evalue_record_reader r;
    evalue_record record;
    small_file changed = small;
    size_t k = record_of(&small, byte);
    changed.bytes[byte] ^= 0x10;
    put_file("f", changed.bytes, changed.size);
    assert_int_equal(evalue_record_reader_open(&r, path_of("f"), &options), EVALUE_OK);
    read_until(&r, k);
    if (byte >= small.starts[k] + 12) {
      assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
      check_small(&changed, k, &record);
    } else {
      assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_CORRUPT);
    }
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  }
}

/* ---- lengths that cannot be ---- */

static void test_lengths(void **state) {
  (void)state;
  static const uint64_t limit = UINT64_C(1) << 62;
  static const uint64_t lengths[] = {
      1,         4, UINT64_C(1) << 40, (UINT64_C(1) << 62) - 1, UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX - 15,
      UINT64_MAX};
  for (size_t i = 0; i < COUNT_OF(lengths); i++) {
    for (int way = 0; way < 2; way++) {
      uint8_t bytes[12];
      evalue_record_reader r;
      evalue_record record;
      int fds[2] = {-1, -1};
      make_head(bytes, lengths[i]);
      put_file("f", bytes, sizeof bytes);
      if (way == 0) {
        assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
      } else {
        assert_int_equal(pipe(fds), 0);
        assert_int_equal(write(fds[1], bytes, sizeof bytes), sizeof bytes);
        close(fds[1]);
        assert_int_equal(evalue_record_reader_init(&r, fds[0], NULL), EVALUE_OK);
      }
      size_t capacity = r.capacity;
      bool is_large = lengths[i] >= limit;
      bool is_host = !is_large && lengths[i] <= SIZE_MAX / 2;
      evalue_status status = evalue_record_reader_next(&r, &record);
      if (is_large) assert_int_equal(status, EVALUE_MALFORMED);
      else assert_int_equal(status, EVALUE_TRUNCATED);
      if (is_large) check_fault(&r, EVALUE_MALFORMED, EVALUE_FAULT_RECORD_LENGTH_LARGE, 0, 0, 0);
      else check_fault(&r, EVALUE_TRUNCATED, EVALUE_FAULT_RECORD_SHORT, 0, 0, 0);
      if (!is_large) assert_true(r.error.needed == lengths[i] + 16);
      if (is_host || way == 0) assert_int_equal(r.capacity, capacity); /* nothing was taken for it */
      assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
      if (way == 1) close(fds[0]);
    }
  }
}

static int make_all(void **state) {
  make_small(&small);
  return make_folder(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_cut), cmocka_unit_test(test_every_bit),
                                     cmocka_unit_test(test_ignored_crcs), cmocka_unit_test(test_lengths)};
  return cmocka_run_group_tests(tests, make_all, remove_folder);
}
