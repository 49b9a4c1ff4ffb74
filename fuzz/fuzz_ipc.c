/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hostile peer: whatever it sends, a receiver says what the second one in ipc_receiver.h says, to the last field of
 * the error; messages are the peer's bytes, and stay; what is sent arrives; and nothing is left open or mapped.
 *
 * The first byte of an input: bit 0 packets, bit 1 a snapshot, bits 2 and 3 the largest message, bits 4 and 5 the
 * largest pool; a value above 223 of the second byte lets calls wait (a millisecond, twice at most). Then the sender's
 * options: carrier, and slots. The rest are actions, of the peer or of the library's side, with their decisions.
 */
#include <poll.h>

#include "evalue/log.h"
#include "ipc_receiver.h"

enum { MOST_HELD = 6, MOST_ACTIONS = 64, MOST_SLOTS = 4, MOST_PENDING = 64, MOST_SEEN = 4096, MOST_GOT = 1 << 18 };

/* A message that is not released yet. */
typedef struct held {
  evalue_ipc_message message;
  outcome from;
  uint32_t sum;
} held;

typedef struct scene {
  fuzz_source source;
  evalue_ipc_channel channel;
  peer peer;
  receiver receiver;
  held held[MOST_HELD];
  size_t n_held;
  int patience;  /* how often a call may still wait */
  bool is_tight; /* the socket takes little */
  evalue_ipc_slot slots[MOST_SLOTS];
  fuzz_bytes in_slots[MOST_SLOTS]; /* what is in a slot that is reserved */
  size_t n_slots;
  fuzz_bytes pending[MOST_PENDING]; /* messages that were sent, and did not arrive yet */
  size_t first_pending, n_pending;
  uint8_t *got; /* what the peer has read, n_got bytes, and how much of it is judged */
  size_t n_got, got_at;
  int fds[MOST_PENDING], n_fds;
  int pool; /* the library's, as the peer has it; -1: none */
  uint64_t pool_nbytes;
  bool is_scribbled; /* slots of that may be used again before the peer looks */
  bool is_punched;   /* or are empty */
} scene;

/* ---- errors -------------------------------------------------------------------------------------------------- */

static bool same_error(const evalue_error *a, const evalue_error *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

static void check_error(const evalue_ipc_channel *c, evalue_status status) {
  char text[512];
  const evalue_error *e = evalue_ipc_error(c);
  size_t length = evalue_print_error(e, text, sizeof text);
  FUZZ_CHECK(e->status == (int32_t)status && e->position <= FRAME && e->value_index == EVALUE_NO_INDEX);
  FUZZ_CHECK(length != 0 && length < sizeof text && strlen(text) == length && fuzz_is_text(text, length, false));
  FUZZ_CHECK(strcmp(evalue_fault_message(e->fault), "?") != 0 && (status == EVALUE_TRUNCATED) == (e->needed != 0));
  FUZZ_CHECK((status == EVALUE_IO) == (c->system_error != 0));
}

/* ---- receiving ----------------------------------------------------------------------------------------------- */

static size_t seen_of(const evalue_ipc_message *m) {
  return m->nbytes < MOST_SEEN ? m->nbytes : MOST_SEEN;
}

static uint32_t sum_of(const uint8_t *data, size_t nbytes) {
  uint32_t sum = 2166136261U;
  for (size_t i = 0; i < nbytes; i++) sum = (sum ^ data[i]) * 16777619U;
  return sum;
}

static volatile uint32_t touched; /* so that reading is not left out */

/* The message is what the peer has sent, where it says, and can be read to its end and behind. */
static void check_message(scene *s, const evalue_ipc_message *m, const outcome *o) {
  uint8_t seen[MOST_SEEN];
  size_t n = seen_of(m);
  FUZZ_CHECK(m->nbytes == o->nbytes && m->carrier == o->carrier && m->is_constant == (o->is_constant ? 1U : 0U));
  FUZZ_CHECK(((uintptr_t)m->data & 63) == 0 && m->channel == &s->channel);
  if (o->fd < 0) FUZZ_CHECK(n == 0 || memcmp(m->data, s->peer.bytes + o->at, n) == 0);
  else FUZZ_CHECK(pread(o->fd, seen, n, (off_t)o->at) == (ssize_t)n && memcmp(m->data, seen, n) == 0);
  size_t from = m->nbytes < BEHIND ? 0 : m->nbytes - BEHIND;
  touched = sum_of(m->data + from, m->nbytes - from + BEHIND);
}

static void check_given_back(const scene *s, uint64_t slot, uint32_t freed) {
  FUZZ_CHECK(word_at(s->receiver.pool, 0) == freed + 1);
  FUZZ_CHECK(word_at(s->receiver.pool, 128 + 64 * slot) == 0);
}

static void keep(scene *s, const evalue_ipc_message *m, const outcome *o, uint32_t freed) {
  check_message(s, m, o);
  if (m->carrier == EVALUE_IPC_POOL && m->is_constant != 0) check_given_back(s, o->number, freed);
  else if (m->carrier == EVALUE_IPC_POOL) s->receiver.held |= UINT64_C(1) << o->number;
  s->held[s->n_held++] = (held){*m, *o, sum_of(m->data, seen_of(m))};
  s->peer.place = o->place;
}

/* Says whether the system has refused what it may refuse at any time. */
static bool is_refusal(const scene *s) {
  const evalue_ipc_channel *c = &s->channel;
  if (c->system_error == ENOMEM || c->system_error == ETOOMANYREFS) return true;
  return s->peer.may_be_reset && c->system_error == ECONNRESET;
}

static void failed(scene *s, evalue_status status, const outcome *o) {
  const evalue_error *error = &s->channel.error;
  s->peer.place = o->place;
  if (status == EVALUE_END) { /* an empty packet looks like it */
    FUZZ_CHECK((o->error.status == EVALUE_END || o->is_empty_packet) && error->status == EVALUE_OK);
    return;
  }
  check_error(&s->channel, status);
  bool is_over = o->error.status == EVALUE_END || o->is_cut || o->is_empty_packet; /* all that came is taken */
  bool may_refuse = status == EVALUE_IO && is_refusal(s) && (is_over || s->channel.system_error != ECONNRESET);
  FUZZ_CHECK(may_refuse || same_error(error, &o->error));
  if (status == EVALUE_TIMEOUT && o->is_idle) return;
  s->receiver.failed = *error;
}

static void release(scene *s, size_t i);

static void receive(scene *s) {
  static const evalue_ipc_message none;
  evalue_ipc_message m;
  receiver trial = s->receiver;
  outcome o = foresee(&s->peer, &trial);
  if (o.error.status == EVALUE_TIMEOUT && s->receiver.failed.status == EVALUE_OK && s->patience-- <= 0) {
    peer_leave(&s->peer, SHUT_WR);
  }
  if (s->n_held == MOST_HELD) release(s, fuzz_take(&s->source) % MOST_HELD);
  o = foresee(&s->peer, &s->receiver);
  uint32_t freed = s->receiver.pool >= 0 ? word_at(s->receiver.pool, 0) : 0;
  memset(&m, FUZZ_FILL, sizeof m);
  evalue_status status = evalue_ipc_receive(&s->channel, &m);
  if (status == EVALUE_OK) {
    FUZZ_CHECK(o.error.status == EVALUE_OK);
    keep(s, &m, &o, freed);
    return;
  }
  failed(s, status, &o);
  FUZZ_CHECK(memcmp(&m, &none, sizeof m) == 0 && evalue_ipc_release(&m) == EVALUE_OK);
}

static void release(scene *s, size_t i) {
  held h = s->held[i];
  s->held[i] = s->held[--s->n_held];
  bool is_in_slot = h.message.carrier == EVALUE_IPC_POOL && h.message.is_constant == 0;
  if (h.message.is_constant != 0) FUZZ_CHECK(sum_of(h.message.data, seen_of(&h.message)) == h.sum);
  uint32_t freed = is_in_slot ? word_at(s->receiver.pool, 0) : 0;
  FUZZ_CHECK(evalue_ipc_release(&h.message) == EVALUE_OK && h.message.channel == NULL);
  if (is_in_slot) check_given_back(s, h.from.number, freed);
  if (is_in_slot) s->receiver.held &= ~(UINT64_C(1) << h.from.number);
  FUZZ_CHECK(evalue_ipc_release(&h.message) == EVALUE_OK); /* it is nothing any more */
}

/* ---- reading what was received ------------------------------------------------------------------------------- */

/* A value's bytes lie in the message, and can be read. */
static void check_value(const uint8_t *data, size_t size, const evalue *v) {
  char text[64];
  bool is_tensor = v->tag == EVALUE_TAG_TENSOR;
  FUZZ_CHECK(evalue_check(v) == EVALUE_OK && evalue_print(v, text, sizeof text) != 0);
  if (!is_tensor && v->tag != EVALUE_TAG_STRING) return;
  const uint8_t *payload = is_tensor ? (const uint8_t *)v->tensor.data : (const uint8_t *)v->string.data;
  size_t nbytes = is_tensor ? v->tensor.nbytes : v->string.nbytes;
  FUZZ_CHECK(payload >= data && payload <= data + size && nbytes <= (size_t)(data + size - payload));
  touched = sum_of(payload, nbytes);
}

/* Value by value, while the peer goes on to change its memory. */
static void read_by_value(scene *s, const uint8_t *data, size_t size, bool is_sequence, uint8_t changes) {
  evalue_reader reader;
  evalue_element element;
  evalue value;
  evalue_status status = is_sequence ? evalue_reader_init_sequence(&reader, data, size, NULL)
                                     : evalue_reader_init(&reader, data, size, NULL);
  for (int i = 0; status == EVALUE_OK; i++) {
    if (changes != 0 && i < 4) change_memory(&s->peer, &s->source);
    bool by_element = (changes >> i % 8 & 1) != 0;
    status = by_element ? evalue_reader_next_element(&reader, &element, &value) : evalue_reader_next(&reader, &value);
    if (status == EVALUE_OK && (!by_element || element.tag <= EVALUE_TAG_BOOL)) check_value(data, size, &value);
  }
  FUZZ_CHECK(status == EVALUE_END || evalue_reader_error(&reader)->status == (int32_t)status);
  FUZZ_CHECK(evalue_reader_position(&reader) <= size && evalue_reader_error(&reader)->position <= size);
}

static void read_whole(const uint8_t *data, size_t size, bool is_constant) {
  enum { CAPACITY = 16 };
  evalue values[CAPACITY], value;
  evalue_error error, other;
  uint64_t n = 0, used = 0;
  evalue_status status = evalue_message_decode(data, size, NULL, values, CAPACITY, &n, &error);
  for (size_t i = 0; status == EVALUE_OK && i < n; i++) check_value(data, size, &values[i]);
  FUZZ_CHECK(error.status == (int32_t)status && error.position <= size);
  evalue_message_decode(data, size, NULL, values, CAPACITY, &n, &other);
  FUZZ_CHECK(!is_constant || same_error(&error, &other));
  status = evalue_sequence_decode(data, size, NULL, values, CAPACITY, &n, &error);
  for (size_t i = 0; status == EVALUE_OK && i < n; i++) check_value(data, size, &values[i]);
  status = evalue_value_decode(data, size, NULL, &value, &used, &error);
  if (status == EVALUE_OK) check_value(data, size, &value);
}

static void read_message(scene *s) {
  uint8_t choice = fuzz_take(&s->source), changes = fuzz_take(&s->source);
  if (s->n_held == 0) return;
  const evalue_ipc_message *m = &s->held[choice % s->n_held].message;
  size_t size = m->nbytes < 4 * MOST_SEEN ? m->nbytes : 4 * MOST_SEEN;
  read_whole(m->data, size, m->is_constant != 0);
  read_by_value(s, m->data, size, choice >= 128, changes);
}

/* ---- what the library sends, as the peer gets it ------------------------------------------------------------- */

static void pend(scene *s, const uint8_t *data, size_t nbytes) {
  FUZZ_CHECK(s->n_pending < MOST_PENDING);
  s->pending[(s->first_pending + s->n_pending++) % MOST_PENDING] = fuzz_copy(data, nbytes, 0);
}

/* A message has arrived at the peer: in a descriptor at a place, or, with -1, at data. */
static void arrive(scene *s, const uint8_t *data, uint64_t nbytes, int fd, uint64_t at) {
  FUZZ_CHECK(s->n_pending != 0);
  fuzz_bytes wanted = s->pending[s->first_pending], got = fuzz_new((size_t)nbytes, 0);
  bool is_stale = fd >= 0 && fd == s->pool && s->is_scribbled;
  s->first_pending = (s->first_pending + 1) % MOST_PENDING;
  s->n_pending--;
  if (fd >= 0) FUZZ_CHECK(pread(fd, got.data, got.size, (off_t)at) == (ssize_t)got.size);
  else if (nbytes != 0) memcpy(got.data, data, got.size);
  FUZZ_CHECK(nbytes == wanted.size && (nbytes == 0 || is_stale || memcmp(got.data, wanted.data, wanted.size) == 0));
  fuzz_free(&wanted);
  fuzz_free(&got);
}

static int next_fd(scene *s, int seals, uint64_t size) {
  bool has_seals = false;
  uint64_t has = 0;
  FUZZ_CHECK(s->n_fds > 0);
  int fd = s->fds[0];
  memmove(s->fds, s->fds + 1, (size_t)--s->n_fds * sizeof s->fds[0]);
  FUZZ_CHECK(look(fd, seals | F_SEAL_SEAL, &has_seals, &has) && has_seals && has >= size);
  return fd;
}

/* Takes a frame of those that have come; false when it is not whole. */
static bool take_frame(scene *s, bool gives_back) {
  const uint8_t *f = s->got + s->got_at;
  uint32_t free_word = 0;
  if (s->n_got - s->got_at < FRAME) return false;
  uint64_t nbytes = evalue_load_u64(f + 8), number = evalue_load_u64(f + 16);
  FUZZ_CHECK(judge_frame(f).status == EVALUE_OK);
  if (f[5] == INLINE && s->n_got - s->got_at < FRAME + nbytes) return false;
  s->got_at += FRAME + (f[5] == INLINE ? (size_t)nbytes : 0);
  if (f[5] == INLINE) {
    arrive(s, f + FRAME, nbytes, -1, 0);
  } else if (f[5] == SEALED) {
    int fd = next_fd(s, HARD, nbytes + BEHIND);
    arrive(s, NULL, nbytes, fd, 0);
    close(fd);
  } else if (f[5] == POOL) {
    FUZZ_CHECK(s->pool < 0);
    s->pool = next_fd(s, STEADY, CONTROL + number * stride_of(nbytes));
    s->pool_nbytes = nbytes;
  } else {
    FUZZ_CHECK(s->pool >= 0 && number < s->channel.options.slots && nbytes <= s->pool_nbytes);
    arrive(s, NULL, nbytes, s->pool, CONTROL + number * stride_of(s->pool_nbytes));
    if (gives_back) write_at(s->pool, &free_word, sizeof free_word, 128 + 64 * number);
  }
  return true;
}

/* The peer reads what there is. */
static void drain(scene *s, bool gives_back) {
  union {
    struct cmsghdr head;
    uint8_t bytes[CMSG_SPACE(4 * sizeof(int))];
  } control;
  while (s->peer.fd >= 0 && s->n_got < MOST_GOT) {
    struct iovec list = {s->got + s->n_got, MOST_GOT - s->n_got};
    struct msghdr message = {
        .msg_iov = &list, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(s->peer.fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n <= 0) break;
    s->n_got += (size_t)n;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head == NULL) continue;
    FUZZ_CHECK(head->cmsg_len == CMSG_LEN(sizeof(int)) && s->n_fds < MOST_PENDING);
    memcpy(&s->fds[s->n_fds++], CMSG_DATA(head), sizeof(int));
  }
  while (take_frame(s, gives_back)) {
  }
}

/* The words of the library's pool are anything now, or its memory is gone. */
static void scribble(scene *s) {
  uint8_t choice = fuzz_take(&s->source);
  uint32_t word = choice < 128 ? choice & 1U : (uint32_t)fuzz_take_number(&s->source, 4);
  if (s->pool < 0) return;
  s->is_scribbled = true;
  bool is_punched = choice == 127 && fallocate(s->pool, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1 << 20) == 0;
  s->is_punched |= is_punched;
  if (!is_punched) write_at(s->pool, &word, sizeof word, 64 * (choice / 2 % 8U));
}

/* ---- sending ------------------------------------------------------------------------------------------------- */

static bool has_free_slot(const evalue_ipc_channel *c) {
  const evalue_ipc_pool *pool = &c->sending;
  for (uint32_t i = 0; i < pool->slots; i++) {
    uint32_t word;
    memcpy(&word, pool->control + 128 + 64 * (size_t)i, sizeof word);
    if ((pool->taken >> i & 1) == 0 || ((pool->sent >> i & 1) != 0 && word == 0)) return true;
  }
  return pool->memory == NULL;
}

/* Says whether something can be sent without waiting, after the peer has done its part. */
static bool can_send(scene *s) {
  if (s->n_pending > MOST_PENDING / 2) drain(s, true);
  if (s->n_pending > MOST_PENDING - 4) return false; /* it does not read */
  if (s->patience > 0) return true;
  if (s->n_pending > 4) drain(s, true);
  if (s->n_pending > 4 || s->is_tight) return false;
  if (!has_free_slot(&s->channel)) drain(s, true);
  return has_free_slot(&s->channel);
}

/* The status of a call that sends a message of nbytes bytes. Says whether it is on its way. */
static bool check_sent(scene *s, evalue_status status, const fuzz_bytes *bytes, evalue_error before) {
  const evalue_ipc_channel *c = &s->channel;
  if (before.status != EVALUE_OK) FUZZ_CHECK((int32_t)status == before.status && same_error(&c->error, &before));
  if (status == EVALUE_OK) {
    if (bytes != NULL) pend(s, bytes->data, bytes->size);
    return true;
  }
  check_error(c, status);
  bool is_pool = c->options.carrier == EVALUE_IPC_POOL;
  switch (status) {
    case EVALUE_TIMEOUT: FUZZ_CHECK(before.status != EVALUE_OK || s->patience-- > 0); break;
    case EVALUE_LIMIT: FUZZ_CHECK(c->is_packets != 0 || is_pool || bytes == NULL); break;
    default: FUZZ_CHECK(status == EVALUE_IO && (s->peer.fd < 0 || c->system_error == EPIPE || is_refusal(s))); break;
  }
  return false;
}

/* More strings than one packet takes slices. */
static void send_many(scene *s) {
  enum { MANY = 80 };
  evalue values[MANY];
  uint64_t size = 0;
  for (int i = 0; i < MANY; i++) values[i] = evalue_from_string("0123456789", (size_t)i % 10);
  if (!can_send(s)) return;
  evalue_error before = s->channel.send_error;
  uint32_t alignment = s->channel.options.alignment;
  fuzz_bytes bytes = fuzz_new(4096, 0);
  FUZZ_CHECK(evalue_message_encode(values, MANY, alignment, bytes.data, bytes.size, &size) == EVALUE_OK);
  bytes.size = (size_t)size;
  check_sent(s, evalue_ipc_send(&s->channel, values, MANY), &bytes, before);
  fuzz_free(&bytes);
}

static void send_values(scene *s, bool is_encoded) {
  fuzz_values values;
  take_values(&s->source, &values);
  if (can_send(s)) {
    evalue_error before = s->channel.send_error;
    fuzz_bytes bytes = encode(&values, s->channel.options.alignment);
    evalue_status status = is_encoded ? evalue_ipc_send_message(&s->channel, bytes.data, bytes.size)
                                      : evalue_ipc_send(&s->channel, values.values, values.n);
    check_sent(s, status, &bytes, before);
    fuzz_free(&bytes);
  }
  fuzz_free_values(&values);
}

static void send_sealed(scene *s) {
  evalue_ipc_sealed sealed;
  fuzz_values values;
  take_values(&s->source, &values);
  fuzz_bytes bytes = encode(&values, 16);
  FUZZ_CHECK(evalue_ipc_seal(&sealed, values.values, values.n, 16) == EVALUE_OK && sealed.nbytes == bytes.size);
  for (int n = 1 + fuzz_take(&s->source) % 2; n > 0 && can_send(s); n--) {
    evalue_error before = s->channel.send_error;
    check_sent(s, evalue_ipc_send_sealed(&s->channel, &sealed), &bytes, before);
  }
  FUZZ_CHECK(evalue_ipc_sealed_close(&sealed) == EVALUE_OK && evalue_ipc_sealed_close(&sealed) == EVALUE_MISUSE);
  fuzz_free(&bytes);
  fuzz_free_values(&values);
}

/* Leaves the payloads of every value, or every second one, to be written into the slot. */
static void reserve(scene *s) {
  fuzz_values values;
  void *places[FUZZ_MOST_VALUES];
  evalue_ipc_slot slot;
  uint8_t which = fuzz_take(&s->source);
  take_values(&s->source, &values);
  fuzz_bytes bytes = encode(&values, s->channel.options.alignment);
  evalue partial[FUZZ_MOST_VALUES];
  memcpy(partial, values.values, sizeof partial);
  for (size_t i = 0; i < values.n; i++) {
    if ((which >> i & 1) != 0) continue;
    if (partial[i].tag == EVALUE_TAG_TENSOR) partial[i].tensor.data = NULL;
    if (partial[i].tag == EVALUE_TAG_STRING) partial[i].string.data = NULL;
  }
  evalue_error before = s->channel.send_error;
  bool can = s->n_slots < MOST_SLOTS && can_send(s);
  if (can && check_sent(s, evalue_ipc_reserve(&s->channel, partial, values.n, places, &slot), NULL, before)) {
    FUZZ_CHECK(slot.nbytes == bytes.size);
    for (size_t i = 0; i < s->n_slots; i++) FUZZ_CHECK(s->slots[i].number != slot.number);
    for (size_t i = 0; i < values.n; i++) {
      const fuzz_bytes *payload = &values.payloads[i];
      bool is_left = payload->memory != NULL && payload->size != 0 && (which >> i & 1) == 0;
      FUZZ_CHECK((places[i] != NULL) == is_left);
      if (is_left) memcpy(places[i], payload->data, payload->size);
    }
    s->slots[s->n_slots] = slot;
    s->in_slots[s->n_slots++] = bytes;
  } else {
    fuzz_free(&bytes);
  }
  fuzz_free_values(&values);
}

/* What is reserved is nobody else's, whatever the peer says. */
static void check_reserved(const scene *s, const evalue_ipc_slot *slot, const fuzz_bytes *content) {
  if (s->pool < 0 || s->is_punched) return;
  fuzz_bytes seen = fuzz_new(content->size, 0);
  uint64_t at = CONTROL + slot->number * stride_of(s->pool_nbytes);
  FUZZ_CHECK(pread(s->pool, seen.data, seen.size, (off_t)at) == (ssize_t)seen.size);
  FUZZ_CHECK(memcmp(seen.data, content->data, seen.size) == 0);
  fuzz_free(&seen);
}

/* Sends what was reserved, or gives it up. */
static void end_slot(scene *s, bool is_sent) {
  uint8_t choice = fuzz_take(&s->source);
  if (s->n_slots == 0 || (is_sent && !can_send(s) && (s->n_pending > 4 || s->is_tight))) return;
  size_t i = choice % s->n_slots;
  evalue_error before = s->channel.send_error;
  evalue_ipc_slot *slot = &s->slots[i];
  check_reserved(s, slot, &s->in_slots[i]);
  if (is_sent && !check_sent(s, evalue_ipc_send_slot(&s->channel, slot), &s->in_slots[i], before)) return;
  if (!is_sent) FUZZ_CHECK(evalue_ipc_cancel_slot(&s->channel, slot) == EVALUE_OK);
  FUZZ_CHECK(evalue_ipc_cancel_slot(&s->channel, slot) == EVALUE_MISUSE);
  fuzz_free(&s->in_slots[i]);
  s->slots[i] = s->slots[--s->n_slots];
  s->in_slots[i] = s->in_slots[s->n_slots];
}

/* ---- an input ------------------------------------------------------------------------------------------------ */

static void act(scene *s) {
  uint8_t action = fuzz_take(&s->source);
  switch (action % 24) {
    case 0: peer_sends_bytes(&s->peer, &s->source); break;
    case 1:
    case 2: peer_sends_inline(&s->peer, &s->source); break;
    case 3:
    case 4: peer_sends_memory(&s->peer, &s->source); break;
    case 5: peer_sends_memory_again(&s->peer, &s->source); break;
    case 6: peer_offers_pool(&s->peer, &s->source); break;
    case 7:
    case 8: peer_sends_slot(&s->peer, &s->source); break;
    case 9: change_memory(&s->peer, &s->source); break;
    case 10: peer_leaves(&s->peer, &s->source); break;
    case 11: scribble(s); break;
    case 12: drain(s, action >= 128); break;
    case 13: read_message(s); break;
    case 14:
      if (action >= 250) send_many(s);
      else send_values(s, false);
      break;
    case 15: send_values(s, true); break;
    case 16: send_sealed(s); break;
    case 17: reserve(s); break;
    case 18: end_slot(s, action < 200); break;
    case 19:
    case 20:
      if (s->n_held != 0) release(s, fuzz_take(&s->source) % s->n_held);
      break;
    default: receive(s); break;
  }
}

static void begin(scene *s) {
  static const uint64_t messages[] = {0, 1 << 20, 200, 5000}, pools[] = {0, 1 << 20, CONTROL + 8192, CONTROL};
  int fds[2];
  uint8_t what = fuzz_take(&s->source), more = fuzz_take(&s->source);
  uint8_t carrier = fuzz_take(&s->source), slots = fuzz_take(&s->source);
  evalue_ipc_options options = {.carrier = carrier % 4,
                                .alignment = carrier < 128 ? 0 : 64,
                                .inline_limit = slots < 128 ? 200 : 0,
                                .slots = 1 + slots % 3U,
                                .slot_nbytes = carrier % 8 < 4 ? 8000 : 500,
                                .snapshot = what >> 1 & 1,
                                .max_bytes = messages[what >> 2 & 3],
                                .max_pool_bytes = pools[what >> 4 & 3],
                                .idle_ms = 1,
                                .stall_ms = 1};
  if (options.snapshot != 0 && options.max_bytes == 0) options.max_bytes = 1 << 16; /* copying takes time */
  FUZZ_CHECK(socketpair(AF_UNIX, ((what & 1) != 0 ? SOCK_SEQPACKET : SOCK_STREAM) | SOCK_CLOEXEC, 0, fds) == 0);
  int room = 1; /* the least that there is */
  s->is_tight = more >= 240;
  if (s->is_tight) FUZZ_CHECK(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0);
  FUZZ_CHECK(evalue_ipc_init(&s->channel, fds[0], &options) == EVALUE_OK);
  peer_open(&s->peer, fds[1], (what & 1) != 0);
  s->receiver.options = options;
  if (options.max_bytes == 0) s->receiver.options.max_bytes = 1 << 30;
  if (options.max_pool_bytes == 0) s->receiver.options.max_pool_bytes = 1 << 30;
  s->receiver.pool = s->pool = -1;
  s->patience = more >= 224 ? 2 : 0;
}

static void end(scene *s) {
  evalue_ipc_message m;
  evalue_ipc_channel copy = s->channel;
  if (s->n_held != 0) FUZZ_CHECK(evalue_ipc_close(&s->channel) == EVALUE_MISUSE);
  FUZZ_CHECK(evalue_ipc_receive(&copy, &m) == EVALUE_MISUSE && evalue_ipc_close(&copy) == EVALUE_MISUSE);
  drain(s, false);
  while (s->n_held != 0) release(s, s->n_held / 2);
  FUZZ_CHECK(evalue_ipc_close(&s->channel) == EVALUE_OK && evalue_ipc_close(&s->channel) == EVALUE_MISUSE);
  FUZZ_CHECK(evalue_ipc_receive(&s->channel, &m) == EVALUE_MISUSE);
  while (s->n_slots != 0) fuzz_free(&s->in_slots[--s->n_slots]);
  for (; s->n_pending != 0; s->n_pending--) fuzz_free(&s->pending[s->first_pending++ % MOST_PENDING]);
  while (s->n_fds != 0) close(s->fds[--s->n_fds]);
  if (s->pool >= 0) close(s->pool);
  peer_close(&s->peer);
}

static void run(const uint8_t *input, size_t size) {
  static uint8_t got[MOST_GOT];
  scene s;
  memset(&s, 0, sizeof s);
  s.source = (fuzz_source){.data = input, .size = size};
  s.got = got;
  begin(&s);
  for (int i = 0; i < MOST_ACTIONS && s.source.at < size; i++) act(&s);
  end(&s);
}

/* ---- what is left behind ------------------------------------------------------------------------------------- */

/* How many of the next descriptors are open; a leak may have any number. */
static int open_descriptors(void) {
  enum { MOST = 512 };
  struct pollfd looks[MOST];
  for (int i = 0; i < MOST; i++) looks[i] = (struct pollfd){.fd = still[0] + i};
  int open = 0, n = poll(looks, MOST, 0);
  for (int i = 0; n >= 0 && i < MOST; i++) open += (looks[i].revents & POLLNVAL) == 0;
  return open;
}

size_t __sanitizer_get_heap_size(void) __attribute__((weak)); /* it grows for reasons of its own */

/* How much of memory is mapped, in pages; cheaper than to read /proc/self/maps. */
static long mapped(void) {
  static int fd = -1;
  char text[64] = "";
  if (fd < 0) fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0 || pread(fd, text, sizeof text - 1, 0) <= 0) return 0;
  size_t heap = __sanitizer_get_heap_size != NULL ? __sanitizer_get_heap_size() : 0;
  return strtol(text, NULL, 10) - (long)(heap / (size_t)sysconf(_SC_PAGESIZE));
}

/* All lines of the log are made, and can be shown. */
static void check_line(void *context, const evalue_log_record *record) {
  (void)context;
  FUZZ_CHECK(record->message[0] != '\0' && fuzz_is_text(record->message, strlen(record->message), false));
}

static void start_log(void) {
  static const evalue_log_handler handler = {.handle = check_line};
  evalue_log_set_handler(&handler);
  FUZZ_CHECK(evalue_log_override("all,+ipc,why_rejected,why_copied", NULL, 0) == EVALUE_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  enum { TIMES = 12 };
  static bool is_started;
  if (!is_started) {
    start_log();
    open_still();
    is_started = true;
  }
  long pages = mapped();
  int open = open_descriptors();
  run(input, size);
  FUZZ_CHECK(open_descriptors() == open);
  for (int i = 0; mapped() > pages; i++) { /* an allocator grows now and then, a leak grows every time */
    FUZZ_CHECK(i < TIMES);
    pages = mapped();
    run(input, size);
  }
  return 0;
}
