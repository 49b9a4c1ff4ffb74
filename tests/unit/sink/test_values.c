/* SPDX-License-Identifier: BSD-3-Clause */
/* Values through sinks: the bytes of evalue_message_encode, offsets of payloads, and failures in the middle. */
#include "sink_support.h"

enum { MOST = 400, LARGE = 2048 * 1024 };

static evalue values[MOST];
static uint64_t offsets[MOST];
static uint8_t written[LARGE], encoded[LARGE], payload[256];

/* n values of all kinds, in an order that depends on the kind of run. */
static void make_many(size_t n, size_t run) {
  evalue all[VALUES];
  static const int32_t sizes[] = {256};
  make_values(all);
  fill_bytes(payload, sizeof payload, run);
  for (size_t i = 0; i < n; i++) {
    switch (run) {
      case 0: values[i] = evalue_from_none(); break;
      case 1: values[i] = evalue_from_string((const char *)payload, 1 + i % 40); break;
      case 2: values[i] = tensor_of(EVALUE_UINT8, 1, sizes, payload, 256); break;
      default: values[i] = all[(i * run) % VALUES]; break;
    }
  }
}

/* Every payload is where the offsets say. */
static void check_offsets(const uint8_t *base, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint64_t integer = 0;
    const uint8_t *at = base + offsets[i];
    switch (values[i].tag) {
      case EVALUE_TAG_TENSOR: assert_memory_equal(at, values[i].tensor.data, values[i].tensor.nbytes); break;
      case EVALUE_TAG_STRING:
        if (values[i].string.nbytes != 0) assert_memory_equal(at, values[i].string.data, values[i].string.nbytes);
        break;
      case EVALUE_TAG_INT: assert_true((int64_t)evalue_load_u64(at) == values[i].int_value); break;
      case EVALUE_TAG_DOUBLE:
        memcpy(&integer, &values[i].double_value, sizeof integer);
        assert_true(evalue_load_u64(at) == integer);
        break;
      case EVALUE_TAG_BOOL: assert_int_equal(*at, values[i].bool_value); break;
      default: break;
    }
  }
}

/* And where a reader finds them. */
static void check_with_reader(uint64_t offset, uint64_t size, size_t n) {
  static evalue back[MOST];
  uint64_t count = 0;
  assert_int_equal(evalue_message_decode(written + offset, (size_t)size, NULL, back, MOST, &count, NULL), EVALUE_OK);
  assert_int_equal(count, n);
  for (size_t i = 0; i < n; i++) {
    if (back[i].tag == EVALUE_TAG_TENSOR) assert_ptr_equal(back[i].tensor.data, written + offsets[i]);
    if (back[i].tag == EVALUE_TAG_STRING) assert_ptr_equal(back[i].string.data, written + offsets[i]);
  }
}

static void test_messages_are_what_encode_makes(void **state) {
  (void)state;
  static const size_t counts[] = {0, 1, 2, 3, 20, 21, 22, 31, 32, 33, 63, 64, 65, 127, 128, 129, MOST};
  for (size_t run = 0; run < 6; run++) {
    for (uint32_t alignment = 0; alignment <= 4096; alignment = alignment == 0 ? 1 : alignment * 2) {
      for (size_t c = 0; c < COUNT_OF(counts); c++) {
        if (alignment > 64 && counts[c] > 65) continue; /* there it takes more bytes than it finds */
        uint64_t size = 0, offset = 77;
        evalue_buffer_sink s;
        make_many(counts[c], run);
        assert_int_equal(evalue_message_encode(values, counts[c], alignment, encoded, LARGE, &size), EVALUE_OK);
        assert_int_equal(evalue_buffer_sink_init(&s, written, LARGE, NULL), EVALUE_OK);
        assert_int_equal(evalue_sink_write(&s.sink, "abc", 3, NULL), EVALUE_OK);
        assert_int_equal(evalue_message_write(&s.sink, values, counts[c], alignment, &offset, offsets), EVALUE_OK);
        assert_int_equal(offset, alignment > 64 ? alignment : 64);
        assert_int_equal(evalue_sink_used(&s.sink), offset + size);
        assert_memory_equal(written + offset, encoded, (size_t)size);
        check_offsets(written, counts[c]);
        check_with_reader(offset, size, counts[c]);
        assert_int_equal(evalue_message_write(&s.sink, values, counts[c], alignment, NULL, NULL), EVALUE_OK);
      }
    }
  }
}

/* Structure fills what it is collected in up to every size, and then comes a value with the largest Pad. */
static void test_the_largest_heads_at_every_place(void **state) {
  (void)state;
  static const char text[5000];
  for (size_t small = 230; small < 270; small += 3) {
    for (size_t length = 0; length < 4096; length += 61) {
      uint64_t size = 0;
      evalue_buffer_sink s;
      make_many(small + 2, 2);
      values[0] = evalue_from_string(text, length); /* moves the message, and takes no room */
      for (size_t i = 1; i <= small; i++) values[i] = evalue_from_int(7);
      assert_int_equal(evalue_message_encode(values, small + 2, 4096, encoded, LARGE, &size), EVALUE_OK);
      assert_int_equal(evalue_buffer_sink_init(&s, written, LARGE, NULL), EVALUE_OK);
      assert_int_equal(evalue_message_write(&s.sink, values, small + 2, 4096, NULL, NULL), EVALUE_OK);
      assert_memory_equal(written, encoded, (size_t)size);
    }
  }
}

/* In pieces of any size, and none of them empty. */
static size_t biggest, pieces;

static int64_t count_pieces(void *context, const void *data, size_t nbytes) {
  (void)context;
  (void)data;
  pieces++;
  if (nbytes > biggest) biggest = nbytes;
  assert_true(nbytes > 0);
  return (int64_t)nbytes;
}

static void test_payloads_are_not_copied(void **state) {
  (void)state;
  evalue_callback_sink s;
  guard_buffer g = guard_new(100000);
  memset(g.data, 1, 100000);
  biggest = pieces = 0;
  const evalue value = evalue_from_string((const char *)g.data, 100000);
  assert_int_equal(evalue_callback_sink_init(&s, count_pieces, NULL, NULL), EVALUE_OK);
  assert_int_equal(evalue_message_write(&s.sink, &value, 1, 0, NULL, NULL), EVALUE_OK);
  assert_int_equal(biggest, 100000);
  assert_int_equal(pieces, 2);
  guard_free(&g);
}

static void test_h6_failures_at_every_byte(void **state) {
  (void)state;
  static faulty_sink s;
  uint64_t size = 0;
  make_many(100, 3);
  assert_int_equal(evalue_message_encode(values, 100, 16, encoded, LARGE, &size), EVALUE_OK);
  assert_true(size < STORE);
  for (uint64_t k = 0; k < size; k++) {
    uint64_t offset = 77;
    faulty_init(&s, true, 1);
    s.budget = (int64_t)k;
    assert_int_equal(evalue_message_write(&s.sink, values, 100, 16, &offset, offsets), EVALUE_IO);
    assert_int_equal(offset, 77);
    assert_int_equal(s.size, 0);
    assert_int_equal(evalue_sink_used(&s.sink), 0);
    assert_int_equal(s.calls[UNDO], 1);
    assert_int_equal(evalue_message_write(&s.sink, values, 100, 16, &offset, offsets), EVALUE_OK);
    assert_int_equal(offset, 0);
    assert_int_equal(s.size, size);
    assert_memory_equal(s.bytes, encoded, (size_t)size);
  }
}

static void test_bare_values(void **state) {
  (void)state;
  evalue all[VALUES];
  uint64_t size = 0;
  make_values(all);
  evalue_buffer_sink s;
  const evalue_sink_options options = {.alignment = 1};
  assert_int_equal(evalue_buffer_sink_init(&s, written, LARGE, &options), EVALUE_OK);
  for (size_t i = 0; i < VALUES; i++) {
    uint64_t used = evalue_sink_used(&s.sink), offset = 77;
    assert_int_equal(evalue_sink_write_value(&s.sink, &all[i], &offset), EVALUE_OK);
    assert_int_equal(offset, used);
  }
  assert_int_equal(evalue_sequence_encode(all, VALUES, encoded, LARGE, &size), EVALUE_OK);
  assert_int_equal(evalue_sink_used(&s.sink), size);
  assert_memory_equal(written, encoded, (size_t)size);
}

static void test_tensors_alone(void **state) {
  (void)state;
  static const int32_t sizes[] = {3, 5}, empty[] = {0, 7};
  evalue_buffer_sink s;
  uint64_t offset = 77;
  const evalue full = tensor_of(EVALUE_INT16, 2, sizes, payload, 30), none = tensor_of(EVALUE_INT16, 2, empty, NULL, 0);
  evalue bad = full;
  fill_bytes(payload, sizeof payload, 9);
  assert_int_equal(evalue_buffer_sink_init(&s, written, LARGE, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write_tensor(&s.sink, &full.tensor, &offset), EVALUE_OK);
  assert_int_equal(offset, 0);
  assert_memory_equal(written, payload, 30);
  assert_int_equal(evalue_sink_write_tensor(&s.sink, &none.tensor, &offset), EVALUE_OK);
  assert_int_equal(offset, 64);
  assert_int_equal(evalue_sink_used(&s.sink), 64);
  bad.tensor.nbytes = 31;
  assert_int_equal(evalue_sink_write_tensor(&s.sink, &bad.tensor, &offset), EVALUE_MISUSE);
  bad = full;
  bad.tensor.data = NULL;
  assert_int_equal(evalue_sink_write_tensor(&s.sink, &bad.tensor, &offset), EVALUE_MISUSE);
  bad = full;
  bad.tensor.sizes[1] = -5;
  assert_int_equal(evalue_sink_write_tensor(&s.sink, &bad.tensor, &offset), EVALUE_MISUSE);
  assert_int_equal(offset, 64);
  assert_int_equal(evalue_sink_used(&s.sink), 64);
}

static void test_h6_bad_values_and_alignments(void **state) {
  (void)state;
  static faulty_sink s;
  static const uint32_t alignments[] = {3, 4097, 8192, UINT32_MAX};
  make_many(MOST, 3);
  values[MOST - 1].tag = 99; /* the last one */
  faulty_init(&s, true, 1);
  uint64_t offset = 77;
  assert_int_equal(evalue_message_write(&s.sink, values, MOST, 0, &offset, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_write_value(&s.sink, &values[MOST - 1], &offset), EVALUE_MISUSE);
  for (size_t i = 0; i < COUNT_OF(alignments); i++) {
    assert_int_equal(evalue_message_write(&s.sink, values, 1, alignments[i], &offset, NULL), EVALUE_MISUSE);
  }
  if (SIZE_MAX > UINT32_MAX) {
    values[0] = evalue_from_string("x", (size_t)EVALUE_SIZE_LIMIT - 34);
    assert_int_equal(evalue_message_write(&s.sink, values, 2, 16, &offset, NULL), EVALUE_LIMIT);
  }
  assert_int_equal(offset, 77);
  assert_int_equal(s.size, 0);
}

/* What went wrong is in sink->status, as the header's first example has it. */
static void test_status_says_what_was_returned(void **state) {
  (void)state;
  static faulty_sink s;
  static const evalue_tensor none = {.scalar_type = UINT8_MAX};
  evalue bad = evalue_from_none();
  bad.tag = 99;
  faulty_init(&s, true, 1);
  assert_int_equal(evalue_sink_write_value(&s.sink, &bad, NULL), EVALUE_MISUSE);
  assert_int_equal(s.sink.status, EVALUE_MISUSE);
  faulty_init(&s, true, 1);
  assert_int_equal(evalue_sink_write_tensor(&s.sink, &none, NULL), EVALUE_MISUSE);
  assert_int_equal(s.sink.status, EVALUE_MISUSE);
  faulty_init(&s, true, 1);
  assert_int_equal(evalue_message_write(&s.sink, &bad, 1, 0, NULL, NULL), EVALUE_MISUSE);
  assert_int_equal(s.sink.status, EVALUE_MISUSE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages_are_what_encode_makes),
      cmocka_unit_test(test_the_largest_heads_at_every_place),
      cmocka_unit_test(test_payloads_are_not_copied),
      cmocka_unit_test(test_h6_failures_at_every_byte),
      cmocka_unit_test(test_bare_values),
      cmocka_unit_test(test_tensors_alone),
      cmocka_unit_test(test_h6_bad_values_and_alignments),
      cmocka_unit_test(test_status_says_what_was_returned),
  };
  return cmocka_run_group_tests_name("values", tests, be_quiet, NULL);
}
