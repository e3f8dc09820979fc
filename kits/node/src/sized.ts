// What a client counts of exchanges that differ: by size, by class, and whether small ones waited for large ones.
import type { Setup } from "./contract.js";
import type { ClassCounts, Counters } from "./counters.js";
import type { Draws } from "./draws.js";
import { Histogram } from "./histogram.js";
import type { Slot } from "./load.js";

/** Bins are below 64 B, and from there by powers of four; one of the largest message is the last. */
const BINS = 14;
/** How many bins larger an exchange is that holds up a small one. */
const APART = 2;
/** What the histograms of bins, and of classes, may take of the result's line. */
const BIN_TEXT = 256 << 10;
const CLASS_TEXT = 512 << 10;

/** The bin of an exchange by its larger message, in bytes. */
export function binOf(bytes: number): number {
	return Math.max(0, (27 - Math.clz32(bytes)) >> 1);
}

/** From where up to where, exclusive, a bin's sizes are, in bytes. */
export function edgesOf(bin: number): { from_bytes: number; to_bytes: number } {
	return { from_bytes: bin === 0 ? 0 : 64 * 4 ** (bin - 1), to_bytes: 64 * 4 ** bin };
}

/**
 * Of one connection, which larger exchanges are in flight, and of those that have completed the last one of each bin.
 */
export class Waits {
	private readonly flying: Int8Array;
	private readonly dues: Float64Array;
	private readonly from = new Float64Array(BINS);
	private readonly to = new Float64Array(BINS).fill(Number.NEGATIVE_INFINITY);

	constructor(slots: number) {
		this.flying = new Int8Array(slots).fill(-1);
		this.dues = new Float64Array(slots);
	}

	begin(slot: number, bin: number, due: number): void {
		this.flying[slot] = bin;
		this.dues[slot] = due;
	}

	failed(slot: number): void {
		this.flying[slot] = -1;
	}

	completed(slot: number, bin: number, from: number, to: number): void {
		this.flying[slot] = -1;
		this.from[bin] = from;
		this.to[bin] = to;
	}

	/** Whether an exchange larger than those of a bin was in flight at some moment from when one was due until it was sent. */
	behind(bin: number, due: number, sent: number): boolean {
		for (let b = bin + APART; b < BINS; b++) {
			if (due <= (this.to[b] as number) && (this.from[b] as number) <= sent) return true;
		}
		for (let i = 0; i < this.flying.length; i++) {
			if ((this.flying[i] as number) >= bin + APART && (this.dues[i] as number) <= sent) return true;
		}
		return false;
	}
}

type TimesOf<Name extends string> = { [name in Name]?: Histogram };

/** Records, by a histogram that is made with the first value. */
function into<Name extends string>(times: TimesOf<Name>, name: Name, ns: number): void {
	times[name] ??= new Histogram();
	(times[name] as Histogram).record(ns);
}

/** The texts of histograms while there is room. */
class Texts {
	constructor(private room: number) {}

	of<Name extends string>(times: TimesOf<Name>, names: readonly Name[]): { [name in Name]?: string } {
		const texts: { [name in Name]?: string } = {};
		for (const name of names) {
			const text = times[name]?.encode() ?? "";
			this.room -= text.length;
			if (text !== "" && this.room >= 0) texts[name] = text;
		}
		return texts;
	}
}

const ALL = ["service", "response", "behind", "free"] as const;

/** Counts a client's exchanges where it is drawn what they carry. */
export class Sized {
	private readonly largest: number;
	private readonly open: boolean;
	private readonly inFlight: number;
	/** By connection; none where exchanges cannot wait for each other. */
	private readonly waits: Waits[];
	private readonly bins: TimesOf<(typeof ALL)[number]>[] = Array.from({ length: BINS }, () => ({}));
	private readonly classes: TimesOf<"service" | "response">[];
	/** By class; none where no class has a pause. */
	private readonly thinks: number[];

	constructor(
		private readonly draws: Draws,
		{ exchange, load }: Setup,
		connections: number,
	) {
		this.largest = binOf(Math.max(exchange.up_bytes, exchange.down_bytes));
		this.open = load.rate > 0;
		this.inFlight = load.in_flight;
		const wait = this.open || load.in_flight > 1;
		this.waits = Array.from({ length: wait ? connections : 0 }, () => new Waits(load.in_flight));
		this.classes = draws.classes.map(() => ({}));
		this.thinks = draws.classes.some((c) => c.think_ns > 0) ? draws.classes.map((c) => c.think_ns) : [];
	}

	/** The slot's next exchange, which is drawn, is due. */
	begin(slot: Slot, due: number): void {
		if (this.waits.length === 0) return;
		this.waits[slot.connection]?.begin(slot.number % this.inFlight, binOf(Math.max(slot.up, slot.down)), due);
	}

	/** It completed in a phase. */
	done(slot: Slot, phase: Counters, sent: number, now: number, received: number): void {
		phase.sentBytes += slot.up;
		const counts = this.ended(slot, phase);
		if (counts !== null) {
			counts.exchanges++;
			counts.sent += slot.up;
			counts.received += received;
		}
		const bin = binOf(Math.max(slot.up, slot.down));
		const waits = this.waits[slot.connection];
		if (phase.times !== null) this.record(slot, bin, sent, now, waits);
		waits?.completed(slot.number % this.inFlight, bin, sent, now);
	}

	fail(slot: Slot, phase: Counters): void {
		const counts = this.ended(slot, phase);
		if (counts !== null) counts.errors++;
		this.waits[slot.connection]?.failed(slot.number % this.inFlight);
	}

	/** What a result has of it. */
	result(window: Counters, drain: Counters): { bins: object[]; classes?: object[] } {
		const room = new Texts(BIN_TEXT);
		const bins = this.bins.flatMap((times, bin) =>
			times.service === undefined ? [] : [{ ...edgesOf(bin), ...room.of(times, ALL) }],
		);
		if (this.classes.length === 0) return { bins };
		const none: ClassCounts = { exchanges: 0, sent: 0, received: 0, errors: 0 };
		const order = this.classes.map((times, i) => ({ times, i, of: window.classes[i] ?? none }));
		order.sort((a, b) => b.of.exchanges - a.of.exchanges);
		const left = new Texts(CLASS_TEXT);
		const texts = order.map(({ times, i }) => [i, left.of(times, ["service", "response"])] as const);
		const classes = this.draws.classes.map(({ name }, i) => {
			const [of, drained] = [window.classes[i] ?? none, drain.classes[i] ?? none];
			return {
				name,
				exchanges: of.exchanges,
				sent_bytes: of.sent,
				received_bytes: of.received,
				errors: of.errors + drained.errors,
				drained: drained.exchanges,
				...texts.find(([number]) => number === i)?.[1],
			};
		});
		return { bins, classes };
	}

	/** The slot's pause after an exchange that ended, and the counts of its class; null where there are no classes. */
	private ended(slot: Slot, phase: Counters): ClassCounts | null {
		if (this.classes.length === 0) return null;
		if (this.thinks.length > 0) slot.thinkNs = this.thinks[slot.kind] as number;
		phase.classes[slot.kind] ??= { exchanges: 0, sent: 0, received: 0, errors: 0 };
		return phase.classes[slot.kind] as ClassCounts;
	}

	private record(slot: Slot, bin: number, sent: number, now: number, waits: Waits | undefined): void {
		const times = this.bins[bin] as TimesOf<(typeof ALL)[number]>;
		const due = this.open ? slot.pending : sent;
		into(times, "service", now - sent);
		if (this.open) into(times, "response", now - due);
		if (waits !== undefined && bin <= this.largest - APART)
			into(times, waits.behind(bin, due, sent) ? "behind" : "free", now - due);
		const of = this.classes[slot.kind];
		if (of === undefined) return;
		into(of, "service", now - sent);
		if (this.open) into(of, "response", now - due);
	}
}
