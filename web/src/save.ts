// Drawings saved as SVG and PNG, tables as CSV: made in the page, without a server.

import { button, html } from "./html";

/** What of its computed style a drawing needs outside the page. */
const kept = [
	"fill",
	"fill-opacity",
	"stroke",
	"stroke-width",
	"stroke-opacity",
	"stroke-dasharray",
	"stroke-linejoin",
	"paint-order",
	"opacity",
	"font-family",
	"font-size",
	"font-weight",
	"text-anchor",
];
const finer = 2; // pixels of a PNG for one of the page

/** Gives every figure buttons that save its drawing. */
export function offerDrawings(): void {
	for (const figure of document.querySelectorAll("figure")) {
		const drawn = (): SVGSVGElement | null => figure.querySelector<SVGSVGElement>(".drawing svg[role]");
		const name = fileName(figure.querySelector("h3")?.textContent || figure.id);
		const svg = button("SVG", () => {
			const found = drawn();
			if (found) download(`${name}.svg`, new Blob([standalone(found)], { type: "image/svg+xml" }));
		});
		const png = button("PNG", async () => {
			const found = drawn();
			const image = found && (await rasterised(found));
			if (image) download(`${name}.png`, image);
		});
		figure.append(html("p", { class: "save" }, "save as ", svg, png));
	}
}

/** Gives a table a button that saves it. */
export function offerTable(table: HTMLTableElement): void {
	const title = table.caption?.textContent || table.closest("section")?.querySelector("h2")?.textContent || "table";
	const csv = button("CSV", () => download(`${fileName(title)}.csv`, new Blob([csvOf(table)], { type: "text/csv" })));
	table.closest(".scroll")?.after(html("p", { class: "save" }, "save as ", csv));
}

const fileName = (title: string): string =>
	title
		.toLowerCase()
		.replace(/[^\p{Letter}\p{Number}]+/gu, "-")
		.replace(/^-|-$/g, "")
		.slice(0, 60) || "netdyno";

function download(name: string, what: Blob): void {
	const address = URL.createObjectURL(what);
	html("a", { href: address, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** The drawing as a file of its own: in the page's colours, on its paper. */
export function standalone(svg: SVGSVGElement): string {
	const copy = svg.cloneNode(true) as SVGSVGElement;
	const originals = [svg, ...svg.querySelectorAll("*")];
	[copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
		const style = getComputedStyle(originals[i] as Element);
		for (const name of kept) element.setAttribute(name, style.getPropertyValue(name));
		for (const { name } of [...element.attributes]) {
			if (name === "class" || name.startsWith("data-")) element.removeAttribute(name);
		}
	});
	const paper = document.createElementNS(copy.namespaceURI, "rect");
	paper.setAttribute("width", "100%");
	paper.setAttribute("height", "100%");
	paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
	copy.prepend(paper);
	copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
	return new XMLSerializer().serializeToString(copy);
}

async function rasterised(svg: SVGSVGElement): Promise<Blob | null> {
	const { width, height } = svg.getBoundingClientRect();
	const image = new Image();
	image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(svg))}`;
	await image.decode();
	const canvas = html("canvas");
	[canvas.width, canvas.height] = [Math.ceil(width * finer), Math.ceil(height * finer)];
	canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
	return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** A table as CSV (RFC 4180): a column for the figures, and one for what stands smaller behind them. */
export function csvOf(table: HTMLTableElement): string {
	const rows = [...(table.tBodies[0]?.rows ?? [])].filter((row) => !row.hidden);
	const columns = [...(table.tHead?.rows[0]?.cells ?? [])].flatMap((heading, i) => {
		if (heading.hidden) return [];
		const title = words(heading);
		const behind = rows.some((row) => row.cells[i] && smaller(row.cells[i]) !== "");
		const main = { title, of: (row: HTMLTableRowElement): string => (row.cells[i] ? plain(row.cells[i]) : "") };
		const more = {
			title: `${title}, more`,
			of: (row: HTMLTableRowElement): string => (row.cells[i] ? smaller(row.cells[i]) : ""),
		};
		return behind ? [main, more] : [main];
	});
	const lines = [columns.map((each) => each.title), ...rows.map((row) => columns.map((each) => each.of(row)))];
	return lines.map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
}

const words = (element: Element): string => (element.textContent ?? "").replace(/\s+/g, " ").trim();

const smaller = (cell: Element): string => [...cell.querySelectorAll("small")].map(words).join("; ");

/** What stands in a cell besides the small; a number without the commas of its thousands. */
function plain(cell: Element): string {
	const copy = cell.cloneNode(true) as Element;
	for (const small of copy.querySelectorAll("small")) small.remove();
	const text = words(copy);
	return /^-?\d{1,3}(,\d{3})+$/.test(text) ? text.replaceAll(",", "") : text;
}

/** Quotes what CSV needs quoted; what a spreadsheet would run as a formula stays a text. */
function quoted(text: string): string {
	const safe = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? `'${text}` : text;
	return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
