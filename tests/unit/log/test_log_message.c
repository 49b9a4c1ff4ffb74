/* SPDX-License-Identifier: BSD-3-Clause */
/* What a handler is given: the record's fields, and a message that is clean, one line, and cut between characters. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "log_catch.h"

enum { LIMIT = 800 };

static caught line;
static const evalue_log_handler handler = {keep_line, &line};
static evalue_log_component mine = {.name = "mine"};

static const char *log_bytes(const void *bytes, size_t size) {
  char text[4000];
  assert_true(size < sizeof text);
  memcpy(text, bytes, size);
  text[size] = '\0';
  size_t before = line.count;
  evalue_log_write(&mine, EVALUE_LOG_INFO, "x.c", 1, "%s", text);
  assert_int_equal(line.count, before + 1);
  assert_true(strlen(line.message) <= LIMIT);
  return line.message;
}

/* ---- fields ---- */

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void test_fields(void **state) {
  (void)state;
  int64_t before = now();
  int32_t here = __LINE__ + 1;
  EVALUE_LOG(&mine, EVALUE_LOG_ERROR, "%s is %d", "x", 7);
  assert_int_equal(line.count, 1);
  assert_string_equal(line.component, "mine");
  assert_null(line.record.diagnostic);
  assert_string_equal(line.message, "x is 7");
  assert_string_equal(line.file, "test_log_message.c");
  assert_int_equal(line.record.line, here);
  assert_int_equal(line.record.level, EVALUE_LOG_ERROR);
  assert_int_equal(line.record.status, EVALUE_OK);
  assert_true(line.record.position == EVALUE_NO_INDEX);
  assert_int_equal(line.record.reserved, 0);
  assert_true(line.record.time >= before && line.record.time <= now());
}

static void test_status(void **state) {
  (void)state;
  evalue_log_write_status(&mine, EVALUE_LOG_WARNING, EVALUE_IO, UINT64_C(0x123456789abcdef0), "a/b\\c.c", 5, "%s", "m");
  assert_int_equal(line.record.status, EVALUE_IO);
  assert_true(line.record.position == UINT64_C(0x123456789abcdef0));
  assert_string_equal(line.file, "b\\c.c");
  assert_int_equal(line.record.line, 5);
  assert_int_equal(line.record.level, EVALUE_LOG_WARNING);
  assert_string_equal(line.message, "m");
}

/* Whatever the level in force; and what is missing is a question mark. */
static void test_anything(void **state) {
  (void)state;
  size_t before = line.count;
  evalue_log_write(&mine, EVALUE_LOG_DEBUG, "/", 0, "quiet");
  assert_string_equal(line.file, "");
  evalue_log_write(NULL, EVALUE_LOG_DEBUG, NULL, -1, "nobody");
  assert_string_equal(line.component, "?");
  assert_string_equal(line.file, "?");
  evalue_log_component nameless = {.name = NULL};
  evalue_log_write_status(&nameless, 99, EVALUE_OK, 0, "dir/", 0, "nameless");
  assert_string_equal(line.component, "?");
  assert_string_equal(line.file, "");
  assert_int_equal(line.record.level, 99);
  assert_int_equal(line.count, before + 3);
  evalue_log_write(&mine, EVALUE_LOG_INFO, "x.c", 1, "%s", "");
  assert_string_equal(line.message, "");
}

/* A line that is off: its arguments are not evaluated, and nothing is handed on. */
static void test_off(void **state) {
  (void)state;
  size_t before = line.count;
  int evaluated = 0;
  EVALUE_LOG(&mine, EVALUE_LOG_DEBUG, "%d", ++evaluated);
  EVALUE_LOG(&mine, EVALUE_LOG_INFO, "%d", ++evaluated);
  assert_int_equal(evaluated, 0);
  assert_int_equal(line.count, before);
  EVALUE_LOG(&mine, EVALUE_LOG_WARNING, "%d", ++evaluated);
  assert_int_equal(evaluated, 1);
  assert_int_equal(line.count, before + 1);
  if (line.count == 0) EVALUE_LOG(&mine, EVALUE_LOG_ERROR, "%d", 1); /* one statement: what follows is its else */
  else evaluated = 9;
  assert_int_equal(evaluated, 9);
}

/* ---- cleaning ---- */

static void test_clean(void **state) {
  (void)state;
  static const struct {
    const char *raw, *message;
  } cases[] = {
      {"plain \"quoted\" back\\slash", "plain \"quoted\" back\\slash"},
      {"two\nlines\r\n", "two\\x0alines\\x0d\\x0a"},
      {"\x01\t\x1b[31m\x7f", "\\x01\\x09\\x1b[31m\\x7f"},
      {"h\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80", "h\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80"},
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xc3", "\\xc3"},
      {"\xc3(", "\\xc3("},
      {"\xe6\x97", "\\xe6\\x97"},
      {"\xf0\x9f\x98", "\\xf0\\x9f\\x98"},
      {"\xf0\x9f\x98\n", "\\xf0\\x9f\\x98\\x0a"},
      {"\x80\xbf", "\\x80\\xbf"},
      {"\xc0\x80", "\\xc0\\x80"},
      {"\xe0\x80\x80", "\\xe0\\x80\\x80"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
      {"\xc2\x80\xc2\x9f\xc2\xa0", "\\xc2\\x80\\xc2\\x9f\xc2\xa0"},
      {"\xe2\x80\xa8\xe2\x80\xae", "\\xe2\\x80\\xa8\\xe2\\x80\\xae"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    assert_string_equal(log_bytes(cases[i].raw, strlen(cases[i].raw)), cases[i].message);
  }
  evalue_log_write(&mine, EVALUE_LOG_INFO, "x.c", 1, "a%cb", 0);
  assert_string_equal(line.message, "a\\x00b");
}

/* Each byte alone: as it is, or as \x and two digits. */
static void test_each_byte(void **state) {
  (void)state;
  for (unsigned byte = 1; byte < 256; byte++) {
    uint8_t raw[3] = {'<', (uint8_t)byte, '>'};
    char expected[8];
    if (byte >= 0x20 && byte < 0x7f) snprintf(expected, sizeof expected, "<%c>", (char)byte);
    else snprintf(expected, sizeof expected, "<\\x%02x>", byte);
    assert_string_equal(log_bytes(raw, sizeof raw), expected);
  }
}

/* ---- cutting ---- */

typedef struct piece {
  const char *raw, *shown;
} piece;

/* What a message of `lead` letters and then the pieces over and over should be: whole, or as many pieces as fit before
 * three dots. */
static void expect_cut(size_t lead, const piece *pieces, size_t npieces, size_t total) {
  char raw[4000], shown[8000];
  size_t size = 0, length = 0, fits = 0;
  for (size_t i = 0; i < total; i++) {
    const piece letter = {"a", "a"}, p = i < lead ? letter : pieces[(i - lead) % npieces];
    memcpy(raw + size, p.raw, strlen(p.raw));
    memcpy(shown + length, p.shown, strlen(p.shown));
    size += strlen(p.raw);
    length += strlen(p.shown);
    if (length <= LIMIT - 3) fits = length;
  }
  if (length > LIMIT) {
    memcpy(shown + fits, "...", 3);
    length = fits + 3;
  }
  const char *message = log_bytes(raw, size);
  assert_int_equal(strlen(message), length);
  assert_memory_equal(message, shown, length);
}

/* Every length around the limit, so that it falls on every byte of a character, or of an escape. */
static void test_cut(void **state) {
  (void)state;
  static const piece pieces[] = {{"b", "b"},
                                 {"\xc3\xa9", "\xc3\xa9"},
                                 {"\xe6\x97\xa5", "\xe6\x97\xa5"},
                                 {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
                                 {"\n", "\\x0a"},
                                 {"\xff", "\\xff"},
                                 {"\x80", "\\x80"}};
  for (size_t kind = 0; kind < COUNT_OF(pieces); kind++) {
    for (size_t lead = LIMIT - 24; lead <= LIMIT + 6; lead++) {
      for (size_t more = 0; more <= 8; more++) expect_cut(lead, &pieces[kind], 1, lead + more);
    }
    expect_cut(0, &pieces[kind], 1, 900);
    expect_cut(1, &pieces[kind], 1, 900);
  }
  for (size_t lead = 0; lead < 30; lead++) expect_cut(lead, pieces, 4, 700); /* all of them, one after the other */
}

/* Whatever is cut, no half of a character is left, and nothing that was not there. */
static void test_cut_of_ill_formed(void **state) {
  (void)state;
  static const char *const tails[] = {"\xc3", "\xe6\x97", "\xf0\x9f\x98",     "\xe6",    "\xf0\x9f",
                                      "\xf0", "\xff",     "\x80\x80\x80\x80", "\xc2\x85"};
  for (size_t i = 0; i < COUNT_OF(tails); i++) {
    for (size_t lead = LIMIT - 10; lead <= LIMIT + 1; lead++) {
      char raw[1000];
      size_t size = strlen(tails[i]);
      memset(raw, 'a', sizeof raw);
      memcpy(raw + lead, tails[i], size);
      for (size_t more = 0; more < 12; more += 3) {
        const char *message = log_bytes(raw, lead + size + more);
        size_t letters = strspn(message, "a");
        assert_true(letters <= lead && letters + 7 >= (lead < LIMIT ? lead : LIMIT));
        for (const char *p = message; *p != '\0'; p++) assert_true(*p >= 0x20 && *p < 0x7f);
      }
    }
  }
}

static void test_huge(void **state) {
  (void)state;
  evalue_log_write(&mine, EVALUE_LOG_INFO, "x.c", 1, "%*d", 100000, 1);
  assert_true(strlen(line.message) <= LIMIT && strlen(line.message) >= LIMIT - 1);
  assert_string_equal(line.message + strlen(line.message) - 4, " ...");
}

/* ---- errno ---- */

static void test_errno(void **state) {
  (void)state;
  errno = ENOTTY;
  EVALUE_LOG(&mine, EVALUE_LOG_ERROR, "%s", "x");
  assert_int_equal(errno, ENOTTY);
  evalue_log_write(&mine, EVALUE_LOG_INFO, "x.c", 1, "%*d", 100000, 1);
  assert_int_equal(errno, ENOTTY);
  EVALUE_LOG(&mine, EVALUE_LOG_ERROR, "%s", strerror(errno));
  assert_string_equal(line.message, strerror(ENOTTY));
}

/* A format that the C library cannot do is a line all the same, and errno stays. */
static void test_bad_format(void **state) {
  (void)state;
  static const wchar_t impossible[] = {0x110000, 0};
  size_t before = line.count;
  errno = ENOTTY;
  evalue_log_write(&mine, EVALUE_LOG_INFO, "x.c", 1, "a%ls", impossible);
  assert_int_equal(line.count, before + 1);
  assert_int_equal(errno, ENOTTY);
}

static int set_up(void **state) {
  (void)state;
  forget_environment();
  if (evalue_log_register(&mine) != EVALUE_OK) return 1;
  return evalue_log_set_handler(&handler) != NULL;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fields),     cmocka_unit_test(test_status),
      cmocka_unit_test(test_anything),   cmocka_unit_test(test_off),
      cmocka_unit_test(test_clean),      cmocka_unit_test(test_each_byte),
      cmocka_unit_test(test_cut),        cmocka_unit_test(test_cut_of_ill_formed),
      cmocka_unit_test(test_huge),       cmocka_unit_test(test_errno),
      cmocka_unit_test(test_bad_format),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
