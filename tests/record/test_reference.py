# SPDX-License-Identifier: BSD-3-Clause
"""The library and the command against spec/records_reference.py, which was written from the specification alone: each reads what the other has written, good or bad.
What the library writes has to be the reference's bytes."""
import random
import re
import struct
import sys
import unittest

from support import ROOT, RecordTest, program, references

records, reference = references()
REFERENCE = ROOT / "spec" / "records_reference.py"


# ---- random records ----


def random_tensor(chance, most):
    scalar_type = chance.randrange(len(reference.SCALAR_TYPES))
    sizes = [chance.choice([0, 1, 1, 2, 3, 5, 17]) for _ in range(chance.choice([0, 1, 1, 2, 3, 4, 16]))]
    while reference.data_size(scalar_type, sizes) > most:
        sizes.remove(max(sizes))
    dim_order = chance.sample(range(len(sizes)), len(sizes))
    return reference.Tensor(scalar_type, tuple(sizes), tuple(dim_order), chance.randbytes(reference.data_size(scalar_type, sizes)))


def random_value(chance, most):
    kind = chance.randrange(8)
    if kind == 0:
        return reference.NoneValue()
    if kind == 1:
        return reference.Bool(chance.random() < 0.5)
    if kind == 2:
        return reference.Int(chance.getrandbits(64) - 2**63 >> chance.randrange(64))
    if kind == 3:
        return reference.Double(chance.choice([0, 2**63, 0x7FF8000000000000, 0x7FF0000000000001, chance.getrandbits(64)]))
    if kind == 4:
        return reference.String(chance.choice(["héllo €\x00".encode(), chance.randbytes(chance.randrange(most))]))
    return random_tensor(chance, most)


def random_values(chance, most=3000):
    return [random_value(chance, most) for _ in range(chance.choice([0, 1, 2, 3, 7]))]


def text_of(chance, nbytes):
    """One value whose message has just so many bytes."""
    return [reference.String(chance.randbytes(nbytes - reference.HEADER_SIZE - reference.ELEMENT_HEADER_SIZE))]


def bytes_of(chance, nbytes):
    """One tensor whose message has about so many bytes."""
    return [reference.Tensor(reference.SCALAR_CODE["uint8"], (nbytes,), (0,), chance.randbytes(nbytes))]


class Peers(RecordTest):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(self.id())

    # ---- the reference's side ----

    def reference_lines(self, *arguments, code=0):
        return self.run_program(sys.executable, "-B", REFERENCE, *arguments, code=code).splitlines()

    def expected_scan(self, messages):
        """What the reference has to print of a good file."""
        at, lines = 0, []
        for message in messages:
            values = [reference.value_to_json(value) for value in reference.decode(message, "message").values]
            lines.append("= %d %d %s" % (at, len(message) + 16, reference.dump(values)))
            at += len(message) + 16
        return lines + ["~ records=%d skipped=0 end" % len(messages)]

    def check_file(self, name, messages):
        """The reference's program reads these messages, and their index, from a file; and the bytes are those that it writes."""
        self.assertEqual((self.dir / name).read_bytes(), records.file_of(messages))
        self.assertEqual(self.reference_lines("scan", name), self.expected_scan(messages))

    def check_index(self, name, index):
        self.assertEqual((self.dir / index).read_text(), "".join(line + "\n" for line in self.reference_lines("index", name)))

    # ---- the library's side ----

    def write(self, name, things, *options):
        """Writes with the library: of a list its values, of bytes these. Returns what it says was cut."""
        data = b""
        for thing in things:
            body = reference.encode_message(thing) if isinstance(thing, list) else thing
            data += (b"v" if isinstance(thing, list) else b"b") + struct.pack("<Q", len(body)) + body
        (self.dir / "in").write_bytes(data)
        with open(self.dir / "in", "rb") as stdin:
            lines = self.run_program(program("records"), "write", name, *options, stdin=stdin).splitlines()
        self.assertEqual(len(lines), len(things) + 1)
        return [int(line) for line in lines[:-1]], int(lines[-1].split()[1])

    def put(self, name, data):
        (self.dir / name).write_bytes(data)
        return data


class Written(Peers):
    """What the library writes."""

    def test_many_values(self):
        for alignment in 1, 16, 64, 4096:
            for buffer in 1, 700, 0:
                with self.subTest(alignment=alignment, buffer=buffer):
                    examples = [random_values(self.chance) for _ in range(25)]
                    messages = [reference.encode_message(values, alignment) for values in examples]
                    offsets, _ = self.write("f", examples, f"align={alignment}", f"buffer={buffer}", "index=f.idx", "flush=4")
                    self.check_file("f", messages)
                    self.check_index("f", "f.idx")
                    self.assertEqual("".join(f"{at} {len(m) + 16}\n" for at, m in zip(offsets, messages)), (self.dir / "f.idx").read_text())

    def test_sizes_of_messages(self):
        examples = [[], [reference.NoneValue()], text_of(self.chance, 50000), bytes_of(self.chance, 3 << 20), text_of(self.chance, 1 << 20), []]
        messages = [reference.encode_message(values) for values in examples]
        self.assertEqual([len(m) for m in messages[:3]], [24, 33, 50000])
        self.write("f", examples, "index=f.idx")
        self.check_file("f", messages)
        self.check_index("f", "f.idx")

    def test_sizes_of_bytes(self):
        """Bytes that are no messages: the reference reads them as records."""
        sizes = [0, 1, 2, 3, 7, 8, 9, 23, 24, 25, 63, 64, 65, 4095, 4096, 50000, 0, 0, (1 << 20) + 1]
        things = [self.chance.randbytes(size) for size in sizes]
        self.write("f", things, "index=f.idx", "buffer=4096")
        self.assertEqual((self.dir / "f").read_bytes(), records.file_of(things))
        lines = self.reference_lines("scan", "--form", "records", "f")
        self.assertEqual([line.split()[3] for line in lines[:-1]], [thing.hex() or "-" for thing in things])
        self.assertEqual(lines[-1], f"~ records={len(sizes)} skipped=0 end")
        self.check_index("f", "f.idx")

    def test_no_records(self):
        self.write("f", [], "index=f.idx")
        self.check_file("f", [])
        self.check_index("f", "f.idx")

    def test_appending_behind_every_torn_end(self):
        """A file that was cut anywhere in its last two records keeps those that are whole, and gets more."""
        first = [reference.encode_message(random_values(self.chance, 30)) for _ in range(2)] + [b"", b"x"]
        more = [[reference.Int(7)], random_values(self.chance, 30)]
        messages = [reference.encode_message(values) for values in more]
        whole, start = records.file_of(first), len(records.file_of(first[:-2]))
        for cut in range(start, len(whole) + 1):
            kept, _, _ = records.read(self.put("f", whole[:cut]), "records")
            there = records.file_of([data for _, data in kept])
            self.assertEqual(self.write("f", more, "append", "index=f.idx")[1], cut - len(there))
            self.assertEqual((self.dir / "f").read_bytes(), there + records.file_of(messages))
            found, _, fault = records.read((self.dir / "f").read_bytes(), "records")
            self.assertEqual(([data for _, data in found], fault), ([data for _, data in kept] + messages, None))
            self.assertEqual((self.dir / "f.idx").read_text(), records.write_index(found))

    def test_appending_many_times(self):
        """A large file grows, is torn, and grows on."""
        messages, expected = [], b""
        for i in range(8):
            examples = [random_values(self.chance, 30000) for _ in range(self.chance.randrange(5))]
            _, cut = self.write("f", examples, "append", f"buffer={self.chance.choice([1, 5000, 0])}", "index=f.idx")
            messages += [reference.encode_message(values) for values in examples]
            expected = records.file_of(messages)
            self.assertEqual((self.dir / "f").read_bytes(), expected)
            self.check_index("f", "f.idx")
            torn = records.frame(self.chance.randbytes(2000))[:self.chance.randrange(2016)]
            self.put("f", expected + torn)
        self.assertEqual(self.write("f", [[]], "append")[1], len(torn))
        self.check_file("f", messages + [reference.encode_message([])])


class Command(Peers):
    """What the command makes."""

    def make(self, count, most=300):
        examples = [random_values(self.chance, most) for _ in range(count)]
        messages = [reference.encode_message(values) for values in examples]
        self.put("f", records.file_of(messages))
        return examples, messages

    def shards(self, stem, count):
        return ["%s-%05d-of-%05d.tfrecord" % (stem, i, count) for i in range(count)]

    def test_create(self):
        """From JSON Lines and NumPy arrays, to one file and to shards."""
        rows = 23
        values = [random_value(self.chance, 500) for _ in range(rows)]
        (self.dir / "a.jsonl").write_text("".join(reference.dump(reference.value_to_json(value)) + "\n" for value in values))
        pixels = [self.chance.randbytes(12) for _ in range(rows)]
        header = f"{{'descr': '<i2', 'fortran_order': False, 'shape': ({rows}, 2, 3), }}"
        header = header.ljust(117) + "\n"
        self.put("b.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + b"".join(pixels))
        messages = [reference.encode_message([value, reference.Tensor(reference.SCALAR_CODE["int16"], (2, 3), (0, 1), data)], 64) for value, data in zip(values, pixels)]
        fields = ["--json", "a.jsonl", "--tensor", "b.npy", "--align", "64", "--index"]
        self.evalue("records", "create", "-o", "f", *fields)
        self.check_file("f", messages)
        self.check_index("f", "f.index")
        self.evalue("records", "create", "-o", "g.tfrecord", "--shards", "4", *fields)
        for i, name in enumerate(self.shards("g", 4)):
            self.check_file(name, messages[i::4])
            self.check_index(name, name + ".index")

    def test_index(self):
        self.make(40)
        self.evalue("records", "index", "f")
        self.check_index("f", "f.index")
        self.put("f.index", "".join(line + "\n" for line in self.reference_lines("index", "f")).encode())
        self.evalue("records", "index", "--check", "f")

    def test_shards_and_the_way_back(self):
        _, messages = self.make(40)
        self.evalue("records", "shard", "--shards", "7", "--index", "-o", "s.tfrecord", "f")
        names = self.shards("s", 7)
        for i, name in enumerate(names):
            self.check_file(name, messages[i::7])
            self.check_index(name, name + ".index")
        self.evalue("records", "merge", "--interleave", "--index", "-o", "back", *names)
        self.check_file("back", messages)
        self.check_index("back", "back.index")
        self.evalue("records", "merge", "--index", "-o", "one", *names)
        self.check_file("one", [message for i in range(7) for message in messages[i::7]])
        self.check_index("one", "one.index")

    def test_a_thousand_shards(self):
        """More than there are records, and than files may be open."""
        _, messages = self.make(400, 40)
        self.evalue("records", "shard", "--shards", "1000", "--index", "-o", "s.tfrecord", "f")
        for i, name in enumerate(self.shards("s", 1000)):
            data = (self.dir / name).read_bytes()
            self.assertEqual(data, records.file_of(messages[i::1000]))
            self.assertEqual((self.dir / (name + ".index")).read_text(), records.write_index(records.read(data, "heads")[0]))

    def test_show(self):
        """And what the reference has written is what the command shows."""
        examples, _ = self.make(40)
        shown = [reference.load(line) for line in self.evalue("records", "show", "--json", "f").splitlines()]
        self.assertEqual([list(map(reference.value_from_json, line["values"])) for line in shown], examples)
        self.assertEqual([line["offset"] for line in shown], [at for at, _ in records.read((self.dir / "f").read_bytes(), "messages")[0]])
        self.evalue("records", "check", "f")


class Read(Peers):
    """What the library reads of files that the reference has written."""

    def read(self, names, *options):
        """For each file: (OFFSET, SIZE, DATA) of its records, how many were skipped, and the fault as a dict of texts, or None."""
        files, found = [], []
        out = self.run_program(program("records"), "read", *options, *names)
        for line in out.splitlines():
            if line.startswith("= "):
                offset, size, data = line[2:].split(" ")
                found.append((int(offset), int(size), bytes.fromhex(data)))
                continue
            count, skipped, *fault = line[2:].split(" ")
            self.assertEqual(int(count), len(found))
            files.append((found, int(skipped), dict(pair.split("=") for pair in fault) or None))
            found = []
        self.assertEqual(len(files), len(names))
        return files

    def check_fault(self, given, expected, context, without=()):
        if expected is None or given is None:
            self.assertEqual(given, expected and expected.json, context)
            return
        wanted = {key: str(number) for key, number in expected.json.items() if key not in without}
        self.assertEqual({key: given[key] for key in wanted}, wanted, context)

    def check_read(self, files, messages=False, skip=False, max_record=None, data_crc=True):
        """Both sides read the same of each file: the same records, the same number that was skipped, the same fault."""
        names = [f"f{i}" for i in range(len(files))]
        for name, data in zip(names, files):
            self.put(name, data)
        options = ["messages"] * messages + ["skip"] * skip + ["ignore"] * (not data_crc) + ([f"max={max_record}"] if max_record else [])
        for given, data in zip(self.read(names, *options), files):
            found, skipped, fault = records.read(data, "messages" if messages else "records", skip, max_record, data_crc)
            if messages:
                expected = [(0, 0, reference.encode_message(reference.decode(content, "message").values)) for _, content in found]
            else:
                expected = [(at, len(content) + 16, content) for at, content in found]
            context = f"{options} {data[:3000].hex()}"
            self.assertEqual(given[0], expected, context)
            self.assertEqual(given[1], skipped, context)
            self.check_fault(given[2], fault, context)

    def random_file(self, most=60):
        """Messages for the most part, of any alignment, and what is none."""
        contents = []
        for _ in range(self.chance.randrange(6)):
            align = 1 << self.chance.randrange(9)
            message = reference.encode_message(random_values(self.chance, most), align)
            contents.append(self.chance.choice([message] * 6 + [b"", b"x", message[:-1], message + b"\0"]))
        return records.file_of(contents)

    def damage(self, data):
        """A file that somebody has changed."""
        chance, at = self.chance, self.chance.randrange(len(data) + 1)
        found = records.read(data, "heads")[0]
        record = chance.choice(found)[0] if found else 0
        length = chance.choice([0, 1, len(data), 2**32, 2**61, 2**62 - 1, 2**62, 2**63, 2**64 - 16, 2**64 - 1, chance.getrandbits(64)])
        return chance.choice([
            lambda: data[:at],
            lambda: data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1:] if at < len(data) else data,
            lambda: data[:at] + chance.randbytes(chance.randrange(20)) + data[at:],
            lambda: data[:at] + data[at + chance.randrange(20):],
            lambda: data[:at] + bytes(chance.randrange(40)) + data[at + 40:],
            lambda: data[:record] + records.frame(b"", length)[:12] + data[record + 12:],
            lambda: data + records.frame(b"", length)[:chance.randrange(17)],
            lambda: data + data[:at],
            lambda: data[record:] + data[:at],
        ])()

    def test_good_files(self):
        sizes = [0, 1, 24, 50000, 3 << 20, 0, 1]
        files = [b"", records.file_of([self.chance.randbytes(size) for size in sizes])]
        files += [records.file_of([reference.encode_message(random_values(self.chance), 1 << i % 13) for _ in range(20)]) for i in range(13)]
        self.check_read(files)
        self.check_read(files[2:], messages=True)

    def test_large_messages(self):
        files = [records.file_of([reference.encode_message(values) for values in ([], text_of(self.chance, 50000), bytes_of(self.chance, 3 << 20), [reference.Int(7)])])]
        self.check_read(files, messages=True)
        self.check_read(files, messages=True, skip=True, max_record=49999)

    def test_damaged_files(self):
        files = []
        for i in range(600):
            data = self.damage(self.random_file())
            files.append(self.damage(data) if i % 3 == 0 else data)
        for messages in False, True:
            for skip in False, True:
                self.check_read(files, messages, skip)
                self.check_read(files, messages, skip, max_record=70)
                self.check_read(files[::4], messages, skip, data_crc=False)

    def test_by_index(self):
        """Good indices, shuffled ones, and changed ones, over good and changed files."""
        ways = set()
        for i in range(150):
            data = self.random_file()
            lines = records.write_index(records.read(data, "heads")[0]).splitlines(keepends=True)
            if i % 3 != 0:
                lines = self.chance.choices(lines, k=len(lines))
            text = bytearray("".join(lines).encode())
            if i % 4 == 1 and text:
                text[self.chance.randrange(len(text))] = self.chance.choice(b"0123456789 \n-x")
            if i % 4 == 2:
                text += b"%d %d\n" % (self.chance.choice([0, 2**64 - 8, 2**63, len(data)]), self.chance.choice([15, 16, 17, 2**64 - 1]))
            if i % 5 == 3:
                data = self.damage(data)
            self.put("f", data)
            self.put("i", bytes(text))
            found, _, fault = records.read_by_index(data, bytes(text))
            lines = self.run_program(program("records"), "at", "f", "i").splitlines()
            self.assertEqual(lines[:-1], ["= %d %d %s" % (at, len(content) + 16, content.hex()) for at, content in found], (data, text))
            given = dict(pair.split("=") for pair in lines[-1].split(" ")[3:]) or None
            self.check_fault(given, fault, (data, text), ["offset"])
            ways.add(fault and fault.json["fault"])
        self.assertLessEqual({None, "index_line", "index_entry"}, ways)

    def test_by_index_with_a_limit(self):
        """Section 7: the length's CRC, its size, the caller's limit, and only then whether the entry is as large as the record."""
        data = records.file_of([bytes(10), bytes(200), bytes(10)])
        flipped = bytes([data[26] ^ 1]) + data[27:]
        for changed, at, size, status, fault in (
            (data, 26, 216, "limit", "record_too_large"), (data, 26, 26, "limit", "record_too_large"), (data, 0, 242, "malformed", "index_entry"),
            (data, 0, len(data), "malformed", "index_entry"), (flipped, 26, 216, "corrupt", "record_length_crc"),
        ):
            self.put("f", changed)
            self.put("i", b"%d %d\n" % (at, size))
            line, = self.run_program(program("records"), "at", "f", "i", "max=100").splitlines()
            with self.subTest(at=at, size=size):
                self.assertEqual(re.findall("(?:status|fault)=([^ ]+)", line), [status, fault])


if __name__ == "__main__":
    unittest.main()
