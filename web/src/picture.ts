import { tickText, valueScale } from "./axis";
import { layoutLegend, leading, ofTrials } from "./marks";
import type { Picture, PictureFigure, PictureRow } from "./page";
import { type Scale, spaced } from "./scale";
import { armClass, drawing, element, fitted, hint, line, shape, text, textWidth } from "./svg";

const headHeight = 34; // a metric's name, and which way is better
const groupHead = 20;
const footHeight = 38;
const barHeight = 13;
const between = 28; // of panels
const betweenNarrow = 14;
const leastPanel = 170; // of which the names stand above the bars

interface Place {
	left: number;
	right: number;
	top: number;
}

/** A line of the picture: a bar of one arm, or the marks of a cell's arms. */
interface Entry {
	name: string;
	rows: PictureRow[];
	head?: string;
}

/** The answer in absolute figures: a panel for each metric, beside each other where there is room. */
export function drawPicture(picture: Picture, width: number, title: string): SVGElement {
	const entries = entriesOf(picture);
	const beside = width >= 300 * picture.panels.length + 60;
	const legend = layoutLegend(picture.marks ? armsOf(picture).map((row) => row.name) : [], 0, width);
	const start = picture.marks ? legend.height + 10 : 0;
	const step = beside ? 24 : picture.marks ? 38 : 36;
	const height = headHeight + footHeight + entries.reduce((sum, each) => sum + step + (each.head ? groupHead : 0), 0);
	const panels = picture.panels.length;
	const columns = beside ? panels : Math.min(panels, Math.max(1, Math.floor(width / leastPanel)));
	const svg = drawing(width, start + height * Math.ceil(panels / columns), title);
	for (const [i, entry] of legend.entries.entries()) {
		svg.append(shape(armsOf(picture)[i]?.arm ?? 0, entry.x + 5, entry.y + 6, 4.2, "fill"));
		svg.append(text(entry.x + 15, entry.y + 10, entry.name));
	}
	const names = beside ? Math.min(Math.max(...entries.map((each) => textWidth(each.name))) + 34, width * 0.3) : 0;
	const apart = beside ? between : betweenNarrow;
	const wide = (width - names + apart) / columns - apart;
	picture.panels.forEach((panel, i) => {
		const first = i % columns === 0; // has the names
		const left = names + (i % columns) * (wide + apart);
		const place = { left, right: left + wide, top: start + Math.floor(i / columns) * height };
		const x = scaleOf(picture, i, place);
		drawFrame(svg, panel, x, place, place.top + height - footHeight);
		let y = place.top + headHeight;
		for (const entry of entries) {
			if (entry.head) {
				if (first) svg.append(fitted(0, y + 14, entry.head, width, "start", "clear strong"));
				y += groupHead;
			}
			const middle = beside ? y + step / 2 : y + step - 11;
			if (first) drawName(svg, entry, picture.marks ?? false, beside ? middle + 4 : y + 14, beside ? names : width);
			for (const [n, row] of entry.rows.entries())
				drawFigure(svg, row, i, x, middle + aside(entry, n), place, picture.marks ?? false);
			y += step;
		}
	});
	return svg;
}

/** Marks of one line stand a little apart, or they would hide one another. */
const aside = (entry: Entry, n: number): number =>
	entry.rows.length > 1 ? (n / (entry.rows.length - 1) - 0.5) * Math.min(12, 3 * (entry.rows.length - 1)) : 0;

function entriesOf(picture: Picture): Entry[] {
	if (picture.marks) return picture.groups.map((group) => ({ name: group.name, rows: inOrder(group.rows) }));
	return picture.groups.flatMap((group) =>
		group.rows.map((row, i) => ({
			name: row.name,
			rows: [row],
			...(i === 0 && group.name ? { head: group.name } : {}),
		})),
	);
}

const inOrder = (rows: PictureRow[]): PictureRow[] => [...rows].sort((a, b) => a.arm - b.arm);

function armsOf(picture: Picture): PictureRow[] {
	const arms = new Map(picture.groups.flatMap((group) => group.rows).map((row) => [row.arm, row]));
	return inOrder([...arms.values()]);
}

/** From zero, as a bar's length is its amount; the axis of marks may be logarithmic. Labels have room behind the longest. */
function scaleOf(picture: Picture, panel: number, { left, right }: Place): Scale {
	const figures = picture.groups
		.flatMap((group) => group.rows.map((row) => row.figures[panel]))
		.filter((each) => each?.hint);
	const values = figures.flatMap((each) => (each ? [each.low, each.value, each.high] : []));
	const { axis } = picture.panels[panel] as Picture["panels"][number];
	const labels = picture.marks ? 10 : Math.max(0, ...figures.map((each) => labelWidth(each as PictureFigure))) + 12;
	return valueScale(
		axis,
		values.length > 0 ? values : [axis.scale.factor],
		left + (axis.log ? 8 : 0),
		right - labels,
		60,
	);
}

const labelWidth = (figure: PictureFigure): number =>
	textWidth(figure.label, 600) + (figure.note ? textWidth(` ${figure.note}`) + 4 : 0);

function drawFrame(svg: SVGElement, panel: Picture["panels"][number], x: Scale, place: Place, bottom: number): void {
	svg.append(fitted(place.left, place.top + 12, panel.title, place.right - place.left, "start", "strong"));
	const better = [panel.better ? `${panel.better} is better` : "", panel.note].filter((each) => each).join(", ");
	svg.append(fitted(place.left, place.top + 27, better, place.right - place.left, "start", "soft"));
	const unit = panel.axis.title;
	const ticks = spaced(x.ticks, x, 38);
	const last = ticks[ticks.length - 1];
	for (const tick of ticks) {
		svg.append(line(x(tick), place.top + headHeight, x(tick), bottom, tick === 0 ? "axis" : "grid"));
		const said = tickText(panel.axis, tick);
		const half = textWidth(said) / 2;
		svg.append(text(Math.max(x(tick), half), bottom + 16, said, "middle", "soft"));
		if (tick === last && unit) svg.append(text((place.left + x(tick)) / 2, bottom + 32, unit, "middle", "soft"));
	}
}

function drawName(svg: SVGElement, entry: Entry, marks: boolean, baseline: number, room: number): void {
	const row = entry.rows[0];
	if (row && !marks) svg.append(shape(row.arm, 7, baseline - 4, 4.2, "fill"));
	svg.append(fitted(marks ? 0 : 18, baseline, entry.name, room - (marks ? 8 : 26), "start", "clear"));
}

function drawFigure(
	svg: SVGElement,
	row: PictureRow,
	panel: number,
	x: Scale,
	y: number,
	place: Place,
	mark: boolean,
): void {
	const figure = row.figures[panel];
	if (!figure) return;
	const lead = ofTrials(row.cell, row.arms ?? []);
	const said = `${row.name}: ${figure.hint || "no figure"}${figure.note ? `, ${figure.note}` : ""}`;
	const colour = armClass(row.arm);
	if (!figure.hint) {
		if (!mark) svg.append(text(place.left + 6, y + 4, figure.label || "–", "start", "soft"));
		return;
	}
	const [from, to, low, high] = [x(0), x(figure.value), x(figure.low), x(figure.high)];
	if (!mark) {
		const bar = {
			x: from,
			y: y - barHeight / 2,
			width: Math.max(to - from, 1),
			height: barHeight,
			class: `${colour} fill amount`,
		};
		svg.append(element("rect", { ...bar, ...lead }, hint(said)));
	}
	if (high - low > 1) {
		const caps = mark ? "" : [low, high].map((end) => `M${end.toFixed(1)},${y - 4}v8`).join("");
		svg.append(
			element("path", {
				d: `M${low.toFixed(1)},${y.toFixed(1)}H${high.toFixed(1)}${caps}`,
				class: mark ? `${colour} stroke whisker` : "whisker ink",
			}),
		);
	}
	if (mark) svg.append(leading(shape(row.arm, to, y, 4.2, "fill amount-mark"), lead));
	else {
		const label = text(Math.max(to, high) + 6, y + 4, figure.label, "start", "clear strong");
		svg.append(label);
		if (figure.note)
			svg.append(
				text(Math.max(to, high) + 10 + textWidth(figure.label, 600), y + 4, figure.note, "start", "clear soft"),
			);
	}
	if (mark) svg.lastElementChild?.append(hint(said));
}
