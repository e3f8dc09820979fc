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
	lines?: Lines;
	heat?: Heat;
	front?: Front;
	shares?: Shares;
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
	blocks: number[];
}

export interface Dots {
	axis: string;
	scale: Unit;
	rows: DotRow[];
}

export interface DotRow {
	arm: number;
	name: string;
	label: string;
	value: number;
	low: number;
	high: number;
	dots: { block: number; value: number; repeat?: boolean; status?: string }[];
}

export interface Curve {
	axis: string;
	lines: CurveLine[];
}

export interface CurveLine {
	arm: number;
	name: string;
	points: Pair[];
	marks: { share: number; ns: number; text: string }[];
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

export interface Axis {
	title: string;
	scale: Unit;
	log?: boolean;
	ticks?: { at: number; text: string }[];
}

export interface Lines {
	x: Axis;
	y: Axis;
	lines: { arm: number; name: string; points: LinePoint[] }[];
}

export interface LinePoint {
	x: number;
	value: number;
	low: number;
	high: number;
	text: string;
}

export interface Heat {
	x: string;
	y: string;
	axis: string;
	log?: boolean;
	columns: string[];
	rows: string[];
	boxes: { column: number; row: number; value: number; text: string; hint: string }[];
}

export interface Front {
	x: Axis;
	y: Axis;
	low_x: boolean;
	points: FrontPoint[];
}

export interface FrontPoint {
	arm: number;
	name: string;
	label: string;
	text: string;
	x: number;
	y: number;
	x_low: number;
	x_high: number;
	y_low: number;
	y_high: number;
	on?: boolean;
	knee?: boolean;
}

export interface Shares {
	parts: string[];
	arms: { arm: number; name: string; bars: { of: string; shares: number[]; texts: string[] }[] }[];
}
