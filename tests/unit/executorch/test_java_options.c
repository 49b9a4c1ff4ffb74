/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader of ExecuTorch's Android bytes is told: the release, what is waived; the order of its judgement, and
 * arguments that make no sense. */
#include "java_values.h"

/* ---- releases ---- */

static void test_release_names(void **state) {
  (void)state;
  static const char *const names[] = {"any", "0.5", "0.6", "0.7", "1.0", "1.1", "1.2", "1.3", "1.4"};
  for (uint32_t release = 0; release <= LAST_RELEASE; release++) {
    assert_string_equal(evalue_java_release_name(release), names[release]);
  }
  assert_int_equal(LAST_RELEASE, COUNT_OF(names) - 1);
  assert_null(evalue_java_release_name(LAST_RELEASE + 1));
  assert_null(evalue_java_release_name(UINT32_MAX));
}

/* The same bytes mean something to one release and nothing to another: never something else. */
static void test_d8_dtypes_by_release(void **state) {
  (void)state;
  for (uint32_t release = 0; release <= LAST_RELEASE; release++) {
    const evalue_java_options options = {.release = release};
    for (uint32_t code = 0; code < 256; code++) {
      const java_dtype *d = NULL;
      for (size_t i = 0; i < COUNT_OF(java_dtypes); i++) {
        if (java_dtypes[i].code == code && release_has(release, java_dtypes[i].since)) d = &java_dtypes[i];
      }
      input in = input_of("01");
      if (d != NULL) {
        uint8_t scratch[8];
        evalue v;
        add_tensor(&in, d, 0, NULL, 1);
        assert_int_equal(evalue_java_decode(in.bytes, in.size, &options, scratch, 8, &v, NULL, NULL), EVALUE_OK);
        check_row_major(&v, d, 0, NULL, 1);
      } else {
        add_number(&in, code, 1);
        const evalue_error e = refusal_of(&in, &options);
        check_error(&e, EVALUE_UNSUPPORTED, EVALUE_FAULT_UNKNOWN_DTYPE, EVALUE_FIELD_SCALAR_TYPE, 1);
        assert_int_equal(e.found, code);
        assert_int_equal(e.expected, release);
      }
    }
  }
}

static void test_k1_strings_by_release(void **state) {
  (void)state;
  const input in = input_of("02 00000003 68c3a9"), tag = input_of("02");
  for (uint32_t release = 0; release <= LAST_RELEASE; release++) {
    const evalue_java_options options = {.release = release};
    if (release_has(release, EVALUE_JAVA_1_2)) {
      evalue v;
      assert_int_equal(evalue_java_decode(in.bytes, in.size, &options, NULL, 0, &v, NULL, NULL), EVALUE_OK);
      assert_memory_equal(v.string.data, "h\xc3\xa9", 3);
      check_refused(&tag, &options, EVALUE_TRUNCATED, EVALUE_FAULT_FIELD_SHORT, EVALUE_FIELD_LENGTH, 1);
    } else {
      const evalue_error e = refusal_of(&in, &options);
      check_error(&e, EVALUE_UNSUPPORTED, EVALUE_FAULT_STRING_BEFORE_1_2, EVALUE_FIELD_TAG, 0);
      assert_int_equal(e.expected, release);
      check_refused(&tag, &options, EVALUE_UNSUPPORTED, EVALUE_FAULT_STRING_BEFORE_1_2, EVALUE_FIELD_TAG, 0);
    }
  }
}

/* What Java made of a String before 1.2, with its class's whole name or the one that shrinking left. */
static void test_k1_strings_before_1_2_are_recognised(void **state) {
  (void)state;
  static const char *const texts[] = {"org.pytorch.executorch.EValue@8bcc55f", "EValue@8bcc55f"};
  static const uint64_t needed[] = {0x6f72672e + UINT64_C(5), 0x4556616c + UINT64_C(5)};
  const evalue_java_options any = {.allow_any_text = 1, .allow_trailing = 1, .release = EVALUE_JAVA_1_4};
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    const size_t name = (size_t)(strchr(texts[i], '@') - texts[i]) + 1;
    input in = input_of("02");
    add_text(&in, texts[i]);
    for (size_t size = in.size; size >= 5; size--) {
      in.size = size;
      if (size >= 1 + name) {
        check_refused(&in, NULL, EVALUE_UNSUPPORTED, EVALUE_FAULT_STRING_BEFORE_1_2, EVALUE_FIELD_LENGTH, 1);
        check_refused(&in, &any, EVALUE_UNSUPPORTED, EVALUE_FAULT_STRING_BEFORE_1_2, EVALUE_FIELD_LENGTH, 1);
      } else {
        const evalue_error e = refusal_of(&in, NULL);
        check_error(&e, EVALUE_TRUNCATED, EVALUE_FAULT_FIELD_SHORT, EVALUE_FIELD_STRING, 5);
        assert_int_equal(e.needed, needed[i]);
      }
    }
    for (size_t k = 1; k <= name; k++) { /* another letter, and it is not that text */
      in.size = 1;
      add_text(&in, texts[i]);
      in.bytes[k]++;
      const evalue_error e = refusal_of(&in, NULL);
      check_error(&e, EVALUE_TRUNCATED, EVALUE_FAULT_FIELD_SHORT, EVALUE_FIELD_STRING, 5);
    }
  }
}

/* ---- waivers ---- */

enum { WAIVERS = 3 };

static evalue_java_options waiving(uint32_t bits) {
  return (evalue_java_options){
      .allow_trailing = bits & 1, .allow_any_bool = bits >> 1 & 1, .allow_any_text = bits >> 2 & 1};
}

/* Inputs that break one rule, and those that break trailing and another: every set of waivers against each. */
static void test_each_waiver_by_itself(void **state) {
  (void)state;
  static const struct {
    const char *hex;
    uint32_t broken; /* the rules, as bits */
    uint64_t used;
  } inputs[] = {{"04 0000000000000007 00", 1, 9},
                {"00 00", 1, 1},
                {"05 01 05", 1, 2},
                {"02 00000001 61 61", 1, 6},
                {"01 00 00 07 07", 1, 4},
                {"01 06 01 00000000 00", 1, 7},
                {"05 02", 2, 2},
                {"05 ff ff", 3, 2},
                {"02 00000001 ff", 4, 6},
                {"02 00000002 61c3 a9", 5, 7}};
  for (size_t i = 0; i < COUNT_OF(inputs); i++) {
    const input in = input_of(inputs[i].hex);
    for (uint32_t bits = 0; bits < 1U << WAIVERS; bits++) {
      const evalue_java_options options = waiving(bits);
      const uint32_t left = inputs[i].broken & ~bits;
      uint64_t used = 0, size = 0, scratch_size;
      evalue v;
      assert_int_equal(evalue_java_measure(in.bytes, in.size, &options, &size, &scratch_size, NULL), EVALUE_OK);
      assert_int_equal(size, inputs[i].used);
      if (left == 0) {
        assert_int_equal(evalue_java_decode(in.bytes, in.size, &options, NULL, 0, &v, &used, NULL), EVALUE_OK);
        assert_int_equal(used, inputs[i].used);
        assert_int_equal(evalue_java_decode(in.bytes, in.size, &options, NULL, 0, NULL, &used, NULL), EVALUE_OK);
        assert_int_equal(used, inputs[i].used);
      } else {
        const evalue_error e = refusal_of(&in, &options);
        assert_int_equal(e.fault, left & 2   ? EVALUE_FAULT_BAD_BOOL
                                  : left & 4 ? EVALUE_FAULT_BAD_UTF8
                                             : EVALUE_FAULT_TRAILING_BYTES);
      }
    }
  }
}

/* A value directly after another: each is read where the one before it ended. */
static void test_trailing_values_one_after_the_other(void **state) {
  (void)state;
  static const uint8_t tags[] = {EVALUE_TAG_INT, EVALUE_TAG_TENSOR, EVALUE_TAG_STRING, EVALUE_TAG_NONE,
                                 EVALUE_TAG_BOOL};
  const evalue_java_options options = {.allow_trailing = 1};
  input in = input_of("04 0000000000000001 01 05 01 00000002 3c00 4000 02 00000001 61 00 05 01");
  size_t position = 0;
  for (size_t i = 0; i < COUNT_OF(tags); i++) {
    evalue v;
    uint64_t used = 0;
    assert_int_equal(evalue_java_decode_in_place(in.bytes + position, in.size - position, &options, &v, &used, NULL),
                     EVALUE_OK);
    assert_int_equal(v.tag, tags[i]);
    position += (size_t)used;
  }
  assert_int_equal(position, in.size);
}

/* ---- the order of judgement ---- */

/* Inputs with more than one fault: the first field that is wrong is the one that is told, whatever comes later. */
static void test_first_fault_first(void **state) {
  (void)state;
  static const struct {
    const char *hex;
    uint32_t release;
    int fault;
    uint64_t position;
  } inputs[] = {
      {"06 ff", 0, EVALUE_FAULT_UNKNOWN_JAVA_TAG, 0},
      {"02 ffffffff", EVALUE_JAVA_1_1, EVALUE_FAULT_STRING_BEFORE_1_2, 0},
      {"05 02 00", 0, EVALUE_FAULT_BAD_BOOL, 1},
      {"02 ffffff", 0, EVALUE_FAULT_FIELD_SHORT, 1},
      {"02 80000000 ff", 0, EVALUE_FAULT_NEGATIVE_LENGTH, 1},
      {"02 7ffffffb ff", 0, EVALUE_FAULT_JAVA_TOO_LONG, 1},
      {"02 00000002 ff", 0, EVALUE_FAULT_FIELD_SHORT, 5}, /* short before ill-formed */
      {"02 00000001 ff 00", 0, EVALUE_FAULT_BAD_UTF8, 5}, /* ill-formed before trailing */
      {"01 02 ff", 0, EVALUE_FAULT_UNKNOWN_DTYPE, 1},
      {"01 05 11 80000000", EVALUE_JAVA_1_0, EVALUE_FAULT_UNKNOWN_DTYPE, 1},
      {"01 00 11 80000000", 0, EVALUE_FAULT_NDIM_TOO_LARGE, 2},
      {"01 00 02 ffffffff 80", 0, EVALUE_FAULT_NEGATIVE_SIZE, 3}, /* wrong before the next is short */
      {"01 00 02 00000001 80", 0, EVALUE_FAULT_FIELD_SHORT, 7},
      {"01 07 03 7fffffff 7fffffff ffffffff", 0, EVALUE_FAULT_EXTENT_TOO_LARGE, 7},
      {"01 07 03 7fffffff ffffffff 7fffffff", 0, EVALUE_FAULT_NEGATIVE_SIZE, 7},
      {"01 07 03 7fffffff 00000000 7fffffff", 0, EVALUE_FAULT_EXTENT_TOO_LARGE, 11},
      {"01 07 03 7fffffff 00000001 ffffffff", 0, EVALUE_FAULT_NEGATIVE_SIZE, 11}, /* sizes before the whole */
      {"01 07 02 7fffffff 00000001 00", 0, EVALUE_FAULT_JAVA_TOO_LONG, 11},       /* the whole before the data */
  };
  for (size_t i = 0; i < COUNT_OF(inputs); i++) {
    const evalue_java_options options = {.release = inputs[i].release};
    const input in = input_of(inputs[i].hex);
    const evalue_error e = refusal_of(&in, &options);
    if (e.fault != inputs[i].fault) fail_msg("%s: %s", inputs[i].hex, evalue_fault_name(e.fault));
    assert_int_equal(e.position, inputs[i].position);
  }
}

/* Positions and sizes of a bare tensor count from its scalar type; it has no tag that could be missing. */
static void test_bare_positions(void **state) {
  (void)state;
  static const struct {
    const char *hex;
    int fault;
    uint64_t position, needed;
  } inputs[] = {
      {"", EVALUE_FAULT_FIELD_SHORT, 0, 1},
      {"06", EVALUE_FAULT_FIELD_SHORT, 1, 2},
      {"02", EVALUE_FAULT_UNKNOWN_DTYPE, 0, 0},
      {"06 11", EVALUE_FAULT_NDIM_TOO_LARGE, 1, 0},
      {"06 01 ffffffff", EVALUE_FAULT_NEGATIVE_SIZE, 2, 0},
      {"06 02 7fffffff 7fffffff", EVALUE_FAULT_EXTENT_TOO_LARGE, 6, 0},
      {"00 01 7ffffffa", EVALUE_FAULT_JAVA_TOO_LONG, 6, 0},
      {"00 01 7ffffff9", EVALUE_FAULT_FIELD_SHORT, 6, INT32_MAX},
      {"06 01 00000001 000000", EVALUE_FAULT_FIELD_SHORT, 6, 10},
      {"06 01 00000001 00000000 00", EVALUE_FAULT_TRAILING_BYTES, 10, 0},
  };
  const evalue_java_options bare = {.bare_tensor = 1};
  for (size_t i = 0; i < COUNT_OF(inputs); i++) {
    const input in = input_of(inputs[i].hex);
    const evalue_error e = refusal_of(&in, &bare);
    assert_int_equal(e.fault, inputs[i].fault);
    assert_int_equal(e.position, inputs[i].position);
    assert_int_equal(e.needed, inputs[i].needed);
  }
}

/* The wire format's own bytes, which are little-endian, with lengths: no value comes out of them. */
static void test_f5_other_format_is_refused(void **state) {
  (void)state;
  static const int32_t two = 2;
  uint8_t data[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  evalue values[] = {evalue_from_none(),          evalue_from_bool(true), evalue_from_int(1), evalue_from_double(1.5),
                     evalue_from_string("ab", 2), evalue_from_none(),     evalue_from_none()};
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT32, 1, &two, data, 8), EVALUE_OK);
  values[5] = evalue_from_tensor(&t);
  assert_int_equal(evalue_tensor_init(&t, EVALUE_INT64, 0, NULL, data, 8), EVALUE_OK);
  values[6] = evalue_from_tensor(&t);
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    input in;
    uint64_t size = 0;
    assert_int_equal(evalue_message_encode(&values[i], 1, 16, in.bytes, sizeof in.bytes, &size), EVALUE_OK);
    in.size = (size_t)size;
    check_refused(&in, NULL, EVALUE_UNSUPPORTED, EVALUE_FAULT_UNKNOWN_JAVA_TAG, EVALUE_FIELD_TAG, 0);
    assert_int_equal(evalue_sequence_encode(&values[i], 1, in.bytes, sizeof in.bytes, &size), EVALUE_OK);
    in.size = (size_t)size;
    refusal_of(&in, NULL);
  }
}

/* ---- misuse ---- */

static void check_misuse(const input *in, const evalue_java_options *options) {
  uint64_t size = 7, scratch_size = 7;
  evalue_error error;
  check_refused(in, options, EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
  assert_int_equal(evalue_java_measure(in->bytes, in->size, options, &size, &scratch_size, &error), EVALUE_MISUSE);
  check_error(&error, EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
  assert_true(size == 7 && scratch_size == 7);
}

static void test_options_that_make_no_sense(void **state) {
  (void)state;
  static const uint32_t sizes[] = {
      1, sizeof(evalue_java_options) - 1, sizeof(evalue_java_options) + 1, 2 * 24, 256, UINT32_MAX};
  const input inputs[] = {input_of("04 0000000000000001"), input_of("01 06 01 00000001 3f800000"), input_of("ff"),
                          input_of("")};
  for (size_t i = 0; i < COUNT_OF(inputs); i++) {
    evalue_java_options options = {.release = LAST_RELEASE + 1};
    check_misuse(&inputs[i], &options);
    options.release = UINT32_MAX;
    check_misuse(&inputs[i], &options);
    options.release = 256 + EVALUE_JAVA_1_2;
    check_misuse(&inputs[i], &options);
    for (size_t k = 0; k < COUNT_OF(sizes); k++) {
      options = (evalue_java_options){.size = sizes[k]};
      check_misuse(&inputs[i], &options);
    }
  }
  evalue v;
  const evalue_java_options good = {.size = sizeof good};
  assert_int_equal(evalue_java_decode(inputs[0].bytes, inputs[0].size, &good, NULL, 0, &v, NULL, NULL), EVALUE_OK);
  assert_true(v.int_value == 1);
}

static void test_null_is_misuse(void **state) {
  (void)state;
  input in = input_of("01 06 01 00000001 3f800000");
  const input before = in;
  uint64_t used = 7, size = 7;
  evalue_error e;
  evalue v;
  memset(&v, UNTOUCHED, sizeof v);
  assert_int_equal(evalue_java_decode(NULL, 1, NULL, NULL, 0, &v, &used, &e), EVALUE_MISUSE);
  check_error(&e, EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
  assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, NULL, 4, &v, &used, &e), EVALUE_MISUSE);
  check_error(&e, EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
  assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, NULL, 1, NULL, &used, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_java_decode(in.bytes, 1, NULL, NULL, 4, &v, &used, &e), EVALUE_MISUSE);
  check_error(&e, EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
  assert_int_equal(evalue_java_decode_in_place(NULL, 1, NULL, &v, &used, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_java_decode_in_place(in.bytes, in.size, NULL, NULL, &used, &e), EVALUE_MISUSE);
  check_error(&e, EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
  assert_int_equal(evalue_java_measure(NULL, 1, NULL, &used, &size, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_java_measure(in.bytes, in.size, NULL, NULL, &size, &e), EVALUE_MISUSE);
  check_error(&e, EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0);
  assert_int_equal(evalue_java_measure(in.bytes, in.size, NULL, &used, NULL, NULL), EVALUE_MISUSE);
  assert_true(used == 7 && size == 7);
  check_untouched(&v, sizeof v);
  assert_memory_equal(in.bytes, before.bytes, in.size);
  assert_int_equal(evalue_java_decode(NULL, 0, NULL, NULL, 0, &v, NULL, &e), EVALUE_TRUNCATED); /* just no bytes */
  assert_int_equal(e.needed, 1);
  assert_int_equal(evalue_java_decode_in_place(NULL, 0, NULL, &v, NULL, NULL), EVALUE_TRUNCATED);
  assert_int_equal(evalue_java_measure(NULL, 0, NULL, &used, &size, NULL), EVALUE_TRUNCATED);
}

/* A call that failed leaves nothing behind for the next one, with the same memory. */
static void test_l4_a_good_call_after_failed_ones(void **state) {
  (void)state;
  const java_dtype *d = &java_dtypes[3];
  static const int32_t two = 2;
  input in = input_of("01");
  uint8_t scratch[16];
  evalue v;
  evalue_error e;
  uint64_t used = 0;
  add_tensor(&in, d, 1, &two, 2);
  for (size_t size = 0; size < in.size; size++) {
    assert_int_equal(evalue_java_decode(in.bytes, size, NULL, scratch, 16, &v, &used, &e), EVALUE_TRUNCATED);
    assert_int_equal(evalue_java_decode_in_place(in.bytes, size, NULL, &v, &used, &e), EVALUE_TRUNCATED);
  }
  assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, scratch, 15, &v, &used, &e), EVALUE_NO_SPACE);
  assert_int_equal(evalue_java_decode(in.bytes, in.size, NULL, scratch, 16, &v, &used, &e), EVALUE_OK);
  const evalue_error none = {0};
  assert_memory_equal(&e, &none, sizeof e);
  check_row_major(&v, d, 1, &two, 2);
  assert_int_equal(used, in.size);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_release_names),
      cmocka_unit_test(test_d8_dtypes_by_release),
      cmocka_unit_test(test_k1_strings_by_release),
      cmocka_unit_test(test_k1_strings_before_1_2_are_recognised),
      cmocka_unit_test(test_each_waiver_by_itself),
      cmocka_unit_test(test_trailing_values_one_after_the_other),
      cmocka_unit_test(test_first_fault_first),
      cmocka_unit_test(test_bare_positions),
      cmocka_unit_test(test_f5_other_format_is_refused),
      cmocka_unit_test(test_options_that_make_no_sense),
      cmocka_unit_test(test_null_is_misuse),
      cmocka_unit_test(test_l4_a_good_call_after_failed_ones),
  };
  return cmocka_run_group_tests_name("java_options", tests, NULL, NULL);
}
