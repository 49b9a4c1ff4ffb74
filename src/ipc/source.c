/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be sent, values or a message that is encoded already; and how sending begins and fails. */
#include "ipc_internal.h"

evalue_status evalue_ipc_source_encode(const ipc_source *source, uint8_t *memory) {
  uint64_t nbytes;
  if (source->values == NULL) {
    memcpy(memory, source->bytes, (size_t)source->nbytes);
    return EVALUE_OK;
  }
  return evalue_message_encode(source->values, source->n, source->alignment, memory, (size_t)source->nbytes, &nbytes);
}

evalue_status evalue_ipc_sending_begin(evalue_ipc_channel *c) {
  if (!evalue_ipc_is_open(c)) return EVALUE_MISUSE;
  c->error = c->send_error; /* of a failure that ended sending; otherwise none */
  c->system_error = c->send_system_error;
  return (evalue_status)c->send_error.status;
}

evalue_status evalue_ipc_sending_failed(evalue_ipc_channel *c, evalue_status status) {
  if (c->error.status != (int32_t)status) { /* it is one of the writer's, about the values */
    memset(&c->error, 0, sizeof c->error);
    c->error.status = (int32_t)status;
    c->error.fault = EVALUE_FAULT_ARGUMENT;
    c->error.value_index = EVALUE_NO_INDEX;
  }
  EVALUE_LOG_STATUS(&evalue_log_ipc, EVALUE_LOG_INFO, (int32_t)status, 0, "sending failed: %s",
                    evalue_fault_message(c->error.fault));
  return status;
}
