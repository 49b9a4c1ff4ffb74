/* SPDX-License-Identifier: BSD-3-Clause */
/* Which examples, and in which order: take, skip, shard, repeat, interleave, shuffle, progress. */
#include "dataset_support.h"

static examples *all;

static evalue_dataset *start(evalue_memory_dataset *d, size_t first, size_t n) {
  assert_int_equal(evalue_memory_dataset_init(d, all->slices + first, n), EVALUE_OK);
  return &d->dataset;
}

static void test_take_skip_shard(void **state) {
  (void)state;
  static const struct {
    char kind;
    uint64_t a, b;
    size_t n; /* examples in the input */
    int64_t numbers[8];
    size_t count;
  } cases[] = {
      {'t', 0, 0, 5, {0}, 0},          {'t', 3, 0, 5, {0, 1, 2}, 3}, {'t', 9, 0, 3, {0, 1, 2}, 3},
      {'k', 0, 0, 3, {0, 1, 2}, 3},    {'k', 2, 0, 5, {2, 3, 4}, 3}, {'k', 5, 0, 5, {0}, 0},
      {'k', UINT64_MAX, 0, 5, {0}, 0}, {'s', 0, 1, 3, {0, 1, 2}, 3}, {'s', 0, 3, 8, {0, 3, 6}, 3},
      {'s', 1, 3, 8, {1, 4, 7}, 3},    {'s', 2, 3, 8, {2, 5}, 2},    {'s', 7, 8, 7, {0}, 0},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    evalue_memory_dataset memory;
    evalue_select_dataset d;
    evalue_dataset *input = start(&memory, 0, cases[i].n);
    if (cases[i].kind == 't') assert_int_equal(evalue_take_dataset_init(&d, input, cases[i].a), EVALUE_OK);
    if (cases[i].kind == 'k') assert_int_equal(evalue_skip_dataset_init(&d, input, cases[i].a), EVALUE_OK);
    if (cases[i].kind == 's') {
      assert_int_equal(evalue_shard_dataset_init(&d, input, cases[i].a, cases[i].b), EVALUE_OK);
    }
    for (int epoch = 0; epoch < 2; epoch++) {
      check_numbers(&d.dataset, cases[i].numbers, cases[i].count);
      if (cases[i].kind == 't' && cases[i].a < cases[i].n) assert_int_equal(memory.position, cases[i].a);
      assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
    }
    evalue_dataset_close(&d.dataset);
  }
}

static void test_repeat(void **state) {
  (void)state;
  evalue_memory_dataset memory;
  evalue_repeat_dataset d;
  evalue_example example;
  assert_int_equal(evalue_repeat_dataset_init(&d, start(&memory, 0, 2), 3), EVALUE_OK);
  check_numbers(&d.dataset, (const int64_t[]){0, 1, 0, 1, 0, 1}, 6);
  assert_int_equal(d.epoch, 2);
  assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
  check_numbers(&d.dataset, (const int64_t[]){0, 1, 0, 1, 0, 1}, 6);
  evalue_dataset_close(&d.dataset);
  assert_int_equal(evalue_repeat_dataset_init(&d, start(&memory, 0, 2), 0), EVALUE_OK);
  for (int i = 0; i < 1001; i++) {
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    assert_int_equal(number_of(&example), i % 2);
    assert_int_equal(d.epoch, i / 2);
  }
  evalue_dataset_close(&d.dataset);
  assert_int_equal(evalue_repeat_dataset_init(&d, start(&memory, 0, 0), 0), EVALUE_OK);
  check_numbers(&d.dataset, NULL, 0); /* and does not run for ever */
  evalue_dataset_close(&d.dataset);
}

static void test_interleave(void **state) {
  (void)state;
  static const struct {
    uint64_t block;
    int64_t numbers[9];
  } cases[] = {{1, {0, 4, 5, 1, 6, 2, 7, 3, 8}}, {2, {0, 1, 4, 5, 6, 2, 3, 7, 8}}, {9, {0, 1, 2, 3, 4, 5, 6, 7, 8}}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    evalue_memory_dataset a, b, c, none;
    evalue_interleave_dataset d;
    evalue_dataset *const inputs[] = {start(&a, 0, 4), start(&b, 4, 1), start(&none, 5, 0), start(&c, 5, 4)};
    assert_int_equal(evalue_interleave_dataset_init(&d, inputs, 4, cases[i].block), EVALUE_OK);
    for (int epoch = 0; epoch < 2; epoch++) {
      check_numbers(&d.dataset, cases[i].numbers, 9);
      assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
    }
    evalue_dataset_close(&d.dataset);
    assert_null(c.dataset.self);
  }
}

/* ---- shuffle ---- */

/* The order that the header describes, written down once more: for `epoch`, of n examples. */
static uint32_t pcg(uint64_t *s, uint64_t epoch) {
  uint64_t old = *s;
  *s = old * UINT64_C(6364136223846793005) + 2 * epoch + 1;
  uint32_t x = (uint32_t)((old >> 18 ^ old) >> 27), turn = (uint32_t)(old >> 59);
  return turn == 0 ? x : x >> turn | x << (32 - turn);
}

static void expect_order(int64_t *numbers, size_t n, size_t buffer, uint64_t seed, uint64_t epoch) {
  uint64_t s = 0;
  int64_t waiting[MOST];
  size_t count = 0, next = 0;
  (void)pcg(&s, epoch);
  s += seed;
  (void)pcg(&s, epoch);
  for (size_t i = 0; i < n; i++) {
    while (count < buffer && next < n) waiting[count++] = (int64_t)next++;
    uint64_t product;
    do {
      product = (uint64_t)pcg(&s, epoch) * count;
    } while ((uint32_t)product < (UINT64_C(1) << 32) % count);
    numbers[i] = waiting[product >> 32];
    waiting[product >> 32] = waiting[--count];
  }
}

static void test_shuffle_as_described(void **state) {
  (void)state;
  static const size_t buffers[] = {1, 2, 3, 7, 63, 64, 65, 1000};
  for (size_t i = 0; i < COUNT_OF(buffers); i++) {
    evalue_memory_dataset memory;
    evalue_shuffle_dataset d;
    assert_int_equal(evalue_shuffle_dataset_init(&d, start(&memory, 0, 64), buffers[i], 99, NULL), EVALUE_OK);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
      int64_t numbers[64];
      expect_order(numbers, 64, buffers[i], 99, epoch);
      check_numbers(&d.dataset, numbers, 64);
      assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
    }
    evalue_dataset_close(&d.dataset);
  }
}

/* Written down, so that no change of both sides goes unseen: these hold on every machine, for ever. */
static void test_shuffle_in_numbers(void **state) {
  (void)state;
  static const struct {
    uint64_t buffer, seed;
    int64_t numbers[2][12]; /* of the first two epochs */
  } cases[] = {
      {4, 42, {{0, 4, 2, 3, 7, 5, 8, 6, 1, 10, 9, 11}, {1, 4, 3, 6, 7, 5, 2, 8, 0, 11, 10, 9}}},
      {12, 42, {{1, 8, 5, 11, 7, 4, 6, 0, 10, 9, 2, 3}, {3, 9, 11, 8, 7, 2, 10, 6, 0, 5, 1, 4}}},
      {12, 0, {{10, 2, 3, 9, 0, 5, 11, 6, 1, 8, 7, 4}, {0, 1, 2, 8, 5, 10, 11, 6, 4, 9, 7, 3}}},
      {5, UINT64_MAX, {{4, 1, 5, 6, 0, 9, 2, 10, 7, 3, 8, 11}, {4, 5, 2, 7, 3, 6, 0, 11, 9, 1, 10, 8}}},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    evalue_memory_dataset memory;
    evalue_shuffle_dataset d;
    evalue_dataset *input = start(&memory, 0, 12);
    assert_int_equal(evalue_shuffle_dataset_init(&d, input, cases[i].buffer, cases[i].seed, NULL), EVALUE_OK);
    check_numbers(&d.dataset, cases[i].numbers[0], 12);
    assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
    check_numbers(&d.dataset, cases[i].numbers[1], 12);
    evalue_dataset_close(&d.dataset);
  }
}

static void test_shuffle_in_the_same_order(void **state) {
  (void)state;
  evalue_memory_dataset memory;
  evalue_shuffle_dataset d;
  int64_t numbers[64];
  const evalue_shuffle_options options = {.same_order = 1};
  expect_order(numbers, 64, 10, 5, 0);
  assert_int_equal(evalue_shuffle_dataset_init(&d, start(&memory, 0, 64), 10, 5, &options), EVALUE_OK);
  for (int epoch = 0; epoch < 3; epoch++) {
    check_numbers(&d.dataset, numbers, 64);
    assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
  }
  evalue_dataset_close(&d.dataset);
}

/* With all of them in the buffer each comes first about as often as any other: 3000 seeds, 10 examples. */
static void test_shuffle_is_fair(void **state) {
  (void)state;
  int firsts[10] = {0}, lasts[10] = {0};
  for (uint64_t seed = 0; seed < 3000; seed++) {
    evalue_memory_dataset memory;
    evalue_shuffle_dataset d;
    evalue_example example;
    assert_int_equal(evalue_shuffle_dataset_init(&d, start(&memory, 0, 10), 10, seed, NULL), EVALUE_OK);
    for (int i = 0; i < 10; i++) {
      assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
      if (i == 0) firsts[number_of(&example)]++;
      if (i == 9) lasts[number_of(&example)]++;
    }
    evalue_dataset_close(&d.dataset);
  }
  for (int i = 0; i < 10; i++) { /* five standard deviations */
    assert_in_range(firsts[i], 300 - 82, 300 + 82);
    assert_in_range(lasts[i], 300 - 82, 300 + 82);
  }
}

/* A limit of bytes: the buffer is as if it were smaller. */
static void test_shuffle_of_few_bytes(void **state) {
  (void)state;
  size_t size = all->slices[0].size;
  static const size_t room[] = {1, 3, 10};
  for (size_t i = 0; i < COUNT_OF(room); i++) {
    evalue_memory_dataset memory;
    evalue_shuffle_dataset d;
    int64_t numbers[64];
    const evalue_shuffle_options options = {.max_bytes = room[i] * size};
    expect_order(numbers, 64, room[i], 5, 0);
    assert_int_equal(evalue_shuffle_dataset_init(&d, start(&memory, 0, 64), 1000, 5, &options), EVALUE_OK);
    check_numbers(&d.dataset, numbers, 64);
    evalue_dataset_close(&d.dataset);
  }
}

/* What a shuffle gives stays as it is until the next call, and is aligned. */
static void test_shuffle_holds_copies(void **state) {
  (void)state;
  evalue_memory_dataset memory;
  evalue_shuffle_dataset d;
  evalue_example example;
  assert_int_equal(evalue_shuffle_dataset_init(&d, start(&memory, 0, 64), 8, 5, NULL), EVALUE_OK);
  while (evalue_dataset_next(&d.dataset, &example) == EVALUE_OK) {
    assert_int_equal(example.bytes.size, all->slices[example.index].size);
    assert_memory_equal(example.bytes.data, all->slices[example.index].data, example.bytes.size);
    assert_int_equal((uintptr_t)example.bytes.data % 64, 0);
    assert_string_equal(example.source, "memory");
    assert_null(example.values);
  }
  evalue_dataset_close(&d.dataset);
}

/* Behind a stage that has made values, or batches, it holds those. */
static void test_shuffle_of_values(void **state) {
  (void)state;
  evalue_memory_dataset memory;
  evalue_decode_dataset decode;
  evalue_batch_dataset batch;
  evalue_shuffle_dataset d;
  evalue_example example;
  int64_t numbers[64];
  expect_order(numbers, 20, 6, 5, 0);
  evalue_decode_dataset_init(&decode, start(&memory, 0, 20), NULL, 0, NULL);
  assert_int_equal(evalue_shuffle_dataset_init(&d, &decode.dataset, 6, 5, NULL), EVALUE_OK);
  check_numbers(&d.dataset, numbers, 20);
  evalue_dataset_close(&d.dataset);
  evalue_decode_dataset_init(&decode, start(&memory, 0, 40), NULL, 0, NULL);
  evalue_batch_dataset_init(&batch, &decode.dataset, 2, NULL);
  assert_int_equal(evalue_shuffle_dataset_init(&d, &batch.dataset, 6, 5, NULL), EVALUE_OK);
  for (int i = 0; i < 20; i++) {
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    assert_null(example.bytes.data);
    assert_int_equal(example.count, 2);
    assert_int_equal((uintptr_t)example.values[0].tensor.data % 64, 0);
    assert_int_equal(((const uint8_t *)example.values[1].tensor.data)[0], 2 * numbers[i]);
    assert_int_equal(((const uint8_t *)example.values[1].tensor.data)[8], 2 * numbers[i] + 1);
    assert_int_equal(example.index, 2 * numbers[i]);
  }
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_END);
  evalue_dataset_close(&d.dataset);
}

/* ---- several stages ---- */

static void test_composed(void **state) {
  (void)state;
  evalue_memory_dataset memory;
  evalue_select_dataset shard, take;
  evalue_shuffle_dataset shuffle;
  evalue_repeat_dataset repeat;
  int64_t order[64], numbers[12];
  for (uint64_t epoch = 0; epoch < 3; epoch++) { /* an epoch ends where it is taken no further */
    expect_order(order, 30, 8, 3, epoch);
    for (size_t i = 0; i < 4; i++) numbers[4 * epoch + i] = 2 * order[i] + 1;
  }
  evalue_shard_dataset_init(&shard, start(&memory, 0, 60), 1, 2);
  evalue_shuffle_dataset_init(&shuffle, &shard.dataset, 8, 3, NULL);
  evalue_take_dataset_init(&take, &shuffle.dataset, 4);
  assert_int_equal(evalue_repeat_dataset_init(&repeat, &take.dataset, 3), EVALUE_OK);
  check_numbers(&repeat.dataset, numbers, 12);
  evalue_dataset_close(&repeat.dataset);
}

/* ---- progress ---- */

typedef struct told {
  uint64_t calls, examples, bytes, ends;
} told;

static void tell(void *context, uint64_t n, uint64_t nbytes, bool is_over) {
  told *t = (told *)context;
  t->calls++;
  t->examples = n;
  t->bytes = nbytes;
  t->ends += is_over ? 1 : 0;
}

static void test_progress(void **state) {
  (void)state;
  evalue_memory_dataset memory;
  evalue_progress_dataset d;
  evalue_example example;
  told t = {0, 0, 0, 0};
  uint64_t size = all->slices[0].size;
  assert_int_equal(evalue_progress_dataset_init(&d, start(&memory, 0, 10), 4, tell, &t), EVALUE_OK);
  for (uint64_t i = 1; i <= 10; i++) {
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    assert_int_equal(t.calls, i / 4);
    if (i % 4 == 0) assert_int_equal(t.examples, i);
    if (i % 4 == 0) assert_int_equal(t.bytes, i * size);
  }
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_END);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_END);
  assert_int_equal(t.calls, 3);
  assert_int_equal(t.examples, 10);
  assert_int_equal(t.ends, 1);
  assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
  for (int i = 0; i < 4; i++) assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  assert_int_equal(t.examples, 4);
  evalue_dataset_close(&d.dataset);
}

static void test_progress_of_batches(void **state) {
  (void)state;
  evalue_memory_dataset memory;
  evalue_decode_dataset decode;
  evalue_batch_dataset batch;
  evalue_progress_dataset d;
  evalue_example example;
  told t = {0, 0, 0, 0};
  evalue_decode_dataset_init(&decode, start(&memory, 0, 10), NULL, 0, NULL);
  evalue_batch_dataset_init(&batch, &decode.dataset, 4, NULL);
  assert_int_equal(evalue_progress_dataset_init(&d, &batch.dataset, 1, tell, &t), EVALUE_OK);
  while (evalue_dataset_next(&d.dataset, &example) == EVALUE_OK) {
  }
  assert_int_equal(t.examples, 3);
  assert_int_equal(t.bytes, 10 * (12 + 8));
  evalue_dataset_close(&d.dataset);
}

static int make_all(void **state) {
  (void)state;
  all = new_examples(64);
  return 0;
}

static int free_all(void **state) {
  (void)state;
  free(all);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_take_skip_shard),
      cmocka_unit_test(test_repeat),
      cmocka_unit_test(test_interleave),
      cmocka_unit_test(test_shuffle_as_described),
      cmocka_unit_test(test_shuffle_in_numbers),
      cmocka_unit_test(test_shuffle_in_the_same_order),
      cmocka_unit_test(test_shuffle_is_fair),
      cmocka_unit_test(test_shuffle_of_few_bytes),
      cmocka_unit_test(test_shuffle_holds_copies),
      cmocka_unit_test(test_shuffle_of_values),
      cmocka_unit_test(test_composed),
      cmocka_unit_test(test_progress),
      cmocka_unit_test(test_progress_of_batches),
  };
  return cmocka_run_group_tests_name("dataset order", tests, make_all, free_all);
}
