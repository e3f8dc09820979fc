import { textWidth } from "./svg";

/** Entries from left to right, wrapped into lines; a swatch of 10 pixels stands before each name. */
export function layoutLegend(names: string[], indent: number, width: number) {
	let [x, y] = [indent, 0];
	const entries = names.map((name) => {
		const wide = textWidth(name) + 32;
		if (x + wide > width && x > 0) [x, y] = [0, y + 18];
		const entry = { name, x, y };
		x += wide;
		return entry;
	});
	return { entries, height: y + 14 };
}
