/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches: where everything lies, padding, and examples that do not go together. */
#include "dataset_support.h"

/* A pipeline over examples in memory. */
typedef struct batches {
  evalue_memory_dataset memory;
  evalue_decode_dataset decode;
  evalue_batch_dataset batch;
  evalue_example example;
} batches;

static evalue_status start(batches *b, const examples *e, uint64_t n, const evalue_batch_options *options) {
  evalue_memory_dataset_init(&b->memory, e->slices, e->count);
  evalue_decode_dataset_init(&b->decode, &b->memory.dataset, NULL, 0, NULL);
  return evalue_batch_dataset_init(&b->batch, &b->decode.dataset, n, options);
}

static evalue_status next(batches *b) {
  return evalue_dataset_next(&b->batch.dataset, &b->example);
}

static void finish(batches *b) {
  assert_int_equal(evalue_dataset_close(&b->batch.dataset), EVALUE_OK);
}

/* Compares a value of the batch: type, sizes, data, and that it is aligned. */
static void check_tensor(const batches *b, size_t i, uint32_t scalar_type, size_t ndim, const int32_t *sizes,
                         const void *data, size_t nbytes) {
  const evalue *v = &b->example.values[i];
  assert_true(i < b->example.count);
  assert_int_equal(evalue_check(v), EVALUE_OK);
  assert_int_equal(v->tag, EVALUE_TAG_TENSOR);
  assert_int_equal(v->tensor.scalar_type, scalar_type);
  assert_int_equal(v->tensor.ndim, ndim);
  assert_memory_equal(v->tensor.sizes, sizes, ndim * sizeof sizes[0]);
  assert_int_equal((uintptr_t)v->tensor.data % 64, 0);
  assert_true(evalue_tensor_is_contiguous(&v->tensor));
  assert_int_equal(v->tensor.nbytes, nbytes);
  uint8_t host[4096];
  assert_true(nbytes <= sizeof host);
  assert_int_equal(evalue_tensor_copy(&v->tensor, NULL, EVALUE_HOST_ENDIAN, host, sizeof host), EVALUE_OK);
  if (nbytes != 0) assert_memory_equal(host, data, nbytes);
}

#define CHECK_TENSOR(b, i, type, sizes, data) check_tensor(b, i, type, COUNT_OF(sizes), sizes, data, sizeof(data))

static void test_all_kinds(void **state) {
  (void)state;
  examples *e = new_examples(0);
  batches b;
  for (int i = 0; i < 2; i++) {
    float numbers[2] = {(float)i, (float)(i + 10)};
    const evalue values[] = {floats_of(numbers, 2),
                             evalue_from_int(-1 - i),
                             evalue_from_double(i + 0.5),
                             evalue_from_bool(i == 1),
                             evalue_from_string(i == 0 ? "abc" : "xyz", 3),
                             evalue_from_none()};
    evalue_tensor_data_to_wire(EVALUE_FLOAT32, numbers, numbers, sizeof numbers);
    add_values(e, values, COUNT_OF(values));
  }
  assert_int_equal(start(&b, e, 2, NULL), EVALUE_OK);
  assert_int_equal(next(&b), EVALUE_OK);
  assert_int_equal(b.example.count, 6);
  assert_null(b.example.bytes.data);
  assert_string_equal(b.example.source, "memory");
  assert_int_equal(b.example.index, 0);
  CHECK_TENSOR(&b, 0, EVALUE_FLOAT32, ((const int32_t[]){2, 2}), ((const float[]){0, 10, 1, 11}));
  CHECK_TENSOR(&b, 1, EVALUE_INT64, ((const int32_t[]){2}), ((const int64_t[]){-1, -2}));
  CHECK_TENSOR(&b, 2, EVALUE_FLOAT64, ((const int32_t[]){2}), ((const double[]){0.5, 1.5}));
  CHECK_TENSOR(&b, 3, EVALUE_BOOL, ((const int32_t[]){2}), ((const uint8_t[]){0, 1}));
  CHECK_TENSOR(&b, 4, EVALUE_UINT8, ((const int32_t[]){2, 3}), ((const uint8_t[]){'a', 'b', 'c', 'x', 'y', 'z'}));
  assert_int_equal(b.example.values[5].tag, EVALUE_TAG_NONE);
  assert_int_equal(b.batch.needed, 5 * 64);
  assert_int_equal(next(&b), EVALUE_END);
  finish(&b);
  free(e);
}

static void test_last_batch(void **state) {
  (void)state;
  examples *e = new_examples(7);
  static const struct {
    uint64_t n;
    uint32_t drop_last;
    int32_t rows[8];
  } cases[] = {{1, 0, {1, 1, 1, 1, 1, 1, 1}}, {3, 0, {3, 3, 1}}, {3, 1, {3, 3}}, {7, 1, {7}}, {8, 0, {7}}, {8, 1, {0}}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    batches b;
    const evalue_batch_options options = {.drop_last = cases[i].drop_last};
    assert_int_equal(start(&b, e, cases[i].n, &options), EVALUE_OK);
    for (int epoch = 0; epoch < 2; epoch++) {
      int64_t at = 0;
      for (size_t k = 0; cases[i].rows[k] != 0; k++) {
        int64_t numbers[8];
        assert_int_equal(next(&b), EVALUE_OK);
        assert_int_equal(b.example.index, at);
        for (int r = 0; r < cases[i].rows[k]; r++) numbers[r] = at++;
        check_tensor(&b, 1, EVALUE_INT64, 1, &cases[i].rows[k], numbers, 8 * (size_t)cases[i].rows[k]);
      }
      assert_int_equal(next(&b), EVALUE_END);
      assert_int_equal(next(&b), EVALUE_END);
      assert_int_equal(evalue_dataset_rewind(&b.batch.dataset), EVALUE_OK);
    }
    finish(&b);
  }
  free(e);
}

/* Tensors in another order than row-major are stacked in row-major order. */
static void test_dim_order(void **state) {
  (void)state;
  examples *e = new_examples(0);
  const int32_t sizes[2] = {2, 3};
  const uint8_t rows[] = {1, 2, 3, 4, 5, 6}, columns[] = {7, 10, 8, 11, 9, 12}, turned[2] = {1, 0};
  evalue_tensor t;
  batches b;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_UINT8, 2, sizes, rows, 6), EVALUE_OK);
  add_values(e, (const evalue[]){evalue_from_tensor(&t)}, 1);
  assert_int_equal(evalue_tensor_init_dim_order(&t, EVALUE_UINT8, 2, sizes, turned, columns, 6), EVALUE_OK);
  add_values(e, (const evalue[]){evalue_from_tensor(&t)}, 1);
  for (uint32_t pad = 0; pad < 2; pad++) {
    assert_int_equal(start(&b, e, 2, &(evalue_batch_options){.pad = pad}), EVALUE_OK);
    assert_int_equal(next(&b), EVALUE_OK);
    CHECK_TENSOR(&b, 0, EVALUE_UINT8, ((const int32_t[]){2, 2, 3}),
                 ((const uint8_t[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    finish(&b);
  }
  free(e);
}

/* Sizes of zero, and tensors without dimensions. */
static void test_little(void **state) {
  (void)state;
  examples *e = new_examples(0);
  float one = 1;
  evalue_tensor scalar;
  const int32_t none[2] = {0, 3};
  evalue_tensor empty;
  batches b;
  evalue_tensor_data_to_wire(EVALUE_FLOAT32, &one, &one, sizeof one);
  assert_int_equal(evalue_tensor_init(&scalar, EVALUE_FLOAT32, 0, NULL, &one, 4), EVALUE_OK);
  assert_int_equal(evalue_tensor_init(&empty, EVALUE_FLOAT32, 2, none, NULL, 0), EVALUE_OK);
  for (int i = 0; i < 2; i++) {
    add_values(e, (const evalue[]){evalue_from_tensor(&empty), evalue_from_string("", 0), evalue_from_tensor(&scalar)},
               3);
  }
  for (uint32_t pad = 0; pad < 2; pad++) {
    assert_int_equal(start(&b, e, 2, &(evalue_batch_options){.pad = pad, .with_sizes = 1}), EVALUE_OK);
    assert_int_equal(next(&b), EVALUE_OK);
    assert_int_equal(b.example.count, 6);
    check_tensor(&b, 0, EVALUE_FLOAT32, 3, (const int32_t[]){2, 0, 3}, NULL, 0);
    check_tensor(&b, 1, EVALUE_UINT8, 2, (const int32_t[]){2, 0}, NULL, 0);
    CHECK_TENSOR(&b, 2, EVALUE_FLOAT32, ((const int32_t[]){2}), ((const float[]){1, 1}));
    CHECK_TENSOR(&b, 3, EVALUE_INT32, ((const int32_t[]){2, 2}), ((const int32_t[]){0, 3, 0, 3}));
    CHECK_TENSOR(&b, 4, EVALUE_INT32, ((const int32_t[]){2, 1}), ((const int32_t[]){0, 0}));
    check_tensor(&b, 5, EVALUE_INT32, 2, (const int32_t[]){2, 0}, NULL, 0);
    finish(&b);
  }
  e->count = 0; /* examples of no values */
  add_values(e, NULL, 0);
  add_values(e, NULL, 0);
  assert_int_equal(start(&b, e, 2, NULL), EVALUE_OK);
  assert_int_equal(next(&b), EVALUE_OK);
  assert_int_equal(b.example.count, 0);
  assert_non_null(b.example.values);
  finish(&b);
  free(e);
}

/* ---- the caller's memory ---- */

static void test_memory(void **state) {
  (void)state;
  examples *e = new_examples(6);
  _Alignas(64) static uint8_t memory[256 + 1];
  batches b;
  size_t needed = 64 + 64; /* 4 x 12 and 4 x 8 bytes */
  for (size_t size = 0; size <= needed; size += 32) {
    memset(memory, 0xA5, sizeof memory);
    const evalue_batch_options options = {.memory = memory, .memory_size = size};
    assert_int_equal(start(&b, e, 4, &options), EVALUE_OK);
    assert_int_equal(next(&b), size < needed ? EVALUE_NO_SPACE : EVALUE_OK);
    assert_int_equal(b.batch.needed, needed);
    if (size < needed) {
      char text[128];
      assert_true(
          snprintf(text, sizeof text, "memory: record 0: batch: expected 128 bytes of memory, found %zu", size) > 0);
      assert_string_equal(b.batch.dataset.error.text, text);
      assert_int_equal(memory[0], 0xA5);
    } else {
      assert_ptr_equal(b.example.values[0].tensor.data, memory);
      assert_ptr_equal(b.example.values[1].tensor.data, memory + 64);
      assert_int_equal(next(&b), EVALUE_OK); /* the next one, at the same place, of fewer rows */
      assert_ptr_equal(b.example.values[1].tensor.data, memory + 64);
      CHECK_TENSOR(&b, 1, EVALUE_INT64, ((const int32_t[]){2}), ((const int64_t[]){4, 5}));
    }
    assert_int_equal(memory[size], 0xA5);
    finish(&b);
  }
  free(e);
}

/* ---- examples that do not go together ---- */

static void check_failure(const examples *e, const evalue_batch_options *options, evalue_status expected,
                          const char *text) {
  batches b;
  assert_int_equal(start(&b, e, 4, options), EVALUE_OK);
  for (int again = 0; again < 2; again++) {
    assert_int_equal(next(&b), expected);
    assert_string_equal(b.batch.dataset.error.text, text);
  }
  finish(&b);
}

static void test_others(void **state) {
  (void)state;
  float numbers[4] = {1, 2, 3, 4};
  int32_t sizes[2] = {1, 3};
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT32, 2, sizes, numbers, 12), EVALUE_OK);
  const struct {
    evalue value;
    const char *text, *padded; /* NULL: it fits */
  } cases[] = {
      {floats_of(numbers, 4), "batch: expected Tensor float32 [3], found Tensor float32 [4]", NULL},
      {floats_of(numbers, 2), "batch: expected Tensor float32 [3], found Tensor float32 [2]", NULL},
      {evalue_from_tensor(&t), "batch: expected Tensor float32 [3], found Tensor float32 [1, 3]",
       "batch: expected Tensor float32 [3], found Tensor float32 [1, 3]"},
      {evalue_from_int(1), "batch: expected Tensor float32 [3], found Int",
       "batch: expected Tensor float32 [3], found Int"},
      {evalue_from_none(), "batch: expected Tensor float32 [3], found None",
       "batch: expected Tensor float32 [3], found None"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char text[200];
    examples *e = new_examples(2);
    add_values(e, (const evalue[]){cases[i].value, evalue_from_int(1)}, 2);
    assert_true(snprintf(text, sizeof text, "memory: record 2: value 0: %s", cases[i].text) > 0);
    check_failure(e, NULL, EVALUE_MALFORMED, text);
    if (cases[i].padded != NULL) {
      check_failure(e, &(evalue_batch_options){.pad = 1}, EVALUE_MALFORMED, text);
    }
    free(e);
  }
}

static void test_other_counts_and_strings(void **state) {
  (void)state;
  examples *e = new_examples(1);
  add_values(e, (const evalue[]){evalue_from_int(1)}, 1);
  check_failure(e, NULL, EVALUE_MALFORMED, "memory: record 1: batch: expected 2 values, found 1");
  check_failure(e, &(evalue_batch_options){.pad = 1}, EVALUE_MALFORMED,
                "memory: record 1: batch: expected 2 values, found 1");
  e->count = 0;
  add_values(e, (const evalue[]){evalue_from_string("abc", 3)}, 1);
  add_values(e, (const evalue[]){evalue_from_string("abcd", 4)}, 1);
  check_failure(e, NULL, EVALUE_MALFORMED,
                "memory: record 1: value 0: batch: expected a String of 3 bytes, found one of 4");
  free(e);
}

static void test_not_decoded(void **state) {
  (void)state;
  examples *e = new_examples(1);
  evalue_memory_dataset memory;
  evalue_batch_dataset batch;
  evalue_example example;
  for (uint32_t pad = 0; pad < 2; pad++) {
    evalue_memory_dataset_init(&memory, e->slices, e->count);
    evalue_batch_dataset_init(&batch, &memory.dataset, 2, &(evalue_batch_options){.pad = pad});
    assert_int_equal(evalue_dataset_next(&batch.dataset, &example), EVALUE_MISUSE);
    assert_string_equal(batch.dataset.error.text,
                        "memory: record 0: batch: expected values, found a message that is not decoded");
    evalue_dataset_close(&batch.dataset);
  }
  free(e);
}

static void test_sixteen_dimensions(void **state) {
  (void)state;
  examples *e = new_examples(0);
  int32_t sizes[16];
  uint8_t byte = 5;
  evalue_tensor t;
  batches b;
  for (int i = 0; i < 16; i++) sizes[i] = 1;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_UINT8, 15, sizes, &byte, 1), EVALUE_OK);
  add_values(e, (const evalue[]){evalue_from_tensor(&t)}, 1);
  assert_int_equal(start(&b, e, 4, NULL), EVALUE_OK);
  assert_int_equal(next(&b), EVALUE_OK);
  CHECK_TENSOR(&b, 0, EVALUE_UINT8, sizes, ((const uint8_t[]){5}));
  finish(&b);
  e->count = 0;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_UINT8, 16, sizes, &byte, 1), EVALUE_OK);
  add_values(e, (const evalue[]){evalue_from_tensor(&t)}, 1);
  check_failure(e, NULL, EVALUE_UNSUPPORTED,
                "memory: record 0: value 0: batch: expected less than 16 dimensions, or 2^31 bytes, found more");
  free(e);
}

/* More than memory can have: 2^31 - 1 rows of 2^31 bytes, and of somewhat less. */
static void test_far_too_large(void **state) {
  (void)state;
  examples *e = new_examples(0);
  const int32_t sizes[1] = {65536 * 2};
  static uint8_t data[65536 * 2];
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, EVALUE_UINT8, 1, sizes, data, sizeof data), EVALUE_OK);
  evalue_slice slice = {NULL, 0};
  uint64_t size = 0;
  evalue values[1] = {evalue_from_tensor(&t)};
  assert_int_equal(evalue_message_size(values, 1, 1, &size), EVALUE_OK);
  uint8_t *message = (uint8_t *)malloc((size_t)size);
  assert_non_null(message);
  assert_int_equal(evalue_message_encode(values, 1, 1, message, (size_t)size, &size), EVALUE_OK);
  slice = (evalue_slice){message, (size_t)size};
  const evalue_schema_value large = {
      .tag = EVALUE_TAG_TENSOR, .scalar_type = EVALUE_UINT8, .ndim = 1, .sizes = {INT32_MAX}};
  static const uint64_t rows[] = {INT32_MAX, 1 << 20};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    evalue_memory_dataset memory;
    evalue_decode_dataset decode;
    evalue_batch_dataset batch;
    evalue_example example;
    _Alignas(64) uint8_t little[64];
    const evalue_batch_options options = {
        .memory = little, .memory_size = 64, .pad = 1, .pad_to = &large, .pad_to_count = 1};
    evalue_memory_dataset_init(&memory, &slice, 1);
    evalue_decode_dataset_init(&decode, &memory.dataset, NULL, 0, NULL);
    if (i == 0) { /* the array of waiting examples alone would be 200 GB: without padding */
      const evalue_batch_options plain = {.memory = little, .memory_size = 64};
      evalue_batch_dataset_init(&batch, &decode.dataset, rows[i], &plain);
    } else {
      evalue_batch_dataset_init(&batch, &decode.dataset, rows[i], &options);
    }
    assert_int_equal(evalue_dataset_next(&batch.dataset, &example), EVALUE_NO_SPACE);
    assert_true(batch.needed >= rows[i] * 131072);
    evalue_dataset_close(&batch.dataset);
  }
  free(message);
  free(e);
}

/* ---- padding ---- */

static examples *new_ragged(void) {
  examples *e = new_examples(0);
  float numbers[4] = {1, 2, 3, 4};
  evalue_tensor_data_to_wire(EVALUE_FLOAT32, numbers, numbers, sizeof numbers);
  add_values(e, (const evalue[]){floats_of(numbers, 2), evalue_from_string("a", 1), evalue_from_int(5)}, 3);
  add_values(e, (const evalue[]){floats_of(numbers, 0), evalue_from_string("", 0), evalue_from_int(6)}, 3);
  add_values(e, (const evalue[]){floats_of(numbers, 3), evalue_from_string("xyz", 3), evalue_from_int(7)}, 3);
  return e;
}

static void test_padding(void **state) {
  (void)state;
  examples *e = new_ragged();
  batches b;
  float minus = -1;
  uint8_t dot = '.';
  evalue_tensor filler, dots;
  evalue_tensor_data_to_wire(EVALUE_FLOAT32, &minus, &minus, sizeof minus);
  assert_int_equal(evalue_tensor_init(&filler, EVALUE_FLOAT32, 0, NULL, &minus, 4), EVALUE_OK);
  assert_int_equal(evalue_tensor_init(&dots, EVALUE_UINT8, 0, NULL, &dot, 1), EVALUE_OK);
  assert_int_equal(start(&b, e, 3, &(evalue_batch_options){.pad = 1}), EVALUE_OK);
  assert_int_equal(next(&b), EVALUE_OK);
  assert_int_equal(b.example.count, 3);
  CHECK_TENSOR(&b, 0, EVALUE_FLOAT32, ((const int32_t[]){3, 3}), ((const float[]){1, 2, 0, 0, 0, 0, 1, 2, 3}));
  CHECK_TENSOR(&b, 1, EVALUE_UINT8, ((const int32_t[]){3, 3}), ((const uint8_t[]){'a', 0, 0, 0, 0, 0, 'x', 'y', 'z'}));
  CHECK_TENSOR(&b, 2, EVALUE_INT64, ((const int32_t[]){3}), ((const int64_t[]){5, 6, 7}));
  finish(&b);
  const evalue fillers[2] = {evalue_from_tensor(&filler), evalue_from_tensor(&dots)};
  const evalue_batch_options options = {.pad = 1, .filler = fillers, .filler_count = 2, .with_sizes = 1};
  assert_int_equal(start(&b, e, 2, &options), EVALUE_OK);
  assert_int_equal(next(&b), EVALUE_OK);
  assert_int_equal(b.example.count, 6);
  CHECK_TENSOR(&b, 0, EVALUE_FLOAT32, ((const int32_t[]){2, 2}), ((const float[]){1, 2, -1, -1}));
  CHECK_TENSOR(&b, 1, EVALUE_UINT8, ((const int32_t[]){2, 1}), ((const uint8_t[]){'a', '.'}));
  CHECK_TENSOR(&b, 3, EVALUE_INT32, ((const int32_t[]){2, 1}), ((const int32_t[]){2, 0}));
  CHECK_TENSOR(&b, 4, EVALUE_INT32, ((const int32_t[]){2, 1}), ((const int32_t[]){1, 0}));
  check_tensor(&b, 5, EVALUE_INT32, 2, (const int32_t[]){2, 0}, NULL, 0);
  assert_int_equal(next(&b), EVALUE_OK); /* each batch has its own sizes */
  CHECK_TENSOR(&b, 0, EVALUE_FLOAT32, ((const int32_t[]){1, 3}), ((const float[]){1, 2, 3}));
  assert_int_equal(next(&b), EVALUE_END);
  finish(&b);
  const evalue wrong = evalue_from_tensor(&dots);
  check_failure(e, &(evalue_batch_options){.pad = 1, .filler = &wrong, .filler_count = 1}, EVALUE_MISUSE,
                "memory: record 0: value 0: batch: expected a filler of float32, found one of uint8");
  free(e);
}

static void test_padding_to(void **state) {
  (void)state;
  examples *e = new_ragged();
  batches b;
  const evalue_schema_value to[2] = {{.tag = EVALUE_TAG_TENSOR, .ndim = 1, .sizes = {4}},
                                     {.tag = EVALUE_TAG_TENSOR, .ndim = 1, .sizes = {EVALUE_ANY_SIZE}}};
  assert_int_equal(start(&b, e, 2, &(evalue_batch_options){.pad = 1, .pad_to = to, .pad_to_count = 2}), EVALUE_OK);
  assert_int_equal(next(&b), EVALUE_OK);
  CHECK_TENSOR(&b, 0, EVALUE_FLOAT32, ((const int32_t[]){2, 4}), ((const float[]){1, 2, 0, 0, 0, 0, 0, 0}));
  CHECK_TENSOR(&b, 1, EVALUE_UINT8, ((const int32_t[]){2, 1}), ((const uint8_t[]){'a', 0}));
  assert_int_equal(next(&b), EVALUE_OK);
  CHECK_TENSOR(&b, 0, EVALUE_FLOAT32, ((const int32_t[]){1, 4}), ((const float[]){1, 2, 3, 0}));
  finish(&b);
  const evalue_schema_value small[2] = {{.tag = EVALUE_TAG_TENSOR, .ndim = 1, .sizes = {2}}, {.tag = EVALUE_ANY}};
  check_failure(e, &(evalue_batch_options){.pad = 1, .pad_to = small, .pad_to_count = 2}, EVALUE_MALFORMED,
                "memory: record 2: value 0: batch: expected Tensor float32 [2], found Tensor float32 [3]");
  const evalue_schema_value two[2] = {{.tag = EVALUE_ANY}, {.tag = EVALUE_TAG_TENSOR, .ndim = 1, .sizes = {2}}};
  check_failure(e, &(evalue_batch_options){.pad = 1, .pad_to = two, .pad_to_count = 2}, EVALUE_MALFORMED,
                "memory: record 2: value 1: batch: expected a String of 2 bytes, found one of 3");
  const evalue_schema_value others[1] = {{.tag = EVALUE_TAG_TENSOR, .ndim = 2, .sizes = {4, 4}}};
  check_failure(e, &(evalue_batch_options){.pad = 1, .pad_to = others, .pad_to_count = 1}, EVALUE_MALFORMED,
                "memory: record 0: value 0: batch: expected 2 dimensions to pad to, found 1");
  free(e);
}

/* Boxes in boxes: every size of three dimensions up to 3, in every dim order, against an index by index model. */
static void test_boxes(void **state) {
  (void)state;
  static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (uint32_t code = 0; code < 64 * 6; code++) {
    const int32_t sizes[3] = {(int32_t)(code % 4), (int32_t)(code / 4 % 4), (int32_t)(code / 16 % 4)};
    const int32_t place[3] = {3, 3, 3};
    size_t n = (size_t)(sizes[0] * sizes[1] * sizes[2]);
    uint16_t small[27], whole[27], expected[54];
    evalue_tensor t, large;
    int64_t strides[3];
    batches b;
    examples *e = new_examples(0);
    for (size_t i = 0; i < 27; i++) small[i] = (uint16_t)(0x0101 * (i + 1));
    for (size_t i = 0; i < 27; i++) whole[i] = (uint16_t)(0x0101 * (i + 100));
    assert_int_equal(evalue_tensor_init_dim_order(&t, EVALUE_INT16, 3, sizes, orders[code / 64], small, 2 * n),
                     EVALUE_OK);
    assert_int_equal(evalue_tensor_init(&large, EVALUE_INT16, 3, place, whole, 54), EVALUE_OK);
    add_values(e, (const evalue[]){evalue_from_tensor(&t)}, 1);
    add_values(e, (const evalue[]){evalue_from_tensor(&large)}, 1);
    assert_int_equal(evalue_tensor_strides(&t, strides), EVALUE_OK);
    memset(expected, 0, sizeof expected);
    memcpy(expected + 27, whole, sizeof whole);
    for (int32_t i = 0; i < sizes[0]; i++) {
      for (int32_t j = 0; j < sizes[1]; j++) {
        for (int32_t k = 0; k < sizes[2]; k++) {
          expected[9 * i + 3 * j + k] = small[i * strides[0] + j * strides[1] + k * strides[2]];
        }
      }
    }
    assert_int_equal(start(&b, e, 2, &(evalue_batch_options){.pad = 1}), EVALUE_OK);
    assert_int_equal(next(&b), EVALUE_OK);
    CHECK_TENSOR(&b, 0, EVALUE_INT16, ((const int32_t[]){2, 3, 3, 3}), expected);
    finish(&b);
    free(e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_kinds),
      cmocka_unit_test(test_last_batch),
      cmocka_unit_test(test_dim_order),
      cmocka_unit_test(test_little),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_others),
      cmocka_unit_test(test_other_counts_and_strings),
      cmocka_unit_test(test_not_decoded),
      cmocka_unit_test(test_sixteen_dimensions),
      cmocka_unit_test(test_far_too_large),
      cmocka_unit_test(test_padding),
      cmocka_unit_test(test_padding_to),
      cmocka_unit_test(test_boxes),
  };
  return cmocka_run_group_tests_name("dataset batch", tests, NULL, NULL);
}
