"""netdyno-worker-grpcio: gRPC's own library for Python, with threads and on asyncio."""

import importlib
import importlib.metadata

import netdyno_kit as kit
from netdyno_kit.aio import thread_check

CURE = "have it by: make -C kits/python build"


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


VERSIONS = {name: version(name) for name in ("grpcio", "protobuf", "uvloop")}
OPTIONS = (
    kit.Option("mode", "choice", "unary", "unary: an RPC for each exchange; stream: a bidirectional stream for each slot, a message each way for each exchange",
               choices=("unary", "stream")),
    kit.Option("max_message", "bytes", 0, "largest message this end receives; 0 takes the library's 4 MiB, raised to what the exchange needs", min=0, max=(1 << 31) - 1),
)
WORKERS = kit.Option("workers", "int", 0, "threads that serve RPCs, for each process; 0 takes 10, as the library's examples have, and of streams as many as come",
                     min=0, max=65536, roles=("server",), grid=("4", "50"))
LOOP = kit.Option("loop", "choice", "asyncio", "event loop: asyncio's own, or uvloop", choices=("asyncio", "uvloop"), grid=("asyncio", "uvloop"))


def new_loop(name):
    """Returns an event loop by its name."""
    return importlib.import_module("uvloop" if name == "uvloop" else "asyncio").new_event_loop()


class Grpc(kit.Transport):
    wire, codecs, features = "grpc:netdyno.v1", ("bytes", "proto"), kit.ECHO_FEATURES + kit.STREAM_FEATURES + ("fresh", "deadline", "methods")

    def __init__(self, name, doc, end, options):
        self.name, self.doc, self.options, self._end = name, doc, OPTIONS + options, end

    def _prepare(self, setup):
        for name in ("grpcio", "protobuf") + (("uvloop",) if setup["options"].get("loop") == "uvloop" else ()):
            if not VERSIONS[name]:
                raise kit.Failure("unsupported", f"transport {self.name} needs module {name}, which is not installed; {CURE}")
        thread_check(setup)
        return lambda: new_loop(setup["options"]["loop"])

    def server(self, setup):
        setup["new_loop"] = self._prepare(setup)
        return getattr(importlib.import_module("server"), self._end)(setup)

    def client(self, setup):
        loop = self._prepare(setup)
        return getattr(importlib.import_module("client"), self._end)(setup, *([loop] if self._end == "Aio" else []))


TRANSPORTS = [
    Grpc("grpcio", "grpcio with blocking calls: a thread for each slot of a client, a pool of threads at a server", "Threads", (WORKERS,)),
    Grpc("grpc-aio", "grpcio's asyncio interface (grpc.aio)", "Aio", (LOOP,)),
]

if __name__ == "__main__":
    kit.main("netdyno-worker-grpcio", kit.__version__, TRANSPORTS, VERSIONS.items())
