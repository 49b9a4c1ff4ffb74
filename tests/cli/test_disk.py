# SPDX-License-Identifier: BSD-3-Clause
"""What is on the disk before a file gets its name, and what is left when that fails; preload.c stands between the command and libc."""
import errno
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from support import NONE, CliTest, integer, message, tensor

VALUES = message(tensor("int8", [2], b"\1\2"), NONE, tensor("int8", [1], b"\3"))


class Disk(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.library_dir = tempfile.mkdtemp(prefix="evalue-preload-")
        cls.library = os.path.join(cls.library_dir, "preload.so")
        source = pathlib.Path(__file__).with_name("preload.c")
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-D_GNU_SOURCE", "-shared", "-fPIC", str(source), "-o", cls.library, "-ldl"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.library_dir)

    def setUp(self):
        super().setUp()
        self.write("x", VALUES)
        self.environment.update(LD_PRELOAD=self.library, EVALUE_TEST_LOG=self.path("log"))
        options = self.environment.get("ASAN_OPTIONS", "")
        self.environment["ASAN_OPTIONS"] = options + ":verify_asan_link_order=0"

    def failing(self, what, number):
        return dict(self.environment, EVALUE_TEST_FAIL=what, EVALUE_TEST_ERRNO=str(number))

    def notes(self):
        """The calls, with the random part of names and the test's directory taken off."""
        lines = re.sub(r"\.evalue-\w{6}", "TEMPORARY", self.read("log").decode()).replace(os.path.realpath(self.dir), "DIR").splitlines()
        os.remove(self.path("log"))
        return lines

    def test_a_file_is_on_the_disk_before_it_gets_its_name(self):
        for args in (["pack", "--none", "-o", "new"], ["convert", "x", "new"]):
            self.good(*args)
            self.assertEqual(self.notes(), ["fsync DIR/TEMPORARY", "renameat new", "fsync DIR"])
            os.remove(self.path("new"))
        self.good("pack", "--none", "-o", self.path("new"))
        self.assertEqual(self.notes()[-1], "fsync DIR")

    def test_a_new_directory(self):
        self.good("unpack", "-d", "new/", "x")
        self.assertEqual(self.notes(), ["fsync DIR/TEMPORARY/0000.npy", "fsync DIR/TEMPORARY/0002.npy", "fsync DIR/TEMPORARY/values.jsonl",
                                        "fsync DIR/TEMPORARY", "renameat new", "fsync DIR"])

    def test_a_directory_that_exists(self):
        (self.dir / "old").mkdir()
        self.good("unpack", "-d", "old", "x")
        files = ["0000.npy", "0002.npy", "values.jsonl"]
        self.assertEqual([line for line in self.notes() if "0001" not in line],
                         [f"fsync DIR/old/TEMPORARY/{name}" for name in files] + [f"renameat2 {name}" for name in files] + ["fsync DIR/old"])

    def test_errors_of_a_file(self):
        self.write("old", b"old")
        for what in ("/.evalue", "renameat old"):
            self.bad(2, "^evalue pack: old: cannot write: Input/output error$", "pack", "--none", "-o", "old", env=self.failing(what, errno.EIO))
            self.assertEqual(self.read("old"), b"old")
        self.bad(2, "^evalue pack: new: cannot write: No space left", "pack", "--none", "-o", "new", env=self.failing("fsync", errno.ENOSPC))
        self.assertFalse((self.dir / "new").exists())

    def test_what_cannot_be_synced(self):
        for number in (errno.EINVAL, errno.EROFS):
            self.good("pack", "--int", "7", "-o", "new", env=self.failing("fsync", number))
            self.assertEqual(self.read("new"), message(integer(7)))
            os.remove(self.path("new"))
        null = self.device("null", 3)
        self.good("pack", "--none", "-o", null)
        self.assertIn("fsync", self.read("log").decode())

    def test_errors_of_a_new_directory(self):
        for what in ("/0002.npy", "/values.jsonl", "renameat new"):
            self.bad(2, "Input/output error", "unpack", "-d", "new", "x", env=self.failing(what, errno.EIO))
            self.assertFalse((self.dir / "new").exists())

    def test_errors_of_a_directory_that_exists(self):
        """What was moved already is taken away again."""
        (self.dir / "old").mkdir()
        for what in ("old/.evalue", "renameat2 0000", "renameat2 0002", "renameat2 values"):
            self.bad(2, "Input/output error", "unpack", "-d", "old", "x", env=self.failing(what, errno.EIO))
            self.assertEqual(os.listdir(self.dir / "old"), [])

    def test_file_systems_that_cannot_rename_without_replacing(self):
        (self.dir / "old").mkdir()
        self.good("unpack", "-d", "old", "x", env=self.failing("renameat2", errno.EINVAL))
        self.assertEqual(sorted(os.listdir(self.dir / "old")), ["0000.npy", "0002.npy", "values.jsonl"])

    def test_files_of_others_stay(self):
        for i, name in enumerate(["0000.npy", "0002.npy", "values.jsonl"]):
            for j, environment in enumerate([self.environment, self.failing("renameat2", errno.ENOSYS)]):
                directory = f"d{i}{j}"
                (self.dir / directory).mkdir()
                environment = dict(environment, EVALUE_TEST_CREATE=self.path(f"{directory}/{name}"))
                self.bad(2, f"{directory}: cannot create: File exists", "unpack", "-d", directory, "x", env=environment)
                self.assertEqual(os.listdir(self.dir / directory), [name])
                self.assertEqual(self.read(f"{directory}/{name}"), b"theirs")

    def test_files_of_others_that_are_not_in_the_way_stay(self):
        (self.dir / "old").mkdir()
        environment = dict(self.failing("renameat2 values", errno.EIO), EVALUE_TEST_CREATE=self.path("old/0001.npy"))
        self.bad(2, "Input/output error", "unpack", "-d", "old", "x", env=environment)
        self.assertEqual(self.read("old/0001.npy"), b"theirs")
        self.assertEqual(os.listdir(self.dir / "old"), ["0001.npy"])

    def test_files_that_shrink_while_they_are_read(self):
        for args in (["check", "--form=sequence", "long"], ["convert", "--from=sequence", "long", "new"]):
            self.write("long", bytes(9 * 100000))
            environment = dict(self.environment, EVALUE_TEST_NO_MAP="1", EVALUE_TEST_CUT=self.path("long"))
            self.bad(2, "long: the file shrank while it was read", *args, env=environment)
        self.assertFalse((self.dir / "new").exists())


if __name__ == "__main__":
    unittest.main()
