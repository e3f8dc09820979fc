// What the state does to the page's tables and sections: rows and columns of hidden
// arms and cells go, columns sort them, and figures lead to their trials.

import { button, html } from "./html";
import type { Drawn } from "./page";
import { offerTable } from "./save";
import { cellShown } from "./shown";
import { listText, type State, type Store } from "./state";

/** The number of the cell in whose section an element stands; 0 for none. */
const cellOf = (element: Element): number =>
	Number(/^cell-(\d+)$/.exec(element.closest("section")?.id ?? "")?.[1] ?? 0);

/** Prepares tables once: sorting, and links from arms and trials. */
export function prepareTables(within: ParentNode, drawn: Drawn, store: Store): void {
	const counts = new Map<string, number>();
	for (const table of within.querySelectorAll("table")) {
		const section = table.closest("section")?.id ?? "page";
		const count = (counts.get(section) ?? 0) + 1;
		counts.set(section, count);
		makeSortable(table, `${section}.${within === document ? count : "all"}`, store);
		offerTable(table);
		if (drawn.trials) linkRows(table, drawn, store);
		applyTo(table, drawn, store.state);
	}
}

/** Makes the arm of a cell's row, and the trial of any row, a link. */
function linkRows(table: HTMLTableElement, drawn: Drawn, store: Store): void {
	const cell = cellOf(table);
	for (const row of table.tBodies[0]?.rows ?? []) {
		const heading = row.cells[0];
		const arm = drawn.arms[Number(heading?.querySelector<HTMLElement>("[data-arm]")?.dataset.arm ?? -1)];
		const id = heading?.textContent ?? "";
		if (heading && arm && cell > 0) {
			row.dataset.arm = arm.name;
			wrap(heading, "data-trials", listText({ cell, arms: [arm.name] }));
		} else if (heading && store.known.trials.has(id)) wrap(heading, "data-trial", id);
	}
}

/** Wraps the text of a heading into a link that leads as a mark does. */
function wrap(heading: HTMLElement, lead: string, to: string): void {
	const text = [...heading.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
	if (text.length === 0) return;
	const title = lead === "data-trial" ? "this trial" : "the trials behind these figures";
	const link = html("a", { href: "#", class: "lead", title, [lead]: to });
	text[0]?.before(link);
	link.append(...text);
}

/** Shows and hides what the state asks for, in all tables, sections and links of the contents. */
export function followTables(store: Store, drawn: Drawn): void {
	store.follow((now) => {
		for (const table of document.querySelectorAll("table")) applyTo(table, drawn, now);
		drawn.trials?.cells.forEach((_, place) => {
			const hidden = !cellShown(drawn.trials, place, now);
			document.getElementById(`cell-${place + 1}`)?.toggleAttribute("hidden", hidden);
			document.querySelector(`nav a[href="#cell-${place + 1}"]`)?.toggleAttribute("hidden", hidden);
		});
	});
}

function applyTo(table: HTMLTableElement, drawn: Drawn, state: State): void {
	if (table.closest("dialog")) return;
	sortAsAsked(table, state.sort);
	const armHidden = (name: string): boolean => state.hidden.includes(name);
	const hiddenTitles = new Set([
		...drawn.arms.filter(({ name }) => armHidden(name)).map(({ label }) => label),
		...(drawn.trials?.cells ?? [])
			.filter((_, place) => !cellShown(drawn.trials, place, state))
			.map((cell) => cell.title),
	]);
	let behind = false; // "its median" goes with the arm before it
	const columns = [...(table.tHead?.rows[0]?.cells ?? [])].map((heading) => {
		const title = heading.textContent?.trim() ?? "";
		behind = hiddenTitles.has(title) || (behind && title === "its median");
		return behind;
	});
	for (const row of table.rows) {
		const arm = drawn.arms[Number(row.cells[0]?.querySelector<HTMLElement>("[data-arm]")?.dataset.arm ?? -1)];
		row.hidden = arm !== undefined && armHidden(arm.name);
		columns.forEach((hidden, i) => {
			const cell = row.cells[i];
			if (cell && cell.hidden !== hidden) cell.hidden = hidden;
		});
	}
}

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
