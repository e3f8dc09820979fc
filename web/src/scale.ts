// Positions on an axis, and the ticks that people can read.

export interface Scale {
	(value: number): number;
	ticks: number[];
}

/** A linear scale from zero to at least most. */
export function fromZero(most: number, start: number, end: number, count: number): Scale {
	const step = niceStep((most > 0 ? most : 1) / Math.max(count, 1));
	const steps = Math.max(1, Math.ceil((most / step) * 0.999));
	const scale = (value: number) => start + (value / (steps * step)) * (end - start);
	return Object.assign(scale, { ticks: Array.from({ length: steps + 1 }, (_, i) => i * step) });
}

/** 1, 2, 2.5 or 5 times a power of ten, at least the rough step. */
export function niceStep(rough: number): number {
	const power = 10 ** Math.floor(Math.log10(rough));
	const times = [1, 2, 2.5, 5, 10].find((n) => n * power >= rough * 0.999) ?? 10;
	return times * power;
}

/** A log scale over [low, high], both above zero. */
export function logarithmic(low: number, high: number, start: number, end: number): Scale {
	const [from, to] = [Math.log(low), Math.log(high)];
	const scale = (value: number) => start + ((Math.log(value) - from) / (to - from || 1)) * (end - start);
	return Object.assign(scale, { ticks: decades(low, high) });
}

/** 1, 2 and 5 of every decade; only powers of ten when that is too many. */
function decades(low: number, high: number): number[] {
	const fine = Math.log10(high / low) <= 3 ? [1, 2, 5] : [1];
	const ticks: number[] = [];
	for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
		for (const n of fine) {
			const tick = n * 10 ** power;
			if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
		}
	}
	return ticks;
}

/** Drops ticks nearer than gap pixels to one already kept; earlier ones win. */
export function spaced(ticks: number[], at: (tick: number) => number, gap: number): number[] {
	const kept: number[] = [];
	for (const tick of ticks) {
		if (kept.every((other) => Math.abs(at(tick) - at(other)) >= gap)) kept.push(tick);
	}
	return kept;
}

/** Separates the thousands of a whole number of five digits or more, as the report's tables do. */
export const grouped = (text: string): string =>
	/^-?\d{5,}$/.test(text) ? text.replace(/\B(?=(\d{3})+$)/g, ",") : text;

/** Up to three significant digits, without trailing zeros. */
export function short(value: number): string {
	if (value === 0) return "0";
	const text = Math.abs(value) >= 1000 ? String(Math.round(value)) : String(+value.toPrecision(3));
	return grouped(text);
}

/** A time given in ns, in the unit that suits it. */
export function time(ns: number): string {
	for (const [size, unit] of [
		[1e9, "s"],
		[1e6, "ms"],
		[1e3, "µs"],
	] as const) {
		if (ns >= size * 0.9995) return `${short(ns / size)} ${unit}`;
	}
	return `${short(ns)} ns`;
}
