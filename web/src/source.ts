// Where the panel gets the account of a trial.

import type { Account } from "./page";
import { unpack } from "./unpack";

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
