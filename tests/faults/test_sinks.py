# SPDX-License-Identifier: BSD-3-Clause
"""File sinks when the system fails them: every call that it can refuse, once and for ever, and a kill before every call. writer.c checks the promise of sink.h on the
file itself; shim.c stands between the library and libc. Run by `make test-faults`."""
import errno
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()
CC = shlex.split(os.environ.get("CC", "cc"))
SANITIZERS = shlex.split(os.environ.get("SANITIZERS", ""))
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Werror"]
COUNT = 10
OLD = b"what was there before"
OK, IO, POISONED = 0, 7, 9


def record(i):
    return bytes(1 + (i * 37 + k) % 250 for k in range(1 + i * 29 % 60))


RECORDS = b"".join(record(i) for i in range(COUNT))


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="evalue-faults-"))
        os.chmod(cls.dir, 0o755)
        cls.program, cls.shim = cls.dir / "writer", cls.dir / "shim.so"
        subprocess.run([*CC, *FLAGS, *SANITIZERS, f"-I{ROOT}/include", str(HERE / "writer.c"), str(BUILD / "libevalue.a"), "-o", str(cls.program)], check=True)
        if not SANITIZERS:
            subprocess.run([*CC, *FLAGS, "-shared", "-fPIC", str(HERE / "shim.c"), "-o", str(cls.shim), "-ldl"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def setUp(self):
        self.place = self.dir / "place"
        self.place.mkdir()
        self.file, self.log = self.place / "f", self.dir / "log"

    def tearDown(self):
        shutil.rmtree(self.place)

    def write(self, how, buffer_size=0, sync=0, faults="", short=0, exists=True, **options):
        """Runs the program once on a fresh file; returns its exit status and lines."""
        for entry in self.place.iterdir():
            entry.unlink()
        self.log.unlink(missing_ok=True)
        if exists:
            self.file.write_bytes(OLD)
        environment = dict(os.environ)
        if not SANITIZERS:
            environment.update(LD_PRELOAD=str(self.shim), SHIM_FAULTS=faults, SHIM_SHORT=str(short), SHIM_LOG=str(self.log))
        done = subprocess.run([str(self.program), how, str(self.file), str(buffer_size), str(sync), str(COUNT)], capture_output=True, text=True, env=environment, timeout=60,
                              **options)
        self.assertIn(done.returncode, (0, -9), f"{how} buffer {buffer_size} sync {sync} faults {faults} short {short}: {done.stderr}")
        return done.returncode, done.stdout.splitlines()

    def calls(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def check_descriptors(self, context):
        for line in self.calls():
            self.assertFalse(line in ("left open", "closed what was not open"), f"{context}: {line}: {self.calls()}")

    def check_names(self, context):
        self.assertLessEqual({entry.name for entry in self.place.iterdir()}, {"f"}, context)

    def sweep(self, how, call, number, plus="", also="", **options):
        """Fails the n-th call, n = 1, 2, ... until there is none; yields the last line and whether it failed."""
        for n in range(1, 2000):
            context = f"{how} {call}:{n}{plus}:{number}{also} {options}"
            _, lines = self.write(how, faults=f"{call}:{n}{plus}:{number}{also}", **options)
            self.check_descriptors(context)
            has_failed = any(line.startswith("failing " + call) for line in self.calls())
            yield lines[-1].rsplit(" ", 2), has_failed, context
            if not has_failed:
                return
        self.fail("it never ends")

    def needs_shim(self):
        if SANITIZERS:
            self.skipTest("a preloaded library and a sanitizer do not go together")


class WithoutFaults(Faults):
    def test_every_way_gives_the_same_records(self):
        for how, before in (("append", OLD), ("fd", OLD), ("begin", b""), ("publish", b"")):
            for buffer_size in (0, 1, 40, 64, 1000):
                for sync in (0, 1, 2):
                    self.assertEqual(self.write(how, buffer_size, sync)[1][-1], "closed 0 0")
                    self.assertEqual(self.file.read_bytes(), before + RECORDS)
                    self.check_names(how)

    def test_a_directory_that_may_not_be_written(self):
        options = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        os.chmod(self.place, 0o555)
        try:
            for how in "publish", "begin":
                lines = subprocess.run([str(self.program), how, str(self.file), "0", "0", "1"], capture_output=True, text=True, **options).stdout.splitlines()
                self.assertEqual(lines, [f"not opened {IO} {errno.EACCES}"])
            self.check_names("")
        finally:
            os.chmod(self.place, 0o755)


class Order(Faults):
    """What is synced when, and in what order (H10)."""

    def setUp(self):
        self.needs_shim()
        super().setUp()

    def names(self, how, sync, **options):
        self.write(how, sync=sync, **options)
        return [line.split()[0] for line in self.calls() if line.split()[0] in ("writev", "fsync", "renameat", "close", "unlinkat")]

    def test_h10_publishing(self):
        for buffer_size in (0, 64):
            for exists in (True, False):
                calls = self.names("publish", 2, buffer_size=buffer_size, exists=exists)
                self.assertEqual(calls[-5:], ["fsync", "close", "renameat", "fsync", "close"])
                self.assertEqual(set(calls[:-5]), {"writev"})
                lines = [line for line in self.calls() if line.startswith(("fsync", "writev", "renameat"))]
                self.assertEqual(lines[-3].split()[1], lines[0].split()[1])  # the file
                self.assertEqual(lines[-1].split()[1], lines[-2].split()[1])  # the directory
        self.assertEqual(self.names("publish", 0)[-5:], ["fsync", "close", "renameat", "fsync", "close"])  # whatever was asked for
        calls = self.names("publish", 1)
        self.assertEqual(calls[-5:], ["fsync", "close", "renameat", "fsync", "close"])

    def test_syncing_a_file(self):
        self.assertNotIn("fsync", self.names("append", 0))
        self.assertEqual(self.names("append", 1).count("fsync"), COUNT // 5 + 1)
        calls = self.names("append", 2)
        self.assertEqual(calls[-2:], ["fsync", "close"])
        self.assertEqual(calls.count("fsync"), 1)

    def test_a_buffer_saves_calls(self):
        self.assertLess(self.names("append", 0, buffer_size=4000).count("writev"), COUNT // 2)
        self.assertEqual(self.names("append", 0).count("writev"), COUNT)


class Refusals(Faults):
    """Each call fails in its turn."""

    def setUp(self):
        self.needs_shim()
        super().setUp()

    def test_h4_writes(self):
        for how in "append", "fd", "begin", "publish":
            for short in (0, 1, 7, 50):
                for buffer_size in (0, 40, 100):
                    if (short == 1 and (how, buffer_size) != ("append", 0)) or (short != 0 and buffer_size == 40):
                        continue  # these take long, and are no different
                    number = errno.ENOSPC if buffer_size == 100 else errno.EIO
                    for last, has_failed, context in self.sweep(how, "writev", number, short=short, buffer_size=buffer_size):
                        content, before = self.file.read_bytes(), OLD if how in ("append", "fd") else b""
                        self.check_names(context)
                        if buffer_size != 0 and last[1] != str(OK):  # it was the flush of the closing, which is not tried again
                            self.assertIn(last[1:], ([str(IO), str(errno.EIO)], [str(IO), str(errno.ENOSPC)]), context)
                            self.assertTrue(content == OLD if how == "publish" else (before + RECORDS).startswith(content), context)
                            continue
                        self.assertEqual(last[:2], ["closed", "0"], context)  # tried again, it is as if nothing had been
                        self.assertEqual(content, before + RECORDS, context)

    def test_h4_writes_for_ever(self):
        for how in "append", "fd", "publish":
            for short in (0, 7):
                for buffer_size in (0, 100):
                    for last, has_failed, context in self.sweep(how, "writev", errno.ENOSPC, "+", short=short, buffer_size=buffer_size):
                        self.assertIn(last[1], (str(OK), str(IO)), context)
                        content = self.file.read_bytes()
                        if how == "publish":
                            self.assertIn(content, (OLD, RECORDS) if buffer_size != 0 else (content,), context)
                            self.check_names(context)
                        else:
                            self.assertTrue((OLD + RECORDS).startswith(content), context)

    def test_h4_what_cannot_be_cut_off(self):
        """The write fails, and so does taking it back: poisoned."""
        poisoned = 0
        for call in "ftruncate", "lseek":
            for how in "append", "fd", "publish":
                for buffer_size in (0, 100):
                    nth = "1+" if call == "ftruncate" else "2+"  # the first lseek finds out where it stands
                    for last, has_failed, context in self.sweep(how, "writev", errno.EIO, also=f",{call}:{nth}:{errno.EPERM}", short=7, buffer_size=buffer_size):
                        self.assertIn(last[2], (str(errno.EIO), "0"), context)  # the write's, which failed first
                        self.assertIn(last[:2], (["closed", str(OK)], ["closed", str(POISONED)], ["closed", str(IO)]), context)
                        poisoned += last[1] == str(POISONED)
                        content = self.file.read_bytes()
                        if how == "publish":
                            self.assertIn(content, (OLD, RECORDS), context)
                            self.check_names(context)
                        else:
                            self.assertTrue(content.startswith(OLD), context)
        self.assertGreater(poisoned, 50)

    def test_signals_do_not_matter(self):
        for how in "append", "publish":
            for call, short in (("writev", 0), ("writev", 7), ("close", 0)):
                for number in (errno.EINTR, errno.EAGAIN) if call == "writev" else (errno.EINTR,):
                    for last, has_failed, context in self.sweep(how, call, number, short=short, sync=1):
                        self.assertEqual(last, ["closed", "0", "0"], context)

    def test_signals_while_it_is_synced_or_cut_off(self):
        for how in "append", "publish":
            for last, has_failed, context in self.sweep(how, "fsync", errno.EINTR, sync=1):
                self.assertEqual(last, ["closed", "0", "0"], context)
        for last, has_failed, context in self.sweep("append", "ftruncate", errno.EINTR, also=f",writev:5:{errno.EIO}", short=7):
            self.assertEqual(last[:2], ["closed", "0"], context)

    def test_syncs(self):
        for how in "append", "publish":
            for sync in (1, 2):
                for plus in "", "+":
                    for last, has_failed, context in self.sweep(how, "fsync", errno.EIO, plus, sync=sync, buffer_size=64):
                        self.assertEqual(last[1] != str(OK), has_failed, context)
                        self.check_names(context)
        for number in (errno.EINVAL, errno.EROFS):
            for last, has_failed, context in self.sweep("publish", "fsync", number, sync=2):
                self.assertEqual(last, ["closed", "0", "0"], context)

    def test_h3_closes(self):
        for how in "append", "publish":
            for plus in "", "+":
                for last, has_failed, context in self.sweep(how, "close", errno.EIO, plus, sync=2):
                    self.check_names(context)
                    if how == "append" and has_failed:
                        self.assertEqual(last, ["closed", str(IO), str(errno.EIO)], context)
                    if how == "publish" and last[1] != str(OK):
                        self.assertEqual(self.file.read_bytes(), OLD, context)

    def test_renames_modes_and_opens(self):
        for call in "renameat", "fchmod", "open", "lseek":
            for exists in (True, False):
                for last, has_failed, context in self.sweep("publish", call, errno.EIO, exists=exists):
                    if call != "lseek":
                        self.assertEqual(last[1] != str(OK), has_failed, context)
                    self.check_names(context)
                    if last[1] != str(OK):
                        self.assertEqual(self.file.exists(), exists, context)

    def test_a_temporary_file_that_cannot_be_removed(self):
        for last, has_failed, context in self.sweep("publish", "unlinkat", errno.EIO, also=f",renameat:1:{errno.EACCES}"):
            self.assertEqual(last, ["closed", str(IO), str(errno.EACCES)], context)  # what failed first
            self.assertEqual(self.file.read_bytes(), OLD)


class Kills(Faults):
    """The program is killed before each call."""

    def setUp(self):
        self.needs_shim()
        super().setUp()

    def kill_everywhere(self, how, **options):
        for n in range(1, 3000):
            status, lines = self.write(how, faults=f"any:{n}:0", **options)
            safe = max([int(line.split()[1]) for line in lines if line.startswith("safe")], default=0)
            yield status != 0, safe, f"{how} killed before call {n} {options}"
            if status == 0:
                return
        self.fail("it never ends")

    def test_h10_a_published_file_is_old_or_new(self):
        for exists in (True, False):
            for short, buffer_size in ((0, 0), (7, 0), (7, 100)):
                for sync in (0, 2):
                    seen = set()
                    for is_killed, _, context in self.kill_everywhere("publish", exists=exists, short=short, buffer_size=buffer_size, sync=sync):
                        content = self.file.read_bytes() if self.file.exists() else None
                        self.assertIn(content, (OLD if exists else None, RECORDS), context)
                        seen.add(content)
                        for entry in self.place.iterdir():
                            self.assertTrue(entry.name == "f" or entry.name.startswith(".evalue-"), context)
                    self.assertEqual(len(seen), 2)

    def test_an_appended_file_is_torn_in_its_last_record_only(self):
        for how in "append", "fd":
            for short, buffer_size in ((0, 0), (7, 0), (7, 100), (0, 100)):
                ends = [len(OLD) + sum(len(record(k)) for k in range(i)) for i in range(COUNT + 1)]
                for is_killed, safe, context in self.kill_everywhere(how, short=short, buffer_size=buffer_size):
                    content = self.file.read_bytes()
                    self.assertTrue((OLD + RECORDS).startswith(content), context)
                    self.assertGreaterEqual(len(content), max(safe, len(OLD)), context)
                    if short == 0:
                        self.assertIn(len(content), ends, context)
                    if buffer_size == 0:  # what was not said to be safe is at most the last record
                        self.assertLess(len([end for end in ends if max(safe, len(OLD)) < end <= len(content)]), 2, context)
                    if not is_killed:
                        self.assertEqual(content, OLD + RECORDS)

    def test_a_kill_while_a_record_is_taken_back(self):
        for n in range(1, 60):
            for call in "ftruncate", "lseek":
                status, _ = self.write("append", faults=f"writev:{n}:{errno.EIO},{call}:{1 if call == 'ftruncate' else 2}:0", short=7)
                content = self.file.read_bytes()
                self.assertTrue((OLD + RECORDS).startswith(content))


if __name__ == "__main__":
    unittest.main()
