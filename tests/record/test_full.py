# SPDX-License-Identifier: BSD-3-Clause
"""Disks that are full at every byte, calls that take a byte at a time, and signals (full.c has such a disk): no whole record is lost, and the side file never names one
that is not there. What is in the files is read by spec/records_reference.py."""
import unittest

from support import SANITIZERS, RecordTest, program, references

records, _ = references()
COUNT = 4
CONTENTS = [bytes((i * 7 + k * 3) % 256 for k in range(i * 17 % 30)) for i in range(COUNT)]
WHOLE = records.file_of(CONTENTS)
INDEX = records.write_index(records.read(WHOLE, "records")[0]).encode()
NO_SPACE = "io 28"
STEP = 5 if SANITIZERS else 1  # of the amounts of room: with a sanitizer programs start slowly
WAYS = [(1, 1), (1, 2), (50, 1), (50, 2), (0, 1), (0, 0)]  # buffer, and after how many records it is flushed; 0: the default, and never


class Full(RecordTest):
    def setUp(self):
        super().setUp()
        self.file, self.index = self.dir / "f", self.dir / "i"

    def write(self, start, end, index=True, **options):
        """Appends records; returns the lines of its calls, and the bytes that opening has cut."""
        lines = self.run_program(program("full"), "f", "i" if index else "-", start, end, *(f"{key}={number}" for key, number in options.items())).splitlines()
        cut = [int(line.split()[1]) for line in lines if line.startswith("cut ")]
        return [line for line in lines if not line.startswith("cut ")], sum(cut)

    def begin(self, data=b""):
        self.file.write_bytes(data)
        self.index.unlink(missing_ok=True)

    def whole(self, context):
        """How many whole records the file has, which must be the first ones, and where they end."""
        data = self.file.read_bytes()
        found, _, fault = records.read(data, "records")
        self.assertEqual([record for _, record in found], CONTENTS[:len(found)], context)
        self.assertIn(fault and fault.json["status"], (None, "truncated"), context)
        return len(found), len(records.file_of(CONTENTS[:len(found)]))

    def named(self, context):
        """How many whole lines the side file has; they must be the first ones."""
        index = self.index.read_bytes() if self.index.exists() else b""
        self.assertTrue(INDEX.startswith(index), context)
        return index.count(b"\n"), index

    def check_all(self, context):
        self.assertEqual(self.file.read_bytes(), WHOLE, context)
        self.assertEqual(self.index.read_bytes(), INDEX, context)

    def safe(self, lines):
        """How many records were flushed."""
        at = max((i for i, line in enumerate(lines) if line in ("flush ok 0", "close ok 0")), default=0)
        return lines[:at].count("put ok 0")

    def test_every_byte(self):
        """With each amount of room: what is there then, and that it goes on when there is room."""
        for buffer, flush in WAYS:
            for room in range(0, len(WHOLE) + len(INDEX), STEP):
                context = f"buffer {buffer} flush {flush} room {room}"
                self.begin()
                lines, _ = self.write(0, COUNT, room=room, buffer=buffer, flush=flush)
                self.assertTrue(any(line.endswith(NO_SPACE) for line in lines), (context, lines))
                there, end = self.whole(context)
                self.assertEqual(self.file.stat().st_size, end, (context, "a torn record was left"))
                self.assertGreaterEqual(there, self.safe(lines), (context, lines))
                named, index = self.named(context)
                self.assertLessEqual(named, there, context)
                self.assertTrue(index == b"" or index.endswith(b"\n"), context)
                self.assertEqual(self.write(there, COUNT)[1], 0, context)
                self.check_all(context)

    def test_going_on_in_the_same_process(self):
        """There is room again, and the call that has failed is made once more."""
        for buffer, flush in WAYS:
            for room in range(0, len(WHOLE) + len(INDEX), STEP):
                context = f"buffer {buffer} flush {flush} room {room}"
                self.begin()
                lines, _ = self.write(0, COUNT, room=room, buffer=buffer, flush=flush, retry=1)
                failed = [line for line in lines if not line.endswith("ok 0")]
                self.assertEqual(len(failed), 1, (context, lines))
                if failed == [f"close {NO_SPACE}"]:  # and then the writer is closed
                    there, _ = self.whole(context)
                    self.assertEqual(self.write(there, COUNT)[1], 0, context)
                self.check_all(context)

    def test_torn_records(self):
        """What does not fit cannot be cut off either: the writer takes no more, and the next one cuts it off."""
        torn = set()
        for buffer in 1, 50, 0:
            for room in range(0, len(WHOLE), STEP):
                context = f"buffer {buffer} room {room}"
                self.begin()
                lines, _ = self.write(0, COUNT, index=False, room=room, buffer=buffer, flush=1, torn=1, retry=1)
                there, end = self.whole(context)
                self.assertGreaterEqual(there, self.safe(lines), (context, lines))
                if there != COUNT:  # otherwise there was just room for a whole record, and nothing to cut off
                    self.assertEqual(self.file.stat().st_size, room, (context, lines))
                    self.assertTrue(any("poisoned" in line for line in lines), (context, lines))
                    torn.add(room)
                self.assertEqual(self.write(there, COUNT)[1], 0 if there == COUNT else room - end, context)
                self.check_all(context)
        ends = {len(records.file_of(CONTENTS[:i])) for i in range(COUNT)}
        self.assertEqual(torn, set(range(0, len(WHOLE), STEP)) - ends)

    def test_no_room_for_the_side_file(self):
        """Of a file that there is already, which stays as it is."""
        before = records.file_of(CONTENTS[:3])
        for room in range(len(before) + INDEX.index(b"\n%d " % len(before)) + 1):
            self.begin(before)
            lines, cut = self.write(3, COUNT, room=room)
            self.assertEqual((lines, cut), ([f"open {NO_SPACE}"], 0), room)
            self.assertEqual(self.file.read_bytes(), before, room)
            self.assertTrue(INDEX.startswith(self.index.read_bytes()), room)
            self.write(3, COUNT)
            self.check_all(room)

    def test_a_byte_at_a_time(self):
        for eintr in 0, 1:
            for most in 1, 2, 13, 1 << 20:
                for buffer in 1, 50, 0:
                    context = f"eintr {eintr} most {most} buffer {buffer}"
                    self.begin(records.frame(b"torn")[:-1])
                    lines, cut = self.write(0, COUNT, eintr=eintr, most=most, buffer=buffer, flush=2)
                    self.assertEqual([line for line in lines if not line.endswith("ok 0")], [], context)
                    self.assertEqual(cut, 19, context)
                    self.check_all(context)

    def test_a_byte_at_a_time_until_it_is_full(self):
        for room in range(0, len(WHOLE) + len(INDEX), STEP):
            self.begin()
            lines, _ = self.write(0, COUNT, room=room, most=1, eintr=1, buffer=1, flush=1)
            self.assertTrue(any(line.endswith(NO_SPACE) for line in lines), (room, lines))
            there, end = self.whole(room)
            self.assertEqual(self.file.stat().st_size, end, room)
            self.assertGreaterEqual(there, self.safe(lines), (room, lines))
            self.write(there, COUNT)
            self.check_all(room)


if __name__ == "__main__":
    unittest.main()
