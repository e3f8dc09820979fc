import type { Duplex } from "node:stream";
import { now } from "./clock.js";
import type { Flow } from "./flow.js";

/** Bytes that one connection may hand over before others have their turn. */
const TURN_BYTES = 1 << 20;

/**
 * Moves the bytes of one connection as its flow says, by a stream such as a net.Socket. It holds back what the stream has
 * no room for (write, drain), and lets other connections and the bench have their turn.
 */
export class Pump {
	private blocked = false;
	private resting = false;
	private taking = false; // what a completion begins is written once all that came is understood

	/** lost is called once: with the stream's error, null where the peer closed, or what the flow found wrong. */
	constructor(
		readonly stream: Duplex,
		private flow: Flow,
		private lost: (why: Error | null) => void,
		private readonly moved: (flow: Flow) => void = () => {},
	) {
		stream.on("data", (bytes: Buffer) => this.take(bytes));
		stream.on("drain", () => {
			this.blocked = false;
			this.push();
		});
		stream.on("error", (error) => this.end(error));
		stream.on("end", () => this.end(null));
		stream.on("close", () => this.end(null));
	}

	/** From now on the connection's bytes are another flow's. */
	become(flow: Flow, lost: (why: Error | null) => void): void {
		this.flow = flow;
		this.lost = lost;
	}

	/** Hands over what waits to be written, as far as there is room. */
	push(): void {
		const { flow, stream } = this;
		for (let bytes = 0; flow.unsent() && !this.blocked && !this.resting && !this.taking; ) {
			const piece = flow.outgoing(now());
			flow.written(piece.length);
			this.blocked = !stream.write(piece);
			bytes += piece.length;
			if (bytes >= TURN_BYTES) this.rest();
		}
	}

	end(why: Error | null): void {
		const { lost } = this;
		this.lost = () => {};
		this.stream.destroy();
		lost(why);
	}

	private take(bytes: Buffer): void {
		this.taking = true;
		try {
			this.flow.received(bytes, now());
		} catch (error) {
			return this.end(error as Error);
		} finally {
			this.taking = false;
		}
		this.push();
		this.moved(this.flow);
	}

	private rest(): void {
		this.resting = true;
		setImmediate(() => {
			this.resting = false;
			this.push();
		});
	}
}
