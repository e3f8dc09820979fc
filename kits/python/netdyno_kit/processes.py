"""Further processes of a server: one Python process computes on one CPU at a time.

They are forked before any loop runs, share the listening sockets and a table of sums, and end with the process that made them.
"""

import json
import mmap
import os
import select
import sys
import threading
import time

from .failure import Failure, failure_of, printable

EXCHANGES, RECEIVED, SENT, INVALID, CONNECTIONS, SERVES = range(6)
_FIELDS = 8
_LARGEST = 512
START_S = 10
SWITCH_S = 0.005  # Python's own, for libraries with several threads that compute
PRIVATE = []  # descriptors of the first process alone: the way to the bench


def wanted(setup):
    """Returns how many processes setup.threads asks a server for."""
    return min(_LARGEST, setup.get("threads") or len(os.sched_getaffinity(0)))


class Sums:
    """Sums that several processes add to, each in a row of its own: sums.row(i)[RECEIVED] += n. A list is cheaper than shared memory."""

    def __init__(self, processes=1, apart=False):
        self._processes, self._rows = processes, [[0] * _FIELDS]
        if processes > 1 or apart:
            shared = memoryview(mmap.mmap(-1, processes * _FIELDS * 8)).cast("q")
            self._rows = [shared[i * _FIELDS:(i + 1) * _FIELDS] for i in range(processes)]

    def row(self, i):
        return self._rows[i]

    def total(self, field):
        return sum(row[field] for row in self._rows)

    def await_all(self, failed):
        """Waits until every process has set SERVES, so that ready is true. failed tells that one has ended."""
        until = time.monotonic() + START_S
        while self.total(SERVES) < self._processes:
            if failed():
                raise failed()
            if time.monotonic() > until:
                raise Failure("setup", f"the server did not serve within {START_S} s")
            time.sleep(0.001)

    def counts(self):
        """Returns the sums as a reading has them."""
        counts = {"exchanges": self.total(EXCHANGES), "sent_bytes": self.total(SENT), "received_bytes": self.total(RECEIVED),
                  "connections": self.total(CONNECTIONS)}
        if self.total(INVALID):
            counts["errors"] = {"invalid": self.total(INVALID)}
        return counts


class Processes:
    """Runs serve(i) in this process (i = 0, on a thread) and in count - 1 forked ones; apart: in forked ones alone.

    serve returns only if it cannot go on. failure says why then; on_exit of the server is called with it, unless closed.
    """

    failure = None

    def __init__(self, count, serve, server, apart=False):
        self._server, self._closed = server, False
        read, self._alive = os.pipe()  # its end tells the others that this process has ended
        for i in range(0 if apart else 1, count):
            told, tell = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(self._alive)
                self._other(i, serve, read, tell)
            os.close(tell)
            threading.Thread(target=self._watch, args=(pid, told), daemon=True).start()
        os.close(read)
        if not apart:
            threading.Thread(target=self._first, args=(serve,), daemon=True).start()

    def close(self):
        self._closed = True
        if self._alive is not None:
            os.close(self._alive)
            self._alive = None

    def _first(self, serve):
        try:
            serve(0)
            failure = Failure("bug", "the server ended by itself")
        except BaseException as e:
            failure = failure_of(e, "bug")
        self._end(failure)

    def _end(self, failure):
        self.failure = failure
        if not self._closed and self._server.on_exit:
            self._server.on_exit(failure)

    def _watch(self, pid, told):
        why = os.read(told, 4096)  # nothing, as a process ends that cannot tell
        status = os.waitpid(pid, 0)[1]
        if why:
            self._end(Failure(*json.loads(why)))
        elif os.WIFSIGNALED(status):
            self._end(Failure("peer", f"process {pid} of the server was killed by signal {os.WTERMSIG(status)}"))
        else:
            self._end(Failure("bug", f"process {pid} of the server ended with status {os.WEXITSTATUS(status)}"))

    @staticmethod
    def _other(i, serve, alive, tell):
        """Never returns: the life of a forked process."""
        def end():
            select.select([alive], [], [])
            os._exit(0)
        sys.setswitchinterval(SWITCH_S)  # no mark is answered here
        try:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            for descriptor in PRIVATE:
                os.close(descriptor)
            threading.Thread(target=end, daemon=True).start()
            serve(i)
            failure = Failure("bug", "it ended by itself")
        except BaseException as e:
            failure = failure_of(e, "bug")
        os.write(tell, json.dumps([failure.kind, printable(f"process {i} of the server: {failure.text}", 2048)]).encode())
        os._exit(1)
