// The client of wires echo and stream on any library that has streams: the kit verifies, runs the load and counts.
import type { Duplex } from "node:stream";
import { lossOf, type Route } from "./address.js";
import { Agenda } from "./agenda.js";
import { now } from "./clock.js";
import { connected, openAll, verify } from "./connect.js";
import { Failure, type Ready, type Sent, type Setup } from "./contract.js";
import { EchoClient, EchoPayload, EchoVerification } from "./echo.js";
import { type ClientFlow, Flights, type Verification } from "./flow.js";
import type { Load } from "./load.js";
import type { Pump } from "./pump.js";
import { StreamClient, StreamPlan, StreamVerification } from "./stream.js";
import type { Client } from "./transport.js";

interface Connection {
	pump: Pump;
	flow: ClientFlow;
}

/** What a client of the trial's wire sends, by connection. */
interface Work {
	verification(connection: number): Verification;
	flow(flights: Flights): ClientFlow;
}

function workOf(setup: Setup): Work {
	if (setup.exchange.stream !== "") {
		const plan = new StreamPlan(setup);
		return { verification: () => new StreamVerification(plan), flow: (flights) => new StreamClient(plan, flights) };
	}
	const payload = new EchoPayload(setup);
	return {
		verification: (connection) => new EchoVerification(payload.stamped(connection)),
		flow: (flights) => new EchoClient(payload, flights),
	};
}

/** A client of wire echo or stream. */
export class FlowClient implements Client {
	private readonly agenda: Agenda;
	private readonly all: (Connection | null)[] = [];
	private open = 0;
	private verified = 0;
	private lastLoss = "";

	private constructor(
		private readonly setup: Setup,
		load: Load,
	) {
		this.agenda = new Agenda(load, (slot) => {
			const connection = this.all[slot.connection];
			if (connection === null || connection === undefined) {
				slot.fail("peer", now(), "connection lost");
				return this.agenda.letGo(1);
			}
			connection.flow.send(slot);
			connection.pump.push();
		});
	}

	/** Opens the connections by dial, which returns a socket that is being connected, and verifies them. */
	static async connect(setup: Setup, load: Load, dial: (route: Route) => Duplex): Promise<FlowClient> {
		const work = workOf(setup);
		const client = new FlowClient(setup, load);
		await openAll(setup, async (i, route) => {
			const socket = await connected(dial(route));
			const pump = await verify(socket, work.verification(i), setup.exchange.down_bytes);
			const flow = work.flow(new Flights(i, load.slotsOf(i), client.agenda));
			pump.become(flow, (why) => client.lose(i, why));
			client.all[i] = { pump, flow };
			client.open++;
			client.verified++;
		});
		return client;
	}

	ready(): Ready {
		return { connections: this.setup.load.connections, verified: this.verified };
	}

	connections(): number {
		return this.open;
	}

	opened(): Sent {
		return { verify: this.verified };
	}

	async run(): Promise<void> {
		await this.agenda.run();
		if (this.open > 0) return;
		throw new Failure(
			"peer",
			`no connection is left of ${this.setup.load.connections}; the last one: ${this.lastLoss}`,
		);
	}

	ended(): void {
		this.agenda.ended();
	}

	close(): void {
		this.agenda.close();
	}

	private lose(i: number, why: Error | null): void {
		const connection = this.all[i];
		if (connection === null || connection === undefined) return;
		this.all[i] = null;
		this.open--;
		const kind = why instanceof Failure ? why.kind : "peer";
		this.lastLoss = why instanceof Failure ? why.message : lossOf(why);
		connection.flow.abandon(kind, now(), why instanceof Failure ? (why.reason ?? why.message) : this.lastLoss);
	}
}
