/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool: slots, at both ends, between friends and with a peer that writes what it wants. */
#include <sched.h>
#include <sys/resource.h>

#include "ipc_pools.h"

static void receive_bytes(evalue_ipc_channel *c, evalue_ipc_message *m, size_t seed, uint32_t slot) {
  fill_bytes(payload, MESSAGE, seed);
  assert_int_equal(evalue_ipc_receive(c, m), EVALUE_OK);
  check_message(m, payload, MESSAGE, EVALUE_IPC_POOL);
  assert_int_equal(m->data - c->receiving.memory, CONTROL + slot * slot_stride(SLOT_NBYTES));
}

/* ---- what the sender does ---- */

/* Frames, memory, seals and words, to the byte. */
static void test_what_the_peer_gets(void **state) {
  (void)state;
  need_seals();
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_channel c;
    raw_pool pool;
    struct stat status;
    int peer = make_sender(&c, socket_types[i], &pooled, &pool);
    int seals = fcntl(pool.fd, F_GET_SEALS);
    assert_int_equal(seals & ALL_SEALS, POOL_SEALS);
    assert_int_equal(fstat(pool.fd, &status), 0);
    assert_int_equal(status.st_size, CONTROL + SLOTS * slot_stride(SLOT_NBYTES));
    fill_bytes(payload, MESSAGE, 0);
    assert_memory_equal(slot_of(&pool, 0), payload, MESSAGE);
    assert_int_equal(atomic_load(word_of(pool.memory, WORDS)), 1);
    assert_int_equal(atomic_load(word_of(pool.memory, WORDS + STRIDE)), 0);
    assert_int_equal(atomic_load(word_of(pool.memory, FREED)), 0);
    send_bytes(&c, 1);
    assert_int_equal(get_frame(peer, SLOT, MESSAGE, 1), -1); /* the pool is offered once */
    for (int grow = 0; grow < 2; grow++) {
      assert_int_equal(ftruncate(pool.fd, grow != 0 ? (off_t)pool.size + 4096 : 4096), -1);
      assert_int_equal(errno, EPERM);
    }
    assert_int_equal(fcntl(pool.fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
    close_pool(&pool);
    close_peer(&c, peer);
  }
}

static void test_lowest_slot_first(void **state) {
  (void)state;
  need_seals();
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_message m[SLOTS];
    pair p;
    make_pair(&p, socket_types[i], &pooled, NULL);
    for (uint32_t k = 0; k < 5; k++) {
      send_bytes(&p.a, k);
      receive_bytes(&p.b, &m[0], k, 0);
      assert_int_equal(evalue_ipc_release(&m[0]), EVALUE_OK);
    }
    for (uint32_t k = 0; k < SLOTS; k++) send_bytes(&p.a, 10 + k);
    for (uint32_t k = 0; k < SLOTS; k++) receive_bytes(&p.b, &m[k], 10 + k, k);
    assert_int_equal(evalue_ipc_release(&m[2]), EVALUE_OK);
    assert_int_equal(evalue_ipc_release(&m[1]), EVALUE_OK);
    for (uint32_t k = 1; k < SLOTS; k++) {
      send_bytes(&p.a, 20 + k);
      receive_bytes(&p.b, &m[k], 20 + k, k);
    }
    fill_bytes(payload, MESSAGE, 10);
    check_message(&m[0], payload, MESSAGE, EVALUE_IPC_POOL); /* nobody has touched it */
    for (uint32_t k = 0; k < SLOTS; k++) assert_int_equal(evalue_ipc_release(&m[k]), EVALUE_OK);
    close_pair(&p);
  }
}

static void test_all_slots_taken(void **state) {
  (void)state;
  need_seals();
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_message m[SLOTS];
    evalue_ipc_slot slot;
    pair p;
    make_pair(&p, socket_types[i], &pooled, NULL);
    for (uint32_t k = 0; k < SLOTS; k++) send_bytes(&p.a, k);
    for (uint32_t k = 0; k < SLOTS; k++) receive_bytes(&p.b, &m[k], k, k);
    for (uint32_t k = 0; k < 2; k++) {
      assert_int_equal(evalue_ipc_send_message(&p.a, payload, MESSAGE), EVALUE_TIMEOUT);
      check_fault(&p.a, EVALUE_FAULT_SLOTS_TAKEN, 0, 0, 0);
      assert_int_equal(evalue_ipc_reserve(&p.a, NULL, 0, NULL, &slot), EVALUE_TIMEOUT);
      check_fault(&p.a, EVALUE_FAULT_SLOTS_TAKEN, 0, 0, 0);
      assert_int_equal(evalue_ipc_release(&m[k]), EVALUE_OK);
      send_bytes(&p.a, 7);
      receive_bytes(&p.b, &m[k], 7, k);
    }
    for (uint32_t k = 0; k < SLOTS; k++) assert_int_equal(evalue_ipc_release(&m[k]), EVALUE_OK);
    close_pair(&p);
  }
}

static void test_slot_too_small(void **state) {
  (void)state;
  need_seals();
  pair p;
  evalue_ipc_slot slot;
  evalue v = bytes_value(payload, SLOT_NBYTES);
  void *places[1];
  uint64_t nbytes;
  make_pair(&p, SOCK_STREAM, &pooled, NULL);
  assert_int_equal(evalue_message_size(&v, 1, 0, &nbytes), EVALUE_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(evalue_ipc_send_message(&p.a, payload, SLOT_NBYTES + 1), EVALUE_LIMIT);
    check_fault(&p.a, EVALUE_FAULT_SLOT_TOO_SMALL, p.a.error.position, SLOT_NBYTES, SLOT_NBYTES + 1);
    assert_int_equal(evalue_ipc_reserve(&p.a, &v, 1, places, &slot), EVALUE_LIMIT);
    check_fault(&p.a, EVALUE_FAULT_SLOT_TOO_SMALL, p.a.error.position, SLOT_NBYTES, nbytes);
    fill_bytes(payload, SLOT_NBYTES, 3);
    assert_int_equal(evalue_ipc_send_message(&p.a, payload, SLOT_NBYTES), EVALUE_OK);
    expect_message(&p.b, payload, SLOT_NBYTES, EVALUE_IPC_POOL);
  }
  close_pair(&p);
}

/* Every size up to where slots end: the bytes behind are readable, also of the last slot. */
static void test_shapes(void **state) {
  (void)state;
  need_seals();
  static const uint64_t sizes[] = {1, 64, 3967, 3968, 3969, 4096, 8064, 8065};
  static const uint32_t slots[] = {1, 2, 63, 64};
  for (size_t i = 0; i < COUNT_OF(sizes) * COUNT_OF(slots); i++) {
    const evalue_ipc_options options = {.carrier = EVALUE_IPC_POOL,
                                        .slots = slots[i % COUNT_OF(slots)],
                                        .slot_nbytes = sizes[i / COUNT_OF(slots)],
                                        .stall_ms = 10};
    static evalue_ipc_message m[EVALUE_IPC_MAX_SLOTS];
    size_t nbytes = (size_t)options.slot_nbytes;
    pair p;
    make_pair(&p, socket_types[i % 2], &options, NULL);
    for (uint32_t k = 0; k < options.slots; k++) {
      fill_bytes(payload, nbytes, k);
      assert_int_equal(evalue_ipc_send_message(&p.a, payload, nbytes), EVALUE_OK);
      assert_int_equal(evalue_ipc_receive(&p.b, &m[k]), EVALUE_OK);
    }
    assert_int_equal(evalue_ipc_send_message(&p.a, payload, nbytes), EVALUE_TIMEOUT);
    for (uint32_t k = 0; k < options.slots; k++) {
      fill_bytes(payload, nbytes, k);
      check_message(&m[k], payload, nbytes, EVALUE_IPC_POOL);
      assert_int_equal(m[k].is_constant, 0);
      assert_int_equal(evalue_ipc_release(&m[k]), EVALUE_OK);
    }
    close_pair(&p);
  }
}

static void test_both_directions(void **state) {
  (void)state;
  need_seals();
  pair p;
  evalue_ipc_message a, b;
  make_pair(&p, SOCK_SEQPACKET, &pooled, &pooled);
  for (uint32_t k = 0; k < 5; k++) {
    send_bytes(&p.a, k);
    send_bytes(&p.b, 100 + k);
    receive_bytes(&p.b, &b, k, 0);
    receive_bytes(&p.a, &a, 100 + k, 0);
    assert_int_equal(evalue_ipc_release(&b), EVALUE_OK);
    assert_int_equal(evalue_ipc_release(&a), EVALUE_OK);
  }
  close_pair(&p);
}

/* A system that has no memory, or no descriptors: the channel is as it was before. */
static void test_no_memory_for_a_pool(void **state) {
  (void)state;
  need_seals();
  const evalue_ipc_options huge = {.slots = 64, .slot_nbytes = 1ULL << 48};
  pair p;
  make_pair(&p, SOCK_STREAM, &huge, NULL);
  for (int i = 0; i < 2; i++) {
    stock before = stock_now();
    assert_int_equal(evalue_ipc_send_message(&p.a, payload, 10), EVALUE_OK); /* inline */
    p.a.options.carrier = EVALUE_IPC_POOL;
    assert_int_equal(evalue_ipc_send_message(&p.a, payload, 10), EVALUE_IO);
    check_fault(&p.a, EVALUE_FAULT_SYSTEM_CALL, 0, 0, 0);
    p.a.options.carrier = EVALUE_IPC_AUTO;
    expect_message(&p.b, payload, 10, EVALUE_IPC_INLINE);
    assert_int_equal(stock_now().fds, before.fds);
    assert_int_equal(stock_now().shared, before.shared);
  }
  close_pair(&p);
}

static void test_no_descriptors_for_a_pool(void **state) {
  (void)state;
  need_seals();
  if (is_emulated()) skip(); /* the emulator needs some itself */
  pair p;
  struct rlimit old, none;
  make_pair(&p, SOCK_STREAM, &pooled, NULL);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
  none = (struct rlimit){0, old.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  evalue_status status = evalue_ipc_send_message(&p.a, payload, MESSAGE);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
  assert_int_equal(status, EVALUE_IO);
  assert_int_equal(p.a.system_error, EMFILE);
  check_fault(&p.a, EVALUE_FAULT_SYSTEM_CALL, 0, 0, 0);
  check_works(&p.a, &p.b);
  close_pair(&p);
}

/* The frame of the pool did not go: it is offered again, and it is another one. */
static void test_an_offer_that_was_not_taken(void **state) {
  (void)state;
  need_seals();
  static uint8_t drained[4000];
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_channel c;
    raw_pool pool;
    int peer = make_peer(&c, socket_types[i], &pooled);
    while (send(c.fd, payload, sizeof drained, MSG_DONTWAIT) > 0) continue;
    for (int k = 0; k < 2; k++) {
      stock before = stock_now();
      assert_int_equal(evalue_ipc_send_message(&c, payload, MESSAGE), EVALUE_TIMEOUT);
      check_fault(&c, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
      assert_int_equal(stock_now().fds, before.fds);
      assert_int_equal(stock_now().shared, before.shared);
    }
    while (recv(peer, drained, sizeof drained, MSG_DONTWAIT) > 0) continue;
    send_bytes(&c, 1);
    map_pool(&pool, get_frame(peer, POOL, SLOT_NBYTES, SLOTS), SLOTS, SLOT_NBYTES);
    assert_int_equal(get_frame(peer, SLOT, MESSAGE, 0), -1);
    assert_memory_equal(slot_of(&pool, 0), payload, MESSAGE);
    close_pool(&pool);
    close_peer(&c, peer);
  }
}

/* ---- waiting ---- */

typedef struct sender {
  evalue_ipc_channel *channel;
  evalue_status status;
} sender;

static void *send_one(void *context) {
  sender *s = (sender *)context;
  s->status = evalue_ipc_send_message(s->channel, payload, MESSAGE);
  return NULL;
}

static void wait_for_word(_Atomic uint32_t *word, uint32_t value) {
  while (atomic_load(word) != value) sched_yield();
}

static void test_a_release_lets_a_sender_go_on(void **state) {
  (void)state;
  need_seals();
  const evalue_ipc_options patient = {.carrier = EVALUE_IPC_POOL, .slots = 1, .slot_nbytes = SLOT_NBYTES};
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_message m;
    pthread_t thread;
    pair p;
    make_pair(&p, socket_types[i], &patient, NULL);
    sender s = {&p.a, EVALUE_POISONED};
    send_bytes(&p.a, 1);
    receive_bytes(&p.b, &m, 1, 0);
    assert_int_equal(pthread_create(&thread, NULL, send_one, &s), 0);
    wait_for_word(word_of(p.b.receiving.control, WAITING), 1);
    assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
    pthread_join(thread, NULL);
    assert_int_equal(s.status, EVALUE_OK);
    assert_int_equal(atomic_load(word_of(p.b.receiving.control, WAITING)), 0);
    receive_bytes(&p.b, &m, 1, 0);
    assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
    close_pair(&p);
  }
}

static void test_the_peer_goes_while_a_sender_waits(void **state) {
  (void)state;
  need_seals();
  const evalue_ipc_options patient = {
      .carrier = EVALUE_IPC_POOL, .slots = 1, .slot_nbytes = SLOT_NBYTES, .stall_ms = 1000000};
  for (size_t i = 0; i < 4; i++) {
    evalue_ipc_channel c;
    raw_pool pool;
    pthread_t thread;
    int peer = make_sender(&c, socket_types[i % 2], &patient, &pool);
    sender s = {&c, EVALUE_POISONED};
    if (i < 2) close(peer); /* it has gone before */
    assert_int_equal(pthread_create(&thread, NULL, send_one, &s), 0);
    if (i >= 2) {
      wait_for_word(word_of(pool.memory, WAITING), 1);
      close(peer);
    }
    pthread_join(thread, NULL);
    assert_int_equal(s.status, EVALUE_IO);
    check_fault(&c, EVALUE_FAULT_PEER_GONE, 0, 0, 0);
    assert_int_equal(c.system_error, EPIPE);
    assert_int_equal(atomic_load(word_of(pool.memory, WAITING)), 0);
    close_pool(&pool);
    close_peer(&c, -1);
  }
}

static void *wait_for_wake(void *context) {
  const raw_pool *pool = (const raw_pool *)context;
  struct {
    long seconds, nanoseconds;
  } limit = {30, 0};
  atomic_store(word_of(pool->memory, WAITING), 1);
  /* Released in between: the word has changed, and that is as good as being woken. */
  long result = syscall(SYS_futex, word_of(pool->memory, FREED), FUTEX_WAIT, UINT32_MAX, &limit, NULL, 0);
  return result == 0 || errno == EAGAIN ? context : NULL;
}

/* What the receiver writes, and that it wakes: `freed` wraps, and the slot's word is 0. */
static void test_giving_back(void **state) {
  (void)state;
  need_seals();
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_channel c;
    evalue_ipc_message m;
    raw_pool pool;
    pthread_t thread;
    void *is_woken;
    int peer = make_peer(&c, socket_types[i], NULL);
    make_pool(&pool, SLOTS, SLOT_NBYTES);
    put_frame(peer, POOL, SLOT_NBYTES, SLOTS, pool.fd);
    put_frame(peer, SLOT, MESSAGE, 2, -1);
    fill_bytes(slot_of(&pool, 2), MESSAGE, 5);
    atomic_store(word_of(pool.memory, FREED), UINT32_MAX);
    for (uint32_t k = 0; k < 64; k++) atomic_store(word_of(pool.memory, WORDS + STRIDE * k), 77);
    receive_bytes(&c, &m, 5, 2);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_wake, &pool), 0);
    wait_for_word(word_of(pool.memory, WAITING), 1);
    usleep(1000); /* so that it mostly waits by now */
    assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
    pthread_join(thread, &is_woken);
    assert_non_null(is_woken);
    assert_int_equal(atomic_load(word_of(pool.memory, FREED)), 0);
    for (uint32_t k = 0; k < 64; k++) {
      assert_int_equal(atomic_load(word_of(pool.memory, WORDS + STRIDE * k)), k == 2 ? 0 : 77);
    }
    close_pool(&pool);
    close_peer(&c, peer);
  }
}

/* ---- a hostile receiver ---- */

static _Atomic uint32_t is_over;

static void *write_words(void *context) {
  const raw_pool *pool = (const raw_pool *)context;
  for (uint32_t i = 0; atomic_load(&is_over) == 0; i++) {
    atomic_store(word_of(pool->memory, FREED), i);
    atomic_store(word_of(pool->memory, WAITING), i & 1);
    syscall(SYS_futex, word_of(pool->memory, FREED), FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
  }
  return NULL;
}

/* A counter that never stands still does not keep a sender for longer than it was told to wait. */
static void test_words_that_never_stand_still(void **state) {
  (void)state;
  need_seals();
  evalue_ipc_channel c;
  raw_pool pool;
  pthread_t thread;
  int peer = make_sender(&c, SOCK_STREAM, &pooled, &pool);
  send_bytes(&c, 1);
  send_bytes(&c, 2);
  atomic_store(&is_over, 0);
  assert_int_equal(pthread_create(&thread, NULL, write_words, &pool), 0);
  for (int i = 0; i < 3; i++) assert_int_equal(evalue_ipc_send_message(&c, payload, MESSAGE), EVALUE_TIMEOUT);
  atomic_store(&is_over, 1);
  pthread_join(thread, NULL);
  close_pool(&pool);
  close_peer(&c, peer);
}

/* ---- a hostile sender ---- */

static void test_snapshot(void **state) {
  (void)state;
  need_seals();
  for (size_t i = 0; i < 4; i++) {
    const evalue_ipc_options options = {.snapshot = (uint32_t)i / 2};
    evalue_ipc_channel c;
    evalue_ipc_message m;
    raw_pool pool;
    int peer = make_peer(&c, socket_types[i % 2], &options);
    make_pool(&pool, 2, SLOT_NBYTES);
    put_frame(peer, POOL, SLOT_NBYTES, 2, pool.fd);
    for (uint32_t k = 0; k < 3; k++) {
      fill_bytes(slot_of(&pool, 1), MESSAGE, k);
      fill_bytes(payload, MESSAGE, k);
      atomic_store(word_of(pool.memory, WORDS + STRIDE), 1);
      put_frame(peer, SLOT, MESSAGE, 1, -1);
      assert_int_equal(evalue_ipc_receive(&c, &m), EVALUE_OK);
      check_message(&m, payload, MESSAGE, EVALUE_IPC_POOL);
      assert_int_equal(m.is_constant, options.snapshot);
      assert_int_equal(atomic_load(word_of(pool.memory, WORDS + STRIDE)),
                       options.snapshot == 0); /* it is back at once */
      assert_int_equal(atomic_load(word_of(pool.memory, FREED)), k + options.snapshot);
      memset(slot_of(&pool, 1), 0xEE, MESSAGE);
      if (options.snapshot == 0) memset(payload, 0xEE, MESSAGE);
      check_message(&m, payload, MESSAGE, EVALUE_IPC_POOL);
      assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
      assert_int_equal(atomic_load(word_of(pool.memory, FREED)), k + 1); /* and not twice */
    }
    close_pool(&pool);
    close_peer(&c, peer);
  }
}

/* With snapshots one slot is enough for any number of messages that are held. */
static void test_snapshots_hold_no_slot(void **state) {
  (void)state;
  need_seals();
  const evalue_ipc_options one = {.carrier = EVALUE_IPC_POOL, .slots = 1, .slot_nbytes = SLOT_NBYTES, .stall_ms = 20};
  const evalue_ipc_options options = {.snapshot = 1};
  evalue_ipc_message m[5];
  pair p;
  make_pair(&p, SOCK_SEQPACKET, &one, &options);
  for (size_t i = 0; i < 5; i++) {
    send_bytes(&p.a, i);
    assert_int_equal(evalue_ipc_receive(&p.b, &m[i]), EVALUE_OK);
  }
  for (size_t i = 0; i < 5; i++) {
    fill_bytes(payload, MESSAGE, i);
    check_message(&m[i], payload, MESSAGE, EVALUE_IPC_POOL);
    assert_int_equal(evalue_ipc_release(&m[i]), EVALUE_OK);
  }
  close_pair(&p);
}

/* All but the control area is mapped for reading only. */
static void test_the_receiver_cannot_write(void **state) {
  (void)state;
  need_seals();
  pair p;
  evalue_ipc_message m;
  char permissions[5];
  make_pair(&p, SOCK_STREAM, &pooled, NULL);
  send_bytes(&p.a, 1);
  receive_bytes(&p.b, &m, 1, 0);
  permissions_of(m.data, permissions);
  assert_string_equal(permissions, "r--s");
  permissions_of(p.b.receiving.control, permissions);
  assert_string_equal(permissions, "rw-s");
  assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
  close_pair(&p);
}

static void *punch_holes(void *context) {
  const raw_pool *pool = (const raw_pool *)context;
  while (atomic_load(&is_over) == 0) {
    fallocate(pool->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)pool->size);
    if (ftruncate(pool->fd, 0) == 0) return context; /* it must not be possible */
    memset(slot_of(pool, 0), 0x5A, 4096 * 4);
  }
  return NULL;
}

/* Holes are read as zeros; there is no signal. */
static void test_holes(void **state) {
  (void)state;
  need_seals();
  evalue_ipc_channel c;
  raw_pool pool;
  pthread_t thread;
  void *has_shrunk;
  int peer = make_peer(&c, SOCK_STREAM, NULL);
  make_pool(&pool, 1, SLOT_NBYTES);
  put_frame(peer, POOL, SLOT_NBYTES, 1, pool.fd);
  atomic_store(&is_over, 0);
  assert_int_equal(pthread_create(&thread, NULL, punch_holes, &pool), 0);
  for (int i = 0; i < 300; i++) {
    evalue_ipc_message m;
    put_frame(peer, SLOT, SLOT_NBYTES, 0, -1);
    assert_int_equal(evalue_ipc_receive(&c, &m), EVALUE_OK);
    const volatile uint8_t *data = m.data;
    for (size_t k = 0; k < m.nbytes + 128; k += 61) {
      uint8_t byte = data[k]; /* once: it may be another one the next time */
      assert_true(byte == 0 || byte == 0x5A);
    }
    assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
  }
  atomic_store(&is_over, 1);
  pthread_join(thread, &has_shrunk);
  assert_null(has_shrunk);
  close_pool(&pool);
  close_peer(&c, peer);
}

static void test_produced(void **state) {
  (void)state;
  check_produced_in("pool");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ipc_test(test_what_the_peer_gets),
      ipc_test(test_lowest_slot_first),
      ipc_test(test_all_slots_taken),
      ipc_test(test_slot_too_small),
      ipc_test(test_shapes),
      ipc_test(test_both_directions),
      ipc_test(test_no_memory_for_a_pool),
      ipc_test(test_no_descriptors_for_a_pool),
      ipc_test(test_an_offer_that_was_not_taken),
      ipc_test(test_a_release_lets_a_sender_go_on),
      ipc_test(test_the_peer_goes_while_a_sender_waits),
      ipc_test(test_giving_back),
      ipc_test(test_words_that_never_stand_still),
      ipc_test(test_snapshot),
      ipc_test(test_snapshots_hold_no_slot),
      ipc_test(test_the_receiver_cannot_write),
      ipc_test(test_holes),
      ipc_test(test_produced),
  };
  return cmocka_run_group_tests_name("pool", tests, begin_group, NULL);
}
