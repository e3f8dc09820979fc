"""HdrHistograms of integers from 1 to 300,000,000,000 at 3 significant digits, as the contract encodes them.

Recording is `counts[index(value)] += 1`; hot paths write that out. Source: hdrhistogram.org, V2 compressed encoding.
"""

import base64
import struct
import zlib

MAX = 300_000_000_000


def index(value):
    """Returns where a value from 0 to MAX is counted."""
    if value < 2048:
        return value if value > 0 else 0
    shift = value.bit_length() - 11
    return (shift << 10) + (value >> shift)


SIZE = index(MAX) + 1


def middle(at):
    """Returns the largest value that is counted at an index."""
    shift = max(0, (at >> 10) - 1)
    return ((at - (shift << 10) + 1) << shift) - 1


class Histogram:
    """Counts of values. over_max is how many were above MAX; they are counted as MAX."""

    __slots__ = ("counts", "over_max")

    def __init__(self):
        self.counts, self.over_max = [0] * SIZE, 0

    def record(self, value, times=1):
        if value > MAX:
            value, self.over_max = MAX, self.over_max + times
        self.counts[index(value)] += times

    def merge(self, other):
        self.counts = [a + b for a, b in zip(self.counts, other.counts)]
        self.over_max += other.over_max

    def count(self):
        return sum(self.counts)

    def mean(self):
        """Returns the mean of the values, 0 without any."""
        found = [(at, n) for at, n in enumerate(self.counts) if n]
        total = sum(n for _, n in found)
        return sum(middle(at) * n for at, n in found) / total if total else 0.0

    def encode(self):
        """Returns the text for the result; empty without values."""
        return encode(self.counts) if any(self.counts) else ""


def payload(counts):
    """Returns the inflated V2 payload, header included."""
    used = [at for at, n in enumerate(counts) if n] or [0]
    body, last = bytearray(), -1
    for at in used:
        gap = at - last - 1
        for n in ([-gap] if gap > 1 else [0] * gap) + [counts[at]]:
            z = 2 * n if n >= 0 else -2 * n - 1
            while z > 127:
                body.append(z & 127 | 128)
                z >>= 7
            body.append(z)
        last = at
    return struct.pack(">iiiiqqd", 0x1C849313, len(body), 0, 3, 1, MAX, 1.0) + bytes(body)


def encode(counts):
    packed = zlib.compress(payload(counts))
    return base64.b64encode(struct.pack(">ii", 0x1C849314, len(packed)) + packed).decode()


def inflate(text):
    """Returns the payload that an encoded text carries. ValueError says what is wrong with it."""
    data = base64.b64decode(text, validate=True)
    cookie, size = struct.unpack_from(">ii", data)
    if cookie != 0x1C849314 or size != len(data) - 8:
        raise ValueError("this is no compressed histogram")
    unpack = zlib.decompressobj()
    found = unpack.decompress(data[8:], 40 + 9 * SIZE)
    if unpack.unconsumed_tail:
        raise ValueError("the histogram is larger than any can be")
    return found


def decode(text):
    """Reads an encoded text into a Histogram. An empty text is an empty one."""
    h = Histogram()
    if not text:
        return h
    data = inflate(text)
    cookie, size = struct.unpack_from(">ii", data)
    if cookie != 0x1C849313 or size != len(data) - 40:
        raise ValueError("this is no histogram of version 2")
    at = value = shift = 0
    for byte in data[40:]:
        value |= (byte & 127) << shift
        shift += 7
        if byte & 128:
            continue
        n = value >> 1 if value & 1 == 0 else -(value >> 1) - 1
        value = shift = 0
        if n < 0:
            at -= n
            continue
        if at >= SIZE:
            raise ValueError("the histogram has more counts than its range")
        h.counts[at] = n
        at += 1
    return h
