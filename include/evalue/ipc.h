/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Passing messages between processes: values for carriers that take only so many bytes at once.
 *
 *     size_t counts[8], parts;
 *     if (evalue_message_split(values, n, 0, EVALUE_BINDER_LIMIT, counts, 8, &parts, NULL) == EVALUE_OK)
 *       for (size_t i = 0, first = 0; i < parts; first += counts[i++]) {
 *         uint64_t nbytes;
 *         if (evalue_message_encode(values + first, counts[i], 0, storage, sizeof storage, &nbytes) == EVALUE_OK)
 *           send(fd, storage, (size_t)nbytes, 0);
 *       }
 *
 * Each message decodes by itself; the values of all of them, one after the other, are the original ones.
 */
#ifndef EVALUE_IPC_H
#define EVALUE_IPC_H

#include "evalue/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a message may take where nobody says otherwise: far from filling Binder's buffer of 1 MiB for a whole process.
 */
#define EVALUE_BINDER_LIMIT 65536

/** What libbinder's RPC takes, and what AOSP's TrainingExampleRecord does: bytes. */
#define EVALUE_BINDER_RPC_LIMIT      100000
#define EVALUE_TRAINING_RECORD_LIMIT 50000

/**
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
