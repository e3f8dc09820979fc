#!/usr/bin/env python3
"""A whole netdyno worker in Python's standard library: transport py-echo on wire echo (see ../CONTRACT.md).

A thread per connection and one exchange in flight on each: it shows the contract, not how to be fast.
"""
import base64, collections, itertools, json, math, os, random, socket, struct, sys, threading, time, zlib

MAX_LINE, MAX_NS, lock, now = 1 << 20, 300_000_000_000, threading.RLock(), time.monotonic_ns
HELLO = {"contract": 1, "worker": "worker.py", "version": "1", "transports": [{
    "name": "py-echo", "doc": "Echo over TCP, a Python thread per connection.", "wire": "echo",
    "roles": ["server", "client"], "delivery": "message", "options": []}]}

class Failure(Exception):
    """A fatal error of the worker: kind, text."""

def send(name, body):
    with lock:
        print(json.dumps({name: body}), flush=True)

def fail(kind, text):
    with lock:  # held to the end: nothing is said after a fatal error
        send("error", {"kind": kind, "text": str(text), "fatal": True})
        os._exit(1)

def encode(times):
    """An HdrHistogram of times in ns: V2, compressed, base64."""
    counts, payload, index = collections.Counter(), bytearray(), 0
    for v in (min(max(int(t), 0), MAX_NS) for t in times):
        shift = max(0, v.bit_length() - 11)
        counts[shift * 1024 + (v >> shift)] += 1
    for at in sorted(counts) or [0]:
        gap, index = at - index, at + 1
        for n in ([-gap] if gap > 1 else [0] * gap) + [counts[at]]:
            z = 2 * n if n >= 0 else -2 * n - 1
            while z > 127:
                payload.append(z & 127 | 128)
                z >>= 7
            payload.append(z)
    packed = zlib.compress(struct.pack(">iiiiqqd", 0x1c849313, len(payload), 0, 3, 1, MAX_NS, 1.0) + payload)
    return base64.b64encode(struct.pack(">ii", 0x1c849314, len(packed)) + packed).decode()

def address(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)

class Server:
    def __init__(self, setup):
        (host, port), self.allow = address(setup["listen"]), setup.get("allow")
        self.up, self.bytes, self.running, self.ready = setup["exchange"]["up_bytes"], 0, True, {"addresses": []}
        for i in range(setup.get("listeners") or 1):
            listener = socket.create_server((host, port and port + i), backlog=4096)
            self.ready["addresses"].append("%s:%d" % listener.getsockname())
            threading.Thread(target=self.accept, args=(listener,), daemon=True).start()
    def accept(self, listener):
        while True:
            sock, (host, _) = listener.accept()
            if self.allow and host not in self.allow:
                sock.close()
            else:
                threading.Thread(target=self.echo, args=(sock,), daemon=True).start()
    def echo(self, sock):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while data := sock.recv(1 << 16):
                with lock:
                    self.bytes += len(data)
                sock.sendall(data)
        except OSError:
            pass  # the client's counts tell of it
        sock.close()
    def counts(self): return {"exchanges": self.bytes // self.up, "sent_bytes": self.bytes, "received_bytes": self.bytes}
    def mark(self, reset): pass
    def stop(self): send("result", {"from_ns": 0, "to_ns": 0, "counts": self.counts()})

class Client:
    def __init__(self, setup):
        self.load, self.seed, self.size = setup["load"], setup["seed"], setup["exchange"]["up_bytes"]
        if self.load.get("in_flight", 0) > 1 or self.load.get("fresh"):
            raise Failure("unsupported", "py-echo has one exchange in flight, on connections that last")
        self.payload, self.socks, n = random.Random(self.seed).randbytes(self.size), [], self.load["connections"]
        for i in range(n):
            source = (setup.get("sources") or [""])[i % len(setup.get("sources") or [""])]
            self.socks.append(socket.create_connection(address(setup["peers"][i % len(setup["peers"])]), None, (source, 0)))
            self.socks[i].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.exchange(i) != self.payload:
                raise Failure("invalid", f"verify connection {i}: the peer does not echo")
        self.slots, self.ready = max(1, math.ceil((self.load.get("active_share") or 1) * n)), {"connections": n, "verified": n}
        self.alive, self.errors, self.pending, self.completed = self.slots, 0, {}, [0] * self.slots
        self.phase, self.done, self.from_ns, self.to_ns = "before", collections.Counter(), 0, 0
        self.running, self.reported, self.closed, self.ended = False, False, threading.Event(), threading.Event()
        self.times = {"service": [], "response": [], "lag": []}
    def exchange(self, i):
        self.socks[i].sendall(self.payload)
        answer = bytearray()
        while len(answer) < self.size:
            part = self.socks[i].recv(self.size - len(answer))
            if not part:
                raise ConnectionError("the peer closed the connection")
            answer += part
        return answer
    def dues(self, i):
        """When slot i's exchanges are due; those of a closed loop are asked for when the last one is complete."""
        rate, rng, due = self.load.get("rate", 0), random.Random(f"{self.seed}/{i}"), self.start_ns
        for k in itertools.count():
            if not rate:
                due = now() + (k and self.load.get("think_ns", 0))
            elif self.load.get("arrival") == "poisson":
                due += rng.expovariate(rate / self.slots) * 1e9
            else:
                due = self.start_ns + (i + 0.5 + k * self.slots) / rate * 1e9
            yield int(due)
    def start(self):
        self.start_ns, self.running = now(), True
        if self.load.get("amount") and self.phase == "before":
            self.mark(True)
        for i in range(self.slots):
            threading.Thread(target=self.issue, args=(i,), daemon=True).start()
    def issue(self, i):
        try:
            for due in itertools.islice(self.dues(i), self.load.get("amount") or None):
                while not self.closed.is_set() and now() < due:
                    self.closed.wait((due - now()) / 1e9)
                if self.closed.is_set() and (not self.load.get("rate") or due > self.to_ns):
                    break
                self.pending[i], sent = due, now()
                self.exchange(i)
                self.complete(i, due, sent, now())
        except OSError:
            with lock:
                self.errors += 1
                del self.pending[i]
        with lock:
            self.alive -= 1
            if self.errors == len(self.socks):
                fail("peer", "no connection is left")
            if self.alive == 0:
                self.ended.set()
                if self.load.get("amount"):
                    self.result()
    def complete(self, i, due, sent, done):
        with lock:
            self.pending.pop(i)
            self.done[self.phase] += 1
            self.completed[i] += 1
            if self.phase != "before":
                self.times["service"].append(done - sent)
                if self.load.get("rate"):
                    self.times["response"].append(done - due)
                if self.load.get("rate") or self.load.get("think_ns"):
                    self.times["lag"].append(sent - due)
    def sums(self, n): return {"exchanges": n, "sent_bytes": n * self.size, "received_bytes": n * self.size, "errors": {"peer": self.errors}}
    def counts(self): return self.sums(sum(self.done.values()))
    def mark(self, reset):
        with lock:
            if reset and self.phase == "before":
                self.phase, self.from_ns = "window", now()
            elif not reset and self.phase == "window":
                self.phase, self.to_ns = "drain", now()
                self.closed.set()
    def stop(self):
        self.mark(True)  # without an opening mark, the window is empty
        self.mark(False)
        if self.running:
            self.ended.wait((self.load.get("drain_ns") or 2e9) / 1e9)
        self.result()
    def result(self):
        with lock:
            if self.reported:
                return
            self.mark(False)
            ages = [now() - due for due in self.pending.values()]
            for i in range(self.slots if self.load.get("rate") else 0):  # what was due and is still unsent
                planned = itertools.islice(self.dues(i), self.load.get("amount") or None)
                overdue = itertools.takewhile(lambda due: due <= self.to_ns, planned)
                ages += [now() - due for due in itertools.islice(overdue, self.completed[i] + (i in self.pending), None)]
            result = {name: encode(times) for name, times in self.times.items() if times}
            result.update(from_ns=self.from_ns, to_ns=self.to_ns, counts=self.sums(self.done["window"]), drained=self.done["drain"],
                          unfinished=len(ages), ages=encode(ages) if ages else "")
            self.reported, self.running = True, False
            send("result", result)

class Worker:
    end = setup = started = None
    def command(self, line):
        """Carries out one line; what it raises is the bench's mistake."""
        commands = [(k, v) for k, v in json.loads(line).items() if k in ("setup", "start", "mark", "stop")]
        if len(commands) != 1 or not isinstance(commands[0][1], dict):
            raise ValueError("expected exactly one of setup, start, mark, stop, with an object")
        name, body = commands[0]
        if name == "setup" and not self.setup:
            self.setup = body
            threading.Thread(target=self.prepare, daemon=True).start()  # so that EOF is heard while it connects
        elif name == "setup" or not self.end or name == "start" and self.started:
            raise ValueError(f"{name} does not fit the state (CONTRACT.md, section Life)")
        elif name == "start" and isinstance(self.end, Client):
            self.started = True
            self.end.start()
        elif name == "mark":
            with lock:
                self.end.mark(body.get("reset", False))
                reading = {"at_ns": now(), "cpu_ns": time.process_time_ns(), "counts": self.end.counts()}
            send("mark", {"id": body["id"], "reset": body.get("reset", False), "reading": reading})
        elif name == "stop":
            threading.Thread(target=self.end.stop, daemon=True).start()
    def prepare(self):
        role, options, x = self.setup["role"], self.setup.get("options") or {}, self.setup["exchange"]
        try:
            if self.setup["transport"] != "py-echo" or role not in ("server", "client"):
                raise Failure("unsupported", f"transport {self.setup['transport']} as {role}: py-echo as server or client is what there is")
            if options or x["up_bytes"] < 1 or x["up_bytes"] != x["down_bytes"]:
                raise Failure("setup", f"options {options}: py-echo has none; exchange {x}: as many bytes down as up, at least one")
            self.end = (Server if role == "server" else Client)(self.setup)
        except Failure as e:
            fail(*e.args)
        except (KeyError, TypeError, ValueError) as e:
            fail("invalid", f"setup: {e!r}")
        except OSError as e:
            fail("setup" if role == "server" else "peer", f"{role}: {e}")
        send("ready", self.end.ready | {"threads": 1, "options": {}})
    def tick(self):
        while True:
            time.sleep(0.2)
            with lock:
                if self.end and self.end.running:
                    c = self.end.counts()
                    send("tick", {"at_ns": now(), "exchanges": c["exchanges"], "received_bytes": c["received_bytes"]})
    def run(self):
        send("hello", HELLO)
        threading.Thread(target=self.tick, daemon=True).start()
        while line := sys.stdin.buffer.readline(MAX_LINE + 1):
            try:
                if len(line) > MAX_LINE:
                    while line and not line.endswith(b"\n"):
                        line = sys.stdin.buffer.readline(MAX_LINE)
                    raise ValueError(f"longer than {MAX_LINE} bytes")
                self.command(line)
            except (ValueError, AttributeError, KeyError, RecursionError) as e:
                send("error", {"kind": "invalid", "text": f"bad line {line[:80]!r}: {e!r} (CONTRACT.md, section Lines)", "fatal": False})
        os._exit(0)

if __name__ == "__main__":
    Worker().run()
