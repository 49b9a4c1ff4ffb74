/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files that draw for `show` share: show.c table.c layout.c layout_element.c layout_java.c tensor_text.c
 * number_style.c style.c.
 */
#ifndef EVALUE_CLI_DISPLAY_H
#define EVALUE_CLI_DISPLAY_H

#include "../text/shared.h"
#include "cli.h"

enum {
  CLI_COLUMNS = 100, /* lines are about so long */
  CLI_ROW = 8,       /* bytes in a line of the layout */
  CLI_MOST_ROWS = 4  /* of a payload there; what is left is counted, if it is more than a line */
};

/* ---- style.c: colours, and small texts ---- */

/* What a byte is for. */
typedef enum cli_role { CLI_HEADING, CLI_TAG, CLI_LENGTH, CLI_METADATA, CLI_PAYLOAD, CLI_PAD, CLI_FAULT } cli_role;

typedef enum cli_when { CLI_AUTO, CLI_ALWAYS, CLI_NEVER } cli_when;

/* Says whether to colour a stream: in CLI_AUTO, when it is a terminal that can, and NO_COLOR is not set. */
bool cli_wants_colour(cli_when when, FILE *stream);

/* The escape sequences that begin and end a role; empty without colour. */
const char *cli_colour_begin(bool colour, cli_role role);
const char *cli_colour_end(bool colour);

enum { CLI_GROUPED_SIZE = 32 };

/* Writes a number with commas between its thousands; returns text. */
const char *cli_grouped(uint64_t number, char text[CLI_GROUPED_SIZE]);

/* "s" for any number but one. */
const char *cli_plural(uint64_t number);

/* The largest size up to `most` that cuts no character of a string of `size` bytes. */
size_t cli_whole_characters(const void *data, size_t size, size_t most);

/* Writes the index of the k-th element in memory of a tensor that has elements, like "[0, 2]"; nothing for a tensor
 * without dimensions. */
enum { CLI_INDEX_SIZE = EVALUE_MAX_NDIM * 12 + 2 };
void cli_format_index(const evalue_tensor *tensor, uint64_t k, char text[CLI_INDEX_SIZE]);

/* ---- number_style.c: numbers of one tensor, uniformly ---- */

enum { CLI_NUMBER_SIZE = 96 }; /* holds any number that is written here */

/* How the numbers of a tensor are written. All zero: none was looked at yet. */
typedef struct cli_number_style {
  bool any;              /* is there a finite number but zero? */
  int largest, smallest; /* decimal exponents */
  int decimals;          /* most digits after the point that one of them has */
  int digits;            /* most digits that one of them has in scientific notation */
  bool scientific;       /* decided by cli_number_style_end */
} cli_number_style;

/* Looks at an element of a floating-point or complex type. */
void cli_number_style_add(cli_number_style *style, uint32_t scalar_type, const uint8_t *element);

/* Decides, once all are seen. */
void cli_number_style_end(cli_number_style *style);

/* Writes an element in the style. */
void cli_number_format(const cli_number_style *style, uint32_t scalar_type, const uint8_t *element,
                       char out[CLI_NUMBER_SIZE]);

/* ---- tensor_text.c: a tensor as nested brackets ---- */

/* A tensor that is about to be drawn. */
typedef struct cli_tensor_text {
  const evalue_tensor *tensor;
  int64_t strides[EVALUE_MAX_NDIM];
  int32_t head[EVALUE_MAX_NDIM]; /* as many are shown along a dimension, first */
  int32_t tail[EVALUE_MAX_NDIM]; /* and last; if they are fewer than there are, "..." stands between */
  cli_number_style style;
  bool is_real; /* numbers that may have a point */
  int width;    /* of an element */
} cli_tensor_text;

/* Looks at the elements that will be shown: at most 1000. */
void cli_tensor_text_start(cli_tensor_text *text, const evalue_tensor *tensor);

/* The columns that it takes when no row is broken. */
int cli_tensor_text_width(const cli_tensor_text *text);

/* Draws it; the first line starts where the cursor is, at column `indent`, and others are indented. No newline at the
 * end. */
void cli_tensor_text_draw(const cli_tensor_text *text, FILE *stream, int indent);

/* ---- layout_element.c: the bytes of one element ---- */

/* A line of the drawing. */
typedef struct cli_layout_row {
  size_t position, nbytes;
  cli_role role;
  char field[40];
  char meaning[400];
} cli_layout_row;

typedef struct cli_layout {
  FILE *stream;
  const uint8_t *data;
  size_t size;
  size_t end; /* of the body, as far as it is there */
  uint32_t alignment;
  int offset_width;
  bool colour;
  bool is_cut;               /* the input is a beginning: an element may go past the end */
  const evalue_error *fault; /* the input's; status EVALUE_OK when there is none */
  bool marked;               /* the fault has been drawn */
  cli_layout_row faulty;     /* its row */
  unsigned rows_after;       /* drawn since then */
  size_t drawn;              /* the bytes up to here, but for those that were only counted */
} cli_layout;

/* Draws nbytes bytes at a position, as far as they are there, and the fault's mark under it. False when the fault is in
 * these bytes. */
bool cli_layout_draw(cli_layout *layout, const cli_layout_row *row);
bool cli_layout_row_at(cli_layout *layout, size_t position, size_t nbytes, cli_role role, const char *field,
                       const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Draws a line without bytes, under `field` and `meaning`. */
void cli_layout_note(cli_layout *layout, const char *bytes, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Draws a heading. */
void cli_layout_heading(cli_layout *layout, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Draws bytes without structure: the first few rows, and the row of a fault. False when the fault is in them. */
bool cli_layout_bytes(cli_layout *layout, size_t position, size_t nbytes, cli_role role, const char *field);

/* Of so many bytes of data, how many are drawn: the first few rows, or all when only one row more is there. */
size_t cli_layout_shown(size_t available);

/* Draws the beginning of a tensor's data, of which `available` bytes lie at a position. What its numbers are is taken
 * from t->data, of which cli_layout_shown(available) bytes have to be there. False when the fault is in them. */
bool cli_layout_data(cli_layout *layout, const evalue_tensor *t, size_t position, size_t available);

/*
 * Draws the element at a position, and its heading; at the end, nothing. index is that of the value that it is or
 * belongs to. is_good says that the reader has accepted it; of another, what was read before its fault was noticed is
 * drawn. Returns the position after it; `position` itself when nothing can follow.
 */
size_t cli_layout_element(cli_layout *layout, size_t position, uint64_t index, bool is_good);

/* ---- layout_java.c: ExecuTorch's Java bytes ---- */

/* Draws the one value, as far as it was read. */
void cli_layout_java(cli_layout *layout);

#endif
