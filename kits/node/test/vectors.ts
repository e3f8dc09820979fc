import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Json, parseJson, Real } from "../src/json.js";

/** A file of contract/vectors. */
// biome-ignore lint/suspicious/noExplicitAny: vectors are read as they are
export function vectors(name: string): any {
	return JSON.parse(readFileSync(path(`contract/vectors/${name}.json`), "utf8"));
}

/** A path of the repository. The compiled tests lie in kits/node/dist/test. */
export function path(name: string): string {
	return fileURLToPath(new URL(`../../../../${name}`, import.meta.url));
}

/** The same, with integers beyond 2^53 as bigints. */
// biome-ignore lint/suspicious/noExplicitAny: vectors are read as they are
export function exact(name: string): any {
	const plain = (value: Json): unknown => {
		if (value instanceof Real) return value.value;
		if (Array.isArray(value)) return value.map(plain);
		if (typeof value !== "object" || value === null) return value;
		return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, plain(v)]));
	};
	return plain(parseJson(readFileSync(path(`contract/vectors/${name}.json`), "utf8")));
}
