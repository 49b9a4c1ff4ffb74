# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the `evalue` command share: running it, and a small encoder and decoder of their own (spec, sections 2 to 7)."""
import os
import pathlib
import shutil
import stat
import struct
import subprocess
import tempfile
import time
import unittest

EVALUE = os.path.abspath(os.environ.get("EVALUE", "build/evalue"))
TIMEOUT = 60
IS_SANITIZED = b"__asan_init" in pathlib.Path(EVALUE).read_bytes()  # then it needs memory of another order

SCALAR_TYPES = (
    "uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool qint8 quint8 qint32 bfloat16 "
    "quint4x2 quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16 float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz "
    "uint16 uint32 uint64").split()
ELEMENT_SIZES = [1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 4, 8]


def element(tag, payload=b""):
    return struct.pack("<BQ", tag, len(payload)) + payload


NONE = element(0)


def boolean(b):
    return element(5, bytes([b]))


def integer(i):
    return element(4, struct.pack("<q", i))


def double(d):
    return element(3, struct.pack("<d", d))


def double_bits(bits):
    return element(3, struct.pack("<Q", bits))


def string(data):
    return element(2, data)


def tensor_head(scalar_type, sizes, dim_order, nbytes):
    """A tensor's element, up to its data."""
    code = SCALAR_TYPES.index(scalar_type)
    meta = struct.pack("<BB", code, len(sizes)) + struct.pack(f"<{len(sizes)}i", *sizes) + bytes(dim_order)
    return struct.pack("<BQ", 1, len(meta) + nbytes) + meta


def tensor(scalar_type, sizes, data, dim_order=None):
    return tensor_head(scalar_type, sizes, range(len(sizes)) if dim_order is None else dim_order, len(data)) + data


def data_size(encoded):
    return struct.unpack_from("<Q", encoded, 1)[0] - 2 - 5 * encoded[10]


def sequence(*elements):
    return b"".join(elements)


def header(alignment, body_length, count):
    return b"EVAL" + bytes([1, 0, alignment.bit_length() - 1, 0]) + struct.pack("<QQ", body_length, count)


def message(*elements, align=16):
    body = b""
    for e in elements:
        if e[0] == 1 and data_size(e) != 0:
            data_at = 24 + len(body) + len(e) - data_size(e)
            if data_at % align != 0:
                body += element(128, bytes(-(data_at + 9) % align))
        body += e
    return header(align, len(body), sum(e[0] < 96 for e in elements)) + body


def elements_of(body):
    """Splits a body or a sequence, without its Pads."""
    found, at = [], 0
    while at < len(body):
        end = at + 9 + struct.unpack_from("<Q", body, at + 1)[0]
        if body[at] != 128:
            found.append(body[at:end])
        at = end
    return found


def bool_message_head(size):
    """A message of one bool tensor of `size` bytes, up to its data: for files that are made large by truncate()."""
    head = tensor_head("bool", [size], [0], size)
    return header(1, len(head) + size, 1) + head


class CliTest(unittest.TestCase):
    """Gives each test a directory of its own, and looks for temporary files that were left behind in it."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="evalue-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        (self.dir / "spool").mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.dir / "spool"))

    def tearDown(self):
        left = [str(path) for path in self.dir.rglob("*evalue-??????")]
        self.assertEqual(left, [], "temporary files were left behind")

    def path(self, name):
        return str(self.dir / name)

    def write(self, name, data):
        (self.dir / name).write_bytes(data.encode() if isinstance(data, str) else data)
        return self.path(name)

    def read(self, name):
        return (self.dir / name).read_bytes()

    def start(self, *args, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("env", self.environment)
        options.setdefault("cwd", self.dir)
        return subprocess.Popen([EVALUE, *args], **options)

    def run_raw(self, *args, input=None, **options):
        """Runs the command, whatever comes of it."""
        process = self.start(*args, stdin=subprocess.DEVNULL if input is None else subprocess.PIPE, **options)
        try:
            out, err = process.communicate(input, timeout=TIMEOUT)
        finally:
            process.kill()
        self.assertGreaterEqual(process.returncode, 0, f"died of a signal: {err}")
        self.assertNotIn(b"Sanitizer", err or b"")
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def good(self, *args, **options):
        """Runs the command, which has to succeed silently; returns its output."""
        result = self.run_raw(*args, **options)
        self.assertEqual((result.returncode, result.stderr or b""), (0, b""))
        return result.stdout

    def bad(self, code, pattern, *args, **options):
        """Runs the command, which has to fail with this exit code and a message that matches; returns the message."""
        result = self.run_raw(*args, **options)
        text = result.stderr.decode()
        self.assertEqual(result.returncode, code, text)
        self.assertRegex(text, pattern)
        self.assertFalse(result.stdout, "there is output in spite of an error")
        return text

    def device(self, name, minor):
        """
        A device to write to. Root gets one in the test's own directory, because a program that replaces its output by mistake would
        otherwise replace the system's device.
        """
        if os.geteuid() != 0:
            return f"/dev/{name}"
        os.mknod(self.path(name), stat.S_IFCHR | 0o666, os.makedev(1, minor))
        return self.path(name)

    def wait_for(self, condition, what):
        end = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), end, f"waited in vain: {what}")
            time.sleep(0.002)
