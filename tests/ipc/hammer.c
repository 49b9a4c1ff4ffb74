/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peer that changes memory as fast as it can: hammer FD MS send|receive. As a sender it makes a pool, sends one
 * message in it, and rewrites the message's structure for so long. As a receiver it maps the other side's pool and
 * writes all over it, control words and data. It speaks the protocol by itself (spec/evalue-ipc.md).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "messages.h"

enum {
  FRAME = 24,
  CONTROL = 65536,
  SLOT_NBYTES = 8192,
  STRIDE = 12288,
  SLOT = 2,
  POOL = 4,
  POOL_SLOTS = 2,
  FLIPS = 1000
};

static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

static uint32_t random_below(uint32_t limit) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)((state >> 32) % limit);
}

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void send_frame(int to, uint8_t kind, uint64_t nbytes, uint64_t place, int fd) {
  uint8_t frame[FRAME] = {'E', 'V', 'I', 'P', 1, kind};
  union {
    struct cmsghdr head;
    uint8_t bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec list = {frame, sizeof frame};
  struct msghdr message = {.msg_iov = &list, .msg_iovlen = 1};
  evalue_store_u64(frame + 8, nbytes);
  evalue_store_u64(frame + 16, place);
  if (fd >= 0) {
    memset(&control, 0, sizeof control);
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
  }
  PROMISE(sendmsg(to, &message, MSG_NOSIGNAL) == FRAME);
}

/* A few values, and where the bytes of their structure are: all but payloads. */
static size_t make_message(uint8_t *message, uint32_t *places, uint32_t *count) {
  int32_t sizes[3] = {2, 3, 4}, flat[1] = {200};
  evalue_tensor a, b;
  PROMISE(evalue_tensor_init(&a, EVALUE_FLOAT32, 3, sizes, pattern, 96) == EVALUE_OK);
  PROMISE(evalue_tensor_init(&b, EVALUE_UINT8, 1, flat, pattern, 200) == EVALUE_OK);
  evalue values[] = {evalue_from_int(5), evalue_from_tensor(&a), evalue_from_string("some text", 9),
                     evalue_from_tensor(&b), evalue_from_bool(true)};
  uint8_t heads[512];
  evalue_slice slices[16];
  evalue_gather gather = {heads, sizeof heads, slices, 16, 0, 0, 0};
  PROMISE(evalue_message_gather(values, 5, 0, &gather) == EVALUE_OK);
  uint32_t at = 0;
  *count = 0;
  for (uint64_t i = 0; i < gather.slice_count; i++) {
    const uint8_t *from = slices[i].data;
    bool is_structure = from >= heads && from < heads + sizeof heads;
    memcpy(message + at, from, slices[i].size);
    for (uint32_t k = 0; is_structure && k < slices[i].size; k++) places[(*count)++] = at + k;
    at += (uint32_t)slices[i].size;
  }
  return at;
}

/* One change, and back again: in between the message is another one. */
static void change(volatile uint8_t *slot, const uint8_t *good, const uint32_t *places, uint32_t count) {
  static const uint8_t marks[] = {0, 1, 2, 3, 4, 5, 16, 17, 0x7f, 0x80, 0xff};
  uint32_t at = places[random_below(count)];
  uint32_t how = random_below(3), more = random_below(4);
  for (uint32_t i = at; i <= at + more; i++) {
    slot[i] = how == 0 ? marks[random_below(sizeof marks)] : (uint8_t)(how == 1 ? random_below(256) : good[i] + 1U);
  }
  for (uint32_t wait = random_below(200); wait > 0; wait--) __asm__ volatile("");
  for (uint32_t i = at; i <= at + more; i++) slot[i] = good[i];
  for (uint32_t wait = random_below(200); wait > 0; wait--) __asm__ volatile("");
}

static void hammer_as_sender(int to, int64_t ms) {
  uint8_t good[SLOT_NBYTES] = {0};
  uint32_t places[SLOT_NBYTES], count;
  size_t nbytes = make_message(good, places, &count), all = CONTROL + POOL_SLOTS * STRIDE;
  int fd = memfd_create("hammer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  PROMISE(fd >= 0 && ftruncate(fd, (off_t)all) == 0);
  uint8_t *memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  PROMISE(memory != MAP_FAILED && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
  memcpy(memory + CONTROL, good, nbytes);
  send_frame(to, POOL, SLOT_NBYTES, POOL_SLOTS, fd);
  send_frame(to, SLOT, nbytes, 0, -1);
  for (int64_t end = now_ms() + ms; now_ms() < end;) {
    for (int i = 0; i < FLIPS; i++) change(memory + CONTROL, good, places, count);
  }
}

/* Takes a frame if there is one; maps the memory that comes with it. */
static void take_frame(int from, uint8_t **memory, size_t *nbytes) {
  uint8_t frame[FRAME];
  union {
    struct cmsghdr head;
    uint8_t bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct stat status;
  struct iovec list = {frame, sizeof frame};
  struct msghdr message = {
      .msg_iov = &list, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  int fd;
  if (recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != FRAME || message.msg_controllen == 0) return;
  memcpy(&fd, CMSG_DATA(&control.head), sizeof fd);
  PROMISE(fstat(fd, &status) == 0);
  *nbytes = (size_t)status.st_size;
  *memory = mmap(NULL, *nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  PROMISE(*memory != MAP_FAILED);
  close(fd);
}

static void hammer_as_receiver(int from, int64_t ms) {
  uint8_t *memory = NULL;
  size_t nbytes = 0;
  for (int64_t end = now_ms() + ms; now_ms() < end;) {
    take_frame(from, &memory, &nbytes);
    for (int i = 0; memory != NULL && i < FLIPS; i++) {
      volatile uint8_t *words = memory;
      uint32_t word = random_below(10) * 64;
      words[word] = (uint8_t)random_below(3);
      words[word + random_below(4)] = (uint8_t)random_below(2);
      words[random_below((uint32_t)nbytes)] = (uint8_t)random_below(256);
      words[CONTROL + random_below(500)] = (uint8_t)random_below(256);
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 4) return 3;
  fill_pattern();
  int fd = (int)strtol(argv[1], NULL, 10);
  long ms = strtol(argv[2], NULL, 10);
  if (strcmp(argv[3], "send") == 0) hammer_as_sender(fd, ms);
  else hammer_as_receiver(fd, ms);
  return 0;
}
