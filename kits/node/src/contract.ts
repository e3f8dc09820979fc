// What crosses the worker contract (contract/CONTRACT.md), and how a setup is read.
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

export interface Exchange {
	up_bytes: number;
	down_bytes: number;
	codec: string;
	stream: "" | "up" | "down" | "both";
	chunk_bytes: number;
	up_sizes: Table;
	down_sizes: Table;
	message: { name: string; up: Content; down: Content } | null;
}

export interface LoadPlan {
	connections: number;
	in_flight: number;
	rate: number;
	arrival: "constant" | "poisson" | "drawn";
	gaps: Table;
	phases: Phase[];
	repeat: boolean;
	think_ns: number;
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
	options: Options;
	tls: Tls | null;
	/** Features that the setup asks for by fields that this kit does not read. */
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

const MAX_THREADS = 4096;
const DEFAULT_DRAIN_NS = 2_000_000_000;

/** Reads setup's body. Throws Failure: invalid for a field of another type, else what the contract says. */
export function parseSetup(body: Json): Setup {
	const f = new Fields(body, "setup");
	const setup: Setup = {
		trial: f.text("trial"),
		transport: f.text("transport"),
		role: f.text("role"),
		seed: f.unsigned("seed"),
		listen: f.text("listen"),
		listeners: f.int("listeners") || 1,
		allow: f.texts("allow"),
		peers: f.texts("peers"),
		sources: f.texts("sources"),
		threads: f.int("threads"),
		timeline: f.flag("timeline"),
		exchange: parseExchange(f.get("exchange") ?? {}),
		load: parseLoad(f.get("load") ?? {}),
		options: parseOptions(f),
		tls: f.has("tls") ? parseTls(f.get("tls")) : null,
		asked: parseAsked(f),
	};
	for (const [key, value] of [
		["listeners", setup.listeners],
		["threads", setup.threads],
	] as const) {
		if (value < 0 || value > MAX_THREADS) f.refuse(key, `0 to ${MAX_THREADS}`, "setup");
	}
	return setup;
}

function parseExchange(body: Json): Exchange {
	const f = new Fields(body, "setup.exchange");
	const stream = f.text("stream");
	if (!["", "up", "down", "both"].includes(stream)) f.refuse("stream", "up, down or both", "unsupported");
	return {
		up_bytes: f.int("up_bytes"),
		down_bytes: f.int("down_bytes"),
		codec: f.text("codec"),
		stream: stream as Exchange["stream"],
		chunk_bytes: f.int("chunk_bytes"),
		up_sizes: parseTable(f, "up_sizes"),
		down_sizes: parseTable(f, "down_sizes"),
		message: f.has("message") ? parseMessage(f.get("message")) : null,
	};
}

function parseMessage(body: Json | undefined): Exchange["message"] {
	const f = new Fields(body, "setup.exchange.message");
	const content = (key: string): Content => {
		const c = new Fields(f.get(key) ?? {}, `setup.exchange.message.${key}`);
		const json = c.get("json") ?? "";
		return { type: c.text("type"), json: typeof json === "string" ? json : printed(json) };
	};
	return { name: f.text("name"), up: content("up"), down: content("down") };
}

function parseTable(f: Fields, key: string): Table {
	const value = f.get(key) ?? [];
	const whole = (n: Json) => typeof n === "number";
	const good = Array.isArray(value) && value.every((row) => Array.isArray(row) && row.length === 3 && row.every(whole));
	return good ? (value as Table) : f.refuse(key, "segments [end, low, high]");
}

function parsePhases(f: Fields): Phase[] {
	const value = f.get("phases") ?? [];
	if (!Array.isArray(value)) return f.refuse("phases", "a list of [duration_ns, rate, rate]");
	return value.map((row): Phase => {
		const numbers = Array.isArray(row) ? row.map((n) => (n instanceof Real ? n.value : Number(n))) : [];
		const [lasts, first, last] = numbers;
		if (numbers.length !== 3 || numbers.some(Number.isNaN)) return f.refuse("phases", "rows [duration_ns, rate, rate]");
		return [lasts as number, first as number, last as number];
	});
}

function parseLoad(body: Json): LoadPlan {
	const f = new Fields(body, "setup.load");
	const arrival = f.text("arrival");
	return {
		connections: f.int("connections"),
		in_flight: f.int("in_flight") || 1,
		rate: f.real("rate"),
		arrival: arrival === "poisson" || arrival === "drawn" ? arrival : "constant",
		gaps: parseTable(f, "gaps"),
		phases: parsePhases(f),
		repeat: f.flag("repeat"),
		think_ns: f.int("think_ns"),
		active_share: f.real("active_share") || 1,
		fresh: f.flag("fresh"),
		amount: f.int("amount"),
		drain_ns: f.int("drain_ns") || DEFAULT_DRAIN_NS,
	};
}

/** What the setup asks for that a transport must name among its features. */
function parseAsked(f: Fields): string[] {
	const asked: string[] = [];
	const load = new Fields(f.get("load") ?? {}, "setup.load");
	const exchange = new Fields(f.get("exchange") ?? {}, "setup.exchange");
	const arrival = load.text("arrival");
	if (f.has("tls")) asked.push("tls");
	if (load.flag("fresh")) asked.push("fresh");
	if (exchange.text("stream") !== "") asked.push(`stream-${exchange.text("stream")}`);
	if (exchange.has("up_sizes") || exchange.has("down_sizes")) asked.push("sizes");
	if (load.has("phases") || arrival === "drawn") asked.push("arrivals");
	else if (!["", "constant", "poisson"].includes(arrival)) load.refuse("arrival", "constant or poisson", "unsupported");
	if (load.has("classes") || load.has("keys")) asked.push("mix");
	if (load.has("trace")) asked.push("trace");
	if (f.has("work") && f.text("role") === "server") {
		asked.push(`work-${new Fields(f.get("work"), "setup.work").text("by")}`);
	}
	return asked;
}

function parseTls(body: Json | undefined): Tls {
	const f = new Fields(body, "setup.tls");
	return { authorities: f.text("authorities"), certificate: f.text("certificate"), key: f.text("key") };
}

function parseOptions(f: Fields): Options {
	const given = f.get("options") ?? {};
	if (typeof given !== "object" || given === null || Array.isArray(given) || given instanceof Real) {
		return f.refuse("options", "an object");
	}
	const options: Options = {};
	for (const [name, value] of Object.entries(given)) {
		options[name] =
			value instanceof Real ? value.value : typeof value === "bigint" ? Number(value) : (value as OptionValue);
	}
	return options;
}
