"""When the exchanges of one slot of an open loop are due. A schedule never looks at completions."""

import math

from .draws import at

_POISSON = 0x5059  # keeps the generator of gaps apart from the streams of DRAWS.md


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
