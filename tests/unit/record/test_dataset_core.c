/* SPDX-License-Identifier: BSD-3-Clause */
/* What all data sets have in common: inputs, failures, closing, and one of the caller's own. */
#include <errno.h>

#include "dataset_support.h"

/* A source that counts what happens to it, and fails where it is told to. */
typedef struct counter {
  evalue_dataset dataset;
  evalue values[2];
  int64_t at, end, fails_at;
  int closed, rewound;
} counter;

static evalue_status counter_next(evalue_dataset *dataset, evalue_example *example) {
  counter *c = (counter *)(void *)dataset;
  if (c->at == c->end) return EVALUE_END;
  memset(example, 0, sizeof *example);
  example->source = "counter";
  example->index = (uint64_t)c->at;
  if (c->at == c->fails_at) {
    errno = EREMOTE;
    return evalue_dataset_fail(dataset, EVALUE_IO, example, 1, "expected %s, found %d", "more", 7);
  }
  c->values[0] = evalue_from_none();
  c->values[1] = evalue_from_int(c->at++);
  example->values = c->values;
  example->count = 2;
  return EVALUE_OK;
}

static evalue_status counter_rewind(evalue_dataset *dataset) {
  counter *c = (counter *)(void *)dataset;
  c->at = 0;
  c->rewound++;
  return EVALUE_OK;
}

static evalue_status counter_state(evalue_dataset *dataset, evalue_dataset_state *state) {
  counter *c = (counter *)(void *)dataset;
  uint64_t at = (uint64_t)c->at;
  evalue_status status = evalue_state_u64(state, "at", &at);
  c->at = (int64_t)at;
  return status;
}

static void counter_close(evalue_dataset *dataset) {
  ((counter *)(void *)dataset)->closed++;
}

static const evalue_dataset_functions counter_functions = {"counter", counter_next, counter_rewind, counter_state,
                                                           counter_close};

static void start_counter(counter *c, int64_t end, int64_t fails_at) {
  memset(c, 0, sizeof *c);
  c->end = end;
  c->fails_at = fails_at;
  assert_int_equal(evalue_dataset_init(&c->dataset, &counter_functions, NULL, 0), EVALUE_OK);
}

static void test_one_of_the_callers_own(void **state) {
  (void)state;
  counter c;
  start_counter(&c, 3, -1);
  check_numbers(&c.dataset, (const int64_t[]){0, 1, 2}, 3);
  assert_int_equal(evalue_dataset_rewind(&c.dataset), EVALUE_OK);
  check_numbers(&c.dataset, (const int64_t[]){0, 1, 2}, 3);
  assert_int_equal(c.rewound, 1);
  assert_int_equal(evalue_dataset_close(&c.dataset), EVALUE_OK);
  assert_int_equal(c.closed, 1);
  assert_int_equal(evalue_dataset_close(&c.dataset), EVALUE_MISUSE);
  assert_int_equal(c.closed, 1);
}

/* Every stage, one on the other, over one source: a failure comes through, once closed all are. */
typedef struct tower {
  counter source;
  evalue_select_dataset take, skip, shard;
  evalue_repeat_dataset repeat;
  evalue_interleave_dataset interleave;
  evalue_shuffle_dataset shuffle;
  evalue_decode_dataset decode;
  evalue_progress_dataset progress;
  evalue_batch_dataset batch;
  evalue_prefetch_dataset prefetch;
  evalue_dataset *inputs[1];
} tower;

static void tell(void *context, uint64_t n, uint64_t nbytes, bool is_over) {
  (void)n;
  (void)nbytes;
  (void)is_over;
  ++*(int *)context;
}

/* Builds them without looking at a status. */
static evalue_dataset *build(tower *t, int *told) {
  evalue_take_dataset_init(&t->take, &t->source.dataset, 100);
  evalue_skip_dataset_init(&t->skip, &t->take.dataset, 0);
  evalue_shard_dataset_init(&t->shard, &t->skip.dataset, 0, 1);
  evalue_repeat_dataset_init(&t->repeat, &t->shard.dataset, 1);
  t->inputs[0] = &t->repeat.dataset;
  evalue_interleave_dataset_init(&t->interleave, t->inputs, 1, 1);
  evalue_shuffle_dataset_init(&t->shuffle, &t->interleave.dataset, 1, 1, NULL);
  evalue_decode_dataset_init(&t->decode, &t->shuffle.dataset, NULL, 0, NULL);
  evalue_progress_dataset_init(&t->progress, &t->decode.dataset, 1, tell, told);
  evalue_batch_dataset_init(&t->batch, &t->progress.dataset, 2, NULL);
  evalue_prefetch_dataset_init(&t->prefetch, &t->batch.dataset, NULL);
  return &t->prefetch.dataset;
}

static void test_failures_come_through_and_stay(void **state) {
  (void)state;
  tower t;
  evalue_example example;
  int told = 0;
  start_counter(&t.source, 9, 5);
  evalue_dataset *last = build(&t, &told);
  for (int epoch = 0; epoch < 2; epoch++) {
    for (int i = 0; i < 2; i++) assert_int_equal(evalue_dataset_next(last, &example), EVALUE_OK);
    for (int again = 0; again < 2; again++) {
      assert_int_equal(evalue_dataset_next(last, &example), EVALUE_IO);
      assert_string_equal(last->error.text, "counter: record 5: value 1: expected more, found 7");
      assert_int_equal(last->error.status, EVALUE_IO);
      assert_int_equal(last->error.system_error, EREMOTE);
      assert_int_equal(last->error.index, 5);
      assert_int_equal(last->error.value_index, 1);
      assert_string_equal(last->error.source, "counter");
    }
    assert_int_equal(told, 5 * (epoch + 1));
    assert_int_equal(evalue_dataset_rewind(last), EVALUE_OK);
    assert_int_equal(last->error.status, EVALUE_OK);
  }
  t.source.fails_at = -1;
  for (int i = 0; i < 5; i++) assert_int_equal(evalue_dataset_next(last, &example), EVALUE_OK);
  assert_int_equal(example.values[1].tensor.sizes[0], 1);
  assert_int_equal(evalue_dataset_next(last, &example), EVALUE_END);
  assert_int_equal(evalue_dataset_close(last), EVALUE_OK);
  assert_int_equal(t.source.closed, 1);
}

static void test_a_failed_init_is_read_from_the_end(void **state) {
  (void)state;
  evalue_example example;
  evalue_files_dataset files;
  evalue_shuffle_dataset shuffle;
  evalue_batch_dataset batch;
  assert_int_equal(evalue_files_dataset_glob(&files, "/nonexistent/*.tfrecord", NULL), EVALUE_IO);
  assert_int_equal(evalue_shuffle_dataset_init(&shuffle, &files.dataset, 10, 1, NULL), EVALUE_IO);
  assert_int_equal(evalue_batch_dataset_init(&batch, &shuffle.dataset, 10, NULL), EVALUE_IO);
  for (int again = 0; again < 2; again++) {
    assert_int_equal(evalue_dataset_next(&batch.dataset, &example), EVALUE_IO);
    assert_int_equal(evalue_dataset_rewind(&batch.dataset), EVALUE_IO);
    assert_string_equal(batch.dataset.error.text, "files: /nonexistent/*.tfrecord: No such file or directory");
    assert_int_equal(batch.dataset.error.system_error, ENOENT);
  }
  evalue_counting_sink sink;
  assert_int_equal(evalue_counting_sink_init(&sink, NULL), EVALUE_OK);
  assert_int_equal(evalue_dataset_save(&batch.dataset, &sink.sink), EVALUE_IO);
  assert_int_equal(evalue_dataset_restore(&batch.dataset, "", 0), EVALUE_IO);
  assert_int_equal(evalue_dataset_close(&batch.dataset), EVALUE_OK);
  assert_null(files.dataset.self);
}

static void test_inputs_are_taken_over_once(void **state) {
  (void)state;
  counter c;
  evalue_select_dataset one, other;
  start_counter(&c, 4, -1);
  assert_int_equal(evalue_take_dataset_init(&one, &c.dataset, 2), EVALUE_OK);
  assert_int_equal(evalue_take_dataset_init(&other, &c.dataset, 2), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_close(&c.dataset), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_borrow(&c.dataset), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_close(&other.dataset), EVALUE_OK);
  assert_int_equal(c.closed, 0);
  check_numbers(&one.dataset, (const int64_t[]){0, 1}, 2);
  assert_int_equal(evalue_dataset_close(&one.dataset), EVALUE_OK);
  assert_int_equal(c.closed, 1);
  assert_int_equal(evalue_take_dataset_init(&one, &c.dataset, 2), EVALUE_MISUSE);
  evalue_dataset_close(&one.dataset);
}

static void test_borrowed_inputs_stay_open(void **state) {
  (void)state;
  counter c;
  evalue_select_dataset one, other;
  start_counter(&c, 5, -1);
  assert_int_equal(evalue_dataset_borrow(&c.dataset), EVALUE_OK);
  assert_int_equal(evalue_take_dataset_init(&one, &c.dataset, 2), EVALUE_OK);
  assert_int_equal(evalue_take_dataset_init(&other, &c.dataset, 9), EVALUE_OK);
  check_numbers(&one.dataset, (const int64_t[]){0, 1}, 2);
  check_numbers(&other.dataset, (const int64_t[]){2, 3, 4}, 3);
  assert_int_equal(evalue_dataset_close(&one.dataset), EVALUE_OK);
  assert_int_equal(evalue_dataset_close(&other.dataset), EVALUE_OK);
  assert_int_equal(c.closed, 0);
  assert_int_equal(evalue_dataset_close(&c.dataset), EVALUE_OK);
  assert_int_equal(c.closed, 1);
}

/* One bad input of several: none is taken over. */
static void test_all_inputs_or_none(void **state) {
  (void)state;
  counter a, b, closed;
  evalue_interleave_dataset d;
  start_counter(&a, 1, -1);
  start_counter(&b, 1, -1);
  start_counter(&closed, 1, -1);
  assert_int_equal(evalue_dataset_close(&closed.dataset), EVALUE_OK);
  evalue_dataset *const bad[][3] = {{&a.dataset, &b.dataset, &closed.dataset},
                                    {&a.dataset, &b.dataset, &a.dataset},
                                    {&a.dataset, &b.dataset, NULL},
                                    {&a.dataset, &b.dataset, &d.dataset}};
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    assert_int_equal(evalue_interleave_dataset_init(&d, bad[i], 3, 1), EVALUE_MISUSE);
    assert_int_equal(evalue_dataset_close(&d.dataset), EVALUE_OK);
    assert_int_equal(a.dataset.is_taken + b.dataset.is_taken, 0);
  }
  assert_int_equal(evalue_interleave_dataset_init(&d, bad[0], 2, 1), EVALUE_OK);
  assert_int_equal(evalue_dataset_close(&d.dataset), EVALUE_OK);
  assert_int_equal(a.closed + b.closed, 2);
}

static void test_copies_are_refused(void **state) {
  (void)state;
  counter c, copy;
  evalue_example example;
  evalue_counting_sink sink;
  assert_int_equal(evalue_counting_sink_init(&sink, NULL), EVALUE_OK);
  start_counter(&c, 1, -1);
  copy = c;
  assert_int_equal(evalue_dataset_next(&copy.dataset, &example), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_rewind(&copy.dataset), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_borrow(&copy.dataset), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_save(&copy.dataset, &sink.sink), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_restore(&copy.dataset, "", 0), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_fail(&copy.dataset, EVALUE_IO, NULL, 0, "no"), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_close(&copy.dataset), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_next(&c.dataset, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_next(&c.dataset, &example), EVALUE_OK);
  assert_int_equal(evalue_dataset_fail(&c.dataset, EVALUE_OK, NULL, 0, "no"), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_fail(&c.dataset, EVALUE_END, NULL, 0, "no"), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_fail(&c.dataset, EVALUE_IO, NULL, 0, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_save(&c.dataset, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_restore(&c.dataset, NULL, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_close(&c.dataset), EVALUE_OK);
  assert_int_equal(evalue_dataset_next(&c.dataset, &example), EVALUE_MISUSE);
  assert_int_equal(c.closed, 1);
  assert_int_equal(copy.closed, 0);
}

static void test_null(void **state) {
  (void)state;
  counter c;
  evalue_example example;
  uint64_t number = 0;
  evalue_slice slice = {NULL, 0};
  static const evalue_dataset_functions nothing, nameless = {.next = counter_next};
  assert_int_equal(evalue_dataset_init(NULL, &counter_functions, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_next(NULL, &example), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_rewind(NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_borrow(NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_close(NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_restore(NULL, "", 0), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_fail(NULL, EVALUE_IO, NULL, 0, "no"), EVALUE_MISUSE);
  assert_false(evalue_state_is_restoring(NULL));
  assert_int_equal(evalue_state_u64(NULL, "x", &number), EVALUE_MISUSE);
  assert_int_equal(evalue_state_same(NULL, "x", 1), EVALUE_MISUSE);
  assert_int_equal(evalue_state_bytes(NULL, "x", &slice), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_init(&c.dataset, NULL, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_next(&c.dataset, &example), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_close(&c.dataset), EVALUE_OK);
  assert_int_equal(evalue_dataset_init(&c.dataset, &nothing, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_init(&c.dataset, &nameless, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_init(&c.dataset, &counter_functions, NULL, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_close(&c.dataset), EVALUE_OK);
}

/* All stages' inits refuse NULL and bad arguments, and even so can be read from and closed. */
static void test_bad_arguments(void **state) {
  (void)state;
  union {
    evalue_dataset dataset;
    evalue_memory_dataset memory;
    evalue_callback_dataset callback;
    evalue_files_dataset files;
    evalue_select_dataset select;
    evalue_repeat_dataset repeat;
    evalue_interleave_dataset interleave;
    evalue_shuffle_dataset shuffle;
    evalue_decode_dataset decode;
    evalue_batch_dataset batch;
    evalue_prefetch_dataset prefetch;
    evalue_progress_dataset progress;
  } d;
  counter c;
  evalue_example example;
  const char *paths[2] = {"a", NULL};
  evalue_dataset *inputs[1] = {&c.dataset};
  _Alignas(64) static uint8_t memory[256];
  evalue fillers[1] = {evalue_from_int(1)};
  const evalue_schema_value bad_schema[] = {{.tag = 6}, {.tag = EVALUE_TAG_TENSOR, .scalar_type = 30}};
  const evalue_schema_value too_many = {.tag = EVALUE_TAG_TENSOR, .ndim = 17};
  const evalue_schema_value negative = {.tag = EVALUE_TAG_TENSOR, .ndim = 1, .sizes = {-2}};
  const evalue_schema_value maybe = {.tag = EVALUE_TAG_INT, .may_be_none = 2};
#define REFUSED(call)                                                                                                  \
  do {                                                                                                                 \
    start_counter(&c, 3, -1);                                                                                          \
    assert_int_equal(call, EVALUE_MISUSE);                                                                             \
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_MISUSE);                                        \
    assert_true(strlen(d.dataset.error.text) > 10);                                                                    \
    assert_int_equal(evalue_dataset_close(&d.dataset), EVALUE_OK);                                                     \
  } while (0)
  REFUSED(evalue_memory_dataset_init(&d.memory, NULL, 1));
  REFUSED(evalue_callback_dataset_init(&d.callback, NULL, NULL, NULL));
  REFUSED(evalue_files_dataset_init(&d.files, NULL, 1, NULL));
  REFUSED(evalue_files_dataset_init(&d.files, paths, 2, NULL));
  REFUSED(evalue_files_dataset_init(&d.files, (const char *const[]){""}, 1, NULL));
  REFUSED(evalue_files_dataset_init(&d.files, paths, 1, &(evalue_files_options){.size = 1}));
  REFUSED(evalue_files_dataset_init(&d.files, paths, 1, &(evalue_files_options){.reserved = 1}));
  REFUSED(evalue_files_dataset_init(&d.files, paths, 1, &(evalue_files_options){.reader = {.owns_fd = 1}}));
  REFUSED(evalue_files_dataset_init(&d.files, paths, 1, &(evalue_files_options){.reader = {.size = 3}}));
  REFUSED(evalue_files_dataset_glob(&d.files, NULL, NULL));
  REFUSED(evalue_files_dataset_glob(&d.files, "a", &(evalue_files_options){.size = 1}));
  REFUSED(evalue_take_dataset_init(&d.select, NULL, 1));
  REFUSED(evalue_take_dataset_init(&d.select, &d.dataset, 1));
  REFUSED(evalue_skip_dataset_init(&d.select, NULL, 1));
  REFUSED(evalue_shard_dataset_init(&d.select, &c.dataset, 2, 2));
  REFUSED(evalue_shard_dataset_init(&d.select, &c.dataset, 0, 0));
  REFUSED(evalue_repeat_dataset_init(&d.repeat, NULL, 1));
  REFUSED(evalue_interleave_dataset_init(&d.interleave, NULL, 1, 1));
  REFUSED(evalue_interleave_dataset_init(&d.interleave, inputs, 0, 1));
  REFUSED(evalue_interleave_dataset_init(&d.interleave, inputs, 1, 0));
  REFUSED(evalue_shuffle_dataset_init(&d.shuffle, NULL, 1, 1, NULL));
  REFUSED(evalue_shuffle_dataset_init(&d.shuffle, &c.dataset, 0, 1, NULL));
  REFUSED(evalue_shuffle_dataset_init(&d.shuffle, &c.dataset, UINT64_C(1) << 32, 1, NULL));
  REFUSED(evalue_shuffle_dataset_init(&d.shuffle, &c.dataset, 1, 1, &(evalue_shuffle_options){.size = 1}));
  REFUSED(evalue_shuffle_dataset_init(&d.shuffle, &c.dataset, 1, 1, &(evalue_shuffle_options){.same_order = 2}));
  REFUSED(evalue_decode_dataset_init(&d.decode, NULL, NULL, 0, NULL));
  REFUSED(evalue_decode_dataset_init(&d.decode, &c.dataset, NULL, 1, NULL));
  REFUSED(evalue_decode_dataset_init(&d.decode, &c.dataset, bad_schema, 1, NULL));
  REFUSED(evalue_decode_dataset_init(&d.decode, &c.dataset, bad_schema + 1, 1, NULL));
  REFUSED(evalue_decode_dataset_init(&d.decode, &c.dataset, &too_many, 1, NULL));
  REFUSED(evalue_decode_dataset_init(&d.decode, &c.dataset, &negative, 1, NULL));
  REFUSED(evalue_decode_dataset_init(&d.decode, &c.dataset, &maybe, 1, NULL));
  REFUSED(evalue_decode_dataset_init(&d.decode, &c.dataset, NULL, 0, &(evalue_decode_options){.skip = 2}));
  REFUSED(evalue_decode_dataset_init(&d.decode, &c.dataset, NULL, 0, &(evalue_decode_options){.size = 1}));
  REFUSED(evalue_batch_dataset_init(&d.batch, NULL, 1, NULL));
  REFUSED(evalue_batch_dataset_init(&d.batch, &c.dataset, 0, NULL));
  REFUSED(evalue_batch_dataset_init(&d.batch, &c.dataset, UINT64_C(1) << 31, NULL));
  REFUSED(evalue_batch_dataset_init(&d.batch, &c.dataset, 1, &(evalue_batch_options){.size = 1}));
  REFUSED(evalue_batch_dataset_init(&d.batch, &c.dataset, 1, &(evalue_batch_options){.pad = 2}));
  REFUSED(evalue_batch_dataset_init(&d.batch, &c.dataset, 1, &(evalue_batch_options){.memory_size = 1}));
  REFUSED(evalue_batch_dataset_init(&d.batch, &c.dataset, 1,
                                    &(evalue_batch_options){.memory = memory + 32, .memory_size = 64}));
  REFUSED(evalue_batch_dataset_init(&d.batch, &c.dataset, 1,
                                    &(evalue_batch_options){.pad = 1, .filler = fillers, .filler_count = 1}));
  REFUSED(evalue_batch_dataset_init(&d.batch, &c.dataset, 1, &(evalue_batch_options){.pad = 1, .filler_count = 1}));
  REFUSED(evalue_batch_dataset_init(&d.batch, &c.dataset, 1,
                                    &(evalue_batch_options){.pad_to = bad_schema, .pad_to_count = 1}));
  REFUSED(evalue_prefetch_dataset_init(&d.prefetch, NULL, NULL));
  REFUSED(evalue_prefetch_dataset_init(&d.prefetch, &c.dataset, &(evalue_prefetch_options){.size = 1}));
  REFUSED(evalue_progress_dataset_init(&d.progress, NULL, 1, tell, NULL));
  REFUSED(evalue_progress_dataset_init(&d.progress, &c.dataset, 0, tell, NULL));
  REFUSED(evalue_progress_dataset_init(&d.progress, &c.dataset, 1, NULL, NULL));
#undef REFUSED
  start_counter(&c, 3, -1);
  assert_int_equal(evalue_memory_dataset_init(NULL, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_callback_dataset_init(NULL, NULL, NULL, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_files_dataset_init(NULL, NULL, 0, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_files_dataset_glob(NULL, "a", NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_take_dataset_init(NULL, &c.dataset, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_skip_dataset_init(NULL, &c.dataset, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_shard_dataset_init(NULL, &c.dataset, 0, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_repeat_dataset_init(NULL, &c.dataset, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_interleave_dataset_init(NULL, inputs, 1, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_shuffle_dataset_init(NULL, &c.dataset, 1, 1, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_decode_dataset_init(NULL, &c.dataset, NULL, 0, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_batch_dataset_init(NULL, &c.dataset, 1, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_prefetch_dataset_init(NULL, &c.dataset, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_progress_dataset_init(NULL, &c.dataset, 1, tell, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_close(&c.dataset), EVALUE_OK);
}

/* From inside of its own functions a data set refuses to be used. */
static evalue_dataset *whole;

static evalue_status reenter(void *context, evalue_slice *message) {
  evalue_example example;
  (void)context;
  (void)message;
  assert_int_equal(evalue_dataset_next(whole, &example), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_rewind(whole), EVALUE_MISUSE);
  assert_int_equal(evalue_dataset_close(whole), EVALUE_MISUSE);
  return EVALUE_END;
}

static void test_reentrance(void **state) {
  (void)state;
  evalue_callback_dataset c;
  evalue_select_dataset take;
  evalue_example example;
  assert_int_equal(evalue_callback_dataset_init(&c, reenter, NULL, NULL), EVALUE_OK);
  assert_int_equal(evalue_take_dataset_init(&take, &c.dataset, 3), EVALUE_OK);
  whole = &take.dataset;
  assert_int_equal(evalue_dataset_next(&take.dataset, &example), EVALUE_END);
  assert_int_equal(evalue_dataset_close(&take.dataset), EVALUE_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_of_the_callers_own),
      cmocka_unit_test(test_failures_come_through_and_stay),
      cmocka_unit_test(test_a_failed_init_is_read_from_the_end),
      cmocka_unit_test(test_inputs_are_taken_over_once),
      cmocka_unit_test(test_borrowed_inputs_stay_open),
      cmocka_unit_test(test_all_inputs_or_none),
      cmocka_unit_test(test_copies_are_refused),
      cmocka_unit_test(test_null),
      cmocka_unit_test(test_bad_arguments),
      cmocka_unit_test(test_reentrance),
  };
  return cmocka_run_group_tests_name("dataset core", tests, NULL, NULL);
}
