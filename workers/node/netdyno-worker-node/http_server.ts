// The server of wires http/1.1 and h2c on node:http and node:http2, whose requests and responses are alike.
import { type IncomingMessage, ServerResponse } from "node:http";
import type { Server as NetServer } from "node:net";
import {
	CALL_FEATURES,
	type Counts,
	DOWN_HEADER,
	listen,
	type Ready,
	type Server,
	Service,
	type Setup,
} from "netdyno-kit";
import { Content } from "../content.js";
import { Tally } from "../tally.js";

/** A refused request is read up to here, in bytes beyond its size. */
const REFUSED_READ = 64 << 10;

/** Those of both transports of HTTP. */
export const HTTP_FEATURES = [...CALL_FEATURES, "fresh"];

/** Of node:http2 both are its own, which are alike. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export class HttpServer implements Server {
	private readonly tally = new Tally();
	private constructor(
		private readonly content: Content,
		private readonly facts: Ready,
		private readonly service: Service | null,
	) {}

	/** make makes the library's server, whose requests go to handle. */
	static async start(setup: Setup, make: (handle: Handle) => NetServer): Promise<HttpServer> {
		const content = new Content(setup);
		const server = new HttpServer(content, content.sizes(), Service.of(setup));
		server.facts.addresses = await listen(setup, () => {
			const made = make((request, response) => server.handle(request, response));
			made.on("connection", (socket) => server.tally.open(socket));
			return made;
		});
		return server;
	}

	ready(): Ready {
		return this.facts;
	}

	counts(): Counts {
		return this.tally.counts();
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
		request.on("end", () => {
			const whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
			const answer = () => this.answer(response, whole, request.headers[DOWN_HEADER] as string | undefined);
			if (this.service === null) answer();
			else this.service.serve(answer);
		});
	}

	private answer(response: ServerResponse, request: Buffer, asked: string | undefined): void {
		let reply: Buffer;
		try {
			reply = this.content.respond(request, asked);
		} catch (error) {
			this.tally.refused++;
			response.writeHead(400, { "Content-Type": "text/plain" }).end(`${(error as Error).message}\n`);
			return;
		}
		response.writeHead(200, { "Content-Type": this.content.mediaType, "Content-Length": reply.length });
		const served = () => this.tally.served(request.length, reply.length);
		const http1: boolean = response instanceof ServerResponse;
		if (!http1) return void response.end(reply, served);
		// Of node:http the socket tells whether all was handed to the kernel at once, which costs less than being called.
		response.end(reply);
		if (response.writableFinished || response.socket?.writableLength === 0) served();
		else response.once("finish", served);
	}
}
