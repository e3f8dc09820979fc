import type { Split } from "./page";
import { Grid } from "./panels";
import { short } from "./scale";
import { drawing, element, fit, hint, text, textWidth } from "./svg";

/** Where CPU time went: a panel per arm, a thin stacked bar per trial. */
export function drawSplit(split: Split, width: number, title: string): SVGElement {
	const bars = split.panels.flatMap((panel) => panel.groups.flatMap((group) => group.bars));
	const most = Math.max(...bars.map((bar) => bar.reduce((sum, part) => sum + part, 0)));
	const used = split.parts.map((_, i) => bars.some((bar) => (bar[i] ?? 0) > 0));
	const legend = layoutLegend(
		split.parts.filter((_, i) => used[i]),
		textWidth(split.axis) + 24,
		width,
	);
	const grid = new Grid(split.panels, most, width, legend.height + 10);
	const svg = drawing(width, grid.height, title);
	svg.append(text(0, 10, split.axis, "start", "soft"));
	for (const { part, x, y } of legend.entries) {
		svg.append(element("rect", { x, y: y + 1, width: 10, height: 10, class: `part-${split.parts.indexOf(part)}` }));
		svg.append(text(x + 15, y + 10, part, "start", "soft"));
	}
	split.panels.forEach((each, i) => {
		const panel = grid.panel(svg, i);
		const room = (panel.right - panel.left) / Math.max(1, each.groups.length);
		each.groups.forEach((group, n) => {
			const left = panel.left + n * room;
			const step = Math.min(12, (room - 10) / Math.max(1, group.bars.length));
			const start = left + (room - step * group.bars.length) / 2;
			svg.append(text(left + room / 2, panel.bottom + 15, fit(group.of, room), "middle", "soft"));
			group.bars.forEach((bar, trial) => {
				let below = 0;
				bar.forEach((cores, part) => {
					if (cores <= 0) return;
					const top = panel.y(below + cores);
					const tip = hint(`${each.name}, ${group.of}, trial ${trial + 1}: ${split.parts[part]} ${short(cores)} cores`);
					svg.append(
						element(
							"rect",
							{
								x: start + trial * step,
								y: top,
								width: Math.max(1, step - 1.5),
								height: panel.y(below) - top,
								class: `bar part-${part}`,
							},
							tip,
						),
					);
					below += cores;
				});
			});
		});
	});
	return svg;
}

/** Entries from left to right, wrapped into lines. */
function layoutLegend(parts: string[], indent: number, width: number) {
	let [x, y] = [indent, 0];
	const entries = parts.map((part) => {
		const wide = textWidth(part) + 32;
		if (x + wide > width && x > 0) [x, y] = [0, y + 18];
		const entry = { part, x, y };
		x += wide;
		return entry;
	});
	return { entries, height: y + 14 };
}
