import { tickText, valueScale } from "./axis";
import type { Waterfall, WaterfallBar } from "./page";
import { type Scale, spaced } from "./scale";
import { armClass, drawing, element, fitted, hint, line, shape, text, textWidth } from "./svg";

const rowHeight = 26;
const barHeight = 12;
const groupGap = 14;

/** How steps lead from one arm's figure to another's: a bar for each, on one log axis for all cells. */
export function drawWaterfall(fall: Waterfall, width: number, title: string): SVGElement {
	const bars = fall.groups.flatMap((group) => group.bars);
	const narrow = width < 620;
	const names = Math.max(...bars.map((bar) => textWidth(bar.name))) + 30;
	const labels = Math.max(...bars.map((bar) => textWidth(bar.label))) + 14;
	const left = narrow ? 8 : Math.min(names, 300, width - labels - 160);
	const right = narrow ? width - 8 : width - labels;
	const height = narrow ? rowHeight + 18 : rowHeight;
	const head = fall.groups.some((group) => group.name !== "") ? 22 : 4;
	const total = fall.groups.reduce((sum, group) => sum + head + group.bars.length * height + groupGap, 4);
	const svg = drawing(width, total + 40, title);
	const values = bars.flatMap((bar) => [bar.from, bar.to, bar.low, bar.high]);
	const x = valueScale(fall.axis, values, left + 6, right - 6);

	for (const tick of spaced(x.ticks, x, 48)) {
		svg.append(line(x(tick), 4, x(tick), total - groupGap, "grid"));
		svg.append(text(x(tick), total + 6, tickText(fall.axis, tick), "middle", "soft"));
	}
	svg.append(fitted(width / 2, total + 28, fall.axis.title, width, "middle", "soft"));
	let y = 4;
	for (const group of fall.groups) {
		if (group.name) svg.append(fitted(0, y + 14, group.name, width, "start", "strong"));
		y += head;
		group.bars.forEach((bar, i) => {
			const middle = narrow ? y + 30 : y + height / 2;
			const below = i + 1 < group.bars.length ? middle + height : middle;
			if (below > middle && !(bar.whole && i > 0)) svg.append(line(x(bar.to), middle, x(bar.to), below, "grid"));
			drawBar(svg, bar, x, middle);
			const baseline = narrow ? y + 15 : middle + 4;
			const room = narrow ? width - textWidth(bar.label) - 30 : left - 24;
			const ink = bar.told ? "clear" : "clear soft";
			svg.append(shape(bar.arm, 7, baseline - 4, 4.2, "fill"));
			svg.append(fitted(18, baseline, bar.name, room, "start", bar.whole ? "clear strong" : ink));
			svg.append(text(width - 4, baseline, bar.label, "end", ink));
			y += height;
		});
		y += groupGap;
	}
	return svg;
}

function drawBar(svg: SVGElement, bar: WaterfallBar, x: Scale, y: number): void {
	const [from, to] = [Math.min(x(bar.from), x(bar.to)), Math.max(x(bar.from), x(bar.to))];
	if (bar.from === bar.to) {
		svg.append(shape(bar.arm, x(bar.to), y, 5, "fill halo"));
		return;
	}
	const kind = bar.whole ? "noise" : armClass(bar.arm);
	svg.append(
		element(
			"rect",
			{
				x: from,
				y: y - barHeight / 2,
				width: Math.max(to - from, 1),
				height: barHeight,
				class: `${kind} fill step${bar.told ? "" : " faded"}`,
			},
			hint(bar.hint),
		),
	);
	svg.append(line(x(bar.low), y, x(bar.high), y, "whisker ink"));
	for (const end of [bar.low, bar.high]) svg.append(line(x(end), y - 4, x(end), y + 4, "whisker ink"));
}
