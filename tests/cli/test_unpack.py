# SPDX-License-Identifier: BSD-3-Clause
"""`evalue unpack`: .npy files that NumPy reads, JSON Lines that restore everything, a directory that appears whole or not at all."""
import itertools
import os
import stat
import unittest

import numpy

from support import (ELEMENT_SIZES, NONE, SCALAR_TYPES, CliTest, boolean, double_bits, integer, message, sequence, string, tensor)
from test_npy import DTYPES, SHAPES, as_tensor, npy, random_array


class Files(CliTest):
    def unpack(self, *values, align=16):
        self.write("x", message(*values, align=align))
        self.good("unpack", "-d", "out", "x")
        return sorted(os.listdir(self.dir / "out"))

    def test_every_dtype_shape_and_order(self):
        arrays = [numpy.array(random_array("<" + dtype, shape), order=order) for dtype, shape, order in itertools.product(DTYPES, SHAPES, "CF")]
        names = self.unpack(*map(as_tensor, arrays))
        self.assertEqual(names, [f"{i:04d}.npy" for i in range(len(arrays))] + ["values.jsonl"])
        for i, array in enumerate(arrays):
            loaded = numpy.load(self.dir / "out" / f"{i:04d}.npy")
            self.assertEqual((loaded.dtype, loaded.shape, loaded.tobytes()), (array.dtype, array.shape, array.tobytes()))
            self.assertEqual(loaded.flags.f_contiguous, array.flags.f_contiguous)
            self.assertEqual(self.read(f"out/{i:04d}.npy"), npy(array))  # NumPy's own bytes

    def test_headers_of_every_length(self):
        """NumPy's padding: to 64 bytes, and room for an array that grows."""
        arrays = [numpy.zeros((0, 10**digits) + (1,) * more, dtype, order) for digits, more, dtype, order in
                  itertools.product(range(10), range(15), ["i1", "c16"], "CF")]
        self.unpack(*(tensor(DTYPES[array.dtype.str[1:]], list(array.shape), b"") for array in arrays))
        for i, array in enumerate(arrays):
            self.assertEqual(self.read(f"out/{i:04d}.npy"), npy(array))

    def test_types_that_numpy_lacks(self):
        values = [tensor(name, [2, 3], os.urandom(6 * size)) for name, size in zip(SCALAR_TYPES, ELEMENT_SIZES)]
        self.unpack(*values)
        for i, (name, size) in enumerate(zip(SCALAR_TYPES, ELEMENT_SIZES)):
            loaded = numpy.load(self.dir / "out" / f"{i:04d}.npy")
            known = [dtype for dtype, scalar_type in DTYPES.items() if scalar_type == name]
            self.assertEqual(loaded.dtype, numpy.dtype("<" + known[0]) if known else numpy.dtype(f"V{size}"))
            self.assertEqual(loaded.tobytes(), values[i][-6 * size:])

    def test_dim_orders_are_copied_to_c_order(self):
        array = random_array("<i4", (2, 3, 4, 5))
        for order in itertools.permutations(range(4)):
            self.write("x", message(tensor("int32", [2, 3, 4, 5], array.transpose(order).tobytes(), order)))
            name = "".join(map(str, order))
            self.good("unpack", "-d", name, "x")
            loaded = numpy.load(self.dir / name / "0000.npy")
            self.assertTrue((loaded == array).all())
            self.assertEqual(loaded.flags.f_contiguous, order == (3, 2, 1, 0))
            self.assertEqual(self.good("pack", "--json", f"{name}/values.jsonl"), self.read("x"))

    def test_sizes_of_one_and_zero(self):
        for sizes, order in [([1, 3], [1, 0]), ([2, 1, 3], [1, 0, 2]), ([0, 3, 2], [1, 0, 2]), ([1] * 16, list(range(15, -1, -1)))]:
            count = int(numpy.prod(sizes))
            self.write("x", message(tensor("int16", sizes, bytes(range(2 * count)), order)))
            name = f"out{len(sizes)}{sizes[0]}{count}"
            self.good("unpack", "-d", name, "x")
            loaded = numpy.load(self.dir / name / "0000.npy")
            self.assertEqual((list(loaded.shape), loaded.tobytes()), (sizes, bytes(range(2 * count))))

    def test_the_number_is_the_index_of_the_value(self):
        one = tensor("bool", [], b"\1")
        self.assertEqual(self.unpack(NONE, one, integer(1), one), ["0001.npy", "0003.npy", "values.jsonl"])

    def test_more_than_four_digits(self):
        names = self.unpack(*[NONE] * 10000, tensor("int8", [1], b"\7"))
        self.assertEqual(names, ["10000.npy", "values.jsonl"])

    def test_everything_comes_back(self):
        values = [NONE, boolean(0), integer(-2**63), double_bits(0x7ff4000000000001), double_bits(1 << 63), string(b"\xff\0\x1b"), string(b""),
                  *(tensor(name, [2, 2], os.urandom(4 * size), [1, 0]) for name, size in zip(SCALAR_TYPES, ELEMENT_SIZES))]
        self.unpack(*values)
        self.assertEqual(self.good("pack", "--json", "out/values.jsonl"), message(*values))
        tensors = []
        for i, name in enumerate(SCALAR_TYPES, len(values) - len(SCALAR_TYPES)):
            tensors += ["--as", name, "--tensor", f"out/{i:04d}.npy"]
        self.assertEqual(self.good("pack", *tensors), message(*values[-len(SCALAR_TYPES):]))
        self.assertEqual(self.good("show", "--json", "x"), self.read("out/values.jsonl"))

    def test_forms_and_stdin(self):
        self.good("unpack", "-d", "s", "--form", "sequence", "-", input=sequence(NONE, tensor("int8", [2], b"\1\2")))
        self.assertEqual(sorted(os.listdir(self.dir / "s")), ["0001.npy", "values.jsonl"])
        self.good("unpack", "-d", "e", "--form=sequence", "/dev/null")
        self.assertEqual(os.listdir(self.dir / "e"), ["values.jsonl"])
        self.assertEqual(self.read("e/values.jsonl"), b"")


class Directory(CliTest):
    def setUp(self):
        super().setUp()
        self.write("x", message(tensor("int8", [2], b"\1\2"), NONE))
        self.write("bad", message(tensor("int8", [2], b"\1\2"), NONE)[:-1])

    def mode(self, name):
        return stat.S_IMODE(os.stat(self.dir / name).st_mode)

    def test_permissions(self):
        self.good("unpack", "-d", "a", "x", preexec_fn=lambda: os.umask(0o027))
        self.assertEqual((self.mode("a"), self.mode("a/0000.npy"), self.mode("a/values.jsonl")), (0o750, 0o640, 0o640))

    def test_a_directory_that_exists_stays(self):
        """A shell may be in it, or a file system mounted on it."""
        (self.dir / "a").mkdir(mode=0o711)
        before = os.stat(self.path("a")).st_ino
        self.good("unpack", "-d", "a", "x")
        self.assertEqual((os.stat(self.path("a")).st_ino, sorted(os.listdir(self.dir / "a"))), (before, ["0000.npy", "values.jsonl"]))
        (self.dir / "b").mkdir()
        self.good("unpack", "-d", ".", "../x", cwd=self.dir / "b")
        self.assertEqual(sorted(os.listdir(self.dir / "b")), ["0000.npy", "values.jsonl"])

    def test_without_json(self):
        (self.dir / "old").mkdir()
        for name in ("new", "old"):
            self.good("unpack", "--no-json", "-d", name, "x")
            self.assertEqual(os.listdir(self.dir / name), ["0000.npy"])

    def test_links_stay(self):
        (self.dir / "a").mkdir(mode=0o711)
        os.symlink("a", self.path("link"))
        self.good("unpack", "-d", "link", "x")
        self.assertTrue((self.dir / "link").is_symlink())
        self.assertEqual((self.mode("a"), sorted(os.listdir(self.dir / "a"))), (0o711, ["0000.npy", "values.jsonl"]))

    def test_names(self):
        self.good("unpack", "-d", "a///", "x")
        self.good("unpack", "-d", self.path("b"), "x")
        self.good("unpack", "-d./c", "x")
        for name in "abc":
            self.assertEqual(len(os.listdir(self.dir / name)), 2)

    def test_directories_that_cannot_be_used(self):
        (self.dir / "full").mkdir()
        self.write("full/file", "keep")
        self.bad(2, "^evalue unpack: full: the directory is not empty$", "unpack", "-d", "full", "x")
        self.assertEqual(self.read("full/file"), b"keep")
        self.bad(2, "Not a directory", "unpack", "-d", "x", "x")
        self.bad(2, "No such file", "unpack", "-d", "no/such", "x")
        self.bad(2, "cannot create", "unpack", "-d", "", "x")
        self.bad(2, "cannot open", "unpack", "-d", "a", "nonesuch")
        self.assertFalse((self.dir / "a").exists())

    def test_bad_input_leaves_nothing(self):
        (self.dir / "empty").mkdir()
        self.bad(1, "^bad: offset 8: truncated", "unpack", "-d", "a", "bad")
        self.write("late", sequence(tensor("int8", [2], b"\1\2"), NONE, b"\7"))
        self.bad(1, "^late: offset 27: value 2: unsupported", "unpack", "--form=sequence", "-d", "a", "late")
        self.bad(1, "^late: offset 27", "unpack", "--form=sequence", "-d", "empty", "late")
        self.assertFalse((self.dir / "a").exists())
        self.assertEqual(os.listdir(self.dir / "empty"), [])

    def test_no_space(self):
        import resource
        self.write("large", message(tensor("int8", [100000], bytes(100000))))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))
        result = self.run_raw("unpack", "-d", "a", "large", preexec_fn=limit)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, b"0000.npy: cannot write: File too large")
        self.assertFalse((self.dir / "a").exists())


if __name__ == "__main__":
    unittest.main()
