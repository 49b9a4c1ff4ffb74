/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammar of specifications: [+|-]name, with commas; all, none, help. */
#include <string.h>

#include "../text/text_internal.h"
#include "log_internal.h"

/* One entry of a specification. */
typedef struct entry {
  char sign; /* '+', '-', or ' ' for none */
  const char *name;
  size_t size; /* of the name */
} entry;

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/* Takes the next entry from *spec; false at the end. Empty ones are skipped. */
static bool next_entry(const char **spec, entry *e) {
  const char *p = *spec;
  while (*p == ',' || is_blank(*p)) p++;
  if (*p == '\0') return false;
  e->sign = ' ';
  if (*p == '+' || *p == '-') e->sign = *p++;
  e->name = p;
  while (*p != ',' && *p != '\0') p++;
  *spec = p;
  while (p > e->name && is_blank(p[-1])) p--;
  e->size = (size_t)(p - e->name);
  return true;
}

static bool is_called(const entry *e, const char *name) {
  return strlen(name) == e->size && memcmp(name, e->name, e->size) == 0;
}

int32_t evalue_log_level_in(const char *spec, const evalue_log_component *component) {
  bool is_diagnostic = component->is_diagnostic != 0;
  int32_t level = is_diagnostic ? EVALUE_LOG_NONE : EVALUE_LOG_WARNING;
  entry e;
  while (next_entry(&spec, &e)) {
    bool is_all = is_called(&e, "all") && !is_diagnostic;
    if (is_called(&e, "none")) level = EVALUE_LOG_NONE;
    if (!is_all && !is_called(&e, component->name)) continue;
    level = e.sign == '+' ? EVALUE_LOG_DEBUG : e.sign == '-' ? EVALUE_LOG_ERROR : EVALUE_LOG_INFO;
    if (is_diagnostic && e.sign == '-') level = EVALUE_LOG_NONE;
  }
  return level;
}

/* ---- what there is ---- */

static bool is_known(const entry *e) {
  bool is_bare = is_called(e, "none") || is_called(e, "help");
  if (is_bare) return e->sign == ' ';
  if (is_called(e, "all")) return true;
  for (const evalue_log_component *c = evalue_log_first(); c != NULL; c = c->next) {
    if (is_called(e, c->name)) return true;
  }
  return false;
}

static void put_names(evalue_text *text, bool diagnostics) {
  bool is_first = true;
  for (const evalue_log_component *c = evalue_log_first(); c != NULL; c = c->next) {
    if ((c->is_diagnostic != 0) != diagnostics) continue;
    evalue_text_put(text, is_first ? "" : ", ");
    evalue_text_put(text, c->name);
    is_first = false;
  }
}

static void put_known(evalue_text *text) {
  evalue_text_put(text, "components: ");
  put_names(text, false);
  evalue_text_put(text, "; diagnostics: ");
  put_names(text, true);
  evalue_text_put(text, "; or all, none, help. +name: debug, name: info, -name: errors only");
}

evalue_status evalue_log_judge(const char *spec, char *text, size_t capacity) {
  evalue_text out = evalue_text_start(text, capacity);
  evalue_status status = EVALUE_OK;
  entry e;
  while (status != EVALUE_MISUSE && next_entry(&spec, &e)) {
    if (!is_known(&e)) {
      evalue_text_put(&out, "unknown name \"");
      evalue_text_put_escaped(&out, (const uint8_t *)e.name, e.size);
      evalue_text_put(&out, "\": expected ");
      put_known(&out);
      status = EVALUE_MISUSE;
    } else if (is_called(&e, "help")) {
      status = EVALUE_END;
    }
  }
  if (status == EVALUE_END) put_known(&out);
  evalue_text_end(&out);
  return status;
}
