// Addresses of a trial: where a client connects, from where, and whom a server lets in.
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { Failure, type Setup } from "./contract.js";

export interface Address {
	host: string;
	port: number;
}

/** One connection's way: to peer, from source (empty: the system's choice). */
export interface Route {
	peer: Address;
	source: string;
}

/** Reads HOST:PORT, whose host is an IP address, in brackets if of version 6. key names the field in the error. */
export function parseAddress(text: string, key: string): Address {
	const found = /^(?:\[([0-9a-fA-F:.%\w]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
	const host = found?.[1] ?? found?.[2] ?? "";
	const port = Number(found?.[3] ?? Number.NaN);
	if (isIP(host) === 0 || !(port <= 65_535)) {
		throw new Failure("setup", `read ${key}: expected ADDRESS:PORT, found "${text}"`);
	}
	return { host, port };
}

export function addressText({ host, port }: Address): string {
	return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** An address as an allow-list has it: of version 4 where it is one in the form of version 6. */
export function plainAddress(host: string | undefined): string {
	return (host ?? "").replace(/^::ffff:(?=\d+\.)/i, "");
}

/** The ways of all connections of a client. */
export function routes(setup: Setup): Route[] {
	const peers = setup.peers.map((peer) => parseAddress(peer, "setup.peers"));
	if (peers.length === 0) throw new Failure("setup", "setup.peers is empty, expected the server's addresses");
	const { sources } = setup;
	return Array.from({ length: setup.load.connections }, (_, i) => ({
		peer: peers[i % peers.length] as Address,
		source: sources.length === 0 ? "" : (sources[i % sources.length] as string),
	}));
}

/** What net.connect and its like take of a route. */
export function connectOptions({ peer, source }: Route): { host: string; port: number; localAddress?: string } {
	return source === "" ? peer : { ...peer, localAddress: source };
}

/** Descriptors that a worker needs besides its connections. */
const OWN_DESCRIPTORS = 64;

/** Throws Failure of kind setup where the process may not open as many connections. Node has raised the soft limit. */
export function requireDescriptors(connections: number): void {
	const limit = /Max open files\s+(\d+)/.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
	const needed = connections + OWN_DESCRIPTORS;
	if (limit === undefined || needed <= Number(limit)) return;
	throw new Failure(
		"setup",
		`open ${connections} connections: ${needed} file descriptors are needed, ${limit} available; raise \`ulimit -n\``,
	);
}

/** Why a connection is gone, or could not be made, in the contract's words. */
export function lossOf(error: Error | null | undefined): string {
	const code = (error as NodeJS.ErrnoException | null | undefined)?.code ?? "";
	const known: { [code: string]: string } = {
		ECONNRESET: "connection reset",
		EPIPE: "connection reset",
		ECONNREFUSED: "connection refused",
		ETIMEDOUT: "timed out",
	};
	return known[code] ?? (error ? error.message : "connection closed");
}

/** The failure of connection i of n, which could not be made or verified. */
export function connectFailure(i: number, n: number, { peer }: Route, error: Error): Failure {
	const where = `connection ${i + 1} of ${n} to ${addressText(peer)}`;
	if (error instanceof Failure) return new Failure(error.kind, `verify ${where}: ${error.message}`);
	const code = (error as NodeJS.ErrnoException).code ?? "";
	const [kind, advice] = ADVICE[code] ?? ["peer", ""];
	return new Failure(kind, `connect ${where}: ${lossOf(error)}${advice}`);
}

const DESCRIPTORS: ["setup", string] = ["setup", "; every connection needs a file descriptor, raise `ulimit -n`"];
const ADVICE: { [code: string]: ["setup" | "peer", string] } = {
	EMFILE: DESCRIPTORS,
	ENFILE: DESCRIPTORS,
	EADDRNOTAVAIL: [
		"setup",
		"; no free local port or no such local address: give several source addresses, or widen net.ipv4.ip_local_port_range",
	],
	EINVAL: ["setup", "; the local address does not fit the peer's"],
	ECONNREFUSED: ["peer", "; nothing listens there"],
};
