"""Each arm against a program on the bare library: CPU time of the same work, ratio with a 95 % interval. Above 0.97 is asked.

Each block starts both anew, since two runs of one program differ by more than their turns do. They take turns of a tenth of a second: the client
of the one that waits is stopped. A worker of netdyno's in C++ is the other end of both. arms.py [ARM…]; servers are named s:ARM, clients c:ARM.
"""

import json
import math
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[2]
OUT = pathlib.Path(os.environ.get("OUT") or TREE / "bin")
PATH = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (HERE, TREE / "kits" / "python", TREE / "workers" / "python" / "grpcio")))}
BLOCKS, TURNS, CONNECTIONS, WARM_S, SETTLE_S, TURN_S, T975 = 8, 6, 8, 0.3, 0.02, 0.1, 2.365
RATE = 1000  # at a server under test, so that both have as many exchanges for each wake-up
# by arm: our worker and transport, its options, and the other end's worker and transport
ASIO, HTTP1, GRPC = ("asio", "asio"), ("http1-asio", "http1-asio"), ("grpc-nghttp2", "grpc-nghttp2")
ARMS = {
    "s:asyncio": ("asyncio", "asyncio", {}, ASIO), "s:asyncio-uvloop": ("asyncio", "asyncio", {"loop": "uvloop"}, ASIO),
    "s:uvicorn": ("asgi", "uvicorn", {}, HTTP1), "s:granian": ("asgi", "granian", {}, HTTP1),
    "s:grpcio": ("grpcio", "grpcio", {}, GRPC), "s:grpc-aio": ("grpcio", "grpc-aio", {}, GRPC),
    "c:asyncio": ("asyncio", "asyncio", {}, ASIO), "c:asyncio-uvloop": ("asyncio", "asyncio", {"loop": "uvloop"}, ASIO),
    "c:aiohttp": ("asgi", "aiohttp", {}, HTTP1), "c:grpcio": ("grpcio", "grpcio", {}, GRPC), "c:grpc-aio": ("grpcio", "grpc-aio", {}, GRPC),
}


class Worker:
    """A worker of netdyno's at one end."""

    def __init__(self, worker, transport, role, options=(), rate=0, **more):
        self.process = subprocess.Popen([str(OUT / ("netdyno-worker-" + worker))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.say({"setup": {"trial": "bench", "transport": transport, "role": role, "seed": 1, "threads": 1, "exchange": {"up_bytes": 100, "down_bytes": 100},
                            "options": dict(options), "load": {"connections": CONNECTIONS if role == "client" else 0, "rate": rate}, **more}})
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

    def exchanges(self):
        """Returns how many exchanges this end has made."""
        self.say({"mark": {"id": 1}})
        return self.next("mark")["reading"]["counts"]["exchanges"]

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


def bare(*arguments):
    return subprocess.Popen([sys.executable, str(HERE / "bare.py"), *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=PATH, cwd=HERE)


def bare_server(name):
    process = bare(name)
    address = process.stdout.readline().strip()
    host, port = address.split(":")
    while socket.socket().connect_ex((host, int(port))):  # a bare program does not say when it listens
        time.sleep(0.01)
    return process, address


class Side:
    """One of the two that are compared: a server and a client, one of them under test, the other a worker of ours that counts."""

    def __init__(self, arm, ours):
        worker, transport, options, other = ARMS[arm]
        self.workers, name = [], arm[2:]
        if arm.startswith("s:"):
            if ours:
                server = self._worker(worker, transport, "server", options, listen="127.0.0.1:0")
                self.tested, address = server.process, server.ready["addresses"][0]
            else:
                self.tested, address = bare_server(name)
            self.counter = self._worker(*other, "client", rate=RATE, peers=[address])
            self.client = self.counter.process
            self.counter.say({"start": {}})
        else:
            self.counter = self._worker(*other, "server", listen="127.0.0.1:0")
            address = self.counter.ready["addresses"][0]
            if ours:
                client = self._worker(worker, transport, "client", options, peers=[address])
                self.client = client.process
                client.say({"start": {}})
            else:
                self.client = bare(name, address)
            self.tested = self.client
        while self.counter.exchanges() < 10 * CONNECTIONS:  # a bare program does not say when it is ready
            time.sleep(0.02)
        time.sleep(WARM_S)
        self.client.send_signal(signal.SIGSTOP)

    def _worker(self, *of, **more):
        self.workers.append(Worker(*of, **more))
        return self.workers[-1]

    def turn(self):
        """Returns the CPU time of an exchange, in ns."""
        self.client.send_signal(signal.SIGCONT)
        time.sleep(SETTLE_S)
        made, cpu = self.counter.exchanges(), tree_cpu(self.tested.pid)
        time.sleep(TURN_S)
        made, cpu = self.counter.exchanges() - made, tree_cpu(self.tested.pid) - cpu
        self.client.send_signal(signal.SIGSTOP)
        return cpu / max(1, made)

    def end(self):
        self.client.send_signal(signal.SIGCONT)
        for worker in reversed(self.workers):
            worker.end()
        self.tested.terminate()
        self.tested.wait()


def block(arm, order):
    """Returns the CPU time of an exchange, in ns, of the bare program and of ours."""
    sides = {ours: Side(arm, ours) for ours in order}
    try:
        turns = [{ours: sides[ours].turn() for ours in (order if i % 2 else order[::-1])} for i in range(TURNS)]
    finally:
        for side in sides.values():
            side.end()
    return [statistics.median(turn[ours] for turn in turns) for ours in (False, True)]


def main(names):
    for name in names or ARMS:
        blocks = [block(name, (i % 2 == 0, i % 2 == 1)) for i in range(BLOCKS)]
        logs = [math.log(theirs / ours) for theirs, ours in blocks]
        half = T975 * statistics.stdev(logs) / math.sqrt(BLOCKS)
        ratio, low, high = (math.exp(statistics.mean(logs) + d) for d in (0, -half, half))
        bare_us, ours_us = (statistics.median(b[i] for b in blocks) / 1000 for i in (0, 1))
        print(f"{name}: {ratio:.3f} ({low:.3f}–{high:.3f}) of the bare library; CPU {ours_us:.1f} µs an exchange, bare {bare_us:.1f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
