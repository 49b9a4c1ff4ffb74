/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shuffle right behind record files copies nothing: small examples wait in the blocks that were read, of large ones
 * only the places do. What it gives must be what it gives of the same messages in memory.
 */
#include <errno.h>

#include "dataset_support.h"

enum { RECORDS = 60, FILES = 6 };

static const char *const names[FILES] = {"f0", "f1", "f2", "f3", "f4", "f5"};
static evalue_slice messages[RECORDS];
static folder place;
static char paths[FILES][128];
static const char *list[FILES];

/* Sizes from nothing to more than a block, large ones alone and in a row. */
static size_t length_of(size_t i) {
  static const size_t large[] = {32767, 32768 - 50, 32768, 40000, 262144, 300000};
  if (i >= 40) return i % 3 == 0 ? 50000 + i : 35000 + 7 * i;
  return i % 7 == 3 ? large[i / 7 % 6] : i * 97 % 3000;
}

static void make_message(size_t i) {
  size_t length = length_of(i);
  uint64_t size = 0;
  char *text = (char *)malloc(length + 1);
  assert_non_null(text);
  for (size_t k = 0; k < length; k++) text[k] = (char)(i + k * 31 + (k >> 8));
  const evalue values[2] = {evalue_from_string(text, length), evalue_from_int((int64_t)i)};
  assert_int_equal(evalue_message_size(values, 2, 0, &size), EVALUE_OK);
  uint8_t *bytes_of = (uint8_t *)malloc((size_t)size);
  assert_non_null(bytes_of);
  assert_int_equal(evalue_message_encode(values, 2, 0, bytes_of, (size_t)size, &size), EVALUE_OK);
  messages[i] = (evalue_slice){bytes_of, (size_t)size};
  free(text);
}

/* Which file a record is in: 20 in the first, none in the second, one in the third, ... */
static size_t file_of(size_t i) {
  if (i < 20) return 0;
  return i < 21 ? 2 : i < 45 ? 3 : i < 50 ? 4 : 5;
}

static int make_all(void **state) {
  (void)state;
  place = new_folder();
  for (size_t i = 0; i < RECORDS; i++) make_message(i);
  for (size_t k = 0; k < FILES; k++) {
    evalue_record_writer w;
    list[k] = path_in(&place, names[k], paths[k]);
    assert_int_equal(evalue_record_writer_open(&w, list[k], NULL), EVALUE_OK);
    for (size_t i = 0; i < RECORDS; i++) {
      if (file_of(i) != k) continue;
      assert_int_equal(evalue_record_writer_put_bytes(&w, messages[i].data, messages[i].size, NULL), EVALUE_OK);
    }
    assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  }
  return 0;
}

static int free_all(void **state) {
  union {
    const void *from;
    void *to;
  } memory;
  (void)state;
  for (size_t i = 0; i < RECORDS; i++) {
    memory.from = messages[i].data;
    free(memory.to);
  }
  free_folder(&place, names, FILES);
  return 0;
}

/* ---- the same as from memory ---- */

typedef struct both {
  evalue_files_dataset files;
  evalue_memory_dataset memory;
  evalue_shuffle_dataset lent, copied;
} both;

static void start(both *b, uint64_t buffer, size_t block) {
  const evalue_files_options options = {.reader = {.buffer_size = block}};
  assert_int_equal(evalue_files_dataset_init(&b->files, list, FILES, &options), EVALUE_OK);
  assert_int_equal(evalue_memory_dataset_init(&b->memory, messages, RECORDS), EVALUE_OK);
  assert_int_equal(evalue_shuffle_dataset_init(&b->lent, &b->files.dataset, buffer, 7, NULL), EVALUE_OK);
  assert_int_equal(evalue_shuffle_dataset_init(&b->copied, &b->memory.dataset, buffer, 7, NULL), EVALUE_OK);
}

static void finish(both *b) {
  assert_int_equal(evalue_dataset_close(&b->lent.dataset), EVALUE_OK);
  assert_int_equal(evalue_dataset_close(&b->copied.dataset), EVALUE_OK);
}

/* Reads up to `most` examples of both; returns how many there were. */
static size_t compare(both *b, size_t most) {
  evalue_example one, other;
  for (size_t i = 0; i < most; i++) {
    evalue_status status = evalue_dataset_next(&b->copied.dataset, &other);
    if (evalue_dataset_next(&b->lent.dataset, &one) != status) fail_msg("%s", b->lent.dataset.error.text);
    if (status == EVALUE_END) return i;
    assert_int_equal(status, EVALUE_OK);
    size_t file = file_of((size_t)other.index);
    assert_string_equal(one.source, list[file]);
    size_t first = 0;
    while (file_of(first) != file) first++;
    assert_int_equal(one.index + first, other.index);
    assert_int_equal(one.bytes.size, other.bytes.size);
    assert_memory_equal(one.bytes.data, other.bytes.data, one.bytes.size);
    assert_int_equal((uintptr_t)one.bytes.data % 64, 0);
    assert_null(one.values);
  }
  return most;
}

static const uint64_t buffers[] = {1, 2, 5, 20, 1000};
static const size_t blocks[] = {0, 100, 4096, 70000};

static void test_the_same_as_from_memory(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(buffers) * COUNT_OF(blocks); i++) {
    both b;
    start(&b, buffers[i % COUNT_OF(buffers)], blocks[i / COUNT_OF(buffers)]);
    for (int epoch = 0; epoch < 3; epoch++) {
      size_t most = epoch == 1 ? 13 : SIZE_MAX; /* rewound in the middle */
      assert_int_equal(compare(&b, most), epoch == 1 ? 13 : RECORDS);
      assert_int_equal(evalue_dataset_rewind(&b.lent.dataset), EVALUE_OK);
      assert_int_equal(evalue_dataset_rewind(&b.copied.dataset), EVALUE_OK);
    }
    finish(&b);
  }
}

/* In batches nothing is aligned on the way, and the batch is. */
static void test_batches(void **state) {
  (void)state;
  evalue_files_dataset files;
  evalue_shuffle_dataset shuffle;
  evalue_decode_dataset decode;
  evalue_batch_dataset batch;
  evalue_example example;
  uint8_t seen[RECORDS] = {0};
  const evalue_batch_options options = {.pad = 1, .with_sizes = 1};
  assert_int_equal(evalue_files_dataset_init(&files, list, FILES, NULL), EVALUE_OK);
  evalue_shuffle_dataset_init(&shuffle, &files.dataset, 10, 7, NULL);
  evalue_decode_dataset_init(&decode, &shuffle.dataset, NULL, 0, NULL);
  assert_int_equal(evalue_batch_dataset_init(&batch, &decode.dataset, 7, &options), EVALUE_OK);
  while (evalue_dataset_next(&batch.dataset, &example) == EVALUE_OK) {
    const evalue_tensor *texts = &example.values[0].tensor, *numbers = &example.values[1].tensor;
    assert_int_equal((uintptr_t)texts->data % 64, 0);
    for (int32_t row = 0; row < numbers->sizes[0]; row++) {
      const uint8_t *text = (const uint8_t *)texts->data + (size_t)row * (size_t)texts->sizes[1];
      size_t i = ((const uint8_t *)numbers->data)[8 * row], length = length_of(i);
      assert_in_range(i, 0, RECORDS - 1);
      assert_int_equal(seen[i]++, 0);
      for (size_t k = 0; k < length; k++) {
        if (text[k] != (uint8_t)(i + k * 31 + (k >> 8))) fail_msg("example %d, byte %d", (int)i, (int)k);
      }
    }
  }
  assert_int_equal(batch.dataset.status, EVALUE_END);
  for (size_t i = 0; i < RECORDS; i++) assert_int_equal(seen[i], 1);
  evalue_dataset_close(&batch.dataset);
}

/* ---- states ---- */

static void test_every_position(void **state) {
  (void)state;
  static const size_t some[] = {0, 4096};
  for (size_t k = 0; k < COUNT_OF(some); k++) {
    for (size_t position = 0; position <= RECORDS; position++) {
      both b, other;
      start(&b, 8, some[k]);
      start(&other, 8, some[k]);
      assert_int_equal(compare(&b, position), position);
      bytes saved = save_state(&b.lent.dataset);
      assert_int_equal(compare(&b, SIZE_MAX), RECORDS - position);
      evalue_status status = evalue_dataset_restore(&other.lent.dataset, saved.data, saved.size);
      if (status != EVALUE_OK) fail_msg("%s", other.lent.dataset.error.text);
      bytes again = save_state(&other.lent.dataset);
      check_same(&again, &saved);
      evalue_example example;
      for (size_t i = 0; i < position; i++) {
        assert_int_equal(evalue_dataset_next(&other.copied.dataset, &example), EVALUE_OK);
      }
      /* What was restored by itself has its source's name alone; all else is the same. */
      assert_int_equal(compare(&other, SIZE_MAX), RECORDS - position);
      finish(&b);
      finish(&other);
      free(saved.data);
      free(again.data);
    }
  }
}

/* So that no large record is in a block. */
static const evalue_files_options small_blocks = {.reader = {.buffer_size = 4096}};

static void test_a_place_in_no_file(void **state) {
  (void)state;
  evalue_files_dataset files;
  evalue_shuffle_dataset shuffle;
  evalue_example example;
  assert_int_equal(evalue_files_dataset_init(&files, list + 5, 1, &small_blocks), EVALUE_OK);
  evalue_shuffle_dataset_init(&shuffle, &files.dataset, 4, 7, NULL);
  assert_int_equal(evalue_dataset_next(&shuffle.dataset, &example), EVALUE_OK);
  bytes saved = save_state(&shuffle.dataset);
  assert_true(saved.size < 2000); /* places, not examples */
  evalue *values = (evalue *)calloc(100, sizeof *values);
  uint64_t n = 0, size = 0;
  assert_non_null(values);
  assert_int_equal(evalue_message_decode(saved.data, saved.size, NULL, values, 100, &n, NULL), EVALUE_OK);
  for (uint64_t i = 6; i + 2 < n && values[i].tag == EVALUE_TAG_INT;
       i++) { /* kind 8, index, file; up to the next stage's name */
    bool is_kind = values[i].int_value == 8;
    if (is_kind) values[i + 2] = evalue_from_int(77);
  }
  uint8_t *changed = (uint8_t *)malloc(4096);
  assert_non_null(changed);
  assert_int_equal(evalue_message_encode(values, (size_t)n, 0, changed, 4096, &size), EVALUE_OK);
  assert_int_equal(evalue_dataset_restore(&shuffle.dataset, changed, (size_t)size), EVALUE_OK);
  evalue_status status = EVALUE_OK;
  for (int i = 0; i < 4 && status == EVALUE_OK; i++) status = evalue_dataset_next(&shuffle.dataset, &example);
  assert_int_equal(status, EVALUE_MALFORMED);
  assert_string_equal(shuffle.dataset.error.text, "shuffle: state: file of an example: expected less than 1, found 77");
  evalue_dataset_close(&shuffle.dataset);
  free(changed);
  free(values);
  free(saved.data);
}

/* ---- files that are not good ---- */

/* Counts what a shuffle gives of a file; *status is how it ended. */
static size_t count(const char *path, uint64_t buffer, uint32_t skip, evalue_status *status,
                    evalue_dataset_error *error, uint64_t *skipped) {
  evalue_files_dataset files;
  evalue_shuffle_dataset shuffle;
  evalue_example example;
  size_t n = 0;
  const evalue_files_options options = {.reader = {.skip = skip, .buffer_size = 4096}};
  assert_int_equal(evalue_files_dataset_init(&files, &path, 1, &options), EVALUE_OK);
  assert_int_equal(evalue_shuffle_dataset_init(&shuffle, &files.dataset, buffer, 7, NULL), EVALUE_OK);
  while (evalue_dataset_next(&shuffle.dataset, &example) == EVALUE_OK) n++;
  *status = (evalue_status)shuffle.dataset.status;
  *error = shuffle.dataset.error;
  *skipped = files.skipped;
  evalue_dataset_close(&shuffle.dataset);
  return n;
}

static void copy_file(const char *from, const char *to, size_t most) {
  char part[4096];
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  assert_non_null(in);
  assert_non_null(out);
  for (size_t n; most > 0 && (n = fread(part, 1, most < sizeof part ? most : sizeof part, in)) > 0; most -= n) {
    assert_int_equal(fwrite(part, 1, n, out), n);
  }
  fclose(in);
  assert_int_equal(fclose(out), 0);
}

/* Corrupt data: of a small record it shows when that is read, of a large one when it is handed out. */
static void test_corrupt_records(void **state) {
  (void)state;
  char path[128];
  path_in(&place, "bad", path);
  size_t offset = 0;
  for (size_t i = 0; i < 20; offset += messages[i].size + EVALUE_RECORD_FRAME_SIZE, i++) {
    evalue_status status;
    evalue_dataset_error error;
    uint64_t skipped = 0;
    if (i % 7 > 4) continue;
    copy_file(list[0], path, SIZE_MAX);
    damage(path, (long)offset + EVALUE_RECORD_HEAD_SIZE + 30);
    size_t n = count(path, 1, 0, &status, &error, &skipped);
    assert_int_equal(status, EVALUE_CORRUPT);
    assert_int_equal(n, i); /* with a buffer of 1 they come in order */
    assert_int_equal(error.index, i);
    assert_int_equal(error.fault.position, offset + EVALUE_RECORD_HEAD_SIZE);
    assert_int_equal(error.fault.fault, EVALUE_FAULT_RECORD_DATA_CRC);
    assert_string_equal(error.source != NULL ? "source" : "none", "source");
    assert_int_equal(count(path, 1, 1, &status, &error, &skipped), 19);
    assert_int_equal(status, EVALUE_END);
    assert_int_equal(skipped, 1);
    assert_int_equal(count(path, 6, 1, &status, &error, &skipped), 19);
    assert_int_equal(skipped, 1);
    damage(path, (long)offset); /* and in the length: there is no way on */
    n = count(path, 1, 1, &status, &error, &skipped);
    assert_int_equal(status, EVALUE_CORRUPT);
    assert_int_equal(n, i);
    assert_int_equal(error.fault.position, offset);
    unlink(path);
  }
}

static void test_cut_files(void **state) {
  (void)state;
  char path[128];
  path_in(&place, "cut", path);
  size_t end = 0;
  for (size_t i = 0; i < 12; i++) {
    size_t start_of = end;
    end += messages[i].size + EVALUE_RECORD_FRAME_SIZE;
    const size_t cuts[] = {start_of, start_of + 1, start_of + 11, start_of + 12, start_of + 13, end - 5, end - 1};
    for (size_t k = 0; k < COUNT_OF(cuts); k++) {
      evalue_status status;
      evalue_dataset_error error;
      uint64_t skipped = 0;
      copy_file(list[0], path, cuts[k]);
      size_t n = count(path, 1, 0, &status, &error, &skipped);
      assert_int_equal(n, i);
      assert_int_equal(status, cuts[k] == start_of ? EVALUE_END : EVALUE_TRUNCATED);
      if (status == EVALUE_TRUNCATED) assert_int_equal(error.index, i);
    }
  }
  unlink(path);
}

/* A file that shrinks, or goes, after places in it were noted. */
static void test_files_that_change(void **state) {
  (void)state;
  for (int gone = 0; gone < 2; gone++) {
    evalue_files_dataset files;
    evalue_shuffle_dataset shuffle;
    evalue_example example;
    char path[128];
    const char *only[1] = {path_in(&place, "changing", path)};
    copy_file(list[5], path, SIZE_MAX);
    assert_int_equal(evalue_files_dataset_init(&files, only, 1, &small_blocks), EVALUE_OK);
    assert_int_equal(evalue_shuffle_dataset_init(&shuffle, &files.dataset, 100, 7, NULL), EVALUE_OK);
    bytes saved = {NULL, 0, 0};
    assert_int_equal(evalue_dataset_next(&shuffle.dataset, &example), EVALUE_OK);
    if (gone == 0) {
      assert_int_equal(truncate(path, 10), 0);
    } else {
      saved = save_state(&shuffle.dataset);
      evalue_dataset_close(&shuffle.dataset);
      unlink(path);
      assert_int_equal(evalue_files_dataset_init(&files, only, 1, &small_blocks), EVALUE_OK);
      assert_int_equal(evalue_shuffle_dataset_init(&shuffle, &files.dataset, 100, 7, NULL), EVALUE_OK);
      assert_int_equal(evalue_dataset_restore(&shuffle.dataset, saved.data, saved.size), EVALUE_OK);
    }
    for (int again = 0; again < 2; again++) {
      evalue_status status = evalue_dataset_next(&shuffle.dataset, &example);
      if (gone != 0) assert_int_equal(status, EVALUE_IO);
      else assert_true(status == EVALUE_TRUNCATED || status == EVALUE_MALFORMED);
      if (gone != 0) assert_int_equal(shuffle.dataset.error.system_error, ENOENT);
      assert_int_equal(strncmp(shuffle.dataset.error.text, path, strlen(path)), 0);
    }
    evalue_dataset_close(&shuffle.dataset);
    free(saved.data);
    unlink(path);
  }
}

/* A pipe cannot be read twice: there everything is copied. */
static void test_a_pipe(void **state) {
  (void)state;
  int ends[2];
  char path[64];
  assert_int_equal(pipe(ends), 0);
  assert_true(snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]) > 0);
  evalue_file_sink sink;
  evalue_record_writer w;
  assert_int_equal(evalue_file_sink_init(&sink, ends[1], NULL), EVALUE_OK);
  assert_int_equal(evalue_record_writer_init(&w, &sink.sink, NULL), EVALUE_OK);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(evalue_record_writer_put_bytes(&w, messages[i].data, messages[i].size, NULL), EVALUE_OK);
  }
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&sink.sink), EVALUE_OK);
  close(ends[1]);
  evalue_status status;
  evalue_dataset_error error;
  uint64_t skipped = 0;
  assert_int_equal(count(path, 2, 0, &status, &error, &skipped), 3);
  assert_int_equal(status, EVALUE_END);
  close(ends[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_same_as_from_memory), cmocka_unit_test(test_batches),
      cmocka_unit_test(test_every_position),          cmocka_unit_test(test_a_place_in_no_file),
      cmocka_unit_test(test_corrupt_records),         cmocka_unit_test(test_cut_files),
      cmocka_unit_test(test_files_that_change),       cmocka_unit_test(test_a_pipe),
  };
  return cmocka_run_group_tests_name("dataset lend", tests, make_all, free_all);
}
