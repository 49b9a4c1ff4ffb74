#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the documentation shows has to work. Run by `make test-snippets`.

Each public header compiles alone, as C11 and as C++17. The snippet in each header's first comment compiles and runs, within the declarations below. So do the
programs of the modules' READMEs. The README's programs compile, and print and write what the README says about the message that the README's command packs.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()
CC = os.environ.get("CC", "cc")
SANITIZERS = shlex.split(os.environ.get("SANITIZERS", ""))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wcast-qual", "-Werror"]
CXX = "g++" if "clang" not in CC else CC.replace("clang", "clang++")

# What a snippet may refer to: two values as a message at data, and somewhere to send bytes.
PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include "evalue/evalue.h"
static uint8_t storage[256];
static float buffer[2];
static void use(const evalue *v, uint64_t count) { if (evalue_check(v) != EVALUE_OK || count != 2) printf("wrong values\n"); }
static long send(int to, const void *bytes, size_t nbytes, int flags) { (void)to; (void)bytes; (void)flags; return (long)nbytes; }
static void snippet(const void *data, size_t size, evalue *values, uint64_t n, size_t capacity, int fd, evalue v, const uint8_t *p) {
  (void)data; (void)size; (void)values; (void)n; (void)capacity; (void)fd; (void)v; (void)p; (void)use; (void)send; (void)storage; (void)buffer;
  {
%s
  }
}
int main(void) {
  float numbers[2] = {1, 2};
  int32_t sizes[1] = {2};
  evalue_tensor t;
  uint64_t size;
  if (evalue_tensor_init(&t, EVALUE_FLOAT32, 1, sizes, numbers, sizeof numbers) != EVALUE_OK) return 1;
  evalue values[8] = {evalue_from_tensor(&t), evalue_from_int(7)};
  if (evalue_message_encode(values, 2, 0, storage, sizeof storage, &size) != EVALUE_OK) return 1;
  uint8_t length[8] = {9, 0, 0, 0, 0, 0, 0, 0};
  snippet(storage, (size_t)size, values, 2, 8, 1, values[0], length);
  return 0;
}
"""

def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0 or "warning" in done.stderr:
        sys.exit("%s\n%s%s" % (" ".join(map(str, command)), done.stdout, done.stderr))
    return done.stdout


def check_alone(header):
    source = "#include <evalue/%s>\n" % header.name
    run([CC, "-std=c11", *WARNINGS, "-Iinclude", "-fsyntax-only", "-x", "c", "-"], input=source)
    run([CXX, "-std=c++17", *WARNINGS, "-Iinclude", "-fsyntax-only", "-x", "c++", "-"], input=source)


def snippet_of(header):
    comment = re.search(r"/\*\*(.*?)\*/", header.read_text(), re.S)
    lines = re.findall(r"^ \*     (.*)$", comment.group(1), re.M)
    if not lines:
        sys.exit("%s: its first comment shows no use" % header)
    return "\n".join(lines)


def compile_program(source, folder, name="program"):
    program = pathlib.Path(folder) / name
    (pathlib.Path(folder) / (name + ".c")).write_text(source)
    unused = ["-Wno-unused-variable", "-Wno-unused-but-set-variable", "-Wno-shadow"]
    run([CC, "-std=c11", *WARNINGS, *unused, *SANITIZERS, "-Iinclude", str(program) + ".c", str(BUILD / "libevalue-record.a"), str(BUILD / "libevalue.a"), "-lisal",
         "-lpthread", "-o", str(program)])
    return program


def compile_and_run(source, folder, *arguments):
    return run([str(compile_program(source, folder)), *arguments], cwd=folder)


def check_snippet(header, folder):
    snippet = snippet_of(header)
    if header.name == "evalue.h":  # a table of contents, too
        listed = set(re.findall(r"\b(\w+\.h)\b", header.read_text().split("*/")[1]))
        there = {other.name for other in header.parent.glob("*.h")} - {header.name}
        if listed != there:
            sys.exit("evalue.h lists other headers than there are: %s" % sorted(listed ^ there))
    out = compile_and_run(PROGRAM % snippet, folder)
    if "wrong" in out:
        sys.exit("%s: its snippet printed %r" % (header, out))


def check_readme(folder):
    """read.c reads what the pack command wrote, and prints what the README shows; write.c writes the same bytes."""
    text = pathlib.Path("README.md").read_text()
    read, write, service, camera = re.findall(r"```c\n(.*?)```", text, re.S)
    for program in (read, write):
        lines = [line for line in program.splitlines() if line.strip() and not line.startswith("#include")]
        if len(lines) > 20:
            sys.exit("a program of the README has %d lines" % len(lines))
    commands = re.search(r"^(/usr/bin/python3 -c .*)\n(evalue pack .* -o (\S+).*)\n(evalue show .*)$", text, re.M)
    shown, printed = re.search(r"```text\n(.*?)```", text, re.S), re.search(r"<!-- prints -->\n```text\n(.*?)```", text, re.S)
    environment = dict(os.environ, PATH="%s:%s" % (BUILD, os.environ["PATH"]))
    out = run(["sh", "-ec", "\n".join([commands.group(1), commands.group(2), commands.group(4)])], cwd=folder, env=environment)
    check_output("evalue show", out, shown.group(1))
    check_output("read.c", compile_and_run(read, folder, commands.group(3)), printed.group(1))
    program = compile_program(write, folder)
    written = subprocess.run([str(program)], check=True, capture_output=True).stdout
    if written != (pathlib.Path(folder) / commands.group(3)).read_bytes():
        sys.exit("write.c and the pack command write different bytes")
    check_two_programs(service, camera, re.findall(r"<!-- prints -->\n```text\n(.*?)```", text, re.S)[1], folder)


def check_two_programs(service, camera, printed, folder):
    """The service waits at a socket; the camera sends it an image, and prints the answer."""
    path = str(pathlib.Path(folder) / "service.socket")
    waiting = subprocess.Popen([str(compile_program(service, folder, "service")), path], stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(1000):
            if pathlib.Path(path).exists():
                break
            time.sleep(0.01)
        check_output("camera.c", run([str(compile_program(camera, folder, "camera")), path]), printed)
        check_output("service.c", waiting.communicate(timeout=60)[0], "ok\n")
        if waiting.returncode != 0:
            sys.exit("service.c ends with %d" % waiting.returncode)
    finally:
        waiting.kill()


def check_module(readme, folder):
    """The programs of a module's README compile, run, and print what stands behind them, if anything does; so do commands."""
    text = readme.read_text()
    for program, printed in re.findall(r"```c\n(.*?)```\n(?:\n<!-- prints -->\n```text\n(.*?)```)?", text, re.S):
        out = compile_and_run(program, folder)
        if printed:
            check_output(str(readme), out, printed)
    for command, shown in re.findall(r"```text\n\$ (evalue [^\n]*)\n(.*?)```", text, re.S):
        out = run(["sh", "-ec", command], cwd=folder, env=dict(os.environ, PATH="%s:%s" % (BUILD, os.environ["PATH"])))
        check_output(command, out, shown)


def check_output(what, out, shown):
    if out != shown:
        sys.exit("%s prints\n%s\nand the README says\n%s" % (what, out, shown))


def main():
    headers = sorted(pathlib.Path("include/evalue").glob("*.h"))
    for header in headers:
        check_alone(header)
    with tempfile.TemporaryDirectory() as folder:
        for header in headers:
            check_snippet(header, folder)
        check_readme(folder)
        modules = sorted(pathlib.Path("src").glob("*/README.md"))
        for readme in modules:
            check_module(readme, folder)
    print("%d headers compile alone, their snippets and the programs of %d READMEs run" % (len(headers), 1 + len(modules)))


main()
