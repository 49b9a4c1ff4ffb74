/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `evalue show` draws for anything: text without surprises, in colour the same text, and a message exactly when
 * the input has a fault.
 *
 * The first byte of an input: bit 0 a sequence, bit 1 the table, not the layout, bit 2 ExecuTorch's Java bytes; then
 * bit 3 to 7 are its options. The rest is what is shown.
 */
#include "cli.h"
#include "fuzz.h"

static bool is_good(const cli_input *input, const cli_format *format) {
  cli_reader reader;
  cli_reader_init(&reader, input, format);
  while (cli_reader_next(&reader, NULL) == EVALUE_OK) {
  }
  return cli_reader_error(&reader)->status == EVALUE_OK;
}

static void show(const cli_input *input, const cli_format *format, bool is_table, bool colour, fuzz_stream *drawing) {
  fuzz_messages messages;
  bool expected = is_good(input, format);
  fuzz_stream_open(drawing);
  fuzz_messages_begin(&messages);
  int result = is_table ? cli_show_table(drawing->stream, input, format)
                        : cli_show_layout(drawing->stream, input, format, colour);
  fuzz_messages_end(&messages);
  fuzz_stream_close(drawing);
  FUZZ_CHECK(result == (expected ? CLI_OK : CLI_BAD_DATA));
  fuzz_messages_check(&messages, !expected);
}

/* Takes away what sets colours: ESC [ digits and semicolons m. Returns the new size. */
static size_t strip_colours(char *text, size_t size) {
  size_t n = 0;
  for (size_t i = 0; i < size; i++) {
    if (text[i] == '\x1b' && i + 1 < size && text[i + 1] == '[') {
      i += 2;
      while (i < size && ((text[i] >= '0' && text[i] <= '9') || text[i] == ';')) i++;
      FUZZ_CHECK(i < size && text[i] == 'm');
    } else {
      text[n++] = text[i];
    }
  }
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  fuzz_stream plain, coloured;
  if (size == 0) return 0;
  cli_format format = {.form = (input[0] & 1) != 0 ? CLI_SEQUENCE : CLI_MESSAGE};
  if ((input[0] & 4) != 0) {
    format.form = CLI_JAVA;
    format.java.allow_trailing = input[0] >> 3 & 1;
    format.java.allow_any_bool = input[0] >> 4 & 1;
    format.java.allow_any_text = input[0] >> 5 & 1;
    format.java.release = (input[0] >> 6) * 2U;
  }
  bool is_table = (input[0] & 2) != 0;
  fuzz_bytes bytes = fuzz_copy(input + 1, size - 1, 0);
  cli_input file = {.name = "input", .data = bytes.data, .size = bytes.size, .fd = -1, .slot = -1};
  show(&file, &format, is_table, false, &plain);
  FUZZ_CHECK(fuzz_is_text(plain.text, plain.size, true));
  FUZZ_CHECK(plain.size == 0 || plain.text[plain.size - 1] == '\n');
  if (!is_table) {
    show(&file, &format, is_table, true, &coloured);
    size_t stripped = strip_colours(coloured.text, coloured.size);
    FUZZ_CHECK(stripped == plain.size && memcmp(coloured.text, plain.text, stripped) == 0);
    free(coloured.text);
  }
  free(plain.text);
  fuzz_free(&bytes);
  return 0;
}
