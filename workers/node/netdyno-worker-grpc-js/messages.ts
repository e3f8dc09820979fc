// The messages of exchange.proto by protobufjs, and the methods of service netdyno.v1.Exchange that carry them.
import { type Drawn, Failure, type Setup } from "netdyno-kit";
import protobuf from "protobufjs";
import { type Codec, Content, type Message } from "../content.js";

/** A message of codec bytes. */
export interface Block {
	content: Uint8Array;
}

const types = {
	"netdyno.v1.Block": new protobuf.Type("Block").add(new protobuf.Field("content", 1, "bytes")),
	"netdyno.v1.Text": new protobuf.Type("Text").add(new protobuf.Field("text", 1, "string")),
	"netdyno.v1.Reply": Array.from(
		{ length: 20 },
		(_, i) => new protobuf.Field(`replyValue${i + 1}`, i + 1, "string"),
	).reduce((type, field) => type.add(field), new protobuf.Type("Reply")),
};
new protobuf.Root()
	.define("netdyno.v1")
	.add(types["netdyno.v1.Block"])
	.add(types["netdyno.v1.Text"])
	.add(types["netdyno.v1.Reply"]);

/** Codec proto for a type of message: the code that protobufjs generates when it first meets the type. */
export function proto(type: string): Codec {
	const known = types[type as keyof typeof types];
	if (known === undefined) throw new Failure("unsupported", `message type ${type} is not built in`);
	return {
		mediaType: "application/protobuf",
		encode: (message) => known.encode(message).finish() as Buffer,
		decode: (bytes) => known.decode(bytes) as unknown as Message,
	};
}

const block = types["netdyno.v1.Block"];

export function encodeBlock(message: Block): Buffer {
	return block.encode(message).finish() as Buffer;
}

export function decodeBlock(bytes: Buffer): Block {
	return block.decode(bytes) as unknown as Block;
}

/** What a trial's calls carry: messages of the library's, made and checked as an application does. */
export class Payload {
	readonly content: Content;
	private readonly up: Codec | null;
	private readonly down: Codec | null;

	constructor(setup: Setup) {
		this.content = new Content(setup, { proto });
		const { message } = setup.exchange;
		const structured = this.content.structured && message !== null;
		this.up = structured ? proto(message.up.type) : null;
		this.down = structured ? proto(message.down.type) : null;
		this.definition = this.define();
	}

	request(sizes: Drawn): object {
		return this.content.up.message ?? { content: this.content.request(sizes) };
	}

	/** The reply to a request, as long as it asked for where sizes vary. Throws where the request is not as expected. */
	reply(request: object, asked?: string): { message: object; received: number; sent: number } {
		const { content } = this;
		if (content.structured)
			return { message: content.down.message ?? {}, received: content.up.bytes, sent: content.down.bytes };
		const block = (request as Block).content as Buffer; // the library has decoded it
		const reply = content.respond(block, asked);
		return { message: { content: reply }, received: block.length, sent: reply.length };
	}

	/** How the library turns messages of both directions into bytes, and back. */
	readonly definition: ReturnType<Payload["define"]>;

	private define() {
		const { up, down } = this;
		return {
			requestSerialize: (m: object) => (up === null ? encodeBlock(m as Block) : up.encode(m as Message)),
			requestDeserialize: (b: Buffer): object => (up === null ? decodeBlock(b) : up.decode(b)),
			responseSerialize: (m: object) => (down === null ? encodeBlock(m as Block) : down.encode(m as Message)),
			responseDeserialize: (b: Buffer): object => (down === null ? decodeBlock(b) : down.decode(b)),
		};
	}

	/** Checks a reply and returns its payload bytes. Throws Failure of kind invalid. */
	acceptReply(message: object, sizes: Drawn): number {
		if (this.content.structured) return this.content.down.bytes;
		return this.content.accept((message as Block).content as Buffer, sizes);
	}

	/** Compares the first reply of a connection with what our servers send. */
	verify(message: object, sizes: Drawn): void {
		const bytes = this.content.structured
			? (this.down as Codec).encode(message as Message)
			: (message as Block).content;
		this.content.verify(Buffer.from(bytes), sizes);
	}
}

/** The methods of a trial: of whole messages as an RPC, and on a stream that stays open. */
export function methodsOf(setup: Setup): { unary: string; talk: string } {
	const codec = setup.exchange.codec || "bytes";
	if (codec === "bytes") return { unary: "Unary", talk: "Talk" };
	return setup.exchange.message?.down.type === "netdyno.v1.Reply"
		? { unary: "Complex", talk: "TalkComplex" }
		: { unary: "Simple", talk: "TalkSimple" };
}

export const SERVICE = "/netdyno.v1.Exchange/";
export const DEFAULT_CHUNK = 64 << 10;

/** Blocks of at most chunk bytes that content is cut into; one of no content at least. */
export function* chunksOf(content: Buffer, chunk: number): Generator<Block> {
	for (let at = 0; at === 0 || at < content.length; at += chunk) yield { content: content.subarray(at, at + chunk) };
}
