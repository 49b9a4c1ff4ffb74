/* SPDX-License-Identifier: BSD-3-Clause */
/* What each release of ExecuTorch's Android classes knows (spec/executorch-java.md, section 2), and the options. */
#include "java.h"

/* By dtype code. A release of 0 says that there is no such code: EVALUE_JAVA_ANY is none that brought anything. */
static const struct {
  uint8_t scalar_type, since;
} dtypes[] = {
#define EVALUE_X(scalar_type, code, since) [code] = {EVALUE_##scalar_type, EVALUE_JAVA_##since},
    EVALUE_JAVA_DTYPE_TABLE(EVALUE_X)
#undef EVALUE_X
};

enum { DTYPE_COUNT = sizeof dtypes / sizeof dtypes[0] };

static bool knows(uint32_t release, uint32_t since) {
  return since != 0 && (release == EVALUE_JAVA_ANY || release >= since);
}

int evalue_java_scalar_type(uint32_t dtype, uint32_t release) {
  return dtype < DTYPE_COUNT && knows(release, dtypes[dtype].since) ? dtypes[dtype].scalar_type : -1;
}

int evalue_java_dtype(uint32_t scalar_type, uint32_t release) {
  for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
    if (dtypes[dtype].scalar_type == scalar_type && knows(release, dtypes[dtype].since)) return dtype;
  }
  return -1;
}

bool evalue_java_has_strings(uint32_t release) {
  return knows(release, EVALUE_JAVA_1_2);
}

bool evalue_java_take_options(evalue_java_options *taken, const evalue_java_options *options) {
  static const uint8_t last = 0
#define EVALUE_X(name, code, text) +1
                              EVALUE_JAVA_RELEASE_TABLE(EVALUE_X)
#undef EVALUE_X
                              - 1;
  static const evalue_java_options defaults = {0};
  *taken = defaults;
  if (options == NULL) return true;
  if (options->size != 0 && options->size != sizeof *options) return false;
  *taken = *options;
  return taken->release <= last;
}

evalue_status evalue_java_fail(evalue_error *error, evalue_fault fault, evalue_field field, uint64_t position) {
  static const struct {
    uint8_t status, expected;
  } faults[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning)                                               \
  [EVALUE_FAULT_##name] = {EVALUE_##status, expected},
      EVALUE_ALL_FAULTS_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  bool has_place = fault != EVALUE_FAULT_ARGUMENT && fault != EVALUE_FAULT_MEMORY_SHORT;
  *error = (evalue_error){.status = faults[fault].status, .expected = faults[fault].expected};
  error->fault = (uint16_t)fault;
  error->field = (uint16_t)field;
  error->position = has_place ? position : 0;
  error->value_index = has_place ? 0 : EVALUE_NO_INDEX;
  return (evalue_status)error->status;
}
