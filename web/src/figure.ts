// A figure as the report's tables print it.

import type { Scale } from "./page";
import { grouped } from "./scale";

/** Three significant digits, with thin spaces between thousands: as quantity.FormatFigure of the report. */
export function figureText(raw: number, scale: Scale): string {
	const value = raw / scale.factor;
	if (value === 0) return "0";
	const rounded = Number(value.toExponential(2));
	const size = Math.abs(rounded);
	if (size < 1e-4 || size >= 1e7) return value.toExponential(2).replace(/e([+-])(\d)$/, "e$10$2");
	let decimals = 0;
	for (let limit = 100; size < limit && decimals < 6; limit /= 10) decimals++;
	return grouped(rounded.toFixed(decimals));
}
