# SPDX-License-Identifier: BSD-3-Clause
"""Reading .npy files; NumPy writes them."""
import io
import itertools
import struct
import unittest

import numpy
from numpy.lib import format as npy_format

from support import ELEMENT_SIZES, SCALAR_TYPES, CliTest, integer, message, tensor

DTYPES = {"b1": "bool", "i1": "int8", "u1": "uint8", "i2": "int16", "u2": "uint16", "i4": "int32", "u4": "uint32", "i8": "int64",
          "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128"}
SHAPES = [(), (0,), (1,), (5,), (2, 3), (1, 4), (3, 1), (2, 0), (0, 3), (2, 3, 4), (1,) * 16, (2, 1, 2) + (1,) * 12 + (2,)]


def npy(array, version=None):
    stream = io.BytesIO()
    npy_format.write_array(stream, array, version=version)
    return stream.getvalue()


def random_array(dtype, shape):
    generator = numpy.random.default_rng(len(shape))
    dtype = numpy.dtype(dtype)
    count = int(numpy.prod(shape, dtype=int))
    raw = generator.bytes(max(count, 1) * dtype.itemsize)
    if dtype.kind == "b":
        raw = bytes(b & 1 for b in raw)
    return numpy.frombuffer(raw, dtype)[:count].reshape(shape)


def as_tensor(array):
    """The element that has to come out for an array, C or Fortran contiguous."""
    name = DTYPES[array.dtype.str[1:]]
    little = array.astype(array.dtype.newbyteorder("<"))
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous  # what NumPy writes as fortran_order
    order = list(range(array.ndim))
    return tensor(name, list(array.shape), little.tobytes("F" if fortran else "C"), order[::-1] if fortran else order)


def raw_npy(header, data=b"", version=(1, 0), length=None):
    header = header if isinstance(header, bytes) else header.encode()
    length = len(header) if length is None else length
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version[0] == 1 else "<I", length) + header + data


class Arrays(CliTest):
    def pack(self, data):
        return self.good("pack", "--tensor", self.write("x.npy", data))

    def test_every_dtype_shape_order_and_byte_order(self):
        files, expected = [], []
        for dtype, shape, order, byte_order in itertools.product(DTYPES, SHAPES, "CF", "<>"):
            array = numpy.array(random_array(byte_order + dtype, shape), order=order)
            self.write(f"{len(expected)}.npy", npy(array))
            files += ["--tensor", f"{len(expected)}.npy"]
            expected.append(as_tensor(array))
        self.assertEqual(self.good("pack", *files), message(*expected))
        self.assertEqual(self.good("pack", "--form=sequence", *files), b"".join(expected))

    def test_versions(self):
        for version in [(1, 0), (2, 0), (3, 0)]:
            for array in [numpy.arange(6, dtype="<f4").reshape(2, 3), numpy.array(3.5), numpy.asfortranarray(numpy.ones((3, 2), ">i2"))]:
                self.assertEqual(self.pack(npy(array, version)), message(as_tensor(array)))

    def test_fortran_order_of_one_dimension(self):
        for shape, order in [("()", []), ("(2,)", [0]), ("(1, 2)", [1, 0])]:
            data = bytes(2 if "2" in shape else 1)
            text = f"{{'descr': '|u1', 'fortran_order': True, 'shape': {shape}, }}\n"
            sizes = [int(c) for c in shape if c.isdigit()]
            self.assertEqual(self.pack(raw_npy(text, data)), message(tensor("uint8", sizes, data, order)))

    def test_freedom_of_the_header(self):
        expected = message(tensor("int16", [2, 1], b"\1\2\3\4"))
        for header in [
                "{'descr':'<i2','fortran_order':False,'shape':(2,1)}", "{'shape': (2, 1), 'fortran_order': False, 'descr': '<i2'}   \n",
                '{"descr": "<i2", "fortran_order": False, "shape": (2L, 1L,), }', " \t{ 'descr' : '<i2' ,\n'fortran_order' :False, 'shape':\f( 2 , 1 ) , } \r\n",
                "{'descr': '=i2', 'fortran_order': False, 'shape': (2, 1), }", "{'descr': '|i2', 'fortran_order': False, 'shape': (2, 1), }",
                "{'descr': 'i2', 'fortran_order': False, 'shape': (2, 1), }"]:
            for version in [(1, 0), (2, 0), (3, 0)]:
                self.assertEqual(self.pack(raw_npy(header, b"\1\2\3\4", version)), expected, header)

    def test_byte_order_of_bytes_means_nothing(self):
        for mark in ["", "<", ">", "|", "="]:
            header = f"{{'descr': '{mark}u1', 'fortran_order': False, 'shape': (2,), }}"
            self.assertEqual(self.pack(raw_npy(header, b"\1\2")), message(tensor("uint8", [2], b"\1\2")))

    def test_large_header(self):
        header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }" + " " * 100000
        self.assertEqual(self.pack(raw_npy(header, b"\7", (2, 0))), message(tensor("uint8", [1], b"\7")))

    def test_large_big_endian_array(self):
        for dtype in [">f8", ">c16", ">i2"]:
            array = random_array(dtype, (100003,))
            self.assertEqual(self.pack(npy(array)), message(as_tensor(array)))

    def test_stdin(self):
        array = numpy.arange(70000, dtype="<i4")
        self.assertEqual(self.good("pack", "--tensor", "-", input=npy(array)), message(as_tensor(array)))


class As(CliTest):
    """`--as`: the elements of an array as a scalar type of the same size."""

    def test_every_scalar_type_from_opaque_and_from_unsigned_elements(self):
        for name, size in zip(SCALAR_TYPES, ELEMENT_SIZES):
            data = bytes(range(1, 2 * size + 1))
            dtypes = [f"V{size}"] + ([f"<u{size}"] if size <= 8 else ["<c16"])
            for dtype in dtypes:
                self.write("x.npy", npy(numpy.frombuffer(data, dtype)))
                self.assertEqual(self.good("pack", "--as", name, "--tensor", "x.npy"), message(tensor(name, [2], data)))

    def test_big_endian_elements(self):
        """Components of the array are turned around, whatever they are taken as."""
        array = numpy.arange(5, dtype=">u4") + 0x01020304
        for name in ("complex32", "qint32", "float32"):
            self.write("x.npy", npy(array))
            self.assertEqual(self.good("pack", "--as", name, "--tensor", "x.npy"), message(tensor(name, [5], array.astype("<u4").tobytes())))
        array = numpy.arange(3, dtype=">c8")
        self.write("x.npy", npy(array))
        self.assertEqual(self.good("pack", "--as", "uint64", "--tensor", "x.npy"), message(tensor("uint64", [3], array.astype("<c8").tobytes())))

    def test_it_is_for_the_next_tensor_only(self):
        self.write("x.npy", npy(numpy.array([7], "<u2")))
        self.assertEqual(self.good("pack", "--as=bfloat16", "--int", "1", "--tensor", "x.npy", "--tensor", "x.npy"),
                         message(integer(1), tensor("bfloat16", [1], b"\7\0"), tensor("uint16", [1], b"\7\0")))

    def test_errors(self):
        self.write("x.npy", npy(numpy.zeros(3, "<f4")))
        self.write("v.npy", npy(numpy.zeros(3, "V2")))
        self.bad(1, "^x.npy: offset 20: --as bfloat16: expected elements of size 2, found dtype '<f4' of size 4$", "pack", "--as", "bfloat16", "--tensor", "x.npy")
        self.bad(1, "of size 1, found dtype '.V2' of size 2$", "pack", "--as", "bits8", "--tensor", "v.npy")
        self.bad(1, "no scalar type; --as TYPE names one, and values.jsonl", "pack", "--tensor", "v.npy")
        self.bad(2, "--as: expected the name of a scalar type, like bfloat16, found 'bf16'", "pack", "--as", "bf16", "--tensor", "x.npy")
        self.bad(2, "--as needs a --tensor after it", "pack", "--tensor", "x.npy", "--as", "int8")


class Damage(CliTest):
    good_header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n"

    def refuse(self, data, pattern):
        path = self.write("x.npy", data)
        with self.subTest(data=data[:200]):
            self.bad(1, f"^{path}: (?=offset [0-9]+: ).*{pattern}", "pack", "--tensor", path, "-o", "out")
        self.assertFalse((self.dir / "out").exists())

    def test_prefix(self):
        whole = raw_npy(self.good_header, bytes(24))
        self.refuse(b"", "no .npy file: expected .*, found nothing")
        self.refuse(whole[:5], "no .npy file")
        self.refuse(b"\x93NUMPX" + whole[6:], "no .npy file")
        self.refuse(b"PK\3\4" + bytes(100), "no .npy file, but a zip archive")
        self.refuse(message(), "no .npy file, but an EValue message: 'evalue unpack'")
        self.refuse(b'{"kind":"none"}\n', "no .npy file, but JSON Lines: --json reads them")
        for size in [6, 7]:
            self.refuse(whole[:size], f"offset 6: the header is cut: expected a version of 2 bytes, found {size - 6}")
        for version in [(0, 0), (1, 1), (4, 0), (255, 255), (2, 1)]:
            self.refuse(raw_npy(self.good_header, bytes(24), version),
                        "offset 6: the version is not known: expected 1.0, 2.0 or 3.0, found {}.{}".format(*version))
        self.refuse(whole[:8], "offset 8: the header is cut: expected its length in 2 bytes, found 0")
        self.refuse(whole[:9], "expected its length in 2 bytes, found 1")
        self.refuse(raw_npy(b"", b"", (2, 0))[:11], "expected its length in 4 bytes, found 3")
        self.refuse(whole[:10], f"offset 8: the header is cut: expected {len(self.good_header)} bytes, found 0")
        self.refuse(whole[:40], "the header is cut")
        self.refuse(raw_npy(self.good_header, b"", (2, 0), 2**32 - 1), "expected 4294967295 bytes")

    def test_every_cut_of_a_file(self):
        whole = npy(numpy.arange(3, dtype="<i2"))
        for size in range(len(whole)):
            self.refuse(whole[:size], "expected")

    def test_every_cut_of_a_header(self):
        for size in range(len(self.good_header) - 1):
            self.refuse(raw_npy(self.good_header[:size], bytes(24)), "expected")

    def test_header(self):
        descr, order, shape = "'descr': '<f4', ", "'fortran_order': False, ", "'shape': (2, 3), "
        for header, pattern in [
                ("", "expected '{', found the end of the header"), ("[]", r"expected '{', found '\['"),
                ("{" + descr + order + "}", "found no 'shape'"), ("{" + descr + shape + "}", "found no 'fortran_order'"),
                ("{" + order + shape + "}", "found no 'descr'"), ("{}", "found no 'descr'"),
                ("{" + descr + descr + order + shape + "}", "found 'descr' again"), ("{" + descr + order + shape + "'x': 1}", "found 'x'"),
                ("{" + descr + order + shape + "} x", "nothing but white space.*found 'x'"), ("{" + descr + order + shape + "}\0", r"white space.*found '\\x00'\n$"),
                ("{,}", "expected a key, found ','"), ("{" + descr + ",}", "expected a key"), ("{'descr' '<f4'}", "expected ':'"),
                ("{'descr': '<f4' 'shape': (1,)}", "expected ',' or '}'"), ("{'desc\\x72': '<f4'}", "without escapes"), ("{'descr: '<f4'}", "found 'descr: '"),
                ("{u'descr': '<f4'}", "expected a key, found 'u'"), ("{b'descr': '<f4'}", "expected a key"), ("{1: 2}", "expected a key, found '1'"),
                ("{'descr': 4}", "expected a dtype, found '4'"), ("{'descr': '<f4\"}", "end of a string"), ("{'descr': None}", "expected a dtype"),
                ("{'fortran_order': 0}", "expected True or False, found '0'"), ("{'fortran_order': false}", "expected True or False"),
                ("{'fortran_order': Truex}", "expected ',' or '}', found 'x'"), ("{'fortran_order': 'False'}", "expected True or False"),
                ("{'shape': [2, 3]}", "expected a tuple of sizes, found '\\['"), ("{'shape': 2}", "expected a tuple"), ("{'shape': (2)}", "only size of a tuple"),
                ("{'shape': (2 3)}", "expected ','"), ("{'shape': (2, 3 4)}", "expected ',' or '\\)'"), ("{'shape': (,)}", "expected a size"),
                ("{'shape': (2,,)}", "expected a size"), ("{'shape': (-1,)}", "expected a size, found '-'"), ("{'shape': (1.0,)}", "expected ','"),
                ("{'shape': (None,)}", "expected a size"), ("{'shape': ('1',)}", "expected a size"), ("{'shape': (01,)}", "without leading zeros, found 01"),
                ("{'shape': (1LL,)}", "expected ','"), ("{'shape': (1l,)}", "expected ','"), ("{'shape': (1_0,)}", "expected ','"), ("{'shape': (True,)}", "expected a size"),
                ("{'shape': (2147483648,)}", "the size is too large: expected at most 2147483647, found 2147483648"),
                ("{'shape': (18446744073709551617,)}", "found 18446744073709551617"), ("{'shape': (" + "9" * 500 + ",)}", "too large"),
                ("{'shape': (" + "1," * 17 + ")}", "too many dimensions: expected at most 16, found 17$"),
                ("{" + descr + order + "'shape': (2147483647, 2147483647, 2),}", r"less than 2\^62"),
                ("{" + descr + order + "'shape': (2147483647, 2147483647, 0, 2),}", r"less than 2\^62"),
                ("{" + descr + order + "'shape': (2147483647, 536870912),}", "the data is too short: expected 4611686016279904256 bytes")]:
            for version in [(1, 0), (3, 0)]:
                self.refuse(raw_npy(header, b"", version), pattern)

    def test_dtypes_without_a_scalar_type(self):
        for dtype in ["V4", "S3", "a3", "U3", "O", "M8[ns]", "m8", "f16", "c32", "i3", "f1", "u16", "b2", "", "f", "f4 ", "F4", "d", "?", "<f4", "b11", "é"]:
            header = f"{{'descr': '<{dtype}', 'fortran_order': False, 'shape': (0,), }}"
            self.refuse(raw_npy(header, b"", (3, 0)), "it has no scalar type")
        for header in ["[('a', '<f4')]", "[]", "('<f4', (2,))"]:
            self.refuse(raw_npy(f"{{'descr': {header}, 'fortran_order': False, 'shape': (0,), }}"), "structured dtype: it has no scalar type")

    def test_what_numpy_writes_without_a_scalar_type(self):
        for array in [numpy.zeros(2, "V4"), numpy.array(["a"]), numpy.array([b"a"]), numpy.zeros(2, "M8[ns]"), numpy.zeros(2, "m8[s]"),
                      numpy.zeros(2, [("a", "<f4"), ("é", "<i2")]), numpy.zeros(2, numpy.longdouble)]:
            self.refuse(npy(array), "it has no scalar type")
        stream = io.BytesIO()
        numpy.save(stream, numpy.array([None, {}]), allow_pickle=True)
        self.refuse(stream.getvalue(), "it has no scalar type")

    def test_size_of_the_data(self):
        whole = npy(numpy.arange(3, dtype="<i2"))
        self.refuse(whole[:-1], "offset 128: the data is too short: expected 6 bytes, found 5")
        self.refuse(whole + b"x", "offset 128: the data is too long: expected 6 bytes, found 7")
        self.refuse(npy(numpy.zeros((3, 0))) + b"x", "too long: expected 0 bytes, found 1")
        self.refuse(npy(numpy.zeros(())) [:-8], "too short: expected 8 bytes, found 0")

    def test_too_many_dimensions(self):
        self.refuse(npy(numpy.zeros((1,) * 17)), "too many dimensions: expected at most 16, found 17$")
        self.refuse(npy(numpy.zeros((1,) * 30)), "found 30$")

    def test_no_control_character_reaches_the_terminal(self):
        for header in ["{'\x9b31m': 1}", "{'descr': '<\x9b31m'}", "{'descr': '\x7f\x1b[31m'}", "\x1b[31m", "{'descr': \x1b}"]:
            self.write("x\x1b[31m.npy", raw_npy(header, b"", (3, 0)))
            result = self.run_raw("pack", "--tensor", "x\x1b[31m.npy")
            self.assertEqual(result.returncode, 1)
            self.assertNotRegex(result.stderr.decode(), r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
            self.assertIn(b"x\\x1b[31m.npy", result.stderr)


if __name__ == "__main__":
    unittest.main()
