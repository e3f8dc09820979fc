"""Exchanges whose sizes are drawn, and their times by size (contract/DRAWS.md)."""

from .histogram import Histogram

APART = 2  # bins larger is what holds up a small exchange
_MOST_TEXT = 256 << 10


def bin_of(size):
    """Returns the bin of an exchange by its larger message."""
    return max(0, (size.bit_length() - 5) // 2)


def edges(at):
    """Returns from where up to where, exclusive, the sizes of a bin are."""
    return (64 << 2 * (at - 1) if at else 0), 64 << 2 * at


def is_behind(at, largest, due, sent, others):
    """Tells whether one of others, (bin, begin, end), larger by two bins was in flight between due and sent."""
    return any(at + APART <= b <= largest and begin <= sent and due <= end for b, begin, end in others)


class BySize:
    """What the slots of one connection know of sizes. One thread uses it."""

    __slots__ = ("load", "alone", "last", "flying", "bins", "largest")

    def __init__(self, load, bins):
        self.load, self.bins = load, bins
        self.alone = load.in_flight == 1 and not load.rate
        self.last, self.flying = {}, {}
        self.largest = bin_of(max(load.sizes.up, load.sizes.down))

    def draw(self, slot):
        """Gives the exchange that begins its sizes."""
        slot.up, slot.down = self.load.sizes.of(slot.number)
        slot.number += len(self.load.slots)
        if not self.alone:
            self.flying[slot] = (bin_of(max(slot.up, slot.down)), slot)

    def end(self, slot, span):
        """Takes the exchange back; a completed one says from when until when it was in flight."""
        found = self.flying.pop(slot, None)
        if found and span:
            self.last[found[0]] = span

    def count(self, slot, counters, sent, now, due):
        """Adds a completed exchange to the sums and, from the window's opening on, to its bin."""
        if self.load.sizes.up_varies:
            counters.sent += slot.up
        at = bin_of(max(slot.up, slot.down))
        if counters.times is not None:
            of = self.bins.setdefault(at, {})
            if slot.is_open:
                of.setdefault("service", Histogram()).record(now - sent)
            else:
                due = sent
            of.setdefault(self._kind(slot, at, due, sent), Histogram()).record(now - due)
        self.end(slot, (sent, now))

    def _kind(self, slot, at, due, sent):
        if self.alone or at > self.largest - APART:
            return "whole"
        others = [(b, begin, end) for b, (begin, end) in self.last.items()]
        others += [(b, s.pending, sent) for b, s in self.flying.values() if s is not slot]
        return "behind" if is_behind(at, self.largest, due, sent, others) else "free"


def result(shards, is_open):
    """Returns the result's bins from those of each shard."""
    merged = {}
    for bins in shards:
        for at, of in bins.items():
            for name, h in of.items():
                merged.setdefault(at, {}).setdefault(name, Histogram()).merge(h)
    found, room = [], _MOST_TEXT
    for at in sorted(merged):
        of = merged[at]
        whole = of.get("whole", Histogram())
        for name in ("behind", "free"):
            if name in of:
                whole.merge(of[name])
        bin_ = dict(zip(("from_bytes", "to_bytes"), edges(at)))
        times = {"service": of.get("service") if is_open else whole, "response": whole if is_open else None,
                 "behind": of.get("behind"), "free": of.get("free")}
        for name, h in times.items():
            text = h.encode() if h else ""
            room -= len(text)
            if text and room >= 0:
                bin_[name] = text
        found.append(bin_)
    return found
