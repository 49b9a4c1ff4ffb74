#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds what the shared library exports against the headers, and what the core and src/executorch need against what they may.

    exports.py LIBRARY.so HEADER...
"""
import os
import pathlib
import re
import subprocess
import sys

CC = os.environ.get("CC", "cc")

# The core calls nothing else. clang calls bcmp where only the equality that memcmp finds matters. (What sanitizers add is left out.)
ALLOWED = {"memcpy", "memset", "memcmp", "memmove", "bcmp"}


def symbols(*arguments):
    out = subprocess.run(["nm", *arguments], check=True, capture_output=True, text=True).stdout
    return [line.split()[-1].split("@")[0] for line in out.splitlines() if line.strip() and not line.endswith(":")]


def needed_by(objects):
    """What these objects need, together, from elsewhere."""
    defined = {name for one in objects for name in symbols("--defined-only", str(one))}
    needed = {name for one in objects for name in symbols("-u", str(one))} - defined - {"_GLOBAL_OFFSET_TABLE_"}
    return {name for name in needed if not name.startswith(("__asan", "__ubsan", "__msan", "__sanitizer"))}


def main():
    library, headers = pathlib.Path(sys.argv[1]), sys.argv[2:]
    declared = set()
    for header in headers:  # preprocessed, because tables make some names
        text = subprocess.run([CC, "-E", "-P", "-Iinclude", header], check=True, capture_output=True, text=True).stdout
        declared |= set(re.findall(r'visibility\("default"\)\)\)[^;(]*?\b(evalue_\w+)\s*[(;]', text))
    exported = {name for name in symbols("-D", "--defined-only", str(library)) if name != "EVALUE_0"}
    exported = {name for name in exported if not name.startswith(("__asan", "__ubsan", "__odr_asan", "__sanitizer"))}
    for name in sorted(exported - declared):
        print("exported, and in no header: " + name)
    for name in sorted(declared - exported):
        print("in a header, and not exported: " + name)
    objects = sorted((library.parent / "src" / "core").glob("*.o"))
    needed = needed_by(objects)
    java = needed_by(objects + sorted((library.parent / "src" / "executorch").glob("*.o")) + [library.parent / "src" / "text" / "utf8.o"])
    for name in sorted((needed | java) - ALLOWED):
        print("%s needs %s" % ("the core" if name in needed else "src/executorch", name))
    ending = {"abort", "exit", "_exit", "__assert_fail", "longjmp", "raise"} & set(symbols("-D", "-u", str(library)))
    for name in sorted(ending):  # no input and no wrong call ends the program
        print("the library calls " + name)
    if ending or exported != declared or not needed | java <= ALLOWED or not objects:
        sys.exit(1)
    print("%d names exported, as the headers say; the core needs %s" % (len(exported), ", ".join(sorted(needed)) or "nothing"))


main()
