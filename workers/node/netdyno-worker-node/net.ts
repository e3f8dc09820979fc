// Transport node-net: wires echo and stream on the sockets of node:net.
import { connect, createServer } from "node:net";
import { connectOptions, FLOW_FEATURES, FlowClient, FlowServer, listen, type Transport } from "netdyno-kit";
import { oneLoop } from "../loop.js";

export const nodeNet: Transport = {
	info: {
		name: "node-net",
		doc: "TCP on the event loop of Node.js, by node:net.",
		wire: "echo",
		roles: ["server", "client"],
		delivery: "chunks",
		features: FLOW_FEATURES,
		options: [],
	},
	async server(setup) {
		oneLoop(setup);
		const server = new FlowServer(setup);
		server.addresses.push(
			...(await listen(setup, () => createServer({ noDelay: true }, (socket) => server.serve(socket)))),
		);
		return server;
	},
	async client(setup, load) {
		oneLoop(setup);
		return FlowClient.connect(setup, load, (route) => connect({ ...connectOptions(route), noDelay: true }));
	},
};
