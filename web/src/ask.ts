// The bar that asks the page: which arms and levels are shown, which metric, which axis.

import { button, copier, html } from "./html";
import { keyOf } from "./list";
import type { Drawn } from "./page";
import { cellShown } from "./shown";
import { asked, type State, type Store } from "./state";

/** Puts the bar above the page's figures. */
export function followAsk(store: Store, drawn: Drawn): void {
	const { trials } = drawn;
	const place = document.querySelector("#answers > nav");
	if (!trials || trials.all.length === 0 || !place) return;
	const content = html("div", { class: "choices" });
	const summary = html("summary", {}, "Ask this page");
	const status = html("span", { class: "note", role: "status" });
	const bar = html("details", { class: "ask" }, summary, content);
	summary.append(" ", status);
	place.after(bar);
	store.follow((now) => {
		const focused = [...content.querySelectorAll("button, select, input")].indexOf(
			document.activeElement as HTMLElement,
		);
		content.replaceChildren(armsOf(drawn, store), ...factorsOf(drawn, store), chartsOf(drawn, store), linkOf());
		content.querySelectorAll<HTMLElement>("button, select, input")[focused]?.focus();
		status.textContent = wordsOf(drawn, now);
	});
}

function group(label: string, ...parts: HTMLElement[]): HTMLElement {
	return html("div", { role: "group", "aria-label": label }, html("span", { class: "label" }, label), ...parts);
}

/** A button that is pressed while what it names is shown. */
function toggle(label: string, shown: boolean, press: () => void, arm?: number): HTMLElement {
	const made = button("", press, { "aria-pressed": String(shown) });
	if (arm !== undefined) made.append(keyOf(arm));
	made.append(label);
	return made;
}

/** A list with a name added, or taken away where it was in it. */
export const without = (all: readonly string[], one: string): string[] =>
	all.includes(one) ? all.filter((each) => each !== one) : [...all, one];

function armsOf(drawn: Drawn, store: Store): HTMLElement {
	const buttons = drawn.arms.map(({ name, label }, arm) =>
		toggle(
			label,
			!store.state.hidden.includes(name),
			() => store.change({ hidden: without(store.state.hidden, name) }),
			arm,
		),
	);
	return group("arms", ...buttons);
}

function factorsOf(drawn: Drawn, store: Store): HTMLElement[] {
	return (drawn.trials?.factors ?? []).map(({ name, levels }) => {
		const shown = store.state.levels[name] ?? levels;
		const buttons = levels.map((level) =>
			toggle(level, shown.includes(level), () => {
				// From all, a press shows this level alone; the last one that goes brings all back.
				const next = shown.length === levels.length ? [level] : without(shown, level);
				const { [name]: _, ...others } = store.state.levels;
				const ordered = levels.filter((each) => next.includes(each));
				const all = ordered.length === 0 || ordered.length === levels.length;
				store.change({ levels: all ? others : { ...others, [name]: ordered } });
			}),
		);
		return group(name, ...buttons);
	});
}

function chartsOf(drawn: Drawn, store: Store): HTMLElement {
	const metric = choice("metric of the charts by trial", store.state.metric, [
		["", "metrics of the study"],
		...(drawn.trials?.metrics ?? []).map(({ name, label }): [string, string] => [name, label]),
	]);
	metric.addEventListener("change", () => store.change({ metric: metric.value }));
	const axis = choice("axes", store.state.axis, [
		["", "axes as drawn"],
		["linear", "linear axes"],
		["log", "logarithmic axes"],
	]);
	axis.addEventListener("change", () => store.change({ axis: axis.value as State["axis"] }));
	const reset = button("show all", () => store.change({ ...asked, at: store.state.at }));
	return group("charts", metric, axis, reset);
}

/** The address of what is shown now. */
function linkOf(): HTMLElement {
	const address = html("input", { readonly: true, value: location.href, "aria-label": "address of this view" });
	return group(
		"link",
		address,
		copier(
			() => location.href,
			() => address.select(),
		),
	);
}

function choice(label: string, chosen: string, options: [string, string][]): HTMLSelectElement {
	const select = html("select", { "aria-label": label });
	for (const [value, text] of options) select.add(new Option(text, value, false, value === chosen));
	return select;
}

/** What is not as the report wrote it, in a few words. */
function wordsOf(drawn: Drawn, state: State): string {
	const words: string[] = [];
	if (state.hidden.length > 0)
		words.push(
			`without ${state.hidden.map((name) => drawn.arms.find((arm) => arm.name === name)?.label ?? name).join(", ")}`,
		);
	const cells = drawn.trials?.cells ?? [];
	const shown = cells.filter((_, place) => cellShown(drawn.trials, place, state)).length;
	if (shown < cells.length) words.push(`${shown} of ${cells.length} cells`);
	const metric = drawn.trials?.metrics.find((each) => each.name === state.metric);
	if (metric) words.push(`${metric.label} by trial`);
	if (state.axis !== "") words.push(`${state.axis === "log" ? "logarithmic" : "linear"} axes`);
	return words.join(" · ");
}
