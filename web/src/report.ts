// Draws the figures of a report into the page that already holds every
// number, and draws them again when their width changes.

import { followAsk } from "./ask";
import { drawCurve } from "./curve";
import { drawDots } from "./dots";
import { drawFlame } from "./flame";
import { drawForest } from "./forest";
import { drawFront } from "./front";
import { drawHeat } from "./heat";
import { followLeads, followPanel } from "./lead";
import { drawLines, drawPanels } from "./lines";
import { knowArms, labelled } from "./marks";
import type { Drawn, Figure } from "./page";
import { drawPicture } from "./picture";
import { offerDrawings } from "./save";
import { drawSeries } from "./series";
import { shownOf } from "./shown";
import { unpack, unpackTables } from "./source";
import { drawSplit } from "./split";
import { knownOf, type State, Store } from "./state";
import { drawing, shape } from "./svg";
import { followTables, prepareTables } from "./tables";

function draw(figure: Figure, width: number): Element | undefined {
	if (figure.picture) return drawPicture(figure.picture, width, figure.title);
	if (figure.forest) return drawForest(figure.forest, width, figure.title);
	if (figure.dots) return drawDots(figure.dots, width, figure.title, figure.cell);
	if (figure.curve) return drawCurve(figure.curve, width, figure.title, figure.cell);
	if (figure.series) return drawSeries(figure.series, width, figure.title);
	if (figure.split) return drawSplit(figure.split, width, figure.title);
	if (figure.lines) return drawLines(figure.lines, width, figure.title);
	if (figure.panels) return drawPanels(figure.panels, width, figure.title);
	if (figure.heat) return drawHeat(figure.heat, width, figure.title);
	if (figure.front) return drawFront(figure.front, width, figure.title);
	if (figure.flame) return drawFlame(figure.flame, width, figure.title);
	return undefined;
}

const slice = 100; // ms of drawing between which the page answers its reader

/** Resolves when the browser has had time to paint; soon where nobody looks at the page. */
function painted(): Promise<void> {
	return new Promise((resolve) => {
		requestAnimationFrame(() => setTimeout(resolve, 0));
		setTimeout(resolve, slice);
	});
}

/** The page's figures, drawn from the top and again when their widths change. */
class Drawings {
	private readonly figures = new Map<HTMLElement, Figure>();
	private readonly drawn = new Map<HTMLElement, number>(); // the width of each drawing
	private readonly wanted = new Map<HTMLElement, number>();
	private busy = false;
	private begun: () => void = () => {};

	/** Resolves when the first figures are drawn, at once where there are none. */
	readonly first = new Promise<void>((resolve) => {
		this.begun = resolve;
	});

	/** View is what of a figure is shown now; done is called when all is drawn. */
	constructor(
		figures: Figure[],
		private readonly view: (figure: Figure) => Figure | undefined,
		private readonly done: () => void,
	) {
		// It tells the widths of all figures at once; to ask each for its own
		// would settle the whole page again after every drawing.
		const observer = new ResizeObserver((entries) => {
			for (const { target, contentRect } of entries) this.want(target as HTMLElement, contentRect.width);
			if (!this.busy) this.drawSlice();
		});
		for (const figure of figures) {
			const target = document.querySelector<HTMLElement>(`[data-figure="${figure.id}"]`);
			if (!target) continue;
			this.figures.set(target, figure);
			observer.observe(target);
		}
		if (this.figures.size > 0) return;
		this.begun();
		done();
	}

	/** Draws all again, in what the view has now. */
	refresh(): void {
		for (const [target, width] of this.drawn) this.wanted.set(target, width);
		if (!this.busy && this.wanted.size > 0) this.drawSlice();
	}

	/** Draws what is not drawn yet, without a pause. */
	finish(): void {
		const missing = [...this.figures.keys()].filter((target) => !this.drawn.has(target));
		const widths = missing.map((target) => target.clientWidth);
		missing.forEach((target, i) => {
			this.want(target, widths[i] ?? 0);
		});
		for (const target of [...this.wanted.keys()]) this.draw(target);
	}

	private want(target: HTMLElement, width: number): void {
		const whole = Math.floor(width);
		if (whole > 0 && whole !== this.drawn.get(target)) this.wanted.set(target, whole);
	}

	/** Draws for a slice of time: a large page can be read while it is drawn. */
	private drawSlice(): void {
		const until = performance.now() + slice;
		for (const target of this.wanted.keys()) {
			this.draw(target);
			if (performance.now() > until) break;
		}
		this.begun();
		this.busy = this.wanted.size > 0;
		if (this.busy) painted().then(() => this.drawSlice());
		else this.done();
	}

	private draw(target: HTMLElement): void {
		const [figure, width] = [this.figures.get(target), this.wanted.get(target)];
		this.wanted.delete(target);
		if (!figure || !width) return;
		this.drawn.set(target, width);
		const shown = this.view(figure);
		const svg = shown && draw(shown, width);
		// Of a cell that is hidden the whole section is.
		target.replaceChildren(svg ?? "Nothing of this figure is left to draw.");
	}
}

function placeKeys(within: ParentNode): void {
	for (const key of within.querySelectorAll<HTMLElement>("[data-arm]")) {
		const svg = drawing(12, 12, "");
		svg.setAttribute("aria-hidden", "true");
		svg.append(shape(Number(key.dataset.arm), 6, 6, 4.2, "fill"));
		key.replaceChildren(svg);
	}
}

/** Paper cannot wait: all that is printed is drawn before. */
function prepareForPrint(drawings: Drawings): void {
	addEventListener("beforeprint", () => drawings.finish());
}

/** What changes in the figures, and not only beside them. */
const figuresDiffer = (a: State, b: State): boolean =>
	a.metric !== b.metric ||
	a.axis !== b.axis ||
	a.hidden.join() !== b.hidden.join() ||
	JSON.stringify(a.levels) !== JSON.stringify(b.levels);

async function main(): Promise<void> {
	const drawn = JSON.parse(await unpack(document.getElementById("figures")?.textContent ?? "")) as Drawn;
	const { classList } = document.documentElement;
	const store = new Store(knownOf(drawn));
	if (drawn.arms.some(({ name, label }) => name !== label)) {
		knowArms(drawn.arms);
		drawn.figures = labelled(drawn.figures, drawn.arms);
	}
	classList.add("drawn");
	let prepare: () => void = () => {};
	const prepared = new Promise<void>((resolve) => {
		prepare = resolve;
	});
	const drawings = new Drawings(
		drawn.figures ?? [],
		(figure) => shownOf(figure, drawn, store.state),
		() => prepared.then(() => classList.add("complete")),
	);
	prepareForPrint(drawings);
	await drawings.first; // a figure is what a reader of a large page waits for
	await painted();
	placeKeys(document);
	prepareTables(document, drawn, store);
	unpackTables((table) => {
		placeKeys(table);
		prepareTables(table, drawn, store);
	});
	offerDrawings();
	followAsk(store, drawn);
	followTables(store, drawn);
	store.follow((now, before) => {
		if (!figuresDiffer(now, before)) return;
		classList.remove("complete");
		drawings.refresh();
	});
	followLeads(store, drawn);
	followPanel(store, drawn);
	prepare();
}

main();
