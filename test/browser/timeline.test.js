// A trial over time: drawn where it is folded out, its crosshair moved by keys and pointer.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");

let browser;
let address;

before(async () => {
	const directory = join(root, "build/browser/timeline"); // the last run's stays to be looked at
	rmSync(directory, { recursive: true, force: true });
	mkdirSync(directory, { recursive: true });
	const written = ["test", "./internal/read/report", "-count=1", "-run=TestWriteTimeline", "-out", directory];
	execFileSync("go", written, { cwd: root });
	address = pathToFileURL(join(directory, "timeline.html")).href;
	const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
	browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
});

after(() => browser?.close());

for (const width of [400, 1280]) {
	test(`a timeline at ${width} px`, async () => {
		const page = await browser.newPage({ viewport: { width, height: 900 } });
		const faults = [];
		page.on("console", (message) => faults.push(message.text()));
		page.on("pageerror", (error) => faults.push(error.message));
		await page.goto(address);
		await page.locator("details.times summary").click();
		const svg = page.locator("details.times svg");
		await svg.waitFor();
		// Two panels, each with its window and one standstill; every line is broken once.
		assert.equal(await svg.locator(".band").count(), 2);
		assert.equal(await svg.locator(".standstill").count(), 2);
		assert.equal(await svg.locator("path.line").count(), 6);
		await svg.focus();
		await page.keyboard.press("ArrowRight");
		assert.match(await svg.getAttribute("aria-label"), /^0\.30 s, outside the window; exchanges \(k\/s\): 40;/);
		await page.keyboard.press("End");
		assert.match(await svg.getAttribute("aria-label"), /^2\.90 s/);
		const box = await svg.boundingBox();
		await svg.hover({ position: { x: box.width / 2, y: 100 } });
		assert.equal(await svg.locator(".crosshair").getAttribute("visibility"), "visible");
		const sideways = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
		assert.ok(!sideways, "the page scrolls sideways");
		assert.deepEqual(faults, []);
		await page.close();
	});
}
