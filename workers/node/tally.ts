import type { Socket } from "node:net";
import type { Counts } from "netdyno-kit";

/** Counts what a server of calls does. */
export class Tally {
	connections = 0;
	exchanges = 0;
	received = 0;
	sent = 0;
	refused = 0;

	/** Counts a connection until it is closed. */
	open(socket: Socket): void {
		if (socket.destroyed) return;
		this.connections++;
		socket.once("close", () => this.connections--);
	}

	served(received: number, sent: number): void {
		this.exchanges++;
		this.received += received;
		this.sent += sent;
	}

	counts(): Counts {
		const { exchanges, received, sent, connections, refused } = this;
		return {
			exchanges,
			received_bytes: received,
			sent_bytes: sent,
			connections,
			...(refused > 0 ? { errors: { invalid: refused } } : {}),
		};
	}
}
