/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a message costs from one process to another and back (an acknowledgement of one byte), every byte read, by each
 * carrier; and the same bytes by write and read through the same kind of socket. The sender is the parent, the receiver
 * a process of its own. Rounds are interleaved, figures are medians; nothing is asserted.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evalue/evalue.h"
#include "timing.h"

enum { INLINE, POOL, BUILT, SEALED, SOCKET, WAYS };

static const char *const names[WAYS] = {"inline", "pool, encoded into a slot", "pool, made in a slot (nothing copied)",
                                        "sealed, sent again (opened)", "write and read"};

static void stop(const char *what) {
  perror(what);
  exit(1);
}

/* Reads every byte, as fast as memory gives them. */
static uint64_t sum(const uint8_t *data, size_t nbytes) {
  uint64_t total = 0, word;
  size_t i = 0;
  for (; i + 8 <= nbytes; i += 8) {
    memcpy(&word, data + i, 8);
    total += word;
  }
  for (; i < nbytes; i++) total += data[i];
  return total;
}

static void read_all(int fd, uint8_t *data, size_t nbytes) {
  for (size_t at = 0; at < nbytes;) {
    ssize_t n = read(fd, data + at, nbytes - at);
    if (n <= 0) stop("read");
    at += (size_t)n;
  }
}

static void write_all(int fd, const uint8_t *data, size_t nbytes) {
  for (size_t at = 0; at < nbytes;) {
    ssize_t n = write(fd, data + at, nbytes - at);
    if (n <= 0) stop("write");
    at += (size_t)n;
  }
}

/* ---- the receiver ---- */

/* Takes `times` messages, one way, and acknowledges each. A sealed one is only opened. */
static void receive_messages(evalue_ipc_channel *c, int plain, int way, uint8_t *buffer, size_t nbytes, int times) {
  static volatile uint64_t result;
  for (int i = 0; i < times; i++) {
    if (way == SOCKET) {
      read_all(plain, buffer, nbytes);
      result = sum(buffer, nbytes);
    } else {
      evalue_ipc_message m;
      if (evalue_ipc_receive(c, &m) != EVALUE_OK || m.nbytes != nbytes) stop("evalue_ipc_receive");
      result = way == SEALED ? m.data[0] : sum(m.data, m.nbytes);
      evalue_ipc_release(&m);
    }
    write_all(plain, (const uint8_t *)"!", 1);
  }
}

/* ---- the sender ---- */

typedef struct sender {
  evalue_ipc_channel channels[WAYS]; /* one for each carrier */
  int plain;
  evalue value;
  evalue_ipc_sealed sealed;
  uint8_t *encoded;
  size_t nbytes;
} sender;

static void send_one(sender *s, int way) {
  uint8_t answer;
  evalue_status status = EVALUE_OK;
  if (way == SOCKET) {
    write_all(s->plain, s->encoded, s->nbytes);
  } else if (way == SEALED) {
    status = evalue_ipc_send_sealed(&s->channels[way], &s->sealed);
  } else if (way == BUILT) {
    evalue shape = s->value;
    evalue_ipc_slot slot;
    void *place;
    shape.tensor.data = NULL;
    status = evalue_ipc_reserve(&s->channels[way], &shape, 1, &place, &slot);
    if (status == EVALUE_OK) status = evalue_ipc_send_slot(&s->channels[way], &slot);
  } else {
    status = evalue_ipc_send(&s->channels[way], &s->value, 1);
  }
  if (status != EVALUE_OK) stop(evalue_status_name((int32_t)status));
  read_all(s->plain, &answer, 1);
}

static double time_of(sender *s, int way, int times) {
  double start = now();
  for (int i = 0; i < times; i++) send_one(s, way);
  return (now() - start) / times;
}

/* Moves the process to the first or second core that the program may use; returns its number, -1 if that cannot be. */
static int stay_on(size_t which) {
  static cpu_set_t may;
  static bool is_known;
  cpu_set_t one;
  size_t seen = 0;
  if (!is_known && sched_getaffinity(0, sizeof may, &may) != 0) return -1;
  is_known = true;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &may) || seen++ != which) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 ? cpu : -1;
  }
  return -1;
}

static void compare(size_t data_size, int times, int type, size_t core) {
  int pairs[WAYS + 1][2]; /* a channel for each carrier; the last one carries plain bytes and all acknowledgements */
  static sender s;
  int32_t size = (int32_t)data_size;
  evalue_tensor t;
  for (int i = 0; i <= WAYS; i++) {
    if (socketpair(AF_UNIX, i == WAYS ? SOCK_STREAM : type, 0, pairs[i]) != 0) stop("socketpair");
  }
  uint8_t *data = malloc(data_size), *other = malloc(data_size + 4096);
  if (data == NULL || other == NULL) stop("malloc");
  memset(data, 7, data_size);
  memset(other, 7, data_size + 4096);
  evalue_tensor_init(&t, EVALUE_UINT8, 1, &size, data, data_size);
  s.value = evalue_from_tensor(&t);
  uint64_t nbytes;
  evalue_message_size(&s.value, 1, 64, &nbytes);
  s.nbytes = (size_t)nbytes;
  int theirs = stay_on(core), mine = stay_on(0);
  pid_t child = fork();
  if (child < 0) stop("fork");
  if (child == 0) {
    static evalue_ipc_channel channels[WAYS];
    evalue_ipc_options options = {.max_bytes = UINT64_C(1) << 32, .max_pool_bytes = UINT64_C(1) << 32};
    stay_on(core);
    for (int i = 0; i < WAYS; i++) evalue_ipc_init(&channels[i], pairs[i][1], &options);
    for (int round = -1; round < ROUNDS; round++) {
      for (int way = 0; way < WAYS; way++) {
        receive_messages(&channels[way], pairs[WAYS][1], way, other, s.nbytes, round < 0 ? 4 : times);
      }
    }
    _exit(0);
  }
  s.plain = pairs[WAYS][0];
  for (int i = 0; i < WAYS; i++) {
    evalue_ipc_options options = {.alignment = 64, .slot_nbytes = nbytes, .slots = 1};
    options.carrier = i == INLINE ? EVALUE_IPC_INLINE : i == SEALED ? EVALUE_IPC_SEALED : EVALUE_IPC_POOL;
    if (evalue_ipc_init(&s.channels[i], pairs[i][0], &options) != EVALUE_OK) stop("evalue_ipc_init");
  }
  s.encoded = malloc(s.nbytes);
  if (s.encoded == NULL || evalue_message_encode(&s.value, 1, 64, s.encoded, s.nbytes, &nbytes) != EVALUE_OK)
    stop("encode");
  if (evalue_ipc_seal(&s.sealed, &s.value, 1, 64) != EVALUE_OK) stop("evalue_ipc_seal");
  static double times_of[WAYS][ROUNDS];
  for (int round = -1; round < ROUNDS; round++) {
    for (int way = 0; way < WAYS; way++) {
      double t_one = time_of(&s, way, round < 0 ? 4 : times);
      if (round >= 0) times_of[way][round] = t_one;
    }
  }
  int status;
  waitpid(child, &status, 0);
  double base = median(times_of[SOCKET]);
  printf("%zu bytes, %s, sender on core %d, receiver on core %d\n", s.nbytes,
         type == SOCK_STREAM ? "stream" : "seqpacket", mine, theirs);
  for (int way = 0; way < WAYS; way++) {
    double m = median(times_of[way]);
    printf("  %-40s %10.2f us  %5.2f of write and read\n", names[way], m * 1e6, m / base);
  }
}

int main(void) {
  for (size_t core = 0; core < 2; core++) {
    compare(4000, 3000, SOCK_STREAM, core);
    compare(4000, 3000, SOCK_SEQPACKET, core);
    compare(600 * 1024, 200, SOCK_STREAM, core);
    compare(64 << 20, 3, SOCK_STREAM, core);
  }
  return 0;
}
