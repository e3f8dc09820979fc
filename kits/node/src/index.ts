// netdyno-kit: what a worker of netdyno in Node.js needs. README.md shows a whole one.
export { addressText, connectOptions, lossOf, type Route, routes } from "./address.js";
export { Agenda } from "./agenda.js";
export { CallClient, type Calls } from "./call_client.js";
export { now } from "./clock.js";
export { connected, openAll } from "./connect.js";
export * from "./contract.js";
export { askedDown, DOWN_HEADER, type Drawn, Draws } from "./draws.js";
export { FlowClient } from "./flow_client.js";
export { FlowServer } from "./flow_server.js";
export { Histogram } from "./histogram.js";
export { admits, listen } from "./listen.js";
export { LET_GO, Load, Slot } from "./load.js";
export { runWorker } from "./machine.js";
export { crc32c, randomContent } from "./random.js";
export { Service } from "./service.js";
export { parseSetup } from "./setup.js";
export {
	CALL_FEATURES,
	type Client,
	FLOW_FEATURES,
	type Server,
	type Transport,
	type WorkerInfo,
} from "./transport.js";
