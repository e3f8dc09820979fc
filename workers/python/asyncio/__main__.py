"""netdyno-worker-asyncio: wires echo and stream by asyncio protocols, on asyncio's loop or on uvloop."""

import asyncio
import socket

import netdyno_kit as kit
from netdyno_kit.aio import LoopClient, LoopServer, thread_check

try:
    import uvloop
except ImportError:
    uvloop = None


def new_loop(name):
    """Returns an event loop by its name. A Failure of kind unsupported says how to have it."""
    if name == "asyncio":
        return asyncio.new_event_loop()
    if not uvloop:
        raise kit.Failure("unsupported", "option loop is uvloop, and module uvloop is not installed; have it by: make -C kits/python build")
    return uvloop.new_event_loop()


def buffers(options):
    """Returns the options of setsockopt; 0 leaves a buffer to the kernel."""
    of = ((socket.SO_SNDBUF, options["send_buffer"]), (socket.SO_RCVBUF, options["receive_buffer"]))
    return [(socket.SOL_SOCKET, name, value) for name, value in of if value]


class Asyncio(kit.Transport):
    name, wire, delivery = "asyncio", "echo", "chunks"
    doc = "Python's asyncio with a protocol object per connection; a server has one process per thread asked for"
    features = kit.ECHO_FEATURES + kit.STREAM_FEATURES
    options = (
        kit.Option("loop", "choice", "asyncio", "event loop: asyncio's own, or uvloop, which is libuv's", choices=("asyncio", "uvloop"), grid=("asyncio", "uvloop")),
        kit.Option("send_buffer", "bytes", 0, "SO_SNDBUF of each connection; 0 leaves it to the kernel", min=0, max=1 << 30),
        kit.Option("receive_buffer", "bytes", 0, "SO_RCVBUF of each connection; 0 leaves it to the kernel", min=0, max=1 << 30),
    )

    def server(self, setup):
        new_loop(setup["options"]["loop"]).close()
        return LoopServer(setup, lambda: new_loop(setup["options"]["loop"]), buffers(setup["options"]))

    def client(self, setup):
        thread_check(setup)
        return LoopClient(setup, lambda: new_loop(setup["options"]["loop"]), buffers(setup["options"]))


if __name__ == "__main__":
    kit.main("netdyno-worker-asyncio", kit.__version__, [Asyncio()], [("uvloop", getattr(uvloop, "__version__", ""))])
