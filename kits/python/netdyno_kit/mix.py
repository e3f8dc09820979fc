"""What a trial's exchanges carry: sizes and, of a load that mixes classes, which of them and its key (contract/MIXES.md)."""

from .draws import CLASSES, KEYS, MOST_BYTES, Drawer, Sizes, check_table
from .failure import Failure

MOST_CLASSES = 64
MOST_KEY = (1 << 53) - 1


class Drawn:
    """What one exchange carries; a slot has the same fields."""

    __slots__ = ("of", "up", "down", "key", "path")

    def __init__(self):
        self.of = self.up = self.down = self.key = 0
        self.path = ""


class Class:
    """One kind of exchange. kind is setup's; of HTTP it has what is asked for."""

    def __init__(self, kind, largest, seed, field):
        self.sizes = Sizes(kind, seed, field)
        if not (0 <= self.sizes.up <= largest.up and 0 <= self.sizes.down <= largest.down):
            raise ValueError(f"{field} has {self.sizes.up} bytes up and {self.sizes.down} down, and exchange at most {largest.up} and {largest.down}")
        self.name, self.method, self.status = kind.get("name", ""), kind.get("method", ""), kind.get("status", 0)
        self.deadline_ns, self.think_ns = kind.get("deadline_ns", 0), kind.get("think_ns", 0)
        self._path = kind.get("path", "")
        if self.deadline_ns < 0 or self.think_ns < 0:
            raise ValueError(f"{field}: its deadline_ns or think_ns is negative")

    def path(self, key):
        """Returns what is asked for; empty where that is the client's own."""
        return self._path.replace("{key}", str(key)) if self._path else ""

    def takes(self, status):
        return status == self.status if self.status else 200 <= status < 300

    def late(self):
        """Returns why an exchange that took longer than the class allows has failed."""
        text = f"no reply within the deadline of {_duration(self.deadline_ns)}"
        return Failure("timeout", text, passing=True)


class Draws:
    """What exchanges carry, by their numbers. Any thread may use it. ValueError says what is wrong with setup."""

    def __init__(self, setup):
        exchange, load, seed = setup["exchange"], setup["load"], setup["seed"]
        self.sizes, all_, trace = Sizes(exchange, seed), load.get("classes") or (), load.get("trace")
        if len(all_) > MOST_CLASSES:
            raise ValueError(f"classes has {len(all_)}, expected at most {MOST_CLASSES}")
        self.classes = [Class(kind, self.sizes, seed, f"classes[{i}]") for i, kind in enumerate(all_)]
        self.up, self.down = self.sizes.up, self.sizes.down
        self.up_varies, self.down_varies = (varies or bool(all_) for varies in (self.sizes.up_varies, self.sizes.down_varies))
        self.vary = self.up_varies or self.down_varies
        self.have_deadlines = any(c.deadline_ns for c in self.classes)
        self._which = self._keys = None
        if self.classes and (not trace or trace.get("times")):  # else the trace says which
            ends = [[kind.get("end", 0), i, i] for i, kind in enumerate(all_)]
            self._which = _drawer(ends, MOST_CLASSES, seed, CLASSES, "classes: their ends")
        if load.get("keys"):
            self._keys = _drawer(load["keys"], MOST_KEY, seed, KEYS, "keys")

    def draw(self, n, to):
        """Makes to, a slot or a Drawn, exchange number n."""
        sizes = self.sizes
        if self._which:
            to.of = self._which.draw(n)
            sizes = self.classes[to.of].sizes
        to.up, to.down = sizes.of(n)
        if self._keys:
            to.key = self._keys.draw(n)

    def of(self, n):
        """Returns what exchange number n carries, and the first exchange of connection n."""
        drawn = Drawn()
        self.draw(n, drawn)
        return drawn

    def class_of(self, drawn):
        """Returns the class of an exchange; None where there are none."""
        return self.classes[drawn.of] if self.classes else None


def _drawer(table, most, seed, number, field):
    try:
        check_table(table, most)
    except ValueError as e:
        raise ValueError(f"{field}: {e}") from None
    return Drawer(table, seed, number)


def _duration(ns):
    """Writes a duration as the workers in Go do, with three significant digits, so that equal causes have equal texts."""
    for unit, of in (("ns", 1), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)):
        if ns / of < 999.5 or unit == "s":
            break
    if unit == "ns":
        return f"{ns} ns"
    exponent = int(f"{ns / of:.2e}".partition("e")[2])
    return f"{ns / of:.{max(0, 2 - exponent)}f} {unit}"
