"""What can go wrong, in the contract's words."""

import asyncio
import errno
import socket
import sys

KINDS = ("peer", "timeout", "invalid", "setup", "unsupported", "bug")

MOST_REASONS = 16
MOST_REASON_TEXT = 120
_MOST_KEPT = 64


class Failure(Exception):
    """An error of the contract.

    kind is one of KINDS. reason is the text that equal causes share; the whole text unless
    given. unsent says that the exchange's request never went out. passing says that a
    connection which failed an exchange can be used, or made, again.
    """

    def __init__(self, kind, text, reason=None, unsent=False, passing=False):
        super().__init__(text)
        self.kind, self.text, self.unsent, self.passing = kind, text, unsent, passing
        self.reason = text if reason is None else reason
        self.sent = None


_BY_NUMBER = {
    errno.ECONNRESET: "connection reset", errno.EPIPE: "connection reset", errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to the host", errno.ENETUNREACH: "no route to the network", errno.ETIMEDOUT: "timed out",
}


def failure_of(error, kind="peer"):
    """Returns any exception as a Failure: those of the network are of the kind given."""
    if isinstance(error, Failure):
        return error
    if error is None or isinstance(error, EOFError):
        return Failure(kind, "the other end closed the connection", "connection closed")
    if isinstance(error, (asyncio.TimeoutError, socket.timeout, TimeoutError)):
        return Failure("timeout", str(error) or "timed out", "timed out")
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return Failure("setup", "too few file descriptors, every connection needs one; raise `ulimit -n`")
    if isinstance(error, OSError):
        text = _BY_NUMBER.get(error.errno) or error.strerror or str(error) or type(error).__name__
        return Failure(kind, f"{text}" if error.errno is None else f"{text} ({error})", text)
    return Failure("bug", f"{type(error).__name__}: {error}")


def printable(text, most=4096):
    """Returns a text that a terminal can show, cut at a number of bytes."""
    text = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


class Reasons:
    """Counts why exchanges failed: at most 64 different reasons, whatever a server does."""

    def __init__(self):
        self._counts, self._others = {}, 0

    def add(self, kind, text):
        key = (kind, printable(text, MOST_REASON_TEXT))
        if key in self._counts or len(self._counts) < _MOST_KEPT:
            self._counts[key] = self._counts.get(key, 0) + 1
        else:
            self._others += 1

    def most(self):
        """Returns the most frequent ones as the result has them, and the sum of the others."""
        ranked = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        found = [{"kind": kind, "text": text, "count": n} for (kind, text), n in ranked[:MOST_REASONS]]
        others = self._others + sum(n for _, n in ranked[MOST_REASONS:])
        return found + ([{"text": "others", "count": others}] if others else [])


def nearest(name, names):
    """Says which of several names was meant, or lists them."""
    import difflib
    close = difflib.get_close_matches(name, names, 1, 0.6)
    if close:
        return f"nearest is {close[0]}"
    return "there is " + ", ".join(names) if names else "there is none"


def say(text):
    """Writes a line for people: stderr, which the bench keeps with the trial."""
    print(text, file=sys.stderr, flush=True)
