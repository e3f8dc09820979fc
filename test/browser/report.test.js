// Opens real reports in a real browser: nothing fetched, nothing logged,
// every figure drawn with every mark, no sideways scrolling.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
// The browser's driver is installed beside the sources of what it tests.
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const quiet = [
	"--no-sandbox",
	"--disable-gpu",
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-sync",
];

let directory;
let browser;

before(async () => {
	directory = join(root, "build/browser/report"); // the last run's stays to be looked at
	rmSync(directory, { recursive: true, force: true });
	mkdirSync(directory, { recursive: true });
	execFileSync("go", ["test", "./internal/read/report", "-count=1", "-run=TestWriteSample", "-out", directory], {
		cwd: root,
	});
	browser = await chromium.launch({ executablePath, args: quiet });
	console.log(`screenshots in ${directory}`);
});

after(() => browser?.close());

/** Opens a report and fails on anything that it logs, throws or fetches. */
async function open(file, { width = 1200, viewport = { width, height: 900 }, ...context } = {}) {
	const page = await browser.newPage({ viewport, ...context });
	const faults = [];
	const address = pathToFileURL(join(directory, file)).href;
	page.on("console", (message) => faults.push(`console ${message.type()}: ${message.text()}`));
	page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
	page.on("request", (request) => {
		if (request.url() !== address && !/^(data|blob):/.test(request.url())) faults.push(`request: ${request.url()}`);
	});
	await page.goto(address);
	if (context.javaScriptEnabled !== false && file !== "index.html")
		await page.waitForSelector(":root.complete", { timeout: 120_000 });
	return { page, faults };
}

/** What the page holds for its script. */
const dataOf = (page) =>
	page.evaluate(() => {
		const bytes = Uint8Array.from(atob(document.getElementById("figures").textContent), (c) => c.charCodeAt(0));
		return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
	});

const figuresOf = async (page) => (await dataOf(page)).figures;

/** How many marks a figure must show, by selector, counted from its own data. */
function expectedMarks({ picture, panels, forest, dots, curve, series, split, lines, heat, front, flame }) {
	const sum = (list, count) => list.reduce((total, each) => total + count(each), 0);
	if (picture) {
		const rows = picture.groups.flatMap((group) => group.rows);
		const known = sum(rows, (row) => row.figures.filter((figure) => figure.hint).length);
		return picture.marks ? { ".amount-mark": known } : { ".amount": known };
	}
	if (panels) {
		const lines = panels.charts.flatMap((chart) => chart.lines);
		return { ".main": lines.length, ".marker": sum(lines, (each) => each.points.length) };
	}
	if (forest) {
		const rows = forest.groups.flatMap((group) => group.rows);
		return {
			".dot": sum(rows, (row) => row.ratios.length),
			".ratio": rows.filter((row) => row.verdict).length,
			".band": forest.groups.filter((group) => group.bound > 0).length,
		};
	}
	if (dots) {
		const all = dots.rows.flatMap((row) => row.dots);
		return {
			".dot": all.length,
			".dot.hollow": all.filter((dot) => dot.repeat && !dot.status).length,
			".dot.lost": all.filter((dot) => dot.status).length,
			".bar": dots.rows.filter((row) => row.label).length,
		};
	}
	if (curve) return { ".line": curve.lines.length };
	if (series) return { ".trace": sum(series.panels, (panel) => panel.lines.length), ".band": series.panels.length };
	if (split) {
		const bars = split.panels.flatMap((panel) => panel.groups.flatMap((group) => group.bars));
		return { ".bar": sum(bars, (bar) => bar.filter((cores) => cores > 0).length) };
	}
	if (lines) {
		return { ".main": lines.lines.length, ".marker": sum(lines.lines, (each) => each.points.length) };
	}
	if (heat) return { ".box": heat.boxes.length };
	if (front) {
		return {
			".marker": front.points.length,
			".front": front.points.filter((point) => point.on).length > 1 ? 1 : 0,
		};
	}
	if (flame) return { ".box": flame.graphs[0].frames.length + 1 };
	throw new Error("a figure without anything to draw");
}

/** Opens all that is folded, and waits until its figures are drawn. */
async function unfold(page) {
	await page.evaluate(() => {
		for (const folded of document.querySelectorAll("details:has(figure)")) folded.open = true;
	});
	await page.waitForFunction(() => !document.querySelector("[data-figure]:empty"), undefined, { timeout: 120_000 });
}

/** Every figure shows every mark of its data. Counted in one call: a large page has hundreds of figures. */
async function assertDrawn(page, figures) {
	const expected = figures.flatMap((figure) =>
		Object.entries(expectedMarks(figure)).map(([selector, count]) => ({ id: figure.id, selector, count })),
	);
	const drawn = await page.evaluate((all) => {
		const places = new Map([...document.querySelectorAll("[data-figure]")].map((each) => [each.dataset.figure, each]));
		return all.map(({ id, selector }) => ({ id, selector, count: places.get(id).querySelectorAll(selector).length }));
	}, expected);
	assert.deepEqual(drawn, expected);
}

test("the committed script is the one that web/ builds", () => {
	const built = execFileSync("npm", ["run", "-s", "bundle", "--", "src/report.ts"], {
		cwd: join(root, "web"),
		encoding: "utf8",
	});
	const committed = readFileSync(join(root, "internal/read/report/assets/report.js"), "utf8");
	assert.ok(built === committed, "internal/read/report/assets/report.js is stale; run `npm run build` in web/");
});

for (const width of [390, 760, 1280]) {
	for (const colorScheme of ["light", "dark"]) {
		test(`a report at ${width} px, ${colorScheme}`, async () => {
			const { page, faults } = await open("report.html", { width, colorScheme });
			await unfold(page);
			const figures = await figuresOf(page);
			assert.deepEqual(
				new Set(figures.flatMap(({ id, title, caption, wide, cell, ...kinds }) => Object.keys(kinds))),
				new Set(["picture", "forest", "dots", "curve", "series", "split", "lines", "heat", "front", "flame"]),
			);
			await assertDrawn(page, figures);
			const cut = await page.evaluate(() => {
				const wide = document.documentElement.clientWidth;
				return [...document.querySelectorAll("figure svg text")]
					.filter((text) => {
						const box = text.getBoundingClientRect();
						const svg = text.ownerSVGElement.getBoundingClientRect();
						return box.left < svg.left - 1 || box.right > Math.min(svg.right, wide) + 1 || box.bottom > svg.bottom + 1;
					})
					.map((text) => `${text.closest("figure").id}: ${text.textContent}`);
			});
			assert.deepEqual(cut, [], "text reaches over its figure's edge");
			assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, "the page scrolls sideways");
			const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
			assert.equal(Number(/\d+/.exec(paper)[0]) < 128, colorScheme === "dark", `the paper is ${paper}`);
			assert.deepEqual(faults, []);
			await page.screenshot({ path: join(directory, `report-${width}-${colorScheme}.png`), fullPage: true });
			await page.close();
		});
	}
}

for (const [width, height] of [
	[1280, 900],
	[400, 800],
]) {
	test(`the first screen at ${width} × ${height} has the answer, its picture and its condition`, async () => {
		const { page, faults } = await open("report.html", { viewport: { width, height } });
		const bottom = (selector) => page.locator(selector).evaluate((each) => each.getBoundingClientRect().bottom);
		assert.ok((await bottom("#answers .answer")) < height, "the answer is below the fold");
		assert.ok((await bottom("#picture .drawing")) < height * (width > 600 ? 1 : 1.6), "the picture is below the fold");
		if (width > 600) {
			assert.ok((await bottom("#answers .condition")) < height, "the condition is below the fold");
			assert.ok((await bottom("#answers .warnings > summary")) < height, "what to be careful about is below the fold");
		}
		assert.equal(await page.locator("#answers .warnings[open], #answers .judging[open]").count(), 0);
		await page.screenshot({ path: join(directory, `first-${width}.png`) });
		assert.deepEqual(faults, []);
		await page.close();
	});
}

test("every disclosure has a label", async () => {
	for (const file of ["report.html", "asked.html", "sweeps.html"]) {
		const { page } = await open(file);
		const empty = await page
			.locator("summary")
			.evaluateAll((all) => all.filter((each) => !each.textContent.trim()).map((each) => each.parentElement.outerHTML));
		assert.deepEqual(empty, []);
		await page.close();
	}
});

test("drawings are saved as SVG and PNG, tables as CSV, from a file", async () => {
	const { page } = await open("report.html");
	await unfold(page);
	const saved = async (button) => {
		const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
		return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
	};
	const figure = page.locator("#picture");
	const svg = await saved(figure.getByRole("button", { name: "SVG" }));
	assert.match(svg.name, /^the-answer-in-figures\.svg$/);
	assert.match(svg.bytes.toString(), /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
	assert.doesNotMatch(svg.bytes.toString(), /class=|var\(/, "it needs the page's style sheet");
	const alone = await browser.newPage();
	await alone.goto(`data:image/svg+xml;base64,${svg.bytes.toString("base64")}`);
	assert.ok((await alone.locator("rect").count()) > 1);
	await alone.close();
	const png = await saved(figure.getByRole("button", { name: "PNG" }));
	assert.deepEqual([...png.bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
	assert.ok(png.bytes.length > 5000, `${png.bytes.length} bytes`);
	const table = page.locator("#cell-1 .scroll:has(table)").first();
	const csv = await saved(table.locator("+ .save").getByRole("button", { name: "CSV" }));
	const lines = csv.bytes.toString().trimEnd().split("\r\n");
	assert.equal(lines.length, 1 + (await table.locator("tbody tr").count()));
	assert.match(lines[0], /^arm,/);
	assert.match(lines[1], /^go-net \(baseline\),\d/);
	await page.close();
});

test("labels of one axis do not overlap", async () => {
	for (const width of [390, 1280]) {
		const { page } = await open("report.html", { width });
		await unfold(page);
		const overlaps = await page.evaluate(() => {
			const found = [];
			for (const svg of document.querySelectorAll("figure svg")) {
				const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
				boxes.forEach(([name, a], i) => {
					for (const [other, b] of boxes.slice(i + 1)) {
						const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
						const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
						if (across > 1 && down > 3) found.push(`${svg.closest("figure").id}: "${name}" and "${other}"`);
					}
				});
			}
			return found;
		});
		assert.deepEqual(overlaps, [], `at ${width} px`);
		await page.close();
	}
});

for (const [file, what] of [
	["large.html", "1,200 trials"],
	["open.html", "an open loop"],
	["closed.html", "a closed loop with two clients"],
	["asked.html", "charts, a fit and profiles"],
	["sweeps.html", "25 cells of 13 arms"],
]) {
	test(`a report of ${what} is drawn`, async () => {
		const { page, faults } = await open(file);
		await unfold(page);
		await assertDrawn(page, await figuresOf(page));
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 1200, "the page scrolls sideways");
		assert.deepEqual(faults, []);
		await page.screenshot({ path: join(directory, file.replace(".html", ".png")), fullPage: file !== "sweeps.html" });
		await page.close();
	});
}

test("what a colour carries can be read on it", async () => {
	const { page } = await open("report.html");
	await unfold(page);
	const weakest = await page.evaluate(() => {
		const lights = (colour) =>
			(colour.startsWith("#")
				? colour.match(/[0-9a-f]{2}/gi).map((hex) => Number.parseInt(hex, 16))
				: colour.match(/\d+/g)
			)
				.slice(0, 3)
				.map((light) => (light / 255 <= 0.04045 ? light / 255 / 12.92 : ((light / 255 + 0.055) / 1.055) ** 2.4));
		const luminance = (colour) =>
			lights(colour).reduce((sum, light, i) => sum + light * [0.2126, 0.7152, 0.0722][i], 0);
		const ratios = [...document.querySelectorAll("figure svg .printed")].map((text) => {
			const ink = luminance(getComputedStyle(text).fill);
			const under = luminance(text.previousElementSibling.getAttribute("fill"));
			return (Math.max(ink, under) + 0.05) / (Math.min(ink, under) + 0.05);
		});
		return Math.min(...ratios);
	});
	assert.ok(weakest >= 4, `the weakest contrast is ${weakest.toFixed(2)}`);
	await page.close();
});

for (const [width, colorScheme] of [
	[390, "dark"],
	[1280, "light"],
]) {
	test(`an index at ${width} px, ${colorScheme}`, async () => {
		const { page, faults } = await open("index.html", { width, colorScheme });
		const links = await page.locator(".entry a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
		assert.deepEqual(
			new Set(links),
			new Set(["event-loops/report.html", "event-loops/report.html#expect", "calibrate/report.html"]),
		);
		assert.equal(await page.locator(".entry").count(), 4); // three studies and their claims
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, "the page scrolls sideways");
		assert.deepEqual(faults, []);
		await page.screenshot({ path: join(directory, `index-${width}.png`), fullPage: true });
		await page.close();
	});
}

test("figures follow a change of width", async () => {
	const { page } = await open("report.html");
	const widest = () =>
		page.evaluate(() => Math.max(...[...document.querySelectorAll("figure svg")].map((svg) => svg.clientWidth)));
	assert.ok((await widest()) > 900);
	await page.setViewportSize({ width: 420, height: 900 });
	await page.waitForFunction(() => [...document.querySelectorAll("figure svg")].every((svg) => svg.clientWidth <= 400));
	await page.close();
});

test("without JavaScript every number is still there", async () => {
	const { page } = await open("report.html", { javaScriptEnabled: false });
	assert.equal(await page.locator("figure:visible").count(), 0);
	assert.match(await page.locator("noscript").first().textContent(), /every number/);
	for (const words of [
		"go-epoll",
		"better",
		"0.614×",
		"connection reset by peer",
		"netdyno run event-loops",
		"AMD EPYC",
	]) {
		assert.ok((await page.locator("main").textContent()).includes(words), `the page lacks "${words}"`);
	}
	await page.close();
});

test("a large page can be read before it is drawn, and prints whole at once", async () => {
	const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
	// Looked at from inside, between two slices of drawing: from here the page may
	// be whole by the time the question arrives.
	await page.addInitScript(() => {
		const undrawn = () => document.querySelectorAll("[data-figure]:empty").length;
		const watch = () => {
			if (document.querySelector("[data-figure]:not(:empty)") === null) {
				setTimeout(watch, 0);
				return;
			}
			for (const folded of document.querySelectorAll("details")) folded.open = true;
			const before = undrawn();
			dispatchEvent(new Event("beforeprint"));
			window.seen = [before, undrawn()];
		};
		setTimeout(watch, 0);
	});
	await page.goto(pathToFileURL(join(directory, "sweeps.html")).href, { waitUntil: "commit" });
	const [before, after] = await (await page.waitForFunction(() => window.seen)).jsonValue();
	assert.ok(before > 0, "every figure is drawn before the page can answer");
	assert.equal(after, 0, "print leaves figures out");
	await page.close();
});

test("stacks can be searched, seen alone and compared, by keyboard too", async () => {
	const { page, faults } = await open("report.html");
	await unfold(page);
	const flame = page.locator("figure:has(.flame)").first();
	const boxes = flame.locator(".box");
	const all = await boxes.count();
	await flame.locator("input").fill("codec.Encode");
	assert.ok((await flame.locator(".found").count()) > 0, "nothing is marked");
	assert.match(await flame.locator(".status").textContent(), /“codec\.Encode” is on 50 % of what is shown/);
	await flame
		.locator("g", { has: page.locator(".found") })
		.first()
		.click();
	assert.match(await flame.locator(".status").textContent(), /shown alone: codec\.Encode/);
	assert.ok((await boxes.count()) < all, "all boxes are still there");
	await page.keyboard.press("Escape");
	assert.equal(await boxes.count(), all);
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	assert.match(await flame.locator(".status").textContent(), /shown alone/);
	await flame.getByRole("button", { name: "whole graph" }).click();
	assert.equal(await boxes.count(), all);
	const against = await flame.locator("option", { hasText: "against" }).first().getAttribute("value");
	await flame.locator("select").selectOption(against);
	assert.match(await flame.locator(".status").textContent(), /against .* Orange grew, blue shrank/);
	assert.equal(await flame.locator(".box.grew, .box.shrank, .box.same").count(), await boxes.count());
	assert.deepEqual(faults, []);
	await page.close();
});

for (const [file, what] of [
	["report.html", "two cells with profiles"],
	["open.html", "an open loop"],
	["sweeps.html", "25 cells of 13 arms"],
]) {
	test(`a report of ${what} fits on six pages of paper`, async () => {
		const { page, faults } = await open(file);
		const folded = await page.locator("details:not([open])").count();
		const pdf = await page.pdf({ path: join(directory, file.replace(".html", ".pdf")), format: "A4" });
		const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
		assert.ok(pages >= 1 && pages <= 6, `${pages} pages`);
		assert.equal(await page.locator("details:not([open])").count(), folded, "printing opens what is folded");
		assert.deepEqual(faults, []);
		await page.close();
	});
}
