// Transport node-http1: servers of node:http, clients of undici.
import { CallClient, type Option, type Transport } from "netdyno-kit";
import { Content } from "../content.js";
import { oneLoop } from "../loop.js";
import { HttpServer } from "./http_server.js";
import { UndiciCalls } from "./undici_client.js";

/** The options of every HTTP client here. */
export const askOptions: Option[] = [
	{
		name: "path",
		type: "text",
		default: "/exchange",
		roles: ["client"],
		doc: "what the client asks for; our servers answer any path, another's may not",
	},
	{
		name: "verify",
		type: "choice",
		default: "content",
		choices: ["content", "length"],
		roles: ["client"],
		doc: "what is compared before ready: the content that our servers send, or only its length, for a server of yours",
	},
];

export const nodeHttp1: Transport = {
	info: {
		name: "node-http1",
		doc: "HTTP/1.1: servers of node:http, clients of undici.",
		wire: "http/1.1",
		roles: ["server", "client"],
		delivery: "message",
		codecs: ["bytes", "json"],
		features: ["tls", "fresh"],
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
		return HttpServer.start(setup);
	},
	async client(setup, load) {
		oneLoop(setup);
		const content = new Content(setup);
		return CallClient.connect(setup, load, new UndiciCalls(setup, content), content.sizes(load));
	},
};
