// How a setup is read.
import {
	type Class,
	type Content,
	type Exchange,
	Fields,
	type LoadPlan,
	type Options,
	type OptionValue,
	type Phase,
	printed,
	type Setup,
	type SizesPlan,
	type Table,
	type Tls,
	type Work,
} from "./contract.js";
import { type Json, Real } from "./json.js";

const MAX_THREADS = 4096;
const DEFAULT_DRAIN_NS = 2_000_000_000;

/** Reads setup's body. Throws Failure: invalid for a field of another type, else what the contract says. */
export function parseSetup(body: Json): Setup {
	const f = new Fields(body, "setup");
	const setup: Setup = {
		trial: f.text("trial"),
		transport: f.text("transport"),
		wire: "", // the transport knows it
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
		work: f.has("work") ? parseWork(f.get("work")) : null,
		options: parseOptions(f),
		tls: f.has("tls") ? parseTls(f.get("tls")) : null,
		asked: [],
	};
	setup.asked = askedOf(f, setup);
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
		...parseSizes(f),
		codec: f.text("codec"),
		stream: stream as Exchange["stream"],
		chunk_bytes: f.int("chunk_bytes"),
		message: f.has("message") ? parseMessage(f.get("message")) : null,
	};
}

function parseSizes(f: Fields): SizesPlan {
	return {
		up_bytes: f.int("up_bytes"),
		down_bytes: f.int("down_bytes"),
		up_sizes: parseTable(f, "up_sizes"),
		down_sizes: parseTable(f, "down_sizes"),
	};
}

function parseClasses(f: Fields): Class[] {
	const value = f.get("classes") ?? [];
	if (!Array.isArray(value)) return f.refuse("classes", "a list of classes");
	return value.map((body, i) => {
		const c = new Fields(body, `setup.load.classes[${i}]`);
		return {
			...parseSizes(c),
			name: c.text("name"),
			end: c.int("end"),
			method: c.text("method"),
			path: c.text("path"),
			status: c.int("status"),
			deadline_ns: c.int("deadline_ns"),
			think_ns: c.int("think_ns"),
		};
	});
}

function parseWork(body: Json | undefined): Work {
	const f = new Fields(body, "setup.work");
	return { by: f.text("by"), ns: parseTable(f, "ns") };
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
	const arrival = f.text("arrival") || "constant";
	if (!["constant", "poisson", "drawn", "recorded"].includes(arrival))
		f.refuse("arrival", "constant, poisson, drawn or recorded", "unsupported");
	return {
		connections: f.int("connections"),
		in_flight: f.int("in_flight") || 1,
		rate: f.real("rate"),
		arrival: arrival as LoadPlan["arrival"],
		trace: f.has("trace"),
		gaps: parseTable(f, "gaps"),
		phases: parsePhases(f),
		repeat: f.flag("repeat"),
		think_ns: f.int("think_ns"),
		classes: parseClasses(f),
		keys: parseTable(f, "keys"),
		active_share: f.real("active_share") || 1,
		fresh: f.flag("fresh"),
		amount: f.int("amount"),
		drain_ns: f.int("drain_ns") || DEFAULT_DRAIN_NS,
	};
}

/** What the setup asks for that a transport must name among its features. */
function askedOf(f: Fields, { role, exchange, load, work }: Setup): string[] {
	const trace = load.trace
		? new Fields(new Fields(f.get("load"), "setup.load").get("trace"), "setup.load.trace")
		: null;
	const asked: { [feature: string]: boolean } = {
		tls: f.has("tls"),
		fresh: load.fresh,
		[`stream-${exchange.stream}`]: exchange.stream !== "",
		sizes: exchange.up_sizes.length + exchange.down_sizes.length > 0,
		arrivals: load.phases.length > 0 || load.arrival === "drawn",
		mix: load.classes.length + load.keys.length > 0,
		deadline: load.classes.some((c) => c.deadline_ns > 0),
		think: load.classes.some((c) => c.think_ns > 0),
		times: trace?.flag("times") ?? false,
		trace: trace !== null && !trace.flag("times"),
		[`work-${work?.by}`]: work !== null && role === "server",
	};
	return Object.keys(asked).filter((feature) => asked[feature]);
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
