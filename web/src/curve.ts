import { labelEnds, leading, listedHeight, listNames, ofTrials } from "./marks";
import type { Curve, CurveLine } from "./page";
import { logarithmic, type Scale, spaced, time } from "./scale";
import { armClass, drawing, element, hint, line, path, shape, text, textWidth } from "./svg";

const shares = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

// 1 ÷ (1 − share) grows by ten for each further nine.
const odds = (share: number) => 1 / (1 - share);

/** Times by percentile; both axes logarithmic. */
export function drawCurve(curve: Curve, width: number, title: string, cell?: number): SVGElement {
	const direct = width >= 480;
	const legend = direct ? 0 : listedHeight(curve.lines.length);
	const names = Math.max(...curve.lines.map((each) => textWidth(each.name))) + 24;
	const right = direct ? width - Math.min(names, 150) : width - 10;
	const [top, bottom] = [legend + 8, legend + 268];
	const svg = drawing(width, bottom + 40, title);
	const points = curve.lines.flatMap((each) => each.points);
	const times = points.map(([, ns]) => ns);
	const deepest = Math.max(10, ...points.map(([share]) => odds(share)));
	const y = logarithmic(Math.min(...times) / 1.15, Math.max(...times) * 1.15, bottom, top);
	const labels = y.ticks.map(time);
	const left = Math.max(40, ...labels.map((label) => textWidth(label))) + 8;
	const x = logarithmic(1, deepest * 1.1, left, right);

	for (const tick of spaced(y.ticks, y, 16)) {
		svg.append(line(left, y(tick), right, y(tick), "grid"), text(left - 8, y(tick) + 4, time(tick), "end", "soft"));
	}
	for (const share of spaced(
		shares.filter((share) => odds(share) <= deepest * 1.1),
		(share) => x(odds(share)),
		34,
	)) {
		svg.append(line(x(odds(share)), top, x(odds(share)), bottom, "grid"));
		const label = percentile(share);
		const inside = width - textWidth(label) / 2; // the last label would reach over the edge
		svg.append(text(Math.min(x(odds(share)), inside), bottom + 16, label, "middle", "soft"));
	}
	svg.append(line(left, bottom, right, bottom, "axis"));
	svg.append(
		text((left + right) / 2, bottom + 36, `percentile of ${curve.axis} (log scale of the tail)`, "middle", "soft"),
	);
	for (const each of curve.lines) drawLine(svg, each, x, y, cell);
	if (direct) {
		const ends = curve.lines.map(({ arm, name, points }) => {
			const [share, ns] = points[points.length - 1] ?? ([0, 1] as [number, number]);
			return { arm, name, x: x(odds(share)), y: y(ns) };
		});
		labelEnds(svg, ends, { top, bottom, right, width });
	} else listNames(svg, curve.lines, width);
	return svg;
}

function percentile(share: number): string {
	return share === 0 ? "0 %" : `${+(share * 100).toPrecision(7)} %`;
}

function drawLine(svg: SVGElement, each: CurveLine, x: Scale, y: Scale, cell?: number): void {
	const all = ofTrials(cell, [each.name]);
	const placed = each.points.map(([share, ns]): [number, number] => [x(odds(share)), y(ns)]);
	svg.append(element("path", { d: path(placed), class: `${armClass(each.arm)} line stroke`, ...all }, hint(each.name)));
	for (const mark of each.marks) {
		const marker = leading(shape(each.arm, x(odds(mark.share)), y(mark.ns), 3.4, "fill marker"), all);
		marker.append(hint(`${each.name}, ${percentile(mark.share)}: ${mark.text}`));
		svg.append(marker);
	}
}
