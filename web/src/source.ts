// What the page holds packed, where the panel gets the account of a trial, and how a raw
// record is shown.

import type { Account } from "./page";

type Source = (id: string) => Promise<Account | undefined>;

// In the order in which they are asked. Another source is one more line.
const sources: Source[] = [embedded];

/** The account of a trial; undefined when no source has it. */
export async function accountOf(id: string): Promise<Account | undefined> {
	for (const source of sources) {
		const account = await source(id);
		if (account) return account;
	}
	return undefined;
}

let accounts: Promise<Map<string, Account>> | undefined;

/** What the page itself holds, unpacked when a trial is first asked for. */
async function embedded(id: string): Promise<Account | undefined> {
	accounts ??= unpackAccounts();
	return (await accounts).get(id);
}

async function unpackAccounts(): Promise<Map<string, Account>> {
	const packed = document.getElementById("accounts")?.textContent;
	const all = packed ? ((JSON.parse(await unpack(packed)) ?? []) as Account[]) : [];
	return new Map(all.map((account) => [account.id, account]));
}

/** The text of a packed part of the page. */
export async function unpack(packed: string): Promise<string> {
	const letters = atob(packed);
	const bytes = new Uint8Array(letters.length);
	for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
	const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Response(text).text();
}

/** Fills the tables that the page holds packed, each when it is first opened. */
export function unpackTables(filled: (table: HTMLElement) => void): void {
	for (const details of document.querySelectorAll<HTMLDetailsElement>("details.packed")) {
		details.addEventListener("toggle", async () => {
			const packed = details.querySelector('script[type="application/gzip"]');
			if (!packed?.textContent) return;
			const text = packed.textContent;
			packed.remove();
			// The report has escaped every name in it, as in the rest of the page.
			const table = document.createElement("div");
			table.innerHTML = await unpack(text);
			details.querySelector(".note")?.replaceWith(table);
			filled(table);
		});
	}
}

export function indented(text: string): string {
	let [depth, out] = [0, ""];
	const line = (): string => `\n${" ".repeat(depth)}`;
	for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g)) {
		if (token === "{" || token === "[") {
			depth++;
			out += token + line();
		} else if (token === "}" || token === "]") {
			depth--;
			out += line() + token;
		} else if (token === ",") out += token + line();
		else out += token === ":" ? ": " : token;
	}
	return out;
}
