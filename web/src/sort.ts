// Tables sorted by a column: a button in every heading, the choice in the state.

import { button } from "./html";
import type { Store } from "./state";

const orders = new WeakMap<HTMLTableElement, HTMLTableRowElement[]>(); // of rows, as the report wrote them

/** Gives a table a name for the state and its headings buttons. */
export function makeSortable(table: HTMLTableElement, name: string, store: Store): void {
	const body = table.tBodies[0];
	const headings = [...(table.tHead?.rows[0]?.cells ?? [])];
	if (!body || body.rows.length < 2) return;
	table.dataset.table = name;
	orders.set(table, [...body.rows]);
	headings.forEach((heading, column) => {
		const press = (): void => {
			const rising = `${name}:${column}`;
			const next: Record<string, string> = { [rising]: `${name}:-${column}`, [`${name}:-${column}`]: "" };
			store.change({ sort: next[store.state.sort] ?? rising });
		};
		const made = button("", press, { class: "sort", title: heading.title || "sort by this column" });
		made.append(...heading.childNodes);
		heading.append(made);
	});
	sortAsAsked(table, store.state.sort);
}

/** Puts a table's rows in the order that the state asks for. */
export function sortAsAsked(table: HTMLTableElement, sort: string): void {
	const rows = orders.get(table);
	if (!rows) return;
	const [name, column] = sort.split(":");
	const asked = name === table.dataset.table && column !== undefined;
	const falling = asked && column.startsWith("-");
	const place = asked ? Number(column.replace("-", "")) : -1;
	[...(table.tHead?.rows[0]?.cells ?? [])].forEach((heading, i) => {
		if (i === place) heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
		else heading.removeAttribute("aria-sort");
	});
	const sorted = asked
		? [...rows].sort((a, b) => compare(keyOfRow(a, place), keyOfRow(b, place), falling ? -1 : 1))
		: rows;
	if (sorted.some((row, i) => row !== table.tBodies[0]?.rows[i])) table.tBodies[0]?.append(...sorted);
}

/** What a row is sorted by: the number that its cell begins with, else its text; undefined for none. */
function keyOfRow(row: HTMLTableRowElement, column: number): number | string | undefined {
	const cell = row.cells[column];
	const first = [...(cell?.childNodes ?? [])].map((node) => node.textContent?.trim() ?? "").find((text) => text !== "");
	if (!first || first === "–") return undefined;
	const number = /^(?:≥ )?(-?[\d,]+(?:\.\d+)?(?:e[+-]\d+)?)[×%]?(?: |$)/.exec(first);
	return number ? Number((number[1] ?? "").replace(/,/g, "")) : (cell?.textContent?.trim() ?? "");
}

/** What has no value comes last, whichever way. */
function compare(a: number | string | undefined, b: number | string | undefined, way: 1 | -1): number {
	if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
	if (typeof a === "number" && typeof b === "number") return (a - b) * way;
	return String(a).localeCompare(String(b), "en", { numeric: true }) * way;
}
