"""The README's worker: contract/vectors/conversation.json, and netdyno check where the program is built."""

import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import threading
import unittest

KIT = pathlib.Path(__file__).resolve().parents[1]
VECTORS = KIT.parents[1] / "contract" / "vectors"
NETDYNO = KIT.parents[1] / "bin" / "netdyno"
PATIENCE_S = 10


def readme_worker(folder):
    """Writes the README's worker into a folder and returns how it is started."""
    source = re.search(r"```python\n(.*?)```", (KIT / "README.md").read_text(), re.S).group(1)
    (folder / "mine.py").write_text(source)
    path = folder / "netdyno-worker-mine"
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{KIT}" exec "{sys.executable}" "{folder}/mine.py" "$@"\n')
    path.chmod(0o755)
    return source, str(path)


class Session:
    """A worker at work, and what it says."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.said = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.said.put(json.loads(line))
        self.said.put(None)

    def send(self, text):
        try:
            self.process.stdin.write(text.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, which a step after this one judges

    def expect(self, name):
        while True:
            message = self.said.get(timeout=PATIENCE_S)
            if message is None or name == "tick" or "tick" not in message:
                assert message and name in message, f"came {message}, expected {name}"
                return message

    def close(self):
        self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE_S)
        finally:
            self.process.kill()


def contains(whole, part):
    return all(contains(whole.get(k) or {}, v) if isinstance(v, dict) else (whole.get(k) or 0) == v for k, v in part.items())


class Conversations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.source, cls.program = readme_worker(pathlib.Path(cls.folder.name))
        cls.server = Session(cls.program)
        cls.transport = cls.server.expect("hello")["hello"]["transports"][0]["name"]
        cls.server.send(json.dumps({"setup": cls.setup_of("server")}))
        cls.address = cls.server.expect("ready")["ready"]["addresses"][0]

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.server.process.stdout.close()
        cls.folder.cleanup()

    @classmethod
    def setup_of(cls, role, step=None):
        step = step or {}
        setup = {"trial": "vector", "transport": step.get("transport", cls.transport), "role": role, "seed": 1,
                 "exchange": {"up_bytes": 64, "down_bytes": 64}, "load": step.get("load", {"connections": 2})}
        if role == "server":
            setup["listen"] = "127.0.0.1:0"
        else:
            setup["peers"] = [step.get("peer") or cls.address]
        if "options" in step:
            setup["options"] = step["options"]
        return setup

    def test_conversations(self):
        for v in json.loads((VECTORS / "conversation.json").read_text()):
            with self.subTest(v["name"]):
                self.converse(v)

    def converse(self, v):
        session, status = Session(self.program), None
        try:
            for step in v["steps"]:
                if "expect" in step:
                    message = session.expect(step["expect"])
                    self.assertTrue(contains(message, step.get("has", {})), message)
                    if "fatal" in step:
                        self.assertEqual(step["fatal"], message["error"]["fatal"])
                elif "setup" in step:
                    session.send(json.dumps({"setup": self.setup_of(step["setup"], step)}))
                elif "send" in step:
                    session.send(json.dumps(step["send"]))
                elif "raw" in step:
                    raw = step["raw"]
                    session.send(raw if isinstance(raw, str) else raw["repeat"] * raw["times"])
                elif "eof" in step:
                    status = session.close()
                elif "none" in step:
                    for message in iter(session.said.get, None):
                        self.assertNotIn(step["none"], message)
            if v.get("exit") != "any":
                self.assertEqual(v.get("exit", 0), status)
        finally:
            session.process.kill()
            session.process.wait()
            session.process.stdout.close()

    def test_length(self):
        self.assertLessEqual(len([line for line in self.source.splitlines() if line.strip()]), 80)

    @unittest.skipUnless(os.access(NETDYNO, os.X_OK), "netdyno is not built")
    def test_check(self):
        told = subprocess.run([str(NETDYNO), "check", self.program], capture_output=True, text=True)
        self.assertEqual(0, told.returncode, told.stdout + told.stderr)


RECEIVES = """
import resource, socket, threading
from netdyno_kit.worker import keep_blocks
keep_blocks()
def faults():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
def receive():
    a, b = socket.socketpair()
    def pieces():
        for _ in range(200):
            a.send(b"x")
            b.recv(1 << 18)
    pieces()
    before = faults()
    pieces()
    print(faults() - before)
thread = threading.Thread(target=receive)
thread.start()
thread.join()
"""


class BlocksTest(unittest.TestCase):
    def test_a_block_is_not_mapped_for_each_piece_received(self):
        told = subprocess.run([sys.executable, "-c", RECEIVES], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(KIT)}, check=True)
        self.assertLess(int(told.stdout), 100)  # page faults of 200 pieces: one each where it is


if __name__ == "__main__":
    unittest.main()
