#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each structural byte of the input is loaded at most once, and no byte of tensors and strings at all (spec, section 13); of ExecuTorch's Java bytes, whose
elements are swapped and whose strings are judged, only the former holds. Run by `make test-fetch`.

Checked in the binary, where the compiler has had its say: valgrind's lackey lists every load of a program that reads the golden vectors, built by each compiler at
each level of optimisation.
"""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

COMPILERS = ["gcc", "clang-14"]
LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]
LOAD = re.compile(rb"^ [LM] ([0-9a-f]+),(\d+)")
JAVA = 2
VECTORS_TAKEN = 5  # every fifth: the trace of all is long


def head_of(data):
    """The size of the structural bytes of a Java value: its tag, a String's length, a tensor's sizes, a Bool."""
    tag = data[0] if data else 0
    return min(len(data), {1: 3 + 4 * (data[2] if len(data) > 2 else 0), 2: 5, 5: 2}.get(tag, 1))


def bundle(path):
    """(how many inputs, the sizes of the heads of those that are Java values, by number)"""
    count, heads = 0, {}
    with open(path, "wb") as out:
        for name in ("accepted", "rejected"):
            with open("spec/vectors/%s.jsonl" % name) as lines:
                for vector in [v for v in map(json.loads, lines) if v["form"] != "value"][::VECTORS_TAKEN]:
                    data = bytes.fromhex(vector["hex"])
                    out.write(struct.pack("<BI", vector["form"] == "sequence", len(data)) + data)
                    count += 1
        for name in ("accepted", "rejected"):
            with open("spec/vectors/executorch_java_%s.jsonl" % name) as lines:
                for vector in [v for v in map(json.loads, lines) if "bare" not in v.get("options", {})][::VECTORS_TAKEN]:
                    data = bytes.fromhex(vector["hex"])
                    out.write(struct.pack("<BI", JAVA, len(data)) + data)
                    heads[count] = head_of(data)
                    count += 1
    return count, heads


def loads_of(program, inputs, trace):
    """The loads of the whole program, by address; and what it says of its inputs."""
    subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=" + str(trace), str(program), str(inputs)],
                   check=True, stdout=open(str(trace) + ".said", "w"))
    loads = {}
    with open(trace, "rb") as lines:
        for line in lines:
            match = LOAD.match(line)
            if match:
                address = int(match.group(1), 16)
                for at in range(address, address + int(match.group(2))):
                    loads[at] = loads.get(at, 0) + 1
    said = [line.split()[1:] for line in open(str(trace) + ".said")]
    return loads, [(int(words[0], 16), [int(word) for word in words[1:]]) for words in said]


def check(compiler, level, folder):
    program, inputs = folder / "fetch", folder / "bundle"
    count, heads = bundle(inputs)
    sources = [*pathlib.Path("src/core").glob("*.c"), *pathlib.Path("src/executorch").glob("*.c"), "src/text/utf8.c"]
    debug = ["-gdwarf-4"] if compiler.startswith("clang") else ["-g"]
    subprocess.run([compiler, "-std=c11", "-D_GNU_SOURCE", level, *debug, "-Iinclude", "tests/bench/fetch.c", *map(str, sources), "-o", str(program)], check=True)
    loads, said = loads_of(program, inputs, folder / "trace")
    if len(said) != count:
        sys.exit("%s %s: %d of %d inputs were read" % (compiler, level, len(said), count))
    twice, touched, total = 0, 0, 0
    for number, (base, (size, *payloads)) in enumerate(said):
        counts = [loads.get(base + i, 0) for i in range(heads.get(number, size))]
        total += sum(counts)
        twice += sum(n > 1 for n in counts)
        touched += sum(sum(counts[at:at + n]) for at, n in zip(payloads[::2], payloads[1::2]))
    print("%-8s %s: %d inputs, %d loads of a byte; loaded twice: %d; loads of payload: %d" % (compiler, level, count, total, twice, touched))
    return twice == 0 and touched == 0 and total > 0


def main():
    missing = [tool for tool in ["valgrind", *COMPILERS] if not shutil.which(tool)]
    if missing:
        sys.exit("not installed: " + ", ".join(missing))
    with tempfile.TemporaryDirectory() as folder:
        results = [check(compiler, level, pathlib.Path(folder)) for compiler in COMPILERS for level in LEVELS]
    sys.exit(0 if all(results) else "a byte of the input is read more often than once")


main()
