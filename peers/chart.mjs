// Prints after how many seconds a page of netdyno's has painted its first chart in Chromium:
// node peers/chart.mjs REPORT.html
import { createRequire } from "node:module";
import { resolve } from "node:path";

const { chromium } = createRequire(resolve("web/package.json"))("playwright-core");
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu"],
});
try {
	const page = await browser.newPage();
	await page.addInitScript(() => {
		const watch = new MutationObserver(() => {
			if (!document.querySelector("figure svg")) return;
			watch.disconnect();
			// The second frame begins when the first one, which has the chart, was painted.
			requestAnimationFrame(() => requestAnimationFrame(() => { window.firstChart = performance.now(); }));
		});
		watch.observe(document, { childList: true, subtree: true });
	});
	await page.goto(`file://${resolve(process.argv[2])}`, { waitUntil: "commit" });
	let ms;
	for (const end = Date.now() + 60_000; !ms && Date.now() < end; ) {
		await new Promise((wake) => setTimeout(wake, 20));
		ms = await page.evaluate(() => window.firstChart);
	}
	if (!ms) throw new Error("no chart within a minute");
	console.log((ms / 1000).toFixed(2));
} finally {
	await browser.close();
}
