"""grpcio's servers: one of threads, one on asyncio; a process for each thread asked for, which share a port by SO_REUSEPORT."""

import asyncio
import os
import socket
import sys
import threading
from concurrent import futures

import netdyno_kit as kit
from netdyno_kit.addresses import same, shut_out
from netdyno_kit.processes import EXCHANGES, INVALID, RECEIVED, SENT, SERVES, SWITCH_S, Processes, Sums, wanted
from netdyno_kit.service import service_of

from libraries import new_loop

STREAM_WORKERS, UNARY_WORKERS = 4096, 10  # threads: a stream keeps one for as long as it is open
_ACCEPTS = 30  # SO_ACCEPTCONN


class Server(kit.Server):
    def __init__(self, setup):
        self.setup, self.options, self.processes = setup, setup["options"], wanted(setup)
        # Bound and never listening: the ports are this worker's before any process of it listens on them.
        self.sockets = kit.listen(setup, reuse_port=True, backlog=None)
        self.sums, self.service = Sums(self.processes), service_of(setup, self.processes)
        self.running = Processes(self.processes, self._serve, self)
        self.sums.await_all(lambda: self.running.failure)

    def _serve(self, i):
        from contents import Contents  # grpc's threads do not outlive a fork, so it is imported after it
        sys.setswitchinterval(SWITCH_S)
        self.c, self.row, self.lock = Contents(self.setup), self.sums.row(i), threading.Lock()
        if i == 0:
            self.options["max_message"] = self.c.most
        self.serve([(f"grpc.{name}", value) for name, value in (("so_reuseport", 1),)] + self.c.arguments())

    def guard(self):
        """Shuts strangers out of the library's listening sockets, and lets many connections wait there."""
        mine, guarded = [s.getsockname() for s in self.sockets], set()
        for entry in os.listdir("/proc/self/fd"):
            try:
                sock = socket.socket(fileno=os.dup(int(entry)))
            except OSError:
                continue  # no socket, or closed since
            with sock:
                if sock.family not in (socket.AF_INET, socket.AF_INET6) or not sock.getsockopt(socket.SOL_SOCKET, _ACCEPTS):
                    continue
                ours = [m for m in mine if same(m, sock.getsockname())]
                if ours:
                    shut_out(sock, self.setup)
                    sock.listen(4096)
                    guarded.add(ours[0])
        if len(guarded) < len(mine):
            raise kit.Failure("bug", f"gRPC listens on {len(guarded)} of {len(mine)} ports as far as its sockets tell: strangers would be let in")
        self.row[SERVES] = 1

    def respond(self, request, context):
        """Returns the reply to a message, counted; None where it is refused."""
        try:
            reply, received, sent = self.c.respond(request, context)
        except kit.Failure as failure:
            with self.lock:
                self.row[INVALID] += 1
            context.set_code(self.wrong)
            context.set_details(failure.text)
            return None
        with self.lock:
            self.row[RECEIVED] += received
            self.row[SENT] += sent
            self.row[EXCHANGES] += 1
        return reply

    def replies(self, request, context):
        """Returns what a stream answers to a message."""
        reply = self.respond(request, context)
        return [] if reply is None else self.c.chunks(reply) if self.c.stream else [reply]

    def ready(self):
        from contents import Contents
        c = Contents(self.setup)
        return {"addresses": kit.addresses_of(self.sockets), "threads": self.processes, **c.x.ready(),
                "options": {**self.options, "max_message": c.most}}

    def counts(self):
        counts = self.sums.counts()
        del counts["connections"]  # the library does not tell
        return counts

    def close(self):
        self.running.close()


class Threads(Server):
    """Handlers: unary and up return a reply, stream yields those to a request, to all requests joined, or to each."""

    def serve(self, arguments):
        import grpc
        workers = self.options["workers"] or (STREAM_WORKERS if self.c.talks or self.c.stream else UNARY_WORKERS)
        server = grpc.server(futures.ThreadPoolExecutor(workers), options=arguments)
        self._add(server, grpc)
        server.start()
        self.guard()
        server.wait_for_termination()

    def _add(self, server, grpc):
        c, self.wrong = self.c, grpc.StatusCode.INVALID_ARGUMENT
        shape, call = {"": ("unary_unary", self.unary), "up": ("stream_unary", self.up), "down": ("unary_stream", self.stream),
                       "both": ("stream_stream", self.stream)}[c.stream] if not c.talks else ("stream_stream", self.stream)
        handler = getattr(grpc, shape + "_rpc_method_handler")(call, type(c.up).FromString, type(c.down).SerializeToString)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("netdyno.v1.Exchange", {c.method: handler}),))
        for sock in self.sockets:
            server.add_insecure_port(kit.addresses_of([sock])[0])

    def unary(self, request, context):
        if self.service:
            self.service.serve()
        return self.respond(request, context) or self.c.down

    def up(self, requests, context):
        return self.unary(self.c.joined(requests), context)

    def stream(self, requests, context):
        for request in requests if self.c.talks else [requests if self.c.stream == "down" else self.c.joined(requests)]:
            if self.service:
                self.service.serve()
            yield from self.replies(request, context)


class Aio(Threads):
    def serve(self, arguments):
        import grpc.aio
        loop = new_loop(self.options["loop"])
        asyncio.set_event_loop(loop)

        async def main():
            server = grpc.aio.server(options=arguments)
            self._add(server, grpc)
            await server.start()
            self.guard()
            await server.wait_for_termination()
        loop.run_until_complete(main())

    async def unary(self, request, context):
        if self.service:
            await self.service.serve_on_loop()
        return self.respond(request, context) or self.c.down

    async def up(self, requests, context):
        return await self.unary(self.c.joined([request async for request in requests]), context)

    async def stream(self, requests, context):
        async for request in requests if self.c.talks else self._whole(requests):
            if self.service:
                await self.service.serve_on_loop()
            for reply in self.replies(request, context):
                yield reply

    async def _whole(self, requests):
        yield requests if self.c.stream == "down" else self.c.joined([request async for request in requests])
