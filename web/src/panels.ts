import { leading, ofLegend } from "./marks";
import { fromZero, type Scale, short } from "./scale";
import { fit, line, shape, text, textWidth } from "./svg";

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
			svg.append(leading(text(left + 15, top - 7, fit(arm.name, cell - 15)), ofLegend(arm.name)));
		}
		return { left, right: left + cell, top, bottom, y };
	}
}
