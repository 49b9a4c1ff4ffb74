/* SPDX-License-Identifier: BSD-3-Clause */
/* What of an example is refused, at which byte, in which words; values to examples, and what these cannot hold. */
#include <math.h>
#include <stdio.h>

#include "tfexample_bytes.h"

/* ---- examples that the feature does not fit ---- */

typedef struct misfit {
  const char *feature;
  bytes value;
  const char *sentence;
} misfit;

/* Bytes of an example_of: 0 example, 2 entry, 4 key, 7 the Feature, 9 its list, 11 the list's run, 13 the run's bytes.
 */
static void test_misfits(void **state) {
  (void)state;
  const misfit misfits[] = {
      {"y:int", ints((int64_t[]){1}, 1),
       "feature \"y\": unsupported: the example has no such feature: expected an Int64List, found no list"},
      {"x:int",
       {.size = 0},
       "offset 4: feature \"x\": unsupported: the example has no such feature: expected an Int64List, found no list"},
      {"x:int", floats((float[]){1}, 1),
       "offset 9: feature \"x\": unsupported: the feature has a list of another kind: expected an Int64List, found a "
       "FloatList"},
      {"x:int", text("1", 1),
       "offset 9: feature \"x\": unsupported: the feature has a list of another kind: expected an Int64List, found a "
       "BytesList"},
      {"x:string", ints((int64_t[]){1}, 1),
       "offset 9: feature \"x\": unsupported: the feature has a list of another kind: expected a BytesList, found an "
       "Int64List"},
      {"x:uint8[1]:raw", ints((int64_t[]){1}, 1),
       "offset 9: feature \"x\": unsupported: the feature has a list of another kind: expected a BytesList, found an "
       "Int64List"},
      {"x:complex64[1]", floats((float[]){1, 2}, 2),
       "offset 9: feature \"x\": unsupported: the feature has a list of another kind: expected a BytesList, found a "
       "FloatList"},
      {"x:int", ints((int64_t[]){1, 2}, 2),
       "offset 9: feature \"x\": unsupported: the feature's list has another number of entries: expected 1, found 2"},
      {"x:double?", floats(NULL, 0),
       "offset 9: feature \"x\": unsupported: the feature's list has another number of entries: expected 1, found 0"},
      {"x:float32[2,2]", floats((float[]){1, 2, 3}, 3),
       "offset 9: feature \"x\": unsupported: the feature's list has another number of entries: expected 4, found 3"},
      {"x:float32[2,?]", floats((float[]){1, 2, 3}, 3),
       "offset 9: feature \"x\": unsupported: the feature's list has another number of entries: expected a multiple of "
       "2, found 3"},
      {"x:int16[3]", text("12345", 5),
       "offset 13: feature \"x\": unsupported: the entry has another number of bytes than the tensor: expected 6 "
       "bytes, "
       "found 5"},
      {"x:int16[?]:raw", text("12345", 5),
       "offset 13: feature \"x\": unsupported: the entry has another number of bytes than the tensor: expected a "
       "multiple of 2 bytes, found 5"},
      {"x:uint8[3]", ints((int64_t[]){200, 1, 256}, 3),
       "offset 16: feature \"x\": element 2: unsupported: the number does not fit the type: expected 0 to 255, found "
       "256"},
      {"x:uint64[2]", ints((int64_t[]){1, -1}, 2),
       "offset 14: feature \"x\": element 1: unsupported: the number does not fit the type: expected 0 to "
       "9223372036854775807, found -1"},
      {"x:bool", ints((int64_t[]){2}, 1),
       "offset 13: feature \"x\": unsupported: the number does not fit the type: expected 0 to 1, found 2"},
      {"x:bool[3]", text("\0\1\2", 3),
       "offset 15: feature \"x\": element 2: unsupported: the number does not fit the type: expected 0 to 1, found 2"},
      {"x:float16[2]", floats((float[]){1, -65520}, 2),
       "offset 17: feature \"x\": element 1: unsupported: the number does not fit the type: expected one that float16 "
       "can hold, found -65520"},
      {"x:string", text("ab\xff", 3),
       "offset 15: feature \"x\": unsupported: the string is not well-formed UTF-8; the type bytes takes it: found the "
       "byte 0xff"},
  };
  for (size_t i = 0; i < COUNT_OF(misfits); i++) {
    set *s = set_of_one(misfits[i].feature);
    const bytes example = example_of(misfits[i].value);
    assert_int_equal(decode(s, &example), EVALUE_UNSUPPORTED);
    assert_string_equal(sentence(s), misfits[i].sentence);
    set_free(s);
  }
}

/* ---- bytes that are no message ---- */

typedef struct broken {
  const char *hex;
  int32_t status;
  uint64_t position;
  uint32_t fault;
} broken;

static bytes bytes_of(const char *hex) {
  bytes b = {.size = 0};
  for (unsigned byte; *hex != 0; hex += 2) {
    while (*hex == ' ') hex++;
    assert_int_equal(sscanf(hex, "%2x", &byte), 1);
    add(&b, &(uint8_t){(uint8_t)byte}, 1);
  }
  return b;
}

static void test_broken_messages(void **state) {
  (void)state;
  static const broken inputs[] = {
      {"00", EVALUE_MALFORMED, 0, EVALUE_TFEXAMPLE_FAULT_BAD_TAG},                       /* the field number 0 */
      {"0f", EVALUE_MALFORMED, 0, EVALUE_TFEXAMPLE_FAULT_BAD_TAG},                       /* the wire type 7 */
      {"80", EVALUE_MALFORMED, 0, EVALUE_TFEXAMPLE_FAULT_BAD_TAG},                       /* cut */
      {"ffffffffff7f", EVALUE_MALFORMED, 0, EVALUE_TFEXAMPLE_FAULT_BAD_TAG},             /* more than 32 bits */
      {"0b 0c", EVALUE_UNSUPPORTED, 0, EVALUE_TFEXAMPLE_FAULT_GROUP},                    /* a group */
      {"0a", EVALUE_MALFORMED, 1, EVALUE_TFEXAMPLE_FAULT_BAD_VARINT},                    /* no length */
      {"0a 01", EVALUE_MALFORMED, 1, EVALUE_TFEXAMPLE_FAULT_FIELD_SHORT},                /* nothing behind it */
      {"0a ffffffff0f", EVALUE_MALFORMED, 1, EVALUE_TFEXAMPLE_FAULT_FIELD_SHORT},        /* 4 GiB */
      {"15 000000", EVALUE_MALFORMED, 0, EVALUE_TFEXAMPLE_FAULT_FIELD_SHORT},            /* three of four bytes */
      {"11 00000000000000", EVALUE_MALFORMED, 0, EVALUE_TFEXAMPLE_FAULT_FIELD_SHORT},    /* seven of eight */
      {"10 8080", EVALUE_MALFORMED, 0, EVALUE_TFEXAMPLE_FAULT_FIELD_SHORT},              /* a varint without an end */
      {"0a02 0a05", EVALUE_MALFORMED, 3, EVALUE_TFEXAMPLE_FAULT_FIELD_SHORT},            /* past its message's end, */
      {"0a02 0a05 0000000000", EVALUE_MALFORMED, 3, EVALUE_TFEXAMPLE_FAULT_FIELD_SHORT}, /* not the input's */
      /* runs: an entry without an end, one of eleven bytes, a float of three */
      {"0a0d 0a0b 0a0178 1206 1a04 0a02 0180", EVALUE_MALFORMED, 14, EVALUE_TFEXAMPLE_FAULT_BAD_VARINT},
      {"0a16 0a14 0a0178 120f 1a0d 0a0b 8080808080808080808001", EVALUE_MALFORMED, 13,
       EVALUE_TFEXAMPLE_FAULT_BAD_VARINT},
      {"0a0e 0a0c 0a0178 1207 1205 0a03 000000", EVALUE_MALFORMED, 11, EVALUE_TFEXAMPLE_FAULT_FLOAT_LENGTH},
  };
  for (size_t i = 0; i < COUNT_OF(inputs); i++) {
    set *s = set_of_one("x:int64[?]");
    const bytes example = bytes_of(inputs[i].hex);
    assert_int_equal(decode(s, &example), inputs[i].status);
    assert_int_equal(s->error.fault, inputs[i].fault);
    assert_int_equal(s->error.position, inputs[i].position);
    assert_non_null(strstr(sentence(s), evalue_status_name(inputs[i].status)));
    set_free(s);
  }
}

/* Three features of each kind of list. */
static bytes sample(void) {
  bytes features = {.size = 0};
  add_entry(&features, "i", ints((int64_t[]){1, -1, 300}, 3));
  add_entry(&features, "s", text("abc", 3));
  add_entry(&features, "f", floats((float[]){1, 2}, 2));
  return field(1, &features);
}

static const char *const sample_features[] = {"i:int64[3]", "s:string", "f:float64[2]", NULL};

static void test_every_prefix(void **state) {
  (void)state;
  set *s = set_of(sample_features, NULL);
  bytes example = sample();
  assert_int_equal(decode(s, &example), EVALUE_OK);
  for (size_t size = example.size; size-- > 0;) {
    example.size = size;
    assert_int_equal(decode(s, &example), size == 0 ? EVALUE_UNSUPPORTED : EVALUE_MALFORMED);
    assert_true(s->error.position <= size || s->error.position == EVALUE_NO_INDEX);
  }
  set_free(s);
}

/* Whatever a byte becomes, the values that come are good ones, or the error says where. */
static void test_every_byte(void **state) {
  (void)state;
  set *s = set_of(sample_features, NULL);
  const bytes good = sample();
  for (size_t i = 0; i < good.size; i++) {
    for (unsigned byte = 0; byte < 256; byte++) {
      bytes example = good;
      example.data[i] = (uint8_t)byte;
      evalue_status status = decode(s, &example);
      assert_int_equal(status, s->error.status);
      for (size_t k = 0; k < s->count && status == EVALUE_OK; k++) {
        assert_int_equal(evalue_check(&s->values[k]), EVALUE_OK);
      }
      if (status == EVALUE_OK) continue;
      assert_true(status == EVALUE_MALFORMED || status == EVALUE_UNSUPPORTED);
      assert_true(s->error.position <= example.size || s->error.fault == EVALUE_TFEXAMPLE_FAULT_MISSING);
    }
  }
  set_free(s);
}

/* ---- values to an example ---- */

static void test_canonical_bytes(void **state) {
  (void)state;
  static const char *const texts[] = {"i:int", "f:float32[2,2]", "none:int?", "e:int8[0]", "r:uint8[2]:raw", NULL};
  static const float transposed[] = {1, 3, 2, 4};
  const int32_t sizes[] = {2, 2};
  const uint8_t order[] = {1, 0};
  evalue_tensor t;
  assert_int_equal(
      evalue_tensor_init_dim_order(&t, EVALUE_FLOAT32, 2, sizes, order, wire(EVALUE_FLOAT32, transposed, 16), 16),
      EVALUE_OK);
  const evalue values[] = {evalue_from_int(-2), evalue_from_tensor(&t), evalue_from_none(),
                           tensor_of(EVALUE_INT8, 1, (int32_t[]){0}, NULL, 0),
                           tensor_of(EVALUE_UINT8, 1, (int32_t[]){2}, "\x80\x01", 2)};
  bytes features = {.size = 0};
  add_entry(&features, "i", ints((int64_t[]){-2}, 1));
  add_entry(&features, "f", floats((float[]){1, 2, 3, 4}, 4));
  add_entry(&features, "e", ints(NULL, 0));
  add_entry(&features, "r", text("\x80\x01", 2));
  const bytes expected = field(1, &features);
  set *s = set_of(texts, NULL);
  for (int round = 0; round < 2; round++) {
    evalue_slice example = {NULL, 0};
    assert_int_equal(evalue_tfexample_encode(&s->converter, values, &example, &s->error), EVALUE_OK);
    assert_int_equal(example.size, expected.size);
    assert_memory_equal(example.data, expected.data, expected.size);
  }
  set_free(s);
}

/* Lists that are longer than what is gathered at a time, of varints of every length. */
static void test_long_lists(void **state) {
  (void)state;
  enum { NUMEL = 700 };
  static const char *const texts[] = {"i:int64[?]", "d:float64[?]", "h:float16[?]", NULL};
  static int64_t integers[NUMEL];
  static double doubles[NUMEL];
  static uint16_t halves[NUMEL];
  static uint8_t copy[1 << 14];
  const int32_t sizes[] = {NUMEL};
  for (int i = 0; i < NUMEL; i++) {
    integers[i] = (int64_t)(UINT64_MAX >> i % 64);
    doubles[i] = i * 0.25 - 3;
    halves[i] = (uint16_t)i;
  }
  set *s = set_of(texts, NULL);
  evalue_slice example;
  for (int shift = 0; shift < 64; shift++) { /* other lengths at other places */
    integers[0] = (int64_t)(UINT64_MAX >> shift);
    const evalue values[] = {tensor_of(EVALUE_INT64, 1, sizes, integers, sizeof integers),
                             tensor_of(EVALUE_FLOAT64, 1, sizes, doubles, sizeof doubles),
                             tensor_of(EVALUE_FLOAT16, 1, sizes, halves, sizeof halves)};
    assert_int_equal(evalue_tfexample_encode(&s->converter, values, &example, &s->error), EVALUE_OK);
    assert_in_range(example.size, 0, sizeof copy);
    memcpy(copy, example.data, example.size);
    assert_int_equal(evalue_tfexample_decode(&s->converter, copy, example.size, s->values, &s->error), EVALUE_OK);
    for (size_t i = 0; i < s->count; i++) assert_true(evalue_equal(&s->values[i], &values[i]));
  }
  set_free(s);
}

typedef struct refusal {
  const char *feature;
  evalue value;
  const char *sentence;
} refusal;

static void check_refusal(const refusal *r, int32_t status) {
  set *s = set_of_one(r->feature);
  evalue_slice example = {NULL, 17};
  assert_int_equal(evalue_tfexample_encode(&s->converter, &r->value, &example, &s->error), status);
  assert_string_equal(sentence(s), r->sentence);
  assert_true(example.data == NULL && example.size == 17);
  set_free(s);
}

static void test_what_an_example_cannot_hold(void **state) {
  (void)state;
  const int32_t two[] = {2};
  const uint64_t large[] = {1, UINT64_C(1) << 63};
  const double doubles[] = {0.5, 0.1}, beyond[] = {-1e39, 0};
  const refusal refusals[] = {
      {"x:int", evalue_from_double(1),
       "feature \"x\": unsupported: the value is not of the feature's kind: expected "
       "Int, found Double"},
      {"x:int", evalue_from_none(),
       "feature \"x\": unsupported: the value is not of the feature's kind: expected Int, "
       "found None"},
      {"x:float32[2]", tensor_of(EVALUE_FLOAT64, 1, two, doubles, 16),
       "feature \"x\": unsupported: the tensor has not the feature's scalar type: expected float32, found float64"},
      {"x:float64[2,1]", tensor_of(EVALUE_FLOAT64, 1, two, doubles, 16),
       "feature \"x\": unsupported: the tensor has another number of dimensions than the feature: expected 2, found 1"},
      {"x:float64[3]", tensor_of(EVALUE_FLOAT64, 1, two, doubles, 16),
       "feature \"x\": dimension 0: unsupported: the tensor has not the feature's sizes: expected 3, found 2"},
      {"x:uint64[?]", tensor_of(EVALUE_UINT64, 1, two, large, 16),
       "feature \"x\": element 1: unsupported: the number does not fit the type: expected 0 to 9223372036854775807, "
       "found 9223372036854775808"},
      {"x:bool[2]", tensor_of(EVALUE_BOOL, 1, two, "\1\3", 2),
       "feature \"x\": element 1: unsupported: the number does not fit the type: expected 0 to 1, found 3"},
      {"x:bool[2]:raw", tensor_of(EVALUE_BOOL, 1, two, "\1\3", 2),
       "feature \"x\": element 1: unsupported: the number does not fit the type: expected 0 to 1, found 3"},
      {"x:float64[2]", tensor_of(EVALUE_FLOAT64, 1, two, doubles, 16),
       "feature \"x\": element 1: unsupported: the number is no float32, and a FloatList has no others: found 0.1"},
      {"x:float64[2]", tensor_of(EVALUE_FLOAT64, 1, two, beyond, 16),
       "feature \"x\": element 0: unsupported: the number does not fit the type: expected one that float32 can hold, "
       "found -1e39"},
      {"x:double", evalue_from_double(0.1),
       "feature \"x\": unsupported: the number is no float32, and a FloatList has no others: found 0.1"},
      {"x:string", evalue_from_string("a\xff", 2),
       "feature \"x\": unsupported: the string is not well-formed UTF-8; the type bytes takes it"},
  };
  for (size_t i = 0; i < COUNT_OF(refusals); i++) check_refusal(&refusals[i], EVALUE_UNSUPPORTED);
  const refusal name = {"\xff:int", evalue_from_int(1),
                        "feature \"\\xff\": misuse: the feature's name is not well-formed UTF-8, which protobuf asks "
                        "for"};
  check_refusal(&name, EVALUE_MISUSE);
}

/* 2 GiB of zeros that nobody has to have: the size is judged before a byte is read. */
static void test_too_large(void **state) {
  (void)state;
  const size_t size = (size_t)1 << 31;
  uint8_t *zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zeros == MAP_FAILED) skip();
  const refusal bytes_of_it = {"x:bytes", evalue_from_string((const char *)zeros, size - 33),
                               "feature \"x\": limit: protobuf has no messages of 2 GiB or more: expected at most "
                               "2147483647 bytes, found 2147483648"};
  check_refusal(&bytes_of_it, EVALUE_LIMIT);
  set *s = set_of_one("x:bytes?");
  assert_int_equal(evalue_tfexample_decode(&s->converter, zeros, size, s->values, &s->error), EVALUE_LIMIT);
  assert_string_equal(sentence(s), "limit: protobuf has no messages of 2 GiB or more: expected at most 2147483647 "
                                   "bytes, found 2147483648");
  set_free(s);
  munmap(zeros, size);
}

static void test_rounding_is_an_option(void **state) {
  (void)state;
  static const float tenth = 0.1F;
  const evalue_tfexample_options options = {.round = 1};
  static const char *const texts[] = {"d:double", "x:double", NULL};
  set *s = set_of(texts, &options);
  evalue values[] = {evalue_from_double(0.1),
                     evalue_from_double(3.4028235677973366e38)}; /* the first that is infinite */
  evalue_slice example;
  assert_int_equal(evalue_tfexample_encode(&s->converter, values, &example, &s->error), EVALUE_UNSUPPORTED);
  assert_int_equal(s->error.fault, EVALUE_TFEXAMPLE_FAULT_RANGE);
  assert_int_equal(s->error.feature, 1);
  values[1] = evalue_from_double(nextafter(values[1].double_value, 0));
  assert_int_equal(evalue_tfexample_encode(&s->converter, values, &example, &s->error), EVALUE_OK);
  bytes copy = {.size = 0};
  add(&copy, example.data, example.size);
  assert_int_equal(decode(s, &copy), EVALUE_OK);
  assert_true(s->values[0].double_value == (double)tenth);
  assert_true(s->values[1].double_value == 3.40282346638528859811704183484516925e38);
  set_free(s);
}

/* ---- calls ---- */

static void test_misuse(void **state) {
  (void)state;
  set *s = set_of_one("x:int");
  evalue_tfexample other;
  evalue_tfexample_error e;
  evalue_slice example;
  const evalue_tfexample_options bad_size = {.size = 4}, bad_round = {.round = 2};
  evalue bad = evalue_from_int(1);
  bad.tag = 99;
  assert_int_equal(evalue_tfexample_init(NULL, s->features, 1, NULL, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_tfexample_init(&other, NULL, 1, NULL, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_tfexample_init(&other, s->features, 0, NULL, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_tfexample_init(&other, s->features, 1, &bad_size, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_tfexample_init(&other, s->features, 1, &bad_round, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_tfexample_decode(NULL, "", 0, s->values, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_tfexample_decode(&s->converter, NULL, 1, s->values, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_tfexample_decode(&s->converter, "", 0, NULL, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_tfexample_encode(&s->converter, &bad, &example, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_tfexample_encode(&s->converter, NULL, &example, &e), EVALUE_MISUSE);
  assert_int_equal(evalue_tfexample_encode(&s->converter, s->values, NULL, &e), EVALUE_MISUSE);
  evalue_tfexample_close(&s->converter);
  evalue_tfexample_close(&s->converter);
  evalue_tfexample_close(NULL);
  assert_int_equal(evalue_tfexample_decode(&s->converter, "", 0, s->values, &e), EVALUE_MISUSE);
  set_free(s);
}

static void test_a_name_twice(void **state) {
  (void)state;
  static const char *const texts[] = {"b:int", "aa:int", "a:int", "b:string", "c:int"};
  evalue_tfexample_feature features[COUNT_OF(texts)];
  evalue_tfexample converter;
  evalue_tfexample_error e;
  char line[100];
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    assert_int_equal(evalue_tfexample_feature_parse(&features[i], texts[i], NULL), EVALUE_OK);
  }
  assert_int_equal(evalue_tfexample_init(&converter, features, COUNT_OF(texts), NULL, &e), EVALUE_MISUSE);
  evalue_tfexample_print_error(&e, features, COUNT_OF(texts), line, sizeof line);
  assert_string_equal(line, "feature \"b\": misuse: two features have this name");
  assert_int_equal(e.feature, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_misfits),
      cmocka_unit_test(test_broken_messages),
      cmocka_unit_test(test_every_prefix),
      cmocka_unit_test(test_every_byte),
      cmocka_unit_test(test_canonical_bytes),
      cmocka_unit_test(test_long_lists),
      cmocka_unit_test(test_what_an_example_cannot_hold),
      cmocka_unit_test(test_too_large),
      cmocka_unit_test(test_rounding_is_an_option),
      cmocka_unit_test(test_misuse),
      cmocka_unit_test(test_a_name_twice),
  };
  return cmocka_run_group_tests_name("tfexample_refusals", tests, NULL, NULL);
}
