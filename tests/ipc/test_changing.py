# SPDX-License-Identifier: BSD-3-Clause
"""Memory that the other side changes while it is used (J3, J5)."""
import unittest

import peer
from peer import SLOT, frame
from support import KINDS, SANITIZERS, IpcTest, Running, program

MS = 3000
SEND_MS = 1500


def structure(values):
    """The positions of the bytes of a message that are no payload: those that differ from payload to payload stay out."""
    r = peer.reference

    def fill(byte):
        def one(v):
            if isinstance(v, r.String):
                return r.String(bytes([byte]) * len(v.data))
            if isinstance(v, r.Tensor):
                return r.Tensor(v.scalar_type, v.sizes, v.dim_order, bytes([byte]) * len(v.data))
            return v

        return r.encode_message([one(v) for v in values])

    return [at for at, (a, b) in enumerate(zip(fill(0x55), fill(0xAA))) if a == b]


class Steps(IpcTest):
    """J3: a byte is changed between two calls of the reader. What was returned stays, and what comes lies inside or is an error."""

    def values(self):
        r = peer.reference
        return [r.Int(5), r.Tensor(r.SCALAR_CODE["int16"], (2, 3), (1, 0), b"\1\0" * 6), r.String(b"text"), r.Bool(True)]

    def start_steps(self, count):
        ours, theirs = self.socketpair("stream")
        reader = self.start_with(theirs, "fd", f"step={count}")
        python = peer.Peer(ours)
        python.offer(1000, 1)
        return reader, python

    def run_once(self, reader, python, message, change_at_step, at, flip):
        """The values as they were read and as they were in the end; and the status."""
        slot = python.sending.take()
        python.sending.write(slot, message)
        python.put(frame(SLOT, len(message), slot))
        step, first, last, status = 0, [], [], None
        while True:
            line = reader.line()
            if line == "done":
                return first, last, status
            if line.startswith("value"):
                (first if status is None else last).append(line)
                continue
            if line.startswith("stop"):
                status = line.split()[1]
            if step == change_at_step:
                python.sending.write(slot, bytes([message[at] ^ flip]), at)
            step += 1
            reader.go()

    def check_ranges(self, lines, size):
        for line in lines:
            words = line.split()
            if words[1] in ("1", "2") and int(words[3]) > 0:  # a tensor, a string
                self.assertLessEqual(0, int(words[2]))
                self.assertLessEqual(int(words[2]) + int(words[3]), size)

    def test_j3_every_byte_before_every_call(self):
        values = self.values()
        message = peer.reference.encode_message(values)
        places = structure(values)
        self.assertGreater(len(places), 24 + 9 * 4)
        flips = (1, 0xFF) if SANITIZERS else (1, 2, 0x80, 0xFF)
        steps = len(values) + 3  # the opening, each value, the end, and after it
        reader, python = self.start_steps(1 + steps * len(places) * len(flips))
        good, _, status = self.run_once(reader, python, message, None, 0, 0)
        self.assertEqual((len(good), status), (len(values), "end"))
        outcomes = {}
        for step in range(steps):
            for at in places:
                for flip in flips:
                    context = step, at, flip
                    first, last, status = self.run_once(reader, python, message, step, at, flip)
                    self.assertEqual(first, last, context)
                    self.check_ranges(first, len(message))
                    before = max(0, step - 1)
                    self.assertEqual(first[:before], good[:before], context)  # what was read before is as it was
                    if step == 0:  # nothing was read before: it is a message like another
                        changed = message[:at] + bytes([message[at] ^ flip]) + message[at + 1:]
                        fault = peer.reference.decode(changed, "message").fault
                        self.assertEqual(status, fault.status if fault else "end", context)
                    if step > len(values) + 1:
                        self.assertEqual((first, status), (good, "end"), context)
                    outcomes[status] = outcomes.get(status, 0) + 1
        python.close()
        reader.finish()
        self.assertEqual(set(outcomes), {"end", "malformed", "unsupported", "truncated"})


class Hammer(IpcTest):
    def hammer(self, sock, ms, role):
        running = Running(self, [program("hammer"), str(sock.fileno()), str(ms), role], (sock.fileno(),))
        sock.close()
        return running

    def test_j5_the_sender_rewrites_what_is_read(self):
        ms = MS if not SANITIZERS else 2 * MS
        theirs, ours = self.socketpair("stream")
        hammer = self.hammer(theirs, 20 * ms, "send")
        reader = self.start_with(ours, "left", "fd", f"decode={ms}", "close", "left")
        lines = reader.finish()
        self.check_left(lines)
        words = lines[1].split()
        read, whole, faults = int(words[1]), int(words[3]), int(words[5])
        self.assertGreater(whole, 100)
        self.assertGreater(faults, 100)  # it did hammer
        self.assertGreater(read, 1000)
        self.assertIsNone(hammer.process.poll())

    def test_the_receiver_writes_all_over_the_pool(self):
        """The control words, and the slots while they are filled. The sender goes on, or waits in vain."""
        for kind in KINDS:
            theirs, ours = self.socketpair(kind)
            hammer = self.hammer(theirs, 20 * SEND_MS, "receive")
            sender = self.start_with(ours, "carrier=2", "slot_nbytes=262144", "stall_ms=50", "left", "fd", f"send-for={SEND_MS}", "close", "left")
            lines = sender.finish()
            self.check_left(lines)
            self.assertGreater(int(lines[1].split()[1]), 3, lines)
            self.assertIsNone(hammer.process.poll())

    def test_a_receiver_that_gives_back_what_it_does_not_have(self):
        """Slots that are free, reserved, not there; a counter that jumps."""
        ours, theirs = self.socketpair("stream")
        sender = self.start_with(theirs, "carrier=2", "slots=2", "slot_nbytes=300000", "left", "fd", "send=1", "wait", "send=30", "reserve=30", "close", "left")
        python = peer.Peer(ours)
        self.assertEqual(python.receive()[1], peer.make_message(0))
        for slot in range(64):
            python.receiving.set_word(peer.SLOTS + 64 * slot, 0)
        python.receiving.set_word(peer.FREED, 0xFFFFFFFF)
        python.receiving.set_word(peer.WAITING, 77)
        sender.go()
        for k in range(1, 61):
            self.assertEqual(python.receive()[1], peer.make_message(k))
        self.check_left(sender.finish())

    def test_a_slot_that_is_being_filled(self):
        """The receiver says that it is free. It is not: what is made in it stays."""
        ours, theirs = self.socketpair("stream")
        sender = self.start_with(theirs, "carrier=2", "slots=2", "slot_nbytes=300000", "left", "fd", "send=1", "keep=20", "close", "left")
        python = peer.Peer(ours)
        self.assertEqual(python.receive()[1], peer.make_message(0))
        sender.until("kept")
        kept, = [at for at in (peer.SLOTS, peer.SLOTS + 64) if python.receiving.word(at) == 1]
        python.receiving.set_word(kept, 0)
        sender.go()
        for k in [*range(2, 22), 1]:
            self.assertEqual(python.receive()[1], peer.make_message(k))
            python.receiving.set_word(kept, 0)  # not the other one: that may have the next message already
        self.check_left(sender.finish())


if __name__ == "__main__":
    unittest.main()
