# SPDX-License-Identifier: BSD-3-Clause
"""`evalue records` shard, merge and repair: records stay as they are, and what is bad is said or left out."""
import fcntl
import os
import struct
import unittest

from records_support import RecordsTest, flip, index_of, masked, record, split
from support import NONE, integer, message


class Shards(RecordsTest):
    def test_shard_and_merge(self):
        data = self.some(23)
        self.file("in", data)
        self.exactly(0, "", "", "shard", "--shards=4", "--index", "-o", "x.tfrecord", "in")
        names = [f"x-0000{i}-of-00004.tfrecord" for i in range(4)]
        for i, name in enumerate(names):
            self.assertEqual(split(self.read(name)), data[i::4])
            self.assertEqual(self.read(name + ".index"), index_of(self.read(name)))
        self.exactly(0, "", "", "merge", "--interleave", "--index", "-o", "out", *names)
        self.assertEqual(self.read("out"), self.read("in"))
        self.assertEqual(self.read("out.index"), index_of(self.read("in")))
        self.assertEqual(self.records("merge", "-o", "-", *names), b"".join(map(self.read, names)))

    def test_data_are_not_looked_at(self):
        data = [b"", b"x", bytes(range(256)) * 300]
        self.file("in", data)
        self.assertEqual(self.records("merge", "-o", "-", "in", "-", input=self.read("in")), self.read("in") * 2)
        self.records("shard", "--shards=1", "-o", "x", "in")
        self.assertEqual(self.read("x-00000-of-00001"), self.read("in"))

    def test_in_place(self):
        self.file("in", self.some(3))
        before = self.read("in")
        self.records("merge", "-o", "in", "in", "in")
        self.assertEqual(self.read("in"), before * 2)

    def test_several_inputs_are_one(self):
        self.file("in.a", self.some(3))
        self.file("in.b", self.some(4, 3))
        self.records("shard", "--shards=2", "-o", "x", "in.a", "in.b")
        self.assertEqual(split(self.read("x-00000-of-00002")), self.some(7)[::2])
        self.assertEqual(split(self.records("merge", "--interleave", "-o", "-", "in.a", "in.b")), [self.some(7)[i] for i in (0, 3, 1, 4, 2, 5, 6)])

    def test_bad_records(self):
        data = self.some(6)
        at = len(b"".join(map(record, data[:2])))
        self.file("in.good", data)
        self.write("in", flip(self.read("in.good"), at + 12)[:-1])
        for args in [["merge", "-o", "out"], ["merge", "--interleave", "-o", "out"], ["shard", "--shards=2", "-o", "out"]]:
            self.assertEqual(self.fails(1, f"^in: record 2: offset {at + 12}: corrupt: data: ", *args, "in.good", "in").count("\n"), 1)
            self.assertEqual(self.left(), [])
        for more in [[], ["--interleave"]]:
            result = self.run_raw("records", "merge", *more, "--skip-bad", "-o", "-", "in")
            self.assertEqual((result.returncode, split(result.stdout)), (0, [data[i] for i in (0, 1, 3, 4)]))
            self.assertRegex(result.stderr.decode(), f"^in: left out 2 bad records; the first one: record 2: offset {at + 12}: corrupt: data: [^\n]*\n$")

    def test_a_bad_length(self):
        data = self.some(6)
        at = len(b"".join(map(record, data[:2])))
        self.file("in", data)
        size = os.path.getsize(self.path("in"))
        self.write("in", flip(self.read("in"), at))
        self.fails(1, f"^in: record 2: offset {at}: corrupt: length: [^;]*\n$", "merge", "-o", "out", "in")
        for file, lost in [("in", f"the {size - at} bytes from there on, which cannot be read"), ("-", "what follows, which cannot be read")]:
            result = self.run_raw("records", "merge", "--skip-bad", "-o", "-", file, input=self.read("in"))
            self.assertEqual((result.returncode, split(result.stdout)), (0, data[:2]))
            self.assertRegex(result.stderr.decode(), f"^(in|stdin): record 2: offset {at}: corrupt: length: .*; left out {lost}\n$")

    def test_files_that_cannot_be_read(self):
        self.file("in", self.some(2))
        for args in [["merge"], ["merge", "--interleave"], ["shard", "--shards=2"]]:
            self.fails(2, "nonesuch: cannot open: No such file", *args, "-o", "out", "in", "nonesuch")
            self.fails(2, r"\.: cannot read: Is a directory", *args, "-o", "out", "in", ".")
        self.assertEqual(self.left(), [])

    def test_usage(self):
        for pattern, args in [("expected --shards N", ["shard", "-o", "x", "in"]), ("expected -o NAME", ["shard", "--shards=2", "in"]),
                              ("expected an IN", ["merge", "-o", "x"]),
                              ("expected -o OUT", ["merge", "in"]), ("--shards needs the name of a file", ["shard", "--shards=2", "-o-", "in"]),
                              ("--index needs the name of a file", ["merge", "--index", "-o-", "in"]),
                              ("unknown option '--interleave'", ["shard", "--interleave", "in"]),
                              ("unknown option '--shards'", ["merge", "--shards=2", "in"]),
                              ("--shards: expected a number from 1 to 99999, found '100000'", ["shard", "--shards=100000"])]:
            self.fails(2, f"^evalue records {args[0]}: {pattern}", *args)


class Repair(RecordsTest):
    def setUp(self):
        super().setUp()
        self.data = self.some(5)
        self.whole = b"".join(map(record, self.data))
        self.at = [len(b"".join(map(record, self.data[:i]))) for i in range(6)]

    def test_nothing_to_repair(self):
        for data, text in [(self.whole, f"5 records, {len(self.whole)} bytes"), (b"", "0 records, 0 bytes"), (record(b""), "1 record, 16 bytes")]:
            self.write("x", data)
            for args in [[], ["--dry-run"], ["--force"]]:
                self.exactly(0, f"x: nothing to repair: {text}\n", "", "repair", *args, "x")
                self.assertEqual(self.read("x"), data)

    def test_every_torn_end(self):
        for size in range(self.at[3], self.at[4]):
            self.write("x", self.whole[:size])
            if size == self.at[3]:
                self.exactly(0, f"x: nothing to repair: 3 records, {size} bytes\n", "", "repair", "x")
                continue
            cut = size - self.at[3]
            where = "length: the file ends inside a record's length" if cut < 12 else "data: the file ends inside a record"
            needed = self.at[3] + 12 if cut < 12 else self.at[4]
            text = f"{cut} byte{'' if cut == 1 else 's'} at offset {self.at[3]}: record 3: offset {self.at[3]}: truncated: {where}: needs at least {needed} bytes of input, has {size}; 3 records are left\n"
            self.exactly(1, "x: would cut " + text, "", "repair", "--dry-run", "x")
            self.assertEqual(self.read("x"), self.whole[:size])
            self.exactly(0, "x: cut " + text, "", "repair", "x")
            self.assertEqual(self.read("x"), self.whole[:self.at[3]])

    def test_zeros_at_the_end(self):
        for zeros in [12, 16, 5000]:
            self.write("x", self.whole + bytes(zeros))
            self.exactly(0, f"x: cut {zeros:,} bytes at offset {self.at[5]}: zeros up to the end; 5 records are left\n", "", "repair", "x")
            self.assertEqual(self.read("x"), self.whole)

    def test_corrupt_records_stay(self):
        bad = flip(self.whole, self.at[1] + 15)
        fault = f"offset {self.at[1] + 12}: corrupt: data: [^\n]*"
        for data, cut in [(bad, 0), (bad[:-1], self.at[5] - self.at[4] - 1)]:
            self.write("x", data)
            result = self.run_raw("records", "repair", "x")
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr.decode(), f"^x: 1 corrupt record is left; the first one: {fault}; --skip-bad -o OUT copies the others\n$")
            self.assertEqual(result.stdout.decode(), "" if cut == 0 else f"x: cut {cut} bytes at offset {self.at[4]}: record 4: offset {self.at[4]}: truncated: data: the file ends inside a record:"
                             f" needs at least {self.at[5]} bytes of input, has {self.at[5] - 1}; 4 records are left\n")
            self.assertEqual(self.read("x"), bad if cut == 0 else bad[:self.at[4]])

    def test_a_corrupt_record_at_the_end(self):
        """It is whole, so it stays, unless it is forced; what is torn behind it goes."""
        bad = flip(self.whole, self.at[4] + 15)
        for torn in [b"", self.whole[:5]]:
            self.write("x", bad + torn)
            self.assertEqual(self.run_raw("records", "repair", "x").returncode, 1)
            self.assertEqual(self.read("x"), bad)
            self.write("x", bad + torn)
            self.exactly(0, f"x: cut {len(bad + torn) - self.at[4]} bytes at offset {self.at[4]}: corrupt records; 4 records are left\n", "", "repair", "--force", "x")
            self.assertEqual(self.read("x"), self.whole[:self.at[4]])

    def test_a_bad_length(self):
        bad = flip(self.whole, self.at[2] + 1)
        self.write("x", bad)
        for args in [[], ["--dry-run"]]:
            self.fails(1, f"^x: record 2: offset {self.at[2]}: corrupt: length: .*; the {len(bad) - self.at[2]} bytes from there on cannot be read: --force cuts them off, --skip-bad -o OUT copies"
                          " what is before\n$", "repair", *args, "x")
            self.assertEqual(self.read("x"), bad)
        result = self.run_raw("records", "repair", "--force", "--dry-run", "x")
        self.assertEqual((result.returncode, self.read("x")), (1, bad))
        result = self.run_raw("records", "repair", "--force", "x")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertRegex(result.stdout.decode(), f"^x: cut {len(bad) - self.at[2]} bytes at offset {self.at[2]}: record 2: offset {self.at[2]}: corrupt: length: .*; 2 records are left\n$")
        self.assertEqual(self.read("x"), self.whole[:self.at[2]])

    def test_copying(self):
        bad = flip(self.whole, self.at[1] + 15) + record(b"") + record(b"no message") + record(message(NONE)) + self.whole[:20]
        self.write("in", bad)
        kept = [self.data[i] for i in (0, 2, 3, 4)]
        for args, expected, count in [([], kept + [message(NONE)], 4), (["--frames"], kept + [b"", b"no message", message(NONE)], 2)]:
            result = self.run_raw("records", "repair", "--skip-bad", "--index", *args, "-o", "out", "in")
            self.assertEqual((result.returncode, result.stdout, split(self.read("out"))), (0, b"", expected))
            self.assertEqual(self.read("out.index"), index_of(self.read("out")))
            self.assertRegex(result.stderr.decode(), f"^in: left out {count} bad records; the first one: record 1: offset {self.at[1] + 12}: corrupt")
            self.assertEqual(self.read("in"), bad)
        self.assertEqual(self.records("repair", "--skip-bad", "-o", "-", "-", input=self.whole), self.whole)

    def test_files_that_cannot_be_repaired(self):
        self.fails(2, "^evalue records repair: nonesuch: cannot read: No such file", "repair", "nonesuch")
        self.assertEqual(self.left(), [])
        self.fails(2, r"^evalue records repair: \.: cannot read: ", "repair", ".")
        self.fails(2, "^evalue records repair: /dev/null: cannot read: it is no regular file", "repair", "/dev/null")
        self.fails(2, "^evalue records repair: : cannot open: No such file", "repair", "")

    def test_a_file_that_is_being_written(self):
        self.write("x", self.whole[:-1])
        with open(self.path("x"), "rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            self.fails(2, "^evalue records repair: x: cannot cut: another program is writing to it\n$", "repair", "x")
        self.assertEqual(self.read("x"), self.whole[:-1])

    def test_usage(self):
        for pattern, args in [("expected a FILE", []), ("--skip-bad needs -o OUT", ["--skip-bad", "x"]), ("need --skip-bad", ["-o", "y", "x"]),
                              ("need --skip-bad", ["--frames", "x"]),
                              ("does not go together", ["--skip-bad", "--force", "-oy", "x"]), ("stdin cannot be repaired", ["-"]),
                              ("--index needs the name", ["--skip-bad", "--index", "-o-", "x"]),
                              ("unexpected argument 'y'", ["x", "y"])]:
            self.fails(2, "^evalue records repair: .*" + pattern, "repair", *args)


class LargeRecords(RecordsTest):
    def test_a_length_that_is_not_there(self):
        """Nothing is allocated for it."""
        head = struct.pack("<Q", 1 << 61)
        self.write("in", record(message(integer(1))) + head + masked(head))
        for args in [["check", "in"], ["merge", "-o", "out", "in"], ["ls", "in"], ["index", "in"], ["show", "in"]]:
            result = self.run_raw("records", *args)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr.decode(), "^in: record 1: offset 57: truncated: data: the file ends inside a record: needs at least 2305843009213694025 bytes of input, has 69\n$")


if __name__ == "__main__":
    unittest.main()
