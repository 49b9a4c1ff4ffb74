/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipes and sockets: short writes, slow readers, signals, thousands of slices, and readers that go away. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "sink_files.h"

enum { TOTAL = 700 * 1000, SLICES = 5000 };

static uint8_t sent[TOTAL], received[TOTAL + 1];

/* ---- a reader in a thread ---- */

typedef struct reader {
  pthread_t thread;
  int fd;
  size_t piece, received, most; /* it stops after `most` bytes */
  bool is_slow;
} reader;

static void *read_all(void *context) {
  reader *r = (reader *)context;
  const struct timespec pause = {0, 200 * 1000};
  while (r->received < r->most) {
    size_t room = r->most - r->received;
    ssize_t n = read(r->fd, received + r->received, room < r->piece ? room : r->piece);
    if (n == 0 || (n < 0 && errno != EINTR)) break;
    if (n > 0) r->received += (size_t)n;
    if (r->is_slow) nanosleep(&pause, NULL);
  }
  close(r->fd);
  return NULL;
}

/* The timer's signal goes to the thread that writes. */
static void start_reader(reader *r, int fd, size_t piece, bool is_slow, size_t most) {
  sigset_t alarm_set, old;
  *r = (reader){.fd = fd, .piece = piece, .most = most, .is_slow = is_slow};
  memset(received, 0, sizeof received);
  sigemptyset(&alarm_set);
  sigaddset(&alarm_set, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm_set, &old);
  assert_int_equal(pthread_create(&r->thread, NULL, read_all, r), 0);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void make_ends(int kind, int ends[2]) {
  if (kind == 0) assert_int_equal(pipe(ends), 0);
  if (kind == 0) return;
  int pair[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  ends[0] = pair[0];
  ends[1] = pair[1];
}

/* Records of very different sizes; returns the bytes. */
static size_t send_all(evalue_sink *sink) {
  size_t at = 0;
  for (size_t i = 0; at < TOTAL; i++) {
    size_t size = i % 7 == 0 ? 150 * 1000 : i * 37 % 3000;
    if (size > TOTAL - at) size = TOTAL - at;
    uint64_t offset = 77;
    assert_int_equal(evalue_sink_write(sink, sent + at, size, &offset), EVALUE_OK);
    assert_int_equal(offset, at);
    at += size;
  }
  return at;
}

static void check_transfer(int kind, int is_nonblocking, size_t buffer_size) {
  static uint8_t buffer[5000];
  const evalue_sink_options options = {.buffer = buffer, .buffer_size = buffer_size};
  int ends[2];
  reader r;
  evalue_file_sink s;
  make_ends(kind, ends);
  if (is_nonblocking != 0) fcntl(ends[1], F_SETFL, fcntl(ends[1], F_GETFL) | O_NONBLOCK);
  start_reader(&r, ends[0], 60000, is_nonblocking != 0, sizeof received);
  assert_int_equal(evalue_file_sink_init(&s, ends[1], &options), EVALUE_OK);
  assert_int_equal(send_all(&s.sink), TOTAL);
  assert_int_equal(evalue_sink_used(&s.sink), TOTAL);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
  close(ends[1]);
  pthread_join(r.thread, NULL);
  assert_int_equal(r.received, TOTAL);
  assert_memory_equal(received, sent, TOTAL);
}

static void test_pipes_and_sockets(void **state) {
  (void)state;
  fill_bytes(sent, sizeof sent, 4);
  for (int kind = 0; kind <= 1; kind++) {
    for (int is_nonblocking = 0; is_nonblocking <= 1; is_nonblocking++) {
      check_transfer(kind, is_nonblocking, 0);
      check_transfer(kind, is_nonblocking, 5000);
    }
  }
}

static volatile sig_atomic_t signals;

static void count_signal(int number) {
  (void)number;
  signals++;
}

static void test_i4_signals_do_not_matter(void **state) {
  (void)state;
  if (getenv("EVALUE_EMULATED") != NULL) skip(); /* qemu loses what writev has written when a signal ends it */
  const struct itimerval fast = {{0, 300}, {0, 300}}, off = {{0, 0}, {0, 0}};
  struct sigaction action = {.sa_handler = count_signal}, old; /* without SA_RESTART */
  assert_int_equal(sigaction(SIGALRM, &action, &old), 0);
  signals = 0;
  assert_int_equal(setitimer(ITIMER_REAL, &fast, NULL), 0);
  for (int kind = 0; kind <= 1; kind++) {
    check_transfer(kind, 0, 0);
    check_transfer(kind, 1, 5000);
  }
  assert_int_equal(setitimer(ITIMER_REAL, &off, NULL), 0);
  assert_int_equal(sigaction(SIGALRM, &old, NULL), 0);
  assert_true(signals > 0);
}

/* More than IOV_MAX slices in one record, some of them empty. */
static void test_thousands_of_slices(void **state) {
  (void)state;
  static evalue_slice slices[SLICES];
  uint8_t buffer[4000];
  for (size_t buffer_size = 0; buffer_size <= sizeof buffer; buffer_size += 1000) {
    const evalue_sink_options options = {.buffer = buffer, .buffer_size = buffer_size};
    evalue_file_sink s;
    size_t at = 0;
    for (size_t i = 0; i < SLICES; i++) {
      size_t size = i % 70 < 66 ? i % 3 : 0; /* runs of empty ones, too */
      slices[i] = (evalue_slice){size == 0 && i % 2 == 0 ? NULL : sent + at, size};
      at += size;
    }
    assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &options), EVALUE_OK);
    assert_int_equal(evalue_sink_write_slices(&s.sink, slices, SLICES, NULL), EVALUE_OK);
    assert_int_equal(evalue_sink_write_slices(&s.sink, slices, 7, NULL), EVALUE_OK);
    assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
    size_t size = get_file("f");
    assert_int_equal(size, at + 0 + 1 + 2 + 0 + 1 + 2 + 0);
    assert_memory_equal(file_bytes, sent, at);
    assert_memory_equal(file_bytes + at, sent, 6);
  }
}

/* The system takes less than 2^31 bytes a call. Nobody reads these: /dev/null counts them without looking. */
static void test_i5_more_than_2_gib(void **state) {
  (void)state;
#if SIZE_MAX > UINT32_MAX
  const size_t size = ((size_t)5 << 30) + 7;
  void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  int fd = open("/dev/null", O_WRONLY);
  if (p == MAP_FAILED || fd < 0) skip();
  evalue_file_sink s;
  const evalue_slice slices[] = {{"a", 1}, {p, size}, {p, size}, {"b", 1}};
  uint64_t offset = 77;
  assert_int_equal(evalue_file_sink_init(&s, fd, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_write_slices(&s.sink, slices, 4, &offset), EVALUE_OK);
  assert_int_equal(offset, 0);
  assert_int_equal(evalue_sink_used(&s.sink), 2 * size + 2);
  assert_int_equal(s.in_file, 2 * size + 2);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
  close(fd);
  munmap(p, size);
#else
  skip();
#endif
}

/* ---- readers that go away ---- */

static void test_h4_the_reader_goes_away(void **state) {
  (void)state;
  uint8_t buffer[300];
  signal(SIGPIPE, SIG_IGN);
  for (int kind = 0; kind <= 1; kind++) {
    for (size_t buffer_size = 0; buffer_size <= sizeof buffer; buffer_size += 300) {
      const evalue_sink_options options = {.buffer = buffer, .buffer_size = buffer_size};
      int ends[2];
      reader r;
      evalue_file_sink s;
      make_ends(kind, ends);
      start_reader(&r, ends[0], 1000, false, 100 * 1000);
      assert_int_equal(evalue_file_sink_init(&s, ends[1], &options), EVALUE_OK);
      for (int i = 0; i < 3; i++) assert_int_equal(evalue_sink_write(&s.sink, sent, 100, NULL), EVALUE_OK);
      assert_int_equal(evalue_sink_write(&s.sink, sent, TOTAL, NULL), EVALUE_IO);
      assert_true(s.sink.system_error == EPIPE || s.sink.system_error == ECONNRESET);
      assert_int_equal(evalue_sink_used(&s.sink), 300);
      check_refused(&s.sink, EVALUE_POISONED);
      assert_int_equal(evalue_sink_close(&s.sink), EVALUE_POISONED);
      pthread_join(r.thread, NULL);
      close(ends[1]);
      make_ends(kind, ends); /* and a reader that was never there has got nothing */
      close(ends[0]);
      assert_int_equal(evalue_file_sink_init(&s, ends[1], &options), EVALUE_OK);
      evalue_status status = evalue_sink_write(&s.sink, sent, 100, NULL);
      assert_int_equal(status, buffer_size == 0 ? EVALUE_IO : EVALUE_OK);
      assert_int_equal(evalue_sink_flush(&s.sink), buffer_size == 0 ? EVALUE_OK : EVALUE_IO);
      assert_int_equal(evalue_sink_close(&s.sink), buffer_size == 0 ? EVALUE_OK : EVALUE_IO);
      close(ends[1]);
    }
  }
}

/* A buffer of several records of which a pipe takes a part: poisoned, and `used` is the last boundary before it. */
static void test_h4_part_of_a_buffer(void **state) {
  (void)state;
  static uint8_t buffer[400 * 1000];
  const evalue_sink_options options = {.buffer = buffer, .buffer_size = sizeof buffer};
  int ends[2];
  reader r;
  evalue_file_sink s;
  signal(SIGPIPE, SIG_IGN);
  make_ends(0, ends);
  start_reader(&r, ends[0], 1000, false, 50 * 1000);
  assert_int_equal(evalue_file_sink_init(&s, ends[1], &options), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, sent, 500, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_flush(&s.sink), EVALUE_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(evalue_sink_write(&s.sink, sent, 100 * 1000, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_used(&s.sink), 300500);
  assert_int_equal(evalue_sink_flush(&s.sink), EVALUE_IO);
  assert_int_equal(evalue_sink_used(&s.sink), 500);
  check_refused(&s.sink, EVALUE_POISONED);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_POISONED);
  pthread_join(r.thread, NULL);
  close(ends[1]);
}

static void test_syncing_a_pipe(void **state) {
  (void)state;
  for (uint32_t sync = 0; sync <= 2; sync++) {
    const evalue_sink_options options = {.sync = sync};
    int ends[2];
    evalue_file_sink s;
    make_ends(sync % 2 == 0 ? 0 : 1, ends);
    assert_int_equal(evalue_file_sink_init(&s, ends[1], &options), EVALUE_OK);
    assert_int_equal(evalue_sink_write(&s.sink, "abc", 3, NULL), EVALUE_OK);
    assert_int_equal(evalue_sink_flush(&s.sink), EVALUE_OK);
    assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK); /* there is no disk to wait for */
    close(ends[0]);
    close(ends[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pipes_and_sockets),       cmocka_unit_test(test_i4_signals_do_not_matter),
      cmocka_unit_test(test_thousands_of_slices),     cmocka_unit_test(test_i5_more_than_2_gib),
      cmocka_unit_test(test_h4_the_reader_goes_away), cmocka_unit_test(test_h4_part_of_a_buffer),
      cmocka_unit_test(test_syncing_a_pipe),
  };
  return cmocka_run_group_tests_name("stream", tests, make_folder, remove_folder);
}
