/* SPDX-License-Identifier: BSD-3-Clause */
/* A tensor as nested brackets, like NumPy and PyTorch: logical order, aligned columns, "..." in place of the middle.
 * Touches only the elements that it shows. */
#include <string.h>

#include "display.h"

enum {
  MOST_ELEMENTS = 1000, /* a larger tensor is summarised: */
  EDGE = 3,             /* at most so many at each end of a dimension, */
  MOST_ROWS = 40        /* and at most so many rows */
};

/* ---- what is shown ---- */

/* Chooses from the innermost dimension outwards, so that with many dimensions, too, the product stays small. */
static void choose(cli_tensor_text *text) {
  const evalue_tensor *t = text->tensor;
  bool whole = evalue_tensor_numel(t) <= MOST_ELEMENTS;
  int32_t rows = 1;
  for (size_t d = t->ndim; d-- > 0;) {
    int32_t head = t->sizes[d], tail = 0, edge = EDGE;
    bool is_row = d + 1U == t->ndim;
    while (!is_row && edge > 0 && (head < 2 * edge ? head : 2 * edge) * rows > MOST_ROWS) edge--;
    if (!whole && head > 2 * edge) head = tail = edge;
    if (head == 0) head = 1; /* no room: the first, and dots */
    text->head[d] = head;
    text->tail[d] = tail;
    if (!is_row && !whole) rows *= head + tail;
  }
}

static bool has_dots(const cli_tensor_text *text, size_t d) {
  return text->head[d] + text->tail[d] < text->tensor->sizes[d];
}

/* The i-th shown index of a dimension. */
static int32_t shown_index(const cli_tensor_text *text, size_t d, int32_t i) {
  return i < text->head[d] ? i : text->tensor->sizes[d] - (text->head[d] + text->tail[d] - i);
}

/* ---- elements ---- */

static const uint8_t *element_at(const evalue_tensor *t, int64_t at) {
  return (const uint8_t *)t->data + (size_t)at * evalue_element_size(t->scalar_type);
}

static void format_element(const cli_tensor_text *text, int64_t at, char out[CLI_NUMBER_SIZE]) {
  const evalue_tensor *t = text->tensor;
  if (text->is_real) cli_number_format(&text->style, t->scalar_type, element_at(t, at), out);
  else evalue_print_element(t->scalar_type, element_at(t, at), out, CLI_NUMBER_SIZE);
}

static void learn_style(cli_tensor_text *text, int64_t at) {
  cli_number_style_add(&text->style, text->tensor->scalar_type, element_at(text->tensor, at));
}

static void learn_width(cli_tensor_text *text, int64_t at) {
  char out[CLI_NUMBER_SIZE];
  format_element(text, at, out);
  int width = (int)strlen(out);
  if (width > text->width) text->width = width;
}

/* Visits the shown elements from dimension d on; ndim is at most 16, and so is the depth. */
static void visit(cli_tensor_text *text, size_t d, int64_t at, void (*look)(cli_tensor_text *text, int64_t at)) {
  if (d == text->tensor->ndim) {
    look(text, at);
    return;
  }
  for (int32_t i = 0; i < text->head[d] + text->tail[d]; i++) {
    visit(text, d + 1, at + shown_index(text, d, i) * text->strides[d], look);
  }
}

void cli_tensor_text_start(cli_tensor_text *text, const evalue_tensor *tensor) {
  memset(text, 0, sizeof *text);
  text->tensor = tensor;
  if (evalue_tensor_numel(tensor) <= 0) return;
  /* One number alone needs no column to fit in: it has all its digits. */
  text->is_real = evalue_is_real_type(tensor->scalar_type) && tensor->ndim != 0;
  evalue_tensor_strides(tensor, text->strides);
  choose(text);
  if (text->is_real) {
    visit(text, 0, 0, learn_style);
    cli_number_style_end(&text->style);
  }
  visit(text, 0, 0, learn_width);
}

int cli_tensor_text_width(const cli_tensor_text *text) {
  const evalue_tensor *t = text->tensor;
  if (evalue_tensor_numel(t) <= 0) return 2;
  if (t->ndim == 0) return text->width;
  size_t last = t->ndim - 1U;
  int shown = text->head[last] + text->tail[last];
  int dots = has_dots(text, last) ? 5 : 0;
  return 2 * t->ndim + shown * (text->width + 2) - 2 + dots;
}

/* ---- drawing ---- */

typedef struct pen {
  const cli_tensor_text *text;
  FILE *stream;
  int indent;
  int column;
} pen;

static void put(pen *p, const char *word) {
  fputs(word, p->stream);
  p->column += (int)strlen(word);
}

static void new_line(pen *p, size_t depth) {
  fprintf(p->stream, "\n%*s", p->indent + (int)depth, "");
  p->column = p->indent + (int)depth;
}

/* Ends an entry of dimension d and goes to where the next one, `width` wide, begins. */
static void separate(pen *p, size_t d, int width) {
  size_t ndim = p->text->tensor->ndim;
  put(p, ",");
  if (d + 1 < ndim) {
    if (d + 2 < ndim) fputc('\n', p->stream); /* an empty line between matrices */
    new_line(p, d + 1);
  } else if (p->column + 1 + width + 1 > CLI_COLUMNS) {
    new_line(p, d + 1);
  } else {
    put(p, " ");
  }
}

static void draw(pen *p, size_t d, int64_t at) {
  const cli_tensor_text *text = p->text;
  char out[CLI_NUMBER_SIZE];
  if (d == text->tensor->ndim) {
    format_element(text, at, out);
    int space = text->width - (int)strlen(out);
    fprintf(p->stream, "%*s", space > 0 ? space : 0, "");
    p->column += space > 0 ? space : 0;
    put(p, out);
    return;
  }
  put(p, "[");
  for (int32_t i = 0; i < text->head[d] + text->tail[d]; i++) {
    if (i != 0) separate(p, d, text->width);
    if (i != 0 && i == text->head[d] && has_dots(text, d)) {
      put(p, "...");
      separate(p, d, text->width);
    }
    draw(p, d + 1, at + shown_index(text, d, i) * text->strides[d]);
  }
  if (text->tail[d] == 0 && has_dots(text, d)) {
    separate(p, d, 3);
    put(p, "...");
  }
  put(p, "]");
}

void cli_tensor_text_draw(const cli_tensor_text *text, FILE *stream, int indent) {
  pen p = {text, stream, indent, indent};
  if (evalue_tensor_numel(text->tensor) <= 0) {
    put(&p, "[]");
  } else {
    draw(&p, 0, 0);
  }
}
