// One trial: what it was, what it did, whether to believe it, and its record.

import { figureText } from "./figure";
import { copier, html } from "./html";
import { cellName, keyOf } from "./list";
import type { Account, Drawn, Named, TrialLine, Trials } from "./page";
import { drawSeries } from "./series";
import { indented } from "./source";
import { listText, type Store } from "./state";

interface Asked {
	trial: TrialLine;
	account: Account | undefined;
	drawn: Drawn;
	trials: Trials;
	store: Store;
}

export function trialView(asked: Asked): HTMLElement {
	const { trial, account, drawn, trials } = asked;
	const arm = drawn.arms[trial.arm]?.name ?? "";
	const where = [drawn.arms[trial.arm]?.label, cellName(trials, trial.cell), `block ${trial.block}`].filter(
		(part) => part,
	);
	const title = `Trial ${trial.id}: ${where.join(", ")}`;
	const state = [
		account?.status ?? trial.status ?? "valid",
		trial.repeat ? "the baseline's repeat" : "",
		account?.started,
	];
	return html(
		"div",
		{},
		html("h2", { id: "panel-title" }, keyOf(trial.arm), title),
		html("p", { class: "note" }, state.filter((part) => part).join(" · ")),
		linksOf(asked, arm),
		...verdictOf(asked),
		figuresOf(asked),
		overTime(asked),
		...(account ? accountParts(account) : []),
		trials.beyond !== "" &&
			html("p", { class: "note" }, `${trials.beyond} `, html("code", {}, `${trials.command} ${trial.id}`)),
		account?.record ? undefined : servedRecord(trial.id),
	);
}

/** Where netdyno serve shows the page, it has the record beside it. */
function servedRecord(id: string): HTMLElement | undefined {
	if (!/^https?:$/.test(location.protocol) || !location.pathname.endsWith("/report.html")) return undefined;
	return html("p", {}, html("a", { href: `trials/${encodeURIComponent(id)}.json` }, "The raw record"));
}

/** The list that the trial is in, and its neighbours there. */
function linksOf({ trial, trials, store }: Asked, arm: string): HTMLElement {
	const listed = trials.all.filter((each) => each.cell === trial.cell && each.arm === trial.arm);
	const at = listed.indexOf(trial);
	const link = (to: TrialLine | undefined, text: string): HTMLElement | undefined =>
		to && html("a", { href: store.address({ trial: to.id }) }, text);
	const trialsOf = listText({ cell: trial.cell + 1, arms: [arm] });
	return html(
		"nav",
		{ "aria-label": "Trials" },
		html("a", { href: store.address({ trial: "", trials: trialsOf }) }, `all ${listed.length} of this arm and cell`),
		link(listed[at - 1], "← the one before"),
		link(listed[at + 1], "the next →"),
	);
}

/** Why it is not valid, its flags, and what limited it. */
function verdictOf({ trial, account }: Asked): (HTMLElement | undefined)[] {
	const flags = account?.flags ?? (trial.flags ?? []).map((name) => ({ name, text: "" }));
	const why = account && flags.length === 0 ? account.reason : undefined;
	const limit = account?.limit ?? trial.limit;
	return [
		why ? html("p", { class: "sentence" }, why) : undefined,
		flags.length > 0
			? html(
					"ul",
					{ class: "flags" },
					...flags.map(({ name, text }) => html("li", {}, html("b", {}, name), ` ${text}`)),
				)
			: undefined,
		limit
			? html("p", { class: "sentence" }, "Limit: ", html("b", {}, limit), account?.proof ? ` (${account.proof})` : "")
			: undefined,
	];
}

/** Its figures: those that the page's tables show, or all with the account. */
function figuresOf({ trial, account, trials }: Asked): HTMLElement {
	const scales = trials.cells[trial.cell]?.scales ?? [];
	const main = trials.metrics.flatMap(({ name, label }, at) => {
		const [value, scale] = [trial.values[at], scales[at]];
		if (typeof value !== "number" || !scale) return [];
		const bound = account?.figures.find((figure) => figure.metric === name)?.text.startsWith("≥") ? "≥ " : "";
		return [{ name, label, text: `${bound}${figureText(value, scale)} ${scale.unit}` }];
	});
	const others = (account?.figures ?? [])
		.filter((figure) => !main.some((each) => each.name === figure.metric))
		.map((figure) => ({ name: figure.metric, label: figure.label, text: `${figure.text} ${figure.unit}` }));
	const table = (figures: typeof main): HTMLElement =>
		html(
			"dl",
			{ class: "figures-of" },
			...figures.map(({ name, label, text }) =>
				html("div", { title: name }, html("dt", {}, label), html("dd", {}, text)),
			),
		);
	if (main.length + others.length === 0) return html("p", { class: "note" }, "It has no figures.");
	return html("div", {}, table(main), others.length > 0 && fold(`All other metrics (${others.length})`, table(others)));
}

/** Its rate over time. */
function overTime({ trial, account }: Asked): HTMLElement | undefined {
	const width = Math.min(900, document.documentElement.clientWidth - 72);
	const title = `Trial ${trial.id} over time`;
	if (!account?.series) return undefined;
	const panels = account.series.panels.map((panel) => ({ ...panel, arm: trial.arm }));
	return html("div", { class: "drawing" }, drawSeries({ ...account.series, panels }, width, title));
}

function accountParts(account: Account): (HTMLElement | undefined)[] {
	const checks = account.checks.map(({ name, asks, found }) =>
		html("li", { class: found ? "failed" : "passed" }, html("b", {}, name), ` ${found ?? asks}`),
	);
	return [
		checks.length > 0
			? fold(
					`Consistency checks: ${account.checks.filter((check) => !check.found).length} of ${checks.length} passed`,
					html("ul", { class: "checks" }, ...checks),
				)
			: undefined,
		named("Levels", account.levels),
		named("Settings, as the workers reported them", account.settings),
		...account.stderr.map(({ name, text }) => fold(`stderr of ${name}`, html("pre", {}, text), true)),
		account.record ? recordOf(account.record) : undefined,
	];
}

function fold(summary: string, content: HTMLElement, open = false): HTMLElement {
	return html("details", { open }, html("summary", {}, summary), content);
}

function named(summary: string, all: Named[]): HTMLElement | undefined {
	if (all.length === 0) return undefined;
	const pairs = all.map(({ name, text }) => html("div", {}, html("dt", {}, name), html("dd", {}, text)));
	return fold(summary, html("dl", { class: "names" }, ...pairs));
}

/** The record, indented when it is first looked at. */
function recordOf(record: string): HTMLElement {
	const text = html("pre", { class: "record" });
	const copy = copier(
		() => text.textContent ?? "",
		() => getSelection()?.selectAllChildren(text),
	);
	const folded = html("details", {}, html("summary", {}, "The raw record"), html("p", {}, copy), text);
	folded.addEventListener("toggle", () => {
		if (text.textContent === "") text.textContent = indented(record);
	});
	return folded;
}
