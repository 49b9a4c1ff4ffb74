/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inputs from anyone: every byte of several messages and sequences takes all 256 values, and every place that could be
 * a number takes those that arithmetic gets wrong. Each input is accepted, and then the only encoding of its values; or
 * it is refused with exactly one located fault.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evalue/evalue.h"
#include "guard.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { CAPACITY = 80, BUFFER = 2048 };

/* How expected and found belong together (status.h), by fault. */
enum relation { EXACTLY, AT_MOST, AT_LEAST, NOTHING };

static const uint8_t relations[] = {
#define EVALUE_X(name, status, field, text, relation, expected, meaning) relation,
    EVALUE_FAULT_TABLE(EVALUE_X)
#undef EVALUE_X
};

static evalue values[CAPACITY], again[CAPACITY];
static uint8_t encoded[4 * BUFFER];
static size_t accepted, refused;

/* ---- the inputs that are changed ---- */

static const uint8_t tensor_data[16] = {1, 0, 1, 1, 0, 0, 1, 0, 1};

static void put_tensor(evalue_writer *w, uint32_t type, size_t ndim, const int32_t *sizes, const uint8_t *order,
                       size_t nbytes) {
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init_dim_order(&t, type, ndim, sizes, order, tensor_data, nbytes), EVALUE_OK);
  assert_int_equal(evalue_writer_put_tensor(w, &t), EVALUE_OK);
}

static void put_scalars(evalue_writer *w) {
  evalue_writer_put_none(w);
  evalue_writer_put_bool(w, true);
  evalue_writer_put_int(w, -2);
  evalue_writer_put_double(w, 1.5);
  evalue_writer_put_string(w, "h\xc3\xa9", 3);
  evalue_writer_put_string(w, NULL, 0);
}

static void put_tensors(evalue_writer *w) {
  static const int32_t sizes[] = {2, 2, 1, 3, 0};
  static const uint8_t row_major[] = {0, 1, 2, 3, 4}, other[] = {1, 2, 0, 3};
  put_tensor(w, EVALUE_FLOAT32, 2, sizes, row_major, 16);
  put_tensor(w, EVALUE_UINT8, 4, sizes, other, 12);
  put_tensor(w, EVALUE_INT64, 0, NULL, row_major, 8);
  put_tensor(w, EVALUE_COMPLEX64, 5, sizes, row_major, 0);
}

enum input_kind { SCALARS, TENSORS, MIXED, EMPTY, INPUT_KINDS };

/* Writes an input; the alignment 0 stands for a sequence. */
static size_t make_input(enum input_kind kind, uint32_t alignment, uint8_t *buffer) {
  evalue_writer w;
  uint64_t size = 0;
  if (alignment == 0) assert_int_equal(evalue_writer_init_sequence(&w, buffer, BUFFER), EVALUE_OK);
  else assert_int_equal(evalue_writer_init(&w, buffer, BUFFER, alignment), EVALUE_OK);
  if (kind == SCALARS) put_scalars(&w);
  if (kind == TENSORS) put_tensors(&w);
  if (kind == MIXED) {
    evalue_writer_put_ancillary(&w, 200, "abc", 3);
    evalue_writer_put_bool(&w, false);
    evalue_writer_put_ancillary(&w, 129, NULL, 0);
    put_tensor(&w, EVALUE_BOOL, 0, NULL, NULL, 1);
    evalue_writer_put_none(&w);
  }
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_OK);
  return (size_t)size;
}

/* ---- what has to hold for every input ---- */

static void check_relation(const evalue_error *e) {
  bool is_good = true;
  switch (relations[e->fault]) {
    case EXACTLY: is_good = e->found != e->expected; break;
    case AT_MOST: is_good = e->found > e->expected; break;
    case AT_LEAST: is_good = (int64_t)e->found < (int64_t)e->expected; break; /* a negative size is sign-extended */
    default: break;
  }
  if (!is_good) fail_msg("%s: expected and found do not say what is wrong", evalue_fault_name(e->fault));
}

static void check_error(evalue_status status, const evalue_error *e, size_t size, bool is_sequence) {
  assert_int_equal(status, e->status);
  assert_true(status == EVALUE_TRUNCATED || status == EVALUE_MALFORMED || status == EVALUE_UNSUPPORTED);
  assert_true(e->fault > EVALUE_FAULT_NONE && e->fault < EVALUE_FAULT_LIMIT_BYTES);
  assert_true(e->field > EVALUE_FIELD_NONE && e->field <= EVALUE_FIELD_PAD);
  assert_true(e->position <= size);
  bool is_of_header = e->field <= EVALUE_FIELD_COUNT;
  assert_true(!(is_sequence && is_of_header));
  assert_int_equal(e->value_index == EVALUE_NO_INDEX, is_of_header);
  assert_true(is_of_header || e->value_index <= size / 9);
  if (status == EVALUE_TRUNCATED) assert_true(e->needed > size);
  else assert_int_equal(e->needed, 0);
  check_relation(e);
}

/* A value at a time gives the same: as many values, then the same error, which stays. */
static void check_pulled(const uint8_t *data, size_t size, bool is_sequence, evalue_status status, uint64_t n,
                         const evalue_error *e) {
  evalue_reader r;
  evalue_element element;
  evalue_status pulled =
      is_sequence ? evalue_reader_init_sequence(&r, data, size, NULL) : evalue_reader_init(&r, data, size, NULL);
  uint64_t count = 0, end = is_sequence ? 0 : EVALUE_HEADER_SIZE;
  while (pulled == EVALUE_OK) {
    pulled = evalue_reader_next_element(&r, &element, NULL);
    if (pulled != EVALUE_OK) break;
    count += element.tag <= EVALUE_TAG_BOOL;
    assert_int_equal(element.position, end);
    assert_ptr_equal(element.raw.data, data + end);
    end += element.raw.size;
    assert_true(end <= size && element.raw.size == element.payload.size + 9);
  }
  assert_int_equal(pulled, status == EVALUE_OK ? EVALUE_END : status);
  if (status == EVALUE_OK) assert_true(count == n && end == size);
  assert_memory_equal(evalue_reader_error(&r), e, sizeof *e);
  assert_int_equal(evalue_reader_next(&r, NULL), pulled);
}

static bool has_ancillary(const uint8_t *data, size_t size, bool is_sequence) {
  evalue_reader r;
  evalue_element e;
  if (is_sequence) evalue_reader_init_sequence(&r, data, size, NULL);
  else evalue_reader_init(&r, data, size, NULL);
  while (evalue_reader_next_element(&r, &e, NULL) == EVALUE_OK) {
    if (e.tag >= EVALUE_TAG_ANCILLARY) return true;
  }
  return false;
}

/* A value that was accepted can be written, and what it points to lies in the input. */
static void check_view(const evalue *v, const uint8_t *data, size_t size) {
  evalue_slice slice = {data, 0};
  if (v->tag == EVALUE_TAG_TENSOR) slice = (evalue_slice){v->tensor.data, v->tensor.nbytes};
  if (v->tag == EVALUE_TAG_STRING) slice = (evalue_slice){v->string.data, v->string.nbytes};
  size_t at = (size_t)((const uint8_t *)slice.data - data);
  assert_int_equal(evalue_check(v), EVALUE_OK);
  assert_true(at <= size && slice.size <= size - at);
}

/* encode(decode(bytes)) = bytes, but for the minor version and ancillary elements (spec, section 9); and the values
 * come back in any case. */
static void check_canonical(const uint8_t *data, size_t size, bool is_sequence, uint64_t n) {
  uint64_t encoded_size = 0, n_again = 0;
  uint32_t alignment = is_sequence ? 1 : UINT32_C(1) << data[6];
  for (uint64_t i = 0; i < n; i++) check_view(&values[i], data, size);
  evalue_status status =
      is_sequence ? evalue_sequence_encode(values, (size_t)n, encoded, sizeof encoded, &encoded_size)
                  : evalue_message_encode(values, (size_t)n, alignment, encoded, sizeof encoded, &encoded_size);
  assert_int_equal(status, EVALUE_OK);
  if (!has_ancillary(data, size, is_sequence)) {
    assert_int_equal(encoded_size, size);
    if (!is_sequence) encoded[5] = data[5];
    if (size != 0) assert_memory_equal(encoded, data, size);
  }
  status = is_sequence ? evalue_sequence_decode(encoded, (size_t)encoded_size, NULL, again, CAPACITY, &n_again, NULL)
                       : evalue_message_decode(encoded, (size_t)encoded_size, NULL, again, CAPACITY, &n_again, NULL);
  assert_int_equal(status, EVALUE_OK);
  assert_int_equal(n_again, n);
  for (uint64_t i = 0; i < n; i++) assert_true(evalue_equal(&values[i], &again[i]));
}

static void check_input(const uint8_t *data, size_t size, bool is_sequence) {
  uint64_t n = 0;
  evalue_error e;
  memset(&e, 0xA5, sizeof e);
  evalue_status status = is_sequence ? evalue_sequence_decode(data, size, NULL, values, CAPACITY, &n, &e)
                                     : evalue_message_decode(data, size, NULL, values, CAPACITY, &n, &e);
  check_pulled(data, size, is_sequence, status, n, &e);
  if (status == EVALUE_OK) {
    static const evalue_error none = {0, 0, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(&e, &none, sizeof e);
    check_canonical(data, size, is_sequence, n);
    accepted++;
  } else {
    check_error(status, &e, size, is_sequence);
    refused++;
  }
}

/* ---- changing them ---- */

static const uint32_t alignments[] = {0, 1, 16};

typedef void change(uint8_t *data, size_t size, bool is_sequence);

static void for_each_input(change *f) {
  static uint8_t buffer[BUFFER];
  accepted = refused = 0;
  for (int kind = 0; kind < INPUT_KINDS; kind++) {
    for (size_t i = 0; i < COUNT_OF(alignments); i++) {
      size_t size = make_input((enum input_kind)kind, alignments[i], buffer);
      guard_buffer guard = guard_put(buffer, size);
      f(guard.data, size, alignments[i] == 0);
      if (size != 0) assert_memory_equal(guard.data, buffer, size); /* each change was taken back */
      guard_free(&guard);
    }
  }
}

static void change_nothing(uint8_t *data, size_t size, bool is_sequence) {
  size_t before = accepted;
  check_input(data, size, is_sequence);
  assert_int_equal(accepted, before + 1);
}

static void test_unchanged_inputs_are_accepted(void **state) {
  (void)state;
  for_each_input(change_nothing);
}

static void change_bytes(uint8_t *data, size_t size, bool is_sequence) {
  for (size_t i = 0; i < size; i++) {
    const uint8_t byte = data[i];
    for (uint32_t x = 0; x < 256; x++) {
      data[i] = (uint8_t)x;
      check_input(data, size, is_sequence);
    }
    data[i] = byte;
  }
}

static void test_every_byte_takes_every_value(void **state) {
  (void)state;
  for_each_input(change_bytes);
  assert_true(accepted > 1000 && refused > 10000);
}

static void put_number(uint8_t *p, uint64_t x, size_t width) {
  for (size_t i = 0; i < width; i++) p[i] = (uint8_t)(x >> 8 * i);
}

/* Numbers around the powers of two, the limits, and what is left to the end. */
static size_t make_numbers(size_t left, uint64_t *numbers) {
  static const uint64_t around[] = {
      0, 9, 24, 127, 255, 65535, INT32_MAX, UINT32_MAX, UINT64_C(0x3fffffffffffffff), INT64_MAX, UINT64_MAX};
  size_t n = 0;
  for (size_t i = 0; i < COUNT_OF(around); i++) {
    for (uint64_t k = 0; k < 3; k++) numbers[n++] = around[i] + k - 1;
  }
  for (uint64_t k = 0; k < 12; k++) numbers[n++] = (uint64_t)left + k - 10;
  return n;
}

static void change_numbers(uint8_t *data, size_t size, bool is_sequence) {
  uint8_t before[8];
  uint64_t numbers[64];
  for (size_t width = 4; width <= 8; width += 4) {
    for (size_t at = 0; at + width <= size; at++) {
      size_t n = make_numbers(size - at, numbers);
      memcpy(before, data + at, width);
      for (size_t i = 0; i < n; i++) {
        if (width == 4 && numbers[i] > UINT32_MAX) continue; /* cut to 4 bytes it would be one of the others */
        put_number(data + at, numbers[i], width);
        check_input(data, size, is_sequence);
      }
      memcpy(data + at, before, width);
    }
  }
}

static void test_every_place_takes_bad_numbers(void **state) {
  (void)state;
  for_each_input(change_numbers);
  assert_true(accepted > 100 && refused > 10000);
}

/* Two changes at once, so that one fault is fixed up by the other now and then. */
static void change_by_chance(uint8_t *data, size_t size, bool is_sequence) {
  static uint64_t x = UINT64_C(88172645463325252);
  for (int i = 0; i < 2000 && size != 0; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    size_t a = (size_t)(x % size), b = (size_t)(x >> 20) % size;
    const uint8_t byte_a = data[a], byte_b = data[b];
    data[a] = (uint8_t)(x >> 40);
    data[b] = (uint8_t)(data[b] ^ (1U << (x >> 60) % 8));
    check_input(data, size, is_sequence);
    data[b] = byte_b;
    data[a] = byte_a;
  }
}

static void test_two_changes(void **state) {
  (void)state;
  for_each_input(change_by_chance);
}

/* Each input cut anywhere, at a page that nobody may touch. */
static void cut(uint8_t *data, size_t size, bool is_sequence) {
  for (size_t length = 0; length < size; length++) {
    guard_buffer guard = guard_put(data, length);
    check_input(guard.data, length, is_sequence);
    guard_free(&guard);
  }
}

static void test_b9_every_prefix(void **state) {
  (void)state;
  for_each_input(cut);
}

/* A message is no sequence and a sequence no message. */
static void read_as_the_other(uint8_t *data, size_t size, bool is_sequence) {
  if (size == 0) return;
  size_t before = refused;
  check_input(data, size, !is_sequence);
  assert_int_equal(refused, before + 1);
}

static void test_forms_are_told_apart(void **state) {
  (void)state;
  for_each_input(read_as_the_other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unchanged_inputs_are_accepted),
      cmocka_unit_test(test_every_byte_takes_every_value),
      cmocka_unit_test(test_every_place_takes_bad_numbers),
      cmocka_unit_test(test_two_changes),
      cmocka_unit_test(test_b9_every_prefix),
      cmocka_unit_test(test_forms_are_told_apart),
  };
  return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
