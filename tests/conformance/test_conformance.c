/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library against the specification: every golden vector and every example of the document, in both directions, and
 * the document's tables against the enums. The vectors stand in a C table that generate.py makes, so this program runs
 * wherever the core does.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/evalue.h"
#include "guard.h"

enum form { FORM_MESSAGE, FORM_SEQUENCE, FORM_VALUE };

struct vector {
  const char *name;
  enum form form;
  const uint8_t *bytes;
  size_t size;
  evalue_read_options options;
  uint32_t align;
  const evalue *values;
  size_t n;
  int is_canonical;
  uint64_t end;
  const char *status, *field, *fault;
  uint64_t position, value_index, needed;
};

struct spec_tag {
  uint32_t code;
  const char *name;
};

struct spec_type {
  uint32_t code;
  const char *name;
  uint32_t element_size, component_size;
};

struct spec_fault {
  const char *fault, *status, *field;
};

static const uint8_t nothing[1] = {0};
static const evalue *const no_values = NULL;

#include "vectors.inc"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { MAX_VALUES = 2000, MAX_SIZE = 64 * 1024 };

static evalue decoded[MAX_VALUES];
static uint64_t ended; /* where one bare value did */

static evalue_status decode(const struct vector *v, const uint8_t *bytes, uint64_t *n, evalue_error *error) {
  if (v->form == FORM_VALUE) {
    *n = 1;
    return evalue_value_decode(bytes, v->size, &v->options, decoded, &ended, error);
  }
  if (v->form == FORM_SEQUENCE) {
    return evalue_sequence_decode(bytes, v->size, &v->options, decoded, MAX_VALUES, n, error);
  }
  return evalue_message_decode(bytes, v->size, &v->options, decoded, MAX_VALUES, n, error);
}

static evalue_status start(const struct vector *v, const uint8_t *bytes, evalue_reader *r) {
  if (v->form != FORM_MESSAGE) return evalue_reader_init_sequence(r, bytes, v->size, &v->options);
  return evalue_reader_init(r, bytes, v->size, &v->options);
}

static evalue_status encode(const struct vector *v, const evalue *values, uint8_t *buffer, size_t capacity,
                            uint64_t *size) {
  if (v->form != FORM_MESSAGE) return evalue_sequence_encode(values, v->n, buffer, capacity, size);
  return evalue_message_encode(values, v->n, v->align, buffer, capacity, size);
}

/* ---- bytes to values ---- */

static void check_accepted(const struct vector *v, const uint8_t *bytes) {
  uint64_t n = 0;
  evalue_error error;
  evalue_status status = decode(v, bytes, &n, &error);
  if (status != EVALUE_OK || n != v->n) fail_msg("%s: %s, %d values", v->name, evalue_fault_name(error.fault), (int)n);
  for (size_t i = 0; i < v->n; i++) {
    if (!evalue_equal(&decoded[i], &v->values[i])) fail_msg("%s: value %d differs", v->name, (int)i);
  }
  if (v->form == FORM_VALUE) { /* read by no other call */
    assert_int_equal(ended, v->end);
    return;
  }
  evalue_reader r;
  evalue pulled;
  start(v, bytes, &r);
  for (size_t i = 0; i < v->n; i++) {
    if (evalue_reader_next(&r, &pulled) != EVALUE_OK || !evalue_equal(&pulled, &v->values[i])) {
      fail_msg("%s: pulled value %d differs", v->name, (int)i);
    }
  }
  assert_int_equal(evalue_reader_next(&r, &pulled), EVALUE_END);
  assert_int_equal(evalue_reader_next(&r, NULL), EVALUE_END);
  assert_int_equal(evalue_reader_error(&r)->status, EVALUE_OK);
  if (evalue_reader_position(&r) != v->end) fail_msg("%s: ended elsewhere", v->name);
  if (v->form == FORM_MESSAGE) assert_int_equal(evalue_reader_alignment(&r), v->align);
}

static void test_accepted_to_values(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(accepted); i++) {
    const struct vector *v = &accepted[i];
    guard_buffer guard = guard_put(v->bytes, v->size);
    check_accepted(v, guard.data);
    guard_free(&guard);
  }
}

static void check_error(const struct vector *v, const char *how, evalue_status status, const evalue_error *e) {
  bool is_same = (int32_t)status == e->status && strcmp(evalue_status_name(e->status), v->status) == 0 &&
                 strcmp(evalue_field_name(e->field), v->field) == 0 &&
                 strcmp(evalue_fault_name(e->fault), v->fault) == 0 && e->position == v->position &&
                 e->value_index == v->value_index && e->needed == v->needed;
  if (is_same) return;
  fail_msg("%s, %s: got %s %s %s position %lld value %lld needed %lld", v->name, how, evalue_status_name(e->status),
           evalue_field_name(e->field), evalue_fault_name(e->fault), (long long)e->position, (long long)e->value_index,
           (long long)e->needed);
}

static void check_rejected(const struct vector *v, const uint8_t *bytes) {
  uint64_t n = 0;
  evalue_error error;
  evalue_status status = decode(v, bytes, &n, &error);
  check_error(v, "decode", status, &error);
  if (v->form == FORM_VALUE) return; /* read by no other call */
  evalue_reader r;
  start(v, bytes, &r);
  do {
    status = evalue_reader_next(&r, NULL);
  } while (status == EVALUE_OK);
  check_error(v, "reader", status, evalue_reader_error(&r));
  assert_int_equal(evalue_reader_next(&r, decoded), status); /* and it stays */
  check_error(v, "again", status, evalue_reader_error(&r));
}

static void test_rejected(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(rejected); i++) {
    const struct vector *v = &rejected[i];
    guard_buffer guard = guard_put(v->bytes, v->size);
    check_rejected(v, guard.data);
    guard_free(&guard);
  }
}

static void aborted(int number) {
  (void)number;
  static const char said[] = "the library aborted\n";
  (void)!write(STDERR_FILENO, said, sizeof said - 1);
  _exit(1);
}

/* Overflow is a status, and not the end of the program. */
static void test_a7_overflow_never_aborts(void **state) {
  (void)state;
  size_t tried = 0;
  void (*before)(int) = signal(SIGABRT, aborted);
  for (size_t i = 0; i < COUNT_OF(rejected); i++) {
    if (strcmp(rejected[i].field, "size") != 0 && strcmp(rejected[i].field, "length") != 0) continue;
    check_rejected(&rejected[i], rejected[i].bytes);
    tried++;
  }
  signal(SIGABRT, before);
  assert_true(tried > 100);
}

/* Any address will do. */
static void test_base_addresses(void **state) {
  (void)state;
  static uint8_t copy[MAX_SIZE + 16];
  for (size_t base = 0; base < 16; base++) {
    for (size_t i = 0; i < COUNT_OF(accepted); i++) {
      memcpy(copy + base, accepted[i].bytes, accepted[i].size);
      check_accepted(&accepted[i], copy + base);
    }
    for (size_t i = 0; i < COUNT_OF(rejected); i++) {
      memcpy(copy + base, rejected[i].bytes, rejected[i].size);
      check_rejected(&rejected[i], copy + base);
    }
  }
}

/* ---- values to bytes ---- */

static void check_same(const struct vector *v, const char *how, const uint8_t *bytes, uint64_t size) {
  if (size != v->size || memcmp(bytes, v->bytes, v->size) != 0) fail_msg("%s: %s gives other bytes", v->name, how);
}

static void check_encode(const struct vector *v) {
  uint64_t size = 1;
  evalue_status status = v->form != FORM_MESSAGE ? evalue_sequence_size(v->values, v->n, &size)
                                                 : evalue_message_size(v->values, v->n, v->align, &size);
  if (status != EVALUE_OK || size != v->size) fail_msg("%s: size says %d", v->name, (int)size);
  guard_buffer guard = guard_new(v->size);
  assert_int_equal(encode(v, v->values, guard.data, v->size, &size), EVALUE_OK);
  check_same(v, "encode", guard.data, size);
  guard_free(&guard);
}

static void check_writer(const struct vector *v) {
  static uint8_t buffer[MAX_SIZE];
  evalue_writer w;
  uint64_t size = 0;
  if (v->form != FORM_MESSAGE) assert_int_equal(evalue_writer_init_sequence(&w, buffer, sizeof buffer), EVALUE_OK);
  else assert_int_equal(evalue_writer_init(&w, buffer, sizeof buffer, v->align), EVALUE_OK);
  for (size_t i = 0; i < v->n; i++) assert_int_equal(evalue_writer_put(&w, &v->values[i]), EVALUE_OK);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_OK);
  check_same(v, "writer", buffer, size);
}

static void check_gather(const struct vector *v) {
  static uint8_t scratch[MAX_SIZE], joined[MAX_SIZE];
  static evalue_slice slices[2 * MAX_VALUES];
  evalue_gather g = {scratch, sizeof scratch, slices, COUNT_OF(slices), 0, 0, 0};
  evalue_status status = v->form != FORM_MESSAGE ? evalue_sequence_gather(v->values, v->n, &g)
                                                 : evalue_message_gather(v->values, v->n, v->align, &g);
  assert_int_equal(status, EVALUE_OK);
  size_t size = 0;
  for (uint64_t i = 0; i < g.slice_count; i++) {
    assert_true(slices[i].size != 0);
    memcpy(joined + size, slices[i].data, slices[i].size);
    size += slices[i].size;
  }
  assert_int_equal(g.size, size);
  check_same(v, "gather", joined, size);
}

static void test_values_to_bytes(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(accepted); i++) {
    if (!accepted[i].is_canonical) continue;
    check_encode(&accepted[i]);
    check_writer(&accepted[i]);
    check_gather(&accepted[i]);
  }
}

/* decode(encode(v)) = v, also where the input had things that are not values. */
static void test_round_trip_of_values(void **state) {
  (void)state;
  static uint8_t buffer[MAX_SIZE];
  for (size_t i = 0; i < COUNT_OF(accepted); i++) {
    const struct vector *v = &accepted[i];
    uint64_t size = 0, n = 0;
    assert_int_equal(encode(v, v->values, buffer, sizeof buffer, &size), EVALUE_OK);
    struct vector again = *v;
    again.size = (size_t)size;
    again.options = (evalue_read_options){0, 0, 0, 0};
    assert_int_equal(decode(&again, buffer, &n, NULL), EVALUE_OK);
    assert_int_equal(n, v->n);
    for (size_t k = 0; k < v->n; k++) assert_true(evalue_equal(&decoded[k], &v->values[k]));
  }
}

/* ---- the document's tables ---- */

static void test_tags_of_the_document(void **state) {
  (void)state;
  size_t named = 0;
  for (uint32_t tag = 0; tag < 256; tag++) named += evalue_tag_name(tag) != NULL;
  assert_int_equal(named, COUNT_OF(spec_tags));
  for (size_t i = 0; i < COUNT_OF(spec_tags); i++) {
    assert_non_null(evalue_tag_name(spec_tags[i].code));
    assert_string_equal(evalue_tag_name(spec_tags[i].code), spec_tags[i].name);
  }
}

static void test_scalar_types_of_the_document(void **state) {
  (void)state;
  size_t known = 0;
  for (uint32_t code = 0; code < 256; code++) known += evalue_element_size(code) != 0;
  assert_int_equal(known, COUNT_OF(spec_types));
  for (size_t i = 0; i < COUNT_OF(spec_types); i++) {
    uint32_t code = spec_types[i].code;
    assert_int_equal(code, i);
    assert_string_equal(evalue_scalar_type_name(code), spec_types[i].name);
    assert_int_equal(evalue_element_size(code), spec_types[i].element_size);
    assert_int_equal(evalue_component_size(code), spec_types[i].component_size);
  }
}

/* The faults that depend on what the caller asked for, and not on the format. */
static bool is_of_the_caller(uint32_t fault) {
  return fault == EVALUE_FAULT_NONE || fault == EVALUE_FAULT_CAPACITY || fault == EVALUE_FAULT_ARGUMENT;
}

static void test_faults_of_the_document(void **state) {
  (void)state;
  static const char *const names[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning) text,
      EVALUE_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  for (uint32_t fault = 0; fault < COUNT_OF(names); fault++) {
    bool is_listed = false;
    for (size_t i = 0; i < COUNT_OF(spec_faults); i++) is_listed |= strcmp(spec_faults[i].fault, names[fault]) == 0;
    if (is_listed == is_of_the_caller(fault)) fail_msg("%s is in one place only", names[fault]);
  }
  for (size_t i = 0; i < COUNT_OF(spec_statuses); i++) {
    int32_t status = 0;
    while (strcmp(evalue_status_name(status), spec_statuses[i]) != 0 && status < 100) status++;
    if (status == 100) fail_msg("the library has no status %s", spec_statuses[i]);
  }
}

static void test_each_listed_fault_has_a_vector(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(spec_faults); i++) {
    const struct spec_fault *listed = &spec_faults[i];
    bool has_vector = false;
    for (size_t k = 0; k < COUNT_OF(rejected) && !has_vector; k++) {
      const struct vector *v = &rejected[k];
      has_vector = strncmp(v->name, "spec_", 5) != 0 && strcmp(v->fault, listed->fault) == 0 &&
                   strcmp(v->status, listed->status) == 0 && strcmp(v->field, listed->field) == 0;
    }
    if (!has_vector) fail_msg("no rejected vector for %s %s in %s", listed->status, listed->fault, listed->field);
  }
}

/* And the other way round: no vector has a status in a field that the document does not list. */
static void test_each_vector_has_a_listed_fault(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT_OF(rejected); k++) {
    const struct vector *v = &rejected[k];
    bool is_listed = false;
    for (size_t i = 0; i < COUNT_OF(spec_faults) && !is_listed; i++) {
      const struct spec_fault *listed = &spec_faults[i];
      is_listed = strcmp(v->fault, listed->fault) == 0 && strcmp(v->status, listed->status) == 0 &&
                  strcmp(v->field, listed->field) == 0;
    }
    if (!is_listed) fail_msg("%s: %s %s in %s is not listed", v->name, v->status, v->fault, v->field);
  }
}

/* One number over everything that was decided, to compare machines by. */
static void test_print_totals(void **state) {
  (void)state;
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < COUNT_OF(accepted) + COUNT_OF(rejected); i++) {
    const struct vector *v = i < COUNT_OF(accepted) ? &accepted[i] : &rejected[i - COUNT_OF(accepted)];
    uint64_t n = 0;
    evalue_error error;
    uint64_t numbers[5] = {(uint64_t)decode(v, v->bytes, &n, &error), error.field, error.position, error.value_index,
                           n};
    for (size_t k = 0; k < 5; k++) hash = (hash ^ numbers[k]) * UINT64_C(1099511628211);
  }
  assert_true(spec_example_count >= 10);
  assert_true(COUNT_OF(accepted) >= 150 && COUNT_OF(rejected) >= 150);
  print_message("conformance: %d accepted and %d rejected vectors, of them %d examples of the document; hash %016llx\n",
                (int)COUNT_OF(accepted), (int)COUNT_OF(rejected), (int)spec_example_count, (unsigned long long)hash);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accepted_to_values),
      cmocka_unit_test(test_rejected),
      cmocka_unit_test(test_a7_overflow_never_aborts),
      cmocka_unit_test(test_base_addresses),
      cmocka_unit_test(test_values_to_bytes),
      cmocka_unit_test(test_round_trip_of_values),
      cmocka_unit_test(test_tags_of_the_document),
      cmocka_unit_test(test_scalar_types_of_the_document),
      cmocka_unit_test(test_faults_of_the_document),
      cmocka_unit_test(test_each_listed_fault_has_a_vector),
      cmocka_unit_test(test_each_vector_has_a_listed_fault),
      cmocka_unit_test(test_print_totals),
  };
  return cmocka_run_group_tests_name("conformance", tests, NULL, NULL);
}
