import assert from "node:assert/strict";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import { now, processCpu } from "../src/clock.js";
import type { Setup, Table } from "../src/contract.js";
import { Counters, gapsOf, Reasons, Times } from "../src/counters.js";
import { Deadlines } from "../src/deadlines.js";
import { type Drawn, Draws, wrongTable } from "../src/draws.js";
import { Histogram } from "../src/histogram.js";
import { LET_GO, Load, type Slot } from "../src/load.js";
import { NEVER_DUE, Places } from "../src/places.js";
import { Schedule } from "../src/schedule.js";
import { Service, spend } from "../src/service.js";
import { parseSetup } from "../src/setup.js";
import { binOf, edgesOf, Waits } from "../src/sized.js";
import { plan, setupOf } from "./setup.js";
import { exact, vectors } from "./vectors.js";

// biome-ignore lint/suspicious/noExplicitAny: vectors are read as they are
type Said = any;

function payloadOf(text: string): string {
	const packed = Buffer.from(text, "base64");
	return inflateSync(packed.subarray(8)).toString("hex");
}

for (const { name, values, payload, encoded } of vectors("hist")) {
	test(`histogram: ${name}`, () => {
		const h = new Histogram();
		for (const [value, count] of values) h.record(value, count);
		assert.equal(h.payload().toString("hex"), payload);
		if (values.length > 0) assert.equal(payloadOf(h.encode()), payload);
		const again = new Histogram();
		for (const [value, count] of Histogram.decode(encoded)) again.record(value, count);
		assert.equal(again.payload().toString("hex"), payload);
	});
}

test("a histogram counts what is beyond its range, and below 0", () => {
	const h = new Histogram();
	h.record(-5);
	h.record(4e11, 2);
	assert.deepEqual([h.count, h.overMax, Histogram.decode(h.encode()).map(([, n]) => n)], [3, 2, [1, 2]]);
});

for (const { name, sent, from_ns, until_ns, arrivals } of vectors("arrivals")) {
	test(`arrivals: ${name}`, () => {
		const found = gapsOf(Float64Array.from(sent), from_ns, until_ns);
		if (arrivals === null) return assert.equal(found, null);
		const { sum_squares_ns2, ...rest } = arrivals;
		assert.ok(Math.abs((found?.sum_squares_ns2 ?? 0) - sum_squares_ns2) <= 1e-12 * sum_squares_ns2);
		assert.deepEqual({ ...found, sum_squares_ns2 }, { ...rest, sum_squares_ns2 });
	});
}

for (const { name, failures, reasons } of vectors("reasons")) {
	test(`reasons: ${name}`, () => {
		const all = new Reasons();
		for (const { kind, text, count } of failures) for (let i = 0; i < count; i++) all.add(kind, text ?? "");
		assert.deepEqual(all.most(), reasons);
	});
}

/** A load of one slot in a closed loop, whose slot's times a test says itself. */
function closed(slots = 1, downBytes = 1): Load {
	const load = new Load(setupOf({ load: plan({ connections: slots }), down_bytes: downBytes }));
	load.start(0);
	return load;
}

for (const { name, from_ns, to_ns, exchanges, inside } of vectors("inside")) {
	test(`inside: ${name}`, () => {
		const times = new Times(plan({}));
		const [window, drain] = [new Counters(times), new Counters(times)];
		window.enter(from_ns, Number.POSITIVE_INFINITY, 1);
		drain.enter(from_ns, to_ns, 0);
		for (const [free, sent, done] of exchanges) (done > to_ns ? drain : window).record(free, free, sent, done, 1);
		const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-8, `${a} for ${b}`);
		near(window.exchanges + window.partExchanges + drain.partExchanges, inside.exchanges);
		near(window.exchanges + window.partCycles + drain.partCycles, inside.cycles);
		assert.equal(window.idle + drain.idle, inside.idle_ns);
	});
}

for (const { name, down_bytes, before, window, drained, values } of vectors("lengths")) {
	test(`lengths: ${name}`, () => {
		const load = closed(1, down_bytes);
		const complete = (lengths: number[]) => {
			for (const bytes of lengths) load.phase.record(1, 1, 1, 2, bytes);
		};
		complete(before);
		load.open(1);
		complete(window);
		load.end(2);
		complete(drained);
		const lengths = (load.result(3) as { lengths?: string }).lengths ?? "";
		const expected = new Histogram();
		for (const [bytes, count] of values ?? []) expected.record(bytes, count);
		assert.deepEqual(Histogram.decode(lengths), Histogram.decode(expected.encode()));
	});
}

for (const { name, slots, steps, sent } of vectors("sent")) {
	test(`sent: ${name}`, () => {
		const load = closed(slots);
		for (const [what, slot] of steps) {
			const s = load.slots[slot ?? 0];
			if (what === "open") load.open(1);
			else if (what === "close") load.end(2);
			else if (what === "begin") s?.next(1);
			else if (what === "out") s?.goesOut();
			else if (what === "done") s?.done(1, 1, 1);
			else if (what === "fail") s?.fail("peer", 1);
			else assert.fail(what);
		}
		assert.deepEqual(load.sent(), { before: 0, window: 0, drain: 0, again: 0, ...sent });
	});
}

for (const { name, seed, slots, load, slots_due } of exact("schedule").schedules) {
	test(`schedule: ${name}`, () => {
		const p = plan(load);
		const places = Places.of(p, BigInt(seed));
		for (const { slot, due_ns } of slots_due) {
			const s = new Schedule(p, BigInt(seed), slot, slots, places);
			let k = 0;
			for (const [at, due] of due_ns) {
				for (; k < at; k++) s.advance();
				assert.equal(s.peek(), due ?? NEVER_DUE, `exchange ${k} of slot ${slot}`);
			}
		}
	});
}

/** A table of sizes.json, which may be one of many equal steps. */
function tableOf(table: Said): Table {
	if (Array.isArray(table)) return table as Table;
	const { many, step_end, step } = table;
	return Array.from({ length: many }, (_, i) => [(i + 1) * step_end, i * step, i * step + step - 1]);
}

/** A setup whose messages have sizes of these tables. */
function drawing(seed: bigint, up: Table, down: Table): Setup {
	const setup = setupOf({});
	const most = (table: Table) => Math.max(0, ...table.map(([, , high]) => high));
	setup.seed = seed;
	Object.assign(setup.exchange, { up_sizes: up, down_sizes: down, up_bytes: most(up), down_bytes: most(down) });
	return setup;
}

const sizes = exact("sizes");
for (const { name, seed, numbers, up_bytes, down_bytes } of sizes.draws) {
	test(`sizes: ${name} of seed ${seed}`, () => {
		const of = tableOf(sizes.tables[name]);
		const draws = new Draws(drawing(BigInt(seed), of, of));
		const found = numbers.map((n: number | bigint) => draws.of(n));
		assert.deepEqual(
			found.map((s: Drawn) => s.up),
			up_bytes,
		);
		assert.deepEqual(
			found.map((s: Drawn) => s.down),
			down_bytes,
		);
	});
}

test("sizes: refused tables", () => {
	for (const each of sizes.refused) {
		const table = tableOf(each.table ?? each.many);
		assert.notEqual(wrongTable(table, 1 << 30), "", JSON.stringify(each));
	}
});

/** The setup of a client with these classes, on a wire with headers. */
function mixed(seed: bigint, up_bytes: number, down_bytes: number, load: Said): Setup {
	const setup = parseSetup({ role: "client", exchange: { up_bytes, down_bytes }, load: { connections: 1, ...load } });
	setup.seed = seed;
	return setup;
}

const mix = exact("mix");
test("mix: classes, sizes and keys", () => {
	assert.ok(mix.draws.length >= 20);
	for (const { seed, number, class: kind, up_bytes, down_bytes, key } of mix.draws) {
		const draws = new Draws(mixed(BigInt(seed), 1024, 1 << 20, mix.load));
		assert.deepEqual(draws.of(number), { up: up_bytes, down: down_bytes, kind, key }, `seed ${seed}, number ${number}`);
	}
});

for (const { name, load } of mix.refused) {
	test(`mix refused: ${name}`, () => {
		assert.throws(() => new Load(mixed(1n, 1024, 1 << 20, load)), { kind: "setup" });
	});
}

const think = exact("think");
for (const { seed, load, service_ns, slots } of think.cases) {
	test(`think: ${load.connections} connections`, () => {
		const l = new Load(mixed(BigInt(seed), 0, 300, load));
		const t0 = 1_000_000;
		l.start(t0);
		for (const [i, exchanges] of slots.entries()) {
			const slot = l.slots[i] as Slot;
			let at = t0;
			for (const [kind, due] of exchanges) {
				const found = slot.next(at);
				assert.deepEqual([slot.kind, found - t0], [kind, due]);
				at = found + service_ns;
				slot.done(found, at, slot.down);
			}
		}
	});
}

for (const { name, load } of think.refused) {
	test(`think refused: ${name}`, () => {
		assert.throws(() => new Load(mixed(1n, 0, 300, load)), { kind: "setup" });
	});
}

test("bins: sizes, and what small exchanges wait for", () => {
	const bins = vectors("bins");
	for (const { bytes, ...edges } of bins.bins) assert.deepEqual(edgesOf(binOf(bytes)), edges, `${bytes} B`);
	for (const { name, bytes, due, sent, others, behind } of bins.waiting) {
		const waits = new Waits(1);
		for (const [size, from, to] of others) waits.completed(0, binOf(size), from, to);
		assert.equal(waits.behind(binOf(bytes), due, sent), behind, name);
	}
});

test("bins and classes of a result hold every exchange once", () => {
	const half = 2 ** 31;
	const classes = [
		{ name: "small", end: half, up_bytes: 10, down_bytes: 100 },
		{ name: "large", end: 2 * half, up_bytes: 10, down_bytes: 1 << 20 },
	];
	const load = new Load(mixed(3n, 10, 1 << 20, { in_flight: 2, classes }));
	const [a, b] = load.slots as [Slot, Slot];
	load.start(1);
	load.open(2);
	const n = [0, 0, 0];
	for (let at = 10; at < 4000; at += 10) {
		a.next(at); // in flight while b has an exchange
		b.next(at);
		const waited = b.kind === 0 && a.kind === 1;
		b.done(at, at + 5, b.down);
		n[b.kind] = (n[b.kind] as number) + 1;
		if (waited) n[2] = (n[2] as number) + 1;
		a.fail("peer", at + 6);
	}
	const result = load.result(5000) as Said;
	const count = (text: string) => Histogram.decode(text).reduce((sum, [, times]) => sum + times, 0);
	assert.deepEqual(
		result.bins.map((bin: Said) => [bin.from_bytes, count(bin.service), count(bin.behind ?? "")]),
		[
			[64, n[0], n[2]],
			[1 << 20, n[1], 0],
		],
	);
	assert.equal(count(result.bins[0].behind) + count(result.bins[0].free), n[0]);
	assert.deepEqual(
		result.classes.map((c: Said) => [c.name, c.exchanges, c.sent_bytes, c.received_bytes, count(c.service)]),
		[
			["small", n[0], 10 * (n[0] as number), 100 * (n[0] as number), n[0]],
			["large", n[1], 10 * (n[1] as number), (n[1] as number) * 2 ** 20, n[1]],
		],
	);
	const failed = result.classes.reduce((sum: number, c: Said) => sum + c.errors, 0);
	assert.deepEqual([failed, result.counts.errors.peer], [399, 399]);
});

test("work on the CPU is CPU time of the thread, and work asleep is none", async () => {
	const work = (by: string, ns: number) =>
		Service.of(parseSetup({ role: "server", work: { by, ns: [[2 ** 32, ns, ns]] } })) as Service;
	spend(1); // learns what a reading takes
	const [cpu, service] = [processCpu(), work("cpu", 3_000_000)];
	let done = 0;
	for (let i = 0; i < 3; i++) service.serve(() => done++);
	assert.equal(done, 3);
	assert.ok(processCpu() - cpu >= 8_900_000);
	const from = now();
	const asleep = [1, 2, 3].map(() => work("sleep", 20_000_000));
	await Promise.all(asleep.map((one) => new Promise<void>((rested) => one.serve(rested))));
	assert.ok(now() - from >= 20_000_000);
	for (const one of asleep) one.close(); // else their threads keep the process
	assert.throws(() => work("cpu", 4_000_000_001), { kind: "setup" });
});

test("a deadline is of one exchange", async () => {
	const expired: number[] = [];
	const deadlines = new Deadlines(3, (slot) => expired.push(slot));
	const until = now() + 5e6;
	for (const slot of [0, 1, 2]) deadlines.begin(slot, until);
	assert.equal(deadlines.end(0, until - 1), null);
	deadlines.begin(0, until + 1e12);
	assert.equal(deadlines.end(1, until - 1), null);
	while (expired.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
	assert.deepEqual(expired, [2]);
	assert.equal(deadlines.end(2, now())?.kind, "timeout");
});

for (const { name, load } of vectors("schedule").refused) {
	test(`schedule refused: ${name}`, () => {
		assert.throws(() => Places.of(plan(load), 1n), { kind: "setup" });
	});
}

test("constant arrivals keep one even rhythm over all slots", () => {
	const p = plan({ connections: 2, in_flight: 2, rate: 1000 });
	const load = new Load(setupOf({ load: p }));
	load.start(5);
	const dues = load.slots.flatMap((s) => [0, 1, 2].map(() => s.next(5) - 5)).sort((a, b) => a - b);
	assert.deepEqual(
		dues,
		Array.from({ length: 12 }, (_, k) => (k + 0.5) * 1e6),
	);
});

test("Poisson arrivals have the mean and the scatter of their rate", () => {
	const s = new Schedule(plan({ rate: 1000, arrival: "poisson" }), 7n, 3, 4);
	const gaps: number[] = [];
	for (let last = 0, i = 0; i < 20_000; i++) {
		gaps.push(s.peek() - last);
		last = s.peek();
		s.advance();
	}
	const mean = gaps.reduce((a, b) => a + b) / gaps.length;
	const deviation = Math.sqrt(gaps.reduce((a, b) => a + (b - mean) ** 2, 0) / gaps.length);
	assert.ok(Math.abs(mean / 4e6 - 1) < 0.03 && Math.abs(deviation / mean - 1) < 0.05, `${mean} ${deviation}`);
});

test("a slot that shares an amount, and one of a closed loop after the end", () => {
	const load = new Load(setupOf({ load: plan({ connections: 1, in_flight: 2, amount: 3 }) }));
	load.start(1);
	const made = load.slots.map((slot) => {
		let n = 0;
		for (; slot.next(2) !== LET_GO; n++) slot.done(2, 3, 1);
		return n;
	});
	assert.deepEqual(made, [2, 1]);
	const ended = closed();
	ended.end(4);
	assert.equal(ended.slots[0]?.next(5), LET_GO);
});

test("an open loop still sends what was due before the closing, and the rest is unfinished", () => {
	const load = new Load(setupOf({ load: plan({ rate: 1e6 }) }));
	load.start(0.5);
	load.open(1);
	const slot = load.slots[0];
	slot?.next(600);
	load.end(2500); // due at 500, 1500 and 2500.5
	slot?.done(600, 3000, 1);
	assert.equal(slot?.next(3000), 1500.5);
	const result = load.result(4000);
	assert.deepEqual([result.drained, result.unfinished], [1, 1]);
});

test("a load that cannot be says which key", () => {
	const bad: Partial<Setup["load"]>[] = [
		{ connections: 0 },
		{ in_flight: 1 << 23 },
		{ active_share: 2 },
		{ rate: -1 },
		{ rate: 5, think_ns: 1 },
	];
	for (const load of bad) {
		assert.throws(
			() => new Load(setupOf({ load: plan(load) })),
			new RegExp(`load\\.${Object.keys(load)[Object.keys(load).length - 1]}`),
		);
	}
});
