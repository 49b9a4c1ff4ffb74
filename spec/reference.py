#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reference codec of the EValue wire format 1.0, and the maker of its golden vectors.

Written from evalue-wire-format-1.0.md alone, to be read beside it: the decoder follows the order of
judgement of section 12.2 step by step, and slowness is accepted wherever it makes the code plainer.
Needs Python 3.8 or newer and nothing else.

    reference.py make DIR            write accepted.jsonl and rejected.jsonl into DIR
    reference.py check DIR           verify that DIR holds exactly these files, and run every vector
    reference.py examples SPEC.md    run the examples of the specification in both directions
    reference.py decode [--form message|sequence|value] FILE|-
    reference.py encode [--form message|sequence|value] [--align N] FILE|-

`decode` prints the values as JSON, one a line, and then the fault, if any, on stderr. `encode` reads
such lines and writes bytes to stdout. The exit status is 0 for success and 1 for a fault.
"""

import argparse
import itertools
import json
import os
import re
import struct
import sys
from dataclasses import dataclass
from typing import List, Optional, Tuple

# ---------------------------------------------------------------------------------------------------
# Constants of the format
# ---------------------------------------------------------------------------------------------------

TOO_LARGE = 2**62  # every length, every count and every extent is below this
HEADER_SIZE = 24
ELEMENT_HEADER_SIZE = 9  # tag and length
SMALLEST_ELEMENT = 9
MAX_NDIM = 16
MAX_ALIGNMENT_LOG2 = 12
MAGIC = b"EVAL"

NONE, TENSOR, STRING, DOUBLE, INT, BOOL = range(6)
KNOWN_VALUES = (NONE, TENSOR, STRING, DOUBLE, INT, BOOL)
PAD = 128  # tags above it are ancillary, tags below it have to be known
FIXED_LENGTH = {NONE: 0, DOUBLE: 8, INT: 8, BOOL: 1}

SCALAR_TYPES = [  # (name, element size); the code is the index
    ("uint8", 1), ("int8", 1), ("int16", 2), ("int32", 4), ("int64", 8), ("float16", 2),
    ("float32", 4), ("float64", 8), ("complex32", 4), ("complex64", 8), ("complex128", 16),
    ("bool", 1), ("qint8", 1), ("quint8", 1), ("qint32", 4), ("bfloat16", 2), ("quint4x2", 1),
    ("quint2x4", 1), ("bits1x8", 1), ("bits2x4", 1), ("bits4x2", 1), ("bits8", 1), ("bits16", 2),
    ("float8_e5m2", 1), ("float8_e4m3fn", 1), ("float8_e5m2fnuz", 1), ("float8_e4m3fnuz", 1),
    ("uint16", 2), ("uint32", 4), ("uint64", 8),
]
SCALAR_CODE = {name: code for code, (name, _) in enumerate(SCALAR_TYPES)}

# Section 12.3. Where two statuses stand, the first is a message's and the second a sequence's.
FAULTS = {
    "header_short": (("truncated",), ("magic", "major", "minor", "alignment", "flags", "body_length", "count")),
    "bad_magic": (("malformed",), ("magic",)),
    "bad_major": (("unsupported",), ("major",)),
    "bad_alignment": (("malformed",), ("alignment",)),
    "bad_flags": (("unsupported",), ("flags",)),
    "body_too_large": (("malformed",), ("body_length",)),
    "body_short": (("truncated",), ("body_length",)),
    "count_too_large": (("malformed",), ("count",)),
    "count_wrong": (("malformed",), ("count",)),
    "trailing_bytes": (("malformed",), ("trailing",)),
    "unknown_tag": (("unsupported",), ("tag",)),
    "element_short": (("malformed", "truncated"), ("length",)),
    "length_wrong": (("malformed",), ("length",)),
    "length_too_large": (("malformed",), ("length",)),
    "length_past_end": (("malformed", "truncated"), ("length",)),
    "bad_bool": (("malformed",), ("bool",)),
    "unknown_scalar_type": (("unsupported",), ("scalar_type",)),
    "ndim_too_large": (("malformed",), ("ndim",)),
    "tensor_short": (("malformed",), ("length",)),
    "negative_size": (("malformed",), ("size",)),
    "extent_too_large": (("malformed",), ("size",)),
    "dim_order_range": (("malformed",), ("dim_order",)),
    "dim_order_repeated": (("malformed",), ("dim_order",)),
    "data_length": (("malformed",), ("length",)),
    "pad_missing": (("malformed",), ("tag",)),
    "pad_too_large": (("malformed",), ("length",)),
    "pad_not_zero": (("malformed",), ("pad",)),
    "pad_misplaced": (("malformed",), ("tag",)),
    "pad_not_needed": (("malformed",), ("tag",)),
    "pad_length_wrong": (("malformed",), ("length",)),
    "limit_bytes": (("limit",), ("body_length", "trailing")),
    "limit_values": (("limit",), ("count", "tag")),
    "no_value": (("truncated",), ("tag",)),
}


def status_of(fault, form):
    statuses = FAULTS[fault][0]
    return statuses[0] if form == "message" else statuses[-1]


# ---------------------------------------------------------------------------------------------------
# Values
# ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoneValue:
    pass


@dataclass(frozen=True)
class Bool:
    value: bool


@dataclass(frozen=True)
class Int:
    value: int


@dataclass(frozen=True)
class Double:
    bits: int  # the 64 bits of the number: a Python float would not keep every NaN


@dataclass(frozen=True)
class String:
    data: bytes


@dataclass(frozen=True)
class Tensor:
    scalar_type: int
    sizes: Tuple[int, ...]
    dim_order: Tuple[int, ...]
    data: bytes


def element_size(scalar_type):
    return SCALAR_TYPES[scalar_type][1]


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def extent(scalar_type, sizes):
    """Section 4.1: in bytes, each zero counted as one."""
    return element_size(scalar_type) * product(max(size, 1) for size in sizes)


def data_size(scalar_type, sizes):
    return element_size(scalar_type) * product(sizes)


def pad_length(position, ndim, has_data, alignment):
    """Section 7: the length of the Pad at `position` before such a tensor, or None for no Pad."""
    d = position + 9 + 2 + 5 * ndim
    if not has_data or d % alignment == 0:
        return None
    return -(d + 9) % alignment


# ---------------------------------------------------------------------------------------------------
# Values as JSON (appendix B)
# ---------------------------------------------------------------------------------------------------


class BadValue(ValueError):
    """A value that cannot be written, or JSON that is no value."""


def dump(thing):
    return json.dumps(thing, ensure_ascii=False, separators=(",", ":"))


def load(text):
    """JSON, but -0 keeps its sign, and NaN and Infinity, which are not JSON, and repeated keys are refused."""

    def refuse(word):
        raise BadValue("not JSON: %s" % word)

    def integer(digits):
        return -0.0 if digits == "-0" else int(digits)

    def unrepeated(pairs):
        if len({key for key, _ in pairs}) != len(pairs):
            raise BadValue("a key stands twice")
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, parse_int=integer, object_pairs_hook=unrepeated)


def is_finite(bits):
    return (bits >> 52) & 0x7FF != 0x7FF


def bits_of(number):
    return struct.unpack("<Q", struct.pack("<d", number))[0]


def number_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def value_to_json(value):
    if isinstance(value, NoneValue):
        return {"kind": "none"}
    if isinstance(value, Bool):
        return {"kind": "bool", "bool": value.value}
    if isinstance(value, Int):
        return {"kind": "int", "int": str(value.value)}
    if isinstance(value, Double):
        result = {"kind": "double", "bits_hex": "%016x" % value.bits}
        if is_finite(value.bits):
            result["double"] = number_of(value.bits)
        return result
    if isinstance(value, String):
        result = {"kind": "string", "bytes_hex": value.data.hex()}
        try:
            result["string"] = value.data.decode("utf-8", "strict")
        except UnicodeDecodeError:
            pass
        return result
    return {
        "kind": "tensor",
        "scalar_type": SCALAR_TYPES[value.scalar_type][0],
        "sizes": list(value.sizes),
        "dim_order": list(value.dim_order),
        "data_hex_le": value.data.hex(),
    }


JSON_KEYS = {  # kind: keys besides "kind"
    "none": (),
    "bool": ("bool",),
    "int": ("int",),
    "double": ("bits_hex", "double"),
    "string": ("bytes_hex", "string"),
    "tensor": ("scalar_type", "sizes", "dim_order", "data_hex_le"),
}


def is_integer(thing):
    return isinstance(thing, int) and not isinstance(thing, bool)


def hex_to_bytes(text):
    if not isinstance(text, str) or not re.fullmatch("(?:[0-9a-fA-F]{2})*", text):
        raise BadValue("not hex: %r" % (text,))
    return bytes.fromhex(text)


def agree(one, other, what):
    """Of two spellings of one thing at least one stands, and they do not contradict each other."""
    if one is None and other is None:
        raise BadValue("no %s" % what)
    if one is not None and other is not None and one != other:
        raise BadValue("two spellings of the %s disagree" % what)
    return other if one is None else one


def double_from_json(thing):
    from_bits = from_number = None
    if "bits_hex" in thing:
        raw = hex_to_bytes(thing["bits_hex"])
        if len(raw) != 8:
            raise BadValue("bits_hex has not 16 digits")
        from_bits = int.from_bytes(raw, "big")
    if "double" in thing:
        number = thing["double"]
        if not is_integer(number) and not isinstance(number, float):
            raise BadValue("double is no number")
        try:
            from_number = bits_of(float(number))
        except OverflowError:
            raise BadValue("double is out of range")
        if not is_finite(from_number):
            raise BadValue("double is out of range")
    return Double(agree(from_bits, from_number, "double"))


def string_from_json(thing):
    from_hex = from_text = None
    if "bytes_hex" in thing:
        from_hex = hex_to_bytes(thing["bytes_hex"])
    if "string" in thing:
        if not isinstance(thing["string"], str):
            raise BadValue("string is no string")
        try:
            from_text = thing["string"].encode("utf-8", "strict")
        except UnicodeEncodeError:
            raise BadValue("string has a lone surrogate")
    return String(agree(from_hex, from_text, "string"))


def tensor_from_json(thing):
    sizes = thing.get("sizes")
    if not isinstance(sizes, list):
        raise BadValue("no sizes")
    dim_order = thing.get("dim_order", list(range(len(sizes))))
    if not isinstance(dim_order, list) or not all(map(is_integer, sizes + dim_order)):
        raise BadValue("sizes and dim_order are lists of integers")
    scalar_type = thing.get("scalar_type")
    if not isinstance(scalar_type, str) or scalar_type not in SCALAR_CODE:
        raise BadValue("unknown scalar type %r" % (scalar_type,))
    data = hex_to_bytes(thing.get("data_hex_le"))
    return Tensor(SCALAR_CODE[scalar_type], tuple(sizes), tuple(dim_order), data)


def value_from_json(thing):
    """The value that a JSON object (as Python's json gives it) stands for."""
    if not isinstance(thing, dict) or not isinstance(thing.get("kind"), str) or thing["kind"] not in JSON_KEYS:
        raise BadValue("not a value: %r" % (thing,))
    kind = thing["kind"]
    for key in thing:
        if key != "kind" and key not in JSON_KEYS[kind]:
            raise BadValue("unknown key %r" % key)
    if kind == "none":
        return NoneValue()
    if kind == "bool":
        if not isinstance(thing.get("bool"), bool):
            raise BadValue("bool is neither true nor false")
        return Bool(thing["bool"])
    if kind == "int":
        if not isinstance(thing.get("int"), str) or not re.fullmatch("0|-?[1-9][0-9]*", thing["int"]):
            raise BadValue("int is no decimal number in a string")
        value = Int(int(thing["int"]))
    elif kind == "double":
        value = double_from_json(thing)
    elif kind == "string":
        value = string_from_json(thing)
    else:
        value = tensor_from_json(thing)
    require_writable(value)
    return value


# ---------------------------------------------------------------------------------------------------
# Encoder
# ---------------------------------------------------------------------------------------------------


def u64(number):
    return number.to_bytes(8, "little")


def i32(number):
    return number.to_bytes(4, "little", signed=True)


def i64(number):
    return number.to_bytes(8, "little", signed=True)


def require_writable(value):
    if isinstance(value, Int) and not -(2**63) <= value.value < 2**63:
        raise BadValue("Int out of range")
    if isinstance(value, Double) and not 0 <= value.bits < 2**64:
        raise BadValue("Double has not 64 bits")
    if isinstance(value, Tensor):
        ndim = len(value.sizes)
        if not 0 <= value.scalar_type < len(SCALAR_TYPES):
            raise BadValue("unknown scalar type")
        if ndim > MAX_NDIM:
            raise BadValue("more than 16 dimensions")
        if not all(0 <= size < 2**31 for size in value.sizes):
            raise BadValue("size out of range")
        if extent(value.scalar_type, value.sizes) >= TOO_LARGE:
            raise BadValue("extent too large")
        if sorted(value.dim_order) != list(range(ndim)):
            raise BadValue("dim_order is no permutation")
        if len(value.data) != data_size(value.scalar_type, value.sizes):
            raise BadValue("the data has not the size that the sizes say")


def encode_payload(value):
    """The tag and the payload of a value."""
    if isinstance(value, NoneValue):
        return NONE, b""
    if isinstance(value, Bool):
        return BOOL, b"\x01" if value.value else b"\x00"
    if isinstance(value, Int):
        return INT, i64(value.value)
    if isinstance(value, Double):
        return DOUBLE, u64(value.bits)
    if isinstance(value, String):
        return STRING, value.data
    metadata = bytes([value.scalar_type, len(value.sizes)])
    metadata += b"".join(i32(size) for size in value.sizes)
    metadata += bytes(value.dim_order)
    return TENSOR, metadata + value.data


def encode_element(tag, payload):
    return bytes([tag]) + u64(len(payload)) + payload


def encode_elements(values, start, alignment):
    """The elements of a sequence, or of a body, whose first byte has the position `start`."""
    parts = []
    position = start
    for value in values:
        require_writable(value)
        if isinstance(value, Tensor):
            length = pad_length(position, len(value.sizes), len(value.data) > 0, alignment)
            if length is not None:
                parts.append(encode_element(PAD, bytes(length)))
                position += len(parts[-1])
        parts.append(encode_element(*encode_payload(value)))
        position += len(parts[-1])
    return b"".join(parts)


def encode_sequence(values):
    return encode_elements(values, 0, 1)


def encode_message(values, alignment=16):
    if alignment not in [2**log2 for log2 in range(MAX_ALIGNMENT_LOG2 + 1)]:
        raise BadValue("the alignment is no power of two from 1 to 4096")
    body = encode_elements(values, HEADER_SIZE, alignment)
    small = bytes([1, 0, alignment.bit_length() - 1, 0])
    return MAGIC + small + u64(len(body)) + u64(len(values)) + body


def encode(values, form, alignment=16):
    return encode_message(values, alignment) if form == "message" else encode_sequence(values)


# ---------------------------------------------------------------------------------------------------
# Decoder
# ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    status: str
    field: str
    position: int
    value: Optional[int]  # the value index
    needed: Optional[int]  # for "truncated" only
    fault: str  # the label

    def __str__(self):
        """As in the examples of the specification."""
        text = "%s field=%s position=%d" % (self.status, self.field, self.position)
        if self.value is not None:
            text += " value=%d" % self.value
        if self.needed is not None:
            text += " needed=%d" % self.needed
        return text + " fault=" + self.fault


class Stop(Exception):
    """The first fault was found."""

    def __init__(self, fault):
        super().__init__(str(fault))
        self.fault = fault


@dataclass(frozen=True)
class Options:
    allow_trailing: bool = False
    max_values: Optional[int] = None
    max_bytes: Optional[int] = None


@dataclass
class Reader:
    data: bytes
    form: str
    options: Options
    values: List[object]
    alignment: int = 1
    position: int = 0
    end: int = 0
    count: Optional[int] = None  # what the header says
    pad: Optional[Tuple[int, int]] = None  # position and length of the Pad directly before

    def stop(self, fault, position, field=None, needed=None, in_value=True):
        """Report `fault`. The field has to be named where the fault can be at several."""
        status = status_of(fault, self.form)
        fields = FAULTS[fault][1]
        if field is None:
            (field,) = fields
        assert field in fields
        assert (needed is not None) == (status == "truncated")
        index = len(self.values) if in_value else None
        raise Stop(Fault(status, field, position, index, needed, fault))


@dataclass
class Result:
    values: List[object]  # with a fault: those that were completed before it
    fault: Optional[Fault]
    alignment: int
    end: int  # the first byte after the message or the sequence; meaningless with a fault


def decode(data, form, options=Options()):
    reader = Reader(data, form, options, [])
    fault = None
    try:
        if form == "message":
            read_message_header(reader)
        else:
            begin_sequence(reader)
        while reader.position < reader.end and not (form == "value" and reader.values):
            read_element(reader)
        judge_end(reader)
        if form == "value":
            reader.end = reader.position
    except Stop as stop:
        fault = stop.fault
    return Result(reader.values, fault, reader.alignment, reader.end)


# Header of a message


def header_field(reader, field, position, size):
    raw = reader.data[position : position + size]
    if len(raw) < size:
        reader.stop("header_short", position, field=field, needed=HEADER_SIZE, in_value=False)
    return int.from_bytes(raw, "little")


def read_message_header(reader):
    # 1. magic
    there = reader.data[:4]
    if there != MAGIC[: len(there)]:
        reader.stop("bad_magic", 0, in_value=False)
    header_field(reader, "magic", 0, 4)

    # 2. major, minor, alignment, flags
    if header_field(reader, "major", 4, 1) != 1:
        reader.stop("bad_major", 4, in_value=False)
    header_field(reader, "minor", 5, 1)
    log2 = header_field(reader, "alignment", 6, 1)
    if log2 > MAX_ALIGNMENT_LOG2:
        reader.stop("bad_alignment", 6, in_value=False)
    reader.alignment = 2**log2
    if header_field(reader, "flags", 7, 1) != 0:
        reader.stop("bad_flags", 7, in_value=False)

    # 3. body length
    body_length = header_field(reader, "body_length", 8, 8)
    if body_length >= TOO_LARGE:
        reader.stop("body_too_large", 8, in_value=False)
    whole = HEADER_SIZE + body_length
    if reader.options.max_bytes is not None and whole > reader.options.max_bytes:
        reader.stop("limit_bytes", 8, field="body_length", in_value=False)
    # An input that ends inside the count has an incomplete header (header_short); only with the
    # whole header can the body be short.
    count = header_field(reader, "count", 16, 8)
    if len(reader.data) < whole:
        reader.stop("body_short", 8, needed=whole, in_value=False)

    # 4. count
    if count > body_length // SMALLEST_ELEMENT:
        reader.stop("count_too_large", 16, in_value=False)
    if reader.options.max_values is not None and count > reader.options.max_values:
        reader.stop("limit_values", 16, field="count", in_value=False)

    reader.count = count
    reader.position = HEADER_SIZE
    reader.end = whole


# Input of a sequence


def begin_sequence(reader):
    limit = reader.options.max_bytes
    if limit is not None and len(reader.data) > limit:
        reader.stop("limit_bytes", limit, field="trailing", in_value=False)
    reader.end = len(reader.data)


# Each element


def read_element(reader):
    start = reader.position
    pad_before = reader.pad

    # 1. tag
    tag = reader.data[start]
    if pad_before is not None and tag != TENSOR:
        reader.stop("pad_misplaced", pad_before[0])
    if tag < PAD and tag not in KNOWN_VALUES:
        reader.stop("unknown_tag", start)
    if tag in KNOWN_VALUES and reader.options.max_values is not None:
        if len(reader.values) >= reader.options.max_values:
            reader.stop("limit_values", start, field="tag")

    # 2. length
    length = read_length(reader, tag)

    # 3. payload
    payload_start = start + ELEMENT_HEADER_SIZE
    payload = reader.data[payload_start : payload_start + length]
    reader.pad = None
    if tag == PAD:
        judge_pad_bytes(reader, payload_start, payload)
        reader.pad = (start, length)
    elif tag in KNOWN_VALUES:
        reader.values.append(read_value(reader, tag, payload, pad_before))
    reader.position = payload_start + length


def read_length(reader, tag):
    start = reader.position
    where = start + 1
    if reader.end - where < 8:
        short = status_of("element_short", reader.form) == "truncated"
        reader.stop("element_short", where, needed=where + 8 if short else None)
    length = int.from_bytes(reader.data[where : where + 8], "little")
    if tag in FIXED_LENGTH and length != FIXED_LENGTH[tag]:
        reader.stop("length_wrong", where)
    if tag == TENSOR and length < 2:
        reader.stop("tensor_short", where)
    if tag == PAD and length >= reader.alignment:
        reader.stop("pad_too_large", where)
    if length >= TOO_LARGE:
        reader.stop("length_too_large", where)
    payload_start = start + ELEMENT_HEADER_SIZE
    if length > reader.end - payload_start:
        short = status_of("length_past_end", reader.form) == "truncated"
        reader.stop("length_past_end", where, needed=payload_start + length if short else None)
    return length


def judge_pad_bytes(reader, payload_start, payload):
    for index, byte in enumerate(payload):
        if byte != 0:
            reader.stop("pad_not_zero", payload_start + index)


def read_value(reader, tag, payload, pad_before):
    if tag == NONE:
        return NoneValue()
    if tag == TENSOR:
        return read_tensor(reader, payload, pad_before)
    if tag == STRING:
        return String(payload)
    if tag == DOUBLE:
        return Double(int.from_bytes(payload, "little"))
    if tag == INT:
        return Int(int.from_bytes(payload, "little", signed=True))
    if payload[0] > 1:
        reader.stop("bad_bool", reader.position + ELEMENT_HEADER_SIZE)
    return Bool(payload[0] == 1)


def read_tensor(reader, payload, pad_before):
    tag_position = reader.position
    length_position = tag_position + 1
    first = tag_position + ELEMENT_HEADER_SIZE  # the position of the payload

    scalar_type = payload[0]
    if scalar_type >= len(SCALAR_TYPES):
        reader.stop("unknown_scalar_type", first)
    ndim = payload[1]
    if ndim > MAX_NDIM:
        reader.stop("ndim_too_large", first + 1)
    if len(payload) < 2 + 5 * ndim:
        reader.stop("tensor_short", length_position)

    sizes = []
    for d in range(ndim):
        at = 2 + 4 * d
        size = int.from_bytes(payload[at : at + 4], "little", signed=True)
        if size < 0:
            reader.stop("negative_size", first + at)
        sizes.append(size)
        if extent(scalar_type, sizes) >= TOO_LARGE:
            reader.stop("extent_too_large", first + at)

    dim_order = []
    for k in range(ndim):
        at = 2 + 4 * ndim + k
        dimension = payload[at]
        if dimension >= ndim:
            reader.stop("dim_order_range", first + at)
        if dimension in dim_order:
            reader.stop("dim_order_repeated", first + at)
        dim_order.append(dimension)

    data = payload[2 + 5 * ndim :]
    if len(data) != data_size(scalar_type, sizes):
        reader.stop("data_length", length_position)

    unpadded = tag_position if pad_before is None else pad_before[0]
    right = pad_length(unpadded, ndim, len(data) > 0, reader.alignment)
    if pad_before is None and right is not None:
        reader.stop("pad_missing", tag_position)
    if pad_before is not None and right is None:
        reader.stop("pad_not_needed", pad_before[0])
    if pad_before is not None and pad_before[1] != right:
        reader.stop("pad_length_wrong", pad_before[0] + 1)
    return Tensor(scalar_type, tuple(sizes), tuple(dim_order), data)


# At the end


def judge_end(reader):
    if reader.pad is not None:
        reader.stop("pad_misplaced", reader.pad[0])
    if reader.form == "message":
        if len(reader.values) != reader.count:
            reader.stop("count_wrong", 16, in_value=False)
        if len(reader.data) > reader.end and not reader.options.allow_trailing:
            reader.stop("trailing_bytes", reader.end)
    if reader.form == "value":
        if not reader.values:
            reader.stop("no_value", reader.position, needed=reader.position + ELEMENT_HEADER_SIZE)
        if len(reader.data) > reader.position and not reader.options.allow_trailing:
            reader.stop("trailing_bytes", reader.position)


# ---------------------------------------------------------------------------------------------------
# Vectors: how they are put together
#
# The expectation of every vector is written down or follows from how its bytes were put together; it
# is never taken from the decoder. `make` and `check` then compare the decoder with it.
# ---------------------------------------------------------------------------------------------------

FORMS = ("message", "sequence")
M = 2**31 - 1  # the largest size
BEFORE = b"\x00" + bytes(8) + b"\x04\x08" + bytes(7) + b"\x07" + bytes(7)  # None and Int 7: 26 bytes
BEFORE_VALUES = [NoneValue(), Int(7)]


def element(tag, payload=b"", length=None):
    """An element, whose length field may lie."""
    return bytes([tag]) + u64(len(payload) if length is None else length) + payload


def message(body=b"", count=0, log2=4, length=None, magic=MAGIC, major=1, minor=0, flags=0):
    """A message, of which every field may lie."""
    small = bytes([major, minor, log2, flags])
    return magic + small + u64(len(body) if length is None else length) + u64(count) + body


def metadata(scalar_type, sizes, dim_order=None):
    dim_order = range(len(sizes)) if dim_order is None else dim_order
    return bytes([scalar_type, len(sizes)]) + b"".join(map(i32, sizes)) + bytes(dim_order)


def tensor_element(scalar_type, sizes, data=b"", dim_order=None, length=None):
    return element(TENSOR, metadata(scalar_type, sizes, dim_order) + data, length)


def pattern(length, first=1):
    """Bytes of which any 256 in a row are distinct."""
    return bytes((first + 7 * i) % 256 for i in range(length))


def tensor(scalar_type, sizes, dim_order=None, first=1):
    """A tensor value with such bytes as its data."""
    code = SCALAR_CODE[scalar_type]
    order = range(len(sizes)) if dim_order is None else dim_order
    return Tensor(code, tuple(sizes), tuple(order), pattern(data_size(code, sizes), first))


def text(string):
    return String(string.encode("utf-8"))


class Vectors:
    """Collects vectors; a name is used once."""

    def __init__(self):
        self.names = set()
        self.accepted = []
        self.rejected = []

    def begin(self, name, form, options):
        assert re.fullmatch("[A-Za-z0-9_]+", name) and name not in self.names, name
        self.names.add(name)
        vector = {"name": name, "form": form}
        if options:
            vector["options"] = {key: options[key] for key in sorted(options)}
        return vector

    def accept(self, name, form, values, data=None, align=16, canonical=True, end=None, options=None):
        """Bytes that are not given are what the encoder makes."""
        if data is None:
            data = encode(values, form, align)
        vector = self.begin(name, form, options)
        if form == "message":
            vector["align"] = align
        vector["hex"] = data.hex()
        vector["values"] = [value_to_json(value) for value in values]
        if not canonical:
            vector["canonical"] = False
        if end is not None:
            vector["end"] = end
        self.accepted.append(vector)

    def accept_both(self, name, values, align=16):
        self.accept(name + "_msg", "message", values, align=align)
        self.accept(name + "_seq", "sequence", values)

    def reject(self, name, form, data, fault, position, value, needed=None, field=None, options=None):
        fields = FAULTS[fault][1]
        if field is None:
            (field,) = fields
        assert field in fields
        status = status_of(fault, form)
        assert (needed is not None) == (status == "truncated"), name
        vector = self.begin(name, form, options)
        vector["hex"] = data.hex()
        vector["status"] = status
        vector["field"] = field
        vector["position"] = position
        vector["value"] = value
        if needed is not None:
            vector["needed"] = needed
        vector["fault"] = fault
        self.rejected.append(vector)

    def reject_element(self, name, fragment, fault, offset, needed=None, inside=0, forms=FORMS, log2=4, later=True):
        """A faulty run of elements, in each form, as the first thing and after two values.

        `offset` and `needed` count from the run's first byte; `needed` is for the sequence form.
        `inside` is the number of good values in the run before the fault.
        """
        for form in forms:
            for before, index in ((b"", 0), (BEFORE, 2))[: 2 if later else 1]:
                run = before + fragment
                base = len(before)
                more = None
                if form == "message":
                    base += HEADER_SIZE
                    data = message(run, min(index + inside + 1, len(run) // SMALLEST_ELEMENT), log2)
                else:
                    data = run
                if status_of(fault, form) == "truncated":
                    more = base + needed
                full = "%s_%s%s" % (name, "msg" if form == "message" else "seq", "_later" if index else "")
                self.reject(full, form, data, fault, base + offset, index + inside, more)


# ---------------------------------------------------------------------------------------------------
# Accepted vectors
# ---------------------------------------------------------------------------------------------------

ONE_OF_EACH = [
    NoneValue(), Bool(True), Bool(False), Int(-2), Double(0x3FF8000000000000), text("h\u00e9"),
    Tensor(6, (2, 2), (1, 0), bytes.fromhex("0000803f000040400000004000008040")),
]


def accepted_kinds(v):
    v.accept("e1_empty_sequence", "sequence", [], b"")
    v.accept_both("one_of_each", ONE_OF_EACH)
    v.accept_both("none", [NoneValue()])
    v.accept_both("bool_false", [Bool(False)])
    v.accept_both("bool_true", [Bool(True)])
    for name, number in (
        ("zero", 0), ("one", 1), ("minus_one", -1), ("max", 2**63 - 1), ("min", -(2**63)),
        ("max_i32", 2**31 - 1), ("above_i32", 2**31), ("min_i32", -(2**31)), ("below_i32", -(2**31) - 1),
        ("above_u32", 2**32), ("above_double", 2**53 + 1), ("bytes", 0x0807060504030201),
    ):
        v.accept("int_" + name, "sequence", [Int(number)])
    v.accept("int_extremes_msg", "message", [Int(2**63 - 1), Int(-(2**63)), Int(0)])
    for name, bits in (
        ("zero", 0), ("minus_zero", 1 << 63), ("one", 0x3FF << 52), ("minus_one", 0xBFF << 52),
        ("tenth", 0x3FB999999999999A), ("third", 0x3FD5555555555555),
        ("smallest_subnormal", 1), ("minus_smallest_subnormal", 1 << 63 | 1), ("largest_subnormal", (1 << 52) - 1),
        ("smallest_normal", 1 << 52), ("max", 0x7FEFFFFFFFFFFFFF), ("minus_max", 0xFFEFFFFFFFFFFFFF),
        ("inf", 0x7FF << 52), ("minus_inf", 0xFFF << 52),
        ("nan_quiet", 0x7FF8000000000000), ("nan_quiet_negative", 0xFFF8000000000000),
        ("nan_signalling", 0x7FF0000000000001), ("nan_signalling_negative", 0xFFF0000000000001),
        ("nan_payload", 0x7FF8DEADBEEFCAFE), ("nan_signalling_payload", 0x7FF4123456789ABC), ("nan_all_ones", 2**64 - 1),
        ("two_to_53", 0x4340000000000000), ("1e16", bits_of(1e16)), ("1e22", bits_of(1e22)), ("1e23", bits_of(1e23)),
        ("bytes", 0x0807060504030201),
    ):
        v.accept("double_" + name, "sequence", [Double(bits)])
    v.accept("double_specials_msg", "message", [Double(b) for b in (0x7FF0000000000001, 1 << 63, 0xFFF << 52, 1)])
    v.accept("k10_double_decimal_point", "sequence", [Double(bits_of(x)) for x in (1234567.875, -0.5, 1e-7, 1.5e300)])
    v.accept("k10_nan_and_inf_are_bits", "message", [Double(0x7FF8000000000000), Double(0x7FF << 52), Double(0xFFF << 52)])


def accepted_strings(v):
    v.accept_both("e5_string_empty", [String(b"")])
    for name, data in (
        ("ascii", b"hello"), ("nul", b"\x00"), ("nul_inside", b"a\x00b"), ("nul_at_end", b"ab\x00"),
        ("two_byte", "\u00e9".encode()), ("three_byte", "\u20ac\u65e5\u672c".encode()), ("four_byte", "\U0001f600".encode()),
        ("last_code_point", "\U0010ffff".encode()), ("noncharacter", "\ufffe\uffff".encode()), ("bom", "\ufefftext".encode()),
        ("k6_ff", b"\xff"), ("k6_surrogate", b"\xed\xa0\x80"), ("surrogate_pair", b"\xed\xa0\xbd\xed\xb8\x80"),
        ("truncated_2", b"a\xc3"), ("truncated_3", b"\xe2\x82"), ("truncated_4", b"\xf0\x9f\x98"),
        ("lone_continuation", b"\x80"), ("overlong_nul", b"\xc0\x80"), ("overlong_slash", b"\xe0\x80\xaf"),
        ("above_unicode", b"\xf4\x90\x80\x80"), ("five_byte", b"\xf8\x88\x80\x80\x80"),
        ("good_then_bad", "\u00e9".encode() + b"\xfe" + b"z"), ("every_byte", bytes(range(256))),
        ("k11_controls", bytes(range(32)) + b"\x7f"), ("k11_quotes", b"\"\\/'`"), ("k11_line_separators", "a\u2028b\u2029c\u0085d".encode()),
        ("k11_looks_like_json", b'{"kind":"none"}\n'), ("k1_two_lengths", "\u00e9\U0001f600".encode()),
    ):
        coded = re.match("k[0-9]+_", name)  # the code of a bug report comes first
        v.accept(name + "_string" if coded else "string_" + name, "sequence", [String(data)])
    v.accept("string_mixed_msg", "message", [String(b""), String(b"a\x00b"), String(b"\xff"), text("\U0001f600"), String(b"")])
    v.accept("string_300_bytes_msg", "message", [String(pattern(300))])
    v.accept("string_that_is_a_message", "sequence", [String(message())])
    v.accept("b1_string_length_4_of_4_seq", "sequence", [String(b"abcd")], b"\x02\x04" + bytes(7) + b"abcd")
    v.accept(
        "b1_string_length_4_of_4_msg", "message", [String(b"abcd")],
        b"EVAL\x01\x00\x04\x00\x0d" + bytes(7) + b"\x01" + bytes(7) + b"\x02\x04" + bytes(7) + b"abcd",
    )


def accepted_tensors(v):
    for code, (name, size) in enumerate(SCALAR_TYPES):
        v.accept_both("scalar_type_%02d_%s" % (code, name), [tensor(name, [3], first=code + 1)])
    for name in ("uint8", "int16", "float32", "int64", "complex128", "bool", "quint4x2"):
        v.accept_both("d7_zero_dim_" + name, [tensor(name, [], first=0x11)])
    v.accept("e3_zero_dim_float32_four_bytes", "sequence", [Tensor(6, (), (), bytes.fromhex("0000803f"))])
    for ndim in range(1, 5):
        for zero in range(ndim):
            sizes = [2, 3, 4, 5][:ndim]
            sizes[zero] = 0
            v.accept_both("e5_zero_size_%d_of_%d" % (zero, ndim), [tensor("float32", sizes)])
    v.accept("zero_sizes_all", "sequence", [tensor("int64", [0, 0, 0])])
    v.accept("zero_size_reversed", "sequence", [tensor("int64", [0, 5, 0], [2, 1, 0])])

    ones, few_twos = [1] * 16, [2, 1, 1, 1] * 4
    backwards = list(range(15, -1, -1))
    for name, sizes, order in (
        ("ones", ones, None), ("ones_reversed", ones, backwards), ("ones_and_twos", few_twos, None),
        ("ones_and_twos_reversed", few_twos, backwards), ("twos_last", [1] * 12 + [2] * 4, None),
        ("twos_and_a_zero", [2] * 15 + [0], backwards), ("zeros", [0] * 16, None),
    ):
        v.accept_both("c6_ndim_16_" + name, [tensor("uint8", sizes, order)])
    for order in itertools.permutations(range(3)):
        name = "permuted_%d%d%d" % order
        v.accept(name + "_uint8", "sequence", [tensor("uint8", [2, 3, 4], order)])
        v.accept(name + "_int16_msg", "message", [tensor("int16", [2, 3, 4], order)])
    v.accept_both("channels_last_4d", [tensor("float32", [1, 3, 2, 2], [0, 2, 3, 1])])
    v.accept_both("channels_last_5d", [tensor("uint8", [2, 3, 1, 2, 2], [0, 2, 3, 4, 1])])
    for order in ([0, 1], [1, 0]):
        v.accept_both("one_by_three_order_%d%d" % tuple(order), [tensor("int32", [1, 3], order)])
    for name, sizes, order in (
        ("row", [1, 5], [1, 0]), ("column", [5, 1], [1, 0]), ("transposed", [3, 2], [1, 0]), ("cycle_4d", [2, 1, 3, 2], [3, 0, 1, 2]),
    ):
        v.accept("order_" + name, "sequence", [tensor("bfloat16", sizes, order)])
    v.accept("size_256", "sequence", [tensor("uint8", [256])])
    v.accept("size_257_by_1", "sequence", [tensor("int8", [257, 1], [1, 0])])

    for name, scalar_type, sizes in (
        ("zero_first_uint8", "uint8", [0, M, M]), ("zero_middle_uint8", "uint8", [M, 0, M]), ("zero_last_uint8", "uint8", [M, M, 0]),
        ("zero_first_4d_bool", "bool", [0, M, M, 1]), ("zeros_around_int8", "int8", [0, M, 0, M, 0]), ("uint8_twos", "uint8", [0, M, 2**30, 2]),
        ("zero_first_int16", "int16", [0, 2**30, M]), ("zero_first_float32", "float32", [0, 2**30, 2**30 - 1]),
        ("zero_middle_float32", "float32", [2**30, 0, 2**30 - 1]), ("zero_last_float32", "float32", [2**30, 2**30 - 1, 0]),
        ("zero_first_int64", "int64", [0, 2**30, 2**29 - 1]), ("zero_last_complex128", "complex128", [2**28 - 1, 2**30, 0]),
        ("zero_last_complex64", "complex64", [M, 2**28, 0]), ("one_size", "float64", [M, 0]), ("zero_then_one_size", "complex128", [0, M]),
    ):
        code = SCALAR_CODE[scalar_type]
        assert TOO_LARGE // 16 < extent(code, sizes) < TOO_LARGE or "one_size" in name
        v.accept("extent_below_limit_" + name, "sequence", [Tensor(code, tuple(sizes), tuple(range(len(sizes))), b"")])
    v.accept("extent_below_limit_msg", "message", [tensor("uint8", [M, M, 0], [2, 0, 1]), tensor("uint8", [0, M, M])])
    v.accept("bool_tensor_other_bytes", "sequence", [Tensor(11, (5,), (0,), bytes([0, 1, 2, 0x80, 0xFF]))])
    v.accept("d6_bool_tensor_2_msg", "message", [Tensor(11, (), (), b"\x02")])
    v.accept("float32_nans", "sequence", [Tensor(6, (3,), (0,), bytes.fromhex("0100807f0000c0ffffffff7f"))])
    v.accept(
        "f1_golden_float32_int32", "sequence",
        [Tensor(6, (1,), (0,), struct.pack("<f", 1.0)), Tensor(3, (2,), (0,), struct.pack("<ii", 1, -2)), Int(1)],
        bytes.fromhex(
            "01" "0b00000000000000" "06" "01" "01000000" "00" "0000803f"
            "01" "0f00000000000000" "03" "01" "02000000" "00" "01000000feffffff"
            "04" "0800000000000000" "0100000000000000"
        ),
    )
    v.accept("c4_many_empty_tensors", "sequence", [tensor("uint8", [0, M])] * 50)


def accepted_alignment(v):
    no_data = tensor("int32", [3, 0])
    for log2 in range(MAX_ALIGNMENT_LOG2 + 1):
        align = 2**log2
        v.accept("empty_message_align_%d" % align, "message", [], MAGIC + bytes([1, 0, log2, 0]) + bytes(16), align)
        v.accept("align_%d_pad" % align, "message", [Int(1), tensor("uint8", []), NoneValue()], align=align)
        v.accept("align_%d_no_data" % align, "message", [no_data, Bool(True), no_data], align=align)
        # The data falls on a multiple of the alignment by itself: 24 + 9 + length + 9 + 7 = multiple.
        length = -49 % align
        spaces = String(b" " * length)
        data = message(element(STRING, spaces.data) + tensor_element(0, [2], b"\x01\x02"), 2, log2)
        v.accept("align_%d_no_pad" % align, "message", [spaces, Tensor(0, (2,), (0,), b"\x01\x02")], data, align)
        if align <= 512:
            v.accept("align_%d_several" % align, "message", [tensor("float32", [2]), no_data, tensor("float64", []), text("x"), tensor("int8", [1, 1])], align=align)
    for length in range(32):
        # D is 49 + length. At alignment 16 a Pad of 7 never occurs: D would be aligned without it.
        v.accept("g1_string_%02d_before_tensor" % length, "message", [String(pattern(length, 97)), tensor("float32", [1])])
    v.accept("g1_worked_example", "message", [Int(7), Tensor(6, (2,), (0,), bytes.fromhex("0000803f000000c0"))], message(
        element(INT, i64(7)) + element(PAD, bytes(14)) + tensor_element(6, [2], bytes.fromhex("0000803f000000c0")), 2))
    v.accept("pad_of_0", "message", [text("abc"), tensor("uint8", [], first=9)], message(
        element(STRING, b"abc") + element(PAD, b"") + element(TENSOR, b"\x00\x00\x09"), 2, 1), 2)
    v.accept("pad_of_4095", "message", [String(bytes(13)), tensor("uint8", [], first=9)], message(
        element(STRING, bytes(13)) + element(PAD, bytes(-(24 + 22 + 20) % 4096)) + element(TENSOR, b"\x00\x00\x09"), 2, 12), 4096)
    v.accept("g2_float32_after_short_string_seq", "sequence", [text("x"), tensor("float32", [2])])
    v.accept("g2_float32_after_short_string_msg", "message", [text("x"), tensor("float32", [2])])
    v.accept("pads_before_each_of_eight", "message", [tensor("float32", [1], first=n) for n in range(8)])
    v.accept("no_data_between_padded", "message", [tensor("int8", [1]), tensor("int8", [0]), tensor("int8", [1]), tensor("int8", [2, 0])])
    v.accept("data_looks_like_pad", "message", [Tensor(0, (9,), (0,), element(PAD))])


def accepted_others(v):
    v.accept_both("many_nones", [NoneValue()] * 100)
    v.accept_both("many_bools", [Bool(n % 3 == 0) for n in range(300)])
    v.accept("many_mixed", "message", [(Int(n), text("v%d" % n), tensor("int16", [n % 4]))[n % 3] for n in range(60)])
    v.accept("k8_two_of_each_msg", "message", ONE_OF_EACH * 2, align=64)
    v.accept("k8_two_of_each_seq", "sequence", ONE_OF_EACH * 2)

    some = [Int(7), tensor("float32", [2])]
    canonical = encode_message(some)
    for minor in (1, 7, 255):
        v.accept("minor_%d" % minor, "message", some, canonical[:5] + bytes([minor]) + canonical[6:], canonical=False)

    def with_ancillary(name, values, count, body, log2=4):
        v.accept(name + "_msg", "message", values, message(body, count, log2), 2**log2, canonical=False)

    true = element(BOOL, b"\x01")
    for tag in (129, 191, 192, 255):
        body = element(tag, b"abc") + true
        with_ancillary("ancillary_%d" % tag, [Bool(True)], 1, body)
        v.accept("ancillary_%d_seq" % tag, "sequence", [Bool(True)], body, canonical=False)
        # Before a Pad: the ancillary element ends at 24 + 12 = 36, D = 47, and the Pad is of 8 bytes.
        body = element(tag, b"abc") + element(PAD, bytes(8)) + element(TENSOR, b"\x00\x00\x2a")
        with_ancillary("ancillary_%d_before_pad" % tag, [Tensor(0, (), (), b"\x2a")], 1, body)
        with_ancillary("ancillary_%d_empty" % tag, [Bool(True)], 1, element(tag) + true)
        with_ancillary("ancillary_%d_at_end" % tag, [Bool(True)], 1, true + element(tag, b"xyz"))
        with_ancillary("ancillary_%d_alone" % tag, [], 0, element(tag, b"xyz"))
    with_ancillary("ancillary_several", [Bool(True), NoneValue()], 2, element(192, b"a") + element(129) + element(192, b"b") + true + element(255, bytes(20)) + element(NONE) + element(191) + element(191))
    v.accept("ancillary_several_seq", "sequence", [Bool(True)], element(192, b"a") + element(129) + true + element(255), canonical=False)
    v.accept("ancillary_alone_seq", "sequence", [], element(200, element(INT, i64(1))), canonical=False)
    # 24 + 14 = 38, D = 38 + 11 + 5 = 54; with the ancillary element of 5 bytes the data is aligned: no Pad.
    with_ancillary("ancillary_that_aligns", [Tensor(0, (1,), (0,), b"\x2a")], 1, element(192, bytes(15)) + tensor_element(0, [1], b"\x2a"))
    with_ancillary("ancillary_before_no_data", [Tensor(0, (0,), (0,), b"")], 1, element(192, b"abc") + tensor_element(0, [0]))
    with_ancillary("ancillary_not_a_pad", [Bool(True)], 1, element(129, bytes(3)) + true + element(129, bytes(20)))
    ancillary_seq = element(192, b"ab") + element(TENSOR, b"\x00\x00\x2a")
    v.accept("ancillary_before_tensor_seq", "sequence", [Tensor(0, (), (), b"\x2a")], ancillary_seq, canonical=False)

    end = len(canonical)
    for name, rest in (("none", b""), ("one", b"\x00"), ("message", canonical), ("noise", pattern(40)), ("pad", element(PAD))):
        v.accept("trailing_%s" % name, "message", some, canonical + rest, canonical=not rest, end=end, options={"allow_trailing": True})
    v.accept("trailing_after_empty", "message", [], message() + b"\xff", canonical=False, end=24, options={"allow_trailing": True})
    v.accept("trailing_beyond_max_bytes", "message", some, canonical + b"rest", canonical=False, end=end, options={"allow_trailing": True, "max_bytes": end})

    for name, limit in (("exact", 2), ("above", 3), ("huge", 2**64 - 1)):
        v.accept("max_values_%s_msg" % name, "message", some, options={"max_values": limit})
        v.accept("max_values_%s_seq" % name, "sequence", some, options={"max_values": limit})
    v.accept("max_values_counts_no_ancillary", "message", [Bool(True)], message(element(192) + true + element(192), 1), canonical=False, options={"max_values": 1})
    size = len(encode_sequence(some))
    for name, more in (("exact", 0), ("above", 1), ("huge", None)):
        v.accept("max_bytes_%s_msg" % name, "message", some, options={"max_bytes": 2**64 - 1 if more is None else end + more})
        v.accept("max_bytes_%s_seq" % name, "sequence", some, options={"max_bytes": 2**64 - 1 if more is None else size + more})
    v.accept("max_bytes_empty_message", "message", [], options={"max_bytes": 24})
    v.accept("max_values_empty_message", "message", [], options={"max_values": 1})
    v.accept("max_both", "message", some, options={"max_bytes": end, "max_values": 2})


# ---------------------------------------------------------------------------------------------------
# Rejected vectors
# ---------------------------------------------------------------------------------------------------

HEADER_FIELDS = (("magic", 0, 4), ("major", 4, 5), ("minor", 5, 6), ("alignment", 6, 7), ("flags", 7, 8), ("body_length", 8, 16), ("count", 16, 24))
HUGE = [(name, number) for name, number in (
    ("2e31_minus_1", 2**31 - 1), ("2e31", 2**31), ("2e32_minus_1", 2**32 - 1), ("2e32", 2**32), ("2e62_minus_1", 2**62 - 1),
    ("2e62", 2**62), ("2e63_minus_1", 2**63 - 1), ("2e63", 2**63), ("2e64_minus_1", 2**64 - 1),
)]
LENGTH_FAULT_OF_HUGE = {tag: "length_wrong" for tag in FIXED_LENGTH}
LENGTH_FAULT_OF_HUGE[PAD] = "pad_too_large"
SCALAR = element(TENSOR, b"\x00\x00\x2a")  # a uint8 tensor of no dimensions: the data is at 11


def header_field_at(length):
    """The first field that `length` bytes of a header do not complete."""
    return next((field, start) for field, start, stop in HEADER_FIELDS if length < stop)


def rejected_prefixes(v):
    padded = encode_message([Int(7), tensor("float32", [2])])
    for name, whole in (
        ("scalars", encode_message([NoneValue(), Bool(True), Int(-2), Double(0x3FF8 << 48)])),
        ("padded", padded),
        ("ancillary", message(element(192, b"ab") + element(STRING, b"hey") + element(PAD, bytes(-(24 + 11 + 12 + 20) % 16)) + SCALAR, 2)),
    ):
        assert decode(whole, "message").fault is None
        for length in range(len(whole)):
            if length < HEADER_SIZE:
                field, position = header_field_at(length)
                v.reject("b9_%s_first_%d" % (name, length), "message", whole[:length], "header_short", position, None, 24, field)
            else:
                v.reject("b9_%s_first_%d" % (name, length), "message", whole[:length], "body_short", 8, None, len(whole))
    for name, parts, values in (
        ("seq_values", [element(NONE), element(BOOL, b"\x01"), element(INT, i64(-2)), element(STRING, b"hey")], [NoneValue(), Bool(True), Int(-2), text("hey")]),
        ("seq_tensor", [element(192, b"ab"), element(DOUBLE, u64(0x3FF8 << 48)), tensor_element(2, [1, 2], b"\x01\x02\x03\x04", [1, 0])],
         [None, Double(0x3FF8 << 48), Tensor(2, (1, 2), (1, 0), b"\x01\x02\x03\x04")]),
    ):
        whole = b"".join(parts)
        start, done = 0, []
        for part, value in zip(parts, values):
            if start > 0:
                v.accept("b9_%s_first_%d" % (name, start), "sequence", list(done), whole[:start], canonical=parts[0][0] < PAD)
            for length in range(start + 1, start + len(part)):
                short = length < start + 9
                v.reject(
                    "b9_%s_first_%d" % (name, length), "sequence", whole[:length], "element_short" if short else "length_past_end",
                    start + 1, len(done), start + 9 if short else start + len(part),
                )
            start += len(part)
            if value is not None:
                done.append(value)


def rejected_header(v):
    def reject(name, data, fault, position, needed=None, field=None, options=None):
        v.reject(name, "message", data, fault, position, None, needed, field, options)

    good = encode_message([Int(7)])
    for name, data in (
        ("png", bytes.fromhex("89504e470d0a1a0a0000")), ("png_first_byte", b"\x89"), ("1_byte", b"X"), ("2_bytes", b"EX"), ("3_bytes", b"EVX"),
        ("3_bytes_first_wrong", b"XVA"), ("fourth", b"EVAX" + good[4:]), ("first", b"F" + good[1:]), ("lower_case", b"eval" + good[4:]),
        ("mixed_case", b"Eval" + good[4:]), ("tfrecord", u64(41) + bytes.fromhex("d5f29a3c") + good), ("numpy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f4'"),
        ("zip", b"PK\x03\x04" + bytes(28)), ("zeros", bytes(24)), ("reversed", b"LAVE" + good[4:]), ("flatbuffer", bytes.fromhex("1c0000004554313200000000")),
        ("executorch_program", b"\x1c\x00\x00\x00ET12" + bytes(24)), ("sequence", encode_sequence([Int(7)])), ("newline", b"\n" + good), ("bom", b"\xef\xbb\xbf" + good),
    ):
        reject("bad_magic_" + name, data, "bad_magic", 0)
    for major in (0, 2, 3, 128, 255):
        reject("bad_major_%d" % major, message(element(NONE), 1, major=major), "bad_major", 4)
    for log2 in (13, 14, 16, 31, 32, 63, 64, 128, 255):
        reject("g6_alignment_%d" % log2, message(element(NONE), 1, log2), "bad_alignment", 6)
    for bit in range(8):
        reject("flag_bit_%d" % bit, message(element(NONE), 1, flags=1 << bit), "bad_flags", 7)
    reject("flags_all", message(element(NONE), 1, flags=255), "bad_flags", 7)

    for name, number in HUGE:
        if number >= TOO_LARGE:
            reject("body_length_" + name, message(element(NONE), 1, length=number), "body_too_large", 8)
        else:
            reject("body_length_" + name, message(element(NONE), 1, length=number), "body_short", 8, 24 + number)
        reject("c5_count_" + name, message(element(NONE), number), "count_too_large", 16)
    reject("body_length_2e64_minus_24", message(element(NONE), 1, length=2**64 - 24), "body_too_large", 8)
    reject("body_length_2e64_minus_15", message(element(NONE), 1, length=2**64 - 15), "body_too_large", 8)
    reject("body_length_one_more", message(element(NONE), 1, length=10), "body_short", 8, 34)
    reject("body_length_one_without_body", message(length=1), "body_short", 8, 25)
    reject("count_one_of_nothing", message(b"", 1), "count_too_large", 16)
    reject("count_one_of_eight_bytes", message(b"\x00" * 8, 1), "count_too_large", 16)
    two = element(INT, i64(1)) + element(INT, i64(2))  # 34 bytes: room for 3 values
    reject("count_above_ninth", message(two, 4), "count_too_large", 16)
    reject("count_ninth_wrong", message(two, 3), "count_wrong", 16)
    reject("count_too_low", message(two, 1), "count_wrong", 16)
    reject("count_zero_of_two", message(two, 0), "count_wrong", 16)
    reject("count_zero_of_one", message(element(NONE), 0), "count_wrong", 16)
    reject("count_exact_ninth_above", message(element(NONE) * 5, 6), "count_too_large", 16)
    reject("count_exact_ninth_below", message(element(NONE) * 5, 4), "count_wrong", 16)
    reject("count_with_ancillary", message(element(192) + element(NONE), 2), "count_wrong", 16)
    reject("count_ancillary_only", message(element(192), 1), "count_wrong", 16)
    reject("count_with_pad", message(element(PAD, bytes(4)) + SCALAR, 2), "count_wrong", 16)
    reject("count_mod_256", message(element(NONE) * 257, 1), "count_wrong", 16)

    padded = encode_message([Int(7), tensor("float32", [2])])
    for name, whole, values, rest in (
        ("one_zero", good, 1, b"\x00"), ("newline", good, 1, b"\n"), ("element", good, 1, element(NONE)), ("message", good, 1, good), ("zeros", good, 1, bytes(16)),
        ("after_empty", message(), 0, b"\x00"), ("after_padded", padded, 2, b"\x00"), ("empty_message_twice", message(), 0, message()), ("pad", padded, 2, element(PAD)),
    ):
        v.reject("k5_trailing_" + name, "message", whole + rest, "trailing_bytes", len(whole), values)
    v.reject("trailing_shorter_body_length", "message", message(element(NONE) * 2, 1, length=9), "trailing_bytes", 33, 1)
    for rest in (b"\x00", b"\x00" * 8):
        # A body with a few bytes too many ends in an incomplete element.
        v.reject("k5_body_rest_%d" % len(rest), "message", message(element(NONE) + rest, 1), "element_short", 34, 1)
    for name, value in (("none", NoneValue()), ("bool", Bool(True)), ("int", Int(1)), ("double", Double(1)), ("string", text("hi"))):
        data = encode_sequence([value])
        v.reject("k5_%s_and_a_byte" % name, "sequence", data + b"\x00", "element_short", len(data) + 1, 1, len(data) + 9)


def rejected_limits(v):
    some = [Int(7), NoneValue(), Int(8)]  # at 0, 17, 26; 43 bytes
    msg, seq = encode_message(some), encode_sequence(some)
    for limit in (1, 2):
        v.reject("max_values_%d_msg" % limit, "message", msg, "limit_values", 16, None, field="count", options={"max_values": limit})
    v.reject("max_values_1_seq", "sequence", seq, "limit_values", 17, 1, field="tag", options={"max_values": 1})
    v.reject("max_values_2_seq", "sequence", seq, "limit_values", 26, 2, field="tag", options={"max_values": 2})
    lying = message(seq, 1)
    v.reject("max_values_1_msg_tag", "message", lying, "limit_values", 24 + 17, 1, field="tag", options={"max_values": 1})
    v.reject("max_values_2_msg_tag", "message", message(seq, 2), "limit_values", 24 + 26, 2, field="tag", options={"max_values": 2})
    v.reject("max_values_ancillary_between_seq", "sequence", element(NONE) + element(192) + element(NONE), "limit_values", 18, 1, field="tag", options={"max_values": 1})
    for limit in (1, 24, 66):
        v.reject("max_bytes_%d_msg" % limit, "message", msg, "limit_bytes", 8, None, field="body_length", options={"max_bytes": limit})
    v.reject("max_bytes_23_empty_msg", "message", message(), "limit_bytes", 8, None, field="body_length", options={"max_bytes": 23})
    for limit in (1, 9, 17, 42):
        v.reject("max_bytes_%d_seq" % limit, "sequence", seq, "limit_bytes", limit, None, field="trailing", options={"max_bytes": limit})
    v.reject("trailing_beyond_max_bytes_not_allowed", "message", msg + b"x", "trailing_bytes", 67, 3, options={"max_bytes": 67})


def rejected_tags_and_lengths(v):
    for tag in (6, 7, 8, 9, 10, 11, 12, 31, 32, 69, 95, 96, 97, 126, 127):
        v.reject_element("unknown_tag_%d" % tag, element(tag), "unknown_tag", 0)
        v.reject_element("unknown_tag_%d_payload" % tag, element(tag, pattern(12)), "unknown_tag", 0, later=False)
    v.reject("message_as_sequence", "sequence", encode_message([Int(7)]), "unknown_tag", 0, 0)
    v.reject("empty_message_as_sequence", "sequence", message(), "unknown_tag", 0, 0)

    for tag in (NONE, TENSOR, STRING, DOUBLE, INT, BOOL, PAD, 129, 191, 192, 255):
        for more in (0, 1, 7):
            v.reject_element("element_short_tag_%d_%d" % (tag, more), bytes([tag]) + b"\x08"[:more] + bytes(max(more - 1, 0)), "element_short", 1, needed=9, later=more == 0)
        for name, number in HUGE:
            fault = LENGTH_FAULT_OF_HUGE.get(tag, "length_past_end" if number < TOO_LARGE else "length_too_large")
            label = "b13_length_tag_%d_%s" % (tag, name)
            v.reject_element(label, element(tag, b"\x00\x00\x00", number), fault, 1, needed=9 + number, later=name in ("2e62_minus_1", "2e62"))
    for tag in (TENSOR, STRING, 192):
        # These wrap to a small number where a position or a header's size is added to them.
        for name, number in (("minus_9", 2**64 - 9), ("minus_33", 2**64 - 33), ("minus_10", 2**64 - 10)):
            v.reject_element("b13_length_tag_%d_%s" % (tag, name), element(tag, b"\x00\x00\x00", number), "length_too_large", 1, later=False)
        v.reject_element("length_tag_%d_one_past_end" % tag, element(tag, b"\x00\x00\x00", 4), "length_past_end", 1, needed=13)
    v.reject_element("c1_string_2e40_without_payload", element(STRING, b"", 2**40), "length_past_end", 1, needed=9 + 2**40)
    v.reject_element("c1_ancillary_2e40_without_payload", element(192, b"", 2**40), "length_past_end", 1, needed=9 + 2**40)

    for tag, right in sorted(FIXED_LENGTH.items()):
        for length in (right - 1, right + 1, right + 256):
            if length >= 0:
                v.reject_element("length_of_tag_%d_is_%d" % (tag, length), element(tag, bytes(length)), "length_wrong", 1)
    v.reject_element("length_of_int_is_0", element(INT), "length_wrong", 1)
    v.reject_element("length_of_int_is_4", element(INT, bytes(4)), "length_wrong", 1)
    v.reject_element("length_of_double_is_4", element(DOUBLE, bytes(4)), "length_wrong", 1)
    v.reject_element("length_of_bool_is_4", element(BOOL, b"\x01\x00\x00\x00"), "length_wrong", 1)
    for length in (0, 1):
        v.reject_element("length_of_tensor_is_%d" % length, element(TENSOR, bytes(length)), "tensor_short", 1)
    for byte in (2, 3, 4, 127, 128, 254, 255):
        v.reject_element("d5_bool_%d" % byte, element(BOOL, bytes([byte])), "bad_bool", 9)

    for length in range(4):
        # The rest of the string is read as a None that is cut short.
        name = "b1_string_length_%d_of_4" % length
        data = element(STRING, bytes(4), length)
        v.reject(name + "_seq", "sequence", data, "element_short", 9 + length + 1, 1, 9 + length + 9)
        v.reject(name + "_msg", "message", message(data, 1), "element_short", 24 + 9 + length + 1, 1)
    for length in range(5, 21):
        name = "b1_string_length_%d_of_4" % length
        v.reject_element(name, element(STRING, b"abcd", length), "length_past_end", 1, needed=9 + length, later=length == 5)

    # Big-endian bytes of ExecuTorch's Android class are no sequence (section 16).
    v.reject("f5_android_int_1", "sequence", bytes.fromhex("040000000000000001"), "length_wrong", 1, 0)
    v.reject("f5_android_double_1", "sequence", bytes.fromhex("033ff0000000000000"), "length_wrong", 1, 0)
    v.reject("f5_android_bool_true", "sequence", b"\x05\x01", "element_short", 1, 0, 9)
    v.reject("f5_android_none", "sequence", b"\x00", "element_short", 1, 0, 9)
    v.reject("f5_android_string", "sequence", bytes.fromhex("0200000003") + b"h\xc3\xa9", "element_short", 1, 0, 9)
    v.reject("f5_android_string_long", "sequence", bytes.fromhex("020000000b") + b"hello world", "length_too_large", 1, 0)
    v.reject("f5_android_tensor", "sequence", bytes.fromhex("01" "06" "02" "00000001" "00000001" "3f800000"), "length_past_end", 1, 0, 9 + 0x010000000206)


def rejected_tensors(v):
    def reject(name, payload, fault, offset, later=True):
        """`offset` counts from the payload; None means the element's length."""
        v.reject_element(name, element(TENSOR, payload), fault, 1 if offset is None else 9 + offset, later=later)

    for code in (30, 31, 32, 45, 46, 47, 64, 100, 127, 128, 200, 254, 255):
        reject("d3_scalar_type_%d" % code, bytes([code, 0, 1]), "unknown_scalar_type", 0)
        reject("d3_scalar_type_%d_two_dims" % code, metadata(code, [2, 3]) + bytes(6), "unknown_scalar_type", 0, later=False)
    for ndim in (17, 18, 32, 64, 127, 128, 200, 255):
        whole = bytes([0, ndim]) + i32(1) * ndim + bytes(range(ndim)) + b"\x2a"
        reject("c6_ndim_%d" % ndim, whole, "ndim_too_large", 1, later=ndim == 17)
        reject("b10_ndim_%d_of_10_bytes" % ndim, bytes([0, ndim]) + bytes(8), "ndim_too_large", 1, later=ndim == 200)
        reject("c6_ndim_%d_alone" % ndim, bytes([0, ndim]), "ndim_too_large", 1, later=False)
    for ndim in (1, 2, 3, 16):
        whole = metadata(0, [1] * ndim)
        for length in sorted({2, len(whole) - 1, 2 + 4 * ndim, 3}):
            reject("b10_metadata_of_%d_dims_is_%d" % (ndim, length), whole[:length], "tensor_short", None, later=length == len(whole) - 1)
    for ndim in (1, 2, 3, 4):
        for d in range(ndim):
            for size in (-1, -(2**31)):
                sizes = [2] * ndim
                sizes[d] = size
                reject("d1_size_%d_of_%d_is_%s" % (d, ndim, "minus_1" if size == -1 else "min"), metadata(0, sizes) + bytes(2 ** (ndim - 1)), "negative_size", 2 + 4 * d, later=ndim in (1, 4))
    reject("d1_sizes_negative_twice", metadata(0, [-1, -1]) + b"\x01", "negative_size", 2)
    reject("d1_size_negative_after_zero", metadata(0, [0, -1]), "negative_size", 6)
    reject("d1_size_negative_in_16", metadata(0, [1] * 15 + [-1]), "negative_size", 2 + 60)

    for name, code, sizes, d in (
        ("a1_product_wraps_to_zero", 0, [65536] * 4, 3), ("a2_bytes_overflow_and_count_does_not", 4, [M, M], 1), ("a4_fits_unsigned_only", 0, [M, M, 4], 2),
        ("a1_product_wraps_to_one", 0, [2**16 + 1, 2**16 - 1, 2**30, 4], 3), ("a2_int16", 2, [0, M, M], 2), ("a2_int16_zero_last", 2, [M, M, 0], 1),
        ("a2_int16_zero_middle", 2, [M, 0, M], 2), ("a2_float32_exact", 6, [2**30, 2**30], 1), ("a2_complex128_exact", 10, [2**28, 2**30], 1),
        ("a2_int64_exact_zero_first", 4, [0, 2**30, 2**29], 2), ("a2_uint8_exact", 0, [2**30, 2**30, 4], 2), ("a2_uint16_exact", 27, [2**30, 2**30, 2], 2),
        ("e2_zero_first", 6, [0, M, M, M], 2), ("e2_zero_last", 6, [M, M, M, 0], 1), ("e2_zero_first_uint8", 0, [0, M, M, M], 3), ("e2_zero_last_uint8", 0, [M, M, M, 0], 2),
        ("e2_zero_second", 6, [M, 0, M, M], 2), ("e2_zero_third", 6, [M, M, 0, M], 1), ("a_16_of_max", 0, [M] * 16, 2), ("a_16_of_max_zero_first", 0, [0] + [M] * 15, 3),
        ("a_complex128_max", 10, [M, M], 1),
    ):
        reject(name, metadata(code, sizes), "extent_too_large", 2 + 4 * d)
    for d in range(2, 16):
        sizes = [2**30, 2**30] + [1, 0] * 6 + [1, 0]
        sizes[d] = 4
        reject("a_extent_overflow_at_%d" % d, metadata(0, sizes), "extent_too_large", 2 + 4 * d, later=False)
    reject("a_extent_overflow_at_1_of_2", metadata(3, [2**30, 2**30]), "extent_too_large", 6, later=False)
    reject("a_extent_overflow_reversed", metadata(0, [2**30, 2**30, 4], [2, 1, 0]), "extent_too_large", 10, later=False)

    for k in range(3):
        for entry in (3, 4, 128, 255):
            order = [0, 1, 2]
            order[k] = entry
            reject("dim_order_%d_is_%d" % (k, entry), metadata(0, [1, 1, 1], order) + b"\x2a", "dim_order_range", 14 + k, later=entry in (3, 255))
    reject("dim_order_of_one_is_1", metadata(0, [1], [1]) + b"\x2a", "dim_order_range", 6)
    reject("dim_order_from_one", metadata(0, [1, 1], [1, 2]) + b"\x2a", "dim_order_range", 11)
    reject("dim_order_of_16_is_16", metadata(0, [1] * 16, list(range(15)) + [16]) + b"\x2a", "dim_order_range", 2 + 64 + 15)
    reject("dim_order_of_no_data", metadata(0, [0, 1], [0, 2]), "dim_order_range", 11)
    for order, k in (
        ([0, 0, 1], 1), ([0, 0, 0], 1), ([0, 1, 0], 2), ([0, 1, 1], 2), ([2, 2, 2], 1), ([2, 1, 2], 2), ([1, 1, 0], 1),
        ([0, 1, 2, 0], 3), ([3, 2, 1, 3], 3), ([1, 0, 0, 2], 2), ([0, 0], 1), ([1, 1], 1),
    ):
        reject("dim_order_repeated_%s" % "".join(map(str, order)), metadata(0, [1] * len(order), order) + b"\x2a", "dim_order_repeated", 2 + 4 * len(order) + k, later=len(order) == 3)
    for k in (1, 8, 15):
        order = list(range(16))
        order[k] = 0
        reject("dim_order_of_16_repeated_at_%d" % k, metadata(0, [1] * 16, order) + b"\x2a", "dim_order_repeated", 2 + 64 + k, later=False)
    reject("dim_order_repeated_of_no_data", metadata(0, [0, 0], [1, 1]), "dim_order_repeated", 11)

    for code, (name, size) in enumerate(SCALAR_TYPES):
        whole = metadata(code, [3]) + pattern(3 * size)
        reject("b8_%s_one_less" % name, whole[:-1], "data_length", None, later=False)
        reject("b8_%s_one_more" % name, whole + b"\x00", "data_length", None, later=False)
    for name, payload in (
        ("b5_1000_by_1000_with_4_bytes", metadata(6, [1000, 1000]) + bytes(4)), ("b6_one_float32_with_8_bytes", metadata(6, [1]) + bytes(8)),
        ("e3_zero_dim_without_data", metadata(6, [])), ("e3_zero_dim_uint8_without_data", metadata(0, [])), ("e3_zero_dim_one_byte_more", metadata(6, []) + bytes(5)),
        ("a6_65536_by_65536_without_data", metadata(0, [65536, 65536])), ("a6_65536_by_32768_int16_without_data", metadata(2, [65536, 32768])),
        ("a6_max_by_max_without_data", metadata(0, [M, M])), ("a6_max_by_max_by_two_wraps_to_small", metadata(0, [M, M, 1]) + b"\x01"),
        ("data_none_for_float32", metadata(6, [2, 2])), ("data_for_a_zero_size", metadata(6, [2, 0]) + bytes(8)), ("data_one_byte_for_a_zero_size", metadata(0, [0]) + b"\x00"),
        ("data_far_too_long", metadata(0, [1]) + bytes(300)), ("data_far_too_short", metadata(10, [100]) + bytes(16)), ("data_of_bits_not_bytes", metadata(18, [8]) + b"\xff"),
        ("data_of_nibbles_not_bytes", metadata(16, [4]) + b"\x12\x34"), ("data_of_complex_as_real", metadata(9, [2]) + bytes(8)), ("data_one_element_less", metadata(3, [3]) + bytes(8)),
        ("data_256_less", metadata(0, [257]) + b"\x01"), ("k4_int32_of_7_bytes", metadata(3, [1]) + bytes(7)), ("k4_int32_of_5_bytes", metadata(3, [1]) + bytes(5)),
    ):
        reject(name, payload, "data_length", None)


def rejected_pads(v):
    # Without a Pad the data of SCALAR would be at 35 in an empty message; the Pad's length is -44 mod A.
    def reject(name, fragment, fault, offset, inside=0, log2=4, forms=("message",), later=True):
        v.reject_element(name, fragment, fault, offset, inside=inside, forms=forms, log2=log2, later=later)

    def reject_later(name, fragment, fault, offset, log2=4):
        v.reject(name + "_later", "message", message(BEFORE + fragment, 3, log2), fault, 24 + 26 + offset, 2)

    for log2 in range(1, 13):
        align = 2**log2
        reject("pad_missing_align_%d" % align, SCALAR, "pad_missing", 0, log2=log2)
        reject("pad_of_alignment_%d" % align, element(PAD, b"", align) + SCALAR, "pad_too_large", 1, log2=log2)
        right = -44 % align
        wrong = sorted({right - 1, right + 1, right ^ (align // 2), 0} - {right}) if align <= 64 else [right ^ 1, 0]
        for length in wrong:
            if 0 <= length < align and length != right:
                reject("g3_pad_of_%d_align_%d" % (length, align), element(PAD, bytes(length)) + SCALAR, "pad_length_wrong", 1, log2=log2, later=False)
    reject("pad_of_alignment_16_present", element(PAD, bytes(16)) + SCALAR, "pad_too_large", 1)
    reject("pad_16_bytes_too_long", element(PAD, bytes(4 + 16)) + SCALAR, "pad_too_large", 1)
    for length in range(16):
        if length != 4:  # 7 leaves the data where it was, as misaligned as before
            reject("pad_of_%d_instead_of_4" % length, element(PAD, bytes(length)) + SCALAR, "pad_length_wrong", 1, later=False)
        if length != 10:
            reject_later("pad_of_%d_instead_of_10" % length, element(PAD, bytes(length)) + SCALAR, "pad_length_wrong", 1)
    # At alignment 64 the right length is 20: these align the data to 16, and to 32, only.
    for length in (4, 36, 52):
        reject("pad_of_%d_instead_of_20_align_64" % length, element(PAD, bytes(length)) + SCALAR, "pad_length_wrong", 1, log2=6, later=False)

    for name, index in (("first", 0), ("middle", 2), ("last", 3)):
        for byte in (1, 128, 255):
            pad = bytearray(4)
            pad[index] = byte
            reject("pad_%s_byte_is_%d" % (name, byte), element(PAD, bytes(pad)) + SCALAR, "pad_not_zero", 9 + index, later=False)
        pad = bytearray(10)
        pad[{"first": 0, "middle": 5, "last": 9}[name]] = 1
        reject_later("pad_%s_byte_is_1" % name, element(PAD, bytes(pad)) + SCALAR, "pad_not_zero", 9 + pad.index(1))
    reject("pad_two_bytes_not_zero", element(PAD, b"\x00\x01\x02\x00") + SCALAR, "pad_not_zero", 10, later=False)
    reject("pad_of_spaces", element(PAD, b"    ") + SCALAR, "pad_not_zero", 9, later=False)

    none, zero_pad = element(NONE), element(PAD)
    reject("pad_doubled", element(PAD, bytes(4)) * 2 + SCALAR, "pad_misplaced", 0)
    reject("pad_doubled_that_aligns", element(PAD, bytes(4)) + element(PAD, bytes(7)) + SCALAR, "pad_misplaced", 0)
    reject("pad_tripled", zero_pad * 3 + SCALAR, "pad_misplaced", 0)
    for name, rest in (
        ("last", b""), ("before_none", none), ("before_string", element(STRING, b"x")), ("before_double", element(DOUBLE, u64(1))), ("before_int", element(INT, i64(1))),
        ("before_bool", element(BOOL, b"\x01")), ("before_ancillary", element(192, b"x") + SCALAR), ("before_reserved_ancillary", element(129) + none),
        ("before_unknown_value", element(6)), ("before_unknown_critical", element(96)),
    ):
        reject("pad_%s" % name, element(PAD, bytes(4)) + rest, "pad_misplaced", 0)
        v.reject_element("pad_of_0_%s" % name, zero_pad + rest, "pad_misplaced", 0, later=False)
        reject("pad_%s_align_1" % name, zero_pad + rest, "pad_misplaced", 0, log2=0, later=False)
    reject("pad_last_after_value", none + element(PAD, bytes(3)), "pad_misplaced", 9, inside=1)
    reject("pad_last_after_tensor", tensor_element(0, [0]) + element(PAD, bytes(3)), "pad_misplaced", 16, inside=1)

    # At 24 a String of 15 bytes; the data of a tensor of one dimension is then at 24 + 24 + 16 = 64.
    aligned_before = element(STRING, bytes(15))
    for length in (0, 1, 7, 15):
        # 7 keeps the data aligned.
        reject("pad_of_%d_not_needed" % length, aligned_before + element(PAD, bytes(length)) + tensor_element(0, [1], b"\x01"), "pad_not_needed", 24, inside=1, later=False)
        reject("pad_of_%d_before_no_data" % length, element(PAD, bytes(length)) + tensor_element(0, [0]), "pad_not_needed", 0)
        reject("pad_of_%d_before_no_data_3d" % length, element(PAD, bytes(length)) + tensor_element(7, [2, 0, 3]), "pad_not_needed", 0, later=False)
    reject("pad_not_needed_align_4096", aligned_before + zero_pad + tensor_element(0, [0]), "pad_not_needed", 24, inside=1, log2=12, later=False)
    reject("pad_not_needed_align_1", zero_pad + SCALAR, "pad_not_needed", 0, log2=0)
    reject("pad_of_1_align_1", element(PAD, b"\x00") + SCALAR, "pad_too_large", 1, log2=0)
    reject("pad_too_early", element(PAD, bytes(4)) + none + SCALAR, "pad_misplaced", 0)
    reject("pad_missing_before_second", element(PAD, bytes(4)) + SCALAR + SCALAR, "pad_missing", 25, inside=1, later=False)
    reject("pad_missing_float32", tensor_element(6, [2], bytes(8)), "pad_missing", 0, later=False)
    reject("pad_after_tensor_of_no_data", element(PAD, bytes(4)) + tensor_element(0, [0]) + SCALAR, "pad_not_needed", 0)

    v.reject_element("pad_of_0_in_sequence", zero_pad + SCALAR, "pad_not_needed", 0, forms=("sequence",))
    v.reject_element("pad_of_1_in_sequence", element(PAD, b"\x00") + SCALAR, "pad_too_large", 1, forms=("sequence",))
    v.reject_element("pad_of_4_in_sequence", element(PAD, bytes(4)) + SCALAR, "pad_too_large", 1, forms=("sequence",))
    v.reject_element("pad_before_no_data_in_sequence", zero_pad + tensor_element(0, [0]), "pad_not_needed", 0, forms=("sequence",))
    v.reject_element("pad_doubled_in_sequence", zero_pad * 2 + SCALAR, "pad_misplaced", 0, forms=("sequence",))
    v.reject("body_of_padded_message_as_sequence", "sequence", encode_message([Int(7), tensor("float32", [2])])[24:], "pad_too_large", 18, 1)


def rejected_order(v):
    """Two faults at once: the one that is judged first is reported."""

    def header(name, data, fault, position, needed=None, field=None, options=None):
        v.reject("order_" + name, "message", data, fault, position, None, needed, field, options)

    none = element(NONE)
    header("magic_before_end", b"EVX", "bad_magic", 0)
    header("magic_before_major", message(magic=b"EVAX", major=2), "bad_magic", 0)
    header("magic_before_everything", b"eval\x02\xff\xff\xff" + b"\xff" * 16, "bad_magic", 0)
    header("major_before_end", b"EVAL\x02", "bad_major", 4)
    header("major_before_alignment", message(major=2, log2=13), "bad_major", 4)
    header("major_before_flags", message(major=2, flags=1), "bad_major", 4)
    header("end_at_minor", b"EVAL\x01", "header_short", 5, 24, "minor")
    header("alignment_before_end", b"EVAL\x01\x00\x0d", "bad_alignment", 6)
    header("alignment_before_flags", message(log2=13, flags=1), "bad_alignment", 6)
    header("flags_before_end", b"EVAL\x01\x00\x04\x01", "bad_flags", 7)
    header("flags_before_body_length", message(flags=1, length=2**62), "bad_flags", 7)
    header("body_length_short_before_value", message(length=2**62)[:15], "header_short", 8, 24, "body_length")
    header("body_too_large_before_count_short", message(length=2**62)[:16], "body_too_large", 8)
    header("body_too_large_before_limit", message(length=2**62), "body_too_large", 8, options={"max_bytes": 100})
    header("body_too_large_before_count", message(length=2**62, count=2**64 - 1), "body_too_large", 8)
    header("limit_bytes_before_body_short", message(none, 1, length=100), "limit_bytes", 8, field="body_length", options={"max_bytes": 123})
    header("body_short_within_limit", message(none, 1, length=100), "body_short", 8, 124, options={"max_bytes": 124})
    header("limit_bytes_before_count_short", message(length=100)[:16], "limit_bytes", 8, field="body_length", options={"max_bytes": 123})
    header("limit_bytes_before_count", message(none, 2), "limit_bytes", 8, field="body_length", options={"max_bytes": 32})
    header("limit_bytes_before_limit_values", message(none * 2, 2), "limit_bytes", 8, field="body_length", options={"max_bytes": 41, "max_values": 1})
    header("limit_bytes_before_trailing", message(none, 1) + b"x", "limit_bytes", 8, field="body_length", options={"max_bytes": 32})
    header("count_short_before_body_short", message(length=100)[:23], "header_short", 16, 24, "count")
    header("body_short_before_count", message(none, 2**62, length=10), "body_short", 8, 34)
    header("body_short_before_limit_values", message(none * 2, 2, length=20), "body_short", 8, 44, options={"max_values": 1})
    header("body_short_before_elements", message(b"\x06", 0, length=10), "body_short", 8, 34)
    header("count_before_limit_values", message(none * 2, 3), "count_too_large", 16, options={"max_values": 1})
    header("count_before_elements", message(element(6), 2), "count_too_large", 16)
    header("count_before_trailing", message(none, 2) + b"x", "count_too_large", 16)
    header("limit_values_before_elements", message(element(6) * 2, 2), "limit_values", 16, field="count", options={"max_values": 1})
    header("limit_values_before_trailing", message(none * 2, 2) + b"x", "limit_values", 16, field="count", options={"max_values": 1})
    header("count_wrong_before_trailing", message(none, 0) + b"x", "count_wrong", 16)
    header("count_wrong_with_trailing_allowed", message(none, 0) + b"x", "count_wrong", 16, options={"allow_trailing": True})
    v.reject("order_element_before_count_wrong", "message", message(none + element(6), 0), "unknown_tag", 33, 1)
    v.reject("order_element_before_trailing", "message", message(element(BOOL, b"\x02"), 1) + b"x", "bad_bool", 33, 0)
    v.reject("order_element_with_trailing_allowed", "message", message(element(BOOL, b"\x02"), 1) + b"x", "bad_bool", 33, 0, options={"allow_trailing": True})
    v.reject("order_pad_at_end_before_count_wrong", "message", message(none + element(PAD, bytes(2)), 0), "pad_misplaced", 33, 1)
    v.reject("order_pad_at_end_before_trailing", "message", message(element(PAD, bytes(4)), 0) + SCALAR, "pad_misplaced", 24, 0)
    v.reject("order_past_end_of_body_not_of_input", "message", message(element(STRING, b"abc", 4), 1) + b"d", "length_past_end", 25, 0)
    v.reject("order_element_short_at_end_of_body_not_of_input", "message", message(element(NONE)[:8], 0) + b"\x00", "element_short", 25, 0)
    v.reject("order_past_end_with_trailing_allowed", "message", message(element(STRING, b"abc", 4), 1) + b"d", "length_past_end", 25, 0, options={"allow_trailing": True})

    for name, data in (("tag", element(6) + none), ("element_short", none + b"\x00"), ("bool", element(BOOL, b"\x02")), ("limit_values", none * 2)):
        v.reject("order_limit_bytes_before_%s_seq" % name, "sequence", data, "limit_bytes", 9, None, field="trailing", options={"max_bytes": 9, "max_values": 1})
    v.reject("order_tag_within_limit_bytes", "sequence", element(6), "unknown_tag", 0, 0, options={"max_bytes": 9})

    # Tag. The limit on values is 1 and one value is there.
    one = {"max_values": 1}
    for name, rest, fault, offset, more in (
        ("unknown_before_limit_values", element(6), "unknown_tag", 0, None),
        ("critical_before_limit_values", element(96), "unknown_tag", 0, None),
        ("limit_values_before_element_short", b"\x00", "limit_values", 0, None),
        ("limit_values_before_length_wrong", element(INT, b"", 9), "limit_values", 0, None),
        ("limit_values_before_bool", element(BOOL, b"\x02"), "limit_values", 0, None),
        ("limit_values_before_past_end", element(STRING, b"", 9), "limit_values", 0, None),
        ("ancillary_over_limit_values", element(192, b"", 9), "length_past_end", 1, 18),
    ):
        field = "tag" if fault == "limit_values" else None
        v.reject("order_%s_seq" % name, "sequence", none + rest, fault, 9 + offset, 1, None if more is None else 9 + more, field, one)
        v.reject("order_%s_msg" % name, "message", message(none + rest, 1), fault, 33 + offset, 1, None, field, one)
    # The Pad at 33 should be of 4 bytes, for -(33 + 20) mod 16 = 11.
    v.reject("order_limit_values_before_pad_length", "message", message(none + element(PAD, bytes(3)) + SCALAR, 1), "limit_values", 45, 1, field="tag", options=one)
    v.reject("order_pad_misplaced_before_limit_values", "message", message(none + element(PAD, bytes(3)) + none, 1), "pad_misplaced", 33, 1, options=one)
    v.reject("order_limit_values_before_pad_missing", "message", message(none + SCALAR, 1), "limit_values", 33, 1, field="tag", options=one)
    v.reject("order_limit_values_before_pad_not_needed_seq", "sequence", none + element(PAD) + SCALAR, "limit_values", 18, 1, field="tag", options=one)

    def elements(name, fragment, fault, offset, needed=None, inside=0, forms=FORMS, log2=4, later=False):
        v.reject_element("order_" + name, fragment, fault, offset, needed, inside, forms, log2, later)

    msg = ("message",)
    elements("first_of_two_bools", element(BOOL, b"\x02") * 2, "bad_bool", 9)
    elements("unknown_tag_before_element_short", b"\x06", "unknown_tag", 0, later=True)
    elements("unknown_tag_before_length_too_large", element(6, b"", 2**64 - 1), "unknown_tag", 0)
    elements("unknown_tag_before_past_end", element(96, b"", 100), "unknown_tag", 0)
    elements("pad_misplaced_before_unknown_tag", element(PAD) + element(6), "pad_misplaced", 0)
    elements("pad_misplaced_before_element_short", element(PAD) + b"\x00", "pad_misplaced", 0)
    elements("pad_misplaced_before_length_wrong", element(PAD) + element(INT, b"", 9), "pad_misplaced", 0)
    elements("pad_misplaced_before_second_pad_too_large", element(PAD) + element(PAD, b"", 99), "pad_misplaced", 0)
    elements("element_short_of_tensor_before_pad", element(PAD) + b"\x01\x03", "element_short", 10, needed=18)
    elements("tensor_minimum_before_pad", element(PAD) + element(TENSOR, b"\x00"), "tensor_short", 10)
    elements("past_end_of_tensor_before_pad", element(PAD) + element(TENSOR, b"\x00\x00", 3), "length_past_end", 10, needed=21)
    elements("length_wrong_before_past_end", element(INT, b"\x01\x02", 9), "length_wrong", 1, later=True)
    elements("length_wrong_of_none_before_past_end", element(NONE, b"", 1), "length_wrong", 1)
    elements("length_wrong_of_bool_before_bool", element(BOOL, b"\x02\x02"), "length_wrong", 1)
    elements("length_wrong_before_too_large", element(DOUBLE, b"", 2**63), "length_wrong", 1)
    elements("tensor_minimum_before_past_end", element(TENSOR, b"", 1), "tensor_short", 1)
    elements("pad_too_large_before_past_end", element(PAD, b"", 17), "pad_too_large", 1)
    elements("pad_too_large_before_too_large", element(PAD, b"", 2**62), "pad_too_large", 1)
    elements("pad_too_large_before_not_zero", element(PAD, b"\x01" * 16) + SCALAR, "pad_too_large", 1)
    elements("pad_too_large_before_misplaced", element(PAD, bytes(16)) + none, "pad_too_large", 1)
    elements("pad_past_end_before_not_zero", element(PAD, b"\x01", 15), "length_past_end", 1, forms=msg)
    elements("length_too_large_before_past_end", element(STRING, b"abc", 2**62), "length_too_large", 1)
    elements("past_end_before_scalar_type", element(TENSOR, b"\xff\xff", 3), "length_past_end", 1, needed=12)
    elements("past_end_before_data_length", tensor_element(0, [2], b"\x01", length=9), "length_past_end", 1, needed=18)
    elements("length_wrong_of_empty_bool", element(BOOL), "length_wrong", 1)
    elements("bool_past_end", element(BOOL, b"", 1), "length_past_end", 1, needed=10, later=True)
    elements("int_past_end", element(INT, bytes(7), 8), "length_past_end", 1, needed=17)
    elements("double_past_end", element(DOUBLE, b"", 8), "length_past_end", 1, needed=17)
    elements("pad_not_zero_before_misplaced", element(PAD, b"\x00\x01") + none, "pad_not_zero", 10, forms=msg)
    elements("pad_not_zero_before_last", element(PAD, b"\x00\x01"), "pad_not_zero", 10, forms=msg)
    elements("pad_not_zero_before_length_wrong", element(PAD, b"\x00\x00\x01") + SCALAR, "pad_not_zero", 11, forms=msg)
    elements("pad_not_zero_before_not_needed", element(PAD, b"\x01") + tensor_element(0, [0]), "pad_not_zero", 9, forms=msg)
    elements("bool_before_next_element", element(BOOL, b"\x02") + element(6), "bad_bool", 9)

    def tensors(name, payload, fault, offset, later=False):
        elements(name, element(TENSOR, payload), fault, 1 if offset is None else 9 + offset, later=later)

    tensors("scalar_type_before_ndim", b"\x1e\x11", "unknown_scalar_type", 0)
    tensors("scalar_type_before_tensor_short", b"\x1e\x03", "unknown_scalar_type", 0)
    tensors("scalar_type_before_size", metadata(255, [-1]), "unknown_scalar_type", 0)
    tensors("scalar_type_before_data_length", metadata(30, [2]), "unknown_scalar_type", 0)
    tensors("ndim_before_tensor_short", b"\x00\x11", "ndim_too_large", 1)
    tensors("ndim_before_size", metadata(0, [-1] * 17), "ndim_too_large", 1)
    tensors("tensor_short_before_size", metadata(0, [-1])[:-1], "tensor_short", None)
    tensors("tensor_short_before_extent", metadata(0, [M, M, M])[:-1], "tensor_short", None)
    tensors("tensor_short_before_dim_order", metadata(0, [1, 1], [2, 2])[:-1], "tensor_short", None)
    tensors("extent_before_later_negative", metadata(4, [M, M, -1]), "extent_too_large", 6)
    tensors("negative_before_later_extent", metadata(4, [-1, M, M]), "negative_size", 2)
    tensors("negative_after_almost_extent", metadata(0, [M, M, -1]), "negative_size", 10)
    tensors("negative_min_where_extent_would_be", metadata(0, [M, M, -(2**31)]), "negative_size", 10)
    tensors("extent_before_later_zero", metadata(4, [M, M, 0]), "extent_too_large", 6)
    tensors("negative_before_dim_order", metadata(0, [1, -1], [2, 2]), "negative_size", 6)
    tensors("extent_before_dim_order", metadata(4, [M, M], [2, 2]), "extent_too_large", 6)
    tensors("extent_before_data_length", metadata(4, [M, M]) + bytes(8), "extent_too_large", 6)
    tensors("negative_before_data_length", metadata(4, [-1]) + bytes(8), "negative_size", 2)
    tensors("range_before_repeated", metadata(0, [1, 1], [2, 2]) + b"\x01", "dim_order_range", 10)
    tensors("range_then_repeated", metadata(0, [1, 1, 1], [3, 0, 0]) + b"\x01", "dim_order_range", 14)
    tensors("repeated_then_range", metadata(0, [1, 1, 1], [0, 0, 3]) + b"\x01", "dim_order_repeated", 15)
    tensors("range_of_255_twice", metadata(0, [1, 1, 1], [0, 255, 255]) + b"\x01", "dim_order_range", 15)
    tensors("range_before_data_length", metadata(0, [2], [1]) + b"\x01", "dim_order_range", 6)
    tensors("repeated_before_data_length", metadata(0, [1, 2], [0, 0]) + b"\x01", "dim_order_repeated", 11)
    # Each of these stands at 24 without the Pad that it needs.
    for name, payload, fault, offset in (
        ("scalar_type", b"\x1e\x00\x01", "unknown_scalar_type", 9), ("dim_order", metadata(0, [1], [1]) + b"\x01", "dim_order_range", 15), ("data_length", metadata(0, [1]) + b"\x01\x02", "data_length", 1),
    ):
        elements(name + "_before_pad_missing", element(TENSOR, payload), fault, offset, forms=msg)
        elements(name + "_before_pad_length", element(PAD, b"\x00") + element(TENSOR, payload), fault, 10 + offset, forms=msg)
        elements(name + "_before_pad_not_needed", element(PAD) + element(TENSOR, payload), fault, 9 + offset)
    elements("data_length_before_pad_not_needed_no_data", element(PAD, bytes(2)) + tensor_element(0, [0], b"\x01"), "data_length", 12, forms=msg)
    elements("data_length_before_pad_missing_no_data", tensor_element(6, [2]), "data_length", 1, forms=msg)
    elements("pad_not_needed_before_length", element(STRING, bytes(15)) + element(PAD, bytes(3)) + tensor_element(0, [1], b"\x01"), "pad_not_needed", 24, inside=1, forms=msg)
    elements("pad_missing_before_next_element", SCALAR + element(6), "pad_missing", 0, forms=msg)
    v.reject("order_pad_missing_before_count_wrong", "message", message(SCALAR, 0), "pad_missing", 24, 0)
    v.reject("order_pad_missing_before_trailing", "message", message(SCALAR, 1) + b"x", "pad_missing", 24, 0)


def make_vectors():
    v = Vectors()
    for part in (
        accepted_kinds, accepted_strings, accepted_tensors, accepted_alignment, accepted_others,
        rejected_prefixes, rejected_header, rejected_limits, rejected_tags_and_lengths, rejected_tensors, rejected_pads, rejected_order,
        value_vectors,
    ):
        part(v)
    return v


def value_vectors(v):
    """One bare value: a sequence of exactly one."""
    note = element(192, b"note")
    some = tensor("float32", [2])
    for name, value in (("none", NoneValue()), ("bool", Bool(True)), ("int", Int(-7)), ("double", Double(1 << 63)), ("string", String(b"abc")),
                        ("empty_string", String(b"")), ("tensor", some)):
        bare = encode_sequence([value])
        v.accept("bare_" + name, "value", [value])
        v.accept("bare_%s_described" % name, "value", [value], note + bare, canonical=False)
        v.accept("bare_%s_trailing" % name, "value", [value], bare + b"\x06rest", canonical=False, end=len(bare), options={"allow_trailing": True})
        for more, rest in (("byte", b"\x00"), ("value", encode_sequence([Int(1)])), ("ancillary", note), ("twice", bare)):
            v.reject("bare_%s_then_%s" % (name, more), "value", bare + rest, "trailing_bytes", len(bare), 1)
        for cut in range(1, len(bare)):
            length_there = cut >= ELEMENT_HEADER_SIZE
            v.reject("bare_%s_prefix_%d" % (name, cut), "value", bare[:cut], "length_past_end" if length_there else "element_short", 1, 0,
                     len(bare) if length_there else ELEMENT_HEADER_SIZE)
    v.accept("bare_max_bytes", "value", [Int(7)], options={"max_bytes": 17, "max_values": 1})
    v.reject("bare_nothing", "value", b"", "no_value", 0, 0, 9)
    v.reject("bare_nothing_trailing_allowed", "value", b"", "no_value", 0, 0, 9, options={"allow_trailing": True})
    v.reject("bare_ancillary_only", "value", note, "no_value", 13, 0, 22)
    v.reject("bare_ancillary_cut", "value", note[:-1], "length_past_end", 1, 0, 13)
    v.reject("bare_pad_only", "value", element(PAD), "pad_misplaced", 0, 0)
    v.reject("bare_unknown_tag", "value", element(6), "unknown_tag", 0, 0)
    v.reject("bare_bool_2", "value", element(BOOL, b"\x02"), "bad_bool", 9, 0)
    v.reject("bare_bool_2_before_trailing", "value", element(BOOL, b"\x02") + b"x", "bad_bool", 9, 0)
    v.reject("bare_message", "value", encode_message([Int(7)]), "unknown_tag", 0, 0)
    v.reject("bare_max_bytes_exceeded", "value", encode_sequence([Int(7)]), "limit_bytes", 16, None, field="trailing", options={"max_bytes": 16})
    v.reject("bare_max_bytes_counts_trailing", "value", encode_sequence([Int(7)]) + b"x", "limit_bytes", 17, None, field="trailing",
             options={"allow_trailing": True, "max_bytes": 17})


# ---------------------------------------------------------------------------------------------------
# Vectors: how they are checked
# ---------------------------------------------------------------------------------------------------


def options_from_json(thing):
    return Options(**thing)


def check_accepted(vector):
    """What is wrong with an accepted vector, or None."""
    form, data = vector["form"], bytes.fromhex(vector["hex"])
    result = decode(data, form, options_from_json(vector.get("options", {})))
    if result.fault is not None:
        return "is rejected: %s" % result.fault
    if dump([value_to_json(value) for value in result.values]) != dump(vector["values"]):
        return "decodes to other values"
    align = vector.get("align", 1)
    if result.alignment != align:
        return "has the alignment %d" % result.alignment
    if "end" in vector and result.end != vector["end"]:
        return "ends at %d" % result.end
    values = [value_from_json(value) for value in vector["values"]]
    if values != result.values:
        return "has values that JSON does not keep"
    encoded = encode(values, form, align)
    if (encoded == data) != vector.get("canonical", True):
        return "is %scanonical" % ("" if encoded == data else "not ")
    again = decode(encoded, form)
    if again.fault is not None or again.values != values or again.end != len(encoded):
        return "is not encoded to an acceptable input"
    return None


def check_rejected(vector):
    form, data = vector["form"], bytes.fromhex(vector["hex"])
    fault = decode(data, form, options_from_json(vector.get("options", {}))).fault
    if fault is None:
        return "is accepted"
    expected = Fault(*(vector.get(key) for key in ("status", "field", "position", "value", "needed", "fault")))
    if fault != expected:
        return "is rejected with\n  %s, not with\n  %s" % (fault, expected)
    return None


def check_coverage(rejected):
    """Every line of the table of section 12.3 is met."""
    met = {(vector["fault"], vector["status"], vector["field"]) for vector in rejected}
    for fault, (statuses, fields) in FAULTS.items():
        for status, field in itertools.product(statuses, fields):
            if (fault, status, field) not in met:
                yield "no vector for %s %s %s" % (fault, status, field)


def check_vectors(accepted, rejected):
    """A list of complaints."""
    complaints = []
    for vectors, check in ((accepted, check_accepted), (rejected, check_rejected)):
        for vector in vectors:
            complaint = check(vector)
            if complaint is not None:
                complaints.append("%s %s" % (vector["name"], complaint))
    complaints.extend(check_coverage(rejected))
    return complaints


def file_bytes(vectors):
    return "".join(dump(vector) + "\n" for vector in vectors).encode("utf-8")


def made_files():
    v = make_vectors()
    complaints = check_vectors(v.accepted, v.rejected)
    return (("accepted.jsonl", file_bytes(v.accepted)), ("rejected.jsonl", file_bytes(v.rejected))), complaints


def complain(complaints):
    for complaint in complaints:
        print("reference.py: " + complaint, file=sys.stderr)
    return 1 if complaints else 0


# ---------------------------------------------------------------------------------------------------
# Examples of the specification (appendix A)
# ---------------------------------------------------------------------------------------------------


def find_examples(markdown):
    """Pairs of a line number and the lines between the fences, the first being what follows the word."""
    block = None
    for number, line in enumerate(markdown.splitlines(), 1):
        if block is None and re.match("```evalue( |$)", line):
            block = (number, [line[len("```evalue") :].strip()])
        elif block is not None and line.startswith("```"):
            yield block
            block = None
        elif block is not None:
            block[1].append(line)
    if block is not None:
        raise BadValue("line %d: the example does not end" % block[0])


def run_example(lines):
    """What is wrong with an example, or None."""
    words = lines[0].split(" ")
    verdict, attributes = words[0], dict(word.split("=", 1) for word in words[1:])
    if verdict not in ("accept", "reject") or attributes.get("form") not in FORMS or set(attributes) - {"form", "align", "canonical"}:
        return "does not say what it is"
    data, values, faults = b"", [], []
    for line in lines[1:]:
        if line.startswith("= "):
            values.append(line[2:])
        elif line.startswith("! "):
            faults.append(line[2:])
        else:
            match = re.fullmatch("([0-9a-f]{2}(?: [0-9a-f]{2})*)(?: {2,}(.*))?", line)
            if match is None:
                return "has a line that is no bytes: %r" % line
            position = re.match("([0-9]+) {2,}", match.group(2) or "")
            if position and int(position.group(1)) != len(data):
                return "numbers the byte %d with %s" % (len(data), position.group(1))
            data += bytes.fromhex(match.group(1))
    form = attributes["form"]
    if verdict == "reject":
        if values or len(faults) != 1:
            return "has not exactly one fault and no values"
        fault = decode(data, form).fault
        return None if str(fault) == faults[0] else "gives %s" % fault
    if faults:
        return "is accepted and has a fault"
    if (form == "message") != ("align" in attributes):
        return "has an alignment that does not belong there, or none"
    vector = {"form": form, "hex": data.hex(), "values": [load(value) for value in values], "canonical": attributes.get("canonical") != "no"}
    if form == "message":
        vector["align"] = int(attributes["align"])
    if [dump(value_to_json(value_from_json(value))) for value in vector["values"]] != values:
        return "does not write its values as appendix B does"
    return check_accepted(vector)


# ---------------------------------------------------------------------------------------------------
# Command line
# ---------------------------------------------------------------------------------------------------


def read_file(path):
    if path == "-":
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


def command_make(arguments):
    files, complaints = made_files()
    if complaints:
        return complain(complaints)
    os.makedirs(arguments.dir, exist_ok=True)
    for name, content in files:
        with open(os.path.join(arguments.dir, name), "wb") as file:
            file.write(content)
        print("%s: %d vectors, %d bytes" % (name, content.count(b"\n"), len(content)))
    return 0


def command_check(arguments):
    files, complaints = made_files()
    on_disk = []
    for name, content in files:
        path = os.path.join(arguments.dir, name)
        found = read_file(path)
        if found != content:
            ours, theirs = content.split(b"\n"), found.split(b"\n")
            line = next((n for n, pair in enumerate(itertools.zip_longest(ours, theirs), 1) if pair[0] != pair[1]), 0)
            complaints.append("%s is not what `make` writes: the first difference is in line %d" % (path, line))
        on_disk.append([load(line) for line in found.decode("utf-8").split("\n") if line])
    for complaint in check_vectors(*on_disk):
        if complaint not in complaints:
            complaints.append(complaint)
    if not complaints:
        print("%d accepted and %d rejected vectors are right" % tuple(map(len, on_disk)))
    return complain(complaints)


def command_examples(arguments):
    complaints, number = [], 0
    for line, lines in find_examples(read_file(arguments.spec).decode("utf-8")):
        number += 1
        complaint = run_example(lines)
        if complaint is not None:
            complaints.append("%s:%d: the example %s" % (arguments.spec, line, complaint))
    print("%d examples" % number)
    if number == 0:
        complaints.append("%s has no examples" % arguments.spec)
    return complain(complaints)


def command_decode(arguments):
    result = decode(read_file(arguments.file), arguments.form, Options(arguments.allow_trailing, arguments.max_values, arguments.max_bytes))
    for value in result.values:
        sys.stdout.buffer.write((dump(value_to_json(value)) + "\n").encode("utf-8"))
    sys.stdout.buffer.flush()
    if result.fault is None:
        return 0
    print("! %s" % result.fault, file=sys.stderr)
    return 1


def command_encode(arguments):
    lines = read_file(arguments.file).decode("utf-8").split("\n")
    values = [value_from_json(load(line)) for line in lines if line.strip()]
    sys.stdout.buffer.write(encode(values, arguments.form, arguments.align))
    sys.stdout.buffer.flush()
    return 0


def main():
    parser = argparse.ArgumentParser(prog="reference.py", description="Reference codec of the EValue wire format 1.0.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    make = commands.add_parser("make", help="write the golden vectors into DIR")
    make.add_argument("dir", metavar="DIR")
    make.set_defaults(run=command_make)
    check = commands.add_parser("check", help="verify the golden vectors in DIR")
    check.add_argument("dir", metavar="DIR")
    check.set_defaults(run=command_check)
    examples = commands.add_parser("examples", help="run the examples of the specification")
    examples.add_argument("spec", metavar="SPEC.md")
    examples.set_defaults(run=command_examples)
    decoder = commands.add_parser("decode", help="bytes to JSON lines")
    decoder.add_argument("--form", choices=FORMS + ("value",), default="message")
    decoder.add_argument("--allow-trailing", action="store_true")
    decoder.add_argument("--max-values", type=int, metavar="N")
    decoder.add_argument("--max-bytes", type=int, metavar="N")
    decoder.add_argument("file", metavar="FILE|-")
    decoder.set_defaults(run=command_decode)
    encoder = commands.add_parser("encode", help="JSON lines to bytes")
    encoder.add_argument("--form", choices=FORMS + ("value",), default="message")
    encoder.add_argument("--align", type=int, default=16, metavar="N")
    encoder.add_argument("file", metavar="FILE|-")
    encoder.set_defaults(run=command_encode)
    arguments = parser.parse_args()
    try:
        return arguments.run(arguments)
    except (OSError, ValueError) as error:  # BadValue, bad JSON and bad UTF-8 are ValueErrors
        return complain([str(error)])


if __name__ == "__main__":
    sys.exit(main())
