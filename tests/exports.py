#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds what a shared library exports against its headers; of libevalue also what the core and src/executorch need against what they may.

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


def declared_by(header):
    """What a header declares itself, not those that it includes. Preprocessed, because tables make some names."""
    text = subprocess.run([CC, "-E", "-Iinclude", header], check=True, capture_output=True, text=True).stdout
    own, place = [], ""
    for line in text.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            place = marker.group(1)
        elif place == header:
            own.append(line)
    return set(re.findall(r'visibility\("default"\)\)\)[^;(]*?\b(evalue_\w+)\s*[(;]', "\n".join(own)))


def main():
    library, headers = pathlib.Path(sys.argv[1]), sys.argv[2:]
    declared = set().union(*map(declared_by, headers))
    exported = {name for name in symbols("-D", "--defined-only", str(library)) if not re.fullmatch(r"EVALUE(_RECORD)?_\d+", name)}
    exported = {name for name in exported if not name.startswith(("__asan", "__ubsan", "__odr_asan", "__sanitizer"))}
    for name in sorted(exported - declared):
        print("exported, and in no header: " + name)
    for name in sorted(declared - exported):
        print("in a header, and not exported: " + name)
    ending = {"abort", "exit", "_exit", "__assert_fail", "longjmp", "raise"} & set(symbols("-D", "-u", str(library)))
    for name in sorted(ending):  # no input and no wrong call ends the program
        print("the library calls " + name)
    if ending or exported != declared or not declared:
        sys.exit(1)
    print("%s: %d names exported, as the headers say" % (library.name.split(".")[0], len(exported)))
    if library.name.startswith("libevalue.so"):
        check_needs(library)


def check_needs(library):
    objects = sorted((library.parent / "src" / "core").glob("*.o"))
    needed = needed_by(objects)
    java = needed_by(objects + sorted((library.parent / "src" / "executorch").glob("*.o")) + [library.parent / "src" / "text" / "utf8.o"])
    for name in sorted((needed | java) - ALLOWED):
        print("%s needs %s" % ("the core" if name in needed else "src/executorch", name))
    if not needed | java <= ALLOWED or not objects:
        sys.exit(1)
    print("the core needs %s" % (", ".join(sorted(needed)) or "nothing"))


main()
