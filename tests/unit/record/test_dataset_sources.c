/* SPDX-License-Identifier: BSD-3-Clause */
/* Where examples come from: memory, a callback, record files and their shards. */
#include <errno.h>
#include <sys/stat.h>

#include "dataset_support.h"

static void test_memory(void **state) {
  (void)state;
  examples *e = new_examples(5);
  evalue_memory_dataset d;
  evalue_example example;
  assert_int_equal(evalue_memory_dataset_init(&d, e->slices, e->count), EVALUE_OK);
  for (uint64_t i = 0; i < 5; i++) {
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    assert_ptr_equal(example.bytes.data, e->slices[i].data); /* not a copy */
    assert_int_equal(example.bytes.size, e->slices[i].size);
    assert_null(example.values);
    assert_string_equal(example.source, "memory");
    assert_int_equal(example.index, i);
  }
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_END);
  assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
  check_numbers(&d.dataset, (const int64_t[]){0, 1, 2, 3, 4}, 5);
  assert_int_equal(evalue_dataset_close(&d.dataset), EVALUE_OK);
  assert_int_equal(evalue_memory_dataset_init(&d, NULL, 0), EVALUE_OK);
  check_numbers(&d.dataset, NULL, 0);
  evalue_dataset_close(&d.dataset);
  free(e);
}

static void test_memory_that_is_missing(void **state) {
  (void)state;
  const evalue_slice slices[2] = {{NULL, 0}, {NULL, 3}};
  evalue_memory_dataset d;
  evalue_example example;
  assert_int_equal(evalue_memory_dataset_init(&d, slices, 2), EVALUE_OK);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  assert_non_null(example.bytes.data); /* a message, though it has no bytes */
  assert_int_equal(example.bytes.size, 0);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_MISUSE);
  assert_string_equal(d.dataset.error.text, "memory: record 1: its bytes are missing");
  evalue_dataset_close(&d.dataset);
}

/* ---- callbacks ---- */

typedef struct store {
  examples *e;
  size_t at, calls, seeks;
  evalue_status fails_with; /* instead of the third */
} store;

static evalue_status give(void *context, evalue_slice *message) {
  store *s = (store *)context;
  s->calls++;
  if (s->at == s->e->count) return EVALUE_END;
  if (s->at == 2 && s->fails_with != EVALUE_OK) return s->fails_with;
  *message = s->e->slices[s->at++];
  return EVALUE_OK;
}

static evalue_status go_to(void *context, uint64_t index) {
  store *s = (store *)context;
  s->seeks++;
  if (index > s->e->count) return EVALUE_LIMIT;
  s->at = (size_t)index;
  return EVALUE_OK;
}

static void test_callback(void **state) {
  (void)state;
  store s = {.e = new_examples(4)};
  evalue_callback_dataset d;
  assert_int_equal(evalue_callback_dataset_init(&d, give, go_to, &s), EVALUE_OK);
  check_numbers(&d.dataset, (const int64_t[]){0, 1, 2, 3}, 4);
  assert_int_equal(s.calls, 5); /* it is not asked again after the end */
  assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
  check_numbers(&d.dataset, (const int64_t[]){0, 1, 2, 3}, 4);
  assert_int_equal(s.seeks, 1);
  evalue_dataset_close(&d.dataset);
  free(s.e);
}

static void test_callback_that_cannot_seek(void **state) {
  (void)state;
  store s = {.e = new_examples(4)};
  evalue_callback_dataset d;
  evalue_example example;
  assert_int_equal(evalue_callback_dataset_init(&d, give, NULL, &s), EVALUE_OK);
  assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK); /* it is at the beginning */
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_UNSUPPORTED);
  assert_string_equal(d.dataset.error.text, "callback: a callback without a function that seeks cannot start over");
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_UNSUPPORTED);
  evalue_dataset_close(&d.dataset);
  free(s.e);
}

static void test_callback_that_fails(void **state) {
  (void)state;
  static const struct {
    evalue_status returned, seen;
    const char *text;
  } cases[] = {
      {EVALUE_TRUNCATED, EVALUE_TRUNCATED, "callback: record 2: the callback failed: more bytes of input are needed"},
      {EVALUE_MISUSE, EVALUE_MISUSE,
       "callback: record 2: the callback failed: an argument is not what the function asks for"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    store s = {.e = new_examples(4), .fails_with = cases[i].returned};
    evalue_callback_dataset d;
    evalue_example example;
    assert_int_equal(evalue_callback_dataset_init(&d, give, NULL, &s), EVALUE_OK);
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    for (int again = 0; again < 2; again++) {
      assert_int_equal(evalue_dataset_next(&d.dataset, &example), cases[i].seen);
      assert_string_equal(d.dataset.error.text, cases[i].text);
    }
    assert_int_equal(s.calls, 3);
    evalue_dataset_close(&d.dataset);
    free(s.e);
  }
}

static evalue_status give_nothing(void *context, evalue_slice *message) {
  (void)context;
  message->size = 5;
  return EVALUE_OK;
}

static void test_callback_that_lies(void **state) {
  (void)state;
  evalue_callback_dataset d;
  evalue_example example;
  assert_int_equal(evalue_callback_dataset_init(&d, give_nothing, NULL, NULL), EVALUE_OK);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_MISUSE);
  evalue_dataset_close(&d.dataset);
}

/* ---- files ---- */

static const char *const shards[] = {"a-00000-of-00003.tfrecord", "a-00001-of-00003.tfrecord",
                                     "a-00002-of-00003.tfrecord"};

/* Three shards of 3, 0 and 2 examples. */
static folder new_shards(const examples *e) {
  folder f = new_folder();
  char path[128];
  write_records(path_in(&f, shards[0], path), e, 0, 3);
  write_records(path_in(&f, shards[1], path), e, 3, 0);
  write_records(path_in(&f, shards[2], path), e, 3, 2);
  return f;
}

static void test_files(void **state) {
  (void)state;
  examples *e = new_examples(5);
  folder f = new_shards(e);
  char paths[3][128];
  const char *list[3];
  evalue_files_dataset d;
  evalue_example example;
  for (int i = 0; i < 3; i++) list[i] = path_in(&f, shards[i], paths[i]);
  assert_int_equal(evalue_files_dataset_init(&d, list, 3, NULL), EVALUE_OK);
  memset(paths[0], 'x', 3); /* they were copied */
  for (int epoch = 0; epoch < 2; epoch++) {
    for (uint64_t i = 0; i < 5; i++) {
      assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
      assert_int_equal(number_of(&example), i);
      assert_int_equal(example.index, i < 3 ? i : i - 3);
      assert_non_null(strstr(example.source, shards[i < 3 ? 0 : 2]));
      assert_int_equal((uintptr_t)example.bytes.data % 64, 0);
    }
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_END);
    assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
  }
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK); /* with a file open */
  check_numbers(&d.dataset, (const int64_t[]){0, 1, 2, 3, 4}, 5);
  evalue_dataset_close(&d.dataset);
  assert_int_equal(evalue_files_dataset_init(&d, NULL, 0, NULL), EVALUE_OK);
  check_numbers(&d.dataset, NULL, 0);
  evalue_dataset_close(&d.dataset);
  free_folder(&f, shards, 3);
  free(e);
}

static void test_every_other_file(void **state) {
  (void)state;
  examples *e = new_examples(5);
  folder f = new_shards(e);
  char paths[3][128];
  const char *list[3];
  static const struct {
    uint32_t first, step;
    int64_t numbers[5];
    size_t n;
  } cases[] = {{0, 0, {0, 1, 2, 3, 4}, 5}, {0, 2, {0, 1, 2, 3, 4}, 5},    {1, 2, {0}, 0}, {0, 3, {0, 1, 2}, 3},
               {2, 3, {3, 4}, 2},          {0, UINT32_MAX, {0, 1, 2}, 3}, {7, 1, {0}, 0}};
  for (int i = 0; i < 3; i++) list[i] = path_in(&f, shards[i], paths[i]);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    evalue_files_dataset d;
    const evalue_files_options options = {.first = cases[i].first, .step = cases[i].step};
    assert_int_equal(evalue_files_dataset_init(&d, list, 3, &options), EVALUE_OK);
    for (int epoch = 0; epoch < 2; epoch++) {
      check_numbers(&d.dataset, cases[i].numbers, cases[i].n);
      assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
    }
    evalue_dataset_close(&d.dataset);
  }
  free_folder(&f, shards, 3);
  free(e);
}

static void test_glob(void **state) {
  (void)state;
  examples *e = new_examples(5);
  folder f = new_shards(e);
  char pattern[128], missing[128], text[512];
  evalue_files_dataset d;
  evalue_example example;
  path_in(&f, "a-*.tfrecord", pattern);
  assert_int_equal(evalue_files_dataset_glob(&d, pattern, NULL), EVALUE_OK);
  check_numbers(&d.dataset, (const int64_t[]){0, 1, 2, 3, 4}, 5);
  evalue_dataset_close(&d.dataset);
  for (int i = 0; i < 3; i++) { /* without any one of them */
    char moved[128];
    path_in(&f, shards[i], missing);
    assert_int_equal(rename(missing, path_in(&f, "moved", moved)), 0);
    assert_int_equal(evalue_files_dataset_glob(&d, pattern, NULL), EVALUE_MALFORMED);
    assert_true(snprintf(text, sizeof text, "files: %s: expected %s, found no such file", pattern, missing) > 0);
    assert_string_equal(d.dataset.error.text, text);
    assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_MALFORMED);
    evalue_dataset_close(&d.dataset);
    assert_int_equal(rename(moved, missing), 0);
  }
  free_folder(&f, shards, 3);
  free(e);
}

/* Names in the order of their bytes; of two sets of shards, and of others. */
static void test_glob_of_many_names(void **state) {
  (void)state;
  static const struct {
    const char *names[6];
    const char *missing; /* NULL: none */
  } cases[] = {
      {{"B", "a", "b-1"}, NULL},
      {{"a-00000-of-00001", "b-00000-of-00002", "b-00001-of-00002"}, NULL},
      {{"a-00000-of-00001", "b-00001-of-00002"}, "b-00000-of-00002"},
      {{"a-00000-of-00002", "b-00000-of-00002", "b-00001-of-00002"}, "a-00001-of-00002"},
      {{"a-00000-of-00002", "b-00000-of-00002"}, "a-00001-of-00002"},
      {{"a-00000-of-00002", "c"}, "a-00001-of-00002"},
      {{"a-0000-of-0002"}, NULL},    /* too few digits for shards */
      {{"a-00000-of-000002"}, NULL}, /* not as many */
      {{"a-00000-of-", "-of-00002", "00000-of-00002"}, NULL},
      {{"a-00000-of-00001.x", "a-00000-of-00001.y"}, NULL},
      {{"a-of-00000-of-00002"}, "a-of-00001-of-00002"},
      {{"a-00003-of-00002"}, "a-00000-of-00002"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    folder f = new_folder();
    size_t n = 0;
    char path[128], pattern[128];
    examples *e = new_examples(6);
    evalue_files_dataset d;
    evalue_example example;
    for (; n < 6 && cases[i].names[n] != NULL; n++) write_records(path_in(&f, cases[i].names[n], path), e, n, 1);
    evalue_status status = evalue_files_dataset_glob(&d, path_in(&f, "*", pattern), NULL);
    assert_int_equal(status, cases[i].missing != NULL ? EVALUE_MALFORMED : EVALUE_OK);
    if (cases[i].missing != NULL) assert_non_null(strstr(d.dataset.error.text, cases[i].missing));
    char last[128] = "";
    size_t found = 0;
    for (; evalue_dataset_next(&d.dataset, &example) == EVALUE_OK; found++) {
      assert_true(strcmp(last, example.source) < 0);
      assert_true(snprintf(last, sizeof last, "%s", example.source) > 0);
    }
    assert_int_equal(found, cases[i].missing != NULL ? 0 : n);
    evalue_dataset_close(&d.dataset);
    free_folder(&f, cases[i].names, n);
    free(e);
  }
}

static void test_files_that_fail(void **state) {
  (void)state;
  examples *e = new_examples(5);
  folder f = new_shards(e);
  char first[128], missing[128], text[600];
  const char *list[2] = {path_in(&f, shards[0], first), path_in(&f, "none", missing)};
  long size = (long)e->slices[0].size + EVALUE_RECORD_FRAME_SIZE;
  evalue_files_dataset d;
  evalue_example example;
  assert_int_equal(evalue_files_dataset_init(&d, list, 2, NULL), EVALUE_OK); /* each is opened in its turn */
  for (int i = 0; i < 3; i++) assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_IO);
  assert_true(snprintf(text, sizeof text, "files: %s: No such file or directory", missing) > 0);
  assert_string_equal(d.dataset.error.text, text);
  assert_int_equal(d.dataset.error.system_error, ENOENT);
  evalue_dataset_close(&d.dataset);
  damage(first, size + 20); /* in the second's data */
  assert_int_equal(evalue_files_dataset_init(&d, list, 1, NULL), EVALUE_OK);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_CORRUPT);
  assert_true(snprintf(text, sizeof text, "%s: record 1: offset %ld: corrupt: ", first, size + 12) > 0);
  assert_int_equal(strncmp(d.dataset.error.text, text, strlen(text)), 0);
  assert_int_equal(d.dataset.error.fault.fault, EVALUE_FAULT_RECORD_DATA_CRC);
  assert_int_equal(d.dataset.error.fault.position, size + 12);
  assert_int_equal(d.dataset.error.index, 1);
  evalue_dataset_close(&d.dataset);
  const evalue_files_options skip = {.reader = {.skip = 1}}, ignore = {.reader = {.ignore_crc = 1}};
  assert_int_equal(evalue_files_dataset_init(&d, list, 1, &skip), EVALUE_OK);
  check_numbers(&d.dataset, (const int64_t[]){0, 2}, 2);
  assert_int_equal(d.skipped, 1);
  assert_int_equal(evalue_dataset_rewind(&d.dataset), EVALUE_OK);
  assert_int_equal(d.skipped, 0);
  check_numbers(&d.dataset, (const int64_t[]){0, 2}, 2);
  assert_int_equal(d.skipped, 1);
  evalue_dataset_close(&d.dataset);
  assert_int_equal(evalue_files_dataset_init(&d, list, 1, &ignore), EVALUE_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  evalue_dataset_close(&d.dataset);
  free_folder(&f, shards, 3);
  free(e);
}

static void test_files_that_are_cut(void **state) {
  (void)state;
  examples *e = new_examples(5);
  folder f = new_shards(e);
  char path[128];
  const char *list[1] = {path_in(&f, shards[0], path)};
  off_t size = (off_t)e->slices[0].size + EVALUE_RECORD_FRAME_SIZE;
  for (off_t end = 3 * size; end >= 0; end--) {
    evalue_files_dataset d;
    evalue_example example;
    assert_int_equal(truncate(path, end), 0);
    assert_int_equal(evalue_files_dataset_init(&d, list, 1, NULL), EVALUE_OK);
    for (off_t i = 0; i < end / size; i++) assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
    evalue_status status = evalue_dataset_next(&d.dataset, &example);
    assert_int_equal(status, end % size == 0 ? EVALUE_END : EVALUE_TRUNCATED);
    if (status == EVALUE_TRUNCATED) assert_int_equal(d.dataset.error.index, end / size);
    evalue_dataset_close(&d.dataset);
  }
  free_folder(&f, shards, 3);
  free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_memory_that_is_missing),
      cmocka_unit_test(test_callback),
      cmocka_unit_test(test_callback_that_cannot_seek),
      cmocka_unit_test(test_callback_that_fails),
      cmocka_unit_test(test_callback_that_lies),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_every_other_file),
      cmocka_unit_test(test_glob),
      cmocka_unit_test(test_glob_of_many_names),
      cmocka_unit_test(test_files_that_fail),
      cmocka_unit_test(test_files_that_are_cut),
  };
  return cmocka_run_group_tests_name("dataset sources", tests, NULL, NULL);
}
