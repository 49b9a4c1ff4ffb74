/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading JSON Lines from anyone: each line a message or a valid value, which is written so that it is read again. */
#include "fuzz.h"
#include "json.h"

/* Without a seed of ours, jansson's hash tables differ from run to run. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  json_object_seed(1);
  return 0;
}

/* Reads from memory, which fmemopen wants to be able to write; false when it will not have it. */
static bool open_json(cli_json_reader *reader, void *text, size_t size) {
  memset(reader, 0, sizeof *reader);
  reader->name = "input.jsonl";
  reader->stream = fmemopen(text, size, "r");
  return reader->stream != NULL;
}

static int next(cli_json_reader *reader, evalue *value) {
  fuzz_messages messages;
  fuzz_messages_begin(&messages);
  int result = cli_json_next(reader, value);
  fuzz_messages_end(&messages);
  FUZZ_CHECK(result == CLI_OK || result == CLI_JSON_END || result == CLI_BAD_DATA);
  fuzz_messages_check(&messages, result == CLI_BAD_DATA);
  return result;
}

/* One line, without anything but what it says, that reads as the same value; and then nothing. */
static void check_written(const evalue *value) {
  fuzz_stream line;
  cli_json_reader reader;
  evalue again;
  fuzz_stream_open(&line);
  FUZZ_CHECK(cli_json_write(line.stream, value));
  fuzz_stream_close(&line);
  FUZZ_CHECK(line.size > 1 && line.text[line.size - 1] == '\n');
  FUZZ_CHECK(fuzz_is_text(line.text, line.size - 1, false));
  FUZZ_CHECK(open_json(&reader, line.text, line.size));
  FUZZ_CHECK(next(&reader, &again) == CLI_OK && evalue_equal(value, &again));
  FUZZ_CHECK(next(&reader, &again) == CLI_JSON_END);
  cli_json_close(&reader);
  free(line.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  cli_json_reader reader;
  evalue value;
  fuzz_bytes text = fuzz_copy(input, size, 0);
  if (open_json(&reader, text.data, size)) {
    uint64_t line = 0;
    for (int result = CLI_OK; result != CLI_JSON_END;) { /* also past a bad line: each one stands alone */
      result = next(&reader, &value);
      FUZZ_CHECK(result == CLI_JSON_END || reader.line > line);
      line = reader.line;
      if (result != CLI_OK) continue;
      FUZZ_CHECK(evalue_check(&value) == EVALUE_OK);
      check_written(&value);
    }
    FUZZ_CHECK(reader.done == size);
    cli_json_close(&reader);
  }
  fuzz_free(&text);
  return 0;
}
