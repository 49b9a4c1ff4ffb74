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

/* What bytes are that ExecuTorch's Android classes wrote (spec/executorch-java.md): one value, exactly; NULL when they
 * are none. */
static const char *guess_java(const cli_input *input, bool is_bare) {
  evalue_java_options options = {.bare_tensor = is_bare};
  evalue_error error;
  if (input->has_more) return NULL;
  evalue_status status = evalue_java_decode(input->data, input->size, &options, NULL, 0, NULL, NULL, &error);
  if (status == EVALUE_OK) {
    return is_bare ? "bytes of ExecuTorch's Java Tensor.toByteArray(): the tag 01 is missing"
                   : "bytes of ExecuTorch's Java EValue.toByteArray()";
  }
  return error.fault == EVALUE_FAULT_STRING_BEFORE_1_2 ? "a String of ExecuTorch's Java EValue before release 1.2"
                                                       : NULL;
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

/* Where Java bytes were expected, they can still be those of the other class; elsewhere the option that reads them may
 * help, but not with Strings that cannot be read. */
static void put_java_guess(const cli_input *input, cli_expected expected, const char *option,
                           char text[CLI_GUESS_SIZE]) {
  const char *java = guess_java(input, expected == CLI_EXPECTED_JAVA);
  if (java == NULL) return;
  bool is_form = expected == CLI_EXPECTED_MESSAGE || expected == CLI_EXPECTED_SEQUENCE;
  bool helps = is_form && strstr(java, "before") == NULL;
  snprintf(text, CLI_GUESS_SIZE, helps ? "%s: try %s executorch-java" : "%s", java, option);
}

bool cli_guess(const cli_input *input, cli_expected expected, char text[CLI_GUESS_SIZE]) {
  const char *foreign = guess_foreign(input, expected);
  const char *option = input->form_option != NULL ? input->form_option : "--form";
  bool is_message = starts_with(input, "EVAL", 4);
  text[0] = '\0';
  bool is_form = expected == CLI_EXPECTED_SEQUENCE || expected == CLI_EXPECTED_JAVA;
  if (is_message && is_form) {
    snprintf(text, CLI_GUESS_SIZE, "an EValue message: try %s message", option);
  } else if (is_message && expected != CLI_EXPECTED_MESSAGE) {
    snprintf(text, CLI_GUESS_SIZE, "an EValue message: 'evalue unpack' turns it into .npy files and JSON Lines");
  } else if (foreign != NULL) {
    snprintf(text, CLI_GUESS_SIZE, "%s", foreign);
  } else if ((expected == CLI_EXPECTED_MESSAGE || expected == CLI_EXPECTED_JAVA) && is_sequence(input)) {
    snprintf(text, CLI_GUESS_SIZE, "an EValue sequence: try %s sequence", option);
  } else if (expected != CLI_EXPECTED_JSON) {
    put_java_guess(input, expected, option, text);
  }
  return text[0] != '\0';
}
