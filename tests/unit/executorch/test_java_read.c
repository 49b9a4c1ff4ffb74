/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader of ExecuTorch's Android bytes accepts, where the values' bytes are then, and what it measures. */
#include "java_values.h"

static const evalue_java_options bare = {.bare_tensor = 1};

/* Decodes an input that is good and has no elements to swap, in every way. */
static evalue decode(const input *in) {
  evalue v, in_place;
  uint64_t used = 0, used_in_place = 0;
  evalue_error error;
  input copy = *in;
  assert_int_equal(evalue_java_decode(in->bytes, in->size, NULL, NULL, 0, &v, &used, &error), EVALUE_OK);
  assert_int_equal(error.status, EVALUE_OK);
  assert_int_equal(error.fault, EVALUE_FAULT_NONE);
  assert_int_equal(used, in->size);
  assert_int_equal(evalue_java_decode_in_place(copy.bytes, copy.size, NULL, &in_place, &used_in_place, NULL),
                   EVALUE_OK);
  assert_int_equal(used_in_place, in->size);
  assert_true(evalue_equal(&v, &in_place));
  assert_memory_equal(copy.bytes, in->bytes, in->size);
  return v;
}

/* ---- scalars and strings ---- */

static void test_none_and_bool(void **state) {
  (void)state;
  input in = input_of("00");
  assert_int_equal(decode(&in).tag, EVALUE_TAG_NONE);
  for (uint32_t byte = 0; byte <= 1; byte++) {
    in.size = 0;
    add_number(&in, 5, 1);
    add_number(&in, byte, 1);
    const evalue v = decode(&in);
    assert_int_equal(v.tag, EVALUE_TAG_BOOL);
    assert_int_equal(v.bool_value, byte);
  }
}

static void test_f5_ints_are_big_endian(void **state) {
  (void)state;
  static const struct {
    const char *hex;
    int64_t i;
  } ints[] = {{"04 0000000000000000", 0},         {"04 0000000000000001", 1},
              {"04 ffffffffffffffff", -1},        {"04 8000000000000000", INT64_MIN},
              {"04 7fffffffffffffff", INT64_MAX}, {"04 0102030405060708", INT64_C(0x0102030405060708)},
              {"04 00000000ffffffff", UINT32_MAX}};
  for (size_t i = 0; i < COUNT_OF(ints); i++) {
    const input in = input_of(ints[i].hex);
    const evalue v = decode(&in);
    assert_int_equal(v.tag, EVALUE_TAG_INT);
    assert_true(v.int_value == ints[i].i);
  }
}

/* Also NaNs that signal, and those with a payload. */
static void test_f5_doubles_keep_every_bit(void **state) {
  (void)state;
  static const uint64_t patterns[] = {0,
                                      UINT64_C(0x8000000000000000),
                                      UINT64_C(0x3ff8000000000000),
                                      UINT64_C(0x7ff0000000000000),
                                      UINT64_C(0x7ff0000000000001),
                                      UINT64_C(0xfff8dead0000beef),
                                      UINT64_C(0x0000000000000001),
                                      UINT64_C(0x0102030405060708)};
  for (size_t i = 0; i < COUNT_OF(patterns); i++) {
    input in = input_of("03");
    add_number(&in, patterns[i], 8);
    const evalue v = decode(&in);
    uint64_t bits;
    memcpy(&bits, &v.double_value, sizeof bits);
    assert_int_equal(v.tag, EVALUE_TAG_DOUBLE);
    assert_true(bits == patterns[i]);
  }
  const input in = input_of("03 3ff8000000000000");
  assert_true(decode(&in).double_value == 1.5);
}

static void test_k1_strings_count_bytes(void **state) {
  (void)state;
  static const char *const strings[] = {"02 00000000",
                                        "02 00000001 00",
                                        "02 00000002 c3a9",
                                        "02 00000004 f09f9880",
                                        "02 00000003 68c3a9",
                                        "02 0000000d ed9fbf ee8080 efbfbf f48fbfbf",
                                        "02 00000010 30313233343536373839616263646566"};
  for (size_t i = 0; i < COUNT_OF(strings); i++) {
    const input in = input_of(strings[i]);
    evalue v;
    uint64_t used;
    assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, NULL, 0, &v, &used, NULL), EVALUE_OK);
    assert_int_equal(v.tag, EVALUE_TAG_STRING);
    assert_int_equal(v.string.nbytes, in.size - 5);
    assert_ptr_equal(v.string.data, in.bytes + 5);
    assert_int_equal(used, in.size);
  }
}

/* ---- tensors ---- */

static const int32_t two_by_three[] = {2, 3};

static void test_bytes_are_viewed_and_others_swapped(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(java_dtypes); i++) {
    const java_dtype *d = &java_dtypes[i];
    for (uint32_t is_bare = 0; is_bare <= 1; is_bare++) {
      const evalue_java_options options = {.bare_tensor = is_bare};
      input in = input_of(is_bare ? "" : "01");
      uint8_t scratch[64];
      evalue v;
      uint64_t used = 0;
      add_tensor(&in, d, 2, two_by_three, 6);
      const input before = in;
      memset(scratch, UNTOUCHED, sizeof scratch);
      assert_int_equal(evalue_java_decode(in.bytes, in.size, &options, scratch, sizeof scratch, &v, &used, NULL),
                       EVALUE_OK);
      check_row_major(&v, d, 2, two_by_three, 6);
      assert_int_equal(used, in.size);
      assert_ptr_equal(v.tensor.data, d->width == 1 ? in.bytes + 11 - is_bare : scratch);
      size_t taken = d->width == 1 ? 0 : v.tensor.nbytes;
      check_untouched(scratch + taken, sizeof scratch - taken);
      assert_memory_equal(in.bytes, before.bytes, in.size);
      assert_int_equal(evalue_java_decode(in.bytes, in.size, &options, scratch, taken, &v, NULL, NULL), EVALUE_OK);
    }
  }
}

static void test_f5_elements_by_hand(void **state) {
  (void)state;
  static const uint8_t one[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}, int64_one[] = {1, 0, 0, 0, 0, 0, 0, 0};
  uint8_t scratch[8];
  evalue v;
  input in = input_of("01 06 02 00000001 00000002 3f800000 40000000");
  assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, scratch, 8, &v, NULL, NULL), EVALUE_OK);
  assert_memory_equal(v.tensor.data, one, sizeof one);
  in = input_of("01 04 00 0000000000000001");
  assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, scratch, 8, &v, NULL, NULL), EVALUE_OK);
  assert_memory_equal(v.tensor.data, int64_one, sizeof int64_one);
  in = input_of("01 05 01 00000002 3c00 c001");
  assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, scratch, 8, &v, NULL, NULL), EVALUE_OK);
  assert_memory_equal(v.tensor.data, "\x00\x3c\x01\xc0", 4);
}

static void test_e3_no_dimensions(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(java_dtypes); i++) {
    const java_dtype *d = &java_dtypes[i];
    input in = input_of("01");
    uint8_t scratch[8];
    evalue v;
    add_tensor(&in, d, 0, NULL, 1);
    assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, scratch, sizeof scratch, &v, NULL, NULL), EVALUE_OK);
    check_row_major(&v, d, 0, NULL, 1);
    assert_int_equal(evalue_tensor_numel(&v.tensor), 1);
    in.size = 3;
    check_refused(&in, NULL, EVALUE_TRUNCATED, EVALUE_FAULT_FIELD_SHORT, EVALUE_FIELD_DATA, 3);
  }
}

/* No elements need no scratch, and an empty String needs no byte behind its length. */
static void test_e5_nothing(void **state) {
  (void)state;
  static const int32_t shapes[][3] = {{0, 3, 2}, {2, 0, 3}, {2, 3, 0}, {0, 0, 0}, {0, INT32_MAX, 1}};
  for (size_t i = 0; i < COUNT_OF(java_dtypes) * COUNT_OF(shapes); i++) {
    const java_dtype *d = &java_dtypes[i % COUNT_OF(java_dtypes)];
    const int32_t *sizes = shapes[i / COUNT_OF(java_dtypes)];
    input in = input_of("01");
    evalue v, in_place;
    uint64_t size = 0, scratch_size = 1;
    add_tensor(&in, d, 3, sizes, 0);
    guard_buffer guard = guard_put(in.bytes, in.size);
    assert_int_equal(evalue_java_measure(guard.data, in.size, NULL, &size, &scratch_size, NULL), EVALUE_OK);
    assert_int_equal(size, in.size);
    assert_int_equal(scratch_size, 0);
    assert_int_equal(evalue_java_decode(guard.data, in.size, NULL, NULL, 0, &v, NULL, NULL), EVALUE_OK);
    check_row_major(&v, d, 3, sizes, 0);
    assert_int_equal(evalue_java_decode_in_place(guard.data, in.size, NULL, &in_place, NULL, NULL), EVALUE_OK);
    check_row_major(&in_place, d, 3, sizes, 0);
    guard_free(&guard);
  }
  const input in = input_of("02 00000000");
  guard_buffer guard = guard_put(in.bytes, in.size);
  evalue v;
  assert_int_equal(evalue_java_decode(guard.data, in.size, NULL, NULL, 0, &v, NULL, NULL), EVALUE_OK);
  assert_int_equal(v.string.nbytes, 0);
  guard_free(&guard);
}

static void test_sixteen_dimensions(void **state) {
  (void)state;
  static const int32_t sizes[16] = {2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 1, 1, 2, 1, 1, 2};
  for (size_t i = 0; i < COUNT_OF(java_dtypes); i++) {
    input in = input_of("01");
    uint8_t scratch[48 * 8];
    evalue v;
    uint64_t size = 0, scratch_size = 0;
    add_tensor(&in, &java_dtypes[i], 16, sizes, 48);
    assert_int_equal(evalue_java_measure(in.bytes, EVALUE_JAVA_MAX_HEAD_SIZE, NULL, &size, &scratch_size, NULL),
                     EVALUE_OK);
    assert_int_equal(size, in.size);
    assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, scratch, (size_t)scratch_size, &v, NULL, NULL),
                     EVALUE_OK);
    check_row_major(&v, &java_dtypes[i], 16, sizes, 48);
  }
}

/* ---- memory ---- */

static void test_g3_any_address(void **state) {
  (void)state;
  _Alignas(16) uint8_t memory[ADDRESSES + 64], scratch[ADDRESSES + 48], wide[ADDRESSES + 9];
  for (size_t at = 0; at < ADDRESSES * ADDRESSES * COUNT_OF(java_dtypes); at++) {
    const size_t from = at % ADDRESSES, to = at / ADDRESSES % ADDRESSES;
    const java_dtype *d = &java_dtypes[at / (ADDRESSES * ADDRESSES)];
    input in = input_of("01");
    evalue v;
    add_tensor(&in, d, 2, two_by_three, 6);
    memcpy(memory + from, in.bytes, in.size);
    memset(scratch, UNTOUCHED, sizeof scratch);
    size_t need = d->width == 1 ? 0 : 6 * (size_t)d->width;
    assert_int_equal(evalue_java_decode(memory + from, in.size, NULL, scratch + to, need, &v, NULL, NULL), EVALUE_OK);
    check_row_major(&v, d, 2, two_by_three, 6);
    check_untouched(scratch, to);
    check_untouched(scratch + to + need, sizeof scratch - to - need);
    assert_int_equal(evalue_java_decode_in_place(memory + from, in.size, NULL, &v, NULL, NULL), EVALUE_OK);
    check_row_major(&v, d, 2, two_by_three, 6);
  }
  const input in = input_of("04 0102030405060708"), text = input_of("02 00000004 f09f9880");
  for (size_t at = 0; at < ADDRESSES; at++) {
    evalue v;
    memcpy(wide + at, in.bytes, in.size);
    assert_int_equal(evalue_java_decode(wide + at, in.size, NULL, NULL, 0, &v, NULL, NULL), EVALUE_OK);
    assert_true(v.int_value == INT64_C(0x0102030405060708));
    memcpy(wide + at, text.bytes, text.size);
    assert_int_equal(evalue_java_decode(wide + at, text.size, NULL, NULL, 0, &v, NULL, NULL), EVALUE_OK);
    assert_ptr_equal(v.string.data, wide + at + 5);
  }
}

/* Memory of size bytes with a page that nobody may touch directly before it, or directly after it. */
static guard_buffer fence(size_t size, bool before) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t used = (size + page - 1) / page * page;
  guard_buffer g = guard_new(page + used);
  if (mprotect(g.pages, page, PROT_NONE) != 0) abort();
  g.data = before ? g.pages + page : g.pages + page + used - size;
  return g;
}

/* The scratch is just as long as measure says, and so is the whole of its page in the second half. */
static void test_l2_scratch_of_the_measured_size(void **state) {
  (void)state;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  static uint8_t bytes[1 << 17];
  assert_true(page + 7 <= sizeof bytes);
  for (size_t i = 0; i < COUNT_OF(java_dtypes) * 4; i++) {
    const java_dtype *d = &java_dtypes[i / 4];
    const size_t numel = i % 4 < 2 ? 5 : page / d->width, size = 7 + numel * d->width;
    const int32_t sizes[] = {(int32_t)numel};
    input in = input_of("01");
    evalue v;
    uint64_t measured = 0, scratch_size = 1;
    add_tensor(&in, d, 1, sizes, 0);
    memcpy(bytes, in.bytes, in.size);
    for (size_t k = 0; k < size - 7; k++) bytes[7 + k] = data_byte(k - k % d->width + d->width - 1 - k % d->width);
    assert_int_equal(evalue_java_measure(bytes, size, NULL, &measured, &scratch_size, NULL), EVALUE_OK);
    assert_int_equal(measured, size);
    assert_int_equal(scratch_size, d->width == 1 ? 0 : size - 7);
    guard_buffer scratch = fence((size_t)scratch_size, i % 2 == 0), data = fence(size, i % 2 == 0);
    memcpy(data.data, bytes, size);
    assert_int_equal(evalue_java_decode(data.data, size, NULL, scratch.data, (size_t)scratch_size, &v, NULL, NULL),
                     EVALUE_OK);
    check_row_major(&v, d, 1, sizes, numel);
    assert_int_equal(evalue_java_decode_in_place(data.data, size, NULL, &v, NULL, NULL), EVALUE_OK);
    check_row_major(&v, d, 1, sizes, numel);
    guard_free(&scratch);
    guard_free(&data);
  }
}

static void test_h8_scratch_too_small(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(java_dtypes); i++) {
    const java_dtype *d = &java_dtypes[i];
    input in = input_of("01");
    uint8_t scratch[48];
    evalue v;
    evalue_error error;
    uint64_t used;
    add_tensor(&in, d, 2, two_by_three, 6);
    memset(scratch, UNTOUCHED, sizeof scratch);
    memset(&v, UNTOUCHED, sizeof v);
    memset(&used, UNTOUCHED, sizeof used);
    for (size_t capacity = 0; d->width > 1 && capacity < 6 * (size_t)d->width; capacity++) {
      void *memory = capacity == 0 ? NULL : scratch;
      assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, memory, capacity, &v, &used, &error),
                       EVALUE_NO_SPACE);
      check_error(&error, EVALUE_NO_SPACE, EVALUE_FAULT_MEMORY_SHORT, EVALUE_FIELD_NONE, 0);
      assert_int_equal(error.expected, 6 * d->width);
      assert_int_equal(error.found, capacity);
      check_untouched(scratch, sizeof scratch);
      check_untouched(&v, sizeof v);
      check_untouched(&used, sizeof used);
    }
    add_number(&in, 0, 1); /* what is wrong goes before what is too small */
    assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, NULL, 0, &v, &used, NULL), EVALUE_MALFORMED);
  }
}

/* ---- judging only, in place, bare ---- */

static void test_null_value_judges_only(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(java_dtypes); i++) {
    input in = input_of("01");
    uint8_t scratch[48];
    uint64_t used = 0;
    evalue_error error;
    memset(scratch, UNTOUCHED, sizeof scratch);
    memset(&error, UNTOUCHED, sizeof error);
    add_tensor(&in, &java_dtypes[i], 2, two_by_three, 6);
    assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, NULL, 0, NULL, &used, &error), EVALUE_OK);
    assert_int_equal(error.status, EVALUE_OK);
    assert_int_equal(used, in.size);
    assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, scratch, sizeof scratch, NULL, NULL, NULL), EVALUE_OK);
    assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, scratch, 1, NULL, NULL, NULL), EVALUE_OK);
    check_untouched(scratch, sizeof scratch);
  }
}

/* Only the elements change, not what follows the value. */
static void test_in_place(void **state) {
  (void)state;
  const evalue_java_options options = {.allow_trailing = 1};
  for (size_t i = 0; i < COUNT_OF(java_dtypes); i++) {
    const java_dtype *d = &java_dtypes[i];
    input in = input_of("01");
    evalue v;
    uint64_t used = 0;
    add_tensor(&in, d, 2, two_by_three, 6);
    const size_t size = in.size;
    add_hex(&in, "0102030405060708090a0b0c0d0e0f");
    const input before = in;
    assert_int_equal(evalue_java_decode_in_place(in.bytes, in.size, &options, &v, &used, NULL), EVALUE_OK);
    check_row_major(&v, d, 2, two_by_three, 6);
    assert_ptr_equal(v.tensor.data, in.bytes + 11);
    assert_int_equal(used, size);
    assert_memory_equal(in.bytes + size, before.bytes + size, in.size - size);
    if (d->width == 1) assert_memory_equal(in.bytes, before.bytes, size);
    in = before;
    assert_int_equal(evalue_java_decode_in_place(in.bytes + 1, size - 1, &bare, &v, &used, NULL), EVALUE_OK);
    check_row_major(&v, d, 2, two_by_three, 6);
    assert_int_equal(used, size - 1);
    assert_int_equal(in.bytes[0], 1);
  }
}

/* ---- measuring ---- */

/* From each number of bytes on, to the end of the head. What decode would say of the head, measure says. */
static void check_measure(const input *in, const evalue_java_options *options, size_t head_size, size_t scratch) {
  for (size_t size = 0; size <= in->size; size++) {
    guard_buffer guard = guard_put(in->bytes, size);
    uint64_t value_size, scratch_size;
    evalue_error error, decoded;
    memset(&value_size, UNTOUCHED, sizeof value_size);
    memset(&scratch_size, UNTOUCHED, sizeof scratch_size);
    memset(&error, UNTOUCHED, sizeof error);
    evalue_status status = evalue_java_measure(guard.data, size, options, &value_size, &scratch_size, &error);
    assert_int_equal(error.status, status);
    if (size < head_size) {
      assert_int_equal(status, EVALUE_TRUNCATED);
      assert_int_equal(evalue_java_decode(guard.data, size, options, NULL, 0, NULL, NULL, &decoded), status);
      assert_memory_equal(&error, &decoded, sizeof error);
      assert_true(error.needed > size && error.needed <= head_size);
      check_untouched(&value_size, sizeof value_size);
      check_untouched(&scratch_size, sizeof scratch_size);
    } else {
      assert_int_equal(status, EVALUE_OK);
      assert_int_equal(error.fault, EVALUE_FAULT_NONE);
      assert_int_equal(value_size, in->size);
      assert_int_equal(scratch_size, scratch);
    }
    assert_int_equal(evalue_java_measure(guard.data, size, options, &value_size, &scratch_size, NULL), status);
    guard_free(&guard);
  }
}

static void test_measure_from_the_head(void **state) {
  (void)state;
  static const struct {
    const char *hex;
    size_t head_size;
  } inputs[] = {{"00", 1},
                {"05 02", 1},
                {"04 0000000000000001", 1},
                {"03 0000000000000001", 1},
                {"02 00000000", 5},
                {"02 00000003 ffffff", 5}};
  for (size_t i = 0; i < COUNT_OF(inputs); i++) {
    const input in = input_of(inputs[i].hex);
    check_measure(&in, NULL, inputs[i].head_size, 0);
  }
  for (size_t i = 0; i < COUNT_OF(java_dtypes); i++) {
    const java_dtype *d = &java_dtypes[i];
    input in = input_of("01"), without = input_of("");
    add_tensor(&in, d, 2, two_by_three, 6);
    add_tensor(&without, d, 2, two_by_three, 6);
    check_measure(&in, NULL, 11, d->width == 1 ? 0 : 6 * (size_t)d->width);
    check_measure(&without, &bare, 10, d->width == 1 ? 0 : 6 * (size_t)d->width);
  }
}

/* A value that is the longest there may be, measured without it. */
static void test_measure_at_the_limit(void **state) {
  (void)state;
  uint64_t size = 0, scratch_size = 0;
  input in = input_of("01 00 01 7ffffff8");
  assert_int_equal(evalue_java_measure(in.bytes, in.size, NULL, &size, &scratch_size, NULL), EVALUE_OK);
  assert_int_equal(size, INT32_MAX);
  assert_int_equal(scratch_size, 0);
  in = input_of("01 06 02 00000002 0ffffffe");
  assert_int_equal(evalue_java_measure(in.bytes, in.size, NULL, &size, &scratch_size, NULL), EVALUE_OK);
  assert_int_equal(size, 0x7fffffff - 4);
  assert_int_equal(scratch_size, 0x7ffffff0);
  in = input_of("02 7ffffffa");
  assert_int_equal(evalue_java_measure(in.bytes, in.size, NULL, &size, &scratch_size, NULL), EVALUE_OK);
  assert_int_equal(size, INT32_MAX);
  assert_int_equal(scratch_size, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_none_and_bool),
      cmocka_unit_test(test_f5_ints_are_big_endian),
      cmocka_unit_test(test_f5_doubles_keep_every_bit),
      cmocka_unit_test(test_k1_strings_count_bytes),
      cmocka_unit_test(test_bytes_are_viewed_and_others_swapped),
      cmocka_unit_test(test_f5_elements_by_hand),
      cmocka_unit_test(test_e3_no_dimensions),
      cmocka_unit_test(test_e5_nothing),
      cmocka_unit_test(test_sixteen_dimensions),
      cmocka_unit_test(test_g3_any_address),
      cmocka_unit_test(test_l2_scratch_of_the_measured_size),
      cmocka_unit_test(test_h8_scratch_too_small),
      cmocka_unit_test(test_null_value_judges_only),
      cmocka_unit_test(test_in_place),
      cmocka_unit_test(test_measure_from_the_head),
      cmocka_unit_test(test_measure_at_the_limit),
  };
  return cmocka_run_group_tests_name("java_read", tests, NULL, NULL);
}
