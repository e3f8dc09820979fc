// Watches runs through a real netdyno serve, one of which grows meanwhile.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"];

const running = "event-loops-20260102-030405";
const timeout = 120_000; // for what must come, on a busy machine

let directory;
let browser;
let grower;
let server;
let address;

/** A program whose lines of output are awaited one by one. */
function started(program, args) {
	const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	const next = async () => (await lines.next()).value ?? "";
	const gone = new Promise((resolve) => child.on("exit", (status) => resolve(status)));
	return { child, next, gone };
}

/** Lets the run grow: by a number of records, or by a tick. */
async function grow(word) {
	grower.child.stdin.write(`${word}\n`);
	assert.equal(await grower.next(), "done");
}

before(async () => {
	directory = join(root, "build/browser/live"); // the last run's stays to be looked at
	rmSync(directory, { recursive: true, force: true });
	mkdirSync(directory, { recursive: true });
	mkdirSync(join(directory, "runs"));
	const growing = join(directory, "grow");
	execFileSync("go", ["test", "-c", "-ldflags=-s -w", "-o", growing, "./internal/read/serve"], { cwd: root });
	grower = started(growing, ["-test.run=TestGrowSample", "-grow", join(directory, "runs")]);
	assert.equal(await grower.next(), "ready");
	server = started(join(root, "bin/netdyno"), ["serve", join(directory, "runs")]);
	const said = await server.next();
	address = /^serve +(http:\/\/127\.0\.0\.1:\d+\/)$/.exec(said)?.[1];
	assert.ok(address, `netdyno serve says its address first, not ${JSON.stringify(said)}`);
	browser = await chromium.launch({ executablePath, args: quiet });
	console.log(`screenshots in ${directory}`);
});

after(async () => {
	await browser?.close();
	server?.child.kill("SIGINT");
	grower?.child.kill("SIGKILL");
	if (server) assert.equal(await server.gone, 0, "netdyno serve ends in order");
});

/** Opens a page of the server and notes whatever it logs, throws or asks elsewhere. */
async function open(path, context = {}) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...context });
	const faults = [];
	page.on("console", (message) => faults.push(`console ${message.type()}: ${message.text()}`));
	page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
	page.on("request", (request) => {
		if (!request.url().startsWith(address) && !request.url().startsWith("data:"))
			faults.push(`request: ${request.url()}`);
	});
	await page.goto(new URL(path, address).href);
	return { page, faults };
}

const shows = (page, part, text) => page.locator(`#${part}`, { hasText: text }).waitFor({ timeout });
const sideways = (page) =>
	page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

test("a run is watched while it goes on, without a script", async () => {
	const { page, faults } = await open(`runs/${running}/`, { javaScriptEnabled: false });
	await shows(page, "answers", "0 of 48 trials");
	await grow(24);
	await shows(page, "answers", "24 of 48 trials");
	await shows(page, "found", "go-epoll");
	await grow("tick");
	await shows(page, "now", "b04-001");
	await grow("tick");
	await shows(page, "now", "10.0 k/s");
	await shows(page, "now", "p99 450 µs");
	await page.screenshot({ path: join(directory, "live.png"), fullPage: true });
	await grow(24);
	await shows(page, "answers", "48 of 48 trials");
	grower.child.stdin.end("end\n");
	await shows(page, "answers", "complete");
	assert.deepEqual(faults, []);
	await page.close();
});

test("the page of a run fits a narrow screen", async () => {
	const { page } = await open(`runs/${running}/`, { viewport: { width: 400, height: 900 }, colorScheme: "dark" });
	assert.equal(await sideways(page), 0, "the page scrolls sideways");
	await page.close();
});

for (const [width, colorScheme] of [
	[1280, "dark"],
	[400, "light"],
]) {
	test(`the list at ${width} px, ${colorScheme}`, async () => {
		const { page, faults } = await open("", { viewport: { width, height: 900 }, colorScheme });
		assert.equal(await page.locator(".runs li").count(), 5);
		assert.equal(await page.locator(".runs .name", { hasText: "<b>odd" }).count(), 1, "a hostile name is text");
		assert.equal(await page.locator(".runs b, .runs script").count(), 0);
		assert.equal(await sideways(page), 0, "the page scrolls sideways");
		assert.deepEqual(faults, []);
		await page.screenshot({ path: join(directory, `list-${width}.png`), fullPage: true });
		await page.close();
	});
}
