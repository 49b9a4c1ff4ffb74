#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Code size and stack depth of the core, against the limits that it promises; and with ExecuTorch's Java bytes. Run by `make size`.

The core is src/core. Stack depth is that of the deepest chain of calls inside it, from GCC's own call graph (-fcallgraph-info=su); a recursion, or a frame without a bound, is a failure.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FLAGS = ["-std=c11", "-Iinclude", "-fcallgraph-info=su", "-c"]
TARGETS = [
    # name, compiler, size tool, flags, limit of text (None: only shown), limit of stack
    ("Cortex-M4 -Os", "arm-none-eabi-gcc", "arm-none-eabi-size", ["-mcpu=cortex-m4", "-Os"], 6 * 1024, 512),
    ("Cortex-M4 -Os -ffreestanding", "arm-none-eabi-gcc", "arm-none-eabi-size", ["-mcpu=cortex-m4", "-Os", "-ffreestanding"], None, 512),
    ("x86-64 -O2", "gcc", "size", ["-O2"], None, 1024),
]


def call_graph(folder):
    """Stack use of each function, and whom it calls, by the names that GCC gives them in the graph."""
    stack, calls = {}, {}
    for graph in pathlib.Path(folder).glob("*.ci"):
        text = graph.read_text()
        for title, label in re.findall(r'node: \{ title: "([^"]+)" label: "([^"]*)"', text):
            used = re.search(r"\\n(\d+) bytes \(([\w,]+)\)", label)
            if used and used.group(2) not in ("static", "dynamic,bounded"):
                sys.exit("%s has a stack frame without a bound (%s)" % (title, used.group(2)))
            if used:
                stack[title] = int(used.group(1))
        for source, target in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
            calls.setdefault(source, set()).add(target)
    return stack, calls


def deepest(name, stack, calls, above=()):
    """(bytes, chain) of the deepest chain that starts at name."""
    if name in above:
        sys.exit("recursion: %s" % " -> ".join(above + (name,)))
    below = [deepest(callee, stack, calls, above + (name,)) for callee in calls.get(name, ())]
    size, chain = max(below, default=(0, ()))
    return size + stack.get(name, 0), (name.rsplit(":", 1)[-1],) + chain


def measure(name, compiler, size_tool, flags, text_limit, stack_limit, sources):
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for source in sources:
            target = "%s/%s.o" % (folder, source.stem)
            subprocess.run([compiler, *FLAGS, *flags, str(source), "-o", target], check=True)
            objects.append(target)
        rows = subprocess.run([size_tool, *objects], check=True, capture_output=True, text=True).stdout.splitlines()[1:]
        stack, calls = call_graph(folder)
    print(name)
    totals = [0, 0, 0]
    for row in rows:
        numbers, source = [int(x) for x in row.split()[:3]], pathlib.Path(row.split()[-1]).stem
        print("  %-10s %6d text %4d data %4d bss" % (source, *numbers))
        totals = [a + b for a, b in zip(totals, numbers)]
    size, chain = max(deepest(function, stack, calls) for function in stack)
    print("  %-10s %6d text %4d data %4d bss" % ("total", *totals) + (" (limit %d text, no data, no bss)" % text_limit if text_limit else ""))
    print("  stack      %6d bytes (limit %d): %s" % (size, stack_limit, " > ".join(chain)))
    return (text_limit is None or totals[0] <= text_limit) and totals[1:] == [0, 0] and size <= stack_limit


core = sorted(pathlib.Path("src/core").glob("*.c"))
java = [*core, *sorted(pathlib.Path("src/executorch").glob("*.c")), pathlib.Path("src/text/utf8.c")]
results = [measure(*target, core) for target in TARGETS]
results += [measure(name + ", with src/executorch", *rest, None, 1024, java) for name, *rest, _, _ in TARGETS[::2]]
sys.exit(0 if all(results) else "the core is larger than it promises")
