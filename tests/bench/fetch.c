/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads every input of a bundle from memory that nothing else looks at, for single_fetch.py to watch: fetch BUNDLE.
 *
 * A bundle is inputs, one after the other: u8 1 for a sequence, 2 for ExecuTorch's Java bytes, 0 for a message, u32
 * size, bytes. Each goes into pages of its own, by read(), which is no load of this program's. What is said of each on
 * stdout: address, size, and then position and size of the bytes that may not be looked at at all.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "evalue/evalue.h"

static evalue values[2048];

static void put_payload(const uint8_t *pages, const void *data, size_t nbytes) {
  if (nbytes != 0) printf(" %zu %zu", (size_t)((const uint8_t *)data - pages), nbytes);
}

static void watch_java(const uint8_t *pages, size_t size) {
  static uint8_t scratch[1 << 16];
  evalue_java_decode(pages, size, NULL, scratch, sizeof scratch, values, NULL, NULL);
  printf("input %p %zu\n", (const void *)pages, size);
}

static void watch(const uint8_t *pages, size_t size, bool is_sequence) {
  uint64_t n = 0;
  evalue_status status = is_sequence ? evalue_sequence_decode(pages, size, NULL, values, 2048, &n, NULL)
                                     : evalue_message_decode(pages, size, NULL, values, 2048, &n, NULL);
  printf("input %p %zu", (const void *)pages, size);
  for (uint64_t i = 0; status == EVALUE_OK && i < n; i++) {
    if (values[i].tag == EVALUE_TAG_TENSOR) put_payload(pages, values[i].tensor.data, values[i].tensor.nbytes);
    if (values[i].tag == EVALUE_TAG_STRING) put_payload(pages, values[i].string.data, values[i].string.nbytes);
  }
  printf("\n");
}

int main(int argc, char **argv) {
  int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
  uint8_t head[5];
  if (fd < 0) return 2;
  while (read(fd, head, sizeof head) == (ssize_t)sizeof head) {
    size_t size = evalue_load_u32(head + 1);
    uint8_t *pages = mmap(NULL, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || read(fd, pages, size) != (ssize_t)size) return 2;
    if (head[0] == 2) watch_java(pages, size); /* never unmapped, so that an address means one input */
    else watch(pages, size, head[0] == 1);
  }
  return 0;
}
