/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The components, and the level of each. A level of 0 means that nobody has asked yet: the first question reads the
 * environment, so a program pays for logging only what it uses. Components are only ever added, at the end.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "log_internal.h"

#define EVALUE_X(n) evalue_log_component evalue_log_##n = {.name = #n};
EVALUE_LOG_COMPONENT_TABLE(EVALUE_X)
#undef EVALUE_X
#define EVALUE_X(n) evalue_log_component evalue_log_##n = {.name = #n, .is_diagnostic = 1};
EVALUE_LOG_DIAGNOSTIC_TABLE(EVALUE_X)
#undef EVALUE_X

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static evalue_log_component *first, **end = &first;
static bool is_started, is_ready; /* is_ready: read without the lock, once everything is decided */
static evalue_log_source source;
static char spec_in_force[EVALUE_LOG_SPEC_SIZE];

static const char too_long[] = "expected at most 500 bytes";

evalue_log_component *evalue_log_first(void) {
  return first;
}

static void set_level(evalue_log_component *component, int32_t level) {
  __atomic_store_n(&component->level, level, __ATOMIC_RELAXED);
}

static int32_t level_of(const evalue_log_component *component) {
  return __atomic_load_n(&component->level, __ATOMIC_RELAXED);
}

static void add(evalue_log_component *component) {
  component->next = NULL;
  *end = component;
  end = &component->next;
}

/* Puts a specification in force, unless one is that comes from higher up. */
static void put_in_force(const char *spec, evalue_log_source from) {
  if (from < source) return;
  source = from;
  memmove(spec_in_force, spec, strlen(spec) + 1); /* it may be this one already */
  for (evalue_log_component *c = first; c != NULL; c = c->next) set_level(c, evalue_log_level_in(spec, c));
}

/* What the environment says, which is taken as far as it can be understood; NULL when it is silent. */
static const char *spec_of_environment(void) {
  char text[1000];
  const char *spec = evalue_log_variable("EVALUE_LOGS");
  if (spec == NULL) return NULL;
  if (strlen(spec) >= EVALUE_LOG_SPEC_SIZE) {
    evalue_log_complain("EVALUE_LOGS", too_long);
    return NULL;
  }
  text[0] = '\0';
  evalue_status status = evalue_log_judge(spec, text, sizeof text);
  if (text[0] != '\0') evalue_log_complain("EVALUE_LOGS", text);
  return status != EVALUE_END ? spec : NULL; /* help changes nothing */
}

/* The library's own components stand before the program's. */
static void add_own(void) {
  if (first != NULL) return;
#define EVALUE_X(n) add(&evalue_log_##n);
  EVALUE_LOG_COMPONENT_TABLE(EVALUE_X)
  EVALUE_LOG_DIAGNOSTIC_TABLE(EVALUE_X)
#undef EVALUE_X
}

/* The first time that something depends on it: reads the environment. By then programs have registered theirs. */
static void start(void) {
  if (is_started) return;
  is_started = true;
  add_own();
  evalue_log_default_start();
  const char *spec = spec_of_environment(); /* until then every level is undecided, and whoever asks has to wait */
  put_in_force(spec != NULL ? spec : "", spec != NULL ? EVALUE_LOG_ENVIRONMENT : EVALUE_LOG_DEFAULT);
}

void evalue_log_start(void) {
  int before = errno; /* nobody expects it to change because of a log line */
  if (__atomic_load_n(&is_ready, __ATOMIC_ACQUIRE)) return;
  pthread_mutex_lock(&lock);
  start();
  pthread_mutex_unlock(&lock);
  __atomic_store_n(&is_ready, true, __ATOMIC_RELEASE);
  errno = before;
}

bool evalue_log_decide(const evalue_log_component *component, int32_t level) {
  int32_t found = level_of(component);
  if (found == 0) {
    evalue_log_start();
    found = level_of(component);
    if (found == 0) /* it was never registered */
      found = component->is_diagnostic != 0 ? EVALUE_LOG_NONE : EVALUE_LOG_WARNING;
  }
  return found <= level && level < EVALUE_LOG_NONE;
}

/* ---- what programs add and say ---- */

static bool is_name(const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  static const char *const taken[] = {"all", "none", "help"};
  if (name == NULL || name[0] == '\0' || name[strspn(name, letters)] != '\0') return false;
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
    if (strcmp(name, taken[i]) == 0) return false;
  }
  return true;
}

evalue_status evalue_log_register(evalue_log_component *component) {
  if (component == NULL || !is_name(component->name)) return EVALUE_MISUSE;
  pthread_mutex_lock(&lock);
  add_own();
  evalue_log_component *c = first;
  while (c != NULL && strcmp(c->name, component->name) != 0) c = c->next;
  if (c == NULL) {
    add(component);
    set_level(component, is_started ? evalue_log_level_in(spec_in_force, component) : 0);
  }
  pthread_mutex_unlock(&lock);
  return c == NULL || c == component ? EVALUE_OK : EVALUE_MISUSE;
}

static evalue_status configure(const char *spec, evalue_log_source from, char *text, size_t capacity) {
  if (spec == NULL || (text == NULL && capacity != 0)) return EVALUE_MISUSE;
  if (strlen(spec) >= EVALUE_LOG_SPEC_SIZE) {
    if (capacity != 0) snprintf(text, capacity, "%s", too_long);
    return EVALUE_LIMIT;
  }
  if (capacity != 0) text[0] = '\0';
  pthread_mutex_lock(&lock);
  start();
  evalue_status status = evalue_log_judge(spec, text, capacity);
  if (status == EVALUE_OK) put_in_force(spec, from); /* not for help */
  pthread_mutex_unlock(&lock);
  return status == EVALUE_END ? EVALUE_OK : status; /* the end: it was a cry for help */
}

evalue_status evalue_log_configure(const char *spec, char *text, size_t capacity) {
  return configure(spec, EVALUE_LOG_API, text, capacity);
}

evalue_status evalue_log_override(const char *spec, char *text, size_t capacity) {
  return configure(spec, EVALUE_LOG_OVERRIDE, text, capacity);
}
