/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver, and a peer that sends what it wants: every fault of spec/evalue-ipc.md, section 6. */
#include <poll.h>
#include <sys/resource.h>

#include "ipc_faults.h"

enum { MESSAGE = 300, LIMIT = 1000, POOL_LIMIT = 200000 };

static const evalue_ipc_options limited = {.max_bytes = LIMIT, .max_pool_bytes = POOL_LIMIT, .stall_ms = 20};

static uint8_t message[FRAME + MESSAGE + 100];

/* An inline message of n bytes after its frame. */
static void make_message(size_t n, size_t seed) {
  make_frame(message, INLINE, n, 0);
  fill_bytes(message + FRAME, n, seed);
}

/* ---- frames ---- */

static const struct {
  uint8_t at, value;
  evalue_fault fault;
  uint64_t position, expected, found;
} bad_frames[] = {
    {0, 'e', EVALUE_FAULT_BAD_FRAME_MAGIC, 0, MAGIC, MAGIC ^ 0x20},
    {1, 'v', EVALUE_FAULT_BAD_FRAME_MAGIC, 0, MAGIC, MAGIC ^ 0x2000},
    {2, 0, EVALUE_FAULT_BAD_FRAME_MAGIC, 0, MAGIC, MAGIC & 0xff00ffff},
    {3, 0xff, EVALUE_FAULT_BAD_FRAME_MAGIC, 0, MAGIC, MAGIC | 0xff000000},
    {4, 0, EVALUE_FAULT_FRAME_VERSION, 4, 1, 0},
    {4, 2, EVALUE_FAULT_FRAME_VERSION, 4, 1, 2},
    {4, 255, EVALUE_FAULT_FRAME_VERSION, 4, 1, 255},
    {5, 0, EVALUE_FAULT_UNKNOWN_CARRIER, 5, 4, 0},
    {5, 5, EVALUE_FAULT_UNKNOWN_CARRIER, 5, 4, 5},
    {5, 255, EVALUE_FAULT_UNKNOWN_CARRIER, 5, 4, 255},
    {6, 1, EVALUE_FAULT_FRAME_FLAGS, 6, 0, 1},
    {7, 0x80, EVALUE_FAULT_FRAME_FLAGS, 6, 0, 0x8000},
    {16, 1, EVALUE_FAULT_FRAME_PLACE, 16, 0, 1},
    {23, 255, EVALUE_FAULT_FRAME_PLACE, 16, 0, UINT64_C(255) << 56},
    {9, LIMIT >> 8, EVALUE_FAULT_MESSAGE_TOO_LARGE, 8, LIMIT, (LIMIT & 0xff00) + 0xff},
    {15, 255, EVALUE_FAULT_MESSAGE_TOO_LARGE, 8, LIMIT, (UINT64_C(255) << 56) + 0xff},
};

/* One byte of an inline frame of 255 bytes is another one; `after` bytes follow the frame. */
static void check_bad_frames(int type, size_t after) {
  for (size_t i = 0; i < COUNT_OF(bad_frames); i++) {
    evalue_ipc_channel c;
    int peer = make_peer(&c, type, &limited);
    make_message(255, 1);
    message[bad_frames[i].at] = bad_frames[i].value;
    put_raw(peer, message, FRAME + after, NULL, 0);
    expect_fault(&c, bad_frames[i].fault, bad_frames[i].position, bad_frames[i].expected, bad_frames[i].found);
    close_peer(&c, peer);
  }
}

static void test_frames_that_are_none(void **state) {
  (void)state;
  for (size_t i = 0; i < 2; i++) check_bad_frames(socket_types[i], 0);
}

/* Bytes that follow do not hide what is wrong with the frame: the peer may speak another version, or HTTP. */
static void test_frames_that_are_none_in_longer_packets(void **state) {
  (void)state;
  for (size_t i = 0; i < 2; i++) check_bad_frames(socket_types[i], 100);
}

/* What is wrong with a frame of a slot, of sealed memory or of a pool, before anything of it is looked at. */
static void test_frames_of_other_carriers(void **state) {
  (void)state;
  static const struct {
    uint64_t nbytes, place;
    uint8_t carrier;
    bool has_fd;
    evalue_fault fault;
    uint64_t position, expected, found;
  } rows[] = {
      {LIMIT + 1, 0, SLOT, false, EVALUE_FAULT_MESSAGE_TOO_LARGE, 8, LIMIT, LIMIT + 1},
      {UINT64_MAX, 0, SLOT, false, EVALUE_FAULT_MESSAGE_TOO_LARGE, 8, LIMIT, UINT64_MAX},
      {LIMIT + 1, 0, SEALED, true, EVALUE_FAULT_MESSAGE_TOO_LARGE, 8, LIMIT, LIMIT + 1},
      {UINT64_MAX - 127, 0, SEALED, true, EVALUE_FAULT_MESSAGE_TOO_LARGE, 8, LIMIT, UINT64_MAX - 127},
      {24, 7, SEALED, true, EVALUE_FAULT_FRAME_PLACE, 16, 0, 7},
      {24, 0, SLOT, false, EVALUE_FAULT_NO_POOL, 5, 0, 0},
      {24, UINT64_MAX, SLOT, false, EVALUE_FAULT_NO_POOL, 5, 0, 0},
      {24, 0, SEALED, false, EVALUE_FAULT_NO_DESCRIPTOR, 5, 0, 0},
      {24, 4, POOL, false, EVALUE_FAULT_NO_DESCRIPTOR, 5, 0, 0},
      {0, 0, INLINE, true, EVALUE_FAULT_STRAY_DESCRIPTOR, 5, 0, 0},
      {24, 0, SLOT, true, EVALUE_FAULT_STRAY_DESCRIPTOR, 5, 0, 0},
      {1000, 0, POOL, true, EVALUE_FAULT_POOL_SHAPE, 16, 64, 0},
      {1000, 65, POOL, true, EVALUE_FAULT_POOL_SHAPE, 16, 64, 65},
      {1000, UINT64_MAX, POOL, true, EVALUE_FAULT_POOL_SHAPE, 16, 64, UINT64_MAX},
      {1000, (UINT64_C(1) << 32) + 1, POOL, true, EVALUE_FAULT_POOL_SHAPE, 16, 64, (UINT64_C(1) << 32) + 1},
      {POOL_LIMIT + 1, 1, POOL, true, EVALUE_FAULT_POOL_TOO_LARGE, 8, POOL_LIMIT, POOL_LIMIT + 1},
      {UINT64_MAX, 64, POOL, true, EVALUE_FAULT_POOL_TOO_LARGE, 8, POOL_LIMIT, UINT64_MAX},
      {UINT64_MAX - 65536 - 4096, 1, POOL, true, EVALUE_FAULT_POOL_TOO_LARGE, 8, POOL_LIMIT, UINT64_MAX - 69632},
      {UINT64_C(1) << 58, 64, POOL, true, EVALUE_FAULT_POOL_TOO_LARGE, 8, POOL_LIMIT, UINT64_C(1) << 58},
      {POOL_LIMIT, 1, POOL, true, EVALUE_FAULT_POOL_TOO_LARGE, 8, POOL_LIMIT, POOL_LIMIT},
      {4096, 17, POOL, true, EVALUE_FAULT_POOL_TOO_LARGE, 8, POOL_LIMIT, 4096},
  };
  int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (size_t i = 0; i < 2 * COUNT_OF(rows); i++) {
    size_t row = i / 2;
    evalue_ipc_channel c;
    int peer = make_peer(&c, socket_types[i % 2], &limited);
    put_frame(peer, rows[row].carrier, rows[row].nbytes, rows[row].place, rows[row].has_fd ? fd : -1);
    expect_fault(&c, rows[row].fault, rows[row].position, rows[row].expected, rows[row].found);
    close_peer(&c, peer);
  }
  close(fd);
}

static void test_default_limits(void **state) {
  (void)state;
  const uint64_t limit = 1 << 30;
  int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (size_t i = 0; i < 4; i++) {
    evalue_ipc_channel c;
    int peer = make_peer(&c, socket_types[i % 2], NULL);
    if (i < 2) {
      put_frame(peer, INLINE, limit + 1, 0, -1);
      expect_fault(&c, EVALUE_FAULT_MESSAGE_TOO_LARGE, 8, limit, limit + 1);
    } else {
      put_frame(peer, POOL, limit / 2, 2, fd);
      expect_fault(&c, EVALUE_FAULT_POOL_TOO_LARGE, 8, limit, limit / 2);
    }
    close_peer(&c, peer);
  }
  close(fd);
}

/* A frame that announces 1 GiB, and a peer that goes: no memory is taken for what never came. */
static void test_announced_and_not_sent(void **state) {
  (void)state;
  evalue_ipc_channel c;
  int peer = make_peer(&c, SOCK_STREAM, NULL);
  put_frame(peer, INLINE, 1 << 30, 0, -1);
  put_raw(peer, message, 10, NULL, 0);
  close(peer);
  expect_fault(&c, EVALUE_FAULT_MESSAGE_SHORT, 8, 1 << 30, 10);
  close_peer(&c, -1);
}

/* ---- ends, early and in order ---- */

static void test_frames_cut_short(void **state) {
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    for (size_t n = 1; n < FRAME; n++) {
      evalue_ipc_channel c;
      int peer = make_peer(&c, socket_types[i], NULL);
      make_message(10, 1);
      put_raw(peer, message, n, NULL, 0);
      if (socket_types[i] == SOCK_STREAM) {
        close(peer);
        peer = -1;
      }
      expect_fault(&c, EVALUE_FAULT_FRAME_SHORT, n, 24, n);
      close_peer(&c, peer);
    }
  }
}

static void test_a_packet_of_no_bytes(void **state) {
  (void)state;
  evalue_ipc_channel c;
  evalue_ipc_message m;
  int peer = make_peer(&c, SOCK_SEQPACKET, NULL);
  put_raw(peer, message, 0, NULL, 0);
  evalue_status status = evalue_ipc_receive(&c, &m);
  if (status != EVALUE_END) expect_fault(&c, EVALUE_FAULT_FRAME_SHORT, 0, 24, 0);
  close_peer(&c, peer);
  assert_int_not_equal(status, EVALUE_END); /* the peer has not closed */
}

/* What nobody has received is closed with the channel: also behind a packet that looks like the end. */
static void test_descriptors_of_packets_of_no_bytes(void **state) {
  (void)state;
  evalue_ipc_channel c;
  int peer = make_peer(&c, SOCK_SEQPACKET, NULL), fds[2];
  assert_int_equal(pipe(fds), 0);
  for (int i = 0; i < 3; i++) put_raw(peer, message, i == 1 ? 1 : 0, fds, 2);
  close(fds[0]);
  assert_int_equal(evalue_ipc_close(&c), EVALUE_OK);
  struct pollfd end = {.fd = fds[1]};
  assert_int_equal(poll(&end, 1, 0), 1);
  assert_true((end.revents & POLLERR) != 0); /* nobody has the other one */
  close(fds[1]);
  close(peer);
}

static void test_messages_cut_short(void **state) {
  (void)state;
  for (size_t n = 0; n < MESSAGE; n += 23) {
    evalue_ipc_channel c;
    int peer = make_peer(&c, SOCK_STREAM, NULL);
    make_message(MESSAGE, 1);
    put_raw(peer, message, FRAME + n, NULL, 0);
    close(peer);
    expect_fault(&c, EVALUE_FAULT_MESSAGE_SHORT, 8, MESSAGE, n);
    close_peer(&c, -1);
  }
}

static void check_packet(size_t length) {
  evalue_ipc_channel c;
  int peer = make_peer(&c, SOCK_SEQPACKET, NULL);
  make_message(MESSAGE, 1);
  put_raw(peer, message, FRAME + length, NULL, 0);
  expect_fault(&c, EVALUE_FAULT_PACKET_LENGTH, 8, MESSAGE, length);
  close_peer(&c, peer);
}

static void check_longer_packets(size_t more) {
  for (uint8_t carrier = SLOT; carrier <= POOL; carrier++) {
    evalue_ipc_channel c;
    const int fd = 2;
    int peer = make_peer(&c, SOCK_SEQPACKET, NULL);
    make_frame(message, carrier, 24, carrier == POOL);
    put_raw(peer, message, FRAME + more, &fd, carrier != SLOT);
    expect_fault(&c, EVALUE_FAULT_PACKET_LENGTH, 8, FRAME, FRAME + more);
    close_peer(&c, peer);
  }
}

static void test_packets_of_another_length(void **state) {
  (void)state;
  for (size_t length = 0; length < MESSAGE; length += 13) check_packet(length);
  check_packet(MESSAGE - 1);
  check_packet(MESSAGE + 1);
  check_longer_packets(1);
}

/* `found` is how many bytes there are, however many. */
static void test_packets_that_are_much_longer(void **state) {
  (void)state;
  check_packet(MESSAGE + 2);
  check_packet(MESSAGE + 100);
  check_longer_packets(2);
  check_longer_packets(100);
}

static void test_end(void **state) {
  (void)state;
#ifdef __sparc__
  if (is_emulated()) skip(); /* POLLRDHUP has another value there, and the emulator does not translate it */
#endif
  for (size_t i = 0; i < 4; i++) {
    evalue_ipc_channel c;
    int peer = make_peer(&c, socket_types[i % 2], NULL);
    for (size_t n = 0; n < 3; n++) {
      make_message(n * 50, n);
      put_raw(peer, message, FRAME + n * 50, NULL, 0);
    }
    if (i < 2) close(peer);
    else assert_int_equal(shutdown(peer, SHUT_WR), 0);
    for (size_t n = 0; n < 3; n++) {
      make_message(n * 50, n);
      expect_message(&c, message + FRAME, n * 50, EVALUE_IPC_INLINE);
    }
    expect_end(&c);
    close_peer(&c, i < 2 ? -1 : peer);
  }
}

/* The peer has answered, and has closed without reading all that it got: the answer comes first. */
static void test_the_last_words_of_a_peer(void **state) {
  (void)state;
  evalue_status statuses[2];
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_channel c;
    evalue_ipc_message m;
    int peer = make_peer(&c, socket_types[i], NULL);
    assert_int_equal(evalue_ipc_send(&c, NULL, 0), EVALUE_OK);
    make_message(MESSAGE, 1);
    put_raw(peer, message, FRAME + MESSAGE, NULL, 0);
    close(peer);
    statuses[i] = evalue_ipc_receive(&c, &m);
    assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
    if (statuses[i] == EVALUE_OK) {
      evalue_status status = evalue_ipc_receive(&c, &m);
      assert_true(status == EVALUE_END || (status == EVALUE_IO && c.error.fault == EVALUE_FAULT_PEER_GONE));
    }
    close_peer(&c, -1);
  }
  assert_int_equal(statuses[0], EVALUE_OK);
  assert_int_equal(statuses[1], EVALUE_OK);
}

/* ---- time ---- */

static void test_idle(void **state) {
  (void)state;
  const evalue_ipc_options options = {.idle_ms = 20, .stall_ms = 1};
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_channel c;
    int peer = make_peer(&c, socket_types[i], &options);
    for (size_t n = 0; n < 2; n++) {
      expect_fault(&c, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
      make_message(MESSAGE, n);
      put_raw(peer, message, FRAME + MESSAGE, NULL, 0);
      expect_message(&c, message + FRAME, MESSAGE, EVALUE_IPC_INLINE);
    }
    close(peer);
    expect_end(&c);
    close_peer(&c, -1);
  }
}

/* A pool is no message: after it, too, nothing has begun. */
static void test_idle_after_a_pool(void **state) {
  (void)state;
  need_seals();
  const evalue_ipc_options options = {.idle_ms = 20};
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_channel c;
    raw_pool pool;
    int peer = make_peer(&c, socket_types[i], &options);
    make_pool(&pool, 2, 1000);
    put_frame(peer, POOL, 1000, 2, pool.fd);
    expect_fault(&c, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
    put_frame(peer, SLOT, 1000, 1, -1);
    expect_message(&c, slot_of(&pool, 1), 1000, EVALUE_IPC_POOL);
    close_pool(&pool);
    close_peer(&c, peer);
  }
}

/* Inside a message time is up for good, also when the rest comes after all. */
static void test_stalled(void **state) {
  (void)state;
  static const size_t there[] = {1, 12, 23, 24, 25, FRAME + MESSAGE - 1};
  for (size_t i = 0; i < COUNT_OF(there); i++) {
    evalue_ipc_channel c;
    int peer = make_peer(&c, SOCK_STREAM, &limited);
    make_message(MESSAGE, i);
    put_raw(peer, message, there[i], NULL, 0);
    expect_fault(&c, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
    put_raw(peer, message + there[i], FRAME + MESSAGE - there[i], NULL, 0);
    expect_fault(&c, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
    close(peer);
    expect_fault(&c, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
    close_peer(&c, -1);
  }
}

static void *dribble(void *context) {
  const int *peer = (const int *)context;
  for (size_t i = 0; i < FRAME + MESSAGE; i++) {
    if (send(*peer, message + i, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) return NULL; /* nobody takes it any more */
    usleep(500);
  }
  return context;
}

/* A byte at a time is fine, as long as it ends in time; a byte now and then does not keep the receiver for ever. */
static void test_one_byte_at_a_time(void **state) {
  (void)state;
  const evalue_ipc_options patient = {.stall_ms = 100000};
  for (int is_patient = 0; is_patient < 2; is_patient++) {
    evalue_ipc_channel c;
    pthread_t thread;
    int peer = make_peer(&c, SOCK_STREAM, is_patient != 0 ? &patient : &limited);
    make_message(MESSAGE, 3);
    assert_int_equal(pthread_create(&thread, NULL, dribble, &peer), 0);
    if (is_patient != 0) expect_message(&c, message + FRAME, MESSAGE, EVALUE_IPC_INLINE);
    else expect_fault(&c, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
    pthread_join(thread, NULL);
    close_peer(&c, peer);
  }
}

/* However the system cuts a stream, it is the same messages. */
static void test_glued_and_cut(void **state) {
  (void)state;
  static uint8_t stream[5 * (FRAME + MESSAGE)];
  size_t total = 0;
  for (size_t i = 0; i < 5; i++) {
    make_message(i * 17, i);
    memcpy(stream + total, message, FRAME + i * 17);
    total += FRAME + i * 17;
  }
  for (size_t cut = 0; cut < total; cut++) {
    evalue_ipc_channel c;
    int peer = make_peer(&c, SOCK_STREAM, NULL);
    if (cut != 0) put_raw(peer, stream, cut, NULL, 0);
    put_raw(peer, stream + cut, total - cut, NULL, 0);
    for (size_t i = 0; i < 5; i++) {
      make_message(i * 17, i);
      expect_message(&c, message + FRAME, i * 17, EVALUE_IPC_INLINE);
    }
    close(peer);
    expect_end(&c);
    close_peer(&c, -1);
  }
}

/* ---- descriptors that do not belong there ---- */

static void test_stray_descriptors(void **state) {
  (void)state;
  static const size_t counts[] = {1, 2, 60, 124, 125, 200, MOST_FDS};
  static int fds[MOST_FDS];
  for (size_t i = 0; i < MOST_FDS; i++) fds[i] = 2;
  for (size_t i = 0; i < 2 * COUNT_OF(counts); i++) {
    for (uint8_t carrier = INLINE; carrier <= POOL; carrier++) {
      size_t count = counts[i / 2];
      if (is_emulated() && count > 100) continue; /* an emulator forgets those that do not fit */
      evalue_ipc_channel c;
      int peer = make_peer(&c, socket_types[i % 2], NULL);
      bool is_asked_for = carrier >= SEALED && count == 1;
      make_frame(message, carrier, 50, carrier == POOL);
      put_raw(peer, message, FRAME + (carrier == INLINE ? 50 : 0), fds, count);
      if (is_asked_for) expect_fault(&c, EVALUE_FAULT_NOT_MEMORY, 8, 0, 0);
      else expect_fault(&c, EVALUE_FAULT_STRAY_DESCRIPTOR, 5, 0, 0);
      close_peer(&c, peer);
    }
  }
}

/* With a later byte of a frame, with a message's bytes, with a part of a packet that is no frame. */
static void test_stray_descriptors_later(void **state) {
  (void)state;
  static const size_t places[] = {1, 23, 24, 25, FRAME + MESSAGE - 1};
  const int fds[2] = {2, 2};
  for (size_t i = 0; i < 2 * COUNT_OF(places); i++) {
    size_t at = places[i / 2];
    evalue_ipc_channel c;
    int peer = make_peer(&c, SOCK_STREAM, NULL);
    make_message(MESSAGE, i);
    put_raw(peer, message, at, NULL, 0);
    put_raw(peer, message + at, FRAME + MESSAGE - at, fds, 1 + i % 2);
    expect_fault(&c, EVALUE_FAULT_STRAY_DESCRIPTOR, 5, 0, 0);
    close_peer(&c, peer);
  }
  evalue_ipc_channel c;
  int peer = make_peer(&c, SOCK_SEQPACKET, NULL);
  put_raw(peer, message, 10, fds, 2);
  expect_fault(&c, EVALUE_FAULT_FRAME_SHORT, 10, 24, 10);
  close_peer(&c, peer);
}

/* Closing with descriptors that nobody has received frees them; the channel itself keeps working in the other way. */
static void test_descriptors_in_the_queue(void **state) {
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_channel c;
    int peer = make_peer(&c, socket_types[i], NULL);
    put_frame(peer, SEALED, 1, 0, 2);
    put_frame(peer, SEALED, 1, 0, 2);
    expect_fault(&c, EVALUE_FAULT_NOT_MEMORY, 8, 0, 0);
    assert_int_equal(evalue_ipc_send(&c, NULL, 0), EVALUE_OK); /* receiving is over, sending is not */
    assert_int_equal(c.error.status, EVALUE_OK);
    assert_int_equal(get_raw(peer, message, FRAME + 24), -1);
    expect_fault(&c, EVALUE_FAULT_NOT_MEMORY, 8, 0, 0);
    close_peer(&c, peer);
  }
}

/* The system has none left for the one that was asked for: that is no fault of the peer's. */
static void test_no_descriptors_left(void **state) {
  (void)state;
  need_seals();
  if (is_emulated()) skip(); /* the emulator needs some itself */
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_channel c;
    evalue_ipc_message m;
    struct rlimit old, none;
    int peer = make_peer(&c, socket_types[i], NULL), fd = make_memory(1000, ALL_SEALS);
    put_frame(peer, SEALED, 100, 0, fd);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = (struct rlimit){0, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    evalue_status status = evalue_ipc_receive(&c, &m);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    close(fd);
    close_peer(&c, peer);
    assert_int_equal(status, EVALUE_IO);
  }
}

/* What the maker of a socket has asked the system for comes beside the bytes. False when it cannot be asked for. */
static bool check_beside_the_bytes(int type, int option) {
  const int on = 1;
  uint8_t bytes[100] = {0};
  evalue_ipc_channel c;
  int peer = make_peer(&c, type, NULL), fd = make_memory(1000, ALL_SEALS);
  bool is_possible = setsockopt(c.fd, SOL_SOCKET, option, &on, sizeof on) == 0;
  for (size_t i = 0; i < 5 && is_possible; i++) {
    put_frame(peer, SEALED, 100, 0, fd);
    expect_message(&c, bytes, 100, EVALUE_IPC_SEALED);
    make_message(MESSAGE, i);
    put_raw(peer, message, FRAME + MESSAGE, NULL, 0);
    expect_message(&c, message + FRAME, MESSAGE, EVALUE_IPC_INLINE);
  }
  close(fd);
  close_peer(&c, peer);
  return is_possible;
}

static void test_other_things_beside_the_bytes(void **state) {
  (void)state;
  need_seals();
  for (size_t i = 0; i < 2; i++) {
    assert_true(check_beside_the_bytes(socket_types[i], SO_PASSCRED));
    assert_true(check_beside_the_bytes(socket_types[i], SO_TIMESTAMP));
  }
}

/* A peer that makes both ends, and passes one on, can ask for a descriptor of itself beside everything it sends. */
static void test_descriptors_of_the_peer(void **state) {
  (void)state;
  if (is_emulated()) skip(); /* it may read what is beside the bytes in another way */
  need_seals();
  for (size_t i = 0; i < 2; i++) {
    if (!check_beside_the_bytes(socket_types[i], 76 /* SO_PASSPIDFD, of Linux 6.5 */)) skip();
  }
}

/* ---- all of it ---- */

/* The tests of this program, with those of test_memory.c and of the sender, have produced every fault there is. */
static void test_every_fault(void **state) {
  (void)state;
  static const evalue_fault all[] = {
#define X(name, status, field, text, relation, expected, meaning) EVALUE_FAULT_##name,
      EVALUE_IPC_FAULT_TABLE(X)
#undef X
  };
  assert_int_equal(COUNT_OF(all), COUNT_OF(fault_rows));
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    bool is_elsewhere = false;
    assert_int_equal(all[i], fault_rows[i].fault);
#define X(name, where) is_elsewhere = is_elsewhere || all[i] == EVALUE_FAULT_##name;
    FAULTS_ELSEWHERE(X)
#undef X
    if (!is_elsewhere && !is_produced[i]) fail_msg("no test has produced %s", evalue_fault_name(all[i]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ipc_test(test_frames_that_are_none),
      ipc_test(test_frames_that_are_none_in_longer_packets),
      ipc_test(test_frames_of_other_carriers),
      ipc_test(test_default_limits),
      ipc_test(test_announced_and_not_sent),
      ipc_test(test_frames_cut_short),
      ipc_test(test_a_packet_of_no_bytes),
      ipc_test(test_descriptors_of_packets_of_no_bytes),
      ipc_test(test_messages_cut_short),
      ipc_test(test_packets_of_another_length),
      ipc_test(test_packets_that_are_much_longer),
      ipc_test(test_end),
      ipc_test(test_the_last_words_of_a_peer),
      ipc_test(test_idle),
      ipc_test(test_idle_after_a_pool),
      ipc_test(test_stalled),
      ipc_test(test_one_byte_at_a_time),
      ipc_test(test_glued_and_cut),
      ipc_test(test_stray_descriptors),
      ipc_test(test_stray_descriptors_later),
      ipc_test(test_descriptors_in_the_queue),
      ipc_test(test_no_descriptors_left),
      ipc_test(test_other_things_beside_the_bytes),
      ipc_test(test_descriptors_of_the_peer),
      ipc_test(test_every_fault),
  };
  return cmocka_run_group_tests_name("receive", tests, begin_group, NULL);
}
