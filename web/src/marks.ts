// Marks and what belongs to them: where they lead, how arms are called, legends, and names
// at the ends of lines.

import type { Key } from "./page";
import { listText } from "./state";
import { armClass, element, fitted, path, shape, textWidth } from "./svg";

type Lead = Record<string, string>;

const names = new Map<string, string>(); // of arms, by their labels

/** Learns how the page calls its arms. */
export function knowArms(arms: Key[]): void {
	for (const { name, label } of arms) names.set(label, name);
}

/** The name of an arm that is called so; any other text is its own. */
export const nameOf = (label: string): string => names.get(label) ?? label;

/** Figures whose marks call the arms by their labels: whatever has the place of an arm and its name. */
export function labelled<Part>(part: Part, arms: Key[]): Part {
	if (Array.isArray(part)) return part.map((each) => labelled(each, arms)) as Part;
	if (typeof part !== "object" || part === null) return part;
	const { arm, name } = part as { arm?: unknown; name?: unknown };
	const own = typeof arm === "number" ? arms[arm] : undefined;
	const entries = Object.entries(part).map(([key, value]) => [
		key,
		key === "name" && own?.name === name ? own?.label : labelled(value, arms),
	]);
	return Object.fromEntries(entries) as Part;
}

/** A mark of one trial. */
export const ofTrial = (id: string | undefined): Lead => (id ? { "data-trial": id } : {});

/** A mark of some arms' trials in a cell; of none where the cell is not known. */
export const ofTrials = (cell: number | undefined, arms: string[], block?: number): Lead =>
	cell && arms.length > 0
		? { "data-trials": listText({ cell, arms: arms.map(nameOf), ...(block ? { block } : {}) }) }
		: {};

/** A name in a legend: a click hides the arm. */
export const ofLegend = (arm: string): Lead => ({ "data-hide": nameOf(arm) });

export function leading<Mark extends Element>(mark: Mark, lead: Lead): Mark {
	for (const [key, value] of Object.entries(lead)) mark.setAttribute(key, value);
	return mark;
}

/** Entries from left to right, wrapped into lines; a swatch of 10 pixels stands before each name. */
export function layoutLegend(names: string[], indent: number, width: number) {
	let [x, y] = [indent, 0];
	const entries = names.map((name) => {
		const wide = textWidth(name) + 32;
		if (x + wide > width && x > 0) [x, y] = [0, y + 18];
		const entry = { name, x, y };
		x += wide;
		return entry;
	});
	return { entries, height: y + 14 };
}

const lineHeight = 15;

interface End {
	arm: number;
	name: string;
	x: number;
	y: number;
}

/** Names each line at its end, pushed apart where names would overlap and back where they would leave the plot. */
export function labelEnds(
	svg: SVGElement,
	ends: End[],
	room: { top: number; bottom: number; right: number; width: number },
): void {
	const placed = ends.map((end) => ({ ...end, at: end.y })).sort((a, b) => a.y - b.y);
	let lowest = room.top + 4 - lineHeight;
	for (const end of placed) {
		end.at = Math.max(end.at, lowest + lineHeight);
		lowest = end.at;
	}
	let highest = Math.max(room.bottom, room.top + 4 + lineHeight * (placed.length - 1)) + lineHeight;
	for (const end of placed.reverse()) {
		end.at = Math.min(end.at, highest - lineHeight);
		highest = end.at;
	}
	for (const end of placed) {
		const leader: [number, number][] = [
			[end.x, end.y],
			[room.right + 2, end.at],
		];
		svg.append(
			element("path", { d: path(leader), class: `${armClass(end.arm)} stroke`, "stroke-opacity": 0.4, fill: "none" }),
		);
		svg.append(shape(end.arm, room.right + 9, end.at, 3.8, "fill"));
		const name = fitted(room.right + 18, end.at + 4, end.name, room.width - room.right - 18);
		svg.append(leading(name, ofLegend(end.name)));
	}
}

const listHeight = 16;

/** The height that listNames takes. */
export const listedHeight = (names: number): number => names * listHeight;

/** Lists the lines' names from the top, one below the other. */
export function listNames(svg: SVGElement, lines: { arm: number; name: string }[], width: number): void {
	lines.forEach((each, i) => {
		svg.append(shape(each.arm, 7, 6 + i * listHeight, 4.2, "fill"));
		svg.append(leading(fitted(18, 10 + i * listHeight, each.name, width - 24), ofLegend(each.name)));
	});
}
