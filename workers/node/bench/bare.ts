// What a programmer writes who wants nothing but the exchanges: the measure of what the kit adds to each library.
//
//	bare server PORT BYTES LIBRARY
//	bare client PORT CONNECTIONS BYTES SECONDS LIBRARY    prints {"exchanges":N} in the end
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { credentials, Client as GrpcClient, Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import { Client } from "undici";
import { type Block, decodeBlock, encodeBlock } from "../netdyno-worker-grpc-js/messages.js";

const BYTES = Number(process.argv[process.argv[2] === "server" ? 4 : 5]);
const body = Buffer.alloc(BYTES, "x");
const path = "/netdyno.v1.Exchange/Unary";

const servers: { [library: string]: (port: number) => void } = {
	net(port) {
		const server = net.createServer({ noDelay: true }, (socket) => {
			socket.on("data", (bytes) => socket.write(bytes));
			socket.on("error", () => {});
		});
		server.listen(port, "127.0.0.1");
	},
	http1(port) {
		const server = http.createServer({ keepAliveTimeout: 0 }, (request, response) => {
			const chunks: Buffer[] = [];
			request.on("data", (chunk: Buffer) => chunks.push(chunk));
			request.on("end", () => {
				Buffer.concat(chunks);
				response.writeHead(200, { "Content-Type": "application/octet-stream", "Content-Length": BYTES });
				response.end(body);
			});
		});
		server.listen(port, "127.0.0.1");
	},
	http2(port) {
		const server = http2.createServer({ settings: { maxConcurrentStreams: 2 ** 31 - 1 } }, (request, response) => {
			const chunks: Buffer[] = [];
			request.on("data", (chunk: Buffer) => chunks.push(chunk));
			request.on("end", () => {
				Buffer.concat(chunks);
				response.writeHead(200, { "Content-Type": "application/octet-stream", "Content-Length": BYTES });
				response.end(body);
			});
		});
		server.listen(port, "127.0.0.1");
	},
	grpc(port) {
		const server = new Server();
		const definition: ServiceDefinition = {
			Unary: {
				path,
				requestStream: false,
				responseStream: false,
				requestSerialize: encodeBlock as (m: object) => Buffer,
				requestDeserialize: decodeBlock,
				responseSerialize: encodeBlock as (m: object) => Buffer,
				responseDeserialize: decodeBlock,
			},
		};
		server.addService(definition, {
			Unary: (_: unknown, callback: (e: null, reply: Block) => void) => callback(null, { content: body }),
		});
		server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), () => {});
	},
};

/** Each begins an endless loop on one connection, and counts in done. */
const clients: { [library: string]: (port: number, done: () => void) => void } = {
	net(port, done) {
		let have = 0;
		const socket = net.connect({ port, host: "127.0.0.1", noDelay: true }, () => socket.write(body));
		socket.on("data", (bytes) => {
			have += bytes.length;
			if (have < BYTES) return;
			have -= BYTES;
			done();
			socket.write(body);
		});
	},
	async http1(port, done) {
		const client = new Client(`http://127.0.0.1:${port}`, { pipelining: 1 });
		const headers = { "content-type": "application/octet-stream" };
		for (;;) {
			const reply = await client.request({ path: "/exchange", method: "POST", headers, body });
			await reply.body.arrayBuffer();
			done();
		}
	},
	http2(port, done) {
		const session = http2.connect(`http://127.0.0.1:${port}`, { settings: { enablePush: false } });
		const headers = { ":path": "/exchange", ":method": "POST", "content-type": "application/octet-stream" };
		const ask = () => {
			const stream = session.request(headers);
			const chunks: Buffer[] = [];
			stream.on("data", (chunk: Buffer) => chunks.push(chunk));
			stream.on("end", () => {
				Buffer.concat(chunks);
				done();
				ask();
			});
			stream.end(body);
		};
		ask();
	},
	grpc(port, done) {
		const client = new GrpcClient(`127.0.0.1:${port}`, credentials.createInsecure(), {
			"grpc.use_local_subchannel_pool": 1,
		});
		const call = () =>
			client.makeUnaryRequest<Block, Block>(path, encodeBlock, decodeBlock, { content: body }, (error) => {
				if (error) return; // the server has ended
				done();
				call();
			});
		call();
	},
};

const [role, port, ...rest] = process.argv.slice(2);
const library = rest[rest.length - 1] ?? "";
if (role === "server") {
	servers[library]?.(Number(port));
} else {
	const [connections, , seconds] = rest.map(Number);
	let n = 0;
	for (let i = 0; i < (connections ?? 0); i++) clients[library]?.(Number(port), () => n++);
	setTimeout(
		() => {
			console.log(JSON.stringify({ exchanges: n }));
			process.exit(0);
		},
		(seconds ?? 0) * 1000,
	);
}
