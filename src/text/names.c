/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of tags and scalar types. */
#include "evalue/tensor.h"

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
