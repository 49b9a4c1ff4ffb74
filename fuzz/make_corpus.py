# SPDX-License-Identifier: BSD-3-Clause
"""Makes seeds for the fuzz targets from the golden vectors: make_corpus.py VECTORS_DIR OUT_DIR

Writes OUT_DIR/TARGET/NAME, a file a seed. The same vectors give the same seeds.
"""

import itertools
import json
import pathlib
import struct
import sys
import zlib

MOST_SHOWN = 4096  # larger inputs slow the fuzzers down and reach nothing new


def load(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def rejected_kinds(vectors):
    """One rejected vector for each form, fault and field."""
    kinds = {}
    for vector in vectors:
        kinds.setdefault((vector["form"], vector["fault"], vector["field"], len(vector["hex"]) > 96), vector)
    return list(kinds.values())


def some_byte(name):
    """A byte that differs from name to name, and not from run to run."""
    return zlib.crc32(name.encode()) & 255


# ---- read, show, print, roundtrip: inputs of the format ----


def read_seeds(vectors):
    """All of them; the first byte as fuzz_read.c wants it."""
    for vector in vectors:
        options = vector.get("options", {})
        limits = (1 if "max_values" in options else 0) + (2 if "max_bytes" in options else 0)
        choice = (vector["form"] == "sequence") + 2 * bool(options.get("allow_trailing")) + 4 * limits
        offset = some_byte(vector["name"]) & 0xF0
        yield vector["name"], bytes([choice | offset]) + bytes.fromhex(vector["hex"])


def show_seeds(vectors, java):
    for vector in java:
        data = bytes.fromhex(vector["hex"])
        for drawing, bit in ("layout", 4), ("table", 6):
            for options in 0, 0x38, 0xC0:
                yield f"java_{vector['name']}_{drawing}_{options}", bytes([bit | options]) + data
    for vector in vectors:
        data = bytes.fromhex(vector["hex"])
        if len(data) > MOST_SHOWN:
            continue
        for drawing, bit in ("layout", 0), ("table", 2):
            yield f"{vector['name']}_{drawing}", bytes([(vector["form"] == "sequence") + bit]) + data


# Where characters begin or end to be controls, marks, surrogates, or one byte longer.
BOUNDARIES = [
    (0x1F, 0x20, 0x22, 0x5C, 0x7E, 0x7F, 0x80, 0x9F, 0xA0),
    (0x61B, 0x61C, 0x61D, 0x7FF, 0x800),
    (0x200D, 0x200E, 0x200F, 0x2010, 0x2027, 0x2028, 0x202E, 0x202F, 0x2065, 0x2066, 0x2069, 0x206A),
    (0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF),
]

ELEMENT, STRING, ERROR, DOUBLE, VALUE, NULL = 2, 3, 4, 5, 6, 7


def print_seeds(accepted, rejected):
    """The first byte as fuzz_print.c wants it, and a capacity."""
    for vector in accepted + rejected:
        data = bytes.fromhex(vector["hex"])
        if len(data) <= MOST_SHOWN:
            yield vector["name"], bytes([vector["form"] == "sequence", some_byte(vector["name"]), 0]) + data
    for code in range(32):
        yield f"element_{code}", bytes([ELEMENT, 8, 0, code]) + bytes(range(0x3C, 0x4C))
    for vector in accepted:
        for i, value in enumerate(vector["values"]):
            name = f"{vector['name']}_{i}"
            if value["kind"] == "double":
                yield name, bytes([DOUBLE, 12, 0]) + bytes.fromhex(value["bits_hex"])[::-1]
            elif value["kind"] == "string":
                yield name, bytes([STRING, 30, 0]) + bytes.fromhex(value["bytes_hex"])[:MOST_SHOWN]
    for i, bits in enumerate((0x3DCCCCCD3F800001, 0x4B00000133D6BF95, 0x00000001007FFFFF, 0x7F7FFFFF80000000, 0x7FC000007F800000)):
        yield f"floats_{i}", bytes([DOUBLE, 12, 0]) + struct.pack("<Q", bits)
    for i, codes in enumerate(BOUNDARIES):
        yield f"characters_{i}", bytes([STRING, 17, 0]) + "".join(map(chr, codes)).encode("utf-8", "surrogatepass")
    for fault in range(48):
        fields = struct.pack("<iHHQQQQQ", 2 * (fault % 5), fault, fault % 18, 24, fault - 1 & 2**64 - 1, fault, 300, 400)
        yield f"error_{fault}", bytes([ERROR, 60, 0]) + fields
    for tag in range(7):
        yield f"value_{tag}", bytes([VALUE, 40, 0, tag]) + bytes(7) + b"\x01\x02hello" * 15
    for i in range(5):
        yield f"null_{i}", bytes([NULL, 9, 0]) + bytes(i)


def roundtrip_seeds(accepted):
    """Bytes that become tensors of each scalar type, and any other bytes."""
    for code in range(30):
        for ndim in 0, 1, 2, 4, 16:
            choice = bytes([(code + ndim) % 14, 5, code, ndim]) + bytes(i * 37 % 251 for i in range(2 * ndim))
            yield f"tensor_{code}_{ndim}", choice + bytes(range(code, 100))
    for special in range(12):
        yield f"double_{special}", bytes([special, 3, special, 4, 3]) + b"abc" + bytes([2]) + bytes(range(8))
    for ndim in 1, 2, 3:
        yield f"empty_{ndim}", bytes([4, 6, 6, ndim, 252, 255, 254]) + bytes(20)
    for vector in accepted:
        data = bytes.fromhex(vector["hex"])
        if 0 < len(data) <= MOST_SHOWN:
            yield vector["name"], data


# ---- npy ----


def npy(header, data, version=1):
    text = header.encode("latin-1")
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def npy_header(descr, order, shape):
    return "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n" % (descr, order, shape)


def npy_seeds():
    dtypes = "|b1 |i1 |u1 <i2 >u2 <i4 >i4 <u8 >i8 <f2 >f2 <f4 >f4 =f4 <f8 >f8 <c8 >c16 <c16 |V2 <U3 <M8[ns] f4".split()
    for i, dtype in enumerate(dtypes):
        digits = "".join(c for c in dtype[2:] if c.isdigit()) or "4"
        data = bytes(6 * int(digits))
        yield f"dtype_{i}", npy(npy_header(dtype, "False", "(2, 3)"), data)
        yield f"dtype_{i}_fortran", npy(npy_header(dtype, "True", "(3, 2)"), data, 1 + i % 3)
    shapes = ["()", "(4,)", "(4, 0)", "(1, 2, 2)", "(4)", "(4L,)", "(2, 2,)", "(-4,)", "(04,)", "(2147483647, 0)", "(4", "4"]
    shapes += ["(4.0,)", "(2147483648,)", "(" + "1, " * 15 + "4)", "(" + "1, " * 16 + "4)", "(2147483647, 2147483647, 9)"]
    for i, shape in enumerate(shapes):
        yield f"shape_{i}", npy(npy_header("|u1", "False", shape), b"\1\2\3\4"[: 1 if shape == "()" else 0 if "0)" in shape else 4])
    headers = [
        '{"shape":(2,),"fortran_order":False,"descr":"<i2"}',
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2,)} \t\r\n\f",
        "{'descr': '<i2', 'descr': '<i2', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<i2', 'fortran_order': False}",
        "{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '\\x3ci2', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}x",
        "{'descr': '\xff\x1b[31m', 'fortran_order': False, 'shape': (2,)}",
        "{'\x85': 1}",
        "{'\xe2\x80\xae': 1}",
        "",
        "{}",
        "[]",
    ]
    for i, header in enumerate(headers):
        yield f"header_{i}", npy(header, b"\1\2\3\4", 1 + i % 3)
    good = npy(npy_header("<i2", "False", "(2,)"), b"\1\2\3\4")
    for size in 0, 3, 6, 7, 8, 9, 10, 40, len(good) - 1:
        yield f"cut_{size}", good[:size]
    yield "long", good + b"\0"
    yield "version_4", good[:6] + b"\4" + good[7:]
    others = {"png": b"\x89PNG\r\n\x1a\n", "gzip": b"\x1f\x8b\x08", "zip": b"PK\3\4", "json": b'{"kind":"none"}'}
    others["message"] = b"EVAL\1\0\4\0" + bytes(16)
    others["sequence"] = bytes(9)
    for name, data in others.items():
        yield f"other_{name}", data


# ---- JSON ----


def line_of(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


BAD_LINES = """{"kind":"none"
{"kind":"none","kind":"none"}
{"kind":"none","bool":true}
{"kind":"list"}
{"kind":1}
{"kind":"bool","bool":1}
{"kind":"int","int":7}
{"kind":"int","int":"07"}
{"kind":"int","int":"-0"}
{"kind":"int","int":"9223372036854775808"}
{"kind":"double","double":1e999}
{"kind":"double","double":-0}
{"kind":"double","double":123456789012345678901234567890}
{"kind":"double","double":1,"bits_hex":"3ff0000000000000"}
{"kind":"double","double":2,"bits_hex":"3ff0000000000000"}
{"kind":"double","bits_hex":"7ff0000000000001"}
{"kind":"double","bits_hex":"7FF"}
{"kind":"double","double":null}
{"kind":"string","string":"\\u0000\\u007f\\u0085\\ud83d\\ude00"}
{"kind":"string","string":"\\u061c\\u200e\\u2028\\u202e\\u2069"}
{"kind":"\u202e"}
{"kind":"string","string":"a","bytes_hex":"62"}
{"kind":"string","bytes_hex":"6"}
{"kind":"string","bytes_hex":"6g"}
{"kind":"string","string":"\\ud800"}
{"kind":"tensor","scalar_type":"uint8","sizes":[2],"data_hex_le":"0001"}
{"kind":"tensor","scalar_type":"uint8","sizes":[2],"dim_order":[1],"data_hex_le":"0001"}
{"kind":"tensor","scalar_type":"uint8","sizes":[1,1],"dim_order":[0,0],"data_hex_le":"00"}
{"kind":"tensor","scalar_type":"uint8","sizes":[2.0],"data_hex_le":"0001"}
{"kind":"tensor","scalar_type":"uint8","sizes":[-1],"data_hex_le":""}
{"kind":"tensor","scalar_type":"float9","sizes":[],"data_hex_le":""}
{"kind":"tensor","scalar_type":"uint8","sizes":[2147483647,2147483647,2],"data_hex_le":""}
{"kind":"tensor","scalar_type":"uint8","sizes":[0,2147483647,2147483647],"dim_order":[2,0,1],"data_hex_le":""}
{"kind":"tensor","scalar_type":"uint8","sizes":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_hex_le":"00"}
[]
[[[[[[[[[[[[[[[[
null
1
"x"
\x1b[31m
EVAL"""


def json_seeds(accepted):
    seen = set()
    for vector in accepted:
        lines = [line_of(value) for value in vector["values"]]
        text = "".join(line + "\n" for line in lines)
        if len(text) > MOST_SHOWN or text in seen:
            continue
        seen.add(text)
        yield vector["name"], text.encode("utf-8")
    for i, line in enumerate(BAD_LINES.split("\n")):
        yield f"bad_{i}", line.encode("utf-8")
        yield f"bad_{i}_between", b'\n \t\r\n{"kind":"none"}\n' + line.encode("utf-8") + b'\n{"kind":"none"}'
    yield "ill_formed", b'{"kind":"string","string":"\xff"}\n'
    yield "nul", b'{"kind":"none"}\0\n'


# ---- ExecuTorch's Android bytes ----

JAVA_1_0, JAVA_1_1, JAVA_1_2, BARE, ANY_TRAILING, ANY_BOOL, ANY_TEXT = 4, 5, 6, 0x10, 0x20, 0x40, 0x80


def java_seeds(vectors):
    """The two bytes as fuzz_java.c wants them: what is told, then scratch memory and address; of tensors the bare ones, too."""
    for vector in vectors:
        name, data = vector["name"], bytes.fromhex(vector["hex"])
        if len(data) > MOST_SHOWN:
            continue
        memory = some_byte(name)
        yield name, bytes([0, memory]) + data
        yield f"{name}_enough", bytes([0, memory & 0xF0 | 8]) + data
        yield f"{name}_waived", bytes([ANY_TRAILING | ANY_BOOL | ANY_TEXT | JAVA_1_2, memory]) + data
        for waiver in ANY_TRAILING, ANY_BOOL, ANY_TEXT:
            if vector.get("expect") in ("reject", "policy"):
                yield f"{name}_{waiver}", bytes([waiver, memory]) + data
        yield f"{name}_cut", bytes([0, memory]) + data[: len(data) * 2 // 3]
        if data[:1] in (b"\1", b"\2"):
            yield f"{name}_1_0", bytes([JAVA_1_0, memory]) + data
        if data[:1] == b"\1":
            yield f"{name}_bare", bytes([BARE | JAVA_1_1, memory]) + data[1:]
    for size in 28, 29, 30, 31:
        for i, mark in enumerate((b"@", b"#")):
            text = (b"org.pytorch.executorch.EValue" + mark + b"8bcc55f")[:size]
            yield f"before_1_2_{size}_{i}", bytes([0, 0, 2]) + text
            yield f"before_1_2_short_{size}_{i}", bytes([0, 0, 2]) + text[23:]
    for i, codes in enumerate(BOUNDARIES):
        text = "".join(map(chr, codes)).encode("utf-8", "surrogatepass")
        yield f"characters_{i}", bytes([0, 0, 2]) + struct.pack(">I", len(text)) + text
    for i, sizes in enumerate(((2**31 - 8,), (2**31 - 7,), (2**31 - 1, 2**31 - 1), (2**31 - 1, 2**31 - 1, 2), (0, 2**31 - 1, 2**31 - 1, 2))):
        yield f"large_{i}", bytes([0, 0, 1, 0, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes)
    for i, length in enumerate((2**31 - 6, 2**31 - 5, 2**31 - 1, 2**31)):
        yield f"long_{i}", bytes([0, 0, 2]) + struct.pack(">I", length) + b"abc"
    for code in range(30):  # decisions for values.h: a tensor
        for ndim in 0, 1, 3, 16:
            choice = bytes([5 + code % 4, code, ndim]) + bytes(i * 37 % 251 for i in range(2 * ndim))
            yield f"written_{code}_{ndim}", bytes([code % 9 | (ndim == 1) * BARE, code]) + choice + bytes(range(code, 100))


# ---- a hostile peer ----

PACKETS, SNAPSHOT, PATIENT, TIGHT = 1, 2, 224, 240
BYTES, INLINE, MEMORY, AGAIN, OFFER, SLOT, CHANGE, LEAVE, SCRIBBLE, DRAIN, READ, SEND = 0, 1, 3, 5, 6, 7, 9, 10, 11, 132, 13, 14
SEND_ENCODED, SEND_SEALED, RESERVE, SEND_SLOT, CANCEL, RELEASE, RECEIVE, SEND_MANY = 15, 16, 17, 18, 210, 19, 21, 254
HUGE = 237  # 2^30, of the numbers that are not right

VALUES = bytes([3, 4, 5, 0]) + b"hello" + bytes([5, 6, 2, 2, 3, 0, 0]) + bytes(48) + bytes([1, 1])
NO_VALUES = bytes([0])


def framed(bent=(0,), cut=(0,), descriptors=(0,)):
    """Decisions about a frame: as it should be; a field that differs; two pieces; descriptors of all kinds."""
    return bytes(bent[:1]) + bytes(cut[:1]) + bytes(bent[1:]) + bytes(descriptors) + bytes(cut[1:])


def several(choice, known=0):
    """Decisions for that many descriptors; `known`: the first is the right one."""
    count = (0, 1, 2, 3, 10, 124, 125, 253)[choice % 8]
    return bytes([choice]) + bytes(i % 9 for i in range(max(count - known, 0)))


def inline(content=VALUES, nbytes=0, frame=framed()):
    return bytes([INLINE, 0]) + content + bytes([nbytes, 0]) + frame


def memory(content=VALUES, nbytes=0, which=0, kind=0, size=0, frame=framed()):
    return bytes([MEMORY, 0]) + content + bytes([nbytes, which, kind, size, 0]) + frame


def offer(slots=1, nbytes=0, count=0, which=0, kind=0, size=0, frame=framed()):
    return bytes([OFFER, 0, nbytes, slots, count, which, kind, size]) + frame


def slot(number=0, content=VALUES, place=0, nbytes=0, frame=framed()):
    return bytes([SLOT, 0]) + content + bytes([number, place, nbytes]) + frame


def take(i=0):
    """Receives a message, reads it, gives it back."""
    return bytes([RECEIVE, READ, i, 0, RELEASE, i])


def scripts():
    received = bytes([RECEIVE])
    yield "inline", inline() + take()
    yield "inline_empty", inline(bytes([192])) + take()
    yield "inline_late", inline(frame=framed(cut=(200, 30, 0))) + take() + inline(frame=framed(cut=(201, 7, 0))) + take()
    yield "inline_cut", inline(frame=framed(cut=(240, 30, 0))) + take()
    for number in HUGE, HUGE + 1:
        yield f"inline_{number}", inline(nbytes=number) + take()
    yield "frame_cut", inline(frame=framed(cut=(240, 7, 0))) + take()
    for at in range(24):
        bent = 224 + (at - 224) % 24
        if bent <= 255:
            yield f"frame_{at}", inline(frame=framed(bent=(bent, 1))) + take()
    yield "memory", memory() + take() + bytes([AGAIN, 0, 0]) + framed() + take()
    for kind in (*range(200, 205), *range(246, 250)):
        yield f"memory_{kind}", memory(kind=kind) + take()
    for size in 200, 210, 230, 233, HUGE, 242:
        yield f"memory_size_{size}", memory(size=size) + take()
        yield f"memory_nbytes_{size}", memory(nbytes=size, size=242) + take()
    yield "memory_held", memory() * 3 + received * 3 + bytes([RELEASE, 1, RELEASE, 0, RELEASE, 0])
    for kind in range(9):
        yield f"descriptor_{kind}", memory(frame=framed(descriptors=(209, kind))) + take()
        yield f"descriptor_pool_{kind}", offer(frame=framed(descriptors=(209, kind))) + take()
    for count in range(240, 256):
        yield f"descriptors_{count}", memory(frame=framed(descriptors=several(count, 1))) + take()
        yield f"descriptors_inline_{count}", inline(frame=framed(descriptors=several(count))) + take()
    yield "descriptors_bent", inline(nbytes=210, frame=framed(descriptors=several(225))) + take()
    longer = framed(bent=(223, 5))
    yield "longer", memory(frame=longer) + take()
    yield "longer_inline", inline(frame=longer) + take()
    yield "longer_slot", offer() + slot(frame=longer) + take()
    yield "pool", offer() + slot() + take() + slot() + take()
    all_slots = offer(3) + b"".join(slot(i) for i in range(4)) + received * 4
    yield "pool_all", all_slots + bytes([READ, 2, 255, RELEASE, 1, RELEASE, 0]) + slot(1) + take()
    yield "pool_held", offer(3) + slot(2) * 2 + received * 2
    yield "pool_beyond", offer(1) + slot(2) + take()
    yield "pool_again", offer() * 2 + take()
    yield "pool_none", slot() + take()
    for kind in (*range(200, 205), *range(246, 250)):
        yield f"pool_{kind}", offer(kind=kind) + slot() + take()
    for number in 200, 210, 230, 232, 233, HUGE, 239, 243, 244:
        yield f"pool_nbytes_{number}", offer(nbytes=number) + slot() + take()
        yield f"pool_count_{number}", offer(count=number) + slot() + take()
        yield f"pool_size_{number}", offer(size=number) + slot() + take()
        yield f"pool_place_{number}", offer() + slot(place=number) + take()
        yield f"pool_length_{number}", offer() + slot(nbytes=number) + take()
    for how in range(8):
        change = bytes([CHANGE, 4 * how, 1, 2, 3, 4, 255])
        yield f"change_{how}", offer() + slot() + received + change + bytes([READ, 0, 255]) + change[1:] * 3 + bytes([RELEASE, 0])
        yield f"change_{how}_sealed", memory() + received + change + bytes([READ, 0, 1]) + change[1:] + bytes([RELEASE, 0])
    yield "bytes", bytes([BYTES, 24]) + b"EVIP\1\1" + bytes(18) + bytes([0]) + take()
    yield "bytes_none_descriptor", bytes([BYTES, 0]) + several(225)
    yield "bytes_none_late", bytes([BYTES, 0, 0]) + memory()
    yield "bytes_none", bytes([BYTES, 0, 0]) + take() + inline() + take()
    yield "woken", offer() + slot() + received + bytes([CHANGE, 16, 8, 1, 1, 1, 1, RELEASE, 0])
    for way in range(4):
        yield f"leave_{way}", inline() + bytes([SEND]) + VALUES + bytes([LEAVE, way]) + take() * 2 + bytes([SEND]) + VALUES
    late = inline(nbytes=210, frame=framed(cut=(201, 30, 0), descriptors=several(225)))
    yield "leave_stray_cut", bytes([SEND]) + VALUES + late + bytes([LEAVE, 3]) + take()
    for action, name in (SEND, "send"), (SEND_ENCODED, "encoded"):
        yield name, (bytes([action]) + VALUES) * 5 + bytes([DRAIN])
    yield "send_large", bytes([SEND, 1, 4, 255, 0x87, 0x13])  # 4999 bytes, of which the input has none
    yield "send_many", bytes([SEND_MANY]) * 12 + bytes([DRAIN, SEND_MANY])
    yield "sealed", bytes([SEND_SEALED]) + VALUES + bytes([1, DRAIN])
    reserved = bytes([RESERVE, 0]) + VALUES
    yield "reserve", reserved * 3 + bytes([SEND_SLOT, 1, CANCEL, 0, SEND_SLOT, 0, DRAIN]) + reserved
    yield "scribble", reserved + bytes([SEND_SLOT, 0, DRAIN, SCRIBBLE, 4, SCRIBBLE, 127]) + (bytes([SEND]) + VALUES) * 4 + bytes([DRAIN])
    yield "scribble_reserved", reserved + bytes([DRAIN, SCRIBBLE, 4, SEND]) + VALUES + reserved + bytes([SEND_SLOT, 0, DRAIN])
    yield "send_half", bytes([SEND_MANY] + [SEND, 1, 4, 255, 0xB8, 0x0B]) + bytes(3001) + bytes([DRAIN, SEND_MANY, DRAIN])
    yield "both", offer() + slot() + bytes([SEND]) + VALUES + received + bytes([DRAIN, RELEASE, 0])


SENDING = "send encoded reserve scribble scribble_reserved sealed send_large send_many send_half".split()


def ipc_seeds():
    """Four bytes of options as fuzz_ipc.c wants them, then a script."""
    for name, script in scripts():
        for way, what in ("", 0), ("_packets", PACKETS), ("_snapshot", SNAPSHOT | 4):
            yield name + way, bytes([what, 0, some_byte(name), some_byte(name[::-1])]) + script
    for carrier, slots in itertools.product(range(8), (1, 129)):
        for name, script in scripts():
            if name in SENDING:
                for way, what, more in ("", 0, 0), ("_packets", PACKETS, 0), ("_tight", 0, TIGHT), ("_tight_packets", PACKETS, TIGHT):
                    yield f"{name}_{carrier}_{slots}{way}", bytes([what, more, carrier, slots]) + script
    for name, script in ("idle", bytes([RECEIVE]) + inline() + take()), ("stall", inline(frame=framed(cut=(240, 30, 0))) + take() * 2):
        yield f"{name}_patient", bytes([0, PATIENT, 0, 0]) + script
    for limits in range(4, 64, 4):
        yield f"limits_{limits}", bytes([limits, 0, 0, 0]) + inline() + take() + memory() + take() + offer() + slot() + take()


# ---- files ----


def write(out, target, seeds):
    directory = out / target
    directory.mkdir(parents=True, exist_ok=True)
    for name, data in seeds:
        (directory / name).write_bytes(data)


def main():
    vectors, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    accepted, rejected = load(vectors / "accepted.jsonl"), load(vectors / "rejected.jsonl")
    kinds, java = rejected_kinds(rejected), load(vectors / "executorch_java.jsonl")
    write(out, "read", read_seeds(accepted + rejected))
    write(out, "roundtrip", roundtrip_seeds(accepted))
    write(out, "print", print_seeds(accepted, kinds))
    write(out, "show", show_seeds(accepted + kinds, java))
    write(out, "npy", npy_seeds())
    write(out, "json", json_seeds(accepted))
    write(out, "java", java_seeds(java))
    write(out, "ipc", ipc_seeds())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: make_corpus.py VECTORS_DIR OUT_DIR")
    main()
