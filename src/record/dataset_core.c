/* SPDX-License-Identifier: BSD-3-Clause */
/* What all data sets have in common: inputs that they take over, failures that stay, and that they stay in place. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "dataset_internal.h"
#include "evalue/text.h"

static bool is_usable(const evalue_dataset *d) {
  return d != NULL && d->self == d && d->is_busy == 0;
}

/* ---- failures ---- */

/* Starts the text of a failure: which example, and which value of it. Returns its length. */
static size_t put_place(evalue_dataset *d, const evalue_example *example, uint64_t value_index) {
  char *text = d->error.text;
  size_t capacity = sizeof d->error.text;
  int n = example == NULL || example->source == NULL
              ? snprintf(text, capacity, "%s: ", d->functions->name)
              : snprintf(text, capacity, "%s: record %llu: ", example->source, (unsigned long long)example->index);
  size_t length = n < 0 ? 0 : (size_t)n;
  if (length >= capacity) return capacity - 1;
  if (value_index == EVALUE_NO_INDEX) return length;
  n = snprintf(text + length, capacity - length, "value %llu: ", (unsigned long long)value_index);
  length += n < 0 ? 0 : (size_t)n;
  return length < capacity ? length : capacity - 1;
}

/* Fills the failure but for the rest of its text, which goes to the place that is returned. */
static char *start_error(evalue_dataset *d, evalue_status status, const evalue_example *example, uint64_t value_index,
                         size_t *capacity) {
  int32_t system_error = status == EVALUE_IO ? (int32_t)errno : 0;
  memset(&d->error, 0, sizeof d->error);
  d->error.status = (int32_t)status;
  d->error.system_error = system_error;
  d->error.index = example != NULL && example->source != NULL ? example->index : EVALUE_NO_INDEX;
  d->error.value_index = value_index;
  d->error.source = example != NULL ? example->source : NULL;
  size_t length = put_place(d, example, value_index);
  *capacity = sizeof d->error.text - length;
  return d->error.text + length;
}

evalue_status evalue_dataset_fail(evalue_dataset *d, evalue_status status, const evalue_example *example,
                                  uint64_t value_index, const char *format, ...) {
  size_t capacity;
  va_list arguments;
  if (d == NULL || d->self != d || format == NULL || !evalue_dataset_has_failed((int32_t)status)) return EVALUE_MISUSE;
  char *text = start_error(d, status, example, value_index, &capacity);
  va_start(arguments, format);
  vsnprintf(text, capacity, format, arguments);
  va_end(arguments);
  return status;
}

evalue_status evalue_dataset_fail_memory(evalue_dataset *d) {
  errno = ENOMEM;
  return evalue_dataset_fail(d, EVALUE_IO, NULL, EVALUE_NO_INDEX, "there is no memory");
}

evalue_status evalue_dataset_fail_fault(evalue_dataset *d, const evalue_example *example, const evalue_error *fault) {
  evalue_error copy = *fault; /* which may lie in what is overwritten now */
  size_t capacity;
  char *text = start_error(d, (evalue_status)copy.status, example, EVALUE_NO_INDEX, &capacity);
  evalue_print_error(&copy, text, capacity);
  d->error.fault = copy;
  d->error.value_index = copy.value_index;
  return (evalue_status)copy.status;
}

evalue_status evalue_dataset_break(evalue_dataset *d, evalue_status status, const char *text) {
  if (!evalue_dataset_has_failed(d->error.status)) {
    evalue_dataset_fail(d, status, NULL, EVALUE_NO_INDEX, "%s", text);
  }
  d->status = d->error.status;
  d->is_broken = 1;
  return (evalue_status)d->status;
}

evalue_status evalue_dataset_break_memory(evalue_dataset *d) {
  evalue_dataset_fail_memory(d);
  return evalue_dataset_break(d, EVALUE_IO, "");
}

/* A failure that stays: the one that an input has handed on, or the data set's own. */
static evalue_status stay(evalue_dataset *d, evalue_status status) {
  d->status = (int32_t)status;
  for (size_t i = 0; i < d->input_count; i++) {
    if (d->inputs[i]->status != (int32_t)status) continue;
    d->error = d->inputs[i]->error;
    return status;
  }
  if (d->error.status == (int32_t)status) return status;
  return evalue_dataset_fail(d, status, NULL, EVALUE_NO_INDEX, "%s", evalue_status_message((int32_t)status));
}

/* ---- starting ---- */

/* Takes n inputs over, all or none of them. */
static bool take_over(evalue_dataset *d, evalue_dataset *const *inputs, size_t n) {
  size_t taken = 0;
  for (; taken < n; taken++) {
    evalue_dataset *input = inputs[taken];
    if (!is_usable(input) || input == d || input->is_taken != 0) break;
    if (input->is_borrowed == 0) input->is_taken = 1;
  }
  if (taken == n) return true;
  while (taken > 0) inputs[--taken]->is_taken = 0;
  return false;
}

evalue_status evalue_dataset_init(evalue_dataset *d, const evalue_dataset_functions *functions,
                                  evalue_dataset *const *inputs, size_t n) {
  static const evalue_dataset_functions none = {.name = "data set"};
  if (d == NULL) return EVALUE_MISUSE;
  memset(d, 0, sizeof *d);
  bool is_good = functions != NULL && functions->name != NULL && functions->next != NULL;
  d->functions = is_good ? functions : &none;
  d->self = d;
  if (!is_good) return evalue_dataset_break(d, EVALUE_MISUSE, "it has no function that gives examples");
  if (inputs == NULL && n != 0) return evalue_dataset_break(d, EVALUE_MISUSE, "its inputs are missing");
  if (!take_over(d, inputs, n)) {
    return evalue_dataset_break(d, EVALUE_MISUSE, "an input is none, or closed, or another stage has it");
  }
  d->input = n == 1 ? inputs[0] : NULL;
  d->inputs = n == 1 ? &d->input : inputs;
  d->input_count = n;
  for (size_t i = 0; i < n; i++) {
    if (inputs[i]->is_broken == 0) continue;
    d->error = inputs[i]->error;
    return evalue_dataset_break(d, (evalue_status)d->error.status, "");
  }
  return EVALUE_OK;
}

evalue_status evalue_dataset_start(evalue_dataset *d, const evalue_dataset_functions *functions,
                                   evalue_dataset *input) {
  return evalue_dataset_init(d, functions, &input, 1);
}

/* ---- the calls ---- */

static inline evalue_status next_by(evalue_dataset *d, evalue_status (*next)(evalue_dataset *, evalue_example *),
                                    evalue_example *example) {
  evalue_status status = (evalue_status)d->status;
  if (status == EVALUE_OK) {
    d->is_busy = 1;
    status = next(d, example);
    d->is_busy = 0;
    if (status == EVALUE_OK) return EVALUE_OK;
    if (status == EVALUE_END) d->status = EVALUE_END;
    else stay(d, status);
  }
  memset(example, 0, sizeof *example);
  return status;
}

evalue_status evalue_dataset_next(evalue_dataset *d, evalue_example *example) {
  if (!is_usable(d) || example == NULL) return EVALUE_MISUSE;
  return next_by(d, d->functions->next, example);
}

evalue_status evalue_dataset_next_by(evalue_dataset *d, evalue_status (*next)(evalue_dataset *, evalue_example *),
                                     evalue_example *example) {
  return is_usable(d) ? next_by(d, next, example) : EVALUE_MISUSE;
}

evalue_status evalue_dataset_rewind(evalue_dataset *d) {
  if (!is_usable(d)) return EVALUE_MISUSE;
  if (d->is_broken != 0) return (evalue_status)d->status;
  memset(&d->error, 0, sizeof d->error);
  evalue_status status = EVALUE_OK;
  d->is_busy = 1;
  if (d->functions->rewind != NULL) status = d->functions->rewind(d);
  for (size_t i = 0; i < d->input_count && status == EVALUE_OK; i++) status = evalue_dataset_rewind(d->inputs[i]);
  d->is_busy = 0;
  d->status = EVALUE_OK;
  return status == EVALUE_OK ? status : stay(d, status);
}

/* Closes a data set that nobody has, or whose owner is closed. */
static void close_all(evalue_dataset *d) {
  d->is_busy = 1;
  if (d->functions->close != NULL) d->functions->close(d);
  for (size_t i = 0; i < d->input_count; i++) {
    evalue_dataset *input = d->inputs[i];
    if (input->self == input && input->is_borrowed == 0) close_all(input);
  }
  d->is_busy = 0;
  d->self = NULL;
}

evalue_status evalue_dataset_close(evalue_dataset *d) {
  if (!is_usable(d) || d->is_taken != 0) return EVALUE_MISUSE;
  close_all(d);
  return EVALUE_OK;
}

evalue_status evalue_dataset_borrow(evalue_dataset *d) {
  if (!is_usable(d) || d->is_taken != 0) return EVALUE_MISUSE;
  d->is_borrowed = 1;
  return EVALUE_OK;
}
