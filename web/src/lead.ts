// Clicks that lead on: from marks to trials, from names in legends to fewer arms, and
// from the contents to a part of the page; and the panel that shows trials. What it shows
// is in the state, so that Back, Escape and a sent address do what a reader expects.

import { without } from "./ask";
import { button, html } from "./html";
import { listView } from "./list";
import type { Drawn } from "./page";
import { accountOf } from "./source";
import { listOf, listText, type State, type Store } from "./state";
import { trialView } from "./trial";

export function followLeads(store: Store, drawn: Drawn): void {
	document.addEventListener("click", (event) => {
		if (!(event.target instanceof Element) || event.ctrlKey || event.metaKey || event.shiftKey) return;
		const mark = event.target.closest<HTMLElement>("[data-trial], [data-trials], [data-hide]");
		const anchor = event.target.closest<HTMLAnchorElement>('a[href^="#"]');
		if (mark) {
			event.preventDefault();
			const { trial, trials, hide } = mark.dataset;
			if (hide !== undefined) store.change({ hidden: without(store.state.hidden, hide) });
			else if (trial !== undefined) store.change({ trial });
			else store.change({ trial: "", trials: trials ?? "" });
		} else if (anchor && anchor.hash.length > 1 && !anchor.hash.includes("=")) {
			event.preventDefault();
			store.change({ at: decodeURIComponent(anchor.hash.slice(1)) });
			reveal(store.state.at);
		} else followCell(event.target, store, drawn);
	});
	if (store.state.at !== "") reveal(store.state.at);
}

/** Scrolls to a part of the page; what it is folded into is opened. */
function reveal(id: string): void {
	const part = document.getElementById(id);
	let folded = part?.querySelector<HTMLDetailsElement>(":scope > details:first-child") ?? part?.closest("details");
	for (; folded; folded = folded.parentElement?.closest("details")) folded.open = true;
	part?.scrollIntoView();
}

/** A table's figure leads to the trials of its arm in its cell. */
function followCell(target: Element, store: Store, drawn: Drawn): void {
	const place = target.closest("td");
	const row = place?.closest("tr");
	if (!place || !row || place.closest("dialog") || getSelection()?.type === "Range") return;
	const lead = row.querySelector<HTMLElement>("th a[data-trials]");
	if (lead) {
		store.change({ trial: "", trials: lead.dataset.trials ?? "" });
		return;
	}
	// In a table of arms by cells the column names the cell.
	const arm = drawn.arms[Number(row.querySelector<HTMLElement>("th [data-arm]")?.dataset.arm ?? -1)];
	const title = place.closest("table")?.tHead?.rows[0]?.cells[place.cellIndex]?.textContent?.trim();
	const cell = (drawn.trials?.cells.findIndex((each) => each.title === title) ?? -1) + 1;
	const base = drawn.arms.find((each) => each.baseline);
	if (arm && cell > 0) {
		const arms = [arm.name, ...(base && base !== arm ? [base.name] : [])];
		store.change({ trial: "", trials: listText({ cell, arms }) });
	}
}

export function followPanel(store: Store, drawn: Drawn): void {
	const { trials } = drawn;
	if (!trials) return;
	const content = html("div", { class: "content" });
	const close = button("Close", () => panel.close(), { class: "close" });
	const panel = html("dialog", { class: "panel", "aria-labelledby": "panel-title" }, close, content);
	document.body.append(panel);
	panel.addEventListener("close", () => {
		if (store.state.trial !== "" || store.state.trials !== "") store.change({ trial: "", trials: "" });
	});
	panel.addEventListener("click", (event) => {
		if (event.target === panel) panel.close(); // beside the panel
	});

	const fill = (view: HTMLElement): void => {
		content.replaceChildren(view);
		panel.scrollTop = 0;
		if (!panel.open) panel.showModal();
	};
	store.follow(async (now, before) => {
		if (now.trial === before.trial && now.trials === before.trials) return;
		const trial = trials.all.find((each) => each.id === now.trial);
		const listed = listOf(now.trials, store.known);
		if (trial) {
			const account = await accountOf(trial.id);
			if (stillAsked(store, now)) fill(trialView({ trial, account, drawn, trials, store }));
		} else if (listed) fill(listView(listed, drawn, trials, store));
		else panel.close();
	});
}

/** The reader may have gone on while an account was unpacked. */
const stillAsked = (store: Store, asked: State): boolean => store.state.trial === asked.trial;
