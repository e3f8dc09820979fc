// What the report packs: JSON and HTML as base64 of its gzip, unpacked when it is needed.

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
