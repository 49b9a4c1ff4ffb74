# SPDX-License-Identifier: BSD-3-Clause
"""The form executorch-java (spec/executorch-java.md) in every command; the reference codec in spec/ makes and judges the bytes."""
import itertools
import os
import pathlib
import re
import resource
import shlex
import struct
import subprocess
import sys
import unittest

import numpy

import test_io
from support import (ELEMENT_SIZES, EVALUE, IS_SANITIZED, NONE, SCALAR_TYPES, TIMEOUT, CliTest, boolean, double_bits, element, integer,
                     message, sequence, string, tensor)

SPEC = pathlib.Path(__file__).resolve().parents[2] / "spec"
sys.path.insert(0, str(SPEC))
import executorch_java_reference as reference  # noqa: E402  (it is found only now)

JAVA = "--form=executorch-java"
TO, FROM = "--to=executorch-java", "--from=executorch-java"
RELEASES = ["any", *reference.RELEASES]
DTYPES = {"u1": "uint8", "i1": "int8", "i4": "int32", "i8": "int64", "f2": "float16", "f4": "float32", "f8": "float64"}
SHAPES = [(), (0,), (1,), (5,), (2, 3), (3, 1), (2, 0), (2, 3, 4), (1,) * 16, (2, 1, 3) + (1,) * 12 + (2,), (1,) * 9 + (0,) + (7,) * 6]
FRAME = b"\2org.pytorch.executorch.EValue@8bcc55f"
STRING = b"\2\0\0\0\3h\xc3\xa9"
FLOATS = b"\1\6\2\0\0\0\1\0\0\0\2" + struct.pack(">2f", 1, -2)
INT = b"\4" + struct.pack(">q", 42)
OLD = b"what was there before"

FAULTS = {"no_value": "the input has none", "field_short": "the input ends inside the field", "unknown_java_tag": "no such tag",
          "string_before_1_2": "no release before 1.2 has Strings", "bad_bool": "the Bool is neither 0 nor 1",
          "negative_length": "length is negative", "java_too_long": "a Java array", "bad_utf8": "not well-formed UTF-8",
          "unknown_dtype": "no tensors of this type", "ndim_too_large": "too many dimensions", "negative_size": "the size is negative",
          "extent_too_large": "2^62", "trailing_bytes": "goes on after its end"}


def vectors(name):
    return reference.load_lines(SPEC / "vectors" / f"executorch_java{name}.jsonl")


def encode(value, release="any"):
    return reference.encode(value, None if release == "any" else release)


def options_of(vector):
    """A vector's options, as the command's."""
    options = vector.get("options", {})
    release = [f"--executorch={options['release']}"] if "release" in options else []
    return release + [f"--allow={rule}" for rule in options.get("allow", [])]


def element_of(value):
    """A value's element in EValue's own forms, by the tests' own encoder."""
    kind = value["kind"]
    if kind == "tensor":
        return tensor(value["scalar_type"], value["sizes"], bytes.fromhex(value["data_hex_le"]))
    if kind == "string":
        return string(bytes.fromhex(value["bytes_hex"]))
    if kind == "none":
        return NONE
    return {"bool": lambda: boolean(value["bool"]), "int": lambda: integer(int(value["int"])),
            "double": lambda: double_bits(int(value["bits_hex"], 16))}[kind]()


def array_of(dtype, shape):
    """Any bits, other NaNs among them."""
    count = int(numpy.prod(shape, dtype=int))
    raw = numpy.random.default_rng(len(shape)).bytes(max(count, 1) * numpy.dtype(dtype).itemsize)
    return numpy.frombuffer(raw, dtype)[:count].reshape(shape)


def value_of(array):
    little = array.astype(array.dtype.newbyteorder("<"))
    return reference.tensor_value(DTYPES[array.dtype.str[1:]], array.shape, little.tobytes("C"))


class JavaTest(CliTest):
    def short(self, name, data):
        """Writes a file; gives its name as the command, which runs in the directory, is to be told it."""
        self.write(name, data)
        return name

    def batch(self, commands):
        """Runs many commands, in one shell because that is much quicker; gives the code, stdout and stderr of each."""
        folder = self.dir / "batch"
        folder.mkdir(exist_ok=True)
        lines = [f'"$1" {shlex.join(command)} >batch/{i}.out 2>batch/{i}.err; echo $?\n' for i, command in enumerate(commands)]
        script = self.write("batch/script", "".join(lines))
        done = subprocess.run(["sh", script, EVALUE], cwd=self.dir, env=self.environment, capture_output=True, check=True, timeout=TIMEOUT)
        results = []
        for i, code in enumerate(map(int, done.stdout.split())):
            error = self.read(f"batch/{i}.err").decode()
            self.assertLess(code, 126, f"{commands[i]} died of a signal: {error}")
            self.assertNotIn("Sanitizer", error)
            results.append((code, self.read(f"batch/{i}.out"), error))
        self.assertEqual(len(results), len(commands))
        return results

    def good_batch(self, commands):
        """The outputs of commands that have to succeed silently."""
        outputs = []
        for command, (code, out, error) in zip(commands, self.batch(commands)):
            self.assertEqual((code, error), (0, ""), command)
            outputs.append(out)
        return outputs

    def refused(self, code, pattern, *args, **options):
        """The command fails, and its output file, OUT, stays as it was: missing, or there."""
        for before in (None, OLD):
            if before is not None:
                self.write("OUT", before)
            self.bad(code, pattern, *args, **options)
            self.assertEqual(self.read("OUT") if before else (self.dir / "OUT").exists(), before or False, args)
            (self.dir / "OUT").unlink(missing_ok=True)

    def assert_fault(self, line, name, expected, size):
        """A line of stderr names place, status and field; what is expected has a vector's keys."""
        match = re.fullmatch(r"(\S+): offset (\d+): value (\d+): (\w+): (\w+): (.*?)(; it looks like .*)?", line)
        self.assertIsNotNone(match, line)
        place = (name, str(expected["position"]), str(expected["value"]), expected["status"], expected["field"])
        self.assertEqual(match.groups()[:5], place, line)
        self.assertIn(FAULTS[expected["fault"]], match.group(6))
        counts = re.search(r": needs at least (\d+) bytes of input, has (\d+)", match.group(6))
        if expected["fault"] == "field_short":
            self.assertEqual(tuple(map(int, counts.groups())), (expected["needed"], size), line)
        else:
            self.assertIsNone(counts, line)


class Upstream(JavaTest):
    """What ExecuTorch's own classes wrote and refused."""

    def setUp(self):
        super().setUp()
        self.lines = vectors("")
        for i, line in enumerate(self.lines):
            line["file"] = f"v{i}"
            self.write(line["file"], bytes.fromhex(line["hex"]))
        self.written = [line for line in self.lines if "value" in line]
        self.assertGreater(min(len(self.written), len(self.lines) - len(self.written)), 50)
        for line in self.written:
            line["value"] = reference.normal(line["value"])
            self.write(line["file"] + ".jsonl", reference.dump(line["value"]) + "\n")

    @staticmethod
    def reads(line, release):
        return release == "any" or any(release in source or (release == "1.4" and "main" in source) for source in line["same_bytes_in"])

    def test_check(self):
        """Many files, of which each bad one is reported; in each release."""
        for release in RELEASES:
            result = self.run_raw("check", JAVA, f"--executorch={release}", *[line["file"] for line in self.lines])
            self.assertEqual((result.returncode, result.stdout), (1, b""))
            bad = [line for line in self.lines if "value" not in line or not self.reads(line, release)]
            reports = result.stderr.decode().splitlines()
            self.assertEqual(len(reports), len(bad))
            for report, line in zip(reports, bad):
                data = bytes.fromhex(line["hex"])
                with self.assertRaises(reference.Fault) as caught:
                    reference.decode(data, None if release == "any" else release)
                self.assert_fault(report, line["file"], dict(caught.exception.as_json(), needed=caught.exception.needed), len(data))
            self.good("check", JAVA, f"--executorch={release}", "--deep", *[line["file"] for line in self.lines if line not in bad])

    def test_what_upstream_lets_pass(self):
        """--allow accepts it, where a rule can be waived at all."""
        policies = [line for line in self.lines if line.get("expect") == "policy"]
        self.assertGreater(len(policies), 3)
        for line in policies:
            rule = next((rule for rule in ("bool", "utf8") if rule in line["name"]), None)
            if rule is None:
                self.bad(1, "too many dimensions", "check", JAVA, "--allow=bool", "--allow=utf8", "--allow=trailing", line["file"])
                continue
            self.bad(1, line["file"], "check", JAVA, "--allow=trailing", line["file"])
            shown = self.good("show", JAVA, "--json", f"--allow={rule}", line["file"]).decode()
            self.assertEqual(reference.normal(reference.load(shown)), reference.decode(bytes.fromhex(line["hex"]), allow=[rule])[0])

    def test_show_and_pack(self):
        shown = self.good_batch([["show", "--json", JAVA, line["file"]] for line in self.written])
        for line, text in zip(self.written, shown):
            self.assertEqual(text.count(b"\n"), 1)
            self.assertEqual(reference.normal(reference.load(text.decode())), line["value"], line["name"])
            self.write(line["file"] + ".shown", text)
        for end in ("jsonl", "shown"):
            packed = self.good_batch([["pack", JAVA, "--json", f"{line['file']}.{end}"] for line in self.written])
            for line, data in zip(self.written, packed):
                self.assertEqual(data.hex(), line["hex"], line["name"])

    def test_releases_write_what_they_wrote(self):
        tried = [(line, release) for line in self.written for release in ("1.0", "1.1", "1.2")]
        results = self.batch([["pack", JAVA, "--executorch", release, "--json", line["file"] + ".jsonl"] for line, release in tried])
        for (line, release), (code, out, error) in zip(tried, results):
            if self.reads(line, release):
                self.assertEqual((code, out.hex(), error), (0, line["hex"], ""), line["name"])
            else:
                self.assertEqual((code, out), (1, b""), line["name"])
                self.assertRegex(error, "cannot hold the value: .*(no release before 1.2 has Strings.*found release|no tensors of this type.* one of release) "
                                 + re.escape(release))

    def test_convert_there_and_back(self):
        for form, make in (("message", message), ("sequence", sequence)):
            there = self.good_batch([["convert", FROM, f"--to={form}", line["file"], "-"] for line in self.written])
            for line, data in zip(self.written, there):
                self.assertEqual(data, make(element_of(line["value"])), line["name"])
                self.write(f"{line['file']}.{form}", data)
            back = self.good_batch([["convert", f"--from={form}", TO, f"{line['file']}.{form}", "-"] for line in self.written])
            for line, data in zip(self.written, back):
                self.assertEqual(data.hex(), line["hex"], line["name"])
        same = self.good_batch([["convert", FROM, TO, line["file"], "-"] for line in self.written])
        self.assertEqual([data.hex() for data in same], [line["hex"] for line in self.written])


class Vectors(JavaTest):
    """The golden vectors; the command knows no bare tensors."""

    def load(self, name):
        chosen = [vector for vector in vectors(name) if "bare" not in vector.get("options", {})]
        for i, vector in enumerate(chosen):
            vector["file"], vector["data"] = f"v{i}", bytes.fromhex(vector["hex"])
            self.write(vector["file"], vector["data"])
        return chosen

    def groups(self, chosen):
        return itertools.groupby(sorted(chosen, key=options_of), key=options_of)

    def test_accepted(self):
        chosen = self.load("_accepted")
        self.assertGreater(len(chosen), 300)
        for options, group in self.groups(chosen):
            self.good("check", JAVA, *options, *[vector["file"] for vector in group])
        shown = self.good_batch([["show", JAVA, "--json", *options_of(vector), vector["file"]] for vector in chosen])
        for vector, text in zip(chosen, shown):
            self.assertEqual(reference.normal(reference.load(text.decode())), vector["value"], vector["name"])
        releases = [[option for option in options_of(vector) if "executorch" in option] for vector in chosen]
        for vector, text in zip(chosen, shown):
            self.write(vector["file"] + ".jsonl", text)
        results = self.batch([["pack", JAVA, *release, "--json", vector["file"] + ".jsonl"] for vector, release in zip(chosen, releases)])
        for vector, (code, out, error) in zip(chosen, results):
            if "string" not in vector["value"] and vector["value"]["kind"] == "string":
                self.assertEqual((code, out), (1, b""))
                self.assertRegex(error, ": unsupported: string: the String is not well-formed UTF-8")
            else:
                expected = vector["data"][:vector.get("end")] if vector.get("canonical", True) else encode(vector["value"])
                self.assertEqual((code, out, error), (0, expected, ""), vector["name"])

    def test_rejected(self):
        chosen = self.load("_rejected")
        self.assertGreater(len(chosen), 1300)
        lines = {}
        for options, group in self.groups(chosen):
            group = list(group)
            result = self.run_raw("check", JAVA, *options, *[vector["file"] for vector in group])
            reports = result.stderr.decode().splitlines()
            self.assertEqual((result.returncode, result.stdout, len(reports)), (1, b"", len(group)), options)
            for report, vector in zip(reports, group):
                self.assert_fault(report, vector["file"], vector, len(vector["data"]))
                lines[vector["file"]] = report
        some = chosen[::5]
        for vector, result in zip(some, self.batch([["show", JAVA, "--json", *options_of(vector), vector["file"]] for vector in some])):
            self.assertEqual(result, (1, b"", lines[vector["file"]] + "\n"), vector["name"])

    def test_layouts(self):
        """Each byte appears once, or is counted where nothing was read; the mark is under the fault."""
        for name in ("_accepted", "_rejected"):
            chosen = self.load(name)[::3]  # of the prefixes, all are drawn below
            commands = [["show", JAVA, "--layout", *options_of(vector), vector["file"]] for vector in chosen]
            for vector, (code, out, _) in zip(chosen, self.batch(commands)):
                self.assertEqual(code, name == "_rejected", vector["name"])
                check_layout(self, out.decode(), vector["data"], vector if code else None)


ROW = re.compile(r" *(\d+)  ((?:[0-9a-f]{2} )*[0-9a-f]{2}|)(?:  .*| {24,}.*)?")
HEADLESS = ("tag", "length", "scalar_type", "ndim", "size")  # when one of these is cut, more than itself may be missing


def check_layout(test, text, data, fault=None):
    """Looks at a drawing: nothing is missing, nothing is there twice, the fault is marked where it is, and what lacks is said."""
    test.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
    plural = "" if len(data) == 1 else "s"
    lines = text.split("\n        the fault\n")[0].split("\n")
    test.assertRegex(lines[0], rf"^executorch-java, {len(data):,} byte{plural}$")
    at, last, marks = 0, (0, 0), []
    for line in lines[3:]:
        row, counted = ROW.fullmatch(line), re.fullmatch(r" +\.\.\. +([\d,]+) more bytes?(: .*)?", line)
        if re.fullmatch(r" +\^\^( \^\^)*", line):
            marks.append(last[0] + (len(line) - len(line.lstrip()) - 8) // 3)
        elif counted:
            at += int(counted.group(1).replace(",", ""))
        elif row:
            found = bytes.fromhex(row.group(2))
            last = (int(row.group(1)), len(found))
            test.assertEqual((last[0], found), (at, data[at:at + len(found)]), text)
            at += len(found)
    test.assertEqual(at, len(data), text)
    test.assertEqual(marks, [fault["position"]] if fault else [], text)
    missing = re.findall(r"\(the input ends\) +missing +(at least )?([\d,]+) byte", text)
    if fault and fault["status"] == "truncated":
        number = f"{fault['needed'] - len(data):,}"
        test.assertEqual(missing, [("at least " if fault["field"] in HEADLESS else "", number)], text)
    else:
        test.assertEqual(missing, [], text)
    if fault:
        test.assertIn(FAULTS[fault["fault"]], text)


class Arrays(JavaTest):
    """NumPy's arrays."""

    def test_pack_and_unpack(self):
        cases, expected = [], []
        for dtype, shape, order, byte_order in itertools.product(DTYPES, SHAPES, "CF", "<>"):
            if order == "F" and len(shape) < 2:
                continue
            array = numpy.array(array_of(byte_order + dtype, shape), order=order)
            numpy.save(self.path(f"{len(cases)}.npy"), array)
            cases.append(array)
            expected.append(encode(value_of(array)))
        packed = self.good_batch([["pack", JAVA, "--tensor", f"{i}.npy"] for i in range(len(cases))])
        for i, (array, data) in enumerate(zip(cases, packed)):
            self.assertEqual(data, expected[i], (array.dtype, array.shape))
            self.write(f"{i}.bin", data)
        self.good_batch([["unpack", JAVA, "-d", f"d{i}", f"{i}.bin"] for i in range(0, len(cases), 4)])
        for i in range(0, len(cases), 4):
            self.assertEqual(sorted(os.listdir(self.path(f"d{i}"))), ["0000.npy", "values.jsonl"])
            loaded = numpy.load(self.path(f"d{i}/0000.npy"))
            little = cases[i].astype(cases[i].dtype.newbyteorder("<"))
            self.assertEqual((loaded.dtype, loaded.shape, loaded.tobytes()), (little.dtype, little.shape, little.tobytes()))
            self.assertEqual(reference.normal(reference.load(self.read(f"d{i}/values.jsonl").decode())), value_of(cases[i]))

    def test_a_longer_tensor(self):
        """More than one piece of what is swapped and copied at a time."""
        for dtype in (">f4", "<i8", ">f2", "|u1"):
            array = array_of(dtype, (3, 70001))
            numpy.save(self.path("x.npy"), array)
            self.good("pack", JAVA, "--tensor", "x.npy", "-o", "x")
            big = array.astype(array.dtype.newbyteorder(">"))
            code = SCALAR_TYPES.index(DTYPES[array.dtype.str[1:]])
            self.assertEqual(self.read("x"), struct.pack(">BBBii", 1, code, 2, 3, 70001) + big.tobytes())
            self.good("unpack", JAVA, "--no-json", "-d", f"d{array.itemsize}", "x")
            self.assertEqual(os.listdir(self.path(f"d{array.itemsize}")), ["0000.npy"])
            self.assertEqual(numpy.load(self.path(f"d{array.itemsize}/0000.npy")).tobytes(), array.astype(big.dtype.newbyteorder("<")).tobytes())
            self.good("convert", FROM, "x", "m")
            self.good("convert", TO, "m", "y")
            self.assertEqual(self.read("y"), self.read("x"))

    def test_other_scalar_types_are_refused(self):
        others = [name for name in SCALAR_TYPES if name not in DTYPES.values()]
        for name in others:
            size = ELEMENT_SIZES[SCALAR_TYPES.index(name)]
            numpy.save(self.path(f"{name}.npy"), numpy.zeros(3, f"V{size}"))
            self.write(f"{name}.message", message(tensor(name, [3], bytes(3 * size))))
        commands = [["pack", JAVA, "--as", name, "--tensor", f"{name}.npy", "-o", "out"] for name in others]
        commands += [["convert", TO, f"{name}.message", "out"] for name in others]
        for (code, out, error), name in zip(self.batch(commands), others * 2):
            self.assertEqual((code, out), (1, b""), error)
            self.assertRegex(error, "^evalue (pack|convert): \\S+: executorch-java cannot hold the value: unsupported: scalar_type: "
                             rf".*expected one of any release, found \d+ \({name}\)\n$")
        self.assertFalse((self.dir / "out").exists())
        numpy.save(self.path("bits.npy"), numpy.arange(3, dtype="u2"))
        self.assertEqual(self.good("pack", JAVA, "--as=float16", "--tensor", "bits.npy"), b"\1\5\1\0\0\0\3\0\0\0\1\0\2")

    def test_dim_orders_become_row_major(self):
        for name, sizes in (("float32", [2, 3]), ("uint8", [1, 3, 2, 2]), ("int64", [3, 1, 2]), ("float16", [4, 0, 2]), ("int8", [2] * 5)):
            size = ELEMENT_SIZES[SCALAR_TYPES.index(name)]
            data = bytes(i % 251 for i in range(size * int(numpy.prod(sizes))))
            for order in list(itertools.permutations(range(len(sizes))))[1::7]:
                value = dict(reference.tensor_value(name, sizes, data), dim_order=list(order))
                encoded = message(tensor(name, sizes, data, order))
                self.assertEqual(self.good("convert", TO, "-", "-", input=encoded), encode(value))
                self.assertEqual(self.good("pack", JAVA, "--json", "-", input=(reference.dump(value) + "\n").encode()), encode(value))


class Commands(JavaTest):
    """Each command, by hand."""

    def test_pack(self):
        for args, data in ((["--none"], b"\0"), (["--bool=true"], b"\5\1"), (["--bool", "false"], b"\5\0"), (["--int=42"], INT),
                           (["--int=-0x8000000000000000"], b"\4\x80" + bytes(7)), (["--double=1.5"], b"\3\x3f\xf8" + bytes(6)),
                           (["--double=-0"], b"\3\x80" + bytes(7)), (["--string", "hé"], STRING), (["--string="], b"\2" + bytes(4)),
                           (["--string", FRAME[1:].decode()], struct.pack(">BI", 2, len(FRAME) - 1) + FRAME[1:])):
            self.assertEqual(self.good("pack", JAVA, *args), data)
            self.good("pack", "--form", "executorch-java", "--align=1", *args, "-o", "x")
            self.assertEqual(self.read("x"), data)
            self.good("check", JAVA, "x")
        self.assertEqual(self.good("pack", JAVA, "--tensor", "-", input=test_io.npy_head(">f4", "(1, 2)") + FLOATS[11:]), FLOATS)
        self.assertEqual(self.good("pack", JAVA, "--json=-", input=b'\n{"kind":"bool","bool":true}\n'), b"\5\1")

    def test_show(self):
        for data, table in ((b"\0", "executorch-java, 1 value, 1 byte\n\nindex  kind  bytes  value\n    0  None      0  None\n"),
                            (b"\5\1", "executorch-java, 1 value, 2 bytes\n\nindex  kind  bytes  value\n    0  Bool      1  true\n"),
                            (INT, "executorch-java, 1 value, 9 bytes\n\nindex  kind  bytes  value\n    0  Int       8  42\n"),
                            (b"\3\xbf\xf8" + bytes(6), "executorch-java, 1 value, 9 bytes\n\n"
                             "index  kind    bytes  value\n    0  Double      8  -1.5\n"),
                            (STRING, 'executorch-java, 1 value, 8 bytes\n\nindex  kind    bytes  value\n    0  String      3  "hé"\n'),
                            (FLOATS, "executorch-java, 1 value, 19 bytes\n\nindex  kind    type     shape   bytes  value\n"
                                     "    0  Tensor  float32  [1, 2]      8  [[ 1, -2]]\n")):
            self.assertEqual(self.good("show", JAVA, "-", input=data).decode(), table)
            self.assertEqual(self.good("show", JAVA, self.short("x", data)).decode(), table)
        for data in (b"", FLOATS[:-1], FLOATS + b"\0", b"\6"):
            result = self.run_raw("show", JAVA, self.short("x", data))
            self.assertEqual(result.returncode, 1)
            plural = "" if len(data) == 1 else "s"
            self.assertEqual(result.stdout.decode(), f"executorch-java, 0 values, then a fault, {len(data)} byte{plural}\n")
            self.assertRegex(result.stderr.decode(), "^x: offset \\d+: value [01]: ")

    def test_waivers(self):
        for data, rule, value in ((b"\5\2", "bool", '{"kind":"bool","bool":true}'), (b"\2\0\0\0\1\xff", "utf8", '{"kind":"string","bytes_hex":"ff"}'),
                                  (b"\0\0", "trailing", '{"kind":"none"}')):
            self.write("x", data)
            for others in (["bool", "utf8"], ["bool", "trailing"], ["utf8", "trailing"]):
                options = [f"--allow={other}" for other in others]
                if rule in others:
                    self.assertEqual(self.good("show", JAVA, "--json", *options, "x").decode(), value + "\n")
                    self.good("check", JAVA, *options, *options, "x")
                else:
                    self.bad(1, "^x: offset ", "check", JAVA, *options, "x")
            self.assertEqual(self.good("convert", FROM, "--allow", rule, "x", "-"), message(element_of(reference.normal(reference.load(value)))))
            self.good("unpack", JAVA, f"--allow={rule}", "-d", rule, "x")
            self.assertEqual(reference.normal(reference.load(self.read(f"{rule}/values.jsonl").decode())), reference.normal(reference.load(value)))
        self.assertEqual(self.good("convert", FROM, TO, "--allow=bool", "-", "-", input=b"\5\2"), b"\5\1")
        self.assertEqual(self.good("convert", FROM, TO, "--allow=trailing", "-", "-", input=b"\5\1more"), b"\5\1")
        self.write("x", b"\2\0\0\0\1\xff")
        self.refused(1, "^evalue convert: x: executorch-java cannot hold the value: unsupported: string", "convert", FROM, TO, "--allow=utf8", "x", "OUT")

    def test_releases(self):
        half, text = b"\1\5\0\x3c\0", b"\2\0\0\0\1a"
        self.write("half.npy", test_io.npy_head("<f2", "()") + b"\0\x3c")
        for name, data, element_, item, since, field in (
                ("half", half, tensor("float16", [], b"\0\x3c"), ["--tensor", "half.npy"], "1.1", "scalar_type"),
                ("text", text, string(b"a"), ["--string", "a"], "1.2", "tag")):
            self.write(name, data)
            self.write("m", message(element_))
            for release in RELEASES:
                option = ["--executorch", release]
                if release == "any" or release >= since:
                    self.good("check", JAVA, *option, name)
                    self.assertEqual(self.good("pack", JAVA, *option, *item), data)
                    self.assertEqual(self.good("convert", TO, *option, "m", "-"), data)
                    self.assertEqual(self.good("convert", FROM, *option, name, "-"), message(element_))
                    continue
                where = f"value 0: unsupported: {field}: .* release {re.escape(release)}\\b"
                self.bad(1, f"^{name}: offset [01]: {where}", "check", JAVA, *option, name)
                self.bad(1, f"^{name}: offset [01]: {where}", "show", JAVA, "--json", *option, name)
                self.bad(1, f"^{name}: offset [01]: {where}", "unpack", JAVA, "-d", "new", *option, name)
                self.refused(1, f"^{name}: offset [01]: {where}", "convert", FROM, *option, name, "OUT")
                where = f"executorch-java cannot hold the value: unsupported: {field}: .* release {re.escape(release)}\\b"
                self.refused(1, f"^evalue pack: (\\S+: )?{where}", "pack", JAVA, *option, *item, "-o", "OUT")
                self.refused(1, f"^evalue convert: m: {where}", "convert", TO, *option, "m", "OUT")
        self.assertFalse((self.dir / "new").exists())

    def test_convert(self):
        """Ancillary elements and alignment are lost, whatever they are."""
        ancillary = [element(200, b"first"), element(129), element(255, b"x" * 70000)]
        value = tensor("float32", [1, 2], struct.pack("<2f", 1, -2))
        whole = bytearray(message(ancillary[0], ancillary[1], value, ancillary[2], align=64))
        whole[5] = 3  # reserved elements came with a later minor version
        self.assertEqual(self.good("convert", TO, "-", "-", input=bytes(whole)), FLOATS)
        self.assertEqual(self.good("convert", "--from=sequence", TO, "-", "-", input=sequence(*ancillary, value)), FLOATS)
        self.assertEqual(self.good("convert", FROM, "--align=64", "-", "-", input=FLOATS), message(value, align=64))
        self.assertEqual(self.good("convert", FROM, "-", "-", input=FLOATS), message(value))
        self.write("x", FLOATS)
        self.good("convert", FROM, "x", "x")
        self.assertEqual(self.read("x"), message(value))
        self.good("convert", TO, "x", "x")
        self.assertEqual(self.read("x"), FLOATS)

    def test_not_one_value(self):
        self.write("two.jsonl", '{"kind":"none"}\n' * 2)
        self.write("none.jsonl", "")
        for many, found in ([integer(1), NONE], "more"), ([NONE, string(b"\xff")], "more"), ([], "none"), ([element(200, b"x")], "none"):
            self.write("m", message(*many))
            self.write("s", sequence(*many))
            for args in (["m"], ["--from=sequence", "s"]):
                self.refused(1, f"^evalue convert: \\S+: executorch-java holds one value: .*found {found}\n$", "convert", TO, *args, "OUT")
                self.refused(1, f"^evalue convert: \\S+: executorch-java holds one value: .*found {found}\n$", "convert", TO, *args, "-")
        for name, found in (("two", "more"), ("none", "none")):
            self.refused(1, f"executorch-java holds one value: .*found {found}\n$", "pack", JAVA, "--json", f"{name}.jsonl", "-o", "OUT")
        self.refused(2, "executorch-java holds one value: expected one ITEM, found 2\n", "pack", JAVA, "--none", "--int=1", "-o", "OUT")
        self.refused(2, "executorch-java holds one value: expected one ITEM, found 2\n", "pack", JAVA, "--json", "none.jsonl", "--int=1", "-o", "OUT")
        self.refused(2, "nothing to pack", "pack", JAVA, "-o", "OUT")
        self.write("cut", message(NONE, integer(2))[:-1])
        self.refused(1, "^cut: offset 8: truncated", "convert", TO, "cut", "OUT")

    def test_strings_are_never_substituted(self):
        for bad, offset in reference.BAD_UTF8[::4]:
            data = bytes.fromhex(bad)
            self.write("m", message(string(data)))
            self.write("x.jsonl", reference.dump(reference.string_value(data)) + "\n")
            where = f"cannot hold the value: unsupported: string: .*found the byte \\\\x{data[offset]:02x} at {offset} of the String\n$"
            self.refused(1, where, "convert", TO, "m", "OUT")
            self.refused(1, where, "pack", JAVA, "--json", "x.jsonl", "-o", "OUT")
            if b"\0" not in data:
                self.refused(1, where, "pack", JAVA, "--string", data, "-o", "OUT")

    def test_wrong_usage(self):
        self.write("x", INT)
        self.write("m", message(NONE))
        for pattern, *args in (
                ("unknown form 'java': expected message, sequence or executorch-java\n", "check", "--form=java", "x"),
                ("unknown form 'executorch-java ': expected ", "convert", "--to=executorch-java ", "m", "OUT"),
                ("executorch-java has no alignment\n", "pack", JAVA, "--align=16", "--none", "-o", "OUT"),
                ("executorch-java has no alignment\n", "convert", TO, "--align=2", "m", "OUT"),
                ("executorch-java has no alignment\n", "convert", FROM, TO, "--align=4096", "x", "OUT"),
                ("unknown release '1.5': expected one of any 0.5 0.6 0.7 1.0 1.1 1.2 1.3 1.4\n", "check", JAVA, "--executorch=1.5", "x"),
                ("unknown release '': ", "show", JAVA, "--executorch=", "x"),
                ("unknown release 'ANY': ", "unpack", JAVA, "--executorch=ANY", "-d", "d", "x"),
                ("unknown release '1.20': ", "pack", JAVA, "--executorch=1.20", "--none", "-o", "OUT"),
                ("unknown release '1': ", "convert", TO, "--executorch", "1", "m", "OUT"),
                ("--executorch needs a value\n", "check", JAVA, "--executorch"), ("--allow needs a value\n", "check", JAVA, "--allow"),
                ("--executorch given twice\n", "check", JAVA, "--executorch=any", "--executorch=any", "x"),
                ("--executorch is for the form executorch-java\n", "check", "--executorch=1.0", "m"),
                ("--executorch is for the form executorch-java\n", "show", "--form=sequence", "--executorch=any", "m"),
                ("--executorch is for the form executorch-java\n", "unpack", "--executorch=1.0", "-d", "d", "m"),
                ("--executorch is for the form executorch-java\n", "pack", "--executorch=1.0", "--none", "-o", "OUT"),
                ("--executorch is for the form executorch-java\n", "convert", "--executorch=1.0", "m", "OUT"),
                ("--allow is for reading the form executorch-java\n", "check", "--allow=bool", "m"),
                ("--allow is for reading the form executorch-java\n", "show", "--allow=trailing", "m"),
                ("--allow is for reading the form executorch-java\n", "unpack", "--allow=utf8", "-d", "d", "m"),
                ("--allow is for reading the form executorch-java\n", "pack", JAVA, "--allow=bool", "--none", "-o", "OUT"),
                ("--allow is for reading the form executorch-java\n", "convert", TO, "--allow=utf8", "m", "OUT"),
                ("--allow: expected trailing, bool or utf8, found 'all'\n", "check", JAVA, "--allow=all", "x"),
                ("--allow: expected trailing, bool or utf8, found ''\n", "convert", FROM, "--allow=bool", "--allow=", "x", "OUT")):
            self.refused(2, f"^evalue {args[0]}: {re.escape(pattern)}", *args)
        self.assertFalse((self.dir / "d").exists())

    def test_help_names_the_form(self):
        for command in ("pack", "show", "check", "unpack", "convert"):
            text = self.good(command, "--help").decode()
            self.assertIn("message, sequence or executorch-java", text)
            self.assertIn("--executorch R", text)
            self.assertEqual("--allow WHAT" in text, command != "pack")

    def test_unpack(self):
        for name, data in (("none", b"\0"), ("string", STRING)):
            self.good("unpack", JAVA, "-d", name, self.short("x", data))
            self.assertEqual(os.listdir(self.path(name)), ["values.jsonl"])
            self.assertEqual(self.good("pack", JAVA, "--json", f"{name}/values.jsonl"), data)
        for data in (FLOATS[:-1], FLOATS + b"\0", b""):
            self.bad(1, "^x: offset ", "unpack", JAVA, "-d", "new", self.short("x", data))
            self.assertFalse((self.dir / "new").exists())
        self.assertEqual([path.name for path in self.dir.glob("*evalue*")], [])

    def test_guesses(self):
        looks = "; it looks like "
        java = "bytes of ExecuTorch's Java EValue.toByteArray(): try {} executorch-java"
        old = "a String of ExecuTorch's Java EValue before release 1.2"
        is_message, is_sequence = "an EValue message: try {} message", "an EValue sequence: try {} sequence"
        inputs = {"none": b"\0", "bool": b"\5\1", "int": INT, "zero": b"\4" + bytes(8), "string": STRING, "floats": FLOATS,
                  "empty_tensor": b"\1\3\1" + bytes(4)}
        for name, data in inputs.items():
            self.write(name, data)
        self.write("frame", FRAME)
        self.write("m", message(NONE, integer(1)))
        self.write("m_empty", message())
        for name, data in (("s", sequence(integer(1), NONE)), ("s_none", NONE), ("s_string", string(b"abc"))):
            self.write(name, data)
        npy = self.write("x.npy", test_io.npy_head("<f4", "(2,)") + bytes(8))
        json = self.write("x.jsonl", '{"kind":"none"}\n')
        cases = [(name, form, java) for name in inputs for form in ("message", "sequence")]
        cases += [("frame", form, old) for form in ("message", "sequence")]
        cases += [("m", form, is_message) for form in ("sequence", "executorch-java")] + [("m_empty", "executorch-java", is_message)]
        cases += [(name, form, is_sequence) for name in ("s", "s_none", "s_string") for form in ("message", "executorch-java")]
        cases += [(npy, "executorch-java", "a .npy file: 'evalue pack --tensor' reads it"),
                  (json, "executorch-java", "JSON Lines: 'evalue pack --json' reads them"),
                  (self.write("x.gz", b"\x1f\x8b\x08"), "executorch-java", "gzip data"),
                  (self.write("x.pt", b"PK\3\4abc"), "executorch-java", "a zip archive (.npz, .pt)")]
        for name, form, guess in cases:
            for option, command, out in (("--form", "check", []), ("--from", "convert", ["out"])):
                text = self.bad(1, "^\\S+: offset ", command, f"{option}={form}", name, *out)
                self.assertTrue(text.endswith(looks + guess.format(option) + "\n"), (name, form, text))
        for data in (b"\6", b"", FLOATS[:-1], FLOATS + b"\0", FRAME, b"\5\2", b"\2\0\0\0\1\xff", b"EVA"):  # it is Java's already, or nothing
            self.assertNotIn(looks, self.bad(1, "^x: offset ", "check", JAVA, self.short("x", data)))
        for data in (FLOATS[:-1], FLOATS + b"\0", b"\5\2", b"\2\0\0\0\1\xff"):
            self.assertNotIn(looks, self.bad(1, "^x: offset ", "check", self.short("x", data)))
        self.bad(1, "^floats: offset 0: this is no .npy file, but bytes of ExecuTorch's Java EValue.toByteArray\\(\\)\n$",
                 "pack", "--tensor", "floats")

    def test_the_old_frame(self):
        for end in (b"", b"8bcc55f", b"8bcc55f\n", b"\xff" * 400):
            for start in (b"org.pytorch.executorch.EValue@", b"EValue@"):
                self.write("x", b"\2" + start + end)
                for options in ([], ["--executorch=1.2"], ["--executorch=1.4", "--allow=utf8", "--allow=trailing", "--allow=bool"]):
                    self.bad(1, "^x: offset 1: value 0: unsupported: length: no release before 1.2 has Strings .*\"EValue@\"",
                             "check", JAVA, *options, "x")
                self.bad(1, "^x: offset 0: value 0: unsupported: tag: .*found release 1.1\n$", "check", JAVA, "--executorch=1.1", "x")
                self.refused(1, "^x: offset 1: ", "convert", FROM, "x", "OUT")
                self.bad(1, "^x: offset 1: ", "unpack", JAVA, "-d", "new", "x")
        self.write("x", b"\2EValue#8bcc55f")
        self.bad(1, "^x: offset 5: value 0: truncated: string: .*needs at least 1163288945 bytes of input, has 15\n$", "check", JAVA, "x")


class Layout(JavaTest):
    def layout(self, data, *options, code=0):
        result = self.run_raw("show", "--layout", JAVA, *options, self.write("in", data))
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout.decode()

    def rows(self, data, *options, code=0):
        return self.layout(data, *options, code=code).split("\n")[3:-1]

    def test_a_tensor(self):
        self.assertEqual(self.layout(FLOATS), """\
executorch-java, 19 bytes

offset  bytes                    field        meaning
        value 0
     0  01                       tag          Tensor
     1  06                       scalar_type  float32, 4 bytes an element
     2  02                       ndim         2
     3  00 00 00 01              sizes[0]     1
     7  00 00 00 02              sizes[1]     2
    11  3f 80 00 00 c0 00 00 00  data         [0, 0]: 1, -2
""")

    def test_other_values(self):
        for data, *rows in ((b"\0", "     0  00                       tag          None"),
                            (b"\5\0", "     1  00                       value        false"),
                            (b"\5\1", "     1  01                       value        true"),
                            (INT, "     1  00 00 00 00 00 00 00 2a  value        42"),
                            (b"\4" + b"\xff" * 7 + b"\xfe", "     1  ff ff ff ff ff ff ff fe  value        -2"),
                            (b"\3\x3f\xf8" + bytes(6), "     1  3f f8 00 00 00 00 00 00  value        1.5"),
                            (STRING, "     1  00 00 00 03              length       3", '     5  68 c3 a9                 value        "hé"'),
                            (b"\2" + bytes(4), "     1  00 00 00 00              length       0"),
                            (b"\1\3\0\xff\xff\xff\xfe", "     2  00                       ndim         0",
                             "     3  ff ff ff fe              data         -2"),
                            (b"\1\0\2" + bytes(7) + b"\3", "     7  00 00 00 03              sizes[1]     3",
                             "                                 data         none: a size is zero"),
                            (b"\1\4\1\0\0\0\2" + struct.pack(">2q", 1, -2), "     7  00 00 00 00 00 00 00 01  data         [0]: 1",
                             "    15  ff ff ff ff ff ff ff fe               [1]: -2")):
            self.assertEqual(self.rows(data)[-len(rows):], rows)
            check_layout(self, self.layout(data), data)

    def test_long_payloads(self):
        data = struct.pack(">BI", 2, 1040) + b"x" * 1040
        self.assertEqual(self.rows(data)[-1], "        ...                                   1,008 more bytes")
        check_layout(self, self.layout(data), data)
        data = struct.pack(">BBBI1000h", 1, 5, 1, 1000, *range(1000))
        self.assertEqual(self.rows(data)[-1], "        ...                                   1,968 more bytes: 984 elements")
        check_layout(self, self.layout(data), data)

    def test_allowed(self):
        """What a waiver accepts is drawn, and not marked."""
        self.assertEqual(self.rows(b"\5\2", "--allow=bool")[-1], "     1  02                       value        true, as it is not 0")
        self.assertEqual(self.rows(b"\2\0\0\0\1\xff", "--allow=utf8")[-1], '     5  ff                       value        "\\xff"')
        self.assertEqual(self.rows(b"\5\1more", "--allow=trailing")[-2:],
                         ["        after the end: allowed", '     2  6d 6f 72 65              trailing     "more"'])
        data = b"\5\1" + b"y" * 500
        check_layout(self, self.layout(data, "--allow=trailing"), data)

    def test_marks(self):
        for data, row, text in ((b"\5\2", "     1  02                       value        neither 0 nor 1", "malformed: the Bool"),
                                (b"\2\xff\xff\xff\xff", "     1  ff ff ff ff              length       -1",
                                 "malformed: the String's length is negative"),
                                (b"\2\0\0\0\2a\xff", '     5  61 ff                    value        "a\\xff"', "malformed: the String is not"),
                                (FLOATS + b"x", '    19  78                       trailing     "x"', "malformed: the input goes on"),
                                (FLOATS[:-1], "    11  3f 80 00 00 c0 00 00     data         [0, 0]: 1, (cut)", "truncated: the input ends"),
                                (b"\4\0\0", "     1  00 00                    value        2 of 8 bytes", "truncated: the input ends"),
                                (b"\1\6\1\0", "     3  00                       sizes[0]     1 of 4 bytes", "truncated: the input ends"),
                                (b"\1\6\1\xff\xff\xff\xfe", "     3  ff ff ff fe              sizes[0]     -2", "malformed: the size is negative"),
                                (b"\1\6\x11", "     2  11                       ndim         17", "malformed: the tensor has too many dimensions")):
            lines = self.rows(data, code=1)
            at = next(i for i, line in enumerate(lines) if "^^" in line)
            self.assertEqual(lines[at - 1], row)
            self.assertRegex(lines[at + 1].strip(), f"^{text}")

    def test_the_old_frame(self):
        out = self.layout(FRAME, code=1)
        check_layout(self, out, FRAME, {"position": 1, "fault": "string_before_1_2", "status": "unsupported"})
        self.assertIn("org.", bytes.fromhex(re.search(r"\n     1  (.{11})", out).group(1)).decode())

    def test_every_cut_and_colours(self):
        """Whatever is cut off or put behind it; and colours change nothing but colours."""
        wide = encode(reference.tensor_value("float64", [2, 0, 1], b""))
        inputs = [whole[:size] for whole in (INT, STRING, FLOATS, FRAME, wide, b"\5\1", b"\3" + bytes(8)) for size in range(len(whole) + 1)]
        inputs += [whole + end for whole in (INT, STRING, FLOATS, wide) for end in (b"\0", b"z" * 9, b"z" * 200)]
        commands = []
        for i, data in enumerate(inputs):
            self.write(f"i{i}", data)
            commands += [["show", JAVA, "--layout", f"--color={when}", f"i{i}"] for when in ("never", "always")]
        results = self.batch(commands)
        for i, data in enumerate(inputs):
            (code, out, error), coloured = results[2 * i], results[2 * i + 1]
            try:
                fault = reference.decode(data) and None
            except reference.Fault as caught:
                fault = caught.as_json()
            self.assertEqual(code, 0 if fault is None else 1)
            check_layout(self, out.decode(), data, fault)
            self.assertIn(b"\x1b[", coloured[1])
            self.assertEqual((code, re.sub(rb"\x1b\[[0-9;]*m", b"", coloured[1]), error), (code, out, coloured[2]))
            self.assertEqual(coloured[0], code)


class Pipes(JavaTest):
    def test_a_fault_is_noticed_while_the_pipe_stays_open(self):
        """One byte more than the value has is enough, and so is a head that is wrong."""
        for data, pattern in ((FLOATS + b"\0", "offset 19: value 1: malformed: trailing: .* 20 bytes or more"), (b"\0\0", "offset 1: value 1"),
                              (STRING + b"x", "offset 8: value 1"), (INT + b"xyz", "offset 9: value 1"), (b"\6", "offset 0: .*unsupported: tag"),
                              (b"\1\2", "offset 1: .*unsupported: scalar_type"), (b"\1\6\x11", "offset 2: .*ndim"),
                              (b"\2\xff\xff\xff\xff", "offset 1: .*length"),
                              (b"\2\x7f\xff\xff\xff", "offset 1: .*limit"), (b"\1\6\2" + b"\xff" * 8, "offset 3: .*size"),
                              (b"\5\2\0", "offset 1: .*bool"),
                              (b"\1\6\1\x7f\xff\xff\xff", "offset 7: .*limit: data")):
            process = self.start("check", JAVA, "-", stdin=subprocess.PIPE)
            process.stdin.write(data)
            process.stdin.flush()
            try:
                self.assertEqual(process.wait(20), 1, data)
            finally:
                error = process.communicate()[1].decode()
            self.assertRegex(error, f"^stdin: {pattern}")

    def test_a_whole_value_is_not_yet_the_end(self):
        process = self.start("check", JAVA, "-", stdin=subprocess.PIPE)
        process.stdin.write(FLOATS)
        process.stdin.flush()
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.1)
        self.assertEqual((process.communicate()[1], process.returncode), (b"", 0))

    def test_no_more_is_read_than_the_head_says(self):
        """And one byte."""
        for data, options, code, left in ((FLOATS + b"more", "", 1, b"ore"), (FLOATS + b"more", "--allow=trailing", 0, b"ore"), (FLOATS, "", 0, b""),
                                          (b"\5\1more", "--allow=bool", 1, b"ore")):
            script = f'"$0" check {JAVA} {options} -; echo "code $?"; cat'
            result = subprocess.run(["sh", "-c", script, EVALUE], input=data, capture_output=True, check=False)
            self.assertEqual(result.stdout, b"code %d\n" % code + left)
        result = self.run_raw("show", JAVA, "-", input=FLOATS + b"more")
        self.assertEqual(result.stdout, b"executorch-java, 0 values, then a fault, the first 20 bytes\n")
        for args in (["check"], ["show"], ["show", "--json"], ["show", "--layout"], ["unpack", "-d", "new"]):
            self.assertEqual(self.run_raw(*args, JAVA, "/dev/zero").returncode, 1)
        self.assertEqual(self.good("show", JAVA, "--json", "--allow=trailing", "/dev/zero"), b'{"kind":"none"}\n')

    def test_truncated_pipes(self):
        for whole in (FLOATS, STRING, INT):
            for size in range(len(whole)):
                with self.assertRaises(reference.Fault) as caught:
                    reference.decode(whole[:size])
                text = self.bad(1, "^stdin: ", "check", JAVA, "-", input=whole[:size])
                self.assert_fault(text[:-1], "stdin", dict(caught.exception.as_json()), size)
        self.refused(1, "^stdin: offset 11: .*truncated", "convert", FROM, "-", "OUT", input=FLOATS[:-1])

    def test_a_large_value(self):
        value = os.urandom(3000000)
        data = b"\1\0\1" + struct.pack(">i", len(value)) + value
        self.assertEqual(self.good("convert", FROM, "--to=sequence", "-", "-", input=data), sequence(tensor("uint8", [len(value)], value)))
        self.assertEqual(self.good("convert", "--from=sequence", TO, "-", "-", input=sequence(tensor("uint8", [len(value)], value))), data)

    def test_a_full_disk(self):
        """A limit on the size of files stands for it."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        self.write("x", b"\1\0\1" + struct.pack(">i", 200000) + bytes(200000))
        self.refused(2, "OUT: cannot write: File too large", "convert", FROM, TO, "x", "OUT", preexec_fn=limit)
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.run_raw("pack", JAVA, "--none", stdout=full).returncode, 2)


class Shrinking(JavaTest):
    """Files that are cut while they are mapped."""
    sparse = test_io.Shrinking.sparse
    shrink = test_io.Shrinking.shrink

    def test_check(self):
        size = 300 << 20
        self.sparse("x", struct.pack(">BI", 2, size), size)
        self.shrink("x", "check", JAVA, "x", to=5000)

    def test_convert(self):
        size = 100 << 20
        self.write("old", OLD)
        self.sparse("x", struct.pack(">BBBI", 1, 4, 1, size // 8), size)
        self.shrink("x", "convert", FROM, "x", "old", to=1 << 20)
        self.sparse("m", test_io.bool_message_head(size).replace(b"\x0b\1", b"\0\1", 1), size)  # of uint8
        self.shrink("m", "convert", TO, "m", "old", to=1 << 20)
        self.assertEqual(self.read("old"), OLD)

    def test_the_file_is_blamed(self):
        """What is read behind the cut looks like a second value."""
        size = 300 << 20
        head, tail = struct.pack("<BQ", 2, size), element(200, bytes(8000))
        self.sparse("x", struct.pack("<4s4BQQ", b"EVAL", 1, 0, 0, 0, len(head) + size + len(tail), 1) + head, size + len(tail))
        with open(self.path("x"), "r+b") as stream:
            stream.seek(24 + len(head) + size)
            stream.write(tail)
        self.shrink("x", "convert", TO, "x", "out", to=4096)
        self.assertFalse((self.dir / "out").exists())

    def test_unpack(self):
        size = 100 << 20
        self.sparse("x", struct.pack(">BBBI", 1, 0, 1, size), size)
        self.shrink("x", "unpack", JAVA, "-d", "out", "x", to=1 << 20)
        self.assertFalse((self.dir / "out").exists())


@unittest.skipIf(IS_SANITIZED, "a sanitizer needs more memory")
class Memory(JavaTest):
    """A tensor of 256 MB with room for 400 MB: there is no place for a second copy."""
    SIZE = 256 << 20

    @staticmethod
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

    def exhausted(self, *args, name=""):
        text = rf"^evalue {args[0]}: ({name}: )?out of memory(: the (elements|value) takes? \d+ bytes)?\n$"
        self.refused(2, text, *args, preexec_fn=self.limit)

    def test_reading(self):
        self.write("x", struct.pack(">BBBI", 1, 6, 1, self.SIZE // 4))
        os.truncate(self.path("x"), 7 + self.SIZE)
        self.good("check", JAVA, "x", preexec_fn=self.limit)
        self.good("show", JAVA, "--layout", "x", preexec_fn=self.limit)
        self.exhausted("show", JAVA, "--json", "x", name="x")
        self.exhausted("convert", FROM, "x", "OUT", name="x")
        self.exhausted("unpack", JAVA, "-d", "new", "x", name="x")
        self.assertFalse((self.dir / "new").exists())
        result = self.run_raw("show", JAVA, "x", preexec_fn=self.limit)
        self.assertEqual((result.returncode, result.stderr), (2, b"evalue show: x: out of memory: the elements take %d bytes\n" % self.SIZE))

    def test_memory_for_one_copy(self):
        """The table is drawn in a second pass, which needs the memory of the first."""
        self.write("x", struct.pack(">BBBI", 1, 6, 1, 16 << 20))
        os.truncate(self.path("x"), 7 + (64 << 20))
        for megabytes in 80, 100, 120, 140, 160, 180, 200, 220, 240:
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
            result = self.run_raw("show", JAVA, "x", preexec_fn=limit)
            if result.returncode == 0:
                self.assertIn(b"float32", result.stdout.splitlines()[-1])
            else:
                self.assertIn(b"out of memory", result.stderr)
        self.assertEqual(result.returncode, 0)

    def test_writing(self):
        for dtype in ("<f4", ">f4"):
            self.write("x.npy", test_io.npy_head(dtype, f"({self.SIZE // 4},)"))
            os.truncate(self.path("x.npy"), 128 + self.SIZE)
            self.exhausted("pack", JAVA, "--tensor", "x.npy", "-o", "OUT")
        self.good("pack", "--tensor", "x.npy", "-o", "m", preexec_fn=self.limit)
        self.exhausted("convert", TO, "m", "OUT")

    def test_a_pipe(self):
        script = 'ulimit -v 200000; (printf "\\2\\77\\0\\0\\0"; yes) | "$0" check ' + JAVA + " -"
        result = subprocess.run(["sh", "-c", script, EVALUE], capture_output=True, check=False, timeout=TIMEOUT)
        self.assertEqual((result.returncode, result.stdout, result.stderr.splitlines()[0]), (2, b"", b"evalue check: stdin: out of memory"))


if __name__ == "__main__":
    unittest.main()
