"""What is drawn from a trial's seed (contract/DRAWS.md): sizes, gaps, rates that change."""

import math
from bisect import bisect_right

MASK = (1 << 64) - 1
UP, DOWN, GAPS, CLASSES, KEYS, WORK = range(1, 7)  # streams of the seed
MOST_BYTES = 1 << 30
GAP_UNIT = 1 << 20
CYCLE = 1 << 16
NEVER = (1 << 63) // 4


def at(state, n):
    """Returns output number n, from 0, of splitmix64 that begins at state."""
    z = state + (n + 1) * 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def stream(seed, number, n):
    """Returns number n of a stream of the seed."""
    return at(at(seed, number - 1), n)


def check_table(table, most):
    """Raises ValueError unless a table is one whose values are 0 to most."""
    if not 0 < len(table) <= 4096:
        raise ValueError(f"{len(table)} segments, expected 1 to 4096")
    before = 0
    for segment in table:
        if len(segment) != 3 or any(type(v) is not int for v in segment):
            raise ValueError(f"segment {segment}, expected [end, low, high] in integers")
        end, low, high = segment
        if end <= before or not 0 <= low <= high <= most:
            raise ValueError(f"segment {segment}, expected ends that rise from 1 and 0 <= low <= high <= {most}")
        before = end
    if before != 1 << 32:
        raise ValueError(f"the last end is {before}, expected 2^32")


class Drawer:
    """Draws from a table, for one stream of the seed."""

    def __init__(self, table, seed, number):
        self._base = at(seed, number - 1)
        self._ends = [end for end, _, _ in table]
        self._parts = [(low, high - low + 1) for _, low, high in table]

    def draw(self, n):
        u = at(self._base, n)
        low, span = self._parts[bisect_right(self._ends, u >> 32)]
        return low + ((u & 0xFFFFFFFF) * span >> 32)


class Sizes:
    """The sizes of exchanges that a field of setup declares."""

    def __init__(self, exchange, seed, field="exchange"):
        self.up, self.down = exchange.get("up_bytes", 0), exchange.get("down_bytes", 0)
        self._up = self._drawer(exchange, field, "up", self.up, seed, UP)
        self._down = self._drawer(exchange, field, "down", self.down, seed, DOWN)
        self.up_varies, self.down_varies = self._up is not None, self._down is not None
        self.vary = self.up_varies or self.down_varies

    @staticmethod
    def _drawer(exchange, field, direction, most, seed, number):
        table = exchange.get(direction + "_sizes")
        if not table:
            return None
        try:
            check_table(table, MOST_BYTES)
            largest = max(high for _, _, high in table)
            if largest != most:
                raise ValueError(f"the largest size is {largest} and {direction}_bytes is {most}, expected the same")
        except ValueError as e:
            raise ValueError(f"{field}.{direction}_sizes: {e}") from None
        return Drawer(table, seed, number)

    def of(self, n):
        """Returns the sizes up and down of exchange number n."""
        return (self._up.draw(n) if self._up else self.up), (self._down.draw(n) if self._down else self.down)


class Cycle:
    """Places of drawn arrivals, in exchanges."""

    def __init__(self, gaps, seed):
        check_table(gaps, 1000 * GAP_UNIT)
        drawer, self._ends, total = Drawer(gaps, seed, GAPS), [], 0
        for i in range(CYCLE):
            total += drawer.draw(i)
            self._ends.append(total)
        if not total:
            raise ValueError("every gap is 0")
        self._scale = CYCLE / total

    def place(self, m):
        return float(m // CYCLE * CYCLE) + float(self._ends[m % CYCLE]) * self._scale


def check_phases(phases):
    """Raises ValueError unless phases are ones that a rate can change by."""
    if len(phases) > 4096:
        raise ValueError(f"{len(phases)} phases, expected at most 4096")
    for i, p in enumerate(phases):
        if len(p) != 3 or not 1 <= p[0] <= 1e15 or p[0] != math.trunc(p[0]):
            raise ValueError(f"phase {i} is {p}, expected a whole number of ns from 1 to 1e15 and two rates")
        if not (0 <= p[1] <= 1e9 and 0 <= p[2] <= 1e9):
            raise ValueError(f"phase {i} goes from {p[1]} to {p[2]} exchanges per second, expected 0 to 1e9")
    if phases and not any(p[1] > 0 or p[2] > 0 for p in phases):
        raise ValueError("no phase has a rate above 0")


class Warp:
    """Turns places in a schedule, in exchanges, into ns after the start, and back."""

    def __init__(self, phases, repeat):
        self._repeat, self._phases, self._ends = repeat, [], []
        self._all = self._lasts = 0.0
        self._last = 0
        for lasts, first, last in phases:
            holds = (first + last) / 2 * (lasts / 1e9)
            if holds > 0:
                self._last = len(self._phases)
            self._phases.append((self._lasts, float(lasts), self._all, float(first), float(last)))
            self._ends.append(self._all + holds)
            self._all, self._lasts = self._all + holds, self._lasts + lasts

    def due(self, x):
        base = 0.0
        if self._repeat:
            rounds = math.floor(x / self._all)
            x, base = max(0.0, x - rounds * self._all), rounds * self._lasts
        elif x >= self._all:
            last = self._phases[-1][4]
            return NEVER if last <= 0 else _clip(self._lasts + (x - self._all) / last * 1e9)
        found = bisect_right(self._ends, x)
        start, lasts, before, first, last = self._phases[found if found < len(self._ends) else self._last]
        y = x - before
        slope = (last - first) / (lasts / 1e9)
        root = math.sqrt(max(0.0, first * first + 2 * slope * y))
        return _clip((base + start) + min(lasts, 2 * y / (first + root) * 1e9))

    def place(self, ns):
        """Returns how many exchanges the rates make until ns after the start."""
        base = 0.0
        if self._repeat:
            rounds = math.floor(ns / self._lasts)
            ns, base = ns - rounds * self._lasts, rounds * self._all
        elif ns >= self._lasts:
            return self._all + (ns - self._lasts) / 1e9 * self._phases[-1][4]
        for start, lasts, before, first, last in self._phases:
            inside = ns - start
            if inside < lasts:
                return base + before + inside / 1e9 * (first + (last - first) * inside / lasts / 2)
        return base + self._all


def _clip(ns):
    return int(ns) if ns < NEVER else NEVER
