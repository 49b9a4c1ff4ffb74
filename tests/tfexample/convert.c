/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tf.Examples to EValue messages and back, for test_peer.py: `convert decode FEATURE...` or `convert encode
 * FEATURE...`. Records on stdin and stdout have their size before them (4 bytes, little-endian); one on stdout begins
 * with its status (1 byte), and holds the bytes or, after a failure, its sentence.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/tfexample/tfexample.h"
#include "evalue/evalue.h"

enum { MOST = 32, ALIGNMENT = 16 };

typedef struct job {
  evalue_tfexample_feature features[MOST];
  evalue_tfexample converter;
  evalue_tfexample_error error;
  evalue values[MOST];
  size_t count;
  uint8_t *out;
  uint64_t out_size;
} job;

static void give_up(const char *why) {
  fprintf(stderr, "convert: %s\n", why);
  exit(2);
}

/* Reads a record into memory that is exactly as large; NULL at the end. */
static uint8_t *read_record(uint32_t *size) {
  uint8_t head[4];
  if (fread(head, 1, sizeof head, stdin) != sizeof head) return NULL;
  *size = (uint32_t)head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
  uint8_t *data = malloc(*size != 0 ? *size : 1);
  if (data == NULL || fread(data, 1, *size, stdin) != *size) give_up("a record is cut");
  return data;
}

static void write_record(evalue_status status, const void *data, size_t size) {
  uint32_t n = (uint32_t)size + 1;
  uint8_t head[] = {(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16), (uint8_t)(n >> 24), (uint8_t)status};
  fwrite(head, 1, sizeof head, stdout);
  fwrite(data, 1, size, stdout);
}

static evalue_status decode(job *j, const uint8_t *data, size_t size) {
  evalue_status status = evalue_tfexample_decode(&j->converter, data, size, j->values, &j->error);
  if (status != EVALUE_OK) return status;
  if (evalue_message_size(j->values, j->count, ALIGNMENT, &j->out_size) != EVALUE_OK) give_up("bad values");
  j->out = malloc((size_t)j->out_size);
  if (j->out == NULL) give_up("no memory");
  if (evalue_message_encode(j->values, j->count, ALIGNMENT, j->out, (size_t)j->out_size, &j->out_size) != EVALUE_OK) {
    give_up("bad values");
  }
  return EVALUE_OK;
}

static evalue_status encode(job *j, const uint8_t *data, size_t size) {
  size_t n = 0;
  evalue_slice example;
  evalue_status status = evalue_message_decode(data, size, NULL, j->values, MOST, &n, NULL);
  if (status != EVALUE_OK || n != j->count) give_up("bad message");
  status = evalue_tfexample_encode(&j->converter, j->values, &example, &j->error);
  if (status != EVALUE_OK) return status;
  j->out_size = example.size;
  j->out = malloc(example.size);
  if (j->out == NULL) give_up("no memory");
  memcpy(j->out, example.data, example.size);
  return EVALUE_OK;
}

static void convert(job *j, bool is_decode, const uint8_t *data, size_t size) {
  char line[400];
  evalue_status status = is_decode ? decode(j, data, size) : encode(j, data, size);
  if (status == EVALUE_OK) {
    write_record(status, j->out, (size_t)j->out_size);
  } else {
    evalue_tfexample_print_error(&j->error, j->features, j->count, line, sizeof line);
    write_record(status, line, strlen(line));
  }
  free(j->out);
  j->out = NULL;
}

int main(int argc, char **argv) {
  static job j;
  uint32_t size;
  if (argc < 3 || argc - 2 > MOST) give_up("usage: convert decode|encode FEATURE...");
  for (; j.count < (size_t)argc - 2; j.count++) {
    if (evalue_tfexample_feature_parse(&j.features[j.count], argv[j.count + 2], NULL) != EVALUE_OK)
      give_up("bad feature");
  }
  if (evalue_tfexample_init(&j.converter, j.features, j.count, NULL, &j.error) != EVALUE_OK) give_up("bad features");
  for (uint8_t *data; (data = read_record(&size)) != NULL; free(data)) {
    convert(&j, strcmp(argv[1], "decode") == 0, data, size);
  }
  evalue_tfexample_close(&j.converter);
  return 0;
}
