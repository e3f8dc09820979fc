"""What waits for an instant in an event loop, to the microsecond: asyncio's own timers round up to milliseconds."""

import ctypes
import heapq
import os
import struct

from .slot import now_ns

_MONOTONIC, _NONBLOCK, _CLOEXEC, _ABSOLUTE = 1, 0o4000, 0o2000000, 1
_libc = ctypes.CDLL(None, use_errno=True)


class Agenda:
    """Calls what is due, earliest first. Only the loop's thread uses it, but for wake."""

    def __init__(self, loop):
        self._loop, self._heap, self._count, self._armed = loop, [], 0, 0
        self._timer = _libc.timerfd_create(_MONOTONIC, _NONBLOCK | _CLOEXEC)
        if self._timer < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        self._setting = ctypes.create_string_buffer(32)
        loop.add_reader(self._timer, self._ring)

    def at(self, due, item, call):
        """Has call(item) called at an instant."""
        self._count += 1
        heapq.heappush(self._heap, (due, self._count, item, call))
        if due < self._armed or not self._armed:
            self._arm(due)

    def take(self, call):
        """Returns what waits for a call as (due, item), and forgets it."""
        taken = [(due, item) for due, _, item, of in sorted(self._heap, key=lambda entry: entry[:2]) if of is call]
        self._heap = [entry for entry in self._heap if entry[3] is not call]
        heapq.heapify(self._heap)
        return taken

    def _arm(self, due):
        self._armed = due
        struct.pack_into("qqqq", self._setting, 0, 0, 0, due // 1_000_000_000, due % 1_000_000_000)
        _libc.timerfd_settime(self._timer, _ABSOLUTE, self._setting, None)

    def _ring(self):
        try:
            os.read(self._timer, 8)
        except BlockingIOError:
            return
        self._armed, heap = 0, self._heap
        while heap and heap[0][0] <= now_ns():
            _, _, item, call = heapq.heappop(heap)
            call(item)
        if heap and not self._armed:
            self._arm(heap[0][0])
        elif heap and heap[0][0] < self._armed:
            self._arm(heap[0][0])
