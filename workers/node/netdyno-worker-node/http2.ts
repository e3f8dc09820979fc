// Transport node-http2: both ends of wire h2c on node:http2.
import {
	type ClientHttp2Session,
	type ClientHttp2Stream,
	connect,
	constants,
	createSecureServer,
	createServer,
	type OutgoingHttpHeaders,
} from "node:http2";
import {
	addressText,
	CallClient,
	type Calls,
	connected,
	connectOptions,
	DOWN_HEADER,
	type Drawn,
	Failure,
	lossOf,
	type Route,
	type Setup,
	type Slot,
	type Transport,
} from "netdyno-kit";
import { Content } from "../content.js";
import { FRESH, oneAtATime, oneLoop } from "../loop.js";
import { type Asked, Asks, askOptions, pathOf, taken } from "./ask.js";
import { HTTP_FEATURES, HttpServer } from "./http_server.js";

/** How long a connection's first exchange may take. */
const FIRST_MS = 10_000;

class Http2Calls implements Calls {
	private readonly sessions: (ClientHttp2Session | null)[] = [];
	private readonly routes: Route[] = [];
	private again = 0;
	/** Headers of requests that are all alike. */
	private readonly known = new Map<Asked, OutgoingHttpHeaders>();
	/** By slot, of calls that have a deadline. */
	private readonly streams: (ClientHttp2Stream | undefined)[] = [];

	constructor(
		private readonly setup: Setup,
		private readonly asks: Asks,
	) {}

	async open(i: number, route: Route): Promise<void> {
		this.routes[i] = route;
		const session = await this.dial(i);
		await this.asks.first(i, async (x) => {
			const [stream, reply] = this.exchange(session, x);
			stream.setTimeout(FIRST_MS, () => stream.destroy(new Failure("timeout", "the server said nothing more")));
			return reply;
		});
	}

	async call(i: number, slot: Slot): Promise<number> {
		let session = this.sessions[i] ?? null;
		if (this.setup.load.fresh) {
			session?.close();
			session = await this.dial(i);
		} else if (session === null || session.closed || session.destroyed) {
			session = await this.dial(i); // the server has left the connection, or broken it
			this.again++;
		}
		const [stream, reply] = this.exchange(session, slot);
		this.streams[slot.number] = stream;
		return this.asks.content.accept(await reply, slot);
	}

	abandon(_: number, slot: Slot): void {
		this.streams[slot.number]?.close(constants.NGHTTP2_CANCEL);
	}

	failure(error: unknown): Failure {
		const { code = "", message = String(error) } = (error ?? {}) as NodeJS.ErrnoException;
		if (code === "ERR_HTTP2_STREAM_ERROR") return new Failure("peer", message, "stream reset");
		if (code.startsWith("ERR_HTTP2")) return new Failure("peer", message, "connection closed");
		if (code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS")) return new Failure("peer", message, "TLS failed");
		return code.startsWith("E") ? new Failure("peer", message, lossOf(error as Error)) : new Failure("bug", message);
	}

	connections(): number {
		const open = this.sessions.reduce((n, s) => n + (s === null || s.closed || s.destroyed ? 0 : 1), 0);
		return this.setup.load.fresh ? Math.max(open, 1) : open;
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

	private headers(asked: Asked, x: Drawn): OutgoingHttpHeaders {
		const { content } = this.asks;
		const same = asked.pieces.length === 1 && !content.draws.asks;
		const known = same ? this.known.get(asked) : undefined;
		if (known !== undefined) return known;
		const headers: OutgoingHttpHeaders = { ":path": pathOf(asked, x), ":method": asked.method };
		if (asked.sends) headers["content-type"] = content.mediaType;
		if (content.draws.asks) headers[DOWN_HEADER] = String(x.down);
		if (same) this.known.set(asked, headers);
		return headers;
	}

	private exchange(session: ClientHttp2Session, x: Drawn): [ClientHttp2Stream, Promise<Buffer>] {
		const { content } = this.asks;
		const asked = this.asks.of(x);
		const stream = session.request(this.headers(asked, x));
		const reply = new Promise<Buffer>((resolve, reject) => {
			const chunks: Buffer[] = [];
			let status = 0;
			stream.on("response", (found) => {
				status = Number(found[":status"]);
			});
			stream.on("data", (chunk: Buffer) => chunks.push(chunk));
			stream.on("error", reject);
			stream.on("close", () => {
				try {
					resolve(wholeReply(stream, asked, status, chunks));
				} catch (error) {
					reject(error as Error);
				}
			});
		});
		if (asked.sends) stream.end(content.request(x));
		else stream.end();
		return [stream, reply];
	}
}

function wholeReply({ rstCode }: ClientHttp2Stream, asked: Asked, status: number, chunks: Buffer[]): Buffer {
	if (rstCode !== constants.NGHTTP2_NO_ERROR)
		throw new Failure("peer", `the stream was reset (${rstCode})`, "stream reset");
	if (status === 0) throw new Failure("peer", "the connection was closed before a reply came", "connection closed");
	return taken(asked, status, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
}

export const nodeHttp2: Transport = {
	info: {
		name: "node-http2",
		doc: "HTTP/2 by node:http2, servers by its interface of requests and responses.",
		wire: "h2c",
		roles: ["server", "client"],
		delivery: "message",
		codecs: ["bytes", "json"],
		features: HTTP_FEATURES,
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
		if (setup.load.fresh) oneAtATime(setup, FRESH);
		const content = new Content(setup);
		return CallClient.connect(setup, load, new Http2Calls(setup, new Asks(setup, content)), content.sizes(load));
	},
};
