#!/usr/bin/env python3
"""Transport tokio against a bare program on tokio (workers/rust/tokio/examples/bare.rs), in turns.

The client is compared by a bare server, the server by a bare client: rate of transport tokio ÷ rate of the bare
program, with the 95 % interval of the logarithm's mean over the rounds.
"""
import json, math, statistics, subprocess, sys, time

BARE, WORKER = "target/release/examples/bare", "target/release/netdyno-worker-tokio"
CONNECTIONS, BYTES, SECONDS, ROUNDS = 50, 100, 1.0, int(sys.argv[1]) if len(sys.argv) > 1 else 8
EXCHANGE = {"up_bytes": BYTES, "down_bytes": BYTES}


class Worker:
    def __init__(self, role, **setup):
        self.process = subprocess.Popen([WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.expect("hello")
        self.send("setup", dict(setup, trial="bench", transport="tokio", role=role, seed=1, threads=1, exchange=EXCHANGE))
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


def kit_client(address):
    w = Worker("client", peers=[address], load={"connections": CONNECTIONS})
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


def bare_client(address):
    return float(subprocess.check_output([BARE, "drive", address, "1", str(CONNECTIONS), str(BYTES), str(SECONDS)], text=True))


# Student's t for a 95 % interval, by degrees of freedom from 1.
T = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13]


def ratio(name, pairs):
    logs = [math.log(mine / bare) for mine, bare in pairs]
    t = T[len(logs) - 2] if len(logs) < 17 else 2.1
    mean, half = statistics.mean(logs), t * statistics.stdev(logs) / math.sqrt(len(logs))
    print(f"{name}: {math.exp(mean):.3f} × bare ({math.exp(mean - half):.3f} to {math.exp(mean + half):.3f}), "
          f"{statistics.median(m for m, _ in pairs):.0f} and {statistics.median(b for _, b in pairs):.0f} exchanges/s")


bare = subprocess.Popen([BARE, "serve", "1"], stdout=subprocess.PIPE, text=True)
server = Worker("server", listen="127.0.0.1:0", load={"connections": 0})
try:
    bare_at, kit_at = bare.stdout.readline().strip(), server.ready["addresses"][0]
    # Each comparison has bare runs of its own, so that one slow run does not move both.
    turns = {"client": (lambda: kit_client(bare_at), lambda: bare_client(bare_at)),
             "server": (lambda: bare_client(kit_at), lambda: bare_client(bare_at))}
    pairs = {name: [] for name in turns}
    for k in range(ROUNDS):
        for name, (mine, peer) in turns.items():
            if k % 2:
                pairs[name].append((mine(), peer()))
            else:
                rate = peer()
                pairs[name].append((mine(), rate))
    for name, of in pairs.items():
        ratio(name, of)
finally:
    bare.kill()
    server.end()
