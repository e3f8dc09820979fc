"""Recorded traffic: the file's body (contract/MIXES.md, section Recorded traffic), and its requests as slots take them."""

import os
import queue
import stat
import struct
import threading
from bisect import bisect_left

from .draws import MOST_BYTES
from .draws import NEVER as NEVER_DUE
from .failure import Failure
from .mix import MOST_CLASSES, Drawn

_MAGIC = b"NDTRAF1\n"
_MOST_PATHS, _MOST_PATHS_BYTES, _MOST_BLOCK = 1 << 16, 16 << 20, 1 << 14
_MOST_SPAN = 100 * 365 * 24 * 3600 * 10**9
_AHEAD, _PIECE, _MOST_FIRST = 64, 256, 4096


def _crc_table():
    table = list(range(256))
    for _ in range(8):
        table = [c >> 1 ^ (0x82F63B78 if c & 1 else 0) for c in table]
    return table


_TABLE = _crc_table()


def crc32c(data, crc=0):
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[crc & 255 ^ byte] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


class Recording:
    """The body of a file. Any thread may use it. ValueError says what is wrong with it."""

    def __init__(self, file, begins):
        try:
            self._fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (OSError, ValueError) as e:
            raise ValueError(f"trace.file: {e}") from None
        self._name, self.span, self.requests, self._blocks, self._ends = file, 0, 0, [], []
        if not stat.S_ISREG(os.fstat(self._fd).st_mode):
            raise ValueError(f"trace.file: {file} is no regular file")
        if begins < 0:
            raise ValueError(f"trace.begins is {begins}, expected 0 or more")
        self._find(self._read_paths(begins))
        if not self.requests:
            raise ValueError(f"trace.file: {file} has no requests")

    def _bytes(self, n, at):
        data = b""
        while len(data) < n:
            piece = os.pread(self._fd, n - len(data), at + len(data))
            if not piece:
                self._damaged(at, "the file is cut off")
            data += piece
        return data

    def _damaged(self, at, what):
        raise ValueError(f"trace.file: {self._name}: recorded traffic is damaged at byte {at}: {what}")

    def _read_paths(self, at):
        """Returns where the blocks begin."""
        if self._bytes(8, at) != _MAGIC:
            self._damaged(at, "the body does not begin here")
        head = self._bytes(12, at + 8)
        count, size, total = struct.unpack("<3I", head)
        if count > _MOST_PATHS or size > _MOST_PATHS_BYTES:
            self._damaged(at, "it has more paths than a file holds")
        text = self._bytes(size, at + 20)
        self.paths = text.decode("utf-8", "replace").split("\n")[:-1]
        if crc32c(head[:8] + text) != total or len(self.paths) != count:
            self._damaged(at, "the paths are changed")
        return at + 20 + size

    def _find(self, at):
        """Notes where every block is."""
        while True:
            head = self._bytes(20, at)
            count, size, span, total = struct.unpack("<2IQI", head)
            if count > _MOST_BLOCK or size > count * 50 or size < count * 5 or span > _MOST_SPAN - self.span:
                self._damaged(at, "a block's head says what cannot be")
            if not count:
                if total != crc32c(head[:16]):
                    self._damaged(at, "the end has another sum")
                return
            self._blocks.append((at, count, size, self.span))
            self.span += span
            self._ends.append(self.span)
            self.requests += count
            at += 20 + size

    def read(self, from_ns):
        """Yields (ns since the beginning, class, bytes up, bytes down, path) from an instant on."""
        for number in range(bisect_left(self._ends, from_ns), len(self._blocks)):
            at, count, size, now = self._blocks[number]
            data = self._bytes(20 + size, at)
            if crc32c(data[:16] + data[20:]) != struct.unpack_from("<I", data, 16)[0]:
                self._damaged(at, "a block has another sum")
            values, value, shift = [], 0, 0
            for byte in data[20:]:
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    values.append(value)
                    value = shift = 0
                elif shift > 63:
                    self._damaged(at, "a request is cut off")
            if len(values) != 5 * count or shift:
                self._damaged(at, "a request is cut off")
            for i in range(0, len(values), 5):
                gap, of, up, down, path = values[i:i + 5]
                now += gap
                if now > self._ends[number] or of >= MOST_CLASSES or max(up, down) > MOST_BYTES or path > len(self.paths):
                    self._damaged(at, "a request says what cannot be")
                if now >= from_ns:
                    yield now, of, up, down, self.paths[path - 1] if path else ""


class Replay:
    """Gives the requests of a trace in the order in which they are due, each to the slot that asks next, and reads ahead of the slots."""

    def __init__(self, trace, exchange, load):
        self._speed, self._from = trace.get("speed", 0), trace.get("from_ns", 0)
        self._part, self._parts = trace.get("part", 0), trace.get("parts") or 1
        self._even, self.times = trace.get("even", False), trace.get("times", False)
        self._most, self._classes = (exchange.get("up_bytes", 0), exchange.get("down_bytes", 0)), len(load.get("classes") or ())
        if not 0 < self._speed <= 1e6 or not 0 <= self._part < self._parts:
            raise ValueError(f"trace has speed {self._speed} and part {self._part} of {self._parts}, expected up to 1e6, and one of them from 0")
        if not self.times and not self._classes:
            raise ValueError("trace is given without classes, which say what its requests are")
        self._recording = Recording(trace.get("file", ""), trace.get("begins", 0))
        self._ahead, self._piece, self._next, self.failure, self.first = queue.Queue(_AHEAD), [], 0, None, []
        self._taking = threading.Lock()
        if not self.times:
            for request in self._recording.read(self._from):
                self.first.append(self._carried(*request[1:]))
                if len(self.first) == min(_MOST_FIRST, load.get("connections") or 1):
                    break
            if not self.first:
                raise ValueError("nothing of the trace is left at trace.from_ns")

    def _carried(self, of, up, down, path):
        """Returns what a request carries, as a Drawn has it."""
        if self.times:
            return None
        if self._even:
            up = down = max(1, up, down)
        if of >= self._classes or up > self._most[0] or down > self._most[1]:
            raise ValueError(f"a request of class {of} has {up} bytes up and {down} down; there are {self._classes} classes, with at most {self._most}")
        return of, up, down, path

    def of(self, n):
        """Returns what connection n verifies with."""
        drawn = Drawn()
        drawn.of, drawn.up, drawn.down, drawn.path = self.first[n % len(self.first)]
        return drawn

    def walk(self):
        """Yields (ns after the start, number, what is carried) of this client's part, round after round."""
        recording, number, offset, begin = self._recording, 0, -self._from, self._from
        while True:
            for at, *carried in recording.read(begin):
                if number % self._parts == self._part:
                    yield int((at + offset) / self._speed), number, self._carried(*carried)
                number += 1
            offset, begin = offset + recording.span + max(1, recording.span // max(1, recording.requests - 1)), 0

    def begin(self):
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        piece = []
        try:
            for due in self.walk():
                piece.append(due)
                if len(piece) == _PIECE:
                    self._ahead.put(piece)
                    piece = []
        except (ValueError, OSError) as e:
            self.failure = Failure("invalid", str(e))
        self._ahead.put(piece + [(NEVER_DUE, 0, None)])

    def take(self):
        """Returns the next one: (ns after the start, number, what is carried); never due where the file cannot be read on."""
        with self._taking:
            if self._next == len(self._piece):
                if self._piece and self._piece[-1][0] == NEVER_DUE:
                    return self._piece[-1]
                self._piece, self._next = self._ahead.get(), 0
            self._next += 1
            return self._piece[self._next - 1]
