# SPDX-License-Identifier: BSD-3-Clause
"""The example that trains: the commands of examples/README.md, as they stand there, and what they print. The digits are those of Debian's package python3-sklearn, which
`scripts/install-packages test` has put where they are looked for, without the package."""
import os
import re
import shlex
import shutil
import unittest

from support import BUILD, CC, ENVIRONMENT, ROOT, SANITIZERS, RecordTest

README = ROOT / "examples" / "README.md"
INSTALLED = "usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz"
DIGITS = [path for path in ("/" + INSTALLED, "/usr/local/share/evalue-test/digits.csv.gz") if os.path.exists(path)]


def blocks(language):
    return re.findall(f"(?ms)^```{language}\n(.*?)^```$", README.read_text(encoding="utf-8"))


def losses(text):
    return {int(epoch): float(loss) for epoch, loss in re.findall(r"(?m)^epoch +(\d+): loss (\d+\.\d{4})$", text)}


def recognised(text):
    right, of, percent = re.search(r"(?m)^(\d+) of (\d+) digits recognised: (\d+\.\d) %$", text).groups()
    return int(right), int(of), float(percent)


@unittest.skipUnless(DIGITS, "needs the digits of python3-sklearn: scripts/install-packages test")
class Example(RecordTest):
    def tool(self, name, script):
        path = self.dir / "bin" / name
        path.write_text("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)

    def make_tools(self):
        """What the README's commands find: this compiler, this command, these libraries, and the package, which is there already."""
        (self.dir / "bin").mkdir()
        (self.dir / "pkgconfig").mkdir()
        compiler = [shutil.which(CC[0]), *CC[1:], *SANITIZERS]  # not cc, which is this one now
        self.tool("cc", f'exec {shlex.join(compiler)} "$@"')
        self.tool("apt-get", '[ "$*" = "download python3-sklearn" ]')
        self.tool("dpkg", f'[ "$1 $3" = "-x sklearn" ] && mkdir -p "$(dirname "sklearn/{INSTALLED}")" && ln -s {DIGITS[0]} sklearn/{INSTALLED}')
        (self.dir / "bin" / "evalue").symlink_to(BUILD / "evalue")
        for name in "evalue", "evalue-record":
            text = (ROOT / "src" / (name + ".pc.in")).read_text()
            for key, word in ("PREFIX", str(ROOT)), ("LIBDIR", str(BUILD)), ("VERSION", "0"):
                text = text.replace(f"@{key}@", word)
            (self.dir / "pkgconfig" / (name + ".pc")).write_text(text)
        return dict(ENVIRONMENT, PATH=f"{self.dir}/bin:{os.environ['PATH']}", PKG_CONFIG_PATH=f"{self.dir}/pkgconfig", LD_LIBRARY_PATH=str(BUILD))

    def test_all_of_it(self):
        environment = self.make_tools()
        for name in "train.c", "digits.py":
            shutil.copy(ROOT / "examples" / name, self.dir)
        out = ""
        for commands in blocks("sh"):
            out += self.run_program("sh", "-euc", commands, env=environment)
        shown = "\n".join(blocks("text"))
        self.check_output(out, shown)
        again = self.run_program("./train", "digits", env=environment)
        self.assertTrue(out.endswith(again), "the next run has printed something else")
        self.assertEqual(losses(self.run_program("./train", "digits", "3", env=environment)), {i: losses(out)[i] for i in (1, 2, 3)})

    def check_output(self, out, shown):
        """It learns; and what it prints is what the README shows, but for what the last digits make."""
        self.assertEqual(out.splitlines()[:2], ["train: 1437 digits", "test: 360 digits"])
        printed, expected = losses(out), losses(shown)
        self.assertEqual(sorted(printed), list(range(1, 21)))
        self.assertEqual(len(out.splitlines()), 2 + 20 + 1, out)
        for epoch in range(2, 6):
            self.assertLess(printed[epoch], printed[epoch - 1])
        self.assertLess(printed[20], printed[1] / 20)
        self.assertEqual(sorted(expected), [1, 2, 3, 20])
        for epoch, loss in expected.items():
            self.assertAlmostEqual(printed[epoch], loss, delta=0.005)
        (right, of, percent), (right_there, of_there, percent_there) = recognised(out), recognised(shown)
        self.assertEqual((of, of_there), (360, 360))
        for part, shown_percent in (right, percent), (right_there, percent_there):
            self.assertAlmostEqual(100 * part / 360, shown_percent, delta=0.05001)
        self.assertAlmostEqual(right, right_there, delta=2)
        self.assertGreater(percent, 94)

    def test_what_is_no_record_file(self):
        """The example says what is wrong, and where."""
        environment = self.make_tools()
        shutil.copy(ROOT / "examples" / "train.c", self.dir)
        build, = [line for commands in blocks("sh") for line in commands.splitlines() if line.startswith("cc ")]
        self.run_program("sh", "-euc", build, env=environment)
        (self.dir / "digits").mkdir()
        process = self.start("./train", "digits", env=environment)
        self.assertEqual(process.communicate()[1].decode(), "files: digits/train-*.tfrecord: No such file or directory\n")
        self.assertEqual(process.returncode, 1)


if __name__ == "__main__":
    unittest.main()
