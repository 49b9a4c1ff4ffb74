/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this module share; nobody else includes it. */
#ifndef EVALUE_IPC_INTERNAL_H
#define EVALUE_IPC_INTERNAL_H

#include "evalue/inline.h"
#include "evalue/ipc.h"
#include "evalue/log.h"

/* The most bytes of a message, a slot or a pool: more than any machine addresses, and 64 of them do not wrap. */
#define IPC_MOST_NBYTES (UINT64_C(1) << 48)

/* ---- frame.c: what goes before a message (spec/evalue-ipc.md, section 2) ---- */

enum { FRAME_SIZE = 24 };

/* What a frame announces: a carrier's number, or a pool. */
enum { KIND_INLINE = EVALUE_IPC_INLINE, KIND_SLOT = EVALUE_IPC_POOL, KIND_SEALED = EVALUE_IPC_SEALED, KIND_POOL = 4 };

typedef struct ipc_frame {
  uint64_t nbytes; /* of the message; of a pool: of a slot */
  uint64_t place;  /* the slot's number; of a pool: how many slots */
  uint32_t kind;
} ipc_frame;

void evalue_ipc_frame_write(uint8_t bytes[FRAME_SIZE], const ipc_frame *frame);

/* Fills *frame. Returns EVALUE_OK or what is wrong, and then *error says so. */
evalue_status evalue_ipc_frame_read(const uint8_t bytes[FRAME_SIZE], ipc_frame *frame, evalue_error *error);

/* Where a frame's fields stand, for errors. */
enum { AT_MAGIC = 0, AT_VERSION = 4, AT_KIND = 5, AT_FLAGS = 6, AT_NBYTES = 8, AT_PLACE = 16 };

/* ---- channel.c: options, errors, buffers ---- */

/* Fills *error from the fault's row in the table, and returns its status. */
evalue_status evalue_ipc_fault(evalue_error *error, evalue_fault fault, uint64_t position, uint64_t expected,
                               uint64_t found);

/* The same for a system call that has failed with this errno. */
evalue_status evalue_ipc_system_fault(evalue_ipc_channel *c, int error);

/* Fills *options with the caller's, and defaults; EVALUE_MISUSE when they make no sense. */
evalue_status evalue_ipc_options_fill(evalue_ipc_options *options, const evalue_ipc_options *from);

bool evalue_ipc_is_open(const evalue_ipc_channel *c);

/* Memory of this process for at most IPC_MOST_NBYTES bytes: the channel's spare buffer, or new. NULL, with a fault,
 * when there is none. */
uint8_t *evalue_ipc_take_buffer(evalue_ipc_channel *c, uint64_t nbytes, uint64_t *memory_nbytes);
void evalue_ipc_return_buffer(evalue_ipc_channel *c, uint8_t *memory, uint64_t memory_nbytes);

/* ---- memory.c: shared memory, as Linux has it ---- */

/*
 * Makes memory of nbytes zero bytes, which will have at most `most`. Returns its descriptor; -1, with errno, on
 * failure.
 */
int evalue_ipc_memory_create(const char *name, uint64_t nbytes, uint64_t most);

/* Seals memory against shrinking and growing, for good; against writing too, if asked to. False with errno. */
bool evalue_ipc_memory_seal(int fd, bool against_writing);

/* What memory of another process is like. */
typedef struct ipc_memory {
  uint64_t nbytes;
  bool is_memory; /* of a kind that can be sealed, and does not raise signals */
  bool is_steady; /* its size cannot change */
  bool is_sealed; /* neither can its bytes */
} ipc_memory;

void evalue_ipc_memory_look(int fd, ipc_memory *memory);

/* How memory is mapped. */
typedef enum ipc_mapping {
  IPC_MAP_OWN,     /* memory of this process, which is made for it */
  IPC_MAP_WRITE,   /* shared, to be written */
  IPC_MAP_READ,    /* shared: what others write can be seen */
  IPC_MAP_CONSTANT /* sealed, so that nobody writes */
} ipc_mapping;

/* Maps nbytes bytes of memory. NULL with errno. */
uint8_t *evalue_ipc_map(int fd, uint64_t nbytes, ipc_mapping mapping);
void evalue_ipc_unmap(uint8_t *memory, uint64_t nbytes);

/* Reads nbytes bytes from the start of memory that may change meanwhile. False, with errno, or 0 when it is shorter. */
bool evalue_ipc_memory_read(int fd, uint8_t *data, uint64_t nbytes);

/* Waits until *word is no longer `value`, or somebody wakes, up to ms milliseconds. */
void evalue_ipc_word_wait(_Atomic uint32_t *word, uint32_t value, uint32_t ms);
void evalue_ipc_word_wake(_Atomic uint32_t *word);

/* ---- source.c: what is to be sent; how sending begins and fails ---- */

typedef struct ipc_source {
  const evalue *values; /* n of them; NULL: bytes is the message, encoded already */
  size_t n;
  const void *bytes;
  uint64_t nbytes; /* of the message */
  uint32_t alignment;
} ipc_source;

/* Writes the message to memory, where there is room for it. */
evalue_status evalue_ipc_source_encode(const ipc_source *source, uint8_t *memory);

/* Says whether the channel can still send. */
evalue_status evalue_ipc_sending_begin(evalue_ipc_channel *c);

/* Returns the status, after it has seen to c->error and the log. */
evalue_status evalue_ipc_sending_failed(evalue_ipc_channel *c, evalue_status status);

/* ---- sealed.c ---- */

/* As evalue_ipc_seal, for a source whose size is known. */
evalue_status evalue_ipc_seal_source(evalue_ipc_sealed *sealed, const ipc_source *source);

/* ---- socket.c: bytes and descriptors over the socket, with time limits ---- */

/* Milliseconds of a clock that never goes back. */
int64_t evalue_ipc_now(void);

/* Waits until the socket is ready for events of poll(), up to `deadline` (-1: for ever). EVALUE_TIMEOUT, EVALUE_IO. */
evalue_status evalue_ipc_wait(evalue_ipc_channel *c, int fd, short events, int64_t deadline);

/* Says whether the peer has closed its end. */
bool evalue_ipc_peer_is_gone(const evalue_ipc_channel *c);

/* How many slices one packet takes, its frame included. */
enum { IPC_MOST_SLICES = 64 };

/*
 * Sends n slices, of which the first is to become the frame, and a descriptor (-1: none). In a packet there are
 * IPC_MOST_SLICES at most. All of it, or nothing, or it ends sending.
 */
evalue_status evalue_ipc_put(evalue_ipc_channel *c, const ipc_frame *frame, evalue_slice *slices, size_t n, int fd);

/*
 * Receives a frame and the descriptor that came with it, -1 for none, which is the caller's then, also on failure.
 * EVALUE_END when the peer has closed; after another failure c->has_begun says whether a frame had begun.
 */
evalue_status evalue_ipc_get_frame(evalue_ipc_channel *c, ipc_frame *frame, int *fd);

/* Closes a descriptor that came with a frame, and does not wait for that; -1 is none. */
void evalue_ipc_close_received(int fd);

/* Closes the channel's socket, and does not wait for that, whatever is in it. */
void evalue_ipc_hang_up(evalue_ipc_channel *c);

/* Receives the bytes that follow an inline frame. */
evalue_status evalue_ipc_get_bytes(evalue_ipc_channel *c, uint8_t *data, uint64_t nbytes);

/* ---- pool.c: slots, at both ends (spec/evalue-ipc.md, section 4) ---- */

/* Takes a free slot for nbytes bytes, and waits for one; makes the pool and offers it if there is none. */
evalue_status evalue_ipc_pool_take(evalue_ipc_channel *c, uint64_t nbytes, uint32_t *slot);

/* The slot's memory, at either end. */
uint8_t *evalue_ipc_pool_slot(const evalue_ipc_pool *pool, uint32_t slot);

/* The sender: a slot goes to the peer; or comes back without having gone. */
void evalue_ipc_pool_hand_over(evalue_ipc_pool *pool, uint32_t slot);
void evalue_ipc_pool_put_back(evalue_ipc_pool *pool, uint32_t slot);

/* Says whether the sender has taken this slot, and not handed it over. */
bool evalue_ipc_pool_is_reserved(const evalue_ipc_pool *pool, uint32_t slot);

/* The receiver: maps the pool that was offered; holds the slot of a frame; gives it back. */
evalue_status evalue_ipc_pool_accept(evalue_ipc_channel *c, const ipc_frame *frame, int fd);
evalue_status evalue_ipc_pool_hold(evalue_ipc_channel *c, const ipc_frame *frame);
void evalue_ipc_pool_give_back(evalue_ipc_pool *pool, uint32_t slot);

void evalue_ipc_pool_close(evalue_ipc_pool *pool);

#endif
