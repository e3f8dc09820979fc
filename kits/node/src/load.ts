// Load decides when a client sends, and counts its exchanges. A transport asks a slot for its next exchange and reports
// what came of it; it never sees rates, windows or histograms.
//
//   const due = slot.next(now());          // LET_GO: the slot has no exchange left
//   …wait until due, send…  slot.goesOut();
//   slot.done(sent, now(), received);      // or slot.fail(kind, why)
import { type Counts, type ErrorKind, Failure, type LoadPlan, type Sent, type Setup } from "./contract.js";
import { Counters, Sends, share, Times } from "./counters.js";
import { Draws } from "./draws.js";
import { Histogram } from "./histogram.js";
import { Places } from "./places.js";
import { Schedule } from "./schedule.js";
import { Sized } from "./sized.js";

/** What next says of a slot that has no exchange left. */
export const LET_GO = -1;
const NEVER = Number.POSITIVE_INFINITY;
/** Slots of one client. The bound keeps a typing error in a study from taking all memory. */
const MAX_SLOTS = 1 << 22;

/** Makes one exchange at a time. */
export class Slot {
	/** Due of the exchange in flight. The fields are doubles from the beginning, which V8 then changes in place. */
	pending = NEVER;
	/** When the last exchange ended; before the first one an offset from the load's start. */
	free = Number.NaN;
	left = NEVER;
	started = false;
	out = false;
	schedule: Schedule | null = null;
	/** What the exchange in flight carries; until the next one. */
	up = 0;
	down = 0;
	kind = 0;
	key = 0;
	/** Number of the exchange to begin next, where it is drawn what exchanges carry. */
	drawn = 0;
	/** How long it waits after an exchange. */
	thinkNs = 0;

	constructor(
		private readonly load: Load,
		/** The slot's number, which is also its place in load.slots. */
		readonly number: number,
		readonly connection: number,
	) {
		this.free = 0;
	}

	/** When the next exchange is due, on the clock of now; LET_GO where there is none left. Only with none in flight. */
	next(now: number): number {
		const load = this.load;
		if (this.left === 0) return LET_GO;
		if (!this.started) {
			this.free += load.startNs;
			this.started = true;
		}
		const schedule = this.schedule;
		let due = now;
		if (schedule !== null) due = load.startNs + schedule.peek();
		else if (this.thinkNs > 0) due = this.free + this.thinkNs;
		// An open loop still sends what was due before the closing, so that a stall at the end shows.
		if (load.closing !== NEVER && (schedule === null || due > load.closing)) return LET_GO;
		if (schedule !== null) schedule.advance();
		if (load.sized !== null) {
			load.draws.into(this, this.drawn);
			this.drawn += load.slots.length;
			load.sized.begin(this, due);
		}
		this.left--;
		this.pending = due;
		return due;
	}

	/** The request goes out, at least in part: for the first time, or once more. */
	goesOut(): void {
		if (this.out) this.load.again++;
		this.out = true;
	}

	/** The exchange in flight is complete; received payload bytes came back. */
	done(sent: number, now: number, received: number): void {
		const { phase, sized } = this.load;
		phase.record(this.free, this.pending, sent, now, received);
		if (sized !== null) sized.done(this, phase, sent, now, received);
		this.free = now;
		this.pending = NEVER;
		this.out = false;
	}

	/** The exchange in flight failed. why is the reason; the kind's usual one where empty. */
	fail(kind: ErrorKind, now: number, why = ""): void {
		const { phase, sized } = this.load;
		phase.fail(kind, why, this.out);
		if (sized !== null) sized.fail(this, phase);
		this.free = now;
		this.pending = NEVER;
		this.out = false;
	}

	/** When the exchange is due that the slot waited for at the closing; NEVER where it did not wait. */
	dueAfter(closing: number, start: number): number {
		let due = this.pending;
		if (due === NEVER) {
			if (this.left === 0) return NEVER;
			const free = this.started ? this.free : start + this.free;
			due = this.schedule !== null ? start + this.schedule.peek() : free + this.thinkNs;
		}
		return due > closing ? due : NEVER;
	}
}

/** The load of one client. */
export class Load {
	readonly slots: Slot[] = [];
	/** How many connections carry load: the first ones. */
	readonly active: number;
	startNs = 0;
	closing = NEVER;
	phase: Counters;
	again = 0;
	private readonly times: Times;
	private readonly before = new Counters(null);
	private readonly window: Counters;
	private readonly drain: Counters;
	private fromNs = 0;
	private isOpen = false;
	private upBytes: number;
	private downBytes: number;
	private slices: Float64Array | null = null;
	private readonly places: Places | null;
	readonly draws: Draws;
	/** Null where all exchanges are alike. */
	readonly sized: Sized | null;

	/** Throws Failure of kind setup that names the key of setup.load that cannot be. */
	constructor(private readonly setup: Setup) {
		check(setup.load);
		this.places = Places.of(setup.load, setup.seed);
		this.draws = new Draws(setup);
		this.times = new Times(setup.load);
		this.window = new Counters(this.times);
		this.drain = new Counters(this.times);
		this.phase = this.before;
		this.active = Math.max(1, Math.ceil(this.plan.active_share * this.plan.connections - 1e-9));
		this.upBytes = setup.exchange.up_bytes;
		this.downBytes = setup.exchange.down_bytes;
		this.encoded(this.upBytes, this.downBytes);
		this.layOut();
		this.sized = this.draws.vary ? new Sized(this.draws, setup, this.active) : null;
	}

	get plan(): LoadPlan {
		return this.setup.load;
	}

	/** The sizes of the messages where a codec decides them. Before start. */
	encoded(upBytes: number, downBytes: number): void {
		this.upBytes = this.draws.vary ? 0 : upBytes; // counted one by one
		this.downBytes = downBytes;
		this.times.expected = this.draws.downVaries ? -1 : downBytes;
	}

	/** The slots of a connection; none of an idle one. */
	slotsOf(connection: number): Slot[] {
		const n = this.plan.in_flight;
		return this.slots.slice(connection * n, (connection + 1) * n);
	}

	/** Schedules count from now on. A load of a fixed amount also opens its window, unless a mark did. */
	start(now: number): void {
		this.startNs = now;
		if (this.plan.amount > 0 && !this.isOpen) this.open(now);
	}

	get opened(): boolean {
		return this.isOpen;
	}

	/** Opens the window: what completes from now on counts in it. */
	open(now: number): void {
		if (this.ended || this.isOpen) return;
		this.isOpen = true;
		this.fromNs = now;
		this.times.sends?.open(now, now + Sends.stretch(this.plan.rate));
		this.window.enter(now, NEVER, 1);
		this.phase = this.window;
	}

	/** Closes the window and ends the load. Only the first call has an effect. */
	end(now: number): void {
		if (this.ended) return;
		this.closing = now;
		this.drain.enter(this.fromNs, now, 0);
		this.phase = this.drain;
	}

	get ended(): boolean {
		return this.closing !== NEVER;
	}

	/** Sums since ready. */
	counts(): Counts {
		const counts = noCounts();
		for (const phase of [this.before, this.window, this.drain]) phase.addTo(counts, this.upBytes);
		return counts;
	}

	/** The times of what completed since the last call, in the window or draining; null when none did. */
	slice(): { count: number; p50_ns?: number; p99_ns?: number; max_ns: number } | null {
		this.slices ??= new Float64Array(Histogram.positions());
		const steps: [number, number][] = [];
		(this.times.response ?? this.times.service).growth(this.slices, steps);
		const last = steps[steps.length - 1];
		if (last === undefined) return null;
		const count = steps.reduce((sum, [, n]) => sum + n, 0);
		const at = (part: number) => {
			let left = Math.ceil(part * count - 1e-9);
			for (const [value, n] of steps) {
				left -= n;
				if (left <= 0) return value;
			}
			return last[0];
		};
		return {
			count,
			...(count >= 20 ? { p50_ns: at(0.5) } : {}),
			...(count >= 1000 ? { p99_ns: at(0.99) } : {}),
			max_ns: last[0],
		};
	}

	/** The requests, once the run has ended. */
	sent(): Sent {
		const open = this.slots.reduce((n, slot) => n + (slot.out ? 1 : 0), 0);
		return {
			before: this.before.sent(),
			window: this.window.sent(),
			drain: this.drain.sent() + open,
			again: this.again,
		};
	}

	/** What was counted in the window. Ends the load at now unless it has ended. Once. */
	result(now: number): { counts: Counts; [field: string]: unknown } {
		this.end(now);
		const { service, response, lag, lengths, sends } = this.times;
		const counts = noCounts();
		this.window.addTo(counts, this.upBytes);
		this.drain.addErrors(counts);
		this.window.reasons.merge(this.drain.reasons);
		const reasons = this.window.reasons.most();
		const arrivals = this.isOpen ? (sends?.gaps(this.closing) ?? null) : null;
		const inside = this.isOpen ? this.inside() : null; // before the schedules are walked to their end
		const ages = this.unfinished(now);
		if (lengths.count > 0 && service.count > lengths.count) {
			lengths.record(this.downBytes, service.count - lengths.count);
		}
		return {
			from_ns: this.isOpen ? this.fromNs : this.closing,
			to_ns: this.closing,
			counts,
			drained: this.drain.exchanges,
			unfinished: ages.count,
			ages: ages.encode(),
			over_max: service.overMax + (response?.overMax ?? 0) + (lag?.overMax ?? 0),
			service: service.encode(),
			response: response?.encode() ?? "",
			lag: lag?.encode() ?? "",
			...this.sized?.result(this.window, this.drain),
			...(lengths.count > 0 ? { lengths: lengths.encode() } : {}),
			...(reasons.length > 0 ? { reasons } : {}),
			...(arrivals !== null ? { arrivals } : {}),
			...(inside !== null ? { inside } : {}),
		};
	}

	private inside(): { [field: string]: number } {
		const times = this.times.response ?? this.times.service;
		const sum = (of: "partExchanges" | "partCycles" | "idle") => this.window[of] + this.drain[of];
		const exchanges = this.window.exchanges + sum("partExchanges");
		const cycles = this.window.exchanges + sum("partCycles") + this.waiting(times);
		return this.plan.rate > 0
			? { exchanges, cycles, due: this.fellDue() }
			: { exchanges, cycles, idle_ns: sum("idle") };
	}

	/** The parts inside of the cycles of slots that waited, at the closing, for a due time to come. */
	private waiting(times: Histogram): number {
		if ((this.plan.rate === 0 && this.plan.think_ns === 0) || times.count === 0) return 0;
		const takes = Math.floor(times.mean());
		let sum = 0;
		for (const slot of this.slots) {
			const due = slot.dueAfter(this.closing, this.startNs);
			const free = slot.started ? slot.free : this.startNs + slot.free;
			if (due !== NEVER) sum += share(this.fromNs, this.closing, free, due + takes);
		}
		return sum;
	}

	/** How many exchanges fell due in the window. Random schedules are drawn again, unless they are very long. */
	private fellDue(): number {
		const drawn = (this.plan.rate * (this.closing - this.startNs)) / 1e9;
		if ((this.plan.arrival === "constant" && this.places === null) || drawn > 1 << 20) {
			const [from, to] = [this.fromNs - this.startNs, this.closing - this.startNs];
			return this.places?.expected(from, to) ?? (this.plan.rate * (to - from)) / 1e9;
		}
		let due = 0;
		for (const slot of this.slots) {
			const schedule = this.scheduleOf(slot.number);
			for (let last = this.startNs; last < this.closing; schedule.advance()) {
				const next = this.startNs + schedule.peek();
				due += share(this.fromNs, this.closing, last, next);
				last = next;
			}
		}
		return due;
	}

	/** Ages of exchanges that were due before the closing and have not completed, those never sent included. */
	private unfinished(now: number): Histogram {
		const ages = new Histogram();
		if (this.startNs === 0) return ages;
		for (const slot of this.slots) {
			if (slot.pending <= this.closing) ages.record(now - slot.pending);
			const schedule = slot.schedule;
			if (schedule === null) continue;
			for (; slot.left > 0 && this.startNs + schedule.peek() <= this.closing; schedule.advance()) {
				ages.record(now - this.startNs - schedule.peek());
				slot.left--;
			}
		}
		return ages;
	}

	private layOut(): void {
		const { in_flight, amount, rate, think_ns, arrival } = this.plan;
		const n = this.active * in_flight;
		for (let i = 0; i < n; i++) {
			const slot = new Slot(this, i, Math.floor(i / in_flight));
			this.slots.push(slot);
			slot.drawn = this.positionOf(i);
			slot.thinkNs = think_ns;
			[slot.up, slot.down] = [this.setup.exchange.up_bytes, this.setup.exchange.down_bytes];
			// A connection's slots share its amount; the first ones take the remainder.
			if (amount > 0) slot.left = Math.floor(amount / in_flight) + (i % in_flight < amount % in_flight ? 1 : 0);
			if (rate > 0) {
				slot.schedule = this.scheduleOf(i);
				if (arrival === "constant" && !this.places?.changes)
					slot.free = slot.schedule.peek() - Math.floor((n / rate) * 1e9); // as if it had run before
			} else if (think_ns > 0) {
				slot.free = Math.floor(think_ns * (i / n - 1)); // spread, so that no burst begins the load
			}
		}
	}

	/** Schedules and draws know a slot by a number under which the slots of one connection are spread over time. */
	private positionOf(i: number): number {
		const { in_flight } = this.plan;
		return (i % in_flight) * this.active + Math.floor(i / in_flight);
	}

	private scheduleOf(i: number): Schedule {
		const slots = this.active * this.plan.in_flight;
		return new Schedule(this.plan, this.setup.seed, this.positionOf(i), slots, this.places);
	}
}

function noCounts(): Counts {
	return { exchanges: 0, sent_bytes: 0, received_bytes: 0 };
}

function check(plan: LoadPlan): void {
	const refuse = (text: string) => {
		throw new Failure("setup", `load.${text}`);
	};
	const { connections, in_flight, active_share, rate, classes } = plan;
	if (connections < 1 || connections > MAX_SLOTS) refuse(`connections is ${connections}, expected 1 to ${MAX_SLOTS}`);
	if (in_flight < 1 || in_flight * connections > MAX_SLOTS) {
		refuse(`in_flight is ${in_flight} over ${connections} connections, expected 1 to ${MAX_SLOTS} in all`);
	}
	if (!(active_share > 0 && active_share <= 1)) refuse(`active_share is ${active_share}, expected more than 0 up to 1`);
	if (!(rate >= 0 && rate <= 1e9)) refuse(`rate is ${rate}, expected 0 (closed loop) to 1e9 exchanges per second`);
	if (Math.min(plan.think_ns, plan.amount, plan.drain_ns) < 0) refuse("think_ns, amount or drain_ns is negative");
	if (plan.trace !== (plan.arrival === "recorded")) refuse(`arrival is ${plan.arrival}: recorded goes with a trace`);
	if (plan.think_ns === 0 && classes.some((c) => c.think_ns > 0)) refuse("think_ns is 0 and classes think");
	if (rate > 0 && plan.think_ns > 0)
		refuse(`think_ns is ${plan.think_ns} with load.rate ${rate}: an open loop does not think`);
}
