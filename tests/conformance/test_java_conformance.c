/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ExecuTorch's Java bytes: the library against spec/executorch-java.md. Its vectors and examples in both directions,
 * its tables against those of the headers, and every line of what upstream's own classes wrote. The vectors stand in a
 * C table that generate_java.py makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/evalue.h"
#include "guard.h"

struct vector {
  const char *name;
  const uint8_t *bytes;
  size_t size;
  evalue_java_options options;
  const evalue *value; /* NULL: rejected */
  int is_canonical;
  uint64_t end;
  const char *status, *field, *fault;
  uint64_t position, value_index, needed;
};

struct upstream {
  const char *name;
  const uint8_t *bytes;
  size_t size;
  const evalue *value; /* NULL: upstream's writer never makes it */
  uint32_t releases;   /* a bit for each that wrote these bytes */
  int is_policy;       /* a reader may choose whether to accept it */
};

struct spec_dtype {
  uint32_t release, code, scalar_type;
};

struct spec_release {
  const char *name;
  uint32_t code;
  int has_strings;
};

struct spec_fault {
  const char *fault, *status, *field;
};

static const uint8_t nothing[1] = {0};

#include "java_vectors.inc"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { MAX_SIZE = 64 * 1024, RELEASE_COUNT = COUNT_OF(spec_releases) };

static uint8_t scratch[MAX_SIZE];

/* ---- bytes to values ---- */

static void check_value(const char *name, const char *how, const evalue *found, const evalue *expected) {
  if (!evalue_equal(found, expected)) fail_msg("%s, %s: another value", name, how);
}

static void check_measured(const struct vector *v, const uint8_t *bytes, uint64_t end) {
  uint64_t value_size = 0, scratch_size = 0;
  const evalue *e = v->value;
  assert_int_equal(evalue_java_measure(bytes, v->size, &v->options, &value_size, &scratch_size, NULL), EVALUE_OK);
  bool is_wide = e->tag == EVALUE_TAG_TENSOR && evalue_element_size(e->tensor.scalar_type) > 1;
  assert_int_equal(value_size, end);
  assert_int_equal(scratch_size, is_wide ? e->tensor.nbytes : 0);
}

static void check_accepted(const struct vector *v, const uint8_t *bytes) {
  evalue value;
  uint64_t used = 0;
  evalue_error error;
  evalue_status status = evalue_java_decode(bytes, v->size, &v->options, scratch, MAX_SIZE, &value, &used, &error);
  if (status != EVALUE_OK) fail_msg("%s: %s", v->name, evalue_fault_name(error.fault));
  assert_int_equal(error.status, EVALUE_OK);
  assert_int_equal(used, v->end);
  check_value(v->name, "decode", &value, v->value);
  check_measured(v, bytes, v->end);
}

static void check_in_place(const struct vector *v, uint8_t *bytes) {
  evalue value;
  uint64_t used = 0;
  assert_int_equal(evalue_java_decode_in_place(bytes, v->size, &v->options, &value, &used, NULL), EVALUE_OK);
  assert_int_equal(used, v->end);
  check_value(v->name, "in place", &value, v->value);
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

static void check_rejected(const struct vector *v, uint8_t *bytes) {
  evalue value;
  evalue_error error;
  evalue_status status = evalue_java_decode(bytes, v->size, &v->options, scratch, MAX_SIZE, &value, NULL, &error);
  check_error(v, "decode", status, &error);
  status = evalue_java_decode(bytes, v->size, &v->options, NULL, 0, NULL, NULL, &error);
  check_error(v, "judge", status, &error);
  status = evalue_java_decode_in_place(bytes, v->size, &v->options, &value, NULL, &error);
  check_error(v, "in place", status, &error);
  assert_int_equal(v->size == 0 || memcmp(bytes, v->bytes, v->size) == 0, 1); /* nothing was swapped */
}

static void test_accepted_to_values(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(accepted); i++) {
    guard_buffer guard = guard_put(accepted[i].bytes, accepted[i].size);
    check_accepted(&accepted[i], guard.data);
    check_in_place(&accepted[i], guard.data);
    guard_free(&guard);
  }
}

static void test_rejected(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(rejected); i++) {
    guard_buffer guard = guard_put(rejected[i].bytes, rejected[i].size);
    check_rejected(&rejected[i], guard.data);
    guard_free(&guard);
  }
}

/* Any address will do. */
static void test_base_addresses(void **state) {
  (void)state;
  static uint8_t copy[MAX_SIZE + 16];
  for (size_t base = 0; base < 16; base++) {
    for (size_t i = 0; i < COUNT_OF(accepted); i++) {
      memcpy(copy + base, accepted[i].bytes, accepted[i].size);
      check_accepted(&accepted[i], copy + base);
      check_in_place(&accepted[i], copy + base);
    }
    for (size_t i = 0; i < COUNT_OF(rejected); i++) {
      memcpy(copy + base, rejected[i].bytes, rejected[i].size);
      check_rejected(&rejected[i], copy + base);
    }
  }
}

/* ---- values to bytes ---- */

static void check_encoded(const char *name, const evalue *value, const evalue_java_options *options,
                          const uint8_t *bytes, size_t size) {
  uint64_t needed = 0, written = 0;
  if (evalue_java_size(value, options, &needed, NULL) != EVALUE_OK || needed != size) fail_msg("%s: size", name);
  guard_buffer guard = guard_new(size);
  assert_int_equal(evalue_java_encode(value, options, guard.data, size, &written, NULL), EVALUE_OK);
  if (written != size || memcmp(guard.data, bytes, size) != 0) fail_msg("%s: encode gives other bytes", name);
  guard_free(&guard);
}

static void test_values_to_bytes(void **state) {
  (void)state;
  size_t tried = 0;
  for (size_t i = 0; i < COUNT_OF(accepted); i++) {
    const struct vector *v = &accepted[i];
    if (!v->is_canonical) continue;
    check_encoded(v->name, v->value, &v->options, v->bytes, v->size);
    tried++;
  }
  assert_true(tried >= 150);
}

/* ---- what upstream wrote ---- */

static void check_written_by(const struct upstream *u, uint32_t release) {
  evalue_java_options options = {.release = release};
  struct vector v = {.name = u->name, .bytes = u->bytes, .size = u->size, .options = options, .value = u->value};
  v.end = u->size;
  check_accepted(&v, u->bytes);
  check_encoded(u->name, u->value, &options, u->bytes, u->size);
  if (u->value->tag != EVALUE_TAG_TENSOR) return;
  v.bytes++; /* Tensor.toByteArray() is the same without the tag */
  v.end = --v.size;
  v.options.bare_tensor = options.bare_tensor = 1;
  check_accepted(&v, v.bytes);
  check_encoded(u->name, u->value, &options, v.bytes, v.size);
}

/* A release that never wrote it cannot read it. */
static void check_not_written_by(const struct upstream *u, uint32_t release) {
  evalue_java_options options = {.release = release};
  evalue value;
  uint64_t size;
  evalue_error error;
  evalue_status status = evalue_java_encode(u->value, &options, scratch, MAX_SIZE, &size, &error);
  if (status != EVALUE_UNSUPPORTED) fail_msg("%s: written for release %d", u->name, (int)release);
  assert_true(error.fault == EVALUE_FAULT_UNKNOWN_DTYPE || error.fault == EVALUE_FAULT_STRING_BEFORE_1_2);
  status = evalue_java_decode(u->bytes, u->size, &options, scratch, MAX_SIZE, &value, NULL, NULL);
  assert_int_equal(status, EVALUE_UNSUPPORTED);
}

static void test_upstream_both_ways(void **state) {
  (void)state;
  size_t tried = 0;
  for (size_t i = 0; i < COUNT_OF(upstream); i++) {
    const struct upstream *u = &upstream[i];
    if (u->value == NULL) continue;
    check_written_by(u, EVALUE_JAVA_ANY);
    for (size_t k = 0; k < RELEASE_COUNT; k++) {
      uint32_t release = spec_releases[k].code;
      if ((u->releases >> release & 1) != 0) check_written_by(u, release);
      else check_not_written_by(u, release);
    }
    tried++;
  }
  assert_int_equal(tried, 85);
}

static void test_upstream_refusals(void **state) {
  (void)state;
  size_t tried = 0, admitted = 0;
  for (size_t i = 0; i < COUNT_OF(upstream); i++) {
    const struct upstream *u = &upstream[i];
    if (u->value != NULL) continue;
    evalue value;
    evalue_error error;
    evalue_java_options all = {.allow_trailing = 1, .allow_any_bool = 1, .allow_any_text = 1};
    evalue_status status = evalue_java_decode(u->bytes, u->size, NULL, scratch, MAX_SIZE, &value, NULL, &error);
    if (status == EVALUE_OK || error.position > u->size) fail_msg("%s: accepted, or with no place", u->name);
    status = evalue_java_decode(u->bytes, u->size, &all, scratch, MAX_SIZE, &value, NULL, NULL);
    if (u->is_policy && status == EVALUE_OK) admitted++;
    tried++;
  }
  assert_int_equal(tried, 58);
  assert_int_equal(admitted, 4); /* all that leaves a choice but a tensor of 17 dimensions */
}

/* ---- the document's tables ---- */

static void test_releases_of_the_document(void **state) {
  (void)state;
  for (uint32_t i = 0; i < RELEASE_COUNT; i++) {
    assert_int_equal(spec_releases[i].code, i + 1);
    assert_string_equal(evalue_java_release_name(i + 1), spec_releases[i].name);
  }
  assert_string_equal(evalue_java_release_name(EVALUE_JAVA_ANY), "any");
  assert_null(evalue_java_release_name(RELEASE_COUNT + 1));
}

/* Says what a release makes of a tensor without dimensions: its scalar type, or -1. */
static int read_dtype(uint32_t release, uint32_t code) {
  evalue_java_options options = {.release = release};
  uint8_t bytes[3 + 16] = {EVALUE_TAG_TENSOR, (uint8_t)code, 0};
  evalue value;
  options.allow_trailing = 1;
  evalue_status status = evalue_java_decode(bytes, sizeof bytes, &options, scratch, MAX_SIZE, &value, NULL, NULL);
  return status == EVALUE_OK ? value.tensor.scalar_type : -1;
}

/* D8: the codes are those of a release, whatever the number means elsewhere. */
static void test_d8_dtypes_of_the_document(void **state) {
  (void)state;
  for (uint32_t release = EVALUE_JAVA_ANY; release <= RELEASE_COUNT; release++) {
    for (uint32_t code = 0; code < 256; code++) {
      int expected = -1;
      for (size_t i = 0; i < COUNT_OF(spec_dtypes); i++) {
        bool is_known = release == EVALUE_JAVA_ANY || spec_dtypes[i].release <= release;
        if (is_known && spec_dtypes[i].code == code) expected = (int)spec_dtypes[i].scalar_type;
      }
      assert_int_equal(read_dtype(release, code), expected);
    }
  }
  assert_int_equal(read_dtype(RELEASE_COUNT + 1, 6), -1);
}

static void test_strings_of_the_document(void **state) {
  (void)state;
  evalue value = evalue_from_string("a", 1);
  for (size_t i = 0; i < RELEASE_COUNT; i++) {
    evalue_java_options options = {.release = spec_releases[i].code};
    uint64_t size;
    evalue_status expected = spec_releases[i].has_strings ? EVALUE_OK : EVALUE_UNSUPPORTED;
    assert_int_equal(evalue_java_size(&value, &options, &size, NULL), expected);
  }
}

static bool is_listed(const char *fault, const char *status, const char *field) {
  for (size_t i = 0; i < COUNT_OF(spec_faults); i++) {
    const struct spec_fault *listed = &spec_faults[i];
    bool is_it = strcmp(listed->fault, fault) == 0 && (status == NULL || strcmp(listed->status, status) == 0);
    if (is_it && (field == NULL || strcmp(listed->field, field) == 0)) return true;
  }
  return false;
}

static void test_faults_of_the_document(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint32_t code;
  } faults[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning) {text, EVALUE_FAULT_##name},
      EVALUE_JAVA_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  for (size_t i = 0; i < COUNT_OF(faults); i++) {
    bool is_of_the_caller = faults[i].code == EVALUE_FAULT_MEMORY_SHORT;
    if (is_listed(faults[i].name, NULL, NULL) == is_of_the_caller) fail_msg("%s is in one place only", faults[i].name);
    assert_string_equal(evalue_fault_name(faults[i].code), faults[i].name);
  }
}

static void test_each_listed_fault_has_a_vector(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(spec_faults); i++) {
    const struct spec_fault *listed = &spec_faults[i];
    bool has_vector = false;
    for (size_t k = 0; k < COUNT_OF(rejected) && !has_vector; k++) {
      const struct vector *v = &rejected[k];
      has_vector = strncmp(v->name, "example_", 8) != 0 && strcmp(v->fault, listed->fault) == 0 &&
                   strcmp(v->status, listed->status) == 0 && strcmp(v->field, listed->field) == 0;
    }
    if (!has_vector) fail_msg("no rejected vector for %s %s in %s", listed->status, listed->fault, listed->field);
  }
}

static void test_each_vector_has_a_listed_fault(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT_OF(rejected); k++) {
    const struct vector *v = &rejected[k];
    if (!is_listed(v->fault, v->status, v->field)) fail_msg("%s: %s in %s is not listed", v->name, v->fault, v->field);
  }
}

static void test_print_totals(void **state) {
  (void)state;
  assert_true(spec_example_count >= 8);
  assert_true(COUNT_OF(accepted) >= 150 && COUNT_OF(rejected) >= 500);
  print_message("ExecuTorch's Java bytes: %d accepted and %d rejected vectors, of them %d examples of the document; %d "
                "lines of upstream's\n",
                (int)COUNT_OF(accepted), (int)COUNT_OF(rejected), (int)spec_example_count, (int)COUNT_OF(upstream));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accepted_to_values),
      cmocka_unit_test(test_rejected),
      cmocka_unit_test(test_base_addresses),
      cmocka_unit_test(test_values_to_bytes),
      cmocka_unit_test(test_upstream_both_ways),
      cmocka_unit_test(test_upstream_refusals),
      cmocka_unit_test(test_releases_of_the_document),
      cmocka_unit_test(test_d8_dtypes_of_the_document),
      cmocka_unit_test(test_strings_of_the_document),
      cmocka_unit_test(test_faults_of_the_document),
      cmocka_unit_test(test_each_listed_fault_has_a_vector),
      cmocka_unit_test(test_each_vector_has_a_listed_fault),
      cmocka_unit_test(test_print_totals),
  };
  return cmocka_run_group_tests_name("java conformance", tests, NULL, NULL);
}
