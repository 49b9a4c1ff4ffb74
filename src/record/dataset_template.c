/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are alike. Only for memory that nobody else can change: a template's bytes are compared, then trusted.
 */
#include "dataset_template.h"

/* Adds bytes that have to be the same; false when there are too many. */
static bool add_span(evalue_template *t, const uint8_t *message, size_t at, size_t length) {
  if (length > EVALUE_TEMPLATE_BYTES - t->byte_count) return false;
  memcpy(t->bytes + t->byte_count, message + at, length);
  t->byte_count += length;
  size_t last = t->spans - 1;
  if (t->spans > 0 && t->span[last].at + t->span[last].length == at) {
    t->span[last].length += length;
    return true;
  }
  if (t->spans == EVALUE_TEMPLATE_SPANS) return false;
  t->span[t->spans].at = at;
  t->span[t->spans++].length = length;
  return true;
}

/* Adds an element; only values may have bytes that differ. */
static bool add_element(evalue_template *t, const uint8_t *message, const evalue_element *element,
                        const evalue *value) {
  size_t at = (size_t)element->position, all = element->raw.size;
  if (element->tag > EVALUE_TAG_BOOL) return add_span(t, message, at, all);
  if (t->values == EVALUE_TEMPLATE_VALUES) return false;
  size_t head = EVALUE_ELEMENT_HEADER_SIZE;
  if (element->tag == EVALUE_TAG_TENSOR) head += EVALUE_TENSOR_META_SIZE((size_t)value->tensor.ndim);
  t->payload[t->values++] = at + head;
  return add_span(t, message, at, head);
}

void evalue_template_make(evalue_template *t, const uint8_t *message, size_t size) {
  evalue_reader reader;
  evalue_element element;
  evalue value;
  t->size = 0;
  t->spans = 0;
  t->values = 0;
  t->byte_count = 0;
  evalue_status status = evalue_reader_init(&reader, message, size, NULL);
  if (status != EVALUE_OK || !add_span(t, message, 0, EVALUE_HEADER_SIZE)) return;
  while ((status = evalue_reader_next_element(&reader, &element, &value)) == EVALUE_OK) {
    if (!add_element(t, message, &element, &value)) return;
  }
  if (status == EVALUE_END) t->size = size;
}

static bool is_alike(const evalue_template *t, const uint8_t *message, size_t size) {
  const uint8_t *bytes = t->bytes;
  if (size != t->size || size == 0) return false;
  for (size_t i = 0; i < t->spans; i++) {
    if (memcmp(message + t->span[i].at, bytes, t->span[i].length) != 0) return false;
    bytes += t->span[i].length;
  }
  return true;
}

bool evalue_template_apply(const evalue_template *t, const uint8_t *message, size_t size, evalue *values) {
  if (!is_alike(t, message, size)) return false;
  for (size_t i = 0; i < t->values; i++) {
    const uint8_t *payload = message + t->payload[i];
    uint64_t bits;
    switch (values[i].tag) {
      case EVALUE_TAG_TENSOR: values[i].tensor.data = payload; break;
      case EVALUE_TAG_STRING: values[i].string.data = (const char *)payload; break;
      case EVALUE_TAG_INT: values[i].int_value = (int64_t)evalue_load_u64(payload); break;
      case EVALUE_TAG_DOUBLE:
        bits = evalue_load_u64(payload);
        EVALUE_COPY(&values[i].double_value, &bits, sizeof bits);
        break;
      case EVALUE_TAG_BOOL:
        if (*payload > 1) return false; /* decoding says what is wrong */
        values[i].bool_value = *payload;
        break;
      default: break;
    }
  }
  return true;
}
