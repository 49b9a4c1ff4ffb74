/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a pipeline stands, as one message: a title, a version, and then for each data set, the last stage first, its
 * name, whether it has ended, how many values it saves, and those. So the stages can be compared before any is touched.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataset_internal.h"
#include "evalue/text.h"

#define TITLE "EValue data set"

enum { VERSION = 1, HEAD = 3 }; /* HEAD: values before those of the data set itself */

/* ---- failures ---- */

/* Notes the failure that d has, or a lack of memory. */
static evalue_status note(evalue_dataset_state *s, evalue_status status) {
  if (s->status == EVALUE_OK) s->status = (int32_t)status;
  return (evalue_status)s->status;
}

evalue_status evalue_state_fail(evalue_dataset_state *s, const char *name, const char *expected, uint64_t found) {
  if (s->status != EVALUE_OK) return (evalue_status)s->status;
  return note(s, evalue_dataset_fail(s->dataset, EVALUE_MALFORMED, NULL, EVALUE_NO_INDEX,
                                     "state: %s: expected %s, found %llu", name, expected, (unsigned long long)found));
}

/* ---- one value ---- */

/* Appends a value to those to be saved. */
static evalue_status put(evalue_dataset_state *s, evalue value) {
  if (s->status != EVALUE_OK) return (evalue_status)s->status;
  if (s->count == s->capacity) {
    size_t capacity = s->capacity == 0 ? 64 : 2 * s->capacity;
    evalue *values = NULL;
    if (capacity <= SIZE_MAX / sizeof *values) values = (evalue *)realloc(s->values, capacity * sizeof *values);
    if (values == NULL) {
      evalue_dataset_fail_memory(s->dataset);
      return note(s, EVALUE_IO);
    }
    s->values = values;
    s->capacity = capacity;
  }
  s->values[s->count++] = value;
  return EVALUE_OK;
}

/* The next value of the data set's, of a kind; NULL when it is another. */
static const evalue *get(evalue_dataset_state *s, const char *name, uint8_t tag) {
  if (s->status != EVALUE_OK) return NULL;
  bool is_there = s->position < s->end;
  if (is_there && s->values[s->position].tag == tag) return &s->values[s->position++];
  const char *found = is_there ? evalue_tag_name(s->values[s->position].tag) : "the end";
  note(s, evalue_dataset_fail(s->dataset, EVALUE_MALFORMED, NULL, EVALUE_NO_INDEX, "state: %s: expected %s, found %s",
                              name, evalue_tag_name(tag), found));
  return NULL;
}

bool evalue_state_is_restoring(const evalue_dataset_state *s) {
  return s != NULL && s->is_restoring;
}

evalue_status evalue_state_u64(evalue_dataset_state *s, const char *name, uint64_t *number) {
  if (s == NULL) return EVALUE_MISUSE;
  if (name == NULL || number == NULL) return note(s, EVALUE_MISUSE);
  if (!s->is_restoring) return put(s, evalue_from_int((int64_t)*number));
  const evalue *value = get(s, name, EVALUE_TAG_INT);
  if (value != NULL) *number = (uint64_t)value->int_value;
  return (evalue_status)s->status;
}

evalue_status evalue_state_same(evalue_dataset_state *s, const char *name, uint64_t argument) {
  uint64_t saved = argument;
  char expected[24];
  evalue_status status = evalue_state_u64(s, name, &saved);
  if (status != EVALUE_OK || saved == argument) return status;
  snprintf(expected, sizeof expected, "%llu", (unsigned long long)argument);
  return evalue_state_fail(s, name, expected, saved);
}

evalue_status evalue_state_bytes(evalue_dataset_state *s, const char *name, evalue_slice *bytes) {
  bool is_good = name != NULL && bytes != NULL && (bytes->data != NULL || bytes->size == 0);
  if (s == NULL) return EVALUE_MISUSE;
  if (!is_good) return note(s, EVALUE_MISUSE);
  if (!s->is_restoring) return put(s, evalue_from_string((const char *)bytes->data, bytes->size));
  const evalue *value = get(s, name, EVALUE_TAG_STRING);
  if (value == NULL) return (evalue_status)s->status;
  bytes->data = value->string.data;
  bytes->size = value->string.nbytes;
  return EVALUE_OK;
}

/* ---- saving ---- */

/* Appends a data set and its inputs. */
static void save(evalue_dataset_state *s, evalue_dataset *d) {
  size_t start = s->count;
  s->dataset = d;
  put(s, evalue_from_string(d->functions->name, strlen(d->functions->name)));
  put(s, evalue_from_none());
  put(s, evalue_from_none());
  if (d->is_broken != 0) note(s, (evalue_status)d->status);
  if (s->status == EVALUE_OK && d->functions->state != NULL) note(s, d->functions->state(d, s));
  /* Only now: the state of what reads ahead is known once its thread rests. */
  if (s->status == EVALUE_OK && evalue_dataset_has_failed(d->status)) note(s, (evalue_status)d->status);
  if (s->status != EVALUE_OK) return;
  s->values[start + 1] = evalue_from_bool(d->status == EVALUE_END);
  s->values[start + 2] = evalue_from_int((int64_t)(s->count - start - HEAD));
  for (size_t i = 0; i < d->input_count && s->status == EVALUE_OK; i++) save(s, d->inputs[i]);
}

/* The failure, if there is one, as the root's own. */
static evalue_status settle(evalue_dataset_state *s, evalue_dataset *root) {
  if (s->status == EVALUE_OK) return EVALUE_OK;
  if (s->dataset != root) root->error = s->dataset->error;
  if (root->error.status == s->status) return (evalue_status)s->status;
  return evalue_dataset_fail(root, (evalue_status)s->status, NULL, EVALUE_NO_INDEX, "state: %s: %s",
                             s->dataset->functions->name, evalue_status_message(s->status));
}

evalue_status evalue_dataset_save(evalue_dataset *d, evalue_sink *sink) {
  if (d == NULL || d->self != d || d->is_busy != 0 || sink == NULL) return EVALUE_MISUSE;
  evalue_dataset_state s = {.dataset = d};
  d->is_busy = 1;
  put(&s, evalue_from_string(TITLE, strlen(TITLE)));
  put(&s, evalue_from_int(VERSION));
  save(&s, d);
  d->is_busy = 0;
  evalue_status status = settle(&s, d);
  if (status == EVALUE_OK) {
    status = evalue_message_write(sink, s.values, s.count, 0, NULL, NULL);
    errno = sink->system_error;
    if (status != EVALUE_OK) {
      evalue_dataset_fail(d, status, NULL, EVALUE_NO_INDEX, "state: %s", evalue_status_message((int32_t)status));
    }
  }
  free(s.values);
  return status;
}

/* ---- restoring ---- */

/* Decodes the message. */
static evalue_status decode(evalue_dataset_state *s, const void *data, size_t size) {
  evalue_error error;
  uint64_t n = 0;
  evalue_status status = evalue_message_decode(data, size, NULL, NULL, 0, &n, &error);
  if (status == EVALUE_NO_SPACE) {
    s->values = evalue_dataset_allocate_array(n, sizeof *s->values);
    if (s->values == NULL) {
      evalue_dataset_fail_memory(s->dataset);
      return note(s, EVALUE_IO);
    }
    status = evalue_message_decode(data, size, NULL, s->values, (size_t)n, &n, &error);
  }
  s->count = s->values != NULL ? (size_t)n : 0;
  s->end = s->count;
  return status == EVALUE_OK ? status : note(s, evalue_dataset_fail_fault(s->dataset, NULL, &error));
}

/* Says whether a value is this string. */
static bool is_string(const evalue *value, const char *text) {
  size_t length = strlen(text);
  return value->tag == EVALUE_TAG_STRING && value->string.nbytes == length &&
         memcmp(value->string.data, text, length) == 0;
}

static evalue_status check_title(evalue_dataset_state *s) {
  bool is_state = s->count >= 2 && is_string(&s->values[0], TITLE) && s->values[1].tag == EVALUE_TAG_INT;
  s->position = 2;
  if (!is_state) {
    evalue_dataset_fail(s->dataset, EVALUE_MALFORMED, NULL, EVALUE_NO_INDEX,
                        "state: the message is not the state of a data set");
    return note(s, EVALUE_MALFORMED);
  }
  if (s->values[1].int_value == VERSION) return EVALUE_OK;
  evalue_dataset_fail(s->dataset, EVALUE_UNSUPPORTED, NULL, EVALUE_NO_INDEX, "state: version: expected %d, found %lld",
                      VERSION, (long long)s->values[1].int_value);
  return note(s, EVALUE_UNSUPPORTED);
}

/* Says whether the next values are a data set's head, and goes to what is behind its own. */
static bool pass_head(evalue_dataset_state *s, const evalue **head) {
  if (s->count - s->position < HEAD) return false;
  const evalue *v = &s->values[s->position];
  *head = v;
  bool is_head = v[0].tag == EVALUE_TAG_STRING && v[1].tag == EVALUE_TAG_BOOL && v[2].tag == EVALUE_TAG_INT;
  uint64_t left = s->count - s->position - HEAD;
  if (!is_head || v[2].int_value < 0 || (uint64_t)v[2].int_value > left) return false;
  s->position += HEAD + (size_t)v[2].int_value;
  return true;
}

/* Compares the stages; changes none. `root` is whom a difference is told of. */
static evalue_status compare(evalue_dataset_state *s, evalue_dataset *root, const evalue_dataset *d) {
  char found[64] = "the end";
  const evalue *head = NULL;
  bool is_head = pass_head(s, &head);
  if (is_head && is_string(head, d->functions->name)) {
    for (size_t i = 0; i < d->input_count && s->status == EVALUE_OK; i++) compare(s, root, d->inputs[i]);
    return (evalue_status)s->status;
  }
  if (head != NULL) evalue_print(head, found, sizeof found);
  return note(s, evalue_dataset_fail(root, EVALUE_MALFORMED, NULL, EVALUE_NO_INDEX,
                                     "state: the stages differ: expected \"%s\", found %s", d->functions->name, found));
}

/* Restores a data set and its inputs, whose names are as expected. */
static void restore(evalue_dataset_state *s, evalue_dataset *d) {
  const evalue *head = &s->values[s->position];
  s->dataset = d;
  s->position += HEAD;
  s->end = s->position + (size_t)head[2].int_value;
  if (d->functions->state != NULL) note(s, d->functions->state(d, s));
  if (s->status == EVALUE_OK && s->position != s->end) {
    evalue_state_fail(s, "values", "no more", s->end - s->position);
  }
  if (s->status != EVALUE_OK) return;
  memset(&d->error, 0, sizeof d->error);
  d->status = head[1].bool_value != 0 ? EVALUE_END : EVALUE_OK;
  for (size_t i = 0; i < d->input_count && s->status == EVALUE_OK; i++) restore(s, d->inputs[i]);
}

evalue_status evalue_dataset_restore(evalue_dataset *d, const void *data, size_t size) {
  if (d == NULL || d->self != d || d->is_busy != 0 || (data == NULL && size != 0)) return EVALUE_MISUSE;
  if (d->is_broken != 0) return (evalue_status)d->status;
  evalue_dataset_state s = {.dataset = d, .is_restoring = true};
  d->is_busy = 1;
  if (decode(&s, data, size) == EVALUE_OK && check_title(&s) == EVALUE_OK) compare(&s, d, d);
  if (s.status == EVALUE_OK && s.position != s.count) {
    note(&s, evalue_dataset_fail(d, EVALUE_MALFORMED, NULL, EVALUE_NO_INDEX,
                                 "state: the stages differ: expected no more, found %llu values more",
                                 (unsigned long long)(s.count - s.position)));
  }
  if (s.status == EVALUE_OK) {
    s.position = 2;
    restore(&s, d);
    if (settle(&s, d) != EVALUE_OK) d->status = s.status;
  }
  d->is_busy = 0;
  free(s.values);
  return (evalue_status)s.status;
}
