// Who is who among lines: the name at a line's end, or a list above where
// there is no room beside.

import { leading, ofLegend } from "./marks";
import { armClass, element, fit, path, shape, text } from "./svg";

const lineHeight = 15;

interface End {
	arm: number;
	name: string;
	x: number;
	y: number;
}

/** Names each line at its end, pushed apart where names would overlap and back where they would leave the plot. */
export function labelEnds(
	svg: SVGElement,
	ends: End[],
	room: { top: number; bottom: number; right: number; width: number },
): void {
	const placed = ends.map((end) => ({ ...end, at: end.y })).sort((a, b) => a.y - b.y);
	let lowest = room.top + 4 - lineHeight;
	for (const end of placed) {
		end.at = Math.max(end.at, lowest + lineHeight);
		lowest = end.at;
	}
	let highest = Math.max(room.bottom, room.top + 4 + lineHeight * (placed.length - 1)) + lineHeight;
	for (const end of placed.reverse()) {
		end.at = Math.min(end.at, highest - lineHeight);
		highest = end.at;
	}
	for (const end of placed) {
		const leader: [number, number][] = [
			[end.x, end.y],
			[room.right + 2, end.at],
		];
		svg.append(
			element("path", { d: path(leader), class: `${armClass(end.arm)} stroke`, "stroke-opacity": 0.4, fill: "none" }),
		);
		svg.append(shape(end.arm, room.right + 9, end.at, 3.8, "fill"));
		const name = text(room.right + 18, end.at + 4, fit(end.name, room.width - room.right - 18));
		svg.append(leading(name, ofLegend(end.name)));
	}
}

const listHeight = 16;

/** The height that listNames takes. */
export const listedHeight = (names: number): number => names * listHeight;

/** Lists the lines' names from the top, one below the other. */
export function listNames(svg: SVGElement, lines: { arm: number; name: string }[], width: number): void {
	lines.forEach((each, i) => {
		svg.append(shape(each.arm, 7, 6 + i * listHeight, 4.2, "fill"));
		svg.append(leading(text(18, 10 + i * listHeight, fit(each.name, width - 24)), ofLegend(each.name)));
	});
}
