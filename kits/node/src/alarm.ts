import { Worker } from "node:worker_threads";
import { now } from "./clock.js";

const NEVER = Number.POSITIVE_INFINITY;

// The kernel lets a thread sleep up to 50 µs longer than it asks (timer_slack_ns), so it asks for less.
const EARLY_NS = 50_000;

// The thread that sleeps. It waits for a change of seq, or until the due time; after that for a change alone.
const SLEEPER = `
const { parentPort, workerData: { seq, due, offset } } = require("node:worker_threads");
const clock = () => { const [s, ns] = process.hrtime(); return s * 1e9 + ns - offset; };
for (;;) {
	const before = Atomics.load(seq, 0);
	const ms = (due[0] - clock()) / 1e6;
	if (ms > 0) {
		if (Atomics.wait(seq, 0, before, ms) !== "timed-out" || due[0] > clock()) continue;
	}
	parentPort.postMessage(0);
	Atomics.wait(seq, 0, before);
}`;

/**
 * Wakes the event loop at an instant. Node's own timers are whole milliseconds, which is many exchanges at a high rate,
 * so a second thread sleeps until the instant; it costs some 20 µs of CPU for each wake-up and one thread.
 */
export class Alarm {
	private readonly seq = new Int32Array(new SharedArrayBuffer(4));
	private readonly due = new Float64Array(new SharedArrayBuffer(8));
	private thread: Worker | null = null;
	private armed = NEVER;
	private soon = false;

	/** ring is called at a due time or a little earlier, never within set. */
	constructor(private readonly ring: () => void) {}

	/** Rings at the instant due, on the clock of now, unless it is set to an earlier one. */
	set(due: number): void {
		if (due >= this.armed) return;
		this.armed = due;
		if (due - now() < EARLY_NS) return this.look();
		this.due[0] = due - EARLY_NS;
		Atomics.add(this.seq, 0, 1);
		if (this.thread === null) this.begin();
		else Atomics.notify(this.seq, 0);
	}

	close(): void {
		void this.thread?.terminate();
		this.thread = null;
		this.armed = Number.NEGATIVE_INFINITY;
	}

	/** The instant is near: rings once the event loop has looked at its sockets. */
	private look(): void {
		if (this.soon) return;
		this.soon = true;
		setImmediate(() => {
			this.soon = false;
			this.rings();
		});
	}

	private rings(): void {
		if (this.armed === Number.NEGATIVE_INFINITY) return;
		this.armed = NEVER;
		this.ring();
	}

	private begin(): void {
		const [s, ns] = process.hrtime();
		const offset = s * 1e9 + ns - now();
		this.thread = new Worker(SLEEPER, { eval: true, workerData: { seq: this.seq, due: this.due, offset } });
		this.thread.on("message", () => this.rings());
	}
}
