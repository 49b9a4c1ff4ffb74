# SPDX-License-Identifier: BSD-3-Clause
"""`evalue send` and `evalue receive`: a message goes from process to process byte for byte, and whatever else happens leaves nothing behind."""
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import resource
import signal
import socket
import stat
import struct
import subprocess
import threading
import time
import unittest

from support import (EVALUE, IS_SANITIZED, NONE, CliTest, bool_message_head, boolean, double, element, integer, message, sequence, string, tensor)

GUARD = 60  # seconds: whatever takes longer hangs
WAIT = "--timeout=30"  # for who has to wait for the other side
INLINE, SLOT, SEALED, POOL = 1, 2, 3, 4  # spec/evalue-ipc.md, section 2
CARRIERS = [None, "inline", "pool", "sealed"]
BEHIND, CONTROL, PAGE = 128, 65536, 4096
F_ADD_SEALS, F_GET_SEALS = 1033, 1034
SEAL_SHRINK, SEAL_GROW, SEAL_WRITE = 2, 4, 8
SEALED_SIZE = SEAL_SHRINK | SEAL_GROW
SEALED_ALL = SEALED_SIZE | SEAL_WRITE
KINDS = [socket.SOCK_STREAM, socket.SOCK_SEQPACKET]
SMALL = message(integer(7), string(b"small"))
LOG_LINE = re.compile(r"\S+Z (\w+) ipc (?:(\w+) )?\w+\.c:\d+: (.*)")


def of_size(size):
    """A message of exactly so many bytes."""
    return message(string(os.urandom(size - 33)))


def frame(carrier, nbytes, place=0, magic=b"EVIP", version=1, flags=0):
    return struct.pack("<4sBBHQQ", magic, version, carrier, flags, nbytes, place)


def memory(content, nbytes=None, seals=SEALED_ALL):
    fd = os.memfd_create("peer", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, len(content) + BEHIND if nbytes is None else nbytes)
    os.pwrite(fd, content, 0)
    fcntl.fcntl(fd, F_ADD_SEALS, seals)
    return fd


def pool_memory(slot_nbytes, content=b"", seals=SEALED_SIZE):
    """A pool of one slot."""
    return memory(bytes(CONTROL) + content, CONTROL + -(-(slot_nbytes + BEHIND) // PAGE) * PAGE, seals)


class Ipc(CliTest):
    def setUp(self):
        super().setUp()
        for name in ("EVALUE_LOGS", "EVALUE_LOGS_OUT", "EVALUE_LOGS_FORMAT"):
            self.environment.pop(name, None)
        self.write("m", SMALL)

        self.started = []

    def tearDown(self):
        for process in self.started:  # of a test that has failed: they remove what they have made
            if process.poll() is None:
                process.terminate()
                process.wait(GUARD)
        super().tearDown()

    def start(self, *args, **options):
        process = super().start(*args, **options)
        self.started.append(process)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        for stream in process.stdin, process.stdout, process.stderr:
            if stream is not None:
                stream.close()

    def there(self, name):
        return os.path.lexists(self.dir / name)

    def receive(self, *args, at="s", out="out", **options):
        """Starts a receiver, and waits for its socket."""
        process = self.start("receive", *args, at, "-o", out, **options)
        self.wait_for(lambda: self.there(at) or process.poll() is not None, "the socket")
        return process

    def ends(self, process, code=0, pattern=r"\A\Z"):
        """Waits for its end; returns what it has said."""
        try:
            out, err = process.communicate(timeout=GUARD)
        except subprocess.TimeoutExpired:
            self.fail(f"{process.args} hangs")
        self.assertEqual(process.returncode, code, err)
        self.assertNotIn(b"Sanitizer", err)
        self.assertRegex(err.decode(), pattern)
        return out, err.decode()

    def ended(self, process, code=0, pattern=r"\A\Z", out=None):
        """The end of a receiver: the socket is gone, and out is what is expected, None for no file."""
        said = self.ends(process, code, pattern)[1]
        self.assertFalse(self.there("s"), "the socket was left behind")
        self.assertEqual(self.there("out"), out is not None)
        self.assertTrue(out is None or self.read("out") == out, "the bytes are others")
        return said

    def is_waiting(self, process):
        self.assertIsNone(process.poll(), "the receiver does not wait any more")

    def connect(self, kind=socket.SOCK_STREAM, at="s"):
        """Connects to a receiver that may not listen yet."""
        end = time.monotonic() + GUARD
        while True:
            peer = socket.socket(socket.AF_UNIX, kind)
            peer.settimeout(GUARD)
            try:
                peer.connect(self.path(at))
                self.addCleanup(peer.close)
                return peer
            except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):  # the last one: it has a queue
                peer.close()
                self.assertLess(time.monotonic(), end, "nobody listens")
                time.sleep(0.002)

    def say(self, *parts):
        """Sends parts, each bytes or (bytes, what makes their descriptor), over a new connection, and closes it."""
        with self.connect() as peer, contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has heard enough
            for part in parts:
                if isinstance(part, bytes):
                    peer.sendall(part)
                    continue
                fd = part[1]()
                try:
                    socket.send_fds(peer, [part[0]], [fd])
                finally:
                    os.close(fd)

    def listen(self, kind=socket.SOCK_STREAM, at="s", backlog=8):
        listener = socket.socket(socket.AF_UNIX, kind)
        self.addCleanup(listener.close)
        listener.bind(self.path(at))
        listener.listen(backlog)
        listener.settimeout(GUARD)
        return listener

    def accept(self, listener):
        connection = listener.accept()[0]
        connection.settimeout(GUARD)
        self.addCleanup(connection.close)
        return connection


class Passing(Ipc):
    def pass_on(self, data, carrier=None, *more, by=None):
        """Sends data with a real sender to a real receiver; both say nothing."""
        self.write("m", data)
        if self.there("out"):
            os.remove(self.path("out"))
        process = self.receive("--log=+ipc,-cli")
        options = [] if carrier is None else [f"--carrier={carrier}"]
        self.good("send", WAIT, *options, *more, "s", "m")
        by = carrier or by or ("inline" if len(data) <= 65536 else "pool")
        self.ended(process, 0, f"received a message of {len(data)} bytes, {by}\n$", data)

    def test_every_carrier_and_size(self):
        large = message(tensor("float32", [1 << 20, 10], os.urandom(10 << 22)), integer(-1))  # 40 MB
        for data in [message(), message(NONE), SMALL, of_size(65535), of_size(65536), of_size(65537), of_size(1 << 20), large]:
            for carrier in CARRIERS:
                with self.subTest(size=len(data), carrier=carrier):
                    self.pass_on(data, carrier)

    def test_byte_for_byte(self):
        """What the command does not have to understand stays, too."""
        values = [element(200, b"first"), NONE, tensor("float32", [2], bytes(range(8))), element(129), element(255, b"x" * 70000),
                  tensor("int16", [3, 1], bytes(range(6)), [1, 0]), double(0.5), element(160, b"z"), boolean(1), element(192, b"last")]
        for carrier in CARRIERS:
            for align in [1, 2, 64, 4096]:
                data = message(*values, align=align)
                self.pass_on(data[:5] + b"\x07" + data[6:], carrier)  # of a later minor version

    def test_standard_input_and_output(self):
        for carrier in CARRIERS:
            for data in [SMALL, of_size(3 << 20)]:
                process = self.receive(out="-")
                self.good("send", WAIT, *([f"--carrier={carrier}"] if carrier else []), "s", "-", input=data)
                self.assertTrue(self.ends(process)[0] == data)
                self.assertFalse(self.there("s"))

    def test_into_show(self):
        shell = subprocess.Popen(["sh", "-c", '"$0" receive --timeout 30 s -o - | "$0" show -', EVALUE], cwd=self.dir, env=self.environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, shell)
        self.good("send", WAIT, "s", "m")
        self.assertEqual(self.ends(shell)[0], self.good("show", "m"))

    def test_either_may_be_first(self):
        sender = self.start("send", WAIT, "s", "m")
        time.sleep(0.2)
        self.is_waiting(sender)
        self.write("s", b"")  # a place where nobody listens is no reason to give up, either
        time.sleep(0.1)
        self.is_waiting(sender)
        os.remove(self.path("s"))
        self.ended(self.receive(), out=SMALL)
        self.ends(sender)

    def test_a_relative_path_and_one_of_any_length(self):
        for at in ["s", "./spool/../s", self.path("s"), "x" * 107]:
            process = self.receive(at=at)
            self.good("send", WAIT, at, "m")
            self.ends(process)
            self.assertEqual(self.read("out"), SMALL)
            self.assertFalse(self.there(at))

    def test_several_senders(self):
        """One message is taken; nobody hangs."""
        every = [message(integer(i), string(os.urandom(100000))) for i in range(6)]
        process = self.receive()
        senders = [self.start("send", "--timeout=1", "s", "-", stdin=subprocess.PIPE) for _ in every]
        for sender, data in zip(senders, every):
            sender.stdin.write(data)
            sender.stdin.close()
            sender.stdin = None
        self.ends(process)
        self.assertIn(self.read("out"), every)
        for sender in senders:
            sender.communicate(timeout=GUARD)
            self.assertIn(sender.returncode, [0, 2])

    def test_out_may_be_the_place_of_the_socket(self):
        process = self.receive(out="s")
        self.good("send", WAIT, "s", "m")
        self.ends(process)
        self.assertEqual(self.read("s"), SMALL)


class Socket(Ipc):
    """The file that the socket is."""

    def test_who_may_connect(self):
        for mask in [0o077, 0o027, 0o002]:
            process = self.receive(preexec_fn=lambda mask=mask: os.umask(mask))
            self.assertEqual(stat.S_IMODE(os.stat(self.path("s")).st_mode), 0o777 & ~mask)
            self.assertTrue(stat.S_ISSOCK(os.stat(self.path("s")).st_mode))
            process.terminate()
            self.ended(process, -signal.SIGTERM)

    def test_signals(self):
        self.write("out", b"old")
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]:
            for said in [None, b"", frame(INLINE, len(SMALL))[:9], frame(INLINE, len(SMALL)) + SMALL[:30]]:
                # a shell's background job may have been told to ignore it
                process = self.receive(preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL))
                peer = self.connect() if said is not None else None
                if said:
                    peer.sendall(said)
                    time.sleep(0.02)
                process.send_signal(number)
                self.ended(process, -number, out=b"old")
                self.assertEqual(list(self.dir.glob(".evalue-*")), [])

    def test_an_ignored_signal(self):
        process = self.receive(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        self.good("send", WAIT, "s", "m")
        self.ended(process, out=SMALL)

    def test_a_stale_socket_is_replaced(self):
        for kind in KINDS:
            listener = self.listen(kind)
            listener.close()
            old = os.lstat(self.path("s"))
            process = self.start("receive", "s", "-o", "out")
            self.good("send", WAIT, "s", "m")
            self.ended(process, out=SMALL)
            os.remove(self.path("out"))
            self.assertTrue(stat.S_ISSOCK(old.st_mode))

    def test_after_a_receiver_was_killed(self):
        process = self.receive()
        self.connect().close()
        process.kill()
        self.ends(process, -signal.SIGKILL)
        for left in self.dir.glob(".evalue-*"):
            left.unlink()
        self.assertTrue(self.there("s"))
        self.bad(2, "^evalue send: s: cannot connect: Connection refused\n$", "send", "s", "m")
        process = self.receive()
        self.good("send", WAIT, "s", "m")
        self.ended(process, out=SMALL)

    def test_a_live_socket_is_not_disturbed(self):
        process = self.receive()
        for _ in range(3):
            self.bad(2, "^evalue receive: s: cannot listen: Address already in use\n$", "receive", "s", "-o", "other")
        self.is_waiting(process)
        self.assertFalse(self.there("other"))
        self.good("send", WAIT, "s", "m")
        self.ended(process, out=SMALL)

    def test_whoever_listens_notices_nothing(self):
        for kind in KINDS:
            listener = self.listen(kind)
            listener.setblocking(False)
            self.bad(2, "cannot listen: Address already in use", "receive", "s", "-o", "out")
            self.assertRaises(BlockingIOError, listener.accept)
            self.assertFalse(self.there("out"))
            os.remove(self.path("s"))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
            bound.bind(self.path("s"))
            self.bad(2, "cannot listen: Address already in use", "receive", "s", "-o", "out")
            self.assertTrue(self.there("s"))

    def test_another_file_is_left_alone(self):
        self.write("file", b"mine")
        (self.dir / "directory").mkdir()
        os.mkfifo(self.path("fifo"))
        os.symlink("nothing", self.path("dangling"))
        self.listen(at="stale").close()
        os.symlink("stale", self.path("link"))
        before = {path.name: os.lstat(path).st_ino for path in self.dir.iterdir()}
        for name in ["file", "directory", "fifo", "dangling", "link"]:
            self.bad(2, f"^evalue receive: {name}: cannot listen: Address already in use\n$", "receive", name, "-o", "out")
        self.assertEqual({path.name: os.lstat(path).st_ino for path in self.dir.iterdir()}, before)
        self.assertEqual(self.read("file"), b"mine")

    def test_what_others_put_in_its_place_is_left_alone(self):
        """Somebody has removed the socket and put another file there: it is not the receiver's to remove."""
        for ending in ["message", "signal"]:
            process = self.receive()
            peer = self.connect()
            os.remove(self.path("s"))
            self.write("s", b"mine")
            if ending == "message":
                peer.sendall(frame(INLINE, len(SMALL)) + SMALL)
                self.ends(process)
            else:
                process.terminate()
                self.ends(process, -signal.SIGTERM)
            with self.subTest(ending):
                self.assertTrue(self.there("s"), "a file of somebody else's was removed")
                self.assertEqual(self.read("s"), b"mine")
            if self.there("s"):
                os.remove(self.path("s"))

    def test_paths_that_cannot_be(self):
        for at, pattern in [("", "the path is empty or too long"), ("x" * 108, "the path is empty or too long"), ("x" * 5000, "the path is empty or too long"),
                            ("no/such", "No such file or directory"), ("m/x", "Not a directory")]:
            self.bad(2, rf"^evalue receive: {at}: cannot listen: {pattern}\n$", "receive", at, "-o", "out")
            self.bad(2, rf"^evalue send: {at}: cannot connect: {pattern}\n$", "send", at, "m")
        self.assertEqual(sorted(path.name for path in self.dir.iterdir()), ["m", "spool"])

    def test_where_nobody_listens(self):
        self.write("file", b"")
        self.listen(at="stale").close()
        for at, pattern in [("nonesuch", "No such file or directory"), ("file", "Connection refused"), ("spool", "Connection refused"), ("stale", "Connection refused")]:
            for options in [[], ["--timeout=0.05"]]:
                self.bad(2, rf"^evalue send: {at}: cannot connect: {pattern}\n$", "send", *options, at, "m")


class BadFiles(Ipc):
    """What `send` does not send."""

    BAD = [b"", SMALL[:23], SMALL[:-1], b"EVIL" + SMALL[4:], message(NONE, element(6)), message(boolean(2)), message(NONE) + b"x"]

    def test_a_bad_file_is_not_sent(self):
        listener = self.listen()
        listener.setblocking(False)
        for data in self.BAD:
            self.write("bad", data)
            text = self.bad(1, "^bad: offset ", "check", "bad")
            self.assertEqual(self.bad(1, ".", "send", "s", "bad"), text)
            self.assertEqual(self.bad(1, ".", "send", "nonesuch", "bad"), text)  # before anybody is asked for
        self.assertRaises(BlockingIOError, listener.accept)

    def test_the_receiver_still_waits(self):
        process = self.receive()
        for data in self.BAD:
            self.bad(1, "offset", "send", WAIT, "s", "-", input=data)
        self.is_waiting(process)
        self.good("send", WAIT, "s", "m")
        self.ended(process, out=SMALL)

    def test_bad_standard_input(self):
        """It is reported as `check` reports it: also that of what follows no more than a byte was read."""
        for data in [*self.BAD, SMALL + b"more"]:
            with self.subTest(data=data):
                self.assertEqual(self.bad(1, ".", "send", "s", "-", input=data), self.bad(1, "^stdin: offset ", "check", "-", input=data))

    def test_no_advice_that_send_does_not_take(self):
        for data in [sequence(NONE, integer(1)), b"\1\6\1\0\0\0\1\x3f\x80\0\0"]:
            self.write("bad", data)
            text = self.bad(1, "^bad: offset 0: ", "send", "s", "bad")
            for option in re.findall(r"try (--\w+)", text):
                self.assertIn(option, self.good("send", "--help").decode(), text)

    def test_files_that_cannot_be_read(self):
        listener = self.listen()
        listener.setblocking(False)
        for name, pattern in [("nonesuch", "cannot open: No such file"), ("spool", "cannot read: Is a directory"), ("", "cannot open: No such file"),
                              ("m/x", "cannot open: Not a directory")]:
            self.bad(2, f"^evalue send: {name}: {pattern}", "send", "s", name)
        self.assertRaises(BlockingIOError, listener.accept)

    def test_a_file_that_shrinks(self):
        """The sender is stopped as soon as it has mapped the file: it fails then, or it has sent what was there before."""
        size = 300 << 20
        head = bool_message_head(size)
        for carrier, to in [("sealed", 0), ("pool", 100 << 20), ("inline", 5000)]:
            self.write("large", head)
            os.truncate(self.path("large"), len(head) + size)
            listener = self.listen()
            arrived = []
            taker = threading.Thread(target=self.take, args=(listener, arrived))
            taker.start()
            for _ in range(5):
                process = self.start("send", f"--carrier={carrier}", "--timeout=50", "s", "large")
                with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
                    while process.poll() is None and self.path("large") not in maps.read():
                        maps.seek(0)
                process.send_signal(signal.SIGSTOP)
                os.truncate(self.path("large"), to)
                process.send_signal(signal.SIGCONT)
                err = process.communicate(timeout=GUARD)[1]
                if process.returncode != 0:
                    break
                os.truncate(self.path("large"), len(head) + size)  # it was faster than we were
            self.connect().sendall(b"end")
            taker.join(GUARD)
            listener.close()
            os.remove(self.path("s"))
            self.assertEqual(err, b"evalue send: large: the file shrank while it was read\n")
            self.assertEqual(process.returncode, 2)
            for first, total in arrived:  # of a connection: the frame, and how many bytes came by the socket
                nbytes = len(head) + size
                self.assertIn((first, total), [(frame(INLINE, nbytes), 24 + nbytes), (frame(SEALED, nbytes), 24), (frame(POOL, nbytes, 1), 48)])

    @staticmethod
    def take(listener, arrived):
        while True:
            connection = listener.accept()[0]
            connection.settimeout(GUARD)
            with connection:
                first = connection.recv(24)
                if first == b"end":
                    return
                total = len(first)
                while part := connection.recv(1 << 20):
                    total += len(part)
                if first:
                    arrived.append((first, total))


class BadPeers(Ipc):
    """What `receive` does with a sender that is none."""

    def refuses(self, code, pattern, *parts):
        for before in [None, b"old"]:
            if before is not None:
                self.write("out", before)
            process = self.receive()
            self.say(*parts)
            text = self.ended(process, code, pattern, before)
            self.assertEqual(list(self.dir.glob(".evalue-*")), [])
        os.remove(self.path("out"))
        return text

    def test_bad_messages(self):
        for data, pattern in [(b"", "offset 0: truncated"), (b"abc", "offset 0: malformed: magic"), (SMALL[:-1], "offset 8: truncated"),
                              (SMALL + b"x", f"offset {len(SMALL)}: .*malformed: trailing"), (message(NONE, element(6)), "offset 33: value 1: unsupported"),
                              (message(NONE, boolean(2)), "offset 42: value 1: malformed: bool")]:
            with self.subTest(data=data):
                self.refuses(1, rf"\As: {pattern}[^\n]*\n\Z", frame(INLINE, len(data)) + data)
                self.refuses(1, rf"\As: {pattern}", (frame(SEALED, len(data)), lambda: memory(data)))
                self.refuses(1, rf"\As: {pattern}", (frame(POOL, 4096, 1), lambda: pool_memory(4096, data)), frame(SLOT, len(data)))

    def test_bad_frames(self):
        good = frame(INLINE, len(SMALL)) + SMALL
        regular = lambda: os.open(self.path("m"), os.O_RDONLY)
        for pattern, *parts in [
                ("the frame ends too early", good[:1]),
                ("the frame ends too early", good[:23]),
                ("the peer has closed inside a message", good[:24]),
                ("the peer has closed inside a message", good[:-1]),
                ('this is no frame: expected "EVIP", found "HTTP"', b"HTTP/1.1 400 Bad Request\r\n\r\n"),
                ("this is no frame", SMALL),
                ("the frame's version is not known", frame(INLINE, len(SMALL), version=2) + SMALL),
                ("the carrier is not known", frame(0, len(SMALL)) + SMALL),
                ("the carrier is not known", frame(5, len(SMALL)) + SMALL),
                ("a flag of the frame is not known", frame(INLINE, len(SMALL), flags=1) + SMALL),
                ("the carrier has no slots", frame(INLINE, len(SMALL), 1) + SMALL),
                ("the connection has no pool", frame(SLOT, len(SMALL))),
                ("without the descriptor", frame(SEALED, len(SMALL))),
                ("without the descriptor", frame(POOL, 4096, 1)),
                ("a descriptor too many", (good, lambda: memory(SMALL))),
                ("no memory that can be sealed", (frame(SEALED, 1), regular)),
                ("the memory is smaller", (frame(SEALED, len(SMALL)), lambda: memory(SMALL, len(SMALL) + BEHIND - 1))),
                ("the pool has no slots, or too many", (frame(POOL, 4096, 0), lambda: pool_memory(4096))),
                ("the pool has no slots, or too many", (frame(POOL, 4096, 65), lambda: pool_memory(4096))),
                ("the memory can still be changed", (frame(POOL, 4096, 1), lambda: pool_memory(4096, seals=SEAL_GROW))),
                ("the memory is smaller", (frame(POOL, 40960, 1), lambda: pool_memory(4096))),
                ("the pool has no such slot", (frame(POOL, 4096, 1), lambda: pool_memory(4096)), frame(SLOT, 24, 1)),
                ("the message is larger than the slot", (frame(POOL, 4096, 1), lambda: pool_memory(4096)), frame(SLOT, 4097)),
                ("the connection has a pool already", (frame(POOL, 4096, 1), lambda: pool_memory(4096)), (frame(POOL, 4096, 1), lambda: pool_memory(4096)))]:
            with self.subTest(pattern, parts=parts):
                process = self.receive()
                self.say(*parts)
                self.ended(process, 1, rf"(?m)^evalue receive: s: cannot receive: offset \d+: \w+: \w+: .*{pattern}.*\n\Z")
        self.refuses(1, "the peer has closed inside a message", good[:-1])
        self.refuses(1, "this is no frame", b"x" * 5000)

    def test_a_fault_is_said_once(self):
        """As of a bad file, there is one line about it, unless more was asked for."""
        process = self.receive()
        self.say(b"x" * 24)
        said = self.ended(process, 1, "this is no frame")
        self.assertEqual(len(said.splitlines()), 1, said)

    def test_more_than_there_can_be(self):
        for nbytes, pattern in [(1 << 47, "Cannot allocate memory"), ((1 << 64) - 1, "the message is larger than allowed")]:
            process = self.receive()
            self.say(frame(INLINE, nbytes) + SMALL)
            self.ended(process, 2, f"evalue receive: s: cannot receive: .*{pattern}")

    def test_memory_that_is_not_sealed_is_copied(self):
        process = self.receive()
        self.say((frame(SEALED, len(SMALL)), lambda: memory(SMALL, seals=0)))
        self.ended(process, out=SMALL)

    def test_who_leaves_without_a_message_is_not_counted(self):
        process = self.receive(WAIT)
        for _ in range(40):
            self.connect().close()
        self.say((frame(POOL, 4096, 1), lambda: pool_memory(4096)))
        self.is_waiting(process)
        self.good("send", WAIT, "s", "m")
        self.ended(process, out=SMALL)

    def test_a_slow_sender(self):
        process = self.receive()
        peer = self.connect()
        for byte in frame(INLINE, len(SMALL)) + SMALL:
            peer.sendall(bytes([byte]))
            time.sleep(0.002)
        self.ended(process, out=SMALL)  # although the peer is still there

    def test_the_first_of_two_messages(self):
        process = self.receive()
        self.say(b"".join(frame(INLINE, len(data)) + data for data in [SMALL, message(NONE)]))
        self.ended(process, out=SMALL)

    def test_out_appears_whole(self):
        """While a message arrives there is nothing, or what was there before; and it stays when the sender dies."""
        data = of_size(40 << 20)
        for before in [None, b"old"]:
            if before is not None:
                self.write("out", before)
            process = self.receive()
            peer = self.connect()
            peer.sendall(frame(INLINE, len(data)) + data[:20 << 20])
            self.assertEqual(self.read("out") if self.there("out") else None, before)
            peer.close()
            self.ended(process, 1, "the peer has closed inside a message", before)
        process = self.receive()
        peer = self.connect()
        sender = threading.Thread(target=peer.sendall, args=(frame(INLINE, len(data)) + data,))
        sender.start()
        sizes = {3}
        while process.poll() is None:
            sizes.add(os.stat(self.path("out")).st_size)
        sender.join(GUARD)
        self.assertLessEqual(sizes, {3, len(data)})
        self.ended(process, out=data)

    def test_a_receiver_that_is_killed(self):
        data = of_size(1 << 20)
        self.write("out", b"old")
        process = self.receive()
        self.connect().sendall(frame(INLINE, len(data)) + data[:-1])
        process.kill()
        self.ends(process, -signal.SIGKILL)
        self.assertEqual(self.read("out"), b"old")
        for left in self.dir.glob(".evalue-*"):
            left.unlink()

    def test_who_stalls(self):
        """A message that has begun has its own time, which is the library's, without --timeout, too."""
        processes = []
        for i, said in enumerate([b"EVIP", frame(INLINE, 100), frame(INLINE, len(SMALL)) + SMALL[:-1]]):
            processes.append(self.receive(at=f"s{i}", out=f"out{i}"))
            self.connect(at=f"s{i}").sendall(said)
        for i, process in enumerate(processes):
            self.ends(process, 2, f"evalue receive: s{i}: cannot receive: timeout: the peer neither sent nor took anything in time")
            self.assertFalse(self.there(f"s{i}") or self.there(f"out{i}"))


class Outputs(Ipc):
    def test_found_before_a_message_is_taken(self):
        for out, pattern in [("spool", "Is a directory"), ("no/such", "No such file"), ("", "No such file"), ("m/x", "Not a directory"), ("x" * 256, "File name too long"),
                             ("/proc/nonesuch", "cannot create")]:
            self.bad(2, f"^evalue receive: {out}: .*{pattern}", "receive", "s", "-o", out)
            self.assertFalse(self.there("s"))
        self.bad(2, "cannot create a temporary file", "receive", "s", "-o", "-", env=dict(self.environment, TMPDIR="/nonesuch"))

    def test_terminals(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        self.bad(2, "stdout is a terminal", "receive", "s", "-o", "-", stdout=slave)
        self.assertFalse(self.there("s"))

    def test_what_nothing_can_be_copied_to(self):
        """It is no file to be replaced, but that the copy will fail can be known before, too."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        self.listen(at="socket").close()
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        os.close(writing)
        for what, out, options in [("a terminal", os.ttyname(slave), {}), ("a socket", "socket", {}), ("closed", "-", {"preexec_fn": lambda: os.close(1)}),
                                   ("not for writing", "-", {"stdout": reading})]:
            with self.subTest(what):
                said = self.bad(2, "^evalue receive: ", "receive", "--timeout=0.2", "s", "-o", out, **options)
                self.assertNotIn("nobody has sent a message", said)

    @unittest.skipIf(os.geteuid() == 0, "root may write everything")
    def test_read_only(self):
        self.write("out", b"old")
        os.chmod(self.path("out"), 0o444)
        self.bad(2, "out: cannot write: Permission denied", "receive", "s", "-o", "out")
        self.assertFalse(self.there("s"))

    def test_found_at_the_end(self):
        full = self.device("full", 7)
        process = self.receive(out=full)
        self.good("send", WAIT, "s", "m")
        self.ended(process, 2, "^evalue receive: .*full: cannot write: No space left on device\n$")
        self.assertTrue(stat.S_ISCHR(os.stat(full).st_mode))

    def test_a_full_file_system(self):
        self.write("out", b"old")
        for size in [50000, 3 << 20]:
            self.write("m", of_size(size))
            process = self.receive(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000)))
            self.good("send", WAIT, "s", "m")
            self.ended(process, 2, "^evalue receive: out: cannot write: File too large\n$", b"old")

    def test_a_closed_pipe(self):
        reading, writing = os.pipe()
        process = self.receive(out="-", stdout=writing)
        os.close(writing)
        os.close(reading)
        self.good("send", WAIT, "s", "m")
        self.ended(process, 2, "^evalue receive: stdout: cannot write: Broken pipe\n$")

    def test_what_out_is_stays(self):
        self.write("target", b"old")
        os.chmod(self.path("target"), 0o604)
        os.symlink("target", self.path("out"))
        process = self.receive()
        self.good("send", WAIT, "s", "m")
        self.ended(process, out=SMALL)
        self.assertTrue((self.dir / "out").is_symlink())
        self.assertEqual((stat.S_IMODE(os.stat(self.path("target")).st_mode), self.read("target")), (0o604, SMALL))


class Sending(Ipc):
    """`send` to listeners in Python, of both types, which look at what goes over the socket."""

    def take(self, connection):
        """All frames of a connection: (frame, the bytes behind it, descriptors)."""
        is_packets = connection.type == socket.SOCK_SEQPACKET
        frames = []
        while True:
            head, fds, _, _ = socket.recv_fds(connection, (1 << 20) if is_packets else 24, 4)
            if not head:
                return frames
            rest = head[24:]
            head = head[:24]
            while len(head) < 24:
                head += connection.recv(24 - len(head))
            while not is_packets and head[5] == INLINE and len(rest) < struct.unpack_from("<Q", head, 8)[0]:
                rest += connection.recv(1 << 20)
            for fd in fds:
                self.addCleanup(os.close, fd)
            frames.append((head, rest, *fds))

    def sent(self, kind, data, *options):
        listener = self.listen(kind)
        self.write("m", data)
        sender = self.start("send", WAIT, *options, "s", "m")
        frames = self.take(self.accept(listener))
        self.ends(sender)
        listener.close()
        os.remove(self.path("s"))
        return frames

    def test_what_goes_over_the_socket(self):
        for kind in KINDS:
            for data in [message(), SMALL, of_size(100000)]:
                n = len(data)
                self.assertEqual(self.sent(kind, data, "--carrier=inline"), [(frame(INLINE, n), data)])
                [(head, rest, fd)] = self.sent(kind, data, "--carrier=sealed")
                self.assertEqual((head, rest, fcntl.fcntl(fd, F_GET_SEALS) & SEALED_ALL), (frame(SEALED, n), b"", SEALED_ALL))
                self.assertEqual(os.pread(fd, n, 0), data)
                self.assertGreaterEqual(os.fstat(fd).st_size, n + BEHIND)
                [(head, rest, fd), slot] = self.sent(kind, data, "--carrier=pool")
                nbytes, slots = struct.unpack_from("<QQ", head, 8)
                self.assertEqual((head, rest, slot), (frame(POOL, nbytes, slots), b"", (frame(SLOT, n), b"")))
                self.assertEqual(fcntl.fcntl(fd, F_GET_SEALS) & SEALED_ALL, SEALED_SIZE)
                self.assertEqual(os.pread(fd, n, CONTROL), data)
                self.assertLess(os.fstat(fd).st_size, CONTROL + n + 2 * PAGE)  # no more than one message takes

    def test_a_message_that_one_packet_does_not_take(self):
        self.write("m", of_size(4 << 20))
        listener = self.listen(socket.SOCK_SEQPACKET)
        self.bad(2, "^evalue send: s: cannot send: .*the message is larger than the socket takes at once: expected less than its buffer, found 4194304\n$", "send", "--carrier=inline", "s", "m")
        self.accept(listener)
        data = self.read("m")
        listener.close()
        os.remove(self.path("s"))
        self.assertEqual(len(self.sent(socket.SOCK_SEQPACKET, data)), 2)  # by its size it is no message for a packet

    def test_a_peer_that_leaves(self):
        self.write("m", of_size(40 << 20))
        listener = self.listen()
        sender = self.start("send", "--carrier=inline", "s", "m")
        connection = self.accept(listener)
        connection.recv(100000)
        connection.close()
        self.ends(sender, 2, "^evalue send: s: cannot send: (Broken pipe|Connection reset by peer)\n$")

    def test_a_peer_that_takes_nothing(self):
        self.write("m", of_size(40 << 20))
        listener = self.listen()
        sender = self.start("send", "--carrier=inline", "--timeout=0.2", "s", "m")
        self.accept(listener)
        self.ends(sender, 2, "^evalue send: s: cannot send: timeout: the peer neither sent nor took anything in time")

    def test_a_peer_that_accepts_nobody(self):
        """Once its queue is full, connecting waits, too."""
        self.listen(backlog=0)
        queue = []
        for _ in range(100):
            waiting = socket.socket(socket.AF_UNIX)
            self.addCleanup(waiting.close)
            waiting.setblocking(False)
            try:
                waiting.connect(self.path("s"))
            except BlockingIOError:
                break
            queue.append(waiting)
        self.assertLess(len(queue), 100)
        sender = self.start("send", "--timeout=0.2", "s", "m")
        try:
            sender.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            self.fail("send --timeout=0.2 waits without end")
        self.assertEqual(sender.returncode, 2)

    def test_small_systems(self):
        """No descriptor, no memory: a message and status 2."""
        self.write("m", of_size(3 << 20))
        limit = lambda what, n: {"preexec_fn": lambda: resource.setrlimit(what, (n, n))}
        process = self.receive()
        self.bad(2, "^evalue send: s: cannot connect: Too many open files\n$", "send", "s", "m", **limit(resource.RLIMIT_NOFILE, 4))
        self.bad(2, "^evalue receive: r: cannot listen: Too many open files\n$", "receive", "r", "-o", "x", **limit(resource.RLIMIT_NOFILE, 5))
        for carrier in ["pool", "sealed"]:
            self.bad(2, "^evalue send: s: cannot send: Too many open files\n$", "send", "--carrier", carrier, "s", "m", **limit(resource.RLIMIT_NOFILE, 5))
            self.bad(2, "^evalue send: s: cannot send: File too large\n$", "send", "--carrier", carrier, "s", "m", **limit(resource.RLIMIT_FSIZE, 1 << 20))
        if not IS_SANITIZED:
            self.bad(2, "^evalue send: m: out of memory\n$", "send", "s", "m", **limit(resource.RLIMIT_DATA, 1 << 20))
        self.is_waiting(process)
        self.good("send", WAIT, "s", "m")
        self.ended(process, out=self.read("m"))


    def test_a_receiver_with_few_descriptors(self):
        """What its own system lacks is no fault of the data."""
        for n in range(4, 12):
            process = self.receive("--timeout=5", preexec_fn=lambda n=n: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
            self.run_raw("send", "--timeout=0.2", "--carrier=pool", "s", "m")
            text = process.communicate(timeout=GUARD)[1]
            with self.subTest(descriptors=n):
                self.assertIn(process.returncode, [0, 2], text)
                self.assertEqual(b"Too many open files" in text, process.returncode == 2, text)
        self.assertEqual(process.returncode, 0)


class Timeouts(Ipc):
    def test_nobody_sends(self):
        self.write("out", b"old")
        for seconds in ["0.001", "0.2"]:
            process = self.start("receive", "--timeout", seconds, "s", "-o", "out")
            self.ended(process, 2, "^evalue receive: s: nobody has sent a message in time\n$", b"old")

    def test_nobody_listens(self):
        self.bad(2, "^evalue send: s: cannot connect: No such file or directory\n$", "send", "--timeout=0.2", "s", "m")

    def test_somebody_connects_and_says_nothing(self):
        process = self.receive("--timeout=0.3")
        self.connect()
        self.ended(process, 2, "(?m)^evalue receive: s: .*in time")

    def test_others_connect_and_leave(self):
        """They are not counted: nor do they begin the time anew."""
        process = self.receive("--timeout=0.5")
        end = time.monotonic() + 15
        while process.poll() is None and time.monotonic() < end:
            try:
                with socket.socket(socket.AF_UNIX) as peer:
                    peer.connect(self.path("s"))
            except OSError:
                pass  # it has ended
            time.sleep(0.05)
        self.assertIsNotNone(process.poll(), "receive --timeout=0.5 waits as long as others connect and leave")
        self.ended(process, 2, "in time")

    def test_values(self):
        for seconds in ["20", "20.5", "2e1", "1000000", "1e6"]:
            process = self.receive("--timeout", seconds)
            self.good("send", "--timeout", seconds, "s", "m")
            self.ended(process, out=SMALL)
            os.remove(self.path("out"))
        for seconds in ["", "0", "0.0009", "-1", "1000001", "1e7", "nan", "inf", "2s", "1,5", "x", "1 ", "--help", "0x"]:
            for args in [["receive", "--timeout", seconds, "s", "-o", "out"], ["send", "--timeout", seconds, "s", "m"], ["send", f"--timeout={seconds}", "s", "m"]]:
                self.bad(2, rf"^evalue {args[0]}: bad timeout '{seconds}': expected seconds, from 0.001 to 1000000\ntry 'evalue {args[0]} --help'\n$", *args)
        self.assertFalse(self.there("s"))


class Usage(Ipc):
    def test_usage_errors(self):
        for pattern, *args in [
                ("expected SOCKET and FILE", "send"), ("expected SOCKET and FILE", "send", "s"), ("unexpected argument 'x'", "send", "s", "m", "x"),
                ("unknown carrier 'x': expected inline, pool or sealed", "send", "--carrier=x", "s", "m"),
                ("unknown carrier '': expected inline, pool or sealed", "send", "--carrier", "", "s", "m"),
                ("unknown carrier 'auto': expected inline, pool or sealed", "send", "--carrier", "auto", "s", "m"),
                ("unknown option '-o'", "send", "s", "m", "-o", "x"), ("unknown option '--form'", "send", "--form=sequence", "s", "m"),
                ("--carrier given twice", "send", "--carrier=pool", "--carrier=pool", "s", "m"), ("--timeout given twice", "send", "--timeout=1", "s", "m", "--timeout=1"),
                ("--timeout needs a value", "send", "s", "m", "--timeout"), ("--carrier needs a value", "send", "s", "m", "--carrier"),
                ("expected SOCKET", "receive"), ("expected SOCKET", "receive", "-o", "x"), ("expected -o OUT", "receive", "s"),
                ("unexpected argument 'x'", "receive", "s", "x", "-o", "y"), ("unknown option '--carrier'", "receive", "--carrier=pool", "s", "-o", "x"),
                ("-o given twice", "receive", "s", "-o", "x", "-o", "x"), ("--timeout given twice", "receive", "--timeout=1", "--timeout=2", "s", "-o", "x"),
                ("-o needs a value", "receive", "s", "-o"), ("--timeout needs a value", "receive", "s", "-o", "x", "--timeout")]:
            self.bad(2, rf"^evalue {args[0]}: {re.escape(pattern)}\ntry 'evalue {args[0]} --help'\n$", *args)
        self.assertEqual(sorted(path.name for path in self.dir.iterdir()), ["m", "spool"])

    def test_operands_after_two_dashes(self):
        self.write("-m", SMALL)
        process = self.start("receive", "-oout", "--", "-s")
        self.good("send", WAIT, "--", "-s", "-m")
        self.ends(process)
        self.assertEqual(self.read("out"), SMALL)

    def test_help(self):
        overview = self.good("--help").decode()
        for command in ["send", "receive"]:
            text = self.good(command, "--help").decode()
            self.assertRegex(text, rf"\Ausage: evalue {command} ")
            self.assertRegex(text, rf"\nExit status: 0 good; 1 bad data; 2 usage or I/O.\n\nexample: evalue {command} [^\n]*\n\Z")
            self.assertLessEqual(max(map(len, text.split("\n"))), 120)
            self.assertEqual(self.good("help", command).decode(), text)
            self.assertRegex(overview, rf"\n  {command} +\w")

    def test_the_manual_page_has_the_same_options(self):
        page = (pathlib.Path(__file__).resolve().parents[2] / "man/evalue.1").read_text(encoding="utf-8")
        named = lambda text: {found.replace("Fl ", "-") for found in re.findall(r"(?:Fl )+\w+", text)}
        for command in ["send", "receive"]:
            text = self.good(command, "--help").decode()
            told = set(re.findall(r"^  (--?\w+) ", text, re.M)) - {"--help", "--log"}  # which every command has
            self.assertEqual(set(re.findall(r"--?\w+", text.split("\n")[0])), told)
            self.assertEqual(named(re.search(rf"\n\.Cm {command}\n(.*?)\n\.Nm\n", page, re.S)[1]), told)
            section = re.search(rf"\n\.Ss {command}\n(.*?)\n\.S[sh] ", page, re.S)[1]
            self.assertEqual(named("\n".join(re.findall(r"^\.It .*", section, re.M))), told)


class Logging(Ipc):
    def log_of(self, process):
        lines = self.ends(process, 0, ".?")[1].splitlines()
        return [LOG_LINE.fullmatch(line).groups() for line in lines]

    def logged(self, spec, data, *options):
        """What a sender and a receiver log with this --log: (level, diagnostic, message)."""
        self.write("m", data)
        receiver = self.receive("--log", spec)
        sender = self.start("send", "--log", spec, WAIT, *options, "s", "m")
        return self.log_of(sender), self.log_of(receiver)

    def test_the_carrier_is_named(self):
        for data, options, carrier, why in [(SMALL, [], "inline", "by its size"), (of_size(65537), [], "pool", "by its size"),
                                            (SMALL, ["--carrier=inline"], "inline", "as asked"), (SMALL, ["--carrier=pool"], "pool", "as asked"),
                                            (SMALL, ["--carrier=sealed"], "sealed", "as asked")]:
            sent, received = self.logged("+ipc", data, *options)
            self.assertEqual(sent[-1], ("debug", None, f"sent a message of {len(data)} bytes, {carrier}, {why}"))
            self.assertEqual(received[-1], ("debug", None, f"received a message of {len(data)} bytes, {carrier}"))
            if carrier == "pool":
                self.assertRegex(sent[0][2], f"^offered a pool of 1 slots of {len(data)} bytes$")
                self.assertRegex(received[0][2], f"^mapped the peer's pool of 1 slots of {len(data)} bytes$")

    def test_why_copied(self):
        for carrier, at_sender, at_receiver in [("inline", "inline: the socket takes a copy", None), ("pool", "pool: ", "pool: a snapshot, which the peer cannot change"),
                                                ("sealed", "sealed: written into new memory", None)]:
            sent, received = self.logged("why_copied", SMALL, f"--carrier={carrier}")
            self.assertEqual([line[:2] for line in sent], [("info", "why_copied")])
            self.assertTrue(sent[0][2].startswith(f"{len(SMALL)} bytes copied: {at_sender}"), sent)
            self.assertEqual([line[1:] for line in received], [("why_copied", f"{len(SMALL)} bytes copied: {at_receiver}")] if at_receiver else [])

    def test_why_rejected(self):
        process = self.receive("--log=why_rejected,-ipc")
        self.say(b"x" * 24)
        text = self.ends(process, 1, "this is no frame")[1]
        self.assertRegex(text, r"(?m)^\S+Z info ipc why_rejected \w+\.c:\d+: offset 0: malformed: magic: this is no frame")
        process = self.receive("--log=why_rejected")
        self.say(frame(INLINE, 3) + b"abc")
        self.assertRegex(self.ends(process, 1, ".")[1], r"(?m)^\S+Z info reader why_rejected \w+\.c:\d+: offset 0: malformed: magic: .*bytes around it: \[61\]")

    def test_silence_is_the_default(self):
        for options in [[], ["--carrier=sealed"]]:
            receiver = self.receive()
            self.good("send", WAIT, *options, "s", "m")
            self.ends(receiver)


if __name__ == "__main__":
    unittest.main()
