/* SPDX-License-Identifier: BSD-3-Clause */
/* Specifications: which level each component gets, what is refused, and what is said about it. */
#include "log_catch.h"

static const char all_names[] = "components: reader, writer, executorch_java, sink, ipc, cli; "
                                "diagnostics: why_rejected, why_copied; or all, none, help";

static void configure(const char *spec) {
  char text[1200] = "x";
  assert_int_equal(evalue_log_configure(spec, text, sizeof text), EVALUE_OK);
  assert_string_equal(text, "");
  assert_int_equal(evalue_log_configure(spec, NULL, 0), EVALUE_OK);
}

/* Before anybody has said anything. */
static void test_default(void **state) {
  (void)state;
  expect_levels("WWWWWWNN");
}

/* In the order of the tables: reader writer executorch_java sink ipc cli, why_rejected why_copied. */
static void test_levels(void **state) {
  (void)state;
  static const struct {
    const char *spec, *levels;
  } cases[] = {
      {"+reader,sink,-ipc", "DWWIEWNN"},
      {"-ipc,sink,+reader", "DWWIEWNN"},
      {"", "WWWWWWNN"},
      {",", "WWWWWWNN"},
      {" ,\t, ", "WWWWWWNN"},
      {"reader", "IWWWWWNN"},
      {"  +reader  ,,\t-ipc\t,", "DWWWEWNN"},
      {"executorch_java", "WWIWWWNN"},
      {"all", "IIIIIINN"},
      {"+all", "DDDDDDNN"},
      {"-all", "EEEEEENN"},
      {"none", "NNNNNNNN"},
      {"+all,-sink", "DDDEDDNN"},
      {"-sink,+all", "DDDDDDNN"},
      {"none,+cli", "NNNNNDNN"},
      {"+cli,none", "NNNNNNNN"},
      {"none,all", "IIIIIINN"},
      {"reader,+reader", "DWWWWWNN"},
      {"+reader,reader", "IWWWWWNN"},
      {"+reader,-reader,reader,-reader", "EWWWWWNN"},
      {"why_rejected", "WWWWWWIN"},
      {"why_copied,why_rejected", "WWWWWWII"},
      {"why_copied,-why_copied", "WWWWWWNN"},
      {"-why_copied,why_copied", "WWWWWWNI"},
      {"why_rejected,all", "IIIIIIIN"},
      {"why_rejected,-all", "EEEEEEIN"},
      {"why_rejected,none", "NNNNNNNN"},
      {"none,why_rejected", "NNNNNNIN"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    configure(cases[i].spec);
    expect_levels(cases[i].levels);
    configure(""); /* what was said before is forgotten */
    expect_levels("WWWWWWNN");
  }
}

/* A sign more or less makes no difference between the diagnostics that are on: they have one kind of line. */
static void test_sign_of_a_diagnostic(void **state) {
  (void)state;
  configure("+why_copied");
  assert_true(evalue_log_is_on(&evalue_log_why_copied, EVALUE_LOG_INFO));
  assert_false(evalue_log_is_on(&evalue_log_why_rejected, EVALUE_LOG_ERROR));
  configure("");
}

static void test_unknown(void **state) {
  (void)state;
  static const struct {
    const char *spec, *shown;
  } cases[] = {
      {"raeder", "raeder"},
      {"+raeder", "raeder"},
      {"-ipc,reade", "reade"},
      {"readers,-ipc", "readers"},
      {"+", ""},
      {"-", ""},
      {"sink,+ ,ipc", ""},
      {"++reader", "+reader"},
      {"+ reader", " reader"},
      {"+-reader", "-reader"},
      {"reader sink", "reader sink"},
      {"reader;sink", "reader;sink"},
      {"READER", "READER"},
      {"All", "All"},
      {"+none", "none"},
      {"-none", "none"},
      {"+help", "help"},
      {"-help", "help"},
      {"help,x", "x"},
      {"x,help", "x"},
      {"a\"\\\x1b[2J\n\xff", "a\\\"\\\\\\x1b[2J\\n\\xff"},
      {"caf\xc3\xa9", "caf\xc3\xa9"},
      {"one,two", "one"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char text[1200], start[100];
    configure("+sink,why_copied");
    assert_int_equal(evalue_log_configure(cases[i].spec, text, sizeof text), EVALUE_MISUSE);
    size_t n = 0;
    const char *parts[] = {"unknown name \"", cases[i].shown, "\": expected "};
    for (size_t k = 0; k < COUNT_OF(parts); k++) {
      memcpy(start + n, parts[k], strlen(parts[k]));
      n += strlen(parts[k]);
    }
    start[n] = '\0';
    assert_true(strlen(text) > n);
    assert_memory_equal(text, start, n);
    assert_memory_equal(text + n, all_names, strlen(all_names));
    assert_int_equal(evalue_log_configure(cases[i].spec, NULL, 0), EVALUE_MISUSE);
    expect_levels("WWWDWWNI");
  }
  configure("");
}

static void test_help(void **state) {
  (void)state;
  static const char *const specs[] = {"help", " help ", "+reader,help", "help,none", "help,help"};
  for (size_t i = 0; i < COUNT_OF(specs); i++) {
    char text[1200];
    configure("+sink");
    assert_int_equal(evalue_log_configure(specs[i], text, sizeof text), EVALUE_OK);
    assert_memory_equal(text, all_names, strlen(all_names));
    assert_null(strchr(text, '\n'));
    assert_int_equal(evalue_log_configure(specs[i], NULL, 0), EVALUE_OK);
    expect_levels("WWWDWWNN");
  }
  configure("");
}

/* At every capacity: terminated, a beginning of the whole, and nothing behind it. */
static void test_capacity(void **state) {
  (void)state;
  static const char *const specs[] = {"help", "\xc3\xa9\x1b"};
  for (size_t i = 0; i < COUNT_OF(specs); i++) {
    char whole[1200], text[1200];
    evalue_status status = evalue_log_configure(specs[i], whole, sizeof whole);
    for (size_t capacity = 1; capacity <= strlen(whole) + 1; capacity++) {
      memset(text, '#', sizeof text);
      assert_int_equal(evalue_log_configure(specs[i], text, capacity), status);
      size_t size = strlen(text);
      assert_true(size < capacity && size + 4 >= capacity); /* the longest piece is \x1b */
      assert_memory_equal(text, whole, size);
      assert_int_equal(text[capacity], '#');
      assert_int_not_equal((uint8_t)text[size > 0 ? size - 1 : 0], 0xc3);
    }
  }
}

static void test_size(void **state) {
  (void)state;
  char spec[600], text[1200];
  memset(spec, ',', sizeof spec);
  memcpy(spec + 493, "+writer", 8);
  configure(spec);
  expect_levels("WDWWWWNN");
  memset(spec, ',', sizeof spec);
  memcpy(spec + 494, "+reader", 8);
  memset(text, 'x', sizeof text);
  assert_int_equal(evalue_log_configure(spec, text, sizeof text), EVALUE_LIMIT);
  assert_non_null(memchr(text, '\0', sizeof text)); /* it is a string, whatever it says */
  assert_int_equal(evalue_log_configure(spec, NULL, 0), EVALUE_LIMIT);
  expect_levels("WDWWWWNN");
  memset(spec, 'x', 500); /* an unknown name of that size */
  spec[500] = '\0';
  assert_int_equal(evalue_log_configure(spec, text, sizeof text), EVALUE_MISUSE);
  expect_levels("WDWWWWNN");
  configure("");
}

static void test_arguments(void **state) {
  (void)state;
  char text[40] = "x";
  configure("+ipc");
  assert_int_equal(evalue_log_configure(NULL, text, sizeof text), EVALUE_MISUSE);
  assert_int_equal(evalue_log_configure(NULL, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_log_configure("none", NULL, 1), EVALUE_MISUSE);
  assert_int_equal(evalue_log_override(NULL, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_log_override("none", NULL, 1), EVALUE_MISUSE);
  text[0] = 'y';
  assert_int_equal(evalue_log_configure("+ipc", text, 0), EVALUE_OK);
  assert_int_equal(text[0], 'y');
  expect_levels("WWWWDWNN");
  configure("");
}

static void test_level_names(void **state) {
  (void)state;
  assert_string_equal(evalue_log_level_name(EVALUE_LOG_DEBUG), "debug");
  assert_string_equal(evalue_log_level_name(EVALUE_LOG_INFO), "info");
  assert_string_equal(evalue_log_level_name(EVALUE_LOG_WARNING), "warning");
  assert_string_equal(evalue_log_level_name(EVALUE_LOG_ERROR), "error");
  assert_string_equal(evalue_log_level_name(EVALUE_LOG_NONE), "none");
  static const int32_t others[] = {0, 6, -1, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < COUNT_OF(others); i++) assert_string_equal(evalue_log_level_name(others[i]), "?");
}

/* The last test: after an override that is good, nothing but another one has an effect. */
static void test_override(void **state) {
  (void)state;
  char text[1200];
  configure("+sink");
  assert_int_equal(evalue_log_override("+reader,bad", text, sizeof text), EVALUE_MISUSE);
  assert_memory_equal(text, "unknown name \"bad\"", 18);
  assert_int_equal(evalue_log_override("help", text, sizeof text), EVALUE_OK);
  expect_levels("WWWDWWNN");
  configure("+ipc"); /* neither of them was one */
  expect_levels("WWWWDWNN");
  assert_int_equal(evalue_log_override("+reader,why_rejected", text, sizeof text), EVALUE_OK);
  assert_string_equal(text, "");
  expect_levels("DWWWWWIN");
  configure("none");
  expect_levels("DWWWWWIN");
  assert_int_equal(evalue_log_configure("bad", text, sizeof text), EVALUE_MISUSE);
  assert_int_equal(evalue_log_override("", NULL, 0), EVALUE_OK);
  expect_levels("WWWWWWNN");
  configure("none");
  expect_levels("WWWWWWNN");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_default),  cmocka_unit_test(test_levels),    cmocka_unit_test(test_sign_of_a_diagnostic),
      cmocka_unit_test(test_unknown),  cmocka_unit_test(test_help),      cmocka_unit_test(test_capacity),
      cmocka_unit_test(test_size),     cmocka_unit_test(test_arguments), cmocka_unit_test(test_level_names),
      cmocka_unit_test(test_override),
  };
  forget_environment();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
