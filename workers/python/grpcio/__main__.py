"""netdyno-worker-grpcio: gRPC's own library for Python, with threads and on asyncio."""

import importlib

import netdyno_kit as kit
from netdyno_kit.aio import thread_check

from libraries import loop_option, require, versions

VERSIONS = versions("grpcio", "protobuf", "uvloop")
OPTIONS = (
    kit.Option("mode", "choice", "unary", "unary: an RPC for each exchange; stream: a bidirectional stream for each slot, a message each way for each exchange",
               choices=("unary", "stream")),
    kit.Option("max_message", "bytes", 0, "largest message this end receives; 0 takes the library's 4 MiB, raised to what the exchange needs", min=0, max=(1 << 31) - 1),
)
WORKERS = kit.Option("workers", "int", 0, "threads that serve RPCs, for each process; 0 takes 10, as the library's examples have, and of streams as many as come",
                     min=0, max=65536, roles=("server",), grid=("4", "50"))


class Grpc(kit.Transport):
    wire, codecs, features = "grpc:netdyno.v1", ("bytes", "proto"), kit.ECHO_FEATURES + kit.STREAM_FEATURES + ("fresh", "deadline", "methods")

    def __init__(self, name, doc, end, options):
        self.name, self.doc, self.options, self._end = name, doc, OPTIONS + options, end

    def _make(self, setup):
        require(self.name, VERSIONS, "grpcio", "protobuf", setup["options"].get("loop"))
        thread_check(setup)
        return getattr(importlib.import_module(setup["role"]), self._end)(setup)

    server = client = _make


TRANSPORTS = [
    Grpc("grpcio", "grpcio with blocking calls: a thread for each slot of a client, a pool of threads at a server", "Threads", (WORKERS,)),
    Grpc("grpc-aio", "grpcio's asyncio interface (grpc.aio)", "Aio", (loop_option("asyncio"),)),
]

if __name__ == "__main__":
    kit.main("netdyno-worker-grpcio", kit.__version__, TRANSPORTS, VERSIONS.items())
