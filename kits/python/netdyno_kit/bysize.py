"""Exchanges that differ, as drawn: their times by size (contract/DRAWS.md) and by class (contract/MIXES.md)."""

from .histogram import Histogram

APART = 2  # bins larger is what holds up a small exchange
_MOST_TEXT, _MOST_CLASS_TEXT = 256 << 10, 512 << 10


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
    """What the slots of one connection know of sizes. One thread uses it; times are those of its shard."""

    __slots__ = ("load", "alone", "last", "flying", "times", "largest", "thinks")

    def __init__(self, load, times):
        self.load, self.times = load, times
        self.alone = load.in_flight == 1 and not load.rate
        self.last, self.flying = {}, {}
        self.largest = bin_of(max(load.draws.up, load.draws.down))
        self.thinks = [c.think_ns for c in load.draws.classes]
        if not any(self.thinks):
            self.thinks = None

    def draw(self, slot, carried=None):
        """Gives the exchange that begins what it carries: as drawn, or as recorded."""
        if carried:
            slot.of, slot.up, slot.down, slot.path = carried
        else:
            self.load.draws.draw(slot.number, slot)
        slot.number += len(self.load.slots)
        if not self.alone:
            self.flying[slot] = (bin_of(max(slot.up, slot.down)), slot)

    def end(self, slot, span):
        """Takes the exchange back; a completed one says from when until when it was in flight."""
        found = self.flying.pop(slot, None)
        if found and span:
            self.last[found[0]] = span
        if self.thinks:
            slot.think = self.thinks[slot.of]

    def fail(self, slot, counters):
        """Counts a failed exchange."""
        if counters.classes:
            counters.classes[slot.of]["errors"] += 1
        self.end(slot, None)

    def count(self, slot, counters, sent, now, due, received):
        """Adds a completed exchange to the sums and, from the window's opening on, to its bin and class."""
        counters.sent += slot.up if self.load.draws.up_varies else 0
        if counters.classes:
            of = counters.classes[slot.of]
            of["exchanges"] += 1
            of["sent_bytes"] += slot.up
            of["received_bytes"] += received
        if counters.times is not None:
            if counters.classes:
                self._record("class", slot.of, "service", now - sent)
                if slot.is_open:
                    self._record("class", slot.of, "response", now - due)
            at = bin_of(max(slot.up, slot.down))
            if slot.is_open:
                self._record("bin", at, "service", now - sent)
            else:
                due = sent
            self._record("bin", at, self._kind(slot, at, due, sent), now - due)
        self.end(slot, (sent, now))

    def _record(self, *key_and_time):
        *key, took = key_and_time
        times = self.times.get(tuple(key))
        if times is None:
            times = self.times[tuple(key)] = Histogram()
        times.record(took)

    def _kind(self, slot, at, due, sent):
        if self.alone or at > self.largest - APART:
            return "whole"
        others = [(b, begin, end) for b, (begin, end) in self.last.items()]
        others += [(b, s.pending, sent) for b, s in self.flying.values() if s is not slot]
        return "behind" if is_behind(at, self.largest, due, sent, others) else "free"


class Merged:
    """The times of all shards, and the room that their texts have in the result's line."""

    def __init__(self, shards):
        self._all = {}
        for times in shards:
            for key, h in times.items():
                self._all.setdefault(key, Histogram()).merge(h)

    def numbers(self, kind):
        """Returns the numbers of the bins or classes that have times."""
        return sorted({at for of, at, _ in self._all if of == kind})

    def get(self, kind, at, name):
        return self._all.get((kind, at, name))

    def bins(self, is_open):
        """Returns the result's bins."""
        found, room = [], _MOST_TEXT
        for at in self.numbers("bin"):
            service, behind, free = (self.get("bin", at, name) for name in ("service", "behind", "free"))
            whole = self.get("bin", at, "whole") or Histogram()
            for h in (behind, free):
                if h:
                    whole.merge(h)
            texts = {"service": service if is_open else whole, "response": whole if is_open else None, "behind": behind, "free": free}
            bin_ = dict(zip(("from_bytes", "to_bytes"), edges(at)))
            room = _texts(texts, bin_, room)
            found.append(bin_)
        return found

    def classes(self, classes, shards):
        """Returns the result's classes. The rarest ones' histograms are left out where all would not fit."""
        found, room = [], _MOST_CLASS_TEXT
        for i, of in enumerate(classes):
            sums = {key: sum(s.window.classes[i][key] for s in shards) for key in shards[0].window.classes[i]}
            sums["errors"] += sum(s.drain.classes[i]["errors"] for s in shards)
            found.append({"name": of.name, **sums, "drained": sum(s.drain.classes[i]["exchanges"] for s in shards)})
        for i in sorted(range(len(found)), key=lambda i: -found[i]["exchanges"]):
            room = _texts({name: self.get("class", i, name) for name in ("service", "response")}, found[i], room)
        return found


def _texts(times, into, room):
    """Adds encoded histograms while there is room, and returns what is left of it."""
    for name, h in times.items():
        text = h.encode() if h else ""
        room -= len(text)
        if text and room >= 0:
            into[name] = text
    return room
