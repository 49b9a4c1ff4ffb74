/* SPDX-License-Identifier: BSD-3-Clause */
/* `evalue show`: the values of an input as a table for people. */
#include <string.h>

#include "display.h"

/* ---- a first pass: how wide the columns are, and what the title says ---- */

enum { LIST_SIZE = 16 * 13 + 4, WIDEST = 20, BELOW = 7 };

enum { INDEX, KIND, TYPE, SHAPE, DIM_ORDER, BYTES, COLUMN_COUNT };

typedef struct table {
  FILE *stream;
  int widths[COLUMN_COUNT]; /* 0: the column is left out */
  uint64_t values, ancillary;
} table;

/* The texts of a line's columns. */
typedef struct line {
  char cells[COLUMN_COUNT][LIST_SIZE];
} line;

static void format_list(char text[LIST_SIZE], const evalue_tensor *t, bool is_shape) {
  size_t n = 0;
  text[n++] = '[';
  for (size_t d = 0; d < t->ndim; d++) {
    long number = is_shape ? (long)t->sizes[d] : (long)t->dim_order[d];
    n += (size_t)snprintf(text + n, LIST_SIZE - n, "%s%ld", d == 0 ? "" : ", ", number);
  }
  text[n++] = ']';
  text[n] = '\0';
}

static void fill(line *l, uint64_t index, const evalue *value, size_t nbytes) {
  char number[CLI_GROUPED_SIZE];
  memset(l, 0, sizeof *l);
  snprintf(l->cells[INDEX], LIST_SIZE, "%llu", (unsigned long long)index);
  snprintf(l->cells[KIND], LIST_SIZE, "%s", evalue_tag_name(value->tag));
  if (value->tag == EVALUE_TAG_TENSOR) {
    nbytes = value->tensor.nbytes;
    snprintf(l->cells[TYPE], LIST_SIZE, "%s", evalue_scalar_type_name(value->tensor.scalar_type));
    format_list(l->cells[SHAPE], &value->tensor, true);
    if (!evalue_is_row_major(&value->tensor)) format_list(l->cells[DIM_ORDER], &value->tensor, false);
  }
  if (value->tag == EVALUE_TAG_STRING) nbytes = value->string.nbytes;
  snprintf(l->cells[BYTES], LIST_SIZE, "%s", cli_grouped(nbytes, number));
}

static void widen(table *t, const line *l) {
  for (int c = 0; c < COLUMN_COUNT; c++) {
    int width = (int)strlen(l->cells[c]);
    if (width > WIDEST) width = WIDEST; /* a longer one pushes what follows it */
    if (width > t->widths[c]) t->widths[c] = width;
  }
}

/* ---- lines ---- */

static bool is_right_aligned(int column) {
  return column == INDEX || column == BYTES;
}

/* Puts the columns of a line and returns the column where the cursor is. */
static int put_cells(const table *t, const line *l) {
  int column = 0;
  for (int c = 0; c < COLUMN_COUNT; c++) {
    if (t->widths[c] == 0) continue;
    const char *cell = l->cells[c];
    column += fprintf(t->stream, is_right_aligned(c) ? "%s%*s" : "%s%-*s", column == 0 ? "" : "  ", t->widths[c], cell);
  }
  return column;
}

static void put_head(table *t) {
  static const char *const names[] = {"index", "kind", "type", "shape", "dim_order", "bytes"};
  line l;
  memset(&l, 0, sizeof l);
  for (int c = 0; c < COLUMN_COUNT; c++) {
    if (t->widths[c] != 0) snprintf(l.cells[c], LIST_SIZE, "%s", names[c]);
  }
  widen(t, &l);
  put_cells(t, &l);
  fputs("  value\n", t->stream);
}

/* Goes to where a value `width` wide begins: beside the columns if it fits there, else below. Returns that column. */
static int begin_value(const table *t, int column, int width) {
  if (column + 2 + width <= CLI_COLUMNS) {
    fputs("  ", t->stream);
    return column + 2;
  }
  fprintf(t->stream, "\n%*s", BELOW, "");
  return BELOW;
}

/* A string, quoted; of a long one the beginning and its length. Looks at no more of it. */
static void put_string(const table *t, const evalue_string *s, int column) {
  enum { ROOM = CLI_COLUMNS - BELOW, NOTE = 24 };
  char text[4 * ROOM + 3], number[CLI_GROUPED_SIZE];
  size_t looked_at = cli_whole_characters(s->data, s->nbytes, ROOM);
  size_t length = evalue_print_string(s->data, looked_at, text, sizeof text);
  if (looked_at == s->nbytes && length <= ROOM) {
    begin_value(t, column, (int)length);
    fputs(text, t->stream);
    return;
  }
  length = evalue_print_string(s->data, looked_at, text, ROOM - NOTE); /* cut between characters */
  if (length < ROOM - NOTE) text[length - 1] = '\0'; /* not cut: but the string goes on behind the quote */
  begin_value(t, column, ROOM);
  fprintf(t->stream, "%s\xe2\x80\xa6\" (%s bytes)", text, cli_grouped(s->nbytes, number));
}

static void put_tensor(const table *t, const evalue_tensor *tensor, int column) {
  cli_tensor_text text;
  cli_tensor_text_start(&text, tensor);
  cli_tensor_text_draw(&text, t->stream, begin_value(t, column, cli_tensor_text_width(&text)));
}

static void put_value(const table *t, const evalue *value, int column) {
  char number[64];
  switch (value->tag) {
    case EVALUE_TAG_TENSOR: put_tensor(t, &value->tensor, column); break;
    case EVALUE_TAG_STRING: put_string(t, &value->string, column); break;
    case EVALUE_TAG_DOUBLE:
      evalue_print_double(value->double_value, number, sizeof number);
      fprintf(t->stream, "  %s", number);
      break;
    case EVALUE_TAG_INT: fprintf(t->stream, "  %lld", (long long)value->int_value); break;
    case EVALUE_TAG_BOOL: fprintf(t->stream, "  %s", value->bool_value != 0 ? "true" : "false"); break;
    default: fputs("  None", t->stream); break;
  }
}

static void put_line(const table *t, uint64_t index, const evalue *value, size_t nbytes) {
  line l;
  fill(&l, index, value, nbytes);
  int column = put_cells(t, &l);
  put_value(t, value, column);
  fputc('\n', t->stream);
}

/* ---- the table ---- */

/* Reads to the end or the fault: finds widths, counts elements. */
static void look(table *t, cli_reader *reader) {
  evalue_element element;
  evalue value;
  line l;
  while (cli_reader_next_element(reader, &element, &value) == EVALUE_OK) {
    if (element.tag >= EVALUE_TAG_ANCILLARY) t->ancillary++;
    if (element.tag > EVALUE_TAG_BOOL) continue;
    fill(&l, t->values++, &value, element.payload.size);
    widen(t, &l);
  }
}

static void put_title(const table *t, const cli_input *input, const cli_reader *reader) {
  char number[CLI_GROUPED_SIZE];
  uint64_t count = cli_reader_count(reader);
  cli_form form = reader->format.form;
  bool is_good = cli_reader_error(reader)->status == EVALUE_OK;
  fprintf(t->stream, "%s, ", cli_form_name(form));
  if (form == CLI_MESSAGE && !is_good) fprintf(t->stream, "%s of ", cli_grouped(t->values, number));
  fprintf(t->stream, "%s value%s, ", cli_grouped(count, number), cli_plural(count));
  if (form != CLI_MESSAGE && !is_good) fputs("then a fault, ", t->stream);
  if (t->ancillary != 0) {
    fprintf(t->stream, "%s ancillary element%s, ", cli_grouped(t->ancillary, number), cli_plural(t->ancillary));
  }
  fprintf(t->stream, "%s%s byte%s", input->has_more ? "the first " : "", cli_grouped(input->size, number),
          cli_plural(input->size));
  if (form == CLI_MESSAGE) fprintf(t->stream, ", alignment %u", (unsigned)evalue_reader_alignment(&reader->reader));
  fputc('\n', t->stream);
}

static int put_table(table *t, const cli_input *input, const cli_format *format) {
  cli_reader reader;
  evalue_element element;
  evalue value;
  uint64_t index = 0;
  fputc('\n', t->stream);
  put_head(t);
  cli_reader_init(&reader, input, format);
  while (!ferror(t->stream) && cli_reader_next_element(&reader, &element, &value) == EVALUE_OK) {
    if (element.tag <= EVALUE_TAG_BOOL) put_line(t, index++, &value, element.payload.size);
  }
  return cli_reader_finish(&reader);
}

int cli_show_table(FILE *stream, const cli_input *input, const cli_format *format) {
  table t = {.stream = stream};
  cli_reader reader;
  cli_reader_init(&reader, input, format);
  if (cli_reader_error(&reader)->status == EVALUE_OK) {
    look(&t, &reader);
    if (cli_reader_error(&reader)->status == EVALUE_NO_SPACE) return cli_reader_finish(&reader);
    put_title(&t, input, &reader);
    cli_reader_close(&reader); /* the next one needs the memory */
  }
  if (t.widths[INDEX] != 0) return put_table(&t, input, format);
  if (cli_reader_error(&reader)->status != EVALUE_OK) fflush(stream);
  return cli_reader_finish(&reader);
}
