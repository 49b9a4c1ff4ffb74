/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `evalue show --layout`: the bytes of one element. Everything is read from the bytes that are drawn, so also a bad
 * element can be drawn, field by field, up to the first that makes no sense.
 */
#include <string.h>

#include "display.h"

/* An element, as far as it was looked at. */
typedef struct element {
  size_t position;  /* of its tag */
  size_t payload;   /* position of its payload */
  size_t available; /* bytes of it that are there */
  uint64_t length;  /* of its payload, as its length field says */
  uint64_t index;   /* of the value that it is, or stands before */
  uint32_t tag;
  bool is_good;
} element;

/* ---- tag and length ---- */

/* What a tag is, for people. */
static const char *tag_text(uint32_t tag, char text[64]) {
  static const char *const lists[] = {"ListBool",   "ListDouble", "ListInt",
                                      "ListTensor", "ListScalar", "ListOptionalTensor"};
  const char *name = evalue_tag_name(tag);
  if (name != NULL) return name;
  const char *kind = tag < 96                        ? "a reserved value"
                     : tag < EVALUE_TAG_CRITICAL_END ? "reserved, critical"
                     : tag < EVALUE_TAG_PRIVATE      ? "ancillary, reserved"
                                                     : "ancillary, private";
  if (tag >= 6 && tag - 6 < sizeof lists / sizeof lists[0]) kind = lists[tag - 6];
  snprintf(text, 64, "%u: %s", (unsigned)tag, kind);
  return text;
}

static void draw_heading(cli_layout *l, const element *e) {
  unsigned long long index = e->index;
  if (e->tag < EVALUE_TAG_CRITICAL_END) {
    cli_layout_heading(l, "value %llu", index);
  } else {
    cli_layout_heading(l, "%s before value %llu", e->tag == EVALUE_TAG_PAD ? "Pad" : "ancillary element", index);
  }
}

/* Says whether the length is one that the element can have: then its payload can be drawn. */
static bool length_is_possible(const cli_layout *l, const element *e) {
  switch (e->tag) {
    case EVALUE_TAG_NONE:
      if (e->length != 0) return false;
      break;
    case EVALUE_TAG_TENSOR:
      if (e->length < 2) return false;
      break;
    case EVALUE_TAG_DOUBLE:
    case EVALUE_TAG_INT:
      if (e->length != 8) return false;
      break;
    case EVALUE_TAG_BOOL:
      if (e->length != 1) return false;
      break;
    case EVALUE_TAG_PAD:
      if (e->length >= l->alignment) return false;
      break;
    default: break;
  }
  return e->length < EVALUE_SIZE_LIMIT && (e->length <= e->available || l->is_cut);
}

/* Draws tag and length; false when there is no payload to draw. */
static bool draw_head(cli_layout *l, element *e) {
  char text[64];
  size_t left = l->end - e->position;
  bool goes_on = cli_layout_row_at(l, e->position, 1, CLI_TAG, "tag", "%s", tag_text(e->tag, text));
  if (!goes_on && (l->fault->fault == EVALUE_FAULT_UNKNOWN_TAG || l->fault->fault == EVALUE_FAULT_LIMIT_VALUES))
    return false;
  if (e->tag > EVALUE_TAG_BOOL && e->tag < EVALUE_TAG_CRITICAL_END) return false;
  if (!e->is_good && l->fault->fault == EVALUE_FAULT_PAD_MISPLACED) return false; /* the tag was enough */
  if (left < EVALUE_ELEMENT_HEADER_SIZE) {
    cli_layout_row_at(l, e->position + 1, left - 1, CLI_LENGTH, "length", "%zu of 8 bytes", left - 1);
    return false;
  }
  e->length = evalue_load_u64(l->data + e->position + 1);
  e->payload = e->position + EVALUE_ELEMENT_HEADER_SIZE;
  e->available = left - EVALUE_ELEMENT_HEADER_SIZE;
  if (e->available > e->length) e->available = (size_t)e->length;
  char sum[64] = "";
  if (e->tag == EVALUE_TAG_TENSOR && e->is_good && e->available >= 2) {
    uint64_t ndim = l->data[e->payload + 1];
    snprintf(sum, sizeof sum, " = 2 + 5 x %llu + %llu of data", (unsigned long long)ndim,
             (unsigned long long)(e->length - EVALUE_TENSOR_META_SIZE(ndim)));
  }
  cli_layout_row_at(l, e->position + 1, 8, CLI_LENGTH, "length", "%llu%s", (unsigned long long)e->length, sum);
  return length_is_possible(l, e);
}

/* ---- scalars, strings, Pads ---- */

static bool draw_scalar(cli_layout *l, const element *e) {
  char text[40];
  const uint8_t *p = l->data + e->payload;
  if (e->available < e->length) return cli_layout_bytes(l, e->payload, e->available, CLI_PAYLOAD, "value");
  if (e->tag == EVALUE_TAG_BOOL) {
    const char *word = p[0] == 0 ? "false" : p[0] == 1 ? "true" : "neither 0 nor 1";
    return cli_layout_row_at(l, e->payload, 1, CLI_PAYLOAD, "value", "%s", word) && p[0] <= 1;
  }
  evalue_print_element(e->tag == EVALUE_TAG_INT ? EVALUE_INT64 : EVALUE_FLOAT64, p, text, sizeof text);
  return cli_layout_row_at(l, e->payload, 8, CLI_PAYLOAD, "value", "%s", text);
}

/* Says where the data of the tensor after a Pad is; false when there is none. */
static bool data_after(const cli_layout *l, const element *e, size_t *data) {
  size_t tensor = e->payload + e->available;
  if (l->end - tensor < EVALUE_ELEMENT_HEADER_SIZE + EVALUE_TENSOR_META_SIZE(0) || l->data[tensor] != EVALUE_TAG_TENSOR)
    return false;
  size_t ndim = l->data[tensor + EVALUE_ELEMENT_HEADER_SIZE + 1];
  *data = tensor + EVALUE_ELEMENT_HEADER_SIZE + EVALUE_TENSOR_META_SIZE(ndim);
  return ndim <= EVALUE_MAX_NDIM;
}

static bool draw_pad(cli_layout *l, const element *e) {
  char purpose[100] = "";
  size_t data;
  if (data_after(l, e, &data) && data % l->alignment == 0) {
    snprintf(purpose, sizeof purpose, "the data of value %llu at %zu = %zu x %u", (unsigned long long)e->index, data,
             data / l->alignment, (unsigned)l->alignment);
  }
  if (e->length == 0) {
    cli_layout_note(l, "", "padding", purpose[0] == '\0' ? "none" : "none: tag and length alone put %s", purpose);
    return true;
  }
  size_t shown = e->available <= 3 * CLI_ROW ? e->available : 2 * CLI_ROW; /* zeros are dull */
  const char *format = purpose[0] == '\0' ? "zeros" : "zeros: they put %s";
  if (!cli_layout_row_at(l, e->payload, shown, CLI_PAD, "padding", format, purpose)) return false;
  return shown == e->available || cli_layout_bytes(l, e->payload + shown, e->available - shown, CLI_PAD, "");
}

/* ---- tensors ---- */

/* Writes the elements of a row, a component at a time for elements that are longer than a row; "(cut)" for one of which
 * bytes are missing. */
static void format_data(const evalue_tensor *t, size_t at, size_t nbytes, char *text, size_t capacity) {
  size_t size = evalue_element_size(t->scalar_type);
  const uint8_t *p = (const uint8_t *)t->data + at;
  bool is_long = size > CLI_ROW; /* complex128 */
  size_t unit = is_long ? CLI_ROW : size;
  char index[CLI_INDEX_SIZE];
  cli_format_index(t, at / size, index);
  size_t n = (size_t)snprintf(text, capacity, "%s%s", index, index[0] != '\0' ? ": " : "");
  if (is_long) n += (size_t)snprintf(text + n, capacity - n, at % size == 0 ? "real " : "imaginary ");
  for (size_t i = 0; i < nbytes; i += unit) {
    char number[64] = "(cut)";
    if (nbytes - i >= unit)
      evalue_print_element(is_long ? EVALUE_FLOAT64 : t->scalar_type, p + i, number, sizeof number);
    n += (size_t)snprintf(text + n, capacity - n, "%s%s", i == 0 ? "" : ", ", number);
  }
}

bool cli_layout_data(cli_layout *l, const evalue_tensor *t, size_t position, size_t available) {
  char text[400], count[CLI_GROUPED_SIZE], bytes[CLI_GROUPED_SIZE];
  size_t at = 0, size = evalue_element_size(t->scalar_type);
  if (t->nbytes == 0) cli_layout_note(l, "", "data", "none: a size is zero");
  size_t end = cli_layout_shown(available);
  for (; at < end; at += CLI_ROW) {
    size_t n = available - at < CLI_ROW ? available - at : CLI_ROW;
    format_data(t, at, n, text, sizeof text);
    if (!cli_layout_row_at(l, position + at, n, CLI_PAYLOAD, at == 0 ? "data" : "", "%s", text)) return false;
  }
  if (at < available) {
    uint64_t rest = available - at;
    cli_layout_note(l, "...", "", "%s more byte%s: %s element%s", cli_grouped(rest, bytes), cli_plural(rest),
                    cli_grouped(rest / size, count), cli_plural(rest / size));
  }
  return true;
}

/* Draws sizes and dim_order, which are all there, into the tensor; false when they are wrong. */
static bool draw_shape(cli_layout *l, size_t position, evalue_tensor *t) {
  char field[16], text[80] = "(";
  size_t n = 1;
  for (size_t d = 0; d < t->ndim; d++, position += 4) {
    t->sizes[d] = (int32_t)evalue_load_u32(l->data + position);
    snprintf(field, sizeof field, "sizes[%zu]", d);
    if (!cli_layout_row_at(l, position, 4, CLI_METADATA, field, "%ld", (long)t->sizes[d]) || t->sizes[d] < 0)
      return false;
  }
  if (t->ndim == 0) return true;
  for (size_t d = 0; d < t->ndim; d++) {
    t->dim_order[d] = l->data[position + d];
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%u", d == 0 ? "" : ", ", (unsigned)t->dim_order[d]);
  }
  const char *name = t->ndim == 1                                               ? ""
                     : evalue_is_row_major(t)                                   ? ": row-major"
                     : t->ndim == 4 && memcmp(t->dim_order, "\0\2\3\1", 4) == 0 ? ": channels-last"
                                                                                : "";
  return cli_layout_row_at(l, position, t->ndim, CLI_METADATA, "dim_order", "%s)%s", text, name);
}

static bool draw_tensor(cli_layout *l, const element *e) {
  evalue_tensor t, checked;
  const uint8_t *p = l->data + e->payload;
  if (e->available < 2) return cli_layout_bytes(l, e->payload, e->available, CLI_METADATA, "tensor");
  memset(&t, 0, sizeof t);
  t.scalar_type = p[0];
  t.ndim = p[1];
  uint32_t size = evalue_element_size(t.scalar_type);
  const char *name = size != 0 ? evalue_scalar_type_name(t.scalar_type) : NULL;
  bool goes_on =
      name != NULL ? cli_layout_row_at(l, e->payload, 1, CLI_METADATA, "scalar_type", "%s, %u byte%s an element", name,
                                       (unsigned)size, cli_plural(size))
                   : cli_layout_row_at(l, e->payload, 1, CLI_METADATA, "scalar_type", "%u: not known", (unsigned)p[0]);
  if (!goes_on || name == NULL) return false;
  if (!cli_layout_row_at(l, e->payload + 1, 1, CLI_METADATA, "ndim", "%u", (unsigned)t.ndim)) return false;
  size_t meta = EVALUE_TENSOR_META_SIZE((size_t)t.ndim);
  if (t.ndim > EVALUE_MAX_NDIM || e->length < meta) return false;
  if (e->available < meta) return cli_layout_bytes(l, e->payload + 2, e->available - 2, CLI_METADATA, "shape");
  if (!draw_shape(l, e->payload + 2, &t)) return false;
  /* Now the data: when the shape is good and, but for an end that has not arrived, the data fits it. Where a fault is,
   * its data was not looked at. */
  evalue_status status = evalue_tensor_init_dim_order(&checked, t.scalar_type, t.ndim, t.sizes, t.dim_order, p + meta,
                                                      (size_t)(e->length - meta));
  if (status != EVALUE_OK || (!e->is_good && !l->is_cut)) return false;
  return cli_layout_data(l, &checked, e->payload + meta, e->available - meta);
}

/* ---- the element ---- */

static bool draw_payload(cli_layout *l, const element *e) {
  switch (e->tag) {
    case EVALUE_TAG_NONE: return true;
    case EVALUE_TAG_TENSOR: return draw_tensor(l, e);
    case EVALUE_TAG_STRING:
      return e->length == 0 || cli_layout_bytes(l, e->payload, e->available, CLI_PAYLOAD, "value");
    case EVALUE_TAG_DOUBLE:
    case EVALUE_TAG_INT:
    case EVALUE_TAG_BOOL: return draw_scalar(l, e);
    case EVALUE_TAG_PAD: return draw_pad(l, e);
    default: return e->length == 0 || cli_layout_bytes(l, e->payload, e->available, CLI_PAYLOAD, "payload");
  }
}

size_t cli_layout_element(cli_layout *layout, size_t position, uint64_t index, bool is_good) {
  if (position >= layout->end) return position;
  element e = {.position = position, .index = index, .is_good = is_good, .tag = layout->data[position]};
  draw_heading(layout, &e);
  if (!draw_head(layout, &e)) return position;
  if (!draw_payload(layout, &e) || e.available < e.length) return position;
  return e.payload + e.available;
}
