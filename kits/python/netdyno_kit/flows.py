"""Wires echo and stream on asyncio protocols, and their servers. Each connection is one object; its event loop's thread uses it."""

import asyncio

from .content import CHUNK, Matcher, block, check_sizes, random
from .failure import Failure
from .processes import CONNECTIONS, EXCHANGES, RECEIVED, SENT
from .slot import now_ns


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
