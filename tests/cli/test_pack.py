# SPDX-License-Identifier: BSD-3-Clause
"""`evalue pack`: values of the command line, options, usage errors."""
import os
import pty
import struct
import unittest

from support import (NONE, CliTest, boolean, double, double_bits, integer, message, sequence, string, tensor)

SCALARS = ["--none", "--bool", "true", "--bool", "false", "--int", "-7", "--double", "1.5", "--string", "hé"]
SCALAR_ELEMENTS = [NONE, boolean(1), boolean(0), integer(-7), double(1.5), string("hé".encode())]


class Values(CliTest):
    def test_one_of_each(self):
        self.assertEqual(self.good("pack", *SCALARS), message(*SCALAR_ELEMENTS))
        self.assertEqual(self.good("pack", "--form", "sequence", *SCALARS), sequence(*SCALAR_ELEMENTS))

    def test_int(self):
        for text, value in [("0", 0), ("-0", 0), ("+5", 5), ("010", 10), ("0x10", 16), ("-0XfF", -255), (str(2**63 - 1), 2**63 - 1),
                            (str(-2**63), -2**63), ("0x7fffffffffffffff", 2**63 - 1), ("-0x8000000000000000", -2**63)]:
            self.assertEqual(self.good("pack", "--int", text), message(integer(value)), text)

    def test_bad_int(self):
        for text in ["", "-", "x", "1x", "0x", " 1", "1 ", "1.0", "1e3", "--1", "0b1", "1_000", "٣"]:
            self.bad(2, "--int: expected a decimal number", "pack", "--int", text)
        for text in [str(2**63), str(-2**63 - 1), "0x8000000000000000", "9" * 400]:
            self.bad(2, r"--int: expected a number from -2\^63", "pack", "--int", text)

    def test_double(self):
        for text in ["0", "-0.0", "1.5", "1e308", "5e-324", "1e-400", ".5", "2.", "0.1", "-123456.789e-3"]:
            self.assertEqual(self.good("pack", "--double", text), message(double(float(text))), text)
        for text, value in [("inf", float("inf")), ("-inf", -float("inf")), ("0x1.8p1", 3.0), ("0x10", 16.0), ("INFINITY", float("inf"))]:
            self.assertEqual(self.good("pack", "--double", text), message(double(value)), text)
        self.assertEqual(self.good("pack", "--double", "nan"), message(double_bits(0x7ff8000000000000)))

    def test_bad_double(self):
        for text in ["", "x", "1,5", " 1", "1 ", "\t1", "1e", "1e+", "0x", "infinit", "1.5.2"]:
            self.bad(2, "--double: expected a number, nan or inf", "pack", "--double", text)
        for text in ["1e309", "-1e999", "0x1p1024"]:
            self.bad(2, "--double: expected a number that a double can hold", "pack", "--double", text)

    def test_string_is_any_bytes(self):
        for text in [b"", b"--none", b"--", b"-", b"\xff\xfe\x1b[m", b"a=b", b"x" * 100000]:
            self.assertEqual(self.good("pack", "--string", text), message(string(text)))
            self.assertEqual(self.good("pack", b"--string=" + text), message(string(text)))

    def test_bad_bool(self):
        for text in ["", "True", "1", "yes", "truex"]:
            self.bad(2, "--bool: expected true or false", "pack", "--bool", text)

    def test_items_keep_their_order(self):
        self.write("x.jsonl", '{"kind":"int","int":"1"}\n{"kind":"int","int":"2"}\n')
        got = self.good("pack", "--int", "0", "--json", "x.jsonl", "--int", "3", "--json", "-", "--none", input=b'{"kind":"bool","bool":true}')
        self.assertEqual(got, message(integer(0), integer(1), integer(2), integer(3), boolean(1), NONE))

    def test_many_values(self):
        lines = "".join(f'{{"kind":"int","int":"{i}"}}\n' for i in range(20000))
        self.assertEqual(self.good("pack", "--json", "-", input=lines.encode()), message(*(integer(i) for i in range(20000))))

    def test_alignments(self):
        self.write("x.jsonl", '{"kind":"tensor","scalar_type":"int8","sizes":[3],"data_hex_le":"010203"}\n' * 3)
        three = [tensor("int8", [3], b"\1\2\3")] * 3
        for power in range(13):
            self.assertEqual(self.good("pack", f"--align={1 << power}", "--json", "x.jsonl"), message(*three, align=1 << power))
        self.assertEqual(self.good("pack", "--json", "x.jsonl"), message(*three, align=16))
        self.assertEqual(self.good("pack", "--form=sequence", "--align=1", "--json", "x.jsonl"), sequence(*three))


class Options(CliTest):
    def test_ways_to_write_an_option(self):
        for args in [["--form", "sequence", "-o", "x"], ["--form=sequence", "-ox"]]:
            self.assertEqual(self.good("pack", *args, "--none"), b"")
            self.assertEqual(self.read("x"), NONE)
        self.good("pack", "--none", "-o", "y", "--form=sequence")
        self.assertEqual(self.read("y"), NONE)

    def test_usage_errors(self):
        for args in [[], ["--"], ["--form"], ["--form", "json", "--none"], ["--form="], ["--none=1"], ["--nonesuch"], ["-x"], ["-o"],
                     ["x.npy"], ["-"], ["--none", "--", "x"], ["--bool"], ["--formx=message", "--none"], ["--align", "3", "--none"],
                     ["--align", "0", "--none"], ["--align", "8192", "--none"], ["--align", "016", "--none"], ["--align", "", "--none"],
                     ["--form", "sequence", "--align", "16", "--none"], ["--help=x"]]:
            self.bad(2, "^evalue pack: .*\ntry 'evalue pack --help'\n$", "pack", *args)
        self.bad(2, "try 'evalue pack --help'", "pack", "--nonesuch")

    def test_an_error_after_good_items_writes_nothing(self):
        self.write("x", b"old")
        self.bad(2, "--int", "pack", "-o", "x", "--none", "--int", "x")
        self.bad(2, "cannot open", "pack", "-o", "x", "--none", "--tensor", "nonesuch.npy")
        self.bad(2, "cannot open", "pack", "-o", "x", "--none", "--json", "nonesuch.jsonl")
        self.bad(1, "line 1", "pack", "-o", "x", "--none", "--json", "-", input=b"{}")
        self.assertEqual(self.read("x"), b"old")

    def test_no_binary_to_a_terminal(self):
        master, slave = pty.openpty()
        try:
            result = self.run_raw("pack", "--none", stdout=slave)
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, b"stdout is a terminal")
            result = self.run_raw("pack", "--none", "-o", os.ttyname(slave))
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, b"is a terminal")
        finally:
            os.close(master)
            os.close(slave)


    def test_options_that_are_given_twice(self):
        for args in [["pack", "-o", "x", "-oy", "--none"], ["pack", "--form", "message", "--form=sequence", "--none"],
                     ["pack", "--align=1", "--align=1", "--none"], ["pack", "--as", "int8", "--as", "int8", "--tensor", "x.npy"],
                     ["show", "--form=message", "--form=message", "x"], ["show", "--color=auto", "--colour=never", "x"],
                     ["check", "--form=message", "--form=message", "x"], ["unpack", "-d", "a", "-d", "b", "x"],
                     ["convert", "--from=message", "--from=message", "x", "y"], ["convert", "--to=message", "--to=message", "x", "y"]]:
            self.bad(2, f"^evalue {args[0]}: -.* given twice", *args)

    def test_stdin_can_be_read_once(self):
        for args in [["pack", "--tensor", "-", "--tensor", "-"], ["pack", "--json", "-", "--tensor=-"], ["check", "-", "x", "-"]]:
            self.bad(2, f"^evalue {args[0]}: stdin can be read once\ntry", *args, input=b"")

    def test_a_file_without_its_option(self):
        self.bad(2, "did you mean '--tensor x.npy'", "pack", "x.npy")
        self.bad(2, "did you mean '--json x.jsonl'", "pack", "--none", "x.jsonl")

    def test_nothing_to_pack(self):
        self.bad(2, "'evalue pack --json /dev/null' makes an empty message", "pack")
        self.assertEqual(self.good("pack", "--json", "/dev/null"), message())


class Command(CliTest):
    def test_help(self):
        self.assertRegex(self.good("--help"), b"(?s)usage: evalue.*example:")
        for command in ["pack", "check", "unpack", "convert", "show"]:
            for option in ["--help", "-h"]:
                self.assertRegex(self.good(command, option), f"usage: evalue {command}".encode())
        for command in ["pack", "check", "unpack", "convert", "show"]:
            text = self.good(command, "--help").decode()
            self.assertRegex(text, "\nExit status: 0 good; 1 bad data; 2 usage or I/O.\n\nexample: evalue " + command)
            self.assertLessEqual(max(map(len, text.split("\n"))), 120)
            self.assertEqual(self.good("help", command).decode(), text)
        for command, pattern in [("show", "rounded to 8 decimals"), ("pack", "TMPDIR"), ("convert", "TMPDIR"), ("unpack", "not kept")]:
            self.assertIn(pattern, self.good("help", command).decode())
        for args in [["help"], ["help", "--help"], ["help", "-h"]]:
            self.assertEqual(self.good(*args), self.good("--help"))
        self.bad(2, "^evalue: unknown command 'x'\ntry 'evalue --help'\n$", "help", "x")
        self.bad(2, "unexpected argument", "help", "show", "pack")
        self.assertEqual(self.good("pack", "--string", "--help"), message(string(b"--help")))

    def test_version(self):
        self.assertRegex(self.good("--version"), rb"^evalue \d+\.\d+\.\d+\n$")

    def test_unknown_things(self):
        self.bad(2, "usage: evalue")
        for args in [["nonesuch"], ["--nonesuch"], [""], ["-x"]]:
            self.bad(2, "(?s)unknown command.*try 'evalue --help'", *args)
        for args in [["check"], ["check", "--nonesuch", "x"], ["unpack"], ["unpack", "x"], ["unpack", "-d", "y"], ["unpack", "-d", "y", "x", "z"],
                     ["convert"], ["convert", "x"], ["convert", "x", "y", "z"], ["convert", "--to", "sequence", "--align=8", "x", "y"],
                     ["convert", "--from=", "x", "y"], ["check", "--deep=1", "x"]]:
            self.bad(2, f"^evalue {args[0]}: .*\ntry 'evalue {args[0]} --help'\n$", *args)


if __name__ == "__main__":
    unittest.main()
