"""Ends of wires echo and stream on an asyncio event loop, whichever one: the loop is the arm's."""

import asyncio
import threading

from .addresses import Allowed, Routes, addresses_of, listen
from .alarm import Agenda
from .clients import awake, client_protocol
from .failure import Failure, failure_of
from .flows import Work, server_protocol
from .load import Load
from .processes import RECEIVED, SERVES, Processes, Sums, wanted
from .service import service_of
from .transport import Client, Server

CONNECTING = 256
VERIFY_S = 10


class LoopServer(Server):
    """Serves by a protocol for each connection, in as many processes as setup.threads says.

    new_loop returns an event loop. protocol(server, row) makes a connection's protocol; without it those of wires echo and stream.
    """

    def __init__(self, setup, new_loop, options=()):
        self.allowed, self.work, self._new_loop, self._processes = Allowed(setup), Work(setup), new_loop, wanted(setup)
        self.service = service_of(setup, self._processes)
        self._protocol = server_protocol(self.work, self.service)
        self._sockets, self._sums = listen(setup, options=options), Sums(self._processes)
        self._running = Processes(self._processes, self._serve, self)
        self._sums.await_all(lambda: self._running.failure)

    def _serve(self, i):
        loop = self._new_loop()
        asyncio.set_event_loop(loop)
        row, starved = self._sums.row(i), stop_when_starved(loop)
        for sock in self._sockets:
            loop.run_until_complete(loop.create_server(lambda: self._protocol(self, row), sock=sock, backlog=4096))
        row[SERVES] = 1
        loop.run_forever()
        raise starved[0] if starved else Failure("bug", "the event loop ended by itself")

    def ready(self):
        return {"addresses": addresses_of(self._sockets), "threads": self._processes}

    def counts(self):
        counts = self._sums.counts()
        if not self.work.stream:
            counts["sent_bytes"] = counts["received_bytes"]
        if not self.work.stream and not self.work.varies:
            counts["exchanges"] = self._sums.total(RECEIVED) // self.work.up
        return counts

    def close(self):
        self._running.close()


def stop_when_starved(loop):
    """Has a loop stop where descriptors lack to accept a connection. It returns a list, which has the Failure then."""
    starved = []

    def fail(loop, context):
        failure = failure_of(context.get("exception"))
        if failure.kind == "setup":
            starved.append(Failure("setup", f"accept a connection: {failure.text}"))
            return loop.stop()
        return loop.default_exception_handler(context)
    loop.set_exception_handler(fail)
    return starved


class LoopClient(Client):
    """A client whose connections are protocols on one event loop, on a thread of its own."""

    def __init__(self, setup, new_loop, options=()):
        self.work, self.load, self._routes, self._options = Work(setup), Load(setup), Routes(setup), options
        self._connection = client_protocol(self.work, self.load)
        self.running = self.closed = False
        self._left, self._lost = 0, set()
        self.loop, self._connections = new_loop(), []
        threading.Thread(target=self._turn, daemon=True).start()
        asyncio.run_coroutine_threadsafe(self._connect(), self.loop).result()

    def _turn(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    async def _connect(self):
        self.agenda, self.over = Agenda(self.loop), self.loop.create_future()
        room = asyncio.Semaphore(CONNECTING)
        tasks = [asyncio.ensure_future(self._open(i, room)) for i in range(self._routes.count)]
        try:
            self._connections = await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            raise

    async def _open(self, i, room):
        async with room:
            sock = self._routes.socket(i, self._options)
            try:
                await asyncio.wait_for(self.loop.sock_connect(sock, self._routes.peer(i)), VERIFY_S)
                _, connection = await self.loop.create_connection(lambda: self._connection(self, i), sock=sock)
                await asyncio.wait_for(asyncio.shield(connection.verified), VERIFY_S)
            except asyncio.TimeoutError:
                raise Failure("timeout", f"verify connection {i + 1} of {self._routes.count}: nothing whole came for {VERIFY_S} s") from None
            except Failure as e:
                raise Failure(e.kind, f"verify connection {i + 1} of {self._routes.count} to {self._routes.peer(i)[0]}: {e.text}") from None
            except OSError as e:
                raise self._routes.failure(i, e) from None
            return connection

    def ready(self):
        return {"connections": self._routes.count, "verified": self._routes.count, "threads": 1}

    def run(self):
        asyncio.run_coroutine_threadsafe(self._run(), self.loop).result()

    async def _run(self):
        self.load.on_end.append(lambda: self.loop.call_soon_threadsafe(self._end))
        self.running, self._left = True, len(self.load.slots)
        for connection in self._connections[:self.load.active]:
            connection.begin()
        if self.load.ended.is_set():
            self._end()
        await self.over

    def let_go(self):
        """Says that a slot makes no more exchanges."""
        self._left -= 1
        self._settle()

    def lose(self, connection, slots):
        """Says that a connection has ended and with it so many slots; connections without load do not count."""
        if connection.i < self.load.active:
            self._lost.add(connection.i)
        self._left -= slots
        self._settle()

    def _settle(self):
        if self.over.done():
            return
        if len(self._lost) == self.load.active and not self.closed:
            self.over.set_exception(Failure("peer", f"every connection was lost: {self._connections[0].lost.text}"))
        elif self._left <= 0:
            self.over.set_result(None)

    def _end(self):
        """Takes back what is not due before the closing."""
        for due, of in self.agenda.take(awake):
            if due <= self.load.closing:
                awake(of)
            else:
                of[1].cancel()
                self.let_go()

    def close(self):
        self.closed = True
        self.loop.call_soon_threadsafe(self._break)

    def _break(self):
        for connection in self._connections:
            connection.transport.abort()
        if not self.over.done():
            self.over.set_result(None)


def thread_check(setup):
    """Raises a Failure of kind unsupported for a client with several threads: clients of several processes are the study's to start."""
    if setup["role"] == "client" and setup.get("threads", 0) > 1:
        raise Failure("unsupported", f"threads is {setup['threads']}: a Python process computes on one CPU at a time; use threads=1, or several clients")
