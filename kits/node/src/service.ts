// The work of a server (contract/MIXES.md, section Work): for each exchange, in the order of their coming, a time is
// drawn and spent, on the CPU or asleep.
import { openSync, readSync } from "node:fs";
import { Alarm } from "./alarm.js";
import { now, processCpu } from "./clock.js";
import { Failure, type Setup } from "./contract.js";
import { Drawer, wrongTable } from "./draws.js";
import { Heap } from "./heap.js";

const MOST_WORK_NS = 4_000_000_000;
const WORK_STREAM = 6n;

/** Serves the exchanges of one server. */
export class Service {
	private number = 0; // of the next exchange
	private readonly resting = new Heap<() => void>();
	private readonly alarm = new Alarm(() => this.ring());

	private constructor(
		private readonly drawer: Drawer,
		private readonly sleeps: boolean,
	) {}

	/** The work that a server is told to do; null for none. Throws Failure of kind setup. */
	static of({ role, work, seed }: Setup): Service | null {
		if (work === null || role !== "server") return null;
		const wrong = wrongTable(work.ns, MOST_WORK_NS);
		if (wrong !== "") throw new Failure("setup", `work.ns: ${wrong}`);
		return new Service(new Drawer(work.ns, seed, WORK_STREAM), work.by === "sleep");
	}

	/** Does the work of the next exchange and calls then: before it returns where the work takes the CPU. */
	serve(then: () => void): void {
		const ns = this.drawer.draw(this.number++);
		if (!this.sleeps || ns === 0) {
			spend(ns);
			return then();
		}
		const due = now() + ns;
		this.resting.push(due, then);
		this.alarm.set(due);
	}

	/** Ends the thread that wakes it. A worker that ends needs none of this. */
	close(): void {
		this.alarm.close();
	}

	private ring(): void {
		while (this.resting.first() <= now()) this.resting.pop()();
		if (this.resting.first() !== Number.POSITIVE_INFINITY) this.alarm.set(this.resting.first());
	}
}

/** Reads the CPU time of the thread that runs JavaScript, in ns. */
function threadClock(): () => number {
	let file: number;
	try {
		file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
	} catch {
		return processCpu; // the helper threads of V8 count too
	}
	const text = Buffer.alloc(64);
	return () => {
		processCpu(); // the kernel brings the time of the calling thread up to date when it is asked for all threads'
		const length = readSync(file, text, 0, text.length, 0);
		return Number.parseInt(text.toString("latin1", 0, length), 10);
	};
}

let clock: (() => number) | null = null;
let reading = 0;

/**
 * Uses ns of the thread's CPU time. Its clock takes microseconds to read, which belong to the work, so it is read only
 * when the time may be over.
 */
export function spend(ns: number): void {
	if (ns <= 0) return;
	if (clock === null) {
		clock = threadClock();
		const own = clock;
		const took = Array.from({ length: 51 }, () => -own() + own());
		reading = took.sort((a, b) => a - b)[25] as number;
	}
	for (const end = clock() + ns - reading; ; ) {
		const left = end - clock();
		if (left <= reading / 2) return;
		for (const until = now() + left - reading; now() < until; );
	}
}
