// Wire stream: messages of two known sizes, one way or both ways at once. Both ends know the content.
import { type ErrorKind, Failure, type Setup } from "./contract.js";
import { type ClientFlow, checkFlow, type Flights, type Flow, type Verification } from "./flow.js";
import type { Slot } from "./load.js";
import { splitMixBytes } from "./random.js";
import type { Service } from "./service.js";

const MAX_CHUNK = 64 << 20;
const DEFAULT_CHUNK = 64 << 10;

/** The content of one direction's messages: a block of random bytes, repeated. Only the block is in memory. */
export class StreamContent {
	private readonly block: Buffer;

	constructor(
		direction: "up" | "down",
		readonly bytes: number,
		chunk: number,
	) {
		this.block = splitMixBytes(direction === "up" ? 1n : 2n, Math.min(bytes, chunk));
	}

	/** What follows the first at bytes of a message, in one piece of at most a chunk. at is less than bytes. */
	from(at: number): Buffer {
		const offset = at % this.block.length;
		return this.block.subarray(offset, offset + Math.min(this.bytes - at, this.block.length - offset));
	}

	/** How many of the given bytes, which follow the first at bytes of a message, equal its content. */
	agreeing(at: number, given: Buffer): number {
		for (let agreed = 0; agreed < given.length; ) {
			const expected = this.from(at + agreed);
			const part = given.subarray(agreed, agreed + expected.length);
			if (!part.equals(expected.subarray(0, part.length))) {
				for (let i = 0; ; i++) if (part[i] !== expected[i]) return agreed + i;
			}
			agreed += part.length;
		}
		return given.length;
	}
}

/** What every connection of a trial on wire stream sends and expects. */
export class StreamPlan {
	readonly up: StreamContent;
	readonly down: StreamContent;
	private readonly both: boolean;

	constructor(setup: Setup) {
		checkFlow(setup, "stream");
		if (setup.exchange.up_sizes.length + setup.exchange.down_sizes.length > 0) {
			const why = "wire stream has no headers by which messages of several sizes could be told apart";
			throw new Failure("unsupported", `exchange.up_sizes or down_sizes is given: ${why}`);
		}
		const { up_bytes, down_bytes, chunk_bytes, stream } = setup.exchange;
		const chunk = chunk_bytes === 0 ? DEFAULT_CHUNK : chunk_bytes;
		if (chunk < 1 || chunk > MAX_CHUNK) {
			throw new Failure("setup", `exchange.chunk_bytes is ${chunk}, expected 1 to ${MAX_CHUNK} on wire stream`);
		}
		this.up = new StreamContent("up", up_bytes, chunk);
		this.down = new StreamContent("down", down_bytes, chunk);
		this.both = stream === "both";
	}

	/** How many bytes down the server may send once it has at of an exchange's bytes up, and has done its work where it has all. */
	answerable(at: number): number {
		if (at === this.up.bytes) return this.down.bytes;
		return at > 0 ? this.early : 0;
	}

	/** How many of them before. */
	get early(): number {
		return this.both ? this.down.bytes - 1 : 0;
	}
}

/** The client's flow. It counts the bytes down and drops their content. */
export class StreamClient implements ClientFlow {
	private rest = 0; // bytes to send of the exchange begun last
	private have = 0; // bytes received of the oldest exchange in flight

	constructor(
		private readonly plan: StreamPlan,
		private readonly flights: Flights,
	) {}

	send(slot: Slot): void {
		this.flights.queue(slot);
	}

	unsent(): boolean {
		return this.rest > 0 || this.flights.waiting() > 0;
	}

	outgoing(now: number): Buffer {
		const { up } = this.plan;
		if (this.rest === 0) {
			this.flights.sent(1, now);
			this.rest = up.bytes;
		}
		return up.from(up.bytes - this.rest);
	}

	written(n: number): void {
		this.rest -= n;
	}

	received(bytes: Buffer, now: number): void {
		const { up, down } = this.plan;
		const partial = this.rest > 0 ? 1 : 0; // the last one is sent only in part
		this.have += bytes.length;
		while (this.have >= down.bytes && this.flights.inFlight() > partial) {
			this.have -= down.bytes;
			this.flights.answered(down.bytes, now);
		}
		if (this.flights.inFlight() > partial) return;
		const early = this.plan.answerable(partial === 1 ? up.bytes - this.rest : 0);
		if (this.have > early) {
			const why = "bytes that answer no exchange";
			throw new Failure("invalid", `receive: ${this.have - early} ${why}`, why);
		}
	}

	abandon(kind: ErrorKind, now: number, why: string): void {
		this.flights.abandon(kind, now, why);
		this.rest = 0;
	}
}

/** The first exchange of a connection, whose every byte down is compared. */
export class StreamVerification implements Verification {
	private handed = 0;
	private came = 0;

	constructor(private readonly plan: StreamPlan) {}

	unsent(): boolean {
		return this.handed < this.plan.up.bytes;
	}

	outgoing(): Buffer {
		return this.plan.up.from(this.handed);
	}

	written(n: number): void {
		this.handed += n;
	}

	received(bytes: Buffer): void {
		const { down } = this.plan;
		if (this.came + bytes.length > this.plan.answerable(this.handed)) {
			throw new Failure("invalid", `more came down than was owed when ${this.handed} bytes had gone up`);
		}
		const agreed = down.agreeing(this.came, bytes);
		if (agreed < bytes.length) {
			throw new Failure("invalid", `byte ${this.came + agreed} of ${down.bytes} is not what comes down on wire stream`);
		}
		this.came += bytes.length;
	}

	verified(): boolean {
		return this.came === this.plan.down.bytes;
	}

	arrived(): number {
		return this.came;
	}
}

/** What a server's flows count. */
export interface Traffic {
	received: number;
	/** Handed to the library, which may still hold some of it. */
	handed: number;
	exchanges: number;
	invalid: number;
}

/** The server's flow. It compares the first exchange up and drops the content of the others. */
export class StreamServer implements Flow {
	private complete = 0; // exchanges received in full
	private served = 0; // of these, those whose work is done
	private working = false;
	private up = 0; // bytes received of the next one
	private answered = 0; // exchanges answered in full
	private down = 0; // bytes sent of the next one

	constructor(
		private readonly plan: StreamPlan,
		private readonly traffic: Traffic,
		private readonly service: Service | null = null,
		/** Bytes wait to be written that did not when received returned. */
		private readonly more: () => void = () => {},
	) {}

	unsent(): boolean {
		return this.down < this.answerable();
	}

	outgoing(): Buffer {
		const next = this.plan.down.from(this.down);
		return next.subarray(0, Math.min(next.length, this.answerable() - this.down));
	}

	written(n: number): void {
		this.traffic.handed += n;
		this.down += n;
		if (this.down < this.plan.down.bytes) return;
		this.down = 0;
		this.answered++;
		this.traffic.exchanges++;
	}

	received(bytes: Buffer): void {
		const { up } = this.plan;
		this.traffic.received += bytes.length;
		if (this.complete === 0) this.compare(bytes);
		this.up += bytes.length;
		this.complete += Math.floor(this.up / up.bytes);
		this.up %= up.bytes;
		if (this.service === null) this.served = this.complete;
		else this.serve(this.service);
	}

	private answerable(): number {
		if (this.answered < this.served) return this.plan.down.bytes;
		return this.answered < this.complete ? this.plan.early : this.plan.answerable(this.up);
	}

	/** Does the work of one exchange after the other, and lets other connections have their turn. */
	private serve(service: Service): void {
		if (this.working || this.served === this.complete) return;
		this.working = true;
		service.serve(() => {
			this.served++;
			this.more();
			setImmediate(() => {
				this.working = false;
				this.serve(service);
			});
		});
	}

	private compare(bytes: Buffer): void {
		const { up } = this.plan;
		const part = bytes.subarray(0, up.bytes - this.up);
		const agreed = up.agreeing(this.up, part);
		if (agreed === part.length) return;
		this.traffic.invalid++;
		throw new Failure("invalid", `byte ${this.up + agreed} of ${up.bytes} is not what goes up on wire stream`);
	}
}
