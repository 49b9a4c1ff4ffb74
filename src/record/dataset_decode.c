/* SPDX-License-Identifier: BSD-3-Clause */
/* A stage that makes values of messages, and checks them against a schema. */
#include <stdlib.h>

#include "dataset_template.h"

struct evalue_decoder {
  const evalue_schema_value *schema;
  evalue *values;
  size_t schema_count, capacity;
  size_t last_size; /* of the message before; after a second one of the same size there is a template */
  evalue_template template;
  bool skips;
};

static evalue_decode_dataset *decode_of(evalue_dataset *dataset) {
  return (evalue_decode_dataset *)(void *)dataset;
}

/* Room for n values; false without memory. */
static bool make_room(struct evalue_decoder *d, uint64_t n) {
  evalue *values = (evalue *)evalue_dataset_allocate_array(n, sizeof *values);
  if (values == NULL) return false;
  free(d->values);
  d->values = values;
  d->capacity = (size_t)n;
  return true;
}

/* Makes values of the example's message. *is_bad: the example is at fault. */
static evalue_status decode(evalue_dataset *dataset, struct evalue_decoder *d, evalue_example *example, bool *is_bad) {
  evalue_error error;
  uint64_t n = 0;
  const evalue_slice bytes = example->bytes;
  *is_bad = true;
  d->template.size = 0; /* the values are others now */
  if (bytes.size == 0) {
    return evalue_dataset_fail(dataset, EVALUE_MALFORMED, example, EVALUE_NO_INDEX,
                               "expected a message, found no bytes");
  }
  evalue_status status = evalue_message_decode(bytes.data, bytes.size, NULL, d->values, d->capacity, &n, &error);
  if (status == EVALUE_NO_SPACE) {
    *is_bad = false;
    if (!make_room(d, n)) return evalue_dataset_fail_memory(dataset);
    *is_bad = true;
    status = evalue_message_decode(bytes.data, bytes.size, NULL, d->values, d->capacity, &n, &error);
  }
  if (status != EVALUE_OK) return evalue_dataset_fail_fault(dataset, example, &error);
  example->values = d->values;
  example->count = (size_t)n;
  return EVALUE_OK;
}

static evalue_status check(evalue_dataset *dataset, const struct evalue_decoder *d, const evalue_example *example) {
  char text[256];
  uint64_t index = EVALUE_NO_INDEX;
  if (d->schema == NULL) return EVALUE_OK;
  evalue_status status =
      evalue_schema_check(d->schema, d->schema_count, example->values, example->count, &index, text, sizeof text);
  return status == EVALUE_OK ? status : evalue_dataset_fail(dataset, status, example, index, "%s", text);
}

/* Makes values of a message that is not like the one before, and checks them. */
static EVALUE_COLD evalue_status decode_anew(evalue_dataset *dataset, struct evalue_decoder *d, evalue_example *example,
                                             bool *is_bad) {
  evalue_status status = decode(dataset, d, example, is_bad);
  if (status == EVALUE_OK) status = check(dataset, d, example);
  if (status != EVALUE_OK) return status;
  const evalue_slice bytes = example->bytes;
  if (bytes.size == d->last_size) evalue_template_make(&d->template, (const uint8_t *)bytes.data, bytes.size);
  d->last_size = bytes.size;
  return EVALUE_OK;
}

static evalue_status decode_next(evalue_dataset *dataset, evalue_example *example) {
  struct evalue_decoder *d = decode_of(dataset)->decoder;
  for (;;) {
    bool is_bad = true;
    evalue_status status = evalue_dataset_next(dataset->input, example);
    if (status != EVALUE_OK) return status;
    const evalue_slice bytes = example->bytes;
    if (example->values != NULL) {
      status = check(dataset, d, example);
    } else if (evalue_template_apply(&d->template, (const uint8_t *)bytes.data, bytes.size, d->values)) {
      example->values = d->values;
      example->count = d->template.values;
      return EVALUE_OK;
    } else {
      status = decode_anew(dataset, d, example, &is_bad);
    }
    if (status == EVALUE_OK || !is_bad || !d->skips) return status;
    decode_of(dataset)->skipped++;
  }
}

void evalue_dataset_allow_misaligned(evalue_dataset *dataset) {
  for (; dataset != NULL && dataset->is_borrowed == 0; dataset = dataset->input) {
    dataset->may_misalign = 1;
    if (dataset->functions->next != decode_next) return; /* it may copy, or others may look at the bytes */
  }
}

static evalue_status decode_rewind(evalue_dataset *dataset) {
  decode_of(dataset)->skipped = 0;
  return EVALUE_OK;
}

static evalue_status decode_state(evalue_dataset *dataset, evalue_dataset_state *state) {
  evalue_decode_dataset *d = decode_of(dataset);
  evalue_state_same(state, "skip", d->decoder->skips);
  return evalue_state_u64(state, "skipped", &d->skipped);
}

static void decode_close(evalue_dataset *dataset) {
  struct evalue_decoder *d = decode_of(dataset)->decoder;
  if (d != NULL) free(d->values);
  free(d);
}

evalue_status evalue_decode_dataset_init(evalue_decode_dataset *d, evalue_dataset *input,
                                         const evalue_schema_value *schema, size_t n,
                                         const evalue_decode_options *options) {
  static const evalue_decode_options defaults;
  static const evalue_dataset_functions functions = {
      .name = "decode", .next = decode_next, .rewind = decode_rewind, .state = decode_state, .close = decode_close};
  if (d == NULL) return EVALUE_MISUSE;
  memset(d, 0, sizeof *d);
  evalue_status status = evalue_dataset_start(&d->dataset, &functions, input);
  if (status != EVALUE_OK) return status;
  if (options == NULL) options = &defaults;
  bool is_good = evalue_dataset_size_is_known(options->size, sizeof *options) && options->skip <= 1;
  if (!is_good) return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its options are none");
  if (!evalue_schema_is_good(schema, n)) return evalue_dataset_break(&d->dataset, EVALUE_MISUSE, "its schema is none");
  struct evalue_decoder *decoder = (struct evalue_decoder *)calloc(1, sizeof *decoder);
  d->decoder = decoder;
  bool has_memory = decoder != NULL && make_room(decoder, n != 0 ? n : 8);
  if (!has_memory) return evalue_dataset_break_memory(&d->dataset);
  decoder->schema = schema;
  decoder->schema_count = n;
  decoder->skips = options->skip != 0;
  return EVALUE_OK;
}
