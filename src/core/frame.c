/* SPDX-License-Identifier: BSD-3-Clause */
/* One value as the element that it is on the wire: what the writer places, and what two values are compared by. */
#include "internal.h"

void evalue_frame_bytes(evalue_frame *f, uint32_t tag, const void *data, size_t nbytes) {
  f->head[0] = (uint8_t)tag;
  evalue_store_u64(f->head + 1, nbytes);
  f->head_size = EVALUE_ELEMENT_HEADER_SIZE;
  f->pad_size = 0;
  f->data = data;
  f->nbytes = nbytes;
}

/* An element whose payload stands in the head: nbytes, up to 8, low bytes of bits. */
static void frame_bits(evalue_frame *f, uint32_t tag, uint64_t bits, uint32_t nbytes) {
  evalue_frame_bytes(f, tag, NULL, 0);
  f->head[1] = (uint8_t)nbytes;
  evalue_store_u64(f->head + EVALUE_ELEMENT_HEADER_SIZE, bits);
  f->head_size += nbytes;
}

static void frame_tensor(evalue_frame *f, const evalue_tensor *t, uint32_t position, uint32_t alignment) {
  uint32_t meta = EVALUE_TENSOR_META_SIZE((uint32_t)t->ndim);
  evalue_frame_bytes(f, EVALUE_TAG_TENSOR, t->data, t->nbytes);
  evalue_store_u64(f->head + 1, meta + (uint64_t)t->nbytes);
  uint8_t *p = f->head + EVALUE_ELEMENT_HEADER_SIZE;
  *p++ = t->scalar_type;
  *p++ = t->ndim;
  for (uint32_t i = 0; i < t->ndim; i++, p += 4) evalue_store_u32(p, (uint32_t)t->sizes[i]);
  memcpy(p, t->dim_order, t->ndim);
  f->head_size += meta;
  if (t->nbytes != 0) f->pad_size = evalue_pad_size(position + f->head_size, alignment);
}

void evalue_frame_value(evalue_frame *f, const evalue *v, uint32_t position, uint32_t alignment) {
  switch (v->tag) {
    case EVALUE_TAG_TENSOR: frame_tensor(f, &v->tensor, position, alignment); break;
    case EVALUE_TAG_STRING: evalue_frame_bytes(f, v->tag, v->string.data, v->string.nbytes); break;
    case EVALUE_TAG_BOOL: frame_bits(f, v->tag, v->bool_value, 1); break;
    case EVALUE_TAG_INT:
    case EVALUE_TAG_DOUBLE: {
      uint64_t bits;
      EVALUE_COPY(&bits, &v->int_value, sizeof bits); /* the double shares its place */
      frame_bits(f, v->tag, bits, 8);
      break;
    }
    default: evalue_frame_bytes(f, EVALUE_TAG_NONE, NULL, 0); break;
  }
}

/* The encoding is canonical, so values are equal when their elements are (spec, section 9). */
bool evalue_equal(const evalue *a, const evalue *b) {
  evalue_frame f, g;
  if (evalue_check(a) != EVALUE_OK || evalue_check(b) != EVALUE_OK) return false;
  evalue_frame_value(&f, a, 0, 1);
  evalue_frame_value(&g, b, 0, 1);
  if (f.head_size != g.head_size || memcmp(f.head, g.head, f.head_size) != 0 || f.nbytes != g.nbytes) return false;
  return f.nbytes == 0 || memcmp(f.data, g.data, f.nbytes) == 0;
}
