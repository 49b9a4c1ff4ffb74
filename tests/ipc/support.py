# SPDX-License-Identifier: BSD-3-Clause
"""Compiling and running the programs of this directory. CC, BUILD (with libevalue.a) and SANITIZERS are taken from the environment."""
import functools
import os
import pathlib
import select
import shlex
import socket
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()
CC = shlex.split(os.environ.get("CC", "cc"))
SANITIZERS = shlex.split(os.environ.get("SANITIZERS", ""))
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", f"-I{ROOT}/include"]
OUT = BUILD / "tests" / "ipc"
GUARD = 60  # seconds: whatever takes longer hangs
KINDS = {"stream": socket.SOCK_STREAM, "packets": socket.SOCK_SEQPACKET}
CARRIERS = {"auto": 0, "inline": 1, "pool": 2, "sealed": 3}
SMALL = ["inline_limit=4096", "slot_nbytes=65536"]  # so that the messages of messages.h take all three carriers


@functools.lru_cache(None)
def program(name):
    OUT.mkdir(parents=True, exist_ok=True)
    subprocess.run([*CC, *FLAGS, *SANITIZERS, str(HERE / (name + ".c")), str(BUILD / "libevalue.a"), "-o", str(OUT / name)], check=True)
    return str(OUT / name)


def left(lines):
    return [line for line in lines if line.startswith("left ")]


class Running:
    """A program, its input and its output, line by line. Whoever says nothing for too long is ended."""

    def __init__(self, test, arguments, fds=(), env=None):
        self.test, self.arguments, self.lines, self.rest = test, arguments, [], b""
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=fds, env=env)
        test.addCleanup(self.end)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in self.process.stdin, self.process.stdout, self.process.stderr:
            stream.close()

    def more(self):
        """Takes what it has said; false at the end."""
        poll = select.poll()
        poll.register(self.process.stdout, select.POLLIN)
        if not poll.poll(GUARD * 1000):
            self.process.kill()
            self.test.fail(f"{self.arguments} hangs after {self.lines[-9:]}")
        some = os.read(self.process.stdout.fileno(), 1 << 16)
        self.rest += some
        return some != b""

    def line(self):
        while b"\n" not in self.rest:
            if not self.more():
                self.finish()
                self.test.fail(f"{self.arguments} said no more after {self.lines[-9:]}")
        line, self.rest = self.rest.split(b"\n", 1)
        self.lines.append(line.decode())
        return self.lines[-1]

    def until(self, start):
        while not self.line().startswith(start):
            pass
        return self.lines[-1]

    def go(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def finish(self, code=0):
        """Waits for its end; returns all lines."""
        self.process.stdin.close()
        while self.more():
            pass
        self.lines += self.rest.decode().splitlines()
        self.rest = b""
        err = self.process.stderr.read().decode()
        self.end()
        self.test.assertEqual(self.process.returncode, code, f"{self.arguments}: {self.lines[-5:]}: {err}")
        return self.lines


class IpcTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="evalue-ipc-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.path = self.dir / "s"

    def start(self, *arguments, fds=(), env=None):
        return Running(self, [program("endpoint"), *map(str, arguments)], fds, env)

    def start_with(self, sock, *before_after):
        """An endpoint at its end of a socket pair, which is closed here: (what comes before it is made a channel, ..., after)."""
        split = before_after.index("fd")
        running = self.start(*before_after[:split], f"fd={sock.fileno()}", *before_after[split + 1:], fds=(sock.fileno(),))
        sock.close()
        return running

    def socketpair(self, kind):
        ours, theirs = socket.socketpair(socket.AF_UNIX, KINDS[kind])
        ours.settimeout(GUARD)
        self.addCleanup(ours.close)
        self.addCleanup(theirs.close)
        return ours, theirs

    def pair(self, kind, first, second):
        """Two endpoints with a connection: (what each does before it, ..., after)."""
        one, other = self.socketpair(kind)
        return self.start_with(one, *first), self.start_with(other, *second)

    def check_left(self, lines, context=None):
        """The first and the last count of what is open and mapped are the same."""
        counts = left(lines)
        self.assertGreaterEqual(len(counts), 2, (lines[-5:], context))
        first, last = counts[0].split(), counts[-1].split()
        if SANITIZERS:  # the sanitizer maps as it likes
            first, last = first[:3], last[:3]
        self.assertEqual(first, last, (lines[-8:], context))
