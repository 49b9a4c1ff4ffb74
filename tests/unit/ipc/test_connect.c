/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets by path: listening, accepting, connecting. */
#include <sys/resource.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "ipc_faults.h"

static char folder[64];

static int make_folder(void **state) {
  strcpy(folder, "/tmp/evalue-ipc-XXXXXX");
  umask(022);
  return begin_group(state) != 0 || mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder); /* every test has removed what it made */
}

static const char *path_of(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* A path of this many bytes. */
static const char *path_of_length(size_t length) {
  static char path[200];
  size_t used = (size_t)snprintf(path, sizeof path, "%s/", folder);
  memset(path + used, 'p', length - used);
  path[length] = 0;
  return path;
}

static bool exists(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0;
}

static void connect_both(evalue_ipc_listener *l, const char *path, pair *p) {
  assert_int_equal(evalue_ipc_connect(&p->a, path, NULL), EVALUE_OK);
  assert_int_equal(evalue_ipc_accept(l, &p->b, NULL), EVALUE_OK);
}

/* Both types; several connections at once; they stay when nobody listens any more. */
static void test_round_trip(void **state) {
  (void)state;
  for (uint32_t is_packets = 0; is_packets < 2; is_packets++) {
    const char *path = path_of("s");
    evalue_ipc_listener l;
    pair p[3];
    struct stat status;
    assert_int_equal(evalue_ipc_listen(&l, path, is_packets), EVALUE_OK);
    assert_int_equal(lstat(path, &status), 0);
    assert_int_equal(status.st_mode, S_IFSOCK | 0755); /* as the umask leaves it */
    for (size_t i = 0; i < 3; i++) connect_both(&l, path, &p[i]);
    for (size_t i = 0; i < 3; i++) {
      assert_int_equal(p[i].a.is_packets, is_packets);
      assert_int_equal(p[i].b.is_packets, is_packets);
      assert_true((fcntl(p[i].a.fd, F_GETFD) & FD_CLOEXEC) != 0);
      assert_true((fcntl(p[i].b.fd, F_GETFD) & FD_CLOEXEC) != 0);
      check_works(&p[i].a, &p[i].b);
    }
    assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_OK);
    assert_false(exists(path));
    for (size_t i = 0; i < 3; i++) {
      check_works(&p[i].b, &p[i].a);
      close_pair(&p[i]);
    }
  }
}

/* Options go to the channel that is made. */
static void test_options(void **state) {
  (void)state;
  const evalue_ipc_options options = {.slots = 7, .max_bytes = 100}, bad = {.slots = 65};
  evalue_ipc_listener l;
  pair p;
  assert_int_equal(evalue_ipc_listen(&l, path_of("s"), 0), EVALUE_OK);
  assert_int_equal(evalue_ipc_connect(&p.a, path_of("s"), &bad), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_close(&p.a), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_accept(&l, &p.b, &bad), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_close(&p.b), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_OK);
  assert_int_equal(evalue_ipc_listen(&l, path_of("s"), 0), EVALUE_OK);
  assert_int_equal(evalue_ipc_connect(&p.a, path_of("s"), &options), EVALUE_OK);
  assert_int_equal(evalue_ipc_accept(&l, &p.b, &options), EVALUE_OK);
  assert_int_equal(p.a.options.slots, 7);
  assert_int_equal(p.b.options.max_bytes, 100);
  close_pair(&p);
  assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_OK);
}

static void test_paths(void **state) {
  (void)state;
  evalue_ipc_listener l;
  evalue_ipc_channel c;
  pair p;
  static const size_t too_long[] = {108, 109, 150};
  for (size_t i = 0; i < COUNT_OF(too_long); i++) {
    assert_int_equal(evalue_ipc_listen(&l, path_of_length(too_long[i]), 0), EVALUE_MISUSE);
    assert_int_equal(evalue_ipc_connect(&c, path_of_length(too_long[i]), NULL), EVALUE_MISUSE);
  }
  const char *longest = path_of_length(107);
  assert_int_equal(evalue_ipc_listen(&l, longest, 1), EVALUE_OK);
  connect_both(&l, longest, &p);
  check_works(&p.a, &p.b);
  close_pair(&p);
  assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_OK);
  assert_false(exists(longest));
}

static void test_misuse(void **state) {
  (void)state;
  evalue_ipc_listener l, copy, zero = {0};
  evalue_ipc_channel c;
  assert_int_equal(evalue_ipc_listen(NULL, path_of("s"), 0), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_listen(&l, NULL, 0), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_listen(&l, "", 0), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_listen(&l, path_of("s"), 2), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_connect(NULL, path_of("s"), NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_connect(&c, NULL, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_connect(&c, "", NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_close(&c), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_accept(NULL, &c, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_accept(&zero, &c, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_stop_listening(NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_stop_listening(&zero), EVALUE_MISUSE);
  assert_false(exists(path_of("s")));
  assert_int_equal(evalue_ipc_listen(&l, path_of("s"), 0), EVALUE_OK);
  copy = l;
  assert_int_equal(evalue_ipc_accept(&copy, &c, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_accept(&l, NULL, NULL), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_stop_listening(&copy), EVALUE_MISUSE);
  assert_true(exists(path_of("s")));
  assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_OK);
  assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_MISUSE);
  assert_int_equal(evalue_ipc_accept(&l, &c, NULL), EVALUE_MISUSE);
}

/* ---- what is there already ---- */

static void expect_in_use(const char *path) {
  for (uint32_t is_packets = 0; is_packets < 2; is_packets++) {
    evalue_ipc_listener l;
    assert_int_equal(evalue_ipc_listen(&l, path, is_packets), EVALUE_IO);
    assert_int_equal(l.system_error, EADDRINUSE);
    assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_MISUSE);
    assert_true(exists(path));
  }
}

/* Binds a socket of this type, which stays when it is closed. */
static int bind_socket(int type, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, type, 0);
  strcpy(address.sun_path, path);
  assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
  return fd;
}

static void test_stale_sockets_are_replaced(void **state) {
  (void)state;
  const char *path = path_of("s");
  for (size_t i = 0; i < 4; i++) {
    evalue_ipc_listener l;
    pair p;
    close(bind_socket(socket_types[i % 2], path));
    assert_true(exists(path));
    assert_int_equal(evalue_ipc_listen(&l, path, (uint32_t)i / 2), EVALUE_OK);
    connect_both(&l, path, &p);
    check_works(&p.a, &p.b);
    close_pair(&p);
    assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_OK);
  }
}

static void test_others_stay(void **state) {
  (void)state;
  const char *path = path_of("s");
  struct stat before, after;
  close(open(path, O_CREAT | O_WRONLY, 0644));
  expect_in_use(path);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkdir(path, 0755), 0);
  expect_in_use(path);
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(symlink("nowhere", path), 0);
  expect_in_use(path);
  assert_int_equal(unlink(path), 0);
  int fd = bind_socket(SOCK_DGRAM, path); /* somebody is there, though nobody can connect */
  assert_int_equal(lstat(path, &before), 0);
  expect_in_use(path);
  assert_int_equal(lstat(path, &after), 0);
  assert_true(before.st_ino == after.st_ino);
  close(fd);
  assert_int_equal(unlink(path), 0);
}

/* Who tries to listen where somebody does is refused, and the other one notices nothing. */
static void test_somebody_listens(void **state) {
  (void)state;
  const evalue_ipc_options soon = {.idle_ms = 20};
  for (uint32_t is_packets = 0; is_packets < 2; is_packets++) {
    const char *path = path_of("s");
    evalue_ipc_listener l;
    evalue_ipc_channel c;
    pair p;
    assert_int_equal(evalue_ipc_listen(&l, path, is_packets), EVALUE_OK);
    expect_in_use(path);
    evalue_status status = evalue_ipc_accept(&l, &c, &soon);
    while (evalue_ipc_close(&c) == EVALUE_OK && evalue_ipc_accept(&l, &c, &soon) == EVALUE_OK) continue;
    connect_both(&l, path, &p);
    check_works(&p.a, &p.b);
    close_pair(&p);
    assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_OK);
    assert_int_equal(status, EVALUE_TIMEOUT);
  }
}

static void test_no_folder(void **state) {
  (void)state;
  evalue_ipc_listener l;
  assert_int_equal(evalue_ipc_listen(&l, path_of("nowhere/s"), 0), EVALUE_IO);
  assert_int_equal(l.system_error, ENOENT);
  assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_MISUSE);
}

/* ---- nobody to connect to ---- */

static void expect_no_connection(const char *path, int error) {
  evalue_ipc_channel c;
  memset(&c, 0xA5, sizeof c);
  assert_int_equal(evalue_ipc_connect(&c, path, NULL), EVALUE_IO);
  assert_int_equal(c.system_error, error);
  check_fault(&c, EVALUE_FAULT_SYSTEM_CALL, 0, 0, 0);
  assert_int_equal(evalue_ipc_close(&c), EVALUE_MISUSE);
}

static void test_nobody_listens(void **state) {
  (void)state;
  const char *path = path_of("s");
  expect_no_connection(path, ENOENT);
  expect_no_connection(path_of("nowhere/s"), ENOENT);
  path = path_of("s");
  close(open(path, O_CREAT | O_WRONLY, 0644));
  expect_no_connection(path, ECONNREFUSED);
  assert_int_equal(unlink(path), 0);
  for (size_t i = 0; i < 2; i++) {
    int fd = bind_socket(socket_types[i], path);
    expect_no_connection(path, ECONNREFUSED); /* bound, and does not listen */
    close(fd);
    expect_no_connection(path, ECONNREFUSED);
    assert_int_equal(unlink(path), 0);
  }
  int fd = bind_socket(SOCK_DGRAM, path);
  expect_no_connection(path, EPROTOTYPE);
  close(fd);
  assert_int_equal(unlink(path), 0);
}

static void test_nobody_connects(void **state) {
  (void)state;
  const evalue_ipc_options soon = {.idle_ms = 20};
  evalue_ipc_listener l;
  evalue_ipc_channel c;
  pair p;
  assert_int_equal(evalue_ipc_listen(&l, path_of("s"), 0), EVALUE_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(evalue_ipc_accept(&l, &c, &soon), EVALUE_TIMEOUT);
    check_fault(&c, EVALUE_FAULT_PEER_SLOW, 0, 0, 0);
    assert_int_equal(evalue_ipc_close(&c), EVALUE_MISUSE);
  }
  connect_both(&l, path_of("s"), &p);
  check_works(&p.a, &p.b);
  close_pair(&p);
  assert_int_equal(evalue_ipc_connect(&c, path_of("s"), NULL), EVALUE_OK); /* and goes before it is accepted */
  assert_int_equal(evalue_ipc_close(&c), EVALUE_OK);
  assert_int_equal(evalue_ipc_accept(&l, &c, NULL), EVALUE_OK);
  expect_end(&c);
  assert_int_equal(evalue_ipc_close(&c), EVALUE_OK);
  assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_OK);
}

static void *connect_later(void *context) {
  evalue_ipc_channel *c = (evalue_ipc_channel *)context;
  usleep(20000);
  return evalue_ipc_connect(c, path_of("s"), NULL) == EVALUE_OK ? context : NULL;
}

static void test_waits_for_ever(void **state) {
  (void)state;
  evalue_ipc_listener l;
  pthread_t thread;
  pair p;
  void *is_connected;
  assert_int_equal(evalue_ipc_listen(&l, path_of("s"), 1), EVALUE_OK);
  assert_int_equal(pthread_create(&thread, NULL, connect_later, &p.a), 0);
  assert_int_equal(evalue_ipc_accept(&l, &p.b, NULL), EVALUE_OK);
  pthread_join(thread, &is_connected);
  assert_non_null(is_connected);
  check_works(&p.a, &p.b);
  close_pair(&p);
  assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_OK);
}

static void test_no_descriptors(void **state) {
  (void)state;
  if (is_emulated()) skip(); /* the emulator needs some itself */
  evalue_ipc_listener l, other;
  struct rlimit old, none;
  evalue_ipc_channel waiting, c, d;
  assert_int_equal(evalue_ipc_listen(&l, path_of("s"), 0), EVALUE_OK);
  assert_int_equal(evalue_ipc_connect(&waiting, path_of("s"), NULL), EVALUE_OK);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
  none = (struct rlimit){0, old.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  evalue_status connecting = evalue_ipc_connect(&c, path_of("s"), NULL);
  evalue_status accepting = evalue_ipc_accept(&l, &d, NULL);
  evalue_status listening = evalue_ipc_listen(&other, path_of("other"), 0);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
  assert_int_equal(connecting, EVALUE_IO);
  assert_int_equal(c.system_error, EMFILE);
  assert_int_equal(accepting, EVALUE_IO);
  assert_int_equal(d.system_error, EMFILE);
  check_fault(&d, EVALUE_FAULT_SYSTEM_CALL, 0, 0, 0);
  assert_int_equal(listening, EVALUE_IO);
  assert_int_equal(other.system_error, EMFILE);
  assert_int_equal(evalue_ipc_accept(&l, &d, NULL), EVALUE_OK); /* the one that waits */
  check_works(&waiting, &d);
  assert_int_equal(evalue_ipc_close(&waiting), EVALUE_OK);
  assert_int_equal(evalue_ipc_close(&d), EVALUE_OK);
  assert_int_equal(evalue_ipc_stop_listening(&l), EVALUE_OK);
}

/* Somebody listens and never accepts: connecting, and listening in its place, end all the same. */
static void test_somebody_never_accepts(void **state) {
  (void)state;
  const char *path = path_of("s");
  int queue[8], fd = bind_socket(SOCK_STREAM, path), result = 0;
  size_t queued = 0;
  assert_int_equal(listen(fd, 0), 0);
  for (;; queued++) { /* until there is no room */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    assert_true(queued < COUNT_OF(queue));
    queue[queued] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (connect(queue[queued], (const struct sockaddr *)&address, sizeof address) != 0) break;
  }
  close(queue[queued]);
  pid_t child = fork();
  if (child == 0) {
    const evalue_ipc_options soon = {.idle_ms = 50, .stall_ms = 50};
    evalue_ipc_channel c;
    evalue_ipc_listener l;
    alarm(5); /* it hangs */
    evalue_status connecting = evalue_ipc_connect(&c, path, &soon);
    evalue_status listening = evalue_ipc_listen(&l, path, 0);
    _exit((connecting == EVALUE_TIMEOUT || connecting == EVALUE_IO) && listening == EVALUE_IO ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &result, 0), child);
  while (queued > 0) close(queue[--queued]);
  close(fd);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(result, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ipc_test(test_round_trip),
      ipc_test(test_options),
      ipc_test(test_paths),
      ipc_test(test_misuse),
      ipc_test(test_stale_sockets_are_replaced),
      ipc_test(test_others_stay),
      ipc_test(test_somebody_listens),
      ipc_test(test_no_folder),
      ipc_test(test_nobody_listens),
      ipc_test(test_nobody_connects),
      ipc_test(test_waits_for_ever),
      ipc_test(test_no_descriptors),
      ipc_test(test_somebody_never_accepts),
  };
  return cmocka_run_group_tests_name("connect", tests, make_folder, remove_folder);
}
