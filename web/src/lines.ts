import { drawLevels, drawUpright, type LevelScale, levelScale, tickRoom, valueScale } from "./axis";
import { labelEnds, layoutLegend, leading, listedHeight, listNames, ofLegend, ofTrials } from "./marks";
import type { LinePoint, Lines, Panels } from "./page";
import type { Scale } from "./scale";
import { armClass, drawing, element, hint, path, shape, text, textWidth } from "./svg";

const plotHeight = 230;
const panelHeight = plotHeight + 74;
const capWidth = 2.5;

/** Charts of the same lines beside each other, as many in a row as there is room for, under one legend. */
export function drawPanels(panels: Panels, width: number, title: string): SVGElement {
	const columns = Math.max(1, Math.min(panels.charts.length, Math.floor(width / 300)));
	const gap = 28;
	const wide = (width - gap * (columns - 1)) / columns;
	const arms = new Map(panels.charts.flatMap((chart) => chart.lines).map((each) => [each.name, each.arm]));
	const legend = layoutLegend(arms.size > 1 ? [...arms.keys()] : [], 0, width);
	const top = arms.size > 1 ? legend.height + 10 : 0;
	const height = Math.ceil(panels.charts.length / columns) * panelHeight;
	const svg = drawing(width, top + height, title);
	for (const { name, x, y } of legend.entries) {
		svg.append(shape(arms.get(name) ?? 0, x + 5, y + 6, 4.2, "fill"));
		svg.append(leading(text(x + 15, y + 10, name), ofLegend(name)));
	}
	panels.charts.forEach((chart, i) => {
		const inner = drawLines(chart, wide, chart.y.title, "legend");
		inner.setAttribute("x", String((i % columns) * (wide + gap)));
		inner.setAttribute("y", String(top + Math.floor(i / columns) * panelHeight));
		svg.append(inner);
	});
	return svg;
}

/** One metric over the levels of a factor: a line per level of another, an interval at every point. */
export function drawLines(chart: Lines, width: number, title: string, named?: "legend"): SVGElement {
	const longest = Math.max(...chart.lines.map((each) => textWidth(each.name))) + 24;
	// Names stand at the ends of their lines where they fit there, else above.
	const direct = !named && longest <= Math.max(width * 0.32, width - 300);
	const top = (direct || named ? 0 : listedHeight(chart.lines.length) + 8) + 24;
	const bottom = top + Math.max(plotHeight, direct ? chart.lines.length * 15 : 0);
	const right = direct ? width - longest : width - 16;
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
	else if (!named) listNames(svg, chart.lines, width);
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
	const curve = each.model?.map(([level, value]): [number, number] => [x(level), y(value)]) ?? solid.map(at);
	svg.append(element("path", { d: path(curve), class: `${colour} line stroke main` }, hint(each.name)));
	for (const point of each.points) {
		const [cx, cy] = at(point);
		const [low, high] = [y(point.low), y(point.high)];
		if (Math.abs(low - high) > 1) {
			const caps = [low, high].map((end) => `M${cx - capWidth},${end.toFixed(1)}h${2 * capWidth}`).join("");
			svg.append(element("path", { d: `M${cx},${low}V${high}${caps}`, class: `${colour} stroke whisker` }));
		}
		const marker = leading(
			shape(each.arm, cx, cy, 3.6, point.hollow ? "stroke hollow marker" : "fill marker"),
			ofTrials(point.cell, point.arms ?? []),
		);
		marker.append(hint(`${each.name}: ${point.text}`));
		svg.append(marker);
	}
	const last = each.points[each.points.length - 1];
	return { arm: each.arm, name: each.name, x: last ? x(last.x) : 0, y: last ? y(last.value) : 0 };
}
