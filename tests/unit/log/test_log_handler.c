/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers: set, reset, exchanged while others log; and the registry under several threads. */
#include <pthread.h>
#include <stdio.h>

#include "log_catch.h"

enum { THREADS = 4, LINES = 2000 };

static evalue_log_component mine = {.name = "mine"};

static void test_exchange(void **state) {
  (void)state;
  caught one = {.count = 0}, two = {.count = 0};
  const evalue_log_handler first = {keep_line, &one}, second = {keep_line, &two};
  assert_null(evalue_log_set_handler(NULL));
  assert_null(evalue_log_set_handler(&first));
  EVALUE_LOG(&mine, EVALUE_LOG_ERROR, "to one");
  assert_ptr_equal(evalue_log_set_handler(&second), &first);
  EVALUE_LOG(&mine, EVALUE_LOG_ERROR, "to two");
  EVALUE_LOG(&mine, EVALUE_LOG_ERROR, "and again");
  assert_ptr_equal(evalue_log_set_handler(&second), &second);
  assert_ptr_equal(evalue_log_set_handler(NULL), &second);
  assert_null(evalue_log_set_handler(NULL));
  assert_int_equal(one.count, 1);
  assert_string_equal(one.message, "to one");
  assert_int_equal(two.count, 2);
  assert_string_equal(two.message, "and again");
}

/* A handler may log, configure and register, and set another. */
static void nosy(void *context, const evalue_log_record *record) {
  static evalue_log_component inner = {.name = "inner"};
  int *depth = (int *)context;
  if (++*depth > 2) return;
  assert_int_equal(evalue_log_register(&inner), EVALUE_OK);
  assert_int_equal(evalue_log_configure("inner", NULL, 0), EVALUE_OK);
  EVALUE_LOG(&inner, EVALUE_LOG_INFO, "about: %s", record->message);
}

static void test_nesting(void **state) {
  (void)state;
  int depth = 0;
  const evalue_log_handler handler = {nosy, &depth};
  evalue_log_set_handler(&handler);
  EVALUE_LOG(&mine, EVALUE_LOG_ERROR, "x");
  assert_int_equal(depth, 1); /* what it logs itself goes to the default one */
  evalue_log_set_handler(NULL);
  assert_int_equal(evalue_log_configure("", NULL, 0), EVALUE_OK);
}

/* ---- threads ---- */

static uint32_t counts[2];
static uint32_t wrong;

/* Adds to its own count; each line says what it should be. */
static void count_line(void *context, const evalue_log_record *record) {
  char expected[32];
  snprintf(expected, sizeof expected, "line %d", (int)record->line);
  bool is_good = strcmp(record->message, expected) == 0 && strcmp(record->component, "mine") == 0;
  if (!is_good) __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
  __atomic_add_fetch((uint32_t *)context, 1, __ATOMIC_RELAXED);
}

static void *log_lines(void *unused) {
  for (int i = 0; i < LINES; i++) {
    if (evalue_log_is_on(&mine, EVALUE_LOG_ERROR)) {
      evalue_log_write(&mine, EVALUE_LOG_ERROR, "x.c", i, "line %d", i);
    }
  }
  return unused;
}

/* No line is lost or changed while handlers are exchanged and levels change. */
static void test_threads(void **state) {
  (void)state;
  static const evalue_log_handler handlers[2] = {{count_line, &counts[0]}, {count_line, &counts[1]}};
  static evalue_log_component added[LINES];
  static char names[LINES][16];
  pthread_t threads[THREADS];
  evalue_log_set_handler(&handlers[0]);
  for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, log_lines, NULL), 0);
  for (size_t i = 0; i < 400; i++) {
    assert_ptr_equal(evalue_log_set_handler(&handlers[(i + 1) % 2]), &handlers[i % 2]);
    assert_int_equal(evalue_log_configure(i % 2 != 0 ? "+mine" : "-mine", NULL, 0), EVALUE_OK);
    snprintf(names[i], sizeof names[i], "added_%u", (unsigned)i);
    added[i].name = names[i];
    assert_int_equal(evalue_log_register(&added[i]), EVALUE_OK);
  }
  for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  evalue_log_set_handler(NULL);
  assert_int_equal(counts[0] + counts[1], THREADS * LINES);
  assert_int_equal(wrong, 0);
}

/* Many threads register the same names: one of each wins, and all see it. */
static evalue_log_component rivals[THREADS][50];
static uint32_t winners;

static void *compete(void *mine_of_them) {
  evalue_log_component *own = (evalue_log_component *)mine_of_them;
  for (size_t i = 0; i < 50; i++) {
    if (evalue_log_register(&own[i]) == EVALUE_OK) __atomic_add_fetch(&winners, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

static void test_rivals(void **state) {
  (void)state;
  static char names[50][16];
  pthread_t threads[THREADS];
  for (size_t i = 0; i < 50; i++) {
    snprintf(names[i], sizeof names[i], "rival_%u", (unsigned)i);
    for (size_t t = 0; t < THREADS; t++) rivals[t][i].name = names[i];
  }
  for (size_t t = 0; t < THREADS; t++) assert_int_equal(pthread_create(&threads[t], NULL, compete, rivals[t]), 0);
  for (size_t t = 0; t < THREADS; t++) assert_int_equal(pthread_join(threads[t], NULL), 0);
  assert_int_equal(winners, 50);
  assert_int_equal(evalue_log_configure("+rival_0,+rival_49", NULL, 0), EVALUE_OK);
  size_t debug = 0;
  for (size_t t = 0; t < THREADS; t++) {
    if (level_letter(&rivals[t][0]) == 'D') debug++;
    if (level_letter(&rivals[t][49]) == 'D') debug++;
  }
  assert_int_equal(debug, 2);
}

static int set_up(void **state) {
  (void)state;
  forget_environment();
  return evalue_log_register(&mine) != EVALUE_OK;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exchange),
      cmocka_unit_test(test_nesting),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_rivals),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
