// The README's worker, compiled as it stands, against conversations and netdyno check.
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { path, vectors } from "./vectors.js";

// Not in the kit, whose package.json would make an ES module of the bundle.
const OUT = mkdtempSync(`${tmpdir()}/netdyno-kit-`);
after(() => rmSync(OUT, { recursive: true }));
const WORKER = `${OUT}/netdyno-worker-readme`;
const PROMPT_MS = 10_000; // the bench's bound of 2 s is the check's to watch; this machine may be busy

function compile(): void {
	const code = /```ts\n(\/\/ A whole worker[\s\S]*?)```/.exec(readFileSync(path("kits/node/README.md"), "utf8"))?.[1];
	assert.ok(code, "README.md has a whole worker");
	assert.ok(code.split("\n").length <= 81, "it has at most 80 lines");
	writeFileSync(`${OUT}/readme.ts`, code);
	const esbuild = path("kits/node/node_modules/.bin/esbuild");
	const bundled = spawnSync(
		esbuild,
		[
			`${OUT}/readme.ts`,
			"--bundle",
			"--platform=node",
			"--format=cjs",
			`--alias:netdyno-kit=${path("kits/node/dist/src/index.js")}`,
			"--banner:js=#!/usr/bin/env node",
			`--outfile=${WORKER}`,
			"--log-level=warning",
		],
		{ encoding: "utf8" },
	);
	assert.equal(bundled.status, 0, bundled.stderr);
	chmodSync(WORKER, 0o755);
}

// biome-ignore lint/suspicious/noExplicitAny: messages are read as they come
type Said = any;

/** One worker and what it says. */
class Conversation {
	readonly child: ChildProcess = spawn(WORKER, [], { stdio: ["pipe", "pipe", "inherit"] });
	readonly status = new Promise<number | null>((resolve) => this.child.once("exit", resolve));
	private readonly said: Said[] = [];
	private wake: () => void = () => {};
	private ended = false;
	transport = "";

	constructor() {
		const lines = createInterface({ input: this.child.stdout as NodeJS.ReadableStream });
		lines.on("line", (line) => {
			this.said.push(JSON.parse(line));
			this.wake();
		});
		lines.on("close", () => {
			this.ended = true;
			this.wake();
		});
		this.child.stdin?.on("error", () => {}); // it may have ended
	}

	async next(): Promise<Said | null> {
		const deadline = Date.now() + PROMPT_MS;
		while (this.said.length === 0 && !this.ended) {
			assert.ok(Date.now() < deadline, "it says nothing");
			await new Promise<void>((resolve) => {
				const timer = setTimeout(resolve, 100);
				this.wake = () => {
					clearTimeout(timer);
					resolve();
				};
			});
		}
		return this.said.shift() ?? null;
	}

	async expect(name: string): Promise<Said> {
		for (;;) {
			const message = await this.next();
			assert.ok(message, `${name} did not come`);
			if (name in message) return message;
			assert.ok("tick" in message, `expected ${name}, found ${JSON.stringify(message)}`);
		}
	}

	send(line: string): void {
		this.child.stdin?.write(`${line}\n`);
	}
}

function setupLine(step: Said, transport: string, peer: string): string {
	return JSON.stringify({
		setup: {
			trial: "vector",
			transport: step.transport ?? transport,
			role: step.setup,
			seed: 1,
			...(step.setup === "server" ? { listen: "127.0.0.1:0" } : { peers: [step.peer ?? peer] }),
			exchange: { up_bytes: 64, down_bytes: 64 },
			load: step.load ?? { connections: step.setup === "server" ? 0 : 2 },
			options: step.options ?? {},
		},
	});
}

function contains(found: Said, wanted: Said, at: string): void {
	if (typeof wanted !== "object") return assert.equal(found ?? (typeof wanted === "number" ? 0 : false), wanted, at);
	for (const key of Object.keys(wanted)) contains(found?.[key], wanted[key], `${at}.${key}`);
}

async function server(): Promise<[Conversation, string]> {
	const s = new Conversation();
	const { transports } = (await s.expect("hello")).hello;
	s.send(setupLine({ setup: "server" }, transports[0].name, ""));
	return [s, (await s.expect("ready")).ready.addresses[0]];
}

async function follow(c: Conversation, steps: Said[], peer: string): Promise<void> {
	for (const step of steps) {
		if (step.expect) {
			const message = await c.expect(step.expect);
			if (message.hello) c.transport = message.hello.transports[0].name;
			contains(message, step.has ?? {}, step.expect);
			if (step.fatal !== undefined) assert.equal(message.error.fatal ?? false, step.fatal);
		} else if (step.setup) c.send(setupLine(step, c.transport, peer));
		else if (step.send) c.send(JSON.stringify(step.send));
		else if (step.raw) c.send(typeof step.raw !== "string" ? step.raw.repeat.repeat(step.raw.times) : step.raw);
		else if (step.eof) c.child.stdin?.end();
		else if (step.none) for (let m = await c.next(); m !== null; m = await c.next()) assert.ok(!(step.none in m));
		else assert.fail(JSON.stringify(step));
	}
}

test("the README's worker", async (t) => {
	compile();
	for (const { name, steps, exit } of vectors("conversation")) {
		await t.test(`conversation: ${name}`, async () => {
			const needsPeer = steps.some((s: Said) => s.setup === "client" && !s.peer);
			const [peer, address] = needsPeer ? await server() : [null, ""];
			const c = new Conversation();
			try {
				await follow(c, steps, address);
				const status = await c.status;
				if (exit !== "any") assert.equal(status, exit ?? 0);
			} finally {
				c.child.kill("SIGKILL");
				peer?.child.stdin?.end();
			}
		});
	}
	const netdyno = process.env.NETDYNO ?? "";
	await t.test(
		"netdyno check",
		{ skip: existsSync(netdyno) ? false : "there is no netdyno here: make go-build" },
		() => {
			const { status, stdout } = spawnSync(netdyno, ["check", WORKER], { encoding: "utf8" });
			assert.equal(status, 0, stdout);
			assert.match(stdout, /, 0 failed,/);
		},
	);
});

test("mark ids of 64 bits come back whole", async () => {
	const [s] = await server();
	s.send('{"mark":{"id":9223372036854775807}}');
	await new Promise<void>((resolve) => {
		s.child.stdout?.on("data", (chunk: Buffer) => chunk.includes('"id":9223372036854775807,') && resolve());
	});
	s.child.stdin?.end();
	assert.equal(await s.status, 0);
});
