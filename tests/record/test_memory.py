# SPDX-License-Identifier: BSD-3-Clause
"""Memory is constant, whatever the size: 10 GiB of records through programs that may have 64 MiB of addresses, code and all. The records come through a pipe, from
more than a thousand shards that are one file by many names, or from a file of holes. load.c makes and reads them. With a sanitizer, which is slow, they are 2 GiB."""
import os
import tempfile
import unittest

from support import EVALUE, SANITIZERS, RecordTest, program

LIMIT = 64 << 20
AMOUNT = (2 if SANITIZERS else 10) << 30
HELD = "io, errno 12, "


def expected(times, labels):
    """Records, and the sums of their labels and of the squares of those."""
    return [times * labels, times * sum(range(labels)), times * sum(i * i for i in range(labels))]


class Memory(RecordTest):
    def under_limit(self, *command, code=0):
        """Runs a program in little memory. A sanitizer needs addresses of another order; what load.c says of its memory is held all the same."""
        return self.run_program(*command, code=code, limit=None if SANITIZERS else LIMIT)

    def check(self, out, sums):
        *found, peak = map(int, out.split())
        self.assertEqual(found, sums)
        self.assertLessEqual(peak << 10, LIMIT)

    def make_block(self, labels, numel):
        """A file of few records; returns how often it makes the whole amount."""
        self.run_program(program("load"), "block", "block", labels, numel)
        return AMOUNT // os.path.getsize(self.path("block")) + 1

    def from_pipe(self, times, *command, code=0):
        """Runs a program whose last argument is a pipe with that many blocks."""
        os.mkfifo(self.path("fifo"))
        pouring = self.start(program("load"), "pour", "block", times, "fifo")
        try:
            out = self.under_limit(*command, "fifo", code=code)
            if code == 0:
                self.finish(pouring)
            return out
        finally:
            pouring.kill()
            pouring.communicate()
            os.unlink(self.path("fifo"))


class Pipe(Memory):
    def test_reader(self):
        times = self.make_block(500, 4000)
        self.check(self.from_pipe(times, program("load"), "read"), expected(times, 500))

    def test_loader(self):
        times = self.make_block(500, 4000)
        self.check(self.from_pipe(times, program("load"), "examples", 500, 32, 1), expected(times, 500))

    def test_check(self):
        times = self.make_block(500, 4000)
        self.assertEqual(self.from_pipe(times, EVALUE, "records", "check"), "")


class Shards(Memory):
    def test_loader(self):
        """Small records, which wait in the blocks that they were read with."""
        times = self.make_block(2000, 1000)
        for i in range(times):
            os.link(self.path("block"), self.path(f"t-{i:05}-of-{times:05}.tfrecord"))
        self.check(self.under_limit(program("load"), "examples", 3000, 32, 0, "t-*.tfrecord"), expected(times, 2000))


class Holes(Memory):
    """One file, where holes are read without a disk and without memory: large records, far behind 4 GiB."""

    def setUp(self):
        super().setUp()
        if not os.path.isdir("/dev/shm"):
            self.skipTest("needs /dev/shm")
        handle, self.holes = tempfile.mkstemp(prefix="evalue-holes-", dir="/dev/shm")
        os.close(handle)
        self.addCleanup(os.unlink, self.holes)

    def test_large_records(self):
        numel, count = 1 << 20, AMOUNT // (4 << 20)
        self.run_program(program("load"), "sparse", self.holes, count, numel)
        size = os.path.getsize(self.holes)
        self.assertGreater(size, AMOUNT)
        self.check(self.under_limit(program("load"), "read", self.holes), expected(1, count))
        self.check(self.under_limit(program("load"), "examples", 500, 2, 0, self.holes), expected(1, count))
        self.assertEqual(self.under_limit(EVALUE, "records", "check", self.holes), "")
        table = self.under_limit(EVALUE, "records", "ls", self.holes).splitlines()
        self.assertEqual(table[1].split()[1:], [f"{count:,}", f"{size:,}"] + 3 * [f"{size // count - 16:,}"] + [f"float32[{numel}],", "Int"])

    def test_a_record_larger_than_memory(self):
        """Written, repaired and indexed in little memory; to read it is refused, and no crash."""
        self.run_program(program("load"), "sparse", self.holes, 1, 1400000000)
        size = os.path.getsize(self.holes)
        self.assertGreater(size, 5 << 30)
        self.assertEqual(self.under_limit(EVALUE, "records", "index", "-o", "-", self.holes), f"0 {size}\n")
        self.assertRegex(self.under_limit(EVALUE, "records", "repair", "--dry-run", self.holes), f": nothing to repair: 1 record, {size:,} bytes\n$")
        if SANITIZERS:
            self.skipTest("a sanitizer ends what asks for too much memory")
        self.assertEqual(self.under_limit(program("load"), "read", self.holes, code=1), HELD + "reading\n")
        self.assertRegex(self.under_limit(program("load"), "examples", 9, 1, 0, self.holes, code=1), f"^{HELD}{self.holes}: record 0: ")
        self.under_limit(EVALUE, "records", "check", self.holes, code=2)


@unittest.skipIf(SANITIZERS, "a sanitizer needs addresses of another order")
class TooMuch(Memory):
    """What cannot be done in so little memory fails, and says so: this is how the tests above would fail."""

    def test_a_buffer_of_too_many(self):
        self.make_block(2000, 1000)
        for buffer in 30000, 1000000, 4000000000:
            with self.subTest(buffer):
                out = self.from_pipe(100, program("load"), "examples", buffer, 32, 0, code=1)
                self.assertRegex(out, f"^{HELD}shuffle: there is no memory\n$")

    def test_a_buffer_of_too_many_blocks(self):
        self.make_block(20000, 1000)
        self.assertRegex(self.under_limit(program("load"), "examples", 20000, 32, 0, "block", code=1), f"^{HELD}shuffle: there is no memory\n$")

    def test_a_batch_of_too_many(self):
        self.make_block(2000, 1000)
        self.assertRegex(self.from_pipe(100, program("load"), "examples", 10, 30000, 0, code=1), f"^{HELD}")


if __name__ == "__main__":
    unittest.main()
