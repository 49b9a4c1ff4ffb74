#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turns the fault table of spec/evalue-records-1.0.md and its vectors into a C table: generate_records.py SPEC_DIR OUT.inc"""
import json
import pathlib
import re
import sys

FORMS = {"records": 0, "messages": 1, "index": 2}
FAULT_KEYS = ("record", "offset", "position", "expected", "found", "needed", "value")


def text(data):
    return "(const uint8_t *)\"%s\", %d" % ("".join("\\%03o" % byte for byte in data), len(data))


def fault(vector):
    """A fault's initialiser: what a vector does not say is not compared."""
    if vector is None or "status" not in vector:
        return "{NULL, NULL, NULL, " + ", ".join(["{0, 0}"] * len(FAULT_KEYS)) + "}"
    numbers = ", ".join("{%du, %d}" % (vector.get(key) or 0, vector.get(key) is not None) for key in FAULT_KEYS)
    return '{"%s", "%s", "%s", %s}' % (vector["status"], vector["fault"], vector.get("field") or "", numbers)


class Records:
    """Arrays of records, each written once."""

    def __init__(self, out):
        self.out, self.names = out, {}

    def name(self, records):
        key = json.dumps(records)
        if not records:
            return "NULL, 0"
        if key not in self.names:
            self.names[key] = "records_%d" % len(self.names)
            rows = ", ".join("{%du, %du, %s}" % (r["offset"], r["size"], text(bytes.fromhex(r["message_hex"]))) for r in records)
            self.out.append("static const struct good_record %s[] = {%s};" % (self.names[key], rows))
        return "%s, %d" % (self.names[key], len(records))


def main():
    spec, path = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out, rows = [], []
    records = Records(out)
    for kind in ("accepted", "rejected"):
        for line in (spec / "vectors" / ("records-%s.jsonl" % kind)).read_text().splitlines():
            v = json.loads(line)
            options, skip = v.get("options", {}), v.get("skip") or {}
            rows.append('  {"%s", %d, %s, %s, %du, %d, %s, %s, %d, %s, %d, %s},' % (
                v["name"], FORMS[v["form"]], text(bytes.fromhex(v["bytes_hex"])), text(v.get("index", "").encode()), options.get("max_record", 0),
                options.get("data_crc", True), records.name(v["records"]), fault(v), "skip" in v, records.name(skip.get("records", [])), skip.get("skipped", 0),
                fault(skip.get("end"))))
    table = re.findall(r"^\| `?([a-z_]+)`? \| (truncated|corrupt|malformed|limit) \|", (spec / "evalue-records-1.0.md").read_text(), re.M)
    if not table:
        sys.exit("the document has no table of faults")
    out.append("static const struct record_vector record_vectors[] = {\n%s\n};" % "\n".join(rows))
    out.append("static const struct spec_fault spec_faults[] = {%s};" % ", ".join('{"%s", "%s"}' % row for row in table))
    path.write_text("\n".join(out) + "\n")


main()
