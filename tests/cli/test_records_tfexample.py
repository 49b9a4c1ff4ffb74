# SPDX-License-Identifier: BSD-3-Clause
"""`evalue records` from-tfexample and to-tfexample: whole files, and where what is wrong is said to be."""
import os
import resource
import struct
import unittest

from records_support import RecordsTest, blobs, example, flip, floats, index_of, ints, record, split
from support import IS_SANITIZED, NONE, double, integer, message, string, tensor

FEATURES = ["--feature", "image:float32[2,2]", "--feature", "label:int", "--feature", "name:string?"]


def values(i):
    image = tensor("float32", [2, 2], struct.pack("<4f", i, 0.5, -1, 2))
    return message(image, integer(i), string(b"n%d" % i) if i % 2 else NONE)


def features(i, **more):
    names = {"name": blobs(b"n%d" % i)} if i % 2 else {}
    return example(image=floats(i, 0.5, -1, 2), label=ints(i), **names, **more)


class FromExamples(RecordsTest):
    def test_there_and_back(self):
        self.file("in", [features(i) for i in range(-3, 5)])
        self.exactly(0, "", "", "from-tfexample", *FEATURES, "--index", "in", "out")
        self.assertEqual(split(self.read("out")), [values(i) for i in range(-3, 5)])
        self.assertEqual(self.read("out.index"), index_of(self.read("out")))
        self.assertEqual(self.records("to-tfexample", *FEATURES, "out", "-"), self.read("in"))
        self.assertEqual(self.records("from-tfexample", *FEATURES, "-", "-", input=self.read("in")), self.read("out"))
        self.records("from-tfexample", *FEATURES, "in", "in")
        self.assertEqual(self.read("in"), self.read("out"))

    def test_other_features_and_alignment(self):
        self.file("in", [features(1, other=ints(1, 2, 3))])
        self.assertEqual(split(self.records("from-tfexample", *FEATURES, "--align=64", "in", "-")),
                         [message(tensor("float32", [2, 2], struct.pack("<4f", 1, 0.5, -1, 2)), integer(1), string(b"n1"), align=64)])

    def refused(self, pattern, data, **options):
        good = [features(i) for i in range(3)]
        self.file("in", good + [data] + good)
        at = len(b"".join(map(record, good)))
        self.fails(1, f"^in: record 3: offset {at}: example: {pattern}\n$", "from-tfexample", *FEATURES, "in", "out", **options)
        self.assertEqual(self.left(), [])
        result = self.run_raw("records", "from-tfexample", "--skip-bad", *FEATURES, "in", "out")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr.decode(), f"^in: left out 1 bad record; the first one: record 3: offset {at}: example: {pattern}\n$")
        self.assertEqual(split(self.read("out")), [values(i) for i in range(3)] * 2)
        os.remove(self.path("out"))

    def test_what_does_not_fit(self):
        self.refused('feature "label": unsupported: the example has no such feature: expected an Int64List, found no list', example(image=floats(1, 2, 3, 4)))
        self.refused('offset [0-9]+: feature "image": unsupported: the feature\'s list has another number of entries: expected 4, found 3', example(image=floats(1, 2, 3), label=ints(1)))
        self.refused('offset [0-9]+: feature "label": unsupported: the feature has a list of another kind: expected an Int64List, found a FloatList', example(image=floats(1, 2, 3, 4), label=floats(1)))
        self.refused('offset [0-9]+: feature "name": unsupported: the string is not well-formed UTF-8; the type bytes takes it: found the byte 0xff',
                 example(image=floats(1, 2, 3, 4), label=ints(1), name=blobs(b"\xff")))
        self.refused("offset 1: malformed: the field does not end inside the message that it is in.*", b"\x0a\x05")

    def test_bad_records(self):
        data = [features(i) for i in range(4)]
        at = len(b"".join(map(record, data[:1])))
        self.file("in", data)
        self.write("in", flip(self.read("in"), at + 14)[:-1])
        self.fails(1, f"^in: record 1: offset {at + 12}: corrupt: data: ", "from-tfexample", *FEATURES, "in", "out")
        result = self.run_raw("records", "from-tfexample", *FEATURES, "--skip-bad", "in", "-")
        self.assertEqual((result.returncode, split(result.stdout)), (0, [values(0), values(2)]))
        self.assertRegex(result.stderr.decode(), "^in: left out 2 bad records; the first one: record 1")

    def test_usage(self):
        for command in ["from-tfexample", "to-tfexample"]:
            for pattern, args in [("expected a --feature NAME:TYPE", ["in", "out"]), ("expected IN and OUT", ["--feature", "a:int", "in"]),
                                  ("--feature 'a:flat': at 2: ", ["--feature", "a:flat", "in", "out"]), ("--feature 'a': at ", ["--feature", "a", "in", "out"]),
                                  ('--feature: feature "a": misuse: two features have this name', ["--feature=a:int", "--feature=a:int", "in", "out"]),
                                  ("unexpected argument 'more'", ["in", "out", "more"]),
                                  ("--index needs the name of a file", ["--index", "--feature=a:int", "in", "-"])]:
                self.fails(2, f"^evalue records {command}: {pattern}", command, *args)
        self.fails(2, "unknown option '--round'", "from-tfexample", "--round", "in", "out")
        self.fails(2, "unknown option '--align'", "to-tfexample", "--align=1", "in", "out")
        self.fails(2, "^evalue records from-tfexample: nonesuch: cannot open", "from-tfexample", *FEATURES, "nonesuch", "out")
        self.assertEqual(self.left(), [])

    @unittest.skipIf(IS_SANITIZED, "a sanitizer needs more memory")
    def test_memory_is_constant(self):
        """300 MB of examples, there and back through 60 MB."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (60 << 20, 60 << 20))
        part = record(example(image=floats(*range(20000)), label=ints(7))) * 50
        with open(self.path("in"), "wb") as stream:
            for _ in range(75):
                stream.write(part)
        args = ["--feature", "image:float32[20000]", "--feature", "label:int"]
        self.records("from-tfexample", *args, "in", "out", preexec_fn=limit)
        self.records("check", "out", preexec_fn=limit)
        self.records("to-tfexample", *args, "out", "back", preexec_fn=limit)
        with open(self.path("in"), "rb") as first, open(self.path("back"), "rb") as second:
            while part := first.read(1 << 20):
                self.assertEqual(part, second.read(1 << 20))
            self.assertEqual(second.read(), b"")


class ToExamples(RecordsTest):
    def refused(self, pattern, data, *more):
        self.file("in", [values(0), data, values(2)])
        at = len(record(values(0)))
        self.fails(1, f"^in: record 1: offset {at}: {pattern}\n$", "to-tfexample", *FEATURES, *more, "in", "out")
        self.assertEqual(self.left(), [])
        result = self.run_raw("records", "to-tfexample", "--skip-bad", *FEATURES, "in", "-")
        self.assertEqual((result.returncode, split(result.stdout)), (0, [features(0), features(2)]))
        self.assertRegex(result.stderr.decode(), f"^in: left out 1 bad record; the first one: record 1: offset {at}: {pattern}\n$")

    def test_what_does_not_fit(self):
        image = tensor("float32", [2, 2], bytes(16))
        self.refused("unsupported: expected 3 values, one for each feature, found 2", message(image, integer(1)))
        self.refused("unsupported: expected 3 values, one for each feature, found 4", message(image, integer(1), NONE, NONE))
        self.refused('feature "label": unsupported: the value is not of the feature\'s kind: expected Int, found None', message(image, NONE, NONE))
        self.refused('feature "image": dimension 1: unsupported: the tensor has not the feature\'s sizes: expected 2, found 3', message(tensor("float32", [2, 3], bytes(24)), integer(1), NONE))
        self.refused("message: offset 0: malformed: magic: .*", b"hello hello hello hello hello")
        self.refused("malformed: the record is empty, so it holds no message: expected a message, found no byte", b"")

    def test_rounding(self):
        self.file("in", [message(double(0.1))])
        self.fails(1, '^in: record 0: offset 0: feature "d": unsupported: the number is no float32, and a FloatList has no others: found 0.1\n$', "to-tfexample", "--feature=d:double", "in", "out")
        self.assertEqual(split(self.records("to-tfexample", "--round", "--feature=d:double", "in", "-")), [example(d=floats(0.1))])


if __name__ == "__main__":
    unittest.main()
