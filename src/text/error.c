/* SPDX-License-Identifier: BSD-3-Clause */
/* An error as a sentence: where, what, expected and found. */
#include "evalue/executorch_java.h"
#include "evalue/tensor.h"
#include "evalue/text.h"
#include "text_internal.h"

/* How `expected` and `found` belong together. */
enum relation { NOTHING, EXACTLY, AT_MOST, AT_LEAST };

static enum relation relation_of(uint32_t fault) {
  static const uint8_t relations[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning) [EVALUE_FAULT_##name] = relation,
      EVALUE_ALL_FAULTS_TABLE(EVALUE_X)
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

/* Appends the first n bytes of a magic, which was loaded as a little-endian number. */
static void put_magic(evalue_text *text, uint64_t magic, uint64_t n) {
  evalue_text_put(text, "\"");
  for (uint64_t i = 0; i < n && i < 4; i++) {
    char byte = (char)(uint8_t)(magic >> 8 * i);
    bool is_plain = byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
    if (is_plain) evalue_text_piece(text, &byte, 1);
    else evalue_text_put_hex_byte(text, (uint8_t)byte);
  }
  evalue_text_put(text, "\"");
}

/* Appends two of them; n bytes of the one that was found were there. */
static void put_magics(evalue_text *text, const evalue_error *error, uint64_t n) {
  evalue_text_put(text, ": expected ");
  put_magic(text, error->expected, 4);
  evalue_text_put(text, ", found ");
  put_magic(text, error->found, n);
}

/* Appends a number as the field means it. */
static void put_number(evalue_text *text, const evalue_error *error, uint64_t number) {
  uint32_t code = number <= UINT8_MAX ? (uint32_t)number : UINT32_MAX;
  if (error->field == EVALUE_FIELD_SCALAR_TYPE) {
    put_code(text, number, evalue_scalar_type_name(code));
  } else if ((error->field == EVALUE_FIELD_SIZE || error->fault == EVALUE_FAULT_NEGATIVE_LENGTH) && number >> 63 != 0) {
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
    default: return;
  }
  put_number(text, error, error->expected);
  evalue_text_put(text, ", found ");
  put_number(text, error, error->found);
}

/* Appends a sentence with a number. */
static void put_one(evalue_text *text, const char *before, uint64_t number, const char *after) {
  evalue_text_put(text, before);
  evalue_text_put_u64(text, number);
  evalue_text_put(text, after);
}

/* Appends a sentence with two numbers. */
static void put_two(evalue_text *text, const char *before, uint64_t one, const char *between, uint64_t other,
                    const char *after) {
  put_one(text, before, one, between);
  put_one(text, "", other, after);
}

/* Appends what the element after a Pad is called. */
static void put_next_tag(evalue_text *text, uint64_t tag) {
  const char *name = tag <= UINT8_MAX ? evalue_tag_name((uint32_t)tag) : "the end"; /* no tag */
  if (name != NULL) evalue_text_put(text, name);
  else put_one(text, "tag ", tag, "");
}

/* Appends which tags are known, and the one that is not. */
static void put_unknown_tag(evalue_text *text, uint64_t tag) {
  evalue_text_put(text, ": expected ");
  put_code(text, EVALUE_TAG_NONE, evalue_tag_name(EVALUE_TAG_NONE));
  evalue_text_put(text, " to ");
  put_code(text, EVALUE_TAG_BOOL, evalue_tag_name(EVALUE_TAG_BOOL));
  evalue_text_put(text, ", or ");
  put_code(text, EVALUE_TAG_PAD, evalue_tag_name(EVALUE_TAG_PAD));
  evalue_text_put(text, " or more, found ");
  put_code(text, tag, tag <= UINT8_MAX ? evalue_tag_name((uint32_t)tag) : NULL);
}

/* Appends which release of ExecuTorch was expected to know something. */
static void put_release(evalue_text *text, uint64_t release) {
  const char *name = release <= UINT8_MAX ? evalue_java_release_name((uint32_t)release) : NULL;
  if (release == EVALUE_JAVA_ANY) {
    evalue_text_put(text, "any release");
    return;
  }
  evalue_text_put(text, "release ");
  if (name != NULL) evalue_text_put(text, name);
  else evalue_text_put_u64(text, release);
}

/* Appends what a String was read or written as. */
static void put_string_release(evalue_text *text, const evalue_error *error) {
  evalue_text_put(text, ": expected release 1.2 or later, found ");
  if (error->field == EVALUE_FIELD_LENGTH) evalue_text_put(text, "\"EValue@\" in place of the String");
  else put_release(text, error->expected);
}

/* What was expected, and found, where that is always the same; NULL for other faults. */
static const char *fixed_expectation(uint32_t fault) {
  switch (fault) {
    case EVALUE_FAULT_POOL_AGAIN: return ": expected no more pools, found another";
    case EVALUE_FAULT_NO_POOL: return ": expected a pool before it, found none";
    case EVALUE_FAULT_NO_DESCRIPTOR: return ": expected one, found none";
    case EVALUE_FAULT_STRAY_DESCRIPTOR: return ": expected as many as the carrier has, found more";
    case EVALUE_FAULT_NOT_MEMORY: return ": expected a memfd, found something else";
    case EVALUE_FAULT_NOT_SEALED: return ": expected seals against it, found none or too few";
    case EVALUE_FAULT_SLOTS_TAKEN: return ": expected a free one, found none";
    case EVALUE_FAULT_PEER_SLOW: return ": expected bytes or room, found neither";
    case EVALUE_FAULT_PEER_GONE: return ": expected it to be there, found its end closed";
    default: return NULL;
  }
}

/* Appends a checksum in hexadecimal. */
static void put_crc(evalue_text *text, const char *before, uint64_t crc) {
  char digits[9] = {0};
  for (int i = 0; i < 8; i++) digits[i] = "0123456789abcdef"[crc >> (28 - 4 * i) & 15];
  evalue_text_put(text, before);
  evalue_text_put(text, digits);
}

/* Appends the byte that ends a line of an index too early, or does not belong in it. */
static void put_index_line(evalue_text *text, uint64_t byte) {
  evalue_text_put(text, ": expected \"OFFSET SIZE\" and a newline, found ");
  if (byte > UINT8_MAX) evalue_text_put(text, "the end");
  else evalue_text_put(text, "the byte ");
  if (byte <= UINT8_MAX) evalue_text_put_hex_byte(text, (uint8_t)byte);
}

/* What was expected of records, where that is no number of the field; false for other faults. */
static bool put_record_expectation(evalue_text *text, const evalue_error *error) {
  switch (error->fault) {
    case EVALUE_FAULT_RECORD_LENGTH_CRC:
    case EVALUE_FAULT_RECORD_DATA_CRC:
      put_crc(text, ": expected ", error->expected);
      put_crc(text, ", found ", error->found);
      return true;
    case EVALUE_FAULT_RECORD_EMPTY: evalue_text_put(text, ": expected a message, found no byte"); return true;
    case EVALUE_FAULT_INDEX_LINE: put_index_line(text, error->found); return true;
    default: return false;
  }
}

/* What was expected where that is no number of the field. */
static void put_expectation(evalue_text *text, const evalue_error *error) {
  const char *fixed = fixed_expectation(error->fault);
  if (fixed != NULL) {
    evalue_text_put(text, fixed);
    return;
  }
  if (put_record_expectation(text, error)) return;
  switch (error->fault) {
    case EVALUE_FAULT_BAD_BOOL: put_one(text, ": expected 0 or 1, found ", error->found, ""); break;
    case EVALUE_FAULT_UNKNOWN_TAG: put_unknown_tag(text, error->found); break;
    case EVALUE_FAULT_EXTENT_TOO_LARGE:
      put_one(text, ": expected an extent below 2^62, found the size ", error->found, "");
      break;
    case EVALUE_FAULT_DIM_ORDER_REPEATED:
      put_one(text, ": expected each dimension once, found ", error->found, " again");
      break;
    case EVALUE_FAULT_PAD_MISSING:
      put_two(text, ": expected a Pad of length ", error->expected, ", found data at ", error->found, "");
      break;
    case EVALUE_FAULT_PAD_MISPLACED:
      evalue_text_put(text, ": expected a Tensor after it, found ");
      put_next_tag(text, error->found);
      break;
    case EVALUE_FAULT_PAD_NOT_NEEDED: put_one(text, ": expected none, found one of length ", error->found, ""); break;
    case EVALUE_FAULT_SLOT_HELD:
      put_one(text, ": expected one that is free, found slot ", error->found, " again");
      break;
    case EVALUE_FAULT_PACKET_TOO_LARGE:
      put_one(text, ": expected less than its buffer, found ", error->found, "");
      break;
    case EVALUE_FAULT_STRING_BEFORE_1_2: put_string_release(text, error); break;
    case EVALUE_FAULT_BAD_UTF8:
      evalue_text_put(text, ": expected a character, found the byte ");
      evalue_text_put_hex_byte(text, (uint8_t)error->found);
      break;
    case EVALUE_FAULT_UNKNOWN_DTYPE:
      evalue_text_put(text, ": expected one of ");
      put_release(text, error->expected);
      evalue_text_put(text, ", found ");
      put_number(text, error, error->found);
      break;
    default: put_comparison(text, error); break;
  }
}

/* The size of the input, which a fault of the status "truncated" gives away. */
static uint64_t size_of_truncated(const evalue_error *error) {
  switch (error->fault) {
    case EVALUE_FAULT_ELEMENT_SHORT: return error->position + error->found;
    case EVALUE_FAULT_LENGTH_PAST_END: return error->position + 8 + error->expected;
    case EVALUE_FAULT_RECORD_HEAD_SHORT:
    case EVALUE_FAULT_RECORD_SHORT: return error->position + error->found;
    default: return error->found; /* in a message */
  }
}

/* What the fault's numbers say, where "expected" and "found" would not be plain. */
static void put_numbers(evalue_text *text, const evalue_error *error, uint64_t input_size) {
  if (error->fault == EVALUE_FAULT_NO_VALUE) {
    evalue_text_put(text, ": expected a value, found the end");
    return;
  }
  if (error->status == EVALUE_TRUNCATED) {
    put_two(text, ": needs at least ", error->needed, " bytes of input, has ", size_of_truncated(error), "");
    return;
  }
  switch (error->fault) {
    case EVALUE_FAULT_BAD_MAGIC: put_magics(text, error, input_size); break;
    case EVALUE_FAULT_BAD_FRAME_MAGIC: put_magics(text, error, 4); break;
    case EVALUE_FAULT_COUNT_WRONG:
      put_two(text, ": the header says ", error->found, ", the body holds ", error->expected, "");
      break;
    case EVALUE_FAULT_TRAILING_BYTES:
      put_two(text, ": the end is at ", error->expected, ", the input has ", error->found, " bytes");
      break;
    case EVALUE_FAULT_ELEMENT_SHORT:
      put_two(text, ": needs ", error->expected, " bytes, the body has ", error->found, " left");
      break;
    case EVALUE_FAULT_LENGTH_PAST_END:
      put_two(text, ": needs ", error->found, " bytes, the body has ", error->expected, " left");
      break;
    default: put_expectation(text, error); break;
  }
}

/* What is wrong, without place, status and field. */
static void put_explanation(evalue_text *text, const evalue_error *error, uint64_t input_size) {
  evalue_text_put(text, evalue_fault_message(error->fault));
  put_numbers(text, error, input_size);
}

/* Says whether it is a fault of passing messages that lies in no frame (spec/evalue-ipc.md, section 6). */
static bool is_of_no_frame(uint32_t fault) {
  return fault >= EVALUE_FAULT_SLOTS_TAKEN && fault <= EVALUE_FAULT_SYSTEM_CALL;
}

static void put_error(evalue_text *text, const evalue_error *error, uint64_t input_size) {
  bool has_place = error->fault != EVALUE_FAULT_NONE && error->fault != EVALUE_FAULT_ARGUMENT &&
                   error->fault != EVALUE_FAULT_MEMORY_SHORT && !is_of_no_frame(error->fault);
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
  put_explanation(text, error, input_size);
}

size_t evalue_print_explanation_of(const evalue_error *error, uint64_t input_size, char *text, size_t capacity) {
  evalue_text out = evalue_text_start(text, capacity);
  put_explanation(&out, error, input_size);
  return evalue_text_end(&out);
}

size_t evalue_print_error_of(const evalue_error *error, uint64_t input_size, char *text, size_t capacity) {
  static const evalue_error misuse = {
      EVALUE_MISUSE, EVALUE_FAULT_ARGUMENT, EVALUE_FIELD_NONE, 0, EVALUE_NO_INDEX, 0, 0, 0};
  evalue_text out = evalue_text_start(text, capacity);
  put_error(&out, error != NULL ? error : &misuse, input_size);
  return evalue_text_end(&out);
}

size_t evalue_print_error(const evalue_error *error, char *text, size_t capacity) {
  return evalue_print_error_of(error, UINT64_MAX, text, capacity);
}
