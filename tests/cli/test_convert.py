# SPDX-License-Identifier: BSD-3-Clause
"""`evalue convert`: forms and alignments; ancillary elements stay, Pads are made anew."""
import os
import unittest

from support import NONE, CliTest, boolean, element, elements_of, integer, message, sequence, string, tensor

VALUES = [NONE, tensor("float32", [2], bytes(range(8))), string(b"abc"), tensor("int8", [2, 0], b"", [1, 0]), tensor("bool", [], b"\1"),
          integer(5), tensor("int64", [1, 3], bytes(range(24)), [1, 0]), boolean(1)]
ANCILLARY = [element(200, b"first"), NONE, element(129), element(255, b"x" * 70000), tensor("int16", [3], b"\1\2\3\4\5\6"), boolean(0), element(192, b"last")]


class Convert(CliTest):
    def convert(self, data, *args):
        return self.good("convert", *args, "-", "-", input=data)

    def test_forms(self):
        for values in [VALUES, [], ANCILLARY]:
            self.assertEqual(self.convert(message(*values), "--to", "sequence"), sequence(*values))
            self.assertEqual(self.convert(sequence(*values), "--from=sequence", "--to=message"), message(*values))
            self.assertEqual(self.convert(sequence(*values), "--from=sequence"), message(*values))
            self.assertEqual(self.convert(sequence(*values), "--from=sequence", "--to=sequence"), sequence(*values))

    def test_alignments(self):
        for power in range(13):
            for values in [VALUES, ANCILLARY]:
                aligned = message(*values, align=1 << power)
                self.assertEqual(self.convert(message(*values), "--align", str(1 << power)), aligned)
                self.assertEqual(self.convert(sequence(*values), "--from=sequence", f"--align={1 << power}"), aligned)
                self.assertEqual(self.convert(aligned, "--to", "sequence"), sequence(*values))
                self.assertEqual(self.convert(aligned), aligned)  # without --align, as it was
                self.assertEqual(elements_of(aligned[24:]), values)

    def test_minor_version(self):
        with_minor = lambda data, minor: data[:5] + bytes([minor]) + data[6:]
        for extra, minor in [([element(130, b"x")], 3), ([element(129)], 3), ([element(191), element(192)], 3), ([element(192, b"x"), element(255)], 0), ([], 0)]:
            for values in [[*extra, *VALUES], [*VALUES, *extra]]:
                plain = message(*values)
                came = with_minor(plain, 3)
                self.assertEqual(self.convert(came), with_minor(plain, minor))
                self.assertEqual(self.convert(came, "--align=64"), with_minor(message(*values, align=64), minor))
                self.assertEqual(self.convert(came, "--to=sequence"), sequence(*values))
                self.assertEqual(self.convert(sequence(*values), "--from=sequence"), plain)
                self.assertEqual(self.convert(plain), plain)
        last = message(element(160), NONE)
        self.assertEqual(self.convert(with_minor(last, 255)), with_minor(last, 255))

    def test_files(self):
        self.write("a", message(*VALUES))
        self.good("convert", "--to", "sequence", "a", "b")
        self.assertEqual(self.read("b"), sequence(*VALUES))
        self.good("convert", "--align=4096", "a", "a")
        self.assertEqual(self.read("a"), message(*VALUES, align=4096))

    def test_faults(self):
        self.write("old", b"old")
        whole = message(*VALUES)
        for data, pattern in [(b"", "offset 0: truncated"), (whole[:-1], "offset 8: truncated"), (whole + b"x", f"offset {len(whole)}: .*malformed"),
                              (message(NONE, element(6)), "offset 33: value 1: unsupported"), (sequence(NONE), "looks like an EValue sequence: try --from sequence")]:
            self.write("bad", data)
            self.bad(1, f"^bad: .*{pattern}", "convert", "--to=sequence", "bad", "old")
            self.bad(1, pattern, "convert", "--to=sequence", "bad", "-")
        self.assertEqual(self.read("old"), b"old")
        self.bad(2, "cannot open", "convert", "nonesuch", "old")

    def test_a_message_given_as_a_sequence(self):
        self.write("m", message(NONE))
        self.bad(1, "m: offset 0: value 0: unsupported.*looks like an EValue message: try --from message", "convert", "--from=sequence", "m", "n")
        self.assertFalse(os.path.exists(self.path("n")))

    def test_operands_after_two_dashes(self):
        self.write("-x", message(NONE))
        self.good("convert", "--to=sequence", "--", "-x", "--y")
        self.assertEqual(self.read("--y"), NONE)


if __name__ == "__main__":
    unittest.main()
