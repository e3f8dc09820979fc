// The server of wires echo and stream on any library that has streams: the kit answers and counts.
import type { Duplex } from "node:stream";
import type { Counts, Setup } from "./contract.js";
import { checkEcho } from "./echo.js";
import { Pump } from "./pump.js";
import { StreamPlan, StreamServer, type Traffic } from "./stream.js";
import type { Server } from "./transport.js";

/** A server of wire echo or stream. Give it every connection that the library accepts. */
export class FlowServer implements Server {
	private readonly traffic: Traffic = { received: 0, handed: 0, exchanges: 0, invalid: 0 };
	private readonly open = new Set<Duplex>();
	private readonly plan: StreamPlan | null;

	/** addresses are those that it listens on. Throws Failure for an exchange that the wire cannot carry. */
	constructor(
		private readonly setup: Setup,
		readonly addresses: string[] = [],
	) {
		this.plan = setup.exchange.stream === "" ? null : new StreamPlan(setup);
		if (this.plan === null) checkEcho(setup);
	}

	ready(): { addresses: string[] } {
		return { addresses: this.addresses };
	}

	/** Serves a connection until it ends. */
	serve(socket: Duplex): void {
		this.open.add(socket);
		socket.on("close", () => {
			this.open.delete(socket);
			this.traffic.handed -= socket.writableLength; // what nobody will take
		});
		socket.on("error", () => {}); // close follows; the client's counts tell of it
		if (this.plan !== null) this.stream(socket, this.plan);
		else this.echo(socket);
	}

	counts(): Counts {
		const { received, invalid } = this.traffic;
		const { stream, up_bytes, up_sizes } = this.setup.exchange;
		let sent = this.traffic.handed;
		for (const socket of this.open) sent -= socket.writableLength;
		// Where sizes are drawn it cannot see where a message ends.
		const echoed = up_sizes.length > 0 ? 0 : Math.floor(received / up_bytes);
		const exchanges = stream === "" ? echoed : this.traffic.exchanges;
		return {
			exchanges,
			sent_bytes: sent,
			received_bytes: received,
			connections: this.open.size,
			...(invalid > 0 ? { errors: { invalid } } : {}),
		};
	}

	/** Returns what comes, and reads no more while the client does not take it. */
	private echo(socket: Duplex): void {
		socket.on("data", (bytes: Buffer) => {
			this.traffic.received += bytes.length;
			this.traffic.handed += bytes.length;
			if (!socket.write(bytes)) socket.pause();
		});
		socket.on("drain", () => socket.resume());
		socket.on("end", () => socket.destroy());
	}

	private stream(socket: Duplex, plan: StreamPlan): void {
		const flow = new StreamServer(plan, this.traffic);
		new Pump(socket, flow, () => {});
	}
}
