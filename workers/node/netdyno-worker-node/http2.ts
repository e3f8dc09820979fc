// Transport node-http2: both ends of wire h2c on node:http2.
import {
	type ClientHttp2Session,
	type ClientHttp2Stream,
	connect,
	constants,
	createSecureServer,
	createServer,
} from "node:http2";
import {
	addressText,
	CallClient,
	type Calls,
	connected,
	connectOptions,
	DOWN_HEADER,
	Failure,
	lossOf,
	type Route,
	type Setup,
	type Sizes,
	type Slot,
	type Transport,
} from "netdyno-kit";
import { Content } from "../content.js";
import { oneLoop } from "../loop.js";
import { askOptions } from "./ask.js";
import { HttpServer } from "./http_server.js";

/** How long a connection's first exchange may take. */
const FIRST_MS = 10_000;

class Http2Calls implements Calls {
	private readonly sessions: (ClientHttp2Session | null)[] = [];
	private readonly routes: Route[] = [];
	private readonly headers: { [name: string]: string | number };
	private again = 0;

	constructor(
		private readonly setup: Setup,
		private readonly content: Content,
	) {
		const path = setup.options.path as string;
		const posts = content.structured || content.up.bytes > 0;
		this.headers = { ":path": path, ":method": posts ? "POST" : "GET" };
		if (posts) this.headers["content-type"] = content.mediaType;
	}

	async open(i: number, route: Route): Promise<void> {
		this.routes[i] = route;
		const session = await this.dial(i);
		const sizes = this.content.draws.of(i);
		const first = await this.exchange(session, sizes, FIRST_MS);
		if (this.setup.options.verify === "content") this.content.verify(first, i);
		else this.content.accept(first, sizes);
	}

	async call(i: number, slot: Slot): Promise<number> {
		let session = this.sessions[i] ?? null;
		if (session === null || session.closed || session.destroyed) {
			session = await this.dial(i); // the server has left the connection, or broken it
			this.again++;
		}
		return this.content.accept(await this.exchange(session, slot), slot);
	}

	failure(error: unknown): Failure {
		const { code = "", message = String(error) } = (error ?? {}) as NodeJS.ErrnoException;
		if (code === "ERR_HTTP2_STREAM_ERROR") return new Failure("peer", message, "stream reset");
		if (code.startsWith("ERR_HTTP2")) return new Failure("peer", message, "connection closed");
		if (code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS")) return new Failure("peer", message, "TLS failed");
		return code.startsWith("E") ? new Failure("peer", message, lossOf(error as Error)) : new Failure("bug", message);
	}

	connections(): number {
		return this.sessions.reduce((n, s) => n + (s === null || s.closed || s.destroyed ? 0 : 1), 0);
	}

	redialled(): number {
		return this.again;
	}

	private async dial(i: number): Promise<ClientHttp2Session> {
		const route = this.routes[i] as Route;
		const { tls, options } = this.setup;
		const window = options.window as number;
		const session = connect(`${tls === null ? "http" : "https"}://${addressText(route.peer)}`, {
			...connectOptions(route),
			...(tls === null ? {} : { ca: tls.authorities, minVersion: "TLSv1.3" as const }),
			settings: { enablePush: false, ...(window > 0 ? { initialWindowSize: window } : {}) },
		});
		await connected(session);
		if (window > 0) session.setLocalWindowSize(window);
		session.on("error", () => {}); // its streams have the error too
		this.sessions[i] = session;
		return session;
	}

	private exchange(session: ClientHttp2Session, sizes: Sizes, within = 0): Promise<Buffer> {
		return new Promise((resolve, reject) => {
			const asks = this.content.draws.downVaries;
			const stream = session.request(asks ? { ...this.headers, [DOWN_HEADER]: String(sizes.down) } : this.headers);
			const chunks: Buffer[] = [];
			let status = 0;
			stream.on("response", (headers) => {
				status = Number(headers[":status"]);
			});
			stream.on("data", (chunk: Buffer) => chunks.push(chunk));
			stream.on("error", reject);
			stream.on("close", () => settle(stream, status, chunks, resolve, reject));
			if (within > 0) stream.setTimeout(within, () => reject(new Failure("timeout", "the server said nothing more")));
			if (this.headers[":method"] === "POST") stream.end(this.content.request(sizes));
			else stream.end();
		});
	}
}

function settle(
	stream: ClientHttp2Stream,
	status: number,
	chunks: Buffer[],
	resolve: (reply: Buffer) => void,
	reject: (error: Error) => void,
): void {
	const reply = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
	const said = () => reply.subarray(0, 200).toString("utf8").trim();
	if (stream.rstCode !== constants.NGHTTP2_NO_ERROR)
		reject(new Failure("peer", `the stream was reset (${stream.rstCode})`, "stream reset"));
	else if (status === 0)
		reject(new Failure("peer", "the connection was closed before a reply came", "connection closed"));
	else if (status !== 200)
		reject(new Failure("invalid", `the server answered ${status}: ${said()}`, `status ${status}`));
	else resolve(reply);
}

export const nodeHttp2: Transport = {
	info: {
		name: "node-http2",
		doc: "HTTP/2 by node:http2, servers by its interface of requests and responses.",
		wire: "h2c",
		roles: ["server", "client"],
		delivery: "message",
		codecs: ["bytes", "json"],
		features: ["tls", "sizes", "arrivals"],
		options: [
			{
				name: "window",
				type: "bytes",
				unit: "B",
				default: 0,
				min: 0,
				max: 2 ** 31 - 1,
				grid: ["0", "1MiB"],
				as: { server: "initialWindowSize: {value}", client: "initialWindowSize: {value}" },
				doc: "flow-control window of each stream, and of the connection; 0 leaves Node's, 65,535 bytes",
			},
			...askOptions,
		],
	},
	async server(setup) {
		oneLoop(setup);
		const window = setup.options.window as number;
		return HttpServer.start(setup, (handle) => {
			const settings = { maxConcurrentStreams: 2 ** 31 - 1, ...(window > 0 ? { initialWindowSize: window } : {}) };
			const { tls } = setup;
			const server =
				tls === null
					? createServer({ settings }, handle as never)
					: createSecureServer(
							{ settings, key: tls.key, cert: tls.certificate, minVersion: "TLSv1.3" },
							handle as never,
						);
			server.on("session", (session) => {
				if (window > 0) session.setLocalWindowSize(window);
			});
			server.on("sessionError", () => {}); // its clients count that
			return server;
		});
	},
	async client(setup, load) {
		oneLoop(setup);
		const content = new Content(setup);
		return CallClient.connect(setup, load, new Http2Calls(setup, content), content.sizes(load));
	},
};
