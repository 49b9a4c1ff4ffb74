# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of `evalue records` share: the framing of record files and tf.Examples, written anew (records spec, section 2)."""
import io
import struct

import numpy

from support import CliTest, integer, message, string, tensor


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc_table()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def split(file):
    """The data of all records of a file, whose checksums have to be good."""
    found, at = [], 0
    while at < len(file):
        size, = struct.unpack_from("<Q", file, at)
        data = file[at + 12:at + 12 + size]
        if file[at:at + 16 + size] != record(data):
            raise AssertionError(f"no record at {at}")
        found.append(data)
        at += 16 + size
    return found


def index_of(file):
    lines, at = [], 0
    for data in split(file):
        lines.append(b"%d %d\n" % (at, len(data) + 16))
        at += len(data) + 16
    return b"".join(lines)


def flip(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def npy(array):
    stream = io.BytesIO()
    numpy.save(stream, array)
    return stream.getvalue()


# ---- tf.Examples ----

def varint(number):
    number &= (1 << 64) - 1
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def floats(*numbers):
    return field(2, field(1, struct.pack(f"<{len(numbers)}f", *numbers)))


def ints(*numbers):
    return field(3, field(1, b"".join(map(varint, numbers))))


def blobs(*entries):
    return field(1, b"".join(field(1, entry) for entry in entries))


def example(**features):
    return field(1, b"".join(field(1, field(1, name.encode()) + field(2, value)) for name, value in features.items()))


class RecordsTest(CliTest):
    def some(self, count, start=0):
        """Records of three values each, of different sizes."""
        return [message(tensor("int16", [i % 3, 2], bytes(range(i % 3 * 4))), integer(i), string(b"s" * (i % 7)))
                for i in range(start, start + count)]

    def file(self, name, messages):
        return self.write(name, b"".join(map(record, messages)))

    def records(self, *args, **options):
        return self.good("records", *args, **options)

    def fails(self, code, pattern, *args, **options):
        return self.bad(code, pattern, "records", *args, **options)

    def exactly(self, code, out, err, *args, **options):
        result = self.run_raw("records", *args, **options)
        self.assertEqual((result.returncode, result.stdout.decode(), result.stderr.decode()), (code, out, err))

    def left(self):
        """The names of all files, but those that begin with in."""
        return sorted(path.name for path in self.dir.iterdir() if path.is_file() and not path.name.startswith("in"))
