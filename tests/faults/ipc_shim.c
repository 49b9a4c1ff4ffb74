/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For LD_PRELOAD, in test_ipc.py: the calls by which messages go between processes (shim.h). SHIM_SHORT is how many
 * bytes a stream socket, a pread or a writev takes or gives at most.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "shim.h"

enum { MOST_SLICES = 64 };

static size_t limit(void) {
  const char *most = getenv("SHIM_SHORT");
  size_t n = most != NULL ? (size_t)atol(most) : 0;
  return n != 0 ? n : SIZE_MAX;
}

/* ---- bytes ---- */

static bool is_stream(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/* The start of a list of slices, of at most `left` bytes; returns how many slices. */
static int shorten(struct iovec *some, const struct iovec *list, size_t count, size_t left) {
  int used = 0;
  for (; (size_t)used < count && used < MOST_SLICES && left > 0; used++) {
    some[used] = list[used];
    if (some[used].iov_len > left) some[used].iov_len = left;
    left -= some[used].iov_len;
  }
  return used;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  if (fails("sendmsg", fd)) return -1;
  struct iovec some[MOST_SLICES];
  struct msghdr copy = *message;
  if (is_stream(fd) && limit() != SIZE_MAX) {
    copy.msg_iovlen = (size_t)shorten(some, message->msg_iov, message->msg_iovlen, limit());
    copy.msg_iov = some;
  }
  return syscall(SYS_sendmsg, fd, &copy, flags);
}

static void note_descriptors(struct msghdr *message) {
  for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head != NULL; head = CMSG_NXTHDR(message, head)) {
    size_t n = head->cmsg_type == SCM_RIGHTS ? (head->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
    for (size_t i = 0; i < n; i++) {
      int one;
      memcpy(&one, CMSG_DATA(head) + i * sizeof one, sizeof one);
      opened(one);
    }
  }
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
  if (fails("recvmsg", fd)) return -1;
  struct iovec some[MOST_SLICES], *list = message->msg_iov;
  size_t count = message->msg_iovlen;
  if (is_stream(fd) && limit() != SIZE_MAX) {
    message->msg_iovlen = (size_t)shorten(some, list, count, limit());
    message->msg_iov = some;
  }
  ssize_t n = syscall(SYS_recvmsg, fd, message, flags);
  message->msg_iov = list;
  message->msg_iovlen = count;
  if (n >= 0 && message->msg_control != NULL) note_descriptors(message);
  return n;
}

ssize_t writev(int fd, const struct iovec *list, int count) {
  if (fails("writev", fd)) return -1;
  struct iovec some[MOST_SLICES];
  int used = shorten(some, list, (size_t)count, limit());
  return syscall(SYS_writev, fd, some, used);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset) {
  if (fails("pread", fd)) return -1;
  return syscall(SYS_pread64, fd, data, size < limit() ? size : limit(), offset);
}

off64_t lseek64(int fd, off64_t offset, int whence) {
  return fails("lseek", fd) ? -1 : syscall(SYS_lseek, fd, offset, whence);
}

int poll(struct pollfd *list, nfds_t count, int ms) {
  if (fails("poll", -1)) return -1;
  struct timespec limit = {ms / 1000, ms % 1000 * 1000000L};
  return (int)syscall(SYS_ppoll, list, count, ms < 0 ? NULL : &limit, NULL, 0);
}

/* ---- sockets ---- */

int socket(int domain, int type, int protocol) {
  return fails("socket", -1) ? -1 : opened((int)syscall(SYS_socket, domain, type, protocol));
}

int connect(int fd, const struct sockaddr *address, socklen_t size) {
  return fails("connect", fd) ? -1 : (int)syscall(SYS_connect, fd, address, size);
}

int bind(int fd, const struct sockaddr *address, socklen_t size) {
  return fails("bind", fd) ? -1 : (int)syscall(SYS_bind, fd, address, size);
}

int listen(int fd, int backlog) {
  return fails("listen", fd) ? -1 : (int)syscall(SYS_listen, fd, backlog);
}

int accept(int fd, struct sockaddr *address, socklen_t *size) {
  return fails("accept", fd) ? -1 : opened((int)syscall(SYS_accept4, fd, address, size, 0));
}

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags) {
  return fails("accept", fd) ? -1 : opened((int)syscall(SYS_accept4, fd, address, size, flags));
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *size) {
  return fails("getsockopt", fd) ? -1 : (int)syscall(SYS_getsockopt, fd, level, name, value, size);
}

/* ---- memory ---- */

int memfd_create(const char *name, unsigned flags) {
  return fails("memfd_create", -1) ? -1 : opened((int)syscall(SYS_memfd_create, name, flags));
}

int ftruncate64(int fd, off64_t size) {
  return fails("ftruncate", fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

void *mmap64(void *where, size_t size, int protection, int flags, int fd, off64_t offset) {
  void *const failed = (void *)-1;
  return fails("mmap", fd) ? failed : (void *)syscall(SYS_mmap, where, size, protection, flags, fd, offset);
}

static int control(int fd, int command, long argument) {
  return fails("fcntl", fd) ? -1 : (int)syscall(SYS_fcntl, fd, command, argument);
}

int fcntl64(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  long argument = va_arg(list, long);
  va_end(list);
  return control(fd, command, argument);
}

int fstat64(int fd, struct stat64 *status) {
  return fails("fstat", fd) ? -1 : (int)syscall(SYS_fstat, fd, status);
}

int fstatfs64(int fd, struct statfs64 *status) {
  return fails("fstatfs", fd) ? -1 : (int)syscall(SYS_fstatfs, fd, status);
}
