import type { Split } from "./page";
import { Grid, type Panel } from "./panels";
import { short } from "./scale";
import { drawing, element, fit, hint, text, textWidth } from "./svg";

type SplitPanel = Split["panels"][number];
type Group = SplitPanel["groups"][number];

/**
 * Where CPU time went: a panel per arm, a thin stacked bar per trial. The
 * workers and the host have a scale each, or an idle host would flatten them.
 */
export function drawSplit(split: Split, width: number, title: string): SVGElement {
	const used = split.parts.filter((_, i) => allBars(split.panels).some((bar) => (bar[i] ?? 0) > 0));
	const legend = layoutLegend(used, textWidth(split.axis) + 24, width);
	const rows = [only(split, (of) => of !== "host"), only(split, (of) => of === "host")];
	const grids: { panels: SplitPanel[]; grid: Grid }[] = [];
	let height = legend.height + 10;
	for (const panels of rows) {
		const bars = allBars(panels);
		if (bars.length === 0) continue;
		const most = Math.max(...bars.map((bar) => bar.reduce((sum, part) => sum + part, 0)));
		const grid = new Grid(panels, most, width, height);
		grids.push({ panels, grid });
		height = grid.height;
	}
	const svg = drawing(width, height, title);
	svg.append(text(0, 10, split.axis, "start", "soft"));
	for (const { part, x, y } of legend.entries) {
		svg.append(element("rect", { x, y: y + 1, width: 10, height: 10, class: `part-${split.parts.indexOf(part)}` }));
		svg.append(text(x + 15, y + 10, part, "start", "soft"));
	}
	for (const { panels, grid } of grids) {
		panels.forEach((each, i) => {
			const panel = grid.panel(svg, i);
			const room = (panel.right - panel.left) / Math.max(1, each.groups.length);
			each.groups.forEach((group, n) => {
				drawGroup(
					svg,
					group,
					{ ...panel, left: panel.left + n * room, right: panel.left + (n + 1) * room },
					each.name,
					split.parts,
				);
			});
		});
	}
	return svg;
}

const allBars = (panels: SplitPanel[]) => panels.flatMap((panel) => panel.groups.flatMap((group) => group.bars));

const only = (split: Split, wanted: (of: string) => boolean): SplitPanel[] =>
	split.panels.map((panel) => ({ ...panel, groups: panel.groups.filter((group) => wanted(group.of)) }));

function drawGroup(
	svg: SVGElement,
	group: Group,
	{ left, right, bottom, y }: Panel,
	arm: string,
	parts: string[],
): void {
	const room = right - left;
	const step = Math.min(14, (room - 10) / Math.max(1, group.bars.length));
	const start = left + (room - step * group.bars.length) / 2;
	svg.append(text(left + room / 2, bottom + 15, fit(group.of, room), "middle", "soft"));
	group.bars.forEach((bar, trial) => {
		let below = 0;
		bar.forEach((cores, part) => {
			if (cores <= 0) return;
			const top = y(below + cores);
			const tip = hint(`${arm}, ${group.of}, trial ${trial + 1}: ${parts[part]} ${short(cores)} cores`);
			const box = { x: start + trial * step, y: top, width: Math.max(1, step - 1.5), height: y(below) - top };
			svg.append(element("rect", { ...box, class: `bar part-${part}` }, tip));
			below += cores;
		});
	});
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
