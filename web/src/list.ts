// A list of trials: those of an arm in a cell with each one's figures, below the arm's own.

import { figureText } from "./figure";
import { html } from "./html";
import type { Drawn, TrialFigure, TrialLine, Trials } from "./page";
import type { Listed, Store } from "./state";
import { drawing, shape } from "./svg";

export function listView(listed: Listed, drawn: Drawn, trials: Trials, store: Store): HTMLElement {
	const cell = trials.cells[listed.cell - 1];
	const arms = listed.arms.map((name) => drawn.arms.findIndex((arm) => arm.name === name));
	const shown = trials.all.filter(
		(trial) =>
			trial.cell === listed.cell - 1 &&
			arms.includes(trial.arm) &&
			(listed.block === undefined || trial.block === listed.block),
	);
	const metrics = trials.metrics.flatMap(({ label, name }, at) =>
		shown.some((trial) => typeof trial.values[at] === "number") ? [{ label, name, at }] : [],
	);
	const title = (text: string): HTMLElement => html("th", { scope: "col" }, text);
	const measured = metrics.map(({ label, name, at }) => {
		const unit = cell?.scales[at]?.unit;
		const small = unit ? html("small", {}, ` ${unit}`) : undefined;
		return html("th", { scope: "col", class: "number", title: name }, label, small);
	});
	const which = ["trial", ...(arms.length > 1 ? ["arm"] : []), "block"].map(title);
	const heading = html("tr", {}, ...which, ...measured, title("ended"), title("limit"));
	const several = arms.length > 1;
	const armOf = (arm: number): HTMLElement | undefined =>
		several ? html("td", {}, keyOf(arm), drawn.arms[arm]?.label ?? "") : undefined;
	const rows = shown.map((trial) => rowOf(trial, trials, metrics, armOf(trial.arm), store));
	const means = listed.block === undefined ? arms : [];
	const figures = means.map((arm) =>
		meanOf(cell?.arms.find((each) => each.arm === arm)?.figures ?? [], metrics, armOf(arm)),
	);
	const where = [
		cellName(trials, listed.cell - 1),
		listed.block === undefined ? undefined : `block ${listed.block}`,
	].filter((part) => part);
	const ended = shown.length === 1 ? "1 trial" : `${shown.length} trials`;
	return html(
		"div",
		{},
		html(
			"h2",
			{ id: "panel-title" },
			`${[arms.map((arm) => drawn.arms[arm]?.label).join(" and "), ...where].join(", ")}: ${ended}`,
		),
		html(
			"div",
			{ class: "scroll", tabindex: "0" },
			html("table", {}, html("thead", {}, heading), html("tbody", {}, ...figures, ...rows)),
		),
		figures.length > 0 &&
			html("p", { class: "note" }, "A mean is over blocks, with its interval, as in the page's tables."),
	);
}

type Shown = { label: string; name: string; at: number };

function rowOf(
	trial: TrialLine,
	trials: Trials,
	metrics: Shown[],
	arm: HTMLElement | undefined,
	store: Store,
): HTMLElement {
	const scales = trials.cells[trial.cell]?.scales ?? [];
	const link = html("a", { href: store.address({ trial: trial.id }) }, trial.id);
	const ended = [trial.status ?? "valid", ...(trial.repeat ? ["repeat"] : []), ...(trial.flags ?? [])];
	const figures = metrics.map(({ at }) => {
		const [value, scale] = [trial.values[at], scales[at]];
		return html("td", { class: "number" }, typeof value === "number" && scale ? figureText(value, scale) : "–");
	});
	return html(
		"tr",
		{},
		html("th", { scope: "row" }, link),
		arm,
		html("td", {}, String(trial.block)),
		...figures,
		html("td", {}, ended.join(", ")),
		html("td", {}, trial.limit ?? "–"),
	);
}

function meanOf(figures: TrialFigure[], metrics: Shown[], arm: HTMLElement | undefined): HTMLElement {
	return html(
		"tr",
		{ class: "mean" },
		html("th", { scope: "row" }, "mean"),
		arm,
		html("td"),
		...metrics.map(({ at }) => html("td", { class: "number" }, figures[at]?.label || "–")),
		html("td"),
		html("td"),
	);
}

/** What a cell is called where there are several. */
export const cellName = (trials: Trials, place: number): string =>
	trials.cells.length > 1 ? (trials.cells[place]?.title ?? "") : "";

/** The arm's shape in its colour. */
export function keyOf(arm: number): HTMLElement {
	const svg = drawing(12, 12, "");
	svg.setAttribute("aria-hidden", "true");
	svg.append(shape(arm, 6, 6, 4.2, "fill"));
	return html("span", { class: "key" }, svg);
}
