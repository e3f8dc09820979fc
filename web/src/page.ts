// The figures as the report writes them: the twin of the types in
// internal/read/report/figure.go, which say what each field means.

export interface Page {
	arms: { name: string; baseline?: boolean }[];
	figures: Figure[];
}

export interface Figure {
	id: string;
	title: string;
	forest?: Forest;
	dots?: Dots;
	curve?: Curve;
	series?: Series;
	split?: Split;
}

export interface Unit {
	factor: number;
	unit: string;
}

export type Pair = [number, number];

export interface Forest {
	axis: string;
	better: string;
	groups: { name: string; bound: number; rows: ForestRow[] }[];
}

export interface ForestRow {
	arm: number;
	name: string;
	label: string;
	verdict?: string;
	mark?: string;
	ratio: number;
	low: number;
	high: number;
	ratios: number[];
}

export interface Dots {
	axis: string;
	scale: Unit;
	rows: DotRow[];
}

export interface DotRow {
	arm: number;
	name: string;
	median: number;
	low: number;
	high: number;
	dots: { block: number; value: number; repeat?: boolean; status?: string }[];
}

export interface Curve {
	axis: string;
	lines: { arm: number; name: string; points: Pair[] }[];
}

export interface Series {
	axis: string;
	scale: Unit;
	window: Pair;
	panels: { arm: number; name: string; lines: Pair[][] }[];
}

export interface Split {
	axis: string;
	parts: string[];
	panels: { arm: number; name: string; groups: { of: string; bars: number[][] }[] }[];
}
