import { layoutLegend, leading, ofTrial } from "./marks";
import type { Split } from "./page";
import { type Scale, short } from "./scale";
import { Grid, type Panel } from "./series";
import { drawing, element, fitted, hint, text, textWidth } from "./svg";

type SplitPanel = Split["panels"][number];

/**
 * Where CPU time went: a panel per arm, a thin stacked bar per trial. The
 * workers and the host have a scale each, or an idle host would flatten them.
 */
export function drawSplit(split: Split, width: number, title: string): SVGElement {
	const used = split.parts.filter((_, i) => allBars(split.panels).some((bar) => (bar[i] ?? 0) > 0));
	const legend = layoutLegend(used, textWidth(split.axis) + 24, width);
	const rows = [only(split, (of) => !isHost(of)), only(split, isHost)];
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
	for (const { name, x, y } of legend.entries) {
		svg.append(element("rect", { x, y: y + 1, width: 10, height: 10, class: `part-${split.parts.indexOf(name)}` }));
		svg.append(text(x + 15, y + 10, name, "start", "soft"));
	}
	for (const { panels, grid } of grids) {
		// One width of bar for all panels, or the baseline's repeats would thin its own.
		const most = Math.max(...panels.flatMap((panel) => panel.groups.map((group) => group.bars.length)));
		panels.forEach((each, i) => {
			drawPanel(svg, each, grid.panel(svg, i), most, split.parts);
		});
	}
	return svg;
}

/** "host", or "host SEAT" where there are several. */
const isHost = (of: string) => of === "host" || of.startsWith("host ");

const allBars = (panels: SplitPanel[]) => panels.flatMap((panel) => panel.groups.flatMap((group) => group.bars));

const only = (split: Split, wanted: (of: string) => boolean): SplitPanel[] =>
	split.panels.map((panel) => ({ ...panel, groups: panel.groups.filter((group) => wanted(group.of)) }));

function drawPanel(svg: SVGElement, each: SplitPanel, panel: Panel, mostBars: number, parts: string[]): void {
	const room = (panel.right - panel.left) / Math.max(1, each.groups.length);
	const step = Math.min(14, (room - 10) / mostBars);
	each.groups.forEach((group, n) => {
		const middle = panel.left + (n + 0.5) * room;
		svg.append(fitted(middle, panel.bottom + 15, group.of, room, "middle", "soft"));
		group.bars.forEach((bar, trial) => {
			const x = middle + (trial - group.bars.length / 2) * step;
			const tip = `${each.name}, ${group.of}, ${group.trials[trial]}`;
			const drawn = drawBar(bar, x, Math.max(1, step - 1.5), panel.y, (part) => `${tip}: ${parts[part]}`);
			svg.append(...drawn.map((box) => leading(box, ofTrial(group.trials[trial]))));
		});
	});
}

function drawBar(bar: number[], x: number, width: number, y: Scale, tip: (part: number) => string): SVGElement[] {
	let below = 0;
	const drawn: SVGElement[] = [];
	bar.forEach((cores, part) => {
		if (cores <= 0) return;
		const top = y(below + cores);
		const box = { x, y: top, width, height: y(below) - top, class: `bar part-${part}` };
		drawn.push(element("rect", box, hint(`${tip(part)} ${short(cores)} cores`)));
		below += cores;
	});
	return drawn;
}
