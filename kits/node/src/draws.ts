// What a trial draws from its seed, to the bit (contract/DRAWS.md, MIXES.md): numbers of a table, and what its exchanges
// carry.
import { type Class, Failure, type Setup, type SizesPlan, type Table } from "./contract.js";
import { output, SplitMix, upperProduct } from "./random.js";

const TABLE_END = 2 ** 32;
const MOST_SEGMENTS = 4096;
/** The largest size that a table has, in bytes. */
const MOST_BYTES = 1 << 30;
/** By so many leading bits of a draw the guide finds its segment, or one shortly before it. */
const GUIDE_BITS = 10;
const MOST_CLASSES = 64;
const CLASS_STREAM = 4n;
const KEY_STREAM = 5n;

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

/** Draws from a table: number n of a stream of the seed, in some 20 ns. */
export class Drawer {
	private readonly random: SplitMix;
	private readonly ends: Float64Array;
	private readonly lows: Float64Array;
	private readonly spans: Float64Array;
	private readonly guide = new Uint16Array(1 << GUIDE_BITS);

	/** table is one that wrongTable finds nothing wrong with. */
	constructor(table: Table, seed: bigint, stream: bigint) {
		this.random = new SplitMix(output(seed, stream - 1n));
		this.ends = Float64Array.from(table, ([end]) => end);
		this.lows = Float64Array.from(table, ([, low]) => low);
		this.spans = Float64Array.from(table, ([, low, high]) => high - low + 1);
		for (let g = 0, at = 0; g < this.guide.length; g++) {
			while ((this.ends[at] as number) <= g * 2 ** (32 - GUIDE_BITS)) at++;
			this.guide[g] = at;
		}
	}

	draw(n: number | bigint): number {
		this.random.at(n);
		const [tail, head] = [this.random.out[0] as number, this.random.out[1] as number];
		let at = this.guide[head >>> (32 - GUIDE_BITS)] as number;
		while ((this.ends[at] as number) <= head) at++;
		const span = this.spans[at] as number;
		const upper = Math.floor(span / 2 ** 32); // keys go up to 2^53
		return (this.lows[at] as number) + tail * upper + upperProduct(tail, span >>> 0);
	}
}

/** What one exchange carries: the sizes of its messages in bytes, its class's number, and what stands for {key}. */
export interface Drawn {
	up: number;
	down: number;
	kind: number;
	key: number;
}

interface Sizes {
	up: number;
	down: number;
	upDrawer: Drawer | null;
	downDrawer: Drawer | null;
}

/** What the exchanges of a trial carry; at a server, which sizes vary. */
export class Draws {
	/** Whether requests say how long their replies are to be. */
	readonly asks: boolean;
	readonly classes: readonly Class[];
	private readonly sizes: Sizes;
	private readonly byClass: Sizes[];
	private readonly classDrawer: Drawer | null;
	private readonly keyDrawer: Drawer | null;
	/** A reply is as long as its request. */
	private readonly echoes: boolean;

	/** Throws Failure of kind setup for a table that is none, and for sizes beside a codec that encodes. */
	constructor(setup: Setup) {
		const { exchange, seed, wire } = setup;
		this.sizes = sizesOf("exchange", exchange, seed);
		this.asks = exchange.down_sizes.length > 0;
		this.echoes = wire === "echo" && exchange.stream === "";
		this.classes = setup.load.classes;
		this.byClass = this.classes.map((of, i) => sizesOf(`load.classes[${i}]`, of, seed));
		const { classes, keys } = checkClasses(setup);
		this.classDrawer = classes.length === 0 ? null : new Drawer(classes, seed, CLASS_STREAM);
		this.keyDrawer = keys.length === 0 ? null : new Drawer(keys, seed, KEY_STREAM);
		if (!this.vary || exchange.codec === "" || exchange.codec === "bytes") return;
		throw new Failure(
			"setup",
			`exchange.up_sizes, down_sizes or load.classes is given with codec ${exchange.codec}, whose messages have sizes of their own`,
		);
	}

	get vary(): boolean {
		return this.upVaries || this.downVaries;
	}

	get upVaries(): boolean {
		return this.sizes.upDrawer !== null || this.classDrawer !== null;
	}

	get downVaries(): boolean {
		return this.sizes.downDrawer !== null || this.classDrawer !== null;
	}

	/** Puts into to what exchange number n carries, and the first exchange of connection n. */
	into(to: Drawn, n: number | bigint): void {
		let of = this.sizes;
		if (this.classDrawer !== null) {
			to.kind = this.classDrawer.draw(n);
			of = this.byClass[to.kind] as Sizes;
		}
		to.up = of.upDrawer === null ? of.up : of.upDrawer.draw(n);
		to.down = this.echoes ? to.up : of.downDrawer === null ? of.down : of.downDrawer.draw(n);
		if (this.keyDrawer !== null) to.key = this.keyDrawer.draw(n);
	}

	of(n: number | bigint): Drawn {
		const drawn = { up: 0, down: 0, kind: 0, key: 0 };
		this.into(drawn, n);
		return drawn;
	}
}

/** The sizes of the exchanges that a field of setup declares. */
function sizesOf(field: string, exchange: SizesPlan, seed: bigint): Sizes {
	const drawer = (name: "up" | "down", stream: bigint) => {
		const [table, largest] = [exchange[`${name}_sizes`], exchange[`${name}_bytes`]];
		if (table.length === 0) return null;
		const most = Math.max(...table.map(([, , high]) => high));
		let wrong = wrongTable(table, MOST_BYTES);
		if (wrong === "" && most !== largest)
			wrong = `the largest size is ${most} and ${name}_bytes is ${largest}, expected the same`;
		if (wrong !== "") throw new Failure("setup", `${field}.${name}_sizes: ${wrong}`);
		return new Drawer(table, seed, stream);
	};
	return {
		up: exchange.up_bytes,
		down: exchange.down_bytes,
		upDrawer: drawer("up", 1n),
		downDrawer: drawer("down", 2n),
	};
}

/** The tables of classes and keys; empty ones where a load has none. Throws Failure of kind setup. */
function checkClasses({ exchange, load }: Setup): { classes: Table; keys: Table } {
	const refuse = (text: string) => {
		throw new Failure("setup", `load.${text}`);
	};
	const { classes, keys } = load;
	if (classes.length > MOST_CLASSES) refuse(`classes has ${classes.length}, expected at most ${MOST_CLASSES}`);
	for (const [i, { up_bytes, down_bytes, deadline_ns, think_ns }] of classes.entries()) {
		if (Math.min(up_bytes, down_bytes) < 0 || up_bytes > exchange.up_bytes || down_bytes > exchange.down_bytes) {
			const most = `exchange at most ${exchange.up_bytes} and ${exchange.down_bytes}`;
			refuse(`classes[${i}] has ${up_bytes} bytes up and ${down_bytes} down, and ${most}`);
		}
		if (Math.min(deadline_ns, think_ns) < 0) refuse(`classes[${i}]: deadline_ns or think_ns is negative`);
	}
	const table = classes.map(({ end }, i): Table[number] => [end, i, i]);
	const wrong = table.length === 0 ? "" : wrongTable(table, MOST_CLASSES);
	if (wrong !== "") refuse(`classes: their ends: ${wrong}`);
	const torn = keys.length === 0 ? "" : wrongTable(keys, Number.MAX_SAFE_INTEGER);
	if (torn !== "") refuse(`keys: ${torn}`);
	return { classes: table, keys: keys };
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
