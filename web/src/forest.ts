import { leading, ofTrials } from "./marks";
import type { Forest, ForestCell, ForestRow } from "./page";
import { logarithmic, type Scale, short, spaced } from "./scale";
import { armClass, drawing, element, fitted, hint, line, shape, text, textWidth } from "./svg";

const rowHeight = 24;
const groupGap = 12;

/** Ratios to the baseline on a log axis, grouped by cell. */
export function drawForest(forest: Forest, width: number, title: string): SVGElement {
	const rows = forest.groups.flatMap((group) => group.rows);
	const narrow = width < 620;
	const names = Math.max(...rows.map((row) => textWidth(row.name))) + 26;
	const labels = Math.max(...rows.map((row) => textWidth(row.label))) + 30;
	const left = narrow ? 8 : Math.min(names, 220);
	const right = narrow ? width - 8 : width - labels;
	const height = narrow ? rowHeight + 20 : rowHeight;
	const named = forest.groups.some((group) => group.name !== "");
	const groupHead = named ? 20 : 4;
	const total = forest.groups.reduce((sum, group) => sum + groupHead + group.rows.length * height + groupGap, 20);
	const svg = drawing(width, total + 40, title);
	const x = ratioScale(forest, left + 6, right - 10);

	drawAxis(svg, forest, x, total, width);
	let y = 20;
	for (const group of forest.groups) {
		const bottom = y + groupHead + group.rows.length * height;
		if (group.bound > 0) {
			const from = x(1 / (1 + group.bound));
			svg.append(
				element("rect", {
					x: from,
					y: y + groupHead,
					width: x(1 + group.bound) - from,
					height: bottom - y - groupHead,
					class: "band",
				}),
			);
		}
		svg.append(line(x(1), y + groupHead, x(1), bottom, "axis"));
		if (named) svg.append(fitted(0, y + 14, group.name, width, "start", "strong"));
		group.rows.forEach((row, i) => {
			const top = y + groupHead + i * height;
			drawRow(svg, row, x, narrow ? top + 32 : top + height / 2, pairOf(forest, group, row));
			const baseline = narrow ? top + 16 : top + height / 2 + 4;
			if (row.verdict) svg.append(shape(row.arm, 7, baseline - 4, 4.2, "fill"));
			svg.append(
				fitted(
					18,
					baseline,
					row.name,
					narrow ? width - labels - 20 : left - 24,
					"start",
					row.verdict ? "clear" : "clear soft",
				),
			);
			svg.append(text(width - 18, baseline, row.label, "end", row.verdict ? "clear" : "clear soft"));
			if (row.mark)
				svg.append(
					element(
						"text",
						{ x: width - 6, y: baseline, "text-anchor": "middle", class: verdictClass(row) },
						row.mark,
						hint(row.verdict ?? ""),
					),
				);
		});
		y = bottom + groupGap;
	}
	return svg;
}

function ratioScale(forest: Forest, start: number, end: number): Scale {
	const values = forest.groups.flatMap((group) => [
		1 / (1 + group.bound),
		1 + group.bound,
		...group.rows.flatMap((row) => [row.low, row.high, ...row.ratios]),
	]);
	// At least ± 10 %, so that noise does not look like an effect.
	const low = Math.min(0.9, ...values) / 1.04;
	const high = Math.max(1.1, ...values) * 1.04;
	const x = logarithmic(low, high, start, end);
	const round = [
		1, 0.5, 2, 0.1, 10, 0.2, 5, 0.8, 1.25, 0.7, 1.5, 0.3, 3, 0.9, 1.1, 0.6, 0.4, 4, 0.05, 20, 0.02, 50, 0.01, 100, 0.95,
		1.05,
	];
	const inside = [...round, ...x.ticks].filter((tick) => tick >= low && tick <= high);
	x.ticks = spaced(inside, x, 40);
	return x;
}

function drawAxis(svg: SVGElement, forest: Forest, x: Scale, bottom: number, width: number): void {
	for (const tick of x.ticks) {
		if (tick !== 1) svg.append(line(x(tick), 20, x(tick), bottom - groupGap, "grid"));
		svg.append(text(x(tick), bottom + 6, short(tick), "middle", "soft"));
	}
	svg.append(text(width / 2, bottom + 28, forest.axis, "middle", "soft"));
	if (forest.better) {
		const [before, after] = forest.better === "lower" ? ["← better", "worse →"] : ["← worse", "better →"];
		const start = Math.min(x(1) + 8, width - textWidth(after));
		svg.append(text(start - 16, 12, before, "end", "soft"), text(start, 12, after, "start", "soft"));
	}
}

type Lead = (block?: number) => Record<string, string>;

/** What the marks of a row lead to: the trials of both arms, of all blocks or of one. */
const pairOf =
	(forest: Forest, group: ForestCell, row: ForestRow): Lead =>
	(block) =>
		ofTrials(group.cell, row.verdict ? [row.name, forest.base] : [forest.base], block);

function drawRow(svg: SVGElement, row: ForestRow, x: Scale, y: number, pair: Lead): void {
	const colour = `${row.verdict ? armClass(row.arm) : "noise"}${row.verdict === "invalid" ? " faded" : ""}`;
	row.ratios.forEach((ratio, i) => {
		const offset = row.ratios.length > 1 ? (i / (row.ratios.length - 1) - 0.5) * 12 : 0;
		svg.append(
			element(
				"circle",
				{ cx: x(ratio), cy: y + offset, r: 2, class: `${colour} dot fill`, ...pair(row.blocks[i]) },
				hint(`block ${row.blocks[i]}: ${short(ratio)}×`),
			),
		);
	});
	const interval = leading(line(x(row.low), y, x(row.high), y, `${colour} stroke interval`), pair());
	interval.append(hint(`${row.name}: ${row.label} ${row.verdict ?? ""}`));
	svg.append(interval);
	if (row.verdict)
		svg.append(
			leading(
				shape(row.arm, x(row.ratio), y, 5, `fill halo ratio${row.verdict === "invalid" ? " faded" : ""}`),
				pair(),
			),
		);
	else svg.append(line(x(row.ratio), y - 5, x(row.ratio), y + 5, "noise stroke interval"));
}

function verdictClass(row: ForestRow): string {
	if (row.verdict === "better") return "good";
	if (row.verdict === "worse") return "bad";
	return row.verdict === "equivalent" ? "strong" : "open";
}
