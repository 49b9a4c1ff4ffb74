/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32C: known values, every place and small length, where memory ends, and of lengths. */
#include "guard.h"
#include "record_files.h"

static void test_known_values(void **state) {
  (void)state;
  uint8_t bytes[48];
  assert_int_equal(evalue_record_crc32c(0, "123456789", 9), 0xe3069283);
  assert_int_equal(evalue_record_crc32c(0, NULL, 0), 0);
  assert_int_equal(evalue_record_crc32c(0x1234, NULL, 0), 0x1234);
  assert_int_equal(evalue_record_mask(0), 0xa282ead8);
  assert_int_equal(evalue_record_mask(0xe3069283), slow_mask(0xe3069283));
  memset(bytes, 0, 32); /* the four of RFC 3720, B.4 */
  assert_int_equal(evalue_record_crc32c(0, bytes, 32), 0x8a9136aa);
  memset(bytes, 0xff, 32);
  assert_int_equal(evalue_record_crc32c(0, bytes, 32), 0x62a8ab43);
  for (int i = 0; i < 32; i++) bytes[i] = (uint8_t)i;
  assert_int_equal(evalue_record_crc32c(0, bytes, 32), 0x46dd794e);
  for (int i = 0; i < 32; i++) bytes[i] = (uint8_t)(31 - i);
  assert_int_equal(evalue_record_crc32c(0, bytes, 32), 0x113fdb5c);
}

/* Each buffer ends, or begins, where nobody may read; and in a run of pieces the CRC is that of the whole. */
static void test_every_place_and_length(void **state) {
  (void)state;
  enum { PLACES = 16, LENGTHS = 65 };
  guard_buffer before = guard_new(PLACES + LENGTHS);
  for (size_t i = 0; i < PLACES + LENGTHS; i++) before.data[i] = (uint8_t)(i * 197 + 11);
  for (size_t place = 0; place < PLACES; place++) {
    for (size_t length = 0; length < LENGTHS; length++) {
      const uint8_t *bytes = before.data + place;
      uint32_t expected = slow_crc(bytes, length);
      assert_int_equal(evalue_record_crc32c(0, bytes, length), expected);
      guard_buffer end = guard_put(bytes, length);
      assert_int_equal(evalue_record_crc32c(0, end.data, length), expected);
      guard_free(&end);
      size_t cut = length / 3;
      uint32_t first = evalue_record_crc32c(0, bytes, cut);
      assert_int_equal(evalue_record_crc32c(first, bytes + cut, length - cut), expected);
    }
  }
  guard_free(&before);
}

static void check_head(uint64_t length) {
  uint8_t head[12], expected[12];
  make_head(expected, length);
  assert_int_equal(evalue_record_head(length, head), EVALUE_OK);
  assert_memory_equal(head, expected, 12);
}

static void test_heads(void **state) {
  (void)state;
  uint8_t head[12];
  uint64_t random = 1;
  for (uint64_t length = 0; length < 5000; length++) check_head(length);
  for (int bit = 0; bit < 62; bit++) {
    check_head(UINT64_C(1) << bit);
    check_head((UINT64_C(1) << bit) - 1);
  }
  for (int i = 0; i < 5000; i++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    check_head(random >> (2 + i % 60));
  }
  assert_int_equal(evalue_record_head(UINT64_C(1) << 62, head), EVALUE_LIMIT);
  assert_int_equal(evalue_record_head(UINT64_MAX, head), EVALUE_LIMIT);
  assert_int_equal(evalue_record_head(0, NULL), EVALUE_MISUSE);
}

/* More bytes at once than an int can count. */
static void test_more_than_an_int(void **state) {
  (void)state;
  const uint64_t size = (UINT64_C(1) << 31) + 7;
  static const uint8_t zeros[1 << 16];
  if (getenv("EVALUE_EMULATED") != NULL || SIZE_MAX <= UINT32_MAX) skip();
  const uint8_t *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bytes == MAP_FAILED) skip();
  uint32_t expected = 0;
  for (uint64_t at = 0; at + sizeof zeros <= size; at += sizeof zeros) {
    expected = evalue_record_crc32c(expected, zeros, sizeof zeros);
  }
  expected = evalue_record_crc32c(expected, zeros, 7);
  assert_int_equal(evalue_record_crc32c(0, bytes, (size_t)size), expected);
  union {
    const uint8_t *from;
    void *to;
  } place = {bytes};
  munmap(place.to, (size_t)size);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_values), cmocka_unit_test(test_every_place_and_length),
                                     cmocka_unit_test(test_heads), cmocka_unit_test(test_more_than_an_int)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
