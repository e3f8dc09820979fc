"""grpcio's clients: a channel, which is one connection, for each connection of the trial."""

import queue
import socket
import threading

import grpc
import grpc.aio

import netdyno_kit as kit
from netdyno_kit.addresses import join
from netdyno_kit.calls import AsyncCalls, ThreadCalls

from contents import SERVICE, Contents, failure_of

OWN = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0), ("grpc.client_idle_timeout_ms", (1 << 31) - 1)]
_KINDS = {"": "unary_unary", "up": "stream_unary", "down": "unary_stream", "both": "stream_stream"}


def require_own_source(routes):
    """Raises a Failure of kind unsupported where connections are to begin at another address than the system's choice."""
    for i in range(routes.count if routes.sources else 0):
        peer, source = routes.peer(i), routes.source(i)[0]
        with socket.socket(socket.AF_INET6 if ":" in peer[0] else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(peer)
            if probe.getsockname()[0] != source:
                raise kit.Failure("unsupported", f"setup.sources has {source} and gRPC connects to {peer[0]} from {probe.getsockname()[0]}: it takes no source")


class _Calls:
    """What both clients have in common."""

    def __init__(self, setup, *more):
        self.c = Contents(setup)
        setup["options"]["max_message"] = self.c.most
        super().__init__(setup, self.c.x, *more)

    def channel(self, i, of):
        if i == 0:
            require_own_source(self.routes)
        channel = of.insecure_channel(join(self.routes.peer(i)), options=self.c.arguments(OWN))
        make = getattr(channel, "stream_stream" if self.c.talks else _KINDS[self.c.stream])
        return channel, make(f"/{SERVICE}/{self.c.method}", type(self.c.up).SerializeToString, type(self.c.down).FromString), {}

    def accepted(self, reply):
        self.c.check(reply, False)
        return self.c.x.down_bytes

    def joined(self, blocks, i):
        content = b"".join(blocks)
        self.c.check_size(len(content), False)
        if i is not None and content != self.c.x.down:
            raise kit.Failure("invalid", f"verify connection {i + 1}: the reply has other content than our servers send")
        return len(content)


class Threads(_Calls, ThreadCalls):
    def connect(self, i):
        return self.channel(i, grpc)

    def first(self, connection, i):
        try:
            self._exchange(connection, None, i)
        finally:
            talk = connection[2].pop(None, None)
            if talk:
                talk[0].put(None)

    def call(self, connection, slot):
        return self._exchange(connection, slot, None)

    def _exchange(self, connection, slot, i):
        c = self.c
        try:
            if c.talks:
                reply = self._talk(connection, slot)
            elif not c.stream:
                reply = connection[1](c.up)
            else:
                reply = connection[1](c.up if c.stream == "down" else c.chunks(c.x.up))
                if c.stream != "up":
                    return self.joined([block.content for block in reply], i)
        except grpc.RpcError as e:
            connection[2].pop(slot, None)
            raise failure_of(e) from None
        except StopIteration:
            raise kit.Failure("invalid", "the server ended the stream before its reply was complete") from None
        if i is not None:
            c.verify(i, reply)
        return self.accepted(reply)

    def _talk(self, connection, slot):
        """Sends a message on the slot's stream, which stays open, and takes the reply."""
        if slot not in connection[2]:
            requests = queue.SimpleQueue()
            connection[2][slot] = requests, connection[1](iter(requests.get, None))
        requests, replies = connection[2][slot]
        requests.put(self.c.up)
        return next(replies)

    def end(self, connection):
        threading.Thread(target=connection[0].close, daemon=True).start()


class Aio(_Calls, AsyncCalls):
    async def connect(self, i):
        return self.channel(i, grpc.aio)

    async def first(self, connection, i):
        await self._exchange(connection, None, i)
        talk = connection[2].pop(None, None)
        if talk:
            await talk.done_writing()

    async def call(self, connection, slot):
        return await self._exchange(connection, slot, None)

    async def _exchange(self, connection, slot, i):
        c = self.c
        try:
            if c.talks:
                talk = connection[2].get(slot)
                if talk is None:
                    talk = connection[2][slot] = connection[1]()
                await talk.write(c.up)
                reply = await talk.read()
                if reply is grpc.aio.EOF:
                    raise kit.Failure("invalid", "the server ended the stream before its reply was complete")
            elif not c.stream:
                reply = await connection[1](c.up)
            else:
                reply = connection[1](c.up if c.stream == "down" else c.chunks(c.x.up))
                if c.stream != "up":
                    return self.joined([block.content async for block in reply], i)
                reply = await reply
        except grpc.RpcError as e:
            connection[2].pop(slot, None)
            raise failure_of(e) from None
        if i is not None:
            c.verify(i, reply)
        return self.accepted(reply)


