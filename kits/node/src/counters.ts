// What a client counts, by phase, and of what: work inside the window, sends, reasons of failures.
import type { Counts, ErrorKind, LoadPlan } from "./contract.js";
import { Histogram } from "./histogram.js";

/** The share of [begin, end] that lies in [from, to]. What begins and ends at one instant lies in it or does not. */
export function share(from: number, to: number, begin: number, end: number): number {
	if (end <= begin) return end >= from && end <= to ? 1 : 0;
	return Math.max(0, (Math.min(end, to) - Math.max(begin, from)) / (end - begin));
}

/** Why exchanges failed: how often for each reason. What is kept is bounded, whatever a server does. */
export class Reasons {
	private static readonly KEPT = 64;
	private static readonly MOST = 16;

	private readonly all = new Map<string, { kind: ErrorKind; text: string; count: number }>();
	private others = 0;

	add(kind: ErrorKind, why: string, count = 1): void {
		const text = why === "" ? usual(kind) : printable(why);
		const key = `${kind} ${text}`;
		const known = this.all.get(key);
		if (known !== undefined) known.count += count;
		else if (this.all.size < Reasons.KEPT) this.all.set(key, { kind, text, count });
		else this.others += count;
	}

	merge(from: Reasons): void {
		for (const { kind, text, count } of from.all.values()) this.add(kind, text, count);
		this.others += from.others;
	}

	/** The most frequent ones, falling, and the sum of the others at the end. */
	most(): { kind?: ErrorKind; text: string; count: number }[] {
		const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
		const sorted = [...this.all.values()].sort(
			(a, b) => b.count - a.count || order(a.kind, b.kind) || order(a.text, b.text),
		);
		const named: { kind?: ErrorKind; text: string; count: number }[] = sorted.slice(0, Reasons.MOST);
		const rest = sorted.slice(Reasons.MOST).reduce((sum, reason) => sum + reason.count, this.others);
		return rest > 0 ? [...named, { text: "others", count: rest }] : named;
	}
}

/** Bytes of a reason. */
const REASON_BYTES = 120;

function printable(text: string): string {
	let shown = "";
	for (const byte of Buffer.from(text, "utf8").subarray(0, REASON_BYTES)) {
		shown += byte < 32 || byte > 126 ? "?" : String.fromCharCode(byte);
	}
	return shown;
}

function usual(kind: ErrorKind): string {
	return { peer: "connection lost", timeout: "timed out", invalid: "unexpected reply" }[kind as string] ?? kind;
}

const STRETCH_MOST_NS = 30e9;
const STRETCH_SENDS = 1 << 17;

/** The sends in the first stretch of the window, in the order in which their exchanges completed. */
export class Sends {
	private readonly at: Float64Array;
	private kept = 0;
	private from = Number.POSITIVE_INFINITY;
	private until = Number.POSITIVE_INFINITY;
	private refused = Number.POSITIVE_INFINITY;

	constructor(rate: number) {
		this.at = new Float64Array(Math.ceil((Sends.stretch(rate) / 1e9) * rate * 1.25) + 64);
	}

	/** How long sends are kept at a rate, in ns, so that they take about 1 MiB. */
	static stretch(rate: number): number {
		return Math.min((STRETCH_SENDS / rate) * 1e9, STRETCH_MOST_NS);
	}

	/** Keeps the sends in [from, until). */
	open(from: number, until: number): void {
		if (this.from !== Number.POSITIVE_INFINITY) return;
		this.from = from;
		this.until = until;
	}

	record(sent: number): void {
		if (sent < this.from || sent >= this.until) return;
		if (this.kept < this.at.length) this.at[this.kept++] = sent;
		else if (sent < this.refused) this.refused = sent;
	}

	/** The gaps from the opening to the stretch's or the window's end. */
	gaps(closing: number): Arrivals | null {
		const until = Math.floor(Math.min(closing, this.refused, this.until));
		return this.from === Number.POSITIVE_INFINITY ? null : gapsOf(this.at.subarray(0, this.kept), this.from, until);
	}
}

export interface Arrivals {
	gaps: number;
	sum_ns: number;
	sum_squares_ns2: number;
	stretch_ns: number;
}

/** Sums up the gaps between the instants in [from, until); null when fewer than two lie there. */
export function gapsOf(instants: Float64Array, from: number, until: number): Arrivals | null {
	const sent = instants.filter((at) => at >= from && at < until).sort();
	if (sent.length < 2) return null;
	let squares = 0;
	for (let i = 1; i < sent.length; i++) squares += ((sent[i] as number) - (sent[i - 1] as number)) ** 2;
	return {
		gaps: sent.length - 1,
		sum_ns: (sent[sent.length - 1] as number) - (sent[0] as number),
		sum_squares_ns2: squares,
		stretch_ns: until - from,
	};
}

/** The histograms of a client. */
export class Times {
	readonly service = new Histogram();
	readonly response: Histogram | null;
	readonly lag: Histogram | null;
	readonly sends: Sends | null;
	/** Replies of another length than was expected. */
	readonly lengths = new Histogram();
	/** Length of a reply in bytes; -1 where it is drawn. */
	expected = 0;

	constructor(plan: LoadPlan) {
		this.response = plan.rate > 0 ? new Histogram() : null;
		this.sends = plan.rate > 0 ? new Sends(plan.rate) : null;
		this.lag = plan.rate > 0 || plan.think_ns > 0 ? new Histogram() : null;
	}
}

/** What completed of one class in one phase. */
export interface ClassCounts {
	exchanges: number;
	sent: number;
	received: number;
	errors: number;
}

/** What completed in one phase. */
export class Counters {
	exchanges = 0;
	received = 0;
	/** Where sizes are drawn; else they follow from the exchanges. */
	sentBytes = 0;
	/** By class, where there are classes. */
	readonly classes: ClassCounts[] = [];
	unsent = 0;
	errors: { [kind: string]: number } = {};
	readonly reasons = new Reasons();
	/** Corrections of the whole exchanges by those that span an edge of the window, and how long slots were idle. */
	partExchanges = Number.NaN;
	partCycles = Number.NaN;
	idle = Number.NaN;
	private from = Number.NEGATIVE_INFINITY;
	private to = Number.POSITIVE_INFINITY;
	private whole = 0;

	/** times is null before the window. */
	constructor(readonly times: Times | null) {
		this.partExchanges = this.partCycles = this.idle = 0;
	}

	/** The phase begins; [from, to] is the window as far as it is known, and whole what the phase counts an exchange as. */
	enter(from: number, to: number, whole: 0 | 1): void {
		this.from = from;
		this.to = to;
		this.whole = whole;
	}

	/** An exchange completed: its slot was free for it, it was due, sent, and completed now. */
	record(free: number, due: number, sent: number, now: number, received: number): void {
		this.exchanges++;
		this.received += received;
		const times = this.times;
		if (times === null) return;
		this.idle += sent - free;
		if (this.whole === 0 || free < this.from) {
			this.partExchanges += share(this.from, this.to, sent, now) - this.whole;
			this.partCycles += share(this.from, this.to, free, now) - this.whole;
		}
		times.service.record(now - sent);
		if (times.lag !== null) times.lag.record(sent - due);
		if (times.response !== null) times.response.record(now - due);
		if (times.sends !== null) times.sends.record(sent);
		if (received !== times.expected) times.lengths.record(received);
	}

	fail(kind: ErrorKind, why: string, wentOut: boolean): void {
		this.errors[kind] = (this.errors[kind] ?? 0) + 1;
		if (!wentOut) this.unsent++;
		if (this.times !== null) this.reasons.add(kind, why);
	}

	/** How many requests ended in the phase. */
	sent(): number {
		return Object.values(this.errors).reduce((sum, n) => sum + n, this.exchanges - this.unsent);
	}

	addTo(counts: Counts, upBytes: number): void {
		counts.exchanges += this.exchanges;
		counts.sent_bytes += this.exchanges * upBytes + this.sentBytes;
		counts.received_bytes += this.received;
		this.addErrors(counts);
	}

	addErrors(counts: Counts): void {
		for (const [kind, n] of Object.entries(this.errors)) {
			counts.errors ??= {};
			counts.errors[kind] = (counts.errors[kind] ?? 0) + n;
		}
	}
}
