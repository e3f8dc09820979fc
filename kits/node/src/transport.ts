// What a transport is to the kit: a description, and how its two ends are made.
import type { Counts, Ready, Sent, Setup, TransportInfo } from "./contract.js";
import type { Load } from "./load.js";

/** A listening end. */
export interface Server {
	ready(): Ready;
	/** Sums since it listens. */
	counts(): Counts;
}

/** A connected end, each of whose connections has made a verified exchange. */
export interface Client {
	ready(): Ready;
	/** How many connections are open. */
	connections(): number;
	/** How many connections were made again, of a protocol in which either end may close them. */
	redialled?(): number;
	/** The requests of the verified exchanges. */
	opened(): Sent;
	/** Issues the load until every slot is let go, or close is called. Rejects with a Failure when no connection is left. */
	run(): Promise<void>;
	/** The load has ended: nothing that is due later begins. */
	ended(): void;
	/** Ends the run soon, and leaves what is in flight unfinished. */
	close(): void;
}

/** One named way to move data. Both functions reject with a Failure. Options are complete and checked. */
export interface Transport {
	info: TransportInfo;
	server?(setup: Setup): Promise<Server>;
	client?(setup: Setup, load: Load): Promise<Client>;
}

/** The worker: its name and version, and the libraries that it links. */
export interface WorkerInfo {
	name: string;
	version: string;
	libraries: { name: string; version: string }[];
}

/** What the kit brings to a client of calls, and to its server by a Service. */
export const CALL_FEATURES = ["tls", "sizes", "arrivals", "mix", "deadline", "think", "work-cpu", "work-sleep"];
/** What it brings to wires echo and stream. */
export const FLOW_FEATURES = [
	...["sizes", "arrivals", "mix", "think", "work-cpu", "work-sleep"],
	...["stream-up", "stream-down", "stream-both"],
];
