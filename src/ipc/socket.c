/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames, bytes and descriptors over the socket. No call here waits longer than it was told to, or raises a signal. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../sink/slices.h"
#include "ipc_internal.h"

enum {
  MOST_SLICES = IPC_MOST_SLICES,
  MOST_DESCRIPTORS = 253, /* that Linux passes on at once */
  CONTROL_BYTES = 1024 + MOST_DESCRIPTORS * (int)sizeof(int)
};

static const int64_t forever = -1;

#ifndef SCM_PIDFD
#define SCM_PIDFD 4 /* not in older headers */
#endif

/* Room for all that can come beside the bytes: descriptors, and what the socket's owner has asked the system for. */
typedef union ipc_control {
  struct cmsghdr head;
  uint8_t bytes[CONTROL_BYTES];
} ipc_control;

/* ---- time ---- */

int64_t evalue_ipc_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

evalue_status evalue_ipc_wait(evalue_ipc_channel *c, int fd, short events, int64_t deadline) {
  struct pollfd wait = {.fd = fd, .events = events};
  for (;;) {
    int64_t left = deadline == forever ? forever : deadline - evalue_ipc_now();
    if (left < 0 && deadline != forever) left = 0;
    int n = poll(&wait, 1, left > INT32_MAX ? INT32_MAX : (int)left);
    if (n > 0) return EVALUE_OK;
    if (n == 0 && left <= INT32_MAX) return evalue_ipc_fault(&c->error, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
    if (n < 0 && errno != EINTR) return evalue_ipc_system_fault(c, errno);
  }
}

bool evalue_ipc_peer_is_gone(const evalue_ipc_channel *c) {
  struct pollfd look = {.fd = c->fd};
  return poll(&look, 1, 0) > 0 && (look.revents & (POLLHUP | POLLERR)) != 0;
}

/* Says whether the peer will send no more. */
static bool peer_has_ended(const evalue_ipc_channel *c) {
  struct pollfd look = {.fd = c->fd, .events = POLLRDHUP};
  return poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* When the message that is on its way has to be there: counted from the first time that something is waited for. */
static int64_t deadline_of(evalue_ipc_channel *c) {
  if (c->deadline == 0) c->deadline = evalue_ipc_now() + c->options.stall_ms;
  return c->deadline;
}

/* ---- sending ---- */

static void attach(struct msghdr *message, ipc_control *control, int fd) {
  memset(control, 0, CMSG_SPACE(sizeof fd));
  message->msg_control = control;
  message->msg_controllen = CMSG_SPACE(sizeof fd);
  struct cmsghdr *head = CMSG_FIRSTHDR(message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
}

/* sendmsg, but it goes on after a signal and waits while the socket is full. */
static evalue_status send_some(evalue_ipc_channel *c, const struct msghdr *message, size_t *taken) {
  for (;;) {
    ssize_t n = sendmsg(c->fd, message, MSG_DONTWAIT | MSG_NOSIGNAL);
    *taken = n > 0 ? (size_t)n : 0;
    if (n >= 0) return EVALUE_OK;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return evalue_ipc_system_fault(c, errno);
    evalue_status status = evalue_ipc_wait(c, c->fd, POLLOUT, deadline_of(c));
    if (status != EVALUE_OK) return status;
  }
}

evalue_status evalue_ipc_put(evalue_ipc_channel *c, const ipc_frame *frame, evalue_slice *slices, size_t n, int fd) {
  uint8_t head[FRAME_SIZE];
  struct iovec list[MOST_SLICES];
  ipc_control control;
  struct msghdr message = {.msg_iov = list};
  evalue_slice_place place = {0, 0};
  evalue_ipc_frame_write(head, frame);
  slices[0] = (evalue_slice){head, sizeof head};
  if (fd >= 0) attach(&message, &control, fd);
  c->deadline = 0;
  for (;;) {
    size_t some;
    int count = evalue_slices_fill(list, MOST_SLICES, slices, n, place);
    if (count == 0) return EVALUE_OK;
    message.msg_iovlen = (size_t)count;
    evalue_status status = send_some(c, &message, &some);
    if (status != EVALUE_OK) {
      if (place.i == 0 && place.at == 0) return status;
      c->send_error = c->error; /* what the peer has of it leads nowhere */
      c->send_system_error = c->system_error;
      return status;
    }
    evalue_slices_advance(slices, n, &place, some);
    message.msg_control = NULL; /* the descriptor has gone with the first byte */
    message.msg_controllen = 0;
  }
}

/* ---- receiving ---- */

/* Closing the last reference to a stranger's socket would wait as long as its owner has set. */
void evalue_ipc_close_received(int fd) {
  const struct linger at_once = {0};
  if (fd < 0) return;
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(fd);
}

/*
 * Keeps the first descriptor that the peer has sent with a message in *fd, if that has none yet, and closes all others;
 * false when there were. A pidfd is none of the peer's: somebody has asked the system for it (SO_PASSPIDFD).
 */
static bool take_descriptors(struct msghdr *message, int *fd) {
  bool is_good = true;
  for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head != NULL; head = CMSG_NXTHDR(message, head)) {
    bool is_sent = head->cmsg_type == SCM_RIGHTS, is_pidfd = head->cmsg_type == SCM_PIDFD;
    if (head->cmsg_level != SOL_SOCKET || !(is_sent || is_pidfd)) continue;
    size_t n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < n; i++) {
      int one;
      memcpy(&one, CMSG_DATA(head) + i * sizeof one, sizeof one);
      bool is_wanted = is_sent && *fd < 0;
      if (is_wanted) *fd = one;
      else evalue_ipc_close_received(one);
      if (is_sent && !is_wanted) is_good = false;
    }
  }
  return is_good;
}

/*
 * recvmsg; but a peer that has closed without reading all of it is told of before its last packets are given out, so
 * these are asked for again.
 */
static ssize_t receive_message(const evalue_ipc_channel *c, struct msghdr *message, int flags) {
  const struct msghdr before = *message;
  ssize_t n = recvmsg(c->fd, message, flags);
  if (n >= 0 || errno != ECONNRESET) return n;
  *message = before;
  n = recvmsg(c->fd, message, flags | MSG_DONTWAIT);
  if (n <= 0) errno = ECONNRESET;
  return n > 0 ? n : -1;
}

/*
 * The same, but it goes on after a signal, and waits up to the deadline. *got is 0 when the peer has closed. A first
 * try that may wait for ever is left to recvmsg itself, which saves a call.
 */
static evalue_status receive_some(evalue_ipc_channel *c, struct msghdr *message, int flags, bool is_idle, size_t *got) {
  for (;;) {
    bool may_block = is_idle && c->options.idle_ms == 0;
    ssize_t n = receive_message(c, message, flags | MSG_CMSG_CLOEXEC | (may_block ? 0 : MSG_DONTWAIT));
    *got = n > 0 ? (size_t)n : 0;
    if (n >= 0) return EVALUE_OK;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return evalue_ipc_system_fault(c, errno);
    int64_t idle = c->options.idle_ms != 0 ? evalue_ipc_now() + c->options.idle_ms : forever;
    evalue_status status = evalue_ipc_wait(c, c->fd, POLLIN, is_idle ? idle : deadline_of(c));
    if (status != EVALUE_OK) return status;
  }
}

/* Receives, and takes a descriptor that comes along. Of a packet *got is its length, also what has found no room. */
static evalue_status receive(evalue_ipc_channel *c, struct iovec *list, size_t n, bool is_idle, int *fd, size_t *got) {
  ipc_control control;
  struct msghdr message = {.msg_iov = list, .msg_iovlen = n, .msg_control = &control, .msg_controllen = sizeof control};
  evalue_status status = receive_some(c, &message, c->is_packets != 0 ? MSG_TRUNC : 0, is_idle, got);
  if (status != EVALUE_OK) return status;
  if (!take_descriptors(&message, fd)) return evalue_ipc_fault(&c->error, EVALUE_FAULT_STRAY_DESCRIPTOR, AT_KIND, 0, 0);
  bool is_cut = (message.msg_flags & MSG_CTRUNC) != 0; /* there was room: so this process may have no more */
  return is_cut ? evalue_ipc_system_fault(c, EMFILE) : EVALUE_OK;
}

/* Receives nbytes bytes of a stream; *at is how many are there, also of a failure. Ends early when the peer closes. */
static evalue_status receive_all(evalue_ipc_channel *c, void *data, uint64_t nbytes, bool is_idle, int *fd,
                                 uint64_t *at) {
  const uint64_t most = UINT64_C(1) << 30; /* of one call */
  for (*at = 0; *at < nbytes;) {
    size_t got;
    uint64_t left = nbytes - *at;
    struct iovec list = {.iov_base = (uint8_t *)data + *at, .iov_len = (size_t)(left < most ? left : most)};
    evalue_status status = receive(c, &list, 1, is_idle && *at == 0, fd, &got);
    if (status != EVALUE_OK) return status;
    if (got == 0) break;
    *at += got;
  }
  return EVALUE_OK;
}

/*
 * Descriptors that nobody has received are closed with the socket, and that can wait, too: so they are received. A
 * packet without bytes is told from the end by its sender's credentials.
 */
void evalue_ipc_hang_up(evalue_ipc_channel *c) {
  const int on = 1;
  bool was_told = false;
  shutdown(c->fd, SHUT_RD); /* no more can come */
  setsockopt(c->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  for (;;) {
    uint8_t bytes[4096];
    int fd = -1;
    ipc_control control;
    struct iovec list = {.iov_base = bytes, .iov_len = sizeof bytes};
    struct msghdr message = {
        .msg_iov = &list, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(c->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    bool is_told = n < 0 && errno == ECONNRESET && !was_told; /* before the last packets; see receive_message */
    if (is_told) was_told = true;
    if (is_told || (n < 0 && errno == EINTR)) continue;
    bool is_end = n < 0 || (n == 0 && (c->is_packets == 0 || message.msg_controllen == 0));
    if (is_end) break;
    take_descriptors(&message, &fd);
    evalue_ipc_close_received(fd);
  }
  close(c->fd); /* of a socket it has nothing to say */
}

/* Looks at the frame of the next packet, and takes the packet unless a message follows in it. */
static evalue_status receive_packet_head(evalue_ipc_channel *c, void *head, int *fd, uint64_t *got) {
  size_t size;
  struct iovec list = {.iov_base = head, .iov_len = FRAME_SIZE};
  struct msghdr look = {.msg_iov = &list, .msg_iovlen = 1}; /* without room for descriptors none is made */
  evalue_status status = receive_some(c, &look, MSG_PEEK, true, &size);
  *got = size;
  if (status != EVALUE_OK || size < FRAME_SIZE || ((uint8_t *)head)[AT_KIND] == KIND_INLINE) return status;
  status = receive(c, &list, 1, false, fd, &size);
  *got = size;
  return status;
}

/* Says what is wrong with what has come in place of a frame; `got` is how much, at least a byte or a packet. */
static evalue_status judge_frame(evalue_ipc_channel *c, const uint8_t head[FRAME_SIZE], uint64_t got,
                                 ipc_frame *frame) {
  if (got < FRAME_SIZE) return evalue_ipc_fault(&c->error, EVALUE_FAULT_FRAME_SHORT, got, FRAME_SIZE, got);
  evalue_status status = evalue_ipc_frame_read(head, frame, &c->error);
  if (status != EVALUE_OK || got == FRAME_SIZE) return status;
  return evalue_ipc_fault(&c->error, EVALUE_FAULT_PACKET_LENGTH, AT_NBYTES, FRAME_SIZE, got);
}

evalue_status evalue_ipc_get_frame(evalue_ipc_channel *c, ipc_frame *frame, int *fd) {
  uint8_t head[FRAME_SIZE];
  uint64_t got;
  *fd = -1;
  c->deadline = 0;
  evalue_status status =
      c->is_packets != 0 ? receive_packet_head(c, head, fd, &got) : receive_all(c, head, FRAME_SIZE, true, fd, &got);
  c->has_begun = got != 0;
  if (status != EVALUE_OK) return status;
  bool is_empty_packet = got == 0 && c->is_packets != 0 && !peer_has_ended(c);
  if (got == 0 && !is_empty_packet) return EVALUE_END;
  return judge_frame(c, head, got, frame);
}

/* The packet's frame is taken once more, and cannot be another one: who else reads from this socket has broken it. */
static evalue_status receive_packet(evalue_ipc_channel *c, uint8_t *data, uint64_t nbytes, int *fd, uint64_t *at) {
  uint8_t head[FRAME_SIZE];
  size_t got;
  struct iovec list[2] = {{.iov_base = head, .iov_len = sizeof head}, {.iov_base = data, .iov_len = (size_t)nbytes}};
  evalue_status status = receive(c, list, 2, false, fd, &got);
  *at = got > FRAME_SIZE ? got - FRAME_SIZE : 0;
  return status;
}

evalue_status evalue_ipc_get_bytes(evalue_ipc_channel *c, uint8_t *data, uint64_t nbytes) {
  uint64_t got;
  int fd = -1;
  bool is_packet = c->is_packets != 0;
  evalue_status status =
      is_packet ? receive_packet(c, data, nbytes, &fd, &got) : receive_all(c, data, nbytes, false, &fd, &got);
  evalue_ipc_close_received(fd);
  if (status != EVALUE_OK) return status;
  if (fd >= 0) return evalue_ipc_fault(&c->error, EVALUE_FAULT_STRAY_DESCRIPTOR, AT_KIND, 0, 0);
  if (got == nbytes) return EVALUE_OK;
  evalue_fault fault = is_packet ? EVALUE_FAULT_PACKET_LENGTH : EVALUE_FAULT_MESSAGE_SHORT;
  return evalue_ipc_fault(&c->error, fault, AT_NBYTES, nbytes, got);
}
