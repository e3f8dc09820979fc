import { inkOn } from "./colour";
import type { Flame, FlameGraph, Told } from "./page";
import { short } from "./scale";
import { drawing, element, fit, hint, text } from "./svg";

const rowHeight = 19;
const narrowest = 0.6; // px of a box that is drawn

/** A function as called by its caller, with its cost in one graph or in two. */
interface Box {
	name: number;
	activity: number;
	cost: number;
	base: number; // in the graph that it is compared with
	callees: Box[];
	caller?: Box | undefined;
}

/** What the reader has chosen; kept while the figure is drawn again. */
interface Choice {
	view: number; // of views
	focus?: Box | undefined;
	query: string;
	roots: Map<number, Box>;
}

const choices = new WeakMap<Flame, Choice>();

/** One graph, or the difference of two of the same end. */
interface View {
	label: string;
	graph: FlameGraph;
	base?: FlameGraph;
	told: Told;
}

/** Stacks as boxes, callers above callees; a click shows a box alone, a search marks boxes. */
export function drawFlame(flame: Flame, width: number, title: string): HTMLElement {
	const choice: Choice = choices.get(flame) ?? { view: 0, query: "", roots: new Map() };
	choices.set(flame, choice);
	const views = viewsOf(flame);
	const figure = document.createElement("div");
	figure.className = "flame";
	const controls = document.createElement("div");
	controls.className = "controls";
	const status = document.createElement("p");
	status.className = "note status";
	status.setAttribute("role", "status");
	const canvas = document.createElement("div");

	const redraw = (): void => {
		const view = views[choice.view] ?? views[0];
		if (!view) return;
		const root = choice.roots.get(choice.view) ?? rootOf(view);
		choice.roots.set(choice.view, root);
		const focus = choice.focus ?? root;
		const zoom = (box?: Box): void => {
			choice.focus = box;
			redraw();
			canvas.querySelector<SVGElement>('[tabindex="0"]')?.focus();
		};
		canvas.replaceChildren(drawBoxes(flame, view, root, focus, choice.query, width, title, zoom));
		status.textContent = statusOf(flame, view, root, focus, choice.query);
	};
	controls.append(
		selectOf(views, choice, redraw),
		searchOf(choice, redraw),
		buttonOf("whole graph", () => {
			choice.focus = undefined;
			redraw();
		}),
	);
	figure.append(controls, status, canvas);
	redraw();
	return figure;
}

function viewsOf(flame: Flame): View[] {
	const views: View[] = flame.graphs.map((graph) => ({
		label: `${graph.name}, ${graph.end}`,
		graph,
		told: { functions: [], activities: [] },
	}));
	flame.graphs.forEach((graph, i) => {
		const base = flame.graphs.find(
			(other) => other.arm === 0 && other.end === graph.end && other.source === graph.source,
		);
		if (!base || base === graph) return;
		const label = `${graph.name} against ${base.name}, ${graph.end}`;
		views.push({ label, graph, base, told: flame.told[i] ?? { functions: [], activities: [] } });
	});
	return views;
}

function selectOf(views: View[], choice: Choice, redraw: () => void): HTMLElement {
	const select = document.createElement("select");
	select.setAttribute("aria-label", "which stacks");
	for (const [i, view] of views.entries()) select.add(new Option(view.label, String(i), false, i === choice.view));
	select.addEventListener("change", () => {
		choice.view = Number(select.value);
		choice.focus = undefined;
		redraw();
	});
	return select;
}

function searchOf(choice: Choice, redraw: () => void): HTMLElement {
	const search = document.createElement("input");
	search.type = "search";
	search.placeholder = "search functions";
	search.setAttribute("aria-label", "search functions");
	search.value = choice.query;
	search.addEventListener("input", () => {
		choice.query = search.value;
		redraw();
	});
	return search;
}

function buttonOf(label: string, press: () => void): HTMLElement {
	const button = document.createElement("button");
	button.type = "button";
	button.textContent = label;
	button.addEventListener("click", press);
	return button;
}

/** The tree of a view; of two graphs, one that has the boxes of both. */
function rootOf(view: View): Box {
	const root: Box = { name: -1, activity: 0, cost: 0, base: 0, callees: [] };
	const add = (graph: FlameGraph, field: "cost" | "base"): void => {
		const above: Box[] = [root];
		root[field] = graph.whole;
		for (const [depth, name, cost, activity] of graph.frames) {
			const caller = above[depth] ?? root;
			let box = caller.callees.find((callee) => callee.name === name);
			if (!box) {
				box = { name, activity, cost: 0, base: 0, callees: [], caller };
				caller.callees.push(box);
			}
			box[field] += cost;
			above[depth + 1] = box;
		}
	};
	add(view.graph, "cost");
	if (view.base) add(view.base, "base");
	return root;
}

const sizeOf = (box: Box): number => Math.max(box.cost, box.base);

const depthOf = (box: Box, least: number): number =>
	1 + Math.max(0, ...box.callees.filter((callee) => sizeOf(callee) >= least).map((callee) => depthOf(callee, least)));

function matches(flame: Flame, box: Box, query: string): boolean {
	return query !== "" && (flame.names[box.name] ?? "").toLowerCase().includes(query.toLowerCase());
}

function drawBoxes(
	flame: Flame,
	view: View,
	root: Box,
	focus: Box,
	query: string,
	width: number,
	title: string,
	zoom: (box?: Box) => void,
): SVGElement {
	const callers: Box[] = [];
	for (let box = focus.caller; box; box = box.caller) callers.unshift(box);
	const least = (sizeOf(focus) * narrowest) / width;
	const svg = drawing(width, (callers.length + depthOf(focus, least)) * rowHeight + 2, `${title}: ${view.label}`);
	svg.setAttribute("role", "group");
	const drawn = new Map<Box, SVGElement>();
	const draw = (box: Box, x: number, row: number, wide: number): void => {
		const made = boxOf(flame, view, root, box, { x, row, wide }, query);
		made.setAttribute("tabindex", box === focus ? "0" : "-1");
		made.addEventListener("click", () => zoom(box));
		made.addEventListener("keydown", (event) => pressed(event, box, drawn, zoom));
		drawn.set(box, made);
		svg.append(made);
	};
	callers.forEach((box, row) => {
		draw(box, 0, row, width);
	});
	const place = (box: Box, x: number, row: number, wide: number): void => {
		draw(box, x, row, wide);
		let from = x;
		const sum = box.callees.reduce((all, callee) => all + sizeOf(callee), 0);
		const scale = wide / Math.max(sizeOf(box), sum);
		for (const callee of box.callees) {
			const share = sizeOf(callee) * scale;
			if (share >= narrowest) place(callee, from, row + 1, share);
			from += share;
		}
	};
	place(focus, 0, callers.length, width);
	return svg;
}

function boxOf(
	flame: Flame,
	view: View,
	root: Box,
	box: Box,
	at: { x: number; row: number; wide: number },
	query: string,
): SVGElement {
	const colour = view.base ? undefined : colourOf(flame, box.activity);
	const name = box.name < 0 ? `${view.label}: all` : (flame.names[box.name] ?? "");
	const rect: Record<string, string | number> = {
		x: at.x,
		y: at.row * rowHeight,
		width: Math.max(0.2, at.wide - 0.6),
		height: rowHeight - 1,
		class: `box ${view.base ? growth(view, box) : box.name < 0 ? "root" : ""} ${matches(flame, box, query) ? "found" : ""}`,
	};
	if (colour && box.name >= 0) rect.fill = colour;
	if (view.base) rect["fill-opacity"] = strength(root, box);
	const about = wordsOf(flame, view, root, box, name);
	const group = element("g", { role: "button", "aria-label": about }, element("rect", rect));
	if (at.wide > 26) {
		const ink = colour && box.name >= 0 ? `printed ${inkOn(colour)}` : "";
		group.append(text(at.x + 4, at.row * rowHeight + 13, fit(brief(name), at.wide - 8), "start", ink));
	}
	group.append(hint(about));
	return group;
}

/** Arrows walk from box to box, Enter shows one alone, Escape all. */
function pressed(event: KeyboardEvent, box: Box, drawn: Map<Box, SVGElement>, zoom: (box?: Box) => void): void {
	const beside = (box.caller?.callees ?? []).filter((callee) => drawn.has(callee));
	const at = beside.indexOf(box);
	const next: Record<string, Box | undefined> = {
		ArrowDown: box.callees.find((callee) => drawn.has(callee)),
		ArrowUp: box.caller,
		ArrowLeft: beside[at - 1],
		ArrowRight: beside[at + 1],
	};
	if (event.key in next) drawn.get(next[event.key] ?? box)?.focus();
	else if (event.key === "Enter" || event.key === " ") zoom(box);
	else if (event.key === "Escape") zoom(undefined);
	else return;
	event.preventDefault();
}

/** A function's name without its path, which the hint has. */
const brief = (name: string): string => name.replace(/^.*\/(?=[^/]*$)/, "");

const colourOf = (flame: Flame, place: number): string => `#${flame.activities[place]?.colour ?? "c9cbc6"}`;

const growth = (view: View, box: Box): string => {
	const told = view.told.functions.includes(box.name) || view.told.activities.includes(box.activity);
	if (box.name >= 0 && !told && !box.callees.some((callee) => growth(view, callee) !== "same")) return "same";
	return box.cost >= box.base ? "grew" : "shrank";
};

const strength = (root: Box, box: Box): number =>
	0.12 + 0.75 * Math.min(1, (4 * Math.abs(box.cost - box.base)) / Math.max(root.cost, root.base));

const amount = (flame: Flame, cost: number): string =>
	flame.unit === "" ? `${short(cost * 100)} %` : `${short(cost / flame.factor)} ${flame.unit}`;

function wordsOf(flame: Flame, view: View, root: Box, box: Box, name: string): string {
	const own = Math.max(0, box.cost - box.callees.reduce((sum, callee) => sum + callee.cost, 0));
	const share = root.cost > 0 ? ` (${short((100 * box.cost) / root.cost)} %)` : "";
	if (!view.base) return `${name}: ${amount(flame, box.cost)}${share}, of its own ${amount(flame, own)}`;
	const grown = box.cost - box.base;
	return `${name}: ${amount(flame, box.cost)} against ${amount(flame, box.base)}, ${grown < 0 ? "−" : "+"}${amount(flame, Math.abs(grown))}`;
}

function statusOf(flame: Flame, view: View, root: Box, focus: Box, query: string): string {
	const share = (100 * view.graph.elided) / Math.max(view.graph.whole, Number.MIN_VALUE);
	const elided = share > 0 ? `, ${short(share)} % of it in boxes of small functions` : "";
	const parts = [`${view.label}: ${amount(flame, root.cost)} of CPU time${elided}`];
	if (view.base) {
		const noise =
			view.told.functions.length + view.told.activities.length > 0
				? "grey is not told apart from noise"
				: "nothing is told apart from noise";
		parts[0] = `${view.label}: ${amount(flame, root.cost)} against ${amount(flame, root.base)}. Orange grew, blue shrank; ${noise}`;
	}
	if (focus !== root) parts.push(`shown alone: ${brief(flame.names[focus.name] ?? "")}`);
	if (query !== "") {
		const found = costOf(flame, focus, query);
		parts.push(`“${query}” is on ${short((100 * found) / Math.max(focus.cost, Number.MIN_VALUE))} % of what is shown`);
	}
	return `${parts.join("; ")}.`;
}

/** The cost of all boxes that match, each stack once. */
function costOf(flame: Flame, box: Box, query: string): number {
	if (matches(flame, box, query)) return box.cost;
	return box.callees.reduce((sum, callee) => sum + costOf(flame, callee, query), 0);
}
