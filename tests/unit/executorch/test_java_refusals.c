/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader of ExecuTorch's Android bytes refuses, at which byte, in which order; and what can be waived. */
#include "java_values.h"

/* ---- inputs that end too early or too late ---- */

/* Fields one after the other: count of them, of width bytes each. A group without fields ends the list. */
typedef struct group {
  uint16_t field, count, width;
} group;

enum { GROUPS = 5 };

typedef struct sample {
  const char *hex;
  uint32_t is_bare;
  group groups[GROUPS + 1];
} sample;

/* clang-format off */

#define TAG {EVALUE_FIELD_TAG, 1, 1}
#define LENGTH {EVALUE_FIELD_LENGTH, 1, 4}
#define TENSOR(ndim, nbytes) \
  {EVALUE_FIELD_SCALAR_TYPE, 1, 1}, {EVALUE_FIELD_NDIM, 1, 1}, {EVALUE_FIELD_SIZE, ndim, 4}, \
  {EVALUE_FIELD_DATA, 1, nbytes}
#define ONES "00000001 00000001 00000001 00000001 00000001"

static const sample samples[] = {
    {"00",                                            0, {TAG}},
    {"05 01",                                         0, {TAG, {EVALUE_FIELD_BOOL, 1, 1}}},
    {"04 0102030405060708",                           0, {TAG, {EVALUE_FIELD_INT, 1, 8}}},
    {"03 3ff8000000000000",                           0, {TAG, {EVALUE_FIELD_DOUBLE, 1, 8}}},
    {"02 00000000",                                   0, {TAG, LENGTH}},
    {"02 00000003 68c3a9",                            0, {TAG, LENGTH, {EVALUE_FIELD_STRING, 1, 3}}},
    {"02 0000000c 6f72672e 7079746f 7263682e",        0, {TAG, LENGTH, {EVALUE_FIELD_STRING, 1, 12}}},
    {"01 06 02 00000001 00000002 3f800000 40000000",  0, {TAG, TENSOR(2, 8)}},
    {"01 07 00 3ff8000000000000",                     0, {TAG, TENSOR(0, 8)}},
    {"01 00 01 00000003 ff0080",                      0, {TAG, TENSOR(1, 3)}},
    {"01 05 02 00000001 00000001 3c00",               0, {TAG, TENSOR(2, 2)}},
    {"01 04 02 00000000 00000003",                    0, {TAG, TENSOR(2, 0)}},
    {"01 03 10 00000001 " ONES ONES ONES "01020304",  0, {TAG, TENSOR(16, 4)}},
    {"06 02 00000001 00000002 3f800000 40000000",     1, {TENSOR(2, 8)}},
    {"01 00 05",                                      1, {TENSOR(0, 1)}},
};

/* clang-format on */

static evalue_java_options options_of(const sample *s) {
  return (evalue_java_options){.bare_tensor = s->is_bare};
}

/* The number of bytes before the field that ends behind the first `size`; *needed is the end of its group. */
static size_t find_field(const sample *s, size_t size, evalue_field *field, size_t *needed) {
  size_t start = 0;
  for (const group *g = s->groups; g->field != EVALUE_FIELD_NONE; g++) {
    size_t end = start + (size_t)g->count * g->width;
    if (size < end) {
      *field = (evalue_field)g->field;
      *needed = end;
      return size - (size - start) % g->width;
    }
    start = end;
  }
  return SIZE_MAX;
}

static void test_b9_every_prefix(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(samples); i++) {
    const evalue_java_options options = options_of(&samples[i]);
    const input whole = input_of(samples[i].hex);
    for (size_t size = 0; size < whole.size; size++) {
      evalue_field field = EVALUE_FIELD_NONE;
      size_t needed = 0, position = find_field(&samples[i], size, &field, &needed);
      input in = whole;
      in.size = size;
      const evalue_error e = refusal_of(&in, &options);
      const bool is_empty = field == EVALUE_FIELD_TAG;
      check_error(&e, EVALUE_TRUNCATED, is_empty ? EVALUE_FAULT_NO_VALUE : EVALUE_FAULT_FIELD_SHORT, field, position);
      assert_int_equal(e.needed, needed);
      if (!is_empty) {
        assert_int_equal(e.expected, needed);
        assert_int_equal(e.found, size);
      }
    }
  }
}

/* Who brings as many bytes as are needed, each time, reads the value in the end: as many times as there are groups. */
static void test_needed_leads_to_the_value(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(samples); i++) {
    const evalue_java_options options = options_of(&samples[i]);
    const input whole = input_of(samples[i].hex);
    evalue_error e;
    uint64_t used = 0, size = 0;
    int steps = 0;
    for (;;) {
      guard_buffer guard = guard_put(whole.bytes, (size_t)size);
      evalue_status status = evalue_java_decode(guard.data, (size_t)size, &options, NULL, 0, NULL, &used, &e);
      guard_free(&guard);
      if (status == EVALUE_OK) break;
      assert_int_equal(status, EVALUE_TRUNCATED);
      assert_true(e.needed > size && e.needed <= whole.size);
      size = e.needed;
      steps++;
    }
    assert_true(steps <= GROUPS);
    assert_int_equal(used, whole.size);
  }
}

/* A good input, and bytes behind it, whatever they are. */
static void test_k5_trailing_bytes(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(samples); i++) {
    const evalue_java_options options = options_of(&samples[i]);
    for (size_t more = 1; more <= 9; more++) {
      input in = input_of(samples[i].hex);
      const size_t end = in.size;
      for (size_t k = 0; k < more; k++) add_number(&in, more == 1 ? 0 : 0xff, 1);
      const evalue_error e = refusal_of(&in, &options);
      check_error(&e, EVALUE_MALFORMED, EVALUE_FAULT_TRAILING_BYTES, EVALUE_FIELD_TRAILING, end);
      assert_int_equal(e.expected, end);
      assert_int_equal(e.found, end + more);
    }
  }
}

/* The number that says a length, one too large or one too small: the input is too short, or too long. */
static void test_lengths_wrong_by_one(void **state) {
  (void)state;
  static const struct {
    const char *hex;
    uint64_t needed, position; /* needed is 0 when bytes are left */
  } inputs[] = {
      {"02 00000004 68c3a9", 9, 5},
      {"02 00000001 68c3", 0, 6},
      {"02 00000001", 6, 5},
      {"01 06 02 00000001 00000003 3f800000 40000000", 23, 11},
      {"01 06 02 00000002 00000002 3f800000 40000000", 27, 11},
      {"01 06 02 00000001 00000001 3f800000 40000000", 0, 15},
      {"01 06 02 00000000 00000002 3f800000 40000000", 0, 11},
      {"01 00 01 00000004 ff0080", 11, 7},
      {"01 00 01 00000002 ff0080", 0, 9},
      {"01 04 02 00000001 00000003", 35, 11},
      {"01 06 01 00000002 00000003", 15, 7}, /* a dimension less: 2 elements, of which 1 is there */
      {"01 07 01 00000001 3f800000", 15, 7}, /* a type twice as wide */
      {"01 05 01 00000001 3f800000", 0, 9},  /* and half as wide */
      {"04 00000000000000", 9, 1},
      {"03 00000000000000 00 00", 0, 9},
  };
  for (size_t i = 0; i < COUNT_OF(inputs); i++) {
    const input in = input_of(inputs[i].hex);
    const evalue_error e = refusal_of(&in, NULL);
    if (inputs[i].needed == 0) {
      check_error(&e, EVALUE_MALFORMED, EVALUE_FAULT_TRAILING_BYTES, EVALUE_FIELD_TRAILING, inputs[i].position);
    } else {
      assert_int_equal(e.fault, EVALUE_FAULT_FIELD_SHORT);
      assert_int_equal(e.position, inputs[i].position);
      assert_int_equal(e.needed, inputs[i].needed);
    }
  }
}

/* Upstream drops an element that is incomplete, and writes zeros in place of missing ones. */
static void test_k4_incomplete_elements(void **state) {
  (void)state;
  for (size_t nbytes = 0; nbytes <= 8; nbytes++) {
    input in = input_of("01 06 01 00000001");
    for (size_t i = 0; i < nbytes; i++) add_number(&in, 0x40, 1);
    if (nbytes == 4) continue;
    if (nbytes < 4) check_refused(&in, NULL, EVALUE_TRUNCATED, EVALUE_FAULT_FIELD_SHORT, EVALUE_FIELD_DATA, 7);
    else check_refused(&in, NULL, EVALUE_MALFORMED, EVALUE_FAULT_TRAILING_BYTES, EVALUE_FIELD_TRAILING, 11);
  }
}

/* ---- single fields ---- */

static void test_unknown_tags(void **state) {
  (void)state;
  for (uint32_t tag = 6; tag < 256; tag++) {
    input in = {.size = 0};
    add_number(&in, tag, 1);
    const evalue_error e = refusal_of(&in, NULL);
    check_error(&e, EVALUE_UNSUPPORTED, EVALUE_FAULT_UNKNOWN_JAVA_TAG, EVALUE_FIELD_TAG, 0);
    assert_int_equal(e.found, tag);
    assert_int_equal(e.expected, 5);
  }
}

static void test_d5_bool_is_0_or_1(void **state) {
  (void)state;
  const evalue_java_options any = {.allow_any_bool = 1};
  for (uint32_t byte = 2; byte < 256; byte++) {
    input in = input_of("05");
    evalue v;
    add_number(&in, byte, 1);
    const evalue_error e = refusal_of(&in, NULL);
    check_error(&e, EVALUE_MALFORMED, EVALUE_FAULT_BAD_BOOL, EVALUE_FIELD_BOOL, 1);
    assert_int_equal(e.found, byte);
    assert_int_equal(evalue_java_decode(in.bytes, in.size, &any, NULL, 0, &v, NULL, NULL), EVALUE_OK);
    assert_int_equal(v.bool_value, 1);
    assert_int_equal(evalue_check(&v), EVALUE_OK);
  }
}

static void test_k3_ndim(void **state) {
  (void)state;
  for (uint32_t ndim = 17; ndim < 256; ndim++) {
    input in = input_of("01 00");
    add_number(&in, ndim, 1);
    const evalue_error e = refusal_of(&in, NULL);
    check_error(&e, EVALUE_MALFORMED, EVALUE_FAULT_NDIM_TOO_LARGE, EVALUE_FIELD_NDIM, 2);
    assert_int_equal(e.found, ndim);
    assert_int_equal(e.expected, 16);
    for (uint32_t i = 0; i < ndim; i++) add_number(&in, 1, i < 200 ? 4 : 1);
    check_refused(&in, NULL, EVALUE_MALFORMED, EVALUE_FAULT_NDIM_TOO_LARGE, EVALUE_FIELD_NDIM, 2);
  }
}

/* All that is wrong with numbers, and at which one; what is not judged yet may be missing. */
static void test_a6_sizes_and_lengths(void **state) {
  (void)state;
  static const struct {
    const char *hex;
    int status, fault, field;
    uint64_t position, found;
  } inputs[] = {
#define CASE(hex, status, fault, field, position, found)                                                               \
  {hex, EVALUE_##status, EVALUE_FAULT_##fault, EVALUE_FIELD_##field, position, found}
      CASE("01 00 02 00010000 00010000", LIMIT, JAVA_TOO_LONG, DATA, 11, (UINT64_C(1) << 32) + 11),
      CASE("01 00 02 00010000 00008000", LIMIT, JAVA_TOO_LONG, DATA, 11, (UINT64_C(1) << 31) + 11),
      CASE("01 00 01 7ffffff9", LIMIT, JAVA_TOO_LONG, DATA, 7, UINT64_C(0x80000000)),
      CASE("01 03 02 00010000 00010000", LIMIT, JAVA_TOO_LONG, DATA, 11, (UINT64_C(1) << 34) + 11),
      CASE("01 07 01 10000000", LIMIT, JAVA_TOO_LONG, DATA, 7, UINT64_C(0x80000007)),
      CASE("01 00 02 7fffffff 7fffffff", LIMIT, JAVA_TOO_LONG, DATA, 11, UINT64_C(0x3fffffff00000001) + 11),
      CASE("01 05 02 7fffffff 7fffffff", MALFORMED, EXTENT_TOO_LARGE, SIZE, 7, INT32_MAX),
      CASE("01 00 03 7fffffff 7fffffff 00000002", MALFORMED, EXTENT_TOO_LARGE, SIZE, 11, 2),
      CASE("01 00 04 00000000 7fffffff 7fffffff 00000002", MALFORMED, EXTENT_TOO_LARGE, SIZE, 15, 2),
      CASE("01 04 02 40000000 20000000 00000000", MALFORMED, EXTENT_TOO_LARGE, SIZE, 7, 0x20000000),
      CASE("01 04 04 00010000 00010000 00010000 00010000", MALFORMED, EXTENT_TOO_LARGE, SIZE, 15, 65536),
      CASE("01 03 02 00000000 80000000", MALFORMED, NEGATIVE_SIZE, SIZE, 7, UINT64_C(0xffffffff80000000)),
      CASE("01 03 02 ffffffff 80000000", MALFORMED, NEGATIVE_SIZE, SIZE, 3, UINT64_MAX),
      CASE("01 03 02 ffffffff", MALFORMED, NEGATIVE_SIZE, SIZE, 3, UINT64_MAX),
      CASE("02 80000000", MALFORMED, NEGATIVE_LENGTH, LENGTH, 1, UINT64_C(0xffffffff80000000)),
      CASE("02 ffffffff", MALFORMED, NEGATIVE_LENGTH, LENGTH, 1, UINT64_MAX),
      CASE("02 7fffffff", LIMIT, JAVA_TOO_LONG, LENGTH, 1, UINT64_C(0x80000004)),
      CASE("02 7ffffffb", LIMIT, JAVA_TOO_LONG, LENGTH, 1, UINT64_C(0x80000000)),
#undef CASE
  };
  for (size_t i = 0; i < COUNT_OF(inputs); i++) {
    const input in = input_of(inputs[i].hex);
    const evalue_error e = refusal_of(&in, NULL);
    uint64_t size = 7, scratch_size = 7;
    evalue_error measured;
    check_error(&e, (evalue_status)inputs[i].status, (evalue_fault)inputs[i].fault, (evalue_field)inputs[i].field,
                inputs[i].position);
    assert_true(e.found == inputs[i].found);
    if (inputs[i].status == EVALUE_LIMIT) assert_int_equal(e.expected, INT32_MAX);
    assert_int_equal(evalue_java_measure(in.bytes, in.size, NULL, &size, &scratch_size, &measured), e.status);
    assert_memory_equal(&measured, &e, sizeof e);
    assert_true(size == 7 && scratch_size == 7);
  }
}

/* One less of each, and it is just that the rest is not there. */
static void test_a6_the_largest_that_is_allowed(void **state) {
  (void)state;
  static const struct {
    const char *hex;
    uint64_t needed;
  } inputs[] = {{"01 00 01 7ffffff8", INT32_MAX},
                {"01 07 01 0fffffff", 0x7fffffff},
                {"02 7ffffffa", INT32_MAX},
                {"01 01 02 0000ffff 00008000", 0x7fff8000 + 11},
                {"01 05 01 3ffffffc", 0x7fffffff}};
  for (size_t i = 0; i < COUNT_OF(inputs); i++) {
    const input in = input_of(inputs[i].hex);
    const evalue_error e = refusal_of(&in, NULL);
    assert_int_equal(e.fault, EVALUE_FAULT_FIELD_SHORT);
    assert_int_equal(e.needed, inputs[i].needed);
    assert_int_equal(e.position, in.size);
  }
}

/* ---- text ---- */

static const struct {
  const char *bytes; /* ill-formed after the first good ones */
  size_t good;
} ill_formed[] = {
    {"\xff", 0},
    {"\x80", 0},
    {"\xc0\x80", 0},
    {"\xc1\xbf", 0},
    {"\xe0\x9f\xbf", 0},
    {"\xed\xa0\x80", 0},
    {"\xed\xbf\xbf", 0},
    {"\xf0\x8f\xbf\xbf", 0},
    {"\xf4\x90\x80\x80", 0},
    {"\xf5\x80\x80\x80", 0},
    {"\xc3", 0},
    {"\xc3(", 0},
    {"\xe2\x82", 0},
    {"\xe2\x82(", 0},
    {"\xf0\x9f\x98", 0},
    {"h\xc3\xa9\xc3", 3},
    {"\xf0\x9f\x98\x80\xed\xa0\xbd", 4},
};

static void test_k6_ill_formed_text(void **state) {
  (void)state;
  const evalue_java_options any = {.allow_any_text = 1};
  for (size_t i = 0; i < COUNT_OF(ill_formed); i++) {
    for (size_t before = 0; before <= 17; before++) {
      for (size_t after = 0; after <= 17; after += 17) {
        const size_t length = before + strlen(ill_formed[i].bytes) + after;
        input in = input_of("02");
        evalue v;
        add_number(&in, length, 4);
        for (size_t k = 0; k < before; k++) add_number(&in, 'a', 1);
        add_text(&in, ill_formed[i].bytes);
        for (size_t k = 0; k < after; k++) add_number(&in, 'z', 1);
        const evalue_error e = refusal_of(&in, NULL);
        const size_t bad = 5 + before + ill_formed[i].good;
        check_error(&e, EVALUE_MALFORMED, EVALUE_FAULT_BAD_UTF8, EVALUE_FIELD_STRING, bad);
        assert_int_equal(e.found, in.bytes[bad]);
        assert_int_equal(evalue_java_decode(in.bytes, in.size, &any, NULL, 0, &v, NULL, NULL), EVALUE_OK);
        assert_ptr_equal(v.string.data, in.bytes + 5);
        assert_int_equal(v.string.nbytes, length);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_b9_every_prefix),        cmocka_unit_test(test_needed_leads_to_the_value),
      cmocka_unit_test(test_k5_trailing_bytes),      cmocka_unit_test(test_lengths_wrong_by_one),
      cmocka_unit_test(test_k4_incomplete_elements), cmocka_unit_test(test_unknown_tags),
      cmocka_unit_test(test_d5_bool_is_0_or_1),      cmocka_unit_test(test_k3_ndim),
      cmocka_unit_test(test_a6_sizes_and_lengths),   cmocka_unit_test(test_a6_the_largest_that_is_allowed),
      cmocka_unit_test(test_k6_ill_formed_text),
  };
  return cmocka_run_group_tests_name("java_refusals", tests, NULL, NULL);
}
