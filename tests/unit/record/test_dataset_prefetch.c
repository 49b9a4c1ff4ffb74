/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading ahead: the same examples, bounds, and stopping at any moment. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "dataset_support.h"

/* A source that lets the test see how far it was read, and can be made to wait. */
typedef struct gate {
  evalue_dataset dataset;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint64_t given, open, end, fails_at; /* no more than `open` are given, until it is opened further */
  size_t size;                         /* of each example */
  uint8_t message[4096];
  pthread_t reader;
} gate;

static evalue_status gate_next(evalue_dataset *dataset, evalue_example *example) {
  gate *g = (gate *)(void *)dataset;
  pthread_mutex_lock(&g->lock);
  while (g->given == g->open) pthread_cond_wait(&g->changed, &g->lock);
  uint64_t number = g->given;
  g->reader = pthread_self();
  evalue_status status = number == g->end ? EVALUE_END : EVALUE_OK;
  if (status == EVALUE_OK && number != g->fails_at) g->given++;
  pthread_cond_broadcast(&g->changed);
  pthread_mutex_unlock(&g->lock);
  if (status != EVALUE_OK) return status;
  memset(example, 0, sizeof *example);
  memset(g->message, (int)number, sizeof g->message);
  example->bytes = (evalue_slice){g->message, g->size};
  example->source = "gate";
  example->index = number;
  if (number != g->fails_at) return EVALUE_OK;
  errno = EIO;
  return evalue_dataset_fail(dataset, EVALUE_IO, example, EVALUE_NO_INDEX, "it is broken");
}

static evalue_status gate_rewind(evalue_dataset *dataset) {
  gate *g = (gate *)(void *)dataset;
  pthread_mutex_lock(&g->lock);
  g->given = 0;
  pthread_mutex_unlock(&g->lock);
  return EVALUE_OK;
}

static void start_gate(gate *g, size_t size, uint64_t end, uint64_t open) {
  static const evalue_dataset_functions functions = {.name = "gate", .next = gate_next, .rewind = gate_rewind};
  memset(g, 0, sizeof *g);
  assert_int_equal(pthread_mutex_init(&g->lock, NULL), 0);
  assert_int_equal(pthread_cond_init(&g->changed, NULL), 0);
  g->size = size;
  g->end = end;
  g->open = open;
  g->fails_at = UINT64_MAX;
  assert_int_equal(evalue_dataset_init(&g->dataset, &functions, NULL, 0), EVALUE_OK);
}

static uint64_t given(gate *g) {
  pthread_mutex_lock(&g->lock);
  uint64_t n = g->given;
  pthread_mutex_unlock(&g->lock);
  return n;
}

/* Waits until so many were given. */
static void wait_for(gate *g, uint64_t n) {
  pthread_mutex_lock(&g->lock);
  while (g->given < n) pthread_cond_wait(&g->changed, &g->lock);
  pthread_mutex_unlock(&g->lock);
}

/* Gives the thread every chance to read more than it may. */
static void give_time(void) {
  for (int i = 0; i < 2000; i++) sched_yield();
}

static void check_example(const evalue_example *example, uint64_t number, size_t size) {
  const uint8_t *data = (const uint8_t *)example->bytes.data;
  assert_int_equal(example->index, number);
  assert_int_equal(example->bytes.size, size);
  assert_int_equal((uintptr_t)data % 64, 0);
  for (size_t i = 0; i < size; i++) assert_int_equal(data[i], (uint8_t)number);
}

static void test_same_examples(void **state) {
  (void)state;
  static const uint32_t depths[] = {1, 2, 3, 16, 1000};
  for (size_t i = 0; i < COUNT_OF(depths); i++) {
    gate g;
    evalue_prefetch_dataset d;
    evalue_example example;
    const evalue_prefetch_options options = {.examples = depths[i]};
    start_gate(&g, 100, 50, UINT64_MAX);
    assert_int_equal(evalue_prefetch_dataset_init(&d, &g.dataset, &options), EVALUE_OK);
    assert_int_equal(given(&g), 0); /* nothing before it is asked */
    for (int epoch = 0; epoch < 3; epoch++) {
      uint64_t n = epoch == 1 ? 7 : 50; /* rewound in the middle */
      for (uint64_t k = 0; k < n; k++) {
        assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
        check_example(&example, k, 100);
      }
      if (n == 50) assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_END);
      if (n == 50) assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_END);
      assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
    }
    assert_false(pthread_equal(g.reader, pthread_self()));
    assert_int_equal(evalue_dataset_close(&d.dataset), EVALUE_OK);
  }
}

/* Takes n examples; after each, no more may have been read than `ahead` further, and in the end so many are. */
static void check_ahead(uint64_t ahead, size_t size, const evalue_prefetch_options *options) {
  gate g;
  evalue_prefetch_dataset d;
  evalue_example example;
  start_gate(&g, size, 100, UINT64_MAX);
  assert_int_equal(evalue_prefetch_dataset_init(&d, &g.dataset, options), EVALUE_OK);
  for (uint64_t i = 0; i < 20; i++) {
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    wait_for(&g, i == 0 && ahead > 2 ? ahead : i + 2); /* it does read ahead: at first until it is full */
    give_time();
    assert_in_range(given(&g), i + 2, i + 1 + ahead);
    check_example(&example, i, size);
  }
  evalue_dataset_close(&d.dataset);
}

static void test_number_of_examples(void **state) {
  (void)state;
  for (uint32_t depth = 1; depth < 8; depth++) {
    const evalue_prefetch_options options = {.examples = depth};
    check_ahead(depth, 10, &options);
  }
}

static void test_number_of_bytes(void **state) {
  (void)state;
  static const struct { uint64_t max_bytes, ahead; } cases[] = {{1, 1}, {1000, 1}, {1001, 2}, {3000, 3}, {3001, 4}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const evalue_prefetch_options options = {.examples = 100, .max_bytes = cases[i].max_bytes};
    check_ahead(cases[i].ahead, 1000, &options);
  }
}

/* What waits comes first, then the failure, which stays. */
static void test_failure(void **state) {
  (void)state;
  gate g;
  evalue_prefetch_dataset d;
  evalue_example example;
  start_gate(&g, 10, 100, UINT64_MAX);
  g.fails_at = 5;
  assert_int_equal(evalue_prefetch_dataset_init(&d, &g.dataset, NULL), EVALUE_OK);
  for (uint64_t i = 0; i < 5; i++) {
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    wait_for(&g, 5);
    give_time(); /* it has failed meanwhile */
    check_example(&example, i, 10);
  }
  for (int again = 0; again < 2; again++) {
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_IO);
    assert_string_equal(d.dataset.error.text, "gate: record 5: it is broken");
    assert_int_equal(d.dataset.error.system_error, EIO);
  }
  g.fails_at = UINT64_MAX;
  assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  check_example(&example, 0, 10);
  evalue_dataset_close(&d.dataset);
}

/* Opens the gate after a while. */
static void *open_gate(void *argument) {
  gate *g = (gate *)argument;
  give_time();
  pthread_mutex_lock(&g->lock);
  g->open = UINT64_MAX;
  pthread_cond_broadcast(&g->changed);
  pthread_mutex_unlock(&g->lock);
  return NULL;
}

/* Closed, rewound or saved after any number of examples, also while the source makes the thread wait. */
static void test_stopping_at_any_moment(void **state) {
  (void)state;
  for (int what = 0; what < 3; what++) {
    for (uint64_t n = 0; n < 20; n++) {
      gate g;
      evalue_prefetch_dataset d;
      evalue_example example;
      evalue_counting_sink sink;
      pthread_t opener;
      const evalue_prefetch_options options = {.examples = 1 + (uint32_t)n % 5};
      start_gate(&g, 10, 100, n + 1);
      assert_int_equal(evalue_prefetch_dataset_init(&d, &g.dataset, &options), EVALUE_OK);
      for (uint64_t i = 0; i < n; i++) assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
      assert_int_equal(pthread_create(&opener, NULL, open_gate, &g), 0);
      if (what == 1) assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
      if (what == 2) {
        assert_int_equal(evalue_counting_sink_init(&sink, NULL), EVALUE_OK);
        assert_int_equal(evalue_dataset_save(&d.dataset, &sink.sink), EVALUE_OK);
        if (n > 0) check_example(&example, n - 1, 10); /* what was handed out is still there */
      }
      if (what != 0) assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
      if (what != 0) check_example(&example, what == 1 ? 0 : n, 10);
      assert_int_equal(evalue_dataset_close(&d.dataset), EVALUE_OK);
      assert_int_equal(pthread_join(opener, NULL), 0);
    }
  }
}

/* Batches are copied, aligned as they were, and can be shuffled once more behind it. */
static void test_batches(void **state) {
  (void)state;
  examples *e = new_examples(64);
  evalue_memory_dataset memory;
  evalue_decode_dataset decode;
  evalue_batch_dataset batch;
  evalue_prefetch_dataset d;
  evalue_example example;
  evalue_memory_dataset_init(&memory, e->slices, e->count);
  evalue_decode_dataset_init(&decode, &memory.dataset, NULL, 0, NULL);
  evalue_batch_dataset_init(&batch, &decode.dataset, 8, NULL);
  assert_int_equal(evalue_prefetch_dataset_init(&d, &batch.dataset, NULL), EVALUE_OK);
  for (uint64_t i = 0; i < 8; i++) {
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    assert_null(example.bytes.data);
    assert_int_equal(example.count, 2);
    assert_int_equal(example.index, 8 * i);
    for (int k = 0; k < 2; k++) assert_int_equal((uintptr_t)example.values[k].tensor.data % 64, 0);
    for (uint64_t k = 0; k < 8; k++) {
      assert_int_equal(((const uint8_t *)example.values[1].tensor.data)[8 * k], 8 * i + k);
    }
  }
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_END);
  evalue_dataset_close(&d.dataset);
  free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_examples),          cmocka_unit_test(test_number_of_examples),
      cmocka_unit_test(test_number_of_bytes),        cmocka_unit_test(test_failure),
      cmocka_unit_test(test_stopping_at_any_moment), cmocka_unit_test(test_batches),
  };
  return cmocka_run_group_tests_name("dataset prefetch", tests, NULL, NULL);
}
