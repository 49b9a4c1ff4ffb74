/* SPDX-License-Identifier: BSD-3-Clause */
/* A second receiver, as plain as spec/evalue-ipc.md: it says what has to be made of what a peer has sent. */
#ifndef FUZZ_IPC_RECEIVER_H
#define FUZZ_IPC_RECEIVER_H

#include "ipc_peer.h"

typedef struct receiver {
  evalue_ipc_options options; /* with defaults filled in */
  int pool;                   /* -1: none */
  uint64_t slots, slot_nbytes, held;
  evalue_error failed; /* what ended receiving */
} receiver;

/* What comes next: a message, or an error; a status of EVALUE_END has no other member. */
typedef struct outcome {
  evalue_error error;
  place place;
  uint64_t nbytes;
  uint64_t number;
  uint32_t carrier;
  int fd; /* where the message lies, at byte `at`; -1: among the peer's bytes */
  uint64_t at;
  bool is_constant, is_empty_packet;
  bool is_idle; /* nothing has begun */
  bool is_cut;  /* the peer has ended in the middle of it */
} outcome;

#define FAULT(s, f, l, position, expected, found)                                                                      \
  ((evalue_error){EVALUE_##s, EVALUE_FAULT_##f, EVALUE_FIELD_##l, position, EVALUE_NO_INDEX, expected, found,          \
                  EVALUE_##s == EVALUE_TRUNCATED ? (expected) : 0})

#define STRAY   FAULT(MALFORMED, STRAY_DESCRIPTOR, DESCRIPTOR, 5, 0, 0)
#define SLOW    FAULT(TIMEOUT, PEER_SLOW, PEER, 0, 0, 0)
#define REFUSED FAULT(IO, SYSTEM_CALL, NONE, 0, 0, 0)
#define GOOD    ((evalue_error){EVALUE_OK, 0, 0, 0, 0, 0, 0, 0})

/* The next n bytes of a stream; *got may be fewer at its end. */
static evalue_error stream_bytes(const peer *p, place *at, uint64_t n, uint64_t *got, int *fd) {
  for (*got = 0; *got < n;) {
    if (at->next == p->n && at->at == p->nbytes) return p->is_over ? GOOD : SLOW;
    if (at->next < p->n && p->sends[at->next].begin == at->at) { /* its descriptors come with its first byte */
      const sent *s = &p->sends[at->next++];
      if (s->descriptors > 1 || (s->descriptors == 1 && *fd >= 0)) return STRAY;
      if (s->descriptors == 1) *fd = s->first;
    }
    uint64_t end = at->next < p->n ? p->sends[at->next].begin : p->nbytes, some = end - at->at;
    if (some > n - *got) some = n - *got;
    *got += some;
    at->at += (size_t)some;
  }
  return GOOD;
}

static evalue_error judge_frame(const uint8_t *f) {
  static const uint8_t magic[4] = "EVIP";
  uint64_t number = evalue_load_u64(f + 16);
  if (memcmp(f, magic, 4) != 0) {
    return FAULT(MALFORMED, BAD_FRAME_MAGIC, MAGIC, 0, evalue_load_u32(magic), evalue_load_u32(f));
  }
  if (f[4] != 1) return FAULT(UNSUPPORTED, FRAME_VERSION, MAJOR, 4, 1, f[4]);
  if (f[5] == 0 || f[5] > POOL) return FAULT(UNSUPPORTED, UNKNOWN_CARRIER, CARRIER, 5, 4, f[5]);
  if (f[6] != 0 || f[7] != 0) return FAULT(UNSUPPORTED, FRAME_FLAGS, FLAGS, 6, 0, f[6] + 256U * f[7]);
  if (f[5] != SLOT && f[5] != POOL && number != 0) return FAULT(MALFORMED, FRAME_PLACE, SLOT, 16, 0, number);
  return GOOD;
}

/* Says whether the descriptor is of memory with the seals, and of what size. */
static bool look(int fd, int seals, bool *has_seals, uint64_t *size) {
  struct stat status;
  int has = fcntl(fd, F_GET_SEALS);
  if (has < 0 || fstat(fd, &status) != 0) return false;
  if (status.st_dev == huge.st_dev && status.st_ino == huge.st_ino) return false;
  *has_seals = (has & seals) == seals;
  *size = (uint64_t)status.st_size;
  return true;
}

static bool can(int fd, int mode) {
  int has = fcntl(fd, F_GETFL) & O_ACCMODE;
  return has == O_RDWR || has == mode;
}

static evalue_error judge_memory(int fd, int seals, bool is_needed, uint64_t needed) {
  bool has_seals;
  uint64_t size;
  if (!look(fd, seals, &has_seals, &size)) return FAULT(UNSUPPORTED, NOT_MEMORY, DESCRIPTOR, 8, 0, 0);
  if (!has_seals && is_needed) return FAULT(MALFORMED, NOT_SEALED, DESCRIPTOR, 8, 0, 0);
  if (size < needed) return FAULT(MALFORMED, MEMORY_SIZE, LENGTH, 8, needed, size);
  return GOOD;
}

static evalue_error judge_pool(receiver *r, const uint8_t *f, int fd) {
  uint64_t nbytes = evalue_load_u64(f + 8), slots = evalue_load_u64(f + 16), most = r->options.max_pool_bytes;
  if (r->pool >= 0) return FAULT(MALFORMED, POOL_AGAIN, CARRIER, 5, 0, 0);
  if (slots == 0 || slots > 64) return FAULT(MALFORMED, POOL_SHAPE, SLOT, 16, 64, slots);
  bool is_large = nbytes > most || CONTROL + slots * stride_of(nbytes) > most;
  if (is_large) return FAULT(LIMIT, POOL_TOO_LARGE, LENGTH, 8, most, nbytes);
  evalue_error error = judge_memory(fd, STEADY, true, CONTROL + slots * stride_of(nbytes));
  if (error.status != EVALUE_OK) return error;
  bool is_read_only = (fcntl(fd, F_GET_SEALS) & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) != 0;
  if (is_read_only || !can(fd, O_RDONLY) || !can(fd, O_WRONLY)) return REFUSED;
  r->pool = fd;
  r->slots = slots;
  r->slot_nbytes = nbytes;
  return GOOD;
}

static evalue_error judge_slot(const receiver *r, outcome *o) {
  uint64_t number = o->number, nbytes = o->nbytes;
  if (r->pool < 0) return FAULT(MALFORMED, NO_POOL, CARRIER, 5, 0, 0);
  if (number >= r->slots) return FAULT(MALFORMED, SLOT_RANGE, SLOT, 16, r->slots - 1, number);
  if (nbytes > r->slot_nbytes) return FAULT(MALFORMED, SLOT_LENGTH, LENGTH, 8, r->slot_nbytes, nbytes);
  if ((r->held >> number & 1) != 0) return FAULT(MALFORMED, SLOT_HELD, SLOT, 16, 0, number);
  o->fd = r->pool;
  o->at = CONTROL + number * stride_of(r->slot_nbytes);
  o->is_constant = r->options.snapshot != 0;
  return GOOD;
}

static evalue_error judge_sealed(const receiver *r, outcome *o, int fd) {
  evalue_error error = judge_memory(fd, HARD, r->options.snapshot == 0, o->nbytes + BEHIND);
  if (error.status == EVALUE_OK && !can(fd, O_RDONLY)) error = REFUSED; /* neither pread nor mmap */
  o->fd = fd;
  return error;
}

/* The bytes of an inline message, the next of a stream or the rest of its packet. */
static evalue_error judge_inline(const peer *p, outcome *o, const sent *packet) {
  uint64_t got;
  int fd = -1;
  o->at = p->is_packets ? packet->begin + FRAME : o->place.at;
  if (p->is_packets) {
    uint64_t left = packet->end - packet->begin - FRAME;
    if (packet->descriptors != 0) return STRAY;
    return left == o->nbytes ? GOOD : FAULT(MALFORMED, PACKET_LENGTH, LENGTH, 8, o->nbytes, left);
  }
  evalue_error error = stream_bytes(p, &o->place, o->nbytes, &got, &fd);
  if (error.status != EVALUE_OK) return error;
  o->is_cut = got < o->nbytes;
  if (fd >= 0) return STRAY;
  return got == o->nbytes ? GOOD : FAULT(TRUNCATED, MESSAGE_SHORT, LENGTH, 8, o->nbytes, got);
}

/* What a frame means, whose descriptor is fd. */
static evalue_error judge_whole(const peer *p, receiver *r, outcome *o, const uint8_t *f, int fd, const sent *packet) {
  evalue_error error = judge_frame(f);
  if (error.status != EVALUE_OK) return error;
  o->carrier = f[5];
  o->nbytes = evalue_load_u64(f + 8);
  o->number = evalue_load_u64(f + 16);
  if (f[5] >= SEALED && fd < 0) return FAULT(MALFORMED, NO_DESCRIPTOR, DESCRIPTOR, 5, 0, 0);
  if (f[5] < SEALED && fd >= 0) return STRAY;
  if (f[5] == POOL) return judge_pool(r, f, fd);
  uint64_t most = r->options.max_bytes;
  if (o->nbytes > most) return FAULT(LIMIT, MESSAGE_TOO_LARGE, LENGTH, 8, most, o->nbytes);
  o->fd = -1;
  o->is_constant = true;
  if (f[5] == INLINE) return judge_inline(p, o, packet);
  return f[5] == SLOT ? judge_slot(r, o) : judge_sealed(r, o, fd);
}

/* The next frame. *end: there is none any more. */
static evalue_error next_frame(const peer *p, receiver *r, outcome *o, bool *end) {
  uint64_t got;
  int fd = -1;
  size_t begin = o->place.at;
  *end = false;
  if (!p->is_packets) {
    evalue_error error = stream_bytes(p, &o->place, FRAME, &got, &fd);
    *end = error.status == EVALUE_OK && got == 0;
    o->is_idle = got == 0;
    if (error.status != EVALUE_OK || *end) return error;
    o->is_cut = got < FRAME;
    if (o->is_cut) return FAULT(TRUNCATED, FRAME_SHORT, PEER, got, FRAME, got);
    return judge_whole(p, r, o, p->bytes + begin, fd, NULL);
  }
  *end = o->place.next == p->n && p->is_over;
  o->is_idle = o->place.next == p->n;
  if (o->is_idle) return *end ? GOOD : SLOW;
  const sent *s = &p->sends[o->place.next++];
  got = s->end - s->begin;
  o->is_empty_packet = got == 0;
  if (got == 0) o->place.next--; /* it stays */
  if (got < FRAME) return FAULT(TRUNCATED, FRAME_SHORT, PEER, got, FRAME, got);
  if (p->bytes[s->begin + 5] == INLINE) return judge_whole(p, r, o, p->bytes + s->begin, -1, s);
  if (s->descriptors > 1) return STRAY;
  evalue_error error = judge_frame(p->bytes + s->begin);
  if (error.status != EVALUE_OK) return error;
  if (got > FRAME) return FAULT(MALFORMED, PACKET_LENGTH, LENGTH, 8, FRAME, got);
  return judge_whole(p, r, o, p->bytes + s->begin, s->descriptors != 0 ? s->first : -1, s);
}

/* What a receiver makes of what was sent. Changes r only by a pool that it takes. */
static outcome foresee(const peer *p, receiver *r) {
  outcome o = {.error = r->failed, .place = p->place};
  bool end = false;
  if (r->failed.status != EVALUE_OK) return o;
  do {
    o.carrier = 0;
    o.error = next_frame(p, r, &o, &end);
  } while (!end && o.error.status == EVALUE_OK && o.carrier == POOL);
  if (end) o.error = (evalue_error){.status = EVALUE_END};
  return o;
}

#endif
