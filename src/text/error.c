/* SPDX-License-Identifier: BSD-3-Clause */
/* An error as a sentence: where, what, expected and found. */
#include "evalue/tensor.h"
#include "evalue/text.h"
#include "text_internal.h"

/* How `expected` and `found` belong together. */
enum relation { NOTHING, EXACTLY, AT_MOST, AT_LEAST };

static enum relation relation_of(uint32_t fault) {
  static const uint8_t relations[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning) relation,
      EVALUE_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
  };
  return fault < sizeof relations ? (enum relation)relations[fault] : NOTHING;
}

/* Appends a code with its name, if it has one. */
static void put_code(evalue_text *text, uint64_t code, const char *name) {
  evalue_text_put_u64(text, code);
  if (name == NULL) return;
  evalue_text_put(text, " (");
  evalue_text_put(text, name);
  evalue_text_put(text, ")");
}

/* The magic, loaded as a little-endian number, as the bytes that it is; an input of less than four bytes has zeros
 * after its end. */
static void put_magic(evalue_text *text, uint64_t magic) {
  uint8_t bytes[4];
  size_t n = 0;
  for (size_t i = 0; i < 4; i++) {
    bytes[i] = (uint8_t)(magic >> 8 * i);
    if (bytes[i] != 0) n = i + 1;
  }
  evalue_text_put(text, "\"");
  evalue_text_put_escaped(text, bytes, n);
  evalue_text_put(text, "\"");
}

/* Appends a number as the field means it. */
static void put_number(evalue_text *text, const evalue_error *error, uint64_t number) {
  uint32_t code = number <= UINT8_MAX ? (uint32_t)number : UINT32_MAX;
  bool counts_values =
      error->fault == EVALUE_FAULT_LIMIT_VALUES; /* its field is the tag, but its numbers are no tags */
  if (error->fault == EVALUE_FAULT_PAD_MISPLACED && number > UINT8_MAX) { /* no tag */
    evalue_text_put(text, "the end");
  } else if (error->field == EVALUE_FIELD_MAGIC && error->fault == EVALUE_FAULT_BAD_MAGIC) {
    put_magic(text, number);
  } else if (error->field == EVALUE_FIELD_TAG && !counts_values) {
    put_code(text, number, evalue_tag_name(code));
  } else if (error->field == EVALUE_FIELD_SCALAR_TYPE) {
    put_code(text, number, evalue_scalar_type_name(code));
  } else if (error->field == EVALUE_FIELD_SIZE && (number >> 63) != 0) {
    evalue_text_put(text, "-");
    evalue_text_put_u64(text, 0 - number);
  } else {
    evalue_text_put_u64(text, number);
  }
}

static void put_comparison(evalue_text *text, const evalue_error *error) {
  switch (relation_of(error->fault)) {
    case EXACTLY: evalue_text_put(text, ": expected "); break;
    case AT_MOST: evalue_text_put(text, ": expected at most "); break;
    case AT_LEAST: evalue_text_put(text, ": expected at least "); break;
    default:
      /* Without `expected`, `found` says something where it is a value of the field, or the tag that stood in the way.
       */
      if (error->field == EVALUE_FIELD_SIZE || error->field == EVALUE_FIELD_DIM_ORDER ||
          error->fault == EVALUE_FAULT_PAD_MISPLACED) {
        evalue_text_put(text, ": found ");
        put_number(text, error, error->found);
      }
      return;
  }
  put_number(text, error, error->expected);
  evalue_text_put(text, ", found ");
  put_number(text, error, error->found);
}

static void put_error(evalue_text *text, const evalue_error *error) {
  bool has_place = error->fault != EVALUE_FAULT_NONE && error->fault != EVALUE_FAULT_ARGUMENT;
  if (has_place) {
    evalue_text_put(text, "offset ");
    evalue_text_put_u64(text, error->position);
    evalue_text_put(text, ": ");
    if (error->value_index != EVALUE_NO_INDEX) {
      evalue_text_put(text, "value ");
      evalue_text_put_u64(text, error->value_index);
      evalue_text_put(text, ": ");
    }
  }
  evalue_text_put(text, evalue_status_name(error->status));
  if (error->fault == EVALUE_FAULT_NONE) return;
  if (has_place && error->field != EVALUE_FIELD_NONE) {
    evalue_text_put(text, ": ");
    evalue_text_put(text, evalue_field_name(error->field));
  }
  evalue_text_put(text, ": ");
  evalue_text_put(text, evalue_fault_message(error->fault));
  put_comparison(text, error);
  if (error->status == EVALUE_TRUNCATED && error->needed != error->expected) {
    evalue_text_put(text, "; ");
    evalue_text_put_u64(text, error->needed);
    evalue_text_put(text, " bytes of input are needed");
  }
}

size_t evalue_print_error(const evalue_error *error, char *text, size_t capacity) {
  static const evalue_error misuse = {
      EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0, EVALUE_NO_INDEX, 0, 0, 0};
  evalue_text out = evalue_text_start(text, capacity);
  put_error(&out, error != NULL ? error : &misuse);
  return evalue_text_end(&out);
}
