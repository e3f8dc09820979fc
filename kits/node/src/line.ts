// Lines of the contract: read with a bound, and taken apart.
import { Failure } from "./contract.js";
import { type Json, parseJson, Real } from "./json.js";
import { nearest } from "./nearest.js";

/** Bytes of a line, newline included. */
export const MAX_LINE = 1 << 20;
const NEWLINE = 10;
/** Bytes of a line that an error quotes. */
const QUOTED = 120;

const MESSAGES = ["hello", "setup", "ready", "start", "mark", "tick", "stop", "result", "error", "exit"];

/** A message of the contract: its name and its body. */
export interface Message {
	name: string;
	body: { [key: string]: Json };
}

/** Takes a line apart. Throws Failure of kind invalid, which quotes the line. */
export function parseLine(line: string): Message {
	let value: Json;
	try {
		value = parseJson(line);
	} catch (error) {
		return refuse(line, (error as Error).message);
	}
	if (!isObject(value)) return refuse(line, "it is no JSON object");
	const found = MESSAGES.filter((name) => (value[name] ?? null) !== null);
	if (found.length !== 1) {
		const near = Object.keys(value).length === 1 ? nearest(Object.keys(value)[0] as string, MESSAGES) : "";
		const hint = near === "" ? "" : `; did you mean ${near}?`;
		return refuse(line, `it has ${found.length} of the known message keys, expected exactly one${hint}`);
	}
	const name = found[0] as string;
	const body = value[name] as Json;
	return isObject(body) ? { name, body } : refuse(line, `${name} is no JSON object`);
}

function isObject(value: Json): value is { [key: string]: Json } {
	return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Real);
}

function refuse(line: string, why: string): never {
	const quoted = line.length > QUOTED ? `${line.slice(0, QUOTED)}…` : line;
	throw new Failure(
		"invalid",
		`not a contract message: ${why}; the line was ${JSON.stringify(quoted)}; stdout carries JSON lines only (CONTRACT.md, section Lines)`,
	);
}

/** Cuts a stream of bytes into lines. It keeps at most MAX_LINE bytes of one. */
export class LineReader {
	private parts: Buffer[] = [];
	private size = 0;
	private long = false;

	/** Line gets each line without its newline, bad what was wrong with one that is no line. */
	constructor(
		private readonly line: (text: string) => void,
		private readonly bad: (why: Failure) => void,
	) {}

	push(chunk: Buffer): void {
		for (let rest = chunk; rest.length > 0; ) {
			const newline = rest.indexOf(NEWLINE);
			this.add(newline < 0 ? rest : rest.subarray(0, newline));
			if (newline < 0) return;
			rest = rest.subarray(newline + 1);
			this.finish();
		}
	}

	/** The stream ended. */
	end(): void {
		if (this.size > 0 || this.long) this.give("the stream ended in the middle of a line");
	}

	private add(part: Buffer): void {
		if (this.long || this.size + part.length >= MAX_LINE) {
			if (!this.long)
				this.parts = [Buffer.concat([...this.parts, part.subarray(0, 2 * QUOTED)]).subarray(0, 2 * QUOTED)];
			this.long = true;
			return;
		}
		if (part.length > 0) this.parts.push(part);
		this.size += part.length;
	}

	private finish(): void {
		if (this.long) return this.give(`longer than ${MAX_LINE} bytes`);
		const text = Buffer.concat(this.parts).toString("utf8");
		this.reset();
		this.line(text);
	}

	private give(why: string): void {
		const text = Buffer.concat(this.parts).toString("utf8");
		this.reset();
		try {
			refuse(text, why);
		} catch (error) {
			this.bad(error as Failure);
		}
	}

	private reset(): void {
		this.parts = [];
		this.size = 0;
		this.long = false;
	}
}
