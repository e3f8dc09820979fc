"""A client whose exchanges are calls of a library: coroutines on an event loop, or functions on a thread for each slot."""

import asyncio
import sys
import threading

from .addresses import Routes
from .aio import CONNECTING, VERIFY_S
from .alarm import Agenda
from .counters import NEVER
from .failure import Failure, failure_of
from .load import Load
from .processes import SWITCH_S
from .slot import now_ns
from .transport import Client


class _Calls(Client):
    """What both kinds have in common. Override connect, call and end."""

    def __init__(self, setup, exchange):
        self.setup, self.exchange, self.load, self.routes = setup, exchange, Load(exchange.sized(setup)), Routes(setup)
        self.closed, self._lost, self._made = False, set(), []

    def ready(self):
        return {"connections": self.routes.count, "verified": self.routes.count, "threads": 1, **self.exchange.ready()}

    def _failed(self, connection, slot, error):
        """Counts a failed exchange. It returns whether the slot goes on."""
        if self.closed:
            slot.abandon(getattr(error, "unsent", False))
            return False
        failure = failure_of(error)
        slot.fail(failure)
        if failure.kind == "peer" and not failure.passing:
            self._lost.add(connection)
            return False
        return True

    def _check(self):
        if len(self._lost) == self.load.active and not self.closed:
            raise Failure("peer", "every connection was lost")

    def _explain(self, i, error):
        failure = self.routes.failure(i, error) if isinstance(error, OSError) else failure_of(error)
        if failure.text.startswith(("connect ", "verify ")):
            return failure
        return Failure(failure.kind, f"verify connection {i + 1} of {self.routes.count} to {self.routes.peer(i)[0]}: {failure.text}")


class AsyncCalls(_Calls):
    """Calls are coroutines, all on one event loop.

    await connect(i) returns a connection of the library. await call(connection, slot) makes an exchange and returns the bytes received;
    it raises Failure. What was drawn for it is slot.up, down, of and key. await first(connection, i, drawn) makes the first one and
    verifies it. A call that takes longer than its class allows is cancelled, unless in_time says that the library sees to that.
    """

    in_time = False

    def __init__(self, setup, exchange, new_loop):
        super().__init__(setup, exchange)
        self.loop, self._tasks = new_loop(), []
        threading.Thread(target=self._turn, daemon=True).start()
        asyncio.run_coroutine_threadsafe(self._open(), self.loop).result()

    def _turn(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    async def _open(self):
        self._agenda, room = Agenda(self.loop), asyncio.Semaphore(CONNECTING)
        tasks = [asyncio.ensure_future(self._one(i, room)) for i in range(self.routes.count)]
        try:
            self._made = await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            raise

    async def _one(self, i, room):
        async with room:
            try:
                connection = await asyncio.wait_for(self.connect(i), VERIFY_S)
                await asyncio.wait_for(self.first(connection, i, self.load.first(i)), VERIFY_S)
                return connection
            except asyncio.TimeoutError:
                raise Failure("timeout", f"verify connection {i + 1} of {self.routes.count}: no whole reply for {VERIFY_S} s") from None
            except Exception as e:
                raise self._explain(i, e) from None

    def run(self):
        asyncio.run_coroutine_threadsafe(self._run(), self.loop).result()

    async def _run(self):
        self._tasks = [asyncio.ensure_future(self._drive(i, slot)) for i in range(self.load.active) for slot in self.load.slots_of(i)]
        self.load.on_end.append(lambda: self.loop.call_soon_threadsafe(self._end))
        if self.load.ended.is_set():
            self._end()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for task in self._tasks:
            if not task.cancelled() and task.exception():
                raise task.exception()
        self._check()

    async def _drive(self, i, slot):
        connection, call, now = self._made[i], self.call, now_ns()
        if self.load.draws.have_deadlines and not self.in_time:
            call = Deadline(self._agenda, asyncio.current_task(), self.load.draws, call).call
        try:
            while True:
                due = slot.next(now)
                if due is None:
                    return
                if due > now and not await self._until(due):
                    slot.cancel()
                    return
                sent = now_ns()
                try:
                    received = await call(connection, slot)
                    now = now_ns()
                    slot.done(sent, now, received)
                except Exception as e:
                    if not self._failed(i, slot, e):
                        return
                    now = now_ns()
                    await asyncio.sleep(0)
        except asyncio.CancelledError:
            slot.abandon()

    async def _until(self, due):
        """Waits for a due time. It returns False where the load ended before."""
        if due <= now_ns():
            return True
        if self.load.closing != NEVER:
            return due <= self.load.closing
        future = self.loop.create_future()
        self._agenda.at(due, future, _ring)
        return await future

    def _end(self):
        for due, future in self._agenda.take(_ring):
            if not future.done():
                future.set_result(due <= self.load.closing)

    def close(self):
        self.closed = True
        self.loop.call_soon_threadsafe(lambda: [t.cancel() for t in self._tasks])


class Deadline:
    """The deadlines of one slot's calls: one alarm, and another only where a shorter deadline needs it."""

    __slots__ = ("_agenda", "_task", "_draws", "_call", "_at", "_alarms")

    def __init__(self, agenda, task, draws, call):
        self._agenda, self._task, self._draws, self._call = agenda, task, draws, call
        self._at, self._alarms = NEVER, []

    async def call(self, connection, slot):
        of = self._draws.classes[slot.of]
        if not of.deadline_ns:
            return await self._call(connection, slot)
        self._at = now_ns() + of.deadline_ns
        self._arm()
        try:
            return await self._call(connection, slot)
        except asyncio.CancelledError:
            if self._at != 0:
                raise
            if hasattr(self._task, "uncancel"):
                self._task.uncancel()
            raise of.late() from None
        finally:
            self._at = NEVER

    def _arm(self):
        if not self._alarms or self._at < self._alarms[-1]:
            self._alarms.append(self._at)
            self._agenda.at(self._at, None, self._ring)

    def _ring(self, _):
        self._alarms.pop()
        if self._at == NEVER:
            return
        if self._at > now_ns():
            return self._arm()
        self._at = 0
        self._task.cancel()
        return None


def _ring(future):
    if not future.done():
        future.set_result(True)


class ThreadCalls(_Calls):
    """Calls block: a thread for each slot. connect, first and call are functions, and deadlines the library's to keep."""

    def __init__(self, setup, exchange):
        super().__init__(setup, exchange)
        sys.setswitchinterval(SWITCH_S)
        self._counting = threading.Lock()
        for i in range(self.routes.count):
            try:
                connection = self.connect(i)
                self.first(connection, i, self.load.first(i))
            except Exception as e:
                raise self._explain(i, e) from None
            self._made.append(connection)

    def run(self):
        threads = [threading.Thread(target=self._drive, args=(i, slot), daemon=True)
                   for i in range(self.load.active) for slot in self.load.slots_of(i)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._check()

    def _drive(self, i, slot):
        connection, call, ended, now = self._made[i], self.call, self.load.ended, now_ns()
        while True:
            with self._counting:
                due = slot.next(now)
            if due is None:
                return
            while due > now_ns():
                if ended.wait((due - now_ns()) / 1e9) and due > self.load.closing:
                    return slot.cancel()
            sent = now_ns()
            try:
                received = call(connection, slot)
                now = now_ns()
                with self._counting:
                    slot.done(sent, now, received)
            except Exception as e:
                with self._counting:
                    if not self._failed(i, slot, e):
                        return None
                now = now_ns()

    def close(self):
        self.closed = True
        for connection in self._made:
            self.end(connection)

    def end(self, connection):
        """Breaks a connection off."""
