/* SPDX-License-Identifier: BSD-3-Clause */
/* Values to slices: exact needs, payloads by reference that nobody reads, and streams of any length in constant memory.
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

enum { UNTOUCHED = 0xA5, VALUES = 9, BUFFER = 64 * 1024, SLICES = 32 };

static uint8_t joined[BUFFER], expected[BUFFER];
static const uint8_t tensor_data[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0xff};
static const char text[] = "h\xc3\xa9llo";

static evalue tensor_of(uint32_t scalar_type, size_t ndim, const int32_t *sizes, const void *data, size_t nbytes) {
  evalue_tensor t;
  assert_int_equal(evalue_tensor_init(&t, scalar_type, ndim, sizes, data, nbytes), EVALUE_OK);
  return evalue_from_tensor(&t);
}

static void make_values(evalue *values) {
  static const int32_t sizes[] = {2, 3, 0};
  values[0] = evalue_from_none();
  values[1] = evalue_from_bool(true);
  values[2] = tensor_of(EVALUE_FLOAT32, 2, sizes, tensor_data, 24);
  values[3] = evalue_from_int(INT64_MIN);
  values[4] = evalue_from_string(text, 6);
  values[5] = evalue_from_string(NULL, 0);
  values[6] = tensor_of(EVALUE_COMPLEX128, 0, NULL, tensor_data + 1, 16);
  values[7] = tensor_of(EVALUE_INT64, 3, sizes, NULL, 0);
  values[8] = evalue_from_double(-0.0);
}

/* The alignment 0 stands for a sequence where a test treats both alike. */
static evalue_status encode(const evalue *values, size_t n, uint32_t alignment, uint64_t *size) {
  if (alignment == 0) return evalue_sequence_encode(values, n, expected, BUFFER, size);
  return evalue_message_encode(values, n, alignment, expected, BUFFER, size);
}

static evalue_status gather(const evalue *values, size_t n, uint32_t alignment, evalue_gather *g) {
  if (alignment == 0) return evalue_sequence_gather(values, n, g);
  return evalue_message_gather(values, n, alignment, g);
}

static void start(evalue_writer *w, uint32_t alignment, void *scratch, size_t capacity) {
  if (alignment == 0) assert_int_equal(evalue_writer_init_sequence(w, scratch, capacity), EVALUE_OK);
  else assert_int_equal(evalue_writer_init(w, scratch, capacity, alignment), EVALUE_OK);
}

/* Appends slices to joined, as writev would. */
static size_t join(size_t size, const evalue_slice *slices, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    assert_true(slices[i].size != 0);
    assert_true(size + slices[i].size <= sizeof joined);
    memcpy(joined + size, slices[i].data, slices[i].size);
    size += slices[i].size;
  }
  return size;
}

/* ---- what is needed ---- */

/* In memory of exactly these sizes, between canaries and pages that nobody may touch. */
static evalue_status gather_exactly(const evalue *values, uint32_t alignment, uint64_t scratch_size,
                                    uint64_t slice_count, evalue_gather *g) {
  size_t slice_bytes = (size_t)slice_count * sizeof(evalue_slice);
  guard_buffer scratch = guard_new((size_t)scratch_size + 1), slices = guard_new(slice_bytes + sizeof(evalue_slice));
  scratch.data[0] = UNTOUCHED;
  memset(slices.data, UNTOUCHED, sizeof(evalue_slice));
  g->scratch = scratch.data + 1;
  g->scratch_capacity = (size_t)scratch_size;
  g->slices = (evalue_slice *)(void *)(slices.data + sizeof(evalue_slice));
  g->slice_capacity = (size_t)slice_count;
  evalue_status status = gather(values, VALUES, alignment, g);
  if (status == EVALUE_OK) {
    assert_int_equal(g->scratch_size, scratch_size);
    assert_int_equal(join(0, g->slices, g->slice_count), g->size);
    assert_memory_equal(joined, expected, (size_t)g->size);
  }
  assert_int_equal(scratch.data[0], UNTOUCHED);
  for (size_t i = 0; i < sizeof(evalue_slice); i++) assert_int_equal(slices.data[i], UNTOUCHED);
  guard_free(&scratch);
  guard_free(&slices);
  return status;
}

static void check_needs(const evalue_gather *g, const evalue_gather *need) {
  assert_int_equal(g->size, need->size);
  assert_int_equal(g->scratch_size, need->scratch_size);
  assert_int_equal(g->slice_count, need->slice_count);
}

static void test_l2_exact_needs(void **state) {
  (void)state;
  static const uint32_t alignments[] = {0, 1, 16, 256, 4096};
  evalue values[VALUES];
  make_values(values);
  for (size_t i = 0; i < COUNT_OF(alignments); i++) {
    uint32_t alignment = alignments[i];
    evalue_gather need = {NULL, 0, NULL, 0, 1, 1, 1}, g;
    uint64_t size = 0;
    assert_int_equal(encode(values, VALUES, alignment, &size), EVALUE_OK);
    assert_int_equal(gather(values, VALUES, alignment, &need), EVALUE_NO_SPACE);
    assert_int_equal(need.size, size);
    assert_int_equal(need.scratch_size, size - 24 - 6 - 16); /* all but the three payloads */
    assert_int_equal(need.slice_count, 7);                   /* and they cut the structure in four */
    assert_int_equal(gather_exactly(values, alignment, need.scratch_size, need.slice_count, &g), EVALUE_OK);
    check_needs(&g, &need);
  }
}

static void test_h8_too_little_of_either(void **state) {
  (void)state;
  evalue values[VALUES];
  make_values(values);
  for (uint32_t alignment = 0; alignment <= 16; alignment += 16) {
    evalue_gather need = {NULL, 0, NULL, 0, 0, 0, 0}, g;
    assert_int_equal(gather(values, VALUES, alignment, &need), EVALUE_NO_SPACE);
    for (uint64_t scratch = 0; scratch < need.scratch_size; scratch++) {
      assert_int_equal(gather_exactly(values, alignment, scratch, need.slice_count, &g), EVALUE_NO_SPACE);
      check_needs(&g, &need);
    }
    for (uint64_t slices = 0; slices < need.slice_count; slices++) {
      assert_int_equal(gather_exactly(values, alignment, need.scratch_size, slices, &g), EVALUE_NO_SPACE);
      check_needs(&g, &need);
      assert_int_equal(gather_exactly(values, alignment, need.scratch_size / 2, slices, &g), EVALUE_NO_SPACE);
      check_needs(&g, &need);
    }
  }
}

static void test_nothing_to_gather(void **state) {
  (void)state;
  uint8_t scratch[EVALUE_HEADER_SIZE];
  evalue_slice slice;
  uint64_t size = 0;
  evalue_gather g = {NULL, 0, NULL, 0, 1, 1, 1};
  assert_int_equal(evalue_sequence_gather(NULL, 0, &g), EVALUE_OK);
  assert_true(g.size == 0 && g.scratch_size == 0 && g.slice_count == 0);
  g = (evalue_gather){scratch, sizeof scratch, &slice, 1, 0, 0, 0};
  assert_int_equal(evalue_message_gather(NULL, 0, 0, &g), EVALUE_OK);
  assert_true(g.size == 24 && g.scratch_size == 24 && g.slice_count == 1);
  assert_ptr_equal(slice.data, scratch);
  assert_int_equal(slice.size, sizeof scratch);
  assert_int_equal(encode(NULL, 0, 16, &size), EVALUE_OK);
  assert_memory_equal(scratch, expected, sizeof scratch);
}

static void test_misuse(void **state) {
  (void)state;
  const evalue good = evalue_from_none();
  evalue bad = evalue_from_bool(true);
  uint8_t scratch[64];
  evalue_slice slices[4];
  evalue_writer w;
  bad.bool_value = 2;
  const struct {
    const evalue *values;
    void *scratch;
    evalue_slice *slices;
  } cases[] = {{&bad, scratch, slices}, {NULL, scratch, slices}, {&good, NULL, slices}, {&good, scratch, NULL}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    for (uint32_t alignment = 0; alignment <= 16; alignment += 16) {
      evalue_gather g = {cases[i].scratch, sizeof scratch, cases[i].slices, 4, 1, 1, 1};
      assert_int_equal(gather(cases[i].values, 1, alignment, &g), EVALUE_MISUSE);
      assert_true(g.size == 0 && g.scratch_size == 0 && g.slice_count == 0);
    }
  }
  assert_int_equal(evalue_message_gather(&good, 1, 0, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_sequence_gather(&good, 1, NULL), EVALUE_MISUSE);
  start(&w, 16, scratch, sizeof scratch);
  assert_int_equal(evalue_writer_gather(&w, NULL, 1), EVALUE_MISUSE);
  start(&w, 16, scratch, sizeof scratch);
  assert_int_equal(evalue_writer_put_none(&w), EVALUE_OK);
  assert_int_equal(evalue_writer_gather(&w, slices, 4), EVALUE_MISUSE); /* something was put already */
  start(&w, 0, scratch, sizeof scratch);
  assert_int_equal(evalue_writer_put_ancillary(&w, 200, NULL, 0), EVALUE_OK);
  assert_int_equal(evalue_writer_gather(&w, slices, 4), EVALUE_MISUSE);
  start(&w, 16, scratch, sizeof scratch);
  assert_int_equal(evalue_writer_gather(&w, slices, 4), EVALUE_OK);
  assert_int_equal(evalue_writer_gather(&w, slices, 4), EVALUE_MISUSE);
}

/* A value too large for a message has no needs either. */
static void test_a8_limit(void **state) {
  (void)state;
#if SIZE_MAX > UINT32_MAX
  static const char byte = 'x';
  const evalue values[] = {evalue_from_string(&byte, (size_t)EVALUE_SIZE_LIMIT - 34), evalue_from_none()};
  evalue_gather g = {NULL, 0, NULL, 0, 1, 1, 1};
  assert_int_equal(evalue_message_gather(values, 1, 16, &g), EVALUE_NO_SPACE);
  assert_true(g.size == EVALUE_SIZE_LIMIT - 1 && g.scratch_size == 33 && g.slice_count == 2);
  assert_int_equal(evalue_message_gather(values, 2, 16, &g), EVALUE_LIMIT);
  assert_true(g.size == 0 && g.scratch_size == 0 && g.slice_count == 0);
#else
  skip();
#endif
}

/* ---- by reference ---- */

static void test_payloads_are_the_callers_own(void **state) {
  (void)state;
  static uint8_t scratch[BUFFER];
  evalue values[VALUES];
  evalue_slice slices[SLICES];
  evalue_gather g = {scratch, sizeof scratch, slices, SLICES, 0, 0, 0};
  make_values(values);
  assert_int_equal(evalue_message_gather(values, VALUES, 64, &g), EVALUE_OK);
  assert_int_equal(g.slice_count, 7);
  assert_ptr_equal(slices[1].data, tensor_data);
  assert_int_equal(slices[1].size, 24);
  assert_ptr_equal(slices[3].data, text);
  assert_int_equal(slices[3].size, 6);
  assert_ptr_equal(slices[5].data, tensor_data + 1);
  assert_int_equal(slices[5].size, 16);
  const uint8_t *next = scratch; /* the structure in between lies in scratch, in order and without gaps */
  for (size_t i = 0; i < 7; i += 2) {
    assert_ptr_equal(slices[i].data, next);
    next += slices[i].size;
  }
  assert_int_equal(next - scratch, g.scratch_size);
}

static void test_no_payload_byte_is_read(void **state) {
  (void)state;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const int32_t sizes[] = {(int32_t)page};
  static uint8_t scratch[BUFFER];
  evalue_slice slices[SLICES];
  void *p = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(p != MAP_FAILED);
  const evalue values[] = {tensor_of(EVALUE_UINT8, 1, sizes, p, page), evalue_from_string((const char *)p, page),
                           tensor_of(EVALUE_BOOL, 1, sizes, p, page)};
  uint64_t size = 0, finished = 0;
  evalue_gather g = {scratch, sizeof scratch, slices, SLICES, 0, 0, 0};
  evalue_writer w;
  assert_int_equal(evalue_message_size(values, 3, 16, &size), EVALUE_OK);
  assert_int_equal(evalue_message_encode(values, 3, 16, NULL, 0, &size), EVALUE_NO_SPACE);
  assert_int_equal(evalue_message_gather(values, 3, 16, &g), EVALUE_OK);
  assert_int_equal(g.size, size);
  assert_ptr_equal(slices[1].data, p);
  start(&w, 16, scratch, sizeof scratch);
  assert_int_equal(evalue_writer_gather(&w, slices, SLICES), EVALUE_OK);
  assert_int_equal(evalue_writer_put(&w, &values[0]), EVALUE_OK);
  assert_int_equal(evalue_writer_put_ancillary(&w, 200, p, page), EVALUE_OK);
  assert_int_equal(evalue_writer_finish(&w, &finished), EVALUE_OK);
  assert_ptr_equal(slices[3].data, p);
  assert_int_equal(evalue_sequence_size(values, 3, &size), EVALUE_OK);
  munmap(p, page);
}

/* ---- streams ---- */

typedef struct stream {
  evalue_writer writer;
  guard_buffer scratch;
  evalue_slice slices[3];
  evalue_slice canary;
  size_t size; /* of joined */
} stream;

/* Exactly as little memory as the header says is enough. */
static void open_stream(stream *s, uint32_t alignment) {
  memset(s, 0, sizeof *s);
  s->scratch = guard_new(EVALUE_MAX_HEAD_SIZE + EVALUE_HEADER_SIZE);
  start(&s->writer, alignment, s->scratch.data, EVALUE_MAX_HEAD_SIZE + EVALUE_HEADER_SIZE);
  assert_int_equal(evalue_writer_gather(&s->writer, s->slices, 3), EVALUE_OK);
}

static void drain_stream(stream *s) {
  s->size = join(s->size, s->slices, s->writer.slice_count);
  assert_int_equal(evalue_writer_drain(&s->writer), EVALUE_OK);
  memset(s->scratch.data, UNTOUCHED, EVALUE_MAX_HEAD_SIZE + EVALUE_HEADER_SIZE); /* it is the caller's again */
  memset(s->slices, UNTOUCHED, sizeof s->slices);
}

static void close_stream(stream *s, uint32_t alignment, uint64_t size) {
  static const uint8_t zeros[EVALUE_HEADER_SIZE] = {0};
  uint64_t finished = 0;
  assert_int_equal(evalue_writer_finish(&s->writer, &finished), EVALUE_OK);
  assert_int_equal(finished, size);
  assert_int_equal(s->scratch.data[0], UNTOUCHED); /* the header has gone; there is no place for it here */
  if (alignment == 0) {
    uint8_t header[EVALUE_HEADER_SIZE];
    assert_int_equal(evalue_writer_header(&s->writer, header), EVALUE_MISUSE);
  } else {
    assert_memory_equal(joined, zeros, sizeof zeros);
    assert_int_equal(evalue_writer_header(&s->writer, joined), EVALUE_OK);
  }
  assert_int_equal(s->size, size);
  assert_memory_equal(joined, expected, (size_t)size);
  assert_true(s->canary.data == NULL && s->canary.size == 0);
  guard_free(&s->scratch);
}

static void test_stream_is_encode(void **state) {
  (void)state;
  evalue values[VALUES];
  make_values(values);
  for (uint32_t alignment = 0; alignment <= 4096; alignment = alignment == 0 ? 1 : 2 * alignment) {
    stream s;
    uint64_t size = 0;
    assert_int_equal(encode(values, VALUES, alignment, &size), EVALUE_OK);
    open_stream(&s, alignment);
    for (size_t i = 0; i < VALUES; i++) {
      assert_int_equal(evalue_writer_put(&s.writer, &values[i]), EVALUE_OK);
      drain_stream(&s);
    }
    close_stream(&s, alignment, size);
  }
}

/* The most that one value can take: 16 dimensions, after strings that make the Pad take many sizes. */
static void test_stream_of_the_largest_heads(void **state) {
  (void)state;
  static const int32_t sizes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const evalue tensor = tensor_of(EVALUE_UINT8, 16, sizes, tensor_data, 1);
  size_t largest = 0;
  for (size_t length = 0; length < 4096; length += 13) {
    static const char zeros[4096];
    const evalue values[] = {evalue_from_string(zeros, length), tensor, tensor};
    stream s;
    uint64_t size = 0;
    assert_int_equal(encode(values, 3, 4096, &size), EVALUE_OK);
    open_stream(&s, 4096);
    for (size_t i = 0; i < 3; i++) {
      assert_int_equal(evalue_writer_put(&s.writer, &values[i]), EVALUE_OK);
      if (s.writer.used > largest) largest = (size_t)s.writer.used;
      drain_stream(&s);
    }
    close_stream(&s, 4096, size);
  }
  assert_true(largest <= EVALUE_MAX_HEAD_SIZE);
}

/* EVALUE_MAX_HEAD_SIZE is not only enough but reached: a Pad of 4095 bytes before 16 dimensions. */
static void test_largest_head_is_reached(void **state) {
  (void)state;
  static const int32_t sizes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  static const char zeros[8192];
  const evalue tensor = tensor_of(EVALUE_UINT8, 16, sizes, tensor_data, 1);
  uint64_t largest = 0;
  for (size_t length = 0; length < 4096; length++) {
    const evalue values[] = {evalue_from_string(zeros, length), tensor};
    uint64_t one = 0, both = 0;
    assert_int_equal(evalue_message_size(values, 1, 4096, &one), EVALUE_OK);
    assert_int_equal(evalue_message_size(values, 2, 4096, &both), EVALUE_OK);
    if (both - one - 1 > largest) largest = both - one - 1;
  }
  assert_int_equal(largest, EVALUE_MAX_HEAD_SIZE);
}

static void test_stream_of_ancillary_elements(void **state) {
  (void)state;
  evalue_writer w;
  stream s;
  uint64_t size = 0;
  start(&w, 16, expected, BUFFER);
  open_stream(&s, 16);
  for (size_t i = 0; i < 20; i++) {
    assert_int_equal(evalue_writer_put_ancillary(&w, 200, text, i % 7), EVALUE_OK);
    assert_int_equal(evalue_writer_put_ancillary(&s.writer, 200, text, i % 7), EVALUE_OK);
    drain_stream(&s);
    assert_int_equal(evalue_writer_put_bool(&w, i % 2), EVALUE_OK);
    assert_int_equal(evalue_writer_put_bool(&s.writer, i % 2), EVALUE_OK);
    if (i % 3 == 0) drain_stream(&s);
  }
  drain_stream(&s);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_OK);
  close_stream(&s, 16, size);
}

/* Draining is no duty: when it was never done, finish writes the header where it lies. */
static void test_gathering_writer_without_drain(void **state) {
  (void)state;
  static uint8_t scratch[BUFFER];
  evalue values[VALUES];
  evalue_slice slices[SLICES];
  evalue_writer w;
  uint64_t size = 0, want = 0;
  make_values(values);
  for (uint32_t alignment = 0; alignment <= 128; alignment += 64) {
    assert_int_equal(encode(values, VALUES, alignment, &want), EVALUE_OK);
    start(&w, alignment, scratch, sizeof scratch);
    assert_int_equal(evalue_writer_gather(&w, slices, SLICES), EVALUE_OK);
    for (size_t i = 0; i < VALUES; i++) assert_int_equal(evalue_writer_put(&w, &values[i]), EVALUE_OK);
    assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_OK);
    assert_int_equal(size, want);
    assert_int_equal(join(0, slices, w.slice_count), want);
    assert_memory_equal(joined, expected, (size_t)want);
  }
}

/* A stream that once had too little memory says so for ever, and draining does not mend it. */
static void test_l4_drain_after_no_space(void **state) {
  (void)state;
  uint8_t scratch[40], header[EVALUE_HEADER_SIZE];
  evalue_slice slices[3];
  evalue_writer w;
  uint64_t size = 0;
  start(&w, 16, scratch, sizeof scratch);
  assert_int_equal(evalue_writer_gather(&w, slices, 3), EVALUE_OK);
  assert_int_equal(evalue_writer_put_int(&w, 1), EVALUE_NO_SPACE);
  assert_int_equal(evalue_writer_drain(&w), EVALUE_NO_SPACE);
  assert_int_equal(evalue_writer_put_none(&w), EVALUE_NO_SPACE);
  assert_int_equal(evalue_writer_header(&w, header), EVALUE_NO_SPACE);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_NO_SPACE);
  assert_int_equal(size, 24 + 17 + 9);
  assert_int_equal(w.used, 24 + 17 + 9);
  assert_int_equal(w.slice_count, 1);
}

/* A buffer too small for a header may still become the scratch of a gathering sequence, and of a message that says what
 * it needs. */
static void test_gather_starts_afresh(void **state) {
  (void)state;
  uint8_t scratch[10];
  evalue_slice slices[3];
  evalue_writer w;
  uint64_t size = 0;
  start(&w, 16, scratch, sizeof scratch);
  assert_int_equal(evalue_writer_gather(&w, slices, 3), EVALUE_OK);
  assert_int_equal(evalue_writer_put_none(&w), EVALUE_NO_SPACE);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_NO_SPACE);
  assert_int_equal(size, 33);
  assert_int_equal(w.used, 33);
  start(&w, 0, scratch, sizeof scratch);
  assert_int_equal(evalue_writer_gather(&w, slices, 3), EVALUE_OK);
  assert_int_equal(evalue_writer_put_bool(&w, true), EVALUE_OK);
  assert_int_equal(evalue_writer_finish(&w, &size), EVALUE_OK);
  assert_int_equal(size, 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_l2_exact_needs),
      cmocka_unit_test(test_h8_too_little_of_either),
      cmocka_unit_test(test_nothing_to_gather),
      cmocka_unit_test(test_misuse),
      cmocka_unit_test(test_a8_limit),
      cmocka_unit_test(test_payloads_are_the_callers_own),
      cmocka_unit_test(test_no_payload_byte_is_read),
      cmocka_unit_test(test_stream_is_encode),
      cmocka_unit_test(test_stream_of_the_largest_heads),
      cmocka_unit_test(test_largest_head_is_reached),
      cmocka_unit_test(test_stream_of_ancillary_elements),
      cmocka_unit_test(test_gathering_writer_without_drain),
      cmocka_unit_test(test_l4_drain_after_no_space),
      cmocka_unit_test(test_gather_starts_afresh),
  };
  return cmocka_run_group_tests_name("gather", tests, NULL, NULL);
}
