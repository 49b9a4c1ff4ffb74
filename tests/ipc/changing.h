/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a message that its sender changes meanwhile: whatever is read lies inside, and stays what it was. */
#ifndef EVALUE_TESTS_IPC_CHANGING_H
#define EVALUE_TESTS_IPC_CHANGING_H

#include "messages.h"

enum { MOST_STEPS = 16 };

static unsigned long counted_values, counted_whole, counted_faults;

static inline bool lies_inside(const void *part, size_t part_size, const uint8_t *data, size_t nbytes) {
  if (part_size == 0) return true;
  uintptr_t from = (uintptr_t)part, start = (uintptr_t)data;
  return from >= start && from - start <= nbytes && part_size <= nbytes - (from - start);
}

/* A value that a reader has returned is good in itself, and its bytes lie in the message. */
static inline void check_value(const evalue *v, const uint8_t *data, size_t nbytes) {
  volatile uint8_t byte;
  PROMISE(v->tag <= EVALUE_TAG_BOOL);
  PROMISE(evalue_check(v) == EVALUE_OK);
  const uint8_t *part = NULL;
  size_t size = 0;
  if (v->tag == EVALUE_TAG_TENSOR) {
    int64_t strides[EVALUE_MAX_NDIM];
    uint64_t expected;
    part = v->tensor.data;
    size = v->tensor.nbytes;
    PROMISE(evalue_tensor_nbytes(v->tensor.scalar_type, v->tensor.ndim, v->tensor.sizes, &expected) == EVALUE_OK);
    PROMISE(expected == size);
    PROMISE(evalue_tensor_strides(&v->tensor, strides) == EVALUE_OK);
  } else if (v->tag == EVALUE_TAG_STRING) {
    part = (const uint8_t *)v->string.data;
    size = v->string.nbytes;
  } else if (v->tag == EVALUE_TAG_BOOL) {
    PROMISE(v->bool_value <= 1);
  }
  PROMISE(lies_inside(part, size, data, nbytes));
  if (size != 0) byte = (uint8_t)(part[0] + part[size - 1]);
  (void)byte;
}

/* By the reader, one value at a time. */
static inline void check_inside(const uint8_t *data, size_t nbytes) {
  evalue_reader reader;
  evalue_element element;
  evalue v;
  evalue_status status = evalue_reader_init(&reader, data, nbytes, NULL);
  while (status == EVALUE_OK && (status = evalue_reader_next_element(&reader, &element, &v)) == EVALUE_OK) {
    PROMISE(lies_inside(element.raw.data, element.raw.size, data, nbytes));
    PROMISE(lies_inside(element.payload.data, element.payload.size, data, nbytes));
    PROMISE(element.payload.size <= element.raw.size);
    if (element.tag > EVALUE_TAG_BOOL) continue;
    check_value(&v, data, nbytes);
    counted_values++;
  }
  counted_whole += status == EVALUE_END;
  counted_faults += status != EVALUE_END;
}

/* By the whole message, and by the reader. */
static inline void read_inside(const uint8_t *data, size_t nbytes) {
  evalue values[MOST_STEPS];
  uint64_t n = 0;
  evalue_error error;
  evalue_status status = evalue_message_decode(data, nbytes, NULL, values, MOST_STEPS, &n, &error);
  if (status == EVALUE_OK) PROMISE(n <= MOST_STEPS);
  for (uint64_t i = 0; status == EVALUE_OK && i < n; i++) check_value(&values[i], data, nbytes);
  counted_values += status == EVALUE_OK ? n : 0;
  check_inside(data, nbytes);
}

/* Says what the value is, but not what its bytes are, which may change. */
static inline void say_value(const evalue *v, const uint8_t *data) {
  char text[200];
  const evalue_tensor *t = &v->tensor;
  if (v->tag == EVALUE_TAG_TENSOR) {
    int at = snprintf(text, sizeof text, "%u %zu %zu %u", v->tag, (size_t)((const uint8_t *)t->data - data), t->nbytes,
                      t->scalar_type);
    for (uint32_t i = 0; i < t->ndim && at < 150; i++) {
      at += snprintf(text + at, sizeof text - (size_t)at, " %d/%u", t->sizes[i], t->dim_order[i]);
    }
  } else if (v->tag == EVALUE_TAG_STRING) {
    snprintf(text, sizeof text, "%u %zu %zu", v->tag, (size_t)((const uint8_t *)v->string.data - data),
             v->string.nbytes);
  } else {
    snprintf(text, sizeof text, "%u %lld", v->tag,
             (long long)(v->tag == EVALUE_TAG_BOOL ? v->bool_value : v->int_value));
  }
  SAY("value %s\n", text);
}

/* Waits for the peer before every call of the reader. In the end all values are said again: they must not change. */
static inline void step_through(const uint8_t *data, size_t nbytes, void (*wait)(void)) {
  evalue_reader reader;
  evalue values[MOST_STEPS];
  size_t n = 0;
  say("step\n");
  wait();
  evalue_status status = evalue_reader_init(&reader, data, nbytes, NULL);
  while (status == EVALUE_OK && n < MOST_STEPS) {
    say("step\n");
    wait();
    status = evalue_reader_next(&reader, &values[n]);
    if (status != EVALUE_OK) break;
    check_value(&values[n], data, nbytes);
    say_value(&values[n++], data);
  }
  SAY("stop %s\n", name_of(status));
  wait();
  for (size_t i = 0; i < n; i++) {
    check_value(&values[i], data, nbytes);
    say_value(&values[i], data);
  }
  say("done\n");
}

#endif
