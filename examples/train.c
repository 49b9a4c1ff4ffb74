/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trains a small network on handwritten digits that come from record files: 64 grey values, 32 hidden units, 10 digits.
 *
 *     train FOLDER [EPOCHS]
 *
 * FOLDER has train-*.tfrecord and test.tfrecord; README.md says how they are made. Each record is a message of a
 * tensor, the pixels, uint8 [8, 8], and an Int, the digit. Prints the loss of each epoch, and how many of the test's
 * digits are recognised.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <evalue/dataset.h>
#include <evalue/evalue.h>

enum { PIXELS = 64, HIDDEN = 32, DIGITS = 10, BATCH = 32, BUFFER = 2000 };

static const evalue_schema_value schema[2] = {
    {.tag = EVALUE_TAG_TENSOR, .scalar_type = EVALUE_UINT8, .ndim = 2, .sizes = {8, 8}}, {.tag = EVALUE_TAG_INT}};

/* ---- the examples ---- */

/* A pipeline over record files. */
typedef struct loader {
  evalue_files_dataset files;
  evalue_shuffle_dataset shuffle;
  evalue_decode_dataset decode;
  evalue_batch_dataset batch;
  evalue_prefetch_dataset prefetch;
} loader;

/* A batch as the network wants it: rows of pixels from 0 to 1, and a digit for each. */
typedef struct digits {
  float pixels[BATCH][PIXELS];
  int64_t labels[BATCH];
  int rows;
} digits;

/* Files, shuffled, decoded, in batches, read ahead. Only the end needs a check: a failure comes through. */
static evalue_dataset *load(loader *l, const char *pattern, uint64_t seed) {
  evalue_files_dataset_glob(&l->files, pattern, NULL);
  evalue_shuffle_dataset_init(&l->shuffle, &l->files.dataset, BUFFER, seed, NULL);
  evalue_decode_dataset_init(&l->decode, &l->shuffle.dataset, schema, 2, NULL);
  evalue_batch_dataset_init(&l->batch, &l->decode.dataset, BATCH, NULL);
  evalue_prefetch_dataset_init(&l->prefetch, &l->batch.dataset, NULL);
  return &l->prefetch.dataset;
}

/* The next batch; false at the end of the epoch. */
static bool next(evalue_dataset *dataset, digits *d) {
  evalue_example example;
  evalue_status status = evalue_dataset_next(dataset, &example);
  if (status == EVALUE_END) return false;
  if (status != EVALUE_OK) {
    fprintf(stderr, "%s\n", dataset->error.text);
    exit(1);
  }
  const evalue_tensor *pixels = &example.values[0].tensor; /* uint8 [rows, 8, 8] */
  const evalue_tensor *labels = &example.values[1].tensor; /* int64 [rows] */
  d->rows = pixels->sizes[0];
  for (int i = 0; i < d->rows * PIXELS; i++) {
    d->pixels[i / PIXELS][i % PIXELS] = (float)((const uint8_t *)pixels->data)[i] / 16;
  }
  evalue_tensor_copy(labels, NULL, EVALUE_HOST_ENDIAN, d->labels, sizeof d->labels);
  return true;
}

/* ---- the network ---- */

typedef struct network {
  float first[HIDDEN][PIXELS + 1]; /* the last one is the bias */
  float second[DIGITS][HIDDEN + 1];
} network;

/* A small number, the same ones in each run. */
static float small(uint32_t *x) {
  *x = *x * 1664525 + 1013904223;
  return ((float)(*x >> 8) / (float)(1 << 23) - 1) * 0.1F;
}

static void start(network *n) {
  uint32_t x = 1;
  for (int h = 0; h < HIDDEN; h++) {
    for (int i = 0; i <= PIXELS; i++) n->first[h][i] = small(&x);
  }
  for (int k = 0; k < DIGITS; k++) {
    for (int h = 0; h <= HIDDEN; h++) n->second[k][h] = small(&x);
  }
}

/* The probability of each digit. */
static void predict(const network *n, const float pixels[PIXELS], float hidden[HIDDEN], float out[DIGITS]) {
  float most = -INFINITY, sum = 0;
  for (int h = 0; h < HIDDEN; h++) {
    float s = n->first[h][PIXELS];
    for (int i = 0; i < PIXELS; i++) s += n->first[h][i] * pixels[i];
    hidden[h] = tanhf(s);
  }
  for (int k = 0; k < DIGITS; k++) {
    out[k] = n->second[k][HIDDEN];
    for (int h = 0; h < HIDDEN; h++) out[k] += n->second[k][h] * hidden[h];
    if (out[k] > most) most = out[k];
  }
  for (int k = 0; k < DIGITS; k++) sum += out[k] = expf(out[k] - most);
  for (int k = 0; k < DIGITS; k++) out[k] /= sum;
}

/* Adds one example's gradient to *g; returns its loss. */
static float add_gradient(const network *n, network *g, const float pixels[PIXELS], int64_t label) {
  float hidden[HIDDEN], out[DIGITS];
  predict(n, pixels, hidden, out);
  float loss = -logf(out[label] + 1e-12F);
  out[label] -= 1;
  for (int h = 0; h < HIDDEN; h++) {
    float back = 0;
    for (int k = 0; k < DIGITS; k++) {
      back += out[k] * n->second[k][h];
      g->second[k][h] += out[k] * hidden[h];
    }
    back *= 1 - hidden[h] * hidden[h];
    for (int i = 0; i < PIXELS; i++) g->first[h][i] += back * pixels[i];
    g->first[h][PIXELS] += back;
  }
  for (int k = 0; k < DIGITS; k++) g->second[k][HIDDEN] += out[k];
  return loss;
}

static void step(network *n, const network *g, float rate) {
  for (int h = 0; h < HIDDEN; h++) {
    for (int i = 0; i <= PIXELS; i++) n->first[h][i] -= rate * g->first[h][i];
  }
  for (int k = 0; k < DIGITS; k++) {
    for (int h = 0; h <= HIDDEN; h++) n->second[k][h] -= rate * g->second[k][h];
  }
}

/* One epoch; returns the mean loss. */
static double train(network *n, evalue_dataset *dataset) {
  static const network zero;
  double loss = 0;
  long examples = 0;
  digits d;
  while (next(dataset, &d)) {
    network g = zero;
    for (int row = 0; row < d.rows; row++) {
      if (d.labels[row] < 0 || d.labels[row] >= DIGITS) continue;
      loss += add_gradient(n, &g, d.pixels[row], d.labels[row]);
    }
    step(n, &g, 0.5F / (float)d.rows);
    examples += d.rows;
  }
  return examples != 0 ? loss / (double)examples : 0;
}

/* Counts the digits that are recognised; *of is how many there are. */
static long test(const network *n, evalue_dataset *dataset, long *of) {
  long right = 0;
  digits d;
  for (*of = 0; next(dataset, &d); *of += d.rows) {
    for (int row = 0; row < d.rows; row++) {
      float hidden[HIDDEN], out[DIGITS];
      int best = 0;
      predict(n, d.pixels[row], hidden, out);
      for (int k = 1; k < DIGITS; k++) best = out[k] > out[best] ? k : best;
      if (best == d.labels[row]) right++;
    }
  }
  return right;
}

int main(int count, char **arguments) {
  static network n;
  static loader training, testing;
  char pattern[4096];
  long epochs = count > 2 ? strtol(arguments[2], NULL, 10) : 20, all = 0;
  if (count < 2 || count > 3) {
    fprintf(stderr, "usage: train FOLDER [EPOCHS]\n");
    return 2;
  }
  snprintf(pattern, sizeof pattern, "%s/train-*.tfrecord", arguments[1]);
  evalue_dataset *examples = load(&training, pattern, 42);
  snprintf(pattern, sizeof pattern, "%s/test.tfrecord", arguments[1]);
  evalue_dataset *held_out = load(&testing, pattern, 42);
  start(&n);
  for (long epoch = 1; epoch <= epochs; epoch++) {
    printf("epoch %2ld: loss %.4f\n", epoch, train(&n, examples));
    evalue_dataset_rewind(examples); /* the next epoch has an order of its own */
  }
  long right = test(&n, held_out, &all);
  printf("%ld of %ld digits recognised: %.1f %%\n", right, all, 100.0 * (double)right / (double)(all != 0 ? all : 1));
  evalue_dataset_close(examples);
  evalue_dataset_close(held_out);
  return 0;
}
