# SPDX-License-Identifier: BSD-3-Clause
"""Listening and connecting, where things are not as one wishes."""
import os
import socket
import subprocess
import unittest

from support import KINDS, IpcTest


class Paths(IpcTest):
    def full(self, kind=socket.SOCK_STREAM):
        """Somebody listens there, but accepts nobody, and no more can wait."""
        listener = socket.socket(socket.AF_UNIX, kind)
        self.addCleanup(listener.close)
        listener.bind(str(self.path))
        listener.listen(0)
        for _ in range(10):
            sock = socket.socket(socket.AF_UNIX, kind)
            self.addCleanup(sock.close)
            sock.setblocking(False)
            try:
                sock.connect(str(self.path))
            except BlockingIOError:
                return
        self.fail("there is always room")

    def ends(self, *arguments, seconds=3):
        """The lines of a program that has to end; whatever happens it is ended."""
        running = self.start(*arguments)
        try:
            running.process.wait(seconds)
        except subprocess.TimeoutExpired:
            running.process.kill()
            self.fail(f"{arguments} waits for ever")
        return running.finish()

    def test_listening_where_a_busy_program_does(self):
        for kind in KINDS:
            self.full(KINDS[kind])
            self.assertEqual(self.ends(f"listen={self.path}"), ["listen io 98"])  # EADDRINUSE
            self.path.unlink()

    def test_connecting_to_a_busy_program(self):
        """idle_ms is how long to wait for a connection to begin."""
        for kind in KINDS:
            self.full(KINDS[kind])
            lines = self.ends("idle_ms=100", f"connect={self.path}", "left")
            self.assertIn(lines[0].split()[1], ("timeout", "io"))
            self.path.unlink()

    def test_what_lies_at_the_path(self):
        self.path.write_bytes(b"precious")
        self.assertEqual(self.start(f"listen={self.path}").finish(), ["listen io 98"])
        self.assertEqual(self.path.read_bytes(), b"precious")
        self.assertEqual(self.start(f"connect={self.path}").finish()[0].split()[1:3], ["io", "system_call"])
        self.path.unlink()
        self.assertEqual(self.start(f"connect={self.path}").finish(), ["connect io system_call none 0 0 0 2"])
        self.path.mkdir()
        self.assertEqual(self.start(f"listen={self.path}").finish(), ["listen io 98"])
        self.path.rmdir()
        os.symlink("elsewhere", self.path)
        self.assertEqual(self.start(f"listen={self.path}").finish(), ["listen io 98"])
        self.assertTrue(self.path.is_symlink())
        self.assertEqual(self.start(f"listen={self.path}/no/such").finish(), ["listen io 20" if self.path.exists() else "listen io 2"])

    def test_a_socket_that_was_left_behind(self):
        for first in "listen", "listen-packets":
            for second in "listen", "listen-packets":
                running = self.start(f"{first}={self.path}", "wait")
                running.until("listening")
                running.process.kill()
                running.process.wait()
                self.assertTrue(self.path.exists())
                self.assertEqual(self.start(f"{second}={self.path}", "stop-listening", "left").finish()[0], "listening")
                self.assertFalse(self.path.exists())

    def test_a_socket_of_a_living_program(self):
        """It does not notice that somebody looked."""
        for first in "listen", "listen-packets":
            for second in "listen", "listen-packets":
                running = self.start(f"{first}={self.path}", "wait", "accept", "receive=1")
                running.until("listening")
                self.assertEqual(self.start(f"{second}={self.path}", "stop-listening").finish(), ["listen io 98"])
                running.go()
                self.assertEqual(self.start(f"connect={self.path}", "send=1", "close").finish(), ["close ok"])
                self.assertEqual(running.finish(), ["listening"])
                self.path.unlink()

    def test_paths_that_are_too_long(self):
        for size, expected in ((107, "listening"), (108, "listen misuse 0"), (200, "listen misuse 0")):
            path = str(self.dir) + "/" + "x" * (size - len(str(self.dir)) - 1)
            self.assertEqual(self.start(f"listen={path}", "stop-listening").finish(), [expected])
        self.assertEqual(self.start("listen=").finish(), ["listen misuse 0"])

    def test_descriptors_that_are_no_socket(self):
        read, write = os.pipe()
        with socket.socket(socket.AF_INET) as tcp, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams:
            for fd, expected in (read, "io"), (tcp.fileno(), "misuse"), (datagrams.fileno(), "misuse"):
                self.assertEqual(self.start(f"fd={fd}", fds=(fd,)).finish()[0].split()[:2], ["fd", expected])
        os.close(read)
        os.close(write)
        for fd in (-1, 999, 1 << 20):
            self.assertEqual(self.start(f"fd={fd}").finish()[0].split()[:2], ["fd", "io"])


if __name__ == "__main__":
    unittest.main()
