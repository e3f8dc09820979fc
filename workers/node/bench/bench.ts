// Each arm against the bare program on its library, in turn: the rate, and exchanges per second of CPU time of both ends,
// which others on the machine disturb less; ratios with 95 % intervals.
//
//	bench OUT [BLOCKS] [MS]        OUT has the workers, and bare
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
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
		/** CPU time of all threads, in ns. */
		cpu: () => {
			const tasks = readdirSync(`/proc/${child.pid}/task`);
			return tasks.reduce((sum, id) => {
				const text = readFileSync(`/proc/${child.pid}/task/${id}/schedstat`, "latin1");
				return sum + Number.parseInt(text, 10);
			}, 0);
		},
		send: (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`),
		end: () => child.stdin.end(),
	};
}

type Lines = ReturnType<typeof lines>;

const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

interface Speed {
	rate: number;
	perCpuSecond: number;
}

/** From one count to another of what two processes did together. */
async function between(ends: Lines[], first: () => Promise<number>, last: () => Promise<number>): Promise<Speed> {
	const cpu = () => ends.reduce((sum, end) => sum + end.cpu(), 0);
	const [begun, used, from] = [await first(), cpu(), now()];
	const n = (await last()) - begun;
	return { rate: (n / (now() - from)) * 1e9, perCpuSecond: (n / (cpu() - used)) * 1e9 };
}

async function bare(library: string): Promise<Speed> {
	const server = lines(`${out}/bare`, [library, "server"]);
	const client = lines(`${out}/bare`, [library, "client", await server.next(), String(window)]);
	const count = async () => Number(await client.next());
	const speed = await between([server, client], count, count);
	client.end();
	server.end();
	return speed;
}

async function arm(worker: string, transport: string): Promise<Speed> {
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
	const mark = async (reset: boolean) => {
		client.send({ mark: { id: 1, reset } });
		return (await client.expect("mark")).reading.counts.exchanges as number;
	};
	const speed = await between(
		[server, client],
		() => mark(true),
		async () => {
			await pause(window);
			return mark(false);
		},
	);
	client.end();
	server.end();
	return speed;
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
	const used = () => process.cpuUsage().user * 1000;
	l.start(1);
	l.open(2);
	const n = 3_000_000;
	let best = Number.POSITIVE_INFINITY;
	for (let round = 0, at = 1000; round < 5; round++) {
		const from = used();
		for (let i = 0; i < n; i++) {
			const slot = l.slots[i & 3];
			if (slot === undefined) break;
			slot.next(at);
			slot.goesOut();
			at += 1000;
			slot.done(at, at + 30_000, BYTES);
		}
		best = Math.min(best, (used() - from) / n);
	}
	return best;
}

async function main(): Promise<void> {
	console.log(
		`next + goesOut + done: ${slotCost(0).toFixed(1)} ns in a closed loop, ${slotCost(1e6).toFixed(1)} ns in an open one`,
	);
	console.log("arm ÷ bare             by rate, 95 % interval   by CPU time, 95 % interval");
	for (const [library, worker, transport] of [
		["net", "netdyno-worker-node", "node-net"],
		["http1", "netdyno-worker-node", "node-http1"],
		["http2", "netdyno-worker-node", "node-http2"],
		["grpc", "netdyno-worker-grpc-js", "grpc-js"],
	] as const) {
		const rates: number[] = [];
		const costs: number[] = [];
		for (let block = 0; block < Number(blocks); block++) {
			const first = block % 2 === 0 ? await arm(worker, transport) : null;
			const peer = await bare(library);
			const mine = first ?? (await arm(worker, transport));
			rates.push(mine.rate / peer.rate);
			costs.push(mine.perCpuSecond / peer.perCpuSecond);
		}
		console.log(`${transport.padEnd(22)} ${summary(rates)}      ${summary(costs)}`);
	}
}

main().then(() => process.exit(0));
