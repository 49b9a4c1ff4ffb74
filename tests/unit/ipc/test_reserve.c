/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are made in a slot of the pool: where, as what, and that a slot that is reserved stays so. */
#include "ipc_pools.h"

static uint8_t encoded[SLOT_NBYTES];

/* The values of which `absent` has a bit are made by the caller. */
static void make_in_slot(evalue_ipc_channel *c, const evalue *values, size_t n, uint32_t absent,
                         evalue_ipc_slot *slot) {
  evalue given[VALUES] = {{0}};
  void *places[VALUES];
  memset(places, 0xA5, sizeof places);
  for (size_t i = 0; i < n; i++) {
    given[i] = values[i];
    if ((absent >> i & 1) == 0) continue;
    if (given[i].tag == EVALUE_TAG_TENSOR) given[i].tensor.data = NULL;
    if (given[i].tag == EVALUE_TAG_STRING) given[i].string.data = NULL;
  }
  assert_int_equal(evalue_ipc_reserve(c, given, n, n != 0 ? places : NULL, slot), EVALUE_OK);
  for (size_t i = 0; i < n; i++) {
    bool is_tensor = values[i].tag == EVALUE_TAG_TENSOR, is_string = values[i].tag == EVALUE_TAG_STRING;
    size_t nbytes = is_tensor ? values[i].tensor.nbytes : is_string ? values[i].string.nbytes : 0;
    bool is_mine = (absent >> i & 1) != 0 && nbytes != 0;
    if (!is_mine) {
      assert_null(places[i]);
      continue;
    }
    uint32_t alignment = c->options.alignment != 0 ? c->options.alignment : EVALUE_DEFAULT_ALIGNMENT;
    assert_non_null(places[i]);
    if (is_tensor) assert_int_equal((uintptr_t)places[i] % alignment, 0);
    memcpy(places[i], is_tensor ? values[i].tensor.data : (const void *)values[i].string.data, nbytes);
  }
}

static void test_reserve_is_as_encode(void **state) {
  (void)state;
  need_seals();
  static const uint32_t alignments[] = {0, 1, 64, 4096};
  evalue values[VALUES];
  make_values(values);
  for (size_t i = 0; i < 2 * COUNT_OF(alignments); i++) {
    evalue_ipc_options options = pooled;
    options.alignment = alignments[i / 2];
    pair p;
    make_pair(&p, socket_types[i % 2], &options, NULL);
    for (size_t n = 0; n <= VALUES; n++) {
      for (uint32_t absent = 0; absent < 1U << n; absent += n < 8 ? 1 : 13) {
        evalue_ipc_slot slot;
        uint64_t nbytes;
        make_in_slot(&p.a, values, n, absent, &slot);
        assert_int_equal(evalue_message_encode(values, n, options.alignment, encoded, sizeof encoded, &nbytes),
                         EVALUE_OK);
        assert_int_equal(evalue_ipc_send_slot(&p.a, &slot), EVALUE_OK);
        expect_message(&p.b, encoded, (size_t)nbytes, EVALUE_IPC_POOL);
      }
    }
    close_pair(&p);
  }
}

/* Several at once, sent in another order; what is reserved and given up is free again. */
static void test_several_reserved(void **state) {
  (void)state;
  need_seals();
  pair p;
  evalue_ipc_slot slots[SLOTS], more;
  evalue_ipc_message m[SLOTS];
  evalue values[SLOTS];
  make_pair(&p, SOCK_STREAM, &pooled, NULL);
  for (size_t i = 0; i < SLOTS; i++) {
    static uint8_t bytes[SLOTS][1000];
    fill_bytes(bytes[i], 1000, i);
    values[i] = bytes_value(bytes[i], 1000 - i);
    make_in_slot(&p.a, &values[i], 1, 1, &slots[i]);
  }
  assert_int_equal(evalue_ipc_reserve(&p.a, NULL, 0, NULL, &more), EVALUE_TIMEOUT);
  for (size_t i = SLOTS; i-- > 0;) {
    evalue_ipc_slot copy = slots[i];
    assert_int_equal(evalue_ipc_send_slot(&p.a, &slots[i]), EVALUE_OK);
    assert_int_equal(evalue_ipc_send_slot(&p.a, &copy), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_cancel_slot(&p.a, &copy), EVALUE_MISUSE);
  }
  for (size_t i = SLOTS; i-- > 0;) {
    uint64_t nbytes;
    assert_int_equal(evalue_message_encode(&values[i], 1, 0, encoded, sizeof encoded, &nbytes), EVALUE_OK);
    assert_int_equal(evalue_ipc_receive(&p.b, &m[i]), EVALUE_OK);
    check_message(&m[i], encoded, (size_t)nbytes, EVALUE_IPC_POOL);
  }
  for (size_t i = 0; i < SLOTS; i++) assert_int_equal(evalue_ipc_release(&m[i]), EVALUE_OK);
  for (size_t i = 0; i < 10; i++) {
    make_in_slot(&p.a, values, 1, 1, &slots[0]);
    make_in_slot(&p.a, values, 1, 0, &slots[1]);
    assert_int_equal(evalue_ipc_cancel_slot(&p.a, &slots[0]), EVALUE_OK);
    assert_int_equal(evalue_ipc_cancel_slot(&p.a, &slots[0]), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_send_slot(&p.a, &slots[0]), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_cancel_slot(&p.a, &slots[1]), EVALUE_OK);
  }
  make_in_slot(&p.a, values, 1, 1, &more); /* and closing frees what is left */
  close_pair(&p);
}

/* A full socket does not cost a slot: a reserved one stays reserved, and can be sent later. */
static void test_a_full_socket_keeps_slots(void **state) {
  (void)state;
  need_seals();
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_channel c;
    evalue_ipc_slot slot;
    raw_pool pool;
    const evalue v = bytes_value(payload, 100);
    ssize_t filled = 0;
    int peer = make_sender(&c, socket_types[i], &pooled, &pool);
    make_in_slot(&c, &v, 1, 1, &slot);
    assert_int_equal(slot.number, 1);
    while (send(c.fd, payload, 4000, MSG_DONTWAIT) > 0) filled++;
    for (int k = 0; k < 5; k++) {
      assert_int_equal(evalue_ipc_send_message(&c, payload, MESSAGE), EVALUE_TIMEOUT);
      check_fault(&c, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
      assert_int_equal(evalue_ipc_send_slot(&c, &slot), EVALUE_TIMEOUT);
    }
    static uint8_t drained[4000];
    while (filled > 0 && recv(peer, drained, sizeof drained, MSG_DONTWAIT) > 0) continue;
    assert_int_equal(evalue_ipc_send_slot(&c, &slot), EVALUE_OK);
    assert_int_equal(get_frame(peer, SLOT, slot.nbytes, 1), -1);
    send_bytes(&c, 4);
    assert_int_equal(get_frame(peer, SLOT, MESSAGE, 2), -1);
    close_pool(&pool);
    close_peer(&c, peer);
  }
}

/* The peer marks them as free, in every way. */
static void test_reserved_slots_are_mine(void **state) {
  (void)state;
  need_seals();
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_channel c;
    evalue_ipc_slot slots[2], more;
    raw_pool pool;
    const evalue v = bytes_value(payload, 100);
    int peer = make_sender(&c, socket_types[i], &pooled, &pool);
    make_in_slot(&c, &v, 1, 1, &slots[0]);
    make_in_slot(&c, &v, 1, 1, &slots[1]);
    for (uint32_t k = 0; k < 64; k++) atomic_store(word_of(pool.memory, WORDS + STRIDE * k), k == 0);
    assert_int_equal(evalue_ipc_reserve(&c, NULL, 0, NULL, &more), EVALUE_TIMEOUT);
    give_back(&pool, 1); /* which it has never got */
    give_back(&pool, 63);
    assert_int_equal(evalue_ipc_send_message(&c, payload, MESSAGE), EVALUE_TIMEOUT);
    atomic_store(word_of(pool.memory, WORDS), 2); /* neither free nor busy: not free */
    assert_int_equal(evalue_ipc_send_message(&c, payload, MESSAGE), EVALUE_TIMEOUT);
    give_back(&pool, 0);
    give_back(&pool, 0); /* twice is once */
    send_bytes(&c, 9);
    assert_int_equal(get_frame(peer, SLOT, MESSAGE, 0), -1);
    assert_int_equal(evalue_ipc_send_message(&c, payload, MESSAGE), EVALUE_TIMEOUT);
    assert_int_equal(evalue_ipc_cancel_slot(&c, &slots[0]), EVALUE_OK);
    assert_int_equal(evalue_ipc_send_slot(&c, &slots[1]), EVALUE_OK);
    close_pool(&pool);
    close_peer(&c, peer);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ipc_test(test_reserve_is_as_encode),
      ipc_test(test_several_reserved),
      ipc_test(test_a_full_socket_keeps_slots),
      ipc_test(test_reserved_slots_are_mine),
  };
  return cmocka_run_group_tests_name("reserve", tests, begin_group, NULL);
}
