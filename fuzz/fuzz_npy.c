/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading .npy files from anyone: a message or a valid tensor, which the writer's header describes so that it is read
 * again. */
#include "fuzz.h"
#include "npy.h"

static int read_npy(const fuzz_bytes *bytes, cli_npy *npy) {
  fuzz_messages messages;
  cli_input file = {.name = "input.npy", .data = bytes->data, .size = bytes->size, .fd = -1, .slot = -1};
  fuzz_messages_begin(&messages);
  int result = cli_npy_read(&file, npy);
  fuzz_messages_end(&messages);
  FUZZ_CHECK(result == CLI_OK || result == CLI_BAD_DATA);
  fuzz_messages_check(&messages, result != CLI_OK);
  return result;
}

static bool is_order(const evalue_tensor *t, bool is_fortran) {
  for (size_t d = 0; d < t->ndim; d++) {
    if (t->dim_order[d] != (is_fortran ? t->ndim - 1U - d : d)) return false;
  }
  return true;
}

/* Writes the tensor's sizes and data in one of the two orders, and reads that. */
static void check_written(evalue_tensor t, bool is_fortran) {
  char header[CLI_NPY_HEADER_SIZE];
  cli_npy again;
  for (size_t d = 0; d < t.ndim; d++) t.dim_order[d] = (uint8_t)(is_fortran ? t.ndim - 1U - d : d);
  size_t size = cli_npy_header(&t, is_fortran, header);
  FUZZ_CHECK(size % 64 == 0 && size <= sizeof header && header[size - 1] == '\n');
  fuzz_bytes file = fuzz_new(size + t.nbytes, 0);
  memcpy(file.data, header, size);
  if (t.nbytes != 0) memcpy(file.data + size, t.data, t.nbytes);
  FUZZ_CHECK(read_npy(&file, &again) == CLI_OK && !again.is_big_endian);
  evalue a = evalue_from_tensor(&t), b = evalue_from_tensor(&again.tensor);
  FUZZ_CHECK(evalue_equal(&a, &b));
  fuzz_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  cli_npy npy;
  fuzz_bytes bytes = fuzz_copy(input, size, 0);
  if (read_npy(&bytes, &npy) == CLI_OK) {
    const evalue_tensor *t = &npy.tensor;
    FUZZ_CHECK(evalue_tensor_check(t) == EVALUE_OK);
    const uint8_t *data = (const uint8_t *)t->data;
    FUZZ_CHECK(data >= bytes.data && data + t->nbytes == bytes.data + size);
    FUZZ_CHECK(is_order(t, false) || is_order(t, true));
    FUZZ_CHECK(!npy.is_big_endian || evalue_component_size(t->scalar_type) > 1);
    check_written(*t, false);
    check_written(*t, true);
  }
  fuzz_free(&bytes);
  return 0;
}
