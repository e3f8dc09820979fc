"""The work of a server (contract/MIXES.md): for each exchange, in the order in which requests come, a time is drawn and spent."""

import asyncio
import itertools
import multiprocessing
import statistics
import time

from .alarm import Agenda
from .draws import WORK, Drawer, check_table
from .failure import Failure
from .slot import now_ns

MOST_NS = 4_000_000_000


class Service:
    """Draws and spends the times. Every process and thread of the server may use it; make it before they are made."""

    def __init__(self, work, seed, processes):
        self._drawer, self.sleeps = Drawer(work["ns"], seed, WORK), work["by"] == "sleep"
        self._numbers, self._shared = itertools.count(), None
        if processes > 1:
            self._shared = multiprocessing.get_context("fork").Value("q", 0)
        self._agendas = {}

    def next(self):
        """Draws the time of the next exchange, in ns."""
        if not self._shared:
            return self._drawer.draw(next(self._numbers))
        with self._shared.get_lock():
            n = self._shared.value
            self._shared.value = n + 1
        return self._drawer.draw(n)

    def serve(self):
        """Does the work of the next exchange: the calling thread sleeps, or computes."""
        ns = self.next()
        if not self.sleeps:
            return spend(ns)
        return time.sleep(ns / 1e9)

    async def serve_on_loop(self):
        """As serve, of a coroutine, whose loop goes on where the time is slept."""
        if not self.sleeps:
            return spend(self.next())
        due, loop = now_ns() + self.next(), asyncio.get_running_loop()
        future = loop.create_future()
        self.agenda(loop).at(due, future, _end)
        return await future

    def agenda(self, loop):
        """Returns what wakes sleepers on a loop."""
        if loop not in self._agendas:
            self._agendas[loop] = Agenda(loop)
        return self._agendas[loop]


def service_of(setup, processes=1):
    """Returns the work that a server is told to do; None for none. A Failure is of kind setup."""
    work = setup.get("work")
    if not work or setup["role"] != "server":
        return None
    if work.get("by") not in ("cpu", "sleep"):
        raise Failure("setup", f"work.by is {work.get('by')!r}, expected cpu or sleep")
    try:
        check_table(work.get("ns") or [], MOST_NS)
    except ValueError as e:
        raise Failure("setup", f"work.ns: {e}") from None
    return Service(work, setup["seed"], processes)


def spend(ns):
    """Makes the calling thread use ns of its own CPU time: what preempts it makes it last longer and takes nothing from the work.

    The thread's clock is a system call: it is read only when the time may be over, and what a reading takes belongs to the work.
    """
    if ns <= 0:
        return
    end = time.thread_time_ns() + ns - _reading()
    while True:
        left = end - time.thread_time_ns()
        if left <= _reading() / 2:
            return
        until = now_ns() + left - _reading()
        while now_ns() < until:
            pass


_took = []


def _reading():
    """Returns what it takes from one reading of the thread's clock to the next, in ns: the median of some."""
    if not _took:
        clock = time.thread_time_ns
        _took.append(int(statistics.median(-clock() + clock() for _ in range(101))))
    return _took[0]


def _end(future):
    if not future.done():
        future.set_result(None)
