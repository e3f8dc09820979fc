import { amountColour, inkOn } from "./colour";
import { ofTrials } from "./marks";
import type { Heat } from "./page";
import { drawing, element, fitted, hint, text, textWidth } from "./svg";

const boxHeight = 32;
const legendWidth = 150;
const leastSpan = 1.25; // from the least to the most that takes all colours: noise is no effect

type Box = Heat["boxes"][number];

/** One metric over two factors: a box per pair of levels, its value printed on its colour. */
export function drawHeat(heat: Heat, width: number, title: string): SVGElement {
	const left = Math.min(Math.max(...heat.rows.map((row) => textWidth(row)), 20) + 12, width * 0.3);
	const boxWidth = Math.min(104, (width - left - 2) / heat.columns.length);
	const right = left + boxWidth * heat.columns.length;
	// Labels that are wider than their box stand on two lines by turns.
	const turns = heat.columns.some((name) => textWidth(name) > boxWidth - 6) ? 2 : 1;
	const legend = layoutLegend(heat, width);
	const top = legend.height + 28;
	const bottom = top + heat.rows.length * boxHeight;
	const svg = drawing(width, bottom + 8 + turns * 16 + 22, title);
	const shade = shader(heat);

	drawLegend(svg, heat, shade, legend);
	svg.append(fitted(0, top - 8, heat.y, width, "start", "soft"));
	heat.rows.forEach((row, i) => {
		const middle = top + (i + 0.5) * boxHeight + 4;
		svg.append(fitted(left - 8, middle, row, left - 8, "end", "soft"));
	});
	const taken = Array(turns).fill(0); // how far the labels of each line reach
	heat.columns.forEach((column, i) => {
		const turn = i % turns;
		const room = Math.min(boxWidth * turns - 4, width - taken[turn]);
		const half = Math.min(textWidth(column), room) / 2;
		const middle = Math.min(left + (i + 0.5) * boxWidth, width - half);
		taken[turn] = middle + half + 4;
		svg.append(fitted(middle, bottom + 16 + turn * 16, column, room, "middle", "soft"));
	});
	svg.append(fitted((left + right) / 2, bottom + turns * 16 + 22, heat.x, width, "middle", "soft"));
	const empty = { x: left, y: top, width: right - left, height: bottom - top };
	svg.append(element("rect", { ...empty, class: "band" }));
	for (const box of heat.boxes) drawBox(svg, box, { left, top, boxWidth }, shade(box.value));
	return svg;
}

function drawBox(
	svg: SVGElement,
	box: Box,
	grid: { left: number; top: number; boxWidth: number },
	colour: string,
): void {
	const { boxWidth } = grid;
	const [x, y] = [grid.left + box.column * boxWidth, grid.top + box.row * boxHeight];
	const size = { x: x + 0.5, y: y + 0.5, width: boxWidth - 1, height: boxHeight - 1 };
	svg.append(
		element("rect", { ...size, fill: colour, class: "box", ...ofTrials(box.cell, box.arms ?? []) }, hint(box.hint)),
	);
	if (textWidth(box.text) > boxWidth - 4) return; // the table below has it
	const written = text(x + boxWidth / 2, y + boxHeight / 2 + 4, box.text, "middle", `printed ${inkOn(colour)}`);
	svg.append(written);
}

/** What is worse is darker in every map, whichever way the metric goes. A map whose values hardly differ stays of one colour. */
function shader(heat: Heat): (value: number) => string {
	const values = heat.boxes.map((box) => box.value);
	const place = heat.log ? Math.log : (value: number) => value;
	const [low, high] = [place(Math.min(...values)), place(Math.max(...values))];
	const span = Math.max(high - low, heat.log ? Math.log(leastSpan) : Math.abs(high) * (1 - 1 / leastSpan));
	const start = (low + high - span) / 2;
	return (value) => {
		const share = span > 0 ? (place(value) - start) / span : 0.5;
		return amountColour(heat.lower ? 1 - share : share);
	};
}

interface Legend {
	least: Box | undefined;
	most: Box | undefined;
	start: number; // of the colours
	baseline: number;
	height: number;
}

/** The scale stands beside the axis's name, or under it where that is too long. */
function layoutLegend(heat: Heat, width: number): Legend {
	const sorted = [...heat.boxes].sort((a, b) => a.value - b.value);
	const [least, most] = [sorted[0], sorted[sorted.length - 1]];
	const before = textWidth(least?.text ?? "") + 6;
	const beside = textWidth(heat.axis) + 18 + before;
	if (beside + legendWidth + 6 + textWidth(most?.text ?? "") <= width)
		return { least, most, start: beside, baseline: 11, height: 16 };
	return { least, most, start: before, baseline: 29, height: 34 };
}

/** The ends of the scale with the colours between them. */
function drawLegend(svg: SVGElement, heat: Heat, shade: (value: number) => string, legend: Legend): void {
	const { least, most, start, baseline } = legend;
	svg.append(text(0, 11, heat.axis, "start", "soft"));
	if (!least || !most) return;
	svg.append(text(start - 6, baseline, least.text, "end", "soft"));
	const steps = 30;
	for (let i = 0; i < steps; i++) {
		const share = (i + 0.5) / steps;
		const value = heat.log
			? least.value * (most.value / least.value) ** share
			: least.value + share * (most.value - least.value);
		const x = start + (i * legendWidth) / steps;
		const step = { x, y: baseline - 9, width: legendWidth / steps + 0.3, height: 11 };
		svg.append(element("rect", { ...step, fill: shade(value) }));
	}
	svg.append(text(start + legendWidth + 6, baseline, most.text, "start", "soft"));
}
