/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels: options, beginning and end, wrong use. */
#include "ipc_faults.h"

static uint8_t large[2000];

/* ---- options ---- */

static void test_names(void **state) {
  (void)state;
  assert_string_equal(evalue_ipc_carrier_name(EVALUE_IPC_AUTO), "auto");
  assert_string_equal(evalue_ipc_carrier_name(EVALUE_IPC_INLINE), "inline");
  assert_string_equal(evalue_ipc_carrier_name(EVALUE_IPC_POOL), "pool");
  assert_string_equal(evalue_ipc_carrier_name(EVALUE_IPC_SEALED), "sealed");
  assert_string_equal(evalue_ipc_carrier_name(4), "?");
  assert_string_equal(evalue_ipc_carrier_name(UINT32_MAX), "?");
}

static void check_defaults(const evalue_ipc_options *o) {
  assert_int_equal(o->carrier, EVALUE_IPC_AUTO);
  assert_int_equal(o->inline_limit, 65536);
  assert_int_equal(o->slots, 4);
  assert_int_equal(o->snapshot, 0);
  assert_int_equal(o->slot_nbytes, 16 << 20);
  assert_int_equal(o->max_bytes, 1 << 30);
  assert_int_equal(o->max_pool_bytes, 1 << 30);
  assert_int_equal(o->idle_ms, 0);
  assert_int_equal(o->stall_ms, 10000);
}

static void test_defaults(void **state) {
  (void)state;
  const evalue_ipc_options zero = {0}, sized = {.size = sizeof sized};
  const evalue_ipc_options *all[] = {NULL, &zero, &sized};
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    pair p;
    make_pair(&p, socket_types[i % 2], all[i], NULL);
    check_defaults(&p.a.options);
    assert_null(p.a.sending.memory); /* a pool is made when it is needed */
    check_works(&p.a, &p.b);
    close_pair(&p);
  }
}

static void test_good_options(void **state) {
  (void)state;
  const evalue_ipc_options all[] = {
      {.carrier = EVALUE_IPC_SEALED}, {.alignment = 1},  {.alignment = 4096},         {.slots = 64},
      {.slots = 1, .slot_nbytes = 1}, {.snapshot = 1},   {.slot_nbytes = 1ULL << 48}, {.max_bytes = UINT64_MAX},
      {.max_pool_bytes = UINT64_MAX}, {.max_bytes = 64}, {.idle_ms = UINT32_MAX},     {.stall_ms = UINT32_MAX},
      {.inline_limit = UINT32_MAX},
  };
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    pair p;
    make_pair(&p, socket_types[i % 2], &all[i], &all[i]);
    if (all[i].carrier != EVALUE_IPC_SEALED) check_works(&p.a, &p.b);
    close_pair(&p);
  }
}

static void test_bad_options(void **state) {
  (void)state;
  const evalue_ipc_options all[] = {
      {.size = 1},
      {.size = sizeof(evalue_ipc_options) - 1},
      {.size = sizeof(evalue_ipc_options) + 8},
      {.size = UINT32_MAX},
      {.carrier = 4},
      {.carrier = UINT32_MAX},
      {.alignment = 3},
      {.alignment = 8192},
      {.alignment = UINT32_MAX},
      {.slots = 65},
      {.slots = UINT32_MAX},
      {.snapshot = 2},
      {.snapshot = 1U << 31},
      {.slot_nbytes = (1ULL << 48) + 1},
      {.slot_nbytes = UINT64_MAX},
  };
  int fds[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    evalue_ipc_channel c;
    memset(&c, 0xA5, sizeof c);
    assert_int_equal(evalue_ipc_init(&c, fds[0], &all[i]), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_close(&c), EVALUE_MISUSE);
    assert_true(fcntl(fds[0], F_GETFD) >= 0);
  }
  close(fds[0]);
  close(fds[1]);
}

/* ---- sockets that are none, or of another kind ---- */

static void check_no_socket(int fd, int error) {
  evalue_ipc_channel c;
  memset(&c, 0xA5, sizeof c);
  assert_int_equal(evalue_ipc_init(&c, fd, NULL), EVALUE_IO);
  assert_int_equal(c.system_error, error);
  check_fault(&c, EVALUE_FAULT_SYSTEM_CALL, 0, 0, 0);
  assert_int_equal(evalue_ipc_close(&c), EVALUE_MISUSE);
}

static void test_no_socket(void **state) {
  (void)state;
  int ends[2], file = open("/dev/null", O_RDWR);
  assert_int_equal(pipe(ends), 0);
  check_no_socket(-1, EBADF);
  check_no_socket(1 << 20, EBADF);
  check_no_socket(ends[0], ENOTSOCK);
  check_no_socket(file, ENOTSOCK);
  assert_int_equal(close(ends[0]) + close(ends[1]) + close(file), 0); /* they have stayed open */
  assert_int_equal(evalue_ipc_init(NULL, 0, NULL), EVALUE_MISUSE);
}

static void test_other_sockets(void **state) {
  (void)state;
  const int kinds[][2] = {
      {AF_UNIX, SOCK_DGRAM}, {AF_INET, SOCK_STREAM}, {AF_INET, SOCK_DGRAM}, {AF_INET6, SOCK_STREAM}};
  int tried = 0;
  for (size_t i = 0; i < COUNT_OF(kinds); i++) {
    evalue_ipc_channel c;
    int fd = socket(kinds[i][0], kinds[i][1], 0);
    if (fd < 0) continue; /* a machine without this protocol */
    assert_int_equal(evalue_ipc_init(&c, fd, NULL), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_close(&c), EVALUE_MISUSE);
    assert_int_equal(close(fd), 0);
    tried++;
  }
  assert_true(tried > 0);
}

/* A socket of the right type that is not connected: the system says so when it is used. */
static void test_not_connected(void **state) {
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_channel c;
    evalue_ipc_message m;
    const evalue v = evalue_from_none();
    assert_int_equal(evalue_ipc_init(&c, socket(AF_UNIX, socket_types[i], 0), NULL), EVALUE_OK);
    assert_int_equal(evalue_ipc_send(&c, &v, 1), EVALUE_IO);
    assert_int_equal(c.system_error, ENOTCONN);
    check_fault(&c, EVALUE_FAULT_SYSTEM_CALL, 0, 0, 0);
    assert_int_equal(evalue_ipc_receive(&c, &m), EVALUE_IO);
    check_fault(&c, EVALUE_FAULT_SYSTEM_CALL, 0, 0, 0);
    close_peer(&c, -1);
  }
}

/* ---- wrong use ---- */

/* Every call there is on a channel says MISUSE, and changes nothing. */
static void check_refused(evalue_ipc_channel *c) {
  evalue_ipc_channel before;
  evalue_ipc_message m;
  evalue_ipc_slot slot = {0};
  evalue_ipc_sealed sealed;
  void *places[1];
  const evalue v = evalue_from_int(1);
  if (c != NULL) memcpy(&before, c, sizeof before);
  assert_int_equal(evalue_ipc_seal(&sealed, &v, 1, 0), EVALUE_OK);
  assert_int_equal(evalue_ipc_send(c, &v, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_send(c, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_send_message(c, "x", 1), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_reserve(c, &v, 1, places, &slot), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_send_slot(c, &slot), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_cancel_slot(c, &slot), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_send_sealed(c, &sealed), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_receive(c, &m), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
  assert_int_equal(evalue_ipc_close(c), EVALUE_MISUSE);
  if (c != NULL) assert_memory_equal(&before, c, sizeof before);
  assert_int_equal(evalue_ipc_sealed_close(&sealed), EVALUE_OK);
}

static void test_no_channel(void **state) {
  (void)state;
  need_seals();
  for (size_t i = 0; i < 2; i++) {
    pair p;
    evalue_ipc_channel copy, zero;
    memset(&zero, 0, sizeof zero);
    make_pair(&p, socket_types[i], NULL, NULL);
    memcpy(&copy, &p.a, sizeof copy);
    check_refused(NULL);
    check_refused(&zero);
    check_refused(&copy);
    check_works(&p.a, &p.b);
    check_works(&p.b, &p.a);
    close_pair(&p);
    check_refused(&p.a);
  }
  assert_null(evalue_ipc_error(NULL));
}

static void check_misused(evalue_ipc_channel *c, evalue_status status) {
  assert_int_equal(status, EVALUE_MISUSE);
  assert_int_equal(c->error.status, EVALUE_MISUSE);
  assert_int_equal(c->error.fault, EVALUE_FAULT_ARGUMENT);
  assert_true(c->error.value_index == EVALUE_NO_INDEX);
}

static void test_bad_values(void **state) {
  (void)state;
  for (uint32_t carrier = EVALUE_IPC_AUTO; carrier <= EVALUE_IPC_SEALED; carrier++) {
    const evalue_ipc_options options = {.carrier = carrier};
    evalue_ipc_slot slot;
    pair p;
    void *places[2];
    evalue v[2] = {evalue_from_int(1), evalue_from_bool(true)};
    v[1].bool_value = 2;
    make_pair(&p, socket_types[carrier % 2], &options, NULL);
    check_misused(&p.a, evalue_ipc_send(&p.a, v, 2));
    check_misused(&p.a, evalue_ipc_send(&p.a, NULL, 1));
    check_misused(&p.a, evalue_ipc_send_message(&p.a, NULL, 0));
    check_misused(&p.a, evalue_ipc_send_message(&p.a, NULL, 5));
    check_misused(&p.a, evalue_ipc_reserve(&p.a, v, 2, places, &slot));
    check_misused(&p.a, evalue_ipc_reserve(&p.a, NULL, 1, places, &slot));
    check_misused(&p.a, evalue_ipc_reserve(&p.a, v, 1, NULL, &slot));
    check_misused(&p.a, evalue_ipc_reserve(&p.a, v, 1, places, NULL));
    v[0] = evalue_from_string(NULL, 7);
    check_misused(&p.a, evalue_ipc_send(&p.a, v, 1));
    v[0] = evalue_from_string("x", SIZE_MAX);
    if (sizeof(size_t) == 8) assert_int_equal(evalue_ipc_send(&p.a, v, 1), EVALUE_LIMIT); /* 2^62 bytes and more */
    if (carrier != EVALUE_IPC_POOL && carrier != EVALUE_IPC_SEALED) check_works(&p.a, &p.b);
    check_works(&p.b, &p.a);
    close_pair(&p);
  }
}

static void test_other_misuse(void **state) {
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_message m, zero;
    evalue_ipc_slot slot = {0}, far = {.number = UINT32_MAX};
    evalue_ipc_sealed none;
    pair p;
    memset(&zero, 0, sizeof zero);
    memset(&none, 0, sizeof none);
    make_pair(&p, socket_types[i], NULL, NULL);
    check_misused(&p.a, evalue_ipc_send_slot(&p.a, NULL));
    check_misused(&p.a, evalue_ipc_send_slot(&p.a, &slot));
    check_misused(&p.a, evalue_ipc_send_slot(&p.a, &far));
    check_misused(&p.a, evalue_ipc_send_sealed(&p.a, NULL));
    check_misused(&p.a, evalue_ipc_send_sealed(&p.a, &none));
    assert_int_equal(evalue_ipc_cancel_slot(&p.a, NULL), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_cancel_slot(&p.a, &slot), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_cancel_slot(&p.a, &far), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_receive(&p.a, NULL), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_receive(NULL, &m), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_release(NULL), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_release(&zero), EVALUE_OK);
    check_works(&p.a, &p.b);
    close_pair(&p);
  }
}

/* ---- closing ---- */

static void test_close_while_messages_are_held(void **state) {
  (void)state;
  need_seals();
  const evalue_ipc_options options = {.inline_limit = 100, .slot_nbytes = 1000};
  const size_t sizes[] = {50, 500, 2000}; /* one of each carrier */
  for (size_t i = 0; i < 2; i++) {
    pair p;
    evalue_ipc_message m[3], moved;
    make_pair(&p, socket_types[i], &options, NULL);
    fill_bytes(large, 2000, 3);
    for (size_t k = 0; k < 3; k++) {
      assert_int_equal(evalue_ipc_send_message(&p.a, large, sizes[k]), EVALUE_OK);
      assert_int_equal(evalue_ipc_receive(&p.b, &m[k]), EVALUE_OK);
      check_message(&m[k], large, sizes[k], (uint32_t)k + 1);
    }
    assert_int_equal(evalue_ipc_close(&p.a), EVALUE_OK); /* what was received stays when the sender has gone */
    for (size_t k = 0; k < 3; k++) {
      evalue_ipc_channel before = p.b;
      assert_int_equal(evalue_ipc_close(&p.b), EVALUE_MISUSE);
      assert_memory_equal(&before, &p.b, sizeof before);
      for (size_t j = k; j < 3; j++) check_message(&m[j], large, sizes[j], (uint32_t)j + 1);
      moved = m[k];
      assert_int_equal(evalue_ipc_release(&moved), EVALUE_OK);
      assert_int_equal(evalue_ipc_release(&moved), EVALUE_OK); /* it knows */
    }
    assert_int_equal(evalue_ipc_release(&m[0]), EVALUE_MISUSE); /* the copy does not, but no message is held */
    assert_int_equal(evalue_ipc_close(&p.b), EVALUE_OK);
    assert_int_equal(evalue_ipc_close(&p.b), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_release(&m[0]), EVALUE_MISUSE);
  }
}

/* The number of a closed descriptor soon belongs to somebody else. */
static void test_close_once(void **state) {
  (void)state;
  pair p;
  make_pair(&p, SOCK_STREAM, NULL, NULL);
  int number = p.a.fd;
  close_pair(&p);
  int other = open("/dev/null", O_RDONLY);
  assert_true(other >= 0);
  if (other != number) assert_int_equal(dup2(other, number), number);
  assert_int_equal(evalue_ipc_close(&p.a), EVALUE_MISUSE);
  assert_true(fcntl(number, F_GETFD) >= 0);
  if (other != number) close(number);
  close(other);
}

/* ---- errors ---- */

/* system_error belongs to EVALUE_IO, and to no failure after it. */
static void test_system_error_of_the_last_failure(void **state) {
  (void)state;
  evalue_ipc_channel c;
  close(make_peer(&c, SOCK_STREAM, NULL));
  assert_int_equal(evalue_ipc_send(&c, NULL, 0), EVALUE_IO);
  assert_int_equal(c.system_error, EPIPE);
  check_misused(&c, evalue_ipc_send_message(&c, NULL, 1));
  int stale = c.system_error;
  close_peer(&c, -1);
  assert_int_equal(stale, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ipc_test(test_names),
      ipc_test(test_defaults),
      ipc_test(test_good_options),
      ipc_test(test_bad_options),
      ipc_test(test_no_socket),
      ipc_test(test_other_sockets),
      ipc_test(test_not_connected),
      ipc_test(test_no_channel),
      ipc_test(test_bad_values),
      ipc_test(test_other_misuse),
      ipc_test(test_close_while_messages_are_held),
      ipc_test(test_close_once),
      ipc_test(test_system_error_of_the_last_failure),
  };
  return cmocka_run_group_tests_name("channel", tests, begin_group, NULL);
}
