/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of passing messages share: two channels in one process, or a channel and a peer that is played by raw
 * bytes and descriptors; and that no test leaves a descriptor or a mapping behind.
 */
#ifndef TESTS_IPC_SUPPORT_H
#define TESTS_IPC_SUPPORT_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "evalue/evalue.h"
#include "msan_stat.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#if defined(__has_feature)
#if __has_feature(memory_sanitizer) || __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#endif

static inline bool is_emulated(void) {
  return getenv("EVALUE_EMULATED") != NULL;
}

/* ---- what is left behind ---- */

typedef struct stock {
  size_t fds, shared;
  uint64_t mapped; /* bytes, but for heap and stack; sanitizers and emulators have mappings of their own */
} stock;

static stock stock_before;

static inline stock stock_now(void) {
  stock now = {0, 0, 0};
  char line[512];
  DIR *fds = opendir("/proc/self/fd");
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(fds);
  assert_non_null(maps);
  while (readdir(fds) != NULL) now.fds++;
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long long start, end;
    if (sscanf(line, "%llx-%llx", &start, &end) != 2) continue;
    now.shared += strstr(line, "memfd:") != NULL;
    if (strstr(line, "[heap]") == NULL && strstr(line, "[stack]") == NULL) now.mapped += end - start;
  }
  fclose(maps);
  closedir(fds);
#ifdef IS_SANITIZED
  now.mapped = 0;
#endif
  if (is_emulated()) now.mapped = 0;
  return now;
}

static inline int take_stock(void **state) {
  (void)state;
  stock_before = stock_now();
  return 0;
}

static inline int check_stock(void **state) {
  (void)state;
  stock now = stock_now();
  if (now.fds == stock_before.fds && now.shared == stock_before.shared && now.mapped == stock_before.mapped) return 0;
  print_error("left behind: %d descriptors, %d shared mappings, %lld mapped bytes\n",
              (int)now.fds - (int)stock_before.fds, (int)now.shared - (int)stock_before.shared,
              (long long)(now.mapped - stock_before.mapped));
  return -1;
}

#define ipc_test(f) cmocka_unit_test_setup_teardown(f, take_stock, check_stock)

static inline void *do_nothing(void *context) {
  return context;
}

/* A hang ends the program. Two threads are run, since what libc keeps of them is kept. */
static inline int begin_group(void **state) {
  (void)state;
  pthread_t threads[2];
  alarm(120);
  mallopt(M_ARENA_MAX, 1);
  for (size_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, do_nothing, NULL);
  for (size_t i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return evalue_log_configure("none", NULL, 0) == EVALUE_OK ? 0 : -1; /* a hostile peer is worth a warning each time */
}

/* ---- channels and peers ---- */

static const int socket_types[] = {SOCK_STREAM, SOCK_SEQPACKET};

typedef struct pair {
  evalue_ipc_channel a, b;
} pair;

static inline void make_pair(pair *p, int type, const evalue_ipc_options *a, const evalue_ipc_options *b) {
  int fds[2];
  assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds), 0);
  assert_int_equal(evalue_ipc_init(&p->a, fds[0], a), EVALUE_OK);
  assert_int_equal(evalue_ipc_init(&p->b, fds[1], b), EVALUE_OK);
}

static inline void close_pair(pair *p) {
  assert_int_equal(evalue_ipc_close(&p->a), EVALUE_OK);
  assert_int_equal(evalue_ipc_close(&p->b), EVALUE_OK);
}

/* A channel, and a socket whose other end it is. */
static inline int make_peer(evalue_ipc_channel *c, int type, const evalue_ipc_options *options) {
  int fds[2];
  assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds), 0);
  assert_int_equal(evalue_ipc_init(c, fds[0], options), EVALUE_OK);
  return fds[1];
}

static inline void close_peer(evalue_ipc_channel *c, int peer) {
  if (peer >= 0) close(peer);
  assert_int_equal(evalue_ipc_close(c), EVALUE_OK);
}

/* ---- raw frames ---- */

enum { FRAME = 24, INLINE = 1, SLOT = 2, SEALED = 3, POOL = 4, MOST_FDS = 253 };

static inline void make_frame(uint8_t frame[FRAME], uint8_t carrier, uint64_t nbytes, uint64_t place) {
  memcpy(frame, "EVIP\x01", 5);
  frame[5] = carrier;
  frame[6] = frame[7] = 0;
  for (int i = 0; i < 8; i++) {
    frame[8 + i] = (uint8_t)(nbytes >> 8 * i);
    frame[16 + i] = (uint8_t)(place >> 8 * i);
  }
}

static inline void put_raw(int peer, const void *data, size_t n, const int *fds, size_t count) {
  union {
    struct cmsghdr head;
    uint8_t bytes[CMSG_SPACE(MOST_FDS * sizeof(int))];
  } control;
  struct iovec list = {.iov_len = n};
  memcpy(&list.iov_base, &data, sizeof data);
  struct msghdr message = {.msg_iov = &list, .msg_iovlen = 1};
  if (count != 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
  }
  assert_int_equal(sendmsg(peer, &message, MSG_NOSIGNAL), n);
}

static inline void put_frame(int peer, uint8_t carrier, uint64_t nbytes, uint64_t place, int fd) {
  uint8_t frame[FRAME];
  make_frame(frame, carrier, nbytes, place);
  put_raw(peer, frame, FRAME, &fd, fd >= 0);
}

/* Takes n bytes, or a packet of them, with at most one descriptor, which is returned; -1 for none. */
static inline int get_raw(int peer, void *data, size_t n) {
  union {
    struct cmsghdr head;
    uint8_t bytes[CMSG_SPACE(4 * sizeof(int))];
  } control;
  int fd = -1;
  for (size_t at = 0; at < n;) {
    struct iovec list = {.iov_base = (uint8_t *)data + at, .iov_len = n - at};
    struct msghdr message = {
        .msg_iov = &list, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(peer, &message, MSG_CMSG_CLOEXEC);
    assert_true(got > 0 && (message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) == 0);
    if (message.msg_controllen != 0) {
      assert_int_equal(control.head.cmsg_len, CMSG_LEN(sizeof fd));
      assert_true(fd < 0 && at == 0);
      memcpy(&fd, CMSG_DATA(&control.head), sizeof fd);
    }
    at += (size_t)got;
  }
  return fd;
}

/* Takes a frame, which has to be this one, and the descriptor that came with it. */
static inline int get_frame(int peer, uint8_t carrier, uint64_t nbytes, uint64_t place) {
  uint8_t expected[FRAME], frame[FRAME];
  make_frame(expected, carrier, nbytes, place);
  int fd = get_raw(peer, frame, FRAME);
  assert_memory_equal(frame, expected, FRAME);
  return fd;
}

/* ---- memory ---- */

/* Skips the test where an emulator cannot seal memory; elsewhere it has to be possible. */
static inline void need_seals(void) {
  int fd = memfd_create("evalue-test", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  bool can_seal = fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0 && fcntl(fd, F_GET_SEALS) == F_SEAL_SHRINK;
  if (fd >= 0) close(fd);
  if (!can_seal && is_emulated()) skip();
  assert_true(can_seal);
}

static inline int make_memory(uint64_t nbytes, int seals) {
  int fd = memfd_create("evalue-test", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(ftruncate(fd, (off_t)nbytes), 0);
  assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
  return fd;
}

enum { ALL_SEALS = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK, POOL_SEALS = F_SEAL_GROW | F_SEAL_SHRINK };
enum { CONTROL = 65536, FREED = 0, WAITING = 64, WORDS = 128, STRIDE = 64 };

static inline uint64_t slot_stride(uint64_t slot_nbytes) {
  return (slot_nbytes + 128 + 4095) / 4096 * 4096;
}

/* A pool as a peer has it: mapped for writing. */
typedef struct raw_pool {
  uint8_t *memory;
  size_t size;
  uint64_t stride;
  int fd;
} raw_pool;

static inline void map_pool(raw_pool *pool, int fd, uint32_t slots, uint64_t slot_nbytes) {
  pool->fd = fd;
  pool->stride = slot_stride(slot_nbytes);
  pool->size = (size_t)(CONTROL + slots * pool->stride);
  void *memory = mmap(NULL, pool->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  assert_true(memory != MAP_FAILED);
  pool->memory = (uint8_t *)memory;
}

static inline void make_pool(raw_pool *pool, uint32_t slots, uint64_t slot_nbytes) {
  map_pool(pool, make_memory(CONTROL + slots * slot_stride(slot_nbytes), POOL_SEALS), slots, slot_nbytes);
}

static inline void close_pool(raw_pool *pool) {
  munmap(pool->memory, pool->size);
  close(pool->fd);
}

static inline uint8_t *slot_of(const raw_pool *pool, uint32_t slot) {
  return pool->memory + CONTROL + slot * pool->stride;
}

static inline _Atomic uint32_t *word_of(uint8_t *control, uint32_t at) {
  return (_Atomic uint32_t *)(void *)(control + at);
}

/* The permissions, like "r--s", of the mapping that has this byte. */
static inline void permissions_of(const void *p, char permissions[5]) {
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  strcpy(permissions, "?");
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long long start, end;
    char found[5];
    if (sscanf(line, "%llx-%llx %4s", &start, &end, found) != 3) continue;
    if ((uintptr_t)p >= start && (uintptr_t)p < end) memcpy(permissions, found, 5);
  }
  fclose(maps);
}

/* ---- values and messages ---- */

enum { VALUES = 10 };

static inline void fill_bytes(uint8_t *p, size_t n, size_t seed) {
  for (size_t i = 0; i < n; i++) p[i] = (uint8_t)(1 + (seed * 31 + i * 7) % 250);
}

static inline evalue tensor_of(uint32_t scalar_type, size_t ndim, const int32_t *sizes, const void *data, size_t n) {
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, scalar_type, ndim, sizes, data, n), EVALUE_OK);
  return evalue_from_tensor(&t);
}

/* One of everything, also what has no payload. */
static inline void make_values(evalue values[VALUES]) {
  static const uint8_t data[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0xff};
  static const int32_t sizes[] = {2, 3, 0}, empty[] = {2, 0, 3};
  values[0] = evalue_from_none();
  values[1] = evalue_from_bool(true);
  values[2] = tensor_of(EVALUE_FLOAT32, 2, sizes, data, 24);
  values[3] = evalue_from_int(INT64_MIN);
  values[4] = evalue_from_string("h\xc3\xa9\0!", 5);
  values[5] = tensor_of(EVALUE_COMPLEX128, 0, NULL, data, 16);
  values[6] = evalue_from_string(NULL, 0);
  values[7] = evalue_from_double(-0.0);
  values[8] = tensor_of(EVALUE_INT64, 3, empty, NULL, 0);
  values[9] = tensor_of(EVALUE_UINT8, 2, sizes, data + 1, 6);
}

/* A tensor of n bytes. */
static inline evalue bytes_value(const uint8_t *data, size_t n) {
  const int32_t size = (int32_t)n;
  return tensor_of(EVALUE_UINT8, 1, &size, data, n);
}

static inline void check_message(const evalue_ipc_message *m, const void *bytes, size_t nbytes, uint32_t carrier) {
  const volatile uint8_t *behind = m->data + nbytes;
  volatile uint8_t sum = 0;
  assert_int_equal(m->nbytes, nbytes);
  assert_int_equal((uintptr_t)m->data % 64, 0);
  if (nbytes != 0) assert_memory_equal(m->data, bytes, nbytes);
  for (size_t i = 0; i < 128; i++) sum = (uint8_t)(sum ^ behind[i]);
  assert_int_equal(m->carrier, carrier);
  if (carrier != EVALUE_IPC_POOL) assert_int_equal(m->is_constant, 1);
}

/* Receives a message that has to be this one, and gives it back. */
static inline void expect_message(evalue_ipc_channel *c, const void *bytes, size_t nbytes, uint32_t carrier) {
  evalue_ipc_message m;
  assert_int_equal(evalue_ipc_receive(c, &m), EVALUE_OK);
  assert_int_equal(c->error.status, EVALUE_OK);
  check_message(&m, bytes, nbytes, carrier);
  assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
  assert_null(m.channel);
}

/* Sends a small message from one channel to another, to see that both work. */
static inline void check_works(evalue_ipc_channel *from, evalue_ipc_channel *to) {
  static uint8_t bytes[64];
  evalue_ipc_message m;
  uint64_t nbytes;
  const evalue v = evalue_from_int(42);
  assert_int_equal(evalue_message_encode(&v, 1, from->options.alignment, bytes, sizeof bytes, &nbytes), EVALUE_OK);
  assert_int_equal(evalue_ipc_send(from, &v, 1), EVALUE_OK);
  assert_int_equal(from->error.status, EVALUE_OK);
  assert_int_equal(evalue_ipc_receive(to, &m), EVALUE_OK);
  assert_int_equal(m.nbytes, nbytes);
  assert_memory_equal(m.data, bytes, m.nbytes);
  assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
}

#endif
