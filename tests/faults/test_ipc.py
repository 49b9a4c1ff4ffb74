# SPDX-License-Identifier: BSD-3-Clause
"""Messages between processes when the system fails one of them: each call in its turn, once and for ever. The other one is the peer in Python. Run by
`make test-processes`."""
import errno
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "ipc"))

import peer  # noqa: E402
import support  # noqa: E402
from support import CC, FLAGS, KINDS, SANITIZERS, IpcTest  # noqa: E402

SIZES = ["inline_limit=500", "slot_nbytes=1500"]  # of messages 1 to 6 two go each way
FIRST, COUNT = 1, 6
MESSAGES = {k: peer.make_message(k) for k in range(FIRST, FIRST + COUNT)}
GOES_ON = {errno.EINTR, errno.EAGAIN, errno.ECONNABORTED}

SENDING = {
    "sendmsg": (errno.EINTR, errno.EAGAIN, errno.ENOBUFS, errno.ENOMEM, errno.EPIPE, errno.ECONNRESET, errno.ETOOMANYREFS),
    "memfd_create": (errno.ENOMEM, errno.EMFILE, errno.ENFILE),
    "ftruncate": (errno.ENOMEM, errno.EFBIG),
    "mmap": (errno.ENOMEM, errno.EACCES),
    "fcntl": (errno.EPERM, errno.EBUSY),
    "writev": (errno.EINTR, errno.ENOMEM, errno.ENOSPC),
    "lseek": (errno.EIO,),
    "socket": (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM),
    "connect": (errno.EINTR, errno.ECONNREFUSED, errno.ENOENT),
    "getsockopt": (errno.ENOBUFS,),
    "close": (errno.EIO, errno.EINTR),
}
RECEIVING = {
    "recvmsg": (errno.EINTR, errno.EAGAIN, errno.ENOMEM, errno.ENOBUFS, errno.ECONNRESET),
    "poll": (errno.EINTR, errno.ENOMEM),
    "mmap": (errno.ENOMEM, errno.EMFILE),
    "fcntl": (errno.EPERM,),
    "fstat": (errno.EIO,),
    "fstatfs": (errno.EINTR, errno.EIO),
    "pread": (errno.EINTR, errno.EIO),
    "socket": (errno.EMFILE, errno.ENOMEM),
    "bind": (errno.EACCES, errno.EADDRINUSE),
    "listen": (errno.EADDRINUSE,),
    "accept": (errno.EINTR, errno.ECONNABORTED, errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM),
    "getsockopt": (errno.ENOBUFS,),
    "close": (errno.EIO, errno.EINTR),
}


@unittest.skipIf(SANITIZERS, "a preloaded library and a sanitizer do not go together")
class Shimmed(IpcTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="evalue-faults-")
        cls.addClassCleanup(folder.cleanup)
        cls.shim = pathlib.Path(folder.name) / "ipc_shim.so"
        subprocess.run([*CC, *[flag for flag in FLAGS if flag not in ("-Wconversion", "-Wshadow")], "-shared", "-fPIC", str(HERE / "ipc_shim.c"), "-o", str(cls.shim), "-ldl"],
                       check=True)

    def start_shimmed(self, faults, short, *arguments):
        self.log = self.dir / "log"
        self.log.unlink(missing_ok=True)
        env = dict(os.environ, LD_PRELOAD=str(self.shim), SHIM_FAULTS=faults, SHIM_SHORT=str(short), SHIM_LOG=str(self.log))
        return self.start(*arguments, env=env)

    def check_log(self, context):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.assertFalse([line for line in lines if line in ("left open", "closed what was not open")], (context, lines))
        return any(line.startswith("failing ") for line in lines)

    def sweep(self, run, call, number, plus="", also="", **options):
        """Fails the n-th call, n = 1, 2, ... until there is none that fails."""
        for n in range(1, 3000):
            context = f"{call}:{n}{plus}:{errno.errorcode[number]}{also} {options}"
            lines, messages = run(f"{call}:{n}{plus}:{number}{also}", **options)
            has_failed = self.check_log(context)
            self.check_left(lines, context)
            self.assertEqual([line for line in lines if line.startswith("close")] or ["close ok"], ["close ok"], context)
            yield lines, messages, has_failed, context
            if not has_failed:
                return
        self.fail("it never ends")

    @staticmethod
    def without_misuse(lines):
        """Where no channel was made, or it is closed already, the calls after it say so."""
        is_made = not any(sum(line.startswith(what + " ") for line in lines) == 3 for what in ("connect", "listen", "accept"))
        return [line for line in lines if not line.startswith("close misuse") and (is_made or not re.match("(send|receive|accept) misuse", line))]

    def finish_with_peer(self, running, listener, code=0):
        """Its lines; and the messages that its peer has got, which reads while they come."""
        messages, is_over = [], threading.Event()

        def drain():
            while True:
                was_over = is_over.is_set()  # whoever has connected before its end is there by then
                try:
                    sock, _ = listener.accept()
                except TimeoutError:
                    if was_over:
                        return
                    continue
                with sock:
                    sock.settimeout(support.GUARD)
                    python = peer.Peer(sock)
                    try:
                        while True:
                            messages.append(python.receive()[1])
                    except (peer.Closed, EOFError):
                        pass
                    except AssertionError as wrong:  # in this thread nobody would hear of it
                        messages.append(wrong)

        listener.settimeout(0.005)
        thread = threading.Thread(target=drain)
        thread.start()
        try:
            lines = running.finish(code)
        finally:
            is_over.set()
            thread.join()
        return lines, messages

    def listening(self, kind):
        self.path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, KINDS[kind])
        listener.bind(str(self.path))
        listener.listen(9)
        return listener


class Sending(Shimmed):
    def run_sender(self, faults, kind="stream", short=0, how="send"):
        """Its lines, and what had come to the peer in the end."""
        count = COUNT if how == "send" else 3
        options = [*SIZES, "slots=8"] if how == "send" else ["slot_nbytes=5000"]
        with self.listening(kind) as listener:
            sender = self.start_shimmed(faults, short, *options, "loud", "tries=3", f"from={FIRST}", "left", f"connect={self.path}", f"{how}={count}", "close", "left")
            lines, messages = self.finish_with_peer(sender, listener)
        return self.without_misuse(lines), messages

    def check_sent(self, lines, messages, context):
        """What was said to be sent has come, and nothing else."""
        sent = [int(line.split()[1]) for line in lines if line.startswith("sent ")]
        self.assertEqual(sent, list(range(FIRST, FIRST + len(sent))), context)
        self.assertEqual(messages, [MESSAGES[k] for k in sent], context)
        return len(sent)

    def check_statuses(self, lines, number, context):
        for line in lines:
            words = line.split()
            if words[0] in ("send", "connect"):
                self.assertEqual(words[1], "io", (context, lines))
                self.assertEqual(words[2], "peer_gone" if number in (errno.EPIPE, errno.ECONNRESET) else "system_call", (context, lines))
                self.assertEqual(int(words[-1]), number, (context, lines))

    def test_nothing_fails(self):
        for kind in KINDS:
            for short in (0, 1):
                lines, messages = self.run_sender("", kind, short)
                self.assertEqual(self.check_sent(lines, messages, kind), COUNT)
                self.assertEqual(len(lines), COUNT + 3, lines)
        for call in SENDING:
            self.assertIn(call + " ", self.log.read_text())

    def test_sending_refused_once(self):
        """The same call succeeds when it is tried again."""
        for kind in KINDS:
            for call, numbers in SENDING.items():
                for number in numbers:
                    for lines, messages, has_failed, context in self.sweep(self.run_sender, call, number, kind=kind):
                        self.assertEqual(self.check_sent(lines, messages, context), COUNT, (context, lines))
                        self.check_statuses(lines, number, context)
                        if number in GOES_ON or call in ("close", "lseek") or not has_failed:
                            self.assertEqual(len(lines), COUNT + 3, (context, lines))
                        else:
                            self.assertEqual(len(lines), COUNT + 4, (context, lines))

    def test_slots_refused_once(self):
        for call, numbers in SENDING.items():
            for number in numbers[-1:]:
                for lines, messages, has_failed, context in self.sweep(self.run_sender, call, number, how="reserve"):
                    self.assertEqual(self.check_sent(lines, messages, context), 3, (context, lines))
                    self.check_statuses(lines, number, context)

    def test_sending_refused_for_ever(self):
        for kind in KINDS:
            for call, numbers in SENDING.items():
                for number in set(numbers) - GOES_ON:
                    for lines, messages, has_failed, context in self.sweep(self.run_sender, call, number, "+", kind=kind):
                        count = self.check_sent(lines, messages, context)
                        self.check_statuses(lines, number, context)
                        if not has_failed or call == "close":
                            self.assertEqual(count, COUNT, context)

    def test_sending_a_byte_at_a_time(self):
        """A failure between two bytes of a message ends sending; before the first one it does not."""
        seen = set()
        for n in [*range(1, 60), *range(60, 5000, 7)]:
            context = f"sendmsg:{n}"
            lines, messages = self.run_sender(f"sendmsg:{n}:{errno.ENOBUFS}", short=1)
            if not self.check_log(context):
                break
            self.check_left(lines, context)
            count = self.check_sent(lines, messages, context)
            failures = [line for line in lines if line.startswith("send ")]
            self.check_statuses(lines, errno.ENOBUFS, context)
            seen.add(len(failures))
            self.assertIn(len(failures), (1, 3), (context, lines))  # tried again: it is sent, or it stays
            self.assertEqual(len(set(failures)), 1, context)
            self.assertEqual(count == COUNT, len(failures) == 1, (context, lines))
        self.assertEqual(seen, {1, 3})

    def test_a_full_socket(self):
        """It waits for room, and the waiting is interrupted or fails."""
        for kind in KINDS:
            for n in range(1, 8):
                for plus in "", "+":
                    lines, messages = self.run_sender(f"sendmsg:{n}:{errno.EAGAIN},poll:1:{errno.EINTR}", kind)
                    self.assertEqual(self.check_sent(lines, messages, n), COUNT)
                    lines, messages = self.run_sender(f"sendmsg:{n}:{errno.EAGAIN},poll:1{plus}:{errno.ENOMEM}", kind)
                    self.assertEqual(self.check_sent(lines, messages, n), COUNT)  # what failed is tried again
                    self.check_statuses(lines, errno.ENOMEM, n)
                    self.assertEqual(len(lines), COUNT + 4)


class Receiving(Shimmed):
    def run_receiver(self, faults, kind="stream", short=0, snapshot=0, is_late=False):
        """Its lines. All is there before it looks; with is_late it has to wait for the connection."""
        self.path.unlink(missing_ok=True)
        listen = "listen-packets" if kind == "packets" else "listen"
        before = ["loud", "tries=3", f"from={FIRST}", f"snapshot={snapshot}", "left", f"{listen}={self.path}", "idle_ms=100", "say=ready", "wait"]
        after = ["idle_ms=0", f"receive={COUNT + snapshot}", "close", "stop-listening", "left"]
        receiver = self.start_shimmed(faults, short, *before, "accept", *after)
        receiver.until("ready")
        if is_late:
            receiver.go()
            time.sleep(0.01)
        if "listening" in receiver.lines:
            self.send_all(kind, snapshot)
        if not is_late:
            receiver.go()
        lines = receiver.finish()
        return [line for line in self.without_misuse(lines) if line not in ("listening", "ready")], None

    def send_all(self, kind, snapshot):
        try:
            python = peer.Peer.connect(self.path, KINDS[kind])
            python.offer(5000, 3)
            sends = [python.send_inline, python.send_in_slot, python.send_in_slot, python.send_sealed, python.send_sealed, python.send_inline]
            for k, send in zip(MESSAGES, sends):
                send(MESSAGES[k])
            if snapshot:
                content = peer.make_message(FIRST + COUNT)
                python.put_and_close(peer.frame(peer.SEALED, len(content)), peer.memory(content, seals=0))
            python.close()
        except (BrokenPipeError, ConnectionResetError, ConnectionRefusedError, FileNotFoundError):
            pass

    def check_received(self, lines, call, number, context):
        """In order, none left out; a failure stays, and says what it was."""
        got = [int(line.split()[1]) for line in lines if line.startswith("got ")]
        self.assertEqual(got, list(range(FIRST, FIRST + len(got))), context)
        failures = [line for line in lines if line.startswith("receive ")]
        for line in failures:
            words = line.split()
            if call in ("fcntl", "fstat", "fstatfs"):
                self.assertEqual(words[1:3], ["unsupported", "not_memory"], (context, lines))
            else:
                self.assertEqual((words[1], int(words[-1])), ("io", number), (context, lines))
        self.assertIn(len(failures), (0, 3), (context, lines))
        self.assertLessEqual(len(set(failures)), 1, context)
        for line in lines:
            if line.startswith(("accept", "listen")):
                self.assertTrue(re.match("accept timeout|(accept|listen) io .*%d" % number, line), (context, lines))
        return len(got)

    def test_receiving_when_nothing_fails(self):
        for kind in KINDS:
            for short in (0, 1):
                for snapshot in (0, 1):
                    lines, _ = self.run_receiver("", kind, short, snapshot)
                    self.assertEqual(self.check_received(lines, "", 0, ""), COUNT + snapshot)
                    self.check_left(lines)
                    self.assertFalse(self.check_log(kind))
        for call in RECEIVING.keys() - {"poll"}:
            self.assertRegex(self.log.read_text(), f"(?m)^{call} ")

    def test_receiving_refused_once(self):
        for kind in KINDS:
            for snapshot in (0, 1):
                for call, numbers in RECEIVING.items():
                    for number in numbers:
                        for lines, _, has_failed, context in self.sweep(self.run_receiver, call, number, kind=kind, snapshot=snapshot):
                            count = self.check_received(lines, call, number, context)
                            is_before = call in ("socket", "bind", "listen", "accept")  # there it can be tried again
                            if not has_failed or call == "close" or is_before or (number in GOES_ON and call != "fstatfs"):
                                self.assertEqual(count, COUNT + snapshot, (context, lines))

    def test_receiving_refused_for_ever(self):
        for kind in KINDS:
            for call, numbers in RECEIVING.items():
                for number in set(numbers) - GOES_ON:
                    for lines, _, has_failed, context in self.sweep(self.run_receiver, call, number, "+", kind=kind, snapshot=1):
                        count = self.check_received(lines, call, number, context)
                        if not has_failed or call == "close":
                            self.assertEqual(count, COUNT + 1, context)

    def test_receiving_a_byte_at_a_time(self):
        for n in [*range(1, 60), *range(60, 5000, 61)]:
            lines, _ = self.run_receiver(f"recvmsg:{n}:{errno.ENOMEM}", short=1)
            if not self.check_log(n):
                break
            self.assertLess(self.check_received(lines, "recvmsg", errno.ENOMEM, n), COUNT + 1)
            self.check_left(lines, n)

    def test_waiting_in_the_middle(self):
        """The rest of a message is not there yet, and waiting for it is interrupted or fails."""
        for kind in KINDS:
            for number in errno.EINTR, errno.ENOMEM:
                for lines, _, _, context in self.sweep(self.run_receiver, "recvmsg", errno.EAGAIN, also=f",poll:1:{number}", kind=kind):
                    count = self.check_received(lines, "poll", number, context)
                    has_failed = "failing poll" in self.log.read_text()  # there is no waiting when the channel is closed
                    self.assertEqual(count == COUNT, number == errno.EINTR or not has_failed, (context, lines))

    def test_waiting_for_a_connection(self):
        for kind in KINDS:
            for number in errno.EINTR, errno.ENOMEM:
                for lines, _, has_failed, context in self.sweep(self.run_receiver, "poll", number, kind=kind, is_late=True):
                    count = self.check_received(lines, "poll", number, context)
                    self.assertTrue(count == COUNT or number == errno.ENOMEM, context)
            lines, _ = self.run_receiver(f"poll:1+:{errno.ENOMEM}", kind, is_late=True)
            self.check_received(lines, "poll", errno.ENOMEM, kind)
            self.check_left(lines)


class Killed(Shimmed):
    """The program is killed before each of its calls: its peer gets whole messages only, and then the end."""

    def run_killed(self, n, kind):
        with self.listening(kind) as listener:
            sender = self.start_shimmed(f"any:{n}:0", 0, *SIZES, "slots=8", "loud", f"from={FIRST}", f"connect={self.path}", f"send={COUNT}", "close")
            code = sender.process.wait(support.GUARD)
            self.assertIn(code, (0, -signal.SIGKILL))
            lines, messages = self.finish_with_peer(sender, listener, code)
        return code == 0, len([line for line in lines if line.startswith("sent")]), messages

    def test_a_sender_that_is_killed(self):
        for kind in KINDS:
            for n in range(1, 1000):
                is_done, sent, messages = self.run_killed(n, kind)
                self.assertEqual(messages, [MESSAGES[FIRST + i] for i in range(len(messages))])
                self.assertGreaterEqual(len(messages), sent)
                if is_done:
                    break
            self.assertEqual(len(messages), COUNT)


if __name__ == "__main__":
    unittest.main()
