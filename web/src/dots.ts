import { leading, ofLegend, ofTrial, ofTrials } from "./marks";
import type { DotRow, Dots } from "./page";
import { fromZero, logarithmic, type Scale, short, spaced } from "./scale";
import { armClass, drawing, element, fitted, hint, line, shape, text, textWidth } from "./svg";

const rowHeight = 38;

export interface ShownDots extends Dots {
	log?: boolean;
}

/** One metric of a cell, a dot per trial in the order of blocks, from zero unless a logarithmic axis was asked for. */
export function drawDots(dots: ShownDots, width: number, title: string, cell?: number): SVGElement {
	const narrow = width < 460;
	const names = Math.max(...dots.rows.map((row) => textWidth(row.name))) + 30;
	const left = narrow ? 8 : Math.min(names, 170);
	const step = narrow ? rowHeight + 14 : rowHeight;
	const bottom = dots.rows.length * step + 6;
	const svg = drawing(width, bottom + 40, title);
	const inner = axisOf(dots, left, width - 14);
	const x: Scale = Object.assign((raw: number) => inner(raw / dots.scale.factor), { ticks: inner.ticks });

	for (const tick of inner.ticks) {
		svg.append(line(inner(tick), 0, inner(tick), bottom, tick === inner.ticks[0] ? "axis" : "grid"));
		svg.append(text(inner(tick), bottom + 16, short(tick), "middle", "soft"));
	}
	svg.append(text((left + width) / 2, bottom + 36, dots.axis, "middle", "soft"));
	const base = dots.rows.find((row) => row.arm === 0);
	if (base?.label) svg.append(line(x(base.value), 0, x(base.value), bottom, "reference"));
	dots.rows.forEach((row, i) => {
		const top = i * step + (narrow ? 14 : 0);
		const baseline = narrow ? i * step + 12 : top + rowHeight / 2 + 4;
		svg.append(shape(row.arm, 7 + (narrow ? left : 0), baseline - 4, 4.2, "fill"));
		const name = fitted(18 + (narrow ? left : 0), baseline, row.name, narrow ? width - 40 : left - 24);
		svg.append(leading(name, ofLegend(row.name)));
		drawRow(svg, row, x, { top, factor: dots.scale.factor, start: left, cell });
	});
	return svg;
}

/** From zero to the largest value, or with a logarithmic axis from the least. */
function axisOf(dots: ShownDots, start: number, end: number): Scale {
	const values = dots.rows
		.flatMap((row) => [...(row.label ? [row.low, row.high] : []), ...row.dots.map((dot) => dot.value)])
		.map((value) => value / dots.scale.factor);
	const most = Math.max(...values);
	if (!dots.log) return fromZero(most, start, end, Math.max(3, (end - start) / 80));
	const scale = logarithmic(Math.min(...values) / 1.05, most * 1.05, start, end);
	scale.ticks = spaced(scale.ticks, scale, 34);
	return scale;
}

function drawRow(
	svg: SVGElement,
	row: DotRow,
	x: Scale,
	{ top, factor, start, cell }: { top: number; factor: number; start: number; cell: number | undefined },
): void {
	const all = ofTrials(cell, [row.name]);
	// Behind the dots, so that what was measured stands before what was made of it.
	if (row.label) {
		const bar = {
			x: start,
			y: top + 3,
			width: Math.max(0, x(row.value) - start),
			height: 22,
			class: `${armClass(row.arm)} fill bar`,
			...all,
		};
		svg.append(element("rect", bar));
	}
	const blocks = row.dots.map((dot) => dot.block);
	const [first, last] = [Math.min(...blocks), Math.max(...blocks)];
	for (const dot of row.dots) {
		const share = last > first ? (dot.block - first) / (last - first) : 0.5;
		const y = top + 6 + share * 16;
		const tip = hint(
			`${row.name}, block ${dot.block}${dot.repeat ? ", repeat" : ""}${dot.status ? `, ${dot.status}` : ""}: ${short(dot.value / factor)}`,
		);
		const mark = dot.status
			? cross(x(dot.value), y, row.arm, tip)
			: circle(x(dot.value), y, row.arm, dot.repeat ?? false, tip);
		svg.append(leading(mark, ofTrial(dot.trial)));
	}
	if (row.label) {
		const y = top + 30;
		const interval = line(x(row.low), y, x(row.high), y, `${armClass(row.arm)} stroke interval`);
		leading(interval, all).append(hint(`${row.name}: ${row.label}`));
		svg.append(interval, line(x(row.value), y - 4, x(row.value), y + 4, `${armClass(row.arm)} stroke interval`));
	}
}

function circle(cx: number, cy: number, arm: number, hollow: boolean, tip: SVGElement): SVGElement {
	return element("circle", { cx, cy, r: 2.8, class: `${armClass(arm)} dot ${hollow ? "hollow stroke" : "fill"}` }, tip);
}

function cross(x: number, y: number, arm: number, tip: SVGElement): SVGElement {
	return element("path", { d: `M${x - 3},${y - 3}l6,6m0,-6l-6,6`, class: `${armClass(arm)} dot lost stroke` }, tip);
}
