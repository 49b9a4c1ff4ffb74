# SPDX-License-Identifier: BSD-3-Clause
"""Messages between processes: two programs that mean well, and programs whose peer dies. Run by `make test-processes`.

Every end is a process of its own (endpoint.c), or the peer in Python, which was written from the specification alone.
"""
import os
import random
import socket
import time
import unittest

import peer
from support import CARRIERS, KINDS, SANITIZERS, SMALL, IpcTest

WIDE = ["slot_nbytes=262144"]  # every message fits


def options(carrier):
    return SMALL if carrier == "auto" else [f"carrier={CARRIERS[carrier]}", *WIDE]


class Good(IpcTest):
    def check_exchange(self, kind, count, first, second):
        a, b = self.pair(kind, [*first, "left", "fd", f"exchange={count}", "close", "left"], [*second, "left", "fd", f"answer={count}", "close", "left"])
        for lines in a.finish(), b.finish():
            self.assertIn(f"sent {count} received {count}", lines)
            self.assertEqual(len(lines), 4, lines)
            self.check_left(lines)

    def test_ten_thousand_mixed_messages_both_ways(self):
        for kind in KINDS:
            with self.subTest(kind):
                self.check_exchange(kind, 9999, SMALL, SMALL)

    def test_every_carrier(self):
        for kind in KINDS:
            for carrier in CARRIERS:
                with self.subTest(kind=kind, carrier=carrier):
                    self.check_exchange(kind, 600, options(carrier), options("auto"))

    def test_snapshots_and_small_pools(self):
        for kind in KINDS:
            self.check_exchange(kind, 600, [*options("pool"), "snapshot=1", "slots=3"], [*options("pool"), "slots=64", "alignment=4096"])

    def test_over_a_path(self):
        for listen in "listen", "listen-packets":
            a = self.start(*SMALL, "left", f"{listen}={self.path}", "accept", "exchange=300", "close", "stop-listening", "left")
            a.until("listening")
            b = self.start(*SMALL, "left", f"connect={self.path}", "answer=300", "close", "left")
            self.check_left(a.finish())
            self.check_left(b.finish())
            self.assertFalse(self.path.exists())

    def test_sockets_that_do_not_block(self):
        one, other = self.socketpair("stream")
        one.setblocking(False)
        a = self.start_with(one, *SMALL, "fd", "exchange=600")
        b = self.start_with(other, *SMALL, "fd", "answer=600")
        self.assertEqual([a.finish(), b.finish()], [["sent 600 received 600"]] * 2)

    def test_a_socket_with_a_small_buffer(self):
        """Every message that goes through the socket has to wait for room in it."""
        one, other = self.socketpair("stream")
        for sock in one, other:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        a = self.start_with(one, *options("inline"), "fd", "exchange=150")
        b = self.start_with(other, *options("inline"), "fd", "answer=150")
        self.assertEqual([a.finish(), b.finish()], [["sent 150 received 150"]] * 2)

    def test_several_senders_in_turn(self):
        turn = ["accept", "from=0", "receive=100", "close"]
        receiver = self.start("left", f"listen={self.path}", "loud", *turn * 3, "stop-listening", "left")
        receiver.until("listening")
        for carrier in "auto", "pool":
            self.assertEqual(self.start(*options(carrier), f"connect={self.path}", "send=100", "close").finish(), ["close ok"])
        python = peer.Peer.connect(self.path)
        for k in range(100):
            python.send_inline(peer.make_message(k))
        python.close()
        lines = receiver.finish()
        self.assertEqual(len([line for line in lines if line.startswith("got ")]), 300)
        self.check_left(lines)

    def test_one_sealed_message_for_many(self):
        """The sender is gone before anybody reads."""
        for listen, kind in ("listen", socket.SOCK_STREAM), ("listen-packets", socket.SOCK_SEQPACKET):
            sender = self.start("left", "seal=31", f"{listen}={self.path}", *["accept", "send-sealed=3", "close"] * 5, "unseal", "stop-listening", "left")
            sender.until("listening")
            receivers = [self.start("left", "expect=31", "loud", f"connect={self.path}", "wait", "hold=3", "take", "close", "left") for _ in range(4)]
            python = peer.Peer.connect(self.path, kind)
            self.check_left(sender.finish())
            for receiver in receivers:
                receiver.go()
                lines = receiver.finish()
                self.assertEqual(lines[1:4], ["got %d sealed" % i for i in range(3)])
                self.assertEqual(lines[4].split()[:2], ["end", "end"])
                self.check_left(lines)
            for _ in range(3):
                self.assertEqual(python.receive(), (peer.SEALED, peer.make_message(31), None))
            self.assertRaises(peer.Closed, python.receive)
            python.close()

    def test_weights_of_many_sizes(self):
        for k in (13, 1, 2, 15, 31):
            one, other = self.socketpair("stream")
            sender = self.start_with(one, f"seal={k}", "fd", "send-sealed=1")
            self.assertEqual(peer.Peer(other).receive()[:2], (peer.SEALED, peer.make_message(k)))
            sender.finish()

    def test_automatic_choice_when_a_packet_is_too_large(self):
        """ "The first of the three that takes the message": this socket takes no packet of that size."""
        one, other = self.socketpair("packets")
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
        sender = self.start_with(one, "fd", "opaque=50000")
        self.assertEqual(sender.finish(), ["sent 50000"])
        self.assertEqual(peer.Peer(other).receive()[:2], (peer.SLOT, b"x" * 50000))


class Python(IpcTest):
    """The specification, read by somebody else."""

    def test_receiving(self):
        for kind in KINDS:
            for carrier in (*CARRIERS, "reserved"):
                with self.subTest(kind=kind, carrier=carrier):
                    ours, theirs = self.socketpair(kind)
                    what = ["carrier=2", *WIDE, "fd", "reserve=100"] if carrier == "reserved" else [*options(carrier), "fd", "send=100"]
                    sender = self.start_with(theirs, "left", *what, "close", "left")
                    python, used = peer.Peer(ours), set()
                    for k in range(100):
                        number, message, slot = python.receive()
                        self.assertEqual(message, peer.make_message(k))
                        used.add(number)
                    self.assertRaises(peer.Closed, python.receive)
                    self.check_left(sender.finish())
                    self.assertEqual(used, {1, 2, 3} if carrier == "auto" else {2} if carrier == "reserved" else {CARRIERS[carrier]})
                    if python.receiving:
                        self.assertEqual(python.receiving.map[peer.CONTROL - 64:peer.CONTROL], bytes(64))

    def test_choosing_by_size(self):
        for nbytes, carrier in ((0, 1), (1, 1), (65536, 1), (65537, 2), (1 << 24, 2), ((1 << 24) + 1, 3)):
            ours, theirs = self.socketpair("stream")
            sender = self.start_with(theirs, "fd", f"opaque={nbytes}")
            self.assertEqual(peer.Peer(ours).receive()[:2], (carrier, b"x" * nbytes))
            self.assertEqual(sender.finish(), [f"sent {nbytes}"])

    def test_the_example(self):
        """Section 7, byte by byte."""
        ours, theirs = self.socketpair("stream")
        sender = self.start_with(theirs, "fd", "opaque=55", "carrier=2", "slots=3", "slot_nbytes=5000", f"fd={theirs.fileno()}", *["opaque=4120"] * 3)
        sender.finish()
        self.assertEqual(ours.recv(79), bytes.fromhex("45564950010100003700000000000000" + "00" * 8) + b"x" * 55)
        pool, fds, _, _ = socket.recv_fds(ours, 24, 4)
        self.assertEqual((pool, len(fds)), (bytes.fromhex("45564950010400008813000000000000" + "0300000000000000"), 1))
        self.assertEqual(os.fstat(fds[0]).st_size, 65536 + 3 * 8192)
        os.close(fds[0])
        self.assertEqual(ours.recv(72)[48:], bytes.fromhex("45564950010200001810000000000000" + "0200000000000000"))
        self.assertEqual(ours.recv(1), b"")

    def test_sending(self):
        for kind in KINDS:
            for carrier in "inline", "pool", "sealed":
                for snapshot in 0, 1:
                    with self.subTest(kind=kind, carrier=carrier, snapshot=snapshot):
                        ours, theirs = self.socketpair(kind)
                        receiver = self.start_with(theirs, "left", f"snapshot={snapshot}", "loud", "fd", "receive=100", "take", "close", "left")
                        python = peer.Peer(ours)
                        if carrier == "pool":
                            python.offer(210000, 3)
                        send = {"inline": python.send_inline, "pool": python.send_in_slot, "sealed": python.send_sealed}[carrier]
                        for k in range(100):
                            send(peer.make_message(k))
                        if carrier == "pool":  # all slots come back, and each is counted
                            for _ in range(3):
                                python.sending.busy.discard(python.sending.take())
                        python.close()
                        lines = receiver.finish()
                        self.assertEqual(lines[1:101], [f"got {k} {carrier}" for k in range(100)])
                        self.assertEqual(lines[101], "end end none none 0 0 0 0")
                        self.check_left(lines)
                        if carrier == "pool":
                            self.assertEqual(python.sending.word(peer.FREED), 100)

    def test_an_empty_message(self):
        for kind in KINDS:
            ours, theirs = self.socketpair(kind)
            receiver = self.start_with(theirs, "left", "fd", "take", "close", "left")
            python = peer.Peer(ours)
            python.offer(0, 64)
            for send in python.send_inline, python.send_in_slot, python.send_sealed:
                send(b"")
            python.close()
            lines = receiver.finish()
            self.assertEqual([line.split()[:4] for line in lines[1:5]], [["got", "0", "inline", "1"], ["got", "0", "pool", "0"], ["got", "0", "sealed", "1"],
                                                                         ["end", "end", "none", "none"]])
            self.check_left(lines)


class Split(IpcTest):
    """K7: a limit for each message."""

    LIMIT = 100000

    def send_split(self, kind, carrier, limit, values):
        """The parts; they are checked."""
        ours, theirs = self.socketpair(kind)
        sender = self.start_with(theirs, *options(carrier), f"limit={limit}", "fd", "split=31")
        parts, python = [], peer.Peer(ours)
        with self.assertRaises(peer.Closed):
            while True:
                parts.append(python.receive()[1])
        self.assertEqual(sender.finish(), [f"split ok {len(parts)} 0"])
        self.assertLessEqual(max(map(len, parts)), limit)
        decoded = [peer.reference.decode(part, "message") for part in parts]
        self.assertEqual([d.fault for d in decoded], [None] * len(parts))
        self.assertEqual([v for d in decoded for v in d.values], values)
        return parts

    def test_k7_parts_are_messages_and_make_the_whole(self):
        values = [v for k in range(31) for v in peer.make_values(k)]
        exact = len(peer.reference.encode_message(values[:70]))  # one part takes just so many, or just not
        self.assertGreater(exact, 41000)
        for limit in (self.LIMIT, 65536, exact, exact - 1):
            self.assertEqual(len(self.send_split("stream", "inline", limit, values)), self.fewest(values, limit))
        for kind in KINDS:
            for carrier in CARRIERS:
                self.send_split(kind, carrier, self.LIMIT, values)

    @staticmethod
    def fewest(values, limit):
        """By trying every split."""
        best = [0] + [len(values)] * len(values)
        for end in range(1, len(values) + 1):
            for start in range(end - 1, -1, -1):
                if len(peer.reference.encode_message(values[start:end])) > limit:
                    break
                best[end] = min(best[end], best[start] + 1)
        return best[-1]

    def test_k7_a_value_that_never_fits(self):
        """Nothing is sent, not even what would fit before it."""
        for kind in KINDS:
            ours, theirs = self.socketpair(kind)
            sender = self.start_with(theirs, "fd", "split=32", "say=open", "wait")
            values = [v for k in range(32) for v in peer.make_values(k)]
            first = next(i for i, v in enumerate(values) if len(peer.reference.encode_message([v])) > self.LIMIT)
            self.assertEqual(sender.line(), f"split limit 0 {first}")
            self.assertEqual(sender.line(), "open")
            ours.setblocking(False)
            self.assertRaises(BlockingIOError, ours.recv, 1)
            sender.go()
            sender.finish()


GONE = {("end", "none"), ("io", "peer_gone"), ("truncated", "frame_short"), ("truncated", "message_short")}


class Death(IpcTest):
    def check_survivor(self, lines, context):
        failures = [line.split() for line in lines if line.startswith(("send ", "receive ", "end "))]
        self.assertTrue(failures, (lines, context))
        for failure in failures:
            self.assertIn((failure[1], failure[2]), GONE, (lines, context))
            if failure[2] == "peer_gone":
                self.assertIn(int(failure[-1]), (32, 104), context)  # EPIPE, ECONNRESET
        self.assertEqual(lines[-2], "close ok", context)
        self.check_left(lines, context)

    def test_the_peer_is_killed_at_any_moment(self):
        rng = random.Random(5)
        ways = [("exchange", "answer"), ("send", "receive"), ("reserve", "receive")]
        cases = [(kind, carrier, way, victim) for kind in KINDS for carrier in CARRIERS for way in ways for victim in (0, 1) if way[0] != "reserve" or carrier == "pool"]
        cases = cases * (1 if SANITIZERS else 4)
        self.assertGreaterEqual(len(cases) * (4 if SANITIZERS else 1), 100)
        for kind, carrier, way, victim in cases:
            context = kind, carrier, way, victim
            ends = self.pair(kind, *([*options(carrier), "left", "fd", "tries=2", "say=ready", f"{how}=10000000", "close", "left"] for how in way))
            for end in ends:
                end.until("ready")
            time.sleep(rng.random() * 0.012)
            ends[victim].process.kill()
            self.check_survivor(ends[1 - victim].finish(), context)
            ends[victim].end()

    def test_the_peer_is_killed_with_its_receiver_holding_messages(self):
        for carrier in CARRIERS:
            sender, receiver = self.pair("stream", [*options(carrier), "fd", "send=4", "say=sent", "wait"],
                                         [*options(carrier), "left", "fd", "wait", "hold=4", "receive=1", "close", "left"])
            sender.until("sent")
            sender.process.kill()
            sender.process.wait()
            receiver.go()
            self.check_survivor(receiver.finish(), carrier)

    def test_the_peer_stands_still(self):
        """It takes nothing, and gives nothing back: a timeout. Then it goes on, and so does sending, unless a message was cut."""
        for kind in KINDS:
            for carrier, nbytes in ("inline", 90), ("inline", 150000), ("pool", 90), ("pool", 150000), ("sealed", 90):
                with self.subTest(kind=kind, carrier=carrier, nbytes=nbytes):
                    ours, theirs = self.socketpair(kind)
                    sender = self.start_with(theirs, f"carrier={CARRIERS[carrier]}", "slot_nbytes=150000", "stall_ms=100", "left", "fd", f"fill={nbytes}", "wait", "opaque=80",
                                             "opaque=70", "close", "left")
                    sent, failure = int(sender.until("sent").split()[1]), sender.line()
                    self.assertEqual(failure.split()[1:3], ["timeout", "slots_taken" if carrier == "pool" else "peer_slow"])
                    python, is_cut = peer.Peer(ours), (kind, carrier, nbytes) == ("stream", "inline", 150000)
                    for _ in range(sent):
                        self.assertEqual(python.receive()[1], b"x" * nbytes)
                    sender.go()
                    if is_cut:
                        self.assertRaises(EOFError, python.receive)
                        self.assertEqual(sender.finish()[-4:-2], [failure] * 2)
                    else:
                        self.assertEqual([python.receive()[1] for _ in range(2)], [b"x" * 80, b"x" * 70])
                        self.assertEqual(sender.finish()[-4:-2], ["sent 80", "sent 70"])
                    self.check_left(sender.lines)

    def test_waking_up_again(self):
        for kind in KINDS:
            ours, theirs = self.socketpair(kind)
            sender = self.start_with(theirs, "carrier=2", "slots=2", "slot_nbytes=300000", "stall_ms=100", "left", "fd", "send=2", "send=1", "wait", "send=2", "close", "left")
            python = peer.Peer(ours)
            slots = [python.receive(give_back=False)[2] for _ in range(2)]
            self.assertEqual(sender.until("send timeout").split()[2:4], ["slots_taken", "slot"])
            for slot in slots:
                python.receiving.give_back(slot)
            sender.go()
            self.assertEqual([python.receive()[1] for _ in range(2)], [peer.make_message(k) for k in (2, 3)])
            self.check_left(sender.finish())

    def test_an_errno_belongs_to_its_failure(self):
        """After a failure of the system comes one of the peer's, which has no errno."""
        ours, theirs = self.socketpair("stream")
        sender = self.start_with(theirs, "slots=1", "slot_nbytes=100", "inline_limit=10", "stall_ms=50", "fd", "opaque=50", "files=3", "opaque=500", "opaque=50", "files=1000")
        self.assertEqual(sender.finish(), ["sent 50", "send io system_call none 0 0 0 24", "send timeout slots_taken slot 0 0 0 0"])

    def test_nobody_comes(self):
        self.assertEqual([line.split()[:3] for line in self.start(f"listen={self.path}", "idle_ms=50", "accept").finish()[1:]], [["accept", "timeout", "peer_slow"]])
        ours, theirs = self.socketpair("stream")
        receiver = self.start_with(theirs, "idle_ms=50", "left", "fd", "receive=1", "receive=1", "wait", "receive=1", "close", "left")
        self.assertEqual([receiver.until("receive").split()[1:3] for _ in range(2)], [["timeout", "peer_slow"]] * 2)
        peer.Peer(ours).send_inline(peer.make_message(0))
        receiver.go()
        lines = receiver.finish()
        self.assertEqual(lines[3], "close ok")
        self.check_left(lines)


if __name__ == "__main__":
    unittest.main()
