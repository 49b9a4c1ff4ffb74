/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * libevalue: ExecuTorch values as bytes, and bytes as values.
 *
 *     evalue v = evalue_from_int(7), back;
 *     uint8_t bytes[64];
 *     uint64_t nbytes, count;
 *     evalue_message_encode(&v, 1, 0, bytes, sizeof bytes, &nbytes);
 *     evalue_message_decode(bytes, (size_t)nbytes, NULL, &back, 1, &count, NULL);
 *
 * This header includes all parts; each can be included alone:
 *
 * - version.h, status.h: which library; what went wrong, and where
 * - value.h, tensor.h: values; tensor arithmetic
 * - reader.h, writer.h: bytes to values; values to bytes
 * - log.h: logging by component
 * - sink.h: where bytes go: memory, files, callbacks, several places
 * - tracer.h: the values that pass a point of a program, into a sink
 * - executorch_java.h: the bytes of ExecuTorch's Android class EValue
 * - record.h, dataset.h: files of training examples; loading them in batches (in libevalue-record)
 * - ipc.h: values for carriers that take only so many bytes at once
 * - inline.h: byte loads and stores, checked arithmetic
 * - text.h: values and errors for people
 */
#ifndef EVALUE_EVALUE_H
#define EVALUE_EVALUE_H

#include "evalue/dataset.h"
#include "evalue/executorch_java.h"
#include "evalue/inline.h"
#include "evalue/ipc.h"
#include "evalue/log.h"
#include "evalue/reader.h"
#include "evalue/record.h"
#include "evalue/sink.h"
#include "evalue/status.h"
#include "evalue/tensor.h"
#include "evalue/text.h"
#include "evalue/tracer.h"
#include "evalue/value.h"
#include "evalue/version.h"
#include "evalue/writer.h"

#endif
