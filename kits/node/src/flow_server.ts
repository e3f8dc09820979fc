// The server of wires echo and stream on any library that has streams: the kit answers and counts.
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { type Counts, Failure, type Setup } from "./contract.js";
import { checkEcho } from "./echo.js";
import { Pump } from "./pump.js";
import { Service } from "./service.js";
import { StreamPlan, StreamServer, type Traffic } from "./stream.js";
import type { Server } from "./transport.js";

/** A server of wire echo or stream. Give it every connection that the library accepts. */
export class FlowServer implements Server {
	private readonly traffic: Traffic = { received: 0, handed: 0, exchanges: 0, invalid: 0 };
	private readonly open = new Set<Duplex>();
	private readonly plan: StreamPlan | null;
	private readonly service: Service | null;

	/** addresses are those that it listens on. Throws Failure for an exchange that the wire cannot carry. */
	constructor(
		private readonly setup: Setup,
		readonly addresses: string[] = [],
	) {
		this.plan = setup.exchange.stream === "" ? null : new StreamPlan(setup);
		if (this.plan === null) checkEcho(setup);
		this.service = Service.of(setup);
		if (this.service === null || setup.exchange.up_sizes.length === 0) return;
		const why = "a server of wire echo does not see where a message ends, which begins its work";
		throw new Failure("unsupported", `work is given and sizes vary: ${why}`);
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
		else if (this.service !== null) void this.work(socket, this.service);
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

	/** Returns what comes, and the last byte of each message once the work for it is done. */
	private async work(socket: Duplex, service: Service): Promise<void> {
		const size = this.setup.exchange.up_bytes;
		let missing = size;
		const send = (bytes: Buffer) => {
			if (bytes.length === 0 || socket.destroyed) return;
			this.traffic.handed += bytes.length;
			socket.write(bytes);
		};
		try {
			for await (const bytes of socket as AsyncIterable<Buffer>) {
				this.traffic.received += bytes.length;
				for (let rest = bytes; rest.length > 0; ) {
					const piece = rest.subarray(0, missing);
					rest = rest.subarray(piece.length);
					missing -= piece.length;
					send(piece.subarray(0, missing === 0 ? -1 : piece.length));
					if (missing > 0) break;
					await new Promise<void>((done) => service.serve(done));
					send(piece.subarray(-1));
					missing = size;
					if (rest.length > 0) await new Promise(setImmediate); // others have their turn
				}
				if (socket.writableNeedDrain) await once(socket, "drain");
			}
		} catch {
			socket.destroy(); // it is lost, and the client's counts tell of it
		}
	}

	private stream(socket: Duplex, plan: StreamPlan): void {
		const flow = new StreamServer(plan, this.traffic, this.service, () => pump.push());
		const pump = new Pump(socket, flow, () => {});
	}
}
