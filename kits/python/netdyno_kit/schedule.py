"""When the exchanges of one slot of an open loop are due. A schedule never looks at completions."""

import math

from .draws import at, check_phases

_POISSON = 0x5059  # keeps the generator of gaps apart from the streams of DRAWS.md
_MOST = 1 << 22
_DRAIN_NS = 2_000_000_000


class Schedule:
    """The dues of one slot, in ns after the start: peek tells the next one, advance goes on."""

    __slots__ = ("_rate", "_first", "_step", "_k", "_at", "_state", "_cycle", "_warp")

    def __init__(self, rate, arrival, slot, slots, seed, cycle=None, warp=None):
        self._rate, self._cycle, self._warp, self._k, self._state = rate, cycle, warp, 0, None
        self._first, self._step = (slot + 0.5) / rate * 1e9, slots / rate * 1e9
        if cycle or warp:
            self._first, self._step = slot + 0.5, float(slots)
        self._at = 0.0
        if arrival == "poisson":
            self._state = at(seed ^ _POISSON, slot)
            self._gap()

    @property
    def first(self):
        return self._first

    @property
    def step(self):
        return self._step

    def _gap(self):
        u = (at(self._state, self._k) >> 11) * 2.0 ** -53
        self._at += -math.log1p(-u) * self._step

    def peek(self):
        place = self._at if self._state is not None else self._first + self._k * self._step
        if not self._warp and not self._cycle:
            return int(place)
        if self._cycle:
            place = self._cycle.place(int(place))
        return self._warp.due(place) if self._warp else int(place / self._rate * 1e9)

    def advance(self):
        self._k += 1
        if self._state is not None:
            self._gap()


def check_plan(plan):
    """Fills in the defaults of setup.load. ValueError names what is out of range."""
    thinks = any(c.get("think_ns") for c in plan.get("classes") or ())
    for key, default in (("in_flight", 1), ("active_share", 1.0), ("arrival", "constant"), ("drain_ns", _DRAIN_NS)):
        plan[key] = plan.get(key) or default
    for key in ("rate", "think_ns", "amount", "connections"):
        plan[key] = plan.get(key) or 0
    arrivals, trace = ("constant", "poisson", "drawn", "recorded"), plan.get("trace")
    for wrong, text in (
        (not 1 <= plan["connections"] <= _MOST, f"connections is {plan['connections']}, expected 1 to {_MOST}"),
        (not 1 <= plan["in_flight"] or plan["connections"] * plan["in_flight"] > _MOST,
         f"in_flight is {plan['in_flight']} over {plan['connections']} connections, expected 1 to {_MOST} in all"),
        (not 0 < plan["active_share"] <= 1, f"active_share is {plan['active_share']}, expected more than 0 up to 1"),
        (not 0 <= plan["rate"] <= 1e9, f"rate is {plan['rate']}, expected 0 (closed loop) to 1e9 exchanges per second"),
        (plan["arrival"] not in arrivals, f"arrival is {plan['arrival']}, expected one of {', '.join(arrivals)}"),
        (not plan["rate"] and (plan.get("phases") or plan["arrival"] == "drawn"), "rate is 0 with phases or arrival drawn: a closed loop has no schedule"),
        ((plan["arrival"] == "recorded") != bool(trace) or trace and not plan["rate"],
         f"arrival is {plan['arrival']} and rate {plan['rate']}; expected trace beside arrival recorded and a rate, and only there"),
        (plan["rate"] and plan["think_ns"], "think_ns is given with a rate: an open loop does not think"),
        (thinks and plan["think_ns"] <= 0, f"think_ns is {plan['think_ns']}, expected the mean of the classes' pauses, above 0"),
        (min(plan["think_ns"], plan["amount"], plan["drain_ns"]) < 0, "think_ns, amount and drain_ns may not be negative"),
    ):
        if wrong:
            raise ValueError(text)
    if plan["arrival"] == "drawn" and not plan.get("gaps"):
        raise ValueError("gaps is absent, expected a table beside arrival drawn")
    check_phases(plan.get("phases") or [])
