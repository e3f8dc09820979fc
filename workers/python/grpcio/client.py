"""grpcio's clients: a channel, which is one connection, for each connection of the trial."""

import queue
import socket
import threading

import grpc
import grpc.aio

import netdyno_kit as kit
from netdyno_kit.addresses import join
from netdyno_kit.calls import AsyncCalls, ThreadCalls
from netdyno_kit.exchange import DOWN_HEADER
from netdyno_kit.mix import Drawn

from contents import SERVICE, Contents, failure_of
from libraries import new_loop

OWN = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0), ("grpc.client_idle_timeout_ms", (1 << 31) - 1)]
_KINDS = {"": "unary_unary", "up": "stream_unary", "down": "unary_stream", "both": "stream_stream"}
_ENDED = "the server ended the stream before its reply was complete"


def require_own_source(routes):
    """Raises a Failure of kind unsupported where connections are to begin at another address than the system's choice."""
    for i in range(routes.count if routes.sources else 0):
        peer, source = routes.peer(i), routes.source(i)[0]
        with socket.socket(socket.AF_INET6 if ":" in peer[0] else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(peer)
            if probe.getsockname()[0] != source:
                raise kit.Failure("unsupported", f"setup.sources has {source} and gRPC connects to {peer[0]} from {probe.getsockname()[0]}: it takes no source")


class Channel:
    """A channel of the library, its calls by class, and the open streams of its slots."""

    def __init__(self, client, i, of):
        c, make = client.c, "stream_stream" if client.c.talks else _KINDS[client.c.stream]
        self.i, self.talks = i, {}
        self.channel = of.insecure_channel(join(client.routes.peer(i)), options=c.arguments(OWN))
        self.calls = [getattr(self.channel, make)(method, type(c.up).SerializeToString, type(c.down).FromString) for method in client.methods]


class _Calls:
    """What both clients have in common."""

    in_time = True

    def __init__(self, setup, *loop):
        self.c, self.fresh = Contents(setup), bool(setup["load"].get("fresh"))
        setup["options"]["max_message"] = self.c.most
        own = f"/{SERVICE}/{self.c.method}"
        self.methods = [c["method"] if c.get("method", "").startswith("/") else own for c in setup["load"].get("classes") or [{}]]
        super().__init__(setup, self.c.x, *loop)

    def made(self, i, of):
        if i == 0:
            require_own_source(self.routes)
        return Channel(self, i, of)

    def called(self, channel, drawn):
        """Begins the call of an exchange that has one of its own. Deadlines are those of slots: a first exchange has none."""
        of, more = self.load.draws.class_of(drawn), {}
        if of and of.deadline_ns and not isinstance(drawn, Drawn):
            more["timeout"] = of.deadline_ns / 1e9
        if self.c.x.asks:
            more["metadata"] = ((DOWN_HEADER, str(drawn.down)),)
        return channel.calls[drawn.of](self.c.request(drawn), **more)


class Threads(_Calls, ThreadCalls):
    def connect(self, i):
        return self.made(i, grpc)

    def first(self, channel, i, drawn):
        self.c.verify(i, self._ask(channel, drawn), drawn)
        if drawn in channel.talks:
            channel.talks.pop(drawn)[0].put(None)

    def call(self, channel, slot):
        if not self.fresh:
            return self.c.accept(self._ask(channel, slot), slot)
        channel = self.connect(channel.i)
        try:
            return self.c.accept(self._ask(channel, slot), slot)
        finally:
            channel.channel.close()

    def _ask(self, channel, drawn):
        try:
            if self.c.talks:
                return self._talk(channel, drawn)
            reply = self.called(channel, drawn)
            return self.c.joined(reply) if self.c.stream in ("down", "both") else reply
        except grpc.RpcError as e:
            channel.talks.pop(drawn, None)
            raise failure_of(e, self.load.draws.class_of(drawn)) from None
        except StopIteration:
            raise kit.Failure("invalid", _ENDED) from None

    def _talk(self, channel, drawn):
        """Sends a message on the slot's stream, which stays open, and takes the reply."""
        if drawn not in channel.talks:
            requests = queue.SimpleQueue()
            channel.talks[drawn] = requests, channel.calls[0](iter(requests.get, None))
        requests, replies = channel.talks[drawn]
        requests.put(self.c.request(drawn))
        return next(replies)

    def end(self, channel):
        threading.Thread(target=channel.channel.close, daemon=True).start()


class Aio(_Calls, AsyncCalls):
    def __init__(self, setup):
        super().__init__(setup, lambda: new_loop(setup["options"]["loop"]))

    async def connect(self, i):
        return self.made(i, grpc.aio)

    async def first(self, channel, i, drawn):
        self.c.verify(i, await self._ask(channel, drawn), drawn)
        if drawn in channel.talks:
            await channel.talks.pop(drawn).done_writing()

    async def call(self, channel, slot):
        if not self.fresh:
            return self.c.accept(await self._ask(channel, slot), slot)
        channel = await self.connect(channel.i)
        try:
            return self.c.accept(await self._ask(channel, slot), slot)
        finally:
            await channel.channel.close()

    async def _ask(self, channel, drawn):
        c = self.c
        try:
            if c.talks:
                return await self._talk(channel, drawn)
            reply = self.called(channel, drawn)
            return c.joined([block async for block in reply]) if c.stream in ("down", "both") else await reply
        except grpc.RpcError as e:
            channel.talks.pop(drawn, None)
            raise failure_of(e, self.load.draws.class_of(drawn)) from None

    async def _talk(self, channel, drawn):
        talk = channel.talks.get(drawn)
        if talk is None:
            talk = channel.talks[drawn] = channel.calls[0]()
        await talk.write(self.c.request(drawn))
        reply = await talk.read()
        if reply is grpc.aio.EOF:
            raise kit.Failure("invalid", _ENDED)
        return reply
