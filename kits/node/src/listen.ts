// A server's ports: bound as setup says, open to the trial's clients alone.
import type { Server as NetServer, Socket } from "node:net";
import { type Address, addressText, parseAddress, plainAddress } from "./address.js";
import { Failure, type Setup } from "./contract.js";

/** Connections that wait to be accepted. Ten thousand may arrive at once. */
const BACKLOG = 4096;

/**
 * Listens on setup.listeners ports, each by a server of make (of node:net, node:http, node:http2 or node:tls), and closes
 * what comes from addresses outside of setup.allow. The addresses are for ready. Rejects with a Failure of kind setup.
 */
export async function listen(setup: Setup, make: () => NetServer): Promise<string[]> {
	const { host, port } = parseAddress(setup.listen, "setup.listen");
	const addresses: string[] = [];
	for (let i = 0; i < setup.listeners; i++) {
		const at = { host, port: port === 0 ? 0 : port + i };
		if (at.port > 65_535) throw new Failure("setup", `listen on ${addressText(at)}: there is no such port`);
		const server = make();
		guard(server, setup.allow);
		addresses.push(await bound(server, at));
	}
	return addresses;
}

/** Whether setup.allow lets a peer in: an empty list admits any. */
export function admits(allow: readonly string[], remote: string | undefined): boolean {
	return allow.length === 0 || allow.includes(plainAddress(remote));
}

function guard(server: NetServer, allow: readonly string[]): void {
	// Before the library's own listener sees the connection.
	server.prependListener("connection", (socket: Socket) => {
		if (!admits(allow, socket.remoteAddress)) socket.destroy();
	});
}

function bound(server: NetServer, at: Address): Promise<string> {
	return new Promise((resolve, reject) => {
		server.once("error", (error: NodeJS.ErrnoException) =>
			reject(new Failure("setup", `listen on ${addressText(at)}: ${reasonOf(error)}`)),
		);
		server.listen({ ...at, backlog: BACKLOG, exclusive: true }, () => {
			server.removeAllListeners("error");
			server.on("error", () => {}); // a connection that could not be accepted
			const { port } = server.address() as { port: number };
			resolve(addressText({ host: at.host, port }));
		});
	});
}

function reasonOf(error: NodeJS.ErrnoException): string {
	const known: { [code: string]: string } = {
		EADDRINUSE: "the port is in use",
		EADDRNOTAVAIL: "no such address here",
		EACCES: "permission denied",
	};
	return known[error.code ?? ""] ?? error.message;
}
