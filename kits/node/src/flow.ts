// One connection's part of a trial on the wires echo and stream: which bytes go out next, and what those that come in
// mean. A flow moves no bytes itself (flow_client.ts and flow_server.ts do).
import type { Agenda } from "./agenda.js";
import { type ErrorKind, Failure, type Setup } from "./contract.js";
import type { Slot } from "./load.js";

export interface Flow {
	/** Whether bytes wait to be written. */
	unsent(): boolean;
	/** The bytes to hand over now; never empty while unsent. What begins in them counts as sent now. They never change. */
	outgoing(now: number): Buffer;
	/** The bytes of outgoing were handed over. */
	written(n: number): void;
	/** Bytes came. Throws Failure of kind invalid for unsolicited or wrong ones. */
	received(bytes: Buffer, now: number): void;
}

/** A client's flow. */
export interface ClientFlow extends Flow {
	/** The slot's next exchange is due. */
	send(slot: Slot): void;
	/** The connection is lost: every exchange on it fails, and every slot is let go. */
	abandon(kind: ErrorKind, now: number, why: string): void;
}

/** The first exchange of a connection, whose reply is compared. */
export interface Verification extends Flow {
	verified(): boolean;
	arrived(): number;
}

/** The largest message of wires echo and stream, in bytes. */
export const MAX_FLOW_MESSAGE = 1 << 30;

/** Throws Failure for an exchange that neither wire can carry. */
export function checkFlow(setup: Setup, wire: string): void {
	const { codec, up_bytes, down_bytes } = setup.exchange;
	if (codec !== "" && codec !== "bytes") {
		throw new Failure("unsupported", `exchange.codec is "${codec}"; wire ${wire} moves bytes as they are`);
	}
	if (setup.load.fresh) throw new Failure("unsupported", "load.fresh is true; this worker keeps its connections");
	for (const [key, bytes] of [
		["up_bytes", up_bytes],
		["down_bytes", down_bytes],
	] as const) {
		if (bytes >= 1 && bytes <= MAX_FLOW_MESSAGE) continue;
		throw new Failure("setup", `exchange.${key} is ${bytes}, expected 1 to ${MAX_FLOW_MESSAGE} on wire ${wire}`);
	}
}

/**
 * A connection's exchanges on a wire that answers in order: which slot each belongs to, and when it was sent. It is a
 * ring whose three positions only grow: answered ≤ begun ≤ queued. A slot is in it at most once.
 */
export class Flights {
	private readonly slots: (Slot | null)[];
	private readonly sentAt: Float64Array;
	private readonly mask: number;
	private answeredTo = 0;
	private begunTo = 0;
	private queuedTo = 0;

	constructor(
		private readonly connection: number,
		private readonly mine: readonly Slot[],
		private readonly agenda: Agenda,
	) {
		let room = 1;
		while (room < mine.length) room *= 2;
		this.slots = new Array<Slot | null>(room).fill(null);
		this.sentAt = new Float64Array(room);
		this.mask = room - 1;
	}

	/** How many slots there are. */
	get count(): number {
		return this.mine.length;
	}

	queue(slot: Slot): void {
		this.slots[this.queuedTo++ & this.mask] = slot;
	}

	/** Exchanges that wait to be sent. */
	waiting(): number {
		return this.queuedTo - this.begunTo;
	}

	/** Exchanges sent, at least in part, and not answered. */
	inFlight(): number {
		return this.begunTo - this.answeredTo;
	}

	/** The slot of the first exchange that waits. Only where one does. */
	firstWaiting(): Slot {
		return this.slots[this.begunTo & this.mask] as Slot;
	}

	/** The slot of the oldest exchange in flight. Only where there is one. */
	oldest(): Slot {
		return this.slots[this.answeredTo & this.mask] as Slot;
	}

	/** The first n that wait are handed over now. */
	sent(n: number, now: number): void {
		for (let i = 0; i < n; i++) {
			const at = this.begunTo++ & this.mask;
			this.sentAt[at] = now;
			(this.slots[at] as Slot).goesOut();
		}
	}

	/** The oldest exchange in flight completed with that many bytes. Asks its slot for the next one. */
	answered(bytes: number, now: number): void {
		const at = this.answeredTo++ & this.mask;
		const slot = this.slots[at] as Slot;
		slot.done(this.sentAt[at] as number, now, bytes);
		this.agenda.ask(slot);
	}

	/** Every exchange in flight or queued fails, and every slot of the connection is let go. */
	abandon(kind: ErrorKind, now: number, why: string): void {
		const open = this.queuedTo - this.answeredTo;
		for (; this.answeredTo < this.queuedTo; this.answeredTo++) {
			(this.slots[this.answeredTo & this.mask] as Slot).fail(kind, now, why);
		}
		this.begunTo = this.queuedTo;
		this.agenda.forget(this.connection);
		if (open > 0) this.agenda.letGo(open);
	}
}
