/* SPDX-License-Identifier: BSD-3-Clause */
/* Characters in bytes: UTF-8. */
#include "utf8.h"

#include "evalue/inline.h"

/* Unicode, table 3-7. */
size_t evalue_utf8_decode(const uint8_t *p, size_t left, uint32_t *code) {
  uint32_t lead = evalue_load_u8(p);
  size_t size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (size == 0 || size > left) return 0;
  uint32_t c = size == 1 ? lead : lead & (0x7fU >> size);
  for (size_t i = 1; i < size; i++) {
    uint32_t next = evalue_load_u8(p + i);
    if ((next & 0xc0) != 0x80) return 0;
    c = c << 6 | (next & 0x3f);
  }
  bool overlong = (size == 3 && c < 0x800) || (size == 4 && c < 0x10000);
  if (overlong || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return 0;
  *code = c;
  return size;
}

bool evalue_is_control(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || (c >= 0x200e && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

size_t evalue_utf8_prefix(const uint8_t *bytes, size_t nbytes) {
  size_t i = 0;
  uint32_t code;
  while (i < nbytes) {
    uint64_t eight = 0;
    if (nbytes - i >= sizeof eight) EVALUE_COPY(&eight, bytes + i, sizeof eight);
    if (nbytes - i >= sizeof eight && (eight & UINT64_C(0x8080808080808080)) == 0) { /* ASCII: most text is */
      i += sizeof eight;
      continue;
    }
    size_t size = evalue_utf8_decode(bytes + i, nbytes - i, &code);
    if (size == 0) break;
    i += size;
  }
  return i;
}
