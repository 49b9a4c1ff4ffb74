# SPDX-License-Identifier: BSD-3-Clause
"""tf.Examples that protobuf's own library made, and what it makes of ours: the conversion in src/tfexample/tfexample.h against python3-protobuf, whose messages come
from src/tfexample/tfexample.proto through protoc when the tests run. EValue messages are read and written by spec/reference.py, so that neither side is ours alone."""
import importlib.util
import os
import pathlib
import random
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory
except ImportError:
    message = None

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()
CC = shlex.split(os.environ.get("CC", "cc"))
SANITIZERS = shlex.split(os.environ.get("SANITIZERS", ""))
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Werror"]
OK, MALFORMED, UNSUPPORTED = 0, 3, 4
FLOAT32, FLOAT64, INT64, UINT8, INT16 = 6, 7, 4, 0, 2

FEATURES = ["image:float32[2,3]", "wide:float64[?]", "ids:int64[?]", "pixels:uint8[2,2]", "raw:int16[?]:raw", "label:int", "name:string", "blob:bytes", "score:double",
            "flag:bool", "empty:float32[0]", "left out:int?"]


def load_reference():
    spec = importlib.util.spec_from_file_location("reference", ROOT / "spec" / "reference.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["reference"] = module
    spec.loader.exec_module(module)
    return module


def load_example(directory):
    """The class of tf.Example, made from the .proto file."""
    path = directory / "example.bin"
    subprocess.run(["protoc", f"--proto_path={ROOT / 'src' / 'tfexample'}", f"--descriptor_set_out={path}", "tfexample.proto"], check=True)
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes()).file:
        pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("tensorflow.Example"))


def tensor(reference, scalar_type, sizes, form, numbers):
    return reference.Tensor(scalar_type, tuple(sizes), tuple(range(len(sizes))), struct.pack(f"<{len(numbers)}{form}", *numbers))


@unittest.skipIf(message is None or shutil.which("protoc") is None, "needs protoc and protobuf's Python library")
class Peer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="evalue-tfexample-"))
        cls.program = cls.dir / "convert"
        sources = [str(HERE / "convert.c"), *map(str, sorted((ROOT / "src" / "tfexample").glob("tfexample_*.c")))]
        subprocess.run([*CC, *FLAGS, *SANITIZERS, f"-I{ROOT}/include", *sources, str(BUILD / "libevalue.a"), "-lprotobuf-nanopb", "-o", str(cls.program)], check=True)
        cls.reference = load_reference()
        cls.Example = load_example(cls.dir)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def convert(self, how, features, records):
        """Runs the program over records; returns (status, bytes) for each."""
        data = b"".join(struct.pack("<I", len(r)) + r for r in records)
        out = subprocess.run([str(self.program), how, *features], input=data, stdout=subprocess.PIPE, check=True).stdout
        results, position = [], 0
        while position < len(out):
            (size,) = struct.unpack_from("<I", out, position)
            results.append((out[position + 4], out[position + 5 : position + 4 + size]))
            position += 4 + size
        self.assertEqual(len(results), len(records))
        return results

    def values(self, result):
        self.assertEqual(result[0], OK, result[1])
        decoded = self.reference.decode(result[1], "message")
        self.assertIsNone(decoded.fault)
        return decoded.values

    def parse(self, record):
        """The example, or None if protobuf does not take it all; without what it has to say on stderr."""
        saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                example = self.Example.FromString(record)
            return example if not caught else None
        except message.DecodeError:
            return None
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            os.close(null)

    def random_example(self, chance):
        example = self.Example()
        feature = example.features.feature

        def real():
            return struct.unpack("<f", struct.pack("<f", chance.uniform(-1000, 1000)))[0]

        feature["image"].float_list.value.extend(real() for _ in range(6))
        feature["wide"].float_list.value.extend(real() for _ in range(chance.randrange(9)))
        feature["ids"].int64_list.value.extend(chance.getrandbits(chance.randrange(1, 65)) - (1 << 63) for _ in range(chance.randrange(9)))
        feature["pixels"].int64_list.value.extend(chance.randrange(256) for _ in range(4))
        feature["raw"].bytes_list.value.append(chance.randbytes(2 * chance.randrange(5)))
        feature["label"].int64_list.value.append(chance.randrange(-(1 << 63), 1 << 63))
        feature["name"].bytes_list.value.append("héllo €"[: chance.randrange(8)].encode())
        feature["blob"].bytes_list.value.append(chance.randbytes(chance.randrange(300)))
        feature["score"].float_list.value.append(real())
        feature["flag"].int64_list.value.append(chance.randrange(2))
        feature["empty"].float_list.SetInParent()
        return example

    def expected(self, example):
        """The values of a random example."""
        r, feature = self.reference, example.features.feature
        wide, ids, raw = list(feature["wide"].float_list.value), list(feature["ids"].int64_list.value), feature["raw"].bytes_list.value[0]
        return [
            tensor(r, FLOAT32, [2, 3], "f", feature["image"].float_list.value),
            tensor(r, FLOAT64, [len(wide)], "d", wide),
            tensor(r, INT64, [len(ids)], "q", ids),
            tensor(r, UINT8, [2, 2], "B", feature["pixels"].int64_list.value),
            r.Tensor(INT16, (len(raw) // 2,), (0,), raw),
            r.Int(feature["label"].int64_list.value[0]),
            r.String(feature["name"].bytes_list.value[0]),
            r.String(feature["blob"].bytes_list.value[0]),
            r.Double(struct.unpack("<Q", struct.pack("<d", feature["score"].float_list.value[0]))[0]),
            r.Bool(feature["flag"].int64_list.value[0] == 1),
            r.Tensor(FLOAT32, (0,), (0,), b""),
            r.NoneValue(),
        ]

    def test_what_protobuf_wrote(self):
        chance = random.Random(1)
        examples = [self.random_example(chance) for _ in range(300)]
        results = self.convert("decode", FEATURES, [e.SerializeToString() for e in examples])
        for example, result in zip(examples, results):
            self.assertEqual(self.values(result), self.expected(example))

    def test_what_protobuf_reads(self):
        chance = random.Random(2)
        examples = [self.random_example(chance) for _ in range(300)]
        messages = [self.reference.encode_message(self.expected(e)) for e in examples]
        for example, (status, data) in zip(examples, self.convert("encode", FEATURES, messages)):
            self.assertEqual(status, OK, data)
            self.assertEqual(self.Example.FromString(data), example)

    def test_the_same_bytes(self):
        """With the features in the order of their names, which is that of protobuf's deterministic form."""
        chance = random.Random(3)
        order = sorted(range(len(FEATURES)), key=lambda i: FEATURES[i].split(":")[0].encode())
        examples = [self.random_example(chance) for _ in range(100)]
        messages = [self.reference.encode_message([self.expected(e)[i] for i in order]) for e in examples]
        for example, (status, data) in zip(examples, self.convert("encode", [FEATURES[i] for i in order], messages)):
            self.assertEqual(status, OK, data)
            self.assertEqual(data, example.SerializeToString(deterministic=True))

    def test_concatenated_examples(self):
        """protobuf merges messages whose bytes stand one behind the other; entries of the map replace each other."""
        chance = random.Random(4)
        pairs = [(self.random_example(chance), self.random_example(chance)) for _ in range(100)]
        records = [one.SerializeToString() + other.SerializeToString() for one, other in pairs]
        for record, result in zip(records, self.convert("decode", FEATURES, records)):
            self.assertEqual(self.values(result), self.expected(self.Example.FromString(record)))

    def test_damaged_examples(self):
        """What protobuf takes is decoded to its values, or it does not fit; what is decoded is what protobuf reads, if it takes it."""
        chance = random.Random(5)
        records = []
        for _ in range(6000):
            data = bytearray(self.random_example(chance).SerializeToString())
            for _ in range(chance.randrange(1, 4)):
                at = chance.randrange(len(data))
                data[at : at + chance.randrange(2)] = chance.randbytes(chance.randrange(3))
            records.append(bytes(data))
        counts = {OK: 0, MALFORMED: 0, UNSUPPORTED: 0}
        for record, (status, data) in zip(records, self.convert("decode", FEATURES, records)):
            counts[status] += 1
            example = self.parse(record)
            if example is None:
                continue
            self.assertNotEqual(status, MALFORMED, data)
            if status == OK:
                names = [n for n in example.features.feature if n == "left out"]
                self.assertEqual(names, [])
                self.assertEqual(self.values((status, data)), self.expected(example))
        self.assertTrue(all(n > 100 for n in counts.values()), counts)


if __name__ == "__main__":
    unittest.main()
