"""Recorded traffic: what is read is what was written, round after round, and damage is found."""

import itertools
import os
import pathlib
import struct
import tempfile
import unittest

from netdyno_kit.load import Load
from netdyno_kit.replay import Recording, crc32c

REQUESTS = [(1000, 0, 10, 200, 0), (2000, 1, 0, 70000, 2), (2500, 0, 300, 5, 1), (9000, 1, 1, 1, 0)]
CLASSES = [{"name": "a"}, {"name": "b", "up_bytes": 1}]
PLAN = {"connections": 2, "rate": 1000.0, "arrival": "recorded", "classes": CLASSES}


def leb(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def block(requests, before):
    body, now = b"", before
    for at, *rest in requests:
        body += b"".join(map(leb, (at - now, *rest)))
        now = at
    head = struct.pack("<2IQ", len(requests), len(body), now - before)
    return head + struct.pack("<I", crc32c(head + body)) + body


def body():
    paths = b"/one\n/two\n"
    head = struct.pack("<2I", 2, len(paths))
    whole = b"NDTRAF1\n" + head + struct.pack("<I", crc32c(head + paths)) + paths
    return whole + block(REQUESTS[:3], 0) + block(REQUESTS[3:], 2500) + block([], 9000)


class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = str(pathlib.Path(folder.name) / "traffic")
        self.write(b"text\n" + body())

    def write(self, data):
        pathlib.Path(self.file).write_bytes(data)

    def load(self, **trace):
        plan = {**PLAN, "trace": {"file": self.file, "begins": 5, "speed": 1, **trace}}
        return Load({"seed": 1, "exchange": {"up_bytes": 70000, "down_bytes": 70000}, "load": plan})

    def test_rounds(self):
        self.assertEqual(0xE3069283, crc32c(b"123456789"))
        found = list(itertools.islice(self.load().replay.walk(), 6))
        self.assertEqual([1000, 2000, 2500, 9000, 9000 + 3000 + 1000, 14000], [at for at, _, _ in found])  # a mean gap between rounds
        self.assertEqual([(0, 10, 200, ""), (1, 0, 70000, "/two"), (0, 300, 5, "/one")], [carried for _, _, carried in found[:3]])
        half = list(itertools.islice(self.load(part=1, parts=2, speed=2, from_ns=2000).replay.walk(), 2))
        self.assertEqual([(250, 1), (5500, 3)], [due[:2] for due in half])

    def test_slots_take_turns(self):
        load = self.load(even=True)
        load.start()
        slots = [load.slots[i] for i in (1, 0, 0, 1)]
        dues = []
        for slot in slots:
            dues.append((slot.next(0) - load.started, slot.up, slot.down))
            slot.done(load.started, load.started + 1, slot.down)
        self.assertEqual([(1000, 200, 200), (2000, 70000, 70000), (2500, 300, 300), (9000, 1, 1)], dues)

    def test_damage(self):
        whole = body()
        for at in range(len(whole)):
            self.write(b"text\n" + whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1:])
            with self.subTest(at=at), self.assertRaises(ValueError):
                list(Recording(self.file, 5).read(0))
        for at in range(len(whole)):
            self.write(b"text\n" + whole[:at])
            with self.subTest(cut=at), self.assertRaises(ValueError):
                list(Recording(self.file, 5).read(0))
        for file in (os.devnull, "/no/such/file"):
            with self.assertRaises(ValueError):
                Recording(file, 0)


if __name__ == "__main__":
    unittest.main()
