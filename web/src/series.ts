import { leading, ofLegend, ofTrial } from "./marks";
import type { Series } from "./page";
import { fromZero, type Scale, short } from "./scale";
import { armClass, drawing, element, fitted, hint, line, path, shape, text, textWidth } from "./svg";

const joined = (...parts: (string | undefined)[]): string => parts.filter((part) => part).join(", ");

/** The rate over time: a panel per arm, a faint line per trial. */
export function drawSeries(series: Series, width: number, title: string): SVGElement {
	const points = series.panels.flatMap((panel) => panel.lines.flat());
	const most = Math.max(...points.map(([, rate]) => rate)) / series.scale.factor;
	const end = Math.max(...points.map(([at]) => at));
	const grid = new Grid(series.panels, most, width, 18);
	const svg = drawing(width, grid.height, title);
	svg.append(text(0, 10, series.axis, "start", "soft"));
	series.panels.forEach((each, i) => {
		const shade = element("rect", { class: "band" });
		svg.append(shade);
		const panel = grid.panel(svg, i);
		const x = fromZero(end, panel.left, panel.right, Math.max(2, (panel.right - panel.left) / 60));
		const at = (seconds: number) => panel.left + (seconds / end) * (panel.right - panel.left);
		const [from, to] = series.window;
		if (to > from) {
			for (const [key, value] of [
				["x", at(from)],
				["y", panel.top],
				["width", at(to) - at(from)],
				["height", panel.bottom - panel.top],
			] as const) {
				shade.setAttribute(key, value.toFixed(1));
			}
		}
		for (const tick of x.ticks.filter((tick) => tick <= end)) {
			svg.append(text(at(tick), panel.bottom + 15, `${short(tick)}${tick === 0 ? "" : " s"}`, "middle", "soft"));
		}
		each.lines.forEach((trial, n) => {
			const placed = trial.map(([seconds, rate]): [number, number] => [
				at(seconds),
				panel.y(rate / series.scale.factor),
			]);
			svg.append(
				element(
					"path",
					{ d: path(placed), class: `${armClass(each.arm)} trace stroke`, ...ofTrial(each.trials[n]) },
					hint(joined(each.name, each.trials[n])),
				),
			);
		});
	});
	return svg;
}

/** Where one arm's panel lies; y is shared by all panels of a figure. */
export interface Panel {
	left: number;
	right: number;
	top: number;
	bottom: number;
	y: Scale;
}

const plotHeight = 104;
const headHeight = 24;
const footHeight = 26;
const endRoom = 12; // half of the label under the last tick

/** Small multiples: a grid of panels, one per arm, with one scale from zero. */
export class Grid {
	readonly height: number;
	private readonly columns: number;
	private readonly margin: number;
	private readonly ticks: number[];

	constructor(
		private readonly arms: { arm: number; name: string }[],
		private readonly most: number,
		private readonly width: number,
		private readonly start: number,
	) {
		this.columns = Math.max(1, Math.min(arms.length, 4, Math.floor(width / 215)));
		this.ticks = fromZero(most, 0, 1, 3).ticks;
		this.margin = Math.max(...this.ticks.map((tick) => textWidth(short(tick)))) + 10;
		this.height = start + Math.ceil(arms.length / this.columns) * (headHeight + plotHeight + footHeight);
	}

	/** Draws the frame of panel i and says where it lies. */
	panel(svg: SVGElement, i: number): Panel {
		const gap = 26;
		const cell = (this.width - this.margin - endRoom - gap * (this.columns - 1)) / this.columns;
		const left = this.margin + (i % this.columns) * (cell + gap);
		const top = this.start + Math.floor(i / this.columns) * (headHeight + plotHeight + footHeight) + headHeight;
		const bottom = top + plotHeight;
		const y = fromZero(this.most, bottom, top, 3);
		for (const tick of y.ticks) {
			svg.append(line(left, y(tick), left + cell, y(tick), tick === 0 ? "axis" : "grid"));
			if (i % this.columns === 0) svg.append(text(left - 6, y(tick) + 4, short(tick), "end", "soft"));
		}
		const arm = this.arms[i];
		if (arm) {
			svg.append(shape(arm.arm, left + 5, top - 11, 4.2, "fill"));
			svg.append(leading(fitted(left + 15, top - 7, arm.name, cell - 15), ofLegend(arm.name)));
		}
		return { left, right: left + cell, top, bottom, y };
	}
}
