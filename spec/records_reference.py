#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reference reader of record files (evalue-records-1.0.md), and the maker of their golden vectors.

Written from evalue-records-1.0.md alone, to be read beside it; messages are read by reference.py. Slowness is
accepted wherever it makes the code plainer. Needs Python 3.11 or newer and nothing else.

    records_reference.py generate DIR       write records-accepted.jsonl and records-rejected.jsonl into DIR
    records_reference.py check DIR          verify that DIR holds exactly these files, and run every vector
    records_reference.py examples SPEC.md   run the examples of the specification
    records_reference.py scan [--form records|messages] [--skip] [--max-record N] [--no-data-crc] FILE|-
    records_reference.py index FILE|-       the index of a record file, from its heads alone
    records_reference.py cuts FILE|-        read a small file cut at each byte, and hold the result against the law

`scan` prints each record as the specification's examples do, then how the file ends. The exit status is 0 for
success and 1 for a fault.
"""

import argparse
import os
import re
import sys

sys.dont_write_bytecode = True
import reference  # noqa: E402
from reference import Bool, Int, NoneValue, String, dump, encode_message, file_bytes, load, pattern, read_file, tensor  # noqa: E402

HEAD, FRAMING, SMALLEST_MESSAGE = 12, 16, 24
TOO_LARGE = 2**62
FAULTS = {  # the table of section 5: status; position, expected, found, needed of a record at `o`
    "record_head_short": ("truncated", lambda o, left: (o, HEAD, left, o + HEAD)),
    "record_length_crc": ("corrupt", lambda o, right, stored: (o, right, stored)),
    "record_length_large": ("malformed", lambda o, length: (o, TOO_LARGE - 1, length)),
    "record_too_large": ("limit", lambda o, limit, length: (o, limit, length)),
    "record_short": ("truncated", lambda o, length, left: (o, FRAMING + length, left, o + FRAMING + length)),
    "record_data_crc": ("corrupt", lambda o, right, stored: (o + HEAD, right, stored)),
    "record_empty": ("malformed", lambda o: (o, SMALLEST_MESSAGE, 0)),
    "index_line": ("malformed", lambda o, position: (position,)),
    "index_entry": ("malformed", lambda o, position, expected, found: (position, expected, found)),
}
STOPS_SKIPPING = ("record_head_short", "record_length_crc", "record_length_large", "record_short")
FAULT_KEYS = ("status", "fault", "field", "record", "offset", "position", "value", "expected", "found", "needed")


class Fault(Exception):
    """`record`: how many records stand before this one; `offset`: where it begins."""

    def __init__(self, fault, record, offset, *numbers, message=None):
        """`message` is a fault inside of a message, as the wire format's vectors have it."""
        if message is None:
            status, columns = FAULTS[fault]
            message = {"status": status} | dict(zip(("position", "expected", "found", "needed"), columns(offset, *numbers)))
        known = message | {"fault": fault, "record": record, "offset": offset}
        self.json = {key: known[key] for key in FAULT_KEYS if known.get(key) is not None}
        self.skippable = fault not in STOPS_SKIPPING

    def __str__(self):
        form = "%s=0x%08x" if self.json["fault"].endswith("_crc") else "%s=%d"
        return " ".join(
            [self.json["status"]] + ["%s=%s" % (key, self.json[key]) for key in FAULT_KEYS[1:7] if key in self.json]
            + [form % (key, self.json[key]) for key in FAULT_KEYS[7:] if key in self.json])


# Checksums (section 2)
# ----------------------------------------

CRC_KNOWN = (  # the check value, and those of RFC 3720, B.4
    (b"", 0), (b"123456789", 0xE3069283), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E), (bytes(range(31, -1, -1)), 0x113FDB5C),
)


def crc_of_byte(crc):
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


CRC_TABLE = [crc_of_byte(byte) for byte in range(256)]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def number(raw):
    return int.from_bytes(raw, "little")


# Reading (sections 4 to 7). A record is its offset and its data.
# ----------------------------------------


def judge_head(data, record, at, left):
    """Steps 1 to 3 of section 4: the length."""
    if left < HEAD:
        raise Fault("record_head_short", record, at, left)
    length, right, stored = number(data[at : at + 8]), masked(data[at : at + 8]), number(data[at + 8 : at + HEAD])
    if stored != right:
        raise Fault("record_length_crc", record, at, right, stored)
    if length >= TOO_LARGE:
        raise Fault("record_length_large", record, at, length)
    return length


def judge_data(data, record, at, length, form, data_crc=True):
    """Steps 6 and 7: the data."""
    content, end = data[at + HEAD : at + HEAD + length], at + HEAD + length
    right, stored = masked(content), number(data[end : end + 4])
    if data_crc and stored != right:
        raise Fault("record_data_crc", record, at, right, stored)
    if form == "messages":
        if length == 0:
            raise Fault("record_empty", record, at)
        fault = reference.decode(content, "message").fault
        if fault is not None:
            raise Fault(fault.fault, record, at, message=vars(fault))
    return content


def read(data, form, skip=False, max_record=None, data_crc=True):
    """The records, how many were skipped, and the fault that ended it or None. The form "heads": no look at data."""
    records, skipped, at, record = [], 0, 0, 0
    try:
        while at < len(data):
            left, too_large = len(data) - at, None
            length = judge_head(data, record, at, left)
            if max_record is not None and length > max_record:
                too_large = Fault("record_too_large", record, at, max_record, length)
            if length > left - FRAMING and (skip or not too_large):
                raise Fault("record_short", record, at, length, left)
            try:
                if too_large:
                    raise too_large
                records.append((at, range(length) if form == "heads" else judge_data(data, record, at, length, form, data_crc)))
            except Fault:
                if not skip:
                    raise
                skipped += 1
            at, record = at + FRAMING + length, record + 1
    except Fault as fault:
        return records, skipped, fault
    return records, skipped, None


def write_index(records):
    return "".join("%d %d\n" % (at, FRAMING + len(content)) for at, content in records)


def read_index(text, file_size):
    entries, position = [], 0
    for line in re.findall(rb"[^\n]*\n|[^\n]+$", text):
        match = re.fullmatch(rb"(0|[1-9][0-9]*) (0|[1-9][0-9]*)\n", line)
        offset, size = map(int, match.groups()) if match else (0, 2**64)
        if max(offset, size) >= 2**64:
            raise Fault("index_line", len(entries), None, position)
        if size < FRAMING:
            raise Fault("index_entry", len(entries), offset, position, FRAMING, size)
        if offset + size > file_size:
            raise Fault("index_entry", len(entries), offset, position, file_size, min(offset + size, 2**64 - 1))
        entries.append((offset, size))
        position += len(line)
    return entries


def read_by_index(data, text):
    """As `read`, in the order of the index; nothing is skipped."""
    records = []
    try:
        for record, (at, size) in enumerate(read_index(text, len(data))):
            length = judge_head(data, record, at, size)
            if FRAMING + length != size:
                raise Fault("index_entry", record, at, at, FRAMING + length, size)
            records.append((at, judge_data(data, record, at, length, "records")))
    except Fault as fault:
        return records, 0, fault
    return records, 0, None


# Vectors: how they are put together. No expectation is taken from the reader.
# ----------------------------------------


def frame(content, length=None, length_crc=None, data_crc=None):
    head = (len(content) if length is None else length).to_bytes(8, "little")
    crcs = [masked(part) if crc is None else crc for part, crc in ((head, length_crc), (content, data_crc))]
    return head + crcs[0].to_bytes(4, "little") + content + crcs[1].to_bytes(4, "little")


def file_of(contents):
    return b"".join(map(frame, contents))


def placed(contents, at=0):
    return [(at + len(file_of(contents[:n])), content) for n, content in enumerate(contents)]


def records_json(records):
    return [{"offset": at, "size": FRAMING + len(content), "message_hex": content.hex()} for at, content in records]


def skip_json(records, skipped, fault):
    return {"records": records_json(records), "skipped": skipped, "end": fault.json if fault else None}


EMPTY, NONE, INT = encode_message([]), encode_message([NoneValue()]), encode_message([Int(7)])
BOOL_2 = encode_message([Bool(True)])[:-1] + b"\x02"
LEFT = object()  # stands for the bytes that are left
PLACES = {(False, False): "only", (True, False): "last", (False, True): "first", (True, True): "between"}


class Vectors:
    def __init__(self):
        self.accepted, self.rejected = [], []

    def begin(self, name, form, data, options, index):
        vector = {"name": name, "form": form, "bytes_hex": data.hex()} | ({} if index is None else {"index": index})
        return vector | ({"options": options} if options else {})

    def accept(self, name, form, contents, options=None, index=None, data=None, records=None):
        vector = self.begin(name, form, file_of(contents) if data is None else data, options, index)
        self.accepted.append(vector | {"records": records_json(placed(contents) if records is None else records)})

    def reject(self, name, form, data, records, fault, skip=None, options=None, index=None):
        """`skip`: the records, how many are skipped, and the fault or None. Not given: skip mode stops here, too."""
        vector = self.begin(name, form, data, options, index) | {"records": records_json(records)} | fault.json
        self.rejected.append(vector | ({} if form == "index" else {"skip": skip_json(*(skip or (records, 0, fault)))}))

    def around(self, name, form, bad, fault, *numbers, options=None, after=(False, True), message=None):
        """A bad record alone, after a good one, before one, and between two."""
        for place in PLACES:
            lead, follow = [INT] * place[0], [NONE] * place[1]
            at, data = len(file_of(lead)), bad + file_of(follow)
            found = Fault(fault, len(lead), at, *(len(data) if n is LEFT else n for n in numbers), message=message)
            skip = (placed(lead) + placed(follow, at + len(bad)), 1, None) if found.skippable else None
            if place[1] in after:
                self.reject("%s_%s" % (name, PLACES[place]), form, file_of(lead) + data, placed(lead), found, skip, options)


def accepted_vectors(v, wire):
    v.accept("no_records", "messages", [])
    v.accept("no_records_framing", "records", [])
    for align in (1, 2, 16, 64, 4096):
        v.accept("tensor_align_%d" % align, "messages", [INT, encode_message([tensor("float32", [2, 3])], align), NONE])
    for length in range(65):
        v.accept("data_%d" % length, "records", [pattern(length), b"x", pattern(length, 7)])
    for length in range(20):
        v.accept("string_%d" % length, "messages", [encode_message([String(pattern(length))])] * 2)
    v.accept("zero_length_100", "records", [b""] * 100)
    v.accept("many", "messages", [encode_message([Int(n)]) for n in range(50)])
    v.accept("not_messages", "records", [b"\n\x0b\n\t\n\x01x\x12\x04\x1a\x02\n\x00", EMPTY[:7], b"", INT + b"\0"])
    for limit in (len(INT), len(INT) + 1, 2**64 - 1):
        v.accept("max_record_%d" % limit, "messages", [INT, NONE], {"max_record": limit})
    v.accept("data_crc_left_out", "messages", [INT, NONE], {"data_crc": False}, data=frame(INT, data_crc=0) + frame(NONE))
    for vector in wire["accepted.jsonl"][:120]:
        if vector["form"] == "message" and "options" not in vector and len(vector["hex"]) < 400:
            v.accept("wire_" + vector["name"], "messages", [NONE, bytes.fromhex(vector["hex"])])
    contents = [b"a", b"", b"bcd", INT]
    for name, order in (("all", (0, 1, 2, 3)), ("none", ()), ("backwards", (3, 2, 1, 0)), ("some", (2,)), ("repeated", (1, 1, 0))):
        records = [placed(contents)[n] for n in order]
        v.accept("index_" + name, "index", contents, index=write_index(records), records=records)
    v.accept("index_of_no_records", "index", [], index="")


def cut_vectors(v, name, form, contents):
    """Every cut: the records wholly inside, then truncated at the one that is cut."""
    for k in range(len(file_of(contents))):
        n = max(n for n, (at, _) in enumerate(placed(contents)) if at <= k)
        at, content = placed(contents)[n]
        case, data, inside = "%s_cut_%d" % (name, k), file_of(contents)[:k], placed(contents[:n])
        if k == at:
            v.accept(case, form, contents[:n])
        elif k - at < HEAD:
            v.reject(case, form, data, inside, Fault("record_head_short", n, at, k - at))
        else:
            v.reject(case, form, data, inside, Fault("record_short", n, at, len(content), k - at))


def flip_vectors(v, name, form, contents, bits):
    """Every byte with a wrong bit. `bits`: which ones of the byte to try."""
    records = placed(contents)
    for n, (at, content) in enumerate(records):
        for place, bit in ((place, bit) for place in range(FRAMING + len(content)) for bit in bits(place)):
            data, end = bytearray(file_of(contents)), at + HEAD + len(content)
            data[at + place] ^= 1 << bit
            part, crc = (data[at : at + 8], data[at + 8 : at + HEAD]) if place < HEAD else (data[at + HEAD : end], data[end : end + 4])
            fault = Fault("record_length_crc" if place < HEAD else "record_data_crc", n, at, masked(part), number(crc))
            v.reject("%s_flip_%d_%d" % (name, at + place, bit), form, bytes(data), records[:n], fault,
                     None if place < HEAD else (records[:n] + records[n + 1 :], 1, None))


def length_vectors(v):
    for power, less in ((31, 0), (31, 1), (32, 0), (40, 0), (62, 1), (62, 0), (63, 0), (64, 16), (64, 12), (64, 1)):
        name, length = "length_2_%d_less_%d" % (power, less), 2**power - less
        fault = ("record_short", length, LEFT) if length < TOO_LARGE else ("record_length_large", length)
        crc = masked(length.to_bytes(8, "little"))
        v.around(name + "_in_12", "records", frame(b"", length)[:HEAD], *fault, after=(False,))
        v.around(name, "messages", frame(INT, length), *fault)
        v.around(name + "_bad_crc", "records", frame(b"", length, crc ^ 1), "record_length_crc", crc, crc ^ 1)
    digits = b"123456789"
    for length in range(9):  # what follows the data is not its CRC, and the rest no head
        data, end = frame(digits, length), FRAMING + length
        rest = Fault("record_head_short", 1, end, 9 - length)
        v.reject("length_%d_of_9" % length, "records", data, [],
                 Fault("record_data_crc", 0, 0, masked(digits[:length]), number(data[end - 4 : end])), ([], 1, rest))
    for length in range(10, 21):
        v.around("length_%d_of_9" % length, "records", frame(digits, length), "record_short", length, LEFT, after=(False,))
    for size in range(1, 25):
        fault = ("record_head_short", LEFT) if size < HEAD else ("record_length_crc", masked(bytes(8)), 0)
        v.around("zeros_%d" % size, "messages", bytes(size), *fault, after=(False,))
    for name, other in (("message", INT), ("gzip", bytes.fromhex("1f8b0800000000000203030000000000")), ("index", b"0 57\n57 49\n106 40\n")):
        v.around("not_records_" + name, "records", other, "record_length_crc", masked(other[:8]), number(other[8:HEAD]))
    for name, crc in (("unmasked", crc32c(bytes(8))), ("big_endian", 0x29039807), ("of_nothing", masked(b""))):
        v.around("length_crc_" + name, "records", frame(b"", 0, crc), "record_length_crc", masked(bytes(8)), crc)


def data_vectors(v, wire):
    for name, crc in (("unmasked", crc32c(INT)), ("big_endian", 0x1A1767C8), ("zero", 0), ("of_other", masked(NONE))):
        v.around("data_crc_" + name, "messages", frame(INT, data_crc=crc), "record_data_crc", masked(INT), crc)
    v.around("zero_length", "messages", frame(b""), "record_empty")
    v.around("zero_length_bad_crc", "messages", frame(b"", data_crc=0), "record_data_crc", masked(b""), 0)
    v.around("bad_message_bad_crc", "messages", frame(BOOL_2, data_crc=0), "record_data_crc", masked(BOOL_2), 0)
    v.around("data_crc_left_out", "messages", frame(BOOL_2, data_crc=0), "bad_bool", options={"data_crc": False},
             message={"status": "malformed", "field": "bool", "position": 33, "value": 0})
    v.around("length_crc_never_left_out", "records", frame(INT, length_crc=0), "record_length_crc", masked(frame(INT)[:8]), 0, options={"data_crc": False})
    limit, over = {"max_record": len(INT)}, ("record_too_large", len(INT), len(INT) + 1)
    v.around("max_record", "records", frame(INT + b"x"), *over, options=limit)
    v.around("max_record_bad_crc", "records", frame(INT + b"x", data_crc=0), *over, options=limit)
    cut = Fault("record_short", 0, 0, len(INT) + 1, FRAMING + len(INT))
    v.reject("max_record_cut", "records", frame(INT + b"x")[:-1], [], Fault(over[0], 0, 0, *over[1:]), ([], 0, cut), limit)
    v.reject("zero_length_100", "messages", frame(b"") * 100, [], Fault("record_empty", 0, 0), ([], 100, None))
    # Two faults: skip mode counts the first and comes to the second.
    one, bad, fault = len(frame(INT)), frame(INT, data_crc=0), Fault("record_data_crc", 0, 0, masked(INT), 0)
    for name, end in (("short", Fault("record_short", 2, one * 2, len(INT), one - 1)), ("head_short", Fault("record_head_short", 2, one * 2, 11))):
        data = bad + frame(INT) + frame(INT)[: end.json["found"]]
        v.reject("data_crc_then_" + name, "messages", data, [], fault, ([(one, INT)], 1, end))
    end = Fault("record_length_crc", 2, one * 2, masked(frame(INT)[:8]), 0)
    v.reject("data_crc_then_length_crc", "messages", bad + frame(INT) + frame(INT, length_crc=0), [], fault, ([(one, INT)], 1, end))
    v.reject("data_crc_all", "messages", bad * 3, [], fault, ([], 3, None))
    met = set()
    for vector in wire["rejected.jsonl"]:  # each fault of a message once, in a good record
        if vector["form"] == "message" and "options" not in vector and vector["hex"] and (vector["fault"], vector["field"]) not in met:
            met.add((vector["fault"], vector["field"]))
            v.around("wire_" + vector["name"], "messages", frame(bytes.fromhex(vector["hex"])), vector["fault"], after=(True,), message=vector)


def index_vectors(v):
    contents = [b"a", b"bcd", INT]
    records, data, good, size, most = placed(contents), file_of(contents), "0 17\n17 19\n", len(file_of(contents)), 2**64 - 1
    for name, line in (
        ("empty_line", "\n"), ("one_number", "36\n"), ("three_numbers", "36 57 0\n"), ("two_spaces", "36  57\n"), ("tab", "36\t57\n"),
        ("space_before", " 36 57\n"), ("space_after", "36 57 \n"), ("carriage_return", "36 57\r\n"), ("no_line_feed", "36 57"), ("plus", "+36 57\n"),
        ("minus", "-36 57\n"), ("leading_zero", "036 57\n"), ("zeros", "00 57\n"), ("hex", "0x24 57\n"), ("exponent", "36 5e1\n"), ("point", "36 57.0\n"),
        ("letters", "a b\n"), ("nul", "36 57\0\n"), ("offset_2_64", "%d 57\n" % 2**64), ("size_2_64", "36 %d\n" % 2**64), ("long", "36 %s\n" % ("9" * 100)),
        ("other_digits", "\u0663\u0666 57\n"), ("byte_order_mark", "\ufeff36 57\n"), ("comment", "# index\n"), ("underscore", "3_6 57\n"),
    ):
        for n, before in ((0, ""), (2, good)):
            v.reject("index_%s_%d" % (name, n), "index", data, [], Fault("index_line", n, None, len(before)), index=before + line)
    for name, at, entry, expected, found in (
        ("wraps", 2**64 - 8, 16, size, most), ("wraps_far", most, most, size, most), ("ends_2_64", 2**64 - 16, 16, size, most), ("huge", 0, most, size, most),
        ("two_2_63", 2**63, 2**63, size, most), ("past_end", 36, 58, size, size + 1), ("at_end", size, 16, size, size + 16), ("size_0", 0, 0, 16, 0),
        ("size_15", 0, 15, 16, 15), ("size_15_outside", 2**64 - 8, 15, 16, 15),
    ):
        for n, before in ((0, ""), (2, good)):
            v.reject("index_entry_%s_%d" % (name, n), "index", data, [],
                     Fault("index_entry", n, at, len(before), expected, found), index=before + "%d %d\n" % (at, entry))
    for name, entry in (("short", 18), ("long", 20), ("of_two", 76)):
        v.reject("index_stale_" + name, "index", data, records[:1], Fault("index_entry", 1, 17, 17, 19, entry), index="0 17\n17 %d\n" % entry)
    inside = Fault("record_length_crc", 1, 18, masked(data[18:26]), number(data[26:30]))
    v.reject("index_inside_a_record", "index", data, records[:1], inside, index="0 17\n18 18\n")
    v.reject("index_data_crc", "index", frame(b"a") + frame(b"bcd", data_crc=0), records[:1], Fault("record_data_crc", 1, 17, masked(b"bcd"), 0), index=good)
    v.reject("index_length_large", "index", frame(b"", TOO_LARGE), [], Fault("record_length_large", 0, 0, TOO_LARGE), index="0 16\n")
    v.reject("index_no_file", "index", b"", [], Fault("index_entry", 0, 0, 0, 0, 16), index="0 16\n")


def make_vectors(directory):
    v, small, messages = Vectors(), [b"a", b"", b"bc"], [EMPTY, INT, NONE]
    wire = {name: list(map(load, read_file(os.path.join(directory, name)).splitlines())) for name in ("accepted.jsonl", "rejected.jsonl")}
    accepted_vectors(v, wire)
    cut_vectors(v, "framing", "records", small)
    cut_vectors(v, "messages", "messages", messages)
    flip_vectors(v, "framing", "records", small, lambda place: range(8))
    flip_vectors(v, "messages", "messages", messages, lambda place: (place % 8,))
    length_vectors(v)
    data_vectors(v, wire)
    index_vectors(v)
    return {"records-accepted.jsonl": v.accepted, "records-rejected.jsonl": v.rejected}


# Vectors and examples: how they are checked
# ----------------------------------------


def check_vector(vector):
    """What is wrong with it, or None."""
    data, form, options = bytes.fromhex(vector["bytes_hex"]), vector["form"], vector.get("options", {})
    fault = {key: vector[key] for key in FAULT_KEYS if key in vector} or None
    wanted = [{"records": vector["records"], "skipped": 0, "end": fault}]
    if form == "index":
        given = [skip_json(*read_by_index(data, vector["index"].encode("utf-8")))]
    else:
        wanted.append(vector["skip"] if fault else wanted[0])
        given = [skip_json(*read(data, form, skip, **options)) for skip in (False, True)]
        heads = read(data, "heads")
        if heads[2] is None and not options and read_by_index(data, write_index(heads[0]).encode())[0] != read(data, "records")[0]:
            return "is read otherwise by its index"
        if not options and (heads[2].json if heads[2] else None) != given[1]["end"]:
            return "has other heads than skip mode finds"
    return None if given == wanted else "gives %s" % given


def check_coverage(rejected):
    """Each (status, fault) of the table of section 5 has a vector, and the table is the one of this file."""
    document = read_file(os.path.join(os.path.dirname(os.path.abspath(__file__)), "evalue-records-1.0.md")).decode("utf-8")
    table = re.findall(r"(?m)^\| ((?:record|index)_[a-z_]+) \| ([a-z]+) \|", document)
    met = {(vector["fault"], vector["status"]) for vector in rejected}
    yield from ("no vector for %s %s" % row for row in table if row not in met)
    if table != [(fault, row[0]) for fault, row in FAULTS.items()]:
        yield "the table of section 5 has other faults"


def show(records, form):
    for at, content in records:
        values = map(reference.value_to_json, reference.decode(content, "message").values)
        yield "= %d %d %s" % (at, FRAMING + len(content), dump(list(values)) if form == "messages" else content.hex() or "-")


def run_example(first, lines):
    """What is wrong with it, or None. The lines that are not bytes are what it has to give."""
    words, data, expected = first.split(), b"", []
    attributes = dict(word.split("=") for word in words[1:])
    for line in lines:
        match = re.fullmatch("([0-9a-f]{2}(?: [0-9a-f]{2})*|-)(?: +(.*))?", line)
        if match is None:
            expected.append(line)
            continue
        part, note = bytes.fromhex(match[1].strip("-")), match[2] or ""
        if words[0] == "crc" and not note.startswith("crc=0x%08x masked=0x%08x " % (crc32c(part), masked(part))):
            return "has another checksum: %s" % line
        if words[0] != "crc" and re.match("[0-9]+ ", note) and int(note.split()[0]) != len(data):
            return "numbers the byte %d otherwise: %s" % (len(data), line)
        data += part
    if words[0] == "crc":
        return "has a line that is no bytes" if expected else None
    form, index = attributes.pop("form"), "".join(line[2:] + "\n" for line in expected if line.startswith("@ "))
    options = {key: int(limit) for key, limit in attributes.items()}
    records, _, fault = read_by_index(data, index.encode()) if form == "index" else read(data, form, **options)
    given = ["@ " + line for line in index.splitlines()] + [*show(records, form)] + (["! %s" % fault] if fault else [])
    if fault and form != "index":
        records, skipped, end = read(data, form, True, **options)
        given.append("~ records=%d skipped=%d %s" % (len(records), skipped, end or "end"))
    return None if given == expected and (words[0] == "reject") == (fault is not None) else "gives\n" + "\n".join(given)


def complain(complaints):
    for complaint in complaints:
        print("records_reference.py: " + complaint, file=sys.stderr)
    return 1 if complaints else 0


# Command line
# ----------------------------------------


def command_generate(arguments):
    for name, vectors in make_vectors(arguments.path).items():
        with open(os.path.join(arguments.path, name), "wb") as file:
            file.write(file_bytes(vectors))
        print("%s: %d vectors" % (name, len(vectors)))
    return 0


def command_check(arguments):
    complaints, counts = ["the CRC-32C of %s is wrong" % data.hex() for data, crc in CRC_KNOWN if crc32c(data) != crc], []
    for name, made in make_vectors(arguments.path).items():
        content = read_file(os.path.join(arguments.path, name))
        vectors = list(map(load, content.splitlines()))
        if content != file_bytes(made) or len({vector["name"] for vector in vectors}) != len(vectors):
            complaints.append("%s is not what `generate` writes, or has a name twice" % name)
        complaints += ["%s %s" % (vector["name"], complaint) for vector in vectors if (complaint := check_vector(vector))]
        counts.append(len(vectors))
    complaints += check_coverage(vectors)
    if not complaints:
        print("%d accepted and %d rejected record vectors are right" % tuple(counts))
    return complain(complaints)


def command_examples(arguments):
    markdown = read_file(arguments.path).decode("utf-8")
    examples = re.findall(r"(?ms)^```records +([^\n]*)\n(.*?)^```$", markdown)
    complaints = ["the example %s\n%s%s" % (*example, complaint) for example in examples if (complaint := run_example(example[0], example[1].splitlines()))]
    if not examples or len(examples) != markdown.count("\n```records"):
        complaints.append("%s has no examples, or some that are not whole" % arguments.path)
    print("%d examples" % len(examples))
    return complain(complaints)


def command_scan(arguments):
    data = read_file(arguments.path)
    records, skipped, fault = read(data, arguments.form, arguments.skip, arguments.max_record, not arguments.no_data_crc)
    print(*show(records, arguments.form), "~ records=%d skipped=%d %s" % (len(records), skipped, fault or "end"), sep="\n")
    return 1 if fault or skipped else 0


def command_index(arguments):
    records, _, fault = read(read_file(arguments.path), "heads")
    print(write_index(records), end="")
    return complain([str(fault)] if fault else [])


def command_cuts(arguments):
    data, complaints = read_file(arguments.path), []
    records, _, fault = read(data, "records")
    if fault:
        return complain(["the law is about good files: %s" % fault])
    ends = [at + FRAMING + len(content) for at, content in records]
    for k in range(len(data) + 1):
        records, _, fault = read(data[:k], "records")
        inside = [0] + [end for end in ends if end <= k]
        print("%d records=%d %s" % (k, len(records), fault or "end"))
        outcome = (len(records), fault and fault.json["status"], fault and fault.json["offset"])
        if outcome != (len(inside) - 1,) + ((None, None) if k == inside[-1] else ("truncated", inside[-1])):
            complaints.append("the cut at %d breaks the law" % k)
    return complain(complaints)


def main():
    parser = argparse.ArgumentParser(description="Reference reader of record files.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for run, path, what in (
        (command_generate, "DIR", "write the golden vectors into DIR"), (command_check, "DIR", "verify the golden vectors in DIR"),
        (command_examples, "SPEC.md", "run the examples of the specification"), (command_scan, "FILE|-", "list the records of a file"),
        (command_index, "FILE|-", "print the index of a file"), (command_cuts, "FILE|-", "read a small file cut at each byte"),
    ):
        command = commands.add_parser(run.__name__.removeprefix("command_"), help=what)
        command.set_defaults(run=run)
        command.add_argument("path", metavar=path)
        if run is command_scan:
            command.add_argument("--form", choices=("records", "messages"), default="messages")
            command.add_argument("--skip", action="store_true", help="go past bad records whose length is good")
            command.add_argument("--max-record", type=int, metavar="N")
            command.add_argument("--no-data-crc", action="store_true")
    arguments = parser.parse_args()
    try:
        return arguments.run(arguments)
    except (OSError, ValueError) as error:
        return complain([str(error)])


if __name__ == "__main__":
    sys.exit(main())
