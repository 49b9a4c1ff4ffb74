/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that appear whole or not at all. tests/faults kills the program in between. */
#include <signal.h>
#include <sys/resource.h>

#include "sink_files.h"

static const evalue_sink_options publishing = {.publish = 1};

static void check_nothing_left(int before) {
  assert_int_equal(files_in_folder(".evalue"), 0);
  assert_int_equal(open_descriptors(), before);
}

static void test_it_appears_when_it_is_closed(void **state) {
  (void)state;
  int before = open_descriptors();
  for (int exists = 0; exists <= 1; exists++) {
    for (uint32_t sync = 0; sync <= 2; sync++) {
      uint8_t buffer[30];
      const evalue_sink_options options = {.publish = 1, .sync = sync, .buffer = buffer, .buffer_size = 10 * sync};
      evalue_file_sink s;
      model expected = {.used = 0};
      empty_folder();
      if (exists != 0) put_file("f", "old", 3);
      assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &options), EVALUE_OK);
      for (int i = 0; i < STEPS; i++) {
        uint64_t offset = 77;
        assert_int_equal(put_step(&s.sink, i, &offset), EVALUE_OK);
        assert_int_equal(offset, model_step(&expected, i, 1));
        assert_int_equal(evalue_sink_flush(&s.sink), EVALUE_OK);
        assert_int_equal(files_in_folder("f"), exists);
        if (exists != 0) check_file("f", "old", 3);
      }
      assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
      check_file("f", expected.bytes, expected.used);
      check_nothing_left(before);
    }
  }
}

static void test_modes(void **state) {
  (void)state;
  static const mode_t modes[] = {0600, 0644, 0640, 0755, 0777, 0400};
  struct stat status;
  evalue_file_sink s;
  empty_folder();
  assert_int_equal(evalue_file_sink_open(&s, path_of("new"), &publishing), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
  assert_int_equal(stat(path_of("new"), &status), 0);
  assert_int_equal(status.st_mode & 07777, 0644); /* the umask is 022 */
  for (size_t i = 0; i < COUNT_OF(modes); i++) {
    put_file("f", "old", 3);
    assert_int_equal(chmod(path_of("f"), modes[i]), 0);
    assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &publishing), EVALUE_OK);
    assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
    assert_int_equal(stat(path_of("f"), &status), 0);
    assert_int_equal(status.st_mode & 07777, modes[i]);
    assert_int_equal(status.st_size, 0);
    unlink(path_of("f"));
  }
}

/* Another name of the old file, and whoever has it open, keep it. */
static void test_the_old_file_is_replaced_not_written(void **state) {
  (void)state;
  evalue_file_sink s;
  empty_folder();
  put_file("f", "old", 3);
  assert_int_equal(link(path_of("f"), path_of("other")), 0);
  assert_int_equal(symlink("f", path_of("symbolic")), 0);
  assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &publishing), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, "new", 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
  check_file("other", "old", 3);
  check_file("symbolic", "new", 3);
}

static void test_discarded_or_poisoned(void **state) {
  (void)state;
  int before = open_descriptors();
  for (int exists = 0; exists <= 1; exists++) {
    for (int how = 0; how < 3; how++) {
      evalue_file_sink s;
      empty_folder();
      if (exists != 0) put_file("f", "old", 3);
      assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &publishing), EVALUE_OK);
      assert_int_equal(evalue_sink_write(&s.sink, "new", 3, NULL), EVALUE_OK);
      assert_int_equal(files_in_folder(".evalue"), 1);
      if (how != 0) s.sink.is_poisoned = 1; /* as if */
      if (how == 2) assert_int_equal(evalue_sink_close(&s.sink), EVALUE_POISONED);
      else assert_int_equal(evalue_file_sink_discard(&s), EVALUE_OK);
      assert_int_equal(files_in_folder("f"), exists);
      if (exists != 0) check_file("f", "old", 3);
      check_nothing_left(before);
      check_refused(&s.sink, EVALUE_MISUSE);
    }
  }
}

/* The flush of the closing fails: no half of a file. */
static void test_h10_no_room_when_it_is_closed(void **state) {
  (void)state;
  struct rlimit old, limit;
  uint8_t buffer[100];
  const evalue_sink_options options = {.publish = 1, .buffer = buffer, .buffer_size = sizeof buffer};
  int before = open_descriptors();
  evalue_file_sink s;
  signal(SIGXFSZ, SIG_IGN);
  empty_folder();
  put_file("f", "old", 3);
  assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &options), EVALUE_OK);
  assert_int_equal(evalue_sink_write(&s.sink, "0123456789", 10, NULL), EVALUE_OK);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  limit = old;
  limit.rlim_cur = 5;
  setrlimit(RLIMIT_FSIZE, &limit);
  evalue_status status = evalue_sink_close(&s.sink);
  setrlimit(RLIMIT_FSIZE, &old);
  assert_int_equal(status, EVALUE_IO);
  assert_int_equal(s.sink.system_error, EFBIG);
  check_file("f", "old", 3);
  check_nothing_left(before);
}

/* The target has become a directory meanwhile: the rename fails. */
static void test_the_rename_fails(void **state) {
  (void)state;
  int before = open_descriptors();
  evalue_file_sink s;
  empty_folder();
  assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &publishing), EVALUE_OK);
  assert_int_equal(mkdir(path_of("f"), 0755), 0);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_IO);
  assert_int_equal(s.sink.system_error, EISDIR);
  check_nothing_left(before);
  assert_int_equal(evalue_file_sink_open(&s, path_of("f"), &publishing), EVALUE_IO); /* and now at once */
  assert_int_equal(s.sink.system_error, EISDIR);
  check_nothing_left(before);
}

/* The directory is moved meanwhile: the file appears in it, wherever it is. */
static void test_the_directory_is_moved(void **state) {
  (void)state;
  char before[600], after[600];
  evalue_file_sink s;
  empty_folder();
  snprintf(before, sizeof before, "%s/d", folder);
  snprintf(after, sizeof after, "%s/e", folder);
  assert_int_equal(mkdir(before, 0755), 0);
  assert_int_equal(evalue_file_sink_open(&s, path_of("d/f"), &publishing), EVALUE_OK);
  assert_int_equal(rename(before, after), 0);
  assert_int_equal(evalue_sink_write(&s.sink, "new", 3, NULL), EVALUE_OK);
  assert_int_equal(evalue_sink_close(&s.sink), EVALUE_OK);
  check_file("e/f", "new", 3);
  unlink(path_of("e/f"));
  rmdir(after);
}

static void test_relative_paths(void **state) {
  (void)state;
  char here[4096];
  evalue_file_sink s;
  empty_folder();
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(folder), 0);
  evalue_status opened = evalue_file_sink_open(&s, "f", &publishing);
  evalue_status wrote = evalue_sink_write(&s.sink, "new", 3, NULL), closed = evalue_sink_close(&s.sink);
  assert_int_equal(chdir(here), 0);
  assert_int_equal(opened, EVALUE_OK);
  assert_int_equal(wrote, EVALUE_OK);
  assert_int_equal(closed, EVALUE_OK);
  check_file("f", "new", 3);
}

static void test_long_paths(void **state) {
  (void)state;
  static char path[9000];
  int before = open_descriptors();
  evalue_file_sink s;
  empty_folder();
  for (size_t slashes = 3800; slashes <= 8000; slashes += 7) {
    int size = snprintf(path, sizeof path, "%s", folder);
    memset(path + size, '/', slashes);
    strcpy(path + (size_t)size + slashes, "f");
    evalue_status status = evalue_file_sink_open(&s, path, &publishing);
    if (status == EVALUE_OK) assert_int_equal(evalue_file_sink_discard(&s), EVALUE_OK);
    else assert_int_equal(s.sink.system_error, ENAMETOOLONG);
    assert_int_equal(status == EVALUE_OK, (size_t)size + slashes < 4096);
  }
  char name[300];
  memset(name, 'n', 299);
  name[299] = '\0';
  assert_int_equal(evalue_file_sink_open(&s, path_of(name), &publishing), EVALUE_IO);
  assert_int_equal(s.sink.system_error, ENAMETOOLONG);
  check_nothing_left(before);
}

/* A rename would take the place of a pipe or a device (as root, of /dev/null): what is no file is not replaced. */
static void test_what_is_no_file_stays(void **state) {
  (void)state;
  struct stat status;
  evalue_file_sink s;
  empty_folder();
  assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
  evalue_status opened = evalue_file_sink_open(&s, path_of("fifo"), &publishing);
  if (opened == EVALUE_OK) evalue_sink_close(&s.sink);
  assert_int_equal(lstat(path_of("fifo"), &status), 0);
  assert_true(S_ISFIFO(status.st_mode));
  assert_int_equal(opened, EVALUE_IO);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_it_appears_when_it_is_closed),
      cmocka_unit_test(test_modes),
      cmocka_unit_test(test_the_old_file_is_replaced_not_written),
      cmocka_unit_test(test_discarded_or_poisoned),
      cmocka_unit_test(test_h10_no_room_when_it_is_closed),
      cmocka_unit_test(test_the_rename_fails),
      cmocka_unit_test(test_the_directory_is_moved),
      cmocka_unit_test(test_relative_paths),
      cmocka_unit_test(test_long_paths),
      cmocka_unit_test(test_what_is_no_file_stays),
  };
  return cmocka_run_group_tests_name("publish", tests, make_folder, remove_folder);
}
