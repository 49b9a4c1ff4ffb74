# SPDX-License-Identifier: BSD-3-Clause
"""The log as a process shows it: what the environment does, what is written where, and what it costs. Run by `make test-log`.

CC, BUILD (with libevalue.a) and SANITIZERS are taken from the environment. Each program beside this file is compiled once, into BUILD/tests/log.
"""
import datetime
import fcntl
import functools
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()
CC = shlex.split(os.environ.get("CC", "cc"))
SANITIZERS = shlex.split(os.environ.get("SANITIZERS", ""))
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-I%s/include" % ROOT]
OUT = BUILD / "tests" / "log"
TIMEOUT = 120
LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (debug|info|warning|error) (\w+) (?:(why_\w+) )?([^ :]+):(\d+): (.*)\Z")
NAMES = ("components: reader, writer, executorch_java, sink, ipc, cli; diagnostics: why_rejected, why_copied; "
         "or all, none, help. +name: debug, name: info, -name: errors only")
BAD_BYTES = b"EVAL\x01\x00\xc8\x00" + bytes(range(0x2e, 0x42))


def library_sources():
    return sorted(str(path) for folder in ("core", "text", "executorch", "log") for path in (ROOT / "src" / folder).glob("*.c"))


def compiled(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode != 0 or "warning" in done.stderr:
        raise AssertionError("%s\n%s" % (" ".join(map(str, arguments)), done.stderr))


@functools.lru_cache(None)
def program(name, *more):
    OUT.mkdir(parents=True, exist_ok=True)
    compiled([*CC, *FLAGS, *SANITIZERS, str(HERE / (name + ".c")), str(BUILD / "libevalue.a"), "-pthread", *more, "-o", str(OUT / name)])
    return str(OUT / name)


def environment(**more):
    env = {name: value for name, value in os.environ.items() if not name.startswith("EVALUE_LOGS")}
    env.update(more)
    return env


class LogTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = os.path.join(self.folder.name, "a log")

    def run_say(self, *arguments, env=None, **options):
        done = subprocess.run([program("say"), *arguments], env=environment(**(env or {})), capture_output=True, timeout=TIMEOUT, **options)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout.decode(), done.stderr.decode()

    def say(self, *arguments, **env):
        """stdout's lines; stderr's lines"""
        out, err = self.run_say(*arguments, env=env)
        self.assertTrue(err == "" or err.endswith("\n"), err)
        return out.splitlines(), err.split("\n")[:-1]

    def levels(self, *arguments, **env):
        out, err = self.say(*arguments, "levels", **env)
        return out[-1], err

    def parse(self, line):
        match = LINE.match(line)
        self.assertTrue(match, line)
        return match.groups()


def hexed(text):
    return (text.encode() if isinstance(text, str) else text).hex()


class Environment(LogTest):
    def test_grammar_is_the_same(self):
        for spec, levels in (("+reader,sink,-ipc", "DWWIEWNN"), ("-ipc, sink ,,+reader", "DWWIEWNN"), ("all", "IIIIIINN"), ("none", "NNNNNNNN"),
                             ("", "WWWWWWNN"), ("+all,-sink,why_copied", "DDDEDDNI"), ("none,why_rejected", "NNNNNNIN")):
            with self.subTest(spec):
                self.assertEqual(self.levels(EVALUE_LOGS=spec), (levels, []))
        self.assertEqual(self.levels(), ("WWWWWWNN", []))

    def test_precedence(self):
        """Default, then the API, then the environment, then an override."""
        self.assertEqual(self.levels("configure=+sink")[0], "WWWDWWNN")
        self.assertEqual(self.levels("configure=+sink", "configure=+ipc")[0], "WWWWDWNN")
        self.assertEqual(self.levels("configure=+sink", EVALUE_LOGS="-all")[0], "EEEEEENN")
        self.assertEqual(self.levels("levels", "configure=+sink", EVALUE_LOGS="-all")[0], "EEEEEENN")
        self.assertEqual(self.levels("configure=+sink", EVALUE_LOGS="")[0], "WWWDWWNN")  # empty is not set
        self.assertEqual(self.levels("override=+sink", EVALUE_LOGS="-all")[0], "WWWDWWNN")
        self.assertEqual(self.levels("override=+sink", "configure=none", EVALUE_LOGS="-all")[0], "WWWDWWNN")
        self.assertEqual(self.levels("configure=none", "override=+sink", "configure=all")[0], "WWWDWWNN")
        self.assertEqual(self.levels("override=+sink", "override=why_copied", EVALUE_LOGS="-all")[0], "WWWWWWNI")
        self.assertEqual(self.levels("override=", EVALUE_LOGS="-all")[0], "WWWWWWNN")

    def test_a_bad_override_is_none(self):
        out, err = self.say("override=bad", "levels", EVALUE_LOGS="-all")
        self.assertEqual((out, err), (['misuse|unknown name "bad": expected ' + NAMES, "EEEEEENN"], []))
        out, _ = self.say("override=help", "levels", "configure=bad", "configure=+sink", "levels", EVALUE_LOGS="-all")
        self.assertEqual(out, ["ok|" + NAMES, "EEEEEENN", 'misuse|unknown name "bad": expected ' + NAMES, "ok|", "EEEEEENN"])

    def test_unknown_name_is_said_once(self):
        levels, err = self.levels("reader:warning=" + hexed("x"), "configure=", "register=late", EVALUE_LOGS="+reader,raeder,-ipc")
        self.assertEqual(levels[:8], "DWWWEWNN")  # what can be understood is taken
        self.assertEqual(len(err), 2)
        complaints = [line for line in err if not LINE.match(line)]
        self.assertEqual(complaints, ['EVALUE_LOGS: unknown name "raeder": expected ' + NAMES])

    def test_hostile_name(self):
        _, err = self.levels(EVALUE_LOGS="\x1b[2J\n\udcff")
        self.assertEqual(err, ['EVALUE_LOGS: unknown name "\\x1b[2J\\n\\xff": expected ' + NAMES])
        _, err = self.levels(EVALUE_LOGS="\x1b" * 500)
        self.assertEqual(len(err), 1)
        self.assertTrue(re.match(r'EVALUE_LOGS: unknown name "(\\x1b)+\Z', err[0]), err)

    def test_help(self):
        levels, err = self.levels(EVALUE_LOGS="help")
        self.assertEqual((levels, err), ("WWWWWWNN", ["EVALUE_LOGS: " + NAMES]))

    def test_size(self):
        self.assertEqual(self.levels(EVALUE_LOGS="," * 493 + "+reader"), ("DWWWWWNN", []))
        levels, err = self.levels(EVALUE_LOGS="," * 494 + "+reader")
        self.assertEqual((levels, err), ("WWWWWWNN", ["EVALUE_LOGS: expected at most 500 bytes"]))

    def test_own_component(self):
        """A program's component is as good as the library's: nobody complains about it."""
        for spec, level in (("+mine", "D"), ("mine", "I"), ("-mine", "E"), ("none", "N"), ("all", "I"), ("sink", "W")):
            with self.subTest(spec):
                levels, err = self.levels("register=mine", EVALUE_LOGS=spec)
                self.assertEqual((levels[8], err), (level, []))
        levels, err = self.levels("register=mine", "register=other", "mine:debug=" + hexed("x"), EVALUE_LOGS="-all,+mine,other")
        self.assertEqual(levels, "EEEEEENNDI")
        self.assertEqual([self.parse(line)[2] for line in err], ["mine"])

    def test_late_component(self):
        levels, _ = self.levels("reader:error=" + hexed("x"), "register=mine", EVALUE_LOGS="all,+mine")
        self.assertEqual(levels, "IIIIIINND")

    def test_typing_error_of_a_program_with_components(self):
        _, err = self.levels("register=mine", "reader:warning=" + hexed("x"), EVALUE_LOGS="+mien")
        self.assertEqual(len([line for line in err if line.startswith('EVALUE_LOGS: unknown name "mien"')]), 1, err)

    def test_first_call_is_off(self):
        self.assertEqual(self.say("first", "first"), (["0", "0"], []))
        self.assertEqual(self.say("first", "first", EVALUE_LOGS="+reader")[0], ["1", "1"])


class Lines(LogTest):
    def test_text(self):
        before = datetime.datetime.now(datetime.timezone.utc)
        for zone in ("UTC", "Asia/Tokyo", "No/Where"):
            _, err = self.say("reader:warning=" + hexed("it is a \"test\": 100%"), TZ=zone)
            self.assertEqual(len(err), 1)
            when, level, component, diagnostic, file, line, message = self.parse(err[0])
            self.assertEqual((level, component, diagnostic, file, message), ("warning", "reader", None, "say.c", 'it is a "test": 100%'))
            self.assertIn("EVALUE_LOG(", (HERE / "say.c").read_text().splitlines()[int(line) - 1])
            passed = datetime.datetime.strptime(when[:-1] + "+0000", "%Y-%m-%dT%H:%M:%S.%f%z") - before
            self.assertTrue(-0.01 < passed.total_seconds() < TIMEOUT, passed)

    @unittest.skipIf(SANITIZERS, "a sanitizer has a clock of its own")
    def test_dates(self):
        """Every day of 2026 to 2034, and the days around the ends of February and of the years until 2262."""
        start = datetime.datetime(1970, 1, 1)
        days = [datetime.datetime(2026, 1, 1) + datetime.timedelta(n) for n in range(9 * 366)]
        days += [datetime.datetime(year, month, day) for year in range(1970, 2262) for month, day in ((1, 1), (2, 28), (3, 1), (12, 31))]
        days += [datetime.datetime(year, 2, 29) for year in range(1972, 2262, 4) if year not in (2100, 2200)]
        times = [day + datetime.timedelta(milliseconds=n * 7919993 % 86400000) for n, day in enumerate(days)]
        times += [day + datetime.timedelta(milliseconds=n) for day in days[:3] for n in (0, 86399999)]
        text = "".join("%d\n" % ((when - start) // datetime.timedelta(milliseconds=1)) for when in times)
        done = subprocess.run([program("dates")], env=environment(), input=text, capture_output=True, text=True, timeout=TIMEOUT)
        found = [self.parse(line)[0] for line in done.stderr.splitlines()]
        self.assertEqual(found, [when.isoformat(timespec="milliseconds") + "Z" for when in times])

    def test_levels(self):
        commands = ["sink:%s=%s" % (level, hexed(level)) for level in ("debug", "info", "warning", "error")]
        for spec, expected in (("+sink", "debug info warning error"), ("sink", "info warning error"), ("", "warning error"), ("-sink", "error"), ("none", "")):
            _, err = self.say(*commands, EVALUE_LOGS=spec)
            found = [self.parse(line) for line in err]
            self.assertEqual([f[1] for f in found], expected.split())
            self.assertEqual([f[6] for f in found], expected.split())

    def test_diagnostics(self):
        _, err = self.say("rejected=" + BAD_BYTES.hex(), "copied=nobody may write", EVALUE_LOGS="-all,why_rejected,why_copied")
        rejected, copied = map(self.parse, err)
        self.assertEqual((rejected[1:4], copied[1:4]), (("info", "reader", "why_rejected"), ("info", "sink", "why_copied")))
        self.assertEqual(rejected[6], "offset 6: malformed: alignment: the alignment's logarithm is too large: expected at most 12, found 200; "
                                      "bytes around it: 45 56 41 4c 01 00 [c8] 00 2e 2f 30 31 32 33 34")
        self.assertEqual(copied[6], "4096 bytes copied: nobody may write")
        self.assertEqual(self.say("rejected=" + BAD_BYTES.hex(), "copied=x", EVALUE_LOGS="+all")[1], [])

    def test_nasty_names_stay_on_their_line(self):
        for name in (b"a\nb.c", b"a\x1b[2J.c", b"a\xff.c"):
            with self.subTest(name):
                _, err = self.run_say("file=" + name.hex())
                self.assertTrue(re.fullmatch(r"[\x20-\x7e]*\n", err), err)
        _, err = self.run_say("an\nx:error=" + hexed("m"))  # that was never registered
        self.assertTrue(re.fullmatch(r"[\x20-\x7e]*\n", err), err)

    def test_long_names(self):
        """The line is still a line, in whole characters."""
        for name in ("x" * 3000, "é" * 1300, "a" + "é" * 1300):
            _, err = self.run_say("file=" + hexed(name + ".c"))
            self.assertTrue(err.endswith("\n") and err.count("\n") == 1)

    def test_own_handler(self):
        out, err = self.say("handler", "reader:error=" + hexed("a\nb"), "copied=r", "handler=default", "reader:error=" + hexed("c"), EVALUE_LOGS="why_copied")
        self.assertEqual(out, ["handler|reader||say.c|4|0|a\\x0ab", "handler|sink|why_copied|say.c|2|0|4096 bytes copied: r"])
        self.assertEqual([self.parse(line)[6] for line in err], ["c"])


class Json(LogTest):
    NASTY = [b"", b'"', b"\\", b'\\"', b"\\u0041", b"\n\r\t", bytes(range(1, 0x20)), b"\x7f", b"\xff\xfe", b"\xc3", "é日😀".encode(), "\u2028\u202e\x85".encode(),
             b"</script>", b"{}", b'"' * 900, b"\\" * 900, b"\x01" * 900, b"\xff" * 900, "é".encode() * 450, "😀".encode() * 225, b"a" + "😀".encode() * 225,
             *[b"\\" * n + b'"' * (802 - n) for n in range(0, 802, 89)], *[b"a" * n for n in range(790, 810)]]

    @staticmethod
    def shown(raw):
        """What a message becomes when it fits."""
        out, i = "", 0
        while i < len(raw):
            for size in (1, 2, 3, 4):
                try:
                    c = raw[i:i + size].decode()
                    break
                except UnicodeDecodeError:
                    c = None
            plain = c is not None and not re.match("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", c)
            size = size if c is not None else 1
            out += c if plain else "".join("\\x%02x" % b for b in raw[i:i + size])
            i += size
        return out

    def test_nasty_messages(self):
        _, err = self.run_say(*["why_x:error=" + raw.hex() for raw in self.NASTY], env={"EVALUE_LOGS_FORMAT": "json"})
        lines = err.split("\n")
        self.assertEqual((len(lines), lines[-1]), (len(self.NASTY) + 1, ""))
        for raw, line in zip(self.NASTY, lines):
            with self.subTest(raw):
                record = json.loads(line)
                self.assertEqual(list(record), ["time", "level", "component", "file", "line", "message"])
                self.assertEqual((record["level"], record["component"], record["file"]), ("error", "why_x", "say.c"))
                self.assertTrue(LINE.match("%(time)s %(level)s %(component)s %(file)s:%(line)d: " % record))
                whole, message = self.shown(raw), record["message"]
                if len(whole.encode()) <= 796:
                    self.assertEqual(message, whole)
                else:
                    self.assertLessEqual(len(message.encode()), 800)
                    self.assertTrue(message == whole or message.endswith("...") and whole.startswith(message[:-3]), message)

    def test_fields(self):
        _, err = self.say("status=7", "status=-1", "status=99", "rejected=" + BAD_BYTES.hex(), "copied=x", EVALUE_LOGS_FORMAT="json", EVALUE_LOGS="why_rejected,why_copied")
        first, negative, unknown, rejected, copied = map(json.loads, err)
        self.assertEqual((first["status"], first["position"], first["line"], first["file"]), ("io", 18446744073709551614, 2147483647, "say.c"))
        self.assertEqual((negative["status"], unknown["status"]), ("?", "?"))
        self.assertEqual((rejected["status"], rejected["position"], rejected["diagnostic"], rejected["component"]), ("malformed", 6, "why_rejected", "reader"))
        self.assertEqual((copied["diagnostic"], "status" in copied, "position" in copied), ("why_copied", False, False))

    def test_names(self):
        """A component may have a long name, and a file any."""
        long = "x" * 400
        _, err = self.say("register=" + long, long + ":error=" + hexed("\\" * 800), EVALUE_LOGS_FORMAT="json")
        self.assertTrue(json.loads(err[0])["component"].startswith("xxx"))
        for name in (b'a"b\\c.c', b"a\nb.c", b"a\xff.c", b"x" * 250 + b".c", b"y" * 3000):
            with self.subTest(name[:10]):
                _, err = self.run_say("file=" + name.hex(), env={"EVALUE_LOGS_FORMAT": "json"})
                self.assertEqual(json.loads(err)["message"], "m")

    def test_format(self):
        for value in ("", "text"):
            _, err = self.say("reader:error=" + hexed("x"), EVALUE_LOGS_FORMAT=value)
            self.assertEqual(len(err), 1)
            self.parse(err[0])
        for value in ("JSON", "xml", " json", "jsonl"):
            _, err = self.say("reader:error=" + hexed("x"), "reader:error=" + hexed("y"), EVALUE_LOGS_FORMAT=value)
            self.assertEqual(err[0], "EVALUE_LOGS_FORMAT: expected text or json; the log is text")
            self.assertEqual([self.parse(line)[6] for line in err[1:]], ["x", "y"])


class Out(LogTest):
    def read(self):
        return pathlib.Path(self.file).read_text()

    def test_file(self):
        _, err = self.say("reader:error=" + hexed("one"), EVALUE_LOGS_OUT=self.file)
        self.assertEqual(err, [])
        _, err = self.say("reader:error=" + hexed("two"), EVALUE_LOGS_OUT=self.file, EVALUE_LOGS_FORMAT="json")
        self.assertEqual(err, [])
        first, second = self.read().splitlines()
        self.assertEqual(self.parse(first)[6], "one")
        self.assertEqual(json.loads(second)["message"], "two")

    def test_write_is_like_any_line(self):
        """evalue_log_write as the first call of a process goes where the others go."""
        _, err = self.say("write=x", EVALUE_LOGS_OUT=self.file, EVALUE_LOGS_FORMAT="json")
        self.assertEqual(err, [])
        self.assertEqual(json.loads(self.read())["message"], "x")

    def test_empty_is_stderr(self):
        self.assertEqual(len(self.say("reader:error=78", EVALUE_LOGS_OUT="")[1]), 1)

    def test_unwritable(self):
        for path in ("/nonexistent/x", self.folder.name, self.folder.name + "/" + "x" * 300):
            with self.subTest(path):
                out, err = self.say("reader:error=" + hexed("x"), "reader:error=" + hexed("y"), EVALUE_LOGS_OUT=path)
                self.assertRegex(err[0], "^EVALUE_LOGS_OUT: /.*: cannot be opened: .*; the log goes to stderr$")
                self.assertEqual([self.parse(line)[6] for line in err[1:]], ["x", "y"])

    def test_a_pipe_without_a_reader(self):
        path = self.folder.name + "/fifo"
        os.mkfifo(path)
        out, err = self.say("reader:error=" + hexed("x"), EVALUE_LOGS_OUT=path)
        self.assertRegex(err[0], "^EVALUE_LOGS_OUT: /.*: cannot be opened: .*; the log goes to stderr$")

    def test_not_into_a_file_of_the_program(self):
        """Whoever closes all descriptors and opens files does not find log lines in them."""
        data = self.folder.name + "/data"
        _, err = self.say("reader:error=" + hexed("one"), "close=3", "open=" + data, "reader:error=" + hexed("two"), EVALUE_LOGS_OUT=self.file)
        self.assertEqual(self.read().count("one"), 1)
        self.assertEqual(pathlib.Path(data).read_bytes(), b"")
        self.assertEqual([self.parse(line)[6] for line in err], ["two"])

    def test_a_handler_that_logs(self):
        _, err = self.say("handler=logging", "reader:error=" + hexed("x"), "reader:error=" + hexed("y"))
        self.assertEqual([self.parse(line)[6] for line in err], ["again: x", "again: y"])

    def test_errno(self):
        for env in ({}, {"EVALUE_LOGS_OUT": "/nonexistent/x"}, {"TZ": "No/Where"}, {"EVALUE_LOGS_FORMAT": "json"}, {"EVALUE_LOGS": "bad,+all"}):
            with self.subTest(env):
                self.assertEqual(self.say("reader:error=78", "reader:debug=78", "x:error=78", **env)[0], [])
        self.assertEqual(self.say("reader:debug=78", EVALUE_LOGS_OUT="/nonexistent/x")[0], [])  # nor by a line that is off

    def test_full_device(self):
        self.assertEqual(self.say("reader:error=78", EVALUE_LOGS_OUT="/dev/full"), ([], []))

    def test_file_at_its_limit(self):
        limit = lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        out, _ = self.run_say("reader:error=78", "reader:error=78", env={"EVALUE_LOGS_OUT": self.file}, preexec_fn=limit)
        self.assertEqual((out, len(self.read())), ("", 100))

    def test_torn(self):
        """4 processes of 4 threads each append to one file: every line is whole, and there, and in the order of its thread."""
        count = 150
        for style in "text", "json":
            env = environment(EVALUE_LOGS_OUT=self.file, EVALUE_LOGS="ipc", EVALUE_LOGS_FORMAT=style)
            processes = [subprocess.Popen([program("say"), "threads=4x%d" % count], env=env) for _ in range(4)]
            self.addCleanup(lambda these=processes: [p.kill() for p in these if p.poll() is None])
            self.assertEqual([p.wait(TIMEOUT) for p in processes], [0] * 4)
            seen = {}
            for line in self.read().splitlines():
                message = json.loads(line)["message"] if style == "json" else self.parse(line)[6]
                match = re.fullmatch(r"process (\d+) thread (\d) line (\d+) (\d*) end", message)
                self.assertTrue(match, line)
                self.assertEqual(len(match.group(4)), int(match.group(3)) % 70)
                seen.setdefault(match.groups()[:2], []).append(int(match.group(3)))
            self.assertEqual(sorted(int(pid) for pid, _ in seen), sorted(p.pid for p in processes for _ in range(4)))
            self.assertTrue(all(numbers == list(range(count)) for numbers in seen.values()))
            os.remove(self.file)


class Stderr(LogTest):
    def test_closed(self):
        out, _ = self.run_say("reader:error=78", "levels", env={"EVALUE_LOGS": "bad,sink"}, preexec_fn=lambda: os.close(2))
        self.assertEqual(out, "WWWIWWNN\n")

    def test_closed_with_a_file(self):
        out, _ = self.run_say("reader:error=" + hexed("x"), "x:error=" + hexed("y"), env={"EVALUE_LOGS_OUT": self.file}, preexec_fn=lambda: os.close(2))
        self.assertEqual(out, "")
        self.assertEqual([self.parse(line)[6] for line in pathlib.Path(self.file).read_text().splitlines()], ["x", "y"])

    @staticmethod
    def full_pipe():
        """A pipe, how many bytes are in it, and no room for more."""
        reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETFL, os.O_NONBLOCK)
        size = 0
        for piece in (4096, 1):
            try:
                while True:
                    size += os.write(writing, b"." * piece)
            except BlockingIOError:
                pass
        return reading, writing, size

    def run_on(self, writing, *arguments, env=None, **options):
        process = subprocess.Popen([program("say"), *arguments], env=environment(**(env or {})), stdout=subprocess.PIPE, stderr=writing, **options)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def test_full_pipe_that_does_not_block(self):
        reading, writing, size = self.full_pipe()
        process = self.run_on(writing, "reader:error=" + hexed("lost"), "levels")
        out, _ = process.communicate(timeout=TIMEOUT)
        os.close(writing)
        with os.fdopen(reading, "rb") as f:
            self.assertEqual(f.read(), b"." * size)
        self.assertEqual((process.returncode, out), (0, b"WWWWWWNN\n"))  # and errno has stayed

    def test_full_pipe_that_blocks(self):
        reading, writing, size = self.full_pipe()
        fcntl.fcntl(writing, fcntl.F_SETFL, 0)
        process = self.run_on(writing, *["reader:error=" + hexed("x" * 700)] * 3)
        os.close(writing)
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        with os.fdopen(reading, "rb") as f:
            text = f.read().decode()
        out, _ = process.communicate(timeout=TIMEOUT)
        self.assertEqual((process.returncode, out), (0, b""))
        self.assertEqual([self.parse(line)[6] for line in text[size:].splitlines()], ["x" * 700] * 3)

    def test_no_line_is_lost_at_the_beginning(self):
        """One thread reads the environment, and its complaint about it blocks: the others wait, and do not go by the default."""
        reading, writing, _ = self.full_pipe()
        fcntl.fcntl(writing, fcntl.F_SETFL, 0)
        process = self.run_on(writing, "staggered=4x20", env={"EVALUE_LOGS": "ipc,bad", "EVALUE_LOGS_OUT": self.file})
        os.close(writing)
        time.sleep(0.3)
        with os.fdopen(reading, "rb") as f:
            f.read()
        process.communicate(timeout=TIMEOUT)
        self.assertEqual(len(pathlib.Path(self.file).read_text().splitlines()), 80)

    def test_nobody_reads(self):
        reading, writing = os.pipe()
        os.close(reading)
        process = self.run_on(writing, "reader:error=78", "levels", restore_signals=False)  # Python ignores SIGPIPE
        os.close(writing)
        out, _ = process.communicate(timeout=TIMEOUT)
        self.assertEqual((process.returncode, out), (0, b"WWWWWWNN\n"))


@unittest.skipIf(SANITIZERS, "a sanitizer has instructions and memory of its own")
class Cost(LogTest):
    LIMIT = 8  # instructions for a line that is off, with the loop around it

    def instructions(self, kind, function, times):
        """Without debug information, since valgrind does not understand that of every compiler."""
        out = os.path.join(self.folder.name, "callgrind.out")
        run = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=" + function, "--callgrind-out-file=" + out, program("cost", "-Wl,--strip-debug"), kind, str(times)],
                             env=environment(), capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual((run.returncode, run.stdout), (0, "0\n"), run.stderr)  # and nothing was evaluated
        total = int(re.search(r"^(?:summary|totals): (\d+)", pathlib.Path(out).read_text(), re.M).group(1))
        self.assertGreater(total, times)
        return total

    @unittest.skipUnless(shutil.which("valgrind"), "needs valgrind")
    def test_off(self):
        for kind, function in ("registered", "probe"), ("is_on", "probe_is_on"), ("copied", "probe_copied"):
            with self.subTest(kind):
                few, many = self.instructions(kind, function, 1000), self.instructions(kind, function, 11000)
                self.assertLessEqual((many - few) / 10000, self.LIMIT)

    def test_floor(self):
        strings = [b"a debug string", b"an info string", b"a warning string", b"an error string"]
        others = ((b"a copied string", 1), (b"a rejected string", 1), (b"a string with a status", 3))
        OUT.mkdir(parents=True, exist_ok=True)
        for optimisation in "-O0", "-O2":
            for floor, first in ((None, 0), ("EVALUE_LOG_DEBUG", 0), ("EVALUE_LOG_INFO", 1), ("EVALUE_LOG_WARNING", 2), ("EVALUE_LOG_ERROR", 3), ("EVALUE_LOG_NONE", 4)):
                with self.subTest((optimisation, floor)):
                    define = ["-DEVALUE_LOG_FLOOR=" + floor] if floor else []
                    compiled([*CC, *FLAGS, "-g0", optimisation, *define, "-c", str(HERE / "floor.c"), "-o", str(OUT / "floor.o")])
                    data = (OUT / "floor.o").read_bytes()
                    self.assertEqual([s in data for s in strings], [i >= first for i in range(4)])
                    self.assertEqual([s in data for s, _ in others], [level >= first for _, level in others])
                    self.assertEqual((b"evaluate" in data, b"evalue_log_write" in data), (first < 4, first < 4))

    def test_allocations(self):
        for env in ({}, {"EVALUE_LOGS_FORMAT": "json"}, {"EVALUE_LOGS_OUT": self.file}, {"EVALUE_LOGS": "all,bad"}, {"TZ": "Asia/Tokyo"}):
            with self.subTest(env):
                run = subprocess.run([program("allocations")], env=environment(**env), capture_output=True, text=True, timeout=TIMEOUT)
                self.assertEqual((run.returncode, run.stdout), (0, "0 1\n"))


@unittest.skipIf(SANITIZERS, "it is built with a sanitizer of its own")
class Threads(LogTest):
    @staticmethod
    @functools.lru_cache(None)
    def sanitized():
        """The command that runs threads.c under ThreadSanitizer, or None."""
        clang = shutil.which("clang-14") or shutil.which("clang")
        if clang is None:
            return None
        OUT.mkdir(parents=True, exist_ok=True)
        binary = str(OUT / "threads_tsan")
        compiled([clang, *FLAGS, "-fsanitize=thread", str(HERE / "threads.c"), *library_sources(), "-lm", "-pthread", "-o", binary])
        steady = ["setarch", "-R"] if subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0 else []
        return [*steady, binary]

    def test_races(self):
        command = self.sanitized()
        if command is None:
            self.skipTest("needs clang")
        for arguments, env in (([], {}), (["one"], {}), (["one"], {"EVALUE_LOGS_OUT": self.file, "EVALUE_LOGS_FORMAT": "json"}), ([], {"EVALUE_LOGS": "+all"})):
            with self.subTest((arguments, env)):
                run = subprocess.run([*command, *arguments], env=environment(**env), capture_output=True, text=True, timeout=TIMEOUT)
                if "unexpected memory mapping" in run.stderr:
                    self.skipTest("ThreadSanitizer does not run on this kernel")
                race = run.stderr.find("WARNING: ThreadSanitizer")
                self.assertEqual((run.returncode, race), (0, -1), run.stderr[race:race + 3000])


@unittest.skipIf(SANITIZERS, "it is built without one")
class Android(LogTest):
    """With Debian's android-liblog-dev, whose logcat is stderr, from info on."""
    INCLUDE = pathlib.Path("/usr/include/android")

    @functools.lru_cache(None)
    def build(self):
        libraries = list(pathlib.Path("/usr/lib").glob("*/android/liblog.so"))
        if not (self.INCLUDE / "android" / "log.h").exists() or not libraries:
            self.skipTest("needs android-liblog-dev")
        OUT.mkdir(parents=True, exist_ok=True)
        folder = str(libraries[0].parent)
        compiled([*CC, *FLAGS, "-DEVALUE_LOG_ANDROID", "-I%s" % self.INCLUDE, str(HERE / "say.c"), *library_sources(), "-lm", "-pthread", "-L" + folder, "-llog",
                  "-Wl,-rpath," + folder, "-o", str(OUT / "say_android")])
        return str(OUT / "say_android")

    def lines(self, *arguments, **env):
        done = subprocess.run([self.build(), *arguments], env=environment(**env), capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done)
        return done.stderr.splitlines()

    def test_logcat(self):
        lines = self.lines("reader:warning=" + hexed("hé"), "sink:error=" + hexed("x\ny"), "cli:info=" + hexed("z"), "copied=rule",
                           EVALUE_LOGS="cli,why_copied")
        found = [re.match(r"evalue ([A-Z]) .*? ((?:reader|sink|cli) .*)\Z", line).groups() for line in lines]
        self.assertEqual([letter for letter, _ in found], ["W", "E", "I", "I"])
        for (_, text), pattern in zip(found, (r"reader say\.c:\d+: hé", r"sink say\.c:\d+: x\\x0ay", r"cli say\.c:\d+: z", r"sink why_copied say\.c:\d+: 4096 bytes copied: rule")):
            self.assertRegex(text, pattern + r"\Z")

    def test_file(self):
        self.assertEqual(self.lines("reader:error=" + hexed("x"), EVALUE_LOGS_OUT=self.file), [])
        self.assertEqual(self.parse(pathlib.Path(self.file).read_text().rstrip("\n"))[6], "x")


if __name__ == "__main__":
    unittest.main()
