import { deflateSync, inflateSync } from "node:zlib";

/** The largest value, in ns: five minutes. */
const MAX = 300_000_000_000;
const HALF = 1024;
const POSITIONS = indexOf(MAX) + 1;
const HEADER_BYTES = 40;
const COOKIE = 0x1c849313;
const COMPRESSED = 0x1c849314;

/**
 * An HdrHistogram of whole numbers from 0 to 300 s in ns at 3 significant digits (CONTRACT.md, section Histograms).
 * Recording allocates nothing. The counts take 233 KiB, made with the first value.
 */
export class Histogram {
	/** How many values lay above the range. */
	overMax = 0;
	private counts: Float64Array | null = null;
	private total = 0;

	get count(): number {
		return this.total;
	}

	record(value: number, times = 1): void {
		this.counts ??= new Float64Array(POSITIONS);
		let v = value;
		if (v > MAX) {
			this.overMax += times;
			v = MAX;
		}
		const index = v > 0 ? indexOf(v) : 0;
		this.counts[index] = (this.counts[index] as number) + times;
		this.total += times;
	}

	/** The mean of the middles of all values' positions; 0 without any. */
	mean(): number {
		let sum = 0;
		for (let i = 0; this.counts !== null && i < POSITIONS; i++) {
			const count = this.counts[i] as number;
			if (count > 0) sum += count * ((valueAt(i) + valueAt(i + 1) - 1) / 2);
		}
		return this.total === 0 ? 0 : sum / this.total;
	}

	/** The V2 payload with its header. */
	payload(): Buffer {
		const body: number[] = [];
		const last = this.last();
		let zeros = 0;
		for (let i = 0; i <= last; i++) {
			const count = this.counts?.[i] ?? 0;
			if (count === 0 && i < last) {
				zeros++;
				continue;
			}
			if (zeros > 0) put(body, zeros === 1 ? 0 : 2 * zeros - 1);
			zeros = 0;
			put(body, 2 * count);
		}
		const header = Buffer.alloc(HEADER_BYTES);
		header.writeUInt32BE(COOKIE, 0);
		header.writeInt32BE(body.length, 4);
		header.writeInt32BE(3, 12);
		header.writeBigInt64BE(1n, 16);
		header.writeBigInt64BE(BigInt(MAX), 24);
		header.writeDoubleBE(1, 32);
		return Buffer.concat([header, Buffer.from(body)]);
	}

	/** The histogram as the contract's text; empty without values. */
	encode(): string {
		if (this.total === 0) return "";
		const packed = deflateSync(this.payload());
		const head = Buffer.alloc(8);
		head.writeUInt32BE(COMPRESSED, 0);
		head.writeInt32BE(packed.length, 4);
		return Buffer.concat([head, packed]).toString("base64");
	}

	/** Pairs of the least value of a position and its count. Throws on a text that is no histogram. */
	static decode(text: string): [number, number][] {
		if (text === "") return [];
		const packed = Buffer.from(text, "base64");
		if (packed.readUInt32BE(0) !== COMPRESSED) throw new Error("no compressed histogram");
		const payload = inflateSync(packed.subarray(8), { maxOutputLength: 1 << 20 });
		if (payload.readUInt32BE(0) !== COOKIE) throw new Error("no V2 payload");
		const values: [number, number][] = [];
		let index = 0;
		for (let at = HEADER_BYTES; at < payload.length; ) {
			let z = 0;
			let place = 1;
			let byte: number;
			do {
				byte = payload.readUInt8(at++);
				z += (byte & 0x7f) * place;
				place *= 128;
			} while (byte > 0x7f);
			const n = z % 2 === 0 ? z / 2 : -(z + 1) / 2;
			if (n > 0) values.push([valueAt(index), n]);
			index += n < 0 ? -n : 1;
		}
		return values;
	}

	/** Adds to what before holds, and to steps, the growth at each position since the last call. */
	growth(before: Float64Array, steps: [number, number][]): void {
		for (let i = 0; this.counts !== null && i < POSITIONS; i++) {
			const count = this.counts[i] as number;
			const more = count - (before[i] as number);
			if (more > 0) steps.push([valueAt(i + 1) - 1, more]);
			before[i] = count;
		}
	}

	static positions(): number {
		return POSITIONS;
	}

	private last(): number {
		if (this.counts === null) return 0;
		let last = POSITIONS - 1;
		while (last > 0 && this.counts[last] === 0) last--;
		return last;
	}
}

/** ZigZag is done; LEB128 of a whole number that may need more than 32 bits. */
function put(into: number[], z: number): void {
	let rest = z;
	for (; rest > 127; rest = Math.floor(rest / 128)) into.push((rest % 128) | 128);
	into.push(rest);
}

/** The position of a value from 0 to MAX: bit operations on 32 bits, after a shift by ten of larger values. */
function indexOf(value: number): number {
	if (value < 2 * HALF) return value >>> 0;
	if (value < 2 ** 32) {
		const v = value >>> 0;
		const shift = 21 - Math.clz32(v);
		return shift * HALF + (v >>> shift);
	}
	const v = (value / HALF) >>> 0;
	const shift = 21 - Math.clz32(v);
	return (shift + 10) * HALF + (v >>> shift);
}

/** The least value at a position. */
function valueAt(index: number): number {
	const shift = Math.max(0, Math.floor(index / HALF) - 1);
	return (index - shift * HALF) * 2 ** shift;
}
