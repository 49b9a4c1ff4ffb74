/* SPDX-License-Identifier: BSD-3-Clause */
/* What the faults of passing messages should be like, and which of them a test program has produced. */
#ifndef TESTS_IPC_FAULTS_H
#define TESTS_IPC_FAULTS_H

#include "ipc_support.h"

/* ---- faults, as spec/evalue-ipc.md, section 6, has them ---- */

#define MAGIC UINT64_C(0x50495645) /* as a u32 */

static const struct {
  evalue_fault fault;
  evalue_status status;
  evalue_field field;
} fault_rows[] = {
    {EVALUE_FAULT_FRAME_SHORT, EVALUE_TRUNCATED, EVALUE_FIELD_PEER},
    {EVALUE_FAULT_MESSAGE_SHORT, EVALUE_TRUNCATED, EVALUE_FIELD_LENGTH},
    {EVALUE_FAULT_BAD_FRAME_MAGIC, EVALUE_MALFORMED, EVALUE_FIELD_MAGIC},
    {EVALUE_FAULT_FRAME_VERSION, EVALUE_UNSUPPORTED, EVALUE_FIELD_MAJOR},
    {EVALUE_FAULT_UNKNOWN_CARRIER, EVALUE_UNSUPPORTED, EVALUE_FIELD_CARRIER},
    {EVALUE_FAULT_FRAME_FLAGS, EVALUE_UNSUPPORTED, EVALUE_FIELD_FLAGS},
    {EVALUE_FAULT_FRAME_PLACE, EVALUE_MALFORMED, EVALUE_FIELD_SLOT},
    {EVALUE_FAULT_PACKET_LENGTH, EVALUE_MALFORMED, EVALUE_FIELD_LENGTH},
    {EVALUE_FAULT_MESSAGE_TOO_LARGE, EVALUE_LIMIT, EVALUE_FIELD_LENGTH},
    {EVALUE_FAULT_POOL_SHAPE, EVALUE_MALFORMED, EVALUE_FIELD_SLOT},
    {EVALUE_FAULT_POOL_TOO_LARGE, EVALUE_LIMIT, EVALUE_FIELD_LENGTH},
    {EVALUE_FAULT_POOL_AGAIN, EVALUE_MALFORMED, EVALUE_FIELD_CARRIER},
    {EVALUE_FAULT_NO_POOL, EVALUE_MALFORMED, EVALUE_FIELD_CARRIER},
    {EVALUE_FAULT_SLOT_RANGE, EVALUE_MALFORMED, EVALUE_FIELD_SLOT},
    {EVALUE_FAULT_SLOT_HELD, EVALUE_MALFORMED, EVALUE_FIELD_SLOT},
    {EVALUE_FAULT_SLOT_LENGTH, EVALUE_MALFORMED, EVALUE_FIELD_LENGTH},
    {EVALUE_FAULT_NO_DESCRIPTOR, EVALUE_MALFORMED, EVALUE_FIELD_DESCRIPTOR},
    {EVALUE_FAULT_STRAY_DESCRIPTOR, EVALUE_MALFORMED, EVALUE_FIELD_DESCRIPTOR},
    {EVALUE_FAULT_NOT_MEMORY, EVALUE_UNSUPPORTED, EVALUE_FIELD_DESCRIPTOR},
    {EVALUE_FAULT_NOT_SEALED, EVALUE_MALFORMED, EVALUE_FIELD_DESCRIPTOR},
    {EVALUE_FAULT_MEMORY_SIZE, EVALUE_MALFORMED, EVALUE_FIELD_LENGTH},
    {EVALUE_FAULT_SLOTS_TAKEN, EVALUE_TIMEOUT, EVALUE_FIELD_SLOT},
    {EVALUE_FAULT_SLOT_TOO_SMALL, EVALUE_LIMIT, EVALUE_FIELD_SLOT},
    {EVALUE_FAULT_PACKET_TOO_LARGE, EVALUE_LIMIT, EVALUE_FIELD_PEER},
    {EVALUE_FAULT_PEER_SLOW, EVALUE_TIMEOUT, EVALUE_FIELD_PEER},
    {EVALUE_FAULT_PEER_GONE, EVALUE_IO, EVALUE_FIELD_PEER},
    {EVALUE_FAULT_SYSTEM_CALL, EVALUE_IO, EVALUE_FIELD_NONE},
};

/* Those that test_receive.c does not produce, and the test that does. */
#define FAULTS_ELSEWHERE(X)                                                                                            \
  X(SLOTS_TAKEN, "pool")                                                                                               \
  X(SLOT_TOO_SMALL, "pool")                                                                                            \
  X(PACKET_TOO_LARGE, "inline")                                                                                        \
  X(PEER_GONE, "inline")                                                                                               \
  X(SYSTEM_CALL, "memory")                                                                                             \
  X(POOL_AGAIN, "memory")                                                                                              \
  X(SLOT_RANGE, "memory")                                                                                              \
  X(SLOT_HELD, "memory")                                                                                               \
  X(SLOT_LENGTH, "memory")                                                                                             \
  X(NOT_SEALED, "memory")                                                                                              \
  X(MEMORY_SIZE, "memory")

static bool is_produced[COUNT_OF(fault_rows)];

/* The channel's error is this fault, in every member, and has a sentence. */
static inline void check_fault(const evalue_ipc_channel *c, evalue_fault fault, uint64_t position, uint64_t expected,
                               uint64_t found) {
  const evalue_error *e = evalue_ipc_error(c);
  char text[512];
  size_t i = 0;
  while (i < COUNT_OF(fault_rows) && fault_rows[i].fault != fault) i++;
  assert_true(i < COUNT_OF(fault_rows));
  assert_string_equal(evalue_fault_name(e->fault), evalue_fault_name(fault));
  assert_int_equal(e->status, fault_rows[i].status);
  assert_int_equal(e->field, fault_rows[i].field);
  assert_int_equal(e->position, position);
  assert_true(e->value_index == EVALUE_NO_INDEX);
  assert_int_equal(e->expected, expected);
  assert_int_equal(e->found, found);
  assert_int_equal(e->needed, e->status == EVALUE_TRUNCATED ? expected : 0);
  if (e->status == EVALUE_IO) assert_int_not_equal(c->system_error, 0);
  assert_in_range(evalue_print_error(e, text, sizeof text), 20, sizeof text - 1);
  assert_non_null(strstr(text, evalue_status_name(e->status)));
  assert_non_null(strstr(text, evalue_fault_message(fault)));
  assert_null(strchr(text, '?'));
  is_produced[i] = true;
}

/* Receiving fails with this fault, and goes on failing with it. */
static inline void expect_fault(evalue_ipc_channel *c, evalue_fault fault, uint64_t position, uint64_t expected,
                                uint64_t found) {
  evalue_ipc_message m;
  for (int i = 0; i < 2; i++) {
    memset(&m, 0xA5, sizeof m);
    evalue_status status = evalue_ipc_receive(c, &m);
    check_fault(c, fault, position, expected, found);
    assert_int_equal(status, c->error.status);
    assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
  }
}

/* The peer has closed, and that is all. */
static inline void expect_end(evalue_ipc_channel *c) {
  const evalue_error none = {0};
  for (int i = 0; i < 2; i++) {
    evalue_ipc_message m;
    assert_int_equal(evalue_ipc_receive(c, &m), EVALUE_END);
    assert_memory_equal(&c->error, &none, sizeof none);
    assert_int_equal(evalue_ipc_release(&m), EVALUE_OK);
  }
}

/* The last test of a file: what FAULTS_ELSEWHERE says of it is true. */
static inline void check_produced_in(const char *file) {
#define X(name, where)                                                                                                 \
  for (size_t i = 0; i < COUNT_OF(fault_rows); i++) {                                                                  \
    if (fault_rows[i].fault == EVALUE_FAULT_##name && strcmp(where, file) == 0) assert_true(is_produced[i]);           \
  }
  FAULTS_ELSEWHERE(X)
#undef X
}

#endif
