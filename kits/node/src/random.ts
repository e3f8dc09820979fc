// Random content, draws and checksums that both ends of a wire know.

/** The upper half of the product of two numbers of 32 bits. */
export function upperProduct(a: number, b: number): number {
	const low = (a & 0xffff) * b;
	return Math.floor(((a >>> 16) * b + Math.floor(low / 65_536)) / 65_536);
}

/** Into to: the lower and the upper half of the lower 64 bits of a product. */
function multiply(low: number, high: number, byLow: number, byHigh: number, to: Uint32Array): void {
	to[0] = Math.imul(low, byLow);
	to[1] = upperProduct(low, byLow) + Math.imul(low, byHigh) + Math.imul(high, byLow);
}

/** The outputs by number of the generator splitmix64 (Steele, Lea, Flood, OOPSLA 2014) that begins at state. No bigint is made. */
export class SplitMix {
	/** The output that at found: its lower half, and its upper one. */
	readonly out = new Uint32Array(2);
	private readonly low: number;
	private readonly high: number;

	constructor(state: bigint) {
		this.low = Number(state & 0xffffffffn);
		this.high = Number((state >> 32n) & 0xffffffffn);
	}

	/** Finds output number n, from 0. */
	at(n: number | bigint): void {
		const out = this.out;
		const next = typeof n === "bigint" ? n + 1n : n + 1;
		const low = typeof next === "bigint" ? Number(next & 0xffffffffn) : next >>> 0;
		const high = typeof next === "bigint" ? Number((next >> 32n) & 0xffffffffn) : Math.floor(next / 2 ** 32);
		multiply(low, high, 0x7f4a7c15, 0x9e3779b9, out);
		const sum = (out[0] as number) + this.low;
		let l = sum >>> 0;
		let h = ((out[1] as number) + this.high + (sum > 0xffffffff ? 1 : 0)) >>> 0;
		multiply((l ^ ((l >>> 30) | (h << 2))) >>> 0, (h ^ (h >>> 30)) >>> 0, 0x1ce4e5b9, 0xbf58476d, out);
		[l, h] = [out[0] as number, out[1] as number];
		multiply((l ^ ((l >>> 27) | (h << 5))) >>> 0, (h ^ (h >>> 27)) >>> 0, 0x133111eb, 0x94d049bb, out);
		[l, h] = [out[0] as number, out[1] as number];
		out[0] = l ^ ((l >>> 31) | (h << 1));
		out[1] = h ^ (h >>> 31);
	}
}

/** Output number n of the generator that begins at state. */
export function output(state: bigint, n: number | bigint): bigint {
	const random = new SplitMix(state);
	random.at(n);
	return (BigInt(random.out[1] as number) << 32n) | BigInt(random.out[0] as number);
}

/** Output number 0 of the generator that begins at state: a number that neighbours do not share bits with. */
export function mix(state: bigint): bigint {
	return output(state, 0);
}

/** Bytes of the generator's outputs from state on, little-endian. */
export function splitMixBytes(state: bigint, bytes: number): Buffer {
	const random = new SplitMix(state);
	const room = Buffer.alloc(Math.ceil(bytes / 8) * 8);
	for (let at = 0; at < bytes; at += 8) {
		random.at(at / 8);
		room.writeUInt32LE(random.out[0] as number, at);
		room.writeUInt32LE(random.out[1] as number, at + 4);
	}
	return room.subarray(0, bytes);
}

const CRC = Uint32Array.from({ length: 256 }, (_, i) => {
	let crc = i;
	for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
	return crc;
});

/** CRC-32C (Castagnoli) of bytes, continued from an earlier checksum. Source: RFC 3720, appendix B.4. */
export function crc32c(bytes: Uint8Array, before = 0): number {
	let crc = ~before;
	for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ (CRC[(crc ^ (bytes[i] as number)) & 0xff] as number);
	return ~crc >>> 0;
}

/** A checksum as errors print it. */
export function crcText(crc: number): string {
	return crc.toString(16).padStart(8, "0");
}

const WORDS = 16;
const SIDE = 4;
const BLOCKS = 16;
const KEY_BYTES = 32;

/**
 * The content of codec bytes in a direction: random, and the same in every trial of a size, so that both ends know it.
 * It is ChaCha8 as Go's math/rand/v2 has it, with the direction as the key's first byte.
 */
export function randomContent(bytes: number, direction: "u" | "d"): Buffer {
	const content = Buffer.alloc(bytes);
	let key = new Uint32Array(8);
	key[0] = direction.charCodeAt(0);
	for (let at = 0; at < bytes; ) {
		const out = chaCha8(key);
		const usable = out.length - KEY_BYTES;
		out.copy(content, at, 0, Math.min(usable, bytes - at));
		key = Uint32Array.from({ length: 8 }, (_, i) => out.readUInt32LE(usable + 4 * i));
		at += usable;
	}
	return content;
}

/** The 1,024 bytes of one key: groups of four blocks, word i of each side by side. */
function chaCha8(key: Uint32Array): Buffer {
	const out = Buffer.alloc(BLOCKS * WORDS * 4);
	for (let block = 0; block < BLOCKS; block++) {
		const words = chaChaBlock(key, block);
		const group = Math.floor(block / SIDE) * SIDE * WORDS * 4;
		for (let word = 0; word < WORDS; word++) {
			out.writeUInt32LE(words[word] as number, group + (word * SIDE + (block % SIDE)) * 4);
		}
	}
	return out;
}

/** Four double rounds. Only the key's words are added to the result: the others hold no entropy. */
function chaChaBlock(key: Uint32Array, counter: number): Uint32Array {
	const b = new Uint32Array([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, ...key, counter, 0, 0, 0]);
	for (let i = 0; i < 4; i++) {
		for (let c = 0; c < 4; c++) quarter(b, c, 4 + c, 8 + c, 12 + c);
		for (let c = 0; c < 4; c++) quarter(b, c, 4 + ((c + 1) % 4), 8 + ((c + 2) % 4), 12 + ((c + 3) % 4));
	}
	for (let i = 0; i < 8; i++) b[4 + i] = (b[4 + i] as number) + (key[i] as number);
	return b;
}

function quarter(b: Uint32Array, a: number, i: number, j: number, k: number): void {
	const step = (to: number, from: number, turn: number, by: number) => {
		b[to] = (b[to] as number) + (b[from] as number);
		const x = (b[turn] as number) ^ (b[to] as number);
		b[turn] = (x << by) | (x >>> (32 - by));
	};
	step(a, i, k, 16);
	step(j, k, i, 12);
	step(a, i, k, 8);
	step(j, k, i, 7);
}

/** A fast generator of real numbers that makes no bigint: sfc32 (C. Doty-Humphrey, PractRand), seeded by splitmix64. */
export class Uniform {
	private a: number;
	private b: number;
	private c: number;
	private counter = 1;

	constructor(seed: bigint) {
		const random = new SplitMix(seed);
		random.at(0);
		this.a = (random.out[0] as number) | 0;
		this.b = (random.out[1] as number) | 0;
		random.at(1);
		this.c = (random.out[0] as number) | 0;
		for (let i = 0; i < 12; i++) this.bits();
	}

	/** A real number in [0, 1), of 53 bits. */
	next(): number {
		return ((this.bits() >>> 5) * 2 ** 26 + (this.bits() >>> 6)) * 2 ** -53;
	}

	private bits(): number {
		const out = (this.a + this.b + this.counter) | 0;
		this.counter = (this.counter + 1) | 0;
		this.a = this.b ^ (this.b >>> 9);
		this.b = (this.c + (this.c << 3)) | 0;
		this.c = (((this.c << 21) | (this.c >>> 11)) + out) | 0;
		return out;
	}
}
