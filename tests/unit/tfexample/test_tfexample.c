/* SPDX-License-Identifier: BSD-3-Clause */
/* Examples to values: features, what protobuf says of odd encodings, and numbers. */
#include <math.h>

#include "tfexample_bytes.h"

/* ---- features from text ---- */

static void test_features(void **state) {
  (void)state;
  evalue_tfexample_feature f;
  assert_int_equal(evalue_tfexample_feature_parse(&f, "image/a:b:float32[3,?,32]?", NULL), EVALUE_OK);
  assert_int_equal(f.name_size, strlen("image/a:b"));
  assert_memory_equal(f.name, "image/a:b", f.name_size);
  assert_int_equal(f.kind, EVALUE_TFEXAMPLE_TENSOR);
  assert_int_equal(f.scalar_type, EVALUE_FLOAT32);
  assert_int_equal(f.ndim, 3);
  assert_int_equal(f.sizes[0], 3);
  assert_int_equal(f.sizes[1], -1);
  assert_int_equal(f.sizes[2], 32);
  assert_true(f.is_optional && !f.is_raw);
  assert_int_equal(evalue_tfexample_feature_parse(&f, "x:complex64[-1]:raw", NULL), EVALUE_OK);
  assert_true(!f.is_optional && f.is_raw);
  assert_int_equal(f.sizes[0], -1);
  static const char *const kinds[] = {"x:int", "x:bool", "x:double", "x:string", "x:bytes", "x:int64[]"};
  for (size_t i = 0; i < COUNT_OF(kinds); i++) {
    assert_int_equal(evalue_tfexample_feature_parse(&f, kinds[i], NULL), EVALUE_OK);
    assert_int_equal(f.kind, i);
    assert_int_equal(f.ndim, 0);
  }
}

static void test_bad_features(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t position;
  } bad[] = {
      {"", 0},
      {"x", 1},
      {":int", 0},
      {"x:", 2},
      {"x:raw", 1},
      {"x:int64", 7},
      {"x:int:raw", 5},
      {"x:int[3]", 2},
      {"x:string[3]", 2},
      {"x:u8[3]", 2},
      {"x:uint8[", 8},
      {"x:uint8]", 2},
      {"x:uint8[3,]", 9},
      {"x:uint8[,3]", 8},
      {"x:uint8[3 ,4]", 9},
      {"x:uint8[-2]", 8},
      {"x:uint8[+2]", 8},
      {"x:uint8[2147483648]", 8},
      {"x:uint8[99999999999999999999]", 8},
      {"x:uint8[2147483647,2147483647,2]", 8},
      {"x:uint8[?,?]", 8},
      {"x:uint8[0,?]", 8},
      {"x:uint8[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", 40},
      {"x:uint8[3]:Raw", 11},
      {"x:int??", 2},
  };
  evalue_tfexample_feature f;
  evalue_tfexample_text_fault fault;
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    assert_int_equal(evalue_tfexample_feature_parse(&f, bad[i].text, &fault), EVALUE_MISUSE);
    assert_int_equal(fault.position, bad[i].position);
    assert_non_null(fault.message);
  }
  assert_int_equal(evalue_tfexample_feature_parse(&f, NULL, &fault), EVALUE_MISUSE);
  assert_int_equal(evalue_tfexample_feature_parse(NULL, "x:int", NULL), EVALUE_MISUSE);
}

/* ---- every kind ---- */

static void test_kinds(void **state) {
  (void)state;
  static const char *const texts[] = {"i:int",     "b:bool",         "d:double",   "s:string",         "y:bytes",
                                      "none:int?", "f:float32[2,?]", "u:uint16[]", "r:float64[?]:raw", NULL};
  static const float six[] = {0, 1, 2, 3, 4, 5}, half = 0.5f;
  static const int64_t minus = INT64_MIN, one = 1, most = UINT16_MAX;
  bytes features = {.size = 0};
  add_entry(&features, "r", text("\0\0\0\0\0\0\xf8\x3f", 8)); /* any order */
  add_entry(&features, "i", ints(&minus, 1));
  add_entry(&features, "not asked for", text("\xff", 1));
  add_entry(&features, "b", ints(&one, 1));
  add_entry(&features, "d", floats(&half, 1));
  add_entry(&features, "s", text("h\xc3\xa9", 3));
  add_entry(&features, "y", text("\xff\0", 2));
  add_entry(&features, "f", floats(six, 6));
  add_entry(&features, "u", ints(&most, 1));
  const bytes example = field(1, &features);
  set *s = set_of(texts, NULL);
  const double wide = 1.5;
  const uint16_t number = UINT16_MAX;
  const evalue expected[] = {evalue_from_int(INT64_MIN),
                             evalue_from_bool(true),
                             evalue_from_double(0.5),
                             evalue_from_string("h\xc3\xa9", 3),
                             evalue_from_string("\xff\0", 2),
                             evalue_from_none(),
                             tensor_of(EVALUE_FLOAT32, 2, (int32_t[]){2, 3}, six, sizeof six),
                             tensor_of(EVALUE_UINT16, 0, NULL, &number, 2),
                             tensor_of(EVALUE_FLOAT64, 1, (int32_t[]){1}, &wide, 8)};
  for (int round = 0; round < 3; round++) {
    assert_int_equal(decode(s, &example), EVALUE_OK);
    for (size_t i = 0; i < s->count; i++) assert_true(evalue_equal(&s->values[i], &expected[i]));
  }
  /* What needs no conversion stays where it is; what does is aligned. */
  const uint8_t *data = s->values[6].tensor.data, *converted = s->values[7].tensor.data;
  assert_true(data >= s->guard.data && data + sizeof six <= s->guard.data + example.size);
  assert_true(converted < s->guard.data || converted >= s->guard.data + example.size);
  assert_int_equal((uintptr_t)converted % 64, 0);
  set_free(s);
}

/* ---- what protobuf says of odd encodings ---- */

static void test_the_last_of_a_name_counts(void **state) {
  (void)state;
  bytes features = {.size = 0}, example;
  add_entry(&features, "x", text("wrong kind", 10));
  add_entry(&features, "x", ints((int64_t[]){1, 2}, 2));
  add_entry(&features, "x", ints((int64_t[]){7}, 1));
  example = field(1, &features);
  set *s = set_of_one("x:int");
  assert_int_equal(decode(s, &example), EVALUE_OK);
  assert_int_equal(s->values[0].int_value, 7);
  bytes again = {.size = 0}; /* the map in two parts, and a field that nobody knows between them */
  add_entry(&again, "x", ints((int64_t[]){8}, 1));
  add_field(&example, 99, "unknown", 7);
  add_field(&example, 1, again.data, again.size);
  assert_int_equal(decode(s, &example), EVALUE_OK);
  assert_int_equal(s->values[0].int_value, 8);
  again.size = 0; /* without a list it is missing, whatever came before */
  add_entry(&again, "x", (bytes){.size = 0});
  add_field(&example, 1, again.data, again.size);
  assert_int_equal(decode(s, &example), EVALUE_UNSUPPORTED);
  assert_int_equal(s->error.fault, EVALUE_TFEXAMPLE_FAULT_MISSING);
  set_free(s);
}

/* Runs, single entries, lists in parts, Features in parts: one list. Other fields, and others' types, do not matter. */
static void test_lists_in_parts(void **state) {
  (void)state;
  bytes part = {.size = 0}, list = {.size = 0}, feature = {.size = 0}, entry = {.size = 0}, example;
  add_float(&part, 1);
  add_float(&part, 2);
  add_field(&list, 1, part.data, part.size);
  add_varint(&list, 1 << 3 | 5);
  add_float(&list, 3);
  add_field(&list, 1, NULL, 0);
  add_varint(&list, 1 << 3 | 0); /* a varint is no float */
  add_varint(&list, 300);
  add_varint(&list, 2 << 3 | 1);
  add(&list, "12345678", 8);
  add_field(&feature, FLOATS, list.data, list.size);
  add_field(&feature, FLOATS, NULL, 0);
  add_field(&entry, 2, feature.data, feature.size);
  add_field(&entry, 1, "not it", 6);
  feature = floats((float[]){4}, 1);
  add_field(&entry, 2, feature.data, feature.size);
  add_field(&entry, 1, "x", 1);
  bytes features = field(1, &entry);
  example = field(1, &features);
  set *s = set_of_one("x:float32[?]");
  const float expected[] = {1, 2, 3, 4};
  assert_int_equal(decode(s, &example), EVALUE_OK);
  assert_int_equal(s->values[0].tensor.sizes[0], 4);
  assert_memory_equal(s->values[0].tensor.data, wire(EVALUE_FLOAT32, expected, sizeof expected), sizeof expected);
  set_free(s);
}

/* The same of integers: a fixed32 is none. */
static void test_integers_in_parts(void **state) {
  (void)state;
  bytes list = {.size = 0}, run = {.size = 0};
  add_varint(&list, 1 << 3 | 0);
  add_varint(&list, 300);
  add_varint(&list, 1 << 3 | 5);
  add(&list, "1234", 4);
  for (uint32_t i = 0; i < 20; i++) add_varint(&run, i * 100);
  add_field(&list, 1, run.data, run.size);
  add_varint(&list, 1 << 3 | 0);
  add_varint(&list, UINT64_MAX);
  const bytes example = example_of(field(INTS, &list));
  set *s = set_of_one("x:int16[?]");
  assert_int_equal(decode(s, &example), EVALUE_OK);
  assert_int_equal(s->values[0].tensor.sizes[0], 22);
  int16_t numbers[22] = {300};
  for (int i = 0; i < 20; i++) numbers[1 + i] = (int16_t)(i * 100);
  numbers[21] = -1;
  assert_memory_equal(s->values[0].tensor.data, wire(EVALUE_INT16, numbers, sizeof numbers), sizeof numbers);
  set_free(s);
}

/* Lists of another kind between make a Feature forget what it had. */
static void test_the_last_kind_counts(void **state) {
  (void)state;
  bytes feature = ints((int64_t[]){1}, 1), next = floats((float[]){9}, 1);
  add(&feature, next.data, next.size);
  next = ints((int64_t[]){2, 300}, 2);
  add(&feature, next.data, next.size);
  next = ints((int64_t[]){-3}, 1);
  add(&feature, next.data, next.size);
  const bytes example = example_of(feature);
  const int32_t expected[] = {2, 300, -3};
  set *s = set_of_one("x:int32[3]");
  assert_int_equal(decode(s, &example), EVALUE_OK);
  assert_memory_equal(s->values[0].tensor.data, wire(EVALUE_INT32, expected, sizeof expected), sizeof expected);
  set_free(s);
}

static void test_empty_lists(void **state) {
  (void)state;
  set *s = set_of((const char *[]){"x:float32[0,3]", NULL}, NULL);
  bytes example = example_of(floats(NULL, 0));
  assert_int_equal(decode(s, &example), EVALUE_OK);
  assert_int_equal(s->values[0].tensor.nbytes, 0);
  assert_int_equal(evalue_check(&s->values[0]), EVALUE_OK);
  set_free(s);
  s = set_of_one("x:float32[3,?]?");
  assert_int_equal(decode(s, &example), EVALUE_OK);
  assert_int_equal(s->values[0].tag, EVALUE_TAG_TENSOR);
  assert_int_equal(s->values[0].tensor.sizes[1], 0);
  example.size = 0; /* an empty example is one without features */
  assert_int_equal(decode(s, &example), EVALUE_OK);
  assert_int_equal(s->values[0].tag, EVALUE_TAG_NONE);
  set_free(s);
}

/* ---- numbers ---- */

static void test_integer_ranges(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t least, largest;
    size_t width;
  } types[] = {{"x:uint8[1]", 0, UINT8_MAX, 1},        {"x:int8[1]", INT8_MIN, INT8_MAX, 1},
               {"x:uint16[1]", 0, UINT16_MAX, 2},      {"x:int16[1]", INT16_MIN, INT16_MAX, 2},
               {"x:uint32[1]", 0, UINT32_MAX, 4},      {"x:int32[1]", INT32_MIN, INT32_MAX, 4},
               {"x:uint64[1]", 0, INT64_MAX, 8},       {"x:bool[1]", 0, 1, 1},
               {"x:int64[1]", INT64_MIN, INT64_MAX, 8}};
  for (size_t i = 0; i < COUNT_OF(types); i++) {
    const int64_t numbers[] = {types[i].least, types[i].largest, types[i].least - (types[i].least != INT64_MIN),
                               types[i].largest + (types[i].largest != INT64_MAX)};
    set *s = set_of_one(types[i].text);
    for (size_t k = 0; k < COUNT_OF(numbers); k++) {
      const bytes example = example_of(ints(&numbers[k], 1));
      bool is_good = numbers[k] >= types[i].least && numbers[k] <= types[i].largest;
      assert_int_equal(decode(s, &example), is_good ? EVALUE_OK : EVALUE_UNSUPPORTED);
      const uint8_t *low = wire(EVALUE_INT64, &numbers[k], sizeof numbers[k]); /* its first bytes are the narrow one */
      if (is_good) assert_memory_equal(s->values[0].tensor.data, low, types[i].width);
      else assert_int_equal(s->error.fault, EVALUE_TFEXAMPLE_FAULT_RANGE);
    }
    set_free(s);
  }
}

/* Each finite float16 comes back; half way between two goes to the even one. */
static void test_float16(void **state) {
  (void)state;
  set *s = set_of_one("x:float16[3]");
  for (uint32_t h = 0; h < 0x7c00; h++) {
    float number = (float)ldexp(h < 0x400 ? h : (h & 0x3ff) + 0x400, h < 0x400 ? -24 : (int)(h >> 10) - 25);
    float next =
        (float)ldexp(h < 0x3ff ? h + 1 : ((h + 1) & 0x3ff) + 0x400, h < 0x3ff ? -24 : (int)((h + 1) >> 10) - 25);
    float middle = number + (next - number) / 2;
    const bytes example = example_of(floats((float[]){number, -number, middle}, 3));
    if (h == 0x7bff) { /* the middle would be 2^16, or infinite */
      assert_int_equal(decode(s, &example), EVALUE_UNSUPPORTED);
      assert_int_equal(s->error.element, 2);
      continue;
    }
    assert_int_equal(decode(s, &example), EVALUE_OK);
    const uint8_t *p = s->values[0].tensor.data;
    assert_int_equal(p[0] | p[1] << 8, h);
    assert_int_equal(p[2] | p[3] << 8, h | 0x8000);
    assert_int_equal(p[4] | p[5] << 8, h + (h & 1));
  }
  const bytes example = example_of(floats((float[]){INFINITY, 65519.996f, 1e-9f}, 3));
  assert_int_equal(decode(s, &example), EVALUE_OK);
  const uint8_t expected[] = {0x00, 0x7c, 0xff, 0x7b, 0, 0};
  assert_memory_equal(s->values[0].tensor.data, expected, sizeof expected);
  set_free(s);
}

static void test_bfloat16_and_nans(void **state) {
  (void)state;
  bytes run = {.size = 0};
  const uint8_t numbers[] = {0x00, 0x80, 0x80, 0x3f,  /* half way, to the even one below */
                             0x00, 0x80, 0x81, 0x3f,  /* and above */
                             0x01, 0x00, 0x80, 0xff}; /* a signalling NaN whose payload would be lost */
  add(&run, numbers, sizeof numbers);
  const bytes list = field(1, &run), example = example_of(field(FLOATS, &list));
  set *s = set_of_one("x:bfloat16[3]");
  assert_int_equal(decode(s, &example), EVALUE_OK);
  const uint8_t expected[] = {0x80, 0x3f, 0x82, 0x3f, 0xc0, 0xff};
  assert_memory_equal(s->values[0].tensor.data, expected, sizeof expected);
  set_free(s);
  s = set_of_one("x:float64[3]"); /* keeps it */
  assert_int_equal(decode(s, &example), EVALUE_OK);
  const uint8_t wide[] = {0, 0, 0, 0x20, 0, 0, 0xf0, 0xff};
  assert_memory_equal((const uint8_t *)s->values[0].tensor.data + 16, wide, sizeof wide);
  set_free(s);
}

/* ---- memory ---- */

static void test_memory_is_used_again(void **state) {
  (void)state;
  set *s = set_of_one("x:int64[?]");
  int64_t numbers[300] = {0};
  const bytes large = example_of(ints(numbers, 300)), small = example_of(ints(numbers, 3));
  assert_int_equal(decode(s, &large), EVALUE_OK);
  const uint8_t *memory = s->converter.values.data;
  const size_t capacity = s->converter.values.capacity;
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(decode(s, i % 2 == 0 ? &small : &large), EVALUE_OK);
    assert_ptr_equal(s->converter.values.data, memory);
    assert_int_equal(s->converter.values.capacity, capacity);
  }
  assert_in_range(capacity, 300 * 8, 10 * large.size);
  set_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_features),
      cmocka_unit_test(test_bad_features),
      cmocka_unit_test(test_kinds),
      cmocka_unit_test(test_the_last_of_a_name_counts),
      cmocka_unit_test(test_lists_in_parts),
      cmocka_unit_test(test_integers_in_parts),
      cmocka_unit_test(test_the_last_kind_counts),
      cmocka_unit_test(test_empty_lists),
      cmocka_unit_test(test_integer_ranges),
      cmocka_unit_test(test_float16),
      cmocka_unit_test(test_bfloat16_and_nans),
      cmocka_unit_test(test_memory_is_used_again),
  };
  return cmocka_run_group_tests_name("tfexample", tests, NULL, NULL);
}
