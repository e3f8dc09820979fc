// Marks that lead somewhere: to a trial, to a list of trials, or to a figure without an arm.

import type { Key } from "./page";
import { listText } from "./state";

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
