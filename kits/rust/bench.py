#!/usr/bin/env python3
"""Each arm against a bare program on its library (workers/rust/ARM/examples), in turns.

    ./bench.py [ROUNDS] [TRANSPORT...]

The client is compared by a bare server, the server by a bare client: rate of the arm ÷ rate of the bare program, with
the 95 % interval of the logarithm's mean over the rounds. Both have one thread and 50 connections, and carry 100 bytes
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


def kit_client(transport, address):
    w = Worker(transport, "client", peers=[address], load={"connections": CONNECTIONS})
    w.send("start", {})
    time.sleep(0.3)
    w.send("mark", {"id": 1, "reset": True})
    w.expect("mark")
    time.sleep(SECONDS)
    w.send("mark", {"id": 2})
    w.expect("mark")
    w.send("stop", {})
    r = w.expect("result")
    w.end()
    return r["inside"]["cycles"] / (r["to_ns"] - r["from_ns"]) * 1e9


def bare(transport, *args):
    package, more = ARMS[transport]
    return [f"{BUILT}/examples/bare_{package}", *args, *more]


def bare_client(transport, address):
    return float(subprocess.check_output(bare(transport, "drive", address, "1", str(CONNECTIONS), str(BYTES), str(SECONDS)), text=True))


# Student's t for a 95 % interval, by degrees of freedom from 1.
T = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13]


def ratio(name, pairs):
    logs = [math.log(mine / bare) for mine, bare in pairs]
    t = T[len(logs) - 2] if len(logs) < 17 else 2.1
    mean, half = statistics.mean(logs), t * statistics.stdev(logs) / math.sqrt(len(logs))
    print(f"{name}: {math.exp(mean):.3f} × bare ({math.exp(mean - half):.3f} to {math.exp(mean + half):.3f}), "
          f"{statistics.median(m for m, _ in pairs):.0f} and {statistics.median(b for _, b in pairs):.0f} exchanges/s")


def compare(transport, rounds):
    server = Worker(transport, "server", listen="127.0.0.1:0", load={"connections": 0})
    peer = subprocess.Popen(bare(transport, "serve", "1", str(BYTES)), stdout=subprocess.PIPE, text=True)
    try:
        bare_at, kit_at = peer.stdout.readline().strip(), server.ready["addresses"][0]
        # Each comparison has bare runs of its own, so that one slow run does not move both.
        turns = {"client": (lambda: kit_client(transport, bare_at), lambda: bare_client(transport, bare_at)),
                 "server": (lambda: bare_client(transport, kit_at), lambda: bare_client(transport, bare_at))}
        pairs = {name: [] for name in turns}
        for k in range(rounds):
            for name, (mine, other) in turns.items():
                if k % 2:
                    pairs[name].append((mine(), other()))
                else:
                    rate = other()
                    pairs[name].append((mine(), rate))
        for name, of in pairs.items():
            ratio(f"{transport} {name}", of)
    finally:
        peer.kill()
        server.end()


named = sys.argv[1:]
rounds = int(named.pop(0)) if named and named[0].isdigit() else 8
for transport in named or ARMS:
    compare(transport, rounds)
