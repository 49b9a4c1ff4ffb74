/* SPDX-License-Identifier: BSD-3-Clause */
/* Every value of the small fields, byte order and alignment, and what a message costs. */
#include "reader_input.h"

/* ---- C, work and memory before judgement ---- */

static void test_c1_few_bytes_ask_for_much(void **state) {
  (void)state;
  input in = {.size = 0};
  add_head(&in, EVALUE_TAG_STRING, UINT64_C(1) << 40);
  check_fault(&in, false, EVALUE_TRUNCATED, EVALUE_FAULT_LENGTH_PAST_END, 1);
  assert_true(judge(&in, false).needed == (UINT64_C(1) << 40) + 9);
  start_message(&in, 4);
  add_head(&in, EVALUE_TAG_STRING, UINT64_C(1) << 40);
  end_message(&in, 1);
  check_fault(&in, true, EVALUE_MALFORMED, EVALUE_FAULT_LENGTH_PAST_END, 25);
}

/* A MiB of values without payload: each is judged once, and none needs memory. */
static void test_c4_many_empty_values(void **state) {
  (void)state;
  enum { MIB = 1 << 20, TENSOR = 21 };
  static uint8_t bytes[MIB];
  static const uint8_t tensor[TENSOR] = {1, 12, 0, 0, 0, 0, 0, 0, 0, 6, 2, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0, 1};
  uint64_t n = 0;
  assert_int_equal(evalue_sequence_decode(bytes, MIB / 9 * 9, NULL, decoded, CAPACITY, &n, NULL), EVALUE_NO_SPACE);
  assert_int_equal(n, MIB / 9);
  for (size_t i = 0; i < MIB / TENSOR; i++) memcpy(bytes + i * TENSOR, tensor, TENSOR);
  assert_int_equal(evalue_sequence_decode(bytes, MIB / TENSOR * TENSOR, NULL, NULL, 0, &n, NULL), EVALUE_NO_SPACE);
  assert_int_equal(n, MIB / TENSOR);
}

static void test_c6_every_ndim(void **state) {
  (void)state;
  static int32_t sizes[256];
  for (uint32_t i = 0; i < 256; i++) sizes[i] = 1;
  for (uint32_t ndim = 0; ndim < 256; ndim++) {
    input in = {.size = 0};
    add_tensor(&in, EVALUE_UINT8, ndim, sizes, 1);
    evalue_error e = judge(&in, false);
    if (ndim <= 16) {
      assert_int_equal(e.status, EVALUE_OK);
      assert_int_equal(decoded[0].tensor.ndim, ndim);
      for (uint32_t i = 0; i < ndim; i++) assert_int_equal(decoded[0].tensor.dim_order[i], i);
    } else {
      assert_int_equal(e.status, EVALUE_MALFORMED);
      assert_int_equal(e.fault, EVALUE_FAULT_NDIM_TOO_LARGE);
      assert_int_equal(e.position, 10);
      assert_int_equal(e.found, ndim);
    }
  }
}

/* ---- D and E, what a tensor says about itself ---- */

static void test_d1_negative_sizes(void **state) {
  (void)state;
  static const int32_t negative[] = {-1, -2, INT32_MIN};
  for (uint32_t at = 0; at < 16; at++) {
    for (size_t i = 0; i < COUNT_OF(negative); i++) {
      int32_t sizes[16] = {1, 0, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
      input in = {.size = 0};
      sizes[at] = negative[i];
      add_tensor(&in, EVALUE_INT16, 16, sizes, 0);
      check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_NEGATIVE_SIZE, 11 + 4 * (uint64_t)at);
      assert_true(judge(&in, false).found == (uint64_t)(int64_t)negative[i]);
    }
  }
}

static void test_d3_every_scalar_type(void **state) {
  (void)state;
  static const uint8_t element_sizes[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4,
                                          2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1,  1, 2, 4, 8};
  for (uint32_t type = 0; type < 256; type++) {
    bool is_known = type < COUNT_OF(element_sizes);
    input in = {.size = 0};
    add_tensor(&in, type, 0, NULL, is_known ? element_sizes[type] : 1);
    evalue_error e = judge(&in, false);
    assert_int_equal(e.status, is_known ? EVALUE_OK : EVALUE_UNSUPPORTED);
    if (is_known) {
      assert_int_equal(decoded[0].tensor.scalar_type, type);
    } else {
      assert_int_equal(e.fault, EVALUE_FAULT_UNKNOWN_SCALAR_TYPE);
      assert_int_equal(e.position, 9);
      assert_int_equal(e.found, type);
    }
  }
}

static void test_d5_every_bool(void **state) {
  (void)state;
  for (uint32_t byte = 0; byte < 256; byte++) {
    input in = {.size = 0};
    add_bool(&in, byte);
    evalue_error e = judge(&in, false);
    assert_int_equal(e.status, byte < 2 ? EVALUE_OK : EVALUE_MALFORMED);
    if (byte < 2) {
      assert_int_equal(decoded[0].bool_value, byte);
    } else {
      assert_int_equal(e.fault, EVALUE_FAULT_BAD_BOOL);
      assert_int_equal(e.position, 9);
      assert_int_equal(e.found, byte);
    }
  }
}

static void test_every_dim_order_of_three(void **state) {
  (void)state;
  static const int32_t sizes[] = {1, 1, 1};
  for (uint32_t code = 0; code < 64; code++) {
    const uint32_t order[] = {code % 4, code / 4 % 4, code / 16};
    input in = {.size = 0};
    uint32_t at = 0, seen = 0;
    add_tensor(&in, EVALUE_UINT8, 3, sizes, 1);
    for (uint32_t i = 0; i < 3; i++) in.bytes[23 + i] = (uint8_t)order[i];
    for (; at < 3 && order[at] < 3 && (seen & 1U << order[at]) == 0; at++) seen |= 1U << order[at];
    if (at == 3) {
      assert_int_equal(judge(&in, false).status, EVALUE_OK);
      for (uint32_t i = 0; i < 3; i++) assert_int_equal(decoded[0].tensor.dim_order[i], order[i]);
    } else {
      evalue_fault fault = order[at] < 3 ? EVALUE_FAULT_DIM_ORDER_REPEATED : EVALUE_FAULT_DIM_ORDER_RANGE;
      check_fault(&in, false, EVALUE_MALFORMED, fault, 23 + at);
    }
  }
}

static void test_e3_tensor_without_dimensions(void **state) {
  (void)state;
  input in = {.size = 0};
  add_tensor(&in, EVALUE_FLOAT32, 0, NULL, 4);
  assert_int_equal(judge(&in, false).status, EVALUE_OK);
  assert_int_equal(decoded[0].tensor.ndim, 0);
  assert_int_equal(decoded[0].tensor.nbytes, 4);
  in.size = 0;
  add_tensor(&in, EVALUE_FLOAT32, 0, NULL, 0);
  check_fault(&in, false, EVALUE_MALFORMED, EVALUE_FAULT_DATA_LENGTH, 1);
}

/* ---- F and G, byte order and alignment ---- */

static void test_f1_numbers_on_any_host(void **state) {
  (void)state;
  static const uint8_t bytes[] = {4, 8, 0, 0, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3,    2,    0x81, 3,
                                  8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0xbf, 1,    9,
                                  0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1,    2};
  uint64_t n = 0;
  assert_int_equal(evalue_sequence_decode(bytes, sizeof bytes, NULL, decoded, CAPACITY, &n, NULL), EVALUE_OK);
  assert_int_equal(n, 3);
  assert_true((uint64_t)decoded[0].int_value == UINT64_C(0x8102030405060708));
  assert_true(decoded[1].double_value == -1.5);
  assert_int_equal(decoded[2].tensor.sizes[0], 2);
}

/* The data of the float tensor is at 26, so at no address that suits a float. */
static void test_g2_misaligned_tensor_data(void **state) {
  (void)state;
  static const int32_t two = 2;
  _Alignas(16) uint8_t memory[64];
  input in = {.size = 0};
  uint64_t n = 0;
  float floats[2];
  add_string(&in, "x");
  add_tensor(&in, EVALUE_FLOAT32, 1, &two, 8);
  set_number(in.bytes + 26, 0x3fc00000, 4);
  set_number(in.bytes + 30, 0xc0000000, 4);
  memcpy(memory, in.bytes, in.size);
  assert_int_equal(evalue_sequence_decode(memory, in.size, NULL, decoded, CAPACITY, &n, NULL), EVALUE_OK);
  assert_null(evalue_tensor_typed_data(&decoded[1].tensor, EVALUE_FLOAT32));
  assert_int_equal(evalue_tensor_copy(&decoded[1].tensor, NULL, EVALUE_HOST_ENDIAN, floats, sizeof floats), EVALUE_OK);
  assert_true(floats[0] == 1.5F && floats[1] == -2.0F);
}

static void test_g3_any_base_address(void **state) {
  (void)state;
  input in;
  uint8_t memory[SAMPLE_SIZE + 16];
  evalue first[SAMPLE_VALUES];
  uint64_t n = 0;
  make_sample(&in);
  assert_int_equal(evalue_message_decode(in.bytes, in.size, NULL, first, SAMPLE_VALUES, &n, NULL), EVALUE_OK);
  for (size_t base = 0; base < 16; base++) {
    memcpy(memory + base, in.bytes, in.size);
    assert_int_equal(evalue_message_decode(memory + base, in.size, NULL, decoded, CAPACITY, &n, NULL), EVALUE_OK);
    for (size_t i = 0; i < SAMPLE_VALUES; i++) assert_true(evalue_equal(&decoded[i], &first[i]));
    assert_ptr_equal(decoded[2].tensor.data, memory + base + 80);
  }
}

/* ---- the cost of a message is the cost of its structure ---- */

/* A tensor of 16 GiB of which only the first page can be read: no payload byte is needed to judge it. */
static void test_no_payload_byte_is_read(void **state) {
  (void)state;
#if UINTPTR_MAX > UINT32_MAX
  static const int32_t sizes[] = {4, 1 << 30, 1};
  const uint64_t nbytes = UINT64_C(16) << 30;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t mapped = (size_t)nbytes + page;
  input in;
  uint64_t n = 0;
  start_message(&in, 4);
  add_none(&in);
  add_pad(&in, 12); /* without it the data would be at 59, and 59 + 9 + 12 is a multiple of 16 */
  add_tensor(&in, EVALUE_FLOAT32, 3, sizes, 0);
  set_number(in.bytes + in.size - 17 - 8, 17 + nbytes, 8);
  end_message(&in, 2);
  set_number(in.bytes + 8, in.size - EVALUE_HEADER_SIZE + nbytes, 8);
  void *p = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) skip();
  assert_int_equal(mprotect(p, page, PROT_READ | PROT_WRITE), 0);
  memcpy(p, in.bytes, in.size);
  evalue values[2];
  assert_int_equal(evalue_message_decode(p, in.size + (size_t)nbytes, NULL, values, 2, &n, NULL), EVALUE_OK);
  assert_true(values[1].tag == EVALUE_TAG_TENSOR && values[1].tensor.nbytes == nbytes);
  assert_int_equal(evalue_tensor_numel(&values[1].tensor), UINT64_C(1) << 32);
  munmap(p, mapped);
#else
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_c1_few_bytes_ask_for_much),
      cmocka_unit_test(test_c4_many_empty_values),
      cmocka_unit_test(test_c6_every_ndim),
      cmocka_unit_test(test_d1_negative_sizes),
      cmocka_unit_test(test_d3_every_scalar_type),
      cmocka_unit_test(test_d5_every_bool),
      cmocka_unit_test(test_every_dim_order_of_three),
      cmocka_unit_test(test_e3_tensor_without_dimensions),
      cmocka_unit_test(test_f1_numbers_on_any_host),
      cmocka_unit_test(test_g2_misaligned_tensor_data),
      cmocka_unit_test(test_g3_any_base_address),
      cmocka_unit_test(test_no_payload_byte_is_read),
  };
  return cmocka_run_group_tests_name("reader_fields", tests, NULL, NULL);
}
