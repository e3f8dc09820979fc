import { inkOn } from "./colour";
import { layoutLegend } from "./marks";
import type { Shares } from "./page";
import { drawing, element, fitted, hint, shape, text, textWidth } from "./svg";

type ArmShares = Shares["arms"][number];

const barHeight = 20;
const barGap = 3;
const armGap = 12;

/** What the CPU was busy with: per arm a bar for each end, its parts from left to right. */
export function drawShares(shares: Shares, width: number, title: string): SVGElement {
	const bars = shares.arms.flatMap((arm) => arm.bars);
	const used = shares.parts.filter((_, part) => bars.some((bar) => (bar.shares[part] ?? 0) > 0));
	const legend = layoutLegend(
		used.map((part) => part.name),
		0,
		width,
	);
	const narrow = width < 560;
	const head = narrow ? 20 : 0;
	const ends = Math.max(...bars.map((bar) => textWidth(bar.of))) + 10;
	const names = narrow ? 0 : Math.min(Math.max(...shares.arms.map((arm) => textWidth(arm.name))) + 30, 190);
	const left = names + ends;
	const totals = Math.max(...bars.map((bar) => (bar.total ? textWidth(bar.total) + 8 : 0)));
	const heights = shares.arms.map((arm) => head + arm.bars.length * (barHeight + barGap) + armGap);
	const svg = drawing(width, legend.height + 12 + heights.reduce((sum, height) => sum + height, 0), title);
	legend.entries.forEach(({ name, x, y }, i) => {
		svg.append(element("rect", { x, y: y + 1, width: 10, height: 10, fill: `#${used[i]?.colour}` }));
		svg.append(text(x + 15, y + 10, name, "start", "soft"));
	});
	let y = legend.height + 12;
	shares.arms.forEach((arm, i) => {
		svg.append(shape(arm.arm, 7, y + 10, 4.2, "fill"));
		svg.append(fitted(18, y + 14, arm.name, narrow ? width - 20 : names - 24));
		drawBars(svg, arm, shares.parts, y + head, { left, width: width - left - totals });
		y += heights[i] ?? 0;
	});
	return svg;
}

function drawBars(
	svg: SVGElement,
	arm: ArmShares,
	parts: Shares["parts"],
	top: number,
	room: { left: number; width: number },
) {
	arm.bars.forEach((bar, i) => {
		const y = top + i * (barHeight + barGap);
		svg.append(text(room.left - 8, y + 14, bar.of, "end", "soft"));
		let x = room.left;
		bar.shares.forEach((share, part) => {
			const of = parts[part];
			if (share <= 0 || !of) return;
			const wide = share * room.width * bar.length;
			const [colour, printed] = [`#${of.colour}`, bar.texts[part] ?? ""];
			const size = { x, y, width: wide, height: barHeight };
			svg.append(
				element(
					"rect",
					{ ...size, fill: colour, class: "share" },
					hint(`${arm.name}, ${bar.of}: ${of.name} ${printed}`),
				),
			);
			if (textWidth(printed) + 6 <= wide) {
				svg.append(text(x + wide / 2, y + 14, printed, "middle", `printed ${inkOn(colour)}`));
			}
			x += wide;
		});
		if (bar.total) svg.append(text(x + 6, y + 14, bar.total, "start", "soft"));
	});
}
