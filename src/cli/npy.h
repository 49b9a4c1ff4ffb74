/* SPDX-License-Identifier: BSD-3-Clause */
/* NumPy's .npy files, as its format document describes them: versions 1.0, 2.0 and 3.0. */
#ifndef EVALUE_CLI_NPY_H
#define EVALUE_CLI_NPY_H

#include "cli.h"

typedef struct cli_npy {
  evalue_tensor tensor;    /* its data lies in the input */
  bool is_big_endian;      /* the data is not in the order of the wire: */
  uint32_t component_size; /* as many bytes each are reversed */
} cli_npy;

/* Reads a whole .npy file. Returns CLI_OK, or CLI_BAD_DATA with a message that says where, what was expected and what
 * was found. */
int cli_npy_read(const cli_input *input, cli_npy *npy);

/* The same, but takes the elements, whatever they are, as a scalar type of the same element size; -1: as they are. */
int cli_npy_read_as(const cli_input *input, int scalar_type, cli_npy *npy);

/* What reading needs: all of a .npy file, nothing of another. */
uint64_t cli_npy_needed(const uint8_t *data, size_t size, const cli_format *format);

enum { CLI_NPY_HEADER_SIZE = 512 };

/* Writes what stands before the data of a tensor in a .npy file, version 1.0, and returns its size: a multiple of 64.
 */
size_t cli_npy_header(const evalue_tensor *tensor, bool is_fortran, char header[CLI_NPY_HEADER_SIZE]);

#endif
