import { drawUpright, tickRoom, tickText, valueScale } from "./axis";
import { layoutLegend, leading, ofTrials } from "./marks";
import type { Front, FrontPoint } from "./page";
import { type Scale, spaced } from "./scale";
import { armClass, drawing, element, fitted, hint, line, path, shape, text, textWidth } from "./svg";

const plotHeight = 300;

interface Box {
	left: number;
	right: number;
	top: number;
	bottom: number;
}

interface Placed extends FrontPoint {
	at: [number, number];
	reach: Box; // of both intervals
}

/** Two metrics against each other: the Pareto front joined as steps. */
export function drawFront(front: Front, width: number, title: string): SVGElement {
	const arms = new Map([...front.points].sort((a, b) => a.arm - b.arm).map(({ arm, name }) => [name, arm]));
	const legend = layoutLegend(arms.size > 1 ? [...arms.keys()] : [], 0, width);
	const top = (arms.size > 1 ? legend.height + 10 : 0) + 24;
	const bottom = top + plotHeight;
	const svg = drawing(width, bottom + 42, title);
	const ys = front.points.flatMap((point) => [point.y_low, point.y, point.y_high]);
	const xs = front.points.flatMap((point) => [point.x_low, point.x, point.x_high]);
	const y = valueScale(front.y, ys, bottom, top);
	const left = tickRoom(front.y, y.ticks);
	const right = width - 14;
	const x = valueScale(front.x, xs, left, right);

	for (const entry of legend.entries) {
		svg.append(shape(arms.get(entry.name) ?? 0, entry.x + 5, entry.y + 6, 4.2, "fill"));
		svg.append(text(entry.x + 15, entry.y + 10, entry.name));
	}
	svg.append(text(0, top - 12, front.y.title, "start", "soft"));
	drawUpright(svg, front.y, y, left, right);
	drawAcross(svg, front, x, [top, bottom], [left, right]);
	const points = front.points.map((point): Placed => {
		const reach = { left: x(point.x_low), right: x(point.x_high), top: y(point.y_high), bottom: y(point.y_low) };
		return { ...point, at: [x(point.x), y(point.y)], reach };
	});
	const steps = stepsOf(front, points);
	if (steps.length > 1) svg.append(element("path", { d: path(steps), class: "front" }));
	for (const point of points) drawPoint(svg, point);
	drawNames(svg, points, steps, { left, right, top, bottom });
	return svg;
}

function drawAcross(
	svg: SVGElement,
	front: Front,
	x: Scale,
	[top, bottom]: [number, number],
	[left, right]: [number, number],
) {
	for (const tick of spaced(x.ticks, x, 44)) {
		svg.append(line(x(tick), top, x(tick), bottom, "grid"));
		svg.append(text(x(tick), bottom + 17, tickText(front.x, tick), "middle", "soft"));
	}
	svg.append(line(left, bottom, right, bottom, "axis"));
	svg.append(fitted((left + right) / 2, bottom + 36, front.x.title, right - left, "middle", "soft"));
}

/** From the cheapest point on: what is reached stays reached until the next point reaches more. */
function stepsOf(front: Front, points: Placed[]): [number, number][] {
	const on = points.filter((point) => point.on).sort((a, b) => (front.low_x ? a.x - b.x : b.x - a.x));
	return on.flatMap((point, i): [number, number][] => {
		const before = on[i - 1];
		return before ? [[point.at[0], before.at[1]], point.at] : [point.at];
	});
}

function drawPoint(svg: SVGElement, point: Placed): void {
	const [cx, cy] = point.at;
	const { left, right, top, bottom } = point.reach;
	const colour = `${armClass(point.arm)} stroke whisker${point.on ? "" : " faded"}`;
	svg.append(line(left, cy, right, cy, colour), line(cx, top, cx, bottom, colour));
	const marker = shape(point.arm, cx, cy, point.on ? 4.6 : 3.4, `fill marker${point.on ? "" : " faded"}`);
	leading(marker, ofTrials(point.cell, point.arms ?? [])).append(hint(point.text));
	svg.append(marker);
}

const meet = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

const ascent = 11; // of a name over its baseline
const descent = 3;

/** Names the points where there is room: the front first, then the others. */
function drawNames(svg: SVGElement, points: Placed[], steps: [number, number][], room: Box): void {
	const taken: Box[] = points.flatMap(({ at: [x, y], reach }) => [
		{ left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 },
		{ ...reach, top: y - 1, bottom: y + 1 },
		{ ...reach, left: x - 1, right: x + 1 },
	]);
	steps.forEach(([x, y], i) => {
		const [fromX, fromY] = steps[i - 1] ?? [x, y];
		const [left, right, top, bottom] = [Math.min(x, fromX), Math.max(x, fromX), Math.min(y, fromY), Math.max(y, fromY)];
		taken.push({ left: left - 1, right: right + 1, top: top - 1, bottom: bottom + 1 });
	});
	const rank = (point: Placed) => (point.on ? 0 : 1);
	for (const point of [...points].sort((a, b) => rank(a) - rank(b))) {
		const wide = textWidth(point.label, point.on ? 600 : 400);
		const boxes = (point.on ? [0, 22, 44, 70, 100] : [0]).flatMap((away) => placesFor(point, wide, away));
		const box = boxes.find((each) => within(each, room) && !taken.some((other) => meet(each, other)));
		if (!box) continue; // its table has it
		taken.push(box);
		const [x, y] = [clamp(point.at[0], box.left, box.right), clamp(point.at[1], box.top, box.bottom)];
		if (Math.hypot(x - point.at[0], y - point.at[1]) > 20) svg.append(line(...point.at, x, y, "leader"));
		svg.append(text(box.left, box.bottom - descent, point.label, "start", point.on ? "clear strong" : "clear soft"));
	}
}

const clamp = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value));

const within = (box: Box, room: Box) =>
	box.left >= room.left && box.right <= room.right + 12 && box.top >= room.top && box.bottom <= room.bottom;

/** Where a name may stand: beside the point, over and under it, then off its corners. */
function placesFor(point: Placed, wide: number, away: number): Box[] {
	const [x, y] = point.at;
	const gap = 7 + away;
	const right = Math.max(x + gap, point.reach.right + 3 + away);
	const left = Math.min(x - gap, point.reach.left - 3 - away) - wide;
	const over = Math.min(y - gap, point.reach.top - 2 - away) - descent;
	const under = Math.max(y + gap, point.reach.bottom + 2 + away) + ascent;
	const starts = [
		[right, y + 4],
		[left, y + 4],
		[x - wide / 2, over],
		[x - wide / 2, under],
		[x + gap, y - gap],
		[x + gap, y + gap + ascent],
		[x - gap - wide, y - gap],
		[x - gap - wide, y + gap + ascent],
		[x - 8, over],
		[x - 8, under],
	] as const;
	return starts.map(([start, baseline]) => ({
		left: start,
		right: start + wide,
		top: baseline - ascent,
		bottom: baseline + descent,
	}));
}
