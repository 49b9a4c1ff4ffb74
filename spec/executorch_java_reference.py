#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reference codec of ExecuTorch's Android bytes (executorch-java.md), and the maker of their golden vectors.

Written from executorch-java.md alone (and the wire format, where it points there), to be read beside it: the
decoder follows section 3 step by step, and slowness is accepted wherever it makes the code plainer. Needs
Python 3.8 or newer and nothing else.

    executorch_java_reference.py make DIR          write executorch_java_accepted.jsonl and _rejected.jsonl
    executorch_java_reference.py check DIR         verify these files, run every vector, and every line that
                                                   upstream's own classes wrote (DIR/executorch_java.jsonl)
    executorch_java_reference.py examples SPEC.md  run the examples of the specification in both directions
    executorch_java_reference.py decode [--release R] [--bare] [--allow trailing|bool|utf8]... FILE|-
    executorch_java_reference.py encode [--release R] [--bare] FILE|-        (--allow is taken, and ignored)

`decode` prints the value as a line of JSON, or the fault on stderr; where bytes follow that were allowed, it
says on stderr where the value ended. `encode` reads such a line and writes bytes to stdout. The exit status
is 0 for success and 1 for a fault. Without --release, it is any release.
"""

import argparse
import itertools
import json
import os
import re
import struct
import sys

# Constants of the format
# ----------------------------------------

NONE, TENSOR, STRING, DOUBLE, INT, BOOL = range(6)
MAX_NDIM = 16
MAX_BYTES = 2**31 - 1  # of a Java array
TOO_LARGE = 2**62  # every extent is below this
WAIVERS = ["trailing", "bool", "utf8"]
BEFORE_1_2 = (b"org.pytorch.executorch.EValue@", b"EValue@")  # what stood in place of a String

# Section 2. The key None is any release: the union.
RELEASES = ("0.5", "0.6", "0.7", "1.0", "1.1", "1.2", "1.3", "1.4")
NEW_SCALAR_TYPES = {
    "0.5": {0: "uint8", 1: "int8", 3: "int32", 4: "int64", 6: "float32", 7: "float64"},
    "1.1": {5: "float16"},
}
STRING_READABLE = (None, "1.2", "1.3", "1.4")
TABLES = {None: {}}
for _release in RELEASES:
    TABLES[None].update(NEW_SCALAR_TYPES.get(_release, {}))
    TABLES[_release] = dict(TABLES[None])

ELEMENT_SIZES = {  # of all scalar types that the wire format has
    "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float16": 2, "float32": 4, "float64": 8,
    "complex32": 4, "complex64": 8, "complex128": 16, "bool": 1, "qint8": 1, "quint8": 1, "qint32": 4,
    "bfloat16": 2, "quint4x2": 1, "quint2x4": 1, "bits1x8": 1, "bits2x4": 1, "bits4x2": 1, "bits8": 1,
    "bits16": 2, "float8_e5m2": 1, "float8_e4m3fn": 1, "float8_e5m2fnuz": 1, "float8_e4m3fnuz": 1,
    "uint16": 2, "uint32": 4, "uint64": 8,
}

STATUSES = {  # section 5, of a reader
    "no_value": "truncated", "field_short": "truncated", "unknown_java_tag": "unsupported",
    "string_before_1_2": "unsupported", "bad_bool": "malformed", "negative_length": "malformed",
    "java_too_long": "limit", "bad_utf8": "malformed", "unknown_dtype": "unsupported",
    "ndim_too_large": "malformed", "negative_size": "malformed", "extent_too_large": "malformed",
    "trailing_bytes": "malformed",
}

# Unicode, table 3-7: as many well-formed characters as there are.
WELL_FORMED = re.compile(
    rb"(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec][\x80-\xbf]{2}"
    rb"|\xed[\x80-\x9f][\x80-\xbf]|[\xee-\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}"
    rb"|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})*")


class Fault(Exception):
    """The first thing that is wrong with an input, or with a value that is to be written."""

    def __init__(self, fault, field, position, needed=None, value=0, status=None):
        super().__init__()
        self.status, self.field, self.fault = status or STATUSES[fault], field, fault
        self.position, self.value, self.needed = position, value, needed

    def __str__(self):
        needed = "" if self.needed is None else " needed=%d" % self.needed
        return "%s field=%s position=%d value=%d%s fault=%s" % (
            self.status, self.field, self.position, self.value, needed, self.fault)

    def as_json(self):
        keys = ("status", "field", "position", "value", "needed", "fault")
        return {key: getattr(self, key) for key in keys if getattr(self, key) is not None}


class BadValue(ValueError):
    """What is no value, no JSON, or no release."""


# Values: each is the object of the wire format's appendix B, without dim_order
# ----------------------------------------


def dump(thing):
    return json.dumps(thing, ensure_ascii=False, separators=(",", ":"))


def load(text):
    """JSON, but -0 keeps its sign, and NaN, Infinity (not JSON) and repeated keys are refused."""

    def refuse(word):
        raise BadValue("not JSON: %s" % word)

    def unrepeated(pairs):
        if len(dict(pairs)) != len(pairs):
            raise BadValue("a key stands twice")
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=unrepeated,
                      parse_int=lambda digits: -0.0 if digits == "-0" else int(digits))


def bool_value(value):
    return {"kind": "bool", "bool": value}


def int_value(number):
    return {"kind": "int", "int": str(number)}


def double_value(bits):
    value = {"kind": "double", "bits_hex": "%016x" % bits}
    if (bits >> 52) & 0x7FF != 0x7FF:
        value["double"] = struct.unpack(">d", struct.pack(">Q", bits))[0]
    return value


def string_value(data):
    value = {"kind": "string", "bytes_hex": data.hex()}
    try:
        value["string"] = data.decode("utf-8", "strict")
    except UnicodeDecodeError:
        pass
    return value


def tensor_value(scalar_type, sizes, data_le):
    return {"kind": "tensor", "scalar_type": scalar_type, "sizes": list(sizes), "data_hex_le": data_le.hex()}


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def extent(scalar_type, sizes):
    return ELEMENT_SIZES[scalar_type] * product(max(size, 1) for size in sizes)


def swap(data, size):
    """Every element the other way round."""
    return b"".join(data[at : at + size][::-1] for at in range(0, len(data), size))


def row_major(data, size, sizes, dim_order):
    """The elements of a tensor that is stored in dim_order, in the order of their indices."""
    strides, step = {}, 1
    for dimension in reversed(dim_order):
        strides[dimension] = step
        step *= sizes[dimension]
    result = []
    for index in itertools.product(*map(range, sizes)):
        at = size * sum(i * strides[dimension] for dimension, i in enumerate(index))
        result.append(data[at : at + size])
    return b"".join(result)


def require(condition, what):
    if not condition:
        raise BadValue(what)


def is_integer(thing):
    return isinstance(thing, int) and not isinstance(thing, bool)


def from_hex(text):
    require(isinstance(text, str) and re.fullmatch("(?:[0-9a-fA-F]{2})*", text), "not hex: %r" % (text,))
    return bytes.fromhex(text)


def normal_tensor(thing):
    name, sizes = thing.get("scalar_type"), thing.get("sizes")
    require(isinstance(name, str) and name in ELEMENT_SIZES, "no scalar type: %r" % (name,))
    require(isinstance(sizes, list) and all(map(is_integer, sizes)), "sizes are a list of integers")
    require(len(sizes) <= MAX_NDIM, "more than 16 dimensions")
    require(all(0 <= size < 2**31 for size in sizes), "size out of range")
    require(extent(name, sizes) < TOO_LARGE, "extent too large")
    straight = list(range(len(sizes)))
    dim_order = thing.get("dim_order", straight)
    require(isinstance(dim_order, list) and all(map(is_integer, dim_order)) and sorted(dim_order) == straight,
            "dim_order is no permutation")
    data = from_hex(thing.get("data_hex_le"))
    require(len(data) == ELEMENT_SIZES[name] * product(sizes), "the data has not the size that the sizes say")
    if dim_order != straight:
        data = row_major(data, ELEMENT_SIZES[name], sizes, dim_order)
    return tensor_value(name, sizes, data)


def normal(thing):
    """The one spelling of the value that a JSON object stands for; a tensor becomes row-major."""
    keys = {"none": "", "bool": "bool", "int": "int", "double": "bits_hex double",
            "string": "bytes_hex string", "tensor": "scalar_type sizes dim_order data_hex_le"}
    kind = thing.get("kind") if isinstance(thing, dict) else None
    require(isinstance(kind, str) and kind in keys, "not a value: %r" % (thing,))
    for key in thing:
        require(key == "kind" or key in keys[kind].split(), "unknown key %r" % key)
    if kind == "none":
        return {"kind": "none"}
    if kind == "bool":
        require(isinstance(thing.get("bool"), bool), "bool is neither true nor false")
        return bool_value(thing["bool"])
    if kind == "int":
        digits = thing.get("int")
        require(isinstance(digits, str) and re.fullmatch("0|-?[1-9][0-9]*", digits), "int is no decimal")
        require(-(2**63) <= int(digits) < 2**63, "int out of range")
        return int_value(int(digits))
    if kind == "tensor":
        return normal_tensor(thing)
    found = []
    if kind == "string":
        if "bytes_hex" in thing:
            found.append(from_hex(thing["bytes_hex"]))
        if "string" in thing:
            require(isinstance(thing["string"], str), "string is no string")
            found.append(thing["string"].encode("utf-8"))  # a lone surrogate is a ValueError
    else:
        if "bits_hex" in thing:
            found.append(from_hex(thing["bits_hex"]))
            require(len(found[0]) == 8, "bits_hex has not 16 digits")
        if "double" in thing:
            number = thing["double"]
            require(is_integer(number) or isinstance(number, float), "double is no number")
            require(abs(number) < 2**1023 * 2 - 2**969, "double is out of range")
            found.append(struct.pack(">d", number))
    require(found, "no %s" % kind)
    require(found[0] == found[-1], "two spellings of the %s disagree" % kind)
    return string_value(found[0]) if kind == "string" else double_value(int.from_bytes(found[0], "big"))


# Encoder (section 4)
# ----------------------------------------


def require_release(release):
    if release not in TABLES:
        raise BadValue("no such release: %s" % release)


def encode(thing, release=None, bare=False, limit=MAX_BYTES):
    """The bytes of a value. `limit` is there for the tests, which have no 2 GiB to spare."""
    require_release(release)
    value = normal(thing)
    kind = value["kind"]
    if kind == "tensor":
        return encode_tensor(value, release, bare, limit)
    require(not bare, "only a tensor can be bare")
    if kind == "none":
        return bytes([NONE])
    if kind == "bool":
        return bytes([BOOL, value["bool"]])
    if kind == "int":
        return bytes([INT]) + struct.pack(">q", int(value["int"]))
    if kind == "double":
        return bytes([DOUBLE]) + bytes.fromhex(value["bits_hex"])
    data = bytes.fromhex(value["bytes_hex"])
    if release not in STRING_READABLE:
        raise Fault("string_before_1_2", "tag", 0)
    if 5 + len(data) > limit:
        raise Fault("java_too_long", "length", 1)
    if "string" not in value:
        raise Fault("bad_utf8", "string", 5 + WELL_FORMED.match(data).end(), status="unsupported")
    return bytes([STRING]) + struct.pack(">i", len(data)) + data


def encode_tensor(value, release, bare, limit):
    codes = {name: code for code, name in TABLES[release].items()}
    name, sizes, data = value["scalar_type"], value["sizes"], bytes.fromhex(value["data_hex_le"])
    start = b"" if bare else bytes([TENSOR])
    if name not in codes:
        raise Fault("unknown_dtype", "scalar_type", len(start))
    header = start + bytes([codes[name], len(sizes)]) + struct.pack(">%di" % len(sizes), *sizes)
    if len(header) + len(data) > limit:
        raise Fault("java_too_long", "data", len(header))
    return header + swap(data, ELEMENT_SIZES[name])


# Decoder (section 3)
# ----------------------------------------


class Reader:
    def __init__(self, data, release, allow):
        self.data, self.position, self.release, self.allow = data, 0, release, allow

    def there(self, size):
        return size <= len(self.data) - self.position

    def take(self, field, size, needed=None, fault="field_short"):
        """The next bytes; if they are not there, so many bytes of input are needed at least."""
        start = self.position
        if not self.there(size):
            raise Fault(fault, field, start, start + size if needed is None else needed)
        self.position += size
        return self.data[start : self.position]


def decode(data, release=None, bare=False, allow=()):
    """The value, and where it ended."""
    require_release(release)
    reader = Reader(data, release, allow)
    value = read_tensor(reader) if bare else read_value(reader)
    if reader.position < len(data) and "trailing" not in allow:
        raise Fault("trailing_bytes", "trailing", reader.position, value=1)
    return value, reader.position


def read_value(reader):
    tag = reader.take("tag", 1, fault="no_value")[0]
    if tag > BOOL:
        raise Fault("unknown_java_tag", "tag", 0)
    if tag == STRING and reader.release not in STRING_READABLE:
        raise Fault("string_before_1_2", "tag", 0)
    if tag == NONE:
        return {"kind": "none"}
    if tag == BOOL:
        byte = reader.take("bool", 1)[0]
        if byte > 1 and "bool" not in reader.allow:
            raise Fault("bad_bool", "bool", 1)
        return bool_value(byte != 0)
    if tag == INT:
        return int_value(struct.unpack(">q", reader.take("int", 8))[0])
    if tag == DOUBLE:
        return double_value(struct.unpack(">Q", reader.take("double", 8))[0])
    return read_string(reader) if tag == STRING else read_tensor(reader)


def read_string(reader):
    length = struct.unpack(">i", reader.take("length", 4))[0]
    if length < 0:
        raise Fault("negative_length", "length", 1)
    if reader.position + length > MAX_BYTES:
        raise Fault("java_too_long", "length", 1)
    if not reader.there(length) and reader.data[1:].startswith(BEFORE_1_2):
        raise Fault("string_before_1_2", "length", 1)
    data = reader.take("string", length)
    well_formed = WELL_FORMED.match(data).end()
    if well_formed < length and "utf8" not in reader.allow:
        raise Fault("bad_utf8", "string", 5 + well_formed)
    return string_value(data)


def read_tensor(reader):
    code = reader.take("scalar_type", 1)[0]
    if code not in TABLES[reader.release]:
        raise Fault("unknown_dtype", "scalar_type", reader.position - 1)
    name = TABLES[reader.release][code]
    ndim = reader.take("ndim", 1)[0]
    if ndim > MAX_NDIM:
        raise Fault("ndim_too_large", "ndim", reader.position - 1)
    end_of_sizes, sizes = reader.position + 4 * ndim, []
    for _ in range(ndim):
        sizes.append(struct.unpack(">i", reader.take("size", 4, needed=end_of_sizes))[0])
        if sizes[-1] < 0:
            raise Fault("negative_size", "size", reader.position - 4)
        if extent(name, sizes) >= TOO_LARGE:
            raise Fault("extent_too_large", "size", reader.position - 4)
    size = ELEMENT_SIZES[name] * product(sizes)
    if reader.position + size > MAX_BYTES:
        raise Fault("java_too_long", "data", reader.position)
    return tensor_value(name, sizes, swap(reader.take("data", size), ELEMENT_SIZES[name]))


# Vectors. What they expect is written down or laid out here, never asked of the codec above.
# ----------------------------------------

PACK = {0: ("uint8", "B"), 1: ("int8", "b"), 3: ("int32", "i"), 4: ("int64", "q"), 5: ("float16", "H"),
        6: ("float32", "I"), 7: ("float64", "Q")}  # the floats are given by their bits
EXTREMES = {
    0: [0, 1, 127, 128, 255], 1: [-128, -1, 0, 1, 127], 3: [-(2**31), -1, 0, 1, 0x01020304, 2**31 - 1],
    4: [-(2**63), -1, 0, 1, 0x0102030405060708, 2**63 - 1],
    5: [0, 0x8000, 1, 0x03FF, 0x0400, 0x3C00, 0x7BFF, 0x7C00, 0xFC00, 0x7C01, 0x7E01, 0xFFFF],
    6: [0, 0x80000000, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001,
        0x7FC12345, 0xFFFFFFFF],
    7: [0, 1 << 63, 1, 2**52 - 1, 2**52, 0x3FF0000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000,
        0xFFF0000000000000, 0x7FF0000000000001, 0x7FF8123456789ABC, 2**64 - 1],
}
INTS = [0, 1, -1, 127, 128, 255, 256, -128, -129, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**62, -(2**63),
        2**63 - 1, 0x0102030405060708]
DOUBLES = EXTREMES[7] + [0xBFF0000000000000, 0x400921FB54442D18, 0x3FB999999999999A, 0x7FF8000000000000,
                         0xFFF8000000000000, 0xFFEFFFFFFFFFFFFF, 0x8000000000000001, 0x0102030405060708,
                         0xFFF0000000000001]
STRINGS = [
    "", "a", "h\u00e9", "\0", "a\0\0b", "\t\n\r\x1b\x7f", "?", "\"\\/'", "y" * 255, "z" * 256,
    "0123456789" * 30, "\x7f", "\u0080", "\u07ff", "\u0800", "\u0fff", "\u1000", "\ucfff", "\ud000", "\ud7ff",
    "\ue000", "\uf000", "\ufffd", "\ufffe", "\uffff", "\U00010000", "\U0003ffff", "\U00040000", "\U000fffff",
    "\U00100000", "\U0010ffff", "\ufeffx", "e\u0301 \u00e9", "\U0001f44b\U0001f30d", "\u2028\u2029",
    "a\u00e9\u4f60\U0001f44b" * 3, "org.pytorch.executorch.EValue@8bcc55f", "EValue@8bcc55f",
    "org.pytorch.executorch.EValue@", "x org.pytorch.executorch.EValue@1",
]
BAD_UTF8 = {  # by the offset of what begins no character
    # continuations alone; overlong; surrogates; above 10FFFF; never in UTF-8; cut; followed by something else
    0: "80 bf 80bf c0 c080 c0af c1bf e08080 e09fbf f0808080 f08fbfbf eda080 edafbf edb080 edbfbf eda081edb080"
       " f4908080 f4bfbfbf f5808080 f7bfbfbf f888808080 fc8480808080 fe ff fffe6100 c3 df e4 e4bd e0a0 f0"
       " f09f f09f91 f48fbf c341 c3c3a9 e4bd41 e4c3a9 f09f9141 f09fe4bda0",
    1: "00c080", 2: "c3a9a9", 3: "e4bda0bd ed9fbfeda080", 4: "f09f918b80 f48fbfbff4908080 63616665e9",
}
BAD_UTF8 = [(digits, offset) for offset, some in BAD_UTF8.items() for digits in some.split()]


def numbers(code, values):
    """Elements in both byte orders."""
    form = "%d%s" % (len(values), PACK[code][1])
    return struct.pack(">" + form, *values), struct.pack("<" + form, *values)


def payload(code, sizes, data=b""):
    return bytes([code, len(sizes)]) + struct.pack(">%di" % len(sizes), *sizes) + data


def text(data, length=None):
    return b"\2" + struct.pack(">i", len(data) if length is None else length) + data


def tensor(code, sizes, data=b""):
    return b"\1" + payload(code, sizes, data)


ONLY_FIELD = {
    "no_value": "tag", "unknown_java_tag": "tag", "bad_bool": "bool", "negative_length": "length",
    "bad_utf8": "string", "unknown_dtype": "scalar_type", "ndim_too_large": "ndim", "negative_size": "size",
    "extent_too_large": "size", "trailing_bytes": "trailing",
}


class Vectors:
    def __init__(self):
        self.accepted, self.rejected, self.names, self.inputs = [], [], set(), {}

    def begin(self, name, data, options):
        assert re.fullmatch("[a-z0-9_]+", name) and name not in self.names and len(data) <= 350, name
        self.names.add(name)
        options = {key: options[key] for key in ("release", "bare", "allow") if options.get(key)}
        return dict({"name": name, "hex": data.hex()}, **({"options": options} if options else {}))

    def accept(self, name, data, value, canonical=True, end=None, **options):
        vector = self.begin(name, data, options)
        vector["value"] = value
        if not canonical:
            vector["canonical"] = False
        if end is not None:
            vector["end"] = end
        self.put(self.accepted, vector)

    def reject(self, name, data, fault, *where, **options):
        """Where it is: the field, unless the fault has only one; the position; and what is needed."""
        if fault in ONLY_FIELD:
            where = (ONLY_FIELD[fault],) + where
        field, position, needed = (where + (None,))[:3]
        index = 1 if fault == "trailing_bytes" else 0
        assert (STATUSES[fault] == "truncated") == (needed is not None), name
        vector = self.begin(name, data, options)
        vector.update(Fault(fault, field, position, needed, index).as_json())
        self.put(self.rejected, vector)

    def put(self, vectors, vector):
        """An input that is there already is not wanted twice, but has to expect the same."""
        key, expected = (vector["hex"], dump(vector.get("options"))), dump(dict(vector, name=""))
        if key not in self.inputs:
            vectors.append(vector)
        assert self.inputs.setdefault(key, expected) == expected, vector

    def accept_tensor(self, name, code, sizes, data_be, data_le):
        value = tensor_value(PACK[code][0], sizes, data_le)
        self.accept(name, tensor(code, sizes, data_be), value)
        self.accept(name + "_bare", payload(code, sizes, data_be), value, bare=True)

    def prefixes(self, name, data, layout, **options):
        """Every strict prefix. The layout: each field, where it begins, what is needed if it is cut."""
        for size in range(len(data)):
            field, position, needed = [entry for entry in layout if entry[1] <= size][-1]
            fault = "no_value" if field == "tag" else "field_short"
            where = (position, needed) if field == "tag" else (field, position, needed)
            self.reject("%s_first_%d" % (name, size), data[:size], fault, *where, **options)


def accepted_kinds(v):
    v.accept("none", b"\0", {"kind": "none"})
    v.accept("bool_false", b"\5\0", bool_value(False))
    v.accept("bool_true", b"\5\1", bool_value(True))
    for number, n in enumerate(INTS):
        v.accept("int_%d" % number, b"\4" + struct.pack(">q", n), int_value(n))
    for number, bits in enumerate(DOUBLES):
        v.accept("double_%d" % number, b"\3" + struct.pack(">Q", bits), double_value(bits))
    for number, string in enumerate(STRINGS):
        data = string.encode("utf-8")
        value = {"kind": "string", "bytes_hex": data.hex(), "string": string}
        v.accept("string_%d" % number, text(data), value)


def accepted_tensors(v):
    for code, (name, _) in PACK.items():
        extremes = EXTREMES[code]
        v.accept_tensor(name + "_0d", code, [], *numbers(code, extremes[-1:]))
        v.accept_tensor(name + "_extremes", code, [len(extremes)], *numbers(code, extremes))
        v.accept_tensor(name + "_2x1x2", code, [2, 1, 2], *numbers(code, extremes[1:5]))
        v.accept_tensor(name + "_empty", code, [0], b"", b"")
        v.accept_tensor(name + "_2x0x3", code, [2, 0, 3], b"", b"")
    for ndim in range(17):
        v.accept_tensor("ndim_%d" % ndim, 3, [1] * ndim, *numbers(3, [0x0A0B0C00 + ndim]))
    v.accept_tensor("ndim_16_twos", 0, [1] * 10 + [2, 1, 2, 1, 2, 2], bytes(range(16)), bytes(range(16)))
    for name, code, sizes in (
        ("extent_one_below", 0, [0, 3, 715827883, 2147483647]),  # 2^62 - 1
        ("extent_largest_sizes", 0, [0, 2**31 - 1, 2**31 - 1]),
        ("extent_3_times_2_60", 0, [2**30, 2**30, 3, 0]),
        ("extent_int32", 3, [2**30, 0, 2**30 - 1]), ("extent_int64", 4, [2**30, 2**29 - 1, 0]),
        ("extent_float16", 5, [0, 2**30, 2**31 - 1]), ("extent_zeros_only", 7, [0] * 16),
        ("extent_zero_then_largest", 3, [0, 2**31 - 1]), ("extent_largest_then_zero", 6, [2**31 - 1, 0]),
    ):
        v.accept_tensor(name, code, sizes, b"", b"")


def release_vectors(v):
    """The same bytes for every release."""
    blobs = [("none", b"\0", {"kind": "none"}), ("bool", b"\5\1", bool_value(True)),
             ("int", b"\4" + b"\xff" * 8, int_value(-1)),
             ("double", b"\3\x3f\xf8" + bytes(6), double_value(0x3FF8 << 48))]
    for release in RELEASES:
        mark = "_release_" + release.replace(".", "_")
        for name, data, value in blobs:
            v.accept(name + mark, data, value, release=release)
        for code, (name, _) in PACK.items():
            be, le = numbers(code, EXTREMES[code][-2:])
            data, value = payload(code, [2], be), tensor_value(name, [2], le)
            for bare in (False, True):
                full, data_name = (data, name + mark + "_bare") if bare else (b"\1" + data, name + mark)
                if code == 5 and release in ("0.5", "0.6", "0.7", "1.0"):
                    v.reject(data_name, full, "unknown_dtype", 0 if bare else 1, release=release, bare=bare)
                else:
                    v.accept(data_name, full, value, release=release, bare=bare)
        for code in (2, 8, 11, 15, 30, 128, 255):
            v.reject("dtype_%d" % code + mark, bytes([1, code, 0]) + bytes(16), "unknown_dtype", 1,
                     release=release)
        frame = b"\2org.pytorch.executorch.EValue@8bcc55f"
        for name, data in (("string", text(b"h\xc3\xa9")), ("string_tag_alone", b"\2"),
                           ("string_frame", frame), ("string_negative", text(b"", -1)),
                           ("string_bad_utf8", text(b"\xff"))):
            if release < "1.2":
                v.reject(name + mark, data, "string_before_1_2", "tag", 0, release=release)
            elif name == "string":
                v.accept(name + mark, data, string_value(b"h\xc3\xa9"), release=release)
            else:
                expected = {"string_tag_alone": ("field_short", "length", 1, 5),
                            "string_frame": ("string_before_1_2", "length", 1),
                            "string_negative": ("negative_length", 1),
                            "string_bad_utf8": ("bad_utf8", 5)}[name]
                v.reject(name + mark, data, *expected, release=release)
        v.reject("empty" + mark, b"", "no_value", 0, 1, release=release)


def waiver_vectors(v):
    """Each case with every set of waivers: the first fault that is not waived is reported."""
    bool_2, t = ("bool", "bad_bool", 1), lambda position: ("trailing", "trailing_bytes", position)
    utf8 = lambda position: ("utf8", "bad_utf8", position)
    one, float_bytes = numbers(3, [1])[1], payload(6, [1], b"\x3f\x80\0\0")
    cases = [
        ("bool_02", b"\5\2", bool_value(True), [bool_2], False),
        ("bool_ff_more", b"\5\xff\0", bool_value(True), [bool_2, t(2)], False),
        ("bool_00_more", b"\5\0\2", bool_value(False), [t(2)], False),
        ("none_more", b"\0\5\2", {"kind": "none"}, [t(1)], False),
        ("int_more", b"\4" + bytes(7) + b"\7\7", int_value(7), [t(9)], False),
        ("double_more", b"\3" + bytes(9), double_value(0), [t(9)], False),
        ("string_more", text(b"a") + b"\xff", string_value(b"a"), [t(6)], False),
        ("string_ff", text(b"a\xff"), string_value(b"a\xff"), [utf8(6)], False),
        ("string_surrogate_more", text(b"\xed\xa0\x80") + b"xy", string_value(b"\xed\xa0\x80"),
         [utf8(5), t(8)], False),
        ("tensor_more", tensor(3, [1], b"\0\0\0\1") + b"\0", tensor_value("int32", [1], one), [t(11)], False),
        ("tensor_empty_more", tensor(3, [0]) + b"\0\0\0\1", tensor_value("int32", [0], b""), [t(7)], False),
        ("bare_more", float_bytes + bytes(4), tensor_value("float32", [1], b"\0\0\x80\x3f"), [t(10)], True),
        ("bool_01", b"\5\1", bool_value(True), [], False),
        ("string_good", text("h\u00e9".encode()), string_value("h\u00e9".encode()), [], False),
        ("bare_good", float_bytes, tensor_value("float32", [1], b"\0\0\x80\x3f"), [], True),
    ]
    for name, data, value, faults, bare in cases:
        for size in range(4):
            for allow in itertools.combinations(WAIVERS, size):
                options = {"bare": bare, "allow": list(allow)}
                full = "waiver_%s_%s" % (name, "_".join(allow) or "strict")
                left = [fault for fault in faults if fault[0] not in allow]
                if left:
                    v.reject(full, data, *left[0][1:], **options)
                else:
                    end = faults[-1][-1] if faults and faults[-1][0] == "trailing" else None
                    v.accept(full, data, value, not faults, end, **options)
    for byte in (3, 0x10, 0x7F, 0x80, 0x81, 0xFE, 0xFF):
        v.reject("bool_byte_%02x" % byte, bytes([5, byte]), "bad_bool", 1)
        v.accept("bool_byte_%02x_allowed" % byte, bytes([5, byte]), bool_value(True), False, allow=["bool"])
    for bad, _ in BAD_UTF8:
        value = {"kind": "string", "bytes_hex": bad}
        v.accept("utf8_%s_allowed" % bad, text(bytes.fromhex(bad)), value, False, allow=["utf8"])


def rejected_prefixes(v):
    v.reject("empty", b"", "no_value", 0, 1)
    v.reject("empty_all_waived", b"", "no_value", 0, 1, allow=WAIVERS)
    v.prefixes("bool", b"\5\1", [("tag", 0, 1), ("bool", 1, 2)])
    v.prefixes("int", b"\4" + bytes(range(8)), [("tag", 0, 1), ("int", 1, 9)])
    v.prefixes("double", b"\3" + bytes(range(8)), [("tag", 0, 1), ("double", 1, 9)])
    v.prefixes("double_all_waived", b"\3" + bytes(8), [("tag", 0, 1), ("double", 1, 9)], allow=WAIVERS)
    for name, data in (("string", b"h\xc3\xa9 \xf0\x9f\x91\x8b"), ("string_bad", b"\xff\xfe\xfd")):
        v.prefixes(name, text(data), [("tag", 0, 1), ("length", 1, 5), ("string", 5, 5 + len(data))])
    for name, code, sizes in (("int64_0d", 4, []), ("float32_1x2", 6, [1, 2]), ("uint8_5", 0, [5]),
                              ("float16_2x1x3", 5, [2, 1, 3]), ("float64_0x7", 7, [0, 7])):
        be, _ = numbers(code, list(range(1, 1 + product(sizes))))
        data, ndim = payload(code, sizes, be), len(sizes)
        for at in (0, 1):  # where the scalar type is
            layout = [("tag", 0, 1)] * at + [("scalar_type", at, at + 1), ("ndim", at + 1, at + 2)]
            layout += [("size", at + 2 + 4 * k, at + 2 + 4 * ndim) for k in range(ndim)]
            layout += [("data", at + 2 + 4 * ndim, at + len(data))]
            v.prefixes(name + ("" if at else "_bare"), b"\1" * at + data, layout, bare=not at)
    for name, frame, length in (("frame", b"org.pytorch.executorch.EValue@", 0x6F72672E),
                                ("frame_short", b"EValue@", 0x4556616C)):
        layout = [("tag", 0, 1), ("length", 1, 5), ("string", 5, 5 + length)]
        v.prefixes(name, b"\2" + frame, layout)
        whole = b"\2" + frame + b"8bcc55f\n\xff"
        for size in range(1 + len(frame), len(whole) + 1):
            v.reject("%s_of_%d" % (name, size), whole[:size], "string_before_1_2", "length", 1)
        v.reject(name + "_waived", whole, "string_before_1_2", "length", 1, allow=WAIVERS)
        for mark, other in (("hash", frame[:-1] + b"#8bcc55f"), ("upper", frame.upper() + b"1"),
                            ("evaluf", frame.replace(b"EValue", b"EValuf") + b"1")):
            needed = 5 + int.from_bytes(other[:4], "big")
            v.reject("%s_no_%s" % (name, mark), b"\2" + other, "field_short", "string", 5, needed)
        longer = text(frame, len(frame) + 1)
        v.reject(name + "_length_more", longer, "field_short", "string", 5, 5 + len(frame) + 1)
        v.reject(name + "_length_less", text(frame, len(frame) - 1), "trailing_bytes", 4 + len(frame))


def rejected_lengths(v):
    for size in (1, 2, 127, 255, 256, 300):
        data = b"q" * size
        v.reject("string_%d_less" % size, text(data, size - 1), "trailing_bytes", 4 + size)
        v.reject("string_%d_more" % size, text(data, size + 1), "field_short", "string", 5, 6 + size)
    v.reject("string_0_more", text(b"", 1), "field_short", "string", 5, 6)
    v.reject("string_little_endian", b"\2\1\0\0\0a", "field_short", "string", 5, 5 + 2**24)
    for length in (-1, -2, -256, -(2**31), -(2**31) + 1):
        v.reject("string_length_minus_%d" % -length, text(b"abc", length), "negative_length", 1)
    for length in (2**31 - 1 - 5 - 1, 2**31 - 1 - 5):  # 2^31 - 1 bytes in all are allowed
        for data in (b"", b"a", b"\xff"):
            name = "string_length_%d_%s" % (length, data.hex() or "none")
            v.reject(name, text(data, length), "field_short", "string", 5, 5 + length)
    for length in (2**31 - 5, 2**31 - 4, 2**31 - 3, 2**31 - 2, 2**31 - 1):
        v.reject("string_length_%d" % length, text(b"a", length), "java_too_long", "length", 1)
    for code, (name, letter) in PACK.items():
        be, _ = numbers(code, [1] * 6)
        width = len(be) // 6
        for at in (0, 1):
            mark, start = name + ("" if at else "_bare"), b"\1" * at
            head, bare = at + 10, not at
            for case, sizes, data in (("a_byte_less", [2, 3], be[:-1]), ("a_byte_more", [2, 3], be + b"\1"),
                                      ("1x3", [1, 3], be), ("2x2", [2, 2], be), ("0x3", [0, 3], be),
                                      ("2x0", [2, 0], be), ("3x3", [3, 3], be), ("2x4", [2, 4], be),
                                      ("large", [2**24, 3], be)):
                end = head + product(sizes) * width
                where = ("field_short", "data", head, end)
                if head + len(data) > end:
                    where = ("trailing_bytes", end)
                v.reject("%s_%s" % (mark, case), start + payload(code, sizes, data), *where, bare=bare)
            for ndim in (1, 16):  # the largest that a Java array can hold, and one element more
                header = at + 2 + 4 * ndim
                most = (2**31 - 1 - header) // width
                for add, short in ((0, ["field_short", "data", header, header + most * width]),
                                   (1, ["java_too_long", "data", header])):
                    v.reject("%s_%dd_most_plus_%d" % (mark, ndim, add),
                             start + payload(code, [1] * (ndim - 1) + [most + add]), *short, bare=bare)


def rejected_tags_and_types(v):
    for tag in range(6, 256):
        v.reject("tag_%d" % tag, bytes([tag]) + bytes(tag % 3), "unknown_java_tag", 0)
    v.reject("tag_6_all_waived", b"\6\0", "unknown_java_tag", 0, allow=WAIVERS)
    for code in set(range(256)) - set(PACK):
        v.reject("dtype_%d" % code, bytes([1, code, 0]) + bytes(16), "unknown_dtype", 1)
    for code in (2, 8, 9, 10, 11, 15, 27, 28, 29, 30, 127, 128, 255):
        v.reject("dtype_%d_bare" % code, bytes([code, 0]) + bytes(16), "unknown_dtype", 0, bare=True)
    for ndim in (17, 18, 32, 64, 127, 128, 129, 240, 254, 255):
        v.reject("ndim_%d_alone" % ndim, bytes([1, 6, ndim]), "ndim_too_large", 2)
        v.reject("ndim_%d_bare" % ndim, bytes([6, ndim]) + b"\0\0\0\1" * 3, "ndim_too_large", 1, bare=True)
        if ndim < 80:
            v.reject("ndim_%d_whole" % ndim, tensor(0, [1] * ndim, b"\7"), "ndim_too_large", 2)
    v.reject("ndim_17_all_waived", tensor(0, [1] * 17, b"\7"), "ndim_too_large", 2,
             allow=WAIVERS)


def rejected_sizes(v):
    negative, large = ("negative_size",), ("extent_too_large",)
    for ndim in (1, 2, 3, 16):
        for k in range(ndim):
            for size in (-1, -(2**31)):
                sizes = [2 if ndim < 16 else 1] * k + [size] + [1] * (ndim - 1 - k)
                name = "size_%d_of_%d_minus_%d" % (k, ndim, -size)
                v.reject(name, tensor(3, sizes, bytes(32)), *negative, 3 + 4 * k)
                v.reject(name + "_bare", payload(3, sizes, bytes(32)), *negative, 2 + 4 * k, bare=True)
    v.reject("size_negative_after_zero", tensor(0, [0, -1]), *negative, 7)
    v.reject("size_negative_twice", tensor(0, [-1, -1], b"\0"), *negative, 3)
    for name, code, sizes, k in (
        ("uint8_2_62", 0, [2**30, 2**30, 4], 2),
        ("uint8_2_62_zero_first", 0, [0, 2**30, 2**30, 4], 3),
        ("uint8_2_62_zero_after", 0, [2**30, 2**30, 4, 0], 2),
        ("int8_2_62", 1, [2**16, 2**16, 2**16, 2**14], 3), ("int32_2_62", 3, [2**30, 2**30], 1),
        ("int32_2_62_zeros", 3, [0, 2**30, 0, 2**30], 3), ("int32_2_64", 3, [2**16] * 4, 3),
        ("int64_2_62", 4, [2**30, 2**29, 0], 1), ("float16_2_62", 5, [2**30, 2, 2**30], 2),
        ("float32_largest", 6, [2**31 - 1, 2**31 - 1], 1), ("float64_2_62", 7, [2**30, 2**28, 1, 2, 1], 3),
        ("uint8_third_largest", 0, [2**31 - 1] * 16, 2),
        ("float64_ones_then", 7, [1] * 14 + [2**30, 2**29], 15),
    ):
        v.reject("extent_" + name, tensor(code, sizes), *large, 3 + 4 * k)
        v.reject("extent_" + name + "_bare", payload(code, sizes), *large, 2 + 4 * k, bare=True)
        v.reject("extent_" + name + "_cut", (tensor(code, sizes))[: 7 + 4 * k], *large, 3 + 4 * k)
    for name, code, sizes in (("uint8_largest", 0, [2**31 - 1] * 2),
                              ("uint8_3_times_2_60", 0, [2**30, 2**30, 3]), ("int32", 3, [2**30, 2**30 - 1]),
                              ("int64", 4, [2**30, 2**29 - 1])):
        v.reject("extent_below_" + name, tensor(code, sizes), "java_too_long", "data", 3 + 4 * len(sizes))


def rejected_utf8(v):
    for name, offset in BAD_UTF8:
        data = bytes.fromhex(name)
        for mark, before, after in (("", b"", b""), ("_after", "\u00e9z".encode(), b""),
                                    ("_before", b"", b"A"),
                                    ("_inside", "\U0001f44b".encode(), "\u4f60".encode())):
            v.reject("utf8_" + name + mark, text(before + data + after), "bad_utf8", 5 + len(before) + offset)
        v.reject("utf8_" + name + "_waived", text(data), "bad_utf8", 5 + offset, allow=["trailing", "bool"])
    good = b"abcdefghijklmnopqrstuvwx"
    for at in range(24):
        v.reject("utf8_at_%d" % at, text(good[:at] + b"\xff" + good[at + 1 :]), "bad_utf8", 5 + at)
        v.reject("utf8_from_%d" % at, text(good[:at] + b"\x80" + good[at:] + b"\x80"), "bad_utf8", 5 + at)
    v.reject("utf8_at_299", text(b"x" * 299 + b"\xc3"), "bad_utf8", 304)


def rejected_order(v):
    """Two things are wrong at once."""
    minus, huge, none = "ffffffff", "7fffffff", {}
    for name, hex_digits, expected, options in (
        ("tag_and_more", "0601020304", ("unknown_java_tag", 0), none),
        ("bool_and_more", "050200", ("bad_bool", 1), none),
        ("bool_waived_and_more", "050200", ("trailing_bytes", 2), {"allow": ["bool"]}),
        ("length_negative_and_short", "02" + minus, ("negative_length", 1), none),
        ("length_negative_and_cut", "02ffffff", ("field_short", "length", 1, 5), none),
        ("length_too_long_and_short", "02" + huge, ("java_too_long", "length", 1), none),
        ("string_short_and_ill_formed", "0200000003ff", ("field_short", "string", 5, 8), none),
        ("string_ill_formed_and_more", "0200000001ffff", ("bad_utf8", 5), none),
        ("string_character_cut_by_length", "0200000001c3a9", ("bad_utf8", 5), none),
        ("string_character_cut_waived", "0200000001c3a9", ("trailing_bytes", 6), {"allow": ["utf8"]}),
        ("string_old_waived", "02000000016161", ("string_before_1_2", "tag", 0),
         {"release": "1.1", "allow": WAIVERS}),
        ("string_old_and_empty", "02", ("string_before_1_2", "tag", 0), {"release": "1.1"}),
        ("dtype_and_no_ndim", "0102", ("unknown_dtype", 1), none),
        ("dtype_and_ndim", "01ffff", ("unknown_dtype", 1), none),
        ("dtype_and_size", "010201" + minus, ("unknown_dtype", 1), none),
        ("dtype_old_and_no_ndim", "0105", ("unknown_dtype", 1), {"release": "1.0"}),
        ("dtype_new_and_no_ndim", "0105", ("field_short", "ndim", 2, 3), {"release": "1.1"}),
        ("dtype_bare_and_no_ndim", "1e", ("unknown_dtype", 0), {"bare": True}),
        ("ndim_and_no_sizes", "010611", ("ndim_too_large", 2), none),
        ("ndim_and_negative", "010611" + minus, ("ndim_too_large", 2), none),
        ("ndim_16_and_no_sizes", "010610", ("field_short", "size", 3, 67), none),
        ("size_negative_and_no_more", "010602" + minus, ("negative_size", 3), none),
        ("size_negative_and_extent", "010403" + minus + huge * 2, ("negative_size", 3), none),
        ("size_extent_and_negative", "010403" + huge * 2 + minus, ("extent_too_large", 7), none),
        ("size_extent_and_no_more", "010403" + huge * 2, ("extent_too_large", 7), none),
        ("size_cut_that_looks_negative", "010601ffffff", ("field_short", "size", 3, 7), none),
        ("size_good_then_cut", "010603" + "00000002" + minus[:6], ("field_short", "size", 7, 15), none),
        ("size_too_long_then_negative", "010002" + huge + minus, ("negative_size", 7), none),
        ("size_too_long_then_cut", "010402" + huge, ("field_short", "size", 7, 11), none),
        ("size_too_long_then_zero", "010402" + huge + "0000000007", ("trailing_bytes", 11), none),
        ("data_too_long_and_some", "010401" + huge + "01", ("java_too_long", "data", 7), none),
        ("data_too_long_waived", "010401" + huge + "01", ("java_too_long", "data", 7), {"allow": WAIVERS}),
        ("data_short_waived", "01060100000001000000", ("field_short", "data", 7, 11), {"allow": WAIVERS}),
        ("value_as_bare", "0106" + "00000002" * 3 + "0000", ("field_short", "size", 14, 26), {"bare": True}),
        ("bare_and_tag_string", "02", ("unknown_dtype", 0), {"bare": True}),
        ("bare_size_negative_and_no_more", "0602" + minus, ("negative_size", 2), {"bare": True}),
        ("bare_more", "0600000000000000", ("trailing_bytes", 6), {"bare": True, "allow": ["bool"]}),
        ("value_read_as_bare", "0600000000", ("unknown_java_tag", 0), none),
        ("message", "4556414c010004000000000000000000", ("unknown_java_tag", 0), none),
        ("wire_int_element", "0408" + "00" * 15, ("trailing_bytes", 9), none),
    ):
        v.reject("order_" + name, bytes.fromhex(hex_digits), *expected, **options)


def make_vectors():
    v = Vectors()
    for make in (accepted_kinds, accepted_tensors, release_vectors, waiver_vectors, rejected_prefixes,
                 rejected_lengths, rejected_tags_and_types, rejected_sizes, rejected_utf8, rejected_order):
        make(v)
    return v


# Checks
# ----------------------------------------

ACCEPTED, REJECTED = "executorch_java_accepted.jsonl", "executorch_java_rejected.jsonl"
UPSTREAM = "executorch_java.jsonl"


def outcome(function, *arguments, **options):
    """What a function gives, or the text of its fault."""
    try:
        return function(*arguments, **options)
    except Fault as fault:
        return str(fault)


def check_accepted(vector):
    """What is wrong, or None."""
    data, options = bytes.fromhex(vector["hex"]), vector.get("options", {})
    where = {key: options[key] for key in ("release", "bare") if key in options}
    canonical = vector.get("canonical", True)
    found = outcome(decode, data, **options)
    if found != (vector["value"], vector.get("end", len(data))):
        return "gives %s" % (found,)
    if (outcome(encode, vector["value"], **where) == data) != canonical:
        return "encodes to %s" % outcome(encode, vector["value"], **where)
    if (outcome(decode, data, **where) == found) != canonical:
        return "depends on waivers, and should not, or should and does not"
    if outcome(decode, data, allow=WAIVERS, **where) != found:
        return "is another when more is waived"
    return None


def check_rejected(vector):
    data, options = bytes.fromhex(vector["hex"]), vector.get("options", {})
    try:
        return "gives %s" % (decode(data, **options),)
    except Fault as fault:
        expected = {key: vector[key] for key in vector if key not in ("name", "hex", "options")}
        if fault.as_json() != expected:
            return "gives %s" % fault
        last = fault.field in ("bool", "int", "double", "string", "data")
        if last and fault.needed is not None and fault.needed < 1000:
            whole = data + bytes(fault.needed - len(data))  # exactly what is needed, no byte more
            if outcome(decode, whole, **dict(options, allow=("bool", "utf8")))[1] != fault.needed:
                return "needs another number of bytes"
    return None


def check_upstream(line):
    """A line of what upstream's own classes write and refuse, in every release."""
    data = bytes.fromhex(line["hex"])
    if "value" not in line:
        if not all(isinstance(outcome(decode, data, release), str) for release in TABLES):
            return "is accepted"
        if line["expect"] == "reject" and not isinstance(outcome(decode, data, allow=("bool", "utf8")), str):
            return "is accepted with a rule waived"
        return None if line["expect"] in ("reject", "policy") else "expects what nobody knows"
    value, named = normal(line["value"]), {None}
    for source in line["same_bytes_in"]:
        named.add("1.4" if source == "main 2026-08" else source.replace("release ", "", 1))
    for release in TABLES:
        written, read = outcome(encode, value, release), outcome(decode, data, release)
        if release in named and (written, read) != (data, (value, len(data))):
            return "in %s is written as %s and read as %s" % (release, written, read)
        if release not in named and not (isinstance(written, str) and isinstance(read, str)):
            return "is not refused in %s" % release
    return None if named <= set(TABLES) else "names releases that nobody knows"


def check_writing():
    """What a writer refuses (section 4), and dim_order. These are no inputs, so they are no vectors."""
    refused = "unsupported field=%s position=%d value=0 fault=%s"
    too_long = "limit field=%s position=%d value=0 fault=java_too_long"
    cases = []
    for name, size in ELEMENT_SIZES.items():
        for release in TABLES:
            if name not in ("uint8", "int8", "int32", "int64", "float32", "float64") and not (
                    name == "float16" and release in (None, "1.1", "1.2", "1.3", "1.4")):
                for at in (0, 1):
                    cases.append((tensor_value(name, [], bytes(size)), {"release": release, "bare": not at},
                                  refused % ("scalar_type", at, "unknown_dtype")))
    for bad, offset in BAD_UTF8:
        for release in TABLES:
            old = release in ("0.5", "0.6", "0.7", "1.0", "1.1")
            cases.append(({"kind": "string", "bytes_hex": bad}, {"release": release},
                          refused % (("tag", 0, "string_before_1_2") if old else ("string", 5 + offset, "bad_utf8"))))
    for release in ("0.5", "0.6", "0.7", "1.0", "1.1"):
        cases.append((string_value(b""), {"release": release}, refused % ("tag", 0, "string_before_1_2")))
    two, good = tensor_value("uint8", [2], b"\1\2"), string_value(b"abcdef")
    square = {"kind": "tensor", "scalar_type": "float16", "sizes": [2, 3], "dim_order": [1, 0],
              "data_hex_le": "0a000b001a001b002a002b00"}
    cases += [
        (good, {"limit": 11}, text(b"abcdef")), (good, {"limit": 10}, too_long % ("length", 1)),
        (string_value(b"\xff" * 6), {"limit": 10}, too_long % ("length", 1)),
        (two, {"limit": 9}, tensor(0, [2], b"\1\2")), (two, {"limit": 8}, too_long % ("data", 7)),
        (two, {"limit": 8, "bare": True}, payload(0, [2], b"\1\2")),
        (two, {"limit": 7, "bare": True}, too_long % ("data", 6)),
        (tensor_value("bool", [2], b"\0\1"), {"limit": 1}, refused % ("scalar_type", 1, "unknown_dtype")),
        (square, {}, tensor(5, [2, 3], bytes.fromhex("000a001a002a000b001b002b"))),
    ]
    for value, options, expected in cases:
        if outcome(encode, value, **options) != expected:
            yield "writing %s %s gives %s" % (dump(value), options, outcome(encode, value, **options))
    for value, options in [(good, {"bare": True}), (good, {"release": "1.5"}), (good, {"release": "0.4"})] + [
            (value, {}) for value in (
                {"kind": "int", "int": str(2**63)}, {"kind": "int", "int": "01"}, {"kind": "list"},
                {"kind": "string"}, {"kind": "double", "bits_hex": "00"}, {"kind": "bool", "bool": 1},
                dict(good, bytes_hex="61"), dict(two, sizes=[3]), dict(two, sizes=[-2]),
                dict(two, sizes=[1] * 16 + [2]), dict(two, dim_order=[1]),
                dict(two, sizes=[0] + [2**31 - 1] * 3, data_hex_le=""))]:
        try:
            yield "writing %s %s gives %s" % (dump(value), options, outcome(encode, value, **options))
        except BadValue:
            pass


def check_coverage(markdown, rejected):
    """The vectors meet every row of the table of section 5, and nothing else."""
    rows = set()
    for line in re.search(r"(?ms)^## 5 .*?(?=^## 6)", markdown).group(0).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and cells[0] != "fault" and not cells[0].startswith("---"):
            rows.update((cells[0], cells[1], field) for field in cells[2].split(", "))
    met = {(vector["fault"], vector["status"], vector["field"]) for vector in rejected}
    for row in sorted(rows - met):
        yield "no vector for %s %s %s" % row
    for row in sorted(met - rows):
        yield "section 5 has no %s %s %s" % row


def file_bytes(vectors):
    return "".join(dump(vector) + "\n" for vector in vectors).encode("utf-8")


def load_lines(path):
    return [load(line) for line in read_file(path).decode("utf-8").split("\n") if line]


def run_example(lines):
    """What is wrong with an example (appendix A), or None."""
    words = lines[0].split()
    options, data, values, faults = {}, b"", [], []
    for word in words[1:]:
        key, _, setting = word.partition("=")
        if key == "allow":
            options.setdefault("allow", []).append(setting)
        else:
            options[key] = setting or True
    known = words[0] in ("accept", "reject") and set(options) <= {"bare", "release", "allow"}
    require(known, "does not say what it is")
    for line in lines[1:]:
        if line[:2] in ("= ", "! "):
            (values if line[0] == "=" else faults).append(line[2:])
            continue
        match = re.fullmatch("([0-9a-f]{2}(?: [0-9a-f]{2})*) {2,}(?:([0-9]+) {2,})?.+", line)
        require(match, "has a line that is no bytes: %r" % line)
        number = match.group(2)
        require(number in (None, str(len(data))), "numbers the byte %d with %s" % (len(data), number))
        data += bytes.fromhex(match.group(1))
    require((len(values), len(faults)) == ((1, 0) if words[0] == "accept" else (0, 1)), "has not one outcome")
    if faults:
        found = outcome(decode, data, **options)
        return None if found == faults[0] else "gives %s" % (found,)
    value = normal(load(values[0]))
    require(dump(value) == values[0], "does not write its value as appendix B does")
    vector = {"hex": data.hex(), "options": options, "value": value, "canonical": "allow" not in options}
    return check_accepted(vector)


# Command line
# ----------------------------------------


def read_file(path):
    if path == "-":
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


def complain(complaints):
    for complaint in complaints:
        print("executorch_java_reference.py: " + complaint, file=sys.stderr)
    return 1 if complaints else 0


def command_make(arguments):
    v = make_vectors()
    os.makedirs(arguments.path, exist_ok=True)
    for name, vectors in ((ACCEPTED, v.accepted), (REJECTED, v.rejected)):
        with open(os.path.join(arguments.path, name), "wb") as file:
            file.write(file_bytes(vectors))
        print("%s: %d vectors, %d bytes" % (name, len(vectors), len(file_bytes(vectors))))
    return 0


def command_check(arguments):
    v, complaints = make_vectors(), []
    paths = {name: os.path.join(arguments.path, name) for name in (ACCEPTED, REJECTED, UPSTREAM)}
    for name, vectors in ((ACCEPTED, v.accepted), (REJECTED, v.rejected)):
        if read_file(paths[name]) != file_bytes(vectors):
            complaints.append("%s is not what `make` writes" % paths[name])
    counts = []
    for name, check in ((ACCEPTED, check_accepted), (REJECTED, check_rejected), (UPSTREAM, check_upstream)):
        vectors = load_lines(paths[name])
        counts.append(len(vectors))
        results = ((vector["name"], check(vector)) for vector in vectors)
        complaints.extend("%s %s" % result for result in results if result[1] is not None)
    complaints.extend(check_writing())
    spec = os.path.join(os.path.dirname(os.path.abspath(__file__)), "executorch-java.md")
    complaints.extend(check_coverage(read_file(spec).decode("utf-8"), load_lines(paths[REJECTED])))
    if not complaints:
        print("%d accepted and %d rejected vectors and %d lines of upstream's are right" % tuple(counts))
    return complain(complaints)


def command_examples(arguments):
    complaints, markdown = [], read_file(arguments.path).decode("utf-8")
    examples = re.findall(r"(?ms)^```java +(.*?)^```$", markdown)
    for number, example in enumerate(examples, 1):
        try:
            complaint = run_example(example.splitlines())
        except BadValue as error:
            complaint = str(error)
        if complaint is not None:
            complaints.append("example %d (%s) %s" % (number, example.splitlines()[1], complaint))
    if not examples or len(examples) != len(re.findall("(?m)^```java", markdown)):
        complaints.append("%s has no examples, or some that are not whole" % arguments.path)
    print("%d examples" % len(examples))
    return complain(complaints)


def command_decode(arguments):
    data = read_file(arguments.path)
    value, end = decode(data, arguments.release, arguments.bare, arguments.allow)
    sys.stdout.buffer.write((dump(value) + "\n").encode("utf-8"))
    if end < len(data):
        print("end=%d" % end, file=sys.stderr)
    return 0


def command_encode(arguments):
    thing = load(read_file(arguments.path).decode("utf-8"))
    sys.stdout.buffer.write(encode(thing, arguments.release, arguments.bare))
    return 0


def main():
    parser = argparse.ArgumentParser(description="Reference codec of ExecuTorch's Android bytes.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    for name, run, path, what in (
        ("make", command_make, "DIR", "write the golden vectors into DIR"),
        ("check", command_check, "DIR", "verify the golden vectors in DIR"),
        ("examples", command_examples, "SPEC.md", "run the examples of the specification"),
        ("decode", command_decode, "FILE|-", "bytes to a line of JSON"),
        ("encode", command_encode, "FILE|-", "a line of JSON to bytes"),
    ):
        command = commands.add_parser(name, help=what)
        command.set_defaults(run=run)
        command.add_argument("path", metavar=path)
        if path == "FILE|-":
            command.add_argument("--release", choices=RELEASES, help="default: any")
            command.add_argument("--bare", action="store_true", help="a tensor without its tag")
            command.add_argument("--allow", action="append", choices=WAIVERS, default=[],
                                 help="a rule that is waived, of reading: for writing, none is")
    arguments = parser.parse_args()
    try:
        return arguments.run(arguments)
    except Fault as fault:
        print("! %s" % fault, file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:  # BadValue, bad JSON and bad UTF-8 are ValueErrors
        return complain([str(error)])


if __name__ == "__main__":
    sys.exit(main())
