/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory and waiting, as Linux has them: the one place that knows memfd, seals and futex. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "ipc_internal.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U /* not in older headers, and not known to kernels before 6.3 */
#endif

/* Beyond this limit the system would raise SIGXFSZ, for this memory as for a file. */
static bool is_within_limit(uint64_t nbytes) {
  struct rlimit limit;
  bool is_within = getrlimit(RLIMIT_FSIZE, &limit) != 0 || nbytes <= limit.rlim_cur;
  if (!is_within) errno = EFBIG;
  return is_within;
}

int evalue_ipc_memory_create(const char *name, uint64_t nbytes, uint64_t most) {
  if (!is_within_limit(most)) return -1;
  int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (fd < 0 && errno == EINVAL) fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  if (ftruncate(fd, (off_t)nbytes) == 0) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

bool evalue_ipc_memory_seal(int fd, bool against_writing) {
  int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (against_writing ? F_SEAL_WRITE : 0);
  return fcntl(fd, F_ADD_SEALS, seals) == 0;
}

/*
 * Only memory of tmpfs is taken. That of hugetlbfs has seals as well, but can raise a signal when it is looked at: the
 * system may have no huge page left.
 */
void evalue_ipc_memory_look(int fd, ipc_memory *memory) {
  struct stat status;
  struct statfs system;
  memset(memory, 0, sizeof *memory);
  int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || fstatfs(fd, &system) != 0 || (unsigned long)system.f_type != TMPFS_MAGIC) return;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return; /* its size is asked for after its seals */
  memory->is_memory = true;
  memory->nbytes = (uint64_t)status.st_size;
  memory->is_steady = (seals & F_SEAL_SHRINK) != 0 && (seals & F_SEAL_GROW) != 0;
  memory->is_sealed = memory->is_steady && (seals & F_SEAL_WRITE) != 0;
}

/* Linux before 6.7 refuses to share memory that is sealed against writing. Since nobody writes, it need not be. */
uint8_t *evalue_ipc_map(int fd, uint64_t nbytes, ipc_mapping mapping) {
  static const int flags[] = {[IPC_MAP_OWN] = MAP_PRIVATE | MAP_ANONYMOUS,
                              [IPC_MAP_WRITE] = MAP_SHARED,
                              [IPC_MAP_READ] = MAP_SHARED,
                              [IPC_MAP_CONSTANT] = MAP_PRIVATE};
  bool is_writable = mapping == IPC_MAP_OWN || mapping == IPC_MAP_WRITE;
  if (nbytes > SIZE_MAX) {
    errno = ENOMEM;
    return NULL;
  }
  int protection = is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void *memory = mmap(NULL, (size_t)nbytes, protection, flags[mapping], fd, 0);
  return memory != MAP_FAILED ? (uint8_t *)memory : NULL;
}

void evalue_ipc_unmap(uint8_t *memory, uint64_t nbytes) {
  if (memory != NULL) munmap(memory, (size_t)nbytes);
}

bool evalue_ipc_memory_read(int fd, uint8_t *data, uint64_t nbytes) {
  const size_t most = (size_t)1 << 30; /* Linux stops a little below 2^31 */
  for (uint64_t at = 0; at < nbytes;) {
    uint64_t left = nbytes - at;
    ssize_t n = pread(fd, data + at, left < most ? (size_t)left : most, (off_t)at);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = 0;
    if (n <= 0) return false;
    at += (uint64_t)n;
  }
  return true;
}

/* Not a "private" futex: the word lies in memory that two processes have mapped. */
void evalue_ipc_word_wait(_Atomic uint32_t *word, uint32_t value, uint32_t ms) {
  struct {
    long seconds, nanoseconds; /* what SYS_futex takes, whatever the size of time_t */
  } limit = {(long)(ms / 1000), (long)(ms % 1000) * 1000000};
  syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0);
}

void evalue_ipc_word_wake(_Atomic uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
