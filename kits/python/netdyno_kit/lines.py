"""Lines of the contract: one JSON object each, at most 1 MiB, read from bytes and written whole."""

import json
import math
import os
import threading

MOST = 1 << 20
COMMANDS = ("setup", "start", "mark", "stop")
_OTHERS = ("hello", "ready", "tick", "result", "error", "exit", "examine", "examined")


class LineError(ValueError):
    """What is wrong with a line."""


class _Integer:
    def __init__(self, least=-(1 << 63), most=(1 << 63) - 1):
        self.least, self.most = least, most


_INT, _REAL, _TABLE = _Integer(), float, [[float]]
_SEED = _Integer(0, (1 << 64) - 1)
_EXCHANGE = {
    "up_bytes": _INT, "down_bytes": _INT, "codec": str, "stream": str, "chunk_bytes": _INT, "up_sizes": [[_INT]], "down_sizes": [[_INT]],
    "message": {"name": str, "descriptors": str, "up": {"type": str, "json": str}, "down": {"type": str, "json": str}},
}
_CLASS = {
    "name": str, "end": _INT, "up_bytes": _INT, "down_bytes": _INT, "up_sizes": [[_INT]], "down_sizes": [[_INT]], "method": str, "path": str,
    "status": _INT, "deadline_ns": _INT, "think_ns": _INT,
}
_TRACE = {
    "file": str, "begins": _INT, "from_ns": _INT, "speed": _REAL, "part": _INT, "parts": _INT, "even": bool, "times": bool, "span_ns": _INT, "recorded": _INT,
}
_LOAD = {
    "connections": _INT, "in_flight": _INT, "rate": _REAL, "arrival": str, "think_ns": _INT, "active_share": _REAL, "fresh": bool,
    "amount": _INT, "drain_ns": _INT, "gaps": [[_INT]], "phases": _TABLE, "repeat": bool, "classes": [_CLASS], "keys": [[_INT]], "trace": _TRACE,
}
_SETUP = {
    "trial": str, "transport": str, "role": str, "seed": _SEED, "listen": str, "listeners": _INT, "allow": [str], "peers": [str],
    "sources": [str], "threads": _INT, "exchange": _EXCHANGE, "load": _LOAD, "options": dict, "profile": bool, "timeline": bool,
    "tls": {"authorities": str, "certificate": str, "key": str}, "window_ns": _INT, "warmup_ns": _INT,
    "work": {"ns": [[_INT]], "by": str},
}
_SHAPES = {"setup": _SETUP, "start": {}, "stop": {}, "mark": {"id": _INT, "reset": bool}}


def _fit(value, shape, where):
    """Returns a value of a shape, without what is null. LineError says where it does not fit."""
    if isinstance(shape, _Integer):
        if type(value) is not int or not shape.least <= value <= shape.most:
            raise LineError(f"{where} is {str(value)[:40]}, expected an integer from {shape.least} to {shape.most}")
    elif shape is float:
        if type(value) not in (int, float):
            raise LineError(f"{where} is {str(value)[:40]}, expected a number")
        if not math.isfinite(float(value)):
            raise LineError(f"{where} is beyond a double")
    elif isinstance(shape, dict):
        if type(value) is not dict:
            raise LineError(f"{where} is {str(value)[:40]}, expected an object")
        return {k: _fit(v, shape[k], f"{where}.{k}") if k in shape else v for k, v in value.items() if v is not None}
    elif isinstance(shape, list):
        if type(value) is not list:
            raise LineError(f"{where} is {str(value)[:40]}, expected a list")
        return [_fit(v, shape[0], f"{where}[{i}]") for i, v in enumerate(value)]
    elif type(value) is not shape:
        raise LineError(f"{where} is {str(value)[:40]}, expected {shape.__name__}")
    return value


def _refuse(constant):
    raise LineError(f"{constant} is no JSON")


def parse(line):
    """Reads a line, without its newline, as (command, body). LineError quotes its beginning."""
    if len(line) >= MOST:
        raise LineError(f"a line of more than {MOST} bytes (CONTRACT.md, section Lines)")
    try:
        whole = json.loads(line.decode("utf-8"), parse_constant=_refuse)
        if type(whole) is not dict:
            raise LineError("expected an object")
        names = [name for name in whole if name in COMMANDS or name in _OTHERS]
        if len(names) != 1 or names[0] not in COMMANDS:
            raise LineError(f"messages {names}, expected exactly one of {', '.join(COMMANDS)}")
        return names[0], _fit(whole[names[0]], _SHAPES[names[0]], names[0])
    except RecursionError:
        text = "nested too deeply"
    except (ValueError, OverflowError) as e:
        text = str(e)
    raise LineError(f"bad line {bytes(line[:80])!r}: {text} (CONTRACT.md, section Lines)")


class LineReader:
    """Cuts bytes into lines. It stores at most one line; what is longer is refused and skipped."""

    def __init__(self):
        self._rest, self._skips = bytearray(), False

    def feed(self, data):
        """Yields (command, body) or a LineError for each line that ends in data."""
        begin = 0
        while True:
            end = data.find(b"\n", begin)
            if end < 0:
                break
            piece, begin = data[begin:end], end + 1
            if self._skips:
                self._skips = False
                continue
            self._rest += piece
            yield self._take()
        if not self._skips:
            self._rest += data[begin:]
            if len(self._rest) >= MOST:
                self._skips = True
                yield self._take()

    def end(self):
        """Yields a LineError if the stream ended within a line."""
        if self._rest:
            yield LineError(f"bad line {bytes(self._rest[:80])!r}: the stream ended before its newline")

    def _take(self):
        line, self._rest = bytes(self._rest), bytearray()
        try:
            return parse(line)
        except LineError as e:
            return e


class LineWriter:
    """Writes messages to a file descriptor, each whole. Any thread may write."""

    def __init__(self, descriptor):
        self._to, self._lock = descriptor, threading.Lock()

    def write(self, name, body):
        data = memoryview((json.dumps({name: body}, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "replace"))
        with self._lock:
            while data:
                data = data[os.write(self._to, data):]
