"""Each arm against a program on the bare library, in turns: CPU time of the same work, ratio with a 95 % interval. Above 0.97 is asked.

A worker of netdyno's in C++ is the other end of both. arms.py [ARM…]; servers are named s:ARM, clients c:ARM.
"""

import json
import math
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[2]
OUT = pathlib.Path(os.environ.get("OUT") or TREE / "bin")
PATH = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (HERE, TREE / "kits" / "python", TREE / "workers" / "python" / "grpcio")))}
PAIRS, CONNECTIONS, WARM_S, FOR_S = 6, 8, 0.3, 0.6
T975 = {5: 2.571, 7: 2.365, 11: 2.201, 15: 2.131}
# by arm: our worker and transport, its options, and the other end's worker and transport
ASIO, HTTP1, GRPC = ("asio", "asio"), ("http1-asio", "http1-asio"), ("grpc-nghttp2", "grpc-nghttp2")
ARMS = {
    "s:asyncio": ("asyncio", "asyncio", {}, ASIO), "s:asyncio-uvloop": ("asyncio", "asyncio", {"loop": "uvloop"}, ASIO),
    "s:uvicorn": ("asgi", "uvicorn", {}, HTTP1),
    "s:grpcio": ("grpcio", "grpcio", {}, GRPC), "s:grpc-aio": ("grpcio", "grpc-aio", {}, GRPC),
    "c:asyncio": ("asyncio", "asyncio", {}, ASIO), "c:asyncio-uvloop": ("asyncio", "asyncio", {"loop": "uvloop"}, ASIO),
    "c:aiohttp": ("asgi", "aiohttp", {}, HTTP1), "c:grpc-aio": ("grpcio", "grpc-aio", {}, GRPC),
}


class Worker:
    """A worker of netdyno's at one end."""

    def __init__(self, worker, transport, role, options=(), **more):
        self.process = subprocess.Popen([str(OUT / ("netdyno-worker-" + worker))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.say({"setup": {"trial": "bench", "transport": transport, "role": role, "seed": 1, "threads": 1, "exchange": {"up_bytes": 100, "down_bytes": 100},
                            "options": dict(options), "load": {"connections": CONNECTIONS if role == "client" else 0}, **more}})
        self.ready = self.next("ready")

    def say(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def next(self, name):
        for line in self.process.stdout:
            message = json.loads(line)
            if name in message:
                return message[name]
            assert "error" not in message, message
        raise AssertionError(f"it ended before {name}")

    def read(self, mark, reset):
        self.say({"mark": {"id": mark, "reset": reset}})
        return self.next("mark")["reading"]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def tree_cpu(pid):
    """Returns the CPU time of a process and its children, in ns."""
    pids, total = [pid], 0
    for one in pids:
        with open(f"/proc/{one}/task/{one}/children") as f:
            pids += [int(p) for p in f.read().split()]
        for task in os.listdir(f"/proc/{one}/task"):
            with open(f"/proc/{one}/task/{task}/schedstat") as f:
                total += int(f.read().split()[0])
            if int(task) != one:
                with open(f"/proc/{one}/task/{task}/children") as f:
                    pids += [int(p) for p in f.read().split()]
    return total


def load(client, pid):
    """Loads a server for a second, and returns its CPU time for each exchange, in ns."""
    client.say({"start": {}})
    time.sleep(WARM_S)
    before, cpu = client.read(1, True), tree_cpu(pid)
    time.sleep(FOR_S)
    cpu = tree_cpu(pid) - cpu
    return cpu / (client.read(2, False)["counts"]["exchanges"] - before["counts"]["exchanges"])


def bare_server(name):
    process = subprocess.Popen([sys.executable, str(HERE / "bare.py"), name], stdout=subprocess.PIPE, text=True, env=PATH, cwd=HERE)
    address = process.stdout.readline().strip()
    host, port = address.split(":")
    while socket.socket().connect_ex((host, int(port))):  # a bare program does not say when it listens
        time.sleep(0.01)
    time.sleep(WARM_S)
    return process, address


def serve(name, ours):
    worker, transport, options, other = ARMS["s:" + name]
    if ours:
        server = Worker(worker, transport, "server", options, listen="127.0.0.1:0")
        process, address = server.process, server.ready["addresses"][0]
    else:
        process, address = bare_server(name)
    client = Worker(*other, "client", peers=[address])
    try:
        return load(client, process.pid)
    finally:
        client.end()
        process.terminate()
        process.wait()


def drive(name, ours):
    worker, transport, options, other = ARMS["c:" + name]
    server = Worker(*other, "server", listen="127.0.0.1:0")
    address = server.ready["addresses"][0]
    try:
        if not ours:
            told = subprocess.run([sys.executable, str(HERE / "bare.py"), name, address], stdout=subprocess.PIPE, text=True, env=PATH, cwd=HERE, check=True)
            exchanges, cpu = map(int, told.stdout.split())
            return cpu / exchanges
        client = Worker(worker, transport, "client", options, peers=[address])
        try:
            return load(client, client.process.pid)
        finally:
            client.end()
    finally:
        server.end()


def main(names):
    for name in names or ARMS:
        of = serve if name.startswith("s:") else drive
        pairs = []
        for i in range(PAIRS):
            both = {ours: of(name[2:], ours) for ours in ((True, False) if i % 2 else (False, True))}
            pairs.append((both[False], both[True]))
        logs = [math.log(bare / ours) for bare, ours in pairs]
        half = T975[PAIRS - 1] * statistics.stdev(logs) / math.sqrt(PAIRS)
        ratio, low, high = (math.exp(statistics.mean(logs) + d) for d in (0, -half, half))
        bare, ours = (statistics.median(p[i] for p in pairs) / 1000 for i in (0, 1))
        print(f"{name}: {ratio:.3f} ({low:.3f}–{high:.3f}) of the bare library; CPU {ours:.1f} µs an exchange, bare {bare:.1f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
