// The server of service netdyno.v1.Exchange on @grpc/grpc-js.
import { createServer } from "node:net";
import {
	Server as GrpcServer,
	type handleUnaryCall,
	type Metadata,
	ServerCredentials,
	type ServerDuplexStream,
	type ServerReadableStream,
	type ServerUnaryCall,
	type ServerWritableStream,
	type ServiceDefinition,
	type sendUnaryData,
	status,
} from "@grpc/grpc-js";
import { type Counts, DOWN_HEADER, listen, type Ready, type Server, Service, type Setup } from "netdyno-kit";
import { Tally } from "../tally.js";
import { channelOptions } from "./grpc.js";
import {
	type Block,
	chunksOf,
	DEFAULT_CHUNK,
	decodeBlock,
	encodeBlock,
	methodsOf,
	Payload,
	SERVICE,
} from "./messages.js";

type Writing = ServerWritableStream<object, object> | ServerDuplexStream<object, object>;
type Reading = ServerReadableStream<object, object> | ServerDuplexStream<object, object>;

/** A request that is refused, as the library takes it. */
class Refused extends Error {
	readonly code = status.INVALID_ARGUMENT;
	constructor(readonly details: string) {
		super(details);
	}
}

export class ExchangeServer implements Server {
	private readonly tally = new Tally();
	private readonly payload: Payload;
	private readonly service: Service | null;
	private facts: Ready = {};

	private constructor(private readonly setup: Setup) {
		this.payload = new Payload(setup);
		this.service = Service.of(setup);
	}

	static async start(setup: Setup): Promise<ExchangeServer> {
		const server = new ExchangeServer(setup);
		const grpc = new GrpcServer(channelOptions(setup));
		const { definition, handlers } = server.methods();
		grpc.addService(definition, handlers);
		const { tls } = setup;
		const credentials =
			tls === null
				? ServerCredentials.createInsecure()
				: ServerCredentials.createSsl(null, [
						{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.certificate) },
					]);
		// The kit listens and lets the trial's clients in; the library serves what it accepted.
		const injector = grpc.createConnectionInjector(credentials);
		const addresses = await listen(setup, () =>
			createServer({ noDelay: true }, (socket) => {
				if (socket.destroyed) return;
				server.tally.open(socket);
				injector.injectConnection(socket);
			}),
		);
		server.facts = { ...server.payload.content.sizes(), addresses };
		return server;
	}

	ready(): Ready {
		return this.facts;
	}

	counts(): Counts {
		return this.tally.counts();
	}

	private methods() {
		const { unary, talk } = methodsOf(this.setup);
		const whole = this.payload.definition;
		const blocks = {
			requestSerialize: encodeBlock as (m: object) => Buffer,
			requestDeserialize: decodeBlock,
			responseSerialize: encodeBlock as (m: object) => Buffer,
			responseDeserialize: decodeBlock,
		};
		const method = (name: string, requestStream: boolean, responseStream: boolean, of: typeof whole) => ({
			...of,
			path: SERVICE + name,
			requestStream,
			responseStream,
		});
		const definition: ServiceDefinition = {
			[unary]: method(unary, false, false, whole),
			[talk]: method(talk, true, true, whole),
			Up: method("Up", true, false, blocks),
			Down: method("Down", false, true, blocks),
			Both: method("Both", true, true, blocks),
		};
		const handlers = {
			[unary]: ((call, callback) => this.unary(call, callback)) as handleUnaryCall<object, object>,
			[talk]: (call: ServerDuplexStream<object, object>) => this.talk(call),
			Up: (call: ServerReadableStream<object, object>, callback: sendUnaryData<object>) => this.up(call, callback),
			Down: (call: ServerWritableStream<object, object>) =>
				this.serve(() => this.down(call, (call.request as Block).content.length)),
			Both: (call: ServerDuplexStream<object, object>) => this.gather(call, (bytes) => this.down(call, bytes)),
		};
		return { definition, handlers };
	}

	/** Does the work of an exchange, if there is any, before then. */
	private serve(then: () => void): void {
		if (this.service === null) then();
		else this.service.serve(then);
	}

	private unary(call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>): void {
		this.serve(() => {
			const reply = this.answer(call.request, call.metadata);
			if (reply instanceof Refused) callback(reply);
			else callback(null, reply);
		});
	}

	private talk(call: ServerDuplexStream<object, object>): void {
		call.on("data", (request: object) => {
			this.serve(() => {
				const reply = this.answer(request, call.metadata);
				if (reply instanceof Refused) call.destroy(reply);
				else if (!call.write(reply)) call.pause();
			});
		});
		call.on("drain", () => call.resume());
		call.on("end", () => call.end());
		call.on("error", () => {}); // the client counts that
	}

	/** Counts an exchange and returns its reply, or what is wrong with the request. */
	private answer(request: object, metadata: Metadata): object {
		try {
			const asks = this.payload.content.draws.asks;
			const asked = asks ? (metadata.get(DOWN_HEADER)[0] as string | undefined) : undefined;
			const { message, received, sent } = this.payload.reply(request, asked);
			this.tally.served(received, sent);
			return message;
		} catch (error) {
			return this.refuse((error as Error).message);
		}
	}

	private refuse(details: string): Refused {
		this.tally.refused++;
		return new Refused(details);
	}

	private up(call: ServerReadableStream<object, object>, callback: sendUnaryData<object>): void {
		this.gather(call, (bytes) => {
			const wrong = this.count(bytes);
			if (wrong === null) callback(null, { content: this.payload.content.down.content });
			else callback(wrong);
		});
	}

	/** Joins the chunks of a request, as an application that needs it whole does. */
	private gather(call: Reading, then: (bytes: number) => void): void {
		const chunks: Uint8Array[] = [];
		call.on("data", (block: Block) => chunks.push(block.content));
		call.on("end", () => this.serve(() => then(Buffer.concat(chunks).length)));
		call.on("error", () => {}); // the client counts that
	}

	private count(bytes: number): Refused | null {
		const { up, down } = this.payload.content;
		if (bytes !== up.bytes) return this.refuse(`the request has ${bytes} bytes, expected ${up.bytes}`);
		this.tally.served(bytes, down.bytes);
		return null;
	}

	/** Sends the reply in chunks, as fast as the client takes them. */
	private down(call: Writing, bytes: number): void {
		const wrong = this.count(bytes);
		if (wrong !== null) {
			call.destroy(wrong);
			return;
		}
		const pieces = chunksOf(this.payload.content.down.content, this.setup.exchange.chunk_bytes || DEFAULT_CHUNK);
		const push = () => {
			for (let piece = pieces.next(); ; piece = pieces.next()) {
				if (piece.done) return void call.end();
				if (!call.write(piece.value)) return void call.once("drain", push);
			}
		};
		call.on("error", () => {});
		push();
	}
}
