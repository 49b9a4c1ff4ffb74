# SPDX-License-Identifier: BSD-3-Clause
"""`evalue records create`: rows of arrays as records, shards, and outputs that appear whole or not at all."""
import os
import resource
import signal
import struct
import subprocess
import unittest

import numpy

from records_support import RecordsTest, index_of, npy, split
from support import IS_SANITIZED, NONE, boolean, double, double_bits, integer, message, string, tensor

INTS = {"i1": "int8", "u1": "uint8", "i2": "int16", "u2": "uint16", "i4": "int32", "u4": "uint32", "i8": "int64", "u8": "uint64"}


class Rows(RecordsTest):
    def create(self, *fields, **options):
        return split(self.records("create", *fields, "-o", "-", **options))

    def test_rows_of_tensors(self):
        images = numpy.arange(60, dtype="<f4").reshape(5, 3, 4)
        self.write("in.npy", npy(images))
        expected = [message(tensor("float32", [3, 4], row.tobytes())) for row in images]
        self.assertEqual(self.create("--tensor", "in.npy"), expected)
        self.write("in.npy", npy(images.astype(">f4")))
        self.assertEqual(self.create("--tensor", "in.npy"), expected)
        self.write("in.npy", npy(numpy.zeros((3, 0, 2), "u1")))
        self.assertEqual(self.create("--tensor", "in.npy"), [message(tensor("uint8", [0, 2], b""))] * 3)

    def test_rows_of_one_dimension_are_tensors_without_any(self):
        self.write("in.npy", npy(numpy.array([1, -2], "i2")))
        self.assertEqual(self.create("--tensor", "in.npy"), [message(tensor("int16", [], struct.pack("<h", i))) for i in (1, -2)])

    def test_fortran_order(self):
        for byte_order in "<>":
            cube = numpy.arange(24, dtype=byte_order + "i4").reshape(2, 3, 4)
            self.write("in.npy", npy(numpy.asfortranarray(cube)))
            little = cube.astype("<i4")
            self.assertEqual(self.create("--tensor", "in.npy"), [message(tensor("int32", [3, 4], row.tobytes("F"), [1, 0])) for row in little])
            self.write("in.npy", npy(numpy.asfortranarray(cube[0])))
            self.assertEqual(self.create("--tensor", "in.npy"), [message(tensor("int32", [4], row.tobytes())) for row in little[0]])

    def test_scalars(self):
        for dtype, order in [(dtype, order) for dtype in INTS for order in "<>"]:
            info = numpy.iinfo(dtype)
            numbers = [0, 1, int(info.min), min(int(info.max), 2 ** 63 - 1)]
            self.write("in.npy", npy(numpy.array(numbers, order + dtype)))
            self.assertEqual(self.create("--scalar", "in.npy"), [message(integer(i)) for i in numbers])
        self.write("in.npy", npy(numpy.array([True, False])))
        self.assertEqual(self.create("--scalar", "in.npy"), [message(boolean(True)), message(boolean(False))])

    def test_scalars_that_are_fractions(self):
        every_half = numpy.arange(65536, dtype="<u2").view("<f2")
        for numbers in [every_half, numpy.array([0.1, -0.0, 1e-45, numpy.inf, 3e38], ">f4"), numpy.array([0.1, 5e-324, -numpy.inf], "<f8")]:
            self.write("in.npy", npy(numbers))
            expected = [message(double(float(number))) for number in numbers if number == number]
            found = [data for data, number in zip(self.create("--scalar", "in.npy"), numbers) if number == number]
            self.assertEqual(found, expected)
        self.write("in.npy", npy(numpy.array([0x3fc0, 0xc000], "<u2")))
        self.assertEqual(self.create("--as", "bfloat16", "--scalar", "in.npy"), [message(double(1.5)), message(double(-2))])
        self.write("in.npy", npy(numpy.array([0x7ff8000000000123], "<u8").view("<f8")))
        self.assertEqual(self.create("--scalar", "in.npy"), [message(double_bits(0x7ff8000000000123))])

    def test_json_lines(self):
        lines = b'{"kind":"string","string":"a"}\n{"kind":"none"}\n'
        self.write("in.jsonl", lines)
        self.assertEqual(self.create("--json", "in.jsonl"), [message(string(b"a")), message(NONE)])
        self.write("in.npy", npy(numpy.array([7, 8])))
        self.assertEqual(self.create("--scalar", "in.npy", "--json", "-", input=lines), [message(integer(7), string(b"a")), message(integer(8), NONE)])

    def test_many_fields_and_alignment(self):
        fields, expected = [], []
        for i in range(12):  # more than are mapped at once
            self.write(f"in{i}.npy", npy(numpy.full((2, 5), i, "u1")))
            fields += ["--tensor", f"in{i}.npy"]
            expected.append(tensor("uint8", [5], bytes([i] * 5)))
        self.assertEqual(self.create(*fields), [message(*expected)] * 2)
        self.assertEqual(self.create(*fields, "--align", "64"), [message(*expected, align=64)] * 2)

    def test_no_rows(self):
        self.write("in.npy", npy(numpy.zeros((0, 3))))
        self.assertEqual(self.create("--tensor", "in.npy"), [])
        self.write("in.npy", npy(numpy.zeros(0)))
        self.assertEqual(self.create("--scalar", "in.npy"), [])

    def test_show_and_check_agree(self):
        self.write("in.npy", npy(numpy.arange(6, dtype="i4").reshape(3, 2)))
        self.records("create", "--tensor", "in.npy", "-o", "out")
        self.records("check", "out")


class Faults(RecordsTest):
    def bad_fields(self, code, pattern, *args):
        self.fails(code, pattern, "create", *args, "-o", "out")
        self.assertEqual(self.left(), [])

    def test_rows_differ(self):
        self.write("in1.npy", npy(numpy.zeros((3, 2))))
        self.write("in2.npy", npy(numpy.zeros(4)))
        self.bad_fields(1, "^in2.npy: expected 3 rows, as in in1.npy, found 4\n$", "--tensor", "in1.npy", "--scalar", "in2.npy")
        self.write("in.jsonl", b'{"kind":"none"}\n' * 2)
        self.bad_fields(1, "^in.jsonl: expected more than 2 rows, as in in1.npy, found no more\n$", "--tensor", "in1.npy", "--json", "in.jsonl")
        self.bad_fields(1, "^in1.npy: expected 2 rows, as in in.jsonl, found more\n$", "--json", "in.jsonl", "--tensor", "in1.npy")

    def test_shapes_and_types(self):
        self.write("in.npy", npy(numpy.zeros(())))
        self.bad_fields(1, "^in.npy: expected an array of at least one dimension, rows, found one of 0\n$", "--tensor", "in.npy")
        self.write("in.npy", npy(numpy.zeros((2, 2))))
        self.bad_fields(1, "^in.npy: expected an array of one dimension, found one of 2\n$", "--scalar", "in.npy")
        self.write("in.npy", npy(numpy.zeros(2, "c8")))
        self.bad_fields(1, "^in.npy: expected integers, floating-point numbers or bools, found complex64\n$", "--scalar", "in.npy")
        self.write("in.npy", npy(numpy.array([1, 2 ** 63], "u8")))
        self.bad_fields(1, r"^in.npy: row 1: expected a number that an Int can hold, at most 2\^63 - 1, found 9223372036854775808\n$", "--scalar", "in.npy")
        self.write("in.npy", npy(numpy.array([0, 2], "u1").view("?")))
        self.bad_fields(1, "^in.npy: row 1: expected 0 or 1, found 2\n$", "--scalar", "in.npy")
        self.write("in.npy", b"nothing")
        self.bad_fields(1, "^in.npy: offset 0: this is no .npy file", "--tensor", "in.npy")
        self.bad_fields(2, "^evalue records create: nonesuch: cannot open: No such file", "--tensor", "nonesuch")
        self.write("in.jsonl", b"{}\n")
        self.bad_fields(1, "^in.jsonl: line 1", "--json", "in.jsonl")

    def test_the_largest_record(self):
        self.write("in.npy", npy(numpy.zeros((2, 100), "u1")))
        size = len(message(tensor("uint8", [100], bytes(100))))
        self.bad_fields(1, f"^out: record 0: its message has too many bytes: expected at most {size - 1}, found {size}\n$",
                        "--tensor", "in.npy", "--max-record", str(size - 1))
        self.records("create", "--tensor", "in.npy", "--max-record", str(size), "-o", "out")

    def test_usage(self):
        self.write("in.npy", npy(numpy.zeros(2)))
        for pattern, args in [("expected a FIELD", ["-o", "out"]), ("expected -o OUT", ["--tensor", "in.npy"]),
                              ("--shards: expected a number from 1 to 99999, found '0'", ["--shards=0"]),
                              ("--shards: expected a number from 1 to 99999, found '1x'", ["--shards=1x"]),
                              ("--shards needs the name of a file", ["--tensor=in.npy", "--shards=2", "-o-"]),
                              ("--index needs the name of a file", ["--tensor=in.npy", "--index", "-o-"]),
                              ("did you mean '--tensor in.npy'", ["in.npy"]), ("unknown option '--what'", ["--what"]),
                              ("bad alignment '3'", ["--align=3"]), ("stdin can be read once", ["--tensor=-", "--json=-"]),
                              ("--as needs", ["--as=bits8"]), ("--as needs", ["--as=bits8", "--json=in.npy"]),
                              ("--as given twice", ["--as=bits8", "--as=bits8"]),
                              ("--as: expected the name of a scalar type", ["--as=float31"]), ("given twice", ["-oa", "-ob"]),
                              ("--max-record: expected", ["--max-record=99999999999999999999"]), ("needs a value", ["--tensor"])]:
            text = self.fails(2, "^evalue records create: .*" + pattern, "create", *args)
            self.assertIn("try 'evalue records create --help'", text)
        self.assertEqual(self.left(), [])


class Outputs(RecordsTest):
    def setUp(self):
        super().setUp()
        self.write("in.npy", npy(numpy.arange(10)))
        self.messages = [message(integer(i)) for i in range(10)]

    def test_shards_take_records_in_turn(self):
        (self.dir / "d").mkdir()
        self.records("create", "--scalar", "in.npy", "--shards", "3", "--index", "-o", "d/x.tfrecord")
        names = [f"x-0000{i}-of-00003.tfrecord" for i in range(3)]
        self.assertEqual(sorted(os.listdir(self.path("d"))), sorted(names + [name + ".index" for name in names]))
        for i, name in enumerate(names):
            self.assertEqual(split(self.read("d/" + name)), self.messages[i::3])
            self.assertEqual(self.read(f"d/{name}.index"), index_of(self.read("d/" + name)))

    def test_names_of_shards(self):
        for out, name in [("x", "x-00000-of-00001"), ("x.y.rec", "x.y-00000-of-00001.rec"), (".hidden", ".hidden-00000-of-00001")]:
            self.records("create", "--scalar", "in.npy", "--shards", "1", "-o", out)
            os.remove(self.path(name))
        self.assertEqual(self.left(), [])

    def test_more_shards_than_records_and_than_files_may_be_open(self):
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        self.records("create", "--scalar", "in.npy", "--shards", "300", "--index", "-o", "x", preexec_fn=few)
        self.assertEqual(len(self.left()), 600)
        self.assertEqual(self.read("x-00009-of-00300") + self.read("x-00010-of-00300"), self.records("create", "--json", "-", "-o-", input=b'{"kind":"int","int":"9"}'))
        none = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        self.fails(2, "^evalue records create: y-000..-of-00300: cannot create: Too many open files\n$", "create", "--scalar", "in.npy", "--shards", "300", "-o", "y", preexec_fn=none)
        self.assertEqual(len(self.left()), 600)

    def test_what_was_there_stays_until_all_is_good(self):
        self.write("x", b"old")
        os.chmod(self.path("x"), 0o640)
        self.write("x.index", b"old")
        self.write("in.bad", npy(numpy.array([1, 2 ** 63], "u8")))
        for more in [[], ["--index"]]:
            self.fails(1, "row 1", "create", "--scalar", "in.bad", *more, "-o", "x")
            self.assertEqual((self.read("x"), self.read("x.index")), (b"old", b"old"))
        self.records("create", "--scalar", "in.npy", "--index", "-o", "x")
        self.assertEqual(split(self.read("x")), self.messages)
        self.assertEqual(self.read("x.index"), index_of(self.read("x")))
        self.assertEqual(os.stat(self.path("x")).st_mode & 0o777, 0o640)

    def test_what_cannot_be_replaced(self):
        (self.dir / "x.index").mkdir()
        self.fails(2, "^evalue records create: x.index: cannot write: it is no regular file\n$", "create", "--scalar", "in.npy", "--index", "-o", "x")
        self.fails(2, "nonesuch/x: cannot create: No such file", "create", "--scalar", "in.npy", "--index", "-o", "nonesuch/x")
        self.assertEqual(self.left(), [])

    def test_a_full_disk(self):
        self.write("in.big", npy(numpy.zeros((100, 100000), "u1")))
        small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000000, 3000000))
        for more in [[], ["--index"], ["--shards", "2"]]:
            self.fails(2, "^evalue records create: x.*: cannot write: File too large\n$", "create", "--tensor", "in.big", *more, "-o", "x", preexec_fn=small)
            self.assertEqual(self.left(), [])

    def test_signals_remove_all_that_is_temporary(self):
        os.mkfifo(self.path("in.fifo"))
        process = self.start("records", "create", "--json", "in.fifo", "--shards", "4", "--index", "-o", "x")
        with open(self.path("in.fifo"), "wb", buffering=0) as fifo:
            fifo.write(b'{"kind":"none"}\n')
            self.wait_for(lambda: len(list(self.dir.glob(".evalue-*/*"))) == 8, "the temporary files")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(20), -signal.SIGTERM)
        process.communicate()
        self.assertEqual((list(self.dir.glob(".evalue-*")), self.left()), ([], []))

    def test_stdout(self):
        self.assertEqual(split(self.records("create", "--scalar", "in.npy", "-o", "-")), self.messages)
        with open("/dev/full", "wb") as full:
            result = self.run_raw("records", "create", "--scalar", "in.npy", "-o", "-", stdout=full)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, b"cannot write: No space left")

    @unittest.skipIf(IS_SANITIZED, "a sanitizer needs more memory")
    def test_memory_is_constant(self):
        """400 MB, through 100 MB, in either order of bytes."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (100 << 20, 100 << 20))
        for dtype in ["<f4", ">f4"]:
            head = npy(numpy.zeros((0, 100000), dtype)).replace(b"(0, 100000)", b"(1000, 100000)")
            head = head[:10] + head[10:].replace(b"   \n", b"\n")
            self.assertEqual(len(head), 128)
            self.write("in.big", head)
            os.truncate(self.path("in.big"), 128 + 400000000)
            self.records("create", "--tensor", "in.big", "--shards", "2", "-o", "x", preexec_fn=limit)
        self.assertEqual(self.records("ls", "x-00001-of-00002", preexec_fn=limit).decode().splitlines()[1].split()[1:],
                         ["500", "200,040,000", "400,064", "400,064", "400,064", "float32[100000]"])
        self.records("check", "x-00000-of-00002", "x-00001-of-00002", preexec_fn=limit)
        self.records("merge", "--interleave", "--index", "-o", "y", "x-00000-of-00002", "x-00001-of-00002", preexec_fn=limit)
        self.records("index", "--check", "y", preexec_fn=limit)

    def test_an_array_that_shrinks(self):
        """The command waits for the fifo with the array mapped, and the array is cut meanwhile."""
        self.write("in.cut", npy(numpy.zeros((100, 10000))))
        os.mkfifo(self.path("in.fifo"))
        process = self.start("records", "create", "--tensor", "in.cut", "--json", "in.fifo", "-o", "x")
        with open(self.path("in.fifo"), "wb") as fifo:
            os.truncate(self.path("in.cut"), 4096)
            fifo.write(b'{"kind":"none"}\n' * 100)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, err), (2, b"", b"evalue records create: in.cut: the file shrank while it was read\n"))
        self.assertEqual(self.left(), [])


class Help(RecordsTest):
    COMMANDS = ["create", "ls", "show", "check", "repair", "index", "shard", "merge", "from-tfexample", "to-tfexample"]

    def test_help(self):
        whole = self.good("records", "--help").decode()
        for command in self.COMMANDS:
            text = self.good("records", command, "--help").decode()
            self.assertTrue(text.startswith(f"usage: evalue records {command} "), text)
            self.assertEqual(self.good("help", "records", command).decode(), text)
            self.assertIn(f"  {command} ", whole)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 120)
        self.assertEqual(self.good("help", "records").decode(), whole)
        self.assertIn("  records ", self.good("--help").decode())

    def test_no_command(self):
        result = self.run_raw("records")
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertTrue(result.stderr.startswith(b"usage: evalue records COMMAND"))
        self.bad(2, "^evalue records: unknown command 'what'\ntry 'evalue records --help'\n$", "records", "what")
        self.bad(2, "^evalue records: unknown option '--what'", "records", "--what")
        self.bad(2, "unexpected argument 'x'", "help", "records", "check", "x")
        self.bad(2, "unknown command 'what'", "help", "records", "what")

    def test_log(self):
        self.file("in", [b"x"])
        for args in [["--log", "why_rejected", "check", "in"], ["check", "--log=why_rejected", "in"]]:
            self.assertRegex(self.run_raw("records", *args).stderr, rb"why_rejected|rejected")


if __name__ == "__main__":
    unittest.main()
