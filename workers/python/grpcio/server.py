"""grpcio's servers: one of threads, one on asyncio; a process for each thread asked for, which share a port by SO_REUSEPORT."""

import asyncio
import os
import socket
import threading
from concurrent import futures

import netdyno_kit as kit
from netdyno_kit.addresses import same, shut_out
from netdyno_kit.processes import EXCHANGES, INVALID, RECEIVED, SENT, SERVES, Processes, Sums, wanted

STREAM_WORKERS, UNARY_WORKERS = 4096, 10  # threads: a stream keeps one for as long as it is open
_ACCEPTS = 30  # SO_ACCEPTCONN


class Server(kit.Server):
    def __init__(self, setup):
        self.setup, self.options, self.processes = setup, setup["options"], wanted(setup)
        # Bound and never listening: the ports are this worker's before any process of it listens on them.
        self.sockets = kit.listen(setup, reuse_port=True, backlog=None)
        self.sums, self.failures = Sums(self.processes), None
        self.running = Processes(self.processes, self._serve, self)
        self.sums.await_all(lambda: self.running.failure)

    def _serve(self, i):
        from contents import Contents  # grpc's threads do not outlive a fork, so it is imported after it
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

    def count(self):
        x = self.c.x
        with self.lock:
            self.row[RECEIVED] += x.up_bytes
            self.row[SENT] += x.down_bytes
            self.row[EXCHANGES] += 1

    def refuse(self, failure):
        with self.lock:
            self.row[INVALID] += 1
        return failure.text

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
    def serve(self, arguments):
        import grpc
        workers = self.options["workers"] or (STREAM_WORKERS if self.c.talks or self.c.stream else UNARY_WORKERS)
        server = grpc.server(futures.ThreadPoolExecutor(workers), options=arguments)
        self._add(server, grpc)
        server.start()
        self.guard()
        server.wait_for_termination()

    def _add(self, server, grpc):
        c = self.c
        kind = {"Up": (grpc.stream_unary_rpc_method_handler, self.up), "Down": (grpc.unary_stream_rpc_method_handler, self.down),
                "Both": (grpc.stream_stream_rpc_method_handler, self.both)}.get(c.method)
        make, call = kind or ((grpc.stream_stream_rpc_method_handler, self.talk) if c.talks else (grpc.unary_unary_rpc_method_handler, self.unary))
        handler = make(call, type(c.up).FromString, type(c.down).SerializeToString)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("netdyno.v1.Exchange", {c.method: handler}),))
        for sock in self.sockets:
            server.add_insecure_port(kit.addresses_of([sock])[0])
        self.wrong = grpc.StatusCode.INVALID_ARGUMENT

    def checked(self, check, what, context):
        try:
            check(what, True)
        except kit.Failure as failure:
            context.abort(self.wrong, self.refuse(failure))

    def unary(self, request, context):
        self.checked(self.c.check, request, context)
        self.count()
        return self.c.down

    def talk(self, requests, context):
        for request in requests:
            self.checked(self.c.check, request, context)
            self.count()
            yield self.c.down

    def up(self, requests, context):
        self.checked(self.c.check_size, len(b"".join([r.content for r in requests])), context)
        self.count()
        return self.c.down

    def down(self, request, context):
        self.checked(self.c.check, request, context)
        yield from self.c.chunks(self.c.x.down)
        self.count()

    def both(self, requests, context):
        self.checked(self.c.check_size, len(b"".join([r.content for r in requests])), context)
        yield from self.c.chunks(self.c.x.down)
        self.count()


class Aio(Threads):
    def serve(self, arguments):
        import grpc.aio
        loop = self.setup["new_loop"]()
        asyncio.set_event_loop(loop)

        async def main():
            server = grpc.aio.server(options=arguments)
            self._add(server, grpc)
            await server.start()
            self.guard()
            await server.wait_for_termination()
        loop.run_until_complete(main())

    async def checked(self, check, what, context):
        try:
            check(what, True)
        except kit.Failure as failure:
            await context.abort(self.wrong, self.refuse(failure))

    async def unary(self, request, context):
        await self.checked(self.c.check, request, context)
        self.count()
        return self.c.down

    async def talk(self, requests, context):
        async for request in requests:
            await self.checked(self.c.check, request, context)
            self.count()
            yield self.c.down

    async def up(self, requests, context):
        await self.checked(self.c.check_size, len(b"".join([r.content async for r in requests])), context)
        self.count()
        return self.c.down

    async def down(self, request, context):
        await self.checked(self.c.check, request, context)
        for block in self.c.chunks(self.c.x.down):
            yield block
        self.count()

    async def both(self, requests, context):
        await self.checked(self.c.check_size, len(b"".join([r.content async for r in requests])), context)
        for block in self.c.chunks(self.c.x.down):
            yield block
        self.count()
