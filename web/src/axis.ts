// Axes of charts whose values and levels the report hands over raw.

import type { Axis } from "./page";
import { fromZero, logarithmic, niceStep, type Scale, short, spaced } from "./scale";
import { line, text, textWidth } from "./svg";

/** A scale over raw values whose ticks are round in the axis's unit: from zero, or logarithmic. */
export function valueScale(axis: Axis, values: number[], start: number, end: number, apart = 70): Scale {
	const { factor } = axis.scale;
	const shown = values.map((value) => value / factor);
	const count = Math.max(3, Math.abs(end - start) / apart);
	const inner = axis.log ? padded(shown, start, end, count) : fromZero(Math.max(0, ...shown), start, end, count);
	return Object.assign((raw: number) => inner(raw / factor), { ticks: inner.ticks.map((tick) => tick * factor) });
}

/** A log scale with room at both ends, its ticks linear where there are too few decades to count in. */
function padded(values: number[], start: number, end: number, count: number): Scale {
	const [least, most] = [Math.min(...values), Math.max(...values)];
	const [low, high] = [least / (most / least) ** 0.06 / 1.02, most * (most / least) ** 0.06 * 1.02];
	const scale = logarithmic(low, high, start, end);
	if (scale.ticks.length < 3) {
		const step = niceStep((high - low) / count);
		const first = Math.ceil(low / step);
		scale.ticks = Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
	}
	return scale;
}

/** What a tick of the axis says. */
export const tickText = (axis: Axis, tick: number): string => short(tick / axis.scale.factor);

/** The room that the tick texts of a vertical axis take. */
export function tickRoom(axis: Axis, ticks: number[]): number {
	return Math.max(24, ...ticks.map((tick) => textWidth(tickText(axis, tick)))) + 10;
}

/** Draws a vertical axis: grid lines from left to right and the ticks' texts before them. */
export function drawUpright(svg: SVGElement, axis: Axis, y: Scale, left: number, right: number): void {
	for (const tick of spaced(y.ticks, y, 16)) {
		svg.append(line(left, y(tick), right, y(tick), tick === 0 ? "axis" : "grid"));
		svg.append(text(left - 8, y(tick) + 4, tickText(axis, tick), "end", "soft"));
	}
}

const gapRoom = 52;

/** Positions of a factor's levels; on a log axis the level zero stands before a gap. */
export interface LevelScale extends Scale {
	gap?: number; // middle of the gap, when there is one
}

export function levelScale(axis: Axis, start: number, end: number): LevelScale {
	const levels = (axis.ticks ?? []).map((tick) => tick.at);
	const positive = levels.filter((level) => level > 0);
	if (!axis.log || positive.length === 0) {
		const [least, most] = [Math.min(...levels), Math.max(...levels)];
		const at = (level: number) => (most > least ? start + ((level - least) / (most - least)) * (end - start) : start);
		return Object.assign(at, { ticks: levels });
	}
	const broken = positive.length < levels.length;
	const first = broken ? start + gapRoom : start;
	const log = logarithmic(Math.min(...positive), Math.max(...positive), first, end);
	const at = (level: number) => (level > 0 ? log(level) : start);
	return Object.assign(at, { ticks: levels, ...(broken ? { gap: start + gapRoom / 2 } : {}) });
}

/** Draws a factor's axis: its levels' own texts as far as they fit, and a break before the first level of a log axis that has a zero. */
export function drawLevels(svg: SVGElement, axis: Axis, x: LevelScale, bottom: number, right: number): void {
	const texts = new Map((axis.ticks ?? []).map((tick) => [tick.at, tick.text]));
	const ends = [x.ticks[0] ?? 0, x.ticks[x.ticks.length - 1] ?? 0];
	svg.append(line(x(ends[0] ?? 0) - 10, bottom, right, bottom, "axis"));
	const taken: [number, number][] = [];
	for (const level of new Set([...ends, ...x.ticks])) {
		svg.append(line(x(level), bottom, x(level), bottom + 4, "axis"));
		const half = textWidth(texts.get(level) ?? "") / 2 + 3;
		const [from, to] = [x(level) - half, x(level) + half];
		if (taken.some(([start, end]) => from < end && start < to)) continue;
		taken.push([from, to]);
		svg.append(text(x(level), bottom + 17, texts.get(level) ?? "", "middle", "soft"));
	}
	if (x.gap !== undefined) {
		for (const side of [-3, 3]) svg.append(line(x.gap + side - 2, bottom + 5, x.gap + side + 2, bottom - 5, "axis"));
	}
	svg.append(text((x(ends[0] ?? 0) + right) / 2, bottom + 36, axis.title, "middle", "soft"));
}
