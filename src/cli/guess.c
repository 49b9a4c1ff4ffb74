/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file that is not EValue's looks like instead. Only for messages: nothing is ever read by a guess. */
#include <string.h>

#include "cli.h"

static bool starts_with(const cli_input *input, const char *magic, size_t size) {
  return input->size >= size && memcmp(input->data, magic, size) == 0;
}

/* CRC-32C bit by bit: eight bytes need no table. */
static uint32_t crc32c(const uint8_t *data, size_t size) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size; i++) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (UINT32_C(0x82f63b78) & (0 - (crc & 1)));
  }
  return ~crc;
}

/* A TFRecord begins with the record's length, u64, and the masked CRC-32C of these eight bytes. */
static bool is_tfrecord(const cli_input *input) {
  if (input->size < 16) return false;
  uint32_t crc = crc32c(input->data, 8);
  uint32_t masked = ((crc >> 15) | (crc << 17)) + UINT32_C(0xa282ead8);
  return evalue_load_u32(input->data + 8) == masked && evalue_load_u64(input->data) < EVALUE_SIZE_LIMIT;
}

static bool is_sequence(const cli_input *input) {
  evalue_reader reader;
  if (input->has_more) return false;
  evalue_status status = evalue_reader_init_sequence(&reader, input->data, input->size, NULL);
  while (status == EVALUE_OK) status = evalue_reader_next(&reader, NULL);
  return status == EVALUE_END && evalue_reader_count(&reader) > 0;
}

static uint32_t load_big_endian_u32(const uint8_t *p) {
  return evalue_swap_u32(evalue_load_u32(p));
}

/* The payload of a Tensor in EValue.toByteArray(): scalar type, ndim, big-endian sizes, data. */
static bool is_java_tensor(const uint8_t *p, size_t size) {
  int32_t sizes[EVALUE_MAX_NDIM];
  uint64_t nbytes = 0;
  if (size < 2 || p[1] > EVALUE_MAX_NDIM || size < 2 + 4 * (size_t)p[1]) return false;
  for (size_t d = 0; d < p[1]; d++) sizes[d] = (int32_t)load_big_endian_u32(p + 2 + 4 * d);
  return evalue_tensor_nbytes(p[0], p[1], sizes, &nbytes) == EVALUE_OK && nbytes == size - 2 - 4 * (size_t)p[1];
}

/* One value, exactly, as ExecuTorch's Android class EValue writes it (spec, section 16). */
static bool is_java(const cli_input *input) {
  if (input->size == 0 || input->has_more) return false;
  const uint8_t *payload = input->data + 1;
  size_t size = input->size - 1;
  switch (input->data[0]) {
    case EVALUE_TAG_NONE: return size == 0;
    case EVALUE_TAG_TENSOR: return is_java_tensor(payload, size);
    case EVALUE_TAG_STRING: return size >= 4 && load_big_endian_u32(payload) == size - 4;
    case EVALUE_TAG_DOUBLE:
    case EVALUE_TAG_INT: return size == 8;
    case EVALUE_TAG_BOOL: return size == 1 && payload[0] <= 1;
    default: return false;
  }
}

static bool is_json_lines(const cli_input *input) {
  size_t size = input->size < 64 ? input->size : 64;
  const uint8_t *brace = memchr(input->data, '{', size);
  if (brace == NULL) return false;
  for (const uint8_t *p = input->data; p < brace; p++) {
    if (strchr(" \t\r\n", *p) == NULL || *p == '\0') return false;
  }
  size -= (size_t)(brace - input->data);
  return memmem(brace, size, "\"", 1) != NULL;
}

/* What bytes look like, apart from EValue's own two forms; NULL when that cannot be told. */
static const char *guess_foreign(const cli_input *input, cli_expected expected) {
  bool is_item = expected == CLI_EXPECTED_NPY || expected == CLI_EXPECTED_JSON; /* of pack */
  if (starts_with(input, "\x93NUMPY", 6)) {
    return is_item ? "a .npy file: --tensor reads it" : "a .npy file: 'evalue pack --tensor' reads it";
  }
  if (starts_with(input, "\x1f\x8b", 2)) return "gzip data";
  if (starts_with(input, "PK\3\4", 4)) return "a zip archive (.npz, .pt)";
  if (expected != CLI_EXPECTED_JSON && is_json_lines(input)) {
    return is_item ? "JSON Lines: --json reads them" : "JSON Lines: 'evalue pack --json' reads them";
  }
  if (is_tfrecord(input)) return "a TFRecord file";
  return NULL;
}

bool cli_guess(const cli_input *input, cli_expected expected, char text[CLI_GUESS_SIZE]) {
  const char *foreign = guess_foreign(input, expected);
  const char *option = input->form_option != NULL ? input->form_option : "--form";
  bool is_message = starts_with(input, "EVAL", 4);
  text[0] = '\0';
  if (is_message && expected == CLI_EXPECTED_SEQUENCE) {
    snprintf(text, CLI_GUESS_SIZE, "an EValue message: try %s message", option);
  } else if (is_message && expected != CLI_EXPECTED_MESSAGE) {
    snprintf(text, CLI_GUESS_SIZE, "an EValue message: 'evalue unpack' turns it into .npy files and JSON Lines");
  } else if (foreign != NULL) {
    snprintf(text, CLI_GUESS_SIZE, "%s", foreign);
  } else if (expected == CLI_EXPECTED_MESSAGE && is_sequence(input)) {
    snprintf(text, CLI_GUESS_SIZE, "an EValue sequence: try %s sequence", option);
  } else if (expected != CLI_EXPECTED_JSON && is_java(input)) {
    snprintf(text, CLI_GUESS_SIZE, "the bytes of ExecuTorch's Java EValue.toByteArray()");
  }
  return text[0] != '\0';
}
