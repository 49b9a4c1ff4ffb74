# SPDX-License-Identifier: BSD-3-Clause
"""`evalue show`: its options, the table, JSON Lines, and what it does when something fails."""
import os
import pty
import signal
import stat
import struct
import time
import unittest

from support import (NONE, CliTest, bool_message_head, boolean, double, element, header, integer, message, sequence,
                     string, tensor)

FOUR_FLOATS = struct.pack("<4f", 1, 2, 3, 4)

EVERYTHING = message(NONE, boolean(1), integer(-7), double(1.5), string("hé\n".encode()),
                     tensor("float32", [2, 2], FOUR_FLOATS), tensor("float32", [2, 2], FOUR_FLOATS, (1, 0)),
                     tensor("int64", [], struct.pack("<q", 42)), tensor("uint8", [3, 0], b""))

EVERYTHING_TABLE = """\
message, 9 values, 253 bytes, alignment 16

index  kind    type     shape   dim_order  bytes  value
    0  None                                    0  None
    1  Bool                                    1  true
    2  Int                                     8  -7
    3  Double                                  8  1.5
    4  String                                  4  "hé\\n"
    5  Tensor  float32  [2, 2]                16  [[1, 2],
                                                   [3, 4]]
    6  Tensor  float32  [2, 2]  [1, 0]        16  [[1, 3],
                                                   [2, 4]]
    7  Tensor  int64    []                     8  42
    8  Tensor  uint8    [3, 0]                 0  []
"""


class ShowTest(CliTest):
    def show(self, data, *options):
        return self.good("show", *options, self.write("in", data)).decode()

    def drawn(self, scalar_type, sizes, data, dim_order=None):
        """A tensor as the table draws it, with the indent taken off."""
        lines = self.show(message(tensor(scalar_type, sizes, data, dim_order))).split("\n")[2:-1]
        if lines[1][-1] not in "],":  # the value stands below
            return [line[7:] for line in lines[2:]]
        return [line[lines[0].index("value"):] for line in lines[1:]]

    def floats(self, *numbers):
        return "\n".join(self.drawn("float64", [len(numbers)], struct.pack(f"<{len(numbers)}d", *numbers)))

    # ---- the table ----

    def test_everything(self):
        self.assertEqual(self.show(EVERYTHING), EVERYTHING_TABLE)

    def test_titles(self):
        self.assertEqual(self.show(message()), "message, 0 values, 24 bytes, alignment 16\n")
        self.assertEqual(self.show(b"", "--form", "sequence"), "sequence, 0 values, 0 bytes\n")
        self.assertEqual(self.show(message(NONE, align=4096)).split("\n")[0],
                         "message, 1 value, 33 bytes, alignment 4096")
        self.assertEqual(self.show(message(element(200, b"x" * 2000), NONE)).split("\n")[0],
                         "message, 1 value, 1 ancillary element, 2,042 bytes, alignment 16")

    def test_sequence(self):
        self.assertEqual(self.show(sequence(NONE, integer(5)), "--form=sequence"),
                         "sequence, 2 values, 26 bytes\n\n"
                         "index  kind  bytes  value\n    0  None      0  None\n    1  Int       8  5\n")

    def test_stdin(self):
        self.assertEqual(self.good("show", "-", input=EVERYTHING).decode(), EVERYTHING_TABLE)

    # ---- tensors ----

    def test_aligned_columns(self):
        self.assertEqual(self.drawn("int16", [2, 3], struct.pack("<6h", 1, -20, 300, 4, 5, 6)),
                         ["[[  1, -20, 300],", " [  4,   5,   6]]"])
        self.assertEqual(self.drawn("bool", [3], b"\x01\x00\x02"), ["[ true, false,     2]"])
        self.assertEqual(self.drawn("bits8", [2], b"\x0f\xff"), ["[0x0f, 0xff]"])

    def test_dim_order(self):
        """Logical order, whatever the order in memory: channels-last, and a three-dimensional permutation."""
        self.assertEqual(self.drawn("uint8", [1, 3, 1, 2], bytes(range(6)), (0, 2, 3, 1)),
                         ["[[[[0, 3]],", "", "  [[1, 4]],", "", "  [[2, 5]]]]"])
        self.assertEqual(self.drawn("uint8", [2, 2, 2], bytes(range(8)), (2, 0, 1)),
                         ["[[[0, 4],", "  [1, 5]],", "", " [[2, 6],", "  [3, 7]]]"])

    def test_uniform_decimals(self):
        self.assertEqual(self.floats(1, 2, -3), "[ 1,  2, -3]")
        self.assertEqual(self.floats(0.5, 1, 100.25), "[  0.50,   1.00, 100.25]")
        self.assertEqual(self.floats(1 / 3, 2 / 3), "[0.33333333, 0.66666667]")
        self.assertEqual(self.floats(0.99999999999, 2.5), "[1.0, 2.5]")
        self.assertEqual(self.floats(0.0, -0.0, float("nan"), float("inf"), -float("inf")),
                         "[   0,   -0,  nan,  inf, -inf]")

    def test_scientific(self):
        self.assertEqual(self.floats(1e-10, 1, 1e10), "[1e-10, 1e+00, 1e+10]")
        self.assertEqual(self.floats(0, 1.25e-7), "[0.00e+00, 1.25e-07]")
        self.assertEqual(self.floats(1e100, -2.5), "[1.0e+100, -2.5e+00]")
        self.assertEqual(self.floats(99999999, 0), "[99999999,        0]")
        self.assertEqual(self.floats(100000000, 0), "[1e+08, 0e+00]")
        self.assertEqual(self.floats(0.001, 500.5), "[  0.001, 500.500]")
        self.assertEqual(self.floats(0.001, 500000.5), "[1.000000e-03, 5.000005e+05]")

    def test_decimals(self):
        """At most eight, rounded once, and no more than what reads back in the element's own type."""
        self.assertEqual(self.floats(3.141592653589793, 1), "[3.14159265, 1.00000000]")
        self.assertEqual(self.floats(12345.678901234, 1), "[12345.67890123,     1.00000000]")
        self.assertEqual(self.floats(0.1234567499, 1.5), "[0.12345675, 1.50000000]")
        self.assertEqual(self.floats(0.12345678499, 1.5), "[0.12345678, 1.50000000]")
        self.assertEqual(self.floats(99999999.5, 1.5), "[9.99999995e+07, 1.50000000e+00]")
        self.assertEqual(self.floats(99999999.5, 10000000.25), "[99999999.50, 10000000.25]")
        self.assertEqual(self.floats(9.999999999, 1.5), "[10.0,  1.5]")
        self.assertEqual(self.floats(0.99999999, 0.1), "[0.99999999, 0.10000000]")
        self.assertEqual(self.floats(1.23456789012e-10, 1), "[1.23456789e-10, 1.00000000e+00]")
        self.assertEqual(self.drawn("float32", [2], struct.pack("<2f", 3e10, 1)), ["[3e+10, 1e+00]"])
        self.assertEqual(self.drawn("float32", [2], struct.pack("<2f", 1e-7, 16777216)), ["[1.0000000e-07, 1.6777216e+07]"])
        self.assertEqual(self.drawn("float16", [1], struct.pack("<e", 65504)), ["[65504]"])
        self.assertEqual(self.drawn("float32", [2], struct.pack("<2f", 3.14159265, 0.1)), ["[3.1415927, 0.1000000]"])

    def test_narrow_and_complex(self):
        self.assertEqual(self.drawn("float16", [3], bytes.fromhex("003c662e00fc")), ["[ 1.0,  0.1, -inf]"])
        self.assertEqual(self.drawn("bfloat16", [2], bytes.fromhex("803f4940")), ["[1.00, 3.14]"])
        self.assertEqual(self.drawn("float8_e4m3fn", [3], b"\x7e\x7f\x38"), ["[448, nan,   1]"])
        self.assertEqual(self.drawn("complex64", [2], struct.pack("<4f", 1, -2, 0.5, 0)), ["[1.0-2.0j, 0.5+0.0j]"])

    def test_one_number(self):
        """A tensor without dimensions has all its digits."""
        for number, expected in ((1 / 3, "0.3333333333333333"), (1e-7, "1e-7")):
            self.assertIn(f"  8  {expected}\n", self.show(message(tensor("float64", [], struct.pack("<d", number)))))

    def test_long_rows_are_wrapped(self):
        lines = self.drawn("uint8", [60], bytes(range(60)))
        self.assertEqual(lines[0], "[" + ", ".join("%2d" % i for i in range(23)) + ",")
        self.assertEqual(lines[-1], " " + ", ".join("%2d" % i for i in range(46, 60)) + "]")
        self.assertTrue(all(len(line) <= 93 for line in lines))

    def test_summary(self):
        self.assertEqual("".join(self.drawn("uint8", [1000], bytes(1000))).count("0"), 1000)
        self.assertEqual(self.drawn("uint16", [1001], struct.pack("<1001H", *range(1001))),
                         ["[   0,    1,    2, ...,  998,  999, 1000]"])
        self.assertEqual(self.drawn("uint16", [40, 30], struct.pack("<1200H", *range(1200)), (0, 1)),
                         ["[[   0,    1,    2, ...,   27,   28,   29],", " [  30,   31,   32, ...,   57,   58,   59],",
                          " [  60,   61,   62, ...,   87,   88,   89],", " ...,",
                          " [1110, 1111, 1112, ..., 1137, 1138, 1139],",
                          " [1140, 1141, 1142, ..., 1167, 1168, 1169],", " [1170, 1171, 1172, ..., 1197, 1198, 1199]]"])

    def test_many_dimensions(self):
        lines = self.drawn("uint8", [2] * 16, bytes(65536))
        self.assertEqual(lines[0][:16], "[" * 16)
        self.assertLess(len(lines), 100)
        self.assertEqual(lines[-1].strip(), "...]")

    def test_huge_tensor_is_not_read(self):
        size = (1 << 31) - 1
        path = self.write("huge", bool_message_head(size))
        os.truncate(path, os.path.getsize(path) + size)
        start = time.monotonic()
        self.assertIn(b"[false, false, false, ..., false, false, false]", self.good("show", path))
        self.good("show", "--layout", path)
        self.assertLess(time.monotonic() - start, 5)

    # ---- strings ----

    def test_strings(self):
        self.assertIn('  "\\"\\\\\\x1b[31m\\xff"\n', self.show(message(string(b'"\\\x1b[31m\xff'))))
        self.assertIn('"' + "x" * 67 + '…" (1,234 bytes)\n', self.show(message(string(b"x" * 1234))))
        line = self.show(message(string("日本語".encode() * 40))).split("\n")[4]
        self.assertRegex(line, '^       "(日本語)+日?本?…" \\(360 bytes\\)$')

    # ---- faults ----

    def fails(self, data, out, pattern, *options):
        result = self.run_raw("show", *options, self.write("in", data))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.decode(), out)
        self.assertRegex(result.stderr.decode(), pattern)

    def test_values_before_a_fault(self):
        self.fails(sequence(integer(5), b"\x09"),
                   "sequence, 1 value, then a fault, 18 bytes\n\nindex  kind  bytes  value\n    0  Int       8  5\n",
                   "offset 17: value 1: unsupported: tag", "--form", "sequence")
        self.fails(header(16, 18, 2) + integer(5) + b"\x00", "message, 1 of 2 values, 42 bytes, alignment 16\n\n"
                   "index  kind  bytes  value\n    0  Int       8  5\n", "offset 42: value 1: malformed: length")
        self.fails(b"\x89PNG\r\n", "", "offset 0: malformed: magic: .*found \"\\\\x89PNG\"")

    def test_json(self):
        self.assertEqual(self.show(message(NONE, integer(5)), "--json"), '{"kind":"none"}\n{"kind":"int","int":"5"}\n')
        self.fails(sequence(NONE, b"\x09"), '{"kind":"none"}\n', "offset 9: value 1: unsupported: tag",
                   "--form=sequence", "--json")

    def test_a_pipe_that_goes_on(self):
        """It is not read to its end, so its size is not known."""
        for option, title in (("--json", ""), ("--layout", "message, the first 34 bytes\n"), ("--color=auto", "message, 1 of 1 value, the first 34 bytes")):
            result = self.run_raw("show", option, "-", input=message(NONE) + b"more")
            self.assertEqual((result.returncode, result.stderr.decode()), (
                1, "stdin: offset 33: value 1: malformed: trailing: the input goes on after its end: the end is at 33, the input has 34 bytes or more\n"))
            self.assertTrue(result.stdout.decode().startswith(title), result.stdout)

    # ---- options and failures ----

    def test_usage(self):
        path = self.write("in", message())
        self.assertIn(b"usage: evalue show", self.good("show", "--help"))
        for options, pattern in (((), "expected a FILE"), ((path, path), "unexpected argument"),
                                 (("--form", "java", path), "unknown form"),
                                 (("--color", "maybe", path), "unknown colour"), (("--color",), "needs a value"),
                                 (("--json", "--layout", path), "do not go together"),
                                 (("--nothing", path), "unknown option")):
            self.bad(2, pattern, "show", *options)
        self.bad(2, "absent", "show", self.path("absent"))

    def test_write_error(self):
        """A reader that is gone; and a full device, where there is one."""
        path = self.write("in", EVERYTHING)
        for option in ("--json", "--layout", "--color=never"):
            reading, writing = os.pipe()
            os.close(reading)
            places = [writing]
            if os.path.exists("/dev/full") and stat.S_ISCHR(os.stat("/dev/full").st_mode):
                places.append(os.open("/dev/full", os.O_WRONLY))
            for place in places:
                process = self.start("show", option, path, stdout=place)
                os.close(place)
                text = process.communicate()[1].decode()
                if place == writing:
                    self.assertEqual((process.returncode, text), (-signal.SIGPIPE, ""))
                else:
                    self.assertEqual(process.returncode, 2)
                    self.assertRegex(text, "cannot write")

    def on_terminal(self, *args, **environment):
        """What the command writes to a terminal."""
        ours, theirs = pty.openpty()
        env = {name: value for name, value in self.environment.items() if name not in ("NO_COLOR", "TERM")}
        process = self.start("show", *args, stdout=theirs, env=dict(env, **environment))
        os.close(theirs)
        out = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            out += part
        os.close(ours)
        process.communicate()
        return out

    def test_colour(self):
        path = self.write("in", EVERYTHING)
        escape = b"\x1b["
        self.assertIn(escape, self.on_terminal("--layout", path, TERM="xterm"))
        self.assertNotIn(escape, self.on_terminal("--layout", path, TERM="dumb"))
        self.assertNotIn(escape, self.on_terminal("--layout", path))
        self.assertNotIn(escape, self.on_terminal("--layout", path, TERM="xterm", NO_COLOR="1"))
        self.assertIn(escape, self.on_terminal("--layout", path, TERM="xterm", NO_COLOR=""))
        self.assertNotIn(escape, self.on_terminal("--layout", "--color=never", path, TERM="xterm"))
        self.assertNotIn(escape, self.good("show", "--layout", path))
        self.assertIn(escape,
                      self.good("show", "--layout", "--color=always", path, env=dict(self.environment, NO_COLOR="1")))


if __name__ == "__main__":
    unittest.main()
