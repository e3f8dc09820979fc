// The server of service netdyno.v1.Exchange on @grpc/grpc-js.
import { createServer } from "node:net";
import {
	Server as GrpcServer,
	type handleUnaryCall,
	ServerCredentials,
	type ServerDuplexStream,
	type ServerReadableStream,
	type ServerUnaryCall,
	type ServerWritableStream,
	type ServiceDefinition,
	type sendUnaryData,
	status,
} from "@grpc/grpc-js";
import { type Counts, listen, type Ready, type Server, type Setup } from "netdyno-kit";
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

export class ExchangeServer implements Server {
	private readonly tally = new Tally();
	private readonly payload: Payload;
	private facts: Ready = {};

	private constructor(private readonly setup: Setup) {
		this.payload = new Payload(setup);
	}

	static async start(setup: Setup): Promise<ExchangeServer> {
		const server = new ExchangeServer(setup);
		const grpc = new GrpcServer(channelOptions(setup));
		const { definition, handlers } = server.service();
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

	private service() {
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
			Down: (call: ServerWritableStream<object, object>) => this.down(call, (call.request as Block).content.length),
			Both: (call: ServerDuplexStream<object, object>) => this.gather(call, (bytes) => this.down(call, bytes)),
		};
		return { definition, handlers };
	}

	private unary(call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>): void {
		const refused = this.take(call.request);
		if (refused === null) callback(null, this.payload.reply());
		else callback(refused);
	}

	private talk(call: ServerDuplexStream<object, object>): void {
		call.on("data", (request: object) => {
			const refused = this.take(request);
			if (refused !== null) call.destroy(Object.assign(new Error(refused.details), refused));
			else if (!call.write(this.payload.reply())) call.pause();
		});
		call.on("drain", () => call.resume());
		call.on("end", () => call.end());
		call.on("error", () => {}); // the client counts that
	}

	/** Counts an exchange; what is wrong with its request, if anything. */
	private take(request: object): { code: status; details: string } | null {
		try {
			this.tally.served(this.payload.acceptRequest(request), this.payload.content.down.bytes);
			return null;
		} catch (error) {
			return this.refuse((error as Error).message);
		}
	}

	private refuse(details: string): { code: status; details: string } {
		this.tally.refused++;
		return { code: status.INVALID_ARGUMENT, details };
	}

	private up(call: ServerReadableStream<object, object>, callback: sendUnaryData<object>): void {
		this.gather(call, (bytes) => {
			const wrong = this.count(bytes);
			if (wrong === null) callback(null, this.payload.reply());
			else callback(wrong);
		});
	}

	/** Joins the chunks of a request, as an application that needs it whole does. */
	private gather(call: Reading, then: (bytes: number) => void): void {
		const chunks: Uint8Array[] = [];
		call.on("data", (block: Block) => chunks.push(block.content));
		call.on("end", () => then(Buffer.concat(chunks).length));
		call.on("error", () => {}); // the client counts that
	}

	private count(bytes: number): { code: status; details: string } | null {
		const { up, down } = this.payload.content;
		if (bytes !== up.bytes) return this.refuse(`the request has ${bytes} bytes, expected ${up.bytes}`);
		this.tally.served(bytes, down.bytes);
		return null;
	}

	/** Sends the reply in chunks, as fast as the client takes them. */
	private down(call: Writing, bytes: number): void {
		const wrong = this.count(bytes);
		if (wrong !== null) {
			call.destroy(Object.assign(new Error(wrong.details), wrong));
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
