# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this folder share: CC, BUILD (with libevalue-record.a, libevalue.a and evalue) and SANITIZERS are taken from the environment."""
import functools
import os
import pathlib
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()
CC = shlex.split(os.environ.get("CC", "cc"))
SANITIZERS = shlex.split(os.environ.get("SANITIZERS", ""))
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-O2", "-g", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", f"-I{ROOT}/include"]
LIBRARIES = [str(BUILD / "libevalue-record.a"), str(BUILD / "libevalue.a"), "-lisal", "-lpthread"]
EVALUE = str(BUILD / "evalue")
GUARD = 300  # seconds: whatever takes longer hangs
ENVIRONMENT = dict(os.environ, LC_ALL="C")
if SANITIZERS:  # what was freed must not count as memory for long
    ENVIRONMENT["ASAN_OPTIONS"] = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=1"]))


@functools.lru_cache(None)
def program(name):
    out = BUILD / "tests" / "record"
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run([*CC, *FLAGS, *SANITIZERS, str(HERE / (name + ".c")), *LIBRARIES, "-o", str(out / name)], check=True)
    return str(out / name)


@functools.lru_cache(None)
def references():
    """spec/records_reference.py and spec/reference.py, as modules."""
    sys.path.insert(0, str(ROOT / "spec"))
    try:
        import records_reference
        return records_reference, records_reference.reference
    finally:
        sys.path.remove(str(ROOT / "spec"))


class RecordTest(unittest.TestCase):
    """Gives each test a folder of its own."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="evalue-record-"))
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return str(self.dir / name)

    def start(self, *command, limit=None, **options):
        """Starts a program; limit: the most bytes of addresses that it may have."""
        def set_limits():
            resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("env", ENVIRONMENT)
        return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.dir, start_new_session=True,
                                preexec_fn=set_limits if limit is not None else None, **options)

    def finish(self, process, code=0):
        """Waits for its end; returns its output."""
        try:
            out, err = process.communicate(timeout=GUARD)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # and what it has started
            process.communicate()
            self.fail(f"{process.args} hangs")
        self.assertEqual(process.returncode, code, f"{process.args}: {out[-500:]}: {err.decode()}")
        return out.decode()

    def run_program(self, *command, code=0, **options):
        return self.finish(self.start(*command, **options), code)

    def evalue(self, *arguments, code=0, **options):
        return self.run_program(EVALUE, *arguments, code=code, **options)
