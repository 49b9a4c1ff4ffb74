# SPDX-License-Identifier: BSD-3-Clause
"""Files, pipes and devices that fail: outputs appear whole or not at all, and nothing ends in a signal or in silence."""
import fcntl
import os
import pty
import resource
import select
import shutil
import signal
import stat
import struct
import subprocess
import threading
import time
import unittest

from support import EVALUE, IS_SANITIZED, NONE, CliTest, bool_message_head, header, integer, message, sequence, tensor, tensor_head

LINE = b'{"kind":"none"}\n'


def npy_head(dtype, shape):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode()


class Output(CliTest):
    def setUp(self):
        super().setUp()
        self.write("old", b"old")

    def mode(self, name):
        return stat.S_IMODE(os.stat(self.dir / name).st_mode)

    def test_permissions(self):
        self.good("pack", "--none", "-o", "new", preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(self.mode("new"), 0o640)
        os.chmod(self.path("old"), 0o604)
        self.good("pack", "--none", "-o", "old", preexec_fn=lambda: os.umask(0o077))
        self.assertEqual((self.mode("old"), self.read("old")), (0o604, message(NONE)))

    def test_links_stay(self):
        os.symlink("old", self.path("link"))
        self.good("pack", "--none", "-o", "link")
        self.assertTrue((self.dir / "link").is_symlink())
        self.assertEqual(self.read("old"), message(NONE))

    def test_links_to_nothing_stay(self):
        (self.dir / "there").mkdir()
        os.symlink("there/second", self.path("link"))
        os.symlink(self.path("there/third"), self.path("there/second"))
        self.good("pack", "--none", "-o", "link")
        self.assertTrue((self.dir / "link").is_symlink() and (self.dir / "there/second").is_symlink())
        self.assertEqual((self.read("there/third"), self.mode("there/third")), (message(NONE), 0o666 & ~self.umask()))
        os.symlink("no/such", self.path("bad"))
        self.bad(2, "^evalue pack: bad: cannot create: No such file", "pack", "--none", "-o", "bad")
        self.assertTrue((self.dir / "bad").is_symlink())

    @staticmethod
    def umask():
        mask = os.umask(0)
        os.umask(mask)
        return mask

    def test_stdout_under_another_name(self):
        """It is written to where it is, as without -o."""
        self.write("x", message(NONE))
        for name in ["/dev/stdout", "/proc/self/fd/1", "out"]:
            for args in [["pack", "--none", "-o", name], ["convert", "x", name]]:
                self.write("out", b"keep\n")
                inode = os.stat(self.path("out")).st_ino
                with open(self.path("out"), "ab") as stream:
                    self.good(*args, stdout=stream)
                self.assertEqual((self.read("out"), os.stat(self.path("out")).st_ino), (b"keep\n" + message(NONE), inode))
        with open(self.path("x"), "rb") as stream:  # stdin cannot be written to
            process = self.start("convert", "--to=sequence", "-", "x", stdin=stream)
            self.assertEqual((process.communicate()[1], process.returncode), (b"", 0))
        self.assertEqual(self.read("x"), NONE)

    @unittest.skipIf(os.geteuid() != 0, "only root can give files away")
    def test_the_owner_stays(self):
        os.chown(self.path("old"), 12345, 23456)
        os.chmod(self.path("old"), 0o640)
        self.good("pack", "--none", "-o", "old")
        status = os.stat(self.path("old"))
        self.assertEqual((status.st_uid, status.st_gid, self.mode("old"), self.read("old")), (12345, 23456, 0o640, message(NONE)))

    def test_the_input_can_be_the_output(self):
        self.write("x", LINE)
        self.good("pack", "--json", "x", "-o", "x")
        self.assertEqual(self.read("x"), message(NONE))

    def test_targets_that_cannot_be_written(self):
        for name, pattern in [("spool", "Is a directory"), ("no/such", "No such file"), ("", "No such file"), ("old/x", "Not a directory"),
                              ("new/", "No such file"), ("x" * 256, "File name too long"), ("/proc/nonesuch", "cannot create")]:
            self.bad(2, f"^evalue pack: {name}: .*{pattern}", "pack", "--none", "-o", name)

    @unittest.skipIf(os.geteuid() == 0, "root may write everything")
    def test_read_only_target(self):
        os.chmod(self.path("old"), 0o444)
        self.bad(2, "old: cannot write: Permission denied", "pack", "--none", "-o", "old")

    def test_pipes_and_devices(self):
        null = self.device("null", 3)
        self.good("pack", "--none", "-o", null)
        self.assertTrue(stat.S_ISCHR(os.stat(null).st_mode))
        self.assertEqual(self.good("pack", "--none", "-o", "/dev/stdout"), message(NONE))
        os.mkfifo(self.path("fifo"))
        process = self.start("pack", "--none", "-o", "fifo")
        self.assertEqual(self.read("fifo"), message(NONE))
        self.assertEqual(process.wait(), 0)
        process.communicate()

    def test_stdout_to_a_file(self):
        with open(self.path("new"), "wb") as stream:
            self.good("pack", "--none", "--int", "1", stdout=stream)
        self.assertEqual(self.read("new"), message(NONE, integer(1)))

    def test_full_device(self):
        self.write("x", message(NONE))
        with open("/dev/full", "wb") as full:
            for args in [["pack", "--none"], ["convert", "x", "-"], ["show", "x"], ["show", "--json", "x"], ["show", "--layout", "x"], ["--help"],
                         ["--version"], ["pack", "--help"], ["check", "--help"]]:
                result = self.run_raw(*args, stdout=full)
                self.assertEqual(result.returncode, 2, args)
                self.assertRegex(result.stderr, b"stdout.*No space left on device")
        full = self.device("full", 7)
        self.bad(2, "full: cannot write: No space left on device", "pack", "--none", "-o", full)
        self.bad(2, "full: cannot write: No space left on device", "convert", "x", full)
        self.assertTrue(stat.S_ISCHR(os.stat(full).st_mode))

    def test_full_file_system(self):
        """A limit on the size of files stands for it: both are errors of write()."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        self.write("x.npy", npy_head("|u1", "(200000,)") + bytes(200000))
        self.bad(2, "old: cannot write: File too large", "pack", "--tensor", "x.npy", "-o", "old", preexec_fn=limit)
        self.bad(2, "temporary file.*: cannot write: File too large", "pack", "--tensor", "x.npy", preexec_fn=limit)
        self.bad(2, "old: cannot write", "pack", *["--int", "1"] * 7000, "-o", "old", preexec_fn=limit)
        self.assertEqual(self.read("old"), b"old")

    def test_no_place_for_the_temporary_file(self):
        self.bad(2, "nonesuch: cannot create a temporary file", "pack", "--none", env=dict(self.environment, TMPDIR="/nonesuch"))

    def test_closed_stdout(self):
        self.write("x", message(NONE))
        for args in ["pack --none", "convert x -", "show x", "show --json x", "--version", "pack --help"]:
            result = subprocess.run(["sh", "-c", f'"$0" {args} >&-', EVALUE], cwd=self.dir, env=self.environment, capture_output=True, check=False)
            self.assertEqual(result.returncode, 2, args)
            self.assertRegex(result.stderr, b"stdout.*Bad file descriptor")
        result = subprocess.run(["sh", "-c", '"$0" check x >&- && "$0" pack --none -o new >&- <&- 2>&-', EVALUE], cwd=self.dir, check=False)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(self.read("new"), message(NONE))
        result = subprocess.run(["sh", "-c", '"$0" check - <&-', EVALUE], capture_output=True, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, b"stdin: cannot (open|read): Bad file descriptor")

    def test_closed_pipe(self):
        self.write("x", message(*[integer(i) for i in range(5000)]))
        for args in [["pack", *["--int", "1"] * 20000], ["convert", "x", "-"]]:
            reading, writing = os.pipe()
            os.close(reading)
            result = self.run_raw(*args, stdout=writing)
            os.close(writing)
            self.assertEqual(result.returncode, 2, args)
            self.assertRegex(result.stderr, b"Broken pipe")

    def test_closed_pipe_of_text(self):
        """Whoever reads text, such as `head`, has seen enough: that is no error."""
        self.write("x", message(*[integer(i) for i in range(5000)]))
        for args in [["show", "x"], ["show", "--json", "x"], ["show", "--layout", "x"], ["show", "--help"], ["--help"]]:
            reading, writing = os.pipe()
            os.close(reading)
            process = self.start(*args, stdout=writing)
            os.close(writing)
            self.assertEqual((process.communicate()[1], process.returncode), (b"", -signal.SIGPIPE), args)

    def test_slow_and_non_blocking_pipe(self):
        reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETFL, os.O_NONBLOCK)
        self.write("x.npy", npy_head("|u1", "(1000000,)") + os.urandom(1000000))
        process = self.start("pack", "--tensor", "x.npy", stdout=writing)
        os.close(writing)
        got = b""
        while part := os.read(reading, 50000):
            got += part
            time.sleep(0.002)
        os.close(reading)
        self.assertEqual((process.wait(), process.communicate()[1]), (0, b""))
        self.assertEqual(got, message(tensor("uint8", [1000000], self.read("x.npy")[128:])))

    def test_non_blocking_text_into_a_small_pipe(self):
        """A part of each write is taken, then a part of the rest."""
        self.write("x", message(*[integer(i) for i in range(300)]))
        reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETFL, os.O_NONBLOCK)
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        process = self.start("show", "--layout", "x", stdout=writing)
        os.close(writing)
        got = b""
        while part := os.read(reading, 1500):
            got += part
            time.sleep(0.001)
        os.close(reading)
        self.assertEqual((process.wait(), process.communicate()[1]), (0, b""))
        self.assertEqual(got, self.good("show", "--layout", "x"))

    def test_non_blocking_text(self):
        """Nobody reads before the pipe is full."""
        self.write("x", message(*[integer(i) for i in range(20000)]))
        for options in [[], ["--json"], ["--layout"]]:
            reading, writing = os.pipe()
            fcntl.fcntl(writing, fcntl.F_SETFL, os.O_NONBLOCK)
            process = self.start("show", *options, "x", stdout=writing)
            os.close(writing)
            time.sleep(0.1)
            with open(reading, "rb") as stream:
                got = stream.read()
            self.assertEqual((process.wait(), process.communicate()[1]), (0, b""))
            self.assertEqual(got, self.good("show", *options, "x"))

    def test_a_directory_that_is_renamed_meanwhile(self):
        os.mkfifo(self.path("fifo"))
        for name, end in [("a", signal.SIGTERM), ("b", b"x"), ("c", LINE)]:
            (self.dir / name).mkdir()
            process = self.start("pack", "--json", "fifo", "-o", f"{name}/new")
            self.wait_for(lambda: list((self.dir / name).glob(".evalue-*")), "the temporary file")
            os.rename(self.path(name), self.path(name + "2"))
            if isinstance(end, bytes):
                self.write("fifo", end)
            else:
                process.send_signal(end)
            process.communicate(timeout=20)
            self.assertEqual(os.listdir(self.path(name + "2")), ["new"] if end == LINE else [])
        self.assertEqual(self.read("c2/new"), message(NONE))

    def interrupt(self, number):
        os.mkfifo(self.path(f"fifo{number}"))
        heard = lambda: signal.signal(number, signal.SIG_DFL)  # a shell's background job may have been told to ignore it
        process = self.start("pack", "--none", "--json", f"fifo{number}", "-o", "old", preexec_fn=heard)
        self.wait_for(lambda: list(self.dir.glob(".evalue-*")), "the temporary file")
        process.send_signal(number)
        self.assertEqual(process.wait(20), -number)
        process.communicate()

    def test_signals_remove_the_temporary_file(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGXCPU, signal.SIGVTALRM,
                       signal.SIGPROF, signal.SIGUSR1, signal.SIGUSR2]:
            self.interrupt(number)
            self.assertEqual(list(self.dir.glob(".evalue-*")), [])
            self.assertEqual(self.read("old"), b"old")

    def test_an_ignored_signal_stays_ignored(self):
        os.mkfifo(self.path("fifo"))
        process = self.start("pack", "--json", "fifo", "-o", "new", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for(lambda: list(self.dir.glob(".evalue-*")), "the temporary file")
        process.send_signal(signal.SIGHUP)
        self.write("fifo", LINE)
        self.assertEqual(process.wait(20), 0)
        process.communicate()
        self.assertEqual(self.read("new"), message(NONE))

    def test_signals_remove_the_temporary_directory(self):
        size = 300 << 20
        self.write("x", bool_message_head(size))
        os.truncate(self.path("x"), len(bool_message_head(size)) + size)
        process = self.start("unpack", "-d", "new", "x")
        self.wait_for(lambda: list(self.dir.glob(".evalue-*/*.npy")), "the temporary directory")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), -signal.SIGTERM)
        process.communicate()
        self.assertEqual(list(self.dir.glob(".evalue-*")), [])
        self.assertFalse((self.dir / "new").exists())


class Input(CliTest):
    def test_files_that_cannot_be_read(self):
        for command in [["check"], ["show"], ["unpack", "-d", "d"], ["convert", "--to=sequence"], ["pack", "--tensor"], ["pack", "--json"]]:
            for name, pattern in [("nonesuch", "cannot open: No such file"), (".", "cannot read: Is a directory"), ("", "No such file"),
                                  ("x/y", "cannot open: Not a directory")]:
                self.write("x", b"")
                more = ["out"] if command[0] == "convert" else []
                self.bad(2, pattern, *command, name, *more)
        self.assertFalse((self.dir / "out").exists() or (self.dir / "d").exists())

    def test_empty_inputs(self):
        self.write("empty", b"")
        self.good("check", "--form=sequence", "empty")
        self.bad(1, "^empty: offset 0: truncated", "check", "empty")
        self.bad(1, "^stdin: offset 0: truncated", "check", "-")
        self.assertEqual(self.good("convert", "--from=sequence", "empty", "-"), message())
        self.assertEqual(self.good("pack", "--json", "empty"), message())

    def test_files_that_do_not_know_their_size(self):
        self.bad(1, "^/proc/self/status: offset 0: malformed", "check", "/proc/self/status")

    def test_stdin_that_a_shell_has_read_from(self):
        self.write("x", b"line\n" + message(NONE))
        script = 'read -r line && "$0" check -'
        with open(self.path("x"), "rb") as stream:
            result = subprocess.run(["sh", "-c", script, EVALUE], stdin=stream, capture_output=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, b""))

    def test_a_bad_header_is_noticed_at_once(self):
        """Of what never ends no more is read than has to be."""
        for args in [["check"], ["show"], ["show", "--json"], ["show", "--layout"], ["unpack", "-d", "new"], ["convert", "--to=sequence"],
                     ["pack", "--tensor"]]:
            more = ["out"] if args[0] == "convert" else []
            for name in ["/dev/zero", "-"]:
                limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
                with open("/dev/zero", "rb") as zero:
                    process = self.start(*args, name, *more, preexec_fn=limit, stdin=zero)
                process.communicate(timeout=20)
                self.assertEqual(process.returncode, 1, args)

    def test_no_more_is_read_than_the_header_says(self):
        """And one byte, to see whether the input goes on. The rest stays for the next program."""
        whole = message(tensor("uint8", [100000], bytes(100000)), integer(1))
        for data, left, code in [(whole + b"more", b"ore", 1), (b"EVIL" + whole[4:], whole[24:], 1), (whole, b"", 0),
                                 (whole[:7] + b"\1" + whole[8:], whole[24:], 1)]:
            result = subprocess.run(["sh", "-c", '"$0" check -; echo "code $?"; cat', EVALUE], input=data, capture_output=True, check=False)
            self.assertEqual(result.stdout, b"code %d\n" % code + left)

    def test_wrong_input_that_never_ends(self):
        self.write("x.npy", npy_head("<V2", "(3, 5)") + bytes(30))
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
        none_then_long = NONE + struct.pack("<BQ", 2, 1 << 60)
        for start, args, pattern in [
                (b"", ["check", "--form=sequence", "-"], b"offset 0: value 0: unsupported"),
                (b"", ["convert", "--from=sequence", "-", "out"], b"offset 0"),
                (b"", ["show", "--form=sequence", "--layout", "-"], b"offset 0"),
                (NONE * 100000, ["check", "--form=sequence", "-"], b"offset 900000: value 100000: unsupported"),
                (none_then_long, ["check", "--form=sequence", "-"], b"truncated.* or more\n$"),
                (header(1, 1 << 60, 1), ["check", "-"], b"truncated.* or more\n$"),
                (self.read("x.npy"), ["pack", "--as=bfloat16", "--tensor", "-"], b"offset 128: the data is too long: expected 30 bytes, found 31 or more"),
                (self.read("x.npy"), ["pack", "--tensor", "-"], b"no scalar type")]:
            self.write("start", start)
            shell = ["sh", "-c", "(cat start; yes) | \"$0\" \"$@\"", EVALUE, *args]
            result = subprocess.run(shell, cwd=self.dir, env=self.environment, capture_output=True, check=False, preexec_fn=limit, timeout=20)
            self.assertEqual(result.returncode, 1, (args, result.stderr))
            self.assertRegex(result.stderr, pattern)
        self.assertEqual(self.run_raw("check", "--form=sequence", "/dev/urandom", preexec_fn=limit).returncode, 1)

    def test_a_fault_is_noticed_while_the_input_arrives(self):
        process = self.start("check", "--form=sequence", "-", stdin=subprocess.PIPE)
        process.stdin.write(NONE + b"\x06")
        process.stdin.flush()
        self.assertEqual(process.wait(20), 1)
        process.communicate()

    def test_no_more_is_read_than_an_npy_header_says(self):
        data = npy_head("|u1", "(3,)") + b"abc"
        result = subprocess.run(["sh", "-c", '"$0" pack --tensor - -o out; echo "code $?"; cat', EVALUE], input=data + b"more", capture_output=True,
                                cwd=self.dir, check=False)
        self.assertEqual(result.stdout, b"code 1\nore")
        self.assertEqual(self.good("pack", "--tensor", "-", input=data), message(tensor("uint8", [3], b"abc")))

    def test_non_blocking_inputs(self):
        value = tensor("int8", [2], b"\1\2")
        for args, parts in [(["convert", "-", "-"], [message(value)[:30], message(value)[30:]]),
                            (["pack", "--json", "-"], [b'{"kind":"tensor","scalar_type":"int8","sizes":[2],', b'"data_hex_le":"0102"}\n']),
                            (["pack", "--tensor", "-"], [npy_head("|i1", "(2,)"), b"\1\2"])]:
            reading, writing = os.pipe()
            fcntl.fcntl(reading, fcntl.F_SETFL, os.O_NONBLOCK)
            process = self.start(*args, stdin=reading)
            os.close(reading)
            for part in parts:
                time.sleep(0.1)
                os.write(writing, part)
            os.close(writing)
            self.assertEqual(process.communicate(timeout=20), (message(value), b""), args)

    def test_long_names(self):
        for args in [["check", "x" * 100000], ["pack", "--none", "-o", "x" * 100000], ["pack", "--json", "x" * 100000]]:
            text = self.bad(2, r"^evalue [a-z]+: x{1000,}\.\.\.x{1000,}: cannot [a-z]+: File name too long\n$", *args)
            self.assertLess(len(text), 10000)

    def test_large_pipe(self):
        value = tensor("uint8", [3000000], os.urandom(3000000))
        self.assertEqual(self.good("convert", "--to=sequence", "-", "-", input=message(value)), sequence(value))


class Shrinking(CliTest):
    """Files that are cut while they are mapped. The process is stopped as soon as its map of the file is there."""

    def sparse(self, name, head, size):
        self.write(name, head)
        os.truncate(self.path(name), len(head) + size)

    def shrink(self, name, *args, to=0):
        path = os.path.realpath(self.path(name))
        size = os.path.getsize(path)
        for _ in range(5):
            process = self.start(*args)
            with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
                while process.poll() is None and path not in maps.read():
                    maps.seek(0)
            process.send_signal(signal.SIGSTOP)
            os.truncate(path, to)
            process.send_signal(signal.SIGCONT)
            out, err = process.communicate(timeout=60)
            if process.returncode != 0:
                break
            os.truncate(path, size)  # it was faster than we were
        self.assertEqual((process.returncode, out), (2, b""), err)
        self.assertRegex(err, rb"^evalue [a-z]+: %s: the file shrank while it was read\n$" % name.encode())

    def test_check(self):
        size = 600 << 20
        for to in [0, 5000, 100 << 20]:
            self.sparse("x", bool_message_head(size), size)
            self.shrink("x", "check", "--deep", "x", to=to)

    def test_check_of_many_values(self):
        body = NONE * 4000000
        self.write("x", header(1, len(body), 4000000) + body)
        self.shrink("x", "check", "x", to=4096)

    def test_convert(self):
        size = 400 << 20
        self.write("old", b"old")
        self.sparse("x", bool_message_head(size), size)
        self.shrink("x", "convert", "x", "old", to=1 << 20)
        self.assertEqual(self.read("old"), b"old")
        self.sparse("x", bool_message_head(size), size)
        self.shrink("x", "convert", "x", "-")

    def test_pack(self):
        size = 400 << 20
        for dtype, width in [("<f4", 4), (">f4", 4)]:
            self.sparse("x.npy", npy_head(dtype, f"({size // width},)"), size)
            self.shrink("x.npy", "pack", "--tensor", "x.npy", "-o", "out", to=1 << 20)
            self.assertFalse((self.dir / "out").exists())

    def test_unpack(self):
        size = 100 << 20
        self.sparse("x", bool_message_head(size), size)
        self.shrink("x", "unpack", "-d", "out", "x", to=1 << 20)
        self.assertFalse((self.dir / "out").exists())
        head = tensor_head("bool", [10, 10, size // 100], [1, 0, 2], size // 100 * 100)
        self.sparse("x", head, size // 100 * 100)
        self.shrink("x", "unpack", "--form=sequence", "-d", "out", "x", to=1 << 20)
        self.assertFalse((self.dir / "out").exists())

    def test_json(self):
        """JSON Lines are read, not mapped: what is missing at the end has to be noticed, too."""
        self.write("x.jsonl", LINE * 2000000)
        process = self.start("pack", "--json", "x.jsonl", "-o", "out")
        self.wait_for(lambda: list(self.dir.glob(".evalue-*")), "the temporary file")
        process.send_signal(signal.SIGSTOP)
        os.truncate(self.path("x.jsonl"), len(LINE) * 1000)
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (2, b""))
        self.assertRegex(err, b"x.jsonl: the file shrank while it was read")
        self.assertFalse((self.dir / "out").exists())


class Large(CliTest):
    def test_more_than_4_gib(self):
        if shutil.disk_usage(self.dir).free < 10 << 30:
            self.skipTest("needs 10 GiB of free disk space")
        size = 3 * 1431660000
        self.write("x.npy", npy_head("|u1", f"(3, {size // 3})"))
        with open(self.path("x.npy"), "r+b") as stream:
            stream.seek(128 + size - 3)
            stream.write(b"end")
        master, slave = pty.openpty()
        drawn = []
        reader = threading.Thread(target=lambda: self.collect(master, drawn))
        reader.start()
        process = self.start("pack", "--tensor", "x.npy", "--int", "7", "-o", "x", stderr=slave, env=dict(self.environment, TERM="xterm"))
        code = process.wait(120)
        process.communicate()
        os.close(slave)
        reader.join()
        os.close(master)
        self.assertEqual(code, 0, drawn)
        text = b"".join(drawn)
        if text:  # it took longer than a moment
            self.assertRegex(text, rb"x.npy \[#*\.*\] +\d+% \d+ MB/s")
            self.assertTrue(text.endswith(b"\r\x1b[K"), text[-50:])
        self.good("check", "x")
        with open(self.path("x"), "rb") as stream:
            self.assertEqual(stream.read(24)[16:], struct.pack("<Q", 2))
            stream.seek(-17 - 4, os.SEEK_END)
            self.assertEqual(stream.read(), b"\0end" + integer(7))

    @staticmethod
    def collect(master, drawn):
        try:
            while part := os.read(master, 4096):
                drawn.append(part)
        except OSError:
            pass  # the last writer has closed the terminal


class Memory(CliTest):
    @unittest.skipIf(IS_SANITIZED, "a sanitizer needs more memory")
    def test_pack_and_convert_need_constant_memory(self):
        """400 MB of data with 100 MB of memory of the process's own."""
        size = 400 << 20
        limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (100 << 20, 100 << 20))
        for dtype in ["<f4", ">f4"]:
            self.write("x.npy", npy_head(dtype, f"({size // 4},)"))
            os.truncate(self.path("x.npy"), 128 + size)
            self.good("pack", "--tensor", "x.npy", "-o", "x", preexec_fn=limit)
        self.good("convert", "--to=sequence", "x", "y", preexec_fn=limit)
        self.good("check", "--form=sequence", "--deep", "y", preexec_fn=limit)


class Progress(CliTest):
    def drawn_while(self, environment):
        """What appears on a terminal while JSON Lines arrive slowly."""
        os.mkfifo(self.path("fifo"))
        master, slave = pty.openpty()
        process = self.start("pack", "--json", "fifo", "-o", "out", stderr=slave, env=environment)
        with open(self.path("fifo"), "wb", buffering=0) as fifo:
            fifo.write(LINE)
            time.sleep(0.7)
            fifo.write(LINE * 1000)
            time.sleep(0.1)
        self.assertEqual(process.wait(20), 0)
        process.communicate()
        text = os.read(master, 65536) if select.select([master], [], [], 0)[0] else b""
        os.close(slave)
        os.close(master)
        return text

    def test_bar_is_drawn_and_removed(self):
        text = self.drawn_while(dict(self.environment, TERM="xterm"))
        self.assertRegex(text, rb"^\r\x1b\[Kfifo \d+ MB \d+ MB/s.*\r\x1b\[K$")

    def test_no_bar_on_a_dumb_terminal(self):
        self.assertEqual(self.drawn_while(dict(self.environment, TERM="dumb")), b"")


if __name__ == "__main__":
    unittest.main()
