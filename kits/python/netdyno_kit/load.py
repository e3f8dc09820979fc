"""The work of one client in one trial: its slots, and what came of them.

The worker's control thread calls start, open, close, end; threads or event loops use the slots, each those of its own shard.
"""

import math
import threading

from . import bysize
from .counters import NEVER, Sends, Shard, Times, gaps, share, stretch
from .draws import Cycle, Warp
from .failure import Failure, Reasons
from .histogram import Histogram
from .mix import Draws
from .replay import Replay
from .schedule import Schedule, check_plan
from .slot import OpenSlot, ReplaySlot, Slot, ThinkingSlot, now_ns

_REPLAY_MOST, _SLICE = 1 << 20, 256


class Load:
    """Makes the slots of every active connection. Connection i belongs to shard i % shards."""

    def __init__(self, setup, shards=1):
        plan, exchange = dict(setup["load"]), setup["exchange"]
        try:
            check_plan(plan)
            self.draws = Draws(setup)
            self.replay = Replay(plan["trace"], exchange, plan) if plan.get("trace") else None
            self._cycle = Cycle(plan["gaps"], setup["seed"]) if plan["arrival"] == "drawn" else None
            self._warp = Warp(plan["phases"], plan.get("repeat", False)) if plan.get("phases") else None
        except (ValueError, KeyError) as e:
            raise Failure("setup", f"load: {e}" if isinstance(e, ValueError) else f"load: {e} is absent") from None
        self.plan, self.seed, self.up, self.reasons = plan, setup["seed"], exchange.get("up_bytes", 0), Reasons()
        self.rate, self.think, self.in_flight = plan["rate"], plan["think_ns"], plan["in_flight"]
        self.drain_ns = plan["drain_ns"]
        self.connections = plan["connections"]
        self.active = max(1, math.ceil(plan["active_share"] * plan["connections"] - 1e-9))
        self.started, self.begun, self.closing, self.ended = 0, NEVER, NEVER, threading.Event()
        self.on_end = []  # called once, on the thread that ends the load
        shards = max(1, min(shards, self.active))
        self.shards = [self._shard(i, shards) for i in range(shards)]
        self._differing = [{} for _ in self.shards]  # times by size and class
        self.slots = [self._slot(i) for i in range(self.active * self.in_flight)]
        self._sliced = None

    def _shard(self, i, shards):
        sends = Sends(self.rate, len(range(i, self.active, shards)) / self.active) if self.rate else None
        return Shard(Times(bool(self.rate), self.think > 0, sends), -1 if self.draws.down_varies else self.draws.down, len(self.draws.classes))

    def _slot(self, i):
        connection, total = i // self.in_flight, self.active * self.in_flight
        amount = self.plan["amount"]
        left = amount // self.in_flight + (i % self.in_flight < amount % self.in_flight) if amount else -1
        shard = connection % len(self.shards)
        kind = ReplaySlot if self.replay else OpenSlot if self.rate else ThinkingSlot if self.think else Slot
        slot = kind(self, self.shards[shard], self._place(i), left)
        if self.rate and not self.replay:
            slot.schedule = self._schedule(i)
            if self.plan["arrival"] == "constant" and not self._warp:
                slot.free = int(slot.schedule.first - slot.schedule.step)  # as if it had run before
        elif self.think:
            slot.think = self.think
            slot.free = self.think * i // total - self.think  # staggered: no burst at the start
        if self.draws.vary:
            first = i % self.in_flight == 0
            slot.sizes = bysize.BySize(self, self._differing[shard]) if first else self._connection_sizes
            self._connection_sizes = slot.sizes
        return slot

    def _place(self, i):
        """Slots take their places connection by connection: those of one are no neighbours in time."""
        return i % self.in_flight * self.active + i // self.in_flight

    def _schedule(self, i):
        plan, slots = self.plan, self.active * self.in_flight
        return Schedule(self.rate, plan["arrival"], self._place(i), slots, self.seed, self._cycle, self._warp)

    def slots_of(self, connection):
        """Returns the slots of a connection; none where it carries no load."""
        if connection >= self.active:
            return []
        return self.slots[connection * self.in_flight:(connection + 1) * self.in_flight]

    def start(self):
        """Sets the instant from which schedules count."""
        self.started = now_ns()
        for slot in self.slots:
            slot.free += self.started
        if self.replay:
            self.replay.begin()
        if self.plan["amount"] and self.begun == NEVER:
            self.open(self.started)

    def open(self, now):
        """Opens the window: what completes from now on is counted in it."""
        if self.closing != NEVER:
            return
        self.begun = now
        for shard in self.shards:
            sends = shard.window.times.sends
            if sends and not sends.until:
                sends.until = now + stretch(self.rate)
                sends.begin = now
            shard.window.begin = shard.window.whole_from = now
        for shard in self.shards:
            shard.now = shard.window

    def close(self, now):
        """Closes an open window, and with it the load. It reports whether there was one."""
        if self.begun != NEVER:
            self.end(now)
        return self.begun != NEVER

    def end(self, now):
        """Ends the load. Only the first call has an effect."""
        if self.closing != NEVER:
            return
        self.closing = now
        for shard in self.shards:
            shard.drain.begin, shard.drain.end = self.begun, now
            shard.now = shard.drain
        self.ended.set()
        for call in self.on_end:
            call()

    def snapshot(self):
        """Returns the sums since ready as they were when the window last opened or closed."""
        past = [s.before for s in self.shards]
        if self.closing != NEVER:
            past += [s.window for s in self.shards]
        return self._sum(past)

    def counts(self):
        return self._sum([c for s in self.shards for c in (s.before, s.window, s.drain)])

    def _sum(self, all_):
        up = 0 if self.draws.up_varies else self.up
        counts = {"exchanges": 0, "sent_bytes": 0, "received_bytes": 0, "errors": {}}
        for c in all_:
            counts["exchanges"] += c.exchanges
            counts["sent_bytes"] += c.exchanges * up + c.sent
            counts["received_bytes"] += c.exchanges * max(0, c.down) + c.received
            for kind, n in list(c.errors.items()):
                counts["errors"][kind] = counts["errors"].get(kind, 0) + n
        return counts

    def slice(self):
        """Returns the times of what completed since the last call, in the window or draining; None without any."""
        lists = [s.window.times.response or s.window.times.service for s in self.shards]
        all_ = [sum(column) for column in zip(*lists)] if len(lists) > 1 else list(lists[0])
        before, self._sliced = self._sliced, all_
        before, new = before or [0] * len(all_), []
        for begin in range(0, len(all_), _SLICE):  # most have not changed, which lists tell at once
            if all_[begin:begin + _SLICE] != before[begin:begin + _SLICE]:
                new += [(at, all_[at] - before[at]) for at in range(begin, min(begin + _SLICE, len(all_))) if all_[at] != before[at]]
        return _summary(new)

    def sent(self):
        """Returns the requests of the exchanges, each once, where it ended; drain has those that never did."""
        under_way = sum(s.pending <= min(self.closing, NEVER - 1) and not s.held for s in self.slots)
        ended = {name: sum(getattr(s, name).ended() for s in self.shards) for name in ("before", "window", "drain")}
        ended["drain"] += under_way
        return ended

    def result(self):
        """Returns the result. Call it when the slots are let go, or the time to drain is over."""
        now = now_ns()
        self.end(now)
        if self.replay and self.replay.failure:
            raise self.replay.failure
        windows, drains = [s.window for s in self.shards], [s.drain for s in self.shards]
        counts, drained = self._sum(windows), self._sum(drains)
        for kind, n in drained["errors"].items():
            counts["errors"][kind] = counts["errors"].get(kind, 0) + n
        result = {"from_ns": self.begun if self.begun != NEVER else self.closing, "to_ns": self.closing, "counts": counts,
                  "drained": drained["exchanges"], "over_max": sum(c.times.over_max for c in windows)}
        merged = {name: self._merged(name) for name in ("service", "response", "lag")}
        result.update({name: h.encode() for name, h in merged.items() if h.count()})
        result["inside"] = self._inside(counts["exchanges"], merged["response" if self.rate else "service"])
        result["lengths"] = self._lengths(counts["exchanges"] + drained["exchanges"])
        result["arrivals"], result["reasons"] = self._arrivals(), self.reasons.most()
        if self.draws.vary:
            merged = bysize.Merged(self._differing)
            result["bins"], result["classes"] = merged.bins(bool(self.rate)), merged.classes(self.draws.classes, self.shards)
        ages = self._ages(now)
        result["unfinished"], result["ages"] = ages.count(), ages.encode()
        return {name: value for name, value in result.items() if value not in (None, "", [])}

    def _merged(self, name):
        whole = Histogram()
        for shard in self.shards:
            counts = getattr(shard.window.times, name)
            if counts is not None:
                whole.counts = [a + b for a, b in zip(whole.counts, counts)]
        return whole

    def _lengths(self, replies):
        whole = Histogram()
        for shard in self.shards:
            if shard.window.times.lengths:
                whole.merge(shard.window.times.lengths)
        n = whole.count()
        if n and not self.draws.down_varies:
            whole.record(self.draws.down, replies - n)
        return whole.encode() if n else None

    def _arrivals(self):
        if not self.rate or self.begun == NEVER:
            return None
        all_ = [s.window.times.sends for s in self.shards]
        until = min([self.closing] + [s.until for s in all_] + [s.refused for s in all_])
        return gaps([at for s in all_ for at in s.kept], self.begun, until)

    def _inside(self, completed, times):
        if self.begun == NEVER:
            return None
        all_ = [c for s in self.shards for c in (s.window, s.drain)]
        inside = {"exchanges": completed + sum(c.part_exchanges for c in all_),
                  "cycles": completed + self._waiting(times) + sum(c.part_cycles for c in all_)}
        if self.rate:
            inside["due"] = self._fell_due()
        else:
            inside["idle_ns"] = sum(c.idle_ns for c in all_)
        return inside

    def _waiting(self, times):
        """Sums the parts inside the window of the cycles of slots that waited when it closed."""
        if not self.rate and not self.think or not times.count():
            return 0.0
        takes, whole = int(times.mean()), 0.0
        for slot in self.slots:
            due = slot.due_after(self.closing)
            if due is not None:
                whole += share(self.begun, self.closing, slot.free, due + takes)
        return whole

    def _fell_due(self):
        """Returns how many exchanges fell due in the window."""
        begin, end, start = self.begun, self.closing, self.started
        expected = self.rate * (end - begin) / 1e9
        if self._warp:
            expected = self._warp.place(float(end - start)) - self._warp.place(float(begin - start))
        if self.plan["arrival"] == "constant" and not self._warp or self.rate * (end - start) / 1e9 > _REPLAY_MOST:
            return expected
        if self.replay:
            return self._replayed()
        due = 0.0
        for i in range(len(self.slots)):
            schedule, last = self._schedule(i), start
            while last < end:
                coming = start + schedule.peek()
                schedule.advance()
                due += share(begin, end, last, coming)
                last = coming
        return due

    def _replayed(self):
        due, last, end = 0.0, 0, self.closing - self.started
        for at, _, _ in self.replay.walk():
            due += share(self.begun - self.started, end, last, at)
            last = at
            if at >= end:
                break
        return due

    def first(self, connection):
        """Returns what the first exchange of a connection carries."""
        return self.replay.of(connection) if self.replay and not self.replay.times else self.draws.of(connection)

    def _ages(self, now):
        """Returns how old those exchanges are, since due, that were due before the closing and have not completed."""
        ages = Histogram()
        if not self.started:
            return ages
        for slot in self.slots:
            if slot.pending <= self.closing:
                ages.record(now - slot.pending)
            while slot.is_open and not self.replay and slot.left and self.started + slot.schedule.peek() <= self.closing:
                ages.record(now - self.started - slot.schedule.peek())
                slot.schedule.advance()
                slot.left -= 1
        due = self.started + self.replay.take()[0] if self.replay else NEVER
        while due <= self.closing:
            ages.record(now - due)
            due = self.started + self.replay.take()[0]
        return ages


def _summary(counted):
    """Returns count, median, 99th percentile and maximum of (index, count) pairs as a tick has them."""
    from .histogram import middle
    total = sum(n for _, n in counted)
    if not total:
        return None
    found, seen = {"count": total, "max_ns": middle(counted[-1][0])}, 0
    wanted = [(name, q) for name, q in (("p50_ns", 0.5), ("p99_ns", 0.99)) if total * (1 - q) >= 10]
    for at, n in counted:
        seen += n
        while wanted and seen >= wanted[0][1] * total:
            found[wanted.pop(0)[0]] = middle(at)
    return found
