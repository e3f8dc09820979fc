"""What one thread counts in one stretch of a trial: before the window, in it, or while draining."""

from .histogram import SIZE, Histogram

NEVER = (1 << 63) - 1
STRETCH_SENDS = 1 << 17  # expected at the declared rate: a client keeps about 1 MiB of instants
STRETCH_NS = 30_000_000_000
OF_CLASS = ("exchanges", "sent_bytes", "received_bytes", "errors")


def share(begin, end, first, last):
    """Returns the share of [first, last] that lies in [begin, end]."""
    if last <= first:
        return 1.0 if begin <= last <= end else 0.0
    return max(0.0, (min(last, end) - max(first, begin)) / (last - first))


class Sends:
    """When exchanges were sent, from the opening of the window on, as far as there is room."""

    __slots__ = ("begin", "until", "room", "kept", "refused")

    def __init__(self, rate, part):
        self.begin, self.until, self.refused, self.kept = NEVER, 0, NEVER, []
        self.room = int(stretch(rate) / 1e9 * rate * part * 1.25) + 64

    def add(self, sent):
        if self.begin <= sent < self.until:
            if len(self.kept) < self.room:
                self.kept.append(sent)
            elif sent < self.refused:
                self.refused = sent


def stretch(rate):
    """Returns for how many ns sends are kept at a rate."""
    return int(min(STRETCH_SENDS / rate * 1e9, STRETCH_NS))


def gaps(sent, begin, until):
    """Returns the contract's arrivals of some sends in [begin, until), or None."""
    inside = sorted(at for at in sent if begin <= at < until)
    if len(inside) < 2:
        return None
    squares = sum(float(b - a) ** 2 for a, b in zip(inside, inside[1:]))
    return {"gaps": len(inside) - 1, "sum_ns": inside[-1] - inside[0], "sum_squares_ns2": squares, "stretch_ns": until - begin}


class Times:
    """The histograms of one thread, and when it sent: of the window and of what was drained."""

    __slots__ = ("service", "response", "lag", "sends", "lengths", "over_max")

    def __init__(self, is_open, thinks, sends):
        self.service = [0] * SIZE
        self.response = [0] * SIZE if is_open else None
        self.lag = [0] * SIZE if is_open or thinks else None
        self.sends, self.lengths, self.over_max = sends, None, 0


class Counters:
    """Sums of one stretch. One thread adds to them, others read."""

    __slots__ = ("exchanges", "received", "sent", "errors", "unsent", "down", "times", "service", "idle_ns",
                 "begin", "end", "whole_from", "counted", "part_exchanges", "part_cycles", "classes")

    def __init__(self, times, down, counted, classes):
        self.exchanges = self.received = self.sent = self.unsent = self.idle_ns = 0
        self.errors, self.times, self.down = {}, times, down
        self.service = times.service if times else None
        self.begin, self.end, self.counted = NEVER, NEVER, counted
        self.whole_from = NEVER  # exchanges of slots that became free from here on lie inside as a whole
        self.part_exchanges = self.part_cycles = 0.0
        self.classes = [dict.fromkeys(OF_CLASS, 0) for _ in range(classes)]

    def edge(self, free, sent, now):
        """Corrects the whole exchanges by one that may span an edge of the window."""
        if self.counted and free >= self.begin:
            return
        self.part_exchanges += share(self.begin, self.end, sent, now) - self.counted
        self.part_cycles += share(self.begin, self.end, free, now) - self.counted

    def differ(self, received):
        """Counts a reply of another length than expected. received is what replies have beyond that."""
        self.received += received - max(0, self.down)
        if self.times is None:
            return
        if self.times.lengths is None:
            self.times.lengths = Histogram()
        self.times.lengths.record(received)

    def fail(self, failure):
        self.errors[failure.kind] = self.errors.get(failure.kind, 0) + 1
        self.unsent += failure.unsent

    def ended(self):
        """Returns how many requests ended here."""
        return self.exchanges + sum(self.errors.values()) - self.unsent


class Shard:
    """The counters of one thread or event loop. now are those of the present stretch."""

    __slots__ = ("before", "window", "drain", "now")

    def __init__(self, times, down, classes=0):
        self.before = Counters(None, down, 1, classes)
        self.window = Counters(times, down, 1, classes)
        self.drain = Counters(times, down, 0, classes)
        self.now = self.before
