"""The contract's state machine. The main thread reads stdin, ticks and answers; an end works on threads of its own.

    born --hello--> idle --setup/ready--> ready --start--> running --mark(reset)--> window --mark, stop/result--> done --EOF--> exit 0
"""

import gc
import os
import platform
import queue
import resource
import select
import sys
import threading
import time

from . import processes
from .failure import Failure, failure_of, nearest, printable, say
from .lines import LineError, LineReader, LineWriter
from .slot import now_ns

TICK_NS = 200_000_000
_PATIENCE_NS = 300_000_000
_SWITCH_S = 0.0002  # how long this thread, when a mark comes, waits for the one that computes: 5 ms is Python's own


def main(name, version, transports, libraries=()):
    """Runs a worker on stdin and stdout, and exits. libraries are pairs of a name and a version."""
    out = os.dup(1)
    processes.PRIVATE.append(out)
    os.dup2(2, 1)  # what a library prints belongs on stderr
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):
            pass  # too few descriptors are reported where they run out
    machine = Machine(name, version, transports, libraries, out)
    keep_blocks()
    sys.setswitchinterval(_SWITCH_S)
    try:
        machine.loop()
    except BrokenPipeError:
        pass  # the bench is gone
    sys.stderr.flush()
    os._exit(machine.status)


def keep_blocks():
    """Has glibc keep what it hands out for asyncio's receiving, 256 KiB each time.

    An end works on another thread than the main one, whose heap begins small: there glibc would map and unmap such a block for each
    piece that comes, a third of the cost of an exchange. What is freed here raises the size from which on it does that.
    """
    bytes(1 << 20)


class Collections:
    """Counts this process's garbage collections and their time."""

    def __init__(self):
        self.cycles = self.ns = self._begun = 0
        gc.callbacks.append(self._note)

    def _note(self, phase, _info):
        if phase == "start":
            self._begun = now_ns()
        else:
            self.cycles += 1
            self.ns += now_ns() - self._begun

    def reading(self):
        return {"gc_cycles": self.cycles, "gc_pause_ns": self.ns, "gc_cpu_ns": self.ns}


class Machine:
    """The state of one worker. Only post may be called by other threads than the main one."""

    def __init__(self, name, version, transports, libraries, out):
        self._name, self._version, self._transports = name, version, transports
        self._libraries = [("python", platform.python_version())] + [pair for pair in libraries if pair[1]]
        self._out, self._events, self._collections = LineWriter(out), queue.SimpleQueue(), Collections()
        self._woken, self._wake = os.pipe()
        self.status = 0
        self._setup = self._server = self._client = self._result_by = None
        self._preparing = self._started = self._stopping = self._done = self._failed = self._broken = False

    def loop(self):
        self._send("hello", {
            "contract": 1, "worker": self._name, "version": self._version,
            "libraries": [{"name": n, "version": v} for n, v in self._libraries],
            "transports": [t.describe() for t in self._transports]})
        reader, tick = LineReader(), now_ns() + TICK_NS
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        while not self._failed:
            now = now_ns()
            if now >= tick:
                self._tick(now)
                tick += (now - tick) // TICK_NS * TICK_NS + TICK_NS
            if self._result_by and now >= self._result_by:
                self._overdue(now)
            wait = min(tick, self._result_by or tick) - now_ns()
            for descriptor, _ in poll.poll(max(0, wait) / 1e6):
                if descriptor == 0 and not self._read(reader):
                    return
                if descriptor == self._woken:
                    os.read(self._woken, 4096)
            while not self._events.empty():
                self._events.get()()
        self.status = 1
        self._close()

    def _overdue(self, now):
        """Breaks off a client that has not drained in time, and reports without it if even that does not end it."""
        if self._broken:
            return self._finish(None)
        self._broken, self._result_by = True, now + _PATIENCE_NS
        return self._client.close()

    def post(self, call):
        """Has the main thread call something."""
        self._events.put(call)
        os.write(self._wake, b"\0")

    def _read(self, reader):
        """Handles what came on stdin. It returns False at its end."""
        data = os.read(0, 1 << 16)
        for line in reader.feed(data) if data else reader.end():
            if isinstance(line, LineError):
                self._complain(str(line))
                continue
            try:
                getattr(self, "_on_" + line[0])(line[1])
            except Failure as failure:
                self._fail(failure)
        return bool(data)

    def _on_setup(self, setup):
        if self._setup is not None:
            return self._complain("setup came twice; a worker serves one trial (CONTRACT.md, section setup)")
        for key, empty in (("exchange", {}), ("load", {}), ("options", {}), ("seed", 0), ("role", ""), ("transport", "")):
            setup.setdefault(key, empty)
        transport = next((t for t in self._transports if t.name == setup["transport"]), None)
        names = [t.name for t in self._transports]
        if not transport:
            raise Failure("unsupported", f"no transport {setup['transport']} here; {nearest(setup['transport'], names)}")
        if setup["role"] not in transport.roles:
            raise Failure("unsupported", f"transport {transport.name} has no role {setup['role']!r}, it has {', '.join(transport.roles)}")
        transport.able(setup)
        setup["options"] = transport.complete(setup["role"], setup["options"])
        self._setup = setup
        threading.Thread(target=self._prepare, args=(transport,), daemon=True).start()
        return None

    def _prepare(self, transport):
        try:
            end = (transport.server if self._setup["role"] == "server" else transport.client)(self._setup)
            self.post(lambda: self._introduce(end))
        except MemoryError:
            self.post(lambda: self._fail(Failure("setup", "there is not enough memory for what setup asks for")))
        except BaseException as e:  # whatever it is, the bench is told
            failure = failure_of(e, "setup" if self._setup["role"] == "server" else "peer")
            self.post(lambda: self._fail(failure))

    def _introduce(self, end):
        if self._setup["role"] == "server":
            self._server = end
            end.on_exit = lambda failure: self.post(lambda: None if self._done else self._fail(failure))
        else:
            self._client = end
        self._send("ready", {"options": self._setup["options"], "threads": 1, **end.ready()})

    def _is_ready(self, command):
        if self._server or self._client:
            return True
        self._complain(f"{command} came before ready (CONTRACT.md, section Life)")
        return False

    def _on_start(self, _):
        if not self._is_ready("start"):
            return
        if self._started:
            return self._complain("start came twice (CONTRACT.md, section start)")
        self._started = True
        if self._client:
            self._client.load.start()
            threading.Thread(target=self._run, daemon=True).start()
        return None

    def _run(self):
        failure = None
        try:
            self._client.run()
        except BaseException as e:
            failure = failure_of(e)
        self.post(lambda: self._finish(failure))

    def _on_mark(self, mark):
        if not self._is_ready("mark"):
            return
        reset, load = mark.get("reset", False), self._client and self._client.load
        at, cpu = now_ns(), time.process_time_ns()
        if not load:
            counts = self._server.counts()
        elif self._done:
            counts = load.counts()
        elif reset:
            load.open(at)
            counts = load.snapshot()
        else:
            counts = load.snapshot() if load.close(at) else load.counts()
        self._send("mark", {"id": mark.get("id", 0), "reset": reset, "reading": {
            "at_ns": at, "cpu_ns": cpu, "counts": self._whole(counts), "runtime": self._collections.reading()}})

    def _whole(self, counts):
        if self._client:
            counts["redialled"] = self._client.redialled
            counts["connections"] = self._client.ready()["connections"]
        return counts

    def _on_stop(self, _):
        if not self._is_ready("stop") or self._stopping or self._done:
            return
        if self._server:
            self._done = True
            self._send("result", {"from_ns": 0, "to_ns": 0, "counts": self._server.counts(), "runtime": self._collections.reading()})
        elif not self._started:
            self._finish(None)
        else:
            self._stopping = True
            self._client.load.end(now_ns())
            self._result_by = now_ns() + self._client.load.drain_ns

    def _finish(self, failure):
        """Sends the result of a client that has let go of every slot."""
        sent = {"verify": self._client.ready()["verified"], **self._client.load.sent(), "again": self._client.again}
        if failure:
            failure.sent = sent
            return self._fail(failure)
        if self._done:
            return None
        self._done, self._stopping, self._result_by = True, False, None
        try:
            result = self._client.load.result()
        except Failure as failure:
            return self._fail(failure)
        result.update(sent=sent, counts=self._whole(result["counts"]), runtime=self._collections.reading())
        return self._send("result", result)

    def _tick(self, now):
        if self._done or not (self._server or self._client and self._started):
            return
        counts = (self._server or self._client.load).counts()
        tick = {"at_ns": now, "exchanges": counts["exchanges"], "received_bytes": counts["received_bytes"],
                "errors": sum(counts.get("errors", {}).values())}
        if self._setup.get("timeline"):
            tick["runtime"] = self._collections.reading()
            times = self._client and self._client.load.slice()
            if times:
                tick["times"] = times
        self._send("tick", tick)

    def _send(self, name, body):
        if not self._failed:
            self._out.write(name, body)

    def _complain(self, text):
        self._send("error", {"kind": "invalid", "text": text, "fatal": False})

    def _fail(self, failure):
        body = {"kind": failure.kind, "text": printable(failure.text), "fatal": True}
        if failure.sent:
            body["sent"] = failure.sent
        if failure.kind == "bug":
            say(f"{self._name}: {failure.text}")
        self._send("error", body)
        self._failed = True

    def _close(self):
        for end in (self._client, self._server):
            if end:
                end.close()
