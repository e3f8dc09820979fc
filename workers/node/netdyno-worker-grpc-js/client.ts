// The client of service netdyno.v1.Exchange on @grpc/grpc-js: a channel with one connection for each of the trial's.
import { createSocket } from "node:dgram";
import {
	Client,
	type ClientDuplexStream,
	type ClientReadableStream,
	type ClientWritableStream,
	connectivityState,
	credentials,
	Metadata,
	type ServiceError,
	status,
} from "@grpc/grpc-js";
import {
	addressText,
	type Calls,
	DOWN_HEADER,
	type Drawn,
	Failure,
	type Route,
	type Setup,
	type Slot,
} from "netdyno-kit";
import { channelOptions } from "./grpc.js";
import {
	type Block,
	chunksOf,
	DEFAULT_CHUNK,
	decodeBlock,
	encodeBlock,
	methodsOf,
	type Payload,
	SERVICE,
} from "./messages.js";

/** How long a connection's first call may take. */
const FIRST_MS = 10_000;

/** A stream that stays open, and who waits for its next reply. */
interface Talk {
	stream: ClientDuplexStream<object, object>;
	resolve: (reply: object) => void;
	reject: (error: unknown) => void;
}

export class ExchangeCalls implements Calls {
	private readonly clients: Client[] = [];
	private readonly peers: string[] = [];
	private readonly talks: (Talk | undefined)[] = [];
	private readonly metadata = new Metadata();
	private readonly unaryPath: string;
	private readonly talkPath: string;
	private again = 0;

	constructor(
		private readonly setup: Setup,
		private readonly payload: Payload,
	) {
		const { unary, talk } = methodsOf(setup);
		this.unaryPath = SERVICE + unary;
		this.talkPath = SERVICE + talk;
	}

	async open(i: number, route: Route): Promise<void> {
		await sourceFits(route);
		this.peers[i] = addressText(route.peer);
		const client = this.channel(i);
		const { stream } = this.setup.exchange;
		const x = this.payload.content.draws.of(i);
		if (stream !== "") this.payload.content.verify(await this.chunked(client, stream), x);
		else this.payload.verify(await this.unary(client, x, FIRST_MS), x);
		if (!this.setup.load.fresh) this.watch(client);
	}

	async call(i: number, slot: Slot): Promise<number> {
		if (this.setup.load.fresh) this.clients[i]?.close();
		const client = this.setup.load.fresh ? this.channel(i) : (this.clients[i] as Client);
		const { stream } = this.setup.exchange;
		if (stream !== "") return this.payload.content.accept(await this.chunked(client, stream), slot);
		const ms = (this.payload.content.draws.classes[slot.kind]?.deadline_ns ?? 0) / 1e6;
		const reply = this.setup.options.mode === "stream" ? this.talk(client, slot) : this.unary(client, slot, ms);
		return this.payload.acceptReply(await reply, slot);
	}

	private channel(i: number): Client {
		const { tls } = this.setup;
		const secure = tls === null ? credentials.createInsecure() : credentials.createSsl(Buffer.from(tls.authorities));
		const client = new Client(this.peers[i] as string, secure, channelOptions(this.setup));
		this.clients[i] = client;
		return client;
	}

	failure(error: unknown): Failure {
		const { code, details, message } = error as Partial<ServiceError>;
		if (code === undefined || typeof code !== "number")
			return new Failure("bug", (error as Error)?.stack ?? String(error));
		const text = `${status[code]}: ${details || message}`;
		if (code === status.UNAVAILABLE || code === status.CANCELLED) return new Failure("peer", text);
		return new Failure(code === status.DEADLINE_EXCEEDED ? "timeout" : "invalid", text);
	}

	connections(): number {
		const { READY } = connectivityState;
		const open = this.clients.filter((c) => c.getChannel().getConnectivityState(false) === READY).length;
		return this.setup.load.fresh ? Math.max(open, 1) : open;
	}

	redialled(): number {
		return this.again;
	}

	/** within is a deadline in ms, 0 for none; the library tells the server. */
	private unary(client: Client, sizes: Drawn, within: number): Promise<object> {
		const options = within === 0 ? {} : { deadline: Math.ceil(performance.timeOrigin + performance.now() + within) };
		const { requestSerialize, responseDeserialize } = this.payload.definition;
		return new Promise((resolve, reject) => {
			client.makeUnaryRequest(
				this.unaryPath,
				requestSerialize,
				responseDeserialize,
				this.payload.request(sizes),
				this.asking(sizes),
				options,
				(error, reply) => (error ? reject(error) : resolve(reply as object)),
			);
		});
	}

	private asking(sizes: Drawn): Metadata {
		if (!this.payload.content.draws.asks) return this.metadata;
		const metadata = new Metadata();
		metadata.set(DOWN_HEADER, String(sizes.down));
		return metadata;
	}

	/** One message each way on the slot's stream. */
	private talk(client: Client, slot: Slot): Promise<object> {
		return new Promise((resolve, reject) => {
			this.talks[slot.number] ??= this.begin(client, slot.number);
			const talk = this.talks[slot.number] as Talk;
			talk.resolve = resolve;
			talk.reject = reject;
			talk.stream.write(this.payload.request(slot));
		});
	}

	private begin(client: Client, slot: number): Talk {
		const { requestSerialize, responseDeserialize } = this.payload.definition;
		const stream = client.makeBidiStreamRequest(this.talkPath, requestSerialize, responseDeserialize, this.metadata);
		const talk: Talk = { stream, resolve: () => {}, reject: () => {} };
		const over = (error: unknown) => {
			this.talks[slot] = undefined; // the next exchange has another stream
			talk.reject(error);
		};
		stream.on("data", (reply: object) => talk.resolve(reply));
		stream.on("error", over);
		stream.on("end", () =>
			over(new Failure("invalid", "the server ended the stream before its reply came", "stream ended")),
		);
		return talk;
	}

	/** An RPC whose content travels in chunks one way or both. */
	private chunked(client: Client, stream: string): Promise<Buffer> {
		const { metadata } = this;
		const request = { content: this.payload.content.up.content };
		return new Promise((resolve, reject) => {
			const whole = (error: ServiceError | null, reply?: Block) =>
				error ? reject(error) : resolve(Buffer.from((reply as Block).content));
			if (stream === "up") {
				const call = client.makeClientStreamRequest<Block, Block>(
					`${SERVICE}Up`,
					encodeBlock,
					decodeBlock,
					metadata,
					whole,
				);
				this.push(call, request.content);
			} else if (stream === "down") {
				gather(
					client.makeServerStreamRequest<Block, Block>(`${SERVICE}Down`, encodeBlock, decodeBlock, request, metadata),
					resolve,
					reject,
				);
			} else {
				const call = client.makeBidiStreamRequest<Block, Block>(`${SERVICE}Both`, encodeBlock, decodeBlock, metadata);
				gather(call, resolve, reject);
				this.push(call, request.content);
			}
		});
	}

	private push(call: ClientWritableStream<Block> | ClientDuplexStream<Block, Block>, content: Buffer): void {
		const pieces = chunksOf(content, this.setup.exchange.chunk_bytes || DEFAULT_CHUNK);
		const push = () => {
			for (let piece = pieces.next(); ; piece = pieces.next()) {
				if (piece.done) return void call.end();
				if (!call.write(piece.value)) return void call.once("drain", push);
			}
		};
		push();
	}

	/** Counts how often the channel's connection is made again. */
	private watch(client: Client): void {
		const channel = client.getChannel();
		let lost = false;
		const look = () => {
			const now = channel.getConnectivityState(false);
			if (now === connectivityState.SHUTDOWN) return;
			if (now !== connectivityState.READY) lost = true;
			else if (lost) {
				lost = false;
				this.again++;
			}
			channel.watchConnectivityState(now, Number.POSITIVE_INFINITY, look);
		};
		look();
	}
}

function gather(
	call: ClientReadableStream<Block> | ClientDuplexStream<Block, Block>,
	resolve: (b: Buffer) => void,
	reject: (e: unknown) => void,
): void {
	const chunks: Uint8Array[] = [];
	call.on("data", (block: Block) => chunks.push(block.content));
	call.on("error", reject);
	call.on("end", () => resolve(Buffer.concat(chunks))); // error came before, if one did
}

/** Refuses a source address that the system would not choose by itself: the library cannot be told one. */
async function sourceFits({ peer, source }: Route): Promise<void> {
	if (source === "") return;
	const socket = createSocket(peer.host.includes(":") ? "udp6" : "udp4");
	try {
		const chosen = await new Promise<string>((resolve, reject) => {
			socket.once("error", reject);
			socket.connect(peer.port, peer.host, () => resolve(socket.address().address));
		});
		if (chosen === source) return;
		throw new Failure(
			"unsupported",
			`grpc-js cannot choose the local address: the system takes ${chosen}, and the trial wants ${source}`,
		);
	} finally {
		socket.close();
	}
}
