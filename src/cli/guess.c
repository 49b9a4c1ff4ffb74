/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file that is not as expected looks like instead. Only for messages: nothing is ever read by a guess. */
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

/* What bytes can be that ExecuTorch's Android classes wrote (spec/executorch-java.md). */
typedef enum java_kind { NO_JAVA, JAVA_VALUE, JAVA_TENSOR, JAVA_OLD_STRING } java_kind;

static evalue_status judge_java(const cli_input *input, bool is_bare, evalue_error *error) {
  evalue_java_options options = {.bare_tensor = is_bare};
  return evalue_java_decode(input->data, input->size, &options, NULL, 0, NULL, NULL, error);
}

/* One value, exactly. */
static java_kind find_java(const cli_input *input) {
  evalue_error error;
  if (input->has_more) return NO_JAVA;
  if (judge_java(input, false, &error) == EVALUE_OK) return JAVA_VALUE;
  if (error.fault == EVALUE_FAULT_STRING_BEFORE_1_2) return JAVA_OLD_STRING;
  return judge_java(input, true, &error) == EVALUE_OK ? JAVA_TENSOR : NO_JAVA;
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

/* What bytes look like, apart from the forms that the command reads; NULL when that cannot be told. */
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

static void put_java_guess(const cli_input *input, cli_expected expected, const char *option,
                           char text[CLI_GUESS_SIZE]) {
  static const char *const names[] = {
      [NO_JAVA] = "",
      [JAVA_VALUE] = "bytes of ExecuTorch's Java EValue.toByteArray()",
      [JAVA_TENSOR] = "bytes of ExecuTorch's Java Tensor.toByteArray(): the tag 01 is missing",
      [JAVA_OLD_STRING] = "a String of ExecuTorch's Java EValue before release 1.2",
  };
  java_kind kind = find_java(input);
  bool is_form = expected == CLI_EXPECTED_MESSAGE || expected == CLI_EXPECTED_SEQUENCE;
  if (expected == CLI_EXPECTED_JAVA ? kind != JAVA_TENSOR : kind == JAVA_TENSOR) return; /* any bytes could be that */
  bool helps = is_form && kind == JAVA_VALUE;
  snprintf(text, CLI_GUESS_SIZE, helps ? "%s: try %s executorch-java" : "%s", names[kind], option);
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
