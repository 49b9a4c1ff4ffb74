/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets by path: listening, accepting, connecting. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "ipc_internal.h"

enum { BACKLOG = 16 };

/* Fills the address of a path; false when it is too long, or none. */
static bool fill_address(struct sockaddr_un *address, const char *path) {
  size_t size = path != NULL ? strlen(path) : 0;
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (size == 0 || size >= sizeof address->sun_path) return false;
  memcpy(address->sun_path, path, size);
  return true;
}

/* Returns a connected socket, or -1 with errno: EAGAIN when whoever listens has accepted nobody for ms milliseconds. */
static int connect_to(const struct sockaddr_un *address, int type, uint32_t ms) {
  const struct timeval limit = {.tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000) * 1000}, none = {0};
  int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  bool is_connected = setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
                      connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 &&
                      setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none) == 0;
  if (is_connected) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

/* Connects whichever the socket's type is. */
static int connect_any(const struct sockaddr_un *address, uint32_t ms) {
  int fd;
  do {
    fd = connect_to(address, SOCK_STREAM, ms);
    if (fd < 0 && errno == EPROTOTYPE) fd = connect_to(address, SOCK_SEQPACKET, ms);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

evalue_status evalue_ipc_connect(evalue_ipc_channel *c, const char *path, const evalue_ipc_options *options) {
  struct sockaddr_un address;
  if (c == NULL) return EVALUE_MISUSE;
  memset(c, 0, sizeof *c);
  c->fd = -1;
  evalue_status status = evalue_ipc_options_fill(&c->options, options);
  if (status != EVALUE_OK || !fill_address(&address, path)) return EVALUE_MISUSE;
  int fd = connect_any(&address, c->options.idle_ms != 0 ? c->options.idle_ms : c->options.stall_ms);
  if (fd < 0 && errno == EAGAIN) return evalue_ipc_fault(&c->error, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
  if (fd < 0) return evalue_ipc_system_fault(c, errno);
  status = evalue_ipc_init(c, fd, options);
  if (status != EVALUE_OK) close(fd);
  return status;
}

/* ---- listening ---- */

/*
 * Removes a socket that nobody listens to any more. It is found out by connecting as a type that no listener has: one
 * that lives refuses it without noticing.
 */
static void remove_stale(const struct sockaddr_un *address) {
  struct stat status;
  if (lstat(address->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  int fd = connect_to(address, SOCK_DGRAM, 1);
  if (fd < 0 && errno == ECONNREFUSED) unlink(address->sun_path);
  if (fd >= 0) close(fd);
}

static bool bind_to(int fd, const struct sockaddr_un *address) {
  if (bind(fd, (const struct sockaddr *)address, sizeof *address) == 0) return true;
  if (errno != EADDRINUSE) return false;
  remove_stale(address);
  errno = EADDRINUSE;
  return bind(fd, (const struct sockaddr *)address, sizeof *address) == 0;
}

/* Notes which file the socket is. */
static bool note(evalue_ipc_listener *l, const char *path) {
  struct stat status;
  if (lstat(path, &status) != 0) return false;
  l->device = (uint64_t)status.st_dev;
  l->inode = (uint64_t)status.st_ino;
  return true;
}

evalue_status evalue_ipc_listen(evalue_ipc_listener *l, const char *path, uint32_t is_packets) {
  struct sockaddr_un address;
  if (l == NULL) return EVALUE_MISUSE;
  memset(l, 0, sizeof *l);
  l->fd = -1;
  if (is_packets > 1 || !fill_address(&address, path)) return EVALUE_MISUSE;
  int fd = socket(AF_UNIX, (is_packets != 0 ? SOCK_SEQPACKET : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  bool is_bound = fd >= 0 && bind_to(fd, &address);
  if (is_bound && note(l, address.sun_path) && listen(fd, BACKLOG) == 0) {
    memcpy(l->path, address.sun_path, sizeof l->path);
    l->fd = fd;
    l->self = l;
    return EVALUE_OK;
  }
  l->system_error = errno;
  if (is_bound) unlink(address.sun_path);
  if (fd >= 0) close(fd);
  return EVALUE_IO;
}

evalue_status evalue_ipc_accept(evalue_ipc_listener *l, evalue_ipc_channel *c, const evalue_ipc_options *options) {
  int fd;
  if (c == NULL) return EVALUE_MISUSE;
  memset(c, 0, sizeof *c);
  c->fd = -1;
  if (l == NULL || l->self != l) return EVALUE_MISUSE;
  evalue_status status = evalue_ipc_options_fill(&c->options, options);
  if (status != EVALUE_OK) return status;
  int64_t deadline = c->options.idle_ms != 0 ? evalue_ipc_now() + c->options.idle_ms : -1;
  while ((fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC)) < 0) {
    bool is_early = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    if (!is_early) return evalue_ipc_system_fault(c, errno);
    status = evalue_ipc_wait(c, l->fd, POLLIN, deadline);
    if (status != EVALUE_OK) return status;
  }
  status = evalue_ipc_init(c, fd, options);
  if (status != EVALUE_OK) close(fd);
  return status;
}

evalue_status evalue_ipc_stop_listening(evalue_ipc_listener *l) {
  if (l == NULL || l->self != l) return EVALUE_MISUSE;
  struct stat status;
  bool is_mine =
      lstat(l->path, &status) == 0 && (uint64_t)status.st_dev == l->device && (uint64_t)status.st_ino == l->inode;
  if (is_mine) unlink(l->path);
  close(l->fd);
  l->fd = -1;
  l->self = NULL;
  return EVALUE_OK;
}
