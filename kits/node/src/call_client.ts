// The client of any wire whose library makes calls: the kit opens, runs the load and counts.
import type { Route } from "./address.js";
import { Agenda } from "./agenda.js";
import { now } from "./clock.js";
import { openAll } from "./connect.js";
import { Failure, type Ready, type Sent, type Setup } from "./contract.js";
import { Deadlines } from "./deadlines.js";
import type { Load, Slot } from "./load.js";
import type { Client } from "./transport.js";

/** How long a slot rests after a call that failed at once, so that a dead server does not take all of a CPU. */
const REST_MS = 1;

/** How often each slot may fail in turn, with no connection open, until none is said to be left. */
const MOST_REFUSALS = 2;

/** What a library does for a client. */
export interface Calls {
	/** Opens connection i and makes its first exchange, whose reply it compares. Rejects with a Failure, or the library's error. */
	open(i: number, route: Route): Promise<void>;
	/** Makes an exchange on connection i, the slot's next one, and resolves with the payload bytes of the reply. */
	call(i: number, slot: Slot): Promise<number>;
	/** Breaks off the call of a slot, whose deadline is over. Not needed of a library that was told the deadline. */
	abandon?(i: number, slot: Slot): void;
	/** What a call's error is: of which kind, and why; kind bug where it is none of the library's. */
	failure(error: unknown): Failure;
	/** How many connections are open. */
	connections(): number;
	/** How many were made again. */
	redialled(): number;
}

/** A client that makes calls. */
export class CallClient implements Client {
	private readonly agenda: Agenda;
	private readonly done: ((received: number) => void)[] = [];
	private readonly failed: ((error: unknown) => void)[] = [];
	private readonly sentAt: Float64Array;
	/** Null where no class has a deadline. */
	private readonly deadlines: Deadlines | null;
	/** Which call of each slot counts, of those with deadlines. */
	private readonly turns: Uint32Array;
	private fatal: Failure | null = null;
	private facts: Ready = {};
	private refusals = 0;

	private constructor(
		private readonly setup: Setup,
		private readonly load: Load,
		private readonly calls: Calls,
	) {
		this.agenda = new Agenda(load, (slot) => this.begin(slot));
		this.sentAt = new Float64Array(load.slots.length);
		this.turns = new Uint32Array(load.slots.length);
		const expired = (number: number) => {
			const slot = load.slots[number] as Slot;
			(this.turns[number] as number)++;
			calls.abandon?.(slot.connection, slot);
			this.fail(slot, null);
		};
		const bounded = load.draws.classes.some((c) => c.deadline_ns > 0);
		this.deadlines = bounded ? new Deadlines(load.slots.length, expired) : null;
		for (const slot of load.slots) {
			// Made once, so that an exchange makes no closure of ours.
			this.done.push((received) => this.complete(slot, received));
			this.failed.push((error) => this.fail(slot, error));
		}
	}

	/** Opens all connections. facts are what ready says besides them. */
	static async connect(setup: Setup, load: Load, calls: Calls, facts: Ready = {}): Promise<CallClient> {
		const client = new CallClient(setup, load, calls);
		client.facts = facts;
		await openAll(setup, async (i, route) => {
			try {
				await calls.open(i, route);
			} catch (error) {
				throw isSystemError(error) ? error : calls.failure(error);
			}
		});
		return client;
	}

	ready(): Ready {
		const { connections } = this.setup.load;
		return { ...this.facts, connections, verified: connections };
	}

	connections(): number {
		return this.calls.connections();
	}

	redialled(): number {
		return this.calls.redialled();
	}

	opened(): Sent {
		return { verify: this.setup.load.connections };
	}

	async run(): Promise<void> {
		await this.agenda.run();
		if (this.fatal !== null) throw this.fatal;
	}

	ended(): void {
		this.agenda.ended();
	}

	close(): void {
		this.agenda.close();
	}

	private begin(slot: Slot): void {
		const { number } = slot;
		slot.goesOut();
		const at = now();
		this.sentAt[number] = at;
		const call = this.calls.call(slot.connection, slot);
		const ns = this.deadlines === null ? 0 : (this.load.draws.classes[slot.kind]?.deadline_ns ?? 0);
		if (ns > 0) this.bound(slot, call, at + ns);
		else call.then(this.done[number], this.failed[number]);
	}

	/** A call that counts if it ends before an instant. */
	private bound(slot: Slot, call: Promise<number>, until: number): void {
		const { number } = slot;
		const turn = this.turns[number] as number;
		this.deadlines?.begin(number, until);
		call.then(
			(received) => turn === this.turns[number] && this.complete(slot, received),
			(error) => turn === this.turns[number] && this.fail(slot, error),
		);
	}

	private complete(slot: Slot, received: number): void {
		const at = now();
		const late = this.deadlines?.end(slot.number, at) ?? null;
		if (late !== null) slot.fail(late.kind, at, late.reason);
		else slot.done(this.sentAt[slot.number] as number, at, received);
		this.agenda.ask(slot);
	}

	private fail(slot: Slot, error: unknown): void {
		const at = now();
		const late = this.deadlines?.end(slot.number, at) ?? null;
		const why = late ?? (error instanceof Failure ? error : this.calls.failure(error));
		slot.fail(why.kind, at, why.reason ?? why.message);
		if (why.kind === "bug") return this.end(why);
		if (this.calls.connections() === 0 && why.kind === "peer") this.refusals++;
		else this.refusals = 0;
		if (this.refusals > MOST_REFUSALS * this.load.slots.length) {
			const text = `no connection is left of ${this.setup.load.connections}; the last one: ${why.message}`;
			return this.end(new Failure("peer", text));
		}
		if (at - (this.sentAt[slot.number] as number) > REST_MS * 1e6) this.agenda.ask(slot);
		else setTimeout(() => this.agenda.ask(slot), REST_MS);
	}

	private end(why: Failure): void {
		this.fatal = why;
		this.agenda.close();
	}
}

function isSystemError(error: unknown): boolean {
	return error instanceof Failure || (error as NodeJS.ErrnoException)?.syscall !== undefined;
}
