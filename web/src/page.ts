// The page's figures as the report writes them. Generated from the types of
// internal/read/report, which say what each field means, by `make golden`.

export interface Drawn {
	arms: Key[];
	figures: Figure[];
	trials?: Trials;
}

export interface Account {
	id: string;
	where: string;
	status: string;
	reason?: string;
	started?: string;
	levels: Named[];
	settings: Named[];
	checks: Checked[];
	flags: Named[];
	limit?: string;
	proof?: string;
	figures: Reading[];
	series?: Series;
	stderr: Named[];
	record?: string;
}

export interface Key {
	name: string;
	label: string;
	baseline?: boolean;
}

export interface Figure {
	id: string;
	title: string;
	caption: string;
	wide: boolean;
	cell?: number;
	lines?: Lines;
	panels?: Panels;
	heat?: Heat;
	front?: Front;
	picture?: Picture;
	forest?: Forest;
	dots?: Dots;
	curve?: Curve;
	series?: Series;
	split?: Split;
	flame?: Flame;
}

export interface Trials {
	metrics: TrialMetric[];
	factors: TrialFactor[];
	cells: TrialCell[];
	all: TrialLine[];
	command: string;
	beyond: string;
}

export interface Named {
	name: string;
	text: string;
}

export interface Checked {
	name: string;
	asks: string;
	found?: string;
}

export interface Reading {
	metric: string;
	label: string;
	text: string;
	unit: string;
}

export interface Series {
	axis: string;
	scale: Scale;
	window: [number, number];
	panels: SeriesPanel[];
}

export interface Lines {
	x: Axis;
	y: Axis;
	lines: Line[];
}

export interface Panels {
	charts: Lines[];
}

export interface Heat {
	x: string;
	y: string;
	axis: string;
	log?: boolean;
	columns: string[];
	rows: string[];
	lower?: boolean;
	boxes: Box[];
}

export interface Front {
	x: Axis;
	y: Axis;
	low_x: boolean;
	points: FrontPoint[];
}

export interface Picture {
	panels: PicturePanel[];
	groups: PictureGroup[];
	marks?: boolean;
}

export interface Forest {
	axis: string;
	better: string;
	base: string;
	groups: ForestCell[];
}

export interface Dots {
	metric: string;
	axis: string;
	scale: Scale;
	rows: DotRow[];
}

export interface Curve {
	axis: string;
	lines: CurveLine[];
}

export interface Split {
	axis: string;
	parts: string[];
	panels: SplitPanel[];
}

export interface Flame {
	unit: string;
	factor: number;
	names: string[];
	graphs: FlameGraph[];
	told: Told[];
	activities: Activity[];
}

export interface TrialMetric {
	name: string;
	label: string;
}

export interface TrialFactor {
	name: string;
	levels: string[];
}

export interface TrialCell {
	title: string;
	levels: Record<string, string>;
	scales: Scale[];
	arms: TrialArm[];
}

export interface TrialLine {
	id: string;
	cell: number;
	arm: number;
	block: number;
	repeat?: boolean;
	status?: string;
	flags?: string[];
	limit?: string;
	values: (number | null)[];
}

export interface Scale {
	factor: number;
	unit: string;
}

export interface SeriesPanel {
	arm: number;
	name: string;
	lines: [number, number][][];
	trials: string[];
}

export interface Axis {
	title: string;
	scale: Scale;
	log?: boolean;
	ticks?: Tick[];
}

export interface Line {
	arm: number;
	name: string;
	points: LinePoint[];
	model?: [number, number][];
}

export interface Box {
	column: number;
	row: number;
	value: number;
	text: string;
	hint: string;
	cell?: number;
	arms?: string[];
}

export interface FrontPoint {
	arm: number;
	name: string;
	label: string;
	text: string;
	x: number;
	x_low: number;
	x_high: number;
	y: number;
	y_low: number;
	y_high: number;
	on?: boolean;
	cell?: number;
	arms?: string[];
}

export interface PicturePanel {
	title: string;
	better: string;
	note?: string;
	axis: Axis;
}

export interface PictureGroup {
	cell?: number;
	name: string;
	rows: PictureRow[];
}

export interface ForestCell {
	cell?: number;
	name: string;
	bound: number;
	rows: ForestRow[];
}

export interface DotRow {
	arm: number;
	name: string;
	label: string;
	value: number;
	low: number;
	high: number;
	dots: Dot[];
}

export interface CurveLine {
	arm: number;
	name: string;
	points: [number, number][];
	marks: CurveMark[];
}

export interface SplitPanel {
	arm: number;
	name: string;
	groups: SplitGroup[];
}

export interface FlameGraph {
	arm: number;
	name: string;
	end: string;
	source: string;
	whole: number;
	elided: number;
	frames: [number, number, number, number][];
}

export interface Told {
	functions: number[];
	activities: number[];
}

export interface Activity {
	name: string;
	colour: string;
}

export interface TrialArm {
	arm: number;
	figures: TrialFigure[];
}

export interface Tick {
	at: number;
	text: string;
}

export interface LinePoint {
	x: number;
	value: number;
	low: number;
	high: number;
	text: string;
	hollow?: boolean;
	cell?: number;
	arms?: string[];
}

export interface PictureRow {
	arm: number;
	name: string;
	figures: PictureFigure[];
	cell?: number;
	arms?: string[];
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

export interface Dot {
	trial: string;
	block: number;
	value: number;
	repeat?: boolean;
	status?: string;
}

export interface CurveMark {
	share: number;
	ns: number;
	metric?: string;
	text: string;
}

export interface SplitGroup {
	of: string;
	bars: number[][];
	trials: string[];
}

export interface TrialFigure {
	label: string;
	value: number;
	low: number;
	high: number;
}

export interface PictureFigure {
	label: string;
	hint?: string;
	note?: string;
	value: number;
	low: number;
	high: number;
}
