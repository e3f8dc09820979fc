// Wire echo: the client sends messages of one size, and the server returns the same bytes in order.
import { type ErrorKind, Failure, type Setup } from "./contract.js";
import { Draws } from "./draws.js";
import { type ClientFlow, checkFlow, type Flights, type Verification } from "./flow.js";
import type { Slot } from "./load.js";
import { crc32c, crcText, mix, splitMixBytes } from "./random.js";

/** Copies of the message side by side, for one write of a pipelining client, have at most so many bytes. */
const MAX_COPIED = 64 << 10;
const STAMP = 8;

/** Throws Failure for an exchange that wire echo cannot carry. */
export function checkEcho(setup: Setup): void {
	checkFlow(setup, "echo");
	const { up_bytes, down_bytes, up_sizes, down_sizes } = setup.exchange;
	if (JSON.stringify(up_sizes) !== JSON.stringify(down_sizes)) {
		throw new Failure("setup", "exchange.down_sizes is another table than up_sizes; wire echo returns what it is sent");
	}
	if (up_sizes.some(([, low]) => low < 1)) {
		throw new Failure("setup", "exchange.up_sizes has messages of 0 bytes, expected at least 1 on wire echo");
	}
	if (up_bytes === down_bytes) return;
	throw new Failure(
		"setup",
		`exchange is ${up_bytes} bytes up and ${down_bytes} down; wire echo returns what it is sent`,
	);
}

/** The message that every connection of a trial sends: random bytes from the trial's seed. */
export class EchoPayload {
	readonly size: number;
	readonly copies: Buffer;
	readonly draws: Draws;
	private readonly seed: bigint;

	constructor(setup: Setup) {
		checkEcho(setup);
		this.draws = new Draws(setup);
		this.seed = setup.seed;
		this.size = setup.exchange.up_bytes;
		const copies = Math.max(1, Math.min(Math.floor(MAX_COPIED / this.size), setup.load.in_flight));
		const message = splitMixBytes(this.seed, this.size);
		this.copies = copies === 1 ? message : Buffer.concat(Array.from({ length: copies }, () => message));
	}

	/** The first message of a connection, with a stamp of its own that shows when replies reach the wrong connection. */
	stamped(connection: number): Buffer {
		const message = Buffer.from(this.copies.subarray(0, this.draws.of(connection).up));
		const stamp = Buffer.alloc(STAMP);
		stamp.writeBigUInt64LE(mix(this.seed ^ mix(BigInt(connection) + 1n)));
		stamp.copy(message, 0, 0, Math.min(STAMP, message.length));
		return message;
	}
}

/** Sends the messages of a connection's slots, as many at once as are due. */
export class EchoClient implements ClientFlow {
	private have = 0; // bytes received of the oldest exchange in flight

	constructor(
		private readonly payload: EchoPayload,
		private readonly flights: Flights,
	) {}

	send(slot: Slot): void {
		this.flights.queue(slot);
	}

	unsent(): boolean {
		return this.flights.waiting() > 0;
	}

	outgoing(now: number): Buffer {
		const { copies, size, draws } = this.payload;
		if (draws.vary) {
			const { up } = this.flights.firstWaiting();
			this.flights.sent(1, now);
			return copies.subarray(0, up);
		}
		const n = Math.min(this.flights.waiting(), copies.length / size);
		this.flights.sent(n, now);
		return copies.subarray(0, n * size);
	}

	written(): void {}

	received(bytes: Buffer, now: number): void {
		this.have += bytes.length;
		while (this.flights.inFlight() > 0) {
			const { up } = this.flights.oldest();
			if (this.have < up) break;
			this.have -= up;
			this.flights.answered(up, now);
		}
		if (this.have > 0 && this.flights.inFlight() === 0) {
			throw new Failure(
				"invalid",
				`receive: ${this.have} bytes that answer no exchange`,
				"bytes that answer no exchange",
			);
		}
	}

	abandon(kind: ErrorKind, now: number, why: string): void {
		this.flights.abandon(kind, now, why);
	}
}

/** The first exchange of a connection: the reply must have the CRC-32C of the message. */
export class EchoVerification implements Verification {
	private handed = 0;
	private came = 0;
	private crc = 0;

	constructor(private readonly message: Buffer) {}

	unsent(): boolean {
		return this.handed < this.message.length;
	}

	outgoing(): Buffer {
		return this.message.subarray(this.handed);
	}

	written(n: number): void {
		this.handed += n;
	}

	received(bytes: Buffer): void {
		const size = this.message.length;
		this.came += bytes.length;
		if (this.came > size)
			throw new Failure("invalid", `sent ${size} bytes and received ${this.came}: the peer does not echo`);
		this.crc = crc32c(bytes, this.crc);
		if (this.came < size) return;
		const sent = crc32c(this.message);
		if (this.crc === sent) return;
		throw new Failure(
			"invalid",
			`sent ${size} bytes with CRC-32C ${crcText(sent)}, received as many with ${crcText(this.crc)}: the peer does not echo`,
		);
	}

	verified(): boolean {
		return this.came === this.message.length;
	}

	arrived(): number {
		return this.came;
	}
}
