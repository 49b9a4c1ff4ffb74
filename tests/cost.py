#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What reading and gathering cost, in instructions (valgrind's callgrind counts them exactly). Run by `make test-cost`.

No work per payload byte: a tensor of 1 byte and one of 16 GiB cost the same to read, and the same to gather. No amplification: what costs most for its bytes costs a
bounded number of instructions a byte. ExecuTorch's Java bytes: the header of a tensor costs at most twice what it costs in this library's own format.
"""
import os
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
CC = os.environ.get("CC", "cc")
PROBE = BUILD / "tests" / "bench" / "probe"


def build():
    PROBE.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([CC, "-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Iinclude",
                    "tests/bench/probe.c", str(BUILD / "libevalue.a"), "-o", str(PROBE)], check=True)


def instructions(function, what, number):
    """(instructions in that function and below it, bytes of the message if the probe says)"""
    out = BUILD / "tests" / "bench" / "callgrind.out"
    run = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=" + function, "--callgrind-out-file=" + str(out), str(PROBE), what, str(number)],
                         capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit("probe %s %d: exit %d\n%s" % (what, number, run.returncode, run.stderr))
    total = int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.M).group(1))
    size = re.search(r"^bytes (\d+)", run.stderr, re.M)
    if total == 0:
        sys.exit("probe %s %d: nothing was counted" % (what, number))
    return total, int(size.group(1)) if size else None


def main():
    build()
    good = True
    for function, what in (("probe_decode", "decode"), ("probe_gather", "gather")):
        small, _ = instructions(function, what, 1)
        large, _ = instructions(function, what, 16 << 30)
        print("%s a tensor of 1 byte: %d instructions; of 16 GiB: %d" % (what, small, large))
        good &= small == large
    for what, limit in (("none", 16), ("empty", 16)):
        count, size = instructions("probe_decode", what, 50000)
        print("decode 50000 values (%s): %.1f instructions a byte (limit %d)" % (what, count / size, limit))
        good &= count <= limit * size
    for ndim in 0, 4, 16:
        bare, _ = instructions("probe_bare", "bare", ndim)
        java, _ = instructions("probe_java", "java", ndim)
        measured, _ = instructions("probe_measure", "measure", ndim)
        print("the header of a tensor of %d dimensions: %d instructions; as Java bytes: %d, only measured: %d (limit %d)" % (ndim, bare, java, measured, 2 * bare))
        good &= max(java, measured) <= 2 * bare
    sys.exit(0 if good else "the cost grows where it should not")


main()
