import type { LoadPlan, Setup } from "../src/contract.js";

/** A load with its defaults. */
export function plan(of: Partial<LoadPlan>): LoadPlan {
	return {
		connections: 1,
		in_flight: 1,
		rate: 0,
		arrival: "constant",
		trace: false,
		gaps: [],
		phases: [],
		repeat: false,
		think_ns: 0,
		classes: [],
		keys: [],
		active_share: 1,
		fresh: false,
		amount: 0,
		drain_ns: 2e9,
		...of,
	};
}

/** The setup of a client of wire echo. */
export function setupOf(of: {
	load?: LoadPlan;
	down_bytes?: number;
	stream?: Setup["exchange"]["stream"];
	up_bytes?: number;
}): Setup {
	const bytes = of.down_bytes ?? 1;
	return {
		trial: "test",
		transport: "test",
		wire: "",
		role: "client",
		seed: 1n,
		listen: "",
		listeners: 1,
		allow: [],
		peers: [],
		sources: [],
		threads: 0,
		timeline: false,
		options: {},
		tls: null,
		asked: [],
		exchange: {
			up_bytes: of.up_bytes ?? bytes,
			down_bytes: bytes,
			codec: "",
			stream: of.stream ?? "",
			chunk_bytes: 0,
			up_sizes: [],
			down_sizes: [],
			message: null,
		},
		work: null,
		load: of.load ?? plan({}),
	};
}
