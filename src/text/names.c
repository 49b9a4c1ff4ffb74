/* SPDX-License-Identifier: BSD-3-Clause */
/* Codes to names and messages, from the tables in the headers. The core itself has no strings. */
#include <stddef.h>

#include "evalue/executorch_java.h"
#include "evalue/status.h"
#include "evalue/tensor.h"
#include "evalue/version.h"

static const char *name_at(const char *const *names, size_t count, uint32_t code) {
  return code < count && names[code] != NULL ? names[code] : "?";
}

const char *evalue_version(void) {
  return EVALUE_VERSION;
}

const char *evalue_status_name(int32_t status) {
  static const char *const names[] = {
#define EVALUE_X(name, text, meaning) text,
      EVALUE_STATUS_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  return name_at(names, sizeof names / sizeof names[0], (uint32_t)status);
}

const char *evalue_status_message(int32_t status) {
  static const char *const messages[] = {
#define EVALUE_X(name, text, meaning) meaning,
      EVALUE_STATUS_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  return name_at(messages, sizeof messages / sizeof messages[0], (uint32_t)status);
}

const char *evalue_field_name(uint32_t field) {
  static const char *const names[] = {
#define EVALUE_X(name, text) text,
      EVALUE_FIELD_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  return name_at(names, sizeof names / sizeof names[0], field);
}

const char *evalue_fault_name(uint32_t fault) {
  static const char *const names[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning) [EVALUE_FAULT_##name] = text,
      EVALUE_ALL_FAULTS_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  return name_at(names, sizeof names / sizeof names[0], fault);
}

const char *evalue_fault_message(uint32_t fault) {
  static const char *const messages[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning) [EVALUE_FAULT_##name] = meaning,
      EVALUE_ALL_FAULTS_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  return name_at(messages, sizeof messages / sizeof messages[0], fault);
}

const char *evalue_tag_name(uint32_t tag) {
  switch (tag) {
#define EVALUE_X(name, code, text)                                                                                     \
  case code: return text;
    EVALUE_TAG_TABLE(EVALUE_X)
#undef EVALUE_X
    default: return NULL;
  }
}

const char *evalue_scalar_type_name(uint32_t scalar_type) {
  static const char *const names[] = {
#define EVALUE_X(name, code, text, element_size, component_size) [code] = text,
      EVALUE_SCALAR_TYPE_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  return scalar_type < sizeof names / sizeof names[0] ? names[scalar_type] : NULL;
}

const char *evalue_java_release_name(uint32_t release) {
  static const char *const names[] = {
#define EVALUE_X(name, code, text) [code] = text,
      EVALUE_JAVA_RELEASE_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  return release < sizeof names / sizeof names[0] ? names[release] : NULL;
}
