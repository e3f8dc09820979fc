import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A file of contract/vectors. */
// biome-ignore lint/suspicious/noExplicitAny: vectors are read as they are
export function vectors(name: string): any {
	return JSON.parse(readFileSync(path(`contract/vectors/${name}.json`), "utf8"));
}

/** A path of the repository. The compiled tests lie in kits/node/dist/test. */
export function path(name: string): string {
	return fileURLToPath(new URL(`../../../../${name}`, import.meta.url));
}
