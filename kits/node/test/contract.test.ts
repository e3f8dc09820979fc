import assert from "node:assert/strict";
import { test } from "node:test";
import { Fields, printed } from "../src/contract.js";
import { parseJson, Real } from "../src/json.js";
import { LineReader, MAX_LINE, parseLine } from "../src/line.js";
import { parseSetup } from "../src/setup.js";
import { vectors } from "./vectors.js";

type Part = string | { repeat: string; times: number };

const textOf = (parts: Part[]) => parts.map((p) => (typeof p === "string" ? p : p.repeat.repeat(p.times))).join("");

/** What a worker makes of a stream that holds one line. */
function read(stream: string): string {
	let said = "nothing";
	const reader = new LineReader(
		(line) => {
			try {
				const { name, body } = parseLine(line);
				if (name === "setup") parseSetup(body);
				if (name === "mark") [new Fields(body, "mark").exact("id"), new Fields(body, "mark").flag("reset")];
				said = name;
			} catch (error) {
				said = `refused: ${(error as Error).message}`;
			}
		},
		(why) => {
			said = `refused: ${why.message}`;
		},
	);
	for (let at = 0; at < stream.length; at += 50_000) reader.push(Buffer.from(stream.slice(at, at + 50_000)));
	reader.end();
	return said;
}

for (const vector of vectors("lines")) {
	if (vector.to !== "worker") continue; // the bench's alone
	test(`line: ${vector.name}`, () => {
		const line = vector.line ?? textOf(vector.parts);
		const said = read(vector.torn ? line : `${line}\n`);
		if (vector.message) assert.equal(said, vector.message);
		else assert.match(said, /^refused: /);
	});
}

test("a line that comes in pieces, and two in one", () => {
	const lines: string[] = [];
	const reader = new LineReader((line) => lines.push(line), assert.fail);
	for (const piece of ["ab", "c\nd\n", "", "e", "\n"]) reader.push(Buffer.from(piece));
	assert.deepEqual(lines, ["abc", "d", "e"]);
});

test("a reader keeps no more than a line's bound", () => {
	const before = process.memoryUsage().arrayBuffers;
	const reader = new LineReader(assert.fail, () => {});
	for (let i = 0; i < 64; i++) reader.push(Buffer.alloc(MAX_LINE, "x"));
	assert.ok(process.memoryUsage().arrayBuffers - before < 70 * MAX_LINE);
	reader.end();
});

test("integers keep their bits", () => {
	assert.deepEqual(parseJson("[9007199254740993, 1, 1.5, -0]"), [9007199254740993n, 1, new Real(1.5), -0]);
	assert.equal(printed({ id: 9007199254740993n, text: "a" }), '{"id":9007199254740993,"text":"a"}');
	assert.equal(new Fields(parseJson('{"seed":18446744073709551615}'), "x").unsigned("seed"), 2n ** 64n - 1n);
});

test("JSON as JSON.parse has it", () => {
	for (const text of [
		'{"a":[1,{"b":null}],"c":"\\u00e4\\n","d":true}',
		"[]",
		"{}",
		'""',
		" [ 1 , 2 ] ",
		`"${"x".repeat(1e6)}"`,
	]) {
		assert.equal(printed(parseJson(text)), JSON.stringify(JSON.parse(text)));
	}
	for (const text of [
		"",
		"[1,]",
		"{'a':1}",
		'{"a" 1}',
		"01",
		"1.",
		"tru",
		'"a',
		'"\t"',
		"[1]]",
		'{"a":1,}',
		"nul",
		"+1",
		".5",
	]) {
		assert.throws(() => parseJson(text), SyntaxError, text);
	}
});
