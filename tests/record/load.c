/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For test_memory.py: makes many GiB of records out of few, and loads them in little memory.
 *
 *     load block FILE COUNT NUMEL              writes COUNT records: a tensor, float32 [NUMEL], and a label, an Int
 *     load sparse FILE COUNT NUMEL             the same with zeros in the tensors, which are holes in the file
 *     load pour FILE TIMES FIFO                writes the bytes of a file so many times into a pipe
 *     load read FILE                           reads records
 *     load examples BUFFER BATCH AHEAD FILES   shuffled, decoded, in batches, and, where AHEAD is not 0, read ahead
 *
 * FILES is a pattern. Labels are 0, 1, 2, ...; all numbers of a tensor are its label's. Reading prints how many records
 * came, the sum of their labels and of the squares of those, and the most memory that the process has had, in KiB.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "evalue/dataset.h"
#include "evalue/evalue.h"

typedef struct totals {
  uint64_t records, labels, squares;
} totals;

static void check(bool is_good, const char *why) {
  if (is_good) return;
  perror(why);
  exit(2);
}

static uint64_t number(const char *text) {
  char *end;
  uint64_t n = strtoull(text, &end, 10);
  check(*text != '\0' && *end == '\0', "a number");
  return n;
}

/* ---- making ---- */

static const float *hole; /* the data of a tensor that goes past instead of out; NULL: none */
static size_t hole_size;

static int64_t put(void *context, const void *data, size_t nbytes) {
  int fd = *(const int *)context;
  const char *first = data, *zeros = (const char *)hole;
  bool is_hole = zeros != NULL && first >= zeros && first < zeros + hole_size;
  if (!is_hole) return write(fd, data, nbytes);
  return lseek(fd, (off_t)nbytes, SEEK_CUR) < 0 ? -1 : (int64_t)nbytes;
}

static void make(const char *path, uint64_t count, uint64_t numel, bool is_sparse) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  int32_t sizes[1] = {(int32_t)numel};
  hole_size = (size_t)numel * sizeof(float);
  /* Zeros that are never written take no memory, however many they are. */
  float *numbers = mmap(NULL, hole_size, PROT_READ | (is_sparse ? 0 : PROT_WRITE),
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  evalue_callback_sink sink;
  evalue_record_writer w;
  evalue_tensor t;
  check(fd >= 0 && numbers != MAP_FAILED, path);
  hole = is_sparse ? numbers : NULL;
  check(evalue_tensor_init(&t, EVALUE_FLOAT32, 1, sizes, numbers, hole_size) == EVALUE_OK, "tensor");
  check(evalue_callback_sink_init(&sink, put, &fd, NULL) == EVALUE_OK, "sink");
  check(evalue_record_writer_init(&w, &sink.sink, NULL) == EVALUE_OK, "writer");
  for (uint64_t label = 0; label < count; label++) {
    const evalue example[2] = {evalue_from_tensor(&t), evalue_from_int((int64_t)label)};
    for (uint64_t i = 0; i < numel && !is_sparse; i++) numbers[i] = (float)label;
    check(evalue_record_writer_put(&w, example, 2, NULL) == EVALUE_OK, "record");
  }
  check(evalue_record_writer_close(&w) == EVALUE_OK && evalue_sink_close(&sink.sink) == EVALUE_OK, "closing");
  check(close(fd) == 0, path);
  munmap(numbers, hole_size);
}

/* The bytes never change, so the pipe may refer to them: they are copied just once, by who reads them. */
static void pour(const char *path, uint64_t times, const char *fifo) {
  enum { PIPE = 1 << 20 };
  int fd = open(path, O_RDONLY), to = open(fifo, O_WRONLY);
  struct stat file;
  void *bytes;
  check(fd >= 0 && to >= 0 && fstat(fd, &file) == 0, fifo);
  size_t nbytes = (size_t)file.st_size, got = 0;
  check(posix_memalign(&bytes, 4096, nbytes) == 0, "memory");
  for (ssize_t some = 1; some > 0; got += (size_t)some) some = read(fd, (char *)bytes + got, nbytes - got);
  check(got == nbytes, path);
  fcntl(to, F_SETPIPE_SZ, PIPE); /* faster, where it may be so large */
  for (uint64_t i = 0; i < times; i++) {
    struct iovec left = {bytes, nbytes};
    while (left.iov_len != 0) {
      ssize_t some = vmsplice(to, &left, 1, 0);
      check(some > 0, fifo);
      left.iov_base = (char *)left.iov_base + some;
      left.iov_len -= (size_t)some;
    }
  }
  close(to);
  close(fd);
  free(bytes);
}

/* ---- reading ---- */

static void add(totals *sum, int64_t label, const float *numbers, size_t numel, float expected) {
  if (numel == 0 || numbers[0] != expected || numbers[numel - 1] != expected) {
    fprintf(stderr, "label %" PRId64 " has other numbers: %g, %g\n", label, (double)numbers[0],
            (double)numbers[numel - 1]);
    exit(2);
  }
  sum->records++;
  sum->labels += (uint64_t)label;
  sum->squares += (uint64_t)label * (uint64_t)label;
}

static void tell(const totals *sum) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  long peak = 0;
  check(status != NULL, "/proc/self/status");
  while (fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, "VmHWM:", 6) == 0) peak = strtol(line + 6, NULL, 10);
  }
  fclose(status);
  printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %ld\n", sum->records, sum->labels, sum->squares, peak);
}

/* Says what has failed; 1, for the exit status. */
static int tell_failure(evalue_status status, int number, const char *text) {
  printf("%s, errno %d, %s\n", evalue_status_name((int32_t)status), number, text);
  return 1;
}

static int read_records(const char *path) {
  evalue_record_reader r;
  evalue values[2];
  uint64_t n;
  totals sum = {0};
  evalue_status status = evalue_record_reader_open(&r, path, NULL);
  if (status != EVALUE_OK) return tell_failure(status, r.system_error, "opening");
  while ((status = evalue_record_reader_next_values(&r, values, 2, &n)) == EVALUE_OK) {
    const evalue_tensor *t = &values[0].tensor;
    size_t numel = (size_t)t->sizes[0];
    const float *numbers = t->data;
    bool is_hole = numel != 0 && numbers[0] == 0;
    add(&sum, values[1].int_value, numbers, numel, is_hole ? 0 : (float)values[1].int_value);
  }
  if (status != EVALUE_END) return tell_failure(status, r.system_error, "reading");
  evalue_record_reader_close(&r);
  tell(&sum);
  return 0;
}

static void add_batch(totals *sum, const evalue *values) {
  const evalue_tensor *t = &values[0].tensor;
  const int64_t *labels = values[1].tensor.data;
  size_t numel = (size_t)t->sizes[1];
  const float *row = t->data;
  for (int32_t i = 0; i < t->sizes[0]; i++, row += numel) {
    bool is_hole = numel != 0 && row[0] == 0;
    add(sum, labels[i], row, numel, is_hole ? 0 : (float)labels[i]);
  }
}

static int load(uint64_t buffer, uint64_t rows, bool is_ahead, const char *pattern) {
  static const evalue_schema_value schema[2] = {
      {.tag = EVALUE_TAG_TENSOR, .scalar_type = EVALUE_FLOAT32, .ndim = 1, .sizes = {EVALUE_ANY_SIZE}},
      {.tag = EVALUE_TAG_INT}};
  const evalue_prefetch_options ahead = {.examples = 2};
  evalue_files_dataset files;
  evalue_shuffle_dataset shuffle;
  evalue_decode_dataset decode;
  evalue_batch_dataset batch;
  evalue_prefetch_dataset prefetch;
  evalue_dataset *end = &batch.dataset;
  evalue_example example;
  totals sum = {0};
  evalue_files_dataset_glob(&files, pattern, NULL);
  evalue_shuffle_dataset_init(&shuffle, &files.dataset, buffer, 42, NULL);
  evalue_decode_dataset_init(&decode, &shuffle.dataset, schema, 2, NULL);
  evalue_batch_dataset_init(&batch, &decode.dataset, rows, NULL);
  if (is_ahead) {
    evalue_prefetch_dataset_init(&prefetch, &batch.dataset, &ahead);
    end = &prefetch.dataset;
  }
  while (evalue_dataset_next(end, &example) == EVALUE_OK) add_batch(&sum, example.values);
  int result = 0;
  if (end->status == EVALUE_END) tell(&sum);
  else result = tell_failure((evalue_status)end->status, end->error.system_error, end->error.text);
  check(evalue_dataset_close(end) == EVALUE_OK, "closing");
  return result;
}

int main(int count, char **arguments) {
  const char *what = count > 2 ? arguments[1] : "";
  if (count == 5 && (strcmp(what, "block") == 0 || strcmp(what, "sparse") == 0)) {
    make(arguments[2], number(arguments[3]), number(arguments[4]), what[0] == 's');
    return 0;
  }
  if (count == 5 && strcmp(what, "pour") == 0) {
    pour(arguments[2], number(arguments[3]), arguments[4]);
    return 0;
  }
  if (count == 3 && strcmp(what, "read") == 0) return read_records(arguments[2]);
  if (count == 6 && strcmp(what, "examples") == 0) {
    return load(number(arguments[2]), number(arguments[3]), number(arguments[4]) != 0, arguments[5]);
  }
  fprintf(stderr, "usage: see load.c\n");
  return 2;
}
