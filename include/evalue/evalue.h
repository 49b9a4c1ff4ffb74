/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * libevalue: ExecuTorch values as bytes. This header includes all of its parts; each can be included alone.
 *
 *     version.h  status.h   which library; what went wrong, and where
 *     value.h    tensor.h   values; tensor arithmetic
 *     reader.h   writer.h   bytes to values; values to bytes
 *     inline.h              byte loads and stores, checked arithmetic
 *     text.h                values and errors for people
 */
#ifndef EVALUE_EVALUE_H
#define EVALUE_EVALUE_H

#include "evalue/inline.h"
#include "evalue/reader.h"
#include "evalue/status.h"
#include "evalue/tensor.h"
#include "evalue/text.h"
#include "evalue/value.h"
#include "evalue/version.h"
#include "evalue/writer.h"

#endif
