"""The clients of wires echo and stream on asyncio protocols."""

import asyncio
from collections import deque

from .content import Matcher
from .failure import Failure, failure_of
from .flows import Pump
from .slot import now_ns

_SURPLUS = "more came than was asked for"


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
        size = self.client.load.first(self.i).up
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


class LoneEchoClient(EchoClient):
    """An EchoClient for a closed loop of one slot, whose messages are of one size: the same exchanges, with less to look up."""

    def begin(self):
        self.slot, self.size, self.message, self.sent = self.slots and self.slots[0], self.client.work.up, self.client.work.up_block, 0
        super().begin()

    def send(self, slot):
        self.flying.append((slot,))  # it stays there: one exchange is in flight as long as the load goes on
        self.sent = now_ns()
        self.write(self.message)

    def received(self, data):
        self.got += len(data)
        if self.got < self.size:
            return None
        if self.got > self.size or not self.flying:
            return self.fault(Failure("invalid", _SURPLUS))
        now, slot = now_ns(), self.slot
        self.got = 0
        slot.done(self.sent, now, self.size)
        if slot.next(now) is None:
            self.flying.clear()
            return self.client.let_go()
        self.sent = now_ns()
        self.write(self.message)
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


def client_protocol(work, load):
    """Returns the protocol of a client's connections."""
    if work.stream:
        return StreamClient
    return EchoClient if load.in_flight > 1 or load.rate or load.think or load.draws.vary else LoneEchoClient
