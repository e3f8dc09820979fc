// What an exchange carries on wires of HTTP and gRPC: random bytes of known sizes, or messages that a codec encodes.
import {
	askedDown,
	crc32c,
	type Drawn,
	Draws,
	Failure,
	type Load,
	type Ready,
	randomContent,
	type Setup,
} from "netdyno-kit";

/** A built-in message as an application in JavaScript holds it. */
export type Message = { [field: string]: string };

/** How messages of a type become bytes and come back. */
export interface Codec {
	mediaType: string;
	encode(message: Message): Buffer;
	decode(bytes: Buffer): Message;
}

const json: Codec = {
	mediaType: "application/json",
	encode: (message) => Buffer.from(JSON.stringify(message)),
	decode: (bytes) => JSON.parse(bytes.toString("utf8")) as Message,
};

/** Bytes of one direction are allocated. */
const MAX_CONTENT = 1 << 30;

interface Direction {
	message: Message | null;
	codec: Codec;
	bytes: number;
	/** What is sent with codec bytes. */
	content: Buffer;
}

/** Both directions of a trial's exchanges. */
export class Content {
	readonly up: Direction;
	readonly down: Direction;
	readonly mediaType: string;
	readonly structured: boolean;
	/** Which sizes vary. */
	readonly draws: Draws;

	/** codecs make one for a type of message, besides json. Throws Failure. */
	constructor(setup: Setup, codecs: { [name: string]: (type: string) => Codec } = {}) {
		const { codec, message, up_bytes, down_bytes } = setup.exchange;
		this.draws = new Draws(setup);
		this.structured = codec !== "" && codec !== "bytes";
		if (!this.structured) {
			this.up = bytesOf("up", up_bytes);
			this.down = bytesOf("down", down_bytes);
			this.mediaType = "application/octet-stream";
			return;
		}
		if (message === null) throw new Failure("setup", `exchange.codec is ${codec} and exchange.message is absent`);
		const make = codecs[codec] ?? (() => json);
		this.up = messageOf(make(message.up.type), message.up);
		this.down = messageOf(make(message.down.type), message.down);
		this.mediaType = this.up.codec.mediaType;
	}

	/** What goes up in an exchange of these sizes, encoded anew where there is a codec. */
	request(sizes: Drawn): Buffer {
		return encoded(this.up, sizes.up);
	}

	/** Takes a request and returns the reply, as long as was asked where sizes vary. The error says what was wrong. */
	respond(request: Buffer, asked?: string): Buffer {
		const { up, down, draws } = this;
		if (draws.upVaries && request.length > up.bytes) {
			throw new Error(`the request has ${request.length} bytes, expected at most ${up.bytes}`);
		}
		if (!draws.upVaries) accept("the request", up, request, up.bytes);
		return encoded(down, draws.asks ? askedDown(asked, down.bytes) : down.bytes);
	}

	/** Checks a reply as an application does, and returns its payload's size. Throws Failure of kind invalid. */
	accept(reply: Buffer, sizes: Drawn): number {
		try {
			accept("the reply", this.down, reply, sizes.down);
		} catch (error) {
			throw new Failure("invalid", (error as Error).message);
		}
		return reply.length;
	}

	/** Compares the content of the first reply of a connection. Throws Failure of kind invalid. */
	verify(reply: Buffer, sizes: Drawn): void {
		this.accept(reply, sizes);
		const { message, codec, content } = this.down;
		const same =
			message === null
				? crc32c(reply) === crc32c(content.subarray(0, sizes.down))
				: equal(codec.decode(reply), message);
		if (!same) throw new Failure("invalid", "the reply has other content than expected");
	}

	/** Tells the load, and ready, the sizes that a codec decides. */
	sizes(load?: Load): Ready {
		if (!this.structured) return {};
		load?.encoded(this.up.bytes, this.down.bytes);
		return { up_bytes: this.up.bytes, down_bytes: this.down.bytes };
	}
}

function bytesOf(name: "up" | "down", bytes: number): Direction {
	if (bytes < 0 || bytes > MAX_CONTENT) {
		throw new Failure("setup", `exchange.${name}_bytes is ${bytes}, expected 0 to ${MAX_CONTENT}`);
	}
	return { message: null, codec: json, bytes, content: randomContent(bytes, name === "up" ? "u" : "d") };
}

const FIELDS: { [type: string]: string[] } = {
	"netdyno.v1.Text": ["text"],
	"netdyno.v1.Reply": Array.from({ length: 20 }, (_, i) => `replyValue${i + 1}`),
};

function messageOf(codec: Codec, { type, json }: { type: string; json: string }): Direction {
	const fields = FIELDS[type];
	if (fields === undefined) {
		throw new Failure(
			"unsupported",
			`message type ${type} is not built in; this worker has ${Object.keys(FIELDS).join(", ")}`,
		);
	}
	let message: Message;
	try {
		message = JSON.parse(json) as Message;
	} catch (error) {
		throw new Failure("setup", `read ${type}: ${(error as Error).message}`);
	}
	for (const [field, value] of Object.entries(message)) {
		if (fields.includes(field) && typeof value === "string") continue;
		throw new Failure("setup", `read ${type}: field ${field} is none of its texts`);
	}
	return { message, codec, bytes: codec.encode(message).length, content: Buffer.alloc(0) };
}

function encoded({ message, codec, content, bytes }: Direction, size: number): Buffer {
	if (message !== null) return codec.encode(message);
	return size === bytes ? content : content.subarray(0, size);
}

function accept(what: string, { message, codec }: Direction, found: Buffer, bytes: number): void {
	if (message !== null) {
		try {
			codec.decode(found);
		} catch (error) {
			throw new Error(`decode ${what}: ${(error as Error).message}`);
		}
	} else if (found.length !== bytes) throw new Error(`${what} has ${found.length} bytes, expected ${bytes}`);
}

function equal(a: Message, b: Message): boolean {
	return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((field) => (a[field] ?? "") === (b[field] ?? ""));
}
