"""The kit against contract/vectors: every file that a worker in Python has to do with."""

import json
import pathlib
import unittest

from netdyno_kit import bysize, counters, draws, histogram, lines, mix
from netdyno_kit.content import block
from netdyno_kit.failure import Failure, Reasons
from netdyno_kit.load import Load

VECTORS = pathlib.Path(__file__).resolve().parents[3] / "contract" / "vectors"


def vectors(name):
    return json.loads((VECTORS / name).read_text())


def load_of(exchange=(), seed=1, **plan):
    return Load({"seed": seed, "exchange": {"up_bytes": 1, "down_bytes": 1, **dict(exchange)}, "load": {"connections": 1, **plan}})


def table_of(t):
    if isinstance(t, list):
        return t
    t = t.get("many", t) if isinstance(t.get("many"), dict) else t
    return [[(i + 1) * t["step_end"], i * t["step"], (i + 1) * t["step"] - 1] for i in range(t["many"])]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class Files(unittest.TestCase):
    def test_every_file_is_run(self):
        """A new file of vectors is run here, or said to be run elsewhere."""
        elsewhere = {"conversation.json": "test_worker.py", "messages.json": "workers/python/tests/run.py", "baidu_std.json": "a wire that no worker here speaks", "turns.json": "loads in turn, which no worker here offers", "bodies.json": "bodies that clients of HTTP compare, which no worker here does", "data.json": "requests that rows fill, which no worker here offers"}
        here = pathlib.Path(__file__).read_text()
        self.assertEqual([], [f.name for f in VECTORS.glob("*.json") if f.name not in elsewhere and f'vectors("{f.name}")' not in here])


class Lines(unittest.TestCase):
    def test_lines(self):
        checked = 0
        for v in vectors("lines.json"):
            if v["to"] != "worker":
                continue
            parts = v.get("parts", [v.get("line", "")])
            line = "".join(p if isinstance(p, str) else p["repeat"] * p["times"] for p in parts).encode()
            reader, found = lines.LineReader(), []
            data = line + (b"" if v.get("torn") else b"\n")
            for begin in range(0, len(data), 1000):  # as a pipe cuts it
                found += reader.feed(data[begin:begin + 1000])
            found += reader.end()
            with self.subTest(v["name"]):
                checked += 1
                self.assertEqual(1, len(found))
                if "message" in v:
                    self.assertEqual(v["message"], found[0][0])
                else:
                    self.assertIsInstance(found[0], lines.LineError)
        self.assertGreater(checked, 30)


class Histograms(unittest.TestCase):
    def test_hist(self):
        for v in vectors("hist.json"):
            with self.subTest(v["name"]):
                h = histogram.Histogram()
                for value, n in v["values"]:
                    h.record(value, n)
                self.assertEqual(v["payload"], histogram.payload(h.counts).hex())
                self.assertEqual(h.counts, histogram.decode(v["encoded"]).counts)
                self.assertEqual(v["payload"], histogram.inflate(histogram.encode(h.counts)).hex())

    def test_index_is_where_the_contract_says(self):
        for value in list(range(5000)) + [10 ** k + d for k in range(4, 12) for d in (-1, 0, 1)]:
            shift = max(0, value.bit_length() - 11)
            self.assertEqual(shift * 1024 + (value >> shift), histogram.index(value))
            self.assertEqual(histogram.index(value), histogram.index(histogram.middle(histogram.index(value))))


class Loads(unittest.TestCase):
    def test_arrivals(self):
        for v in vectors("arrivals.json"):
            with self.subTest(v["name"]):
                found = counters.gaps(v["sent"], v["from_ns"], v["until_ns"])
                if found and v["arrivals"]:
                    self.assertAlmostEqual(1, found.pop("sum_squares_ns2") / v["arrivals"].pop("sum_squares_ns2"), 12)
                self.assertEqual(v["arrivals"], found)

    def test_inside(self):
        for v in vectors("inside.json"):
            with self.subTest(v["name"]):
                load = load_of()
                load.open(v["from_ns"])
                slot, (begin, end) = load.slots[0], (v["from_ns"], v["to_ns"])
                for drained in (False, True):
                    if drained:
                        load.closing = NEVER = counters.NEVER
                        load.end(end)
                        load.closing = NEVER
                    for free, sent, now in v["exchanges"]:
                        if (now > end) == drained:
                            slot.free = free
                            slot.next(free)
                            slot.done(sent, now, 1)
                load.closing = end
                inside = load.result()["inside"]
                for name, want in v["inside"].items():
                    self.assertAlmostEqual(want, inside[name], 8, name)

    def test_lengths(self):
        for v in vectors("lengths.json"):
            with self.subTest(v["name"]):
                load = load_of({"down_bytes": v["down_bytes"]})
                for stretch in ("before", "window", "drained"):
                    if stretch == "window":
                        load.open(1000)
                    elif stretch == "drained":
                        load.end(2000)
                    for n in v[stretch]:
                        load.slots[0].done(1500, 1600, n)
                text = load.result().get("lengths", "")
                if v["values"] is None:
                    self.assertEqual("", text)
                else:
                    want = histogram.Histogram()
                    for value, n in v["values"]:
                        want.record(value, n)
                    self.assertEqual(want.counts, histogram.decode(text).counts)

    def test_reasons(self):
        for v in vectors("reasons.json"):
            with self.subTest(v["name"]):
                reasons = Reasons()
                for f in v["failures"]:
                    for _ in range(f["count"]):
                        reasons.add(f["kind"], f["text"])
                self.assertEqual(v["reasons"], reasons.most())

    def test_sent(self):
        for v in vectors("sent.json"):
            with self.subTest(v["name"]):
                load, out = load_of(connections=v["slots"]), set()
                load.start()
                for step, *at in v["steps"]:
                    slot = load.slots[at[0]] if at else None
                    if step == "begin":
                        self.assertIsNotNone(slot.next(load.started))
                        out.discard(slot)
                    elif step == "out":
                        out.add(slot)
                    elif step == "done":
                        slot.done(load.started, load.started + 1, 1)
                    elif step == "fail":
                        slot.fail(Failure("peer", "gone", unsent=slot not in out))
                    elif step == "open":
                        load.open(load.started)
                    else:
                        load.end(load.started + 10)
                for slot in load.slots:
                    slot.abandon(slot not in out)
                self.assertEqual(v["sent"], {k: n for k, n in load.sent().items() if n})


class Draws(unittest.TestCase):
    def test_schedule(self):
        whole = vectors("schedule.json")
        for v in whole["schedules"]:
            load = load_of(seed=v["seed"], **{"connections": v["slots"], **v["load"]})
            for of in v["slots_due"]:
                with self.subTest(v["name"], slot=of["slot"]):
                    schedule, k = load._schedule(of["slot"]), 0
                    for want, due in of["due_ns"]:
                        while k < want:
                            schedule.advance()
                            k += 1
                        found = schedule.peek()
                        self.assertEqual(due, None if found >= draws.NEVER else found)
        for v in whole["refused"]:
            with self.subTest(v["name"]), self.assertRaises(Failure) as refused:
                load_of(**v["load"])
            self.assertEqual("setup", refused.exception.kind)

    def test_sizes(self):
        whole = vectors("sizes.json")
        tables = {name: table_of(t) for name, t in whole["tables"].items()}
        for v in whole["streams"]:
            self.assertEqual(v["outputs"], [f"{draws.stream(v['seed'], v['stream'], n):016x}" for n in range(len(v["outputs"]))])
        for v in whole["draws"]:
            with self.subTest(v["name"]):
                table = tables[v.get("table", v["name"])]
                for number, direction in ((draws.UP, "up"), (draws.DOWN, "down")):
                    drawer = draws.Drawer(table, v["seed"], number)
                    self.assertEqual(v[direction + "_bytes"], [drawer.draw(n) for n in v["numbers"]])
        for v in whole["refused"]:
            with self.subTest(v["name"]), self.assertRaises(ValueError):
                draws.check_table(table_of(v.get("table", v)), draws.MOST_BYTES)

    def test_mix(self):
        whole = vectors("mix.json")
        setup = {"exchange": {"up_bytes": 1024, "down_bytes": 1 << 20}, "load": whole["load"]}
        for v in whole["draws"]:
            with self.subTest(seed=v["seed"], number=v["number"]):
                x = mix.Draws({**setup, "seed": v["seed"]}).of(v["number"])
                self.assertEqual([v[k] for k in ("class", "up_bytes", "down_bytes", "key")], [x.of, x.up, x.down, x.key])
        for v in whole["refused"]:
            with self.subTest(v["name"]), self.assertRaises(Failure) as refused:
                load_of({"up_bytes": 1024, "down_bytes": 1 << 20}, **v["load"])
            self.assertEqual("setup", refused.exception.kind)

    def test_think(self):
        whole = vectors("think.json")
        for v in whole["cases"]:
            load = load_of({"up_bytes": 0, "down_bytes": 300}, v["seed"], **v["load"])
            load.start()
            for i, exchanges in enumerate(v["slots"]):
                found, slot, now = [], load.slots[i], load.started
                for _ in exchanges:
                    due = slot.next(now)
                    now = due + v["service_ns"]
                    found.append([slot.of, due - load.started])
                    slot.done(due, now, slot.down)
                self.assertEqual(exchanges, found)
        for v in whole["refused"]:
            with self.subTest(v["name"]), self.assertRaises(Failure) as refused:
                load_of({"up_bytes": 0, "down_bytes": 1}, **v["load"])
            self.assertEqual("setup", refused.exception.kind)

    def test_bins(self):
        whole = vectors("bins.json")
        for v in whole["bins"]:
            self.assertEqual((v["from_bytes"], v["to_bytes"]), bysize.edges(bysize.bin_of(v["bytes"])))
        for v in whole["waiting"]:
            with self.subTest(v["name"]):
                others = [(bysize.bin_of(size), begin, end) for size, begin, end in v["others"]]
                largest = bysize.bin_of(v["largest_bytes"])
                self.assertEqual(v["behind"], bysize.is_behind(bysize.bin_of(v["bytes"]), largest, v["due"], v["sent"], others))

    def test_stream(self):
        for v in vectors("stream.json")["cases"]:
            with self.subTest(**v):
                piece = block(v["direction"], v["bytes"], v["chunk_bytes"])
                whole = (piece * (v["bytes"] // len(piece) + 1))[:v["bytes"]]
                self.assertEqual(v["first"], whole[:16].hex())
                self.assertEqual(v["crc32c"], f"{crc32c(whole):08x}")


if __name__ == "__main__":
    unittest.main()
