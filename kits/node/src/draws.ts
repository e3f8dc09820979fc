// What a trial draws from its seed, to the bit (contract/DRAWS.md): numbers of a table, and the sizes of its exchanges.
import { Failure, type Setup, type Table } from "./contract.js";
import { output } from "./random.js";

const TABLE_END = 2 ** 32;
const MOST_SEGMENTS = 4096;
/** The largest size that a table has, in bytes. */
const MOST_BYTES = 1 << 30;
/** By so many leading bits of a draw the guide finds its segment, or one shortly before it. */
const GUIDE_BITS = 10;

/** What is wrong with a table of numbers up to most; empty where nothing is. */
export function wrongTable(table: Table, most: number): string {
	if (table.length === 0 || table.length > MOST_SEGMENTS) {
		return `${table.length} segments, expected 1 to ${MOST_SEGMENTS}`;
	}
	let last = 0;
	for (const [end, low, high] of table) {
		if (end <= last || end > TABLE_END)
			return `a segment ends at ${end} after ${last}, expected rising ends up to 2^32`;
		if (low < 0 || high < low || high > most)
			return `a segment has the numbers ${low} to ${high}, expected 0 to ${most}`;
		last = end;
	}
	return last === TABLE_END ? "" : "the last segment does not end at 2^32";
}

/** Draws from a table: number n of a stream of the seed. A draw makes a few bigints, which takes about a microsecond. */
export class Drawer {
	private readonly base: bigint;
	private readonly guide = new Uint16Array(1 << GUIDE_BITS);

	/** table is one that wrongTable finds nothing wrong with. */
	constructor(
		private readonly table: Table,
		seed: bigint,
		stream: bigint,
	) {
		this.base = output(seed, stream - 1n);
		for (let g = 0, at = 0; g < this.guide.length; g++) {
			while ((table[at]?.[0] ?? TABLE_END) <= g * 2 ** (32 - GUIDE_BITS)) at++;
			this.guide[g] = at;
		}
	}

	draw(n: number | bigint): number {
		const u = output(this.base, BigInt(n));
		const head = Number(u >> 32n);
		let at = this.guide[head >>> (32 - GUIDE_BITS)] as number;
		while ((this.table[at]?.[0] ?? TABLE_END) <= head) at++;
		const [, low, high] = this.table[at] ?? [0, 0, 0];
		return low + Number(((u & 0xffffffffn) * BigInt(high - low + 1)) >> 32n);
	}
}

/** The sizes of one exchange's messages, in bytes. */
export interface Sizes {
	up: number;
	down: number;
}

/** The sizes of a trial's exchanges; at a server, which of them vary. */
export class Draws {
	private readonly up: Drawer | null;
	private readonly down: Drawer | null;
	private readonly fixed: Sizes;

	/** Throws Failure of kind setup for a table that is none, and for sizes beside a codec that encodes. */
	constructor(setup: Setup) {
		const { exchange } = setup;
		this.up = drawerOf(setup, "up", 1n);
		this.down = drawerOf(setup, "down", 2n);
		this.fixed = { up: exchange.up_bytes, down: exchange.down_bytes };
		if (!this.vary || exchange.codec === "" || exchange.codec === "bytes") return;
		throw new Failure(
			"setup",
			`exchange.up_sizes or down_sizes is given with codec ${exchange.codec}, whose messages have sizes of their own`,
		);
	}

	get vary(): boolean {
		return this.up !== null || this.down !== null;
	}

	get upVaries(): boolean {
		return this.up !== null;
	}

	/** Whether requests say how long their replies are to be. */
	get downVaries(): boolean {
		return this.down !== null;
	}

	/** Puts into to what exchange number n carries, and the first exchange of connection n. */
	into(to: Sizes, n: number | bigint): void {
		to.up = this.up?.draw(n) ?? this.fixed.up;
		to.down = this.down?.draw(n) ?? this.fixed.down;
	}

	of(n: number | bigint): Sizes {
		const sizes = { up: 0, down: 0 };
		this.into(sizes, n);
		return sizes;
	}
}

function drawerOf({ exchange, seed }: Setup, name: "up" | "down", stream: bigint): Drawer | null {
	const [table, largest] = [exchange[`${name}_sizes`], exchange[`${name}_bytes`]];
	if (table.length === 0) return null;
	const most = Math.max(...table.map(([, , high]) => high));
	let wrong = wrongTable(table, MOST_BYTES);
	if (wrong === "" && most !== largest)
		wrong = `the largest size is ${most} and ${name}_bytes is ${largest}, expected the same`;
	if (wrong !== "") throw new Failure("setup", `exchange.${name}_sizes: ${wrong}`);
	return new Drawer(table, seed, stream);
}

/** The header, or gRPC's metadata, by which a request says how long its reply is to be, where sizes down are drawn. */
export const DOWN_HEADER = "netdyno-down";

/** What a request said by it. Throws where that is no length up to most. */
export function askedDown(text: string | undefined, most: number): number {
	const said = text ?? "";
	if (/^\d{1,15}$/.test(said) && Number(said) <= most) return Number(said);
	throw new Error(
		`header ${DOWN_HEADER} is ${JSON.stringify(said.slice(0, 20))}, expected a length of 0 to ${most} bytes`,
	);
}
