/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory: the N-th allocation fails, for every N, and then all later ones; nothing leaks. And however many examples go
 * by, no more memory is taken. The allocator is this program's, in front of the C library's, where that is glibc and no
 * sanitizer has its own.
 */
#include <errno.h>

#include "dataset_pipelines.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define OWN_ALLOCATOR 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#undef OWN_ALLOCATOR
#endif
#endif

#ifdef OWN_ALLOCATOR
#include <malloc.h>
#include <pthread.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static int64_t countdown = INT64_MAX; /* allocations until one fails */
static int fails_on;                  /* whether all later ones do, too */
static int64_t live, live_bytes, most_bytes, calls;

static int fails(void) {
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  int64_t left = __atomic_sub_fetch(&countdown, 1, __ATOMIC_RELAXED);
  if (left > 0 || (left < 0 && fails_on == 0)) return 0;
  errno = ENOMEM;
  return 1;
}

static void *count(void *memory) {
  if (memory == NULL) return NULL;
  __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
  int64_t bytes_now = __atomic_add_fetch(&live_bytes, (int64_t)malloc_usable_size(memory), __ATOMIC_RELAXED);
  if (bytes_now > most_bytes) most_bytes = bytes_now;
  return memory;
}

static void uncount(void *memory) {
  if (memory == NULL) return;
  __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
  __atomic_sub_fetch(&live_bytes, (int64_t)malloc_usable_size(memory), __ATOMIC_RELAXED);
}

void *malloc(size_t size) {
  return fails() ? NULL : count(__libc_malloc(size));
}

void *calloc(size_t n, size_t size) {
  return fails() ? NULL : count(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size) {
  if (fails()) return NULL;
  uncount(old);
  return count(__libc_realloc(old, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : count(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *found = fails() ? NULL : count(__libc_memalign(alignment, size));
  if (found == NULL) return ENOMEM;
  *memory = found;
  return 0;
}

void free(void *memory) {
  uncount(memory);
  __libc_free(memory);
}

static examples *all;
static folder place;

/* Builds a pipeline, reads it, saves and restores it, and starts over: what there was at first that was not good. */
static evalue_status use(int kind, const bytes *saved, bool with_state) {
  static uint8_t storage[1 << 16];
  pipeline p;
  evalue_example example;
  evalue_buffer_sink sink;
  evalue_dataset *last = make_pipeline(&p, kind, all, &place);
  evalue_status status = EVALUE_OK, first = EVALUE_OK;
  int32_t system_error = 0;
  if (with_state) first = evalue_dataset_restore(last, saved->data, saved->size);
  if (first != EVALUE_OK) system_error = last->error.system_error;
  for (int i = 0; i < 5 && status == EVALUE_OK; i++) status = evalue_dataset_next(last, &example);
  if (status != EVALUE_OK && status != EVALUE_END && first == EVALUE_OK) {
    first = status;
    system_error = last->error.system_error;
  }
  assert_int_equal(evalue_buffer_sink_init(&sink, storage, sizeof storage, NULL), EVALUE_OK);
  status = evalue_dataset_save(last, &sink.sink);
  if (status != EVALUE_OK && first == EVALUE_OK) {
    first = status;
    system_error = last->error.system_error;
  }
  while (evalue_dataset_next(last, &example) == EVALUE_OK) {
  }
  if (last->status != EVALUE_END && first == EVALUE_OK) {
    first = (evalue_status)last->status;
    system_error = last->error.system_error;
  }
  evalue_dataset_rewind(last);
  evalue_dataset_next(last, &example);
  assert_int_equal(evalue_dataset_close(last), EVALUE_OK);
  bool has_no_thread = system_error == EAGAIN && has_thread(kind); /* what pthread_create says of it */
  if (first == EVALUE_IO && !has_no_thread) assert_int_equal(system_error, ENOMEM);
  return first;
}

/* With the N-th allocation failing: EVALUE_IO and ENOMEM, or nobody minds; nothing leaks. */
static void check_failures(int kind, const bytes *saved, bool with_state, int on) {
  int64_t n = 1;
  for (;; n++) {
    int64_t before = live;
    fails_on = on;
    countdown = n;
    evalue_status status = use(kind, saved, with_state);
    bool has_failed = countdown <= 0;
    countdown = INT64_MAX;
    fails_on = 0;
    assert_int_equal(live, before);
    if (!has_failed) {
      assert_int_equal(status, EVALUE_OK);
      break;
    }
    if (status != EVALUE_IO && status != EVALUE_OK) fail_msg("kind %d, allocation %ld: %d", kind, (long)n, (int)status);
  }
  assert_true(n > 1);
}

static void test_failing_allocations(void **state) {
  (void)state;
  for (int kind = 0; kind < KINDS; kind++) {
    pipeline p;
    bytes before = {NULL, 0, 0};
    evalue_dataset *last = make_pipeline(&p, kind, all, &place);
    read_on(last, &before, 2);
    bytes saved = save_state(last);
    evalue_dataset_close(last);
    for (int how = 0; how < 4; how++) {
      if (kind != 5) check_failures(kind, &saved, how / 2 == 1, how % 2);
    }
    free(before.data);
    free(saved.data);
  }
}

/* ---- constant memory ---- */

/* A source that never ends, of messages of many sizes. */
typedef struct endless {
  uint64_t number;
  uint8_t message[70000];
} endless;

static evalue_status give_endlessly(void *context, evalue_slice *message) {
  endless *source = (endless *)context;
  static uint8_t data[65536];
  uint64_t size = 0;
  uint64_t length = source->number * UINT64_C(2654435761) % 65536;
  const evalue values[2] = {evalue_from_string((const char *)data, (size_t)length),
                            evalue_from_int((int64_t)source->number++)};
  if (evalue_message_encode(values, 2, 0, source->message, sizeof source->message, &size) != EVALUE_OK) {
    return EVALUE_LIMIT;
  }
  *message = (evalue_slice){source->message, (size_t)size};
  return EVALUE_OK;
}

static void test_constant_memory(void **state) {
  (void)state;
  static endless source;
  evalue_callback_dataset callback;
  evalue_shuffle_dataset shuffle;
  evalue_decode_dataset decode;
  evalue_batch_dataset batch;
  evalue_prefetch_dataset prefetch;
  evalue_example example;
  const evalue_shuffle_options few = {.max_bytes = 1 << 20};
  const evalue_batch_options pad = {.pad = 1};
  const evalue_prefetch_options ahead = {.examples = 64, .max_bytes = 1 << 20};
  int64_t start = live_bytes;
  evalue_callback_dataset_init(&callback, give_endlessly, NULL, &source);
  evalue_shuffle_dataset_init(&shuffle, &callback.dataset, 1000, 1, &few);
  evalue_decode_dataset_init(&decode, &shuffle.dataset, NULL, 0, NULL);
  evalue_batch_dataset_init(&batch, &decode.dataset, 4, &pad);
  assert_int_equal(evalue_prefetch_dataset_init(&prefetch, &batch.dataset, &ahead), EVALUE_OK);
  most_bytes = start;
  for (int i = 0; i < 2000; i++) assert_int_equal(evalue_dataset_next(&prefetch.dataset, &example), EVALUE_OK);
  /* Twice what shuffle and prefetch may hold, and their tables; a few batches; each of its examples. */
  assert_true(most_bytes - start < 2 * (2 << 20) + 8 * 4 * 65536 + 300000);
  evalue_dataset_close(&prefetch.dataset);
  assert_int_equal(live_bytes, start);
}

/* Where examples wait in blocks: about twice what waits, whatever the length of the file. */
static void test_constant_memory_of_files(void **state) {
  (void)state;
  enum { RECORDS = 30000, BUFFER = 500 };
  static endless source;
  char path[128];
  const char *list[1] = {path_in(&place, "long", path)};
  evalue_record_writer w;
  evalue_files_dataset files;
  evalue_shuffle_dataset shuffle;
  evalue_example example;
  int64_t total = 0, n = 0;
  assert_int_equal(evalue_record_writer_open(&w, path, NULL), EVALUE_OK);
  for (source.number = 0; source.number < RECORDS;) {
    evalue_slice message = {NULL, 0};
    assert_int_equal(give_endlessly(&source, &message), EVALUE_OK);
    if (message.size > 2048) message.size = message.size % 2048 + 24; /* no message any more, but a record */
    total += (int64_t)message.size;
    assert_int_equal(evalue_record_writer_put_bytes(&w, message.data, message.size, NULL), EVALUE_OK);
  }
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  int64_t start = live_bytes, waiting = total / RECORDS * BUFFER;
  evalue_files_dataset_init(&files, list, 1, NULL);
  assert_int_equal(evalue_shuffle_dataset_init(&shuffle, &files.dataset, BUFFER, 1, NULL), EVALUE_OK);
  most_bytes = start;
  for (; evalue_dataset_next(&shuffle.dataset, &example) == EVALUE_OK; n++) total -= (int64_t)example.bytes.size;
  assert_int_equal(n, RECORDS);
  assert_int_equal(total, 0);
  assert_true(most_bytes - start < 4 * waiting + 6 * (256 << 10));
  evalue_dataset_close(&shuffle.dataset);
  assert_int_equal(live_bytes, start);
  unlink(path);
}

/* A decoder that needs more room for a rare example keeps it, but no more with every one. */
static void test_no_allocation_once_it_runs(void **state) {
  (void)state;
  pipeline p;
  evalue_example example;
  evalue_dataset *last =
      add_batch(&p, add_decode(&p, add_shuffle(&p, add_repeat(&p, add_memory(&p, all), 0), 8)), 4, 0);
  for (int i = 0; i < 100; i++) assert_int_equal(evalue_dataset_next(last, &example), EVALUE_OK);
  int64_t before = calls;
  for (int i = 0; i < 1000; i++) assert_int_equal(evalue_dataset_next(last, &example), EVALUE_OK);
  assert_int_equal(calls, before);
  evalue_dataset_close(last);
}

static void *do_nothing(void *argument) {
  return argument;
}

static int make_all(void **state) {
  (void)state;
  pthread_t first; /* whose stack the C library keeps for others */
  if (pthread_create(&first, NULL, do_nothing, NULL) != 0 || pthread_join(first, NULL) != 0) return -1;
  all = new_examples(EXAMPLES);
  place = write_shards(all);
  return 0;
}

static int free_all(void **state) {
  (void)state;
  free_folder(&place, shard_names, SHARDS);
  free(all);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_failing_allocations),
      cmocka_unit_test(test_constant_memory),
      cmocka_unit_test(test_constant_memory_of_files),
      cmocka_unit_test(test_no_allocation_once_it_runs),
  };
  return cmocka_run_group_tests_name("dataset allocation", tests, make_all, free_all);
}
#else
int main(void) {
  puts("dataset allocation: skipped, for the allocator is not the C library's");
  return 0;
}
#endif
