import type { DotRow, Dots } from "./page";
import { fromZero, type Scale, short } from "./scale";
import { armClass, drawing, element, fit, hint, line, shape, text, textWidth } from "./svg";

const rowHeight = 38;

/** One metric, a dot per trial in the order of blocks, from zero. */
export function drawDots(dots: Dots, width: number, title: string): SVGElement {
	const narrow = width < 460;
	const names = Math.max(...dots.rows.map((row) => textWidth(row.name))) + 30;
	const left = narrow ? 8 : Math.min(names, 170);
	const step = narrow ? rowHeight + 14 : rowHeight;
	const bottom = dots.rows.length * step + 6;
	const svg = drawing(width, bottom + 40, title);
	const most =
		Math.max(...dots.rows.flatMap((row) => [row.high, ...row.dots.map((dot) => dot.value)])) / dots.scale.factor;
	const inner = fromZero(most, left, width - 14, Math.max(3, (width - left) / 80));
	const x: Scale = Object.assign((raw: number) => inner(raw / dots.scale.factor), { ticks: inner.ticks });

	for (const tick of inner.ticks) {
		svg.append(line(inner(tick), 0, inner(tick), bottom, tick === 0 ? "axis" : "grid"));
		svg.append(text(inner(tick), bottom + 16, short(tick), "middle", "soft"));
	}
	svg.append(text((left + width) / 2, bottom + 36, dots.axis, "middle", "soft"));
	const base = dots.rows.find((row) => row.arm === 0);
	if (base?.label) svg.append(line(x(base.value), 0, x(base.value), bottom, "reference"));
	dots.rows.forEach((row, i) => {
		const top = i * step + (narrow ? 14 : 0);
		const baseline = narrow ? i * step + 12 : top + rowHeight / 2 + 4;
		svg.append(shape(row.arm, 7 + (narrow ? left : 0), baseline - 4, 4.2, "fill"));
		svg.append(text(18 + (narrow ? left : 0), baseline, fit(row.name, narrow ? width - 40 : left - 24)));
		drawRow(svg, row, x, top, dots.scale.factor);
	});
	return svg;
}

function drawRow(svg: SVGElement, row: DotRow, x: Scale, top: number, factor: number): void {
	// Behind the dots, so that what was measured stands before what was made of it.
	if (row.label) {
		const bar = {
			x: x(0),
			y: top + 3,
			width: x(row.value) - x(0),
			height: 22,
			class: `${armClass(row.arm)} fill bar`,
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
		svg.append(
			dot.status ? cross(x(dot.value), y, row.arm, tip) : circle(x(dot.value), y, row.arm, dot.repeat ?? false, tip),
		);
	}
	if (row.label) {
		const y = top + 30;
		const interval = line(x(row.low), y, x(row.high), y, `${armClass(row.arm)} stroke interval`);
		interval.append(hint(`${row.name}: ${row.label}`));
		svg.append(interval, line(x(row.value), y - 4, x(row.value), y + 4, `${armClass(row.arm)} stroke interval`));
	}
}

function circle(cx: number, cy: number, arm: number, hollow: boolean, tip: SVGElement): SVGElement {
	return element("circle", { cx, cy, r: 2.8, class: `${armClass(arm)} dot ${hollow ? "hollow stroke" : "fill"}` }, tip);
}

function cross(x: number, y: number, arm: number, tip: SVGElement): SVGElement {
	return element("path", { d: `M${x - 3},${y - 3}l6,6m0,-6l-6,6`, class: `${armClass(arm)} dot lost stroke` }, tip);
}
