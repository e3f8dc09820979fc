// What of a figure is shown: the arms and cells that are not hidden, the metric and
// the axis that were asked for.

import type { ShownDots } from "./dots";
import { nameOf } from "./marks";
import type { Dots, Drawn, Figure, Trials } from "./page";
import type { State } from "./state";

/** Tells whether a cell, by its place, has only levels that are shown. */
export function cellShown(trials: Trials | undefined, place: number, state: State): boolean {
	const levels = trials?.cells[place]?.levels ?? {};
	return Object.entries(state.levels).every(([factor, shown]) => shown.includes(levels[factor] ?? ""));
}

/** A figure as it is to be drawn; undefined when nothing of it is left. */
export function shownOf(figure: Figure, drawn: Drawn, state: State): Figure | undefined {
	const visible = <Part extends { name: string }>(parts: Part[]): Part[] =>
		parts.filter((part) => !state.hidden.includes(nameOf(part.name)));
	if (figure.picture) {
		const of = (row: { arm: number }): string => drawn.arms[row.arm]?.name ?? "";
		const groups = figure.picture.groups
			.map((group) => ({
				...group,
				rows: group.rows.filter(
					(row) => !state.hidden.includes(of(row)) && (!row.cell || cellShown(drawn.trials, row.cell - 1, state)),
				),
			}))
			.filter((group) => group.rows.length > 0);
		return groups.length > 0 ? { ...figure, picture: { ...figure.picture, groups } } : undefined;
	}
	if (figure.forest) {
		const groups = figure.forest.groups
			.filter((group) => !group.cell || cellShown(drawn.trials, group.cell - 1, state))
			.map((group) => ({ ...group, rows: visible(group.rows) }))
			.filter((group) => group.rows.some((row) => row.verdict));
		return groups.length > 0 ? { ...figure, forest: { ...figure.forest, groups } } : undefined;
	}
	if (figure.dots) {
		const dots = asAsked(figure.dots, figure.cell, drawn, state);
		const rows = visible(dots.rows);
		return rows.some((row) => row.dots.length > 0) ? { ...figure, dots: { ...dots, rows } } : undefined;
	}
	if (figure.curve) {
		const lines = visible(figure.curve.lines);
		return lines.length > 0 ? { ...figure, curve: { ...figure.curve, lines } } : undefined;
	}
	if (figure.series) {
		const panels = visible(figure.series.panels);
		return panels.some((panel) => panel.lines.length > 0)
			? { ...figure, series: { ...figure.series, panels } }
			: undefined;
	}
	if (figure.split) {
		const panels = visible(figure.split.panels);
		return panels.length > 0 ? { ...figure, split: { ...figure.split, panels } } : undefined;
	}
	return chartOf(figure, state, visible);
}

/** A chart that the study asked for. */
function chartOf(
	figure: Figure,
	state: State,
	visible: <Part extends { name: string }>(parts: Part[]) => Part[],
): Figure | undefined {
	if (figure.lines) {
		const lines = visible(figure.lines.lines);
		const low = lines.flatMap((each) => each.points.map((point) => Math.min(point.value, point.low)));
		const y = { ...figure.lines.y, log: isLog(figure.lines.y.log, low, state) };
		return lines.length > 0 ? { ...figure, lines: { ...figure.lines, lines, y } } : undefined;
	}
	if (figure.panels) {
		const charts = figure.panels.charts
			.map((chart) => ({ ...chart, lines: visible(chart.lines) }))
			.filter((chart) => chart.lines.length > 0);
		return charts.length > 0 ? { ...figure, panels: { charts } } : undefined;
	}
	if (figure.front) {
		const points = visible(figure.front.points);
		const { x, y } = figure.front;
		const lows = (at: "x_low" | "y_low"): number[] => points.map((point) => point[at]);
		const axes = {
			x: { ...x, log: isLog(x.log, lows("x_low"), state) },
			y: { ...y, log: isLog(y.log, lows("y_low"), state) },
		};
		return points.length > 0 ? { ...figure, front: { ...figure.front, points, ...axes } } : undefined;
	}
	if (figure.heat) {
		const values = figure.heat.boxes.map((box) => box.value);
		return { ...figure, heat: { ...figure.heat, log: isLog(figure.heat.log, values, state) } };
	}
	return figure;
}

/** A logarithmic axis has no place for zero: it stays linear, whatever was asked. */
function isLog(own: boolean | undefined, values: number[], state: State): boolean {
	if (state.axis === "") return own ?? false;
	return state.axis === "log" && values.every((value) => value > 0);
}

/** Dots of the metric that was asked for, with the figures of the tables. */
function asAsked(own: Dots, cell: number | undefined, drawn: Drawn, state: State): ShownDots {
	const { trials } = drawn;
	const place = trials?.metrics.findIndex((metric) => metric.name === state.metric) ?? -1;
	let dots = own;
	if (trials && cell && place >= 0 && state.metric !== own.metric) dots = dotsOf(trials, cell - 1, place, drawn, own);
	const values = dots.rows.flatMap((row) => [
		...row.dots.map((dot) => dot.value),
		...(row.label ? [row.low, row.value] : []),
	]);
	return { ...dots, log: isLog(false, values, state) };
}

function dotsOf(trials: Trials, cell: number, metric: number, drawn: Drawn, own: Dots): Dots {
	const scale = trials.cells[cell]?.scales[metric] ?? own.scale;
	const { name, label } = trials.metrics[metric] ?? { name: "", label: "" };
	const rows = (trials.cells[cell]?.arms ?? []).map((each) => {
		const { label, value, low, high } = each.figures[metric] ?? { label: "", value: 0, low: 0, high: 0 };
		const dots = trials.all.flatMap((trial) => {
			const raw = trial.values[metric];
			if (trial.cell !== cell || trial.arm !== each.arm || raw === null || raw === undefined) return [];
			const { id, block, repeat, status } = trial;
			return [{ trial: id, block, value: raw, ...(repeat ? { repeat } : {}), ...(status ? { status } : {}) }];
		});
		return { arm: each.arm, name: drawn.arms[each.arm]?.label ?? "", label, value, low, high, dots };
	});
	return { metric: name, axis: scale.unit ? `${label} (${scale.unit})` : label, scale, rows };
}
