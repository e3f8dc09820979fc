"""netdyno-worker-asyncio: wires echo and stream by asyncio protocols, on asyncio's loop or on uvloop."""

import socket

import netdyno_kit as kit
from netdyno_kit.aio import LoopClient, LoopServer, thread_check

from libraries import loop_option, new_loop, require, versions

VERSIONS = versions("uvloop")


def buffers(options):
    """Returns the options of setsockopt; 0 leaves a buffer to the kernel."""
    of = ((socket.SO_SNDBUF, options["send_buffer"]), (socket.SO_RCVBUF, options["receive_buffer"]))
    return [(socket.SOL_SOCKET, name, value) for name, value in of if value]


class Asyncio(kit.Transport):
    name, wire, delivery = "asyncio", "echo", "chunks"
    doc = "Python's asyncio with a protocol object per connection; a server has one process per thread asked for"
    features = kit.ECHO_FEATURES + kit.STREAM_FEATURES
    options = (
        loop_option("asyncio"),
        kit.Option("send_buffer", "bytes", 0, "SO_SNDBUF of each connection; 0 leaves it to the kernel", min=0, max=1 << 30),
        kit.Option("receive_buffer", "bytes", 0, "SO_RCVBUF of each connection; 0 leaves it to the kernel", min=0, max=1 << 30),
    )

    def server(self, setup):
        return self._make(LoopServer, setup)

    def client(self, setup):
        thread_check(setup)
        return self._make(LoopClient, setup)

    def _make(self, end, setup):
        name = setup["options"]["loop"]
        require(self.name, VERSIONS, name)
        return end(setup, lambda: new_loop(name), buffers(setup["options"]))


if __name__ == "__main__":
    kit.main("netdyno-worker-asyncio", kit.__version__, [Asyncio()], VERSIONS.items())
