// One trial over time: panels below each other on one axis, and a crosshair
// through all of them, moved by the pointer or by the arrow keys.

import { layoutLegend } from "./marks";
import type { Timeline, TimelineLine, TimelinePanel } from "./page";
import { fromZero, logarithmic, niceStep, type Scale, short, spaced } from "./scale";
import { armClass, drawing, element, fit, fitted, line, path, text, textWidth } from "./svg";

const plotHeight = 56;
const panelGap = 12;

interface Placed {
	panel: TimelinePanel;
	top: number;
	bottom: number;
	y: Scale;
	legend: ReturnType<typeof layoutLegend>;
}

/** Draws a trial's timeline; it takes focus, and arrow keys move its crosshair. */
export function drawTimeline(timeline: Timeline, width: number, title: string): SVGElement {
	const end = Math.max(timeline.end, 1e-9);
	const [left, right] = [52, width - 12];
	const x = (seconds: number) => left + (Math.min(seconds, end) / end) * (right - left);
	const { placed, height } = place(timeline.panels, left, right);
	const svg = drawing(width, height + 40, title);
	svg.setAttribute("tabindex", "0");
	for (const each of placed) {
		svg.append(band("band", timeline.window, x, each));
		for (const stall of timeline.stalls) svg.append(band("standstill", stall, x, each));
		drawPanel(svg, each, x, left, right);
	}
	const step = niceStep(end / Math.max(2, (right - left) / 70));
	for (let tick = 0; tick <= end * 1.0001; tick += step) {
		const label = `${short(tick)}${tick === 0 ? "" : " s"}`;
		svg.append(text(Math.min(x(tick), width - textWidth(label) / 2), height + 12, label, "middle", "soft"));
	}
	addCrosshair(svg, timeline, placed, { x, end, left, right, height });
	return svg;
}

function place(panels: TimelinePanel[], left: number, right: number): { placed: Placed[]; height: number } {
	let y = 0;
	const placed = panels.map((panel) => {
		const names = panel.lines.length > 1 ? panel.lines : [];
		const legend = layoutLegend(
			names.map((each) => each.name),
			0,
			right - left,
		);
		const top = y + 18 + (names.length > 0 ? legend.height + 4 : 0);
		const bottom = top + plotHeight;
		y = bottom + panelGap;
		return { panel, top, bottom, y: upright(panel, bottom, top), legend };
	});
	return { placed, height: y };
}

function upright(panel: TimelinePanel, bottom: number, top: number): Scale {
	const { factor } = panel.scale;
	const values = panel.lines.flatMap((each) => each.runs.flat().map(([, value]) => value / factor));
	const positive = values.filter((value) => value > 0);
	if (panel.log && positive.length > 0) {
		const [low, high] = [Math.min(...positive) / 1.2, Math.max(...positive) * 1.2];
		const inner = logarithmic(low, high, bottom, top);
		return Object.assign((value: number) => inner(Math.max(value, low)), { ticks: inner.ticks });
	}
	return fromZero(Math.max(0, ...values), bottom, top, 2);
}

type Range = [number, number] | number[];

function band(className: string, range: Range, x: (seconds: number) => number, at: Placed): SVGElement {
	const [from, to] = [x(range[0] ?? 0), x(range[1] ?? 0)];
	const wide = Math.max(to - from, 1);
	return element("rect", { class: className, x: from, y: at.top, width: wide, height: at.bottom - at.top });
}

function drawPanel(svg: SVGElement, at: Placed, x: (seconds: number) => number, left: number, right: number): void {
	const { panel, top, bottom, y, legend } = at;
	const head = top - (legend.entries.length > 0 ? legend.height + 4 : 0) - 7;
	svg.append(fitted(left, head, panel.title, right - left, "start"));
	legend.entries.forEach((entry, i) => {
		const each = panel.lines[i];
		if (!each) return;
		const middle = head + 13 + entry.y;
		const swatch = line(left + entry.x, middle, left + entry.x + 14, middle, classOf(each));
		svg.append(swatch, text(left + entry.x + 19, middle + 4, entry.name, "start", "soft"));
	});
	for (const tick of spaced(y.ticks, y, 22)) {
		svg.append(line(left, y(tick), right, y(tick), tick === 0 ? "axis" : "grid"));
		svg.append(text(left - 6, y(tick) + 4, short(tick), "end", "soft"));
	}
	svg.append(line(left, bottom, right, bottom, "axis"));
	for (const each of panel.lines) {
		for (const run of each.runs) {
			const points = run.map(([seconds, value]): [number, number] => [
				x(seconds ?? 0),
				y((value ?? 0) / panel.scale.factor),
			]);
			const [only] = points;
			if (points.length === 1 && only) {
				svg.append(element("circle", { cx: only[0], cy: only[1], r: 2, class: `${armClass(each.colour)} fill` }));
			} else svg.append(element("path", { d: path(points), class: classOf(each) }));
		}
	}
}

const classOf = (each: TimelineLine): string => `${armClass(each.colour)} line stroke thin`;

interface Axis {
	x: (seconds: number) => number;
	end: number;
	left: number;
	right: number;
	height: number;
}

/** The crosshair: one rule through all panels, and at each what its lines are at. */
function addCrosshair(svg: SVGElement, timeline: Timeline, placed: Placed[], axis: Axis): void {
	const instants = [
		...new Set(timeline.panels.flatMap((each) => each.lines.flatMap((one) => one.runs.flat().map(([at]) => at)))),
	].sort((a, b) => a - b);
	if (instants.length === 0) return;
	const group = element("g", { class: "crosshair", visibility: "hidden" });
	svg.append(group);
	let at = 0;
	const show = () => {
		const seconds = instants[at] ?? 0;
		const where = axis.x(seconds);
		const rule = line(where, placed[0]?.top ?? 0, where, axis.height - panelGap, "reference");
		const said = `${seconds.toFixed(2)} s${inWindow(timeline, seconds) ? "" : ", outside the window"}`;
		group.replaceChildren(rule, text(clamp(where, said, axis), axis.height + 30, said, "middle", "strong clear"));
		const words = [said];
		for (const each of placed) {
			const values = each.panel.lines.map((one) => valueAt(one, seconds));
			const shown = each.panel.lines.flatMap((one, i) => {
				const value = values[i];
				if (value === undefined) return [];
				const printed = short(value / each.panel.scale.factor);
				return [each.panel.lines.length > 1 ? `${one.name} ${printed}` : printed];
			});
			if (shown.length === 0) continue;
			words.push(`${each.panel.title}: ${shown.join(", ")}`);
			const room = axis.right - axis.left - 8;
			const label = fit(
				each.panel.lines.length > 1
					? values.map((value) => (value === undefined ? "–" : short(value / each.panel.scale.factor))).join(" · ")
					: shown.join(""),
				room,
			);
			group.append(text(clamp(where, label, axis), each.top + 11, label, "middle", "clear"));
		}
		group.setAttribute("visibility", "visible");
		svg.setAttribute("aria-label", words.join("; "));
	};
	const nearest = (seconds: number) =>
		instants.reduce(
			(best, each, i) => (Math.abs(each - seconds) < Math.abs((instants[best] ?? 0) - seconds) ? i : best),
			0,
		);
	svg.addEventListener("pointermove", (event) => {
		const inside = event.clientX - svg.getBoundingClientRect().left - axis.left;
		at = nearest((inside / (axis.right - axis.left)) * axis.end);
		show();
	});
	svg.addEventListener("pointerleave", () => group.setAttribute("visibility", "hidden"));
	svg.addEventListener("blur", () => group.setAttribute("visibility", "hidden"));
	svg.addEventListener("keydown", (event) => {
		const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
		const step = steps[event.key];
		if (step === undefined && event.key !== "Home" && event.key !== "End") return;
		event.preventDefault();
		if (step !== undefined) at = Math.min(instants.length - 1, Math.max(0, at + step));
		else at = event.key === "Home" ? 0 : instants.length - 1;
		show();
	});
}

const inWindow = (timeline: Timeline, seconds: number): boolean =>
	seconds >= (timeline.window[0] ?? 0) && seconds <= (timeline.window[1] ?? 0);

function clamp(where: number, label: string, axis: Axis): number {
	const half = textWidth(label) / 2;
	return Math.max(axis.left + half, Math.min(axis.right - half, where));
}

/** What a line is at an instant: its nearest point, where one is near by the line's own step. */
function valueAt(each: TimelineLine, seconds: number): number | undefined {
	let best: number | undefined;
	const points = each.runs.flat();
	const [first, last] = [points[0]?.[0] ?? 0, points[points.length - 1]?.[0] ?? 0];
	let apart = Math.max(0.15, (0.6 * (last - first)) / Math.max(1, points.length - 1));
	for (const [at, value] of points) {
		if (Math.abs(at - seconds) <= apart) [best, apart] = [value, Math.abs(at - seconds)];
	}
	return best;
}
