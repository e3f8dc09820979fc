// JSON as the contract has it: integers keep all of their 64 bits, which JSON.parse rounds to doubles.

/** A number with a fraction or an exponent, which is no integer of the contract. */
export class Real {
	constructor(readonly value: number) {}
}

/** What a JSON text holds: an integer beyond 2^53 is a bigint, another a number. */
export type Json = null | boolean | number | bigint | Real | string | Json[] | { [key: string]: Json };

/** Deeper nesting is refused: a parser that calls itself would overflow its stack. */
const MAX_DEPTH = 1000;

/** Parses a whole JSON text. Throws SyntaxError. */
export function parseJson(text: string): Json {
	const parser = new Parser(text);
	const value = parser.value(0);
	parser.end();
	return value;
}

const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;

class Parser {
	private at = 0;
	constructor(private readonly text: string) {}

	value(depth: number): Json {
		if (depth > MAX_DEPTH) throw new SyntaxError(`nested more than ${MAX_DEPTH} deep`);
		this.space();
		switch (this.text[this.at]) {
			case "{":
				return this.object(depth);
			case "[":
				return this.array(depth);
			case '"':
				return this.string();
			case "t":
				return this.word("true", true);
			case "f":
				return this.word("false", false);
			case "n":
				return this.word("null", null);
			default:
				return this.number();
		}
	}

	end(): void {
		this.space();
		if (this.at < this.text.length) this.refuse("the end of the text");
	}

	private object(depth: number): Json {
		const all: { [key: string]: Json } = Object.create(null);
		this.list("}", () => {
			const key = this.string();
			this.space();
			this.take(":");
			all[key] = this.value(depth + 1);
		});
		return all;
	}

	private array(depth: number): Json {
		const all: Json[] = [];
		this.list("]", () => all.push(this.value(depth + 1)));
		return all;
	}

	private list(close: string, item: () => void): void {
		this.at++;
		this.space();
		if (this.text[this.at] === close) {
			this.at++;
			return;
		}
		for (;;) {
			this.space();
			item();
			this.space();
			if (this.text[this.at] === close) break;
			this.take(",");
		}
		this.at++;
	}

	private string(): string {
		// A long string overflows the stack of a regular expression.
		const from = this.at;
		if (this.text[from] !== '"') this.refuse("a string");
		let end = from + 1;
		for (; this.text[end] !== '"'; end++) {
			if (end >= this.text.length) this.refuse("the end of a string");
			if (this.text[end] === "\\") end++;
		}
		this.at = end + 1;
		const quoted = this.text.slice(from, this.at);
		try {
			return JSON.parse(quoted) as string;
		} catch {
			this.at = from;
			return this.refuse("a string");
		}
	}

	private number(): Json {
		const token = this.match(NUMBER);
		if (token === null) return this.refuse("a value");
		if (token[1] !== undefined || token[2] !== undefined) return new Real(Number(token[0]));
		const value = Number(token[0]);
		return Number.isSafeInteger(value) ? value : BigInt(token[0]);
	}

	private word<T>(word: string, value: T): T {
		if (!this.text.startsWith(word, this.at)) this.refuse("a value");
		this.at += word.length;
		return value;
	}

	private match(pattern: RegExp): RegExpExecArray | null {
		pattern.lastIndex = this.at;
		const found = pattern.exec(this.text);
		if (found !== null) this.at = pattern.lastIndex;
		return found;
	}

	private space(): void {
		this.match(SPACE);
	}

	private take(character: string): void {
		if (this.text[this.at] !== character) this.refuse(JSON.stringify(character));
		this.at++;
	}

	private refuse(expected: string): never {
		const found = this.at < this.text.length ? JSON.stringify(this.text[this.at]) : "the end of the text";
		throw new SyntaxError(`expected ${expected} at character ${this.at}, found ${found}`);
	}
}
