import { drawLevels, drawUpright, type LevelScale, levelScale, tickRoom, valueScale } from "./axis";
import { labelEnds, listedHeight, listNames } from "./ends";
import { leading, ofTrials } from "./marks";
import type { LinePoint, Lines } from "./page";
import type { Scale } from "./scale";
import { armClass, drawing, element, hint, path, shape, text, textWidth } from "./svg";

const plotHeight = 230;
const capWidth = 2.5;

/** One metric over the levels of a factor: a line per level of another, an interval at every point. */
export function drawLines(chart: Lines, width: number, title: string): SVGElement {
	const direct = width >= 420;
	const top = (direct ? 0 : listedHeight(chart.lines.length) + 8) + 24;
	const bottom = top + Math.max(plotHeight, direct ? chart.lines.length * 15 : 0);
	const names = Math.max(...chart.lines.map((each) => textWidth(each.name))) + 24;
	const right = direct ? width - Math.min(names, 150, width * 0.32) : width - 16;
	const svg = drawing(width, bottom + 42, title);
	const values = chart.lines.flatMap((each) => each.points.flatMap((point) => [point.low, point.value, point.high]));
	const y = valueScale(chart.y, values, bottom, top, 45);
	const left = tickRoom(chart.y, y.ticks);
	const x = levelScale(chart.x, left + 14, right - 12);

	svg.append(text(0, top - 12, chart.y.title, "start", "soft"));
	drawUpright(svg, chart.y, y, left, right);
	drawLevels(svg, chart.x, x, bottom, right);
	// Beside each other, or intervals at one level would hide one another.
	const spread = Math.min(14, 3.5 * (chart.lines.length - 1));
	const ends = chart.lines.map((each, i) => {
		const aside = chart.lines.length > 1 ? (i / (chart.lines.length - 1) - 0.5) * spread : 0;
		return drawLine(
			svg,
			each,
			Object.assign((level: number) => x(level) + aside, x),
			y,
		);
	});
	if (direct) labelEnds(svg, ends, { top, bottom, right, width });
	else listNames(svg, chart.lines, width);
	return svg;
}

/** Draws a line and returns where it ends. */
function drawLine(svg: SVGElement, each: Lines["lines"][number], x: LevelScale, y: Scale) {
	const colour = armClass(each.arm);
	const at = (point: LinePoint): [number, number] => [x(point.x), y(point.value)];
	const zero = x.gap !== undefined && each.points[0]?.x === 0 ? each.points[0] : undefined;
	const solid = zero ? each.points.slice(1) : each.points;
	if (zero && solid[0]) {
		svg.append(element("path", { d: path([at(zero), at(solid[0])]), class: `${colour} line stroke across` }));
	}
	svg.append(element("path", { d: path(solid.map(at)), class: `${colour} line stroke main` }, hint(each.name)));
	for (const point of each.points) {
		const [cx, cy] = at(point);
		const [low, high] = [y(point.low), y(point.high)];
		if (Math.abs(low - high) > 1) {
			const caps = [low, high].map((end) => `M${cx - capWidth},${end.toFixed(1)}h${2 * capWidth}`).join("");
			svg.append(element("path", { d: `M${cx},${low}V${high}${caps}`, class: `${colour} stroke whisker` }));
		}
		const marker = leading(shape(each.arm, cx, cy, 3.6, "fill marker"), ofTrials(point.cell, point.arms ?? []));
		marker.append(hint(`${each.name}: ${point.text}`));
		svg.append(marker);
	}
	const last = each.points[each.points.length - 1];
	return { arm: each.arm, name: each.name, x: last ? x(last.x) : 0, y: last ? y(last.value) : 0 };
}
