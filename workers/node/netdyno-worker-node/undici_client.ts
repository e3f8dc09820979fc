// The client of wire http/1.1 on undici: a Client with one connection for each connection of the trial.
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
import { Client, type Dispatcher, errors } from "undici";
import { type Asked, type Asks, pathOf, taken } from "./ask.js";

const NEVER_MS = 2 ** 31 - 1;

export class UndiciCalls implements Calls {
	private readonly clients: Client[] = [];
	private open_ = 0;
	private made = 0;
	private readonly headers: string[];
	private readonly dispatches: boolean;
	/** By slot, of calls that have a deadline. */
	private readonly aborts: (AbortController | undefined)[] = [];

	constructor(
		private readonly setup: Setup,
		private readonly asks: Asks,
	) {
		this.headers = ["content-type", asks.content.mediaType];
		this.dispatches = setup.options.api === "dispatch";
	}

	async open(i: number, { peer, source }: Route): Promise<void> {
		const { tls } = this.setup;
		const client = new Client(`${tls === null ? "http" : "https"}://${addressText(peer)}`, {
			pipelining: 1,
			keepAliveTimeout: NEVER_MS,
			keepAliveMaxTimeout: NEVER_MS,
			headersTimeout: 0,
			bodyTimeout: 0,
			...(source === "" ? {} : { localAddress: source }),
			...(tls === null ? {} : { connect: { ca: tls.authorities, minVersion: "TLSv1.3" as const } }),
		});
		client.on("connect", () => {
			this.open_++;
			this.made++;
		});
		client.on("disconnect", () => this.open_--);
		this.clients[i] = client;
		await this.asks.first(i, (x) => this.exchange(client, x));
	}

	async call(i: number, slot: Slot): Promise<number> {
		const abort = this.asks.of(slot).bounded ? new AbortController() : undefined;
		this.aborts[slot.number] = abort;
		return this.asks.content.accept(await this.exchange(this.clients[i] as Client, slot, abort?.signal), slot);
	}

	/** The late reply may still come, so the connection is made anew. */
	abandon(_: number, slot: Slot): void {
		this.aborts[slot.number]?.abort();
	}

	failure(error: unknown): Failure {
		const { code = "", message = String(error) } = (error ?? {}) as NodeJS.ErrnoException;
		if (error instanceof errors.HTTPParserError) return new Failure("invalid", `no HTTP: ${message}`, "no HTTP");
		if (/TIMEOUT|TIMEDOUT/.test(code)) return new Failure("timeout", message, "timed out");
		const why = REASONS[code];
		if (why !== undefined) return new Failure("peer", `${why}: ${message}`, why);
		if (/^(ERR_SSL|ERR_TLS|CERT|DEPTH|UNABLE|SELF)/.test(code))
			return new Failure("peer", `TLS: ${message}`, "TLS failed");
		return code.startsWith("E") ? new Failure("peer", message) : new Failure("bug", (error as Error)?.stack ?? message);
	}

	connections(): number {
		return this.setup.load.fresh ? Math.max(this.open_, 1) : this.open_;
	}

	redialled(): number {
		return this.setup.load.fresh ? 0 : Math.max(0, this.made - this.clients.length);
	}

	private exchange(client: Client, x: Drawn, signal?: AbortSignal): Promise<Buffer> {
		const { content } = this.asks;
		const asked = this.asks.of(x);
		const headers = asked.sends ? this.headers : [];
		// Without object spread, which made V8 promote some 600 bytes of each exchange.
		const request: Dispatcher.RequestOptions = {
			path: pathOf(asked, x),
			method: asked.method as Dispatcher.HttpMethod,
			headers: content.draws.asks ? [...headers, DOWN_HEADER, String(x.down)] : headers,
			body: asked.sends ? content.request(x) : null,
			reset: this.setup.load.fresh,
		};
		if (signal !== undefined) request.signal = signal;
		return this.dispatches ? dispatch(client, request, asked) : ask(client, request, asked);
	}
}

/** As most programs use undici. */
async function ask(client: Client, request: Dispatcher.RequestOptions, asked: Asked): Promise<Buffer> {
	const { statusCode, body: reply } = await client.request(request);
	return taken(asked, statusCode, Buffer.from(await reply.arrayBuffer()));
}

/** Its interface without streams, for programs that count every microsecond. */
function dispatch(client: Client, request: Dispatcher.RequestOptions, asked: Asked): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		client.dispatch(request, new Gathering(resolve, reject, asked, request.signal as AbortSignal | undefined));
	});
}

/** Gathers the reply of one dispatched request. */
class Gathering implements Dispatcher.DispatchHandler {
	private readonly chunks: Buffer[] = [];
	private status = 0;
	constructor(
		private readonly resolve: (reply: Buffer) => void,
		private readonly reject: (error: Error) => void,
		private readonly asked: Asked,
		private readonly signal: AbortSignal | undefined,
	) {}
	onRequestStart(controller: Dispatcher.DispatchController): void {
		const abort = () => controller.abort(new errors.RequestAbortedError());
		if (this.signal?.aborted) abort();
		else this.signal?.addEventListener("abort", abort);
	}
	onResponseStart(_: Dispatcher.DispatchController, status: number): void {
		this.status = status;
	}
	onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
		this.chunks.push(chunk);
	}
	onResponseEnd(): void {
		const reply = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks);
		try {
			this.resolve(taken(this.asked, this.status, reply));
		} catch (error) {
			this.reject(error as Error);
		}
	}
	onResponseError(_: Dispatcher.DispatchController, error: Error): void {
		this.reject(error);
	}
}

const REASONS: { [code: string]: string } = {
	UND_ERR_SOCKET: "connection closed",
	UND_ERR_CLOSED: "connection closed",
	UND_ERR_DESTROYED: "connection closed",
	ECONNRESET: "connection reset",
	EPIPE: "connection reset",
	ECONNREFUSED: "connection refused",
};
