# SPDX-License-Identifier: BSD-3-Clause
"""`evalue records` ls, show, check and index: what they say of good files and of bad ones."""
import json
import math
import os
import pty
import signal
import struct
import subprocess
import time
import unittest

from records_support import TABLE, RecordsTest, example, flip, index_of, ints, masked, record, split
from support import EVALUE, NONE, boolean, double, integer, message, string, tensor

BAD_BOOL = message(b"\5" + struct.pack("<Q", 1) + b"\2")


class Check(RecordsTest):
    def test_good_files(self):
        self.file("in", self.some(50))
        self.write("empty", b"")
        self.exactly(0, "", "", "check", "in", "empty", "/dev/null")
        self.exactly(0, "", "", "check", "--jobs=1", "-", input=self.read("in"))
        self.exactly(0, "", "", "check", "/dev/stdin", input=b"")

    def test_every_cut(self):
        """A cut file is truncated, at the record that is cut, and never corrupt."""
        whole = self.file("in", self.some(4)) and self.read("in")
        ends = [0]
        for data in split(whole):
            ends.append(ends[-1] + 16 + len(data))
        names, expected = [], []
        for size in range(len(whole)):
            self.write(f"in{size}", whole[:size])
            names.append(f"in{size}")
            if size in ends:
                continue
            cut = max(i for i, end in enumerate(ends) if end <= size)
            where = "length: the file ends inside a record's length" if size - ends[cut] < 12 else "data: the file ends inside a record"
            needed = ends[cut] + 12 if size - ends[cut] < 12 else ends[cut + 1]
            expected.append(f"in{size}: record {cut}: offset {ends[cut]}: truncated: {where}: needs at least {needed} bytes of input, has {size}\n")
        self.exactly(1, "", "".join(expected), "check", *names)
        for size in [ends[2] + 5, ends[2] + 15]:
            text = self.fails(1, "^stdin: record 2: offset", "check", "-", input=whole[:size])
            self.assertIn(f"has {size}\n", text)

    def test_every_flip(self):
        data = self.some(3)
        whole = b"".join(map(record, data))
        names, starts = [], [0, len(record(data[0])), len(record(data[0])) + len(record(data[1]))]
        for at in range(len(whole)):
            self.write(f"in{at}", flip(whole, at))
            names.append(f"in{at}")
        result = self.run_raw("records", "check", *names)
        lines = result.stderr.decode().splitlines()
        self.assertEqual((result.returncode, len(lines)), (1, len(whole)))
        for at, line in enumerate(lines):
            index = max(i for i, start in enumerate(starts) if start <= at)
            if at - starts[index] < 12:
                start = f"in{at}: record {index}: offset {starts[index]}: corrupt: length: the record's length does not match its checksum: expected "
            else:
                start = f"in{at}: record {index}: offset {starts[index] + 12}: corrupt: data: the record's data do not match their checksum: expected "
            self.assertTrue(line.startswith(start), line)

    def test_messages(self):
        self.file("in", [message(NONE), b"", b"hello", BAD_BOOL, message(NONE)[:-1], message(NONE)])
        first = len(record(message(NONE)))
        offsets = [first, first + 16, first + 37, first + 37 + len(record(BAD_BOOL))]
        self.exactly(1, "", (
            f"in: record 1: offset {offsets[0]}: malformed: the record is empty, so it holds no message: expected a message, found no byte\n"
            f"in: record 2: offset {offsets[1]}: message: offset 0: malformed: magic: this is no EValue message: expected \"EVAL\", found \"hell\"\n"
            f"in: record 3: offset {offsets[2]}: message: offset 33: value 0: malformed: bool: the Bool is neither 0 nor 1: expected 0 or 1, found 2\n"
            f"in: record 4: offset {offsets[3]}: message: offset 8: truncated: body_length: the input ends before the body does: needs at least 33 bytes of input, has 32\n"),
            "check", "in")
        self.exactly(0, "", "", "check", "--frames", "in")

    def test_examples_are_recognised(self):
        self.file("in", [example(label=ints(7))])
        self.fails(1, "; it looks like a tf.Example: 'evalue records from-tfexample' reads them\n$", "check", "in")
        for other in [b"\n\5hell", b"\n", b"\n" + b"\x80" * 9]:
            self.file("in", [other])
            self.assertNotIn("looks like", self.fails(1, "magic", "check", "in"))

    def test_lengths(self):
        for length, pattern in [(1 << 62, "^in: record 0: offset 0: malformed: length: the record's length is 2.62 or more: expected at most 4611686018427387903, found 4611686018427387904\n$"),
                                ((1 << 62) - 1, "^in: record 0: offset 0: truncated: data: the file ends inside a record: needs at least 4611686018427387919 bytes of input, has 12\n$")]:
            head = struct.pack("<Q", length)
            self.write("in", head + masked(head))
            self.fails(1, pattern, "check", "in")
        self.write("in", bytes(100))
        self.fails(1, "^in: record 0: offset 0: corrupt: length: ", "check", "in")
        self.fails(1, "^/dev/zero: record 0: offset 0: corrupt: length: ", "check", "/dev/zero")

    def test_after_a_bad_length_nothing_is_read(self):
        data = [message(NONE)] * 3
        self.write("in", flip(b"".join(map(record, data)), len(record(data[0]))))
        self.assertEqual(self.fails(1, "^in: record 1: offset 49: corrupt: length", "check", "in").count("\n"), 1)

    def test_many_faults(self):
        self.file("in", [b"x"] * 1234)
        text = self.fails(1, "in: 1,214 more bad records\n$", "check", "in")
        self.assertEqual(text.count("\n"), 21)
        text = self.fails(1, "in: record 2: .*\nin: 1,231 more bad records\n$", "check", "in", "--faults", "3")
        self.assertEqual(self.fails(1, ".", "check", "in", "--faults=1233").splitlines()[-1], "in: 1 more bad record")
        self.assertEqual(self.fails(1, ".", "check", "in", "--faults=1234").count("\n"), 1234)

    def test_all_files_are_looked_at_in_their_order(self):
        self.file("in.good", self.some(3))
        self.file("in.bad", [b"x"])
        self.file("in.long", self.some(3000) + [b"x"])
        for jobs in ["1", "2", "16"]:
            text = self.fails(2, ".", "check", "--jobs", jobs, "in.long", "in.bad", "nonesuch", "in.good", ".", "in.bad", "-", input=b"x")
            lines = [line.split(": ")[:3] for line in text.splitlines()]
            last = os.path.getsize(self.path("in.long")) - 17
            self.assertEqual(lines, [["in.long", "record 3000", f"offset {last}"], ["in.bad", "record 0", "offset 0"],
                                     ["evalue records check", "nonesuch", "cannot open"], ["evalue records check", ".", "cannot read"],
                                     ["in.bad", "record 0", "offset 0"], ["stdin", "record 0", "offset 0"]])

    def test_usage(self):
        for pattern, args in [("expected a FILE", []), ("--jobs: expected a number from 1 to 256, found '0'", ["--jobs=0", "x"]),
                              ("unknown option '--deep'", ["--deep", "x"]),
                              ("stdin can be read once", ["-", "-"]), ("--faults: expected", ["--faults=-1"]), ("given twice", ["--jobs=1", "--jobs=1"])]:
            self.fails(2, "^evalue records check: .*" + pattern, "check", *args)

    def test_names_do_not_steer_the_terminal(self):
        self.file("in\x1b[31m", [b"x"])
        self.fails(1, r"^in\\x1b\[31m: record 0", "check", "in\x1b[31m")


class Bar(RecordsTest):
    def drawn_while(self, *args):
        """What appears on a terminal; the process is stopped for longer than a bar waits, so that it is sure to draw one."""
        master, slave = pty.openpty()
        text = b""
        process = self.start("records", *args, stderr=slave, env=dict(self.environment, TERM="xterm"))
        os.close(slave)
        time.sleep(0.1)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.7)
        process.send_signal(signal.SIGCONT)
        while True:
            try:
                text += os.read(master, 65536)
            except OSError:
                break  # the last writer has closed the terminal
        process.communicate()
        os.close(master)
        self.assertEqual(process.returncode, 0, text)
        return text

    def test_rate_and_time_left(self):
        self.write("in", record(message(NONE)) * 400000)
        for args in [["check"], ["check", "--jobs=1"], ["ls"], ["merge", "-o", "/dev/null"]]:
            text = self.drawn_while(*args, *["in"] * 20)
            self.assertRegex(text, rb"^\r\x1b\[Kin \[[#.]{30}\] +\d+% \d+ MB/s \d+:\d\d left")
            self.assertTrue(text.endswith(b"\r\x1b[K"), text[-50:])


class Ls(RecordsTest):
    def test_table(self):
        self.file("in.a", self.some(21))
        self.file("in.long.name", [message(double(1), boolean(True))] * 2)
        self.write("in.empty", b"")
        sizes = sorted(map(len, self.some(21)))
        all_sizes = sorted(sizes + [len(message(double(1), boolean(True)))] * 2)
        a, b = (os.path.getsize(self.path(name)) for name in ["in.a", "in.long.name"])
        self.exactly(0, (
            "file          records  bytes  min  median  max  values\n"
            f"in.a               21  {a:,}   {sizes[0]}  {sizes[10]:6}  {sizes[-1]}  int16[?,2], Int, String\n"
            f"in.long.name        2    {b}   {all_sizes[0]}      {all_sizes[0]}   {all_sizes[0]}  Double, Bool\n"
            "in.empty            0      0    -       -    -\n"
            f"total              23  {a + b:,}   {all_sizes[0]}  {all_sizes[11]:6}  {sizes[-1]}  ?, ?, ...\n"), "", "ls", "in.a", "in.long.name", "in.empty")

    def values(self, *messages):
        self.file("in", messages)
        lines = self.records("ls", "in").decode().splitlines()
        self.assertEqual(len(lines), 2)
        return lines[1][lines[0].index("values"):] if len(lines[1]) > lines[0].index("values") else ""

    def test_values(self):
        t = lambda sizes, scalar_type="uint8": tensor(scalar_type, sizes, bytes({"uint8": 1, "int32": 4}[scalar_type] * math.prod(sizes)))
        self.assertEqual(self.values(message(t([2, 3]), NONE), message(t([2, 3]), NONE)), "uint8[2,3], None")
        self.assertEqual(self.values(message(t([2, 3])), message(t([2, 4])), message(t([2, 3]))), "uint8[2,?]")
        self.assertEqual(self.values(message(t([2, 3])), message(t([2]))), "uint8[...]")
        self.assertEqual(self.values(message(t([2])), message(t([2], "int32"))), "?[2]")
        self.assertEqual(self.values(message(tensor("int8", [], b"1"))), "int8[]")
        self.assertEqual(self.values(message(NONE), message(integer(1)), message(integer(2))), "Int or None")
        self.assertEqual(self.values(message(integer(1)), message(NONE), message(t([2]))), "?")
        self.assertEqual(self.values(message(integer(1)), message(integer(1), integer(2))), "Int, ...")
        self.assertEqual(self.values(message(*[NONE] * 33)), ", ".join(["None"] * 32) + ", ...")
        self.assertEqual(self.values(message(*[NONE] * 32)), ", ".join(["None"] * 32))
        self.assertEqual(self.values(message()), "no values")
        self.assertEqual(self.values(message(), message(NONE)), "...")

    def test_bad_records(self):
        self.file("in", [message(NONE), b"x", b"", message(NONE)])
        self.write("in.cut", self.read("in")[:-1])
        self.exactly(1, ("file    records  bad  bytes  min  median  max  values\n"
                         "in            4    2    131    0       1   33  None\n"
                         "in.cut        3    3    130    0       1   33  None\n"
                         "total         7    5    261    0       1   33  None\n"),
                     ("in: record 1: offset 49: message: offset 0: malformed: magic: this is no EValue message: expected \"EVAL\", found \"x\"\n"
                      "in: 1 more bad record\n"
                      "in.cut: record 1: offset 49: message: offset 0: malformed: magic: this is no EValue message: expected \"EVAL\", found \"x\"\n"
                      "in.cut: 2 more bad records\n"), "ls", "in", "in.cut")
        result = self.run_raw("records", "ls", "nonesuch", "in")
        self.assertEqual((result.returncode, result.stdout.count(b"\n")), (2, 3))

    def test_json(self):
        self.file("in", [message(NONE, tensor("int8", [2], b"12")), message(integer(1), tensor("int8", [3], b"123"), NONE), b""])
        self.write("in.empty", b"")
        result = self.run_raw("records", "ls", "--json", "in", "in.empty")
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        sizes = sorted([0] + [len(data) for data in split(self.read("in"))[:2]])
        values = [{"kind": "int", "may_be_none": True}, {"kind": "tensor", "scalar_type": "int8", "sizes": [None]}]
        self.assertEqual(lines[0], {"file": "in", "records": 3, "bad": 1, "bytes": os.path.getsize(self.path("in")), "min": 0, "median": sizes[1],
                                    "median_is_exact": True, "max": sizes[2], "values": values, "more_values": True})
        self.assertEqual(lines[1], {"file": "in.empty", "records": 0, "bad": 0, "bytes": 0, "min": None, "median": None, "median_is_exact": True,
                                    "max": None, "values": [], "more_values": False})

    def test_many_sizes(self):
        """More than are counted exactly: the median is rounded down by a bit. Records of 0, 1, 2, ... zeros, whose CRC goes on from one to the next."""
        count, crc = 70000, 0xffffffff
        zeros = memoryview(bytes(count))
        self.file("in", [b""])
        process = self.start("records", "ls", "in", "-", stdin=subprocess.PIPE)
        for size in range(count):
            head = struct.pack("<Q", size)
            sum_of_data = crc ^ 0xffffffff
            tail = struct.pack("<I", ((sum_of_data >> 15 | sum_of_data << 17) + 0xa282ead8) & 0xffffffff)
            process.stdin.write(head + masked(head))
            process.stdin.write(zeros[:size])
            process.stdin.write(tail)
            crc = crc >> 8 ^ TABLE[crc & 255]
        out, err = process.communicate()
        self.assertEqual((process.returncode, err.count(b"\n")), (1, 3))
        lines = [line.split() for line in out.splitlines()]
        self.assertEqual(lines[2:], [[b"-", b"70,000", b"70,000", b"2,451,085,000", b"0", b"~34,998", b"69,999"],
                                     [b"total", b"70,001", b"70,001", b"2,451,085,016", b"0", b"~34,998", b"69,999"]])

    def test_usage(self):
        self.fails(2, "^evalue records ls: expected a FILE", "ls")
        self.fails(2, "^evalue records ls: unknown option '-l'", "ls", "-l", "x")


class Show(RecordsTest):
    def setUp(self):
        super().setUp()
        self.messages = self.some(5)
        self.file("in", self.messages)
        self.offsets = [len(b"".join(map(record, self.messages[:i]))) for i in range(5)]

    def expected(self, *numbers):
        parts = []
        for number in numbers:
            self.write("in.one", self.messages[number])
            parts.append(f"record {number}, offset {self.offsets[number]:,}\n" + self.good("show", "in.one").decode())
        return "\n".join(parts)

    def test_which_records(self):
        for args, numbers in [([], range(5)), (["--record", "0"], [0]), (["--record=3"], [3]), (["--from", "3"], [3, 4]), (["--count=2"], [0, 1]),
                              (["--from=1", "--count=3"], [1, 2, 3]), (["--from=4", "--count=100"], [4]), (["--count=0"], [])]:
            self.exactly(0, self.expected(*numbers), "", "show", *args, "in")
            self.exactly(0, self.expected(*numbers), "", "show", *args, "-", input=self.read("in"))

    def test_no_such_record(self):
        self.exactly(1, "", "stdin: there is no record 0: the file has 0\n", "show", "--record=0", "-", input=b"")
        self.exactly(0, "", "", "show", "-", input=b"")
        for args in [["--record=5"], ["--record=99"], ["--from=5"]]:
            number = args[0].split("=")[1]
            self.exactly(1, "", f"in: there is no record {number}: the file has 5\n", "show", *args, "in")
            self.exactly(1, "", f"stdin: there is no record {number}: the file has 5\n", "show", *args, "-", input=self.read("in"))

    def test_json(self):
        lines = self.records("show", "--json", "--from=2", "in").decode().splitlines()
        self.assertEqual(len(lines), 3)
        for number, line in enumerate(lines, 2):
            self.write("in.one", self.messages[number])
            values = [json.loads(value) for value in self.good("show", "--json", "in.one").splitlines()]
            self.assertEqual(json.loads(line), {"record": number, "offset": self.offsets[number], "values": values})

    def test_bad_records(self):
        whole = flip(self.read("in"), self.offsets[1] + 20)
        whole = whole[:self.offsets[3]] + record(BAD_BOOL) + record(message(NONE))
        self.write("in.bad", whole)
        result = self.run_raw("records", "show", "--json", "in.bad")
        self.assertEqual([json.loads(line)["record"] for line in result.stdout.splitlines()], [0, 2, 4])
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), f"^in.bad: record 1: offset {self.offsets[1] + 12}: corrupt: .*\nin.bad: record 3: offset {self.offsets[3]}: message: offset 33: value 0: .*\n$")
        for args, pattern in [(["--record=1"], f"^in.bad: record 1: offset {self.offsets[1] + 12}: corrupt"), (["--record=3"], "^in.bad: record 3: .*message")]:
            self.assertEqual(self.fails(1, pattern, "show", *args, "in.bad").count("\n"), 1)
        for at in (2, 3):  # three bad ones: only the one that was asked for is told
            whole = flip(whole, self.offsets[at] + 14)
        self.write("in.worse", whole)
        for name in ["in.worse", "-"]:
            result = self.run_raw("records", "show", "--json", "--record=4", name, input=whole)
            self.assertEqual([json.loads(line)["record"] for line in result.stdout.splitlines()], [4])
        self.assertEqual(self.fails(1, "^in.worse: record 1: ", "show", "--record=1", "in.worse").count("\n"), 1)
        self.write("in.cut", whole[:-1])
        self.assertEqual(self.fails(1, "^in.cut: record 4: offset .*truncated", "show", "--record=4", "in.cut").count("\n"), 1)
        self.assertEqual(self.fails(1, "^in.cut: record 4: offset .*truncated", "show", "--record=7", "in.cut").count("\n"), 1)

    def test_a_reader_that_has_seen_enough(self):
        self.file("in", self.messages * 2000)
        script = '"$0" records show in | head -n 1'
        result = subprocess.run(["sh", "-c", script, EVALUE], cwd=self.dir, capture_output=True, check=False)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"record 0, offset 0\n", b""))

    def test_usage(self):
        for pattern, args in [("expected a FILE", []), ("--record does not go together", ["--record=1", "--count=1", "in"]),
                              ("--from: expected a number", ["--from=x", "in"]),
                              ("unexpected argument 'b'", ["a", "b"])]:
            self.fails(2, "^evalue records show: .*" + pattern, "show", *args)
        self.fails(2, "^evalue records show: nonesuch: cannot open: No such file", "show", "nonesuch")


class Index(RecordsTest):
    def test_index(self):
        self.file("in", self.some(30))
        self.exactly(0, "", "", "index", "in")
        self.assertEqual(self.read("in.index"), index_of(self.read("in")))
        self.assertEqual(self.records("index", "-o", "-", "in"), self.read("in.index"))
        self.assertEqual(self.records("index", "-o", "-", "-", input=self.read("in")), self.read("in.index"))
        self.exactly(0, "", "", "index", "--check", "in")
        self.exactly(0, "", "", "index", "--check", "-o", "in.index", "-", input=self.read("in"))
        self.write("in.empty", b"")
        self.assertEqual(self.records("index", "-o", "-", "in.empty"), b"")

    def test_data_are_not_read(self):
        data = self.some(2)
        self.write("in", flip(b"".join(map(record, data)), 30))
        self.records("index", "in")
        self.records("index", "--check", "in")

    def test_a_sparse_file_of_6_gib(self):
        head = struct.pack("<Q", 6 << 30)
        self.write("in", head + masked(head))
        os.truncate(self.path("in"), (6 << 30) + 16)
        with open(self.path("in"), "ab") as stream:
            stream.write(record(message(NONE)))
        self.assertEqual(self.records("index", "-o", "-", "in"), b"0 6442450960\n6442450960 49\n")
        self.assertRegex(self.records("show", "--record", "1", "in"), b"^record 1, offset 6,442,450,960\nmessage, 1 value")

    def test_bad_files(self):
        self.file("in", self.some(3))
        whole = self.read("in")
        self.write("in.index", b"old")
        for data, pattern in [(whole[:-1], "^in: record 2: offset [0-9]+: truncated: "), (flip(whole, 3), "^in: record 0: offset 0: corrupt: length")]:
            self.write("in", data)
            self.fails(1, pattern, "index", "in")
            self.assertEqual(self.read("in.index"), b"old")
            self.assertEqual(self.left(), [])

    def test_check(self):
        self.file("in", [message(NONE)] * 3)
        good = b"0 49\n49 49\n98 49\n"
        for text, expected in [(b"", 'line 1: expected "0 49", found the end'), (good[:-6], 'line 3: expected "98 49", found the end'),
                               (good[:-1], 'line 3: expected "98 49", found "98 49" without a newline'),
                               (good[:-1] + b"0", 'line 3: expected "98 49", found "98 490" without a newline'), (good + b"147 49\n", 'line 4: expected the end, found "147 49"'),
                               (good.replace(b"49 49", b"49 50"), 'line 2: expected "49 49", found "49 50"'),
                               (good + b"\n", 'line 4: expected the end, found ""'), (b"0  49\n", 'line 1: expected "0 49", found "0  49"'),
                               (b"\x1b[31m\n", r'line 1: expected "0 49", found "\x1b[31m"')]:
            self.write("in.index", text)
            self.exactly(1, "", f"in.index: {expected}\n", "index", "--check", "in")
        self.write("in.index", good)
        self.write("in", self.read("in")[:-1])
        self.fails(1, "^in: record 2: .*truncated", "index", "--check", "in")
        self.fails(2, "^evalue records index: nonesuch: cannot open", "index", "--check", "-o", "nonesuch", "in")

    def test_usage(self):
        for pattern, args in [("expected a FILE", []), ("the index of stdin needs a name: -o OUT", ["-"]),
                              ("--check needs the name of a file", ["--check", "-o-", "in"]),
                              ("unexpected argument 'b'", ["a", "b"])]:
            self.fails(2, "^evalue records index: .*" + pattern, "index", *args)


if __name__ == "__main__":
    unittest.main()
