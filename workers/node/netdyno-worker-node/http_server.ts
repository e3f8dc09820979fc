// The server of wire http/1.1 on node:http.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecure } from "node:https";
import type { Server as NetServer } from "node:net";
import { type Counts, listen, type Ready, type Server, type Setup } from "netdyno-kit";
import { Content } from "../content.js";
import { Tally } from "../tally.js";

/** A refused request is read up to here, in bytes beyond its size. */
const REFUSED_READ = 64 << 10;

export class HttpServer implements Server {
	private readonly tally = new Tally();
	private readonly headers: { [name: string]: string | number };

	private constructor(
		private readonly content: Content,
		private readonly facts: Ready,
	) {
		this.headers = { "Content-Type": content.mediaType };
	}

	static async start(setup: Setup): Promise<HttpServer> {
		const content = new Content(setup);
		const server = new HttpServer(content, content.sizes());
		server.facts.addresses = await listen(setup, () => server.make(setup));
		return server;
	}

	ready(): Ready {
		return this.facts;
	}

	counts(): Counts {
		return this.tally.counts();
	}

	/** Idle connections stay open: a trial needs them. */
	private make(setup: Setup): NetServer {
		const options = { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0, noDelay: true };
		const handle = (request: IncomingMessage, response: ServerResponse) => this.handle(request, response);
		const { tls } = setup;
		const server =
			tls === null
				? createServer(options, handle)
				: createSecure({ ...options, key: tls.key, cert: tls.certificate, minVersion: "TLSv1.3" }, handle);
		server.on("connection", (socket) => this.tally.open(socket));
		return server;
	}

	private handle(request: IncomingMessage, response: ServerResponse): void {
		if (request.method !== "GET" && request.method !== "POST") {
			request.resume();
			response
				.writeHead(405, { Allow: "GET, POST" })
				.end(`method ${request.method} is not served, expected GET or POST\n`);
			return;
		}
		const most = this.content.up.bytes + REFUSED_READ;
		const chunks: Buffer[] = [];
		let bytes = 0;
		request.on("data", (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes > most) return request.destroy();
			chunks.push(chunk);
		});
		request.on("end", () => this.answer(response, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
	}

	private answer(response: ServerResponse, request: Buffer): void {
		let reply: Buffer;
		try {
			reply = this.content.respond(request);
		} catch (error) {
			this.tally.refused++;
			response.writeHead(400, { "Content-Type": "text/plain" }).end(`${(error as Error).message}\n`);
			return;
		}
		response.writeHead(200, { ...this.headers, "Content-Length": reply.length });
		response.end(reply, () => this.tally.served(request.length, reply.length));
	}
}
