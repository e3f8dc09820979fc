// Opens a client's connections, a few hundred at a time, and verifies one exchange on each.
import type { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import { connectFailure, type Route, requireDescriptors, routes } from "./address.js";
import { Failure, type Setup } from "./contract.js";
import type { Verification } from "./flow.js";
import { Pump } from "./pump.js";

/** Connections that are being opened at a time. */
const MAX_UNDER_WAY = 256;
/** How long nothing may be opened before that is an error. */
const TIMEOUT_MS = 10_000;

/** Opens all connections of setup by open, which also verifies one exchange on it. Rejects with a Failure that names it. */
export async function openAll<T>(setup: Setup, open: (i: number, route: Route) => Promise<T>): Promise<T[]> {
	const ways = routes(setup);
	requireDescriptors(ways.length);
	const opened: T[] = new Array(ways.length);
	let next = 0;
	const timeout = new Progress("verify connections: the server accepted no more connections, or said nothing");
	const opener = async () => {
		for (let i = next++; i < ways.length; i = next++) {
			const route = ways[i] as Route;
			try {
				opened[i] = await open(i, route);
			} catch (error) {
				throw connectFailure(i, ways.length, route, error as Error);
			}
			timeout.made();
		}
	};
	const openers = Array.from({ length: Math.min(MAX_UNDER_WAY, ways.length) }, opener);
	try {
		await Promise.race([Promise.all(openers), timeout.over]);
	} finally {
		timeout.end();
	}
	return opened;
}

/** Rejects when nothing has been made for a while. */
class Progress {
	readonly over: Promise<never>;
	private timer: NodeJS.Timeout | undefined;
	private reject: (why: Failure) => void = () => {};

	constructor(private readonly text: string) {
		this.over = new Promise((_, reject) => {
			this.reject = reject;
		});
		this.over.catch(() => {}); // nobody may be waiting when it ends
		this.made();
	}

	made(): void {
		clearTimeout(this.timer);
		this.timer = setTimeout(
			() => this.reject(new Failure("timeout", `${this.text} for ${TIMEOUT_MS / 1000} s`)),
			TIMEOUT_MS,
		);
	}

	end(): void {
		clearTimeout(this.timer);
	}
}

/** Resolves once a socket that is being connected is, and rejects with why it cannot be. */
export function connected<T extends EventEmitter>(socket: T, event = "connect"): Promise<T> {
	return new Promise((resolve, reject) => {
		socket.once("error", reject);
		socket.once(event, () => {
			socket.off("error", reject);
			resolve(socket);
		});
	});
}

/** Makes the verified exchange on a connection, and returns what moves its bytes. */
export function verify(socket: Duplex, verification: Verification, downBytes: number): Promise<Pump> {
	return new Promise((resolve, reject) => {
		const lost = (why: Error | null) => {
			const arrived = verification.arrived();
			if (why !== null) reject(why);
			else if (arrived === 0) reject(new Failure("peer", "it was closed before anything came back"));
			else reject(new Failure("invalid", `it was closed after ${arrived} bytes of ${downBytes} that had to come back`));
		};
		const pump = new Pump(socket, verification, lost, () => {
			if (verification.verified() && !verification.unsent()) resolve(pump);
		});
		pump.push();
	});
}
