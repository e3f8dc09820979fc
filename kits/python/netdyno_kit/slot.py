"""A slot: a place for one exchange in flight. One thread or event loop uses it; nothing on its path locks.

    due = slot.next(now)                # None: let the slot go. Wait until due, then send
    slot.done(sent, now, received)      # or slot.fail(failure), or slot.cancel() where it was not sent
"""

import time

from .counters import NEVER
from .failure import failure_of
from .histogram import MAX, SIZE

now_ns = time.monotonic_ns


class Slot:
    """A slot of a closed loop, whose next exchange is due at once."""

    __slots__ = ("load", "shard", "number", "pending", "left", "free", "canceled", "held", "up", "down", "of", "key", "path", "sizes")
    is_open = False

    def __init__(self, load, shard, number, left):
        self.load, self.shard, self.number = load, shard, number
        self.pending, self.left, self.free, self.canceled, self.held = NEVER, left, 0, 0, False
        self.up, self.down, self.of, self.key, self.path = load.draws.up, load.draws.down, 0, 0, ""  # as a Drawn
        self.sizes = None  # a BySize where exchanges differ

    def next(self, now):
        """Returns when the next exchange is due, perhaps in the past; None when there is none."""
        left = self.left
        if left == 0 or self.load.closing != NEVER:
            self.pending = NEVER
            return None
        if left > 0:
            self.left = left - 1
        self.pending = now
        if self.sizes:
            self.sizes.draw(self)
        return now

    def done(self, sent, now, received):
        """Counts the exchange in flight as complete."""
        due, free = self.pending, self.free
        self.free = now
        self.pending = NEVER
        c = self.shard.now
        c.exchanges += 1
        if received != c.down:
            c.differ(received)
        if self.sizes:
            self.sizes.count(self, c, sent, now, due, received)
        service = c.service
        if service is None:
            return
        c.idle_ns += sent - free
        if free < c.whole_from:
            c.edge(free, sent, now)
        took = now - sent
        if 2048 <= took <= MAX:
            shift = took.bit_length() - 11
            service[(shift << 10) + (took >> shift)] += 1
        else:
            self._rare(c.times, service, took)
        times = c.times
        if times.lag is not None:
            self._late(times, sent, now, due)

    def _late(self, times, sent, now, due):
        self._rare(times, times.lag, sent - due, False)
        if times.response is not None:
            self._rare(times, times.response, now - due, False)
            times.sends.add(sent)

    @staticmethod
    def _rare(times, into, took, counted=True):
        """Records any time. The result's over_max is of service times."""
        if took > MAX:
            times.over_max += counted
            into[SIZE - 1] += 1
        elif took < 2048:
            into[took if took > 0 else 0] += 1
        else:
            shift = took.bit_length() - 11
            into[(shift << 10) + (took >> shift)] += 1

    def fail(self, error):
        """Counts the exchange in flight as failed; a failed one has no time."""
        failure = failure_of(error)
        self.pending, self.free = NEVER, now_ns()
        c = self.shard.now
        if self.sizes:
            self.sizes.fail(self, c)
        if c.times is not None:
            self.load.reasons.add(failure.kind, failure.reason)
        c.fail(failure)

    def abandon(self, unsent=False):
        """Says that this end broke the exchange in flight off: it stays unfinished."""
        self.held = unsent

    def cancel(self):
        """Takes back an exchange that was promised and will not be sent."""
        self.canceled, self.pending = self.pending, NEVER
        if self.sizes:
            self.sizes.end(self, None)

    def due_after(self, closing):
        """Returns when the exchange was due that the slot waited for at the closing, or None."""
        due = self.pending if self.pending != NEVER else self.canceled if self.canceled > closing else self._coming()
        return due if due is not None and due > closing else None

    def _coming(self):
        return None


class ThinkingSlot(Slot):
    """A slot of a closed loop that waits after each exchange."""

    __slots__ = ("think",)

    def next(self, now):
        due = self.free + self.think
        if self.left == 0 or self.load.closing != NEVER:
            self.pending = NEVER
            return None
        self.left -= 1
        self.pending = due
        if self.sizes:
            self.sizes.draw(self)
        return due

    def _coming(self):
        return self.free + self.think if self.left else None


class OpenSlot(Slot):
    """A slot of an open loop, which follows its schedule."""

    __slots__ = ("schedule",)
    is_open = True

    def next(self, now):
        load = self.load
        if self.left == 0:
            self.pending = NEVER
            return None
        due = load.started + self.schedule.peek()
        if due > load.closing:
            self.pending = NEVER
            return None
        self.schedule.advance()
        self.left -= 1
        self.pending = due
        if self.sizes:
            self.sizes.draw(self)
        return due

    def _coming(self):
        return self.load.started + self.schedule.peek() if self.left else None


class ReplaySlot(Slot):
    """A slot that takes recorded requests, or their times, as they are due."""

    __slots__ = ()
    is_open = True

    def next(self, now):
        load = self.load
        self.pending = NEVER
        if self.left == 0:
            return None
        at, self.number, carried = load.replay.take()
        due = load.started + at
        if due > load.closing:
            self.canceled = due
            return None
        self.left -= 1
        self.pending = due
        if self.sizes:
            self.sizes.draw(self, carried)
        return due
