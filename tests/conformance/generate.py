#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turns the specification and its golden vectors into a C table, so that the conformance test needs no JSON library.

    generate.py SPEC_DIR OUT.inc

What it takes from the specification is the text itself: its examples become vectors, and its tables of tags, scalar types and faults become
C arrays that the test compares with the enums of the library.
"""
import json
import pathlib
import re
import sys

HEX = re.compile(r"^((?:[0-9a-f]{2} ?)+)(?: {2,}.*|)$")


def sections(text):
    """The tables of the document, as lists of rows of cells, in order."""
    tables, rows = [], []
    for line in text.splitlines() + [""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            tables.append((rows[0], rows[2:]))
            rows = []
    return tables


def table_with(text, *head):
    found = [rows for first, rows in sections(text) if first[: len(head)] == list(head)]
    if len(found) != 1:
        sys.exit("the specification has %d tables that begin with %s" % (len(found), ", ".join(head)))
    return found[0]


def examples(text):
    """Each fenced block marked `evalue`, as a vector."""
    for number, block in enumerate(re.findall(r"^```evalue ([^\n]*)\n(.*?)^```$", text, re.M | re.S)):
        words, lines = block[0].split(), block[1].splitlines()
        options = dict(word.split("=") for word in words[1:])
        vector = {"name": "spec_example_%d" % (number + 1), "form": options["form"], "hex": "", "values": []}
        for line in lines:
            if line.startswith("= "):
                vector["values"].append(json.loads(line[2:]))
            elif line.startswith("! "):
                status, *pairs = line[2:].split()
                fields = dict(pair.split("=") for pair in pairs)
                vector.update(status=status, field=fields["field"], fault=fields["fault"], position=int(fields["position"]))
                vector["value"] = int(fields["value"]) if "value" in fields else None
                if "needed" in fields:
                    vector["needed"] = int(fields["needed"])
            else:
                match = HEX.match(line)
                if not match:
                    sys.exit("example %d: cannot read %r" % (number + 1, line))
                vector["hex"] += match.group(1).replace(" ", "")
        if words[0] == "accept":
            vector["align"] = int(options.get("align", 1))
            vector["canonical"] = options.get("canonical") != "no"
        elif words[0] != "reject" or "status" not in vector:
            sys.exit("example %d: neither accept nor a complete reject" % (number + 1))
        yield vector


class Table:
    """Collects C text: byte arrays, value arrays, and then the vectors that name them."""

    def __init__(self):
        self.lines, self.arrays = [], {}

    def data(self, hexadecimal):
        """The name of an array with these bytes."""
        if not hexadecimal:
            return "nothing"
        if hexadecimal not in self.arrays:
            name = "bytes_%d" % len(self.arrays)
            self.arrays[hexadecimal] = name
            numbers = ",".join("%d" % byte for byte in bytes.fromhex(hexadecimal))
            self.lines.append("static const uint8_t %s[] = {%s};" % (name, numbers))
        return self.arrays[hexadecimal]

    def value(self, value, types):
        kind = value["kind"]
        if kind == "none":
            return "{.tag = EVALUE_TAG_NONE}"
        if kind == "bool":
            return "{.tag = EVALUE_TAG_BOOL, .bool_value = %d}" % value["bool"]
        if kind == "int":
            return "{.tag = EVALUE_TAG_INT, .int_value = (int64_t)UINT64_C(%d)}" % (int(value["int"]) % 2**64)
        if kind == "double":
            return "{.tag = EVALUE_TAG_DOUBLE, .int_value = (int64_t)UINT64_C(0x%s)}" % value["bits_hex"]
        if kind == "string":
            text = value["bytes_hex"]
            return "{.tag = EVALUE_TAG_STRING, .string = {(const char *)%s, %d}}" % (self.data(text), len(text) // 2)
        data, sizes = value["data_hex_le"], value["sizes"]
        return "{.tag = EVALUE_TAG_TENSOR, .tensor = {%s, %d, {%s}, {%s}, %d, %d}}" % (
            self.data(data), len(data) // 2, ",".join(map(str, sizes)) or "0",
            ",".join(map(str, value["dim_order"])) or "0", len(sizes), types[value["scalar_type"]])

    def vector(self, v, types):
        values = "no_values"
        if v.get("values"):
            values = "values_%s" % v["name"]
            self.lines.append("static const evalue %s[] = {\n  %s\n};" % (values, ",\n  ".join(self.value(x, types) for x in v["values"])))
        options = v.get("options", {})
        size = len(v["hex"]) // 2
        index = v.get("value")
        return '{"%s", FORM_%s, %s, %d, {0, %d, UINT64_C(%d), UINT64_C(%d)}, %d, %s, %d, %d, UINT64_C(%d), "%s", "%s", "%s", UINT64_C(%d), %s, UINT64_C(%d)}' % (
            v["name"], v["form"].upper(), self.data(v["hex"]), size, options.get("allow_trailing", False),
            options.get("max_values", 0), options.get("max_bytes", 0), v.get("align", 1), values, len(v.get("values", [])),
            v.get("canonical", True), v.get("end", size), v.get("status", "ok"), v.get("field", "none"), v.get("fault", "none"),
            v.get("position", 0), "EVALUE_NO_INDEX" if index is None else "UINT64_C(%d)" % index, v.get("needed", 0))


def spec_tables(text, table):
    """The document's registries: tags with names, scalar types, and one row for each (fault, status, field)."""
    tags = [(int(row[0]), row[1], row[3]) for row in table_with(text, "tag", "name", "class") if row[1] and "reserved" not in row[2]]
    types = [(int(row[0]), row[1], int(row[2]), int(row[3])) for row in table_with(text, "code", "name", "element size")]
    faults = []
    for fault, statuses, fields, *_ in table_with(text, "fault", "status", "field"):
        faults += [(fault, status.strip(), field.strip()) for status in statuses.split(",") for field in fields.split(",")]
    statuses = [row[0] for row in table_with(text, "status", "meaning")]
    lines = ["static const struct spec_tag spec_tags[] = {"] + ['  {%d, "%s"},' % tag[:2] for tag in tags] + ["};"]
    lines += ["static const struct spec_type spec_types[] = {"] + ['  {%d, "%s", %d, %d},' % row for row in types] + ["};"]
    lines += ["static const struct spec_fault spec_faults[] = {"] + ['  {"%s", "%s", "%s"},' % row for row in faults] + ["};"]
    lines += ["static const char *const spec_statuses[] = {"] + ['  "%s",' % status for status in statuses] + ["};"]
    table.lines += lines
    return {name: code for code, name, *_ in types}


def main():
    spec_dir, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = (spec_dir / "evalue-wire-format-1.0.md").read_text(encoding="utf-8")
    table = Table()
    types = spec_tables(text, table)
    accepted, rejected = [], []
    for name, kept in (("accepted", accepted), ("rejected", rejected)):
        with (spec_dir / "vectors" / (name + ".jsonl")).open(encoding="utf-8") as lines:
            kept += [json.loads(line) for line in lines]
    from_text = list(examples(text))
    accepted += [v for v in from_text if "status" not in v]
    rejected += [v for v in from_text if "status" in v]
    for name, vectors in (("accepted", accepted), ("rejected", rejected)):
        rows = [table.vector(v, types) for v in vectors]
        table.lines += ["static const struct vector %s[] = {" % name] + ["  %s," % row for row in rows] + ["};"]
    table.lines.append("enum { spec_example_count = %d };" % len(from_text))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(["/* Made by generate.py. */"] + table.lines) + "\n")


if __name__ == "__main__":
    main()
