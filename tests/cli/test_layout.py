# SPDX-License-Identifier: BSD-3-Clause
"""`evalue show --layout`: what is drawn for good input, byte for byte, and where faults are marked."""
import random
import re
import struct
import unittest

from support import NONE, CliTest, boolean, element, header, integer, message, sequence, string, tensor

GOOD = message(integer(7), tensor("float32", [2], struct.pack("<2f", 1, -2)))

GOOD_LAYOUT = """\
message, 88 bytes

offset  bytes                    field        meaning
        header
     0  45 56 41 4c              magic        "EVAL"
     4  01                       major        1
     5  00                       minor        0
     6  04                       alignment    2^4 = 16: tensor data begins at multiples of it
     7  00                       flags        none
     8  40 00 00 00 00 00 00 00  body_length  64: the bytes after this header
    16  02 00 00 00 00 00 00 00  count        2 values
        value 0
    24  04                       tag          Int
    25  08 00 00 00 00 00 00 00  length       8
    33  07 00 00 00 00 00 00 00  value        7
        Pad before value 1
    41  80                       tag          Pad
    42  0e 00 00 00 00 00 00 00  length       14
    50  00 00 00 00 00 00 00 00  padding      zeros: they put the data of value 1 at 80 = 5 x 16
    58  00 00 00 00 00 00
        value 1
    64  01                       tag          Tensor
    65  0f 00 00 00 00 00 00 00  length       15 = 2 + 5 x 1 + 8 of data
    73  06                       scalar_type  float32, 4 bytes an element
    74  01                       ndim         1
    75  02 00 00 00              sizes[0]     2
    79  00                       dim_order    (0)
    80  00 00 80 3f 00 00 00 c0  data         [0]: 1, -2
"""


class LayoutTest(CliTest):
    def layout(self, data, form="message", code=0):
        result = self.run_raw("show", "--layout", "--form", form, self.write("in", data))
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout.decode()

    def body(self, *elements):
        """The lines that a sequence's elements are drawn as."""
        return self.layout(sequence(*elements), "sequence").split("\n")[3:-1]

    # ---- good input ----

    def test_message(self):
        self.assertEqual(self.layout(GOOD), GOOD_LAYOUT)

    def test_scalars(self):
        self.assertEqual(self.body(NONE, boolean(1), string("hé".encode())), [
            "        value 0",
            "     0  00                       tag          None",
            "     1  00 00 00 00 00 00 00 00  length       0",
            "        value 1",
            "     9  05                       tag          Bool",
            "    10  01 00 00 00 00 00 00 00  length       1",
            "    18  01                       value        true",
            "        value 2",
            "    19  02                       tag          String",
            "    20  03 00 00 00 00 00 00 00  length       3",
            '    28  68 c3 a9                 value        "hé"'])

    def test_strings_are_cut_between_characters(self):
        lines = self.body(string("aé日本語😀x".encode()))[3:]
        self.assertEqual([line[46:] for line in lines], ['"aé日"', '"本語"', '"😀x"'])

    def test_long_payloads(self):
        lines = self.body(string(b"x" * 1040))[3:]
        self.assertEqual(len(lines), 5)
        self.assertEqual(lines[-1], "        ...                                   1,008 more bytes")
        lines = self.body(tensor("int16", [1000], bytes(2000)))[-2:]
        self.assertEqual(lines, ["    40  00 00 00 00 00 00 00 00               [12]: 0, 0, 0, 0",
                                 "        ...                                   1,968 more bytes: 984 elements"])

    def test_few_bytes_are_not_hidden(self):
        """A line that counts them would be as long."""
        for count in (33, 40):
            lines = self.body(string(b"x" * count))[3:]
            self.assertEqual((len(lines), lines[-1][46:]), (5, '"' + "x" * (count - 32) + '"'))
        self.assertIn("9 more bytes", self.body(string(b"x" * 41))[-1])
        self.assertEqual(self.body(tensor("uint8", [40], bytes(40)))[-1][8:31], "00 00 00 00 00 00 00 00")
        self.assertIn("9 more bytes: 9 elements", self.body(tensor("uint8", [41], bytes(41)))[-1])
        lines = self.layout(GOOD + b"123456789", code=1).split("\n")
        self.assertEqual(lines[-2], '    96  39                                    "9"')
        lines = self.layout(message(string(b"x" * 16), tensor("uint8", [1], b"\5"), align=32)).split("\n")
        self.assertNotIn("more", "".join(lines))

    def test_indices_follow_the_dim_order(self):
        lines = self.body(tensor("uint8", [1, 3, 2, 2], bytes(range(12)), (0, 2, 3, 1)))[-3:]
        self.assertEqual(lines, ["    27  00 02 03 01              dim_order    (0, 2, 3, 1): channels-last",
                                 "    31  00 01 02 03 04 05 06 07  data         [0, 0, 0, 0]: 0, 1, 2, 3, 4, 5, 6, 7",
                                 "    39  08 09 0a 0b                           [0, 2, 1, 0]: 8, 9, 10, 11"])

    def test_long_elements(self):
        lines = self.body(tensor("complex128", [1], struct.pack("<2d", 1, -2)))[-2:]
        self.assertEqual([line[33:] for line in lines], ["data         [0]: real 1", "             [0]: imaginary -2"])

    def test_no_data(self):
        self.assertEqual(self.body(tensor("float32", [3, 0], b""))[-2:],
                         ["    19  00 01                    dim_order    (0, 1): row-major",
                          "                                 data         none: a size is zero"])
        self.assertEqual(self.body(tensor("int8", [], b"\xff"))[-1], "    11  ff                       data         -1")

    def test_pads(self):
        lines = self.layout(message(tensor("uint8", [1], b"\x05"), align=4096)).split("\n")
        self.assertIn("    33  00 00 00 00 00 00 00 00  padding      "
                      "zeros: they put the data of value 0 at 4096 = 1 x 4096", lines)
        self.assertIn("        ...                                   4,031 more bytes", lines)
        lines = self.layout(message(tensor("uint8", [1] * 4, b"\x05"), align=64)).split("\n")
        self.assertIn("                                 padding      "
                      "none: tag and length alone put the data of value 0 at 64 = 1 x 64", lines)

    def test_ancillary(self):
        lines = self.layout(message(element(192, b"abc"), boolean(0))).split("\n")[11:]
        self.assertEqual(lines[:4], ["        ancillary element before value 0",
                                     "    24  c0                       tag          192: ancillary, private",
                                     "    25  03 00 00 00 00 00 00 00  length       3",
                                     '    33  61 62 63                 payload      "abc"'])

    # ---- faults ----

    def mark(self, data, form="message"):
        """The line above the mark, the mark, and what it says."""
        lines = self.layout(data, form, 1).split("\n")
        at = next(i for i, line in enumerate(lines) if re.fullmatch(r" {8,}\^\^( \^\^)*", line))
        return lines[at - 1].rstrip(), lines[at].strip(), lines[at + 1].strip()

    def changed(self, position, *values):
        data = bytearray(GOOD)
        data[position:position + len(values)] = values
        return bytes(data)

    def test_marks(self):
        for data, line, carets, text in (
                (self.changed(0, 0x58), '     0  58 56 41 4c              magic        "XVAL"', 11,
                 "malformed: this is no EValue message"),
                (self.changed(4, 2), "     4  02                       major        2", 2,
                 "unsupported: the major version"),
                (self.changed(6, 13), "     6  0d                       alignment    13", 2,
                 "malformed: the alignment's logarithm"),
                (self.changed(7, 1), "     7  01                       flags        1", 2, "unsupported: a flag"),
                (self.changed(16, 1), "    16  01 00 00 00 00 00 00 00  count        1 value", 23,
                 "malformed: the count is not .*: the header says 1, the body holds 2"),
                (self.changed(16, 99), "    16  63 00 00 00 00 00 00 00  count        99 values", 23,
                 "malformed: the body cannot hold"),
                (self.changed(24, 9), "    24  09                       tag          9: ListTensor", 2,
                 "unsupported: the tag"),
                (self.changed(24, 100), "    24  64                       tag          100: reserved, critical", 2,
                 "unsupported: the tag"),
                (self.changed(25, 9), "    25  09 00 00 00 00 00 00 00  length       9", 23,
                 "malformed: the length is .* expected 8, found 9"),
                (self.changed(42, 15), "    58  00 00 00 00 00 00 01", 2, "malformed: the Pad has a byte"),
                (self.changed(42, 1), "    41  80                       tag          Pad", 2,
                 "malformed: the Pad does not stand .* expected a Tensor after it, found None$"),
                (self.changed(42, 16), "    42  10 00 00 00 00 00 00 00  length       16", 23, "malformed: the Pad"),
                (self.changed(73, 30), "    73  1e                       scalar_type  30: not known", 2,
                 "unsupported: the scalar type"),
                (self.changed(74, 17), "    74  11                       ndim         17", 2,
                 "malformed: the tensor has too many"),
                (self.changed(74, 3), "    65  0f 00 00 00 00 00 00 00  length       15", 23,
                 "malformed: the length is too short"),
                (self.changed(75, 1), "    65  0f 00 00 00 00 00 00 00  length       15", 23,
                 "malformed: .* expected 11, found 15"),
                (self.changed(78, 255), "    75  02 00 00 ff              sizes[0]     -16777214", 11,
                 "malformed: the size is negative"),
                (self.changed(79, 1), "    79  01                       dim_order    (1)", 2,
                 "malformed: the dim_order names"),
                (self.changed(6, 3), "    42  0e 00 00 00 00 00 00 00  length       14", 23, "malformed: the Pad"),
                (self.changed(6, 0), "    42  0e 00 00 00 00 00 00 00  length       14", 23, "malformed: the Pad"),
                (GOOD + b"more", '    88  6d 6f 72 65              trailing     "more"', 11,
                 "malformed: the input goes on"),
                (GOOD[:-1], "     8  40 00 00 00 00 00 00 00  body_length  64: the bytes after this header", 23,
                 "truncated: .*: needs at least 88 bytes of input, has 87"),
                (GOOD[:4], "     4                           major        0 of 1 bytes", 2, "truncated"),
                (b"", "     0                           magic        0 of 4 bytes", 2, "truncated")):
            with self.subTest(line=line):
                found = self.mark(data)
                self.assertEqual(found[:2], (line, " ".join(["^^"] * ((carets + 1) // 3))))
                self.assertRegex(found[2], "^" + text)

    def test_one_byte_is_marked(self):
        lines = self.layout(self.changed(61, 7), code=1).split("\n")
        self.assertEqual(lines[-5:-1], ["    58  00 00 00 07 00 00", "                 ^^",
                                        "        malformed: the Pad has a byte that is not zero: expected 0, found 7",
                                        "        ...                                   24 more bytes: nothing after this was read"])

    def test_fault_far_into_a_pad(self):
        data = bytearray(message(tensor("uint8", [1], b"\x05"), align=4096))
        data[1000] = 3
        self.assertEqual(self.mark(bytes(data))[0][:15], "  1000  03 00 0")

    def test_nothing_is_drawn_behind_a_fault(self):
        """A line says so."""
        for position, value in ((0, 0x58), (6, 13), (16, 99), (25, 9), (42, 16), (73, 30), (74, 17), (78, 255),
                                (79, 1)):
            with self.subTest(position=position):
                self.assertRegex(self.layout(self.changed(position, value), code=1),
                                 r"\^\n +(malformed|unsupported): .*\n +\.\.\. +\d+ more bytes: nothing after this was read\n$")
        self.assertEqual(self.layout(self.changed(24, 9), code=1).count("\n"), 16)
        for data, form in ((GOOD + b"more", "message"), (GOOD[:-1], "message"), (self.changed(16, 1), "message"),
                           (sequence(element(5, b"\2")), "sequence")):
            self.assertNotIn("was read", self.layout(data, form, 1))

    def test_pad_missing(self):
        data = header(16, 24, 1) + tensor("float32", [2], bytes(8))
        self.assertEqual(self.mark(data)[0], "    24  01                       tag          Tensor")
        self.assertNotIn("data  ", self.layout(data, code=1).replace("tensor data", ""))

    def test_pad_before_an_int(self):
        data = header(16, 26, 1) + element(128) + integer(1)
        self.assertEqual(self.mark(data)[0], "    24  80                       tag          Pad")
        self.assertRegex(self.layout(data, code=1), "\n    33  04 +tag +Int\n +... +16 more bytes: nothing after this was read\n$")

    def test_far_fault_is_repeated(self):
        data = bytearray(message(*[NONE] * 20))
        data[16] = 19
        out = self.layout(bytes(data), code=1)
        self.assertEqual(out.count(" ".join(["^^"] * 8)), 2)
        self.assertRegex(out,
                         "the fault\n    16  13 00 00 00 00 00 00 00  count        19 values\n +[ ^]+\n"
                         ".*the header says 19, the body holds 20\n$")

    def test_cut_message(self):
        lines = self.layout(GOOD[:86], code=1).split("\n")
        self.assertIn("    80  00 00 80 3f 00 00        data         [0]: 1, (cut)", lines)
        self.assertIn("        (the input ends)         missing      2 bytes", lines)

    def test_cut_sequence(self):
        lines = self.layout(sequence(NONE, string(b"hello"))[:-2], "sequence", 1).split("\n")
        self.assertEqual(lines[-6:-1], ["    10  05 00 00 00 00 00 00 00  length       5",
                                        "        " + " ".join(["^^"] * 8),
                                        "        truncated: the element goes past the end: needs at least 23 bytes of "
                                        "input, has 21",
                                        '    18  68 65 6c                 value        "hel"',
                                        "        (the input ends)         missing      2 bytes"])
        lines = self.layout(b"\x04\x08\x00", "sequence", 1).split("\n")
        self.assertEqual(lines[-2], "        (the input ends)         missing      at least 6 bytes")

    def test_every_cut(self):
        """Whatever is cut off, all that is there is drawn, and no more."""
        for size in range(24, len(GOOD)):
            out = self.layout(GOOD[:size], code=1)
            rows = re.findall(r"^ +(\d+)  ((?:[0-9a-f]{2} ?)+)", re.sub(r"(?s)        the fault\n.*", "", out), re.M)
            drawn = b"".join(bytes.fromhex(hexes) for _, hexes in rows)
            self.assertEqual(drawn, GOOD[:size])

    def test_noise(self):
        """No control characters, and a mark, whatever the input is."""
        source = random.Random(1)
        for _ in range(60):
            data = bytearray(GOOD)
            for _ in range(source.randrange(1, 4)):
                data[source.randrange(len(data))] = source.randrange(256)
            result = self.run_raw("show", "--layout", self.write("in", bytes(data)))
            self.assertNotRegex(result.stdout.decode(), r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
            self.assertEqual(result.returncode == 1, b"^^" in result.stdout)


if __name__ == "__main__":
    unittest.main()
