import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAddress, plainAddress } from "../src/address.js";
import { Agenda } from "../src/agenda.js";
import { CallClient } from "../src/call_client.js";
import { now } from "../src/clock.js";
import { EchoClient, EchoPayload, EchoVerification } from "../src/echo.js";
import { Flights } from "../src/flow.js";
import { admits } from "../src/listen.js";
import { LET_GO, Load, type Slot } from "../src/load.js";
import { crc32c, crcText, mix, output, randomContent } from "../src/random.js";
import { parseSetup } from "../src/setup.js";
import { StreamContent, StreamPlan, StreamServer } from "../src/stream.js";
import { plan, setupOf } from "./setup.js";
import { exact, vectors } from "./vectors.js";

for (const { direction, bytes, chunk_bytes, first, crc32c: crc } of vectors("stream").cases) {
	test(`stream: ${bytes} bytes ${direction} in chunks of ${chunk_bytes}`, () => {
		const content = new StreamContent(direction, bytes, chunk_bytes);
		const parts: Buffer[] = [];
		for (let at = 0; at < bytes; at += parts[parts.length - 1]?.length ?? 0) parts.push(content.from(at));
		const whole = Buffer.concat(parts);
		assert.equal(whole.subarray(0, 16).toString("hex"), first);
		assert.equal(crcText(crc32c(whole)), crc);
		assert.equal(content.agreeing(0, whole), bytes);
		whole.writeUInt8(whole.readUInt8(bytes - 1) ^ 1, bytes - 1);
		assert.equal(content.agreeing(0, whole), bytes - 1);
	});
}

for (const { seed, stream, outputs } of exact("sizes").streams) {
	test(`draws: stream ${stream} of seed ${seed}`, () => {
		const base = output(BigInt(seed), BigInt(stream - 1));
		const found = outputs.map((_: string, i: number) => output(base, BigInt(i)).toString(16).padStart(16, "0"));
		assert.deepEqual(found, outputs);
	});
}

test("draws: the generator that content is made by", () => {
	assert.equal(mix(0n), 0xe220a8397b1dcdafn); // from Vigna's splitmix64.c
});

test("content of codec bytes is what Go's rand.NewChaCha8 makes", () => {
	const made: [number, "u" | "d", string][] = [
		[100, "u", "e7006412"],
		[2000, "u", "bb802cb4"],
		[70_001, "u", "839fa5fd"],
		[100, "d", "9a283872"],
		[70_001, "d", "e75e3c89"],
	];
	for (const [bytes, direction, crc] of made) assert.equal(crcText(crc32c(randomContent(bytes, direction))), crc);
});

/** A client's flow of one connection, whose slots have begun. */
function flowOf(inFlight: number): { load: Load; flow: EchoClient; payload: EchoPayload } {
	const setup = setupOf({ load: plan({ in_flight: inFlight }), down_bytes: 10 });
	const load = new Load(setup);
	load.start(1);
	const payload = new EchoPayload(setup);
	let flow: EchoClient | null = null;
	const agenda = new Agenda(load, (slot: Slot) => flow?.send(slot));
	flow = new EchoClient(payload, new Flights(0, load.slotsOf(0), agenda));
	void agenda.run();
	return { load, flow, payload };
}

test("echo: replies come in any pieces, and each completes the oldest exchange", () => {
	const { load, flow, payload } = flowOf(3);
	assert.equal(flow.outgoing(now()).length, 30);
	const reply = payload.copies.subarray(0, 10);
	flow.received(reply.subarray(0, 4), now());
	assert.equal(load.counts().exchanges, 0);
	flow.received(Buffer.concat([reply.subarray(4), reply, reply.subarray(0, 9)]), now());
	assert.deepEqual([load.counts().exchanges, load.counts().received_bytes], [2, 20]);
	assert.equal(flow.outgoing(now()).length, 20); // the two whose replies came begin again
});

test("echo: bytes that answer nothing are invalid", () => {
	const { flow } = flowOf(1);
	flow.outgoing(now());
	assert.throws(() => flow.received(Buffer.alloc(11), now()), /answer no exchange/);
});

test("echo: a lost connection fails what is in flight", () => {
	const { load, flow } = flowOf(4);
	flow.outgoing(now());
	flow.abandon("peer", now(), "connection reset");
	assert.deepEqual(load.counts().errors, { peer: 4 });
});

test("echo: a verification compares by checksum", () => {
	const message = new EchoPayload(setupOf({ down_bytes: 100 })).stamped(3);
	const good = new EchoVerification(message);
	good.received(message.subarray(0, 60));
	assert.ok(!good.verified());
	good.received(message.subarray(60));
	assert.ok(good.verified());
	const bad = new EchoVerification(message);
	assert.throws(() => bad.received(Buffer.alloc(100)), /does not echo/);
});

test("stream both: the server holds back the last byte until all have come up", () => {
	const setup = setupOf({ stream: "both", up_bytes: 20, down_bytes: 50 });
	const traffic = { received: 0, handed: 0, exchanges: 0, invalid: 0 };
	const server = new StreamServer(new StreamPlan(setup), traffic);
	const up = new StreamContent("up", 20, 65_536).from(0);
	const drain = () => {
		let n = 0;
		for (; server.unsent(); ) {
			const piece = server.outgoing();
			n += piece.length;
			server.written(piece.length);
		}
		return n;
	};
	assert.equal(drain(), 0);
	server.received(up.subarray(0, 1));
	assert.equal(drain(), 49);
	server.received(up.subarray(1));
	assert.equal(drain(), 1);
	assert.equal(traffic.exchanges, 1);
});

test("an agenda begins slots at their due times and no earlier, and ends", async () => {
	const load = new Load(setupOf({ load: plan({ connections: 4, rate: 400, amount: 10 }) }));
	const early: number[] = [];
	let n = 0;
	const agenda: Agenda = new Agenda(load, (slot) => {
		const at = now();
		n++;
		early.push(slot.pending - at);
		setImmediate(() => {
			slot.done(at, now(), 1);
			agenda.ask(slot);
		});
	});
	load.start(now());
	await agenda.run();
	assert.equal(n, 40);
	assert.ok(Math.max(...early) <= 0, `begun ${Math.max(...early)} ns early`);
});

test("a call that passes its deadline has failed, and what comes of it later counts no more", async () => {
	const table = { end: 2 ** 32, up_bytes: 1, down_bytes: 1, deadline_ns: 50e6 };
	const setup = parseSetup({
		...{ role: "client", peers: ["127.0.0.1:9"] },
		exchange: { up_bytes: 1, down_bytes: 1 },
		load: { connections: 1, amount: 2, classes: [{ name: "bounded", ...table }] },
	});
	const load = new Load(setup);
	const abandoned: number[] = [];
	let calls = 0;
	let late: (received: number) => void = () => {};
	const client = await CallClient.connect(setup, load, {
		open: async () => {},
		call: () =>
			++calls > 1
				? Promise.resolve(1)
				: new Promise((resolve) => {
						late = resolve;
					}),
		abandon: (_, slot) => {
			abandoned.push(slot.number);
			setImmediate(() => late(1));
		},
		failure: assert.fail,
		connections: () => 1,
		redialled: () => 0,
	});
	load.start(now());
	const connection = setInterval(() => {}, 1000); // keeps the process, as a real one does
	await client.run();
	clearInterval(connection);
	const { counts, classes } = load.result(now()) as { counts: { errors?: object }; classes?: { errors: number }[] };
	assert.deepEqual(
		[abandoned, counts, classes?.[0]?.errors],
		[[0], { exchanges: 1, sent_bytes: 1, received_bytes: 1, errors: { timeout: 1 } }, 1],
	);
});

test("a load that has ended lets waiting slots go", async () => {
	const load = new Load(setupOf({ load: plan({ connections: 3, rate: 0.001 }) }));
	const agenda = new Agenda(load, () => assert.fail("it was not due"));
	load.start(now());
	const over = agenda.run();
	load.end(now());
	agenda.ended();
	await over;
	assert.equal(load.slots[0]?.next(now()), LET_GO);
});

test("the clock is monotonic and finer than a microsecond", () => {
	const at = Array.from({ length: 2000 }, now);
	const steps = at.slice(1).map((t, i) => t - (at[i] as number));
	assert.ok(steps.every((s) => s >= 0));
	assert.ok(
		steps.some((s) => s > 0 && s < 1000),
		"no two readings are less than a microsecond apart",
	);
});

test("addresses", () => {
	assert.deepEqual(parseAddress("[::1]:80", "x"), { host: "::1", port: 80 });
	assert.deepEqual(parseAddress("127.0.0.1:0", "x"), { host: "127.0.0.1", port: 0 });
	for (const bad of ["localhost:1", "127.0.0.1", "::1:80", "127.0.0.1:70000", ""])
		assert.throws(() => parseAddress(bad, "x"));
	assert.equal(plainAddress("::ffff:127.0.0.1"), "127.0.0.1");
	assert.deepEqual(
		[admits([], "1.2.3.4"), admits(["1.2.3.4"], "1.2.3.5"), admits(["::1"], "::1")],
		[true, false, true],
	);
});
