"""What an exchange costs in the kit: a slot's next and done, the window open, in ns: the least of many short rounds, which nothing else disturbed, and the median."""

import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from netdyno_kit.load import Load  # noqa: E402

ROUNDS, CALLS = 300, 500


def one_round(plan):
    load = Load({"seed": 1, "exchange": {"up_bytes": 100, "down_bytes": 100}, "load": {"connections": 1, **plan}})
    load.start()
    load.open(load.started)
    slot, now = load.slots[0], load.started
    following, done = slot.next, slot.done
    begin = time.perf_counter_ns()
    for _ in range(CALLS):
        following(now)
        done(now, now + 30_000, 100)
        now += 30_000
    return (time.perf_counter_ns() - begin) / CALLS


def main():
    empty = time.perf_counter_ns()
    for _ in range(CALLS):
        pass
    print(f"an empty turn of the loop: {(time.perf_counter_ns() - empty) / CALLS:.0f} ns")
    for name, plan in (("closed loop", {}), ("open loop, constant", {"rate": 1000.0}), ("open loop, Poisson", {"rate": 1000.0, "arrival": "poisson"})):
        took = sorted(one_round(plan) for _ in range(ROUNDS))
        print(f"next and done, {name}: {took[0]:.0f} ns (median {statistics.median(took):.0f})")


if __name__ == "__main__":
    main()
