# SPDX-License-Identifier: BSD-3-Clause
"""`evalue check`: exit codes, what it says about faults, and what it takes other files for."""
import gzip
import io
import struct
import unittest
import zipfile

import numpy

from support import NONE, CliTest, boolean, double, element, header, integer, message, sequence, string, tensor


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)


def tfrecord(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


class Check(CliTest):
    def test_exit_codes(self):
        self.write("good", message(NONE, tensor("int8", [3], b"123")))
        self.write("sequence", sequence(NONE))
        self.write("bad", message(NONE)[:-1])
        self.good("check", "good")
        self.good("check", "--deep", "good", "good")
        self.good("check", "--form", "sequence", "sequence", "/dev/null")
        self.good("check", "-", input=message())
        self.bad(1, "^bad: offset 8: truncated: ", "check", "bad")
        self.bad(2, "^evalue check: nonesuch: cannot open: No such file", "check", "nonesuch")
        self.bad(2, "^evalue check: .: cannot read: Is a directory", "check", ".")

    def test_the_magic_is_shown_as_it_is(self):
        for data, shown in [(bytes(30), r"\\x00\\x00\\x00\\x00"), (b"\4\b\0\0\0", r"\\x04\\x08\\x00\\x00"), (b"E\0", r"E\\x00"), (b"X", "X"),
                            (b"EVIL", "EVIL"), (b"EX\0", r"EX\\x00")]:
            self.write("x", data)
            self.bad(1, f'expected "EVAL", found "{shown}"(;|$)', "check", "x")

    def test_all_files_are_looked_at(self):
        self.write("good", message(NONE))
        self.write("bad1", b"")
        self.write("bad2", message(NONE) + b"x")
        text = self.bad(1, "offset", "check", "bad1", "good", "bad2")
        self.assertEqual([line.split(":")[0] for line in text.splitlines()], ["bad1", "bad2"])
        text = self.bad(2, "offset", "check", "bad1", "nonesuch", "bad2", "--form=message")
        self.assertEqual([line.split(": ")[:2][0 if "evalue " not in line else 1] for line in text.splitlines()], ["bad1", "nonesuch", "bad2"])

    def test_lines(self):
        for data, form, start in [
                (header(1, 10, 1) + element(5, b"\2"), "message", "x: offset 33: value 0: malformed: "),
                (header(16, 9, 2) + NONE, "message", "x: offset 16: malformed: "),
                (message(NONE)[:10], "message", "x: offset 8: truncated: "),
                (b"EVAL\2" + message()[5:], "message", "x: offset 4: unsupported: "),
                (sequence(NONE, integer(1)[:-1]), "sequence", "x: offset 10: value 1: truncated: "),
                (sequence(NONE, element(6)), "sequence", "x: offset 9: value 1: unsupported: ")]:
            self.write("x", data)
            text = self.bad(1, "offset", "check", f"--form={form}", "x")
            self.assertTrue(text.startswith(start), text)
            self.assertEqual(text.count("\n"), 1)

    def test_deep(self):
        good = tensor("bool", [4], b"\0\1\1\0")
        bad = tensor("bool", [2, 2], b"\0\1\x07\2", [1, 0])
        bytes_only = tensor("uint8", [2], b"\7\7")
        self.write("x", message(NONE, good, bytes_only, bad, bad))
        self.good("check", "x")
        offset = self.read("x").index(b"\0\1\x07\2") + 2
        self.bad(1, rf"^x: offset {offset}: value 3: malformed: an element of the bool tensor is neither 0 nor 1: element \[0, 1\]: expected 0 or 1, found 7\n$", "check", "--deep", "x")
        self.write("one", message(tensor("bool", [], b"\3")))
        self.bad(1, r"^one: .*element \[\]: expected 0 or 1, found 3\n$", "check", "--deep", "one")
        self.write("y", message(NONE, good, bytes_only))
        self.good("check", "--deep", "y")
        self.write("z", sequence(bad))
        self.bad(1, r"^z: offset 23: value 0: malformed: .*element \[0, 1\]: expected 0 or 1, found 7\n$", "check", "--deep", "--form=sequence", "z")

    def test_a_structural_fault_after_good_data(self):
        self.write("x", sequence(tensor("bool", [1], b"\1"), b"\7"))
        self.bad(1, "^x: offset 17: value 1: unsupported", "check", "--deep", "--form=sequence", "x")


class Guess(CliTest):
    def looks_like(self, data, pattern, form="message"):
        self.write("x", data)
        self.bad(1, f"^x: offset [0-9]+: .*{pattern}", "check", f"--form={form}", "x")

    def looks_like_nothing(self, data, form="message"):
        self.write("x", data)
        self.assertNotIn("looks like", self.bad(1, "^x: offset", "check", f"--form={form}", "x"))

    def test_other_files(self):
        stream = io.BytesIO()
        numpy.save(stream, numpy.zeros(3))
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as z:
            z.writestr("x", "y")
        for form in ["message", "sequence"]:
            self.looks_like(tfrecord(b"hello"), "looks like a TFRecord file", form)
            self.looks_like(tfrecord(b"") + tfrecord(b"x"), "looks like a TFRecord file", form)
            self.looks_like(stream.getvalue(), r"looks like a .npy file", form)
            self.looks_like(gzip.compress(message(NONE)), "looks like gzip", form)
            self.looks_like(archive.getvalue(), "looks like a zip archive", form)
            self.looks_like(b'{"kind":"none"}\n', "looks like JSON Lines", form)
            self.looks_like(b'\n { "kind" : "none"}\n', "looks like JSON Lines", form)

    def test_the_other_form(self):
        self.looks_like(sequence(NONE, double(1), tensor("int8", [2], b"12")), "looks like an EValue sequence: try --form sequence")
        self.looks_like(message(NONE), "looks like an EValue message: try --form message", "sequence")
        self.looks_like_nothing(sequence(NONE, double(1)) + b"\7")
        self.looks_like_nothing(b"")
        self.looks_like_nothing(b"EVA")
        self.looks_like_nothing(element(200, b"x"))  # no value, so it is hardly a sequence
        self.looks_like_nothing(b"plain text, as it comes\n" * 10)
        self.looks_like_nothing(header(1, 10, 1) + element(5, b"\2"))
        self.looks_like_nothing(b"", "message")

    def test_java(self):
        java = "Java EValue.toByteArray"
        for data in [b"\0", b"\4" + struct.pack(">q", 1), b"\3" + struct.pack(">d", 1.5), b"\5\1", b"\2\0\0\0\3abc",
                     b"\1\6\2" + struct.pack(">ii", 2, 1) + bytes(8), b"\1\4\0" + bytes(8)]:
            self.looks_like(data, java)
        for data in [b"\4" + bytes(7), b"\5\2", b"\2\0\0\0\4abc", b"\1\6\2" + struct.pack(">ii", 2, 1) + bytes(7), b"\1\x1f\0" + bytes(8), b"\1\6\2\0"]:
            self.looks_like_nothing(data)

    def test_damaged_tfrecord(self):
        data = bytearray(tfrecord(b"hello"))
        data[8] ^= 1
        self.looks_like_nothing(bytes(data))


MARKS = [mark.encode() for mark in "\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069"]  # they reorder text, or end a line


class Terminal(CliTest):
    def test_no_control_character_reaches_the_terminal(self):
        names = [*MARKS, b"x\x1b[31m", b"x\x9b31m", "x\x9b31m".encode(), b"x\r\n\t\x7f", b"\xff\xfe", "é😀".encode()]
        for name in names:
            for data in [b"\x1b[31m", sequence(string(b"\x1b"))]:
                (self.dir / name.decode("utf-8", "surrogateescape")).write_bytes(data)
                for command in [["check"], ["check", "--form=sequence"], ["pack", "-o", "out", "--tensor"], ["pack", "-o", "out", "--json"], ["convert"],
                                ["unpack", "-d"], ["unpack", "-d", "out"], ["pack", "--int"], ["pack", "--double"], ["pack", "--form"], ["check", "--x"], []]:
                    result = self.run_raw(*command, name)
                    self.assertNotRegex(result.stderr.decode(), r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
                for result in [self.run_raw("check", name + b"nonesuch"), self.run_raw("check", b"--" + name), self.run_raw("pack", b"--form=" + name)]:
                    self.assertEqual(result.returncode, 2)
                    self.assertNotRegex(result.stderr.decode(), r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        for mark in MARKS:
            self.assertNotIn(mark, self.run_raw("check", mark).stderr)
        self.assertRegex(self.run_raw("check", "x\u202ey".encode()).stderr, rb"x\\xe2\\x80\\xaey: ")
        self.assertRegex(self.run_raw("check", b"x\x1b[31m").stderr, rb"^x\\x1b\[31m: ")
        self.assertRegex(self.run_raw("check", "é😀".encode()).stderr, "^é😀: ".encode())
        self.assertRegex(self.run_raw("check", b"\xff\xfe").stderr, rb"^\\xff\\xfe: ")


if __name__ == "__main__":
    unittest.main()
