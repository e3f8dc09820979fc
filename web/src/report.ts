// Draws the figures of a report into the page that already holds every
// number, and draws them again when their width changes.

import { drawCurve } from "./curve";
import { drawDots } from "./dots";
import { drawForest } from "./forest";
import { drawFront } from "./front";
import { drawHeat } from "./heat";
import { drawLines } from "./lines";
import type { Figure, Page } from "./page";
import { drawSeries } from "./series";
import { drawShares } from "./shares";
import { drawSplit } from "./split";
import { drawing, shape } from "./svg";

function draw(figure: Figure, width: number): SVGElement | undefined {
	if (figure.forest) return drawForest(figure.forest, width, figure.title);
	if (figure.dots) return drawDots(figure.dots, width, figure.title);
	if (figure.curve) return drawCurve(figure.curve, width, figure.title);
	if (figure.series) return drawSeries(figure.series, width, figure.title);
	if (figure.split) return drawSplit(figure.split, width, figure.title);
	if (figure.lines) return drawLines(figure.lines, width, figure.title);
	if (figure.heat) return drawHeat(figure.heat, width, figure.title);
	if (figure.front) return drawFront(figure.front, width, figure.title);
	if (figure.shares) return drawShares(figure.shares, width, figure.title);
	return undefined;
}

function place(figure: Figure): void {
	const target = document.querySelector<HTMLElement>(`[data-figure="${figure.id}"]`);
	if (!target) return;
	let drawn = 0;
	const redraw = () => {
		const width = Math.floor(target.clientWidth);
		if (width === drawn || width === 0) return;
		drawn = width;
		const svg = draw(figure, width);
		if (svg) target.replaceChildren(svg);
	};
	new ResizeObserver(redraw).observe(target);
	redraw();
}

function placeKeys(): void {
	for (const key of document.querySelectorAll<HTMLElement>("[data-arm]")) {
		const svg = drawing(12, 12, "");
		svg.setAttribute("aria-hidden", "true");
		svg.append(shape(Number(key.dataset.arm), 6, 6, 4.2, "fill"));
		key.replaceChildren(svg);
	}
}

const slice = 40; // ms of drawing between which the page answers its reader

/** Places figures from the top, a slice at a time: a large page can be read while it is drawn. */
function placeInSlices(waiting: Figure[], done: () => void): void {
	const until = performance.now() + slice;
	while (waiting.length > 0 && performance.now() < until) place(waiting.shift() as Figure);
	if (waiting.length > 0) setTimeout(placeInSlices, 0, waiting, done);
	else done();
}

/** Paper can neither wait nor be clicked: all is drawn in print, and open that is folded on the screen. */
function prepareForPrint(waiting: Figure[]): void {
	let opened: HTMLDetailsElement[] = [];
	addEventListener("beforeprint", () => {
		for (const figure of waiting.splice(0)) place(figure);
		opened = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
		for (const each of opened) each.open = true;
	});
	addEventListener("afterprint", () => {
		for (const each of opened) each.open = false;
	});
}

const page = JSON.parse(document.getElementById("figures")?.textContent ?? "{}") as Page;
const waiting = [...(page.figures ?? [])];
const { classList } = document.documentElement;
classList.add("drawn");
placeKeys();
prepareForPrint(waiting);
placeInSlices(waiting, () => classList.add("complete"));
