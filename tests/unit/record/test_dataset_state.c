/* SPDX-License-Identifier: BSD-3-Clause */
/* Saving and restoring: at every position, in this process and in another, and what is refused. */
#include <sys/wait.h>

#include "dataset_pipelines.h"

static examples *all;
static folder place;

static void restore(evalue_dataset *dataset, const bytes *saved) {
  evalue_status status = evalue_dataset_restore(dataset, saved->data, saved->size);
  if (status != EVALUE_OK) fail_msg("%s", dataset->error.text);
}

/* All that a fresh pipeline gives; returns the number of examples. */
static size_t read_all(int kind, bytes *b) {
  pipeline p;
  evalue_example example;
  size_t n = 0;
  evalue_dataset *last = make_pipeline(&p, kind, all, &place);
  for (; evalue_dataset_next(last, &example) == EVALUE_OK; n++) add_example(b, &example);
  assert_int_equal(last->status, EVALUE_END);
  evalue_dataset_close(last);
  return n;
}

/* Saves after `position` examples; what comes after is not disturbed by that. */
static bytes save_at(int kind, size_t position, bytes *before, bytes *after) {
  pipeline p;
  evalue_dataset *last = make_pipeline(&p, kind, all, &place);
  read_on(last, before, position);
  bytes saved = save_state(last);
  read_on(last, after, SIZE_MAX);
  evalue_dataset_close(last);
  return saved;
}

static void check_restored(int kind, const bytes *saved, const bytes *after) {
  pipeline p;
  bytes found = {NULL, 0, 0};
  evalue_dataset *last = make_pipeline(&p, kind, all, &place);
  restore(last, saved);
  if (!has_thread(kind)) { /* and the state is the same */
    bytes again = save_state(last);
    check_same(&again, saved);
    free(again.data);
  }
  read_on(last, &found, SIZE_MAX);
  check_same(&found, after);
  free(found.data);
  if (kind == 5) { /* its callback stands at the end now */
    evalue_dataset_close(last);
    return;
  }
  for (size_t used = 0; used < 3; used++) { /* where it has been used already, and rewound */
    bytes more = {NULL, 0, 0};
    if (used > 0) assert_int_equal(evalue_dataset_rewind(last), EVALUE_OK);
    found = (bytes){NULL, 0, 0};
    read_on(last, &found, used);
    restore(last, saved);
    read_on(last, &more, SIZE_MAX);
    check_same(&more, after);
    free(found.data);
    free(more.data);
  }
  evalue_dataset_close(last);
}

static void test_every_position(void **state) {
  (void)state;
  for (int kind = 0; kind < KINDS; kind++) {
    bytes whole = {NULL, 0, 0};
    size_t n = read_all(kind, &whole);
    assert_true(n >= 5);
    for (size_t position = 0; position <= n + 1; position++) {
      bytes before = {NULL, 0, 0}, after = {NULL, 0, 0};
      bytes saved = save_at(kind, position, &before, &after);
      check_restored(kind, &saved, &after);
      add_bytes(&before, after.data, after.size);
      check_same(&before, &whole);
      free(before.data);
      free(after.data);
      free(saved.data);
    }
    free(whole.data);
  }
}

/* ---- in another process ---- */

static void write_file(const char *path, const bytes *b) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  if (b->size != 0) assert_int_equal(fwrite(b->data, 1, b->size, f), b->size);
  assert_int_equal(fclose(f), 0);
}

static bytes read_file(const char *path) {
  bytes b = {NULL, 0, 0};
  char part[4096];
  size_t n;
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  while ((n = fread(part, 1, sizeof part, f)) > 0) add_bytes(&b, part, n);
  fclose(f);
  return b;
}

/* What the other process does: restores a state, and writes what comes after. */
static void resume(void **state) {
  char **arguments = (char **)*state;
  char path[128];
  pipeline p;
  bytes found = {NULL, 0, 0};
  assert_true(snprintf(place.path, sizeof place.path, "%s", arguments[2]) > 0);
  bytes saved = read_file(path_in(&place, "state", path));
  all = new_examples(EXAMPLES);
  evalue_dataset *last = make_pipeline(&p, atoi(arguments[1]), all, &place);
  restore(last, &saved);
  read_on(last, &found, SIZE_MAX);
  evalue_dataset_close(last);
  write_file(path_in(&place, "rest", path), &found);
  free(found.data);
  free(saved.data);
  free(all);
}

static void check_process(int kind, const bytes *saved, const bytes *after) {
  char state_path[128], rest_path[128], program[4096], number[16];
  int status = 0;
  write_file(path_in(&place, "state", state_path), saved);
  path_in(&place, "rest", rest_path);
  assert_true(snprintf(number, sizeof number, "%d", kind) > 0);
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  assert_in_range(length, 1, sizeof program - 2);
  program[length] = '\0';
  const char *emulator = getenv("EVALUE_EMULATED"); /* what runs this program, which is not one of the host's */
  pid_t child = fork();
  if (child == 0) {
    if (emulator == NULL) execl(program, "resume", number, place.path, (char *)NULL);
    else execlp(emulator, emulator, program, number, place.path, (char *)NULL);
    _exit(127);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  bytes found = read_file(rest_path);
  check_same(&found, after);
  free(found.data);
  unlink(state_path);
  unlink(rest_path);
}

static void test_another_process(void **state) {
  (void)state;
  for (int kind = 0; kind < KINDS; kind++) {
    for (size_t position = 0; position < 6; position++) {
      bytes before = {NULL, 0, 0}, after = {NULL, 0, 0};
      bytes saved = save_at(kind, position, &before, &after);
      check_process(kind, &saved, &after);
      free(before.data);
      free(after.data);
      free(saved.data);
    }
  }
}

/* ---- where files have moved ---- */

static void test_files_that_have_moved(void **state) {
  (void)state;
  bytes before = {NULL, 0, 0}, after = {NULL, 0, 0}, found = {NULL, 0, 0};
  bytes saved = save_at(1, 2, &before, &after);
  folder other = write_shards(all);
  pipeline p;
  evalue_dataset *last = make_pipeline(&p, 1, all, &other);
  restore(last, &saved);
  read_on(last, &found, SIZE_MAX);
  check_same(&found, &after);
  evalue_dataset_close(last);
  free_folder(&other, shard_names, SHARDS);
  free(before.data);
  free(after.data);
  free(found.data);
  free(saved.data);
}

static void test_other_files(void **state) {
  (void)state;
  static const char *const names[] = {"y-0", "y-1", "y-2"};
  char path[3][128], text[200];
  const char *list[3], *renamed[3];
  folder other = write_shards(all);
  evalue_files_dataset d;
  evalue_example example;
  for (int i = 0; i < 3; i++) list[i] = path_in(&place, shard_names[i], path[i]);
  assert_int_equal(evalue_files_dataset_init(&d, list, 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  bytes saved = save_state(&d.dataset);
  evalue_dataset_close(&d.dataset);
  for (int i = 0; i < 3; i++) {
    char old[128];
    assert_int_equal(rename(path_in(&other, shard_names[i], old), path_in(&other, names[i], path[i])), 0);
    renamed[i] = path[i];
  }
  assert_int_equal(evalue_files_dataset_init(&d, renamed, 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_dataset_restore(&d.dataset, saved.data, saved.size), EVALUE_MALFORMED);
  assert_true(snprintf(text, sizeof text, "files: state: name of the file: expected \"y-0\", found \"%s\"",
                       shard_names[0]) > 0);
  assert_int_equal(strncmp(d.dataset.error.text, text, strlen(text)), 0);
  evalue_dataset_close(&d.dataset);
  assert_int_equal(evalue_files_dataset_init(&d, renamed, 2, NULL), EVALUE_OK);
  assert_int_equal(evalue_dataset_restore(&d.dataset, saved.data, saved.size), EVALUE_MALFORMED);
  assert_string_equal(d.dataset.error.text, "files: state: number of files: expected 2, found 3");
  evalue_dataset_close(&d.dataset);
  free_folder(&other, names, 3);
  free(saved.data);
}

/* ---- what is refused ---- */

/* A state of other stages: refused by name, and the pipeline goes on as if nothing had been tried. */
static void test_other_shapes(void **state) {
  (void)state;
  for (int from = 0; from < KINDS; from++) {
    bytes before = {NULL, 0, 0}, after = {NULL, 0, 0};
    bytes saved = save_at(from, 3, &before, &after);
    for (int to = 0; to < KINDS; to++) {
      pipeline p;
      bytes whole = {NULL, 0, 0}, found = {NULL, 0, 0};
      if (to == from) continue;
      read_all(to, &whole);
      evalue_dataset *last = make_pipeline(&p, to, all, &place);
      read_on(last, &found, 2);
      assert_int_equal(evalue_dataset_restore(last, saved.data, saved.size), EVALUE_MALFORMED);
      assert_non_null(strstr(last->error.text, "state: the stages differ: expected \""));
      read_on(last, &found, SIZE_MAX);
      check_same(&found, &whole);
      evalue_dataset_close(last);
      free(whole.data);
      free(found.data);
    }
    free(before.data);
    free(after.data);
    free(saved.data);
  }
}

/* A tower of stages with one argument after the other changed. */
enum { ARGUMENTS = 14 };

static evalue_dataset *make_tower(pipeline *p, int changed) {
  const evalue_shuffle_options shuffle = {.same_order = changed == 5, .max_bytes = changed == 6 ? 777 : 0};
  const evalue_decode_options decode = {.skip = changed == 7};
  const evalue_batch_options batch = {.drop_last = changed == 9, .pad = changed == 10, .with_sizes = changed == 11};
  const evalue_prefetch_options prefetch = {.examples = changed == 12 ? 5 : 6, .max_bytes = changed == 13 ? 1 : 2};
  evalue_memory_dataset_init(&p->memory, all->slices, changed == 0 ? 13 : 14);
  evalue_take_dataset_init(&p->select, &p->memory.dataset, changed == 1 ? 10 : 11);
  evalue_repeat_dataset_init(&p->repeat, &p->select.dataset, changed == 2 ? 2 : 3);
  evalue_shuffle_dataset_init(&p->shuffle, &p->repeat.dataset, changed == 3 ? 4 : 5, changed == 4 ? 6 : 7, &shuffle);
  evalue_decode_dataset_init(&p->decode, &p->shuffle.dataset, NULL, 0, &decode);
  evalue_batch_dataset_init(&p->batch, &p->decode.dataset, changed == 8 ? 2 : 3, &batch);
  evalue_prefetch_dataset_init(&p->prefetch, &p->batch.dataset, &prefetch);
  return &p->prefetch.dataset;
}

static void test_other_arguments(void **state) {
  (void)state;
  static const char *const texts[ARGUMENTS] = {"memory: state: number of messages: expected 13, found 14",
                                               "take: state: most: expected 10, found 11",
                                               "repeat: state: times: expected 2, found 3",
                                               "shuffle: state: buffer: expected 4, found 5",
                                               "shuffle: state: seed: expected 6, found 7",
                                               "shuffle: state: same_order: expected 1, found 0",
                                               "shuffle: state: max_bytes: expected 777, found 18446744073709551615",
                                               "decode: state: skip: expected 1, found 0",
                                               "batch: state: examples in a batch: expected 2, found 3",
                                               "batch: state: drop_last: expected 1, found 0",
                                               "batch: state: pad: expected 1, found 0",
                                               "batch: state: with_sizes: expected 1, found 0",
                                               "prefetch: state: most examples: expected 5, found 6",
                                               "prefetch: state: max_bytes: expected 1, found 2"};
  pipeline p;
  evalue_example example;
  evalue_dataset *last = make_tower(&p, -1);
  assert_int_equal(evalue_dataset_next(last, &example), EVALUE_OK);
  bytes saved = save_state(last);
  evalue_dataset_close(last);
  for (int changed = 0; changed < ARGUMENTS; changed++) {
    last = make_tower(&p, changed);
    assert_int_equal(evalue_dataset_restore(last, saved.data, saved.size), EVALUE_MALFORMED);
    assert_string_equal(last->error.text, texts[changed]);
    assert_int_equal(evalue_dataset_next(last, &example), EVALUE_MALFORMED); /* it stands nowhere */
    assert_string_equal(last->error.text, texts[changed]);
    assert_int_equal(evalue_dataset_rewind(last), EVALUE_OK);
    assert_int_equal(evalue_dataset_next(last, &example), EVALUE_OK);
    evalue_dataset_close(last);
  }
  free(saved.data);
}

static void check_refused(const void *data, size_t size, evalue_status expected, const char *text) {
  evalue_memory_dataset d;
  assert_int_equal(evalue_memory_dataset_init(&d, all->slices, 3), EVALUE_OK);
  assert_int_equal(evalue_dataset_restore(&d.dataset, data, size), expected);
  assert_int_equal(strncmp(d.dataset.error.text, text, strlen(text)), 0);
  check_numbers(&d.dataset, (const int64_t[]){0, 1, 2}, 3);
  evalue_dataset_close(&d.dataset);
}

static void check_values_refused(const evalue *values, size_t n, evalue_status expected, const char *text) {
  uint8_t data[512];
  uint64_t size = 0;
  assert_int_equal(evalue_message_encode(values, n, 0, data, sizeof data, &size), EVALUE_OK);
  check_refused(data, (size_t)size, expected, text);
}

static void test_no_states(void **state) {
  (void)state;
  const evalue title = evalue_from_string("EValue data set", 15), name = evalue_from_string("memory", 6);
  const char *differ = "memory: state: the stages differ: expected \"memory\", found ";
  check_refused("", 0, EVALUE_TRUNCATED, "memory: offset 0: truncated");
  check_refused("PNG-PNG-PNG-PNG-PNG-PNG-PNG", 27, EVALUE_MALFORMED, "memory: offset 0: malformed: magic");
  check_refused(all->slices[0].data, all->slices[0].size, EVALUE_MALFORMED,
                "memory: state: the message is not the state of a data set");
  check_values_refused(&title, 0, EVALUE_MALFORMED, "memory: state: the message is not the state");
  check_values_refused((evalue[]){title, evalue_from_int(2)}, 2, EVALUE_UNSUPPORTED,
                       "memory: state: version: expected 1, found 2");
  check_values_refused((evalue[]){title, evalue_from_int(1)}, 2, EVALUE_MALFORMED, differ);
  check_values_refused((evalue[]){title, evalue_from_int(1), name, evalue_from_bool(false)}, 4, EVALUE_MALFORMED,
                       differ);
  for (int64_t n = -1; n < 4; n += 2) {
    check_values_refused((evalue[]){title, evalue_from_int(1), name, evalue_from_bool(false), evalue_from_int(n),
                                    evalue_from_int(3), evalue_from_int(0)},
                         n == 1 ? 7 : 6, EVALUE_MALFORMED,
                         n == 1 ? "memory: state: the stages differ: expected no more, found 1 values more" : differ);
  }
}

/* Values of other kinds, too few and too many of them in a stage's own. */
static void test_wrong_values(void **state) {
  (void)state;
  const evalue title = evalue_from_string("EValue data set", 15), name = evalue_from_string("memory", 6);
  static const char *const texts[] = {"memory: state: number of messages: expected Int, found the end",
                                      "memory: state: position: expected Int, found the end",
                                      "memory: state: values: expected no more, found 1",
                                      "memory: state: position: expected Int, found Bool",
                                      "memory: state: position: expected no more than there are messages, found 4"};
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    evalue values[] = {title,
                       evalue_from_int(1),
                       name,
                       evalue_from_bool(false),
                       evalue_from_int(2),
                       evalue_from_int(3),
                       evalue_from_int(2),
                       evalue_from_int(2)};
    size_t own = i < 3 ? (i == 2 ? 3 : i) : 2;
    uint8_t data[512];
    uint64_t size = 0;
    values[4] = evalue_from_int((int64_t)own);
    if (i == 3) values[6] = evalue_from_bool(true);
    if (i == 4) values[6] = evalue_from_int(4);
    assert_int_equal(evalue_message_encode(values, 5 + own, 0, data, sizeof data, &size), EVALUE_OK);
    evalue_memory_dataset d;
    assert_int_equal(evalue_memory_dataset_init(&d, all->slices, 3), EVALUE_OK);
    assert_int_equal(evalue_dataset_restore(&d.dataset, data, (size_t)size), EVALUE_MALFORMED);
    assert_string_equal(d.dataset.error.text, texts[i]);
    evalue_dataset_close(&d.dataset);
  }
}

/* Every bit of a state flipped, and every cut: a status, and afterwards the pipeline can be used. */
static void test_damaged_states(void **state) {
  (void)state;
  static const int kinds[] = {1, 3, 4};
  for (size_t k = 0; k < COUNT_OF(kinds); k++) {
    pipeline p;
    evalue_example example;
    bytes before = {NULL, 0, 0}, after = {NULL, 0, 0};
    bytes saved = save_at(kinds[k], 2, &before, &after);
    evalue_dataset *last = make_pipeline(&p, kinds[k], all, &place);
    for (size_t size = 0; size < saved.size; size += 7) {
      uint8_t *cut = (uint8_t *)malloc(size + 1); /* so that reading too far is seen */
      assert_non_null(cut);
      memcpy(cut, saved.data, size);
      assert_int_not_equal(evalue_dataset_restore(last, cut, size), EVALUE_OK);
      free(cut);
    }
    for (size_t bit = k; bit < 8 * saved.size; bit += 5) {
      saved.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
      evalue_status status = evalue_dataset_restore(last, saved.data, saved.size);
      for (int i = 0; i < 8 && status == EVALUE_OK; i++) status = evalue_dataset_next(last, &example);
      saved.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    restore(last, &saved);
    bytes found = {NULL, 0, 0};
    read_on(last, &found, SIZE_MAX);
    check_same(&found, &after);
    evalue_dataset_close(last);
    free(found.data);
    free(before.data);
    free(after.data);
    free(saved.data);
  }
}

static void test_a_callback_that_has_moved_on(void **state) {
  (void)state;
  giver g = {all, 0};
  evalue_callback_dataset d;
  evalue_example example;
  assert_int_equal(evalue_callback_dataset_init(&d, give_next, NULL, &g), EVALUE_OK);
  for (int i = 0; i < 5; i++) assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  bytes saved = save_state(&d.dataset);
  assert_int_equal(evalue_dataset_restore(&d.dataset, saved.data, saved.size), EVALUE_UNSUPPORTED);
  evalue_dataset_close(&d.dataset);
  examples *few = new_examples(3);
  g = (giver){few, 0};
  assert_int_equal(evalue_callback_dataset_init(&d, give_next, NULL, &g), EVALUE_OK);
  assert_int_equal(evalue_dataset_restore(&d.dataset, saved.data, saved.size), EVALUE_MALFORMED);
  assert_string_equal(d.dataset.error.text, "callback: state: expected 5 examples or more, found 3");
  evalue_dataset_close(&d.dataset);
  free(few);
  free(saved.data);
}

/* What had ended has ended where it is restored: a store that has got more meanwhile is not asked. */
static void test_the_end_is_saved(void **state) {
  (void)state;
  examples *few = new_examples(2);
  giver g = {few, 0};
  evalue_callback_dataset d;
  evalue_example example;
  assert_int_equal(evalue_callback_dataset_init(&d, give_next, give_from, &g), EVALUE_OK);
  for (int i = 0; i < 2; i++) assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  bytes before = save_state(&d.dataset);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_END);
  bytes after = save_state(&d.dataset);
  g.e = all;
  assert_int_equal(evalue_dataset_restore(&d.dataset, after.data, after.size), EVALUE_OK);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_END);
  assert_int_equal(evalue_dataset_restore(&d.dataset, before.data, before.size), EVALUE_OK);
  assert_int_equal(evalue_dataset_next(&d.dataset, &example), EVALUE_OK);
  assert_int_equal(number_of(&example), 2);
  evalue_dataset_close(&d.dataset);
  free(before.data);
  free(after.data);
  free(few);
}

/* A pipeline that has failed has no state; a sink that fails is told of. */
static void test_saving_that_fails(void **state) {
  (void)state;
  evalue_slice bad[1] = {{"EVAL", 4}};
  uint8_t data[64];
  evalue_memory_dataset memory;
  evalue_decode_dataset decode;
  evalue_example example;
  evalue_buffer_sink sink;
  evalue_memory_dataset_init(&memory, bad, 1);
  evalue_decode_dataset_init(&decode, &memory.dataset, NULL, 0, NULL);
  assert_int_equal(evalue_buffer_sink_init(&sink, data, sizeof data, NULL), EVALUE_OK);
  assert_int_equal(evalue_dataset_save(&decode.dataset, &sink.sink), EVALUE_NO_SPACE);
  assert_string_equal(decode.dataset.error.text, "decode: state: the caller's memory is too small");
  assert_int_equal(evalue_dataset_next(&decode.dataset, &example), EVALUE_TRUNCATED);
  evalue_counting_sink counting;
  assert_int_equal(evalue_counting_sink_init(&counting, NULL), EVALUE_OK);
  assert_int_equal(evalue_dataset_save(&decode.dataset, &counting.sink), EVALUE_TRUNCATED);
  assert_int_equal(counting.records, 0);
  assert_int_equal(evalue_dataset_rewind(&decode.dataset), EVALUE_OK);
  assert_int_equal(evalue_dataset_save(&decode.dataset, &counting.sink), EVALUE_OK);
  evalue_dataset_close(&decode.dataset);
}

static int make_all(void **state) {
  (void)state;
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

int main(int count, char **arguments) {
  const struct CMUnitTest others[] = {cmocka_unit_test_prestate(resume, arguments)};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_position),
      cmocka_unit_test(test_another_process),
      cmocka_unit_test(test_files_that_have_moved),
      cmocka_unit_test(test_other_files),
      cmocka_unit_test(test_other_shapes),
      cmocka_unit_test(test_other_arguments),
      cmocka_unit_test(test_no_states),
      cmocka_unit_test(test_wrong_values),
      cmocka_unit_test(test_damaged_states),
      cmocka_unit_test(test_a_callback_that_has_moved_on),
      cmocka_unit_test(test_the_end_is_saved),
      cmocka_unit_test(test_saving_that_fails),
  };
  if (count == 3) {
    if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL) return 1;
    return cmocka_run_group_tests_name("resume", others, NULL, NULL);
  }
  return cmocka_run_group_tests_name("dataset state", tests, make_all, free_all);
}
