/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and system calls, so that nothing else deals with short reads, signals, and files that cannot be locked. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record_internal.h"

_Static_assert(sizeof(off_t) >= 8, "files may be larger than 2 GiB: compile with -D_FILE_OFFSET_BITS=64");

/* ---- memory ---- */

void *evalue_record_allocate(size_t nbytes) {
  void *memory = NULL;
  int error = posix_memalign(&memory, EVALUE_RECORD_ALIGNMENT, nbytes != 0 ? nbytes : 1);
  if (error == 0) return memory;
  errno = error;
  return NULL;
}

bool evalue_record_grow(void **memory, size_t *capacity, size_t used, uint64_t needed, size_t size) {
  if (needed <= *capacity) return true;
  uint64_t doubled = (uint64_t)*capacity * 2;
  uint64_t count = needed > doubled ? needed : doubled;
  errno = ENOMEM;
  if (count > SIZE_MAX / 2 / size) return false;
  void *more = evalue_record_allocate((size_t)count * size);
  if (more == NULL) return false;
  evalue_copy_bytes(more, *memory, used * size);
  free(*memory);
  *memory = more;
  *capacity = (size_t)count;
  return true;
}

/* ---- reading ---- */

int64_t evalue_record_read_some(int fd, void *to, size_t nbytes, uint64_t at) {
  enum { MOST = 1 << 30 }; /* less than any system's limit */
  if (nbytes > MOST) nbytes = MOST;
  for (;;) {
    ssize_t got = at == UINT64_MAX ? read(fd, to, nbytes) : pread(fd, to, nbytes, (off_t)at);
    if (got >= 0) return got;
    if (errno != EINTR && errno != EAGAIN) return -1;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (errno == EAGAIN) poll(&wait, 1, -1);
  }
}

int64_t evalue_record_read_full(int fd, void *to, size_t nbytes, uint64_t at) {
  size_t got = 0;
  while (got < nbytes) {
    int64_t some = evalue_record_read_some(fd, (uint8_t *)to + got, nbytes - got, at + got);
    if (some < 0) return -1;
    if (some == 0) break;
    got += (size_t)some;
  }
  return (int64_t)got;
}

/* ---- files ---- */

bool evalue_record_file_size(int fd, uint64_t *size, int *error) {
  struct stat status;
  *error = 0;
  if (fstat(fd, &status) != 0) *error = errno;
  if (*error != 0 || !S_ISREG(status.st_mode)) return false;
  *size = (uint64_t)status.st_size;
  return true;
}

bool evalue_record_lock(int fd) {
  int result;
  do {
    result = flock(fd, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0 || errno != EWOULDBLOCK;
}

bool evalue_record_cut(int fd, uint64_t size) {
  int result;
  do {
    result = ftruncate(fd, (off_t)size);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}
