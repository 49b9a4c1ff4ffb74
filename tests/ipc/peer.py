# SPDX-License-Identifier: BSD-3-Clause
"""A peer in plain Python, written from spec/evalue-ipc.md alone: a good sender, a good receiver, and the parts of a bad one.

Messages are bytes here. `make_message(k)` is message k of messages.h, encoded by the reference codec of the wire format.
"""
import array
import ctypes
import fcntl
import importlib.util
import mmap
import os
import pathlib
import platform
import socket
import struct
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
_spec = importlib.util.spec_from_file_location("reference", ROOT / "spec" / "reference.py")
reference = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reference)

MAGIC = b"EVIP"
FRAME = struct.Struct("<4sBBHQQ")  # magic, version, carrier, flags, nbytes, place
INLINE, SLOT, SEALED, POOL = 1, 2, 3, 4
CONTROL, BEHIND, PAGE, MOST_SLOTS = 65536, 128, 4096, 64
FREED, WAITING, SLOTS = 0, 64, 128  # where the words are

F_ADD_SEALS, F_GET_SEALS = 1033, 1034
SEAL_SEAL, SEAL_SHRINK, SEAL_GROW, SEAL_WRITE = 1, 2, 4, 8
SEALED_ALL = SEAL_SHRINK | SEAL_GROW | SEAL_WRITE
SEALED_SIZE = SEAL_SHRINK | SEAL_GROW

FUTEX_WAIT, FUTEX_WAKE = 0, 1
SYS_FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "i686": 240, "armv7l": 240, "s390x": 238, "ppc64le": 221}.get(platform.machine())
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def frame(carrier, nbytes, place=0, magic=MAGIC, version=1, flags=0):
    return FRAME.pack(magic, version, carrier, flags, nbytes, place)


def stride_of(slot_nbytes):
    return -(-(slot_nbytes + BEHIND) // PAGE) * PAGE


def pool_size(slot_nbytes, slots):
    return CONTROL + slots * stride_of(slot_nbytes)


def memory(content=b"", nbytes=None, seals=SEALED_ALL):
    """A memfd with that content, that size, and these seals."""
    fd = os.memfd_create("peer", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, len(content) + BEHIND if nbytes is None else nbytes)
    os.pwrite(fd, content, 0)
    if seals:
        fcntl.fcntl(fd, F_ADD_SEALS, seals)
    return fd


class Closed(Exception):
    pass


class Pool:
    """A pool's memory, mapped to be written, as either side has it."""

    def __init__(self, fd, slot_nbytes, slots):
        self.slot_nbytes, self.slots = slot_nbytes, slots
        self.map = mmap.mmap(fd, pool_size(slot_nbytes, slots))
        self.words = memoryview(self.map)[:CONTROL].cast("I")
        self.busy = set()

    def word(self, at):
        return self.words[at // 4]

    def set_word(self, at, value):
        self.words[at // 4] = value & 0xFFFFFFFF

    def start(self, slot):
        return CONTROL + slot * stride_of(self.slot_nbytes)

    def futex(self, operation, at, value, seconds=1.0):
        timeout = (ctypes.c_long * 2)(int(seconds), int(seconds % 1 * 1e9))
        place = ctypes.byref(ctypes.c_uint32.from_buffer(self.map, at))
        _libc.syscall(ctypes.c_long(SYS_FUTEX), place, ctypes.c_int(operation), ctypes.c_uint32(value), timeout, None, ctypes.c_int(0))

    # the sender's side

    def take(self, stall=20.0):
        """A free slot; waits until one was given back."""
        end = time.monotonic() + stall
        self.set_word(WAITING, 1)
        while time.monotonic() < end:
            freed = self.word(FREED)
            for slot in range(self.slots):
                if slot not in self.busy or self.word(SLOTS + 64 * slot) == 0:
                    self.busy.add(slot)
                    self.set_word(SLOTS + 64 * slot, 1)
                    self.set_word(WAITING, 0)
                    return slot
            self.futex(FUTEX_WAIT, FREED, freed, 0.5)
        raise TimeoutError("no slot was given back")

    def write(self, slot, content, at=0):
        start = self.start(slot) + at
        self.map[start:start + len(content)] = content

    # the receiver's side

    def read(self, slot, nbytes):
        return bytes(self.map[self.start(slot):self.start(slot) + nbytes])

    def give_back(self, slot):
        self.set_word(SLOTS + 64 * slot, 0)
        self.set_word(FREED, self.word(FREED) + 1)
        if self.word(WAITING) != 0:
            self.futex(FUTEX_WAKE, FREED, 0x7FFFFFFF)


class Peer:
    """One end of a connection."""

    def __init__(self, sock):
        self.sock = sock
        self.is_packets = sock.type == socket.SOCK_SEQPACKET
        self.sending = self.receiving = None

    @classmethod
    def connect(cls, path, kind=socket.SOCK_STREAM):
        sock = socket.socket(socket.AF_UNIX, kind)
        sock.settimeout(20)
        sock.connect(str(path))
        return cls(sock)

    def close(self):
        self.sock.close()

    # ---- sending ----

    def put(self, data, *fds):
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        sent = self.sock.sendmsg([data], ancillary)
        if sent < len(data):
            self.sock.sendall(data[sent:])

    def put_and_close(self, data, fd):
        try:
            self.put(data, fd)
        finally:
            os.close(fd)

    def send_inline(self, content):
        self.put(frame(INLINE, len(content)) + content)

    def offer(self, slot_nbytes, slots, seals=SEALED_SIZE):
        fd = memory(nbytes=pool_size(slot_nbytes, slots), seals=0)
        self.sending = Pool(fd, slot_nbytes, slots)
        if seals:
            fcntl.fcntl(fd, F_ADD_SEALS, seals)
        self.put_and_close(frame(POOL, slot_nbytes, slots), fd)

    def send_in_slot(self, content):
        slot = self.sending.take()
        self.sending.write(slot, content)
        self.put(frame(SLOT, len(content), slot))
        return slot

    def send_sealed(self, content):
        self.put_and_close(frame(SEALED, len(content)), memory(content))

    # ---- receiving ----

    def get(self, nbytes, want_fds):
        """That many bytes, and the descriptors with them; of a packet, all of it."""
        data, fds = b"", []
        while len(data) < nbytes:
            room = max(nbytes, 1 << 20) if self.is_packets else nbytes - len(data)
            more, ancillary, flags, _ = self.sock.recvmsg(room, socket.CMSG_SPACE(4 * 16), socket.MSG_CMSG_CLOEXEC)
            for level, kind, payload in ancillary:
                assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
                fds += array.array("i", payload)
            assert not flags & (socket.MSG_CTRUNC | socket.MSG_TRUNC)
            if not more:
                if data or fds:
                    raise EOFError("closed inside: %d bytes" % len(data))
                raise Closed
            data += more
            if self.is_packets:
                break
        assert len(fds) == (1 if want_fds(data) else 0), "%d descriptors" % len(fds)
        return data, fds

    def receive_frame(self):
        """carrier, nbytes, place, the bytes that follow, descriptors"""
        data, fds = self.get(FRAME.size, lambda data: len(data) >= FRAME.size and data[5] in (SEALED, POOL))
        magic, version, carrier, flags, nbytes, place = FRAME.unpack(data[:FRAME.size])
        assert (magic, version, flags) == (MAGIC, 1, 0) and carrier in (INLINE, SLOT, SEALED, POOL), data[:FRAME.size]
        assert carrier in (SLOT, POOL) or place == 0
        rest = data[FRAME.size:]
        if carrier == INLINE and not self.is_packets:
            rest = self.get(nbytes, lambda data: False)[0] if nbytes else b""
        assert len(rest) == (nbytes if carrier == INLINE else 0)
        return carrier, nbytes, place, rest, fds

    def accept_pool(self, nbytes, place, fd):
        seals = fcntl.fcntl(fd, F_GET_SEALS)
        assert seals & SEALED_SIZE == SEALED_SIZE
        assert self.receiving is None and 1 <= place <= MOST_SLOTS
        assert os.fstat(fd).st_size >= pool_size(nbytes, place)
        self.receiving = Pool(fd, nbytes, place)
        os.close(fd)

    def read_sealed(self, nbytes, fd):
        assert fcntl.fcntl(fd, F_GET_SEALS) & SEALED_ALL == SEALED_ALL
        assert os.fstat(fd).st_size >= nbytes + BEHIND
        with mmap.mmap(fd, nbytes + BEHIND, prot=mmap.PROT_READ) as content:
            os.close(fd)
            return content[:nbytes]

    def receive(self, give_back=True):
        """(carrier, message, slot); the slot is given back unless told otherwise."""
        while True:
            carrier, nbytes, place, rest, fds = self.receive_frame()
            if carrier == POOL:
                self.accept_pool(nbytes, place, fds[0])
            elif carrier == INLINE:
                return carrier, rest, None
            elif carrier == SEALED:
                return carrier, self.read_sealed(nbytes, fds[0]), None
            else:
                assert self.receiving is not None and place < self.receiving.slots and nbytes <= self.receiving.slot_nbytes
                content = self.receiving.read(place, nbytes)
                if give_back:
                    self.receiving.give_back(place)
                return carrier, content, place


# ---- judging, by the specification ----


def fault_table():
    """Section 6: {fault: (status, field)}"""
    rows = {}
    for line in (ROOT / "spec" / "evalue-ipc.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            rows[cells[0].strip("`")] = cells[1], cells[2]
    return rows


FAULTS = fault_table()


def fault(name, position=0, expected=0, found=0):
    """What an endpoint says of it."""
    status, field = FAULTS[name]
    return f"{status} {name} {field} {position} {expected} {found} 0"


def judge(data, has_fd, most, pool=None, memory_nbytes=0, most_pool=1 << 30):
    """All that is wrong with a frame, whose memory has the right seals; of several faults the order is not told. Of an inline frame, the bytes behind are not
    looked at."""
    magic, version, carrier, flags, nbytes, place = FRAME.unpack(data)
    found = []
    if magic != MAGIC:
        found.append(fault("bad_frame_magic", 0, *struct.unpack("<II", MAGIC + magic)))
    if version != 1:
        found.append(fault("frame_version", 4, 1, version))
    if carrier not in (INLINE, SLOT, SEALED, POOL):
        return found + [fault("unknown_carrier", 5, 4, carrier)]
    if flags:
        found.append(fault("frame_flags", 6, 0, flags))
    if carrier in (INLINE, SEALED) and place:
        found.append(fault("frame_place", 16, 0, place))
    if has_fd != (carrier in (SEALED, POOL)):
        found.append(fault("stray_descriptor" if has_fd else "no_descriptor", 5))
    if carrier != POOL and nbytes > most:
        found.append(fault("message_too_large", 8, most, nbytes))
    if carrier == SEALED and memory_nbytes < nbytes + BEHIND:
        found.append(fault("memory_size", 8, nbytes + BEHIND, memory_nbytes))
    if carrier == POOL:
        found += [fault("pool_again", 5)] if pool else []
        if not 1 <= place <= MOST_SLOTS:
            return found + [fault("pool_shape", 16, MOST_SLOTS, place)]
        if pool_size(nbytes, place) > most_pool:
            found.append(fault("pool_too_large", 8, most_pool, nbytes))
        if pool_size(nbytes, place) > memory_nbytes:
            found.append(fault("memory_size", 8, pool_size(nbytes, place), memory_nbytes))
    if carrier == SLOT:
        if not pool:
            return found + [fault("no_pool", 5)]
        if place >= pool.slots:
            found.append(fault("slot_range", 16, pool.slots - 1, place))
        if nbytes > pool.slot_nbytes:
            found.append(fault("slot_length", 8, pool.slot_nbytes, nbytes))
    return found


# ---- messages by number ----

MOST_DATA = 200000
PATTERN = bytes(m * 7 & 255 for m in range(256)) * (MOST_DATA // 256 + 2)
SIZES = (0, 1, 17, 300, 1000, 2000, 4000, 5000, 9000, 20000, 100, 40000, 3, 700, 64, 4096)


def data_size(k):
    return MOST_DATA if k % 32 == 31 else SIZES[k % 16]


def make_values(k):
    if k % 13 == 0:
        return []
    r, data = reference, PATTERN[k % 256:]
    return [r.Int(k), r.String(data[:k * 7 % 50]), r.Tensor(r.SCALAR_CODE["uint8"], (data_size(k),), (0,), data[:data_size(k)]),
            r.Tensor(r.SCALAR_CODE["int16"], (3, k % 5), (1, 0), data[:6 * (k % 5)]), r.Bool(k % 2 != 0), r.Double(r.bits_of(k / 2)), r.NoneValue()]


def make_message(k):
    return reference.encode_message(make_values(k))


def fnv(content):
    value = 0xCBF29CE484222325
    for byte in content:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value
