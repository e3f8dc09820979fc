// Marks that lead somewhere: to a trial, to a list of trials, or to a figure without an arm.

import { listText } from "./state";

type Lead = Record<string, string>;

/** A mark of one trial. */
export const ofTrial = (id: string | undefined): Lead => (id ? { "data-trial": id } : {});

/** A mark of some arms' trials in a cell; of none where the cell is not known. */
export const ofTrials = (cell: number | undefined, arms: string[], block?: number): Lead =>
	cell && arms.length > 0 ? { "data-trials": listText({ cell, arms, ...(block ? { block } : {}) }) } : {};

/** A name in a legend: a click hides the arm. */
export const ofLegend = (arm: string): Lead => ({ "data-hide": arm });

export function leading<Mark extends Element>(mark: Mark, lead: Lead): Mark {
	for (const [key, value] of Object.entries(lead)) mark.setAttribute(key, value);
	return mark;
}
