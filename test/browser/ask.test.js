// The page is asked: from a mark to its trial, by filters, order, metric and axis, with
// all of it in the address.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");

const hostile = `<img src=x onerror=fail()>,a/b&c=d%41+#"'`; // an arm of troubled.html

let directory;
let browser;

before(async () => {
	directory = join(root, "build/browser/ask"); // the last run's stays to be looked at
	rmSync(directory, { recursive: true, force: true });
	mkdirSync(directory, { recursive: true });
	const written = ["test", "./internal/read/report", "-count=1", "-run=TestWriteTroubled", "-out", directory];
	execFileSync("go", written, { cwd: root });
	const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
	browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
});

after(() => browser?.close());

/** Opens a page at a fragment, and fails the test on anything that it logs or throws. */
async function asking(what, { fragment = "", file = "troubled.html", width = 1280, ...context } = {}, look) {
	test(what, async () => {
		const page = await browser.newPage({ viewport: { width, height: 900 }, ...context });
		const faults = [];
		page.on("console", (message) => faults.push(message.text()));
		page.on("pageerror", (error) => faults.push(error.message));
		await page.goto(pathToFileURL(join(directory, file)).href + fragment);
		if (context.javaScriptEnabled !== false) {
			await page.waitForSelector(":root.complete", { timeout: 60_000 });
			await unfold(page);
		}
		await look(page);
		assert.deepEqual(faults, []);
		await page.close();
	});
}

/** Opens the sections, and waits until what they show is drawn. */
async function unfold(page) {
	await page.evaluate(() => {
		for (const folded of document.querySelectorAll("section:not(#answers) > details")) folded.open = true;
	});
	await page.waitForFunction(() =>
		[...document.querySelectorAll("[data-figure]:empty")].every((figure) => figure.offsetParent === null),
	);
}
const address = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const panel = (page) => page.locator("dialog.panel[open]");
const visibleRows = (page, table) => page.locator(`[data-table="${table}"] tbody tr:visible th`).allTextContents();

asking("a dot leads to its trial, Escape back, and Back to it again", {}, async (page) => {
	const dot = page.locator("#cell-1-1 circle.dot").first();
	const id = await dot.getAttribute("data-trial");
	await dot.click();
	await panel(page).waitFor();
	assert.match(await panel(page).locator("h2").textContent(), new RegExp(`Trial ${id}: `));
	assert.equal(await address(page), `#trial=${id}`);
	await page.keyboard.press("Escape");
	await panel(page).waitFor({ state: "detached" });
	await page.waitForFunction(() => location.hash === ""); // the browser tells of a closed dialog later
	assert.equal(await address(page), "");
	await page.goBack();
	await panel(page).waitFor();
	assert.equal(await address(page), `#trial=${id}`);
	await page.goBack();
	await panel(page).waitFor({ state: "detached" });
});

asking("by keyboard from a table to a trial with all that is known of it", {}, async (page) => {
	const link = page.locator("#cell-1 tbody th a").first();
	const printed = await page
		.locator('[data-table="cell-1.1"] tbody tr')
		.first()
		.locator("td.number")
		.first()
		.textContent();
	await link.focus();
	await page.keyboard.press("Enter");
	await panel(page).waitFor();
	const mean = await panel(page).locator(".mean .number").first().textContent();
	const [value, interval] = printed.split(/\s+/);
	assert.equal(mean, `${value} (${interval})`, "the list says something else than the table");
	await panel(page).locator("tbody a").first().focus();
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => location.hash.includes("trial="));
	await panel(page).locator("summary", { hasText: "The raw record" }).waitFor();
	const said = await panel(page).textContent();
	for (const words of ["Limit: schedule", "Consistency checks: 12 of 12 passed", "Settings, as the workers", "Levels"])
		assert.ok(said.includes(words), `the panel lacks "${words}": ${said}`);
	assert.equal(await panel(page).locator("svg path.trace").count(), 1);
	await panel(page).locator("summary", { hasText: "The raw record" }).click();
	await page.waitForFunction(() => document.querySelector(".record")?.textContent.trim().endsWith("}"));
	const record = JSON.parse(await panel(page).locator(".record").textContent());
	assert.equal(`#trials=1/go-net&trial=${record.trial.id}`, await address(page));
});

asking("figures of the list are those of the accounts", { fragment: "#trials=2/asio" }, async (page) => {
	await panel(page).waitFor();
	const headings = await panel(page)
		.locator("thead th")
		.evaluateAll((all) => all.map((each) => each.textContent));
	const cpu = headings.findIndex((heading) => heading.startsWith("server CPU"));
	const rows = panel(page).locator("tbody tr:not(.mean)");
	const listed = await rows.evaluateAll(
		(all, at) => all.map((row) => [row.cells[0].textContent, row.cells[at].textContent]),
		cpu,
	);
	assert.equal(listed.length, 4);
	for (const [id, figure] of listed) {
		await page.evaluate((trial) => {
			location.hash = `trial=${trial}`;
		}, id);
		await panel(page).locator("h2", { hasText: id }).waitFor();
		const told = panel(page).locator('[title="server.cpu_us_per_exchange"] dd');
		if (figure === "–") assert.equal(await told.count(), 0);
		else assert.equal(await told.textContent(), `${figure} µs/exchange`);
	}
});

asking("a trial that went wrong says why, and nothing in it is run", {}, async (page) => {
	const trials = await page.locator("#failures tbody th a").allTextContents();
	assert.ok(trials.length >= 2, `${trials} went wrong`);
	const told = [];
	for (const id of trials) {
		await page.evaluate((trial) => {
			location.hash = `trial=${trial}`;
		}, id);
		await panel(page).locator("h2", { hasText: id }).waitFor();
		told.push(await panel(page).textContent());
	}
	assert.ok(
		told.some((text) => text.includes("<script>alert(1)</script>")),
		told.join("\n"),
	);
	assert.ok(
		told.some((text) => text.includes("10 of 11 passed")),
		told.join("\n"),
	);
	assert.equal(await page.locator("img").count(), 0);
});

asking("a click on a legend hides an arm everywhere, the address brings the same view", {}, async (page) => {
	const name = page.locator("#cell-1-1 svg text[data-hide]", { hasText: "asio" });
	const dots = await page.locator("#cell-1-1 .dot").count();
	await name.click();
	await page.waitForFunction(() => location.hash === "#arm=-asio");
	await page.waitForSelector(":root.complete"); // all is drawn again
	assert.equal(await page.locator("svg text", { hasText: /^asio$/ }).count(), 0);
	assert.ok((await page.locator("#cell-1-1 .dot").count()) < dots);
	assert.deepEqual(await visibleRows(page, "cell-1.1"), ["go-net (baseline)", hostile]);
	await page.reload();
	await page.waitForSelector(":root.complete");
	await unfold(page);
	assert.deepEqual(await visibleRows(page, "cell-1.1"), ["go-net (baseline)", hostile]);
	assert.equal(await page.locator("svg text", { hasText: /^asio$/ }).count(), 0);
	await page.locator(".ask summary").click();
	await page.locator(".ask button", { hasText: "show all" }).click();
	await page.waitForSelector(":root.complete");
	assert.equal((await visibleRows(page, "cell-1.1")).length, 3);
	assert.equal(await page.locator("#cell-1-1 .dot").count(), dots);
});

asking("levels, arms with hostile names, metric and axis", {}, async (page) => {
	await page.locator(".ask summary").click();
	const ask = page.locator(".ask");
	await ask.getByRole("button", { name: "1000", exact: true }).click();
	assert.ok(await page.locator("#cell-1").isHidden());
	assert.ok(await page.locator("#cell-2").isVisible());
	await ask.getByRole("button", { name: hostile, exact: true }).click();
	assert.deepEqual(await visibleRows(page, "cell-2.1"), ["go-net (baseline)", "asio"]);
	const before = await page.locator("#cell-2-1 svg").innerHTML();
	await ask.getByLabel("metric of the charts by trial").selectOption("exchanges_per_s");
	await page.waitForSelector(":root.complete");
	assert.notEqual(await page.locator("#cell-2-1 svg").innerHTML(), before);
	assert.match(await page.locator("#cell-2-1 svg").textContent(), /rate \(k\/s\)/);
	const linear = await page.locator("#cell-2-1 svg").innerHTML();
	await ask.getByLabel("axes").selectOption("log");
	assert.notEqual(await page.locator("#cell-2-1 svg").innerHTML(), linear);
	assert.match(await ask.locator(".note").textContent(), /1 of 2 cells · rate by trial · logarithmic axes/);
	const asked = await page.evaluate(() => location.hash);
	assert.match(asked, /&connections=1000&metric=exchanges_per_s&axis=log$/);
	await page.reload();
	await page.waitForSelector(":root.complete");
	await unfold(page);
	assert.deepEqual(await visibleRows(page, "cell-2.1"), ["go-net (baseline)", "asio"]);
	assert.equal(await page.evaluate(() => location.hash), asked);
	assert.match(await page.locator("#cell-2-1 svg").textContent(), /rate \(k\/s\)/);
});

asking("tables are sorted by any column, and back", {}, async (page) => {
	const heading = page.locator('[data-table="cell-1.1"] thead button').nth(1);
	const order = () =>
		page
			.locator('[data-table="cell-1.1"] tbody tr')
			.evaluateAll((rows) => rows.map((row) => Number.parseFloat(row.cells[1].textContent)));
	const own = await order();
	await heading.click();
	assert.deepEqual(
		await order(),
		[...own].sort((a, b) => a - b),
	);
	assert.equal(await address(page), "#sort=cell-1.1:1");
	await heading.click();
	assert.deepEqual(
		await order(),
		[...own].sort((a, b) => b - a),
	);
	await heading.click();
	assert.deepEqual(await order(), own);
	assert.equal(await address(page), "");
});

const garbage = [
	"#arm=-nobody&connections=7&metric=x&axis=round&sort=(&trials=9/x&trial=__proto__&at=nowhere",
	"#%E0%A4%A&=&&arm=%zz&trial=%",
	"#trials=1/%E0&trials=1//&constructor=1&__proto__=2",
	`#${"a=".repeat(20_000)}`,
];

asking("garbage in the fragment changes nothing", { fragment: garbage[0] }, async (page) => {
	for (const fragment of garbage) {
		await page.evaluate((text) => {
			location.hash = text;
		}, fragment);
		assert.equal(await panel(page).count(), 0);
		assert.equal((await visibleRows(page, "cell-1.1")).length, 3);
		assert.equal(await page.locator(".ask .note").textContent(), "");
	}
});

asking("a run of many trials says what prints the rest of one", { file: "many.html" }, async (page) => {
	await page.locator("#cell-1-1 .dot").last().click();
	await panel(page).waitFor();
	const id = (await address(page)).split("=")[1];
	assert.ok((await panel(page).textContent()).includes(`netdyno report DIR --trial ${id}`));
	assert.ok((await panel(page).locator("dd").count()) > 2, "no figures");
});

asking("the contents keep what was asked", { fragment: "#arm=-asio" }, async (page) => {
	await page.locator('nav a[href="#cell-2"]').click();
	assert.equal(await address(page), "#arm=-asio&at=cell-2");
	assert.equal((await visibleRows(page, "cell-2.1")).length, 2);
	await page.waitForFunction(() => Math.abs(document.getElementById("cell-2").getBoundingClientRect().top) < 200);
});

for (const width of [400, 1280]) {
	asking(`nothing reaches over ${width} px`, { width, colorScheme: "dark" }, async (page) => {
		await page.locator(".ask summary").click();
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
		for (const fragment of ["trials=1/go-net,asio", "trial=b01-002"]) {
			await page.evaluate((text) => {
				location.hash = text;
			}, fragment);
			await panel(page).waitFor();
			const sideways = await page.evaluate(() => {
				const open = document.querySelector("dialog[open]");
				return open.scrollWidth > open.clientWidth || document.documentElement.scrollWidth > innerWidth;
			});
			assert.ok(!sideways, `${fragment} scrolls sideways`);
		}
	});
}

asking("without its script the page has no panel and asks nothing", { javaScriptEnabled: false }, async (page) => {
	assert.equal(await page.locator(".ask, dialog, .lead, .sort").count(), 0);
	await page.locator("#cell-1 > details > summary").click();
	assert.ok(await page.locator("#cell-1 table").first().isVisible());
});
