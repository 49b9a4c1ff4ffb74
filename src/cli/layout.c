/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `evalue show --layout`: every byte of an input with its field and meaning. The input is read twice: first to find its
 * fault, which is then marked where it is also when it is noticed later; then to draw.
 */
#include <stdarg.h>
#include <string.h>

#include "display.h"

enum { HEX_WIDTH = 3 * CLI_ROW - 1, FIELD_WIDTH = 11 };

/* ---- lines ---- */

/* Draws up to a row's number of bytes, which are there; field and meaning beside the first of them. */
static void draw_line(const cli_layout *l, const cli_layout_row *row, size_t position, size_t n, bool is_first) {
  const char *begin = cli_colour_begin(l->colour, row->role), *end = cli_colour_end(l->colour);
  char hex[3 * CLI_ROW + 1] = "";
  for (size_t i = 0; i < n; i++) snprintf(hex + 3 * i, 4, i + 1 < n ? "%02x " : "%02x", l->data[position + i]);
  bool has_text = is_first && (row->field[0] != '\0' || row->meaning[0] != '\0');
  fprintf(l->stream, "%s%*zu%s  %s%-*s", cli_colour_begin(l->colour, CLI_PAD), l->offset_width, position, end, begin,
          has_text ? HEX_WIDTH : 0, hex);
  if (has_text) fprintf(l->stream, "  %-*s%s  %s\n", FIELD_WIDTH, row->field, end, row->meaning);
  else fprintf(l->stream, "%s\n", end);
}

/* The fault in words; its place is drawn. */
static void format_fault(const cli_layout *l, char *text, size_t capacity) {
  char what[400];
  evalue_print_explanation_of(l->fault, l->size, what, sizeof what);
  snprintf(text, capacity, "%s: %s", evalue_status_name(l->fault->status), what);
}

/* Draws the mark under n bytes at a position, where the fault is. */
static void draw_mark(cli_layout *l, size_t position, size_t n) {
  char text[440], carets[3 * CLI_ROW];
  const evalue_error *fault = l->fault;
  const char *begin = cli_colour_begin(l->colour, CLI_FAULT), *end = cli_colour_end(l->colour);
  size_t skip = (size_t)fault->position - position;
  bool is_one_byte = fault->field == EVALUE_FIELD_PAD || fault->field == EVALUE_FIELD_DIM_ORDER;
  size_t marked = is_one_byte || n <= skip ? 1 : n - skip;
  for (size_t i = 0; i < marked; i++) memcpy(carets + 3 * i, "^^ ", 3); /* under the bytes, not between them */
  carets[3 * marked - 1] = '\0';
  int indent = l->offset_width + 2;
  fprintf(l->stream, "%*s%s%s%s\n", indent + (int)(3 * skip), "", begin, carets, end);
  format_fault(l, text, sizeof text);
  fprintf(l->stream, "%*s%s%s%s\n", indent, "", begin, text, end);
}

static bool is_faulty(const cli_layout *l, size_t position, size_t n) {
  return l->fault->status != EVALUE_OK && l->fault->position >= position &&
         l->fault->position - position < (n != 0 ? n : 1);
}

bool cli_layout_draw(cli_layout *l, const cli_layout_row *row) {
  bool faulty = false;
  size_t there = row->position < l->size ? l->size - row->position : 0;
  size_t nbytes = row->nbytes < there ? row->nbytes : there;
  size_t at = 0;
  do {
    size_t n = nbytes - at < CLI_ROW ? nbytes - at : CLI_ROW;
    draw_line(l, row, row->position + at, n, at == 0);
    l->rows_after++;
    if (l->drawn < row->position + at + n) l->drawn = row->position + at + n;
    if (!l->marked && is_faulty(l, row->position + at, n)) {
      draw_mark(l, row->position + at, n);
      faulty = l->marked = true;
      l->faulty = *row;
      l->faulty.position += at;
      l->faulty.nbytes = n;
      l->rows_after = 0;
    }
    at += CLI_ROW;
  } while (at < nbytes && !faulty);
  return !faulty;
}

bool cli_layout_row_at(cli_layout *l, size_t position, size_t nbytes, cli_role role, const char *field,
                       const char *format, ...) {
  cli_layout_row row = {.position = position, .nbytes = nbytes, .role = role};
  va_list list;
  snprintf(row.field, sizeof row.field, "%s", field);
  va_start(list, format);
  vsnprintf(row.meaning, sizeof row.meaning, format, list);
  va_end(list);
  return cli_layout_draw(l, &row);
}

void cli_layout_note(cli_layout *l, const char *bytes, const char *field, const char *format, ...) {
  char text[400];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  fprintf(l->stream, "%*s  %-*s  %-*s  %s\n", l->offset_width, "", HEX_WIDTH, bytes, FIELD_WIDTH, field, text);
}

void cli_layout_heading(cli_layout *l, const char *format, ...) {
  char text[400];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  fprintf(l->stream, "%*s%s%s%s\n", l->offset_width + 2, "", cli_colour_begin(l->colour, CLI_HEADING), text,
          cli_colour_end(l->colour));
}

/* ---- bytes without structure ---- */

/* Draws one row of text; returns how many bytes it has, 0 when the fault is in it. Characters are not cut between rows.
 */
static size_t draw_text_row(cli_layout *l, size_t position, size_t nbytes, cli_role role, const char *field) {
  char text[8 * CLI_ROW];
  const uint8_t *p = l->data + position;
  size_t n = cli_whole_characters(p, nbytes, CLI_ROW);
  if (role == CLI_PAD) text[0] = '\0';
  else evalue_print_string(p, n, text, sizeof text);
  return cli_layout_row_at(l, position, n, role, field, "%s", text) ? n : 0;
}

/* Draws bytes that there are too many of: as many, or in place of one line themselves. False when the fault is in them.
 */
static bool draw_rest(cli_layout *l, size_t position, size_t nbytes, cli_role role) {
  char number[CLI_GROUPED_SIZE];
  size_t end = position + nbytes;
  if (nbytes > CLI_ROW) {
    cli_layout_note(l, "...", "", "%s more bytes", cli_grouped(nbytes, number));
    return true;
  }
  while (position < end) {
    size_t n = draw_text_row(l, position, end - position, role, "");
    if (n == 0) return false;
    position += n;
  }
  return true;
}

bool cli_layout_bytes(cli_layout *l, size_t position, size_t nbytes, cli_role role, const char *field) {
  size_t end = position + nbytes;
  int most = role == CLI_PAD ? 0 : CLI_MOST_ROWS;
  for (int i = 0; i < most && position < end; i++) {
    size_t n = draw_text_row(l, position, end - position, role, i == 0 ? field : "");
    if (n == 0) return false;
    position += n;
  }
  if (l->marked || position >= end || !is_faulty(l, position, end - position)) {
    return draw_rest(l, position, end - position, role);
  }
  size_t at = (size_t)l->fault->position;
  draw_rest(l, position, at - position, role);
  return draw_text_row(l, at, end - at, role, field) != 0;
}

size_t cli_layout_shown(size_t available) {
  return available <= CLI_ROW * (CLI_MOST_ROWS + 1) ? available : CLI_ROW * CLI_MOST_ROWS;
}

/* ---- the header ---- */

typedef struct header_field {
  uint8_t position, nbytes;
  const char *name;
} header_field;

static void format_header_field(const cli_layout *l, const header_field *field, char *text, size_t capacity) {
  const uint8_t *p = l->data + field->position;
  size_t there = l->size > field->position ? l->size - field->position : 0;
  if (there < field->nbytes) {
    snprintf(text, capacity, "%zu of %u bytes", there, (unsigned)field->nbytes);
    return;
  }
  uint64_t number = field->nbytes == 8 ? evalue_load_u64(p) : p[0];
  unsigned long long shown = number;
  if (field->nbytes == 4) {
    evalue_print_string(p, 4, text, capacity);
  } else if (field->position == 6 && number <= 12) {
    snprintf(text, capacity, "2^%llu = %u: tensor data begins at multiples of it", shown, 1U << number);
  } else if (field->position == 7 && number == 0) {
    snprintf(text, capacity, "none");
  } else if (field->position == 8) {
    snprintf(text, capacity, "%llu: the bytes after this header", shown);
  } else if (field->position == 16) {
    snprintf(text, capacity, "%llu value%s", shown, cli_plural(number));
  } else {
    snprintf(text, capacity, "%llu", shown);
  }
}

/* Draws the header as far as it is there and, when the reader has refused it, good; false when nothing can follow. */
static bool draw_header(cli_layout *l, bool is_good) {
  static const header_field fields[] = {{0, 4, "magic"}, {4, 1, "major"},       {5, 1, "minor"}, {6, 1, "alignment"},
                                        {7, 1, "flags"}, {8, 8, "body_length"}, {16, 8, "count"}};
  cli_layout_heading(l, "header");
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    char text[120];
    const header_field *field = &fields[i];
    if (field->position >= l->size && l->marked) return false;
    format_header_field(l, field, text, sizeof text);
    cli_role role = field->nbytes == 8 ? CLI_LENGTH : CLI_METADATA;
    bool goes_on = cli_layout_row_at(l, field->position, field->nbytes, role, field->name, "%s", text);
    if (!goes_on && !is_good && !l->is_cut) return false;
  }
  return l->size >= EVALUE_HEADER_SIZE;
}

/* ---- the walk ---- */

/* Draws what the reader accepts, and of the next element what it has looked at. */
static void draw_read(cli_layout *l, const cli_input *input, const cli_format *format) {
  cli_reader reader;
  evalue_element element;
  uint64_t index = 0;
  size_t next = format->form == CLI_MESSAGE ? EVALUE_HEADER_SIZE : 0;
  cli_reader_init(&reader, input, format);
  while (!ferror(l->stream) && cli_reader_next_element(&reader, &element, NULL) == EVALUE_OK) {
    cli_layout_element(l, (size_t)element.position, index, true);
    next = (size_t)element.position + element.raw.size;
    if (element.tag <= EVALUE_TAG_BOOL) index++;
  }
  if (cli_reader_error(&reader)->status != EVALUE_OK) cli_layout_element(l, next, index, false);
}

/* Draws the body of a message that has not arrived whole; a reader does not begin with it. */
static void draw_cut(cli_layout *l) {
  size_t position = EVALUE_HEADER_SIZE, next;
  uint64_t index = 0;
  for (; position < l->end && !ferror(l->stream); position = next) {
    uint32_t tag = l->data[position];
    next = cli_layout_element(l, position, index, false);
    if (next == position) break;
    if (tag <= EVALUE_TAG_BOOL) index++;
  }
}

/* Says whether the fault stopped the reader: others are noticed at the end. */
static bool has_stopped_early(const evalue_error *fault) {
  return fault->status != EVALUE_OK && fault->status != EVALUE_TRUNCATED && fault->fault != EVALUE_FAULT_COUNT_WRONG &&
         fault->fault != EVALUE_FAULT_TRAILING_BYTES;
}

/* Says whether an input that is truncated may need more than its fault says. */
static bool says_less_than_all(const evalue_error *fault) {
  bool is_java_head = fault->fault == EVALUE_FAULT_FIELD_SHORT &&
                      (fault->field == EVALUE_FIELD_LENGTH || fault->field == EVALUE_FIELD_SCALAR_TYPE ||
                       fault->field == EVALUE_FIELD_NDIM || fault->field == EVALUE_FIELD_SIZE);
  return fault->fault == EVALUE_FAULT_ELEMENT_SHORT || fault->fault == EVALUE_FAULT_HEADER_SHORT ||
         fault->fault == EVALUE_FAULT_NO_VALUE || is_java_head;
}

/* Draws what is after the end: too much, or nothing where there should be something; or says that it was not reached.
 */
static void draw_tail(cli_layout *l) {
  char number[CLI_GROUPED_SIZE];
  const evalue_error *fault = l->fault;
  bool is_allowed = fault->status == EVALUE_OK && l->end < l->size;
  if (fault->fault == EVALUE_FAULT_TRAILING_BYTES || is_allowed) {
    cli_layout_heading(l, is_allowed ? "after the end: allowed" : "after the end");
    cli_role role = is_allowed ? CLI_PAYLOAD : CLI_FAULT;
    cli_layout_bytes(l, l->end, l->size - l->end, role, "trailing");
    if (!is_allowed) draw_rest(l, l->drawn, l->size - l->drawn, role);
  }
  if (fault->fault == EVALUE_FAULT_FIELD_SHORT && l->drawn < l->size) {
    draw_rest(l, l->drawn, l->size - l->drawn, CLI_PAYLOAD); /* of the value that is cut */
  }
  if (fault->status == EVALUE_TRUNCATED && fault->needed > l->size) {
    uint64_t missing = fault->needed - l->size;
    const char *least = says_less_than_all(fault) ? "at least " : "";
    cli_layout_note(l, "(the input ends)", "missing", "%s%s byte%s", least, cli_grouped(missing, number),
                    cli_plural(missing));
  }
  if (has_stopped_early(fault) && l->drawn < l->size) {
    uint64_t rest = l->size - l->drawn;
    cli_layout_note(l, "...", "", "%s more byte%s: nothing after this was read", cli_grouped(rest, number),
                    cli_plural(rest));
  }
}

/* Draws the fault where it was not drawn yet, and again where it has scrolled away. */
static void draw_fault(cli_layout *l) {
  enum { FAR = 10 };
  if (l->fault->status == EVALUE_OK) return;
  if (!l->marked) {
    cli_layout_row_at(l, (size_t)l->fault->position, 1, CLI_FAULT, evalue_field_name(l->fault->field), "%s", "");
  } else if (l->rows_after > FAR) {
    cli_layout_row row = l->faulty;
    l->marked = false;
    cli_layout_heading(l, "the fault");
    cli_layout_draw(l, &row);
  }
}

/* ---- the drawing ---- */

static int width_of(uint64_t number) {
  int width = snprintf(NULL, 0, "%llu", (unsigned long long)number);
  return width > 6 ? width : 6; /* "offset" */
}

/* Fills in what the header says about the body; of a header that is not complete, nothing counts. */
static void look_at_header(cli_layout *l) {
  if (l->size < EVALUE_HEADER_SIZE) return;
  uint64_t body = evalue_load_u64(l->data + 8);
  if (body < l->size - EVALUE_HEADER_SIZE) l->end = EVALUE_HEADER_SIZE + (size_t)body;
  uint32_t logarithm = evalue_load_u8(l->data + 6);
  if (logarithm <= 12) l->alignment = 1U << logarithm;
}

static void draw_title(const cli_layout *l, const cli_input *input, cli_form form) {
  char number[CLI_GROUPED_SIZE];
  const char *begin = cli_colour_begin(l->colour, CLI_PAD), *end = cli_colour_end(l->colour);
  fprintf(l->stream, "%s, %s%s byte%s\n\n", cli_form_name(form), input->has_more ? "the first " : "",
          cli_grouped(l->size, number), cli_plural(l->size));
  fprintf(l->stream, "%s%*s  %-*s  %-*s  %s%s\n", begin, l->offset_width, "offset", HEX_WIDTH, "bytes", FIELD_WIDTH,
          "field", "meaning", end);
}

/* Draws everything but what is after the end. */
static void draw_values(cli_layout *l, const cli_input *input, const cli_format *format, bool header_is_good) {
  if (format->form == CLI_JAVA) cli_layout_java(l);
  else if (format->form == CLI_SEQUENCE) draw_read(l, input, format);
  else if (draw_header(l, header_is_good)) {
    if (header_is_good) draw_read(l, input, format);
    else draw_cut(l);
  }
}

int cli_show_layout(FILE *stream, const cli_input *input, const cli_format *format, bool colour) {
  cli_reader reader;
  cli_reader_init(&reader, input, format);
  bool header_is_good = cli_reader_error(&reader)->status == EVALUE_OK;
  while (cli_reader_next(&reader, NULL) == EVALUE_OK) {
  }
  const evalue_error *fault = cli_reader_error(&reader);
  cli_layout l = {.stream = stream, .data = input->data, .size = input->size, .end = input->size, .alignment = 1};
  l.colour = colour;
  l.offset_width = width_of(input->size);
  l.fault = fault;
  l.is_cut = fault->status == EVALUE_TRUNCATED;
  if (format->form == CLI_MESSAGE) look_at_header(&l);
  if (fault->fault == EVALUE_FAULT_TRAILING_BYTES) l.end = (size_t)fault->position;
  if (format->form == CLI_JAVA && fault->status == EVALUE_OK) l.end = (size_t)cli_reader_position(&reader);
  draw_title(&l, input, format->form);
  draw_values(&l, input, format, header_is_good);
  draw_tail(&l);
  draw_fault(&l);
  if (fault->status != EVALUE_OK) fflush(stream);
  return cli_reader_finish(&reader);
}
