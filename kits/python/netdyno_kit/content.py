"""What messages contain: that of codec bytes, and the blocks of wires echo and stream."""

import struct

from .draws import at
from .failure import Failure

MOST_CHUNK, CHUNK = 64 << 20, 1 << 16
MOST_CONTENT = 1 << 30
_UP, _DOWN = 1, 2


def block(direction, size, chunk=0):
    """Returns the bytes that a message of wire stream repeats; direction is up or down."""
    n, state = min(chunk or CHUNK, size), _UP if direction == "up" else _DOWN
    words = (n + 7) // 8
    return struct.pack(f"<{words}Q", *(at(state, i) for i in range(words)))[:n]


class Matcher:
    """Compares a message that comes in pieces with one that repeats a block."""

    __slots__ = ("_block", "left", "_at", "_size")

    def __init__(self, block_, size):
        self._block, self.left, self._at, self._size = block_, size, 0, size

    def take(self, data):
        """Compares the next piece, at most as long as what is left. A Failure of kind invalid says where it differs."""
        seen = 0
        while seen < len(data):
            begin = self._at % len(self._block)
            n = min(len(self._block) - begin, len(data) - seen)
            if data[seen:seen + n] != self._block[begin:begin + n]:
                raise Failure("invalid", f"the first message differs from what was expected, at its byte {self._at} to {self._at + n} of {self._size}",
                              "content differs")
            seen, self._at, self.left = seen + n, self._at + n, self.left - n


def check_sizes(exchange, wire="echo"):
    """Raises a Failure of kind setup for sizes that wires echo and stream do not have."""
    up, down, chunk = exchange.get("up_bytes", 0), exchange.get("down_bytes", 0), exchange.get("chunk_bytes", 0)
    if not (1 <= up <= MOST_CONTENT and 1 <= down <= MOST_CONTENT):
        raise Failure("setup", f"exchange has {up} bytes up and {down} down, expected 1 to {MOST_CONTENT} both ways")
    if not exchange.get("stream"):
        if up != down or exchange.get("up_sizes") != exchange.get("down_sizes"):
            raise Failure("setup", f"exchange has {up} bytes up and {down} down; wire {wire} returns what comes: expected the same, of the same sizes")
    elif not 0 <= chunk <= MOST_CHUNK:
        raise Failure("setup", f"exchange.chunk_bytes is {chunk}, expected 1 to {MOST_CHUNK}, or 0 for {CHUNK}")
    smallest = min((low for _, low, _ in exchange.get("up_sizes") or ()), default=1)
    if smallest < 1:
        raise Failure("setup", f"exchange.up_sizes begins at {smallest} bytes, expected at least 1")


def random(direction, size):
    """Returns the content of codec bytes: Go's math/rand/v2 ChaCha8, seeded by u (up) or d (down). docs/wires.md, section Requests."""
    key = (ord(direction),) + (0,) * 7
    found, total = [], 0
    while total < size:
        out = _chacha8(key)
        found.append(out[:-32])
        total += len(out) - 32
        key = struct.unpack("<8I", out[-32:])
    return b"".join(found)[:size]


_LANES = 16
_M32 = sum(0xFFFFFFFF << 64 * lane for lane in range(_LANES))
_ONES = sum(1 << 64 * lane for lane in range(_LANES))


def _low(n):
    return sum((1 << n) - 1 << 64 * lane for lane in range(_LANES))


_ROTATES = {n: (n, 32 - n, _low(n), sum((0xFFFFFFFF >> n << n) << 64 * lane for lane in range(_LANES))) for n in (16, 12, 8, 7)}


def _turn(x, n):
    left, right, low, high = _ROTATES[n]
    return (x << left & high) | (x >> right & low)


def _quarter(b, a, i, j, k):
    b[a] = b[a] + b[i] & _M32
    b[k] = _turn(b[k] ^ b[a], 16)
    b[j] = b[j] + b[k] & _M32
    b[i] = _turn(b[i] ^ b[j], 12)
    b[a] = b[a] + b[i] & _M32
    b[k] = _turn(b[k] ^ b[a], 8)
    b[j] = b[j] + b[k] & _M32
    b[i] = _turn(b[i] ^ b[j], 7)


def _chacha8(key):
    """Returns the 1,024 bytes of one key: its 16 blocks at once, a block in each 64-bit lane of large integers."""
    spread = [word * _ONES for word in key]
    b = [word * _ONES for word in (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)] + list(spread)
    b += [sum(lane << 64 * lane for lane in range(_LANES)), 0, 0, 0]
    for _ in range(4):
        for column in range(4):
            _quarter(b, column, 4 + column, 8 + column, 12 + column)
        for column in range(4):
            _quarter(b, column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4)
    for i in range(8):
        b[4 + i] = b[4 + i] + spread[i] & _M32
    words = [struct.unpack("<16Q", x.to_bytes(128, "little")) for x in b]
    return struct.pack("<256I", *(words[w][group + lane] for group in range(0, 16, 4) for w in range(16) for lane in range(4)))
