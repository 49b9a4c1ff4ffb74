/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Passing messages between processes, over a connected AF_UNIX socket, stream or seqpacket.
 *
 *     evalue_ipc_channel channel;
 *     evalue_ipc_message message;
 *     evalue_reader reader;
 *     if (evalue_ipc_connect(&channel, "/run/camera.socket", NULL) == EVALUE_OK) {
 *       if (evalue_ipc_send(&channel, values, n) == EVALUE_OK && evalue_ipc_receive(&channel, &message) == EVALUE_OK) {
 *         evalue_reader_init(&reader, message.data, message.nbytes, NULL);
 *         while (evalue_reader_next(&reader, &v) == EVALUE_OK) use(&v, 1);
 *         evalue_ipc_release(&message);
 *       }
 *       evalue_ipc_close(&channel);
 *     }
 *
 * Three carriers take a message across, chosen by its size, or by an option:
 *
 * - inline: through the socket, gathered from where the values lie; for small messages.
 * - pool: in a slot of shared memory, which both sides map once; the socket carries the slot's number.
 * - sealed: in memory that nobody can change any more, sent as a descriptor, again and again, to anyone.
 *
 * A received message begins at a multiple of 64 bytes, and at least 128 readable bytes follow it. Nothing that the peer
 * does, short of what it may (change a message in its pool), is believed unseen: whatever it sends, this process gets a
 * message or a status; no signal, no leak, no wait without end. spec/evalue-ipc.md has the bytes. One thread at a time
 * may use a channel and its messages. Linux and Android only. src/ipc/README.md says more.
 */
#ifndef EVALUE_IPC_H
#define EVALUE_IPC_H

#include "evalue/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- channels ----------------------------------------------------------------------------------------------- */

/** Carriers. EVALUE_IPC_AUTO chooses by size: the first of the three that takes the message. */
enum { EVALUE_IPC_AUTO = 0, EVALUE_IPC_INLINE = 1, EVALUE_IPC_POOL = 2, EVALUE_IPC_SEALED = 3 };

/** Returns a carrier's name, like "pool"; "?" for a number that is none. The string is static. */
EVALUE_API const char *evalue_ipc_carrier_name(uint32_t carrier);

/** The most slots that a pool can have. */
#define EVALUE_IPC_MAX_SLOTS 64

/** What follows a received message: readable bytes, of any value. */
#define EVALUE_IPC_BYTES_BEHIND 128

/** What a channel can be told. All zero, or NULL in its place, is the default. Each side has its own. */
typedef struct evalue_ipc_options {
  uint32_t size;         /* sizeof(evalue_ipc_options), or 0 for the layout of version 0.4; EVALUE_MISUSE for others */
  uint32_t carrier;      /* sending: EVALUE_IPC_AUTO, or the only one to use */
  uint32_t alignment;    /* sending: of messages, as for evalue_message_encode */
  uint32_t inline_limit; /* sending: bytes; larger messages go another way; 0: 65536 */
  uint32_t slots;        /* sending: of the pool, at most EVALUE_IPC_MAX_SLOTS; 0: 4 */
  uint32_t snapshot;     /* receiving: 1: copy what the peer could still change, so that it cannot */
  uint64_t slot_nbytes;  /* sending: the largest message that a slot of the pool takes; 0: 16 MiB */
  uint64_t max_bytes;    /* receiving: the largest message; 0: 1 GiB */
  uint64_t max_pool_bytes; /* receiving: the largest pool, all of its memory; 0: 1 GiB */
  uint32_t idle_ms;        /* how long to wait for a message, or a connection, to begin; 0: for ever */
  uint32_t stall_ms;       /* how long a peer may take then: to go on, to take what is sent, or to give a slot back; 0:
                              10,000 */
} evalue_ipc_options;

/** A pool as one side sees it. Its members are private. */
typedef struct evalue_ipc_pool {
  uint8_t *memory;
  uint8_t *control; /* the words that both sides write */
  uint64_t nbytes;
  uint64_t slot_nbytes;
  uint64_t taken; /* a bit for each slot: sent or reserved; at the receiver: held by a message */
  uint64_t sent;  /* a bit for each slot: those the receiver may give back */
  uint32_t slots;
  uint32_t reserved;
} evalue_ipc_pool;

/**
 * One end of a connection. Caller-allocated, and it must stay where it was initialised: a copy is refused with
 * EVALUE_MISUSE. Its members are private, but error and system_error may be read.
 */
typedef struct evalue_ipc_channel {
  const struct evalue_ipc_channel *self; /* where it was initialised; NULL once it is closed */
  evalue_error error;                    /* of the last call that failed */
  int32_t system_error;                  /* the errno that belongs to EVALUE_IO; 0 for none */
  int32_t fd;
  evalue_ipc_options options; /* with defaults filled in */
  evalue_error send_error;    /* what ended sending, or receiving, for good */
  evalue_error receive_error;
  int32_t send_system_error, receive_system_error;
  evalue_ipc_pool sending, receiving;
  uint8_t *spare; /* a buffer for the next message that needs one */
  uint64_t spare_nbytes;
  int64_t deadline; /* of the message that is on its way */
  uint32_t held;    /* messages that were received and not released */
  uint8_t is_packets, has_begun, reserved[2];
} evalue_ipc_channel;

/**
 * Makes a channel of a connected AF_UNIX socket of the type SOCK_STREAM or SOCK_SEQPACKET, blocking or not, which the
 * channel takes over: evalue_ipc_close closes it. options may be NULL. Returns EVALUE_OK; EVALUE_IO when fd is no
 * socket; EVALUE_MISUSE for another socket, NULL, or bad options. On a failure fd stays the caller's.
 */
EVALUE_API evalue_status evalue_ipc_init(evalue_ipc_channel *channel, int fd, const evalue_ipc_options *options);

/**
 * Connects to a socket by its path and makes a channel of it. Takes either type. Returns what evalue_ipc_init does, and
 * EVALUE_IO when nobody listens there; channel->system_error says why. EVALUE_TIMEOUT when whoever listens has no room
 * for another connection for idle_ms, or, where that is 0, stall_ms. EVALUE_MISUSE also for a path that is too long
 * (107 bytes).
 */
EVALUE_API evalue_status evalue_ipc_connect(evalue_ipc_channel *channel, const char *path,
                                            const evalue_ipc_options *options);

/** A socket that others connect to. Its members are private, but system_error may be read. */
typedef struct evalue_ipc_listener {
  const struct evalue_ipc_listener *self;
  int32_t fd;
  int32_t system_error;
  uint64_t device, inode; /* of the socket that closing removes, if it is still that one */
  char path[108];
} evalue_ipc_listener;

/**
 * Listens at a path, for connections of the type SOCK_STREAM, or, with is_packets of 1, SOCK_SEQPACKET. A socket that
 * nobody listens to any more is replaced; who may connect is what the umask leaves. Returns EVALUE_OK; EVALUE_IO
 * (EADDRINUSE: somebody listens there, or there is another file); EVALUE_MISUSE for NULL or too long a path.
 */
EVALUE_API evalue_status evalue_ipc_listen(evalue_ipc_listener *listener, const char *path, uint32_t is_packets);

/**
 * Waits for a connection, up to options->idle_ms, and makes a channel of it. Returns what evalue_ipc_init does;
 * EVALUE_TIMEOUT.
 */
EVALUE_API evalue_status evalue_ipc_accept(evalue_ipc_listener *listener, evalue_ipc_channel *channel,
                                           const evalue_ipc_options *options);

/** Stops listening and removes the socket, unless somebody has put another file there; accepted channels stay. Returns
 * EVALUE_OK, or EVALUE_MISUSE. */
EVALUE_API evalue_status evalue_ipc_stop_listening(evalue_ipc_listener *listener);

/**
 * Closes the connection and frees what the channel holds; slots that are reserved are lost. Returns EVALUE_OK;
 * EVALUE_MISUSE for NULL, a channel that is closed or copied, or while messages are not released: then nothing has
 * changed.
 */
EVALUE_API evalue_status evalue_ipc_close(evalue_ipc_channel *channel);

/**
 * Returns the fault of the last call that failed: for evalue_print_error. channel->system_error is the errno, where
 * there is one. Valid as long as the channel; NULL for NULL.
 */
static inline const evalue_error *evalue_ipc_error(const evalue_ipc_channel *channel) {
  return channel != NULL ? &channel->error : NULL;
}

/* ---- sending ------------------------------------------------------------------------------------------------ */

/**
 * Sends n values as one message, by the carrier that fits. When it returns, the values and their bytes are the caller's
 * again. Returns EVALUE_OK when the message is on its way (the peer may not have read it);
 * EVALUE_TIMEOUT when the peer takes nothing, or gives no slot back, for stall_ms; EVALUE_LIMIT when the carrier that
 * was asked for cannot take a message of that size; EVALUE_IO when the peer is gone (EPIPE, ECONNRESET), or the system
 * has no memory or descriptors; EVALUE_MISUSE, EVALUE_LIMIT as evalue_message_size. A failure after which the peer has
 * a part of a message ends sending: later calls return it again. After any other the channel is as it was before.
 */
EVALUE_API evalue_status evalue_ipc_send(evalue_ipc_channel *channel, const evalue *values, size_t n);

/** The same for a message that is encoded already, of nbytes bytes at data: it is not looked at. */
EVALUE_API evalue_status evalue_ipc_send_message(evalue_ipc_channel *channel, const void *data, size_t nbytes);

/** A slot of the pool that was reserved. Its members are private. */
typedef struct evalue_ipc_slot {
  uint64_t nbytes; /* of the message */
  uint32_t number;
  uint32_t reserved;
} evalue_ipc_slot;

/**
 * Reserves a slot of the pool for a message of n values, so that they are made where they will be read, and nothing is
 * copied. Of tensors and strings whose data is NULL, places[i] is where the caller writes the nbytes bytes of value i,
 * in the order of the wire; everything else is written already, and its places[i] is NULL. Waits for a slot like
 * evalue_ipc_send. Then comes evalue_ipc_send_slot, or evalue_ipc_cancel_slot. Statuses as for evalue_ipc_send;
 * EVALUE_MISUSE also for NULL places or slot.
 */
EVALUE_API evalue_status evalue_ipc_reserve(evalue_ipc_channel *channel, const evalue *values, size_t n, void **places,
                                            evalue_ipc_slot *slot);

/** Sends what was made in a reserved slot, which is then the peer's. Statuses as for evalue_ipc_send. */
EVALUE_API evalue_status evalue_ipc_send_slot(evalue_ipc_channel *channel, evalue_ipc_slot *slot);

/** Gives a reserved slot up. Returns EVALUE_OK, or EVALUE_MISUSE when it is none. */
EVALUE_API evalue_status evalue_ipc_cancel_slot(evalue_ipc_channel *channel, evalue_ipc_slot *slot);

/** A message in memory that nobody can change any more: weights, a data set. Its members are private. */
typedef struct evalue_ipc_sealed {
  const struct evalue_ipc_sealed *self;
  uint64_t nbytes;
  int32_t fd;
  int32_t system_error; /* the errno that belongs to EVALUE_IO; may be read */
} evalue_ipc_sealed;

/**
 * Encodes n values once, into memory that is then sealed against every change. Returns EVALUE_OK; EVALUE_IO when the
 * system has no memory or descriptors; EVALUE_MISUSE, EVALUE_LIMIT as evalue_message_size.
 */
EVALUE_API evalue_status evalue_ipc_seal(evalue_ipc_sealed *sealed, const evalue *values, size_t n, uint32_t alignment);

/**
 * Sends a sealed message: a descriptor, whatever its size. It may be sent again, over any channel. Statuses as for
 * evalue_ipc_send.
 */
EVALUE_API evalue_status evalue_ipc_send_sealed(evalue_ipc_channel *channel, const evalue_ipc_sealed *sealed);

/** Closes this side's descriptor; those who received the message keep it. Returns EVALUE_OK, or EVALUE_MISUSE. */
EVALUE_API evalue_status evalue_ipc_sealed_close(evalue_ipc_sealed *sealed);

/* ---- receiving ---------------------------------------------------------------------------------------------- */

/** A received message. Only data, nbytes, carrier and is_constant are for the caller. */
typedef struct evalue_ipc_message {
  const uint8_t *data; /* at a multiple of 64 bytes, with EVALUE_IPC_BYTES_BEHIND readable bytes behind */
  size_t nbytes;
  uint32_t carrier;     /* EVALUE_IPC_INLINE, ... */
  uint32_t is_constant; /* 0: in the peer's pool, and it can still change it; the readers here are made for that */
  evalue_ipc_channel *channel; /* NULL once it is released */
  uint8_t *memory;
  uint64_t memory_nbytes;
  uint32_t slot;
  uint32_t is_mapped;
} evalue_ipc_message;

/**
 * Waits for a message, up to idle_ms, and fills *message, whose bytes stay until evalue_ipc_release. They have not been
 * judged: that is what evalue_message_decode and evalue_reader do. Each message that is held keeps a slot from the peer
 * or memory of this process.
 *
 * Returns EVALUE_OK; EVALUE_END when the peer has closed the connection, between two messages; EVALUE_TIMEOUT when
 * nothing came for idle_ms, and then it can be called again. All else ends receiving, later calls return it again, and
 * evalue_ipc_error says what it was: EVALUE_TRUNCATED when the peer closed inside a message; EVALUE_TIMEOUT when it
 * stalled there; EVALUE_MALFORMED, EVALUE_UNSUPPORTED for what is no frame, or does not fit its descriptor;
 * EVALUE_LIMIT for max_bytes and max_pool_bytes; EVALUE_IO; EVALUE_MISUSE for NULL, or a channel that is closed or
 * copied. *message is not to be used then, but it may be released.
 */
EVALUE_API evalue_status evalue_ipc_receive(evalue_ipc_channel *channel, evalue_ipc_message *message);

/**
 * Gives a message back: its slot to the peer, its memory to the channel or the system. Returns EVALUE_OK, also for one
 * that is released already; EVALUE_MISUSE for NULL, or when its channel is closed. A message may be moved; one copy of
 * it is to be released, once.
 */
EVALUE_API evalue_status evalue_ipc_release(evalue_ipc_message *message);

/* ---- other carriers: a limit for each message ---------------------------------------------------------------- */

/** What a message may take where nobody says otherwise: far from filling Binder's buffer of 1 MiB for a whole process.
 */
#define EVALUE_BINDER_LIMIT 65536

/** What libbinder's RPC takes, and what AOSP's TrainingExampleRecord does: bytes. */
#define EVALUE_BINDER_RPC_LIMIT      100000
#define EVALUE_TRAINING_RECORD_LIMIT 50000

/**
 *     size_t counts[8], parts;
 *     if (evalue_message_split(values, n, 0, EVALUE_BINDER_LIMIT, counts, 8, &parts, NULL) == EVALUE_OK)
 *       for (size_t i = 0, first = 0; i < parts; first += counts[i++]) {
 *         uint64_t nbytes;
 *         if (evalue_message_encode(values + first, counts[i], 0, storage, sizeof storage, &nbytes) == EVALUE_OK)
 *           send(fd, storage, (size_t)nbytes, 0);
 *       }
 *
 * Each message decodes by itself; the values of all of them, one after the other, are the original ones.
 *
 * Splits n values, in their order, into the fewest messages of at most `most` bytes each (0: EVALUE_BINDER_LIMIT).
 * counts, of that capacity, gets how many values each message has; *parts is how many messages there are, 0 for no
 * values. alignment is the messages', as for evalue_message_encode. Looks at no payload byte, and writes no message.
 *
 * Returns EVALUE_OK; EVALUE_LIMIT when a value takes more than `most` bytes in a message of its own, which is found
 * before anything is sent: *index, if not NULL, is the first such value, and *parts is 0; EVALUE_NO_SPACE when there
 * are more messages than capacity, and then *parts is exactly how many, and the first capacity counts are right;
 * EVALUE_MISUSE for NULL values with an n, NULL counts with a capacity, NULL parts, a bad alignment or a bad value,
 * whose index *index is.
 */
EVALUE_API evalue_status evalue_message_split(const evalue *values, size_t n, uint32_t alignment, uint64_t most,
                                              size_t *counts, size_t capacity, size_t *parts, size_t *index);

#ifdef __cplusplus
}
#endif

#endif
