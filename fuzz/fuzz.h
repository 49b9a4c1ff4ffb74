/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fuzz targets share: a check that never goes away, memory of exact size, a judge of text, a captured stderr.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* ---- checks -------------------------------------------------------------------------------------------------- */

/* Not assert: NDEBUG must not take it away. */
#define FUZZ_CHECK(condition) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))

/* Past stdio: stderr may be captured just now. */
static inline void fuzz_fail(const char *file, int line, const char *condition) {
  char text[512];
  int length = snprintf(text, sizeof text, "%s:%d: FUZZ_CHECK failed: %s\n", file, line, condition);
  size_t nbytes = length < (int)sizeof text ? (size_t)length : sizeof text - 1;
  if (write(STDERR_FILENO, text, nbytes) < 0) abort();
  abort();
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

/* Bytes with nothing behind them, so that AddressSanitizer sees the first byte too far. */
typedef struct fuzz_bytes {
  uint8_t *data; /* size bytes, at an address of offset modulo 16 */
  size_t size;
  uint8_t *memory;
} fuzz_bytes;

static inline fuzz_bytes fuzz_new(size_t size, size_t offset) {
  fuzz_bytes bytes;
  if (size + offset == 0) offset = 16; /* malloc(0) would give a byte that can be read */
  bytes.memory = (uint8_t *)malloc(size + offset);
  if (bytes.memory == NULL) abort();
  bytes.data = bytes.memory + offset;
  bytes.size = size;
  return bytes;
}

static inline fuzz_bytes fuzz_copy(const void *data, size_t size, size_t offset) {
  fuzz_bytes bytes = fuzz_new(size, offset);
  if (size != 0) memcpy(bytes.data, data, size);
  return bytes;
}

static inline void fuzz_free(fuzz_bytes *bytes) {
  free(bytes->memory);
  bytes->memory = NULL;
}

enum { FUZZ_FILL = 0xa5 };

static inline void fuzz_fill(const fuzz_bytes *bytes) {
  if (bytes->size != 0) memset(bytes->data, FUZZ_FILL, bytes->size);
}

/* Says whether nothing was written since fuzz_fill, from a byte on. */
static inline bool fuzz_is_filled(const fuzz_bytes *bytes, size_t from) {
  if (from >= bytes->size) return true;
  const uint8_t *p = bytes->data + from;
  return p[0] == FUZZ_FILL && memcmp(p, p + 1, bytes->size - from - 1) == 0;
}

/* ---- the input as decisions ---------------------------------------------------------------------------------- */

typedef struct fuzz_source {
  const uint8_t *data;
  size_t size, at;
} fuzz_source;

/* Takes a byte; zero for ever after the end. */
static inline uint8_t fuzz_take(fuzz_source *source) {
  return source->at < source->size ? source->data[source->at++] : 0;
}

static inline uint64_t fuzz_take_number(fuzz_source *source, int nbytes) {
  uint64_t number = 0;
  for (int i = 0; i < nbytes; i++) number |= (uint64_t)fuzz_take(source) << 8 * i;
  return number;
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

/* The length of the character at p, and its code; 0 for ill-formed UTF-8. Written apart from the two in src. */
static inline size_t fuzz_character(const uint8_t *p, size_t left, uint32_t *code) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t size = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
  if (size == 0 || size > left) return 0;
  uint32_t c = size == 1 ? p[0] : p[0] & (0xffU >> (size + 1));
  for (size_t i = 1; i < size; i++) {
    if (p[i] >> 6 != 2) return 0;
    c = c * 64 + (p[i] & 63U);
  }
  *code = c;
  return c < least[size] || c > 0x10ffff || c >> 11 == 0x1b ? 0 : size;
}

/* Marks that reorder text or break lines: U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069. */
static inline bool fuzz_is_mark(uint32_t c) {
  bool is_direction = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2066 && c <= 0x2069);
  return is_direction || (c >= 0x2028 && c <= 0x202e);
}

/* Says whether text is well-formed UTF-8 without anything that steers a terminal; newlines are fine in lines. */
static inline bool fuzz_is_text(const char *text, size_t size, bool has_lines) {
  const uint8_t *p = (const uint8_t *)text;
  for (size_t i = 0; i < size;) {
    uint32_t c = 0;
    size_t length = fuzz_character(p + i, size - i, &c);
    if (length == 0) return false;
    bool is_control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    if (is_control && !(c == '\n' && has_lines)) return false;
    if (fuzz_is_mark(c)) return false;
    i += length;
  }
  return true;
}

/* ---- streams ------------------------------------------------------------------------------------------------- */

/* A stream into memory. */
typedef struct fuzz_stream {
  FILE *stream;
  char *text;
  size_t size;
} fuzz_stream;

static inline void fuzz_stream_open(fuzz_stream *s) {
  memset(s, 0, sizeof *s);
  s->stream = open_memstream(&s->text, &s->size);
  if (s->stream == NULL) abort();
}

static inline void fuzz_stream_close(fuzz_stream *s) {
  if (fclose(s->stream) != 0) abort();
  s->stream = NULL;
}

/*
 * What the code under test says on stderr. Where stderr is a variable it is pointed at memory, and reports of the
 * sanitizers, which go to the file descriptor, stay visible; elsewhere it is sent away, and nothing is known about it.
 */
typedef struct fuzz_messages {
  fuzz_stream captured;
  FILE *before;
  bool is_known;
} fuzz_messages;

static inline void fuzz_messages_begin(fuzz_messages *m) {
  memset(m, 0, sizeof *m);
#ifdef __GLIBC__
  fuzz_stream_open(&m->captured);
  m->before = stderr;
  stderr = m->captured.stream;
  m->is_known = true;
#else
  static bool is_away;
  if (!is_away && freopen("/dev/null", "w", stderr) == NULL) abort();
  is_away = true;
#endif
}

static inline void fuzz_messages_end(fuzz_messages *m) {
#ifdef __GLIBC__
  stderr = m->before;
  fuzz_stream_close(&m->captured);
#else
  (void)m;
#endif
}

/* Checks that there was a message, of whole lines that a terminal can bear, or that there was none; then forgets it. */
static inline void fuzz_messages_check(fuzz_messages *m, bool expected) {
  if (!m->is_known) return;
  const fuzz_stream *s = &m->captured;
  FUZZ_CHECK((s->size != 0) == expected);
  FUZZ_CHECK(fuzz_is_text(s->text, s->size, true));
  FUZZ_CHECK(s->size == 0 || s->text[s->size - 1] == '\n');
  free(m->captured.text);
}

#endif
