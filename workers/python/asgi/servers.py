"""uvicorn and granian around the application, in as many processes as the trial has threads."""

import asyncio
import os
import socket

import netdyno_kit as kit
from netdyno_kit.addresses import shut_out
from netdyno_kit.aio import stop_when_starved
from netdyno_kit.exchange import Exchange
from netdyno_kit.processes import CONNECTIONS, SERVES, START_S, Processes, Sums, wanted
from netdyno_kit.service import service_of

from apps import APPS, CODECS
from libraries import new_loop

IDLE_S = 24 * 3600  # a trial needs idle connections: they are not closed after the 5 s of the default


class _Server(kit.Server):
    apart = False  # the library's processes are all other ones than the worker

    def __init__(self, setup):
        self.options, self.x, self.allowed = setup["options"], Exchange(setup, CODECS), kit.Allowed(setup)
        self.sockets = kit.listen(setup)
        if self.apart:
            for sock in self.sockets:
                shut_out(sock, setup, [near(sock)[0]])
        self.processes = wanted(setup) * (len(self.sockets) if self.apart else 1)
        self.sums, self.make, self.service = Sums(self.processes, self.apart), APPS[self.options["app"]], service_of(setup, self.processes)
        self.make(self.x, self.service, self.sums.row(0))  # so that what is missing is said before ready
        self.running = Processes(self.processes, self._serve, self, self.apart)
        self.await_service(setup)

    def await_service(self, setup):
        self.sums.await_all(lambda: self.running.failure)

    def _serve(self, i):
        row = self.sums.row(i)
        self.serve(i, self.make(self.x, self.service, row), row)

    def ready(self):
        return {"addresses": kit.addresses_of(self.sockets), "threads": self.processes, **self.x.ready()}

    def counts(self):
        counts = self.sums.counts()
        if self.apart:
            del counts["connections"]  # granian does not tell
        return counts

    def close(self):
        self.running.close()


class Uvicorn(_Server):
    def serve(self, i, app, row):
        import uvicorn
        from uvicorn.protocols.http.h11_impl import H11Protocol
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
        allowed, base = self.allowed, HttpToolsProtocol if self.options["http"] == "httptools" else H11Protocol

        class Guarded(base):
            def connection_made(self, transport):
                self.admitted = allowed.accepts(transport.get_extra_info("peername"))
                if not self.admitted:
                    return transport.abort()
                row[CONNECTIONS] += 1
                return super().connection_made(transport)

            def connection_lost(self, exc):
                if self.admitted:
                    row[CONNECTIONS] -= 1
                    super().connection_lost(exc)

        config = uvicorn.Config(app, http=Guarded, loop="none", lifespan="off", access_log=False, log_level="warning", ws="none",
                                timeout_keep_alive=IDLE_S, backlog=4096, proxy_headers=False, server_header=False, date_header=True)
        loop = new_loop(self.options["loop"])
        asyncio.set_event_loop(loop)
        server = uvicorn.Server(config)
        loop.create_task(note(server, row))
        starved = stop_when_starved(loop)
        try:
            loop.run_until_complete(server.serve(self.sockets))
        except RuntimeError as e:  # the loop was stopped
            raise starved[0] if starved else e from None


class Granian(_Server):
    apart, mode = True, "1"

    def serve(self, i, app, row):
        from granian import Granian as Server
        from granian._granian import SocketHolder
        from granian.constants import HTTPModes, Interfaces, Loops, RuntimeModes
        server = Server("app", interface=Interfaces.ASGINL, http=HTTPModes(self.mode), loop=Loops(self.options["loop"]),
                        runtime_mode=RuntimeModes.mt, websockets=False, log_access=False, log_enabled=False,
                        runtime_threads=self.options["runtime_threads"], backlog=4096)
        server._ssp, server._shd = None, SocketHolder(os.dup(self.sockets[i % len(self.sockets)].fileno()), False, 4096)
        server._sso = None
        server._spawn_worker(i, server._spawn_asgi_worker, lambda: app).inner.run()  # the life of one of granian's processes, in this one

    def await_service(self, setup):
        """Asks each port with a method that nothing counts: granian does not say when it serves. Then strangers are shut out."""
        for sock in self.sockets:
            with socket.create_connection(near(sock), START_S) as probe:
                probe.sendall(b"HEAD / HTTP/1.1\r\nHost: probe\r\n\r\n")
                probe.settimeout(0.05)
                for _ in range(20 * START_S):
                    if self.running.failure:
                        raise self.running.failure
                    try:
                        probe.recv(1)  # a reply, or over HTTP/2 a close
                        break
                    except socket.timeout:
                        continue
            shut_out(sock, setup)


class GranianH2(Granian):
    mode = "2"


def near(sock):
    """Returns where this host reaches a listening socket."""
    host, port = sock.getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port


async def note(server, row):
    while not server.started:
        await asyncio.sleep(0.001)
    row[SERVES] = 1
