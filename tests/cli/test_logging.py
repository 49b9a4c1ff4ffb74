# SPDX-License-Identifier: BSD-3-Clause
"""--log and the environment: what the command says about its work."""
import json
import re
import unittest

from support import NONE, CliTest, boolean, message, tensor

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (\w+) (\w+) (?:(\w+) )?(\w+\.c):\d+: (.*)")
JAVA = b"\1\6\1\0\0\0\1\x3f\x80\0\0"


class Logging(CliTest):
    def lines(self, code, *args):
        """Runs the command; returns what it logged: (level, component, diagnostic, file, message), and what else it said."""
        result = self.run_raw(*args)
        self.assertEqual(result.returncode, code, result.stderr)
        text = result.stderr.decode().splitlines()
        return [LINE.fullmatch(line).groups() for line in text if LINE.fullmatch(line)], [line for line in text if not LINE.fullmatch(line)]

    def setUp(self):
        super().setUp()
        for name in ("EVALUE_LOGS", "EVALUE_LOGS_OUT", "EVALUE_LOGS_FORMAT"):
            self.environment.pop(name, None)
        self.write("good", message(NONE, boolean(1)))
        self.write("bad", message(NONE, boolean(1))[:-1] + b"\2")
        self.write("java", JAVA)

    def test_silence_is_the_default(self):
        self.assertEqual(self.lines(0, "check", "good"), ([], []))
        logged, said = self.lines(1, "check", "bad")
        self.assertEqual((logged, len(said)), ([], 1))

    def test_why_rejected(self):
        fault = "offset 42: value 1: malformed: bool: the Bool is neither 0 nor 1: expected 0 or 1, found 2"
        for args in (["--log", "why_rejected", "check", "bad"], ["--log=none", "--log=why_rejected", "check", "bad"], ["check", "--log=why_rejected", "bad"], ["check", "bad", "--log", "all,why_rejected"]):
            logged, said = self.lines(1, *args)
            around = "05 01 00 00 00 00 00 00 00"[3:]
            self.assertEqual(logged, [("info", "reader", "why_rejected", "report.c", f"{fault}; bytes around it: {around} [02]")])
            self.assertEqual(said, [f"bad: {fault}"])
        logged, _ = self.lines(1, "check", "--log=why_rejected", "--form", "executorch-java", "bad")
        self.assertEqual(logged[0][:3], ("info", "executorch_java", "why_rejected"))

    def test_why_copied(self):
        self.write("order", message(tensor("uint8", [2, 2, 2], bytes(range(8)), [0, 2, 1])))
        logged, said = self.lines(0, "unpack", "--log", "why_copied", "-d", "new", "order")
        self.assertEqual([(line[1], line[2], line[4]) for line in logged],
                         [("cli", "why_copied", "8 bytes copied: .npy has C order and Fortran order, and the dim_order is neither")])
        self.assertEqual(said, [])
        logged, _ = self.lines(0, "check", "--log", "why_copied", "--form", "executorch-java", "java")
        self.assertEqual(logged, [])
        logged, _ = self.lines(0, "convert", "--log", "why_copied", "--from", "executorch-java", "java", "out")
        self.assertEqual([line[1:3] for line in logged], [("executorch_java", "why_copied")])
        self.assertIn("4 bytes copied: ", logged[0][4])

    def test_the_option_wins_over_the_environment(self):
        self.environment["EVALUE_LOGS"] = "why_rejected"
        self.assertEqual(len(self.lines(1, "check", "bad")[0]), 1)
        self.assertEqual(len(self.lines(1, "check", "--log", "none", "bad")[0]), 0)
        self.environment["EVALUE_LOGS"] = "none"
        self.assertEqual(len(self.lines(1, "check", "--log", "why_rejected", "bad")[0]), 1)

    def test_into_a_file_as_json(self):
        self.environment.update(EVALUE_LOGS="why_rejected", EVALUE_LOGS_OUT=self.path("log"), EVALUE_LOGS_FORMAT="json")
        for _ in range(2):
            self.assertEqual(self.lines(1, "check", "bad")[0], [])
        lines = [json.loads(line) for line in self.read("log").splitlines()]
        self.assertEqual(len(lines), 2)
        self.assertEqual({key: lines[1][key] for key in ("component", "diagnostic", "status", "position", "level")},
                         {"component": "reader", "diagnostic": "why_rejected", "status": "malformed", "position": 42, "level": "info"})

    def test_names(self):
        for args in (["--log", "help"], ["--log", "help", "check", "x"], ["show", "--log", "help"]):
            text = self.good(*args).decode()
            for name in ("reader", "sink", "why_rejected", "why_copied", "all", "none"):
                self.assertIn(name, text)
        for args in (["--log", "sinks", "check", "good"], ["check", "--log", "sinks", "good"]):
            self.bad(2, '^evalue( check)?: --log: unknown name "sinks": expected components: reader, ', *args)
        self.bad(2, "^evalue: --log needs a value\n", "--log")
        self.bad(2, "^evalue: unknown command '--logs'\n", "--logs")
        self.bad(2, "^evalue check: --log needs a value\n", "check", "--log")
        self.bad(2, "^evalue check: --log: expected at most 500 bytes\n", "check", "--log", "x" * 501, "good")
        self.environment["EVALUE_LOGS"] = "sinks,why_rejected"
        logged, said = self.lines(1, "check", "bad")
        self.assertEqual(len(logged), 1)  # what is known counts
        self.assertRegex(said[0], '^EVALUE_LOGS: unknown name "sinks": expected components: ')


if __name__ == "__main__":
    unittest.main()
