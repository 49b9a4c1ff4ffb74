# SPDX-License-Identifier: BSD-3-Clause
"""JSON Lines, both ways (spec, appendix B)."""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import unittest

from support import (ELEMENT_SIZES, NONE, SCALAR_TYPES, CliTest, boolean, double, double_bits, integer, message, string, tensor)


class Reading(CliTest):
    def pack(self, text):
        return self.good("pack", "--json", "-", input=text if isinstance(text, bytes) else text.encode())

    def test_values(self):
        for line, value in [
                ('{"kind":"none"}', NONE),
                (' { "kind" : "bool" ,\t"bool":false } \r', boolean(0)),
                ('{"int":"-9223372036854775808","kind":"int"}', integer(-2**63)),
                ('{"kind":"int","int":"9223372036854775807"}', integer(2**63 - 1)),
                ('{"kind":"double","double":1.5}', double(1.5)),
                ('{"kind":"double","double":3}', double(3)),
                ('{"kind":"double","double":-0}', double(-0.0)),
                ('{"kind":"double","double":9007199254740993}', double(9007199254740992.0)),
                ('{"kind":"double","double":123456789012345680000}', double(123456789012345680000.0)),
                ('{"kind":"double","bits_hex":"7ff4000000000001"}', double_bits(0x7ff4000000000001)),
                ('{"kind":"double","bits_hex":"FFF0000000000000"}', double_bits(0xfff0000000000000)),
                ('{"kind":"double","bits_hex":"3ff8000000000000","double":1.5}', double(1.5)),
                ('{"kind":"double","bits_hex":"4008000000000000","double":3}', double(3)),
                ('{"kind":"string","string":""}', string(b"")),
                ('{"kind":"string","bytes_hex":""}', string(b"")),
                ('{"kind":"string","string":"a\\u0000\\ud83d\\ude00\\/"}', string("a\0😀/".encode())),
                ('{"kind":"string","bytes_hex":"68c3a9","string":"hé"}', string("hé".encode())),
                ('{"kind":"string","bytes_hex":"ff00"}', string(b"\xff\0")),
                ('{"kind":"tensor","scalar_type":"int64","sizes":[],"data_hex_le":"2a00000000000000"}', tensor("int64", [], struct.pack("<q", 42))),
                ('{"kind":"tensor","scalar_type":"float32","sizes":[3,0],"dim_order":[1,0],"data_hex_le":""}', tensor("float32", [3, 0], b"", [1, 0])),
                ('{"kind":"tensor","scalar_type":"uint8","sizes":[1,2],"dim_order":[0,1],"data_hex_le":"aBcD"}', tensor("uint8", [1, 2], b"\xab\xcd")),
        ]:
            self.assertEqual(self.pack(line), message(value), line)

    def test_lines(self):
        none = '{"kind":"none"}'
        self.assertEqual(self.pack(""), message())
        self.assertEqual(self.pack("\n \t\r\n\n"), message())
        self.assertEqual(self.pack(f"\n{none}\r\n\n{none}\n \n{none}"), message(NONE, NONE, NONE))

    def test_every_scalar_type(self):
        for name, size in zip(SCALAR_TYPES, ELEMENT_SIZES):
            data = bytes(range(2 * size))
            line = {"kind": "tensor", "scalar_type": name, "sizes": [2], "data_hex_le": data.hex()}
            self.assertEqual(self.pack(json.dumps(line)), message(tensor(name, [2], data)))

    def test_errors(self):
        tensor_line = '{"kind":"tensor","scalar_type":"uint8","sizes":%s,"data_hex_le":"%s"}'
        for line, pattern in [
                ('{"kind":"string","bytes_hex":"a\\u0000b"}', r"digit 1: expected a hex digit, found '\\x00'\n$"),
                (tensor_line % ("[99999999999999999999]", ""), r'"sizes": entry 0: expected an integer.*found a number that is too large\n$'),
                (tensor_line % ("[2,-99999999999999999999]", ""), "entry 1: .*found a number that is too small"),
                (tensor_line % ("[2.5,99999999999999999999]", ""), "entry 0: .*found a number with a fraction"),
                (tensor_line % ("[2147483648,99999999999999999999]", ""), "entry 0: .*found 2147483648"),
                ("x", "column 1.*invalid token"), ("{", "column"), ('{"kind":"none"} x', "column"), ('{"kind":"none"}{"kind":"none"}', "column"),
                ('{"kind":"none","kind":"none"}', "duplicate"), ("[]", "expected an object, found an array"), ("1", "expected an object"),
                ("null", "expected an object, found null"), ("{}", '"kind": expected the name of a kind, found no such key'),
                ('{"kind":1}', '"kind": expected the name of a kind, found an integer'), ('{"kind":"None"}', 'found "None"'),
                ('{"kind":"none","x":1}', 'expected only keys of the kind none, found "x"'), ('{"kind":"none\\u0000"}', '"kind"'),
                ('{"kind":"bool"}', '"bool": expected true or false, found no such key'), ('{"kind":"bool","bool":1}', "found an integer"),
                ('{"kind":"bool","bool":"true"}', "found a string"), ('{"kind":"bool","bool":null}', "found null"),
                ('{"kind":"int"}', '"int"'), ('{"kind":"int","int":1}', '"int": expected a string of decimal digits, found an integer'),
                ('{"kind":"int","int":"9223372036854775808"}', "expected a number from"), ('{"kind":"int","int":"-9223372036854775809"}', "expected"),
                *((f'{{"kind":"int","int":"{text}"}}', "expected a decimal number without leading zeros")
                  for text in ["", "-", "01", "-0", "+1", " 1", "1 ", "0x1", "1.0", "1\\u0000", "-01", "\\u0000"]),
                ('{"kind":"double"}', "found neither"), ('{"kind":"double","double":"1"}', '"double": expected a number, found a string'),
                ('{"kind":"double","double":NaN}', "column"), ('{"kind":"double","double":1e999}', "column.*overflow"),
                ('{"kind":"double","bits_hex":"3ff8"}', "expected 16 hex digits, found 4$"),
                ('{"kind":"double","bits_hex":"3ff800000000000g"}', "digit 15: expected a hex digit, found 'g'"),
                ('{"kind":"double","bits_hex":1}', '"bits_hex": expected 16 hex digits, found an integer'),
                ('{"kind":"double","bits_hex":"3ff8000000000001","double":1.5}', "disagree: expected bits 3ff8000000000000, found 3ff8000000000001"),
                ('{"kind":"double","bits_hex":"0000000000000000","double":-0.0}', "disagree"),
                ('{"kind":"double","bits_hex":"7ff8000000000000","double":0.0}', "disagree"),
                ('{"kind":"string"}', "found neither"), ('{"kind":"string","string":1}', '"string": expected a string'),
                ('{"kind":"string","bytes_hex":"f"}', "expected an even number of hex digits, found 1"),
                ('{"kind":"string","bytes_hex":"0\\u0000"}', "digit 1"), ('{"kind":"string","bytes_hex":[]}', '"bytes_hex"'),
                ('{"kind":"string","bytes_hex":"6868","string":"h"}', "disagree"), ('{"kind":"string","bytes_hex":"68","string":"i"}', "disagree"),
                ('{"kind":"string","string":"\\ud800"}', "column"),
                ('{"kind":"tensor"}', '"scalar_type"'), ('{"kind":"tensor","scalar_type":"float","sizes":[],"data_hex_le":"00"}', 'found "float"'),
                ('{"kind":"tensor","scalar_type":6,"sizes":[],"data_hex_le":"00"}', "scalar_type.*found an integer"),
                ('{"kind":"tensor","scalar_type":"uint8","data_hex_le":"00"}', '"sizes": expected an array'),
                ('{"kind":"tensor","scalar_type":"uint8","sizes":[]}', '"data_hex_le": expected a string'),
                (tensor_line % ("1", "00"), '"sizes": expected an array of integers, found an integer'),
                (tensor_line % ("[1.0]", "00"), '"sizes": entry 0: expected an integer'), (tensor_line % ('["1"]', "00"), "entry 0"),
                (tensor_line % ("[1,-1]", ""), "entry 1: expected an integer from 0 to 2147483647, found -1"),
                (tensor_line % ("[0,2147483648]", ""), "found 2147483648"), (tensor_line % ("[99999999999999999999]", ""), "entry 0"),
                (tensor_line % ([1] * 17, "00"), "expected at most 16 entries, found 17"),
                (tensor_line % ("[2147483647,2147483647,2]", ""), r"less than 2\^62"), (tensor_line % ("[0,2147483647,2147483647,2]", ""), r"2\^62"),
                (tensor_line % ("[2]", "00"), "expected 4 hex digits for these sizes, found 2"), (tensor_line % ("[]", ""), "expected 2 hex digits"),
                (tensor_line[:-1] % ("[1]", "00") + ',"dim_order":[1]}', "entry 0: expected 0, found 1$"),
                (tensor_line[:-1] % ("[1]", "00") + ',"dim_order":[0.5]}', "entry 0: expected 0, found a number with"),
                (tensor_line % ("[1]", "0x"), "digit 1"), (tensor_line % ("[1]", "000"), "expected 2 hex digits"),
                *((f'{{"kind":"tensor","scalar_type":"uint8","sizes":[1,1],"data_hex_le":"00","dim_order":{order}}}', pattern)
                  for order, pattern in [("[0]", "expected 2 entries"), ("[0,0]", "expected each dimension once"), ("[0,2]", "from 0 to 1, found 2"),
                                         ("[0,-1]", "found -1"), ("null", "found null"), ("[0,1.0]", "entry 1"), ("[0,1,2]", "found 3")]),
        ]:
            with self.subTest(line=line):
                self.bad(1, f"^stdin: line 3: .*{pattern}", "pack", "--json", "-", input=b'{"kind":"none"}\n\n' + line.encode() + b"\n")

    def test_bytes_that_are_no_json(self):
        for line in [b"\0", b'{"kind":"none"}\0', b"\xff", b'{"kind":"string","string":"\xff"}', b'{"kind":"string","string":"\x1b"}', b"\xef\xbb\xbf{}",
                     b"[" * 100000, b'{"kind":' * 3000]:
            text = self.bad(1, "line 1: column", "pack", "--json", "-", input=line)
            self.assertNotRegex(text.replace("\n", ""), r"[\x00-\x1f\x7f-\x9f]")

    def test_other_files(self):
        for data, pattern in [(b"\x93NUMPY\1\0", "a .npy file: --tensor reads it"), (message(NONE), "an EValue message: 'evalue unpack'")]:
            self.bad(1, f"^stdin: line 1: expected a JSON object; it looks like {pattern}", "pack", "--json", "-", input=data)

    def test_files(self):
        self.bad(2, "nonesuch: cannot open", "pack", "--json", "nonesuch")
        self.bad(2, r"\.: cannot read", "pack", "--json", ".")
        self.write("x.jsonl", '{"kind":"none"}\n{"kind":"nine"}')
        self.bad(1, "^x.jsonl: line 2: ", "pack", "--json", "x.jsonl")
        self.good("pack", "--none", "--json", "/dev/null")


class Writing(CliTest):
    def show(self, *values):
        return self.good("show", "--json", "-", input=message(*values)).decode()

    def test_notation(self):
        for value, line in [
                (NONE, '{"kind":"none"}'), (boolean(1), '{"kind":"bool","bool":true}'), (integer(-2**63), '{"kind":"int","int":"-9223372036854775808"}'),
                (double(1.5), '{"kind":"double","bits_hex":"3ff8000000000000","double":1.5}'),
                (double_bits(0x7ff4000000000001), '{"kind":"double","bits_hex":"7ff4000000000001"}'),
                (double(float("-inf")), '{"kind":"double","bits_hex":"fff0000000000000"}'),
                (string("hé\0\x1b\"\\".encode()), '{"kind":"string","bytes_hex":"68c3a9001b225c","string":"hé\\u0000\\u001B\\"\\\\"}'),
                (string(b"\xff"), '{"kind":"string","bytes_hex":"ff"}'), (string(b""), '{"kind":"string","bytes_hex":"","string":""}'),
                (string(b"\xed\xa0\x80"), '{"kind":"string","bytes_hex":"eda080"}'), (string(b"\xc0\x80"), '{"kind":"string","bytes_hex":"c080"}'),
                (string(b"\xf4\x90\x80\x80"), '{"kind":"string","bytes_hex":"f4908080"}'), (string(b"\xe2\x82"), '{"kind":"string","bytes_hex":"e282"}'),
                (string("\x7f\x80\x9b\xa0".encode()), '{"kind":"string","bytes_hex":"7fc280c29bc2a0","string":"\\u007f\\u0080\\u009b\xa0"}'),
                (string("\u202e\u061c\u200e\u2029\u2066x".encode()),
                 '{"kind":"string","bytes_hex":"e280aed89ce2808ee280a9e281a678","string":"\\u202e\\u061c\\u200e\\u2029\\u2066x"}'),
                (double(-0.0), '{"kind":"double","bits_hex":"8000000000000000","double":-0.0}'),
                (double(1e16), '{"kind":"double","bits_hex":"4341c37937e08000","double":1e16}'),
                (tensor("float32", [2, 1], struct.pack("<2f", 1, 2), [1, 0]),
                 '{"kind":"tensor","scalar_type":"float32","sizes":[2,1],"dim_order":[1,0],"data_hex_le":"0000803f00000040"}'),
                (tensor("int8", [], b"\x80"), '{"kind":"tensor","scalar_type":"int8","sizes":[],"dim_order":[],"data_hex_le":"80"}'),
        ]:
            self.assertEqual(self.show(value).lower(), line.lower() + "\n")

    def test_doubles_have_the_fewest_digits_that_read_back(self):
        numbers = [0.1, -0.0, 1.0, 100.0, 1e22, 1e23, 5e-324, 1.7976931348623157e308, 2 / 3, 123456789012345680000.0, 9007199254740993.0]
        generator = random.Random(7)
        while len(numbers) < 500:
            number = struct.unpack("<d", generator.randbytes(8))[0]
            if number - number == 0:
                numbers.append(number)
        lines = self.show(*map(double, numbers)).splitlines()
        for number, line in zip(numbers, lines):
            text = line.split('"double":')[1].rstrip("}")
            self.assertEqual(struct.pack("<d", float(text)), struct.pack("<d", number))
            digits = lambda t: len(t.lower().split("e")[0].replace(".", "").replace("-", "").strip("0"))
            self.assertEqual(digits(text), digits(repr(number)), (text, repr(number)))
            json.loads(line)

    def test_round_trip_of_every_scalar_type(self):
        values = [tensor(name, [2, 1, 3], os.urandom(6 * size), order) for name, size in zip(SCALAR_TYPES, ELEMENT_SIZES)
                  for order in [[0, 1, 2], [2, 0, 1], [2, 1, 0]]]
        self.assertEqual(self.good("pack", "--json", "-", input=self.show(*values).encode()), message(*values))

    def test_large_tensor(self):
        data = os.urandom(1000003)
        text = self.show(tensor("uint8", [1000003], data))
        self.assertIn(data.hex(), text)
        self.assertEqual(self.good("pack", "--json", "-", input=text.encode()), message(tensor("uint8", [1000003], data)))

    def make_locale(self, name):
        """Makes a locale with a decimal comma in the test's directory, whether the system has one or not; it has to work."""
        if not shutil.which("localedef"):
            self.skipTest("needs localedef")
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", self.path(name)], capture_output=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        environment = dict(self.environment, LOCPATH=str(self.dir), LC_ALL=name)
        point = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.localeconv()['decimal_point'])"
        self.assertEqual(subprocess.run([sys.executable, "-c", point], env=environment, capture_output=True, check=True).stdout, b",\n")

    def test_the_locale_changes_nothing(self):
        value = message(double(1234.5), string("é\x1b".encode()), tensor("float32", [2, 2], struct.pack("<4f", 0.25, -1234567.5, 1e-9, 3)),
                        tensor("float64", [2], struct.pack("<2d", 0.1, 1e300)), tensor("complex64", [1], struct.pack("<2f", 1.5, -0.5)),
                        tensor("uint8", [123456], bytes(123456)))
        commands = [["show", "--json", "-"], ["show", "-"], ["show", "--layout", "-"]]
        in_c = dict(self.environment, LC_ALL="C", LANG="C")
        shown = [self.good(*command, input=value, env=in_c) for command in commands]
        plain = shown[0]
        self.assertIn(b"1234.5", shown[1])
        self.assertIn(b"1234.5", shown[2])
        self.make_locale("de_DE.UTF-8")
        for name in ["de_DE.UTF-8", "C", "POSIX", "tr_TR.UTF-8"]:
            environment = dict(self.environment, LC_ALL=name, LANG=name, LC_NUMERIC=name)
            if (self.dir / name).exists():
                environment["LOCPATH"] = str(self.dir)
            self.assertEqual([self.good(*command, input=value, env=environment) for command in commands], shown)
            self.assertEqual(self.good("pack", "--json", "-", input=plain, env=environment), value)
            self.assertEqual(self.good("pack", "--double", "1234.5", env=environment), message(double(1234.5)))
            self.bad(2, "--double", "pack", "--double", "1234,5", env=environment)


if __name__ == "__main__":
    unittest.main()
