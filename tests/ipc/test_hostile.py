# SPDX-License-Identifier: BSD-3-Clause
"""A peer that means harm: whatever it sends, the other side gets a message or a status, and nothing of it is left behind."""
import os
import random
import socket
import struct
import threading
import time
import unittest

import peer
from peer import INLINE, POOL, SEALED, SLOT, fault, frame
from support import KINDS, SANITIZERS, IpcTest

MESSAGE = peer.make_message(4)[:61]  # bytes are bytes
MOST = 1 << 20
END = "end none none 0 0 0 0"


class Served(IpcTest):
    """One endpoint takes what comes over many connections, one after the other, and says of each what it was."""

    OPTIONS = [f"max_bytes={MOST}", f"max_pool_bytes={MOST}", "stall_ms=20000"]

    def serve(self, kind="stream", *options):
        self.kind = KINDS[kind]
        path = self.dir / f"{kind}{len(os.listdir(self.dir))}"
        self.server = self.start(*self.OPTIONS, *options, "listen-packets=%s" % path if kind == "packets" else f"listen={path}", "left", "serve=100000000")
        self.server.until("listening")
        self.baseline = self.server.until("left")
        self.server_path = path

    def connect(self):
        return peer.Peer.connect(self.server_path, self.kind)

    def result(self, context=None):
        """The messages, as (nbytes, carrier, hash), and the failure that ended them."""
        got, line = [], ""
        self.server.lines.clear()
        while not line.startswith("end "):
            line = self.server.line()
            if line.startswith("got "):
                words = line.split()
                got.append((int(words[1]), words[2], words[4]))
        now = self.server.line()
        keep = 3 if SANITIZERS else 4
        self.assertEqual(now.split()[:keep], self.baseline.split()[:keep], (context, line))
        return got, line[len("end "):]

    def finish_sending(self, python):
        try:
            python.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the other side was faster

    def case(self, *puts, context=None):
        """Sends (bytes, descriptor, ...) each, and says that no more comes."""
        python = self.connect()
        for data, *fds in puts:
            try:
                python.put(data, *fds)
            except (BrokenPipeError, ConnectionResetError):
                break
        self.finish_sending(python)
        result = self.result(context)
        python.close()
        return result

    def fd(self, fd):
        """A descriptor that is closed at the end."""
        self.addCleanup(os.close, fd)
        return fd

    def pool(self, slot_nbytes=1000, slots=3, seals=peer.SEALED_SIZE):
        return self.fd(peer.memory(nbytes=peer.pool_size(slot_nbytes, slots), seals=seals))


def got(content, carrier):
    return len(content), carrier, "%016x" % peer.fnv(content)


class Frames(Served):
    def changes(self, data):
        for at in range(len(data)):
            for value in range(256) if not SANITIZERS else {0, 1, 2, 3, 4, 5, 255, *(data[at] ^ 1 << bit for bit in range(8))}:
                if value != data[at]:
                    yield at, data[:at] + bytes([value]) + data[at + 1:]

    def test_every_single_byte_of_a_frame_without_a_message(self):
        """Of a slot, a pool and sealed memory."""
        sealed, pool = self.fd(peer.memory(MESSAGE)), self.pool()
        shape = peer.Pool(pool, 1000, 3)
        offer = frame(POOL, 1000, 3)
        for kind in KINDS:
            self.serve(kind)
            for before, good, fd in ([], frame(SEALED, len(MESSAGE)), sealed), ([], offer, pool), ([(offer, pool)], frame(SLOT, 50, 2), None):
                nbytes = os.fstat(fd).st_size if fd is not None else 0
                for at, bad in self.changes(good):
                    if kind == "packets" and at % 4 > 1:
                        continue  # what judges it is the same
                    expected = peer.judge(bad, fd is not None, MOST, shape if before else None, nbytes, MOST)
                    messages, failure = self.case(*before, (bad,) if fd is None else (bad, fd), context=bad)
                    if expected and kind == "packets" and bad[5] == INLINE:  # which is too short as well
                        expected.append(fault("packet_length", 8, bad[8], 0))
                    if expected:
                        self.assertIn((messages, failure), [([], what) for what in expected], bad)
                    elif kind == "packets" and bad[5] == INLINE:
                        self.assertEqual(([], fault("packet_length", 8, bad[8], 0)), (messages, failure))
                    elif bad[5] == INLINE:
                        self.assertEqual(([], fault("message_short", 8, bad[8], 0)), (messages, failure))
                    else:
                        self.assertEqual(failure, END, bad)
                        self.assertEqual(len(messages), bad[5] != POOL)

    def test_every_single_byte_of_an_inline_frame(self):
        good = frame(INLINE, len(MESSAGE)) + MESSAGE
        for kind in KINDS:
            self.serve(kind)
            for at, head in self.changes(good[:24]):
                if kind == "packets" and at % 4 > 1:
                    continue
                expected, nbytes, messages = peer.judge(head, False, MOST), int.from_bytes(head[8:16], "little"), []
                if expected and kind == "packets" and head[5] != INLINE:  # its length is another fault
                    expected.append(fault("packet_length", 8, 24, 24 + len(MESSAGE)))
                elif not expected and kind == "packets":
                    expected = [fault("packet_length", 8, nbytes, len(MESSAGE))]
                elif not expected and nbytes > len(MESSAGE):
                    expected = [fault("message_short", 8, nbytes, len(MESSAGE))]
                elif not expected:
                    messages, rest = [got(MESSAGE[:nbytes], "inline")], MESSAGE[nbytes:]
                    expected = [fault("frame_short", len(rest), 24, len(rest))] if len(rest) < 24 else peer.judge(rest[:24], False, MOST)
                result = self.case((head + MESSAGE,), context=head)
                self.assertIn(result, [(messages, what) for what in expected], head)

    def test_half_frames(self):
        sealed, pool = self.fd(peer.memory(MESSAGE)), self.pool()
        for kind in KINDS:
            self.serve(kind)
            for good, *fds in (frame(INLINE, len(MESSAGE)) + MESSAGE,), (frame(SLOT, 4),), (frame(SEALED, len(MESSAGE)), sealed), (frame(POOL, 1000, 3), pool):
                for size in range(1, 24):
                    self.assertEqual(self.case((good[:size], *fds)), ([], fault("frame_short", size, 24, size)))
                    self.assertEqual(self.case((frame(INLINE, 3) + b"abc",), (good[:size], *fds)), ([got(b"abc", "inline")], fault("frame_short", size, 24, size)))
            self.assertEqual(self.case(), ([], END))
            for size in range(len(MESSAGE)):
                short = "packet_length" if kind == "packets" else "message_short"
                self.assertEqual(self.case((frame(INLINE, len(MESSAGE)) + MESSAGE[:size],)), ([], fault(short, 8, len(MESSAGE), size)))

    def test_packets_that_are_too_long(self):
        sealed, pool = self.fd(peer.memory(MESSAGE)), self.pool()
        self.serve("packets")
        for more in (1, 24, 1000):
            for good, *fds in (frame(SLOT, 4),), (frame(SEALED, len(MESSAGE)), sealed), (frame(POOL, 1000, 3), pool):
                self.assertEqual(self.case((good + bytes(more), *fds)), ([], fault("packet_length", 8, 24, 24 + more)))
            self.assertEqual(self.case((frame(INLINE, 9) + bytes(9 + more),)), ([], fault("packet_length", 8, 9, 9 + more)))

    def test_bytes_one_at_a_time(self):
        self.serve()
        python = self.connect()
        for byte in frame(INLINE, len(MESSAGE)) + MESSAGE:
            python.put(bytes([byte]))
        python.put(frame(SEALED, len(MESSAGE))[:1], self.fd(peer.memory(MESSAGE)))
        for byte in frame(SEALED, len(MESSAGE))[1:]:
            python.put(bytes([byte]))
        python.close()
        self.assertEqual(self.result(), ([got(MESSAGE, "inline"), got(MESSAGE, "sealed")], END))

    def test_stalls(self):
        """Half a frame, and then nothing, but the connection stays: a timeout, whatever was sent."""
        inline = frame(INLINE, len(MESSAGE)) + MESSAGE
        self.serve("stream", "stall_ms=20")
        for size in (1, 5, 23, 24, 25, len(inline) - 1):
            python = self.connect()
            python.put(inline[:size])
            messages, failure = self.result()
            self.assertEqual((messages, failure.split()[:2]), ([], ["timeout", "peer_slow"]))
            python.close()
        python = self.connect()
        python.put(frame(INLINE, MOST))
        stop = threading.Event()
        trickle = threading.Thread(target=self.trickle, args=(python, stop))
        trickle.start()
        failure = self.result()[1]  # one byte now and then is too slow as well
        stop.set()
        trickle.join()
        self.assertEqual(failure.split()[:2], ["timeout", "peer_slow"])
        python.close()

    @staticmethod
    def trickle(python, stop):
        try:
            while not stop.wait(0.002):
                python.put(b"x")
        except OSError:
            pass

    def test_an_empty_packet(self):
        self.serve("packets")
        python = self.connect()
        python.sock.send(b"")
        try:
            python.put(frame(INLINE, 1) + b"x")
        except BrokenPipeError:
            pass  # it has given up already
        python.close()
        self.assertIn(self.result(), [([], END), ([], fault("frame_short", 0, 24, 0))])

    def test_garbage(self):
        rng = random.Random(7)
        sealed, pool, pipe = self.fd(peer.memory(MESSAGE)), self.pool(), [self.fd(fd) for fd in os.pipe()]
        for kind in KINDS:
            self.serve(kind)
            for _ in range(150 if SANITIZERS else 700):
                puts = []
                for _ in range(rng.randrange(1, 6)):
                    carrier = rng.choice([INLINE, SLOT, SEALED, POOL, POOL, rng.randrange(256)])
                    head = frame(carrier, rng.choice([0, 1, 61, 1000, 1 << 63, rng.randrange(5000)]), rng.choice([0, 0, 1, 3, 3, 64, 1 << 40]))
                    fds = rng.choice([[sealed] if carrier == SEALED else [pool] if carrier == POOL else [], rng.choices([sealed, pool, *pipe], k=rng.randrange(4))])
                    puts.append((head + rng.randbytes(rng.choice([0, 0, 1, 61, 1000])), *fds))
                self.case(*puts, context=puts)


class Descriptors(Served):
    def others(self):
        """Of every kind that is no sealed memory: (name, descriptor)."""
        read, write = os.pipe()
        yield from (("a pipe", self.fd(read)), ("a pipe", self.fd(write)))
        yield "a directory", self.fd(os.open(self.dir, os.O_RDONLY))
        yield "no more than a path", self.fd(os.open(self.dir, os.O_PATH))
        yield "a device", self.fd(os.open("/dev/zero", os.O_RDWR))
        yield "a clock", self.fd(os.eventfd(0)) if hasattr(os, "eventfd") else self.fd(os.dup(read))
        (self.dir / "file").write_bytes(bytes(1 << 20))
        yield "a file", self.fd(os.open(self.dir / "file", os.O_RDWR))
        one, other = self.socketpair("stream")
        yield "a socket", one.fileno()
        listener = socket.socket(socket.AF_INET)
        self.addCleanup(listener.close)
        yield "another socket", listener.fileno()
        huge = getattr(os, "MFD_HUGETLB", 4)
        try:
            fd = self.fd(os.memfd_create("huge", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | huge))
            os.ftruncate(fd, 1 << 21)
            peer.fcntl.fcntl(fd, peer.F_ADD_SEALS, peer.SEALED_ALL)
            yield "huge pages", fd
        except OSError:
            pass

    def test_what_is_no_memory(self):
        for snapshot in 0, 1:
            for kind in KINDS:
                self.serve(kind, f"snapshot={snapshot}")
                for name, fd in self.others():
                    for head in frame(SEALED, 100), frame(POOL, 100, 1):
                        self.assertEqual(self.case((head, fd), context=name), ([], fault("not_memory", 8)), name)

    def test_the_connection_itself(self):
        self.serve()
        for head in frame(SEALED, 100), frame(POOL, 100, 1), frame(INLINE, 0), frame(SLOT, 0):
            python = self.connect()
            python.put(head, python.sock.fileno())
            self.finish_sending(python)
            self.assertIn(self.result()[1], [fault("not_memory", 8), fault("stray_descriptor", 5)])
            python.close()

    def test_seals(self):
        """Every set of seals but the right ones."""
        for snapshot in 0, 1:
            self.serve("stream", f"snapshot={snapshot}")
            for seals in range(16):
                is_steady, is_sealed = seals & peer.SEALED_SIZE == peer.SEALED_SIZE, seals & peer.SEALED_ALL == peer.SEALED_ALL
                messages, failure = self.case((frame(SEALED, len(MESSAGE)), self.fd(peer.memory(MESSAGE, seals=seals))), context=seals)
                good = [got(MESSAGE, "sealed")], END
                self.assertEqual((messages, failure), good if is_sealed or snapshot else ([], fault("not_sealed", 8)), seals)
                if not seals & peer.SEAL_WRITE:
                    failure = self.case((frame(POOL, 1000, 3), self.pool(seals=seals)), context=seals)[1]
                    self.assertEqual(failure, END if is_steady else fault("not_sealed", 8), seals)

    def test_a_pool_that_cannot_be_written(self):
        """Its control words have to be."""
        pool = self.pool()
        read_only = self.fd(os.open(f"/proc/self/fd/{pool}", os.O_RDONLY))
        self.serve()
        for fd in read_only, self.pool(seals=peer.SEALED_ALL):
            self.assertEqual(self.case((frame(POOL, 1000, 3), fd))[1].split()[:2], ["io", "system_call"])

    def test_sizes(self):
        """Memory that is a byte too short, or sparse and as large as the system lets it be."""
        self.serve("stream", "max_bytes=281474976710656", "max_pool_bytes=281474976710656")
        largest = (1 << 63) - 1
        needed = peer.pool_size(1000, 3)
        for head, nbytes, expected in (
            (frame(SEALED, 100), 228, None),
            (frame(SEALED, 100), 227, fault("memory_size", 8, 228, 227)),
            (frame(SEALED, 100), 0, fault("memory_size", 8, 228, 0)),
            (frame(SEALED, 100), largest, None),
            (frame(SEALED, largest), largest, fault("message_too_large", 8, 1 << 48, largest)),
            (frame(SEALED, largest - 128), largest, fault("message_too_large", 8, 1 << 48, largest - 128)),
            (frame(SEALED, (1 << 64) - 1), largest, fault("message_too_large", 8, 1 << 48, (1 << 64) - 1)),
            (frame(SEALED, 1 << 48), largest, "io system_call"),  # no machine maps so much
            (frame(POOL, 1000, 3), needed, None),
            (frame(POOL, 1000, 3), needed - 1, fault("memory_size", 8, needed, needed - 1)),
            (frame(POOL, 1000, 3), largest, None),
            (frame(POOL, largest, 1), largest, fault("pool_too_large", 8, 1 << 48, largest)),
            (frame(POOL, (1 << 64) - 1, 64), largest, fault("pool_too_large", 8, 1 << 48, (1 << 64) - 1)),
            (frame(POOL, (1 << 64) - 129, 64), largest, fault("pool_too_large", 8, 1 << 48, (1 << 64) - 129)),
            (frame(POOL, 1 << 58, 64), largest, fault("pool_too_large", 8, 1 << 48, 1 << 58)),
            (frame(POOL, (1 << 48) - (1 << 17), 1), largest, "io system_call"),
        ):
            failure = self.case((head, self.fd(peer.memory(nbytes=nbytes, seals=peer.SEALED_SIZE if head[5] == POOL else peer.SEALED_ALL))), context=head)[1]
            self.assertTrue(failure.startswith(expected or END), (head, nbytes, failure))

    def test_memory_that_shrinks_while_it_is_read(self):
        """I8. Only its snapshot is taken, and that raises no signal."""
        self.serve("stream", "snapshot=1")
        nbytes = MOST - 1000
        fd = self.fd(peer.memory(nbytes=nbytes + 128, seals=0))
        stop = threading.Event()

        def change():
            while not stop.is_set():
                os.ftruncate(fd, 0)
                os.ftruncate(fd, nbytes + 128)

        thread = threading.Thread(target=change)
        thread.start()
        failures = {self.case(*[(frame(SEALED, nbytes), fd)] * 3)[1].split()[1] for _ in range(100)}
        stop.set()
        thread.join()
        self.assertLessEqual(failures, {"memory_size", "none"})
        self.assertIn("memory_size", failures)
        self.assertEqual(self.case((frame(SEALED, 100), fd)), ([got(bytes(100), "sealed")], END))

    def test_memory_that_shrinks_is_refused(self):
        self.serve()
        fd = self.fd(peer.memory(nbytes=MOST + 128, seals=0))
        self.assertEqual(self.case((frame(SEALED, MOST), fd)), ([], fault("not_sealed", 8)))

    def test_stray_descriptors(self):
        """On every kind of frame; too many; in the middle of a message."""
        sealed, pool = self.fd(peer.memory(MESSAGE)), self.pool()
        inline, stray = frame(INLINE, len(MESSAGE)) + MESSAGE, ([], fault("stray_descriptor", 5))
        for kind in KINDS:
            self.serve(kind)
            for count in (1, 2, 100, 124, 125, 253):
                self.assertEqual(self.case((inline, *[sealed] * count)), stray)
                self.assertEqual(self.case((frame(POOL, 1000, 3), pool), (frame(SLOT, 5, 1), *[sealed] * count)), stray)
                self.assertEqual(self.case((frame(SEALED, len(MESSAGE)), *[sealed] * (count + 1 - count // 253))), stray)
                self.assertEqual(self.case((frame(POOL, 1000, 3), *[pool] * (count + 1 - count // 253))), stray)
            for head in frame(SEALED, len(MESSAGE)), frame(POOL, 1000, 3):
                self.assertEqual(self.case((head,)), ([], fault("no_descriptor", 5)))
        self.serve()
        for at in (1, 23, 24, 25, len(inline) - 1):
            for count in (1, 253):
                self.assertEqual(self.case((inline[:at],), (inline[at:], *[sealed] * count)), stray, at)
        for at in (1, 12, 23):  # it should have come with the first byte
            self.assertIn(self.case((frame(SEALED, len(MESSAGE))[:at],), (frame(SEALED, len(MESSAGE))[at:], sealed)), [([got(MESSAGE, "sealed")], END), stray])
            self.assertEqual(self.case((frame(SEALED, len(MESSAGE))[:at], sealed), (frame(SEALED, len(MESSAGE))[at:], sealed)), stray)

    def test_when_no_descriptor_is_left(self):
        """The receiver may have none: that is not the peer's fault, and nothing leaks."""
        sealed = self.fd(peer.memory(MESSAGE))
        for kind in KINDS:
            ours, theirs = self.socketpair(kind)
            receiver = self.start_with(theirs, "left", "fd", "files=3", "take", "files=1000", "close", "left")  # 3 is the first that is free, or the socket
            python = peer.Peer(ours)
            python.put(frame(SEALED, len(MESSAGE)), sealed)
            self.finish_sending(python)
            lines = receiver.finish()
            self.check_left(lines)
            failure = [line for line in lines if line.startswith(("end", "got"))][0]
            self.assertNotEqual(failure.split()[0], "got")
            self.assertEqual(failure.split()[1], "io", failure)

    def test_many_descriptors_where_few_are_left(self):
        sealed = self.fd(peer.memory(MESSAGE))
        self.serve("stream", "files=24")
        for count in (10, 30, 253):
            self.assertNotEqual(self.case((frame(INLINE, 0), *[sealed] * count))[1], END)
            self.assertNotEqual(self.case((frame(SEALED, len(MESSAGE)), *[sealed] * count))[1], END)
        self.assertEqual(self.case((frame(SEALED, len(MESSAGE)), sealed)), ([got(MESSAGE, "sealed")], END))

    def test_credentials_along_with_it(self):
        """The owner of the socket may have asked for them."""
        for kind in KINDS:
            ours, theirs = self.socketpair(kind)
            theirs.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            receiver = self.start_with(theirs, "left", "fd", "take", "close", "left")
            python = peer.Peer(ours)
            for send in python.send_inline, python.send_sealed:
                send(MESSAGE)
            python.close()
            lines = receiver.finish()
            self.assertEqual([line.split()[2] for line in lines[1:4]], ["inline", "sealed", "none"])
            self.check_left(lines)

    def test_process_descriptors_along_with_it(self):
        """The same for SO_PASSPIDFD, by which a descriptor comes with all that is received."""
        for kind in KINDS:
            ours, theirs = self.socketpair(kind)
            try:
                theirs.setsockopt(socket.SOL_SOCKET, 76, 1)
            except OSError:
                self.skipTest("this system does not pass them")
            receiver = self.start_with(theirs, "left", "fd", "take", "close", "left")
            python = peer.Peer(ours)
            for send in python.send_inline, python.send_sealed:
                send(MESSAGE)
            python.close()
            self.check_left(receiver.finish())

    def lingering(self):
        """A socket whose last close waits for eight seconds; and an end to that after six, so that the test ends in any case."""
        with socket.socket(socket.AF_INET) as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(1)
            sock = socket.create_connection(listener.getsockname())
            accepted, _ = listener.accept()
        sock.setblocking(False)
        try:
            while True:
                sock.send(bytes(1 << 16))
        except BlockingIOError:
            pass
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 8))
        off = threading.Timer(6, accepted.close)
        off.start()
        self.addCleanup(lambda: (off.cancel(), accepted.close()))
        return sock

    def check_quick(self, command, *puts):
        """The receiver does as told, and its close does not wait for a stranger's socket."""
        ours, theirs = self.socketpair("stream")
        receiver = self.start_with(theirs, "left", "wait", "fd", *command, "close", "left")
        python, lingering = peer.Peer(ours), self.lingering()
        for data, count in puts:
            python.put(data, *[lingering.fileno()] * count)
        lingering.close()  # those on their way are the last
        self.finish_sending(python)
        before = time.monotonic()
        receiver.go()
        lines = receiver.finish()
        self.assertLess(time.monotonic() - before, 4, "it waited for the linger time of a stranger's socket")
        self.check_left(lines)
        return lines

    def test_a_socket_that_is_slow_to_close(self):
        self.assertIn("end " + fault("not_memory", 8), self.check_quick(["take"], (frame(SEALED, 5), 1)))
        for count in (1, 2, 253):
            self.assertIn("end " + fault("stray_descriptor", 5), self.check_quick(["take"], (frame(INLINE, 1) + b"x", count)))

    def test_sockets_that_are_slow_to_close_and_were_never_read(self):
        """The channel is closed while they are in the queue."""
        self.check_quick([], (frame(SEALED, 5), 1), (frame(INLINE, 1) + b"x", 3))


class Pools(Served):
    def test_the_order_of_things(self):
        pool, offer = self.pool(), frame(POOL, 1000, 3)
        for kind in KINDS:
            self.serve(kind)
            self.assertEqual(self.case((frame(SLOT, 5, 0),)), ([], fault("no_pool", 5)))
            self.assertEqual(self.case((offer, pool), (offer, pool)), ([], fault("pool_again", 5)))
            self.assertEqual(self.case((offer, pool)), ([], END))
            for place in (0, 65, 1 << 32, (1 << 64) - 1):
                self.assertEqual(self.case((frame(POOL, 1000, place), pool)), ([], fault("pool_shape", 16, 64, place)))
            for place in (3, 4, 63, 64, 1 << 32, (1 << 64) - 1):
                self.assertEqual(self.case((offer, pool), (frame(SLOT, 5, place),)), ([], fault("slot_range", 16, 2, place)))
            for nbytes in (1001, 1128, 4096, 8192, 1 << 20):
                self.assertEqual(self.case((offer, pool), (frame(SLOT, nbytes, 2),)), ([], fault("slot_length", 8, 1000, nbytes)))
            for nbytes in ((1 << 20) + 1, 1 << 63, (1 << 64) - 1):
                expected = [([], fault("message_too_large", 8, MOST, nbytes)), ([], fault("slot_length", 8, 1000, nbytes))]
                self.assertIn(self.case((offer, pool), (frame(SLOT, nbytes, 2),)), expected)

    def test_a_slot_twice(self):
        for kind in KINDS:
            for slot in (0, 2):
                ours, theirs = self.socketpair(kind)
                receiver = self.start_with(theirs, "left", "fd", "expect=13", "hold=2", "close", "left")
                python = peer.Peer(ours)
                python.offer(1000, 3)
                python.sending.write(slot, peer.make_message(13))
                for _ in range(2):
                    python.put(frame(SLOT, len(peer.make_message(13)), slot))
                lines = receiver.finish()
                self.assertEqual(lines[1], "receive " + fault("slot_held", 16, 0, slot))
                self.check_left(lines)

    def test_a_slot_again_after_it_came_back(self):
        """The words in memory say what they like."""
        self.serve()
        python = self.connect()
        python.offer(1000, 2)
        python.sending.write(1, MESSAGE)
        for word in (0, 1, 7, 0xFFFFFFFF):
            for at in (peer.FREED, peer.WAITING, peer.SLOTS, peer.SLOTS + 64):
                python.sending.set_word(at, word)
            python.put(frame(SLOT, len(MESSAGE), 1))
        self.finish_sending(python)
        self.assertEqual(self.result(), ([got(MESSAGE, "pool")] * 4, END))
        python.close()

    def test_snapshots_are_constant(self):
        for snapshot in 0, 1:
            ours, theirs = self.socketpair("stream")
            receiver = self.start_with(theirs, f"snapshot={snapshot}", "fd", "take")
            python = peer.Peer(ours)
            python.offer(1000, 2)
            for send in python.send_inline, python.send_in_slot, python.send_sealed:
                send(MESSAGE)
            python.close()
            self.assertEqual([line.split()[3] for line in receiver.finish()[:3]], ["1", str(snapshot), "1"])


if __name__ == "__main__":
    unittest.main()
