/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame of a record: its head, the CRC of its data, and what can be wrong with them. */
#include "record_internal.h"

/* ---- faults ---- */

evalue_status evalue_record_fail(evalue_error *error, evalue_fault fault, uint64_t position, uint64_t expected,
                                 uint64_t found) {
  static const struct {
    uint8_t status, field;
  } faults[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning)                                               \
  [EVALUE_FAULT_##name - EVALUE_FAULT_RECORD_BASE] = {EVALUE_##status, EVALUE_FIELD_##field},
      EVALUE_RECORD_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  int row = (int)fault - EVALUE_FAULT_RECORD_BASE;
  *error = (evalue_error){.status = faults[row].status, .fault = (uint16_t)fault, .field = faults[row].field};
  error->position = position;
  error->value_index = EVALUE_NO_INDEX;
  error->expected = expected;
  error->found = found;
  return (evalue_status)error->status;
}

evalue_status evalue_record_fail_short(evalue_error *error, evalue_fault fault, uint64_t position, uint64_t needed,
                                       uint64_t size) {
  evalue_status status =
      evalue_record_fail(error, fault, position, needed - position, size > position ? size - position : 0);
  error->needed = needed;
  return status;
}

/* ---- frames ---- */

evalue_status evalue_record_head(uint64_t length, uint8_t head[EVALUE_RECORD_HEAD_SIZE]) {
  if (head == NULL) return EVALUE_MISUSE;
  if (length >= EVALUE_SIZE_LIMIT) return EVALUE_LIMIT;
  evalue_store_u64(head, length);
  evalue_store_u32(head + 8, evalue_record_mask(evalue_record_crc_of_length(length)));
  return EVALUE_OK;
}

evalue_status evalue_record_judge_head(const uint8_t *head, uint64_t offset, uint64_t *length, evalue_error *error) {
  uint64_t found_length = evalue_load_u64(head);
  uint32_t found = evalue_load_u32(head + 8);
  uint32_t expected = evalue_record_mask(evalue_record_crc_of_length(found_length));
  if (found != expected) return evalue_record_fail(error, EVALUE_FAULT_RECORD_LENGTH_CRC, offset, expected, found);
  if (found_length >= EVALUE_SIZE_LIMIT) {
    return evalue_record_fail(error, EVALUE_FAULT_RECORD_LENGTH_LARGE, offset, EVALUE_SIZE_LIMIT - 1, found_length);
  }
  *length = found_length;
  return EVALUE_OK;
}

evalue_status evalue_record_judge_data(uint32_t crc, const uint8_t *tail, uint64_t offset, evalue_error *error) {
  uint32_t found = evalue_load_u32(tail);
  uint32_t expected = evalue_record_mask(crc);
  if (found == expected) return EVALUE_OK;
  return evalue_record_fail(error, EVALUE_FAULT_RECORD_DATA_CRC, offset + RECORD_HEAD, expected, found);
}
