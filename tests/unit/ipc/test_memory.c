/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver, and a peer that sends descriptors of every kind as memory: sealed, half sealed, too small, none at all.
 */
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/vfs.h>

#include "ipc_faults.h"

#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4U
#endif

enum { MESSAGE = 5000, SLOTS = 2, SLOT_NBYTES = 6000 };

static uint8_t bytes[MESSAGE];

static const evalue_ipc_options snapshot = {.snapshot = 1};

/* Memory that holds the bytes. */
static int make_filled(uint64_t nbytes, int seals) {
  int fd = make_memory(nbytes, 0);
  fill_bytes(bytes, MESSAGE, 1);
  assert_int_equal(pwrite(fd, bytes, MESSAGE, 0), MESSAGE);
  assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
  return fd;
}

/* Sends fd as sealed memory, or as a pool's; closes it; fault of 0: it is a good message. */
static void check_memory(size_t type, bool is_snapshot, uint8_t carrier, int fd, evalue_fault fault, uint64_t expected,
                         uint64_t found) {
  evalue_ipc_channel c;
  int peer = make_peer(&c, socket_types[type], is_snapshot ? &snapshot : NULL);
  if (carrier == SEALED) put_frame(peer, SEALED, MESSAGE, 0, fd);
  else put_frame(peer, POOL, SLOT_NBYTES, SLOTS, fd);
  close(fd);
  if (fault != EVALUE_FAULT_NONE) {
    bool is_io = fault == EVALUE_FAULT_SYSTEM_CALL;
    expect_fault(&c, fault, is_io ? 0 : 8, expected, found);
  } else if (carrier == SEALED) {
    expect_message(&c, bytes, MESSAGE, EVALUE_IPC_SEALED);
  } else {
    put_frame(peer, SLOT, 100, 1, -1);
    evalue_ipc_message m;
    assert_int_equal(evalue_ipc_receive(&c, &m), EVALUE_OK);
    assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
  }
  close_peer(&c, peer);
}

/* ---- what is no memory ---- */

/* Opens the i-th kind of descriptor; -1 where the machine does not have it, -2 at the end. */
static int open_kind(int i) {
  int ends[2];
  char name[] = "evalue-ipc-XXXXXX";
  switch (i) {
    case 0:
      assert_int_equal(pipe(ends), 0);
      close(ends[1]);
      return ends[0];
    case 1: return open("/", O_RDONLY | O_DIRECTORY);
    case 2: return open("/dev/zero", O_RDWR);
    case 3: return open("/dev/null", O_RDWR);
    case 4: return is_emulated() ? -1 : open("/proc/self/maps", O_RDONLY); /* an emulator makes a file of its own */
    case 5: return socket(AF_UNIX, SOCK_STREAM, 0);
    case 6: return eventfd(0, 0);
    case 7: return epoll_create1(0);
    case 8: return open("/dev/shm", O_RDONLY | O_DIRECTORY);
    case 9: /* a regular file, where the tests are */
      ends[0] = mkstemp(name);
      if (ends[0] < 0) return -1;
      unlink(name);
      assert_int_equal(ftruncate(ends[0], 1 << 20), 0);
      return ends[0];
    case 10: return open("/proc/self/fd/0", O_PATH);
    case 11: /* huge pages: can be sealed, and may raise a signal */
      ends[0] = memfd_create("evalue-huge", MFD_HUGETLB | MFD_ALLOW_SEALING);
      if (ends[0] < 0) return -1;
      if (ftruncate(ends[0], 4 << 20) != 0) print_message("huge pages: no size\n");
      if (fcntl(ends[0], F_ADD_SEALS, ALL_SEALS) != 0) print_message("huge pages: no seals\n");
      return ends[0];
#ifdef SYS_memfd_secret
    case 12: return (int)syscall(SYS_memfd_secret, 0);
#endif
    default: return -2;
  }
}

static bool is_tmpfs(int fd) {
  struct statfs system;
  return fstatfs(fd, &system) == 0 && system.f_type == 0x01021994 /* TMPFS_MAGIC */;
}

static void test_other_descriptors(void **state) {
  (void)state;
  int fd, tried = 0;
  for (int i = 0; (fd = open_kind(i)) != -2; i++) {
    if (fd == -1) print_message("kind %d is not there\n", i);
    if (fd == -1) continue;
    bool is_file = i == 9 && is_tmpfs(fd); /* tests that lie on tmpfs have one that could have seals */
    for (int k = 0; k < 8; k++) {
      bool is_snapshot = k / 2 % 2 != 0;
      if (is_file && is_snapshot) continue;
      check_memory((size_t)k % 2, is_snapshot, k < 4 ? SEALED : POOL, dup(fd),
                   is_file ? EVALUE_FAULT_NOT_SEALED : EVALUE_FAULT_NOT_MEMORY, 0, 0);
    }
    close(fd);
    tried++;
  }
  assert_true(tried >= 8);
}

/* ---- seals ---- */

enum { MOST_SEALS = 32 };

static int seals_of(int i) {
  static const int seals[] = {F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE, 0x10 /* F_SEAL_FUTURE_WRITE */};
  int all = 0;
  for (int k = 0; k < 5; k++) all |= (i >> k & 1) != 0 ? seals[k] : 0;
  return all;
}

static void test_every_set_of_seals(void **state) {
  (void)state;
  need_seals();
  for (int i = 0; i < 4 * MOST_SEALS; i++) {
    size_t type = (size_t)i & 1;
    bool is_snapshot = (i & 2) != 0;
    int seals = seals_of(i / 4), fd = make_filled(MESSAGE + 128, 0);
    if (fcntl(fd, F_ADD_SEALS, seals) != 0) { /* one that the machine does not know */
      close(fd);
      continue;
    }
    bool is_sealed = (seals & ALL_SEALS) == ALL_SEALS;
    check_memory(type, is_snapshot, SEALED, fd, is_sealed || is_snapshot ? EVALUE_FAULT_NONE : EVALUE_FAULT_NOT_SEALED,
                 0, 0);
    bool is_steady = (seals & POOL_SEALS) == POOL_SEALS, is_locked = (seals & (F_SEAL_WRITE | 0x10)) != 0;
    check_memory(type, is_snapshot, POOL, make_filled(CONTROL + SLOTS * 8192, seals),
                 !is_steady  ? EVALUE_FAULT_NOT_SEALED
                 : is_locked ? EVALUE_FAULT_SYSTEM_CALL
                             : EVALUE_FAULT_NONE,
                 0, 0);
  }
}

/* A snapshot is constant, and a seal is what says that a message is constant without one. */
static void test_constant(void **state) {
  (void)state;
  need_seals();
  for (int seals = 0; seals <= ALL_SEALS; seals += ALL_SEALS) {
    evalue_ipc_channel c;
    evalue_ipc_message m;
    int peer = make_peer(&c, SOCK_STREAM, &snapshot), fd = make_filled(MESSAGE + 128, seals);
    put_frame(peer, SEALED, MESSAGE, 0, fd);
    assert_int_equal(evalue_ipc_receive(&c, &m), EVALUE_OK);
    assert_int_equal(pwrite(fd, "changed", 7, 0), seals == 0 ? 7 : -1);
    assert_int_equal(ftruncate(fd, 0), seals == 0 ? 0 : -1);
    check_message(&m, bytes, MESSAGE, EVALUE_IPC_SEALED);
    assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
    close(fd);
    close_peer(&c, peer);
  }
}

/* ---- sizes ---- */

static void test_too_small(void **state) {
  (void)state;
  need_seals();
  static const uint64_t sizes[] = {0, 1, MESSAGE, MESSAGE + 127};
  const uint64_t pool = CONTROL + SLOTS * 8192;
  for (size_t i = 0; i < 4; i++) {
    for (size_t k = 0; k < COUNT_OF(sizes); k++) {
      check_memory(i % 2, i >= 2, SEALED, make_memory(sizes[k], ALL_SEALS), EVALUE_FAULT_MEMORY_SIZE, MESSAGE + 128,
                   sizes[k]);
    }
    check_memory(i % 2, true, SEALED, make_memory(MESSAGE + 127, 0), EVALUE_FAULT_MEMORY_SIZE, MESSAGE + 128,
                 MESSAGE + 127);
    check_memory(i % 2, i >= 2, SEALED, make_filled(MESSAGE + 128, ALL_SEALS), EVALUE_FAULT_NONE, 0, 0);
    check_memory(i % 2, i >= 2, POOL, make_memory(pool - 1, POOL_SEALS), EVALUE_FAULT_MEMORY_SIZE, pool, pool - 1);
    check_memory(i % 2, i >= 2, POOL, make_memory(0, POOL_SEALS), EVALUE_FAULT_MEMORY_SIZE, pool, 0);
    check_memory(i % 2, i >= 2, POOL, make_memory(pool, POOL_SEALS), EVALUE_FAULT_NONE, 0, 0);
  }
}

/* 8 EiB of nothing: what the frame says is what is looked at. */
static void test_sparse_memory(void **state) {
  (void)state;
  need_seals();
  static const int seals[] = {0, POOL_SEALS, ALL_SEALS};
  memset(bytes, 0, MESSAGE);
  for (size_t i = 0; i < 4 * COUNT_OF(seals); i++) {
    bool is_snapshot = i % 4 >= 2, is_sealed = seals[i / 4] == ALL_SEALS;
    check_memory(i % 2, is_snapshot, SEALED, make_memory(INT64_MAX, seals[i / 4]),
                 is_sealed || is_snapshot ? EVALUE_FAULT_NONE : EVALUE_FAULT_NOT_SEALED, 0, 0);
    check_memory(i % 2, is_snapshot, POOL, make_memory(INT64_MAX, seals[i / 4]),
                 seals[i / 4] == 0 ? EVALUE_FAULT_NOT_SEALED
                 : is_sealed       ? EVALUE_FAULT_SYSTEM_CALL
                                   : EVALUE_FAULT_NONE,
                 0, 0);
  }
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_channel c;
    int peer = make_peer(&c, socket_types[i], NULL), fd = make_memory(INT64_MAX, ALL_SEALS);
    put_frame(peer, SEALED, INT64_MAX - 128, 0, fd);
    expect_fault(&c, EVALUE_FAULT_MESSAGE_TOO_LARGE, 8, 1 << 30, INT64_MAX - 128);
    close(fd);
    close_peer(&c, peer);
  }
}

/* Who allows as much has no address space for it: that is said, too. */
static void test_no_address_space(void **state) {
  (void)state;
  need_seals();
  const evalue_ipc_options boundless = {.max_bytes = UINT64_MAX, .max_pool_bytes = UINT64_MAX};
  const uint64_t most = UINT64_C(1) << 48;
  for (size_t i = 0; i < 6; i++) {
    evalue_ipc_channel c;
    uint8_t carrier = (uint8_t[]){INLINE, SEALED, POOL}[i / 2];
    int peer = make_peer(&c, socket_types[i % 2], &boundless);
    int fd = carrier != INLINE ? make_memory(INT64_MAX, carrier == POOL ? POOL_SEALS : ALL_SEALS) : -1;
    put_frame(peer, carrier, carrier == POOL ? most / 2 : most, carrier == POOL, fd);
    expect_fault(&c, EVALUE_FAULT_SYSTEM_CALL, 0, 0, 0);
    assert_int_equal(c.system_error, ENOMEM);
    if (fd >= 0) close(fd);
    close_peer(&c, peer);
  }
}

/* A descriptor that cannot be mapped for what it is needed for. */
static void test_modes(void **state) {
  (void)state;
  need_seals();
  char path[64];
  for (size_t i = 0; i < 2; i++) {
    int fd = make_filled(MESSAGE + 128, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int reading = open(path, O_RDONLY), writing = open(path, O_WRONLY);
    if (reading < 0 || writing < 0) fail();
    assert_int_equal(fcntl(fd, F_ADD_SEALS, ALL_SEALS), 0);
    check_memory(i, false, SEALED, reading, EVALUE_FAULT_NONE, 0, 0);
    check_memory(i, false, SEALED, writing, EVALUE_FAULT_SYSTEM_CALL, 0, 0);
    close(fd);
    fd = make_memory(CONTROL + SLOTS * 8192, POOL_SEALS);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    check_memory(i, false, POOL, open(path, O_RDONLY), EVALUE_FAULT_SYSTEM_CALL, 0, 0);
    check_memory(i, false, POOL, open(path, O_WRONLY), EVALUE_FAULT_SYSTEM_CALL, 0, 0);
    check_memory(i, true, SEALED, open(path, O_WRONLY), EVALUE_FAULT_SYSTEM_CALL, 0, 0); /* cannot be read, either */
    close(fd);
  }
}

static _Atomic uint32_t is_over;

static void *resize(void *context) {
  const int *fd = (const int *)context;
  while (atomic_load(&is_over) == 0) {
    if (ftruncate(*fd, 0) != 0 || ftruncate(*fd, 1 << 20) != 0) return NULL;
  }
  return context;
}

/* I8: memory that shrinks while it is read. It becomes a message or a status; never a signal. */
static void test_i8_memory_that_shrinks(void **state) {
  (void)state;
  need_seals();
  pthread_t thread;
  int fd = make_memory(1 << 20, 0);
  size_t messages = 0, faults = 0;
  atomic_store(&is_over, 0);
  assert_int_equal(pthread_create(&thread, NULL, resize, &fd), 0);
  for (size_t i = 0; i < 400; i++) {
    evalue_ipc_channel c;
    evalue_ipc_message m;
    int peer = make_peer(&c, socket_types[i % 2], &snapshot);
    put_frame(peer, SEALED, (1 << 20) - 128, 0, fd);
    evalue_status status = evalue_ipc_receive(&c, &m);
    messages += status == EVALUE_OK;
    faults += status == EVALUE_MALFORMED && c.error.fault == EVALUE_FAULT_MEMORY_SIZE;
    assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
    close_peer(&c, peer);
  }
  atomic_store(&is_over, 1);
  pthread_join(thread, NULL);
  close(fd);
  assert_int_equal(messages + faults, 400);
}

/* ---- the pool's slots ---- */

static void test_slots_that_are_none(void **state) {
  (void)state;
  need_seals();
  static const struct {
    uint64_t nbytes, place;
    evalue_fault fault;
    uint64_t position, expected, found;
  } rows[] = {
      {100, SLOTS, EVALUE_FAULT_SLOT_RANGE, 16, SLOTS - 1, SLOTS},
      {100, 64, EVALUE_FAULT_SLOT_RANGE, 16, SLOTS - 1, 64},
      {100, UINT64_C(1) << 32, EVALUE_FAULT_SLOT_RANGE, 16, SLOTS - 1, UINT64_C(1) << 32},
      {100, UINT64_MAX, EVALUE_FAULT_SLOT_RANGE, 16, SLOTS - 1, UINT64_MAX},
      {SLOT_NBYTES + 1, 1, EVALUE_FAULT_SLOT_LENGTH, 8, SLOT_NBYTES, SLOT_NBYTES + 1},
      {1 << 30, 1, EVALUE_FAULT_SLOT_LENGTH, 8, SLOT_NBYTES, 1 << 30},
      {100, 0, EVALUE_FAULT_SLOT_HELD, 16, 0, 0}, /* it is held when this comes */
  };
  for (size_t i = 0; i < 2 * COUNT_OF(rows); i++) {
    size_t row = i / 2;
    evalue_ipc_channel c;
    evalue_ipc_message m;
    raw_pool pool;
    int peer = make_peer(&c, socket_types[i % 2], NULL);
    make_pool(&pool, SLOTS, SLOT_NBYTES);
    fill_bytes(slot_of(&pool, 0), SLOT_NBYTES, 1);
    put_frame(peer, POOL, SLOT_NBYTES, SLOTS, pool.fd);
    put_frame(peer, SLOT, SLOT_NBYTES, 0, -1);
    put_frame(peer, SLOT, rows[row].nbytes, rows[row].place, -1);
    assert_int_equal(evalue_ipc_receive(&c, &m), EVALUE_OK);
    memset(pool.memory, 0, 8192); /* every slot is free, says the peer */
    expect_fault(&c, rows[row].fault, rows[row].position, rows[row].expected, rows[row].found);
    check_message(&m, slot_of(&pool, 0), SLOT_NBYTES, EVALUE_IPC_POOL); /* what is held is still there */
    assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
    close_pool(&pool);
    close_peer(&c, peer);
  }
}

/* One pool in each direction, and no second one, be it the same. */
static void test_pool_again(void **state) {
  (void)state;
  need_seals();
  for (size_t i = 0; i < 4; i++) {
    evalue_ipc_channel c;
    raw_pool pools[2];
    int peer = make_peer(&c, socket_types[i % 2], NULL);
    for (size_t k = 0; k < 2; k++) make_pool(&pools[k], SLOTS, SLOT_NBYTES);
    put_frame(peer, POOL, SLOT_NBYTES, SLOTS, pools[0].fd);
    put_frame(peer, SLOT, 100, 1, -1);
    put_frame(peer, POOL, SLOT_NBYTES, SLOTS, pools[i / 2].fd);
    expect_message(&c, slot_of(&pools[0], 1), 100, EVALUE_IPC_POOL);
    expect_fault(&c, EVALUE_FAULT_POOL_AGAIN, 5, 0, 0);
    for (size_t k = 0; k < 2; k++) close_pool(&pools[k]);
    close_peer(&c, peer);
  }
}

/* A pool whose slots take nothing but messages of no bytes. */
static void test_empty_slots(void **state) {
  (void)state;
  need_seals();
  evalue_ipc_channel c;
  raw_pool pool;
  int peer = make_peer(&c, SOCK_STREAM, NULL);
  make_pool(&pool, 64, 0);
  put_frame(peer, POOL, 0, 64, pool.fd);
  put_frame(peer, SLOT, 0, 63, -1);
  put_frame(peer, SLOT, 1, 63, -1);
  expect_message(&c, bytes, 0, EVALUE_IPC_POOL);
  expect_fault(&c, EVALUE_FAULT_SLOT_LENGTH, 8, 0, 1);
  close_pool(&pool);
  close_peer(&c, peer);
}

static void test_produced(void **state) {
  (void)state;
  need_seals();
  check_produced_in("memory");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ipc_test(test_other_descriptors),
      ipc_test(test_every_set_of_seals),
      ipc_test(test_constant),
      ipc_test(test_too_small),
      ipc_test(test_sparse_memory),
      ipc_test(test_no_address_space),
      ipc_test(test_modes),
      ipc_test(test_i8_memory_that_shrinks),
      ipc_test(test_slots_that_are_none),
      ipc_test(test_pool_again),
      ipc_test(test_empty_slots),
      ipc_test(test_produced),
  };
  return cmocka_run_group_tests_name("memory", tests, begin_group, NULL);
}
