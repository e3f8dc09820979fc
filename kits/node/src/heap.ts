/** Things by the instant at which they are due. It allocates when it grows and never afterwards. */
export class Heap<T> {
	private dues = new Float64Array(64);
	private things: T[] = [];

	/** When the first one is due; Infinity where there is none. */
	first(): number {
		return this.things.length === 0 ? Number.POSITIVE_INFINITY : (this.dues[0] as number);
	}

	push(due: number, thing: T): void {
		if (this.things.length === this.dues.length) {
			const larger = new Float64Array(2 * this.dues.length);
			larger.set(this.dues);
			this.dues = larger;
		}
		let i = this.things.length;
		this.things.push(thing);
		for (; i > 0; i = (i - 1) >> 1) {
			const parent = (i - 1) >> 1;
			if ((this.dues[parent] as number) <= due) break;
			this.place(i, this.dues[parent] as number, this.things[parent] as T);
		}
		this.place(i, due, thing);
	}

	/** Takes what is due first. Only where there is one. */
	pop(): T {
		const first = this.things[0] as T;
		const n = this.things.length - 1;
		const due = this.dues[n] as number;
		const last = this.things.pop() as T;
		if (n === 0) return first;
		let i = 0;
		for (let child = 1; child < n; child = 2 * i + 1) {
			if (child + 1 < n && (this.dues[child + 1] as number) < (this.dues[child] as number)) child++;
			if (due <= (this.dues[child] as number)) break;
			this.place(i, this.dues[child] as number, this.things[child] as T);
			i = child;
		}
		this.place(i, due, last);
		return first;
	}

	/** Takes out all for which out is true, and returns how many there were. */
	remove(out: (due: number, thing: T) => boolean): number {
		const kept = this.things
			.map((thing, i) => [this.dues[i] as number, thing] as const)
			.filter((e) => !out(e[0], e[1]));
		const removed = this.things.length - kept.length;
		this.things = [];
		for (const [due, thing] of kept) this.push(due, thing);
		return removed;
	}

	private place(i: number, due: number, thing: T): void {
		this.dues[i] = due;
		this.things[i] = thing;
	}
}
