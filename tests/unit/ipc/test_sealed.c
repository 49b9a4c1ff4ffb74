/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in memory that nobody can change any more. */
#include <sys/resource.h>

#include "ipc_faults.h"

enum { LARGE = 20 << 20 };

static uint8_t large[LARGE], encoded[LARGE + 4096];

static size_t encode(const evalue *values, size_t n, uint32_t alignment) {
  uint64_t nbytes;
  assert_int_equal(evalue_message_encode(values, n, alignment, encoded, sizeof encoded, &nbytes), EVALUE_OK);
  return (size_t)nbytes;
}

/* Whoever has the descriptor can read it, and nothing else. */
static void check_memory(int fd, const uint8_t *bytes, size_t nbytes) {
  static const uint8_t zeros[128];
  struct stat status;
  assert_int_equal(fcntl(fd, F_GET_SEALS) & ALL_SEALS, ALL_SEALS);
  assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  assert_int_equal(fstat(fd, &status), 0);
  assert_int_equal(status.st_size, nbytes + 128);
  assert_ptr_equal(mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  assert_int_equal(errno, EPERM);
  assert_int_equal(pwrite(fd, "x", 1, 0), -1);
  assert_int_equal(errno, EPERM);
  assert_int_equal(ftruncate(fd, 1), -1);
  assert_int_equal(ftruncate(fd, 1 << 30), -1);
  assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
  void *memory = mmap(NULL, nbytes + 128, PROT_READ, MAP_SHARED, fd, 0);
  assert_true(memory != MAP_FAILED);
  assert_memory_equal(memory, bytes, nbytes);
  assert_memory_equal((uint8_t *)memory + nbytes, zeros, 128);
  munmap(memory, nbytes + 128);
}

/* The receiver's mapping is for reading. */
static void check_mapping(const evalue_ipc_message *m) {
  char permissions[5];
  permissions_of(m->data, permissions);
  assert_string_equal(permissions, "r--p"); /* shared, it would be refused by Linux before 6.7 */
  assert_int_equal((uintptr_t)m->data % 4096, 0);
}

/* Frame, descriptor and memory, to the byte. */
static void test_what_the_peer_gets(void **state) {
  (void)state;
  need_seals();
  static const uint32_t alignments[] = {0, 1, 64, 4096};
  evalue values[VALUES];
  make_values(values);
  for (size_t i = 0; i < 2 * COUNT_OF(alignments); i++) {
    evalue_ipc_channel c;
    evalue_ipc_sealed sealed;
    int peer = make_peer(&c, socket_types[i % 2], NULL);
    for (size_t n = 0; n <= VALUES; n++) {
      size_t nbytes = encode(values, n, alignments[i / 2]);
      assert_int_equal(evalue_ipc_seal(&sealed, n != 0 ? values : NULL, n, alignments[i / 2]), EVALUE_OK);
      assert_int_equal(sealed.nbytes, nbytes);
      assert_int_equal(evalue_ipc_send_sealed(&c, &sealed), EVALUE_OK);
      int fd = get_frame(peer, SEALED, nbytes, 0);
      check_memory(sealed.fd, encoded, nbytes);
      assert_int_equal(evalue_ipc_sealed_close(&sealed), EVALUE_OK);
      check_memory(fd, encoded, nbytes);
      close(fd);
    }
    close_peer(&c, peer);
  }
}

static void test_sealed_once_sent_often(void **state) {
  (void)state;
  need_seals();
  evalue values[VALUES];
  evalue_ipc_sealed sealed;
  pair p[2];
  evalue_ipc_message m[2][2];
  make_values(values);
  size_t nbytes = encode(values, VALUES, 64);
  assert_int_equal(evalue_ipc_seal(&sealed, values, VALUES, 64), EVALUE_OK);
  for (size_t i = 0; i < 2; i++) {
    make_pair(&p[i], socket_types[i], NULL, NULL);
    for (size_t k = 0; k < 2; k++) assert_int_equal(evalue_ipc_send_sealed(&p[i].a, &sealed), EVALUE_OK);
  }
  assert_int_equal(evalue_ipc_sealed_close(&sealed), EVALUE_OK);
  for (size_t i = 0; i < 2; i++) {
    for (size_t k = 0; k < 2; k++) assert_int_equal(evalue_ipc_receive(&p[i].b, &m[i][k]), EVALUE_OK);
    assert_int_equal(evalue_ipc_close(&p[i].a), EVALUE_OK);
  }
  for (size_t i = 0; i < 4; i++) {
    for (size_t k = i; k < 4; k++) { /* those that are left when others have been given back */
      check_message(&m[k / 2][k % 2], encoded, nbytes, EVALUE_IPC_SEALED);
      check_mapping(&m[k / 2][k % 2]);
    }
    assert_int_equal(evalue_ipc_release(&m[i / 2][i % 2]), EVALUE_OK);
  }
  for (size_t i = 0; i < 2; i++) assert_int_equal(evalue_ipc_close(&p[i].b), EVALUE_OK);
}

/* The sender's carrier options do not matter to what is sealed already. */
static void test_whatever_the_options(void **state) {
  (void)state;
  need_seals();
  const evalue v = evalue_from_int(3);
  size_t nbytes = encode(&v, 1, 0);
  for (uint32_t carrier = EVALUE_IPC_AUTO; carrier <= EVALUE_IPC_SEALED; carrier++) {
    for (uint32_t snapshot = 0; snapshot < 2; snapshot++) {
      const evalue_ipc_options from = {.carrier = carrier, .slot_nbytes = 1, .slots = 1}, to = {.snapshot = snapshot};
      evalue_ipc_sealed sealed;
      evalue_ipc_message m;
      pair p;
      make_pair(&p, socket_types[snapshot], &from, &to);
      assert_int_equal(evalue_ipc_seal(&sealed, &v, 1, 0), EVALUE_OK);
      assert_int_equal(evalue_ipc_send_sealed(&p.a, &sealed), EVALUE_OK);
      assert_int_equal(evalue_ipc_receive(&p.b, &m), EVALUE_OK);
      check_message(&m, encoded, nbytes, EVALUE_IPC_SEALED);
      check_mapping(&m); /* also with snapshots: nobody can change it */
      assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
      assert_int_equal(evalue_ipc_sealed_close(&sealed), EVALUE_OK);
      close_pair(&p);
    }
  }
}

/* More than a slot takes, in memory that is made for one message. */
static void test_larger_than_a_slot(void **state) {
  (void)state;
  need_seals();
  fill_bytes(large, LARGE, 1);
  const evalue v[] = {bytes_value(large, LARGE), evalue_from_int(1)};
  for (size_t i = 0; i < 2; i++) {
    pair p;
    evalue_ipc_message m;
    size_t nbytes = encode(v, 2, 0);
    make_pair(&p, socket_types[i], NULL, NULL);
    assert_int_equal(evalue_ipc_send(&p.a, v, 2), EVALUE_OK);
    assert_int_equal(evalue_ipc_send_message(&p.a, large, LARGE), EVALUE_OK);
    assert_int_equal(evalue_ipc_receive(&p.b, &m), EVALUE_OK);
    check_message(&m, encoded, nbytes, EVALUE_IPC_SEALED);
    check_mapping(&m);
    assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
    expect_message(&p.b, large, LARGE, EVALUE_IPC_SEALED);
    close_pair(&p);
  }
}

/* Ends of pages are where bytes behind a message could be missing. */
static void test_sizes_around_pages(void **state) {
  (void)state;
  need_seals();
  const evalue_ipc_options options = {.carrier = EVALUE_IPC_SEALED};
  pair p;
  make_pair(&p, SOCK_SEQPACKET, &options, NULL);
  for (size_t n = 0; n<9000; n += n % 4096> 3950 || n % 4096 < 4 ? 1 : 131) {
    fill_bytes(large, n, n);
    assert_int_equal(evalue_ipc_send_message(&p.a, large, n), EVALUE_OK);
    expect_message(&p.b, large, n, EVALUE_IPC_SEALED);
  }
  close_pair(&p);
}

static void test_misuse(void **state) {
  (void)state;
  need_seals();
  evalue_ipc_sealed sealed, copy, zero = {0};
  evalue bad = evalue_from_bool(true);
  const evalue v = evalue_from_none();
  pair p;
  bad.bool_value = 2;
  make_pair(&p, SOCK_STREAM, NULL, NULL);
  assert_int_equal(evalue_ipc_seal(NULL, &v, 1, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_seal(&sealed, NULL, 1, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_seal(&sealed, &bad, 1, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_seal(&sealed, &v, 1, 3), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_seal(&sealed, &v, 1, 8192), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_send_sealed(&p.a, &sealed), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_sealed_close(&sealed), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_sealed_close(&zero), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_sealed_close(NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_seal(&sealed, &v, 1, 0), EVALUE_OK);
  copy = sealed;
  assert_int_equal(evalue_ipc_send_sealed(&p.a, &copy), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_sealed_close(&copy), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_send_sealed(&p.a, &sealed), EVALUE_OK);
  assert_int_equal(evalue_ipc_sealed_close(&sealed), EVALUE_OK);
  assert_int_equal(evalue_ipc_sealed_close(&sealed), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_send_sealed(&p.a, &sealed), EVALUE_MISUSE);
  close_pair(&p);
}

/* No descriptors, or no more bytes in a file: it is said, and nothing is left behind. */
static void test_no_descriptors(void **state) {
  (void)state;
  need_seals();
  if (is_emulated()) skip(); /* the emulator needs some itself */
  const evalue_ipc_options options = {.carrier = EVALUE_IPC_SEALED};
  struct rlimit old, none;
  evalue_ipc_sealed sealed;
  pair p;
  make_pair(&p, SOCK_STREAM, &options, NULL);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
  none = (struct rlimit){0, old.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  evalue_status sealing = evalue_ipc_seal(&sealed, NULL, 0, 0);
  evalue_status sending = evalue_ipc_send(&p.a, NULL, 0);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
  assert_int_equal(sealing, EVALUE_IO);
  assert_int_equal(sealed.system_error, EMFILE);
  assert_int_equal(evalue_ipc_sealed_close(&sealed), EVALUE_MISUSE);
  assert_int_equal(sending, EVALUE_IO);
  assert_int_equal(p.a.system_error, EMFILE);
  check_fault(&p.a, EVALUE_FAULT_SYSTEM_CALL, 0, 0, 0);
  check_works(&p.a, &p.b);
  close_pair(&p);
}

/* More bytes than a file may have: it is said, and no signal is raised. */
static void test_a_limit_on_files(void **state) {
  (void)state;
  need_seals();
  for (uint32_t carrier = EVALUE_IPC_POOL; carrier <= EVALUE_IPC_SEALED; carrier++) {
    const evalue_ipc_options options = {.carrier = carrier};
    struct rlimit old, small;
    pair p;
    make_pair(&p, SOCK_STREAM, &options, NULL);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){8192, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    evalue_status status = evalue_ipc_send_message(&p.a, large, 9000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, EVALUE_IO);
    assert_int_equal(p.a.system_error, EFBIG);
    check_works(&p.a, &p.b);
    close_pair(&p);
  }
}

/* A full socket: the descriptor has not gone, and can go later. */
static void test_a_full_socket(void **state) {
  (void)state;
  need_seals();
  const evalue_ipc_options options = {.carrier = EVALUE_IPC_SEALED, .stall_ms = 20};
  static uint8_t drained[4000];
  for (size_t i = 0; i < 2; i++) {
    evalue_ipc_sealed sealed;
    evalue_ipc_channel c;
    int peer = make_peer(&c, socket_types[i], &options);
    assert_int_equal(evalue_ipc_seal(&sealed, NULL, 0, 0), EVALUE_OK);
    while (send(c.fd, large, sizeof drained, MSG_DONTWAIT) > 0) continue;
    assert_int_equal(evalue_ipc_send_sealed(&c, &sealed), EVALUE_TIMEOUT);
    check_fault(&c, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
    assert_int_equal(evalue_ipc_send(&c, NULL, 0), EVALUE_TIMEOUT);
    while (recv(peer, drained, sizeof drained, MSG_DONTWAIT) > 0) continue;
    assert_int_equal(evalue_ipc_send_sealed(&c, &sealed), EVALUE_OK);
    close(get_frame(peer, SEALED, 24, 0));
    assert_int_equal(evalue_ipc_sealed_close(&sealed), EVALUE_OK);
    close_peer(&c, peer);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ipc_test(test_what_the_peer_gets), ipc_test(test_sealed_once_sent_often), ipc_test(test_whatever_the_options),
      ipc_test(test_larger_than_a_slot), ipc_test(test_sizes_around_pages),     ipc_test(test_misuse),
      ipc_test(test_no_descriptors),     ipc_test(test_a_limit_on_files),       ipc_test(test_a_full_socket),
  };
  return cmocka_run_group_tests_name("sealed", tests, begin_group, NULL);
}
