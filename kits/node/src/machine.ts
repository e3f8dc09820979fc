// The contract's state machine.
//
//   born ─hello→ idle ─setup/ready→ ready ─start→ running ─mark(reset)→ window ─mark, stop/result→ done ─EOF→ exit
import { writeSync } from "node:fs";
import { now, processCpu } from "./clock.js";
import {
	CONTRACT_VERSION,
	type Counts,
	Failure,
	Fields,
	printed,
	type Role,
	type Sent,
	type Setup,
} from "./contract.js";
import type { Json } from "./json.js";
import { LineReader, type Message, parseLine } from "./line.js";
import { Load } from "./load.js";
import { completeOptions, findTransport } from "./options.js";
import { Runtime } from "./runtime.js";
import { parseSetup } from "./setup.js";
import type { Client, Server, Transport, WorkerInfo } from "./transport.js";

const TICK_MS = 200;
/** How long a timer of Node's waits at most. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type State = "idle" | "preparing" | "ready" | "running" | "draining" | "done";

/** Runs a worker: hello, then the bench's commands until stdin ends, which ends the process. Call it once. */
export function runWorker(info: WorkerInfo, transports: readonly Transport[]): void {
	const machine = new Machine(info, transports, sendLine, (status) => process.exit(status));
	process.on("uncaughtException", (error) => machine.fail(error));
	process.on("unhandledRejection", (error) => machine.fail(error));
	const reader = new LineReader(
		(line) => machine.line(line),
		(why) => machine.complain(why),
	);
	process.stdin.on("data", (chunk: Buffer) => reader.push(chunk));
	const end = () => {
		reader.end();
		process.exit(0);
	};
	process.stdin.on("end", end);
	process.stdin.on("error", end);
	machine.hello();
}

/** Writes a line to stdout as a whole. A closed stdout means that the bench is gone. */
function sendLine(line: string): void {
	const bytes = Buffer.from(line);
	const pause = new Int32Array(new SharedArrayBuffer(4));
	for (let at = 0; at < bytes.length; ) {
		try {
			at += writeSync(1, bytes, at);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EAGAIN") process.exit(1);
			Atomics.wait(pause, 0, 0, 1); // stdout shares stdin's open file, which does not block
		}
	}
}

/** The conversation with the bench. */
export class Machine {
	private state: State = "idle";
	private setup: Setup | null = null;
	private server: Server | null = null;
	private client: Client | null = null;
	private load: Load | null = null;
	private readonly runtime = new Runtime();
	private overdue: NodeJS.Timeout | undefined;
	private nextTick = now() + TICK_MS * 1e6;
	private over = false;

	/** write sends a line with its newline; exit ends the process. */
	constructor(
		private readonly info: WorkerInfo,
		private readonly transports: readonly Transport[],
		private readonly write: (line: string) => void,
		private readonly exit: (status: number) => void,
	) {}

	hello(): void {
		const { name, version, libraries } = this.info;
		const transports = this.transports.map((t) => t.info);
		this.send("hello", { contract: CONTRACT_VERSION, worker: name, version, libraries, transports });
		this.await();
	}

	/** Carries out one line of the bench's. */
	line(text: string): void {
		try {
			this.command(parseLine(text));
		} catch (error) {
			// A line that is none, or a field of another type: only this line is bad.
			if (error instanceof Failure && error.kind === "invalid") this.complain(error);
			else this.fail(error);
		}
	}

	/** Answers what is no command, or does not fit the state. */
	complain(why: Error): void {
		this.send("error", { kind: "invalid", text: why.message, fatal: false });
	}

	/** Ends the trial. */
	fail(error: unknown): void {
		if (this.over) return;
		const failure = error instanceof Failure ? error : null;
		const text = failure?.message ?? (error instanceof Error ? (error.stack ?? error.message) : String(error));
		const sent = this.load !== null && this.client !== null ? this.sent() : undefined;
		this.send("error", { kind: failure?.kind ?? "bug", text, fatal: true, ...(sent ? { sent } : {}) });
		this.over = true;
		this.exit(1);
	}

	private command({ name, body }: Message): void {
		switch (name) {
			case "setup":
				return this.prepare(body);
			case "start":
				return this.start();
			case "mark":
				return this.mark(body);
			case "stop":
				return this.stop();
			default:
				this.odd(`${name} is not a command of the bench`);
		}
	}

	private prepare(body: Json): void {
		if (this.state !== "idle") return this.odd("setup came twice; a worker serves one trial");
		const setup = parseSetup(body);
		const transport = findTransport(this.transports, setup);
		setup.wire = transport.info.wire;
		setup.options = completeOptions(transport, setup.role as Role, setup.options);
		this.setup = setup;
		this.state = "preparing";
		this.open(transport, setup).then(
			() => this.ready(setup),
			(error) => this.fail(error),
		);
	}

	private async open(transport: Transport, setup: Setup): Promise<void> {
		if (setup.role === "server") {
			this.server = (await transport.server?.(setup)) ?? null;
			return;
		}
		const load = new Load(setup);
		this.client = (await transport.client?.(setup, load)) ?? null;
		this.load = load;
	}

	private ready(setup: Setup): void {
		const end = this.server ?? this.client;
		if (end === null) throw new Error(`transport ${setup.transport} declares role ${setup.role} and does not make it`);
		this.state = "ready";
		this.send("ready", { options: setup.options, threads: 1, ...end.ready() });
	}

	private start(): void {
		const { client, load } = this;
		if (!this.atReady()) return this.odd("start came before ready");
		if (client === null || load === null) return this.odd("start came to a server, which serves from ready on");
		if (this.state !== "ready") return this.odd("start came twice");
		this.state = "running";
		load.start(now());
		client.run().then(
			() => this.finish(),
			(error) => this.fail(error),
		);
	}

	private mark(body: Json): void {
		const f = new Fields(body, "mark");
		const [id, reset] = [f.exact("id"), f.flag("reset")];
		if (!this.atReady()) return this.odd("mark came before ready");
		const at = now();
		const cpu = processCpu();
		const load = this.load;
		const counts = this.counts();
		if (load !== null && this.state !== "done") {
			if (reset) load.open(at);
			else if (load.opened && !load.ended) {
				load.end(at);
				if (this.state === "running") this.client?.ended();
			}
		}
		const reading = { at_ns: at, cpu_ns: cpu, counts, runtime: this.runtime.read() };
		this.send("mark", { id, reset, reading });
	}

	/** A server answers at once; a client when it has drained, at the latest when the time for that is over. */
	private stop(): void {
		if (!this.atReady()) return this.odd("stop came before ready");
		const { load, client } = this;
		if (this.state === "running" && load !== null) {
			this.state = "draining";
			load.end(now());
			client?.ended();
			const ms = Math.min(load.plan.drain_ns / 1e6, MAX_TIMER_MS);
			this.overdue = setTimeout(() => client?.close(), ms);
		} else if (this.state === "ready") this.finish();
	}

	private finish(): void {
		if (this.over || this.state === "done") return;
		clearTimeout(this.overdue);
		this.state = "done";
		const at = now();
		const { load } = this;
		if (load === null) {
			this.send("result", { from_ns: 0, to_ns: 0, counts: this.counts(), runtime: this.runtime.read() });
			return;
		}
		const result = load.result(at);
		result.counts = this.ofClient(result.counts);
		this.send("result", { ...result, sent: this.sent(), runtime: this.runtime.read() });
	}

	private counts(): Counts {
		if (this.load !== null) return this.ofClient(this.load.counts());
		return this.server?.counts() ?? { exchanges: 0, sent_bytes: 0, received_bytes: 0 };
	}

	private ofClient(counts: Counts): Counts {
		const redialled = this.client?.redialled?.() ?? 0;
		counts.connections = this.client?.connections() ?? 0;
		if (redialled > 0) counts.redialled = redialled;
		return counts;
	}

	private sent(): Sent {
		const sent = this.load?.sent() ?? {};
		const opened = this.client?.opened() ?? {};
		return { ...sent, verify: opened.verify ?? 0, again: (sent.again ?? 0) + (opened.again ?? 0) };
	}

	/** Ticks keep their rhythm; missed ones are left out. */
	private await(): void {
		const ms = Math.max(1, (this.nextTick - now()) / 1e6);
		setTimeout(() => {
			const late = now() - this.nextTick;
			this.nextTick += (Math.floor(Math.max(0, late) / (TICK_MS * 1e6)) + 1) * TICK_MS * 1e6;
			this.tick();
			this.await();
		}, ms).unref();
	}

	private tick(): void {
		const counting =
			this.server !== null ? this.state === "ready" : this.state === "running" || this.state === "draining";
		if (!counting) return;
		const counts = this.counts();
		const errors = Object.values(counts.errors ?? {}).reduce((sum, n) => sum + n, 0);
		const times = this.setup?.timeline ? this.load?.slice() : null;
		this.send("tick", {
			at_ns: now(),
			exchanges: counts.exchanges,
			received_bytes: counts.received_bytes,
			...(errors > 0 ? { errors } : {}),
			...(this.setup?.timeline ? { runtime: this.runtime.read() } : {}),
			...(times ? { times } : {}),
		});
	}

	private atReady(): boolean {
		return this.state !== "idle" && this.state !== "preparing";
	}

	private odd(text: string): void {
		this.complain(new Failure("invalid", `${text} (CONTRACT.md, section Life)`));
	}

	private send(name: string, body: object): void {
		if (!this.over) this.write(`${printed({ [name]: body })}\n`);
	}
}
