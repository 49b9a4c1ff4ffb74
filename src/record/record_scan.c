/* SPDX-License-Identifier: BSD-3-Clause */
/* From head to head through a file, without the data. */
#include <errno.h>

#include "record_internal.h"

static evalue_status fail(evalue_record_scan *scan, int error) {
  scan->system_error = error;
  scan->error = (evalue_error){.status = EVALUE_IO, .position = scan->end, .value_index = EVALUE_NO_INDEX};
  return EVALUE_IO;
}

/* Goes behind the record at scan->end. */
static evalue_status step(evalue_record_scan *scan, evalue_record_index *index) {
  uint8_t head[RECORD_HEAD];
  uint64_t length = 0, offset = scan->end;
  int64_t got = evalue_record_read_full(scan->fd, head, sizeof head, offset);
  if (got < 0) return fail(scan, errno);
  if (got == 0) return EVALUE_END;
  if (got < RECORD_HEAD) {
    return evalue_record_fail_short(&scan->error, EVALUE_FAULT_RECORD_HEAD_SHORT, offset, offset + RECORD_HEAD,
                                    offset + (uint64_t)got);
  }
  evalue_status status = evalue_record_judge_head(head, offset, &length, &scan->error);
  if (status != EVALUE_OK) return status;
  uint64_t end = offset + RECORD_FRAME + length;
  if (end > scan->file_size) {
    return evalue_record_fail_short(&scan->error, EVALUE_FAULT_RECORD_SHORT, offset, end, scan->file_size);
  }
  if (index != NULL && !evalue_record_index_add(index, offset, end - offset)) return fail(scan, errno);
  scan->end = end;
  scan->records++;
  return EVALUE_OK;
}

evalue_status evalue_record_scan_heads(evalue_record_scan *scan, int fd, evalue_record_index *index) {
  int error;
  memset(scan, 0, sizeof *scan);
  scan->fd = fd;
  if (!evalue_record_file_size(fd, &scan->file_size, &error))
    return error != 0 ? fail(scan, error) : EVALUE_UNSUPPORTED;
  evalue_status status;
  do {
    status = step(scan, index);
  } while (status == EVALUE_OK);
  return status;
}
