#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turns spec/executorch-java.md and its vectors into a C table: generate_java.py SPEC_DIR OUT.inc

The vectors are our own, the examples of the document, and the bytes that upstream's classes wrote.
"""
import json
import pathlib
import re
import sys

from generate import HEX, Table, table_with

WAIVERS = {"trailing": "allow_trailing", "bool": "allow_any_bool", "utf8": "allow_any_text"}


def examples(text):
    """Each fenced block marked `java`, as a vector."""
    for number, (first, block) in enumerate(re.findall(r"^```java ([^\n]*)\n(.*?)^```$", text, re.M | re.S)):
        words = first.split()
        vector = {"name": "example_%d" % (number + 1), "hex": "", "options": {"bare": "bare" in words}}
        for word in words[1:]:
            key, _, value = word.partition("=")
            if key == "release":
                vector["options"]["release"] = value
            elif key == "allow":
                vector["options"]["allow"] = [value]
            elif word != "bare":
                sys.exit("example %d: what is %r?" % (number + 1, word))
        for line in block.splitlines():
            if line.startswith("= "):
                vector["value"] = json.loads(line[2:])
            elif line.startswith("! "):
                status, *pairs = line[2:].split()
                fields = dict(pair.split("=") for pair in pairs)
                vector.update(status=status, field=fields["field"], fault=fields["fault"], position=int(fields["position"]))
                vector["index"] = int(fields["value"])
                vector["needed"] = int(fields.get("needed", 0))
            else:
                match = HEX.match(line)
                if not match:
                    sys.exit("example %d: cannot read %r" % (number + 1, line))
                vector["hex"] += match.group(1).replace(" ", "")
        if (words[0] == "accept") != ("value" in vector) or (words[0] == "reject") != ("status" in vector):
            sys.exit("example %d: neither accept nor a complete reject" % (number + 1))
        vector["canonical"] = "allow" not in vector["options"]
        yield vector


def load(path):
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def named_value(table, name, value, types):
    """The name of an array of the one value, row-major; NULL for none."""
    if value is None:
        return "NULL"
    if value["kind"] == "tensor":
        value = dict(value, dim_order=list(range(len(value["sizes"]))))
    table.lines.append("static const evalue value_%s[] = {%s};" % (name, table.value(value, types)))
    return "value_" + name


def release_code(name):
    return "EVALUE_JAVA_" + name.upper().replace(".", "_")


def vector_row(table, v, types):
    options = v.get("options", {})
    fields = [".release = " + release_code(options.get("release", "any")), ".bare_tensor = %d" % options.get("bare", False)]
    fields += [".%s = 1" % WAIVERS[waiver] for waiver in options.get("allow", [])]
    size = len(v["hex"]) // 2
    return '{"%s", %s, %d, {%s}, %s, %d, UINT64_C(%d), "%s", "%s", "%s", UINT64_C(%d), UINT64_C(%d), UINT64_C(%d)}' % (
        v["name"], table.data(v["hex"]), size, ", ".join(fields), named_value(table, v["name"], v.get("value"), types), v.get("canonical", True),
        v.get("end", size), v.get("status", "ok"), v.get("field", "none"), v.get("fault", "none"), v.get("position", 0), v.get("index", 0), v.get("needed", 0))


def upstream_row(table, v, types):
    releases = [name.replace("release ", "").replace("main 2026-08", "1.4") for name in v.get("same_bytes_in", [])]
    mask = " | ".join("1U << " + release_code(name) for name in releases) or "0"
    return '{"%s", %s, %d, %s, %s, %d}' % (v["name"], table.data(v["hex"]), len(v["hex"]) // 2, named_value(table, "upstream_" + v["name"], v.get("value"), types), mask,
                                           v.get("expect") == "policy")


def rows_of(table, text, codes):
    """The document's tables: which release brought which scalar type, and which can read a String; the faults."""
    table.lines.append("static const struct spec_dtype spec_dtypes[] = {")
    for release, _, new_types, _ in table_with(text, "release", "language"):
        for code, name in re.findall(r"(\d+) (\w+)", new_types):
            table.lines.append("  {%s, %s, %d}," % (release_code(release), code, codes[name]))
    table.lines += ["};", "static const struct spec_release spec_releases[] = {"]
    for release, _, _, string in table_with(text, "release", "language"):
        table.lines.append('  {"%s", %s, %d},' % (release, release_code(release), string != "not readable"))
    table.lines += ["};", "static const struct spec_fault spec_faults[] = {"]
    for fault, statuses, fields, *_ in table_with(text, "fault", "status", "field"):
        for field in fields.split(","):
            table.lines.append('  {"%s", "%s", "%s"},' % (fault, statuses, field.strip()))
    table.lines.append("};")


def main():
    spec, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = (spec / "executorch-java.md").read_text(encoding="utf-8")
    wire = (spec / "evalue-wire-format-1.0.md").read_text(encoding="utf-8")
    codes = {row[1]: int(row[0]) for row in table_with(wire, "code", "name", "element size")}
    table = Table()
    rows_of(table, text, codes)
    vectors = {name: load(spec / "vectors" / ("executorch_java_%s.jsonl" % name)) for name in ("accepted", "rejected")}
    for v in vectors["rejected"]:
        v["index"] = v.pop("value")
    from_text = list(examples(text))
    vectors["accepted"] += [v for v in from_text if "value" in v]
    vectors["rejected"] += [v for v in from_text if "status" in v]
    for name, kept in vectors.items():
        rows = [vector_row(table, v, codes) for v in kept]
        table.lines += ["static const struct vector %s[] = {" % name] + ["  %s," % row for row in rows] + ["};"]
    rows = [upstream_row(table, v, codes) for v in load(spec / "vectors" / "executorch_java.jsonl")]
    table.lines += ["static const struct upstream upstream[] = {"] + ["  %s," % row for row in rows] + ["};"]
    table.lines.append("enum { spec_example_count = %d };" % len(from_text))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(["/* Made by generate_java.py. */"] + table.lines) + "\n")


main()
