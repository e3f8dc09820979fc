"""Tests of the workers on the libraries that make build installs: messages.json, and every pair of ends of a wire, whose books must close."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
OUT = pathlib.Path(os.environ.get("OUT") or TREE / "bin")
MESSAGES = json.loads((TREE / "contract" / "vectors" / "messages.json").read_text())
sys.path[:0] = [str(TREE / "kits" / "python"), str(TREE / "workers" / "python" / "grpcio")]


class End:
    """A worker that plays one end."""

    def __init__(self, worker, setup, **environment):
        self.process = subprocess.Popen([str(OUT / ("netdyno-worker-" + worker))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **environment})
        self.send({"setup": {"trial": "test", "seed": 1, "threads": 1, **setup}})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def next(self, name):
        for line in self.process.stdout:
            message = json.loads(line)
            assert not message.get("error"), message
            if name in message:
                return message[name]
        raise AssertionError(f"it ended before {name}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


def message(up, down):
    return {"name": "test", **{d: {"type": m["type"], "json": json.dumps(m["json"])} for d, m in (("up", up), ("down", down))}}


PLAIN = {"up_bytes": 100, "down_bytes": 3000}
TEXT = message(MESSAGES[0], MESSAGES[3])
HTTP = [({**PLAIN}, {}), ({"up_bytes": 0, "down_bytes": 70000}, {}), ({"codec": "json", "message": TEXT}, {}), ({"codec": "json-fast", "message": TEXT}, {}),
        ({"codec": "json", "message": TEXT}, {"app": "fastapi"}), ({**PLAIN}, {"app": "fastapi"})]
BULK = {"up_bytes": 100000, "down_bytes": 70000, "chunk_bytes": 30000}
STREAMS = [({**BULK, "stream": way}, {}) for way in ("up", "down", "both")]
GRPC = [({**PLAIN}, {}), ({**PLAIN}, {"mode": "stream"}), ({"codec": "proto", "message": TEXT}, {}), *STREAMS]
ECHO = [({"up_bytes": 5000, "down_bytes": 5000}, {}), ({"up_bytes": 5000, "down_bytes": 5000}, {"loop": "uvloop"}), *STREAMS]
PAIRS = [(("asyncio", "asyncio"), ("asyncio", "asyncio"), ECHO)]
PAIRS += [(("asgi", server), ("asgi", "aiohttp"), HTTP) for server in ("uvicorn", "granian")]
PAIRS += [(("grpcio", server), ("grpcio", client), GRPC[:6 if server == client else 1]) for server in ("grpcio", "grpc-aio") for client in ("grpcio", "grpc-aio")]
KINDS = [(server, client) for server, client, _ in PAIRS if (server[0] != "grpcio" or server == client)]


class Workers(unittest.TestCase):
    def test_pairs(self):
        for server, client, works in PAIRS:
            for exchange, options in works:
                with self.subTest(server=server, client=client, exchange=exchange, options=options):
                    self.meet(server, client, exchange, options)

    def meet(self, server, client, exchange, options):
        mine = {k: v for k, v in options.items() if k != "app"}
        with End(server[0], {"transport": server[1], "role": "server", "listen": "127.0.0.1:0", "allow": ["127.0.0.1"], "exchange": exchange,
                             "load": {"connections": 0}, "options": options}) as s:
            ready = s.next("ready")
            with End(client[0], {"transport": client[1], "role": "client", "peers": ready["addresses"], "exchange": exchange,
                                 "load": {"connections": 3, "amount": 7}, "options": mine}) as c:
                self.assertEqual(3, c.next("ready")["verified"])
                c.send({"start": {}})
                result = c.next("result")
                s.send({"stop": {}})
                served, counts = s.next("result")["counts"], result["counts"]
                each = 3 * 7
                self.assertEqual((each, each + 3), (counts["exchanges"], served["exchanges"]))
                self.assertEqual(counts["sent_bytes"] * (each + 3) // each, served["received_bytes"])
                self.assertEqual(counts["received_bytes"] * (each + 3) // each, served["sent_bytes"])
                self.assertNotIn("lengths", result)

    def exchange(self, server, client, exchange, load, options=(), **more):
        """Has a client make its amount of exchanges. It returns its result, the server's, and the CPU time that the server used in ns."""
        with End(server[0], {"transport": server[1], "role": "server", "listen": "127.0.0.1:0", "allow": ["127.0.0.1"], "exchange": exchange,
                             "options": dict(options), **more}) as s:
            with End(client[0], {"transport": client[1], "role": "client", "peers": s.next("ready")["addresses"], "exchange": exchange,
                                 "load": {"connections": 2, "amount": 5, **load}, "options": dict(options)}) as c:
                c.next("ready")
                s.send({"mark": {"id": 1, "reset": True}})
                before = s.next("mark")["reading"]["cpu_ns"]
                c.send({"start": {}})
                result = c.next("result")
                s.send({"mark": {"id": 2}})
                used = s.next("mark")["reading"]["cpu_ns"] - before
                s.send({"stop": {}})
                return result, s.next("result"), used

    def test_classes(self):
        for server, client in KINDS:
            even = server[1] == "asyncio"
            classes = [{"name": "small", "end": 1 << 31, "up_bytes": 20, "down_bytes": 20, "think_ns": 1000000},
                       {"name": "large", "end": 1 << 32, "up_bytes": 900, "down_bytes": 900 if even else 7000}]
            table = [[1 << 31, 20, 20], [1 << 32, 900, 900]]
            exchange = {"up_bytes": 900, "down_bytes": classes[1]["down_bytes"], "up_sizes": table,
                        "down_sizes": table if even else [[1 << 31, 20, 20], [1 << 32, 7000, 7000]]}
            result, _, _ = self.exchange(server, client, exchange, {"classes": classes, "think_ns": 500000, "amount": 20})
            self.assertEqual(["small", "large"], [c["name"] for c in result["classes"]])
            self.assertEqual(40, sum(c["exchanges"] for c in result["classes"]))
            for given, found in zip(classes, result["classes"]):
                self.assertEqual(found["exchanges"] * given["down_bytes"], found["received_bytes"])
            self.assertEqual([0, 256 if even else 4096], [b["from_bytes"] for b in result["bins"]])

    def test_fresh(self):
        for server, client in KINDS[1:]:  # wire echo has neither
            result, served, _ = self.exchange(server, client, PLAIN, {"fresh": True})
            self.assertEqual((10, 12), (result["counts"]["exchanges"], served["counts"]["exchanges"]))
            self.assertNotIn("errors", {k: v for k, v in result["counts"].items() if v})

    def test_work(self):
        echo = {"up_bytes": 100, "down_bytes": 100}
        for server, client in KINDS:
            _, served, used = self.exchange(server, client, echo, {}, work={"by": "cpu", "ns": [[1 << 32, 3000000, 3000000]]})
            self.assertEqual(12, served["counts"]["exchanges"])
            if server[1] != "granian":  # its processes are others than the one that answers
                self.assertGreaterEqual(used, 10 * 3000000)
            result, _, _ = self.exchange(server, client, echo, {}, work={"by": "sleep", "ns": [[1 << 32, 3000000, 3000000]]})
            self.assertGreaterEqual(result["to_ns"] - result["from_ns"], 5 * 3000000)

    def test_deadlines(self):
        exchange = {"up_bytes": 100, "down_bytes": 100}
        for server, client in KINDS[1:]:  # wire echo has neither
            classes = [{"name": "hurried", "end": 1 << 32, "up_bytes": 100, "down_bytes": 100, "deadline_ns": 2000000}]
            result, _, _ = self.exchange(server, client, exchange, {"classes": classes, "amount": 2},
                                         work={"by": "sleep", "ns": [[1 << 32, 100000000, 100000000]]})
            self.assertEqual({"timeout": 4}, result["counts"]["errors"])
            self.assertEqual([{"kind": "timeout", "text": "no reply within the deadline of 2.00 ms", "count": 4}], result["reasons"])
            self.assertEqual(4, result["classes"][0]["errors"])

    def test_messages(self):
        import contents
        codec = contents.Proto()
        for v in MESSAGES:
            with self.subTest(v["json"]):
                filled = codec.content({"type": v["type"], "json": json.dumps(v["json"])})
                self.assertEqual(v["proto"], codec.encode(filled).hex())
                self.assertEqual(filled, codec.decode(bytes.fromhex(v["proto"]), filled))

    def test_absent_modules_are_said(self):
        """On an interpreter without the libraries a worker introduces itself, and says what cures it."""
        with tempfile.TemporaryDirectory() as folder:
            bare = pathlib.Path(folder) / "python"
            bare.write_text(f'#!/bin/sh\nexec "{sys.base_prefix}/bin/python3" -S "$@"\n')
            bare.chmod(0o755)
            for worker, transport, options in (("asgi", "uvicorn", {}), ("grpcio", "grpcio", {}), ("asyncio", "asyncio", {"loop": "uvloop"})):
                with self.subTest(worker):
                    end = End(worker, {"transport": transport, "role": "server", "listen": "127.0.0.1:0", "options": options,
                                       "exchange": {"up_bytes": 9, "down_bytes": 9}}, NETDYNO_PYTHON=str(bare))
                    said = end.process.stdout.readlines()  # its stdin stays open: a worker that sees the end of it need not say anything more
                    end.process.communicate()
                    error = json.loads(said[-1])["error"]
                    self.assertEqual(("unsupported", True), (error["kind"], error["fatal"]))
                    self.assertIn("make -C kits/python build", error["text"])


if __name__ == "__main__":
    unittest.main()
