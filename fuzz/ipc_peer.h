/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hostile peer of fuzz_ipc.c: the other end of a socket pair, descriptors of every kind, memory that it changes. It
 * remembers what it has sent.
 */
#ifndef FUZZ_IPC_PEER_H
#define FUZZ_IPC_PEER_H

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "values.h"

#include "evalue/ipc.h"

enum {
  FRAME = 24,
  INLINE = 1,
  SLOT = 2,
  SEALED = 3,
  POOL = 4,
  BEHIND = 128,
  CONTROL = 65536, /* bytes of a pool before its slots */
  MOST_SENT = 1 << 16,
  MOST_SENDS = 256,
  MOST_MEMORIES = 4,
  MOST_DESCRIPTORS = 253, /* that one sendmsg takes */
  STEADY = F_SEAL_SHRINK | F_SEAL_GROW,
  HARD = STEADY | F_SEAL_WRITE
};

/* What went out with one sendmsg. */
typedef struct sent {
  size_t begin, end;
  size_t descriptors;
  int first; /* of them: a copy of it; -1: none */
} sent;

/* How far the receiver is. */
typedef struct place {
  size_t at;   /* bytes of a stream */
  size_t next; /* the sent that comes next */
} place;

typedef struct peer {
  int fd; /* non-blocking; -1 once it is closed */
  bool is_packets, is_over, may_be_reset;
  bool is_shared; /* the end itself was sent, so that closing it does not end the connection */
  uint8_t *bytes; /* that it has sent */
  size_t nbytes;
  sent sends[MOST_SENDS];
  size_t n;
  place place;
  int memories[MOST_MEMORIES]; /* -1: none yet */
  int pool;                    /* the memory that was offered last */
  uint64_t pool_nbytes;        /* of a slot */
} peer;

/* ---- descriptors --------------------------------------------------------------------------------------------- */

enum { STILL = 9 }; /* those that can be used again and again */

/* Descriptors that are no memory of a sealable kind, or none that can be read. */
static int still[STILL];
static struct stat huge; /* of the last one */

static void open_still(void) {
  int pipes[2], sockets[2];
  if (pipe(pipes) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) abort();
  close(sockets[1]);
  still[0] = pipes[0];
  still[1] = pipes[1];
  still[2] = sockets[0]; /* its other end is closed */
  still[3] = open("/", O_RDONLY | O_DIRECTORY);
  still[4] = open("/dev/null", O_RDWR);
  still[5] = open("/proc/self/exe", O_RDONLY);
  still[6] = open("/dev/shm", O_TMPFILE | O_RDWR, 0600); /* tmpfs, and yet it cannot be sealed */
  if (still[6] < 0 || ftruncate(still[6], 1 << 20) != 0) still[6] = open("/dev/zero", O_RDWR);
  still[7] = open("/proc/self/exe", O_PATH);
  still[8] = memfd_create("huge", MFD_ALLOW_SEALING | MFD_HUGETLB);
  if (still[8] < 0 || fcntl(still[8], F_ADD_SEALS, STEADY) != 0) still[8] = open("/dev/full", O_WRONLY);
  for (int i = 0; i < STILL; i++) FUZZ_CHECK(still[i] >= 0);
  FUZZ_CHECK(fstat(still[STILL - 1], &huge) == 0);
}

/* The same memory, opened anew for reading only, or writing only. */
static int reopen(int fd, int flags) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int other = open(path, flags | O_CLOEXEC);
  if (other < 0) return fd;
  close(fd);
  return other;
}

static void write_at(int fd, const void *data, size_t nbytes, uint64_t at) {
  if (at <= INT64_MAX && pwrite(fd, data, nbytes, (off_t)at) < 0) return; /* sealed, perhaps */
}

/* ---- numbers that are right, mostly -------------------------------------------------------------------------- */

static uint64_t bend(fuzz_source *source, uint64_t right) {
  static const uint64_t others[] = {0,
                                    1,
                                    64,
                                    65,
                                    4096,
                                    1 << 16,
                                    1 << 20,
                                    1 << 30,
                                    (1 << 30) + 1,
                                    UINT64_C(1) << 48,
                                    (UINT64_C(1) << 48) + 1,
                                    UINT64_C(1) << 58,
                                    UINT64_C(1) << 63,
                                    UINT64_MAX - BEHIND,
                                    UINT64_MAX};
  enum { OTHERS = sizeof others / sizeof others[0] };
  uint8_t choice = fuzz_take(source);
  if (choice < 200) return right;
  if (choice < 210) return right - 1;
  if (choice < 220) return right + 1;
  if (choice < 230) return right + fuzz_take_number(source, 1) - 128;
  if (choice < 230 + OTHERS) return others[choice - 230];
  return fuzz_take_number(source, 8);
}

static uint64_t stride_of(uint64_t nbytes) {
  return (nbytes + BEHIND + 4095) / 4096 * 4096;
}

/* ---- sending ------------------------------------------------------------------------------------------------- */

static void remember(peer *p, const void *data, size_t nbytes, const int *fds, size_t n) {
  sent *s = &p->sends[p->n];
  if (nbytes == 0 && !p->is_packets) return; /* nothing of it goes */
  *s = (sent){p->nbytes, p->nbytes + nbytes, n, -1};
  if (nbytes != 0) memcpy(p->bytes + p->nbytes, data, nbytes);
  p->nbytes += nbytes;
  if (n != 0) s->first = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
  FUZZ_CHECK(n == 0 || s->first >= 0);
  p->n++;
}

static void put(peer *p, const void *data, size_t nbytes, const int *fds, size_t n) {
  union {
    struct cmsghdr head;
    uint8_t bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
  } control;
  union {
    const void *from;
    void *to;
  } data_of = {data};
  struct iovec list = {data_of.to, nbytes};
  struct msghdr message = {.msg_iov = &list, .msg_iovlen = 1};
  if (p->fd < 0 || p->n == MOST_SENDS || MOST_SENT - p->nbytes < nbytes) return;
  if (n != 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(n * sizeof(int));
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(head), fds, n * sizeof(int));
  }
  ssize_t some = sendmsg(p->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (some >= 0) remember(p, data, (size_t)some, fds, n);
}

static int any_descriptor(peer *p, fuzz_source *source) {
  uint8_t choice = fuzz_take(source);
  int fd = p->memories[choice % MOST_MEMORIES];
  if (choice >= 128 && fd >= 0) return fd;
  if (choice != 127 || p->fd < 0) return still[choice % STILL];
  p->is_shared = true;
  return p->fd;
}

/* Those that belong there, mostly: one that is right, or none (-1). */
static size_t take_descriptors(peer *p, fuzz_source *source, int right, int *fds) {
  static const uint8_t counts[] = {0, 1, 2, 3, 10, 124, 125, MOST_DESCRIPTORS};
  uint8_t choice = fuzz_take(source);
  fds[0] = right;
  if (choice < 208) return right >= 0 ? 1 : 0;
  size_t n = counts[choice % sizeof counts];
  if (choice < 224 && right < 0) n = 1;
  for (size_t i = choice >= 240 && right >= 0 ? 1 : 0; i < n; i++) fds[i] = any_descriptor(p, source);
  return n;
}

/* Sends a frame, and what follows it: whole, in two pieces, or only the first of them. */
static void put_frame(peer *p, fuzz_source *source, uint8_t kind, uint64_t nbytes, uint64_t number, int right,
                      const fuzz_bytes *content) {
  uint8_t all[FRAME + 8192] = {'E', 'V', 'I', 'P', 1, kind};
  int fds[MOST_DESCRIPTORS];
  size_t size = FRAME, first;
  evalue_store_u64(all + 8, nbytes);
  evalue_store_u64(all + 16, number);
  if (content != NULL) memcpy(all + FRAME, content->data, content->size);
  if (content != NULL) size += content->size;
  uint8_t bent = fuzz_take(source), cut = fuzz_take(source);
  if (bent >= 224) all[bent % FRAME] ^= fuzz_take(source);
  if (bent == 223) size += fuzz_take(source);
  size_t n = take_descriptors(p, source, right, fds);
  first = cut >= 200 ? (size_t)fuzz_take_number(source, 2) % (size + 1) : size;
  bool is_late = cut >= 200 && cut % 2 != 0; /* the descriptors go with the second piece */
  put(p, all, first, fds, is_late ? 0 : n);
  if (cut < 240 && first < size) put(p, all + first, size - first, fds, is_late ? n : 0);
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

/* New memory, mostly of the size and with the seals that are right. Returns its descriptor. */
static int make_memory(peer *p, fuzz_source *source, uint64_t size, int seals, const fuzz_bytes *content) {
  uint8_t which = fuzz_take(source), kind = fuzz_take(source);
  int *memory = &p->memories[which % MOST_MEMORIES];
  if (*memory >= 0) close(*memory);
  *memory = memfd_create("peer", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  FUZZ_CHECK(*memory >= 0);
  size = bend(source, size);
  if (ftruncate(*memory, (off_t)(size & INT64_MAX)) != 0) size = 0;
  if (content != NULL && content->size <= size) write_at(*memory, content->data, content->size, 0);
  if (kind >= 200 && kind < 240) seals ^= 1 << kind % 5;
  if (kind >= 240 && kind < 246) seals = fuzz_take(source) & 0x1f;
  if (kind == 247 || kind == 249) seals = 0;
  (void)fcntl(*memory, F_ADD_SEALS, seals);
  if (kind == 246 || kind == 247) *memory = reopen(*memory, O_RDONLY);
  if (kind == 248 || kind == 249) *memory = reopen(*memory, O_WRONLY);
  return *memory;
}

/* Changes memory in any way that its seals leave, bytes or size. */
static void change_memory(peer *p, fuzz_source *source) {
  uint8_t choice = fuzz_take(source);
  int fd = p->memories[choice % MOST_MEMORIES];
  uint64_t at = fuzz_take_number(source, 1) * 8, number = fuzz_take_number(source, 4);
  if (fd < 0) return;
  if (choice % 3 == 0) at += CONTROL;
  bool is_done = true;
  switch (choice / 4 % 8) {
    case 0: is_done = ftruncate(fd, (off_t)(at * 512)) == 0; break;
    case 1: is_done = ftruncate(fd, 0) == 0; break;
    case 2: is_done = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, CONTROL * 2) == 0; break;
    case 3: is_done = fcntl(fd, F_ADD_SEALS, (int)(number & 0x1f)) == 0; break;
    default: write_at(fd, &number, 1 + number % 4, at); break;
  }
  (void)is_done; /* or it is sealed */
}

static uint32_t word_at(int fd, uint64_t at) {
  uint32_t word = 0;
  return pread(fd, &word, sizeof word, (off_t)at) == (ssize_t)sizeof word ? word : 0;
}

/* ---- beginning and end --------------------------------------------------------------------------------------- */

static void peer_open(peer *p, int fd, bool is_packets) {
  static uint8_t bytes[MOST_SENT];
  p->bytes = bytes;
  p->fd = fd;
  p->is_packets = is_packets;
  p->is_over = p->may_be_reset = p->is_shared = false;
  p->nbytes = p->n = 0;
  p->place = (place){0, 0};
  for (int i = 0; i < MOST_MEMORIES; i++) p->memories[i] = -1;
  p->pool = -1;
  p->pool_nbytes = 0;
}

/* After that nothing comes any more. What the peer has not read is lost, and then the system may say "reset". */
static void peer_leave(peer *p, int how) {
  uint8_t one;
  if (p->fd < 0) return;
  if (how != SHUT_RD) p->is_over = true;
  if (p->is_shared && how > SHUT_RDWR) how = SHUT_RDWR;
  if (how <= SHUT_RDWR) {
    shutdown(p->fd, how);
    return;
  }
  if (recv(p->fd, &one, 1, MSG_PEEK | MSG_DONTWAIT) > 0) p->may_be_reset = true;
  close(p->fd);
  p->fd = -1;
}

static void peer_close(peer *p) {
  if (p->fd >= 0) close(p->fd);
  for (size_t i = 0; i < p->n; i++) {
    if (p->sends[i].first >= 0) close(p->sends[i].first);
  }
  for (int i = 0; i < MOST_MEMORIES; i++) {
    if (p->memories[i] >= 0) close(p->memories[i]);
  }
  if (p->pool >= 0) close(p->pool);
}

/* ---- messages that the peer makes ---------------------------------------------------------------------------- */

static void take_values(fuzz_source *source, fuzz_values *values) {
  memset(values, 0, sizeof *values);
  size_t n = fuzz_take(source) % 4U;
  for (size_t i = 0; i < n; i++) fuzz_take_value(source, values);
}

static fuzz_bytes encode(const fuzz_values *values, uint32_t alignment) {
  uint64_t size = 0;
  FUZZ_CHECK(evalue_message_size(values->values, values->n, alignment, &size) == EVALUE_OK);
  fuzz_bytes bytes = fuzz_new((size_t)size, 0);
  FUZZ_CHECK(evalue_message_encode(values->values, values->n, alignment, bytes.data, bytes.size, &size) == EVALUE_OK);
  return bytes;
}

/* A message, good or nearly so, or any bytes. */
static fuzz_bytes take_content(fuzz_source *source) {
  enum { MOST = 7900 };
  fuzz_values values;
  uint8_t choice = fuzz_take(source);
  if (choice >= 192) {
    fuzz_bytes any = fuzz_new(choice - 192U, 0);
    for (size_t i = 0; i < any.size; i++) any.data[i] = fuzz_take(source);
    return any;
  }
  take_values(source, &values);
  fuzz_bytes bytes = encode(&values, 1U << choice % 8);
  fuzz_free_values(&values);
  if (choice >= 128 && bytes.size != 0) bytes.data[fuzz_take_number(source, 2) % bytes.size] ^= fuzz_take(source);
  if (bytes.size > MOST) bytes.size = MOST;
  return bytes;
}

static void peer_sends_bytes(peer *p, fuzz_source *source) {
  uint8_t bytes[64];
  int fds[MOST_DESCRIPTORS];
  size_t n = fuzz_take(source) % (sizeof bytes + 1);
  for (size_t i = 0; i < n; i++) bytes[i] = fuzz_take(source);
  size_t count = take_descriptors(p, source, -1, fds);
  put(p, bytes, n, fds, count);
}

static void peer_sends_inline(peer *p, fuzz_source *source) {
  fuzz_bytes content = take_content(source);
  uint64_t nbytes = bend(source, content.size), number = bend(source, 0);
  put_frame(p, source, INLINE, nbytes, number, -1, &content);
  fuzz_free(&content);
}

static void peer_sends_memory(peer *p, fuzz_source *source) {
  fuzz_bytes content = take_content(source);
  uint64_t nbytes = bend(source, content.size);
  int fd = make_memory(p, source, nbytes + BEHIND, HARD, &content);
  put_frame(p, source, SEALED, nbytes, bend(source, 0), fd, NULL);
  fuzz_free(&content);
}

/* Memory that was used before, whatever it has become. */
static void peer_sends_memory_again(peer *p, fuzz_source *source) {
  int fd = p->memories[fuzz_take(source) % MOST_MEMORIES];
  uint64_t nbytes = bend(source, 100);
  put_frame(p, source, SEALED, nbytes, 0, fd, NULL);
}

static void peer_offers_pool(peer *p, fuzz_source *source) {
  static const uint64_t sizes[] = {4096, 100, 8000, 3968};
  uint64_t nbytes = bend(source, sizes[fuzz_take(source) % 4]);
  uint64_t slots = bend(source, 1 + fuzz_take(source) % 4U);
  int fd = make_memory(p, source, CONTROL + slots * stride_of(nbytes), STEADY, NULL);
  put_frame(p, source, POOL, nbytes, slots, fd, NULL);
  if (p->pool >= 0) close(p->pool);
  p->pool = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  p->pool_nbytes = nbytes;
}

static void peer_sends_slot(peer *p, fuzz_source *source) {
  fuzz_bytes content = take_content(source);
  uint64_t slot = bend(source, fuzz_take(source) % 4U), nbytes = bend(source, content.size);
  uint64_t at = CONTROL + slot * stride_of(p->pool_nbytes);
  if (p->pool >= 0 && at < CONTROL * 4) write_at(p->pool, content.data, content.size, at);
  put_frame(p, source, SLOT, nbytes, slot, -1, NULL);
  fuzz_free(&content);
}

static void peer_leaves(peer *p, fuzz_source *source) {
  static const int ways[] = {SHUT_WR, SHUT_RD, SHUT_RDWR, SHUT_RDWR + 1};
  peer_leave(p, ways[fuzz_take(source) % 4]);
}

#endif
