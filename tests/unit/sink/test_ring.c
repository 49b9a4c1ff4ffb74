/* SPDX-License-Identifier: BSD-3-Clause */
/* The last records in a ring of memory: at every place of its end, whole, in order, and in a signal handler. */
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "sink_support.h"

enum { MOST = 64 };

static uint32_t seed;

static uint32_t next_random(uint32_t limit) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % limit;
}

/* All records ever written, of which the ring keeps the last that fit. */
typedef struct history {
  size_t sizes[400];
  size_t count;
} history;

static history past;

static void record_bytes(uint8_t *to, size_t i) {
  fill_bytes(to, past.sizes[i], i);
}

/* The index of the oldest record that should be kept. */
static size_t oldest(size_t capacity) {
  size_t filled = 0, i = past.count;
  while (i > 0 && filled + past.sizes[i - 1] + EVALUE_RECORD_OVERHEAD <= capacity) {
    filled += past.sizes[--i] + EVALUE_RECORD_OVERHEAD;
  }
  return i;
}

static void check_ring(const evalue_ring_sink *ring, size_t first, const uint8_t *memory, size_t capacity) {
  uint8_t bytes[4 * MOST];
  evalue_slice parts[2];
  for (size_t i = first; i < past.count; i++) {
    assert_int_equal(evalue_ring_sink_record(ring, i - first, parts), EVALUE_OK);
    assert_int_equal(parts[0].size + parts[1].size, past.sizes[i]);
    record_bytes(bytes, i);
    if (parts[0].size != 0) assert_memory_equal(parts[0].data, bytes, parts[0].size);
    if (parts[1].size != 0) {
      assert_memory_equal(parts[1].data, bytes + parts[0].size, parts[1].size);
      assert_ptr_equal(parts[1].data, memory);
      assert_ptr_equal((const uint8_t *)parts[0].data + parts[0].size, memory + capacity);
    }
  }
  assert_int_equal(evalue_ring_sink_record(ring, past.count - first, parts), EVALUE_END);
  assert_int_equal(evalue_ring_sink_record(ring, UINT64_MAX, parts), EVALUE_END);
}

/* In slices of different kinds, so that the end of the memory falls everywhere. */
static evalue_status put_record(evalue_ring_sink *ring, size_t size, uint64_t *offset) {
  uint8_t bytes[4 * MOST];
  past.sizes[past.count] = size;
  record_bytes(bytes, past.count);
  size_t cut = size == 0 ? 0 : next_random((uint32_t)size);
  const evalue_slice slices[] = {{bytes, cut}, {bytes, 0}, {bytes + cut, size - cut}};
  evalue_status status = evalue_sink_write_slices(&ring->sink, slices, 3, offset);
  past.count += status == EVALUE_OK ? 1 : 0;
  return status;
}

static void test_every_capacity(void **state) {
  (void)state;
  seed = 1;
  for (size_t capacity = 0; capacity <= MOST + 40; capacity++) {
    guard_buffer g = guard_new(capacity);
    evalue_ring_sink ring;
    uint64_t written = 0;
    past.count = 0;
    assert_int_equal(evalue_ring_sink_init(&ring, g.data, capacity), EVALUE_OK);
    for (size_t i = 0; i < 300; i++) {
      size_t size = next_random(i % 3 == 0 ? 8 : MOST);
      uint64_t offset = 77;
      size_t first = oldest(capacity);
      evalue_status status = put_record(&ring, size, &offset);
      if (size + EVALUE_RECORD_OVERHEAD > capacity) {
        assert_int_equal(status, EVALUE_NO_SPACE);
        assert_int_equal(offset, 77);
        assert_int_equal(oldest(capacity), first); /* none is lost for it */
      } else {
        assert_int_equal(status, EVALUE_OK);
        assert_int_equal(offset, written); /* of all bytes ever */
        written += size;
      }
      assert_int_equal(evalue_sink_used(&ring.sink), written);
      check_ring(&ring, oldest(capacity), g.data, capacity);
    }
    assert_int_equal(evalue_sink_close(&ring.sink), EVALUE_OK);
    guard_free(&g);
  }
}

/* Each record, with its word before it, begins at each place of the memory once. */
static void test_round_the_end_at_every_place(void **state) {
  (void)state;
  uint8_t memory[61]; /* a prime: the steps of 8 + size meet every place */
  for (size_t size = 0; size <= sizeof memory - EVALUE_RECORD_OVERHEAD; size++) {
    evalue_ring_sink ring;
    past.count = 0;
    assert_int_equal(evalue_ring_sink_init(&ring, memory, sizeof memory), EVALUE_OK);
    for (size_t i = 0; i < 61 * 2; i++) {
      assert_int_equal(put_record(&ring, size, NULL), EVALUE_OK);
      check_ring(&ring, oldest(sizeof memory), memory, sizeof memory);
    }
  }
}

static void test_records_without_bytes(void **state) {
  (void)state;
  uint8_t memory[EVALUE_RECORD_OVERHEAD * 3];
  evalue_ring_sink ring;
  past.count = 0;
  assert_int_equal(evalue_ring_sink_init(&ring, memory, sizeof memory), EVALUE_OK);
  for (int i = 0; i < 10; i++) {
    past.sizes[past.count++] = 0;
    assert_int_equal(evalue_sink_write(&ring.sink, NULL, 0, NULL), EVALUE_OK);
    check_ring(&ring, oldest(sizeof memory), memory, sizeof memory);
  }
}

static void test_e5_null_slices(void **state) {
  (void)state;
  uint8_t memory[64];
  evalue_ring_sink ring;
  const evalue_slice slices[] = {{NULL, 0}, {"a", 1}, {NULL, 0}};
  evalue_slice parts[2];
  assert_int_equal(evalue_ring_sink_init(&ring, memory, sizeof memory), EVALUE_OK);
  assert_int_equal(evalue_sink_write_slices(&ring.sink, slices, 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_ring_sink_record(&ring, 0, parts), EVALUE_OK);
  assert_int_equal(parts[0].size, 1);
}

/* ---- handing on ---- */

static void test_dump_is_what_was_written(void **state) {
  (void)state;
  for (uint32_t alignment = 1; alignment <= 256; alignment *= 16) {
    const evalue_sink_options options = {.alignment = alignment};
    uint8_t memory[1024], storage[4096];
    evalue_ring_sink ring;
    evalue_buffer_sink to;
    model expected = {.used = 0};
    assert_int_equal(evalue_ring_sink_init(&ring, memory, sizeof memory), EVALUE_OK);
    for (int round = 0; round < 5; round++) { /* the last steps in a row fit, whatever was before */
      for (int i = 0; i < STEPS; i++) assert_int_equal(put_step(&ring.sink, i, NULL), EVALUE_OK);
    }
    evalue_slice parts[2];
    uint64_t kept = 0;
    while (evalue_ring_sink_record(&ring, kept, parts) == EVALUE_OK) kept++;
    assert_true(kept >= STEPS && kept < 5 * STEPS);
    for (uint64_t k = 0; k < kept; k++) model_step(&expected, (int)((5 * STEPS - kept + k) % STEPS), alignment);
    assert_int_equal(evalue_buffer_sink_init(&to, storage, sizeof storage, &options), EVALUE_OK);
    assert_int_equal(evalue_ring_sink_dump(&ring, &to.sink), EVALUE_OK);
    assert_int_equal(evalue_sink_used(&to.sink), expected.used); /* messages at their own alignment, too */
    assert_memory_equal(storage, expected.bytes, expected.used);
    assert_int_equal(evalue_ring_sink_record(&ring, kept - 1, parts), EVALUE_OK); /* and they are still there */
  }
}

static void test_dump_into_a_sink_that_fails(void **state) {
  (void)state;
  static faulty_sink to;
  uint8_t memory[200];
  evalue_ring_sink ring;
  assert_int_equal(evalue_ring_sink_init(&ring, memory, sizeof memory), EVALUE_OK);
  for (int i = 0; i < 4; i++) assert_int_equal(evalue_sink_write(&ring.sink, "abcdefghij", 10, NULL), EVALUE_OK);
  for (int64_t k = 0; k <= 40; k++) {
    faulty_init(&to, true, 1);
    to.budget = k;
    assert_int_equal(evalue_ring_sink_dump(&ring, &to.sink), k < 40 ? EVALUE_IO : EVALUE_OK);
    assert_int_equal(to.size, k / 10 * 10);
    assert_int_equal(evalue_sink_used(&to.sink), k / 10 * 10);
  }
  assert_int_equal(evalue_ring_sink_dump(&ring, &ring.sink), EVALUE_MISUSE);
  assert_int_equal(evalue_ring_sink_dump(NULL, &to.sink), EVALUE_MISUSE);
  assert_int_equal(evalue_ring_sink_dump(&ring, NULL), EVALUE_MISUSE);
}

static void test_e5_dump_of_nothing_into_nothing(void **state) {
  (void)state;
  uint8_t memory[64];
  evalue_ring_sink ring;
  evalue_buffer_sink to;
  assert_int_equal(evalue_ring_sink_init(&ring, memory, sizeof memory), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&ring.sink, NULL, 0, NULL), EVALUE_OK);
  assert_int_equal(evalue_buffer_sink_init(&to, NULL, 0, NULL), EVALUE_OK);
  assert_int_equal(evalue_ring_sink_dump(&ring, &to.sink), EVALUE_OK);
}

static void test_undone_records(void **state) {
  (void)state;
  static faulty_sink bad;
  uint8_t memory[100];
  evalue_ring_sink ring;
  evalue_tee_sink tee;
  evalue_sink *list[] = {&ring.sink, &bad.sink};
  for (int64_t k = 0; k < 10; k++) {
    past.count = 0;
    assert_int_equal(evalue_ring_sink_init(&ring, memory, sizeof memory), EVALUE_OK);
    faulty_init(&bad, true, 1);
    assert_int_equal(evalue_tee_sink_init(&tee, list, 2), EVALUE_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(put_record(&ring, 10, NULL), EVALUE_OK);
    bad.budget = k;
    assert_int_equal(evalue_sink_write(&tee.sink, "abcdefghij", 10, NULL), EVALUE_IO);
    check_ring(&ring, 0, memory, sizeof memory);
    assert_int_equal(put_record(&ring, 20, NULL), EVALUE_OK);
    check_ring(&ring, 0, memory, sizeof memory);
  }
}

/* ---- a signal handler ---- */

static evalue_ring_sink watched;
static volatile sig_atomic_t looks, faults, missing;
static volatile uint32_t newest;

/* Records are a number and then as many bytes as its last digits say, each the number's last byte. */
static void look(int number) {
  (void)number;
  uint8_t bytes[128];
  uint32_t before = 0;
  evalue_slice parts[2];
  for (uint64_t k = 0; evalue_ring_sink_record(&watched, k, parts) == EVALUE_OK; k++) {
    size_t size = parts[0].size + parts[1].size;
    if (size < 4 || size > sizeof bytes) {
      faults++;
      return;
    }
    memcpy(bytes, parts[0].data, parts[0].size);
    memcpy(bytes + parts[0].size, parts[1].data, parts[1].size);
    uint32_t i = evalue_load_u32(bytes);
    if (size != 4 + i % 50 || (k > 0 && i != before + 1)) faults++;
    for (size_t b = 4; b < size; b++) faults += bytes[b] != (uint8_t)i;
    before = i;
  }
  if (before != newest && before + 1 != newest) missing++; /* the last one, which a crash dump is for */
  looks++;
}

static evalue_status write_watched(uint32_t i) {
  uint8_t bytes[128];
  memset(bytes, (uint8_t)i, sizeof bytes);
  evalue_store_u32(bytes, i);
  newest = i; /* this one, or not yet */
  return evalue_sink_write(&watched.sink, bytes, 4 + i % 50, NULL);
}

/* A timer's signals, wherever they fall. */
static void watch_with_a_timer(void) {
  const struct itimerval fast = {{0, 200}, {0, 200}}, off = {{0, 0}, {0, 0}};
  struct sigaction action = {.sa_handler = look}, old;
  struct timespec begun, now;
  assert_int_equal(sigaction(SIGALRM, &action, &old), 0);
  assert_int_equal(setitimer(ITIMER_REAL, &fast, NULL), 0);
  clock_gettime(CLOCK_MONOTONIC, &begun);
  evalue_status status = EVALUE_OK;
  for (uint32_t i = 1; status == EVALUE_OK; i++) {
    status = write_watched(i);
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - begun.tv_sec > 10 || (looks > 300 && now.tv_sec > begun.tv_sec)) break;
  }
  assert_int_equal(setitimer(ITIMER_REAL, &off, NULL), 0);
  assert_int_equal(sigaction(SIGALRM, &old, NULL), 0);
  assert_int_equal(status, EVALUE_OK);
  assert_true(looks > 10);
}

/* A signal after each instruction, where the processor can do that. */
static void watch_each_instruction(void) {
#if defined(__x86_64__)
  enum { RECORDS = 60 };
  struct sigaction action = {.sa_handler = look}, old;
  assert_int_equal(sigaction(SIGTRAP, &action, &old), 0);
  for (uint32_t i = 1; i <= RECORDS; i++) {
    __asm__ volatile("subq $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; addq $128, %%rsp" ::: "cc", "memory");
    write_watched(i);
    __asm__ volatile("subq $128, %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; addq $128, %%rsp" ::: "cc", "memory");
  }
  assert_int_equal(sigaction(SIGTRAP, &old, NULL), 0);
  assert_int_equal(evalue_sink_used(&watched.sink), RECORDS * 4 + 50 * 49 / 2 + 10 * 11 / 2);
#endif
}

static void watch(void (*with)(void)) {
  static uint8_t memory[333];
  looks = faults = missing = 0;
  newest = 0;
  assert_int_equal(evalue_ring_sink_init(&watched, memory, sizeof memory), EVALUE_OK);
  with();
}

static void test_whole_records_in_a_signal_handler(void **state) {
  (void)state;
  watch(watch_with_a_timer);
  assert_int_equal(faults, 0);
  watch(watch_each_instruction);
  assert_int_equal(faults, 0);
}

static void test_the_last_record_in_a_signal_handler(void **state) {
  (void)state;
  watch(watch_with_a_timer);
  assert_int_equal(missing, 0);
  watch(watch_each_instruction);
  assert_int_equal(missing, 0);
}

static void test_arguments(void **state) {
  (void)state;
  evalue_ring_sink ring, copy;
  uint8_t memory[64];
  evalue_slice parts[2];
  assert_int_equal(evalue_ring_sink_init(NULL, memory, 64), EVALUE_MISUSE);
  assert_int_equal(evalue_ring_sink_init(&ring, NULL, 64), EVALUE_MISUSE);
  check_refused(&ring.sink, EVALUE_MISUSE);
  assert_int_equal(evalue_ring_sink_init(&ring, memory, 64), EVALUE_OK);
  assert_int_equal(evalue_ring_sink_record(NULL, 0, parts), EVALUE_MISUSE);
  assert_int_equal(evalue_ring_sink_record(&ring, 0, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_ring_sink_record(&ring, 0, parts), EVALUE_END);
  assert_int_equal(evalue_sink_write(&ring.sink, memory, 57, NULL), EVALUE_NO_SPACE);
  assert_int_equal(ring.sink.needed, 57);
  copy = ring;
  check_refused(&copy.sink, EVALUE_MISUSE);
  assert_int_equal(evalue_sink_close(&ring.sink), EVALUE_OK);
  check_refused(&ring.sink, EVALUE_MISUSE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_capacity),
      cmocka_unit_test(test_round_the_end_at_every_place),
      cmocka_unit_test(test_records_without_bytes),
      cmocka_unit_test(test_e5_null_slices),
      cmocka_unit_test(test_dump_is_what_was_written),
      cmocka_unit_test(test_dump_into_a_sink_that_fails),
      cmocka_unit_test(test_e5_dump_of_nothing_into_nothing),
      cmocka_unit_test(test_undone_records),
      cmocka_unit_test(test_whole_records_in_a_signal_handler),
      cmocka_unit_test(test_the_last_record_in_a_signal_handler),
      cmocka_unit_test(test_arguments),
  };
  return cmocka_run_group_tests_name("ring", tests, be_quiet, NULL);
}
