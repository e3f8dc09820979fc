// Codec proto encodes the built-in messages to the bytes of contract/vectors/messages.json, and both codecs take them back.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseSetup, type Setup } from "netdyno-kit";
import { Content } from "../content.js";
import { chunksOf, methodsOf, Payload, proto } from "../netdyno-worker-grpc-js/messages.js";

interface Vector {
	type: string;
	json: { [field: string]: string };
	proto: string;
}

const vectors = JSON.parse(
	readFileSync(`${process.env.NETDYNO_ROOT}/contract/vectors/messages.json`, "utf8"),
) as Vector[];

function setupOf(codec: string, up: Vector, down: Vector): Setup {
	const content = ({ type, json }: Vector) => ({ type, json: JSON.stringify(json) });
	return parseSetup({ exchange: { codec, message: { name: "x", up: content(up), down: content(down) } } });
}

/** Codec bytes, 3 up and 5 down. */
const plain = parseSetup({ exchange: { up_bytes: 3, down_bytes: 5 } });
const SIZES = { up: 3, down: 5, kind: 0, key: 0 };

for (const [i, vector] of vectors.entries()) {
	test(`messages ${i}: ${vector.type}`, () => {
		const codec = proto(vector.type);
		const bytes = codec.encode(vector.json);
		assert.equal(bytes.toString("hex"), vector.proto);
		assert.deepEqual({ ...codec.decode(bytes) }, vector.json);
		for (const name of ["json", "proto"]) {
			const x = new Content(setupOf(name, vector, vector), { proto });
			x.verify(x.respond(x.request(SIZES)), SIZES);
			const other = new Content(setupOf(name, vector, vectors[0] as Vector), { proto });
			if (i > 0 && vector.type === "netdyno.v1.Text")
				assert.throws(() => other.verify(x.request(SIZES), SIZES), /other content/);
		}
	});
}

test("a message that is not built in, or does not fit its type", () => {
	const of = (type: string, json: object) =>
		setupOf("json", { type, json, proto: "" } as unknown as Vector, vectors[0] as Vector);
	assert.throws(() => new Content(of("shop.v1.Order", {})), { kind: "unsupported" });
	assert.throws(() => new Content(of("netdyno.v1.Text", { txt: "a" })), { kind: "setup" });
	assert.throws(() => new Content(of("netdyno.v1.Text", { text: 1 })), { kind: "setup" });
});

test("codec bytes refuses another size, at both ends", () => {
	const x = new Content(plain);
	assert.equal(x.respond(x.request(SIZES)).length, 5);
	assert.throws(() => x.respond(Buffer.alloc(4)), /has 4 bytes, expected 3/);
	assert.throws(() => x.accept(Buffer.alloc(4), SIZES), { kind: "invalid" });
	assert.throws(() => x.verify(Buffer.alloc(5), SIZES), /other content/);
});

test("methods and chunks of gRPC", () => {
	const of = (codec: string, i: number) => methodsOf(setupOf(codec, vectors[0] as Vector, vectors[i] as Vector)).unary;
	assert.deepEqual([of("", 0), of("proto", 0), of("proto", 3)], ["Unary", "Simple", "Complex"]);
	assert.deepEqual(
		[...chunksOf(Buffer.alloc(10), 4)].map((b) => b.content.length),
		[4, 4, 2],
	);
	assert.equal([...chunksOf(Buffer.alloc(0), 4)].length, 1);
	const payload = new Payload(plain);
	const { requestSerialize, requestDeserialize } = payload.definition;
	assert.equal(payload.reply(requestDeserialize(requestSerialize(payload.request(SIZES)))).received, 3);
});
