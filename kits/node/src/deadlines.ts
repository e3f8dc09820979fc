// When the exchanges of a client's slots have failed for lack of a reply, where classes say so.
import { now } from "./clock.js";
import { Failure } from "./contract.js";

const NEVER = Number.POSITIVE_INFINITY;

/** Each slot has one timer, which is set anew when it goes off: most exchanges end in time. */
export class Deadlines {
	private readonly until: Float64Array;
	private readonly armed: Float64Array;

	/** expired is called with a slot's number whose exchange has not ended. */
	constructor(
		slots: number,
		private readonly expired: (slot: number) => void,
	) {
		this.until = new Float64Array(slots).fill(NEVER);
		this.armed = new Float64Array(slots).fill(NEVER);
	}

	/** The slot's exchange has failed unless it ends before an instant. */
	begin(slot: number, until: number): void {
		this.until[slot] = until;
		if ((this.armed[slot] as number) > until) this.arm(slot, until);
	}

	/** It ended. The failure of one that ended too late, whatever came of it; null of another. */
	end(slot: number, at: number): Failure | null {
		const late = at >= (this.until[slot] as number);
		this.until[slot] = NEVER;
		return late ? new Failure("timeout", "no reply within the deadline", "timed out") : null;
	}

	private arm(slot: number, at: number): void {
		this.armed[slot] = at;
		setTimeout(() => this.ring(slot, at), Math.max(1, Math.ceil((at - now()) / 1e6))).unref();
	}

	private ring(slot: number, at: number): void {
		if (this.armed[slot] !== at) return; // a shorter deadline came before it
		this.armed[slot] = NEVER;
		const until = this.until[slot] as number;
		if (until === NEVER) return;
		if (until > now()) this.arm(slot, until);
		else this.expired(slot);
	}
}
