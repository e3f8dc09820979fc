// The client of wire http/1.1 on undici: a Client with one connection for each connection of the trial.
import {
	addressText,
	type Calls,
	DOWN_HEADER,
	Failure,
	type Route,
	type Setup,
	type Sizes,
	type Slot,
} from "netdyno-kit";
import { Client, type Dispatcher, errors } from "undici";
import type { Content } from "../content.js";

const NEVER_MS = 2 ** 31 - 1;

export class UndiciCalls implements Calls {
	private readonly clients: Client[] = [];
	private open_ = 0;
	private made = 0;
	private readonly method: "GET" | "POST";
	private readonly headers: string[];
	private readonly dispatches: boolean;

	constructor(
		private readonly setup: Setup,
		private readonly content: Content,
	) {
		const posts = content.structured || content.up.bytes > 0;
		this.method = posts ? "POST" : "GET";
		this.headers = posts ? ["content-type", content.mediaType] : [];
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
		const sizes = this.content.draws.of(i);
		const reply = await this.exchange(client, sizes);
		if (this.setup.options.verify === "content") this.content.verify(reply, i);
		else this.content.accept(reply, sizes);
	}

	async call(i: number, slot: Slot): Promise<number> {
		return this.content.accept(await this.exchange(this.clients[i] as Client, slot), slot);
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

	private exchange(client: Client, sizes: Sizes): Promise<Buffer> {
		const { content, method, headers } = this;
		// Without object spread, which made V8 promote some 600 bytes of each exchange.
		const request: Dispatcher.RequestOptions = {
			path: this.setup.options.path as string,
			method,
			headers: content.draws.downVaries ? [...headers, DOWN_HEADER, String(sizes.down)] : headers,
			body: method === "GET" ? null : content.request(sizes),
			reset: this.setup.load.fresh,
		};
		return this.dispatches ? dispatch(client, request) : ask(client, request);
	}
}

/** As most programs use undici. */
async function ask(client: Client, request: Dispatcher.RequestOptions): Promise<Buffer> {
	const { statusCode, body: reply } = await client.request(request);
	const bytes = Buffer.from(await reply.arrayBuffer());
	if (statusCode !== 200) throw wrongStatus(statusCode, bytes);
	return bytes;
}

/** Its interface without streams, for programs that count every microsecond. */
function dispatch(client: Client, request: Dispatcher.RequestOptions): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		client.dispatch(request, new Gathering(resolve, reject));
	});
}

/** Gathers the reply of one dispatched request. */
class Gathering implements Dispatcher.DispatchHandler {
	private readonly chunks: Buffer[] = [];
	private status = 0;
	constructor(
		private readonly resolve: (reply: Buffer) => void,
		private readonly reject: (error: Error) => void,
	) {}
	onRequestStart(): void {}
	onResponseStart(_: Dispatcher.DispatchController, status: number): void {
		this.status = status;
	}
	onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
		this.chunks.push(chunk);
	}
	onResponseEnd(): void {
		const reply = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks);
		if (this.status === 200) this.resolve(reply);
		else this.reject(wrongStatus(this.status, reply));
	}
	onResponseError(_: Dispatcher.DispatchController, error: Error): void {
		this.reject(error);
	}
}

function wrongStatus(status: number, body: Buffer): Failure {
	const said = body.subarray(0, 200).toString("utf8").trim();
	return new Failure("invalid", `the server answered ${status}: ${said}`, `status ${status}`);
}

const REASONS: { [code: string]: string } = {
	UND_ERR_SOCKET: "connection closed",
	UND_ERR_CLOSED: "connection closed",
	UND_ERR_DESTROYED: "connection closed",
	ECONNRESET: "connection reset",
	EPIPE: "connection reset",
	ECONNREFUSED: "connection refused",
};
