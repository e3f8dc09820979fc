// What crosses the worker contract (contract/CONTRACT.md).
import { type Json, Real } from "./json.js";

export const CONTRACT_VERSION = 1;

export type Role = "server" | "client";
export type ErrorKind = "unsupported" | "setup" | "peer" | "timeout" | "invalid" | "bug";
export const ERROR_KINDS: readonly ErrorKind[] = ["unsupported", "setup", "peer", "timeout", "invalid", "bug"];

/** Ends a trial, or fails one exchange, with one of the contract's kinds. */
export class Failure extends Error {
	/** Why, in few words that equal causes share; the text where absent. */
	readonly reason: string | undefined;
	constructor(
		readonly kind: ErrorKind,
		text: string,
		reason?: string,
	) {
		super(text);
		this.reason = reason;
	}
}

export type OptionValue = boolean | number | string;
export type Options = { [name: string]: OptionValue };

export interface Option {
	name: string;
	type: "int" | "float" | "bool" | "bytes" | "duration" | "choice" | "text";
	default: OptionValue;
	doc: string;
	unit?: string;
	min?: number;
	max?: number;
	choices?: string[];
	roles?: Role[];
	/** Values worth trying, where the option changes nothing but the cost. */
	grid?: string[];
	/** How it is set outside of netdyno, by role, with {value} in the place of the value. */
	as?: { server?: string; client?: string };
}

/** What hello says of a transport. */
export interface TransportInfo {
	name: string;
	doc: string;
	wire: string;
	roles: Role[];
	delivery: "message" | "chunks";
	codecs?: string[];
	features?: string[];
	options?: Option[];
}

/** A table of draws: segments [end, low, high] (contract/DRAWS.md). */
export type Table = [number, number, number][];

/** A stretch of time in ns, with the rates at its beginning and its end. */
export type Phase = [number, number, number];

export interface Content {
	type: string;
	json: string;
}

/** The sizes of messages, in bytes: the largest ones, and tables of those that vary. */
export interface SizesPlan {
	up_bytes: number;
	down_bytes: number;
	up_sizes: Table;
	down_sizes: Table;
}

/** One kind of exchange of a load that mixes several (contract/MIXES.md). */
export interface Class extends SizesPlan {
	name: string;
	/** Where it ends in the table of classes. */
	end: number;
	/** Of HTTP; empty where it is as without classes. */
	method: string;
	path: string;
	/** That every reply must have; 0 for any 2xx. */
	status: number;
	/** 0 is without. */
	deadline_ns: number;
	think_ns: number;
}

/** What a server does for each exchange. */
export interface Work {
	by: string;
	ns: Table;
}

export interface Exchange extends SizesPlan {
	codec: string;
	stream: "" | "up" | "down" | "both";
	chunk_bytes: number;
	message: { name: string; up: Content; down: Content } | null;
}

export interface LoadPlan {
	connections: number;
	in_flight: number;
	rate: number;
	arrival: "constant" | "poisson" | "drawn" | "recorded";
	/** Whether there is recorded traffic to replay. */
	trace: boolean;
	gaps: Table;
	phases: Phase[];
	repeat: boolean;
	think_ns: number;
	classes: Class[];
	/** What stands for {key} in the path of a class. */
	keys: Table;
	active_share: number;
	fresh: boolean;
	amount: number;
	drain_ns: number;
}

export interface Tls {
	authorities: string;
	certificate: string;
	key: string;
}

export interface Setup {
	trial: string;
	transport: string;
	/** Of the transport. */
	wire: string;
	role: string;
	seed: bigint;
	listen: string;
	listeners: number;
	allow: string[];
	peers: string[];
	sources: string[];
	threads: number;
	timeline: boolean;
	exchange: Exchange;
	load: LoadPlan;
	work: Work | null;
	options: Options;
	tls: Tls | null;
	/** Features that the transport must have for it. */
	asked: string[];
}

export interface Counts {
	exchanges: number;
	sent_bytes: number;
	received_bytes: number;
	connections?: number;
	redialled?: number;
	errors?: { [kind: string]: number };
}

/** A client's requests, each where its exchange ended; again are those that went out once more. */
export interface Sent {
	verify?: number;
	before?: number;
	window?: number;
	drain?: number;
	again?: number;
}

export interface Ready {
	addresses?: string[];
	connections?: number;
	verified?: number;
	repeated?: number;
	options?: Options;
	threads?: number;
	delivery?: string;
	up_bytes?: number;
	down_bytes?: number;
	generated?: boolean;
}

/** Reads the fields of one JSON object. null and absent mean the default. */
export class Fields {
	private readonly object: { [key: string]: Json };
	constructor(
		object: Json | undefined,
		private readonly path: string,
	) {
		if (typeof object !== "object" || object === null || Array.isArray(object) || object instanceof Real) {
			throw new Failure("invalid", `read ${path}: expected an object`);
		}
		this.object = object;
	}

	get(key: string): Json | undefined {
		return this.object[key] ?? undefined;
	}

	text(key: string): string {
		const value = this.get(key) ?? "";
		return typeof value === "string" ? value : this.refuse(key, "a string");
	}

	flag(key: string): boolean {
		const value = this.get(key) ?? false;
		return typeof value === "boolean" ? value : this.refuse(key, "true or false");
	}

	real(key: string): number {
		const value = this.get(key) ?? 0;
		const number = value instanceof Real ? value.value : typeof value === "bigint" ? Number(value) : value;
		return typeof number === "number" && Number.isFinite(number) ? number : this.refuse(key, "a number");
	}

	/** An integer of 64 bits that need not be exact beyond 2^53, as sizes and times need not. */
	int(key: string): number {
		return Number(this.exact(key));
	}

	/** An integer of 64 bits with all of them. */
	exact(key: string): number | bigint {
		return this.integer(key, -(2n ** 63n), 2n ** 63n - 1n, "an integer of 64 bits");
	}

	unsigned(key: string): bigint {
		return BigInt(this.integer(key, 0n, 2n ** 64n - 1n, "an integer from 0 to 2^64-1"));
	}

	texts(key: string): string[] {
		const value = this.get(key) ?? [];
		const good = Array.isArray(value) && value.every((item) => typeof item === "string");
		return good ? (value as string[]) : this.refuse(key, "an array of strings");
	}

	/** Whether the field is there and not empty. */
	has(key: string): boolean {
		const value = this.get(key);
		return value !== undefined && !(Array.isArray(value) && value.length === 0);
	}

	refuse(key: string, expected: string, kind: ErrorKind = "invalid"): never {
		const value = this.get(key);
		const found = value === undefined ? "nothing" : printed(value).slice(0, 60);
		throw new Failure(kind, `read ${this.path}.${key}: expected ${expected}, found ${found}`);
	}

	private integer(key: string, least: bigint, most: bigint, expected: string): number | bigint {
		const value = this.get(key) ?? 0;
		if (typeof value !== "number" && typeof value !== "bigint") return this.refuse(key, expected);
		return value >= least && value <= most ? value : this.refuse(key, expected);
	}
}

/** JSON of a value, with integers beyond 2^53, which are bigints, as they are. */
export function printed(value: unknown): string {
	let large = false;
	const text = JSON.stringify(value, (_, v) => {
		if (v instanceof Real) return v.value;
		if (typeof v !== "bigint") return v;
		large = true;
		return `\u0000${v}\u0000`; // JSON.stringify writes no bigint; no other text of ours has this
	});
	return large ? text.replace(/"\\u0000(-?\d+)\\u0000"/g, "$1") : (text ?? "nothing");
}
