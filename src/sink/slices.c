/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices as the lists that writev and sendmsg take. */
#include "slices.h"

enum { MOST_BYTES = 1 << 30 }; /* of one call: less than any system's limit */

int evalue_slices_fill(struct iovec *list, int most, const evalue_slice *slices, size_t n, evalue_slice_place place) {
  size_t bytes = 0;
  int count = 0;
  for (size_t i = place.i, at = place.at; i < n && count < most && bytes < MOST_BYTES; i++, at = 0) {
    size_t size = slices[i].size - at;
    if (size == 0) continue;
    if (size > MOST_BYTES - bytes) size = MOST_BYTES - bytes;
    union {
      const void *from;
      void *to; /* what the calls ask for, but they only read */
    } start = {(const uint8_t *)slices[i].data + at};
    list[count].iov_base = start.to;
    list[count].iov_len = size;
    bytes += size;
    count++;
  }
  return count;
}

void evalue_slices_advance(const evalue_slice *slices, size_t n, evalue_slice_place *place, size_t nbytes) {
  for (; place->i < n && nbytes > 0 && nbytes >= slices[place->i].size - place->at; place->at = 0) {
    nbytes -= slices[place->i++].size - place->at;
  }
  place->at += nbytes;
}
