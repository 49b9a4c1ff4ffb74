/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in memory that nobody can change any more. */
#include <errno.h>
#include <unistd.h>

#include "evalue/sink.h"
#include "ipc_internal.h"

/* Writing is faster than mapping and copying, which takes a page fault for every page. */
static evalue_status write_source(evalue_ipc_sealed *sealed, const ipc_source *source) {
  static const uint8_t behind[EVALUE_IPC_BYTES_BEHIND];
  evalue_file_sink file;
  evalue_status status = evalue_file_sink_init(&file, sealed->fd, NULL);
  if (status == EVALUE_OK && source->values != NULL) {
    status = evalue_message_write(&file.sink, source->values, source->n, source->alignment, NULL, NULL);
  } else if (status == EVALUE_OK) {
    status = evalue_sink_write(&file.sink, source->bytes, (size_t)source->nbytes, NULL);
  }
  sealed->nbytes = evalue_sink_used(&file.sink);
  if (status == EVALUE_OK) status = evalue_sink_write(&file.sink, behind, sizeof behind, NULL);
  sealed->system_error = file.sink.system_error;
  if (status != EVALUE_OK) return status;
  return evalue_sink_close(&file.sink); /* the descriptor stays open: it was not the sink's */
}

evalue_status evalue_ipc_seal_source(evalue_ipc_sealed *sealed, const ipc_source *source) {
  memset(sealed, 0, sizeof *sealed);
  sealed->fd = evalue_ipc_memory_create("evalue-sealed", 0, source->nbytes + EVALUE_IPC_BYTES_BEHIND);
  if (sealed->fd < 0) {
    sealed->system_error = errno;
    return EVALUE_IO;
  }
  evalue_status status = write_source(sealed, source);
  if (status == EVALUE_OK && !evalue_ipc_memory_seal(sealed->fd, true)) {
    sealed->system_error = errno;
    status = EVALUE_IO;
  }
  if (status == EVALUE_OK) {
    sealed->self = sealed;
  } else {
    close(sealed->fd);
    sealed->fd = -1;
  }
  return status;
}

evalue_status evalue_ipc_seal(evalue_ipc_sealed *sealed, const evalue *values, size_t n, uint32_t alignment) {
  static const evalue none;
  ipc_source source = {.values = n != 0 ? values : &none, .n = n, .alignment = alignment};
  if (sealed == NULL) return EVALUE_MISUSE;
  memset(sealed, 0, sizeof *sealed);
  sealed->fd = -1;
  evalue_status status = evalue_message_size(values, n, alignment, &source.nbytes);
  return status == EVALUE_OK ? evalue_ipc_seal_source(sealed, &source) : status;
}

evalue_status evalue_ipc_sealed_close(evalue_ipc_sealed *sealed) {
  if (sealed == NULL || sealed->self != sealed) return EVALUE_MISUSE;
  close(sealed->fd);
  sealed->fd = -1;
  sealed->self = NULL;
  return EVALUE_OK;
}
