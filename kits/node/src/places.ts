// When an open loop's exchanges are due, where their gaps are drawn or the rate changes (contract/DRAWS.md). A place is a
// number of exchanges. All of it is in doubles, each operation rounded by itself.
import { Failure, type LoadPlan, type Phase, type Table } from "./contract.js";
import { Drawer, wrongTable } from "./draws.js";

/** When an exchange is due that no phase has room for, in ns: never. */
export const NEVER_DUE = 2 ** 61;
const MOST_PHASES = 4096;
/** After how many gaps they come again. */
const GAPS = 1 << 16;
/** The mean gap in the unit of a table, and the longest. */
const MOST_GAP = 1000 * (1 << 20);
const GAPS_STREAM = 3n;

/** The places of drawn arrivals. */
class Cycle {
	private readonly ends = new Float64Array(GAPS);
	private readonly scale: number;

	constructor(gaps: Table, seed: bigint) {
		const drawer = new Drawer(gaps, seed, GAPS_STREAM);
		let sum = 0;
		for (let i = 0; i < GAPS; i++) this.ends[i] = sum += drawer.draw(i);
		if (sum === 0) throw new Failure("setup", "load.gaps: every gap is 0");
		this.scale = GAPS / sum;
	}

	place(m: number): number {
		const within = m % GAPS;
		return m - within + (this.ends[within] as number) * this.scale;
	}
}

interface Stretch {
	from: number;
	lasts: number;
	before: number;
	holds: number;
	first: number;
	last: number;
}

/** Turns places into times by the phases of a rate that changes. */
class Warp {
	private readonly stretches: Stretch[] = [];
	private fallback = 0; // the last stretch that holds any exchanges
	private all = 0;
	private lasts = 0;

	constructor(
		phases: Phase[],
		private readonly repeat: boolean,
	) {
		for (const [lasts, first, last] of phases) {
			const holds = ((first + last) / 2) * (lasts / 1e9);
			if (holds > 0) this.fallback = this.stretches.length;
			this.stretches.push({ from: this.lasts, lasts, before: this.all, holds, first, last });
			this.all += holds;
			this.lasts += lasts;
		}
	}

	dueNs(at: number): number {
		let place = at;
		let base = 0;
		if (this.repeat) {
			const rounds = Math.floor(place / this.all);
			place = Math.max(0, place - rounds * this.all);
			base = rounds * this.lasts;
		} else if (place >= this.all) {
			const rate = this.stretches[this.stretches.length - 1]?.last ?? 0;
			return rate > 0 ? clipped(this.lasts + ((place - this.all) / rate) * 1e9) : NEVER_DUE;
		}
		const s = this.find(place);
		const y = place - s.before;
		const slope = (s.last - s.first) / (s.lasts / 1e9);
		const root = Math.sqrt(Math.max(0, s.first * s.first + 2 * slope * y));
		const seconds = (2 * y) / (s.first + root);
		return clipped(base + s.from + Math.min(s.lasts, seconds * 1e9));
	}

	/** How many exchanges the rates make until an instant. */
	place(at: number): number {
		let ns = at;
		let base = 0;
		if (this.repeat) {
			const rounds = Math.floor(ns / this.lasts);
			ns -= rounds * this.lasts;
			base = rounds * this.all;
		} else if (ns >= this.lasts) {
			return this.all + ((ns - this.lasts) / 1e9) * (this.stretches[this.stretches.length - 1]?.last ?? 0);
		}
		for (const s of this.stretches) {
			const into = ns - s.from;
			if (into < s.lasts) return base + s.before + (into / 1e9) * (s.first + ((s.last - s.first) * into) / s.lasts / 2);
		}
		return base + this.all;
	}

	/** The first stretch that ends beyond a place, else the last that has any. */
	private find(place: number): Stretch {
		const found = this.stretches.find((s) => place < s.before + s.holds);
		return found ?? (this.stretches[this.fallback] as Stretch);
	}
}

function clipped(ns: number): number {
	return ns < NEVER_DUE ? Math.floor(ns) : NEVER_DUE;
}

/** What the schedules of all slots share, where they are not even or Poisson at one rate. */
export class Places {
	private readonly cycle: Cycle | null;
	private readonly warp: Warp | null;

	private constructor(
		private readonly plan: LoadPlan,
		seed: bigint,
	) {
		this.warp = plan.phases.length > 0 ? new Warp(plan.phases, plan.repeat) : null;
		this.cycle = plan.arrival === "drawn" ? new Cycle(plan.gaps, seed) : null;
	}

	/** Null for a load that needs none. Throws Failure of kind setup that names the key. */
	static of(plan: LoadPlan, seed: bigint): Places | null {
		if (plan.arrival !== "drawn" && plan.phases.length === 0) return null;
		const refuse = (text: string) => {
			throw new Failure("setup", `load.${text}`);
		};
		if (!(plan.rate > 0)) refuse("rate is 0 with load.phases or arrival drawn: a closed loop has no schedule");
		const wrong = wrongPhases(plan.phases);
		if (wrong !== "") refuse(`phases: ${wrong}`);
		const torn = plan.arrival === "drawn" ? wrongTable(plan.gaps, MOST_GAP) : "";
		if (torn !== "") refuse(`gaps: ${torn}`);
		return new Places(plan, seed);
	}

	/** When a place of constant or Poisson arrivals, or drawn arrival number at, is due. */
	dueNs(at: number): number {
		const place = this.cycle === null ? at : this.cycle.place(Math.floor(at));
		return this.warp === null ? Math.floor((place / this.plan.rate) * 1e9) : this.warp.dueNs(place);
	}

	/** The expected number of exchanges due from one instant to another, in ns after the start. */
	expected(from: number, to: number): number {
		return this.warp === null ? (this.plan.rate * (to - from)) / 1e9 : this.warp.place(to) - this.warp.place(from);
	}

	/** Whether the rate changes. */
	get changes(): boolean {
		return this.warp !== null;
	}
}

function wrongPhases(phases: Phase[]): string {
	if (phases.length > MOST_PHASES) return `${phases.length} phases, expected at most ${MOST_PHASES}`;
	for (const [lasts, first, last] of phases) {
		if (!(Number.isInteger(lasts) && lasts >= 1 && lasts <= 1e15)) {
			return `one lasts ${lasts} ns, expected a whole number from 1 to 1e15`;
		}
		if (!(Math.min(first, last) >= 0 && Math.max(first, last) <= 1e9)) {
			return `one goes from ${first} to ${last} exchanges per second, expected 0 to 1e9`;
		}
	}
	return phases.length === 0 || phases.some(([, a, b]) => a > 0 || b > 0) ? "" : "no phase has a rate above 0";
}
