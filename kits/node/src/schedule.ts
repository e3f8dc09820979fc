import type { LoadPlan } from "./contract.js";
import type { Places } from "./places.js";
import { mix, Uniform } from "./random.js";

/**
 * When one slot's exchanges are due in an open loop, in ns after the load's start. It never looks at completions, so it
 * is fixed before anything is sent.
 */
export class Schedule {
	/** In ns; in exchanges where there are places. */
	private readonly first: number;
	private readonly step: number;
	private readonly random: Uniform | null;
	private k = 0;
	private at = Number.NaN;

	/** slot is the number by which schedules know it, of slots in all; plan.rate is above 0. */
	constructor(
		plan: LoadPlan,
		seed: bigint,
		slot: number,
		slots: number,
		private readonly places: Places | null = null,
	) {
		this.first = places === null ? ((slot + 0.5) / plan.rate) * 1e9 : slot + 0.5;
		this.step = places === null ? (slots / plan.rate) * 1e9 : slots;
		this.random = plan.arrival === "poisson" ? new Uniform(seed ^ mix(BigInt(slot) + 1n)) : null;
		this.at = this.random === null ? this.first : this.gap(this.random);
	}

	peek(): number {
		return this.places === null ? Math.floor(this.at) : this.places.dueNs(this.at);
	}

	/** Goes on to the exchange after that. */
	advance(): void {
		if (this.random !== null) {
			this.at += this.gap(this.random);
			return;
		}
		this.k++;
		this.at = this.first + this.k * this.step; // no running sum, which would drift
	}

	/** An exponential variate by inversion. */
	private gap(random: Uniform): number {
		return -Math.log1p(-random.next()) * this.step;
	}
}
