// Transport grpc-js: both ends of service netdyno.v1.Exchange on @grpc/grpc-js.
import type { ChannelOptions } from "@grpc/grpc-js";
import { CALL_FEATURES, CallClient, Failure, type Setup, type Transport } from "netdyno-kit";
import { FRESH, oneAtATime, oneLoop } from "../loop.js";
import { ExchangeCalls } from "./client.js";
import { Payload } from "./messages.js";
import { ExchangeServer } from "./server.js";

/** Every client has a connection of its own, and messages may be as large as the trial's are. */
export function channelOptions(setup: Setup): ChannelOptions {
	const window = (setup.options.window as number | undefined) ?? 0;
	return {
		"grpc.use_local_subchannel_pool": 1,
		"grpc.max_receive_message_length": -1,
		"grpc.max_send_message_length": -1,
		"grpc.max_concurrent_streams": 2 ** 31 - 1,
		...(window > 0 ? { "grpc-node.flow_control_window": window } : {}),
	};
}

function check(setup: Setup): void {
	oneLoop(setup);
	const { stream, codec, chunk_bytes } = setup.exchange;
	if (stream !== "" && (codec === "proto" || setup.options.mode === "stream")) {
		throw new Failure("unsupported", "exchange.stream goes with codec bytes and mode=unary: chunks are cut from bytes");
	}
	const drawn = setup.exchange.up_sizes.length + setup.exchange.down_sizes.length + setup.load.classes.length > 0;
	if (drawn && (stream !== "" || setup.options.mode === "stream")) {
		throw new Failure(
			"unsupported",
			"sizes that vary go with mode=unary and no exchange.stream: metadata belongs to a call",
		);
	}
	if (setup.load.fresh) oneAtATime(setup, FRESH);
	if (setup.load.fresh && setup.options.mode === "stream")
		throw new Failure("unsupported", "load.fresh goes with mode=unary: a stream stays open");
	if (chunk_bytes < 0 || chunk_bytes > 64 << 20)
		throw new Failure("setup", `exchange.chunk_bytes is ${chunk_bytes}, expected 0 to ${64 << 20}`);
}

export const grpcJs: Transport = {
	info: {
		name: "grpc-js",
		doc: "gRPC by @grpc/grpc-js and protobufjs: a connection is one channel, exchanges in flight are concurrent RPCs.",
		wire: "grpc:netdyno.v1",
		roles: ["server", "client"],
		delivery: "message",
		codecs: ["bytes", "proto"],
		features: [...CALL_FEATURES, "fresh", "stream-up", "stream-down", "stream-both"],
		options: [
			{
				name: "mode",
				type: "choice",
				default: "unary",
				choices: ["unary", "stream"],
				roles: ["client"],
				doc: "an RPC for each exchange, or one bidirectional stream for each slot that carries one message each way",
			},
			{
				name: "window",
				type: "bytes",
				unit: "B",
				default: 0,
				min: 0,
				max: 2 ** 31 - 1,
				roles: ["client"],
				grid: ["0", "1MiB"],
				as: { client: '"grpc-node.flow_control_window": {value}' },
				doc: "flow-control window of HTTP/2 for a stream and a connection; 0 leaves Node's, 65,535 bytes",
			},
		],
	},
	async server(setup) {
		check(setup);
		return ExchangeServer.start(setup);
	},
	async client(setup, load) {
		check(setup);
		const payload = new Payload(setup);
		return CallClient.connect(setup, load, new ExchangeCalls(setup, payload), payload.content.sizes(load));
	},
};
