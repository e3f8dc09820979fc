// Transport node-http1: servers of node:http, clients of undici.
import { createServer } from "node:http";
import { createServer as createSecure } from "node:https";
import { CallClient, type Transport } from "netdyno-kit";
import { Content } from "../content.js";
import { oneAtATime, oneLoop } from "../loop.js";
import { Asks, askOptions } from "./ask.js";
import { HTTP_FEATURES, HttpServer } from "./http_server.js";
import { UndiciCalls } from "./undici_client.js";

export const nodeHttp1: Transport = {
	info: {
		name: "node-http1",
		doc: "HTTP/1.1: servers of node:http, clients of undici.",
		wire: "http/1.1",
		roles: ["server", "client"],
		delivery: "message",
		codecs: ["bytes", "json"],
		features: HTTP_FEATURES,
		options: [
			{
				name: "api",
				type: "choice",
				default: "request",
				choices: ["request", "dispatch"],
				roles: ["client"],
				grid: ["request", "dispatch"],
				as: { client: "client.{value}()" },
				doc: "undici's request with the reply's body as a stream that is read whole, or dispatch, whose handler gets the chunks",
			},
			...askOptions,
		],
	},
	async server(setup) {
		oneLoop(setup);
		// Idle connections stay open: a trial needs them.
		const options = { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0, noDelay: true };
		const { tls } = setup;
		return HttpServer.start(setup, (handle) =>
			tls === null
				? createServer(options, handle)
				: createSecure({ ...options, key: tls.key, cert: tls.certificate, minVersion: "TLSv1.3" }, handle),
		);
	},
	async client(setup, load) {
		oneLoop(setup);
		oneAtATime(setup, "HTTP/1.1 answers one request at a time");
		const content = new Content(setup);
		return CallClient.connect(setup, load, new UndiciCalls(setup, new Asks(setup, content)), content.sizes(load));
	},
};
