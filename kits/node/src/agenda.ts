// The slots that wait until their next exchange is due, and how many still have exchanges to make.
import { Alarm } from "./alarm.js";
import { now } from "./clock.js";
import { Heap } from "./heap.js";
import { LET_GO, type Load, type Slot } from "./load.js";

/**
 * Asks slots for their exchanges and begins each when it is due. It knows when the load is over: when every slot has been
 * let go.
 */
export class Agenda {
	private readonly heap = new Heap<Slot>();
	private readonly alarm = new Alarm(() => this.ring());
	private held = 0;
	private over: (() => void) | null = null;

	/** begin starts the exchange of a slot; it is never called within ask where the exchange is not due at once. */
	constructor(
		readonly load: Load,
		private readonly begin: (slot: Slot) => void,
	) {}

	/** Asks all slots of the load for their first exchanges. The promise is kept when all have been let go. */
	run(): Promise<void> {
		return new Promise((resolve) => {
			this.over = resolve;
			this.held = this.load.slots.length;
			for (const slot of this.load.slots) this.ask(slot);
		});
	}

	/** Asks a slot that has no exchange in flight for its next one. */
	ask(slot: Slot): void {
		const at = now();
		const due = slot.next(at);
		if (due === LET_GO) return this.letGo(1);
		if (due <= at) return this.begin(slot);
		this.heap.push(due, slot);
		this.alarm.set(due);
	}

	/** A slot makes no more exchanges. */
	letGo(slots: number): void {
		this.held -= slots;
		if (this.held <= 0) this.finish();
	}

	/** The load has ended: what is due later is not sent. */
	ended(): void {
		const removed = this.heap.remove((due) => due > this.load.closing);
		if (removed > 0) this.letGo(removed);
	}

	/** Lets the slots of a lost connection go that wait here. */
	forget(connection: number): void {
		const removed = this.heap.remove((_, slot) => slot.connection === connection);
		if (removed > 0) this.letGo(removed);
	}

	/** Ends the run, whatever is in flight. */
	close(): void {
		this.finish();
	}

	private finish(): void {
		this.alarm.close();
		const over = this.over;
		this.over = null;
		over?.();
	}

	private ring(): void {
		const at = now();
		while (this.heap.first() <= at && this.over !== null) this.begin(this.heap.pop());
		if (this.heap.first() !== Number.POSITIVE_INFINITY && this.over !== null) this.alarm.set(this.heap.first());
	}
}
