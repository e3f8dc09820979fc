#!/usr/bin/env python3
"""Each arm against a bare program on its library (workers/rust/ARM/examples), in turns.

    ./bench.py [ROUNDS] [TRANSPORT...]

Clients are compared by the arm's server, servers by a bare client: rate of the arm ÷ rate of the bare program, and CPU
time per exchange of the bare program ÷ that of the arm, which a busy machine disturbs less; each with the 95 % interval
of the logarithm's mean over the rounds. Both have one thread and 50 connections, and carry 100 bytes
each way. The programs are in $TARGET/release.
"""
import json, math, os, statistics, subprocess, sys, time

CONNECTIONS, BYTES, SECONDS = 50, 100, 1.0
EXCHANGE = {"up_bytes": BYTES, "down_bytes": BYTES}
BUILT = os.path.join(os.environ.get("TARGET", "target"), "release")
# The arm's package, and what its bare program is told beside.
ARMS = {"tokio": ("tokio", []), "monoio": ("monoio", []), "hyper-http1": ("hyper", ["1"]), "hyper-http2": ("hyper", ["2"]),
        "tonic": ("tonic", [])}


class Worker:
    def __init__(self, transport, role, **setup):
        worker = f"{BUILT}/netdyno-worker-{ARMS[transport][0]}"
        self.process = subprocess.Popen([worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.expect("hello")
        self.send("setup", dict(setup, trial="bench", transport=transport, role=role, seed=1, threads=1, exchange=EXCHANGE))
        self.ready = self.expect("ready")

    def send(self, name, body):
        self.process.stdin.write(json.dumps({name: body}) + "\n")
        self.process.stdin.flush()

    def expect(self, name):
        for line in self.process.stdout:
            message = json.loads(line)
            if name in message:
                return message[name]
            if "tick" not in message:
                sys.exit(f"{line} in place of {name}")
        sys.exit(f"it ended before {name}")

    def end(self):
        self.process.stdin.close()
        self.process.wait(5)


def cpu_ns(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat") as f:
            total += int(f.read().split()[0])
    return total


def share(pid):
    """CPU time of a process, in ns per second, inside the window that has just begun."""
    time.sleep(0.05 * SECONDS)
    begun, before = time.monotonic(), cpu_ns(pid)
    time.sleep(0.9 * SECONDS)
    return (cpu_ns(pid) - before) / (time.monotonic() - begun)


def kit_client(transport, address):
    """Its rate, and its CPU time per exchange."""
    w = Worker(transport, "client", peers=[address], load={"connections": CONNECTIONS})
    w.send("start", {})
    time.sleep(0.3)
    w.send("mark", {"id": 1, "reset": True})
    w.expect("mark")
    used = share(w.process.pid)
    time.sleep(0.05 * SECONDS)
    w.send("mark", {"id": 2})
    w.expect("mark")
    w.send("stop", {})
    r = w.expect("result")
    w.end()
    rate = r["inside"]["cycles"] / (r["to_ns"] - r["from_ns"]) * 1e9
    return rate, used / rate


def bare(transport, *args):
    package, more = ARMS[transport]
    return [f"{BUILT}/examples/bare_{package}", *args, *more]


def bare_client(transport, address, server=None):
    """Its rate, and CPU time per exchange, of its server's process if that is given."""
    args = bare(transport, "drive", address, "1", str(CONNECTIONS), str(BYTES), str(SECONDS))
    with subprocess.Popen(args, stdout=subprocess.PIPE, text=True) as client:
        time.sleep(0.3)  # its warm-up
        used = share(server or client.pid)
        rate = float(client.stdout.read())
    return rate, used / rate


# Student's t for a 95 % interval, by degrees of freedom from 1.
T = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13]


def ratio(values):
    logs = [math.log(v) for v in values]
    t = T[len(logs) - 2] if len(logs) < 17 else 2.1
    mean, half = statistics.mean(logs), t * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(mean):.3f} ({math.exp(mean - half):.3f} to {math.exp(mean + half):.3f})"


def say(name, pairs):
    rates = ratio([m[0] / b[0] for m, b in pairs])
    costs = ratio([b[1] / m[1] for m, b in pairs])
    least = [statistics.median(x[1] for x in of) / 1e3 for of in zip(*pairs)]
    print(f"{name} ÷ bare: rate {rates}, CPU {costs}; {least[0]:.2f} and {least[1]:.2f} µs of CPU per exchange", flush=True)


def compare(transport, rounds):
    server = Worker(transport, "server", listen="127.0.0.1:0", load={"connections": 0})
    peer = subprocess.Popen(bare(transport, "serve", "1", str(BYTES)), stdout=subprocess.PIPE, text=True)
    try:
        bare_at, kit_at = peer.stdout.readline().strip(), server.ready["addresses"][0]
        # Each comparison has bare runs of its own, so that one slow run does not move both.
        turns = {"client": (lambda: kit_client(transport, kit_at), lambda: bare_client(transport, kit_at)),
                 "server": (lambda: bare_client(transport, kit_at, server.process.pid), lambda: bare_client(transport, bare_at, peer.pid))}
        pairs = {name: [] for name in turns}
        for k in range(rounds):
            for name, (mine, other) in turns.items():
                if k % 2:
                    pairs[name].append((mine(), other()))
                else:
                    rate = other()
                    pairs[name].append((mine(), rate))
        for name, of in pairs.items():
            say(f"{transport} {name}", of)
    finally:
        peer.kill()
        server.end()


named = sys.argv[1:]
rounds = int(named.pop(0)) if named and named[0].isdigit() else 8
for transport in named or ARMS:
    compare(transport, rounds)
