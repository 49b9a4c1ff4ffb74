/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing: the same bytes through every sink, sinks that fail at each byte, limits, the side file, misuse. */
#include "record_files.h"

static small_file small;

/* Puts the k-th record of the small file; *offset is where. */
static evalue_status put_small(evalue_record_writer *w, size_t k, uint64_t *offset) {
  evalue values[3];
  size_t n = small_values(k, values);
  return k == 2 ? evalue_record_writer_put_bytes(w, NULL, 0, offset) : evalue_record_writer_put(w, values, n, offset);
}

static void put_all(evalue_record_writer *w) {
  for (size_t k = 0; k < SMALL_COUNT; k++) {
    uint64_t offset = 77;
    assert_int_equal(put_small(w, k, &offset), EVALUE_OK);
    assert_int_equal(offset, small.starts[k]);
    assert_int_equal(w->end, small.starts[k + 1]);
    assert_int_equal(w->records, k + 1);
  }
}

static const evalue_sink_options plain = {.alignment = 1};

static void test_a_buffer(void **state) {
  (void)state;
  uint8_t bytes[SMALL_MOST];
  evalue_buffer_sink sink;
  evalue_record_writer w;
  assert_int_equal(evalue_buffer_sink_init(&sink, bytes, sizeof bytes, &plain), EVALUE_OK);
  assert_int_equal(evalue_record_writer_init(&w, &sink.sink, NULL), EVALUE_OK);
  put_all(&w);
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  assert_int_equal(evalue_sink_used(&sink.sink), small.size);
  assert_memory_equal(bytes, small.bytes, small.size);
  assert_int_equal(evalue_sink_close(&sink.sink), EVALUE_OK); /* it was the caller's */
}

static void test_a_file(void **state) {
  (void)state;
  for (size_t buffer_size = 0; buffer_size <= 300; buffer_size += buffer_size < 20 ? 1 : 17) {
    for (uint32_t sync = EVALUE_SYNC_NEVER; sync <= EVALUE_SYNC_CLOSE; sync++) {
      const evalue_record_writer_options options = {.buffer_size = buffer_size, .sync = sync};
      evalue_record_writer w;
      put_file("f", "what was there before, and is longer than what will be", 54);
      if (buffer_size % 2 != 0) unlink(path_of("f"));
      assert_int_equal(evalue_record_writer_open(&w, path_of("f"), &options), EVALUE_OK);
      put_all(&w);
      assert_int_equal(evalue_record_writer_flush(&w), EVALUE_OK);
      check_file("f", small.bytes, small.size);
      assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
      check_file("f", small.bytes, small.size);
    }
  }
}

/* Many values, so that scratch and slices grow; and each alignment. */
static void test_messages(void **state) {
  (void)state;
  enum { COUNT = 500, MOST = 3 << 20 };
  static evalue values[COUNT];
  static const float numbers[2] = {1, 2};
  const int32_t sizes[1] = {2};
  evalue_tensor t;
  uint8_t *expected = malloc(MOST);
  assert_non_null(expected);
  assert_int_equal(evalue_tensor_init(&t, EVALUE_FLOAT32, 1, sizes, numbers, sizeof numbers), EVALUE_OK);
  for (size_t i = 0; i < COUNT; i++) values[i] = i % 3 == 0 ? evalue_from_tensor(&t) : evalue_from_string("abc", i % 4);
  for (uint32_t alignment = 0; alignment <= EVALUE_MAX_ALIGNMENT; alignment = alignment == 0 ? 1 : alignment * 2) {
    const evalue_record_writer_options options = {.alignment = alignment};
    evalue_record_writer w;
    evalue_record_reader r;
    evalue_record record;
    uint64_t nbytes;
    assert_int_equal(evalue_record_writer_open(&w, path_of("f"), &options), EVALUE_OK);
    for (size_t n = 0; n <= COUNT; n += 50) assert_int_equal(evalue_record_writer_put(&w, values, n, NULL), EVALUE_OK);
    assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
    assert_int_equal(evalue_record_reader_open(&r, path_of("f"), NULL), EVALUE_OK);
    for (size_t n = 0; n <= COUNT; n += 50) {
      assert_int_equal(evalue_message_encode(values, n, alignment, expected, MOST, &nbytes), EVALUE_OK);
      assert_int_equal(evalue_record_reader_next(&r, &record), EVALUE_OK);
      assert_int_equal(record.size, nbytes);
      assert_memory_equal(record.data, expected, (size_t)nbytes);
    }
    assert_int_equal(evalue_record_reader_close(&r), EVALUE_OK);
  }
  free(expected);
}

/* ---- sinks that fail ---- */

typedef struct {
  uint8_t bytes[SMALL_MOST];
  size_t used, capacity;
} taker;

static int64_t take(void *context, const void *data, size_t nbytes) {
  taker *t = context;
  size_t some = nbytes < t->capacity - t->used ? nbytes : t->capacity - t->used;
  if (some != 0) memcpy(t->bytes + t->used, data, some);
  t->used += some;
  return (int64_t)some;
}

/* A sink that can take nothing back: the failed record poisons it, and what was whole before still is. */
static void test_a_callback_that_fails(void **state) {
  (void)state;
  for (size_t capacity = 0; capacity < small.size; capacity++) {
    taker t = {.capacity = capacity};
    evalue_callback_sink sink;
    evalue_record_writer w;
    size_t failing = record_of(&small, capacity);
    assert_int_equal(evalue_callback_sink_init(&sink, take, &t, NULL), EVALUE_OK);
    assert_int_equal(evalue_record_writer_init(&w, &sink.sink, NULL), EVALUE_OK);
    for (size_t k = 0; k < failing; k++) assert_int_equal(put_small(&w, k, NULL), EVALUE_OK);
    uint64_t offset = 77;
    assert_int_equal(put_small(&w, failing, &offset), EVALUE_IO);
    assert_int_equal(offset, 77);
    assert_int_equal(w.status, EVALUE_IO);
    assert_int_equal(w.end, small.starts[failing]);
    assert_int_equal(w.records, failing);
    assert_memory_equal(t.bytes, small.bytes, capacity);
    evalue_status after = capacity == small.starts[failing] ? EVALUE_IO : EVALUE_POISONED;
    assert_int_equal(put_small(&w, failing, NULL), after);
    assert_int_equal(evalue_record_writer_close(&w), after == EVALUE_IO ? EVALUE_OK : EVALUE_POISONED);
    evalue_sink_close(&sink.sink);
  }
}

/* A sink that can: the record is not there, and a smaller one goes where it would have gone. */
static void test_a_buffer_that_is_full(void **state) {
  (void)state;
  for (size_t capacity = 0; capacity < small.size; capacity++) {
    uint8_t bytes[SMALL_MOST], before[SMALL_MOST];
    evalue_buffer_sink sink;
    evalue_record_writer w;
    size_t failing = record_of(&small, capacity);
    memset(bytes, 0xee, sizeof bytes);
    assert_int_equal(evalue_buffer_sink_init(&sink, bytes, capacity, &plain), EVALUE_OK);
    assert_int_equal(evalue_record_writer_init(&w, &sink.sink, NULL), EVALUE_OK);
    for (size_t k = 0; k < failing; k++) assert_int_equal(put_small(&w, k, NULL), EVALUE_OK);
    memcpy(before, bytes, sizeof bytes);
    assert_int_equal(put_small(&w, failing, NULL), EVALUE_NO_SPACE);
    assert_memory_equal(bytes, before, sizeof bytes);
    assert_int_equal(sink.sink.needed, small.starts[failing + 1]);
    bool has_room = capacity - small.starts[failing] >= 16;
    assert_int_equal(put_small(&w, 2, NULL), has_room ? EVALUE_OK : EVALUE_NO_SPACE); /* the empty one */
    if (has_room) assert_memory_equal(bytes + small.starts[failing], small.bytes + small.starts[2], 16);
    assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  }
}

static void test_a_full_disk(void **state) {
  (void)state;
  evalue_record_writer w;
  if (access("/dev/full", W_OK) != 0) skip();
  assert_int_equal(evalue_record_writer_open(&w, "/dev/full", NULL), EVALUE_OK);
  assert_int_equal(put_small(&w, 0, NULL), EVALUE_OK); /* in the buffer */
  assert_int_equal(evalue_record_writer_flush(&w), EVALUE_IO);
  assert_int_equal(w.system_error, ENOSPC);
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_IO);
  assert_int_equal(w.system_error, ENOSPC);
}

/* ---- limits ---- */

static void test_max_record(void **state) {
  (void)state;
  for (uint64_t limit = 1; limit < 200; limit++) {
    const evalue_record_writer_options options = {.max_record = limit};
    uint8_t bytes[SMALL_MOST];
    evalue_buffer_sink sink;
    evalue_record_writer w;
    uint64_t used = 0;
    assert_int_equal(evalue_buffer_sink_init(&sink, bytes, sizeof bytes, &plain), EVALUE_OK);
    assert_int_equal(evalue_record_writer_init(&w, &sink.sink, &options), EVALUE_OK);
    for (size_t k = 0; k < SMALL_COUNT; k++) {
      size_t size = small.starts[k + 1] - small.starts[k];
      bool is_large = size - 16 > limit;
      assert_int_equal(put_small(&w, k, NULL), is_large ? EVALUE_LIMIT : EVALUE_OK);
      assert_int_equal(evalue_record_writer_put_bytes(&w, small.bytes, size - 16, NULL),
                       is_large ? EVALUE_LIMIT : EVALUE_OK);
      used += is_large ? 0 : 2 * size;
      assert_int_equal(evalue_sink_used(&sink.sink), used);
    }
    assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  }
}

/* Sizes that no memory has: refused before a byte is looked at. */
static void test_sizes_that_cannot_be(void **state) {
  (void)state;
  evalue_counting_sink sink;
  evalue_record_writer w;
  const evalue v = evalue_from_string("x", SIZE_MAX);
  if (SIZE_MAX <= UINT32_MAX) skip();
  assert_int_equal(evalue_counting_sink_init(&sink, NULL), EVALUE_OK);
  assert_int_equal(evalue_record_writer_init(&w, &sink.sink, NULL), EVALUE_OK);
  assert_int_equal(evalue_record_writer_put_bytes(&w, "x", SIZE_MAX, NULL), EVALUE_LIMIT);
  assert_int_equal(evalue_record_writer_put_bytes(&w, "x", SIZE_MAX / 4 + 1, NULL), EVALUE_LIMIT);
  assert_int_equal(evalue_record_writer_put(&w, &v, 1, NULL), EVALUE_LIMIT);
  assert_int_equal(evalue_sink_used(&sink.sink), 0);
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
}

/* ---- the side file ---- */

static void test_side_file(void **state) {
  (void)state;
  char index_path[100], expected[400] = "";
  size_t length = 0;
  snprintf(index_path, sizeof index_path, "%s", path_of("f.idx"));
  for (size_t k = 0; k < SMALL_COUNT; k++) {
    length += (size_t)sprintf(expected + length, "%d %d\n", (int)small.starts[k],
                              (int)(small.starts[k + 1] - small.starts[k]));
  }
  for (int way = 0; way < 2; way++) {
    const evalue_record_writer_options options = {.index_path = index_path};
    evalue_counting_sink sink;
    evalue_record_writer w;
    assert_int_equal(evalue_counting_sink_init(&sink, NULL), EVALUE_OK);
    put_file("f.idx", "old", 3);
    assert_int_equal(way == 0 ? evalue_record_writer_open(&w, path_of("f"), &options)
                              : evalue_record_writer_init(&w, &sink.sink, &options),
                     EVALUE_OK);
    put_all(&w);
    check_file("f.idx", "", 0); /* the records could be lost still */
    assert_int_equal(evalue_record_writer_flush(&w), EVALUE_OK);
    check_file("f.idx", expected, length);
    assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
    check_file("f.idx", expected, length);
  }
}

/* More lines than wait at once: what the side file names is always in the file. */
static void test_long_side_file(void **state) {
  (void)state;
  char index_path[100];
  snprintf(index_path, sizeof index_path, "%s", path_of("f.idx"));
  const evalue_record_writer_options options = {.index_path = index_path};
  struct stat records, lines;
  evalue_record_writer w;
  evalue_record_index index = {0};
  assert_int_equal(evalue_record_writer_open(&w, path_of("f"), &options), EVALUE_OK);
  for (size_t i = 0; i < 20000; i++) {
    assert_int_equal(evalue_record_writer_put_bytes(&w, "abcdefgh", i % 9, NULL), EVALUE_OK);
    if (i % 1000 != 0) continue;
    assert_int_equal(stat(path_of("f"), &records), 0);
    assert_int_equal(evalue_record_index_read(&index, index_path, (uint64_t)records.st_size), EVALUE_OK);
  }
  assert_int_equal(stat(index_path, &lines), 0);
  assert_true(lines.st_size > 0);
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  assert_int_equal(evalue_record_index_read(&index, index_path, w.end), EVALUE_OK);
  assert_int_equal(index.count, 20000);
  for (size_t i = 0; i < index.count; i++) {
    if (index.entries[i].size != 16 + i % 9) fail();
    if (i > 0 && index.entries[i].offset != index.entries[i - 1].offset + index.entries[i - 1].size) fail();
  }
  evalue_record_index_free(&index);
}

static void test_side_file_that_fails(void **state) {
  (void)state;
  const evalue_record_writer_options none = {.index_path = "/nowhere/at/all"}, full = {.index_path = "/dev/full"};
  evalue_record_writer w;
  assert_int_equal(evalue_record_writer_open(&w, path_of("f"), &none), EVALUE_IO);
  assert_int_equal(w.system_error, ENOENT);
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_MISUSE);
  if (access("/dev/full", W_OK) != 0) skip();
  assert_int_equal(evalue_record_writer_open(&w, path_of("f"), &full), EVALUE_OK);
  put_all(&w);
  assert_int_equal(evalue_record_writer_flush(&w), EVALUE_IO);
  assert_int_equal(w.system_error, ENOSPC);
  check_file("f", small.bytes, small.size); /* the records are there */
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_IO);
  check_file("f", small.bytes, small.size);
}

/* ---- misuse ---- */

static void check_refused(evalue_record_writer *w) {
  const evalue v = evalue_from_int(1);
  assert_int_equal(evalue_record_writer_put(w, &v, 1, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_writer_put_bytes(w, "x", 1, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_writer_flush(w), EVALUE_MISUSE);
  assert_int_equal(evalue_record_writer_close(w), EVALUE_MISUSE);
}

static void test_misuse(void **state) {
  (void)state;
  evalue bad = evalue_from_int(1);
  evalue_record_writer w, copy;
  evalue_counting_sink sink;
  bad.tag = 99;
  assert_int_equal(evalue_counting_sink_init(&sink, NULL), EVALUE_OK);
  assert_int_equal(evalue_record_writer_init(&w, &sink.sink, NULL), EVALUE_OK);
  copy = w;
  check_refused(&copy);
  check_refused(NULL);
  assert_int_equal(evalue_record_writer_put(&w, NULL, 1, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_writer_put(&w, &bad, 1, NULL), EVALUE_MISUSE);
  assert_int_equal(w.status, EVALUE_MISUSE);
  assert_int_equal(evalue_record_writer_put_bytes(&w, NULL, 1, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_sink_used(&sink.sink), 0);
  assert_int_equal(put_small(&w, 0, NULL), EVALUE_OK);
  assert_int_equal(evalue_record_writer_close(&w), EVALUE_OK);
  check_refused(&w);
  assert_int_equal(sink.records, 1);
  assert_int_equal(evalue_sink_close(&sink.sink), EVALUE_OK);
  assert_int_equal(evalue_record_writer_init(&w, &sink.sink, NULL), EVALUE_MISUSE); /* closed */
  check_refused(&w);
}

static void test_refused_opening(void **state) {
  (void)state;
  static const evalue_record_writer_options bad[] = {{.size = 3},         {.append = 2},
                                                     {.sync = 3},         {.alignment = 3},
                                                     {.alignment = 8192}, {.buffer_size = (1 << 30) + 1},
                                                     {.index_path = ""}};
  const evalue_record_writer_options append = {.append = 1};
  uint8_t bytes[100];
  evalue_record_writer w;
  evalue_buffer_sink aligned;
  evalue_counting_sink sink;
  assert_int_equal(evalue_counting_sink_init(&sink, NULL), EVALUE_OK);
  assert_int_equal(evalue_buffer_sink_init(&aligned, bytes, sizeof bytes, NULL), EVALUE_OK);
  put_file("kept", "kept", 4);
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    assert_int_equal(evalue_record_writer_open(&w, path_of("kept"), &bad[i]), EVALUE_MISUSE);
    assert_int_equal(evalue_record_writer_init(&w, &sink.sink, &bad[i]), EVALUE_MISUSE);
    check_refused(&w);
  }
  check_file("kept", "kept", 4);
  assert_int_equal(evalue_record_writer_init(&w, &sink.sink, &append), EVALUE_MISUSE);
  assert_int_equal(evalue_record_writer_init(&w, &aligned.sink, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_writer_init(&w, NULL, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_writer_init(NULL, &sink.sink, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_writer_open(NULL, "f", NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_writer_open(&w, NULL, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_writer_open(&w, "", NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_record_writer_open(&w, "/nowhere/at/all", NULL), EVALUE_IO);
  assert_int_equal(w.system_error, ENOENT);
  assert_int_equal(evalue_record_writer_open(&w, record_folder, NULL), EVALUE_IO);
  assert_int_equal(w.system_error, EISDIR);
}

static int make_all(void **state) {
  make_small(&small);
  evalue_log_configure("none", NULL, 0);
  return make_folder(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_buffer),
      cmocka_unit_test(test_a_file),
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_a_callback_that_fails),
      cmocka_unit_test(test_a_buffer_that_is_full),
      cmocka_unit_test(test_a_full_disk),
      cmocka_unit_test(test_max_record),
      cmocka_unit_test(test_sizes_that_cannot_be),
      cmocka_unit_test(test_side_file),
      cmocka_unit_test(test_long_side_file),
      cmocka_unit_test(test_side_file_that_fails),
      cmocka_unit_test(test_misuse),
      cmocka_unit_test(test_refused_opening),
  };
  return cmocka_run_group_tests(tests, make_all, remove_folder);
}
