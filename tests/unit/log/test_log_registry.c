/* SPDX-License-Identifier: BSD-3-Clause */
/* Components of a program: before and after a specification, twice, with bad names, and never registered. */
#include "log_catch.h"

/* Components stay for good, so each test has its own. */
static evalue_log_component early = {.name = "early"}, late = {.name = "late"}, late_error = {.name = "late_error"};

static void configure(const char *spec) {
  assert_int_equal(evalue_log_configure(spec, NULL, 0), EVALUE_OK);
}

/* The first test: a component is the first that the library hears of. */
static void test_before(void **state) {
  (void)state;
  assert_int_equal(evalue_log_register(&early), EVALUE_OK);
  assert_int_equal(level_letter(&early), 'W');
  configure("+early");
  assert_int_equal(level_letter(&early), 'D');
  expect_levels("WWWWWWNN");
  configure("-all");
  assert_int_equal(level_letter(&early), 'E');
  configure("none");
  assert_int_equal(level_letter(&early), 'N');
}

static void test_after(void **state) {
  (void)state;
  configure("-all,+early");
  assert_int_equal(evalue_log_register(&late), EVALUE_OK);
  assert_int_equal(level_letter(&late), 'E');
  assert_int_equal(level_letter(&early), 'D');
  configure("late,early");
  assert_int_equal(level_letter(&late), 'I');
  expect_levels("WWWWWWNN");
  configure("none");
  assert_int_equal(evalue_log_register(&late_error), EVALUE_OK);
  assert_int_equal(level_letter(&late_error), 'N');
  configure("");
  assert_int_equal(level_letter(&late_error), 'W');
}

/* A name is unknown until it is registered. */
static void test_known_since(void **state) {
  (void)state;
  static evalue_log_component since = {.name = "since"};
  char text[1200];
  assert_int_equal(evalue_log_configure("+since", text, sizeof text), EVALUE_MISUSE);
  assert_int_equal(evalue_log_register(&since), EVALUE_OK);
  assert_int_equal(level_letter(&since), 'W');
  assert_int_equal(evalue_log_configure("+since", text, sizeof text), EVALUE_OK);
  assert_int_equal(level_letter(&since), 'D');
  assert_int_equal(evalue_log_configure("help", text, sizeof text), EVALUE_OK);
  assert_non_null(strstr(text, "cli, early, late, late_error, since; diagnostics: why_rejected, why_copied;"));
  configure("");
}

/* Whatever is in the fields that are the library's. */
static void test_rubbish_in_private_fields(void **state) {
  (void)state;
  static evalue_log_component dirty = {.name = "dirty", .level = EVALUE_LOG_NONE, .next = &dirty};
  assert_int_equal(evalue_log_register(&dirty), EVALUE_OK);
  assert_int_equal(level_letter(&dirty), 'W');
  configure("+dirty");
  assert_int_equal(level_letter(&dirty), 'D');
  configure("");
}

static void test_twice(void **state) {
  (void)state;
  static evalue_log_component twice = {.name = "twice"}, after = {.name = "after"};
  assert_int_equal(evalue_log_register(&twice), EVALUE_OK);
  configure("+twice");
  assert_int_equal(evalue_log_register(&after), EVALUE_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(evalue_log_register(&twice), EVALUE_OK);
  assert_int_equal(level_letter(&twice), 'D');
  configure("-after"); /* the list has not lost its end, and has no ring */
  assert_int_equal(level_letter(&after), 'E');
  assert_int_equal(level_letter(&twice), 'W');
  configure("");
}

static void test_duplicates(void **state) {
  (void)state;
  static evalue_log_component one = {.name = "one"}, two = {.name = "one"}, reader = {.name = "reader"},
                              why = {.name = "why_copied"};
  char same[] = "one";
  static evalue_log_component copy;
  copy.name = same;
  assert_int_equal(evalue_log_register(&one), EVALUE_OK);
  assert_int_equal(evalue_log_register(&two), EVALUE_MISUSE);
  assert_int_equal(evalue_log_register(&copy), EVALUE_MISUSE);
  assert_int_equal(evalue_log_register(&reader), EVALUE_MISUSE);
  assert_int_equal(evalue_log_register(&why), EVALUE_MISUSE);
  assert_int_equal(evalue_log_register(&evalue_log_reader), EVALUE_OK); /* it is the one */
  assert_int_equal(evalue_log_register(&evalue_log_why_copied), EVALUE_OK);
  configure("+one,+reader");
  assert_int_equal(level_letter(&one), 'D');
  assert_int_equal(level_letter(&two), 'W');
  assert_int_equal(level_letter(&reader), 'W');
  expect_levels("DWWWWWNN");
  configure("");
}

static void test_names(void **state) {
  (void)state;
  static const char *const bad[] = {NULL,   "",     "a b", " a",   "a,b",  "+a",          "-a",    "a-b",  "a.b",
                                    "a\"b", "a\nb", "all", "none", "help", "caf\xc3\xa9", "a\x1b", "\xff", "a:"};
  static evalue_log_component many[COUNT_OF(bad)], good[4];
  assert_int_equal(evalue_log_register(NULL), EVALUE_MISUSE);
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    many[i].name = bad[i];
    assert_int_equal(evalue_log_register(&many[i]), EVALUE_MISUSE);
    assert_int_equal(many[i].level, 0);
  }
  static const char *const names[] = {"A", "0", "_", "ALL_none_9"};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    good[i].name = names[i];
    assert_int_equal(evalue_log_register(&good[i]), EVALUE_OK);
    configure(names[i]);
    assert_int_equal(level_letter(&good[i]), 'I');
  }
  configure("");
}

/* Case counts, and a beginning of a name is none. */
static void test_names_that_look_alike(void **state) {
  (void)state;
  static evalue_log_component lower = {.name = "alike"}, upper = {.name = "Alike"}, longer = {.name = "alikes"};
  assert_int_equal(evalue_log_register(&lower), EVALUE_OK);
  assert_int_equal(evalue_log_register(&upper), EVALUE_OK);
  assert_int_equal(evalue_log_register(&longer), EVALUE_OK);
  configure("+alike,-Alike,alikes");
  assert_int_equal(level_letter(&lower), 'D');
  assert_int_equal(level_letter(&upper), 'E');
  assert_int_equal(level_letter(&longer), 'I');
  configure("");
}

static void test_diagnostic(void **state) {
  (void)state;
  static evalue_log_component why = {.name = "why_slow", .is_diagnostic = 1};
  configure("+all");
  assert_int_equal(evalue_log_register(&why), EVALUE_OK);
  assert_int_equal(level_letter(&why), 'N');
  configure("why_slow");
  assert_true(evalue_log_is_on(&why, EVALUE_LOG_INFO));
  configure("why_slow,-why_slow");
  assert_int_equal(level_letter(&why), 'N');
  configure("");
}

/* As if it were registered and nobody had named it: warnings, or, a diagnostic, silence. */
static void test_never_registered(void **state) {
  (void)state;
  static evalue_log_component stranger = {.name = "stranger"}, why = {.name = "why_strange", .is_diagnostic = 1};
  configure("+all");
  assert_int_equal(level_letter(&stranger), 'W');
  assert_int_equal(level_letter(&why), 'N');
  configure("");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_before),      cmocka_unit_test(test_after),
      cmocka_unit_test(test_known_since), cmocka_unit_test(test_rubbish_in_private_fields),
      cmocka_unit_test(test_twice),       cmocka_unit_test(test_duplicates),
      cmocka_unit_test(test_names),       cmocka_unit_test(test_names_that_look_alike),
      cmocka_unit_test(test_diagnostic),  cmocka_unit_test(test_never_registered),
  };
  forget_environment();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
