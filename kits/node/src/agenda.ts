// The slots that wait until their next exchange is due, and how many still have exchanges to make.
import { Alarm } from "./alarm.js";
import { now } from "./clock.js";
import { LET_GO, type Load, type Slot } from "./load.js";

/** A heap of slots by due time. It allocates when it grows and never afterwards. */
class Heap {
	private dues = new Float64Array(64);
	private slots: Slot[] = [];

	first(): number {
		return this.slots.length === 0 ? Number.POSITIVE_INFINITY : (this.dues[0] as number);
	}

	push(due: number, slot: Slot): void {
		if (this.slots.length === this.dues.length) {
			const larger = new Float64Array(2 * this.dues.length);
			larger.set(this.dues);
			this.dues = larger;
		}
		let i = this.slots.length;
		this.slots.push(slot);
		for (; i > 0; i = (i - 1) >> 1) {
			const parent = (i - 1) >> 1;
			if ((this.dues[parent] as number) <= due) break;
			this.place(i, this.dues[parent] as number, this.slots[parent] as Slot);
		}
		this.place(i, due, slot);
	}

	/** Takes the slot that is due first. Only where there is one. */
	pop(): Slot {
		const first = this.slots[0] as Slot;
		const n = this.slots.length - 1;
		const due = this.dues[n] as number;
		const last = this.slots.pop() as Slot;
		if (n === 0) return first;
		let i = 0;
		for (let child = 1; child < n; child = 2 * i + 1) {
			if (child + 1 < n && (this.dues[child + 1] as number) < (this.dues[child] as number)) child++;
			if (due <= (this.dues[child] as number)) break;
			this.place(i, this.dues[child] as number, this.slots[child] as Slot);
			i = child;
		}
		this.place(i, due, last);
		return first;
	}

	/** Takes all slots out for which out is true. */
	remove(out: (due: number, slot: Slot) => boolean): number {
		const kept = this.slots.map((slot, i) => [this.dues[i] as number, slot] as const).filter((e) => !out(e[0], e[1]));
		const removed = this.slots.length - kept.length;
		this.slots = [];
		for (const [due, slot] of kept) this.push(due, slot);
		return removed;
	}

	private place(i: number, due: number, slot: Slot): void {
		this.dues[i] = due;
		this.slots[i] = slot;
	}
}

/**
 * Asks slots for their exchanges and begins each when it is due. It knows when the load is over: when every slot has been
 * let go.
 */
export class Agenda {
	private readonly heap = new Heap();
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
