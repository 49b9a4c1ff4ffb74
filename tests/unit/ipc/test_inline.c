/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages through the socket itself, which carrier is chosen, and a peer that takes nothing, or is gone. */
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "ipc_faults.h"

enum { LARGE = 4 << 20, MANY = 500 };

static uint8_t large[LARGE], encoded[LARGE + 65536];

static size_t encode(const evalue *values, size_t n, uint32_t alignment) {
  uint64_t nbytes;
  assert_int_equal(evalue_message_encode(values, n, alignment, encoded, sizeof encoded, &nbytes), EVALUE_OK);
  return (size_t)nbytes;
}

/* Frame and message, to the byte, as a peer sees them. */
static void check_raw_inline(int type, const evalue *values, size_t n, uint32_t alignment) {
  static uint8_t got[FRAME + 65536];
  const evalue_ipc_options options = {.alignment = alignment};
  uint8_t frame[FRAME];
  evalue_ipc_channel c;
  size_t nbytes = encode(values, n, alignment);
  int peer = make_peer(&c, type, &options);
  assert_int_equal(evalue_ipc_send(&c, values, n), EVALUE_OK);
  assert_int_equal(get_raw(peer, got, FRAME + nbytes), -1);
  make_frame(frame, INLINE, nbytes, 0);
  assert_memory_equal(got, frame, FRAME);
  assert_memory_equal(got + FRAME, encoded, nbytes);
  close_peer(&c, peer);
}

static void test_inline_bytes(void **state) {
  (void)state;
  static const uint32_t alignments[] = {0, 1, 64, 4096};
  evalue values[VALUES];
  make_values(values);
  for (size_t i = 0; i < 2; i++) {
    for (size_t k = 0; k < COUNT_OF(alignments); k++) {
      for (size_t n = 0; n <= VALUES; n++) check_raw_inline(socket_types[i], values, n, alignments[k]);
    }
  }
}

/* A message of its own of any size around the limits, by the carrier that its size asks for. */
static void test_carriers_by_size(void **state) {
  (void)state;
  need_seals();
  const evalue_ipc_options options = {.inline_limit = 1000, .slot_nbytes = 5000};
  static const size_t sizes[] = {0, 1, 24, 63, 64, 65, 999, 1000, 1001, 4096, 4999, 5000, 5001, 4096 * 3, 100000};
  fill_bytes(large, LARGE, 1);
  for (size_t i = 0; i < 2; i++) {
    pair p;
    make_pair(&p, socket_types[i], &options, NULL);
    for (size_t k = 0; k < COUNT_OF(sizes); k++) {
      uint32_t carrier = sizes[k] <= 1000 ? EVALUE_IPC_INLINE : sizes[k] <= 5000 ? EVALUE_IPC_POOL : EVALUE_IPC_SEALED;
      assert_int_equal(evalue_ipc_send_message(&p.a, large + k, sizes[k]), EVALUE_OK);
      expect_message(&p.b, large + k, sizes[k], carrier);
    }
    close_pair(&p);
  }
}

static void test_carriers_by_option(void **state) {
  (void)state;
  need_seals();
  evalue values[VALUES];
  make_values(values);
  for (uint32_t carrier = EVALUE_IPC_INLINE; carrier <= EVALUE_IPC_SEALED; carrier++) {
    for (size_t i = 0; i < 2; i++) {
      const evalue_ipc_options options = {.carrier = carrier, .alignment = 1U << carrier * 4};
      pair p;
      make_pair(&p, socket_types[i], &options, NULL);
      for (size_t n = 0; n <= VALUES; n++) {
        size_t nbytes = encode(values, n, options.alignment);
        assert_int_equal(evalue_ipc_send(&p.a, n != 0 ? values : NULL, n), EVALUE_OK);
        expect_message(&p.b, encoded, nbytes, carrier);
      }
      close_pair(&p);
    }
  }
}

/* The default limits: 64 KiB and 16 MiB. */
static void test_default_carriers(void **state) {
  (void)state;
  need_seals();
  for (size_t i = 0; i < 2; i++) {
    pair p;
    make_pair(&p, socket_types[i], NULL, NULL);
    for (size_t more = 0; more < 2; more++) {
      assert_int_equal(evalue_ipc_send_message(&p.a, large, 65536 + more), EVALUE_OK);
      expect_message(&p.b, large, 65536 + more, more == 0 ? EVALUE_IPC_INLINE : EVALUE_IPC_POOL);
    }
    close_pair(&p);
  }
}

/* More slices than one sendmsg takes here, and more structural bytes than are gathered at once. */
static void test_many_slices(void **state) {
  (void)state;
  static evalue values[MANY];
  static const size_t counts[] = {30, 31, 32, 33, 62, 63, 64, 65, 300, MANY};
  for (size_t i = 0; i < MANY; i++)
    values[i] = i % 3 == 0 ? bytes_value(large + i, i % 50) : evalue_from_string((char *)large + i, i % 60);
  for (size_t i = 0; i < 2; i++) {
    for (size_t k = 0; k < COUNT_OF(counts); k++) check_raw_inline(socket_types[i], values, counts[k], 0);
    check_raw_inline(socket_types[i], values, 40, 1024);
  }
}

typedef struct receiver {
  evalue_ipc_channel *channel;
  size_t nbytes;
  int messages;
  evalue_status status;
  bool is_same;
} receiver;

/* cmocka's assertions are for the first thread only. */
static void *receive_messages(void *context) {
  receiver *r = (receiver *)context;
  for (int i = 0; i < r->messages && r->status == EVALUE_OK; i++) {
    evalue_ipc_message m;
    r->status = evalue_ipc_receive(r->channel, &m);
    r->is_same = r->status == EVALUE_OK && m.nbytes == r->nbytes && memcmp(m.data, encoded, r->nbytes) == 0;
    if (r->status == EVALUE_OK && !r->is_same) r->status = EVALUE_POISONED;
    evalue_ipc_release(&m);
  }
  return NULL;
}

/* A message of which the socket never holds more than a part. */
static void check_large_inline(int messages) {
  const evalue_ipc_options options = {.carrier = EVALUE_IPC_INLINE};
  evalue values[] = {bytes_value(large, 1000000), evalue_from_string((char *)large, 77),
                     bytes_value(large + 1, LARGE / 2)};
  pair p;
  pthread_t thread;
  make_pair(&p, SOCK_STREAM, &options, NULL);
  receiver r = {.channel = &p.b, .nbytes = encode(values, 3, 0), .messages = messages};
  assert_int_equal(pthread_create(&thread, NULL, receive_messages, &r), 0);
  for (int i = 0; i < messages; i++) assert_int_equal(evalue_ipc_send(&p.a, values, 3), EVALUE_OK);
  pthread_join(thread, NULL);
  assert_int_equal(r.status, EVALUE_OK);
  assert_true(r.is_same);
  close_pair(&p);
}

static void test_more_than_the_socket_holds(void **state) {
  (void)state;
  fill_bytes(large, LARGE, 2);
  check_large_inline(3);
}

static volatile sig_atomic_t signals;

static void count_signal(int number) {
  (void)number;
  signals++;
}

static void test_signals_do_not_matter(void **state) {
  (void)state;
  if (is_emulated()) skip(); /* an emulator may lose what a call has done when a signal ends it */
  const struct itimerval fast = {{0, 200}, {0, 200}}, off = {{0, 0}, {0, 0}};
  struct sigaction action = {.sa_handler = count_signal}, old; /* without SA_RESTART */
  assert_int_equal(sigaction(SIGPROF, &action, &old), 0);
  signals = 0;
  assert_int_equal(setitimer(ITIMER_PROF, &fast, NULL), 0);
  while (signals < 10) check_large_inline(5);
  assert_int_equal(setitimer(ITIMER_PROF, &off, NULL), 0);
  assert_int_equal(sigaction(SIGPROF, &old, NULL), 0);
}

/* ---- what cannot be sent ---- */

static void test_packet_too_large(void **state) {
  (void)state;
  const evalue_ipc_options options = {.carrier = EVALUE_IPC_INLINE};
  pair p;
  make_pair(&p, SOCK_SEQPACKET, &options, NULL);
  for (int i = 0; i < 3; i++) {
    evalue v = bytes_value(large, LARGE);
    size_t nbytes = encode(&v, 1, 0);
    assert_int_equal(evalue_ipc_send(&p.a, &v, 1), EVALUE_LIMIT);
    check_fault(&p.a, EVALUE_FAULT_PACKET_TOO_LARGE, p.a.error.position, 0, nbytes);
    assert_int_equal(p.a.system_error, 0);
    assert_int_equal(evalue_ipc_send_message(&p.a, large, LARGE), EVALUE_LIMIT);
    check_works(&p.a, &p.b);
  }
  close_pair(&p);
}

/* Nobody has asked for a carrier: another one takes what is too large for a packet. */
static void test_auto_finds_a_carrier(void **state) {
  (void)state;
  const int small = 4096;
  pair p;
  make_pair(&p, SOCK_SEQPACKET, NULL, NULL);
  assert_int_equal(setsockopt(p.a.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
  fill_bytes(large, 60000, 4);
  evalue_status status = evalue_ipc_send_message(&p.a, large, 60000);
  if (status == EVALUE_OK) expect_message(&p.b, large, 60000, EVALUE_IPC_POOL);
  close_pair(&p);
  assert_int_equal(status, EVALUE_OK);
}

/* A full socket: nothing of the last message has gone, and the channel is as it was. */
static void test_peer_takes_nothing(void **state) {
  (void)state;
  const evalue_ipc_options options = {.carrier = EVALUE_IPC_INLINE, .stall_ms = 20};
  fill_bytes(large, 3000, 5);
  for (size_t i = 0; i < 2; i++) {
    pair p;
    int sent = 0;
    make_pair(&p, socket_types[i], &options, NULL);
    evalue_status status;
    while ((status = evalue_ipc_send_message(&p.a, large, 3000)) == EVALUE_OK) sent++;
    assert_int_equal(status, EVALUE_TIMEOUT);
    check_fault(&p.a, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
    assert_true(sent > 5);
    assert_int_equal(evalue_ipc_send_message(&p.a, large, 3000), EVALUE_TIMEOUT);
    for (int k = 0; k < sent; k++) expect_message(&p.b, large, 3000, EVALUE_IPC_INLINE);
    check_works(&p.a, &p.b);
    close_pair(&p);
  }
}

/* A part of a message has gone: sending is over, and says so without sending. Receiving is not. */
static void test_peer_takes_a_part(void **state) {
  (void)state;
  const evalue_ipc_options options = {.carrier = EVALUE_IPC_INLINE, .stall_ms = 20};
  pair p;
  evalue_ipc_slot slot;
  make_pair(&p, SOCK_STREAM, &options, &options);
  assert_int_equal(evalue_ipc_send_message(&p.a, large, LARGE), EVALUE_TIMEOUT);
  check_fault(&p.a, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
  int waiting = 0, still = 0;
  assert_int_equal(ioctl(p.b.fd, FIONREAD, &waiting), 0);
  assert_in_range(waiting, 25, LARGE);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(evalue_ipc_send_message(&p.a, large, 1), EVALUE_TIMEOUT);
    assert_int_equal(evalue_ipc_send(&p.a, NULL, 0), EVALUE_TIMEOUT);
    assert_int_equal(evalue_ipc_reserve(&p.a, NULL, 0, NULL, &slot), EVALUE_TIMEOUT);
    check_fault(&p.a, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
  }
  assert_int_equal(ioctl(p.b.fd, FIONREAD, &still), 0);
  assert_int_equal(waiting, still);
  check_works(&p.b, &p.a);
  expect_fault(&p.b, EVALUE_FAULT_PEER_SLOW, 0, 0, 0); /* what the peer has is half a message */
  close_pair(&p);
}

/* The socket has room again: still nothing follows half a message. */
static void test_peer_takes_more_too_late(void **state) {
  (void)state;
  const evalue_ipc_options options = {.carrier = EVALUE_IPC_INLINE, .stall_ms = 20};
  evalue_ipc_channel c;
  int peer = make_peer(&c, SOCK_STREAM, &options);
  assert_int_equal(evalue_ipc_send_message(&c, large, LARGE), EVALUE_TIMEOUT);
  while (recv(peer, encoded, sizeof encoded, MSG_DONTWAIT) > 0) continue;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(evalue_ipc_send_message(&c, large, 10), EVALUE_TIMEOUT);
    check_fault(&c, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
    assert_int_equal(recv(peer, encoded, sizeof encoded, MSG_DONTWAIT), -1);
  }
  close_peer(&c, peer);
}

static void test_peer_is_gone(void **state) {
  (void)state;
  need_seals();
  for (size_t i = 0; i < 2; i++) {
    for (uint32_t carrier = EVALUE_IPC_AUTO; carrier <= EVALUE_IPC_SEALED; carrier++) {
      const evalue_ipc_options options = {.carrier = carrier};
      evalue_ipc_channel c;
      close(make_peer(&c, socket_types[i], &options));
      for (int k = 0; k < 2; k++) {
        assert_int_equal(evalue_ipc_send_message(&c, large, 100), EVALUE_IO); /* and there was no SIGPIPE */
        check_fault(&c, EVALUE_FAULT_PEER_GONE, 0, 0, 0);
        assert_int_equal(c.system_error, EPIPE);
      }
      expect_end(&c);
      close_peer(&c, -1);
    }
  }
}

static void test_produced(void **state) {
  (void)state;
  check_produced_in("inline");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ipc_test(test_inline_bytes),          ipc_test(test_carriers_by_size),  ipc_test(test_carriers_by_option),
      ipc_test(test_default_carriers),      ipc_test(test_many_slices),       ipc_test(test_more_than_the_socket_holds),
      ipc_test(test_signals_do_not_matter), ipc_test(test_packet_too_large),  ipc_test(test_auto_finds_a_carrier),
      ipc_test(test_peer_takes_nothing),    ipc_test(test_peer_takes_a_part), ipc_test(test_peer_takes_more_too_late),
      ipc_test(test_peer_is_gone),          ipc_test(test_produced),
  };
  return cmocka_run_group_tests_name("inline", tests, begin_group, NULL);
}
