// Each arm against the bare program on its library: rates of both ends, in turn, and their ratio with a 95 % interval.
//
//	bench OUT [BLOCKS] [MS]        OUT has the workers, and bare
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Load, now, parseSetup } from "netdyno-kit";

const CONNECTIONS = 16;
const BYTES = 100;
const [out = ".", blocks = "8", ms = "1000"] = process.argv.slice(2);
const window = Number(ms);

/** A process that is spoken to by lines. */
function lines(command: string, args: string[]) {
	const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
	const input = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	const next = async () => ((await input.next()).value ?? "") as string;
	const expect = async (name: string) => {
		for (let line = await next(); line !== ""; line = await next()) {
			const message = JSON.parse(line);
			if (message.error) throw new Error(line);
			if (message[name]) return message[name];
		}
		throw new Error(`${command} said no ${name}`);
	};
	return {
		next,
		expect,
		send: (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`),
		end: () => child.stdin.end(),
	};
}

const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

async function bare(library: string): Promise<number> {
	const server = lines(`${out}/bare`, [library, "server"]);
	const client = lines(`${out}/bare`, [library, "client", await server.next(), String(window)]);
	const rate = Number(await client.next());
	server.end();
	return rate;
}

async function arm(worker: string, transport: string): Promise<number> {
	const exchange = { up_bytes: BYTES, down_bytes: BYTES };
	const [server, client] = [lines(`${out}/${worker}`, []), lines(`${out}/${worker}`, [])];
	server.send({ setup: { trial: "bench", transport, role: "server", seed: 1, listen: "127.0.0.1:0", exchange } });
	const { addresses } = await server.expect("ready");
	client.send({
		setup: {
			trial: "bench",
			transport,
			role: "client",
			seed: 1,
			peers: addresses,
			exchange,
			load: { connections: CONNECTIONS },
		},
	});
	await client.expect("ready");
	client.send({ start: {} });
	await pause(window / 2);
	client.send({ mark: { id: 1, reset: true } });
	await client.expect("mark");
	await pause(window);
	client.send({ mark: { id: 2 } });
	const { counts, from_ns, to_ns } = await client.expect("result");
	client.end();
	server.end();
	return counts.exchanges / ((to_ns - from_ns) / 1e9);
}

/** The geometric mean of ratios with its 95 % interval by Student's t. */
function summary(ratios: number[]): string {
	const T = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13];
	const logs = ratios.map(Math.log);
	const mean = logs.reduce((a, b) => a + b, 0) / logs.length;
	const spread = Math.sqrt(logs.reduce((a, b) => a + (b - mean) ** 2, 0) / (logs.length - 1) / logs.length);
	const reach = (T[logs.length - 2] ?? 2) * spread;
	return [mean, mean - reach, mean + reach].map((x) => Math.exp(x).toFixed(3)).join("  ");
}

/** What next, goesOut and done take together for an exchange, without their two readings of the clock. */
function slotCost(rate: number): number {
	const l = new Load(parseSetup({ exchange: { up_bytes: BYTES, down_bytes: BYTES }, load: { connections: 4, rate } }));
	l.start(1);
	l.open(2);
	const n = 3_000_000;
	let best = Number.POSITIVE_INFINITY;
	for (let round = 0, at = 1000; round < 5; round++) {
		const from = now();
		for (let i = 0; i < n; i++) {
			const slot = l.slots[i & 3];
			if (slot === undefined) break;
			slot.next(at);
			slot.goesOut();
			at += 1000;
			slot.done(at, at + 30_000, BYTES);
		}
		best = Math.min(best, (now() - from) / n);
	}
	return best;
}

async function main(): Promise<void> {
	console.log(
		`next + goesOut + done: ${slotCost(0).toFixed(1)} ns in a closed loop, ${slotCost(1e6).toFixed(1)} ns in an open one`,
	);
	console.log("arm ÷ bare, by rate    ratio  95 % interval");
	for (const [library, worker, transport] of [
		["net", "netdyno-worker-node", "node-net"],
		["http1", "netdyno-worker-node", "node-http1"],
		["http2", "netdyno-worker-node", "node-http2"],
		["grpc", "netdyno-worker-grpc-js", "grpc-js"],
	] as const) {
		const ratios: number[] = [];
		let rate = 0;
		for (let block = 0; block < Number(blocks); block++) {
			const first = block % 2 === 0;
			const a = first ? await arm(worker, transport) : 0;
			const b = await bare(library);
			rate = first ? a : await arm(worker, transport);
			ratios.push(rate / b);
		}
		console.log(`${transport.padEnd(22)} ${summary(ratios)}   (${Math.round(rate)}/s)`);
	}
}

main().then(() => process.exit(0));
