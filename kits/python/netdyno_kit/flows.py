"""Wires echo and stream on asyncio protocols. Each connection is one object; its event loop's thread uses it."""

import asyncio
from collections import deque

from .content import CHUNK, Matcher, block, check_sizes, random
from .failure import Failure, failure_of
from .processes import CONNECTIONS, EXCHANGES, RECEIVED, SENT
from .slot import now_ns


_SURPLUS = "more came than was asked for"


class Work:
    """The exchange of a trial as wires echo and stream see it. It never changes."""

    def __init__(self, setup):
        exchange = setup["exchange"]
        check_sizes(exchange)
        if exchange.get("stream") and (exchange.get("up_sizes") or exchange.get("down_sizes") or setup["load"].get("classes")):
            raise Failure("unsupported", "sizes vary: wire stream has no headers by which messages of several sizes could be told apart")
        self.up, self.down = exchange["up_bytes"], exchange["down_bytes"]
        self.stream, self.varies = exchange.get("stream", ""), bool(exchange.get("up_sizes"))
        self.chunk = exchange.get("chunk_bytes") or CHUNK
        if self.stream:
            self.up_block, self.down_block = (block(d, n, self.chunk) for d, n in (("up", self.up), ("down", self.down)))
            self.up_chunk = self.chunk if self.stream != "down" else self.up
            self.down_chunk = self.chunk if self.stream != "up" else self.down
        else:
            self.up_block = self.down_block = random("u", self.up)

    def message(self, size):
        """Returns a message of wire echo."""
        return self.up_block if size == self.up else self.up_block[:size]


class Pump:
    """Writes a message again and again, as far as it is owed, in pieces, while the transport takes them."""

    __slots__ = ("_block", "_size", "_chunk", "transport", "owed", "sent", "paused", "_at", "begin", "end")

    def __init__(self, block_, size, chunk, begin=None, end=None):
        self._block, self._size, self._chunk = memoryview(block_), size, chunk
        self.transport, self.owed, self.sent, self.paused, self._at = None, 0, 0, False, 0
        self.begin, self.end = begin, end  # called before a message's first piece and after its last

    def pump(self):
        while not self.paused and self.sent < self.owed:
            if not self._at and self.begin:
                self.begin()
            first = self._at % len(self._block)
            n = min(len(self._block) - first, self._chunk, self._size - self._at, self.owed - self.sent)
            self.transport.write(self._block[first:first + n])
            self.sent += n
            self._at += n
            if self._at == self._size:
                self._at = 0
                if self.end:
                    self.end()


class _Connection(asyncio.Protocol):
    """A server's connection: refuses strangers and counts."""

    def __init__(self, server, row):
        self.server, self.row, self.transport, self.refused = server, row, None, False

    def connection_made(self, transport):
        self.transport = transport
        if not self.server.allowed.accepts(transport.get_extra_info("peername")):
            self.refused = True
            transport.abort()
            return
        self.row[CONNECTIONS] += 1
        self.begin()

    def connection_lost(self, exc):
        if not self.refused:
            self.row[CONNECTIONS] -= 1

    def begin(self):
        pass


class EchoServer(_Connection):
    """Returns what comes."""

    def begin(self):
        self.write = self.transport.write

    def data_received(self, data):
        self.row[RECEIVED] += len(data)  # which is what is sent, too
        self.write(data)

    def pause_writing(self):
        self.transport.pause_reading()

    def resume_writing(self):
        self.transport.resume_reading()


class StreamServer(_Connection):
    """Answers each message up with one down, as stream says."""

    def begin(self):
        work = self.server.work
        self.work, self.came, self.match = work, 0, Matcher(work.up_block, work.up)
        self.pump = Pump(work.down_block, work.down, work.down_chunk, end=self._answered)
        self.pump.transport = self.transport

    def data_received(self, data):
        self.row[RECEIVED] += len(data)
        if self.match:
            try:
                self.match.take(data[:self.match.left])
            except Failure:
                return self.transport.abort()
            if not self.match.left:
                self.match = None
        self.came += len(data)
        work, pump = self.work, self.pump
        whole, part = divmod(self.came, work.up)
        pump.owed = whole * work.down
        if part and work.stream == "both":
            pump.owed += work.down - 1
        self._pump()
        return None

    def _pump(self):
        before = self.pump.sent
        self.pump.pump()
        self.row[SENT] += self.pump.sent - before

    def _answered(self):
        self.row[EXCHANGES] += 1

    def pause_writing(self):
        self.pump.paused = True

    def resume_writing(self):
        self.pump.paused = False
        self._pump()


class _Working:
    """Before a server's protocol: what has come is held back until the work for its exchange is done. A message at a time is taken."""

    def begin(self):
        super().begin()
        self.waiting, self.part, self.held = bytearray(), 0, False

    def data_received(self, data):
        self.waiting += data
        self.turn()

    def turn(self):
        service, size, waiting = self.server.service, self.server.work.up, self.waiting
        while waiting and not self.held:
            piece = bytes(waiting[:size - self.part])
            del waiting[:len(piece)]
            self.part = (self.part + len(piece)) % size
            if self.part == 0 and service.sleeps:
                self.held = True
                self.transport.pause_reading()
                service.agenda(asyncio.get_running_loop()).at(now_ns() + service.next(), piece, self.rested)
            else:
                if self.part == 0:
                    service.serve()
                super().data_received(piece)

    def rested(self, piece):
        if self.transport.is_closing():
            return
        self.held = False
        super().data_received(piece)
        self.transport.resume_reading()
        self.turn()


class _WorkingEcho(_Working, EchoServer):
    pass


class _WorkingStream(_Working, StreamServer):
    pass


def server_protocol(work, service):
    """Returns the protocol of a server's connections. A Failure of kind unsupported says why there is none."""
    if service and work.varies:
        raise Failure("unsupported", "work is given and sizes vary: a server of wire echo does not see where a message ends, which begins its work")
    kinds = (EchoServer, StreamServer) if not service else (_WorkingEcho, _WorkingStream)
    return kinds[bool(work.stream)]


class ClientConnection(asyncio.Protocol):
    """A client's connection: its first exchange, which is verified, and then those of its slots."""

    def __init__(self, client, i):
        self.client, self.i, self.transport, self.lost = client, i, None, None
        self.slots, self.flying, self.got = client.load.slots_of(i), deque(), 0
        self.verified = client.loop.create_future()
        self.match = None

    def connection_made(self, transport):
        self.transport = transport
        self.write = transport.write
        self.verify()

    def data_received(self, data):
        if self.match is not None:
            return self._compare(data)
        return self.received(data)

    def _compare(self, data):
        match = self.match
        try:
            if len(data) > match.left:
                raise Failure("invalid", _SURPLUS)
            match.take(data)
        except Failure as failure:
            return self.fault(failure)
        if not match.left:
            self.match = None
            if not self.verified.done():
                self.verified.set_result(None)
        return None

    def begin(self):
        """Takes up the load."""
        for slot in self.slots:
            if not self.lost:
                self.go(slot, now_ns())
            elif slot.next(now_ns()) is not None:
                slot.fail(self.lost)
        if self.lost:
            self.client.lose(self, len(self.slots))

    def go(self, slot, now):
        """Has the slot make its next exchange, when that is due."""
        due = slot.next(now)
        if due is None:
            self.client.let_go()
        elif due <= now:
            self.send(slot)
        else:
            self.client.agenda.at(due, (self, slot), awake)

    def fault(self, failure):
        """Ends the connection: what is in flight on it has failed."""
        if self.lost:
            return
        self.lost = failure
        if not self.verified.done():
            self.verified.set_exception(failure)
        self.transport.abort()
        self.ended()

    def connection_lost(self, exc):
        if not self.lost:
            self.lost = failure_of(exc)
            if not self.verified.done():
                self.verified.set_exception(self.lost)
            self.ended()

    def ended(self):
        """Fails what is in flight, once the load runs."""
        if not self.client.running:
            return
        flying, self.flying = self.flying, deque()
        for entry in flying:
            if self.client.closed:
                entry[0].abandon()
            else:
                entry[0].fail(self.lost)
        self.client.lose(self, len(flying))


def awake(of):
    """Sends an exchange that is due."""
    connection, slot = of
    if connection.lost:
        slot.fail(connection.lost) if slot.pending <= now_ns() else slot.cancel()
        connection.client.let_go()
    else:
        connection.send(slot)


class EchoClient(ClientConnection):
    """Sends messages of wire echo, and takes them back in order."""

    def verify(self):
        size = self.client.load.draws.of(self.i).up
        self.match = Matcher(self.client.work.up_block, size)
        self.write(self.client.work.message(size))

    def send(self, slot):
        size = slot.up
        message = self.client.work.message(size)
        self.flying.append((slot, now_ns(), size))
        self.write(message)

    def received(self, data):
        got, flying = self.got + len(data), self.flying
        while flying:
            slot, sent, size = flying[0]
            if got < size:
                break
            if got > size and len(flying) == 1:
                return self.fault(Failure("invalid", _SURPLUS))
            now = now_ns()
            flying.popleft()
            slot.done(sent, now, size)
            got -= size
            self.go(slot, now)
            if self.lost:
                return None
        if got and not flying:
            return self.fault(Failure("invalid", _SURPLUS))
        self.got = got
        return None


class StreamClient(ClientConnection):
    """Sends messages of wire stream in chunks, and counts what comes down."""

    def verify(self):
        work = self.client.work
        self.queue, self.sent = deque(), 0
        self.pump = Pump(work.up_block, work.up, work.up_chunk, begin=self._begun)
        self.pump.transport = self.transport
        self.match = Matcher(work.down_block, work.down)
        self.queue.append(None)
        self._owe()

    def _owe(self):
        self.pump.owed += self.client.work.up
        self.pump.pump()

    def _begun(self):
        slot = self.queue.popleft()
        if slot is not None:
            self.flying.append([slot, now_ns()])

    def send(self, slot):
        self.queue.append(slot)
        self._owe()

    def received(self, data):
        got, size, flying = self.got + len(data), self.client.work.down, self.flying
        while got >= size and flying:
            if got > size and len(flying) == 1:
                return self.fault(Failure("invalid", _SURPLUS))
            slot, sent = flying.popleft()
            now = now_ns()
            slot.done(sent, now, size)
            got -= size
            self.go(slot, now)
            if self.lost:
                return None
        self.got = got
        if got and not flying:
            return self.fault(Failure("invalid", _SURPLUS))
        return None

    def ended(self):
        if self.client.running:
            for slot in self.queue:
                if slot is not None:
                    self.flying.append((slot, 0))
            self.queue.clear()
        super().ended()

    def pause_writing(self):
        self.pump.paused = True

    def resume_writing(self):
        self.pump.paused = False
        self.pump.pump()
