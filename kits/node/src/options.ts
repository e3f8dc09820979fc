import { Failure, type Option, type Options, type OptionValue, printed, type Role, type Setup } from "./contract.js";
import { nearest } from "./nearest.js";
import type { Transport } from "./transport.js";

const MAX_TEXT = 64 << 10;

/** The transport that a setup names. Throws Failure for what the worker or the transport does not have. */
export function findTransport(transports: readonly Transport[], setup: Setup): Transport {
	const names = transports.map((t) => t.info.name);
	const found = transports.find((t) => t.info.name === setup.transport);
	if (found === undefined) {
		throw new Failure(
			"unsupported",
			`no transport "${setup.transport}" here, expected ${list(names)}${hint(setup.transport, names)}`,
		);
	}
	const { name, roles, features = [], codecs = [] } = found.info;
	if (!roles.includes(setup.role as Role)) {
		throw new Failure("unsupported", `transport ${name} has no role "${setup.role}", expected ${list(roles)}`);
	}
	for (const feature of setup.asked) {
		if (features.includes(feature)) continue;
		throw new Failure("unsupported", `transport ${name} does not have feature ${feature}; it has ${list(features)}`);
	}
	const codec = setup.exchange.codec || "bytes";
	if (codec !== "bytes" && !codecs.includes(codec)) {
		throw new Failure(
			"unsupported",
			`transport ${name} does not have codec ${codec}; it has ${list(codecs.length > 0 ? codecs : ["bytes"])}`,
		);
	}
	return found;
}

/** The options of a role after defaults. Throws Failure of kind setup for one that is unknown or out of range. */
export function completeOptions(transport: Transport, role: Role, given: Options): Options {
	const declared = (transport.info.options ?? []).filter((o) => o.roles === undefined || o.roles.includes(role));
	const names = declared.map((o) => o.name);
	for (const name of Object.keys(given)) {
		if (names.includes(name)) continue;
		throw new Failure(
			"setup",
			`read option ${name}: ${transport.info.name} as ${role} has ${list(names)}${hint(name, names)}`,
		);
	}
	return Object.fromEntries(declared.map((o) => [o.name, checked(o, given[o.name] ?? o.default)]));
}

function checked(option: Option, value: OptionValue): OptionValue {
	const refuse = (expected: string): never => {
		throw new Failure(
			"setup",
			`read option ${option.name}: expected ${expected}, found ${printed(value).slice(0, 60)}`,
		);
	};
	switch (option.type) {
		case "choice": {
			const choices = option.choices ?? [];
			if (typeof value === "string" && choices.includes(value)) return value;
			return refuse(`one of ${list(choices)}${typeof value === "string" ? hint(value, choices) : ""}`);
		}
		case "text": // a header or a body may be secret: no error has a part of it
			if (typeof value === "string" && Buffer.byteLength(value) <= MAX_TEXT) return value;
			throw new Failure("setup", `read option ${option.name}: expected a text of at most ${MAX_TEXT} bytes`);
		case "bool":
			return typeof value === "boolean" ? value : refuse("true or false");
		default: {
			const { min = -(2 ** 53), max = 2 ** 53 } = option;
			const whole = option.type !== "float";
			if (typeof value === "number" && (!whole || Number.isInteger(value)) && value >= min && value <= max)
				return value;
			return refuse(`a ${whole ? "whole " : ""}number from ${min} to ${max}`);
		}
	}
}

function list(words: readonly string[]): string {
	return words.length === 0 ? "none" : words.join(", ");
}

function hint(word: string, words: readonly string[]): string {
	const near = nearest(word, words);
	return near === "" ? "" : `; did you mean ${near}?`;
}
