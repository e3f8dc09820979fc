import { drawUpright, tickRoom, tickText, valueScale } from "./axis";
import { layoutLegend } from "./legend";
import type { Front, FrontPoint } from "./page";
import { type Scale, spaced } from "./scale";
import { armClass, drawing, element, fit, hint, line, path, shape, text, textWidth } from "./svg";

const plotHeight = 300;

interface Placed extends FrontPoint {
	at: [number, number];
}

/** Two metrics against each other: the points that nothing beats joined as steps, the knee ringed. */
export function drawFront(front: Front, width: number, title: string): SVGElement {
	const arms = new Map(front.points.map(({ arm, name }) => [name, arm]));
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
	const points = front.points.map((point): Placed => ({ ...point, at: [x(point.x), y(point.y)] }));
	drawSteps(svg, front, points);
	for (const point of points) drawPoint(svg, point, x, y);
	drawNames(svg, points, { left, right, top, bottom });
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
	svg.append(text((left + right) / 2, bottom + 36, fit(front.x.title, right - left), "middle", "soft"));
}

/** From the cheapest point on: what is reached stays reached until the next point reaches more. */
function drawSteps(svg: SVGElement, front: Front, points: Placed[]): void {
	const on = points.filter((point) => point.on).sort((a, b) => (front.low_x ? a.x - b.x : b.x - a.x));
	const corners = on.flatMap((point, i): [number, number][] => {
		const before = on[i - 1];
		return before ? [[point.at[0], before.at[1]], point.at] : [point.at];
	});
	if (corners.length > 1) svg.append(element("path", { d: path(corners), class: "front" }));
}

function drawPoint(svg: SVGElement, point: Placed, x: Scale, y: Scale): void {
	const [cx, cy] = point.at;
	const colour = `${armClass(point.arm)} stroke whisker${point.on ? "" : " faded"}`;
	svg.append(
		line(x(point.x_low), cy, x(point.x_high), cy, colour),
		line(cx, y(point.y_low), cx, y(point.y_high), colour),
	);
	if (point.knee) svg.append(element("circle", { cx, cy, r: 10, class: "knee" }));
	const marker = shape(point.arm, cx, cy, point.on ? 4.6 : 3.4, `fill marker${point.on ? "" : " faded"}`);
	marker.append(hint(point.text));
	svg.append(marker);
}

interface Box {
	left: number;
	right: number;
	top: number;
	bottom: number;
}

const meet = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Names the points where there is room: the knee first, then the front, then the others. */
function drawNames(svg: SVGElement, points: Placed[], room: Box): void {
	const taken: Box[] = points.map(({ at: [x, y] }) => ({ left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 }));
	const rank = (point: Placed) => (point.knee ? 0 : point.on ? 1 : 2);
	for (const point of [...points].sort((a, b) => rank(a) - rank(b))) {
		const name = point.knee ? `knee: ${point.label}` : point.label;
		const [x, y] = point.at;
		const wide = textWidth(name, point.on ? 600 : 400);
		const gap = point.knee ? 14 : 9;
		const places = [
			[x + gap, y + 4],
			[x - gap - wide, y + 4],
			[x - wide / 2, y - gap - 1],
			[x - wide / 2, y + gap + 10],
			[x + gap, y - gap],
			[x + gap, y + gap + 6],
			[x - gap - wide, y - gap],
			[x - gap - wide, y + gap + 6],
		] as const;
		for (const [left, baseline] of places) {
			const box = { left, right: left + wide, top: baseline - 11, bottom: baseline + 3 };
			const outside =
				box.left < room.left || box.right > room.right + 12 || box.top < room.top || box.bottom > room.bottom;
			if (outside || taken.some((other) => meet(box, other))) continue;
			taken.push(box);
			svg.append(text(left, baseline, name, "start", point.on ? "clear strong" : "clear soft"));
			break;
		}
	}
}
