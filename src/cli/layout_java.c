/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `evalue show --layout --form executorch-java`. Everything is read from the bytes that are drawn, so also a bad value
 * can be drawn, field by field, up to the fault.
 */
#include <string.h>

#include "display.h"

enum { NDIM_AT = 2, SIZES_AT = CLI_JAVA_SIZES_AT, STRING_AT = CLI_JAVA_STRING_AT };

/* How many bytes are there from a position on, and not behind the end. */
static size_t left(const cli_layout *l, size_t position) {
  return position < l->end ? l->end - position : 0;
}

/* Draws a field of nbytes, or what is there of it, when it is the first that is not there; false when nothing can
 * follow.
 */
static bool draw_field(cli_layout *l, size_t position, size_t nbytes, cli_role role, const char *name,
                       const char *meaning) {
  size_t there = left(l, position);
  if (there == 0 && (l->fault->status == EVALUE_OK || l->fault->position != position)) return false;
  if (there >= nbytes) return cli_layout_row_at(l, position, nbytes, role, name, "%s", meaning);
  cli_layout_row_at(l, position, there, role, name, "%zu of %zu byte%s", there, nbytes, cli_plural(nbytes));
  return false;
}

static void draw_scalar(cli_layout *l, uint32_t tag) {
  char text[64] = "";
  uint8_t little_endian[8];
  if (left(l, 1) >= 8) {
    evalue_copy_reversed(little_endian, l->data + 1, 8, 8);
    evalue_print_element(tag == EVALUE_TAG_INT ? EVALUE_INT64 : EVALUE_FLOAT64, little_endian, text, sizeof text);
  }
  draw_field(l, 1, 8, CLI_PAYLOAD, "value", text);
}

static void draw_bool(cli_layout *l) {
  uint32_t byte = left(l, 1) != 0 ? l->data[1] : 0;
  const char *other = l->fault->fault == EVALUE_FAULT_BAD_BOOL ? "neither 0 nor 1" : "true, as it is not 0";
  draw_field(l, 1, 1, CLI_PAYLOAD, "value", byte == 0 ? "false" : byte == 1 ? "true" : other);
}

static void draw_string(cli_layout *l) {
  char text[64] = "";
  size_t there = left(l, STRING_AT);
  int32_t length = 0;
  if (left(l, 1) >= 4) length = (int32_t)evalue_load_be_u32(l->data + 1);
  bool is_frame = l->fault->fault == EVALUE_FAULT_STRING_BEFORE_1_2;
  if (is_frame && left(l, 1) >= 4) evalue_print_string(l->data + 1, 4, text, sizeof text);
  else snprintf(text, sizeof text, "%ld", (long)length);
  bool goes_on = draw_field(l, 1, 4, CLI_LENGTH, "length", text);
  if (is_frame) cli_layout_bytes(l, STRING_AT, there, CLI_PAYLOAD, "text");
  if (!goes_on || length <= 0) return;
  cli_layout_bytes(l, STRING_AT, there < (size_t)length ? there : (size_t)length, CLI_PAYLOAD, "value");
}

/* The scalar type of a dtype code that any release has; -1 for others. */
static int scalar_type_of(uint32_t dtype) {
  switch (dtype) {
#define EVALUE_X(scalar_type, code, since)                                                                             \
  case code: return EVALUE_##scalar_type;
    EVALUE_JAVA_DTYPE_TABLE(EVALUE_X)
#undef EVALUE_X
    default: return -1;
  }
}

/* The scalar type, whether or not the release has it. */
static bool draw_scalar_type(cli_layout *l) {
  char text[80] = "";
  uint32_t code = left(l, 1) != 0 ? l->data[1] : 0;
  int scalar_type = scalar_type_of(code);
  const char *name = scalar_type >= 0 ? evalue_scalar_type_name((uint32_t)scalar_type) : NULL;
  if (name == NULL) {
    snprintf(text, sizeof text, "%u: not known", (unsigned)code);
  } else if (l->fault->fault == EVALUE_FAULT_UNKNOWN_DTYPE) {
    const char *release = evalue_java_release_name((uint32_t)l->fault->expected);
    snprintf(text, sizeof text, "%u: %s, but not in release %s", (unsigned)code, name, release);
  } else {
    uint32_t size = evalue_element_size((uint32_t)scalar_type);
    snprintf(text, sizeof text, "%s, %u byte%s an element", name, (unsigned)size, cli_plural(size));
  }
  return draw_field(l, 1, 1, CLI_METADATA, "scalar_type", text);
}

/* Draws the sizes into the tensor. */
static bool draw_sizes(cli_layout *l, evalue_tensor *t) {
  for (size_t d = 0; d < t->ndim; d++) {
    char field[16], text[32] = "";
    size_t position = SIZES_AT + 4 * d;
    if (left(l, position) >= 4) t->sizes[d] = (int32_t)evalue_load_be_u32(l->data + position);
    snprintf(field, sizeof field, "sizes[%zu]", d);
    snprintf(text, sizeof text, "%ld", (long)t->sizes[d]);
    if (!draw_field(l, position, 4, CLI_METADATA, field, text)) return false;
  }
  return true;
}

/* Draws the data as far as it is there; the elements that are shown are swapped. */
static void draw_data(cli_layout *l, const evalue_tensor *t) {
  uint8_t shown[CLI_ROW * (CLI_MOST_ROWS + 1)] = {0};
  evalue_tensor view = *t;
  uint64_t nbytes;
  size_t position = SIZES_AT + 4 * (size_t)t->ndim, there = left(l, position);
  if (evalue_tensor_nbytes(t->scalar_type, t->ndim, t->sizes, &nbytes) != EVALUE_OK) return;
  if (there > nbytes) there = (size_t)nbytes;
  size_t width = evalue_element_size(t->scalar_type), n = cli_layout_shown(there);
  evalue_copy_reversed(shown, l->data + position, n - n % width, width);
  for (size_t d = 0; d < t->ndim; d++) view.dim_order[d] = (uint8_t)d;
  view.data = shown;
  view.nbytes = (size_t)nbytes;
  cli_layout_data(l, &view, position, there);
}

static void draw_tensor(cli_layout *l) {
  evalue_tensor t;
  char text[16] = "";
  memset(&t, 0, sizeof t);
  if (!draw_scalar_type(l)) return;
  int scalar_type = scalar_type_of(l->data[1]);
  if (scalar_type < 0) return;
  t.scalar_type = (uint8_t)scalar_type;
  if (left(l, NDIM_AT) != 0) t.ndim = l->data[NDIM_AT];
  snprintf(text, sizeof text, "%u", (unsigned)t.ndim);
  if (!draw_field(l, NDIM_AT, 1, CLI_METADATA, "ndim", text) || t.ndim > EVALUE_MAX_NDIM) return;
  if (!draw_sizes(l, &t)) return;
  draw_data(l, &t);
}

void cli_layout_java(cli_layout *l) {
  if (l->size == 0) return;
  uint32_t tag = l->data[0];
  char unknown[24];
  snprintf(unknown, sizeof unknown, "%u: not known", (unsigned)tag);
  const char *name = tag <= EVALUE_TAG_BOOL ? evalue_tag_name(tag) : unknown;
  cli_layout_heading(l, "value 0");
  if (!draw_field(l, 0, 1, CLI_TAG, "tag", name)) return;
  switch (tag) {
    case EVALUE_TAG_TENSOR: draw_tensor(l); break;
    case EVALUE_TAG_STRING: draw_string(l); break;
    case EVALUE_TAG_DOUBLE:
    case EVALUE_TAG_INT: draw_scalar(l, tag); break;
    case EVALUE_TAG_BOOL: draw_bool(l); break;
    default: break;
  }
}
