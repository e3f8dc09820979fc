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


def ratio(name, pairs):
    logs = [math.log(mine / bare) for mine, bare in pairs]
    mean, half = statistics.mean(logs), 2.36 * statistics.stdev(logs) / math.sqrt(len(logs))
    print(f"{name}: {math.exp(mean):.3f} × bare ({math.exp(mean - half):.3f} to {math.exp(mean + half):.3f}), "
          f"{statistics.median(m for m, _ in pairs):.0f} and {statistics.median(b for _, b in pairs):.0f} exchanges/s")


bare = subprocess.Popen([BARE, "serve", "1"], stdout=subprocess.PIPE, text=True)
server = Worker("server", listen="127.0.0.1:0", load={"connections": 0})
try:
    bare_at, kit_at = bare.stdout.readline().strip(), server.ready["addresses"][0]
    clients, servers = [], []
    for k in range(ROUNDS):
        turn = [lambda: kit_client(bare_at), lambda: bare_client(bare_at), lambda: bare_client(kit_at)]
        got = dict((i, turn[i]()) for i in (range(3) if k % 2 else reversed(range(3))))
        clients.append((got[0], got[1]))
        servers.append((got[2], got[1]))
    ratio("client", clients)
    ratio("server", servers)
finally:
    bare.kill()
    server.end()
