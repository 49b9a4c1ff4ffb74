/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One end of a connection, for test_ipc.py here and in tests/faults: does what its arguments say, one after the other.
 *
 *   OPTION=NUMBER             a member of evalue_ipc_options, for the channels that come
 *   connect=PATH listen=PATH listen-packets=PATH accept fd=NUMBER close stop-listening
 *   send=N receive=N          messages by number, checked (messages.h); reserve=N sends them made in slots
 *   exchange=N, answer=N      both ways, in bursts
 *   seal=K send-sealed=N      message K, sealed once
 *   hold=N                    receives N, keeps them, checks them again and releases them
 *   opaque=NBYTES             one message of that many bytes, each 'x'
 *   fill=NBYTES               such messages, until one fails
 *   take                      receives whatever comes until there is a failure
 *   serve=N                   accepts N connections, one after the other, and takes what comes
 *   step=N, decode=MS         reads a message while the peer changes it (changing.h)
 *   send-for=MS               sends for so long, and goes on after a timeout
 *   keep=N                    makes a message in a slot, waits for a line, sends N others, and then that one
 *   limit=NBYTES split=N      sends the first N messages' values in the fewest messages of that size (100,000 bytes)
 *   tries=N files=N from=N left wait loud
 *
 * A failure is a line "WHAT STATUS FAULT FIELD POSITION EXPECTED FOUND ERRNO"; the same call is tried again, tries
 * times in all. Exit status 1: something was received that was never sent, and stderr says what.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "changing.h"
#include "messages.h"
#include "watch.h"

enum { BURST = 3, MOST_HELD = 64, ALIGNED_TO = 64, MOST_OPAQUE = (1 << 24) + 1 };

static evalue_ipc_channel channel;
static evalue_ipc_listener listener;
static evalue_ipc_options options;
static evalue_ipc_sealed sealed;
static uint32_t next_out, next_in, sealed_number;
static uint64_t split_limit = EVALUE_BINDER_RPC_LIMIT;
static int tries = 1;
static unsigned pending; /* sockets that were inherited, and are no channel yet */
static uint8_t opaque[MOST_OPAQUE];
static bool is_loud;

static void say_failure(const char *what, evalue_status status, const evalue_error *error, int32_t number) {
  SAY("%s %s %s %s %llu %llu %llu %d\n", what, name_of(status), evalue_fault_name(error->fault),
      evalue_field_name(error->field), (unsigned long long)error->position, (unsigned long long)error->expected,
      (unsigned long long)error->found, number);
}

static evalue_status said(const char *what, evalue_status status) {
  if (status != EVALUE_OK) say_failure(what, status, &channel.error, channel.system_error);
  return status;
}

static void say_left(void) {
  unsigned shared;
  unsigned long kilobytes;
  count_mappings(&shared, &kilobytes);
  SAY("left %u %u %lu\n", count_descriptors() - pending, shared, kilobytes);
}

static void wait_for_line(void) {
  char c = 0;
  while (c != '\n' && read(0, &c, 1) == 1) {
  }
}

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- messages out ---- */

static void fill_places(const evalue *values, size_t n, void *const *places) {
  for (size_t i = 0; i < n; i++) {
    bool is_tensor = values[i].tag == EVALUE_TAG_TENSOR, is_string = values[i].tag == EVALUE_TAG_STRING;
    if (places[i] == NULL) {
      PROMISE(!(is_tensor && values[i].tensor.nbytes != 0) && !(is_string && values[i].string.nbytes != 0));
      continue;
    }
    if (is_tensor) memcpy(places[i], values[i].tensor.data, values[i].tensor.nbytes);
    else memcpy(places[i], values[i].string.data, values[i].string.nbytes);
  }
}

/* Makes message k in a slot of the pool. */
static evalue_status reserve(uint32_t k, evalue_ipc_slot *slot) {
  evalue values[MOST_VALUES], bare[MOST_VALUES];
  void *places[MOST_VALUES];
  size_t n = make_values(k, values);
  memcpy(bare, values, sizeof bare);
  for (size_t i = 0; i < n; i++) {
    if (bare[i].tag == EVALUE_TAG_TENSOR) bare[i].tensor.data = NULL;
    if (bare[i].tag == EVALUE_TAG_STRING) bare[i].string.data = NULL;
  }
  evalue_status status = evalue_ipc_reserve(&channel, bare, n, places, slot);
  if (status == EVALUE_OK) fill_places(values, n, places);
  return status;
}

/* Sends message k, made in a slot. Every fourth slot is given up once before. */
static evalue_status send_reserved(uint32_t k) {
  evalue_ipc_slot slot;
  evalue_status status = reserve(k, &slot);
  if (status == EVALUE_OK && k % 4 == 3) {
    PROMISE(evalue_ipc_cancel_slot(&channel, &slot) == EVALUE_OK);
    status = reserve(k, &slot);
  }
  if (status != EVALUE_OK) return status;
  status = evalue_ipc_send_slot(&channel, &slot);
  if (status != EVALUE_OK) evalue_ipc_cancel_slot(&channel, &slot);
  return status;
}

static evalue_status send_values(uint32_t k) {
  evalue values[MOST_VALUES];
  size_t n = make_values(k, values);
  return evalue_ipc_send(&channel, values, n);
}

static evalue_status send_again(uint32_t k) {
  (void)k;
  return evalue_ipc_send_sealed(&channel, &sealed);
}

static bool send_some(long count, evalue_status (*how)(uint32_t)) {
  for (long i = 0; i < count; i++) {
    evalue_status status = EVALUE_MISUSE;
    for (int try = 0; try < tries && status != EVALUE_OK; try++) status = said("send", how(next_out));
    if (status != EVALUE_OK) return false;
    if (is_loud) SAY("sent %u\n", (unsigned)next_out);
    next_out++;
  }
  return true;
}

/* Whatever the peer writes into shared memory, a slot that is reserved is nobody else's. */
static void keep(long count) {
  evalue_ipc_slot slot;
  if (said("send", reserve(next_out++, &slot)) != EVALUE_OK) return;
  say("kept\n");
  wait_for_line();
  send_some(count, send_values);
  said("send", evalue_ipc_send_slot(&channel, &slot));
}

static void seal(uint32_t k) {
  evalue values[MOST_VALUES];
  size_t n = make_values(k, values);
  for (int try = 0; try < tries; try++) {
    evalue_status status = evalue_ipc_seal(&sealed, values, n, 0);
    if (status == EVALUE_OK) break;
    SAY("seal %s %d\n", name_of(status), sealed.system_error);
  }
  sealed_number = k;
}

static void send_opaque(size_t nbytes) {
  PROMISE(nbytes <= sizeof opaque);
  memset(opaque, 'x', nbytes);
  for (int try = 0; try < tries; try++) {
    if (said("send", evalue_ipc_send_message(&channel, opaque, nbytes)) != EVALUE_OK) continue;
    SAY("sent %zu\n", nbytes);
    break;
  }
}

/* Sends until the other side takes no more. */
static void send_until_full(size_t nbytes) {
  unsigned long sent = 0;
  evalue_status status;
  PROMISE(nbytes <= sizeof opaque);
  memset(opaque, 'x', nbytes);
  while ((status = evalue_ipc_send_message(&channel, opaque, nbytes)) == EVALUE_OK) sent++;
  SAY("sent %lu\n", sent);
  said("send", status);
}

static void send_for(int64_t ms) {
  unsigned long sent = 0, late = 0;
  for (int64_t end = now_ms() + ms; now_ms() < end; next_out++) {
    evalue_status status = next_out % 2 != 0 ? send_reserved(next_out) : send_values(next_out);
    sent += status == EVALUE_OK;
    late += status == EVALUE_TIMEOUT;
    if (status != EVALUE_OK && status != EVALUE_TIMEOUT) {
      said("send", status);
      break;
    }
  }
  SAY("sent %lu late %lu\n", sent, late);
}

static void send_split(size_t messages) {
  static evalue values[MOST_HELD * MOST_VALUES];
  static size_t counts[MOST_HELD * MOST_VALUES];
  size_t n = 0, parts, index = 0;
  for (uint32_t k = 0; k < messages && k < MOST_HELD; k++) n += make_values(k, values + n);
  evalue_status status =
      evalue_message_split(values, n, 0, split_limit, counts, MOST_HELD * MOST_VALUES, &parts, &index);
  SAY("split %s %zu %zu\n", name_of(status), parts, index);
  for (size_t i = 0, first = 0; status == EVALUE_OK && i < parts; first += counts[i++]) {
    status = said("send", evalue_ipc_send(&channel, values + first, counts[i]));
  }
}

/* ---- messages in ---- */

static void check_place(const evalue_ipc_message *m) {
  volatile uint8_t sum = 0;
  PROMISE((uintptr_t)m->data % ALIGNED_TO == 0);
  for (size_t i = 0; i < EVALUE_IPC_BYTES_BEHIND; i++) sum = (uint8_t)(sum + m->data[m->nbytes + i]);
}

static void check_message(const evalue_ipc_message *m, uint32_t k) {
  evalue values[MOST_VALUES], expected[MOST_VALUES];
  uint64_t n;
  size_t expected_n = make_values(k, expected);
  PROMISE(evalue_message_decode(m->data, m->nbytes, NULL, values, MOST_VALUES, &n, NULL) == EVALUE_OK);
  PROMISE(n == expected_n);
  for (size_t i = 0; i < n; i++) PROMISE(evalue_equal(&values[i], &expected[i]));
  PROMISE(options.snapshot == 0 || m->is_constant != 0);
  PROMISE(m->is_constant != 0 || m->carrier == EVALUE_IPC_POOL);
  check_place(m);
}

static evalue_status receive_one(evalue_ipc_message *m) {
  evalue_status status = EVALUE_MISUSE;
  for (int try = 0; try < tries && status != EVALUE_OK; try++) {
    status = said("receive", evalue_ipc_receive(&channel, m));
    if (status != EVALUE_OK) PROMISE(evalue_ipc_release(m) == EVALUE_OK);
  }
  return status;
}

/* Receives a burst; while all are held they are checked, and then released, the first one last. */
static bool receive_burst(size_t count) {
  static evalue_ipc_message held[MOST_HELD];
  size_t got = 0;
  while (got < count && receive_one(&held[got]) == EVALUE_OK) got++;
  for (size_t i = 0; i < got; i++, next_in++) {
    check_message(&held[i], sealed_number != 0 ? sealed_number : next_in);
    if (is_loud) SAY("got %u %s\n", (unsigned)next_in, evalue_ipc_carrier_name(held[i].carrier));
  }
  if (got != 0) PROMISE(evalue_ipc_close(&channel) == EVALUE_MISUSE);
  for (size_t i = got; i-- > 0;) {
    PROMISE(evalue_ipc_release(&held[i]) == EVALUE_OK);
    PROMISE(evalue_ipc_release(&held[i]) == EVALUE_OK);
  }
  return got == count;
}

static void receive_some(long count) {
  for (long i = 0; i < count; i++) {
    if (!receive_burst(1)) return;
  }
}

static void exchange(long count, bool is_first) {
  for (long i = 0; i < count; i += BURST) {
    if (is_first && !send_some(BURST, i % 2 != 0 && options.carrier == EVALUE_IPC_POOL ? send_reserved : send_values)) {
      break;
    }
    if (!receive_burst(BURST)) break;
    if (!is_first && !send_some(BURST, send_values)) break;
  }
  SAY("sent %u received %u\n", (unsigned)next_out, (unsigned)next_in);
}

static void take(void) {
  evalue_ipc_message m;
  evalue_status status;
  while ((status = evalue_ipc_receive(&channel, &m)) == EVALUE_OK) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < m.nbytes; i++) hash = (hash ^ m.data[i]) * UINT64_C(0x100000001b3);
    check_place(&m);
    check_inside(m.data, m.nbytes);
    SAY("got %zu %s %u %016llx\n", m.nbytes, evalue_ipc_carrier_name(m.carrier), m.is_constant,
        (unsigned long long)hash);
    PROMISE(evalue_ipc_release(&m) == EVALUE_OK);
  }
  say_failure("end", status, &channel.error, channel.system_error);
  evalue_error first = channel.error;
  bool can_go_on = status == EVALUE_END || status == EVALUE_TIMEOUT;
  if (!can_go_on) PROMISE(evalue_ipc_receive(&channel, &m) == status);
  if (!can_go_on) PROMISE(memcmp(&first, &channel.error, sizeof first) == 0);
}

static void serve(long count) {
  for (long i = 0; i < count; i++) {
    if (said("accept", evalue_ipc_accept(&listener, &channel, &options)) != EVALUE_OK) return;
    take();
    PROMISE(evalue_ipc_close(&channel) == EVALUE_OK);
    say_left();
  }
}

/* ---- reading what changes ---- */

static void read_changing(long count, int64_t ms) {
  evalue_ipc_message m;
  for (long i = 0; i < count; i++) {
    if (said("receive", evalue_ipc_receive(&channel, &m)) != EVALUE_OK) return;
    if (ms == 0) step_through(m.data, m.nbytes, wait_for_line);
    for (int64_t end = now_ms() + ms; now_ms() < end;) read_inside(m.data, m.nbytes);
    PROMISE(evalue_ipc_release(&m) == EVALUE_OK);
  }
  SAY("read %lu whole %lu faults %lu\n", counted_values, counted_whole, counted_faults);
}

/* ---- what the arguments say ---- */

static const struct {
  const char *name;
  size_t at, size;
} members[] = {
#define MEMBER(name)                                                                                                   \
  { #name, offsetof(evalue_ipc_options, name), sizeof options.name }
    MEMBER(carrier),   MEMBER(alignment),      MEMBER(inline_limit), MEMBER(slots),   MEMBER(snapshot),
    MEMBER(max_bytes), MEMBER(max_pool_bytes), MEMBER(slot_nbytes),  MEMBER(idle_ms), MEMBER(stall_ms)};

static bool set_option(const char *name, unsigned long long number) {
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
    if (strcmp(name, members[i].name) != 0) continue;
    uint32_t narrow = (uint32_t)number;
    uint64_t wide = number;
    const void *from = members[i].size == sizeof wide ? (const void *)&wide : &narrow;
    memcpy((uint8_t *)&options + members[i].at, from, members[i].size);
    return true;
  }
  return false;
}

static void listen_at(const char *path, uint32_t is_packets) {
  evalue_status status = EVALUE_MISUSE;
  for (int try = 0; try < tries && status != EVALUE_OK; try++) {
    status = evalue_ipc_listen(&listener, path, is_packets);
    if (status != EVALUE_OK) SAY("listen %s %d\n", name_of(status), listener.system_error);
  }
  if (status == EVALUE_OK) say("listening\n");
}

static void open_channel(const char *what, const char *text, long number) {
  evalue_status status = EVALUE_MISUSE;
  for (int try = 0; try < tries && status != EVALUE_OK; try++) {
    if (strcmp(what, "connect") == 0) status = evalue_ipc_connect(&channel, text, &options);
    else if (strcmp(what, "accept") == 0) status = evalue_ipc_accept(&listener, &channel, &options);
    else status = evalue_ipc_init(&channel, (int)number, &options);
    if (strcmp(what, "fd") == 0 && status == EVALUE_OK) pending--;
    said(what, status);
  }
}

static bool is(const char *name, const char *other) {
  return strcmp(name, other) == 0;
}

static bool is_about_sending(const char *name, const char *text, long number) {
  (void)text;
  if (is(name, "send")) send_some(number, send_values);
  else if (is(name, "reserve")) send_some(number, send_reserved);
  else if (is(name, "seal")) seal((uint32_t)number);
  else if (is(name, "send-sealed")) send_some(number, send_again);
  else if (is(name, "unseal")) evalue_ipc_sealed_close(&sealed);
  else if (is(name, "opaque")) send_opaque((size_t)number);
  else if (is(name, "fill")) send_until_full((size_t)number);
  else if (is(name, "send-for")) send_for(number);
  else if (is(name, "keep")) keep(number);
  else if (is(name, "limit")) split_limit = (uint64_t)number;
  else if (is(name, "split")) send_split((size_t)number);
  else return false;
  return true;
}

static bool is_about_receiving(const char *name, const char *text, long number) {
  (void)text;
  if (is(name, "receive")) receive_some(number);
  else if (is(name, "hold")) receive_burst((size_t)number);
  else if (is(name, "expect")) sealed_number = (uint32_t)number;
  else if (is(name, "exchange")) exchange(number, true);
  else if (is(name, "answer")) exchange(number, false);
  else if (is(name, "take")) take();
  else if (is(name, "serve")) serve(number);
  else if (is(name, "step")) read_changing(number, 0);
  else if (is(name, "decode")) read_changing(1, number);
  else return false;
  return true;
}

static bool is_about_channels(const char *name, const char *text, long number) {
  if (is(name, "listen") || is(name, "listen-packets")) listen_at(text, name[strlen("listen")] == '-');
  else if (is(name, "connect") || is(name, "accept") || is(name, "fd")) open_channel(name, text, number);
  else if (is(name, "close")) SAY("close %s\n", name_of(evalue_ipc_close(&channel)));
  else if (is(name, "stop-listening")) evalue_ipc_stop_listening(&listener);
  else return false;
  return true;
}

static bool is_about_the_program(const char *name, const char *text, long number) {
  struct rlimit limit;
  if (is(name, "left")) say_left();
  else if (is(name, "wait")) wait_for_line();
  else if (is(name, "loud")) is_loud = true;
  else if (is(name, "tries")) tries = (int)number;
  else if (is(name, "files")) {
    PROMISE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = (rlim_t)number;
    PROMISE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  } else if (is(name, "from")) next_in = next_out = (uint32_t)number;
  else if (is(name, "say")) SAY("%s\n", text);
  else return false;
  return true;
}

int main(int argc, char **argv) {
  fill_pattern();
  if (evalue_log_configure("none", NULL, 0) != EVALUE_OK) return 3;
  for (int i = 1; i < argc; i++) pending += strncmp(argv[i], "fd=", 3) == 0;
  for (int i = 1; i < argc; i++) {
    char name[32] = "";
    const char *equals = strchr(argv[i], '='), *text = equals != NULL ? equals + 1 : "0";
    size_t size = equals != NULL ? (size_t)(equals - argv[i]) : strlen(argv[i]);
    if (size >= sizeof name) return 3;
    memcpy(name, argv[i], size);
    long number = strtol(text, NULL, 10);
    bool is_known = set_option(name, strtoull(text, NULL, 10)) || is_about_channels(name, text, number) ||
                    is_about_sending(name, text, number) || is_about_receiving(name, text, number) ||
                    is_about_the_program(name, text, number);
    if (!is_known) return 3;
  }
  return 0;
}
